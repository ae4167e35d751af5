/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of NCCL that are used: sums and exchanges between devices of several processes.
 * nccl_cuda.c is the real one, which is loaded when it is first asked for; tests/emu/nccl_fake.cc
 * the same without a device.
 *
 * Nothing here waits: joining, leaving, and handing over a sum or an exchange go on after the call,
 * until gnn_nccl_busy says no, and only then may the next thing be asked for. Functions that return
 * int record GNN_E_DEVICE where NCCL cannot be had, and else GNN_E_RANK. One thread at a time, on
 * the device that was the thread's in gnn_nccl_new. */
#ifndef GNN_LIB_GPU_NCCL_H
#define GNN_LIB_GPU_NCCL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The id by which processes find each other: made by one of them, sent to all. */
struct gnn_nccl_id {
    unsigned char bytes[128];
};

/* path: the library, or NULL for the usual one. *version as 22809 for 2.28.9. *h, NULL on failure,
 * is freed by gnn_nccl_free. */
int gnn_nccl_new(void **h, const char *path, unsigned *version, struct gnn_err *e) GNN_MUST_USE;
int gnn_nccl_make_id(void *h, struct gnn_nccl_id *id, struct gnn_err *e) GNN_MUST_USE;
/* Begins to join the others: once for each h. */
int gnn_nccl_join(void *h, const struct gnn_nccl_id *id, uint32_t rank, uint32_t size,
                  struct gnn_err *e) GNN_MUST_USE;
/* Whether the last request is still in progress. Fails if anything has failed meanwhile, also in
 * all-reduces on streams. *other: the failure is another rank's, which reports the cause. */
int gnn_nccl_busy(void *h, bool *busy, bool *other, struct gnn_err *e) GNN_MUST_USE;
/* Sums n numbers (kind: enum gnn_reduce) over all ranks in the device's memory, in place, when the
 * stream comes to it. All ranks ask for the same sums in the same order. */
int gnn_nccl_all_reduce(void *h, void *data, uint64_t n, int kind, void *stream,
                        struct gnn_err *e) GNN_MUST_USE;
/* Sends out[r] to each rank r, itself included, and receives in[r] from it, in the device's memory,
 * when the stream comes to it: arrays of as many spans as there are ranks, read during the call.
 * Both ranks name the same number of bytes; of none, nothing is sent. */
struct gnn_span;
int gnn_nccl_exchange(void *h, const struct gnn_span *out, const struct gnn_span *in, void *stream,
                      struct gnn_err *e) GNN_MUST_USE;
/* Begins to leave, all sums being done, as the others do. */
int gnn_nccl_leave(void *h, struct gnn_err *e) GNN_MUST_USE;
/* Aborts this rank's operations; streams continue after them. Only _free may follow. */
void gnn_nccl_abort(void *h);
/* After leaving, or an abort, or without ever joining. Takes NULL. */
void gnn_nccl_free(void *h);

#ifdef __cplusplus
}
#endif

#endif
