/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of links at random: the different pairs of nodes are sorted, and a keyed permutation of
 * their places says which go where. Shares are exact, and nothing depends on partitions. Not for
 * use outside lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_RANDOM_H
#define GNN_LIB_IMPORT_LINK_RANDOM_H

#include "lib/import/link_sets.h"

/* Pairs of nodes as numbers. */
struct gnn_link_pairs {
    uint64_t *key, n; /* n different ones, ascending */
    uint8_t *of;      /* (n) as link_edge_sets.of */
};
/* Ends of ranges in the permutation: LINK_APART, train (until[0]), valid (until[1]); rest: test. */
struct gnn_link_places {
    uint64_t apart, until[2];
};

/* Sorts v[n]. */
int gnn_sort_ascending(uint64_t *v, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Sorts n keys in x->key, which gnn_alloc() gave, and removes duplicates. */
int gnn_link_pairs_sort(struct gnn_link_pairs *x, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Makes x->of. */
int gnn_link_pairs_place(struct gnn_link_pairs *x, const struct gnn_link_places *p, uint64_t seed,
                         struct gnn_err *e) GNN_MUST_USE;
/* The set of a pair: GNN_LINKS_TRAIN if it is none of these. */
uint8_t gnn_link_pairs_find(const struct gnn_link_pairs *x, uint64_t key);
/* Takes a zeroed object, too. */
void gnn_link_pairs_release(struct gnn_link_pairs *x);

#endif
