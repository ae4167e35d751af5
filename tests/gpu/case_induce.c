/* SPDX-License-Identifier: Apache-2.0 */
/* Edges among the nodes of a batch; and what goes wrong while sampling: damaged graphs, and too
 * little space. */
#include "gpu/case.h"
#include "gpu/sampling.h"

/* ---- induced edges ---- */

/* The last hop takes all; before, as `how` says, by weight, with replacement, of new nodes. */
static struct plan induced(uint32_t hops, unsigned how, unsigned columns)
{
    return (struct plan){.hops = hops,
                         .rule = {.kind = how == 3  ? GNN_PICK_LABOR
                                          : how & 8 ? GNN_PICK_REPLACE
                                                    : GNN_PICK_UNIFORM,
                                  .weighted = how & 4},
                         .only_new = how & 1,
                         .ids = how & 2,
                         .induced = true,
                         .columns = columns};
}
static unsigned ids_of(unsigned how)
{
    return WEIGHTS | (how & 1 ? ORIGINAL_IDS : 0) | (how & 2 ? EDGE_IDS : 0);
}

static void induce_by_rule(unsigned columns)
{
    for (unsigned how = 0; how < 16; how++) {
        const struct world one = one_type(400 * graph_scale(), how % 3 + 1, ids_of(how));
        struct plan p = induced(3, how, columns);
        memcpy(p.fanout, (const int32_t[HOPS][RELATIONS]){{5}, {3}, {-1}}, sizeof p.fanout);
        sampled(&one, &p, 2, 12 * graph_scale(), NULL, 0);
        const struct world two = two_types(how % 4 + 1, ids_of(how));
        memcpy(p.fanout,
               (const int32_t[HOPS][RELATIONS]){{3, 2, 4}, {2, 3, 5}, {-1, how % 5 ? -1 : 0, -1}},
               sizeof p.fanout);
        sampled(&two, &p, 2, 12 * graph_scale(), NULL, 0);
    }
    verdict("edges among nodes%s%s", columns & TREES ? ", in trees" : "",
            columns & TIMES ? ", with times" : "");
}

static uint32_t some_hubs(uint64_t i)
{
    return i % 1000 == 7 ? the_degree : (uint32_t)i % 3;
}

/* Rows of which none and of which all edges stay; lists of several tiles; and one of a tile to the
 * edge. */
static void induce_shapes(void)
{
    static const uint32_t degrees[] = {0, 1, 64, 1024, 1025, 5000}, seeds[] = {0, 1, 40, 2500};
    struct plan p = induced(2, 2, 0);
    p.fanout[0][0] = 2;
    p.fanout[1][0] = -1;
    for (size_t i = 0; i < COUNT(degrees) * COUNT(seeds); i++) {
        struct world w = {.ntypes = 1, .nodes = {3000}};
        the_degree = degrees[i / COUNT(seeds)];
        add_relation(&w, 0, 0, 2, EDGE_IDS, some_hubs);
        sampled(&w, &p, 2, seeds[i % COUNT(seeds)], NULL, 0);
    }
    verdict("edges among nodes of rows of any length");
    struct world all = {.ntypes = 1, .nodes = {64}};
    struct trial t;
    the_degree = 48;
    add_relation(&all, 0, 0, 1, EDGE_IDS, same_degree);
    p.fanout[0][0] = -1;
    draw_here(&t, &all, &p, 2, 64, NULL, 0);
    while (again()) {
        struct sampler *s = sampler_of(&t, &t.capacity, turn);
        for (unsigned b = 0; b < 2; b++) {
            draw_there(s, b);
            expect_drawn(s, b);
            expect(t.want[b].block[1].edges == t.want[b].block[1].sampled, "not all stay");
        }
    }
    verdict("all edges stay among all nodes");
}

void case_induce(void)
{
    for (unsigned columns = 0; columns <= (TREES | TIMES); columns++)
        induce_by_rule(columns);
    induce_shapes();
}

/* ---- space ---- */

/* With one less than what is needed: told; and a small batch is drawn afterwards, if that fits. */
static void expect_told(const struct trial *t, const struct capacity *capacity,
                        enum gnn_cuda_sample_capacity which, uint64_t need, uint32_t block)
{
    struct sampler *s = sampler_of(t, capacity, false);
    draw_there(s, 0);
    const struct gnn_cuda_sample_status *st = outcome(s);
    expect(st->code == GNN_SAMPLE_CAPACITY && st->at.edge == which && st->at.node == need &&
               (block == UINT32_MAX || st->block == block),
           "of %d %d needed: failure %u, of %d %d in block %u", (int)which, (int)need, st->code,
           (int)st->at.edge, (int)st->at.node, st->block);
    expect_sound(s, 0);
    draw_small(s);
    expect(!outcome(s)->code || need < 2, "a small batch: failure %u", outcome(s)->code);
    expect_sound(s, 0);
}

static void capacity_of(const struct plan *p)
{
    uint32_t seeds[20];
    struct trial t;
    const struct world w = two_types(2, 0);
    for (uint32_t i = 0; i < COUNT(seeds); i++)
        seeds[i] = i * 5;
    draw_here(&t, &w, p, 1, 0, seeds, COUNT(seeds));
    while (again()) {
        const struct capacity enough = t.capacity;
        for (uint32_t i = 0; i < p->hops * w.nrelations; i++) {
            const bool keeps = induces(p, i / w.nrelations);
            struct capacity less = enough;
            if (less.rows[i]-- > 1)
                expect_told(&t, &less, GNN_CUDA_CAPACITY_ROWS, enough.rows[i], i);
            less = enough;
            if (less.edges[i]-- > keeps)
                expect_told(&t, &less, GNN_CUDA_CAPACITY_EDGES, enough.edges[i], i);
            less = enough;
            if (keeps && less.kept[i]-- > 1)
                expect_told(&t, &less, GNN_CUDA_CAPACITY_KEPT, enough.kept[i], i);
        }
        for (uint32_t k = 0; k < w.ntypes; k++) {
            struct capacity less = enough;
            less.nodes[k]--;
            expect_told(&t, &less, GNN_CUDA_CAPACITY_NODES, enough.nodes[k], UINT32_MAX);
        }
        struct capacity less = enough;
        less.seeds--;
        expect_told(&t, &less, GNN_CUDA_CAPACITY_SEEDS, enough.seeds, 0);
    }
    verdict("one less than there must be space for%s%s", p->induced ? ", induced" : "",
            p->columns ? ", in trees with times" : "");
}

/* So many seeds that others number them, all different ones. */
static void many_seeds(uint32_t n)
{
    const struct plan p = {.hops = 2, .fanout = {{2}, {3}}, .only_new = true};
    const struct world w = one_type(9000, 2, ORIGINAL_IDS);
    uint32_t *seeds = host(n * sizeof *seeds);
    struct trial t, bad;
    for (uint32_t i = 0; i < n; i++)
        seeds[i] = i * 7 % 9000;
    draw_here(&t, &w, &p, 1, 0, seeds, n);
    seeds[n - 3] = seeds[n / 2] = 9001;
    draw_here(&bad, &w, &p, 1, 0, seeds, n);
    expect(bad.want[0].code == GNN_SAMPLE_SEED, "the CPU finds no bad seed");
    while (again()) {
        struct capacity less = t.capacity;
        less.nodes[0] = n - 1;
        expect_told(&t, &less, GNN_CUDA_CAPACITY_NODES, n, 0);
        less = t.capacity;
        less.seeds--;
        expect_told(&t, &less, GNN_CUDA_CAPACITY_SEEDS, n, 0);
        struct sampler *s = sampler_of(&bad, &t.capacity, false);
        draw_there(s, 0);
        expect_drawn(s, 0);
    }
    verdict("one less than `capacity` for %u seeds, and a bad one of them", n);
}

void case_capacity(void)
{
    struct plan p = {.hops = 2, .fanout = {{3, 2, 4}, {2, 3, 2}}};
    capacity_of(&p);
    for (unsigned columns = 0; columns <= (TREES | TIMES); columns += TREES | TIMES) {
        p = induced(2, 2, columns);
        memcpy(p.fanout, (const int32_t[HOPS][RELATIONS]){{3, 2, 4}, {-1, -1, -1}},
               sizeof p.fanout);
        capacity_of(&p);
    }
    many_seeds(2000);
    many_seeds(6000);
}

/* ---- damage ---- */

static uint32_t to_twelve(uint64_t i)
{
    (void)i;
    return 1 + below(12);
}

/* The same failure as the CPU's, or the same batch; whether it fails. */
static bool fails_alike(const struct world *w, const struct plan *p, const uint32_t *seeds,
                        uint32_t n, uint32_t rows, uint32_t edges)
{
    struct trial t;
    draw_here(&t, w, p, 1, 0, seeds, n);
    const uint32_t nodes = (uint32_t)w->nodes[0], most = p->induced ? edges : 2 * nodes;
    const struct capacity capacity = {{nodes}, {rows, nodes}, {edges, most}, {edges, most}, n};
    while (again()) {
        struct sampler *s = sampler_of(&t, &capacity, false);
        draw_there(s, 0);
        expect_drawn(s, 0);
        if (!p->induced && !turn)
            expect_blocks(s, 0);
    }
    const bool failed = t.want[0].code;
    settle();
    return failed;
}

/* A change of some kind to a part. */
enum kind { NO_PART, OFFSET, FALLING, SOURCE };
static void damage(struct world *w, enum kind kind)
{
    struct relation *r = &w->relation[0];
    const uint32_t p = below(3);
    struct gnn_sample_part *a = &r->part[p], *last = &r->part[2];
    uint64_t *ptr = (uint64_t *)(uintptr_t)a->indptr;
    uint32_t *indices = (uint32_t *)(uintptr_t)a->indices;
    if (!a->count)
        return;
    if (kind == NO_PART)
        last->count -= last->count < 20 ? last->count : 1 + below(20);
    else if (kind == OFFSET)
        ptr[1 + below((uint32_t)a->count)] += 1000 + ((uint64_t)draw() << 32 | draw());
    else if (kind == FALLING)
        ptr[1 + below((uint32_t)a->count)] = 0;
    else
        indices[below((uint32_t)r->held[p])] = 400 + below(UINT32_MAX - 400);
}

static struct world damaged(unsigned changes, const enum kind kinds[4])
{
    struct world w = {.ntypes = 1, .nodes = {400}};
    add_relation(&w, 0, 0, 3, 0, to_twelve);
    while (changes--)
        damage(&w, kinds[below(4)]);
    return w;
}

static void damaged_graphs(void)
{
    static const int32_t fan[] = {-1, 3, 10, 40};
    static const enum kind all[4] = {NO_PART, OFFSET, FALLING, SOURCE},
                           most[4] = {SOURCE, OFFSET, SOURCE, FALLING};
    unsigned failures = 0;
    uint32_t seeds[390];
    for (unsigned trial = 0; trial < 60; trial++) {
        const struct world w = damaged(below(4), all);
        const struct plan p = {.hops = 2,
                               .fanout = {{fan[trial % 4]}, {2}},
                               .rule.kind = trial >= 40 ? GNN_PICK_LABOR : GNN_PICK_UNIFORM,
                               .ids = true};
        for (uint32_t i = 0; i < COUNT(seeds); i++)
            seeds[i] = i * 7 % 400;
        if (trial % 10 == 9)
            seeds[below(COUNT(seeds))] = 400 + below(3);
        failures += fails_alike(&w, &p, seeds, COUNT(seeds), 400, 6000);
    }
    expect(failures > 20 && failures < 60, "of 60 graphs %u fail", failures);
    verdict("the first error of 60 graphs, some of them damaged");
    failures = 0;
    for (unsigned trial = 0; trial < 40; trial++) {
        const struct world w = damaged(below(6), most);
        struct plan p = induced(2, trial & 3, trial % 8 > 5 ? TREES : 0);
        p.rule.weighted = false;
        p.fanout[0][0] = 1;
        p.fanout[1][0] = -1;
        failures += fails_alike(&w, &p, seeds, 60, 60, 6000);
    }
    expect(failures > 8 && failures < 32, "of 40 graphs %u fail", failures);
    verdict("the first error of 40 graphs, in induced edges");
}

/* Offsets are bad, and a node is in no part: which is told is the first among the destinations. */
static void order_of_errors(void)
{
    static const uint32_t missing[] = {0, 2, 10, 63, 64, 200};
    const struct plan p = {.hops = 2, .fanout = {{3}, {2}}, .ids = true};
    for (size_t k = 0; k < COUNT(missing); k++) {
        struct world w = {.ntypes = 1, .nodes = {400}};
        uint32_t seeds[390];
        the_degree = 2;
        struct relation *r = add_relation(&w, 0, 0, 1, 0, same_degree);
        r->part[0].count = 399;
        ((uint64_t *)(uintptr_t)r->part[0].indptr)[4] = 1;
        for (uint32_t i = 0; i < COUNT(seeds); i++)
            seeds[i] = i == missing[k] ? 399 : i;
        expect(fails_alike(&w, &p, seeds, COUNT(seeds), 400, 6000), "the CPU does not fail");
    }
    verdict("of two bad destinations the one that the CPU tells");
}

/* Offsets without edges behind them, which nothing may read. */
static void too_many(void)
{
    enum { N = 700 };
    const struct plan p = {.hops = 2, .fanout = {{-1}, {2}}, .ids = true};
    for (unsigned trial = 0; trial < 12; trial++) {
        struct world w = {.ntypes = 1, .nodes = {N}};
        uint32_t seeds[N];
        the_degree = 0;
        struct relation *r = add_relation(&w, 0, 0, 1, 0, same_degree);
        uint64_t *ptr = (uint64_t *)(uintptr_t)r->part[0].indptr, at = 0;
        for (uint32_t i = 0; i < N; i++) {
            at += trial == 0   ? (i == 63 ? UINT32_MAX : 0)
                  : trial == 1 ? UINT32_MAX
                               : (UINT64_C(1) << (22 + trial % 11)) + below(1000);
            ptr[i + 1] = at;
            seeds[i] = i;
        }
        r->part[0].nedges = at;
        if (trial > 6) /* and a mistake behind, or before */
            ptr[below(N)] = UINT64_MAX;
        expect(fails_alike(&w, &p, seeds, N, N, 100), "the CPU does not fail");
    }
    verdict("2^32 - 1 edges and more");
}

void case_damage(void)
{
    damaged_graphs();
    order_of_errors();
    too_many();
}
