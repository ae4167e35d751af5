/* SPDX-License-Identifier: Apache-2.0 */
/* Recall@K of the links of nodes against a table worked out by hand and against its definition, in
 * pieces, over ranks, and in bounded memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/link_recall.h"
#include "tap.h"
#include "thread_ranks.h"

enum { LINKS = 6000, EACH = 7, NODES = 40, MOST = 3 };

static uint32_t draw(uint32_t below)
{
    static uint32_t x = 11;
    x = (uint32_t)((uint64_t)x * 48271 % 2147483647);
    return x % below;
}

static float good[LINKS], bad[LINKS * EACH];
static uint32_t node[LINKS];

static struct gnn_measured value_of(struct gnn_link_recall *q, struct gnn_comm *c)
{
    struct gnn_err e = {0};
    struct gnn_measured v;
    if (gnn_link_recall_value(q, c, &v, &e))
        abort();
    return v;
}

static void add_some(struct gnn_link_recall *q, uint64_t from, uint64_t n)
{
    struct gnn_err e = {0};
    if (gnn_link_recall_add(q, node + from, good + from, n, bad + from * EACH, NULL, n * EACH, &e))
        abort();
}

/* Two nodes: scores 3+ 2+ 2- 1+ and 1+ 1-. Of two, the first has one link surely and one or none of
 * the tied ones; the second has its link. */
static void test_table(void)
{
    struct gnn_link_recall q = {.k = 2};
    struct gnn_err e = {0};
    (void)!gnn_link_recall_add(&q, (uint32_t[]){5, 5, 5}, (float[]){3, 2, 1}, 3,
                               (float[]){2, -1, -1}, NULL, 3, &e);
    (void)!gnn_link_recall_add(&q, (uint32_t[]){9}, (float[]){1}, 1, (float[]){1}, NULL, 1, &e);
    const struct gnn_measured v = value_of(&q, gnn_comm_self());
    ok(fabs(v.value - (1.5 / 3 + 1) / 2) < 1e-9 && fabs(v.optimistic - (2 / 3.0 + 1) / 2) < 1e-9 &&
           fabs(v.pessimistic - (1 / 3.0 + 1) / 2) < 1e-9,
       "recall@2 with ties in any order, and in the best and the worst: %g %g %g", v.value,
       v.optimistic, v.pessimistic);
    gnn_link_recall_release(&q);
}

/* A node's share of links among the k best, if ties had the order of `first`: positives or not. */
static double slow_share(uint32_t v, uint64_t k, bool first)
{
    double hits = 0, all = 0;
    for (uint64_t i = 0; i < LINKS; i++) {
        uint64_t before = 0;
        if (node[i] != v)
            continue;
        for (uint64_t j = 0; j < LINKS; j++) {
            if (node[j] != v)
                continue;
            before += good[j] > good[i] || (good[j] == good[i] && j < i);
            for (uint64_t n = 0; n < EACH; n++)
                before += bad[j * EACH + n] > good[i] || (!first && bad[j * EACH + n] == good[i]);
        }
        all++;
        hits += before < k;
    }
    return hits / all;
}

static void fill_scores(uint32_t values)
{
    for (uint64_t i = 0; i < LINKS; i++) {
        node[i] = 1000 - draw(NODES);
        good[i] = (float)draw(values) + 2;
        for (uint64_t n = 0; n < EACH; n++)
            bad[i * EACH + n] = (float)draw(values);
    }
}

static void test_definition(void)
{
    for (uint64_t k = 1; k < 200; k = 3 * k + 1) {
        struct gnn_link_recall whole = {.k = k}, pieces = {.k = k};
        double first = 0, last = 0;
        fill_scores(50);
        add_some(&whole, 0, LINKS);
        for (uint64_t i = 0; i < LINKS; i += 30)
            add_some(&pieces, LINKS - 30 - i, 30);
        for (uint32_t v = 1001 - NODES; v <= 1000; v++) {
            first += slow_share(v, k, true) / NODES;
            last += slow_share(v, k, false) / NODES;
        }
        const uint64_t kept = pieces.n;
        const struct gnn_measured a = value_of(&whole, gnn_comm_self()),
                                  b = value_of(&pieces, gnn_comm_self());
        ok(fabs(a.optimistic - first) < 1e-9 && fabs(a.pessimistic - last) < 1e-9 &&
               a.value >= a.pessimistic && a.value <= a.optimistic,
           "recall@%u is as defined: %g, from %g to %g", (unsigned)k, a.value, last, first);
        ok(!memcmp(&a, &b, sizeof a), "pieces in another order make the same bits");
        ok(kept < (uint64_t)LINKS * (1 + EACH) || k > 100, "not all pairs are kept: %u",
           (unsigned)kept);
        gnn_link_recall_release(&whole);
        gnn_link_recall_release(&pieces);
    }
}

static void run_rank(struct gnn_comm *c, void *arg)
{
    struct gnn_link_recall q = {.k = 5};
    for (uint64_t i = c->rank; i < LINKS / 30; i += c->size)
        add_some(&q, i * 30, 30);
    ((struct gnn_measured *)arg)[c->rank] = value_of(&q, c);
    gnn_link_recall_release(&q);
}

static void test_several(void)
{
    struct gnn_link_recall q = {.k = 5};
    fill_scores(3000);
    add_some(&q, 0, LINKS);
    const struct gnn_measured v = value_of(&q, gnn_comm_self());
    gnn_link_recall_release(&q);
    for (uint32_t size = 2; size <= MOST; size++) {
        struct gnn_measured of[MOST];
        bool same = true;
        ranks_run(size, 0, run_rank, of);
        for (uint32_t r = 0; r < size; r++)
            same = same && !memcmp(&of[r], &v, sizeof v);
        ok(same, "%u ranks have the value of one", size);
    }
}

/* Places without a negative are as if they were not there. */
static void test_ragged(void)
{
    struct gnn_link_recall q = {.k = 1}, by_list = {.k = 1};
    struct gnn_err e = {0};
    const float others[] = {9, 1, 3, 8, 9, 9}, y[] = {NAN, 0, 0, NAN, NAN, NAN};
    (void)!gnn_link_recall_add(&q, (uint32_t[]){5, 5, 6}, (float[]){2, 1, 1}, 3, others, y, 6, &e);
    (void)!gnn_link_recall_add(&by_list, (uint32_t[]){5, 5}, (float[]){2, 1}, 2, (float[]){1, 3},
                               NULL, 2, &e);
    (void)!gnn_link_recall_add(&by_list, (uint32_t[]){6}, (float[]){1}, 1, NULL, NULL, 0, &e);
    const struct gnn_measured v = value_of(&q, gnn_comm_self()),
                              w = value_of(&by_list, gnn_comm_self());
    ok(!memcmp(&v, &w, sizeof v) && v.value == 0.5, "places without negatives do not count");
    gnn_link_recall_release(&q);
    gnn_link_recall_release(&by_list);
}

static bool fails_with(const struct gnn_err *e, const char *text)
{
    return e->code == GNN_E_INPUT && strstr(e->msg, text);
}

static void test_refusals(void)
{
    struct gnn_link_recall q = {.k = 2};
    struct gnn_measured v;
    struct gnn_err e = {0};
    (void)!gnn_link_recall_value(&q, gnn_comm_self(), &v, &e);
    ok(fails_with(&e, "no positives"), "no links: %s", e.msg);
    e = (struct gnn_err){0};
    (void)!gnn_link_recall_add(&q, (uint32_t[]){1, 1, 1}, (float[]){1, 2, 3}, 3, NULL, NULL, 0, &e);
    (void)!gnn_link_recall_value(&q, gnn_comm_self(), &v, &e);
    ok(fails_with(&e, "no negatives"), "no negatives: %s", e.msg);
    gnn_link_recall_clear(&q);
    e = (struct gnn_err){0};
    (void)!gnn_link_recall_add(&q, (uint32_t[]){1}, (float[]){1}, 1, (float[]){2}, NULL, 1, &e);
    (void)!gnn_link_recall_value(&q, gnn_comm_self(), &v, &e);
    ok(fails_with(&e, "at most 2 pairs"), "all pairs are among K: %s", e.msg);
    e = (struct gnn_err){0};
    (void)!gnn_link_recall_add(&q, (uint32_t[]){1}, (float[]){NAN}, 1, (float[]){2}, NULL, 1, &e);
    ok(fails_with(&e, "NaN"), "a NaN: %s", e.msg);
    gnn_link_recall_release(&q);
}

int main(void)
{
    test_ragged();
    test_table();
    test_definition();
    test_several();
    test_refusals();
    return tap_done();
}
