/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of the library (lib/base/mem.h): aligned blocks, strings, buffers that keep or drop
 * their contents when they grow, arrays that double. Nothing here ends the process: an allocation
 * that fails is an error with a name and a size. */
#include "lib/base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* A block from 4 MiB on is aligned to huge pages and asks for them: random reads of features and of
 * the maps of node ids miss the TLB otherwise. */
enum { ALIGN = 64, HUGE_PAGE = 2 << 20, LARGE = 4 << 20 };
/* From here on malloc maps each block by itself, and moves its pages instead of copying them. */
enum { MOVES = 64 << 20 };

/* Bytes to ask for, a multiple of the alignment if there is as much; false on overflow. */
static bool padded_bytes(uint64_t n, size_t size, uint64_t *bytes)
{
    if (__builtin_mul_overflow(n, (uint64_t)size, bytes) || *bytes > (uint64_t)INT64_MAX - ALIGN)
        return false;
    /* aligned_alloc requires a multiple of the alignment. */
    if (*bytes >= ALIGN)
        *bytes = (*bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    return true;
}

void *gnn_alloc(uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    uint64_t bytes = UINT64_MAX;
    const bool good = padded_bytes(n, size, &bytes);
    const bool large = good && bytes >= LARGE;
    void *p = NULL;
    if (good && bytes < ALIGN) /* aligning it would take several times the space */
        p = malloc(bytes ? bytes : 1);
    else if (good && !large)
        p = aligned_alloc(ALIGN, bytes);
    else if (large && posix_memalign(&p, HUGE_PAGE,
                                     bytes)) /* aligned_alloc wants a multiple of the alignment */
        p = NULL;
    if (!p)
        gnn_fail_nomem(e, good ? bytes : UINT64_MAX, what);
    else if (large)
        (void)madvise(p, bytes & ~(gnn_page_size() - 1),
                      MADV_HUGEPAGE); /* a hint: there may be none */
    return p;
}

void *gnn_alloc_zero(uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    void *p = gnn_alloc(n, size, what, e);
    if (p)
        memset(p, 0, n * size);
    return p;
}

void gnn_free(void *p)
{
    int saved = errno;
    free(p);
    errno = saved;
}

char *gnn_strdup(const char *s, struct gnn_err *e)
{
    char *p = strdup(s);
    if (!p)
        gnn_fail_nomem(e, strlen(s) + 1, "a string");
    return p;
}

char *gnn_strf(struct gnn_err *e, const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0) {
        gnn_fail_nomem(e, 0, "a string");
        return NULL;
    }
    return s;
}

static void *heap_alloc(const struct gnn_mem *m, uint64_t bytes, const char *what,
                        struct gnn_err *e)
{
    (void)m;
    return gnn_alloc(bytes, 1, what, e);
}

static void heap_free(const struct gnn_mem *m, void *p)
{
    (void)m;
    gnn_free(p);
}

const struct gnn_mem gnn_mem_heap = {heap_alloc, heap_free};

/* A larger block with the contents of b, whose own is gone on success. */
static void *grow_block(struct gnn_buf *b, uint64_t bytes, const char *what, struct gnn_err *e)
{
    if (b->cap >= MOVES && bytes < (uint64_t)INT64_MAX) {
        void *p = realloc(b->data, bytes);
        if (!p) {
            gnn_fail_nomem(e, bytes, what);
            return NULL;
        }
        b->data = p;
        if (!((uintptr_t)p % ALIGN)) {
            (void)madvise((char *)p + (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE), bytes - HUGE_PAGE,
                          MADV_HUGEPAGE);
            return p;
        }
    }
    void *p = gnn_alloc(bytes, 1, what, e);
    if (!p)
        return NULL;
    if (b->data)
        memcpy(p, b->data, b->cap);
    gnn_free(b->data);
    return p;
}

/* The contents survive, and growth by half makes many small steps linear in all. */
int gnn_buf_reserve(struct gnn_buf *b, uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    uint64_t want;
    if (__builtin_mul_overflow(n, (uint64_t)size, &want))
        return gnn_fail_nomem(e, UINT64_MAX, what);
    if (want <= b->cap && b->data)
        return 0;
    uint64_t grown = b->cap + b->cap / 2;
    if (grown < want)
        grown = want;
    void *p = grow_block(b, grown, what, e);
    if (!p)
        return e->code;
    b->data = p;
    b->cap = grown;
    return 0;
}

int gnn_buf_fit(struct gnn_buf *b, uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    return gnn_buf_fit_in(NULL, b, n, size, what, e);
}

int gnn_buf_fit_exactly(struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                        struct gnn_err *e)
{
    uint64_t want;
    if (!__builtin_mul_overflow(n, (uint64_t)size, &want) && want <= b->cap && b->data)
        return 0;
    gnn_buf_release(b);
    void *p = gnn_alloc(n, size, what, e);
    if (!p)
        return e->code;
    *b = (struct gnn_buf){p, want};
    return 0;
}

void gnn_buf_release(struct gnn_buf *b)
{
    gnn_buf_release_in(NULL, b);
}

int gnn_buf_fit_in(const struct gnn_mem *m, struct gnn_buf *b, uint64_t n, size_t size,
                   const char *what, struct gnn_err *e)
{
    uint64_t want;
    if (__builtin_mul_overflow(n, (uint64_t)size, &want) || want > UINT64_MAX / 2)
        return gnn_fail_nomem(e, UINT64_MAX, what);
    if (want <= b->cap && b->data)
        return 0;
    /* The old block goes first: the two are never in memory together. */
    gnn_buf_release_in(m, b);
    /* An eighth more, so that batches of about one size fit after the first. */
    want += want / 8;
    void *p = m ? m->alloc(m, want, what, e) : gnn_alloc(want, 1, what, e);
    if (!p)
        return e->code;
    *b = (struct gnn_buf){p, want};
    return 0;
}

void gnn_buf_release_in(const struct gnn_mem *m, struct gnn_buf *b)
{
    if (m && b->data)
        m->free(m, b->data);
    else
        gnn_free(b->data);
    *b = (struct gnn_buf){0};
}

int gnn_grow(void *array, uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    void *old, *p;
    if (n & (n - 1)) /* the space doubles at each power of two */
        return 0;
    memcpy(&old, array, sizeof old); /* *array has another type than void * */
    p = gnn_alloc_zero(n ? 2 * n : 1, size, what, e);
    if (!p)
        return e->code;
    if (n)
        memcpy(p, old, n * size);
    gnn_free(old);
    memcpy(array, &p, sizeof p);
    return 0;
}

uint64_t gnn_page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t gnn_mem_resident(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%llu %llu", &pages, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * gnn_page_size();
}

uint64_t gnn_mem_peak(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss * 1024;
}

bool gnn_mem_limited(void)
{
    struct rlimit as, data;
    return (!getrlimit(RLIMIT_AS, &as) && as.rlim_cur != RLIM_INFINITY) ||
           (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY);
}

bool gnn_mem_space(uint64_t bytes)
{
    /* Asks the system for as much and gives it back at once: can an allocation of that size
     * succeed? */
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && !munmap(p, bytes);
}

uint64_t gnn_mem_read(void)
{
    unsigned long long bytes = 0;
    char line[80];
    FILE *f = fopen("/proc/self/io", "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "read_bytes: %llu", &bytes) != 1)
        continue;
    if (f)
        fclose(f);
    return bytes;
}
