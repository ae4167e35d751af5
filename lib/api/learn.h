/* SPDX-License-Identifier: Apache-2.0 */
/* Trains a model on a graph, and applies one.
 *
 * Both compute on the threads of OpenMP, and models and outputs are those of gnn-train(1) and
 * gnn-predict(1), bit for bit.
 *
 * Example: trains, and counts the nodes of class 0.
 *     int print_epoch(void *arg, uint64_t epoch, double loss, double value)
 *     {
 *         (void)arg;
 *         printf("epoch %llu: loss %g, accuracy %g\n", (unsigned long long)epoch, loss, value);
 *         return value > 0.99; // stops there
 *     }
 *     long long count_first(struct gnn_graph *g)
 *     {
 *         const char *const train[] = {"fanout=10,10", "hidden=64", "eval=valid", NULL};
 *         const char *const predict[] = {"output-kind=classes", NULL};
 *         struct gnn_outputs *o = NULL;
 *         if (gnn_train(g, "model.safetensors", train, print_epoch, NULL) == GNN_OK)
 *             o = gnn_predict_nodes(g, "model.safetensors", predict);
 *         const struct gnn_tensor *t = o ? gnn_outputs_tensor(o) : NULL;
 *         long long n = o ? 0 : gnn_error_status();
 *         for (uint64_t i = 0; t && i < gnn_tensor_shape(t, 0); i++)
 *             n += ((const int32_t *)gnn_tensor_data(t))[i] == 0;
 *         gnn_outputs_free(o);
 *         return n;
 *     }
 */
#ifndef GNN_LIB_API_LEARN_H
#define GNN_LIB_API_LEARN_H

#include "lib/api/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Told of each epoch, in the thread that called gnn_train: its mean loss, and the metric's value on
 * the first set that is evaluated, or NaN. It may call functions of the library, also with the same
 * graph; whether they fail is no matter of the training. Not 0: the training ends, as it does when
 * patience is over, and the model is written. */
typedef int (*gnn_epoch_fn)(void *arg, uint64_t epoch, double loss, double value);

/* Trains a model on minibatches and writes it to a file (safetensors), as gnn_batches_write does;
 * GNN_OK. told may be NULL. Options of gnn-train: fanout, eval (several times; default: none, where
 * gnn-train evaluates a set valid), split, epochs, layers (with induced or clusters), dtype,
 * prefetch; model, hidden, layer-norm, batch-norm, residual, residual-projection, encoder, ffn,
 * head, jk, activation, edge-weight, edge-features, feature-norm, and those of the model's layers;
 * optimizer, lr, weight-decay, momentum, clip, dropout, dropout-input, schedule, step-epochs,
 * step-factor, warmup, metric, keep, patience, seed; and all that decide which neighbours and seeds
 * are drawn. */
int gnn_train(struct gnn_graph *g, const char *path, const char *const options[], gnn_epoch_fn told,
              void *arg);

/* A model's outputs for all nodes of its target type, layer by layer from all neighbours. Options
 * of gnn-predict: output-kind (classes, probs, embeddings or values), layer-wise. NULL on failure:
 * GNN_E_USAGE for a model that was trained with weights, times, clusters or induced, unless
 * layer-wise allows it. */
struct gnn_outputs;
struct gnn_outputs *gnn_predict_nodes(struct gnn_graph *g, const char *model,
                                      const char *const options[]);
/* A row of each node, by its position in the store. Elements are f32; classes are i32, of a
 * multilabel model u8. A row is one element, without a dimension, where it is a class, the
 * probability of class 1 of a binary model, or the only value; else a column for each label, class,
 * value or element of the embedding. Lives as long as o. */
const struct gnn_tensor *gnn_outputs_tensor(const struct gnn_outputs *o);
/* Takes NULL. */
void gnn_outputs_free(struct gnn_outputs *o);

#ifdef __cplusplus
}
#endif

#endif
