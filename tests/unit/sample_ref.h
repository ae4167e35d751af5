/* SPDX-License-Identifier: Apache-2.0 */
/* A plain sampler for the tests: one destination after the other, linear searches, no prefetch, no
 * lanes. */
#ifndef GNN_TESTS_UNIT_SAMPLE_REF_H
#define GNN_TESTS_UNIT_SAMPLE_REF_H

#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"
#include "kernels/sample.h"

/* Entries that are nodes only. */
__attribute__((unused)) static struct gnn_entries ref_entries(const uint32_t *node)
{
    return (struct gnn_entries){.node = (uint32_t *)(uintptr_t)node};
}

/* Positions in the adjacency of a node of degree d in a tree; returns how many. */
__attribute__((unused)) static uint32_t ref_pick_in(const uint32_t key[2], uint32_t id,
                                                    uint32_t tree, uint32_t d, int32_t fanout,
                                                    bool replace, uint32_t *x)
{
    const uint32_t k = (uint32_t)fanout;
    if (fanout < 0 || (!replace && d <= k)) {
        for (uint32_t j = 0; j < d; j++)
            x[j] = j;
        return d;
    }
    if (d == 0)
        return 0;
    for (uint32_t j = 0; j < k; j++) {
        x[j] = gnn_rng_below(key, id, j, tree, replace ? d : d - k + j + 1);
        for (uint32_t q = 0; !replace && q < j; q++)
            if (x[q] == x[j]) {
                x[j] = d - k + j;
                break;
            }
    }
    return k;
}

__attribute__((unused)) static uint32_t ref_pick(const uint32_t key[2], uint32_t id, uint32_t d,
                                                 int32_t fanout, bool replace, uint32_t *x)
{
    return ref_pick_in(key, id, 0, d, fanout, replace, x);
}

/* The same in proportion to weights; draws that fall on the sample are repeated, and after 4k draws
 * in all what is in the sample has no weight. */
__attribute__((unused)) static uint32_t ref_pick_weighted(const uint32_t key[2], uint32_t id,
                                                          const uint64_t *w, uint32_t d,
                                                          int32_t fanout, bool replace, uint32_t *x)
{
    const uint32_t k = (uint32_t)fanout;
    uint64_t v, *left = malloc((d + 1) * sizeof *left);
    uint32_t some = 0, n = 0, i;
    for (i = 0; i < d; i++) {
        left[i] = w[i];
        if (w[i])
            x[some++] = i;
    }
    if (fanout < 0 || (!replace && some <= k) || !some) {
        free(left);
        return some;
    }
    for (uint32_t t = 0; n < k; t++) {
        uint64_t sum = 0;
        bool old = false;
        for (i = 0; t >= 4 * k && !replace && i < n; i++)
            left[x[i]] = 0;
        for (i = 0; i < d; i++)
            sum += left[i];
        v = gnn_rng_below64(key, id, t, 0, GNN_RNG_WEIGHTS, sum);
        for (i = 0; v >= left[i]; i++)
            v -= left[i];
        for (uint32_t q = 0; !replace && q < n; q++)
            old = old || x[q] == i;
        if (!old)
            x[n++] = i;
    }
    free(left);
    return n;
}

/* Locals by linear memory of what was seen: where[v] = local + 1. */
struct ref_relabel {
    uint32_t *where, *nodes, count;
};
__attribute__((unused)) static uint32_t ref_local(struct ref_relabel *r, uint32_t v)
{
    if (!r->where[v]) {
        r->nodes[r->count] = v;
        r->where[v] = ++r->count;
    }
    return r->where[v] - 1;
}

/* A graph of one part: xorshift noise, degrees given by the caller. */
struct toy {
    uint64_t n, nsrc, nedges;
    uint64_t *indptr;
    uint32_t *indices;
};
__attribute__((unused)) static uint64_t toy_rand(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}
__attribute__((unused)) static void toy_make(struct toy *t, uint64_t n, uint64_t nsrc,
                                             uint64_t seed, uint32_t (*degree)(uint64_t, uint64_t))
{
    t->n = n;
    t->nsrc = nsrc;
    t->indptr = calloc(n + 1, sizeof *t->indptr);
    for (uint64_t i = 0; i < n; i++)
        t->indptr[i + 1] = t->indptr[i] + (nsrc ? degree(i, toy_rand(&seed)) : 0);
    t->nedges = t->indptr[n];
    t->indices = malloc((t->nedges + 1) * sizeof *t->indices);
    for (uint64_t e = 0; e < t->nedges; e++)
        t->indices[e] = (uint32_t)(toy_rand(&seed) % nsrc);
}
__attribute__((unused)) static void toy_free(struct toy *t)
{
    free(t->indptr);
    free(t->indices);
}

#endif
