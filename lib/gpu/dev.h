/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the CUDA runtime that are used, and nothing more: devices, memory, streams,
 * events, graphs, peers. dev_cuda.c is the real one, tests/emu/dev_fake.cc the same without a
 * device.
 *
 * Streams, events and graphs are opaque; NULL is no stream. Functions make memory, streams and
 * events on the thread's device, and kernels go to streams of that device. Functions that return
 * int record GNN_E_DEVICE, or GNN_E_NOMEM, with what failed; a kernel's failure comes out at any
 * later call. Thread-safe, except graphs. */
#ifndef GNN_LIB_GPU_DEV_H
#define GNN_LIB_GPU_DEV_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gnn_dev_info {
    char name[64];
    int major, minor; /* compute capability */
    int least;        /* ten times the least that this build has code for */
    unsigned multiprocessors;
    uint64_t bytes, free; /* of memory */
};

/* Devices of this machine. With none, or no driver: GNN_E_DEVICE and the reason. */
int gnn_dev_count(unsigned *n, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_ask(unsigned device, struct gnn_dev_info *info, struct gnn_err *e) GNN_MUST_USE;
/* The id of a device, unique on this host and the same in every process. */
int gnn_dev_id(unsigned device, uint64_t *id, struct gnn_err *e) GNN_MUST_USE;
/* Versions of CUDA, 1000 times the major one: the newest that the driver knows, and the runtime's.
 */
int gnn_dev_versions(int *driver, int *runtime, struct gnn_err *e) GNN_MUST_USE;
/* Makes it the thread's device. */
int gnn_dev_use(unsigned device, struct gnn_err *e) GNN_MUST_USE;

/* Device memory, aligned to 256, contents undefined. Freeing, here and below, waits for all
 * work of the device, or of all devices if they reach the memory; takes NULL. */
int gnn_dev_alloc(void **p, uint64_t bytes, const char *what, struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_free(void *p);
/* Host memory that every device reaches at the same address. */
int gnn_dev_pin(void **p, uint64_t bytes, const char *what, struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_unpin(void *p);
/* The limit, in bytes, of this process's pinned host memory: to pin more, the system may have to
 * kill processes. */
uint64_t gnn_dev_pinnable(void);
/* Lets every device read host memory that exists already, whole pages that are ours to write, or
 * else pages of a file that is only read; *at is its address there. Fails where the system does not
 * allow it, as few do for files. */
int gnn_dev_map(const void *p, uint64_t bytes, bool ours, const void **at,
                struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_unmap(const void *p);

/* Freeing waits for the work on it; takes NULL. */
int gnn_dev_stream_new(void **stream, struct gnn_err *e) GNN_MUST_USE;
/* A stream whose waiting kernels start before those of a lower priority; running kernels are not
 * preempted. gnn_dev_stream_new makes a stream of low priority. */
enum gnn_dev_priority { GNN_DEV_LOW, GNN_DEV_HIGH, GNN_DEV_HIGHEST };
int gnn_dev_stream_at(enum gnn_dev_priority priority, void **stream,
                      struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_stream_wait(void *stream,
                        struct gnn_err *e) GNN_MUST_USE; /* the caller waits for all work on it */
void gnn_dev_stream_free(void *stream);

int gnn_dev_event_new(void **event, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_event_timed(void **event, struct gnn_err *e)
    GNN_MUST_USE; /* one that also keeps the time, which costs a little */
void gnn_dev_event_free(void *event);
/* The event happens when the work on the stream, one of its device, so far is done. Waiting for one
 * that was never recorded is no wait. */
int gnn_dev_event_record(void *event, void *stream, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_event_wait(void *event, struct gnn_err *e) GNN_MUST_USE; /* the caller */
/* Has it happened? */
int gnn_dev_event_done(void *event, bool *done, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_event_after(void *stream, void *event,
                        struct gnn_err *e) GNN_MUST_USE; /* the stream's later work */
/* Milliseconds from one to the other; both are timed and have happened. */
int gnn_dev_event_ms(void *from, void *to, float *ms, struct gnn_err *e) GNN_MUST_USE;

/* Any direction, also between devices. Asynchronous: what is copied stays as it is until the stream
 * has got there. Only a copy to memory of the host that is not pinned has been made on return. */
int gnn_dev_copy(void *to, const void *from, uint64_t bytes, void *stream,
                 struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_set(void *to, int byte, uint64_t bytes, void *stream, struct gnn_err *e) GNN_MUST_USE;

/* Captures a graph: kernels, copies and sets put on the stream between begin and end are not done
 * but kept, with all arguments, to be done at each launch. Other streams do not take part. */
int gnn_dev_graph_begin(void *stream, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_graph_end(void *stream, void **graph, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_graph_launch(void *graph, void *stream, struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_graph_free(void *graph);

/* Can `device` read the memory of `peer`? After _peer_open its kernels may. */
bool gnn_dev_peer(unsigned device, unsigned peer);
int gnn_dev_peer_open(unsigned device, unsigned peer, struct gnn_err *e) GNN_MUST_USE;

/* Device memory for another process of this host: a handle of what gnn_dev_alloc returned, and the
 * memory there, of at most so many bytes. The process that allocated it must keep it until the
 * other has closed. */
struct gnn_dev_handle {
    unsigned char bytes[64];
};
int gnn_dev_export(const void *p, struct gnn_dev_handle *h, struct gnn_err *e) GNN_MUST_USE;
int gnn_dev_import(const struct gnn_dev_handle *h, void **p, uint64_t *bytes,
                   struct gnn_err *e) GNN_MUST_USE;
void gnn_dev_import_close(void *p);

/* After kernels were put on a stream: whether they could be. With GNN_DEBUG_SYNC=1 in the
 * environment it waits for them, so that a failure is found where it happens. `what` names them. */
int gnn_dev_launched(const char *what, struct gnn_err *e) GNN_MUST_USE;
/* Whether GNN_DEBUG_SYNC=1 is set: kernels should then not be captured into graphs. */
bool gnn_dev_debugging(void);

/* A named range in the profiler's time line; they nest. */
void gnn_dev_range_begin(const char *name);
void gnn_dev_range_end(void);

#ifdef __cplusplus
}
#endif

#endif
