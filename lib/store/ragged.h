/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of candidates of a set's links, of different lengths: pairs that lie one after the other,
 * those of the first link first. A link's list ends with the link itself, which none of its
 * candidates is; so a set of links (split GNN_RAGGED_SPLIT) has all that is needed to find them. */
#ifndef GNN_LIB_STORE_RAGGED_H
#define GNN_LIB_STORE_RAGGED_H

#include "lib/store/store.h"

/* Where the lists of n links are: that of link i, without its end, is `pair` from first[i] on, and
 * its end is pair first[i + 1] - 1. Nodes of links and pairs are numbered alike. Fills first (n +
 * 1) and *longest. GNN_E_INPUT, by the name of the set and its store, for pairs of another head,
 * too few or too many ends, and lists that are all empty or longer than GNN_NEGATIVES_MAX. */
int gnn_ragged_find(const struct gnn_store *s, uint32_t set, const uint32_t *link, uint64_t n,
                    const uint32_t *pair, uint64_t *first, uint64_t *longest,
                    struct gnn_err *e) GNN_MUST_USE;
/* Whether a set of the store, of which all parts are open, has such lists of the links of its name:
 * GNN_E_INPUT if not. */
int gnn_ragged_verify(struct gnn_store *s, uint32_t set, struct gnn_err *e) GNN_MUST_USE;

#endif
