/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of bench_gpu share: memory and numbers on a device, times of what is put on a
 * stream, rows of the table.
 *
 * What fails does not end a part. If memory cannot be had, whoever asks for more gets NULL until
 * all is released, and each row until then says why it has no number; so does a row whose own work
 * fails. */
#ifndef GNN_TESTS_GPU_BENCH_H
#define GNN_TESTS_GPU_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/spmm.h"
#include "lib/base/err.h"
#include "lib/ops/gpu_cost.h"

enum {
    BENCH_ALL = 2449029, /* rows of products: */
    BENCH_WIDTH = 100,
    BENCH_HIDDEN = 256,
    BENCH_CLASSES = 47,
    BENCH_ROUNDS = 15,     /* that a time is the median of */
    BENCH_RANDOM = 1 << 20 /* numbers that arrays are filled with, over and over */
};

struct bench {
    uint32_t all; /* rows of the table; all else is in proportion */
    bool tiny;    /* only the way is tried: no number means anything */
    unsigned multiprocessors;
    void *stream;
    void *gemm;                  /* NULL: there is no cuBLASLt, */
    struct gnn_err no_gemm;      /* and why */
    struct gnn_ops_blocks known; /* what is in blocks, exactly */
    struct gnn_err failed;       /* why there is no memory */
    unsigned failures;           /* rows that lack their number */
};
extern struct bench bench;

/* The device's numbers and clocks are ready: 0. */
int bench_open(struct gnn_err *e) GNN_MUST_USE;
void bench_close(void);

/* As many as a step on products: has so many, in proportion. */
uint32_t bench_part(uint32_t of_products);
/* Such a step's block of a layer, 0 being the one farthest from the seeds. */
struct bench_block {
    uint32_t rows, cols, edges;
};
struct bench_block bench_block(unsigned layer);

/* ---- memory, until the next release ---- */

void *bench_buffer(uint64_t bytes);               /* on the device */
void *bench_up(const void *data, uint64_t bytes); /* the same, with contents */
void *bench_pinned(uint64_t bytes);
void *bench_host(uint64_t bytes);
/* On the device; zeros would flatter products. Element i is bench_number(from + i). */
float *bench_numbers(uint64_t n, uint32_t from);
float bench_number(uint64_t i);
/* Fills n floats there so. */
int bench_fill(float *to, uint64_t n, uint32_t from, struct gnn_err *e) GNN_MUST_USE;
void bench_release(void);

/* ---- times ---- */

/* Puts something on a stream. */
typedef int bench_fn(const void *arg, struct gnn_err *e);

/* Keeps the stream busy for so many times 0.08 ms, while the host puts on it what is measured: how
 * fast it does so is no part of the time then. */
int bench_plug(unsigned times, struct gnn_err *e) GNN_MUST_USE;
/* Times what is put on the stream between these; the second waits for it. */
int bench_start(struct gnn_err *e) GNN_MUST_USE;
int bench_stop(double *ms, struct gnn_err *e) GNN_MUST_USE;
/* Milliseconds that f(arg) takes on the device: the median of so many rounds. NAN: *e says why. */
double bench_time(unsigned rounds, bench_fn *f, const void *arg, struct gnn_err *e);
double bench_now(void); /* microseconds, of the host's clock */
double bench_median(double *v, unsigned n);

/* GB/s that the device copies in its own memory, read and written, and from the host's. Measured
 * when first asked for, in memory of their own. NAN if that fails. */
double bench_device_limit(void);
double bench_host_limit(void);

/* ---- blocks ---- */

/* A block on the device, and the transposed one, whose edges are numbered. */
struct bench_graph {
    struct bench_block is;
    const struct gnn_csr *block, *back;
    uint64_t *bad;
};
/* Each row has as many edges as the others, to columns all over the place. */
struct bench_graph bench_graph(unsigned layer);
/* After the rows about it: one more if an edge was found that leads nowhere. */
void bench_graph_check(const struct bench_graph *g, const char *what);

/* ---- rows of the table ---- */

void bench_row(const char *what, const char *fmt, ...) GNN_PRINTF(2, 3);
/* It has no number: a failure. */
void bench_row_failed(const char *what, const struct gnn_err *e);
/* It is about something that this machine or build has not: no failure. */
void bench_row_absent(const char *what, const char *why);
/* f moves so many bytes; the limit is what could be moved. */
void bench_rate(const char *what, double bytes, double limit, bench_fn *f, const void *arg);
/* f is an operation, under the name and with the bytes that it has in GNN_DEBUG_TIME's table, on
 * arrays of this shape; the limit is the device's. */
void bench_operation(const struct gnn_ops_cost *c, const char *shape, bench_fn *f, const void *arg);

/* ---- the parts ---- */

void bench_limits(void);
void bench_latency(void);
void bench_gather(void);
void bench_overlap(void);
void bench_aggregate(void);
void bench_passes(void);
void bench_attention(void);
void bench_sampling(void);
void bench_products(void);
void bench_epilogues(void);

#endif
