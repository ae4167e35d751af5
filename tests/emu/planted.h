/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of planted.cu. */
#ifndef GNN_TESTS_EMU_PLANTED_H
#define GNN_TESTS_EMU_PLANTED_H

#include <cstddef>

/* out[i] = in[i] + in of the next thread of the block. */
void planted_neighbours(bool guarded, unsigned blocks, unsigned threads, const unsigned *in,
                        unsigned *out);
/* out[w] = sum of the 32 numbers of warp w. */
void planted_warp_sums(unsigned blocks, unsigned threads, const unsigned *in, unsigned *out);
void planted_warp_reductions(unsigned blocks, unsigned threads, const unsigned *in, unsigned *out);
void planted_lost_update(unsigned blocks, unsigned threads, unsigned *count, unsigned *exact);
/* of_block[b] = b + 1; *sum += their sum. *ticket: 0. */
void planted_last_adds_up(bool fenced, unsigned blocks, unsigned *of_block, unsigned *ticket,
                          unsigned *sum);
/* of_block[b] = 1; out[b] = of_block of the next, before or after that. */
void planted_reads_neighbour(unsigned blocks, unsigned *of_block, unsigned *out);
/* *out = the number of one of the blocks. */
void planted_same_word(bool alone, unsigned blocks, unsigned *out);
/* Lets it have so much dynamic shared memory, if a device has it. */
bool planted_opt_in(int bytes);
/* With so much beside 2 KB of static shared memory: out[0..31] = 0..31. */
void planted_much_shared(size_t bytes, unsigned *out);
/* Does nothing. */
void planted_shape(const unsigned grid[3], const unsigned block[3]);
/* out[l] = lanes with in[l]. */
void planted_matches(const unsigned *in, unsigned *out);
void planted_divergent(unsigned *out);

#endif
