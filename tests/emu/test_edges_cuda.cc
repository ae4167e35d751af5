/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/cuda/edges.cu, and its CPU twin, compared with a search through all edges: parts, hubs,
 * ids that are positions or not, ids and destinations that are wrong. */
#include <unordered_map>
#include <vector>

#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/edges.h"
#include "tap.h"

namespace
{

struct Graph {
    std::vector<std::vector<uint64_t>> ptr, ids;
    std::vector<gnn_edges_part> part;
    uint32_t nodes = 0;
    uint64_t edges = 0;
};

/* Parts of uneven size, every third one empty; one hub of `hub` edges. With ids: blocks of
 * consecutive ones, each node's somewhere else. */
void make(Graph &g, Random &r, uint32_t nparts, bool ids, uint32_t hub)
{
    g = Graph();
    g.ptr.resize(nparts);
    g.ids.resize(nparts);
    for (uint32_t p = 0; p < nparts; p++) {
        const uint32_t n = p % 3 == 1 ? 0 : 1 + r.below(60);
        std::vector<uint64_t> &ptr = g.ptr[p];
        ptr.push_back(0);
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t d = hub && i == n / 2 && !p ? hub : r.below(4) ? r.below(12) : 0;
            const uint64_t at = 1000 * (uint64_t)r.below(1u << 30) + ((uint64_t)g.nodes + i);
            for (uint64_t k = 0; k < d; k++)
                g.ids[p].push_back(at + k);
            ptr.push_back(ptr.back() + d);
        }
        g.part.push_back(
            {g.nodes, n, g.edges, ptr.back(), ptr.data(), ids ? g.ids[p].data() : nullptr});
        g.nodes += n;
        g.edges += ptr.back();
    }
}

/* As the contract says it: a list of all edges of each node. */
typedef std::vector<std::unordered_map<uint64_t, uint64_t>> Rows;

Rows list(const Graph &g)
{
    Rows r(g.nodes);
    for (const gnn_edges_part &a : g.part)
        for (uint64_t v = 0; v < a.count; v++)
            for (uint64_t k = a.indptr[v]; k < a.indptr[v + 1]; k++)
                r[a.first + v][a.id ? a.id[k] : k] = a.row + k;
    return r;
}

uint64_t by_hand(const Rows &r, uint32_t dst, uint64_t id)
{
    if (dst >= r.size())
        return UINT64_MAX;
    const auto at = r[dst].find(id);
    return at == r[dst].end() ? UINT64_MAX : at->second;
}

enum Wrong { NOTHING, IDS, NODES };

struct Picks {
    std::vector<uint32_t> dst, ptr;
    std::vector<uint64_t> id;
};

void pick(Picks &k, const Graph &g, Random &r, uint32_t n, Wrong wrong)
{
    k = Picks();
    k.ptr.push_back(0);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = r.below(g.nodes);
        const gnn_edges_part &a =
            g.part[gnn_owner_find(&g.part[0].first, sizeof g.part[0], (uint32_t)g.part.size(), v)];
        const uint64_t from = a.indptr[v - a.first], degree = a.indptr[v - a.first + 1] - from;
        const uint32_t want = !degree ? 0 : degree > 1000 ? (uint32_t)degree : r.below(20);
        for (uint32_t j = 0; j < want; j++) {
            const uint64_t at = from + (degree > 1000 ? j : r.below((uint32_t)degree));
            k.id.push_back(wrong == IDS && !r.below(30)
                               ? (uint64_t)r.below(2) * UINT64_MAX + r.below(1000)
                           : a.id ? a.id[at]
                                  : at);
        }
        k.dst.push_back(wrong == NODES && !r.below(10) ? g.nodes + r.below(1u << 31) : v);
        k.ptr.push_back((uint32_t)k.id.size());
    }
}

void check(const Graph &g, Random &r, uint32_t n, Wrong wrong, const char *what)
{
    Picks k;
    pick(k, g, r, n, wrong);
    Array<uint64_t> on_cpu(k.id.size()), on_device(k.id.size());
    gnn_edges f = {
        g.part.data(), (uint32_t)g.part.size(), n, k.dst.data(), k.ptr.data(), k.id.data(),
        on_cpu.data()};
    const uint64_t missing = gnn_edges_find(&f);
    f.row = on_device.data();
    gnn_cuda_find_edges(&f, nullptr);
    const Rows rows = list(g);
    uint64_t expected = 0;
    bool right = true, same = true;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t q = k.ptr[i]; q < k.ptr[i + 1]; q++) {
            const uint64_t row = by_hand(rows, k.dst[i], k.id[q]);
            expected += row == UINT64_MAX;
            right = right && on_cpu[q] == row;
            same = same && on_device[q] == on_cpu[q];
        }
    ok(right && missing == expected,
       "gnn_edges_find on the CPU finds the edges of %s (%zu, of which %llu are none)", what,
       k.id.size(), (unsigned long long)missing);
    ok(same, "gnn_cuda_find_edges finds for %s what the CPU does", what);
    ok(on_cpu.whole() && on_device.whole(),
       "gnn_cuda_find_edges writes nothing but its results for %s", what);
    if (wrong != NOTHING && n > 50)
        ok(missing > 0, "the case of %s has edges that are wrong", what);
}

} // namespace

int main()
{
    Random r(5);
    Graph g;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        emu::set_seed(seed);
        for (uint32_t parts = 1; parts <= 7; parts += 3)
            for (int ids = 0; ids < 2; ids++) {
                make(g, r, parts, ids, 0);
                check(g, r, 0, NOTHING, "no destination");
                check(g, r, 1, NOTHING, "one destination");
                check(g, r, 300, NOTHING, ids ? "picks by id" : "picks by position");
                check(g, r, 300, IDS, "wrong ids");
                check(g, r, 300, NODES, "wrong destinations");
            }
    }
    make(g, r, 2, true, 100000);
    check(g, r, 20, NOTHING, "a hub");

    /* Damaged offsets: no crash, and the two agree. */
    make(g, r, 1, true, 0);
    Picks k;
    pick(k, g, r, 500, NOTHING);
    for (size_t i = 3; i < g.ptr[0].size(); i += 5)
        g.ptr[0][i] = r.below(2) ? UINT64_MAX - r.below(4) : r.below(5);
    Array<uint64_t> a(k.id.size()), b(k.id.size());
    gnn_edges f = {g.part.data(), 1, 500, k.dst.data(), k.ptr.data(), k.id.data(), a.data()};
    const uint64_t missing = gnn_edges_find(&f);
    f.row = b.data();
    gnn_cuda_find_edges(&f, nullptr);
    ok(missing > 0 && !memcmp(a.data(), b.data(), k.id.size() * 8),
       "gnn_cuda_find_edges finds no edges by damaged offsets, as the CPU does");
    ok(a.whole() && b.whole(),
       "gnn_cuda_find_edges writes nothing but its results by damaged offsets");
    return tap_done();
}
