/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a batch: one line of a list for each tensor that its header can promise, from
 * which follow its name, its dtype and shape, when it is there, how it is checked and bound, and
 * whether a batch on a device has it there (gnb(5)). Gathered rows are fields of the schema and no
 * columns.
 *
 * Private to the library. Functions read only what they are given: any thread. */
#ifndef GNN_LIB_DATA_COLUMNS_H
#define GNN_LIB_DATA_COLUMNS_H

#include <stddef.h>

#include "lib/data/batch.h"

enum gnn_column_per { GNN_PER_BATCH, GNN_PER_NTYPE, GNN_PER_BLOCK };
/* The unit of the first dimension; per node type T, or block of hop H with destinations of T. Of
 * several columns of one place with the same unit, the first says how many rows all have. */
enum gnn_column_rows {
    GNN_ROWS_ONE,
    GNN_ROWS_KEY,      /* epoch, step, split, rank */
    GNN_ROWS_HOPS,     /* nhops + 1 */
    GNN_ROWS_NODES,    /* nodes of T */
    GNN_ROWS_SEEDS,    /* different seeds of T */
    GNN_ROWS_EXPANDED, /* nodes of T before the last hop */
    GNN_ROWS_OFFSETS,  /* destinations + 1 */
    GNN_ROWS_EDGES,
    /* from here on those of enum gnn_batch_unit, in its order, which are bound after all others */
    GNN_ROWS_WALKS,
    GNN_ROWS_PAIRS,
    GNN_ROWS_NEGATIVES,
    GNN_NROWS
};
#define GNN_WIDTH_WALK UINT32_MAX /* a walk's steps + 1 */
enum gnn_column_values {
    GNN_VALUES_ANY,
    GNN_VALUES_KEY,
    GNN_VALUES_SEEDS, /* how many all ranks have */
    GNN_VALUES_COUNTS,
    GNN_VALUES_DRAWS,
    GNN_VALUES_ID,    /* of a node of T in the store */
    GNN_VALUES_LOCAL, /* a node's position in nodes/T: of a block, of its sources' type */
    GNN_VALUES_WALK,  /* likewise, of the type that the path leads to; or UINT32_MAX */
    GNN_VALUES_TREE,  /* a position in the global batch */
    GNN_VALUES_TIME,
    GNN_VALUES_OFFSETS,
    GNN_VALUES_PLACE, /* the position of a link in the global batch */
    GNN_VALUES_INPUT, /* the position of a link in its list */
    GNN_NVALUES
};
enum gnn_column_when {
    GNN_WITH_ALL,
    GNN_WITH_SEEDS, /* as gnn_sampling_counts_seeds says */
    GNN_WITH_TREES,
    GNN_WITH_TIMES,
    GNN_WITH_DRAWS,
    GNN_WITH_REQUEST, /* of the user; the header does not tell */
    GNN_WITH_EDGE_IDS,
    GNN_WITH_WALKS,
    GNN_WITH_PAIRS,
    GNN_WITH_LINKS,
    GNN_WITH_LINKS_OF_RANKS,
    GNN_WITH_NEGATIVES,
    GNN_WITH_LABELS
};

/* clang-format off */
/* The list, in the order of a frame: name in enum gnn_column, and the members of struct
 * gnn_column_info. */
#define GNN_COLUMNS(X) \
    X(KEY,     "key",     "",        BATCH, U64, KEY,      0,              KEY,     ALL,      .host = true) \
    X(SEEDS,   "seeds",   "",        BATCH, U64, ONE,      0,              SEEDS,   SEEDS,    .host = true) \
    X(NODES,   "nodes",   "",        NTYPE, U32, NODES,    0,              ID,      ALL,      .view = offsetof(struct gnn_batch_type, node), .ids = true) \
    X(TREE,    "tree",    "",        NTYPE, U32, NODES,    0,              TREE,    TREES,    .view = offsetof(struct gnn_batch_type, tree)) \
    X(TIME,    "time",    "",        NTYPE, I64, NODES,    0,              TIME,    TIMES,    .view = offsetof(struct gnn_batch_type, time)) \
    X(COUNTS,  "counts",  "",        NTYPE, U64, HOPS,     0,              COUNTS,  ALL,      .view = offsetof(struct gnn_batch_type, count), .host = true) \
    X(DRAWS,   "draws",   "",        NTYPE, U32, SEEDS,    0,              DRAWS,   DRAWS,    .view = offsetof(struct gnn_batch_type, draws), .host = true) \
    X(ORIG,    "node",    "id",      NTYPE, U32, NODES,    0,              ANY,     REQUEST,  .view = offsetof(struct gnn_batch_type, orig)) \
    X(COUNTED, "counted", "",        NTYPE, U8,  EXPANDED, 0,              ANY,     REQUEST,  .view = offsetof(struct gnn_batch_type, counted)) \
    X(INDPTR,  "hop",     "indptr",  BLOCK, U32, OFFSETS,  0,              OFFSETS, ALL,      .view = offsetof(struct gnn_block, indptr)) \
    X(INDICES, "hop",     "indices", BLOCK, U32, EDGES,    0,              LOCAL,   ALL,      .view = offsetof(struct gnn_block, indices)) \
    X(EDGE_ID, "hop",     "id",      BLOCK, U64, EDGES,    0,              ANY,     EDGE_IDS, .view = offsetof(struct gnn_block, id)) \
    X(WALK,    "walk",    "",        BATCH, U32, WALKS,    GNN_WIDTH_WALK, WALK,    WALKS,    .view = offsetof(struct gnn_batch, walk)) \
    X(PAIR,    "pair",    "",        BATCH, U32, PAIRS,    2,              LOCAL,   PAIRS,    .view = offsetof(struct gnn_batch, pair), .host = true) \
    X(PLACE,   "pair",    "at",      BATCH, U32, PAIRS,    0,              PLACE,   LINKS_OF_RANKS, .view = offsetof(struct gnn_batch, at), .host = true) \
    X(INPUT,   "pair",    "input",   BATCH, U64, PAIRS,    0,              INPUT,   LINKS,    .view = offsetof(struct gnn_batch, input), .host = true) \
    X(LABEL,   "pair",    "label",   BATCH, F32, PAIRS,    0,              ANY,     LABELS,   .host = false) \
    X(NEGATIVE, "negative", "",      BATCH, U32, NEGATIVES, 2,             LOCAL,   NEGATIVES, .view = offsetof(struct gnn_batch, negative), .host = true)
/* clang-format on */

#define GNN_COLUMN_NAME(name, ...) GNN_COLUMN_##name,
enum gnn_column { GNN_COLUMNS(GNN_COLUMN_NAME) GNN_NCOLUMNS };

struct gnn_column_info {
    /* "PREFIX[/SUFFIX]", "PREFIX/T[/SUFFIX]", or "PREFIX/H/S/R/D/SUFFIX" */
    const char *prefix, *suffix;
    enum gnn_column_per per;
    enum gnn_dtype dtype; /* of times, where they are integers */
    enum gnn_column_rows rows;
    uint32_t width; /* of the second dimension; 0: there is none */
    enum gnn_column_values values;
    enum gnn_column_when when;
    bool host; /* in the host's memory, wherever the batch lies */
    bool ids;  /* of the store, which depend on its partitions */
    /* offset of the pointer to it in struct gnn_batch, _batch_type or _block; of a batch 0: none */
    size_t view;
};
extern const struct gnn_column_info gnn_column[GNN_NCOLUMNS];

/* Whether a batch with this header has the column of a node type, or of a block that has rows: of
 * hop `hop` and edge type `type`. Of training's split, where splits differ. */
enum gnn_presence { GNN_ABSENT, GNN_OPTIONAL, GNN_REQUIRED };
enum gnn_presence gnn_column_presence(const struct gnn_meta *m, enum gnn_column c, uint32_t hop,
                                      uint32_t type);
const char *gnn_column_name(char name[GNN_NAME_MAX + 1], const struct gnn_schema *s,
                            enum gnn_column c, uint32_t hop, uint32_t type);
enum gnn_dtype gnn_column_dtype(const struct gnn_meta *m, enum gnn_column c);
/* The second dimension, or 0. */
uint64_t gnn_column_width(const struct gnn_meta *m, enum gnn_column c);
/* The column that a tensor's name belongs to, or GNN_NCOLUMNS. */
enum gnn_column gnn_column_named(const char *name);
/* The pointer to the column's data in the batch's view; NULL of a column without one. */
const void **gnn_column_view(const struct gnn_batch *b, enum gnn_column c, uint32_t hop,
                             uint32_t type);
/* Adds the column to a set, with `rows` rows, of which the contents are undefined. */
int gnn_column_add(struct gnn_tensors *set, const struct gnn_meta *m, enum gnn_column c,
                   uint32_t hop, uint32_t type, uint64_t rows, struct gnn_tensor **t,
                   struct gnn_err *e) GNN_MUST_USE;
/* Adds a batch's key. */
int gnn_column_add_key(struct gnn_batch *b, const struct gnn_meta *m,
                       struct gnn_err *e) GNN_MUST_USE;

/* The field and type of the rows in a tensor "node/T/FIELD" or "hop/H/S/R/D/FIELD". */
struct gnn_rows_of {
    const struct gnn_field *field; /* NULL: the type has none of that name */
    bool edges, labels;            /* labels: "y", whose rows are those of the seeds */
    uint32_t hop, type;            /* of edges: the hop and the edge type; else the node type */
};
/* False if the name is a column's or none of these, or if there is no such type or hop. */
bool gnn_rows_of(const struct gnn_meta *m, const char *name, struct gnn_rows_of *x);
/* How many edges of a type n rows of a hop have at most. */
uint64_t gnn_column_edges_max(const struct gnn_meta *m, uint32_t hop, uint32_t et, uint64_t n);

#endif
