/* SPDX-License-Identifier: Apache-2.0 */
/* The names that arrays are known by (lib/import/read/roles.h). */
#include <string.h>

#include "lib/import/read/roles.h"

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

const char *gnn_role_meant(const char *name)
{
    for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
        if (!strcmp(name, known[k].key))
            return known[k].role;
    return name;
}

uint32_t gnn_role_known(void)
{
    return sizeof known / sizeof *known;
}
