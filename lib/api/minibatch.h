/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: sampled, gathered, or read from a stream; and their tensors by name.
 *
 * Batches of the same options are those of gnn-sample(1) and gnn-gather(1), bit for bit.
 *
 * Example: the number of seeds of an epoch.
 *     int count_seeds(struct gnn_graph *g, unsigned long long *n)
 *     {
 *         const char *const sample[] = {"fanout=15,10", "batch=512", "split=train", NULL};
 *         const char *const gather[] = {"fields=x,y", NULL};
 *         struct gnn_batches *all = gnn_batches_gather(gnn_batches_sample(g, sample), g, gather);
 *         struct gnn_batch *b;
 *         int rc = all ? GNN_OK : gnn_error_status();
 *         for (*n = 0; !rc && !(rc = gnn_batches_next(all, &b)); gnn_batch_put(b))
 *             *n += gnn_tensor_shape(gnn_batch_tensor(b, "node/node/y"), 0);
 *         gnn_batches_free(all);
 *         return rc == GNN_END ? GNN_OK : rc;
 *     }
 */
#ifndef GNN_LIB_API_MINIBATCH_H
#define GNN_LIB_API_MINIBATCH_H

#include "lib/api/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source of batches, which come in order: in each epoch those of split, and then those of eval.
 */
struct gnn_batches;
struct gnn_batch;

/* Batches of a graph's sets. Options of gnn-sample: fanout, eval, metapath (each may stand several
 * times), split, epochs, steps, node2vec, threads (0: in the thread that asks), and all that decide
 * which neighbours, walks and seeds are drawn. NULL on failure. */
struct gnn_batches *gnn_batches_sample(struct gnn_graph *g, const char *const options[]);
/* As gnn_batches_sample, of nodes that gnn_batches_of names, whose type is the option seed-type:
 * positions in the store, or, with original-ids, before it was partitioned. Without split, eval,
 * shuffle and drop-last, and of one epoch. */
struct gnn_batches *gnn_batches_sample_seeds(struct gnn_graph *g, const char *const options[]);
/* The batches of `from` with rows of the graph's fields. Options of gnn-gather: fields, dtype,
 * threads (default: 0, those that sample). Fields that they have already are refused with the first
 * batch. Takes over `from`, also on failure.
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
 * that was used has been verified. *b is set with GNN_OK only. A failure is final: this source
 * fails with the same reason from then on. Not of _sample_seeds (GNN_E_USAGE), which _write is not
 * for, either. */
int gnn_batches_next(struct gnn_batches *s, struct gnn_batch **b);
/* The batch of these seeds, n of them, at most as many as the option batch says; of _sample_seeds
 * only. A seed that stands there twice is one row, unless disjoint makes trees. Each call draws
 * anew, as the next step of an epoch does. Fails as gnn_batches_next; but too many seeds
 * (GNN_E_USAGE), and one that is no node (GNN_E_INPUT), leave the source as it is. */
int gnn_batches_of(struct gnn_batches *s, const uint64_t *seeds, uint64_t n, struct gnn_batch **b);
/* Writes those that are left to a file, whole or not at all, in place of one that is there; a FIFO,
 * whose reader is waited for and sends SIGPIPE if it ends, or a device is written to directly.
 * GNN_OK. Option: zstd. */
int gnn_batches_write(struct gnn_batches *s, const char *path, const char *const options[]);

/* The tensor "nodes/T", "hop/0/S/R/D/indices", "node/T/x", ... of a batch, as gnb(5) lists them;
 * NULL if there is none. "key" is u64 (4): epoch, step, and the set, 0 that of split, 1 and up
 * those of eval; then 0. "counts/T" is u64 (hops+1): how many of "nodes/T" there are after each
 * hop, of which the first are the seeds. _tensor_name is the name of number i, from 0; NULL after
 * the last.
 */
const struct gnn_tensor *gnn_batch_tensor(const struct gnn_batch *b, const char *name);
const char *gnn_batch_tensor_name(const struct gnn_batch *b, uint32_t i);
/* The edges of a block, "hop/H/S/R/D", as positions in "nodes/S" and "nodes/D": out[0] to out[e-1]
 * are the sources, and out[e] to out[2e-1] the destinations, of e = indptr[rows] edges. `rows` is
 * the length of indptr less 1. `first`, the destination of the first row, is 0 with frontier=all;
 * with frontier=new it is element H-1 of "counts/D", and 0 for hop 0. */
void gnn_block_coo(uint32_t first, uint64_t rows, const uint32_t *indptr, const uint32_t *indices,
                   int64_t *out);
/* Takes NULL. Any thread may give a batch back, before or after its source is freed; any number may
 * be held. */
void gnn_batch_put(struct gnn_batch *b);

#ifdef __cplusplus
}
#endif

#endif
