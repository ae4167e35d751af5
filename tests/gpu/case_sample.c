/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling: every pick rule, both frontier policies, entries with columns, large rows and lists. */
#include "gpu/case.h"
#include "gpu/sampling.h"

static unsigned ids_of(unsigned how)
{
    return (how & 1 ? ORIGINAL_IDS : 0) | (how & 2 ? EDGE_IDS : 0);
}
static const int32_t three_hops[HOPS][RELATIONS] = {{3, 2, 4}, {2, -1, 10}, {0, 3, 2}};

/* Uniform picks, with and without replacement, of one node type. */
static void uniform(void)
{
    static const int32_t fan[] = {0, 1, 2, 5, 8, 9, 15, 16, 17, 32, 33, 200, -1};
    for (size_t i = 0; i < COUNT(fan); i++) {
        const int32_t f = fan[i];
        for (unsigned how = 0; how < 8; how++) {
            const struct world w = one_type(500 * graph_scale(), how % 3 + 1, ids_of(how));
            const struct plan p = {.hops = 2,
                                   .fanout = {{f},
                                              {how & 4 ? 3
                                               : f < 0 ? 1
                                                       : f}},
                                   .rule.kind = how % 3 == 2 ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM,
                                   .only_new = how & 1,
                                   .ids = how > 2};
            sampled(&w, &p, 2, (f > 100 ? 5 : 20) * graph_scale(), NULL, 0);
        }
        verdict("sampling with fan-out %d, in 8 ways", f);
    }
}

static void typed(void)
{
    for (unsigned how = 0; how < 8; how++) {
        const struct world w = two_types(how % 4 + 1, ids_of(how));
        struct plan p = {.hops = 3, .only_new = how & 4, .ids = how & 2};
        memcpy(p.fanout, three_hops, sizeof three_hops);
        p.rule.kind = how == 5 || how == 6 ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM;
        sampled(&w, &p, 2, 12 * graph_scale(), NULL, 0);
    }
    verdict("sampling of two node types by three edge types in three hops");
}

/* Neighbours as many as the fan-out and one: chains of substitutes are long. */
static void chains(void)
{
    static const uint32_t fan[] = {7, 8, 15, 16, 30, 32, 63, 100};
    for (size_t i = 0; i < COUNT(fan); i++) {
        struct world w = {.ntypes = 1, .nodes = {200}};
        the_degree = fan[i];
        add_relation(&w, 0, 0, 1, EDGE_IDS, near_degree);
        const struct plan p = {
            .hops = 1, .fanout = {{(int32_t)fan[i]}}, .only_new = true, .ids = true};
        sampled(&w, &p, 1, 60, NULL, 0);
    }
    verdict("sampling from degrees just above the fan-out");
}

/* What decides the time of a small batch: kernels that wait for each other. */
static void kernels(void)
{
    const uint32_t seeds[20] = {3, 3, 3};
    for (int induced = 0; induced < 2; induced++) {
        const struct world w = one_type(500, 1, 0);
        const struct plan p = {
            .hops = 3, .fanout = {{3}, {2}, {induced ? -1 : 2}}, .induced = induced};
        struct trial t;
        draw_here(&t, &w, &p, 1, 0, seeds, 20);
        while (again()) {
            struct sampler *s = sampler_of(&t, &t.capacity, false);
            const uint64_t before = emu_launched ? emu_launched() : 0;
            draw_there(s, 0);
            const uint64_t n = emu_launched ? emu_launched() - before : 14;
            expect(n == 14, "%d kernels", (int)n);
            expect_drawn(s, 0);
        }
        verdict("three hops of one type take 14 kernels%s", induced ? ", the last induced" : "");
    }
}

/* Tags of 0, 1 and 2 bits: the map starts anew every batch, every second, every fourth. What older
 * batches left there is no number of this one. */
static void tags(void)
{
    for (int induced = 0; induced < 2; induced++)
        for (uint32_t bits = 32; bits > 19; bits -= bits > 30 ? 1 : 10) {
            const struct world w = two_types(2, ORIGINAL_IDS);
            const int32_t all = induced ? -1 : 2;
            const struct plan p = {.hops = 2,
                                   .fanout = {{3, 2, 4}, {all, all, all}},
                                   .induced = induced,
                                   .bits = bits};
            sampled(&w, &p, BATCHES, 12, NULL, 0);
            verdict("ten batches with %u bits of tag%s", 32 - bits, induced ? ", induced" : "");
        }
    expect(gnn_cuda_relabel_slots(100000, 500, 500) == 2048 &&
               gnn_cuda_relabel_slots(8192, 500, 500) == 2048 &&
               !gnn_cuda_relabel_slots(8191, 500, 500) &&
               !gnn_cuda_relabel_slots(UINT32_MAX - 1, UINT32_MAX, UINT32_MAX),
           "a hash table is where a direct map needs twice its memory");
    expect(gnn_cuda_relabel_bits(1000, 23) == 10 && gnn_cuda_relabel_bits(1000, 24) == 11,
           "bits are as few as hold nodes and edges");
    expect(gnn_cuda_relabel_bits(UINT32_C(1) << 31, INT32_MAX) == 32 &&
               !gnn_cuda_relabel_bits(UINT32_C(1) << 31, UINT32_C(1) << 31) &&
               !gnn_cuda_relabel_bits(UINT32_MAX, 1) &&
               !gnn_cuda_relabel_bits(UINT64_MAX, UINT64_MAX),
           "bits are 32 at most");
    verdict("slots and bits of maps");
}

void case_sample(void)
{
    uniform();
    typed();
    chains();
    kernels();
    tags();
}

/* ---- large rows and lists ---- */

static uint32_t two_hubs(uint64_t i)
{
    return i == 7 ? 100000u : i == 8 ? 5001u : i < 40 ? 600u + (uint32_t)i : 3u;
}
static struct world hubs(unsigned with, uint32_t (*degree)(uint64_t i))
{
    struct world w = {.ntypes = 1, .nodes = {1000}};
    add_relation(&w, 0, 0, 2, ORIGINAL_IDS | EDGE_IDS | with, degree);
    return w;
}

static void large_rows(void)
{
    static const int32_t fan[] = {3, 31, 64, 256, 257, 600, 1000, 4096, 5000};
    static const uint32_t seeds[] = {8, 7, 9, 10, 11};
    struct world w = hubs(0, two_hubs);
    const struct plan all = {.hops = 2, .fanout = {{-1}, {1}}, .only_new = true, .ids = true};
    sampled(&w, &all, 1, 3, (const uint32_t[]){7, 9}, 2);
    verdict("sampling all of 100,000 neighbours");
    for (size_t i = 0; i < COUNT(fan); i++) {
        w = hubs(0, two_hubs);
        const struct plan p = {.hops = 1, .fanout = {{fan[i]}}, .only_new = true, .ids = true};
        sampled(&w, &p, 1, 2, seeds, fan[i] > 1000 ? 2 : 5);
        verdict("sampling %d of 100,000 neighbours, of 5,001 and of 609", fan[i]);
    }
    w = hubs(0, two_hubs);
    const struct plan again_and_again = {.hops = 1,
                                         .fanout = {{1000}},
                                         .rule.kind = GNN_PICK_REPLACE,
                                         .only_new = true,
                                         .ids = true};
    sampled(&w, &again_and_again, 1, 2, seeds, 2);
    verdict("sampling 1,000 times with replacement");
    w = (struct world){.ntypes = 1, .nodes = {1}};
    the_degree = 40;
    add_relation(&w, 0, 0, 1, 0, same_degree);
    const struct plan one = {.hops = 2, .fanout = {{5}, {-1}}, .ids = true};
    sampled(&w, &one, 2, 3, NULL, 0);
    verdict("sampling from a graph of one node");
}

/* More seeds than one block numbers, up to where its two kinds of kernels meet, and so many rows
 * that their tiles are added up in two rounds. Seeds may be there repeatedly. */
static void many_seeds(void)
{
    static const uint32_t few[] = {0, 1, 2500}, many[] = {1024, 1025, 2047, 2048, 2049, 6000};
    const struct plan p = {.hops = 2, .fanout = {{2}, {2}}};
    for (size_t i = 0; i < COUNT(few); i++) {
        const struct world w = hubs(0, two_hubs);
        sampled(&w, &p, i ? 2 : 3, few[i], NULL, 0);
    }
    const struct plan q = {.hops = 2, .fanout = {{2}, {3}}, .only_new = true};
    for (size_t i = 0; i < COUNT(many); i++) {
        const struct world w = one_type(9000, 2, ORIGINAL_IDS);
        sampled(&w, &q, 1, many[i], NULL, 0);
    }
    verdict("sampling for 0 to 6,000 seeds");
    struct world wide = {.ntypes = 1, .nodes = {300000}};
    const uint32_t n = 263000;
    uint32_t *all = host(n * sizeof *all);
    the_degree = 1;
    add_relation(&wide, 0, 0, 1, 0, same_degree);
    for (uint32_t i = 0; i < n; i++)
        all[i] = i;
    const struct plan one = {.hops = 1, .fanout = {{1}}};
    sampled(&wide, &one, 1, 0, all, n);
    verdict("sampling for 263,000 destinations");
}

void case_large(void)
{
    large_rows();
    many_seeds();
}

/* ---- weights ---- */

static uint32_t one_hub(uint64_t i)
{
    return i == 7 ? 5000u : i < 40 ? 100u + (uint32_t)i : 3u;
}

/* Few and many picks, rows in which one outweighs the rest, and neighbours of weight 0. */
void case_weighted(void)
{
    static const int32_t fan[] = {1, 2, 5, 15, 16, 33, 40, 200, -1}, large[] = {64, 65, 99, 1000};
    for (size_t i = 0; i < COUNT(fan); i++) {
        for (unsigned how = 0; how < 5; how++) {
            const struct world w =
                one_type(300 * graph_scale(), how % 3 + 1, WEIGHTS | ids_of(how % 4));
            const struct plan p = {.hops = 2,
                                   .fanout = {{fan[i]}, {3}},
                                   .rule = {.kind = how == 2   ? GNN_PICK_REPLACE
                                                    : how == 4 ? GNN_PICK_TOP
                                                               : GNN_PICK_UNIFORM,
                                            .weighted = how < 4},
                                   .only_new = how & 1,
                                   .ids = how > 1};
            sampled(&w, &p, 2, (fan[i] > 100 ? 5 : 12) * graph_scale(), NULL, 0);
        }
        verdict("sampling by weight and in order with fan-out %d", fan[i]);
    }
    static const struct {
        const char *name;
        struct gnn_pick_rule rule;
    } rules[] = {{"by weight", {.weighted = true}},
                 {"by weight, with replacement", {.kind = GNN_PICK_REPLACE, .weighted = true}},
                 {"in order", {.kind = GNN_PICK_TOP}}};
    for (size_t i = 0; i < COUNT(rules) * COUNT(large); i++) {
        const struct world w = hubs(WEIGHTS, one_hub);
        const struct plan p = {.hops = 1,
                               .fanout = {{large[i / COUNT(rules)]}},
                               .rule = rules[i % COUNT(rules)].rule,
                               .only_new = true,
                               .ids = true};
        sampled(&w, &p, 1, 2, (const uint32_t[]){7, 8, 9, 400}, 4);
        verdict("sampling %d of 5,000 neighbours %s", large[i / COUNT(rules)],
                rules[i % COUNT(rules)].name);
    }
}

/* ---- LABOR ---- */

static uint32_t three_hubs(uint64_t i)
{
    return i == 7 ? 30000u : i == 8 ? 2048u : i == 9 ? 2047u : i < 40 ? 100u + (uint32_t)i : 3u;
}

/* Rows of a warp and of a block, parallel edges to few sources, and original ids. */
void case_labor(void)
{
    static const int32_t fan[] = {1, 2, 5, 15, 32, 33, 40, 64, -1},
                         large[] = {10, 64, 500, 2046, 2047, 5000};
    for (size_t i = 0; i < COUNT(fan); i++) {
        for (unsigned how = 0; how < 4; how++) {
            const struct world w =
                one_type(how == 3 ? 9 : 300 * graph_scale(), how % 3 + 1, ids_of(how));
            const struct plan p = {.hops = 2,
                                   .fanout = {{fan[i]}, {3}},
                                   .rule.kind = GNN_PICK_LABOR,
                                   .only_new = how & 1,
                                   .ids = how > 1};
            sampled(&w, &p, 2, 12 * graph_scale(), NULL, 0);
        }
        verdict("sampling by LABOR with fan-out %d", fan[i]);
    }
    for (size_t i = 0; i < COUNT(large); i++) {
        const struct world w = hubs(0, three_hubs);
        const struct plan p = {.hops = 1,
                               .fanout = {{large[i]}},
                               .rule.kind = GNN_PICK_LABOR,
                               .only_new = true,
                               .ids = true};
        sampled(&w, &p, 1, 2, (const uint32_t[]){7, 8, 9, 10, 400}, 5);
        verdict("sampling %d of 30,000 neighbours, of 2,048 and of 2,047 by LABOR", large[i]);
    }
    const struct world w = two_types(3, ORIGINAL_IDS | EDGE_IDS);
    struct plan p = {.hops = 3, .rule.kind = GNN_PICK_LABOR, .ids = true};
    memcpy(p.fanout, three_hops, sizeof three_hops);
    sampled(&w, &p, 2, 12 * graph_scale(), NULL, 0);
    verdict("sampling by LABOR by three edge types");
}

/* ---- trees and times ---- */

static const uint32_t repeated[] = {5, 5, 6};

/* Every rule, blocks and warps of picks, and seeds that are there repeatedly. */
void case_trees(void)
{
    static const int32_t fan[] = {1, 5, 15, 33, 300, -1};
    static const uint32_t seeds[] = {1, 2047, 2049, 3000};
    for (unsigned columns = TREES; columns <= (TREES | TIMES); columns++) {
        for (unsigned k = 0; k < 4 * COUNT(fan); k++) {
            const int32_t f = fan[k / 4];
            const unsigned how = k % 4;
            const struct world w = one_type(120, how + 1, WEIGHTS | ids_of(how));
            const struct plan p = {.hops = 2,
                                   .fanout = {{f}, {3}},
                                   .rule = {.kind = how == 2 ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM,
                                            .weighted = how == 3 && f > 0},
                                   .only_new = how & 1,
                                   .ids = how > 1,
                                   .columns = columns};
            sampled(&w, &p, 2, f > 100 ? 4 : 14, repeated, COUNT(repeated));
        }
        for (unsigned how = 0; how < 4; how++) {
            const struct world w = two_types(how % 3 + 1, ORIGINAL_IDS | ids_of(how));
            const struct plan p = {.hops = 3,
                                   .fanout = {{3, 2, 4}, {5, 9, -1}, {2, 2, 3}},
                                   .only_new = how & 1,
                                   .ids = how & 2,
                                   .columns = columns};
            sampled(&w, &p, 2, 12, NULL, 0);
        }
        for (size_t i = 0; i < COUNT(seeds); i++) {
            const struct world w = one_type(900, 2, ORIGINAL_IDS);
            const struct plan p = {
                .hops = 2, .fanout = {{2}, {3}}, .only_new = true, .columns = columns};
            sampled(&w, &p, 2, seeds[i], NULL, 0);
        }
        verdict("entries with%s%s", columns & TREES ? " trees" : "",
                columns & TIMES ? " times" : "");
    }
}

/* With whole and real times by turns. */
static void by_time(const char *name, struct gnn_pick_rule rule, unsigned columns)
{
    static const int32_t fan[] = {1, 3, 12, 40, -1};
    for (unsigned k = 0; k < 2 * COUNT(fan); k++) {
        const unsigned how = (k + k / 4) % 4;
        const bool real = how & 1;
        struct plan p = {.hops = 2,
                         .fanout = {{fan[k / 2]}, {3}},
                         .rule = rule,
                         .only_new = how & 2,
                         .ids = how != 1,
                         .columns = columns | TIMES};
        const struct world w = one_type(150 * graph_scale(), how % 3 + 1,
                                        WEIGHTS | (real ? REAL_TIMES : EDGE_TIMES) | ids_of(how));
        p.rule.time.real = real;
        p.rule.time.window_real = (double)rule.time.window / 4;
        sampled(&w, &p, 2, 14 * graph_scale(), repeated, COUNT(repeated));
    }
    verdict("sampling by time: %s%s", name, columns ? ", in trees" : "");
}

void case_times(void)
{
    static const struct {
        const char *name;
        struct gnn_pick_rule rule;
    } rules[] = {
        {"until the entry's", {.time.until = GNN_PICK_UNTIL}},
        {"before the entry's", {.kind = GNN_PICK_REPLACE, .time.until = GNN_PICK_BEFORE}},
        {"in a window", {.time = {.until = GNN_PICK_UNTIL, .windowed = true, .window = 5}}},
        {"the latest", {.kind = GNN_PICK_LATEST, .time.until = GNN_PICK_UNTIL}},
        {"the latest before, in a window",
         {.kind = GNN_PICK_LATEST,
          .time = {.until = GNN_PICK_BEFORE, .windowed = true, .window = 9}}},
        {"by weight, in a window",
         {.weighted = true, .time = {.until = GNN_PICK_UNTIL, .windowed = true, .window = 8}}},
        {"by weight with replacement",
         {.kind = GNN_PICK_REPLACE, .weighted = true, .time.until = GNN_PICK_BEFORE}},
        {"the first in order", {.kind = GNN_PICK_TOP, .time.until = GNN_PICK_UNTIL}},
        {"the first in order, in a window",
         {.kind = GNN_PICK_TOP, .time = {.until = GNN_PICK_BEFORE, .windowed = true, .window = 7}}},
        {"by LABOR", {.kind = GNN_PICK_LABOR, .time.until = GNN_PICK_UNTIL}},
        {"then until the edge's", {.time = {.until = GNN_PICK_UNTIL, .by_edge = true}}},
        {"the latest, then before the edge's",
         {.kind = GNN_PICK_LATEST, .time = {.until = GNN_PICK_BEFORE, .by_edge = true}}},
        {"by weight, then until the edge's",
         {.weighted = true, .time = {.until = GNN_PICK_UNTIL, .by_edge = true}}},
    };
    for (size_t i = 0; i < COUNT(rules); i++)
        by_time(rules[i].name, rules[i].rule, i % 2 ? TREES : 0);
    struct plan p = {.hops = 3, .ids = true, .columns = TIMES};
    memcpy(p.fanout, three_hops, sizeof three_hops);
    p.rule.time.until = GNN_PICK_UNTIL;
    for (int by_edge = 0; by_edge < 2; by_edge++) {
        const struct world w = two_types(3, EDGE_TIMES | EDGE_IDS);
        p.rule.time.by_edge = by_edge;
        sampled(&w, &p, 2, 12 * graph_scale(), NULL, 0);
    }
    verdict("sampling by time by three edge types");
}
