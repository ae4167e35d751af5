/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/gather.h: rows from parts, and the conversions bit by bit. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gather.h"
#include "kernels/half.h"
#include "kernels/int8_row.h"
#include "lib/data/int8_rows.h"

#include "sample_ref.h"
#include "tap.h"

static float value(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static uint32_t bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

/* What a 16-bit pattern stands for, from the definition. */
static double meaning(uint16_t h, int exponent_bits)
{
    const int m = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    const int e = h >> m & ((1 << exponent_bits) - 1), f = h & ((1 << m) - 1);
    const double a = e ? ldexp(1 + ldexp(f, -m), e - bias) : ldexp(f, 1 - bias - m);
    return h & 0x8000 ? -a : a;
}

/* The nearest finite or infinite pattern, ties to even: checks a candidate against its neighbours.
 */
static bool nearest(double x, uint16_t h, int exponent_bits)
{
    const uint16_t inf = (uint16_t)(((1 << exponent_bits) - 1) << (15 - exponent_bits));
    const uint16_t a = h & 0x7fff;
    const double v = fabs(x), top = meaning((uint16_t)(inf - 1), exponent_bits);
    const double next =
        2 * top - meaning((uint16_t)(inf - 2),
                          exponent_bits); /* where infinity's half-way point is counted from */
    if ((h & 0x8000) != (signbit(x) ? 0x8000 : 0) || a > inf)
        return false;
    const double me = a == inf ? next : meaning(a, exponent_bits);
    const double down = a ? meaning((uint16_t)(a - 1), exponent_bits) : -1,
                 up = a == inf       ? INFINITY
                      : a + 1 == inf ? next
                                     : meaning((uint16_t)(a + 1), exponent_bits);
    const double mine = fabs(v - me);
    if (a == inf && v >= next)
        return true;
    if (a && (v - down < mine || (v - down == mine && a & 1)))
        return false;
    return a == inf || !(up - v < mine || (up - v == mine && a & 1));
}

static void conversions(void)
{
    enum { N = 1 << 21 };
    float *in = malloc(N * 4);
    uint16_t *h = malloc(N * 2), *b = malloc(N * 2);
    uint64_t s = 1;
    for (uint32_t i = 0; i < N; i++) {
        uint32_t u = (uint32_t)toy_rand(&s);
        if (i < 65536)
            u = i << 16;
        else if (i < 3 * 65536) /* ties and their neighbours at the last kept bit of f16 */
            u = (0x38000000u + (i << 12)) + (i % 3) - 1;
        else if (i < 4 * 65536) /* f16 subnormals */
            u = 0x33000000u + ((u & 0xffffff) << 1);
        in[i] = value(u);
    }
    gnn_f32_to_f16(in, N, h);
    gnn_f32_to_bf16(in, N, b);
    uint32_t bad16 = 0, badb = 0;
    for (uint32_t i = 0; i < N; i++) {
        if (isnan(in[i])) {
            bad16 += !((h[i] & 0x7fff) > 0x7c00);
            badb += !((b[i] & 0x7fff) > 0x7f80);
        } else {
            bad16 += !nearest(in[i], h[i], 5);
            badb += !nearest(in[i], b[i], 8);
        }
    }
    ok(bad16 == 0, "gnn_f32_to_f16 rounds to the nearest, ties to even (%u wrong)", bad16);
    ok(badb == 0, "gnn_f32_to_bf16 rounds to the nearest, ties to even (%u wrong)", badb);
    static uint16_t all[65536], back[65536];
    static float wide[65536];
    for (uint32_t i = 0; i < 65536; i++)
        all[i] = (uint16_t)i;
    uint32_t wrong = 0;
    gnn_f16_to_f32(all, 65536, wide);
    for (uint32_t i = 0; i < 65536; i++) {
        const bool nan = (i & 0x7fff) > 0x7c00, inf = (i & 0x7fff) == 0x7c00;
        const bool fine = nan   ? isnan(wide[i])
                          : inf ? isinf(wide[i])
                                : wide[i] == (float)meaning((uint16_t)i, 5);
        wrong += !fine || bits(wide[i]) >> 31 != i >> 15;
    }
    ok(wrong == 0, "gnn_f16_to_f32 is exact (%u wrong)", wrong);
    gnn_f32_to_f16(wide, 65536, back);
    wrong = 0;
    for (uint32_t i = 0; i < 65536; i++)
        wrong += (i & 0x7fff) <= 0x7c00 && back[i] != i;
    ok(wrong == 0, "gnn_f32_to_f16 gives back every f16 (%u wrong)", wrong);
    gnn_bf16_to_f32(all, 65536, wide);
    gnn_f32_to_bf16(wide, 65536, back);
    wrong = 0;
    for (uint32_t i = 0; i < 65536; i++)
        wrong += bits(wide[i]) != i << 16 || ((i & 0x7fff) <= 0x7f80 && back[i] != i);
    ok(wrong == 0, "gnn_f32_to_bf16 gives back every bf16 (%u wrong)", wrong);
    free(in);
    free(h);
    free(b);
}

static void show(void *arg, const void *piece, size_t bytes)
{
    unsigned char **seen = arg;
    memcpy(*seen, piece, bytes);
    *seen += bytes;
}

/* Rows of many lengths, one part and several, some of them empty. */
static void rows(void)
{
    static const size_t sizes[] = {1, 2, 4, 8, 12, 64, 100, 400, 1024, 5000};
    enum { N = 3000, M = 777 };
    uint64_t s = 8, edge[M];
    uint32_t id[M];
    for (int i = 0; i < M; i++)
        edge[i] = id[i] = (uint32_t)(toy_rand(&s) % N);
    bool one = true, many = true, wide = true;
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
        const size_t w = sizes[z];
        unsigned char *data = malloc(N * w), *a = malloc(M * w), *b = malloc(M * w);
        for (size_t i = 0; i < N * w; i++)
            data[i] = (unsigned char)toy_rand(&s);
        const struct gnn_gather_part whole = {0, N, data};
        const struct gnn_gather_part cut[4] = {{0, 1000, data},
                                               {1000, 0, data},
                                               {1000, 1999, data + 1000 * w},
                                               {2999, 1, data + 2999 * w}};
        for (int k = 0; k < 3; k++) {
            memset(a, 0, M * w);
            struct gnn_gather g = {
                .part = k ? cut : &whole, .nparts = k ? 4 : 1, .bytes = w, .n = M, .out = a};
            unsigned char *end = b;
            g.id = k < 2 ? id : NULL;
            g.id64 = edge;
            g.show = k ? show : NULL;
            g.arg = &end;
            bool fine =
                gnn_gather_rows(&g) == M && (!k || (end == b + M * w && !memcmp(a, b, M * w)));
            for (int i = 0; i < M && fine; i++)
                fine = !memcmp(a + (size_t)i * w, data + id[i] * w, w);
            if (k == 0)
                one = one && fine;
            else if (k == 1)
                many = many && fine;
            else
                wide = wide && fine;
        }
        free(data);
        free(a);
        free(b);
    }
    ok(one, "gnn_gather_rows gathers rows of one part");
    ok(many, "gnn_gather_rows gathers rows of several parts");
    ok(wide, "gnn_gather_rows gathers rows by 64-bit ids");
    /* An output larger than caches takes another way, where the rows let it. */
    enum { BIGN = 40000, MOST = 9000 };
    static const size_t wide_rows[] = {400, 301, 4 * 602, MOST};
    unsigned char *data8 = malloc((size_t)N * MOST);
    uint32_t *ids = malloc(BIGN * sizeof *ids);
    for (size_t i = 0; i < (size_t)N * MOST; i++)
        data8[i] = (unsigned char)(toy_rand(&s) >> 7);
    for (uint32_t i = 0; i < BIGN; i++)
        ids[i] = (uint32_t)(toy_rand(&s) % N);
    for (size_t z = 0; z < sizeof wide_rows / sizeof *wide_rows; z++) {
        const size_t w = wide_rows[z], n = z < 2 ? BIGN : BIGN / 8 + 1;
        unsigned char *big = aligned_alloc(64, n * w / 64 * 64 + 64), *shown = malloc(n * w),
                      *end = shown;
        const struct gnn_gather_part far[2] = {{0, 1234, data8},
                                               {1234, N - 1234, data8 + 1234 * w}};
        bool same = gnn_gather_rows(&(struct gnn_gather){.part = far,
                                                         .nparts = 2,
                                                         .bytes = w,
                                                         .n = n,
                                                         .id = ids,
                                                         .out = big,
                                                         .show = show,
                                                         .arg = &end}) == n;
        for (uint32_t i = 0; i < n && same; i++)
            same = !memcmp(big + (size_t)i * w, data8 + (size_t)ids[i] * w, w);
        ok(same && end == shown + n * w && !memcmp(big, shown, n * w),
           "gnn_gather_rows gathers rows of %zu bytes into a large output and shows them", w);
        free(big);
        free(shown);
    }
    free(data8);
    free(ids);
    float data[20], back[10];
    uint16_t narrow[10], want[10];
    for (int i = 0; i < 20; i++)
        data[i] = (float)i + 0.1f;
    const struct gnn_gather_part p = {0, 4, data};
    const uint32_t pick[2] = {3, 1};
    for (int c = 0; c < 2; c++) {
        const uint64_t got = gnn_gather_rows(
            &(struct gnn_gather){.part = &p,
                                 .nparts = 1,
                                 .cast = c ? GNN_GATHER_F32_BF16 : GNN_GATHER_F32_F16,
                                 .bytes = 20,
                                 .n = 2,
                                 .id = pick,
                                 .out = narrow});
        memcpy(back, data + 15, 20);
        memcpy(back + 5, data + 5, 20);
        if (c)
            gnn_f32_to_bf16(back, 10, want);
        else
            gnn_f32_to_f16(back, 10, want);
        ok(got == 2 && !memcmp(narrow, want, 20), "gnn_gather_rows narrows rows on the way (%s)",
           c ? "bf16" : "f16");
    }
    const uint32_t wrong[3] = {0, 4, 1};
    float out[15];
    ok(gnn_gather_rows(&(struct gnn_gather){
           .part = &p, .nparts = 1, .bytes = 20, .n = 3, .id = wrong, .out = out}) == 1,
       "gnn_gather_rows names an id that is in no part");
}

/* Rows of int8 with their scales: as they are, as f32, and as narrower numbers. */
static void widening(void)
{
    enum { N = 40, W = 33, STEP = 40, M = 50 };
    static uint32_t row[N * STEP / 4], as_is[M * STEP / 4];
    static float scale[N], out[M * W], shown[M * W];
    static uint16_t half[M * W], want[M * W];
    char *bytes = (char *)row;
    uint32_t id[M];
    uint64_t s = 21;
    for (int i = 0; i < N; i++) {
        scale[i] = (float)i / 7 - 2;
        for (int c = 0; c < W; c++)
            bytes[i * STEP + c] = (char)(i * W + c - N * W / 2);
        memcpy(bytes + i * STEP + STEP - 4, &scale[i], 4);
    }
    for (int i = 0; i < M; i++)
        id[i] = (uint32_t)(toy_rand(&s) % N);
    const struct gnn_gather_part part[2] = {{0, 9, bytes, 0}, {9, N - 9, bytes + 9 * STEP, 0}};
    unsigned char *end = (unsigned char *)shown;
    struct gnn_gather g = {.part = part,
                           .nparts = 2,
                           .cast = GNN_GATHER_I8_F32,
                           .bytes = W,
                           .n = M,
                           .id = id,
                           .out = out,
                           .show = show,
                           .arg = &end};
    unsigned wrong = gnn_int8_row_bytes(W) != STEP || gnn_gather_rows(&g) != M;
    for (uint32_t i = 0; i < M * W; i++) {
        const uint32_t v = id[i / W];
        const int8_t element = (int8_t)bytes[v * STEP + i % W];
        wrong += bits((float)((double)element * (double)scale[v])) != bits(out[i]);
    }
    ok(!wrong && end == (unsigned char *)(shown + M * W) && !memcmp(out, shown, sizeof out),
       "gnn_gather_rows widens rows on the way (int8)");
    g.show = NULL;
    for (int bf16 = 0; bf16 < 2; bf16++) {
        (bf16 ? gnn_f32_to_bf16 : gnn_f32_to_f16)(out, M * W, want);
        g.cast = bf16 ? GNN_GATHER_I8_BF16 : GNN_GATHER_I8_F16;
        g.out = half;
        ok(gnn_gather_rows(&g) == M && !memcmp(half, want, sizeof half),
           "gnn_gather_rows widens rows of int8 to %s", bf16 ? "bf16" : "f16");
    }
    g.cast = GNN_GATHER_AS_IS;
    g.bytes = STEP;
    g.out = as_is;
    wrong = gnn_gather_rows(&g) != M;
    for (uint32_t i = 0; i < M; i++)
        wrong += memcmp((char *)as_is + (size_t)i * STEP, bytes + (size_t)id[i] * STEP, STEP) != 0;
    ok(!wrong, "gnn_gather_rows copies rows of int8 with their scales");
}

/* What a store may not have. */
static void checking(void)
{
    const float x[5] = {1, -2, 0.5f, 0, 1.75f}, none[5] = {0}, bad[5] = {1, 2, INFINITY, NAN, 0};
    uint32_t row[3] = {0, UINT32_MAX, UINT32_MAX};
    char why[96] = "", *at = (char *)row;
    double error = 0;
    const float wrong[] = {NAN, INFINITY, FLT_MAX, -1, 0}, good = 2.0f / 127;
    ok(gnn_int8_row(x, 5, row, &error) == 5 && error > 0 && error < 0.6 / 127 &&
           *gnn_int8_scale(row, 5) == good && at[1] == -127 && !at[5] && !at[6] && !at[7] &&
           gnn_int8_row_valid(row, 5, why, sizeof why),
       "gnn_int8_row makes a row with its scale");
    unsigned passed = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(at + 8, &wrong[i], 4);
        passed += gnn_int8_row_valid(row, 5, why, sizeof why) || !strstr(why, "scale");
    }
    ok(!passed, "gnn_int8_row_valid refuses scales that are not finite, negative, or 0");
    memcpy(at + 8, &good, 4);
    at[6] = 1;
    ok(!gnn_int8_row_valid(row, 5, why, sizeof why) && strstr(why, "byte 1 after"),
       "gnn_int8_row_valid refuses padding that is not 0");
    ok(gnn_int8_row(none, 5, row, &error) == 5 && bits(*gnn_int8_scale(row, 5)) == 0 &&
           gnn_int8_row_valid(row, 5, why, sizeof why),
       "gnn_int8_row gives zeros the scale 0");
    ok(gnn_int8_row(bad, 5, row, &error) == 2, "gnn_int8_row names what is not finite");
}

/* A row as the format asks for it. */
static unsigned quantised_badly(const float *x, uint32_t n)
{
    int8_t q[64];
    double most = 0;
    unsigned wrong = 0;
    const float scale = gnn_f32_to_i8(x, n, q);
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    wrong += !(scale >= 0) || isinf(scale * 127) || (scale > 0) != (most > 0);
    if (most >= 0x1p-120 && most < 0x1p127) /* further out, the scale is no quotient of f32 */
        wrong += scale != (float)most / 127;
    for (uint32_t i = 0; i < n; i++)
        wrong += scale > 0 ? q[i] != rint((double)x[i] / (double)scale) : q[i] != 0;
    return wrong;
}

static void quantising(void)
{
    static const float ends[] = {
        0,         -0.0f,           1,         -1,        FLT_MAX, -FLT_MAX, 0x1p-149f,
        0x1p-148f, 190 * 0x1p-149f, 0x1p-126f, 0x1p-140f, 3e38f};
    float x[64];
    uint64_t s = 23;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            wrong += quantised_badly((float[]){ends[i], ends[k], ends[i] / 3}, 3);
    for (uint32_t k = 1; k < 4000; k++) {
        /* Among them such as lie in the middle of two. */
        for (uint32_t i = 0; i < 64; i++)
            x[i] = k % 2 ? (float)((int64_t)(toy_rand(&s) % 509) - 254) / 2
                         : (float)ldexp((double)(int32_t)toy_rand(&s), (int)(k % 200) - 150);
        if (k % 2)
            x[k % 64 % (1 + k % 64)] = 127;
        wrong += quantised_badly(x, 1 + k % 64);
    }
    ok(!wrong, "gnn_f32_to_i8 rounds to the nearest, ties to even (%u wrong)", wrong);
    int8_t q[64];
    wrong = 0;
    for (int i = 0; i < 64; i++) {
        memset(x, 0, sizeof x);
        x[i] = i % 2 ? NAN : i % 4 ? INFINITY : -INFINITY;
        wrong += isnan(gnn_f32_to_i8(x, 64, q)) ? 0 : 1;
    }
    ok(!wrong, "gnn_f32_to_i8 refuses NaN and infinity");
}

int main(void)
{
    conversions();
    checking();
    quantising();
    rows();
    widening();
    return tap_done();
}
