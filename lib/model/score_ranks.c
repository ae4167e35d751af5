/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/score_ranks.h"

#include <string.h>

#include "lib/model/link_metrics.h"
#include "lib/model/link_recall.h"

/* Every rank gets what all have kept for metrics that rank, in the order of the ranks. */
static int share_kept(struct gnn_comm *c, const struct gnn_score *s, struct gnn_buf *kept,
                      struct gnn_err *e)
{
    struct gnn_buf all = {0};
    uint64_t bytes;
    if (gnn_comm_all_scores(c, kept->data, s->rows * s->outputs * sizeof(float), &all, &bytes, e))
        return e->code;
    gnn_buf_release(kept);
    *kept = all;
    return 0;
}

/* Deviations of labels from the means of ranks become those from the mean of all, as by Chan, Golub
 * and LeVeque (1979). n: this rank's labels of each output; s->tp has those of all. */
static int share_means(struct gnn_comm *c, struct gnn_score *s, const uint64_t *n,
                       struct gnn_err *e)
{
    const uint64_t w = s->outputs;
    double *own = gnn_alloc(w, sizeof *own, "means of labels", e);
    if (!own)
        return e->code;
    memcpy(own, s->mean, w * sizeof *own);
    for (uint64_t j = 0; j < w; j++)
        s->mean[j] *= (double)n[j];
    int rc = gnn_comm_all_reduce(c, s->mean, w, GNN_REDUCE_F64, e);
    for (uint64_t j = 0; !rc && j < w; j++) {
        s->mean[j] = s->tp[j] ? s->mean[j] / (double)s->tp[j] : 0;
        s->deviation[j] += (double)n[j] * (own[j] - s->mean[j]) * (own[j] - s->mean[j]);
    }
    gnn_free(own);
    return rc ? rc : gnn_comm_all_reduce(c, s->abs_error, 3 * w, GNN_REDUCE_F64, e);
}

static int sum_numbers(struct gnn_comm *c, struct gnn_score *s, struct gnn_err *e)
{
    uint64_t *n = gnn_alloc(s->outputs, sizeof *n, "counts of labels", e);
    if (!n)
        return e->code;
    memcpy(n, s->tp, s->outputs * sizeof *n);
    int rc = gnn_comm_all_reduce(c, s->tp, s->outputs, GNN_REDUCE_U64, e);
    if (!rc)
        rc = share_means(c, s, n, e);
    gnn_free(n);
    return rc;
}

static int sum_counts(struct gnn_comm *c, struct gnn_score *s, struct gnn_err *e)
{
    return s->abs_error
               ? sum_numbers(c, s, e)
               : gnn_comm_all_reduce(c, s->tp, 3 * (uint64_t)s->classes, GNN_REDUCE_U64, e);
}

/* The metric of links, for which each rank has its own scores. */
static int sum_links(struct gnn_comm *c, struct gnn_score *s, struct gnn_err *e)
{
    if ((!s->link && !s->recall) || !s->rows || c->size == 1)
        return 0;
    if (s->recall ? gnn_link_recall_value(s->recall, c, &s->of_all, e)
                  : gnn_link_metrics_one(s->link, c, &s->of_all, e))
        return e->code;
    s->summed = true;
    return 0;
}

int gnn_score_sum(struct gnn_score *s, struct gnn_comm *c, struct gnn_err *e)
{
    uint64_t n[] = {s->rows, s->known, s->correct, s->labelled};
    if (s->keep && (share_kept(c, s, &s->z, e) || share_kept(c, s, &s->y, e)))
        return e->code;
    if (gnn_comm_all_reduce(c, n, 4, GNN_REDUCE_U64, e) || sum_counts(c, s, e) ||
        gnn_comm_all_reduce(c, &s->loss, 1, GNN_REDUCE_F64, e))
        return e->code;
    s->rows = n[0];
    s->known = n[1];
    s->correct = n[2];
    s->labelled = n[3];
    return sum_links(c, s, e);
}
