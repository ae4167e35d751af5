/* SPDX-License-Identifier: Apache-2.0 */
/* One kind of leak, as it is counted. Not for use outside lib/inspect. */
#ifndef GNN_LIB_INSPECT_LEAK_H
#define GNN_LIB_INSPECT_LEAK_H

#include "formats/gnb.h"
#include "formats/tensor.h"
#include "lib/base/err.h"

struct gnn_leak {
    uint64_t count;
    char first[GNN_NAME_MAX + 256]; /* where the first is, if there is one */
};

/* One more; where it is, if it is the first. */
void gnn_leak_add(struct gnn_leak *l, const char *fmt, ...) GNN_PRINTF(2, 3);

#endif
