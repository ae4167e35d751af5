/* SPDX-License-Identifier: Apache-2.0 */
/* Stores, batches and models in formats of other programs. All is written in pieces: of a stream, a
 * batch or two are in memory at a time; of a store in parts, 4 to 16 bytes for each node. */
#ifndef GNN_LIB_INSPECT_EXPORT_H
#define GNN_LIB_INSPECT_EXPORT_H

#include "lib/store/store.h"

enum gnn_export_format { GNN_EXPORT_NPZ, GNN_EXPORT_NPY, GNN_EXPORT_MTX, GNN_EXPORT_CSV };

/* An export: its format, its place and its contents. */
struct gnn_export {
    enum gnn_export_format format;
    int fd; /* stays open */
    const char *name;
    /* Only these tensors, by name; of .npy and CSV one. 0: all */
    const char *const *tensor;
    uint32_t ntensors;
    /* As Matrix Market or CSV, in place of tensors: the edges of a type, "S/R/D" (Matrix Market:
     * NULL is the only one), or the nodes of one. */
    const char *edges, *nodes;
    /* Batches of a stream: of a set (NULL: all), of epochs and steps [from, to), every stride-th.
     */
    const char *split;
    uint64_t epoch_from, epoch_to, step_from, step_to, stride;
    char left_out[1024]; /* set by _graph: what the store has and the output does not; "" */
};

/* The graph of a store, in original order and ids: arrays under the names of gnn-formats(7), which
 * gnn-import reads; as Matrix Market, edges with their weights, entry (i, j) being edge i -> j; as
 * CSV, edges or nodes with their names and fields. bf16 becomes f32, and classes i64.
 * GNN_E_USAGE for names that there are not. */
int gnn_export_graph(struct gnn_store *s, struct gnn_export *x, struct gnn_err *e) GNN_MUST_USE;
/* Tensors as a store has them. Members of an .npz are named like the tensors, with "part-N/" before
 * them if the store has several parts; of a name in them, "%", "/", "\\" and a dot at the beginning
 * are written as in a URL. bf16 becomes u16. */
int gnn_export_store(struct gnn_store *s, const struct gnn_export *x,
                     struct gnn_err *e) GNN_MUST_USE;
/* Likewise, those of a model; and those of the batches of a stream, with "batch-N/" before them, N
 * being the position in the stream. Other formats than .npz are of one batch; edges are those of
 * all its hops: as Matrix Market between local numbers, else between the ids that it has. */
int gnn_export_model(const char *path, const struct gnn_export *x, struct gnn_err *e) GNN_MUST_USE;
int gnn_export_stream(int in, const char *in_name, const struct gnn_export *x,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
