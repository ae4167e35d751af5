/* f32 to 16 bits, round to nearest even. */
#ifndef GNN_LIB_IMPORT_HALF_H
#define GNN_LIB_IMPORT_HALF_H

#include <string.h>

#include "formats/tensor.h"

static inline uint16_t gnn_bf16_from_f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static inline uint16_t gnn_f16_from_f32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    uint32_t sign = u >> 16 & 0x8000, abs = u & 0x7fffffff;
    if (abs > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (abs >= 0x477ff000) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (abs >= 0x38800000) { /* normal: rebias, round on 13 bits */
        uint32_t r = abs - 0x38000000;
        return (uint16_t)(sign | ((r + 0xfff + (r >> 13 & 1)) >> 13));
    }
    if (abs < 0x33000000)
        return (uint16_t)sign;
    uint32_t shift = 126 - (abs >> 23), m = (abs & 0x7fffff) | 0x800000;
    uint32_t half = 1u << (shift - 1), q = m >> shift, rest = m & ((1u << shift) - 1);
    return (uint16_t)(sign | (q + (rest > half || (rest == half && (q & 1)))));
}

static inline void gnn_half_from_f32(enum gnn_dtype to, const float *in, uint16_t *out, uint64_t n)
{
    if (to == GNN_BF16)
        for (uint64_t i = 0; i < n; i++)
            out[i] = gnn_bf16_from_f32(in[i]);
    else
        for (uint64_t i = 0; i < n; i++)
            out[i] = gnn_f16_from_f32(in[i]);
}

#endif
