/* SPDX-License-Identifier: Apache-2.0 */
/* All-reduces and exchanges between devices by NCCL, on a stream of their own.
 *
 * NCCL waits for ranks that are lost for ever, on the device too, and whatever then waits for the
 * device waits with it, even a call that frees memory. So NCCL is only given all-reduces when they
 * are pushed or waited for, after all the rest of a step is on its stream; events let each of them
 * begin as early as its numbers are there, beside what follows on that stream. And every wait is a
 * loop that polls, as for messages between ranks. Exchanges go on while operations are put on the
 * stream: who begins them sees to it that no memory is freed meanwhile. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/gpu/nccl.h"
#include "lib/ops/gpu_reduce.h"

/* ---- with or without ---- */

/* What a rank says of itself. */
struct said {
    uint64_t device;
    uint32_t version; /* 0: it has no NCCL, and why */
    char why[GNN_REDUCE_WHY - 20];
};
/* What rank 0 says then. */
struct invitation {
    struct gnn_nccl_id id;
    char why[GNN_REDUCE_WHY - 20]; /* there is none, or "" */
};

static int describe_own(struct gpu_reduce *c, struct said *s, struct gnn_err *e)
{
    const char *path = getenv("GNN_NCCL");
    struct gnn_err none = {0};
    unsigned version = 0;
    if (gnn_dev_id(c->ops->d->number, &s->device, e))
        return e->code;
    if (path && !strcmp(path, "none"))
        gnn_fail(&none, GNN_E_DEVICE, "GNN_NCCL is none");
    else
        (void)!gnn_nccl_new(&c->nccl, path && *path ? path : NULL, &version, &none);
    s->version = none.code ? 0 : version;
    snprintf(s->why, sizeof s->why, "%.*s", (int)sizeof s->why - 1, none.msg);
    return 0;
}

static int check_sizes(const struct gnn_exchange *x, uint64_t bytes, struct gnn_err *e)
{
    for (uint32_t r = 0; r < x->size; r++)
        if (x->in[r].bytes != bytes)
            return gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u about NCCL", r);
    return 0;
}

static const struct said *told_by(const struct gnn_exchange *x, uint32_t r)
{
    return x->in[r].data;
}

static void name_version(unsigned v, char text[24])
{
    snprintf(text, 24, "%u.%u.%u", v / 10000, v / 100 % 100, v % 100);
}

/* Why it is to be without; "" if it need not be. The same on all ranks. */
static void find_reason(const struct gnn_exchange *x, uint32_t size, char why[GNN_REDUCE_WHY])
{
    char a[24], b[24];
    *why = 0;
    for (uint32_t r = 0; r < size && !*why; r++) {
        const struct said *s = told_by(x, r);
        if (!s->version)
            snprintf(why, GNN_REDUCE_WHY, "rank %u: %.*s", r, (int)sizeof s->why, s->why);
        else if (s->version != told_by(x, 0)->version) {
            name_version(s->version, a);
            name_version(told_by(x, 0)->version, b);
            snprintf(why, GNN_REDUCE_WHY, "rank %u has NCCL %s, rank 0 %s", r, a, b);
        }
        for (uint32_t q = 0; q < r && !*why; q++)
            if (told_by(x, q)->device == s->device)
                snprintf(why, GNN_REDUCE_WHY, "ranks %u and %u share a device", q, r);
    }
}

/* ---- waiting ---- */

/* One at a time in a process. */
static struct ending {
    struct gpu_reduce *reduce;
    atomic_bool over;
} ending;

static void *end_nccl(void *arg)
{
    struct gnn_err ignored = {0};
    struct ending *x = arg;
    if (!gnn_dev_use(x->reduce->ops->d->number, &ignored))
        gnn_nccl_abort(x->reduce->nccl);
    atomic_store(&x->over, true);
    return NULL;
}

/* After a failure nothing of NCCL is waited for any more, its abort no longer than a second: that
 * waits for the device. A failure that another rank tells better is left to it as long. */
static void abort_nccl(struct gpu_reduce *c, bool other)
{
    pthread_t thread;
    if (other)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    c->base.lost = true;
    ending.reduce = c;
    atomic_store(&ending.over, false);
    c->hung = pthread_create(&thread, NULL, end_nccl, &ending) != 0;
    if (c->hung)
        return;
    pthread_detach(thread);
    for (int i = 0; i < 100 && !atomic_load(&ending.over); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    c->hung = !atomic_load(&ending.over);
}

/* After a look at what is waited for, which is not over: has NCCL failed, or a rank been lost? */
static int poll_nccl(struct gpu_reduce *c, bool *busy, struct gnn_deadline *p, struct gnn_err *e)
{
    struct gnn_err late = {0};
    bool other = false;
    int rc = gnn_nccl_busy(c->nccl, busy, &other, e);
    if (rc) {
        abort_nccl(c, other);
        return rc;
    }
    rc = c->host->ops->poll(c->host, p, &late);
    if (rc) {
        abort_nccl(c, false);
        return gnn_fail(e, (enum gnn_status)rc, "%s (NCCL %s)", late.msg, c->doing);
    }
    return 0;
}

/* Until NCCL has done what it was asked for last. */
static int wait_for_nccl(struct gpu_reduce *c, struct gnn_err *e)
{
    struct gnn_deadline p = {0};
    bool busy = true;
    int rc = 0;
    while (!rc && busy)
        rc = poll_nccl(c, &busy, &p, e);
    return rc;
}

/* ---- all-reduces ---- */

int gnn_gpu_reduce_add(struct gpu_reduce *c, struct gpu_reduction *s, struct gnn_err *e)
{
    s->next = NULL;
    *c->last = s;
    c->last = &s->next;
    c->open++;
    return gnn_dev_event_record(s->before, c->ops->stream, e);
}

static void name_waiting(struct gpu_reduce *c, const struct gpu_reduction *s)
{
    c->doing = s->out ? "exchange" : "all-reduce";
}

static int start_reduction(struct gpu_reduce *c, struct gpu_reduction *s, struct gnn_err *e)
{
    name_waiting(c, s);
    int rc = gnn_dev_event_after(c->stream, s->before, e);
    if (!rc && s->out)
        rc = gnn_nccl_exchange(c->nccl, s->out, s->in, c->stream, e);
    else if (!rc)
        rc = gnn_nccl_all_reduce(c->nccl, s->data, s->n, (int)s->kind, c->stream, e);
    if (!rc)
        rc = wait_for_nccl(c, e);
    return rc ? rc : gnn_dev_event_record(s->done, c->stream, e);
}

int gnn_gpu_reduce_push(struct gpu_reduce *c, struct gnn_err *e)
{
    int rc = c->first ? gnn_dev_use(c->ops->d->number, e) : 0;
    for (struct gpu_reduction *s = c->first; !rc && s; s = s->next)
        rc = start_reduction(c, s, e);
    c->first = NULL;
    c->last = &c->first;
    return rc;
}

/* The host waits itself, and not the operations' stream. */
int gnn_gpu_reduce_wait(struct gpu_reduce *c, struct gpu_reduction *s, struct gnn_err *e)
{
    struct gnn_deadline p = {0};
    bool done = false, busy;
    int rc = gnn_gpu_reduce_push(c, e);
    name_waiting(c, s);
    while (!rc && !done) {
        rc = gnn_dev_event_done(s->done, &done, e);
        if (!rc && !done)
            rc = poll_nccl(c, &busy, &p, e);
    }
    c->open -= !rc;
    return rc;
}

/* ---- beginning and end ---- */

/* An id is only made where it will be used: NCCL listens for those who have it from then on. */
static int share_id(struct gpu_reduce *c, struct gnn_exchange *x, struct gnn_nccl_id *id,
                    char why[GNN_REDUCE_WHY], struct gnn_err *e)
{
    struct invitation own = {.why = ""};
    struct gnn_err none = {0};
    if (!c->host->rank && gnn_nccl_make_id(c->nccl, &own.id, &none))
        snprintf(own.why, sizeof own.why, "%.*s", (int)sizeof own.why - 1, none.msg);
    if (gnn_comm_all_gather(c->host, x, &own, sizeof own, e) || check_sizes(x, sizeof own, e))
        return e->code;
    const struct invitation *v = x->in[0].data;
    *id = v->id;
    if (*v->why)
        snprintf(why, GNN_REDUCE_WHY, "rank 0: %.*s", (int)sizeof v->why, v->why);
    return 0;
}

static int join_ranks(struct gpu_reduce *c, const struct gnn_nccl_id *id, struct gnn_err *e)
{
    struct gnn_err why = {0};
    c->base.lost = true; /* until all are there */
    c->doing = "start";
    /* As training's: other ranks wait for it, too. */
    int rc = gnn_gpu_stream_new(c->ops->d, GNN_DEV_HIGH, &c->stream, &why) ||
                     gnn_nccl_join(c->nccl, id, c->host->rank, c->host->size, &why) ||
                     wait_for_nccl(c, &why)
                 ? why.code
                 : 0;
    c->base.lost = rc != 0;
    return rc ? gnn_fail(e, (enum gnn_status)rc, "%s (GNN_NCCL=none uses MPI instead)", why.msg)
              : 0;
}

int gnn_gpu_reduce_join(struct gpu_reduce *c, char why[GNN_REDUCE_WHY], struct gnn_err *e)
{
    struct gnn_exchange x = {0};
    struct gnn_nccl_id id;
    struct said s = {0};
    int rc =
        describe_own(c, &s, e) ||
                gnn_exchange_init(&x, c->host, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_NCCL), e) ||
                gnn_comm_all_gather(c->host, &x, &s, sizeof s, e) || check_sizes(&x, sizeof s, e)
            ? e->code
            : 0;
    if (!rc)
        find_reason(&x, c->host->size, why);
    if (!rc && !*why)
        rc = share_id(c, &x, &id, why, e);
    if (!rc && !*why) {
        rc = join_ranks(c, &id, e);
    } else {
        gnn_nccl_free(c->nccl);
        c->nccl = NULL;
    }
    gnn_exchange_release(&x);
    return rc;
}

/* Where something has gone wrong, others do not leave. */
void gnn_gpu_reduce_leave(struct gpu_reduce *c)
{
    struct gnn_err ignored = {0};
    if (c->hung)
        return;
    if (c->nccl && !c->open && !c->base.lost && !c->host->lost &&
        !gnn_nccl_leave(c->nccl, &ignored))
        (void)!wait_for_nccl(c, &ignored);
    else if (c->nccl)
        gnn_nccl_abort(c->nccl);
    gnn_dev_stream_free(c->stream);
    gnn_nccl_free(c->nccl);
}
