/* SPDX-License-Identifier: Apache-2.0 */
/*- Access frequencies: how often batches will have each node, which decides whose rows of features
 * are worth caching.
 *
 * The expected frequency is the vertex inclusion probability of SALIENT++ (Kaler, Iliopoulos,
 * Murzynowski, Schardl, Leiserson, Chen: "Communication-efficient graph neural networks with
 * probabilistic neighborhood expansion analysis and caching", MLSys 2023). A seed is in a batch
 * with probability p_0 = batch / seeds or, if seeds are drawn, 1 - (1 - w)^batch where w is the
 * share of its weight; a known destination v of degree d picks each of its sources with q = min(1,
 * f / d), or 1 - (1 - 1/d)^f with replacement; and
 *
 *   p_h(u) = 1 - (1 - p_0(u)) * product over edges u -> v of (1 - r_h(v))
 *
 * where r_h(v) is the probability that v was known and has picked that edge by hop h. Over the hops
 * of one v this is exact:
 *
 *   r_h = r_{h-1} + (p_{h-1} - r_{h-1}) * q_h    GNN_FRONTIER_ALL: draws again in each hop
 *   r_h = r_{h-1} + (p_{h-1} - p_{h-2}) * q_h    GNN_FRONTIER_NEW: draws once, when v is new
 *
 * Approximated: the destinations that may pick u are taken to be known, and to pick, independently
 * of each other and of u. On trees of in-edges this is so; where they share ancestors (u itself, if
 * edges go both ways) p comes out somewhat too large, most of all where a seed's probability is not
 * small against what reaches it. Parallel edges count as edges of different destinations. All
 * batches are taken to be full. Where each seed has a tree of its own, a node is accessed if any
 * tree has it. Trees that have the same destination draw for it independently, which is left out: p
 * comes out too small for neighbours of nodes that are in many trees of a batch.
 *
 * Other picks than uniform ones have no such formula: their accesses are counted
 * (lib/cache/frequency.h). */
#ifndef GNN_LIB_CACHE_ACCESS_H
#define GNN_LIB_CACHE_ACCESS_H

#include "lib/store/store.h"

/* A number per node, by store id; larger means wanted more often, negative: never to be cached.
 */
struct gnn_scores {
    float **of; /* [ntypes] -> (nodes) */
    uint32_t ntypes;
};

/* Allocates zeros. On failure nothing is left. */
int gnn_scores_init(struct gnn_scores *x, const struct gnn_schema *c,
                    struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_scores_release(struct gnn_scores *x);

/* The seeds that batches come from. */
struct gnn_access_seeds {
    uint32_t *id; /* [n] store ids */
    uint64_t n;
    double share;      /* the chance of each to be in a batch, unless it has one of its own: */
    float *chance;     /* [n], or NULL */
    double steps;      /* batches of an epoch, of which the last may be a fraction */
    uint64_t from, to; /* only those with ids in [from, to) count */
};

/* The seeds that batches drawn as m says come from, all of them; of several ranks, id is UINT32_MAX
 * for those of others. GNN_E_USAGE when they are not a set of the store. All ranks take part. */
int gnn_access_find_seeds(struct gnn_store *s, const struct gnn_sampling *m,
                          struct gnn_access_seeds *x, struct gnn_err *e) GNN_MUST_USE;
void gnn_access_seeds_release(struct gnn_access_seeds *x);

/* Whether accesses of batches drawn as m says can be computed. */
static inline bool gnn_access_is_known(const struct gnn_sampling *m)
{
    return gnn_sampling_has_fanouts(m) && !gnn_sampling_reads_edges(m) &&
           m->rule.kind <= GNN_PICK_REPLACE;
}

/* The probability that this rank's share of a batch drawn as m says (fan-outs, frontier, replace)
 * has the node. Its seeds are `seeds`, nodes of m->seed_ntype that this rank owns. x: out, for all
 * nodes, to be released by the caller. Collective over the ranks that have the store open; the
 * result has the same bits as that of one rank alone, with the same seeds. O(hops * ranks * own
 * edges) time, streaming over the adjacency; 8 bytes per node (12 with GNN_FRONTIER_NEW, 4 more
 * with several ranks) and 4 per node and edge type into it beside the result. OpenMP's threads; the
 * same bits for any number of them. GNN_E_USAGE when accesses are not known, GNN_E_INPUT when the
 * adjacency is damaged. */
int gnn_access_expected(struct gnn_store *s, const struct gnn_sampling *m,
                        const struct gnn_access_seeds *seeds, struct gnn_scores *x,
                        struct gnn_err *e) GNN_MUST_USE;
/* gnn_access_expected of those that this rank owns. */
int gnn_access_of_batches(struct gnn_store *s, const struct gnn_sampling *m, struct gnn_scores *x,
                          struct gnn_err *e) GNN_MUST_USE;

/* Out-degrees, over the edge types that m samples: in how many adjacencies a node stands. A node is
 * found through the in-edges of others, that is through its own out-edges; how many in-edges it has
 * decides whom it finds, not who finds it. Over the edges of parts [from, to), which are open.
 * OpenMP's threads. GNN_E_INPUT when the adjacency is damaged. */
int gnn_access_degree(struct gnn_store *s, const struct gnn_sampling *m, uint32_t from, uint32_t to,
                      struct gnn_scores *x, struct gnn_err *e) GNN_MUST_USE;

#endif
