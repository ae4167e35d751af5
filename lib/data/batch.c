/* SPDX-License-Identifier: Apache-2.0 */
/* Batches and the pool that they come from (lib/data/batch.h). A batch is given back by whoever
 * holds it last, in any thread, with its memory, so that the next one needs no allocation. A pool
 * that is freed while batches are out lives until the last one comes back. */
#include "lib/data/batch.h"

#include <pthread.h>
#include <string.h>

struct gnn_batch_pool {
    pthread_mutex_t lock;
    struct gnn_batch *free;
    uint64_t out; /* batches that are not here */
    bool gone;    /* freed but for the batches that are out */
    uint32_t nhops, nntypes, netypes;
};

struct gnn_batch_pool *gnn_batch_pool_new(const struct gnn_meta *m, struct gnn_err *e)
{
    struct gnn_batch_pool *p = gnn_alloc_zero(1, sizeof *p, "a batch pool", e);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    p->nhops = m->sampling.nhops;
    p->nntypes = m->schema.nntypes;
    p->netypes = m->schema.netypes;
    return p;
}

void gnn_batch_unplace(struct gnn_batch *b)
{
    if (b->place)
        b->place->free(b->place);
    b->place = NULL;
}

static void batch_free(struct gnn_batch *b)
{
    gnn_tensors_release(&b->tensors);
    gnn_batch_unplace(b);
    gnn_free(b->type);
    gnn_free(b->block);
    gnn_free(b);
}

static void pool_free(struct gnn_batch_pool *p)
{
    while (p->free) {
        struct gnn_batch *b = p->free;
        p->free = b->next_free;
        batch_free(b);
    }
    pthread_mutex_destroy(&p->lock);
    gnn_free(p);
}

void gnn_batch_pool_free(struct gnn_batch_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->gone = true;
    const bool last = !p->out;
    pthread_mutex_unlock(&p->lock);
    if (last)
        pool_free(p);
}

static void batch_clear(struct gnn_batch *b)
{
    gnn_tensors_clear(&b->tensors);
    memset(b, 0, offsetof(struct gnn_batch, type));
    memset(b->type, 0, b->nntypes * sizeof *b->type);
    memset(b->block, 0, (size_t)b->nhops * b->netypes * sizeof *b->block);
}

static struct gnn_batch *batch_new(struct gnn_batch_pool *p, struct gnn_err *e)
{
    struct gnn_batch *b = gnn_alloc_zero(1, sizeof *b, "a batch", e);
    if (!b)
        return NULL;
    b->pool = p;
    b->nhops = p->nhops;
    b->nntypes = p->nntypes;
    b->netypes = p->netypes;
    b->type = gnn_alloc(b->nntypes, sizeof *b->type, "a batch", e);
    b->block = gnn_alloc((uint64_t)b->nhops * b->netypes, sizeof *b->block, "a batch", e);
    if (!b->type || !b->block) {
        batch_free(b);
        return NULL;
    }
    return b;
}

int gnn_batch_get(struct gnn_batch_pool *p, struct gnn_batch **b, struct gnn_err *e)
{
    pthread_mutex_lock(&p->lock);
    struct gnn_batch *got = p->free;
    if (got)
        p->free = got->next_free;
    p->out++;
    pthread_mutex_unlock(&p->lock);
    if (!got && !(got = batch_new(p, e))) {
        pthread_mutex_lock(&p->lock);
        p->out--;
        pthread_mutex_unlock(&p->lock);
        return e->code;
    }
    /* Under no lock: nobody else has this batch. */
    batch_clear(got);
    got->holders = 1;
    *b = got;
    return 0;
}

void gnn_batch_hold(struct gnn_batch *b)
{
    pthread_mutex_lock(&b->pool->lock);
    b->holders++;
    pthread_mutex_unlock(&b->pool->lock);
}

void gnn_batch_put(struct gnn_batch *b)
{
    if (!b)
        return;
    struct gnn_batch_pool *p = b->pool;
    pthread_mutex_lock(&p->lock);
    const bool free = !--b->holders;
    pthread_mutex_unlock(&p->lock);
    if (!free)
        return;
    /* Not under the lock: giving back a lease may write to a socket. */
    gnn_tensors_give_back(&b->tensors);
    pthread_mutex_lock(&p->lock);
    b->next_free = p->free;
    p->free = b;
    const bool last = !--p->out && p->gone;
    pthread_mutex_unlock(&p->lock);
    if (last)
        pool_free(p);
}
