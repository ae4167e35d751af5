/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is moved to a file while it is not in use, for work that goes through more memory
 * than there is in the same order again and again.
 *
 * A buffer keeps its address. It is in memory while it is held; between two turns it may be
 * written to the file, by direct I/O where the file system supports that, and its pages are given
 * back. Reading a buffer that is not held ends the process with SIGSEGV instead of giving wrong
 * numbers.
 *
 * Work comes in cycles (gnn_swap_cycle), each of turns: hold what the turn needs, use it, drop all
 * of it. What was held in the last cycle tells what will be needed next, so threads read ahead, and
 * what is needed last goes first (Belady 1966). The first cycle, and turns that come in another
 * order, are slower, but right.
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
    /* The smallest limit that would have been enough, with its own margin: the bytes held in a
     * turn, and the memory that the process has besides. */
    uint64_t least;
    uint64_t margin; /* of that limit: bytes that stay free */
    double waited;   /* seconds in which gnn_swap_hold, _fit and _drop waited */
    bool direct;     /* false: the file system has no direct I/O, the page cache is used */
};

/* The file has no name and lies in the directory of `beside`. limit: bytes that the process may
 * have in memory, with all that it has besides. NULL on failure. With GNN_DEBUG_SWAP=1 in the
 * environment nothing stays in memory between turns, whatever the limit, not even small buffers,
 * and what is held to be read cannot be written to: a turn that uses what it does not hold ends in
 * a test. */
struct gnn_swap *gnn_swap_new(const char *beside, uint64_t limit, struct gnn_err *e) GNN_MUST_USE;
void gnn_swap_free(struct gnn_swap *s); /* takes NULL; the buffers are gone */

/* As gnn_buf_fit; the buffer is held. Small buffers are of the heap, where they stay: only
 * gnn_swap_release knows which. GNN_E_NOMEM if what is held, and what the process has besides,
 * small buffers among it, leave no room within the limit (after _begin); GNN_E_RUN if the file
 * cannot be written. The same is true for hold and drop. */
int gnn_swap_fit(struct gnn_swap *s, struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                 struct gnn_err *e) GNN_MUST_USE;
void gnn_swap_release(struct gnn_swap *s, struct gnn_buf *b);
/* Takes buffers of the heap, and empty ones, too. change: it may be written to. */
int gnn_swap_hold(struct gnn_swap *s, const struct gnn_buf *b, bool change,
                  struct gnn_err *e) GNN_MUST_USE;
/* _let: holds the buffer no longer, before the turn ends. _forget also gives up its contents, so
 * that they are not written to the file; it takes buffers that are not held, too. */
void gnn_swap_let(struct gnn_swap *s, const struct gnn_buf *b);
void gnn_swap_forget(struct gnn_swap *s, const struct gnn_buf *b);
/* Ends a turn: nothing is held. */
int gnn_swap_drop(struct gnn_swap *s, struct gnn_err *e) GNN_MUST_USE;
/* Makes room for so many bytes that the process is about to take besides the buffers of s. */
int gnn_swap_reserve(struct gnn_swap *s, uint64_t bytes, struct gnn_err *e) GNN_MUST_USE;
/* Sets the bytes of the limit that stay free for memory that comes and goes within a turn, such as
 * pages of mapped files. 0 at first. */
void gnn_swap_set_aside(struct gnn_swap *s, uint64_t bytes);
/* The limit is only kept as far as possible at first: bytes that a turn holds beyond it are
 * counted. After _rehearse, buffers without contents do not get any memory either: they can be
 * held, but must not be touched. _begin: GNN_E_NOMEM, naming the smallest limit that is enough for
 * all turns so far, if this one is not; after that it is kept. */
void gnn_swap_rehearse(struct gnn_swap *s);
int gnn_swap_begin(struct gnn_swap *s, struct gnn_err *e) GNN_MUST_USE;
/* Begins a cycle. */
void gnn_swap_cycle(struct gnn_swap *s);
struct gnn_swap_stats gnn_swap_stats(struct gnn_swap *s);

#endif
