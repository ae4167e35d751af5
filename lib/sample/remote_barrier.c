/* SPDX-License-Identifier: Apache-2.0 */
/* The end-of-epoch barrier: ranks that stop before the last batch stop after the same one. Some may
 * have begun batches that others have not, and wait in them for answers; so the plan goes on, on
 * all ranks, to the last batch that one of them has begun. */
#include "lib/sample/sample_impl.h"

int gnn_sample_barrier_new(struct sampler *s, struct gnn_err *e)
{
    struct gnn_sample_barrier *b = s->barrier = gnn_alloc_zero(1, sizeof *b, "a barrier", e);
    if (!b)
        return e->code;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->opened, NULL);
    b->limit = UINT64_MAX;
    return 0;
}

void gnn_sample_barrier_free(struct gnn_sample_barrier *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->opened);
    gnn_free(b);
}

bool gnn_sample_barrier_pass(struct gnn_sample_barrier *b)
{
    pthread_mutex_lock(&b->lock);
    while (b->closed)
        pthread_cond_wait(&b->opened, &b->lock);
    const bool pass = b->begun < b->limit;
    b->begun += pass;
    pthread_mutex_unlock(&b->lock);
    return pass;
}

bool gnn_sample_barrier_leave(void *sampler)
{
    struct sampler *s = sampler;
    struct gnn_sample_barrier *b = s->barrier;
    struct gnn_err e = {0};
    pthread_mutex_lock(&b->lock);
    b->closed = true;
    uint64_t most[2] = {b->begun, UINT64_MAX - b->begun}; /* of batches begun, and not begun */
    pthread_mutex_unlock(&b->lock);
    const bool failed = s->comm->lost || gnn_comm_all_reduce(s->comm, most, 2, GNN_REDUCE_MAX, &e);
    pthread_mutex_lock(&b->lock);
    b->limit = failed ? 0 : most[0];
    b->closed = false;
    pthread_cond_broadcast(&b->opened);
    pthread_mutex_unlock(&b->lock);
    return !failed && most[0] > UINT64_MAX - most[1];
}
