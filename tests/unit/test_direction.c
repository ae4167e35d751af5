/* SPDX-License-Identifier: Apache-2.0 */
/* Counting which edges have their reverse, against counting in a matrix; and in less memory than
 * there are edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/data/direction.h"
#include "tap.h"

enum { N = 24, EDGES_MAX = 1 << 20 };

static uint32_t src[EDGES_MAX], dst[EDGES_MAX];
static uint64_t state = 1;

static uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* In pieces, as a reader would. */
static struct gnn_direction count(uint64_t n, bool same, bool swap, uint64_t nodes, uint64_t most,
                                  uint32_t parts, bool both, bool drop, bool dedup,
                                  uint64_t *balance)
{
    struct gnn_direction_counter c;
    struct gnn_direction d;
    struct gnn_err e = {0};
    bool more = true;
    gnn_direction_init(&c, same, swap, nodes, most, parts);
    while (more) {
        for (uint64_t i = 0, k; i < n; i += k) {
            k = n - i < 1000 ? n - i : 1000;
            if (gnn_direction_add(&c, src + i, dst + i, k, &e))
                exit(99);
        }
        if (gnn_direction_next(&c, &more, &e))
            exit(99);
    }
    gnn_direction_sum(&c, both, drop, dedup, &d);
    if (balance)
        *balance = c.balance;
    gnn_direction_release(&c);
    return d;
}

/* The same of a small graph, made edge by edge. */
static struct gnn_direction expected(uint64_t n, bool both, bool drop, bool dedup)
{
    static uint64_t m[N][N];
    struct gnn_direction d = {0};
    memset(m, 0, sizeof m);
    for (uint64_t i = 0; i < n; i++) {
        if (src[i] == dst[i] && drop)
            continue;
        m[src[i]][dst[i]]++;
        if (both && src[i] != dst[i])
            m[dst[i]][src[i]]++;
    }
    for (int s = 0; s < N; s++)
        for (int t = 0; t < N; t++) {
            const uint64_t k = dedup && m[s][t] ? 1 : m[s][t];
            d.edges += k;
            d.parallel += k ? k - 1 : 0;
            d.loops += s == t ? k : 0;
            d.reversed += s != t && m[t][s] ? k : 0;
        }
    d.looked = d.edges - d.loops;
    d.symmetric = d.reversed == d.looked;
    return d;
}

static bool same_counts(const struct gnn_direction *a, const struct gnn_direction *b)
{
    return a->edges == b->edges && a->loops == b->loops && a->looked == b->looked &&
           a->reversed == b->reversed && a->parallel == b->parallel && a->symmetric == b->symmetric;
}

static void test_exact(void)
{
    for (unsigned how = 0; how < 8; how++) {
        bool good = true;
        for (int turn = 0; turn < 60 && good; turn++) {
            const uint64_t n = draw(turn < 10 ? 6 : 600);
            const bool both = how & 1, drop = how & 2, dedup = how & 4;
            for (uint64_t i = 0; i < n; i++) {
                src[i] = draw(N), dst[i] = draw(N);
                if (turn % 3 == 0 && i) /* each after its reverse */
                    src[i] = dst[i - 1], dst[i] = src[i - 1];
            }
            const struct gnn_direction want = expected(n, both, drop, dedup);
            const struct gnn_direction got =
                count(n, true, false, N, 1 << 20, 1 + draw(5), both, drop, dedup, NULL);
            good = same_counts(&want, &got);
            if (!good)
                printf("# %llu edges: reversed %llu of %llu, parallel %llu of %llu\n",
                       (unsigned long long)n, (unsigned long long)got.reversed,
                       (unsigned long long)want.reversed, (unsigned long long)got.parallel,
                       (unsigned long long)want.parallel);
        }
        ok(good, "gnn_direction counts reverse edges of 60 graphs as a matrix does%s%s%s",
           how & 1 ? ", both ways" : "", how & 2 ? ", without loops" : "",
           how & 4 ? ", without parallel edges" : "");
    }
}

/* 2^20 edges, of which a quarter have their reverse, counted with space for 2^16. */
static void test_sample(void)
{
    const uint32_t nodes = 1 << 20;
    for (uint64_t i = 0; i < EDGES_MAX; i++) {
        src[i] = draw(nodes), dst[i] = draw(nodes);
        if (i % 8 == 1)
            src[i] = dst[i - 1], dst[i] = src[i - 1];
    }
    const struct gnn_direction all =
        count(EDGES_MAX, true, false, nodes, 1 << 21, 1, false, false, false, NULL);
    const struct gnn_direction parts =
        count(EDGES_MAX, true, false, nodes, 1 << 16, 40, false, false, false, NULL);
    const struct gnn_direction some =
        count(EDGES_MAX, true, false, nodes, 1 << 16, 1, false, false, false, NULL);
    const double off = gnn_direction_share(&some) / gnn_direction_share(&all);
    ok(!gnn_direction_estimated(&all) && all.looked == EDGES_MAX - all.loops &&
           all.reversed >= EDGES_MAX / 4,
       "gnn_direction counts 2^20 edges in one go");
    ok(same_counts(&all, &parts),
       "gnn_direction counts the same in 40 parts with a sixteenth of the memory");
    ok(gnn_direction_estimated(&some) && some.looked > 1 << 13 && some.looked < 1 << 16 &&
           some.edges == all.edges,
       "gnn_direction looks at a sample of %llu edges when memory is short",
       (unsigned long long)some.looked);
    ok(off > 0.95 && off < 1.05,
       "gnn_direction estimates from a sample %.4f of the right number of reverse edges", off);
    ok(!some.symmetric, "gnn_direction sees from a sample that a graph is not symmetric");
    for (uint64_t i = 0; i < EDGES_MAX; i += 2)
        src[i + 1] = dst[i], dst[i + 1] = src[i];
    const struct gnn_direction sym =
        count(EDGES_MAX, true, false, nodes, 1 << 16, 1, false, false, false, NULL);
    ok(sym.symmetric && sym.reversed == sym.edges - sym.loops && gnn_direction_estimated(&sym),
       "gnn_direction knows from a sample that all edges are symmetric");
    src[EDGES_MAX - 1] ^= 1;
    const struct gnn_direction one =
        count(EDGES_MAX, true, false, nodes, 1 << 16, 1, false, false, false, NULL);
    ok(!one.symmetric, "gnn_direction knows from a sample that one edge of all lacks its reverse");
}

/* Few pairs with very many edges do not take memory for each, nor drop out of the sample. */
static void test_heavy(void)
{
    for (uint64_t i = 0; i < EDGES_MAX; i++)
        src[i] = i % 7 ? 1 : 2, dst[i] = i % 7 ? 2 : 1 + (uint32_t)(i % 14 > 6);
    uint64_t back = 0, loops = 0;
    for (uint64_t i = 0; i < EDGES_MAX; i++) {
        back += src[i] == 2 && dst[i] == 1;
        loops += src[i] == dst[i];
    }
    const struct gnn_direction d =
        count(EDGES_MAX, true, false, 3, 1 << 14, 1, false, false, false, NULL);
    ok(!gnn_direction_estimated(&d) && d.edges == EDGES_MAX && d.loops == loops,
       "gnn_direction counts a million edges of one pair with space for 16,384");
    ok(d.reversed == EDGES_MAX - loops && d.symmetric && d.parallel == EDGES_MAX - 3,
       "gnn_direction finds for each of a million edges of one pair a reverse, %llu of them",
       (unsigned long long)back);
    for (uint64_t i = 0; i < EDGES_MAX; i++)
        src[i] = (uint32_t)(i % 1000), dst[i] = (uint32_t)(i % 1000) + 1;
    const struct gnn_direction k =
        count(EDGES_MAX, true, false, 1001, 1 << 14, 1, false, false, false, NULL);
    ok(!gnn_direction_estimated(&k) && k.reversed == 0 && k.parallel == EDGES_MAX - 1000,
       "gnn_direction counts a thousand pairs of a thousand parallel edges each");
}

/* The edges of two types that join two node types are each other's reverses when they balance. */
static void test_types(void)
{
    uint64_t a, b, c;
    const struct gnn_direction d =
        (src[0] = 7, dst[0] = 7, src[1] = 7, dst[1] = 7, src[2] = 3, dst[2] = 9,
         count(3, false, false, 10, 100, 1, false, false, false, &a));
    ok(d.loops == 0 && d.parallel == 1 && d.reversed == 0 && d.edges == 3 && !d.symmetric,
       "gnn_direction counts no loops and no reverses between two node types");
    src[0] = 9, dst[0] = 3, src[2] = 7, dst[2] = 7;
    (void)count(3, false, true, 10, 100, 1, false, false, false, &b);
    (void)count(3, false, false, 10, 100, 1, false, false, false, &c);
    ok(a == b && a != c,
       "gnn_direction gives edge types that are each other's reverses the same balance");
}

/* Each edge between few nodes alone. */
static void test_one(void)
{
    bool good = true;
    for (uint32_t s = 0; s < N; s++)
        for (uint32_t t = 0; t < N; t++) {
            src[0] = s, dst[0] = t;
            const struct gnn_direction d =
                count(1, true, false, N, 100, 1, false, false, false, NULL);
            good = good && d.symmetric == (s == t) && d.loops == (s == t);
        }
    ok(good, "gnn_direction calls one edge symmetric only if it is a loop");
}

static void test_no_edges(void)
{
    const struct gnn_direction d = count(0, true, false, 0, 0, 3, false, false, false, NULL);
    ok(!d.edges && d.symmetric && isnan(gnn_direction_share(&d)) && !gnn_direction_estimated(&d),
       "gnn_direction calls a graph without edges symmetric");
}

int main(void)
{
    test_exact();
    test_sample();
    test_heavy();
    test_types();
    test_one();
    test_no_edges();
    return tap_done();
}
