/* SPDX-License-Identifier: Apache-2.0 */
/* The original order of a store that may itself be partitioned. */
#include "lib/store/view.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"

static int edges_init(struct gnn_view *v, uint32_t et, const char *key, struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_etype *t = &s->meta.schema.etype[et];
    uint64_t nsrc = s->meta.schema.ntype[t->src].count, base = 0;

    for (uint32_t p = 0; p < s->nparts; p++) {
        struct gnn_view_part *ep = &v->ep[(size_t)et * s->nparts + p];
        const struct gnn_tensor *ptr = gnn_store_findf(s, p, "edge/%s/indptr", key);
        const struct gnn_tensor *ind = gnn_store_findf(s, p, "edge/%s/indices", key);
        const struct gnn_tensor *id = gnn_store_findf(s, p, "edge/%s/id", key);
        const char *path = gnn_store_part_path(s, p);
        uint64_t n = gnn_store_owned(s, p, t->dst);

        if (!ptr || !ind)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor edge/%s/%s is missing", path, key,
                            ptr ? "indices" : "indptr");
        *ep = (struct gnn_view_part){ptr->data, ind->data, id ? id->data : NULL, base};
        uint64_t m = ind->shape[0];
        if (ep->indptr[0] != 0 || ep->indptr[n] != m)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor edge/%s/indptr does not run from 0 to %llu",
                            path, key, (unsigned long long)m);
        for (uint64_t i = 0; i < n; i++)
            if (ep->indptr[i] > ep->indptr[i + 1])
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor edge/%s/indptr decreases at element %llu", path, key,
                                (unsigned long long)i + 1);
        for (uint64_t i = 0; i < m; i++)
            if (ep->indices[i] >= nsrc)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor edge/%s/indices: element %llu is %u, of %llu node%s",
                                path, key, (unsigned long long)i, ep->indices[i],
                                (unsigned long long)nsrc, gnn_plural(nsrc));
        base += m;
    }
    return GNN_OK;
}

/* Parts without edge ids: these follow from the order of the whole. */
static int first_init(struct gnn_view *v, uint32_t et, struct gnn_err *e)
{
    const struct gnn_store *s = v->store;
    const struct gnn_schema *sc = &s->meta.schema;
    uint64_t n = sc->ntype[sc->etype[et].dst].count, at = 0;
    bool all = true;

    for (uint32_t p = 0; p < s->nparts; p++)
        all &= v->ep[(size_t)et * s->nparts + p].id != NULL;
    if (s->nparts == 1 || all)
        return GNN_OK;
    uint64_t *first = v->first[et] = gnn_alloc(n, sizeof *first, "edge ids", e);
    if (!first)
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        first[i] = at;
        at += gnn_view_row(v, et, i).n;
    }
    return GNN_OK;
}

static int nodes_init(struct gnn_view *v, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_ntype *nt = &s->meta.schema.ntype[t];
    bool any = false;

    for (uint32_t p = 0; p < s->nparts; p++)
        any |= gnn_store_findf(s, p, "node/%s/id", nt->name) != NULL;
    if (!any)
        return GNN_OK;
    uint32_t *orig = v->to_orig[t] = gnn_alloc(nt->count, sizeof *orig, "original ids", e);
    uint32_t *store = v->to_store[t] = gnn_alloc(nt->count, sizeof *store, "original ids", e);
    if (!orig || !store)
        return e->code;
    memset(store, 0xff, nt->count * sizeof *store);
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *id = gnn_store_findf(s, p, "node/%s/id", nt->name);
        const uint32_t *own = id ? id->data : NULL;
        uint64_t first = s->book[t][p], n = gnn_store_owned(s, p, t);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t o = own ? own[i] : (uint32_t)(first + i);
            if (o >= nt->count || store[o] != UINT32_MAX)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor node/%s/id: element %llu is %u, which is %s",
                                gnn_store_part_path(s, p), nt->name, (unsigned long long)i, o,
                                o >= nt->count ? "out of range" : "a duplicate");
            orig[first + i] = o;
            store[o] = (uint32_t)(first + i);
        }
    }
    return GNN_OK;
}

int gnn_view_init(struct gnn_view *v, struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *sc = &s->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY];

    *v = (struct gnn_view){.store = s};
    v->base = gnn_alloc(sc->nntypes + 1, sizeof *v->base, "node types", e);
    v->to_store = gnn_alloc_zero(sc->nntypes, sizeof *v->to_store, "node types", e);
    v->to_orig = gnn_alloc_zero(sc->nntypes, sizeof *v->to_orig, "node types", e);
    v->ep = gnn_alloc_zero((uint64_t)sc->netypes * s->nparts, sizeof *v->ep, "edge types", e);
    v->first = gnn_alloc_zero(sc->netypes, sizeof *v->first, "edge types", e);
    if (!v->base || !v->to_store || !v->to_orig || !v->ep || !v->first)
        return e->code;
    for (uint32_t t = 0; t < sc->nntypes; t++) {
        v->base[t] = v->nvertices;
        v->nvertices += sc->ntype[t].count;
    }
    v->base[sc->nntypes] = v->nvertices;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        if (nodes_init(v, t, e))
            return e->code;
    for (uint32_t et = 0; et < sc->netypes; et++)
        if (edges_init(v, et, gnn_etype_key(sc, et, key, sizeof key), e) || first_init(v, et, e))
            return e->code;
    return GNN_OK;
}

void gnn_view_release(struct gnn_view *v)
{
    uint32_t nt = v->store ? v->store->meta.schema.nntypes : 0;
    for (uint32_t t = 0; t < nt; t++) {
        if (v->to_store)
            gnn_free(v->to_store[t]);
        if (v->to_orig)
            gnn_free(v->to_orig[t]);
    }
    for (uint32_t et = 0; v->first && et < v->store->meta.schema.netypes; et++)
        gnn_free(v->first[et]);
    gnn_free(v->first);
    gnn_free(v->to_store);
    gnn_free(v->to_orig);
    gnn_free(v->base);
    gnn_free(v->ep);
    *v = (struct gnn_view){0};
}
