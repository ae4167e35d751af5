/* The forward pass. Rows of a layer are computed in chunks, so that aggregated rows are still in
 * the cache when they are multiplied, and products when the activation is applied. */
#include "lib/model/net_impl.h"

/* What follows the sum of a layer's convolutions. The bias, and ReLU where nothing comes in
 * between, go with the last matrix product. */
struct ending {
    const float *bias;
    bool norm, batch, relu, drop, fused; /* batch: the norm is batch norm */
    struct gnn_dropout q;
    struct gnn_epilogue ep;
};

/* Adds relation r's share to rows [from, to) of the output of its destination type; fresh: nothing
 * is there yet. ep: of its last product, or NULL. */
static int conv_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t r, uint32_t from,
                     uint32_t to, float *out, bool fresh, const struct gnn_epilogue *ep,
                     struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_ops *o = n->ops;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    struct gnn_net_rel *q = net_rel(n, l, r);
    const uint32_t src = m->c.etype[r].src, dst = m->c.etype[r].dst, nsrc = net_rows(n, l, src);
    const size_t ds = gnn_model_in(m, l, src), dd = gnn_model_in(m, l, dst), w = m->c.width[l];
    const bool self = v->lin_r != UINT32_MAX;
    float *y = out + (size_t)from * w;

    if (q->transform_first) {
        o->aggregate(o, q->seg, q->nseg, from, to, n->tmp.data, nsrc, w, y, !fresh);
    } else {
        float *a = (float *)q->agg.data + (size_t)from * ds;
        o->aggregate(o, q->seg, q->nseg, from, to, *net_in(n, l, src), nsrc, ds, a, false);
        if (net_gemm(n, false, true, to - from, w, ds, a, p + net_param(n, v->lin_l), fresh ? 0 : 1,
                     y, self ? NULL : ep, e))
            return e->code;
    }
    if (!self)
        return 0;
    return net_gemm(n, false, true, to - from, w, dd, *net_in(n, l, dst) + (size_t)from * dd,
                    p + net_param(n, v->lin_r), 1, y, ep, e);
}

/* Before the chunks of a relation: room for its aggregated rows, or its transformed sources. */
static int conv_prepare(struct gnn_net *n, const float *p, uint32_t l, uint32_t r,
                        struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_ops *o = n->ops;
    struct gnn_net_rel *q = net_rel(n, l, r);
    const uint32_t src = m->c.etype[r].src, nsrc = net_rows(n, l, src);
    const uint32_t ndst = net_rows(n, l + 1, m->c.etype[r].dst);
    const size_t ds = gnn_model_in(m, l, src), w = m->c.width[l];
    if (!q->transform_first)
        return o->fit(o, &q->agg, (uint64_t)ndst * ds, sizeof(float), "aggregated rows", e);
    if (o->fit(o, &n->tmp, (uint64_t)nsrc * w, sizeof(float), "transformed rows", e))
        return e->code;
    return net_gemm(n, false, true, nsrc, w, ds, *net_in(n, l, src),
                    p + net_param(n, gnn_model_conv(m, l, r)->lin_l), 0, n->tmp.data, NULL, e);
}

/* The sum of the biases of all relations into type t; *bias points to it. */
static int sum_bias(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, const float **bias,
                    struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    const uint32_t w = n->m->c.width[l];
    float *sum = NULL;
    *bias = NULL;
    for (uint32_t r = 0; r < n->m->c.netypes; r++) {
        if (!net_into(n, l, r, t))
            continue;
        const float *b = p + net_param(n, gnn_model_conv(n->m, l, r)->bias);
        if (*bias && !sum) {
            if (o->fit(o, &n->bias, w, sizeof(float), "bias", e))
                return e->code;
            sum = n->bias.data;
            o->copy(o, sum, *bias, w * sizeof(*sum));
        }
        if (sum)
            o->add(o, b, w, sum);
        *bias = sum ? sum : b;
    }
    return 0;
}

static int end_of(struct gnn_net *n, const float *p, uint32_t l, uint32_t t,
                  const struct gnn_net_mode *mode, struct ending *z, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const bool last = l + 1 == m->c.nlayers;
    *z = (struct ending){
        .norm = net_norm(n, l, t) != UINT32_MAX, .batch = net_batch_norm(n, l, t), .relu = !last};
    z->drop = !last && mode->train && net_dropout(n, l + 1, t, mode->dropout, mode->seed, &z->q);
    n->keep = z->drop ? 65536.0f / (float)z->q.keep16 : n->keep;
    /* ReLU only where no NaN would be lost for good: while training it must come out as the loss.
     */
    z->fused = z->norm || last || (!z->drop && !mode->train);
    if (sum_bias(n, p, l, t, &z->bias, e))
        return e->code;
    z->ep = (struct gnn_epilogue){z->bias, z->relu && !z->norm};
    return 0;
}

/* Everything after the convolutions, and after the bias, if the last product has added it. */
static void activate_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, uint32_t from,
                          uint32_t to, const struct ending *z, bool train)
{
    const struct gnn_ops *o = n->ops;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = to - from, norm = net_norm(n, l, t);
    const size_t w = n->m->c.width[l];
    float *y = (float *)a->out.data + from * w;
    struct gnn_dropout q = z->q;

    if (z->batch)
        o->batch_norm(o, y, rows, w, a->stat.data, p + net_param(n, norm),
                      p + net_param(n, norm + GNN_NORM_BIAS),
                      train ? (float *)a->xhat.data + from * w : NULL, y);
    else if (z->norm)
        o->layer_norm(o, y, rows, w, p + net_param(n, norm), p + net_param(n, norm + GNN_NORM_BIAS),
                      NET_NORM_EPS, train ? (float *)a->xhat.data + from * w : NULL,
                      (float *)a->rstd.data + from, y);
    if (z->drop)
        q.node += from;
    if (z->norm ? z->relu : !z->fused)
        o->bias_act(o, y, rows, w, z->norm ? NULL : z->bias, z->relu, z->drop ? &q : NULL);
}

/* Of rows that the convolutions have made, as much as can be done before the others are there;
 * done: their last product has done the epilogue. */
static void end_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, uint32_t from,
                     uint32_t to, const struct ending *z, bool done, bool train)
{
    const size_t w = n->m->c.width[l];
    if (z->fused && !done)
        n->ops->bias_act(n->ops, (float *)net_act(n, l + 1, t)->out.data + from * w, to - from, w,
                         z->ep.bias, z->ep.relu, NULL);
    if (z->batch && train)
        net_batch_add(n, l, t, from, to);
    else
        activate_rows(n, p, l, t, from, to, z, train);
}

static bool has_residual(const struct gnn_model *m, uint32_t l, uint32_t t)
{
    return m->c.residual && l + 1 < m->c.nlayers && gnn_model_in(m, l, t) == m->c.width[l];
}

/* Output of layer l for type t. With several relations each is done for all rows before the next,
 * since the scratch of transformed rows is shared; with one, a chunk goes through all steps at
 * once. */
static int layer_type(struct gnn_net *n, const float *p, uint32_t l, uint32_t t,
                      const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_ops *o = n->ops;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = net_rows(n, l + 1, t), chunk = o->chunk;
    const size_t w = m->c.width[l];
    struct ending z;
    uint32_t convs = 0, seen = 0;
    const bool res = has_residual(m, l, t);

    if (end_of(n, p, l, t, mode, &z, e) ||
        o->fit(o, &a->out, rows * w, sizeof(float), "activations", e) ||
        (z.norm && !z.batch && o->fit(o, &a->rstd, rows, sizeof(float), "activations", e)) ||
        (z.norm && mode->train && o->fit(o, &a->xhat, rows * w, sizeof(float), "activations", e)) ||
        (z.batch && net_batch_open(n, p, l, t, mode->train, e)))
        return e->code;
    float *out = a->out.data;
    *net_in(n, l + 1, t) = out;
    if (res)
        o->copy(o, out, *net_in(n, l, t), rows * w * sizeof(float));
    for (uint32_t r = 0; r < m->c.netypes; r++)
        convs += net_into(n, l, r, t);
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        if (!net_into(n, l, r, t))
            continue;
        if (conv_prepare(n, p, l, r, e))
            return e->code;
        const bool fresh = !res && seen == 0, last = ++seen == convs;
        const bool product =
            gnn_model_conv(m, l, r)->lin_r != UINT32_MAX || !net_rel(n, l, r)->transform_first;
        const bool fused = last && product && z.fused;
        for (uint32_t from = 0; from < rows; from += chunk) {
            const uint32_t to = rows - from < chunk ? rows : from + chunk;
            if (conv_rows(n, p, l, r, from, to, out, fresh, fused ? &z.ep : NULL, e))
                return e->code;
            if (last)
                end_rows(n, p, l, t, from, to, &z, fused, mode->train);
        }
    }
    if (!z.batch || !mode->train)
        return 0;
    if (net_batch_close(n, p, l, t, e))
        return e->code;
    for (uint32_t from = 0; from < rows; from += chunk)
        activate_rows(n, p, l, t, from, rows - from < chunk ? rows : from + chunk, &z, true);
    return 0;
}

/* The masks need the nodes' original ids. */
static int check_ids(const struct gnn_batch *b, const struct gnn_meta *meta,
                     const struct gnn_net_mode *mode, struct gnn_err *e)
{
    if (!mode->train || (mode->dropout <= 0 && mode->dropout_input <= 0) ||
        meta->schema.nparts < 2 || meta->sampling.original_ids)
        return 0;
    for (uint32_t t = 0; t < meta->schema.nntypes; t++)
        if (!b->type[t].orig)
            return gnn_fail(
                e, GNN_E_INPUT,
                "batches from several parts have no original ids node/%s/id: run gnn-gather "
                "first",
                meta->schema.ntype[t].name);
    return 0;
}

int gnn_net_forward(struct gnn_net *n, const float *params, const struct gnn_batch *b,
                    const struct gnn_meta *meta, const struct gnn_net_mode *mode, float **out,
                    uint32_t *rows, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    n->b = b;
    n->keep = 1;
    if (check_ids(b, meta, mode, e) || net_blocks(n, meta, mode->train, e))
        return e->code;
    net_choose_threads(n);
    if (net_inputs(n, mode, e))
        return e->code;
    for (uint32_t l = 0; l < m->c.nlayers; l++)
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (gnn_model_live(m, l + 1, t) && layer_type(n, params, l, t, mode, e))
                return e->code;
    *out = net_act(n, m->c.nlayers, m->c.target)->out.data;
    *rows = net_rows(n, m->c.nlayers, m->c.target);
    return 0;
}
