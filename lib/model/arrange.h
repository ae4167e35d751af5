/* SPDX-License-Identifier: Apache-2.0 */
/* The types of a model in the order of a graph's. */
#ifndef GNN_LIB_MODEL_ARRANGE_H
#define GNN_LIB_MODEL_ARRANGE_H

#include "lib/model/model.h"

/* Puts the types of c into the order in which s has types of the same names; (*order)[r], to be
 * freed, is what edge type r was before. NULL: the order was the same, or the types are others, of
 * which gnn_model_config_match tells. */
int gnn_model_arrange(struct gnn_model_config *c, const struct gnn_schema *s, uint32_t **order,
                      struct gnn_err *e) GNN_MUST_USE;
/* Puts parameters that have a part for each edge type into that order, too. */
int gnn_model_arrange_params(struct gnn_model *m, const uint32_t *order,
                             struct gnn_err *e) GNN_MUST_USE;

#endif
