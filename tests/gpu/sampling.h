/* SPDX-License-Identifier: Apache-2.0 */
/* Whole batches drawn from random typed graphs, by the CPU's functions and by the device's. */
#ifndef GNN_TESTS_GPU_SAMPLING_H
#define GNN_TESTS_GPU_SAMPLING_H

#include "gpu/on_device.h"
#include "kernels/sample.h"

enum { TYPES = 2, RELATIONS = 3, HOPS = 3, PARTS = 4, BLOCKS = HOPS * RELATIONS };

/* ---- graphs ---- */

/* What sizes of graphs are multiplied with: not more than makes lists of several tiles. */
uint32_t graph_scale(void);

/* In-edges along one edge type, in parts: arrays of the case, but indices, which are the CPU's. */
struct relation {
    uint32_t src, dst;
    struct gnn_sample_graph graph;
    struct gnn_sample_part part[PARTS];
    uint64_t held[PARTS]; /* edges that are there, whatever the offsets say */
};
struct world {
    uint32_t ntypes, nrelations;
    uint64_t nodes[TYPES];
    struct relation relation[RELATIONS];
};

/* What edges have besides: ids in most parts, original ids of nodes in most parts, weights, of
 * which a third is 0 in some parts, and times, ascending in each row, whole or real. */
enum { EDGE_IDS = 1, ORIGINAL_IDS = 2, WEIGHTS = 4, EDGE_TIMES = 8, REAL_TIMES = 16 };
/* Adds an edge type: degree(i) in-edges of node i; parts of uneven size, the last but one empty. */
struct relation *add_relation(struct world *w, uint32_t src, uint32_t dst, uint32_t nparts,
                              unsigned with, uint32_t (*degree)(uint64_t i));
/* Degrees: some; always this; from this on. */
uint32_t some_degree(uint64_t i);
extern uint32_t the_degree;
uint32_t same_degree(uint64_t i);
uint32_t near_degree(uint64_t i);
/* A graph of one node type; and of two by three edge types, the second type without seeds. */
struct world one_type(uint64_t nodes, uint32_t nparts, unsigned with);
struct world two_types(uint32_t nparts, unsigned with);

/* ---- batches ---- */

/* Columns of entries beside the node: of seed i, tree i, and one of some times. */
enum { TREES = 1, TIMES = 2 };

struct plan {
    uint32_t hops;
    int32_t fanout[HOPS][RELATIONS];
    struct gnn_pick_rule rule; /* but for the fan-out */
    bool only_new;             /* frontier policy */
    bool ids;
    bool induced; /* the last hop, whose fan-outs are all or none, finds no nodes */
    unsigned columns;
    uint32_t bits; /* of a word of the map; 0: as few as will do */
};

/* A batch of the CPU's, up to where it failed. */
struct drawn {
    struct gnn_entries list[TYPES];
    uint64_t capacity[TYPES];
    uint32_t counts[HOPS + 1][TYPES];
    struct drawn_block {
        uint32_t rows, sampled, edges; /* sampled: of which a hop that induces keeps some */
        uint32_t *indptr, *indices;
        uint64_t *ids;
    } block[BLOCKS];
    uint32_t code, bad_block;
    struct gnn_sample_place bad;
};

/* Space for what the device writes. */
struct capacity {
    uint32_t nodes[TYPES], rows[BLOCKS], edges[BLOCKS], kept[BLOCKS], seeds;
};

/* Batches of some seeds, drawn by the CPU, and exactly the space that they need together. */
enum { BATCHES = 10 };
struct trial {
    const struct world *w;
    /* Of each edge type, as the device has them: every third row is resident, too. */
    struct gnn_sample_part view[RELATIONS][PARTS];
    struct plan p;
    unsigned batches;
    uint32_t *seed[BATCHES], nseeds;
    struct drawn want[BATCHES];
    struct capacity capacity;
};
/* nseeds random seeds a batch, after those of `always`. */
void draw_here(struct trial *t, const struct world *w, const struct plan *p, unsigned batches,
               uint32_t nseeds, const uint32_t *always, uint32_t nalways);

struct gnn_pick_rule rule_of(const struct plan *p, uint32_t hop, uint32_t relation);
bool induces(const struct plan *p, uint32_t hop);
void key_of(uint32_t step, uint32_t hop, uint32_t relation, uint32_t key[2]);
struct gnn_entries seeds_of(const struct trial *t, unsigned b);

/* ---- on the device, in a run ---- */

struct sampler;
/* A sampler that keeps what it needs from batch to batch; maps of nodes, or hash tables. */
struct sampler *sampler_of(const struct trial *t, const struct capacity *capacity, bool hash);
/* Draws batch b, and looks at all that it wrote. */
void draw_there(struct sampler *s, unsigned b);
/* Notes how it is not batch b of the CPU's: the same bytes, or the same failure. */
void expect_drawn(const struct sampler *s, unsigned b);
/* The blocks of batch b once more, each by itself, with sources that are not numbered: the same, up
 * to a failure. */
void expect_blocks(struct sampler *s, unsigned b);
/* A batch of the seed 0 alone. */
void draw_small(struct sampler *s);
/* What came of the last batch; and notes if not all arrays are valid, as after a failure, too. */
const struct gnn_cuda_sample_status *outcome(const struct sampler *s);
void expect_sound(const struct sampler *s, unsigned b);

/* All of it, and the end of the case: maps and hash tables by turns, blocks by themselves. */
void sampled(const struct world *w, const struct plan *p, unsigned batches, uint32_t nseeds,
             const uint32_t *always, uint32_t nalways);

#endif
