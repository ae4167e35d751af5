/* A keyed permutation of 0..n-1 with random access: a balanced Feistel network on the next even number of bits,
 * walked until it lands below n (Black, Rogaway: "Ciphers with arbitrary finite domains", CT-RSA 2002). At most
 * four walks are expected (four more below 5), O(1) state, no array. */
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

/* Where position i < n goes. */
static GNN_HD uint64_t gnn_perm_at(const struct gnn_perm *p, uint64_t i)
{
    do {
        uint32_t l = (uint32_t)(i >> p->half), r = (uint32_t)i & p->mask;
        for (uint32_t k = 0; k < p->rounds; k++) {
            const uint64_t m = (uint64_t)(r ^ p->key[k]) * 0xD2511F53u;
            const uint64_t q = (uint64_t)((uint32_t)(m >> 32) ^ (uint32_t)m) * 0xCD9E8D57u;
            const uint32_t f = (uint32_t)(q >> 32) ^ (uint32_t)q;
            const uint32_t t = (l ^ f) & p->mask;
            l = r;
            r = t;
        }
        i = (uint64_t)l << p->half | r;
    } while (i >= p->n);
    return i;
}

#endif
