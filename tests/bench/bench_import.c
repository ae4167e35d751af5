/* SPDX-License-Identifier: Apache-2.0 */
/* Rates of the text readers, from files in memory: edge lists, weighted edges with times, rows of
 * features; and of whole readings of edges by name, with the look at the table and the numbering of
 * names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/rand.h"
#include "lib/import/import.h"
#include "lib/import/read/formats.h"

enum { SIZE = 1 << 26, ROWS = 1 << 12 };

#define NAMES(kind) ((kind) == 5 ? 2000000 : 400000)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Fills text with lines of a kind; returns its length. */
static size_t fill(char *text, int kind)
{
    struct gnn_rand r = gnn_rand_key(1, 2, (uint64_t)kind);
    size_t n = 0;
    while (n < SIZE - 4096) {
        unsigned a = (unsigned)gnn_rand_below(&r, 2449029),
                 b = (unsigned)gnn_rand_below(&r, 2449029);
        if (kind == 0)
            n += (size_t)sprintf(text + n, "%u\t%u\n", a, b);
        else if (kind == 1)
            n += (size_t)sprintf(text + n, "%u,%u,%d,1289241911.%05u\n", a, b, (int)(a % 21) - 10,
                                 b % 100000);
        else if (kind > 3)
            n += (size_t)sprintf(text + n, kind == 6 ? "n%u\tr%u\tn%u\n" : "n%u\tn%u\n",
                                 a % NAMES(kind), kind == 6 ? b % 20 : b % NAMES(kind),
                                 b % NAMES(kind));
        else
            for (int j = 0; j < 100; j++)
                n += (size_t)sprintf(text + n, kind == 2 ? "%.6g%c" : "%.0f%c",
                                     (double)gnn_rand_next(&r) * 0x1p-64 * (kind == 2 ? 2 : 1),
                                     j < 99 ? ',' : '\n');
    }
    return n;
}

static uint64_t parse(struct gnn_table *t, int kind, void *out, struct gnn_err *e)
{
    static const struct gnn_pick pick[] = {
        {.col = 0, .id = true}, {.col = 1, .id = true}, {.col = 2}, {.col = 3}};
    uint64_t rows = 0, got = 1;
    while (got) {
        int rc = kind == 0   ? gnn_table_ids(t, out, 2, ROWS, &got, e)
                 : kind == 1 ? gnn_table_pick(t, pick, 4, out, NULL,
                                              (union gnn_number *)out + 2 * ROWS, ROWS, &got, e)
                             : gnn_table_f32(t, out, 100, ROWS, &got, e);
        if (rc) {
            fprintf(stderr, "%s\n", e->msg);
            exit(1);
        }
        rows += got;
    }
    return rows;
}

static uint64_t read_table(struct gnn_input *in, int kind, void *out, struct gnn_err *e)
{
    struct gnn_table t;
    if (gnn_table_open(&t, in, 0, 0, e)) {
        fprintf(stderr, "%s\n", e->msg);
        exit(1);
    }
    const uint64_t rows = parse(&t, kind, out, e);
    gnn_table_close(&t);
    gnn_input_free(in);
    return rows;
}

static int count_edges(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    (void)e;
    *(uint64_t *)arg += c->n;
    return GNN_OK;
}

/* All that gnn-import does up to edges between nodes. */
static uint64_t read_edges(struct gnn_input *in, struct gnn_err *e)
{
    static const struct gnn_import_opts o;
    struct gnn_dataset *d;
    uint64_t n = 0;
    int rc = gnn_format_open(&d, &gnn_edgelist_format, in, &o, e);
    for (uint32_t t = 0; !rc && t < d->schema.netypes; t++)
        rc = d->ops->edges(d, t, false, count_edges, &n, e);
    if (rc) {
        fprintf(stderr, "%s\n", e->msg);
        exit(1);
    }
    gnn_dataset_free(d);
    return n;
}

int main(void)
{
    static const char *const names[] = {"edges (two ids)",        "edges with weight and time",
                                        "features (6 digits)",    "features (one digit)",
                                        "edges by 400,000 names", "edges by 2,000,000 names",
                                        "triples, 400,000 names"};
    struct gnn_err e = {0};
    char name[64];
    const int file = memfd_create("text", 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    char *text = malloc(SIZE);
    void *out = malloc(ROWS * 100 * sizeof(double));
    for (int k = 0; k < 7 && text && out; k++) {
        size_t n = fill(text, k);
        if (ftruncate(file, 0) || pwrite(file, text, n, 0) != (ssize_t)n)
            return 1;
        double best = 1e9;
        uint64_t rows = 0;
        for (int i = 0; i < 3; i++) {
            struct gnn_input *in;
            if (gnn_input_open(&in, &(const char *){name}, 1, &e))
                return 1;
            double start = now();
            rows = k > 3 ? read_edges(in, &e) : read_table(in, k, out, &e);
            best = now() - start < best ? now() - start : best;
        }
        printf("import text, %-28s %7.0f MB/s  %6.1f M rows/s  (asked: %d MB/s)\n", names[k],
               (double)n / best / 1e6, (double)rows / best / 1e6, k > 3 ? 40 : 150);
    }
    free(text);
    free(out);
    return 0;
}
