/* SPDX-License-Identifier: Apache-2.0 */
/* From a store and options to a sampler: what all batches are drawn from. */
#include <string.h>
#include <unistd.h>

#include "lib/sample/sample_impl.h"
#include "lib/data/rule.h"
#include "lib/store/out_of_core.h"

void gnn_sampler_free(void *arg)
{
    struct sampler *s = arg;
    s->backend->free(s->backend);
    if (s->seeds)
        s->seeds->free(s->seeds);
    for (uint32_t t = 0; s->graph && t < s->meta.schema.netypes; t++)
        gnn_free((void *)(uintptr_t)s->graph[t].part);
    for (uint32_t t = 0; s->orig && t < s->meta.schema.nntypes; t++)
        gnn_free(s->orig[t]);
    for (uint32_t t = 0; s->source_id && t < s->meta.schema.nntypes; t++)
        gnn_free(s->source_id[t]);
    gnn_free(s->source_id);
    gnn_sample_halo_free(s->halo, &s->meta.schema);
    gnn_sample_barrier_free(s->barrier);
    gnn_free(s->sorted);
    gnn_free(s->graph);
    gnn_free(s->orig);
    gnn_meta_release(&s->meta);
    gnn_free(s);
}

/* Original ids of type t, if they are not the ids themselves. */
static int find_orig(struct sampler *s, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *store = s->store;
    const char *name = s->meta.schema.ntype[t].name;
    struct gnn_gather_part *part = gnn_alloc_zero(store->nparts, sizeof *part, "original ids", e);
    if (!part)
        return e->code;
    uint32_t found = 0;
    for (uint32_t p = 0; p < store->nparts; p++) {
        part[p].first = store->book[t][p];
        if (!gnn_store_has(store, p))
            continue;
        const struct gnn_tensor *x = gnn_store_findf(store, p, "node/%s/id", name);
        part[p] = (struct gnn_gather_part){store->book[t][p], gnn_store_owned(store, p, t),
                                           x ? x->data : NULL};
        found += x != NULL;
    }
    const uint32_t all = store->to - store->from;
    if (found == all)
        s->orig[t] = part;
    else
        gnn_free(part);
    return found && found < all
               ? gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/id' is in some partitions only",
                          store->path, name)
               : 0;
}

/* Original ids of all nodes of type t, by their ids, of other ranks' nodes too: sources of this
 * rank's edges may be anywhere. Nothing if they are the ids themselves, which all ranks agree on.
 */
static int find_source_ids(struct sampler *s, uint32_t t, struct gnn_err *e)
{
    const uint64_t n = s->meta.schema.ntype[t].count;
    if (!s->orig[t] || s->source_id[t])
        return 0;
    uint32_t *id = s->source_id[t] = gnn_alloc(n, sizeof *id, "original ids of sources", e);
    if (!id)
        return e->code;
    for (uint32_t p = s->store->from; p < s->store->to; p++) {
        const struct gnn_gather_part *part = &s->orig[t][p];
        memcpy(id + part->first, part->data, part->count * sizeof *id);
    }
    return gnn_store_all_gather(s->store, t, id, e);
}

static int find_edges(struct sampler *s, uint32_t et, struct gnn_err *e)
{
    struct gnn_store *store = s->store;
    const struct gnn_etype *type = &s->meta.schema.etype[et];
    const struct gnn_gather_part *orig = s->orig[type->dst];
    char key[GNN_ETYPE_KEY_CAPACITY];
    gnn_etype_key(&s->meta.schema, et, key, sizeof key);
    struct gnn_sample_part *part = gnn_alloc_zero(store->nparts, sizeof *part, "edges", e);
    if (!part)
        return e->code;
    s->graph[et] = (struct gnn_sample_graph){
        part, store->nparts, s->meta.schema.ntype[type->src].count, s->source_id[type->src]};
    for (uint32_t p = 0; p < store->nparts; p++) {
        part[p].first = store->book[type->dst][p];
        if (!gnn_store_has(store, p))
            continue;
        const struct gnn_tensor *indptr = gnn_store_findf(store, p, "edge/%s/indptr", key);
        const struct gnn_tensor *indices = gnn_store_findf(store, p, "edge/%s/indices", key);
        const struct gnn_tensor *id =
            s->meta.sampling.edge_ids ? gnn_store_findf(store, p, "edge/%s/id", key) : NULL;
        if (!indptr || !indices)
            return gnn_fail(e, GNN_E_INPUT, "%s: edges '%s' are missing",
                            gnn_store_part_path(store, p), key);
        if (s->meta.sampling.edge_ids && !id && store->nparts > 1)
            return gnn_fail(
                e, GNN_E_USAGE,
                "%s: was partitioned without edge ids (edge/%s/id): they cannot be added to batches",
                store->path, key);
        part[p] = (struct gnn_sample_part){.first = store->book[type->dst][p],
                                           .count = gnn_store_owned(store, p, type->dst),
                                           .indptr = indptr->data,
                                           .indices = indices->data,
                                           .nedges = indices->shape[0],
                                           .orig = orig ? orig[p].data : NULL,
                                           .id = id ? id->data : NULL};
        if (gnn_sample_edge_data(s, et, p, &part[p].pick, e))
            return e->code;
    }
    return 0;
}

static int find_graph(struct sampler *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_sampling *m = &s->meta.sampling;
    s->graph = gnn_alloc_zero(c->netypes, sizeof *s->graph, "edges", e);
    s->orig = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_gather_part *), "original ids", e);
    s->source_id = gnn_alloc_zero(c->nntypes, sizeof(uint32_t *), "original ids", e);
    int rc = s->graph && s->orig && s->source_id ? 0 : e->code;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = find_orig(s, t, e);
    for (uint32_t et = 0; !rc && m->labor && et < c->netypes; et++)
        if (gnn_sampling_uses(m, c->netypes, et))
            rc = find_source_ids(s, c->etype[et].src, e);
    for (uint32_t et = 0; !rc && et < c->netypes; et++) {
        if (gnn_sampling_uses(m, c->netypes, et))
            rc = find_edges(s, et, e);
    }
    return rc;
}

static int check_ranks(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    if (m->frontier != GNN_FRONTIER_ALL)
        return gnn_fail(
            e, GNN_E_USAGE,
            "with several ranks the frontier policy must be 'all': which nodes are new depends on the seeds of all ranks");
    if (m->clusters && !m->disjoint)
        return gnn_fail(
            e, GNN_E_USAGE,
            "with several ranks, clusters must be disjoint: no rank has the edges between its partitions and those of others");
    if (m->induced && !m->disjoint)
        return gnn_fail(
            e, GNN_E_USAGE,
            "with several ranks, induced edges require disjoint trees: which nodes are in a batch depends on the seeds of all ranks");
    if (m->original_ids)
        return gnn_fail(e, GNN_E_USAGE, "with several ranks, batches cannot have original ids");
    if (o->stream)
        return gnn_fail(
            e, GNN_E_USAGE,
            "%s: with several ranks, seeds must come from a file that all of them can read",
            o->seeds_name);
    m->rank = s->comm->rank;
    m->ranks = s->comm->size;
    return 0;
}

/* What is drawn from this store. */
static int bind_sampling(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    const struct gnn_schema *c = &s->meta.schema;
    const bool bound = o->sampling.fanout;
    const struct gnn_sampling_hops hops = {o->fanout, o->path, o->nfanout, o->npath};
    if (gnn_sampling_copy_rule(m, &o->sampling, c->netypes, e))
        return e->code;
    if (!m->batch_size)
        return gnn_fail(e, GNN_E_USAGE, "a batch requires at least one seed");
    m->batch_dependency = m->batch_dependency ? m->batch_dependency : 1;
    m->rank = m->ranks = 0;
    return bound ? 0 : gnn_sampling_bind(m, c, s->store->path, &hops, e);
}

static int sampler_init(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    int rc =
        gnn_meta_copy(&s->meta, &s->store->meta, e) || gnn_sample_barrier_new(s, e) ? e->code : 0;
    s->meta.is_stream = true;
    if (!rc)
        rc = gnn_meta_add_provenance(&s->meta, o->provenance, e);
    if (!rc)
        rc = bind_sampling(s, o, e);
    if (!rc && s->comm->size > 1)
        rc = check_ranks(s, o, e);
    if (rc) {
        if (o->seeds_name)
            close(o->seeds_fd);
        return rc;
    }
    s->seeds = m->links.type ? gnn_link_seeds_new(s, o, e)
               : m->clusters ? gnn_cluster_seeds_new(s, o, e)
                             : gnn_node_seeds_new(s, o, e);
    rc = s->seeds ? gnn_plan_init(s, o, e) : e->code;
    if (!rc)
        rc = find_graph(s, e);
    if (!rc && gnn_walks_second_order(&m->walks))
        rc = gnn_sample_sort_rows(s, gnn_sampling_step(m, s->meta.schema.netypes, 0), e);
    if (!rc && o->weights)
        *o->weights = s->weights;
    return rc || s->comm->size == 1 ? rc : gnn_sample_halo_new(s, e);
}

static void read_at_random(const struct sampler *s)
{
    for (uint32_t et = 0; et < s->meta.schema.netypes; et++)
        for (uint32_t p = 0; s->graph[et].part && p < s->graph[et].nparts; p++) {
            const struct gnn_sample_part *a = &s->graph[et].part[p];
            gnn_store_at_random(s->store, a->indices, a->nedges * sizeof *a->indices);
            gnn_store_at_random(s->store, a->id, a->nedges * sizeof *a->id);
            gnn_store_at_random(s->store, a->pick.time, a->nedges * sizeof *a->pick.time);
        }
}

struct sampler *gnn_sampler_new(struct gnn_store *store, const struct gnn_sampler_opts *o,
                                struct gnn_err *e)
{
    struct sampler *s = gnn_alloc_zero(1, sizeof *s, "a sampler", e);
    if (!s) {
        if (o->seeds_name)
            close(o->seeds_fd);
        return NULL;
    }
    s->store = store;
    s->backend = &gnn_sample_cpu;
    s->on_cpu = !o->gpu;
    s->comm = store->comm;
    s->remote = o->remote;
    s->count_once = o->count_once;
    if (!sampler_init(s, o, e)) {
        if (s->on_cpu)
            read_at_random(s);
        return s;
    }
    gnn_sampler_free(s);
    return NULL;
}
