/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling and numbering on the device give the CPU's batches byte by byte, and its errors. */
#include "emu/sample_world.h"
#include "tap.h"

/* Draws some batches, with exactly enough room, and compares, with direct maps and hash tables;
 * seeds may repeat themselves. */
static unsigned differing(const World &w, const Plan &p, unsigned batches, uint32_t nseeds,
                          uint32_t bits, Random &r, std::vector<uint32_t> always = {})
{
    std::vector<std::vector<uint32_t>> seeds(batches, always);
    std::vector<Drawn> want;
    CpuState cpu(w);
    Room room;
    for (unsigned b = 0; b < batches; b++) {
        for (uint32_t i = 0; i < nseeds; i++)
            seeds[b].push_back(r.below(w.ntype[0]));
        want.push_back(draw_cpu(w, p, cpu, b, seeds[b]));
        if (want[b].code)
            return batches;
        const Room need = room_for(w, p, want[b], seeds[b].size());
        if (b)
            room_grow(room, need);
        else
            room = need;
    }
    room.bits = bits;
    unsigned wrong = 0;
    for (const bool hash : {false, true}) {
        CudaState cuda(w, p, room, hash);
        for (unsigned b = 0; b < batches; b++) {
            cuda.draw(b, seeds[b]);
            wrong += !cuda.equals(want[b]) || (!hash && !cuda.redraws(want[b]));
        }
    }
    return wrong;
}

static uint32_t some_degree(Random &r)
{
    static const uint32_t d[] = {0, 0,  1,  1,  2,  3,  4,  5,  6,  7,  8,
                                 9, 12, 15, 16, 17, 20, 31, 33, 34, 40, 65};
    return d[r.below(sizeof d / sizeof *d)];
}

static void one_type(World &w, Random &r, uint64_t n, uint32_t parts, bool orig, bool ids)
{
    w.ntype.assign(1, n);
    w.add(0, 0).make(r, n, n, parts, orig, ids, [&](uint64_t) { return some_degree(r); });
}

/* Two node types, three relations; the second type has no seeds. */
static void typed(World &w, Random &r, uint32_t parts, bool orig, bool ids)
{
    w.ntype.assign(1, 300);
    w.ntype.push_back(170);
    w.add(0, 0).make(r, 300, 300, parts, orig, ids, [&](uint64_t) { return some_degree(r); });
    w.add(1, 0).make(r, 300, 170, parts, orig, ids, [&](uint64_t i) { return (uint32_t)i % 7; });
    w.add(0, 1).make(r, 170, 300, parts, orig, ids, [&](uint64_t) { return some_degree(r); });
}

static void test_one_type()
{
    Random r{12345};
    static const int32_t fan[] = {0, 1, 2, 5, 8, 9, 15, 16, 17, 32, 33, 200, -1};
    for (const int32_t f : fan) {
        unsigned wrong = 0, seen = 0;
        for (unsigned how = 0; how < 8; how++) {
            World w;
            one_type(w, r, 500, how % 3 + 1, how & 1, how & 2);
            const Plan p = {{{f},
                             {how & 4 ? 3
                              : f < 0 ? 1
                                      : f}},
                            how % 3 == 2,
                            (how & 1) != 0,
                            how > 2};
            emu::set_seed(how + 1);
            wrong += differing(w, p, 2, f > 100 ? 5 : 20, 0, r);
            seen += 2;
        }
        ok(wrong == 0, "the device draws with fan-out %d the batches of the CPU, %u in 8 ways", f,
           seen);
    }
}

static void test_typed()
{
    Random r{99};
    unsigned wrong = 0;
    for (unsigned how = 0; how < 8; how++) {
        World w;
        typed(w, r, how % 4 + 1, how & 1, how & 2);
        const Plan p = {{{3, 2, 4}, {2, -1, 10}, {0, 3, 2}},
                        how == 5 || how == 6,
                        (how & 4) != 0,
                        (how & 2) != 0};
        emu::set_seed(how + 50);
        wrong += differing(w, p, 2, 12, 0, r);
    }
    ok(wrong == 0,
       "the device draws two node types by three relations in three hops as the CPU does");
}

static void test_shapes()
{
    Random r{4711};
    World w;
    w.ntype.assign(1, 1000);
    w.add(0, 0).make(r, 1000, 1000, 2, true, true, [&](uint64_t i) {
        return i == 7 ? 100000u : i == 8 ? 5001u : i < 40 ? 600u + (uint32_t)i : 3u;
    });
    const Plan all = {{{-1}, {1}}, false, true, true};
    ok(differing(w, all, 1, 3, 0, r, {7, 9}) == 0,
       "the device draws all of 100,000 neighbours as the CPU does");
    for (const int32_t f : {3, 31, 64, 256, 257, 600, 1000}) {
        const Plan p = {{{f}}, false, true, true};
        ok(differing(w, p, 1, 2, 0, r, {7, 8, 9, 10, 11}) == 0,
           "the device draws %d of 100,000 neighbours, of 5,001 and of 609 as the CPU does", f);
    }
    for (const int32_t f : {4096, 5000}) {
        const Plan p = {{{f}}, false, true, true};
        ok(differing(w, p, 1, 1, 0, r, {8, 7}) == 0,
           "the device draws %d of 5,001 neighbours and of 100,000 as the CPU does", f);
    }
    const Plan again = {{{1000}}, true, true, true};
    ok(differing(w, again, 1, 2, 0, r, {7, 8}) == 0,
       "the device draws 1,000 times with replacement as the CPU does");
    const Plan p = {{{2}, {2}}, false, false, false};
    ok(differing(w, p, 3, 0, 0, r) == 0, "the device draws batches without seeds as the CPU does");
    ok(differing(w, p, 2, 1, 0, r) == 0, "the device draws batches of one seed as the CPU does");
    ok(differing(w, p, 2, 2500, 0, r) == 0,
       "the device draws batches of 2,500 seeds with repeats as the CPU does");
    World tiny;
    tiny.ntype.assign(1, 1);
    tiny.add(0, 0).make(r, 1, 1, 1, false, false, [](uint64_t) { return 40u; });
    const Plan q = {{{5}, {-1}}, false, false, true};
    ok(differing(tiny, q, 2, 3, 0, r) == 0,
       "the device draws from a graph of one node as the CPU does");
}

/* Weights: few and many picks, rows in which one outweighs the rest, and neighbours of weight 0. */
static void test_weights()
{
    Random r{31};
    for (const int32_t f : {1, 2, 5, 15, 16, 33, 40, 200, -1}) {
        unsigned wrong = 0;
        for (unsigned how = 0; how < 4; how++) {
            World w;
            one_type(w, r, 300, how % 3 + 1, how & 1, how & 2);
            emu::set_seed(how + 1);
            wrong += differing(w, Plan{{{f}, {3}}, how == 2, (how & 1) != 0, how > 1, true}, 2,
                               f > 100 ? 5 : 12, 0, r);
        }
        ok(wrong == 0, "the device draws %d neighbours by weight as the CPU does", f);
    }
    World w;
    w.ntype.assign(1, 1000);
    w.add(0, 0).make(r, 1000, 1000, 2, true, true, [&](uint64_t i) {
        return i == 7 ? 5000u : i < 40 ? 100u + (uint32_t)i : 3u;
    });
    for (const bool replace : {false, true})
        for (const int32_t f : {64, 65, 99, 1000})
            ok(differing(w, Plan{{{f}}, replace, true, true, true}, 1, 2, 0, r, {7, 8, 9, 400}) ==
                   0,
               "the device draws %d of 5,000 neighbours by weight as the CPU does%s", f,
               replace ? ", with replacement" : "");
}

/* LABOR: rows of a warp and of a block, parallel edges to few sources, and original ids. */
static void test_labor()
{
    Random r{37};
    for (const int32_t f : {1, 2, 5, 15, 32, 33, 40, 64, -1}) {
        unsigned wrong = 0;
        for (unsigned how = 0; how < 4; how++) {
            World w;
            one_type(w, r, how == 3 ? 9 : 300, how % 3 + 1, how & 1, how & 2);
            emu::set_seed(how + 1);
            wrong += differing(w, Plan{{{f}, {3}}, false, (how & 1) != 0, how > 1, false, true}, 2,
                               12, 0, r);
        }
        ok(wrong == 0, "the device picks %d neighbours by LABOR as the CPU does", f);
    }
    World w;
    w.ntype.assign(1, 1000);
    w.add(0, 0).make(r, 1000, 1000, 2, true, true, [&](uint64_t i) {
        return i == 7 ? 30000u : i == 8 ? 2048u : i == 9 ? 2047u : i < 40 ? 100u + (uint32_t)i : 3u;
    });
    for (const int32_t f : {10, 64, 500, 2046, 2047, 5000})
        ok(differing(w, Plan{{{f}}, false, true, true, false, true}, 1, 2, 0, r,
                     {7, 8, 9, 10, 400}) == 0,
           "the device picks %d of 30,000 neighbours, of 2,048 and of 2,047 by LABOR as the CPU does",
           f);
    World t;
    typed(t, r, 3, true, true);
    ok(differing(t, Plan{{{3, 2, 4}, {2, -1, 10}, {0, 3, 2}}, false, false, true, false, true}, 2,
                 12, 0, r) == 0,
       "the device picks of three relations by LABOR as the CPU does");
}

/* Entries with trees, with times, and with both: every rule, blocks and warps of picks, and seeds
 * that are there repeatedly. */
static void test_columns()
{
    Random r{97};
    for (const unsigned columns : {TREES + 0u, TIMES + 0u, TREES | TIMES}) {
        unsigned wrong = 0;
        for (const int32_t f : {1, 5, 15, 33, 300, -1})
            for (unsigned how = 0; how < 4; how++) {
                World w;
                one_type(w, r, 120, how + 1, how & 1, how & 2);
                emu::set_seed(how + 1);
                wrong += differing(w,
                                   Plan{{{f}, {3}},
                                        how == 2,
                                        (how & 1) != 0,
                                        how > 1,
                                        how == 3 && f > 0,
                                        false,
                                        columns},
                                   3, f > 100 ? 4 : 14, 0, r, {5, 5, 6});
            }
        for (unsigned how = 0; how < 4; how++) {
            World w;
            typed(w, r, how % 3 + 1, true, how & 2);
            wrong += differing(w,
                               Plan{{{3, 2, 4}, {5, 9, -1}, {2, 2, 3}},
                                    false,
                                    (how & 1) != 0,
                                    (how & 2) != 0,
                                    false,
                                    false,
                                    columns},
                               3, 12, 0, r);
        }
        World w;
        one_type(w, r, 900, 2, true, false);
        for (const uint32_t n : {1u, 2047u, 2049u, 3000u})
            wrong += differing(w, Plan{{{2}, {3}}, false, true, false, false, false, columns}, 2, n,
                               0, r);
        ok(wrong == 0, "the device draws and numbers entries with%s%s as the CPU does",
           columns & TREES ? " trees" : "", columns & TIMES ? " times" : "");
    }
}

/* Neighbours as many as the fan-out and one: chains of substitutes are long. */
static void test_chains()
{
    Random r{5};
    unsigned wrong = 0;
    for (const int32_t f : {7, 8, 15, 16, 30, 32, 63, 100}) {
        World w;
        w.ntype.assign(1, 200);
        w.add(0, 0).make(r, 200, 200, 1, false, true,
                         [&](uint64_t i) { return (uint32_t)f + (uint32_t)i % 3; });
        emu::set_seed((uint64_t)f);
        wrong += differing(w, Plan{{{f}}, false, true, true}, 1, 60, 0, r);
    }
    ok(wrong == 0, "the device draws from degrees just above the fan-out as the CPU does");
}

/* Tags of 0, 1 and 2 bits: the map starts anew every batch, every second, every fourth. */
static void test_tags()
{
    Random r{31};
    for (const uint32_t bits : {32u, 31u, 30u, 20u}) {
        World w;
        typed(w, r, 2, true, false);
        const Plan p = {{{3, 2, 4}, {2, 2, 2}}, false, false, false};
        ok(differing(w, p, 10, 12, bits, r) == 0,
           "the device draws ten batches with %u bits of tag as the CPU does", 32 - bits);
    }
    ok(gnn_cuda_relabel_slots(100000, 500, 500) == 2048 &&
           gnn_cuda_relabel_slots(8192, 500, 500) == 2048 &&
           gnn_cuda_relabel_slots(8191, 500, 500) == 0 &&
           gnn_cuda_relabel_slots(UINT32_MAX - 1, UINT32_MAX, UINT32_MAX) == 0,
       "gnn_cuda_relabel_slots takes a hash table where a direct map needs twice its memory");
    ok(gnn_cuda_relabel_bits(1000, 23) == 10 && gnn_cuda_relabel_bits(1000, 24) == 11,
       "gnn_cuda_relabel_bits takes as few bits as hold nodes and edges");
    ok(gnn_cuda_relabel_bits(UINT32_C(1) << 31, INT32_MAX) == 32 &&
           gnn_cuda_relabel_bits(UINT32_C(1) << 31, UINT32_C(1) << 31) == 0 &&
           gnn_cuda_relabel_bits(UINT32_MAX, 1) == 0 &&
           gnn_cuda_relabel_bits(UINT64_MAX, UINT64_MAX) == 0,
       "gnn_cuda_relabel_bits refuses more than 32 bits");
}

/* One hop over a graph that is damaged in some places: the CPU and the device find the same. */
static bool same_failure(const World &w, int32_t fanout, const std::vector<uint32_t> &seeds,
                         uint32_t rows, uint32_t edges, bool *failed, bool labor = false)
{
    const Plan p = {{{fanout}, {2}}, false, false, true, false, labor};
    CpuState cpu(w);
    const Drawn d = draw_cpu(w, p, cpu, 1, seeds);
    const Room room = {{(uint32_t)w.ntype[0]},
                       {rows, (uint32_t)w.ntype[0]},
                       {edges, 2 * (uint32_t)w.ntype[0]},
                       (uint32_t)seeds.size(),
                       0};
    CudaState cuda(w, p, room);
    cuda.draw(1, seeds);
    *failed = d.code != 0;
    return (d.code ? cuda.fails_like(d) : cuda.equals(d)) && cuda.redraws(d);
}

static void test_damage()
{
    Random r{2024};
    unsigned same = 0, failures = 0;
    for (unsigned trial = 0; trial < 90; trial++) {
        World w;
        w.ntype.assign(1, 400);
        Relation &rel = w.add(0, 0);
        rel.make(r, 400, 400, 3, false, false, [&](uint64_t) { return 1 + r.below(12); });
        for (unsigned k = r.below(4); k; k--) {
            const uint32_t p = r.below(3);
            if (!rel.view[p].count)
                continue;
            const uint32_t what = r.below(4);
            if (what == 0) /* in no part */
                rel.view[2].count -= std::min<uint64_t>(rel.view[2].count, 1 + r.below(20));
            else if (what == 1)
                rel.part[p].indptr[1 + r.below(rel.view[p].count)] += 1000 + r();
            else if (what == 2)
                rel.part[p].indptr[1 + r.below(rel.view[p].count)] = 0;
            else
                rel.part[p].indices[r.below(rel.view[p].nedges)] = 400 + r.below(UINT32_MAX - 400);
        }
        std::vector<uint32_t> seeds;
        for (uint32_t i = 0; i < 390; i++)
            seeds.push_back(i * 7 % 400);
        if (trial % 10 == 9)
            seeds[r.below(390)] = 400 + r.below(3);
        bool failed;
        emu::set_seed(trial + 1);
        same += same_failure(w,
                             trial % 4 == 0   ? -1
                             : trial % 4 == 1 ? 3
                             : trial % 4 == 2 ? 10
                                              : 40,
                             seeds, 400, 6000, &failed, trial >= 60);
        failures += failed;
    }
    ok(same == 90 && failures > 30 && failures < 90,
       "the device finds in 90 graphs, %u of them damaged, the first error of the CPU, %u times",
       failures, same);
}

/* Offsets are bad, and a node is in no part: which is told is the first among the destinations. */
static void test_order()
{
    Random r{3};
    unsigned same = 0;
    for (uint32_t missing : {0u, 2u, 10u, 63u, 64u, 200u}) {
        World w;
        w.ntype.assign(1, 400);
        Relation &rel = w.add(0, 0);
        rel.make(r, 400, 400, 1, false, false, [](uint64_t) { return 2u; });
        rel.view[0].count = 399;
        rel.part[0].indptr[4] = 1;
        std::vector<uint32_t> seeds;
        for (uint32_t i = 0; i < 390; i++)
            seeds.push_back(i == missing ? 399 : i);
        bool failed;
        emu::set_seed(missing);
        same += same_failure(w, 3, seeds, 400, 6000, &failed) && failed;
    }
    ok(same == 6, "of two bad destinations the device tells the one that the CPU tells");
}

static void test_many()
{
    unsigned same = 0, failures = 0;
    Random r{8};
    for (unsigned trial = 0; trial < 12; trial++) {
        World w;
        const uint64_t n = 700;
        w.ntype.assign(1, n);
        Relation &rel = w.add(0, 0);
        rel.make(r, n, n, 1, false, false, [](uint64_t) { return 0u; });
        uint64_t at = 0; /* offsets without edges behind them: nothing may read those */
        for (uint64_t i = 0; i < n; i++) {
            at += trial == 0   ? (i == 63 ? UINT32_MAX : 0)
                  : trial == 1 ? UINT32_MAX
                               : (UINT64_C(1) << (22 + trial % 11)) + r.below(1000);
            rel.part[0].indptr[i + 1] = at;
        }
        rel.view[0].nedges = at;
        if (trial > 6) /* and a mistake behind, or before */
            rel.part[0].indptr[r.below(n)] = UINT64_MAX;
        std::vector<uint32_t> seeds;
        for (uint32_t i = 0; i < n; i++)
            seeds.push_back(i);
        bool failed;
        emu::set_seed(trial + 1);
        same += same_failure(w, -1, seeds, (uint32_t)n, 100, &failed);
        failures += failed;
    }
    ok(same == 12 && failures == 12,
       "the device reports 2^32 - 1 edges and more as the CPU does, %u times", same);
}

/* Room for one less than needed, at each place. */
static void test_room()
{
    Random r{77};
    World w;
    typed(w, r, 2, false, false);
    const Plan p = {{{3, 2, 4}, {2, 3, 2}}, false, false, false};
    std::vector<uint32_t> seeds;
    for (uint32_t i = 0; i < 20; i++)
        seeds.push_back(i * 5);
    CpuState cpu(w);
    const Drawn d = draw_cpu(w, p, cpu, 3, seeds);
    const Room enough = room_for(w, p, d, seeds.size());
    unsigned told = 0, asked = 0;
    const auto tell = [&](const Room &room, uint32_t which, uint64_t need, uint32_t block) {
        CudaState cuda(w, p, room);
        asked++;
        cuda.draw(3, seeds);
        const gnn_cuda_sample_status &s = cuda.outcome();
        told += cuda.sound() && s.code == GNN_SAMPLE_CAPACITY && s.at.edge == which &&
                s.at.node == need && (block == UINT32_MAX || s.block == block);
        cuda.draw(2, std::vector<uint32_t>(1, 0)); /* a small one fits again */
        told += cuda.sound();
        asked++;
    };
    for (uint32_t b = 0; b < enough.rows.size(); b++) {
        Room less = enough;
        if (enough.rows[b] > 1) {
            less.rows[b]--;
            tell(less, GNN_CUDA_CAPACITY_ROWS, enough.rows[b], b);
        }
        less = enough;
        if (enough.edges[b]) {
            less.edges[b]--;
            tell(less, GNN_CUDA_CAPACITY_EDGES, enough.edges[b], b);
        }
    }
    for (uint32_t t = 0; t < 2; t++) {
        Room less = enough;
        less.nodes[t]--;
        tell(less, GNN_CUDA_CAPACITY_NODES, enough.nodes[t], UINT32_MAX);
    }
    Room less = enough;
    less.seeds--;
    tell(less, GNN_CUDA_CAPACITY_SEEDS, 20, 0);
    ok(told == asked, "the device says what capacity would do when it is one too small: %u of %u",
       told, asked);
}

/* More seeds than one block numbers, up to where its two kinds of kernels meet, and so many rows
 * that their tiles are added up in two rounds. */
static void test_many_seeds()
{
    Random r{6};
    World w;
    one_type(w, r, 9000, 2, true, false);
    const Plan p = {{{2}, {3}}, false, true, false};
    unsigned wrong = 0;
    for (const uint32_t n : {1024u, 1025u, 2047u, 2048u, 2049u, 6000u})
        wrong += differing(w, p, 1, n, 0, r);
    ok(wrong == 0, "the device numbers 1,024 to 6,000 seeds as the CPU does");
    for (const uint32_t n : {2000u, 6000u}) {
        std::vector<uint32_t> seeds;
        for (uint32_t i = 0; i < n; i++)
            seeds.push_back(i * 7 % 9000);
        const Room room = {{9000}, {n, 9000}, {2 * n, 27000}, n, 0},
                   less = {{n - 1}, {n, 9000}, {2 * n, 27000}, n, 0};
        CudaState few(w, p, less), more(w, p, {{9000}, {n - 1, 9000}, {2 * n, 27000}, n - 1, 0});
        few.draw(1, seeds);
        more.draw(1, seeds);
        ok(few.sound() && few.outcome().at.edge == GNN_CUDA_CAPACITY_NODES &&
               few.outcome().at.node == n && more.sound() &&
               more.outcome().at.edge == GNN_CUDA_CAPACITY_SEEDS && more.outcome().at.node == n,
           "the device says that its capacity is one less than %u seeds", n);
        seeds[n - 3] = seeds[n / 2] = 9001;
        CpuState cpu(w);
        const Drawn d = draw_cpu(w, p, cpu, 1, seeds);
        CudaState bad(w, p, room);
        bad.draw(1, seeds);
        ok(d.code == GNN_SAMPLE_SEED && bad.fails_like(d),
           "the device reports the first bad one of %u seeds", n);
    }
    World wide;
    wide.ntype.assign(1, 300000);
    wide.add(0, 0).make(r, 300000, 300000, 1, false, false, [](uint64_t) { return 1u; });
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < 263000; i++)
        all.push_back(i);
    ok(differing(wide, Plan{{{1}}, false, false, false}, 1, 0, 0, r, all) == 0,
       "the device draws for 263,000 destinations as the CPU does");
}

/* What decides the time of a small batch: kernels that wait for each other. */
static void test_kernels()
{
    Random r{7};
    World w;
    one_type(w, r, 500, 1, false, false);
    const Plan p = {{{3}, {2}, {2}}, false, false, false};
    CpuState cpu(w);
    const std::vector<uint32_t> seeds(20, 3);
    const Drawn d = draw_cpu(w, p, cpu, 0, seeds);
    CudaState cuda(w, p, room_for(w, p, d, seeds.size()));
    const uint64_t before = emu::launches();
    cuda.draw(0, seeds);
    ok(cuda.equals(d) && emu::launches() - before == 14,
       "the device draws three hops of one type in 14 kernels (%d)",
       (int)(emu::launches() - before));
}

int main()
{
    test_one_type();
    test_typed();
    test_shapes();
    test_chains();
    test_weights();
    test_labor();
    test_columns();
    test_tags();
    test_damage();
    test_order();
    test_many();
    test_room();
    test_many_seeds();
    test_kernels();
    return tap_done();
}
