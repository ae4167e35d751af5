/* SPDX-License-Identifier: Apache-2.0 */
/* SplitMix64 (Steele, Lea, Flood 2014) for generators and random splits: a fixed, keyed sequence of
 * 64-bit words. Batches never use it; they draw from kernels/rng.h. */
#ifndef GNN_LIB_BASE_RAND_H
#define GNN_LIB_BASE_RAND_H

#include <stdint.h>

__extension__ typedef unsigned __int128 gnn_u128;

static inline uint64_t gnn_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#define GNN_RAND_STEP 0x9e3779b97f4a7c15u /* between the states of two words */
/* A hash of an ordered pair. Summed over edges and over their reverses it tells whether each edge
 * has its reverse, except with probability 2^-64. */
static inline uint64_t gnn_rand_pair(uint64_t u, uint64_t v)
{
    return gnn_mix64(u * GNN_RAND_STEP + v);
}

struct gnn_rand {
    uint64_t state;
};

/* An independent sequence for each (seed, purpose, index). */
static inline struct gnn_rand gnn_rand_key(uint64_t seed, uint64_t purpose, uint64_t index)
{
    uint64_t k = gnn_mix64(seed + 0x9e3779b97f4a7c15u);
    k = gnn_mix64(k ^ (purpose + 0x632be59bd9b4e019u));
    struct gnn_rand r;
    r.state = gnn_mix64(k ^ (index + 0xd1b54a32d192ed03u));
    return r;
}

static inline uint64_t gnn_rand_next(struct gnn_rand *r)
{
    return gnn_mix64(r->state += GNN_RAND_STEP);
}

/* Standard normal, near enough: the sum of four 16-bit uniforms (variance 1/3), three standard
 * deviations wide tails. Integer until the last step, so that all machines agree. */
static inline float gnn_rand_normal(uint64_t w)
{
    int32_t s = (int32_t)(w & 0xffff) + (int32_t)(w >> 16 & 0xffff) + (int32_t)(w >> 32 & 0xffff) +
                (int32_t)(w >> 48);
    return (float)(s - 131070) * (float)(1.7320508 / 65536);
}

/* Uniform in [0, n), n >= 1: Lemire's method with its exact rejection step. */
static inline uint64_t gnn_rand_below(struct gnn_rand *r, uint64_t n)
{
    gnn_u128 m = (gnn_u128)gnn_rand_next(r) * n;
    if ((uint64_t)m < n) {
        uint64_t t = (0 - n) % n;
        while ((uint64_t)m < t)
            m = (gnn_u128)gnn_rand_next(r) * n;
    }
    return (uint64_t)(m >> 64);
}

#endif
