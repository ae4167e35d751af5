/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of a reader: each makes a stream of bytes of the one below it. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_STAGE_H
#define GNN_LIB_IMPORT_STAGE_H

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

enum { GNN_STAGE_PEEK = 4096 };

struct gnn_stage {
    /* Up to n bytes, at least one unless at the end. */
    int (*read)(struct gnn_stage *s, void *buf, size_t n, size_t *got, struct gnn_err *e);
    /* NULL where it cannot be done. Returns the new position or -1. */
    int64_t (*seek)(struct gnn_stage *s, int64_t at, int whence);
    void (*free)(struct gnn_stage *s); /* itself only */
    struct gnn_stage *below;           /* owned */
    const char *name;                  /* for messages; not owned */
    uint64_t out;                      /* bytes given so far */
    uint8_t peek[GNN_STAGE_PEEK];      /* bytes read ahead */
    size_t npeek, peek_at;
};

enum gnn_packing { GNN_PLAIN, GNN_GZIP, GNN_ZSTD, GNN_XZ };

int gnn_stage_file(struct gnn_stage **s, const char *path, const char *name,
                   struct gnn_err *e) GNN_MUST_USE;
/* The following put a stage on top of *s, which on failure stays as it was. */
int gnn_stage_unpack(struct gnn_stage **s, enum gnn_packing how, struct gnn_err *e) GNN_MUST_USE;
/* A zip or tar archive, before its first member. */
int gnn_stage_archive(struct gnn_stage **s, struct gnn_err *e) GNN_MUST_USE;
/* Goes to the archive's next regular file: *name (valid until the next call), or NULL at the end.
 * The stage then yields that member's bytes. */
int gnn_stage_next(struct gnn_stage *s, const char **name, struct gnn_err *e) GNN_MUST_USE;

int gnn_stage_read(struct gnn_stage *s, void *buf, size_t n, size_t *got,
                   struct gnn_err *e) GNN_MUST_USE;
/* The first bytes, up to GNN_STAGE_PEEK, without taking them. Only before the first read. */
int gnn_stage_peek(struct gnn_stage *s, const uint8_t **p, size_t *n,
                   struct gnn_err *e) GNN_MUST_USE;
enum gnn_packing gnn_stage_packing(const uint8_t *p, size_t n);
bool gnn_stage_is_archive(const uint8_t *p, size_t n);
/* With all stages below. Takes NULL. */
void gnn_stage_free(struct gnn_stage *s);

#endif
