/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory this rank's partitions take, computed from the sizes of the graph, the partitions
 * and the model: gnn-fullbatch(7), MEMORY, has the same formula in words. */
#include "lib/model/full_impl.h"

static uint64_t floats_of(uint64_t rows, uint64_t columns)
{
    return rows * columns * sizeof(float);
}

/* ---- edges ---- */

static bool numbers_edges(const struct gnn_full *f)
{
    return gnn_layer_variant(&f->m->c)->numbered;
}

/* Bytes of an edge: in the block, and transposed; then what layers use of it. */
static uint64_t edge_bytes(const struct gnn_full *f, uint32_t r)
{
    const struct gnn_model_config *c = &f->m->c;
    const uint64_t numbers = numbers_edges(f) || c->edge_weight ? 3 : 2, weight = !!c->edge_weight;
    return floats_of(1, numbers + weight + c->etype[r].features) +
           (gnn_layer_needs_ids(c) ? sizeof(uint64_t) : 0);
}

/* Rows of other partitions that p uses; and rows of p that other ranks use. */
static uint64_t count_used(const struct gnn_full *f, const struct full_part *p, uint32_t r)
{
    uint64_t n = 0;
    for (uint32_t q = 0; q < f->k; q++)
        n += q == p->at ? 0 : p->rel[r].block[q].n;
    return n;
}

static uint64_t count_given(const struct gnn_full *f, struct full_part *p, uint32_t r)
{
    uint64_t n = 0;
    for (uint32_t q = 0; q < f->k; q++)
        n += gnn_full_own(f, q) ? 0 : gnn_full_ask(f, p, r, q)->n;
    return n;
}

static uint64_t size_of_relation(const struct gnn_full *f, struct full_part *p, uint32_t r)
{
    const struct gnn_model_etype *t = &f->m->c.etype[r];
    const enum gnn_adj_norm norm = gnn_layer_variant(&f->m->c)->norm;
    const uint64_t dst = gnn_full_rows(f, p, 0, t->dst), src = gnn_full_rows(f, p, 0, t->src),
                   used = count_used(f, p, r);
    uint64_t bytes = floats_of(dst, f->k) + floats_of(src, 1) + floats_of(used, 2) +
                     floats_of(count_given(f, p, r), 1);
    for (uint32_t q = 0; q < f->k; q++)
        bytes += p->rel[r].block[q].edges * edge_bytes(f, r);
    if (norm == GNN_ADJ_SYMMETRIC)
        bytes += floats_of(dst, 3) + floats_of(used, 1);
    else if (norm == GNN_ADJ_MEAN)
        bytes += floats_of(dst, 1);
    return bytes + (t->src == t->dst ? floats_of(dst, t->features) : 0);
}

/* ---- rows ---- */

/* The store's, and their copy, if some pass has made one. */
static uint64_t size_of_features(const struct gnn_full *f, const struct full_part *p, uint32_t t)
{
    const uint64_t rows = gnn_full_rows(f, p, 0, t);
    char name[GNN_NAME_MAX + 1];
    uint64_t bytes = 0;
    gnn_tensor_name(name, "node/%s/x", f->m->c.ntype[t].name);
    const struct gnn_tensor *x = f->m->c.ntype[t].width ? gnn_store_look(f->s, p->at, name) : NULL;
    if (x && !gnn_tensor_bytes(x, &bytes))
        bytes = 0;
    return bytes +
           (net_act(&p->net, 0, t)->out.data ? floats_of(rows, gnn_model_width(f->m, 0, t)) : 0);
}

static uint64_t rows_of(const struct full_part *p, uint32_t stage, uint32_t t)
{
    return net_rows(&p->net, stage, t);
}

static uint64_t size_of_rows(const struct gnn_full *f, const struct full_part *p, uint32_t stage,
                             uint32_t t)
{
    return floats_of(rows_of(p, stage, t), gnn_model_width(f->m, stage, t));
}

/* The normalised rows. */
static uint64_t size_of_norm(const struct gnn_full *f, const struct full_part *p, uint32_t stage,
                             uint32_t t)
{
    const bool has = f->m->norm[(size_t)stage * f->m->c.nntypes + t] != GNN_NONE;
    return has ? size_of_rows(f, p, stage, t) : 0;
}

/* Most rows of one partition, the own one or another, that p uses at a time. */
static uint64_t most_sources(const struct gnn_full *f, const struct full_part *p, uint32_t r)
{
    uint64_t most = 0;
    for (uint32_t q = 0; q < f->k; q++)
        most = p->rel[r].block[q].n > most ? p->rel[r].block[q].n : most;
    return most;
}

/* Messages of the own rows; what the layer keeps; and of that, results that are done with when
 * their gradients have been made. */
static uint64_t size_of_sent(const struct full_part *p, const struct gnn_conv *v)
{
    return v->rel == GNN_ROWS
               ? 0
               : floats_of(rows_of(p, v->from, v->src), net_run(&p->net, v)->message);
}

static uint64_t size_of_sums(const struct full_part *p, const struct gnn_conv *v)
{
    return v->layer->again ? floats_of(rows_of(p, v->stage, v->dst), net_run(&p->net, v)->message)
                           : 0;
}

static uint64_t size_of_kept(const struct gnn_full *f, const struct full_part *p,
                             const struct gnn_conv *v)
{
    const struct gnn_conv_run *c = net_run(&p->net, v);
    struct gnn_conv_floats n = {0};
    const bool edges = v->rel != GNN_ROWS;
    if (v->layer->floats)
        v->layer->floats(c, &n);
    else if (edges)
        n.dst = c->message ? c->message : c->ds;
    const uint64_t kept = edges && gnn_full_keeps(f, v) ? count_used(f, p, v->rel) : 0;
    return floats_of(rows_of(p, v->stage, v->dst), n.dst) +
           floats_of(edges ? most_sources(f, p, v->rel) : 0, n.src) +
           floats_of(kept, c->message ? c->message : c->ds);
}

/* ---- rows and gradients as they come and go ---- */

struct ledger {
    const struct gnn_full *f;
    const struct full_part *p;
    uint64_t rows, gradients;           /* what is there, in bytes, */
    uint64_t most_rows, most_gradients; /* and when there was most */
    bool *alive, *gone;                 /* [nstages][nntypes] gradients; rows to be made again */
};

static bool *mark_of(const struct ledger *l, bool *marks, uint32_t stage, uint32_t t)
{
    return &marks[(size_t)stage * l->f->m->c.nntypes + t];
}

static void note_most(struct ledger *l)
{
    if (l->rows + l->gradients <= l->most_rows + l->most_gradients)
        return;
    l->most_rows = l->rows;
    l->most_gradients = l->gradients;
}

static void drop_rows(struct ledger *l, const struct gnn_conv *v, bool opened)
{
    const uint32_t ends[] = {v->src, v->dst};
    for (unsigned i = 0; i < 2; i++) {
        bool *gone = mark_of(l, l->gone, v->from, ends[i]);
        if (*gone || !gnn_full_drops_rows(l->f, v->from, ends[i], v, opened))
            continue;
        l->rows -= size_of_rows(l->f, l->p, v->from, ends[i]);
        *gone = true;
    }
}

static void count_forward(struct ledger *l, uint32_t stage, uint32_t t)
{
    const struct gnn_model *m = l->f->m;
    const uint64_t norm = size_of_norm(l->f, l->p, stage, t);
    EACH_CONV_INTO(v, m, stage, t) {
        l->rows += size_of_sent(l->p, v);
        note_most(l);
        drop_rows(l, v, true);
        l->rows += size_of_kept(l->f, l->p, v);
    }
    l->rows += size_of_rows(l->f, l->p, stage, t);
    l->rows += norm && m->c.layer_norm ? floats_of(rows_of(l->p, stage, t), 1) : 0;
    l->rows += gnn_full_maker(l->f, stage, t) ? 0 : norm;
    note_most(l);
    EACH_CONV_INTO(v, m, stage, t) {
        l->rows -= gnn_full_drops_sent(l->f, v) ? size_of_sent(l->p, v) : 0;
        drop_rows(l, v, false);
    }
}

static void need_rows(struct ledger *l, uint32_t stage, uint32_t t)
{
    bool *gone = mark_of(l, l->gone, stage, t);
    l->rows += *gone ? size_of_rows(l->f, l->p, stage, t) : 0;
    *gone = false;
}

static void need_gradients(struct ledger *l, uint32_t stage, uint32_t t)
{
    bool *alive = mark_of(l, l->alive, stage, t);
    l->gradients += stage && !*alive ? size_of_rows(l->f, l->p, stage, t) : 0;
    *alive = *alive || stage;
}

/* Along the edges of a convolution: its messages, their gradients, and then those of rows. */
static void count_edges(struct ledger *l, const struct gnn_conv *v)
{
    const uint64_t sent = size_of_sent(l->p, v);
    const bool dropped = v->layer->again && v->layer->drops_results(net_run(&l->p->net, v));
    need_rows(l, v->from, v->src);
    need_rows(l, v->from, v->dst);
    l->rows += gnn_full_needs_sent(v) && gnn_full_drops_sent(l->f, v) ? sent : 0;
    l->gradients += sent;
    if (!sent)
        need_gradients(l, v->from, v->src);
    note_most(l);
    l->rows -= v->layer->fetches ? sent : 0;
    need_gradients(l, v->from, v->src);
    if (v->layer->own)
        need_gradients(l, v->from, v->dst);
    note_most(l);
    l->gradients -= sent;
    l->rows -= dropped ? 0 : size_of_sums(l->p, v);
}

static void count_backward(struct ledger *l, uint32_t stage, uint32_t t)
{
    const struct gnn_model *m = l->f->m;
    const bool again = gnn_full_maker(l->f, stage, t);
    const uint64_t norm = size_of_norm(l->f, l->p, stage, t);
    need_rows(l, stage, t);
    l->rows += again ? norm : 0;
    EACH_CONV_INTO(v, m, stage, t)
        if (v->rel == GNN_ROWS)
            need_rows(l, v->from, v->dst);
    note_most(l);
    l->rows -= norm + (again ? size_of_rows(l->f, l->p, stage, t) : 0);
    EACH_CONV_INTO(v, m, stage, t)
        if (v->layer->again && v->layer->drops_results(net_run(&l->p->net, v)))
            l->rows -= size_of_sums(l->p, v);
    EACH_CONV_INTO(v, m, stage, t)
        if (v->rel != GNN_ROWS)
            count_edges(l, v);
    EACH_CONV_INTO(v, m, stage, t)
        if (v->rel == GNN_ROWS)
            need_gradients(l, v->from, v->dst);
    note_most(l);
}

/* The gradients of a stage are needed until all of it is done; those of the last stage are in the
 * place of its results. */
static void count_passes(struct ledger *l)
{
    const struct gnn_model *m = l->f->m;
    const uint32_t nt = m->c.nntypes, last = m->nstages - 1;
    for (uint32_t k = nt; k < m->nstages * nt; k++)
        if (gnn_model_live(m, k / nt, k % nt))
            count_forward(l, k / nt, k % nt);
    for (uint32_t i = last; i > 0; i--) {
        for (uint32_t t = 0; t < nt; t++)
            if (gnn_model_live(m, i, t) && (i == last || *mark_of(l, l->alive, i, t)))
                count_backward(l, i, t);
        for (uint32_t t = 0; t < nt; t++)
            l->gradients -= *mark_of(l, l->alive, i, t) ? size_of_rows(l->f, l->p, i, t) : 0;
    }
}

/* ---- messages ---- */

/* The longest that this rank receives or sends in a round; alone: between its own partitions. */
static uint64_t longest_message(struct gnn_full *f, const struct gnn_conv *v, bool own)
{
    const struct gnn_conv_run *c = net_run(&f->part[0].net, v);
    uint64_t most = 0;
    for (uint32_t round = 1; round < f->k; round++) {
        uint64_t in = 0, out = 0;
        for (uint32_t i = 0; i < f->n; i++) {
            struct full_part *p = &f->part[i];
            const uint32_t from = gnn_full_source(f, p->at, round),
                           to = gnn_full_user(f, p->at, round);
            in += !gnn_full_own(f, from) != own ? p->rel[v->rel].block[from].n : 0;
            out += gnn_full_own(f, to) ? 0 : gnn_full_ask(f, p, v->rel, to)->n;
        }
        out = own ? 0 : out;
        most = in > most ? in : most;
        most = out > most ? out : most;
    }
    return floats_of(most, c->message ? c->message : c->ds);
}

/* How many messages are there at a time: received, rows that are used and those that travel, and
 * gradients; sent, rows, and gradients of two rounds. */
static uint64_t count_messages(const struct gnn_full *f)
{
    const uint64_t rounds = f->k - 1, ahead = f->depth < rounds ? f->depth : rounds;
    const uint64_t rows = ahead < rounds ? ahead + 1 : rounds;
    return rows + 1 + ahead + (rounds < 2 ? rounds : 2);
}

/* Of several partitions each has its own rows, and gradients of two rounds; a rank's only one sends
 * and receives as many messages as travel. */
static uint64_t size_of_all_messages(struct gnn_full *f)
{
    uint64_t own = 0, other = 0;
    for (uint32_t i = 0; i < f->m->nconvs; i++) {
        const struct gnn_conv *v = &f->m->conv[i];
        if (!v->needed || v->rel == GNN_ROWS)
            continue;
        const uint64_t a = longest_message(f, v, true), b = longest_message(f, v, false);
        own = a > own ? a : own;
        other = b > other ? b : other;
    }
    return 3 * own + count_messages(f) * other;
}

/* ---- all of it ---- */

static void add_part(struct gnn_full *f, struct full_part *p, bool *marks, struct gnn_full_size *s)
{
    const struct gnn_model *m = f->m;
    struct ledger l = {
        .f = f, .p = p, .alive = marks, .gone = marks + (size_t)m->nstages * m->c.nntypes};
    for (uint32_t r = 0; r < m->c.netypes; r++)
        s->edges += gnn_full_conv_of(f, r) ? size_of_relation(f, p, r) : 0;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        s->features += gnn_model_live(m, 0, t) ? size_of_features(f, p, t) : 0;
    count_passes(&l);
    s->rows += l.most_rows;
    s->gradients += l.most_gradients;
}

bool gnn_full_size(struct gnn_full *f, struct gnn_full_size *s)
{
    const uint64_t slab = floats_of(f->m->nfloats, 1),
                   n = 2 * (uint64_t)f->m->nstages * f->m->c.nntypes;
    struct gnn_err e = {0};
    *s = (struct gnn_full_size){0};
    if (f->swap || f->levels || f->o->async || f->keep32 || f->opts.bf16 || !f->passed[1])
        return false;
    for (uint32_t i = 0; i < f->n; i++) {
        bool *marks = gnn_alloc_zero(n, sizeof *marks, "stages", &e);
        if (marks)
            add_part(f, &f->part[i], marks, s);
        gnn_free(marks);
    }
    s->messages = size_of_all_messages(f);
    /* Parameters, two moments, their gradient; those of partitions, which ranks send and receive.
     */
    s->parameters = (4 + (f->comm->size > 1 ? 3 : 1) * (uint64_t)f->n) * slab;
    s->all = s->edges + s->features + s->rows + s->gradients + s->messages + s->parameters;
    return !e.code;
}
