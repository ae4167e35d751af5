/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of links (lib/sample/link_batch.h), in the steps that they are made in. */
#include "lib/sample/link_batch.h"

#include <string.h>

#include "kernels/perm.h"

/* Ends of one node type, which become the nodes that the batch begins with. */
struct ends {
    uint64_t n;
    uint32_t *node, *tree, *local;
    int64_t *time;
    uint32_t *order, *spare; /* which of them, as they are sorted */
};
struct making {
    const struct link_seeds *q;
    const struct sample_draw *d;
    struct link_draw draw;
    struct link_batch b;
    uint64_t *input; /* (b.all) */
    /* This rank's positives, b.n of them, and its negatives; with one rank, they begin as b.every,
     * which is not copied. */
    struct link *link;
    uint64_t nneg;
    uint32_t *positive;        /* (nneg) of each negative, among b.n; NULL: as it follows */
    struct ends of[LINK_ENDS]; /* of one type: all in the first */
};

uint64_t gnn_link_batch_count(const struct sample_seeds *base, const struct gnn_batch *b)
{
    const struct link_seeds *q = (const struct link_seeds *)base;
    return gnn_sampling_seeds_of(&q->s->meta.sampling, b->split, b->step);
}

/* A part of a block of memory, for n elements; base NULL: only moves *at. */
static void *lay_part(char *base, uint64_t *at, uint64_t n, uint64_t size)
{
    const uint64_t from = (*at + 7) / 8 * 8;
    *at = from + n * size;
    return base ? base + from : NULL;
}

static void lay_ends(struct ends *x, char *base, uint64_t *at, uint64_t n,
                     const struct gnn_sampling *m)
{
    x->node = lay_part(base, at, n, sizeof *x->node);
    x->local = lay_part(base, at, n, sizeof *x->local);
    x->order = lay_part(base, at, n, sizeof *x->order);
    x->spare = lay_part(base, at, n, sizeof *x->spare);
    x->tree = m->disjoint ? lay_part(base, at, n, sizeof *x->tree) : NULL;
    x->time = gnn_sampling_is_temporal(m) ? lay_part(base, at, n, sizeof *x->time) : NULL;
}

/* Lays the arrays of all positives and at most as many negatives out; returns their size. */
static uint64_t lay_all(struct making *k, char *base)
{
    const struct gnn_sampling *m = &k->q->s->meta.sampling;
    const uint64_t n = k->b.all, nneg = k->draw.many, all = n + nneg;
    const bool ranks = k->d->s->comm->size > 1;
    uint64_t at = 0;
    k->input = lay_part(base, &at, n, sizeof *k->input);
    k->link = lay_part(base, &at, all, sizeof *k->link);
    k->b.every = ranks ? lay_part(base, &at, n, sizeof *k->b.every) : k->link;
    k->b.time = gnn_sampling_is_temporal(m) ? lay_part(base, &at, n, sizeof *k->b.time) : NULL;
    k->b.at = ranks ? lay_part(base, &at, n, sizeof *k->b.at) : NULL;
    k->b.owner = ranks ? lay_part(base, &at, n, sizeof *k->b.owner) : NULL;
    k->positive = ranks ? lay_part(base, &at, nneg, sizeof *k->positive) : NULL;
    for (unsigned i = 0; i < LINK_ENDS; i++)
        lay_ends(&k->of[i], base, &at, LINK_ENDS * all, m);
    return at;
}

/* ---- which links ---- */

/* Where the batch's links are among all of them. */
static void find_input(const struct making *k)
{
    const struct link_seeds *q = k->q;
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const struct gnn_batch *b = k->d->b;
    const uint64_t first = b->step * m->batch_size;
    const uint64_t n = k->b.all;
    struct gnn_perm order;
    uint32_t key[2];
    if (!m->shuffle || b->split) {
        for (uint64_t i = 0; i < n; i++)
            k->input[i] = first + i;
        return;
    }
    gnn_rng_key(m->seed, (uint32_t)b->epoch, 0, 0, gnn_rng_tag(GNN_RNG_ORDER, q->base.tag[0], 0),
                key);
    gnn_perm_init(&order, m->split_seeds[0], key);
    for (uint64_t i = 0; i < n; i += GNN_PERM_MANY) {
        const uint32_t many = n - i < GNN_PERM_MANY ? (uint32_t)(n - i) : GNN_PERM_MANY;
        gnn_perm_many(&order, first + i, many, k->input + i);
    }
}

/* Those of this rank, at least, and which these are. */
static int find_links(struct making *k)
{
    const struct link_seeds *q = k->q;
    const struct link_list *list = &q->list[k->d->b->split];
    const struct link *listed = list->links.data;
    const int64_t *times = list->times.data;
    struct link_batch *b = &k->b;
    find_input(k);
    b->n = 0;
    for (uint64_t i = 0; i < b->all; i++) {
        int64_t *time = b->time ? &b->time[i] : NULL;
        if (!listed && gnn_link_edges_at(&q->edges, k->input[i], &b->every[i], time, k->d->e))
            return k->d->e->code;
        if (listed)
            b->every[i] = listed[k->input[i]];
        if (listed && time)
            *time = times[k->input[i]];
        const uint32_t tail = b->every[i].end[LINK_TAIL];
        if (b->at && (tail == UINT32_MAX || !gnn_link_owns(&q->edges, LINK_TAIL, tail)))
            continue;
        if (b->at) {
            b->at[b->n] = (uint32_t)i;
            k->link[b->n] = b->every[i];
        }
        b->n++;
    }
    return 0;
}

/* Negative i of the batch's, of a set that has given ones. A link with fewer than others has itself
 * in place of the rest. */
static struct link given_negative(const struct making *k, uint64_t i, uint64_t positive)
{
    const struct gnn_sampling *m = &k->q->s->meta.sampling;
    const struct gnn_batch *b = k->d->b;
    const struct gnn_drawn d = k->draw.drawn;
    const struct link_list *given = &k->q->given[b->split];
    const uint64_t each = gnn_drawn_each(d), *first = given->first.data;
    uint64_t at = each ? k->input[positive] * each + i % each
                       : gnn_drawn_first(d, b->step * m->batch_size) + i;
    if (first) {
        const uint64_t *list = first + k->input[positive], end = list[1] - 1;
        at = list[0] + i % each < end ? list[0] + i % each : end; /* which is the link */
    }
    return ((const struct link *)given->links.data)[at];
}

/* Those of this rank's positives, which come before them. */
static int draw_negatives(struct making *k)
{
    const struct link_seeds *q = k->q;
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const struct gnn_batch *b = k->d->b;
    const struct link_draw *d = &k->draw;
    const uint32_t epoch =
        b->split || q->fixed ? 0 : (uint32_t)b->epoch; /* evaluations can be compared */
    const bool given = q->given[b->split].n;
    gnn_rng_key(m->seed, epoch, (uint32_t)b->step, 0,
                gnn_rng_tag(GNN_RNG_NEGATIVE, q->base.tag[b->split], m->links.etype), k->draw.key);
    struct link *to = k->link + k->b.n;
    if (k->b.at && m->links.strict && !given)
        return gnn_link_ranks_negatives(k->d, &q->negatives, d, &k->b, to);
    for (uint64_t i = 0, n = 0; i < d->many; i++) {
        if (k->b.at && n == k->nneg)
            break;
        const uint64_t of = gnn_drawn_positive(d->drawn, i, d->n);
        if (k->b.at && k->b.at[k->positive[n]] != of)
            continue;
        to[n] = given ? given_negative(k, i, of) : k->b.every[of];
        if (!given && gnn_link_negative(&q->negatives, d, i, &to[n], k->d->e))
            return k->d->e->code;
        n++;
    }
    return 0;
}

/* The positives of this rank's negatives, which are in the order of the global batch. */
static void find_positives(struct making *k)
{
    const struct gnn_drawn drawn = k->draw.drawn;
    const struct link_batch *b = &k->b;
    const uint64_t many = k->draw.many, own = gnn_drawn_each(drawn), each = own ? own : 1;
    k->nneg = many;
    if (!b->at)
        return;
    k->nneg = 0;
    /* For each positive all of its negatives, or, in turns, one. */
    for (uint64_t turn = 0; turn * b->all * each < many; turn++)
        for (uint64_t i = 0; i < b->n && turn * b->all + b->at[i] < (many + each - 1) / each; i++)
            for (uint64_t j = 0; j < each; j++)
                k->positive[k->nneg++] = (uint32_t)i;
}

/* ---- the nodes that the batch begins with ---- */

/* End `end` of all links, positives first, is added to x. */
static void add_ends(const struct making *k, struct ends *x, unsigned end)
{
    const struct link_batch *b = &k->b;
    for (uint64_t i = 0; i < b->n + k->nneg; i++) {
        const uint64_t own = i < b->n      ? i
                             : k->positive ? k->positive[i - b->n]
                                           : gnn_drawn_positive(k->draw.drawn, i - b->n, b->n),
                       of = b->at ? b->at[own] : own;
        x->node[x->n] = k->link[i].end[end];
        if (x->tree)
            x->tree[x->n] = (uint32_t)of;
        if (x->time)
            x->time[x->n] = b->time[of];
        x->n++;
    }
}

/* One byte of a key: sorts by it, and keeps the order of those that have the same. */
static void sort_byte(struct ends *x, const void *key, size_t size, unsigned byte)
{
    uint32_t at[256] = {0};
    const uint8_t *v = (const uint8_t *)key + byte;
    for (uint64_t i = 0; i < x->n; i++)
        at[v[i * size]]++;
    if (at[v[0]] == x->n)
        return;
    for (uint32_t k = 0, sum = 0; k < 256; k++) {
        const uint32_t many = at[k];
        at[k] = sum;
        sum += many;
    }
    for (uint64_t i = 0; i < x->n; i++)
        x->spare[at[v[x->order[i] * size]]++] = x->order[i];
    uint32_t *sorted = x->spare;
    x->spare = x->order;
    x->order = sorted;
}

/* By tree, node and time, each from its low byte on. */
static void sort_ends(struct ends *x)
{
    for (uint64_t i = 0; i < x->n; i++)
        x->order[i] = (uint32_t)i;
    for (unsigned k = 0; x->time && k < sizeof *x->time; k++)
        sort_byte(x, x->time, sizeof *x->time, k);
    for (unsigned k = 0; k < sizeof *x->node; k++)
        sort_byte(x, x->node, sizeof *x->node, k);
    for (unsigned k = 0; x->tree && k < sizeof *x->tree; k++)
        sort_byte(x, x->tree, sizeof *x->tree, k);
}

/* Numbers the different ones, which come first then, in order; returns how many there are. */
static uint64_t number_ends(struct ends *x)
{
    const struct gnn_entries all = {x->node, x->time, x->tree};
    uint64_t n = 0;
    for (uint64_t i = 0; i < x->n; i++) {
        const uint32_t at = x->order[i];
        n += !i || !gnn_entry_same(&all, x->order[i - 1], x->node[at], &all, at);
        x->local[at] = (uint32_t)n - 1;
    }
    return n;
}

/* The batch begins with the different ones of a type. */
static int add_roots(const struct making *k, struct ends *x, unsigned end)
{
    const struct sample_draw *d = k->d;
    const uint32_t *to_store = k->q->edges.to_store[end], t = k->q->edges.ntype[end];
    struct gnn_relabel *r = &d->w->type[t];
    sort_ends(x);
    const uint64_t n = number_ends(x);
    uint64_t bytes = 0;
    (void)gnn_entries_lay(NULL, &bytes, r->list, n);
    if (gnn_sample_fit_nodes(d, t, n) || gnn_buf_fit(&d->w->joined, bytes, 1, "links", d->e))
        return d->e->code;
    bytes = 0;
    const struct gnn_entries to = gnn_entries_lay(d->w->joined.data, &bytes, r->list, n),
                             all = {x->node, x->time, x->tree};
    for (uint64_t i = 0; i < x->n; i++) {
        const uint32_t at = x->order[i], node = x->node[at];
        if (!i || x->local[at] != x->local[x->order[i - 1]])
            gnn_entry_put(&to, x->local[at], to_store ? to_store[node] : node, &all, at);
    }
    if (gnn_relabel_add(r, to, n) < n)
        return gnn_sample_damaged(d->s, 0, GNN_SAMPLE_SEED, &(struct gnn_sample_place){0}, d->e);
    return 0;
}

/* ---- its columns ---- */

/* n pairs of local numbers, of the links from number `from` on. */
static int add_pairs(const struct making *k, enum gnn_column c, uint64_t from, uint64_t n)
{
    const uint64_t all = k->b.n + k->nneg;
    const bool one = k->q->edges.ntype[LINK_HEAD] == k->q->edges.ntype[LINK_TAIL];
    const uint32_t *head = k->of[LINK_HEAD].local + from,
                   *tail = one ? head + all : k->of[LINK_TAIL].local + from;
    struct gnn_tensor *t;
    if (gnn_column_add(&k->d->b->tensors, &k->d->s->meta, c, 0, 0, n, &t, k->d->e))
        return k->d->e->code;
    uint32_t *out = t->data;
    for (uint64_t i = 0; i < n; i++) {
        out[2 * i] = head[i];
        out[2 * i + 1] = tail[i];
    }
    *gnn_column_view(k->d->b, c, 0, 0) = out;
    k->d->b->rows[gnn_column[c].rows - GNN_ROWS_WALKS] = n;
    return 0;
}

/* Where this rank's links are, in the global batch and among all. */
static int add_places(const struct making *k)
{
    struct gnn_batch *b = k->d->b;
    const struct gnn_meta *m = &k->d->s->meta;
    const uint64_t n = k->b.n;
    struct gnn_tensor *t;
    if (k->b.at) {
        if (gnn_column_add(&b->tensors, m, GNN_COLUMN_PLACE, 0, 0, n, &t, k->d->e))
            return k->d->e->code;
        memcpy(t->data, k->b.at, n * sizeof *k->b.at);
        b->at = t->data;
    }
    if (gnn_column_add(&b->tensors, m, GNN_COLUMN_INPUT, 0, 0, n, &t, k->d->e))
        return k->d->e->code;
    uint64_t *input = t->data;
    b->input = input;
    for (uint64_t i = 0; i < n; i++)
        input[i] = k->input[k->b.at ? k->b.at[i] : i];
    return 0;
}

/* Labels of this rank's links. */
static int add_labels(const struct making *k)
{
    const struct link_seeds *q = k->q;
    const struct gnn_meta *m = &k->d->s->meta;
    const float *listed = q->list[k->d->b->split].label.data;
    struct gnn_tensor *t;
    if (gnn_column_presence(m, GNN_COLUMN_LABEL, 0, 0) != GNN_REQUIRED)
        return 0;
    if (gnn_column_add(&k->d->b->tensors, m, GNN_COLUMN_LABEL, 0, 0, k->b.n, &t, k->d->e))
        return k->d->e->code;
    float *label = t->data;
    for (uint64_t i = 0; i < k->b.n; i++) {
        const uint64_t input = k->input[k->b.at ? k->b.at[i] : i];
        label[i] = listed ? listed[input] : gnn_link_label_of(&q->edges, &m->sampling.links, input);
    }
    return 0;
}

static int add_columns(const struct making *k)
{
    if (add_places(k) || add_pairs(k, GNN_COLUMN_PAIR, 0, k->b.n) || add_labels(k))
        return k->d->e->code;
    return k->q->s->meta.sampling.links.negatives
               ? add_pairs(k, GNN_COLUMN_NEGATIVE, k->b.n, k->nneg)
               : 0;
}

int gnn_link_batch_begin(const struct sample_seeds *base, const struct sample_draw *d)
{
    const struct link_seeds *q = (const struct link_seeds *)base;
    const struct gnn_sampling *m = &q->s->meta.sampling;
    struct making k = {.q = q, .d = d, .b.all = gnn_link_batch_count(base, d->b)};
    const bool one = q->edges.ntype[LINK_HEAD] == q->edges.ntype[LINK_TAIL];
    k.draw =
        (struct link_draw){.known = link_known_of(q, d->b->split),
                           .drawn = gnn_sampling_drawn(m, d->b->split),
                           .n = k.b.all,
                           .many = gnn_sampling_negatives(m, d->b->split, d->b->step, k.b.all)};
    if (gnn_buf_fit(&d->w->links, lay_all(&k, NULL), 1, "links", d->e))
        return d->e->code;
    (void)lay_all(&k, d->w->links.data);
    k.draw.every = k.b.every;
    k.draw.time = k.b.time;
    if (find_links(&k) || (k.b.at && gnn_link_ranks_share(d, &q->edges, &k.b)))
        return d->e->code;
    find_positives(&k);
    if (m->links.negatives && draw_negatives(&k))
        return d->e->code;
    if (m->links.exclude && gnn_link_exclude(&q->edges, d, k.b.every, k.b.time, k.b.all))
        return d->e->code;
    for (unsigned i = 0; i < LINK_ENDS; i++)
        add_ends(&k, &k.of[one ? LINK_HEAD : i], i);
    for (unsigned i = 0; i < LINK_ENDS; i++)
        if (k.of[i].n && add_roots(&k, &k.of[i], i))
            return d->e->code;
    return add_columns(&k);
}
