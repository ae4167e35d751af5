/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all data sets read from files: inputs, node fields from memory or from a member, label
 * conversion, splits, renaming. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_SRC_H
#define GNN_LIB_IMPORT_SRC_H

#include "lib/import/import.h"
#include "lib/import/nodeids.h"
#include "lib/import/read/input.h"

enum { GNN_SRC_INPUTS = 32 };

struct gnn_src_field {
    uint32_t ntype, field;
    void *mem;            /* whole field, or NULL: the member's rows */
    char *from;           /* of mem: the file that it was read from, owned */
    bool in_order;        /* rows of that file are in the order of nodes */
    struct gnn_input *in; /* owned by the data set */
    uint32_t member;
};

/* A table of --nodes. */
struct gnn_joined;
struct gnn_src_table {
    struct gnn_joined *joined; /* owned */
    char *type;                /* as given, or NULL */
    uint32_t ntype;            /* once types are known */
    bool words;                /* an id is no number */
};

/* Embedded first in the format's own object. */
struct gnn_src {
    struct gnn_dataset d;
    const struct gnn_import_opts *o;
    struct gnn_input *in[GNN_SRC_INPUTS]; /* owned; freed last to first */
    uint32_t nin;
    struct gnn_src_field *field;
    uint32_t nfields;
    uint32_t **set; /* [schema.nsets] ids, owned */
    uint32_t nsets;
    struct gnn_nodeids *ids; /* [nids] of the first node types, owned; d.ids is NULL, or these */
    uint32_t nids;
    /* Fields other than features, labels, weights and times keep their array's type. */
    bool own_types;
    struct gnn_src_table *table; /* [ntables] */
    uint32_t ntables;
};

/* ops.rows, ops.set and ops.free of every such data set. */
int gnn_src_rows(struct gnn_dataset *d, uint32_t ntype, uint32_t field, gnn_rows_fn *fn, void *arg,
                 struct gnn_err *e);
int gnn_src_set(struct gnn_dataset *d, uint32_t set, uint32_t *ids, struct gnn_err *e);
void gnn_src_free(struct gnn_dataset *d);

/* Makes space for the ids of n node types, all counts of 0; d.ids is what the caller makes of them.
 */
int gnn_src_make_ids(struct gnn_src *s, uint32_t n, struct gnn_err *e) GNN_MUST_USE;
void gnn_src_forget_ids(struct gnn_src *s);
/* Takes over the input, on failure too. */
int gnn_src_own(struct gnn_src *s, struct gnn_input *in, struct gnn_err *e) GNN_MUST_USE;
/* Puts NULs in the place of the slashes of SRC/REL/DST, and the three words into type. False: it is
 * something else. */
bool gnn_src_split_type(char *text, const char *type[3]);
/* Notes that an input came from a pipe, if it did. */
int gnn_src_note_pipe(struct gnn_src *s, const struct gnn_input *in, struct gnn_err *e);
/* The name that --map gives for a name: itself, or else the new one, "" for an array to leave out,
 * which is valid until the thread's next call. Thread-safe, except o->map_used. */
const char *gnn_src_mapped(const struct gnn_import_opts *o, const char *name);
/* Repeats why the schema refuses a column as a field, with what --map can do; column NULL: it has
 * no name. */
int gnn_src_fail_name(const struct gnn_err *why, const char *file, const char *column,
                      struct gnn_err *e);
/* Adds a node field whose rows are the member's, in order, as F32. */
int gnn_src_stream(struct gnn_src *s, uint32_t ntype, const char *name, struct gnn_input *in,
                   uint32_t member, struct gnn_err *e) GNN_MUST_USE;
/* Adds a node field from memory (from gnn_alloc), which it takes over, on failure too. `from`: the
 * file that it was read from, whose name is copied. */
int gnn_src_mem(struct gnn_src *s, uint32_t ntype, const char *name, enum gnn_dtype dtype,
                uint64_t width, void *mem, const char *from, struct gnn_err *e) GNN_MUST_USE;
/* The type of a member as the named field: its own, with own_types, or what gnn_array_type gives.
 */
int gnn_src_type(const struct gnn_src *s, struct gnn_input *in, uint32_t member, const char *field,
                 enum gnn_dtype *dtype, struct gnn_err *e) GNN_MUST_USE;
/* Adds a member as a node field: "x" streamed; "y" as labels; others of the type that gnn_src_type
 * gives. */
int gnn_src_node_array(struct gnn_src *s, uint32_t ntype, const char *name, struct gnn_input *in,
                       uint32_t member, struct gnn_err *e) GNN_MUST_USE;
/* The name of a field that must consist of finite numbers, which features, times and weights must;
 * of others NULL. */
const char *gnn_src_finite(const char *field);
/* GNN_E_INPUT if one of n rows of `width` floats, from row number `first` of the file, has a value
 * that is missing, nan or infinite, which names the row and, of several, the column. Types other
 * than f32 and f64 pass. */
int gnn_src_check_finite(const char *file, const char *field, enum gnn_dtype dtype,
                         const void *rows, uint64_t n, uint64_t width, uint64_t first,
                         struct gnn_err *e) GNN_MUST_USE;
/* Adds a set; takes over ids, on failure too. */
int gnn_src_add_set(struct gnn_src *s, const char *split, const char *set, uint32_t ntype,
                    uint32_t *ids, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Notes which members were not used: one line each, of many their number. GNN_E_INPUT for one whose
 * name says that it holds edges, nodes or fields of them; `map`: unless --map leaves it out by its
 * name up to the first point. */
int gnn_src_tell_unused(struct gnn_src *s, const struct gnn_input *in, const bool *used, bool map,
                        struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT for a declared number of nodes that the input's bytes cannot back: it would cost
 * memory and disk for nothing. */
int gnn_src_check_counts(const struct gnn_dataset *d, uint64_t bytes,
                         const struct gnn_import_opts *o, struct gnn_err *e) GNN_MUST_USE;

#endif
