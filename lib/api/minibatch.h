/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: sampled, gathered, or read from a stream; and their tensors by name.
 *
 * Batches of the same options are those of gnn-sample(1) and gnn-gather(1), bit for bit.
 *
 * Example: the number of seeds of an epoch.
 *     unsigned long long count_seeds(struct gnn_graph *g)
 *     {
 *         const char *const sample[] = {"fanout=15,10", "batch=512", "split=train", NULL};
 *         const char *const gather[] = {"fields=x,y", NULL};
 *         struct gnn_batches *all = gnn_batches_gather(gnn_batches_sample(g, sample), g, gather);
 *         struct gnn_batch *b;
 *         unsigned long long n = 0;
 *         while (all && gnn_batches_next(all, &b) == GNN_OK) {
 *             n += gnn_tensor_shape(gnn_batch_tensor(b, "node/node/y"), 0);
 *             gnn_batch_put(b);
 *         }
 *         gnn_batches_free(all);
 *         return n;
 *     }
 */
#ifndef GNN_LIB_API_MINIBATCH_H
#define GNN_LIB_API_MINIBATCH_H

#include "lib/api/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source of batches, which come in order. */
struct gnn_batches;
struct gnn_batch;

/* Batches of a graph's sets. Options of gnn-sample: fanout, eval, metapath (each may stand several
 * times), split, epochs, steps, node2vec, threads (0: in the thread that asks), and all that decide
 * which neighbours, walks and seeds are drawn. NULL on failure. */
struct gnn_batches *gnn_batches_sample(struct gnn_graph *g, const char *const options[]);
/* As gnn_batches_sample, of nodes that gnn_batches_of names, whose type is the option seed-type:
 * positions in the store, or, with original-ids, before it was partitioned. */
struct gnn_batches *gnn_batches_sample_seeds(struct gnn_graph *g, const char *const options[]);
/* The batches of `from` with rows of the graph's fields. Options of gnn-gather: fields, dtype,
 * threads (default: 0, those that sample). Takes over `from`, also on failure.
 * NULL on failure; if `from` is NULL, gnn_error keeps the error of the call that returned it. */
struct gnn_batches *gnn_batches_gather(struct gnn_batches *from, struct gnn_graph *g,
                                       const char *const options[]);
/* Batches of a stream in a file. */
struct gnn_batches *gnn_batches_read(const char *path);
/* Takes NULL. */
void gnn_batches_free(struct gnn_batches *s);

/* The header of the stream that the batches make: JSON, as in gnb(5). Lives as long as s. */
const char *gnn_batches_header(struct gnn_batches *s);
/* GNN_OK and the next batch, which is given back by gnn_batch_put; GNN_END after the last, when all
 * that was used has been verified. */
int gnn_batches_next(struct gnn_batches *s, struct gnn_batch **b);
/* The batch of these seeds, n of them, at most as many as the option batch says; of _sample_seeds
 * only. Each call draws anew, as the next step of an epoch does. */
int gnn_batches_of(struct gnn_batches *s, const uint64_t *seeds, uint64_t n, struct gnn_batch **b);
/* Writes those that are left to a file, whole or not at all; GNN_OK. Option: zstd. */
int gnn_batches_write(struct gnn_batches *s, const char *path, const char *const options[]);

/* The tensor "nodes/T", "hop/0/S/R/D/indices", "node/T/x", ... of a batch, as gnb(5) lists them;
 * NULL if there is none. _tensor_name is the name of number i, from 0; NULL after the last. */
const struct gnn_tensor *gnn_batch_tensor(const struct gnn_batch *b, const char *name);
const char *gnn_batch_tensor_name(const struct gnn_batch *b, uint32_t i);
/* The edges of a block, "hop/H/S/R/D", whose rows are the nodes from `first` on, as positions in
 * "nodes/S" and "nodes/D": out[0] to out[e-1] are the sources, and out[e] to out[2e-1] the
 * destinations, of e = indptr[rows] edges. */
void gnn_block_coo(uint32_t first, uint64_t rows, const uint32_t *indptr, const uint32_t *indices,
                   int64_t *out);
/* Takes NULL. Any thread may give a batch back. */
void gnn_batch_put(struct gnn_batch *b);

#ifdef __cplusplus
}
#endif

#endif
