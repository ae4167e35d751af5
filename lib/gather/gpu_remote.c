/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of other ranks on their way to a device (lib/gather/gpu_remote.h). Threads request the rows
 * of a batch and copy the replies into one pinned staging buffer, with the tables that the
 * gathering kernel needs; one copy then brings it all to the device. Order here: the buffer and its
 * layout, the threads, the queue that hands buffers over. */
#include "lib/gather/gpu_remote.h"

#include <string.h>

#include "lib/gather/replica.h"

enum { ALIGN = 64 };

static uint64_t align_up(uint64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- staging buffers ---- */

static void free_stagings(struct gather_staging *p)
{
    while (p) {
        struct gather_staging *next = p->next;
        gnn_buf_release_in(&gnn_gpu_pinned, &p->data);
        gnn_free(p->of);
        gnn_free(p);
        p = next;
    }
}

static struct gather_staging *get_staging(struct gather_queue *q, struct gnn_err *e)
{
    pthread_mutex_lock(&q->lock);
    struct gather_staging *p = q->spare;
    if (p)
        q->spare = p->next;
    pthread_mutex_unlock(&q->lock);
    if (p || !(p = gnn_alloc_zero(1, sizeof *p, "ranks", e)))
        return p;
    p->of = gnn_alloc_zero(q->ncounts, sizeof *p->of, "ranks", e);
    if (p->of)
        return p;
    gnn_free(p);
    return NULL;
}

void gnn_gather_staging_put(struct gather_queue *q, struct gather_staging *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&q->lock);
    p->next = q->spare;
    q->spare = p;
    pthread_mutex_unlock(&q->lock);
}

struct gather_staging *gnn_gather_staging_take(struct gather_queue *q, uint64_t nth)
{
    pthread_mutex_lock(&q->lock);
    struct gather_staging **at = &q->made, *p;
    while (*at && (*at)->nth != nth)
        at = &(*at)->next;
    if ((p = *at))
        *at = p->next;
    pthread_mutex_unlock(&q->lock);
    return p;
}

/* A staging buffer, from its start: parts of all fields and hops, row numbers, then the reply of
 * each rank. */
static void lay_out(const struct gather_queue *q, const struct gather_rows *f,
                    const struct gnn_batch *b, struct gather_staging *p)
{
    p->nparts = 0;
    for (uint32_t i = 0; i < q->job->njobs; i++)
        p->nparts += gnn_gather_hops(&q->job->job[i], b) *
                     (UINT64_C(1) + q->nown[i] + gnn_gather_parts_added(q->job));
    p->rows_at = align_up(p->nparts * sizeof(struct gnn_gather_part));
    p->bytes = p->rows_at + align_up(f->nrows * sizeof(uint64_t));
    for (uint32_t r = 0; r < f->q.ranks; r++)
        p->bytes += align_up(f->q.in[r].n * sizeof(uint32_t));
}

/* The parts of one field and hop. The first one is empty, so that the search for a row's part finds
 * one that begins at 0. Addresses of replies are offsets into the buffer for now. */
static int add_parts(const struct gather_queue *q, struct gather_rows *f, struct gather_staging *p,
                     uint32_t job, uint32_t hop, uint64_t *nparts, struct gnn_err *e)
{
    const struct gather_job *j = &q->job->job[job];
    const struct gather_want *w = &f->want[gnn_gather_slot(q->job, j, hop)];
    struct gather_staged *k = &p->of[q->at[job] + hop];
    struct gnn_gather_part *part = (struct gnn_gather_part *)p->data.data + *nparts;
    const struct gather_own own = {q->own[job], q->nown[job], q->copies[job]};
    uint32_t n;
    *k = (struct gather_staged){.part_at = *nparts * sizeof *part,
                                .row_at = p->rows_at + w->row_at * sizeof(uint64_t),
                                .nparts =
                                    UINT64_C(1) + q->nown[job] + gnn_gather_parts_added(q->job),
                                .n = w->n};
    *nparts += k->nparts;
    *part++ = (struct gnn_gather_part){.tier = GNN_TIER_HOST};
    if (gnn_gather_parts(q->job, f, j, hop, &own, part, &n, e))
        return e->code;
    for (uint32_t r = n - f->q.ranks; r < n; r++) /* the replies are last */
        part[r].data =
            (const void *)((uintptr_t)part[r].data - (uintptr_t)(const char *)p->data.data);
    return 0;
}

/* Replies are read where they are copied to. */
static int fill_staging(const struct gather_queue *q, struct gather_rows *f,
                        const struct gnn_batch *b, struct gather_staging *p, struct gnn_err *e)
{
    uint64_t nparts = 0;
    int rc = 0;
    char *to = p->data.data, *reply = to + p->rows_at + align_up(f->nrows * sizeof(uint64_t));
    if (f->nrows)
        memcpy(to + p->rows_at, f->row.data, f->nrows * sizeof(uint64_t));
    for (uint32_t r = 0; r < f->q.ranks; r++) {
        const uint64_t bytes = f->q.in[r].n * sizeof(uint32_t);
        if (bytes)
            memcpy(reply, f->q.in[r].w, bytes);
        f->q.in[r].w = (const void *)reply;
        reply += align_up(bytes);
    }
    for (uint32_t i = 0; !rc && i < q->job->njobs; i++)
        for (uint32_t h = 0; !rc && h < gnn_gather_hops(&q->job->job[i], b); h++)
            rc = add_parts(q, f, p, i, h, &nparts, e);
    return rc;
}

int gnn_gather_staging_make(struct gather_queue *q, struct gather_rows *f,
                            const struct gnn_batch *b, struct gather_staging **out,
                            struct gnn_err *e)
{
    struct gather_staging *p = get_staging(q, e);
    if (!p)
        return e->code;
    memset(p->of, 0, q->ncounts * sizeof *p->of);
    lay_out(q, f, b, p);
    p->nth = b->nth;
    if (gnn_buf_fit_in(&gnn_gpu_pinned, &p->data, p->bytes, 1, "remote rows", e) ||
        fill_staging(q, f, b, p, e)) {
        gnn_gather_staging_put(q, p);
        return e->code;
    }
    *out = p;
    return 0;
}

int gnn_gather_staging_send(const struct gather_queue *q, struct gather_unit *u,
                            struct gather_staging *p, struct gnn_err *e)
{
    const uint32_t ranks = q->job->comm->size;
    int rc = gnn_buf_fit_in(&u->d->mem, &u->staging, p->bytes, 1, "remote rows", e);
    for (uint32_t i = 0; !rc && i < q->ncounts; i++) { /* replies get their addresses */
        const struct gather_staged *k = &p->of[i];
        struct gnn_gather_part *end = (void *)((char *)p->data.data + k->part_at);
        end += k->nparts;
        for (struct gnn_gather_part *part = end - ranks; k->nparts && part < end; part++)
            part->data = (char *)u->staging.data + (uintptr_t)part->data;
    }
    return rc ? rc : gnn_dev_copy(u->staging.data, p->data.data, p->bytes, u->stream, e);
}

struct gather_view gnn_gather_staging_view(const struct gather_unit *u,
                                           const struct gather_view *cached,
                                           const struct gather_staged *k, const uint64_t **rows)
{
    struct gather_view v = *cached;
    const char *data = u->staging.data;
    v.backing = (const void *)(data + k->part_at);
    v.nbacking = (uint32_t)k->nparts;
    *rows = (const void *)(data + k->row_at);
    return v;
}

/* ---- the threads that request rows ---- */

static void *new_requester(void *queue, struct gnn_err *e)
{
    return gnn_gather_rows_new(((struct gather_queue *)queue)->job, e);
}

static void free_requester(void *requester)
{
    gnn_gather_rows_free(requester);
}

static int request_batch(void *queue, void *requester, struct gnn_batch *b, struct gnn_err *e)
{
    struct gather_queue *q = queue;
    struct gather_rows *f = requester;
    struct gather_staging *p = NULL;
    /* Batches go to the devices in turn, so the number of a batch tells whose cached rows need no
     * request. */
    f->map = q->map + b->nth % q->devices * q->job->meta.schema.nntypes;
    /* Ranks answer each other's requests while they wait, so this is done even when the device side
     * is closed. */
    int rc = gnn_gather_fetch(q->job, f, b, e);
    pthread_mutex_lock(&q->lock);
    const bool closed = q->closed;
    pthread_mutex_unlock(&q->lock);
    if (!rc && !closed)
        rc = gnn_gather_staging_make(q, f, b, &p, e);
    gnn_gather_count(q->job, f, b);
    if (!p)
        return rc;
    pthread_mutex_lock(&q->lock);
    p->next = q->made;
    q->made = p;
    pthread_mutex_unlock(&q->lock);
    return 0;
}

static int end_stream(void *queue, struct gnn_err *e)
{
    return gnn_gather_end(((struct gather_queue *)queue)->job, e);
}

struct gnn_source *gnn_gather_queue_source(struct gnn_source *up, struct gather_queue *q,
                                           unsigned threads, struct gnn_err *e)
{
    static const struct gnn_map_ops ops = {.worker_new = new_requester,
                                           .worker_free = free_requester,
                                           .apply = request_batch,
                                           .end = end_stream,
                                           .arg_free = gnn_gather_queue_put};
    pthread_mutex_lock(&q->lock);
    q->holders++;
    pthread_mutex_unlock(&q->lock);
    return gnn_map_new(up, &q->job->meta, &ops, q, threads, 2 * threads, e);
}

/* ---- the queue ---- */

struct gather_queue *gnn_gather_queue_new(struct gnn_gpu *g, struct gatherer *job,
                                          struct gnn_err *e)
{
    struct gather_queue *q = gnn_alloc_zero(1, sizeof *q, "ranks", e);
    if (!q) {
        gnn_gatherer_free(job);
        return NULL;
    }
    q->job = job;
    q->devices = g->n;
    q->holders = 1;
    pthread_mutex_init(&q->lock, NULL);
    q->at = gnn_alloc(job->njobs, sizeof *q->at, "ranks", e);
    q->own = gnn_alloc_zero(job->njobs, sizeof(struct gnn_gather_part *), "ranks", e);
    q->nown = gnn_alloc_zero(job->njobs, sizeof *q->nown, "ranks", e);
    q->copies = gnn_alloc_zero(job->njobs, sizeof *q->copies, "ranks", e);
    q->map = gnn_alloc((uint64_t)g->n * job->meta.schema.nntypes, sizeof *q->map, "ranks", e);
    for (uint32_t i = 0; q->map && i < g->n * job->meta.schema.nntypes; i++)
        q->map[i] = job->map[i % job->meta.schema.nntypes];
    if (q->at && q->own && q->nown && q->copies && q->map)
        return q;
    gnn_gather_queue_put(q);
    return NULL;
}

void gnn_gather_queue_close(struct gather_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_mutex_unlock(&q->lock);
}

void gnn_gather_queue_put(void *queue)
{
    struct gather_queue *q = queue;
    pthread_mutex_lock(&q->lock);
    const unsigned left = --q->holders;
    pthread_mutex_unlock(&q->lock);
    if (left)
        return;
    free_stagings(q->made);
    free_stagings(q->spare);
    for (uint32_t i = 0; q->own && i < q->job->njobs; i++)
        gnn_free(q->own[i]);
    for (uint64_t i = 0; i < q->nplaced; i++)
        gnn_placement_release(&q->placed[i]);
    pthread_mutex_destroy(&q->lock);
    gnn_free(q->at);
    gnn_free(q->own);
    gnn_free(q->nown);
    gnn_free(q->copies);
    gnn_free(q->map);
    gnn_free(q->placed);
    gnn_gatherer_free(q->job);
    gnn_free(q);
}

int gnn_gather_queue_parts(struct gather_queue *q, const struct gpu_gather *x, struct gnn_err *e)
{
    q->ncounts = x->ncounts;
    memcpy(q->at, x->at, q->job->njobs * sizeof *q->at);
    for (uint32_t i = 0; i < q->job->njobs; i++) {
        const struct gather_table *t = &x->table[i];
        q->copies[i] = t->copies;
        if (!t->opened || t->job->label)
            continue;
        if (!(q->own[i] = gnn_alloc(t->opened, sizeof **q->own, "ranks", e)))
            return e->code;
        memcpy(q->own[i], t->part, t->opened * sizeof **q->own);
        q->nown[i] = t->opened;
    }
    return 0;
}
