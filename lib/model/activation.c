/* SPDX-License-Identifier: Apache-2.0 */
/* Batch norm: statistics of a batch need all its rows, on all ranks, before the first can be
 * normalised; the backward pass likewise. Over ranks, a node's rows are the same in all shares
 * that have it: one of them counts for the statistics (gnn_batch_type.counted), and passes on what
 * the gradient owes to these, so that any number of ranks makes what one does. */
#include "lib/model/activation.h"

/* PyTorch's defaults. */
#define NORM_EPS 1e-5f
#define NORM_MOMENTUM 0.1f
#define NO_NORM UINT32_MAX

static bool is_batch(const struct gnn_pass *s, const struct gnn_activation *a)
{
    return s->m->c.batch_norm && a->norm != NO_NORM;
}

static float keep_scale(const struct gnn_activation *a)
{
    return a->drop ? 65536.0f / (float)a->q.keep16 : 1;
}

void gnn_activation_release(const struct gnn_ops *o, struct gnn_activation *a)
{
    o->release(o, &a->xhat);
    o->release(o, &a->rstd);
    o->release(o, &a->stat);
}

/* Moments of ranges are added up in s->sums, cleared here; s->work is gnn_moments'. */
static int clear_sums(struct gnn_pass *s, size_t w, struct gnn_err *e)
{
    const struct gnn_ops *o = s->o;
    if (o->fit(o, &s->work, GNN_MOMENT_BLOCKS * 2 * w, sizeof(double), "moments", e) ||
        o->fit(o, &s->sums, 2 * w + 1, sizeof(double), "moments", e))
        return e->code;
    /* Only the moments: the number of rows in the last place is written before it is used. */
    o->zero(o, s->sums.data, 2 * w * sizeof(double));
    return 0;
}

static void take_running(struct gnn_pass *s, struct gnn_activation *a)
{
    a->rows = 0;
    s->o->running_stats(s->o, gnn_pass_param(s, a->norm + GNN_NORM_MEAN),
                        gnn_pass_param(s, a->norm + GNN_NORM_VAR), a->w, NORM_EPS, a->stat.data);
}

static int open_batch(struct gnn_pass *s, struct gnn_activation *a, struct gnn_err *e)
{
    const struct gnn_ops *o = s->o;
    if (o->fit(o, &a->stat, GNN_BATCH_STATS * a->w, sizeof(float), "statistics", e))
        return e->code;
    if (s->train)
        return clear_sums(s, a->w, e);
    take_running(s, a);
    return 0;
}

/* Whether the forward pass leaves the normalised rows. */
static bool keeps_norm(const struct gnn_pass *s, const struct gnn_activation *a)
{
    return a->norm != NO_NORM && s->train && !a->lean;
}

int gnn_activation_open(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows,
                        struct gnn_err *e)
{
    const struct gnn_ops *o = s->o;
    const bool norm = a->norm != NO_NORM;
    a->ep = (struct gnn_epilogue){a->bias, norm ? GNN_ACT_NONE : a->act};
    /* It is fused with the matrix product only where no NaN can be lost by that, as ReLU may do:
     * while training, a NaN must reach the loss. */
    a->fused = norm || !a->act || (!a->drop && !s->train);
    if (keeps_norm(s, a) && o->fit(o, &a->xhat, rows * a->w, sizeof(float), "activations", e))
        return e->code;
    if (is_batch(s, a))
        return open_batch(s, a, e);
    return norm ? o->fit(o, &a->rstd, rows, sizeof(float), "activations", e) : 0;
}

/* Everything after the bias, if that came first. norm: the normalised rows are made in a->xhat. */
static void finish_rows(struct gnn_pass *s, const struct gnn_activation *a, uint32_t from,
                        uint32_t to, float *y, bool norm)
{
    const struct gnn_ops *o = s->o;
    const uint32_t rows = to - from;
    const size_t w = a->w;
    float *xhat = norm ? (float *)a->xhat.data + from * w : NULL;
    struct gnn_dropout q = a->q;

    if (is_batch(s, a))
        o->batch_norm(o, y, rows, w, a->stat.data, gnn_pass_param(s, a->norm),
                      gnn_pass_param(s, a->norm + GNN_NORM_BIAS), xhat, y);
    else if (a->norm != NO_NORM)
        o->layer_norm(o, y, rows, w, gnn_pass_param(s, a->norm),
                      gnn_pass_param(s, a->norm + GNN_NORM_BIAS), NORM_EPS, xhat,
                      (float *)a->rstd.data + (s->train ? from : 0), y);
    if (a->drop)
        q.node += from;
    if (!a->fused || (a->act && !a->ep.act))
        o->bias_act(o, y, rows, w, a->fused ? NULL : a->bias, a->act, a->drop ? &q : NULL);
}

void gnn_activation_rows(struct gnn_pass *s, struct gnn_activation *a, uint32_t from, uint32_t to,
                         float *y)
{
    /* While training only the moments can be made: no row is final before all have been seen. */
    if (is_batch(s, a) && s->train)
        s->o->moments(s->o, y, y, a->count ? a->count + from : NULL, to - from, a->w, s->work.data,
                      s->sums.data);
    else
        finish_rows(s, a, from, to, y, keeps_norm(s, a));
}

void gnn_activation_again(struct gnn_pass *s, struct gnn_activation *a, uint32_t from, uint32_t to,
                          float *y, bool norm)
{
    finish_rows(s, a, from, to, y, norm && a->norm != NO_NORM);
}

/* What lies where the operations are, on the host until the next call; NULL on failure. */
static const void *fetch_numbers(struct gnn_pass *s, const void *from, uint64_t bytes,
                                 struct gnn_err *e)
{
    const struct gnn_ops *o = s->o;
    if (o->fit_host(o, &s->seen, bytes + 1, 1, "moments", e))
        return NULL;
    if (bytes)
        o->fetch(o, s->seen.data, from, bytes);
    o->mark(o, GNN_OPS_MARK_NET);
    return o->wait(o, GNN_OPS_MARK_NET, e) ? NULL : s->seen.data;
}

/* Rows that count, over all ranks; and their moments in s->sums. */
static int sum_rows(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows, struct gnn_err *e)
{
    a->rows = rows;
    if (!s->sum)
        return 0;
    const uint8_t *count = fetch_numbers(s, a->count, a->count ? rows : 0, e);
    if (!count)
        return e->code;
    for (uint32_t i = 0; a->count && i < rows; i++)
        a->rows -= !count[i];
    double *sum = s->sums.data;
    /* The count of rows travels behind the moments, in the same all-reduce. */
    s->o->put(s->o, sum + 2 * a->w, &a->rows, sizeof a->rows);
    if (s->sum(s->arg, sum, 2 * a->w + 1, e))
        return e->code;
    const double *all = fetch_numbers(s, sum + 2 * a->w, sizeof *all, e);
    if (!all)
        return e->code;
    a->rows = *all;
    return 0;
}

bool gnn_activation_waits(const struct gnn_pass *s, const struct gnn_activation *a)
{
    return is_batch(s, a) && s->train;
}

int gnn_activation_close(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows, float *y,
                         struct gnn_err *e)
{
    if (!gnn_activation_waits(s, a))
        return 0;
    if (sum_rows(s, a, rows, e))
        return e->code;
    gnn_activation_finish(s, a, rows, y);
    return 0;
}

void gnn_activation_finish(struct gnn_pass *s, struct gnn_activation *a, uint32_t rows, float *y)
{
    const struct gnn_ops *o = s->o;
    if (a->rows > 1)
        o->batch_stats(o, s->sums.data, a->rows, a->w, NORM_EPS, a->stat.data);
    else
        take_running(s, a); /* one row has no variance */
    /* Again in chunks, now that the statistics are known. */
    EACH_CHUNK(from, to, rows, o)
        finish_rows(s, a, from, to, y + from * a->w, keeps_norm(s, a));
}

void gnn_activation_track(const struct gnn_pass *s, const struct gnn_activation *a, float *params)
{
    if (a->w && is_batch(s, a) && a->rows > 1)
        s->o->batch_track(s->o, a->stat.data, a->w, NORM_MOMENTUM,
                          params + s->m->param[a->norm + GNN_NORM_MEAN].at,
                          params + s->m->param[a->norm + GNN_NORM_VAR].at,
                          (int64_t *)(params + s->m->param[a->norm + GNN_NORM_BATCHES].at));
}

/* Rows [from, to) of dy, the first of them at dy, through dropout and the activation function. */
static void act_rows_back(const struct gnn_ops *o, const struct gnn_activation *a, uint32_t from,
                          uint32_t to, const float *y, float *dy)
{
    if (!a->act)
        return;
    const size_t at = from * a->w;
    struct gnn_dropout q = a->q;
    if (a->drop)
        q.node += from;
    o->act_back(o, dy, y + at, to - from, a->w, a->act, keep_scale(a), a->drop ? &q : NULL);
}

int gnn_activation_back_sums(struct gnn_pass *s, const struct gnn_activation *a, uint32_t rows,
                             const float *y, float *dy, struct gnn_err *e)
{
    const struct gnn_ops *o = s->o;
    const size_t w = a->w;
    if (!is_batch(s, a))
        return o->fit(o, &s->work, GNN_COLSUM_BLOCKS * w, sizeof(float), "gradients", e);
    if (clear_sums(s, w, e))
        return e->code;
    double *sum = s->sums.data;
    EACH_CHUNK(from, to, rows, o) {
        /* The activation function comes first in the backward pass; then sums over all rows, of
         * which each gradient needs its share. */
        act_rows_back(o, a, from, to, y, dy + from * w);
        o->moments(o, dy + from * w, (const float *)a->xhat.data + from * w, NULL, to - from, w,
                   s->work.data, sum);
    }
    o->batch_norm_grads(o, sum, w, gnn_pass_grad(s, a->norm),
                        gnn_pass_grad(s, a->norm + GNN_NORM_BIAS));
    return 0;
}

void gnn_activation_back_stats(struct gnn_pass *s, const struct gnn_activation *a)
{
    s->o->batch_back_stats(s->o, s->sums.data, a->rows, a->w, a->stat.data);
}

int gnn_activation_back_open(struct gnn_pass *s, const struct gnn_activation *a, uint32_t rows,
                             const float *y, float *dy, struct gnn_err *e)
{
    if (gnn_activation_back_sums(s, a, rows, y, dy, e) || !is_batch(s, a))
        return e->code;
    /* Gradients of gamma and beta came from the own rows only, before the sums of all ranks: the
     * all-reduce of gradients adds them up. */
    if (s->sum && s->sum(s->arg, s->sums.data, 2 * a->w, e))
        return e->code;
    gnn_activation_back_stats(s, a);
    return 0;
}

void gnn_activation_back(struct gnn_pass *s, const struct gnn_activation *a, uint32_t from,
                         uint32_t to, const float *y, float *dy, float *db)
{
    const struct gnn_ops *o = s->o;
    const size_t w = a->w, at = from * w;
    const uint32_t rows = to - from;
    const bool batch = is_batch(s, a); /* act_rows_back has been done then */
    if (!batch)
        act_rows_back(o, a, from, to, y, dy);
    if (batch)
        o->batch_norm_back(o, dy, (const float *)a->xhat.data + at,
                           a->count ? a->count + from : NULL, rows, w, a->stat.data,
                           gnn_pass_param(s, a->norm));
    else if (a->norm != NO_NORM)
        o->layer_norm_back(o, dy, (const float *)a->xhat.data + at,
                           (const float *)a->rstd.data + from, rows, w, gnn_pass_param(s, a->norm),
                           gnn_pass_grad(s, a->norm), gnn_pass_grad(s, a->norm + GNN_NORM_BIAS),
                           s->work.data);
    /* Batch norm subtracts the mean, so the bias before it has no effect: its gradient is 0. A sum
     * would leave rounding noise, and Adam, which divides by the size of the gradient, would make
     * whole steps of it. */
    if (db && !(batch && a->rows > 1))
        o->colsum(o, dy, rows, w, s->work.data, db, true);
}
