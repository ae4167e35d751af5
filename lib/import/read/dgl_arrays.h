/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a file of DGL: of one graph that dgl.save_graphs wrote, under the names of their
 * types, or of a dictionary of tensors, under their own. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_ARRAYS_H
#define GNN_LIB_IMPORT_DGL_ARRAYS_H

#include "formats/dgl_file.h"
#include "lib/import/read/array_list.h"

/* Whether a file that begins so is one of DGL. */
bool gnn_dgl_arrays_begin(const uint8_t *p, size_t n);
/* Adds the arrays of the file at `path`, which is mapped, or, if path is NULL, of all bytes of s,
 * which are held in memory. Edges have the order of their ids. GNN_E_INPUT for several graphs. */
int gnn_dgl_arrays_add(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                       const char *name, struct gnn_err *e) GNN_MUST_USE;

/* Opens a file that lives as long as the list. */
int gnn_dgl_arrays_open(const struct gnn_dgl_file **f, struct gnn_array_list *l, const char *path,
                        struct gnn_stage *s, const char *name, struct gnn_err *e) GNN_MUST_USE;
/* Its only graph, which lives as long. */
int gnn_dgl_arrays_graph(const struct gnn_dgl_graph **g, struct gnn_array_list *l,
                         const struct gnn_dgl_file *f, const char *name,
                         struct gnn_err *e) GNN_MUST_USE;
/* Sources and destinations in the order of ids: where they lie in the file, or in memory that lives
 * as long as the list. `what` is the edge type for messages. */
int gnn_dgl_arrays_ends(struct gnn_strided end[2], struct gnn_array_list *l,
                        const struct gnn_dgl_etype *t, const char *name, const char *what,
                        struct gnn_err *e) GNN_MUST_USE;

/* Whether it is a name as options and stores have it. */
bool gnn_dgl_arrays_is_name(const char *name);
/* The name of a node type in stores: "node" for the only one of a graph that has no types. */
const char *gnn_dgl_arrays_type(const char *name);
/* "SRC/REL/DST" from the names of types, of which "_E" is "to"; free with gnn_free. GNN_E_INPUT for
 * names that stores cannot have. */
char *gnn_dgl_arrays_etype(const char *src, const char *rel, const char *dst, const char *file,
                           struct gnn_err *e) GNN_MUST_USE;
/* Whether a tensor of that name can be a field, of nodes or edges: not one that means something
 * else in lists of arrays. */
bool gnn_dgl_arrays_field(const char *name);

#endif
