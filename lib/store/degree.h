/* SPDX-License-Identifier: Apache-2.0 */
/* In-degrees of nodes, which a store does not keep but normalisations need. */
#ifndef GNN_LIB_STORE_DEGREE_H
#define GNN_LIB_STORE_DEGREE_H

#include "lib/store/store.h"

/* *degree: for every node of a relation within one node type, its in-edges in the whole graph other
 * than self loops, by store id; free with gnn_free. GNN_E_INPUT when the adjacency is damaged. */
int gnn_store_degrees(struct gnn_store *s, uint32_t etype, uint32_t **degree,
                      struct gnn_err *e) GNN_MUST_USE;
/* As gnn_store_degrees, with a field of the relation's edges, one floating-point number >= 0:
 * *degree: the sum of the weights of a node's in-edges, self loops left out, plus *loop: the weight
 * of its self loop, of the last one if there are several, 1 if it has none (PyG's
 * add_remaining_self_loops). GNN_E_INPUT names the first edge whose weight is negative or not
 * finite. */
int gnn_store_weights(struct gnn_store *s, uint32_t etype, const char *weight, float **degree,
                      float **loop, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_store_degrees and _weights, of the nodes of one part only, which this rank has open: the
 * caller's memory has a number for each of them. _weights requires an adjacency that has been
 * checked. */
int gnn_store_part_degrees(struct gnn_store *s, uint32_t part, uint32_t etype, uint32_t *degree,
                           struct gnn_err *e) GNN_MUST_USE;
int gnn_store_part_weights(struct gnn_store *s, uint32_t part, uint32_t etype, const char *weight,
                           float *degree, float *loop, struct gnn_err *e) GNN_MUST_USE;

#endif
