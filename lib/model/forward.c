/* SPDX-License-Identifier: Apache-2.0 */
/* The forward pass. Rows of a layer are computed in chunks, so that aggregated rows are still in
 * the cache when they are multiplied, and products when the activation is applied. */
#include "lib/model/decoder.h"
#include "lib/model/net_impl.h"

/* Which of a stage's rows of type t count for batch norm's statistics; *count is NULL: all. The
 * rows that the last layer leaves are seeds, which no two ranks share. */
static int find_counted(const struct gnn_net *n, uint32_t stage, uint32_t t, const uint8_t **count,
                        struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    const bool over_ranks =
        m->c.batch_norm && n->pass.train && n->pass.sum && m->stage[stage].level < m->c.nlayers;
    *count = over_ranks ? n->b->type[t].counted : NULL;
    if (over_ranks && !*count && net_rows(n, stage, t))
        return gnn_fail(
            e, GNN_E_INPUT,
            "batch norm over several ranks requires batches that mark which rank counts each node: use gnn-sample --count-once");
    return 0;
}

int gnn_net_after(struct gnn_net *n, uint32_t stage, uint32_t t, const struct gnn_net_mode *mode,
                  struct gnn_err *e)
{
    struct gnn_activation *a = &net_act(n, stage, t)->after;
    if (gnn_activation_of_stage(&n->pass, a, stage, t, e))
        return e->code;
    a->drop = n->pass.m->stage[stage].drop && mode->train &&
              gnn_net_dropout(n, stage, t, mode->dropout, mode->seed, &a->q);
    return find_counted(n, stage, t, &a->count, e);
}

int gnn_net_open_conv(struct gnn_net *n, const struct gnn_conv *v, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    struct gnn_conv_run *c = net_run(n, v);
    c->x = c->features ? c->features->data : *net_made(n, v->from, v->src);
    c->own = *net_made(n, v->from, v->dst);
    c->count = net_act(n, v->stage, v->dst)->after.count;
    if (c->message) {
        struct gnn_buf *to = (c->layer->keeps && s->train) || c->gathered ? &c->sent : &s->messages;
        if (s->o->fit(s->o, to, (uint64_t)c->adj.nsrc * c->message, sizeof(float), "messages", e) ||
            c->layer->send(c, c->x, c->adj.nsrc, to->data, e))
            return e->code;
        c->messages = to->data;
    }
    return c->layer->open ? c->layer->open(c, e) : 0;
}

int gnn_net_conv_rows(struct gnn_net *n, const struct gnn_conv *v, float *out, bool fresh,
                      struct gnn_activation *after, struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(n, v);
    const float *own = *net_made(n, v->from, v->dst);
    const struct gnn_epilogue *ep = after ? gnn_activation_first(after) : NULL;
    EACH_CHUNK(from, to, c->adj.ndst, n->pass.o) {
        float *y = out + (size_t)from * c->w;
        c->own = own + (size_t)from * c->dd;
        if (c->layer->rows(c, from, to, y, !fresh, ep, e))
            return e->code;
        if (after)
            gnn_activation_rows(&n->pass, after, from, to, y);
    }
    return 0;
}

/* What a stage makes of type t. With several convolutions each is done for all rows before the
 * next, since the scratch of messages is shared; with one, a chunk goes through all steps at once.
 */
static int stage_type(struct gnn_net *n, uint32_t stage, uint32_t t,
                      const struct gnn_net_mode *mode, struct gnn_err *e)
{
    struct gnn_pass *s = &n->pass;
    const struct gnn_model *m = s->m;
    struct gnn_net_act *a = net_act(n, stage, t);
    const uint32_t rows = net_rows(n, stage, t);
    if (gnn_net_after(n, stage, t, mode, e) ||
        s->o->fit(s->o, &a->out, rows * (uint64_t)gnn_model_width(m, stage, t), sizeof(float),
                  "activations", e))
        return e->code;
    float *out = a->out.data;
    *net_made(n, stage, t) = out;
    bool fresh = true;
    EACH_CONV_INTO(v, m, stage, t) {
        /* Only the last one is followed by bias, norm and activation: then the sum is complete. */
        struct gnn_activation *after = gnn_conv_next(m, stage, t, v) ? NULL : &a->after;
        if (gnn_net_open_conv(n, v, e) || (after && gnn_activation_open(s, after, rows, e)) ||
            gnn_net_conv_rows(n, v, out, fresh, after, e))
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
                    struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    n->b = b;
    n->pass.p = params;
    n->pass.train = mode->train;
    n->pass.seed = mode->seed;
    n->pass.epoch = (uint32_t)b->epoch;
    n->pass.step = (uint32_t)b->step;
    n->drops_features = mode->train && mode->dropout_input > 0;
    if (check_ids(b, meta, mode, e) || gnn_net_blocks(n, meta, e))
        return e->code;
    /* Depends on how many edges the batch has. */
    gnn_net_choose_threads(n);
    if (gnn_net_inputs(n, mode, e))
        return e->code;
    for (uint32_t i = 1; i < m->nstages; i++)
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (gnn_model_live(m, i, t) && stage_type(n, i, t, mode, e))
                return e->code;
    if (m->c.decoder)
        return gnn_decoder_forward(n, meta, out, e);
    *out = net_act(n, m->nstages - 1, m->c.target)->out.data;
    return 0;
}

void gnn_net_track(struct gnn_net *n, float *params)
{
    const struct gnn_model *m = n->pass.m;
    for (size_t i = 0; i < (size_t)m->nstages * m->c.nntypes; i++)
        gnn_activation_track(&n->pass, &n->act[i].after, params);
    for (uint32_t i = 0; i < m->nconvs; i++)
        gnn_activation_track(&n->pass, &n->run[i].inside, params);
}
