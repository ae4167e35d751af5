/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a type as links (lib/sample/links.h): found by their ids, which count the in-edges
 * of all tails in the order of the unpartitioned store. */
#include <inttypes.h>
#include <string.h>

#include "kernels/owner.h"
#include "lib/sample/links.h"
#include "lib/store/ids.h"

void gnn_link_edges_release(struct link_edges *q)
{
    gnn_free(q->part);
    gnn_free(q->own_first);
    for (unsigned i = 0; i < LINK_ENDS; i++) {
        gnn_free(q->to_store[i]);
        gnn_free(q->to_orig[i]);
    }
    *q = (struct link_edges){0};
}

static int fail_tensor(const struct link_edges *q, uint32_t p, const char *what, const char *why,
                       struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/%s' %s", gnn_store_part_path(q->store, p),
                    gnn_etype_key(&q->store->meta.schema, q->etype, key, sizeof key), what, why);
}

static int find_part(struct link_edges *q, uint32_t p, const char *times, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&q->store->meta.schema, q->etype, key, sizeof key);
    const struct gnn_tensor *ptr = gnn_store_findf(q->store, p, "edge/%s/indptr", key),
                            *ind = gnn_store_findf(q->store, p, "edge/%s/indices", key),
                            *time = times ? gnn_store_findf(q->store, p, "edge/%s/%s", key, times)
                                          : NULL;
    if (!ptr || !ind || (times && !time))
        return fail_tensor(q, p, !ptr ? "indptr" : !ind ? "indices" : times, "is missing", e);
    q->part[p] =
        (struct link_part){ptr->data, ind->data, time ? time->data : NULL, ind->shape[0], NULL};
    return 0;
}

/* The offsets of each part ascend and end with its edges: all rows are where they say. */
static int check_offsets(const struct link_edges *q, uint32_t p, struct gnn_err *e)
{
    const struct link_part *x = &q->part[p];
    const uint64_t n = gnn_store_owned(q->store, p, q->ntype[LINK_TAIL]);
    bool good = !x->indptr[0] && x->indptr[n] == x->nedges;
    for (uint64_t i = 0; i < n; i++)
        good &= x->indptr[i] <= x->indptr[i + 1];
    return good ? 0
                : fail_tensor(q, p, "indptr", "has offsets that decrease or exceed the edges", e);
}

/* The offsets of tails in original order: those of the part, if there is one. */
static int find_first(struct link_edges *q, struct gnn_err *e)
{
    const struct gnn_store *s = q->store;
    const uint32_t tails = q->ntype[LINK_TAIL], *to_store = q->to_store[LINK_TAIL];
    const uint64_t n = q->nodes[LINK_TAIL];
    q->first = q->part[0].indptr;
    if (s->nparts == 1 && !to_store)
        return 0;
    uint32_t *degree = gnn_alloc(n, sizeof *degree, "offsets of edges", e);
    uint64_t *first = q->own_first = gnn_alloc(n + 1, sizeof *first, "offsets of edges", e);
    for (uint32_t p = s->from; !e->code && p < s->to; p++)
        for (uint64_t i = 0; i < gnn_store_owned(s, p, tails); i++)
            degree[s->book[tails][p] + i] =
                (uint32_t)(q->part[p].indptr[i + 1] - q->part[p].indptr[i]);
    if (!e->code && !gnn_store_all_gather(s, tails, degree, e)) {
        first[0] = 0;
        for (uint64_t v = 0; v < n; v++)
            first[v + 1] = first[v] + degree[to_store ? to_store[v] : v];
        q->first = first;
    }
    gnn_free(degree);
    return e->code;
}

/* Between store ids and original ones of an end's type. */
static int find_ids(struct link_edges *q, unsigned end, struct gnn_err *e)
{
    struct gnn_store *s = q->store;
    const uint32_t t = q->ntype[end];
    const uint64_t n = q->nodes[end] = s->meta.schema.ntype[t].count;
    if (gnn_store_inverse(s, t, &q->to_store[end], e) || !q->to_store[end])
        return e->code;
    uint32_t *to_orig = q->to_orig[end] = gnn_alloc(n, sizeof *to_orig, "original ids", e),
             *to_store = q->to_store[end];
    if (!to_orig)
        return e->code;
    for (uint64_t v = 0; v < n; v++)
        if (to_store[v] != UINT32_MAX) /* no other rank's */
            to_orig[to_store[v]] = (uint32_t)v;
    if (gnn_store_all_gather(s, t, to_orig, e))
        return e->code;
    for (uint64_t id = 0; id < n; id++)
        if (to_orig[id] >= n ||
            (to_store[to_orig[id]] != UINT32_MAX && to_store[to_orig[id]] != id))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: node %" PRIu64 " of type '%s' has the original id of another",
                            s->path, id, s->meta.schema.ntype[t].name);
        else
            to_store[to_orig[id]] = (uint32_t)id;
    return 0;
}

/* The type must be ordered by times of that type. */
static int check_times(const struct gnn_store *s, uint32_t etype, enum gnn_dtype times,
                       struct gnn_err *e)
{
    const struct gnn_etype *t = &s->meta.schema.etype[etype];
    const struct gnn_field *f = t->order ? gnn_field_find(t->field, t->nfields, t->order) : NULL;
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (f && f->dtype == times)
        return 0;
    gnn_etype_key(&s->meta.schema, etype, key, sizeof key);
    return f ? gnn_fail(e, GNN_E_USAGE, "%s: times of links '%s' are %s, but those of edges are %s",
                        s->path, key, gnn_dtype_name(f->dtype), gnn_dtype_name(times))
             : gnn_fail(e, GNN_E_USAGE,
                        "%s: links '%s' have no times by which they are ordered (--seeds FILE "
                        "gives each link a time)",
                        s->path, key);
}

int gnn_link_edges_init(struct link_edges *q, struct gnn_store *s, uint32_t etype,
                        enum gnn_dtype times, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_etype *t = &c->etype[etype];
    *q = (struct link_edges){
        .store = s, .etype = etype, .ntype = {t->src, t->dst}, .real = times == GNN_F64};
    if (times && check_times(s, etype, times, e))
        return e->code;
    if (!(q->part = gnn_alloc_zero(s->nparts, sizeof *q->part, "edges", e)))
        return e->code;
    for (uint32_t p = s->from; p < s->to; p++)
        if (find_part(q, p, times ? t->order : NULL, e) || check_offsets(q, p, e))
            return e->code;
    return find_ids(q, LINK_HEAD, e) || find_ids(q, LINK_TAIL, e) || find_first(q, e) ? e->code : 0;
}

bool gnn_link_edges_find(const struct link_edges *q, uint64_t id, uint32_t *part, uint64_t *at,
                         uint32_t *tail)
{
    *tail = gnn_owner_find(q->first, sizeof *q->first, (uint32_t)q->nodes[LINK_TAIL], id);
    const uint32_t type = q->ntype[LINK_TAIL];
    const uint64_t v = q->to_store[LINK_TAIL] ? q->to_store[LINK_TAIL][*tail] : *tail;
    if (!gnn_store_owns(q->store, type, v))
        return false;
    *part = gnn_store_owner(q->store, type, v);
    *at = q->part[*part].indptr[v - q->store->book[type][*part]] + (id - q->first[*tail]);
    return true;
}

int gnn_link_edges_at(const struct link_edges *q, uint64_t id, struct link *x, int64_t *time,
                      struct gnn_err *e)
{
    uint32_t p, tail;
    uint64_t at;
    if (!gnn_link_edges_find(q, id, &p, &at, &tail)) {
        *x = (struct link){{UINT32_MAX, UINT32_MAX}};
        return 0;
    }
    const struct link_part *part = &q->part[p];
    const uint32_t head = part->indices[at];
    if (head >= q->nodes[LINK_HEAD])
        return fail_tensor(q, p, "indices", "has a source out of range", e);
    *x = (struct link){{q->to_orig[LINK_HEAD] ? q->to_orig[LINK_HEAD][head] : head, tail}};
    if (time)
        *time = gnn_time_of_entry(q->real, part->time[at]);
    return 0;
}

bool gnn_link_owns(const struct link_edges *q, unsigned end, uint32_t node)
{
    return gnn_store_owns(q->store, q->ntype[end],
                          q->to_store[end] ? q->to_store[end][node] : node);
}

uint32_t gnn_link_rank_of(const struct link_edges *q, unsigned end, uint32_t node)
{
    return gnn_store_rank_of(q->store, q->ntype[end],
                             q->to_store[end] ? q->to_store[end][node] : node);
}
