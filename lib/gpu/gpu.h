/* GPUs, as the rest of the library and the programs see them. What works on them is behind a table,
 * as a build without CUDA does not have it. */
#ifndef GNN_LIB_GPU_GPU_H
#define GNN_LIB_GPU_GPU_H

#include "formats/gnb.h"
#include "lib/data/source.h"

enum { GNN_GPU_MAX = 64 }; /* devices that one process works with */

struct gnn_gpu_ops;
struct gnn_gpu_loan; /* device memory that another process opens */
struct gnn_gpu_debt; /* what was opened of another's */

/* The devices that a program works with. */
struct gnn_gpu {
    const struct gnn_gpu_ops *ops;
    unsigned n;
    unsigned
        device[GNN_GPU_MAX]; /* their numbers in this machine; the first is the one that trains */
    char name[64];           /* of the first */
    unsigned turn;           /* which to take if none is named */
    struct gpu_device *dev;  /* [n], of the back end */
};

/* Batches are made on the devices in turn, batch i on device i mod n, unless a function says
 * otherwise. A batch that lies on a device has a place (lib/data/batch.h). Sources take over `up`,
 * on failure too, and return NULL then. The devices must outlive them. */
struct gnn_gpu_ops {
    void (*close)(struct gnn_gpu *g);
    /* The same batches, in the memory of the devices; batches that lie there already stay. */
    struct gnn_source *(*upload)(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e);
    /* The same, all in the memory of the first device, also those that lie on another one. */
    struct gnn_source *(*bring)(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e);
    /* The same batches, in pinned memory of the host; but those for which keep, unless it is NULL,
     * is true stay. */
    struct gnn_source *(*fetch)(struct gnn_gpu *g, struct gnn_source *up,
                                bool (*keep)(void *arg, unsigned device), void *arg,
                                struct gnn_err *e);

    /* ---- handing off to another process of the host (lib/stream/transport.h) ---- */

    /* What tells a device, by its number here, from all others. */
    int (*id)(struct gnn_gpu *g, unsigned device, uint64_t *id, struct gnn_err *e);
    /* Fails if other processes cannot open memory there, as the system may not let them. Tries with
     * a little of it; makes it the thread's device. */
    int (*lends)(struct gnn_gpu *g, unsigned device, struct gnn_err *e);
    /* Copies what b has on its device to memory that another process can open, and waits until it
     * is there. *loan, NULL at first, keeps that memory for later batches. refer: where tensor i of
     * b lies. loan_free when no other process has the memory open any more; takes NULL. */
    int (*lend)(struct gnn_gpu *g, struct gnn_gpu_loan **loan, const struct gnn_batch *b,
                struct gnn_err *e);
    void (*refer)(const struct gnn_gpu_loan *loan, uint32_t i, struct gnb_reference *ref);
    void (*loan_free)(struct gnn_gpu_loan *loan);
    /* The other side: adds a tensor like `as` to a set, in memory of the device that ref leads to,
     * and begins to copy it there; `borrowed` waits for the copies. *debt, NULL at first, keeps
     * what was opened; debt_free takes NULL. GNN_E_INPUT for a device that is not among g's. */
    int (*borrow)(struct gnn_gpu *g, struct gnn_gpu_debt **debt, const struct gnb_reference *ref,
                  const struct gnn_tensor *as, struct gnn_tensors *set, unsigned *device,
                  struct gnn_err *e);
    int (*borrowed)(struct gnn_gpu_debt *debt, struct gnn_err *e);
    void (*debt_free)(struct gnn_gpu_debt *debt);
    /* Gives b a place on the device, all of it being there; waits until nobody reads b any more,
     * which is to be filled anew. */
    int (*place)(struct gnn_gpu *g, unsigned device, struct gnn_batch *b, struct gnn_err *e);
    int (*unused)(struct gnn_gpu *g, const struct gnn_batch *b, struct gnn_err *e);
};

/* What matrix products of f32 are made of: f32 itself, or inputs rounded to 11 or 8 bits and summed
 * up in f32. */
enum gnn_precision { GNN_PRECISION_F32, GNN_PRECISION_TF32, GNN_PRECISION_BF16 };

/* Why GPUs of two ranks of one host do not read each other's memory. */
enum gnn_gpu_apart {
    GNN_GPU_TOGETHER, /* they do, all of them, or there is one rank a host */
    GNN_GPU_NO_PATH,  /* no NVLink, no peer access over PCIe */
    GNN_GPU_REFUSED,  /* the system shares no memory of GPUs between the processes */
    GNN_GPU_HIDDEN    /* one process does not see the other's GPU */
};

/* Opens the devices that `spec` names: "cuda" (the first), "cuda:0", "cuda:1,3", or "cpu", which
 * gives *g = NULL. "auto" is "cuda" if that can be had, else "cpu". why[room] then tells what was
 * chosen, or is "". GNN_E_USAGE for anything else, GNN_E_DEVICE if a device cannot be had. Nothing
 * is looked for unless asked. Close takes NULL. */
int gnn_gpu_open(struct gnn_gpu **g, const char *spec, char *why, size_t room,
                 struct gnn_err *e) GNN_MUST_USE;
/* The same for one of several ranks: "cuda" is the device of the host whose number is that of the
 * rank on the host, modulo how many there are; a list is divided over the ranks of the host as
 * parts are over ranks, or, if they are more than devices, they take these in turn. */
struct gnn_comm;
int gnn_gpu_open_ranks(struct gnn_gpu **g, const char *spec, const struct gnn_comm *c, char *why,
                       size_t room, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_close(struct gnn_gpu *g);

/* The back end: opens g->device[0 .. g->n), or with n = 0 the one of number `turn`, modulo how many
 * there are. Sets ops and name. */
int gnn_gpu_backend(struct gnn_gpu *g, struct gnn_err *e) GNN_MUST_USE;

#endif
