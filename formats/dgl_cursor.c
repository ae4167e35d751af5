/* SPDX-License-Identifier: Apache-2.0 */
/* What DGL's files are made of (formats/dgl_impl.h): little-endian numbers of 64 bits, texts and
 * lists behind their counts, and arrays. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/dgl_impl.h"
#include "formats/le.h"

enum { ARRAY_LEAST = 40, TEXT_LEAST = 8 };

int gnn_dgl_fail(struct gnn_dgl_cursor *c, uint64_t at, const char *fmt, ...)
{
    va_list ap;
    if (c->rc)
        return c->rc;
    c->rc = GNN_DGL_BAD;
    const int n = snprintf(c->why, c->capacity, "byte %llu: ", (unsigned long long)at);
    va_start(ap, fmt);
    if (n > 0 && (size_t)n < c->capacity)
        vsnprintf(c->why + n, c->capacity - (size_t)n, fmt, ap);
    va_end(ap);
    return c->rc;
}

const uint8_t *gnn_dgl_skip(struct gnn_dgl_cursor *c, uint64_t n, const char *what)
{
    if (!c->rc && n > c->end - c->at)
        gnn_dgl_fail(c, c->at, "%s: %llu bytes are expected, and %llu are left", what,
                     (unsigned long long)n, (unsigned long long)(c->end - c->at));
    if (c->rc)
        return NULL;
    c->at += n;
    return c->bytes + c->at - n;
}

uint64_t gnn_dgl_u64(struct gnn_dgl_cursor *c, const char *what)
{
    const uint8_t *p = gnn_dgl_skip(c, 8, what);
    return p ? load_le64(p) : 0;
}

void gnn_dgl_magic(struct gnn_dgl_cursor *c, uint64_t magic, const char *what)
{
    const uint64_t at = c->at, v = gnn_dgl_u64(c, what);
    if (v != magic)
        gnn_dgl_fail(c, at, "%016llx instead of %s, which begins with %016llx",
                     (unsigned long long)v, what, (unsigned long long)magic);
}

uint64_t gnn_dgl_count(struct gnn_dgl_cursor *c, uint64_t least, const char *what)
{
    const uint64_t at = c->at, n = gnn_dgl_u64(c, what);
    if (!c->rc && n > (c->end - c->at) / least)
        gnn_dgl_fail(c, at, "%s: %llu do not fit into the %llu bytes that are left", what,
                     (unsigned long long)n, (unsigned long long)(c->end - c->at));
    return c->rc ? 0 : n;
}

void gnn_dgl_text(struct gnn_dgl_cursor *c, struct gnn_word *w, const char *what)
{
    const uint64_t n = gnn_dgl_count(c, 1, what);
    const uint8_t *p = gnn_dgl_skip(c, n, what);
    *w = (struct gnn_word){p ? (const char *)p : "", p ? (size_t)n : 0};
}

/* ---- arrays ---- */

/* The type of elements; 0: one that is not read. */
static enum gnn_dtype find_type(unsigned kind, unsigned bits)
{
    static const struct {
        uint8_t kind, bits, dtype;
    } known[] = {
        {GNN_DGL_INT, 8, GNN_I8},     {GNN_DGL_INT, 16, GNN_I16},   {GNN_DGL_INT, 32, GNN_I32},
        {GNN_DGL_INT, 64, GNN_I64},   {GNN_DGL_UINT, 8, GNN_U8},    {GNN_DGL_UINT, 16, GNN_U16},
        {GNN_DGL_UINT, 32, GNN_U32},  {GNN_DGL_UINT, 64, GNN_U64},  {GNN_DGL_FLOAT, 16, GNN_F16},
        {GNN_DGL_FLOAT, 32, GNN_F32}, {GNN_DGL_FLOAT, 64, GNN_F64}, {GNN_DGL_BFLOAT, 16, GNN_BF16},
        {GNN_DGL_BOOLEAN, 8, GNN_U8}, {GNN_DGL_BOOLEAN, 1, GNN_U8}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].kind == kind && known[i].bits == bits)
            return (enum gnn_dtype)known[i].dtype;
    return (enum gnn_dtype)0;
}

/* What an array is, from its 24 bytes behind the magic number: reserved ones, the device and its
 * number, dimensions, and the type of elements. */
static void read_head(struct gnn_dgl_cursor *c, struct gnn_strided *s, const char *what)
{
    const uint64_t at = c->at;
    gnn_dgl_magic(c, GNN_DGL_MAGIC_ARRAY, "an array");
    const uint8_t *p = gnn_dgl_skip(c, GNN_DGL_ARRAY_HEAD, what);
    if (!p)
        return;
    const uint32_t device = load_le32(p + 8), lanes = load_le16(p + 22);
    s->ndim = load_le32(p + 16);
    s->dtype = find_type(p[20], p[21]);
    s->is_bool = p[20] == GNN_DGL_BOOLEAN;
    if (load_le64(p) || device != GNN_DGL_CPU)
        gnn_dgl_fail(c, at, "%s: an array of device %u; 1, the CPU, is read", what, device);
    else if (s->ndim > GNN_NDIM_MAX)
        gnn_dgl_fail(c, at, "%s: %u dimensions; at most %d are read", what, s->ndim, GNN_NDIM_MAX);
    else if (!s->dtype || lanes != 1)
        gnn_dgl_fail(c, at, "%s: elements of kind %u with %u bits, which are not read", what, p[20],
                     p[21]);
}

void gnn_dgl_array(struct gnn_dgl_cursor *c, struct gnn_strided *s, const char *what)
{
    *s = (struct gnn_strided){0};
    const uint64_t at = c->at;
    read_head(c, s, what);
    for (uint32_t d = 0; !c->rc && d < s->ndim; d++)
        s->shape[d] = gnn_dgl_u64(c, what);
    const uint64_t bytes = gnn_dgl_count(c, 1, what);
    s->data = gnn_dgl_skip(c, bytes, what);
    if (c->rc)
        return;
    const char *bad = gnn_strided_set_order(s, false) ? gnn_strided_fits(s, UINT64_MAX)
                                                      : "its shape is too large";
    const uint64_t wanted = s->count * gnn_dtype_bytes(s->dtype);
    if (bad)
        gnn_dgl_fail(c, at, "%s: %s", what, bad);
    else if (wanted != bytes)
        gnn_dgl_fail(c, at, "%s: %llu bytes of data; its shape has %llu", what,
                     (unsigned long long)bytes, (unsigned long long)wanted);
}

/* ---- lists ---- */

void *gnn_dgl_alloc(struct gnn_dgl_cursor *c, uint64_t n, size_t size, const char *what)
{
    void *p = c->rc ? NULL : calloc(n ? n : 1, size);
    if (!c->rc && !p) {
        snprintf(c->why, c->capacity, "out of memory for %llu %s", (unsigned long long)n, what);
        c->rc = GNN_DGL_NO_MEMORY;
    }
    return p;
}

void gnn_dgl_tensors(struct gnn_dgl_cursor *c, struct gnn_dgl_tensors *t, const char *what)
{
    char shown[64], named[128];
    const uint64_t n = gnn_dgl_count(c, TEXT_LEAST + ARRAY_LEAST, what);
    t->tensor = gnn_dgl_alloc(c, n, sizeof *t->tensor, "tensors");
    t->n = t->tensor ? n : 0;
    for (uint64_t i = 0; !c->rc && i < n; i++) {
        gnn_dgl_text(c, &t->tensor[i].name, what);
        snprintf(named, sizeof named, "%s '%s'", what,
                 gnn_text_shown(shown, sizeof shown, t->tensor[i].name.p, t->tensor[i].name.n));
        gnn_dgl_array(c, &t->tensor[i].values, named);
    }
}

void gnn_dgl_tensors_release(struct gnn_dgl_tensors *t)
{
    free(t->tensor);
    *t = (struct gnn_dgl_tensors){0};
}
