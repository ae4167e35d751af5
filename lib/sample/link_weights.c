/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of negatives that are drawn by weight (lib/sample/links.h). Weights are integers, so that
 * sums of them are exact: by degree, they are found by integer roots, as pow differs between
 * machines. (Mikolov et al., "Distributed Representations of Words and Phrases", NeurIPS 2013, draw
 * by the power 0.75 of counts.) */
#include <math.h>

#include "kernels/owner.h"
#include "kernels/rng.h"
#include "lib/sample/links.h"
#include "lib/store/seed_weights.h"

/* ---- by degree ---- */

/* Whether w^4 <= d^quarters 2^32; w below 2^32. */
static bool is_below_root(uint64_t w, uint64_t d, uint32_t quarters)
{
    uint64_t a_high, b_high;
    const uint64_t a = gnn_mul64(w * w, w * w, &a_high),
                   b = quarters == 3
                           ? gnn_mul64(d * d, d << 32, &b_high)
                           : gnn_mul64(quarters == 2 ? d * d : d, UINT64_C(1) << 32, &b_high);
    return a_high < b_high || (a_high == b_high && a <= b);
}

/* 256 d^(quarters / 4), rounded down. */
static uint64_t power_of(uint64_t d, uint32_t quarters)
{
    uint64_t w = 0;
    if (quarters == 4)
        return d << 8;
    for (unsigned bit = 32; bit-- > 0;)
        if (is_below_root(w | UINT64_C(1) << bit, d, quarters))
            w |= UINT64_C(1) << bit;
    return w;
}

/* Out-edges of heads, by original ids. */
static int count_heads(const struct link_edges *q, uint64_t *count, struct gnn_err *e)
{
    const uint32_t *to_orig = q->to_orig[LINK_HEAD];
    for (uint32_t p = q->store->from; p < q->store->to; p++)
        for (uint64_t i = 0; i < q->part[p].nedges; i++) {
            const uint32_t head = q->part[p].indices[i];
            if (head >= q->nodes[LINK_HEAD])
                return gnn_fail(e, GNN_E_INPUT, "%s: edges '%s' have a source out of range",
                                gnn_store_part_path(q->store, p),
                                q->store->meta.schema.etype[q->etype].rel);
            count[to_orig ? to_orig[head] : head]++;
        }
    return gnn_comm_all_reduce(q->store->comm, count, q->nodes[LINK_HEAD], GNN_REDUCE_U64, e);
}

static int weigh_degrees(const struct link_edges *q, uint32_t quarters, unsigned end, uint64_t *w,
                         struct gnn_err *e)
{
    const uint64_t n = q->nodes[end];
    if (end == LINK_HEAD && count_heads(q, w, e))
        return e->code;
    for (uint64_t v = 0; v < n; v++)
        w[v] = power_of(end == LINK_HEAD ? w[v] : q->first[v + 1] - q->first[v], quarters);
    return 0;
}

/* ---- by a field ---- */

/* Integers of so many bits that their sum fits, the largest weight with all of them. */
static void round_weights(const double *x, uint64_t n, uint64_t *w)
{
    double most = 0;
    int bits = 63, exponent;
    for (uint64_t v = 0; v < n; v++)
        most = x[v] > most ? x[v] : most;
    for (uint64_t many = n; many; many >>= 1)
        bits--;
    (void)frexp(most, &exponent);
    for (uint64_t v = 0; v < n; v++) {
        w[v] = (uint64_t)ldexp(x[v], (bits < 53 ? bits : 53) - exponent);
        if (x[v] > 0 && !w[v])
            w[v] = 1;
    }
}

static int weigh_field(const struct link_edges *q, const char *field, unsigned end, uint64_t *w,
                       struct gnn_err *e)
{
    const uint64_t n = q->nodes[end];
    const struct gnn_sampling by = {.seed_ntype = q->ntype[end], .seed_weight = field};
    double *x = gnn_alloc_zero(n, sizeof *x, "weights of nodes", e);
    uint32_t *ids = gnn_alloc(n, sizeof *ids, "weights of nodes", e);
    if (x && ids) {
        for (uint64_t v = 0; v < n; v++)
            ids[v] = q->to_store[end] ? q->to_store[end][v] : (uint32_t)v;
        if (!gnn_store_seed_weights(q->store, &by, ids, n, x, e))
            round_weights(x, n, w);
    }
    gnn_free(x);
    gnn_free(ids);
    return e->code;
}

int gnn_link_weights_get(const struct link_edges *q, const struct gnn_links *l, unsigned end,
                         uint64_t **sum, struct gnn_err *e)
{
    const uint64_t n = q->nodes[end];
    const struct gnn_link_weight by = l->by[end];
    char *field = gnn_strf(e, "%.*s", (int)by.n, l->weight + by.at);
    if (!field)
        return e->code;
    uint64_t *w = *sum = gnn_alloc_zero(n + 1, sizeof *w, "weights of nodes", e), all = 0;
    if (w)
        (void)!(by.quarters ? weigh_degrees(q, by.quarters, end, w, e)
                            : weigh_field(q, field, end, w, e));
    gnn_free(field);
    if (e->code)
        return e->code;
    for (uint64_t v = 0; v <= n; v++) {
        const uint64_t own = w[v];
        w[v] = all;
        all += own;
    }
    return all ? 0
               : gnn_fail(e, GNN_E_INPUT, "%s: no negatives: no node has a weight by '%s'",
                          q->store->path, l->weight);
}

/* ---- what is not joined to a node ---- */

/* The next neighbour in row v, or v itself, in ascending order; false: there is none. */
struct walk {
    uint64_t i, end;
    bool self; /* v is still to come */
};
static bool next_known(const struct link_rows *r, uint32_t v, struct walk *k, uint32_t *node)
{
    if (k->self && (k->i == k->end || r->other[k->i] >= v)) {
        k->self = false;
        k->i += k->i < k->end && r->other[k->i] == v;
        *node = v;
        return true;
    }
    if (k->i == k->end)
        return false;
    *node = r->other[k->i++];
    return true;
}

uint64_t gnn_link_weights_absent(const uint64_t *sum, const struct link_rows *r, uint32_t v)
{
    struct walk k = {r->first[v], r->first[v + 1], r->same};
    uint64_t absent = sum[r->others];
    uint32_t node;
    while (next_known(r, v, &k, &node))
        absent -= node < r->others ? sum[node + UINT64_C(1)] - sum[node] : 0;
    return absent;
}

uint32_t gnn_link_weights_nth(const uint64_t *sum, const struct link_rows *r, uint32_t v,
                              uint64_t rank)
{
    struct walk k = {r->first[v], r->first[v + 1], r->same};
    uint32_t node;
    /* rank becomes a place among the weights of all nodes, as those of neighbours are stepped over.
     */
    while (next_known(r, v, &k, &node)) {
        if (node >= r->others)
            return UINT32_MAX;
        if (sum[node] > rank)
            break;
        rank += sum[node + UINT64_C(1)] - sum[node];
    }
    return rank < sum[r->others] ? gnn_owner_find(sum, sizeof *sum, (uint32_t)r->others, rank)
                                 : UINT32_MAX;
}
