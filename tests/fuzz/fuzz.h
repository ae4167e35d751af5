/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzz target is. */
#ifndef GNN_TESTS_FUZZ_FUZZ_H
#define GNN_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
/* How many inputs were good to the end; each target defines it. */
extern unsigned long fuzz_accepted;

#endif
