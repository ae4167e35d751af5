/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs about a batch stream, and leaks, which are counted where a proof ends at the first. */
#include <inttypes.h>
#include <string.h>

#include "lib/inspect/among.h"
#include "lib/inspect/absent.h"
#include "lib/inspect/in_time.h"
#include "lib/inspect/inspect.h"
#include "lib/inspect/laws.h"
#include "lib/inspect/leaks.h"
#include "lib/inspect/redraw.h"
#include "lib/inspect/report.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/rule.h"
#include "lib/data/source.h"
#include "lib/store/ids.h"

/* What is kept between batches. */
struct check {
    const char *name;
    const struct gnn_meta *meta;
    struct gnn_view view; /* of the store, if there is one */
    /* [netypes][nparts] of the store: the times by which edges are picked, or NULL */
    const int64_t **time;
    const int64_t **seed_time; /* [nparts] likewise, of nodes of the seed type */
    struct gnn_pick_time rule; /* what times of edges are held to */
    struct gnn_leaks *leaks;   /* edges that break it are counted here; NULL: they are refused */
    struct gnn_laws laws;
    struct gnn_redraw redraw; /* where no leaks are counted */
    struct gnn_buf sorted;    /* u32: the sources of a row */
    struct gnn_among among;   /* entries of a batch, where all edges among them must be there */
    struct gnn_absent absent; /* of a batch, where no leaks are counted */
    uint64_t *epoch_of;       /* [nsplits][nparts] one more than that of the last cluster, or 0 */
    uint32_t *tree_of;        /* [nparts] of clusters: one more than the tree, or 0 */
    struct last {
        bool any;
        uint64_t epoch, step;
    } * last;        /* [nsplits] */
    uint64_t stride; /* of training steps (gnn-sample --steps); 0: not known yet */
    uint64_t batch, edges;
};

/* A column of part p with times, of the type that the header says they have. */
static int find_column(const struct check *c, struct gnn_store *s, uint32_t p, const char *kind,
                       const char *type, const char *field, const int64_t **out, struct gnn_err *e)
{
    const struct gnn_tensor *t = gnn_store_findf(s, p, "%s/%s/%s", kind, type, field);
    if (!t || t->dtype != gnn_sampling_time_dtype(&c->meta->sampling))
        return gnn_fail(e, GNN_E_INPUT, "%s: has no tensor '%s/%s/%s' with the times of %s",
                        gnn_store_part_path(s, p), kind, type, field, c->name);
    *out = t->data;
    return GNN_OK;
}

/* Of temporal batches: by what times edges are in order, of the types that are sampled. */
static int find_times(struct check *c, struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *sc = &s->meta.schema;
    const struct gnn_sampling *m = &c->meta->sampling;
    char key[GNN_ETYPE_KEY_CAPACITY];
    int rc = GNN_OK;
    c->time = gnn_alloc_zero((uint64_t)sc->netypes * s->nparts, sizeof *c->time, "times", e);
    c->seed_time = gnn_alloc_zero(s->nparts, sizeof *c->seed_time, "times", e);
    if (!c->time || !c->seed_time || !gnn_sampling_is_temporal(m))
        return e->code;
    for (uint32_t et = 0; et < sc->netypes; et++)
        for (uint32_t p = 0; !rc && gnn_sampling_uses(m, sc->netypes, et) && p < s->nparts; p++)
            rc = find_column(c, s, p, "edge", gnn_etype_key(sc, et, key, sizeof key),
                             sc->etype[et].order, &c->time[(size_t)et * s->nparts + p], e);
    for (uint32_t p = 0; !rc && m->seed_time && p < s->nparts; p++)
        rc = find_column(c, s, p, "node", sc->ntype[m->seed_ntype].name, m->seed_time,
                         &c->seed_time[p], e);
    return rc;
}

static int check_init(struct check *c, struct gnn_store *store, struct gnn_err *e)
{
    c->last = gnn_alloc_zero(c->meta->sampling.nsplits, sizeof *c->last, "splits", e);
    if (!c->last)
        return e->code;
    if (!store)
        return gnn_laws_init(&c->laws, c->meta, NULL, NULL, e);
    if (strcmp(store->meta.identity, c->meta->identity) != 0 ||
        !gnn_schema_same_types(&store->meta.schema, &c->meta->schema))
        return gnn_meta_other_store(c->meta, &store->meta, store->path, e);
    c->tree_of = gnn_alloc_zero(store->nparts, sizeof *c->tree_of, "partitions", e);
    c->epoch_of = gnn_alloc_zero((uint64_t)c->meta->sampling.nsplits * store->nparts,
                                 sizeof *c->epoch_of, "partitions", e);
    if (!c->tree_of || !c->epoch_of)
        return e->code;
    c->rule = c->meta->sampling.rule.time;
    if (gnn_view_init(&c->view, store, e) || find_times(c, store, e) ||
        gnn_laws_init(&c->laws, c->meta, store, &c->view, e))
        return e->code;
    if (!c->leaks) {
        gnn_redraw_init(&c->redraw, store, c->meta);
        return GNN_OK;
    }
    c->rule.windowed = false; /* what is too old leaks nothing */
    return gnn_leaks_init(c->leaks, c->meta, c->name, &c->view, c->time, e);
}

static void check_release(struct check *c)
{
    gnn_free(c->last);
    gnn_free(c->time);
    gnn_free(c->seed_time);
    gnn_among_release(&c->among);
    gnn_absent_release(&c->absent);
    gnn_laws_release(&c->laws);
    gnn_redraw_release(&c->redraw);
    gnn_buf_release(&c->sorted);
    gnn_free(c->tree_of);
    gnn_free(c->epoch_of);
    gnn_view_release(&c->view);
}

/* Within a split, steps count up, training's by any one stride and others by one, and epochs do not
 * fall. */
static int check_key(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    struct last *last = &c->last[b->split];
    const bool next = last->any && b->epoch == last->epoch && b->step > last->step;
    if (next && !b->split && !c->stride)
        c->stride = b->step - last->step;
    if (last->any && b->epoch <= last->epoch &&
        !(next && b->step - last->step == (b->split ? 1 : c->stride)))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: batch %" PRIu64 ": epoch %" PRIu64 " step %" PRIu64
                        " follows epoch %" PRIu64 " step %" PRIu64,
                        c->name, c->batch, b->epoch, b->step, last->epoch, last->step);
    *last = (struct last){true, b->epoch, b->step};
    return GNN_OK;
}

/* That ids are in range, and none is there twice, the source of the batches has found. */
static int check_nodes(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    for (uint32_t t = 0; c->view.store && t < b->nntypes; t++)
        for (uint64_t i = 0; b->type[t].orig && i < gnn_batch_nodes(b, t); i++)
            if (b->type[t].orig[i] != gnn_view_orig(&c->view, t, b->type[t].node[i]))
                return gnn_fail(
                    e, GNN_E_INPUT,
                    "%s: batch %" PRIu64 ": node/%s/id: element %" PRIu64 ": not node %u's",
                    c->name, c->batch, c->meta->schema.ntype[t].name, i, b->type[t].node[i]);
    return GNN_OK;
}

/* What a batch says of an edge. */
struct claim {
    uint32_t src;        /* of the store */
    const uint64_t *id;  /* or NULL */
    const int64_t *time; /* of its destination, or NULL */
    const int64_t *own;  /* of its source, if that is the edge's, or NULL */
};
enum found { FOUND, OUT_OF_TIME, OTHER_TIME, EXCLUDED, NOT_FOUND };

/* Of an edge that is there. */
static enum found judge_time(const struct gnn_pick_time *r, int64_t edge, const struct claim *x)
{
    if (!gnn_in_time(r, &edge, x->time))
        return OUT_OF_TIME;
    return x->own && *x->own != gnn_time_of_entry(r->real, edge) ? OTHER_TIME : FOUND;
}

/* Whether the batch does not have the edges of links that other ranks have. */
static bool excludes_others(const struct check *c)
{
    return c->meta->sampling.ranks && c->meta->sampling.links.exclude;
}

/* Whether edge i of a row, into an original node, is excluded from the batch. */
static bool is_absent(const struct check *c, const struct gnn_view_row *r, uint32_t et,
                      uint32_t dst, uint64_t i)
{
    const int64_t *time = c->time[(size_t)et * c->view.store->nparts + r->part];
    return c->absent.n &&
           gnn_absent_has(&c->absent, et, r->indices[i], dst, time ? &time[r->first + i] : NULL, 0);
}

/* Whether there is such an edge among the in-edges of an original node. Their ids are in sequence,
 * so one with an id is looked for first where it should be. */
static enum found find_edge(const struct check *c, const struct gnn_view_row *r, uint32_t et,
                            uint32_t dst, struct claim x)
{
    const struct gnn_view *v = &c->view;
    const int64_t *time = c->time[(size_t)et * v->store->nparts + r->part];
    const uint64_t at = x.id && r->n ? *x.id - gnn_view_edge_id(v, et, dst, r, 0) : 0;
    enum found best = NOT_FOUND;
    for (uint64_t k = 0; k < r->n && (best == NOT_FOUND || (best != FOUND && !x.id)); k++) {
        const uint64_t i = at >= r->n ? k : at + k < r->n ? at + k : at + k - r->n;
        if (r->indices[i] == x.src && (!x.id || *x.id == gnn_view_edge_id(v, et, dst, r, i)))
            best = is_absent(c, r, et, dst, i) ? EXCLUDED
                   : !x.time || !time          ? FOUND
                                               : judge_time(&c->rule, time[r->first + i], &x);
    }
    return best;
}

/* An edge of a batch: element `edge` of a block, with the nodes that the batch has there. */
struct place {
    uint32_t hop, et, edge, src, dst;
};

static int judge_edge(struct check *c, struct place at, enum found found, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (found == FOUND)
        return GNN_OK;
    if (found != OUT_OF_TIME || !c->leaks)
        return gnn_fail(e, GNN_E_INPUT, "%s: batch %" PRIu64 ": hop %u: edge %u -> %u is %s",
                        c->name, c->batch, at.hop, at.src, at.dst,
                        found == NOT_FOUND    ? "not in the store"
                        : found == EXCLUDED   ? "a link of the batch, or the reverse of one, "
                                                "which it excludes"
                        : found == OTHER_TIME ? "of another time than its source"
                                              : "of a time that its seed rules out");
    gnn_leak_add(&c->leaks->future, "batch %" PRIu64 ": hop %u: edge %u of %s: %u -> %u", c->batch,
                 at.hop, at.edge, gnn_etype_key(&c->meta->schema, at.et, key, sizeof key), at.src,
                 at.dst);
    return GNN_OK;
}

/* How often the store has an edge from src, as the row may have picked it. */
static uint32_t count_edges(const struct check *c, const struct gnn_view_row *r, uint32_t et,
                            uint32_t dst, struct claim x)
{
    const int64_t *time = c->time[(size_t)et * c->view.store->nparts + r->part];
    uint32_t n = 0;
    for (uint64_t k = 0; k < r->n; k++)
        n += r->indices[k] == x.src && !is_absent(c, r, et, dst, k) &&
             (!x.time || !time || judge_time(&c->rule, time[r->first + k], &x) == FOUND);
    return n;
}

/* Row i of a block, whose edges are all in the store, has as many as the rule picks, and none more
 * often than the store has it. (Of weighted picks: not more than that. Ids tell edges apart, and
 * laws.c looks at them.) */
static int check_picks(struct check *c, const struct gnn_batch *b, struct place at, uint32_t i,
                       const struct gnn_view_row *r, struct gnn_err *e)
{
    const struct gnn_etype *t = &c->meta->schema.etype[at.et];
    const struct gnn_block *k = gnn_batch_block(b, at.hop, at.et);
    const int64_t *time = c->time[(size_t)at.et * c->view.store->nparts + r->part],
                  *entry = b->type[t->dst].time ? &b->type[t->dst].time[k->first + i] : NULL,
                  *own = c->rule.by_edge ? b->type[t->src].time : NULL;
    const struct gnn_pick_rule rule =
        gnn_sampling_rule(&c->meta->sampling, (uint64_t)at.hop * b->netypes + at.et);
    const uint32_t n = k->indptr[i + 1] - k->indptr[i],
                   orig = c->meta->sampling.original_ids ? at.dst
                                                         : gnn_view_orig(&c->view, t->dst, at.dst);
    uint32_t some = 0, *v;
    for (uint64_t j = 0; j < r->n; j++)
        some += (!time || !entry || gnn_in_time(&c->rule, &time[r->first + j], entry)) &&
                !is_absent(c, r, at.et, orig, j);
    if (gnn_sampling_induces(&c->meta->sampling, at.hop))
        some = n; /* check_induced knows which these are */
    const uint32_t want = gnn_pick_count(rule, some);
    const bool fewer = rule.weighted || excludes_others(c);
    if (fewer ? n > want : n != want)
        return gnn_fail(
            e, GNN_E_INPUT,
            "%s: batch %" PRIu64 ": hop %u: node %u has %u edge%s, and should have %u%s", c->name,
            c->batch, at.hop, at.dst, n, gnn_plural(n), want, fewer ? " at most" : "");
    if (k->id || gnn_pick_repeats(rule))
        return GNN_OK;
    if (gnn_buf_fit(&c->sorted, n + UINT64_C(1), sizeof *v, "edges", e))
        return e->code;
    v = c->sorted.data;
    if (n)
        memcpy(v, k->indices + k->indptr[i], n * sizeof *v);
    gnn_u32_sort(v, n);
    for (uint32_t j = 0, run; j < n; j += run) {
        for (run = 1; j + run < n && v[j + run] == v[j];)
            run++;
        const uint32_t src = b->type[t->src].node[v[j]];
        const struct claim x = {
            c->meta->sampling.original_ids ? gnn_view_store_id(&c->view, t->src, src) : src, NULL,
            entry, own ? &own[v[j]] : NULL};
        if (run > 1 && run > count_edges(c, r, at.et, orig, x))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: batch %" PRIu64 ": hop %u: edge %u -> %u is there %u time%s, more "
                            "often than in the store",
                            c->name, c->batch, at.hop, src, at.dst, run, gnn_plural(run));
    }
    return GNN_OK;
}

static int check_block(struct check *c, const struct gnn_batch *b, uint32_t hop, uint32_t et,
                       struct gnn_err *e)
{
    const struct gnn_etype *t = &c->meta->schema.etype[et];
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const int64_t *time = b->type[t->dst].time, *own = b->type[t->src].time;
    const bool original = c->meta->sampling.original_ids, by_edge = c->rule.by_edge,
               links = c->meta->sampling.links.type;

    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t dst = b->type[t->dst].node[k->first + i];
        uint32_t orig = original ? dst : gnn_view_orig(&c->view, t->dst, dst);
        struct gnn_view_row row = gnn_view_row(&c->view, et, orig);
        for (uint32_t j = k->indptr[i]; j < k->indptr[i + 1]; j++, c->edges++) {
            uint32_t src = b->type[t->src].node[k->indices[j]];
            const struct claim x = {original ? gnn_view_store_id(&c->view, t->src, src) : src,
                                    k->id ? &k->id[j] : NULL, time ? &time[k->first + i] : NULL,
                                    by_edge ? &own[k->indices[j]] : NULL};
            if (judge_edge(c, (struct place){hop, et, j, src, dst}, find_edge(c, &row, et, orig, x),
                           e))
                return e->code;
        }
        if (c->leaks ? links && gnn_link_leaks_row(&c->leaks->of_links, b, c->batch, hop, et, i,
                                                   &row, orig, e)
                     : check_picks(c, b, (struct place){hop, et, 0, 0, dst}, i, &row, e))
            return e->code;
    }
    return GNN_OK;
}

/* Where which edges are taken depends on what is known here, that they are all there can be proved.
 */
static bool proves_all(const struct check *c)
{
    return c->meta->sampling.induced && !c->meta->sampling.weight && !c->leaks;
}

/* Edges of row i of an induced block: those of the store whose sources are in the batch, in the
 * order of the store. */
static bool has_all(const struct check *c, const struct gnn_batch *b, uint32_t et, uint32_t i)
{
    const struct gnn_etype *t = &c->meta->schema.etype[et];
    const struct gnn_batch_type *dst = &b->type[t->dst];
    const struct gnn_block *k = gnn_batch_block(b, b->nhops - 1, et);
    const bool original = c->meta->sampling.original_ids;
    const uint32_t orig = original ? dst->node[i] : gnn_view_orig(&c->view, t->dst, dst->node[i]);
    const struct gnn_view_row row = gnn_view_row(&c->view, et, orig);
    const int64_t *time = c->time[(size_t)et * c->view.store->nparts + row.part];
    uint32_t j = k->indptr[i];
    for (uint64_t r = 0; r < row.n; r++) {
        const uint32_t src =
            original ? gnn_view_orig(&c->view, t->src, row.indices[r]) : row.indices[r];
        if ((time && !gnn_in_time(&c->rule, &time[row.first + r], &dst->time[i])) ||
            is_absent(c, &row, et, orig, r))
            continue;
        const uint32_t local = gnn_among_find(&c->among, src, dst, i);
        if (local == UINT32_MAX)
            continue;
        if (j == k->indptr[i + 1] || k->indices[j] != local ||
            (k->id && k->id[j] != gnn_view_edge_id(&c->view, et, orig, &row, r))) {
            if (excludes_others(c))
                continue;
            return false;
        }
        j++;
    }
    return j == k->indptr[i + 1];
}

static int check_induced(struct check *c, const struct gnn_batch *b, uint32_t et, struct gnn_err *e)
{
    const struct gnn_etype *t = &c->meta->schema.etype[et];
    const uint32_t hop = b->nhops - 1;
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&c->meta->schema, et, key, sizeof key);
    if (!c->meta->sampling.fanout[(size_t)hop * b->netypes + et])
        return GNN_OK;
    if (gnn_among_set(&c->among, &b->type[t->src], gnn_batch_nodes(b, t->src), e))
        return e->code;
    if (k->n != gnn_batch_nodes(b, t->dst))
        return gnn_fail(e, GNN_E_INPUT, "%s: batch %" PRIu64 ": has no edges of %s", c->name,
                        c->batch, key);
    for (uint32_t i = 0; i < k->n; i++)
        if (!has_all(c, b, et, i))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: batch %" PRIu64
                            ": hop %u: edges of %s into node %u are not those that lead there "
                            "from nodes of the batch",
                            c->name, c->batch, hop, key, b->type[t->dst].node[i]);
    return GNN_OK;
}

/* Of clusters: of each partition there are all nodes or none, in one tree; and no more partitions
 * than there should be. */
static int check_clusters(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_store *s = c->view.store;
    const struct gnn_sampling *m = &c->meta->sampling;
    uint64_t have = 0, want = 0, parts = 0;
    memset(c->tree_of, 0, s->nparts * sizeof *c->tree_of);
    for (uint32_t t = 0; t < b->nntypes; t++)
        for (uint64_t i = 0; i < gnn_batch_nodes(b, t); i++, have++) {
            const struct gnn_batch_type *x = &b->type[t];
            const uint32_t node = m->original_ids ? gnn_view_store_id(&c->view, t, x->node[i])
                                                  : x->node[i],
                           p = gnn_store_owner(s, t, node), tree = 1 + (x->tree ? x->tree[i] : 0);
            if (c->tree_of[p] && c->tree_of[p] != tree)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: batch %" PRIu64 ": node %u of partition %u is in tree %u, but "
                                "others of it in tree %u",
                                c->name, c->batch, x->node[i], p, tree - 1, c->tree_of[p] - 1);
            c->tree_of[p] = tree;
        }
    uint64_t *last = c->epoch_of + (uint64_t)b->split * s->nparts;
    for (uint32_t p = 0; p < s->nparts; p++) {
        if (c->tree_of[p] && last[p] == b->epoch + 1)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: batch %" PRIu64 ": partition %u is in epoch %" PRIu64 " twice",
                            c->name, c->batch, p, b->epoch);
        last[p] = c->tree_of[p] ? b->epoch + 1 : last[p];
        parts += c->tree_of[p] > 0;
        for (uint32_t t = 0; c->tree_of[p] && t < b->nntypes; t++)
            want += gnn_store_owned(s, p, t);
    }
    if (have == want && parts <= m->clusters)
        return GNN_OK;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: batch %" PRIu64 ": has %" PRIu64 " of the %" PRIu64 " node%s of %" PRIu64
                    " partition%s; it should have all of at most %u",
                    c->name, c->batch, have, want, gnn_plural(want), parts, gnn_plural(parts),
                    m->clusters);
}

/* Where walk i of the batch is after step s, as an id of the store; UINT32_MAX if it has ended. */
static uint32_t walk_at(const struct check *c, const struct gnn_batch *b, uint64_t i, uint32_t s)
{
    const struct gnn_sampling *m = &c->meta->sampling;
    const struct gnn_schema *sc = &c->meta->schema;
    const struct gnn_etype *e = &sc->etype[gnn_sampling_step(m, sc->netypes, s ? s - 1 : 0)];
    const uint32_t type = s ? e->src : e->dst,
                   at = b->walk[i * (m->walks.length + UINT64_C(1)) + s];
    if (at == UINT32_MAX)
        return at;
    const uint32_t node = b->type[type].node[at];
    return m->original_ids ? gnn_view_store_id(&c->view, type, node) : node;
}

/* Each step is along an edge, or back to the seed where that is allowed; and only a node without
 * in-edges, or whose in-edges weigh nothing, ends a walk. */
static int check_walks(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_sampling *m = &c->meta->sampling;
    const struct gnn_schema *sc = &c->meta->schema;
    for (uint64_t i = 0; c->view.store && i < b->rows[GNN_UNIT_WALKS]; i++)
        for (uint32_t s = 0, from = walk_at(c, b, i, 0); s < m->walks.length && from != UINT32_MAX;
             s++) {
            const uint32_t et = gnn_sampling_step(m, sc->netypes, s), to = walk_at(c, b, i, s + 1),
                           dst = gnn_view_orig(&c->view, sc->etype[et].dst, from);
            const struct gnn_view_row row = gnn_view_row(&c->view, et, dst);
            const bool ended = to == UINT32_MAX,
                       restarted = s && m->walks.restart > 0 && !ended && to == walk_at(c, b, i, 0);
            if (ended
                    ? row.n && !m->weight
                    : !restarted && find_edge(c, &row, et, dst, (struct claim){.src = to}) != FOUND)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: batch %" PRIu64 ": walk %" PRIu64 ": step %u from node %u %s",
                                c->name, c->batch, i, s + 1, from,
                                ended ? "is missing: it has in-edges" : "is not along an edge");
            c->edges += !ended && !restarted;
            from = to;
        }
    return GNN_OK;
}

/* A source is in the tree of its destination, and has its time, unless it has that of the edge. */
static int check_trees(const struct check *c, const struct gnn_batch *b, uint32_t hop, uint32_t et,
                       struct gnn_err *e)
{
    const struct gnn_etype *t = &c->meta->schema.etype[et];
    const struct gnn_block *k = gnn_batch_block(b, hop, et);
    const struct gnn_batch_type *dst = &b->type[t->dst], *src = &b->type[t->src];
    for (uint32_t i = 0; i < k->n; i++)
        for (uint32_t j = k->indptr[i]; j < k->indptr[i + 1]; j++) {
            const uint32_t from = k->indices[j], to = k->first + i;
            if (dst->tree && src->tree[from] != dst->tree[to])
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: batch %" PRIu64
                                ": hop %u: an edge leads from tree %u to tree %u",
                                c->name, c->batch, hop, src->tree[from], dst->tree[to]);
            if (dst->time && !c->meta->sampling.rule.time.by_edge &&
                src->time[from] != dst->time[to])
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: batch %" PRIu64
                                ": hop %u: edge %u -> %u leads to another time",
                                c->name, c->batch, hop, src->node[from], dst->node[to]);
        }
    return GNN_OK;
}

/* Seeds have the times of the store. */
static int check_seeds(const struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    const uint32_t t = c->meta->sampling.seed_ntype;
    const struct gnn_batch_type *x = &b->type[t];
    for (uint64_t i = 0; x->time && i < x->count[0]; i++) {
        uint32_t p;
        const uint64_t orig = c->meta->sampling.original_ids
                                  ? x->node[i]
                                  : gnn_view_orig(&c->view, t, x->node[i]),
                       row = gnn_view_locate(&c->view, t, orig, &p);
        const int64_t *time = c->seed_time[p];
        if (time && time[row] != x->time[i] &&
            !(c->meta->sampling.rule.time.real && !x->time[i] && time[row] == INT64_MIN))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: batch %" PRIu64 ": seed %u has another time in the store", c->name,
                            c->batch, x->node[i]);
    }
    return GNN_OK;
}

static int check_batch(struct check *c, const struct gnn_batch *b, struct gnn_err *e)
{
    struct gnn_err why = {0};
    const int rc = c->leaks ? GNN_OK : gnn_laws_check(&c->laws, b, &why);
    if (rc)
        return gnn_fail(e, (enum gnn_status)rc, "%s: batch %" PRIu64 ": %s", c->name, c->batch,
                        why.msg);
    if (check_key(c, b, e) || check_nodes(c, b, e) || check_walks(c, b, e) ||
        (c->view.store && !c->leaks &&
         gnn_absent_set(&c->absent, c->meta, c->meta->sampling.links.exclude, &c->view, b, e)) ||
        (c->leaks && gnn_leaks_add_seeds(c->leaks, b, c->batch, e)) ||
        (c->view.store && check_seeds(c, b, e)) ||
        (c->view.store && c->meta->sampling.clusters && check_clusters(c, b, e)))
        return e->code;
    for (uint32_t h = 0; h < b->nhops; h++)
        for (uint32_t et = 0; et < b->netypes; et++)
            if (check_trees(c, b, h, et, e) || (c->view.store && check_block(c, b, h, et, e)))
                return e->code;
    for (uint32_t et = 0; c->view.store && proves_all(c) && et < b->netypes; et++)
        if (check_induced(c, b, et, e))
            return e->code;
    if (!c->leaks && c->view.store && gnn_redraw_check(&c->redraw, b, &why))
        return gnn_fail(e, why.code, "%s: batch %" PRIu64 ": %s", c->name, c->batch, why.msg);
    c->batch++;
    return GNN_OK;
}

static int report_checks(const struct check *c, json_t *out, struct gnn_err *e)
{
    const struct gnn_sampling *m = &c->meta->sampling;
    const bool once = m->edge_ids && m->rule.kind != GNN_PICK_REPLACE,
               temporal = gnn_sampling_is_temporal(m);
    if (gnn_report_proved(out, e, "frames: %" PRIu64 " batches, checksums right, END there",
                          c->batch) ||
        gnn_report_proved(out, e, "batches: valid, no node twice%s",
                          m->disjoint ? " in a tree"
                          : temporal  ? " at a time"
                                      : "") ||
        gnn_report_proved(out, e, "keys: in sequence") ||
        gnn_report_proved(
            out, e, "counts: as the header promises, nodes in the order in which they are found%s",
            once ? ", no edge twice" : "") ||
        (m->walks.window &&
         gnn_report_proved(out, e,
                           "pairs: of nodes of their batch, but not proved to be in walks")))
        return e->code;
    if (!c->view.store)
        return GNN_OK;
    if (gnn_report_proved(out, e, "edges: %" PRIu64 ", all in %s%s", c->edges, c->view.store->path,
                          temporal ? ", and of times that seeds allow" : "") ||
        (m->clusters && gnn_report_proved(out, e, "nodes: all of some partitions")) ||
        (proves_all(c) &&
         gnn_report_proved(out, e,
                           "edges: all that lead from nodes of a batch to others are there")))
        return e->code;
    return c->redraw.why_not
               ? gnn_report_proved(out, e, "draws: not drawn again: %s", c->redraw.why_not)
               : gnn_report_proved(out, e,
                                   "draws: all batches are those that the header's recipe draws");
}

static int report_leaks(const struct check *c, json_t *out, bool *any, struct gnn_err *e)
{
    bool bad = false;
    report_put(out, "batches", report_num(c->batch), &bad);
    report_put(out, "edges", report_num(c->edges), &bad);
    return bad ? no_json(e) : gnn_leaks_report(c->leaks, out, any, e);
}

/* Reads the stream to its end, or to what is refused. Takes over fd. any: NULL, or, of leaks,
 * whether there are some. */
static int check_stream(struct check *c, int fd, struct gnn_store *against, json_t *out, bool *any,
                        struct gnn_err *e)
{
    struct gnn_batch *b = NULL;
    struct gnn_source *src = gnn_stream_source_new(fd, c->name, e);
    if (!src)
        return e->code;
    c->meta = src->meta;
    int rc = check_init(c, against, e);
    while (!rc && !(rc = gnn_source_next(src, &b, e))) {
        rc = check_batch(c, b, e);
        gnn_batch_put(b);
    }
    if (rc == GNN_END)
        rc = c->leaks ? report_leaks(c, out, any, e) : report_checks(c, out, e);
    check_release(c);
    gnn_source_free(src);
    return rc;
}

int gnn_verify_stream(int fd, const char *name, struct gnn_store *against, json_t *out,
                      struct gnn_err *e)
{
    struct check c = {.name = name};
    return check_stream(&c, fd, against, out, NULL, e);
}

int gnn_leaks_stream(int fd, const char *name, struct gnn_store *against, json_t *out, bool *any,
                     struct gnn_err *e)
{
    struct gnn_leaks l = {0};
    struct check c = {.name = name, .leaks = &l};
    *any = false;
    const int rc = check_stream(&c, fd, against, out, any, e);
    gnn_leaks_release(&l);
    return rc;
}

int gnn_leaks_store(struct gnn_store *s, json_t *out, bool *any, struct gnn_err *e)
{
    struct gnn_view v = {0};
    struct gnn_leaks l = {0};
    *any = false;
    if (!gnn_view_init(&v, s, e) && !gnn_leaks_init(&l, NULL, NULL, &v, NULL, e))
        (void)!gnn_leaks_report(&l, out, any, e);
    gnn_leaks_release(&l);
    gnn_view_release(&v);
    return e->code;
}
