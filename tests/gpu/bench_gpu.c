/* Rates of a device: first its limits, then kernels beside them. Prints "name value unit [limit share]".
 * usage: bench_gpu [ROWS]   rows of the table that is gathered from (default 2449029, as in products:) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gather.h"
#include "kernels/spmm.h"
#include "lib/gpu/dev.h"

enum {
    ROUNDS = 15,
    WIDTH = 100,
    LINES = 512, /* bytes of a row of whole cache lines, unlike one of WIDTH floats */
    HIDDEN = 256
};

static struct gnn_err err;
static void *stream, *from, *to;

static void must(int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "bench_gpu: %s\n", err.msg);
    exit(4);
}

static void *room(uint64_t bytes)
{
    void *p = NULL;
    must(gnn_dev_alloc(&p, bytes, "a benchmark", &err));
    must(gnn_dev_set(p, 1, bytes, stream, &err));
    return p;
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Milliseconds that f(arg) takes on the device: the median. */
static double time_of(void (*f)(void *arg), void *arg)
{
    float ms[ROUNDS];
    f(arg);
    for (int i = 0; i < ROUNDS; i++) {
        must(gnn_dev_event_record(from, stream, &err));
        f(arg);
        must(gnn_dev_event_record(to, stream, &err));
        must(gnn_dev_launched("a kernel", &err));
        must(gnn_dev_event_wait(to, &err));
        must(gnn_dev_event_ms(from, to, &ms[i], &err));
    }
    qsort(ms, ROUNDS, sizeof *ms, ascending);
    return ms[ROUNDS / 2] > 0 ? (double)ms[ROUNDS / 2] : NAN;
}

struct copy {
    void *to;
    const void *from;
    uint64_t bytes;
};
static void copy(void *arg)
{
    const struct copy *c = arg;
    must(gnn_dev_copy(c->to, c->from, c->bytes, stream, &err));
}

/* GB/s, printed. passes: how often each byte is moved. */
static double rate_of_copy(const char *name, struct copy c, double passes)
{
    const double gb = passes * (double)c.bytes / time_of(copy, &c) / 1e6;
    printf("%-28s %9.1f GB/s\n", name, gb);
    return gb;
}

static void gather(void *arg)
{
    gnn_cuda_gather_rows(arg, stream);
}

/* Prints GB/s beside the limit. passes: how often each byte is moved. */
static void rate_of_gather(const char *name, struct gnn_cuda_gather g, double passes, double limit)
{
    const double gb = passes * (double)(g.capacity * g.bytes) / time_of(gather, &g) / 1e6;
    printf("%-28s %9.1f GB/s %9.1f %5.1f %%\n", name, gb, limit, 100 * gb / limit);
}

static void gathers(uint32_t rows, double device, double host)
{
    const uint32_t wanted = rows / 5;
    const uint64_t all = rows * (uint64_t)LINES;
    uint32_t *id = NULL;
    void *pinned = NULL;
    must(gnn_dev_pin((void **)&id, wanted * sizeof *id, "ids", &err));
    must(gnn_dev_pin(&pinned, all, "a table", &err));
    memset(pinned, 1, all);
    for (uint32_t i = 0; i < wanted; i++) /* each at most once, in no order: an odd factor permutes 32 bits */
        id[i] = (uint32_t)((uint64_t)(i * 2654435761u) * rows >> 32);
    void *table = room(all), *ids = room(wanted * sizeof *id), *parts = room(2 * sizeof(struct gnn_gather_part));
    must(gnn_dev_copy(ids, id, wanted * sizeof *id, stream, &err));
    const struct gnn_gather_part part[2] = {{.count = rows, .data = table, .tier = GNN_GATHER_LOCAL},
                                            {.count = rows, .data = pinned, .tier = GNN_GATHER_HOST}};
    must(gnn_dev_copy(parts, part, sizeof part, stream, &err));
    struct gnn_cuda_gather g = {.backing = parts, .nbacking = 1, .bytes = WIDTH * sizeof(float), .capacity = wanted, .id = ids,
                                .out = room(wanted * (uint64_t)LINES)};
    rate_of_gather("gather, device memory", g, 2, device);
    g.backing = (const struct gnn_gather_part *)parts + 1;
    g.capacity = wanted / 4;
    rate_of_gather("gather, pinned, all blocks", g, 1, host);
    g.blocks = GNN_CUDA_GATHER_HOST_BLOCKS;
    rate_of_gather("gather, pinned host memory", g, 1, host);
    g.bytes = LINES;
    rate_of_gather("gather, pinned, 512 bytes", g, 1, host);
    gnn_dev_free(table);
    gnn_dev_free(ids);
    gnn_dev_free(parts);
    gnn_dev_free(g.out);
    gnn_dev_unpin(pinned);
    gnn_dev_unpin(id);
}

struct sum {
    const struct gnn_csr *block;
    uint32_t rows, cols;
    float *x, *y;
    uint64_t *bad;
};
static void aggregate(void *arg)
{
    const struct sum *s = arg;
    gnn_cuda_spmm(s->block, 1, 0, NULL, s->rows, s->x, s->cols, HIDDEN, HIDDEN, s->y, HIDDEN, 0, s->bad, stream);
}

/* A middle layer of products: 70,000 rows of 10 neighbours among 300,000, 256 wide. */
static void aggregates(uint32_t table, double device)
{
    enum { DEGREE = 10 };
    const uint32_t rows = table / 35, cols = table / 8;
    uint32_t *ptr = malloc((rows + 1) * sizeof *ptr), *idx = malloc((size_t)rows * DEGREE * sizeof *idx);
    const uint64_t none = UINT64_MAX;
    if (!ptr || !idx)
        exit(1);
    for (uint32_t i = 0; i <= rows; i++)
        ptr[i] = i * DEGREE;
    for (uint32_t i = 0; i < rows * DEGREE; i++)
        idx[i] = (uint32_t)((uint64_t)(i * 2654435761u) * cols >> 32);
    struct gnn_csr a = {.n = rows, .indptr = room((rows + 1) * sizeof *ptr), .indices = room((size_t)rows * DEGREE * sizeof *idx)};
    must(gnn_dev_copy((void *)(uintptr_t)a.indptr, ptr, (rows + 1) * sizeof *ptr, stream, &err));
    must(gnn_dev_copy((void *)(uintptr_t)a.indices, idx, (size_t)rows * DEGREE * sizeof *idx, stream, &err));
    void *block = room(sizeof a), *bad = room(sizeof none);
    must(gnn_dev_copy(block, &a, sizeof a, stream, &err));
    must(gnn_dev_copy(bad, &none, sizeof none, stream, &err));
    struct sum s = {block, rows, cols, room((uint64_t)cols * HIDDEN * sizeof(float)), room((uint64_t)rows * HIDDEN * sizeof(float)), bad};
    const double gb = (double)(rows * DEGREE + rows) * HIDDEN * sizeof(float) / time_of(aggregate, &s) / 1e6;
    printf("%-28s %9.1f GB/s %9.1f %5.1f %%\n", "aggregate, 256 wide", gb, device, 100 * gb / device);
    gnn_dev_free((void *)(uintptr_t)a.indptr);
    gnn_dev_free((void *)(uintptr_t)a.indices);
    gnn_dev_free(block);
    gnn_dev_free(bad);
    gnn_dev_free(s.x);
    gnn_dev_free(s.y);
    free(ptr);
    free(idx);
}

int main(int argc, char **argv)
{
    const uint32_t rows = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2449029;
    const uint64_t big = (uint64_t)rows * WIDTH * sizeof(float);
    struct gnn_dev_info info;
    unsigned n;
    void *pinned = NULL;
    must(gnn_dev_count(&n, &err));
    must(gnn_dev_ask(0, &info, &err));
    must(gnn_dev_stream_new(&stream, &err));
    must(gnn_dev_event_timed(&from, &err));
    must(gnn_dev_event_timed(&to, &err));
    printf("# %s, sm_%d%d, %u multiprocessors, %.0f GB\n# name, value, limit, share\n", info.name, info.major, info.minor,
           info.multiprocessors, (double)info.bytes / 1e9);
    must(gnn_dev_pin(&pinned, big, "a benchmark", &err));
    void *a = room(big), *b = room(big);
    const double device = rate_of_copy("copy, device, read + write", (struct copy){a, b, big}, 2);
    const double host = rate_of_copy("copy, pinned host to device", (struct copy){a, pinned, big}, 1);
    (void)rate_of_copy("copy, device to pinned host", (struct copy){pinned, a, big}, 1);
    gnn_dev_free(a);
    gnn_dev_free(b);
    gnn_dev_unpin(pinned);
    gathers(rows, device, host);
    aggregates(rows, device);
    gnn_dev_event_free(from);
    gnn_dev_event_free(to);
    gnn_dev_stream_free(stream);
    return 0;
}
