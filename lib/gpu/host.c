/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that devices read in place: where it lies, if the system pins pages of a file,
 * which few do, or else a pinned copy. */
#include <string.h>
#include <sys/mman.h>

#include "lib/gpu/runtime.h"
#include "lib/store/store.h"

enum { PIECE = 16 << 20 };

struct gpu_host {
    const void *p, *at;
    void *copy;  /* NULL: mapped where it lies */
    void *block; /* the heap's, that holds the copy and that we have pinned; NULL: the runtime has
                    made it */
    uint64_t bytes; /* that are pinned: whole pages */
    unsigned users;
    struct gpu_host *next;
};

/* Does the system pin memory of the heap? That can be on huge pages, which shorten devices' way to
 * it, and all threads fill it. */
static bool pins_heap(struct gnn_gpu *g)
{
    enum { UNKNOWN, NO, YES };
    struct gnn_err refused = {0};
    const void *at;
    const uint64_t page = gnn_page_size();
    char *p = g->dev->pins == UNKNOWN ? gnn_alloc(2 * page, 1, "a test", &refused) : NULL;
    if (p) {
        char *whole = p + (page - (uintptr_t)p % page) % page;
        const bool can = !gnn_dev_map(whole, page, true, &at, &refused);
        if (can)
            gnn_dev_unmap(whole);
        g->dev->pins = can ? YES : NO;
    }
    gnn_free(p);
    return g->dev->pins == YES;
}

/* By all threads. Pages of the store are not kept in the page cache beside the copy. */
static void copy_in(char *to, struct gnn_store *s, const char *from, uint64_t bytes)
{
    const bool drop = s && gnn_store_leave(s, from, bytes);
    const int64_t pieces = (int64_t)((bytes + PIECE - 1) / PIECE);
    const uint64_t page = gnn_page_size();
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < pieces; i++) {
        const uint64_t at = (uint64_t)i * PIECE, n = bytes - at < PIECE ? bytes - at : PIECE;
        const char *piece = from + at;
        if (s) /* a hint: in one go, and not page by page */
            (void)madvise((void *)((uintptr_t)piece / page * page), n + (uintptr_t)piece % page,
                          MADV_POPULATE_READ);
        memcpy(to + at, piece, n);
        if (drop)
            gnn_store_drop(s, piece, n);
    }
    /* What was verified while it was copied may have come back after that. */
    if (s && !drop && gnn_store_leave(s, from, bytes))
        gnn_store_drop(s, from, bytes);
}

static int pin_copy(struct gnn_gpu *g, struct gpu_host *h, struct gnn_store *s, uint64_t bytes,
                    const char *what, struct gnn_err *e)
{
    const uint64_t page = gnn_page_size();
    if (!pins_heap(g)) {
        int rc = gnn_dev_pin(&h->copy, bytes, what, e);
        if (!rc)
            copy_in(h->copy, s, h->p, bytes);
        h->at = h->copy;
        return rc;
    }
    h->block = gnn_alloc(h->bytes + page, 1, what, e);
    if (!h->block)
        return e->code;
    h->copy = (char *)h->block + (page - (uintptr_t)h->block % page) % page;
    copy_in(h->copy, s, h->p, bytes);
    int rc = gnn_dev_map(h->copy, h->bytes, true, &h->at, e);
    if (rc)
        gnn_free(h->block);
    return rc;
}

/* Where it lies or in a copy: either is counted before it is touched. */
static int pin_host(struct gnn_gpu *g, struct gpu_host *h, struct gnn_store *s, uint64_t bytes,
                    const char *what, struct gnn_err *e)
{
    const uint64_t page = gnn_page_size();
    struct gnn_err refused = {0};
    h->bytes = (bytes + page - 1) / page * page;
    if (gnn_gpu_pin_take(h->bytes, what, e))
        return e->code;
    if (!gnn_dev_map(h->p, bytes, false, &h->at, &refused) || !pin_copy(g, h, s, bytes, what, e))
        return 0;
    gnn_gpu_pin_give(h->bytes);
    return e->code;
}

static struct gpu_host *find_mapping(const struct gnn_gpu *g, const void *p)
{
    struct gpu_host *h = g->dev->host;
    while (h && h->p != p)
        h = h->next;
    return h;
}

int gnn_gpu_host_open(struct gnn_gpu *g, struct gnn_store *s, const void *p, uint64_t bytes,
                      const char *what, const void **at, struct gnn_err *e)
{
    *at = p;
    if (!bytes)
        return 0;
    struct gpu_host *h = find_mapping(g, p);
    if (h) {
        h->users++;
        *at = h->at;
        return 0;
    }
    h = gnn_alloc_zero(1, sizeof *h, what, e);
    if (!h)
        return e->code;
    *h = (struct gpu_host){.p = p, .users = 1, .next = g->dev->host};
    if (pin_host(g, h, s, bytes, what, e)) {
        gnn_free(h);
        return e->code;
    }
    g->dev->host = h;
    *at = h->at;
    return 0;
}

const void *gnn_gpu_host_copy(const struct gnn_gpu *g, const void *p)
{
    const struct gpu_host *h = find_mapping(g, p);
    return h ? h->copy : NULL;
}

void gnn_gpu_host_close(struct gnn_gpu *g, const void *p)
{
    struct gpu_host **at = &g->dev->host;
    while (*at && (*at)->p != p)
        at = &(*at)->next;
    struct gpu_host *h = *at;
    if (!p || !h || --h->users)
        return;
    *at = h->next;
    if (h->copy && !h->block)
        gnn_dev_unpin(h->copy);
    else
        gnn_dev_unmap(h->copy ? h->copy : p);
    gnn_gpu_pin_give(h->bytes);
    gnn_free(h->block);
    gnn_free(h);
}
