/* SPDX-License-Identifier: Apache-2.0 */
/* The gatherer with the CPU. */
#include "lib/gather/gather_remote.h"

static void *worker_new(void *arg, struct gnn_err *e)
{
    const struct gatherer *g = arg;
    struct gather_scratch *w = gnn_alloc_zero(1, sizeof *w, "a gathering thread", e);
    if (w && g->comm->size > 1 && !(w->remote = gnn_gather_remote_new(g, e))) {
        gnn_free(w);
        return NULL;
    }
    return w;
}

static void worker_free(void *worker)
{
    struct gather_scratch *w = worker;
    gnn_buf_release(&w->node);
    gnn_buf_release(&w->row);
    gnn_gather_remote_free(w->remote);
    gnn_free(w);
}

/* Whether sums are wanted: not of what will be handed off in shared memory, as nothing verifies it
 * there. */
static bool wants_sum(const struct gatherer *g, const struct gnn_batch *b)
{
    return g->sums && !b->tensors.share;
}

/* Store ids of n nodes of type t of the batch. */
static int store_ids(const struct gatherer *g, struct gather_scratch *w, const struct gnn_batch *b,
                     uint32_t t, uint64_t n, const uint32_t **ids, struct gnn_err *e)
{
    const uint32_t *inv = g->inverse[t];
    *ids = b->type[t].node;
    if (!inv)
        return 0;
    int rc = gnn_buf_fit(&w->node, n, sizeof **ids, "node ids", e);
    uint32_t *v = w->node.data;
    const uint64_t limit = g->meta.schema.ntype[t].count;
    for (uint64_t i = 0; !rc && i < n; i++) {
        if ((*ids)[i] >= limit)
            return gnn_gather_bad_original(b, e);
        v[i] = inv[(*ids)[i]];
    }
    *ids = v;
    return rc;
}

/* What gnn_gather_opts.part_by_part promises. Returns how many ids have a row. */
static uint64_t copy_part_by_part(const struct gatherer *g, const struct gather_job *j,
                                  const uint32_t *ids, uint64_t n, uint8_t *out)
{
    const size_t bytes = gnn_gather_job_bytes(j);
    uint64_t got = 0;
    for (uint32_t p = 0; p < j->nparts; p++) {
        const struct gnn_gather_part *f = &j->part[p];
        const uint8_t *rows = f->data;
        for (uint64_t i = 0; i < n; i++)
            if (ids[i] >= f->first && ids[i] - f->first < f->count) {
                memcpy(out + i * bytes, rows + (ids[i] - f->first) * bytes, bytes);
                got++;
            }
        if (gnn_store_has(g->store, p))
            gnn_store_forget(g->store, p);
    }
    return got;
}

static int gather_nodes(const struct gatherer *g, const struct gather_job *j,
                        struct gather_scratch *w, struct gnn_batch *b, struct gnn_err *e)
{
    const uint32_t *ids;
    struct gnn_tensor *t;
    int rc = gnn_gather_add(g, j, b, 0, NULL, &t, e);
    if (!rc)
        rc = store_ids(g, w, b, j->type, t->shape[0], &ids, e);
    if (rc)
        return rc;
    const uint64_t got = g->part_by_part && !j->own
                             ? copy_part_by_part(g, j, ids, t->shape[0], t->data)
                             : gnn_gather_job_rows(j, ids, NULL, t->shape[0], wants_sum(g, b), t);
    if (got < t->shape[0])
        return gnn_gather_bad_id(g, j, b, 0, e);
    if (j->original)
        b->type[j->type].orig = t->data;
    return j->label ? gnn_gather_check_labels(g, b, t, e) : 0;
}

static int gather_edges(const struct gatherer *g, const struct gather_job *j,
                        struct gather_scratch *w, struct gnn_batch *b, uint32_t hop,
                        struct gnn_err *e)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, j->type);
    struct gnn_tensor *t;
    const uint32_t *ids;
    int rc = gnn_gather_add(g, j, b, hop, NULL, &t, e);
    if (!rc)
        rc = store_ids(g, w, b, g->meta.schema.etype[j->type].dst, (uint64_t)k->first + k->n, &ids,
                       e);
    if (!rc)
        rc = gnn_buf_fit(&w->row, k->edges, sizeof(uint64_t), "edge rows", e);
    if (rc)
        return rc;
    const struct gnn_edges f = {.part = j->edges,
                                .nparts = j->nparts,
                                .n = k->n,
                                .dst = ids + k->first,
                                .indptr = k->indptr,
                                .id = k->id,
                                .row = w->row.data};
    if (gnn_edges_find(&f) ||
        gnn_gather_job_rows(j, NULL, f.row, k->edges, wants_sum(g, b), t) < k->edges)
        return gnn_gather_bad_id(g, j, b, hop, e);
    return 0;
}

/* With several ranks. */
static int gather_with_ranks(struct gatherer *g, struct gather_remote *f, struct gnn_batch *b,
                             struct gnn_err *e)
{
    const int rc = gnn_gather_remote_apply(g, f, b, e);
    gnn_gather_remote_count(g, f, b);
    return rc;
}

static int gather_batch(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    struct gatherer *g = arg;
    struct gather_scratch *w = worker;
    int rc = 0;
    if (w->remote)
        return gather_with_ranks(g, w->remote, b, e);
    for (uint32_t i = 0; !rc && i < g->njobs; i++) {
        const struct gather_job *j = &g->job[i];
        for (uint32_t h = 0; !rc && h < (j->edge ? b->nhops : 1); h++)
            if (gnn_gather_wanted(j, b, h))
                rc = j->edge ? gather_edges(g, j, w, b, h, e) : gather_nodes(g, j, w, b, e);
    }
    return rc;
}

static int end_stream(void *arg, struct gnn_err *e)
{
    struct gatherer *g = arg;
    const int rc = gnn_gather_remote_end(g, e);
    return rc ? rc : gnn_store_verified(g->store, e);
}

struct gnn_source *gnn_gather_source_new(struct gnn_source *up, struct gnn_store *s,
                                         const struct gnn_gather_opts *o, struct gnn_err *e)
{
    static const struct gnn_map_ops ops = {.worker_new = worker_new,
                                           .worker_free = worker_free,
                                           .apply = gather_batch,
                                           .end = end_stream,
                                           .arg_free = gnn_gatherer_free};
    struct gatherer *g = gnn_gatherer_new(up->meta, s, o, e);
    if (!g) {
        gnn_comm_set_lost(s->comm, true);
        gnn_source_free(up);
        return NULL;
    }
    if (o->gpu)
        return gnn_gather_gpu.source_new(o->gpu, up, g, o, e);
    return gnn_map_new(up, &g->meta, &ops, g, o->threads, o->depth ? o->depth : o->threads + 1, e);
}
