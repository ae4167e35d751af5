/* SPDX-License-Identifier: Apache-2.0 */
/* What columns of tables of edges are called. Names count in any case, whatever stands between
 * their letters and digits. */
#ifndef GNN_LIB_IMPORT_COLNAME_H
#define GNN_LIB_IMPORT_COLNAME_H

#include <stdbool.h>
#include <stddef.h>

/* Names of both ends are in pairs, the first of which may be mixed. */
enum { GNN_COLNAME_MIXED = 7, GNN_COLNAME_PAIRS = 31 };

/* The pair in which a name is that of sources (end 0) or targets (1); -1: in none. */
int gnn_colname_end(const char *name, int end);
bool gnn_colname_relation(const char *name);
/* Whether it is the name of a node type, of len bytes, or of its ids: userId of user. */
bool gnn_colname_of_type(const char *name, const char *type, size_t len);
/* Whether a column has no name: none at all, or pandas' "Unnamed: 0". */
bool gnn_colname_none(const char *name);

#endif
