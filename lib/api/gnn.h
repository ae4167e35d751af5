/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that all of the library's public headers share: version, errors, options, tensors.
 * The others are graph.h (stores), minibatch.h (sampling, gathering, streams), builder.h (making
 * stores) and learn.h (training, prediction). A program is built with cc program.c $(pkg-config
 * --cflags --libs gnn), or gnn-static.
 *
 * The library gives and takes pointers to objects of its own, whose members nobody sees, so that a
 * program need not be compiled again for a later version. It never prints, ends the process, forks
 * or touches signals. Any number of threads may call it. An object is for one thread at a time; but
 * a graph may be used by several at once, except to close it. A pointer may be NULL only where that
 * is said.
 *
 * A function that fails returns NULL or a negative enum gnn_status, and gnn_error has the reason.
 *
 * Options are a list of texts that ends with NULL, "NAME=VALUE", or "NAME" and "no-NAME" for flags;
 * NULL has none. Names, values and defaults are those of long options in gnn-import(1),
 * gnn-sample(1), gnn-gather(1), gnn-train(1) and gnn-predict(1), where a function does not say
 * otherwise; "--NAME", as messages and these pages write it, is the same. Of an option that stands
 * there twice the last one counts, unless it may stand several times. The list is needed during the
 * call only.
 *
 * Example: refuses a library that is older than the headers that the program was compiled with.
 *     if (gnn_version_number() < GNN_VERSION_NUMBER) {
 *         fprintf(stderr, "gnn-tools %s is too old\n", gnn_version());
 *         return 1;
 *     }
 */
#ifndef GNN_LIB_API_GNN_H
#define GNN_LIB_API_GNN_H

#include <stdint.h>

#include "lib/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GNN_VERSION_MAJOR 0
#define GNN_VERSION_MINOR 3
#define GNN_VERSION_PATCH 0
#define GNN_VERSION_NUMBER (GNN_VERSION_MAJOR * 10000 + GNN_VERSION_MINOR * 100 + GNN_VERSION_PATCH)
/* Version of the library itself, as text and number: "0.3.0", and 300. */
const char *gnn_version(void);
int gnn_version_number(void);

/* Why this thread's last call of a function that can fail did so, one line without a newline, and
 * its enum gnn_status; "" and 0 if it did not. Functions that look something up, whose NULL has no
 * reason, _free, _close and _put leave both. The text lives until this thread's next call. */
const char *gnn_error(void);
int gnn_error_status(void);

/* A tensor, row-major and dense. It belongs to the object that it was got from, and lives as long.
 */
struct gnn_tensor;
/* The element type: "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32" or
 * "f64", little-endian. */
const char *gnn_tensor_dtype(const struct gnn_tensor *t);
/* The number of dimensions, at most 4, and dimension i of them; 1 for others. */
uint32_t gnn_tensor_ndim(const struct gnn_tensor *t);
uint64_t gnn_tensor_shape(const struct gnn_tensor *t, uint32_t i);
/* The elements, and how many bytes they have together. */
const void *gnn_tensor_data(const struct gnn_tensor *t);
uint64_t gnn_tensor_size(const struct gnn_tensor *t);

#ifdef __cplusplus
}
#endif

#endif
