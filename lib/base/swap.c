/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of memory: which there are, and what the thread that works with them does. */
#include "lib/base/swap.h"

#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/swap_impl.h"
#include "lib/base/temp.h"

/* Smaller ones stay in memory: they are many, and take up little of it. When they are so many that
 * they would not be little in all, the process is measured again; the margin is larger. */
enum { SMALL = 64 << 10, UNSEEN = 1 << 20, HUGE_PAGE = 2 << 20 };

/* Between two measurements the process grows a little: pages of code, stacks, small buffers, and
 * what matrix products pack, for each thread and for all, which is gone when they are done. And the
 * system counts pages by processor, so its sums are a little late. */
enum { MARGIN = 2 << 20, MARGIN_SHARE = 64 };
/* What computing takes besides, after a rehearsal; and it differs a little from run to run. */
enum { GROWS = 6 << 20 };
static uint64_t fixed_margin(void)
{
    return (2 + (uint64_t)omp_get_max_threads()) * MARGIN;
}
static uint64_t margin_of(uint64_t limit)
{
    return limit / MARGIN_SHARE + fixed_margin();
}

/* The smallest limit that leaves so many bytes besides its own margin. */
static uint64_t limit_for(uint64_t bytes)
{
    const uint64_t n = bytes + fixed_margin();
    return n + (n - 1) / (MARGIN_SHARE - 1);
}

static uint64_t limit_to_hold(const struct gnn_swap *s, uint64_t held)
{
    return limit_for(held + s->besides + s->aside);
}

/* What is held now needs a limit of its own. */
static void note_least(struct gnn_swap *s)
{
    if (s->rehearsing && s->held_bytes > s->most_held)
        s->most_held = s->held_bytes;
    const uint64_t least = limit_to_hold(s, s->held_bytes);
    if (least > s->stats.least)
        s->stats.least = least;
}

/* Bytes in memory besides regions. They only grow, as far as is known here: pages of regions that
 * were never touched count as if they were there. */
static void measure_besides(struct gnn_swap *s)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    if (s->besides) /* what these keep for each address that is used is not the program's */
        return;
#endif
    s->unseen = 0;
    const uint64_t resident = gnn_mem_resident();
    if (resident > s->there && resident - s->there > s->besides)
        s->besides = resident - s->there;
}

struct gnn_swap *gnn_swap_new(const char *beside, uint64_t limit, struct gnn_err *e)
{
    struct gnn_swap *s = gnn_alloc_zero(1, sizeof *s, "swapped memory", e);
    if (!s)
        return NULL;
    s->page = gnn_page_size();
    s->limit = limit;
    s->margin = margin_of(limit);
    const char *strict = getenv("GNN_DEBUG_SWAP");
    s->strict = strict && !strcmp(strict, "1");
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->done, NULL);
    s->fd = gnn_temp_scratch(beside, e);
    if (s->fd < 0 || !(s->name = gnn_strdup(beside, e))) {
        gnn_swap_free(s);
        return NULL;
    }
    const int flags = fcntl(s->fd, F_GETFL);
    s->stats.direct = flags >= 0 && !fcntl(s->fd, F_SETFL, flags | O_DIRECT);
    measure_besides(s);
    while (s->started < SWAP_THREADS) {
        if (pthread_create(&s->thread[s->started], NULL, gnn_swap_work, s)) {
            gnn_fail(e, GNN_E_RUN, "cannot start a thread for --memory");
            gnn_swap_free(s);
            return NULL;
        }
        s->started++;
    }
    return s;
}

static void free_region(struct gnn_swap *s, struct swap_region *r)
{
    if (r->state != SWAP_EMPTY && r->state != SWAP_FILED)
        s->there -= r->bytes;
    (void)munmap(r->data, r->bytes);
    gnn_free(r);
}

void gnn_swap_free(struct gnn_swap *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < s->started; i++)
        (void)pthread_join(s->thread[i], NULL);
    for (uint64_t i = 0; i < s->n; i++)
        free_region(s, s->all[i]);
    if (s->fd >= 0)
        (void)close(s->fd);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
    gnn_swap_uses_release(s);
    gnn_free(s->all);
    gnn_free(s->queue);
    gnn_free(s->held);
    gnn_free(s->spare);
    gnn_free(s->name);
    gnn_free(s);
}

static struct swap_region **chain_of(struct gnn_swap *s, const void *data)
{
    const uint64_t page = (uint64_t)(uintptr_t)data / s->page;
    return &s->hash[(page ^ page >> 12) % SWAP_CHAINS];
}

static struct swap_region *find_region(struct gnn_swap *s, const void *data)
{
    struct swap_region *r = data ? *chain_of(s, data) : NULL;
    while (r && r->data != data)
        r = r->chain;
    return r;
}

/* ---- turns ---- */

/* Waits for the threads. With the lock. */
static int await_threads(struct gnn_swap *s, struct gnn_err *e)
{
    const double begin = gnn_clock();
    if (!s->failed.code)
        pthread_cond_wait(&s->done, &s->lock);
    s->stats.waited += gnn_clock() - begin;
    return s->failed.code ? gnn_fail_as(e, &s->failed) : 0;
}

/* The same of who waits for space: what is read ahead meanwhile must not take it. */
static int await_space(struct gnn_swap *s, struct gnn_err *e)
{
    s->wanted = true;
    const int rc = await_threads(s, e);
    s->wanted = false;
    return rc;
}

/* What the process takes besides differs from run to run: at its start, and with where malloc finds
 * capacity for what is small. */
static uint64_t differs_by(const struct gnn_swap *s)
{
    return (1 << 19) + s->besides / 32;
}

/* least: a limit that would have been enough until now. Sizes are as the option takes them. */
static int fail_too_small(const struct gnn_swap *s, uint64_t least, struct gnn_err *e)
{
    uint64_t limit = s->limit;
    const char *unit = limit % (1 << 20) == 0 ? "M" : limit % (1 << 10) == 0 ? "k" : "";
    limit >>= *unit == 'M' ? 20 : *unit ? 10 : 0;
    least = least > s->stats.least ? least : s->stats.least;
    least = least > s->limit ? least : s->limit + 1;
    return gnn_fail(e, GNN_E_NOMEM, "--memory %llu%s is too small: at least %lluM are needed",
                    (unsigned long long)limit, unit,
                    (unsigned long long)((least + differs_by(s) + (1 << 20) - 1) >> 20));
}

/* Until there is memory for r, which is EMPTY or FILED, or has just been read; or, before the limit
 * is kept, all that can go has gone. */
static int get_space(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e)
{
    while (r->state == SWAP_EMPTY || r->state == SWAP_FILED) {
        if (gnn_swap_make_space(s, r->bytes, 0))
            return 0;
        if (!s->reading && !s->writing && !s->begun)
            return 0;
        if (!s->reading && !s->writing)
            return fail_too_small(s, limit_to_hold(s, s->held_bytes + r->bytes), e);
        if (await_space(s, e))
            return e->code;
    }
    return 0;
}

static int bring_in(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e)
{
    if (get_space(s, r, e))
        return e->code;
    if (r->state == SWAP_EMPTY) {
        gnn_swap_map(s, r, SWAP_THERE);
        r->changed = true; /* what lies in the file, if it has a place there, is old */
    } else if (r->state == SWAP_FILED)
        gnn_swap_read(s, r);
    while (r->state == SWAP_READING)
        if (await_threads(s, e))
            return e->code;
    return s->failed.code ? gnn_fail_as(e, &s->failed) : 0;
}

/* What is held to be read can only be read. */
static void guard_region(const struct gnn_swap *s, const struct swap_region *r)
{
    if (s->strict && r->state != SWAP_EMPTY)
        (void)mprotect(r->data, r->bytes, r->changed ? PROT_READ | PROT_WRITE : PROT_READ);
}

static int hold_region(struct gnn_swap *s, struct swap_region *r, bool change, struct gnn_err *e)
{
    if (s->failed.code)
        return gnn_fail_as(e, &s->failed);
    r->changed = r->changed || change;
    if (r->held) {
        guard_region(s, r);
        return 0;
    }
    if (gnn_grow(&s->held, s->nheld, sizeof(struct swap_region *), "regions", e) ||
        gnn_swap_used(s, r, e))
        return e->code;
    r->held = true; /* it must not go while the threads are awaited */
    r->needless = false;
    if (!(s->rehearsing && r->state == SWAP_EMPTY) && bring_in(s, r, e)) {
        r->held = false;
        return e->code;
    }
    guard_region(s, r);
    s->held[s->nheld++] = r;
    s->held_bytes += r->bytes;
    note_least(s);
    return 0;
}

int gnn_swap_hold(struct gnn_swap *s, const struct gnn_buf *b, bool change, struct gnn_err *e)
{
    struct swap_region *r = find_region(s, b->data);
    if (!r)
        return 0;
    pthread_mutex_lock(&s->lock);
    const int rc = hold_region(s, r, change, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Until there is space for what the process has besides. */
static int keep_limit(struct gnn_swap *s, struct gnn_err *e)
{
    while (!gnn_swap_make_space(s, 0, 0)) {
        if (!s->reading && !s->writing && !s->begun)
            break;
        if (!s->reading && !s->writing)
            return fail_too_small(s, limit_to_hold(s, s->held_bytes), e);
        if (await_space(s, e))
            return e->code;
    }
    note_least(s);
    return 0;
}

void gnn_swap_rehearse(struct gnn_swap *s)
{
    pthread_mutex_lock(&s->lock);
    s->rehearsing = true;
    pthread_mutex_unlock(&s->lock);
}

/* What the process has besides has only grown: early turns need the space that late ones do. */
int gnn_swap_begin(struct gnn_swap *s, struct gnn_err *e)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t least = limit_to_hold(s, s->most_held);
    if (s->rehearsing && least > s->stats.least)
        s->stats.least = least;
    if (s->rehearsing)
        s->stats.least += GROWS;
    const bool fits = !s->rehearsing || s->stats.least <= s->limit;
    s->rehearsing = false;
    s->begun = true;
    s->seen.n = s->order.n = s->pos = 0;
    const int rc = fits ? 0 : fail_too_small(s, 0, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int gnn_swap_drop(struct gnn_swap *s, struct gnn_err *e)
{
    pthread_mutex_lock(&s->lock);
    for (uint64_t i = 0; i < s->nheld; i++)
        s->held[i]->held = false;
    s->nheld = s->held_bytes = 0;
    measure_besides(s);
    if (s->strict)
        gnn_swap_clear(s);
    else
        gnn_swap_plan(s);
    const int rc = s->failed.code ? gnn_fail_as(e, &s->failed) : keep_limit(s, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

static void let_region(struct gnn_swap *s, struct swap_region *r)
{
    for (uint64_t i = 0; r->held && i < s->nheld; i++)
        if (s->held[i] == r) {
            s->held[i] = s->held[--s->nheld];
            s->held_bytes -= r->bytes;
            r->held = false;
        }
}

void gnn_swap_let(struct gnn_swap *s, const struct gnn_buf *b)
{
    struct swap_region *r = find_region(s, b->data);
    pthread_mutex_lock(&s->lock);
    if (r)
        let_region(s, r);
    pthread_mutex_unlock(&s->lock);
}

void gnn_swap_forget(struct gnn_swap *s, const struct gnn_buf *b)
{
    struct swap_region *r = find_region(s, b->data);
    if (!r)
        return;
    pthread_mutex_lock(&s->lock);
    let_region(s, r);
    if (r->state == SWAP_FILED)
        r->state = SWAP_EMPTY;
    else if (r->state == SWAP_THERE)
        gnn_swap_unmap(s, r, SWAP_EMPTY);
    else
        r->needless = r->state != SWAP_EMPTY;
    r->changed = false;
    pthread_mutex_unlock(&s->lock);
}

/* ---- regions ---- */

static int add_region(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e)
{
    if (gnn_grow(&s->all, s->n, sizeof(struct swap_region *), "regions", e))
        return e->code;
    /* The queue never has a region twice. It is moved where its ring ends. */
    if (s->n + 1 > s->ring) {
        const uint64_t ring = 2 * s->ring + 64;
        struct swap_region **q = gnn_alloc(ring, sizeof(struct swap_region *), "regions", e);
        if (!q)
            return e->code;
        for (uint64_t i = 0; i < s->queued; i++)
            q[i] = s->queue[(s->head + i) % s->ring];
        gnn_free(s->queue);
        s->queue = q;
        s->head = 0;
        s->ring = ring;
    }
    struct swap_region **chain = chain_of(s, r->data);
    r->chain = *chain;
    *chain = r;
    r->index = (uint32_t)s->n;
    s->all[s->n++] = r;
    return 0;
}

static struct swap_region *new_region(struct gnn_swap *s, uint64_t bytes, const char *what,
                                      struct gnn_err *e)
{
    struct swap_region *r = gnn_alloc_zero(1, sizeof *r, "regions", e);
    if (!r)
        return NULL;
    r->bytes = (bytes + s->page - 1) / s->page * s->page;
    r->at = r->next = SWAP_NEVER;
    r->data = mmap(NULL, r->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->data == MAP_FAILED) {
        gnn_fail_nomem(e, r->bytes, what);
        gnn_free(r);
        return NULL;
    }
    if (r->bytes >= 2 * HUGE_PAGE)
        (void)madvise(r->data, r->bytes, MADV_HUGEPAGE); /* a hint: there may be none */
    if (add_region(s, r, e)) {
        free_region(s, r);
        return NULL;
    }
    return r;
}

/* The threads are done with it. With the lock. */
static void release_region(struct gnn_swap *s, struct swap_region *r)
{
    struct swap_region **chain = chain_of(s, r->data);
    struct gnn_err e = {0};
    while (r->state == SWAP_READING || r->state == SWAP_WRITING)
        pthread_cond_wait(&s->done, &s->lock);
    while (*chain != r)
        chain = &(*chain)->chain;
    *chain = r->chain;
    let_region(s, r);
    /* Without memory for the list, the place in the file stays unused. */
    if (r->at != SWAP_NEVER && !gnn_grow(&s->spare, s->nspare, sizeof *s->spare, "places", &e))
        s->spare[s->nspare++] = (struct swap_free){r->at, r->bytes};
    gnn_swap_forget_uses(s, r);
    s->all[r->index] = s->all[--s->n];
    s->all[r->index]->index = r->index;
    free_region(s, r);
}

int gnn_swap_reserve(struct gnn_swap *s, uint64_t bytes, struct gnn_err *e)
{
    pthread_mutex_lock(&s->lock);
    s->besides += bytes;
    const int rc = keep_limit(s, e);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void gnn_swap_set_aside(struct gnn_swap *s, uint64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    s->aside = bytes;
    pthread_mutex_unlock(&s->lock);
}

void gnn_swap_release(struct gnn_swap *s, struct gnn_buf *b)
{
    struct swap_region *r = find_region(s, b->data);
    if (!r) {
        gnn_buf_release(b);
        return;
    }
    pthread_mutex_lock(&s->lock);
    release_region(s, r);
    pthread_mutex_unlock(&s->lock);
    *b = (struct gnn_buf){0};
}

/* A small buffer, of the heap. */
static int fit_small(struct gnn_swap *s, struct gnn_buf *b, uint64_t n, size_t size,
                     const char *what, struct gnn_err *e)
{
    if (gnn_buf_fit(b, n, size, what, e))
        return e->code;
    pthread_mutex_lock(&s->lock);
    s->unseen += b->cap;
    if (s->unseen > UNSEEN) {
        measure_besides(s);
        (void)!keep_limit(s, e);
    }
    pthread_mutex_unlock(&s->lock);
    return e->code;
}

int gnn_swap_fit(struct gnn_swap *s, struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                 struct gnn_err *e)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(n, (uint64_t)size, &bytes) || bytes > INT64_MAX / 2)
        return gnn_fail_nomem(e, UINT64_MAX, what);
    if (b->data && b->cap >= bytes)
        return gnn_swap_hold(s, b, true, e);
    gnn_swap_release(s, b);
    if (!bytes || (bytes < SMALL && !s->strict))
        return fit_small(s, b, n, size, what, e);
    pthread_mutex_lock(&s->lock);
    struct swap_region *r = new_region(s, bytes, what, e);
    if (r && !hold_region(s, r, true, e))
        *b = (struct gnn_buf){r->data, r->bytes};
    pthread_mutex_unlock(&s->lock);
    return e->code;
}

struct gnn_swap_stats gnn_swap_stats(struct gnn_swap *s)
{
    pthread_mutex_lock(&s->lock);
    struct gnn_swap_stats stats = s->stats;
    stats.margin = margin_of(stats.least) + (s->most_held ? GROWS : 0);
    pthread_mutex_unlock(&s->lock);
    return stats;
}
