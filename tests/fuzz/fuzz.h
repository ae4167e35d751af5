/* What a fuzz target is. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
/* How many inputs were good to the end; each target defines it. */
extern unsigned long fuzz_accepted;

#endif
