/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a folder of PyG's Partitioner, for the files that read it: pyg_parts.c, pyg_files.c,
 * pyg_types.c. */
#ifndef GNN_LIB_IMPORT_PYG_PARTS_IMPL_H
#define GNN_LIB_IMPORT_PYG_PARTS_IMPL_H

#include "formats/torch_file.h"
#include "lib/base/json.h"
#include "lib/import/read/input_impl.h"
#include "lib/import/read/pyg_parts.h"

struct pyg_part_files {
    const struct gnn_torch_file *graph, *nodes, *edges;
};

struct pyg_parts {
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
    uint64_t at;        /* of all parts so far */
};

/* Opens a member of the input, a file of torch.save, by its name; then one of the folder. */
int gnn_pyg_parts_open_member(struct pyg_parts *p, const struct gnn_torch_file **f,
                              const char *name, struct gnn_err *e) GNN_MUST_USE;
int gnn_pyg_parts_open_file(struct pyg_parts *p, const struct gnn_torch_file **f, struct gnn_err *e,
                            const char *fmt, ...) GNN_PRINTF(4, 5);
/* GNN_E_INPUT "FOLDER: META.json: WHAT". */
int gnn_pyg_parts_fail_meta(const struct pyg_parts *p, const char *what, struct gnn_err *e);
/* Adds the arrays of all types. */
int gnn_pyg_parts_add_types(struct pyg_parts *p, struct gnn_err *e) GNN_MUST_USE;

#endif
