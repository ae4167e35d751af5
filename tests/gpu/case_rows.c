/* SPDX-License-Identifier: Apache-2.0 */
/* Plain passes over rows and numbers: sums, gates, rows by number, on their way between partitions,
 * of unit length; and factors of aggregation. */
#include "gpu/case.h"
#include "gpu/blocks_case.h"
#include "kernels/factors.h"
#include "kernels/gate.h"
#include "kernels/half.h"
#include "kernels/int8_row.h"
#include "kernels/pack.h"
#include "kernels/rows.h"

static void sums(size_t n)
{
    float *x = numbers(n), *eps = filled(1, 0.3f), *sum = numbers(n), *scaled = numbers(n),
          *full = floats(n), *product = floats(n), *square = numbers(n);
    while (again()) {
        gnn_cuda_add(at(x), n, at(sum), stream);
        gnn_cuda_add_scaled(at(x), n, at(eps), at(scaled), stream);
        gnn_cuda_fill(at(full), n, 1.5f, stream);
        gnn_cuda_multiply(at(x), at(sum), n, at(product), stream);
        gnn_cuda_multiply(at(square), at(square), n, at(square), stream);
    }
    gnn_add(x, n, sum);
    gnn_add_scaled(x, n, eps, scaled);
    gnn_fill(full, n, 1.5f);
    gnn_multiply(x, sum, n, product);
    gnn_multiply(square, square, n, square);
    verdict("sums, products and fills: %zu", n);
}

/* GELU where it bends, far out, and of what is no number. */
static void gelu(size_t n)
{
    float *x = numbers(n), *y = floats(n), *dy = numbers(n), *dx = numbers(n);
    for (size_t i = 0; i < n; i++)
        x[i] = i % 97 ? 6 * x[i] : i % 2 ? INFINITY : -INFINITY;
    special(x, n);
    while (again()) {
        gnn_cuda_gelu(at(x), n, at(y), stream);
        gnn_cuda_gelu_back(at(x), at(dy), n, at(dx), stream);
    }
    gnn_gelu(x, n, y);
    gnn_gelu_back(x, dy, n, dx);
    verdict("GELU and its gradient: %zu", n);
}

static void gates(size_t n)
{
    float *x = numbers(n), *dot = numbers(1), *skip = filled(1, 3 * number()), *y[8], *dskip[2];
    for (int k = 0; k < 8; k++)
        y[k] = numbers(n);
    for (int k = 0; k < 2; k++)
        dskip[k] = numbers(1);
    float *same = copy(x, n); /* in place */
    while (again()) {
        for (int k = 0; k < 8; k++)
            gnn_cuda_gate(at(x), n, at(k & 4 ? skip : NULL), k & 1, at(y[k]), k & 2, stream);
        for (int k = 0; k < 2; k++)
            gnn_cuda_gate_back(at(dot), at(skip), k, at(dskip[k]), stream);
        gnn_cuda_gate(at(same), n, at(skip), false, at(same), false, stream);
    }
    for (int k = 0; k < 8; k++)
        gnn_gate(x, n, k & 4 ? skip : NULL, k & 1, y[k], k & 2);
    for (int k = 0; k < 2; k++)
        gnn_gate_back(dot, skip, k, dskip[k]);
    gnn_gate(same, n, skip, false, same, false);
    verdict("gates and their gradients: %zu", n);
}

/* All there are of both types. */
static void widening(void)
{
    const size_t n = 65536;
    uint16_t *half = array(n + 1, sizeof *half);
    float *f16 = floats(n), *bf16 = floats(n), *odd = floats(n - 1);
    for (size_t i = 0; i <= n; i++)
        half[i] = (uint16_t)i;
    while (again()) {
        gnn_cuda_f16_to_f32(at(half), n, at(f16), stream);
        gnn_cuda_bf16_to_f32(at(half), n, at(bf16), stream);
        gnn_cuda_bf16_to_f32(at(half + 1), n - 1, at(odd), stream);
    }
    gnn_f16_to_f32(half, n, f16);
    gnn_bf16_to_f32(half, n, bf16);
    gnn_bf16_to_f32(half + 1, n - 1, odd);
    verdict("f16 and bf16 become f32");
}

/* Rows of w numbers of int8, each with a scale. */
static void widening_rows(uint32_t w)
{
    enum { ROWS = 57 };
    const size_t n = (size_t)w * ROWS, bytes = gnn_int8_row_bytes(w);
    char *in = bytes_at(ROWS * bytes, 0);
    const float *scale = numbers(ROWS);
    float *out = floats(n), *odd = (float *)(void *)bytes_at(n * sizeof *odd, 4);
    for (size_t i = 0; i < ROWS * bytes; i++)
        in[i] = (char)draw();
    for (uint32_t r = 0; r < ROWS; r++)
        memcpy(in + r * bytes + bytes - sizeof *scale, scale + r, sizeof *scale);
    while (again()) {
        gnn_cuda_i8_to_f32(at(in), n, w, at(out), stream);
        gnn_cuda_i8_to_f32(at(in), n, w, at(odd), stream);
    }
    for (uint32_t r = 0; r < ROWS; r++) {
        gnn_i8_to_f32((const int8_t *)in + r * bytes, w, scale[r], out + r * w);
        gnn_i8_to_f32((const int8_t *)in + r * bytes, w, scale[r], odd + r * w);
    }
    verdict("rows of %u numbers of int8 become f32", w);
}

/* ---- rows by number ---- */

/* One of every three rows, the last first. */
static uint32_t *some_rows(uint32_t n)
{
    uint32_t *row = array(n, sizeof *row);
    for (uint32_t i = 0; i < n; i++)
        row[i] = 3 * (n - 1 - i) + below(3);
    return row;
}

static void by_number(uint32_t n, size_t d)
{
    const size_t some = n * d, all = 3 * some;
    uint32_t *row = some_rows(n);
    float *x = numbers(all), *y = numbers(all), *taken = floats(some), *packed = floats(some);
    while (again()) {
        gnn_cuda_take_rows(at(x), at(row), n, d, at(taken), stream);
        gnn_cuda_add_rows(at(taken), at(row), n, d, at(y), stream);
        gnn_cuda_pack_rows(at(x), at(row), n, d, 3.7f, at(packed), stream);
    }
    gnn_take_rows(x, row, n, d, taken);
    gnn_add_rows(taken, row, n, d, y);
    gnn_pack_rows(x, row, n, d, 3.7f, packed);
    for (size_t i = 0; i < some; i++) {
        const float v = x[row[i / d] * d + i % d];
        expect(taken[i] == v && packed[i] == 3.7f * v, "the CPU takes other rows");
    }
    settle();
}

/* Any bits: every exponent, NaN and infinity; rounded by chance. */
static void as_bf16(uint32_t n, size_t d, bool scaled)
{
    const size_t some = n * d, all = 3 * some;
    uint32_t *row = some_rows(n), *id = words(n);
    float *x = floats(all), *y = numbers(all);
    uint16_t *packed = array(some, sizeof *packed), *plain = array(some, sizeof *plain);
    struct gnn_rounding q = {{draw(), draw()}, id, draw()};
    for (size_t i = 0; i < all; i++) {
        const uint32_t u = draw();
        memcpy(&x[i], &u, sizeof u);
    }
    while (again()) {
        struct gnn_rounding there = q;
        there.id = at(id);
        gnn_cuda_pack_bf16(at(x), at(row), n, d, scaled ? 1.7f : 1, &there, at(packed), stream);
        gnn_cuda_pack_bf16(at(x), NULL, n, d, 1, &there, at(plain), stream);
        gnn_cuda_add_bf16_rows(at(packed), at(row), n, d, at(y), stream);
    }
    gnn_pack_bf16(x, row, n, d, scaled ? 1.7f : 1, &q, packed);
    gnn_pack_bf16(x, NULL, n, d, 1, &q, plain);
    gnn_add_bf16_rows(packed, row, n, d, y);
    settle();
}

/* ---- rows of unit sum and length, jumping knowledge ---- */

static void unit_rows(uint32_t n, size_t d)
{
    const size_t all = n * d;
    float *x = numbers(all), *sum = floats(all), *y = floats(all), *same, *length = floats(n),
          *y0 = floats(all), *length0 = floats(n), *dy = numbers(all);
    for (size_t i = 0; i < all; i++)
        sum[i] = i / d % 3 ? (float)below(3) : number() / (float)d;
    for (size_t j = 0; n > 3 && j < d; j++) {
        x[j] = 0;
        x[d + j] *= 1e-13f;
        x[2 * d + j] = j ? x[2 * d + j] : NAN;
        sum[2 * d + j] = j ? sum[2 * d + j] : NAN;
    }
    same = copy(x, all); /* in place */
    gnn_unit_rows(x, n, d, y0, length0);
    while (again()) {
        gnn_cuda_rows_to_unit_sum(at(sum), counted(n), bound(n), d, stream);
        gnn_cuda_unit_rows(at(x), counted(n), bound(n), d, at(y), NULL, stream);
        gnn_cuda_unit_rows(at(same), counted(n), bound(n), d, at(same), at(length), stream);
        gnn_cuda_unit_rows_back(at(dy), at(y0), at(length0), counted(n), bound(n), d, stream);
    }
    gnn_rows_to_unit_sum(sum, n, d);
    gnn_unit_rows(x, n, d, y, length);
    memcpy(same, y, all * sizeof *y);
    gnn_unit_rows_back(dy, y0, length0, n, d);
    verdict("rows of unit sum and of unit length: (%u, %zu)", n, d);
}

/* Columns put beside each other; the maximum of rows, and what it gives back. */
static void jumping(size_t n, size_t w)
{
    const size_t ld = w + 5, all = n * w;
    float *x = numbers(all), *y = numbers(all), *dy = numbers(all), *taken = numbers(all),
          *dx = numbers(all), *beside = numbers(n * ld), *added = numbers(n * ld);
    for (size_t i = 0; i < all; i++) {
        x[i] = (float)below(3);
        y[i] = (float)below(3);
        taken[i] = (float)below(2);
    }
    if (all > 3)
        x[0] = y[3] = NAN;
    while (again()) {
        gnn_cuda_put_columns(at(x), w, n, w, at(beside + 2), ld, false, stream);
        gnn_cuda_put_columns(at(x), w, n, w, at(added + 2), ld, true, stream);
        gnn_cuda_raise(at(x), all, at(y), stream);
        gnn_cuda_raise_back(at(dy), at(y), at(x), all, at(taken), at(dx), stream);
    }
    gnn_put_columns(x, w, n, w, beside + 2, ld, false);
    gnn_put_columns(x, w, n, w, added + 2, ld, true);
    gnn_raise(x, all, y);
    gnn_raise_back(dy, y, x, all, taken, dx);
    expect(all < 4 || (isnan(y[0]) && isnan(y[3])), "the CPU loses a NaN");
    verdict("jumping knowledge: (%zu, %zu)", n, w);
}

void case_rows(void)
{
    static const size_t sizes[] = {0, 1, 3, 4, 31, 257, 5003};
    static const uint32_t rows[] = {0, 1, 3, 40, 300};
    static const size_t widths[] = {1, 5, 16, 17, 32, 70, 127, 128, 129, 300},
                        units[] = {0, 1, 31, 32, 33, 100, 256, 1433}, jumps[] = {1, 31, 64, 100};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        sums(sizes[i] * size_scale);
        gelu(sizes[i] * size_scale);
        gates(sizes[i] * size_scale);
    }
    widening();
    for (size_t j = 0; j < COUNT(widths); j++)
        widening_rows((uint32_t)widths[j]);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t j = 0; j < COUNT(widths); j++) {
            by_number(rows[i] * size_scale, widths[j]);
            as_bf16(rows[i] * size_scale, widths[j], j % 2);
        }
    verdict("rows by number, as they are and as bf16");
    for (size_t i = 0; i < COUNT(units); i++) {
        unit_rows(1, units[i]);
        unit_rows(37 * size_scale, units[i]);
    }
    for (size_t i = 0; i < COUNT(jumps); i++) {
        jumping(1, jumps[i]);
        jumping(43 * size_scale, jumps[i]);
    }
}

/* ---- factors ---- */

/* All rows, and those from the second block on. */
static void factors(uint32_t nblocks, uint32_t n, uint32_t longest)
{
    struct layer l = layer_of(nblocks, n, 2 * n + 9, 9, longest);
    const uint32_t rows = l.rows, from = l.block[nblocks - 1].first;
    uint32_t *degree = array(rows, sizeof *degree), *count = array(rows, sizeof *count);
    float *sum = floats(rows), *loop = floats(rows), *mean = floats(rows), *isqrt = floats(rows),
          *row = floats(rows), *diag = floats(rows), *is2 = floats(rows), *row2 = floats(rows),
          *diag2 = floats(rows), *mean3 = filled(rows, 7), *row3 = filled(rows, 7),
          *diag3 = filled(rows, 7);
    for (uint32_t i = 0; i < rows; i++) {
        degree[i] = i % 7 ? below(40) : below(1u << 31);
        count[i] = below(3000);
        sum[i] = i % 7 ? (float)below(40) / 7 : 0;
        loop[i] = (float)below(9) / 5;
    }
    for (uint32_t b = 0; b < nblocks; b++)
        l.block[b].value = numbers(gnn_csr_offset(&l.block[b], l.block[b].n));
    while (again()) {
        const struct gnn_csr *block = blocks_at(l.block, nblocks);
        const uint32_t *end = counted(rows), most = bound(rows);
        gnn_cuda_mean_factors(block, nblocks, 0, end, most, at(mean), stream);
        gnn_cuda_gcn_degrees(at(degree), end, most, at(isqrt), stream);
        gnn_cuda_gcn_factors(block, nblocks, 0, end, most, at(isqrt), at(row), at(diag), stream);
        gnn_cuda_weight_degrees(at(sum), end, most, at(is2), stream);
        gnn_cuda_weight_factors(block, nblocks, 0, end, most, at(is2), at(count), at(loop),
                                at(row2), at(diag2), stream);
        gnn_cuda_mean_factors(block + nblocks - 1, 1, from, end, most, at(mean3), stream);
        gnn_cuda_gcn_factors(block + nblocks - 1, 1, from, end, most, at(isqrt), at(row3),
                             at(diag3), stream);
    }
    gnn_mean_factors(l.block, nblocks, 0, rows, mean);
    gnn_gcn_degrees(degree, rows, isqrt);
    gnn_gcn_factors(l.block, nblocks, 0, rows, isqrt, row, diag);
    gnn_weight_degrees(sum, rows, is2);
    gnn_weight_factors(l.block, nblocks, 0, rows, is2, count, loop, row2, diag2);
    const size_t bytes = (rows - from) * sizeof(float);
    memcpy(mean3 + from, mean + from, bytes);
    memcpy(row3 + from, row + from, bytes);
    memcpy(diag3 + from, diag + from, bytes);
    verdict("factors: %u rows in %u blocks, %u edges", rows, nblocks, l.edges);
}

/* Without blocks a mean has no factors. */
static void no_factors(void)
{
    float *none = filled(5, 3);
    while (again()) {
        gnn_cuda_mean_factors(NULL, 0, 0, NULL, 4, at(none), stream);
        gnn_cuda_mean_factors(NULL, 0, 0, NULL, 0, NULL, stream);
    }
    memset(none, 0, 4 * sizeof *none);
    verdict("factors without blocks");
}

void case_factors(void)
{
    static const uint32_t sizes[] = {1, 3, 40, 330};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint32_t blocks = 3; blocks; blocks--)
            factors(blocks, sizes[i] * size_scale, 5000 * (3 - blocks));
    no_factors();
}
