/* SPDX-License-Identifier: Apache-2.0 */
/* Numeric arrays in members: .npy, or a text table (then float rows). Read in order, converted on
 * the way. */
#ifndef GNN_LIB_IMPORT_ARRAY_H
#define GNN_LIB_IMPORT_ARRAY_H

#include "formats/npy.h"
#include "lib/import/read/table.h"

struct gnn_array {
    struct gnn_reader *r; /* .npy */
    struct gnn_npy h;
    struct gnn_table t; /* text */
    bool text;
    uint64_t rows;  /* UINT64_MAX: a text table, not known before its end */
    uint64_t width; /* elements of a row; 1 for a vector */
    uint64_t at;    /* rows read */
    struct gnn_buf raw;
    void *whole;          /* column-major arrays are read whole and turned */
    struct gnn_lost lost; /* of reading .npy as F32; see gnn_array_lost */
};

/* Opens a member as the array that its first bytes declare. */
int gnn_array_open(struct gnn_array *a, struct gnn_input *in, uint32_t member,
                   struct gnn_err *e) GNN_MUST_USE;
/* A zeroed object, or one that failed to open, may be closed. */
void gnn_array_close(struct gnn_array *a);
const char *gnn_array_name(const struct gnn_array *a);
/* Up to max rows as the given type: F32, F64, I64, or the array's own. *got 0 at the end, when it
 * has also been checked that nothing follows. I64: GNN_E_INPUT for a value that is no whole number.
 */
int gnn_array_read(struct gnn_array *a, enum gnn_dtype as, void *out, uint64_t max, uint64_t *got,
                   struct gnn_err *e) GNN_MUST_USE;
/* The values read so far that F32 does not hold exactly. */
const struct gnn_lost *gnn_array_lost(const struct gnn_array *a);
/* The type of a member as the named field, other than features, labels and weights of edges: I64
 * for an array of integers and for text of integers only; else F64 for times and for numbers that
 * F32 does not hold, and F32. Arrays of F64 and text are read once for it. */
int gnn_array_type(struct gnn_input *in, uint32_t member, const char *field, enum gnn_dtype *dtype,
                   struct gnn_err *e) GNN_MUST_USE;
/* Skips n rows. Only .npy. */
int gnn_array_skip(struct gnn_array *a, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* A member that holds one short text in ASCII, as SciPy writes names. */
int gnn_array_word(struct gnn_input *in, uint32_t member, char *word, size_t capacity,
                   struct gnn_err *e) GNN_MUST_USE;
/* All of it as F32, F64, I64 or what it is, of *rows rows; free with gnn_free. Memory grows with
 * what is read. */
int gnn_array_load(struct gnn_input *in, uint32_t member, enum gnn_dtype as, void **out,
                   uint64_t *rows, uint64_t *width, struct gnn_err *e) GNN_MUST_USE;

#endif
