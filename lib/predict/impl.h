/* Shared by the files that implement lib/predict.h; nobody else includes it. */
#ifndef GNN_LIB_PREDICT_IMPL_H
#define GNN_LIB_PREDICT_IMPL_H

#include "lib/predict.h"

/* A table of undefined contents: in memory if p->o.memory allows, else in a temporary file. */
int predict_table_new(struct gnn_predict *p, struct gnn_table *t, uint64_t rows, uint64_t width,
                      struct gnn_err *e) GNN_MUST_USE;
void predict_table_free(struct gnn_predict *p, struct gnn_table *t);
/* p->in[type]: the features, or ones. */
int predict_features(struct gnn_predict *p, uint32_t type, struct gnn_err *e) GNN_MUST_USE;
/* Offsets monotone, sources in range, for every relation that the model uses. */
int predict_check(struct gnn_predict *p, struct gnn_err *e) GNN_MUST_USE;
/* p->out[type] of layer l. */
int predict_layer(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e) GNN_MUST_USE;

#endif
