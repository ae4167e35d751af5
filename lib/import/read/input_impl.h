/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an input, for the files that make and read it: input.c, reader.c. */
#ifndef GNN_LIB_IMPORT_INPUT_IMPL_H
#define GNN_LIB_IMPORT_INPUT_IMPL_H

#include "lib/import/read/input.h"
#include "lib/import/read/stage.h"
#include "lib/import/read/array_list.h"

struct gnn_input_member {
    char *name;
    char *path;               /* of a plain file; NULL in an archive */
    uint32_t given;           /* as which of several inputs, or of the arrays */
    uint64_t blank, blank_to; /* bytes of the content that a joined reader replaces by blanks */
};

enum { GNN_INPUT_LEFT = 6 };

struct gnn_input {
    char *name;
    struct gnn_input_member *m;
    uint32_t n;
    bool archive;                  /* members are in an archive, or these arrays */
    struct gnn_array_list *arrays; /* or NULL */
    bool keyed;                    /* of any file of Python's values, whose arrays have keys */
    enum gnn_packing packing;      /* of the archive itself */
    char *path;                    /* of the archive */
    int spool;                     /* 1 + descriptor of a copy of a pipe; 0: none */
    uint64_t bytes;                /* of the files */
    struct gnn_input *outer;       /* or the archive that holds it */
    uint32_t outer_member;
    bool owns_outer;
    bool several;               /* inputs were given */
    bool joined;                /* the members are one text */
    char *left[GNN_INPUT_LEFT]; /* the first of the names of what is not read */
    uint32_t nleft;
    char **table; /* [ntables] what gnn_input_table says */
    uint32_t ntables;
    uint32_t holders; /* others than the first */
};

/* The bytes of the archive, or of a lone file, still packed. */
int gnn_input_base(struct gnn_input *in, struct gnn_stage **s, struct gnn_err *e) GNN_MUST_USE;
/* Member i as it lies there, still packed. */
int gnn_input_stage(struct gnn_input *in, uint32_t i, struct gnn_stage **top,
                    struct gnn_err *e) GNN_MUST_USE;

#endif
