/* SPDX-License-Identifier: Apache-2.0 */
/* Edges among the nodes of a batch: the device keeps those that the CPU keeps, byte by byte. */
#include "emu/sample_world.h"
#include "tap.h"

static uint32_t some_degree(Random &r)
{
    static const uint32_t d[] = {0, 0, 1, 2, 3, 5, 8, 13, 16, 31, 33, 65};
    return d[r.below(sizeof d / sizeof *d)];
}

/* Two node types, three relations; the second type has no seeds. */
static void typed(World &w, Random &r, uint32_t parts, bool orig, bool ids)
{
    w.ntype.assign(1, 200);
    w.ntype.push_back(90);
    w.add(0, 0).make(r, 200, 200, parts, orig, ids, [&](uint64_t) { return some_degree(r); });
    w.add(1, 0).make(r, 200, 90, parts, orig, ids, [&](uint64_t i) { return (uint32_t)i % 7; });
    w.add(0, 1).make(r, 90, 200, parts, orig, ids, [&](uint64_t) { return some_degree(r); });
}

/* Some batches, drawn by the CPU, and exactly the room that they need. */
struct Case {
    std::vector<std::vector<uint32_t>> seeds;
    std::vector<Drawn> want;
    Room room;
    uint64_t kept = 0, sampled = 0; /* edges of the last hop */

    Case(const World &w, const Plan &p, unsigned batches, uint32_t n, Random &r) : seeds(batches)
    {
        CpuState cpu(w);
        for (unsigned b = 0; b < batches; b++) {
            for (uint32_t i = 0; i < n; i++)
                seeds[b].push_back(r.below(w.ntype[0]));
            want.push_back(draw_cpu(w, p, cpu, b, seeds[b]));
            const Room need = room_for(w, p, want[b], n);
            if (b)
                room_grow(room, need);
            else
                room = need;
            for (size_t i = want[b].block.size() - w.relation.size(); i < want[b].block.size(); i++)
                kept += want[b].block[i].indices.size(), sampled += want[b].block[i].sampled;
        }
    }
};

/* How many batches differ, with direct maps and with hash tables, and tags of so many bits. */
static unsigned differing(const World &w, const Plan &p, Case &c, uint32_t bits)
{
    unsigned wrong = 0;
    c.room.bits = bits;
    for (const bool hash : {false, true}) {
        CudaState cuda(w, p, c.room, hash);
        for (unsigned b = 0; b < c.seeds.size(); b++) {
            cuda.draw(b, c.seeds[b]);
            wrong += !cuda.equals(c.want[b]);
        }
    }
    return wrong;
}

/* A plan with the last hop that takes all, by weight and with replacement before if asked. */
static Plan plan_of(std::vector<std::vector<int32_t>> fanout, unsigned how, unsigned columns)
{
    return Plan{fanout,         (how & 8) != 0, (how & 1) != 0, (how & 2) != 0,
                (how & 4) != 0, how == 3,       columns,        true};
}

static void test_rules(unsigned columns)
{
    Random r{columns + 12};
    unsigned wrong = 0, drawn = 0;
    uint64_t kept = 0, sampled = 0;
    for (unsigned how = 0; how < 16; how++) {
        World one, three;
        one.ntype.assign(1, 400);
        one.add(0, 0).make(r, 400, 400, how % 3 + 1, how & 1, how & 2,
                           [&](uint64_t) { return some_degree(r); });
        typed(three, r, how % 4 + 1, how & 1, how & 2);
        emu::set_seed(how + 1);
        for (const bool many : {false, true}) {
            const World &w = many ? three : one;
            const Plan p =
                many ? plan_of({{3, 2, 4}, {2, 3, 5}, {-1, how % 5 ? -1 : 0, -1}}, how, columns)
                     : plan_of({{5}, {3}, {-1}}, how, columns);
            Case c(w, p, 3, 12, r);
            wrong += differing(w, p, c, 0);
            drawn += 6;
            kept += c.kept, sampled += c.sampled;
        }
    }
    ok(!wrong && kept && kept < sampled,
       "the device keeps of %u batches of entries with%s%s%s the edges that the CPU keeps, %d of %d",
       drawn, columns & TREES ? " trees" : "", columns & TIMES ? " times" : "",
       columns ? "" : "out columns", (int)kept, (int)sampled);
}

/* Rows of which none and of which all edges stay; lists of several tiles; and one of a tile to the
 * edge. */
static void test_shapes()
{
    Random r{71};
    unsigned wrong = 0;
    for (const uint32_t degree : {0u, 1u, 64u, 1024u, 1025u, 5000u}) {
        World w;
        w.ntype.assign(1, 3000);
        Relation &rel = w.add(0, 0);
        rel.make(r, 3000, 3000, 2, false, true,
                 [&](uint64_t i) { return i % 1000 == 7 ? degree : (uint32_t)i % 3; });
        const Plan p = plan_of({{2}, {-1}}, 2, 0);
        for (const uint32_t seeds : {0u, 1u, 40u, 2500u}) {
            Case c(w, p, 2, seeds, r);
            wrong += differing(w, p, c, 0);
        }
    }
    World all;
    all.ntype.assign(1, 64);
    all.add(0, 0).make(r, 64, 64, 1, false, true, [](uint64_t) { return 48u; });
    const Plan p = plan_of({{-1}, {-1}}, 2, 0);
    Case c(all, p, 2, 64, r);
    ok(!wrong && c.kept == c.sampled && !differing(all, p, c, 0),
       "the device keeps edges of rows of any length, none of them and all");
}

/* Tags of 0, 1 and 2 bits: what older batches left in the map is no number of this one. */
static void test_tags()
{
    Random r{31};
    unsigned wrong = 0;
    for (const uint32_t bits : {32u, 31u, 30u, 20u}) {
        World w;
        typed(w, r, 2, true, false);
        const Plan p = plan_of({{3, 2, 4}, {-1, -1, -1}}, 0, 0);
        Case c(w, p, 10, 12, r);
        wrong += differing(w, p, c, bits);
    }
    ok(!wrong, "the device keeps edges of ten batches whatever older ones left in its maps");
}

/* Room for one less than needed, of what is sampled and of what stays. */
static void test_room()
{
    Random r{77};
    World w;
    typed(w, r, 2, false, false);
    unsigned told = 0, asked = 0;
    for (const unsigned columns : {0u, TREES | TIMES}) {
        const Plan p = plan_of({{3, 2, 4}, {-1, -1, -1}}, 2, columns);
        Case c(w, p, 1, 20, r);
        for (uint32_t i = 3; i < 6; i++)
            for (unsigned what = 0; what < 3; what++) {
                Room less = c.room;
                uint32_t &n = (what == 0 ? less.rows : what == 1 ? less.edges : less.kept)[i];
                const uint32_t need = n;
                if (need < 2)
                    continue;
                n--;
                asked += 2;
                CudaState cuda(w, p, less);
                cuda.draw(0, c.seeds[0]);
                const gnn_cuda_sample_status &s = cuda.outcome();
                told += cuda.sound() && s.code == GNN_SAMPLE_CAPACITY && s.block == i &&
                        s.at.node == need &&
                        s.at.edge == (what == 0   ? GNN_CUDA_CAPACITY_ROWS
                                      : what == 1 ? GNN_CUDA_CAPACITY_EDGES
                                                  : GNN_CUDA_CAPACITY_KEPT);
                cuda.draw(2, std::vector<uint32_t>(1, 0)); /* a small one fits again */
                told += cuda.sound() && !cuda.outcome().code;
            }
    }
    ok(told == asked && asked > 20,
       "the device says what capacity would do for induced edges: %u of %u", told, asked);
}

/* Damage in rows that only the last hop reads, and in all. */
static void test_damage()
{
    Random r{2024};
    unsigned same = 0, failures = 0;
    for (unsigned trial = 0; trial < 60; trial++) {
        World w;
        w.ntype.assign(1, 400);
        Relation &rel = w.add(0, 0);
        rel.make(r, 400, 400, 3, false, false, [&](uint64_t) { return 1 + r.below(12); });
        for (unsigned k = r.below(6); k; k--) {
            const uint32_t p = r.below(3);
            if (!rel.view[p].count)
                continue;
            if (r.below(3))
                rel.part[p].indices[r.below(rel.view[p].nedges)] = 400 + r.below(UINT32_MAX - 400);
            else
                rel.part[p].indptr[1 + r.below(rel.view[p].count)] = r.below(2) ? 0 : UINT64_MAX;
        }
        std::vector<uint32_t> seeds;
        for (uint32_t i = 0; i < 60; i++)
            seeds.push_back(i * 7 % 400);
        const Plan p = plan_of({{1}, {-1}}, trial & 3, trial % 8 > 5 ? TREES + 0u : 0);
        CpuState cpu(w);
        const Drawn d = draw_cpu(w, p, cpu, 1, seeds);
        const uint32_t most = 6000;
        emu::set_seed(trial + 1);
        CudaState cuda(w, p, Room{{400}, {60, 400}, {most, most}, 60, 0, {most, most}});
        cuda.draw(1, seeds);
        same += d.code ? cuda.fails_like(d) : cuda.equals(d);
        failures += d.code != 0;
    }
    ok(same == 60 && failures > 10 && failures < 50,
       "the device finds in 60 graphs the first error of the CPU in induced edges, %u times",
       failures);
}

/* What decides the time of a small batch. */
static void test_kernels()
{
    Random r{7};
    World w;
    w.ntype.assign(1, 500);
    w.add(0, 0).make(r, 500, 500, 1, false, false, [](uint64_t) { return 9u; });
    const Plan p = plan_of({{3}, {2}, {-1}}, 0, 0);
    Case c(w, p, 1, 20, r);
    CudaState cuda(w, p, c.room);
    const uint64_t before = emu::launches();
    cuda.draw(0, c.seeds[0]);
    ok(cuda.equals(c.want[0]) && emu::launches() - before == 14,
       "the device draws two hops and the edges among their nodes in 14 kernels (%d)",
       (int)(emu::launches() - before));
}

int main()
{
    for (const unsigned columns : {0u, TREES + 0u, TIMES + 0u, TREES | TIMES})
        test_rules(columns);
    test_shapes();
    test_tags();
    test_room();
    test_damage();
    test_kernels();
    return tap_done();
}
