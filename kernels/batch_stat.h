/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm's arithmetic on one column's sums, on host and device alike: no product is left for a
 * compiler to contract. */
#ifndef GNN_KERNELS_BATCH_STAT_H
#define GNN_KERNELS_BATCH_STAT_H

#include <math.h>
#include <stddef.h>

#include "kernels/hd.h"

static GNN_HD void gnn_batch_stat(const double *sum, double rows, size_t d, size_t j, float eps,
                                  float *stat)
{
    const double mean = sum[j] / rows, var = fma(-mean, mean, sum[d + j] / rows);
    const double good = var > 0 || var != var ? var : 0; /* a NaN must stay one */
    stat[j] = (float)mean;
    stat[d + j] = (float)(1 / sqrt(good + (double)eps));
    stat[2 * d + j] = (float)(good * (rows / (rows - 1)));
}

static GNN_HD void gnn_running_stat(const float *mean, const float *var, size_t d, size_t j,
                                    float eps, float *stat)
{
    stat[j] = mean[j];
    stat[d + j] = (float)(1 / sqrt((double)var[j] + (double)eps));
}

static GNN_HD void gnn_batch_track_one(const float *stat, size_t d, size_t j, float momentum,
                                       float *mean, float *var)
{
    mean[j] = fmaf(stat[j] - mean[j], momentum, mean[j]);
    var[j] = fmaf(stat[2 * d + j] - var[j], momentum, var[j]);
}

static GNN_HD void gnn_batch_back_stat(const double *sum, double rows, size_t d, size_t j,
                                       float *stat)
{
    stat[3 * d + j] = rows > 0 ? (float)(sum[j] / rows) : 0;
    stat[4 * d + j] = rows > 0 ? (float)(sum[d + j] / rows) : 0;
}

#endif
