/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text to and from jansson, without the two ways in which jansson loses data when memory runs
 * out. */
#ifndef GNN_LIB_BASE_JSON_H
#define GNN_LIB_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/err.h"

/* The text of j; free with gnn_free. (json_dumps drops keys when its buffer cannot grow.) A NULL j
 * is out of memory. */
char *gnn_json_text(const json_t *j, size_t flags, struct gnn_err *e) GNN_MUST_USE;
/* Parses n bytes; duplicate keys are refused. NULL and GNN_E_INPUT "WHAT: JSON: ..." or GNN_E_NOMEM
 * on failure. (The parser drops characters when its buffer cannot grow.) Thread-safe. */
json_t *gnn_json_parse(const char *text, size_t n, const char *what,
                       struct gnn_err *e) GNN_MUST_USE;

/* Where a and b differ first, with what stands there: "'sampling.fanout[1][0]' is 10, here 5"; free
 * with gnn_free. NULL if they are equal, or on failure. */
char *gnn_json_difference(json_t *a, json_t *b, struct gnn_err *e) GNN_MUST_USE;

/* For calls of jansson elsewhere: whether an allocation by jansson failed in this thread since
 * gnn_json_watch. */
void gnn_json_watch(void);
bool gnn_json_starved(void);

#endif
