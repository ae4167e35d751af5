/* SPDX-License-Identifier: Apache-2.0 */
/* A list of all mapped files (lib/base/mapped.h), so that a SIGBUS, which has an address only,
 * becomes a message with a name, and so that a store that was written to while it was read is found
 * out. Everything is done under one lock: there are as many mappings as parts of a store. */
#include "lib/base/mapped.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/mem.h"

struct mapping {
    const char *at;
    uint64_t from, bytes; /* `from`: in the file */
    uint64_t before;      /* bytes that are mapped before `at`, as mappings begin with a page */
    char *path;
    bool write;
    bool copied; /* some of it, to memory that no file can give back */
    struct stat was;
    struct mapping *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *all;

void *gnn_mapped_new(int fd, uint64_t at, uint64_t bytes, bool write, const char *path,
                     struct gnn_err *e)
{
    /* The list's entry comes first: a mapping without one could not be explained when it fails. */
    struct mapping *m = gnn_alloc_zero(1, sizeof *m, "a mapping", e);
    if (m && (m->path = gnn_strdup(path, e))) {
        m->before = at % gnn_page_size();
        char *p = fstat(fd, &m->was)
                      ? MAP_FAILED
                      : mmap(NULL, m->before + bytes, PROT_READ | (write ? PROT_WRITE : 0),
                             MAP_SHARED, fd, (off_t)(at - m->before));
        if (p != MAP_FAILED) {
            p += m->before;
            m->at = p;
            m->from = at;
            m->bytes = bytes;
            m->write = write;
            pthread_mutex_lock(&lock);
            m->next = all;
            all = m;
            pthread_mutex_unlock(&lock);
            return p;
        }
        gnn_fail_errno(e, "%s: cannot map %llu bytes", path, (unsigned long long)bytes);
    }
    if (m)
        gnn_free(m->path);
    gnn_free(m);
    return NULL;
}

void gnn_mapped_free(const void *p)
{
    struct mapping *m = NULL;
    pthread_mutex_lock(&lock);
    for (struct mapping **at = &all; p && *at; at = &(*at)->next)
        if ((*at)->at == p) {
            m = *at;
            *at = m->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (!m)
        /* After the lock is released: unmapping gigabytes takes a while. */
        return;
    munmap((void *)(uintptr_t)(m->at - m->before), m->before + m->bytes);
    gnn_free(m->path);
    gnn_free(m);
}

/* The mapping that has an address; the lock is held. */
static struct mapping *find_mapping(const void *p)
{
    const char *c = p;
    struct mapping *m = all;
    while (m && !(c >= m->at && c < m->at + m->bytes))
        m = m->next;
    return m;
}

/* ---- copies ---- */

enum { HUGE_PAGE = 2 << 20 };

static uintptr_t up_to_huge(uintptr_t at)
{
    return (at + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
}

/* New memory, a multiple of huge pages, from one on. */
static char *huge_memory(uint64_t bytes, struct gnn_err *e)
{
    char *p =
        mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        gnn_fail_nomem(e, bytes, "copies in huge pages");
        return NULL;
    }
    char *at = (char *)up_to_huge((uintptr_t)p);
    if (at > p)
        (void)munmap(p, (size_t)(at - p));
    if (at < p + HUGE_PAGE)
        (void)munmap(at + bytes, (size_t)(p + HUGE_PAGE - at));
    (void)madvise(at, bytes, MADV_HUGEPAGE); /* a hint: there may be none */
    return at;
}

int gnn_mapped_copy(const void *data, uint64_t bytes, uint64_t *copied, struct gnn_err *e)
{
    const uintptr_t from = up_to_huge((uintptr_t)data),
                    to = ((uintptr_t)data + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);
    const char *old = (const char *)from;
    *copied = 0;
    if (to <= from)
        return 0;
    char *new = huge_memory(to - from, e);
    if (!new)
        return e->code;
#pragma omp parallel for schedule(dynamic)
    for (uint64_t at = 0; at < to - from; at += HUGE_PAGE)
        memcpy(new + at, old + at, HUGE_PAGE);
    pthread_mutex_lock(&lock);
    struct mapping *m = find_mapping(data);
    /* The kernel changes the pages under its own lock: who reads sees the old ones or the new. */
    const bool good = m && !mprotect(new, to - from, PROT_READ) &&
                      mremap(new, to - from, to - from, MREMAP_MAYMOVE | MREMAP_FIXED,
                             (void *)from) != MAP_FAILED;
    if (good)
        m->copied = true;
    pthread_mutex_unlock(&lock);
    if (!good) {
        gnn_fail_errno(e, "%s: cannot put copies into the place of what is mapped",
                       m ? m->path : "memory");
        (void)munmap(new, to - from);
        return e->code;
    }
    *copied = to - from;
    return 0;
}

void gnn_mapped_forget(const void *data, uint64_t bytes)
{
    const uint64_t page = gnn_page_size(), from = (uintptr_t)data / page * page,
                   to = (uintptr_t)data + bytes;
    pthread_mutex_lock(&lock);
    const struct mapping *m = find_mapping(data);
    if (!m || !m->copied)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
    pthread_mutex_unlock(&lock);
}

/* Whether the path still leads to the file that was mapped. A store that was replaced as a whole
 * has another inode, and the mapped one is untouched. */
static bool same_file(const struct mapping *m, struct stat *now)
{
    return !stat(m->path, now) && now->st_dev == m->was.st_dev && now->st_ino == m->was.st_ino;
}

static bool was_changed(const struct mapping *m, struct stat *now)
{
    const struct timespec *a = &m->was.st_mtim, *b = &now->st_mtim;
    return !m->write && same_file(m, now) &&
           (now->st_size != m->was.st_size || a->tv_sec != b->tv_sec || a->tv_nsec != b->tv_nsec);
}

int gnn_mapped_open(const void *data, uint64_t *at)
{
    struct stat now;
    pthread_mutex_lock(&lock);
    const struct mapping *m = find_mapping(data);
    int fd = m && !m->write && !m->copied ? open(m->path, O_RDONLY | O_CLOEXEC) : -1;
    /* The path may lead to another file by now: only the one that is mapped will do. */
    if (fd >= 0 && (fstat(fd, &now) || now.st_dev != m->was.st_dev || now.st_ino != m->was.st_ino ||
                    was_changed(m, &now))) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0)
        *at = m->from + (uint64_t)((const char *)data - m->at);
    pthread_mutex_unlock(&lock);
    return fd;
}

static int fail_if_cut(const struct mapping *m, const struct stat *now, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_RUN, "%s: cut to %lld bytes while it was in use", m->path,
                    (long long)now->st_size);
}

bool gnn_mapped_changed(const void *p)
{
    struct stat now;
    bool yes = false;
    pthread_mutex_lock(&lock);
    for (const struct mapping *m = all; m; m = m->next)
        yes = yes || (m->at == p && was_changed(m, &now));
    pthread_mutex_unlock(&lock);
    return yes;
}

int gnn_mapped_check(struct gnn_err *e)
{
    struct stat now;
    int rc = 0;
    pthread_mutex_lock(&lock);
    for (const struct mapping *m = all; m && !rc; m = m->next)
        if (was_changed(m, &now))
            rc = now.st_size < m->was.st_size
                     ? fail_if_cut(m, &now, e)
                     : gnn_fail(e, GNN_E_RUN, "%s: written to while it was in use", m->path);
    pthread_mutex_unlock(&lock);
    return rc;
}

int gnn_mapped_fault(const void *p, struct gnn_err *e)
{
    const char *c = p;
    struct stat now;
    int rc = 0;
    pthread_mutex_lock(&lock);
    for (const struct mapping *m = all; m && !rc; m = m->next)
        if (c >= m->at && c < m->at + m->bytes)
            rc = same_file(m, &now) && now.st_size < m->was.st_size
                     ? fail_if_cut(m, &now, e)
                     : gnn_fail(e, GNN_E_RUN, "%s: the system cannot %s byte %llu", m->path,
                                m->write ? "read or write" : "read",
                                (unsigned long long)(m->from + (uint64_t)(c - m->at)));
    pthread_mutex_unlock(&lock);
    return rc;
}
