/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of inputs, .npy or text alike, read a few rows at a time and converted
 * (lib/import/read/array.h). Memory follows what is read and never what a header declares, as
 * headers may lie. */
#include "lib/import/read/array.h"

#include "lib/base/path.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 1 << 20 };

static int parse_header(struct gnn_array *a, struct gnn_err *e)
{
    uint8_t head[GNN_NPY_PREFIX];
    uint64_t got;
    int rc = gnn_reader_read(a->r, head, sizeof head, &got, e);
    if (rc)
        return rc;
    uint32_t n = got == sizeof head ? gnn_npy_header_bytes(head) : 0;
    if (!n)
        return gnn_fail(e, GNN_E_INPUT, "%s: not an .npy array", gnn_reader_name(a->r));
    rc = gnn_buf_reserve(&a->raw, n, 1, "an .npy header", e); /* at most 64 KiB */
    if (rc)
        return rc;
    memcpy(a->raw.data, head, sizeof head);
    rc = gnn_reader_read(a->r, (uint8_t *)a->raw.data + sizeof head, n - sizeof head, &got, e);
    if (rc)
        return rc;
    if (got < n - sizeof head)
        return gnn_fail(e, GNN_E_INPUT, "%s: cut short in its header", gnn_reader_name(a->r));
    const char *bad = gnn_npy_parse(&a->h, a->raw.data, n);
    if (bad)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s", gnn_reader_name(a->r), bad);
    return GNN_OK;
}

int gnn_array_open(struct gnn_array *a, struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    struct gnn_reader *r;
    const uint8_t *p;
    size_t n;
    *a = (struct gnn_array){0};
    int rc = gnn_reader_open(&r, in, member, e);
    if (rc)
        return rc;
    a->r = r;
    rc = gnn_reader_peek(r, &p, &n, e);
    if (rc)
        return rc;
    const char *name = gnn_input_member(in, member);
    if ((n > 1 && p[0] == 0x93 && p[1] == 'N') || gnn_ends_with(name, ".npy")) {
        rc = parse_header(a, e);
        if (rc)
            return rc;
        a->rows = a->h.ndim ? a->h.shape[0] : 1;
        a->width = 1;
        if (a->h.ndim > 1)
            a->width = a->rows ? a->h.count / a->rows : a->h.shape[1];
        return GNN_OK;
    }
    a->r = NULL;
    a->text = true;
    a->rows = UINT64_MAX;
    rc = gnn_table_open_reader(&a->t, r, 0, e);
    a->width = a->t.ncols;
    return rc;
}

void gnn_array_close(struct gnn_array *a)
{
    gnn_reader_free(a->r);
    gnn_table_close(&a->t);
    gnn_buf_release(&a->raw);
    gnn_free(a->whole);
    *a = (struct gnn_array){0};
}

const char *gnn_array_name(const struct gnn_array *a)
{
    return gnn_reader_name(a->text ? a->t.r : a->r);
}

static int read_bytes(struct gnn_array *a, void *out, uint64_t n, struct gnn_err *e)
{
    uint64_t got;
    int rc = gnn_reader_read(a->r, out, n, &got, e);
    if (!rc && got < n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: cut short in row %llu of %llu", gnn_reader_name(a->r),
                      (unsigned long long)a->at + 1, (unsigned long long)a->rows);
    return rc;
}

static int at_end(struct gnn_array *a, struct gnn_err *e)
{
    uint8_t byte;
    uint64_t got;
    int rc = gnn_reader_read(a->r, &byte, 1, &got, e);
    /* An array inside an archive ends with its member, so more bytes mean a damaged header. */
    if (!rc && got)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: bytes after the array", gnn_reader_name(a->r));
    return rc;
}

/* A column-major array: all of it, growing as bytes arrive, then turned. */
static int load_fortran(struct gnn_array *a, struct gnn_err *e)
{
    size_t size = gnn_dtype_bytes(a->h.dtype);
    struct gnn_buf col = {0};
    int rc = GNN_OK;
    /* Grows with the bytes that arrive, and is turned afterwards. */
    for (uint64_t at = 0; !rc && at < a->h.bytes;) {
        uint64_t n = a->h.bytes - at < CHUNK ? a->h.bytes - at : CHUNK;
        rc = gnn_buf_reserve(&col, at + n, 1, "a column-major array", e);
        if (!rc)
            rc = read_bytes(a, (uint8_t *)col.data + at, n, e);
        at += n;
    }
    if (!rc && a->h.ndim > 2)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: column-major with more than 2 dimensions",
                      gnn_reader_name(a->r));
    if (!rc && !(a->whole = gnn_alloc(a->h.bytes, 1, "a column-major array", e)))
        rc = GNN_E_NOMEM;
    for (uint64_t j = 0; !rc && j < a->width; j++)
        for (uint64_t i = 0; i < a->rows; i++)
            memcpy((uint8_t *)a->whole + (i * a->width + j) * size,
                   (uint8_t *)col.data + (j * a->rows + i) * size, size);
    gnn_buf_release(&col);
    return rc;
}

/* Takes note of those of n values of an array that f32 does not hold. */
static void look_lost(struct gnn_array *a, const void *in, uint64_t n)
{
    const enum gnn_dtype t = a->h.dtype;
    const bool sign = t == GNN_I32 || t == GNN_I64;
    if (t != GNN_F64 && t != GNN_U32 && t != GNN_U64 && !sign)
        return; /* f32 holds all of the others */
    for (uint64_t i = 0; i < n; i++) {
        double d;
        gnn_npy_to_f64(t, (const uint8_t *)in + i * gnn_dtype_bytes(t), &d, 1);
        if (t == GNN_F64) {
            gnn_lost_add(&a->lost, d);
        } else if (fabs(d) > 1 << 24) {
            uint64_t m = 0;
            memcpy(&m, (const uint8_t *)in + i * gnn_dtype_bytes(t), gnn_dtype_bytes(t));
            m = d < 0 ? (t == GNN_I32 ? (uint32_t)0 - (uint32_t)m : 0 - m) : m;
            gnn_lost_add_whole(&a->lost, m, d);
        }
    }
}

const struct gnn_lost *gnn_array_lost(const struct gnn_array *a)
{
    return a->text ? &a->t.lost : &a->lost;
}

static int convert_values(struct gnn_array *a, enum gnn_dtype as, const void *in, void *out,
                          uint64_t n, struct gnn_err *e)
{
    uint64_t bad;
    if (as == a->h.dtype)
        memcpy(out, in, n * gnn_dtype_bytes(as));
    else if (as == GNN_F32) {
        gnn_npy_to_f32(a->h.dtype, in, out, n);
        look_lost(a, in, n);
    } else if (as == GNN_F64)
        gnn_npy_to_f64(a->h.dtype, in, out, n);
    else if (!gnn_npy_to_i64(a->h.dtype, in, out, n, &bad))
        return gnn_fail(e, GNN_E_INPUT, "%s: element %llu is not a whole number in range",
                        gnn_reader_name(a->r), (unsigned long long)(a->at * a->width + bad + 1));
    return GNN_OK;
}

static int text_read(struct gnn_array *a, enum gnn_dtype as, void *out, uint64_t max, uint64_t *got,
                     struct gnn_err *e)
{
    const uint32_t w = (uint32_t)a->width;
    return as == GNN_F32   ? gnn_table_f32(&a->t, out, w, max, got, e)
           : as == GNN_F64 ? gnn_table_f64(&a->t, out, w, max, got, e)
                           : gnn_table_i64(&a->t, out, w, max, got, e);
}

int gnn_array_read(struct gnn_array *a, enum gnn_dtype as, void *out, uint64_t max, uint64_t *got,
                   struct gnn_err *e)
{
    *got = 0;
    if (a->text && !a->width)
        return GNN_OK;
    if (a->text) {
        int rc = text_read(a, as, out, max, got, e);
        a->at += *got;
        return rc;
    }
    /* At its end the array is read once more, which finds bytes after it. */
    if (a->at == a->rows || !a->h.count)
        return max ? at_end(a, e) : GNN_OK;
    size_t size = gnn_dtype_bytes(a->h.dtype), to = gnn_dtype_bytes(as);
    int rc = a->h.fortran && !a->whole ? load_fortran(a, e) : GNN_OK;
    uint64_t n = a->rows - a->at < max ? a->rows - a->at : max;
    /* Wide rows go in pieces, so that no buffer follows a declared width. */
    for (uint64_t done = 0, all = n * a->width; !rc && done < all;) {
        uint64_t k = all - done < CHUNK / 8 ? all - done : CHUNK / 8;
        const void *in;
        if (a->whole) {
            in = (uint8_t *)a->whole + (a->at * a->width + done) * size;
        } else {
            rc = gnn_buf_reserve(&a->raw, k, size, "array data", e);
            if (!rc)
                rc = read_bytes(a, a->raw.data, k * size, e);
            in = a->raw.data;
        }
        if (!rc && a->h.swap)
            gnn_npy_swap((void *)(uintptr_t)in, k, size);
        if (!rc)
            rc = convert_values(a, as, in, (uint8_t *)out + done * to, k, e);
        done += k;
    }
    if (rc)
        return rc;
    a->at += n;
    *got = n;
    return GNN_OK;
}

/* What the numbers of an array of doubles or of a text are like. */
static int look_numbers(struct gnn_array *a, struct gnn_numbers *seen, struct gnn_err *e)
{
    const uint64_t max = CHUNK / 8 / (a->width + 1) + 1;
    double *v = a->text ? NULL : gnn_alloc(max * a->width, sizeof *v, "array data", e);
    int rc = a->text || v ? GNN_OK : GNN_E_NOMEM;
    for (uint64_t got = 1; !rc && got;) {
        rc = a->text ? gnn_table_numbers(&a->t, seen, (uint32_t)a->width, max, &got, e)
                     : gnn_array_read(a, GNN_F64, v, max, &got, e);
        if (!rc && !a->text)
            gnn_numbers_doubles(seen, v, got * a->width);
    }
    gnn_free(v);
    return rc;
}

int gnn_array_type(struct gnn_input *in, uint32_t member, const char *field, enum gnn_dtype *dtype,
                   struct gnn_err *e)
{
    struct gnn_array a;
    struct gnn_numbers seen = {0};
    int rc = gnn_array_open(&a, in, member, e);
    const enum gnn_dtype t = a.h.dtype;
    const bool floats = t == GNN_F16 || t == GNN_BF16 || t == GNN_F32 || t == GNN_F64;
    if (!rc && a.width > CHUNK)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: rows of %llu values", gnn_array_name(&a),
                      (unsigned long long)a.width);
    seen.real = !a.text && floats;
    if (!rc && (a.text || (t == GNN_F64 && strcmp(field, "time") != 0)) && a.width)
        rc = look_numbers(&a, &seen, e);
    if (!rc)
        rc = gnn_numbers_type(&seen, gnn_array_name(&a), field, dtype, e);
    gnn_array_close(&a);
    return rc;
}

int gnn_array_skip(struct gnn_array *a, uint64_t n, struct gnn_err *e)
{
    a->at += n;
    return gnn_reader_skip(a->r, n * a->width * gnn_dtype_bytes(a->h.dtype), e);
}

int gnn_array_word(struct gnn_input *in, uint32_t member, char *word, size_t capacity,
                   struct gnn_err *e)
{
    struct gnn_array a = {0};
    struct gnn_err why = {0}; /* that text is no number, which parse_header refuses */
    uint8_t text[256];
    int rc = gnn_reader_open(&a.r, in, member, e);
    if (!rc) {
        rc = parse_header(&a, &why);
        bool is = a.h.text && a.h.count == 1 && a.h.bytes <= sizeof text;
        rc = is ? read_bytes(&a, text, a.h.bytes, e)
                : gnn_fail(e, GNN_E_INPUT, "%s: not a word", gnn_reader_name(a.r));
    }
    size_t n = 0, step = a.h.wide ? 4 : 1;
    for (size_t i = 0; !rc && i < a.h.bytes && n + 1 < capacity; i += step)
        word[n++] = (char)text[i];
    word[n] = 0;
    gnn_array_close(&a);
    return rc;
}

int gnn_array_load(struct gnn_input *in, uint32_t member, enum gnn_dtype as, void **out,
                   uint64_t *rows, uint64_t *width, struct gnn_err *e)
{
    struct gnn_array a;
    struct gnn_buf b = {0};
    size_t size = gnn_dtype_bytes(as);
    int rc = gnn_array_open(&a, in, member, e);
    *rows = 0;
    *width = a.width;
    uint64_t most = a.width ? CHUNK / a.width : 1, got = 1;
    if (!most && !rc)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: rows of %llu values", gnn_array_name(&a),
                      (unsigned long long)a.width);
    /* Row counts of text are not known beforehand. */
    while (!rc && got) { /* as many rows again as there are, within bounds: most arrays are small */
        uint64_t max = *rows < 256 ? 256 : *rows;
        max = max < most ? max : most;
        uint64_t want = (*rows + max) * a.width;
        if (!a.text && want > a.h.count + 1)
            want = a.h.count + 1;
        rc = gnn_buf_reserve(&b, want, size, "an array", e);
        if (!rc)
            rc = gnn_array_read(&a, as, (uint8_t *)b.data + *rows * a.width * size, max, &got, e);
        *rows += rc ? 0 : got;
    }
    gnn_array_close(&a);
    if (rc)
        gnn_buf_release(&b);
    *out = b.data;
    return rc;
}
