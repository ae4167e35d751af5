/* SPDX-License-Identifier: Apache-2.0 */
/* Files of torch.save (formats/torch_file.h): which container it is, and tensors over storages. */
#include "formats/torch_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pickle_impl.h"
#include "formats/torch_impl.h"

enum { SAVED_HEAD = 4096 };

bool gnn_torch_is_zip(const void *bytes, uint64_t n)
{
    return n >= 4 && !memcmp(bytes, "PK\3\4", 4);
}

int gnn_torch_open(struct gnn_torch_file *f, const void *bytes, uint64_t n, char *why,
                   size_t capacity)
{
    struct gnn_torch_opening o = {.f = f, .n = n, .pickles = n, .why = why, .capacity = capacity};
    *f = (struct gnn_torch_file){.bytes = bytes};
    const int rc = gnn_torch_is_zip(bytes, n)      ? gnn_torch_open_zip(&o)
                   : gnn_torch_is_legacy(bytes, n) ? gnn_torch_open_legacy(&o)
                                                   : gnn_torch_fail(&o, "not a file of torch.save");
    if (rc)
        gnn_torch_release(f);
    return rc;
}

void gnn_torch_release(struct gnn_torch_file *f)
{
    gnn_pickle_release(&f->pickle);
    free(f->storage);
    *f = (struct gnn_torch_file){0};
}

static unsigned role_of(const struct gnn_pickle_value *v)
{
    return gnn_pickle_kind(v) == GNN_PICKLE_OBJECT ? gnn_pickle_global_of(v)->role : PICKLE_PLAIN;
}

bool gnn_torch_is_array(const struct gnn_pickle_value *v)
{
    const unsigned role = role_of(v);
    return role == PICKLE_TENSOR || role == PICKLE_TENSOR_V3 || role == PICKLE_PARAMETER ||
           role == PICKLE_FROM_TYPE || gnn_pickle_is_array(v);
}

/* What a tensor is made of, under the function that makes it. */
struct made {
    unsigned role;
    const struct gnn_pickle_value *arguments;
};

/* A parameter has its tensor as its first argument. A subclass has it as an attribute, or it is
 * made with attributes by a function whose arguments are the third. Each step is taken once: what
 * is in itself, or in several of these, is no tensor. */
static struct made find_made(const struct gnn_pickle *p, const struct gnn_pickle_value *v)
{
    const struct gnn_pickle_value *a;
    if (role_of(v) == PICKLE_PARAMETER)
        v = gnn_pickle_item(p, gnn_pickle_arguments(p, v), 0);
    if (role_of(v) == PICKLE_FROM_TYPE) {
        a = gnn_pickle_arguments(p, v);
        if (gnn_pickle_global_of(gnn_pickle_item(p, a, 1))->role != PICKLE_SUBCLASS)
            return (struct made){gnn_pickle_global_of(gnn_pickle_item(p, a, 0))->role,
                                 gnn_pickle_item(p, a, 2)};
        v = gnn_pickle_get(p, gnn_pickle_item(p, a, 3), "_data");
    }
    return (struct made){role_of(v), gnn_pickle_arguments(p, v)};
}

/* NULL, or what is wrong: the type of elements is the storage's, or one that is given beside it. */
static const char *read_type(const struct gnn_pickle *p, const struct made *m,
                             const struct gnn_torch_storage *s, struct gnn_strided *out)
{
    out->dtype = s->dtype;
    out->is_bool = s->is_bool;
    if (m->role != PICKLE_TENSOR_V3)
        return NULL;
    const struct gnn_pickle_value *type = gnn_pickle_item(p, m->arguments, 6);
    const struct gnn_pickle_global *g = gnn_pickle_global_of(type);
    if (gnn_pickle_kind(type) != GNN_PICKLE_GLOBAL || g->role != PICKLE_TORCH_DTYPE)
        return "its type is not one that is read";
    out->dtype = (enum gnn_dtype)g->dtype;
    out->is_bool = g->is_bool;
    return NULL;
}

/* The one storage that is saved in these bytes. They are read each time that a tensor is asked for,
 * so that what stands before the elements must be short. */
static bool open_saved(const struct gnn_word *bytes, struct gnn_torch_storage *s)
{
    char why[256];
    struct gnn_torch_file f = {.bytes = (const uint8_t *)bytes->p};
    struct gnn_torch_opening o = {
        .f = &f, .n = bytes->n, .pickles = SAVED_HEAD, .why = why, .capacity = sizeof why};
    const bool good = gnn_torch_is_legacy(f.bytes, o.n) && !gnn_torch_open_legacy(&o) &&
                      f.storages == 1 && gnn_pickle_kind(f.pickle.root) == GNN_PICKLE_PERSISTENT;
    if (good)
        *s = f.storage[0];
    gnn_torch_release(&f);
    return good;
}

/* The storage of a tensor: one of the file or, in a pickle that torch.save did not write, one that
 * was saved alone. */
static bool find_storage(const struct gnn_torch_file *f, const struct gnn_pickle_value *v,
                         struct gnn_torch_storage *s)
{
    const struct gnn_pickle *p = &f->pickle;
    struct gnn_word key;
    if (role_of(v) == PICKLE_SAVED)
        return gnn_pickle_bytes(p, gnn_pickle_item(p, gnn_pickle_arguments(p, v), 0), &key) &&
               open_saved(&key, s);
    const struct gnn_torch_storage *found =
        gnn_pickle_text(p, gnn_pickle_item(p, gnn_pickle_id(p, v), 2), &key)
            ? gnn_torch_find_storage(f, &key)
            : NULL;
    if (found)
        *s = *found;
    return found != NULL;
}

/* The tensor that a function of PyTorch would make of these arguments: storage, offset, size,
 * stride, and others that do not concern the elements. */
static const char *read_tensor(const struct gnn_torch_file *f, const struct made *m,
                               struct gnn_strided *out)
{
    const struct gnn_pickle *p = &f->pickle;
    const struct gnn_pickle_value *a = m->arguments;
    struct gnn_torch_storage s;
    int64_t offset;
    uint64_t skipped;
    uint32_t strides;
    if (!find_storage(f, gnn_pickle_item(p, a, 0), &s))
        return "it has no storage";
    if (!gnn_pickle_int(gnn_pickle_item(p, a, 1), &offset) || offset < 0)
        return "its offset is no count";
    const char *bad = gnn_pickle_sizes(p, gnn_pickle_item(p, a, 2), out->shape, &out->ndim);
    if (bad)
        return bad;
    if (gnn_pickle_sizes(p, gnn_pickle_item(p, a, 3), out->stride, &strides) ||
        strides != out->ndim)
        return "its strides are not a count for each dimension";
    bad = read_type(p, m, &s, out);
    if (bad)
        return bad;
    if (__builtin_mul_overflow((uint64_t)offset, gnn_dtype_bytes(out->dtype), &skipped) ||
        skipped > s.bytes)
        return "it begins beyond the end of its storage";
    out->data = s.data + skipped;
    return gnn_strided_fits(out, s.bytes - skipped);
}

int gnn_torch_array(const struct gnn_torch_file *f, const struct gnn_pickle_value *v,
                    struct gnn_strided *out, char *why, size_t capacity)
{
    char shown[128];
    if (gnn_pickle_is_array(v))
        return gnn_pickle_array(&f->pickle, v, out, why, capacity);
    const struct made m = find_made(&f->pickle, v);
    const bool is = m.role == PICKLE_TENSOR || m.role == PICKLE_TENSOR_V3;
    *out = (struct gnn_strided){0};
    const char *bad = is ? read_tensor(f, &m, out) : NULL;
    if (is && bad)
        snprintf(why, capacity, "a tensor: %s", bad);
    else if (!is)
        snprintf(why, capacity, "%s instead of a tensor",
                 gnn_pickle_describe(&f->pickle, v, shown, sizeof shown));
    return is && !bad ? 0 : GNN_PICKLE_BAD;
}
