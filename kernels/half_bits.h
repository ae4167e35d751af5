/* SPDX-License-Identifier: Apache-2.0 */
/* One number between f32 and the two 16-bit types, in integer operations that compilers turn into
 * lanes, the same on host and device. */
#ifndef GNN_KERNELS_HALF_BITS_H
#define GNN_KERNELS_HALF_BITS_H

#include <stdint.h>
#include <string.h>

#include "kernels/hd.h"

static GNN_HD uint32_t gnn_f32_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}
static GNN_HD float gnn_bits_f32(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static GNN_HD uint16_t gnn_bf16_of(uint32_t u)
{
    const uint32_t nan = (u & 0x7fffffffu) > 0x7f800000u;
    const uint32_t round = u + 0x7fffu + (u >> 16 & 1);
    return (uint16_t)((nan ? u | 0x400000u : round) >> 16);
}

/* Up or down by 16 random bits: up with the probability of the fraction that bf16 cuts off. */
static GNN_HD uint16_t gnn_bf16_random(uint32_t u, uint32_t draw)
{
    const uint32_t nan = (u & 0x7fffffffu) > 0x7f800000u;
    const uint32_t top = (u & 0x7fff0000u) == 0x7f7f0000u; /* the next one would be infinity */
    return (uint16_t)((nan ? u | 0x400000u : top ? u : u + draw) >> 16);
}

static GNN_HD uint16_t gnn_f16_of(uint32_t u)
{
    const uint32_t sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    /* Normal: rebias the exponent (127 - 15) and round off 13 bits. A carry runs into the exponent,
     * as it should. */
    const uint32_t normal = (a - (112u << 23) + 0xfffu + (a >> 13 & 1)) >> 13;
    /* Below 2^-14: adding 0.5 makes the floating-point unit shift and round (to even) at bit 2^-24.
     */
    const uint32_t tiny = gnn_f32_bits(gnn_bits_f32(a < (113u << 23) ? a : 0) + 0.5f) - 0x3f000000u;
    uint32_t h = a < (113u << 23) ? tiny : normal;
    h = a >= 0x477ff000u ? 0x7c00u : h; /* 65520 and more round to infinity */
    h = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : h;
    return (uint16_t)(sign | h);
}

static GNN_HD float gnn_f32_of_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, a = h & 0x7fffu;
    const uint32_t normal = (a << 13) + (112u << 23);
    const uint32_t special = (a << 13) | 0x7f800000u;
    /* Subnormal: a * 2^-24, exact. */
    const uint32_t tiny = gnn_f32_bits((float)(int32_t)a * 0x1p-24f);
    const uint32_t u = a >= 0x7c00u ? special : a < 0x400u ? tiny : normal;
    return gnn_bits_f32(sign | u);
}

#endif
