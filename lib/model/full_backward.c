/* SPDX-License-Identifier: Apache-2.0 */
/* The backward pass over all partitions: step by step as the forward pass, the last stage first.
 * Each partition has its own gradients of the parameters; they are added up at the end. Of a
 * convolution, partitions that take turns do all up to the rounds in the turn of these, and all
 * that follows when gradients have come from all partitions. */
#include <string.h>

#include "lib/model/full_impl.h"

/* A convolution, and the gradient of its stage's rows. */
struct back_args {
    const struct gnn_conv *conv;
    uint32_t stage, type;
    uint64_t waits;  /* columns whose sums are awaited; 0: none */
    bool lacks_rows; /* rows_back, of the stage, is still to be done, */
    bool lacks_sums; /* and sums_back, of the convolution */
};

static float *grad_of(const struct full_part *p, const struct back_args *x)
{
    return net_dy(&p->net, x->stage, x->type)->data;
}

/* The sums that batch norm's gradients need, over all parts: x->waits columns. */
static int sum_gradients(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    struct back_args *x = arg;
    struct gnn_net_act *a = net_act(&p->net, x->stage, x->type);
    if (gnn_activation_waits(&p->net.pass, &a->after) &&
        gnn_full_need_rows(f, p, x->stage, x->type, true, e))
        return e->code;
    if (!gnn_activation_back_sums(&p->net.pass, &a->after, net_rows(&p->net, x->stage, x->type),
                                  a->out.data, grad_of(p, x), e) &&
        gnn_activation_waits(&p->net.pass, &a->after)) {
        x->waits = a->after.w;
        gnn_full_keep_sums(p, x->waits, 0);
    }
    return e->code;
}

static void use_sums(struct gnn_full *f, struct full_part *p, const struct gnn_activation *a)
{
    f->o->put(f->o, p->net.pass.sums.data, f->sum, 2 * a->w * sizeof(double));
    gnn_activation_back_stats(&p->net.pass, a);
}

/* What tables without edges work on. */
static int need_dense_inputs(struct gnn_full *f, struct full_part *p, const struct back_args *x,
                             struct gnn_err *e)
{
    EACH_CONV_INTO(v, f->m, x->stage, x->type)
        if (v->rel == GNN_ROWS && gnn_full_need_inputs(f, p, v, e))
            return e->code;
    return 0;
}

/* From the gradient of a stage's rows to that of the sums of its convolutions, and of their
 * parameters. */
static int rows_back(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct back_args *x = arg;
    const struct gnn_activation *a = &net_act(&p->net, x->stage, x->type)->after;
    if (gnn_full_need_rows(f, p, x->stage, x->type, true, e) || need_dense_inputs(f, p, x, e))
        return e->code;
    if (gnn_activation_waits(&p->net.pass, a))
        use_sums(f, p, a);
    const int rc = gnn_net_rows_back(&p->net, x->stage, x->type, grad_of(p, x), e);
    gnn_full_end_rows(f, p, x->stage, x->type);
    EACH_CONV_INTO(v, f->m, x->stage, x->type)
        gnn_full_end_sums(f, p, v, false);
    return rc;
}

static struct full_turn turn_of_rows(const struct back_args *x)
{
    return (struct full_turn){rows_back,
                              {.stage = x->stage,
                               .type = x->type,
                               .read = FULL_STAGE | FULL_OWN | FULL_FACTORS,
                               .change = FULL_GRAD | FULL_RUN | FULL_SUMS}};
}

/* Without batch norm, only scratch is made. */
static int open_stage(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    const struct gnn_activation *a = &net_act(&f->part[0].net, x->stage, x->type)->after;
    const bool waits = gnn_activation_waits(&f->part[0].net.pass, a);
    const struct full_turn sums = {sum_gradients,
                                   {.stage = x->stage,
                                    .type = x->type,
                                    .read = waits ? FULL_STAGE : 0,
                                    .change = waits ? FULL_GRAD : 0}};
    x->waits = 0;
    x->lacks_rows = true;
    const int rc = gnn_full_each(f, &sums, x, e);
    return rc || !x->waits ? rc : gnn_full_sum_numbers(f, 2 * x->waits + 1, e);
}

/* Where rows_back cannot be part of a turn with rounds. */
static int close_rows(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    const struct full_turn rows = turn_of_rows(x);
    const bool lacks = x->lacks_rows;
    x->lacks_rows = false;
    return lacks ? gnn_full_each(f, &rows, x, e) : 0;
}

static int spread_view(struct gnn_full *f, struct full_part *p, uint32_t c, float *to, void *arg,
                       struct gnn_err *e)
{
    const struct back_args *x = arg;
    struct gnn_conv_run *run = net_run(&p->net, x->conv);
    const bool acc = !c && !run->message && net_act(&p->net, x->conv->from, x->conv->src)->has_grad;
    gnn_full_enter(f, p);
    gnn_full_view(p, run, gnn_full_source(f, p->at, c), run->layer->fetches ? p->view : NULL);
    run->own = *net_made(&p->net, x->conv->from, x->conv->dst);
    (void)!run->layer->spread(run, grad_of(p, x), to, acc, e);
    gnn_full_leave(f, p);
    return e->code;
}

/* The same where the sources are features: only parameters get gradients. */
static int spread_nothing(struct gnn_full *f, struct full_part *p, uint32_t c, void *arg,
                          struct gnn_err *e)
{
    return spread_view(f, p, c, NULL, arg, e);
}

/* The gradients of the sources' rows. */
static int open_grad(const struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                     float **g, struct gnn_err *e)
{
    gnn_full_take_spare(f, p, &net_act(&p->net, v->from, v->src)->grad,
                        (uint64_t)net_rows(&p->net, v->from, v->src) *
                            gnn_model_width(f->m, v->from, v->src) * sizeof(float));
    return gnn_net_grad(&p->net, v->from, v->src, g, e);
}

/* Where the gradients of the rows that are sent are gathered. */
static int open_into(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                     struct gnn_err *e)
{
    const struct gnn_conv_run *c = net_run(&p->net, v);
    if (!c->message)
        return open_grad(f, p, v, &p->into, e);
    const uint64_t n = (uint64_t)net_rows(&p->net, v->from, v->src) * c->message;
    gnn_full_take_spare(f, p, &p->dmessages, n * sizeof(float));
    if (f->o->fit(f->o, &p->dmessages, n, sizeof(float), "gradients", e))
        return e->code;
    p->into = p->dmessages.data;
    return 0;
}

/* When these are complete: the gradients of the sources. */
static int send_back(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct gnn_conv *v = ((struct back_args *)arg)->conv;
    struct gnn_conv_run *c = net_run(&p->net, v);
    struct gnn_net_act *a = net_act(&p->net, v->from, v->src);
    float *g = NULL;
    gnn_full_view(p, c, p->at, c->sent.data);
    c->x = *net_made(&p->net, v->from, v->src);
    c->own = *net_made(&p->net, v->from, v->dst);
    if (c->message) {
        if ((c->inputs && open_grad(f, p, v, &g, e)) ||
            c->layer->send_back(c, p->dmessages.data, g, a->has_grad, e))
            return e->code;
        gnn_full_give_spare(f, p, &p->dmessages);
    }
    a->has_grad = a->has_grad || c->inputs;
    return 0;
}

/* From the results of a convolution to what it has gathered: its hidden rows, if it has some,
 * together on all parts. */
static int sum_hidden(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    struct back_args *x = arg;
    struct gnn_conv_run *c = net_run(&p->net, x->conv);
    float *h, *dh;
    (void)f;
    c->layer->hidden_at(c, &h, &dh);
    if (!gnn_activation_back_sums(&p->net.pass, &c->inside, c->adj.ndst, h, dh, e) &&
        gnn_activation_waits(&p->net.pass, &c->inside)) {
        x->waits = c->inside.w;
        gnn_full_keep_sums(p, x->waits, 0);
    }
    return e->code;
}

static int sums_back(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct back_args *x = arg;
    struct gnn_conv_run *c = net_run(&p->net, x->conv);
    c->own = *net_made(&p->net, x->conv->from, x->conv->dst);
    c->out = net_act(&p->net, x->stage, x->type)->out.data;
    if (x->waits)
        use_sums(f, p, &c->inside);
    return c->layer->sums_back(c, grad_of(p, x), e);
}

static struct full_turn turn_of_sums(const struct back_args *x)
{
    return (struct full_turn){sums_back,
                              {x->conv, x->stage, x->type, .read = FULL_FROM | FULL_GRAD,
                               .change = FULL_RUN | FULL_SUMS}};
}

static int run_hidden_back(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    const struct full_turn hidden = {
        sum_hidden, {x->conv, x->stage, x->type, .read = FULL_SUMS, .change = FULL_RUN}};
    const int rc = gnn_full_each(f, &hidden, x, e);
    return rc || !x->waits ? rc : gnn_full_sum_numbers(f, 2 * x->waits + 1, e);
}

static int close_sums(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    const struct full_turn sums = turn_of_sums(x);
    const bool lacks = x->lacks_sums;
    x->lacks_sums = false;
    return lacks ? gnn_full_each(f, &sums, x, e) : 0;
}

/* Before the rounds of a convolution. */
static int begin_edges(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct back_args *x = arg;
    const struct gnn_conv_run *c = net_run(&p->net, x->conv);
    if ((x->lacks_rows && rows_back(f, p, arg, e)) || gnn_full_need_inputs(f, p, x->conv, e) ||
        (x->lacks_sums && sums_back(f, p, arg, e)) || gnn_full_need_sent(f, p, x->conv, e))
        return e->code;
    return c->inputs || c->message ? open_into(f, p, x->conv, e) : 0;
}

/* When rounds are over. */
static int drop_sent(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct gnn_conv *v = ((struct back_args *)arg)->conv;
    (void)e;
    if (v->layer->fetches)
        gnn_full_give_spare(f, p, &net_run(&p->net, v)->sent);
    return 0;
}

/* When all gradients have come. */
static int end_edges(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct back_args *x = arg;
    if (send_back(f, p, arg, e) || gnn_net_own_back(&p->net, x->conv, grad_of(p, x), e))
        return e->code;
    gnn_full_end_sums(f, p, x->conv, true);
    return 0;
}

static struct full_turn turn_of_begin(const struct back_args *x)
{
    const struct full_want rows = turn_of_rows(x).want, sums = turn_of_sums(x).want;
    struct full_turn t = {begin_edges, {x->lacks_rows ? NULL : x->conv, x->stage, x->type, 0, 0}};
    if (x->lacks_rows) {
        t.want.read |= rows.read;
        t.want.change |= rows.change;
    }
    if (x->lacks_sums) {
        t.want.read |= sums.read;
        t.want.change |= sums.change;
    }
    return t;
}

/* Along the edges of a convolution, from the destinations to the sources. */
static int edges_back(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    const struct gnn_conv *v = x->conv;
    const struct gnn_conv_run *c = net_run(&f->part[0].net, v);
    const bool fetches = c->layer->fetches, wanted = c->inputs || c->message;
    const unsigned into = !wanted      ? 0
                          : c->message ? FULL_MESSAGES
                                       : FULL_FROM_GRAD,
                   own = c->inputs && c->layer->own ? FULL_GRAD | FULL_SUMS : 0;
    const struct full_flow flow = {
        .r = v->rel,
        .d = c->message ? c->message : c->ds,
        .conv = v,
        .of = v,
        .table = FULL_TABLE,
        .read = FULL_GRAD | FULL_SUMS | FULL_EDGES | FULL_BACK |
                (fetches ? FULL_TABLE | FULL_FROM | FULL_SENT : 0),
        .change = FULL_RUN | into,
        .keep = gnn_full_keeps(f, v),
        .kept = gnn_full_keeps(f, v),
        .first = turn_of_begin(x),
        .over = drop_sent,
        .last = {end_edges,
                 {v, x->stage, x->type,
                  .read = FULL_FROM | FULL_FACTORS | (fetches ? 0 : FULL_SENT) | FULL_RUN | own,
                  .change = FULL_FROM_GRAD | into}}};
    const int rc = wanted ? gnn_full_push(f, &flow, fetches, spread_view, x, e)
                          : gnn_full_fetch(f, &flow, spread_nothing, x, e);
    x->lacks_rows = x->lacks_sums = false;
    return rc;
}

static int relation_back(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    const struct gnn_conv_run *c = net_run(&f->part[0].net, x->conv);
    const bool edges = c->inputs || c->message || c->layer->fetches;
    x->waits = 0;
    x->lacks_sums = c->layer->sums_back;
    /* The gradients of hidden rows are summed over all partitions first. */
    if ((!edges || c->layer->hidden) && close_rows(f, x, e))
        return e->code;
    if (c->layer->hidden && run_hidden_back(f, x, e))
        return e->code;
    return edges ? edges_back(f, x, e) : close_sums(f, x, e);
}

/* Convolutions without edges, of one partition after the other: those of a stage may hand on what
 * lies in scratch memory. */
static int dense_back(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct back_args *x = arg;
    EACH_CONV_INTO(v, f->m, x->stage, x->type)
        if (v->rel == GNN_ROWS && gnn_net_own_back(&p->net, v, grad_of(p, x), e))
            return e->code;
    return 0;
}

static bool has_dense(const struct gnn_full *f, const struct back_args *x)
{
    EACH_CONV_INTO(v, f->m, x->stage, x->type)
        if (v->rel == GNN_ROWS)
            return true;
    return false;
}

/* Stage x->stage, as far as it makes rows of type x->type. */
static int type_back(struct gnn_full *f, struct back_args *x, struct gnn_err *e)
{
    if (!net_act(&f->part[0].net, x->stage, x->type)->has_grad)
        return 0;
    int rc = open_stage(f, x, e);
    /* As in lib/model/backward.c, those without edges last. */
    EACH_CONV_INTO(v, f->m, x->stage, x->type) {
        x->conv = v;
        if (!rc && v->rel != GNN_ROWS)
            rc = relation_back(f, x, e);
    }
    if (!rc)
        rc = close_rows(f, x, e);
    const struct full_turn dense = {
        dense_back,
        {.stage = x->stage,
         .type = x->type,
         .read = FULL_GRAD | FULL_FROM | FULL_STAGE | FULL_RUN | FULL_SUMS | FULL_SENT,
         .change = FULL_FROM_GRAD}};
    return rc || !has_dense(f, x) ? rc : gnn_full_each(f, &dense, x, e);
}

/* The gradients of a stage's rows are needed no more: those of an earlier stage take their place.
 */
static void reuse_gradients(struct gnn_full *f, uint32_t stage)
{
    const uint32_t nt = f->m->c.nntypes;
    for (uint32_t i = 0; i < f->n; i++)
        for (uint32_t t = 0; t < nt; t++)
            gnn_full_give_spare(f, &f->part[i], &net_act(&f->part[i].net, stage, t)->grad);
}

int gnn_full_run_backward(struct gnn_full *f, struct gnn_err *e)
{
    const struct gnn_model *m = f->m;
    for (uint32_t i = 0; i < f->n; i++)
        gnn_net_open_back(&f->part[i].net);
    for (uint32_t i = m->nstages; i-- > 1;) {
        gnn_full_set_level(f, m->stage[i].level);
        for (uint32_t t = 0; t < m->c.nntypes; t++) {
            struct back_args x = {.stage = i, .type = t};
            const int rc = type_back(f, &x, e);
            if (rc)
                return rc;
        }
        reuse_gradients(f, i);
    }
    return gnn_full_sum_gradients(f, e);
}
