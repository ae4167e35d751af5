/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of links that are kept, and the metrics that compare all positives with all negatives. */
#ifndef GNN_LIB_MODEL_LINK_SCORES_H
#define GNN_LIB_MODEL_LINK_SCORES_H

#include "lib/comm/comm.h"

/* Scores, of 4 bytes each, and as many bytes of space as gnn_buf_reserve leaves free. Zeroed object
 * = empty, with `most` to be set. A score is kept as an integer of the same order, for which -0 is
 * 0. */
struct gnn_link_scores {
    struct gnn_buf key; /* (n) u32 */
    uint64_t n;
    uint64_t most;  /* at least so many of the highest are kept, and at most three times as many */
    uint32_t least; /* no more than the lowest of those; what is below need not be kept */
};
/* Adds n scores without NaNs. */
int gnn_link_scores_add(struct gnn_link_scores *s, const float *z, uint64_t n,
                        struct gnn_err *e) GNN_MUST_USE;
void gnn_link_scores_clear(struct gnn_link_scores *s);
void gnn_link_scores_release(struct gnn_link_scores *s);
/* Sorts, in place, from low to high. */
void gnn_link_scores_sort(struct gnn_link_scores *s);
/* Fills `all`, an empty object, with the `top` highest scores of each rank, sorted; s is sorted.
 * Collective. */
int gnn_link_scores_gather(struct gnn_link_scores *all, const struct gnn_link_scores *s,
                           uint64_t top, struct gnn_comm *c, struct gnn_err *e) GNN_MUST_USE;

/* The share of scores that are above the k-th highest of `of`. Both are sorted, neither is empty,
 * and `of` has k scores. */
double gnn_link_scores_above(const struct gnn_link_scores *s, const struct gnn_link_scores *of,
                             uint64_t k);

struct gnn_link_areas {
    double auc, ap;
};
/* The areas under the curves of positives, those of all ranks, and negatives, `negatives` in all of
 * which each rank has its own. Both are sorted, and there are some of both. The same bits for any
 * number of ranks, and 12 KB of memory. Collective. */
int gnn_link_areas(struct gnn_link_areas *a, const struct gnn_link_scores *positive,
                   const struct gnn_link_scores *negative, uint64_t negatives, struct gnn_comm *c,
                   struct gnn_err *e) GNN_MUST_USE;

#endif
