/* SPDX-License-Identifier: Apache-2.0 */
/* The few calls of MPI that a communicator needs. The real ones are in a plug-in
 * (lib/comm/calls_mpi.c), which alone is compiled and linked with MPI, and loaded on demand; tests
 * put ranks that are threads behind the same table. */
#ifndef GNN_LIB_COMM_MPI_H
#define GNN_LIB_COMM_MPI_H

#include <stddef.h>
#include <stdint.h>

enum { GNN_MPI_VERSION = 4 };
#define GNN_MPI_ANY UINT32_MAX /* sender, for probe */
#define GNN_MPI_SYMBOL "gnn_mpi"

struct gnn_mpi_place {
    uint32_t rank, size, local_rank, local_size;
};

/* `world` is what start made. Functions that return int: 0, or a negative number when MPI reports a
 * failure; requests are NULL then. Calls come one at a time, from any thread; kill at any time. */
struct gnn_mpi {
    uint32_t version; /* GNN_MPI_VERSION */
    uint32_t chunk;   /* bytes that a message may have at most */
    const char *name; /* of the MPI library */
    int (*start)(void **world, struct gnn_mpi_place *at);
    void (*finish)(void *world);
    void (*kill)(void *world, int status);
    /* Or NULL: from here on MPI itself prints nothing about ranks that are lost or end the job. */
    void (*silence)(void);
    /* At most `chunk` bytes, kept by the caller until the request is done. */
    void *(*send)(void *world, uint32_t to, uint32_t tag, const void *data, uint64_t bytes);
    /* 1: a message is there, which only _receive gets from now on; 0: none. */
    int (*probe)(void *world, uint32_t *from, uint32_t tag, void **message, uint64_t *bytes);
    void *(*receive)(void *world, void **message, void *data, uint64_t bytes);
    /* An all-reduce, in place, to the same bits on all ranks; kind: enum gnn_reduce. */
    void *(*reduce)(void *world, void *data, uint64_t n, int kind);
    int (*done)(void *world, void **request); /* 1, and *request is NULL; or 0 */
};

#endif
