/* SPDX-License-Identifier: Apache-2.0 */
/* LABOR-0 (Balin, Catalyurek: "Layer-neighbor sampling - defusing neighborhood explosion in GNNs",
 * NeurIPS 2023), in its sequential form (their section A.3), which picks exactly as many as the
 * fan-out. Each source has one variate, whichever destination asks: a destination with more
 * neighbours than it may pick takes those whose variates are smallest, of equal ones the first, and
 * has them in adjacency order. Sources that several destinations have in common are thus mostly
 * picked by all of them or by none, and a batch has fewer nodes; for one destination alone, every
 * set of k of its sources is equally likely.
 *
 * Variates have 64 bits. Two sources of a row of d are equal with a probability of d^2 / 2^65,
 * 3e-10 for d = 100,000; only then, and between parallel edges, do positions decide. */
#ifndef GNN_KERNELS_LABOR_H
#define GNN_KERNELS_LABOR_H

#include "kernels/pick.h"

/* The variate of the source with original id `orig`. */
static GNN_HD uint64_t gnn_labor_variate(const uint32_t key[2], uint32_t orig)
{
    const uint32_t c[4] = {orig, 0, 0, 0};
    uint32_t w[4];
    gnn_philox(c, key, w);
    return (uint64_t)w[0] << 32 | w[1];
}

/* The variate of source v, of nsrc whose original ids are orig[v], or v if that is NULL. An id that
 * is no source has the smallest variate, so that it is picked, and found. */
static GNN_HD uint64_t gnn_labor_of(const uint32_t key[2], const uint32_t *orig, uint64_t nsrc,
                                    uint32_t v)
{
    return v < nsrc ? gnn_labor_variate(key, orig ? orig[v] : v) : 0;
}

#endif
