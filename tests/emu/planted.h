/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of planted.cu. */
#ifndef GNN_TESTS_EMU_PLANTED_H
#define GNN_TESTS_EMU_PLANTED_H

/* out[i] = in[i] + in of the next thread of the block. */
void planted_neighbours(bool guarded, unsigned blocks, unsigned threads, const unsigned *in,
                        unsigned *out);
/* out[w] = sum of the 32 numbers of warp w. */
void planted_warp_sums(unsigned blocks, unsigned threads, const unsigned *in, unsigned *out);
void planted_warp_reductions(unsigned blocks, unsigned threads, const unsigned *in, unsigned *out);
void planted_lost_update(unsigned threads, unsigned *count, unsigned *exact);
/* out[l] = lanes with in[l]. */
void planted_matches(const unsigned *in, unsigned *out);
void planted_divergent(unsigned *out);

#endif
