/* SPDX-License-Identifier: Apache-2.0 */
/* A row of int8 that stands for element * scale, rounded to f32: the elements, zeros up to a
 * multiple of 4 bytes, and the scale, an f32. So it is stored, copied and sent: whoever reads the
 * elements finds the scale in the same or the next cache line. Rows follow one another, and the
 * first one is aligned to 4 bytes. */
#ifndef GNN_KERNELS_INT8_ROW_H
#define GNN_KERNELS_INT8_ROW_H

#include <stddef.h>

#include "kernels/hd.h"

/* Where the scale is in a row of so many elements, in bytes. */
static GNN_HD size_t gnn_int8_scale_at(size_t elements)
{
    return (elements + 3) / 4 * 4;
}
/* Bytes of a row. */
static GNN_HD size_t gnn_int8_row_bytes(size_t elements)
{
    return gnn_int8_scale_at(elements) + sizeof(float);
}
/* A row's scale. */
static GNN_HD const float *gnn_int8_scale(const void *row, size_t elements)
{
    return (const float *)(const void *)((const char *)row + gnn_int8_scale_at(elements));
}

#endif
