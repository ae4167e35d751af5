/* SPDX-License-Identifier: Apache-2.0 */
/* Batches drawn once and given again and again: what the stages behind a sampler cost, without it.
 */
#ifndef GNN_TESTS_BENCH_BENCH_REPLAY_H
#define GNN_TESTS_BENCH_BENCH_REPLAY_H

#include <string.h>

#include "lib/data/source.h"

#include "bench_common.h"

enum { REPLAY_STEPS = 8 };

struct replay {
    struct gnn_source base;
    /* Set before replay_init: of batches also the edges, without which a stream's reader refuses
     * them. */
    bool edges;
    struct gnn_batch_pool *pool;
    struct gnn_tensors kept[REPLAY_STEPS];
    uint64_t given, end;
};

static int replay_copy(struct gnn_tensors *to, const struct gnn_tensors *from, bool edges,
                       struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < from->n; i++) {
        const struct gnn_tensor *t = gnn_tensors_at(from, i);
        struct gnn_tensor *u;
        uint64_t bytes;
        if (!edges && !strncmp(t->name, "hop/", 4))
            continue;
        rc = gnn_tensors_add(to, t->name, t->dtype, t->ndim, t->shape, &u, e);
        if (!rc && gnn_tensor_bytes(t, &bytes))
            memcpy(u->data, t->data, bytes);
    }
    return rc;
}

static int replay_next(struct gnn_source *s, struct gnn_batch **out, struct gnn_err *e)
{
    struct replay *r = (struct replay *)s;
    if (r->given == r->end)
        return GNN_END;
    int rc = gnn_batch_get(r->pool, out, e);
    if (!rc)
        rc = replay_copy(&(*out)->tensors, &r->kept[r->given++ % REPLAY_STEPS], true, e);
    return rc ? rc : gnn_batch_bind(*out, s->meta, e);
}

/* The batches go; what they were copied from stays for the whole program. */
static void replay_free(struct gnn_source *s)
{
    struct replay *r = (struct replay *)s;
    gnn_batch_pool_free(r->pool);
    r->pool = NULL;
}

/* Gives so many batches, of a pool of its own: those of another run may still lie in memory that it
 * shared. */
static inline void replay_start(struct replay *r, uint64_t steps)
{
    struct gnn_err e = {0};
    r->given = 0;
    r->end = steps;
    if (!(r->pool = gnn_batch_pool_new(r->base.meta, &e)))
        bench_die(&e);
}

/* The first batches of a training epoch of the store, as bench_sampling has them. */
static inline void replay_init(struct replay *r, struct gnn_store *s)
{
    struct gnn_err e = {0};
    struct gnn_sampler_opts o;
    struct gnn_batch *b;
    bench_sampling(&o);
    struct gnn_source *src = gnn_sampler_source_new(s, &o, &e);
    if (!src)
        bench_die(&e);
    r->base = (struct gnn_source){replay_next, replay_free, src->meta};
    for (int i = 0; i < REPLAY_STEPS; i++) {
        if (gnn_source_next(src, &b, &e) || replay_copy(&r->kept[i], &b->tensors, r->edges, &e))
            bench_die(&e);
        gnn_batch_put(b);
    }
}

#endif
