/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of a file, from its path or first bytes, for messages about an input of the wrong kind.
 */
#ifndef GNN_LIB_BASE_KIND_H
#define GNN_LIB_BASE_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum gnn_kind {
    GNN_KIND_UNKNOWN, /* anything else: text, say */
    GNN_KIND_ABSENT,
    GNN_KIND_DIRECTORY,
    GNN_KIND_STORE,
    GNN_KIND_PART, /* of a store */
    GNN_KIND_STREAM,
    GNN_KIND_MODEL, /* any safetensors file */
    GNN_KIND_ZIP,   /* these are for gnn-import */
    GNN_KIND_TAR,
    GNN_KIND_GZIP,
    GNN_KIND_ZSTD,
    GNN_KIND_XZ,
    GNN_KIND_NPY,
    GNN_KIND_MTX,
    /* from here on foreign formats: number k - GNN_KIND_FOREIGN of lib/base/foreign.h */
    GNN_KIND_FOREIGN
};

/* Number of first bytes that tell all kinds apart; GNB, models and most archives take 64. */
enum { GNN_KIND_BYTES = 4096 };

/* The kind of a file with these first bytes, or these bytes in all. */
enum gnn_kind gnn_kind_bytes(const uint8_t *p, size_t n);
/* Opens regular files and directories only, so that it never blocks. */
enum gnn_kind gnn_kind_path(const char *path);
/* "a zip archive"; NULL for UNKNOWN and ABSENT. */
const char *gnn_kind_text(enum gnn_kind k);
/* GNN_E_INPUT "NAME: this is a zip archive, not WHAT; gnn-import makes a store of it"; 0 if
 * gnn_kind_text has no text for `k`, the kind of NAME. WHAT is "a store", "a stream of batches",
 * "a model" or "a data set". */
int gnn_kind_refuse(enum gnn_kind k, const char *name, const char *what, struct gnn_err *e);

#endif
