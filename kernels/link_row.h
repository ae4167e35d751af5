/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of one positive link and its negatives (gnn_link_loss of kernels/loss.h), the same sums in
 * the same order on host and device: in f64, from the first negative to the last. */
#ifndef GNN_KERNELS_LINK_ROW_H
#define GNN_KERNELS_LINK_ROW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/hd.h"

/* Negatives of a positive, among all links: from, from + step, ... below end. */
struct gnn_link_row {
    size_t from, end, step;
};

/* Negatives of positive i, if n of them follow p positives. */
static GNN_HD struct gnn_link_row gnn_link_row_of(size_t i, size_t p, size_t n, size_t each)
{
    const struct gnn_link_row shared = {p + i, p + n, p},
                              own = {p + i * each, p + (i + 1) * each, 1};
    return each ? own : shared;
}

/* Sets the loss and gradient of an empty place j to 0: its link has fewer negatives. */
static GNN_HD void gnn_link_row_skip(size_t j, double *row_loss, float *dz)
{
    row_loss[j] = 0;
    if (dz)
        dz[j] = 0;
}

/* y: labels as gnn_link_loss has them. */
static GNN_HD void gnn_link_row_bpr(struct gnn_link_row r, const float *z, const float *y, size_t i,
                                    float scale, double *row_loss, float *dz)
{
    const double own = (double)z[i];
    double sum = 0;
    for (size_t j = r.from; j < r.end; j += r.step) {
        if (isnan(y[j])) {
            gnn_link_row_skip(j, row_loss, dz);
            continue;
        }
        const double x = (double)z[j] - own, t = exp(-fabs(x)),
                     share = (x > 0 ? 1 : t) / (1 + t); /* the sigmoid of x */
        row_loss[j] = (x > 0 ? x : 0) + log1p(t);
        if (dz)
            dz[j] = (float)((double)scale * share);
        sum += share;
    }
    row_loss[i] = 0;
    if (dz)
        dz[i] = (float)(-(double)scale * sum);
}

static GNN_HD void gnn_link_row_softmax(struct gnn_link_row r, const float *z, const float *y,
                                        size_t i, float scale, double *row_loss, float *dz)
{
    const double own = (double)z[i];
    double most = own, others = 0;
    for (size_t j = r.from; j < r.end; j += r.step)
        most = (double)z[j] > most && !isnan(y[j]) ? (double)z[j] : most;
    for (size_t j = r.from; j < r.end; j += r.step)
        others += isnan(y[j]) ? 0 : exp((double)z[j] - most);
    const double all = others + exp(own - most);
    for (size_t j = r.from; j < r.end; j += r.step) {
        const double share = isnan(y[j]) ? 0 : exp((double)z[j] - most) / all;
        row_loss[j] = 0;
        if (dz)
            dz[j] = (float)((double)scale * share);
    }
    row_loss[i] = log(all) + (most - own);
    if (dz)
        dz[i] = (float)(-(double)scale * (others / all));
}

#endif
