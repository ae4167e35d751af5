/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a store: whole or not at all. */
#ifndef GNN_LIB_STORE_WRITE_H
#define GNN_LIB_STORE_WRITE_H

#include "lib/data/meta.h"
#include "lib/base/temp.h"

/*- Usage:
 *
 *   gnn_store_create(&w, "out", &meta, force, &e)   meta is copied; schema.nparts parts follow
 *   for each part:
 *       gnn_part_begin(&w, p, &e)
 *       gnn_part_declare(...)      for each tensor
 *       gnn_part_layout(&w, &e)    shapes are final from here on
 *       gnn_part_write(...)        in any order of tensors, the bytes of one tensor in sequence
 *       gnn_part_finish(&w, &e)
 *   gnn_store_commit(&w, &e)       computes the identity, writes store.json, syncs, renames
 *
 * Several parts can be written at a time, each by a copy of the writer with `part` set to NULL,
 * from _begin to _finish, or to gnn_part_abandon; the original, which lives longer, commits.
 *
 * Everything lies in a temporary directory beside `out` until the commit. gnn_store_abandon removes
 * it, as gnn_temp_abort does (lib/base/temp.h); it does nothing after the commit, and takes a
 * zeroed object. */
struct gnn_store_writer {
    struct gnn_meta meta;
    char *path;            /* for messages */
    struct gnn_temp *temp; /* the directory until then */
    bool force;
    bool scratch; /* it keeps its temporary name, and is not flushed to disk */
    struct gnn_part_writer *part;
    uint64_t *part_hash; /* [nparts] */
};

/* The place that `out` means (gnn_temp_target), on the heap, if a store may be written there:
 * GNN_E_USAGE if something exists there, unless that is a store, which holds nothing else, and
 * `force` is to replace it. _create checks it again. */
char *gnn_store_target(const char *out, bool force, struct gnn_err *e) GNN_MUST_USE;
int gnn_store_create(struct gnn_store_writer *w, const char *out, const struct gnn_meta *meta,
                     bool force, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_store_create, of a store beside `out` that only this process reads, between
 * gnn_store_complete and gnn_store_abandon, and that never gets the name. */
int gnn_store_scratch(struct gnn_store_writer *w, const char *out, const struct gnn_meta *meta,
                      struct gnn_err *e) GNN_MUST_USE;
/* Makes it a store that can be opened, at w->temp->name. */
int gnn_store_complete(struct gnn_store_writer *w, struct gnn_err *e) GNN_MUST_USE;
int gnn_part_begin(struct gnn_store_writer *w, uint32_t part, struct gnn_err *e) GNN_MUST_USE;
/* *id numbers the tensor for the calls below. */
int gnn_part_declare(struct gnn_store_writer *w, const char *name, enum gnn_dtype dtype,
                     uint32_t ndim, const uint64_t *shape, uint32_t *id,
                     struct gnn_err *e) GNN_MUST_USE;
int gnn_part_layout(struct gnn_store_writer *w, struct gnn_err *e) GNN_MUST_USE;
/* Appends bytes to tensor id. Thread-safe for different tensors. */
int gnn_part_write(struct gnn_store_writer *w, uint32_t id, const void *data, uint64_t bytes,
                   struct gnn_err *e) GNN_MUST_USE;
/* Fails if a tensor was not written in full. */
int gnn_part_finish(struct gnn_store_writer *w, struct gnn_err *e) GNN_MUST_USE;
/* Gives up the part that is being written, if there is one. */
void gnn_part_abandon(struct gnn_store_writer *w);
int gnn_store_commit(struct gnn_store_writer *w, struct gnn_err *e) GNN_MUST_USE;
void gnn_store_abandon(struct gnn_store_writer *w);
/* Hash of the schema, the parts' tensor tables and the identity of the base store, if there is one,
 * as 16 hex digits. Records a failure in e. */
void gnn_store_identity(const struct gnn_meta *m, const uint64_t *part_hash, char out[17],
                        struct gnn_err *e);

#endif
