/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/link_recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/plural.h"

struct pair {
    uint32_t node;
    float score;
    uint32_t positive;
};

/* By node, and the highest scores first. */
static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->score > y->score ? -1 : x->score < y->score;
}

void gnn_link_recall_clear(struct gnn_link_recall *q)
{
    q->n = q->full = 0;
    q->negatives = false;
}

void gnn_link_recall_release(struct gnn_link_recall *q)
{
    gnn_buf_release(&q->pair);
    gnn_link_recall_clear(q);
}

/* Leaves out negatives that are below K others of their node. */
static void drop_pairs(struct gnn_link_recall *q)
{
    struct pair *p = q->pair.data;
    uint64_t n = 0, before = 0;
    float last = 0;
    if (q->n)
        qsort(p, q->n, sizeof *p, compare_pairs);
    for (uint64_t i = 0; i < q->n; i++) {
        const struct pair x = p[i];
        if (!n || p[n - 1].node != x.node)
            before = 0;
        if (!x.positive && before >= q->k && x.score < last)
            continue;
        if (!x.positive) {
            before++;
            last = x.score;
        }
        p[n++] = x;
    }
    q->n = n;
    q->full = 2 * n + 4096;
}

static int add_pair(struct gnn_link_recall *q, uint32_t node, float score, bool positive,
                    struct gnn_err *e)
{
    if (isnan(score))
        return gnn_fail(e, GNN_E_INPUT, "a score is NaN");
    ((struct pair *)q->pair.data)[q->n++] = (struct pair){node, score, positive};
    return 0;
}

int gnn_link_recall_add(struct gnn_link_recall *q, const uint32_t *node, const float *positive,
                        uint64_t positives, const float *negative, const float *y,
                        uint64_t negatives, struct gnn_err *e)
{
    if (positives ? negatives % positives : negatives)
        return gnn_fail(e, GNN_E_INPUT, "not as many negatives of each link");
    const uint64_t each = positives ? negatives / positives : 0, more = positives + negatives;
    if (q->full && q->n + more > q->full)
        drop_pairs(q);
    if (gnn_buf_reserve(&q->pair, q->n + more, sizeof(struct pair), "scores of links", e))
        return e->code;
    for (uint64_t i = 0; i < positives; i++) {
        if (add_pair(q, node[i], positive[i], true, e))
            return e->code;
        for (uint64_t k = i * each; k < (i + 1) * each; k++) {
            if (y && isnan(y[k]))
                continue;
            if (add_pair(q, node[i], negative[k], false, e))
                return e->code;
            q->negatives = true;
        }
    }
    if (!q->full || q->n > q->full)
        drop_pairs(q);
    return 0;
}

/* Replaces the pairs by those of all ranks. */
static int gather_pairs(struct gnn_link_recall *q, struct gnn_comm *c, struct gnn_err *e)
{
    struct gnn_buf all = {0};
    uint64_t bytes;
    if (gnn_comm_all_scores(c, q->pair.data, q->n * sizeof(struct pair), &all, &bytes, e))
        return e->code;
    gnn_buf_release(&q->pair);
    q->pair = all;
    q->n = bytes / sizeof(struct pair);
    return 0;
}

/* How many of a node's links are among its K best pairs. */
static struct gnn_measured count_hits(const struct pair *p, uint64_t n, uint64_t k)
{
    struct gnn_measured hits = {0, 0, 0};
    for (uint64_t i = 0, end; i < n && i < k; i = end) {
        uint64_t good = 0;
        for (end = i; end < n && p[end].score == p[i].score; end++)
            good += p[end].positive;
        const uint64_t many = end - i, room = k - i < many ? k - i : many, bad = many - good;
        hits.value += (double)good * (double)room / (double)many;
        hits.optimistic += (double)(good < room ? good : room);
        hits.pessimistic += (double)(room > bad ? room - bad : 0);
    }
    return hits;
}

/* A share as an integer: integers have the same sum in any order. */
enum { UNIT = 31 };
static uint64_t share_of(double hits, uint64_t positives)
{
    return (uint64_t)ldexp(hits / (double)positives, UNIT);
}

/* Sums over nodes. */
struct recalled {
    uint64_t nodes, most; /* pairs of one */
    uint64_t value, optimistic, pessimistic;
};

static struct recalled sum_nodes(const struct gnn_link_recall *q)
{
    const struct pair *p = q->pair.data;
    struct recalled r = {0};
    for (uint64_t i = 0, end; i < q->n; i = end) {
        uint64_t positives = 0;
        for (end = i; end < q->n && p[end].node == p[i].node; end++)
            positives += p[end].positive;
        const struct gnn_measured hits = count_hits(p + i, end - i, q->k);
        r.nodes++;
        r.most = end - i > r.most ? end - i : r.most;
        r.value += share_of(hits.value, positives);
        r.optimistic += share_of(hits.optimistic, positives);
        r.pessimistic += share_of(hits.pessimistic, positives);
    }
    return r;
}

int gnn_link_recall_value(struct gnn_link_recall *q, struct gnn_comm *c, struct gnn_measured *v,
                          struct gnn_err *e)
{
    uint64_t negatives = q->negatives;
    if (gnn_comm_all_reduce(c, &negatives, 1, GNN_REDUCE_MAX, e))
        return e->code;
    drop_pairs(q);
    if (c->size > 1 && gather_pairs(q, c, e))
        return e->code;
    drop_pairs(q);
    const struct recalled r = sum_nodes(q);
    if (!r.nodes || !negatives)
        return gnn_fail(e, GNN_E_INPUT, "no %s", r.nodes ? "negatives" : "positives");
    if (r.most <= q->k)
        return gnn_fail(e, GNN_E_INPUT,
                        "recall@%llu: a node has at most %llu pair%s, expected more than K",
                        (unsigned long long)q->k, (unsigned long long)r.most, gnn_plural(r.most));
    const double n = ldexp((double)r.nodes, UNIT);
    *v = (struct gnn_measured){(double)r.value / n, (double)r.optimistic / n,
                               (double)r.pessimistic / n};
    return 0;
}
