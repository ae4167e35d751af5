/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of a store's tensors, in a thread of lower priority while the program already
 * works (lib/store/verify.h). Jobs are a list that only grows. What has been found is asked for at
 * the end: nothing may be committed before gnn_verify_wait has returned. */
#include "lib/store/verify.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/xxh.h"

#include "lib/base/background.h"
#include "lib/base/mapped.h"
#include "lib/base/mem.h"

struct job {
    struct gnn_verify_job is;
    void (*drop)(const void *arg, const void *data, uint64_t bytes); /* or NULL */
    const void *arg;
};

struct gnn_verify {
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    pthread_t thread;
    bool started, stop, busy;
    bool keep_none; /* of the pages that have been checked */
    struct gnn_buf jobs;
    uint64_t njobs, next;
    struct gnn_err first;
};

/* Whole pages, and those that the kernel maps with the one that is touched: around it, 64 KiB by
 * default. Whoever uses one of them reads it again. */
static void forget_pages(const struct gnn_verify_job *j, uint64_t at, uint64_t n)
{
    const uint64_t around = 64 << 10, page = gnn_page_size();
    const uint64_t data = (uint64_t)((const uint8_t *)j->data - (const uint8_t *)j->map) + at;
    const uint64_t from = data > around ? (data - around) / page * page : 0,
                   to = data + n + around < j->mapped ? data + n + around : j->mapped;
    gnn_mapped_forget((const uint8_t *)j->map + from, to - from);
}

/* In pieces, so that stopping does not wait for gigabytes, and little is in memory at once. */
static bool checksum_matches(struct gnn_verify *v, const struct gnn_verify_job *j)
{
    XXH3_state_t s;
    XXH3_64bits_reset(&s);
    for (uint64_t at = 0; at < j->bytes && !__atomic_load_n(&v->stop, __ATOMIC_RELAXED);) {
        const uint64_t piece = 256 << 10, n = j->bytes - at < piece ? j->bytes - at : piece;
        XXH3_64bits_update(&s, (const uint8_t *)j->data + at, n);
        if (__atomic_load_n(&v->keep_none, __ATOMIC_RELAXED))
            forget_pages(j, at, n);
        at += n;
    }
    return __atomic_load_n(&v->stop, __ATOMIC_RELAXED) || XXH3_64bits_digest(&s) == j->sum;
}

static void *run_verifier(void *arg)
{
    struct gnn_verify *v = arg;
    gnn_background_enter();
    pthread_mutex_lock(&v->lock);
    while (!v->stop) {
        if (v->next == v->njobs) {
            pthread_cond_broadcast(&v->idle);
            pthread_cond_wait(&v->wake, &v->lock);
            continue;
        }
        struct job j = ((struct job *)v->jobs.data)[v->next];
        v->busy = true;
        pthread_mutex_unlock(&v->lock);
        bool good = checksum_matches(v, &j.is);
        pthread_mutex_lock(&v->lock);
        j = ((struct job *)v->jobs.data)[v->next]; /* may be to be dropped meanwhile */
        if (j.drop)
            j.drop(j.arg, j.is.data, j.is.bytes);
        v->busy = false;
        v->next++;
        if (!good) {
            gnn_fail(&v->first, GNN_E_INPUT,
                     "%s: tensor '%s': checksum mismatch, the file is damaged", j.is.file,
                     j.is.tensor);
            pthread_cond_broadcast(&v->idle); /* who waits need not wait for the rest */
        }
    }
    pthread_mutex_unlock(&v->lock);
    return NULL;
}

struct gnn_verify *gnn_verify_new(struct gnn_err *e)
{
    struct gnn_verify *v = gnn_alloc_zero(1, sizeof *v, "verification", e);
    if (!v)
        return NULL;
    pthread_mutex_init(&v->lock, NULL);
    pthread_cond_init(&v->wake, NULL);
    pthread_cond_init(&v->idle, NULL);
    return v;
}

void gnn_verify_free(struct gnn_verify *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->lock);
    __atomic_store_n(&v->stop, true, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&v->wake);
    pthread_mutex_unlock(&v->lock);
    if (v->started)
        pthread_join(v->thread, NULL);
    pthread_cond_destroy(&v->wake);
    pthread_cond_destroy(&v->idle);
    pthread_mutex_destroy(&v->lock);
    gnn_buf_release(&v->jobs);
    gnn_free(v);
}

void gnn_verify_add(struct gnn_verify *v, const struct gnn_verify_job *job)
{
    pthread_mutex_lock(&v->lock);
    if (!gnn_buf_reserve(&v->jobs, v->njobs + 1, sizeof(struct job), "verification", &v->first)) {
        ((struct job *)v->jobs.data)[v->njobs++] = (struct job){.is = *job};
        if (!v->started) {
            v->started = !pthread_create(&v->thread, NULL, run_verifier, v);
            if (!v->started)
                gnn_fail(&v->first, GNN_E_RUN, "cannot start a thread for verification");
        }
        pthread_cond_signal(&v->wake);
    }
    pthread_mutex_unlock(&v->lock);
}

bool gnn_verify_last(struct gnn_verify *v, const void *data, uint64_t bytes,
                     void (*drop)(const void *arg, const void *data, uint64_t bytes),
                     const void *arg)
{
    const uint8_t *from = data;
    bool none = true;
    pthread_mutex_lock(&v->lock);
    /* Those done already need no drop: none is then true, and the caller drops the pages itself. */
    for (uint64_t i = v->next; i < v->njobs; i++) {
        struct job *j = (struct job *)v->jobs.data + i;
        const uint8_t *checked = j->is.data;
        if (checked >= from + bytes || from >= checked + j->is.bytes)
            continue;
        j->drop = drop;
        j->arg = arg;
        none = false;
    }
    pthread_mutex_unlock(&v->lock);
    return none;
}

void gnn_verify_keep_none(struct gnn_verify *v)
{
    __atomic_store_n(&v->keep_none, true, __ATOMIC_RELAXED);
}

int gnn_verify_wait(struct gnn_verify *v, struct gnn_err *e)
{
    pthread_mutex_lock(&v->lock);
    while (!v->first.code && v->started && (v->next < v->njobs || v->busy))
        pthread_cond_wait(&v->idle, &v->lock);
    int rc = v->first.code;
    if (rc)
        gnn_fail(e, (enum gnn_status)rc, "%s", v->first.msg);
    pthread_mutex_unlock(&v->lock);
    return rc;
}
