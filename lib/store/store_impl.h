/* SPDX-License-Identifier: Apache-2.0 */
/* A part of an open store, for open_store.c, which fills it, and store.c. */
#ifndef GNN_LIB_STORE_STORE_IMPL_H
#define GNN_LIB_STORE_STORE_IMPL_H

#include <pthread.h>

#include "lib/store/store.h"
#include "lib/store/verify.h"

struct gnn_part {
    char *path;
    const uint8_t *map;
    uint64_t bytes;
    uint32_t n, all; /* tensors of its own, and with those of the base store */
    struct gnn_tensor *tensor;
    const struct gnn_tensor **inherited; /* [all - n], in the order of the base store's file */
    const struct gnn_tensor **by_name;   /* [all] in the order of their names */
    char *names;                         /* all names, each NUL-terminated */
    uint8_t *queued;                     /* checksum job handed out */
    uint64_t hash;                       /* checksum of the tensor table */
    pthread_mutex_t lock;                /* of queued[] */
    struct gnn_verify *verify;
    uint64_t verified; /* only tensors of fewer bytes are; 0: all */
};

/* For qsort and bsearch: the order of by_name. */
int gnn_part_compare(const void *a, const void *b);

#endif
