/* SPDX-License-Identifier: Apache-2.0 */
/* Whole nets on small random batches: their gradients against finite differences. */
#ifndef GNN_TESTS_UNIT_NET_CASE_H
#define GNN_TESTS_UNIT_NET_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/loss.h"
#include "lib/model/net.h"
#include "tap.h"

enum { HOPS = 3, CLASSES = 4 };

static uint64_t state = 7;
static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}
static float rnd(void)
{
    return (float)below(1 << 20) / (float)(1 << 20) - 0.5f;
}
static void die(const struct gnn_err *e)
{
    if (e->code) {
        printf("Bail out! %s\n", e->msg);
        exit(1);
    }
}

static uint64_t counts[2][HOPS + 1] = {{9, 22, 40, 61}, {0, 5, 11, 30}};
enum { PAIRS = 7, NEGATIVES = 12, LINKS = PAIRS + NEGATIVES, HEADS = 4 };

/* Node types a (9 seeds) and b (no seeds), relations a-a, b-a, a-b; or only a and a-a. */
static void make_schema(struct gnn_schema *s, bool typed, uint64_t wa, uint64_t wb,
                        struct gnn_err *e)
{
    memset(s, 0, sizeof(*s));
    if (gnn_schema_add_ntype(s, "a", 1000, e) || gnn_schema_add_nfield(s, 0, "x", GNN_F32, wa, e) ||
        gnn_schema_add_nfield(s, 0, "y", GNN_I64, 0, e))
        die(e);
    if (typed && (gnn_schema_add_ntype(s, "b", 1000, e) ||
                  (wb && gnn_schema_add_nfield(s, 1, "x", GNN_F32, wb, e))))
        die(e);
    if (gnn_schema_add_etype(s, 0, "r", 0, 100, e) ||
        gnn_schema_add_efield(s, 0, "w", GNN_F32, 0, e) ||
        gnn_schema_add_efield(s, 0, "x", GNN_F32, 3, e) ||
        (typed && (gnn_schema_add_etype(s, 1, "s.t", 0, 100, e) ||
                   gnn_schema_add_etype(s, 0, "u", 1, 100, e))))
        die(e);
    s->task = GNN_TASK_MULTICLASS;
    s->nclasses = CLASSES;
}

static void add_x(struct gnn_batch *b, const char *name, enum gnn_dtype dt, uint64_t n, uint64_t w,
                  struct gnn_err *e)
{
    struct gnn_tensor *t;
    const uint64_t shape[2] = {n, w};
    if (gnn_tensors_add(&b->tensors, name, dt, w ? 2 : 1, shape, &t, e))
        die(e);
    for (uint64_t i = 0; i < n * (w ? w : 1); i++)
        if (dt == GNN_F32)
            ((float *)t->data)[i] = rnd();
        else
            ((uint32_t *)t->data)[i] = below(12);
}

/* Weights and features of the edges a-a, and what gnn-gather adds of them: sums and loops of nodes.
 */
static void add_weights(struct gnn_batch *b, struct gnn_err *e)
{
    char name[GNN_NAME_MAX + 1];
    const uint64_t keep = state; /* what is drawn for others does not change with these */
    add_x(b, "node/a/degree.w.r", GNN_F32, counts[0][HOPS], 0, e);
    add_x(b, "node/a/loop.w.r", GNN_F32, counts[0][HOPS], 0, e);
    static const char *const shift[] = {"node/a/degree.w.r", "node/a/loop.w.r"};
    for (int i = 0; i < 2; i++) {
        float *x = (float *)gnn_tensors_find(&b->tensors, shift[i])->data;
        for (uint64_t k = 0; k < counts[0][HOPS]; k++)
            x[k] += 0.5f;
    }
    for (uint32_t h = 0; h < HOPS; h++) {
        const uint32_t edges = gnn_batch_block(b, h, 0)->edges;
        add_x(b, gnn_tensor_name(name, "hop/%u/a/r/a/w", h), GNN_F32, edges, 0, e);
        add_x(b, gnn_tensor_name(name, "hop/%u/a/r/a/x", h), GNN_F32, edges, 3, e);
    }
    state = keep;
}

static void make_batch(struct gnn_batch *b, const struct gnn_schema *s, bool all)
{
    struct gnn_err e = {0};
    memset(b, 0, sizeof(*b));
    b->nhops = HOPS;
    b->nntypes = s->nntypes;
    b->netypes = s->netypes;
    b->epoch = 3;
    b->step = 5;
    b->type = calloc(s->nntypes, sizeof(*b->type));
    b->block = calloc((size_t)HOPS * s->netypes, sizeof(*b->block));
    for (uint32_t t = 0; t < s->nntypes; t++) {
        uint32_t *id = malloc(counts[t][HOPS] * sizeof(*id));
        if (!b->type || !b->block || !id)
            abort();
        for (uint32_t i = 0; i < counts[t][HOPS]; i++)
            id[i] = 13 * i + t;
        b->type[t].node = id;
        b->type[t].count = counts[t];
    }
    for (uint32_t h = 0; h < HOPS; h++)
        for (uint32_t r = 0; r < s->netypes; r++) {
            const uint64_t *cd = counts[s->etype[r].dst], *cs = counts[s->etype[r].src];
            const uint32_t first = all || h == 0 ? 0 : (uint32_t)cd[h - 1],
                           n = (uint32_t)cd[h] - first;
            uint32_t *ptr = malloc((n + 1) * sizeof(*ptr)),
                     *idx = malloc((n + 1) * 6 * sizeof(*idx));
            if (!ptr || !idx)
                abort();
            ptr[0] = 0;
            for (uint32_t i = 0; i < n; i++) {
                ptr[i + 1] = ptr[i] + below(6);
                for (uint32_t k = ptr[i]; k < ptr[i + 1]; k++)
                    idx[k] = below((uint32_t)cs[h + 1]);
            }
            *gnn_batch_block(b, h, r) = (struct gnn_block){first, n, ptr[n], ptr, idx, NULL};
        }
    for (uint32_t t = 0; t < s->nntypes; t++) {
        const struct gnn_field *x = gnn_field_find(s->ntype[t].field, s->ntype[t].nfields, "x");
        if (x)
            add_x(b, t ? "node/b/x" : "node/a/x", GNN_F32, counts[t][HOPS], x->width, &e);
    }
    add_x(b, "node/a/degree.r", GNN_U32, counts[0][HOPS], 0, &e);
    add_weights(b, &e);
}

static void free_batch(struct gnn_batch *b)
{
    for (uint32_t t = 0; t < b->nntypes; t++)
        free((void *)(uintptr_t)b->type[t].node);
    for (uint32_t i = 0; i < HOPS * b->netypes; i++) {
        free((void *)(uintptr_t)b->block[i].indptr);
        free((void *)(uintptr_t)b->block[i].indices);
    }
    free(b->type);
    free(b->block);
    gnn_tensors_release(&b->tensors);
}

/* Some of them twice, and from a node to itself. */
static void add_links(struct gnn_batch *b, const struct gnn_model_config *c,
                      uint32_t links[LINKS][2])
{
    for (int i = 0; i < LINKS; i++) {
        links[i][0] = below((uint32_t)counts[c->heads][0]);
        links[i][1] = below((uint32_t)counts[c->target][0]);
    }
    b->pair = links[0];
    b->negative = links[PAIRS];
    b->rows[GNN_UNIT_PAIRS] = PAIRS;
    b->rows[GNN_UNIT_NEGATIVES] = NEGATIVES;
}

/* The loss of links: positives, then negatives. */
static double link_loss(float *z, enum gnn_link_loss by, bool grad)
{
    float y[LINKS] = {0};
    double row[LINKS], s = 0;
    for (int i = 0; i < PAIRS; i++)
        y[i] = 1;
    if (by)
        gnn_link_loss(z, y, PAIRS, NEGATIVES, 0, by == GNN_LOSS_SOFTMAX, 1, row, grad ? z : NULL);
    else
        gnn_sigmoid_ce(z, LINKS, 1, y, 1, row, grad ? z : NULL);
    for (int i = 0; i < LINKS; i++)
        s += row[i];
    return s;
}

static double loss(struct gnn_net *n, const float *p, const struct gnn_batch *b,
                   const struct gnn_meta *meta, const struct gnn_net_mode *mode, bool grad)
{
    static const int32_t y[9] = {0, 1, 2, 3, 0, 1, -1, 3, 0};
    struct gnn_err e = {0};
    double row[9], s = 0;
    float *z;
    const uint32_t rows = (uint32_t)b->type[n->pass.m->c.target].count[0];
    if (gnn_net_forward(n, p, b, meta, mode, &z, &e))
        die(&e);
    if (n->pass.m->c.decoder)
        s = link_loss(z, n->pass.m->c.loss, grad);
    else
        gnn_softmax_ce(z, rows, CLASSES, y, 1, row, grad ? z : NULL);
    for (uint32_t i = 0; !n->pass.m->c.decoder && i < rows; i++)
        s += row[i];
    if (grad && gnn_net_backward(n, p, &e))
        die(&e);
    return s;
}

/* Directional derivatives along random directions, parameter by parameter, and all at once. Of two
 * directions of a parameter the better one counts: the other may cross a kink of ReLU. */
static double worst_gap(struct gnn_net *n, struct gnn_model *m, const struct gnn_batch *b,
                        const struct gnn_meta *meta, const struct gnn_net_mode *mode, float h)
{
    float *p = malloc(m->nfloats * sizeof(*p)), *g = malloc(m->nfloats * sizeof(*g));
    double worst = 0, *gap = malloc(m->nparams * sizeof(*gap));
    if (!p || !g || !gap)
        abort();
    loss(n, m->slab, b, meta, mode, true);
    memcpy(g, n->pass.grad, m->nfloats * sizeof(*g));
    for (uint32_t k = 0; k <= 2 * m->nparams; k++) {
        const struct gnn_param *q = &m->param[k % m->nparams];
        const bool whole = k == 2 * m->nparams;
        const uint64_t from = whole ? 0 : q->at, to = whole ? m->trained : q->at + q->count;
        if (!whole && q->must && !q->trained) /* a constant */
            continue;
        double l[2], got = 0, scale = 0;
        const uint64_t keep = state;
        for (int s = 0; s < 2; s++) {
            state = keep;
            memcpy(p, m->slab, m->nfloats * sizeof(*p));
            got = 0;
            for (uint64_t i = from; i < to; i++) {
                const float d = rnd();
                p[i] += s ? h * d : -h * d;
                got += (double)d * (double)g[i];
                scale += (double)(g[i] * g[i]);
            }
            l[s] = loss(n, p, b, meta, mode, false);
        }
        const double want = (l[1] - l[0]) / (2 * (double)h),
                     now = fabs(want - got) / (0.05 + sqrt(scale));
        if (k < m->nparams)
            gap[k] = now;
        else
            worst = worst_of(worst, whole ? now : fmin(now, gap[k - m->nparams]));
    }
    free(gap);
    free(p);
    free(g);
    return worst;
}

struct variant {
    const char *name;
    const struct gnn_layer *layer;
    bool typed, all, norm, batch, residual;
    uint32_t wa, wb, hidden;
    double drop;
};

/* Gradients of a model with configuration c against finite differences; initial values by `seed`.
 */
static void check_gradients(const struct variant *v, struct gnn_model_config c, uint64_t seed)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    struct gnn_model m;
    struct gnn_net n;
    const struct gnn_net_mode mode = {true, v->drop, v->drop / 2, 99};
    struct gnn_ops few = gnn_ops_cpu;
    few.chunk = 8; /* rows come in several chunks, as those of large batches */
    make_schema(&meta.schema, v->typed, v->wa, v->wb, &e);
    meta.sampling.frontier = v->all ? GNN_FRONTIER_ALL : GNN_FRONTIER_NEW;
    if (gnn_model_config_fit(&c, &meta.schema, &e) || gnn_model_init(&m, &c, &e) ||
        gnn_net_init(&n, &m, &few, &e))
        die(&e);
    gnn_model_reset(&m, seed);
    for (uint32_t k = 0; k < m.nparams;
         k++) /* away from zero, so that few ReLUs sit at their kink */
        if (m.param[k].ndim == 1)
            for (uint64_t j = 0; j < m.param[k].count; j++)
                m.slab[m.param[k].at + j] +=
                    v->batch && strstr(m.param[k].name, "module.bias") ? (j % 4 ? 2 : -2) : 0.1f;
    make_batch(&b, &meta.schema, v->all);
    uint32_t links[LINKS][2];
    if (m.c.decoder)
        add_links(&b, &m.c, links);
    /* Small, as ReLU has kinks; batch norm's rows are kept from these, and have larger
     * gradients, so more noise. */
    const double w = worst_gap(&n, &m, &b, &meta, &mode, v->batch ? 4e-3f : 4e-4f);
    ok(w < 0.02, "gnn_net_backward of %s agrees with finite differences (%.1e)", v->name, w);
    loss(&n, m.slab, &b, &meta, &mode, true);
    float *g = malloc(m.nfloats * sizeof(*g));
    if (!g)
        abort();
    memcpy(g, n.pass.grad, m.nfloats * sizeof(*g));
    loss(&n, m.slab, &b, &meta, &mode, true);
    ok(!memcmp(g, n.pass.grad, m.nfloats * sizeof(*g)),
       "gnn_net_backward of %s gives the same bits again", v->name);
    if (!strcmp(v->name, m.c.layer->name))
        ok((n.late.data != NULL) == (m.c.layer->late_back != NULL),
           "%s: gradients of rows that only edges lead to are made late if they can be", v->name);
    double unused = 0;
    for (uint64_t j = m.trained; j < m.nfloats; j++)
        unused += fabs((double)g[j]);
    ok(unused == 0,
       "gnn_net_backward of %s gives no gradient to what the output does not depend on", v->name);
    free(g);
    free_batch(&b);
    gnn_net_release(&n);
    gnn_model_release(&m);
    gnn_schema_release(&meta.schema);
}

#endif
