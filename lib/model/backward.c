/* SPDX-License-Identifier: Apache-2.0 */
/* The backward pass. Gradients flow from destinations to sources through the transposed blocks, so
 * every sum is made by one thread in a fixed order. The features need no gradient. */
#include "lib/model/decoder.h"
#include "lib/model/net_impl.h"

int gnn_net_grad(struct gnn_net *n, uint32_t stage, uint32_t t, float **g, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    struct gnn_net_act *a = net_act(n, stage, t);
    const uint64_t count = (uint64_t)a->early * gnn_model_width(n->pass.m, stage, t);
    if (o->fit(o, &a->grad, count, sizeof(float), "gradients", e))
        return e->code;
    *g = a->grad.data;
    return 0;
}

int gnn_net_grad_zeroed(struct gnn_net *n, uint32_t stage, uint32_t t, float **g, struct gnn_err *e)
{
    const struct gnn_ops *o = n->pass.o;
    struct gnn_net_act *a = net_act(n, stage, t);
    if (gnn_net_grad(n, stage, t, g, e))
        return e->code;
    if (!a->has_grad)
        o->zero(o, *g, (uint64_t)a->early * gnn_model_width(n->pass.m, stage, t) * sizeof(float));
    a->has_grad = true;
    return 0;
}

/* Whether the gradient of a stage's rows of type t may be made while it is used: that is once, row
 * by row. */
static bool is_used_once(const struct gnn_net *n, uint32_t stage, uint32_t t)
{
    if (gnn_activation_waits(&n->pass, &net_act(n, stage, t)->after))
        return false;
    EACH_CONV_INTO(v, n->pass.m, stage, t) {
        const struct gnn_conv_run *run = net_run(n, v);
        if (run->inputs || run->message || (v->rel != GNN_ROWS && !run->layer->late_back))
            return false;
    }
    return true;
}

/* How many rows of that gradient, the first, have to be there before: those to which more than the
 * next stage's edges lead, in whole chunks. */
static uint32_t early_rows(const struct gnn_net *n, uint32_t stage, uint32_t t)
{
    const uint32_t rows = net_rows(n, stage, t);
    uint32_t own = 0, early = 0;
    bool any = false;
    if (!is_used_once(n, stage, t))
        return rows;
    EACH_CONV(v, n->pass.m) {
        const struct gnn_conv_run *run = net_run(n, v);
        if (!v->needed || v->from != stage)
            continue;
        if (v->dst == t && run->adj.ndst > own)
            own = run->adj.ndst;
        if (v->src != t || v->rel == GNN_ROWS)
            continue;
        if (v->stage != stage + 1 || run->message || !run->layer->late_back)
            return rows;
        any = true;
    }
    EACH_CHUNK(from, to, rows, n->pass.o)
        early = from < own ? to : early;
    return any ? early : rows;
}

/* Rows [from, to) of a gradient that are not early, in the order in which all would be made. NULL
 * on failure. */
static float *make_late(struct gnn_net *n, uint32_t stage, uint32_t t, uint32_t from, uint32_t to,
                        struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    const struct gnn_ops *o = n->pass.o;
    bool acc = false;
    if (o->fit(o, &n->late, (uint64_t)(to - from) * gnn_model_width(m, stage, t), sizeof(float),
               "gradients", e))
        return NULL;
    for (uint32_t dst = 0; dst < m->c.nntypes; dst++)
        EACH_CONV_INTO(v, m, stage + 1, dst) {
            const struct gnn_conv_run *run = net_run(n, v);
            if (v->from != stage || v->src != t || v->rel == GNN_ROWS ||
                !net_act(n, stage + 1, dst)->has_grad)
                continue;
            run->layer->late_back(run, from, to, n->late.data, acc);
            acc = true;
        }
    if (!acc)
        o->zero(o, n->late.data,
                (uint64_t)(to - from) * gnn_model_width(m, stage, t) * sizeof(float));
    return n->late.data;
}

/* The biases' gradients are all the same: made in the first one's place, *db, and copied. */
static void copy_bias_gradients(struct gnn_net *n, uint32_t stage, uint32_t t, const float *db)
{
    const struct gnn_pass *s = &n->pass;
    EACH_CONV_INTO(v, s->m, stage, t) {
        float *g = gnn_conv_bias(v) != GNN_NONE ? gnn_pass_grad(s, gnn_conv_bias(v)) : NULL;
        if (g && g != db)
            s->o->copy(s->o, g, db, gnn_model_width(s->m, stage, t) * sizeof(float));
    }
}

int gnn_net_rows_back(struct gnn_net *n, uint32_t stage, uint32_t t, float *dy, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    const struct gnn_model *m = s->m;
    const struct gnn_net_act *a = net_act(n, stage, t);
    const uint32_t rows = net_rows(n, stage, t);
    const size_t w = gnn_model_width(m, stage, t);
    float *db = NULL;
    EACH_CONV_INTO(v, m, stage, t)
        if (!db && gnn_conv_bias(v) != GNN_NONE)
            db = gnn_pass_grad(s, gnn_conv_bias(v));
    EACH_CHUNK(from, to, rows, s->o) {
        float *d = from < a->early ? dy + from * w : make_late(n, stage, t, from, to, e);
        if (!d)
            return e->code;
        gnn_activation_back(s, &a->after, from, to, a->out.data, d, db);
        EACH_CONV_INTO(v, m, stage, t) {
            struct gnn_conv_run *c = net_run(n, v);
            c->own = *net_made(n, v->from, t) + (size_t)from * c->dd;
            if (c->layer->rows_back(c, from, to, d, e))
                return e->code;
        }
    }
    copy_bias_gradients(n, stage, t, db);
    return 0;
}

int gnn_net_own_back(struct gnn_net *n, const struct gnn_conv *v, const float *dy,
                     struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(n, v);
    float *g;
    c->own = *net_made(n, v->from, v->dst);
    c->out = net_act(n, v->stage, v->dst)->out.data;
    if (!c->inputs || !c->layer->own || gnn_net_grad_zeroed(n, v->from, v->dst, &g, e))
        return e->code;
    return c->layer->own_back(c, dy, g, e);
}

/* Gradients of what a convolution works on: the sources, and the destinations themselves (a prefix
 * of the rows). */
static int inputs_back(struct gnn_net *n, const struct gnn_conv *v, const float *dy,
                       struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(n, v);
    struct gnn_net_act *a = net_act(n, v->from, v->src);
    float *g = NULL;
    c->own = *net_made(n, v->from, v->dst);
    c->out = net_act(n, v->stage, v->dst)->out.data;
    if (c->layer->sources_back) {
        if (c->inputs && gnn_net_grad(n, v->from, v->src, &g, e))
            return e->code;
        const bool late = g && a->early < net_rows(n, v->from, v->src);
        if (c->layer->sources_back(c, dy, late ? NULL : g, a->has_grad, e))
            return e->code;
        if (late)
            c->layer->late_back(c, 0, a->early, g, a->has_grad);
        a->has_grad = a->has_grad || c->inputs;
    }
    return gnn_net_own_back(n, v, dy, e);
}

/* Stage `stage`, as far as it makes rows of type t. */
static int type_back(struct gnn_net *n, uint32_t stage, uint32_t t, struct gnn_err *e)
{
    struct gnn_net_act *a = net_act(n, stage, t);
    float *dy = net_dy(n, stage, t)->data;
    if (!a->has_grad)
        return 0;
    if (gnn_activation_back_open(&n->pass, &a->after, net_rows(n, stage, t), a->out.data, dy, e) ||
        gnn_net_rows_back(n, stage, t, dy, e))
        return e->code;
    /* Those without edges last: they add to some rows, and relations are the first to write all. */
    for (int rows = 0; rows < 2; rows++)
        EACH_CONV_INTO(v, n->pass.m, stage, t)
            if ((v->rel == GNN_ROWS) == rows && inputs_back(n, v, dy, e))
                return e->code;
    return 0;
}

void gnn_net_open_back(struct gnn_net *n)
{
    const struct gnn_model *m = n->pass.m;
    n->pass.o->zero(n->pass.o, n->pass.grad, m->nfloats * sizeof(float));
    for (size_t i = 0; i < (size_t)m->nstages * m->c.nntypes; i++) {
        n->act[i].has_grad = false;
        n->act[i].early = n->rows[i];
    }
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        net_act(n, m->nstages - 1, t)->has_grad = gnn_model_targets(&m->c, t);
}

int gnn_net_backward(struct gnn_net *n, const float *params, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    const struct gnn_model *m = s->m;
    s->p = params;
    gnn_net_open_back(n);
    for (uint32_t i = 1; i < m->nstages; i++)
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            net_act(n, i, t)->early = early_rows(n, i, t);
    if (m->c.decoder && gnn_decoder_backward(n, e))
        return e->code;
    for (uint32_t i = m->nstages; i-- > 1;) {
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (type_back(n, i, t, e))
                return e->code;
        /* From here on the stage's gradients are final; ranks start to sum them while the next
         * stage works. */
        if (n->stage_done && n->stage_done(s->arg, i, e))
            return e->code;
    }
    return 0;
}
