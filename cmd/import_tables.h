/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-import --tables: the options of several tables, in a file. */
#ifndef GNN_CMD_IMPORT_TABLES_H
#define GNN_CMD_IMPORT_TABLES_H

#include "cmd/opt.h"

/* A member of the file: {"TYPE": "FILE", ...} adds TYPE=FILE to the option's list. */
struct import_member {
    const char *name; /* "nodes" */
    struct opt_list *list;
    bool files; /* values begin with a file, whose name is relative to the directory of --tables */
};

/* Adds what the file says to the lists of n members. Ends the program with status 3 if it is not
 * JSON as above, or has other members. */
void import_tables(const char *path, const struct import_member *member, unsigned n);

#endif
