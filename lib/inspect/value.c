#include "lib/inspect/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static double half(uint16_t h)
{
    /* Shifts the fields into place; the scale turns the f16 bias into the f32 one, subnormals included. */
    uint32_t bits = (uint32_t)(h & 0x8000u) << 16, rest = h & 0x7fffu;
    float f;
    if (rest >= 0x7c00u) {
        bits |= 0x7f800000u | (rest & 0x3ffu) << 13;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    uint32_t magnitude = rest << 13;
    memcpy(&f, &magnitude, sizeof f);
    f *= 0x1p112f;
    return bits ? -(double)f : (double)f;
}

static double brain(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

double gnn_value(enum gnn_dtype d, const void *data, uint64_t i)
{
    switch (d) {
    case GNN_U8: return ((const uint8_t *)data)[i];
    case GNN_I8: return ((const int8_t *)data)[i];
    case GNN_U16: return ((const uint16_t *)data)[i];
    case GNN_I16: return ((const int16_t *)data)[i];
    case GNN_U32: return ((const uint32_t *)data)[i];
    case GNN_I32: return ((const int32_t *)data)[i];
    case GNN_U64: return (double)((const uint64_t *)data)[i];
    case GNN_I64: return (double)((const int64_t *)data)[i];
    case GNN_F16: return half(((const uint16_t *)data)[i]);
    case GNN_BF16: return brain(((const uint16_t *)data)[i]);
    case GNN_F32: return (double)((const float *)data)[i];
    case GNN_F64: return ((const double *)data)[i];
    }
    return 0;
}

const char *gnn_value_text(enum gnn_dtype d, const void *data, uint64_t i, char *out, size_t room)
{
    if (d == GNN_U64)
        snprintf(out, room, "%" PRIu64, ((const uint64_t *)data)[i]);
    else if (d == GNN_I64)
        snprintf(out, room, "%" PRId64, ((const int64_t *)data)[i]);
    else
        snprintf(out, room, d == GNN_F64 ? "%.17g" : d == GNN_U32 || d == GNN_I32 ? "%.0f" : "%.9g",
                 gnn_value(d, data, i));
    return out;
}
