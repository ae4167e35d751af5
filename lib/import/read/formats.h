/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of the formats. Each takes over the input, on failure too, and answers with a data
 * set. */
#ifndef GNN_LIB_IMPORT_FORMATS_H
#define GNN_LIB_IMPORT_FORMATS_H

#include "lib/import/read/attach.h"
#include "lib/import/read/table.h"

typedef int gnn_open_fn(struct gnn_dataset **out, struct gnn_input *in,
                        const struct gnn_import_opts *o, struct gnn_err *e);
gnn_open_fn gnn_ogb_open;      /* OGB node property: CSV, binary, heterogeneous CSV */
gnn_open_fn gnn_npz_open;      /* .npz, a directory of .npy, a lone .npy */
gnn_open_fn gnn_edgelist_open; /* text tables: SNAP, CSV, and triples if not asked for by name */
gnn_open_fn gnn_mtx_open;      /* Matrix Market */
gnn_open_fn gnn_metis_open;    /* METIS graphs */
gnn_open_fn gnn_triples_open;  /* (head, relation, tail) words */

/* Triples as they were found to be read, by a look at the whole file; the reading is taken over. */
struct gnn_reading;
int gnn_triples_open_as(struct gnn_dataset **out, struct gnn_input *in,
                        const struct gnn_import_opts *o, struct gnn_reading *r,
                        struct gnn_err *e) GNN_MUST_USE;

#endif
