/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and scalars of NumPy in pickles (formats/pickle.h), of which there are three forms: an
 * empty array that gets shape, type and bytes as its state, a buffer with the same (protocol 5),
 * and a scalar. Facts of the forms: what NumPy's own __reduce__ gives. */
#include "formats/pickle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/pickle_impl.h"

__attribute__((format(printf, 3, 4))) static int say_why(char *why, size_t capacity,
                                                         const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, capacity, fmt, ap);
    va_end(ap);
    return GNN_PICKLE_BAD;
}

/* ">" is refused for types of one byte, too: NumPy writes "|" for these. */
static int read_type(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                     struct gnn_strided *out, char *why, size_t capacity)
{
    static const struct {
        char name[3];
        uint8_t dtype;
    } types[] = {{"b1", GNN_U8},  {"u1", GNN_U8},  {"i1", GNN_I8},  {"u2", GNN_U16},
                 {"i2", GNN_I16}, {"u4", GNN_U32}, {"i4", GNN_I32}, {"u8", GNN_U64},
                 {"i8", GNN_I64}, {"f2", GNN_F16}, {"f4", GNN_F32}, {"f8", GNN_F64}};
    const struct gnn_pickle_value *name = gnn_pickle_item(p, gnn_pickle_arguments(p, v), 0);
    struct gnn_word w;
    char shown[64];
    if (gnn_pickle_global_of(v)->role != PICKLE_DTYPE || !gnn_pickle_text(p, name, &w))
        return say_why(why, capacity, "an array whose type is %s",
                       gnn_pickle_describe(p, v, shown, sizeof shown));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (gnn_pickle_text_is(p, name, types[i].name))
            out->dtype = (enum gnn_dtype)types[i].dtype;
    if (!out->dtype)
        return say_why(why, capacity, "an array of type '%s', which is not numbers that are read",
                       gnn_text_shown(shown, sizeof shown, w.p, w.n));
    out->is_bool = *w.p == 'b';
    if (gnn_pickle_text_is(p, gnn_pickle_item(p, gnn_pickle_state(p, v), 1), ">"))
        return say_why(why, capacity, "an array of big-endian numbers: write a.astype('<%.2s')",
                       w.p);
    return 0;
}

const char *gnn_pickle_sizes(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                             uint64_t size[GNN_NDIM_MAX], uint32_t *n)
{
    if (gnn_pickle_kind(v) != GNN_PICKLE_TUPLE)
        return "its shape is no tuple";
    if (gnn_pickle_count(p, v) > GNN_NDIM_MAX)
        return "it has more than 4 dimensions";
    *n = (uint32_t)gnn_pickle_count(p, v);
    for (uint32_t d = 0; d < *n; d++) {
        int64_t x;
        if (!gnn_pickle_int(gnn_pickle_item(p, v, d), &x) || x < 0)
            return "a part of its shape is no count";
        size[d] = (uint64_t)x;
    }
    return NULL;
}

/* The four things that all forms have; NULL: a scalar has no shape. */
struct parts {
    const struct gnn_pickle_value *shape, *type, *data;
    bool fortran;
};

static bool find_parts(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                       struct parts *out)
{
    const struct gnn_pickle_value *a = gnn_pickle_arguments(p, v), *s = gnn_pickle_state(p, v);
    const unsigned role = gnn_pickle_global_of(v)->role;
    int64_t version;
    *out = (struct parts){0};
    if (role == PICKLE_SCALAR) {
        out->type = gnn_pickle_item(p, a, 0);
        out->data = gnn_pickle_item(p, a, 1);
    } else if (role == PICKLE_FROMBUFFER) {
        out->data = gnn_pickle_item(p, a, 0);
        out->type = gnn_pickle_item(p, a, 1);
        out->shape = gnn_pickle_item(p, a, 2);
        out->fortran = gnn_pickle_text_is(p, gnn_pickle_item(p, a, 3), "F");
        return out->fortran || gnn_pickle_text_is(p, gnn_pickle_item(p, a, 3), "C");
    } else if (role == PICKLE_RECONSTRUCT) {
        out->shape = gnn_pickle_item(p, s, 1);
        out->type = gnn_pickle_item(p, s, 2);
        out->data = gnn_pickle_item(p, s, 4);
        return gnn_pickle_int(gnn_pickle_item(p, s, 0), &version) && version == 1 &&
               gnn_pickle_bool(gnn_pickle_item(p, s, 3), &out->fortran);
    }
    return true;
}

bool gnn_pickle_is_array(const struct gnn_pickle_value *v)
{
    const unsigned role = gnn_pickle_global_of(v)->role;
    return gnn_pickle_kind(v) == GNN_PICKLE_OBJECT &&
           (role == PICKLE_RECONSTRUCT || role == PICKLE_FROMBUFFER || role == PICKLE_SCALAR);
}

int gnn_pickle_array(const struct gnn_pickle *p, const struct gnn_pickle_value *v,
                     struct gnn_strided *out, char *why, size_t capacity)
{
    struct parts parts;
    struct gnn_word w;
    char shown[128];
    *out = (struct gnn_strided){0};
    if (!gnn_pickle_is_array(v))
        return say_why(why, capacity, "%s instead of an array",
                       gnn_pickle_describe(p, v, shown, sizeof shown));
    if (!find_parts(p, v, &parts))
        return say_why(why, capacity, "an array in a form that is not read");
    if (read_type(p, parts.type, out, why, capacity))
        return GNN_PICKLE_BAD;
    const char *bad = parts.shape ? gnn_pickle_sizes(p, parts.shape, out->shape, &out->ndim) : NULL;
    if (bad || !gnn_strided_set_order(out, parts.fortran))
        return say_why(why, capacity, "an array: %s", bad ? bad : "its shape is too large");
    if (!gnn_pickle_bytes(p, parts.data, &w))
        return say_why(why, capacity, "an array whose data are %s instead of bytes",
                       gnn_pickle_describe(p, parts.data, shown, sizeof shown));
    struct gnn_tensor t = {.dtype = out->dtype, .ndim = out->ndim};
    uint64_t bytes;
    memcpy(t.shape, out->shape, sizeof t.shape);
    if (!gnn_tensor_bytes(&t, &bytes) || bytes != w.n)
        return say_why(why, capacity, "an array: its shape and the length of its data disagree");
    out->data = (const uint8_t *)w.p;
    bad = gnn_strided_fits(out, bytes);
    return bad ? say_why(why, capacity, "an array: %s", bad) : 0;
}
