/* SPDX-License-Identifier: Apache-2.0 */
/* Names of members of an archive. Private to lib/inspect. */
#ifndef GNN_LIB_INSPECT_MEMBER_NAME_H
#define GNN_LIB_INSPECT_MEMBER_NAME_H

#include "lib/data/schema.h"

enum { GNN_MEMBER_CAPACITY = 3 * GNN_NAME_MAX + 64 };

/* n bytes as one component of a path, written as in a URL: no slash in a name, and no name of dots,
 * leads out of the directory that an archive is unpacked to, and none is a hidden file. `to` has
 * space for 3 * n + 1 bytes. Returns the end, where a NUL is. */
char *gnn_member_put(char *to, const char *name, size_t n);
/* The member for a tensor of a batch or a part: what a slash in its name separates, one in the name
 * of a type does not. c: whose types the name has, or NULL. */
void gnn_member_name(char to[GNN_MEMBER_CAPACITY], const struct gnn_schema *c, const char *name);

#endif
