/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files (formats/npy.h): the header, a Python dictionary as text, is parsed by hand,
 * as it only ever holds three keys; values are converted to the three types that importers read.
 * Whole numbers are checked one by one, since ids often come as floats. */
#include "formats/npy.h"

#include <stdio.h>
#include <string.h>

static const uint8_t magic[GNN_NPY_MAGIC] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

uint32_t gnn_npy_header_bytes(const uint8_t prefix[GNN_NPY_PREFIX])
{
    if (memcmp(prefix, magic, sizeof magic) || prefix[6] < 1 || prefix[6] > 3)
        return 0;
    /* Version 1 has a length of 16 bits, versions 2 and 3 of 32. */
    uint64_t n = (uint64_t)prefix[8] | (uint64_t)prefix[9] << 8;
    if (prefix[6] > 1)
        n |= (uint64_t)prefix[10] << 16 | (uint64_t)prefix[11] << 24;
    n += prefix[6] > 1 ? 12 : 10;
    return n < GNN_NPY_PREFIX || n > GNN_NPY_HEADER_MAX ? 0 : (uint32_t)n;
}

/* A cursor over the dictionary; every step checks the end. */
struct cur {
    const char *p, *end;
};

static void skip_blanks(struct cur *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

static bool eat_char(struct cur *c, char ch)
{
    skip_blanks(c);
    if (c->p == c->end || *c->p != ch)
        return false;
    c->p++;
    return true;
}

static bool read_quoted(struct cur *c, char *out, size_t capacity)
{
    skip_blanks(c);
    if (c->p == c->end || (*c->p != '\'' && *c->p != '"'))
        return false;
    char q = *c->p++;
    size_t n = 0;
    while (c->p < c->end && *c->p != q && n + 1 < capacity)
        out[n++] = *c->p++;
    out[n] = 0;
    return eat_char(c, q);
}

static bool read_word(struct cur *c, const char *w)
{
    size_t n = strlen(w);
    skip_blanks(c);
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, w, n))
        return false;
    c->p += n;
    return true;
}

static const char *read_shape(struct cur *c, struct gnn_npy *h)
{
    if (!eat_char(c, '('))
        return "the shape is not a tuple";
    for (h->ndim = 0;; h->ndim++) {
        if (eat_char(c, ')'))
            return NULL;
        if (h->ndim == GNN_NDIM_MAX)
            return "the array has more than 4 dimensions";
        uint64_t v = 0;
        const char *start = c->p;
        for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
            if (__builtin_mul_overflow(v, 10u, &v) ||
                __builtin_add_overflow(v, (uint64_t)(*c->p - '0'), &v))
                return "a dimension is too large";
        /* "3L": numpy under Python 2 wrote its dimensions so. */
        if (c->p == start)
            return "the shape has a part that is not a number";
        if (c->p < c->end && *c->p == 'L')
            c->p++;
        h->shape[h->ndim] = v;
        if (!eat_char(c, ',')) {
            h->ndim++;
            return eat_char(c, ')') ? NULL : "the shape is not closed";
        }
        skip_blanks(c);
    }
}

static const char *read_descr(const char *s, struct gnn_npy *h)
{
    static const struct {
        char text[3];
        uint8_t dtype;
    } known[] = {{"b1", GNN_U8},  {"u1", GNN_U8},  {"i1", GNN_I8},  {"u2", GNN_U16},
                 {"i2", GNN_I16}, {"u4", GNN_U32}, {"i4", GNN_I32}, {"u8", GNN_U64},
                 {"i8", GNN_I64}, {"f2", GNN_F16}, {"f4", GNN_F32}, {"f8", GNN_F64},
                 {"V2", GNN_BF16}};
    char order = *s;
    if (order == '<' || order == '>' || order == '|' || order == '=')
        s++;
    h->objects = *s == 'O';
    if (h->objects)
        return NULL;
    h->wide = *s == 'U';
    if (h->wide || *s == 'S') {
        uint64_t n = 0;
        for (s++; *s >= '0' && *s <= '9' && n <= UINT16_MAX; s++)
            n = n * 10 + (uint64_t)(*s - '0');
        h->text = (uint32_t)(n ? n : 1) * (h->wide ? 4 : 1);
        return *s ? "text is too long" : NULL;
    }
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(s, known[i].text)) {
            h->dtype = (enum gnn_dtype)known[i].dtype;
            h->is_bool = *s == 'b';
            h->swap = order == '>' && gnn_dtype_bytes(h->dtype) > 1;
            return NULL;
        }
    return "the element type is not one of the numeric types";
}

const char *gnn_npy_parse(struct gnn_npy *h, const uint8_t *header, uint32_t n)
{
    *h = (struct gnn_npy){0};
    if (n < GNN_NPY_PREFIX || gnn_npy_header_bytes(header) != n)
        return "not an .npy header";
    struct cur c = {(const char *)header + (header[6] > 1 ? 12 : 10), (const char *)header + n};
    unsigned seen = 0;
    if (!eat_char(&c, '{'))
        return "the header is not a dictionary";
    while (!eat_char(&c, '}')) {
        char key[32], text[64];
        const char *bad = NULL;
        if (!read_quoted(&c, key, sizeof key) || !eat_char(&c, ':'))
            return "the header's dictionary is damaged";
        skip_blanks(&c);
        if (!strcmp(key, "descr")) {
            seen |= 1;
            bad = read_quoted(&c, text, sizeof text) ? read_descr(text, h)
                                                     : "structured element types are not supported";
        } else if (!strcmp(key, "fortran_order")) {
            seen |= 2;
            h->fortran = read_word(&c, "True");
            if (!h->fortran && !read_word(&c, "False"))
                bad = "fortran_order is neither True nor False";
        } else if (!strcmp(key, "shape")) {
            seen |= 4;
            bad = read_shape(&c, h);
        } else {
            bad = "the header has an unknown key";
        }
        if (bad)
            return bad;
        if (!eat_char(&c, ',') && (skip_blanks(&c), c.p == c.end || *c.p != '}'))
            return "the header's dictionary is damaged";
    }
    if (seen != 7)
        return "the header lacks descr, fortran_order or shape";
    struct gnn_tensor t = {.dtype = h->dtype, .ndim = h->ndim};
    memcpy(t.shape, h->shape, sizeof t.shape);
    if (!gnn_tensor_count(&t, &h->count) || !gnn_tensor_bytes(&t, &h->bytes))
        /* One dimension is the same in both orders. */
        return "the shape is too large";
    if (h->ndim < 2)
        h->fortran = false;
    if (h->text && __builtin_mul_overflow(h->count, h->text, &h->bytes))
        return "the shape is too large";
    return h->objects ? "the array holds pickled Python objects, not numbers"
           : h->text  ? "the array holds text, not numbers"
                      : NULL;
}

uint32_t gnn_npy_header(const struct gnn_npy *h, uint8_t *out)
{
    static const char *const code[] = {
        [GNN_U8] = "|u1",  [GNN_I8] = "|i1",   [GNN_U16] = "<u2", [GNN_I16] = "<i2",
        [GNN_U32] = "<u4", [GNN_I32] = "<i4",  [GNN_U64] = "<u8", [GNN_I64] = "<i8",
        [GNN_F16] = "<f2", [GNN_BF16] = "<V2", [GNN_F32] = "<f4", [GNN_F64] = "<f8"};
    char text[256];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                     h->is_bool ? "|b1" : code[h->dtype]);
    for (uint32_t i = 0; i < h->ndim; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      i + 1 < h->ndim || h->ndim == 1 ? "%llu, " : "%llu",
                      (unsigned long long)h->shape[i]);
    if (h->ndim == 1)
        n--; /* "(3,)" */
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    /* numpy pads the header with blanks to a multiple of 64 bytes, so that the data are aligned
     * when the file is mapped. */
    uint32_t total = ((uint32_t)n + 10 + 1 + 63) / 64 * 64, len = total - 10;
    memcpy(out, magic, sizeof magic);
    out[6] = 1, out[7] = 0;
    out[8] = (uint8_t)len, out[9] = (uint8_t)(len >> 8);
    memcpy(out + 10, text, (size_t)n);
    memset(out + 10 + n, ' ', total - 10 - (uint32_t)n);
    out[total - 1] = '\n';
    return total;
}

void gnn_npy_swap(void *data, uint64_t n, size_t size)
{
    uint8_t *p = data;
    for (uint64_t i = 0; i < n; i++, p += size)
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            uint8_t t = p[a];
            p[a] = p[b], p[b] = t;
        }
}

static float from_f16(uint16_t h)
{
    /* Infinities and NaNs keep their mantissa; a normal number's exponent goes from bias 15 to bias
     * 127; a subnormal one becomes normal. */
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023, u;
    if (e == 31)
        u = sign | 0x7f800000 | m << 13;
    else if (e)
        u = sign | (e + 112) << 23 | m << 13;
    else {
        float f = (float)m * 0x1p-24f;
        return sign ? -f : f;
    }
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static float from_bf16(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

#define EACH(T, EXPR)                                                                              \
    for (uint64_t i = 0; i < n; i++) {                                                             \
        T v;                                                                                       \
        memcpy(&v, (const char *)in + i * sizeof v, sizeof v);                                     \
        EXPR;                                                                                      \
    }                                                                                              \
    break

#define WIDEN(OUT)                                                                                 \
    switch (d) {                                                                                   \
    case GNN_U8:                                                                                   \
        EACH(uint8_t, out[i] = (OUT)v);                                                            \
    case GNN_I8:                                                                                   \
        EACH(int8_t, out[i] = (OUT)v);                                                             \
    case GNN_U16:                                                                                  \
        EACH(uint16_t, out[i] = (OUT)v);                                                           \
    case GNN_I16:                                                                                  \
        EACH(int16_t, out[i] = (OUT)v);                                                            \
    case GNN_U32:                                                                                  \
        EACH(uint32_t, out[i] = (OUT)v);                                                           \
    case GNN_I32:                                                                                  \
        EACH(int32_t, out[i] = (OUT)v);                                                            \
    case GNN_U64:                                                                                  \
        EACH(uint64_t, out[i] = (OUT)v);                                                           \
    case GNN_I64:                                                                                  \
        EACH(int64_t, out[i] = (OUT)v);                                                            \
    case GNN_F16:                                                                                  \
        EACH(uint16_t, out[i] = (OUT)from_f16(v));                                                 \
    case GNN_BF16:                                                                                 \
        EACH(uint16_t, out[i] = (OUT)from_bf16(v));                                                \
    case GNN_F32:                                                                                  \
        EACH(float, out[i] = (OUT)v);                                                              \
    case GNN_F64:                                                                                  \
        EACH(double, out[i] = (OUT)v);                                                             \
    }

void gnn_npy_to_f32(enum gnn_dtype d, const void *in, float *out, uint64_t n)
{
    WIDEN(float)
}

void gnn_npy_to_f64(enum gnn_dtype d, const void *in, double *out, uint64_t n)
{
    WIDEN(double)
}

static void widen_whole(enum gnn_dtype d, const void *in, int64_t *out, uint64_t n)
{
    WIDEN(int64_t)
}

/* A double that is a whole number in the range of int64_t. */
static bool is_whole(double v, int64_t *out)
{
    /* 2^63 itself is a double, but no int64_t. */
    if (!(v >= -9223372036854775808.0 && v < 9223372036854775808.0) || v != (double)(int64_t)v)
        return false;
    *out = (int64_t)v;
    return true;
}

bool gnn_npy_to_i64(enum gnn_dtype d, const void *in, int64_t *out, uint64_t n, uint64_t *bad)
{
    const bool floats = d == GNN_F16 || d == GNN_BF16 || d == GNN_F32 || d == GNN_F64;
    for (*bad = 0; floats && *bad < n; ++*bad) {
        double v;
        gnn_npy_to_f64(d, (const char *)in + *bad * gnn_dtype_bytes(d), &v, 1);
        if (!is_whole(v, &out[*bad]))
            return false;
    }
    if (!floats)
        widen_whole(d, in, out, n);
    for (*bad = 0; d == GNN_U64 && *bad < n; ++*bad) /* from 2^63 on they turn negative */
        if (out[*bad] < 0)
            return false;
    return true;
}
