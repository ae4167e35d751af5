/* SPDX-License-Identifier: Apache-2.0 */
/* Steps after matrix products: a bias, layer norm or batch norm, an activation function and
 * dropout, forward and back. It ends each layer's sum of convolutions, and the hidden layers inside
 * of a convolution.
 *
 * Rows are done in ranges, while they are in the cache. Batch norm needs all rows before the first
 * can be finished, so what is done when depends on it; the calls are the same. */
#ifndef GNN_LIB_MODEL_ACTIVATION_H
#define GNN_LIB_MODEL_ACTIVATION_H

#include "lib/model/pass.h"

/* Zeroed object = no activation. */
struct gnn_activation {
    /* set by the caller before gnn_activation_open */
    uint32_t norm; /* index of the norm's weight, or UINT32_MAX */
    size_t w;      /* width of a row */
    enum gnn_act act;
    bool drop;
    struct gnn_dropout q; /* with drop: of row 0 on */
    const float *bias;    /* or NULL */
    const uint8_t *count; /* the rows that count for batch norm's statistics; NULL: all */
    bool lean;            /* training does not keep xhat; gnn_activation_again makes it if needed */
    /* set by gnn_activation_open */
    struct gnn_epilogue ep;
    bool fused;
    /* kept for the backward pass */
    struct gnn_buf xhat, rstd;
    struct gnn_buf stat; /* batch norm's, kernels/batch_norm.h */
    double rows; /* number of rows behind its statistics, over all ranks; 0: running statistics */
};

void gnn_activation_release(const struct gnn_ops *o, struct gnn_activation *a);

/* Forward. `rows` rows are made; or, where s->train is not set, at most so many at a time. Scratch
 * of s is used up to gnn_activation_close: nothing else is opened meanwhile. */
int gnn_activation_open(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows,
                        struct gnn_err *e) GNN_MUST_USE;
/* The epilogue of the product that makes the rows; NULL: none. */
static inline const struct gnn_epilogue *gnn_activation_first(const struct gnn_activation *a)
{
    return a->fused ? &a->ep : NULL;
}
/* y: row `from`, of which all up to `to` have been made. */
void gnn_activation_rows(struct gnn_pass *s, struct gnn_activation *a, uint32_t from, uint32_t to,
                         float *y);
/* Finishes all rows, after gnn_activation_rows has been called for all of them. y: row 0. */
int gnn_activation_close(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows, float *y,
                         struct gnn_err *e) GNN_MUST_USE;
/* Recomputes finished rows before the backward pass, from rows that the product has made again with
 * the epilogue of gnn_activation_first. y: row `from`. norm: makes a->xhat, which has capacity for
 * all rows, too, if there is a norm. */
void gnn_activation_again(struct gnn_pass *s, struct gnn_activation *a, uint32_t from, uint32_t to,
                          float *y, bool norm);

/* Back, from the gradient dy of the results y to that of what the products made, in its place; rows
 * all are there from the beginning. Gradients of the norm's parameters are added to. */
int gnn_activation_back_open(struct gnn_pass *s, const struct gnn_activation *a, uint32_t rows,
                             const float *y, float *dy, struct gnn_err *e) GNN_MUST_USE;
/* y: row 0. dy: row `from`. db: the gradient of the bias, added to; or NULL. */
void gnn_activation_back(struct gnn_pass *s, const struct gnn_activation *a, uint32_t from,
                         uint32_t to, const float *y, float *dy, float *db);

/* Calls for rows that lie in parts. _waits: whether batch norm is trained; then the moments of the
 * rows made since gnn_activation_open are in s->sums (2 a->w doubles). When these are the sums over
 * all parts, and a->rows is the number of all rows, _finish replaces _close. In the backward pass
 * _sums leaves 2 a->w doubles, and _stats takes those of all parts. */
bool gnn_activation_waits(const struct gnn_pass *s, const struct gnn_activation *a);
void gnn_activation_finish(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows, float *y);
int gnn_activation_back_sums(struct gnn_pass *s, const struct gnn_activation *a, uint32_t rows,
                             const float *y, float *dy, struct gnn_err *e) GNN_MUST_USE;
void gnn_activation_back_stats(struct gnn_pass *s, const struct gnn_activation *a);

/* Batch norm's running statistics, in params, take a step, if there are any. */
void gnn_activation_track(const struct gnn_pass *s, const struct gnn_activation *a, float *params);

#endif
