/* SPDX-License-Identifier: Apache-2.0 */
/* 16 random bits for each column of a row, as struct gnn_dropout (kernels/act.h) lays them out. */
#ifndef GNN_KERNELS_CPU_DRAWS16_H
#define GNN_KERNELS_CPU_DRAWS16_H

#include "kernels/rng.h"
#include "kernels/simd.h"

/* Philox at the counters (id, w, 0, 0) for w = w0 to w0 + 15. The results are stored by 16-bit
 * pieces, so that the compiler can vectorise all sixteen at once: out[16*c + l], piece c of counter
 * w0 + l, is the draw for that column of 128. */
enum { GNN_DRAWS_LANES = 16, GNN_DRAWS = 8 * GNN_DRAWS_LANES };
GNN_INLINE void gnn_draws16(const uint32_t key[2], uint32_t id, uint32_t w0, uint16_t *out)
{
    enum { LANES = GNN_DRAWS_LANES };
    const uint32_t k0 = key[0], k1 = key[1];
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t c0 = id, c1 = w0 + l, c2 = 0, c3 = 0;
        GNN_PHILOX_10(c0, c1, c2, c3, k0, k1);
        out[0 * LANES + l] = (uint16_t)c0;
        out[1 * LANES + l] = (uint16_t)(c0 >> 16);
        out[2 * LANES + l] = (uint16_t)c1;
        out[3 * LANES + l] = (uint16_t)(c1 >> 16);
        out[4 * LANES + l] = (uint16_t)c2;
        out[5 * LANES + l] = (uint16_t)(c2 >> 16);
        out[6 * LANES + l] = (uint16_t)c3;
        out[7 * LANES + l] = (uint16_t)(c3 >> 16);
    }
}

#endif
