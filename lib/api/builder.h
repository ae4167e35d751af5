/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a graph from arrays and writes it to a store, as gnn-import(1) does from files.
 *
 * Example: a ring of nodes with features, labels and a training set.
 *     int write_ring(const char *path, uint32_t n, const float *x, const double *y,
 *                    const uint32_t *src, const uint32_t *dst, const uint32_t *train)
 *     {
 *         const char *const options[] = {"undirected", NULL};
 *         struct gnn_builder *b = gnn_builder_new();
 *         int failed = !b || gnn_builder_nodes(b, "node", n) ||
 *                      gnn_builder_edges(b, "node/to/node", src, dst, n) ||
 *                      gnn_builder_field(b, "node", "x", "f32", 16, x) ||
 *                      gnn_builder_labels(b, "node", NULL, 1, y) ||
 *                      gnn_builder_set(b, "mine/train", "node", train, n / 2) ||
 *                      gnn_builder_write(b, path, options);
 *         gnn_builder_free(b);
 *         return failed ? gnn_error_status() : GNN_OK;
 *     }
 */
#ifndef GNN_LIB_API_BUILDER_H
#define GNN_LIB_API_BUILDER_H

#include "lib/api/gnn.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gnn_builder;

/* NULL on failure. _free takes NULL. */
struct gnn_builder *gnn_builder_new(void);
void gnn_builder_free(struct gnn_builder *b);

/* Each adds one thing, and returns GNN_OK; after a failure, the graph is to be given up: _write
 * fails as the first one did. Arrays other than labels are not copied: they stay until _free.
 * An array of no elements may be NULL.
 *
 * _nodes: a node type, without a slash, and how many nodes it has. _edges: an edge type
 * "SRC/REL/DST" and its n edges, from positions of SRC to positions of DST, whose types are there.
 */
int gnn_builder_nodes(struct gnn_builder *b, const char *type, uint64_t count);
int gnn_builder_edges(struct gnn_builder *b, const char *type, const uint32_t *src,
                      const uint32_t *dst, uint64_t n);
/* A field of a node or edge type: of each, in order, `width` elements (0: one, without a dimension)
 * of this type, as gnn_tensor_dtype has them. Features are called x, and are f32, f16 or bf16;
 * times of nodes and edges are called time, one of each, i64 or f64; weights weight. */
int gnn_builder_field(struct gnn_builder *b, const char *type, const char *name, const char *dtype,
                      uint32_t width, const void *rows);
/* Labels y of the nodes of a type, NaN where there is none, and of classes -1, too: `width` numbers
 * of each. task, which messages call --task: "multiclass", "binary", "multilabel" or "regression";
 * NULL: as they look. */
int gnn_builder_labels(struct gnn_builder *b, const char *type, const char *task, uint32_t width,
                       const double *rows);
/* The set "SPLIT/SET" of n nodes of a type, all different, which _write checks. */
int gnn_builder_set(struct gnn_builder *b, const char *name, const char *type, const uint32_t *ids,
                    uint64_t n);
/* Writes the store, whole or not at all; in place of another one only with force. Options of
 * gnn-import: undirected, dedup, self-loops, split (makes sets; several times), seed, standardize,
 * force. */
int gnn_builder_write(struct gnn_builder *b, const char *path, const char *const options[]);

#ifdef __cplusplus
}
#endif

#endif
