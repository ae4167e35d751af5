/* SPDX-License-Identifier: Apache-2.0 */
/* In-degrees of nodes, which a store does not keep but normalisations need. */
#ifndef GNN_LIB_STORE_DEGREE_H
#define GNN_LIB_STORE_DEGREE_H

#include "lib/store/store.h"

/* *degree: for every node of a relation within one node type, its in-edges in the whole graph other
 * than self loops, by store id; free with gnn_free. GNN_E_INPUT when the adjacency is damaged. */
int gnn_store_degrees(struct gnn_store *s, uint32_t etype, uint32_t **degree,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
