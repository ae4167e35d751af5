/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products where memory is limited: in f32, code for all of them is generated at the first
 * one, in the space that is asked for before; in bf16, at the first one of each shape, likewise. */
#include <malloc.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/ops/ops.h"
#include "tap.h"

enum { CAPACITY = 20 << 20 }; /* what lib/ops/cpu.c asks for */

/* Bytes of anonymous memory that holds code; and of address space. */
static uint64_t mapped(bool code)
{
    char line[512], perm[8];
    unsigned long from, to, inode;
    uint64_t sum = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &from, &to, perm, &inode) == 4 &&
            (!code || (perm[2] == 'x' && !inode && !strstr(line, "[v"))))
            sum += to - from;
    if (f)
        fclose(f);
    return sum;
}

static int multiply_in(const struct gnn_ops *o, size_t m, size_t n, size_t k, unsigned how)
{
    enum { MOST = 512 };
    static float x[MOST * MOST], y[MOST * MOST];
    struct gnn_err e = {0};
    const struct gnn_product p = {.ta = how & 1,
                                  .tb = how & 2,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .a = x,
                                  .b = x,
                                  .beta = how & 4 ? 1.0f : 0.0f,
                                  .c = y};
    return o->gemm(o, &p, &e);
}

static bool multiply(size_t m, size_t n, size_t k, unsigned how)
{
    return !multiply_in(&gnn_ops_cpu, m, n, k, how);
}

static void test_bf16(void)
{
    static const size_t size[] = {1, 3, 16, 64, 257, 512};
    enum { SIZES = sizeof size / sizeof *size };
    struct gnn_err e = {0};
    uint64_t most = 0;
    const struct gnn_ops *o = gnn_ops_new(NULL, GNN_PRECISION_BF16, &e);
    bool good = o;
    for (unsigned i = 0; good && i < SIZES * SIZES * SIZES; i++) {
        const uint64_t before = mapped(false);
        good = !multiply_in(o, size[i % SIZES], size[i / SIZES % SIZES], size[i / SIZES / SIZES],
                            i % 3);
        const uint64_t now = mapped(false);
        most = now > before + most ? now - before : most;
    }
    ok(good && most <= CAPACITY, "a product in bf16 takes at most %llu of %u bytes",
       (unsigned long long)most, CAPACITY);
    const struct rlimit little = {mapped(false) + CAPACITY / 2, UINT64_C(1) << 36};
    ok(!setrlimit(RLIMIT_AS, &little) && multiply_in(o, 31, 37, 41, 0) == GNN_E_NOMEM &&
           !multiply_in(o, 512, 512, 512, 2),
       "without that much, a new shape is refused, and others are not");
    o->free(o);
}

int main(void)
{
    static const size_t size[] = {1, 2, 3, 8, 16, 17, 33, 64, 257, 512};
    enum { SIZES = sizeof size / sizeof *size };
    const struct rlimit much = {UINT64_C(1) << 36, UINT64_C(1) << 36};
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    ok(true, "products generate code only once # SKIP a sanitizer takes more address space");
    return tap_done();
#endif
    /* As cmd/threads.c: threads are there, and take their heaps from one arena. */
    ok(mallopt(M_ARENA_MAX, 1) && !setrlimit(RLIMIT_AS, &much), "address space is limited");
#pragma omp parallel
    __asm__ volatile("");
    const uint64_t before = mapped(false);
    bool good = multiply(3, 5, 7, 0);
    const uint64_t code = mapped(true), taken = mapped(false) - before;
    ok(good && taken <= CAPACITY, "the first product takes %llu of %u bytes",
       (unsigned long long)taken, CAPACITY);
    uint64_t n = 0;
    omp_set_num_threads(1);
    for (unsigned how = 0; how < 8; how++)
        for (unsigned i = 0; i < SIZES * SIZES * SIZES; i++) {
            const size_t r = size[i % SIZES], c = size[i / SIZES % SIZES],
                         k = size[i / SIZES / SIZES];
            if ((how & 3) == 3 || r * c * k > 1 << 18)
                continue;
            good = good && multiply(r, c, k, how);
            n++;
            if (mapped(true) != code) {
                ok(false, "a product of %zu x %zu x %zu, %u, generates code", r, c, k, how);
                return tap_done();
            }
        }
    ok(good, "%llu others generate none", (unsigned long long)n);
    test_bf16();
    return tap_done();
}
