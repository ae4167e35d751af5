/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of mapped tensors, checked by one background thread while the program works. */
#ifndef GNN_LIB_STORE_VERIFY_H
#define GNN_LIB_STORE_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct gnn_verify;

/* A tensor to be checked against its XXH3-64: its bytes in a file that is mapped as a whole. */
struct gnn_verify_job {
    const void *data;
    uint64_t bytes, sum;
    const char *file, *tensor; /* for the message */
    const void *map;
    uint64_t mapped;
};

/* NULL on failure. The thread starts with the first job, at a lower priority. */
struct gnn_verify *gnn_verify_new(struct gnn_err *e) GNN_MUST_USE;
/* Stops at once; jobs left are dropped. Takes NULL. */
void gnn_verify_free(struct gnn_verify *v);
/* Queues a check. Memory that the job refers to must outlive v. Thread-safe. A failure to queue is
 * remembered and told by gnn_verify_wait. */
void gnn_verify_add(struct gnn_verify *v, const struct gnn_verify_job *job);
/* Nobody else will read these bytes. True if no check of them is left; otherwise calls drop(arg,
 * ...) for each of their tensors when that has been checked, also while v is freed. */
bool gnn_verify_last(struct gnn_verify *v, const void *data, uint64_t bytes,
                     void (*drop)(const void *arg, const void *data, uint64_t bytes),
                     const void *arg) GNN_MUST_USE;
/* From now on, pages that have been checked leave the process; they are read again, from the page
 * cache, when they are used. */
void gnn_verify_keep_none(struct gnn_verify *v);
/* Waits for all jobs queued so far. GNN_E_INPUT with the first mismatch. */
int gnn_verify_wait(struct gnn_verify *v, struct gnn_err *e) GNN_MUST_USE;

#endif
