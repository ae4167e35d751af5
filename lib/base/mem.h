/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: every allocation of lib/ goes through here, so that sizes are checked and faults
 * testable. */
#ifndef GNN_LIB_BASE_MEM_H
#define GNN_LIB_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

/* Space for n elements of `size` bytes, contents undefined (_zero: zeroed): 64-byte aligned, or, of
 * less than 64 bytes, aligned for any type. Never NULL on success, even for n = 0. Large blocks are
 * on huge pages if the system has some: they are mostly read in random order. On failure (overflow
 * included) returns NULL and records GNN_E_NOMEM with `what`. Free with gnn_free. */
void *gnn_alloc(uint64_t n, size_t size, const char *what, struct gnn_err *e) GNN_MUST_USE;
void *gnn_alloc_zero(uint64_t n, size_t size, const char *what, struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL; keeps errno. */
void gnn_free(void *p);

/* A heap copy of s, or of printf-formatted text; NULL and GNN_E_NOMEM on failure. */
char *gnn_strdup(const char *s, struct gnn_err *e) GNN_MUST_USE;
char *gnn_strf(struct gnn_err *e, const char *fmt, ...) GNN_PRINTF(2, 3) GNN_MUST_USE;

/* A kind of memory other than the heap: pinned, or a device's, which the host cannot touch. */
struct gnn_mem {
    void *(*alloc)(const struct gnn_mem *m, uint64_t bytes, const char *what,
                   struct gnn_err *e); /* NULL on failure */
    void (*free)(const struct gnn_mem *m, void *p);
};

/* the heap, for tensors that must not move to memory that others map (lib/data/tensors.h) */
extern const struct gnn_mem gnn_mem_heap;

/* A growable, reusable block. Zeroed object = empty. Contents survive growth; the block may move.
 */
struct gnn_buf {
    void *data;
    uint64_t cap; /* bytes */
};
/* Makes space for n*size bytes; grows by at least half so that repeated calls are amortised. */
int gnn_buf_reserve(struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                    struct gnn_err *e) GNN_MUST_USE;
/* As gnn_buf_reserve, for contents that are written anew: a block that grows is not copied, and
 * gets an eighth more than asked, so that batches of about one size fit after the first. */
int gnn_buf_fit(struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                struct gnn_err *e) GNN_MUST_USE;
/* As gnn_buf_fit, with just as much as is asked, for blocks whose size is known. */
int gnn_buf_fit_exactly(struct gnn_buf *b, uint64_t n, size_t size, const char *what,
                        struct gnn_err *e) GNN_MUST_USE;
void gnn_buf_release(struct gnn_buf *b);
/* gnn_buf_fit and gnn_buf_release for memory of kind m; NULL is the heap. A block is always of one
 * kind. */
int gnn_buf_fit_in(const struct gnn_mem *m, struct gnn_buf *b, uint64_t n, size_t size,
                   const char *what, struct gnn_err *e) GNN_MUST_USE;
void gnn_buf_release_in(const struct gnn_mem *m, struct gnn_buf *b);

/* Makes space for element n of the array that *array points to (void **, of any object type),
 * zeroed; the array moves. Its space follows from n, so it must have grown this way from NULL and
 * 0. Release with gnn_free. */
int gnn_grow(void *array, uint64_t n, size_t size, const char *what,
             struct gnn_err *e) GNN_MUST_USE;

/* Bytes of a page of the system: 4 KiB, or 16 or 64 KiB on some ARM machines. Mappings, and their
 * places in files, begin with a whole page. */
uint64_t gnn_page_size(void);
/* Bytes that the system has read from disks for this process; 0 if it does not say. */
uint64_t gnn_mem_read(void);
/* Whether this process may have no more than so much address space or data (setrlimit); and whether
 * so many bytes could be had now, of which nothing is kept. */
bool gnn_mem_limited(void);
bool gnn_mem_space(uint64_t bytes);
/* Resident size of this process, in bytes; 0: unknown. */
uint64_t gnn_mem_resident(void);
/* Highest resident size of this process so far, in bytes. */
uint64_t gnn_mem_peak(void);

#endif
