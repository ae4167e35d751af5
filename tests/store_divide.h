/* SPDX-License-Identifier: Apache-2.0 */
/* A store of several parts of one, with nodes dealt out at random. */
#ifndef GNN_TESTS_STORE_DIVIDE_H
#define GNN_TESTS_STORE_DIVIDE_H

#include <stdlib.h>

#include "lib/partition/partition.h"
#include "lib/store/write.h"

/* halo_edges: parts get the in-edges of their halo's nodes. Returns 0 or the status in e. */
static int store_divide(const char *from, const char *to, uint32_t k, bool halo_edges,
                        struct gnn_err *e)
{
    struct gnn_store s = {0};
    struct gnn_view v = {0};
    struct gnn_layout l = {0};
    struct gnn_store_writer w = {0};
    struct gnn_meta meta = {0};
    uint32_t *part = NULL;
    int rc = gnn_store_open(&s, from, true, e);
    if (!rc)
        rc = gnn_view_init(&v, &s, e);
    if (!rc)
        rc = gnn_meta_copy(&meta, &s.meta, e);
    uint64_t *sets = calloc((size_t)k * (meta.schema.nsets + 1), sizeof *sets);
    struct gnn_part_figures *fig = calloc(k, sizeof *fig);
    for (uint32_t p = 0; p < k; p++)
        fig[p].set = sets + (size_t)p * meta.schema.nsets;
    if (!rc && (part = calloc(v.nvertices, sizeof *part)))
        gnn_assign_random(&v, k, 5, part);
    meta.schema.nparts = k;
    if (!rc)
        rc = gnn_layout_init(&l, &v, k, part, e);
    l.halo_edges = halo_edges;
    if (!rc)
        rc = gnn_store_create(&w, to, &meta, true, e);
    if (!rc)
        rc = gnn_layout_write(&l, &w, 1, fig, NULL, NULL, e);
    if (!rc)
        rc = gnn_store_commit(&w, e);
    gnn_store_abandon(&w);
    gnn_layout_release(&l);
    gnn_meta_release(&meta);
    gnn_view_release(&v);
    gnn_store_close(&s);
    free(sets);
    free(fig);
    free(part);
    return rc;
}

#endif
