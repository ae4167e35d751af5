/* SPDX-License-Identifier: Apache-2.0 */
/* A training step of SAGE with hidden width 256, dropout 0.5 and Adam: what bench_train and
 * bench_epoch time. */
#ifndef GNN_TESTS_BENCH_BENCH_STEP_H
#define GNN_TESTS_BENCH_BENCH_STEP_H

#include "kernels/loss.h"
#include "kernels/optim.h"
#include "lib/model/net.h"

#include "bench_common.h"

struct bench_model {
    struct gnn_model m;
    struct gnn_net net;
    float *moments;
    int32_t *y; /* made-up labels */
    double *loss;
    uint32_t seeds; /* capacity for so many */
    uint64_t t;     /* steps done */
};

static void *bench_need(void *p)
{
    if (!p)
        abort();
    return p;
}

/* Layers as c has them, nlayers of them; hidden ones are 256 wide. */
static void bench_model_of(struct bench_model *b, const struct gnn_ops *o,
                           const struct gnn_schema *schema, struct gnn_model_config c,
                           uint32_t nlayers, uint32_t seeds)
{
    struct gnn_err e = {0};
    c.nlayers = nlayers;
    for (uint32_t l = 0; l + 1 < nlayers; l++)
        c.width[l] = 256;
    *b = (struct bench_model){.seeds = seeds};
    if (gnn_model_config_fit(&c, schema, &e) || gnn_model_init(&b->m, &c, &e) ||
        gnn_net_init(&b->net, &b->m, o, &e))
        bench_die(&e);
    gnn_model_reset(&b->m, 1);
    b->moments = bench_need(calloc(2 * b->m.nfloats, sizeof(float)));
    b->loss = bench_need(calloc(seeds, sizeof(double)));
    b->y = bench_need(malloc(seeds * sizeof(int32_t)));
    for (uint32_t i = 0; i < seeds; i++)
        b->y[i] = (int32_t)(i % b->m.c.outputs);
}

static inline void bench_model_init(struct bench_model *b, const struct gnn_ops *o,
                                    const struct gnn_schema *schema, uint32_t nlayers,
                                    uint32_t seeds)
{
    bench_model_of(b, o, schema, (struct gnn_model_config){.layer = &gnn_layer_sage}, nlayers,
                   seeds);
}

static void bench_step(struct bench_model *b, const struct gnn_batch *batch,
                       const struct gnn_meta *meta)
{
    const struct gnn_net_mode mode = {true, 0.5, 0, 1};
    const struct gnn_optim_step s = {0.003f, 0, 0.9f, 0.999f, 1e-8f, 0, ++b->t};
    const uint32_t classes = b->m.c.outputs;
    struct gnn_err e = {0};
    float *z;
    const uint32_t rows = (uint32_t)batch->type[b->m.c.target].count[0];
    if (gnn_net_forward(&b->net, b->m.slab, batch, meta, &mode, &z, &e))
        bench_die(&e);
    if (rows > b->seeds)
        abort();
    gnn_softmax_ce(z, rows, classes, b->y, 1.0f / (float)rows, b->loss, z);
    if (gnn_net_backward(&b->net, b->m.slab, &e))
        bench_die(&e);
    gnn_adam(b->m.slab, b->net.pass.grad, b->moments, b->moments + b->m.nfloats, b->m.trained,
             false, &s);
}

#endif
