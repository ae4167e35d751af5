/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a graph: node types, edge types, fields, splits, classes. Stored as JSON in the
 * HEADER frame of every store part and stream, and in store.json.
 *
 * A schema owns all that it points to; names that are added are copied. Not thread-safe while it is
 * changed. */
#ifndef GNN_LIB_DATA_SCHEMA_H
#define GNN_LIB_DATA_SCHEMA_H

#include <string.h>

#include <jansson.h>

#include "formats/tensor.h"
#include "kernels/int8_row.h"
#include "lib/base/err.h"
#include "lib/data/task_labels.h"

/* The split with sets that gnn-import makes of links, and those with the given negatives of these:
 * pairs that all links share, as many candidates of each link, or lists of different lengths
 * (lib/store/ragged.h). */
#define GNN_LINK_SPLIT "links"
#define GNN_SHARED_SPLIT "negatives"
#define GNN_EACH_SPLIT "candidates"
#define GNN_RAGGED_SPLIT "candidates-ragged"
enum gnn_given_kind { GNN_GIVEN_SHARED, GNN_GIVEN_EACH, GNN_GIVEN_RAGGED };

enum {
    GNN_TYPES_MAX = 1024,
    GNN_FIELDS_MAX = 256,
    GNN_WORD_MAX = 48,                                 /* bytes of a field, split or set name */
    GNN_TYPE_NAME_MAX = 1000,                          /* of a node type's or relation's */
    GNN_ETYPE_KEY_CAPACITY = 3 * GNN_TYPE_NAME_MAX + 3 /* for "src/rel/dst" and NUL */
};

/* A per-node or per-edge tensor: shape (count) when width is 0, else (count, width). */
/* The edge field by which edges are ordered whose own time, or whose source's, is not all of it. */
#define GNN_EFFECTIVE_TIME "effective_time"

struct gnn_field {
    char *name; /* "x" features, "y" labels, "time", "weight", "key", or the user's own */
    enum gnn_dtype dtype;
    uint64_t width;
    /* [2][columns] means, then scales, of a node field: v of the data set is stored as
     * (v - mean) / scale. NULL: values are as in the data set. */
    double *standard;
    /* Each row of a node field of int8 has a scale, and stands for element * scale, as batches have
     * it. Elements and scale are one row of bytes in a store (kernels/int8_row.h). */
    bool scaled;
};

static inline uint64_t gnn_field_columns(const struct gnn_field *f)
{
    return f->width ? f->width : 1;
}
/* A store's tensor of the field: its dtype, its width (0: it has one dimension), and bytes of a
 * row. */
static inline enum gnn_dtype gnn_field_stored_dtype(const struct gnn_field *f)
{
    return f->scaled ? GNN_U8 : f->dtype;
}
static inline uint64_t gnn_field_stored_width(const struct gnn_field *f)
{
    return f->scaled ? gnn_int8_row_bytes(gnn_field_columns(f)) : f->width;
}
static inline uint64_t gnn_field_row_bytes(const struct gnn_field *f)
{
    return f->scaled ? gnn_field_stored_width(f) : gnn_field_columns(f) * gnn_dtype_bytes(f->dtype);
}

/* Is the field one of real numbers, of which batches may have another type than the store? */
static inline bool gnn_field_is_real(const struct gnn_field *f)
{
    return f->scaled || f->dtype >= GNN_F16;
}
/* Type of the numbers that the store's rows stand for. */
static inline enum gnn_dtype gnn_field_stands_for(const struct gnn_field *f)
{
    return f->scaled ? GNN_F32 : f->dtype;
}
/* The field's type in words: "int8" with scales, "i8" without. */
static inline const char *gnn_field_type(const struct gnn_field *f)
{
    return f->scaled ? "int8" : gnn_dtype_name(f->dtype);
}

struct gnn_ntype {
    char *name;     /* UTF-8 without control characters, not empty; any other character may occur */
    uint64_t count; /* nodes in the whole store, at most 2^32 - 2 */
    struct gnn_field *field;
    uint32_t nfields;
};

struct gnn_etype {
    uint32_t src, dst; /* node types: edges run src -> dst, are stored with dst (CSC) */
    /* Relation, a name like a node type's; no two types have the same key, nor a node type as its
     * name. */
    char *rel;
    uint64_t count;
    struct gnn_field *field;
    uint32_t nfields;
    /* One of the fields, along which the in-edges of each node ascend (lib/data/time.h); NULL: in
     * no such order. */
    char *order;
    /* 1 + the edge type whose edges' reverses these are; 0: none is named (gnn_schema_reverse) */
    uint32_t reverse_of;
};

/* Whether a link of the type and its reverse may have different times. */
static inline bool gnn_etype_is_raised(const struct gnn_etype *t)
{
    return t->order && !strcmp(t->order, GNN_EFFECTIVE_TIME);
}

/* A named split has sets ("train", "valid", "test"), each a list of node ids of one type, or of
 * links: pairs of a head and a tail, which are or could be edges of one type. */
struct gnn_split_set {
    char *split; /* "random", "planetoid", "0", ... ; the store's first split is the default */
    char *set;   /* "train", "valid", "test", or the user's own */
    bool links;
    uint32_t ntype;      /* of the nodes, or of the links' tails, with which links are stored */
    uint32_t etype;      /* of links */
    enum gnn_dtype time; /* of links: I64 or F64; 0: they have no times */
    bool fields;         /* links have those fields of their edges that gnn_link_field lists */
    bool messages;       /* links of valid or test are edges of the store, as was asked for */
    uint64_t count;
};

struct gnn_schema {
    struct gnn_ntype *ntype;
    struct gnn_etype *etype;
    struct gnn_split_set *set;
    uint32_t nntypes, netypes, nsets;
    enum gnn_task task;
    uint32_t label_ntype; /* node type that carries field "y", if task is not NONE */
    uint32_t nclasses; /* classes, or columns of labels if MULTILABEL or REGRESSION; 0 if unknown */
    char **class_name; /* [nclasses] of the classes or columns, each another; NULL: none has one */
    uint32_t nparts;
};

/* Whether a node type or relation may have this name: GNN_E_INPUT "WHAT name '...' ..." if not. */
int gnn_type_name_check(const char *name, const char *what, struct gnn_err *e) GNN_MUST_USE;
/* The field in which the degrees by edge type number `etype` travel: "degree.REL", or
 * "degree.@NUMBER" where a field cannot be called so. Returns out. */
const char *gnn_degree_field(char out[GNN_WORD_MAX + 1], const char *rel, uint32_t etype);
/* Likewise, of edges weighted by a field: the sums of weights in "degree.WEIGHT.REL", the weights
 * of loops in "loop.WEIGHT.REL" (`loop`). */
const char *gnn_weight_field(char out[GNN_WORD_MAX + 1], bool loop, const char *weight,
                             const char *rel, uint32_t etype);

/* The empty schema is the zeroed object; everything it points to is owned by it. */
void gnn_schema_release(struct gnn_schema *s);
/* Each appends a copy and returns it through *out (may be NULL); pointers obtained before are void.
 */
int gnn_schema_add_ntype(struct gnn_schema *s, const char *name, uint64_t count,
                         struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_add_etype(struct gnn_schema *s, uint32_t src, const char *rel, uint32_t dst,
                         uint64_t count, struct gnn_err *e) GNN_MUST_USE;
/* Takes edge type i away; those after it move up. There must be no sets of links yet. */
void gnn_schema_drop_etype(struct gnn_schema *s, uint32_t i);
int gnn_schema_add_nfield(struct gnn_schema *s, uint32_t ntype, const char *name,
                          enum gnn_dtype dtype, uint64_t width, struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_add_efield(struct gnn_schema *s, uint32_t etype, const char *name,
                          enum gnn_dtype dtype, uint64_t width, struct gnn_err *e) GNN_MUST_USE;
/* Says how a node field, which is there, was standardized; [2][columns], copied. GNN_E_INPUT for
 * means that are not finite, and scales that are not finite and above 0. */
int gnn_schema_set_standard(struct gnn_schema *s, uint32_t ntype, const char *field,
                            const double *standard, struct gnn_err *e) GNN_MUST_USE;
/* Says that the rows of a node field, which is there, have scales: GNN_E_INPUT unless it is x, and
 * i8. */
int gnn_schema_set_scaled(struct gnn_schema *s, uint32_t ntype, const char *field,
                          struct gnn_err *e) GNN_MUST_USE;
/* Does a field have scales? */
bool gnn_schema_is_scaled(const struct gnn_schema *s);
/* Names the classes, or columns of labels: s->nclasses names, copied. GNN_E_INPUT for one that no
 * type could have, and for two that are equal. */
int gnn_schema_set_classes(struct gnn_schema *s, const char *const *name,
                           struct gnn_err *e) GNN_MUST_USE;
/* Marks the edge type as ordered by this field of its own, which is there: GNN_E_INPUT unless it
 * has one column of integers, f32 or f64. */
int gnn_schema_set_order(struct gnn_schema *s, uint32_t etype, const char *field,
                         struct gnn_err *e) GNN_MUST_USE;
/* Says that edge type number `etype` has the reverses of `of`: GNN_E_INPUT unless it runs between
 * the same node types, the other way, and neither is said to be another one's reverse. */
int gnn_schema_set_reverse(struct gnn_schema *s, uint32_t etype, uint32_t of,
                           struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_add_set(struct gnn_schema *s, const char *split, const char *set, uint32_t ntype,
                       uint64_t count, struct gnn_err *e) GNN_MUST_USE;
/* Field f of the edges of a set's links, if links of the set have it, too: those of one column, but
 * for the times by which edges are ordered. NULL: they do not. */
const struct gnn_field *gnn_link_field(const struct gnn_schema *s, uint32_t set, uint32_t f);
/* A set of links; time: I64, F64 or 0. */
int gnn_schema_add_links(struct gnn_schema *s, const char *split, const char *set, uint32_t etype,
                         enum gnn_dtype time, uint64_t count, struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_copy(struct gnn_schema *dst, const struct gnn_schema *src,
                    struct gnn_err *e) GNN_MUST_USE;
/* Is their JSON the same? False on failure, too. */
bool gnn_schema_equal(const struct gnn_schema *a, const struct gnn_schema *b, struct gnn_err *e);

/* Are the node and edge types the same, and the number of parts? So ids of one are ids of the
 * other. Fields may differ: streams can have more than their store. */
bool gnn_schema_same_types(const struct gnn_schema *a, const struct gnn_schema *b);

/* The edge type with the reverses of another one's edges: the one that is said to have them, or
 * that has its name with or without "rev_"; -1: there is none. */
int gnn_schema_reverse(const struct gnn_schema *s, uint32_t etype);
/* The type whose reverses a type has, or -1: of two types, one is the other's reverse. */
int gnn_schema_reverse_of(const struct gnn_schema *s, uint32_t etype);

/* Index of the type, or -1. An edge type's key is "src/rel/dst". */
int gnn_schema_find_ntype(const struct gnn_schema *s, const char *name);
int gnn_schema_find_etype(const struct gnn_schema *s, const char *key);
const struct gnn_field *gnn_field_find(const struct gnn_field *f, uint32_t n, const char *name);
/* Finds "set" (in the first split that has it) or "split/set", a set of nodes. Index into s->set,
 * or -1. */
int gnn_schema_find_set(const struct gnn_schema *s, const char *name);
/* Likewise, a set of links of this edge type. */
int gnn_schema_find_links(const struct gnn_schema *s, uint32_t etype, const char *name);
/* The set with the given negatives of a set of links, and their kind; or -1. */
int gnn_schema_find_given(const struct gnn_schema *s, uint32_t set, enum gnn_given_kind *kind);
/* Whether it is such a set, and if so of which kind: else -1. */
int gnn_schema_given_kind(const struct gnn_split_set *set);
/* The version of GNB of a store with this schema: a reader of an older one would take the ends of
 * lists for negatives, or rows of int8 for the numbers that they stand for. */
unsigned gnn_schema_version(const struct gnn_schema *s);
/* Whether all of n sets of links, as they are named, have given negatives; n 0: no. */
bool gnn_schema_all_given(const struct gnn_schema *s, uint32_t etype, const char *const *name,
                          uint32_t n);
/* Writes "src/rel/dst"; returns `out`. */
const char *gnn_etype_key(const struct gnn_schema *s, uint32_t etype, char *out, size_t capacity);

/* As the functions gnn_schema_find_*, for names that a user gave: the index, or GNN_E_USAGE "WHERE:
 * no set 'val'; did you mean 'valid'? sets: ...". _no_field only says so, _fields_text is its end.
 */
int gnn_schema_need_set(const struct gnn_schema *s, const char *where, const char *name,
                        struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_need_links(const struct gnn_schema *s, uint32_t etype, const char *where,
                          const char *name, struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_need_ntype(const struct gnn_schema *s, const char *where, const char *name,
                          struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_need_etype(const struct gnn_schema *s, const char *where, const char *key,
                          struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_need_edge_field(const struct gnn_schema *s, const char *where, const char *name,
                               struct gnn_err *e) GNN_MUST_USE; /* 0: some edges have it */
void gnn_schema_fields_text(const struct gnn_schema *s, const char *name, char *out,
                            size_t capacity);
int gnn_schema_no_field(const struct gnn_schema *s, const char *where, const char *name,
                        struct gnn_err *e) GNN_MUST_USE;

/* Checks the numbers of nodes, for each of which programs allocate memory: each type has a tensor
 * with a row per node, or few nodes, or a plausible number of out-edges. GNN_E_INPUT "NAME: ..." */
int gnn_schema_check_counts(const struct gnn_schema *s, const char *name,
                            struct gnn_err *e) GNN_MUST_USE;

/* To and from JSON. The reader checks everything: counts, names, indices, limits. */
json_t *gnn_schema_to_json(const struct gnn_schema *s, struct gnn_err *e) GNN_MUST_USE;
int gnn_schema_from_json(struct gnn_schema *s, const json_t *j, struct gnn_err *e) GNN_MUST_USE;

#endif
