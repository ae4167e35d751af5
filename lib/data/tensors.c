/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of named tensors (lib/data/tensors.h). Slots stay when a set is cleared, with their memory,
 * so that a stream of batches of about one size allocates only in the beginning; a hash table finds
 * them by name. A tensor's data lie in its own block, or in memory that another program exported
 * for the batch (a lease). */
#include "lib/data/tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/xxh.h"
#include "kernels/half.h"
#include "kernels/int8_row.h"
#include "lib/base/shared.h"

/* The seed is an address, so it differs from run to run: nobody can choose names that collide. */
static uint32_t hash_of(const char *name)
{
    static const char place;
    return (uint32_t)XXH3_64bits_withSeed(name, strlen(name), (uintptr_t)&place);
}

struct named {
    struct gnn_tensor_slot *const *slot;
    const char *name;
};

static bool is_named(const void *arg, uint32_t i)
{
    const struct named *n = arg;
    return !strcmp(n->slot[i]->t.name, n->name);
}

/* The entry of the index that holds the tensor of that name, or the free one where it belongs. */
static uint64_t *find_slot(const struct gnn_tensors *s, const char *name)
{
    return gnn_hash_find(&s->index, hash_of(name), is_named, &(struct named){s->slot, name});
}

/* Makes space for one more slot; the slots themselves are made when first used. */
static int slot_space(struct gnn_tensors *s, struct gnn_err *e)
{
    if (s->n < s->capacity)
        return 0;
    if (gnn_hash_fit(&s->index, s->n + 1, e) ||
        gnn_grow(&s->slot, s->capacity, sizeof(struct gnn_tensor_slot *), "tensor table", e))
        return e->code;
    s->capacity++;
    return 0;
}

static void buf_drop(const struct gnn_tensors *s, struct gnn_tensor_slot *q)
{
    if (q->shared)
        gnn_share_free(s->share, q->buf.data, q->buf.cap);
    else
        gnn_buf_release_in(q->mem, &q->buf);
    q->buf = (struct gnn_buf){0};
    q->mem = NULL;
    q->shared = false;
}

/* Moves a slot's data into a block of another kind. */
static void buf_move(const struct gnn_tensors *s, struct gnn_tensor_slot *q, struct gnn_buf to,
                     bool shared, bool keep)
{
    if (keep && q->buf.data)
        memcpy(to.data, q->buf.data, q->buf.cap < to.cap ? q->buf.cap : to.cap);
    buf_drop(s, q);
    q->buf = to;
    q->shared = shared;
}

/* Makes space in the slot's own block: in shared memory if the set has some and the tensor is worth
 * it. A block that grows gets more than was asked for, so that batches of about one size fit after
 * the first. */
static int buf_fit(const struct gnn_tensors *s, struct gnn_tensor_slot *q, uint64_t bytes,
                   bool keep, struct gnn_err *e)
{
    if (q->mem)
        return gnn_buf_fit_in(q->mem, &q->buf, bytes, 1, q->t.name, e);
    const bool fits = q->buf.data && bytes <= q->buf.cap;
    const bool share = s->share && bytes >= GNN_SHARE_MIN;
    if (fits && (q->shared || !share))
        return 0;
    /* Shared memory may be full: then the heap will do, and the tensor is sent inline. */
    struct gnn_buf to = {0};
    if (share && bytes <= UINT64_MAX / 2) {
        to.data = gnn_share_alloc(s->share, bytes, keep ? bytes / 2 : bytes / 8, &to.cap);
        if (to.data)
            buf_move(s, q, to, true, keep);
        if (to.data || fits)
            return 0;
    }
    if (q->shared) {
        int rc = gnn_buf_reserve(&to, bytes, 1, q->t.name, e);
        if (!rc)
            buf_move(s, q, to, false, keep);
        return rc;
    }
    return keep ? gnn_buf_reserve(&q->buf, bytes, 1, q->t.name, e)
                : gnn_buf_fit(&q->buf, bytes, 1, q->t.name, e);
}

const char *gnn_tensor_name(char name[GNN_NAME_MAX + 1], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(name, GNN_NAME_MAX + 1, fmt, ap);
    va_end(ap);
    if (n < 0 || n > GNN_NAME_MAX)
        *name = 0;
    return name;
}

int gnn_tensors_add(struct gnn_tensors *s, const char *name, enum gnn_dtype dtype, uint32_t ndim,
                    const uint64_t *shape, struct gnn_tensor **out, struct gnn_err *e)
{
    return gnn_tensors_add_in(s, NULL, name, dtype, ndim, shape, out, e);
}

int gnn_tensors_add_in(struct gnn_tensors *s, const struct gnn_mem *mem, const char *name,
                       enum gnn_dtype dtype, uint32_t ndim, const uint64_t *shape,
                       struct gnn_tensor **out, struct gnn_err *e)
{
    size_t len = strlen(name);
    if (len > GNN_NAME_MAX || ndim > GNN_NDIM_MAX)
        return gnn_fail(e, GNN_E_INPUT, "tensor '%.40s': name or shape too long", name);
    int rc = slot_space(s, e);
    if (rc)
        return rc;
    uint64_t *at = find_slot(s, name);
    if (*at)
        return gnn_fail(e, GNN_E_INPUT, "tensor '%s' appears twice", name);
    if (!s->slot[s->n]) {
        s->slot[s->n] = gnn_alloc_zero(1, sizeof **s->slot, "tensor", e);
        if (!s->slot[s->n])
            return e->code;
    }
    struct gnn_tensor_slot *q = s->slot[s->n];
    if ((rc = gnn_buf_fit(&q->name, len + 1, 1, "tensor names", e)))
        return rc;
    q->t = (struct gnn_tensor){
        .name = memcpy(q->name.data, name, len + 1), .dtype = dtype, .ndim = ndim};
    for (uint32_t i = 0; i < ndim; i++)
        q->t.shape[i] = shape[i];
    uint64_t bytes;
    if (!gnn_tensor_bytes(&q->t, &bytes))
        return gnn_fail(e, GNN_E_INPUT, "tensor '%s': size overflows", name);
    if (q->mem != mem) {
        buf_drop(s, q);
        q->mem = mem;
    }
    if ((rc = buf_fit(s, q, bytes, false, e)))
        return rc;
    q->t.data = q->buf.data;
    gnn_hash_put(&s->index, at, hash_of(name), s->n++);
    if (out)
        *out = &q->t;
    return 0;
}

int gnn_tensors_space(struct gnn_tensors *s, struct gnn_tensor *t, uint64_t bytes,
                      struct gnn_err *e)
{
    struct gnn_tensor_slot *q = (struct gnn_tensor_slot *)t; /* t is the slot's first member */
    const void *leased = t->data != q->buf.data ? t->data : NULL;
    uint64_t old = 0;
    int rc = buf_fit(s, q, bytes, !leased, e);
    if (rc)
        return rc;
    if (leased && gnn_tensor_bytes(t, &old))
        memcpy(q->buf.data, leased, old < bytes ? old : bytes);
    t->data = q->buf.data;
    return 0;
}

int gnn_tensors_resize(struct gnn_tensors *s, struct gnn_tensor *t, uint64_t rows,
                       struct gnn_err *e)
{
    struct gnn_tensor want = *t;
    want.shape[0] = rows;
    uint64_t bytes;
    if (!t->ndim || !gnn_tensor_bytes(&want, &bytes))
        return gnn_fail(e, GNN_E_INPUT, "tensor '%s': size overflows", t->name);
    int rc = gnn_tensors_space(s, t, bytes, e);
    if (rc)
        return rc;
    t->shape[0] = rows;
    t->has_sum = false;
    return 0;
}

void gnn_tensors_share(struct gnn_tensors *s, struct gnn_share *share)
{
    if (s->share)
        return;
    gnn_share_hold(share);
    s->share = share;
}

void gnn_tensors_move(struct gnn_tensors *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct gnn_tensor_slot *q = s->slot[i];
        uint64_t bytes = 0;
        if (q->shared || q->mem || q->t.data != q->buf.data || !gnn_tensor_bytes(&q->t, &bytes) ||
            bytes < GNN_SHARE_MIN)
            continue;
        const uint64_t more = q->buf.cap > bytes + bytes / 8
                                  ? q->buf.cap - bytes
                                  : bytes / 8; /* what it once needed, too */
        struct gnn_buf to = {0};
        to.data = gnn_share_alloc(s->share, bytes, more, &to.cap);
        if (!to.data)
            return;
        memcpy(to.data, q->buf.data, bytes);
        buf_move(s, q, to, true, false);
        q->t.data = to.data;
    }
}

void gnn_tensors_unshare(struct gnn_tensors *s)
{
    for (uint32_t i = 0; i < s->capacity; i++)
        /* The memory itself goes with the last holder of the share. */
        if (s->slot[i] && s->slot[i]->shared) {
            s->slot[i]->buf = (struct gnn_buf){0};
            s->slot[i]->shared = false;
            s->slot[i]->t.data = NULL;
        }
    gnn_share_drop(s->share);
    s->share = NULL;
}

int gnn_tensors_own(struct gnn_tensors *s, struct gnn_err *e)
{
    /* Leased data are copied, as the producer may overwrite them once they are released. */
    for (uint32_t i = 0; s->lease.give_back && i < s->n; i++) {
        struct gnn_tensor *t = &s->slot[i]->t;
        uint64_t bytes = 0;
        if (t->data == s->slot[i]->buf.data || !gnn_tensor_bytes(t, &bytes))
            continue;
        int rc = gnn_tensors_space(s, t, bytes, e);
        if (rc)
            return rc;
    }
    gnn_tensors_give_back(s);
    return 0;
}

void gnn_tensors_give_back(struct gnn_tensors *s)
{
    struct gnn_lease l = s->lease;
    s->lease = (struct gnn_lease){0};
    if (l.give_back)
        l.give_back(&l);
}

struct gnn_tensor *gnn_tensors_find(const struct gnn_tensors *s, const char *name)
{
    const uint32_t at = s->n ? gnn_hash_number(find_slot(s, name)) : UINT32_MAX;
    return at < s->n ? &s->slot[at]->t : NULL;
}

void gnn_tensors_clear(struct gnn_tensors *s)
{
    gnn_hash_clear(&s->index);
    s->n = 0;
    gnn_tensors_give_back(s);
}

void gnn_tensors_release(struct gnn_tensors *s)
{
    gnn_tensors_give_back(s);
    gnn_tensors_unshare(s);
    for (uint32_t i = 0; i < s->capacity; i++)
        if (s->slot[i]) {
            buf_drop(s, s->slot[i]);
            gnn_buf_release(&s->slot[i]->name);
            gnn_free(s->slot[i]);
        }
    gnn_free(s->slot);
    gnn_hash_release(&s->index);
    *s = (struct gnn_tensors){0};
}

struct gnn_tensor gnn_tensor_from(const struct gnn_tensor *t, uint64_t row)
{
    struct gnn_tensor x = *t;
    uint64_t bytes = gnn_dtype_bytes(t->dtype);
    for (uint32_t d = 1; d < t->ndim; d++)
        bytes *= t->shape[d];
    x.shape[0] -= row;
    x.data = (char *)t->data + row * bytes;
    x.has_sum = false;
    return x;
}

/* Whole rows, or the first elements of one. */
static void widen_rows(const struct gnn_tensor *t, uint64_t n, float *out)
{
    const uint64_t width = t->int8, bytes = gnn_int8_row_bytes(width);
#pragma omp parallel for schedule(static) if (n > 1 << 16)
    for (uint64_t i = 0; i < n; i += width) {
        const char *row = (const char *)t->data + i / width * bytes;
        gnn_i8_to_f32((const int8_t *)row, n - i < width ? n - i : width,
                      *gnn_int8_scale(row, width), out + i);
    }
}

bool gnn_tensor_floats(const struct gnn_tensor *t, uint64_t n, float *out)
{
    switch (t->dtype) {
    case GNN_F32:
        memcpy(out, t->data, n * sizeof *out);
        return true;
    case GNN_F16:
        gnn_f16_to_f32(t->data, n, out);
        return true;
    case GNN_BF16:
        gnn_bf16_to_f32(t->data, n, out);
        return true;
    default:
        if (t->int8)
            widen_rows(t, n, out);
        return t->int8 != 0;
    }
}
