/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a batch: its tensors, and drawing neighbours along one edge type: by the CPU or a
 * device, from this rank's own parts, or by the CPU, from its halo's rows. */
#include <inttypes.h>

#include "kernels/rng.h"
#include "kernels/owner.h"
#include "lib/sample/sample_impl.h"
#include "lib/store/out_of_core.h"

int gnn_sample_damaged(const struct sampler *s, uint32_t et, enum gnn_sample_status why,
                       const struct gnn_sample_place *at, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    const char *path = gnn_store_part_path(s->store, at->part);
    gnn_etype_key(&s->meta.schema, et, key, sizeof key);
    switch (why) {
    case GNN_SAMPLE_INDPTR:
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor 'edge/%s/indptr': offsets of node %" PRIu64
                        " decrease or exceed the edges",
                        path, key, at->node);
    case GNN_SAMPLE_SOURCE:
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor 'edge/%s/indices': edge %" PRIu64 " of node %" PRIu64
                        ": source out of range",
                        path, key, at->edge, at->node);
    case GNN_SAMPLE_MANY:
        return gnn_fail(e, GNN_E_USAGE, "a batch of more than 2^32 edges: reduce %s",
                        s->meta.sampling.clusters ? "the number of partitions in it"
                                                  : "the batch size or the fan-outs");
    case GNN_SAMPLE_SEED:
        return gnn_fail(e, GNN_E_INPUT, "%s: seed out of range", s->store->path);
    case GNN_SAMPLE_NODE:
    case GNN_SAMPLE_CAPACITY:
    case GNN_SAMPLE_OK:
        break;
    }
    return gnn_fail(e, GNN_E_INPUT, "%s: node %" PRIu64 " is in no partition", s->store->path,
                    at->node);
}

static bool is_own_graph(const struct sample_draw *d, uint32_t et, const struct gnn_sample_job *job)
{
    return job->graph.part == d->s->graph[et].part;
}

static int report_damage(const struct sample_draw *d, uint32_t et, const struct gnn_sample_job *job,
                         enum gnn_sample_status why, const struct gnn_sample_place *at)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (is_own_graph(d, et, job) || why == GNN_SAMPLE_MANY)
        return gnn_sample_damaged(d->s, et, why, at, d->e);
    return gnn_fail(d->e, GNN_E_INPUT, "%s: tensor 'halo/%s/%s': row %" PRIu64 " is damaged",
                    gnn_store_part_path(d->s->store, d->s->store->from + at->part),
                    gnn_etype_key(&d->s->meta.schema, et, key, sizeof key),
                    why == GNN_SAMPLE_SOURCE ? "indices" : "indptr", at->node);
}

int gnn_sample_resize_nodes(const struct sample_draw *d, uint32_t t, uint64_t n)
{
    int rc = 0;
    for (uint32_t c = 0; !rc && c < GNN_NCOLUMNS; c++)
        if (d->w->column[t].of[c])
            rc = gnn_tensors_resize(&d->b->tensors, d->w->column[t].of[c], n, d->e);
    return rc;
}

static void *column_data(const struct sample_draw *d, uint32_t t, enum gnn_column c)
{
    return d->w->column[t].of[c] ? d->w->column[t].of[c]->data : NULL;
}

int gnn_sample_fit_nodes(const struct sample_draw *d, uint32_t t, uint64_t extra)
{
    struct gnn_relabel *r = &d->w->type[t];
    uint64_t capacity = r->count + extra;
    const uint64_t most = r->slot ? INT32_MAX : r->nnodes;
    /* One more than there can be, as numbering writes a node before it knows whether it is new. */
    capacity = (capacity < most ? capacity : most) + 1;
    if (gnn_sample_resize_nodes(d, t, capacity))
        return d->e->code;
    r->list = (struct gnn_entries){.node = column_data(d, t, GNN_COLUMN_NODES),
                                   .time = column_data(d, t, GNN_COLUMN_TIME),
                                   .tree = column_data(d, t, GNN_COLUMN_TREE)};
    if (gnn_sample_fit_numbering(d->s, r, capacity, d->e))
        return d->e->code;
    return gnn_relabel_fit(r, extra)
               ? 0
               : gnn_fail(d->e, GNN_E_USAGE,
                          "a batch of more than 2^31 nodes: reduce the batch size or the fan-outs");
}

uint32_t gnn_sample_rows(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t *first)
{
    const struct gnn_sampling *m = &d->s->meta.sampling;
    const uint64_t *known = d->w->counts[d->s->meta.schema.etype[et].dst];
    *first = gnn_sampling_new_rows(m, hop) ? (uint32_t)known[hop - 1] : 0;
    const bool any = gnn_pick_any(gnn_sampling_rule(m, hop * d->b->netypes + et));
    return any ? (uint32_t)known[hop] - *first : 0;
}

struct gnn_tensors *gnn_sample_block_tensors(const struct sample_draw *d, uint32_t hop)
{
    return gnn_sampling_keeps(&d->s->meta.sampling, hop) ? &d->b->tensors : &d->w->aside;
}

int gnn_sample_add_indptr(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t rows,
                          struct gnn_tensor **indptr)
{
    return gnn_column_add(gnn_sample_block_tensors(d, hop), &d->s->meta, GNN_COLUMN_INDPTR, hop, et,
                          (uint64_t)rows + 1, indptr, d->e);
}

int gnn_sample_add_edges(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t edges,
                         struct gnn_tensor **indices, struct gnn_tensor **id)
{
    const struct gnn_meta *m = &d->s->meta;
    struct gnn_tensors *set = gnn_sample_block_tensors(d, hop);
    int rc = gnn_column_add(set, m, GNN_COLUMN_INDICES, hop, et, edges, indices, d->e);
    *id = NULL;
    if (!rc && gnn_column_presence(m, GNN_COLUMN_EDGE_ID, hop, et) == GNN_REQUIRED)
        rc = gnn_column_add(set, m, GNN_COLUMN_EDGE_ID, hop, et, edges, id, d->e);
    /* Each edge may lead to a new node. */
    return rc || gnn_sampling_induces(&m->sampling, hop)
               ? rc
               : gnn_sample_fit_nodes(d, d->s->meta.schema.etype[et].src, edges);
}

void gnn_sample_keys(const struct sampler *s, const struct gnn_batch *b, uint32_t *keys)
{
    const struct gnn_sampling *m = &s->meta.sampling;
    const bool labor = m->rule.kind == GNN_PICK_LABOR;
    const uint64_t step = labor ? b->step / m->batch_dependency : b->step;
    for (uint32_t i = 0; i < b->nhops * b->netypes; i++) {
        const uint32_t hop = m->layer_dependency ? 0 : i / b->netypes, et = i % b->netypes,
                       set = s->seeds->tag[b->split];
        /* LABOR's variates belong to sources, along whichever edge type these are picked. */
        const uint32_t tag = labor ? gnn_rng_tag(GNN_RNG_LABOR, set, s->meta.schema.etype[et].src)
                                   : gnn_rng_tag(GNN_RNG_NEIGHBOUR, set, et);
        gnn_rng_key(m->seed, (uint32_t)b->epoch, (uint32_t)step, hop, tag, keys + 2 * (size_t)i);
    }
}

struct gnn_sample_job gnn_sample_job_of(const struct sampler *s, const uint32_t *keys,
                                        uint32_t block)
{
    return (struct gnn_sample_job){.graph = s->graph[block % s->meta.schema.netypes],
                                   .rule = gnn_sampling_rule(&s->meta.sampling, block),
                                   .key = keys + 2 * (size_t)block};
}

/* ---- drawing ---- */

int gnn_sample_fit_times(const struct sample_draw *d, struct gnn_sample_job *job)
{
    if (!job->rule.time.by_edge || job->times)
        return 0;
    if (gnn_buf_fit(&d->w->times, job->indptr[job->n] + UINT64_C(1), sizeof *job->times,
                    "a sampling thread", d->e))
        return d->e->code;
    job->times = d->w->times.data;
    return 0;
}

/* What the rule reads of each row, out of core. */
static void ask_rows(const struct gnn_store *s, const struct gnn_sample_job *job)
{
    const struct gnn_sample_graph *g = &job->graph;
    const bool timed = job->rule.time.until != GNN_PICK_ANY_TIME;
    for (uint32_t i = 0; i < job->n; i++) {
        const uint32_t v = job->dst.node[i];
        const struct gnn_sample_part *a =
            &g->part[gnn_owner_find(&g->part->first, sizeof *g->part, g->nparts, v)];
        struct gnn_pick_range x;
        if (v - a->first >= a->count || !gnn_pick_row(&a->indptr[v - a->first], a->nedges, &x))
            continue;
        gnn_store_ask(s, a->indices + x.first, x.span * sizeof *a->indices);
        if (timed)
            gnn_store_ask(s, a->pick.time + x.first, x.span * sizeof *a->pick.time);
        if (a->id)
            gnn_store_ask(s, a->id + x.first, x.span * sizeof *a->id);
    }
}

static int count_on_cpu(const struct sample_draw *d, uint32_t et, struct gnn_sample_job *job)
{
    struct gnn_sample_place bad = {0};
    if (gnn_buf_fit(&d->w->row, job->n, sizeof *job->row, "a sampling thread", d->e))
        return d->e->code;
    job->row = d->w->row.data;
    if (job->rule.weighted &&
        gnn_buf_fit(&d->w->span, job->n, sizeof *job->span, "a sampling thread", d->e))
        return d->e->code;
    job->span = job->rule.weighted ? d->w->span.data : NULL;
    if (job->excluded) {
        if (gnn_buf_fit(&d->w->mark, job->n / 64 + UINT64_C(1), sizeof *job->mark,
                        "a sampling thread", d->e) ||
            gnn_buf_fit(&d->w->skip, job->n, sizeof *job->skip, "a sampling thread", d->e))
            return d->e->code;
        job->mark = d->w->mark.data;
        job->skip = d->w->skip.data;
    }
    job->scratch = d->w->scratch;
    if (d->s->store->out_of_core)
        ask_rows(d->s->store, job);
    const enum gnn_sample_status st = gnn_sample_count(job, &bad);
    return st ? report_damage(d, et, job, st, &bad) : 0;
}

static int pick_on_cpu(const struct sample_draw *d, uint32_t et, const struct gnn_sample_job *job,
                       struct gnn_relabel *r, uint32_t *indices, uint64_t *ids)
{
    struct gnn_sample_place bad = {0};
    struct gnn_sample_job q = *job;
    if (gnn_sample_fit_times(d, &q))
        return d->e->code;
    const enum gnn_sample_status st = gnn_sample_pick(&q, q.times ? NULL : r, indices, ids, &bad);
    if (st)
        return report_damage(d, et, job, st, &bad);
    if (r && q.times) /* that they are nodes has been checked */
        (void)gnn_relabel_number(r, q.dst, q.times, q.n, q.indptr, indices);
    return 0;
}

static void free_nothing(struct sample_backend *q)
{
    (void)q;
}

static int no_context(struct sample_backend *q, void **context, struct gnn_err *e)
{
    (void)q;
    (void)e;
    *context = NULL;
    return 0;
}

static void free_no_context(void *context)
{
    (void)context;
}

struct sample_backend gnn_sample_cpu = {.free = free_nothing,
                                        .context_new = no_context,
                                        .context_free = free_no_context,
                                        .count = count_on_cpu,
                                        .pick = pick_on_cpu};

/* Rows of the halo are in the host's memory only. */
static const struct sample_backend *backend_of(const struct sample_draw *d, uint32_t et,
                                               const struct gnn_sample_job *job)
{
    return is_own_graph(d, et, job) ? d->s->backend : &gnn_sample_cpu;
}

int gnn_sample_count_block(const struct sample_draw *d, uint32_t et, struct gnn_sample_job *job)
{
    if (d->w->excluded && d->w->excluded[et].of.node)
        job->excluded = &d->w->excluded[et].of;
    return backend_of(d, et, job)->count(d, et, job);
}

int gnn_sample_pick_block(const struct sample_draw *d, uint32_t et,
                          const struct gnn_sample_job *job, struct gnn_relabel *r,
                          uint32_t *indices, uint64_t *ids)
{
    return backend_of(d, et, job)->pick(d, et, job, r, indices, ids);
}
