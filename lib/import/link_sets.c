/* SPDX-License-Identifier: Apache-2.0 */
/* Which links are in which set: at random (lib/import/link_random.h), by time, or of files. */
#include "lib/import/link_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/rand.h"
#include "lib/data/time.h"
#include "lib/import/link_given.h"
#include "lib/import/link_random.h"

struct making {
    struct link_sets *x;
    const struct gnn_link_split_opts *o;
    bool one_type, by_time, timed; /* timed: links are told by their times, too */
    struct link_given given;       /* sets of files, if x->listed */
    double share[GNN_LINK_SETS];
    double until_share[2];         /* of all, of train, and of train and valid */
    const struct gnn_field *order; /* times of edges; NULL: there are none */
    uint64_t *link;                /* a bit per edge: a link, of which others are repetitions */
    struct gnn_link_pairs pairs;   /* at random */
    uint64_t until[2];             /* by time: the last keys of train and valid */
    struct gnn_buf row;            /* of a row's edges */
};

static bool get_bit(const uint64_t *bits, uint64_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* ---- what is asked ---- */

static int bad_shares(const struct gnn_link_split_opts *o, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_USAGE,
                    "--split-links %s: expected S/R/D=TRAIN/VALID/TEST or "
                    "S/R/D=time:TRAIN/VALID/TEST, shares that add up to 100, or to 1, and some for "
                    "train; or S/R/D=train=FILE,valid=FILE,test=FILE; or S/R/D=ogb:ARCHIVE or "
                    "S/R/D=graphbolt:FOLDER",
                    o->text);
}

static int parse_shares(struct making *k, const char *p, struct gnn_err *e)
{
    double sum = 0;
    for (int i = 0; i < GNN_LINK_SETS; i++) {
        char *end;
        k->share[i] = strtod(p, &end);
        sum += k->share[i];
        if (end == p || !(k->share[i] >= 0) || *end != (i + 1 < GNN_LINK_SETS ? '/' : 0))
            return bad_shares(k->o, e);
        p = end + 1;
    }
    const double all = sum > 2 ? 100 : 1;
    if (!(fabs(sum - all) < all * 1e-9) || !(k->share[GNN_LINKS_TRAIN] > 0))
        return bad_shares(k->o, e);
    k->until_share[0] = k->share[0] / all;
    k->until_share[1] = k->share[GNN_LINKS_TEST] > 0 ? (k->share[0] + k->share[1]) / all : 1;
    return 0;
}

static const struct gnn_field *order_of(const struct gnn_etype *t)
{
    return t->order ? gnn_field_find(t->field, t->nfields, t->order) : NULL;
}

static int need_times(struct making *k, struct gnn_err *e)
{
    const struct gnn_store *s = k->x->view->store;
    const struct gnn_schema *c = &s->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t i = 0; k->timed && i < k->x->ntypes; i++)
        if (!order_of(&c->etype[k->x->edges[i].etype]))
            return gnn_fail(e, GNN_E_USAGE,
                            "--split-links %s: edges '%s' of %s have no times by which they are "
                            "ordered",
                            k->o->text, gnn_etype_key(c, k->x->edges[i].etype, key, sizeof key),
                            s->path);
    return 0;
}

/* The '=' behind the type, whose name may have some, too: before the first file, or else the last.
 */
static const char *find_end(const char *text)
{
    for (const char *eq = strchr(text, '='); eq; eq = strchr(eq + 1, '='))
        if (gnn_link_given_is(eq + 1))
            return eq;
    return strrchr(text, '=');
}

static int parse_text(struct making *k, struct gnn_err *e)
{
    const struct gnn_schema *c = &k->x->view->store->meta.schema;
    const char *text = k->o->text, *eq = find_end(text);
    if (!eq)
        return bad_shares(k->o, e);
    char *key = gnn_strf(e, "%.*s", (int)(eq - text), text);
    const int type = key ? gnn_schema_need_etype(c, "--split-links", key, e) : e->code;
    gnn_free(key);
    if (e->code)
        return e->code;
    k->by_time = !strncmp(eq + 1, "time:", 5);
    k->x->listed = gnn_link_given_is(eq + 1);
    const int rev = gnn_schema_reverse(c, (uint32_t)type);
    k->x->edges[0].etype = (uint32_t)type;
    k->x->edges[1].etype = rev < 0 ? 0 : (uint32_t)rev;
    k->x->ntypes = rev < 0 ? 1 : 2;
    k->one_type = c->etype[type].src == c->etype[type].dst;
    k->order = order_of(&c->etype[type]);
    if (k->order)
        k->x->time = k->order->dtype == GNN_F32 || k->order->dtype == GNN_F64 ? GNN_F64 : GNN_I64;
    k->timed = k->by_time || (k->x->listed && k->order);
    if (!k->x->listed)
        return parse_shares(k, eq + (k->by_time ? 6 : 1), e) ? e->code : need_times(k, e);
    return need_times(k, e)
               ? e->code
               : gnn_link_given_read(&k->given, text, eq + 1, k->x->view, (uint32_t)type,
                                     k->order ? k->order->dtype : 0, k->x->time, e);
}

/* ---- edges ---- */

static int number_edges(const struct gnn_view *v, struct link_edge_sets *t, struct gnn_err *e)
{
    const struct gnn_etype *et = &v->store->meta.schema.etype[t->etype];
    const uint64_t tails = v->store->meta.schema.ntype[et->dst].count;
    t->n = et->count;
    t->first = gnn_alloc(tails + 1, sizeof *t->first, "offsets of edges", e);
    t->of = t->first ? gnn_alloc_zero(t->n, 1, "sets of edges", e) : NULL;
    if (!t->of)
        return e->code;
    t->first[0] = 0;
    for (uint64_t i = 0; i < tails; i++)
        t->first[i + 1] = t->first[i] + gnn_view_row(v, t->etype, i).n;
    return 0;
}

/* The order fields' rows of a part, or NULL. */
static const void *times_of(const struct gnn_view *v, uint32_t etype, uint32_t part,
                            const struct gnn_field *f)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&v->store->meta.schema, etype, key, sizeof key);
    const struct gnn_tensor *t =
        f ? gnn_store_findf(v->store, part, "edge/%s/%s", key, f->name) : NULL;
    return t ? t->data : NULL;
}

/* An edge of a row: its head, its time as a number in order, and its place in the row. */
struct row_edge {
    uint64_t time, at;
    uint32_t head;
};

static int by_time_and_head(const void *a, const void *b)
{
    const struct row_edge *x = a, *y = b;
    return x->time != y->time   ? (x->time < y->time ? -1 : 1)
           : x->head != y->head ? (x->head < y->head ? -1 : 1)
                                : (x->at > y->at) - (x->at < y->at);
}

/* The edges of a row; with their times, if these tell links: at random, repetitions may have any.
 */
static int read_row(struct making *k, uint32_t etype, const struct gnn_field *order, uint64_t tail,
                    struct row_edge **out, uint64_t *n, struct gnn_err *e)
{
    const struct gnn_view *v = k->x->view;
    const struct gnn_view_row row = gnn_view_row(v, etype, tail);
    const uint32_t src = v->store->meta.schema.etype[etype].src;
    const void *times = k->timed ? times_of(v, etype, row.part, order) : NULL;
    if (gnn_buf_reserve(&k->row, row.n, sizeof **out, "a row of edges", e))
        return e->code;
    *out = k->row.data;
    *n = row.n;
    for (uint64_t j = 0; j < row.n; j++) {
        struct row_edge *x = &(*out)[j];
        *x = (struct row_edge){.at = j, .head = gnn_view_orig(v, src, row.indices[j])};
        if (times && !gnn_time_key(order->dtype, times, row.first + j, &x->time))
            return gnn_fail(e, GNN_E_INPUT, "%s: edge field '%s' has a time that is no number",
                            gnn_store_part_path(v->store, row.part), order->name);
    }
    return 0;
}

static uint64_t pair_key(const struct making *k, uint32_t head, uint64_t tail)
{
    const uint64_t h = head;
    return k->one_type && tail < h ? tail << 32 | h : h << 32 | tail;
}

/* Which edges are links, and whether each has its reverse. */
static int find_links(struct making *k, struct gnn_err *e)
{
    const struct link_edge_sets *t = &k->x->edges[0];
    const struct gnn_schema *c = &k->x->view->store->meta.schema;
    const uint64_t tails = c->ntype[c->etype[t->etype].dst].count;
    uint64_t sum = 0, n;
    struct row_edge *row;
    if (!(k->link = gnn_alloc_zero(t->n / 64 + 1, sizeof *k->link, "links", e)))
        return e->code;
    for (uint64_t v = 0; v < tails; v++) {
        if (read_row(k, t->etype, k->order, v, &row, &n, e))
            return e->code;
        if (n)
            qsort(row, n, sizeof *row, by_time_and_head);
        for (uint64_t j = 0; j < n; j++) {
            const uint64_t id = t->first[v] + row[j].at, u = row[j].head;
            if (j && row[j].time == row[j - 1].time && row[j].head == row[j - 1].head)
                continue;
            k->link[id / 64] |= (uint64_t)1 << id % 64;
            sum += u < v   ? gnn_rand_pair(u << 32 | v, row[j].time)
                   : u > v ? 0 - gnn_rand_pair(v << 32 | u, row[j].time)
                           : 0;
        }
    }
    k->x->symmetric = k->one_type && !sum;
    return 0;
}

/* ---- at random ---- */

static int list_pairs(struct making *k, struct gnn_err *e)
{
    const struct link_edge_sets *t = &k->x->edges[0];
    const struct gnn_view *v = k->x->view;
    const struct gnn_etype *et = &v->store->meta.schema.etype[t->etype];
    const uint64_t tails = v->store->meta.schema.ntype[et->dst].count;
    uint64_t n = 0;
    if (!(k->pairs.key = gnn_alloc(t->n, sizeof *k->pairs.key, "pairs of nodes", e)))
        return e->code;
    for (uint64_t i = 0; i < tails; i++) {
        const struct gnn_view_row row = gnn_view_row(v, t->etype, i);
        for (uint64_t j = 0; j < row.n; j++)
            if (get_bit(k->link, t->first[i] + j))
                k->pairs.key[n++] = pair_key(k, gnn_view_orig(v, et->src, row.indices[j]), i);
    }
    if (gnn_link_pairs_sort(&k->pairs, n, e))
        return e->code;
    k->x->pairs = k->pairs.n;
    return 0;
}

static int place_pairs(struct making *k, struct gnn_err *e)
{
    const double n = (double)k->pairs.n;
    const uint64_t training = (uint64_t)(n * k->until_share[0] + 0.5);
    const struct gnn_link_places places = {
        .apart = (uint64_t)((double)training * k->o->supervision + 0.5),
        .until = {training, (uint64_t)(n * k->until_share[1] + 0.5)}};
    if (k->o->supervision > 0 && (!places.apart || places.apart == training))
        return gnn_fail(e, GNN_E_INPUT,
                        "--supervision %g: of %llu training pairs, it leaves none %s",
                        k->o->supervision, (unsigned long long)training,
                        places.apart ? "to carry messages" : "to learn from");
    return gnn_link_pairs_place(&k->pairs, &places, k->o->seed, e);
}

/* ---- by time ---- */

/* As NumPy's quantiles divide the links' times. */
static int find_quantiles(struct making *k, struct gnn_err *e)
{
    const struct link_edge_sets *t = &k->x->edges[0];
    const struct gnn_schema *c = &k->x->view->store->meta.schema;
    const uint64_t tails = c->ntype[c->etype[t->etype].dst].count;
    uint64_t *times = gnn_alloc(t->n, sizeof *times, "times of links", e), all = 0, n;
    struct row_edge *row;
    for (uint64_t v = 0; times && !e->code && v < tails; v++) {
        if (read_row(k, t->etype, k->order, v, &row, &n, e))
            break;
        for (uint64_t j = 0; j < n; j++)
            if (get_bit(k->link, t->first[v] + j) && (!k->x->symmetric || v <= row[j].head))
                times[all++] = row[j].time;
    }
    if (!e->code && all && !gnn_sort_ascending(times, all, e)) {
        k->until[0] = times[(uint64_t)((double)(all - 1) * k->until_share[0])];
        k->until[1] = times[(uint64_t)((double)(all - 1) * k->until_share[1])];
    }
    gnn_free(times);
    return e->code;
}

static uint8_t find_time(const struct making *k, uint64_t time)
{
    return time <= k->until[0]   ? GNN_LINKS_TRAIN
           : time <= k->until[1] ? GNN_LINKS_VALID
                                 : GNN_LINKS_TEST;
}

/* ---- sets ---- */

static uint8_t find_listed(struct making *k, unsigned which, uint32_t head, uint32_t tail,
                           uint64_t time)
{
    const uint32_t set =
        gnn_link_given_find(&k->given, which ? tail : head, which ? head : tail, time);
    k->x->unlisted += !which && set == GNN_LINK_SETS;
    return set == GNN_LINK_SETS ? GNN_LINKS_TRAIN : (uint8_t)set;
}

static int place_edges(struct making *k, unsigned which, struct gnn_err *e)
{
    struct link_edge_sets *t = &k->x->edges[which];
    const struct gnn_schema *c = &k->x->view->store->meta.schema;
    const struct gnn_etype *et = &c->etype[t->etype];
    uint64_t n;
    struct row_edge *row;
    for (uint64_t v = 0; v < c->ntype[et->dst].count; v++) {
        if (read_row(k, t->etype, order_of(et), v, &row, &n, e))
            return e->code;
        for (uint64_t j = 0; j < n; j++)
            t->of[t->first[v] + j] =
                k->x->listed ? find_listed(k, which, row[j].head, (uint32_t)v, row[j].time)
                : k->by_time ? find_time(k, row[j].time)
                : which      ? gnn_link_pairs_find(&k->pairs, pair_key(k, (uint32_t)v, row[j].head))
                             : gnn_link_pairs_find(&k->pairs, pair_key(k, row[j].head, v));
    }
    return 0;
}

/* A time as links have it, of an edge in the field's dtype. */
static int64_t time_of(const struct making *k, const void *times, uint64_t i)
{
    const enum gnn_dtype d = k->order->dtype;
    uint64_t key = 0;
    if (k->x->time == GNN_F64)
        return gnn_time_bits(d == GNN_F32 ? (double)((const float *)times)[i]
                                          : ((const double *)times)[i]);
    (void)gnn_time_key(d, times, i, &key);
    return (int64_t)(d == GNN_U64 ? key : key ^ (uint64_t)1 << 63);
}

/* Adds the links of a row to their sets, or, while there is no memory for them, counts them. */
static void add_members(struct making *k, uint64_t tail, const struct gnn_view_row *row)
{
    struct link_sets *x = k->x;
    const struct link_edge_sets *t = &x->edges[0];
    const uint32_t src = x->view->store->meta.schema.etype[t->etype].src;
    const unsigned learned = k->o->supervision > 0 ? LINK_APART : GNN_LINKS_TRAIN;
    const void *times = times_of(x->view, t->etype, row->part, k->order);
    for (uint64_t j = 0; j < row->n; j++) {
        const uint64_t id = t->first[tail] + j;
        const uint32_t head = gnn_view_orig(x->view, src, row->indices[j]);
        const bool trained = t->of[id] == learned;
        if (!get_bit(k->link, id) || (x->symmetric && head < tail) ||
            (!trained && (t->of[id] == GNN_LINKS_TRAIN || x->listed)))
            continue;
        struct link_members *m = &x->set[trained ? GNN_LINKS_TRAIN : t->of[id]];
        if (m->ends) {
            m->ends[2 * m->n] = head;
            m->ends[2 * m->n + 1] = (uint32_t)tail;
            m->id[m->n] = id;
        }
        if (m->time)
            m->time[m->n] = time_of(k, times, row->first + j);
        m->n++;
    }
}

static int alloc_members(const struct making *k, struct link_members *m, struct gnn_err *e)
{
    m->ends = gnn_alloc(2 * m->n, sizeof *m->ends, "a set of links", e);
    m->id = gnn_alloc(m->n, sizeof *m->id, "a set of links", e);
    m->time = k->x->time ? gnn_alloc(m->n, sizeof *m->time, "times of links", e) : NULL;
    m->n = 0;
    return e->code;
}

/* Those of a file, in its order. */
static int take_listed(struct making *k, uint32_t set, struct gnn_err *e)
{
    const struct gnn_link_text *from = &k->given.list[set];
    struct link_members *m = &k->x->set[set];
    m->n = from->n;
    if (alloc_members(k, m, e))
        return e->code;
    m->n = from->n;
    gnn_free(m->id);
    m->id = NULL; /* they need not be edges */
    memcpy(m->ends, from->node.data, 2 * m->n * sizeof *m->ends);
    if (m->time)
        memcpy(m->time, from->time.data, m->n * sizeof *m->time);
    return 0;
}

/* Sets of files, and set train of all other edges, if no file lists it. */
static int list_given(struct making *k, struct gnn_err *e)
{
    struct link_sets *x = k->x;
    const struct gnn_schema *c = &x->view->store->meta.schema;
    const uint64_t tails = c->ntype[c->etype[x->edges[0].etype].dst].count;
    struct link_members *others = &x->set[GNN_LINKS_TRAIN];
    for (uint32_t i = 0; i < GNN_LINK_SETS; i++)
        if (k->given.file[i] && take_listed(k, i, e))
            return e->code;
    for (int pass = 0; !k->given.file[GNN_LINKS_TRAIN] && pass < 2; pass++) {
        for (uint64_t v = 0; v < tails; v++) {
            const struct gnn_view_row row = gnn_view_row(x->view, x->edges[0].etype, v);
            add_members(k, v, &row);
        }
        if (!others->n)
            return gnn_fail(e, GNN_E_INPUT,
                            "--split-links %s: all edges of %s are links of valid or test, so "
                            "nothing is left to train on",
                            k->o->text, x->view->store->path);
        if (!pass && alloc_members(k, others, e))
            return e->code;
    }
    return 0;
}

static int list_members(struct making *k, struct gnn_err *e)
{
    struct link_sets *x = k->x;
    const struct gnn_schema *c = &x->view->store->meta.schema;
    const uint64_t tails = c->ntype[c->etype[x->edges[0].etype].dst].count;
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t v = 0; v < tails; v++) {
            const struct gnn_view_row row = gnn_view_row(x->view, x->edges[0].etype, v);
            add_members(k, v, &row);
        }
        for (int i = 0; i < GNN_LINK_SETS; i++) {
            if (!x->set[i].n && k->share[i] > 0)
                return gnn_fail(e, GNN_E_INPUT,
                                "--split-links %s: of the links in %s, none would be in set %s: "
                                "give it a larger share, or 0",
                                k->o->text, x->view->store->path, gnn_link_set_name[i]);
            if (!pass && alloc_members(k, &x->set[i], e))
                return e->code;
        }
    }
    return 0;
}

static int make_sets(struct making *k, struct gnn_err *e)
{
    struct link_sets *x = k->x;
    if (parse_text(k, e))
        return e->code;
    if ((k->by_time || x->listed) && k->o->supervision > 0)
        return gnn_fail(e, GNN_E_USAGE, "--supervision: cannot be used with a split by %s",
                        x->listed ? "files" : "time");
    if ((k->by_time || x->listed) && k->o->seeded)
        return gnn_fail(e, GNN_E_USAGE, "--seed: has no effect on a split by %s",
                        x->listed ? "files" : "time");
    for (uint32_t i = 0; i < x->ntypes; i++)
        if (number_edges(x->view, &x->edges[i], e))
            return e->code;
    if (find_links(k, e) || (x->listed ? gnn_link_given_sort(&k->given, x->symmetric, x->again, e)
                             : k->by_time ? find_quantiles(k, e)
                                          : list_pairs(k, e) || place_pairs(k, e)))
        return e->code;
    for (uint32_t i = 0; i < x->ntypes; i++)
        if (place_edges(k, i, e))
            return e->code;
    if (!x->listed)
        return list_members(k, e);
    return gnn_link_given_absent(&k->given, x->absent, e) ? e->code : list_given(k, e);
}

int gnn_link_sets_init(struct link_sets *x, const struct gnn_view *v,
                       const struct gnn_link_split_opts *o, struct gnn_err *e)
{
    struct making k = {.x = x, .o = o, .given.archive = &x->archive};
    x->view = v;
    (void)!make_sets(&k, e);
    gnn_free(k.link);
    gnn_link_pairs_release(&k.pairs);
    gnn_link_given_release(&k.given);
    gnn_buf_release(&k.row);
    return e->code;
}

void gnn_link_sets_release(struct link_sets *x)
{
    gnn_link_archive_release(&x->archive);
    for (int i = 0; i < 2; i++) {
        gnn_free(x->edges[i].first);
        gnn_free(x->edges[i].of);
    }
    for (int i = 0; i < GNN_LINK_SETS; i++) {
        gnn_free(x->set[i].ends);
        gnn_free(x->set[i].time);
        gnn_free(x->set[i].id);
        gnn_free(x->given[i].ends);
    }
    *x = (struct link_sets){0};
}
