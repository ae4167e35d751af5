/* SPDX-License-Identifier: Apache-2.0 */
/* The device runtime, for the files of lib/gpu and for what stages do on devices (gpu_*.c).
 *
 * Everything here is queued on streams by one host thread: a source keeps a few batches launched
 * and hands on the oldest (pipe.c). A function that launches makes its device the thread's first.
 */
#ifndef GNN_LIB_GPU_RUNTIME_H
#define GNN_LIB_GPU_RUNTIME_H

#include "lib/gpu/gpu.h"
#include "lib/gpu/dev.h"
#include "lib/base/mem.h"

/* A device in use. */
struct gpu_device {
    struct gnn_mem mem; /* of the device; first, so that a pointer to it is one to the device */
    unsigned number, multiprocessors;
    struct gpu_host *host; /* of the first: what gnn_gpu_host_open has opened */
    int pins;       /* of the first: whether memory of the heap can be pinned (lib/gpu/host.c) */
    bool ranks;     /* of the first: what is made with the devices is part of several ranks' work */
    unsigned asked; /* of enum gnn_gpu_asked */
    struct gpu_timeline *timeline; /* of the first; NULL: nobody asks for it */
};
/* Bits of what GNN_GPU_OFF in the environment switches off, so that runs with and without it can be
 * compared, and of the times that GNN_DEBUG_TIME asks for (asked.c). GNN_E_USAGE for a word that is
 * none of these. */
enum gnn_gpu_asked {
    GNN_GPU_OFF_PRIORITY = 1, /* "priority": all streams are equal */
    GNN_GPU_OFF_GATHER2 = 2, /* "gather2": gathering takes whole multiprocessors in training, too */
    GNN_GPU_TIME_OPERATIONS = 4, /* "operations" (lib/ops/gpu_time.c) */
    GNN_GPU_TIME_LINE = 8        /* "timeline" (timeline.c); "1" is both */
};
int gnn_gpu_asked_read(unsigned *asked, struct gnn_err *e) GNN_MUST_USE;
/* A stream of d, which becomes the thread's device. The small kernels of sampling, on which all
 * else waits, go first, gathering, which fills the device, last. */
int gnn_gpu_stream_new(const struct gpu_device *d, enum gnn_dev_priority priority, void **stream,
                       struct gnn_err *e) GNN_MUST_USE;
/* The memory of a device, as mem of struct gpu_device, and pinned memory of the host (memory.c). */
extern const struct gnn_mem gnn_gpu_device_memory, gnn_gpu_pinned;
/* Host memory that every device reaches at the same address; unpin takes NULL. GNN_E_NOMEM where
 * all that this process has pinned, together, would exceed what the system lets it have. Use these,
 * not gnn_dev_pin. Thread-safe. */
int gnn_gpu_pin(void **p, uint64_t bytes, const char *what, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_unpin(void *p);
/* The account alone, for memory that is pinned in another way: take comes before, give after. */
int gnn_gpu_pin_take(uint64_t bytes, const char *what, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_pin_give(uint64_t bytes);

/* Lets all devices read memory of the host: where it lies, or if the system refuses that, in a
 * pinned copy. *at: its address there. Once for all who ask for the same memory; close it as often
 * as it was opened. Empty memory needs neither, and NULL is not closed. s: the store that it
 * belongs to and that nobody reads it from again, so that it does not stay in the page cache beside
 * the copy; or NULL. */
struct gnn_store;
int gnn_gpu_host_open(struct gnn_gpu *g, struct gnn_store *s, const void *p, uint64_t bytes,
                      const char *what, const void **at, struct gnn_err *e) GNN_MUST_USE;
/* The host address of the pinned copy of p; NULL: devices read p in place. */
const void *gnn_gpu_host_copy(const struct gnn_gpu *g, const void *p);
void gnn_gpu_host_close(struct gnn_gpu *g, const void *p);

/* ---- the time line (timeline.c) ---- */

/* Begins d's time line if it is asked for; it is closed with the devices. */
int gnn_gpu_timeline_open(struct gpu_device *d, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_timeline_close(struct gpu_device *d);
int gnn_gpu_timeline(struct gnn_gpu *g, void (*each)(void *arg, const struct gnn_gpu_times *t),
                     void *arg, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_timeline_mark(struct gpu_timeline *t, enum gnn_gpu_work work, bool end,
                           const struct gnn_batch *b, void *stream);
/* Around what is put on `stream` of d for batch b. */
static inline void gnn_gpu_work_begin(const struct gpu_device *d, enum gnn_gpu_work work,
                                      const struct gnn_batch *b, void *stream)
{
    if (d->timeline)
        gnn_gpu_timeline_mark(d->timeline, work, false, b, stream);
}
static inline void gnn_gpu_work_end(const struct gpu_device *d, enum gnn_gpu_work work,
                                    const struct gnn_batch *b, void *stream)
{
    if (d->timeline)
        gnn_gpu_timeline_mark(d->timeline, work, true, b, stream);
}

/* ---- batches on devices ---- */

/* A place on the device, the thread's; free gets it when its batch goes. To be released on failure
 * too. */
int gnn_gpu_place_init(struct gnn_batch_place *p, unsigned device,
                       void (*free)(struct gnn_batch_place *p), struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_place_release(struct gnn_batch_place *p);
int gnn_gpu_place_new(unsigned device, struct gnn_batch_place **out,
                      struct gnn_err *e) GNN_MUST_USE;
/* An empty batch of d from the pool, which is of d alone. Work put on `stream` from now on comes
 * after the last reader of the batch's earlier contents. */
int gnn_gpu_batch_get(struct gpu_device *d, struct gnn_batch_pool *pool, void *stream,
                      struct gnn_batch **b, struct gnn_err *e) GNN_MUST_USE;
/* Sets to's typed view as from's, where tensor i of `to` is that of `from`, somewhere else. */
void gnn_gpu_batch_view(struct gnn_batch *to, const struct gnn_batch *from);
/* Begins a range in the profiler's time line, "STAGE EPOCH/STEP"; gnn_dev_range_end ends it. */
void gnn_gpu_range_begin(const char *stage, const struct gnn_batch *b);
/* The device in use that has this number. */
struct gpu_device *gnn_gpu_device_of(const struct gnn_gpu *g, const struct gnn_batch *b);

/* ---- sources with batches under way ---- */

/* A batch under way. The stage's own state of it, if it needs one, is an array beside: `index` is
 * the place. */
struct gpu_slot {
    struct gnn_batch *in, *out; /* put, if still there, when the stage has finished or failed */
    unsigned index;
    struct gpu_slot_event {
        const struct gpu_device *device;
        void *event;
    } of[GNN_GPU_MAX]; /* one for each device that this slot was used on: events are one device's */
    struct gpu_slot_event *done; /* the last, or NULL */
    int rc;                      /* of start */
    struct gnn_err err;
};
/* The end of start: what `stream` of d has to do so far is the work on this batch. */
int gnn_gpu_slot_done(struct gpu_slot *s, const struct gpu_device *d, void *stream,
                      struct gnn_err *e) GNN_MUST_USE;

/* The work of a source that keeps several batches in flight. start: takes a batch from `up` and
 * queues its work on streams without waiting; GNN_END at the end of `up`. finish: called when the
 * work is done, if start called gnn_gpu_slot_done; sets s->out, the batch that the source returns.
 * NULL: start has set it. end (may be NULL): called at the end of the stream, as in gnn_map_ops. */
struct gpu_pipe_ops {
    int (*start)(void *arg, struct gnn_source *up, struct gpu_slot *s, struct gnn_err *e);
    int (*finish)(void *arg, struct gpu_slot *s, struct gnn_err *e);
    int (*end)(void *arg, struct gnn_err *e);
    void (*arg_free)(void *arg);
    /* Whether a failure of start is reported at once, before the batches in flight. With several
     * ranks it must be: the others already wait for this rank's next batch, and this rank would
     * wait for them to finish the batches in flight. */
    bool at_once;
};
enum { GPU_DEPTH_MAX = 16 };
/* At most `depth` are under way. Takes over up and, through arg_free, arg, on failure too. */
struct gnn_source *gnn_gpu_pipe_new(struct gnn_source *up, const struct gnn_meta *meta,
                                    const struct gpu_pipe_ops *ops, void *arg, unsigned depth,
                                    struct gnn_err *e) GNN_MUST_USE;

/* ---- memory for other processes: as in lib/gpu/gpu.h ---- */

int gnn_gpu_id(struct gnn_gpu *g, unsigned device, uint64_t *id, struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_exportable(struct gnn_gpu *g, unsigned device, struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_export_batch(struct gnn_gpu *g, struct gnn_gpu_export **x, const struct gnn_batch *b,
                         struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_refer(const struct gnn_gpu_export *l, uint32_t i, struct gnb_reference *ref);
void gnn_gpu_export_free(struct gnn_gpu_export *l);
int gnn_gpu_import_tensor(struct gnn_gpu *g, struct gnn_gpu_import **x,
                          const struct gnb_reference *ref, const struct gnn_tensor *as,
                          struct gnn_tensors *set, unsigned *device,
                          struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_import_wait(struct gnn_gpu_import *d, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_import_free(struct gnn_gpu_import *d);
int gnn_gpu_place(struct gnn_gpu *g, unsigned device, struct gnn_batch *b,
                  struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_unused(struct gnn_gpu *g, const struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;

/* ---- the stages ---- */

struct gnn_source *gnn_gpu_upload_new(struct gnn_gpu *g, struct gnn_source *up,
                                      struct gnn_err *e) GNN_MUST_USE;
struct gnn_source *gnn_gpu_bring_new(struct gnn_gpu *g, struct gnn_source *up,
                                     struct gnn_err *e) GNN_MUST_USE;
struct gnn_source *gnn_gpu_fetch_new(struct gnn_gpu *g, struct gnn_source *up,
                                     bool (*keep)(void *arg, unsigned device), void *arg,
                                     struct gnn_err *e) GNN_MUST_USE;

#endif
