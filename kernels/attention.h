/* SPDX-License-Identifier: Apache-2.0 */
/*- Attention over the edges of one relation: scores of edges, softmax over the edges that enter a
 * row, and the weighted sum of the sources' rows; forward and backward. Operations on rows without
 * edges are in kernels/heads.h.
 *
 * A row has `heads` heads of `channels` columns each, d = heads * channels columns in all; column c
 * of head h is at h * channels + c. Edge e leads from source row j to row i. Edges are numbered
 * from 0, block after block, or by `edge` of their block.
 *
 *     forward:     o->attention(o, &a, seg, nseg, from, to, GNN_ATTENTION_WHOLE, y, m, z)
 *     backward:    o->head_dots(o, dy, y, d, n, heads, channels, dots)
 *                  o->attention_sources(o, &a, back, from, to, &g, acc)
 *                  o->attention_targets(o, &a, seg, nseg, from, to, &g, acc)
 *
 * attention_sources writes dvalue, dsrc and edge_grad; attention_targets reads edge_grad. Of RAW
 * and V2 it is the other way round (gnn_attention_targets_first).
 *
 * For example, a GAT layer with self-loops computes x' (nsrc, d) = x W, then
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
 * and backward, with the gradient dy of all rows of y:
 *
 *     o->head_dots(o, dy, y, d, ndst, heads, channels, dots);
 *     struct gnn_attention_back g = {.m = m, .z = z, .dots = dots, .dy = dy, .dvalue = dx',
 *         .dsrc = dsrc, .edge_grad = (edges, heads), .loop_grad = (ndst, heads), .ddst = ddst};
 *     a.dst = dst;
 *     o->attention_sources(o, &a, back, 0, nsrc, &g, false);
 *     o->attention_targets(o, &a, seg, nseg, 0, ndst, &g, false);
 *
 * and then, for the sources' term of the scores, and likewise with ddst for the destinations':
 *
 *     o->head_sums(o, dsrc, x', nsrc, heads, channels, work, datt_src, true);
 *     o->head_outer(o, dsrc, att_src, nsrc, heads, channels, dx');    (adds to dx')
 *
 * where `back` is the transposed block with `edge`.
 *
 * RAW (GAT without projected sources): `value` is x itself, and each head has its own sum of it;
 * the heads' matrices are applied to the sums, which are fewer rows than the sources. Backward,
 * attention_targets comes first and writes edge_grad, which attention_sources reads.
 * V2 (GATv2): dst = x W_r, value = x W_l, weight = att; the gradient of att is o->colsum of
 * g.dweight. Backward, attention_targets comes first, too, and also writes edge_weight and
 * edge_sign.
 * DOT (HGT): o->attention is called for one relation after the other, with FIRST for the first and
 * LAST for the last. Backward, m, z and dots are those of all relations together, and ddst is added
 * up (acc). */
#ifndef GNN_KERNELS_ATTENTION_H
#define GNN_KERNELS_ATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/hd.h"
#include "kernels/spmm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The score of an edge and a head, leaky(u) being u > 0 ? u : slope * u; sums over the channels:
 *   ADD: leaky(src[j] + dst[i] + edge[e]), of arrays with `heads` columns
 *   RAW: the same, but all heads weigh the same rows: value is (nsrc, channels)
 *   V2:  sum of weight * leaky(value[j] + dst[i] + edge[e]), of arrays with d columns
 *   DOT: weight * sum of dst[i] * src[j]; weight has `heads` elements; no edge */
enum gnn_attention_kind {
    GNN_ATTENTION_ADD,
    GNN_ATTENTION_RAW,
    GNN_ATTENTION_V2,
    GNN_ATTENTION_DOT
};

enum { GNN_ATTENTION_HEADS = 64 }; /* at most */

/* Whether the backward pass by destinations comes before the one by sources. */
static GNN_HD bool gnn_attention_targets_first(enum gnn_attention_kind kind)
{
    return kind == GNN_ATTENTION_RAW || kind == GNN_ATTENTION_V2;
}
/* Words of `edge_sign` for each edge: a bit for each column, in whole octets of each head. */
static GNN_HD size_t gnn_attention_signs(uint32_t heads, uint32_t channels)
{
    return ((size_t)heads * ((channels + 7) / 8) + 31) / 32 * 8;
}

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
    const float *value; /* (nsrc, d) what is summed up; RAW: (nsrc, channels) */
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
    /* Data of the destinations, all rows except where gnn_attention_targets says otherwise: from
     * the forward pass; sums of dy * y over the channels (head_dots); the gradient of y. */
    const float *m, *z, *dots, *dy;
    /* From gnn_attention_sources. */
    /* As value; of V2 with what comes through the scores; NULL, RAW only: not wanted. */
    float *dvalue;
    float *dsrc; /* as src; not for V2 */
    /* DOT: (nsrc, heads), of each row its own; its column sums are the gradient of weight; NULL:
     * not wanted. */
    float *dscale;
    /* (edges, heads), by number: the gradient of the score, and of ADD and RAW that of `edge`;
     * 1/channels of messages. Of RAW and V2 from gnn_attention_targets, as loop_grad is */
    float *edge_grad;
    /* ADD and DOT: edge_grad has space for edges edge0 .. edge1-1 alone, those of the sources
     * [from, to); gnn_attention_targets leaves out the others. edge1 0: for all. */
    uint32_t edge0, edge1;
    /* (ndst, heads), the same of self-loops; NULL without, or not yet: ADD leaves self-loops out
     * then */
    float *loop_grad;
    /* From gnn_attention_targets, as edge_grad and loop_grad. */
    float *edge_weight, *loop_weight; /* RAW where dvalue is wanted, and V2: the weights */
    /* V2, gnn_attention_signs() words for each: which terms of a score are above 0, in an order of
     * the backend's. */
    uint32_t *edge_sign, *loop_sign;
    /* From gnn_attention_targets, from row `from` on. */
    float *ddst; /* as dst */
    /* V2: (rows, d), of each row its own; its column sums are the gradient of weight. */
    float *dweight;
    /* V2: (rows, heads), the sums of the weights: 1 without dropout, in rows with edges. */
    float *weights;
    /* V2: as edge and loop, and may be in their place; never added to; NULL: not wanted. */
    float *dedge, *dloop;
};

/* Gradients by sources, rows [from, to) of the transposed block `back`, whose `edge` gives numbers;
 * a->edge is of all edges. First of the two passes, but of RAW and V2 the second, for which neither
 * dst nor edge is read. dvalue, dsrc and dscale begin with row `from`, all others with row 0. acc:
 * these three are added to. */
void gnn_attention_sources(const struct gnn_attention *a, const struct gnn_csr *back, uint32_t from,
                           uint32_t to, const struct gnn_attention_back *g, bool acc);
/* Gradients by destinations, rows [from, to). acc: ddst, dweight and weights are added to.
 * loop_grad, loop_weight and loop_sign, as loop, begin with row `from`, those of edges with edge 0.
 * dy, m, z and dots are used for RAW and V2 only, and begin with row `from`. */
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
                                uint32_t from, uint32_t to, const struct gnn_attention_back *g,
                                bool acc, uint64_t *bad, void *stream);
void gnn_cuda_attention_targets(const struct gnn_attention *a, const struct gnn_csr *block,
                                uint32_t nblocks, uint32_t from, uint32_t to,
                                const struct gnn_attention_back *g, bool acc, uint64_t *bad,
                                void *stream);

#ifdef __cplusplus
}
#endif

#endif
