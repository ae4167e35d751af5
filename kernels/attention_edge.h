/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of one edge that makes attention's bits the same on host and device
 * (kernels/attention.h).
 *
 * Edges of a row come in groups of GNN_ATTENTION_GROUP, counted from its first, a self-loop as one
 * more at the end. A group raises the maximum, if it has higher scores, and what was summed up
 * before is multiplied by exp(old - new); then its powers are added to z, and its weighted rows to
 * y, in the order of the edges.
 *
 * Sums over the channels of a head are made in GNN_ATTENTION_LANES lanes, lane l having the
 * channels l, l + 8, ..., one after the other; then halves are added: lanes l and l + 4, then l and
 * l + 2, then l and l + 1. */
#ifndef GNN_KERNELS_ATTENTION_EDGE_H
#define GNN_KERNELS_ATTENTION_EDGE_H

#include "kernels/attention.h"
#include "kernels/exp.h"
#include "kernels/rng.h"

enum { GNN_ATTENTION_GROUP = 32, GNN_ATTENTION_LANES = 8 };

/* Whether scores are sums over channels; else a source and a head have one number, which is given.
 */
static GNN_HD bool gnn_attention_wide(enum gnn_attention_kind kind)
{
    return kind == GNN_ATTENTION_V2 || kind == GNN_ATTENTION_DOT;
}

/* A NaN stays one. */
static GNN_HD float gnn_leaky(float u, float slope)
{
    const float low = gnn_mul_rn(u, slope);
    return u > 0 ? u : low;
}
/* Its gradient times g. */
static GNN_HD float gnn_leaky_back(float u, float slope, float g)
{
    const float low = gnn_mul_rn(g, slope);
    return u > 0 ? g : low;
}

#endif
