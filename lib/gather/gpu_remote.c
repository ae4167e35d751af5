#include "lib/gather/gpu_remote.h"

#include <string.h>

#include "lib/gather/replica.h"

enum { ALIGN = 64 };

static uint64_t align_up(uint64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- packets ---- */

static void packets_free(struct gather_staging *p)
{
    while (p) {
        struct gather_staging *next = p->next;
        gnn_buf_release_in(&gpu_pinned, &p->data);
        gnn_free(p->of);
        gnn_free(p);
        p = next;
    }
}

static struct gather_staging *packet_get(struct gather_queue *l, struct gnn_err *e)
{
    pthread_mutex_lock(&l->lock);
    struct gather_staging *p = l->spare;
    if (p)
        l->spare = p->next;
    pthread_mutex_unlock(&l->lock);
    if (p || !(p = gnn_alloc_zero(1, sizeof *p, "ranks", e)))
        return p;
    p->of = gnn_alloc_zero(l->ncounts, sizeof *p->of, "ranks", e);
    if (p->of)
        return p;
    gnn_free(p);
    return NULL;
}

void gnn_gather_staging_put(struct gather_queue *l, struct gather_staging *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&l->lock);
    p->next = l->spare;
    l->spare = p;
    pthread_mutex_unlock(&l->lock);
}

struct gather_staging *gnn_gather_staging_take(struct gather_queue *l, uint64_t nth)
{
    pthread_mutex_lock(&l->lock);
    struct gather_staging **at = &l->made, *p;
    while (*at && (*at)->nth != nth)
        at = &(*at)->next;
    if ((p = *at))
        *at = p->next;
    pthread_mutex_unlock(&l->lock);
    return p;
}

/* How a packet is laid out. */
struct layout {
    const struct gatherer *g;
    struct gather_remote *f;
    const struct gnn_batch *b;
    uint64_t rows_at, nrows;
    uint64_t *came_at; /* [ranks] */
    const uint32_t **came;
};

static void lay_out(const struct gather_queue *l, struct layout *y, struct gather_staging *p)
{
    const uint32_t slots = y->g->meta.schema.nntypes + y->b->nhops * y->g->meta.schema.netypes;
    p->nparts = 0;
    for (uint32_t i = 0; i < y->g->njobs; i++)
        p->nparts += gnn_gather_hops(&y->g->job[i], y->b) * (l->nown[i] + 2 + y->f->q.ranks);
    for (uint32_t s = 0; s < slots; s++)
        y->nrows += y->f->want[s].n;
    y->rows_at = align_up(p->nparts * sizeof(struct gnn_gather_part));
    p->bytes = y->rows_at + align_up(y->nrows * sizeof(uint64_t));
    for (uint32_t r = 0; r < y->f->q.ranks; r++) {
        y->came[r] = y->f->q.in[r].w;
        y->came_at[r] = p->bytes;
        p->bytes += align_up(y->f->q.in[r].n * sizeof(uint32_t));
    }
}

/* One field, and hop: first an empty part, so that there is one that begins at 0. */
static int add_parts(const struct gather_queue *l, const struct layout *y, struct gather_staging *p,
                     uint32_t job, uint32_t hop, uint64_t *nparts, struct gnn_err *e)
{
    const struct gather_job *j = &y->g->job[job];
    const struct gather_want *w = &y->f->want[gnn_gather_slot(y->g, j, hop)];
    struct gather_staged *k = &p->of[l->at[job] + hop];
    struct gnn_gather_part *part = (struct gnn_gather_part *)p->data.data + *nparts;
    *k = (struct gather_staged){.part_at = *nparts * sizeof *part,
                                .row_at = y->rows_at + w->row_at * sizeof(uint64_t),
                                .nparts = l->nown[job] + 2 + y->f->q.ranks,
                                .n = w->n};
    *nparts += k->nparts;
    *part++ = (struct gnn_gather_part){.tier = GNN_TIER_HOST};
    if (l->nown[job])
        memcpy(part, l->own[job], l->nown[job] * sizeof *part);
    part += l->nown[job];
    for (uint32_t r = 0; r < y->f->q.ranks; r++) {
        const void *rows;
        uint64_t n;
        if (gnn_gather_remote_next(y->g, y->f, j, hop, r, &rows, &n, e))
            return e->code;
        const uint64_t at =
            y->came_at[r] + (uint64_t)((const char *)rows - (const char *)y->came[r]);
        *part++ = (struct gnn_gather_part){.first = w->base + r * w->n,
                                           .count = n,
                                           .data = (const void *)(uintptr_t)at,
                                           .tier = r == y->g->comm->rank ? GNN_TIER_HOST
                                                                         : GNN_TIER_REMOTE};
    }
    *part = (struct gnn_gather_part){.first = w->base + y->f->q.ranks * w->n,
                                     .count = l->kept[job] ? y->g->replica->of[j->type].n : 0,
                                     .data = l->kept[job],
                                     .tier = GNN_TIER_HOST};
    return 0;
}

static int fill_packet(const struct gather_queue *l, const struct layout *y,
                       struct gather_staging *p, struct gnn_err *e)
{
    uint64_t nparts = 0;
    int rc = 0;
    char *to = p->data.data;
    if (y->nrows)
        memcpy(to + y->rows_at, y->f->row.data, y->nrows * sizeof(uint64_t));
    for (uint32_t r = 0; r < y->f->q.ranks; r++)
        if (y->f->q.in[r].n)
            memcpy(to + y->came_at[r], y->came[r], y->f->q.in[r].n * sizeof(uint32_t));
    for (uint32_t i = 0; !rc && i < y->g->njobs; i++)
        for (uint32_t h = 0; !rc && h < gnn_gather_hops(&y->g->job[i], y->b); h++)
            rc = add_parts(l, y, p, i, h, &nparts, e);
    return rc;
}

int gnn_gather_staging_make(struct gather_queue *l, struct gather_remote *f,
                            const struct gnn_batch *b, struct gather_staging **out,
                            struct gnn_err *e)
{
    struct layout y = {.g = l->job, .f = f, .b = b};
    struct gather_staging *p = packet_get(l, e);
    if (!p)
        return e->code;
    memset(p->of, 0, l->ncounts * sizeof *p->of);
    y.came_at = gnn_alloc(f->q.ranks, sizeof *y.came_at, "ranks", e);
    y.came = gnn_alloc(f->q.ranks, sizeof(uint32_t *), "ranks", e);
    int rc = y.came_at && y.came ? 0 : e->code;
    if (!rc) {
        lay_out(l, &y, p);
        rc = gnn_buf_fit_in(&gpu_pinned, &p->data, p->bytes, 1, "remote rows", e);
    }
    if (!rc)
        rc = fill_packet(l, &y, p, e);
    gnn_free(y.came_at);
    gnn_free(y.came);
    p->nth = b->nth;
    if (rc)
        gnn_gather_staging_put(l, p);
    else
        *out = p;
    return rc;
}

int gnn_gather_staging_send(const struct gather_queue *l, struct gather_unit *u,
                            struct gather_staging *p, struct gnn_err *e)
{
    const uint32_t ranks = l->job->comm->size;
    int rc = gnn_buf_fit_in(&u->d->mem, &u->far, p->bytes, 1, "remote rows", e);
    for (uint32_t i = 0; !rc && i < l->ncounts; i++) { /* what came gets its address */
        const struct gather_staged *k = &p->of[i];
        struct gnn_gather_part *end = (void *)((char *)p->data.data + k->part_at);
        end += k->nparts;
        for (struct gnn_gather_part *part = end - 1 - ranks; k->nparts && part < end - 1; part++)
            part->data = (char *)u->far.data + (uintptr_t)part->data;
    }
    return rc ? rc : gnn_dev_copy(u->far.data, p->data.data, p->bytes, u->stream, e);
}

struct gather_view gnn_gather_staging_view(const struct gather_unit *u,
                                           const struct gather_view *cached,
                                           const struct gather_staged *k, const uint64_t **rows)
{
    struct gather_view v = *cached;
    const char *data = u->far.data;
    v.backing = (const void *)(data + k->part_at);
    v.nbacking = (uint32_t)k->nparts;
    *rows = (const void *)(data + k->row_at);
    return v;
}

/* ---- the threads that ask ---- */

struct asker {
    struct gather_remote *far;
};

static void *asker_new(void *line, struct gnn_err *e)
{
    struct asker *a = gnn_alloc_zero(1, sizeof *a, "a gathering thread", e);
    if (a && !(a->far = gnn_gather_remote_new(((struct gather_queue *)line)->job, e))) {
        gnn_free(a);
        return NULL;
    }
    return a;
}

static void asker_free(void *asker)
{
    gnn_gather_remote_free(((struct asker *)asker)->far);
    gnn_free(asker);
}

static int ask(void *line, void *asker, struct gnn_batch *b, struct gnn_err *e)
{
    struct gather_queue *l = line;
    struct gather_remote *f = ((struct asker *)asker)->far;
    struct gather_staging *p = NULL;
    f->map =
        l->map + b->nth % l->devices *
                     l->job->meta.schema.nntypes; /* as batches are brought to devices in turn */
    int rc = gnn_gather_remote_exchange(l->job, f, b, e);
    pthread_mutex_lock(&l->lock);
    const bool closed = l->closed;
    pthread_mutex_unlock(&l->lock);
    if (!rc && !closed)
        rc = gnn_gather_staging_make(l, f, b, &p, e);
    gnn_gather_remote_count(l->job, f, b);
    if (!p)
        return rc;
    pthread_mutex_lock(&l->lock);
    p->next = l->made;
    l->made = p;
    pthread_mutex_unlock(&l->lock);
    return 0;
}

static int end(void *line, struct gnn_err *e)
{
    return gnn_gather_remote_end(((struct gather_queue *)line)->job, e);
}

struct gnn_source *gnn_gather_queue_source(struct gnn_source *up, struct gather_queue *l,
                                           unsigned threads, struct gnn_err *e)
{
    static const struct gnn_map_ops ops = {.worker_new = asker_new,
                                           .worker_free = asker_free,
                                           .apply = ask,
                                           .end = end,
                                           .arg_free = gnn_gather_queue_put};
    pthread_mutex_lock(&l->lock);
    l->holders++;
    pthread_mutex_unlock(&l->lock);
    return gnn_map_new(up, &l->job->meta, &ops, l, threads, 2 * threads, e);
}

/* ---- the line ---- */

struct gather_queue *gnn_gather_queue_new(struct gnn_gpu *g, struct gatherer *job,
                                          struct gnn_err *e)
{
    struct gather_queue *l = gnn_alloc_zero(1, sizeof *l, "ranks", e);
    if (!l) {
        gnn_gatherer_free(job);
        return NULL;
    }
    l->job = job;
    l->devices = g->n;
    l->holders = 1;
    pthread_mutex_init(&l->lock, NULL);
    l->at = gnn_alloc(job->njobs, sizeof *l->at, "ranks", e);
    l->own = gnn_alloc_zero(job->njobs, sizeof(struct gnn_gather_part *), "ranks", e);
    l->nown = gnn_alloc_zero(job->njobs, sizeof *l->nown, "ranks", e);
    l->kept = gnn_alloc_zero(job->njobs, sizeof *l->kept, "ranks", e);
    l->map = gnn_alloc((uint64_t)g->n * job->meta.schema.nntypes, sizeof *l->map, "ranks", e);
    for (uint32_t i = 0; l->map && i < g->n * job->meta.schema.nntypes; i++)
        l->map[i] = job->map[i % job->meta.schema.nntypes];
    if (l->at && l->own && l->nown && l->kept && l->map)
        return l;
    gnn_gather_queue_put(l);
    return NULL;
}

void gnn_gather_queue_close(struct gather_queue *l)
{
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    pthread_mutex_unlock(&l->lock);
}

void gnn_gather_queue_put(void *line)
{
    struct gather_queue *l = line;
    pthread_mutex_lock(&l->lock);
    const unsigned left = --l->holders;
    pthread_mutex_unlock(&l->lock);
    if (left)
        return;
    packets_free(l->made);
    packets_free(l->spare);
    for (uint32_t i = 0; l->own && i < l->job->njobs; i++)
        gnn_free(l->own[i]);
    for (uint64_t i = 0; i < l->nplaced; i++)
        gnn_placement_release(&l->placed[i]);
    pthread_mutex_destroy(&l->lock);
    gnn_free(l->at);
    gnn_free(l->own);
    gnn_free(l->nown);
    gnn_free(l->kept);
    gnn_free(l->map);
    gnn_free(l->placed);
    gnn_gatherer_free(l->job);
    gnn_free(l);
}

int gnn_gather_queue_parts(struct gather_queue *l, const struct gpu_gather *x, struct gnn_err *e)
{
    l->ncounts = x->ncounts;
    memcpy(l->at, x->at, l->job->njobs * sizeof *l->at);
    for (uint32_t i = 0; i < l->job->njobs; i++) {
        const struct gather_table *t = &x->table[i];
        l->kept[i] = t->kept;
        if (!t->opened || t->job->label)
            continue;
        if (!(l->own[i] = gnn_alloc(t->opened, sizeof **l->own, "ranks", e)))
            return e->code;
        memcpy(l->own[i], t->part, t->opened * sizeof **l->own);
        l->nown[i] = t->opened;
    }
    return 0;
}
