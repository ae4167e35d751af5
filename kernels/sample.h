/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbour sampling of one hop along one edge type, and the numbering of the nodes found.
 *
 * The pick rule (kernels/pick.h) decides which neighbours a destination yields: picks depend on the
 * key, the destination's tree and original ids only, of the destination or of its neighbours, so
 * the result does not depend on threads, parts or instruction set.
 *
 * Use: gnn_relabel_begin for each node type and gnn_relabel_add for the seeds; then per hop and
 * edge type gnn_sample_count, capacity for the outputs, gnn_relabel_fit, gnn_sample_pick. All lists
 * of a batch have the same columns. Nothing
 * here allocates. The graph is not trusted: whatever it holds, no byte outside the arrays described
 * is touched. */
#ifndef GNN_KERNELS_SAMPLE_H
#define GNN_KERNELS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/entry.h"
#include "kernels/exclude.h"
#include "kernels/pick.h"
#include "kernels/weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In-edges of the destination nodes [first, first + count). */
struct gnn_sample_part {
    uint64_t first, count;
    const uint64_t *indptr;  /* (count+1) */
    const uint32_t *indices; /* (nedges) source ids */
    uint64_t nedges;
    const uint32_t *orig;       /* (count) original ids, or NULL: the id itself */
    const uint64_t *id;         /* (nedges) edge ids, or NULL: the position */
    struct gnn_pick_edges pick; /* what the rule needs to know of edges */
    /* CUDA only, or NULL: rows whose sources are resident in the device's memory, too: those of
     * node first + i begin at resident[GNN_SAMPLE_RESIDENT * resident_at[i]], unless resident_at[i]
     * is UINT32_MAX. */
    const uint32_t *resident_at; /* (count) */
    const uint32_t *resident;
};
enum { GNN_SAMPLE_RESIDENT = 4 /* sources: 16 bytes */ };

struct gnn_sample_graph {
    const struct gnn_sample_part *part; /* [nparts], ascending by first, without gaps from 0 */
    uint32_t nparts;
    uint64_t nsrc; /* nodes of the source type */
    /* (nsrc) original ids of these, of a rule that compares; or NULL: the id itself */
    const uint32_t *orig;
};

/* A destination's adjacency: written by _count, read by _pick. */
struct gnn_sample_row {
    const uint32_t *base;
    uint32_t degree, orig;
};

/* A row's edges for a rule that is weighted: the edges of part `part` that it looks at, from `base`
 * on; and whether the row begins before. */
struct gnn_sample_span {
    uint32_t span, part : 31, inside : 1;
};

enum gnn_sample_status {
    GNN_SAMPLE_OK = 0,
    GNN_SAMPLE_NODE,    /* destination `node` is in no part */
    GNN_SAMPLE_INDPTR,  /* offsets of `node` in `part` fall or leave the array */
    GNN_SAMPLE_SOURCE,  /* a source of `node` (edge `edge` of `part`) is not below nsrc */
    GNN_SAMPLE_MANY,    /* 2^32 - 1 edges or more in one block */
    GNN_SAMPLE_SEED,    /* CUDA only: number `edge` of a list, `node`, is not below nnodes */
    GNN_SAMPLE_CAPACITY /* CUDA only: too little, `edge` says of what (gnn_cuda_sample_capacity) */
};
struct gnn_sample_place {
    uint64_t node, edge;
    uint32_t part;
};

/* Numbers entries of one node type in order of first occurrence. Where an entry is a node, by a
 * direct map with generation tags in the high bits: no clearing between batches, one memory access
 * per lookup. Where it has other columns, too, by a hash table, which grows with batches. One per
 * thread and node type. */
struct gnn_relabel {
    uint32_t *map;           /* (nnodes), zero before the first use */
    uint64_t nnodes;         /* at most 2^32 - 2 */
    struct gnn_entries list; /* by local number; capacity for one more than will be found */
    uint32_t count;
    uint32_t bits; /* of a local number; the rest is the generation. 0 at first */
    uint32_t gen;
    /* (slots) in map's place, by gnn_relabel_table before the first use; or NULL, and list has no
     * column but the node: generation, some bits of the hash, local number */
    uint64_t *slot, slots;
    uint32_t window, shift; /* kernels/cpu/number.h */
};

/* Starts a batch. */
void gnn_relabel_begin(struct gnn_relabel *r);
/* Makes sure `extra` more entries can be numbered: false if more than 2^31 - 1 locals would be
 * needed, or if a hash table has too few slots. */
bool gnn_relabel_fit(struct gnn_relabel *r, uint64_t extra);
/* Slots of a hash table for n entries, a power of two. */
uint64_t gnn_relabel_slots(uint64_t n);
/* Makes slot[slots], all zero, the hash table, in place of the one before. It is fastest if entries
 * come tree by tree, and these are about so many. */
void gnn_relabel_table(struct gnn_relabel *r, uint64_t *slot, uint64_t slots, uint32_t trees);
/* Numbers n entries whose nodes are below nnodes (checked: returns the first bad index, or n). list
 * needs capacity for count + n + 1. */
uint64_t gnn_relabel_add(struct gnn_relabel *r, struct gnn_entries e, uint64_t n);

/* As gnn_relabel_add, for the sources of a block, indices[indptr[rows]], which have the other
 * columns of their destinations, except the times where `times` is not NULL, as only a hash table
 * can number; local numbers replace them. Sources after a bad one stay. */
uint64_t gnn_relabel_number(struct gnn_relabel *r, struct gnn_entries dst, const int64_t *times,
                            uint32_t rows, const uint32_t *indptr, uint32_t *indices);

/* Leaves of a block, whose indices[indptr[rows]] are sources' ids, the edges that come from entries
 * which are numbered: those with the other columns of their destinations. Local numbers replace
 * them; ids, unless NULL, follow. filter: of all that is numbered, or NULL, which is slower.
 * Returns the first index that is not below nnodes, with which all is undefined, or how many there
 * were. */
uint64_t gnn_relabel_keep(const struct gnn_relabel *r, const uint64_t *filter,
                          struct gnn_entries dst, uint32_t rows, uint32_t *indptr,
                          uint32_t *indices, uint64_t *ids);
/* Makes the filter, word[gnn_relabel_filter_words(r)]: before what comes next is numbered. */
uint64_t gnn_relabel_filter_words(const struct gnn_relabel *r);
void gnn_relabel_filter(const struct gnn_relabel *r, uint64_t *word);

/* One block to be sampled: a hop along one edge type, from whichever destinations. The same for CPU
 * and GPU. */
struct gnn_sample_job {
    struct gnn_sample_graph graph;
    struct gnn_entries dst; /* (n) */
    uint32_t n;             /* on a GPU: at most */
    struct gnn_pick_rule rule;
    const uint32_t *key;        /* (2), as gnn_rng_key makes it */
    uint32_t *indptr;           /* (n + 1), to be written: where the picks of each begin, from 0 */
    void *scratch;              /* gnn_sample_scratch bytes, 64-byte aligned; of any content */
    struct gnn_sample_row *row; /* (n) CPU only: what _count tells _pick */
    struct gnn_sample_span *span; /* (n) the same, of a rule that is weighted; else NULL */
    /* Edges that are not picked, none of which is ineligible for its weight; NULL: none. On a GPU
     * the addresses are those in graph, whichever rows are resident. */
    const struct gnn_excluded *excluded;
    /* Marks (n / 64 + 1) and excluded edges (n) of the destinations that have some, by which _count
     * tells _pick; NULL without. CPU only. */
    struct gnn_skip_marks *mark;
    struct gnn_skip *skip;
    /* (indptr[n]) CPU only, to be written: the times of the picks, as entries have them; NULL: not
     * wanted */
    int64_t *times;
};
uint64_t gnn_sample_scratch(struct gnn_pick_rule rule);

/* How many neighbours of each destination are picked: fills indptr and row. */
enum gnn_sample_status gnn_sample_count(const struct gnn_sample_job *job,
                                        struct gnn_sample_place *bad);

/* Which: writes indices[indptr[n]], local numbers of the source type, numbering new sources in r,
 * or, with r NULL, as it must be where sources have times of their own, the sources' ids; and edge
 * ids if ids is not NULL. r->list needs capacity for r->count + indptr[n] + 1, or nnodes + 1 where
 * that is less and entries are nodes. */
enum gnn_sample_status gnn_sample_pick(const struct gnn_sample_job *job, struct gnn_relabel *r,
                                       uint32_t *indices, uint64_t *ids,
                                       struct gnn_sample_place *bad);

/* Sampling and numbering on a GPU, bit for bit the same. All pointers, also those inside the graph,
 * are to memory that the device can read: its own, or pinned host memory. Sizes that depend on the
 * data are read from device memory, so a whole batch is queued without a look at them; the
 * capacities given bound grids and arrays. Nothing is allocated or waited for.
 *
 * Use: status zeroed; gnn_cuda_begin_batch for each node type; gnn_cuda_relabel_seeds; then per hop
 * and edge type gnn_cuda_sample_block. The counts after each list go where the relabel of that list
 * says; a hop's jobs read those that the hop before it left, so the caller copies them itself for a
 * hop without a list. A hop that finds no nodes is made of gnn_cuda_induce_block. One batch in
 * flight per status and relabel.
 *
 * After a failure every array still holds a valid batch: blocks not yet made have no edges, the
 * block in which it happened has none or only source 0; counts stay as they were. */
enum gnn_cuda_sample_capacity {
    GNN_CUDA_CAPACITY_ROWS,
    GNN_CUDA_CAPACITY_EDGES,
    GNN_CUDA_CAPACITY_NODES,
    GNN_CUDA_CAPACITY_SEEDS,
    GNN_CUDA_CAPACITY_KEPT
};

/* The first failure of a batch, in the order in which the CPU would find it. Zero before each
 * batch. */
struct gnn_cuda_sample_status {
    uint64_t first;  /* of the kernels in flight, bit-inverted: the greatest wins */
    uint32_t ticket; /* blocks of a kernel that are through; 0 between kernels */
    uint32_t code;   /* enum gnn_sample_status */
    uint32_t block;  /* the job's name for itself; 0 for seeds */
    uint32_t unused;
    struct gnn_sample_place at; /* of GNN_SAMPLE_CAPACITY: `node` is what is needed */
};

/* A direct map, as on the CPU, or, for types with many more nodes than a batch has, a hash table:
 * then `key` says whose word of the map it is. Newer batches have smaller tags, so that one atomic
 * minimum both replaces what older batches left and keeps the first position. Entries with columns
 * beside the node have a hash table without keys: the word itself says where the entry is. */
struct gnn_cuda_relabel {
    uint32_t *map;   /* (slots, or nnodes if that is 0), of any content before the first use */
    uint32_t *key;   /* (slots), likewise; NULL if the list has other columns */
    uint32_t slots;  /* gnn_cuda_relabel_slots, or 0: a direct map */
    uint64_t nnodes; /* at most 2^32 - 2 */
    struct gnn_entries list; /* (capacity) by local number */
    uint32_t capacity;
    /* gnn_cuda_relabel_bits, or 32 if the list has other columns; the same in all batches */
    uint32_t bits;
    uint32_t *count; /* nodes numbered */
    uint32_t *tag;   /* zero before the first use, never touched by the caller */
    /* Unlike the above, of one list: once it is numbered, the counts of all types, *count among
     * them, are copied from live to counts, both (ncounts), which may be none. */
    const uint32_t *live;
    uint32_t *counts;
    uint32_t ncounts;
    /* No list of the type follows in this batch: the map need not learn the new nodes of this one.
     */
    bool last;
};
/* Bits of a map's word that tell local numbers below `capacity` and positions in lists of at most
 * `list` apart; 0 if there are not enough in 32. */
uint32_t gnn_cuda_relabel_bits(uint64_t capacity, uint64_t list);
/* Slots of the hash table for batches of at most `capacity` nodes and lists of at most `list` ids,
 * a power of two; 0 if a direct map does not take twice the memory. */
uint32_t gnn_cuda_relabel_slots(uint64_t nnodes, uint64_t capacity, uint64_t list);
/* Slots where the list has other columns; 0 if there would have to be more than 2^31. */
uint32_t gnn_cuda_relabel_table(uint64_t capacity, uint64_t list);

/* Starts a batch: count becomes 0. */
void gnn_cuda_begin_batch(const struct gnn_cuda_relabel *r, struct gnn_cuda_sample_status *status,
                          void *stream);

/* Numbers e[*n], *n <= capacity, with the columns of r->list, in order of first occurrence.
 * scratch: gnn_cuda_relabel_scratch(capacity) bytes. */
uint64_t gnn_cuda_relabel_scratch(uint32_t capacity);
void gnn_cuda_relabel_seeds(const struct gnn_cuda_relabel *r, struct gnn_entries e,
                            const uint32_t *n, uint32_t capacity, void *scratch,
                            struct gnn_cuda_sample_status *status, void *stream);

/* A job of which the device knows how many destinations there are: entries *first to *end - 1 of
 * what.dst (first NULL: from 0), at most what.n. */
struct gnn_cuda_sample_job {
    struct gnn_sample_job what; /* scratch: gnn_cuda_sample_scratch bytes, aligned to 16 */
    const uint32_t *first, *end;
    uint32_t capacity;         /* edges, below 2^32 - 1 */
    uint32_t block;            /* what status calls this job */
    struct gnn_entries source; /* (capacity) the sources, with the columns of r->list */
    uint32_t *indices;         /* (capacity) their local numbers, or NULL: they are not numbered */
    uint64_t *ids;             /* (capacity) edge ids, or NULL */
    uint32_t *edges;           /* how many there are */
    struct gnn_cuda_sample_status *status;
};
/* excludes: jobs have excluded edges. */
uint64_t gnn_cuda_sample_scratch(struct gnn_pick_rule rule, uint32_t rows, uint32_t capacity,
                                 bool excludes);
/* Samples, and numbers the sources in r, or, with r NULL, leaves it at their ids. */
void gnn_cuda_sample_block(const struct gnn_cuda_sample_job *job, const struct gnn_cuda_relabel *r,
                           void *stream);

/* The part of a block that stays: gnn_relabel_keep of its samples, for which no list that r numbers
 * may have been its last. */
struct gnn_cuda_kept {
    uint32_t capacity; /* edges */
    uint32_t *indices; /* (capacity) local numbers */
    uint64_t *ids;     /* (capacity) edge ids, or NULL */
};
/* Samples, and keeps the edges from entries that are numbered in r, which learns nothing; where
 * none can be, r needs no more than nnodes, tag and count. job's arrays need space for what is
 * sampled, of which they hold no more than scratch afterwards, except what.indptr and *edges,
 * which are of what is kept. ids are there in both or in none. Counts are not copied. */
void gnn_cuda_induce_block(const struct gnn_cuda_sample_job *job, const struct gnn_cuda_relabel *r,
                           const struct gnn_cuda_kept *kept, void *stream);

#ifdef __cplusplus
}
#endif

#endif
