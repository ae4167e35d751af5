/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/edges.h"

uint64_t gnn_edges_find(const struct gnn_edges *f)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->indptr[i] == f->indptr[i + 1])
            continue;
        const struct gnn_edges_of r = gnn_edges_of_node(f->part, f->nparts, f->dst[i]);
        for (uint32_t q = f->indptr[i]; q < f->indptr[i + 1]; q++) {
            f->row[q] = gnn_edges_row(&r, f->id[q]);
            missing += f->row[q] == UINT64_MAX;
        }
    }
    return missing;
}
