/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of any element type in the form the losses take. */
#ifndef GNN_KERNELS_LABEL_H
#define GNN_KERNELS_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/half_bits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbered as element types are in gnb(5). */
enum gnn_label_type {
    GNN_LABEL_U8 = 1,
    GNN_LABEL_I8 = 2,
    GNN_LABEL_U16 = 3,
    GNN_LABEL_I16 = 4,
    GNN_LABEL_U32 = 5,
    GNN_LABEL_I32 = 6,
    GNN_LABEL_U64 = 7,
    GNN_LABEL_I64 = 8,
    GNN_LABEL_BF16 = 10,
    GNN_LABEL_F32 = 11,
    GNN_LABEL_F64 = 12,
};

static GNN_HD double gnn_label_value(const void *y, enum gnn_label_type type, uint64_t i)
{
    switch (type) {
    case GNN_LABEL_U8:
        return ((const uint8_t *)y)[i];
    case GNN_LABEL_I8:
        return ((const int8_t *)y)[i];
    case GNN_LABEL_U16:
        return ((const uint16_t *)y)[i];
    case GNN_LABEL_I16:
        return ((const int16_t *)y)[i];
    case GNN_LABEL_U32:
        return ((const uint32_t *)y)[i];
    case GNN_LABEL_I32:
        return ((const int32_t *)y)[i];
    case GNN_LABEL_U64:
        return (double)((const uint64_t *)y)[i];
    case GNN_LABEL_I64:
        return (double)((const int64_t *)y)[i];
    case GNN_LABEL_BF16:
        return (double)gnn_bits_f32((uint32_t)((const uint16_t *)y)[i] << 16);
    case GNN_LABEL_F32:
        return (double)((const float *)y)[i];
    case GNN_LABEL_F64:
        return ((const double *)y)[i];
    default:
        return -1;
    }
}

/* A class below `classes`; -1: unlabelled (NaN or -1). Any other number gives a value below -1, or
 * not below `classes`: itself if it is a whole number of i32. */
static GNN_HD int32_t gnn_label_class(double v, uint32_t classes)
{
    if (!(v >= 0))
        return !(v < 0)                                           ? -1
               : v > (double)INT32_MIN && (double)(int32_t)v == v ? (int32_t)v
                                                                  : INT32_MAX;
    if (v >= (double)INT32_MAX)
        return INT32_MAX;
    const int32_t c = (int32_t)v;
    return v < (double)classes && (double)c != v ? INT32_MAX : c;
}
/* A target in 0..1; NaN: unlabelled (NaN or -1). Other numbers come out above 1. */
static GNN_HD float gnn_label_target(double v)
{
    const float f = (float)v;
    if (!(v >= 0))
        return v < 0 && v != -1 ? 2 : gnn_bits_f32(0x7fc00000u);
    return v > 1 && !(f > 1) ? 2 : f;
}

/* The target of a regression; NaN: unlabelled. */
static GNN_HD float gnn_label_number(double v)
{
    return v != v ? gnn_bits_f32(0x7fc00000u) : (float)v;
}

enum gnn_label_form { GNN_LABEL_CLASS, GNN_LABEL_TARGET, GNN_LABEL_NUMBER };
/* Element i of out becomes the class (an int32_t), target or number (a float) that v is. */
static GNN_HD void gnn_label_put(void *out, size_t i, double v, enum gnn_label_form form,
                                 uint32_t classes)
{
    if (form == GNN_LABEL_CLASS)
        ((int32_t *)out)[i] = gnn_label_class(v, classes);
    else
        ((float *)out)[i] = form == GNN_LABEL_TARGET ? gnn_label_target(v) : gnn_label_number(v);
}

/* gnn_label_put of all n elements of y. */
void gnn_labels_form(const void *y, enum gnn_label_type type, size_t n, enum gnn_label_form form,
                     uint32_t classes, void *out);
/* gnn_labels_form on a device, of the caller's device-visible memory; only puts kernels on the
 * stream (a cudaStream_t). */
void gnn_cuda_labels_form(const void *y, enum gnn_label_type type, size_t n,
                          enum gnn_label_form form, uint32_t classes, void *out, void *stream);

#ifdef __cplusplus
}
#endif

#endif
