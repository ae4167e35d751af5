/* SPDX-License-Identifier: Apache-2.0 */
/* The ids that nodes or edges had before DGL partitioned their graph, and how they come by them:
 * from a file, from files of the parts, or one by one. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_ORIGIN_H
#define GNN_LIB_IMPORT_DGL_ORIGIN_H

#include "lib/import/read/dgl_book.h"

/* Zeroed = unknown: ids stay as they are. */
struct gnn_dgl_origin {
    const struct gnn_dgl_ids *of;
    const char *what; /* "nodes" or "edges" */
    char *file;       /* what they are from, for messages */
    uint64_t **id;    /* (types) of each new id the original one; NULL: unknown */
    uint64_t **order; /* (types) the reverse, once gnn_dgl_origin_finish has made it */
};

/* Makes space for ids, all of them unknown yet; `file` is copied. */
int gnn_dgl_origin_make(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                        const char *file, struct gnn_err *e) GNN_MUST_USE;
void gnn_dgl_origin_release(struct gnn_dgl_origin *o);

/* Reads all of them from a file: a dictionary of tensors by types of DGL or of torch.save (whose
 * keys may be tuples), or one tensor or .npy, if there is one type. */
int gnn_dgl_origin_read(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                        const char *path, struct gnn_err *e) GNN_MUST_USE;
/* Reads them from files of that name beside the JSON, or beside the graph of each part. Nothing is
 * changed if there are none. */
int gnn_dgl_origin_find(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                        const struct gnn_dgl_book *b, const char *name,
                        struct gnn_err *e) GNN_MUST_USE;

/* The original id of an id of the type, below its count; the id itself if they are unknown. Of some
 * parts they may be known and of others not, which is refused. */
int gnn_dgl_origin_of(const struct gnn_dgl_origin *o, uint32_t type, uint64_t id,
                      uint64_t *original, struct gnn_err *e) GNN_MUST_USE;
/* Sets one. */
int gnn_dgl_origin_set(struct gnn_dgl_origin *o, uint32_t type, uint64_t id, int64_t original,
                       struct gnn_err *e) GNN_MUST_USE;
/* Checks that each original id is there once, and makes `order`. */
int gnn_dgl_origin_finish(struct gnn_dgl_origin *o, struct gnn_err *e) GNN_MUST_USE;

#endif
