/* SPDX-License-Identifier: Apache-2.0 */
/* The gatherer: a filter that adds rows of fields (features, labels, edge fields) from a store to
 * each batch.
 *
 * It takes over the source below it, also on failure. The store must outlive it. */
#ifndef GNN_LIB_GATHER_GATHERER_H
#define GNN_LIB_GATHER_GATHERER_H

#include "kernels/gather.h"
#include "lib/base/flag.h"
#include "lib/cache/order.h"
#include "lib/comm/comm.h"
#include "lib/gpu/gpu.h"

/* The GPU feature cache: rows of nodes' fields, but labels, that devices hold: those wanted most
 * often, all fields of a node or none. */
struct gnn_gather_cache {
    enum {
        GNN_GATHER_FIT,   /* as many as the free memory of the device holds, less a reserve */
        GNN_GATHER_BYTES, /* 0: none */
        GNN_GATHER_SHARE  /* of the bytes of all rows */
    } size;               /* on each device */
    uint64_t bytes;
    double share;
    enum {
        GNN_GATHER_AUTO,      /* what costs least, given the order */
        GNN_GATHER_REPLICATE, /* each device holds the same rows */
        GNN_GATHER_SHARD      /* devices that read each other's memory hold different ones */
    } policy;
    /* Which first, of all ranks' batches; the scores of a file are the caller's, and read by
     * gnn_gather_source_new only. */
    struct gnn_order order;
};

/* Counts of the rows that devices have read. hits: rows of cacheable fields, those of nodes except
 * labels, by tier. other_rows, other_bytes: rows of edge fields and labels, which are in the host's
 * memory. They grow as the source returns batches. */
struct gnn_gather_stats {
    struct gnn_tier_hits hits;
    uint64_t other_rows, other_bytes;
    uint32_t devices, cliques; /* clique: a group of devices that read each other's memory */
    /* Nodes: whose rows each device of a clique holds; whose rows one of them does (both of the
     * clique that holds the fewest); and all that have rows. */
    uint64_t replicated, sharded, nodes;
    uint64_t cached_bytes; /* on the fullest device */
    /* The worst reason why the GPUs of two ranks do not read each other's memory, and these two
     * ranks; set by gnn_gather_source_new. */
    enum gnn_gpu_apart apart;
    uint32_t apart_rank[2];
};

/* Replicated remote features: copies of rows that other ranks own, of those nodes that this rank's
 * batches want most often; of all node fields but labels. */
struct gnn_gather_replicate {
    double share;         /* of an average rank's rows; 0: none */
    enum gnn_order_by by; /* which first, of this rank's batches; not GNN_ORDER_FILE */
    bool or_halo;         /* GNN_ORDER_HALO, if accesses of these batches are not known */
};

/* The cost of copies: how many this rank holds, and the bytes that it sent to choose them, and to
 * fetch them and give the other ranks theirs. */
struct gnn_gather_copying {
    uint64_t rows, choosing, fetching;
};

struct gnn_gather_opts {
    /* Element type on the wire of features, that is of fields with a width that are f32 in the
     * store: GNN_F32, GNN_F16, GNN_BF16 (round to nearest, ties to even), or 0: as stored.
     * Everything else, and label "y", always travels as stored. */
    enum gnn_dtype dtype;
    /* "x,y,time": of all node types, and of edges when the batches carry edge ids, that have them;
     * NULL: "x,y". "degree" also adds, per relation REL within one node type, "degree.REL" u32: a
     * node's in-edges in the whole graph other than self loops */
    const char *fields;
    /* Compute each added tensor's checksum, in the worker; set if a stream is written. On the CPU
     * only. */
    bool sums;
    unsigned threads; /* 0: on the sampler's threads, if `up` has some, else in the caller's */
    const char *provenance;                /* line for the header, or NULL */
    struct gnn_gather_replicate replicate; /* with several ranks */
    /* with several ranks, or NULL: where the nodes were, whatever fields they have, and the bytes
     * that came from other ranks; outlives the source */
    struct gnn_tier_hits *hits;
    struct gnn_gather_copying *copying; /* filled by gnn_gather_source_new, or NULL */
    /* NULL: on the CPU. Else up's batches lie on its devices and stay there; with several ranks
     * they come from the host, and `threads` ask the other ranks for rows */
    struct gnn_gpu *gpu;
    struct gnn_gather_cache cache; /* with a gpu */
    /* rows are copied from one partition after the other, whose pages then leave the process's
     * memory: of nodes' fields, as stored, without checksums; on the CPU with one rank only */
    bool part_by_part;
    /* Features x stay in place (gnn_batch_type.x) while this is set, where they are f32 or bf16 in
     * a store of one partition that fits into memory: on the CPU with one rank only, and for a
     * reader that the store outlives: one in this process, or one that has the file, too
     * (gnn_writer_opts.in_place). NULL: never */
    const struct gnn_flag *in_place;
    /* With a gpu, whose first device also trains on the batches: leaves space for that. */
    bool beside;
    struct gnn_gather_stats *stats; /* with a gpu, or NULL; outlives the source */
};

/* Whether batches with this header were drawn from the store; GNN_E_INPUT if not. */
int gnn_gather_check(const struct gnn_store *s, const struct gnn_meta *batches,
                     struct gnn_err *e) GNN_MUST_USE;

/* With several ranks, which have opened the store with gnn_store_open_ranks, each gathers for its
 * own batches, all make as many and together, and what a rank does not have comes from the one that
 * has it. */
/* Takes over `up`, also on failure (then returns NULL and fills e). GNN_E_INPUT when up's identity
 * is not the store's or the store is damaged, GNN_E_USAGE for a field that no type has. The store
 * must outlive the source and is checked (gnn_store_verified) before the source ends. ->meta is
 * up's with one more line of provenance. Tensors added: node/T/FIELD (all nodes of the batch; "y"
 * for the seeds only), hop/H/S/R/D/FIELD; and node/T/id, the ids in the unpartitioned store, when
 * the store has several parts and the batches carry store ids. */
struct gnn_source *gnn_gather_source_new(struct gnn_source *up, struct gnn_store *s,
                                         const struct gnn_gather_opts *o,
                                         struct gnn_err *e) GNN_MUST_USE;

#endif
