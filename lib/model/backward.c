/* The backward pass. Gradients flow from destinations to sources through the transposed blocks, so
 * every sum is made by one thread in a fixed order. The features need no gradient. */
#include "lib/model/net_impl.h"

/* Where gradients of the rows that enter layer l are gathered; the first writer covers all rows. */
static int open_grad(struct gnn_net *n, uint32_t l, uint32_t t, float **g, struct gnn_err *e)
{
    struct gnn_net_act *a = net_act(n, l, t);
    const uint64_t count = (uint64_t)net_rows(n, l, t) * gnn_model_in(n->m, l, t);
    if (n->ops->fit(n->ops, &a->grad, count, sizeof(float), "gradients", e))
        return e->code;
    *g = a->grad.data;
    return 0;
}

/* Through the transposed block: dx (+)= A^T dy. */
static void spread(struct gnn_net *n, const struct gnn_net_rel *q, uint32_t nsrc, uint32_t ndst,
                   const float *dy, size_t d, float *dx, bool acc)
{
    n->ops->aggregate(n->ops, q->seg + q->nseg, 1, 0, nsrc, dy, ndst, d, dx, acc);
}

/* Gradient of lin_l, for rows [from, to) of dy (ndst, w) while they are in the cache. Their
 * aggregated inputs are not needed after that: the gradients of these take their place. */
static int conv_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t r, uint32_t from,
                     uint32_t to, const float *dy, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    struct gnn_net_rel *q = net_rel(n, l, r);
    const uint32_t dst = m->c.etype[r].dst;
    const size_t ds = gnn_model_in(m, l, m->c.etype[r].src), dd = gnn_model_in(m, l, dst),
                 w = m->c.width[l];
    float *a = (float *)q->agg.data + (size_t)from * ds;

    dy += (size_t)from * w;
    if (!q->transform_first) {
        if (net_gemm(n, true, false, w, ds, to - from, dy, a, 1, n->grad + net_param(n, v->lin_l),
                     NULL, e) ||
            (l && net_gemm(n, false, false, to - from, ds, w, dy, p + net_param(n, v->lin_l), 0, a,
                           NULL, e)))
            return e->code;
    }
    if (v->lin_r == UINT32_MAX)
        return 0;
    return net_gemm(n, true, false, w, dd, to - from, dy, *net_in(n, l, dst) + (size_t)from * dd, 1,
                    n->grad + net_param(n, v->lin_r), NULL, e);
}

/* Gradients of the sources; of lin_l too, if it was applied to them. */
static int sources(struct gnn_net *n, const float *p, uint32_t l, uint32_t r, const float *dy,
                   struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    struct gnn_net_rel *q = net_rel(n, l, r);
    const uint32_t src = m->c.etype[r].src;
    const uint32_t ns = net_rows(n, l, src), nd = net_rows(n, l + 1, m->c.etype[r].dst);
    const size_t ds = gnn_model_in(m, l, src), w = m->c.width[l];
    struct gnn_net_act *a = net_act(n, l, src);
    float *g = NULL;

    if (l && open_grad(n, l, src, &g, e))
        return e->code;
    if (q->transform_first) {
        if (n->ops->fit(n->ops, &n->tmp, (uint64_t)ns * w, sizeof(float), "gradients", e))
            return e->code;
        spread(n, q, ns, nd, dy, w, n->tmp.data, false);
        if (net_gemm(n, true, false, w, ds, ns, n->tmp.data, *net_in(n, l, src), 1,
                     n->grad + net_param(n, v->lin_l), NULL, e))
            return e->code;
        if (l && net_gemm(n, false, false, ns, ds, w, n->tmp.data, p + net_param(n, v->lin_l),
                          a->has_grad ? 1 : 0, g, NULL, e))
            return e->code;
    } else if (l) {
        spread(n, q, ns, nd, q->agg.data, ds, g, a->has_grad);
    }
    if (l)
        a->has_grad = true;
    return 0;
}

/* Gradients of the destinations themselves (a prefix of the rows). */
static int selves(struct gnn_net *n, const float *p, uint32_t l, uint32_t r, const float *dy,
                  struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    const uint32_t dst = m->c.etype[r].dst, nd = net_rows(n, l + 1, dst);
    const size_t dd = gnn_model_in(m, l, dst), w = m->c.width[l];
    struct gnn_net_act *a = net_act(n, l, dst);
    float *g = NULL;

    if (v->lin_r == UINT32_MAX || l == 0)
        return 0;
    if (open_grad(n, l, dst, &g, e))
        return e->code;
    if (!a->has_grad)
        n->ops->zero(n->ops, g, (size_t)net_rows(n, l, dst) * dd * sizeof(float));
    a->has_grad = true;
    return net_gemm(n, false, false, nd, dd, w, dy, p + net_param(n, v->lin_r), 1, g, NULL, e);
}

/* From the gradient of layer l's output to that of its convolutions' sum, in place, rows [from,
 * to); gradients of norm and bias (db) on the way. */
static void activation_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t t,
                            uint32_t from, uint32_t to, float *dy, float *work, float *db)
{
    const struct gnn_model *m = n->m;
    const struct gnn_net_act *a = net_act(n, l + 1, t);
    const struct gnn_ops *o = n->ops;
    const size_t w = m->c.width[l], at = from * w;
    const uint32_t rows = to - from, norm = net_norm(n, l, t);
    const bool batch = net_batch_norm(n, l, t); /* ReLU's way back is done then */
    if (l + 1 < m->c.nlayers && !batch)
        o->relu_back(o, dy + at, (const float *)a->out.data + at, rows, w, n->keep);
    if (batch)
        net_batch_back(n, p, l, t, from, to, dy);
    else if (norm != UINT32_MAX)
        o->layer_norm_back(o, dy + at, (const float *)a->xhat.data + at,
                           (const float *)a->rstd.data + from, rows, w, p + net_param(n, norm),
                           n->grad + net_param(n, norm),
                           n->grad + net_param(n, norm + GNN_NORM_BIAS), work);
    if (db)
        o->colsum(o, dy + at, rows, w, work, db, true);
}

/* Everything that is done with the rows of dy, chunk by chunk. */
static int rows_of_type(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, float *dy,
                        struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_ops *o = n->ops;
    const uint32_t rows = net_rows(n, l + 1, t), chunk = o->chunk;
    const size_t w = m->c.width[l];
    float *db = NULL; /* the gradient of all relations' biases, made in the first one's place */
    if (o->fit(o, &n->work, GNN_COLSUM_BLOCKS * w, sizeof(float), "gradients", e))
        return e->code;
    for (uint32_t r = m->c.netypes; r-- > 0;)
        if (net_into(n, l, r, t))
            db = n->grad + net_param(n, gnn_model_conv(m, l, r)->bias);
    if (net_batch_norm(n, l, t) && net_batch_back_open(n, l, t, dy, e))
        return e->code;
    /* A batch's mean takes the bias out again. Its gradient is 0, of which a sum would leave noise,
     * and Adam make whole steps. */
    const bool moot = net_batch_norm(n, l, t) && net_act(n, l + 1, t)->rows > 1;
    for (uint32_t from = 0; from < rows; from += chunk) {
        const uint32_t to = rows - from < chunk ? rows : from + chunk;
        activation_rows(n, p, l, t, from, to, dy, n->work.data, moot ? NULL : db);
        for (uint32_t r = 0; r < m->c.netypes; r++)
            if (net_into(n, l, r, t) && conv_rows(n, p, l, r, from, to, dy, e))
                return e->code;
    }
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        float *g =
            net_into(n, l, r, t) ? n->grad + net_param(n, gnn_model_conv(m, l, r)->bias) : db;
        if (g != db)
            o->copy(o, g, db, w * sizeof(float));
    }
    return 0;
}

static int residual(struct gnn_net *n, uint32_t l, uint32_t t, const float *dy, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const size_t w = m->c.width[l], count = net_rows(n, l + 1, t) * w;
    float *g = NULL;
    if (!m->c.residual || l == 0 || l + 1 == m->c.nlayers || gnn_model_in(m, l, t) != w)
        return 0;
    if (open_grad(n, l, t, &g, e))
        return e->code;
    if (!net_act(n, l, t)->has_grad)
        n->ops->zero(n->ops, g, net_rows(n, l, t) * w * sizeof(float));
    net_act(n, l, t)->has_grad = true;
    n->ops->add(n->ops, dy, count, g);
    return 0;
}

/* Layer l, as far as it makes rows of type t. */
static int type_back(struct gnn_net *n, const float *params, uint32_t l, uint32_t t,
                     struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const bool top = l + 1 == m->c.nlayers;
    if (!gnn_model_live(m, l + 1, t) || !(top || a->has_grad))
        return 0;
    float *dy = top ? a->out.data : a->grad.data;
    if (rows_of_type(n, params, l, t, dy, e))
        return e->code;
    for (uint32_t r = 0; r < m->c.netypes; r++)
        if (net_into(n, l, r, t) &&
            (sources(n, params, l, r, dy, e) || selves(n, params, l, r, dy, e)))
            return e->code;
    return residual(n, l, t, dy, e);
}

int gnn_net_backward(struct gnn_net *n, const float *params, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    n->ops->zero(n->ops, n->grad, m->nfloats * sizeof(float));
    for (size_t i = 0; i < (size_t)(m->c.nlayers + 1) * m->c.nntypes; i++)
        n->act[i].has_grad = false;
    for (uint32_t l = m->c.nlayers; l-- > 0;) {
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (type_back(n, params, l, t, e))
                return e->code;
        if (n->layer_done && n->layer_done(n->arg, l, e))
            return e->code;
    }
    return 0;
}
