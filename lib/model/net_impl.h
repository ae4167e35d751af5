/* Shared by the files that implement lib/model/net.h; nobody else includes it. */
#ifndef GNN_LIB_MODEL_NET_IMPL_H
#define GNN_LIB_MODEL_NET_IMPL_H

#include <stdio.h>

#include "lib/model/net.h"

/* PyTorch's defaults. */
#define NET_NORM_EPS 1e-5f
#define NET_MOMENTUM 0.1f

static inline struct gnn_net_rel *net_rel(const struct gnn_net *n, uint32_t l, uint32_t r)
{
    return &n->rel[(size_t)l * n->m->c.netypes + r];
}
static inline struct gnn_net_act *net_act(const struct gnn_net *n, uint32_t l, uint32_t t)
{
    return &n->act[(size_t)l * n->m->c.nntypes + t];
}
static inline uint32_t net_rows(const struct gnn_net *n, uint32_t l, uint32_t t)
{
    return n->rows[(size_t)l * n->m->c.nntypes + t];
}
static inline const float **net_in(const struct gnn_net *n, uint32_t l, uint32_t t)
{
    return &n->in[(size_t)l * n->m->c.nntypes + t];
}
static inline uint64_t net_param(const struct gnn_net *n, uint32_t i)
{
    return n->m->param[i].at;
}

/* The norm after layer l for type t, index of its weight; or UINT32_MAX. */
static inline uint32_t net_norm(const struct gnn_net *n, uint32_t l, uint32_t t)
{
    return n->m->norm[(size_t)l * n->m->c.nntypes + t];
}
static inline bool net_batch_norm(const struct gnn_net *n, uint32_t l, uint32_t t)
{
    return n->m->c.batch_norm && net_norm(n, l, t) != UINT32_MAX;
}

/* Relation r of layer l has edges into type t. */
static inline bool net_into(const struct gnn_net *n, uint32_t l, uint32_t r, uint32_t t)
{
    return n->m->c.etype[r].dst == t && gnn_model_conv(n->m, l, r)->needed;
}

/* Fills rows, blocks, factors, transposes for the batch n->b. */
int net_blocks(struct gnn_net *n, const struct gnn_meta *meta, bool train,
               struct gnn_err *e) GNN_MUST_USE;

/* Transform first when it makes rows narrower and the dearer products do not eat up the gain. An
 * edge's element costs about as much as 27 multiply-adds of a product (measured: 15 GB/s against
 * 200 GFLOP/s). */
bool net_transform_first(uint64_t din, uint64_t dout, uint64_t ndst, uint64_t nsrc, uint64_t edges);

/* Sets OpenMP's number of threads for the batch, if it is theirs. */
void net_choose_threads(const struct gnn_net *n);
/* The features of every type, as f32 rows. */
int net_inputs(struct gnn_net *n, const struct gnn_net_mode *mode, struct gnn_err *e) GNN_MUST_USE;
/* The mask of layer l (0: the features) and type t; false: no dropout. Keyed by (seed, epoch, step,
 * layer, type, original node id), so that it depends neither on the batch's numbering nor on the
 * parts of a store. */
bool net_dropout(const struct gnn_net *n, uint32_t l, uint32_t t, double p, uint64_t seed,
                 struct gnn_dropout *q);

/* Batch norm after layer l for type t (lib/model/batch_norm.c). Before its rows are made: room, and
 * without `train` the running statistics; of each chunk that is made, in order, its moments; after
 * the last, the statistics. */
int net_batch_open(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, bool train,
                   struct gnn_err *e) GNN_MUST_USE;
void net_batch_add(struct gnn_net *n, uint32_t l, uint32_t t, uint32_t from, uint32_t to);
int net_batch_close(struct gnn_net *n, const float *p, uint32_t l, uint32_t t,
                    struct gnn_err *e) GNN_MUST_USE;
/* From the gradient of what ReLU gave, dy, all rows, to that of what the norm gave; n->grad of its
 * parameters; and what net_batch_back needs, which takes it further, chunk by chunk. */
int net_batch_back_open(struct gnn_net *n, uint32_t l, uint32_t t, float *dy,
                        struct gnn_err *e) GNN_MUST_USE;
void net_batch_back(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, uint32_t from,
                    uint32_t to, float *dy);

/* C = op(A) op(B) + beta C, counted. */
int net_gemm(struct gnn_net *n, bool ta, bool tb, size_t m, size_t nn, size_t k, const float *a,
             const float *b, float beta, float *c, const struct gnn_epilogue *ep,
             struct gnn_err *e) GNN_MUST_USE;

#endif
