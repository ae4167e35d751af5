/* SPDX-License-Identifier: Apache-2.0 */
/* Rematerialisation: what a stage has made, and messages, need not stay until the backward pass
 * where they can be made again from what a layer keeps anyway (Mostafa, "Sequential aggregation and
 * rematerialization", 2022, does this to the rows of other partitions). Of attention, the weighted
 * sums stay. Norm and activation make the results of them, and a matrix product of these the next
 * layer's messages, by the same operations on the same numbers, hence with the same bits. */
#include "lib/model/full_impl.h"

enum { ROWS_GONE = 1, NORM_GONE = 2 };

static uint8_t *gone_of(const struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t)
{
    return &p->gone[(size_t)stage * f->m->c.nntypes + t];
}

const struct gnn_conv *gnn_full_maker(const struct gnn_full *f, uint32_t stage, uint32_t t)
{
    const struct gnn_model *m = f->m;
    const struct gnn_conv *only;
    if (!stage || stage + 1 == m->nstages || !gnn_model_live(m, stage, t))
        return NULL;
    only = gnn_conv_next(m, stage, t, NULL);
    return only && only->layer->again && !gnn_conv_next(m, stage, t, only) ? only : NULL;
}

bool gnn_full_drops_sent(const struct gnn_full *f, const struct gnn_conv *v)
{
    return !gnn_full_needs_sent(v) || (v->layer->fetches && v->stage + 1 < f->m->nstages);
}

static bool is_later(const struct gnn_conv *a, const struct gnn_conv *b)
{
    if (a->stage != b->stage)
        return a->stage > b->stage;
    return a->dst != b->dst ? a->dst > b->dst : a > b;
}

/* The last convolution that uses rows of type t of a stage. *early: none of them needs the rows
 * after its `open`. */
static const struct gnn_conv *last_user(const struct gnn_full *f, uint32_t stage, uint32_t t,
                                        bool *early)
{
    const struct gnn_conv *last = NULL;
    *early = true;
    EACH_CONV(v, f->m) {
        if (!v->needed || v->from != stage || (v->src != t && v->dst != t))
            continue;
        *early = *early && v->layer->drops_own && net_run(&f->part[0].net, v)->message;
        last = !last || is_later(v, last) ? v : last;
    }
    return last;
}

bool gnn_full_drops_rows(const struct gnn_full *f, uint32_t stage, uint32_t t,
                         const struct gnn_conv *v, bool opened)
{
    bool early;
    return gnn_full_maker(f, stage, t) && last_user(f, stage, t, &early) == v && early == opened;
}

void gnn_full_begin_rows(const struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t)
{
    struct gnn_activation *a = &net_act(&p->net, stage, t)->after;
    a->lean = gnn_full_maker(f, stage, t);
    *gone_of(f, p, stage, t) = a->lean ? NORM_GONE : 0;
}

void gnn_full_drop_rows(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                        bool opened)
{
    const uint32_t ends[] = {v->src, v->dst};
    for (unsigned i = 0; i < 2; i++) {
        if (!gnn_full_drops_rows(f, v->from, ends[i], v, opened))
            continue;
        gnn_full_give_spare(f, p, &net_act(&p->net, v->from, ends[i])->out);
        *gone_of(f, p, v->from, ends[i]) |= ROWS_GONE;
    }
}

/* Space for the rows, and for those of the norm. */
static int open_again(struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t,
                      bool norm, struct gnn_err *e)
{
    struct gnn_net_act *a = net_act(&p->net, stage, t);
    struct gnn_buf *const b[] = {&a->out, norm ? &a->after.xhat : NULL};
    const uint64_t floats = (uint64_t)net_rows(&p->net, stage, t) * a->after.w;
    for (unsigned i = 0; i < 2 && b[i]; i++) {
        gnn_full_take_spare(f, p, b[i], floats * sizeof(float));
        if (f->o->fit(f->o, b[i], floats, sizeof(float), "activations", e))
            return e->code;
    }
    *net_made(&p->net, stage, t) = a->out.data;
    return 0;
}

static int make_again(struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t,
                      bool norm, struct gnn_err *e)
{
    const struct gnn_conv *v = gnn_full_maker(f, stage, t);
    struct gnn_conv_run *c = net_run(&p->net, v);
    struct gnn_net_act *a = net_act(&p->net, stage, t);
    const uint32_t rows = net_rows(&p->net, stage, t);
    const struct full_want want = {v, stage, t, .read = FULL_SUMS, .change = FULL_STAGE};
    if (gnn_full_begin(f, p, &want, e) || open_again(f, p, stage, t, norm, e))
        return e->code;
    EACH_CHUNK(from, to, rows, f->o) {
        float *y = (float *)a->out.data + from * a->after.w;
        if (c->layer->again(c, from, to, y, gnn_activation_first(&a->after), e))
            return e->code;
        gnn_activation_again(&p->net.pass, &a->after, from, to, y, norm);
    }
    return 0;
}

int gnn_full_need_rows(struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t,
                       bool norm, struct gnn_err *e)
{
    uint8_t *gone = gone_of(f, p, stage, t);
    const uint8_t lacks = ROWS_GONE | (norm ? NORM_GONE : 0);
    norm = norm && net_act(&p->net, stage, t)->after.norm != GNN_NONE;
    if (!(*gone & lacks) || make_again(f, p, stage, t, norm, e))
        return e->code;
    *gone &= (uint8_t)~lacks;
    return 0;
}

int gnn_full_need_inputs(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                         struct gnn_err *e)
{
    return gnn_full_need_rows(f, p, v->from, v->src, false, e) ||
                   gnn_full_need_rows(f, p, v->from, v->dst, false, e)
               ? e->code
               : 0;
}

int gnn_full_need_sent(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                       struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(&p->net, v);
    const struct full_want want = {v, v->stage, v->dst, .read = FULL_FROM,
                                   .change = FULL_SENT | FULL_RUN};
    const uint64_t floats = (uint64_t)net_rows(&p->net, v->from, v->src) * c->message;
    c->x = *net_made(&p->net, v->from, v->src);
    if (c->message && gnn_full_needs_sent(v) && gnn_full_drops_sent(f, v)) {
        if (gnn_full_begin(f, p, &want, e))
            return e->code;
        gnn_full_take_spare(f, p, &c->sent, floats * sizeof(float));
        if (f->o->fit(f->o, &c->sent, floats, sizeof(float), "messages", e) ||
            c->layer->send(c, c->x, net_rows(&p->net, v->from, v->src), c->sent.data, e))
            return e->code;
    }
    p->table = gnn_full_own_rows(c);
    return 0;
}

void gnn_full_end_rows(struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t)
{
    struct gnn_net_act *a = net_act(&p->net, stage, t);
    gnn_full_give_spare(f, p, &a->after.xhat);
    if (!gnn_full_maker(f, stage, t))
        return;
    gnn_full_give_spare(f, p, &a->out);
    *gone_of(f, p, stage, t) = ROWS_GONE | NORM_GONE;
}

void gnn_full_end_sums(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                       bool all_done)
{
    struct gnn_conv_run *c = net_run(&p->net, v);
    if (v->layer->again && c->gathered && (all_done || v->layer->drops_results(c)))
        gnn_full_give_spare(f, p, &c->kept[0]);
}
