/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes, or of columns of labels: a list of n words, each another. */
#ifndef GNN_LIB_DATA_CLASS_NAMES_H
#define GNN_LIB_DATA_CLASS_NAMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

/* A copy, to be freed with _free. GNN_E_INPUT for a name that a node type could not have, and for
 * two that are equal. */
char **gnn_class_names_copy(const char *const *name, uint32_t n, struct gnn_err *e) GNN_MUST_USE;
/* Takes NULL. */
void gnn_class_names_free(char **name, uint32_t n);
/* NULL without memory. */
json_t *gnn_class_names_to_json(char *const *name, uint32_t n);
/* NULL on failure. */
char **gnn_class_names_from_json(const json_t *j, uint32_t n, struct gnn_err *e) GNN_MUST_USE;

#endif
