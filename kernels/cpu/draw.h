/* SPDX-License-Identifier: Apache-2.0 */
/* Draws of sixteen destinations at once: lanes run over destinations, so the dependent steps of one
 * destination's draws stay in one lane. */
#ifndef GNN_KERNELS_CPU_DRAW_H
#define GNN_KERNELS_CPU_DRAW_H

#include <stdint.h>

#include "kernels/cpu/isa.h"
#include "kernels/pick.h"

enum { GNN_DRAW_LANES = 16, GNN_DRAW_MAX = 64 };

/* For each lane l: what the rule's k <= GNN_DRAW_MAX draws pick, x[j*16+l], of the degree[l]
 * neighbours of the destination with original id id[l] in tree[l]; degree[l] >= k, or >= 1 if the
 * rule repeats. tree NULL: all are in tree 0. All arrays are 64-byte aligned; x has capacity for a
 * multiple of four rows. _on is the same with the instructions of a level that the processor has,
 * for the tests. */
void gnn_draw16(struct gnn_pick_rule rule, const uint32_t key[2], const uint32_t id[16],
                const uint32_t tree[16], const uint32_t degree[16], uint32_t *x);
void gnn_draw16_on(enum gnn_isa isa, struct gnn_pick_rule rule, const uint32_t key[2],
                   const uint32_t id[16], const uint32_t tree[16], const uint32_t degree[16],
                   uint32_t *x);
/* Words of sixteen ids' streams: w[q*16+l] is word q of Philox with counter (id[l], c1, tree[l],
 * c3). 64-byte aligned. */
void gnn_draw16_words(const uint32_t key[2], const uint32_t id[16], const uint32_t tree[16],
                      uint32_t c1, uint32_t c3, uint32_t w[64]);

#endif
