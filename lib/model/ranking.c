/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/ranking.h"

#include <math.h>
#include <stdlib.h>

static int compare_values(const void *a, const void *b)
{
    const float x = ((const struct gnn_ranked *)a)->value,
                y = ((const struct gnn_ranked *)b)->value;
    return x < y ? -1 : x > y;
}

uint64_t gnn_ranking_sort(struct gnn_ranked *p, uint64_t n)
{
    uint64_t positive = 0;
    qsort(p, n, sizeof *p, compare_values);
    for (uint64_t i = 0; i < n; i++)
        positive += p[i].label > 0.5f;
    return positive;
}

/* Share of (positive, negative) pairs in the right order: Mann and Whitney's statistic from ranks.
 */
static double roc_area(const struct gnn_ranked *p, uint64_t n, uint64_t positive)
{
    const double pos = (double)positive;
    double ranks = 0;
    /* Equal outputs share the mean of their ranks. */
    for (uint64_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && p[k].value == p[i].value; k++)
            ;
        for (uint64_t j = i; j < k; j++)
            if (p[j].label > 0.5f)
                ranks += (double)(i + k + 1) / 2; /* mean of the ranks i+1 .. k */
    }
    if (positive == 0 || positive == n)
        return NAN;
    /* U = sum of the positives' ranks - pos (pos + 1) / 2; the share of pairs is U / (pos *
     * neg). */
    return (ranks - pos * (double)(positive + 1) / 2) / (pos * (double)(n - positive));
}

/* Those of equal value that end before p[end], and the positive ones of them. */
static uint64_t equal_before(const struct gnn_ranked *p, uint64_t end, uint64_t *positive)
{
    uint64_t many = 0;
    *positive = 0;
    for (uint64_t i = end; i-- > 0 && p[i].value == p[end - 1].value; many++)
        *positive += p[i].label > 0.5f;
    return many;
}

/* Each value is a threshold: the precisions there, weighted by the recall that they add. */
static double average_precision(const struct gnn_ranked *p, uint64_t n, uint64_t positive)
{
    double sum = 0;
    uint64_t found = 0, hits;
    for (uint64_t left = n; left;) {
        left -= equal_before(p, left, &hits);
        found += hits;
        sum += (double)hits * ((double)found / (double)(n - left));
    }
    return positive ? sum / (double)positive : NAN;
}

/* How many positive ones are among the k of highest value: on average, if any order of equal
 * values is as likely as another. */
static double hits_among(const struct gnn_ranked *p, uint64_t n, double k)
{
    double found = 0;
    uint64_t hits;
    for (uint64_t left = n; left && (double)(n - left) < k;) {
        const double many = (double)equal_before(p, left, &hits), capacity = k - (double)(n - left);
        found += many <= capacity ? (double)hits : (double)hits * capacity / many;
        left -= (uint64_t)many;
    }
    return found;
}

static double recall_at_precision(const struct gnn_ranked *p, uint64_t n, uint64_t positive,
                                  double least)
{
    double best = 0;
    uint64_t found = 0, hits;
    for (uint64_t left = n; left;) {
        left -= equal_before(p, left, &hits);
        found += hits;
        if ((double)found / (double)(n - left) >= least)
            best = (double)found / (double)positive;
    }
    return positive ? best : NAN;
}

double gnn_ranking_value(struct gnn_measure m, const struct gnn_ranked *p, uint64_t n,
                         uint64_t positive)
{
    switch (m.metric) {
    case GNN_ROC_AUC:
        return roc_area(p, n, positive);
    case GNN_AVERAGE_PRECISION:
        return average_precision(p, n, positive);
    case GNN_PRECISION_AT:
        return (double)n >= m.at ? hits_among(p, n, m.at) / m.at : NAN;
    case GNN_RECALL_AT:
        return positive ? hits_among(p, n, m.at) / (double)positive : NAN;
    case GNN_RECALL_AT_PRECISION:
        return recall_at_precision(p, n, positive, m.at);
    default:
        return NAN;
    }
}
