/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of others that nobody here reads: how each is recognised, and what makes of it
 * something that is read. For messages only. */
#ifndef GNN_LIB_BASE_FOREIGN_H
#define GNN_LIB_BASE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

/* All of it static. */
struct gnn_foreign {
    const char *name;   /* as it stands after "this is": "GraphML", "an Excel file" */
    const char *ends;   /* what names of such files end in, each followed by a blank: ".gml " */
    const char *remedy; /* what to do instead */
    bool text;
    bool no_data; /* a document, image or program */
};

/* From the first bytes of a file, unpacked: 4,096 are enough for all, fewer tell most; `whole`: it
 * has no more. NULL: none of them. */
const struct gnn_foreign *gnn_foreign_bytes(const uint8_t *p, size_t n, bool whole);
/* From the end of its name alone, without .gz, .zst and .xz. */
const struct gnn_foreign *gnn_foreign_name(const char *path);
/* Number i of them, and that of one of them. */
const struct gnn_foreign *gnn_foreign_at(unsigned i);
unsigned gnn_foreign_index(const struct gnn_foreign *f);
/* GNN_E_INPUT "PATH: this is GraphML (by its first line), which is not read; REMEDY" of a file
 * whose bytes told it. It says so where the name tells another format. */
int gnn_foreign_refuse(const struct gnn_foreign *f, const char *path, struct gnn_err *e);

#endif
