/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders: from the rows of the two ends of a link, embeddings that the last stage makes, to its
 * score, which is positive for what is likely a link.
 *
 *     dot     <h, t>                                       no parameters
 *     cosine  s <h, t> / (|h| |t|)                         scale: s, 1 at first
 *     mlp     B relu(A (h * t) + a) + b                    lins.0.weight, .bias: A, a, square;
 *                                                          lins.1.weight, .bias: B, b
 *     concat  B relu(A [h t] + a) + b      likewise; A: twice as wide
 *
 * h * t are the products of their elements, so that a link has the score of its reverse; [h t] are
 * the elements of both. The last two have as many scores as B has rows, one for each class of
 * links. */
#ifndef GNN_LIB_MODEL_DECODER_H
#define GNN_LIB_MODEL_DECODER_H

#include "lib/model/net.h"

/* Lists the parameters of the model's decoder. */
void gnn_decoder_params(const struct gnn_model_config *c, struct gnn_param_list *l);
/* *scores (n, config.scores) of the batch's pairs, and of its negatives after them, from what the
 * net's last stage has made; GNN_E_INPUT if the batch has no pairs. */
int gnn_decoder_forward(struct gnn_net *n, const struct gnn_meta *meta, float **scores,
                        struct gnn_err *e) GNN_MUST_USE;
/* From the gradient of the scores, which has taken their place, to those of the decoder's
 * parameters, and of the last stage's rows, likewise in their place. */
int gnn_decoder_backward(struct gnn_net *n, struct gnn_err *e) GNN_MUST_USE;
void gnn_decoder_release(struct gnn_net *n);

#endif
