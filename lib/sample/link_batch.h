/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of links, which begin with the nodes at their ends. Private to lib/sample. */
#ifndef GNN_LIB_SAMPLE_LINK_BATCH_H
#define GNN_LIB_SAMPLE_LINK_BATCH_H

#include "lib/data/rule.h"
#include "lib/sample/links.h"

struct link_seeds {
    struct sample_seeds base; /* first */
    struct sampler *s;
    struct link_edges edges;
    struct link_negatives negatives;
    /* [nsplits] of sets, or of a file; of split 0 without links: all edges are the links */
    struct link_list *list;
    struct link_list *given; /* [nsplits] given negatives; empty: they are drawn */
    struct link_labels labels;
    bool evaluated; /* split 0 is a set to evaluate, not to train on, */
    bool fixed;     /* and has the same negatives in all epochs */
};

/* The links that are no negatives of a split. */
static inline enum link_known link_known_of(const struct link_seeds *q, uint32_t split)
{
    return split || q->evaluated ? LINK_EVALUATED : LINK_TRAINED;
}

/* The seeds of all ranks in a batch, of which split and step are set. */
uint64_t gnn_link_batch_count(const struct sample_seeds *base, const struct gnn_batch *b);
/* Adds a batch's roots, and the columns of its links. Ranks call it together. */
int gnn_link_batch_begin(const struct sample_seeds *base, const struct sample_draw *d) GNN_MUST_USE;

#endif
