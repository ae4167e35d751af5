/* SPDX-License-Identifier: Apache-2.0 */
/* Whole nets on small random batches: gradients against finite differences, both frontier rules,
 * typed graphs. */
#include "unit/net_case.h"

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
