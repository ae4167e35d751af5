/* SPDX-License-Identifier: Apache-2.0 */
/* What layers that weigh neighbours by attention share (lib/model/gat.c, gatv2.c; hgt.c has the
 * number of heads from here): options, widths, the forward pass from scores to results, and what of
 * the backward pass is the same. The kernels are those of kernels/attention.h.
 *
 * Messages are the projected sources, (nsrc, d). Of the destinations, numbers for each head are
 * kept, and while training their rows before heads are averaged; of edges nothing is kept. */
#ifndef GNN_LIB_MODEL_HEADS_H
#define GNN_LIB_MODEL_HEADS_H

#include "lib/model/layer.h"

enum {
    GNN_HEADS_COUNT,
    GNN_HEADS_LAST,
    GNN_HEADS_SLOPE,
    GNN_HEADS_DROPOUT,
    GNN_HEADS_LOOPS,
    GNN_HEADS_OPTIONS,
    GNN_HEADS_SHARE = GNN_HEADS_OPTIONS /* GATv2 */
};
extern const struct gnn_layer_option gnn_heads_option[GNN_HEADS_OPTIONS + 1];

/* Rooms of a convolution (gnn_conv_room). In the backward pass, rows become their gradient, if
 * heads are averaged. */
enum { GNN_HEADS_ROWS, GNN_HEADS_TARGETS, GNN_HEADS_TERMS };

struct gnn_heads {
    uint32_t n, channels, d; /* d = n * channels columns */
    bool mean;               /* results are the mean of the heads, else they are side by side */
};
/* Of layer l with results of width w. */
struct gnn_heads gnn_heads_of(const struct gnn_model_config *c, uint32_t l, uint32_t w);
struct gnn_heads gnn_heads_of_run(const struct gnn_conv_run *c);
/* GNN_E_USAGE unless heads side by side fill the width. */
int gnn_heads_check(const struct gnn_conv_shape *s, struct gnn_err *e);
/* The width of layer l in a state dict, by its parameter `att` of shape (1, heads, channels) and
 * its bias: results are as wide. Sets the options that it shows; 0: neither fits the other. */
uint32_t gnn_heads_recognise(struct gnn_model_config *c, const struct gnn_tensor *att,
                             const struct gnn_tensor *bias);
/* The layer's `messages` and `ids`. */
uint32_t gnn_heads_messages(const struct gnn_conv_run *c);
bool gnn_heads_ids(const struct gnn_model_config *c);

/* Whether the destinations are rows of the messages too: sources of the same type, with the same
 * matrix. */
static inline bool gnn_heads_one_type(const struct gnn_conv_run *c)
{
    return c->conv->src == c->conv->dst;
}

/* Numbers of each destination and head, from row `from` of the call on: its score's share, and what
 * attention leaves for the backward pass. */
enum gnn_heads_term { GNN_HEADS_DST, GNN_HEADS_M, GNN_HEADS_Z, GNN_HEADS_DOTS, GNN_HEADS_EACH };
float *gnn_heads_term(const struct gnn_conv_run *c, enum gnn_heads_term k, uint32_t from);
/* Numbers of each source and head: its score's share. */
float *gnn_heads_of_sources(const struct gnn_conv_run *c);

/* The layer's `open`, first part: room for these terms. */
int gnn_heads_open(struct gnn_conv_run *c, struct gnn_err *e);
/* All of the kernel's arguments that the layers do not differ in. */
struct gnn_attention gnn_heads_attention(const struct gnn_conv_run *c,
                                         enum gnn_attention_kind kind);
/* The layer's `rows`, with a->dst of row `from` on; and its `rows_back`. */
int gnn_heads_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t from,
                   uint32_t to, float *y, bool acc, const struct gnn_epilogue *ep,
                   struct gnn_err *e);
int gnn_heads_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                        struct gnn_err *e);
/* The first part of the layer's `sources_back`: scratch for all gradients, that of the messages in
 * s->messages, and the kernel's pass by sources. more: floats of further scratch, *extra. */
int gnn_heads_sources_back(struct gnn_conv_run *c, const struct gnn_attention *a, const float *dy,
                           uint64_t more, struct gnn_attention_back *g, float **extra,
                           struct gnn_err *e);
/* The gradient dm of messages to that of the matrix, parameter `weight`, and of the sources. */
int gnn_heads_messages_back(struct gnn_conv_run *c, const float *dm, uint32_t weight, float *g,
                            bool acc, struct gnn_err *e);

#endif
