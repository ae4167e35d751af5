/* SPDX-License-Identifier: Apache-2.0 */
/* Text and report of gnn-partition. */
#ifndef GNN_CMD_PARTITION_TEXT_H
#define GNN_CMD_PARTITION_TEXT_H

#include "lib/partition/partition.h"

struct partition_figures {
    const char *how;   /* the method, or "file" */
    const char *start; /* of access: the method it starts from */
    /* Arguments and figures of the methods; zeros for methods that were not called. */
    struct gnn_metis_parts metis;
    struct gnn_stream stream;
    struct gnn_access_parts access;
    struct gnn_repair repair;
    uint64_t assign_bytes; /* held to find the parts; METIS: the peak of its process */
    struct gnn_even even;  /* what is kept even; balance 0: nothing */
    uint32_t set[GNN_METIS_CONSTRAINTS_MAX]; /* of even */
    double seconds, assign_seconds, write_seconds;
};

/* Text on stdout (unless -q), one object to --metrics. fig: one per part. */
void partition_show(const struct partition_figures *f, const struct gnn_layout *l,
                    const struct gnn_part_figures *fig);

#endif
