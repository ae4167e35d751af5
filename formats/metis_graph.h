/* SPDX-License-Identifier: Apache-2.0 */
/* The graph files of METIS 5 (its manual, section 4.1.1): the header line. */
#ifndef GNN_FORMATS_METIS_GRAPH_H
#define GNN_FORMATS_METIS_GRAPH_H

#include "formats/text.h"

struct gnn_metis_head {
    uint64_t n, m;     /* vertices; undirected edges, each of which is listed twice */
    bool sizes;        /* a vertex line begins with the vertex's size */
    uint32_t ncon;     /* then this many weights */
    bool edge_weights; /* each neighbour is followed by the edge's weight */
};

/* Takes a line that ends in '\n'; returns NULL or what is wrong with it. */
const char *gnn_metis_parse(struct gnn_metis_head *h, const char *line);

#endif
