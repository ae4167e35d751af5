/* SPDX-License-Identifier: Apache-2.0 */
/* Attention on the emulated device: the CPU's bits, forward and back. */
#include <algorithm>

#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/act.h"
#include "kernels/attention.h"
#include "kernels/attention_edge.h"
#include "kernels/heads.h"
#include "tap.h"

namespace
{

constexpr uint32_t COLS = 37, ROWS = 29;

/* Two blocks with rows 7 and 8 in neither, and the transposed one. */
struct Graph {
    std::vector<uint32_t> ptr[2], idx[2], tptr, tidx, tedge;
    std::vector<uint64_t> wide, id;
    std::vector<gnn_csr> block;
    gnn_csr back = {};
    uint32_t edges = 0;
};

void make(Graph &g, Random &r, uint32_t degree, uint32_t big)
{
    for (uint32_t b = 0; b < 2; b++) {
        const uint32_t first = b ? 9 : 0, end = b ? ROWS : 7, start = b * 5;
        g.ptr[b].assign(1, start);
        g.idx[b].assign(start, UINT32_MAX); /* offsets may start anywhere */
        for (uint32_t i = first; i < end; i++) {
            const uint32_t n = i == 12 ? big : r.below(degree) * (r.below(4) != 0);
            for (uint32_t e = 0; e < n; e++)
                g.idx[b].push_back(r.below(5) ? r.below(COLS) : i);
            g.ptr[b].push_back((uint32_t)g.idx[b].size());
        }
        g.edges += (uint32_t)g.idx[b].size() - start;
        g.wide.assign(g.ptr[b].begin(), g.ptr[b].end());
        gnn_csr a = {};
        a.first = first, a.n = end - first, a.indices = g.idx[b].data();
        a.indptr = b ? nullptr : g.ptr[b].data();
        a.indptr64 = g.wide.data(); /* of the second; the first does not use it */
        g.block.push_back(a);
    }
    g.block[0].indptr64 = nullptr;
    g.tptr.resize(COLS + 1), g.tidx.resize(g.edges + 1), g.tedge.resize(g.edges + 1);
    gnn_csr_transpose(g.block.data(), 2, COLS, g.tptr.data(), g.tidx.data(), g.tedge.data());
    g.back.n = COLS, g.back.indptr = g.tptr.data(), g.back.indices = g.tidx.data();
    g.back.edge = g.tedge.data();
    for (uint32_t e = 0; e < g.edges; e++)
        g.id.push_back((uint64_t)r.next() << 32 | r.next());
}

struct Shape {
    gnn_attention_kind kind;
    uint32_t heads, channels, degree, big, keep16;
    bool edge, loops;
};

/* Columns of dst, and what else is of scores; and of value. */
size_t terms(const Shape &s)
{
    return gnn_attention_wide(s.kind) ? s.heads * s.channels : s.heads;
}
size_t values(const Shape &s)
{
    return s.kind == GNN_ATTENTION_RAW ? s.channels : s.heads * s.channels;
}

struct Inputs {
    Array<float> src, dst, weight, edge, loop, value, dy, dots;
    std::vector<uint32_t> node;
    Inputs(Random &r, const Shape &s, uint32_t edges, size_t d, size_t wide)
        : src(COLS * wide), dst(ROWS * wide), weight(d), edge(edges * wide), loop(ROWS * wide),
          value(COLS * values(s)), dy(ROWS * d), dots(ROWS * s.heads)
    {
        for (Array<float> *a : {&src, &dst, &weight, &edge, &loop, &value, &dy, &dots})
            r.numbers(*a);
        for (uint32_t i = 0; i < ROWS; i++)
            node.push_back(r.next());
    }
};

/* What one of the two computes. All is 0xa5 at first but for what is added to. */
struct Results {
    Array<float> y, m, z, dvalue, dsrc, dscale, edge_grad, loop_grad, edge_weight, loop_weight,
        ddst, dweight, dedge, dloop, weights;
    std::vector<uint32_t> edge_sign, loop_sign; /* each in its own order */
    Results(const Shape &s, uint32_t edges, size_t d, size_t wide)
        : y(ROWS * d), m(ROWS * s.heads), z(ROWS * s.heads), dvalue(COLS * values(s)),
          dsrc(COLS * wide), dscale(COLS * s.heads), edge_grad(edges * s.heads),
          loop_grad(ROWS * s.heads), edge_weight(edges * s.heads), loop_weight(ROWS * s.heads),
          ddst(ROWS * wide), dweight(ROWS * d), dedge(edges * d), dloop(ROWS * d),
          weights(ROWS * s.heads), edge_sign(edges * gnn_attention_signs(s.heads, s.channels)),
          loop_sign(ROWS * gnn_attention_signs(s.heads, s.channels))
    {
        for (Array<float> *a : {&dvalue, &dsrc, &dscale, &ddst, &dweight, &weights})
            a->fill(0.25f);
    }
    std::vector<Array<float> *> all()
    {
        return {&y,      &m,         &z,         &dvalue,      &dsrc,
                &dscale, &edge_grad, &loop_grad, &edge_weight, &loop_weight,
                &ddst,   &dweight,   &dedge,     &dloop,       &weights};
    }
};

gnn_attention_back grads(Results &r, const Shape &s, float *dots, float *dy)
{
    gnn_attention_back g = {};
    g.m = r.m.data(), g.z = r.z.data(), g.dots = dots, g.dy = dy;
    g.dvalue = r.dvalue.data(), g.dsrc = r.dsrc.data(), g.dscale = r.dscale.data();
    g.edge_grad = r.edge_grad.data(), g.loop_grad = r.loop_grad.data();
    g.edge_weight = r.edge_weight.data(), g.loop_weight = r.loop_weight.data();
    g.edge_sign = r.edge_sign.data(), g.loop_sign = r.loop_sign.data();
    g.ddst = r.ddst.data(), g.dweight = r.dweight.data(), g.weights = r.weights.data();
    g.dedge = s.edge ? r.dedge.data() : nullptr;
    g.dloop = s.edge ? r.dloop.data() : nullptr;
    return g;
}

/* In two goes. */
void sources(bool device, const gnn_attention &a, const Graph &g, gnn_attention_back b, bool acc,
             uint64_t *bad)
{
    const uint32_t cut[] = {0, 17, COLS};
    const size_t d = a.heads * a.channels;
    for (int c = 0; c < 2; c++) {
        if (device)
            gnn_cuda_attention_sources(&a, &g.back, cut[c], cut[c + 1], &b, acc, bad, nullptr);
        else
            gnn_attention_sources(&a, &g.back, cut[c], cut[c + 1], &b, acc);
        b.dvalue += cut[1] * (a.kind == GNN_ATTENTION_RAW ? a.channels : d);
        b.dsrc += cut[1] * (gnn_attention_wide(a.kind) ? d : a.heads);
        b.dscale += cut[1] * a.heads;
    }
}

/* The call begins with row `from`, so do the arrays of destinations. */
void advance(gnn_attention &a, gnn_attention_back &g, uint32_t from)
{
    const size_t d = a.heads * a.channels, wide = gnn_attention_wide(a.kind) ? d : a.heads;
    a.dst += from * wide;
    a.loop = a.loop ? a.loop + from * wide : nullptr;
    a.drop.node += from;
    g.loop_grad += from * a.heads;
    g.loop_weight += from * a.heads;
    g.loop_sign += from * gnn_attention_signs(a.heads, a.channels);
    g.weights += from * a.heads;
    g.dy += from * d, g.m += from * a.heads, g.z += from * a.heads, g.dots += from * a.heads;
    g.ddst += from * wide;
    g.dweight += from * d;
    g.dloop = g.dloop ? g.dloop + from * d : nullptr;
}

void run(bool device, const Shape &s, Graph &g, Inputs &in, Results &out, bool acc, uint64_t *bad)
{
    const size_t d = s.heads * s.channels;
    gnn_attention a = {};
    a.kind = s.kind, a.heads = s.heads, a.channels = s.channels, a.slope = 0.2f;
    a.src = in.src.data(), a.dst = in.dst.data(), a.weight = in.weight.data();
    a.edge = s.edge ? in.edge.data() : nullptr, a.loop = s.edge ? in.loop.data() : nullptr;
    a.value = in.value.data(), a.nsrc = COLS, a.ndst = ROWS, a.loops = s.loops;
    a.drop = {{3, 4}, s.keep16, s.edge ? g.id.data() : nullptr, in.node.data()};
    gnn_attention_back b = grads(out, s, in.dots.data(), in.dy.data());
    const uint32_t cut[] = {0, 8, 21, ROWS};
    /* twice: the second goes on from what the first has left, as relations do */
    for (int go = 0; go < 2; go++)
        for (int c = 0; c < 3; c++) {
            gnn_attention q = a;
            gnn_attention_back unused = b;
            const unsigned flags = go ? GNN_ATTENTION_LAST : GNN_ATTENTION_FIRST;
            advance(q, unused, cut[c]);
            float *y = out.y.data() + cut[c] * d, *m = out.m.data() + cut[c] * s.heads,
                  *z = out.z.data() + cut[c] * s.heads;
            if (device)
                gnn_cuda_attention_rows(&q, g.block.data(), 2, cut[c], cut[c + 1], flags, y, m, z,
                                        bad, nullptr);
            else
                gnn_attention_rows(&q, g.block.data(), 2, cut[c], cut[c + 1], flags, y, m, z);
        }
    if (!gnn_attention_targets_first(s.kind))
        sources(device, a, g, b, acc, bad);
    for (int c = 0; c < 3; c++) {
        gnn_attention q = a;
        gnn_attention_back p = b;
        advance(q, p, cut[c]);
        if (device)
            gnn_cuda_attention_targets(&q, g.block.data(), 2, cut[c], cut[c + 1], &p, acc, bad,
                                       nullptr);
        else
            gnn_attention_targets(&q, g.block.data(), 2, cut[c], cut[c + 1], &p, acc);
    }
    if (gnn_attention_targets_first(s.kind))
        sources(device, a, g, b, acc, bad);
}

/* Gradients of V2's edges in their own place, of all rows. */
size_t test_in_place(const Shape &s, Graph &g, Inputs &in, Results &want)
{
    const size_t d = s.heads * s.channels;
    Results got(s, g.edges, d, d);
    Array<float> edge(g.edges * d), loop(ROWS * d);
    memcpy(edge.data(), in.edge.data(), edge.n * sizeof(float));
    memcpy(loop.data(), in.loop.data(), loop.n * sizeof(float));
    gnn_attention a = {};
    a.kind = s.kind, a.heads = s.heads, a.channels = s.channels, a.slope = 0.2f;
    a.dst = in.dst.data(), a.weight = in.weight.data(), a.edge = edge.data();
    a.loop = loop.data(), a.value = in.value.data(), a.nsrc = COLS, a.ndst = ROWS;
    a.loops = s.loops;
    a.drop = {{3, 4}, s.keep16, g.id.data(), in.node.data()};
    gnn_attention_back b = grads(want, s, in.dots.data(), in.dy.data());
    b.ddst = got.ddst.data(), b.dweight = got.dweight.data(), b.weights = got.weights.data();
    b.dedge = edge.data(), b.dloop = loop.data();
    uint64_t bad = UINT64_MAX;
    gnn_cuda_attention_targets(&a, g.block.data(), 2, 0, ROWS, &b, false, &bad, nullptr);
    return differences(edge.data(), want.dedge.data(), edge.n) + !edge.whole() + !loop.whole() +
           (s.loops ? differences(loop.data(), want.dloop.data(), loop.n) : 0);
}

void test_shape(const Shape &s)
{
    static const char *const name[] = {"GAT", "GAT of raw rows", "GATv2", "HGT"};
    Random r(s.heads * 100 + s.channels + s.kind);
    Graph g;
    make(g, r, s.degree, s.big);
    const size_t d = s.heads * s.channels, wide = terms(s);
    Inputs in(r, s, g.edges, d, wide);
    size_t wrong = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        Results want(s, g.edges, d, wide), got(s, g.edges, d, wide);
        uint64_t bad = UINT64_MAX;
        emu::set_seed(seed);
        emu::grid_max = seed == 1 ? 1 : 5 * (unsigned)seed;
        run(false, s, g, in, want, seed == 2, nullptr);
        run(true, s, g, in, got, seed == 2, &bad);
        wrong += bad != UINT64_MAX;
        for (size_t k = 0; k < want.all().size(); k++) {
            Array<float> *a = got.all()[k], *b = want.all()[k];
            wrong += differences(a->data(), b->data(), a->n) + !a->whole() + !b->whole();
        }
        if (s.kind == GNN_ATTENTION_V2 && s.edge)
            wrong += test_in_place(s, g, in, want);
    }
    ok(wrong == 0,
       "attention of %s gives the bits of the CPU: %u heads of %u, degree %u and %u, keep %u%s%s",
       name[s.kind], s.heads, s.channels, s.degree, s.big, s.keep16, s.edge ? ", edges" : "",
       s.loops ? ", self-loops" : "");
}

/* Sources in parts, each with room for its own edges alone, which are numbered in the order of the
 * transposed block, and rows of the block in ascending order. */
size_t run_parts(bool device, gnn_attention a, const gnn_csr &back, const gnn_csr &block,
                 gnn_attention_back b, const std::vector<uint32_t> &cut)
{
    const size_t wide = gnn_attention_wide(a.kind) ? a.heads * a.channels : a.heads;
    size_t wrong = 0;
    bool begun = false;
    for (size_t k = 0; k + 1 < cut.size(); k++) {
        const uint32_t from = cut[k], to = cut[k + 1], edge0 = back.indptr[from];
        const uint32_t edges = back.indptr[to] - edge0;
        const bool last = k + 2 == cut.size(), all = cut.size() == 2;
        Array<float> room((size_t)edges * a.heads);
        gnn_attention_back g = b;
        uint64_t bad = UINT64_MAX;
        g.edge0 = edge0, g.edge1 = all ? 0 : edge0 + edges, g.edge_grad = room.data();
        g.dvalue += from * a.heads * a.channels, g.dsrc += from * wide, g.dscale += from * a.heads;
        if (device)
            gnn_cuda_attention_sources(&a, &back, from, to, &g, false, &bad, nullptr);
        else
            gnn_attention_sources(&a, &back, from, to, &g, false);
        g.loop_grad = last ? g.loop_grad : nullptr;
        if (edges && device)
            gnn_cuda_attention_targets(&a, &block, 1, 0, ROWS, &g, begun, &bad, nullptr);
        else if (edges)
            gnn_attention_targets(&a, &block, 1, 0, ROWS, &g, begun);
        begun = begun || edges;
        wrong += !room.whole() + (bad != UINT64_MAX);
    }
    return wrong;
}

void test_parts(const Shape &s)
{
    Random r(s.heads * 10 + s.channels);
    Graph g;
    make(g, r, s.degree, s.big);
    const size_t d = s.heads * s.channels, wide = terms(s);
    Inputs in(r, s, g.edges, d, wide);
    std::vector<uint32_t> ptr(ROWS + 1), idx(g.edges + 1), number(g.edges + 1);
    gnn_csr back = g.back, block = {};
    back.edge = nullptr;
    gnn_csr_transpose(&back, 1, ROWS, ptr.data(), idx.data(), number.data());
    block.n = ROWS, block.indptr = ptr.data(), block.indices = idx.data();
    block.edge = number.data();
    gnn_attention a = {};
    a.kind = s.kind, a.heads = s.heads, a.channels = s.channels, a.slope = 0.2f;
    a.src = in.src.data(), a.dst = in.dst.data(), a.weight = in.weight.data();
    a.value = in.value.data(), a.nsrc = COLS, a.ndst = ROWS, a.loops = s.loops;
    a.drop = {{3, 4}, s.keep16, nullptr, in.node.data()};
    Results whole(s, g.edges, d, wide);
    gnn_attention_rows(&a, &block, 1, 0, ROWS, GNN_ATTENTION_WHOLE, whole.y.data(), whole.m.data(),
                       whole.z.data());
    size_t wrong = 0;
    for (int go = 0; go < 3; go++) {
        Results parts(s, g.edges, d, wide);
        Results &to = go ? parts : whole;
        gnn_attention_back b = grads(to, s, in.dots.data(), in.dy.data());
        b.m = whole.m.data(), b.z = whole.z.data();
        wrong += run_parts(go == 2, a, back, block, b,
                           go ? std::vector<uint32_t>{0, 3, 4, 17, COLS}
                              : std::vector<uint32_t>{0, COLS});
        Array<float> *const got[] = {&to.dvalue, &to.dsrc, &to.dscale, &to.ddst, &to.loop_grad};
        Array<float> *const want[] = {&whole.dvalue, &whole.dsrc, &whole.dscale, &whole.ddst,
                                      &whole.loop_grad};
        for (int k = 0; k < (s.loops ? 5 : 4); k++)
            wrong += differences(got[k]->data(), want[k]->data(), want[k]->n) + !got[k]->whole();
    }
    ok(wrong == 0, "sources in parts give the same bits, on the CPU, too: kind %d, %u heads of %u",
       (int)s.kind, s.heads, s.channels);
}

/* An index that is no row is left out and told. */
void test_bad()
{
    const uint32_t ptr[] = {0, 3}, idx[] = {0, 9, 1}, less[] = {0, 1}, ptr2[] = {0, 2};
    const float src[] = {1, 2}, dst[] = {0.5f}, value[] = {3, 4};
    gnn_csr k = {};
    k.n = 1, k.indptr = ptr, k.indices = idx;
    gnn_attention a = {};
    a.heads = a.channels = 1, a.slope = 0.2f, a.src = src, a.dst = dst, a.value = value;
    a.nsrc = 2, a.ndst = 1;
    float y[2], m[2], z[2];
    uint64_t bad = UINT64_MAX;
    gnn_cuda_attention_rows(&a, &k, 1, 0, 1, GNN_ATTENTION_WHOLE, y, m, z, &bad, nullptr);
    k.indptr = ptr2, k.indices = less;
    gnn_attention_rows(&a, &k, 1, 0, 1, GNN_ATTENTION_WHOLE, y + 1, m + 1, z + 1);
    ok(bad == 1 && y[0] == y[1] && z[0] == z[1],
       "an edge from a row that is not there is reported and left out");
}

void test_heads(uint32_t n, uint32_t heads, uint32_t channels)
{
    const size_t d = heads * channels;
    Random r(n + heads);
    Array<float> x(n * d), y(n * d), w(d), g(n * heads), out(n * heads), own(n * heads), sum(d),
        total(d), work(GNN_COLSUM_BLOCKS * d), add(n * d), added(n * d);
    r.numbers(x), r.numbers(y), r.numbers(w), r.numbers(g), r.numbers(add), r.numbers(sum);
    memcpy(added.data(), add.data(), n * d * sizeof(float));
    memcpy(total.data(), sum.data(), d * sizeof(float));
    size_t wrong = 0;
    for (size_t pitch : {(size_t)0, d}) {
        gnn_head_dots(x.data(), y.data(), pitch, n, heads, channels, out.data());
        gnn_cuda_head_dots(x.data(), y.data(), pitch, n, heads, channels, own.data(), nullptr);
        wrong += differences(out.data(), own.data(), own.n) + !own.whole();
    }
    for (bool acc : {true, false}) {
        gnn_head_sums(g.data(), x.data(), n, heads, channels, work.data(), sum.data(), acc);
        gnn_cuda_head_sums(g.data(), x.data(), n, heads, channels, work.data(), total.data(), acc,
                           nullptr);
        wrong += differences(sum.data(), total.data(), d) + !total.whole() + !work.whole();
    }
    gnn_head_outer(g.data(), w.data(), n, heads, channels, add.data());
    gnn_cuda_head_outer(g.data(), w.data(), n, heads, channels, added.data(), nullptr);
    wrong += differences(add.data(), added.data(), added.n) + !added.whole();
    Array<float> mean(n * channels), means(n * channels);
    for (bool acc : {false, true}) {
        gnn_head_means(x.data(), n, heads, channels, mean.data(), acc);
        gnn_cuda_head_means(x.data(), n, heads, channels, means.data(), acc, nullptr);
        wrong += differences(mean.data(), means.data(), mean.n) + !means.whole();
    }
    gnn_head_spread(mean.data(), n, heads, channels, add.data());
    gnn_cuda_head_spread(mean.data(), n, heads, channels, added.data(), nullptr);
    wrong += differences(add.data(), added.data(), added.n) + !added.whole();
    ok(wrong == 0, "dots, products, sums and means of heads are the CPU's: %u rows, %u heads of %u",
       n, heads, channels);
}

} // namespace

int main()
{
    static const Shape shapes[] = {{GNN_ATTENTION_ADD, 1, 1, 6, 3, 0, false, false},
                                   {GNN_ATTENTION_ADD, 8, 8, 9, 70, 0, false, true},
                                   {GNN_ATTENTION_ADD, 11, 20, 9, 64, 40000, true, true},
                                   {GNN_ATTENTION_ADD, 1, 130, 40, 63, 30000, false, true},
                                   {GNN_ATTENTION_RAW, 1, 1, 6, 3, 0, false, false},
                                   {GNN_ATTENTION_RAW, 8, 8, 9, 70, 0, false, true},
                                   {GNN_ATTENTION_RAW, 11, 20, 9, 64, 40000, true, true},
                                   {GNN_ATTENTION_RAW, 3, 130, 40, 63, 30000, false, true},
                                   {GNN_ATTENTION_V2, 2, 8, 9, 33, 0, false, false},
                                   {GNN_ATTENTION_V2, 3, 13, 9, 64, 40000, true, true},
                                   {GNN_ATTENTION_V2, 1, 70, 9, 31, 0, true, false},
                                   {GNN_ATTENTION_V2, 7, 40, 9, 70, 50000, false, true},
                                   {GNN_ATTENTION_DOT, 4, 8, 9, 64, 0, false, false},
                                   {GNN_ATTENTION_DOT, 2, 37, 40, 100, 50000, false, false}};
    for (const Shape &s : shapes)
        test_shape(s);
    for (const Shape &s : shapes)
        if (!gnn_attention_targets_first(s.kind))
            test_parts(s);
    test_bad();
    test_heads(1, 1, 1);
    test_heads(130, 8, 8);
    test_heads(77, 3, 50);
    return tap_done();
}
