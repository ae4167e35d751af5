/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/sample.h against a plain reference: every pick, number and edge id, for one part and for
 * many. */
#include "kernels/cpu/draw.h"
#include "kernels/sample.h"

#include "sample_ref.h"
#include "tap.h"

enum { HOPS = 3 };

/* Buffers of one sampled batch. */
struct out {
    struct gnn_relabel r;
    uint32_t *nodes, *indptr[HOPS], *indices[HOPS];
    uint64_t *ids[HOPS];
    uint32_t n[HOPS];
    enum gnn_sample_status rc;
    struct gnn_sample_place bad;
};

static void out_free(struct out *o)
{
    free(o->r.map);
    free(o->nodes);
    for (int h = 0; h < HOPS; h++) {
        free(o->indptr[h]);
        free(o->indices[h]);
        free(o->ids[h]);
    }
}

static void run(struct out *o, const struct gnn_sample_graph *g, const uint32_t *seeds,
                uint32_t nseeds, const int32_t *fanout, bool replace, bool fresh_only)
{
    memset(o, 0, sizeof *o);
    o->r.nnodes = g->nsrc;
    o->r.map = calloc(g->nsrc + 1, 4);
    o->nodes = malloc((nseeds + 1) * sizeof *o->nodes);
    o->r.list.node = o->nodes;
    gnn_relabel_begin(&o->r);
    if (!gnn_relabel_fit(&o->r, nseeds) ||
        gnn_relabel_add(&o->r, ref_entries(seeds), nseeds) != nseeds)
        abort();
    uint32_t from = 0;
    for (uint32_t h = 0; h < HOPS; h++) {
        const uint32_t n = o->r.count - from;
        struct gnn_sample_row *row = malloc((n + 1) * sizeof *row);
        uint32_t *dst = malloc((n + 1) * sizeof *dst);
        memcpy(dst, o->r.list.node + from, n * sizeof *dst);
        o->n[h] = n;
        o->indptr[h] = malloc((n + 1) * sizeof **o->indptr);
        uint32_t key[2];
        const struct gnn_pick_rule rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM,
                                           fanout[h]};
        struct gnn_sample_job job = {.graph = *g,
                                     .dst = {.node = dst},
                                     .n = n,
                                     .rule = rule,
                                     .key = key,
                                     .indptr = o->indptr[h],
                                     .scratch = aligned_alloc(64, gnn_sample_scratch(rule)),
                                     .row = row};
        gnn_rng_key(7, 0, 1, h, 0, key);
        o->rc = gnn_sample_count(&job, &o->bad);
        if (!o->rc) {
            const uint64_t e = o->indptr[h][n];
            if (!gnn_relabel_fit(&o->r, e))
                abort();
            o->indices[h] = malloc((e + 1) * 4);
            o->ids[h] = malloc((e + 1) * 8);
            uint64_t capacity = o->r.count + e;
            capacity = (capacity < g->nsrc ? capacity : g->nsrc) +
                       1; /* exactly what the contract asks for */
            o->r.list.node = o->nodes = realloc(o->nodes, capacity * sizeof *o->nodes);
            if (!fresh_only)
                from = 0;
            else
                from = o->r.count;
            o->rc = gnn_sample_pick(&job, &o->r, o->indices[h], o->ids[h], &o->bad);
        }
        free(job.scratch);
        free(row);
        free(dst);
        if (o->rc)
            return;
    }
}

/* The same batch by the reference, compared on the way. orig[v] and back map ids of the parts to
 * those of t. */
static bool same(const struct out *o, const struct toy *t, const uint32_t *orig,
                 const uint32_t *seeds, uint32_t nseeds, const int32_t *fanout, bool replace,
                 bool fresh_only)
{
    struct ref_relabel r = {calloc(t->nsrc + 1, 4), malloc((t->nsrc + 1) * 4), 0};
    uint32_t *x = malloc((t->nedges + 1024 * 1024) * 4);
    bool fine = !o->rc;
    for (uint32_t i = 0; i < nseeds; i++)
        ref_local(&r, orig ? orig[seeds[i]] : seeds[i]);
    uint32_t from = 0;
    for (uint32_t h = 0; h < HOPS && fine; h++) {
        const uint32_t to = r.count;
        uint32_t key[2], e = 0;
        gnn_rng_key(7, 0, 1, h, 0, key);
        fine = o->n[h] == to - from;
        for (uint32_t i = from; i < to && fine; i++) {
            const uint32_t v = r.nodes[i];
            const uint64_t b = t->indptr[v];
            const uint32_t c =
                ref_pick(key, v, (uint32_t)(t->indptr[v + 1] - b), fanout[h], replace, x);
            fine = o->indptr[h][i - from + 1] - o->indptr[h][i - from] == c;
            for (uint32_t j = 0; j < c && fine; j++, e++)
                fine = o->indices[h][e] == ref_local(&r, t->indices[b + x[j]]) &&
                       o->ids[h][e] == b + x[j];
        }
        from = fresh_only ? to : 0;
    }
    fine = fine && r.count == o->r.count;
    for (uint32_t i = 0; i < r.count && fine; i++)
        fine = (orig ? orig[o->r.list.node[i]] : o->r.list.node[i]) == r.nodes[i];
    free(r.where);
    free(r.nodes);
    free(x);
    return fine;
}

/* The same graph cut into k parts: ids permuted so that each part's are contiguous. */
struct cut {
    struct gnn_sample_part *part;
    uint32_t *orig, *now, k;
};

static void cut_make(struct cut *c, const struct toy *t, uint32_t k)
{
    const uint64_t n = t->n;
    uint64_t at = 0, s = 99;
    c->k = k;
    c->part = calloc(k, sizeof *c->part);
    c->orig = malloc((n + 1) * 4);
    c->now = malloc((n + 1) * 4);
    uint32_t *owner = malloc((n + 1) * 4);
    for (uint64_t v = 0; v < n; v++)
        owner[v] = (uint32_t)(toy_rand(&s) % k);
    for (uint32_t p = 0; p < k; p++) {
        struct gnn_sample_part *a = &c->part[p];
        a->first = at;
        for (uint64_t v = 0; v < n; v++)
            if (owner[v] == p) {
                c->now[v] = (uint32_t)at;
                c->orig[at++] = (uint32_t)v;
            }
        a->count = at - a->first;
    }
    for (uint32_t p = 0; p < k; p++) {
        struct gnn_sample_part *a = &c->part[p];
        uint64_t *ptr = calloc(a->count + 1, 8), e = 0;
        for (uint64_t i = 0; i < a->count; i++) {
            const uint32_t v = c->orig[a->first + i];
            ptr[i + 1] = ptr[i] + t->indptr[v + 1] - t->indptr[v];
        }
        uint32_t *idx = malloc((ptr[a->count] + 1) * 4);
        uint64_t *id = malloc((ptr[a->count] + 1) * 8);
        for (uint64_t i = 0; i < a->count; i++) {
            const uint32_t v = c->orig[a->first + i];
            for (uint64_t q = t->indptr[v]; q < t->indptr[v + 1]; q++, e++) {
                idx[e] = c->now[t->indices[q]];
                id[e] = q;
            }
        }
        a->indptr = ptr;
        a->indices = idx;
        a->nedges = e;
        a->orig = c->orig + a->first;
        a->id = id;
    }
    free(owner);
}

static void cut_free(struct cut *c)
{
    for (uint32_t p = 0; p < c->k; p++) {
        free((void *)(uintptr_t)c->part[p].indptr);
        free((void *)(uintptr_t)c->part[p].indices);
        free((void *)(uintptr_t)c->part[p].id);
    }
    free(c->part);
    free(c->orig);
    free(c->now);
}

static uint32_t deg_small(uint64_t i, uint64_t r)
{
    return i % 7 == 0 ? 0 : (uint32_t)(r % 40);
}
static uint32_t deg_hub(uint64_t i, uint64_t r)
{
    return i % 50 == 3 ? 3000 + (uint32_t)(r % 97) : (uint32_t)(r % 5);
}
static uint32_t deg_huge(uint64_t i, uint64_t r)
{
    return i == 0 ? 100000 : i == 1 ? 1500 : (uint32_t)(r % 130);
}
static uint32_t deg_one(uint64_t i, uint64_t r)
{
    return (uint32_t)(i * 0 + r * 0 + 1);
}
static uint32_t deg_none(uint64_t i, uint64_t r)
{
    return (uint32_t)(i * 0 + r * 0);
}

static void compare(const char *name, const struct toy *t, uint32_t nseeds)
{
    static const int32_t fan[][HOPS] = {{15, 10, 5},  {1, 1, 1},    {-1, 2, 0},  {4, -1, 3},
                                        {16, 17, 64}, {65, 100, 2}, {2000, 1, 1}};
    uint32_t *seeds = malloc((nseeds + 1) * 4);
    uint64_t s = 5;
    for (uint32_t i = 0; i < nseeds; i++) /* with repeats: they count once */
        seeds[i] = i < 2 ? i % (uint32_t)t->n : (uint32_t)(toy_rand(&s) % t->n);
    struct cut cut;
    cut_make(&cut, t, 5);
    const struct gnn_sample_part whole = {0, t->n, t->indptr, t->indices, t->nedges, NULL, NULL};
    const struct gnn_sample_graph g1 = {&whole, 1, t->nsrc}, g5 = {cut.part, cut.k, t->nsrc};
    uint32_t *moved = malloc((nseeds + 1) * 4);
    for (uint32_t i = 0; i < nseeds; i++)
        moved[i] = cut.now[seeds[i]];
    bool one = true, five = true;
    for (size_t f = 0; f < sizeof fan / sizeof *fan; f++)
        for (int mode = 0; mode < 4; mode++) {
            struct out o;
            run(&o, &g1, seeds, nseeds, fan[f], mode & 1, mode & 2);
            bool b = same(&o, t, NULL, seeds, nseeds, fan[f], mode & 1, mode & 2);
            if (!b)
                printf("# differs: fan-out %zu mode %d status %d\n", f, mode, (int)o.rc);
            one = one && b;
            out_free(&o);
            run(&o, &g5, moved, nseeds, fan[f], mode & 1, mode & 2);
            b = same(&o, t, cut.orig, moved, nseeds, fan[f], mode & 1, mode & 2);
            five = five && b;
            out_free(&o);
        }
    ok(one, "gnn_sample_pick draws from %s in one part what the reference draws", name);
    ok(five, "gnn_sample_pick draws from %s in five parts what the reference draws", name);
    cut_free(&cut);
    free(moved);
    free(seeds);
}

/* Sixteen lanes against one draw after the other, degrees up to 2^32 - 1, where draws are rejected
 * often. */
static void lanes(void)
{
    uint32_t id[16] __attribute__((aligned(64))), tree[16] __attribute__((aligned(64))),
        d[16] __attribute__((aligned(64)));
    static uint32_t a[64 * 16] __attribute__((aligned(64))),
        b[64 * 16] __attribute__((aligned(64)));
    uint64_t s = 1;
    bool best = true, all = true;
    for (uint32_t k = 1; k <= GNN_DRAW_MAX; k++)
        for (int round = 0; round < 12; round++) {
            const bool replace = round & 1;
            const uint32_t key[2] = {(uint32_t)toy_rand(&s), (uint32_t)toy_rand(&s)};
            for (int l = 0; l < 16; l++) {
                id[l] = (uint32_t)toy_rand(&s);
                tree[l] = (uint32_t)toy_rand(&s) >> (l % 2 ? 20 : 0);
                const uint32_t most = round < 4 ? UINT32_MAX : round < 8 ? 200 : k + 2;
                d[l] = (uint32_t)(toy_rand(&s) % most) + 1;
                if (!replace && d[l] <= k)
                    d[l] = k + 1 + (uint32_t)l % 3;
            }
            const struct gnn_pick_rule rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM,
                                               (int32_t)k};
            const uint32_t *in = round % 3 ? tree : NULL;
            gnn_draw16(rule, key, id, in, d, a);
            for (int l = 0; l < 16; l++) {
                uint32_t x[GNN_DRAW_MAX];
                ref_pick_in(key, id[l], in ? in[l] : 0, d[l], (int32_t)k, replace, x);
                for (uint32_t j = 0; j < k; j++)
                    best = best && a[j * 16 + (uint32_t)l] == x[j];
            }
            for (enum gnn_isa isa = GNN_ISA_PORTABLE; isa <= gnn_isa_best(); isa++) {
                gnn_draw16_on(isa, rule, key, id, in, d, b);
                all = all && !memcmp(a, b, (size_t)16 * k * sizeof *a);
            }
        }
    ok(best, "gnn_draw16 gives the picks of single draws");
    ok(all, "instructions of each level give the same picks");
}

/* A store may hold anything: each kind of damage is named, and nothing outside the arrays is read.
 */
static void hostile(void)
{
    struct toy t;
    toy_make(&t, 100, 100, 3, deg_small);
    struct gnn_sample_part p = {0, t.n, t.indptr, t.indices, t.nedges, NULL, NULL};
    const struct gnn_sample_graph g = {&p, 1, t.nsrc};
    const int32_t fan[HOPS] = {-1, 5, 5};
    const uint32_t seeds[3] = {10, 11, 12};
    struct out o;
    const uint64_t keep = t.indptr[12];
    t.indptr[12] = t.indptr[11] - 1;
    run(&o, &g, seeds, 3, fan, false, true);
    ok(o.rc == GNN_SAMPLE_INDPTR && o.bad.node == 11, "gnn_sample_count names offsets that fall");
    out_free(&o);
    t.indptr[12] = UINT64_MAX - 5;
    run(&o, &g, seeds, 3, fan, false, true);
    ok(o.rc == GNN_SAMPLE_INDPTR && o.bad.node == 11,
       "gnn_sample_count names offsets beyond the edges");
    out_free(&o);
    t.indptr[12] = keep;
    const uint32_t was = t.indices[t.indptr[11]];
    t.indices[t.indptr[11]] = 100;
    run(&o, &g, seeds, 3, fan, false, true);
    ok(o.rc == GNN_SAMPLE_SOURCE && o.bad.node == 11 && o.bad.edge == t.indptr[11],
       "gnn_sample_pick names a source out of range");
    out_free(&o);
    t.indices[t.indptr[11]] = was;
    p.count = 11;
    run(&o, &g, seeds, 3, fan, false, true);
    ok(o.rc == GNN_SAMPLE_NODE && o.bad.node == 11, "gnn_sample_count names a node in no part");
    out_free(&o);
    uint32_t nodes[4], map[5] = {0}, ids[3] = {1, 5, 2};
    struct gnn_relabel r = {.map = map, .nnodes = 5, .list = {.node = nodes}};
    gnn_relabel_begin(&r);
    ok(gnn_relabel_add(&r, ref_entries(ids), 3) == 1, "gnn_relabel_add names a seed out of range");
    toy_free(&t);
}

/* Destination `falls` has bad offsets, `missing` is in no part: what is told, and of which node. */
static enum gnn_sample_status first_bad(uint32_t falls, uint32_t missing, bool timed,
                                        uint64_t *node)
{
    enum { N = 200 };
    struct toy t;
    toy_make(&t, N, N, 3, deg_small);
    int64_t *time = calloc(t.nedges + 1, sizeof *time), entry[N] = {0};
    const struct gnn_sample_part p = {.count = N,
                                      .indptr = t.indptr,
                                      .indices = t.indices,
                                      .nedges = t.nedges,
                                      .pick = {.time = time}};
    struct gnn_sample_row row[N];
    uint32_t dst[N], indptr[N + 1];
    const uint32_t key[2] = {1, 2};
    struct gnn_sample_job job = {.graph = {&p, 1, N},
                                 .dst = {.node = dst, .time = entry},
                                 .n = N,
                                 .rule = {.kind = GNN_PICK_UNIFORM, .fanout = 5},
                                 .key = key,
                                 .indptr = indptr,
                                 .row = row};
    if (timed)
        job.rule.time = (struct gnn_pick_time){.until = GNN_PICK_UNTIL, .windowed = true};
    for (uint32_t i = 0; i < N; i++)
        dst[i] = i;
    dst[missing] = N;
    t.indptr[falls + 1] = UINT64_MAX; /* the row after it is bad, too */
    struct gnn_sample_place bad = {0};
    const enum gnn_sample_status rc = gnn_sample_count(&job, &bad);
    *node = bad.node;
    free(time);
    toy_free(&t);
    return rc;
}

static void first_of_two(void)
{
    for (int timed = 0; timed < 2; timed++) {
        uint64_t a, b, c, d;
        ok(first_bad(3, 10, timed, &a) == GNN_SAMPLE_INDPTR && a == 3 &&
               first_bad(10, 3, timed, &b) == GNN_SAMPLE_NODE && b == 200 &&
               first_bad(130, 131, timed, &c) == GNN_SAMPLE_INDPTR && c == 130 &&
               first_bad(131, 130, timed, &d) == GNN_SAMPLE_NODE && d == 200,
           "the first bad destination is told%s", timed ? ", of a rule with times" : "");
    }
}

/* Generations wrap and number widths grow without a trace. */
static void generations(void)
{
    enum { N = 5000 };
    static uint32_t map[N], nodes[N + 1];
    uint32_t ids[N];
    struct gnn_relabel r = {.map = map, .nnodes = N, .list = {.node = nodes}};
    uint64_t s = 3;
    bool fine = true;
    for (uint32_t batch = 0; batch < 3000 && fine; batch++) {
        if (batch == 1500)
            r.gen = ((uint32_t)1 << (32 - r.bits)) - 3; /* wraps in the batches that follow */
        const uint32_t n = batch == 700 ? N : 20;
        for (uint32_t i = 0; i < n; i++)
            ids[i] = (uint32_t)(toy_rand(&s) % N);
        gnn_relabel_begin(&r);
        const uint32_t half = n / 2;
        fine = gnn_relabel_fit(&r, half) && gnn_relabel_add(&r, ref_entries(ids), half) == half &&
               gnn_relabel_fit(&r, n - half) &&
               gnn_relabel_add(&r, ref_entries(ids + half), n - half) == n - half;
        uint32_t want = 0;
        for (uint32_t i = 0; i < n && fine; i++) {
            bool seen = false;
            for (uint32_t j = 0; j < want && !seen; j++)
                seen = nodes[j] == ids[i];
            if (!seen)
                fine = nodes[want++] == ids[i];
        }
        fine = fine && want == r.count;
    }
    ok(fine, "gnn_relabel_add numbers nodes through wrapped generations and growing widths");
}

int main(void)
{
    struct toy t;
    lanes();
    toy_make(&t, 2000, 2000, 11, deg_small);
    compare("a graph of degrees 0 to 39", &t, 300);
    toy_free(&t);
    toy_make(&t, 3000, 3000, 12, deg_hub);
    compare("a graph with hubs", &t, 40);
    toy_free(&t);
    toy_make(&t, 400, 400, 13, deg_huge);
    compare("a graph of degree 100000", &t, 5);
    toy_free(&t);
    toy_make(&t, 1, 1, 14, deg_one);
    compare("a graph of one node", &t, 1);
    toy_free(&t);
    toy_make(&t, 50, 50, 15, deg_none);
    compare("a graph without edges", &t, 20);
    compare("no seeds", &t, 0);
    toy_free(&t);
    hostile();
    first_of_two();
    generations();
    return tap_done();
}
