/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement lib/predict/predict.h; nobody else includes it. */
#ifndef GNN_LIB_PREDICT_PREDICT_IMPL_H
#define GNN_LIB_PREDICT_PREDICT_IMPL_H

#include "lib/predict/predict.h"

enum {
    PREDICT_CHUNK = 8192,         /* rows done at once, so that they stay in a processor's cache; */
    PREDICT_CHUNK_DEVICE = 65536, /* enough for a device to be busy */
    PREDICT_EDGES = 1 << 24       /* and their edges at most, if there is more than one row */
};

/* Whether rows of a stage are kept in bf16: only sums along edges read them. */
bool gnn_predict_halves(const struct gnn_predict *p, uint32_t stage, uint32_t type);
/* A table of undefined contents, of bf16 if `half`: near if there is space for it; else, with a
 * device, in pinned memory of the host, and without one in a temporary file, where p->o.memory is
 * exceeded. */
int gnn_predict_table_new(struct gnn_predict *p, struct gnn_table *t, uint64_t rows, uint64_t width,
                          bool half, struct gnn_err *e) GNN_MUST_USE;
void gnn_predict_table_free(struct gnn_predict *p, struct gnn_table *t);
/* _check: GNN_E_RUN if the temporary file of t has been damaged. _end: the same after the last
 * read, and frees t. */
int gnn_predict_table_check(const struct gnn_table *t, struct gnn_err *e) GNN_MUST_USE;
int gnn_predict_table_end(struct gnn_predict *p, struct gnn_table *t,
                          struct gnn_err *e) GNN_MUST_USE;
/* Rows of t, near, in f32: its own memory, or a copy that is good until the next call. */
int gnn_predict_rows(struct gnn_predict *p, const struct gnn_table *t, uint64_t first, uint64_t n,
                     const float **x, struct gnn_err *e) GNN_MUST_USE;
/* Where rows of t are to be computed, near; and what has been computed there becomes t's. Rows come
 * in order. */
int gnn_predict_open_rows(struct gnn_predict *p, const struct gnn_table *t, uint64_t first,
                          uint64_t n, float **y, struct gnn_err *e) GNN_MUST_USE;
int gnn_predict_keep_rows(struct gnn_predict *p, const struct gnn_table *t, uint64_t first,
                          uint64_t n, const float *y, struct gnn_err *e) GNN_MUST_USE;
/* Moves t into the host's memory. */
int gnn_predict_to_host(struct gnn_predict *p, struct gnn_table *t, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_RUN, naming the first node by original id, unless all rows of t, nodes of that type,
 * are finite. */
int gnn_predict_check_rows(struct gnn_predict *p, struct gnn_table *t, const char *what,
                           struct gnn_err *e) GNN_MUST_USE;
static inline struct gnn_table *predict_made(const struct gnn_predict *p, uint32_t stage,
                                             uint32_t t)
{
    return &p->made[(size_t)stage * p->m->c.nntypes + t];
}
/* The node type of the rows that result. */
static inline uint32_t predict_target(const struct gnn_predict *p)
{
    return p->o.heads ? p->m->c.heads : p->m->c.target;
}
/* The stage whose rows of the target are the embedding: what enters the last one. */
static inline uint32_t predict_embedding_stage(const struct gnn_model *m)
{
    const struct gnn_stage *last = &m->stage[m->nstages - 1];
    return m->conv[last->conv].from;
}
/* Makes the rows of stage 0 for a type: the features, or ones. */
int gnn_predict_features(struct gnn_predict *p, uint32_t type, struct gnn_err *e) GNN_MUST_USE;

/* Checks offsets and sources of every relation, and takes the degrees of their nodes, if the layers
 * need them. */
int gnn_predict_relations(struct gnn_predict *p, struct gnn_err *e) GNN_MUST_USE;
/* A part's adjacency along relation r: "indptr" or "indices". */
const struct gnn_tensor *gnn_predict_adjacency(const struct gnn_predict *p, uint32_t part,
                                               uint32_t r, const char *what);

/* Makes the rows of a stage for all nodes of a type. */
int gnn_predict_stage(struct gnn_predict *p, uint32_t stage, uint32_t type,
                      struct gnn_err *e) GNN_MUST_USE;

/* The scorer that compares outputs with labels of a graph with this schema: the model's class for
 * each of the graph's, and scratch memory. */
struct predict_scorer {
    const struct gnn_model *m;
    const struct gnn_schema *schema;
    int32_t *class_of; /* [schema->nclasses], or NULL: the same */
    struct gnn_labels labels;
    struct gnn_buf loss;
};
/* GNN_E_INPUT, "PATH: ...", if the model has no such class. */
int gnn_predict_scorer_init(struct predict_scorer *q, const struct gnn_model *m,
                            const struct gnn_schema *s, const char *path,
                            struct gnn_err *e) GNN_MUST_USE;
void gnn_predict_scorer_release(struct predict_scorer *q);
/* Adds n rows of outputs z, which have the labels y, whose data it may change. */
int gnn_predict_score_rows(struct predict_scorer *q, struct gnn_tensor *y, const float *z,
                           uint64_t n, struct gnn_score *score, struct gnn_err *e) GNN_MUST_USE;

#endif
