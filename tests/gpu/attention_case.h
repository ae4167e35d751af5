/* SPDX-License-Identifier: Apache-2.0 */
/* Attention on a device beside the CPU's, for check_kernels. */
#ifndef GNN_TESTS_GPU_ATTENTION_CASE_H
#define GNN_TESTS_GPU_ATTENTION_CASE_H

#include "gpu/on_device.h"
#include "kernels/attention.h"
#include "kernels/attention_edge.h"
#include "kernels/heads.h"

/* Room for what attention gives, here or there. */
struct attended {
    float *y, *m, *z, *dots;
    struct gnn_attention_back g;
};
static struct attended attended(void *(*get)(size_t), const struct gnn_attention *a, uint32_t edges)
{
    const size_t f = sizeof(float), d = a->heads * a->channels, rows = a->ndst * d * f,
                 cols = a->nsrc * d * f,
                 words = gnn_attention_signs(a->heads, a->channels) * sizeof(uint32_t);
    struct attended t = {.y = get(rows), .m = get(rows), .z = get(rows), .dots = get(rows)};
    t.g = (struct gnn_attention_back){.m = t.m,
                                      .z = t.z,
                                      .dots = t.dots,
                                      .dvalue = get(cols),
                                      .dsrc = get(cols),
                                      .dscale = get(cols),
                                      .edge_grad = get(edges * a->heads * f),
                                      .loop_grad = get(rows),
                                      .edge_weight = get(edges * a->heads * f),
                                      .loop_weight = get(rows),
                                      .edge_sign = get(edges * words),
                                      .loop_sign = get(a->ndst * words),
                                      .weights = get(rows),
                                      .ddst = get(rows),
                                      .dweight = get(rows)};
    return t;
}

/* A destination of `longest` edges among others of `degree` at most, each with a self-loop. */
static void attention(uint32_t rows, uint32_t degree, uint32_t longest,
                      enum gnn_attention_kind kind, uint32_t heads, uint32_t channels)
{
    const uint32_t cols = 2 * rows;
    const size_t d = heads * channels, f = sizeof(float),
                 wide = gnn_attention_wide(kind) ? d : heads,
                 values = kind == GNN_ATTENTION_RAW ? channels : d;
    uint32_t *ptr = host((rows + 1) * sizeof *ptr), *tptr = host((cols + 1) * sizeof *tptr);
    for (uint32_t i = 0; i < rows; i++)
        ptr[i + 1] = ptr[i] + (i == rows / 2 ? longest : below(degree + 1));
    const uint32_t n = ptr[rows];
    uint32_t *idx = host(n * sizeof *idx), *tidx = host(n * sizeof *idx),
             *tedge = host(n * sizeof *idx), *node = host(rows * sizeof *node);
    for (uint32_t e = 0; e < n; e++)
        idx[e] = below(below(4) ? cols : cols / 50 + 1);
    struct gnn_csr k = {.n = rows, .indptr = ptr, .indices = idx}, back = {.n = cols};
    gnn_csr_transpose(&k, 1, cols, tptr, tidx, tedge);
    back.indptr = tptr, back.indices = tidx, back.edge = tedge;
    float *src = numbers(cols * wide), *dst = numbers(rows * wide), *weight = numbers(d),
          *value = numbers(cols * values), *dy = numbers(rows * d);
    struct gnn_attention a = {kind, heads, channels, 0.2f, src, dst, weight};
    a.value = value, a.nsrc = cols, a.ndst = rows, a.loops = true;
    a.drop = (struct gnn_attention_drop){{1, 2}, 40000, NULL, node};
    struct attended want = attended(host, &a, n);
    want.g.dy = dy;
    gnn_attention_rows(&a, &k, 1, 0, rows, GNN_ATTENTION_WHOLE, want.y, want.m, want.z);
    gnn_head_dots(dy, want.y, d, rows, heads, channels, want.dots);
    for (int pass = 0; pass < 2; pass++) /* or the targets come first */
        if (pass == gnn_attention_targets_first(kind))
            gnn_attention_sources(&a, &back, 0, cols, &want.g, false);
        else
            gnn_attention_targets(&a, &k, 1, 0, rows, &want.g, false);
    k.indptr = up(ptr, (rows + 1) * sizeof *ptr), k.indices = up(idx, n * sizeof *idx);
    back.indptr = up(tptr, (cols + 1) * sizeof *tptr);
    back.indices = up(tidx, n * sizeof *tidx), back.edge = up(tedge, n * sizeof *tedge);
    const struct gnn_csr *block = up(&k, sizeof k), *across = up(&back, sizeof back);
    a.src = up(src, cols * wide * f), a.dst = up(dst, rows * wide * f);
    a.weight = up(weight, d * f), a.value = up(value, cols * values * f);
    a.drop.node = up(node, rows * sizeof *node);
    uint64_t *bad = nothing_bad();
    size_t wrong = 0;
    struct attended got = attended(room, &a, n);
    got.g.dy = up(dy, rows * d * f);
    for (int run = 0; run < 2; run++) {
        gnn_cuda_attention_rows(&a, block, 1, 0, rows, GNN_ATTENTION_WHOLE, got.y, got.m, got.z,
                                bad, stream);
        gnn_cuda_head_dots(got.g.dy, got.y, d, rows, heads, channels, got.dots, stream);
        for (int pass = 0; pass < 2; pass++)
            if (pass == gnn_attention_targets_first(kind))
                gnn_cuda_attention_sources(&a, across, 0, cols, &got.g, false, bad, stream);
            else
                gnn_cuda_attention_targets(&a, block, 1, 0, rows, &got.g, false, bad, stream);
        wrong += differ(down(got.y, rows * d * f), want.y, rows * d);
        wrong += differ(down(got.g.dvalue, cols * values * f), want.g.dvalue, cols * values);
        wrong += differ(down(got.g.ddst, rows * wide * f), want.g.ddst, rows * wide);
        if (kind != GNN_ATTENTION_V2)
            wrong += differ(down(got.g.dsrc, cols * wide * f), want.g.dsrc, cols * wide);
        else
            wrong += differ(down(got.g.dweight, rows * d * f), want.g.dweight, rows * d);
    }
    ok(!wrong && !was_bad(bad), "attention of kind %d: %u rows, %u edges, %u heads of %u",
       (int)kind, rows, n, heads, channels);
    release();
}

#endif
