/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a folder of PyG's or GLT's Partitioner, for the files that read it: pyg_parts.c,
 * pyg_types.c and glt_parts.c, over pyg_files.c and pyg_rows.c. */
#ifndef GNN_LIB_IMPORT_PYG_PARTS_IMPL_H
#define GNN_LIB_IMPORT_PYG_PARTS_IMPL_H

#include "formats/torch_file.h"
#include "lib/base/json.h"
#include "lib/import/read/input_impl.h"
#include "lib/import/read/pyg_parts.h"

enum { PYG_PARTS_MAX = 65536 };

struct pyg_part_files {
    const struct gnn_torch_file *graph, *nodes, *edges;
};

struct pyg_type;
struct pyg_parts {
    /* how the writer names its files: META.json, node_MAP.pt, PART_NAME0/... */
    const char *meta_name, *map, *part_name;
    /* adds a type of nodes, and one of edges, of which `offset` are in the types before it */
    int (*add[2])(struct pyg_parts *p, struct pyg_type *t, uint64_t offset, struct gnn_err *e);
    struct gnn_array_list *l;
    const struct gnn_input *in;
    bool *used; /* members of the input that were read */
    char *root; /* the folder's name before that of its files, "" or "DIR/" */
    json_t *meta;
    bool hetero;
    uint32_t nparts;
    struct pyg_part_files *part; /* (nparts) */
};

/* A type of nodes or edges. */
struct pyg_type {
    char *prefix;       /* of its arrays' names: "node/", "author/writes/paper/" */
    const char *key[3]; /* of the parts' dicts, for a graph of several types */
    uint32_t nkeys;     /* 1, 3, or 0: there is one type */
    uint64_t n;         /* nodes or edges */
    uint64_t *order;    /* (n) where each is among the rows of all parts; held by the list */
    uint64_t *rows;     /* (parts) how many each part has; held by the list; NULL: all have n */
    uint64_t *told;     /* (parts) how many each has by the map; held by the list */
    uint64_t at;        /* of all parts so far */
};

/* Opens a member of the input, a file of torch.save, by its name; then one of the folder. */
int gnn_pyg_parts_open_member(struct pyg_parts *p, const struct gnn_torch_file **f,
                              const char *name, struct gnn_err *e) GNN_MUST_USE;
int gnn_pyg_parts_open_file(struct pyg_parts *p, const struct gnn_torch_file **f, struct gnn_err *e,
                            const char *fmt, ...) GNN_PRINTF(4, 5);
/* GNN_E_INPUT "FOLDER: META.json: WHAT". */
int gnn_pyg_parts_fail_meta(const struct pyg_parts *p, const char *what, struct gnn_err *e);

/* GNN_E_INPUT "FOLDER: part_0/FILE: NAME: WHY". */
int gnn_pyg_parts_fail_value(const struct pyg_parts *p, uint32_t part, const char *file,
                             const struct pyg_type *t, const char *name, const char *why,
                             struct gnn_err *e);
/* t->order and rows, for t->n ids that none has placed. */
int gnn_pyg_parts_begin_order(struct pyg_parts *p, struct pyg_type *t,
                              struct gnn_err *e) GNN_MUST_USE;
/* Notes that the next rows of a part have these ids, which begin at `offset`. */
int gnn_pyg_parts_place_ids(const struct pyg_parts *p, uint32_t part, const char *file,
                            struct pyg_type *t, const struct gnn_strided *ids, uint64_t offset,
                            struct gnn_err *e) GNN_MUST_USE;
/* Whether each of t->n ids has its place. */
int gnn_pyg_parts_check_all(const struct pyg_parts *p, const struct pyg_type *t, const char *what,
                            struct gnn_err *e) GNN_MUST_USE;
/* Adds rows of a part to the last array, or (`first`) as a new one. */
int gnn_pyg_parts_add_piece(struct pyg_parts *p, uint32_t part, const char *file,
                            const struct pyg_type *t, const struct gnn_strided *a, const char *name,
                            bool first, struct gnn_err *e) GNN_MUST_USE;
/* The part of each "node" or "edge": its rows are all there are, t->n. `keep`: it becomes the field
 * part. */
int gnn_pyg_parts_open_map(struct pyg_parts *p, struct pyg_type *t, const char *what, bool keep,
                           struct gnn_err *e) GNN_MUST_USE;
/* Adds the arrays of all types that p->meta has. */
int gnn_pyg_parts_add_types(struct pyg_parts *p, struct gnn_err *e) GNN_MUST_USE;

/* PyG's types of nodes and of edges. */
int gnn_pyg_parts_add_nodes(struct pyg_parts *p, struct pyg_type *t, uint64_t offset,
                            struct gnn_err *e) GNN_MUST_USE;
int gnn_pyg_parts_add_edges(struct pyg_parts *p, struct pyg_type *t, uint64_t offset,
                            struct gnn_err *e) GNN_MUST_USE;
/* Labels and sets beside the folder, with which p is done and released, also after the failure
 * `rc`. */
int gnn_pyg_parts_finish(struct pyg_parts *p, int rc, struct gnn_err *e) GNN_MUST_USE;

#endif
