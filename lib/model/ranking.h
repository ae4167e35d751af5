/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of one output that depend on the order of its values alone. Equal values have no order:
 * what they have in common is divided among them, or they are taken together. */
#ifndef GNN_LIB_MODEL_RANKING_H
#define GNN_LIB_MODEL_RANKING_H

#include "lib/model/metrics.h"

struct gnn_ranked {
    float value, label; /* labels above 0.5 are positive */
};
/* Sorts p (n), without NaNs, by value. Returns how many labels are positive. */
uint64_t gnn_ranking_sort(struct gnn_ranked *p, uint64_t n);
/* The metric, for which gnn_metric_ranks is true, of p as it was sorted, with so many positive
 * labels; NaN where it is not defined (gnn_score_value). */
double gnn_ranking_value(struct gnn_measure m, const struct gnn_ranked *p, uint64_t n,
                         uint64_t positive);

#endif
