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

static bool has_norm(const struct gnn_full *f, uint32_t stage, uint32_t t)
{
    return f->m->norm[(size_t)stage * f->m->c.nntypes + t] != GNN_NONE;
}

/* What a stage makes of a type, and its norm keeps of it. */
static uint64_t size_of_results(const struct gnn_full *f, const struct full_part *p, uint32_t stage,
                                uint32_t t)
{
    const uint64_t rows = rows_of(p, stage, t), w = gnn_model_width(f->m, stage, t);
    const bool norm = has_norm(f, stage, t);
    return floats_of(rows, w * (1 + norm) + (norm && f->m->c.layer_norm));
}

/* Most rows of one partition, the own one or another, that p uses at a time. */
static uint64_t most_sources(const struct gnn_full *f, const struct full_part *p, uint32_t r)
{
    uint64_t most = 0;
    for (uint32_t q = 0; q < f->k; q++)
        most = p->rel[r].block[q].n > most ? p->rel[r].block[q].n : most;
    return most;
}

/* Messages of the own rows, if they stay, and what the layer keeps. */
static uint64_t size_of_conv(const struct gnn_full *f, const struct full_part *p,
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
           floats_of(edges && gnn_full_needs_sent(v) ? rows_of(p, v->from, v->src) : 0,
                     c->message) +
           floats_of(kept, c->message ? c->message : c->ds);
}

/* ---- gradients ---- */

/* What is there of gradients: which (of all stages and types), how many bytes, and in how many of
 * these lay rows that norms had kept. */
struct gradients {
    bool *alive;
    uint64_t now, room, most;
};

/* Convolution v's sources and, where the layer uses them, own rows get gradients; and messages. */
static void count_conv(const struct gnn_full *f, const struct full_part *p,
                       const struct gnn_conv *v, struct gradients *g)
{
    const uint32_t ends[] = {v->src, v->dst};
    for (uint32_t j = 0; v->from && j < (v->layer->own ? 2 : 1); j++) {
        bool *is = &g->alive[(size_t)v->from * f->m->c.nntypes + ends[j]];
        if (!*is)
            g->now +=
                floats_of(rows_of(p, v->from, ends[j]), gnn_model_width(f->m, v->from, ends[j]));
        *is = true;
    }
    const uint64_t messages = v->rel == GNN_ROWS ? 0
                                                 : floats_of(rows_of(p, v->from, v->src),
                                                             net_run(&p->net, v)->message),
                   with = g->now + messages;
    if (with > g->room && with - g->room > g->most)
        g->most = with - g->room;
}

/* The most that is there at a time, beyond the room of rows that norms have kept: these are needed
 * until the backward pass of their stage begins. Stages are gone through from the last, whose
 * results become gradients in place; those of a stage are needed until it is done. */
static uint64_t size_of_gradients(const struct gnn_full *f, const struct full_part *p, bool *alive)
{
    const struct gnn_model *m = f->m;
    const uint32_t nt = m->c.nntypes, last = m->nstages - 1;
    struct gradients g = {.alive = alive};
    for (uint32_t i = last; i > 0; i--) {
        for (uint32_t t = 0; t < nt; t++) {
            if (i < last && !alive[(size_t)i * nt + t])
                continue;
            g.room += has_norm(f, i, t) ? floats_of(rows_of(p, i, t), gnn_model_width(m, i, t)) : 0;
            for (uint32_t k = 0; k < m->stage[i].nconvs; k++) {
                const struct gnn_conv *v = gnn_model_into(m, i, k, t);
                if (v)
                    count_conv(f, p, v, &g);
            }
        }
        for (uint32_t t = 0; t < nt; t++)
            if (alive[(size_t)i * nt + t])
                g.now -= floats_of(rows_of(p, i, t), gnn_model_width(m, i, t));
    }
    return g.most;
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

static void add_part(struct gnn_full *f, struct full_part *p, bool *alive, struct gnn_full_size *s)
{
    const struct gnn_model *m = f->m;
    for (uint32_t r = 0; r < m->c.netypes; r++)
        s->edges += gnn_full_is_used(f, r) ? size_of_relation(f, p, r) : 0;
    for (uint32_t t = 0; t < m->c.nntypes; t++) {
        s->features += gnn_model_live(m, 0, t) ? size_of_features(f, p, t) : 0;
        for (uint32_t i = 1; i < m->nstages; i++)
            s->rows += gnn_model_live(m, i, t) ? size_of_results(f, p, i, t) : 0;
    }
    for (uint32_t i = 0; i < m->nconvs; i++)
        s->rows += m->conv[i].needed ? size_of_conv(f, p, &m->conv[i]) : 0;
    s->gradients += size_of_gradients(f, p, alive);
}

bool gnn_full_size(struct gnn_full *f, struct gnn_full_size *s)
{
    const uint64_t slab = floats_of(f->m->nfloats, 1),
                   n = (uint64_t)f->m->nstages * f->m->c.nntypes;
    struct gnn_err e = {0};
    *s = (struct gnn_full_size){0};
    if (f->swap || f->levels || f->o->async || f->keep32 || f->opts.bf16 || !f->passed[1])
        return false;
    for (uint32_t i = 0; i < f->n; i++) {
        bool *alive = gnn_alloc_zero(n, sizeof *alive, "stages", &e);
        if (alive)
            add_part(f, &f->part[i], alive, s);
        gnn_free(alive);
    }
    s->messages = size_of_all_messages(f);
    /* Parameters, two moments, their gradient; those of partitions, which ranks send and receive.
     */
    s->parameters = (4 + (f->comm->size > 1 ? 3 : 1) * (uint64_t)f->n) * slab;
    s->all = s->edges + s->features + s->rows + s->gradients + s->messages + s->parameters;
    return !e.code;
}
