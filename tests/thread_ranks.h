/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are threads of one process, behind the table of MPI's calls (lib/comm/mpi.h): messages
 * arrive late and, but for those that MPI keeps in order, in any order. ranks_run(n, fn, arg) calls
 * fn(comm, arg) in n threads, each with ranks of its own; returns when all have */
#ifndef GNN_TESTS_THREAD_RANKS_H
#define GNN_TESTS_THREAD_RANKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/comm/mpi_comm.h"

struct ranks_letter {
    struct ranks_letter *next;
    uint32_t from, tag;
    unsigned late; /* looks at it that are in vain */
    uint64_t bytes;
    char data[];
};
struct ranks_total {
    struct ranks_total *next;
    uint32_t given, taken;
    uint64_t n;
    int kind;
    union ranks_number {
        double f;
        uint64_t u;
    } * sum; /* u: of integers */
};
struct ranks_post { /* what is shared */
    pthread_mutex_t lock;
    uint32_t size;
    struct ranks_letter *box[16];
    struct ranks_total *total[4096]; /* by how many sums there were before */
};
struct ranks_request;
struct ranks_world {
    struct ranks_post *post;
    struct ranks_request *open;
    uint32_t rank, sums;
    uint64_t seed;
    bool broken; /* all calls fail */
};
struct ranks_request {
    struct ranks_request *next; /* of those that are under way */
    unsigned late;
    struct ranks_total *total;
    void *data;
};

static __thread struct ranks_world *ranks_mine;
static atomic_int ranks_killed; /* status + 1 */

static unsigned ranks_dice(struct ranks_world *w, unsigned n)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->seed >> 40) % n;
}

static int ranks_start(void **world, struct gnn_mpi_place *at)
{
    *world = ranks_mine;
    *at = (struct gnn_mpi_place){ranks_mine->rank, ranks_mine->post->size, ranks_mine->rank,
                                 ranks_mine->post->size};
    return 0;
}

static void ranks_finish(void *world)
{
    struct ranks_world *w = world;
    while (w->open) { /* of a job that was lost */
        struct ranks_request *r = w->open;
        w->open = r->next;
        free(r);
    }
}

static struct ranks_request *ranks_open(struct ranks_world *w)
{
    struct ranks_request *r = calloc(1, sizeof *r);
    if (r) {
        r->next = w->open;
        w->open = r;
    }
    return r;
}

static void ranks_close(struct ranks_world *w, struct ranks_request *r)
{
    struct ranks_request **at = &w->open;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    free(r);
}

static void ranks_kill(void *world, int status)
{
    (void)world;
    atomic_store(&ranks_killed, status + 1);
}

static void *ranks_send(void *world, uint32_t to, uint32_t tag, const void *data, uint64_t bytes)
{
    struct ranks_world *w = world;
    struct ranks_letter *l = malloc(sizeof *l + bytes), **at = &w->post->box[to];
    struct ranks_request *r = w->broken || !l ? NULL : ranks_open(w);
    if (!r) {
        free(l);
        return NULL;
    }
    *l = (struct ranks_letter){
        .from = w->rank, .tag = tag, .late = ranks_dice(w, 4), .bytes = bytes};
    if (bytes)
        memcpy(l->data, data, bytes);
    pthread_mutex_lock(&w->post->lock);
    while (*at)
        at = &(*at)->next;
    *at = l;
    pthread_mutex_unlock(&w->post->lock);
    r->late = ranks_dice(w, 4);
    return r;
}

static int ranks_probe(void *world, uint32_t *from, uint32_t tag, void **message, uint64_t *bytes)
{
    struct ranks_world *w = world;
    int there = 0;
    if (w->broken)
        return -1;
    pthread_mutex_lock(&w->post->lock);
    for (struct ranks_letter **at = &w->post->box[w->rank]; *at; at = &(*at)->next) {
        struct ranks_letter *l = *at;
        if (l->tag != tag || (*from != GNN_MPI_ANY && *from != l->from))
            continue;
        if (l->late) {
            l->late--;
        } else {
            *at = l->next;
            *from = l->from;
            *message = l;
            *bytes = l->bytes;
            there = 1;
        }
        break; /* those after it wait for it */
    }
    pthread_mutex_unlock(&w->post->lock);
    return there;
}

static void *ranks_receive(void *world, void **message, void *data, uint64_t bytes)
{
    struct ranks_world *w = world;
    struct ranks_letter *l = *message;
    struct ranks_request *r = ranks_open(w);
    if (bytes)
        memcpy(data, l->data, bytes);
    free(l);
    *message = NULL;
    if (r)
        r->late = ranks_dice(w, 3);
    return r;
}

static void ranks_add(union ranks_number *sum, const void *data, uint64_t i, int kind)
{
    const uint64_t v = kind >= GNN_REDUCE_U64 ? ((const uint64_t *)data)[i] : 0;
    if (kind == GNN_REDUCE_F32)
        sum->f += ((const float *)data)[i];
    else if (kind == GNN_REDUCE_F64)
        sum->f += ((const double *)data)[i];
    else if (kind == GNN_REDUCE_U64)
        sum->u += v;
    else
        sum->u = v > sum->u ? v : sum->u;
}

static void *ranks_reduce(void *world, void *data, uint64_t n, int kind)
{
    struct ranks_world *w = world;
    struct ranks_request *r = w->broken ? NULL : ranks_open(w);
    if (!r)
        return NULL;
    pthread_mutex_lock(&w->post->lock);
    struct ranks_total **t = &w->post->total[w->sums++ % 4096];
    if (!*t) {
        *t = calloc(1, sizeof **t);
        (*t)->sum = calloc(n ? n : 1, sizeof *(*t)->sum);
        (*t)->n = n;
        (*t)->kind = kind;
    }
    if ((*t)->n != n || (*t)->kind != kind)
        abort(); /* MPI would do something that nobody knows */
    for (uint64_t i = 0; i < n; i++)
        ranks_add(&(*t)->sum[i], data, i, kind);
    (*t)->given++;
    r->total = *t;
    r->data = data;
    pthread_mutex_unlock(&w->post->lock);
    return r;
}

static int ranks_done(void *world, void **request)
{
    struct ranks_world *w = world;
    struct ranks_request *r = *request;
    struct ranks_total *t = r->total;
    int done = 0;
    if (w->broken)
        return -1;
    pthread_mutex_lock(&w->post->lock);
    if (r->late) {
        r->late--;
    } else if (!t || t->given == w->post->size) {
        for (uint64_t i = 0; t && i < t->n; i++) {
            if (t->kind == GNN_REDUCE_F32)
                ((float *)r->data)[i] = (float)t->sum[i].f;
            else if (t->kind == GNN_REDUCE_F64)
                ((double *)r->data)[i] = t->sum[i].f;
            else
                ((uint64_t *)r->data)[i] = t->sum[i].u;
        }
        if (t && ++t->taken == w->post->size) {
            for (unsigned k = 0; k < 4096; k++)
                if (w->post->total[k] == t)
                    w->post->total[k] = NULL;
            free(t->sum);
            free(t);
        }
        ranks_close(w, r);
        *request = NULL;
        done = 1;
    }
    pthread_mutex_unlock(&w->post->lock);
    return done;
}

static const struct gnn_mpi ranks_mpi = {.version = GNN_MPI_VERSION,
                                         .chunk = 1000,
                                         .name = "a row of threads",
                                         .start = ranks_start,
                                         .finish = ranks_finish,
                                         .kill = ranks_kill,
                                         .send = ranks_send,
                                         .probe = ranks_probe,
                                         .receive = ranks_receive,
                                         .reduce = ranks_reduce,
                                         .done = ranks_done};

struct ranks_job {
    struct ranks_world world;
    void (*fn)(struct gnn_comm *c, void *arg);
    void *arg;
    double timeout;
};

static void *ranks_thread(void *p)
{
    struct ranks_job *j = p;
    struct gnn_err e = {0};
    struct gnn_comm *c;
    ranks_mine = &j->world;
    if (gnn_comm_mpi(&c, &ranks_mpi, j->timeout, &e))
        abort();
    j->fn(c, j->arg);
    gnn_comm_free(c);
    return NULL;
}

static void ranks_run(uint32_t n, double timeout, void (*fn)(struct gnn_comm *c, void *arg),
                      void *arg)
{
    struct ranks_post post = {.size = n};
    struct ranks_job job[16];
    pthread_t thread[16];
    pthread_mutex_init(&post.lock, NULL);
    for (uint32_t r = 0; r < n; r++) {
        job[r] =
            (struct ranks_job){{.post = &post, .rank = r, .seed = 77 * r + n}, fn, arg, timeout};
        if (pthread_create(&thread[r], NULL, ranks_thread, &job[r]))
            abort();
    }
    for (uint32_t r = 0; r < n; r++)
        pthread_join(thread[r], NULL);
    for (uint32_t r = 0; r < n; r++)
        while (post.box[r]) { /* what a lost rank was asked */
            struct ranks_letter *l = post.box[r];
            post.box[r] = l->next;
            free(l);
        }
    for (unsigned k = 0; k < 4096; k++)
        if (post.total[k]) {
            free(post.total[k]->sum);
            free(post.total[k]);
        }
    pthread_mutex_destroy(&post.lock);
}

#endif
