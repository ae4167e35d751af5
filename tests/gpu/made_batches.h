/* SPDX-License-Identifier: Apache-2.0 */
/* A source of made-up batches with something to learn in them, for tests of training: batch i is a
 * function of the world and i. Node type a (seeds, with features and labels), with relation r; if
 * typed also b, with relations to and from a. */
#ifndef GNN_TESTS_GPU_MADE_BATCHES_H
#define GNN_TESTS_GPU_MADE_BATCHES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "lib/data/source.h"

enum { MADE_HOPS = 3, MADE_STEPS = 9, MADE_EVAL = 2, MADE_CLASSES = 4, MADE_NODES = 1000 };

struct made_world {
    bool typed, all; /* types a and b; every node so far is expanded */
    uint32_t wa, wb; /* widths of features; wb 0: none */
    enum gnn_dtype x;
    enum gnn_task task;
    uint64_t epochs;
    uint64_t nan_at, bad_at; /* training batch, from 1, with a NaN among the features, or a label
                                out of range; 0: none */
};

struct made {
    struct gnn_source base;
    struct gnn_meta meta;
    struct made_world w;
    struct gnn_batch_pool *pool;
    uint64_t at, state;
};

static void made_must(int rc)
{
    if (rc) {
        printf("Bail out! made batches: %d\n", rc);
        exit(1);
    }
}

static uint32_t made_below(struct made *s, uint32_t n)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((s->state >> 33) % n);
}
static float made_number(struct made *s)
{
    return (float)made_below(s, 1 << 20) / (float)(1 << 20) - 0.5f;
}

static void *made_tensor(struct gnn_batch *b, const char *name, enum gnn_dtype d, uint64_t rows,
                         uint64_t width)
{
    struct gnn_err e = {0};
    struct gnn_tensor *t;
    made_must(
        gnn_tensors_add(&b->tensors, name, d, width ? 2 : 1, (uint64_t[]){rows, width}, &t, &e));
    return t->data;
}

static void made_features(struct made *s, struct gnn_batch *b, const char *name, uint64_t rows,
                          uint64_t width, float *x)
{
    for (uint64_t i = 0; i < rows * width; i++)
        x[i] = made_number(s);
    if (s->w.x == GNN_F32)
        memcpy(made_tensor(b, name, GNN_F32, rows, width), x, rows * width * sizeof(*x));
    else
        gnn_f32_to_f16(x, rows * width, made_tensor(b, name, GNN_F16, rows, width));
}

/* Classes, or targets, that follow from the features. */
static void made_labels(struct made *s, struct gnn_batch *b, uint64_t n, const float *x, bool bad)
{
    const bool classes = s->w.task == GNN_TASK_MULTICLASS;
    const uint32_t width = classes ? 1 : MADE_CLASSES;
    int64_t *y = classes ? made_tensor(b, "node/a/y", GNN_I64, n, 0) : NULL;
    float *t = classes ? NULL : made_tensor(b, "node/a/y", GNN_F32, n, MADE_CLASSES);
    for (uint64_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < width; j++) {
            const float *v = x + i * s->w.wa;
            const int cls = (v[0] > 0) + 2 * (v[1] > 0);
            const bool known = made_below(s, 12);
            if (classes)
                y[i] = known ? cls : -1;
            else
                t[i * width + j] = known ? (float)(v[j] > 0) : NAN;
        }
    if (bad && classes)
        y[n / 2] = MADE_CLASSES + 3;
}

static void made_blocks(struct made *s, struct gnn_batch *b, uint64_t counts[2][MADE_HOPS + 1])
{
    for (uint32_t h = 0; h < MADE_HOPS; h++)
        for (uint32_t r = 0; r < s->meta.schema.netypes; r++) {
            const struct gnn_etype *t = &s->meta.schema.etype[r];
            const uint64_t first = s->w.all || !h ? 0 : counts[t->dst][h - 1],
                           n = counts[t->dst][h] - first;
            char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
            gnn_etype_key(&s->meta.schema, r, key, sizeof(key));
            uint32_t edges = 0,
                     *ptr = made_tensor(b, gnn_tensor_name(name, "hop/%u/%s/indptr", h, key),
                                        GNN_U32, n + 1, 0);
            for (uint64_t i = 0; i <= n; i++) {
                ptr[i] = edges;
                edges += made_below(s, 6) * (i < n);
            }
            ptr[n] = edges;
            uint32_t *idx = made_tensor(b, gnn_tensor_name(name, "hop/%u/%s/indices", h, key),
                                        GNN_U32, edges, 0);
            for (uint32_t k = 0; k < edges; k++)
                idx[k] = made_below(s, (uint32_t)counts[t->src][h + 1]);
        }
}

static void made_fill(struct made *s, struct gnn_batch *b, uint64_t epoch, uint64_t step,
                      uint32_t split)
{
    const uint64_t number = epoch * (MADE_STEPS + MADE_EVAL) + (split ? MADE_STEPS : 0) + step;
    const bool nan = !split && s->w.nan_at == epoch * MADE_STEPS + step + 1;
    uint64_t counts[2][MADE_HOPS + 1];
    s->state = 77 * number + 5;
    for (uint32_t h = 0; h <= MADE_HOPS; h++) {
        counts[0][h] = h ? 2 * counts[0][h - 1] + made_below(s, 9) : 20 + made_below(s, 12);
        counts[1][h] = h ? counts[1][h - 1] + 9 + made_below(s, 9) : 0;
    }
    memcpy(made_tensor(b, "key", GNN_U64, 4, 0), (uint64_t[]){epoch, step, split, 0}, 32);
    float *x = malloc((s->w.wa + s->w.wb) * MADE_NODES * sizeof(*x));
    made_must(!x);
    for (uint32_t t = 0; t < s->meta.schema.nntypes; t++) {
        const uint64_t n = counts[t][MADE_HOPS];
        memcpy(made_tensor(b, t ? "counts/b" : "counts/a", GNN_U64, MADE_HOPS + 1, 0), counts[t],
               sizeof(counts[t]));
        uint32_t *id = made_tensor(b, t ? "nodes/b" : "nodes/a", GNN_U32, n, 0);
        for (uint64_t i = 0; i < n; i++)
            id[i] = made_below(s, MADE_NODES);
        if (t && s->w.wb)
            made_features(s, b, "node/b/x", n, s->w.wb, x);
        if (t)
            continue;
        uint32_t *degree = made_tensor(b, "node/a/degree.r", GNN_U32, n, 0);
        for (uint64_t i = 0; i < n; i++)
            degree[i] = made_below(s, 12);
        made_features(s, b, "node/a/x", n, s->w.wa, x);
        made_labels(s, b, counts[0][0], x, !split && s->w.bad_at == epoch * MADE_STEPS + step + 1);
    }
    free(x);
    made_blocks(s, b, counts);
    if (nan)
        for (uint32_t i = 0; i < 9; i++) /* seeds, some of them labelled */
            ((float *)gnn_tensors_find(&b->tensors, "node/a/x")->data)[i * s->w.wa] = NAN;
}

static int made_next(struct gnn_source *base, struct gnn_batch **b, struct gnn_err *e)
{
    struct made *s = (struct made *)base;
    const uint64_t each = MADE_STEPS + MADE_EVAL, epoch = s->at / each, step = s->at % each;
    if (epoch == s->w.epochs)
        return GNN_END;
    s->at++;
    int rc = gnn_batch_get(s->pool, b, e);
    if (rc)
        return rc;
    made_fill(s, *b, epoch, step < MADE_STEPS ? step : step - MADE_STEPS, step >= MADE_STEPS);
    return gnn_batch_bind(*b, &s->meta, e);
}

static void made_free(struct gnn_source *base)
{
    struct made *s = (struct made *)base;
    gnn_batch_pool_free(s->pool);
    gnn_meta_release(&s->meta);
    gnn_free(s);
}

static void made_meta(struct gnn_meta *m, const struct made_world *w)
{
    struct gnn_err e = {0};
    struct gnn_schema *c = &m->schema;
    struct gnn_sampling *s = &m->sampling;
    made_must(gnn_schema_add_ntype(c, "a", MADE_NODES, &e));
    made_must(gnn_schema_add_nfield(c, 0, "x", GNN_F32, w->wa, &e));
    made_must(gnn_schema_add_nfield(c, 0, "degree.r", GNN_U32, 0, &e));
    const bool classes = w->task == GNN_TASK_MULTICLASS;
    made_must(gnn_schema_add_nfield(c, 0, "y", classes ? GNN_I64 : GNN_F32,
                                    classes ? 0 : MADE_CLASSES, &e));
    if (w->typed)
        made_must(gnn_schema_add_ntype(c, "b", MADE_NODES, &e));
    if (w->typed && w->wb)
        made_must(gnn_schema_add_nfield(c, 1, "x", GNN_F32, w->wb, &e));
    made_must(gnn_schema_add_etype(c, 0, "r", 0, 9000, &e));
    if (w->typed) {
        made_must(gnn_schema_add_etype(c, 1, "s", 0, 9000, &e));
        made_must(gnn_schema_add_etype(c, 0, "u", 1, 9000, &e));
    }
    c->task = w->task;
    c->nclasses = MADE_CLASSES;
    c->nparts = 1;
    m->is_stream = true;
    memcpy(m->identity, "0123456789abcdef", 17);
    *s = (struct gnn_sampling){.seed = 5,
                               .nhops = MADE_HOPS,
                               .batch_size = 20,
                               .nsplits = 2,
                               .frontier = w->all ? GNN_FRONTIER_ALL : GNN_FRONTIER_NEW};
    s->fanout = gnn_alloc_zero(MADE_HOPS * c->netypes, sizeof(*s->fanout), "a test", &e);
    s->split = gnn_alloc_zero(2, sizeof(*s->split), "a test", &e);
    s->steps = gnn_alloc_zero(2, sizeof(*s->steps), "a test", &e);
    s->split_seeds = gnn_alloc_zero(2, sizeof(*s->split_seeds), "a test", &e);
    made_must(e.code);
    s->split[0] = gnn_strdup("train", &e);
    s->split[1] = gnn_strdup("valid", &e);
    s->steps[0] = MADE_STEPS;
    s->steps[1] = MADE_EVAL;
}

static struct gnn_source *made_new(const struct made_world *w)
{
    struct gnn_err e = {0};
    struct made *s = gnn_alloc_zero(1, sizeof(*s), "a test", &e);
    made_must(!s);
    s->w = *w;
    made_meta(&s->meta, w);
    s->pool = gnn_batch_pool_new(&s->meta, &e);
    made_must(!s->pool);
    s->base = (struct gnn_source){.next = made_next, .free = made_free, .meta = &s->meta};
    return &s->base;
}

#endif
