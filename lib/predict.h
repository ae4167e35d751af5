/* Exact inference over a whole store, layer by layer: every node's row of a layer is computed once, from all its
 * neighbours, so the cost grows with the number of layers and not with neighbourhoods of neighbourhoods. */
#ifndef GNN_LIB_PREDICT_H
#define GNN_LIB_PREDICT_H

#include "lib/metrics.h"
#include "lib/model.h"
#include "lib/store.h"

/* Rows of a layer for all nodes of a type, in memory or in an unlinked temporary file. */
struct gnn_table {
    float *data;
    uint64_t rows, width;
    uint64_t mapped; /* bytes mapped from a file; 0: allocated, or borrowed */
    bool borrowed;   /* the store's own memory */
};

struct gnn_predict_opts {
    uint64_t memory;    /* bytes of activations to hold in memory; more goes to temporary files */
    const char *tmpdir; /* where those are made */
    void *arg;
    void (*progress)(void *arg, uint32_t layer, uint64_t done, uint64_t total); /* rows; may be NULL */
};

struct gnn_predict {
    const struct gnn_model *m;
    struct gnn_store *s;
    struct gnn_predict_opts o;
    struct gnn_table *in, *out; /* [nntypes] */
    struct gnn_table z;         /* sources transformed before aggregation */
    struct gnn_buf agg, row, bias;
    float **isqrt;              /* [netypes] GCN: degree^-1/2 by store id */
    uint64_t held;              /* bytes of tables in memory now */
    uint64_t flops, edges;
    /* results, by store id */
    struct gnn_table logits;    /* (nodes of the target type, outputs) */
    struct gnn_table embedding; /* what enters the last layer */
};

/* Computes p->logits and p->embedding. The store must fit the model (gnn_model_config_match) and outlive p; adjacency is
 * checked before it is used. Runs on OpenMP threads; the bits do not depend on the number of parts. */
int gnn_predict_run(struct gnn_predict *p, const struct gnn_model *m, struct gnn_store *s,
                    const struct gnn_predict_opts *o, struct gnn_err *e) GNN_MUST_USE;
void gnn_predict_release(struct gnn_predict *p);

enum gnn_predict_output { GNN_OUT_CLASSES, GNN_OUT_PROBS, GNN_OUT_EMBEDDINGS };
/* Writes a .npy file of one row per node of the target type, in the order of original ids, or of store ids. Classes: i32
 * (n), or u8 (n, outputs) for multi-label; probabilities f32 (n, outputs), n for binary; embeddings f32 (n, width).
 * Takes over fd. */
int gnn_predict_write(struct gnn_predict *p, enum gnn_predict_output what, bool original, int fd,
                      const char *name, struct gnn_err *e) GNN_MUST_USE;
/* Adds the members of set `set` (index into schema.set) to score. */
int gnn_predict_score(struct gnn_predict *p, uint32_t set, struct gnn_score *score,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
