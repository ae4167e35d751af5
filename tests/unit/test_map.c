/* SPDX-License-Identifier: Apache-2.0 */
/* gnn_map_new: order kept, errors in place, nothing lost, for any number of threads. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/mem.h"
#include "lib/data/source.h"
#include "tap.h"

static struct gnn_meta meta;

struct counter {
    struct gnn_source base;
    struct gnn_batch_pool *pool;
    uint64_t n, total;
    int fail_at;
};

static int counter_next(struct gnn_source *s, struct gnn_batch **b, struct gnn_err *e)
{
    struct counter *c = (struct counter *)s;
    if (c->n == c->total)
        return GNN_END;
    if ((int)c->n == c->fail_at)
        return gnn_fail(e, GNN_E_INPUT, "source fails");
    int rc = gnn_batch_get(c->pool, b, e);
    if (!rc)
        (*b)->step = c->n++;
    return rc;
}

static void counter_free(struct gnn_source *s)
{
    struct counter *c = (struct counter *)s;
    gnn_batch_pool_free(c->pool);
    free(c);
}

static struct gnn_source *counter_new(uint64_t total, int fail_at)
{
    struct gnn_err e = {0};
    struct counter *c = calloc(1, sizeof *c);
    if (!c)
        exit(99);
    *c = (struct counter){.base = {counter_next, counter_free, &meta},
                          .pool = gnn_batch_pool_new(&meta, &e),
                          .total = total,
                          .fail_at = fail_at};
    return &c->base;
}

static int fail_apply_at = -1;
static int ended;

/* Which thread did a batch's first function, by step; the second must find itself on the same one.
 */
static pthread_t first_on[200];
static int elsewhere;

static int first(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    (void)arg, (void)worker, (void)e;
    first_on[b->step] = pthread_self();
    b->epoch = 1000 + b->step;
    return 0;
}

static int second(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    (void)arg, (void)worker;
    if (b->epoch != 1000 + b->step)
        return gnn_fail(e, GNN_E_RUN, "the first function was not there first");
    __atomic_fetch_add(&elsewhere, !pthread_equal(first_on[b->step], pthread_self()),
                       __ATOMIC_RELAXED);
    b->epoch = b->step;
    return 0;
}

/* Uneven work, so that threads overtake each other. */
static int apply(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    (void)arg, (void)worker;
    if ((int)b->step == fail_apply_at)
        return gnn_fail(e, GNN_E_RUN, "apply fails");
    struct timespec t = {.tv_nsec = (long)((b->step * 2654435761u) % 7) * 20000};
    nanosleep(&t, NULL);
    b->epoch = b->step * b->step;
    return 0;
}

static int end(void *arg, struct gnn_err *e)
{
    (void)arg, (void)e;
    ended++;
    return GNN_END;
}

static const struct gnn_map_ops ops = {.apply = apply, .end = end};

static struct gnn_source *mapped(struct gnn_source *up, unsigned threads, unsigned depth)
{
    struct gnn_err e = {0};
    struct gnn_source *s = gnn_map_new(up, &meta, &ops, NULL, threads, depth, &e);
    if (!s)
        exit(99);
    return s;
}

static void test(unsigned threads, unsigned depth)
{
    struct gnn_err e = {0};
    struct gnn_batch *b;
    uint64_t n = 0;
    int rc;
    bool good = true;
    ended = 0;
    struct gnn_source *s = mapped(mapped(counter_new(200, -1), threads, depth), threads, depth);
    while (!(rc = gnn_source_next(s, &b, &e))) {
        good &= b->step == n && b->epoch == n * n;
        n++;
        gnn_batch_put(b);
    }
    ok(good && n == 200 && rc == GNN_END && ended == 2 && gnn_source_next(s, &b, &e) == GNN_END,
       "gnn_map_new with %u threads and depth %u passes 200 batches in order through two filters",
       threads, depth);
    gnn_source_free(s);

    s = mapped(counter_new(200, 50), threads, depth);
    for (n = 0; !(rc = gnn_source_next(s, &b, &e)); n++)
        gnn_batch_put(b);
    ok(n == 50 && rc == GNN_E_INPUT && !strcmp(e.msg, "source fails"),
       "gnn_map_new with %u threads and depth %u reports the failure of a source in its place",
       threads, depth);
    gnn_source_free(s);

    e = (struct gnn_err){0};
    fail_apply_at = 70;
    s = mapped(counter_new(200, -1), threads, depth);
    for (n = 0; !(rc = gnn_source_next(s, &b, &e)); n++)
        gnn_batch_put(b);
    ok(n == 70 && rc == GNN_E_RUN && !strcmp(e.msg, "apply fails"),
       "gnn_map_new with %u threads and depth %u reports the failure of a function in its place",
       threads, depth);
    gnn_source_free(s);
    fail_apply_at = -1;

    s = mapped(counter_new(200, -1), threads, depth);
    for (n = 0; n < 5 && !gnn_source_next(s, &b, &e); n++)
        gnn_batch_put(b);
    gnn_source_free(s);
    ok(n == 5,
       "gnn_map_new with %u threads and depth %u makes a source that can be freed in the middle",
       threads, depth);
}

static void test_joined(unsigned threads)
{
    static const struct gnn_map_ops one = {.apply = first, .end = end},
                                    two = {.apply = second, .end = end};
    struct gnn_err e = {0};
    struct gnn_batch *b;
    uint64_t n = 0;
    int rc;
    bool good = true;
    ended = elsewhere = 0;
    struct gnn_source *below =
        gnn_map_new(counter_new(200, -1), &meta, &one, NULL, threads, threads + 1, &e);
    struct gnn_source *s = gnn_map_new(below, &meta, &two, NULL, 0, 0, &e);
    while (!(rc = gnn_source_next(s, &b, &e))) {
        good &= b->step == n && b->epoch == n;
        n++;
        gnn_batch_put(b);
    }
    ok(s == below && good && n == 200 && rc == GNN_END && ended == 2 && !elsewhere,
       "gnn_map_new runs two functions on the same %u threads in order and tells both of the end",
       threads);
    gnn_source_free(s);
}

/* What the second function holds: its argument and a block a thread, of which the last may not be
 * had. */
static int held, refuse_worker;

static void *worker_new(void *arg, struct gnn_err *e)
{
    (void)arg;
    if (refuse_worker && held == refuse_worker)
        return gnn_fail(e, GNN_E_NOMEM, "no thread's memory"), NULL;
    held++;
    return malloc(8);
}

static void worker_free(void *worker)
{
    free(worker);
    held--;
}

static void arg_free(void *arg)
{
    (void)arg;
    held--;
}

/* second(), but for the batch of fail_apply_at. */
static int fails(void *arg, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    const int rc = second(arg, worker, b, e);
    return rc || (int)b->step != fail_apply_at
               ? rc
               : gnn_fail(e, GNN_E_RUN, "the second function fails");
}

/* The second of two functions on the same threads fails, is freed in the middle, or cannot be had:
 * in its place, and nothing is left. */
static void test_joined_ends(unsigned threads)
{
    static const struct gnn_map_ops one = {.apply = first},
                                    two = {worker_new, worker_free, fails, end, arg_free, false};
    struct gnn_err e = {0};
    struct gnn_batch *b;
    uint64_t n;
    int rc = 0;
    ended = 0;
    held = 1;
    fail_apply_at = 90;
    struct gnn_source *s =
        gnn_map_new(gnn_map_new(counter_new(200, -1), &meta, &one, NULL, threads, 0, &e), &meta,
                    &two, &e, 0, 0, &e);
    for (n = 0; s && !(rc = gnn_source_next(s, &b, &e)); n++)
        gnn_batch_put(b);
    gnn_source_free(s);
    ok(n == 90 && rc == GNN_E_RUN && !strcmp(e.msg, "the second function fails") && !ended && !held,
       "gnn_map_new reports the failure of the second of two functions on %u threads in its place",
       threads);

    fail_apply_at = -1;
    e = (struct gnn_err){0};
    held = 1;
    s = gnn_map_new(gnn_map_new(counter_new(200, -1), &meta, &one, NULL, threads, 0, &e), &meta,
                    &two, &e, 0, 0, &e);
    for (n = 0; s && n < 5 && !gnn_source_next(s, &b, &e); n++)
        gnn_batch_put(b);
    gnn_source_free(s);
    ok(n == 5 && !held,
       "gnn_map_new runs two functions on %u threads that can be freed in the middle", threads);

    held = 1;
    refuse_worker = (int)threads; /* the last of them: arg counts as one */
    s = gnn_map_new(gnn_map_new(counter_new(200, -1), &meta, &one, NULL, threads, 0, &e), &meta,
                    &two, &e, 0, 0, &e);
    ok(!s && e.code == GNN_E_NOMEM && !held,
       "gnn_map_new frees both functions on %u threads when there is no memory for the second",
       threads);
    refuse_worker = 0;
}

int main(void)
{
    struct gnn_err e = {0};
    if (gnn_schema_add_ntype(&meta.schema, "node", 1, &e))
        return 99;
    test(0, 0);
    test(1, 2);
    test(2, 3);
    test(4, 9);
    test_joined(1);
    test_joined(3);
    test_joined_ends(1);
    test_joined_ends(3);
    gnn_meta_release(&meta);
    return tap_done();
}
