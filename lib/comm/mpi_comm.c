/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges and all-reduces over MPI. Every wait is a loop that polls and yields the processor, so
 * that a rank that never answers is noticed; MPI's own waits would hang. */
#include "lib/comm/mpi_comm.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"

enum {
    SLEEP_NS = 50000,
    SLOW_YIELDS = 3,
    REDUCE_MANY = 1 << 28, /* numbers in one call of MPI */
    LOST_CAPACITY = 256,
    TAG_PING = GNN_COMM_USES << 12, /* an empty message that asks for an empty answer */
    TAG_PONG
};
/* Seconds: */
static const double answer_within = 1.5; /* for a pong, at the end of the timeout; or half of it */
static const double answer_every = 0.05; /* pings are answered */
static const double yield_first = 1e-4;  /* of each wait; then it sleeps between two polls */
static const double slow_yield = 5e-4;   /* a sched_yield of that length let another program run */
static const double yield_pause = 1;     /* without sched_yield, after SLOW_YIELDS of those */

struct mpi_comm {
    struct gnn_comm base;
    const struct gnn_mpi *m;
    void *world;
    pthread_mutex_t lock;    /* of MPI */
    double answered;         /* when a thread last answered pings */
    double *heard;           /* [size] when a rank's last ping or pong came */
    struct gnn_buf detached; /* void *[ndetached] requests that nobody waits for */
    uint64_t ndetached;
    struct gnn_err gone;          /* a lost rank that one thread has found, for all threads */
    _Atomic unsigned slow_yields; /* in a row */
    _Atomic double yield_again;   /* when sched_yield may be called again */
};

/* The messages in flight to and from one rank. */
struct peer {
    void *send, *receive;                   /* requests */
    uint64_t sent, got, sending, receiving; /* bytes; of the chunks in flight */
    bool all_sent, all_got;
};
struct gnn_transfer {
    uint32_t left; /* directions that are not complete */
    struct peer peer[];
};

static struct mpi_comm *mpi_of(struct gnn_comm *c)
{
    return (struct mpi_comm *)c;
}

static int mpi_failed(const struct mpi_comm *c, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_RANK, "%s reports a failure between ranks", c->m->name);
}

/* ---- who is lost ---- */

/* Nobody waits for empty messages, but MPI frees a request only when it is tested. */
static void follow_request(struct mpi_comm *c, void *request)
{
    struct gnn_err e = {0};
    if (request && !gnn_buf_reserve(&c->detached, c->ndetached + 1, sizeof request, "messages", &e))
        ((void **)c->detached.data)[c->ndetached++] = request;
}

static void test_detached(struct mpi_comm *c)
{
    void **r = c->detached.data;
    uint64_t left = 0;
    for (uint64_t i = 0; i < c->ndetached; i++)
        if (!c->m->done(c->world, &r[i]))
            r[left++] = r[i];
    c->ndetached = left;
}

static void send_empty(struct mpi_comm *c, uint32_t to, uint32_t tag)
{
    static const char nothing = 0;
    follow_request(c, c->m->send(c->world, to, tag, &nothing, 0));
}

/* Sends pongs, and notes who is alive. */
static void answer_pings(struct mpi_comm *c)
{
    static char nothing;
    static const uint32_t tags[] = {TAG_PING, TAG_PONG};
    for (int i = 0; i < 2; i++) {
        void *message;
        uint64_t bytes;
        uint32_t from = GNN_MPI_ANY;
        while (c->m->probe(c->world, &from, tags[i], &message, &bytes) == 1) {
            follow_request(c, c->m->receive(c->world, &message, &nothing, 0));
            c->heard[from] = gnn_clock();
            if (tags[i] == TAG_PING)
                send_empty(c, from, TAG_PONG);
            from = GNN_MPI_ANY;
        }
    }
    test_detached(c);
    c->answered = gnn_clock();
}

static void sleep_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static double answer_window(const struct mpi_comm *c)
{
    return c->base.timeout < 2 * answer_within ? c->base.timeout / 2 : answer_within;
}

static void ping_all(struct mpi_comm *c)
{
    pthread_mutex_lock(&c->lock);
    for (uint32_t r = 0; r < c->base.size; r++)
        if (r != c->base.rank)
            send_empty(c, r, TAG_PING);
    pthread_mutex_unlock(&c->lock);
}

/* "rank 2", "ranks 2, 5 and 7", ...: those with bad[r]. */
static void name_ranks(const struct mpi_comm *c, const bool *bad, char *text, size_t capacity)
{
    uint32_t n = 0, left = 0;
    for (uint32_t r = 0; r < c->base.size; r++)
        left += bad[r];
    size_t at = (size_t)snprintf(text, capacity, left == 1 ? "rank" : "ranks");
    for (uint32_t r = 0; r < c->base.size && at < capacity - 24; r++)
        if (bad[r])
            at += (size_t)snprintf(text + at, capacity - at, "%s%u",
                                   !n++        ? " "
                                   : n == left ? " and "
                                               : ", ",
                                   r);
    if (n < left && at < capacity)
        snprintf(text + at, capacity - at, " and more");
}

/* Nothing has come for too long, and all ranks were pinged at `asked`: names in `found` those that
 * are lost. The lowest of the living ranks reports first; the others leave it the time to end the
 * job. */
static void find_lost(struct mpi_comm *c, double asked, const struct gnn_transfer *t,
                      struct gnn_err *found)
{
    char who[LOST_CAPACITY];
    bool *bad = gnn_alloc_zero(c->base.size, sizeof *bad, "ranks", found);
    if (!bad)
        return;
    bool any = false, lower = false;
    const double since = asked - answer_window(c); /* the first to ping may have ended already */
    pthread_mutex_lock(&c->lock);
    answer_pings(c);
    for (uint32_t r = 0; r < c->base.size; r++) {
        bad[r] = r != c->base.rank && c->heard[r] < since;
        any = any || bad[r];
        lower = lower || (!bad[r] && r < c->base.rank);
    }
    pthread_mutex_unlock(&c->lock);
    for (uint32_t r = 0; !any && t && r < c->base.size; r++)
        bad[r] = r != c->base.rank && !t->peer[r].all_got;
    for (uint32_t r = 0; !any && r < c->base.size; r++)
        any = bad[r];
    name_ranks(c, bad, who, sizeof who);
    gnn_free(bad);
    if (lower)
        sleep_ns(300000000);
    if (any)
        gnn_fail(found, GNN_E_RANK, "%s did not answer for %g seconds", who, c->base.timeout);
    else
        gnn_fail(found, GNN_E_RANK, "no answer from the other ranks for %g seconds",
                 c->base.timeout);
}

/* To all threads. */
static void report_lost(struct mpi_comm *c, double asked, const struct gnn_transfer *t)
{
    struct gnn_err found = {0};
    find_lost(c, asked, t, &found);
    pthread_mutex_lock(&c->lock);
    if (!c->gone.code)
        c->gone = found;
    pthread_mutex_unlock(&c->lock);
}

/* ---- waiting ---- */

/* sched_yield is the quickest way to wait for a rank on the same processor. But where other
 * programs compute all the time, each call gives every one of them a time slice. After SLOW_YIELDS
 * such calls in a row waits sleep for a while: a thread that wakes up is scheduled before programs
 * that used up their slice. */
static bool yield_processor(struct mpi_comm *c, double now)
{
    if (now < c->yield_again)
        return false;
    sched_yield();
    if (gnn_clock() - now < slow_yield)
        c->slow_yields = 0;
    else if (++c->slow_yields >= SLOW_YIELDS)
        c->yield_again = now + yield_pause;
    return true;
}

/* After a poll without news. GNN_E_RANK past the deadline, of this thread or of another. */
static int poll_once(struct mpi_comm *c, struct gnn_deadline *d, const struct gnn_transfer *t,
                     struct gnn_err *e)
{
    const double now = gnn_clock();
    if (d->since <= 0)
        d->since = now;
    if (now - d->since < yield_first && yield_processor(c, now))
        return 0;
    const double left = d->since + c->base.timeout - now;
    if (c->base.timeout > 0 && d->pinged <= 0 && left < answer_window(c)) {
        d->pinged = now;
        ping_all(c);
    }
    if (c->base.timeout > 0 && left < 0 &&
        now - d->pinged >= answer_window(c)) /* later if this process itself was stopped */
        report_lost(c, d->pinged, t);
    pthread_mutex_lock(&c->lock);
    const int gone = c->gone.code;
    if (!gone && now - c->answered > answer_every)
        answer_pings(c);
    pthread_mutex_unlock(&c->lock);
    if (gone) /* it never changes again */
        return gnn_fail(e, (enum gnn_status)gone, "%s", c->gone.msg);
    sleep_ns(SLEEP_NS);
    return 0;
}

static int poll_deadline(struct gnn_comm *base, struct gnn_deadline *d, struct gnn_err *e)
{
    return poll_once(mpi_of(base), d, NULL, e);
}

/* ---- exchanges ---- */

/* A message shorter than a chunk is the last. */
static int send_more(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    const uint64_t left = x->out[r].bytes - p->sent;
    p->sending = left < c->m->chunk ? left : c->m->chunk;
    p->send =
        c->m->send(c->world, r, x->tag,
                   x->out[r].data ? (const char *)x->out[r].data + p->sent : NULL, p->sending);
    return p->send ? 0 : mpi_failed(c, e);
}

/* The next three return 1 for news, 0 for none, or a failure. */
static int test_send(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    const int is = c->m->done(c->world, &p->send);
    if (is <= 0)
        return is ? mpi_failed(c, e) : 0;
    p->sent += p->sending;
    p->all_sent = p->sending < c->m->chunk;
    x->t->left -= p->all_sent;
    const int rc = p->all_sent ? 0 : send_more(c, x, r, e);
    return rc ? rc : 1;
}

static int test_arrival(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    void *message;
    uint32_t from = r;
    const int is = c->m->probe(c->world, &from, x->tag, &message, &p->receiving);
    if (is <= 0)
        return is ? mpi_failed(c, e) : 0;
    const int rc = p->got ? gnn_buf_reserve(&x->buffer[r], p->got + p->receiving, 1, "messages", e)
                          : gnn_buf_fit(&x->buffer[r], p->receiving, 1, "messages", e);
    if (rc)
        return rc;
    p->receive =
        c->m->receive(c->world, &message, (char *)x->buffer[r].data + p->got, p->receiving);
    return p->receive ? 1 : mpi_failed(c, e);
}

static int test_receive(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    const int is = c->m->done(c->world, &p->receive);
    if (is <= 0)
        return is ? mpi_failed(c, e) : 0;
    p->got += p->receiving;
    p->all_got = p->receiving < c->m->chunk;
    x->t->left -= p->all_got;
    if (p->all_got)
        x->in[r] = (struct gnn_span){x->buffer[r].data, p->got};
    return 1;
}

/* Tests all requests of one exchange. */
static int test_exchange(struct mpi_comm *c, struct gnn_exchange *x, bool *news, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 1; rc >= 0 && i < x->size; i++) {
        const uint32_t r = (c->base.rank + i) % x->size;
        struct peer *p = &x->t->peer[r];
        if (p->send && (rc = test_send(c, x, r, e)) > 0)
            *news = true;
        if (rc >= 0 && !p->receive && !p->all_got && (rc = test_arrival(c, x, r, e)) > 0)
            *news = true;
        if (rc >= 0 && p->receive && (rc = test_receive(c, x, r, e)) > 0)
            *news = true;
    }
    return rc < 0 ? rc : 0;
}

static int exchange_begin(struct gnn_comm *base, struct gnn_exchange *x, struct gnn_err *e)
{
    struct mpi_comm *c = mpi_of(base);
    const uint32_t n = base->size;
    if (!x->t && !(x->t = gnn_alloc(1, sizeof *x->t + n * sizeof *x->t->peer, "messages", e)))
        return e->code;
    memset(x->t, 0, sizeof *x->t + n * sizeof *x->t->peer);
    x->t->left = 2 * (n - 1);
    x->in[base->rank] = x->out[base->rank];
    int rc = 0;
    pthread_mutex_lock(&c->lock);
    /* Beginning with the next rank, so that not all ranks send to rank 0 first. */
    for (uint32_t i = 1; !rc && i < n; i++) {
        base->sent += x->out[(base->rank + i) % n].bytes;
        rc = send_more(c, x, (base->rank + i) % n, e);
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static int exchange_end(struct gnn_comm *base, struct gnn_exchange *x, struct gnn_err *e)
{
    struct mpi_comm *c = mpi_of(base);
    struct gnn_deadline d = {0};
    int rc = 0;
    while (!rc && x->t->left) {
        bool news = false;
        pthread_mutex_lock(&c->lock);
        rc = test_exchange(c, x, &news, e);
        pthread_mutex_unlock(&c->lock);
        if (news)
            d = (struct gnn_deadline){0};
        else if (!rc && x->t->left)
            rc = poll_once(c, &d, x->t, e);
    }
    return rc;
}

/* ---- all-reduces ---- */

struct reduction {
    char *data;
    uint64_t left; /* numbers that MPI was not given yet */
    size_t size;
    enum gnn_reduce kind;
    void *request;
};

static int reduce_more(struct mpi_comm *c, struct reduction *s, struct gnn_err *e)
{
    const uint64_t n = s->left < REDUCE_MANY ? s->left : REDUCE_MANY;
    pthread_mutex_lock(&c->lock);
    s->request = c->m->reduce(c->world, s->data, n, (int)s->kind);
    pthread_mutex_unlock(&c->lock);
    s->data += n * s->size;
    s->left -= n;
    return s->request ? 0 : mpi_failed(c, e);
}

static int reduce_begin(struct gnn_comm *base, void *data, uint64_t n, enum gnn_reduce kind,
                        void **out, struct gnn_err *e)
{
    struct reduction *s = gnn_alloc(1, sizeof *s, "an all-reduce", e);
    *out = s;
    if (!s)
        return e->code;
    *s = (struct reduction){
        .data = data, .left = n, .size = kind == GNN_REDUCE_F32 ? 4 : 8, .kind = kind};
    return n ? reduce_more(mpi_of(base), s, e) : 0;
}

static int reduce_end(struct gnn_comm *base, void **reduction, struct gnn_err *e)
{
    struct mpi_comm *c = mpi_of(base);
    struct reduction *s = *reduction;
    struct gnn_deadline d = {0};
    int rc = 0;
    while (!rc && s->request) {
        pthread_mutex_lock(&c->lock);
        const int is = c->m->done(c->world, &s->request);
        pthread_mutex_unlock(&c->lock);
        if (is < 0)
            rc = mpi_failed(c, e);
        else if (!is)
            rc = poll_once(c, &d, NULL, e);
        else if (s->left) {
            d = (struct gnn_deadline){0};
            rc = reduce_more(c, s, e);
        }
    }
    gnn_free(s);
    *reduction = NULL;
    return rc;
}

/* ---- beginning and end ---- */

static void kill_all(struct gnn_comm *base, int status)
{
    struct mpi_comm *c = mpi_of(base);
    c->m->kill(c->world, status);
}

static void comm_free(struct gnn_comm *base)
{
    struct mpi_comm *c = mpi_of(base);
    /* Pongs that a rank still waits for; not for ever. */
    for (int i = 0; i < 100 && c->ndetached; i++)
        test_detached(c);
    c->m->finish(c->world);
    gnn_buf_release(&c->detached);
    pthread_mutex_destroy(&c->lock);
    gnn_free(c->heard);
    gnn_free(c);
}

int gnn_comm_mpi(struct gnn_comm **out, const struct gnn_mpi *m, double timeout, struct gnn_err *e)
{
    static const struct gnn_comm_ops ops = {.begin = exchange_begin,
                                            .end = exchange_end,
                                            .reduce_begin = reduce_begin,
                                            .reduce_end = reduce_end,
                                            .poll = poll_deadline,
                                            .kill = kill_all,
                                            .free = comm_free};
    struct gnn_mpi_place at;
    struct mpi_comm *c = gnn_alloc_zero(1, sizeof *c, "ranks", e);
    if (!c)
        return e->code;
    c->m = m;
    if (m->start(&c->world, &at)) {
        gnn_free(c);
        return gnn_fail(e, GNN_E_RANK, "%s cannot start", m->name);
    }
    c->base = (struct gnn_comm){.ops = &ops,
                                .rank = at.rank,
                                .size = at.size,
                                .local_rank = at.local_rank,
                                .local_size = at.local_size,
                                .timeout = timeout};
    pthread_mutex_init(&c->lock, NULL);
    *out = &c->base;
    c->heard = gnn_alloc_zero(at.size, sizeof *c->heard, "ranks", e);
    return c->heard ? 0 : e->code;
}
