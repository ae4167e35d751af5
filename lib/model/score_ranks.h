/* SPDX-License-Identifier: Apache-2.0 */
/* Scores of several ranks. */
#ifndef GNN_LIB_MODEL_SCORE_RANKS_H
#define GNN_LIB_MODEL_SCORE_RANKS_H

#include "lib/comm/comm.h"
#include "lib/model/metrics.h"

/* Adds up the scores of all ranks, in each of them. Collective. */
int gnn_score_sum(struct gnn_score *s, struct gnn_comm *c, struct gnn_err *e) GNN_MUST_USE;

#endif
