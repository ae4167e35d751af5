/* SPDX-License-Identifier: Apache-2.0 */
/* One level of streaming, for those that put levels together. Not for use outside lib/partition. */
#ifndef GNN_LIB_PARTITION_STREAMING_H
#define GNN_LIB_PARTITION_STREAMING_H

#include "lib/partition/partition.h"

/* How often edges go each way, counting only edges inside runs of parts. */
struct gnn_stream_graph {
    uint64_t edges; /* without self loops */
    bool symmetric; /* every edge as often as its reverse (an accident has probability 2^-64) */
};

/* The imbalance of the first of two levels: half of the excess that is allowed in the end. */
static inline double gnn_stream_half(double imbalance)
{
    return 1 + (imbalance - 1) / 2;
}
/* k parts in runs of `group`: with group < k, part[v] says on entry in which run v's parts are.
 * finer: into how many each part will be split later. */
int gnn_stream_level(struct gnn_stream *s, const struct gnn_view *v, uint32_t k, uint32_t group,
                     uint32_t finer, uint32_t *part, struct gnn_err *e) GNN_MUST_USE;

#endif
