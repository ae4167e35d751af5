/* SPDX-License-Identifier: Apache-2.0 */
/* Attention, forward and back, and rows of heads. */
#include "gpu/case.h"
#include "gpu/blocks_case.h"
#include "kernels/act.h"
#include "kernels/attention.h"
#include "kernels/attention_edge.h"
#include "kernels/heads.h"

struct shape {
    enum gnn_attention_kind kind;
    uint32_t heads, channels, n, degree, longest, keep16;
    bool edge, loops, acc;
};

/* What the CPU and the device do with copies of the same arrays. */
struct attended {
    struct layer l;
    size_t d, wide, values; /* columns: of a row, of what scores are made of, and of value */
    struct gnn_attention a;
    struct gnn_attention_back g; /* of arrays for all rows */
    float *y, *m, *z;
    uint64_t *bad;
};

static struct gnn_attention there(struct gnn_attention a)
{
    a.src = at(a.src), a.dst = at(a.dst), a.weight = at(a.weight);
    a.edge = at(a.edge), a.loop = at(a.loop), a.value = at(a.value);
    a.drop.id = at(a.drop.id), a.drop.node = at(a.drop.node);
    return a;
}
static struct gnn_attention_back there_back(struct gnn_attention_back g)
{
    g.m = at(g.m), g.z = at(g.z), g.dots = at(g.dots), g.dy = at(g.dy);
    g.dvalue = at(g.dvalue), g.dsrc = at(g.dsrc), g.dscale = at(g.dscale);
    g.edge_grad = at(g.edge_grad), g.loop_grad = at(g.loop_grad);
    g.edge_weight = at(g.edge_weight), g.loop_weight = at(g.loop_weight);
    g.edge_sign = at(g.edge_sign), g.loop_sign = at(g.loop_sign);
    g.ddst = at(g.ddst), g.dweight = at(g.dweight), g.weights = at(g.weights);
    g.dedge = at(g.dedge), g.dloop = at(g.dloop);
    return g;
}

static struct attended attended(const struct shape *s)
{
    const uint32_t n = s->n * size_scale, cols = 3 * n + 8; /* more than rows, for self-loops */
    struct attended c = {.l = layer_of(2, n, cols, s->degree, s->longest * size_scale),
                         .d = s->heads * s->channels,
                         .bad = nothing_bad()};
    c.wide = gnn_attention_wide(s->kind) ? c.d : s->heads;
    c.values = s->kind == GNN_ATTENTION_RAW ? s->channels : c.d;
    const size_t rows = c.l.rows, edges = c.l.edges, heads = s->heads,
                 signs = gnn_attention_signs(s->heads, s->channels);
    uint64_t *id = array(edges, sizeof *id);
    for (size_t e = 0; e < edges; e++)
        id[e] = (uint64_t)draw() << 32 | draw();
    c.a = (struct gnn_attention){.kind = s->kind,
                                 .heads = s->heads,
                                 .channels = s->channels,
                                 .slope = 0.2f,
                                 .src = numbers(cols * c.wide),
                                 .dst = numbers(rows * c.wide),
                                 .weight = numbers(c.d),
                                 .edge = s->edge ? numbers(edges * c.wide) : NULL,
                                 .loop = s->edge ? numbers(rows * c.wide) : NULL,
                                 .value = numbers(cols * c.values),
                                 .nsrc = cols,
                                 .ndst = c.l.rows,
                                 .loops = s->loops,
                                 .drop = {{3, 4}, s->keep16, s->edge ? id : NULL, words(rows)}};
    c.y = floats(rows * c.d), c.m = floats(rows * heads), c.z = floats(rows * heads);
    c.g = (struct gnn_attention_back){.m = c.m,
                                      .z = c.z,
                                      .dots = numbers(rows * heads),
                                      .dy = numbers(rows * c.d),
                                      .dvalue = filled(cols * c.values, 0.25f),
                                      .dsrc = filled(cols * c.wide, 0.25f),
                                      .dscale = filled(cols * heads, 0.25f),
                                      .edge_grad = floats(edges * heads),
                                      .loop_grad = floats(rows * heads),
                                      .edge_weight = floats(edges * heads),
                                      .loop_weight = floats(rows * heads),
                                      .edge_sign = array(edges * signs, 4),
                                      .loop_sign = array(rows * signs, 4),
                                      .ddst = filled(rows * c.wide, 0.25f),
                                      .dweight = filled(rows * c.d, 0.25f),
                                      .weights = filled(rows * heads, 0.25f),
                                      .dedge = s->edge ? floats(edges * c.d) : NULL,
                                      .dloop = s->edge ? floats(rows * c.d) : NULL};
    kept_apart(c.g.edge_sign); /* bits are in an order of the backend's */
    kept_apart(c.g.loop_sign);
    return c;
}

/* The call begins with row `from`, so do the arrays of destinations. */
static void advance(const struct attended *c, uint32_t from, struct gnn_attention *a,
                    struct gnn_attention_back *g)
{
    const size_t heads = a->heads;
    a->dst += from * c->wide;
    a->loop = a->loop ? a->loop + from * c->wide : NULL;
    a->drop.node += from;
    g->loop_grad = g->loop_grad ? g->loop_grad + from * heads : NULL;
    g->loop_weight += from * heads;
    g->loop_sign += from * gnn_attention_signs(a->heads, a->channels);
    g->dy += from * c->d, g->m += from * heads, g->z += from * heads, g->dots += from * heads;
    g->ddst += from * c->wide;
    g->dweight += from * c->d;
    g->weights += from * heads;
    g->dloop = g->dloop ? g->dloop + from * c->d : NULL;
}

static void rows(const struct attended *c, uint32_t from, uint32_t to, unsigned flags)
{
    struct gnn_attention a = c->a;
    struct gnn_attention_back unused = c->g;
    const size_t heads = from * (size_t)a.heads;
    advance(c, from, &a, &unused);
    a = there(a);
    if (on_device)
        gnn_cuda_attention_rows(&a, blocks_at(c->l.block, 2), 2, from, to, flags,
                                at(c->y + from * c->d), at(c->m + heads), at(c->z + heads),
                                at(c->bad), stream);
    else
        gnn_attention_rows(&a, c->l.block, 2, from, to, flags, c->y + from * c->d, c->m + heads,
                           c->z + heads);
}

static void sources(const struct attended *c, const struct gnn_csr *back, uint32_t from,
                    uint32_t to, struct gnn_attention_back g, bool acc)
{
    const struct gnn_attention a = there(c->a);
    g.dvalue += from * c->values;
    g.dsrc += from * c->wide;
    g.dscale += from * (size_t)c->a.heads;
    g = there_back(g);
    if (on_device)
        gnn_cuda_attention_sources(&a, blocks_at(back, 1), from, to, &g, acc, at(c->bad), stream);
    else
        gnn_attention_sources(&a, back, from, to, &g, acc);
}

static void targets(const struct attended *c, const struct gnn_csr *block, uint32_t nblocks,
                    uint32_t from, uint32_t to, struct gnn_attention_back g, bool acc)
{
    struct gnn_attention a = c->a;
    advance(c, from, &a, &g);
    a = there(a);
    g = there_back(g);
    if (on_device)
        gnn_cuda_attention_targets(&a, blocks_at(block, nblocks), nblocks, from, to, &g, acc,
                                   at(c->bad), stream);
    else
        gnn_attention_targets(&a, block, nblocks, from, to, &g, acc);
}

/* Forward twice, as relations do, of which the second goes on from what the first has left; and
 * back. Rows in three parts, sources in two. */
static void attend(const struct attended *c, bool acc)
{
    const uint32_t ndst = c->l.rows, nsrc = c->l.cols, row[] = {0, ndst / 4, ndst - ndst / 3, ndst},
                   source[] = {0, nsrc / 2, nsrc};
    for (unsigned go = 0; go < 2; go++)
        for (int k = 0; k < 3; k++)
            rows(c, row[k], row[k + 1], go ? GNN_ATTENTION_LAST : GNN_ATTENTION_FIRST);
    for (int pass = 0; pass < 2; pass++) /* or the targets come first */
        if (pass == gnn_attention_targets_first(c->a.kind))
            for (int k = 0; k < 2; k++)
                sources(c, &c->l.back, source[k], source[k + 1], c->g, acc);
        else
            for (int k = 0; k < 3; k++)
                targets(c, c->l.block, 2, row[k], row[k + 1], c->g, acc);
}

static const char *const names[] = {"GAT", "GAT of raw rows", "GATv2", "HGT"};

static void attention(const struct shape *s)
{
    const struct attended c = attended(s);
    const size_t rows_of = c.l.rows, edges = c.l.edges;
    struct attended in_place = c; /* V2: gradients of edges where the edges are */
    const bool placed = s->kind == GNN_ATTENTION_V2 && s->edge;
    float *edge = NULL, *loop = NULL;
    if (placed) {
        in_place.a.edge = in_place.g.dedge = edge = copy(c.a.edge, edges * c.d);
        in_place.a.loop = in_place.g.dloop = loop = copy(c.a.loop, rows_of * c.d);
        in_place.g.ddst = floats(rows_of * c.wide);
        in_place.g.dweight = floats(rows_of * c.d);
        in_place.g.weights = floats(rows_of * s->heads);
        kept_apart(in_place.g.ddst);
        kept_apart(in_place.g.dweight);
        kept_apart(in_place.g.weights);
    }
    while (again()) {
        attend(&c, s->acc);
        if (placed)
            targets(&in_place, c.l.block, 2, 0, c.l.rows, in_place.g, false);
    }
    attend(&c, s->acc);
    if (placed)
        memcpy(edge, c.g.dedge, edges * c.d * sizeof *edge);
    if (placed && s->loops)
        memcpy(loop, c.g.dloop, rows_of * c.d * sizeof *loop);
    verdict("attention of %s: %u heads of %u, %u rows, %u edges, keep %u%s%s%s", names[s->kind],
            s->heads, s->channels, c.l.rows, c.l.edges, s->keep16, s->edge ? ", edges" : "",
            s->loops ? ", self-loops" : "", s->acc ? ", added up" : "");
}

/* Sources in parts, each with space for its own edges alone, which are numbered in the order of the
 * transposed block, and rows of the block in ascending order. */
static void in_parts(const struct attended *c, const struct gnn_csr *block, const uint32_t *cut,
                     int parts)
{
    struct gnn_csr back = c->l.back;
    bool begun = false;
    back.edge = NULL;
    for (int k = 0; k < parts; k++) {
        const uint32_t from = cut[k], to = cut[k + 1], edge0 = back.indptr[from],
                       edges = back.indptr[to] - edge0;
        struct gnn_attention_back g = c->g;
        g.edge0 = edge0;
        g.edge1 = parts == 1 ? 0 : edge0 + edges;
        g.edge_grad = scratch(edges * c->a.heads * sizeof(float));
        sources(c, &back, from, to, g, false);
        g.loop_grad = k + 1 == parts ? g.loop_grad : NULL;
        if (edges)
            targets(c, block, 1, 0, c->l.rows, g, begun);
        begun = begun || edges;
    }
}

/* The device has them in four parts, and the CPU at once, and in parts, too. */
static void sources_in_parts(const struct shape *s)
{
    struct shape plain = *s;
    plain.edge = false;
    const struct attended c = attended(&plain);
    struct gnn_csr back = c.l.back;
    uint32_t *ptr = array(c.l.rows + 1, sizeof *ptr), *idx = array(c.l.edges, sizeof *idx),
             *number = array(c.l.edges, sizeof *number);
    back.edge = NULL;
    gnn_csr_transpose(&back, 1, c.l.rows, ptr, idx, number);
    const struct gnn_csr block = {.n = c.l.rows, .indptr = ptr, .indices = idx, .edge = number};
    gnn_attention_rows(&c.a, &block, 1, 0, c.l.rows, GNN_ATTENTION_WHOLE, c.y, c.m, c.z);
    const uint32_t n = c.l.cols, all[] = {0, n}, some[] = {0, 3, 4, n / 2, n};
    struct attended cpu = c;
    cpu.g.dvalue = copy(c.g.dvalue, n * c.values);
    cpu.g.dsrc = copy(c.g.dsrc, n * c.wide);
    cpu.g.ddst = copy(c.g.ddst, c.l.rows * c.wide);
    cpu.g.dscale = copy(c.g.dscale, n * s->heads);
    while (again()) {
        in_parts(&c, &block, some, 4);
        in_parts(&cpu, &block, some, 4);
    }
    in_parts(&c, &block, all, 1);
    in_parts(&cpu, &block, some, 4);
    verdict("sources in parts: attention of %s, %u heads of %u, %u edges", names[s->kind], s->heads,
            s->channels, c.l.edges);
}

/* An index that is no row is left out and told. */
static void bad_source(void)
{
    uint32_t *ptr = array(2, sizeof *ptr), *idx = array(3, sizeof *idx);
    float *y = floats(1), *m = floats(1), *z = floats(1), *src = numbers(2), *dst = numbers(1),
          *value = numbers(2);
    uint64_t *bad = nothing_bad();
    memcpy(ptr, (const uint32_t[]){0, 3}, 8);
    memcpy(idx, (const uint32_t[]){0, 9, 1}, 12);
    struct gnn_csr block = {.n = 1, .indptr = ptr, .indices = idx};
    struct gnn_attention a = {.heads = 1, .channels = 1, .slope = 0.2f, .nsrc = 2, .ndst = 1};
    a.src = src, a.dst = dst, a.value = value;
    while (again()) {
        const struct gnn_attention b = there(a);
        gnn_cuda_attention_rows(&b, blocks_at(&block, 1), 1, 0, 1, GNN_ATTENTION_WHOLE, at(y),
                                at(m), at(z), at(bad), stream);
    }
    const uint32_t less[] = {0, 1}, two[] = {0, 2};
    block.indptr = two, block.indices = less;
    gnn_attention_rows(&a, &block, 1, 0, 1, GNN_ATTENTION_WHOLE, y, m, z);
    *bad = 1;
    verdict("attention leaves out ids out of range");
}

void case_attention(void)
{
    static const struct shape shapes[] = {
        {GNN_ATTENTION_ADD, 1, 1, 12, 6, 3, 0, false, false, false},
        {GNN_ATTENTION_ADD, 8, 8, 12, 9, 70, 0, false, true, true},
        {GNN_ATTENTION_ADD, 11, 20, 12, 9, 64, 40000, true, true, false},
        {GNN_ATTENTION_ADD, 1, 130, 12, 40, 63, 30000, false, true, true},
        {GNN_ATTENTION_RAW, 1, 1, 12, 6, 3, 0, false, false, false},
        {GNN_ATTENTION_RAW, 8, 8, 12, 9, 70, 0, false, true, true},
        {GNN_ATTENTION_RAW, 11, 20, 12, 9, 64, 40000, true, true, false},
        {GNN_ATTENTION_RAW, 3, 130, 12, 40, 63, 30000, false, true, true},
        {GNN_ATTENTION_V2, 2, 8, 12, 9, 33, 0, false, false, false},
        {GNN_ATTENTION_V2, 3, 13, 12, 9, 64, 40000, true, true, true},
        {GNN_ATTENTION_V2, 1, 70, 12, 9, 31, 0, true, false, false},
        {GNN_ATTENTION_V2, 7, 40, 12, 9, 70, 50000, false, true, true},
        {GNN_ATTENTION_DOT, 4, 8, 12, 9, 64, 0, false, false, false},
        {GNN_ATTENTION_DOT, 2, 37, 12, 40, 100, 50000, false, false, true},
        {GNN_ATTENTION_ADD, 3, 40, 20, 12, 400, 40000, false, true, false},
        {GNN_ATTENTION_RAW, 3, 40, 20, 12, 400, 40000, true, false, true},
        {GNN_ATTENTION_V2, 3, 40, 20, 12, 400, 40000, true, true, false},
        {GNN_ATTENTION_DOT, 3, 40, 20, 12, 400, 40000, false, false, false}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        attention(&shapes[i]);
    for (size_t i = 0; i < COUNT(shapes); i++)
        if (!gnn_attention_targets_first(shapes[i].kind) && shapes[i].longest < 400)
            sources_in_parts(&shapes[i]);
    bad_source();
}

/* ---- rows without edges ---- */

static void heads_of(uint32_t n, uint32_t heads, uint32_t channels)
{
    const size_t d = heads * channels, all = n * d, dots = n * (size_t)heads;
    float *x = numbers(all), *y = numbers(all), *w = numbers(d), *g = numbers(dots),
          *dot[2] = {floats(dots), floats(dots)}, *sum[2] = {numbers(d), numbers(d)},
          *outer = numbers(all), *mean[2], *spread = floats(all);
    for (int k = 0; k < 2; k++)
        mean[k] = numbers((size_t)n * channels);
    while (again()) {
        for (int k = 0; k < 2; k++) {
            gnn_cuda_head_dots(at(x), at(y), k ? d : 0, n, heads, channels, at(dot[k]), stream);
            gnn_cuda_head_sums(at(g), at(x), n, heads, channels,
                               scratch(GNN_COLSUM_BLOCKS * d * sizeof *x), at(sum[k]), k, stream);
            gnn_cuda_head_means(at(x), n, heads, channels, at(mean[k]), k, stream);
        }
        gnn_cuda_head_outer(at(g), at(w), n, heads, channels, at(outer), stream);
        gnn_cuda_head_spread(at(mean[0]), n, heads, channels, at(spread), stream);
    }
    for (int k = 0; k < 2; k++) {
        gnn_head_dots(x, y, k ? d : 0, n, heads, channels, dot[k]);
        gnn_head_sums(g, x, n, heads, channels, host(GNN_COLSUM_BLOCKS * d * sizeof *x), sum[k], k);
        gnn_head_means(x, n, heads, channels, mean[k], k);
    }
    gnn_head_outer(g, w, n, heads, channels, outer);
    gnn_head_spread(mean[0], n, heads, channels, spread);
    verdict("dots, products, sums and means of heads: %u rows, %u heads of %u", n, heads, channels);
}

void case_heads(void)
{
    heads_of(1, 1, 1);
    heads_of(130 * size_scale, 8, 8);
    heads_of(77 * size_scale, 3, 50);
    heads_of(9 * size_scale, 4, 75);
}
