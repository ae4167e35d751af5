/* Fields of edges that a user may expect to matter, and that do not. */
#ifndef GNN_CMD_UNUSED_H
#define GNN_CMD_UNUSED_H

#include "lib/schema.h"

/* One line, unless -q is given, if edges have one of these fields ("weight time"): which, and what is done without them. */
void unused_edge_fields(const struct gnn_schema *s, const char *fields, const char *instead);

#endif
