/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed permutation of 0..n-1 with random access: a balanced Feistel network on the next even
 * number of bits, walked until it lands below n (Black, Rogaway: "Ciphers with arbitrary finite
 * domains", CT-RSA 2002). At most four walks are expected (four more below 5), O(1) state, no
 * array. */
#ifndef GNN_KERNELS_PERM_H
#define GNN_KERNELS_PERM_H

#include "kernels/rng.h"

enum { GNN_PERM_ROUNDS = 48 };

struct gnn_perm {
    uint64_t n;
    uint32_t half, mask; /* bits of a half, and their mask */
    uint32_t rounds;     /* more for small domains: narrow halves mix slowly */
    uint32_t key[GNN_PERM_ROUNDS];
};

/* n >= 1, at most 2^62. */
static GNN_HD void gnn_perm_init(struct gnn_perm *p, uint64_t n, const uint32_t key[2])
{
    p->n = n;
    p->half = 2;
    while (((uint64_t)1 << (2 * p->half)) < n)
        p->half++;
    p->mask = (uint32_t)(((uint64_t)1 << p->half) - 1);
    p->rounds = p->half < 12 ? 96 / p->half : 8;
    for (uint32_t r = 0; r < p->rounds; r++)
        p->key[r] = gnn_rng_word(key, 0, r, 0, 0);
}

/* The new right half after round k. */
static GNN_HD uint32_t gnn_perm_round(const struct gnn_perm *p, uint32_t k, uint32_t l, uint32_t r)
{
    const uint64_t m = (uint64_t)(r ^ p->key[k]) * 0xD2511F53u;
    const uint64_t q = (uint64_t)((uint32_t)(m >> 32) ^ (uint32_t)m) * 0xCD9E8D57u;
    const uint32_t f = (uint32_t)(q >> 32) ^ (uint32_t)q;
    return (l ^ f) & p->mask;
}

/* Where position i < n goes. */
static GNN_HD uint64_t gnn_perm_at(const struct gnn_perm *p, uint64_t i)
{
    do {
        uint32_t l = (uint32_t)(i >> p->half), r = (uint32_t)i & p->mask;
        for (uint32_t k = 0; k < p->rounds; k++) {
            const uint32_t t = gnn_perm_round(p, k, l, r);
            l = r;
            r = t;
        }
        i = (uint64_t)l << p->half | r;
    } while (i >= p->n);
    return i;
}

/* Which position goes to i < n. */
static GNN_HD uint64_t gnn_perm_back(const struct gnn_perm *p, uint64_t i)
{
    do {
        uint32_t l = (uint32_t)(i >> p->half), r = (uint32_t)i & p->mask;
        for (uint32_t k = p->rounds; k-- > 0;) {
            const uint32_t t = gnn_perm_round(p, k, r, l);
            r = l;
            l = t;
        }
        i = (uint64_t)l << p->half | r;
    } while (i >= p->n);
    return i;
}

enum { GNN_PERM_MANY = 256 };

/* Where positions to[n] go, in place; n at most GNN_PERM_MANY. They are walked side by side: one
 * waits for a chain of products, many do not. */
static inline void gnn_perm_each(const struct gnn_perm *p, uint32_t n, uint64_t *to)
{
    uint32_t l[GNN_PERM_MANY], r[GNN_PERM_MANY], who[GNN_PERM_MANY];
    for (uint32_t i = 0; i < n; i++)
        who[i] = i;
    while (n) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < n; i++) {
            l[i] = (uint32_t)(to[who[i]] >> p->half);
            r[i] = (uint32_t)to[who[i]] & p->mask;
        }
        for (uint32_t k = 0; k < p->rounds; k++)
            for (uint32_t i = 0; i < n; i++) {
                const uint32_t t = gnn_perm_round(p, k, l[i], r[i]);
                l[i] = r[i];
                r[i] = t;
            }
        for (uint32_t i = 0; i < n; i++) { /* those that are not below n walk on */
            to[who[i]] = (uint64_t)l[i] << p->half | r[i];
            if (to[who[i]] >= p->n)
                who[left++] = who[i];
        }
        n = left;
    }
}

/* As gnn_perm_each, for positions first .. first + n - 1. */
static inline void gnn_perm_many(const struct gnn_perm *p, uint64_t first, uint32_t n, uint64_t *to)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = first + i;
    gnn_perm_each(p, n, to);
}

#endif
