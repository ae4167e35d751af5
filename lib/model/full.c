/* SPDX-License-Identifier: Apache-2.0 */
/* Full batches: what is made once, and a batch's seeds among the rows of the parts. */
#include "lib/model/full.h"

#include <string.h>

#include "lib/model/full_impl.h"

static int make_wires(struct gnn_full *f, struct gnn_err *e)
{
    const uint32_t n = f->depth + 1;
    if (!(f->rows = gnn_alloc_zero(n, sizeof *f->rows, "messages", e)))
        return e->code;
    for (uint32_t i = 0; i < n + FULL_WIRES; i++)
        if (gnn_full_wire_init(f, i < n ? &f->rows[i] : &f->grads[i - n], 1 + i, e))
            return e->code;
    if (gnn_full_wire_init(f, &f->slices, 1 + n + FULL_WIRES, e))
        return e->code;
    return gnn_exchange_init(&f->sums, f->comm, gnn_comm_tag(GNN_COMM_PARTS, 0), e);
}

/* Every layer has to be able to work part by part, and on a sample without bias. */
static int check_layers(const struct gnn_model *m, const struct gnn_full_opts *opts,
                        struct gnn_err *e)
{
    EACH_CONV(v, m) {
        if (!v->needed || v->rel == GNN_ROWS)
            continue;
        if (!v->layer->gather)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s with these options cannot be trained with --full-batch",
                            m->c.layer->name);
        if (opts->boundary > 0 && !v->layer->linear)
            return gnn_fail(e, GNN_E_USAGE,
                            "--boundary requires layers that compute sums or means of neighbours: "
                            "with these options, a sample would bias %s",
                            m->c.layer->name);
    }
    return 0;
}

static struct gnn_full *make_full(const struct gnn_model *m, struct gnn_store *s,
                                  const struct gnn_full_opts *opts, bool forward, struct gnn_err *e)
{
    const struct gnn_ops *o = opts->ops;
    struct gnn_full *f = gnn_alloc_zero(1, sizeof *f, "parts", e);
    if (!f)
        return NULL;
    f->m = m;
    f->s = s;
    f->o = o;
    f->comm = s->comm;
    f->k = s->nparts;
    f->first = s->from;
    f->n = s->to - s->from;
    f->opts = *opts;
    gnn_full_fit_exactly(f);
    if (gnn_full_limit(f, opts, e)) {
        gnn_free(f);
        return NULL;
    }
    gnn_full_sample_init(f, opts->boundary);
    f->depth = opts->remote == GNN_FULL_ALL || opts->depth >= f->k ? f->k - 1 : opts->depth;
    if (f->depth > FULL_DEPTH_MAX)
        f->depth = FULL_DEPTH_MAX;
    if (!f->depth)
        f->depth = 1;
    f->pass.m = m;
    f->pass.o = f->o;
    f->forward = forward;
    f->part = gnn_alloc_zero(f->n, sizeof *f->part, "parts", e);
    f->constant_sums = gnn_alloc_zero(m->nconvs, sizeof *f->constant_sums, "parts", e);
    for (uint32_t i = 0; !e->code && i < f->n; i++)
        f->part[i].at = f->first + i;
    if (!e->code && opts->needed_only)
        (void)!gnn_full_needed_find(f, opts->set, opts->nsets, e);
    for (uint32_t i = 0; !e->code && i < f->n; i++)
        (void)!gnn_full_part_make(f, &f->part[i], e);
    if (e->code || make_wires(f, e) ||
        o->fit(o, &f->grad, m->nfloats, sizeof(float), "gradients", e) ||
        gnn_full_blocks_make(f, e)) {
        gnn_full_free(f);
        return NULL;
    }
    gnn_full_needed_free(f);
    gnn_store_forget_all(s);               /* its edges are not read again */
    f->stats = (struct gnn_full_stats){0}; /* factors have been fetched */
    return f;
}

struct gnn_full *gnn_full_new(const struct gnn_model *m, struct gnn_store *s,
                              const struct gnn_full_opts *opts, struct gnn_err *e)
{
    struct gnn_full_opts of = *opts;
    if (check_layers(m, opts, e))
        return NULL;
    of.nsets = 1;
    struct gnn_full *f = make_full(m, s, &of, false, e);
    if (!f || !opts->needed_only || opts->nsets < 2)
        return f;
    of.set++;
    of.nsets = opts->nsets - 1;
    if (!(f->eval = make_full(m, s, &of, true, e))) {
        gnn_full_free(f);
        return NULL;
    }
    return f;
}

void gnn_full_free(struct gnn_full *f)
{
    if (!f)
        return;
    gnn_full_free(f->eval);
    gnn_full_needed_free(f);
    for (uint32_t i = 0; f->part && i < f->n; i++)
        gnn_full_part_free(f, &f->part[i]);
    for (uint32_t i = 0; f->rows && i <= f->depth; i++)
        gnn_full_wire_free(f, &f->rows[i]);
    for (uint32_t i = 0; i < FULL_WIRES; i++)
        gnn_full_wire_free(f, &f->grads[i]);
    gnn_full_wire_free(f, &f->slices);
    gnn_free(f->rows);
    for (uint64_t i = 0; i < f->nidle; i++)
        gnn_buf_release(&((struct gnn_buf *)f->idle.data)[i]);
    gnn_buf_release(&f->idle);
    gnn_exchange_release(&f->sums);
    gnn_pass_release(&f->pass);
    f->o->release(f->o, &f->grad);
    f->o->release(f->o, &f->out);
    f->o->release_host(f->o, &f->total);
    f->o->release_host(f->o, &f->share);
    f->o->release_host(f->o, &f->nodes);
    f->o->release(f->o, &f->packed);
    f->o->release_host(f->o, &f->draws);
    gnn_free(f->top);
    gnn_free(f->level_rows);
    gnn_free(f->level_edges);
    gnn_free(f->constant_sums);
    gnn_free(f->part);
    gnn_swap_free(f->swap);
    gnn_free(f);
}

/* ---- the batch ---- */

/* The batch's seeds in the host's memory. */
static const uint32_t *fetch_seeds(struct gnn_full *f, const struct gnn_batch *b, uint32_t n,
                                   struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const uint32_t *node = b->type[f->m->c.target].node;
    if (!o->async)
        return node;
    if (o->fit_host(o, &f->nodes, (uint64_t)n + 1, sizeof *node, "seeds", e))
        return NULL;
    if (n)
        o->fetch(o, f->nodes.data, node, n * sizeof *node);
    o->mark(o, GNN_OPS_MARK_NET);
    return o->wait(o, GNN_OPS_MARK_NET, e) ? NULL : f->nodes.data;
}

/* Which rows of part p the batch's seeds are. */
static int find_seeds(struct gnn_full *f, struct full_part *p, const uint32_t *node, uint32_t n,
                      struct gnn_err *e)
{
    const uint64_t *book = f->s->book[f->m->c.target], lo = book[p->at], hi = book[p->at + 1];
    uint32_t at = 0;
    p->nseeds = 0;
    for (uint32_t j = 0; j < n; j++)
        p->nseeds += node[j] >= lo && node[j] < hi;
    if (gnn_full_table_make(&p->seed, p->nseeds, sizeof(uint32_t), "seeds", e) ||
        gnn_full_table_make(&p->place, p->nseeds, sizeof(uint32_t), "seeds", e))
        return e->code;
    for (uint32_t j = 0; j < n; j++) {
        if (node[j] < lo || node[j] >= hi)
            continue;
        uint64_t row = node[j] - lo;
        if (f->levels && gnn_full_needed_seed(f, p, &row, e))
            return e->code;
        ((uint32_t *)p->seed.data)[at] = (uint32_t)row;
        ((uint32_t *)p->place.data)[at++] = j;
    }
    if (gnn_full_table_put(f, &p->seed, e) || gnn_full_table_put(f, &p->place, e))
        return e->code;
    return f->o->fit(f->o, &p->rows, (uint64_t)p->nseeds * f->m->c.outputs, sizeof(float),
                     "outputs", e);
}

static int find_all_seeds(struct gnn_full *f, const struct gnn_batch *b, uint32_t n,
                          struct gnn_err *e)
{
    const uint32_t *node = fetch_seeds(f, b, n, e);
    for (uint32_t i = 0; !e->code && i < f->n; i++)
        (void)!find_seeds(f, &f->part[i], node, n, e);
    return e->code;
}

static float *outputs_of(struct gnn_full *f, struct full_part *p)
{
    return net_act(&p->net, f->m->nstages - 1, f->m->c.target)->out.data;
}

static int take_of_part(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const uint32_t w = f->m->c.outputs;
    (void)arg, (void)e;
    f->o->take_rows(f->o, outputs_of(f, p), p->seed.data, p->nseeds, w, p->rows.data);
    f->o->add_rows(f->o, p->rows.data, p->place.data, p->nseeds, w, f->out.data);
    return 0;
}

/* The outputs of the seeds, in the batch's order. */
static int take_outputs(struct gnn_full *f, uint32_t n, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const uint32_t w = f->m->c.outputs;
    if (o->fit(o, &f->out, (uint64_t)n * w, sizeof(float), "outputs", e))
        return e->code;
    o->zero(o, f->out.data, (uint64_t)n * w * sizeof(float));
    const struct full_turn take = {
        take_of_part, {.stage = f->m->nstages - 1, .type = f->m->c.target, .read = FULL_GRAD}};
    return gnn_full_each(f, &take, NULL, e);
}

static void begin_pass(struct gnn_full *f, const float *params, const struct gnn_batch *b,
                       const struct gnn_net_mode *mode)
{
    f->pass.p = params;
    f->pass.train = mode->train;
    f->pass.seed = mode->seed;
    f->pass.epoch = (uint32_t)b->epoch;
    f->pass.step = (uint32_t)b->step;
    for (uint32_t i = 0; i < f->n; i++) {
        f->part[i].batch.epoch = b->epoch;
        f->part[i].batch.step = b->step;
        gnn_full_enter(f, &f->part[i]);
        gnn_full_leave(f, &f->part[i]);
    }
}

/* again: the pass has been made. */
static int make_pass(struct gnn_full *f, const struct gnn_batch *b, const struct gnn_net_mode *mode,
                     bool again, struct gnn_err *e)
{
    const uint32_t n = (uint32_t)b->type[f->m->c.target].count[0];
    if (!again)
        gnn_full_forget_pass(f);
    if (!again && gnn_full_run_forward(f, mode, e))
        return e->code;
    return find_all_seeds(f, b, n, e) || take_outputs(f, n, e) ? e->code : 0;
}

/* The gradients of the seeds' outputs, in place of all outputs. */
static int put_of_part(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct gnn_ops *o = f->o;
    const uint32_t w = f->m->c.outputs;
    const uint64_t rows = net_rows(&p->net, f->m->nstages - 1, f->m->c.target);
    (void)arg, (void)e;
    o->zero(o, outputs_of(f, p), rows * w * sizeof(float));
    o->take_rows(o, f->out.data, p->place.data, p->nseeds, w, p->rows.data);
    o->add_rows(o, p->rows.data, p->seed.data, p->nseeds, w, outputs_of(f, p));
    return 0;
}

static int make_gradients(struct gnn_full *f, struct gnn_err *e)
{
    const struct full_turn put = {
        put_of_part, {.stage = f->m->nstages - 1, .type = f->m->c.target, .change = FULL_GRAD}};
    const int rc = gnn_full_each(f, &put, NULL, e);
    return rc ? rc : gnn_full_run_backward(f, e);
}

/* ---- before the first pass, with a limit of memory ---- */

/* What oneDNN generates for products is there then. */
static int make_products(const struct gnn_ops *ops, struct gnn_err *e)
{
    enum { WIDE = 48 };
    static const float x[WIDE * WIDE];
    float y[WIDE * WIDE];
    for (unsigned i = 0; i < 3; i++) {
        const struct gnn_product p = {
            .ta = i == 1, .tb = i == 2, .m = WIDE, .n = WIDE, .k = WIDE, .a = x, .b = x, .c = y};
        if (ops->gemm(ops, &p, e))
            return e->code;
    }
    return 0;
}

static int make_all_passes(struct gnn_full *f, const float *params, const struct gnn_batch *b,
                           const struct gnn_net_mode *step, struct gnn_err *e)
{
    const struct gnn_net_mode eval = {.seed = step->seed};
    if (make_pass(f, b, step, false, e) || make_gradients(f, e))
        return e->code;
    begin_pass(f, params, b, &eval);
    return make_pass(f, b, &eval, false, e);
}

/* A step and an evaluation in which nothing is computed, and rows get no memory: they tell which
 * limit is enough. Nothing of them is left but buffers without contents. */
static int rehearse_step(struct gnn_full *f, const float *params, const struct gnn_batch *b,
                         const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_ops computing = f->turns;
    const struct gnn_full_stats stats = f->stats;
    const struct gnn_net_mode plain = {.train = true, .seed = mode->seed},
                              *step = mode->train ? mode : &plain;
    const uint64_t flops = f->pass.flops, edges = f->pass.edges;
    begin_pass(f, params, b, step);
    if (make_products(&computing, e) || gnn_full_sample_draw(f, e))
        return e->code;
    f->rehearsed = true;
    gnn_swap_rehearse(f->swap);
    gnn_ops_idle(&f->turns);
    const int rc = make_all_passes(f, params, b, step, e);
    f->turns = computing;
    memset(f->constant_sums, 0, f->m->nconvs * sizeof *f->constant_sums);
    gnn_full_forget_pass(f);
    f->stats = stats;
    f->pass.flops = flops;
    f->pass.edges = edges;
    f->backward = false;
    return rc ? rc : gnn_swap_begin(f->swap, e);
}

int gnn_full_forward(struct gnn_full *f, const float *params, const struct gnn_batch *b,
                     const struct gnn_net_mode *mode, float **out, struct gnn_err *e)
{
    if (f->eval && !mode->train) {
        f->eval->evaluated = f->evaluated;
        f->evaluated = true;
        return gnn_full_forward(f->eval, params, b, mode, out, e);
    }
    const bool again = f->evaluated && !mode->train;
    if (f->swap && !f->rehearsed && rehearse_step(f, params, b, mode, e))
        return e->code;
    begin_pass(f, params, b, mode);
    if (f->swap && mode->train) {
        gnn_swap_cycle(f->swap);
        f->backward = false; /* each cycle goes the same way */
    }
    if ((mode->train && gnn_full_sample_draw(f, e)) || make_pass(f, b, mode, again, e))
        return e->code;
    f->evaluated = !mode->train;
    f->passed[0] = f->passed[0] || !mode->train;
    *out = f->out.data;
    return 0;
}

int gnn_full_track(struct gnn_full *f, float *params, struct gnn_err *e)
{
    struct full_part *p = &f->part[0];
    if (gnn_full_begin(f, p, &(const struct full_want){.read = FULL_STATISTICS}, e))
        return e->code;
    gnn_full_enter(f, p);
    gnn_net_track(&p->net, params);
    gnn_full_leave(f, p);
    return gnn_full_end(f, p, e);
}

int gnn_full_backward(struct gnn_full *f, const float *params, struct gnn_err *e)
{
    f->pass.p = params;
    const int rc = make_gradients(f, e);
    f->passed[1] = true;
    return rc;
}

void gnn_full_move_by(struct gnn_full *f, struct gnn_comm *device)
{
    f->device = device && device->ops->move_begin ? device : NULL;
    if (f->eval)
        gnn_full_move_by(f->eval, device);
}

float *gnn_full_grad(const struct gnn_full *f)
{
    return f->grad.data;
}

const struct gnn_full_opts *gnn_full_options(const struct gnn_full *f)
{
    return &f->opts;
}

struct gnn_full_stats gnn_full_stats(const struct gnn_full *f)
{
    struct gnn_full_stats s = f->stats;
    s.flops = f->pass.flops;
    s.edges = f->pass.edges;
    if (f->eval) {
        s.flops += f->eval->pass.flops;
        s.edges += f->eval->pass.edges;
        s.evaluated += f->eval->stats.evaluated;
    }
    if (f->swap)
        s.swap = gnn_swap_stats(f->swap);
    return s;
}

uint64_t gnn_full_level_rows(const struct gnn_full *f, uint32_t level, uint64_t *all)
{
    const uint32_t nt = f->m->c.nntypes;
    uint64_t rows = 0;
    *all = 0;
    for (uint32_t t = 0; t < nt; t++) {
        const uint64_t n = f->s->meta.schema.ntype[t].count;
        bool live = false;
        for (uint32_t i = 0; i < f->m->nstages; i++)
            live = live || (f->m->stage[i].level == level && gnn_model_live(f->m, i, t));
        *all += live ? n : 0;
        rows += !live ? 0 : f->levels ? f->level_rows[(size_t)level * nt + t] : n;
    }
    return rows;
}
