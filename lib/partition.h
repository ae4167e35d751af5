/* Assigning nodes to parts, and rewriting a store by an assignment. Everything here works in original ids
 * (lib/view.h), so the result does not depend on how the input store happens to be partitioned. */
#ifndef GNN_LIB_PARTITION_H
#define GNN_LIB_PARTITION_H

#include "lib/store_write.h"
#include "lib/view.h"

/* The graph as METIS wants it: undirected (in-edges united with out-edges, over all edge types), no self loops,
 * no parallel edges; every adjacency appears at both ends. */
struct gnn_symgraph {
    uint32_t n;
    int32_t *xadj;   /* (n+1) */
    int32_t *adjncy; /* (xadj[n]) vertices, in order of first appearance */
};
/* 32-bit METIS holds fewer than 2^31 vertices and adjacencies. */
#define GNN_METIS_LIMIT ((uint64_t)1 << 31)
/* GNN_E_INPUT, naming the numbers, if the graph does not stay below `limit` (GNN_METIS_LIMIT; tests pass less). */
int gnn_symgraph_init(struct gnn_symgraph *g, const struct gnn_view *v, uint64_t limit, unsigned threads,
                      struct gnn_err *e) GNN_MUST_USE;
void gnn_symgraph_release(struct gnn_symgraph *g);
/* Undirected edges between parts, and the communication volume: the number of pairs (v, p) such that v is
 * not in part p but has a neighbour there. */
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
    /* Replaces the call of METIS in the child (tests); returns METIS's status. */
    int (*call)(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part);
    uint64_t peak;      /* out: highest resident size of the child, bytes */
    double seconds;     /* out: time in the child */
    double cpu_seconds; /* out: processor time of the child */
};
/* METIS_PartGraphKway in a forked child: it can crash, swallow signals or be killed for memory without taking this
 * process along, and it dies with this process. Any such end is GNN_E_RUN (or _NOMEM). k = 1 and k >= n
 * are answered without METIS. part: (g->n), out. */
int gnn_metis_run(struct gnn_metis *m, const struct gnn_symgraph *g, uint32_t *part,
                  struct gnn_err *e) GNN_MUST_USE;

/* What to keep equal over the parts. */
enum gnn_balance { GNN_BALANCE_NODES = 1, GNN_BALANCE_EDGES = 2, GNN_BALANCE_SETS = 4, GNN_BALANCE_TYPES = 8 };
enum { GNN_METIS_CONSTRAINTS_MAX = 15 };
/* Vertex weights for METIS: 1 per node; in-edges per node (what a part stores); 1 per member of each set in `sets`
 * (indices into schema.set); 1 per node of each node type. *wgt is (nvertices, *ncon), free with
 * gnn_free. GNN_E_USAGE: too many constraints; GNN_E_INPUT: a sum that 32 bits cannot hold. */
int gnn_balance_weights(const struct gnn_view *v, unsigned balance, const uint32_t *sets,
                        uint32_t nsets, uint32_t *ncon, int32_t **wgt,
                        struct gnn_err *e) GNN_MUST_USE;

enum { GNN_PARTS_MAX = 65536 };

/* Equally many nodes of every type in each part (they differ by at most one), drawn by Fisher-Yates with
 * Philox keyed by (seed, node type). part: (nvertices), out. */
void gnn_assign_random(const struct gnn_view *v, uint32_t k, uint64_t seed, uint32_t *part);
/* Reads one part number per line, in vertex order (for a graph of one node type: METIS's .part files). *k 0: takes the
 * highest number + 1, at most GNN_PARTS_MAX. GNN_E_INPUT names the line. fd stays open. */
int gnn_assign_read(const struct gnn_view *v, int fd, const char *name, uint32_t *k, uint32_t *part,
                    struct gnn_err *e) GNN_MUST_USE;

/* Where every node goes. Parts own contiguous ranges of new ids; inside a part the original order holds. */
struct gnn_layout {
    const struct gnn_view *view;
    uint32_t k;
    const uint32_t *part; /* (nvertices), by vertex; borrowed */
    uint32_t **to_new;    /* [nntypes] -> original id -> id in the new store */
    uint32_t **order;     /* [nntypes] -> id in the new store -> original id */
    uint64_t **book;      /* [nntypes] -> (k+1) */
};
int gnn_layout_init(struct gnn_layout *l, const struct gnn_view *v, uint32_t k,
                    const uint32_t *part, struct gnn_err *e) GNN_MUST_USE;
void gnn_layout_release(struct gnn_layout *l);

/* Figures of one part, per node type or summed over them. */
struct gnn_part_figures {
    uint64_t nodes, edges, halo, cut; /* cut: in-edges whose source another part owns */
    uint64_t *set;                    /* [nsets] members */
};
/* Writes the store of k parts into w (created with schema.nparts = k, not committed). Features pass through a
 * buffer of a few MiB per thread; only ids and offsets are held. fig: [k], zeroed, set pointing to [nsets] each. `done`
 * (may be NULL) is called after each part; if it returns non-zero, the work stops with GNN_E_STOPPED. */
int gnn_layout_write(const struct gnn_layout *l, struct gnn_store_writer *w, unsigned threads,
                     struct gnn_part_figures *fig, int (*done)(void *arg, uint32_t part), void *arg,
                     struct gnn_err *e) GNN_MUST_USE;

#endif
