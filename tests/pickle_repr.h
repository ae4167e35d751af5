/* SPDX-License-Identifier: Apache-2.0 */
/* Values of pickles as text, as Python writes them where it can: [1, 'a', None]; globals as <name>,
 * objects as name(arguments) and |state, persistent ids as id(...), arrays and tensors as
 * f32[2, 3]=HEX. Values may be parts of themselves, so it stops at a depth. */
#ifndef GNN_TESTS_PICKLE_REPR_H
#define GNN_TESTS_PICKLE_REPR_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/torch_file.h"

enum { REPR_DEPTH = 12 };

struct repr {
    const struct gnn_torch_file *f;
    char *out;
    size_t n, capacity;
};

__attribute__((format(printf, 2, 3))) static void repr_add(struct repr *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(r->out + r->n, r->capacity - r->n, fmt, ap);
    va_end(ap);
    r->n += (size_t)n < r->capacity - r->n ? (size_t)n : r->capacity - r->n - 1;
}

static void repr_bytes(struct repr *r, const void *bytes, uint64_t n)
{
    const uint8_t *b = bytes;
    for (uint64_t i = 0; i < n && r->n + 3 < r->capacity; i++)
        repr_add(r, "%02x", b[i]);
}

static void repr_array(struct repr *r, const struct gnn_pickle_value *v)
{
    struct gnn_strided s;
    char why[256];
    if (gnn_torch_array(r->f, v, &s, why, sizeof why)) {
        repr_add(r, "!%s", why);
        return;
    }
    repr_add(r, "%s[", s.is_bool ? "bool" : gnn_dtype_name(s.dtype));
    for (uint32_t d = 0; d < s.ndim; d++)
        repr_add(r, d ? ", %llu" : "%llu", (unsigned long long)s.shape[d]);
    const uint64_t rows = gnn_strided_rows(&s), bytes = gnn_strided_row_bytes(&s);
    uint8_t *row = malloc(bytes + 1);
    repr_add(r, "]%s=", s.dense ? "" : "~");
    for (uint64_t i = 0; row && s.count && i < rows; i++) {
        gnn_strided_copy(&s, i, 1, row);
        repr_bytes(r, row, bytes);
    }
    free(row);
}

static void repr_value(struct repr *r, const struct gnn_pickle_value *v, int depth);

static void repr_parts(struct repr *r, const struct gnn_pickle_value *v, const char *open,
                       const char *close, int depth)
{
    const struct gnn_pickle *p = &r->f->pickle;
    const uint64_t n = gnn_pickle_count(p, v);
    repr_add(r, "%s", open);
    for (uint64_t i = 0; i < n && r->n + 1 < r->capacity; i++) {
        repr_add(r, i ? ", " : "");
        if (gnn_pickle_key(p, v, i)) {
            repr_value(r, gnn_pickle_key(p, v, i), depth - 1);
            repr_add(r, ": ");
        }
        repr_value(r, gnn_pickle_item(p, v, i), depth - 1);
    }
    repr_add(r, n == 1 && *close == ')' ? ",%s" : "%s", close);
}

static void repr_object(struct repr *r, const struct gnn_pickle_value *v, int depth)
{
    const struct gnn_pickle *p = &r->f->pickle;
    repr_add(r, "%s", gnn_pickle_name(v));
    repr_value(r, gnn_pickle_arguments(p, v), depth - 1);
    if (gnn_pickle_state(p, v)) {
        repr_add(r, "|");
        repr_value(r, gnn_pickle_state(p, v), depth - 1);
    }
}

static void repr_plain(struct repr *r, const struct gnn_pickle_value *v)
{
    const struct gnn_pickle *p = &r->f->pickle;
    struct gnn_word w;
    double f;
    if (gnn_pickle_text(p, v, &w)) {
        repr_add(r, "'%.*s'", (int)w.n, w.p);
    } else if (gnn_pickle_bytes(p, v, &w)) {
        repr_add(r, "b'");
        repr_bytes(r, w.p, w.n);
        repr_add(r, "'");
    } else if (gnn_pickle_kind(v) == GNN_PICKLE_FLOAT && gnn_pickle_float(v, &f)) {
        repr_add(r, "%.17g", f);
    } else {
        char text[128];
        const char *d = gnn_pickle_describe(p, v, text, sizeof text);
        repr_add(r, "%s", strncmp(d, "the int ", 8) ? d : d + 8);
    }
}

static void repr_value(struct repr *r, const struct gnn_pickle_value *v, int depth)
{
    if (!depth) {
        repr_add(r, "...");
        return;
    }
    if (gnn_torch_is_array(v)) {
        repr_array(r, v);
        return;
    }
    switch (gnn_pickle_kind(v)) {
    case GNN_PICKLE_TUPLE:
        repr_parts(r, v, "(", ")", depth);
        break;
    case GNN_PICKLE_LIST:
        repr_parts(r, v, "[", "]", depth);
        break;
    case GNN_PICKLE_DICT:
        repr_parts(r, v, "{", "}", depth);
        break;
    case GNN_PICKLE_SET:
        repr_parts(r, v, "set{", "}", depth);
        break;
    case GNN_PICKLE_GLOBAL:
        repr_add(r, "<%s>", gnn_pickle_name(v));
        break;
    case GNN_PICKLE_OBJECT:
        repr_object(r, v, depth);
        break;
    case GNN_PICKLE_PERSISTENT:
        repr_add(r, "id");
        repr_value(r, gnn_pickle_id(&r->f->pickle, v), depth - 1);
        break;
    default:
        repr_plain(r, v);
    }
}

__attribute__((unused)) static const char *repr_pickle(const struct gnn_torch_file *f, char *out,
                                                       size_t capacity)
{
    struct repr r = {.f = f, .out = out, .capacity = capacity};
    *out = 0;
    repr_value(&r, f->pickle.root, REPR_DEPTH);
    return out;
}

#endif
