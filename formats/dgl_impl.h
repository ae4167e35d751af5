/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of DGL's files: a place in the bytes, which formats/dgl_*.c share. */
#ifndef GNN_FORMATS_DGL_IMPL_H
#define GNN_FORMATS_DGL_IMPL_H

#include "formats/dgl_file.h"
#include "formats/dgl_numbers.h"

/* The bytes from `at` to `end`. The first failure is kept: all reading after it gives zeros, so
 * that it need not be asked for after each step. A failure has a line in why. */
struct gnn_dgl_cursor {
    const uint8_t *bytes;
    uint64_t at, end;
    int rc; /* 0, GNN_DGL_BAD or GNN_DGL_NO_MEMORY */
    char *why;
    size_t capacity;
};

/* Keeps what is wrong, with the place of it; returns c->rc. */
int gnn_dgl_fail(struct gnn_dgl_cursor *c, uint64_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

uint64_t gnn_dgl_u64(struct gnn_dgl_cursor *c, const char *what);
/* A number that says which part of the format begins. */
void gnn_dgl_magic(struct gnn_dgl_cursor *c, uint64_t magic, const char *what);
/* A count of things that have so many bytes each, at least, all of which are there. */
uint64_t gnn_dgl_count(struct gnn_dgl_cursor *c, uint64_t least, const char *what);
/* Moves on by n bytes, which are there, and returns where they begin; NULL after a failure. */
const uint8_t *gnn_dgl_skip(struct gnn_dgl_cursor *c, uint64_t n, const char *what);

void gnn_dgl_text(struct gnn_dgl_cursor *c, struct gnn_word *w, const char *what);
void gnn_dgl_array(struct gnn_dgl_cursor *c, struct gnn_strided *s, const char *what);
/* A list of names and tensors. Its memory is released with gnn_dgl_tensors_release, on failure
 * too. */
void gnn_dgl_tensors(struct gnn_dgl_cursor *c, struct gnn_dgl_tensors *t, const char *what);
void gnn_dgl_tensors_release(struct gnn_dgl_tensors *t);

/* calloc with the count of what the bytes have shown to be there; NULL after a failure. */
void *gnn_dgl_alloc(struct gnn_dgl_cursor *c, uint64_t n, size_t size, const char *what);

#endif
