/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_map_new: the one place where batches meet threads. A ring of `depth` slots keeps the order:
 * slot i holds batch number i mod depth from the moment it is drawn from the source below until it
 * is handed on. */
#include <pthread.h>

#include "lib/base/background.h"
#include "lib/data/source.h"

enum slot_state { EMPTY, WORKING, DONE };

struct slot {
    enum slot_state state;
    struct gnn_batch *b;
    int rc; /* of the apply, or what the source below said instead of a batch */
    struct gnn_err err;
};

/* One function; a batch goes through all stages on the thread that drew it. */
struct stage {
    struct gnn_map_ops ops;
    void *arg;
    void **worker; /* [workers(map)] */
    struct stage *next;
};

struct map {
    struct gnn_source base;
    struct gnn_source *up;
    struct stage *stage;
    unsigned nthreads, depth, started;
    pthread_t *thread;
    struct slot *slot;
    pthread_mutex_t lock; /* of everything below and of the slots' states */
    pthread_mutex_t draw; /* of the source below, so that drawing does not hold up delivery */
    pthread_cond_t changed;
    uint64_t head, tail; /* numbers of the next batch to hand on, and to draw */
    bool stop, over;     /* no more drawing: asked to, or the source below ended or failed */
    int final;           /* what next_batch returns from now on, once it has returned it */
};

struct thread_arg {
    struct map *m;
    unsigned index;
};

static unsigned worker_count(const struct map *m)
{
    return m->nthreads ? m->nthreads : 1;
}

static int apply_in_worker(const struct map *m, unsigned worker, struct gnn_batch *b,
                           struct gnn_err *e)
{
    int rc = 0;
    for (const struct stage *s = m->stage; s && !rc; s = s->next)
        rc = s->ops.apply(s->arg, s->worker[worker], b, e);
    return rc;
}

/* Draws one batch into a slot and works on it. False when there is nothing left to do. */
static bool work_on_next(struct map *m, unsigned worker)
{
    /* `draw` is held while a batch is drawn, so that batches get their slots in the order of the
     * source; `lock` is not, so that finished batches can be handed on meanwhile. */
    pthread_mutex_lock(&m->draw);
    pthread_mutex_lock(&m->lock);
    while (!m->stop && !m->over && m->tail - m->head == m->depth)
        pthread_cond_wait(&m->changed, &m->lock);
    bool go = !m->stop && !m->over;
    struct slot *s = &m->slot[m->tail % m->depth];
    if (go) {
        *s = (struct slot){.state = WORKING};
        m->tail++;
    }
    pthread_mutex_unlock(&m->lock);
    if (go)
        s->rc = gnn_source_next(m->up, &s->b, &s->err);
    bool drawn = go && !s->rc;
    if (go && !drawn) {
        pthread_mutex_lock(&m->lock);
        m->over = true;
        s->state = DONE;
        pthread_cond_broadcast(&m->changed);
        pthread_mutex_unlock(&m->lock);
    }
    pthread_mutex_unlock(&m->draw);
    if (!drawn)
        return false;
    /* Outside of all locks: this is where the time goes. */
    s->rc = apply_in_worker(m, worker, s->b, &s->err);
    pthread_mutex_lock(&m->lock);
    /* No further batch is drawn; those drawn before are still handed on, in order, until this
     * failure. */
    if (s->rc)
        m->over = true;
    s->state = DONE;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return true;
}

static void *run_worker(void *p)
{
    struct thread_arg a = *(struct thread_arg *)p;
    gnn_free(p);
    if (a.m->stage->ops.background)
        gnn_background_enter();
    while (work_on_next(a.m, a.index))
        ;
    return NULL;
}

static int start_workers(struct map *m, struct gnn_err *e)
{
    for (; m->started < m->nthreads; m->started++) {
        struct thread_arg *a = gnn_alloc(1, sizeof *a, "a thread", e);
        if (!a)
            return e->code;
        *a = (struct thread_arg){.m = m, .index = m->started};
        if (pthread_create(&m->thread[m->started], NULL, run_worker, a)) {
            gnn_free(a);
            return gnn_fail(e, GNN_E_RUN, "cannot start thread %u", m->started);
        }
    }
    return 0;
}

/* Waits for the slot at the head and empties it. */
static int take_head(struct map *m, struct gnn_batch **b, struct gnn_err *e)
{
    pthread_mutex_lock(&m->lock);
    struct slot *s = &m->slot[m->head % m->depth];
    while (!(m->head < m->tail && s->state == DONE))
        pthread_cond_wait(&m->changed, &m->lock);
    int rc = s->rc;
    if (rc < 0)
        gnn_fail_as(e, &s->err);
    *b = s->b;
    s->b = NULL;
    s->state = EMPTY;
    m->head++;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

static int next_batch(struct gnn_source *base, struct gnn_batch **out, struct gnn_err *e)
{
    struct map *m = (struct map *)base;
    struct gnn_batch *b = NULL;
    int rc = m->final;
    if (rc)
        return rc;
    if (!m->nthreads) {
        rc = gnn_source_next(m->up, &b, e);
        if (!rc)
            rc = apply_in_worker(m, 0, b, e);
    } else {
        rc = start_workers(m, e);
        if (!rc)
            rc = take_head(m, &b, e);
    }
    /* Each stage may still find at the end that something was wrong, such as a checksum. */
    for (const struct stage *s = m->stage; s && rc == GNN_END; s = s->next) {
        const int last = s->ops.end ? s->ops.end(s->arg, e) : 0;
        rc = last ? last : rc;
    }
    if (rc) {
        gnn_batch_put(b);
        m->final = rc;
        return rc;
    }
    *out = b;
    return 0;
}

static void stage_free(struct stage *s, unsigned n)
{
    for (unsigned i = 0; s->worker && i < n; i++)
        if (s->worker[i])
            s->ops.worker_free(s->worker[i]);
    if (s->ops.arg_free)
        s->ops.arg_free(s->arg);
    gnn_free(s->worker);
    gnn_free(s);
}

/* Takes over arg, also on failure. */
static struct stage *stage_new(const struct gnn_map_ops *ops, void *arg, unsigned n,
                               struct gnn_err *e)
{
    struct stage *s = gnn_alloc_zero(1, sizeof *s, "a filter", e);
    if (!s) {
        if (ops->arg_free)
            ops->arg_free(arg);
        return NULL;
    }
    s->ops = *ops;
    s->arg = arg;
    s->worker = gnn_alloc_zero(n, sizeof *s->worker, "a filter", e);
    bool good = s->worker != NULL;
    for (unsigned i = 0; good && ops->worker_new && i < n; i++)
        good = (s->worker[i] = ops->worker_new(arg, e)) != NULL;
    if (good)
        return s;
    stage_free(s, n);
    return NULL;
}

/* Makes what must be made although nobody wants it any more. */
static void finish_unwanted(struct map *m)
{
    struct gnn_err e = {0};
    struct gnn_batch *b;
    bool go_on = false;
    for (const struct stage *s = m->stage; s && !m->final; s = s->next)
        go_on = (s->ops.leave && s->ops.leave(s->arg)) || go_on;
    while (go_on && !next_batch(&m->base, &b, &e))
        gnn_batch_put(b);
}

static void map_free(struct gnn_source *base)
{
    struct map *m = (struct map *)base;
    finish_unwanted(m);
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_broadcast(&m->changed);
    /* Threads may wait for space in the ring; they see `stop` and end. */
    pthread_mutex_unlock(&m->lock);
    for (unsigned i = 0; i < m->started; i++)
        pthread_join(m->thread[i], NULL);
    for (unsigned i = 0; m->slot && i < m->depth; i++)
        gnn_batch_put(m->slot[i].b);
    gnn_source_free(m->up);
    for (struct stage *s = m->stage, *next_stage; s; s = next_stage) {
        next_stage = s->next;
        stage_free(s, worker_count(m));
    }
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->draw);
    pthread_cond_destroy(&m->changed);
    gnn_free(m->thread);
    gnn_free(m->slot);
    gnn_free(m);
}

static struct map *map_new(struct gnn_source *up, unsigned nthreads, unsigned depth,
                           struct gnn_err *e)
{
    struct map *m = gnn_alloc_zero(1, sizeof *m, "a filter", e);
    if (!m) {
        gnn_source_free(up);
        return NULL;
    }
    m->base = (struct gnn_source){.next = next_batch, .free = map_free};
    m->up = up;
    m->nthreads = nthreads;
    m->depth = depth > nthreads ? depth : nthreads + 1;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->draw, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->thread = gnn_alloc(worker_count(m), sizeof *m->thread, "a filter", e);
    m->slot = gnn_alloc_zero(m->depth, sizeof *m->slot, "a filter", e);
    if (m->thread && m->slot)
        return m;
    map_free(&m->base);
    return NULL;
}

struct gnn_source *gnn_map_new(struct gnn_source *up, const struct gnn_meta *meta,
                               const struct gnn_map_ops *ops, void *arg, unsigned nthreads,
                               unsigned depth, struct gnn_err *e)
{
    /* A stage without threads of its own runs on the threads of the source below. */
    const bool join = !nthreads && up->next == next_batch && ((struct map *)up)->nthreads;
    struct map *m = join ? (struct map *)up : map_new(up, nthreads, depth, e);
    if (!m) {
        if (ops->arg_free)
            ops->arg_free(arg);
        return NULL;
    }
    struct stage **last = &m->stage;
    while (*last)
        last = &(*last)->next;
    if (!(*last = stage_new(ops, arg, worker_count(m), e))) {
        map_free(&m->base);
        return NULL;
    }
    m->base.meta = meta;
    return &m->base;
}
