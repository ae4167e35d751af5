/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of a device: first its limits, then latencies, then kernels and products beside the limits,
 * on the shapes of a step of a model of three layers on products:. Prints rows of a table, "| what
 * | rate | limit, share |"; lines that begin with # say what all was measured on.
 *
 * usage: bench_gpu [ROWS [PART...]]   ROWS of the table that is gathered from, all else in
 * proportion (default 2449029, as in products:); PARTs, or all of them
 *        bench_gpu --parts            their names
 * status: 0; 1 if a row has no number, for the reason given there; 2 usage; 4 no device */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/bench.h"
#include "lib/gpu/dev.h"
#include "lib/gpu/device_gemm.h"

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {{"limits", bench_limits},       {"latency", bench_latency},
             {"gather", bench_gather},       {"overlap", bench_overlap},
             {"aggregate", bench_aggregate}, {"passes", bench_passes},
             {"attention", bench_attention}, {"sampling", bench_sampling},
             {"products", bench_products},   {"epilogues", bench_epilogues}};
enum { PARTS = sizeof parts / sizeof *parts };

static int part_of(const char *name)
{
    int i = 0;
    while (i < PARTS && strcmp(parts[i].name, name) != 0)
        i++;
    return i;
}

static int read_arguments(int argc, char **argv)
{
    char *end = NULL;
    errno = 0;
    const unsigned long n = argc > 1 ? strtoul(argv[1], &end, 10) : BENCH_ALL;
    if (argc > 1 && (errno || *end || *argv[1] == '-' || n < 100 || n > INT32_MAX)) {
        fprintf(stderr, "bench_gpu: expected a count of rows from 100 on, not '%s'\n", argv[1]);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        if (part_of(argv[i]) == PARTS) {
            fprintf(stderr, "bench_gpu: no part '%s': --parts lists them\n", argv[i]);
            return 2;
        }
    bench.all = (uint32_t)n;
    bench.tiny = bench.all < BENCH_ALL / 100;
    return 0;
}

static int print_versions(struct gnn_err *e)
{
    struct gnn_dev_info info;
    struct gnn_dev_gemm_info lt;
    unsigned n;
    int driver, runtime;
    if (gnn_dev_count(&n, e) || gnn_dev_ask(0, &info, e) ||
        gnn_dev_versions(&driver, &runtime, e) || gnn_dev_use(0, e))
        return e->code;
    printf("# %u device%s; the first: %s, sm_%d%d, %u multiprocessors, %.0f GB; the driver knows "
           "CUDA %d.%d, the runtime is %d.%d; ",
           n, n == 1 ? "" : "s", info.name, info.major, info.minor, info.multiprocessors,
           (double)info.bytes / 1e9, driver / 1000, driver % 1000 / 10, runtime / 1000,
           runtime % 1000 / 10);
    if (gnn_dev_gemm_new(&bench.gemm, &bench.no_gemm)) {
        printf("%s\n", bench.no_gemm.msg);
    } else {
        gnn_dev_gemm_ask(bench.gemm, &lt);
        printf("cuBLASLt %llu\n", (unsigned long long)lt.version);
    }
    fflush(stdout);
    bench.multiprocessors = info.multiprocessors;
    return 0;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    if (argc == 2 && !strcmp(argv[1], "--parts")) {
        for (int i = 0; i < PARTS; i++)
            puts(parts[i].name);
        return 0;
    }
    if (read_arguments(argc, argv))
        return 2;
    if (print_versions(&e) || bench_open(&e)) {
        fprintf(stderr, "bench_gpu: %s\n", e.msg);
        return 4;
    }
    for (int i = argc > 2 ? 2 : 0; i < (argc > 2 ? argc : PARTS); i++) {
        parts[argc > 2 ? part_of(argv[i]) : i].run();
        bench_release();
    }
    bench_close();
    gnn_dev_gemm_free(bench.gemm);
    return bench.failures != 0;
}
