/* Batch norm: statistics of a batch need all its rows, on all ranks, before the first can be
 * normalised, and so does the way back. Over ranks, a node's rows are the same in all shares that
 * have it: one of them counts for the statistics (gnn_batch_type.counted), and passes on what the
 * gradient owes to these, so that any number of ranks makes what one does. */
#include "lib/model/net_impl.h"

/* Moments of chunks are added up in n->sums, cleared here; n->work is gnn_moments'. */
static int clear_sums(struct gnn_net *n, size_t w, struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    if (o->fit(o, &n->work, GNN_MOMENT_BLOCKS * 2 * w, sizeof(double), "moments", e) ||
        o->fit(o, &n->sums, 2 * w + 1, sizeof(double), "moments", e))
        return e->code;
    o->zero(o, n->sums.data, 2 * w * sizeof(double));
    return 0;
}

int net_batch_open(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, bool train,
                   struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t norm = net_norm(n, l, t);
    const size_t w = n->m->c.width[l];
    a->count = train && n->sum ? n->b->type[t].counted : NULL;
    a->rows = 0;
    if (train && n->sum && !a->count && net_rows(n, l + 1, t))
        return gnn_fail(
            e, GNN_E_INPUT,
            "batch norm over several ranks requires batches that mark who counts each node: use gnn-sample --count-once");
    if (o->fit(o, &a->stat, GNN_BATCH_STATS * w, sizeof(float), "statistics", e))
        return e->code;
    if (train)
        return clear_sums(n, w, e);
    o->running_stats(o, p + net_param(n, norm + GNN_NORM_MEAN),
                     p + net_param(n, norm + GNN_NORM_VAR), w, NET_NORM_EPS, a->stat.data);
    return 0;
}

void net_batch_add(struct gnn_net *n, uint32_t l, uint32_t t, uint32_t from, uint32_t to)
{
    const struct gnn_net_act *a = net_act(n, l + 1, t);
    const size_t w = n->m->c.width[l];
    const float *y = (const float *)a->out.data + from * w;
    n->ops->moments(n->ops, y, y, a->count ? a->count + from : NULL, to - from, w, n->work.data,
                    n->sums.data);
}

/* What lies where the operations are, on the host until the next call; NULL on failure. */
static const void *fetch(struct gnn_net *n, const void *from, uint64_t bytes, struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    if (o->fit_host(o, &n->seen, bytes + 1, 1, "moments", e))
        return NULL;
    if (bytes)
        o->fetch(o, n->seen.data, from, bytes);
    o->mark(o, GNN_OPS_MARK_NET);
    return o->wait(o, GNN_OPS_MARK_NET, e) ? NULL : n->seen.data;
}

/* Rows that count, over all ranks; and their moments in n->sums. */
static int sum_rows(struct gnn_net *n, uint32_t l, uint32_t t, struct gnn_err *e)
{
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = net_rows(n, l + 1, t);
    const size_t w = n->m->c.width[l];
    a->rows = rows;
    if (!n->sum)
        return 0;
    const uint8_t *count = fetch(n, a->count, a->count ? rows : 0, e);
    if (!count)
        return e->code;
    for (uint32_t i = 0; a->count && i < rows; i++)
        a->rows -= !count[i];
    double *sum = n->sums.data;
    n->ops->put(n->ops, sum + 2 * w, &a->rows, sizeof a->rows);
    if (n->sum(n->arg, sum, 2 * w + 1, e))
        return e->code;
    const double *all = fetch(n, sum + 2 * w, sizeof *all, e);
    if (!all)
        return e->code;
    a->rows = *all;
    return 0;
}

int net_batch_close(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t norm = net_norm(n, l, t);
    const size_t w = n->m->c.width[l];
    if (sum_rows(n, l, t, e))
        return e->code;
    if (a->rows > 1) {
        o->batch_stats(o, n->sums.data, a->rows, w, NET_NORM_EPS, a->stat.data);
        return 0;
    }
    a->rows = 0; /* one row has no variance */
    o->running_stats(o, p + net_param(n, norm + GNN_NORM_MEAN),
                     p + net_param(n, norm + GNN_NORM_VAR), w, NET_NORM_EPS, a->stat.data);
    return 0;
}

void gnn_net_track(struct gnn_net *n, float *params)
{
    const struct gnn_model *m = n->m;
    for (uint32_t l = 0; m->c.batch_norm && l + 1 < m->c.nlayers; l++)
        for (uint32_t t = 0; t < m->c.nntypes; t++) {
            const struct gnn_net_act *a = net_act(n, l + 1, t);
            const uint32_t norm = net_norm(n, l, t);
            if (norm != UINT32_MAX && gnn_model_live(m, l + 1, t) && a->rows > 1)
                n->ops->batch_track(n->ops, a->stat.data, m->c.width[l], NET_MOMENTUM,
                                    params + net_param(n, norm + GNN_NORM_MEAN),
                                    params + net_param(n, norm + GNN_NORM_VAR),
                                    (int64_t *)(params + net_param(n, norm + GNN_NORM_BATCHES)));
        }
}

int net_batch_back_open(struct gnn_net *n, uint32_t l, uint32_t t, float *dy, struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    const struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = net_rows(n, l + 1, t), norm = net_norm(n, l, t), chunk = o->chunk;
    const size_t w = n->m->c.width[l];
    if (clear_sums(n, w, e))
        return e->code;
    double *sum = n->sums.data;
    for (uint32_t from = 0; from < rows; from += chunk) {
        const uint32_t some = rows - from < chunk ? rows - from : chunk;
        const float *h = (const float *)a->xhat.data + from * w,
                    *y = (const float *)a->out.data + from * w;
        o->relu_back(o, dy + from * w, y, some, w, n->keep);
        o->moments(o, dy + from * w, h, NULL, some, w, n->work.data, sum);
    }
    o->batch_norm_grads(o, sum, w, n->grad + net_param(n, norm),
                        n->grad + net_param(n, norm + GNN_NORM_BIAS));
    if (n->sum && n->sum(n->arg, sum, 2 * w, e))
        return e->code;
    o->batch_back_stats(o, sum, a->rows, w, a->stat.data);
    return 0;
}

void net_batch_back(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, uint32_t from,
                    uint32_t to, float *dy)
{
    const struct gnn_net_act *a = net_act(n, l + 1, t);
    const size_t w = n->m->c.width[l];
    n->ops->batch_norm_back(n->ops, dy + from * w, (const float *)a->xhat.data + from * w,
                            a->count ? a->count + from : NULL, to - from, w, a->stat.data,
                            p + net_param(n, net_norm(n, l, t)));
}
