/* SPDX-License-Identifier: Apache-2.0 */
/* Leaks of a stream and of its store's sets (lib/inspect/leaks.h). */
#include <inttypes.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/inspect/leaks.h"
#include "lib/inspect/report.h"

/* An owner: a node of several sets, which counts once. */
#define COUNTED UINT32_MAX

/* Notes that a set has a node. True when that is the second set that has it; *other: the first. */
static bool note_member(uint32_t *owner, uint32_t node, uint32_t set, uint32_t *other)
{
    const uint32_t was = owner[node];
    if (!was)
        owner[node] = set + 1;
    if (!was || was == set + 1 || was == COUNTED)
        return false;
    owner[node] = COUNTED;
    *other = was - 1;
    return true;
}

/* ---- sets of the store ---- */

static bool same_split(const struct gnn_split_set *a, const struct gnn_split_set *b)
{
    return a->links == b->links && a->ntype == b->ntype && !strcmp(a->split, b->split);
}

static int add_set(struct gnn_leaks *l, const struct gnn_view *v, uint32_t set, uint32_t *owner,
                   struct gnn_err *e)
{
    const struct gnn_split_set *all = v->store->meta.schema.set, *own = &all[set];
    uint32_t *ids, other;
    if (gnn_store_split(v->store, set, &ids, e))
        return e->code;
    for (uint64_t i = 0; i < own->count; i++)
        if (note_member(owner, ids[i], set, &other))
            gnn_leak_add(&l->overlap, "split %s: node %u is in %s and in %s", own->split,
                         gnn_view_orig(v, own->ntype, ids[i]), all[other].set, own->set);
    gnn_free(ids);
    return GNN_OK;
}

/* gnn-import keeps the sets of a split apart, but others write stores, too. */
static int find_overlaps(struct gnn_leaks *l, const struct gnn_view *v, struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    for (uint32_t i = 0; i < c->nsets; i++) {
        uint32_t first = 0;
        while (!same_split(&c->set[first], &c->set[i]))
            first++;
        if (c->set[i].links || first < i) /* looked at with that one */
            continue;
        uint32_t *owner =
            gnn_alloc_zero(c->ntype[c->set[i].ntype].count, sizeof *owner, "sets of nodes", e);
        int rc = owner ? GNN_OK : e->code;
        for (uint32_t k = i; !rc && k < c->nsets; k++)
            if (same_split(&c->set[k], &c->set[i]))
                rc = add_set(l, v, k, owner, e);
        gnn_free(owner);
        if (rc)
            return rc;
    }
    return GNN_OK;
}

/* What sets of links give away, of each edge type that has some. */
static int find_links(struct gnn_leaks *l, const struct gnn_view *v, struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    for (uint32_t i = 0; i < c->nsets; i++) {
        uint32_t first = 0;
        while (first < i && !(c->set[first].links && c->set[first].etype == c->set[i].etype))
            first++;
        if (!c->set[i].links || first < i)
            continue;
        struct gnn_listed_links x;
        l->has_links = true;
        if (!gnn_listed_links_init(&x, v, c->set[i].etype, e) &&
            !gnn_listed_links_shared(&x, &l->links, e))
            (void)!gnn_listed_links_messages(&x, &l->messages, e);
        gnn_listed_links_release(&x);
        if (e->code)
            return e->code;
    }
    return GNN_OK;
}

/* ---- sets of the stream ---- */

int gnn_leaks_add_seeds(struct gnn_leaks *l, const struct gnn_batch *b, uint64_t nth,
                        struct gnn_err *e)
{
    const struct gnn_sampling *s = &l->m->sampling;
    const struct gnn_batch_type *t = &b->type[s->seed_ntype];
    uint32_t other;
    if (s->links.type)
        return gnn_link_leaks_begin(&l->of_links, b, nth, e);
    for (uint64_t i = 0; l->owner && i < t->count[0]; i++)
        if (note_member(l->owner, t->node[i], b->split, &other))
            gnn_leak_add(&l->shared, "batch %" PRIu64 ": seed %u of set %s is also one of set %s",
                         nth, t->node[i], s->split[b->split], s->split[other]);
    return GNN_OK;
}

static int init_stream(struct gnn_leaks *l, const char *name, const struct gnn_view *v,
                       const int64_t *const *time, struct gnn_err *e)
{
    const struct gnn_sampling *s = &l->m->sampling;
    if (s->links.type)
        return gnn_link_leaks_init(&l->of_links, l->m, v, time, e);
    if (!gnn_sampling_is_temporal(s))
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: its batches are not of links, and have no times: sample them with "
                        "gnn-sample --links or --time-rule",
                        name);
    if (s->nsplits > 1)
        l->owner = gnn_alloc_zero(l->m->schema.ntype[s->seed_ntype].count, sizeof *l->owner,
                                  "sets of seeds", e);
    return e->code;
}

int gnn_leaks_init(struct gnn_leaks *l, const struct gnn_meta *m, const char *name,
                   const struct gnn_view *v, const int64_t *const *time, struct gnn_err *e)
{
    l->m = m;
    return (m && init_stream(l, name, v, time, e)) || find_overlaps(l, v, e) || find_links(l, v, e)
               ? e->code
               : GNN_OK;
}

void gnn_leaks_release(struct gnn_leaks *l)
{
    gnn_free(l->owner);
    l->owner = NULL;
    gnn_link_leaks_release(&l->of_links);
}

int gnn_leaks_report(const struct gnn_leaks *l, json_t *report, bool *any, struct gnn_err *e)
{
    const struct gnn_link_leaks *k = &l->of_links;
    const bool links = l->m && l->m->sampling.links.type,
               timed = l->m && gnn_sampling_is_temporal(&l->m->sampling);
    const struct {
        const char *key;
        bool is_counted;
        const struct gnn_leak *leak;
    } kind[] = {{"future_edges", timed, &l->future},
                {"shared_seeds", l->m && !links, &l->shared},
                {"link_edges", links, &k->own},
                {"reverse_edges", links, &k->reverse},
                {"short_ends", links, &k->few},
                {"true_negatives", links, &k->edges},
                {"strayed_negatives", links, &k->strayed},
                {"overlapping_sets", true, &l->overlap},
                {"shared_links", l->has_links, &l->links},
                {"link_messages", l->has_links, &l->messages}};
    bool bad = false;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        const struct gnn_leak *x = kind[i].leak;
        *any |= x->count > 0;
        if (kind[i].is_counted)
            report_put(report, kind[i].key,
                       json_pack("{s:o, s:s*}", "count", report_num(x->count), "first",
                                 x->count ? x->first : NULL),
                       &bad);
    }
    if (links) {
        report_put(report, "links", report_num(k->links), &bad);
        report_put(report, "negatives", report_num(k->negatives), &bad);
        report_put(report, "strict", json_boolean(l->m->sampling.links.strict), &bad);
    }
    return bad ? no_json(e) : GNN_OK;
}
