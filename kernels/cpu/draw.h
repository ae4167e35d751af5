/* Draws of sixteen destinations at once: lanes run over destinations, so the dependent steps of one
 * destination's draws stay in one lane. */
#ifndef GNN_KERNELS_CPU_DRAW_H
#define GNN_KERNELS_CPU_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/rng.h"

enum { GNN_DRAW_LANES = 16, GNN_DRAW_MAX = 64 };

/* For each lane l: k <= GNN_DRAW_MAX picks x[j*16+l] out of degree[l] neighbours of the destination
 * with original id id[l]: by Floyd's algorithm (degree >= k), or independent draws with replacement
 * (degree >= 1). All arrays are 64-byte aligned; x has room for a multiple of four rows. _portable
 * is the same without instructions chosen by hand, for the tests. */
void gnn_draw16(const uint32_t key[2], const uint32_t id[16], const uint32_t degree[16], uint32_t k,
                bool replace, uint32_t *x);
void gnn_draw16_portable(const uint32_t key[2], const uint32_t id[16], const uint32_t degree[16],
                         uint32_t k, bool replace, uint32_t *x);

#endif
