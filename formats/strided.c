/* SPDX-License-Identifier: Apache-2.0 */
/* Strided arrays (formats/strided.h): bounds are checked once, when an array is described; rows are
 * then copied without a further look at them. */
#include "formats/strided.h"

#include <string.h>

static struct gnn_tensor tensor_of(const struct gnn_strided *s)
{
    struct gnn_tensor t = {.dtype = s->dtype, .ndim = s->ndim};
    memcpy(t.shape, s->shape, sizeof t.shape);
    return t;
}

/* The strides of row-major order are unique but for dimensions of one item, whose stride is never
 * used. */
static bool is_dense(const struct gnn_strided *s)
{
    uint64_t step = 1;
    for (uint32_t d = s->ndim; d--;) {
        if (s->shape[d] != 1 && s->stride[d] != step)
            return false;
        step *= s->shape[d];
    }
    return true;
}

/* The place of the last element; false if it does not fit u64. */
static bool find_last(const struct gnn_strided *s, uint64_t *last)
{
    *last = 0;
    for (uint32_t d = 0; d < s->ndim; d++) {
        uint64_t span;
        if (__builtin_mul_overflow(s->shape[d] - 1, s->stride[d], &span) ||
            __builtin_add_overflow(*last, span, last))
            return false;
    }
    return true;
}

const char *gnn_strided_fits(struct gnn_strided *s, uint64_t bytes)
{
    const struct gnn_tensor t = tensor_of(s);
    const uint64_t there = bytes / gnn_dtype_bytes(s->dtype);
    uint64_t last;
    if (!gnn_tensor_count(&t, &s->count))
        return "its shape is too large";
    if (!s->count) {
        s->dense = true;
        return NULL;
    }
    if (s->count > there)
        return "it has more elements than its data hold (an expanded tensor is written in full "
               "after .contiguous())";
    if (!find_last(s, &last) || last >= there)
        return "it reaches beyond the end of its data";
    s->dense = is_dense(s);
    return NULL;
}

bool gnn_strided_set_order(struct gnn_strided *s, bool fortran)
{
    uint64_t step = 1;
    for (uint32_t i = 0; i < s->ndim; i++) {
        const uint32_t d = fortran ? i : s->ndim - 1 - i;
        s->stride[d] = step;
        if (__builtin_mul_overflow(step, s->shape[d], &step))
            return false;
    }
    return true;
}

bool gnn_strided_tensor(const struct gnn_strided *s, const char *name, struct gnn_tensor *t)
{
    if (!s->dense)
        return false;
    *t = tensor_of(s);
    t->name = name;
    t->data = (void *)(uintptr_t)s->data;
    return true;
}

uint64_t gnn_strided_rows(const struct gnn_strided *s)
{
    return s->ndim ? s->shape[0] : 1;
}

uint64_t gnn_strided_row_bytes(const struct gnn_strided *s)
{
    uint64_t n = gnn_dtype_bytes(s->dtype);
    for (uint32_t d = 1; s->count && d < s->ndim; d++)
        n *= s->shape[d];
    return s->count ? n : 0;
}

/* A switch outside the loop: each size gets a loop of its own. */
static void copy_line(const uint8_t *from, uint64_t step, uint64_t n, size_t size, uint8_t *to)
{
    switch (size) {
    case 1:
        for (uint64_t i = 0; i < n; i++)
            to[i] = from[i * step];
        break;
    case 2:
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * 2, from + i * step * 2, 2);
        break;
    case 4:
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * 4, from + i * step * 4, 4);
        break;
    default:
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * 8, from + i * step * 8, 8);
    }
}

void gnn_strided_copy(const struct gnn_strided *s, uint64_t first, uint64_t n, void *out)
{
    const size_t size = gnn_dtype_bytes(s->dtype);
    uint8_t *to = out;
    if (!n || !s->count)
        return;
    if (s->dense) {
        const uint64_t row = gnn_strided_row_bytes(s);
        memcpy(to, s->data + first * row, n * row);
        return;
    }
    /* Of an array that is not dense, dimensions are put in front until there are four. */
    uint64_t shape[GNN_NDIM_MAX], stride[GNN_NDIM_MAX] = {0};
    for (uint32_t d = 0; d < GNN_NDIM_MAX; d++) {
        const uint32_t lead = GNN_NDIM_MAX - s->ndim;
        shape[d] = d < lead ? 1 : d == lead ? n : s->shape[d - lead];
        stride[d] = d < lead ? 0 : s->stride[d - lead];
    }
    const uint8_t *from = s->data + (s->ndim ? first * s->stride[0] * size : 0);
    for (uint64_t a = 0; a < shape[0]; a++)
        for (uint64_t b = 0; b < shape[1]; b++)
            for (uint64_t c = 0; c < shape[2]; c++) {
                const uint64_t at = a * stride[0] + b * stride[1] + c * stride[2];
                copy_line(from + at * size, stride[3], shape[3], size, to);
                to += shape[3] * size;
            }
}
