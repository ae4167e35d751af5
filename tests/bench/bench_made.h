/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of the shape of ogbn-products: fan-out 15,10,5 of new nodes, 1024 seeds. */
#ifndef GNN_TESTS_BENCH_BENCH_MADE_H
#define GNN_TESTS_BENCH_BENCH_MADE_H

#include "bench_step.h"

enum { MADE_HOPS = 3, MADE_CLASSES = 47 };
static const uint64_t made_count[MADE_HOPS + 1] = {1024, 13676, 118730, 443062};
static const uint32_t made_edges[MADE_HOPS] = {12968, 125545, 524499};

static uint64_t made_state = 3;
static inline uint32_t made_below(uint64_t n)
{
    made_state = made_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((made_state >> 33) * n >> 31);
}

static inline float *made_rows(size_t n)
{
    float *v = bench_need(aligned_alloc(64, (n * 4 + 63) / 64 * 64));
    for (size_t i = 0; i < n; i++)
        v[i] = (float)made_below(1 << 16) / (1 << 16) - 0.5f;
    return v;
}

/* `width` features. */
static inline void made_batch(struct gnn_batch *b, struct gnn_meta *meta, uint32_t width,
                              struct gnn_err *e)
{
    static struct gnn_batch_type type;
    static struct gnn_block block[MADE_HOPS];
    struct gnn_tensor *x;
    uint32_t *id = bench_need(malloc(made_count[MADE_HOPS] * sizeof(*id)));
    for (uint32_t i = 0; i < made_count[MADE_HOPS]; i++)
        id[i] = i;
    type = (struct gnn_batch_type){.node = id, .count = made_count};
    *b = (struct gnn_batch){
        .nhops = MADE_HOPS, .nntypes = 1, .netypes = 1, .type = &type, .block = block};
    for (uint32_t h = 0; h < MADE_HOPS; h++) {
        const uint32_t first = h ? (uint32_t)made_count[h - 1] : 0,
                       n = (uint32_t)made_count[h] - first;
        uint32_t *ptr = bench_need(malloc((n + 1) * sizeof(*ptr))),
                 *idx = bench_need(malloc(made_edges[h] * sizeof(*idx)));
        for (uint32_t i = 0; i <= n; i++)
            ptr[i] = (uint32_t)((uint64_t)made_edges[h] * i / n);
        for (uint32_t i = 0; i < made_edges[h];
             i++) /* most sources are new: in order of first occurrence */
            idx[i] = made_below(4)
                         ? (uint32_t)(made_count[h] +
                                      (made_count[h + 1] - made_count[h]) * i / made_edges[h])
                         : made_below(made_count[h + 1]);
        block[h] = (struct gnn_block){first, n, ptr[n], ptr, idx, NULL};
    }
    const uint64_t shape[2] = {made_count[MADE_HOPS], width};
    if (gnn_schema_add_ntype(&meta->schema, "n", made_count[MADE_HOPS], e) ||
        gnn_schema_add_nfield(&meta->schema, 0, "x", GNN_F32, width, e) ||
        gnn_schema_add_etype(&meta->schema, 0, "to", 0, 1, e) ||
        gnn_tensors_add(&b->tensors, "node/n/x", GNN_F32, 2, shape, &x, e)) {
        fprintf(stderr, "%s\n", e->msg);
        exit(1);
    }
    for (uint64_t i = 0; i < shape[0] * width; i++)
        ((float *)x->data)[i] = (float)made_below(1 << 16) / (1 << 16) - 0.5f;
    meta->schema.task = GNN_TASK_MULTICLASS;
    meta->schema.nclasses = MADE_CLASSES;
    meta->sampling.frontier = GNN_FRONTIER_NEW;
}

#endif
