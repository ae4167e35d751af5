/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of arrays (lib/import/read/roles.h). The length of an array never decides whose field it is
 * where its name does. */
#include "lib/import/read/roles.h"

#include <stdio.h>
#include <string.h>

/* Roles of the arrays of scipy.sparse.save_npz, whose names would say little elsewhere. */
static const char *const of_scipy[][2] = {{"indptr", "adj_indptr"}, {"indices", "adj_indices"},
                                          {"data", "adj_data"},     {"shape", "adj_shape"},
                                          {"format", "adj_format"}, {"_is_array", ""}};

void gnn_role_of(const struct gnn_import_opts *o, const char *key, bool scipy,
                 char role[GNN_ROLE_CAPACITY])
{
    const char *name = gnn_src_mapped(o, key), *m = gnn_role_meant(name);
    for (unsigned k = 0; name == key && scipy && k < sizeof of_scipy / sizeof *of_scipy; k++)
        if (!strcmp(key, of_scipy[k][0]))
            m = of_scipy[k][1];
    snprintf(role, GNN_ROLE_CAPACITY, "%s", m);
}

enum gnn_owner gnn_role_owner(const char *role)
{
    if (!strncmp(role, "edge_", 5))
        return GNN_OF_EDGES;
    return !strncmp(role, "node_", 5) || !strcmp(role, "x") || !strcmp(role, "y") ? GNN_OF_NODES
                                                                                  : GNN_OF_ANY;
}

const char *gnn_role_field(const char *role)
{
    static const char *const plain[] = {"edge_x", "edge_weight", "edge_time", "node_time"};
    for (unsigned i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(role, plain[i]))
            return role + 5;
    return role;
}
