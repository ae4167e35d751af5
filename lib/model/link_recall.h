/* SPDX-License-Identifier: Apache-2.0 */
/* Recall@K of links: of the links of each node, the share that is among the K pairs of that node
 * with the highest scores, of its links and their negatives; the mean over nodes that have links.
 * Links of a node can come in several pieces and from several ranks. A value does not depend on how
 * they are divided, not even in its last bit. */
#ifndef GNN_LIB_MODEL_LINK_RECALL_H
#define GNN_LIB_MODEL_LINK_RECALL_H

#include "lib/comm/comm.h"
#include "lib/model/metrics.h"

/* Pairs that are kept, of 12 bytes: all links, and of each node's negatives the K best and those
 * equal to the K-th, up to twice as many and 4096 more. With several ranks, each has those of all
 * at the end. Zeroed object = empty, with k to be set. */
struct gnn_link_recall {
    uint64_t k;
    struct gnn_buf pair; /* (n) */
    uint64_t n;
    uint64_t full;  /* pairs at which those that cannot matter are left out; 0: not yet known */
    bool negatives; /* there was one */
};
/* Adds a piece: the node of each positive, by a number that is the same in all pieces and on all
 * ranks, and scores; of negatives, the first positive's come first, and each has as many. y
 * (negatives): NaN, there is no negative in this place; NULL: there is one in all.
 * GNN_E_INPUT: they do not, or a score is NaN. */
int gnn_link_recall_add(struct gnn_link_recall *q, const uint32_t *node, const float *positive,
                        uint64_t positives, const float *negative, const float *y,
                        uint64_t negatives, struct gnn_err *e) GNN_MUST_USE;
void gnn_link_recall_clear(struct gnn_link_recall *q);
void gnn_link_recall_release(struct gnn_link_recall *q);
/* The value over all ranks, in which any order of pairs with equal scores is as likely as another;
 * and where links come first among these, or last. Collective. GNN_E_INPUT: no links, no negatives,
 * or no node that has more than K pairs. */
int gnn_link_recall_value(struct gnn_link_recall *q, struct gnn_comm *c, struct gnn_measured *v,
                          struct gnn_err *e) GNN_MUST_USE;

#endif
