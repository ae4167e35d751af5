#include "lib/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { ALIGN = 64 };

/* Bytes to ask for, a multiple of the alignment; false on overflow. */
static bool room(uint64_t n, size_t size, uint64_t *bytes)
{
    if (__builtin_mul_overflow(n, (uint64_t)size, bytes) || *bytes > (uint64_t)INT64_MAX - ALIGN)
        return false;
    *bytes = (*bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
    if (!*bytes)
        *bytes = ALIGN;
    return true;
}

void *gnn_alloc(uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    uint64_t bytes = UINT64_MAX;
    void *p = room(n, size, &bytes) ? aligned_alloc(ALIGN, bytes) : NULL;
    if (!p)
        gnn_fail_nomem(e, bytes, what);
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
    void *p = gnn_alloc(grown, 1, what, e);
    if (!p)
        return e->code;
    if (b->data)
        memcpy(p, b->data, b->cap);
    gnn_free(b->data);
    b->data = p;
    b->cap = grown;
    return 0;
}

void gnn_buf_release(struct gnn_buf *b)
{
    gnn_free(b->data);
    *b = (struct gnn_buf){0};
}

int gnn_grow(void *array, uint64_t n, size_t size, const char *what, struct gnn_err *e)
{
    void *old, *p;
    if (n & (n - 1)) /* the room doubles at each power of two */
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

void gnn_mem_hugepages(void *p, uint64_t bytes)
{
    uintptr_t from = ((uintptr_t)p + 4095) & ~(uintptr_t)4095;
    uintptr_t to = ((uintptr_t)p + bytes) & ~(uintptr_t)4095;
    if (to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

uint64_t gnn_mem_peak(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (uint64_t)u.ru_maxrss * 1024;
}
