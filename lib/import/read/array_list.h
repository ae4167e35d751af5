/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of named arrays that files of other programs hold, which an input shows as members: each is
 * read as an .npy file would be. Who fills one (torch_arrays.h) finds the arrays in files that are
 * mapped, and copies none of them. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_ARRAY_LIST_H
#define GNN_LIB_IMPORT_ARRAY_LIST_H

#include "formats/strided.h"
#include "lib/import/read/stage.h"

struct gnn_listed_array {
    char *name; /* "x"; of a graph with several types "paper/x", "author/writes/paper/edge_index" */
    /* Pieces of one dtype and shape of row: the array has the rows of the first, then those of the
     * second, and so on. */
    struct gnn_strided *piece;
    uint64_t *before; /* (npieces) rows of those before each */
    uint32_t npieces;
    uint64_t rows, nbytes; /* of all pieces, these in row-major order */
    /* (rows) row i of the array is row order[i] of the pieces; NULL: as they lie */
    const uint64_t *order;
    /* Without pieces: the bytes of a file as they are, which is no array but a table, or packed */
    const uint8_t *file;
};

/* Something that lives as long as the list. */
struct gnn_held {
    void *p;
    void (*free)(void *p);
};

/* A file that is mapped. */
struct gnn_listed_file {
    const uint8_t *bytes;
    uint64_t n;
};

/* Zeroed = empty. */
struct gnn_array_list {
    struct gnn_listed_array *array; /* (n) */
    uint32_t n;
    char **left; /* (nleft) what the files hold beside arrays, for people: "name (the str 'a')" */
    uint32_t nleft;
    char **note; /* (nnotes) what users should know of how the files were read */
    uint32_t nnotes;
    bool typed; /* names begin with types: of nodes, or SRC/REL/DST */
    struct gnn_held *held;
    uint32_t nheld;
    struct gnn_listed_file *file;
    uint32_t nfiles;
};

/* Adds an array of one piece, which is called `prefix` and `name`. */
int gnn_array_list_add(struct gnn_array_list *l, const char *prefix, const char *name,
                       const struct gnn_strided *piece, struct gnn_err *e) GNN_MUST_USE;
/* Adds the n bytes of a file, which is read as a file of its own would be. */
int gnn_array_list_file(struct gnn_array_list *l, const char *prefix, const char *name,
                        const uint8_t *bytes, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Adds a whole number as an array of one value. */
int gnn_array_list_number(struct gnn_array_list *l, const char *prefix, const char *name,
                          int64_t number, struct gnn_err *e) GNN_MUST_USE;
/* Adds a piece to the last array. False: it has another dtype, or rows of another shape. */
int gnn_array_list_append(struct gnn_array_list *l, const struct gnn_strided *piece, bool *fits,
                          struct gnn_err *e) GNN_MUST_USE;
/* Takes over a text (from gnn_strf; NULL: there was no memory) about something left out. */
int gnn_array_list_leave(struct gnn_array_list *l, char *text, struct gnn_err *e) GNN_MUST_USE;
/* Takes over a text (from gnn_strf) for the user. */
int gnn_array_list_note(struct gnn_array_list *l, char *text, struct gnn_err *e) GNN_MUST_USE;
/* Takes over p, on failure too. */
int gnn_array_list_hold(struct gnn_array_list *l, void *p, void (*release)(void *p),
                        struct gnn_err *e) GNN_MUST_USE;
/* Maps a file that is held. */
int gnn_array_list_map(struct gnn_array_list *l, const char *path, const uint8_t **bytes,
                       uint64_t *n, struct gnn_err *e) GNN_MUST_USE;
/* The bytes of the file at `path`, which is mapped, or, if that is NULL, all bytes of s, in memory
 * that is held. */
int gnn_array_list_bytes(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                         const uint8_t **bytes, uint64_t *n, struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. Frees *l itself. */
void gnn_array_list_free(struct gnn_array_list *l);

/* A stage of array i as an .npy file, which *l must outlive. Thread-safe. */
int gnn_array_list_stage(struct gnn_stage **s, const struct gnn_array_list *l, uint32_t i,
                         const char *name, struct gnn_err *e) GNN_MUST_USE;

#endif
