/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors: u64 header length, JSON header, tensor bytes without gaps.
 * Format: huggingface/safetensors README; the reader enforces all of its rules. */
#ifndef GNN_FORMATS_SAFETENSORS_H
#define GNN_FORMATS_SAFETENSORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/tensor.h"

/* A key of the metadata: 32 lowercase hexadecimal digits, XXH3-128 of all bytes of the file, its
 * first eight and the digits themselves included, these as zeros. To other readers it is a text
 * like any other. */
#define GNN_SAFETENSORS_CHECKSUM "gnn_checksum"
#define GNN_SAFETENSORS_NO_DIGITS                                                                  \
    "00000000000000000000000000000000" /* what a writer puts there before gnn_safetensors_sum */

struct gnn_safetensors {
    struct gnn_tensor *tensor; /* in file order; data points into the bytes that were parsed */
    const struct gnn_tensor **by_name; /* the same in the order of their names */
    size_t n;
    json_t *metadata; /* object of strings; NULL if there is none */
    bool summed;      /* it has a checksum, which holds */
    json_t *root;     /* owns the names */
};

/* Parses a whole file in memory. The bytes must outlive *st. Checks the header's length, UTF-8,
 * duplicates, dtypes, shapes, that offsets cover the data without hole or overlap, that the file
 * ends with the last tensor, and the checksum if there is one. Returns 0, or -1 with one line
 * without a newline in why. At most four dimensions are supported. */
int gnn_safetensors_parse(struct gnn_safetensors *st, void *bytes, uint64_t n, char *why,
                          size_t capacity);
void gnn_safetensors_release(struct gnn_safetensors *st);
/* NULL if there is none. */
const struct gnn_tensor *gnn_safetensors_find(const struct gnn_safetensors *st, const char *name);

/* Makes the file's first bytes (length and JSON, padded so that data begins at a multiple of 64);
 * the tensors' bytes follow in the order given. metadata (object of strings, or NULL) is not kept.
 * *out is freed with free(). Returns 0, or -1 when memory is short or a tensor has no safetensors
 * type. */
int gnn_safetensors_header(const struct gnn_tensor *const *t, size_t n, json_t *metadata,
                           char **out, size_t *bytes);
/* Puts the checksum into head, the first bytes of a file with these tensors, if its metadata has
 * capacity for one. */
void gnn_safetensors_sum(char *head, size_t bytes, const struct gnn_tensor *const *t, size_t n);

#endif
