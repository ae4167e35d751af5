/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory for batches by reference (lib/base/shared.h): one memfd is mapped whole, with
 * address space for all that can ever be needed, so that no piece moves while another process reads
 * it. Pieces that are freed lose their memory at once but leave a gap of addresses, which later
 * pieces fill. */
#include "lib/base/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/mem.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum { HUGE_PAGE = 2 << 20, GAPS = 64 };
static const uint64_t WINDOW_MIN = UINT64_C(1) << 32;

struct gap {
    uint64_t at, bytes;
};

struct gnn_share {
    pthread_mutex_t lock;
    unsigned holders;
    int fd;
    char *base;
    uint64_t window;      /* bytes mapped; those from `end` on are not there yet */
    uint64_t end;         /* of the file */
    struct gap gap[GAPS]; /* pieces given back: address space without memory. From HUGE_PAGE they
                             begin with one */
    unsigned ngaps;
};

/* Tries with the flag and without it: kernels that require the flag refuse a descriptor without it,
 * and kernels before 6.3 do not know it. */
static int memory_new(void)
{
    int fd = memfd_create("gnn-handoff", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0 && errno == EINVAL)
        fd = memfd_create("gnn-handoff", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* It may grow, but can never shrink: the reader's mapping cannot be cut under it. */
    if (fd >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Address space for all that can be in memory at once, and more, as pieces that grow leave gaps. */
static uint64_t window_size(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const uint64_t want = pages > 0 ? (uint64_t)pages * gnn_page_size() * 4 : 0;
    return want > WINDOW_MIN ? want : WINDOW_MIN;
}

static uint64_t up_to(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) & ~(unit - 1);
}

void *gnn_share_map(int fd, uint64_t window, int prot)
{
    /* Reserves more than is needed, and keeps the part that begins at a huge page: only then the
     * two processes can share huge pages. */
    const uint64_t whole = up_to(window, gnn_page_size()), capacity = whole + HUGE_PAGE;
    char *p = mmap(NULL, capacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    const uint64_t before = up_to((uintptr_t)p, HUGE_PAGE) - (uintptr_t)p;
    char *base = p + before;
    if (mmap(base, window, prot, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        (void)munmap(p, capacity);
        return NULL;
    }
    if (before)
        (void)munmap(p, before);
    (void)munmap(base + whole, HUGE_PAGE - before);
    return base;
}

int gnn_share_new(struct gnn_share **out, struct gnn_err *e)
{
    struct gnn_share *s = gnn_alloc_zero(1, sizeof *s, "shared memory", e);
    if (!s)
        return e->code;
    s->holders = 1;
    s->window = window_size();
    s->fd = memory_new();
    void *p = s->fd < 0 ? NULL : gnn_share_map(s->fd, s->window, PROT_READ | PROT_WRITE);
    if (!p) {
        gnn_fail_errno(e, "no shared memory");
        if (s->fd >= 0)
            close(s->fd);
        gnn_free(s);
        return e->code;
    }
    (void)madvise(p, s->window, MADV_HUGEPAGE); /* where the kernel only waits to be asked */
    s->base = p;
    pthread_mutex_init(&s->lock, NULL);
    *out = s;
    return 0;
}

void gnn_share_hold(struct gnn_share *s)
{
    pthread_mutex_lock(&s->lock);
    s->holders++;
    pthread_mutex_unlock(&s->lock);
}

void gnn_share_drop(struct gnn_share *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    const bool last = !--s->holders;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    munmap(s->base, s->window);
    close(s->fd);
    pthread_mutex_destroy(&s->lock);
    gnn_free(s);
}

/* The smallest gap that holds the bytes is used whole: the part of it that is never written has no
 * memory. */
static bool fill_gap(struct gnn_share *s, uint64_t bytes, struct gap *found)
{
    unsigned best = GAPS;
    for (unsigned i = 0; i < s->ngaps; i++)
        if (s->gap[i].bytes >= bytes && (best == GAPS || s->gap[i].bytes < s->gap[best].bytes))
            best = i;
    if (best == GAPS)
        return false;
    *found = s->gap[best];
    s->gap[best] = s->gap[--s->ngaps];
    return true;
}

/* Makes the memory of a new piece ready, in huge pages where the kernel can, whatever its settings
 * are: that takes a third of the time, also for the process that maps it next. One page of each
 * huge page is touched first, because MADV_COLLAPSE works only where there is a page. The end of a
 * piece gets a huge page if less than half of it stays unused. All of this is a hint. */
static void make_ready(char *p, uint64_t bytes)
{
    const uint64_t page = gnn_page_size(), all = up_to(bytes, page),
                   huge =
                       bytes < HUGE_PAGE ? 0 : (bytes + HUGE_PAGE / 2) & ~(uint64_t)(HUGE_PAGE - 1);
    uint64_t at = 0;
    while (at < huge && !madvise(p + at, page, MADV_POPULATE_WRITE))
        at += HUGE_PAGE;
    if (at < huge || (huge && madvise(p, huge, MADV_COLLAPSE)))
        at = 0;
    if (at < all)
        (void)madvise(p + at, all - at, MADV_POPULATE_WRITE);
}

void *gnn_share_alloc(struct gnn_share *s, uint64_t ready, uint64_t spare, uint64_t *cap)
{
    if (ready > s->window || spare > s->window)
        return NULL;
    const uint64_t unit = ready + spare < HUGE_PAGE ? gnn_page_size() : HUGE_PAGE,
                   bytes = up_to(ready + spare, unit);
    struct gap g = {0};
    pthread_mutex_lock(&s->lock);
    /* Under the lock only the addresses are assigned; memory is made ready afterwards, by each
     * thread for itself. */
    const uint64_t at = up_to(s->end, unit);
    if (!fill_gap(s, bytes, &g) && at <= s->window && bytes <= s->window - at &&
        !ftruncate(s->fd, (off_t)(at + bytes))) {
        g = (struct gap){at, bytes};
        s->end = at + bytes;
    }
    pthread_mutex_unlock(&s->lock);
    *cap = g.bytes;
    if (!g.bytes)
        return NULL;
    make_ready(s->base + g.at, ready);
    return s->base + g.at;
}

void gnn_share_free(struct gnn_share *s, void *p, uint64_t cap)
{
    if (!p)
        return;
    const uint64_t at = (uint64_t)((char *)p - s->base);
    /* The memory goes back to the system, the addresses stay. */
    (void)fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)cap);
    pthread_mutex_lock(&s->lock);
    struct gap *g = s->gap; /* the smallest is forgotten if there are too many */
    for (unsigned i = 1; i < s->ngaps; i++)
        g = s->gap[i].bytes < g->bytes ? &s->gap[i] : g;
    if (s->ngaps < GAPS)
        s->gap[s->ngaps++] = (struct gap){at, cap};
    else if (g->bytes < cap)
        *g = (struct gap){at, cap};
    pthread_mutex_unlock(&s->lock);
}

bool gnn_share_offset(const struct gnn_share *s, const void *p, uint64_t bytes, uint64_t *offset)
{
    const uintptr_t at = (uintptr_t)p, from = (uintptr_t)s->base;
    if (at < from || at - from > s->window || bytes > s->window - (at - from))
        return false;
    *offset = at - from;
    return true;
}

int gnn_share_fd(const struct gnn_share *s)
{
    return s->fd;
}

uint64_t gnn_share_window(const struct gnn_share *s)
{
    return s->window;
}
