/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that are links: which there are, what is drawn for them, and the nodes that a batch of them
 * begins with. Not for use outside lib/sample. Nodes are original ids wherever nothing else is
 * said, so that batches do not depend on partitions. */
#ifndef GNN_LIB_SAMPLE_LINKS_H
#define GNN_LIB_SAMPLE_LINKS_H

#include "lib/import/link_text.h"
#include "lib/sample/sample_impl.h"

/* The ends of a link, and where it is looked up in arrays of two. */
enum { LINK_HEAD, LINK_TAIL, LINK_ENDS };
struct link {
    uint32_t end[LINK_ENDS];
};

/* ---- (lib/sample/link_edges.c) the edges of the type, in the order of the unpartitioned store
 * ----
 */

struct link_part {
    const uint64_t *indptr;
    const uint32_t *indices; /* store ids of heads */
    const int64_t *time;     /* of edges, in the bits of a frontier entry's; NULL: there are none */
    uint64_t nedges;
    const void *label; /* the field that edges are labelled by; NULL: they have no labels */
};
/* Read-only once made: any thread. With several ranks, of this rank's parts. */
struct link_edges {
    struct gnn_store *store;
    uint32_t etype, ntype[LINK_ENDS];
    uint64_t nodes[LINK_ENDS];
    bool real;                     /* times are f64 */
    struct link_part *part;        /* [nparts] */
    const uint64_t *first;         /* (tails + 1) the id of each tail's first in-edge */
    uint64_t *own_first;           /* in case of several partitions */
    uint32_t *to_store[LINK_ENDS]; /* store ids by original ones, or NULL: equal */
    uint32_t *to_orig[LINK_ENDS];  /* original ids by store ids, likewise */
};
/* Collective. times: the dtype of the times that the type must be ordered by, or 0. On
 * failure q is to be released, too. */
int gnn_link_edges_init(struct link_edges *q, struct gnn_store *s, uint32_t etype,
                        enum gnn_dtype times, struct gnn_err *e) GNN_MUST_USE;
void gnn_link_edges_release(struct link_edges *q);
/* The link that is edge `id`, and its time unless NULL; ends UINT32_MAX: the edge is another
 * rank's. GNN_E_INPUT names a damaged tensor. */
int gnn_link_edges_at(const struct link_edges *q, uint64_t id, struct link *x, int64_t *time,
                      struct gnn_err *e) GNN_MUST_USE;

/* Where an edge is: *part and *at, its place among the part's edges. False: it is another rank's.
 */
bool gnn_link_edges_find(const struct link_edges *q, uint64_t id, uint32_t *part, uint64_t *at,
                         uint32_t *tail);

/* Whether this rank owns a node; always, if there is one rank. */
bool gnn_link_owns(const struct link_edges *q, unsigned end, uint32_t node);
/* The rank that does. */
uint32_t gnn_link_rank_of(const struct link_edges *q, unsigned end, uint32_t node);

/* ---- (lib/sample/link_list.c) links that are listed ---- */

struct link_list {
    struct gnn_buf links; /* struct link (n); ends UINT32_MAX: another rank's */
    struct gnn_buf times; /* i64 (n), as those of edges; none: there are no times */
    struct gnn_buf label; /* f32 (n); none: there are no labels */
    /* Offsets of lists of candidates, u64 (their number + 1) as gnn_ragged_find gives them; none:
     * it is no such list */
    struct gnn_buf first;
    uint64_t n;
};
/* Reads the file's lines of a head and a tail, in numbers or names, and, if `times` is the dtype of
 * times and not 0, a time; closes fd. x is zeroed, and to be released on failure, too. All ranks
 * read the same links. */
int gnn_link_list_read(struct link_list *x, const struct link_edges *q, int fd, const char *name,
                       enum gnn_link_numbers numbers, enum gnn_dtype times,
                       struct gnn_err *e) GNN_MUST_USE;
/* Likewise, those of a set of the store, which is of links of the type. */
int gnn_link_list_of_set(struct link_list *x, const struct link_edges *q, uint32_t set,
                         struct gnn_err *e) GNN_MUST_USE;
/* All ranks learn each other's links, of which they know their own. Collective. */
int gnn_link_list_gather(struct link_list *x, struct gnn_comm *c, struct gnn_err *e) GNN_MUST_USE;
void gnn_link_list_release(struct link_list *x);
/* The sum of the links and their times, in hex digits, whatever the partitions. */
enum { LINK_SUM = 17 };
void gnn_link_list_sum(const struct link_list *x, char text[LINK_SUM]);

/* ---- (lib/sample/link_labels.c) labels of links, by a field of their edges ---- */

/* Labels of all links of a batch stream, as they are read: over all of them, of all ranks after
 * _finish. */
struct link_labels {
    const struct link_edges *edges;
    const struct gnn_links *links; /* of the header */
    /* Largest numbers: of classes; of the links to learn from, of the last class and, from
     * LINK_CLASSES down, of the first. */
    uint64_t most[3];
};
enum { LINK_CLASSES = 65536 }; /* at most */
/* Labels of a set, which x lists; trained: it is learned from. GNN_E_INPUT names a link whose label
 * is none; GNN_E_USAGE: the set does not have the field. */
int gnn_link_labels_of_set(struct link_labels *l, struct link_list *x, uint32_t set, bool trained,
                           struct gnn_err *e) GNN_MUST_USE;
/* Likewise of all edges of the type, which q has then. */
int gnn_link_labels_of_edges(struct link_labels *l, struct link_edges *q, bool trained,
                             struct gnn_err *e) GNN_MUST_USE;
/* How many classes there are, or 0. Collective. GNN_E_INPUT: only one. */
int gnn_link_labels_finish(struct link_labels *l, uint32_t *classes,
                           struct gnn_err *e) GNN_MUST_USE;
/* The label of edge `id`, which this rank has. */
float gnn_link_label_of(const struct link_edges *q, const struct gnn_links *links, uint64_t id);

/* ---- (lib/sample/link_pairs.c) pairs by the ranks that own an end ---- */

/* Appends to `pairs` those edges, and those of nlinks links, if `both` in both directions, of which
 * this rank owns end `end`: *n of them. Links of other ranks are left out. Collective. */
int gnn_link_ranks_pairs(const struct link_edges *q, unsigned end, const struct link *links,
                         uint64_t nlinks, bool both, struct gnn_buf *pairs, uint64_t *n,
                         struct gnn_err *e) GNN_MUST_USE;

/* ---- (lib/sample/link_rows.c) the edges that strict negatives are not ---- */

/* Sets whose links count beside the edges of the type, in place of one set's number. */
enum { LINK_NO_SET = -1, LINK_ALL_SETS = -2 };
/* The different nodes at the other end of the edges of each node, ascending: of `end`, those of
 * node v are other[first[v]] to other[first[v + 1] - 1]. */
struct link_rows {
    const uint64_t *first; /* (nodes + 1) */
    const uint32_t *other;
    uint64_t nodes, others; /* of the type at this end, and at the other */
    bool same;              /* they are one type */
    void *own[2];           /* with several ranks: first and other, which have this rank's rows */
};
/* Rows by end `end`, of all edges and the links of `set`; where all edges have their reverses, so
 * do these links. They are the store's own where these are so, or those of the other end of a
 * symmetric type; otherwise they are computed, and kept as derived arrays are
 * (lib/store/derived.h), and belong to the store. With several ranks, each computes those of its
 * own nodes; collective. */
int gnn_link_rows_get(const struct link_edges *q, unsigned end, int set, struct link_rows *r,
                      struct gnn_err *e) GNN_MUST_USE;
void gnn_link_rows_release(struct link_rows *r);
/* Whether row v has a node; *at: how many of the row are before it. */
bool gnn_link_rows_find(const struct link_rows *r, uint32_t v, uint32_t node, uint64_t *at);
/* How many nodes are no neighbours of node v, and not v itself; and the one of rank r among them.
 */
uint64_t gnn_link_rows_absent(const struct link_rows *r, uint32_t v);
uint32_t gnn_link_rows_nth(const struct link_rows *r, uint32_t v, uint64_t rank);

/* ---- (lib/sample/link_weights.c) nodes that are drawn by weight ---- */

/* Sums of the weights of the nodes before each, at an end: *sum (nodes + 1), to be freed. Weights
 * are integers, below 2^63 in all: the same on every machine, whatever the partitions. By
 * degree, they are 256 times the power, rounded down; by a field, rounded down to multiples of a
 * power of 2, but none above 0 becomes 0. Collective. GNN_E_INPUT: all are 0, or one is not a
 * finite number of at least 0. */
int gnn_link_weights_get(const struct link_edges *q, const struct gnn_links *l, unsigned end,
                         uint64_t **sum, struct gnn_err *e) GNN_MUST_USE;
/* The weight of all nodes that are no neighbours of node v, and not v itself; and the node that has
 * number r among these weights, or UINT32_MAX: the rows are damaged. */
uint64_t gnn_link_weights_absent(const uint64_t *sum, const struct link_rows *r, uint32_t v);
uint32_t gnn_link_weights_nth(const uint64_t *sum, const struct link_rows *r, uint32_t v,
                              uint64_t rank);

/* ---- (lib/sample/link_times.c) nodes that are not always there ---- */

/* Times from which nodes of an end are there, as numbers that are ordered as times are
 * (gnn_time_order): *there (nodes), to be freed, in any case; NULL: the type has no field `time`.
 * times: the dtype of links' times; GNN_E_USAGE if theirs is another. Collective. */
int gnn_link_times_get(const struct link_edges *q, unsigned end, enum gnn_dtype times,
                       int64_t **there, struct gnn_err *e) GNN_MUST_USE;

/* ---- (lib/sample/link_negatives.c) negatives ---- */

/* Kinds of strict negatives: no link that training may know, and none that is known at all. */
enum link_known { LINK_TRAINED, LINK_EVALUATED, LINK_KNOWN };
struct link_negatives {
    const struct gnn_sampling *m;
    const struct link_edges *edges;
    struct {
        struct link_rows rows[LINK_ENDS]; /* if strict: by the end that is not drawn */
        uint64_t *absent;                 /* (heads + 1) sums, if both ends are drawn; or NULL */
    } known[LINK_KNOWN];
    uint64_t *sum[LINK_ENDS];  /* of weights, if the end is drawn by them; or NULL */
    int64_t *there[LINK_ENDS]; /* from when on nodes are, if the end is drawn at times; or NULL */
    bool real;                 /* times are f64 */
};
/* trained: the set that is known to training beside the edges, or LINK_NO_SET; use: which of the
 * two are drawn. */
int gnn_link_negatives_init(struct link_negatives *x, const struct gnn_sampling *m,
                            const struct link_edges *edges, int trained, const bool use[LINK_KNOWN],
                            struct gnn_err *e) GNN_MUST_USE;
void gnn_link_negatives_release(struct link_negatives *x);
/* Negatives of a batch with n positives, over all ranks: what they depend on. */
struct link_draw {
    enum link_known known;
    struct gnn_drawn drawn;
    uint32_t key[2];
    uint64_t n, many;         /* positives, and negatives */
    const struct link *every; /* (n) the positives, */
    const int64_t *time;      /* (n) and their times; NULL: there are none */
};
/* Negative i of a batch; *x is its positive before. GNN_E_INPUT if a node has edges to all. */
int gnn_link_negative(const struct link_negatives *q, const struct link_draw *d, uint64_t i,
                      struct link *x, struct gnn_err *e) GNN_MUST_USE;
/* The node of negative i at the end whose row strict negatives depend on. */
uint32_t gnn_link_fixed_node(const struct link_negatives *q, const struct link_draw *d, uint64_t i,
                             const struct link *positive);

/* ---- (lib/sample/link_ranks.c) a batch of several ranks ---- */

/* The links of a batch, of which a rank knows its own, and all after gnn_link_ranks_share. */
struct link_batch {
    uint64_t all, n;    /* of all ranks; this rank's */
    struct link *every; /* (all) */
    int64_t *time;      /* (all) theirs; NULL: there are none */
    uint32_t *at;       /* (n) this rank's, ascending; NULL: all are */
    uint32_t *owner;    /* (all) their ranks; or NULL */
};
/* Tells all ranks of this rank's links, and learns theirs. Collective. */
int gnn_link_ranks_share(const struct sample_draw *d, const struct link_edges *q,
                         struct link_batch *b) GNN_MUST_USE;
/* Draws strict negatives, after _share: those of this rank's links, in order. Collective. */
int gnn_link_ranks_negatives(const struct sample_draw *d, const struct link_negatives *x,
                             const struct link_draw *draw, const struct link_batch *b,
                             struct link *negative) GNN_MUST_USE;

/* ---- (lib/sample/link_exclude.c) edges that a batch does not have ---- */

/* Prepares a thread for batches that exclude some, and ends that, in any case. */
int gnn_link_exclude_new(struct sample_worker *w, struct gnn_err *e) GNN_MUST_USE;
void gnn_link_exclude_free(struct sample_worker *w);
/* Finds those that belong to n positives, which have these times, or NULL: d->w->excluded. */
int gnn_link_exclude(const struct link_edges *q, const struct sample_draw *d,
                     const struct link *link, const int64_t *time, uint64_t n) GNN_MUST_USE;

#endif
