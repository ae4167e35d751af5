/* SPDX-License-Identifier: Apache-2.0 */
/* A graph in a store, opened for reading: its types, sets and tensors by name.
 *
 * Example: nodes and edges of each type.
 *     int print_types(const char *path)
 *     {
 *         struct gnn_graph *g = gnn_graph_open(path, NULL);
 *         const char *name;
 *         for (uint32_t i = 0; g && (name = gnn_graph_node_type(g, i)); i++)
 *             printf("%s: %llu nodes\n", name, (unsigned long long)gnn_graph_count(g, name));
 *         for (uint32_t i = 0; g && (name = gnn_graph_edge_type(g, i)); i++)
 *             printf("%s: %llu edges\n", name, (unsigned long long)gnn_graph_count(g, name));
 *         gnn_graph_close(g);
 *         return g ? 0 : gnn_error_status();
 *     }
 */
#ifndef GNN_LIB_API_GRAPH_H
#define GNN_LIB_API_GRAPH_H

#include "lib/api/gnn.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gnn_graph;

/* Opens a store, whose files are mapped and stay as they are. Options: verify (default) or
 * no-verify, whether a thread checks the checksums of what is used. Of a store larger than memory,
 * tensors of 64 MiB or more are not checked, unless verify is given: then all are, before it
 * returns. NULL on failure: GNN_E_INPUT for what is damaged or no store. Whatever is made from a
 * graph is freed before it is closed. _close takes NULL. */
struct gnn_graph *gnn_graph_open(const char *path, const char *const options[]);
void gnn_graph_close(struct gnn_graph *g);
/* Waits until all that has been used so far is verified: GNN_E_INPUT names what is damaged,
 * GNN_E_USAGE says that the graph was opened with no-verify. */
int gnn_graph_check(struct gnn_graph *g);

/* The name of node type, edge type or set number i, from 0; NULL after the last. Edge types are
 * "SRC/REL/DST", sets "SPLIT/SET". Lives until this thread's next call of the same function. */
const char *gnn_graph_node_type(const struct gnn_graph *g, uint32_t i);
const char *gnn_graph_edge_type(const struct gnn_graph *g, uint32_t i);
const char *gnn_graph_set(const struct gnn_graph *g, uint32_t i);
/* How many nodes, edges or members it has, looked for in this order; 0 if there is none of that
 * name. A set is "SET", too: that of the first split that has it. */
uint64_t gnn_graph_count(const struct gnn_graph *g, const char *name);

/* The number of partitions, and a tensor of one of them: "node/T/x", "edge/S/R/D/indptr", ... as
 * gnb(5) lists them; NULL if there is none. _tensor_name is the name of number i, from 0; NULL
 * after the last. All of these live as long as the graph. */
uint32_t gnn_graph_parts(const struct gnn_graph *g);
const struct gnn_tensor *gnn_graph_tensor(struct gnn_graph *g, uint32_t part, const char *name);
const char *gnn_graph_tensor_name(const struct gnn_graph *g, uint32_t part, uint32_t i);

#ifdef __cplusplus
}
#endif

#endif
