/* GPUs, as the rest of the library and the programs see them. What works on them is behind a table, as a build without
 * CUDA does not have it. */
#ifndef GNN_LIB_GPU_H
#define GNN_LIB_GPU_H

#include "lib/source.h"

enum { GNN_GPU_MAX = 64 }; /* devices that one process works with */

struct gnn_gpu_ops;

/* The devices that a program works with. */
struct gnn_gpu {
    const struct gnn_gpu_ops *ops;
    unsigned n;
    unsigned device[GNN_GPU_MAX]; /* their numbers in this machine; the first is the one that trains */
    char name[64];                /* of the first */
    struct gpu_device *dev;       /* [n], of the back end */
};

/* Batches are made on the devices in turn, batch i on device i mod n, unless a function says otherwise. A batch that lies
 * on a device has a place (lib/batch.h). Sources take over `up`, on failure too, and return NULL then. The devices must
 * outlive them. */
struct gnn_gpu_ops {
    void (*close)(struct gnn_gpu *g);
    /* The same batches, in the memory of the devices; batches that lie there already stay. */
    struct gnn_source *(*upload)(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e);
    /* The same batches, in pinned memory of the host. */
    struct gnn_source *(*fetch)(struct gnn_gpu *g, struct gnn_source *up, struct gnn_err *e);
};

/* Opens the devices that `spec` names: "cuda" (the first), "cuda:0", "cuda:1,3", or "cpu", which gives *g = NULL. "auto" is
 * "cuda" if that can be had, else "cpu". why[room] then tells what was chosen, or is "". GNN_E_USAGE for
 * anything else, GNN_E_DEVICE if a device cannot be had. Nothing is looked for unless asked. Close takes NULL. */
int gnn_gpu_open(struct gnn_gpu **g, const char *spec, char *why, size_t room, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_close(struct gnn_gpu *g);

/* The back end: opens g->device[0 .. g->n), or with n = 0 the first that there is. Sets ops and name. */
int gnn_gpu_backend(struct gnn_gpu *g, struct gnn_err *e) GNN_MUST_USE;

#endif
