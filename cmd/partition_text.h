/* SPDX-License-Identifier: Apache-2.0 */
/* Text and report of gnn-partition. */
#ifndef GNN_CMD_PARTITION_TEXT_H
#define GNN_CMD_PARTITION_TEXT_H

#include "lib/partition/partition.h"

struct partition_figures {
    const char *how;   /* the method, or "file" */
    const char *start; /* of access: the method it starts from */
    bool has_pairs;    /* METIS's undirected graph was built: */
    uint64_t pairs, pairs_cut, volume, metis_peak;
    uint64_t assign_bytes; /* held to find the parts; METIS: the peak of its process */
    uint32_t passes;       /* over the graph, by methods that stream; 0: none */
    struct gnn_even even;  /* what is kept even; balance 0: nothing */
    uint32_t set[GNN_METIS_CONSTRAINTS_MAX]; /* of even */
    uint64_t moves;                          /* of nodes, to keep it so */
    double missed; /* METIS: the largest ratio of its own parts, if that is not kept; else 0 */
    double rows, remote, remote_before,
        remote_metis; /* expected in a step, if the method is access; rows 0: not known;
                         remote_metis negative: METIS could not start */
    double seconds, assign_seconds, metis_seconds, graph_seconds, write_seconds;
};

/* Text on stdout (unless -q), one object to --metrics. fig: one per part. */
void partition_show(const struct partition_figures *f, const struct gnn_layout *l,
                    const struct gnn_part_figures *fig);

#endif
