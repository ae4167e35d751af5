/* SPDX-License-Identifier: Apache-2.0 */
/* A batch: seeds, the nodes sampled round them, and one CSC block per hop and edge type
 * (message-flow graphs in DGL's words).
 *
 * Batches come from a source or a pool and go back by gnn_batch_put; until then the batch owns all
 * that it points to. The view (type, block) points into the batch's tensors. */
#ifndef GNN_LIB_DATA_BATCH_H
#define GNN_LIB_DATA_BATCH_H

#include "lib/data/meta.h"
#include "lib/data/tensors.h"

/* In-edges of destination nodes [first, first+n) of the destination type, as local ids. The sources
 * of destination first+i are indices[indptr[i] .. indptr[i+1]). n = 0 and NULL pointers: nothing
 * sampled. */
struct gnn_block {
    uint32_t first, n;
    uint32_t edges;          /* indptr[n]; 0 if n is */
    const uint32_t *indptr;  /* (n+1), starts at 0 */
    const uint32_t *indices; /* (edges), local ids of the source type */
    const uint64_t *id;      /* edge ids, or NULL */
};

struct gnn_batch_type {
    /* (count[nhops]) store ids: the seeds, then the other nodes in order of first occurrence. No id
     * occurs twice or, with trees or times, no combination of id, tree and time */
    const uint32_t *node;
    /* (count[nhops]) the tree of each node: the position of its seed, or cluster, in the global
     * batch. Both ends of an edge are in the same tree. NULL: no trees */
    const uint32_t *tree;
    /* (count[nhops]) the time that limits the picks of each node: that of its seed or, with
     * GNN_HOP_TIME_EDGE, of the edge that led to it; i64 or f64 (gnn_sampling_time_dtype). NULL: no
     * times */
    const int64_t *time;
    const uint64_t *count; /* (nhops+1) nodes known after hop h; count[0] are the seeds */
    /* (count[nhops-1]) with several ranks: 1 if this rank counts the node in sums over the global
     * batch, where exactly one rank counts each node; or NULL */
    const uint8_t *counted;
    /* (count[0]) how often each seed was drawn, in the host's memory; NULL: once
     * (gnn_sampling_counts_draws) */
    const uint32_t *draws;
    /* (count[nhops]) ids in the unpartitioned store, if they travel beside others; or NULL */
    const uint32_t *orig;
    /* Features in place: the store's tensor of all rows, f32 or bf16, of which node[i] is that of
     * node i; the batch's own tensor of them, if it has one, has no rows then. NULL: they are not
     * in place. */
    const struct gnn_tensor *x;
};

/* The placement of a batch on a device. Its tensors except "key", "counts/T", "draws/T" and those
 * of pairs and negatives, and the arrays of the view that are not these, are in device memory; the
 * scalars of the view (first, n, edges) stay on the host. A stream that reads the batch first waits
 * for `ready`. The reader records `used` on its stream before it returns the batch; the next writer
 * waits for it. */
struct gnn_batch_place {
    unsigned device;
    void *ready, *used; /* events of lib/gpu/dev.h */
    void (*free)(struct gnn_batch_place *p);
};

/* Units of rows that only a batch tells. */
enum gnn_batch_unit { GNN_UNIT_WALKS, GNN_UNIT_PAIRS, GNN_UNIT_NEGATIVES, GNN_BATCH_UNITS };

/*- In a stream a batch is its tensors; the typed part of this struct points into them (gnb(5)):
 *
 *   key        u64 (4)                 epoch, step, split, rank
 *   seeds      u64 (1)                 if it says `clusters` or `links`: how many seeds, or links,
 *                                      of all ranks
 *   nodes/T    u32 (n)                 store ids
 *   tree/T     u32 (n)                 if the header says `disjoint`
 *   time/T     i64 or f64 (n)          if it says `time`
 *   walk       u32 (walks, length+1)   if it says `walks` without a window
 *   pair       u32 (pairs, 2)          if it says `walks` with one; or if it says `links`: the head
 *                                      and the tail of each link
 *   pair/at    u32 (pairs)             if it says `links`, with several ranks: where each is in the
 *                                      global batch
 *   pair/input u64 (pairs)             if it says `links`: where each is among all of them
 *   pair/label f32 (pairs)             if it says `links` with a target, of sets: their labels
 *   negative   u32 (negatives, 2)      if it says `links` with negatives: likewise head and tail
 *   counts/T   u64 (nhops+1)           nodes after the seeds, and after each hop
 *   draws/T    u32 (counts[0])         if it says `seed_weight` or `seed_balance`, and not
 *                                      `disjoint` or `walks`, of split 0 and the seed type
 *   counted/T  u8 (counts[nhops-1])    if asked for, with several ranks: whether this rank counts
 *                                      the node
 *   hop/H/S/R/D/indptr  u32 (m+1)      in-edges of the rows of hop H,
 *   hop/H/S/R/D/indices u32 (e)        their sources,
 *   hop/H/S/R/D/id      u64 (e)        and ids
 *   node/T/id           u32 (n)        by gnn-gather from several parts: original ids, unless
 *                                      nodes/T has them
 *   node/T/<field>                     by gnn-gather: rows of all n nodes; of "y", of the seeds
 *   hop/H/S/R/D/<field>                by gnn-gather: fields of edges
 *
 * The rows of hop H (from 0) are the nodes [0, count[H]) under GNN_FRONTIER_ALL, and [count[H-1],
 * count[H]) (from 0 for H = 0) under GNN_FRONTIER_NEW. Edge types without rows are absent. */
struct gnn_batch {
    /* Up to `type`: cleared, and copied, as a whole. */
    uint64_t epoch, step;
    uint32_t split, rank;
    uint64_t seeds; /* with clusters or links: seeds, or links, of the batch over all ranks */
    uint64_t nth;   /* position among its source's batches, from 0 */
    /* Random walks, which have no blocks. walk: (walks, length + 1) the nodes of each, from a seed
     * on: local numbers, each of the type that the path leads to; after a node without in-edges
     * UINT32_MAX. pair: (pairs, 2), in their place, if the header has a window. */
    const uint32_t *walk, *pair;
    /* With links, pair has their heads and tails: local numbers among the first count[0] nodes of
     * the edge type's source and destination. negative: (negatives, 2) likewise, or NULL. input:
     * (pairs) the position of each link: the id of the edge, or the number of the pair in its file,
     * from 0. */
    const uint32_t *negative;
    const uint32_t *at; /* with several ranks: (pairs) their positions in the global batch */
    const uint64_t *input;
    /* rows: the number of each unit; steps: of all walks, if known */
    uint64_t rows[GNN_BATCH_UNITS], steps;
    struct gnn_batch_type *type; /* [nntypes] */
    struct gnn_block *block;     /* [nhops * netypes], hop-major */
    uint32_t nhops, nntypes, netypes;
    struct gnn_tensors tensors;
    /* NULL: in the host's memory. Kept when the batch is recycled, freed with it */
    struct gnn_batch_place *place;
    struct gnn_batch_pool *pool; /* where gnn_batch_put returns it */
    uint32_t holders;
    struct gnn_batch *next_free;
};

/* Whether there is no negative in place i, as its link has fewer than others: `d` is that of the
 * batch's split. */
static inline bool gnn_batch_lacks(const struct gnn_batch *b, struct gnn_drawn d, uint64_t i)
{
    const uint32_t *in_place = b->negative + 2 * i;
    const uint32_t *link = d.ragged ? b->pair + 2 * (i / gnn_drawn_each(d)) : NULL;
    return link && in_place[0] == link[0] && in_place[1] == link[1];
}

/* Whether this tensor of a batch on a device is in the host's memory nevertheless. */
bool gnn_batch_on_host(const struct gnn_tensor *t);

/* Whether a tensor of a batch holds gathered rows, "node/T/FIELD" or "hop/H/S/R/D/FIELD". All
 * others are its structure, which is used to find memory. */
bool gnn_batch_is_rows(const struct gnn_tensor *t);

/* The features of the node type t, called `name`: in place, the batch's own tensor, or NULL. */
const struct gnn_tensor *gnn_batch_features(const struct gnn_batch *b, uint32_t t,
                                            const char *name);

/* Whether features of some type are in place. */
bool gnn_batch_has_in_place(const struct gnn_batch *b);
/* The node type whose features in place this tensor of the batch, which has no rows, stands for;
 * -1: none. *as: the tensor with a row for each node, without data. */
int gnn_batch_in_place(const struct gnn_batch *b, const struct gnn_tensor *t,
                       struct gnn_tensor *as);
/* Copies features that are in place into these tensors; they are not in place then. Nodes and
 * features of the view may be void. GNN_E_INPUT if a node has no row. */
int gnn_batch_copy_features(struct gnn_batch *b, struct gnn_err *e) GNN_MUST_USE;

/* Batches are recycled through a pool, so a steady stream allocates nothing. Thread-safe. */
struct gnn_batch_pool;
struct gnn_batch_pool *gnn_batch_pool_new(const struct gnn_meta *m, struct gnn_err *e) GNN_MUST_USE;
/* Batches that are still out may be put afterwards, and are freed then. Takes NULL. */
void gnn_batch_pool_free(struct gnn_batch_pool *p);
/* An empty batch with space for the stream's types and hops. */
int gnn_batch_get(struct gnn_batch_pool *p, struct gnn_batch **b, struct gnn_err *e) GNN_MUST_USE;
/* Returns the batch to its pool, and its leased data to their owner. Takes NULL. */
void gnn_batch_put(struct gnn_batch *b);
/* Adds a reference: one more gnn_batch_put is needed. */
void gnn_batch_hold(struct gnn_batch *b);
/* Marks the batch as lying in the host's memory: frees its placement. */
void gnn_batch_unplace(struct gnn_batch *b);

/* Sets the typed view from the tensor set of a frame, after checking all of it: names, dtypes,
 * shapes, the key, prefix counts, monotone indptr, local ids in range, gathered rows, labels; not
 * what lies on a device, which comes from a program of ours and is checked where it is used.
 * GNN_E_INPUT names the tensor. */
int gnn_batch_bind(struct gnn_batch *b, const struct gnn_meta *m, struct gnn_err *e) GNN_MUST_USE;
/* Whether a batch can be what its frame's table says, before any of it is read: its tensors, the
 * data of which are not looked at, are those that the header declares, with as many rows as the
 * header, the schema and the other tensors let them have. GNN_E_INPUT names the tensor. */
int gnn_batch_check_table(const struct gnn_tensors *t, const struct gnn_meta *m,
                          struct gnn_err *e) GNN_MUST_USE;
/* Checks a bound batch against its header: the number of seeds; the blocks of all hops; at most as
 * many picks as the fan-out; walks that begin at the seeds. Of tensors on a device only the shapes
 * are checked. GNN_E_INPUT names the tensor. */
int gnn_batch_check_counts(const struct gnn_batch *b, const struct gnn_meta *m,
                           struct gnn_err *e) GNN_MUST_USE;
/* The dtype, f16 or bf16, of the first gathered field that is f32 in the store (gnn-gather
 * --dtype); 0: no field was narrowed. */
enum gnn_dtype gnn_batch_narrowed(const struct gnn_batch *b, const struct gnn_meta *m);
struct gnn_node_set; /* lib/base/node_set.h */
/* GNN_E_INPUT if a node is twice among those of its type, or of its type, tree and time, in a batch
 * that lies in the host's memory and is bound. */
int gnn_batch_check_nodes(const struct gnn_batch *b, const struct gnn_meta *m,
                          struct gnn_node_set *s, struct gnn_err *e) GNN_MUST_USE;

static inline struct gnn_block *gnn_batch_block(const struct gnn_batch *b, uint32_t hop,
                                                uint32_t et)
{
    return &b->block[(size_t)hop * b->netypes + et];
}
static inline uint64_t gnn_batch_nodes(const struct gnn_batch *b, uint32_t t)
{
    return b->type[t].count ? b->type[t].count[b->nhops] : 0;
}

#endif
