/* SPDX-License-Identifier: Apache-2.0 */
/* The forward pass. Rows of a layer are computed in chunks, so that aggregated rows are still in
 * the cache when they are multiplied, and products when the activation is applied. */
#include "lib/model/net_impl.h"

/* Which of type t's rows in layer l + 1 count for batch norm's statistics; *count is NULL: all. The
 * rows of the last layer are seeds, which no two ranks share. */
static int find_counted(const struct gnn_net *n, uint32_t l, uint32_t t, const uint8_t **count,
                        struct gnn_err *e)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    const bool over_ranks = c->batch_norm && n->pass.train && n->pass.sum && l + 1 < c->nlayers;
    *count = over_ranks ? n->b->type[t].counted : NULL;
    if (over_ranks && !*count && net_rows(n, l + 1, t))
        return gnn_fail(
            e, GNN_E_INPUT,
            "batch norm over several ranks requires batches that mark which rank counts each node: use gnn-sample --count-once");
    return 0;
}

/* What comes after layer l's convolutions for type t. */
static int set_after(struct gnn_net *n, uint32_t l, uint32_t t, const struct gnn_net_mode *mode,
                     struct gnn_err *e)
{
    struct gnn_activation *a = &net_act(n, l + 1, t)->after;
    if (gnn_activation_of_type(&n->pass, a, l, t, e))
        return e->code;
    a->drop =
        a->act && mode->train && gnn_net_dropout(n, l + 1, t, mode->dropout, mode->seed, &a->q);
    return find_counted(n, l, t, &a->count, e);
}

/* Before the rows of a relation: its sources, or the messages made of them. */
static int open_conv(struct gnn_net *n, uint32_t l, uint32_t r, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    struct gnn_conv_run *c = net_run(n, l, r);
    const struct gnn_model_etype *et = &s->m->c.etype[r];
    c->x = *net_in(n, l, et->src);
    c->own = *net_in(n, l, et->dst);
    c->count = net_act(n, l + 1, et->dst)->after.count;
    if (c->message) {
        if (s->o->fit(s->o, &s->messages, (uint64_t)c->adj.nsrc * c->message, sizeof(float),
                      "messages", e) ||
            c->layer->send(c, c->x, c->adj.nsrc, s->messages.data, e))
            return e->code;
        c->messages = s->messages.data;
    }
    return c->layer->open ? c->layer->open(c, e) : 0;
}

/* Relation r's share of the output, all rows; fresh: nothing is there yet. after: what follows, if
 * this is the last relation; or NULL. */
static int conv_rows(struct gnn_net *n, uint32_t l, uint32_t r, float *out, bool fresh,
                     struct gnn_activation *after, struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(n, l, r);
    const uint32_t rows = c->adj.ndst, chunk = n->pass.o->chunk;
    const float *own = *net_in(n, l, n->pass.m->c.etype[r].dst);
    const struct gnn_epilogue *ep = after ? gnn_activation_first(after) : NULL;
    for (uint32_t from = 0, to; from < rows; from = to) {
        float *y = out + (size_t)from * c->w;
        to = rows - from < chunk ? rows : from + chunk;
        c->own = own + (size_t)from * c->dd;
        if (c->layer->rows(c, from, to, y, !fresh, ep, e))
            return e->code;
        if (after)
            gnn_activation_rows(&n->pass, after, from, to, y);
    }
    return 0;
}

/* Output of layer l for type t. With several relations each is done for all rows before the next,
 * since the scratch of messages is shared; with one, a chunk goes through all steps at once. */
static int layer_type(struct gnn_net *n, uint32_t l, uint32_t t, const struct gnn_net_mode *mode,
                      struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    const struct gnn_model *m = s->m;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = net_rows(n, l + 1, t);
    const size_t w = m->c.width[l];
    const bool residual = gnn_model_residual(m, l, t);
    uint32_t left = 0;
    if (set_after(n, l, t, mode, e) ||
        s->o->fit(s->o, &a->out, rows * w, sizeof(float), "activations", e))
        return e->code;
    float *out = a->out.data;
    *net_in(n, l + 1, t) = out;
    /* The residual is the start of the sum, and relations add to it. */
    if (residual)
        s->o->copy(s->o, out, *net_in(n, l, t), rows * w * sizeof(float));
    for (uint32_t r = 0; r < m->c.netypes; r++)
        left += gnn_model_into(m, l, r, t);
    bool fresh = !residual;
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        if (!gnn_model_into(m, l, r, t))
            continue;
        /* Only the last relation is followed by bias, norm and ReLU: then the sum is complete. */
        struct gnn_activation *after = --left ? NULL : &a->after;
        if (open_conv(n, l, r, e) || (after && gnn_activation_open(s, after, rows, e)) ||
            conv_rows(n, l, r, out, fresh, after, e))
            return e->code;
        fresh = false;
    }
    return gnn_activation_close(s, &a->after, rows, out, e);
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
                "batches from a partitioned store have no original ids node/%s/id: run gnn-gather "
                "first",
                meta->schema.ntype[t].name);
    return 0;
}

int gnn_net_forward(struct gnn_net *n, const float *params, const struct gnn_batch *b,
                    const struct gnn_meta *meta, const struct gnn_net_mode *mode, float **out,
                    uint32_t *rows, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    n->b = b;
    n->pass.p = params;
    n->pass.train = mode->train;
    if (check_ids(b, meta, mode, e) || gnn_net_blocks(n, meta, e))
        return e->code;
    /* Depends on how many edges the batch has. */
    gnn_net_choose_threads(n);
    if (gnn_net_inputs(n, mode, e))
        return e->code;
    for (uint32_t l = 0; l < m->c.nlayers; l++)
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (gnn_model_live(m, l + 1, t) && layer_type(n, l, t, mode, e))
                return e->code;
    *out = net_act(n, m->c.nlayers, m->c.target)->out.data;
    *rows = net_rows(n, m->c.nlayers, m->c.target);
    return 0;
}

void gnn_net_track(struct gnn_net *n, float *params)
{
    const struct gnn_model *m = n->pass.m;
    for (uint32_t l = 0; l < m->c.nlayers; l++) {
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            gnn_activation_track(&n->pass, &net_act(n, l + 1, t)->after, params);
        for (uint32_t r = 0; r < m->c.netypes; r++)
            gnn_activation_track(&n->pass, &net_run(n, l, r)->inside, params);
    }
}
