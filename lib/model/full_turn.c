/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions take turns. A step of a pass is done by one partition after the other; each names what
 * it works with. Without a limit of memory everything is there anyway; with one, the rest may be in
 * a file meanwhile (lib/base/swap.h). Then rounds are gone through partition by partition, too:
 * what partitions hand each other lies there until its turn comes. */
#include <stddef.h>

#include "lib/model/full_impl.h"

/* ---- scratch memory that partitions share ---- */

void gnn_full_enter(struct gnn_full *f, struct full_part *p)
{
    float *grad = p->net.pass.grad;
    p->net.pass = f->pass;
    p->net.pass.grad = grad;
}

void gnn_full_leave(struct gnn_full *f, struct full_part *p)
{
    float *grad = p->net.pass.grad;
    f->pass = p->net.pass;
    p->net.pass = (struct gnn_pass){
        .m = f->m, .o = f->o, .p = f->pass.p, .grad = grad, .train = f->pass.train};
}

/* ---- buffers of partitions ---- */

static struct gnn_full *full_of(const struct gnn_ops *o)
{
    return (struct gnn_full *)((char *)(uintptr_t)o - offsetof(struct gnn_full, turns));
}

/* Scratch of the pass is shared by all partitions, and stays. */
static bool is_scratch(const struct gnn_full *f, const struct gnn_buf *b)
{
    const struct gnn_pass *s = &f->turn->net.pass;
    return (const char *)b >= (const char *)s && (const char *)b < (const char *)(s + 1);
}

static int fit_in_turn(const struct gnn_ops *o, struct gnn_buf *b, uint64_t n, size_t size,
                       const char *what, struct gnn_err *e)
{
    struct gnn_full *f = full_of(o);
    uint64_t bytes;
    if (f->turn && !is_scratch(f, b))
        return gnn_swap_fit(f->swap, b, n, size, what, e);
    if (!__builtin_mul_overflow(n, (uint64_t)size, &bytes) && bytes > b->cap &&
        gnn_swap_reserve(f->swap, bytes - b->cap + bytes / 8, e))
        return e->code;
    return gnn_buf_fit(b, n, size, what, e);
}

static void release_in_turn(const struct gnn_ops *o, struct gnn_buf *b)
{
    gnn_swap_release(full_of(o)->swap, b);
}

static uint64_t mapped_bytes(const struct gnn_full *f, uint32_t part, const char *type,
                             const char *field)
{
    char name[GNN_NAME_MAX + 1];
    uint64_t bytes = 0;
    gnn_tensor_name(name, "node/%s/%s", type, field);
    const struct gnn_tensor *x = gnn_store_look(f->s, part, name);
    return x && gnn_tensor_bytes(x, &bytes) ? bytes : 0;
}

/* Of the features of a part, which its turns may read in place, and of the labels and ids, which
 * the seeds of a batch to come may be given meanwhile. */
static uint64_t most_mapped(const struct gnn_full *f)
{
    const char *target = f->m->c.ntype[f->m->c.target].name;
    uint64_t most = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const uint32_t p = f->first + i;
        uint64_t sum = mapped_bytes(f, p, target, "y");
        const uint64_t ids = mapped_bytes(f, p, target, "id");
        sum = ids > sum ? ids : sum;
        for (uint32_t t = 0; t < f->m->c.nntypes; t++)
            if (f->m->c.ntype[t].width)
                sum += mapped_bytes(f, p, f->m->c.ntype[t].name, "x");
        most = sum > most ? sum : most;
    }
    return most;
}

int gnn_full_limit(struct gnn_full *f, const struct gnn_full_opts *o, struct gnn_err *e)
{
    if (!o->memory)
        return 0;
    f->turns = *o->ops;
    f->turns.fit = fit_in_turn;
    f->turns.release = release_in_turn;
    f->o = &f->turns;
    f->opts.remote = GNN_FULL_KEEP; /* in the file */
    gnn_store_forget_all(f->s);
    f->swap = gnn_swap_new(o->beside, o->memory, e);
    return e->code;
}

void gnn_full_set_aside(struct gnn_full *f, uint64_t bytes)
{
    if (f->swap)
        gnn_swap_set_aside(f->swap, bytes == UINT64_MAX ? most_mapped(f) : bytes);
}

/* ---- what a step works with ---- */

/* A function that is given each of some buffers. */
typedef int each_buf(struct gnn_full *f, struct gnn_buf *b, void *arg, struct gnn_err *e);

static int each_of(struct gnn_full *f, struct gnn_buf *const *b, size_t n, each_buf *fn, void *arg,
                   struct gnn_err *e)
{
    for (size_t i = 0; i < n; i++)
        if (fn(f, b[i], arg, e))
            return e->code;
    return 0;
}
#define EACH_OF(f, b, fn, arg, e) each_of(f, b, sizeof(b) / sizeof *(b), fn, arg, e)

static int each_of_activation(struct gnn_full *f, struct gnn_activation *a, each_buf *fn, void *arg,
                              struct gnn_err *e)
{
    struct gnn_buf *const b[] = {&a->xhat, &a->rstd, &a->stat};
    return EACH_OF(f, b, fn, arg, e);
}

static int each_of_stage(struct gnn_full *f, struct gnn_net_act *a, each_buf *fn, void *arg,
                         struct gnn_err *e)
{
    return fn(f, &a->out, arg, e) || each_of_activation(f, &a->after, fn, arg, e) ? e->code : 0;
}

static int each_of_run(struct gnn_full *f, struct gnn_conv_run *c, each_buf *fn, void *arg,
                       struct gnn_err *e)
{
    for (size_t i = 1; i < GNN_PASS_BUFFERS; i++)
        if (fn(f, &c->kept[i], arg, e))
            return e->code;
    return each_of_activation(f, &c->inside, fn, arg, e);
}

static int each_of_factors(struct gnn_full *f, struct full_rel *x, each_buf *fn, void *arg,
                           struct gnn_err *e)
{
    struct gnn_buf *const b[] = {&x->node.there, &x->row.there, &x->diag.there, &x->mean.there};
    return EACH_OF(f, b, fn, arg, e);
}

static int each_of_blocks(struct gnn_full *f, struct full_rel *x, bool back, each_buf *fn,
                          void *arg, struct gnn_err *e)
{
    for (uint32_t q = 0; x->block && q < f->k; q++) {
        struct full_block *k = &x->block[q];
        struct gnn_buf *const b[] = {&k->indptr.there,  &k->indices.there, &k->value.there,
                                     &k->feature.there, &k->id.there,      &k->node,
                                     &k->csr.there};
        struct gnn_buf *const t[] = {&k->tptr, &k->tidx, &k->tedge};
        const bool numbers = k->parts.seg && k->id.data; /* of ids, in the block, too */
        if (EACH_OF(f, b, fn, arg, e) || (back && EACH_OF(f, t, fn, arg, e)) ||
            (numbers && !back && fn(f, &k->tedge, arg, e)))
            return e->code;
    }
    return 0;
}

static int each_of_conv(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                        unsigned what, each_buf *fn, void *arg, struct gnn_err *e)
{
    struct gnn_conv_run *c = net_run(&p->net, v), *lead = net_run(&p->net, gnn_conv_lead(f->m, v));
    struct gnn_net_act *src = net_act(&p->net, v->from, v->src),
                       *dst = net_act(&p->net, v->from, v->dst);
    struct full_rel *x = v->rel == GNN_ROWS ? NULL : &p->rel[v->rel];
    const bool own = v->layer->own && !v->layer->drops_own;
    if ((what & FULL_FROM && (fn(f, &src->out, arg, e) || fn(f, &dst->out, arg, e))) ||
        (what & FULL_OWN && own && fn(f, &dst->out, arg, e)) ||
        (what & FULL_TABLE && fn(f, c->message ? &c->sent : &src->out, arg, e)) ||
        (what & FULL_RUN && (each_of_run(f, c, fn, arg, e) || each_of_run(f, lead, fn, arg, e))) ||
        (what & FULL_SUMS && (fn(f, &c->kept[0], arg, e) || fn(f, &lead->kept[0], arg, e))) ||
        (what & FULL_SENT && fn(f, &c->sent, arg, e)) ||
        (what & FULL_FROM_GRAD && (fn(f, &src->grad, arg, e) || fn(f, &dst->grad, arg, e))) ||
        (x && what & (FULL_EDGES | FULL_FACTORS) && each_of_factors(f, x, fn, arg, e)) ||
        (x && what & FULL_EDGES && each_of_blocks(f, x, what & FULL_BACK, fn, arg, e)))
        return e->code;
    return what & FULL_MESSAGES ? fn(f, &p->dmessages, arg, e) : 0;
}

static int each_of_statistics(struct gnn_full *f, struct full_part *p, each_buf *fn, void *arg,
                              struct gnn_err *e)
{
    for (uint32_t i = 0; i < f->m->nstages * f->m->c.nntypes; i++)
        if (fn(f, &p->net.act[i].after.stat, arg, e))
            return e->code;
    for (uint32_t i = 0; i < f->m->nconvs; i++)
        if (fn(f, &p->net.run[i].inside.stat, arg, e))
            return e->code;
    return 0;
}

static int each_wanted(struct gnn_full *f, struct full_part *p, const struct full_want *w,
                       unsigned what, each_buf *fn, void *arg, struct gnn_err *e)
{
    struct gnn_net_act *a = net_act(&p->net, w->stage, w->type);
    if ((what & FULL_STAGE && each_of_stage(f, a, fn, arg, e)) ||
        (what & FULL_GRAD &&
         (fn(f, net_dy(&p->net, w->stage, w->type), arg, e) || fn(f, &a->after.stat, arg, e))))
        return e->code;
    if (what & FULL_STATISTICS)
        return each_of_statistics(f, p, fn, arg, e);
    if (w->conv)
        return each_of_conv(f, p, w->conv, what, fn, arg, e);
    EACH_CONV_INTO(v, f->m, w->stage, w->type)
        if (each_of_conv(f, p, v, what, fn, arg, e))
            return e->code;
    return 0;
}

static int hold_buf(struct gnn_full *f, struct gnn_buf *b, void *arg, struct gnn_err *e)
{
    return gnn_swap_hold(f->swap, b, *(bool *)arg, e);
}

/* ---- turns ---- */

int gnn_full_begin(struct gnn_full *f, struct full_part *p, const struct full_want *w,
                   struct gnn_err *e)
{
    bool change = true;
    if (!f->swap)
        return 0;
    f->turn = p;
    if (each_wanted(f, p, w, w->change, hold_buf, &change, e))
        return e->code;
    change = false;
    return each_wanted(f, p, w, w->read, hold_buf, &change, e);
}

int gnn_full_end(struct gnn_full *f, struct full_part *p, struct gnn_err *e)
{
    if (!f->swap)
        return 0;
    f->turn = NULL;
    gnn_swap_forget(f->swap, &p->fetched);
    gnn_store_forget(f->s, p->at);
    return gnn_swap_drop(f->swap, e);
}

/* Every other sweep over the partitions goes backward: those that were worked with last are still
 * in memory. Results do not depend on the order. */
static struct full_part *nth_part(const struct gnn_full *f, bool backward, uint32_t i)
{
    return &f->part[backward ? f->n - 1 - i : i];
}

static bool next_direction(struct gnn_full *f)
{
    f->backward = f->swap && !f->backward;
    return f->backward;
}

/* Each partition has a turn; what it does finds its scratch memory by itself. */
static int take_turns(struct gnn_full *f, const struct full_turn *t, void *arg, struct gnn_err *e)
{
    const bool backward = next_direction(f);
    int rc = 0;
    for (uint32_t i = 0; !rc && i < f->n; i++) {
        struct full_part *p = nth_part(f, backward, i);
        rc = gnn_full_begin(f, p, &t->want, e);
        if (!rc)
            rc = t->step(f, p, arg, e);
        if (!rc)
            rc = gnn_full_end(f, p, e);
    }
    return rc;
}

/* A step within a turn. */
static int do_step(struct gnn_full *f, struct full_part *p, const struct full_turn *t, void *arg,
                   struct gnn_err *e)
{
    if (!t->step || gnn_full_begin(f, p, &t->want, e))
        return e->code;
    gnn_full_enter(f, p);
    (void)!t->step(f, p, arg, e);
    gnn_full_leave(f, p);
    return e->code;
}

struct step_args {
    const struct full_turn *turn;
    void *arg;
};

static int do_only_step(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct step_args *x = arg;
    return do_step(f, p, x->turn, x->arg, e);
}

int gnn_full_each(struct gnn_full *f, const struct full_turn *t, void *arg, struct gnn_err *e)
{
    struct step_args x = {t, arg};
    return t->step ? take_turns(f, &(const struct full_turn){.step = do_only_step}, &x, e) : 0;
}

/* ---- what is not needed any more ---- */

static int forget_buf(struct gnn_full *f, struct gnn_buf *b, void *arg, struct gnn_err *e)
{
    (void)arg, (void)e;
    gnn_swap_forget(f->swap, b);
    return 0;
}

/* fixed: what was gathered serves all passes. */
static void forget_run(struct gnn_full *f, struct gnn_conv_run *c, bool fixed)
{
    struct gnn_err e = {0};
    if (fixed)
        return;
    (void)!each_of_run(f, c, forget_buf, NULL, &e);
    gnn_swap_forget(f->swap, &c->kept[0]);
    gnn_swap_forget(f->swap, &c->sent);
}

void gnn_full_forget_pass(struct gnn_full *f)
{
    const struct gnn_model *m = f->m;
    struct gnn_err e = {0};
    for (uint32_t i = 0; f->swap && i < f->n; i++) {
        struct full_part *p = &f->part[i];
        for (uint32_t k = 0; k < m->nstages * m->c.nntypes; k++)
            (void)!(each_of_stage(f, &p->net.act[k], forget_buf, NULL, &e) ||
                    forget_buf(f, &p->net.act[k].grad, NULL, &e));
        for (uint32_t k = 0; k < m->nconvs; k++)
            forget_run(f, &p->net.run[k], f->constant_sums[k]);
        for (uint32_t k = 0; k < m->nconvs * f->k; k++)
            gnn_swap_forget(f->swap, &p->mail[k]);
        gnn_swap_forget(f->swap, &p->dmessages);
    }
}

/* ---- rounds ---- */

/* The message that partition `p` uses in round c, from the partition that owns its rows; and the
 * buffer in which it lies: rows, or gradients. */
static struct full_message message_to(const struct gnn_full *f, const struct full_flow *x,
                                      const struct full_part *p, uint32_t c)
{
    return gnn_full_message(f, x, gnn_full_source(f, p->at, c), p->at);
}

static struct gnn_buf *mail_of(const struct gnn_full *f, const struct full_part *p,
                               const struct full_flow *x, uint32_t c)
{
    return &p->mail[(size_t)(x->of - f->m->conv) * f->k + c];
}

/* A flow of partitions that take turns. */
struct turn_flow {
    const struct full_flow *flow;
    full_use *use;   /* of rows, */
    full_make *make; /* or of gradients */
    bool packs, fetches;
    void *arg;
};

static int pack_table(struct gnn_full *f, struct full_part *q, const struct full_flow *x,
                      struct gnn_err *e)
{
    for (uint32_t c = 1; c < f->k; c++) {
        struct full_part *p = gnn_full_own(f, gnn_full_user(f, q->at, c));
        const struct full_message m = message_to(f, x, p, c);
        struct gnn_buf *b = mail_of(f, p, x, c);
        if (f->o->fit(f->o, b, gnn_full_message_bytes(&m), 1, "rows for another part", e))
            return e->code;
        gnn_full_pack_rows(f, &m, q->table, b->data);
        gnn_swap_let(f->swap, b);
    }
    return 0;
}

/* Before any rows can be used: what comes first, and its rows for others. */
static int pack_turn(struct gnn_full *f, struct full_part *q, void *arg, struct gnn_err *e)
{
    const struct turn_flow *t = arg;
    const struct full_want table = {t->flow->of, .read = t->flow->table};
    return do_step(f, q, &t->flow->first, t->arg, e) || gnn_full_begin(f, q, &table, e)
               ? e->code
               : pack_table(f, q, t->flow, e);
}

/* A partition's rounds begin; what comes first is done, unless that was when rows were packed. */
static int begin_rounds(struct gnn_full *f, struct full_part *p, const struct turn_flow *t,
                        struct gnn_err *e)
{
    const struct full_flow *x = t->flow;
    const struct full_want w = {x->of, x->of->stage, x->of->dst, x->read, x->change};
    return !t->packs && do_step(f, p, &x->first, t->arg, e) ? e->code : gnn_full_begin(f, p, &w, e);
}

static int view_mail(struct gnn_full *f, struct full_part *p, const struct full_flow *x, uint32_t c,
                     struct gnn_err *e)
{
    p->view = p->table;
    if (!c)
        return 0;
    const struct full_message m = message_to(f, x, p, c);
    if (!x->kept)
        *(f->pass.train ? &f->stats.fetched : &f->stats.evaluated) += gnn_full_message_bytes(&m);
    const struct gnn_buf *b = mail_of(f, p, x, c);
    return gnn_swap_hold(f->swap, b, false, e)
               ? e->code
               : gnn_full_unpack_rows(f, &m, b->data, &p->fetched, &p->view, e);
}

/* Rows that the backward pass needs again stay in the file. */
static void close_mail(struct gnn_full *f, struct full_part *p, const struct full_flow *x,
                       uint32_t c)
{
    if (c && x->keep)
        gnn_swap_let(f->swap, mail_of(f, p, x, c));
    else if (c)
        gnn_swap_forget(f->swap, mail_of(f, p, x, c));
}

static int fetch_turn(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct turn_flow *t = arg;
    int rc = begin_rounds(f, p, t, e);
    for (uint32_t c = 0; !rc && c < f->k; c++) {
        rc = view_mail(f, p, t->flow, c, e);
        if (!rc)
            rc = t->use(f, p, c, t->arg, e);
        close_mail(f, p, t->flow, c);
    }
    if (!rc && t->flow->over)
        rc = t->flow->over(f, p, t->arg, e);
    return rc ? rc : do_step(f, p, &t->flow->last, t->arg, e);
}

int gnn_full_fetch_in_turns(struct gnn_full *f, const struct full_flow *x, full_use *use, void *arg,
                            struct gnn_err *e)
{
    struct turn_flow t = {x, .use = use, .packs = !x->kept, .arg = arg};
    const int rc = t.packs ? take_turns(f, &(const struct full_turn){pack_turn, {0}}, &t, e) : 0;
    return rc ? rc : take_turns(f, &(const struct full_turn){fetch_turn, {0}}, &t, e);
}

/* Gradients of the rows of round c, into a message to their owner. */
static int make_mail(struct gnn_full *f, struct full_part *p, const struct turn_flow *t, uint32_t c,
                     struct gnn_err *e)
{
    const struct full_flow *x = t->flow;
    struct gnn_buf *to = &p->pushed[0], *b = &p->back_mail[c];
    if (!c)
        return t->make(f, p, 0, p->into, t->arg, e);
    const struct full_message m = message_to(f, x, p, c);
    if (f->o->fit(f->o, to, (uint64_t)m.n * x->d, sizeof(float), "gradients for another part", e) ||
        t->make(f, p, c, to->data, t->arg, e) ||
        f->o->fit(f->o, b, gnn_full_message_bytes(&m), 1, "gradients for another part", e))
        return e->code;
    gnn_full_pack_gradients(f, &m, to->data, b->data);
    gnn_swap_let(f->swap, b);
    f->stats.pushed += gnn_full_message_bytes(&m);
    return 0;
}

static int push_turn(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e)
{
    const struct turn_flow *t = arg;
    int rc = begin_rounds(f, p, t, e);
    for (uint32_t c = 0; !rc && c < f->k; c++) {
        if (t->fetches)
            rc = view_mail(f, p, t->flow, c, e);
        if (!rc)
            rc = make_mail(f, p, t, c, e);
        if (t->fetches)
            close_mail(f, p, t->flow, c);
    }
    gnn_swap_forget(f->swap, &p->pushed[0]);
    return !rc && t->flow->over ? t->flow->over(f, p, t->arg, e) : rc;
}

/* When all have made their gradients: a partition adds up those of its rows. */
static int add_turn(struct gnn_full *f, struct full_part *q, void *arg, struct gnn_err *e)
{
    const struct turn_flow *t = arg;
    const struct full_flow *x = t->flow;
    for (uint32_t c = 1; c < f->k; c++) {
        struct full_part *p = gnn_full_own(f, gnn_full_user(f, q->at, c));
        const struct full_message m = message_to(f, x, p, c);
        if (gnn_swap_hold(f->swap, &p->back_mail[c], false, e))
            return e->code;
        gnn_full_add_gradients(f, &m, p->back_mail[c].data, q->into);
        gnn_swap_forget(f->swap, &p->back_mail[c]);
    }
    return do_step(f, q, &x->last, t->arg, e);
}

int gnn_full_push_in_turns(struct gnn_full *f, const struct full_flow *x, bool fetches,
                           full_make *make, void *arg, struct gnn_err *e)
{
    const struct full_turn add = {add_turn,
                                  {x->of, .change = x->change & (FULL_MESSAGES | FULL_FROM_GRAD)}};
    struct turn_flow t = {x, .make = make, .packs = fetches && !x->kept, .fetches = fetches,
                          .arg = arg};
    int rc = t.packs ? take_turns(f, &(const struct full_turn){pack_turn, {0}}, &t, e) : 0;
    if (!rc)
        rc = take_turns(f, &(const struct full_turn){push_turn, {0}}, &t, e);
    return rc ? rc : take_turns(f, &add, &t, e);
}
