/* SPDX-License-Identifier: Apache-2.0 */
/* exp, expm1 and erf of one f32 number, the same bits on host and device: IEEE operations only,
 * each of them rounded. None branches, so that compilers turn loops over them into lanes.
 *
 * x = n ln 2 + r with |r| <= ln 2 / 2 (and a little, as n is rounded); then exp(x) = 2^n exp(r),
 * and exp(r) - 1 is the beginning of its power series, which is within 2e-8 of it there. */
#ifndef GNN_KERNELS_EXP_H
#define GNN_KERNELS_EXP_H

#include "kernels/half_bits.h"

/* A product and a sum that no compiler joins: for devices, it may. */
static GNN_HD float gnn_mul_rn(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
static GNN_HD float gnn_add_rn(float a, float b)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}

/* The parts that both are made of: exp(r) - 1, and 2^n as a product of two numbers, as it may be
 * beyond the range of one. */
struct gnn_exp_parts {
    float power, scale[2];
};

static GNN_HD struct gnn_exp_parts gnn_exp_split(float x)
{
    /* Numbers beyond become 0 or infinite anyway. A NaN stays one. */
    const float most = x > 89.0f ? 89.0f : x, v = most < -104.0f ? -104.0f : most;
    /* Adding 1.5 * 2^23 rounds to an integer, which is then in the lowest bits. */
    const float round = 12582912.0f, t = gnn_add_rn(gnn_mul_rn(v, 1.44269504f), round),
                n = gnn_add_rn(t, -round);
    /* ln 2 in two parts, of which the first has so few bits that its product is exact. */
    const float r =
        gnn_add_rn(gnn_add_rn(v, -gnn_mul_rn(n, 0x1.62e4p-1f)), -gnn_mul_rn(n, 1.42860677e-6f));
    float q = 1.0f / 5040;
    q = gnn_add_rn(gnn_mul_rn(q, r), 1.0f / 720);
    q = gnn_add_rn(gnn_mul_rn(q, r), 1.0f / 120);
    q = gnn_add_rn(gnn_mul_rn(q, r), 1.0f / 24);
    q = gnn_add_rn(gnn_mul_rn(q, r), 1.0f / 6);
    q = gnn_add_rn(gnn_mul_rn(q, r), 0.5f);
    /* Twice the exponent's bias and n, in two halves. Of a NaN it is any number. */
    const uint32_t m = gnn_f32_bits(t) - gnn_f32_bits(round) + 254, half = m / 2;
    struct gnn_exp_parts p = {gnn_add_rn(r, gnn_mul_rn(gnn_mul_rn(r, r), q)),
                              {gnn_bits_f32(half << 23), gnn_bits_f32((m - half) << 23)}};
    return p;
}

/* exp(x), within 1e-7 of its size where that is a normal number; below, as such numbers are
 * rounded. */
static GNN_HD float gnn_expf(float x)
{
    const struct gnn_exp_parts p = gnn_exp_split(x);
    return gnn_mul_rn(gnn_mul_rn(gnn_add_rn(1, p.power), p.scale[0]), p.scale[1]);
}

/* exp(x) - 1, within 1.5e-7 of its size, also where x is next to 0. */
static GNN_HD float gnn_expm1f(float x)
{
    const struct gnn_exp_parts p = gnn_exp_split(x);
    const float scale = gnn_mul_rn(p.scale[0], p.scale[1]);
    const float small = gnn_add_rn(gnn_mul_rn(p.power, scale), gnn_add_rn(scale, -1));
    /* Where 1 is less than half a unit in the last place; 2^n may be beyond the range there. */
    const float large = gnn_mul_rn(gnn_mul_rn(gnn_add_rn(1, p.power), p.scale[0]), p.scale[1]);
    return x > 20 ? large : small;
}

/* The integral of the normal distribution's density, as erf(x), within 1e-7. Up to 1 it is x plus x
 * times a polynomial in x^2, beyond it 1 - exp(a polynomial); both are fitted in Chebyshev's nodes,
 * of [0, 1] and [1, 4]. */
static GNN_HD float gnn_erff(float x)
{
    const float size = x < 0 ? -x : x, a = size > 4 ? 4 : size, s = gnn_mul_rn(x, x);
    float p = 7.88249745e-5f, q = -1.6140616e-6f;
    p = gnn_add_rn(gnn_mul_rn(p, s), -8.01885501e-4f);
    p = gnn_add_rn(gnn_mul_rn(p, s), 5.18931216e-3f);
    p = gnn_add_rn(gnn_mul_rn(p, s), -2.68543288e-2f);
    p = gnn_add_rn(gnn_mul_rn(p, s), 0.112835974f);
    p = gnn_add_rn(gnn_mul_rn(p, s), -0.37612626f);
    p = gnn_add_rn(gnn_mul_rn(p, s), 0.128379166f);
    q = gnn_add_rn(gnn_mul_rn(q, a), 4.55906229e-5f);
    q = gnn_add_rn(gnn_mul_rn(q, a), -5.92769531e-4f);
    q = gnn_add_rn(gnn_mul_rn(q, a), 4.74022236e-3f);
    q = gnn_add_rn(gnn_mul_rn(q, a), -2.63647176e-2f);
    q = gnn_add_rn(gnn_mul_rn(q, a), 0.109978244f);
    q = gnn_add_rn(gnn_mul_rn(q, a), 0.631937087f);
    q = gnn_add_rn(gnn_mul_rn(q, a), 1.13016665f);
    q = gnn_add_rn(gnn_mul_rn(q, a), -3.03212961e-4f);
    const float small = gnn_add_rn(x, gnn_mul_rn(x, p)), large = gnn_add_rn(1, -gnn_expf(-q));
    return size > 1 ? (x < 0 ? -large : large) : small;
}

#endif
