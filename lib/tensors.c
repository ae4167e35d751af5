#include "lib/tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/xxh.h"
#include "kernels/half.h"

/* The place in the index that holds the tensor of that name, or the free one where it belongs. The seed differs from
 * run to run, so that a frame's names cannot be chosen to collide. */
static uint32_t *place(const struct gnn_tensors *s, const char *name)
{
    const uint32_t mask = 2 * s->room - 1;
    uint32_t i = (uint32_t)XXH3_64bits_withSeed(name, strlen(name), (uintptr_t)s->index) & mask;
    while (s->index[i] && strcmp(s->slot[s->index[i] - 1]->name, name))
        i = (i + 1) & mask;
    return &s->index[i];
}

/* Makes room for one more slot; the slots themselves are made when first used. */
static int slot_room(struct gnn_tensors *s, struct gnn_err *e)
{
    if (s->n < s->room)
        return 0;
    const uint32_t room = s->room ? 2 * s->room : 16; /* a power of two */
    struct gnn_tensor_slot **p = gnn_alloc_zero(room, sizeof *p, "tensor table", e);
    uint32_t *index = p ? gnn_alloc_zero(room, 2 * sizeof *index, "tensor table", e) : NULL;
    if (!index) {
        gnn_free(p);
        return e->code;
    }
    if (s->room)
        memcpy(p, s->slot, s->room * sizeof *p);
    gnn_free(s->slot);
    gnn_free(s->index);
    s->slot = p;
    s->index = index;
    s->room = room;
    for (uint32_t i = 0; i < s->n; i++)
        *place(s, p[i]->name) = i + 1;
    return 0;
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
    size_t len = strlen(name);
    if (len > GNN_NAME_MAX || ndim > GNN_NDIM_MAX)
        return gnn_fail(e, GNN_E_INPUT, "tensor '%.40s': name or shape too long", name);
    int rc = slot_room(s, e);
    if (rc)
        return rc;
    uint32_t *at = place(s, name);
    if (*at)
        return gnn_fail(e, GNN_E_INPUT, "tensor '%s' appears twice", name);
    if (!s->slot[s->n]) {
        s->slot[s->n] = gnn_alloc_zero(1, sizeof **s->slot, "tensor", e);
        if (!s->slot[s->n])
            return e->code;
    }
    struct gnn_tensor_slot *q = s->slot[s->n];
    memcpy(q->name, name, len + 1);
    q->t = (struct gnn_tensor){.name = q->name, .dtype = dtype, .ndim = ndim};
    for (uint32_t i = 0; i < ndim; i++)
        q->t.shape[i] = shape[i];
    uint64_t bytes;
    if (!gnn_tensor_bytes(&q->t, &bytes))
        return gnn_fail(e, GNN_E_INPUT, "tensor '%s': size overflows", name);
    if ((rc = gnn_buf_fit(&q->buf, bytes, 1, q->name, e)))
        return rc;
    q->t.data = q->buf.data;
    *at = ++s->n;
    if (out)
        *out = &q->t;
    return 0;
}

int gnn_tensors_resize(struct gnn_tensors *s, struct gnn_tensor *t, uint64_t rows,
                       struct gnn_err *e)
{
    (void)s;
    struct gnn_tensor_slot *q = (struct gnn_tensor_slot *)t; /* t is the slot's first member */
    struct gnn_tensor want = *t;
    want.shape[0] = rows;
    uint64_t bytes;
    if (!t->ndim || !gnn_tensor_bytes(&want, &bytes))
        return gnn_fail(e, GNN_E_INPUT, "tensor '%s': size overflows", t->name);
    int rc = gnn_buf_reserve(&q->buf, bytes, 1, q->name, e);
    if (rc)
        return rc;
    t->shape[0] = rows;
    t->data = q->buf.data;
    t->has_sum = false;
    return 0;
}

struct gnn_tensor *gnn_tensors_find(const struct gnn_tensors *s, const char *name)
{
    const uint32_t at = s->n ? *place(s, name) : 0;
    return at ? &s->slot[at - 1]->t : NULL;
}

void gnn_tensors_clear(struct gnn_tensors *s)
{
    if (s->n)
        memset(s->index, 0, s->room * 2 * sizeof *s->index);
    s->n = 0;
}

void gnn_tensors_release(struct gnn_tensors *s)
{
    for (uint32_t i = 0; i < s->room; i++)
        if (s->slot[i]) {
            gnn_buf_release(&s->slot[i]->buf);
            gnn_free(s->slot[i]);
        }
    gnn_free(s->slot);
    gnn_free(s->index);
    *s = (struct gnn_tensors){0};
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
        return false;
    }
}
