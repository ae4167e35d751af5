/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are kept in a temporary file without a name: written once, from the first byte to the
 * last, and read in any order, mapped. Their sums tell at the end whether they came back as they
 * were written. Private to lib/predict. Not thread-safe. */
#ifndef GNN_LIB_PREDICT_SPILL_H
#define GNN_LIB_PREDICT_SPILL_H

#include <stdint.h>

#include "lib/base/err.h"

struct gnn_spill;

/* A file of `bytes` bytes in the directory `dir`, which are reserved at once: GNN_E_RUN if the disk
 * does not have them. NULL on failure. */
struct gnn_spill *gnn_spill_new(const char *dir, uint64_t bytes, struct gnn_err *e) GNN_MUST_USE;
void *gnn_spill_data(const struct gnn_spill *s);
/* The next so many bytes are written, and do not change any more. */
void gnn_spill_written(struct gnn_spill *s, uint64_t bytes);
/* A file that grows by what is appended, and is mapped, and has data, after the last of it. */
struct gnn_spill *gnn_spill_begin(const char *dir, struct gnn_err *e) GNN_MUST_USE;
int gnn_spill_append(struct gnn_spill *s, const void *rows, uint64_t bytes,
                     struct gnn_err *e) GNN_MUST_USE;
int gnn_spill_end(struct gnn_spill *s, struct gnn_err *e) GNN_MUST_USE;
/* After the last read: GNN_E_RUN, naming the file and where, if what was written is not what is
 * there. Reads all of it, on OpenMP threads. Takes NULL. */
int gnn_spill_check(const struct gnn_spill *s, struct gnn_err *e) GNN_MUST_USE;
void gnn_spill_free(struct gnn_spill *s); /* takes NULL */

#endif
