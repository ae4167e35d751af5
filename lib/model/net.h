/* SPDX-License-Identifier: Apache-2.0 */
/* Forward and backward passes of a model over sampled batches. */
#ifndef GNN_LIB_MODEL_NET_H
#define GNN_LIB_MODEL_NET_H

#include "lib/data/batch.h"
#include "lib/model/layer.h"
#include "lib/model/link_blocks.h"

struct gnn_net_act {
    struct gnn_buf out;          /* (n, width): the stage's results */
    struct gnn_buf grad;         /* their gradient, of the first `early` rows */
    uint32_t early;              /* the others are made in ranges in gnn_net.late */
    struct gnn_activation after; /* of the stage that makes the output */
    bool has_grad;
};

/* A relation's edges, of all hops one after the other. */
struct gnn_net_edges {
    struct gnn_buf value, feature, id;
    const uint32_t *degree; /* of the batch's nodes, and the weights of their loops */
    const float *loop;
};

/* A decoder's work on the links of a batch, and what its backward pass needs. [2]: of heads and of
 * tails, or, if these are of one type, [0] of both. */
enum { GNN_DECODER_BUFFERS = 10 };
struct gnn_decoder_run {
    struct gnn_link_blocks blocks;
    struct gnn_buf host;              /* which rows they join, in the host's memory */
    struct gnn_buf unit[2], rnorm[2]; /* of cosines: rows of unit length (gnn_unit_rows) */
    struct gnn_buf buffer[GNN_DECODER_BUFFERS];
};

/* Zeroed object = empty; buffers grow to the largest batch and are reused. One thread at a time
 * (the passes themselves run on OpenMP threads, or on a device). All rows, parameters and gradients
 * are in the operations' memory. */
struct gnn_net {
    struct gnn_pass pass;       /* `sum` and `arg` are the caller's to set; `grad` is the result */
    struct gnn_conv_run *run;   /* [nconvs] */
    struct gnn_net_act *act;    /* [nstages][nntypes]; stage 0 are the features */
    const float **made;         /* [nstages][nntypes] rows that the stage has made */
    uint32_t *rows;             /* [nstages][nntypes] their number */
    bool drops_features;        /* dropout is applied to the features of the batch at hand */
    struct gnn_buf *node;       /* [netypes] factors of nodes (struct gnn_adj) */
    struct gnn_net_edges *edge; /* [netypes] data of edges that layers use */
    struct gnn_buf segs;        /* all relations' blocks, as the host puts them together, */
    struct gnn_buf blocks;      /* and in the operations' memory */
    struct gnn_buf counts;      /* the host's, of edges */
    struct gnn_buf late;        /* gradients that are not early, of a range of rows */
    struct gnn_buf slab;
    struct gnn_decoder_run decoder; /* of models of links */
    /* The gradient-ready callback, or NULL: called in the backward pass, with pass.arg, when the
     * gradients of a stage's parameters are final, the last stage first. */
    int (*stage_done)(void *arg, uint32_t stage, struct gnn_err *e);
    const struct gnn_batch *b;
    int threads; /* OpenMP's number of threads when the net was made; small batches use one */
};

struct gnn_net_mode {
    bool train;           /* dropout on, by original node id; keep what the backward pass needs */
    double dropout;       /* of hidden layers, [0, 1) */
    double dropout_input; /* of the features */
    uint64_t seed;
};

/* GNN_E_INPUT or GNN_E_USAGE, with the reason, unless batches with this header can be passed
 * through the model. */
int gnn_net_fits(const struct gnn_model *m, const struct gnn_meta *meta,
                 struct gnn_err *e) GNN_MUST_USE;
/* Model and operations must outlive the net. */
int gnn_net_init(struct gnn_net *n, const struct gnn_model *m, const struct gnn_ops *ops,
                 struct gnn_err *e) GNN_MUST_USE;
void gnn_net_release(struct gnn_net *n);
/* Computes the outputs of the batch's examples, a row of gnn_model_scores each: of its seeds of the
 * target type or, with a decoder, of its links. *out is owned by the net, overwritten by the next
 * call. GNN_E_INPUT if the batch lacks
 * a tensor, has another number of hops, or, under dropout, has store ids of several parts without
 * the original ones (gnn_batch_type.orig). The batch must live until the backward pass. params: the
 * slab to use (on the host usually m->slab). */
int gnn_net_forward(struct gnn_net *n, const float *params, const struct gnn_batch *b,
                    const struct gnn_meta *meta, const struct gnn_net_mode *mode, float **out,
                    struct gnn_err *e) GNN_MUST_USE;
/* Marks the convolutions along which the last forward pass with mode.train had edges as trained
 * (untrained is the list of the model's configuration). */
int gnn_net_reached(struct gnn_net *n, bool *untrained, struct gnn_err *e) GNN_MUST_USE;
/* Updates batch norm's running statistics, in params, after a forward pass with mode.train. */
void gnn_net_track(struct gnn_net *n, float *params);
/* Computes pass.grad (overwritten) from the gradient of the loss with respect to *out, which the
 * caller has written over *out. Needs a forward pass with mode.train. */
int gnn_net_backward(struct gnn_net *n, const float *params, struct gnn_err *e) GNN_MUST_USE;

#endif
