/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that write regions to the file and read them again. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "lib/base/swap_impl.h"

/* One call to the system moves so much: threads can be stopped in between. */
enum { PIECE = 16 << 20 };

static ssize_t move_bytes(const struct gnn_swap *s, char *data, uint64_t n, off_t at, bool write)
{
    ssize_t k;
    do
        k = write ? pwrite(s->fd, data, n, at) : pread(s->fd, data, n, at);
    while (k < 0 && errno == EINTR);
    return k;
}

static int move_piece(const struct gnn_swap *s, struct swap_region *r, uint64_t from, uint64_t n,
                      bool write, uint64_t *moved, struct gnn_err *e)
{
    const off_t at = (off_t)(r->at + from);
    ssize_t k = move_bytes(s, r->data + from, n, at, write);
    /* Direct I/O goes by whole pages. Less than one is tried again: the system says then why. */
    if (k > 0 && (uint64_t)k < s->page)
        k = move_bytes(s, r->data + from, n, at, write);
    if (k < 0)
        return gnn_fail_errno(e, "%s: cannot %s the temporary file of --memory", s->name,
                              write ? "write" : "read");
    *moved = (uint64_t)k / s->page * s->page;
    if (*moved)
        return 0;
    return gnn_fail(e, GNN_E_RUN, "%s: the temporary file of --memory %s at byte %llu", s->name,
                    write ? "takes no more" : "was cut", (unsigned long long)at);
}

/* A file that somebody has cut may have grown again since, and what was there reads as zeros: but
 * it has fewer blocks than were reserved. */
static int check_size(const struct gnn_swap *s, uint64_t end, bool reserved, struct gnn_err *e)
{
    struct stat st;
    if (fstat(s->fd, &st))
        return gnn_fail_errno(e, "%s: cannot read the temporary file of --memory", s->name);
    const uint64_t size = (uint64_t)st.st_size, blocks = (uint64_t)st.st_blocks * 512;
    if (size >= end && (!reserved || blocks >= end))
        return 0;
    return gnn_fail(
        e, GNN_E_RUN, "%s: the temporary file of --memory was cut: it has %llu of %llu bytes",
        s->name, (unsigned long long)(size < blocks ? size : blocks), (unsigned long long)end);
}

/* What a region holds when its writing begins has the sum. It may be changed meanwhile: then it is
 * written again before anybody reads it. */
static int move_region(struct gnn_swap *s, struct swap_region *r, bool write, uint64_t end,
                       bool reserved, struct gnn_err *e)
{
    uint64_t n = 0;
    if (!write && check_size(s, end, reserved, e))
        return e->code;
    if (write)
        r->sum = XXH3_64bits(r->data, r->bytes);
    for (uint64_t at = 0; at < r->bytes; at += n) {
        n = r->bytes - at < PIECE ? r->bytes - at : PIECE;
        if (move_piece(s, r, at, n, write, &n, e))
            return e->code;
    }
    if (write || XXH3_64bits(r->data, r->bytes) == r->sum)
        return 0;
    return gnn_fail(e, GNN_E_RUN,
                    "%s: the temporary file of --memory was damaged while it lay on disk, in bytes "
                    "%llu to %llu",
                    s->name, (unsigned long long)r->at, (unsigned long long)(r->at + r->bytes - 1));
}

/* Some file systems reserve nothing, and say nothing. */
static bool has_blocks(int fd, uint64_t bytes)
{
    struct stat st;
    return !fstat(fd, &st) && (uint64_t)st.st_blocks * 512 >= bytes;
}

/* A place in the file: one that has become free, or at the end. With the lock. */
static int place_region(struct gnn_swap *s, struct swap_region *r, struct gnn_err *e)
{
    for (uint64_t i = 0; i < s->nspare && r->at == SWAP_NEVER; i++)
        if (s->spare[i].bytes == r->bytes) {
            r->at = s->spare[i].at;
            s->spare[i] = s->spare[--s->nspare];
        }
    if (r->at != SWAP_NEVER)
        return 0;
    /* Reserved at once, so that a full disk is found before half is written. */
    int failed;
    do
        failed = fallocate(s->fd, 0, (off_t)s->end, (off_t)r->bytes);
    while (failed && errno == EINTR);
    if (failed && errno != EOPNOTSUPP && errno != ENOSYS)
        return gnn_fail_errno(e, "%s: cannot enlarge the temporary file of --memory", s->name);
    s->reserved = !failed && (s->end ? s->reserved : has_blocks(s->fd, r->bytes));
    r->at = s->end;
    s->end += r->bytes;
    return 0;
}

static void finish_move(struct gnn_swap *s, struct swap_region *r, bool write)
{
    *(write ? &s->writing : &s->reading) -= r->bytes;
    *(write ? &s->stats.written : &s->stats.read) += r->bytes;
    if (r->needless)
        gnn_swap_unmap(s, r, SWAP_EMPTY);
    else if (write && !r->held && !r->changed)
        gnn_swap_unmap(s, r, SWAP_FILED);
    else
        r->state = SWAP_THERE;
    r->needless = false;
    gnn_swap_plan(s);
    pthread_cond_broadcast(&s->done);
}

void *gnn_swap_work(void *arg)
{
    struct gnn_swap *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        if (!s->queued) {
            pthread_cond_wait(&s->work, &s->lock);
            continue;
        }
        struct swap_region *r = s->queue[s->head];
        const bool write = r->state == SWAP_WRITING;
        struct gnn_err e = {0};
        s->head = (s->head + 1) % s->ring;
        s->queued--;
        if (!write || !place_region(s, r, &e)) {
            /* What the file must have, at least. */
            const bool reserved = s->reserved;
            const uint64_t end = reserved ? s->end : r->at + r->bytes;
            pthread_mutex_unlock(&s->lock);
            (void)move_region(s, r, write, end, reserved, &e);
            pthread_mutex_lock(&s->lock);
        }
        if (e.code && !s->failed.code)
            s->failed = e;
        finish_move(s, r, write);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
