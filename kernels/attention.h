/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over the edges of one relation (what it needs of rows alone is in kernels/heads.h):
 * scores of edges, softmax over the edges that enter a row, and the weighted sum of the sources'
 * rows; forward and backward.
 *
 * A row has `heads` heads of `channels` columns each: d = heads * channels of them, column c of
 * head h at h * channels + c. Edge e leads from source row j to row i and has the number e: edges
 * are numbered from 0 on over one block after the other, or by `edge` of their block.
 *
 *     forward:     o->attention(o, &a, seg, nseg, from, to, GNN_ATTENTION_WHOLE, y, m, z)
 *     backward:    o->head_dots(o, dy, y, d, n, heads, channels, dots)
 *                  o->attention_sources(o, &a, back, &g, acc)   gives dvalue, dsrc and edge_grad,
 *                  o->attention_targets(o, &a, seg, nseg, from, to, &g, acc)  which this one reads
 *
 * For example a layer GAT with self-loops: x' (nsrc, d) = x W, and
 *
 *     o->head_dots(o, x', att_src, 0, nsrc, heads, channels, src);
 *     o->head_dots(o, x', att_dst, 0, ndst, heads, channels, dst);
 *     struct gnn_attention a = {.kind = GNN_ATTENTION_ADD, .heads = heads, .channels = channels,
 *         .slope = 0.2f, .src = src, .dst = dst, .value = x', .nsrc = nsrc, .ndst = ndst,
 *         .loops = true};
 *     for each chunk [from, to) of rows:
 *         a.dst = dst + from * heads;
 *         o->attention(o, &a, seg, nseg, from, to, GNN_ATTENTION_WHOLE, y + from * d,
 *                      m + from * heads, z + from * heads);
 *
 * and with the gradient dy of all rows of y:
 *
 *     o->head_dots(o, dy, y, d, ndst, heads, channels, dots);
 *     struct gnn_attention_back g = {.m = m, .z = z, .dots = dots, .dy = dy, .dvalue = dx',
 *         .dsrc = dsrc, .edge_grad = (edges, heads), .loop_grad = (ndst, heads), .ddst = ddst};
 *     o->attention_sources(o, &a, back, &g, false);                   (a.dst of all rows again)
 *     o->attention_targets(o, &a, seg, nseg, 0, ndst, &g, false);
 *     o->head_sums(o, dsrc, x', nsrc, heads, channels, work, datt_src, true);
 *     o->head_outer(o, dsrc, att_src, nsrc, heads, channels, dx');    (adds; the same with ddst)
 *
 * where `back` is the transposed block with `edge`. GATv2 has kind V2, dst = x W_r, value = x W_l,
 * weight = att, and the gradient of att is o->colsum of g.dweight. HGT has kind DOT and calls
 * o->attention for one relation after the other, FIRST with the first and LAST with the last;
 * backward m, z and dots are those of all relations together, and ddst is added up (acc). */
#ifndef GNN_KERNELS_ATTENTION_H
#define GNN_KERNELS_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The score of an edge and a head, leaky(u) being u > 0 ? u : slope * u; sums over the channels:
 *   ADD: leaky(src[j] + dst[i] + edge[e]), of arrays with `heads` columns
 *   V2:  sum of weight * leaky(value[j] + dst[i] + edge[e]), of arrays with d columns
 *   DOT: weight * sum of dst[i] * src[j]; weight has `heads` elements; no edge */
enum gnn_attention_kind { GNN_ATTENTION_ADD, GNN_ATTENTION_V2, GNN_ATTENTION_DOT };

enum { GNN_ATTENTION_HEADS = 64 }; /* at most */

/* Dropout of the weights that softmax gave: 16 bits a head, those of head 8*g + k being bits
 * 16*(k%2) .. of word k/2 of Philox at the counter (id, id >> 32, g, 0) of an edge, (node, 0, g, 1)
 * of a self-loop. Kept if they are below keep16, then scaled by 65536/keep16. keep16 0: no dropout.
 */
struct gnn_attention_drop {
    uint32_t key[2];
    uint32_t keep16;
    const uint64_t *id;   /* (edges) by number; NULL: the number itself */
    const uint32_t *node; /* (rows) of the destinations; read for self-loops only */
};

/* Arrays with a row for each destination (dst, loop, drop.node) begin with row `from` of the call.
 * Where there is no such, that is row 0. */
struct gnn_attention {
    enum gnn_attention_kind kind;
    uint32_t heads, channels;
    float slope;
    const float *src, *dst, *weight;
    const float *edge;  /* (edges from edge0 on, heads or d) or NULL */
    uint32_t edge0;     /* number of the edge that the first row of `edge` and `dedge` is of */
    const float *value; /* (nsrc, d) what is summed up */
    uint32_t nsrc, ndst;
    /* Edges from a row to itself (j == i) are left out; instead each destination has one, which
     * comes after all others, with the row of `loop` (may be NULL) as its `edge`. */
    bool loops;
    const float *loop;
    struct gnn_attention_drop drop;
};

/* FIRST: m, z and y begin anew, otherwise they go on from what is there. LAST: self-loops come in,
 * and y is divided by z. */
enum { GNN_ATTENTION_FIRST = 1, GNN_ATTENTION_LAST = 2, GNN_ATTENTION_WHOLE = 3 };

/* y (rows, d), m and z (rows, heads): the sum of value rows, weighted by exp(score - m); the
 * highest score so far, and the sum of exp(score - m) without dropout. Rows [from, to); those of no
 * block have no edges, and a row without any edge becomes 0. */
void gnn_attention_rows(const struct gnn_attention *a, const struct gnn_csr *block, size_t nblocks,
                        uint32_t from, uint32_t to, unsigned flags, float *y, float *m, float *z);

struct gnn_attention_back {
    /* Of the destinations, all rows: from the way forward; sums of dy * y over the channels
     * (head_dots); the gradient of y. */
    const float *m, *z, *dots, *dy;
    /* From gnn_attention_sources. */
    float *dvalue;    /* (nsrc, d); of V2 with what comes through the scores */
    float *dsrc;      /* as src; not for V2 */
    float *dscale;    /* DOT: (nsrc, heads), of each row its own; its column sums are the gradient
                         of weight; NULL: not wanted */
    float *edge_grad; /* (edges, heads), by number: the gradient of the score, and of ADD that of
                         `edge`; the only thing of the size of edges, 1/channels of messages */
    float *loop_grad; /* (ndst, heads), the same of self-loops; NULL without */
    /* From gnn_attention_targets, from row `from` on. */
    float *ddst;          /* as dst */
    float *dweight;       /* V2: (rows, d), of each row its own; its column sums are the gradient of
                             weight */
    float *dedge, *dloop; /* V2: as edge and loop; never added to; NULL: not wanted */
};

/* Gradients by sources, for all rows of the transposed block `back`, whose `edge` gives numbers;
 * a->edge is of all edges. First of the two passes. acc: dvalue, dsrc and dscale are added to. */
void gnn_attention_sources(const struct gnn_attention *a, const struct gnn_csr *back,
                           const struct gnn_attention_back *g, bool acc);
/* Gradients by destinations, rows [from, to). acc: ddst and dweight are added to. loop_grad, as
 * loop, begins with row `from`, edge_grad with edge 0; dy, m, z and dots are not used. */
void gnn_attention_targets(const struct gnn_attention *a, const struct gnn_csr *block,
                           size_t nblocks, uint32_t from, uint32_t to,
                           const struct gnn_attention_back *g, bool acc);

/* On a device: the same bits. Structs are the host's and read during the call; what they point to,
 * and blocks, is device-visible memory. `bad` as in kernels/spmm.h: an index that is no row is left
 * out and reported. One group of threads has a row and a head, so a row of 10^7 edges takes a
 * second, in which others are done. */
void gnn_cuda_attention_rows(const struct gnn_attention *a, const struct gnn_csr *block,
                             uint32_t nblocks, uint32_t from, uint32_t to, unsigned flags, float *y,
                             float *m, float *z, uint64_t *bad, void *stream);
void gnn_cuda_attention_sources(const struct gnn_attention *a, const struct gnn_csr *back,
                                const struct gnn_attention_back *g, bool acc, uint64_t *bad,
                                void *stream);
void gnn_cuda_attention_targets(const struct gnn_attention *a, const struct gnn_csr *block,
                                uint32_t nblocks, uint32_t from, uint32_t to,
                                const struct gnn_attention_back *g, bool acc, uint64_t *bad,
                                void *stream);

#ifdef __cplusplus
}
#endif

#endif
