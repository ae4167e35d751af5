/* SPDX-License-Identifier: Apache-2.0 */
/* The counter-based generator behind every random choice: Philox4x32-10 (Salmon, Moraes, Dror,
 * Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011), and exact bounded draws (Lemire:
 * "Fast random integer generation in an interval", ACM TOMACS 2019). Pure functions, the same on
 * host and device. */
#ifndef GNN_KERNELS_RNG_H
#define GNN_KERNELS_RNG_H

#include <stdint.h>

#include "kernels/hd.h"

/* The purpose of a stream of draws; the top byte of the key counter's last word, so no two purposes
 * share draws. The numbers decide every batch ever drawn: they never change. */
enum gnn_rng_purpose {
    GNN_RNG_NEIGHBOUR = 0, /* low word: edge type */
    GNN_RNG_ORDER = 1,     /* epoch order */
    GNN_RNG_INIT = 3,      /* initial weights */
    GNN_RNG_DROPOUT = 4,
    GNN_RNG_PARTITION = 5, /* gnn-partition --method random; low word: node type */
    GNN_RNG_ATTENTION = 6, /* dropout of edges' weights; low word: edge type */
    GNN_RNG_BOUNDARY = 7,  /* rows that stay in a full batch's sample; low word: edge type */
    GNN_RNG_ROUNDING = 8,  /* of messages to bf16; low word: edge type */
    GNN_RNG_LABOR = 9,     /* variates of sources; low word: their node type */
    GNN_RNG_RESTART = 10,  /* whether a walk goes back to its seed */
    GNN_RNG_ACCEPT = 11,   /* whether a step of node2vec is taken */
    GNN_RNG_SEEDS = 12,    /* seeds that are drawn by weight */
    GNN_RNG_NEGATIVE = 13  /* ends of negatives; low word: edge type */
};

/* The low half of a * b; *high: the other one. */
static GNN_HD uint64_t gnn_mul64(uint64_t a, uint64_t b, uint64_t *high)
{
#ifdef __CUDA_ARCH__
    *high = __umul64hi(a, b);
#else
    __extension__ typedef unsigned __int128 wide;
    *high = (uint64_t)((wide)a * b >> 64);
#endif
    return a * b;
}

/* One round on (c0..c3) with the key (k0, k1). */
#define GNN_PHILOX_ROUND(c0, c1, c2, c3, k0, k1)                                                   \
    do {                                                                                           \
        const uint64_t p0_ = (uint64_t)0xD2511F53u * (c0), p1_ = (uint64_t)0xCD9E8D57u * (c2);     \
        (c0) = (uint32_t)(p1_ >> 32) ^ (c1) ^ (k0);                                                \
        (c1) = (uint32_t)p1_;                                                                      \
        (c2) = (uint32_t)(p0_ >> 32) ^ (c3) ^ (k1);                                                \
        (c3) = (uint32_t)p0_;                                                                      \
    } while (0)

/* Round keys grow by the Weyl constants. Spelled out because compilers vectorise a loop of calls
 * only then. */
#define GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, r)                                                   \
    GNN_PHILOX_ROUND(c0, c1, c2, c3, (k0) + (r)*0x9E3779B9u, (k1) + (r)*0xBB67AE85u)
#define GNN_PHILOX_10(c0, c1, c2, c3, k0, k1)                                                      \
    do {                                                                                           \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 0u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 1u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 2u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 3u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 4u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 5u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 6u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 7u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 8u);                                                 \
        GNN_PHILOX_AT(c0, c1, c2, c3, k0, k1, 9u);                                                 \
    } while (0)

/* out[4] = Philox4x32-10(counter c[4], key k[2]). */
static GNN_HD void gnn_philox(const uint32_t c[4], const uint32_t k[2], uint32_t out[4])
{
    uint32_t c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    GNN_PHILOX_10(c0, c1, c2, c3, k[0], k[1]);
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Last word of a key counter. set: index of the split's set in the schema + 1, 0 for ids given by
 * the user (below 2^14); low: edge type (below 2^10). */
static GNN_HD uint32_t gnn_rng_tag(enum gnn_rng_purpose purpose, uint32_t set, uint32_t low)
{
    return (uint32_t)purpose << 24 | (set & 0x3fffu) << 10 | (low & 0x3ffu);
}

/* The key of one family of draws: one per (seed, epoch, step, hop, tag). */
static GNN_HD void gnn_rng_key(uint64_t seed, uint32_t epoch, uint32_t step, uint32_t hop,
                               uint32_t tag, uint32_t key[2])
{
    const uint32_t c[4] = {epoch, step, hop, tag};
    const uint32_t k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t w[4];
    gnn_philox(c, k, w);
    key[0] = w[0];
    key[1] = w[1];
}

/* Draw j of item id: 32 uniform bits. tag: what else tells items apart, such as the tree that a
 * destination is in. */
static GNN_HD uint32_t gnn_rng_word(const uint32_t key[2], uint32_t id, uint32_t j, uint32_t tag,
                                    uint32_t retry)
{
    const uint32_t c[4] = {id, j >> 2, tag, retry};
    uint32_t w[4];
    gnn_philox(c, key, w);
    return j & 2 ? (j & 1 ? w[3] : w[2]) : (j & 1 ? w[1] : w[0]); /* registers have no index */
}

/* The family of an item's draws, beside those without a name: part of the counter, so that they are
 * independent of each other. Like purposes, these never change. */
enum gnn_rng_family {
    GNN_RNG_PLAIN = 0,
    GNN_RNG_WEIGHTS = 1 /* picks in proportion to weights */
};

/* Draw j of item id, uniform on 0..n-1 without bias; n >= 1. */
static GNN_HD uint32_t gnn_rng_below(const uint32_t key[2], uint32_t id, uint32_t j, uint32_t tag,
                                     uint32_t n)
{
    for (uint32_t retry = 0;; retry++) {
        const uint64_t m = (uint64_t)gnn_rng_word(key, id, j, tag, retry) * n;
        const uint32_t low = (uint32_t)m;
        if (low >= n || low >= (0u - n) % n)
            return (uint32_t)(m >> 32);
    }
}

/* gnn_rng_below for 64 bits; n < 2^63. */
static GNN_HD uint64_t gnn_rng_below64(const uint32_t key[2], uint32_t id, uint32_t j, uint32_t tag,
                                       enum gnn_rng_family family, uint64_t n)
{
    for (uint32_t retry = 0;; retry++) {
        const uint32_t c[4] = {id, j >> 1, tag, (uint32_t)family << 24 | retry};
        uint32_t w[4];
        uint64_t high;
        gnn_philox(c, key, w);
        const uint64_t word = j & 1 ? (uint64_t)w[3] << 32 | w[2] : (uint64_t)w[1] << 32 | w[0];
        const uint64_t low = gnn_mul64(word, n, &high);
        if (low >= n || low >= (0u - n) % n)
            return high;
    }
}

#endif
