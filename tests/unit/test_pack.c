/* SPDX-License-Identifier: Apache-2.0 */
/* Stochastic rounding to bf16: to one of the two next numbers, with their mean; and the rest of
 * what packs rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels/pack.h"
#include "kernels/rng.h"
#include "tap.h"

enum { N = 4096, D = 24 };
static float x[N * D], back[N * D];
static uint32_t row[N], id[N];
static uint16_t y[N * D], other[N * D];

static float of_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static struct gnn_rounding key_of(uint32_t epoch)
{
    struct gnn_rounding q = {{0, 0}, id, 0};
    gnn_rng_key(1, epoch, 0, 0, gnn_rng_tag(GNN_RNG_ROUNDING, 0, 0), q.key);
    return q;
}

/* N roundings of D numbers. A number at the fraction p between two bf16, h apart, has the standard
 * deviation h sqrt(p (1 - p) / N) in the mean of N roundings. */
static void test_mean(void)
{
    static const float value[D] = {1.001f,     -3.1415927f, 0.1f,     123456.7f, 1e-30f, -1e30f,
                                   2.7182817f, 0.33333f,    -0.007f,  65519.9f,  1e-3f,  -17.77f,
                                   1.99999f,   1e10f,       -5e-5f,   0.7071f,   3e-40f, 1e-44f,
                                   9.87654f,   -0.5001f,    77.7777f, 1.0039f,   1e20f,  -2e-20f};
    const struct gnn_rounding q = key_of(0);
    unsigned outside = 0, ends = 0;
    double squares = 0;
    for (uint32_t i = 0; i < N; i++) {
        id[i] = i;
        memcpy(x + i * D, value, sizeof value);
    }
    gnn_pack_bf16(x, NULL, N, D, 1, &q, y);
    gnn_bf16_to_f32(y, N * D, back);
    for (uint32_t j = 0; j < D; j++) {
        const uint32_t down = bits_of(value[j]) & 0xffff0000u;
        const double low = (double)of_bits(down), high = (double)of_bits(down + 0x10000),
                     p = ((double)value[j] - low) / (high - low);
        double sum = 0;
        for (uint32_t i = 0; i < N; i++) {
            const double v = (double)back[i * D + j];
            ends += v != low && v != high;
            sum += (v - low) / (high - low);
        }
        const double z = (sum / N - p) / sqrt(p * (1 - p) / N);
        outside += fabs(z) > 4.5; /* once in 6,000 tests of all numbers */
        squares += z * z;
    }
    ok(!ends, "gnn_pack_bf16 rounds to one of the two next numbers");
    ok(!outside, "the mean of many roundings is the number, within 4.5 standard deviations");
    /* chi-square with 24 degrees of freedom: 6.4 to 56 with a probability of 0.9996 */
    ok(squares > 6.4 && squares < 56, "and spreads around it as it should: chi-square %.1f",
       squares);
}

static void test_special(void)
{
    const struct gnn_rounding q = key_of(3);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < N; i++)
        id[i] = i * 77;
    /* every bf16, in rows of 16 columns */
    for (uint32_t i = 0; i < 65536; i++)
        x[i] = of_bits(i << 16);
    gnn_pack_bf16(x, NULL, N, 16, 1, &q, y);
    for (uint32_t i = 0; i < 65536; i++)
        wrong += isnan(x[i]) ? (y[i] & 0x7f80) != 0x7f80 || !(y[i] & 0x7f) : y[i] != i;
    ok(!wrong, "gnn_pack_bf16 leaves every bf16 as it is");
    const float odd[] = {of_bits(0x7f800001), of_bits(0xff80ffff), of_bits(0x7f7fffff),
                         of_bits(0xff7fffff), INFINITY};
    const uint16_t want[] = {0x7fc0, 0xffc0, 0x7f7f, 0xff7f, 0x7f80};
    wrong = 0;
    for (uint32_t i = 0; i < N; i++)
        memcpy(x + i * 5, odd, sizeof odd);
    gnn_pack_bf16(x, NULL, N, 5, 1, &q, y);
    for (uint32_t i = 0; i < N * 5; i++)
        wrong += y[i] != want[i % 5];
    ok(!wrong, "NaN stays NaN, infinity infinite and the largest float finite");
}

/* What is drawn for a row follows its id, not its place. */
static void test_keys(void)
{
    struct gnn_rounding q = key_of(1);
    unsigned wrong = 0, same = 0;
    for (uint32_t i = 0; i < N * D; i++)
        x[i] = 1 + (float)i * 1e-5f;
    for (uint32_t i = 0; i < N; i++)
        id[i] = i;
    gnn_pack_bf16(x, NULL, N, D, 0.7f, &q, y);
    for (uint32_t i = 0; i < N; i++) {
        row[i] = N - 1 - i;
        id[i] = N - 1 - i + 1000;
    }
    q.first = (uint32_t)-1000;
    gnn_pack_bf16(x, row, N, D, 0.7f, &q, other);
    for (uint32_t i = 0; i < N; i++)
        wrong += memcmp(y + i * D, other + row[i] * D, D * sizeof *y) != 0;
    ok(!wrong, "a row is rounded alike wherever it lies");
    q = key_of(2);
    q.first = (uint32_t)-1000;
    gnn_pack_bf16(x, row, N, D, 0.7f, &q, other);
    for (uint32_t i = 0; i < N * D; i++)
        same += y[i] == other[(size_t)row[i / D] * D + i % D];
    ok(same > N * D / 2 && same < N * D * 9 / 10, "and in another way with another key: %u of %d",
       same, N * D);
    memset(back, 0, sizeof back);
    gnn_add_bf16_rows(other, row, N, D, back);
    gnn_add_bf16_rows(other, row, N, D, back);
    wrong = 0;
    for (uint32_t i = 0; i < N * D; i++)
        wrong += back[(size_t)row[i / D] * D + i % D] != 2 * of_bits((uint32_t)other[i] << 16);
    ok(!wrong, "gnn_add_bf16_rows adds to the rows that it is told");
}

int main(void)
{
    test_mean();
    test_special();
    test_keys();
    return tap_done();
}
