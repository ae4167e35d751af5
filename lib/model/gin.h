/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that GIN and GINE share: the MLP of (1 + eps) x + a sum over the neighbours, which each
 * makes in its own way (lib/model/gin.c). Operations are those of struct gnn_layer, except `sum`.
 */
#ifndef GNN_LIB_MODEL_GIN_H
#define GNN_LIB_MODEL_GIN_H

#include "lib/model/layer.h"

/* Makes the sums over the neighbours of rows [from, to), c->ds columns. */
typedef int gnn_gin_sum(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *sums,
                        struct gnn_err *e);
/* c->kept[GNN_GIN_SUMS] are the sums, and after gnn_gin_sums_back their gradients. */
enum { GNN_GIN_SUMS, GNN_GIN_OPTIONS = 1 };
extern const struct gnn_layer_option gnn_gin_options[GNN_GIN_OPTIONS];

void gnn_gin_params(const struct gnn_conv_shape *s, struct gnn_param_list *l);
int gnn_gin_check(const struct gnn_conv_shape *s, struct gnn_err *e) GNN_MUST_USE;
int gnn_gin_open(struct gnn_conv_run *c, gnn_gin_sum *sum, struct gnn_err *e) GNN_MUST_USE;
int gnn_gin_rows(struct gnn_conv_run *c, gnn_gin_sum *sum, uint32_t from, uint32_t to, float *y,
                 bool acc, const struct gnn_epilogue *ep, struct gnn_err *e) GNN_MUST_USE;
int gnn_gin_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                      struct gnn_err *e) GNN_MUST_USE;
/* The first part of sources_back: gradients of the MLP's parameters, of eps, and of the sums. */
int gnn_gin_sums_back(struct gnn_conv_run *c, struct gnn_err *e) GNN_MUST_USE;
/* After gnn_activation_back_open of c->inside; and what full batches need beside this. */
int gnn_gin_all_sums_back(struct gnn_conv_run *c, const float *dy, struct gnn_err *e) GNN_MUST_USE;
int gnn_gin_hidden(struct gnn_conv_run *c, struct gnn_err *e) GNN_MUST_USE;
void gnn_gin_floats(const struct gnn_conv_run *c, struct gnn_conv_floats *n);
void gnn_gin_hidden_at(const struct gnn_conv_run *c, float **h, float **dh);
int gnn_gin_own_back(struct gnn_conv_run *c, const float *dy, float *g,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
