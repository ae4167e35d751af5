/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders of links: gradients of whole nets against finite differences, and blocks of links that
 * share negatives against the same links one by one. */
#include "unit/net_case.h"

/* Decoders of links within one type, and from nodes of the other. */
static void test_decoders(void)
{
    static const char *const name[] = {"dot", "cosine", "mlp", "concat"}, *const loss[] = {
                                                                              "bce", "bpr",
                                                                              "softmax"};
    enum { DECODERS = sizeof name / sizeof *name };
    char text[64];
    for (int k = 0; k < 2 * DECODERS * 3; k++) {
        const bool typed = k & 1;
        const int by = k / (2 * DECODERS);
        snprintf(text, sizeof text, "links, %s%s, %s", name[k / 2 % DECODERS],
                 typed ? ", typed" : "", loss[by]);
        counts[1][0] = typed ? HEADS : 0;
        check_gradients(&(struct variant){text, .typed = typed, .wa = 5, .wb = 6, .all = k & 2},
                        (struct gnn_model_config){
                            .layer = &gnn_layer_sage,
                            .nlayers = HOPS,
                            .width = {8, 8},
                            .layer_norm = true,
                            .decoder = (enum gnn_decoder)((int)GNN_DECODER_DOT + k / 2 % DECODERS),
                            .heads = typed,
                            .task = GNN_TASK_LINKS,
                            .scores = 1,
                            .loss = (enum gnn_link_loss)by,
                            .outputs = 6},
                        (uint64_t)k + 3);
    }
    counts[1][0] = 0;
}

/* Links whose negatives are shared, but for every OTHER-th. */
enum { MANY = 24, EACH = 32, OTHER = 13, ALL = MANY * (1 + EACH) };
struct shared {
    uint32_t link[ALL][2], at[MANY];
    struct gnn_drawn drawn;
    enum gnn_negative_end end;
    bool typed, cosine, ranks;
};

/* The number of a negative's node among those that are shared. */
static uint32_t number_of(const struct shared *q, uint32_t i, uint32_t k)
{
    if (q->drawn.kind == GNN_NEGATIVES_IN_BATCH)
        return q->at[i] + 1 + k;
    return q->drawn.group ? EACH * (q->at[i] / q->drawn.group) + k : k;
}

static uint32_t share_nodes(struct shared *q, struct gnn_batch *b)
{
    const uint32_t each = (uint32_t)q->drawn.amount,
                   nodes[2] = {(uint32_t)counts[q->typed][0], (uint32_t)counts[0][0]};
    const unsigned end = q->end == GNN_NEGATIVE_TAIL;
    uint32_t others = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        q->at[i] = q->ranks ? 2 * i + i % 2 : i;
        for (unsigned k = 0; k < 2; k++)
            q->link[i][k] = below(nodes[k]);
    }
    for (uint32_t i = 0; i < MANY; i++)
        for (uint32_t k = 0; k < each; k++) {
            uint32_t *to = q->link[MANY + i * each + k];
            const bool other = (i * each + k) % OTHER == 0;
            others += other;
            to[!end] = q->link[i][!end];
            to[end] = (7 * number_of(q, i, k) / 3 + other) % nodes[end];
        }
    b->pair = q->link[0];
    b->negative = q->link[MANY];
    b->at = q->ranks ? q->at : NULL;
    b->rows[GNN_UNIT_PAIRS] = MANY;
    b->rows[GNN_UNIT_NEGATIVES] = (uint64_t)MANY * each;
    return others;
}

/* Scores of all links, and then the gradient that a loss of them has. */
static float *learn_links(struct gnn_net *n, const struct gnn_model *m, const struct gnn_batch *b,
                          const struct gnn_meta *meta)
{
    const struct gnn_net_mode mode = {.train = true};
    const uint32_t negatives = (uint32_t)b->rows[GNN_UNIT_NEGATIVES];
    float *z, *out = calloc(ALL + m->nfloats, sizeof *out);
    const float y[ALL] = {0};
    double row[ALL];
    struct gnn_err e = {0};
    if (!out)
        abort();
    if (gnn_net_forward(n, m->slab, b, meta, &mode, &z, &e))
        die(&e);
    memcpy(out, z, (MANY + negatives) * sizeof *out);
    gnn_link_loss(z, y, MANY, negatives, negatives / MANY, true, 1, row, z);
    if (gnn_net_backward(n, m->slab, &e))
        die(&e);
    memcpy(out + ALL, n->pass.grad, m->nfloats * sizeof *out);
    return out;
}

static double widest_gap(const float *a, const float *b, size_t n)
{
    double most = 0, gap = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i]));
        gap = worst_of(gap, fabs((double)a[i] - (double)b[i]));
    }
    return gap / most;
}

static void compare_blocks(struct shared *q, const char *name, uint32_t blocks)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_batch b;
    struct gnn_model m;
    struct gnn_net n;
    struct gnn_model_config c = {.layer = &gnn_layer_sage,
                                 .nlayers = HOPS,
                                 .width = {8, 8},
                                 .layer_norm = true,
                                 .decoder = q->cosine ? GNN_DECODER_COSINE : GNN_DECODER_DOT,
                                 .heads = q->typed,
                                 .task = GNN_TASK_LINKS,
                                 .scores = 1,
                                 .loss = GNN_LOSS_SOFTMAX,
                                 .outputs = 6};
    counts[1][0] = q->typed ? HEADS : 0;
    make_schema(&meta.schema, q->typed, 5, 6, &e);
    if (gnn_model_config_fit(&c, &meta.schema, &e) || gnn_model_init(&m, &c, &e) ||
        gnn_net_init(&n, &m, &gnn_ops_cpu, &e))
        die(&e);
    gnn_model_reset(&m, 3);
    make_batch(&b, &meta.schema, false);
    const uint32_t others = share_nodes(q, &b);
    meta.sampling.links.end = q->end;
    meta.sampling.links.drawn[0] = q->drawn;
    meta.sampling.links.drawn[0].kind = GNN_NEGATIVES_TRIPLET;
    float *one = learn_links(&n, &m, &b, &meta);
    ok(n.decoder.blocks.n == 0, "triplets have no blocks");
    meta.sampling.links.drawn[0] = q->drawn;
    float *all = learn_links(&n, &m, &b, &meta);
    /* A column that few have may be that of a node of one's own. */
    const uint32_t pairs = n.decoder.blocks.pairs, most = MANY + others,
                   least = most - (q->drawn.kind == GNN_NEGATIVES_IN_BATCH ? 8 : 0);
    ok(n.decoder.blocks.n == blocks && pairs <= most && pairs >= least,
       "%s: %u blocks, and %u pairs beside them", name, n.decoder.blocks.n, pairs);
    const double scores = widest_gap(one, all, MANY + b.rows[GNN_UNIT_NEGATIVES]),
                 grads = widest_gap(one + ALL, all + ALL, m.nfloats);
    ok(scores < 1e-6, "%s: scores of blocks are those of pairs (%.1e)", name, scores);
    ok(grads < 1e-5, "%s: so are the gradients (%.1e)", name, grads);
    free(one);
    free(all);
    free_batch(&b);
    gnn_net_release(&n);
    gnn_model_release(&m);
    gnn_schema_release(&meta.schema);
    counts[1][0] = 0;
}

static void test_blocks(void)
{
    static const struct {
        const char *name;
        struct gnn_drawn drawn;
        uint32_t blocks, of_ranks;
    } kind[] = {
        {"joint", {GNN_NEGATIVES_JOINT, EACH, 0, 0, 0}, 1, 1},
        {"joint, in groups", {GNN_NEGATIVES_JOINT, EACH, 0, 0, 10}, 3, 5},
        {"in batch", {GNN_NEGATIVES_IN_BATCH, 20, 0, 0, 0}, 2, 3},
    };
    char text[80];
    for (unsigned k = 0; k < 16 * sizeof kind / sizeof *kind; k++) {
        struct shared q = {.drawn = kind[k / 16].drawn,
                           .end = k & 1 ? GNN_NEGATIVE_HEAD : GNN_NEGATIVE_TAIL,
                           .typed = k & 2,
                           .cosine = k & 4,
                           .ranks = k & 8};
        snprintf(text, sizeof text, "%s, %s%s%s%s", kind[k / 16].name, q.cosine ? "cosine" : "dot",
                 k & 1 ? ", heads" : "", q.typed ? ", typed" : "", q.ranks ? ", of a rank" : "");
        compare_blocks(&q, text, q.ranks ? kind[k / 16].of_ranks : kind[k / 16].blocks);
    }
}

int main(void)
{
    test_decoders();
    test_blocks();
    return tap_done();
}
