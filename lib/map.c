/* gnn_map_new: the one place where batches meet threads. A ring of `depth` slots keeps the order: slot i
 * holds batch number i mod depth from the moment it is drawn from the source below until it is handed on. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/source.h"

enum slot_state { EMPTY, WORKING, DONE };

struct slot {
    enum slot_state state;
    struct gnn_batch *b;
    int rc; /* of the apply, or what the source below said instead of a batch */
    struct gnn_err err;
};

struct map {
    struct gnn_source base;
    struct gnn_source *up;
    struct gnn_map_ops ops;
    void *arg;
    unsigned nthreads, depth, started;
    void **worker;
    pthread_t *thread;
    struct slot *slot;
    pthread_mutex_t lock; /* of everything below and of the slots' states */
    pthread_mutex_t draw; /* of the source below, so that drawing does not hold up delivery */
    pthread_cond_t changed;
    uint64_t head, tail; /* numbers of the next batch to hand on, and to draw */
    bool stop, over;     /* no more drawing: asked to, or the source below ended or failed */
    int final;           /* what next() returns from now on, once it has returned it */
};

struct thread_arg {
    struct map *m;
    unsigned index;
};

/* Draws one batch into a slot and works on it. False when there is nothing left to do. */
static bool work(struct map *m, void *worker)
{
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
    s->rc = m->ops.apply(m->arg, worker, s->b, &s->err);
    pthread_mutex_lock(&m->lock);
    if (s->rc)
        m->over = true;
    s->state = DONE;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return true;
}

static void *run(void *p)
{
    struct thread_arg a = *(struct thread_arg *)p;
    gnn_free(p);
    if (a.m->ops.background)
        setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    while (work(a.m, a.m->worker[a.index]))
        ;
    return NULL;
}

static int start(struct map *m, struct gnn_err *e)
{
    for (; m->started < m->nthreads; m->started++) {
        struct thread_arg *a = gnn_alloc(1, sizeof *a, "a thread", e);
        if (!a)
            return e->code;
        *a = (struct thread_arg){.m = m, .index = m->started};
        if (pthread_create(&m->thread[m->started], NULL, run, a)) {
            gnn_free(a);
            return gnn_fail(e, GNN_E_RUN, "cannot start thread %u", m->started);
        }
    }
    return 0;
}

/* Waits for the slot at the head and empties it. */
static int take(struct map *m, struct gnn_batch **b, struct gnn_err *e)
{
    pthread_mutex_lock(&m->lock);
    struct slot *s = &m->slot[m->head % m->depth];
    while (!(m->head < m->tail && s->state == DONE))
        pthread_cond_wait(&m->changed, &m->lock);
    int rc = s->rc;
    if (rc < 0)
        gnn_fail(e, (enum gnn_status)rc, "%s", s->err.msg);
    *b = s->b;
    s->b = NULL;
    s->state = EMPTY;
    m->head++;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    return rc;
}

static int next(struct gnn_source *base, struct gnn_batch **out, struct gnn_err *e)
{
    struct map *m = (struct map *)base;
    struct gnn_batch *b = NULL;
    int rc = m->final;
    if (rc)
        return rc;
    if (!m->nthreads) {
        rc = gnn_source_next(m->up, &b, e);
        if (!rc)
            rc = m->ops.apply(m->arg, m->worker[0], b, e);
    } else {
        rc = start(m, e);
        if (!rc)
            rc = take(m, &b, e);
    }
    if (rc == GNN_END && m->ops.end) {
        int last = m->ops.end(m->arg, e);
        if (last)
            rc = last;
    }
    if (rc) {
        gnn_batch_put(b);
        m->final = rc;
        return rc;
    }
    *out = b;
    return 0;
}

static void map_free(struct gnn_source *base)
{
    struct map *m = (struct map *)base;
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    for (unsigned i = 0; i < m->started; i++)
        pthread_join(m->thread[i], NULL);
    for (unsigned i = 0; m->slot && i < m->depth; i++)
        gnn_batch_put(m->slot[i].b);
    for (unsigned i = 0; m->worker && i < (m->nthreads ? m->nthreads : 1); i++)
        if (m->worker[i])
            m->ops.worker_free(m->worker[i]);
    gnn_source_free(m->up);
    if (m->ops.arg_free)
        m->ops.arg_free(m->arg);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->draw);
    pthread_cond_destroy(&m->changed);
    gnn_free(m->worker);
    gnn_free(m->thread);
    gnn_free(m->slot);
    gnn_free(m);
}

struct gnn_source *gnn_map_new(struct gnn_source *up, const struct gnn_meta *meta,
                               const struct gnn_map_ops *ops, void *arg, unsigned nthreads,
                               unsigned depth, struct gnn_err *e)
{
    struct map *m = gnn_alloc_zero(1, sizeof *m, "a filter", e);
    if (!m) {
        gnn_source_free(up);
        if (ops->arg_free)
            ops->arg_free(arg);
        return NULL;
    }
    unsigned workers = nthreads ? nthreads : 1;
    m->base = (struct gnn_source){.next = next, .free = map_free, .meta = meta};
    m->up = up;
    m->ops = *ops;
    m->arg = arg;
    m->nthreads = nthreads;
    m->depth = depth > nthreads ? depth : nthreads + 1;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->draw, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->worker = gnn_alloc_zero(workers, sizeof *m->worker, "a filter", e);
    m->thread = gnn_alloc(workers, sizeof *m->thread, "a filter", e);
    m->slot = gnn_alloc_zero(m->depth, sizeof *m->slot, "a filter", e);
    bool good = m->worker && m->thread && m->slot;
    for (unsigned i = 0; good && ops->worker_new && i < workers; i++)
        good = (m->worker[i] = ops->worker_new(arg, e)) != NULL;
    if (!good) {
        map_free(&m->base);
        return NULL;
    }
    return &m->base;
}
