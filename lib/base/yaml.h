/* SPDX-License-Identifier: Apache-2.0 */
/* YAML text to values of JSON, through libyaml. */
#ifndef GNN_LIB_BASE_YAML_H
#define GNN_LIB_BASE_YAML_H

#include <jansson.h>
#include <stdint.h>

#include "lib/base/err.h"

enum { GNN_YAML_BYTES_MAX = 1 << 20 };

/* Reads the YAML file at `path`: one document, of at most 1 MiB, 100,000 values and a depth of 16.
 * Scalars are strings as they are written, whatever type YAML may give them, except those without
 * quotes that are empty, ~ or null: these are null. NULL and GNN_E_INPUT "PATH: line N: YAML: ..."
 * for what is not well-formed, duplicate keys, keys that are no scalars, aliases (which could make
 * a short text as large as memory) and tags, GNN_E_NOMEM, or GNN_E_RUN: there is no libyaml. */
json_t *gnn_yaml_load(const char *path, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_yaml_load, of n bytes of text, of which messages say that they are at `path`; text without
 * a value is null. */
json_t *gnn_yaml_parse(const char *text, uint64_t n, const char *path,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
