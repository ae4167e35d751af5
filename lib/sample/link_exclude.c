/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that a batch of links does not have (kernels/exclude.h). They are found by reading the rows
 * that they are in, once a batch: parallel edges too, without edge ids, and without an index. */
#include <string.h>

#include "kernels/owner.h"
#include "kernels/simd.h"
#include "lib/sample/links.h"

enum {
    FEW = 4,       /* sources that are looked for one after the other in a row */
    FILTER = 4096, /* bits, of more sources */
    AHEAD = 8,     /* rows that are fetched ahead, */
    FETCHED = 256, /* edges of each: what follows, the processor fetches by itself */
    LEAST_SLOTS = 16
};

/* Edges to be found: all from `source` to `node`, in store ids; of this time, if picks depend on
 * times. */
struct wanted {
    uint32_t node, source;
    int64_t time;
};
/* Those to one node: `first` and later ones; at last, the edges found. */
struct group {
    uint32_t slot, n;
    uint64_t first;
};

struct finding {
    const struct sample_draw *d;
    struct sample_excluded *x;
    const struct gnn_sample_graph *graph;
    struct gnn_pick_time time; /* the rule for times */
    uint32_t nwanted, ngroups;
    struct wanted *wanted, *sorted; /* (nwanted) as they come; by groups */
    struct group *group;            /* (nwanted) */
    uint32_t *node;                 /* (slots) of the table */
    struct gnn_skip *of;
    uint64_t *filter;
    uint32_t *found; /* positions in a row */
    uint64_t nfound, nedges;
};

int gnn_link_exclude_new(struct sample_worker *w, struct gnn_err *e)
{
    w->excluded = gnn_alloc_zero(w->netypes, sizeof *w->excluded, "a sampling thread", e);
    return w->excluded ? 0 : e->code;
}

void gnn_link_exclude_free(struct sample_worker *w)
{
    for (uint32_t et = 0; w->excluded && et < w->netypes; et++) {
        gnn_buf_release(&w->excluded[et].table);
        gnn_buf_release(&w->excluded[et].edges);
        gnn_buf_release(&w->excluded[et].wanted);
        gnn_buf_release(&w->excluded[et].found);
        gnn_buf_release(&w->excluded[et].sources);
    }
    gnn_free(w->excluded);
}

/* ---- which edges ---- */

/* Makes space for n wanted edges, and an empty table for their nodes. */
static int make_table(struct finding *f, uint64_t n)
{
    struct sample_excluded *x = f->x;
    uint64_t slots = LEAST_SLOTS, bits = 4;
    for (; slots < 4 * n && bits < 29; bits++)
        slots *= 2;
    if (gnn_buf_fit(&x->wanted, n, 2 * sizeof *f->wanted + sizeof *f->group, "links", f->d->e) ||
        gnn_buf_fit(&x->table, slots, sizeof *f->of + sizeof *f->node + 1, "links", f->d->e))
        return f->d->e->code;
    f->wanted = x->wanted.data;
    f->sorted = f->wanted + n;
    f->group = (struct group *)(void *)(f->sorted + n);
    f->of = x->table.data;
    f->node = (uint32_t *)(void *)(f->of + slots);
    f->filter = (uint64_t *)(void *)(f->node + slots);
    memset(f->node, 0xff, slots * sizeof *f->node);
    memset(f->filter, 0, slots);
    x->of = (struct gnn_excluded){f->node, f->of, f->filter, (uint32_t)(slots - 1),
                                  (uint32_t)(32 - bits)};
    return 0;
}

/* The in-edges of each positive's end `end`, from the other, if this rank has them. */
static void want_ends(struct finding *f, const struct link_edges *q, const struct link *link,
                      const int64_t *time, uint64_t n, unsigned end)
{
    for (uint64_t i = 0; i < n; i++) {
        uint32_t id[LINK_ENDS];
        for (unsigned k = 0; k < LINK_ENDS; k++)
            id[k] = q->to_store[k] ? q->to_store[k][link[i].end[k]] : link[i].end[k];
        if (gnn_store_owns(q->store, q->ntype[end], id[end]))
            f->wanted[f->nwanted++] = (struct wanted){id[end], id[!end], time ? time[i] : 0};
    }
}

static const struct gnn_sample_part *part_of(const struct finding *f, uint32_t node)
{
    const struct gnn_sample_graph *g = f->graph;
    return &g->part[gnn_owner_find(&g->part->first, sizeof *g->part, g->nparts, node)];
}

/* Sorts what is wanted by nodes, which are put into the table, in order of first occurrence. */
static void group_by_node(struct finding *f)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < f->nwanted; i++) {
        const uint32_t v = f->wanted[i].node, h = gnn_excluded_slot(&f->x->of, v);
        if (f->node[h] != v) {
            const struct gnn_sample_part *a = part_of(f, v);
            __builtin_prefetch(&a->indptr[v - a->first], 0, 3);
            const uint32_t bit = gnn_excluded_bit(&f->x->of, v);
            f->filter[bit / 64] |= UINT64_C(1) << bit % 64;
            f->node[h] = v;
            f->of[h].n = f->ngroups;
            f->group[f->ngroups++] = (struct group){h, 0, 0};
        }
        f->group[f->of[h].n].n++;
    }
    for (uint32_t g = 0; g < f->ngroups; g++) {
        f->group[g].first = first;
        first += f->group[g].n;
        f->group[g].n = 0;
    }
    for (uint32_t i = 0; i < f->nwanted; i++) {
        struct group *g = &f->group[f->of[gnn_excluded_slot(&f->x->of, f->wanted[i].node)].n];
        f->sorted[g->first + g->n++] = f->wanted[i];
    }
}

/* ---- where they are ---- */

static int add_found(struct finding *f, uint32_t at)
{
    if (gnn_buf_reserve(&f->x->found, f->nfound + 1, sizeof *f->found, "links", f->d->e))
        return f->d->e->code;
    f->found = f->x->found.data;
    f->found[f->nfound++] = at;
    return 0;
}

/* How many edges of a row are from a source, and the sum of their positions. */
struct matches {
    uint32_t n, sum;
};
GNN_SIMD static struct matches match_source(const uint32_t *row, uint32_t n, uint32_t source)
{
    uint32_t many = 0, sum = 0;
    for (uint32_t j = 0; j < n; j++) {
        many += row[j] == source;
        sum += row[j] == source ? j : 0;
    }
    return (struct matches){many, sum};
}

/* Edges from a source, at `from` to `to` - 1 of a row: mostly one, which is not looked for again.
 */
static int find_source(struct finding *f, const uint32_t *row, uint32_t from, uint32_t to,
                       uint32_t source)
{
    const struct matches m = match_source(row + from, to - from, source);
    if (m.n == 1)
        return add_found(f, from + m.sum);
    for (uint32_t j = from, left = m.n; left; j++)
        if (row[j] == source) {
            if (add_found(f, j))
                return f->d->e->code;
            left--;
        }
    return 0;
}

static bool is_in(const uint32_t *ascending, uint32_t n, uint32_t v)
{
    uint32_t low = 0;
    while (n) {
        const uint32_t half = n / 2;
        const bool less = ascending[low + half] < v;
        low += less ? half + 1 : 0;
        n = less ? n - half - 1 : half;
    }
    return ascending[low] == v;
}

/* Edges from any of many sources, in a row of n: most are seen not to be by one bit. */
static int find_sources(struct finding *f, const uint32_t *row, uint32_t n,
                        const struct wanted *wanted, uint32_t many)
{
    uint64_t filter[FILTER / 64] = {0};
    struct gnn_buf *buf = &f->x->sources;
    if (gnn_buf_fit(buf, many, sizeof(uint32_t), "links", f->d->e))
        return f->d->e->code;
    uint32_t *source = buf->data;
    for (uint32_t i = 0; i < many; i++) {
        source[i] = wanted[i].source;
        filter[source[i] % FILTER / 64] |= UINT64_C(1) << source[i] % 64;
    }
    gnn_u32_sort(source, many);
    for (uint32_t i = 0; i < n; i++)
        if ((filter[row[i] % FILTER / 64] >> row[i] % 64 & 1) && row[i] <= source[many - 1] &&
            is_in(source, many, row[i]) && add_found(f, i))
            return f->d->e->code;
    return 0;
}

/* Those of a group in the row x. */
static int find_in_row(struct finding *f, const struct gnn_sample_part *a,
                       const struct gnn_pick_range *x, const struct group *g)
{
    const uint32_t *row = a->indices + x->first;
    const struct wanted *w = f->sorted + g->first;
    int rc = 0;
    f->nfound = 0;
    if (f->time.until == GNN_PICK_ANY_TIME && g->n > FEW)
        return find_sources(f, row, x->span, w, g->n);
    for (uint32_t i = 0; !rc && i < g->n; i++) {
        uint32_t from = 0, to = x->span;
        if (f->time.until != GNN_PICK_ANY_TIME) {
            const int64_t *time = a->pick.time + x->first,
                          order = gnn_time_order(f->time.real, w[i].time);
            from = gnn_time_count(time, x->span, f->time.real, order, false);
            to = gnn_time_count(time, x->span, f->time.real, order, true);
        }
        rc = find_source(f, row, from, to, w[i].source);
    }
    if (f->nfound > 1)
        gnn_u32_sort(f->found, f->nfound);
    return rc;
}

/* Whether edge i of a row could be picked for its weight. */
static bool has_weight(const struct gnn_sample_part *a, const struct gnn_pick_range *x, uint32_t i)
{
    const uint32_t *positive = a->pick.positive ? a->pick.positive + x->first : NULL;
    return !positive || positive[i] != (i ? positive[i - 1] : 0);
}

/* Makes what was found in a row the edges of the group, each once. */
static int add_edges(struct finding *f, const struct gnn_sample_part *a,
                     const struct gnn_pick_range *x, struct group *g)
{
    if (gnn_buf_reserve(&f->x->edges, f->nedges + f->nfound, sizeof(uint32_t *), "links", f->d->e))
        return f->d->e->code;
    const uint32_t **edge = f->x->edges.data;
    g->first = f->nedges;
    for (uint64_t i = 0; i < f->nfound; i++)
        if ((!i || f->found[i] != f->found[i - 1]) && has_weight(a, x, f->found[i]))
            edge[f->nedges++] = a->indices + x->first + f->found[i];
    g->n = (uint32_t)(f->nedges - g->first);
    return 0;
}

/* The row of group g; false: it is damaged, which is found when it is sampled. */
static bool row_of(const struct finding *f, uint32_t g, const struct gnn_sample_part **a,
                   struct gnn_pick_range *x)
{
    const uint32_t v = f->node[f->group[g].slot];
    *a = part_of(f, v);
    return gnn_pick_row(&(*a)->indptr[v - (*a)->first], (*a)->nedges, x);
}

/* Fetches the rows of the next groups, from g on: all at once, so that the processor looks up their
 * pages side by side. */
static void fetch_rows(const struct finding *f, uint32_t g)
{
    const struct gnn_sample_part *a;
    struct gnn_pick_range x[AHEAD] = {0};
    const uint32_t *row[AHEAD];
    for (uint32_t k = 0; k < AHEAD && g + k < f->ngroups; k++) {
        if (!row_of(f, g + k, &a, &x[k]))
            x[k].span = 0;
        row[k] = a->indices + x[k].first;
        if (x[k].span)
            __builtin_prefetch(row[k], 0, 3);
    }
    for (uint32_t k = 0; k < AHEAD; k++)
        for (uint32_t i = 16; i < x[k].span && i < FETCHED; i += 16)
            __builtin_prefetch(row[k] + i, 0, 2);
}

static int find_edges(struct finding *f)
{
    fetch_rows(f, 0);
    for (uint32_t g = 0; g < f->ngroups; g++) {
        const struct gnn_sample_part *a;
        struct gnn_pick_range x;
        if (g % AHEAD == 0)
            fetch_rows(f, g + AHEAD);
        f->nfound = 0;
        if (row_of(f, g, &a, &x) && find_in_row(f, a, &x, &f->group[g]))
            return f->d->e->code;
        if (add_edges(f, a, &x, &f->group[g]))
            return f->d->e->code;
    }
    const uint32_t *const *edge = f->x->edges.data; /* which stay where they are now */
    f->x->nedges = f->nedges;
    for (uint32_t g = 0; g < f->ngroups; g++)
        f->of[f->group[g].slot] = (struct gnn_skip){edge + f->group[g].first, f->group[g].n};
    return 0;
}

int gnn_link_exclude(const struct link_edges *q, const struct sample_draw *d,
                     const struct link *link, const int64_t *time, uint64_t n)
{
    const struct gnn_links *l = &d->s->meta.sampling.links;
    const bool same = q->ntype[LINK_HEAD] == q->ntype[LINK_TAIL];
    for (uint32_t et = 0; et < d->b->netypes; et++) {
        const bool self = et == l->etype,
                   back = l->exclude == GNN_EXCLUDE_REVERSE && (et == l->reverse || (self && same));
        struct finding f = {.d = d,
                            .x = &d->w->excluded[et],
                            .graph = &d->s->graph[et],
                            .time = d->s->meta.sampling.rule.time};
        if (!f.graph->part || !(self || back))
            continue;
        if (l->any_time)
            f.time.until = GNN_PICK_ANY_TIME;
        if (make_table(&f, n * (self + back)))
            return d->e->code;
        if (self)
            want_ends(&f, q, link, time, n, LINK_TAIL);
        if (back)
            want_ends(&f, q, link, time, n, LINK_HEAD);
        group_by_node(&f);
        if (find_edges(&f))
            return d->e->code;
    }
    return 0;
}
