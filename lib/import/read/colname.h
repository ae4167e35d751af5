/* SPDX-License-Identifier: Apache-2.0 */
/* Names of columns. They count in any case, whatever stands between their letters and digits. */
#ifndef GNN_LIB_IMPORT_COLNAME_H
#define GNN_LIB_IMPORT_COLNAME_H

#include <stdbool.h>
#include <stddef.h>

/* Names of both ends are in pairs, the first of which may be mixed. */
enum { GNN_COLNAME_MIXED = 7, GNN_COLNAME_PAIRS = 31, GNN_COLNAME_CAPACITY = 128 };

/* The length of a column's name without the type that Neo4j's headers have behind it, "age:int". */
size_t gnn_colname_neo4j(const char *name, size_t len);
/* A name of len bytes as names are compared, its letters and digits in lower case, cut short; how
 * many there are. Of Neo4j's ":START_ID(Group)", those of START_ID. */
size_t gnn_colname_plain(const char *name, size_t len, char plain[GNN_COLNAME_CAPACITY]);

/* The columns of a row by the pairs in which their names are; filled with -1 at first. */
struct gnn_colname_ends {
    int source[GNN_COLNAME_PAIRS], target[GNN_COLNAME_PAIRS];
};
/* Takes note of a column's name. Of two columns of one name the last noted one counts. */
void gnn_colname_note(struct gnn_colname_ends *ends, const char *name, int column);
/* The columns of the two ends of an edge: the pair that is first in the lists, or the first two;
 * false: there are none. */
bool gnn_colname_choose(const struct gnn_colname_ends *ends, int *source, int *target);
/* Whether a line of n bytes, whatever separates its fields, names both ends, as a header does. */
bool gnn_colname_header(const char *line, size_t n);
/* The pair in which a name is that of sources (end 0) or targets (1); -1: in none. */
int gnn_colname_end(const char *name, int end);
bool gnn_colname_relation(const char *name);
/* Whether it is the name of a node type, of len bytes, or of its ids: userId of user. */
bool gnn_colname_of_type(const char *name, const char *type, size_t len);
/* Whether a column has no name: none at all, or pandas' "Unnamed: 0". */
bool gnn_colname_none(const char *name);

#endif
