/* What gnn-partition prints and reports. */
#ifndef GNN_CMD_PARTITION_TEXT_H
#define GNN_CMD_PARTITION_TEXT_H

#include "lib/partition.h"

struct partition_figures {
    const char *how; /* "metis", "random", "file" */
    bool has_pairs;  /* METIS's undirected graph was built: */
    uint64_t pairs, pairs_cut, volume, metis_peak;
    double seconds, metis_seconds, graph_seconds, write_seconds;
};

/* Text on stdout (unless -q), one object to --metrics. fig: one per part. */
void partition_show(const struct partition_figures *f, const struct gnn_layout *l,
                    const struct gnn_part_figures *fig);

#endif
