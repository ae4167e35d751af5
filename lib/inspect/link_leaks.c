/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/link_leaks.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/rule.h"
#include "lib/inspect/in_time.h"
#include "lib/store/sums.h"

#define NO_TYPE UINT32_MAX

static const struct gnn_etype *type_of(const struct gnn_link_leaks *l)
{
    return &l->m->schema.etype[l->m->sampling.links.etype];
}

/* Where weights decide what may be picked: sums of them. */
static int find_weights(struct gnn_link_leaks *l, struct gnn_err *e)
{
    const struct gnn_sampling *m = &l->m->sampling;
    struct gnn_store *s = l->view->store;
    const uint32_t n = s->meta.schema.netypes;
    l->sum = gnn_alloc_zero((uint64_t)n * s->nparts, sizeof *l->sum, "weights", e);
    for (uint32_t et = 0; l->sum && m->weight && et < n; et++)
        for (uint32_t p = 0; m->by_field[et] && p < s->nparts; p++) {
            struct gnn_store_sums x;
            if (gnn_store_sums_make(s, p, et, m->weight, &x, e))
                return e->code;
            l->sum[(size_t)et * s->nparts + p] = x.of.sum;
        }
    return e->code;
}

int gnn_link_leaks_init(struct gnn_link_leaks *l, const struct gnn_meta *m,
                        const struct gnn_view *v, const int64_t *const *time, struct gnn_err *e)
{
    l->m = m;
    l->view = v;
    l->time = time;
    l->linked.by_tree = l->both.by_tree = m->sampling.disjoint;
    if (find_weights(l, e))
        return e->code;
    return gnn_listed_links_init(&l->known, v, m->sampling.links.etype, e);
}

void gnn_link_leaks_release(struct gnn_link_leaks *l)
{
    gnn_free(l->sum);
    l->sum = NULL;
    gnn_listed_links_release(&l->known);
    gnn_absent_release(&l->absent);
    gnn_absent_release(&l->linked);
    gnn_absent_release(&l->both);
    gnn_among_release(&l->among);
    gnn_buf_release(&l->is_end);
}

/* ---- negatives ---- */

/* Whose links training knows, or, of a set that is evaluated and of links of a file, all. */
static int known_set(const struct gnn_link_leaks *l, uint32_t split)
{
    const struct gnn_sampling *m = &l->m->sampling;
    const struct gnn_schema *c = &l->view->store->meta.schema;
    const char *name = m->split[split], *slash = strrchr(name, '/'),
               *last = slash ? slash + 1 : name;
    const int set = gnn_schema_find_links(c, m->links.etype, name);
    if (split || !strcmp(last, "valid") || !strcmp(last, "test") ||
        (!strcmp(name, "seeds") && (set < 0 || c->set[set].count != m->split_seeds[split])))
        return GNN_LISTED_ALL;
    return set < 0 ? GNN_LISTED_NONE : set;
}

static uint32_t store_id(const struct gnn_link_leaks *l, uint32_t type, uint32_t node)
{
    return l->m->sampling.original_ids ? gnn_view_store_id(l->view, type, node) : node;
}

/* Whether an end of a negative is in the tree, and of the time, of its link's tail. */
static bool is_with(const struct gnn_batch_type *x, uint32_t end,
                    const struct gnn_batch_type *tails, uint32_t tail)
{
    return (!x->tree || x->tree[end] == tails->tree[tail]) &&
           (!x->time || x->time[end] == tails->time[tail]);
}

static void look_at_negatives(struct gnn_link_leaks *l, const struct gnn_batch *b, uint64_t nth)
{
    const struct gnn_etype *t = type_of(l);
    const struct gnn_batch_type *heads = &b->type[t->src], *tails = &b->type[t->dst];
    const uint64_t n = b->rows[GNN_UNIT_PAIRS];
    const struct gnn_drawn drawn = gnn_sampling_drawn(&l->m->sampling, b->split);
    const int set = known_set(l, b->split);
    for (uint64_t i = 0; i < b->rows[GNN_UNIT_NEGATIVES]; i++) {
        if (gnn_batch_lacks(b, drawn, i)) {
            l->negatives--;
            continue;
        }
        const uint32_t *x = &b->negative[2 * i], head = heads->node[x[0]], tail = tails->node[x[1]];
        if (gnn_listed_links_know(&l->known, store_id(l, t->src, head), store_id(l, t->dst, tail),
                                  set))
            gnn_leak_add(&l->edges, "batch %" PRIu64 ": negative %" PRIu64 ": %u -> %u", nth, i,
                         head, tail);
        if (l->m->sampling.ranks) /* its link may be another rank's */
            continue;
        const uint32_t of = b->pair[2 * gnn_drawn_positive(drawn, i, n) + 1];
        if (!is_with(heads, x[0], tails, of) || !is_with(tails, x[1], tails, of))
            gnn_leak_add(&l->strayed, "batch %" PRIu64 ": negative %" PRIu64 ": %u -> %u", nth, i,
                         head, tail);
    }
    l->links += n;
    l->negatives += b->rows[GNN_UNIT_NEGATIVES];
}

/* ---- edges ---- */

/* The mark of an entry that a batch begins with. */
static uint8_t *mark_of(const struct gnn_link_leaks *l, const struct gnn_batch *b, uint32_t type,
                        uint32_t entry)
{
    const struct gnn_etype *t = type_of(l);
    return (uint8_t *)l->is_end.data + (type == t->dst ? 0 : b->type[t->dst].count[0]) + entry;
}

static int mark_ends(struct gnn_link_leaks *l, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_etype *t = type_of(l);
    const uint64_t n = b->type[t->src].count[0] + b->type[t->dst].count[0];
    if (gnn_buf_fit(&l->is_end, n, 1, "links", e))
        return e->code;
    memset(l->is_end.data, 0, n);
    for (uint64_t i = 0; i < b->rows[GNN_UNIT_PAIRS]; i++) {
        *mark_of(l, b, t->src, b->pair[2 * i]) = 1;
        *mark_of(l, b, t->dst, b->pair[2 * i + 1]) = 1;
    }
    return GNN_OK;
}

int gnn_link_leaks_begin(struct gnn_link_leaks *l, const struct gnn_batch *b, uint64_t nth,
                         struct gnn_err *e)
{
    l->among_type = NO_TYPE;
    look_at_negatives(l, b, nth);
    if (gnn_absent_set(&l->absent, l->m, l->m->sampling.links.exclude, l->view, b, e) ||
        gnn_absent_set(&l->linked, l->m, GNN_EXCLUDE_SELF, l->view, b, e) ||
        gnn_absent_set(&l->both, l->m, GNN_EXCLUDE_REVERSE, l->view, b, e))
        return e->code;
    return mark_ends(l, b, e);
}

/* A row of a block: where it is, and what the store has. */
struct row {
    uint32_t et, hop, i, entry, dst; /* dst: original */
    const struct gnn_view_row *of;
    const int64_t *time; /* of the store's row, or NULL */
    const int64_t *at;   /* of the entry, or NULL */
    uint32_t tree;
};

/* Whether an edge of a batch, from a node of the store, is among those in x. Without its id, any
 * edge that its time allows may be it. */
static bool is_leak(const struct gnn_link_leaks *l, const struct gnn_absent *x, const struct row *r,
                    uint32_t src, const uint64_t *id)
{
    bool found = false;
    if (!r->time)
        return gnn_absent_has(x, r->et, src, r->dst, NULL, r->tree);
    for (uint64_t j = 0; j < r->of->n; j++) {
        if (r->of->indices[j] != src ||
            (id && *id != gnn_view_edge_id(l->view, r->et, r->dst, r->of, j)))
            continue;
        if (gnn_absent_has(x, r->et, src, r->dst, &r->time[j], r->tree))
            found = true;
        else if (gnn_in_time(&l->m->sampling.rule.time, &r->time[j], r->at))
            return false;
    }
    return found;
}

/* How many edges of the store's row may be picked. */
static uint32_t count_eligible(const struct gnn_link_leaks *l, const struct gnn_batch *b,
                               const struct row *r, bool induced)
{
    const struct gnn_etype *t = &l->m->schema.etype[r->et];
    const uint64_t *sum = l->sum[(size_t)r->et * l->view->store->nparts + r->of->part];
    const bool original = l->m->sampling.original_ids;
    uint32_t n = 0;
    sum = sum ? sum + r->of->first : NULL;
    for (uint64_t j = 0; j < r->of->n; j++) {
        const uint32_t src = r->of->indices[j];
        n += (!r->time || gnn_in_time(&l->m->sampling.rule.time, &r->time[j], r->at)) &&
             (!sum || sum[j] != (j ? sum[j - 1] : 0)) &&
             !gnn_absent_has(&l->absent, r->et, src, r->dst, r->time ? &r->time[j] : NULL, 0) &&
             (!induced ||
              gnn_among_find(&l->among, original ? gnn_view_orig(l->view, t->src, src) : src,
                             &b->type[t->dst], r->entry) != UINT32_MAX);
    }
    return n;
}

/* Whether the row of a link's end has as many edges as that of any node would have. */
static int look_at_end(struct gnn_link_leaks *l, const struct gnn_batch *b, uint64_t nth,
                       const struct row *r, struct gnn_err *e)
{
    const struct gnn_sampling *m = &l->m->sampling;
    const struct gnn_etype *t = &l->m->schema.etype[r->et];
    const struct gnn_block *k = gnn_batch_block(b, r->hop, r->et);
    const bool induced = gnn_sampling_induces(m, r->hop);
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (induced && l->among_type != t->src &&
        gnn_among_set(&l->among, &b->type[t->src], gnn_batch_nodes(b, t->src), e))
        return e->code;
    l->among_type = induced ? t->src : l->among_type;
    const uint32_t some = count_eligible(l, b, r, induced),
                   n = k->indptr[r->i + 1] - k->indptr[r->i],
                   want = gnn_pick_count(
                       gnn_sampling_rule(m, (uint64_t)r->hop * b->netypes + r->et), some);
    if (n < want)
        gnn_leak_add(&l->few,
                     "batch %" PRIu64 ": hop %u: node %u has %u edge%s of %s, and should have %u",
                     nth, r->hop, b->type[t->dst].node[r->entry], n, gnn_plural(n),
                     gnn_etype_key(&l->m->schema, r->et, key, sizeof key), want);
    return GNN_OK;
}

int gnn_link_leaks_row(struct gnn_link_leaks *l, const struct gnn_batch *b, uint64_t nth,
                       uint32_t hop, uint32_t et, uint32_t i, const struct gnn_view_row *row,
                       uint32_t dst, struct gnn_err *e)
{
    const struct gnn_etype *t = &l->m->schema.etype[et];
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const struct gnn_batch_type *x = &b->type[t->dst];
    const int64_t *time = l->time[(size_t)et * l->view->store->nparts + row->part];
    const uint32_t entry = k->first + i;
    const struct row r = {et,
                          hop,
                          i,
                          entry,
                          dst,
                          row,
                          time ? time + row->first : NULL,
                          x->time ? &x->time[entry] : NULL,
                          x->tree ? x->tree[entry] : 0};
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t j = k->indptr[i]; j < k->indptr[i + 1]; j++) {
        const uint32_t node = b->type[t->src].node[k->indices[j]], src = store_id(l, t->src, node);
        const uint64_t *id = k->id ? &k->id[j] : NULL;
        if (is_leak(l, &l->both, &r, src, id))
            gnn_leak_add(is_leak(l, &l->linked, &r, src, id) ? &l->own : &l->reverse,
                         "batch %" PRIu64 ": hop %u: edge %u of %s: %u -> %u", nth, hop, j,
                         gnn_etype_key(&l->m->schema, et, key, sizeof key), node, x->node[entry]);
    }
    if (l->m->sampling.ranks || entry >= x->count[0] ||
        (t->dst != type_of(l)->src && t->dst != type_of(l)->dst) || !*mark_of(l, b, t->dst, entry))
        return GNN_OK;
    return look_at_end(l, b, nth, &r, e);
}
