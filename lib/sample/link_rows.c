/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a type by one of their ends (lib/sample/links.h), and what is not among them: the
 * node of rank r in the complement of an ascending row is found by halving, so that negatives which
 * are no edges are drawn without rejection, however few there are. */
#include <stdio.h>
#include <string.h>

#include "lib/sample/links.h"

/* ---- rows ---- */

/* In-edges of the tail with original id v. */
struct in_row {
    const uint32_t *head; /* store ids */
    uint64_t n;
};
static struct in_row in_row(const struct link_edges *q, uint64_t v)
{
    const uint32_t type = q->ntype[LINK_TAIL];
    const uint64_t id = q->to_store[LINK_TAIL] ? q->to_store[LINK_TAIL][v] : v;
    const uint32_t p = gnn_store_owner(q->store, type, id);
    return (struct in_row){q->part[p].indices + q->part[p].indptr[id - q->store->book[type][p]],
                           q->first[v + 1] - q->first[v]};
}

static uint32_t head_of(const struct link_edges *q, uint32_t id)
{
    return q->to_orig[LINK_HEAD] ? q->to_orig[LINK_HEAD][id] : id;
}

static int check_heads(const struct link_edges *q, struct gnn_err *e)
{
    for (uint32_t p = q->store->from; p < q->store->to; p++) {
        const struct link_part *x = &q->part[p];
        uint32_t beyond = 0;
        for (uint64_t i = 0; i < x->nedges; i++) /* without a branch */
            beyond |= x->indices[i] >= q->nodes[LINK_HEAD];
        if (beyond)
            return gnn_fail(e, GNN_E_INPUT, "%s: edges '%s' have a source out of range",
                            gnn_store_part_path(q->store, p),
                            q->store->meta.schema.etype[q->etype].rel);
    }
    return 0;
}

/* Whether the store's rows are those by tail: ascending, without repeats, in original ids. */
static bool are_rows(const struct link_edges *q)
{
    const struct link_part *x = q->part;
    bool ascend = q->store->nparts == 1 && !q->own_first && !q->to_orig[LINK_HEAD];
    for (uint64_t v = 0; ascend && v < q->nodes[LINK_TAIL]; v++)
        for (uint64_t i = x->indptr[v] + 1; i < x->indptr[v + 1]; i++)
            ascend &= x->indices[i - 1] < x->indices[i];
    return ascend;
}

/* A number of a pair of nodes, for sums: of SplitMix64. */
static uint64_t mix_pair(uint64_t a, uint64_t b)
{
    uint64_t x = (a << 32 | b) + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* A sum over the pairs of rows by tail, which is 0 if these are rows by head, too: if each pair is
 * there both ways. Different sets of pairs have the same sum with probability 2^-64. */
static uint64_t sum_ways(const struct link_rows *r)
{
    uint64_t sum = 0;
    for (uint64_t v = 0; r->same && v < r->nodes; v++)
        for (uint64_t i = r->first[v]; i < r->first[v + 1]; i++) {
            const uint32_t u = r->other[i];
            sum += u < v ? mix_pair(u, v) : u > v ? 0 - mix_pair(v, u) : 0;
        }
    return sum;
}

struct making {
    const struct link_edges *q;
    unsigned end;
    struct gnn_buf links; /* struct link (n): of sets */
    uint64_t n;
    bool both; /* each of them stands for its reverse, too */
    /* With several ranks, struct link (npairs): all pairs of this rank's rows. */
    struct gnn_buf pairs;
    uint64_t npairs;
};

/* Adds a pair to a row, or, while there is none, counts it. */
static void add_pair(const struct making *x, uint64_t *first, uint32_t *other, uint32_t head,
                     uint32_t tail)
{
    const uint32_t at = x->end == LINK_TAIL ? tail : head;
    if (other)
        other[first[at]] = x->end == LINK_TAIL ? head : tail;
    first[at]++;
}

static void add_pairs(const struct making *x, uint64_t *first, uint32_t *other)
{
    const struct link *links = x->links.data, *pairs = x->pairs.data;
    for (uint64_t i = 0; i < x->npairs; i++)
        add_pair(x, first, other, pairs[i].end[LINK_HEAD], pairs[i].end[LINK_TAIL]);
    if (x->q->store->comm->size > 1)
        return;
    for (uint64_t v = 0; v < x->q->nodes[LINK_TAIL]; v++) {
        const struct in_row row = in_row(x->q, v);
        for (uint64_t i = 0; i < row.n; i++)
            add_pair(x, first, other, head_of(x->q, row.head[i]), (uint32_t)v);
    }
    for (uint64_t i = 0; i < x->n; i++) {
        const uint32_t *end = links[i].end;
        add_pair(x, first, other, end[LINK_HEAD], end[LINK_TAIL]);
        if (x->both)
            add_pair(x, first, other, end[LINK_TAIL], end[LINK_HEAD]);
    }
}

/* The different ones of n, ascending; returns how many there are. */
static uint64_t sort_row(uint32_t *to, uint32_t *from, uint64_t n)
{
    bool ascend = true;
    uint64_t many = 0;
    for (uint64_t i = 1; i < n; i++)
        ascend &= from[i - 1] <= from[i];
    if (!ascend)
        gnn_u32_sort(from, n);
    for (uint64_t i = 0; i < n; i++)
        if (!i || from[i] != to[many - 1])
            to[many++] = from[i];
    return many;
}

static void fill_rows(const struct making *x, uint64_t *first, uint32_t *other)
{
    const uint64_t n = x->q->nodes[x->end];
    memset(first, 0, (n + 1) * sizeof *first);
    add_pairs(x, first, NULL);
    for (uint64_t u = 0, sum = 0; u <= n; u++) {
        const uint64_t many = first[u];
        first[u] = sum;
        sum += many;
    }
    add_pairs(x, first, other);
    uint64_t to = 0;
    for (uint64_t u = 0, from = 0; u < n; u++) { /* now first[u] is where the row ends */
        const uint64_t end = first[u];
        first[u] = to;
        to += sort_row(other + to, other + from, end - from);
        from = end;
    }
    first[n] = to;
}

static int make_rows(struct gnn_store *store, struct gnn_derived *d, void *arg, struct gnn_err *e)
{
    (void)store;
    const struct making *x = arg;
    uint64_t *first = d->array[0].data =
        gnn_alloc(d->array[0].n, sizeof *first, "rows of edges", e);
    uint32_t *other = d->array[1].data =
        gnn_alloc_zero(d->array[1].n, sizeof *other, "rows of edges", e);
    if (!first || !other)
        return e->code;
    fill_rows(x, first, other);
    return 0;
}

/* Offsets that were kept are not trusted. */
static int check_rows(const struct link_edges *q, const struct link_rows *r, uint64_t nedges,
                      struct gnn_err *e)
{
    bool good = !r->first[0] && r->first[r->nodes] <= nedges;
    for (uint64_t v = 0; v < r->nodes; v++)
        good &= r->first[v] <= r->first[v + 1];
    return good ? 0
                : gnn_fail(e, GNN_E_INPUT, "%s.index: rows of edges have bad offsets",
                           q->store->path);
}

bool gnn_link_rows_find(const struct link_rows *r, uint32_t v, uint32_t node, uint64_t *at)
{
    uint64_t low = r->first[v], high = r->first[v + 1];
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (r->other[mid] < node)
            low = mid + 1;
        else
            high = mid;
    }
    *at = low - r->first[v];
    return low < r->first[v + 1] && r->other[low] == node;
}

/* Rows of the edges, and of the links of x. */
static int find_rows(struct making *x, const char *what, struct link_rows *r, struct gnn_err *e)
{
    const struct link_edges *q = x->q;
    const struct gnn_schema *c = &q->store->meta.schema;
    const uint64_t n = c->etype[q->etype].count + x->n * (x->both ? 2 : 1);
    struct gnn_derived d = {
        .what = what,
        .etype = q->etype,
        .narrays = 2,
        .array = {{.name = "first", .dtype = GNN_U64, .n = q->nodes[x->end] + 1},
                  {.name = "other", .dtype = GNN_U32, .n = n}}};
    *r = (struct link_rows){.nodes = q->nodes[x->end],
                            .others = q->nodes[!x->end],
                            .same = q->ntype[LINK_HEAD] == q->ntype[LINK_TAIL]};
    if (!x->n && are_rows(q)) {
        r->first = q->part->indptr;
        r->other = q->part->indices;
        if (x->end == LINK_TAIL || (r->same && !sum_ways(r)))
            return 0;
    }
    if (gnn_derived_get(q->store, &d, make_rows, x, e))
        return e->code;
    r->first = d.array[0].data;
    r->other = d.array[1].data;
    return d.kept ? check_rows(q, r, n, e) : 0;
}

/* Likewise, of each rank's own nodes. */
static int find_own_rows(struct making *x, struct link_rows *r, struct gnn_err *e)
{
    const struct link_edges *q = x->q;
    *r = (struct link_rows){.nodes = q->nodes[x->end],
                            .others = q->nodes[!x->end],
                            .same = q->ntype[LINK_HEAD] == q->ntype[LINK_TAIL]};
    if (gnn_link_ranks_pairs(q, x->end, x->links.data, x->n, x->both, &x->pairs, &x->npairs, e)) {
        gnn_buf_release(&x->pairs);
        return e->code;
    }
    uint64_t *first = r->own[0] = gnn_alloc(r->nodes + 1, sizeof *first, "rows of edges", e);
    uint32_t *other = r->own[1] = gnn_alloc_zero(x->npairs, sizeof *other, "rows of edges", e);
    if (!e->code)
        fill_rows(x, first, other);
    r->first = first;
    r->other = other;
    gnn_buf_release(&x->pairs);
    return e->code;
}

void gnn_link_rows_release(struct link_rows *r)
{
    for (int i = 0; i < 2; i++)
        gnn_free(r->own[i]);
    *r = (struct link_rows){0};
}

/* Whether each edge has its reverse, so that a pair is one link. */
static int find_ways(const struct link_edges *q, const char *what, bool *both, struct gnn_err *e)
{
    struct making x = {.q = q, .end = LINK_TAIL};
    struct link_rows r = {0};
    struct gnn_comm *c = q->store->comm;
    uint64_t sum;
    int rc = c->size > 1 ? find_own_rows(&x, &r, e) : find_rows(&x, what, &r, e);
    if (!rc) {
        sum = sum_ways(&r);
        rc = gnn_comm_all_reduce(c, &sum, 1, GNN_REDUCE_U64, e);
        *both = r.same && !sum;
    }
    gnn_link_rows_release(&r);
    return rc;
}

static int read_sets(struct making *x, int set, struct gnn_err *e)
{
    const struct gnn_schema *c = &x->q->store->meta.schema;
    for (uint32_t i = 0; i < c->nsets; i++) {
        struct link_list list = {.n = 0};
        if (!c->set[i].links || c->set[i].etype != x->q->etype ||
            gnn_schema_given_kind(&c->set[i]) >= 0 || (set != LINK_ALL_SETS && set != (int)i))
            continue;
        if (!gnn_link_list_of_set(&list, x->q, i, e) && list.n &&
            !gnn_buf_reserve(&x->links, x->n + list.n, sizeof(struct link), "links", e)) {
            memcpy((struct link *)x->links.data + x->n, list.links.data,
                   list.n * sizeof(struct link));
            x->n += list.n;
        }
        gnn_link_list_release(&list);
        if (e->code)
            return e->code;
    }
    return 0;
}

int gnn_link_rows_get(const struct link_edges *q, unsigned end, int set, struct link_rows *r,
                      struct gnn_err *e)
{
    const char *plain[LINK_ENDS] = {"tails", "heads"};
    char what[32];
    struct making x = {.q = q, .end = end};
    if (check_heads(q, e) || (set != LINK_NO_SET && read_sets(&x, set, e)))
        goto out;
    if (x.n && find_ways(q, plain[LINK_TAIL], &x.both, e))
        goto out;
    snprintf(what, sizeof what,
             !x.n                   ? "%s"
             : set == LINK_ALL_SETS ? "%s-all"
                                    : "%s-set%d",
             plain[end], set);
    (void)!(q->store->comm->size > 1 ? find_own_rows(&x, r, e) : find_rows(&x, what, r, e));
out:
    gnn_buf_release(&x.links);
    return e->code;
}

/* ---- what is not among them ---- */

uint64_t gnn_link_rows_absent(const struct link_rows *r, uint32_t v)
{
    uint64_t at;
    const uint64_t n =
        r->first[v + 1] - r->first[v] + (r->same && !gnn_link_rows_find(r, v, v, &at));
    return n < r->others ? r->others - n : 0;
}

uint32_t gnn_link_rows_nth(const struct link_rows *r, uint32_t v, uint64_t rank)
{
    const uint32_t *row = r->other + r->first[v];
    uint64_t n = r->first[v + 1] - r->first[v], self = UINT64_MAX, at;
    if (r->same && !gnn_link_rows_find(r, v, v, &at)) { /* v is as if it were there */
        self = at;
        n++;
    }
    uint64_t low = 0, high = n; /* the first i with at least rank + 1 absent ones before it */
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        const uint64_t node = mid == self ? v : row[mid - (mid > self)];
        if (node - mid > rank)
            high = mid;
        else
            low = mid + 1;
    }
    return (uint32_t)(rank + low);
}
