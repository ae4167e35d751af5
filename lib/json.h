/* Parsing JSON with errors told apart: bad text, or no memory. */
#ifndef GNN_LIB_JSON_H
#define GNN_LIB_JSON_H

#include <jansson.h>

#include "lib/err.h"

/* Duplicate keys are errors. NULL on failure: GNN_E_INPUT with the parser's words, or GNN_E_NOMEM. Thread-safe. */
json_t *gnn_json_parse(const char *text, size_t n, struct gnn_err *e) GNN_MUST_USE;

#endif
