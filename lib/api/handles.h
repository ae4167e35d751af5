/* SPDX-License-Identifier: Apache-2.0 */
/* The structs behind the pointers that public functions return. */
#ifndef GNN_LIB_API_HANDLES_H
#define GNN_LIB_API_HANDLES_H

#include "lib/base/mem.h"
#include "lib/data/source.h"
#include "lib/store/store.h"

struct gnn_graph {
    struct gnn_store s;
};

struct gnn_batches {
    struct gnn_source *src;
    struct gnn_err failed; /* with which the source has ended; all that asks it later fails so */
    char *header;          /* once it was asked for */
    int seeds;             /* where the source reads seeds from the other end; -1: it has its own */
    struct gnn_buf text;   /* of seeds */
    char *name;            /* of the file that is read, or NULL */
};

#endif
