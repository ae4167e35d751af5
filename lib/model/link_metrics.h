/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of link prediction, from scores of positives and negatives that come in pieces.
 * Evaluators compute different numbers under one name; here, a name ends in the convention
 * (mrr-realistic).
 *
 * A value does not depend on how scores are divided into pieces and among ranks, not even in its
 * last bit. */
#ifndef GNN_LIB_MODEL_LINK_METRICS_H
#define GNN_LIB_MODEL_LINK_METRICS_H

#include "lib/model/link_scores.h"
#include "lib/model/metrics.h"

/* All metrics: the word of an option, and the number in it. All are better when they are higher. */
#define GNN_LINK_METRICS(FIRST, NEXT)                                                              \
    FIRST(GNN_LINK_AUC, "auc", "")                                                                 \
    NEXT(GNN_LINK_AP, "ap", "")                                                                    \
    NEXT(GNN_LINK_MRR, "mrr", "")                                                                  \
    NEXT(GNN_LINK_HITS, "hits@", "K")
#define GNN_LINK_METRIC_ID(id, word, number) id,
enum gnn_link_metric { GNN_LINK_METRICS(GNN_LINK_METRIC_ID, GNN_LINK_METRIC_ID) GNN_LINK_METRIC_N };
/* The words as choices of an option. */
#define GNN_LINK_METRIC_FIRST(id, word, number) word number
#define GNN_LINK_METRIC_NEXT(id, word, number) "|" word number
#define GNN_LINK_METRIC_WORDS GNN_LINK_METRICS(GNN_LINK_METRIC_FIRST, GNN_LINK_METRIC_NEXT)

/* A metric and, of hits@K, its number. */
struct gnn_link_measure {
    enum gnn_link_metric metric;
    uint64_t k;
};
/* Reads "auc" or "hits@50", or such a name with its convention. each: whether negatives are of one
 * positive each (triplet:K) or are shared by all. NULL is the metric to select models by: mrr with
 * negatives of each positive, else auc. GNN_E_USAGE, of --metric, for other words, and for metrics
 * that are not defined for such negatives. */
int gnn_link_measure_read(const char *text, bool each, struct gnn_link_measure *m,
                          struct gnn_err *e) GNN_MUST_USE;

enum {
    GNN_LINK_MEASURES = 16,                  /* at once, at most */
    GNN_LINK_VALUES = 3 * GNN_LINK_MEASURES, /* of so many measures, at most */
    GNN_LINK_TIES = 3                        /* ranks among negatives, by how ties count */
};
/* A result: "hits@50-shared", its value, and how it is computed. */
struct gnn_link_value {
    char name[48];
    double value;
    const char *convention;
};

/* Counts over pieces, of up to 2^32 positives. For metrics of a positive's rank, memory does not
 * depend on how many scores there are. AUC and AP keep all scores, at 4 bytes each, and up to half
 * more for growth; hits@K of shared negatives keeps those of all positives, and of negatives at
 * most 3 K, or 12,288. Of negatives, each rank keeps its own only; of positives, each has those of
 * all at the end, for a moment twice. */
struct gnn_link_metrics {
    struct gnn_link_measure measure[GNN_LINK_MEASURES];
    uint32_t measures;
    bool each;          /* negatives are of one positive each */
    bool areas;         /* AUC or AP is measured */
    uint64_t shared_k;  /* the largest K of hits@K with shared negatives; 0: none */
    uint64_t most_each; /* negatives of one positive, at most */
    /* Sums; u64 only, which ranks add up. The first index is by how ties count. */
    struct gnn_link_counts {
        uint64_t positives, negatives;
        uint64_t reciprocal[GNN_LINK_TIES][2]; /* of ranks, in units of 2^-63: low 32 bits, rest */
        uint64_t hits[GNN_LINK_TIES][GNN_LINK_MEASURES];
    } count;
    struct gnn_link_scores positive, negative; /* where scores are kept */
};
/* Begins with n measures, up to GNN_LINK_MEASURES, that gnn_link_measure_read gave for the same
 * `each`. Needs no memory yet. */
void gnn_link_metrics_init(struct gnn_link_metrics *m, const struct gnn_link_measure *measure,
                           uint32_t n, bool each);
/* Forgets all scores. */
void gnn_link_metrics_clear(struct gnn_link_metrics *m);
void gnn_link_metrics_release(struct gnn_link_metrics *m);
/* Adds a piece, of which either may be empty if negatives are shared. Of negatives that are not,
 * the first positive's come first, and each has as many; another piece may have another number.
 * y (negatives): NaN, there is no negative in this place; NULL: there is one in all. GNN_E_INPUT
 * "positive 3: score is NaN" counts from 0 over everything added here; then nothing of the piece is
 * added. */
int gnn_link_metrics_add(struct gnn_link_metrics *m, const float *positive, uint64_t positives,
                         const float *negative, const float *y, uint64_t negatives,
                         struct gnn_err *e) GNN_MUST_USE;
/* Fills value (GNN_LINK_VALUES) with *n results over all ranks, of all measures in their order; and
 * after these, where ties make them differ, with the optimistic and the pessimistic ones.
 * Collective. Before more is added, gnn_link_metrics_clear. GNN_E_INPUT: "no positives"; "no
 * negatives"; and hits@K where fewer than K negatives make every positive a hit. */
int gnn_link_metrics_finish(struct gnn_link_metrics *m, struct gnn_comm *c,
                            struct gnn_link_value *value, uint32_t *n,
                            struct gnn_err *e) GNN_MUST_USE;
/* Likewise, where there is one measure. */
int gnn_link_metrics_one(struct gnn_link_metrics *m, struct gnn_comm *c, struct gnn_measured *v,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
