/* SPDX-License-Identifier: Apache-2.0 */
/* The gatherer on devices: rows of the store's fields for batches that lie there.
 *
 * A batch's kernels run on one stream of its device, one after the other, so that what they need in
 * between - store ids, rows of edges - is one buffer per device. Kernels count ids that have no
 * row; the counts come back with the batch, and errors are then reported in the words, and in the
 * order, of the CPU's gatherer. */
#include "lib/gather/gpu_cache.h"
#include "lib/gather/gpu_remote.h"
#include "lib/store/ids.h"

/* ---- a batch's work ---- */

struct work {
    struct gpu_gather *x;
    unsigned unit;
    struct gather_unit *u;
    struct gnn_batch *b;
    struct gnn_gather_count *count;       /* of this batch, on the device */
    const struct gather_staging *staging; /* of tables that are staged */
    struct gnn_err *e;
};

/* Store ids of the batch's nodes of type t. */
static const uint32_t *ids_of(const struct work *w, uint32_t t)
{
    return w->u->inverse[t].ncached ? w->u->ids[t].data : w->b->type[t].node;
}

static int find_ids(const struct work *w, uint32_t t)
{
    const struct gather_view *v = &w->u->inverse[t];
    const uint64_t n = gnn_batch_nodes(w->b, t);
    if (!v->ncached)
        return 0;
    if (gnn_buf_fit_in(&w->u->d->mem, &w->u->ids[t], n, sizeof(uint32_t), "node ids", w->e))
        return w->e->code;
    return gnn_gpu_gather_rows(w->u, v, (struct gather_copy){GNN_GATHER_AS_IS, sizeof(uint32_t)},
                               w->b->type[t].node, NULL, n, w->u->ids[t].data, &w->count[t], w->e);
}

/* Rows as the staging buffer numbers them. */
static int gather_staged_rows(const struct work *w, const struct gather_table *t,
                              const struct gather_staged *k, void *out,
                              struct gnn_gather_count *count)
{
    const uint64_t *rows;
    const struct gather_view v = gnn_gather_staging_view(w->u, &t->view[w->unit], k, &rows);
    return gnn_gpu_gather_rows(w->u, &v, t->copy, NULL, rows, k->n, out, count, w->e);
}

static int gather_nodes(const struct work *w, const struct gather_table *t,
                        struct gnn_gather_count *count)
{
    const struct gather_job *j = t->job;
    struct gnn_tensor *to;
    if (gnn_gather_add(w->x->job, j, w->b, 0, &w->u->d->mem, &to, w->e))
        return w->e->code;
    if (j->original)
        w->b->type[j->type].orig = to->data;
    if (t->staged)
        return gather_staged_rows(w, t, &w->staging->of[w->x->at[j - w->x->job->job]], to->data,
                                  count);
    return gnn_gpu_gather_rows(w->u, &t->view[w->unit], t->copy, ids_of(w, j->type), NULL,
                               to->shape[0], to->data, count, w->e);
}

/* First a kernel turns each edge of the block, given as its destination and its id in the store,
 * into a row number of the field; then the rows are gathered by number. An id that is not one of
 * its destination's in-edges gets a number that no part has, and so it is the gathering kernel that
 * counts it, as a missing row: check_job finds that count when the batch is finished. */
static int gather_edges(const struct work *w, const struct gather_table *t, uint32_t hop,
                        struct gnn_gather_count *count)
{
    const struct gather_job *j = t->job;
    const struct gnn_block *k = gnn_batch_block(w->b, hop, j->type);
    struct gnn_tensor *to;
    int rc = gnn_gather_add(w->x->job, j, w->b, hop, &w->u->d->mem, &to, w->e);
    if (!rc && t->staged)
        return gather_staged_rows(w, t, &w->staging->of[w->x->at[j - w->x->job->job] + hop],
                                  to->data, count);
    if (!rc)
        rc = gnn_buf_fit_in(&w->u->d->mem, &w->u->rows, k->edges, sizeof(uint64_t), "edge rows",
                            w->e);
    if (rc || !k->edges)
        return rc;
    const struct gnn_edges f = {.part = t->edges[w->unit],
                                .nparts = j->nparts,
                                .n = k->n,
                                .dst =
                                    ids_of(w, w->x->job->meta.schema.etype[j->type].dst) + k->first,
                                .indptr = k->indptr,
                                .id = k->id,
                                .row = w->u->rows.data};
    gnn_cuda_find_edges(&f, w->u->stream);
    rc = gnn_dev_launched("finding edges", w->e);
    return rc ? rc
              : gnn_gpu_gather_rows(w->u, &t->view[w->unit], t->copy, NULL, f.row, k->edges,
                                    to->data, count, w->e);
}

static int gather_all(const struct work *w)
{
    const struct gatherer *g = w->x->job;
    int rc = 0;
    for (uint32_t t = 0; !rc && t < g->meta.schema.nntypes; t++)
        rc = find_ids(w, t);
    for (uint32_t i = 0; !rc && i < g->njobs; i++) {
        const struct gather_table *t = &w->x->table[i];
        for (uint32_t h = 0; !rc && h < gnn_gather_job_hops(t->job, w->b); h++)
            if (gnn_gather_wanted(t->job, w->b, h)) {
                struct gnn_gather_count *count = &w->count[w->x->at[i] + h];
                rc = t->job->edge ? gather_edges(w, t, h, count) : gather_nodes(w, t, count);
            }
    }
    return rc;
}

/* The rows that other ranks have sent for the batch. */
static int send_staging(struct gpu_gather *x, struct gather_unit *u, const struct gpu_slot *s,
                        struct gnn_err *e)
{
    struct gather_staging **p = &x->staging[s->index];
    if (!x->staged)
        return 0;
    *p = gnn_gather_staging_take(x->queue, s->in->nth);
    return *p ? gnn_gather_staging_send(x->queue, u, *p, e)
              : gnn_fail(e, GNN_E_RUN, "a batch arrived whose rows were not requested");
}

static int start_batch(struct gpu_gather *x, struct gnn_source *up, struct gpu_slot *s,
                       struct gnn_err *e)
{
    const uint64_t at = (uint64_t)s->index * x->ncounts, bytes = x->ncounts * sizeof *x->fresh;
    int rc = gnn_source_next(up, &s->in, e);
    if (rc)
        return rc;
    struct gpu_device *d = gnn_gpu_device_of(x->g, s->in);
    if (!d)
        return gnn_fail(e, GNN_E_USAGE, "a batch is on none of the devices in use");
    const unsigned unit = (unsigned)(d - x->g->dev);
    struct gather_unit *u = &x->unit[unit];
    gnn_gpu_range_begin("gather", s->in);
    rc = gnn_dev_use(d->number, e);
    if (!rc)
        rc = send_staging(x, u, s, e);
    const struct work w = {x, unit, u, s->in, u->count + at, x->staging[s->index], e};
    /* The batch may still be on its way to the device, on another stream. */
    if (!rc)
        rc = gnn_dev_event_after(u->stream, s->in->place->ready, e);
    if (!rc)
        gnn_gpu_work_begin(d, GNN_GPU_GATHERING, s->in, u->stream);
    if (!rc)
        rc = gnn_dev_copy(w.count, x->fresh, bytes, u->stream, e);
    if (!rc)
        rc = gather_all(&w);
    if (!rc)
        rc = gnn_dev_copy(x->counted + at, w.count, bytes, u->stream, e);
    if (!rc)
        gnn_gpu_work_end(d, GNN_GPU_GATHERING, s->in, u->stream);
    if (!rc)
        rc = gnn_dev_event_record(s->in->place->ready, u->stream, e);
    if (!rc)
        rc = gnn_gpu_slot_done(s, d, u->stream, e);
    gnn_dev_range_end();
    return rc;
}

static int start_or_lose(void *arg, struct gnn_source *up, struct gpu_slot *s, struct gnn_err *e)
{
    struct gpu_gather *x = arg;
    const int rc = start_batch(x, up, s, e);
    if (rc < 0)
        gnn_comm_set_lost(x->job->comm, true);
    return rc;
}

/* ---- what came of it ---- */

static int check_node(const struct gpu_gather *x, uint32_t t, uint64_t used,
                      const struct gnn_gather_count *c, const struct gnn_batch *b,
                      struct gnn_err *e)
{
    return x->job->inverse[t] && c[t].first_missing < used ? gnn_store_bad_node(b, e) : 0;
}

/* Whether all ids of a job's tensor were good. */
static int check_job(const struct gpu_gather *x, const struct gather_job *j, uint32_t hop,
                     const struct gnn_gather_count *c, const struct gnn_gather_count *own,
                     const struct gnn_batch *b, struct gnn_err *e)
{
    uint32_t type;
    const uint64_t used = gnn_gather_nodes(x->job, j, b, hop, &type);
    int rc = check_node(x, type, used, c, b, e);
    return rc || !own->missing ? rc : gnn_gather_bad_id(x->job, j, b, hop, e);
}

/* Rows from other ranks are not among them: those are counted where they are requested. */
static void add_up(struct gnn_gather_stats *s, const struct gather_table *t,
                   const struct gnn_gather_count *c)
{
    for (int k = 0; k < GNN_TIERS_CUDA; k++)
        if (gather_cacheable(t)) {
            s->hits.rows[k] += c->rows[k];
            s->hits.bytes[k] += c->bytes[k];
        } else {
            s->other_rows += c->rows[k];
            s->other_bytes += c->bytes[k];
        }
}

static int finish_batch(void *arg, struct gpu_slot *s, struct gnn_err *e)
{
    struct gpu_gather *x = arg;
    const struct gnn_gather_count *c = x->counted + (uint64_t)s->index * x->ncounts;
    int rc = 0;
    for (uint32_t i = 0; !rc && i < x->job->njobs; i++) {
        const struct gather_table *t = &x->table[i];
        for (uint32_t h = 0; !rc && h < gnn_gather_job_hops(t->job, s->in); h++) {
            rc = check_job(x, t->job, h, c, &c[x->at[i] + h], s->in, e);
            if (x->stats)
                add_up(x->stats, t, &c[x->at[i] + h]);
        }
    }
    if (rc) {
        gnn_comm_set_lost(x->job->comm, true);
        return rc;
    }
    gnn_gather_staging_put(x->queue, x->staging[s->index]);
    x->staging[s->index] = NULL;
    s->out = s->in;
    s->in = NULL;
    return 0;
}

static int end_stream(void *arg, struct gnn_err *e)
{
    return gnn_store_verified(((struct gpu_gather *)arg)->job->store, e);
}

static void arg_free(void *arg)
{
    struct gpu_gather *x = arg;
    gnn_gather_queue_close(x->queue);
    gnn_gpu_gather_release(x);
    gnn_gather_queue_put(x->queue);
    gnn_free(x);
}

/* With several ranks threads request rows before a batch is copied to its device. Their source. */
static struct gnn_source *request_first(struct gpu_gather *x, struct gnn_source *up,
                                        unsigned threads, struct gnn_err *e)
{
    up = gnn_gather_queue_source(up, x->queue, threads, e);
    return up ? gnn_gpu_upload_new(x->g, up, e) : NULL;
}

static int prepare_tables(struct gpu_gather *x, const struct gnn_gather_opts *o, struct gnn_err *e)
{
    int rc = gnn_gpu_gather_init(x, e);
    if (!rc)
        rc = gnn_gather_queue_parts(x->queue, x, e);
    return rc ? rc
              : gnn_gpu_gather_cache(x, &o->cache,
                                     x->staged ? gnn_gpu_cache_ranks : gnn_gpu_cache_cliques, e);
}

static struct gnn_source *gnn_gpu_gather_new(struct gnn_gpu *g, struct gnn_source *up,
                                             struct gatherer *job, const struct gnn_gather_opts *o,
                                             struct gnn_err *e)
{
    static const struct gpu_pipe_ops ops = {
        .start = start_or_lose, .finish = finish_batch, .end = end_stream, .arg_free = arg_free};
    struct gpu_gather *x = gnn_alloc_zero(1, sizeof *x, "a gatherer", e);
    struct gnn_comm *comm = job->comm;
    if (!x || !(x->queue = gnn_gather_queue_new(g, job, e))) {
        if (!x)
            gnn_gatherer_free(job);
        gnn_free(x);
        gnn_source_free(up);
        return NULL;
    }
    x->g = g;
    x->job = job;
    for (uint32_t t = 0; t < job->meta.schema.nntypes; t++)
        x->staged = x->staged || gnn_tier_all(&job->map[t]) == GNN_TIERS;
    x->beside = o->beside;
    x->stats = o->stats;
    if (x->stats)
        *x->stats = (struct gnn_gather_stats){0};
    gnn_comm_set_lost(comm, true); /* until all of it stands */
    g->dev->ranks = x->staged;
    int rc = prepare_tables(x, o, e);
    if (!rc && x->staged) {
        up = request_first(x, up, o->threads, e);
        rc = up ? 0 : e->code;
    }
    if (!rc) {
        struct gpu_pipe_ops with = ops;
        with.at_once = x->staged;
        struct gnn_source *src = gnn_gpu_pipe_new(up, &job->meta, &with, x, GATHER_DEPTH, e);
        gnn_comm_set_lost(comm, !src);
        return src;
    }
    arg_free(x);
    gnn_source_free(up);
    return NULL;
}

const struct gnn_gather_gpu gnn_gather_gpu = {gnn_gpu_gather_new};
