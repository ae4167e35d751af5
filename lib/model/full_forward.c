/* SPDX-License-Identifier: Apache-2.0 */
/* The forward pass over all parts. All parts do a step of a stage before the next step begins:
 * messages, rounds, rows, and with batch norm, whose statistics are those of all parts, the rest.
 * Parts that take turns make messages and pack them in one turn, and rounds and rows in another. */
#include <string.h>

#include "lib/model/full_impl.h"
#include "lib/model/row_source.h"

struct stage_args {
    const struct gnn_conv *conv;
    uint32_t stage, type;
    const struct gnn_net_mode *mode;
    uint64_t waits;  /* columns whose statistics are awaited; 0: none */
    bool makes_rows; /* after the rounds of `conv` nothing is lacking to make the stage's rows */
    bool made;       /* that has been done */
};

static struct gnn_net_act *act_of(struct full_part *p, const struct stage_args *x)
{
    return net_act(&p->net, x->stage, x->type);
}

/* Rows are finished with the statistics of all parts, which are in f->sum. */
static void full_finish(struct gnn_full *f, struct full_part *p, struct gnn_activation *a,
                        uint32_t rows, float *y)
{
    f->o->put(f->o, p->net.pass.sums.data, f->sum, 2 * a->w * sizeof(double));
    a->rows = f->sum[2 * a->w];
    gnn_activation_finish(&p->net.pass, a, rows, y);
}

/* Whether rows are multiplied before they are sent is decided for the whole graph, so that all
 * partitions decide alike. */
static void choose_messages(const struct gnn_full *f, struct gnn_conv_run *c)
{
    const struct gnn_schema *s = &f->s->meta.schema;
    const struct gnn_adj keep = c->adj;
    c->adj.ndst = (uint32_t)s->ntype[c->conv->dst].count;
    c->adj.nsrc = (uint32_t)s->ntype[c->conv->src].count;
    c->adj.edges = s->etype[c->conv->rel].count;
    if (f->levels) {
        const uint64_t *rows = f->level_rows + (size_t)(f->level - 1) * f->m->c.nntypes;
        c->adj.ndst = (uint32_t)rows[f->m->c.nntypes + c->conv->dst];
        c->adj.nsrc = (uint32_t)rows[c->conv->src];
        c->adj.edges = f->level_edges[(size_t)(f->level - 1) * f->m->c.netypes + c->conv->rel];
    }
    c->message = c->layer->messages ? c->layer->messages(c) : 0;
    c->adj = keep;
}

/* Before a convolution is opened. */
static void init_conv(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v)
{
    struct gnn_conv_run *c = net_run(&p->net, v);
    gnn_conv_run_init(c, &p->net.pass, v);
    c->lead = net_run(&p->net, gnn_conv_lead(f->m, v));
    c->adj.ndst = c->most = net_rows(&p->net, v->stage, v->dst);
    c->adj.nsrc = net_rows(&p->net, v->from, v->src);
    c->adj.edges = 0;
    c->message = 0;
    c->gathered = v->rel != GNN_ROWS;
    if (c->gathered)
        choose_messages(f, c);
}

static int open_conv(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct gnn_conv *v = ((struct stage_args *)arg)->conv;
    struct gnn_conv_run *c = net_run(&p->net, v);
    gnn_full_view(p, c, p->at, NULL);
    gnn_full_take_spare(f, p, &c->sent, (uint64_t)c->adj.nsrc * c->message * sizeof(float));
    if (v->layer->again)
        gnn_full_take_spare(f, p, &c->kept[0], (uint64_t)c->adj.ndst * c->message * sizeof(float));
    if (gnn_net_open_conv(&p->net, v, e))
        return e->code;
    p->table = gnn_full_own_rows(c);
    gnn_full_drop_rows(f, p, v, true);
    return 0;
}

static int gather_view(struct gnn_full *f, struct full_part *p, uint32_t c, void *arg,
                       struct gnn_err *e)
{
    const struct gnn_conv *v = ((struct stage_args *)arg)->conv;
    struct gnn_conv_run *run = net_run(&p->net, v);
    gnn_full_enter(f, p);
    gnn_full_view(p, run, gnn_full_source(f, p->at, c), p->view);
    p->net.pass.edges += run->adj.edges;
    (void)!run->layer->gather(run, c == 0, e);
    gnn_full_leave(f, p);
    return e->code;
}

/* Hidden rows inside of a convolution, and their norm over all parts: x->waits is its width. */
static int make_hidden(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    struct stage_args *x = arg;
    struct gnn_conv_run *c = net_run(&p->net, x->conv);
    (void)f;
    c->own = *net_made(&p->net, x->conv->from, x->conv->dst);
    if (!c->layer->hidden(c, e) && gnn_activation_waits(&p->net.pass, &c->inside)) {
        x->waits = c->inside.w;
        gnn_full_keep_sums(p, x->waits, c->adj.ndst);
    }
    return e->code;
}

static int finish_hidden(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(&p->net, ((struct stage_args *)arg)->conv);
    float *h, *dh;
    (void)e;
    c->layer->hidden_at(c, &h, &dh);
    full_finish(f, p, &c->inside, c->adj.ndst, h);
    return 0;
}

static int run_hidden(struct gnn_full *f, struct stage_args *x, struct gnn_err *e)
{
    const struct full_turn make = {make_hidden,
                                   {x->conv, .read = FULL_FROM | FULL_SENT,
                                    .change = FULL_RUN | FULL_SUMS}},
                           finish = {finish_hidden, {x->conv, .change = FULL_RUN}};
    x->waits = 0;
    int rc = gnn_full_each(f, &make, x, e);
    if (rc || !x->waits)
        return rc;
    rc = gnn_full_sum_numbers(f, 2 * x->waits + 1, e);
    return rc ? rc : gnn_full_each(f, &finish, x, e);
}

/* Whether a convolution that aggregates features finds what it gathered before. With dropout they
 * are others each time, and so are the rows of a sample. */
static bool has_gathered(struct gnn_full *f, const struct gnn_conv_run *c,
                         const struct gnn_net_mode *mode)
{
    bool *has = &f->constant_sums[c->conv - f->m->conv];
    const bool had = *has;
    *has = c->layer->constant_sums && !c->message && c->conv->from == 0 &&
           !(mode->train && (mode->dropout_input > 0 || f->keep32));
    return *has && had;
}

/* The norm's rows, which a backward pass has given away. */
static void open_norm(const struct gnn_full *f, struct full_part *p, struct gnn_activation *a,
                      uint32_t rows)
{
    if (a->norm != GNN_NONE && f->pass.train && !a->lean)
        gnn_full_take_spare(f, p, &a->xhat, rows * a->w * sizeof(float));
}

/* The rows of a partition, up to batch norm. */
static int make_rows(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct stage_args *x = arg;
    struct gnn_net *n = &p->net;
    const struct gnn_model *m = f->m;
    struct gnn_net_act *a = act_of(p, x);
    const uint32_t rows = net_rows(n, x->stage, x->type);
    bool fresh = true;
    gnn_full_begin_rows(f, p, x->stage, x->type);
    if (gnn_net_after(n, x->stage, x->type, x->mode, e))
        return e->code;
    gnn_full_take_spare(f, p, &a->out, (uint64_t)rows * a->after.w * sizeof(float));
    if (f->o->fit(f->o, &a->out, rows * (uint64_t)a->after.w, sizeof(float), "activations", e))
        return e->code;
    *net_made(n, x->stage, x->type) = a->out.data;
    open_norm(f, p, &a->after, rows);
    EACH_CONV_INTO(v, m, x->stage, x->type)
        if (v->rel == GNN_ROWS) {
            init_conv(f, p, v);
            if (gnn_net_open_conv(n, v, e))
                return e->code;
        }
    EACH_CONV_INTO(v, m, x->stage, x->type) {
        struct gnn_activation *after = gnn_conv_next(m, x->stage, x->type, v) ? NULL : &a->after;
        if ((after && gnn_activation_open(&n->pass, after, rows, e)) ||
            gnn_net_conv_rows(n, v, a->out.data, fresh, after, e))
            return e->code;
        fresh = false;
        if (gnn_full_drops_sent(f, v))
            gnn_full_give_spare(f, p, &net_run(n, v)->sent);
        gnn_full_drop_rows(f, p, v, false);
        if (!x->mode->train)
            gnn_full_end_sums(f, p, v, true);
    }
    if (gnn_activation_waits(&n->pass, &a->after))
        gnn_full_keep_sums(p, a->after.w, rows);
    return 0;
}

/* All rounds are over: the sources are the own rows again. */
static int close_rounds(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct stage_args *x = arg;
    struct gnn_conv_run *c = net_run(&p->net, x->conv);
    c->x = *net_made(&p->net, x->conv->from, x->conv->src);
    gnn_full_view(p, c, p->at, gnn_full_own_rows(c));
    return x->makes_rows ? make_rows(f, p, arg, e) : 0;
}

static struct full_turn turn_of_rows(const struct stage_args *x)
{
    return (struct full_turn){make_rows,
                              {.stage = x->stage,
                               .type = x->type,
                               .read = FULL_OWN | FULL_FACTORS | FULL_SENT,
                               .change = FULL_RUN | FULL_SUMS | FULL_STAGE}};
}

/* The neighbours' part of a convolution. */
static int gather_conv(struct gnn_full *f, struct stage_args *x, struct gnn_err *e)
{
    const struct gnn_conv *v = x->conv;
    for (uint32_t i = 0; i < f->n; i++)
        init_conv(f, &f->part[i], v);
    const struct gnn_conv_run *c = net_run(&f->part[0].net, v);
    const struct full_turn open = {
        open_conv, {v, .read = FULL_FROM | FULL_FACTORS, .change = FULL_RUN | FULL_SENT}};
    struct full_flow flow = {.r = v->rel,
                             .d = c->message ? c->message : c->ds,
                             .conv = v,
                             .of = v,
                             .table = FULL_TABLE,
                             .read = FULL_TABLE | FULL_EDGES | FULL_SENT,
                             .change = FULL_RUN | FULL_SUMS,
                             .keep = gnn_full_keeps(f, v) && x->mode->train,
                             .first = open,
                             .last = {close_rounds, {0}}};
    if (has_gathered(f, c, x->mode))
        return gnn_full_each(f, &open, x, e);
    const bool hides = x->mode->train && c->layer->hidden;
    flow.once = f->constant_sums[v - f->m->conv];
    x->makes_rows = x->made = x->makes_rows && !hides;
    if (x->makes_rows)
        flow.last.want = turn_of_rows(x).want;
    const int rc = gnn_full_fetch(f, &flow, gather_view, x, e);
    return !rc && hides ? run_hidden(f, x, e) : rc;
}

/* The rows are finished with the statistics of all parts. */
static int finish_rows(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct stage_args *x = arg;
    struct gnn_net_act *a = act_of(p, x);
    (void)e;
    full_finish(f, p, &a->after, net_rows(&p->net, x->stage, x->type), a->out.data);
    return 0;
}

static int make_stage(struct gnn_full *f, struct stage_args *x, struct gnn_err *e)
{
    const struct gnn_conv *last = NULL;
    int rc = 0;
    EACH_CONV_INTO(v, f->m, x->stage, x->type)
        last = v->rel != GNN_ROWS ? v : last;
    EACH_CONV_INTO(v, f->m, x->stage, x->type) {
        x->conv = v;
        x->makes_rows = v == last;
        if (!rc && v->rel != GNN_ROWS)
            rc = gather_conv(f, x, e);
    }
    const struct full_turn make = turn_of_rows(x),
                           finish = {finish_rows,
                                     {.stage = x->stage, .type = x->type, .change = FULL_STAGE}};
    if (!rc && !x->made)
        rc = gnn_full_each(f, &make, x, e);
    if (rc || !gnn_activation_waits(&f->part[0].net.pass, &act_of(&f->part[0], x)->after))
        return rc;
    rc = gnn_full_sum_numbers(f, 2 * gnn_model_width(f->m, x->stage, x->type) + 1, e);
    return rc ? rc : gnn_full_each(f, &finish, x, e);
}

/* Rows of `bytes` of all nodes of a part, or of those that are needed. */
static int bring_rows(struct gnn_full *f, struct full_part *p, uint32_t t, const void *rows,
                      uint64_t n, uint64_t bytes, struct full_table *to, struct gnn_err *e)
{
    if (!p->order || !p->order[t].data)
        to->data = (void *)gnn_full_bring(f, &to->there, rows, n * bytes, "features", e);
    else if (!gnn_full_needed_rows(f, p, t, rows, bytes, to, e))
        (void)!gnn_full_table_put(f, to, e);
    return e->code;
}

/* The store's features, where the operations are; brought there once. */
static int bring_features(struct gnn_full *f, struct full_part *p, uint32_t t,
                          const struct gnn_tensor *x, struct gnn_err *e)
{
    uint64_t bytes;
    if (p->features[t].data || !gnn_tensor_bytes(x, &bytes) || !bytes)
        return 0;
    const uint64_t n = x->shape[0];
    return bring_rows(f, p, t, x->data, n, bytes / n, &p->features[t], e);
}

static int make_input(struct gnn_full *f, struct full_part *p, uint32_t t,
                      const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_tensor *x;
    if (gnn_rows_of_part(f->m, f->s, p->at, t, &x, e))
        return e->code;
    if (!x || bring_features(f, p, t, x, e))
        return x ? e->code : gnn_net_input(&p->net, t, NULL, mode, e);
    struct gnn_tensor there = *x;
    there.shape[0] = net_rows(&p->net, 0, t);
    there.data = p->features[t].data;
    return gnn_net_input(&p->net, t, &there, mode, e);
}

static int make_inputs(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    for (uint32_t t = 0; t < f->m->c.nntypes; t++)
        if (gnn_model_live(f->m, 0, t) && make_input(f, p, t, arg, e))
            return e->code;
    return 0;
}

int gnn_full_run_forward(struct gnn_full *f, const struct gnn_net_mode *mode, struct gnn_err *e)
{
    struct gnn_net_mode now = *mode;
    const int first = gnn_full_each(f, &(const struct full_turn){make_inputs, {0}}, &now, e);
    if (first)
        return first;
    for (uint32_t i = 1; i < f->m->nstages; i++)
        for (uint32_t t = 0; t < f->m->c.nntypes; t++) {
            struct stage_args x = {.stage = i, .type = t, .mode = mode};
            gnn_full_set_level(f, f->m->stage[i].level);
            const int rc = gnn_model_live(f->m, i, t) ? make_stage(f, &x, e) : 0;
            if (rc)
                return rc;
        }
    return 0;
}
