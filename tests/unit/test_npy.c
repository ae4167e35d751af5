/* SPDX-License-Identifier: Apache-2.0 */
/* The .npy header, both ways, and damaged; conversions. */
#include <math.h>
#include <string.h>

#include "formats/npy.h"
#include "tap.h"

/* A header of version v with the dictionary d. */
static uint32_t make(uint8_t *out, int v, const char *d)
{
    uint32_t pre = v == 1 ? 10 : 12, n = (uint32_t)strlen(d);
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (uint8_t)v, out[7] = 0;
    out[8] = (uint8_t)n, out[9] = (uint8_t)(n >> 8), out[10] = out[11] = 0;
    memcpy(out + pre, d, n);
    return pre + n;
}

static const char *parse(struct gnn_npy *h, int v, const char *d)
{
    uint8_t buf[1024];
    return gnn_npy_parse(h, buf, make(buf, v, d));
}

static void good(void)
{
    struct gnn_npy h;
    ok(!parse(&h, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (10, 2), }   \n") &&
           h.dtype == GNN_F32 && h.ndim == 2 && h.shape[0] == 10 && h.count == 20 &&
           h.bytes == 80 && !h.fortran,
       "gnn_npy_parse reads a header as NumPy writes it");
    ok(!parse(&h, 2, "{'shape': (3,), 'descr': '>i8', 'fortran_order': True}") && h.swap &&
           h.dtype == GNN_I64 && h.ndim == 1 && !h.fortran,
       "gnn_npy_parse reads a big-endian vector of version 2 with its keys in another order");
    ok(!parse(&h, 3, "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 3)}") && h.is_bool &&
           h.dtype == GNN_U8 && h.fortran,
       "gnn_npy_parse reads booleans in column order");
    ok(!parse(&h, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': ()}") && h.ndim == 0 &&
           h.count == 1,
       "gnn_npy_parse reads a scalar");
    ok(!parse(&h, 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (0, 7)}") && h.count == 0,
       "gnn_npy_parse reads an empty array");
    static const enum gnn_dtype all[] = {GNN_U8,  GNN_I8,  GNN_U16, GNN_I16, GNN_U32, GNN_I32,
                                         GNN_U64, GNN_I64, GNN_F16, GNN_F32, GNN_F64, GNN_BF16};
    bool same = true;
    for (unsigned i = 0; i < 12; i++)
        for (uint32_t nd = 0; nd <= 4; nd++) {
            uint8_t buf[256];
            struct gnn_npy in = {.dtype = all[i], .ndim = nd, .shape = {7, 5, 3, 2}};
            uint32_t n = gnn_npy_header(&in, buf);
            same = same && n % 64 == 0 && gnn_npy_header_bytes(buf) == n &&
                   !gnn_npy_parse(&h, buf, n) && h.dtype == all[i] && h.ndim == nd &&
                   !memcmp(h.shape, in.shape, nd * sizeof *h.shape);
        }
    ok(same, "gnn_npy_parse reads every header that gnn_npy_header writes");
}

static void bad(void)
{
    static const char *const refused[] = {
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<U5', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (3,)}",
        "{'descr': '<f4', 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3, 3, 3, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "",
        "{",
        "[]",
        "{'descr'",
        "{'shape': (",
        "{'descr': '<f4' 'fortran_order': False 'shape': (3,)}",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}"};
    struct gnn_npy h;
    for (unsigned i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *why = parse(&h, 1, refused[i]);
        ok(why, "gnn_npy_parse refuses %s: %s", refused[i], why ? why : "accepted");
    }
    uint8_t buf[256], cut[256];
    uint32_t n = gnn_npy_header(&(struct gnn_npy){.dtype = GNN_F32, .ndim = 1, .shape = {5}}, buf);
    bool all = true;
    for (uint32_t k = 0; k < n; k++)
        all = all && gnn_npy_parse(&h, buf, k);
    ok(all, "gnn_npy_parse refuses every header that is cut");
    for (uint32_t k = 0; k < n * 8;
         k++) { /* must not crash; what it answers is checked elsewhere */
        memcpy(cut, buf, n);
        cut[k / 8] ^= (uint8_t)(1 << k % 8);
        uint32_t m = gnn_npy_header_bytes(cut);
        if (m && m <= n)
            gnn_npy_parse(&h, cut, m);
    }
    buf[6] = 2;
    buf[11] = 1;
    ok(!gnn_npy_header_bytes(buf), "gnn_npy_header_bytes refuses a huge header");
}

static void values(void)
{
    uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00}, bf[] = {0x3f80, 0xc000};
    float f[5], big[] = {1e10f, 1.5f};
    int64_t v[3];
    uint64_t at = 9;
    gnn_npy_to_f32(GNN_F16, half, f, 5);
    ok(f[0] == 1 && f[1] == -2 && f[2] == 0x1p-24f && isinf(f[3]) && isnan(f[4]),
       "gnn_npy_to_f32 converts half precision");
    gnn_npy_to_f32(GNN_BF16, bf, f, 2);
    ok(f[0] == 1 && f[1] == -2, "gnn_npy_to_f32 converts bfloat16");
    ok(gnn_npy_to_i64(GNN_F32, big, v, 1, &at) && v[0] == 10000000000,
       "gnn_npy_to_i64 converts whole floats");
    ok(!gnn_npy_to_i64(GNN_F32, big, v, 2, &at) && at == 1, "gnn_npy_to_i64 finds a fraction");
    ok(!gnn_npy_to_i64(GNN_U64, &(uint64_t){UINT64_MAX}, v, 1, &at),
       "gnn_npy_to_i64 refuses a number that is too large");
    ok(!gnn_npy_to_i64(GNN_F64, &(double){NAN}, v, 1, &at) &&
           !gnn_npy_to_i64(GNN_F64, &(double){1e19}, v, 1, &at),
       "gnn_npy_to_i64 refuses a NaN and 1e19");
    uint32_t w[] = {0x01020304, 5};
    gnn_npy_swap(w, 2, 4);
    ok(w[0] == 0x04030201 && w[1] == 0x05000000,
       "gnn_npy_swap swaps the bytes of big-endian numbers");
}

int main(void)
{
    good();
    bad();
    values();
    return tap_done();
}
