#include "formats/npy_write.h"

#include <stdio.h>
#include <string.h>

static const char *descr(enum gnn_dtype d)
{
    static const char *const name[] = {
        [GNN_U8] = "|u1", [GNN_I8] = "|i1", [GNN_U16] = "<u2", [GNN_I16] = "<i2",
        [GNN_U32] = "<u4", [GNN_I32] = "<i4", [GNN_U64] = "<u8", [GNN_I64] = "<i8",
        [GNN_F16] = "<f2", [GNN_BF16] = "<u2", [GNN_F32] = "<f4", [GNN_F64] = "<f8",
    };
    return name[d];
}

size_t gnn_npy_head(const struct gnn_tensor *t, unsigned char out[GNN_NPY_HEAD_MAX])
{
    enum { PREFIX = 10 };
    char text[GNN_NPY_HEAD_MAX - PREFIX];
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr(t->dtype));
    for (uint32_t i = 0; i < t->ndim; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%llu,%s", (unsigned long long)t->shape[i],
                      i + 1 < t->ndim ? " " : "");
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    size_t total = (PREFIX + (size_t)n + 1 + 63) / 64 * 64, body = total - PREFIX;
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)(body & 0xff);
    out[9] = (unsigned char)(body >> 8);
    memset(out + PREFIX, ' ', body);
    memcpy(out + PREFIX, text, (size_t)n);
    out[total - 1] = '\n';
    return total;
}
