/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of arrays (lib/import/read/roles.h). The length of an array never decides whose field it is
 * where its name does. */
#include "lib/import/read/roles.h"

#include <stdio.h>
#include <string.h>

/* Names under which arrays are found, and what they are. */
static const struct {
    const char *key, *role;
} known[] = {
    {"x", "x"},
    {"node_features", "x"},
    {"node_feat", "x"},
    {"features", "x"},
    {"feat", "x"},
    {"attr_matrix", "x"},
    {"y", "y"},
    {"node_labels", "y"},
    {"node_label", "y"},
    {"labels", "y"},
    {"label", "y"},
    {"edges", "edges"},
    {"edge_index", "edge_index"},
    {"edge_list", "edges"},
    {"src", "src"},
    {"row", "src"},
    {"edge_src", "src"},
    {"dst", "dst"},
    {"col", "dst"},
    {"edge_dst", "dst"},
    {"edge_attr", "edge_x"},
    {"edge_feat", "edge_x"},
    {"edge_features", "edge_x"},
    {"weight", "edge_weight"},
    {"num_nodes", "num_nodes"},
    {"num_nodes_list", "num_nodes"},
    {"num_edges", "num_edges"},
    {"num_edges_list", "num_edges"},
    {"train_mask", "train_mask"},
    {"train_masks", "train_mask"},
    {"val_mask", "valid_mask"},
    {"val_masks", "valid_mask"},
    {"valid_mask", "valid_mask"},
    {"valid_masks", "valid_mask"},
    {"test_mask", "test_mask"},
    {"test_masks", "test_mask"},
    {"train_idx", "train_ids"},
    {"val_idx", "valid_ids"},
    {"valid_idx", "valid_ids"},
    {"test_idx", "test_ids"},
};

/* The same for a matrix of scipy.sparse.save_npz, whose names would say little elsewhere. */
static const char *const of_scipy[][2] = {{"indptr", "adj_indptr"}, {"indices", "adj_indices"},
                                          {"data", "adj_data"},     {"shape", "adj_shape"},
                                          {"format", "adj_format"}, {"_is_array", ""}};

const char *gnn_role_meant(const char *name)
{
    for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(name, known[k].key))
            return known[k].role;
    return name;
}

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

uint32_t gnn_role_known(void)
{
    return sizeof known / sizeof *known;
}
