/* SPDX-License-Identifier: Apache-2.0 */
/* The warning about fields of edges that a program does not use. */
#ifndef GNN_CMD_UNUSED_H
#define GNN_CMD_UNUSED_H

#include "lib/data/schema.h"

bool unused_edges_have(const struct gnn_schema *s, const char *field);
/* Prints one line, unless -q is given, if an edge type has one of these fields ("weight time"): it
 * names the fields that exist, and `instead` says what the program does without them. */
void unused_edge_fields(const struct gnn_schema *s, const char *fields, const char *instead);

#endif
