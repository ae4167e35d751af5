/* SPDX-License-Identifier: Apache-2.0 */
/* Every kernel on a device beside its CPU twin, all data copied there and back. Runs on real
 * devices (scripts/gpu-check.sh) and, as any other test, on the fake one. Each case runs twice, and
 * both must give the same bits. usage: check_kernels [SCALE]   sizes times SCALE (default 1, for
 * emulation and compute-sanitizer; 100 for a GPU) */
#include "kernels/act.h"
#include "kernels/batch_norm.h"
#include "kernels/edges.h"
#include "kernels/factors.h"
#include "kernels/gather.h"
#include "kernels/half.h"
#include "kernels/label.h"
#include "kernels/loss.h"
#include "kernels/message.h"
#include "kernels/optim.h"
#include "kernels/rows.h"
#include "kernels/sample.h"
#include "kernels/spmm.h"
#include "kernels/weight.h"
#include "attention_case.h"
#include "sample_case.h"
#include "on_device.h"

static uint32_t scale = 1;

/* ---- gather ---- */

static void gather(uint32_t rows, uint32_t width, uint32_t wanted, enum gnn_gather_cast cast)
{
    const size_t element =
        cast == GNN_GATHER_AS_IS || cast == GNN_GATHER_F32_F16 || cast == GNN_GATHER_F32_BF16 ? 4
                                                                                              : 2;
    const size_t bytes = width * element, out = gnn_gather_out_bytes(cast, bytes);
    float *table = numbers(((size_t)rows * bytes + 3) / 4);
    if (element == 2)
        gnn_f32_to_f16(numbers((size_t)rows * width), (uint64_t)rows * width,
                       (uint16_t *)(void *)table);
    uint32_t *id = host(wanted * sizeof *id), *slot = host(rows * sizeof *slot);
    for (uint32_t i = 0; i < wanted; i++)
        id[i] = below(rows);
    const uint32_t cached = rows / 3;
    char *cache = host(cached * bytes);
    memset(slot, 0xff, rows * sizeof *slot);
    for (uint32_t i = 0; i < cached; i++) { /* every third row */
        slot[3 * i] = i;
        memcpy(cache + i * bytes, (char *)table + 3 * i * bytes, bytes);
    }
    const struct gnn_gather_part whole = {.count = rows, .data = table};
    char *want = host(wanted * out);
    (void)gnn_gather_rows(&(struct gnn_gather){.part = &whole,
                                               .nparts = 1,
                                               .cast = cast,
                                               .bytes = bytes,
                                               .n = wanted,
                                               .id = id,
                                               .out = want});
    const struct gnn_gather_part near = {
        .count = cached, .data = up(cache, cached * bytes), .tier = GNN_TIER_DEVICE};
    const struct gnn_gather_part far = {
        .count = rows, .data = pin(table, rows * bytes), .tier = GNN_TIER_HOST};
    const struct gnn_gather_count none = {.first_missing = UINT64_MAX};
    struct gnn_cuda_gather g = {.cached = up(&near, sizeof near),
                                .backing = up(&far, sizeof far),
                                .ncached = 1,
                                .nbacking = 1,
                                .slot = up(slot, rows * sizeof *slot),
                                .nslots = rows,
                                .cast = cast,
                                .bytes = bytes,
                                .capacity = wanted,
                                .id = up(id, wanted * sizeof *id)};
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        g.out = room(wanted * out);
        g.count = up(&none, sizeof none);
        gnn_cuda_gather_rows(&g, stream);
        wrong += memcmp(down(g.out, wanted * out), want, wanted * out) != 0;
        const struct gnn_gather_count *c = down(g.count, sizeof *c);
        wrong += c->missing || c->rows[GNN_TIER_DEVICE] + c->rows[GNN_TIER_HOST] != wanted;
    }
    ok(!wrong, "gather: %u of %u rows of %zu bytes, cast %d", wanted, rows, bytes, (int)cast);
    release();
}

/* ---- edges ---- */

/* Every second node has edges; a pick in eight is not an edge of its node. */
static void edges(uint32_t nodes, uint32_t degree, uint32_t n)
{
    uint64_t *ptr = host((nodes + 1) * sizeof *ptr),
             *id = host((size_t)nodes * degree * sizeof *id);
    uint32_t *dst = host(n * sizeof *dst), *at = host((n + 1) * sizeof *at);
    uint64_t *picked = host((size_t)n * 8 * sizeof *picked),
             *want = host((size_t)n * 8 * sizeof *want);
    for (uint32_t v = 0; v < nodes; v++) {
        ptr[v + 1] = ptr[v] + (v % 2 ? degree : 0);
        for (uint64_t k = ptr[v]; k < ptr[v + 1]; k++)
            id[k] = (uint64_t)v << 33 | (k - ptr[v]); /* consecutive */
    }
    for (uint32_t i = 0; i < n; i++) {
        dst[i] = below(nodes);
        at[i + 1] = at[i] + (dst[i] % 2 ? below(9) : 0);
        for (uint32_t q = at[i]; q < at[i + 1]; q++)
            picked[q] =
                ((uint64_t)dst[i] << 33 | below(degree)) ^ (below(8) ? 0 : UINT64_C(1) << 40);
    }
    struct gnn_edges_part part = {
        .count = nodes, .row = 7, .nedges = ptr[nodes], .indptr = ptr, .id = id};
    struct gnn_edges f = {
        .part = &part, .nparts = 1, .n = n, .dst = dst, .indptr = at, .id = picked, .row = want};
    const size_t bytes = at[n] * sizeof *want;
    const uint64_t missing = gnn_edges_find(&f);
    part.indptr = pin(ptr, (nodes + 1) * sizeof *ptr);
    part.id = pin(id, ptr[nodes] * sizeof *id);
    f = (struct gnn_edges){.part = up(&part, sizeof part),
                           .nparts = 1,
                           .n = n,
                           .dst = up(dst, n * sizeof *dst),
                           .indptr = up(at, (n + 1) * sizeof *at),
                           .id = up(picked, bytes)};
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        f.row = room(bytes);
        gnn_cuda_find_edges(&f, stream);
        wrong += memcmp(down(f.row, bytes), want, bytes) != 0;
    }
    ok(!wrong && missing, "edges: %u picks of %u nodes", at[n], n);
    release();
}

/* ---- aggregation ---- */

static void aggregate(uint32_t rows, uint32_t cols, uint32_t degree, uint32_t longest, uint32_t d)
{
    uint32_t *ptr = host((rows + 1) * sizeof *ptr), edges = 0;
    for (uint32_t i = 0; i < rows; i++) {
        ptr[i] = edges;
        edges += i == rows / 2 ? longest : below(degree + 1);
    }
    ptr[rows] = edges;
    uint32_t *idx = host(edges * sizeof *idx);
    for (uint32_t i = 0; i < edges; i++)
        idx[i] = below(below(4) ? cols : cols / 50 + 1);
    float *x = numbers((size_t)cols * d), *row = numbers(rows),
          *want = host((size_t)rows * d * sizeof *want),
          *weighted = host((size_t)rows * d * sizeof *weighted);
    float *value = numbers(edges);
    struct gnn_csr a = {.n = rows, .indptr = ptr, .indices = idx, .row = row, .value = value};
    gnn_spmm(&a, x, d, d, weighted, d, 0);
    a.value = NULL;
    gnn_spmm(&a, x, d, d, want, d, 0);
    uint32_t *tptr = host((cols + 1) * sizeof *tptr), *tidx = host(edges * sizeof *tidx);
    uint32_t *tedge = host(edges * sizeof *tedge);
    gnn_csr_transpose(&a, 1, cols, tptr, tidx, tedge);
    a = (struct gnn_csr){.n = rows,
                         .indptr = up(ptr, (rows + 1) * sizeof *ptr),
                         .indices = up(idx, edges * sizeof *idx),
                         .row = up(row, rows * sizeof *row)};
    const struct gnn_csr *block = up(&a, sizeof a);
    a.value = up(value, edges * sizeof *value);
    const struct gnn_csr *valued = up(&a, sizeof a);
    float *dx = up(x, (size_t)cols * d * sizeof *x);
    uint64_t *bad = nothing_bad();
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        float *y = room((size_t)rows * d * sizeof *y);
        gnn_cuda_spmm(block, 1, 0, NULL, rows, dx, cols, d, d, y, d, 0, bad, stream);
        wrong += differ(down(y, (size_t)rows * d * sizeof *y), want, (size_t)rows * d);
        gnn_cuda_spmm(valued, 1, 0, NULL, rows, dx, cols, d, d, y, d, 0, bad, stream);
        wrong += differ(down(y, (size_t)rows * d * sizeof *y), weighted, (size_t)rows * d);
        uint32_t *p = room((cols + 1) * sizeof *p), *q = room(edges * sizeof *q),
                 *number = room(edges * sizeof *number);
        gnn_cuda_csr_transpose(block, 1, NULL, cols, edges, p, q, number,
                               room(gnn_cuda_csr_transpose_scratch(edges, true)), bad, stream);
        wrong += memcmp(down(number, edges * sizeof *number), tedge, edges * sizeof *tedge) != 0;
        wrong += memcmp(down(p, (cols + 1) * sizeof *p), tptr, (cols + 1) * sizeof *p) != 0;
        wrong += memcmp(down(q, edges * sizeof *q), tidx, edges * sizeof *q) != 0;
    }
    ok(!wrong && !was_bad(bad), "aggregate and transpose: %u rows, %u columns, %u edges, %u wide",
       rows, cols, edges, d);
    release();
}

/* ---- messages ---- */

static void messages(uint32_t rows, uint32_t cols, uint32_t degree, uint32_t longest, uint32_t d)
{
    uint32_t *ptr = host((rows + 1) * sizeof *ptr);
    for (uint32_t i = 0; i < rows; i++)
        ptr[i + 1] = ptr[i] + (i == rows / 2 ? longest : below(degree + 1));
    const uint32_t edges = ptr[rows];
    uint32_t *idx = host((edges + 1) * sizeof *idx), *tptr = host((cols + 1) * sizeof *tptr),
             *tidx = host((edges + 1) * sizeof *tidx), *tedge = host((edges + 1) * sizeof *tedge);
    for (uint32_t i = 0; i < edges; i++)
        idx[i] = below(below(4) ? cols : cols / 50 + 1);
    const size_t in = (size_t)cols * d, out = (size_t)rows * d, bytes = out * sizeof(float);
    float *x = numbers(in), *dy = numbers(out), *y = host(bytes), *dx = host(in * sizeof *dx);
    uint32_t *arg = host(bytes);
    const size_t all = (size_t)edges * d;
    float *z = numbers(all), *dz = host(all * sizeof *dz), *sent = host(bytes),
          *sum = host(in * sizeof *sum), *mean = host(bytes);
    for (size_t i = 0; i < in; i++)
        x[i] = rintf(4 * x[i]) / 4; /* so that some are equal */
    struct gnn_csr a = {.n = rows, .indptr = ptr, .indices = idx};
    gnn_csr_transpose(&a, 1, cols, tptr, tidx, tedge);
    struct gnn_csr t = {.n = cols, .indptr = tptr, .indices = tidx, .edge = tedge};
    gnn_max_rows(&a, 1, 0, rows, x, d, y, arg, 0, false);
    gnn_max_back(&t, 1, 0, cols, dy, arg, d, dx, 0, false);
    gnn_edge_relu(&a, 1, 0, rows, x, z, 0, d, sent, false);
    gnn_edge_relu_back(&a, 1, 0, rows, x, z, 0, dy, d, dz);
    gnn_edge_sum(&t, 1, 0, cols, dz, 0, edges, d, sum, false);
    gnn_edge_means(&a, 1, 0, rows, z, 0, d, mean);
    const size_t rest = all + 3 * (size_t)d, rest_bytes = rest * sizeof(float);
    float *roomy = numbers(rest), *cleared = copy_of(roomy, rest);
    gnn_edge_rest(&a, 1, edges + 3, d, cleared);
    a.indptr = up(ptr, (rows + 1) * sizeof *ptr);
    a.indices = up(idx, (edges + 1) * sizeof *idx);
    t.indptr = up(tptr, (cols + 1) * sizeof *tptr);
    t.indices = up(tidx, (edges + 1) * sizeof *tidx);
    t.edge = up(tedge, (edges + 1) * sizeof *tedge);
    const struct gnn_csr *va = up(&a, sizeof a), *vt = up(&t, sizeof t);
    const float *vx = up(x, in * sizeof *x), *vdy = up(dy, bytes);
    uint64_t *bad = nothing_bad();
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        float *vy = room(bytes), *g = room(in * sizeof *g);
        uint32_t *at = room(bytes);
        gnn_cuda_max_rows(va, 1, 0, NULL, rows, vx, cols, d, vy, at, 0, false, bad, stream);
        gnn_cuda_max_back(vt, 1, 0, NULL, cols, vdy, at, rows, d, g, 0, false, bad, stream);
        wrong += differ(down(vy, bytes), y, out) + (memcmp(down(at, bytes), arg, bytes) != 0) +
                 differ(down(g, in * sizeof *g), dx, in);
        float *vz = up(z, all * sizeof *z);
        gnn_cuda_edge_means(va, 1, 0, NULL, rows, vz, 0, d, vy, stream);
        wrong += differ(down(vy, bytes), mean, out);
        gnn_cuda_edge_relu(va, 1, 0, NULL, rows, vx, cols, vz, 0, d, vy, false, bad, stream);
        gnn_cuda_edge_relu_back(va, 1, 0, NULL, rows, vx, cols, vz, 0, vdy, d, vz, bad, stream);
        gnn_cuda_edge_sum(vt, 1, 0, NULL, cols, vz, 0, edges, d, g, false, stream);
        float *vr = up(roomy, rest_bytes);
        gnn_cuda_edge_rest(va, 1, edges + 3, d, vr, stream);
        wrong += differ(down(vr, rest_bytes), cleared, rest);
        wrong += differ(down(vy, bytes), sent, out) + differ(down(vz, all * sizeof *dz), dz, all) +
                 differ(down(g, in * sizeof *g), sum, in);
    }
    ok(!wrong && !was_bad(bad), "messages: %u rows, %u columns, %u edges, %u wide", rows, cols,
       edges, d);
    release();
}

static void unit_rows(uint32_t n, uint32_t d)
{
    const size_t count = (size_t)n * d, bytes = count * sizeof(float);
    float *x = numbers(count), *dy = numbers(count), *y = host(bytes), *r = host(n * sizeof *r);
    const float *vx = up(x, bytes);
    gnn_unit_rows(x, n, d, y, r);
    float *g = up(dy, bytes), *vy = room(bytes), *vr = room(n * sizeof *vr);
    gnn_unit_rows_back(dy, y, r, n, d);
    gnn_cuda_unit_rows(vx, NULL, n, d, vy, vr, stream);
    gnn_cuda_unit_rows_back(g, vy, vr, NULL, n, d, stream);
    ok(!differ(down(vy, bytes), y, count) && !differ(down(vr, n * sizeof *vr), r, n) &&
           !differ(down(g, bytes), dy, count),
       "rows of unit length: (%u, %u)", n, d);
    release();
}

/* ---- element-wise passes ---- */

static void passes(uint32_t n, uint32_t d, enum gnn_act act)
{
    const size_t count = (size_t)n * d, bytes = count * sizeof(float);
    float *x = numbers(count), *bias = numbers(d),
          *work = host((GNN_COLSUM_BLOCKS + 1) * d * sizeof *work);
    uint32_t *node = host(n * sizeof *node);
    for (uint32_t i = 0; i < n; i++)
        node[i] = draw();
    struct gnn_dropout q = {{draw(), draw()}, node, 40000};
    float *out = copy_of(x, count), *drop = host(bytes), *back = copy_of(x, count),
          *sum = host(d * sizeof *sum);
    gnn_bias_act(out, n, d, bias, act, &q);
    gnn_dropout_copy(x, n, d, &q, drop);
    gnn_act_back(back, out, n, d, act, 1.5f, &q);
    gnn_colsum(x, n, d, work, sum, false);
    q.node = up(node, n * sizeof *node);
    float *dx = up(x, bytes), *db = up(bias, d * sizeof *bias);
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        float *a = up(x, bytes), *y = room(bytes), *b = up(x, bytes), *s = room(d * sizeof *s);
        gnn_cuda_bias_act(a, NULL, n, d, db, act, &q, stream);
        gnn_cuda_dropout_copy(dx, NULL, n, d, &q, y, stream);
        gnn_cuda_act_back(b, a, NULL, n, d, act, 1.5f, &q, stream);
        gnn_cuda_colsum(dx, NULL, n, d, room(GNN_COLSUM_BLOCKS * d * sizeof *s), s, false, stream);
        wrong += differ(down(a, bytes), out, count) + differ(down(y, bytes), drop, count);
        wrong += differ(down(b, bytes), back, count) + differ(down(s, d * sizeof *s), sum, d);
    }
    ok(!wrong, "bias, activation %d, dropout, column sums: (%u, %u)", (int)act, n, d);
    release();
}

static void norm(uint32_t n, uint32_t d)
{
    const size_t count = (size_t)n * d, bytes = count * sizeof(float), line = d * sizeof(float);
    float *x = numbers(count), *gamma = numbers(d), *beta = numbers(d), *dy = numbers(count);
    float *y = host(bytes), *xhat = host(bytes), *rstd = host(n * sizeof *rstd), *dg = host(line),
          *db = host(line);
    float *dx = copy_of(dy, count), *work = host(GNN_COLSUM_BLOCKS * line);
    gnn_layer_norm(x, n, d, gamma, beta, 1e-5f, xhat, rstd, y);
    gnn_layer_norm_back(dx, xhat, rstd, n, d, gamma, dg, db, work);
    const float *vx = up(x, bytes), *vg = up(gamma, line), *vb = up(beta, line);
    double far = 0;
    float *before = NULL;
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        float *h = room(bytes), *r = room(n * sizeof *r), *o = room(bytes), *g = up(dy, bytes);
        float *a = up(host(line), line), *b = up(host(line), line);
        gnn_cuda_layer_norm(vx, NULL, n, d, vg, vb, 1e-5f, h, r, o, stream);
        far = worst_of(far, apart(down(o, bytes), y, count));
        gnn_cuda_layer_norm_back(g, h, r, NULL, n, d, vg, a, b, room(GNN_COLSUM_BLOCKS * line),
                                 stream);
        float *got = down(g, bytes);
        far = worst_of(far, worst_of(apart(got, dx, count), worst_of(apart(down(a, line), dg, d),
                                                                     apart(down(b, line), db, d)) /
                                                                (1 + n / 100.)));
        wrong += before ? differ(got, before, count) : 0;
        before = got;
    }
    ok(!wrong && far < 1e-4, "layer norm: (%u, %u), apart by %.1e", n, d, far);
    release();
}

/* The CPU's bits, whatever the grid. */
static void batch_norm(uint32_t n, uint32_t d)
{
    const size_t count = (size_t)n * d, bytes = count * sizeof(float), line = d * sizeof(float);
    const size_t sums = 2 * d * sizeof(double), stats = GNN_BATCH_STATS * line,
                 rooms = GNN_MOMENT_BLOCKS * sums;
    float *x = numbers(count), *gamma = numbers(d), *beta = numbers(d), *dy = numbers(count),
          *dx = copy_of(dy, count);
    float *y = host(bytes), *h = host(bytes), *stat = host(stats), *dg = host(line),
          *db = host(line);
    float *mean = copy_of(gamma, d), *var = copy_of(beta, d);
    double *sum = host(sums), *back = host(sums), *work = host(rooms);
    int64_t batches = 1;
    gnn_moments(x, x, NULL, n, d, work, sum);
    gnn_batch_stats(sum, n, d, 1e-5f, stat);
    gnn_batch_norm(x, n, d, stat, gamma, beta, h, y);
    gnn_batch_track(stat, d, 0.1f, mean, var, &batches);
    gnn_moments(dy, h, NULL, n, d, work, back);
    gnn_batch_norm_grads(back, d, dg, db);
    gnn_batch_back_stats(back, n, d, stat);
    gnn_batch_norm_back(dx, h, NULL, n, d, stat, gamma);
    const float *vx = up(x, bytes), *vg = up(gamma, line), *vb = up(beta, line);
    double *nothing = host(sums);
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        double *s = up(nothing, sums), *b = up(nothing, sums), *w = room(rooms);
        float *vh = room(bytes), *vy = room(bytes), *g = up(dy, bytes), *st = room(stats);
        float *m = up(gamma, line), *v = up(beta, line), *vdg = up(host(line), line),
              *vdb = up(host(line), line);
        int64_t one = 1, *many = up(&one, sizeof one);
        gnn_cuda_moments(vx, vx, NULL, NULL, n, d, w, s, stream);
        gnn_cuda_batch_stats(s, n, d, 1e-5f, st, stream);
        gnn_cuda_batch_norm(vx, NULL, n, d, st, vg, vb, vh, vy, stream);
        gnn_cuda_batch_track(st, d, 0.1f, m, v, many, stream);
        gnn_cuda_moments(g, vh, NULL, NULL, n, d, w, b, stream);
        gnn_cuda_batch_norm_grads(b, d, vdg, vdb, stream);
        gnn_cuda_batch_back_stats(b, n, d, st, stream);
        gnn_cuda_batch_norm_back(g, vh, NULL, NULL, n, d, st, vg, stream);
        wrong += differ(down(vy, bytes), y, count) + differ(down(vh, bytes), h, count) +
                 differ(down(g, bytes), dx, count);
        wrong += differ(down(st, stats), stat, GNN_BATCH_STATS * d) +
                 differ(down(m, line), mean, d) + differ(down(v, line), var, d);
        wrong += differ(down(vdg, line), dg, d) + differ(down(vdb, line), db, d) +
                 (*(int64_t *)down(many, sizeof one) != batches);
    }
    ok(!wrong, "batch norm: (%u, %u)", n, d);
    release();
}

/* ---- losses ---- */

static void losses(uint32_t n, uint32_t c)
{
    const size_t count = (size_t)n * c, bytes = count * sizeof(float);
    float *z = numbers(count), *target = host(bytes), *soft = host(bytes), *sigm = host(bytes);
    double *l1 = host(n * sizeof *l1), *l2 = host(n * sizeof *l2);
    int32_t *cls = host(n * sizeof *cls);
    for (uint32_t i = 0; i < n; i++)
        cls[i] = below(9) ? (int32_t)below(c) : -1;
    for (size_t i = 0; i < count; i++) {
        z[i] *= 8;
        target[i] = below(9) ? (float)below(2) : NAN;
    }
    const float by = 1.0f / (float)n;
    gnn_softmax_ce(z, n, c, cls, by, l1, soft);
    gnn_sigmoid_ce(z, n, c, target, by, l2, sigm);
    float *square = host(bytes);
    double *l3 = host(n * sizeof *l3);
    gnn_squared_error(z, n, c, target, by, l3, square);
    bool same = true;
    const float *vz = up(z, bytes), *vt = up(target, bytes);
    const int32_t *vc = up(cls, n * sizeof *cls);
    uint64_t *bad = nothing_bad();
    double far = 0;
    for (int run = 0; run < 2; run++) {
        float *a = room(bytes), *b = room(bytes);
        double *r1 = room(n * sizeof *r1), *r2 = room(n * sizeof *r2);
        gnn_cuda_softmax_ce(vz, NULL, n, c, vc, by, r1, a, bad, stream);
        gnn_cuda_sigmoid_ce(vz, NULL, n, c, vt, by, r2, b, stream);
        far = worst_of(
            far, worst_of(apart(down(a, bytes), soft, count), apart(down(b, bytes), sigm, count)));
        const double *g1 = down(r1, n * sizeof *r1), *g2 = down(r2, n * sizeof *r2);
        for (uint32_t i = 0; i < n; i++)
            far = worst_of(far, worst_of(fabs(g1[i] - l1[i]) / fmax(1, l1[i]),
                                         fabs(g2[i] - l2[i]) / fmax(1, l2[i])));
        gnn_cuda_squared_error(vz, NULL, n, c, vt, by, r2, b, stream);
        same = same && !memcmp(down(b, bytes), square, bytes) &&
               !memcmp(down(r2, n * sizeof *r2), l3, n * sizeof *l3);
    }
    ok(same, "squared error: (%u, %u)", n, c);
    ok(far < 1e-5 && !was_bad(bad), "softmax and sigmoid losses: (%u, %u), apart by %.1e", n, c,
       far);
    release();
}

static void class_weights(uint32_t n, uint32_t c)
{
    const size_t bytes = (size_t)n * c * sizeof(float);
    float *z = numbers((size_t)n * c), *weight = numbers(c), *w = host(n * sizeof *w);
    double *loss = host(n * sizeof *loss), total = 3.7;
    int32_t *cls = host(n * sizeof *cls);
    for (uint32_t i = 0; i < n; i++) {
        cls[i] = (int32_t)below(c + 2) - 1;
        loss[i] = (double)z[(size_t)i * c];
    }
    const float *vweight = up(weight, c * sizeof(float));
    const double *vtotal = up(&total, sizeof total);
    const int32_t *vcls = up(cls, n * sizeof *cls);
    float *vz = up(z, bytes), *vw = room(n * sizeof *w);
    double *vloss = up(loss, n * sizeof *loss);
    gnn_class_weights(cls, n, c, weight, w);
    gnn_weigh_rows(w, n, c, &total, 17, loss, z);
    gnn_cuda_class_weights(vcls, n, c, vweight, vw, stream);
    gnn_cuda_weigh_rows(vw, n, c, vtotal, 17, vloss, vz, stream);
    bool same = !memcmp(down(vw, n * sizeof *w), w, n * sizeof *w) &&
                !memcmp(down(vz, bytes), z, bytes) &&
                !memcmp(down(vloss, n * sizeof *loss), loss, n * sizeof *loss);
    gnn_target_weights(z, n, weight, w);
    gnn_cuda_target_weights(vz, n, vweight, vw, stream);
    same = same && !memcmp(down(vw, n * sizeof *w), w, n * sizeof *w);
    ok(same, "weights of classes: (%u, %u)", n, c);
    release();
}

/* ---- optimisers ---- */

static void optimisers(uint32_t n)
{
    const size_t bytes = n * sizeof(float);
    float *p = numbers(n), *g = numbers(n), *p1 = copy_of(p, n), *p2 = copy_of(p, n);
    float *m1 = host(bytes), *v1 = host(bytes), *m2 = host(bytes);
    struct gnn_optim_step s = {.lr = 0.01f,
                               .weight_decay = 0.1f,
                               .beta1 = 0.9f,
                               .beta2 = 0.999f,
                               .eps = 1e-8f,
                               .momentum = 0.9f};
    float *vg = up(g, bytes), *q1 = up(p, bytes), *q2 = up(p, bytes), *n1 = up(m1, bytes),
          *w1 = up(v1, bytes), *n2 = up(m2, bytes);
    for (s.t = 1; s.t <= 3; s.t++) {
        gnn_adam(p1, g, m1, v1, n, true, &s);
        gnn_sgd(p2, g, m2, n, &s);
        gnn_cuda_adam(q1, vg, n1, w1, n, true, &s, stream);
        gnn_cuda_sgd(q2, vg, n2, n, &s, stream);
    }
    const size_t wrong = differ(down(q1, bytes), p1, n) + differ(down(q2, bytes), p2, n);
    double *sum = room(sizeof *sum);
    gnn_cuda_square_sum(vg, n, room(gnn_cuda_square_sum_scratch(n)), sum, stream);
    const double got = *(double *)down(sum, sizeof *sum), want = gnn_square_sum(g, n);
    float *cut = up(g, bytes);
    gnn_cuda_clip(cut, n, sqrt(got) / 2, sum, stream);
    const float *c = down(cut, bytes);
    size_t off = 0;
    for (uint32_t i = 0; i < n; i++)
        off += c[i] != g[i] * 0.5f;
    ok(!wrong && !off && fabs(got - want) <= 1e-12 * want, "Adam, SGD, clipping: %u parameters", n);
    release();
}

static void halves(uint32_t n)
{
    float *w1 = host(n * sizeof *w1), *w2 = host(n * sizeof *w2);
    uint16_t *h = host(n * sizeof *h);
    for (uint32_t i = 0; i < n; i++)
        h[i] = (uint16_t)i;
    gnn_f16_to_f32(h, n, w1);
    gnn_bf16_to_f32(h, n, w2);
    const uint16_t *v = up(h, n * sizeof *h);
    float *y1 = room(n * sizeof *y1), *y2 = room(n * sizeof *y2);
    gnn_cuda_f16_to_f32(v, n, y1, stream);
    gnn_cuda_bf16_to_f32(v, n, y2, stream);
    ok(!differ(down(y1, n * sizeof *y1), w1, n) && !differ(down(y2, n * sizeof *y2), w2, n),
       "f16 and bf16 to f32: %u", n);
    release();
}

/* ---- factors, plain rows, labels ---- */

static void helpers(uint32_t n, uint32_t d)
{
    uint32_t *ptr = host((n + 1) * sizeof *ptr), *degree = host(n * sizeof *degree);
    for (uint32_t i = 0; i < n; i++) {
        ptr[i + 1] = ptr[i] + below(9);
        degree[i] = below(40);
    }
    uint32_t *idx = host((ptr[n] + 1) * sizeof *idx);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = ptr[i]; k < ptr[i + 1]; k++)
            idx[k] = below(3) ? below(n) : i;
    struct gnn_csr a = {.n = n, .indptr = ptr, .indices = idx};
    const size_t line = n * sizeof(float), bytes = line * d;
    float *mean = host(line), *is = host(line), *row = host(line), *diag = host(line),
          *x = numbers((size_t)n * d);
    float *unit = copy_of(x, (size_t)n * d), *sum = copy_of(x, (size_t)n * d);
    double *y = host(n * sizeof *y);
    int32_t *cls = host(n * sizeof *cls);
    for (uint32_t i = 0; i < n; i++)
        y[i] = below(9) ? below(12) : below(2) ? NAN : 2.5;
    gnn_mean_factors(&a, 1, 0, n, mean);
    gnn_gcn_degrees(degree, n, is);
    gnn_gcn_factors(&a, 1, 0, n, is, row, diag);
    gnn_rows_to_unit_sum(unit, n, d);
    gnn_add(x, (size_t)n * d, sum);
    gnn_label_classes(y, GNN_LABEL_F64, n, 10, cls);
    a.indptr = up(ptr, (n + 1) * sizeof *ptr);
    a.indices = up(idx, ptr[n] * sizeof *idx);
    const struct gnn_csr *block = up(&a, sizeof a);
    const uint32_t *deg = up(degree, n * sizeof *degree);
    const float *vx = up(x, bytes);
    const double *vy = up(y, n * sizeof *y);
    size_t wrong = 0;
    for (int run = 0; run < 2; run++) {
        float *m = room(line), *i = room(line), *r = room(line), *g = room(line), *u = up(x, bytes),
              *s = up(x, bytes);
        int32_t *c = room(n * sizeof *c);
        gnn_cuda_mean_factors(block, 1, 0, NULL, n, m, stream);
        gnn_cuda_gcn_degrees(deg, NULL, n, i, stream);
        gnn_cuda_gcn_factors(block, 1, 0, NULL, n, i, r, g, stream);
        gnn_cuda_rows_to_unit_sum(u, NULL, n, d, stream);
        gnn_cuda_add(vx, (size_t)n * d, s, stream);
        gnn_cuda_label_classes(vy, GNN_LABEL_F64, n, 10, c, stream);
        wrong += differ(down(m, line), mean, n) + differ(down(i, line), is, n) +
                 differ(down(r, line), row, n);
        wrong += differ(down(g, line), diag, n) + differ(down(u, bytes), unit, (size_t)n * d);
        wrong += differ(down(s, bytes), sum, (size_t)n * d) +
                 (memcmp(down(c, n * sizeof *c), cls, n * sizeof *c) != 0);
        gnn_cuda_fill(u, (size_t)n * d, 1, stream);
        const float *ones = down(u, bytes);
        for (size_t k = 0; k < (size_t)n * d; k++)
            wrong += ones[k] != 1;
    }
    ok(!wrong, "factors, unit sums, additions, labels: (%u, %u)", n, d);
    release();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        scale = (uint32_t)strtoul(argv[1], NULL, 10);
    struct gnn_dev_info info;
    unsigned n;
    must(gnn_dev_count(&n, &err));
    must(gnn_dev_ask(0, &info, &err));
    must(gnn_dev_stream_new(&stream, &err));
    printf("# %s, sm_%d%d, scale %u\n", info.name, info.major, info.minor, scale);
    static const uint32_t widths[] = {1, 3, 16, 47, 100, 256};
    for (unsigned i = 0; i < sizeof widths / sizeof *widths; i++) {
        const uint32_t d = widths[i];
        gather(200 * scale, d, 301 * scale, GNN_GATHER_AS_IS);
        aggregate(60 * scale, 150 * scale, 12, i == 2 ? 1000 * scale : 3, d);
        messages(60 * scale, 150 * scale, 12, i == 2 ? 1000 * scale : 3, d);
        unit_rows(40 * scale + 1, d);
        for (int act = GNN_ACT_NONE; act <= GNN_ACT_LEAKY; act++)
            passes(40 * scale + 1, d, (enum gnn_act)act);
        norm(20 * scale + 1, d);
        batch_norm(20 * scale + 1, d);
        losses(20 * scale + 1, d);
        class_weights(20 * scale + 1, d + 1);
        helpers(20 * scale + 1, d);
    }
    for (unsigned kind = 0; kind <= GNN_ATTENTION_DOT; kind++) {
        attention(60 * scale, 12, 3, (enum gnn_attention_kind)kind, 8, 8);
        attention(60 * scale, 12, 1000 * scale, (enum gnn_attention_kind)kind, 3, 40);
    }
    gather(200 * scale, 100, 300 * scale, GNN_GATHER_F32_F16);
    gather(200 * scale, 100, 300 * scale, GNN_GATHER_F32_BF16);
    gather(200 * scale, 100, 300 * scale, GNN_GATHER_F16_F32);
    edges(300 * scale, 11, 200 * scale);
    static const int32_t fanouts[] = {1, 5, 10, 15, 32, -1, 100, 300};
    for (unsigned i = 0; i < sizeof fanouts / sizeof *fanouts; i++)
        sampling(500 * scale, 300 * scale, i < 6 ? 40 : 400, fanouts[i], false);
    for (unsigned i = 0; i < 5; i++)
        sampling(500 * scale, 300 * scale, 40, fanouts[i], true);
    sampling(40 * scale, 10, 9000, 5000, false);
    for (unsigned trees = 0; trees < 5; trees += 2) {
        inducing(500 * scale, 300 * scale, 40, trees);
        inducing(90 * scale, 300 * scale, 40, trees);
    }
    optimisers(1000 * scale + 3);
    halves(1000 * scale + 1);
    gnn_dev_stream_free(stream);
    return tap_done();
}
