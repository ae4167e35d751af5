/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON in a HEADER frame: schema, store identity, how the batches were drawn, provenance.
 *
 * A meta owns all that it points to. The metas of stores and sources (s.meta, src->meta) belong to
 * them. */
#ifndef GNN_LIB_DATA_META_H
#define GNN_LIB_DATA_META_H

#include <math.h>

#include "formats/gnb.h"
#include "kernels/pick.h"
#include "lib/data/schema.h"

enum {
    GNN_META_MAX = 8 << 20, /* bytes of the JSON: parsed, it takes a hundred times as much */
    GNN_HOPS_MAX = 64,      /* of a batch */
    GNN_SPLITS_MAX = 64     /* sets of which a stream has batches */
};

enum gnn_frontier { GNN_FRONTIER_ALL, GNN_FRONTIER_NEW };

enum { GNN_WALK_MAX = 65535 };
#define GNN_NODE2VEC_MAX 100.0
/* Whether node2vec can have this p or q. */
static inline bool gnn_node2vec_takes(double x)
{
    return x >= 1.0 / GNN_NODE2VEC_MAX && x <= GNN_NODE2VEC_MAX;
}
/* Random walks in place of neighbourhoods. A step goes from a node to the source of one of its
 * in-edges, which is picked as with replacement. Step s, from 0, is along the edge types of hop s
 * modulo nhops: one type, whose fan-out is 1. */
struct gnn_walks {
    uint32_t length;   /* steps; 0: no walks */
    uint32_t per_seed; /* at least 1 */
    double restart;    /* probability, in each step but the first, that it leads back to the seed */
    /* node2vec's, from 1/GNN_NODE2VEC_MAX to GNN_NODE2VEC_MAX; 1, 1: steps do not depend on the
     * steps before them */
    double p, q;
    uint32_t window; /* pairs of nodes at most this many steps apart, in place of walks; 0: walks */
};

/* Seeds that are links: edges of one type, or pairs of nodes that could be edges of it. A link has
 * a head, the source, and a tail, the destination. A batch begins with both ends of its links, the
 * positives, and of the negatives, which are drawn for it. */
enum gnn_negatives {
    GNN_NEGATIVES_NONE,
    GNN_NEGATIVES_BINARY, /* `amount` for each positive of the global batch, rounded up */
    /* `amount`, a whole number, for each positive, one after the other: */
    GNN_NEGATIVES_TRIPLET,
    GNN_NEGATIVES_JOINT,    /* the same nodes for `group` positives that follow one another, */
    GNN_NEGATIVES_IN_BATCH, /* those of as many positives that follow in the batch, cyclically */
    GNN_NEGATIVES_GIVEN     /* those of the store, which are of one of the first two kinds */
};
enum { GNN_NEGATIVES_MAX = 65536 }; /* for each positive */
/* The name of the one split of batches whose links are all edges of the type. */
#define GNN_ALL_LINKS "edges"
enum gnn_negative_end { GNN_NEGATIVE_TAIL, GNN_NEGATIVE_HEAD, GNN_NEGATIVE_BOTH };
/* Which edges the batch does not have, along which no neighbours are picked either: along the
 * links' type, those from the head to the tail of a positive; and those from its tail to its head,
 * along that type and the reverse of it. With a time rule, only those of its time. */
enum { GNN_EXCLUDE_MAX = 1 << 27 }; /* links of a batch */
enum gnn_exclude { GNN_EXCLUDE_NONE, GNN_EXCLUDE_SELF, GNN_EXCLUDE_REVERSE };
/* The sets that batches are of: the one that is trained on, split 0, and those that are evaluated.
 */
enum gnn_link_use { GNN_LINKS_TRAINED, GNN_LINKS_EVALUATED, GNN_LINK_USES };
/* Negatives of a set's links: their kind, and how many. */
struct gnn_drawn {
    enum gnn_negatives kind;
    double amount;
    /* Given ones of kind BINARY: how many there are in all, which the set's links share evenly, and
     * the number of these; else 0. */
    uint64_t total, links;
    uint32_t group; /* of joint negatives; 0: all of the batch */
    /* Given ones of kind TRIPLET: a link can have fewer than `amount`, and in place of those that
     * it does not have, itself */
    bool ragged;
};
/* The given negatives of a set. */
struct gnn_given_negatives {
    struct gnn_drawn drawn; /* kind NONE: they are drawn */
    char sum[17];           /* hash (XXH3) that tells them from others */
};
/* How nodes of an end are weighed: by degree, quarters = 4 P; by the field whose name is the n
 * characters of gnn_links.weight from `at` on; or, as all is 0, not. */
struct gnn_link_weight {
    uint32_t quarters;
    size_t at, n;
};
struct gnn_links {
    const char *type; /* the edge type, "S/R/D"; NULL: seeds are nodes */
    /* "binary:A", "triplet:K", "joint:K", "joint:K:C", "in-batch:K" or "given"; NULL: none */
    const char *negatives;
    const char *eval_negatives; /* likewise, of evaluated sets; NULL: the same */
    /* The ends that are drawn; a negative has the others of a positive. */
    enum gnn_negative_end end;
    /* "degree" or "degree:P": nodes are drawn in proportion to the number of edges of the type that
     * they are this end of, or to its power P; else a field of nodes; NULL: uniformly. If both ends
     * are drawn, also "HEADS,TAILS", each a weight or "uniform". */
    const char *weight;
    bool strict; /* no negative is an edge, or a link of the training set (evaluated: any set) */
    enum gnn_exclude exclude;
    /* Links of a file are told from others by this sum of XXH3, 16 hex digits; NULL: sets. */
    const char *sum;
    /* The field of their edges that links are labelled by, "FIELD" or "FIELD>NUMBER", whether it is
     * above the number; NULL: they have no labels. */
    const char *target;
    uint32_t classes; /* of the labels; 0: these are numbers, or there are none */

    /* ---- members that follow from these ---- */
    uint32_t etype;
    uint32_t reverse; /* the type with the reverses of its edges; or, if there is none, itself */
    uint32_t field;   /* of the type, which the target names */
    bool divided;     /* labels are 1 above `above`, else 0 */
    double above;
    struct gnn_drawn drawn[GNN_LINK_USES];
    struct gnn_link_weight by[2]; /* of heads and tails */
    /* Edges of these types are ordered by effective_time, which a link and its reverse need not
     * share: those of any time are excluded. */
    bool any_time;
};

/* The time of the entry that an edge leads to: the time of the entry it was picked for, or of the
 * edge. */
enum gnn_hop_time { GNN_HOP_TIME_SEED, GNN_HOP_TIME_EDGE };

/* The recipe of a batch stream; part of its HEADER. The members that a user chooses come first:
 * each of them has a line in lib/data/sampling_list.c, with its option, its default and its place
 * in the header. The others follow from these for a graph (gnn_sampling_bind). */
struct gnn_sampling {
    uint64_t seed;
    uint32_t batch_size; /* seeds of a global batch, at least 1 */
    enum gnn_frontier frontier;
    bool replace, shuffle, drop_last, edge_ids;
    bool original_ids; /* node ids in batches are those of the unpartitioned store */
    struct gnn_links links;
    struct gnn_walks walks;
    const char *weight; /* edge field in proportion to which neighbours are picked, or NULL */
    const char *top;    /* edge field whose largest values are picked, or NULL */
    bool labor;
    bool layer_dependency;     /* with labor: all hops have the same variates */
    uint32_t batch_dependency; /* with labor: steps after which variates change, >= 1 */
    /* Each seed, or cluster, has a tree of its own, in which nodes are numbered and drawn for. */
    bool disjoint;
    /* Induced subgraphs: the last hop, whose fan-outs are all or none, finds no nodes. Its rows are
     * all nodes of the batch, and its edges all edges among them, along the edge types that are
     * sampled. Batches have none of the hops before it. (In DGL and PyG: ShaDow; Zeng et al.,
     * "Decoupling the Depth and Scope of Graph Neural Networks", NeurIPS 2021) */
    bool induced;
    /* The number of partitions of the store that are joined in a batch, which has all of their
     * nodes: seeds, at most batch_size, and the others, which the first hop adds without edges; the
     * second hop is induced. If 0, batch_size is the number of seeds. (Chiang et al.,
     * "Cluster-GCN", KDD 2019) */
    uint32_t clusters;
    /* The rule that picks edges by their times, given the time of the seed; rows are in the order
     * of times. */
    enum gnn_pick_until time_rule;
    bool latest; /* only the latest edges that the rule allows */
    enum gnn_hop_time hop_time;
    /* The seed type's field with the times of seeds; NULL: times came with the seeds, or there are
     * none */
    const char *seed_time;
    const char *window; /* a number: edges that are older than the seed by more are not picked */
    /* Each seed of split 0 is drawn from all of the set, with replacement: in proportion to this
     * field of the seed type; or, balanced, so that all classes are as likely. NULL and false: each
     * comes once an epoch. (In PyG: ImbalancedSampler; in PyTorch: WeightedRandomSampler) */
    const char *seed_weight;
    bool seed_balance;
    uint32_t rank, ranks; /* of several ranks: batches have only the seeds of this one; else 0 */

    /* ---- members that follow from these ---- */
    struct gnn_pick_rule rule; /* without the fan-out */
    uint32_t nhops;
    int32_t *fanout; /* [nhops][netypes] */
    /* [nhops][netypes] whether the edge type has the field by which neighbours are picked; NULL
     * without one */
    bool *by_field;
    uint32_t seed_ntype;   /* of links: that of the tails */
    uint32_t nsplits;      /* a batch key's split is an index into split[] */
    char **split;          /* "train", "valid", ...; [0] is trained on */
    uint64_t *steps;       /* batches per epoch of each split, before --steps narrows them */
    uint64_t *split_seeds; /* seeds per epoch of each split */
    struct gnn_given_negatives *given; /* [nsplits] */
};

/* The pick rule of a hop along an edge type: block hop * netypes + edge type. */
static inline struct gnn_pick_rule gnn_sampling_rule(const struct gnn_sampling *s, uint64_t block)
{
    struct gnn_pick_rule rule = s->rule;
    rule.fanout = s->fanout[block];
    const bool by_field = s->by_field && s->by_field[block];
    rule.weighted = by_field && s->weight;
    if (s->top)
        rule.kind = by_field ? GNN_PICK_TOP : GNN_PICK_UNIFORM;
    return rule;
}

/* Whether hop h only adds edges among nodes already sampled (induced subgraph). */
static inline bool gnn_sampling_induces(const struct gnn_sampling *s, uint32_t hop)
{
    return s->induced && hop + 1 == s->nhops;
}
/* Whether batches have the edges of hop h. */
static inline bool gnn_sampling_keeps(const struct gnn_sampling *s, uint32_t hop)
{
    return !s->induced || hop + 1 == s->nhops;
}
/* Whether the rows of hop h, from 0, are only the nodes that the previous hop found; otherwise they
 * are all nodes known so far. */
static inline bool gnn_sampling_new_rows(const struct gnn_sampling *s, uint32_t hop)
{
    return s->frontier == GNN_FRONTIER_NEW && hop && !gnn_sampling_induces(s, hop);
}

/* The edge type along which walks take step s. */
static inline uint32_t gnn_sampling_step(const struct gnn_sampling *s, uint32_t netypes,
                                         uint32_t step)
{
    const int32_t *fanout = s->fanout + (uint64_t)(step % s->nhops) * netypes;
    uint32_t et = 0;
    while (!fanout[et])
        et++;
    return et;
}
/* Whether steps depend on the ones before them (Grover, Leskovec: "node2vec", KDD 2016). */
static inline bool gnn_walks_second_order(const struct gnn_walks *w)
{
    return w->length && (w->p != 1 || w->q != 1);
}
/* Whether seeds of split 0 are drawn. */
static inline bool gnn_sampling_draws_seeds(const struct gnn_sampling *s)
{
    return s->seed_weight || s->seed_balance;
}
/* How many seeds of a split's set a step has, over all ranks; where the set is not known, as of
 * seeds that come from a pipe, the size of a batch. */
static inline uint64_t gnn_sampling_seeds_of(const struct gnn_sampling *s, uint32_t split,
                                             uint64_t step)
{
    if (!s->steps[split] || !s->split_seeds[split])
        return s->batch_size;
    const uint64_t all = s->split_seeds[split], before = step * s->batch_size,
                   left = before < all ? all - before : 0;
    return left < s->batch_size ? left : s->batch_size;
}
/* Whether batches of a split say how often each seed was drawn. Where each draw has a tree or walks
 * of its own, none is drawn twice. */
static inline bool gnn_sampling_counts_draws(const struct gnn_sampling *s, uint32_t split)
{
    return gnn_sampling_draws_seeds(s) && !split && !s->disjoint && !s->walks.length;
}
/* Whether picks depend on times; the entries of batches have some then. */
static inline bool gnn_sampling_is_temporal(const struct gnn_sampling *s)
{
    return s->rule.time.until != GNN_PICK_ANY_TIME;
}
/* Whether picks depend on more of edges than their sources. */
static inline bool gnn_sampling_reads_edges(const struct gnn_sampling *s)
{
    return s->by_field || gnn_sampling_is_temporal(s);
}
/* Whether a batch can have a node several times: in several trees, or at several times. */
static inline bool gnn_sampling_has_repeats(const struct gnn_sampling *s)
{
    return s->disjoint || gnn_sampling_is_temporal(s);
}
/* Whether links of some split can have fewer given negatives than others. */
static inline bool gnn_sampling_is_ragged(const struct gnn_sampling *s)
{
    bool ragged = false;
    for (uint32_t i = 0; s->given && i < s->nsplits; i++)
        ragged |= s->given[i].drawn.ragged;
    return ragged;
}
/* The version of GNB that batches require: a reader of an older one would misunderstand nodes that
 * are there repeatedly and induced edges, take both ends of links for labelled seeds, or links for
 * negatives of themselves. */
static inline unsigned gnn_sampling_version(const struct gnn_sampling *s)
{
    return gnn_sampling_is_ragged(s)                   ? GNB_MAJOR_RAGGED
           : s->links.type                             ? GNB_MAJOR_LINKS
           : gnn_sampling_has_repeats(s) || s->induced ? GNB_MAJOR_TREES
                                                       : GNB_MAJOR;
}
/* Whether the negatives of a split's links are given, and known. */
static inline bool gnn_sampling_gives(const struct gnn_sampling *s, uint32_t split)
{
    return s->given && split < s->nsplits && s->given[split].drawn.kind != GNN_NEGATIVES_NONE;
}
/* The kind of negatives that links of a split have; GIVEN if it is not known yet of which. */
static inline struct gnn_drawn gnn_sampling_drawn(const struct gnn_sampling *s, uint32_t split)
{
    if (gnn_sampling_gives(s, split))
        return s->given[split].drawn;
    return s->links.drawn[split ? GNN_LINKS_EVALUATED : GNN_LINKS_TRAINED];
}
/* The task of links: to learn their labels or, if they have none, to tell them from negatives. */
static inline enum gnn_task gnn_links_task(const struct gnn_links *l)
{
    return !l->target        ? GNN_TASK_LINKS
           : !l->classes     ? GNN_TASK_REGRESSION
           : l->classes == 2 ? GNN_TASK_BINARY
                             : GNN_TASK_MULTICLASS;
}
/* Position of the first shared negative of link number `link`: total * link / links, without
 * overflow; both are below 2^32. */
static inline uint64_t gnn_drawn_first(struct gnn_drawn d, uint64_t link)
{
    return d.links ? d.total / d.links * link + d.total % d.links * link / d.links : 0;
}
/* How many of them n links have, of which the first is number `link` of the set. */
static inline uint64_t gnn_drawn_negatives(struct gnn_drawn d, uint64_t link, uint64_t n)
{
    if (d.total)
        return gnn_drawn_first(d, link + n) - gnn_drawn_first(d, link);
    return d.kind == GNN_NEGATIVES_NONE ? 0 : (uint64_t)ceil((double)n * d.amount);
}
/* How many the n links of a step have. */
static inline uint64_t gnn_sampling_negatives(const struct gnn_sampling *s, uint32_t split,
                                              uint64_t step, uint64_t n)
{
    return gnn_drawn_negatives(gnn_sampling_drawn(s, split), step * s->batch_size, n);
}
/* The position, among n positives, of the one that negative i takes its other end, its tree and its
 * time from. */
static inline uint64_t gnn_drawn_positive(struct gnn_drawn d, uint64_t i, uint64_t n)
{
    return d.kind >= GNN_NEGATIVES_TRIPLET ? i / (uint64_t)d.amount : i % n;
}
/* How many belong to each link alone; 0: all links share theirs. */
static inline uint64_t gnn_drawn_each(struct gnn_drawn d)
{
    return d.kind >= GNN_NEGATIVES_TRIPLET ? (uint64_t)d.amount : 0;
}
/* The end that a negative keeps from its positive or, if both are drawn, the first drawn: 0 is the
 * head, 1 the tail. */
static inline unsigned gnn_links_fixed_end(const struct gnn_links *l)
{
    return l->end == GNN_NEGATIVE_HEAD ? 1 : 0;
}
/* Likewise, of the negatives of a split: given candidates are tails. */
static inline unsigned gnn_sampling_fixed_end(const struct gnn_sampling *s, uint32_t split)
{
    return gnn_sampling_gives(s, split) ? 0 : gnn_links_fixed_end(&s->links);
}
/* How many negatives a batch can have, of whichever split. */
static inline uint64_t gnn_sampling_negatives_max(const struct gnn_sampling *s)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < s->nsplits || i < GNN_LINK_USES; i++) {
        const struct gnn_drawn d = gnn_sampling_drawn(s, i);
        const uint64_t n = gnn_drawn_negatives(
                               d, 0, d.total && d.links < s->batch_size ? d.links : s->batch_size) +
                           (d.total != 0); /* rounded down at either end */
        most = n > most ? n : most;
    }
    return most;
}
/* How many trees a global batch has: of seeds, or of clusters; 1: one that all seeds share. */
static inline uint32_t gnn_sampling_trees(const struct gnn_sampling *s)
{
    return !s->disjoint ? 1 : s->clusters ? s->clusters : s->batch_size;
}
/* Whether fan-outs are chosen: walks and clusters imply theirs. */
static inline bool gnn_sampling_has_fanouts(const struct gnn_sampling *s)
{
    return !s->walks.length && !s->clusters;
}
/* Whether batches say how many seeds, or links, those of all ranks have (column `seeds`); else that
 * follows from the size of batches. */
static inline bool gnn_sampling_counts_seeds(const struct gnn_sampling *s)
{
    return s->clusters || s->links.type;
}
/* How many nodes a batch can begin with, of each type that its seeds are of. */
static inline uint64_t gnn_sampling_roots_max(const struct gnn_sampling *s)
{
    return s->links.type ? 2 * (s->batch_size + gnn_sampling_negatives_max(s)) : s->batch_size;
}
/* Whether a batch can begin with nodes of type t. */
static inline bool gnn_sampling_begins_with(const struct gnn_sampling *s,
                                            const struct gnn_schema *c, uint32_t t)
{
    return t == s->seed_ntype || (s->links.type && t == c->etype[s->links.etype].src);
}
/* How often a node can occur in a batch, in several trees or at several times: with clusters once.
 * (For times of edges there is no such bound: see gnn_sampling_nodes_max.) */
static inline uint32_t gnn_sampling_copies(const struct gnn_sampling *s)
{
    return gnn_sampling_has_repeats(s) && !s->clusters ? s->batch_size : 1;
}
/* The dtype of the times of a batch's nodes. */
static inline enum gnn_dtype gnn_sampling_time_dtype(const struct gnn_sampling *s)
{
    return s->rule.time.real ? GNN_F64 : GNN_I64;
}

/* How many nodes all walks of a batch visit at most, if it is of walks. */
static inline uint64_t gnn_sampling_visits(const struct gnn_sampling *s)
{
    return s->walks.length
               ? (uint64_t)s->batch_size * s->walks.per_seed * (s->walks.length + UINT64_C(1))
               : 0;
}

/* How many nodes of a type with `count` nodes a batch can have: those of all seeds; of walks, those
 * that they visit; or, where nodes have times of edges, no bound is known. */
static inline uint64_t gnn_sampling_nodes_max(const struct gnn_sampling *s, uint64_t count)
{
    uint64_t all =
        s->rule.time.by_edge ? UINT64_MAX : count * gnn_sampling_copies(s); /* 32 bits each */
    if (s->walks.length && gnn_sampling_visits(s) < all)
        all = gnn_sampling_visits(s);
    return all < UINT32_MAX - 1 ? all : UINT32_MAX - 1;
}

/* The default of every member that a user chooses; nothing is bound. */
void gnn_sampling_init(struct gnn_sampling *s);
/* The set of a schema that split i can be: of its name, node type and size. Index into c->set, or
 * -1, as of links. */
int gnn_sampling_find_set(const struct gnn_sampling *s, uint32_t i, const struct gnn_schema *c);
/* All but the splits; d is a part of a meta that is to be released. */
int gnn_sampling_copy_rule(struct gnn_sampling *d, const struct gnn_sampling *s, uint32_t netypes,
                           struct gnn_err *e) GNN_MUST_USE;

/* The store of which another has only what differs (lib/store/base_store.h). */
struct gnn_base {
    char *path;        /* from the directory of the other store, unless absolute; NULL: none */
    char identity[17]; /* its own */
};

struct gnn_meta {
    struct gnn_schema schema;
    char identity[17]; /* store's content hash, 16 hex digits */
    /* Identity of the store before its first gnn-partition; "": the same as `identity`. */
    char graph[17];
    struct gnn_base base;         /* of a store; in a stream without meaning */
    bool is_stream;               /* batches, not a store part */
    struct gnn_sampling sampling; /* if is_stream */
    json_t *provenance;           /* array of strings, one per program; may be NULL */
};

void gnn_meta_release(struct gnn_meta *m);
int gnn_meta_copy(struct gnn_meta *dst, const struct gnn_meta *src, struct gnn_err *e) GNN_MUST_USE;
/* The identity that all stores of a graph have in common, however it is partitioned. */
static inline const char *gnn_meta_graph(const struct gnn_meta *m)
{
    return *m->graph ? m->graph : m->identity;
}
/* The version of GNB that a stream requires; that of a store is gnn_schema_version. */
static inline unsigned gnn_meta_version(const struct gnn_meta *m)
{
    return gnn_schema_is_scaled(&m->schema) ? (unsigned)GNB_MAJOR_SCALED
                                            : gnn_sampling_version(&m->sampling);
}
/* GNN_E_INPUT: says why batches with the header b do not fit the store at `path` with the header s.
 */
int gnn_meta_other_store(const struct gnn_meta *b, const struct gnn_meta *s, const char *path,
                         struct gnn_err *e);
/* Appends "program version: command line". NULL line: nothing is added. */
int gnn_meta_add_provenance(struct gnn_meta *m, const char *line, struct gnn_err *e) GNN_MUST_USE;
/* JSON text, NUL-terminated, to be freed with gnn_free. Byte-identical for equal metas. */
char *gnn_meta_to_text(const struct gnn_meta *m, struct gnn_err *e) GNN_MUST_USE;
/* The first difference of two headers' texts, as gnn_json_difference; NULL if they are the same, or
 * on failure. */
char *gnn_meta_difference(const struct gnn_meta *a, const struct gnn_meta *b,
                          struct gnn_err *e) GNN_MUST_USE;
/* The member "sampling", to be released; NULL on failure. */
json_t *gnn_meta_sampling_json(const struct gnn_meta *m, struct gnn_err *e) GNN_MUST_USE;
/* Reads it, for the schema of m. On failure m is to be released as well. */
int gnn_meta_sampling_parse(struct gnn_meta *m, const json_t *j, struct gnn_err *e) GNN_MUST_USE;
int gnn_meta_from_text(struct gnn_meta *m, const char *text, size_t n,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
