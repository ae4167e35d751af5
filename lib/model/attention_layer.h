/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the attention layers GAT and GATv2 share (lib/model/gat.c, gatv2.c): options,
 * widths, the forward pass from scores to results, and the common part of the backward pass. HGT
 * (lib/model/hgt.c) takes the number of heads from here. The kernels are in kernels/attention.h.
 *
 * Messages are the projected sources, (nsrc, d). For each destination and head, a few numbers are
 * kept (enum gnn_heads_term); in training also the destinations' rows before heads are averaged.
 * The forward pass keeps nothing for edges.
 *
 * Raw rows (GAT only): each head sums up the sources as they are, weighted, (rows, heads, ds), and
 * the sums are projected. The result is the same, because the weights do not depend on the column,
 * and it costs less where sources outnumber destinations. */
#ifndef GNN_LIB_MODEL_ATTENTION_LAYER_H
#define GNN_LIB_MODEL_ATTENTION_LAYER_H

#include "lib/model/layer.h"

enum {
    GNN_HEADS_COUNT,
    GNN_HEADS_LAST,
    GNN_HEADS_SLOPE,
    GNN_HEADS_DROPOUT,
    GNN_HEADS_LOOPS,
    GNN_HEADS_RESIDUAL,
    GNN_HEADS_OPTIONS,
    GNN_HEADS_SHARE = GNN_HEADS_OPTIONS /* GATv2 */
};
extern const struct gnn_layer_option gnn_heads_option[GNN_HEADS_OPTIONS + 1];

/* Buffers of a convolution (gnn_conv_scratch). In the backward pass, rows become their gradient, if
 * heads are averaged; of raw rows there is nothing else. */
enum {
    GNN_HEADS_ROWS,
    GNN_HEADS_TARGETS,
    GNN_HEADS_TERMS,
    GNN_HEADS_FOLDED,
    GNN_HEADS_EDGES,
    GNN_HEADS_SOURCES
};

struct gnn_heads {
    uint32_t n, channels, d; /* d = n * channels columns */
    bool mean;               /* results are the mean of the heads, else their concatenation */
};
/* The heads of layer l with results of width w; _of_run: of a run's layer. */
struct gnn_heads gnn_heads_of(const struct gnn_model_config *c, uint32_t l, uint32_t w);
struct gnn_heads gnn_heads_of_run(const struct gnn_conv_run *c);
/* The layer's `idle`. */
const char *gnn_heads_idle(const struct gnn_model_config *c, uint32_t k);
/* GNN_E_USAGE unless concatenated heads fill the width. */
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

/* Numbers of each destination and head, from row `from` of the call on: its share of the score, the
 * gradient of this share, and the terms that attention leaves for the backward pass. */
enum gnn_heads_term {
    GNN_HEADS_DST,
    GNN_HEADS_DDST,
    GNN_HEADS_M,
    GNN_HEADS_Z,
    GNN_HEADS_DOTS,
    GNN_HEADS_EACH
};
float *gnn_heads_term(const struct gnn_conv_run *c, enum gnn_heads_term k, uint32_t from);
/* Numbers of each source and head: its score's share. */
float *gnn_heads_of_sources(const struct gnn_conv_run *c);

/* The layer's `open`, first part: space for these terms. */
int gnn_heads_open(struct gnn_conv_run *c, struct gnn_err *e);
/* The kernel's arguments that are the same for all attention layers. */
struct gnn_attention gnn_heads_attention(const struct gnn_conv_run *c,
                                         enum gnn_attention_kind kind);
/* The layer's `rows`, with a->dst of row `from` on; and its `rows_back`. */
int gnn_heads_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t from,
                   uint32_t to, float *y, bool acc, const struct gnn_epilogue *ep,
                   struct gnn_err *e);
/* The layer's `again`. */
int gnn_heads_again(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y,
                    const struct gnn_epilogue *ep, struct gnn_err *e);
/* The layer's `gather`, with a->dst of row 0 on; `rows` then adds the self-loops. */
int gnn_heads_gather(struct gnn_conv_run *c, const struct gnn_attention *a, bool first,
                     struct gnn_err *e);
int gnn_heads_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                        struct gnn_err *e);
/* Features of edges, as PyG's `edge_dim`: their products with `matrix` (wide, features) enter the
 * scores, a->edge of the edges that enter rows [from, to), and a->loop of these rows, whose
 * self-loops have the mean of their edges' features. They are in s->edge_rows until the next call:
 * edges x wide floats. NULL and unchanged if edges have no features. edges: false: only those of
 * self-loops. */
int gnn_heads_edges(struct gnn_conv_run *c, const float *matrix, uint32_t wide, uint32_t from,
                    uint32_t to, bool edges, struct gnn_attention *a, struct gnn_err *e);
/* After gnn_heads_edges for all rows: adds to dmatrix the gradient of the matrix that follows from
 * dedge and dloop, the gradients of its products. */
int gnn_heads_edges_back(struct gnn_conv_run *c, const struct gnn_attention *a, float *dedge,
                         const float *dloop, uint32_t wide, float *dmatrix, struct gnn_err *e);
/* The layer's `beside`: res, the destinations' rows times a matrix, if the option is set. */
const struct gnn_layer *gnn_heads_beside(const struct gnn_model_config *c);
/* The layer's `tell`: a state dict with lin_edge is of a model that uses features of edges, one
 * with res has the option. */
void gnn_heads_tell(struct gnn_model_config *c, const char *name, const struct gnn_tensor *t);
/* For the layer's `sources_back`: scratch for gradients, of sources for as many rows as are worth
 * doing at once (struct gnn_ops's chunk). more: floats of further scratch, *extra. */
int gnn_heads_open_back(struct gnn_conv_run *c, const float *dy, uint64_t more,
                        struct gnn_attention_back *g, float **extra, struct gnn_err *e);
/* Terms of scores: att . (W x) of each head is x times one vector, W^T att. _fold makes these,
 * (heads, width), of the parameters `weight` (d, width) and `att` (heads, channels), and they stay
 * until the backward pass is done. _unfold adds what their gradient gives to those of both.
 * _fold_back: with the gradient dterm (n, heads) of x (n, width), does that, and adds to the
 * gradient of x: g, unless it is NULL. It uses s->work. */
enum gnn_heads_fold { GNN_HEADS_OF_SRC, GNN_HEADS_OF_DST, GNN_HEADS_OF_EDGE };
int gnn_heads_fold(struct gnn_conv_run *c, enum gnn_heads_fold k, uint32_t weight, uint32_t att,
                   uint32_t width, struct gnn_err *e);
float *gnn_heads_folded(const struct gnn_conv_run *c, enum gnn_heads_fold k);
int gnn_heads_unfold(struct gnn_conv_run *c, uint32_t weight, uint32_t att, const float *dfolded,
                     uint32_t width, struct gnn_err *e);
int gnn_heads_fold_back(struct gnn_conv_run *c, enum gnn_heads_fold k, uint32_t weight,
                        uint32_t att, const float *dterm, uint32_t n, const float *x,
                        uint32_t width, float *g, struct gnn_err *e);

/* `rows`, `rows_back` and the first part of `sources_back` of raw rows, of which `weight` (d, ds)
 * is the matrix; a->dst begins with row `from`. b->dsrc (nsrc, heads), in scratch, becomes the
 * gradient of the sources' terms; b->edge_grad and b->loop_grad are there too. */
int gnn_heads_raw_rows(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t weight,
                       uint32_t from, uint32_t to, float *y, bool acc,
                       const struct gnn_epilogue *ep, struct gnn_err *e);
int gnn_heads_raw_rows_back(struct gnn_conv_run *c, const struct gnn_attention *a, uint32_t weight,
                            uint32_t from, uint32_t to, const float *dy, struct gnn_err *e);
int gnn_heads_raw_sources_back(struct gnn_conv_run *c, const struct gnn_attention *a, float *g,
                               bool acc, struct gnn_attention_back *b, struct gnn_err *e);

/* The gradient dm of messages [from, to) to that of the matrix, parameter `weight`, and of the
 * sources; g is that of source 0. */
int gnn_heads_messages_back(struct gnn_conv_run *c, const float *dm, uint32_t from, uint32_t to,
                            uint32_t weight, float *g, bool acc, struct gnn_err *e);
/* As gnn_heads_messages_back, of all messages, dm being that of message 0: the first part of the
 * layer's `send_back`. */
int gnn_heads_send_back(struct gnn_conv_run *c, const float *dm, uint32_t weight, float *g,
                        bool acc, struct gnn_err *e);

#endif
