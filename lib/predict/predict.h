/* SPDX-License-Identifier: Apache-2.0 */
/* Exact inference over a whole store, layer by layer: every node's row of a layer is computed once,
 * from all its neighbours, so the cost grows with the number of layers and not with neighbourhoods
 * of neighbourhoods. */
#ifndef GNN_LIB_PREDICT_PREDICT_H
#define GNN_LIB_PREDICT_PREDICT_H

#include "lib/model/layer.h"
#include "lib/model/metrics.h"
#include "lib/predict/output.h"
#include "lib/store/store.h"

/* Rows of a layer for all nodes of a type: f32, or bf16 where only sums along edges read them. They
 * are in memory of their own, in a temporary file, or in the store. */
struct gnn_table {
    float *data;    /* or NULL: */
    uint16_t *half; /* rows of bf16 */
    uint64_t rows, width;
    /* In the memory of the operations; else in the host's, which a device reads over the bus. */
    bool near;
    struct gnn_buf buf;      /* their own memory */
    struct gnn_spill *spill; /* their temporary file, or NULL */
};

/* A relation at work. */
struct gnn_predict_rel {
    struct gnn_conv_run run;
    struct gnn_buf node, loop, degree; /* factors of nodes (struct gnn_adj) */
    uint64_t normalised;               /* destinations whose factors are there, by store id */
    struct gnn_table messages;         /* of all sources, while a layer needs them */
};

struct gnn_predict_opts {
    const struct gnn_ops *ops; /* where to compute; NULL: the host */
    /* On the host: bytes of activations to hold in memory; more goes to temporary files. */
    uint64_t memory;
    const char *tmpdir; /* where those are made */
    bool heads;         /* of models of links: embeddings are of heads, not of tails */
    bool embedding;     /* p->embedding is wanted */
    void *arg;
    void (*progress)(void *arg, uint32_t layer, uint64_t done,
                     uint64_t total); /* rows; may be NULL */
};

struct gnn_predict {
    const struct gnn_model *m;
    struct gnn_store *s;
    struct gnn_predict_opts o;
    struct gnn_pass pass;
    struct gnn_table *made;               /* [nstages][nntypes] rows, while a stage needs them */
    struct gnn_predict_rel *rel;          /* [netypes] */
    struct gnn_conv_run *dense;           /* [nconvs] convolutions without edges */
    struct gnn_activation after;          /* of the stage and type that are being computed */
    uint32_t chunk;                       /* rows done at once */
    struct gnn_buf params, read, written; /* of the operations' memory */
    struct gnn_buf indptr, indices,
        block;                     /* a chunk's adjacency there, if that is not the host's */
    struct gnn_buf value, feature; /* what layers use of a chunk's edges, likewise */
    struct gnn_buf offsets, widened;
    struct gnn_csr csr;
    uint64_t held;    /* bytes of tables in memory now, */
    uint64_t spilled; /* and of all that were in temporary files */
    /* results, by store id */
    struct gnn_table logits;    /* (nodes of the target type, outputs); of links: embeddings */
    struct gnn_table embedding; /* what enters the last stage, if wanted; of links: none */
};

/* Computes p->logits and p->embedding; GNN_E_RUN naming the node (by original id) unless all are
 * finite. The store must fit the model (gnn_model_config_match) and outlive p; adjacency is checked
 * before it is used. On the host it runs on OpenMP threads; the bits do not depend on the number of
 * parts. */
int gnn_predict_run(struct gnn_predict *p, const struct gnn_model *m, struct gnn_store *s,
                    const struct gnn_predict_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* After the last use of logits and embedding: GNN_E_RUN if they lay in a temporary file that has
 * been damaged. Other tables are checked by gnn_predict_run. */
int gnn_predict_check(const struct gnn_predict *p, struct gnn_err *e) GNN_MUST_USE;
void gnn_predict_release(struct gnn_predict *p);

/* The rows of all nodes of the target type, in the order of original ids or of store ids, to be
 * written: o refers to p. Brings them to the host, and checks embeddings as above. */
int gnn_predict_output(struct gnn_predict *p, enum gnn_predict_output what, bool original,
                       struct gnn_output *o, struct gnn_err *e) GNN_MUST_USE;
/* Adds the members of set `set` (index into schema.set) to score. */
int gnn_predict_score(struct gnn_predict *p, uint32_t set, struct gnn_score *score,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
