/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs, as the rest of the library and the programs see them.
 *
 * gnn_gpu_open gives the caller an object to close after all sources that use it. A build without
 * CUDA has this header too, and opens no device. One thread at a time. */
#ifndef GNN_LIB_GPU_GPU_H
#define GNN_LIB_GPU_GPU_H

#include "lib/data/source.h"

enum { GNN_GPU_MAX = 64 }; /* devices that one process works with */

struct gnn_gpu_ops;
struct gnb_reference;  /* formats/gnb.h */
struct gnn_gpu_export; /* device memory that another process can open */
struct gnn_gpu_import; /* device memory of another process, opened here */

/* The devices that a program works with. */
struct gnn_gpu {
    const struct gnn_gpu_ops *ops;
    unsigned n;
    /* their numbers in this machine; the first is the one that trains */
    unsigned device[GNN_GPU_MAX];
    char name[64];          /* of the first */
    unsigned turn;          /* which to take if none is named */
    struct gpu_device *dev; /* [n], of the back end */
};

/* The work of a stream on a batch. */
enum gnn_gpu_work {
    GNN_GPU_SAMPLING,
    GNN_GPU_COPYING, /* from the host's memory */
    GNN_GPU_GATHERING,
    GNN_GPU_TRAINING, /* or evaluation */
    GNN_GPU_WORKS
};
/* When the first device, which trains, did it: milliseconds from when training on this batch began
 * there. */
struct gnn_gpu_times {
    uint64_t epoch, step;
    uint32_t split;
    double idle; /* of the training stream, since the batch before; 0 if that is not known */
    struct {
        bool known;        /* it was done there */
        double start, end; /* between two events of its stream */
        double beside;     /* of end - start, while the device trained on any batch */
    } of[GNN_GPU_WORKS];
};

/* The operations of the device runtime, as a table, so that a program built without CUDA needs none
 * of it.
 *
 * Batch i of a source is made on device i mod n unless a function says otherwise. A batch that lies
 * on a device has a placement (lib/data/batch.h). A function that takes a source takes it over,
 * also when it fails and returns NULL. The devices must outlive all sources made with them. */
struct gnn_gpu_ops {
    void (*close)(struct gnn_gpu *g);
    /* Copies batches that lie on the host to the devices; those on a device stay there. */
    struct gnn_source *(*upload)(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e);
    /* Copies all batches to the first device, also from other devices. */
    struct gnn_source *(*bring)(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e);
    /* Copies batches to pinned memory of the host, except those of devices for which keep returns
     * true (NULL: no exceptions). */
    struct gnn_source *(*fetch)(struct gnn_gpu *g, struct gnn_source *up,
                                bool (*keep)(void *arg, unsigned device), void *arg,
                                struct gnn_err *e);

    /* ---- device memory for another process of the host, by CUDA IPC (lib/stream/transport.h) ----
     */

    /* A number that tells the device, given by its number here, from all others of the host. */
    int (*id)(struct gnn_gpu *g, unsigned device, uint64_t *id, struct gnn_err *e);
    /* Fails if other processes cannot open memory of the device: some systems forbid it. Tries it
     * with a little memory; makes the device the thread's. */
    int (*exportable)(struct gnn_gpu *g, unsigned device, struct gnn_err *e);
    /* Copies b from its device to exported memory there and waits for the copy. *x, NULL at first,
     * keeps the memory for later batches; export_free frees it once no other process has it open
     * (NULL is fine). refer: where tensor i of b lies in it. */
    int (*export_batch)(struct gnn_gpu *g, struct gnn_gpu_export **x, const struct gnn_batch *b,
                        struct gnn_err *e);
    void (*refer)(const struct gnn_gpu_export *x, uint32_t i, struct gnb_reference *ref);
    void (*export_free)(struct gnn_gpu_export *x);
    /* The consumer's side: adds a tensor like `as` to set, in memory of the device on which ref
     * lies, and begins to copy it there; import_wait waits for all copies. *x, NULL at first, keeps
     * what was opened; import_free closes it (NULL is fine). GNN_E_INPUT if g does not have the
     * device. */
    int (*import_tensor)(struct gnn_gpu *g, struct gnn_gpu_import **x,
                         const struct gnb_reference *ref, const struct gnn_tensor *as,
                         struct gnn_tensors *set, unsigned *device, struct gnn_err *e);
    int (*import_wait)(struct gnn_gpu_import *x, struct gnn_err *e);
    void (*import_free)(struct gnn_gpu_import *x);
    /* place: says that all of b lies on the device. unused: waits until nothing reads b any more,
     * so that it can be filled again. */
    int (*place)(struct gnn_gpu *g, unsigned device, struct gnn_batch *b, struct gnn_err *e);
    int (*unused)(struct gnn_gpu *g, const struct gnn_batch *b, struct gnn_err *e);

    /* Waits for the work on the batches that the time line has, and shows each of them; none unless
     * GNN_DEBUG_TIME=1 in the environment has asked for it before operations were made. */
    int (*timeline)(struct gnn_gpu *g, void (*each)(void *arg, const struct gnn_gpu_times *t),
                    void *arg, struct gnn_err *e);
};

/* The precision of matrix products of f32: f32 itself, or inputs rounded to 11 or 8 bits and summed
 * up in f32. */
enum gnn_precision { GNN_PRECISION_F32, GNN_PRECISION_TF32, GNN_PRECISION_BF16 };

/* Why GPUs of two ranks of one host do not read each other's memory. */
enum gnn_gpu_apart {
    GNN_GPU_TOGETHER, /* all do, or each host has one rank */
    GNN_GPU_NO_PATH,  /* no NVLink, no peer access over PCIe */
    GNN_GPU_REFUSED,  /* the system shares no memory of GPUs between the processes */
    GNN_GPU_HIDDEN    /* one process does not see the other's GPU */
};

/* Opens the devices that `spec` names: "cuda" (the first), "cuda:0", "cuda:1,3", or "cpu", which
 * gives *g = NULL. "auto" is "cuda" if that can be had, else "cpu". why[capacity] then tells what
 * was chosen, or is "". GNN_E_USAGE for anything else, GNN_E_DEVICE if a device cannot be had.
 * Nothing is looked for unless asked. Close takes NULL. */
int gnn_gpu_open(struct gnn_gpu **g, const char *spec, char *why, size_t capacity,
                 struct gnn_err *e) GNN_MUST_USE;
/* As gnn_gpu_open, for one of several ranks: "cuda" is the device of the host whose number is that
 * of the rank on the host, modulo how many there are; a list is divided over the ranks of the host
 * as parts are over ranks, or, if they are more than devices, they take these in turn. */
struct gnn_comm;
int gnn_gpu_open_ranks(struct gnn_gpu **g, const char *spec, const struct gnn_comm *c, char *why,
                       size_t capacity, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_close(struct gnn_gpu *g);
/* How many devices: none is NULL. */
static inline unsigned gnn_gpu_count(const struct gnn_gpu *g)
{
    return g ? g->n : 0;
}

/* The back end: opens g->device[0 .. g->n), or with n = 0 the one of number `turn`, modulo how many
 * there are. Sets ops and name. */
int gnn_gpu_backend(struct gnn_gpu *g, struct gnn_err *e) GNN_MUST_USE;

#endif
