/* SPDX-License-Identifier: Apache-2.0 */
/* Swap space of a process's own: memory that is moved to a file while it is not in use, for work
 * that goes through more memory than there is, in the same order again and again.
 *
 * A buffer keeps its address. It is in memory while it is held; between two turns it may be
 * written to the file, by direct I/O where the file system supports that, and its pages are given
 * back. Reading a buffer that is not held ends the process with SIGSEGV instead of giving wrong
 * numbers.
 *
 * Work comes in cycles (gnn_swap_cycle), each of turns: hold the buffers that the turn needs, use
 * them, drop all of them. The last cycle predicts the next one, so threads read ahead, and the
 * buffer that is needed last goes first (Belady 1966). The first cycle, and turns that come in
 * another order, are slower, but right.
 *
 *     struct gnn_swap *s = gnn_swap_new("model", 8u << 30, &e);
 *     struct gnn_buf a = {0};
 *     gnn_swap_fit(s, &a, n, sizeof(float), "rows", &e);    // held until
 *     gnn_swap_drop(s, &e);
 *     gnn_swap_hold(s, &a, false, &e);                      // the same contents
 *
 * Functions are for one thread; the object has threads of its own. */
#ifndef GNN_LIB_BASE_SWAP_H
#define GNN_LIB_BASE_SWAP_H

#include "lib/base/mem.h"

struct gnn_swap;

struct gnn_swap_stats {
    uint64_t written, read; /* bytes */
    /* The smallest limit that would have been enough: the bytes held in a turn, the memory that the
     * process has besides, and the margin of such a limit. */
    uint64_t least;
    uint64_t margin; /* bytes of that limit that stay free */
    double waited;   /* seconds that gnn_swap_hold, _fit and _drop have waited */
    bool direct;     /* false: the file system has no direct I/O, the page cache is used */
};

/* Makes a swap, whose file has no name and lies in the directory of `beside`. limit: bytes that the
 * process may have in memory, all else that it has included. NULL on failure. With GNN_DEBUG_SWAP=1
 * in the environment no buffer, not even a small one, stays in memory between turns, whatever the
 * limit, and a buffer held for reading cannot be written to: a test finds turns that use a buffer
 * which they do not hold. */
struct gnn_swap *gnn_swap_new(const char *beside, uint64_t limit, struct gnn_err *e) GNN_MUST_USE;
void gnn_swap_free(struct gnn_swap *s); /* takes NULL; the buffers are gone */

/* As gnn_buf_fit; the buffer is held. Small buffers are on the heap, where they stay: only
 * gnn_swap_release knows which. Errors, of _hold and _drop, too: GNN_E_NOMEM if the held buffers
 * and the other memory of the process, small buffers included, leave no space within the limit
 * (after _begin); GNN_E_RUN if the file cannot be written. */
int gnn_swap_fit(struct gnn_swap *s, struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                 struct gnn_err *e) GNN_MUST_USE;
void gnn_swap_release(struct gnn_swap *s, struct gnn_buf *b);
/* Holds a buffer, which may be on the heap, or empty, until the turn ends. change: it may be
 * written to. */
int gnn_swap_hold(struct gnn_swap *s, const struct gnn_buf *b, bool change,
                  struct gnn_err *e) GNN_MUST_USE;
/* _let: holds the buffer no longer, before the turn ends. _forget also gives up its contents, so
 * that they are not written to the file; it takes buffers that are not held, too. */
void gnn_swap_let(struct gnn_swap *s, const struct gnn_buf *b);
void gnn_swap_forget(struct gnn_swap *s, const struct gnn_buf *b);
/* Ends a turn: nothing is held. */
int gnn_swap_drop(struct gnn_swap *s, struct gnn_err *e) GNN_MUST_USE;
/* Frees memory for `bytes` bytes that the process is about to take besides the buffers of s. */
int gnn_swap_reserve(struct gnn_swap *s, uint64_t bytes, struct gnn_err *e) GNN_MUST_USE;
/* Sets the bytes of the limit that stay free for memory that comes and goes within a turn, such as
 * pages of mapped files. 0 at first. */
void gnn_swap_set_aside(struct gnn_swap *s, uint64_t bytes);
/* Before _begin the limit is kept only where possible: bytes that a turn holds beyond it are
 * counted. _rehearse: from here on, buffers without contents get no memory: they can be held, but
 * must not be touched. _begin enforces the limit from here on; GNN_E_NOMEM, naming the smallest
 * limit that is enough for all turns so far, if this one is not. */
void gnn_swap_rehearse(struct gnn_swap *s);
int gnn_swap_begin(struct gnn_swap *s, struct gnn_err *e) GNN_MUST_USE;
/* Begins a cycle. */
void gnn_swap_cycle(struct gnn_swap *s);
struct gnn_swap_stats gnn_swap_stats(struct gnn_swap *s);

#endif
