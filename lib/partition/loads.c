/* SPDX-License-Identifier: Apache-2.0 */
/* Several loads per part, and who is lightest in each. */
#include "lib/partition/loads.h"

#include <string.h>

#include "lib/base/mem.h"

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t cap_of(uint64_t total, double imbalance, uint64_t k)
{
    const uint64_t even = total / k + (total % k != 0),
                   more = (uint64_t)((double)total * imbalance / (double)k);
    return more > even ? more : even;
}

static int set_init(struct gnn_loads *l, struct gnn_load_con *c, uint32_t set, struct gnn_err *e)
{
    const struct gnn_view *v = l->view;
    const struct gnn_split_set *ss = &v->store->meta.schema.set[set];
    const uint64_t words = v->nvertices / 64 + 1;
    uint32_t *ids = NULL;

    c->member = gnn_alloc_zero(words, sizeof *c->member, "members of a set", e);
    if (!c->member || gnn_store_split(v->store, set, &ids, e))
        return e->code;
    l->bytes += words * sizeof *c->member;
    for (uint64_t i = 0; i < ss->count; i++) {
        const uint64_t x = v->base[ss->ntype] + gnn_view_orig(v, ss->ntype, ids[i]);
        c->total += !(c->member[x / 64] >> x % 64 & 1);
        c->member[x / 64] |= (uint64_t)1 << x % 64;
    }
    gnn_free(ids);
    return GNN_OK;
}

/* Counts what c says, unless there is too little of it. */
static void keep_con(struct gnn_loads *l, struct gnn_load_con *c, uint64_t least)
{
    if (c->total >= least && l->ncon++ < GNN_METIS_CONSTRAINTS_MAX)
        l->con[l->ncon - 1] = *c;
    else
        gnn_free(c->member);
}

static int bad_number(uint64_t n, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_USAGE, "%llu balance constraints; there can be 1 to %d",
                    (unsigned long long)n, GNN_METIS_CONSTRAINTS_MAX);
}

/* What is counted, and how much there is of it. */
static int cons_init(struct gnn_loads *l, const struct gnn_even *even, uint64_t parts,
                     struct gnn_err *e)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const unsigned b = even->balance;
    const uint64_t least = even->no_small ? parts : 0;
    struct gnn_load_con nodes = {.what = GNN_BALANCE_NODES, .total = l->view->nvertices},
                        edges = {.what = GNN_BALANCE_EDGES};
    if (!b || even->nsets > GNN_METIS_CONSTRAINTS_MAX)
        return bad_number(even->nsets, e);
    for (uint32_t et = 0; et < sc->netypes; et++)
        edges.total += sc->etype[et].count;
    if (b & GNN_BALANCE_NODES)
        keep_con(l, &nodes, 0);
    if (b & GNN_BALANCE_EDGES)
        keep_con(l, &edges, 0);
    for (uint32_t i = 0; b & GNN_BALANCE_SETS && i < even->nsets; i++) {
        struct gnn_load_con c = {.what = GNN_BALANCE_SETS};
        const int rc = set_init(l, &c, even->sets[i], e);
        keep_con(l, &c, least);
        if (rc)
            return rc;
    }
    for (uint32_t t = 0; b & GNN_BALANCE_TYPES && t < sc->nntypes; t++) {
        struct gnn_load_con c = {.what = GNN_BALANCE_TYPES, .type = t, .total = sc->ntype[t].count};
        keep_con(l, &c, least);
    }
    if (!l->ncon)
        keep_con(l, &nodes, 0);
    return l->ncon <= GNN_METIS_CONSTRAINTS_MAX ? GNN_OK : bad_number(l->ncon, e);
}

int gnn_loads_init(struct gnn_loads *l, const struct gnn_view *v, const struct gnn_even *even,
                   uint32_t k, uint32_t group, uint32_t finer, struct gnn_err *e)
{
    *l = (struct gnn_loads){.view = v, .k = k, .group = group, .leaves = 1};
    if (cons_init(l, even, (uint64_t)k * finer, e))
        return e->code;
    for (struct gnn_load_con *c = l->con; c < l->con + l->ncon; c++)
        c->cap = min_of(cap_of(c->total, even->imbalance, k),
                        finer * cap_of(c->total, even->imbalance, (uint64_t)k * finer));
    while (l->leaves < group)
        l->leaves *= 2;
    const uint64_t nodes = (uint64_t)(k / group) * l->ncon * l->leaves;
    l->load = gnn_alloc(k, l->ncon * sizeof *l->load, "weights of partitions", e);
    l->lightest = gnn_alloc(nodes, sizeof *l->lightest, "weights of partitions", e);
    if (!l->load || !l->lightest)
        return e->code;
    l->bytes += (uint64_t)k * l->ncon * sizeof *l->load + nodes * sizeof *l->lightest;
    gnn_loads_clear(l);
    return GNN_OK;
}

void gnn_loads_release(struct gnn_loads *l)
{
    for (uint32_t c = 0; c < GNN_METIS_CONSTRAINTS_MAX; c++)
        gnn_free(l->con[c].member);
    gnn_free(l->load);
    gnn_free(l->lightest);
    *l = (struct gnn_loads){0};
}

/* ---- tournaments: the lightest part of each run; a change replays log2(group) matches ---- */

/* The part that won at node i of the tree of (run, c); UINT32_MAX beyond the run's end. */
static uint32_t winner_at(const struct gnn_loads *l, const uint32_t *tree, uint32_t lo, uint32_t i)
{
    if (i < l->leaves)
        return tree[i];
    return i - l->leaves < l->group ? lo + (i - l->leaves) : UINT32_MAX;
}

static void play_match(const struct gnn_loads *l, uint32_t *tree, uint32_t lo, uint32_t c,
                       uint32_t i)
{
    const uint32_t a = winner_at(l, tree, lo, 2 * i), b = winner_at(l, tree, lo, 2 * i + 1);
    tree[i] =
        b == UINT32_MAX || l->load[(size_t)a * l->ncon + c] <= l->load[(size_t)b * l->ncon + c] ? a
                                                                                                : b;
}

static uint32_t *tree_of(const struct gnn_loads *l, uint32_t lo, uint32_t c)
{
    return l->lightest + ((size_t)(lo / l->group) * l->ncon + c) * l->leaves;
}

void gnn_loads_clear(struct gnn_loads *l)
{
    memset(l->load, 0, (size_t)l->k * l->ncon * sizeof *l->load);
    for (uint32_t lo = 0; lo < l->k; lo += l->group)
        for (uint32_t c = 0; c < l->ncon; c++)
            for (uint32_t i = l->leaves; i-- > 1;)
                play_match(l, tree_of(l, lo, c), lo, c, i);
}

static void update_tree(struct gnn_loads *l, uint32_t p, uint32_t c)
{
    const uint32_t lo = p - p % l->group;
    uint32_t *tree = tree_of(l, lo, c);
    for (uint32_t i = (p - lo + l->leaves) / 2; i; i /= 2)
        play_match(l, tree, lo, c, i);
}

static void change_load(struct gnn_loads *l, uint32_t p, const struct gnn_weights *w, bool add)
{
    for (uint32_t c = 0; c < l->ncon; c++)
        if (w->of[c]) {
            l->load[(size_t)p * l->ncon + c] += add ? w->of[c] : -w->of[c];
            update_tree(l, p, c);
        }
}

void gnn_loads_add(struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    change_load(l, p, w, true);
}

void gnn_loads_take(struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    change_load(l, p, w, false);
}

/* ---- weights and limits ---- */

struct gnn_weights gnn_loads_weigh(const struct gnn_loads *l, uint32_t t, uint64_t d)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const uint64_t x = l->view->base[t] + d;
    struct gnn_weights w = {{0}};
    for (uint32_t i = 0; i < l->ncon; i++) {
        const struct gnn_load_con *c = &l->con[i];
        if (c->what == GNN_BALANCE_NODES)
            w.of[i] = 1;
        else if (c->what == GNN_BALANCE_SETS)
            w.of[i] = c->member[x / 64] >> x % 64 & 1;
        else if (c->what == GNN_BALANCE_TYPES)
            w.of[i] = c->type == t;
        else
            for (uint32_t et = 0; et < sc->netypes; et++)
                w.of[i] += sc->etype[et].dst == t ? gnn_view_row(l->view, et, d).n : 0;
    }
    return w;
}

double gnn_loads_fill(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    double most = 0;
    for (uint32_t c = 0; c < l->ncon; c++) {
        const double x =
            w->of[c] ? (double)l->load[(size_t)p * l->ncon + c] / (double)l->con[c].cap : 0;
        most = x > most ? x : most;
    }
    return most;
}

double gnn_loads_excess(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    double sum = 0;
    for (uint32_t c = 0; c < l->ncon; c++) {
        const uint64_t load = l->load[(size_t)p * l->ncon + c], cap = l->con[c].cap;
        if (load + w->of[c] > cap)
            sum += (double)(load + w->of[c] - (load > cap ? load : cap)) / (double)cap;
    }
    return sum;
}

double gnn_loads_relief(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    double sum = 0;
    for (uint32_t c = 0; c < l->ncon; c++) {
        const uint64_t load = l->load[(size_t)p * l->ncon + c], cap = l->con[c].cap;
        if (load > cap)
            sum += (double)min_of(load - cap, w->of[c]) / (double)cap;
    }
    return sum;
}

bool gnn_loads_fits(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    for (uint32_t c = 0; c < l->ncon; c++)
        if (w->of[c] && l->load[(size_t)p * l->ncon + c] + w->of[c] > l->con[c].cap)
            return false;
    return true;
}

bool gnn_loads_over(const struct gnn_loads *l, uint32_t p, const struct gnn_weights *w)
{
    for (uint32_t c = 0; c < l->ncon; c++)
        if (w->of[c] && l->load[(size_t)p * l->ncon + c] > l->con[c].cap)
            return true;
    return false;
}

bool gnn_loads_any_over(const struct gnn_loads *l)
{
    for (size_t i = 0; i < (size_t)l->k * l->ncon; i++)
        if (l->load[i] > l->con[i % l->ncon].cap)
            return true;
    return false;
}
