/* SPDX-License-Identifier: Apache-2.0 */
/* Whole nets on small random batches: gradients against finite differences, both frontier rules,
 * typed graphs. */
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

static const uint64_t counts[2][HOPS + 1] = {{9, 22, 40, 61}, {0, 5, 11, 30}};

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
    gnn_softmax_ce(z, rows, CLASSES, y, 1, row, grad ? z : NULL);
    for (uint32_t i = 0; i < rows; i++)
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
    make_schema(&meta.schema, v->typed, v->wa, v->wb, &e);
    meta.sampling.frontier = v->all ? GNN_FRONTIER_ALL : GNN_FRONTIER_NEW;
    if (gnn_model_config_fit(&c, &meta.schema, &e) || gnn_model_init(&m, &c, &e) ||
        gnn_net_init(&n, &m, &gnn_ops_cpu, &e))
        die(&e);
    gnn_model_reset(&m, seed);
    for (uint32_t k = 0; k < m.nparams;
         k++) /* away from zero, so that few ReLUs sit at their kink */
        if (m.param[k].ndim == 1)
            for (uint64_t j = 0; j < m.param[k].count; j++)
                m.slab[m.param[k].at + j] +=
                    v->batch && strstr(m.param[k].name, "module.bias") ? (j % 4 ? 2 : -2) : 0.1f;
    make_batch(&b, &meta.schema, v->all);
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

static void test_gradients(void)
{
    static const struct variant v[] = {
        {"sage", &gnn_layer_sage, false, false, false, false, false, 5, 0, 8, 0},
        {"sage, all", &gnn_layer_sage, false, true, false, false, false, 5, 0, 8, 0},
        {"sage, transform first", &gnn_layer_sage, false, false, false, false, false, 300, 0, 8, 0},
        {"sage, norm, residual", &gnn_layer_sage, false, true, true, false, true, 8, 0, 8, 0},
        {"sage, dropout", &gnn_layer_sage, false, false, true, false, false, 5, 0, 8, 0.3},
        {"sage, typed", &gnn_layer_sage, true, false, false, false, false, 5, 6, 8, 0},
        {"sage, typed, all, norm", &gnn_layer_sage, true, true, true, false, true, 5, 6, 8, 0.2},
        {"sage, typed, no features", &gnn_layer_sage, true, false, false, false, false, 300, 0, 8,
         0},
        {"gcn", &gnn_layer_gcn, false, false, false, false, false, 5, 0, 8, 0},
        {"gcn, transform first", &gnn_layer_gcn, false, true, true, false, true, 300, 0, 8, 0.5},
        {"sage, batch norm", &gnn_layer_sage, false, false, false, true, false, 5, 0, 8, 0},
        {"sage, all, batch norm, dropout", &gnn_layer_sage, false, true, false, true, true, 8, 0, 8,
         0.3},
        {"sage, typed, all, batch norm", &gnn_layer_sage, true, true, false, true, true, 5, 6, 8,
         0},
        {"gcn, batch norm, transform first", &gnn_layer_gcn, false, true, false, true, false, 300,
         0, 8, 0},
        {"gin", &gnn_layer_gin, false, false, false, false, false, 5, 0, 8, 0},
        {"gin, eps", &gnn_layer_gin, false, true, false, false, true, 8, 0, 8, 0.3},
        {"gin, eps, norm", &gnn_layer_gin, false, false, true, false, false, 5, 0, 8, 0},
        {"gin, eps, batch norm", &gnn_layer_gin, false, true, false, true, true, 8, 0, 8, 0},
        {"gin, eps, typed, all, norm", &gnn_layer_gin, true, true, true, false, true, 5, 5, 8, 0.2},
        {"gin, eps, typed, batch norm", &gnn_layer_gin, true, false, false, true, false, 5, 5, 8,
         0},
    };
    for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++)
        check_gradients(&v[i],
                        (struct gnn_model_config){.layer = v[i].layer,
                                                  .nlayers = HOPS,
                                                  .width = {v[i].hidden, v[i].hidden},
                                                  .layer_norm = v[i].norm,
                                                  .batch_norm = v[i].batch,
                                                  .residual = v[i].residual,
                                                  .option = {strstr(v[i].name, "eps") != NULL}},
                        i);
}

/* Encoders, heads, feed-forward blocks, jumping knowledge, activations. */
static void test_surroundings(void)
{
    static const struct {
        struct variant v;
        struct gnn_model_config c;
    } of[] = {
        {{"an encoder and a head", .wa = 5}, {.encoder = 7, .has_head = true}},
        {{"a head of two hidden layers, typed, all", .typed = true, .all = true, .wa = 5, .wb = 6,
          .drop = 0.2},
         {.has_head = true, .nhead = 2, .head = {6, 5}, .layer_norm = true}},
        {{"elu", .wa = 5}, {.act = GNN_ACT_ELU}},
        {{"elu with dropout and batch norm", .all = true, .batch = true, .wa = 5, .drop = 0.3},
         {.act = GNN_ACT_ELU, .batch_norm = true, .residual = true}},
        {{"leaky ReLU with dropout", .wa = 5, .drop = 0.3},
         {.act = GNN_ACT_LEAKY, .layer_norm = true}},
        {{"a residual with a projection, typed", .typed = true, .wa = 5, .wb = 6},
         {.residual = true, .projection = true, .layer_norm = true}},
        {{"feed-forward blocks", .wa = 5},
         {.residual = true, .ffn = true, .layer_norm = true, .encoder = 8, .has_head = true}},
        {{"feed-forward blocks, all, dropout, projection", .all = true, .wa = 5, .drop = 0.2},
         {.residual = true, .projection = true, .ffn = true, .layer_norm = true}},
        {{"feed-forward blocks, typed, batch norm", .typed = true, .batch = true, .wa = 5, .wb = 6},
         {.residual = true, .ffn = true, .batch_norm = true, .has_head = true, .act = GNN_ACT_ELU}},
        {{"jumping knowledge, side by side", .wa = 5, .drop = 0.2},
         {.jk = GNN_JK_CAT, .has_head = true, .layer_norm = true}},
        {{"jumping knowledge, maximum", .all = true, .wa = 5},
         {.jk = GNN_JK_MAX, .has_head = true, .act = GNN_ACT_ELU}},
        {{"gcn with edge weights", .wa = 5}, {.layer = &gnn_layer_gcn}},
        {{"gcn with edge weights, all, transform first", .all = true, .wa = 300},
         {.layer = &gnn_layer_gcn, .layer_norm = true}},
        {{"gine", .wa = 5}, {.layer = &gnn_layer_gine, .edge_features = true}},
        {{"gine, all, batch norm, eps", .all = true, .batch = true, .wa = 8},
         {.layer = &gnn_layer_gine, .edge_features = true, .batch_norm = true, .option = {1}}},
        {{"jumping knowledge, typed, head", .typed = true, .wa = 5, .wb = 6},
         {.jk = GNN_JK_CAT,
          .has_head = true,
          .nhead = 1,
          .head = {5},
          .layer_norm = true,
          .encoder = 6}},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct gnn_model_config c = of[i].c;
        if (!c.layer)
            c.layer = &gnn_layer_sage;
        if (strstr(of[i].v.name, "edge weights"))
            c.edge_weight = strdup("w");
        c.nlayers = HOPS;
        for (uint32_t l = 0; l < HOPS; l++)
            c.width[l] = 8;
        check_gradients(&of[i].v, c, 40 + i);
    }
}

/* Heads side by side and averaged, with self-loops and without, several relations into a type. */
static void test_attention(void)
{
    enum { CONCAT = 1 };
    const struct gnn_layer *const gat = &gnn_layer_gat, *const v2 = &gnn_layer_gatv2;
    static const double one[] = {1, 0, 0.2, 0, 1, 0, 0}, mean[] = {2, 0, 0.2, 0, 1, 0, 0},
                        concat[] = {4, CONCAT, 0.3, 0, 1, 0, 0},
                        bare[] = {4, CONCAT, 0.1, 0, 0, 0, 0}, shared[] = {2, 0, 0.2, 0, 1, 0, 1},
                        linear[] = {4, CONCAT, 1, 0, 1, 0, 0}, /* scores without a kink */
        res[] = {2, 0, 0.2, 0, 1, 1, 0}, shared_res[] = {4, CONCAT, 0.2, 0, 1, 1, 1};
    const struct {
        struct variant v;
        const double *option;
    } of[] = {
        {{"gat", gat, .wa = 5}, one},
        {{"gat, heads averaged, all", gat, .all = true, .wa = 5, .drop = 0.2}, mean},
        {{"gat, heads side by side", gat, .wa = 5, .norm = true}, concat},
        {{"gat, no self-loops, residual", gat, .wa = 5, .residual = true}, bare},
        {{"gat, typed", gat, .typed = true, .wa = 5, .wb = 6}, mean},
        {{"gat, typed, all, batch norm", gat, .typed = true, .all = true, .batch = true, .wa = 5,
          .wb = 6},
         linear},
        {{"gat, typed, no features", gat, .typed = true, .wa = 5}, bare},
        {{"gatv2", v2, .wa = 5}, one},
        {{"gatv2, heads averaged, all", v2, .all = true, .wa = 5, .drop = 0.2}, mean},
        {{"gatv2, heads side by side", v2, .wa = 5, .norm = true}, concat},
        {{"gatv2, no self-loops, residual", v2, .wa = 5, .residual = true}, bare},
        {{"gatv2, shared weights", v2, .wa = 5}, shared},
        {{"gatv2, typed", v2, .typed = true, .wa = 5, .wb = 6}, mean},
        {{"gatv2, typed, all, norm", v2, .typed = true, .all = true, .norm = true, .wa = 5,
          .wb = 6},
         concat},
        {{"gatv2, typed, shared weights", v2, .typed = true, .wa = 5, .wb = 5}, shared},
        {{"gat, edges with features", gat, .wa = 5}, one},
        {{"gat, edges with features, heads averaged, all, dropout", gat, .all = true, .wa = 5,
          .drop = 0.2},
         mean},
        {{"gat, edges with features, no self-loops, norm", gat, .wa = 5, .norm = true}, bare},
        {{"gat, edges with features, typed", gat, .typed = true, .all = true, .wa = 5, .wb = 6},
         concat},
        {{"gatv2, edges with features", v2, .wa = 5}, one},
        {{"gatv2, edges with features, heads averaged, all, dropout", v2, .all = true, .wa = 5,
          .drop = 0.2},
         mean},
        {{"gatv2, edges with features, no self-loops, norm", v2, .wa = 5, .norm = true}, bare},
        {{"gatv2, edges with features, typed", v2, .typed = true, .all = true, .wa = 5, .wb = 6},
         concat},
        {{"gatv2, edges with features, shared weights", v2, .wa = 5}, shared},
        {{"gat with res, residual", gat, .wa = 5, .norm = true, .residual = true}, res},
        {{"gat with res, typed", gat, .typed = true, .all = true, .wa = 5, .wb = 6}, res},
        {{"gatv2 with res", v2, .wa = 5}, shared_res},
        {{"gatv2 with res, typed, no features", v2, .typed = true, .wa = 5}, res},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct gnn_model_config c = {.layer = of[i].v.layer,
                                     .nlayers = HOPS,
                                     .width = {8, 8},
                                     .layer_norm = of[i].v.norm,
                                     .batch_norm = of[i].v.batch,
                                     .residual = of[i].v.residual,
                                     .edge_features = strstr(of[i].v.name, "edges with") != NULL};
        memcpy(c.option, of[i].option, sizeof one);
        check_gradients(&of[i].v, c, 80 + i);
    }
}

/* Running statistics take steps of 0.1 towards a batch's, are what evaluation uses, and are no
 * business of the optimiser. */
static void test_running(void)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    struct gnn_model_config c = {
        .layer = &gnn_layer_sage, .nlayers = HOPS, .width = {6, 6}, .batch_norm = true};
    struct gnn_model m;
    struct gnn_net n;
    const struct gnn_net_mode train = {true, 0, 0, 1}, eval = {false, 0, 0, 1};
    state = 11; /* the batch is the same, whatever was drawn before */
    make_schema(&meta.schema, true, 5, 6, &e);
    if (gnn_model_config_fit(&c, &meta.schema, &e) || gnn_model_init(&m, &c, &e) ||
        gnn_net_init(&n, &m, &gnn_ops_cpu, &e))
        die(&e);
    gnn_model_reset(&m, 4);
    make_batch(&b, &meta.schema, true);
    const double first = loss(&n, m.slab, &b, &meta, &eval, false),
                 batch = loss(&n, m.slab, &b, &meta, &train, false);
    bool apart = true;
    for (uint32_t i = 0; i < m.nparams; i++)
        apart = apart && m.param[i].trained == (m.param[i].at < m.trained) &&
                (strstr(m.param[i].name, "running") == NULL || !m.param[i].trained);
    ok(apart, "gnn_model_layout puts what is trained in front of running statistics");
    for (int i = 0; i < 200; i++) {
        loss(&n, m.slab, &b, &meta, &train, false);
        gnn_net_track(&n, m.slab);
    }
    const double last = loss(&n, m.slab, &b, &meta, &eval, false);
    ok(fabs(first - batch) > 0.01 && fabs(last - batch) < 0.2 * fabs(first - batch),
       "evaluation comes to use the statistics of a batch: %g, %g, %g", first, batch, last);
    const uint32_t norm = m.norm[m.c.nntypes]; /* of the first layer */
    int64_t batches;
    memcpy(&batches, m.slab + m.param[norm + GNN_NORM_BATCHES].at, sizeof batches);
    ok(batches == 200, "batch norm counts the batches that it has tracked");
    ok(!strcmp(m.param[norm].name, "norms.0.a.module.weight") &&
           !strcmp(m.param[norm + GNN_NORM_BATCHES].name, "norms.0.a.module.num_batches_tracked"),
       "gnn_model_layout names the parameters of batch norm as PyG does");
    free_batch(&b);
    gnn_net_release(&n);
    gnn_model_release(&m);
    gnn_schema_release(&meta.schema);
}

static void test_names(void)
{
    struct gnn_err e = {0};
    struct gnn_schema s;
    struct gnn_model_config c = {
        .layer = &gnn_layer_sage, .nlayers = 2, .width = {8}, .layer_norm = true};
    struct gnn_model m;
    make_schema(&s, true, 5, 6, &e);
    if (gnn_model_config_fit(&c, &s, &e) || gnn_model_init(&m, &c, &e))
        die(&e);
    static const char *const want[] = {
        "convs.0.convs.<a___r___a>.lin_l.weight", "convs.0.convs.<a___r___a>.lin_l.bias",
        "convs.0.convs.<a___r___a>.lin_r.weight", "convs.0.convs.<b___s#t___a>.lin_l.weight",
        "convs.0.convs.<b___s#t___a>.lin_l.bias", "convs.0.convs.<b___s#t___a>.lin_r.weight",
    };
    bool same = true;
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        same = same && !strcmp(m.param[i].name, want[i]);
    ok(same, "gnn_model_layout names the parameters of a typed model as PyG does");
    ok(m.trained < m.nfloats,
       "gnn_model_layout leaves the last relation into another node type untrained");
    gnn_model_release(&m);
    c = (struct gnn_model_config){.layer = &gnn_layer_gcn, .nlayers = 2, .width = {8}};
    ok(!gnn_model_config_fit(&c, &s, &e) && gnn_model_layout(&m, &c, &e) == GNN_E_USAGE,
       "gnn_model_layout refuses GCN between two node types");
    e = (struct gnn_err){0};
    c = (struct gnn_model_config){.layer = &gnn_layer_gin, .nlayers = 2, .width = {8}};
    ok(!gnn_model_config_fit(&c, &s, &e) && gnn_model_layout(&m, &c, &e) == GNN_E_USAGE &&
           strstr(e.msg, "has 6 and 5 features"),
       "gnn_model_layout refuses GIN between types of different widths: %s", e.msg);
    e = (struct gnn_err){0};
    c = (struct gnn_model_config){
        .layer = &gnn_layer_gat, .nlayers = 2, .width = {10}, .option = {4, 0}};
    ok(!gnn_model_config_fit(&c, &s, &e) && gnn_model_layout(&m, &c, &e) == GNN_E_USAGE &&
           strstr(e.msg, "4 heads side by side do not fill 10 columns"),
       "gnn_model_layout refuses heads that do not divide a hidden width: %s", e.msg);
    e = (struct gnn_err){0};
    c = (struct gnn_model_config){
        .layer = &gnn_layer_gat, .nlayers = 2, .width = {9}, .option = {3, 1}};
    ok(!gnn_model_config_fit(&c, &s, &e) && gnn_model_layout(&m, &c, &e) == GNN_E_USAGE &&
           strstr(e.msg, "do not fill 4 outputs; use --last-heads mean"),
       "gnn_model_layout refuses heads that do not divide the outputs: %s", e.msg);
    e = (struct gnn_err){0};
    c = (struct gnn_model_config){
        .layer = &gnn_layer_gatv2, .nlayers = 2, .width = {8}, .option = {2, 0, 0, 0, 0, 0, 1}};
    ok(!gnn_model_config_fit(&c, &s, &e) && gnn_model_layout(&m, &c, &e) == GNN_E_USAGE &&
           strstr(e.msg, "has 6 and 5 features"),
       "gnn_model_layout refuses shared weights between types of different widths: %s", e.msg);
    gnn_schema_release(&s);
}

/* A batch may have a floating-point type that its header does not name (gnb(5)); f64 is refused. */
static void test_double(struct gnn_model_config c, const char *tensor)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    struct gnn_model m;
    struct gnn_net n;
    float *z;
    const struct gnn_net_mode mode = {false, 0, 0, 1};
    c.nlayers = HOPS;
    c.width[0] = c.width[1] = 8;
    make_schema(&meta.schema, false, 5, 0, &e);
    if (gnn_model_config_fit(&c, &meta.schema, &e) || gnn_model_init(&m, &c, &e) ||
        gnn_net_init(&n, &m, &gnn_ops_cpu, &e))
        die(&e);
    gnn_model_reset(&m, 3);
    make_batch(&b, &meta.schema, false);
    struct gnn_tensor *t = (struct gnn_tensor *)(uintptr_t)gnn_tensors_find(&b.tensors, tensor);
    if (!t || gnn_net_forward(&n, m.slab, &b, &meta, &mode, &z, &e))
        die(&e);
    t->dtype = GNN_F64;
    ok(gnn_net_forward(&n, m.slab, &b, &meta, &mode, &z, &e) == GNN_E_INPUT &&
           strstr(e.msg, tensor) && strstr(e.msg, "f64"),
       "gnn_net_forward refuses %s of doubles: %s", tensor, e.msg);
    free_batch(&b);
    gnn_net_release(&n);
    gnn_model_release(&m);
    gnn_schema_release(&meta.schema);
}

/* Aggregation, normalised results and projected sources of GraphSAGE. */
static void test_sage(void)
{
    enum { MAX = 1, SUM };
    static const struct {
        struct variant v;
        struct gnn_model_config c;
    } of[] = {
        {{"sage, sum", .wa = 5}, {.option = {SUM}}},
        {{"sage, sum, transform first", .all = true, .wa = 300},
         {.option = {SUM}, .layer_norm = true}},
        {{"sage, max", .wa = 5}, {.option = {MAX}}},
        {{"sage, max, typed, norm, residual, dropout", .typed = true, .all = true, .wa = 5, .wb = 6,
          .drop = 0.2},
         {.option = {MAX}, .layer_norm = true, .residual = true}},
        {{"sage, normalised", .wa = 5}, {.option = {0, 1}, .act = GNN_ACT_ELU}},
        {{"sage, normalised, typed, all, residual", .typed = true, .all = true, .wa = 5, .wb = 6},
         {.option = {0, 1}, .residual = true, .act = GNN_ACT_ELU}},
        {{"sage, normalised, transform first", .wa = 300, .drop = 0.2},
         {.option = {SUM, 1}, .act = GNN_ACT_LEAKY}},
        {{"sage, projected", .wa = 5}, {.option = {0, 0, 1}}},
        {{"sage, projected, typed", .typed = true, .wa = 5, .wb = 6, .drop = 0.2},
         {.option = {SUM, 0, 1}, .layer_norm = true}},
        {{"sage, max, projected, normalised, typed", .typed = true, .wa = 5, .wb = 6},
         {.option = {MAX, 1, 1}, .act = GNN_ACT_ELU}},
        {{"sage, max, projected, normalised, batch norm", .all = true, .batch = true, .wa = 5},
         {.option = {MAX, 1, 1}, .batch_norm = true}},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct gnn_model_config c = of[i].c;
        c.layer = &gnn_layer_sage;
        c.nlayers = HOPS;
        c.width[0] = c.width[1] = 8;
        check_gradients(&of[i].v, c, 60 + i);
    }
}

/* R-GCN: one set of parameters for all relations and types, and names of it. */
static void test_rgcn(void)
{
    static const struct {
        struct variant v;
        struct gnn_model_config c;
    } of[] = {
        {{"rgcn", .wa = 5}, {.act = GNN_ACT_ELU}},
        {{"rgcn, typed", .typed = true, .wa = 5, .wb = 5}, {.act = GNN_ACT_ELU}},
        {{"rgcn, bases", .all = true, .wa = 5}, {.option = {3}}},
        {{"rgcn, bases, typed, norm, residual, dropout", .typed = true, .wa = 8, .wb = 8,
          .drop = 0.2},
         {.option = {2}, .layer_norm = true, .residual = true, .act = GNN_ACT_ELU}},
        {{"rgcn, bases, typed, all, batch norm, encoder", .typed = true, .all = true, .batch = true,
          .wa = 5, .wb = 6},
         {.option = {2}, .batch_norm = true, .encoder = 8, .act = GNN_ACT_ELU}},
        {{"rgcn, bases, typed, feed-forward blocks", .typed = true, .wa = 5, .wb = 6},
         {.option = {1},
          .layer_norm = true,
          .encoder = 8,
          .ffn = true,
          .residual = true,
          .has_head = true,
          .act = GNN_ACT_ELU}},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct gnn_model_config c = of[i].c;
        c.layer = &gnn_layer_rgcn;
        c.nlayers = HOPS;
        c.width[0] = c.width[1] = c.width[2] = 8;
        check_gradients(&of[i].v, c, 80 + i);
    }
    struct gnn_err e = {0};
    struct gnn_schema s;
    struct gnn_model m;
    struct gnn_model_config c = {
        .layer = &gnn_layer_rgcn, .nlayers = 2, .width = {8}, .option = {2}};
    make_schema(&s, true, 5, 5, &e);
    if (gnn_model_config_fit(&c, &s, &e) || gnn_model_init(&m, &c, &e))
        die(&e);
    static const char *const want[] = {"convs.0.weight", "convs.0.root", "convs.0.bias",
                                       "convs.0.comp", "convs.1.weight"};
    bool same = m.nparams == 8;
    for (size_t i = 0; same && i < sizeof want / sizeof *want; i++)
        same = !strcmp(m.param[i].name, want[i]);
    const uint32_t *shape = m.param[0].shape;
    ok(same && m.param[0].ndim == 3 && shape[0] == 2 && shape[1] == 5 && shape[2] == 8 &&
           m.param[3].shape[0] == 3 && m.param[3].shape[1] == 2,
       "gnn_model_layout gives the parameters of R-GCN the names and shapes of PyG, once a layer");
    gnn_model_release(&m);
    gnn_schema_release(&s);
    make_schema(&s, true, 5, 6, &e);
    c = (struct gnn_model_config){.layer = &gnn_layer_rgcn, .nlayers = 2, .width = {8}};
    ok(!gnn_model_config_fit(&c, &s, &e) && gnn_model_layout(&m, &c, &e) == GNN_E_USAGE &&
           strstr(e.msg, "a has 5 and b 6 features; use --encoder"),
       "gnn_model_layout refuses R-GCN of types of different widths: %s", e.msg);
    gnn_schema_release(&s);
}

/* A softmax over several relations, parts around them, shares of the input where widths agree. */
static void test_hgt(void)
{
    static const struct {
        struct variant v;
        struct gnn_model_config c;
    } of[] = {
        {{"hgt", .wa = 5}, {.option = {1}}},
        {{"hgt, input of the layer's width, all", .all = true, .wa = 8, .drop = 0.2},
         {.option = {4}, .act = GNN_ACT_ELU}},
        {{"hgt, typed", .typed = true, .wa = 5, .wb = 6}, {.option = {2}}},
        {{"hgt, typed, all, encoder, head, norm", .typed = true, .all = true, .wa = 5, .wb = 6,
          .drop = 0.2},
         {.option = {4}, .encoder = 8, .has_head = true, .layer_norm = true, .act = GNN_ACT_ELU}},
        {{"hgt, typed, no features, residual, batch norm", .typed = true, .batch = true, .wa = 5},
         {.option = {2}, .batch_norm = true, .residual = true, .act = GNN_ACT_ELU}},
        {{"hgt, typed, feed-forward blocks", .typed = true, .wa = 8, .wb = 6},
         {.option = {2}, .ffn = true, .layer_norm = true, .has_head = true, .act = GNN_ACT_ELU}},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct gnn_model_config c = of[i].c;
        c.layer = &gnn_layer_hgt;
        c.nlayers = HOPS;
        c.width[0] = c.width[1] = c.width[2] = 8;
        check_gradients(&of[i].v, c, 100 + i);
    }
}

int main(void)
{
    test_gradients();
    test_surroundings();
    test_attention();
    test_running();
    test_names();
    test_sage();
    test_rgcn();
    test_hgt();
    test_double((struct gnn_model_config){.layer = &gnn_layer_sage}, "node/a/x");
    test_double((struct gnn_model_config){.layer = &gnn_layer_gcn, .edge_weight = strdup("w")},
                "hop/1/a/r/a/w");
    test_double((struct gnn_model_config){.layer = &gnn_layer_gine, .edge_features = true},
                "hop/0/a/r/a/x");
    return tap_done();
}
