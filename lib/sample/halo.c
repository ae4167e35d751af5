/* SPDX-License-Identifier: Apache-2.0 */
/* In-edges of other ranks' nodes that this rank's parts keep (gnn-partition --halo-edges): what
 * they say need not be asked for. */
#include "lib/sample/sample_impl.h"

void gnn_sample_halo_free(struct sample_halo *h, const struct gnn_schema *c)
{
    if (!h)
        return;
    for (uint32_t t = 0; h->of && t < c->nntypes; t++)
        gnn_node_map_release(&h->of[t]);
    for (uint32_t et = 0; h->graph && et < c->netypes; et++)
        gnn_free((void *)(uintptr_t)h->graph[et].part);
    gnn_free(h->of);
    gnn_free(h->graph);
    gnn_free(h);
}

/* Rows of the halos of all own parts follow one another, in each edge type alike: *rows of type t.
 */
static int map_nodes(struct sample_halo *h, const struct sampler *s, uint32_t t, uint64_t *rows,
                     struct gnn_err *e)
{
    struct gnn_store *store = s->store;
    const struct gnn_ntype *type = &s->meta.schema.ntype[t];
    *rows = 0;
    for (uint32_t p = store->from; p < store->to; p++) {
        const struct gnn_tensor *ids = gnn_store_findf(store, p, "halo/%s/ids", type->name);
        *rows += ids ? ids->shape[0] : 0;
    }
    if (*rows >= UINT32_MAX)
        return gnn_fail(
            e, GNN_E_USAGE,
            "%s: the halos of a rank's partitions have 2^32 nodes '%s' or more: use more ranks",
            store->path, type->name);
    int rc = gnn_node_map_init(&h->of[t], *rows, e);
    uint64_t row = 0;
    for (uint32_t p = store->from; !rc && p < store->to; p++) {
        const struct gnn_tensor *ids = gnn_store_findf(store, p, "halo/%s/ids", type->name);
        const uint32_t *id = ids ? ids->data : NULL;
        for (uint64_t i = 0; id && i < ids->shape[0]; i++, row++) {
            if (id[i] >= type->count)
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: tensor 'halo/%s/ids': element %llu is out of range",
                                gnn_store_part_path(store, p), type->name, (unsigned long long)i);
            (void)gnn_node_map_add(&h->of[t], id[i],
                                   (uint32_t)row); /* several own parts may have the same */
        }
    }
    return rc;
}

static int find_edges(struct sample_halo *h, const struct sampler *s, uint32_t et,
                      struct gnn_err *e)
{
    struct gnn_store *store = s->store;
    const struct gnn_etype *type = &s->meta.schema.etype[et];
    const char *dst = s->meta.schema.ntype[type->dst].name;
    const uint32_t n = store->to - store->from;
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, et, key, sizeof key);
    struct gnn_sample_part *part = gnn_alloc_zero(n, sizeof *part, "edges of the halo", e);
    if (!part)
        return e->code;
    h->graph[et] = (struct gnn_sample_graph){part, n, s->meta.schema.ntype[type->src].count,
                                             s->graph[et].orig};
    uint64_t first = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t p = store->from + i;
        const struct gnn_tensor *indptr = gnn_store_findf(store, p, "halo/%s/indptr", key),
                                *indices = gnn_store_findf(store, p, "halo/%s/indices", key);
        const struct gnn_tensor *orig = gnn_store_findf(store, p, "halo/%s/id", dst),
                                *id = gnn_store_findf(store, p, "halo/%s/id", key);
        if (!indptr || !indices || !orig || (s->meta.sampling.edge_ids && !id))
            return gnn_fail(e, GNN_E_INPUT, "%s: the halo's edges '%s' are missing",
                            gnn_store_part_path(store, p), key);
        part[i] = (struct gnn_sample_part){.first = first,
                                           .count = orig->shape[0],
                                           .indptr = indptr->data,
                                           .indices = indices->data,
                                           .nedges = indices->shape[0],
                                           .orig = orig->data,
                                           .id = s->meta.sampling.edge_ids ? id->data : NULL};
        first += orig->shape[0];
    }
    return 0;
}

int gnn_sample_halo_new(struct sampler *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    uint64_t rows = 0;
    if (gnn_sampling_reads_edges(&s->meta.sampling)) /* the halo has their sources only */
        return 0;
    if (s->meta.sampling.links.exclude) /* its rows have no numbers by which edges are excluded */
        return 0;
    for (uint32_t p = s->store->from; p < s->store->to; p++)
        if (!c->netypes || !gnn_store_look(s->store, p,
                                           gnn_tensor_name(name, "halo/%s/indptr",
                                                           gnn_etype_key(c, 0, key, sizeof key))))
            return 0;
    struct sample_halo *h = s->halo = gnn_alloc_zero(1, sizeof *h, "the halo", e);
    if (!h)
        return e->code;
    h->of = gnn_alloc_zero(c->nntypes, sizeof *h->of, "the halo", e);
    h->graph = gnn_alloc_zero(c->netypes, sizeof *h->graph, "the halo", e);
    int rc = h->of && h->graph ? 0 : e->code;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = map_nodes(h, s, t, &rows, e);
    for (uint32_t et = 0; !rc && et < c->netypes; et++)
        if (s->graph[et].part)
            rc = find_edges(h, s, et, e);
    return rc;
}
