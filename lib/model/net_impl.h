/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement lib/model/net.h; nobody else includes it. */
#ifndef GNN_LIB_MODEL_NET_IMPL_H
#define GNN_LIB_MODEL_NET_IMPL_H

#include "lib/model/net.h"

static inline struct gnn_conv_run *net_run(const struct gnn_net *n, const struct gnn_conv *v)
{
    return &n->run[v - n->pass.m->conv];
}
static inline struct gnn_net_act *net_act(const struct gnn_net *n, uint32_t stage, uint32_t t)
{
    return &n->act[(size_t)stage * n->pass.m->c.nntypes + t];
}
static inline uint32_t net_rows(const struct gnn_net *n, uint32_t stage, uint32_t t)
{
    return n->rows[(size_t)stage * n->pass.m->c.nntypes + t];
}
static inline const float **net_made(const struct gnn_net *n, uint32_t stage, uint32_t t)
{
    return &n->made[(size_t)stage * n->pass.m->c.nntypes + t];
}
/* Where the gradient of a stage's rows of type t is: that of the outputs has taken their place. */
static inline struct gnn_buf *net_dy(const struct gnn_net *n, uint32_t stage, uint32_t t)
{
    struct gnn_net_act *a = net_act(n, stage, t);
    return stage + 1 == n->pass.m->nstages ? &a->out : &a->grad;
}
/* Fills rows, blocks, factors, transposes for the batch n->b. */
int gnn_net_blocks(struct gnn_net *n, const struct gnn_meta *meta, struct gnn_err *e) GNN_MUST_USE;
/* Fills n->edge with what layers use of relation r's edges. */
int gnn_net_edges(struct gnn_net *n, const struct gnn_meta *meta, uint32_t r,
                  struct gnn_err *e) GNN_MUST_USE;

/* GNN_E_INPUT unless a batch's tensor is of a type that the operations widen: as gnb(5) has it, a
 * batch may have another floating-point type than its header. */
int gnn_net_check_floats(const struct gnn_tensor *x, struct gnn_err *e) GNN_MUST_USE;

/* Sets the number of OpenMP threads for the batch, if the operations run on them. */
void gnn_net_choose_threads(const struct gnn_net *n);
/* Sets up the steps after a stage's convolutions into type t. */
int gnn_net_after(struct gnn_net *n, uint32_t stage, uint32_t t, const struct gnn_net_mode *mode,
                  struct gnn_err *e) GNN_MUST_USE;
/* Before the rows of a convolution: its sources, or the messages made of them. */
int gnn_net_open_conv(struct gnn_net *n, const struct gnn_conv *v, struct gnn_err *e) GNN_MUST_USE;
/* A convolution's share of the output, all rows; fresh: nothing is there yet. after: what follows,
 * if this is the last one; or NULL. */
int gnn_net_conv_rows(struct gnn_net *n, const struct gnn_conv *v, float *out, bool fresh,
                      struct gnn_activation *after, struct gnn_err *e) GNN_MUST_USE;
/* Before a backward pass: gradients of parameters are 0, and of rows only the outputs have one; all
 * rows are early. */
void gnn_net_open_back(struct gnn_net *n);
/* The buffer that accumulates the gradients of a stage's early rows; its first writer writes all.
 * _zeroed: for a writer that adds to only some rows. */
int gnn_net_grad(struct gnn_net *n, uint32_t stage, uint32_t t, float **g,
                 struct gnn_err *e) GNN_MUST_USE;
int gnn_net_grad_zeroed(struct gnn_net *n, uint32_t stage, uint32_t t, float **g,
                        struct gnn_err *e) GNN_MUST_USE;
/* Everything that is done with the rows of dy, of which the early ones are there, chunk by chunk,
 * after gnn_activation_back_open. */
int gnn_net_rows_back(struct gnn_net *n, uint32_t stage, uint32_t t, float *dy,
                      struct gnn_err *e) GNN_MUST_USE;
/* Adds a convolution's share to the gradient of the destinations' own rows. */
int gnn_net_own_back(struct gnn_net *n, const struct gnn_conv *v, const float *dy,
                     struct gnn_err *e) GNN_MUST_USE;
/* Rows of type t as f32, from its features x, a tensor where the operations are; NULL: it has none.
 * Of features in place, those that layers do not read there. */
int gnn_net_input(struct gnn_net *n, uint32_t t, const struct gnn_tensor *x,
                  const struct gnn_net_mode *mode, struct gnn_err *e) GNN_MUST_USE;
/* The features of every type of the batch. */
int gnn_net_inputs(struct gnn_net *n, const struct gnn_net_mode *mode,
                   struct gnn_err *e) GNN_MUST_USE;
/* The mask of a stage (0: the features) and type t; false: no dropout. Keyed by (seed, epoch, step,
 * stage, type, original node id), so that it depends neither on the batch's numbering nor on the
 * parts of a store. */
bool gnn_net_dropout(const struct gnn_net *n, uint32_t stage, uint32_t t, double p, uint64_t seed,
                     struct gnn_dropout *q);

/* "use gnn-gather --fields x,y,degree": how batches come to have all that the model needs. */
enum { GNN_REMEDY_CAPACITY = 256 };
const char *gnn_net_remedy(const struct gnn_model_config *c, char *text, size_t capacity);

#endif
