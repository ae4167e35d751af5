/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign formats, which no program here reads (one only gnn-import): how each is recognised, and
 * what converts it to a format that is read. For messages only. */
#ifndef GNN_LIB_BASE_FOREIGN_H
#define GNN_LIB_BASE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

/* A foreign format; all texts are static. */
struct gnn_foreign {
    const char *name;   /* as it stands after "this is": "GraphML", "an Excel file" */
    const char *ends;   /* ends of such files' names, each followed by a blank: ".gml " */
    const char *remedy; /* how to convert it */
    bool text;
    bool no_data; /* a document, image or program */
    bool graph;   /* gnn-import reads it; unless a text, only if it is given alone */
};

/* The format by the first bytes of a file, unpacked: 4,096 are enough for all, fewer tell most;
 * `whole`: the file has no more. NULL: it is none of these formats. */
const struct gnn_foreign *gnn_foreign_bytes(const uint8_t *p, size_t n, bool whole);
/* The format by the end of the file's name alone, without .gz, .zst and .xz. */
const struct gnn_foreign *gnn_foreign_name(const char *path);
/* Format number i, and the number of a format. */
const struct gnn_foreign *gnn_foreign_at(unsigned i);
unsigned gnn_foreign_index(const struct gnn_foreign *f);
/* GNN_E_INPUT "PATH: this is GraphML (by its first line), which is not read; REMEDY", for a file
 * that was recognised by its bytes. The text says so where the name tells another format. */
int gnn_foreign_refuse(const struct gnn_foreign *f, const char *path, struct gnn_err *e);

#endif
