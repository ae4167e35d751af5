/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/listed_links.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/rand.h"
#include "lib/data/time.h"
#include "lib/store/ids.h"

static const struct gnn_etype *type_of(const struct gnn_listed_links *x)
{
    return &x->view->store->meta.schema.etype[x->etype];
}

/* ---- the list ---- */

static int compare_pairs(const struct gnn_listed *x, const struct gnn_listed *y)
{
    return x->group != y->group ? (x->group < y->group ? -1 : 1)
           : x->tail != y->tail ? (x->tail < y->tail ? -1 : 1)
           : x->head != y->head ? (x->head < y->head ? -1 : 1)
           : x->time != y->time ? (x->time < y->time ? -1 : 1)
                                : 0;
}

static int compare_links(const void *a, const void *b)
{
    const struct gnn_listed *x = a, *y = b;
    const int order = compare_pairs(x, y);
    return order ? order : (x->set > y->set) - (x->set < y->set);
}

static void sort_links(struct gnn_listed *link, uint64_t n)
{
    if (n)
        qsort(link, n, sizeof *link, compare_links);
}

/* The number of links before `want`. */
static uint64_t count_before(const struct gnn_listed *link, uint64_t n, struct gnn_listed want)
{
    uint64_t low = 0;
    while (n) {
        const bool before = compare_links(&link[low + n / 2], &want) < 0;
        low += before ? n / 2 + 1 : 0;
        n = before ? n - n / 2 - 1 : n / 2;
    }
    return low;
}

static int add_set(struct gnn_listed_links *x, uint32_t set, struct gnn_err *e)
{
    struct gnn_store *s = x->view->store;
    const struct gnn_split_set *own = &s->meta.schema.set[set];
    uint32_t *ends;
    int64_t *times = NULL;
    if (gnn_store_links(s, set, &ends, &times, e))
        return e->code;
    for (uint64_t i = 0; i < own->count; i++)
        x->link[x->n++] = (struct gnn_listed){
            0, ends[2 * i + 1], ends[2 * i], set,
            times && x->timed ? gnn_time_order(own->time == GNN_F64, times[i]) : 0};
    gnn_free(ends);
    gnn_free(times);
    return GNN_OK;
}

/* Whether each pair of nodes that an edge joins is joined both ways; other edges have the same sum
 * with probability 2^-64. */
static int find_symmetry(struct gnn_listed_links *x, struct gnn_err *e)
{
    const struct gnn_view *v = x->view;
    const struct gnn_etype *t = type_of(x);
    struct gnn_buf sources = {0};
    uint64_t sum = 0;
    for (uint64_t i = 0; t->src == t->dst && i < v->store->meta.schema.ntype[t->dst].count; i++) {
        const struct gnn_view_row row = gnn_view_row(v, x->etype, i);
        if (gnn_buf_fit(&sources, row.n + 1, sizeof *row.indices, "a row of edges", e))
            break;
        uint32_t *u = sources.data;
        for (uint64_t j = 0; j < row.n; j++)
            u[j] = gnn_view_orig(v, t->src, row.indices[j]);
        gnn_u32_sort(u, row.n);
        for (uint64_t j = 0; j < row.n; j++)
            if (!j || u[j] != u[j - 1])
                sum += u[j] < i   ? gnn_rand_pair((uint64_t)u[j] << 32 | i, 0)
                       : u[j] > i ? 0 - gnn_rand_pair(i << 32 | u[j], 0)
                                  : 0;
    }
    gnn_buf_release(&sources);
    x->symmetric = t->src == t->dst && !sum;
    return e->code;
}

/* Of links, and not of given negatives. */
static bool is_link_set(const struct gnn_split_set *set, uint32_t etype)
{
    return set->links && set->etype == etype && gnn_schema_given_kind(set) < 0;
}

int gnn_listed_links_init(struct gnn_listed_links *x, const struct gnn_view *v, uint32_t etype,
                          struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    uint64_t n = 0;
    *x = (struct gnn_listed_links){.view = v, .etype = etype, .timed = true};
    if (v->store->base && gnn_view_init(&x->base, v->store->base, e))
        return e->code;
    for (uint32_t i = 0; i < c->nsets; i++)
        if (is_link_set(&c->set[i], etype)) {
            n += c->set[i].count;
            x->timed &= c->set[i].time != 0;
        }
    if (!(x->link = gnn_alloc(n, sizeof *x->link, "links of sets", e)))
        return e->code;
    for (uint32_t i = 0; i < c->nsets; i++)
        if (is_link_set(&c->set[i], etype) && add_set(x, i, e))
            return e->code;
    sort_links(x->link, x->n);
    return x->n ? find_symmetry(x, e) : GNN_OK;
}

void gnn_listed_links_release(struct gnn_listed_links *x)
{
    gnn_view_release(&x->base);
    gnn_free(x->link);
    *x = (struct gnn_listed_links){0};
}

/* ---- what is known ---- */

static bool has_edge(const struct gnn_listed_links *x, const struct gnn_view *v, uint32_t head,
                     uint32_t tail)
{
    const struct gnn_view_row row =
        gnn_view_row(v, x->etype, gnn_view_orig(v, type_of(x)->dst, tail));
    for (uint64_t j = 0; j < row.n; j++)
        if (row.indices[j] == head)
            return true;
    return false;
}

static bool has_link(const struct gnn_listed_links *x, uint32_t head, uint32_t tail, int set)
{
    uint64_t i = count_before(x->link, x->n, (struct gnn_listed){0, tail, head, 0, INT64_MIN});
    for (; i < x->n && x->link[i].tail == tail && x->link[i].head == head; i++)
        if (set == GNN_LISTED_ALL || x->link[i].set == (uint32_t)set)
            return true;
    return false;
}

bool gnn_listed_links_know(const struct gnn_listed_links *x, uint32_t head, uint32_t tail, int set)
{
    return has_edge(x, x->view, head, tail) ||
           (set == GNN_LISTED_ALL && x->base.store && has_edge(x, &x->base, head, tail)) ||
           (set != GNN_LISTED_NONE &&
            (has_link(x, head, tail, set) || (x->symmetric && has_link(x, tail, head, set))));
}

/* ---- what sets give away ---- */

/* The first set of the split that a set is of. */
static uint32_t split_of(const struct gnn_schema *c, uint32_t set)
{
    uint32_t i = 0;
    while (strcmp(c->set[i].split, c->set[set].split) != 0)
        i++;
    return i;
}

int gnn_listed_links_shared(const struct gnn_listed_links *x, struct gnn_leak *l, struct gnn_err *e)
{
    const struct gnn_view *v = x->view;
    const struct gnn_schema *c = &v->store->meta.schema;
    struct gnn_listed *k = gnn_alloc(x->n, sizeof *k, "links of sets", e);
    if (!k)
        return e->code;
    for (uint64_t i = 0; i < x->n; i++) {
        k[i] = x->link[i];
        k[i].group = split_of(c, k[i].set);
        if (x->symmetric && k[i].head > k[i].tail) {
            k[i].head = x->link[i].tail;
            k[i].tail = x->link[i].head;
        }
    }
    sort_links(k, x->n);
    for (uint64_t i = 0, end; i < x->n; i = end) {
        for (end = i + 1; end < x->n && !compare_pairs(&k[end], &k[i]);)
            end++;
        if (k[i].set != k[end - 1].set)
            gnn_leak_add(l, "split %s: link %u -> %u is in %s and in %s", c->set[k[i].set].split,
                         gnn_view_orig(v, type_of(x)->src, k[i].head),
                         gnn_view_orig(v, type_of(x)->dst, k[i].tail), c->set[k[i].set].set,
                         c->set[k[end - 1].set].set);
    }
    gnn_free(k);
    return GNN_OK;
}

/* Edges that are to be found, sorted by their destinations. */
struct wanted {
    const struct gnn_listed_links *of;
    uint32_t etype;
    bool timed;
    struct gnn_listed *link;
    uint64_t n;
};

static void add_wanted(struct wanted *w, bool back)
{
    const struct gnn_schema *c = &w->of->view->store->meta.schema;
    for (uint64_t i = 0; i < w->of->n; i++) {
        const struct gnn_listed *x = &w->of->link[i];
        const struct gnn_split_set *set = &c->set[x->set];
        if (set->messages || (strcmp(set->set, "valid") != 0 && strcmp(set->set, "test") != 0))
            continue;
        w->link[w->n++] = (struct gnn_listed){0, back ? x->head : x->tail, back ? x->tail : x->head,
                                              x->set, w->timed ? x->time : 0};
    }
}

/* An edge's time as a link's. */
static int64_t time_of(const struct gnn_field *f, const void *times, uint64_t i)
{
    uint64_t key = 0;
    (void)gnn_time_key(f->dtype, times, i, &key);
    return (int64_t)(f->dtype == GNN_U64 ? key : key ^ (uint64_t)1 << 63);
}

/* Looks for `n` wanted edges, to one destination, in its row. */
static void look_in_row(const struct wanted *w, const struct gnn_listed *want, uint64_t n,
                        const struct gnn_field *f, struct gnn_leak *l)
{
    const struct gnn_view *v = w->of->view;
    const struct gnn_schema *c = &v->store->meta.schema;
    const struct gnn_etype *t = &c->etype[w->etype];
    const uint32_t dst = gnn_view_orig(v, t->dst, want->tail);
    const struct gnn_view_row row = gnn_view_row(v, w->etype, dst);
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(c, w->etype, key, sizeof key);
    const struct gnn_tensor *time =
        w->timed ? gnn_store_findf(v->store, row.part, "edge/%s/%s", key, f->name) : NULL;
    for (uint64_t j = 0; j < row.n; j++) {
        const struct gnn_listed edge = {0, want->tail, row.indices[j], 0,
                                        time ? time_of(f, time->data, row.first + j) : 0};
        const uint64_t i = count_before(want, n, edge);
        if (i < n && !compare_pairs(&want[i], &edge))
            gnn_leak_add(l, "edge %u -> %u of %s: a link of set %s/%s or the reverse of one",
                         gnn_view_orig(v, t->src, edge.head), dst, key, c->set[want[i].set].split,
                         c->set[want[i].set].set);
    }
}

static void look_for(struct wanted *w, const struct gnn_field *f, struct gnn_leak *l)
{
    sort_links(w->link, w->n);
    for (uint64_t i = 0, end; i < w->n; i = end) {
        for (end = i + 1; end < w->n && w->link[end].tail == w->link[i].tail;)
            end++;
        look_in_row(w, w->link + i, end - i, f, l);
    }
}

int gnn_listed_links_messages(const struct gnn_listed_links *x, struct gnn_leak *l,
                              struct gnn_err *e)
{
    const struct gnn_schema *c = &x->view->store->meta.schema;
    const int rev = gnn_schema_reverse(c, x->etype);
    const uint32_t etype[2] = {x->etype, rev < 0 ? x->etype : (uint32_t)rev};
    const bool timed = x->timed && !gnn_etype_is_raised(&c->etype[etype[0]]) &&
                       !gnn_etype_is_raised(&c->etype[etype[1]]);
    for (unsigned k = 0; k < (rev < 0 ? 1 : 2); k++) {
        const struct gnn_etype *t = &c->etype[etype[k]];
        const struct gnn_field *f =
            t->order ? gnn_field_find(t->field, t->nfields, t->order) : NULL;
        struct wanted w = {.of = x, .etype = etype[k], .timed = timed && f};
        if (!(w.link = gnn_alloc(2 * x->n, sizeof *w.link, "links of sets", e)))
            return e->code;
        if (!k)
            add_wanted(&w, false);
        if (k || t->src == t->dst)
            add_wanted(&w, true);
        look_for(&w, f, l);
        gnn_free(w.link);
    }
    return GNN_OK;
}
