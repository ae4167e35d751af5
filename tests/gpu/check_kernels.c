/* SPDX-License-Identifier: Apache-2.0 */
/* Every kernel on a device beside its CPU twin, in groups of cases (case_*.c). Runs on real devices
 * (scripts/gpu-check.sh) and, as any other test, on the fake one.
 *
 * usage: check_kernels [SCALE [GROUP...]]   sizes times SCALE (default 1, for emulation and
 *                                           compute-sanitizer; 100 for a GPU); all groups, or these
 *        check_kernels --groups             prints their names */
#include <stdlib.h>
#include <time.h>

#include "gpu/case.h"
#include "gpu/on_device.h"
#include "lib/gpu/dev.h"

static const struct group {
    const char *name;
    void (*run)(void);
} groups[] = {
#define GROUP(name) {#name, case_##name},
    CASES(GROUP)
#undef GROUP
};
enum { GROUPS = COUNT(groups) };

static const struct group *group_of(const char *name)
{
    for (const struct group *g = groups; g < groups + GROUPS; g++)
        if (!strcmp(g->name, name))
            return g;
    fprintf(stderr, "check_kernels: no group '%s': see check_kernels --groups\n", name);
    exit(2);
}

static uint32_t scale_of(const char *text)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    if (n >= 1 && n <= 1000 && !*end)
        return (uint32_t)n;
    fprintf(stderr, "check_kernels: scale '%s': expected a number from 1 to 1000\n", text);
    exit(2);
}

static void run(const struct group *g)
{
    struct timespec a, b;
    (void)clock_gettime(CLOCK_MONOTONIC, &a);
    begin_drawing(1); /* the same with other groups and without them */
    g->run();
    (void)clock_gettime(CLOCK_MONOTONIC, &b);
    printf("# %s: %.2f s\n", g->name,
           (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
}

int main(int argc, char **argv)
{
    struct gnn_dev_info info;
    unsigned n;
    if (argc > 1 && !strcmp(argv[1], "--groups")) {
        for (const struct group *g = groups; g < groups + GROUPS; g++)
            puts(g->name);
        return 0;
    }
    size_scale = argc > 1 ? scale_of(argv[1]) : 1;
    for (int i = 2; i < argc; i++)
        (void)group_of(argv[i]);
    must(gnn_dev_count(&n, &failure));
    must(gnn_dev_ask(0, &info, &failure));
    must(gnn_dev_stream_new(&stream, &failure));
    printf("# %s, sm_%d%d, scale %u\n", info.name, info.major, info.minor, size_scale);
    for (int i = 2; i < argc; i++)
        run(group_of(argv[i]));
    for (const struct group *g = groups; argc < 3 && g < groups + GROUPS; g++)
        run(g);
    gnn_dev_stream_free(stream);
    return done();
}
