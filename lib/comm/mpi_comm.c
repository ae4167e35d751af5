/* Exchanges and sums over MPI. Whoever waits asks again and again, giving the processor away in
 * between, so that a rank that never answers is noticed, which MPI's own waiting does not. */
#include "lib/comm/mpi_comm.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"

enum {
    SLEEP_NS = 50000,
    SLICES = 3,
    SUM_MAX = 1 << 28, /* numbers in one call of MPI */
    LOST_ROOM = 256,
    TAG_HERE = GNN_COMM_USES << 12, /* "are you there?" */
    TAG_ALIVE
};
static const double answer_within =
    1.5; /* seconds for "are you there?", the last of the time-out, or half of it */
static const double look_every = 0.05;
static const double yield_for = 1e-4; /* of each wait; then it sleeps between two questions */
static const double slice = 5e-4;     /* a sched_yield that takes longer let another program work */
static const double rest = 1;         /* without sched_yield, after SLICES of those */

struct mpi_comm {
    struct gnn_comm base;
    const struct gnn_mpi *m;
    void *world;
    pthread_mutex_t lock; /* of MPI */
    double looked;        /* when somebody last looked for TAG_HERE */
    double *heard;        /* [size] when it last answered, or asked itself */
    struct gnn_buf loose; /* void *[nloose] */
    uint64_t nloose;
    struct gnn_err gone;        /* what one thread has found, for all */
    _Atomic unsigned slices;    /* given away, in a row */
    _Atomic double yields_from; /* when sched_yield may be called again */
};

/* What is under way to and from one rank. */
struct peer {
    void *send, *receive;                   /* requests */
    uint64_t sent, got, sending, receiving; /* bytes; of the chunks under way */
    bool all_sent, all_got;
};
struct gnn_transfer {
    uint32_t left; /* directions that are not through */
    struct peer peer[];
};

static struct mpi_comm *of(struct gnn_comm *c)
{
    return (struct mpi_comm *)c;
}

static int failed(const struct mpi_comm *c, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_RANK, "%s reports a failure between ranks", c->m->name);
}

/* ---- who is lost ---- */

/* Requests of these empty messages: nobody waits for them, but they have to be asked until they are
 * done. */
static void follow(struct mpi_comm *c, void *request)
{
    struct gnn_err e = {0};
    if (request && !gnn_buf_reserve(&c->loose, c->nloose + 1, sizeof request, "messages", &e))
        ((void **)c->loose.data)[c->nloose++] = request;
}

static void ask_loose(struct mpi_comm *c)
{
    void **r = c->loose.data;
    uint64_t left = 0;
    for (uint64_t i = 0; i < c->nloose; i++)
        if (!c->m->done(c->world, &r[i]))
            r[left++] = r[i];
    c->nloose = left;
}

static void tell(struct mpi_comm *c, uint32_t to, uint32_t tag)
{
    static const char nothing = 0;
    follow(c, c->m->send(c->world, to, tag, &nothing, 0));
}

/* Answers those who ask, and notes who answers. */
static void look(struct mpi_comm *c)
{
    static char nothing;
    static const uint32_t tags[] = {TAG_HERE, TAG_ALIVE};
    for (int i = 0; i < 2; i++) {
        void *message;
        uint64_t bytes;
        uint32_t from = GNN_MPI_ANY;
        while (c->m->probe(c->world, &from, tags[i], &message, &bytes) == 1) {
            follow(c, c->m->receive(c->world, &message, &nothing, 0));
            c->heard[from] = gnn_clock();
            if (tags[i] == TAG_HERE)
                tell(c, from, TAG_ALIVE);
            from = GNN_MPI_ANY;
        }
    }
    ask_loose(c);
    c->looked = gnn_clock();
}

static void nap(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static double window(const struct mpi_comm *c)
{
    return c->base.timeout < 2 * answer_within ? c->base.timeout / 2 : answer_within;
}

static void ask_all(struct mpi_comm *c)
{
    pthread_mutex_lock(&c->lock);
    for (uint32_t r = 0; r < c->base.size; r++)
        if (r != c->base.rank)
            tell(c, r, TAG_HERE);
    pthread_mutex_unlock(&c->lock);
}

/* "rank 2", "ranks 2, 5 and 7", ... of those that bad says it of. */
static void name_ranks(const struct mpi_comm *c, const bool *bad, char *text, size_t room)
{
    uint32_t n = 0, left = 0;
    for (uint32_t r = 0; r < c->base.size; r++)
        left += bad[r];
    size_t at = (size_t)snprintf(text, room, left == 1 ? "rank" : "ranks");
    for (uint32_t r = 0; r < c->base.size && at < room - 24; r++)
        if (bad[r])
            at += (size_t)snprintf(text + at, room - at, "%s%u",
                                   !n++        ? " "
                                   : n == left ? " and "
                                               : ", ",
                                   r);
    if (n < left && at < room)
        snprintf(text + at, room - at, " and more");
}

/* Nothing has come for too long, and all have been asked at `asked`: says in `found` who is lost.
 * The rank with the lowest number of those that are there says so first; the others give it the
 * time to end the job. */
static void blame(struct mpi_comm *c, double asked, const struct gnn_transfer *t,
                  struct gnn_err *found)
{
    char who[LOST_ROOM];
    bool *bad = gnn_alloc_zero(c->base.size, sizeof *bad, "ranks", found);
    if (!bad)
        return;
    bool any = false, lower = false;
    const double since = asked - window(c); /* who asked first may have gone already */
    pthread_mutex_lock(&c->lock);
    look(c);
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
        nap(300000000);
    if (any)
        gnn_fail(found, GNN_E_RANK, "%s did not answer for %g seconds", who, c->base.timeout);
    else
        gnn_fail(found, GNN_E_RANK, "no answer from the other ranks for %g seconds",
                 c->base.timeout);
}

/* For all threads. */
static void give_up(struct mpi_comm *c, double asked, const struct gnn_transfer *t)
{
    struct gnn_err found = {0};
    blame(c, asked, t, &found);
    pthread_mutex_lock(&c->lock);
    if (!c->gone.code)
        c->gone = found;
    pthread_mutex_unlock(&c->lock);
}

/* ---- waiting ---- */

/* sched_yield is the quickest way to wait for a rank on the same processor. But where other
 * programs never rest, it gives each of them a slice of time, whenever it is called. After SLICES
 * calls in a row that took so long, none for a while: who sleeps instead is let in again before
 * those. */
static bool give_away(struct mpi_comm *c, double now)
{
    if (now < c->yields_from)
        return false;
    sched_yield();
    if (gnn_clock() - now < slice)
        c->slices = 0;
    else if (++c->slices >= SLICES)
        c->yields_from = now + rest;
    return true;
}

/* After a question that brought nothing. GNN_E_RANK when it has been too long, in this thread or
 * another. */
static int wait_more(struct mpi_comm *c, struct gnn_patience *p, const struct gnn_transfer *t,
                     struct gnn_err *e)
{
    const double now = gnn_clock();
    if (p->since <= 0)
        p->since = now;
    if (now - p->since < yield_for && give_away(c, now))
        return 0;
    const double left = p->since + c->base.timeout - now;
    if (c->base.timeout > 0 && p->question <= 0 && left < window(c)) {
        p->question = now;
        ask_all(c);
    }
    if (c->base.timeout > 0 && left < 0 &&
        now - p->question >= window(c)) /* later if this process itself stood still */
        give_up(c, p->question, t);
    pthread_mutex_lock(&c->lock);
    const int gone = c->gone.code;
    if (!gone && now - c->looked > look_every)
        look(c);
    pthread_mutex_unlock(&c->lock);
    if (gone) /* which never changes again */
        return gnn_fail(e, (enum gnn_status)gone, "%s", c->gone.msg);
    nap(SLEEP_NS);
    return 0;
}

static int bear(struct gnn_comm *base, struct gnn_patience *p, struct gnn_err *e)
{
    return wait_more(of(base), p, NULL, e);
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
    return p->send ? 0 : failed(c, e);
}

/* These three: 1 for news, 0 for none, or a failure. */
static int ask_sent(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    const int is = c->m->done(c->world, &p->send);
    if (is <= 0)
        return is ? failed(c, e) : 0;
    p->sent += p->sending;
    p->all_sent = p->sending < c->m->chunk;
    x->t->left -= p->all_sent;
    const int rc = p->all_sent ? 0 : send_more(c, x, r, e);
    return rc ? rc : 1;
}

static int ask_there(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    void *message;
    uint32_t from = r;
    const int is = c->m->probe(c->world, &from, x->tag, &message, &p->receiving);
    if (is <= 0)
        return is ? failed(c, e) : 0;
    const int rc = p->got ? gnn_buf_reserve(&x->room[r], p->got + p->receiving, 1, "messages", e)
                          : gnn_buf_fit(&x->room[r], p->receiving, 1, "messages", e);
    if (rc)
        return rc;
    p->receive = c->m->receive(c->world, &message, (char *)x->room[r].data + p->got, p->receiving);
    return p->receive ? 1 : failed(c, e);
}

static int ask_got(struct mpi_comm *c, struct gnn_exchange *x, uint32_t r, struct gnn_err *e)
{
    struct peer *p = &x->t->peer[r];
    const int is = c->m->done(c->world, &p->receive);
    if (is <= 0)
        return is ? failed(c, e) : 0;
    p->got += p->receiving;
    p->all_got = p->receiving < c->m->chunk;
    x->t->left -= p->all_got;
    if (p->all_got)
        x->in[r] = (struct gnn_span){x->room[r].data, p->got};
    return 1;
}

/* All that can be asked about one exchange. */
static int ask(struct mpi_comm *c, struct gnn_exchange *x, bool *news, struct gnn_err *e)
{
    int rc = 0;
    for (uint32_t i = 1; rc >= 0 && i < x->size; i++) {
        const uint32_t r = (c->base.rank + i) % x->size;
        struct peer *p = &x->t->peer[r];
        if (p->send && (rc = ask_sent(c, x, r, e)) > 0)
            *news = true;
        if (rc >= 0 && !p->receive && !p->all_got && (rc = ask_there(c, x, r, e)) > 0)
            *news = true;
        if (rc >= 0 && p->receive && (rc = ask_got(c, x, r, e)) > 0)
            *news = true;
    }
    return rc < 0 ? rc : 0;
}

static int begin(struct gnn_comm *base, struct gnn_exchange *x, struct gnn_err *e)
{
    struct mpi_comm *c = of(base);
    const uint32_t n = base->size;
    if (!x->t && !(x->t = gnn_alloc(1, sizeof *x->t + n * sizeof *x->t->peer, "messages", e)))
        return e->code;
    memset(x->t, 0, sizeof *x->t + n * sizeof *x->t->peer);
    x->t->left = 2 * (n - 1);
    x->in[base->rank] = x->out[base->rank];
    int rc = 0;
    pthread_mutex_lock(&c->lock);
    for (uint32_t i = 1; !rc && i < n; i++) {
        base->sent += x->out[(base->rank + i) % n].bytes;
        rc = send_more(c, x, (base->rank + i) % n, e);
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static int end(struct gnn_comm *base, struct gnn_exchange *x, struct gnn_err *e)
{
    struct mpi_comm *c = of(base);
    struct gnn_patience p = {0};
    int rc = 0;
    while (!rc && x->t->left) {
        bool news = false;
        pthread_mutex_lock(&c->lock);
        rc = ask(c, x, &news, e);
        pthread_mutex_unlock(&c->lock);
        if (news)
            p = (struct gnn_patience){0};
        else if (!rc && x->t->left)
            rc = wait_more(c, &p, x->t, e);
    }
    return rc;
}

/* ---- sums ---- */

struct sum {
    char *data;
    uint64_t left; /* numbers that are not under way */
    size_t size;
    enum gnn_sum kind;
    void *request;
};

static int sum_more(struct mpi_comm *c, struct sum *s, struct gnn_err *e)
{
    const uint64_t n = s->left < SUM_MAX ? s->left : SUM_MAX;
    pthread_mutex_lock(&c->lock);
    s->request = c->m->sum(c->world, s->data, n, (int)s->kind);
    pthread_mutex_unlock(&c->lock);
    s->data += n * s->size;
    s->left -= n;
    return s->request ? 0 : failed(c, e);
}

static int sum_begin(struct gnn_comm *base, void *data, uint64_t n, enum gnn_sum kind, void **out,
                     struct gnn_err *e)
{
    struct sum *s = gnn_alloc(1, sizeof *s, "a sum over ranks", e);
    *out = s;
    if (!s)
        return e->code;
    *s = (struct sum){.data = data, .left = n, .size = kind == GNN_SUM_F32 ? 4 : 8, .kind = kind};
    return n ? sum_more(of(base), s, e) : 0;
}

static int sum_end(struct gnn_comm *base, void **sum, struct gnn_err *e)
{
    struct mpi_comm *c = of(base);
    struct sum *s = *sum;
    struct gnn_patience p = {0};
    int rc = 0;
    while (!rc && s->request) {
        pthread_mutex_lock(&c->lock);
        const int is = c->m->done(c->world, &s->request);
        pthread_mutex_unlock(&c->lock);
        if (is < 0)
            rc = failed(c, e);
        else if (!is)
            rc = wait_more(c, &p, NULL, e);
        else if (s->left) {
            p = (struct gnn_patience){0};
            rc = sum_more(c, s, e);
        }
    }
    gnn_free(s);
    *sum = NULL;
    return rc;
}

/* ---- beginning and end ---- */

static void kill_all(struct gnn_comm *base, int status)
{
    struct mpi_comm *c = of(base);
    c->m->kill(c->world, status);
}

static void comm_free(struct gnn_comm *base)
{
    struct mpi_comm *c = of(base);
    for (int i = 0; i < 100 && c->nloose; i++)
        ask_loose(c);
    c->m->finish(c->world);
    gnn_buf_release(&c->loose);
    pthread_mutex_destroy(&c->lock);
    gnn_free(c->heard);
    gnn_free(c);
}

int gnn_comm_mpi(struct gnn_comm **out, const struct gnn_mpi *m, double timeout, struct gnn_err *e)
{
    static const struct gnn_comm_ops ops = {begin, end,  sum_begin, sum_end,
                                            NULL,  bear, kill_all,  comm_free};
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
