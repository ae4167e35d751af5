/* SPDX-License-Identifier: Apache-2.0 */
/* Importing: data sets and generated graphs in, a store of one part out. gnn-import(1) has the
 * formats. */
#ifndef GNN_LIB_IMPORT_IMPORT_H
#define GNN_LIB_IMPORT_IMPORT_H

#include "lib/data/direction.h"
#include "lib/import/dataset.h"
#include "lib/data/meta.h"

/* Inputs that are refused unless a user allows them. */
enum gnn_allow {
    /* entries of a Matrix Market file that are there twice become parallel edges */
    GNN_ALLOW_DUPLICATES = 1,
    /* entries above the diagonal of a symmetric one count as if they were below it */
    GNN_ALLOW_UPPER = 2,
    GNN_ALLOW_FRACTIONS = 4, /* values with a fraction in one of integers */
};

enum gnn_loops { GNN_LOOPS_KEEP, GNN_LOOPS_ADD, GNN_LOOPS_REMOVE };

/* Choices for reading a text table, where the table itself leaves them open. */
enum gnn_header { GNN_HEADER_AUTO, GNN_HEADER_YES, GNN_HEADER_NO };
enum gnn_ids_as { GNN_IDS_AS_FOUND, GNN_IDS_AS_NUMBERS, GNN_IDS_AS_WORDS };
enum gnn_comments { GNN_COMMENTS_AUTO, GNN_COMMENTS_YES, GNN_COMMENTS_NO };

struct gnn_import_opts {
    const char *format;     /* NULL: found out from the content */
    const char *const *map; /* "new=old" renamings of fields and arrays */
    bool *map_used; /* [nmap] or NULL: told which held; with it, one that did not is an error */
    uint32_t nmap;
    const char *columns;    /* "source=from,target=to,..." for text tables */
    const char *edge_type;  /* SRC/REL/DST, names of types for text tables; NULL: node/to/node */
    enum gnn_header header; /* whether the first row of a text table is one */
    enum gnn_ids_as ids;    /* what ids in text tables are */
    enum gnn_comments comments;    /* whether lines that begin with # or % are comments */
    const char *const *labels;     /* [TYPE=]FILE[:COLUMN] with rows of labels */
    const char *const *features;   /* [TYPE=]FILE with rows of features */
    const char *const *node_table; /* tables of nodes */
    const char *const *edge_table; /* S/R/D=FILE[:FROM,TO]: there is no other input */
    const char *const *encode;     /* [TYPE/]COLUMN=one-hot, =hash:N, of tables of nodes */
    bool *encode_used;             /* [nencode] as map_used */
    uint32_t nlabels, nfeatures, nnode_tables, nedge_tables, nencode;
    /* files with the original ids of a partition of DGL, or NULL */
    const char *orig_nids, *orig_eids;
    const char *const *split; /* "random:0.6,0.2,0.2" or "train=FILE,valid=FILE,..." */
    uint32_t nsplit;
    /* "S/R/D=D/Q/S": the first type has the reverses of the second */
    const char *const *reverse_of;
    uint32_t nreverse_of;
    uint64_t nodes; /* ids are 0..nodes-1; 0: as found in the data */
    uint64_t seed;
    unsigned threads; /* of generators; 0: one per core */
    /* For sorting edges by destination; more go through a file beside the store; 0: 1 GiB. */
    uint64_t sort_bytes;
    bool undirected, dedup;
    unsigned allow; /* enum gnn_allow, any of them */
    bool directed;  /* edges are as they stand, whatever the file says */
    enum gnn_loops loops;
    int task; /* enum gnn_task; -1: from the labels */
    /* Told now and then how far the writing is: "placing edges", 5 of 9 (of 0: of an unknown
     * number). NULL: nobody is. */
    void (*progress)(const char *what, uint64_t done, uint64_t total);
    bool standardize; /* features x are stored as (v - mean) / scale, by the training set, */
    const char *standardize_from; /* or by the constants of this store; at most one of the two */
    /* of stored features x: F32, F16, BF16, or I8 with scales; 0: the data set's, F32, except for
     * igbh */
    enum gnn_dtype dtype;
};

/* The scale of a node type's features as the input has them, columns that are 0 throughout left
 * out: the largest absolute value of any column, and the smallest of the columns' largest ones. */
struct gnn_import_columns {
    float most, least;
    /* of int8: the largest error of an element, as a share of its row's largest element */
    double error;
    uint64_t wide, narrow; /* the columns, from 0 */
};

struct gnn_import_stats {
    uint64_t nodes, edges; /* in the store */
    uint64_t input_edges;  /* read */
    uint64_t duplicates;   /* edges that --dedup left out */
    uint64_t loops_added;
    /* [ntypes] edge types of the store, to be freed with gnn_free, on failure too */
    struct gnn_import_edges *type;
    uint32_t ntypes;
    struct gnn_import_columns *columns; /* [nntypes], likewise */
    bool mirrored;                      /* the file's edges stood for both directions */
    /* Edge types that were to get reverses, but have them already, and stayed as they are. */
    uint32_t two_way;
    /* types rev_NAME that were not made, as the input has a type of those reverses */
    uint32_t rev_left;
};
struct gnn_import_edges {
    uint32_t in;            /* the input's edge type */
    struct gnn_direction d; /* of the store's */
    bool same;              /* both ends are of one node type */
    bool rev;               /* of type rev_NAME */
    const char *order;      /* "time" or "effective_time", by which in-edges are sorted; or NULL */
    int reverse_of; /* the store's type of which the schema says that it has the reverses; or -1 */
    bool exact;     /* they are: each edge of either type has its reverse in the other */
};

/* Opens n inputs (one, or several files that belong together) or a generator. *out is to be freed
 * with gnn_dataset_free. Errors: GNN_E_INPUT for what the data says, GNN_E_USAGE for options that
 * do not fit. */
int gnn_import_open(struct gnn_dataset **out, const char *const *input, uint32_t n,
                    const struct gnn_import_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_import_open, from an input that is open already, which it takes over, on failure too. */
struct gnn_input;
int gnn_import_open_input(struct gnn_dataset **out, struct gnn_input *in,
                          const struct gnn_import_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* Writes the store; whole or not at all. provenance may be NULL. Reverses (undirected) are refused
 * (GNN_E_USAGE) for edges of which nearly all, at least 99 in 100, have theirs, unless dedup takes
 * away what is double. */
int gnn_import_write(struct gnn_dataset *d, const struct gnn_import_opts *o, const char *path,
                     bool force, const char *provenance, struct gnn_import_stats *st,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
