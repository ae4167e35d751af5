/* SPDX-License-Identifier: Apache-2.0 */
/* Assigning nodes to parts, and rewriting a store by an assignment. Everything here works in
 * original ids (lib/store/view.h), so the result does not depend on how the input store happens to
 * be partitioned. */
#ifndef GNN_LIB_PARTITION_PARTITION_H
#define GNN_LIB_PARTITION_PARTITION_H

#include "lib/store/write.h"
#include "lib/store/view.h"

/* The graph as METIS wants it: undirected (in-edges united with out-edges, over all edge types), no
 * self loops, no parallel edges; every adjacency appears at both ends. */
struct gnn_symgraph {
    uint32_t n;
    int32_t *xadj;   /* (n+1) */
    int32_t *adjncy; /* (xadj[n]) vertices, in order of first appearance */
};
/* 32-bit METIS holds fewer than 2^31 vertices and adjacencies. */
#define GNN_METIS_LIMIT ((uint64_t)1 << 31)
/* GNN_E_INPUT, naming the numbers, if the graph does not stay below `limit` (GNN_METIS_LIMIT; tests
 * pass less). */
int gnn_symgraph_init(struct gnn_symgraph *g, const struct gnn_view *v, uint64_t limit,
                      unsigned threads, struct gnn_err *e) GNN_MUST_USE;
void gnn_symgraph_release(struct gnn_symgraph *g);
/* Undirected edges between parts, and the communication volume: the number of pairs (v, p) such
 * that v is not in part p but has a neighbour there. */
int gnn_symgraph_measure(const struct gnn_symgraph *g, uint32_t k, const uint32_t *part,
                         uint64_t *cut, uint64_t *volume, struct gnn_err *e) GNN_MUST_USE;

enum gnn_objective { GNN_OBJECTIVE_CUT, GNN_OBJECTIVE_VOL };

struct gnn_metis {
    uint32_t k;
    enum gnn_objective objective;
    double imbalance; /* allowed heaviest part / average, e.g. 1.03 */
    uint64_t seed;
    uint32_t ncon;      /* balance constraints; 0: one, every vertex weighs 1 */
    const int32_t *wgt; /* (n, ncon) vertex weights, or NULL */
    /* a part may hold the average rounded up, where that is more than the imbalance */
    bool relaxed;
    /* Replaces the call of METIS in the child (tests); returns METIS's status. */
    int (*call)(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part);
    uint64_t peak;      /* highest resident size of a child in any run so far, bytes */
    double seconds;     /* sum of the time in children */
    double cpu_seconds; /* sum of their processor time */
};
/* METIS_PartGraphKway in a forked child: it can crash, swallow signals or be killed for memory
 * without taking this process along, and it dies with this process. Any such end is GNN_E_RUN (or
 * _NOMEM). k = 1 and k >= n are answered without METIS. part: (g->n), out. */
int gnn_metis_run(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t *part,
                  struct gnn_err *e) GNN_MUST_USE;

/* Would `relaxed` change what a part may hold? */
bool gnn_metis_rounds(const struct gnn_metis *m, const struct gnn_symgraph *g);
/* As gnn_metis_run, in one of several levels: m->k parts in runs of `group`, which divides m->k.
 * With group < m->k, part[v] says on entry in which run v's parts are. */
int gnn_metis_level(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t group,
                    uint32_t *part, struct gnn_err *e) GNN_MUST_USE;
/* In two levels: first m->k / into parts, then each of these in `into`, so that parts i * into up
 * to the next are of the i-th. into divides m->k; each level has half of the imbalance. */
int gnn_metis_two_level(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t into,
                        uint32_t *part, struct gnn_err *e) GNN_MUST_USE;

/* The quantities to keep equal over the parts. */
enum gnn_balance {
    GNN_BALANCE_NODES = 1,
    GNN_BALANCE_EDGES = 2,
    GNN_BALANCE_SETS = 4,
    GNN_BALANCE_TYPES = 8
};
enum { GNN_METIS_CONSTRAINTS_MAX = 15 };
/* The constraints that parts share evenly, GNN_METIS_CONSTRAINTS_MAX at most in all. */
struct gnn_even {
    unsigned balance;     /* of enum gnn_balance */
    const uint32_t *sets; /* [nsets] with GNN_BALANCE_SETS */
    uint32_t nsets;
    /* a part may be so much heavier than the average, or the average rounded up */
    double imbalance;
    /* Sets and types with fewer members than parts do not count; nodes do if nothing else is left.
     */
    bool no_small;
};

/* Vertex weights for METIS into k parts: 1 per node; in-edges per node (what a part stores); 1 per
 * member of each set; 1 per node of each node type. *wgt is (nvertices, *ncon), free with gnn_free;
 * NULL if each vertex weighs 1. GNN_E_USAGE: too many constraints; GNN_E_INPUT: a sum that 32 bits
 * cannot hold. */
int gnn_balance_weights(const struct gnn_view *v, const struct gnn_even *even, uint32_t k,
                        uint32_t *ncon, int32_t **wgt, struct gnn_err *e) GNN_MUST_USE;

enum { GNN_PARTS_MAX = 65536 };

/*- Streaming partitioners. Vertices come one by one, in the order of their ids; each goes to the part
 * p with space that has the best score, which depends on where its neighbours are and on the load
 * of p so far:
 *
 *   LDG     neighbours in p * (1 - load of p / capacity)
 *           Stanton, Kliot: "Streaming graph partitioning for large distributed graphs", KDD 2012
 *   Fennel  neighbours in p - 3/2 * a * sqrt(load of p / average load), where a is the mean number
 *           of neighbours: the marginal cost with gamma = 3/2 and twice the paper's alpha, which
 *           cuts fewer edges on most graphs that we tried
 *           Tsourakakis, Gkantsidis, Radunovic, Vojnovic: "FENNEL: streaming graph partitioning
 *           for massive scale graphs", WSDM 2014
 *
 * Further passes start with empty loads; neighbours that have not come yet in a pass count where
 * the pass before put them (Nishimura, Ugander: "Restreaming graph partitioning", KDD 2013). With
 * several constraints, LDG takes the smallest factor, and Fennel the sum of costs, each in units of
 * the mean weight. After the last pass, vertices move out of parts that are too heavy.
 *
 * Neighbours are in-neighbours, read where the store is mapped. In a graph that is not symmetric a
 * vertex also asks how its out-neighbours voted: when one is placed, it gives its part as a vote to
 * each in-neighbour, and of those one part with a count is kept (the majority vote of Boyer and
 * Moore, 1981), since the vertex came last.
 *
 * Memory: 4 bytes per vertex, which is `part`; 4 more if the graph is not symmetric, a bit per set,
 * and O(k). */
enum gnn_stream_rule { GNN_STREAM_LDG, GNN_STREAM_FENNEL };
struct gnn_stream {
    enum gnn_stream_rule rule;
    /* passes: at most; it ends earlier when hardly any vertex moves, or neither moves nor cut fall
     */
    uint32_t k, passes;
    /* Divides k; above 1: first in so many parts, then each of these in k / nodes. Parts i * k /
     * nodes up to the next are of the i-th. */
    uint32_t nodes;
    struct gnn_even even;
    unsigned threads; /* for looking at the graph before; the stream itself has one */
    /* Called after each pass, if not NULL; if it returns non-zero, the work stops with
     * GNN_E_STOPPED. */
    int (*done)(void *arg, uint32_t pass);
    void *arg;
    uint32_t passes_done; /* out: passes over the graph that placed vertices, over both levels */
    uint64_t moved;       /* out: vertices that the last pass put elsewhere */
    uint64_t bytes;       /* out: memory held, `part` included */
    bool symmetric;       /* out */
};
/* part: (nvertices), out. The same for any number of threads and however the store is partitioned.
 */
int gnn_stream_run(struct gnn_stream *s, const struct gnn_view *v, uint32_t *part,
                   struct gnn_err *e) GNN_MUST_USE;

/* Parts by expected access frequency. A method divides the seeds over the parts; p_r(v) is then the
 * probability that what part r samples for its seeds of a global batch has v (gnn_access_expected).
 * Vertices for which the choice matters most, by the difference of the best p_r and the next, come
 * first; each goes to the part with space that has the highest p_r(v), and where none is higher to
 * the part where it was. Seeds move as well, so p_r is computed again, and the next round begins,
 * as long as fewer rows are remote, three times at most. This starts from the stream as `by` says
 * and from METIS, and the parts with the fewest remote rows are taken, be they those of a start.
 * Memory: 4 k bytes per vertex (k / nodes with two levels, or nodes if that is more) beside the
 * stream's, METIS's and gnn_access_expected's. */
struct gnn_access_parts {
    struct gnn_stream *by;        /* k, nodes, even and threads are those of the parts, too */
    const struct gnn_sampling *m; /* fan-outs, frontier, replace, batch_size (the global batch) */
    uint32_t set;                 /* the seeds, of the schema */
    bool fennel_only;             /* does not start from METIS */
    double rows;              /* out: rows that all parts together ask for in a step, on average */
    double remote;            /* out: of these, from other parts */
    double before;            /* out: the same if vertices had stayed where the stream put them */
    double before_metis;      /* out: or METIS; negative: it did not start */
    bool from_metis;          /* out: the parts come from those of METIS */
    struct gnn_err too_large; /* out: why METIS cannot start from this graph; code 0: it can */
    uint64_t metis_peak;      /* out: of its process */
    uint64_t bytes;           /* out: memory held, without the stream's and gnn_access_expected's */
};
/* part: (nvertices), out. Uses OpenMP's threads; the same for any number of them, and however the
 * store is partitioned. */
int gnn_assign_access(struct gnn_access_parts *a, const struct gnn_view *v, uint32_t *part,
                      struct gnn_err *e) GNN_MUST_USE;

/* Keeps the limits where a method has missed them: moves vertices out of parts that hold more than
 * they may, those first whose move cuts the fewest edges, and into parts that have none, if
 * there are at least k vertices. If nothing is missed, part[] stays as it is. Limits that cannot be
 * kept, because a vertex is heavier than a part may be, or because no single move helps any more,
 * are told in `excess`. Time in proportion to the edges of what is moved and of the parts that it
 * leaves; 13 bytes per vertex while it moves some. One thread. */
struct gnn_repair {
    uint32_t k, nodes; /* as in gnn_stream */
    struct gnn_even even;
    /* whose neighbours count for the cut; NULL: in-neighbours, read where the store is mapped */
    const struct gnn_symgraph *graph;
    uint64_t moves; /* out */
    double excess; /* out: what parts hold above what they may, in units of that, summed; 0: kept */
    double ratio;  /* out: of what is above, the largest / the average; 0: kept */
    uint32_t empty; /* out: parts without vertices */
    uint64_t bytes; /* out: memory held beside `part` */
};
/* part: (nvertices), in and out. */
int gnn_repair_run(struct gnn_repair *o, const struct gnn_view *v, uint32_t *part,
                   struct gnn_err *e) GNN_MUST_USE;
/* Sets excess, ratio and empty; nothing is moved. */
int gnn_repair_judge(struct gnn_repair *o, const struct gnn_view *v, uint32_t *part,
                     struct gnn_err *e) GNN_MUST_USE;

/* METIS, held to the limits: what it misses is repaired, and with several constraints the parts of
 * Fennel are taken if they exceed the limits by less than half as much, or else if they cut less.
 * Parts that METIS makes within the limits stay as they are. */
struct gnn_metis_parts {
    /* k, objective, imbalance, seed, call; out: peak and seconds, of all calls */
    struct gnn_metis m;
    uint32_t nodes;       /* as in gnn_stream */
    struct gnn_even even; /* no_small is set here */
    unsigned threads;     /* for the graph */
    double missed;   /* out: the largest ratio of METIS's parts, if they did not keep it; else 0 */
    uint64_t moves;  /* out: of the repair */
    uint32_t passes; /* out: of Fennel, if its parts were taken; else 0 */
    uint64_t pairs, cut, volume; /* out: undirected edges, and what gnn_symgraph_measure says */
    uint64_t bytes;              /* out: memory held in this process beside the graph */
    double graph_seconds;        /* out */
};
/* part: (nvertices), out. */
int gnn_assign_metis(struct gnn_metis_parts *o, const struct gnn_view *v, uint32_t *part,
                     struct gnn_err *e) GNN_MUST_USE;

/* Equally many nodes of every type in each part (they differ by at most one), drawn by Fisher-Yates
 * with Philox keyed by (seed, node type). part: (nvertices), out. */
void gnn_assign_random(const struct gnn_view *v, uint32_t k, uint64_t seed, uint32_t *part);
/* Reads one part number per line, in vertex order (for a graph of one node type: METIS's .part
 * files). *k 0: takes the highest number + 1, at most GNN_PARTS_MAX. GNN_E_INPUT names the line. fd
 * stays open. */
int gnn_assign_read(const struct gnn_view *v, int fd, const char *name, uint32_t *k, uint32_t *part,
                    struct gnn_err *e) GNN_MUST_USE;

/* Takes the part of each node from a field of integers that all node types have. *k as in _read.
 * GNN_E_USAGE if there is no such field, GNN_E_INPUT names the node. */
int gnn_assign_field(const struct gnn_view *v, const char *field, uint32_t *k, uint32_t *part,
                     struct gnn_err *e) GNN_MUST_USE;

/* Where every node goes. Parts own contiguous ranges of new ids; inside a part the original order
 * holds. */
struct gnn_layout {
    const struct gnn_view *view;
    uint32_t k;
    const uint32_t *part; /* (nvertices), by vertex; not owned */
    uint32_t **to_new;    /* [nntypes] -> original id -> id in the new store */
    uint32_t **order;     /* [nntypes] -> id in the new store -> original id */
    uint64_t **book;      /* [nntypes] -> (k+1) */
    /* Parts get the in-edges of their halo's nodes: for the caller to set after _init. */
    bool halo_edges;
    /* Parts get no edge/.../id: for the caller to set after _init, if no edge type has fields. */
    bool no_edge_ids;
    /* Bytes of the input that all parts take before the next; 0: 32 MiB (tests set less). */
    uint64_t stretch;
};
int gnn_layout_init(struct gnn_layout *l, const struct gnn_view *v, uint32_t k,
                    const uint32_t *part, struct gnn_err *e) GNN_MUST_USE;
void gnn_layout_release(struct gnn_layout *l);

/* Figures of one part, per node type or summed over them. */
struct gnn_part_figures {
    uint64_t halo_edges;              /* in-edges of the halo's nodes, if they are kept */
    uint64_t nodes, edges, halo, cut; /* cut: in-edges whose source another part owns */
    uint64_t *set;                    /* [nsets] members */
    double error; /* of features that became int8, the largest (lib/data/int8_rows.h) */
};
/* Describes the store with features x of nodes in another type: F32, F16, BF16, or I8 with scales.
 * Then it is of another graph, unless they were so. m->graph is set. False: there are no features.
 */
bool gnn_features_convert(struct gnn_meta *m, enum gnn_dtype to);
/* Writes the store of k parts into w (created with schema.nparts = k, not committed; features have
 * the types that its schema says, see gnn_features_convert), reading the
 * input twice for every 64 parts (fewer if there are more than 2^26 nodes). Everything passes
 * through buffers of 64 MiB in all; only ids, and a bit per node and part, are held. fig: [k],
 * zeroed, set pointing to [nsets] each. `done` (may be NULL) is called after each part; if it
 * returns non-zero, the work stops with GNN_E_STOPPED. */
int gnn_layout_write(const struct gnn_layout *l, struct gnn_store_writer *w, unsigned threads,
                     struct gnn_part_figures *fig, int (*done)(void *arg, uint32_t part), void *arg,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
