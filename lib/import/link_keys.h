/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of links in the files of torch.save of the Open Graph Benchmark's link data sets. Not for
 * use outside lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_KEYS_H
#define GNN_LIB_IMPORT_LINK_KEYS_H

#include <stdbool.h>
#include <string.h>

/* Pairs; or heads and tails, of which each is an array. */
#define GNN_LINK_KEY_PAIRS "edge"
#define GNN_LINK_KEY_HEADS "source_node"
#define GNN_LINK_KEY_TAILS "target_node"
/* Negatives: pairs that all links of a set share; tails for each link; and heads for each, in
 * OnDiskDatasets only. */
#define GNN_LINK_KEY_SHARED "edge_neg"
#define GNN_LINK_KEY_EACH "target_node_neg"
#define GNN_LINK_KEY_HEADS_EACH "negative_srcs"
/* Their times. */
#define GNN_LINK_KEY_YEAR "year"
/* Triples of a knowledge graph: heads, relations and tails, each an array. */
#define GNN_LINK_KEY_TRIPLE_HEADS "head"
#define GNN_LINK_KEY_RELATIONS "relation"
#define GNN_LINK_KEY_TRIPLE_TAILS "tail"
/* Their negatives: heads and tails for each. */
#define GNN_LINK_KEY_NEGATIVE_HEADS "head_neg"
#define GNN_LINK_KEY_NEGATIVE_TAILS "tail_neg"

static inline bool gnn_link_key_is_triple(const char *key)
{
    return !strcmp(key, GNN_LINK_KEY_TRIPLE_HEADS) || !strcmp(key, GNN_LINK_KEY_RELATIONS) ||
           !strcmp(key, GNN_LINK_KEY_TRIPLE_TAILS) || !strcmp(key, GNN_LINK_KEY_NEGATIVE_HEADS) ||
           !strcmp(key, GNN_LINK_KEY_NEGATIVE_TAILS);
}

static inline bool gnn_link_key_is(const char *key)
{
    return gnn_link_key_is_triple(key) || !strcmp(key, GNN_LINK_KEY_PAIRS) ||
           !strcmp(key, GNN_LINK_KEY_HEADS) || !strcmp(key, GNN_LINK_KEY_TAILS) ||
           !strcmp(key, GNN_LINK_KEY_SHARED) || !strcmp(key, GNN_LINK_KEY_EACH) ||
           !strcmp(key, GNN_LINK_KEY_YEAR) || !strcmp(key, "weight");
}

#endif
