/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over rows: bias, activation, dropout, column sums, layer norm, batch norm. */
#include "gpu/case.h"
#include "gpu/on_device.h"
#include "kernels/act.h"
#include "kernels/batch_norm.h"

static const struct shape {
    uint32_t n;
    size_t d;
} shapes[] = {{0, 5},  {1, 1},   {70, 3},  {40, 17}, {33, 47},   {200, 6}, {65, 64},
              {64, 5}, {9, 100}, {7, 128}, {6, 130}, {130, 145}, {5, 256}, {3, 1000}},
  chunks[] = {{2, 3}, {64 * 32, 3}, {64 * 32 + 1, 3}, {64 * 64, 3}, {64 * 64 + 1, 3}, {9000, 3}};
enum { SHAPES = COUNT(shapes), CHUNKS = COUNT(chunks) };

/* ---- activations ---- */

enum { TRIES = 12 };
static bool biased(int k)
{
    return (k + k / 4) % 2;
}

/* Each activation without dropout, with it, and with a rate of 0; every other one with a bias. */
static void activations(uint32_t n, size_t d)
{
    const size_t all = n * d;
    float *x = special(numbers(all), all), *bias = numbers(d), *y[TRIES], *dy[TRIES];
    uint32_t *node = words(n);
    struct gnn_dropout drop = {{draw(), draw()}, node, 40000}, none = {{1, 2}, node, 0};
    for (int k = 0; k < TRIES; k++) {
        y[k] = copy(x, all);
        dy[k] = numbers(all);
    }
    while (again()) {
        const uint32_t *count = counted(n);
        struct gnn_dropout there = drop, off = none;
        there.node = off.node = at(node);
        const struct gnn_dropout *const q[] = {NULL, &there, &off};
        for (int k = 0; k < TRIES; k++) {
            gnn_cuda_bias_act(at(y[k]), count, bound(n), d, at(biased(k) ? bias : NULL),
                              (enum gnn_act)(k % 4), q[k / 4], stream);
            gnn_cuda_act_back(at(dy[k]), at(y[k]), count, bound(n), d, (enum gnn_act)(k % 4), 1.25f,
                              q[k / 4], stream);
        }
    }
    const struct gnn_dropout *const q[] = {NULL, &drop, &none};
    for (int k = 0; k < TRIES; k++) {
        gnn_bias_act(y[k], n, d, biased(k) ? bias : NULL, (enum gnn_act)(k % 4), q[k / 4]);
        gnn_act_back(dy[k], y[k], n, d, (enum gnn_act)(k % 4), 1.25f, q[k / 4]);
    }
    verdict("bias, activation and dropout, and back: (%u, %zu)", n, d);
}

/* Dropout out of place, and ReLU's gradient of what is no number. */
static void dropout(uint32_t n, size_t d)
{
    const size_t all = n * d;
    float *x = numbers(all), *y = floats(all), *odd = special(numbers(all), all),
          *dy = numbers(all);
    uint32_t *node = words(n);
    struct gnn_dropout drop = {{1, 2}, node, 32768};
    while (again()) {
        struct gnn_dropout there = drop;
        there.node = at(node);
        gnn_cuda_dropout_copy(at(x), counted(n), bound(n), d, &there, at(y), stream);
        gnn_cuda_act_back(at(dy), at(odd), counted(n), bound(n), d, GNN_ACT_RELU, 2.5f, NULL,
                          stream);
    }
    gnn_dropout_copy(x, n, d, &drop, y);
    gnn_act_back(dy, odd, n, d, GNN_ACT_RELU, 2.5f, NULL);
    verdict("dropout and ReLU's gradient: (%u, %zu)", n, d);
}

/* Sums anew and added up; zeros have a sign. */
static void column_sums(uint32_t n, size_t d)
{
    float *x = numbers(n * d), *sum = numbers(d), *more = numbers(d);
    for (size_t i = 0; i < n; i++)
        x[i * d] = -0.0f;
    sum[0] = more[0] = -0.0f;
    while (again())
        for (int acc = 0; acc < 2; acc++)
            gnn_cuda_colsum(at(x), counted(n), bound(n), d,
                            scratch(GNN_COLSUM_BLOCKS * d * sizeof *x), at(acc ? more : sum), acc,
                            stream);
    for (int acc = 0; acc < 2; acc++)
        gnn_colsum(x, n, d, host(GNN_COLSUM_BLOCKS * d * sizeof *x), acc ? more : sum, acc);
    verdict("column sums: (%u, %zu)", n, d);
}

void case_act(void)
{
    for (int i = 0; i < SHAPES; i++) {
        activations(shapes[i].n * size_scale, shapes[i].d);
        dropout(shapes[i].n * size_scale, shapes[i].d);
        column_sums(shapes[i].n * size_scale, shapes[i].d);
    }
    for (int i = 0; i < CHUNKS; i++) /* of rows in flight, with and without a rest */
        column_sums(chunks[i].n, chunks[i].d);
}

/* ---- norms ---- */

/* In place and out of place, with and without what the gradient needs; and that from what the CPU
 * made, so that column sums have its bits. */
static void layer_norm(uint32_t n, size_t d)
{
    const float eps = 1e-5f;
    const size_t all = n * d;
    float *x = numbers(all), *gamma = numbers(d), *beta = numbers(d), *y = floats(all),
          *h = floats(all), *r = floats(n), *r2 = floats(n), *dx = numbers(all), *h0 = floats(all),
          *r0 = floats(n), *dg = filled(d, 0.25f), *db = filled(d, 0.5f);
    for (size_t i = 0; i < all; i++)
        x[i] = 3 * x[i] + 0.5f;
    float *same = copy(x, all), *work = host(GNN_COLSUM_BLOCKS * d * sizeof *work);
    gnn_layer_norm(x, n, d, gamma, beta, eps, h0, r0, host(all * sizeof *x));
    float *const near[] = {y, same, h, r, r2, dx};
    for (size_t k = 0; k < COUNT(near); k++)
        near_enough(near[k], 1e-5);
    while (again()) {
        const uint32_t *count = counted(n);
        gnn_cuda_layer_norm(at(x), count, bound(n), d, at(gamma), at(beta), eps, at(h), at(r),
                            at(y), stream);
        gnn_cuda_layer_norm(at(same), count, bound(n), d, at(gamma), at(beta), eps, NULL, at(r2),
                            at(same), stream);
        gnn_cuda_layer_norm_back(at(dx), at(h0), at(r0), count, bound(n), d, at(gamma), at(dg),
                                 at(db), scratch(GNN_COLSUM_BLOCKS * d * sizeof *x), stream);
    }
    gnn_layer_norm(x, n, d, gamma, beta, eps, h, r, y);
    memcpy(same, y, all * sizeof *y);
    memcpy(r2, r, n * sizeof *r);
    gnn_layer_norm_back(dx, h, r, n, d, gamma, dg, db, work);
    if (d == 1) /* of a constant row: the difference of equal numbers, times very many */
        kept_apart(dx);
    verdict("layer norm and back: (%u, %zu)", n, d);
}

/* Everything from rows to gradients; moments are those of two parts. With `some`, not all rows
 * count. */
static void batch_norm(uint32_t n, size_t d, bool some)
{
    const size_t all = n * d, work = GNN_MOMENT_BLOCKS * 2 * d * sizeof(double);
    float *x = numbers(all), *gamma = numbers(d), *beta = numbers(d), *dy = numbers(all),
          *dx = copy(dy, all), *h = floats(all), *plain = floats(all),
          *stat = floats(GNN_BATCH_STATS * d), *kept = floats(GNN_BATCH_STATS * d),
          *mean = filled(d, 0.125f), *var = filled(d, 2), *dg = filled(d, 0.25f),
          *db = filled(d, 0.5f);
    double *sum = doubles(2 * d), *back = doubles(2 * d), rows = some ? 0 : n;
    int64_t *batches = array(1, sizeof *batches);
    uint8_t *counts = array(n, 1), *mask = some ? counts : NULL;
    for (size_t i = 0; i < all; i++)
        x[i] = 3 * x[i] + (float)(i % d);
    for (uint32_t i = 0; i < n; i++)
        rows += some ? counts[i] = below(3) != 0 : 0;
    rows = rows < 2 ? 2 : rows;
    float *y = copy(x, all); /* in place */
    for (size_t j = 0; j < 2 * d; j++)
        sum[j] = back[j] = 0;
    *batches = 41;
    while (again()) {
        const uint32_t *count = counted(n), most = bound(n);
        for (int part = 0; part < 2; part++)
            gnn_cuda_moments(at(x), at(x), at(mask), count, most, d, scratch(work), at(sum),
                             stream);
        gnn_cuda_batch_stats(at(sum), 2 * rows, d, 1e-5f, at(stat), stream);
        gnn_cuda_batch_norm(at(y), count, most, d, at(stat), at(gamma), at(beta), at(h), at(y),
                            stream);
        gnn_cuda_batch_norm(at(x), count, most, d, at(stat), at(gamma), at(beta), NULL, at(plain),
                            stream);
        gnn_cuda_batch_track(at(stat), d, 0.1f, at(mean), at(var), at(batches), stream);
        gnn_cuda_running_stats(at(mean), at(var), d, 1e-5f, at(kept), stream);
        gnn_cuda_moments(at(dy), at(h), NULL, count, most, d, scratch(work), at(back), stream);
        gnn_cuda_batch_norm_grads(at(back), d, at(dg), at(db), stream);
        gnn_cuda_batch_back_stats(at(back), rows, d, at(stat), stream);
        gnn_cuda_batch_norm_back(at(dx), at(h), at(mask), count, most, d, at(stat), at(gamma),
                                 stream);
    }
    for (int part = 0; part < 2; part++)
        gnn_moments(x, x, mask, n, d, host(work), sum);
    gnn_batch_stats(sum, 2 * rows, d, 1e-5f, stat);
    gnn_batch_norm(y, n, d, stat, gamma, beta, h, y);
    memcpy(plain, y, all * sizeof *y);
    gnn_batch_track(stat, d, 0.1f, mean, var, batches);
    gnn_running_stats(mean, var, d, 1e-5f, kept);
    gnn_moments(dy, h, NULL, n, d, host(work), back);
    gnn_batch_norm_grads(back, d, dg, db);
    gnn_batch_back_stats(back, rows, d, stat);
    gnn_batch_norm_back(dx, h, mask, n, d, stat, gamma);
    expect(*batches == 42, "the CPU has counted %lld batches", (long long)*batches);
    verdict("batch norm and back: (%u, %zu)%s", n, d, some ? ", where some rows count" : "");
}

/* Moments of zeros with a sign, and of anything in rows that do not count. */
static void moments(uint32_t n, size_t d, bool some)
{
    float *x = numbers(n * d), *by = numbers(n * d);
    double *sum = doubles(2 * d);
    uint8_t *counts = array(n, 1), *mask = some ? counts : NULL;
    for (uint32_t i = 0; i < n; i++) {
        counts[i] = !some || below(3) != 0;
        x[i * d] = -0.0f;
        x[i * d + 1] = counts[i] ? x[i * d + 1] : NAN;
        by[i * d + 2] = counts[i] ? by[i * d + 2] : INFINITY;
    }
    for (size_t j = 0; j < 2 * d; j++)
        sum[j] = -0.0;
    const size_t work = GNN_MOMENT_BLOCKS * 2 * d * sizeof(double);
    while (again())
        gnn_cuda_moments(at(x), at(by), at(mask), counted(n), bound(n), d, scratch(work), at(sum),
                         stream);
    gnn_moments(x, by, mask, n, d, host(work), sum);
    verdict("moments: (%u, %zu)%s", n, d, some ? ", where some rows count" : "");
}

void case_norm(void)
{
    for (int i = 0; i < SHAPES; i++) {
        layer_norm(shapes[i].n * size_scale, shapes[i].d);
        batch_norm(shapes[i].n * size_scale, shapes[i].d, false);
        batch_norm(shapes[i].n * size_scale, shapes[i].d, true);
    }
    layer_norm(chunks[CHUNKS - 1].n, chunks[CHUNKS - 1].d);
    for (int i = 0; i < CHUNKS; i++) {
        moments(chunks[i].n, chunks[i].d, false);
        moments(chunks[i].n, chunks[i].d, true);
    }
}
