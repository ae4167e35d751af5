/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/tensor.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t bytes;
} dtypes[] = {
    [GNN_U8] = {"u8", 1},     [GNN_I8] = {"i8", 1},   [GNN_U16] = {"u16", 2},
    [GNN_I16] = {"i16", 2},   [GNN_U32] = {"u32", 4}, [GNN_I32] = {"i32", 4},
    [GNN_U64] = {"u64", 8},   [GNN_I64] = {"i64", 8}, [GNN_F16] = {"f16", 2},
    [GNN_BF16] = {"bf16", 2}, [GNN_F32] = {"f32", 4}, [GNN_F64] = {"f64", 8},
};

size_t gnn_dtype_bytes(enum gnn_dtype d)
{
    return (unsigned)d <= GNN_F64 ? dtypes[d].bytes : 0;
}

const char *gnn_dtype_name(enum gnn_dtype d)
{
    return gnn_dtype_bytes(d) ? dtypes[d].name : "?";
}

enum gnn_dtype gnn_dtype_parse(const char *name)
{
    for (unsigned d = GNN_U8; d <= GNN_F64; d++)
        if (!strcmp(name, dtypes[d].name))
            return (enum gnn_dtype)d;
    return (enum gnn_dtype)0;
}

bool gnn_tensor_count(const struct gnn_tensor *t, uint64_t *count)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->ndim; i++)
        if (__builtin_mul_overflow(n, t->shape[i], &n))
            return false;
    *count = n;
    return true;
}

bool gnn_tensor_bytes(const struct gnn_tensor *t, uint64_t *bytes)
{
    uint64_t n;
    return gnn_tensor_count(t, &n) && !__builtin_mul_overflow(n, gnn_dtype_bytes(t->dtype), bytes);
}
