/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that write a folder of DGL (lib/partition/dgl_layout.h). Not for use outside
 * lib/partition. */
#ifndef GNN_LIB_PARTITION_DGL_FOLDER_H
#define GNN_LIB_PARTITION_DGL_FOLDER_H

#include "formats/dgl_write.h"
#include "lib/base/io.h"
#include "lib/base/temp.h"
#include "lib/store/store.h"

/* In-edges of an edge type in a part. */
struct gnn_dgl_in {
    const uint64_t *indptr;
    const uint32_t *indices;
};

/* A folder that is being written. */
struct gnn_dgl_folder {
    struct gnn_store *store;
    const struct gnn_schema *schema;
    struct gnn_temp *temp;
    /* Nodes and edges are numbered through over all types: by part, then by type. [nparts * types
     * + 1] the first of each type in each part. */
    uint64_t *node_from, *edge_from;
    struct gnn_dgl_in *in; /* [nparts * netypes] */
    /* [nntypes] -> id -> its place among the copies of its type in the part that is written;
     * UINT32_MAX: it has none */
    uint32_t **copy;
    char *buffer; /* of the file that is written */
};

static inline uint64_t gnn_dgl_node_from(const struct gnn_dgl_folder *f, uint32_t part, uint32_t t)
{
    return f->node_from[(uint64_t)part * f->schema->nntypes + t];
}
static inline uint64_t gnn_dgl_edge_from(const struct gnn_dgl_folder *f, uint32_t part, uint32_t t)
{
    return f->edge_from[(uint64_t)part * f->schema->netypes + t];
}
static inline const struct gnn_dgl_in *gnn_dgl_in_of(const struct gnn_dgl_folder *f, uint32_t part,
                                                     uint32_t et)
{
    return &f->in[(uint64_t)part * f->schema->netypes + et];
}

/* ---- dgl_stream.c: a file of the folder ---- */
struct gnn_dgl_stream {
    struct gnn_dgl_to to; /* what is put goes to the file */
    struct gnn_io io;
    char *path, *buffer;
    uint64_t n;
    struct gnn_err *e;
};
enum { GNN_DGL_BUFFER = 1 << 20 };
/* Creates DIR/NAME in the folder; `name` may begin with that of a folder in it. */
int gnn_dgl_stream_open(struct gnn_dgl_stream *s, const struct gnn_dgl_folder *f, const char *name,
                        struct gnn_err *e) GNN_MUST_USE;
/* Ends it, after rc says whether all is written; returns rc, or its own failure. */
int gnn_dgl_stream_close(struct gnn_dgl_stream *s, int rc) GNN_MUST_USE;
static inline int gnn_dgl_put_i64(const struct gnn_dgl_to *to, int64_t v)
{
    return to->put(to->arg, &v, sizeof v);
}
/* A file with a dictionary of tensors. */
int gnn_dgl_stream_tensors(const struct gnn_dgl_folder *f, const char *name,
                           const struct gnn_dgl_column *c, uint64_t n,
                           struct gnn_err *e) GNN_MUST_USE;

/* ---- dgl_words.c: names ---- */
/* The name of a field, and of a type. */
const char *gnn_dgl_field(const char *field);
const char *gnn_dgl_ntype(const struct gnn_schema *c, uint32_t t);
/* "SRC:REL:DST", to be freed with gnn_free. */
char *gnn_dgl_etype(const struct gnn_schema *c, uint32_t et, struct gnn_err *e) GNN_MUST_USE;
/* Sets that are masks: those of the first split of nodes. The mask of set number i, or NULL. */
const char *gnn_dgl_mask(const struct gnn_schema *c, uint32_t i);
/* The type of elements that a field has: one that PyTorch has. */
enum gnn_dtype gnn_dgl_dtype(const struct gnn_schema *c, bool edges, uint32_t type,
                             const struct gnn_field *f);
/* Whether the field is left out, since it follows from others. */
bool gnn_dgl_derives(const struct gnn_etype *t, const struct gnn_field *f);

/* ---- of a part ---- */
/* Writes graph.dgl (dgl_graph_out.c), and node_feat.dgl and edge_feat.dgl (dgl_columns.c). */
int gnn_dgl_write_part_graph(const struct gnn_dgl_folder *f, uint32_t part,
                             struct gnn_err *e) GNN_MUST_USE;
int gnn_dgl_write_part_columns(const struct gnn_dgl_folder *f, uint32_t part, bool edges,
                               struct gnn_err *e) GNN_MUST_USE;

#endif
