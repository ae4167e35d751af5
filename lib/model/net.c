/* SPDX-License-Identifier: Apache-2.0 */
/* A net's memory, and what enters its first layer. */
#include "lib/model/net.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "kernels/gather.h"
#include "kernels/half.h"
#include "kernels/rng.h"
#include "lib/model/decoder.h"
#include "lib/model/examples.h"
#include "lib/model/net_impl.h"
#include "lib/model/row_source.h"
#include "lib/base/plural.h"

int gnn_net_fits(const struct gnn_model *m, const struct gnn_meta *meta, struct gnn_err *e)
{
    const struct gnn_sampling *s = &meta->sampling;
    if (!meta->is_stream || s->nsplits < 1)
        return gnn_fail(e, GNN_E_INPUT, "the input is not a stream of batches");
    if (s->walks.length)
        return gnn_fail(e, GNN_E_INPUT,
                        "the batches are random walks, not neighbourhoods that a model could use");
    if (gnn_examples_fit(m, meta, e))
        return e->code;
    if (!s->induced && s->nhops != m->c.nlayers)
        return gnn_fail(e, GNN_E_USAGE, "the model has %u layer%s, but the batches have %u hop%s",
                        m->c.nlayers, gnn_plural(m->c.nlayers), s->nhops, gnn_plural(s->nhops));
    return 0;
}

int gnn_net_init(struct gnn_net *n, const struct gnn_model *m, const struct gnn_ops *ops,
                 struct gnn_err *e)
{
    const uint64_t ns = m->nstages, nt = m->c.nntypes, ne = m->c.netypes;
    memset(n, 0, sizeof(*n));
    n->pass.m = m;
    n->pass.o = ops;
    n->threads = omp_get_max_threads();
    n->run = gnn_alloc_zero(m->nconvs, sizeof(*n->run), "relations", e);
    n->act = gnn_alloc_zero(ns * nt, sizeof(*n->act), "activations", e);
    n->made = gnn_alloc_zero(ns * nt, sizeof(*n->made), "activations", e);
    n->rows = gnn_alloc_zero(ns * nt, sizeof(*n->rows), "activations", e);
    n->node = gnn_alloc_zero(ne, sizeof(*n->node), "degrees", e);
    n->edge = gnn_alloc_zero(ne, sizeof(*n->edge), "edges", e);
    if (e->code || ops->fit(ops, &n->slab, m->nfloats, sizeof(float), "gradients", e))
        gnn_net_release(n);
    else
        n->pass.grad = n->slab.data;
    return e->code;
}

void gnn_net_release(struct gnn_net *n)
{
    const struct gnn_ops *o = n->pass.o;
    if (!o)
        return;
    const struct gnn_model *m = n->pass.m;
    const size_t ns = m->nstages, nt = m->c.nntypes, ne = m->c.netypes;
    for (size_t i = 0; n->run && i < m->nconvs; i++)
        gnn_conv_run_release(o, &n->run[i]);
    for (size_t i = 0; n->act && i < ns * nt; i++) {
        o->release(o, &n->act[i].out);
        o->release(o, &n->act[i].grad);
        gnn_activation_release(o, &n->act[i].after);
    }
    for (size_t i = 0; n->node && i < ne; i++)
        o->release(o, &n->node[i]);
    for (size_t i = 0; n->edge && i < ne; i++) {
        o->release(o, &n->edge[i].value);
        o->release(o, &n->edge[i].feature);
        o->release(o, &n->edge[i].id);
    }
    gnn_decoder_release(n);
    o->release(o, &n->blocks);
    o->release(o, &n->late);
    o->release(o, &n->slab);
    o->release_host(o, &n->counts);
    gnn_buf_release(&n->segs);
    gnn_pass_release(&n->pass);
    gnn_free(n->run);
    gnn_free(n->act);
    gnn_free(n->made);
    gnn_free(n->rows);
    gnn_free(n->node);
    gnn_free(n->edge);
    memset(n, 0, sizeof(*n));
}

bool gnn_net_dropout(const struct gnn_net *n, uint32_t stage, uint32_t t, double p, uint64_t seed,
                     struct gnn_dropout *q)
{
    if (p <= 0)
        return false;
    gnn_rng_key(seed, (uint32_t)n->b->epoch, (uint32_t)n->b->step, stage,
                gnn_rng_tag(GNN_RNG_DROPOUT, 0, t), q->key);
    q->node = n->b->type[t].orig ? n->b->type[t].orig : n->b->type[t].node;
    const double keep = rint((1 - p) * 65536);
    q->keep16 = keep < 1 ? 1 : (uint32_t)keep;
    return q->keep16 < 65536;
}

int gnn_net_check_floats(const struct gnn_tensor *x, struct gnn_err *e)
{
    if (x->dtype == GNN_F32 || x->dtype == GNN_F16 || x->dtype == GNN_BF16 || x->int8)
        return 0;
    return gnn_fail(e, GNN_E_INPUT, "batches have %s as %s: expected f32, f16 or bf16", x->name,
                    gnn_dtype_name(x->dtype));
}

/* How many of the type's rows, the first, are wanted in f32, one after the other: all, unless
 * layers read features as they are; in_place: the batch has no others. */
static uint32_t rows_together(const struct gnn_net *n, uint32_t t, bool in_place)
{
    const struct gnn_model *m = n->pass.m;
    uint32_t most = 0;
    bool read = in_place;
    EACH_CONV(v, m) {
        const struct gnn_conv_run *run = net_run(n, v);
        if (v->from || !v->needed)
            continue;
        if (v->dst == t && run->adj.ndst > most)
            most = run->adj.ndst;
        if (v->src != t || v->rel == GNN_ROWS)
            continue;
        if (!run->features)
            return net_rows(n, 0, t);
        read = true;
    }
    return read ? most : net_rows(n, 0, t);
}

/* Rows of n nodes from node `first` on, of features in place in bf16. */
static void widen_rows(const struct gnn_batch_type *type, uint64_t first, uint64_t n,
                       uint64_t width, float *y)
{
    enum { AHEAD = 8 };
    const uint32_t *node = type->node + first;
    const uint16_t *x = type->x->data;
    for (uint64_t i = 0; i < n; i++) {
        for (uint64_t k = 0; i + AHEAD < n && k < width; k += 32)
            __builtin_prefetch(x + node[i + AHEAD] * width + k);
        gnn_bf16_to_f32(x + node[i] * width, width, y + i * width);
    }
}

/* So many rows of features in place, copied; the gatherer has checked their numbers. */
static void copy_together(const struct gnn_net *n, uint32_t t, uint64_t rows, float *y)
{
    enum { ROWS = 1024 };
    const struct gnn_batch_type *type = &n->b->type[t];
    const uint64_t width = gnn_model_width(n->pass.m, 0, t);
    const struct gnn_gather_part all = {.count = type->x->shape[0], .data = type->x->data};
#pragma omp parallel for schedule(dynamic, 1)
    for (uint64_t i = 0; i < rows; i += ROWS) {
        if (type->x->dtype == GNN_BF16) {
            widen_rows(type, i, rows - i < ROWS ? rows - i : ROWS, width, y + i * width);
            continue;
        }
        const struct gnn_gather some = {.part = &all,
                                        .nparts = 1,
                                        .bytes = width * sizeof *y,
                                        .n = rows - i < ROWS ? rows - i : ROWS,
                                        .id = type->node + i,
                                        .out = y + i * width};
        (void)gnn_gather_rows(&some);
    }
}

/* The tensor's own memory where that will do, else a copy. */
int gnn_net_input(struct gnn_net *n, uint32_t t, const struct gnn_tensor *x,
                  const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_model_config *c = &n->pass.m->c;
    const struct gnn_ops *o = n->pass.o;
    const bool in_place = x && x == n->b->type[t].x;
    const uint32_t rows = rows_together(n, t, in_place);
    const uint64_t d = gnn_model_width(n->pass.m, 0, t);
    struct gnn_buf *buf = &net_act(n, 0, t)->out;
    struct gnn_dropout q;
    const bool drop = mode->train && gnn_net_dropout(n, 0, t, mode->dropout_input, mode->seed, &q);
    const bool whole =
        x && !in_place && x->dtype == GNN_F32 && c->feature_norm == GNN_FEATURES_AS_IS;
    if (x && gnn_net_check_floats(x, e))
        return e->code;
    if (whole && !drop) {
        *net_made(n, 0, t) = x->data;
        return 0;
    }
    if (o->fit(o, buf, rows * d, sizeof(float), "features", e))
        return e->code;
    float *y = buf->data;
    *net_made(n, 0, t) = y;
    if (!x)
        o->fill(o, y, rows * d, 1);
    else if (in_place)
        copy_together(n, t, rows, y);
    else if (!whole)
        o->floats(o, x, rows * d, y);
    if (x && c->feature_norm == GNN_FEATURES_ROW_SUM)
        o->unit_sums(o, y, rows, d);
    if (drop)
        o->dropout_copy(o, whole ? x->data : y, rows, d, &q, y);
    return 0;
}

int gnn_net_inputs(struct gnn_net *n, const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_model *m = n->pass.m;
    const struct gnn_tensor *x;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_live(m, 0, t) && (gnn_rows_of_batch(m, n->b, t, net_rows(n, 0, t), &x, e) ||
                                        gnn_net_input(n, t, x, mode, e)))
            return e->code;
    return 0;
}

/* Waiting for each other costs threads more than a batch of a few million operations is worth. */
void gnn_net_choose_threads(const struct gnn_net *n)
{
    const struct gnn_model *m = n->pass.m;
    enum { SMALL = 8000000 };
    uint64_t work = 0;
    if (n->pass.o->async)
        return;
    EACH_CONV(v, m) {
        const uint64_t ds = v->rel == GNN_ROWS ? 0 : gnn_model_width(m, v->from, v->src),
                       dd = gnn_model_width(m, v->from, v->dst);
        if (v->needed)
            work += net_run(n, v)->adj.edges * ds + net_rows(n, v->stage, v->dst) * (ds + dd) *
                                                        gnn_model_width(m, v->stage, v->dst);
    }
    omp_set_num_threads(work < SMALL ? 1 : n->threads);
}
