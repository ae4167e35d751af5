/* SPDX-License-Identifier: Apache-2.0 */
/* A data set that is being imported: what the readers and generators offer and what the builder
 * reads, in as many passes as it likes. Nothing here holds all edges or all features in memory. */
#ifndef GNN_LIB_IMPORT_DATASET_H
#define GNN_LIB_IMPORT_DATASET_H

#include "lib/data/schema.h"

/* n edges in input order, ids below the counts of their types; field[i] has n rows of the edge
 * type's field i, or field is NULL when fields were not asked for. Valid during the call only. */
struct gnn_edge_chunk {
    uint64_t n;
    const uint32_t *src, *dst;
    const void *const *field;
};
typedef int gnn_edge_fn(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e);
/* The next n rows of a node field. */
typedef int gnn_rows_fn(void *arg, const void *rows, uint64_t n, struct gnn_err *e);

struct gnn_nodeids;
struct gnn_dataset;
struct gnn_dataset_ops {
    /* Calls fn on all edges of the type; every call of edges yields the same sequence. */
    int (*edges)(struct gnn_dataset *d, uint32_t etype, bool fields, gnn_edge_fn *fn, void *arg,
                 struct gnn_err *e);
    /* Calls fn on all rows of a node field, in order of node ids. */
    int (*rows)(struct gnn_dataset *d, uint32_t ntype, uint32_t field, gnn_rows_fn *fn, void *arg,
                struct gnn_err *e);
    /* Fills ids, which has space for schema.set[set].count; the builder checks ranges. */
    int (*set)(struct gnn_dataset *d, uint32_t set, uint32_t *ids, struct gnn_err *e);
    void (*free)(struct gnn_dataset *d);
};

struct gnn_dataset {
    const struct gnn_dataset_ops *ops;
    struct gnn_schema schema;      /* etype.count: input edges, 0 if not known before a pass */
    const struct gnn_nodeids *ids; /* [nntypes] finished, the reader's; NULL: counts */
    const char *format;            /* such as "ogb", "rmat" */
    const char *name;              /* of the input, for messages */
    /* While ops.rows calls fn: the file or member that its rows come from, or NULL, and whether
     * they are in it one by one, in the order of nodes. NULL and false of other data sets than
     * those of files. */
    const char *from;
    bool in_order;
    bool mirror; /* each edge stands for both directions */
    /* Mirror follows from how the file looks: not if edges turn out to have their reverse. */
    bool guessed;
    bool made; /* by a generator: edges come quickly */
    /* The direction of edges as the format or the file tells it, for people; NULL: it does not. */
    const char *says;
    char **note; /* [nnotes] what users should know of how it was read; owned */
    uint32_t nnotes;
};

/* Adds a line for the user, without the program's name or a newline; one that is there already is
 * not added again. The data set may be read several times, with the same notes each time. */
int gnn_dataset_note(struct gnn_dataset *d, struct gnn_err *e, const char *fmt, ...)
    GNN_PRINTF(3, 4);
/* While ops.rows calls fn, for messages: the file that its rows come from, and where in it the row
 * of a node is: "row 3" or, of rows that are found by id, "node '7'". */
enum { GNN_PLACE_TEXT = 160 };
const char *gnn_dataset_file(const struct gnn_dataset *d);
const char *gnn_dataset_place(const struct gnn_dataset *d, uint32_t ntype, uint64_t node,
                              char text[GNN_PLACE_TEXT]);
/* Takes NULL. */
void gnn_dataset_free(struct gnn_dataset *d);

#endif
