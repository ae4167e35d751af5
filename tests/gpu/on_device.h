/* SPDX-License-Identifier: Apache-2.0 */
/* What the cases of check_kernels share. A case makes arrays in the host's memory, lets the device
 * work on copies of them, twice, then the CPU on the arrays themselves; the verdict is that both
 * left the same everywhere, bit for bit, and that nothing was written beside the arrays:
 *
 *     float *x = numbers(n), *y = floats(n);
 *     while (again())
 *         gnn_cuda_gelu(at(x), n, at(y), stream);
 *     gnn_gelu(x, n, y);
 *     verdict("GELU of %zu", n);
 *
 * In the first run arrays end where their memory does, which compute-sanitizer looks at; in the
 * second they begin at any element, and counts are in the device's memory. Under emulation each run
 * has another order of threads and another grid. */
#ifndef GNN_TESTS_GPU_ON_DEVICE_H
#define GNN_TESTS_GPU_ON_DEVICE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/err.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

extern struct gnn_err failure;
extern void *stream;
extern uint32_t size_scale; /* what sizes are multiplied with */
extern bool on_device;      /* while a run is going on */
extern unsigned turn;       /* which of the two: 0 or 1 */

/* Ends the program if rc is not 0, with what `failure` says. */
void must(int rc);

/* ---- arrays of a case ---- */

/* n elements that the CPU and the device each have, compared byte by byte; all bytes are the same
 * rubbish at first. */
void *array(size_t n, size_t size);
/* n bytes, so many behind a multiple of 64 in each run. */
char *bytes_at(size_t n, size_t off);
/* Elements compared as numbers, of which one NaN is like another. */
float *floats(size_t n);
double *doubles(size_t n);
/* With contents: from -1 on, below 1; the same as x; any bits; v everywhere. */
float *numbers(size_t n);
float *copy(const float *x, size_t n);
uint32_t *words(size_t n);
float *filled(size_t n, float v);
/* Puts a NaN, both infinities and a zero with a sign into x, which it returns. */
float *special(float *x, size_t n);
/* UINT64_MAX: nothing bad so far. */
uint64_t *nothing_bad(void);
/* What the CPU needs besides: zeros. */
void *host(size_t bytes);

/* The array that p points into ... need only be near: `most`, beside the number or 1, and ten times
 * that on a real device, whose powers are its own; */
void near_enough(const void *p, double most);
/* ... is what each of the two keeps for itself; */
void kept_apart(const void *p);
/* ... is in the host's memory also for the device. */
void in_host_memory(const void *p);

/* ---- the two runs on the device ---- */

bool again(void);
/* Where the device has what the host has at p, or NULL if p is. Scratch memory, and outside of runs
 * all: p. */
void *at(const void *p);
/* Memory of the device for this run: rubbish, or a copy. Outside of runs: the host's, zeros. */
void *scratch(size_t bytes);
void *up(const void *from, size_t bytes);
/* A count and its bound: in the first run NULL and n, in the second where n is and more. */
const uint32_t *counted(uint32_t n);
uint32_t bound(uint32_t n);

/* ---- the end of a case ---- */

/* What the first run left in the array that p points into, at p. */
const void *left(const void *p);
/* Notes what else is wrong; in words for whoever reads it. (Arrays are numbered from 0 on as they
 * are made.) */
__attribute__((format(printf, 2, 3))) void expect(bool right, const char *what, ...);
/* Compares, and releases all of the above. The verdict, with a name, is on all that was settled
 * since the last one. */
void settle(void);
__attribute__((format(printf, 1, 2))) void verdict(const char *name, ...);
/* The status of the program. */
int done(void);

/* ---- random numbers ---- */

void begin_drawing(uint64_t seed);
uint32_t draw(void);
uint32_t below(uint32_t n);
float number(void); /* from -1 on, below 1 */

/* Where the kernels are emulated, and else NULL. */
__attribute__((weak)) void emu_vary(uint64_t seed, unsigned grid);
__attribute__((weak)) uint64_t emu_launched(void); /* kernels so far */

#endif
