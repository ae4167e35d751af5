/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the programs that make batch streams: writing them, counting them, ending on a signal.
 */
#ifndef GNN_CMD_BATCHES_H
#define GNN_CMD_BATCHES_H

#include "lib/cache/frequency.h"
#include "lib/data/source.h"

struct batches_opts {
    const char *output;                      /* FILE, "-" or NULL */
    bool count;                              /* write nothing but statistics */
    int zstd;                                /* level, 0: none */
    int transport;                           /* which of TRANSPORT_CHOICE */
    uint64_t total;                          /* batches expected, 0: unknown */
    double started;                          /* gnn_clock() when the program began */
    const char *frequency;                   /* FILE for how many batches had each node, or NULL */
    struct gnn_store *store;                 /* needed for that */
    struct gnn_gpu *gpu;                     /* where the batches lie, or NULL */
    struct gnn_flag *in_place;               /* gnn_writer_opts.in_place, or NULL */
    struct gnn_tier_hits *gathered;          /* where their nodes' rows were, or NULL */
    struct gnn_gather_copying *copying;      /* what copies of remote rows took; with gathered */
    struct gnn_sample_remote_stats *sampled; /* likewise */
    struct gnn_comm *comm;                   /* the ranks: what is counted is the sum over them */
};

/* For the table of options: the first is the default. */
#define TRANSPORT_CHOICE "auto|inline|shm|cuda"
#define TRANSPORT_HELP                                                                             \
    "how large tensors reach the next program: shared memory, the device, or the pipe (default: auto)"
enum { TRANSPORT_AUTO, TRANSPORT_INLINE, TRANSPORT_SHM, TRANSPORT_CUDA };

/* Refuses a transport that the other options make impossible. */
void batches_check(const struct batches_opts *o, const char *device);
/* Draws every batch of src to the output, frees src, reports with -v (with --count: on stdout) and
 * to --metrics. Does not return on failure. */
void batches_run(struct gnn_source *src, const struct batches_opts *o);

#endif
