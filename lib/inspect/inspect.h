/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at stores and streams: reports, statistics, proofs, differences, export. Nothing here
 * prints by itself; reports are JSON objects that the program shows as text or as they are. */
#ifndef GNN_LIB_INSPECT_INSPECT_H
#define GNN_LIB_INSPECT_INSPECT_H

#include <jansson.h>
#include <stdio.h>

#include "lib/store/view.h"

enum { GNN_REPORT_TENSORS = 1, GNN_REPORT_STATS = 2 };

/* Header and schema: kind, identity, parts, node_types, edge_types, splits, provenance, sampling.
 * *out is the caller's reference. */
int gnn_report_meta(const struct gnn_meta *m, json_t **out, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_report_meta, for a store, with path and bytes; with GNN_REPORT_TENSORS an array "tensors"
 * of part, name, dtype, shape, bytes; with GNN_REPORT_STATS an object "statistics" (below). */
int gnn_report_store(struct gnn_store *s, unsigned what, json_t **out,
                     struct gnn_err *e) GNN_MUST_USE;
/* As gnn_report_meta, for a batch stream, which is read to its end: frames, seeds, mean nodes and
 * edges per hop, and with GNN_REPORT_TENSORS the tensors of the first batch. Takes over fd. */
int gnn_report_stream(int fd, const char *name, unsigned what, json_t **out,
                      struct gnn_err *e) GNN_MUST_USE;
/* The report of a safetensors file, a model, a checkpoint or a state dict: kind, path, bytes,
 * checksum (whether it has one, which holds), architecture (guessed where nothing says it),
 * parameters, training, provenance; tensors if they are few or asked for. */
int gnn_report_model(const char *path, unsigned what, json_t **out, struct gnn_err *e) GNN_MUST_USE;
/* Degrees (in and out: min, median, mean, max, zero), isolated nodes, self loops, parallel edges,
 * values of every field (min, max, mean, nan, infinite), members of every class and set. */
int gnn_report_stats(struct gnn_view *v, json_t *report, struct gnn_err *e) GNN_MUST_USE;

/* Proves a store: checksums of all tensors; offsets monotone, indices in range, original ids a
 * bijection (gnn_view_init); edge ids exactly the positions in the unpartitioned store; edges
 * ordered as the schema says; halo lists exact, with the right owners; sets complete and with their
 * owners; names in order; labels in range. With `against`: the two hold the same graph
 * (gnn_same_graph). Adds to `report` what was proved, as an array "proved" of sentences. The first
 * failure is GNN_E_INPUT and names part, tensor and element. The store must have been opened with
 * verify. */
int gnn_verify_store(struct gnn_store *s, struct gnn_store *against, json_t *report,
                     struct gnn_err *e) GNN_MUST_USE;
/* Proves a batch stream: frames, checksums, END, batches valid, keys in sequence, no node twice in
 * a batch. With `against`: made from that store (identity), and every sampled edge is one of its
 * edges. Takes over fd. */
int gnn_verify_stream(int fd, const char *name, struct gnn_store *against, json_t *report,
                      struct gnn_err *e) GNN_MUST_USE;

/* Counts what batches of a stream, which was sampled from `against`, must not know. With times:
 * edges later than their entry's time or, if the rule says so, not earlier; whether an edge is too
 * old or not the latest does not count. Of nodes: those that are seeds in several sets of the
 * stream. Of links: edges that are links of their batch, and reverses of such; ends of links with
 * fewer edges than the rule picks; negatives that are edges, or of another time or tree than their
 * link. And what gnn_leaks_store counts. Adds to `report` "batches" and "edges", which were looked
 * at, and for each kind of leak an object with "count" and, unless that is 0, "first", the place;
 * leaks.c has the names. *any: whether there is a leak. GNN_E_USAGE if the batches are not of
 * links and have no times; GNN_E_INPUT for what else gnn_verify_stream refuses. Takes over fd. */
int gnn_leaks_stream(int fd, const char *name, struct gnn_store *against, json_t *report, bool *any,
                     struct gnn_err *e) GNN_MUST_USE;
/* Likewise, in the store itself: nodes and links in several sets of one split, and edges that are
 * links of sets valid and test, or their reverses. */
int gnn_leaks_store(struct gnn_store *s, json_t *report, bool *any, struct gnn_err *e) GNN_MUST_USE;

/* Proves a model or a checkpoint: format, checksum, that the parameters are those of the
 * description, finite, and that counters make sense. Of a file from elsewhere, the format. */
int gnn_verify_model(const char *path, json_t *report, struct gnn_err *e) GNN_MUST_USE;

/* The first difference between A and B, if any: header, then contents, and what only names the
 * origin (identity, provenance) last. */
struct gnn_diff {
    bool differ;
    char where[GNN_NAME_MAX + 128]; /* "part 0, tensor edge/a/b/c/indices, element 17" */
    char a[GNN_NAME_MAX + 1], b[GNN_NAME_MAX + 1];
};
enum {
    GNN_DIFF_ORIGINAL = 1,   /* compare by original ids: partitioning does not count */
    GNN_DIFF_PROVENANCE = 2, /* provenance counts */
    GNN_DIFF_IDENTITY = 4,   /* the store's identity counts */
};
int gnn_diff_stores(struct gnn_store *a, struct gnn_store *b, unsigned flags, struct gnn_diff *d,
                    struct gnn_err *e) GNN_MUST_USE;
/* Takes over both fds. With GNN_DIFF_ORIGINAL node ids are mapped through the store, of the
 * `nstores` given, whose identity the stream names; streams that already hold original ids need
 * none. */
int gnn_diff_streams(int fd_a, const char *name_a, int fd_b, const char *name_b, unsigned flags,
                     struct gnn_store *stores, uint32_t nstores, struct gnn_diff *d,
                     struct gnn_err *e) GNN_MUST_USE;
/* Models, checkpoints, state dicts: description, tensors by name, provenance. */
int gnn_diff_models(const char *a, const char *b, unsigned flags, struct gnn_diff *d,
                    struct gnn_err *e) GNN_MUST_USE;
/* Same nodes, edges (order within a destination included), fields, names and sets by original id.
 */
int gnn_same_graph(struct gnn_view *a, struct gnn_view *b, struct gnn_diff *d,
                   struct gnn_err *e) GNN_MUST_USE;

/* Writes the edges of one type to `out`, which messages call `name`, one line each: "SOURCE
 * DESTINATION", or "SOURCE DESTINATION TIME" where the type has an order, whose field the time is.
 * Ids are those of the unpartitioned store. Times are written exactly: integers in decimal, f64
 * with 17 digits, f32 with 9. Lines are in the order of the store: part by part, by destination,
 * and in the order of its in-edges. Flushes `out`. GNN_E_INPUT, naming the file and the tensor, for
 * offsets, sources, original ids or times that are damaged; lines may have been written before.
 * GNN_E_RUN if `out` cannot be written. */
int gnn_edges_text(struct gnn_store *s, uint32_t etype, FILE *out, const char *name,
                   struct gnn_err *e) GNN_MUST_USE;

#endif
