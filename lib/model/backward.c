/* SPDX-License-Identifier: Apache-2.0 */
/* The backward pass. Gradients flow from destinations to sources through the transposed blocks, so
 * every sum is made by one thread in a fixed order. The features need no gradient. */
#include "lib/model/net_impl.h"

/* Where gradients of the rows that enter layer l are gathered; the first writer covers all rows. */
static int open_grad(struct gnn_net *n, uint32_t l, uint32_t t, float **g, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    struct gnn_net_act *a = net_act(n, l, t);
    const uint64_t count = (uint64_t)net_rows(n, l, t) * gnn_model_in(n->pass.m, l, t);
    if (o->fit(o, &a->grad, count, sizeof(float), "gradients", e))
        return e->code;
    *g = a->grad.data;
    return 0;
}

/* The same for who adds to some of the rows only. */
static int open_grad_zeroed(struct gnn_net *n, uint32_t l, uint32_t t, float **g, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    struct gnn_net_act *a = net_act(n, l, t);
    if (open_grad(n, l, t, g, e))
        return e->code;
    if (!a->has_grad)
        o->zero(o, *g, (uint64_t)net_rows(n, l, t) * gnn_model_in(n->pass.m, l, t) * sizeof(float));
    a->has_grad = true;
    return 0;
}

/* Everything that is done with the rows of dy, chunk by chunk. */
static int rows_of_type(struct gnn_net *n, uint32_t l, uint32_t t, float *dy, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    const struct gnn_model *m = s->m;
    const struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = net_rows(n, l + 1, t), chunk = s->o->chunk;
    const size_t w = m->c.width[l];
    float *db = NULL; /* the gradient of all relations' biases, made in the first one's place */
    for (uint32_t r = m->c.netypes; r-- > 0;)
        if (gnn_model_into(m, l, r, t))
            db = gnn_pass_grad(s, gnn_conv_bias(m, l, r));
    if (gnn_activation_back_open(s, &a->after, rows, a->out.data, dy, e))
        return e->code;
    for (uint32_t from = 0, to; from < rows; from = to) {
        to = rows - from < chunk ? rows : from + chunk;
        gnn_activation_back(s, &a->after, from, to, a->out.data, dy, db);
        for (uint32_t r = 0; r < m->c.netypes; r++) {
            if (!gnn_model_into(m, l, r, t))
                continue;
            struct gnn_conv_run *c = net_run(n, l, r);
            c->own = *net_in(n, l, t) + (size_t)from * c->dd;
            if (c->layer->rows_back(c, from, to, dy + from * w, e))
                return e->code;
        }
    }
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        float *g = gnn_model_into(m, l, r, t) ? gnn_pass_grad(s, gnn_conv_bias(m, l, r)) : db;
        if (g != db)
            s->o->copy(s->o, g, db, w * sizeof(float));
    }
    return 0;
}

/* Gradients of what relation r of layer l works on: the sources, and the destinations themselves (a
 * prefix of the rows). */
static int inputs_back(struct gnn_net *n, uint32_t l, uint32_t r, const float *dy,
                       struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(n, l, r);
    const struct gnn_model_etype *et = &n->pass.m->c.etype[r];
    struct gnn_net_act *a = net_act(n, l, et->src);
    float *g = NULL;
    c->own = *net_in(n, l, et->dst);
    if (c->inputs && open_grad(n, l, et->src, &g, e))
        return e->code;
    if (c->layer->sources_back(c, dy, g, a->has_grad, e))
        return e->code;
    if (!c->inputs)
        return 0;
    a->has_grad = true;
    if (!c->layer->own)
        return 0;
    return open_grad_zeroed(n, l, et->dst, &g, e) ? e->code : c->layer->own_back(c, dy, g, e);
}

static int residual_back(struct gnn_net *n, uint32_t l, uint32_t t, const float *dy,
                         struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    float *g = NULL;
    if (l == 0 || !gnn_model_residual(n->pass.m, l, t))
        return 0;
    if (open_grad_zeroed(n, l, t, &g, e))
        return e->code;
    o->add(o, dy, (uint64_t)net_rows(n, l + 1, t) * n->pass.m->c.width[l], g);
    return 0;
}

/* Layer l, as far as it makes rows of type t. */
static int type_back(struct gnn_net *n, uint32_t l, uint32_t t, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const bool top = l + 1 == m->c.nlayers;
    if (!gnn_model_live(m, l + 1, t) || !(top || a->has_grad))
        return 0;
    /* The last layer's output has been replaced by the gradient of the loss. */
    float *dy = top ? a->out.data : a->grad.data;
    if (rows_of_type(n, l, t, dy, e))
        return e->code;
    for (uint32_t r = 0; r < m->c.netypes; r++)
        if (gnn_model_into(m, l, r, t) && inputs_back(n, l, r, dy, e))
            return e->code;
    return residual_back(n, l, t, dy, e);
}

int gnn_net_backward(struct gnn_net *n, const float *params, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    const struct gnn_model *m = s->m;
    s->p = params;
    s->o->zero(s->o, s->grad, m->nfloats * sizeof(float));
    for (size_t i = 0; i < (size_t)(m->c.nlayers + 1) * m->c.nntypes; i++)
        n->act[i].has_grad = false;
    for (uint32_t l = m->c.nlayers; l-- > 0;) {
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (type_back(n, l, t, e))
                return e->code;
        /* From here on the layer's gradients are final; ranks start to sum them while the next
         * layer works. */
        if (n->layer_done && n->layer_done(s->arg, l, e))
            return e->code;
    }
    return 0;
}
