/* SPDX-License-Identifier: Apache-2.0 */
/* Where rows lie, as devices see it. */
#include "lib/gather/replica.h"
#include "lib/gather/gpu_remote.h"
#include "lib/gpu/peers.h"

/* Blocks a multiprocessor, whose registers training's kernels share then. They have 32 KB under
 * way, which by calculation is enough for the full rate of device memory. */
enum { BESIDE_TRAINING = 2 };

int gnn_gpu_gather_alloc(struct gather_unit *u, uint64_t bytes, const char *what, void **p,
                         struct gnn_err *e)
{
    *p = NULL;
    if (gnn_grow(&u->memory, u->nmemory, sizeof *u->memory, what, e) ||
        gnn_dev_use(u->d->number, e) || gnn_dev_alloc(p, bytes, what, e))
        return e->code;
    u->memory[u->nmemory++] = *p;
    return 0;
}

int gnn_gpu_gather_upload(struct gather_unit *u, const void *from, uint64_t bytes, const char *what,
                          void **p, struct gnn_err *e)
{
    int rc = gnn_gpu_gather_alloc(u, bytes, what, p, e);
    if (!rc)
        rc = gnn_dev_copy(*p, from, bytes, u->stream, e);
    return rc ? rc : gnn_dev_stream_wait(u->stream, e);
}

/* ---- the host's side ---- */

/* The store, if nobody but devices reads its rows: their pages may then leave the page cache. With
 * several ranks they are also read here, for others. */
static struct gnn_store *unread_store(const struct gpu_gather *x, const struct gather_table *t)
{
    return t->staged ? NULL : x->job->store;
}

/* Once for all devices. */
static int open_parts(struct gpu_gather *x, struct gather_table *t, struct gnn_err *e)
{
    while (t->opened < t->job->nparts) {
        const struct gnn_gather_part *p = &t->job->part[t->opened];
        struct gnn_gather_part *to = &t->part[t->opened];
        *to = *p;
        to->tier = GNN_TIER_HOST;
        if (gnn_gpu_host_open(x->g, unread_store(x, t), p->data, p->count * t->keep.bytes,
                              "rows of a store", &to->data, e))
            return e->code;
        t->opened++;
    }
    return 0;
}

int gnn_gpu_gather_backing(struct gpu_gather *x, struct gather_table *t, unsigned unit,
                           struct gnn_err *e)
{
    struct gather_view *v = &t->view[unit];
    void *p;
    if (open_parts(x, t, e) ||
        gnn_gpu_gather_upload(&x->unit[unit], t->part, t->opened * sizeof *t->part,
                              "partitions of a field", &p, e))
        return e->code;
    v->backing = p;
    v->nbacking = t->opened;
    return 0;
}

static void close_parts(struct gpu_gather *x, struct gather_table *t)
{
    for (uint32_t i = 0; i < t->opened; i++)
        if (t->job->part[i].count && t->keep.bytes)
            gnn_gpu_host_close(x->g, t->job->part[i].data);
    if (t->copies)
        gnn_gpu_host_close(x->g, x->job->replica->data[t->job - x->job->job]);
    for (uint32_t i = 0; i < t->edges_opened; i++) {
        const struct gnn_edges_part *p = &t->job->edges[i];
        gnn_gpu_host_close(x->g, p->indptr);
        if (p->nedges)
            gnn_gpu_host_close(x->g, p->id);
    }
}

/* Row pointers and ids of edges, for all devices. */
static int open_edges(struct gpu_gather *x, struct gather_table *t, struct gnn_err *e)
{
    const uint32_t n = t->job->nparts;
    struct gnn_edges_part *to = gnn_alloc(n, sizeof *to, "partitions of a field", e);
    int rc = to ? 0 : e->code;
    for (; !rc && t->edges_opened < n; t->edges_opened += !rc) {
        const struct gnn_edges_part *p = &t->job->edges[t->edges_opened];
        const void *indptr = NULL, *id = NULL;
        rc = gnn_gpu_host_open(x->g, unread_store(x, t), p->indptr,
                               (p->count + 1) * sizeof *p->indptr, "row pointers of a store",
                               &indptr, e);
        if (!rc && p->id &&
            (rc = gnn_gpu_host_open(x->g, unread_store(x, t), p->id, p->nedges * sizeof *p->id,
                                    "edge ids of a store", &id, e)))
            gnn_gpu_host_close(x->g, p->indptr);
        to[t->edges_opened] = *p;
        to[t->edges_opened].indptr = indptr;
        to[t->edges_opened].id = id;
    }
    for (unsigned i = 0; !rc && i < x->g->n; i++) {
        void *p;
        rc = gnn_gpu_gather_upload(&x->unit[i], to, n * sizeof *to, "partitions of a field", &p, e);
        t->edges[i] = p;
    }
    gnn_free(to);
    return rc;
}

static int open_table(struct gpu_gather *x, struct gather_table *t, const struct gather_job *j,
                      struct gnn_err *e)
{
    t->job = j;
    t->staged = x->staged && !j->label; /* labels are the seeds', which are own */
    t->copy = t->staged ? gnn_gather_job_then(j) : gnn_gather_job_copy(j);
    t->keep =
        (struct gather_copy){GNN_GATHER_AS_IS, gnn_gather_row_bytes(t->copy.cast, t->copy.bytes)};
    t->part = gnn_alloc(j->nparts, sizeof *t->part, "partitions of a field", e);
    t->view = gnn_alloc_zero(x->g->n, sizeof *t->view, "partitions of a field", e);
    t->edges = gnn_alloc_zero(x->g->n, sizeof *t->edges, "partitions of a field", e);
    if (!t->part || !t->view || !t->edges)
        return e->code;
    if (!t->staged)
        return j->edge ? open_edges(x, t, e) : 0;
    const struct gather_replica *r = x->job->replica;
    const void *copies = r ? r->data[j - x->job->job] : NULL;
    if (copies && gnn_gpu_host_open(x->g, NULL, copies, r->of[j->type].n * t->keep.bytes,
                                    "remote rows", &t->copies, e))
        return e->code;
    bool direct;
    (void)gnn_gather_has_fields(x->job, j->edge, j->type, &direct);
    return direct ? open_parts(x, t, e) : 0;
}

/* ---- the device's side ---- */

static int open_inverse(struct gather_unit *u, const uint32_t *inverse, uint64_t n,
                        struct gather_view *v, struct gnn_err *e)
{
    struct gnn_gather_part part = {.count = n, .tier = GNN_TIER_DEVICE};
    void *p;
    int rc = gnn_gpu_gather_upload(u, inverse, n * sizeof *inverse, "original ids", &p, e);
    part.data = p;
    if (!rc)
        rc = gnn_gpu_gather_upload(u, &part, sizeof part, "original ids", &p, e);
    if (rc)
        return rc;
    v->cached = p;
    v->ncached = 1;
    return 0;
}

static int open_unit(struct gpu_gather *x, unsigned i, struct gnn_err *e)
{
    const struct gnn_schema *c = &x->job->meta.schema;
    struct gather_unit *u = &x->unit[i];
    void *p;
    u->d = &x->g->dev[i];
    u->inverse = gnn_alloc_zero(c->nntypes, sizeof *u->inverse, "a device", e);
    u->ids = gnn_alloc_zero(c->nntypes, sizeof *u->ids, "a device", e);
    if (!u->inverse || !u->ids || gnn_gpu_stream_new(u->d, GNN_DEV_LOW, &u->stream, e))
        return e->code;
    const bool trains = x->beside && i == 0 && !(u->d->asked & GNN_GPU_OFF_GATHER2); /* the first */
    u->blocks = u->d->multiprocessors * (trains ? BESIDE_TRAINING : GNN_CUDA_GATHER_BLOCKS);
    int rc = gnn_gpu_gather_alloc(u, (uint64_t)GATHER_DEPTH * x->ncounts * sizeof *u->count,
                                  "counts", &p, e);
    u->count = p;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        if (x->job->inverse[t])
            rc = open_inverse(u, x->job->inverse[t], c->ntype[t].count, &u->inverse[t], e);
    return rc;
}

static void close_unit(struct gather_unit *u, uint32_t ntypes)
{
    for (uint64_t i = 0; i < u->nmemory; i++)
        gnn_dev_free(u->memory[i]);
    for (uint32_t t = 0; u->ids && t < ntypes; t++)
        gnn_buf_release_in(&u->d->mem, &u->ids[t]);
    if (u->d) {
        gnn_buf_release_in(&u->d->mem, &u->rows);
        gnn_buf_release_in(&u->d->mem, &u->staging);
    }
    gnn_free(u->memory);
    gnn_free(u->inverse);
    gnn_free(u->ids);
}

/* ---- both ---- */

static int open_counts(struct gpu_gather *x, struct gnn_err *e)
{
    const uint64_t bytes = x->ncounts * sizeof *x->fresh;
    void *p;
    if (gnn_gpu_pin(&p, bytes, "counts", e))
        return e->code;
    x->fresh = p;
    for (uint32_t i = 0; i < x->ncounts; i++)
        x->fresh[i] = (struct gnn_gather_count){.first_missing = UINT64_MAX};
    int rc = gnn_gpu_pin(&p, GATHER_DEPTH * bytes, "counts", e);
    x->counted = rc ? NULL : p;
    return rc;
}

int gnn_gpu_gather_init(struct gpu_gather *x, struct gnn_err *e)
{
    const struct gatherer *g = x->job;
    const uint32_t nhops = g->meta.sampling.nhops;
    x->unit = gnn_alloc_zero(x->g->n, sizeof *x->unit, "devices", e);
    x->table = gnn_alloc_zero(g->njobs, sizeof *x->table, "fields", e);
    x->at = gnn_alloc(g->njobs, sizeof *x->at, "fields", e);
    if (!x->unit || !x->table || !x->at)
        return e->code;
    x->ncounts = g->meta.schema.nntypes;
    for (uint32_t i = 0; i < g->njobs; i++) {
        x->at[i] = x->ncounts;
        x->ncounts += g->job[i].edge ? nhops : 1;
    }
    int rc = open_counts(x, e);
    for (unsigned i = 0; !rc && i < x->g->n; i++)
        rc = open_unit(x, i, e);
    for (uint32_t i = 0; !rc && i < g->njobs; i++)
        rc = open_table(x, &x->table[i], &g->job[i], e);
    return rc;
}

void gnn_gpu_gather_release(struct gpu_gather *x)
{
    for (unsigned i = 0; x->unit && i < x->g->n; i++) /* of all, as they read each other's memory */
        gnn_dev_stream_free(x->unit[i].stream);
    gnn_gpu_peers_close(x->peers);
    for (unsigned i = 0; x->unit && i < x->g->n; i++)
        close_unit(&x->unit[i], x->job->meta.schema.nntypes);
    for (uint32_t i = 0; x->table && i < x->job->njobs; i++) {
        struct gather_table *t = &x->table[i];
        if (t->job)
            close_parts(x, t);
        gnn_free(t->part);
        gnn_free(t->view);
        gnn_free(t->edges);
    }
    for (unsigned i = 0; i < GATHER_DEPTH; i++)
        gnn_gather_staging_put(x->queue, x->staging[i]);
    gnn_gpu_unpin(x->fresh);
    gnn_gpu_unpin(x->counted);
    gnn_free(x->unit);
    gnn_free(x->table);
    gnn_free(x->at);
}

int gnn_gpu_gather_place(struct gather_unit *u, struct gather_view *v,
                         const struct gnn_placement *p, uint32_t device, void *const *data,
                         const uint32_t *slot, struct gnn_err *e)
{
    const uint32_t n = p->devices + 1;
    struct gnn_gather_part *part = gnn_alloc(n, sizeof *part, "shards of the cache", e);
    void *uploaded;
    for (uint32_t k = 0; part && k < n; k++)
        part[k] = gnn_placement_part(p, device, k, data[k]);
    int rc =
        part ? gnn_gpu_gather_upload(u, part, n * sizeof *part, "shards of the cache", &uploaded, e)
             : e->code;
    gnn_free(part);
    if (rc)
        return rc;
    v->cached = uploaded;
    v->ncached = n;
    v->slot = slot;
    v->nslots = p->nrows;
    return 0;
}

int gnn_gpu_gather_rows(struct gather_unit *u, const struct gather_view *v, struct gather_copy c,
                        const uint32_t *id, const uint64_t *id64, uint64_t n, void *out,
                        struct gnn_gather_count *count, struct gnn_err *e)
{
    const struct gnn_cuda_gather g = {.cached = v->cached,
                                      .backing = v->backing,
                                      .ncached = v->ncached,
                                      .nbacking = v->nbacking,
                                      .slot = v->slot,
                                      .nslots = v->nslots,
                                      .cast = c.cast,
                                      .bytes = c.bytes,
                                      .capacity = n,
                                      .id = id,
                                      .id64 = id64,
                                      .out = out,
                                      .count = count,
                                      .blocks =
                                          v->ncached ? u->blocks : GNN_CUDA_GATHER_HOST_BLOCKS};
    gnn_cuda_gather_rows(&g, u->stream);
    return gnn_dev_launched("gathering", e);
}
