/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/gemm_cuda.c: where it finds cuBLASLt, which can be seen without a device. */
#include "tap.h"

#ifdef GNN_CUDA_LEAST /* with nvcc */
#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <zstd.h>

#include "lib/gpu/device_gemm.h"
#include "scratch.h"

/* What a program in this folder says when it wants to multiply, in a line; of a library that is
 * no cuBLASLt, which of its functions is missing. */
static const char *said_in(const char *bin)
{
    static char line[512];
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "'%s/program' say", bin);
    FILE *f = popen(command, "r");
    const bool read = f && fgets(line, sizeof line, f);
    if (!f || pclose(f) || !read)
        snprintf(line, sizeof line, "nothing");
    return line;
}

/* Puts the program itself and a library of another kind into an environment. */
static bool make(const char *env, const char *packages)
{
    char command[4 * PATH_MAX];
    Dl_info at;
    if (!dladdr((void *)(uintptr_t)ZSTD_versionNumber, &at))
        return false;
    snprintf(
        command, sizeof command,
        "d='%s/%s/nvidia/cu13/lib' && mkdir -p '%s/bin' \"$d\" && cp /proc/%ld/exe '%s/bin/program' &&"
        " cp -L '%s' \"$d/libcublasLt.so.13\"",
        env, packages, env, (long)getpid(), env, at.dli_fname);
    const int rc = system(command);
    return WIFEXITED(rc) && !WEXITSTATUS(rc);
}

static void test_places(void)
{
    static const char *const of[][3] = {
        {"env", "lib/python3.99/site-packages", "an environment"},
        {"local", "lib/python3.9/dist-packages", "Debian's folder"},
        {"target", ".", "pip's --target"},
        {"[a]{b,c}*?\\d", "lib/python3.13/site-packages", "a folder of an odd name"}};
    static const char want[] = "cuBLASLt: the library has no function cublasLtCreate\n";
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        char bin[PATH_MAX];
        snprintf(bin, sizeof bin, "%s/bin", of[i][0]);
        const bool made = make(of[i][0], of[i][1]);
        const char *said = said_in(bin);
        if (!ok(made && !strcmp(said, want), "cuBLASLt is loaded from %s", of[i][2]))
            printf("# %s", said);
    }
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    void *h;
    (void)argv;
    if (argc > 1) {
        puts(gnn_dev_gemm_new(&h, &e) ? e.msg : "made");
        return 0;
    }
    scratch_enter();
    test_places();
    return scratch_done();
}
#else
int main(void)
{
    printf("1..0 # SKIP built without CUDA\n");
    return 0;
}
#endif
