/* SPDX-License-Identifier: Apache-2.0 */
/* Sampler and gatherer in this process, as one source. */
#ifndef GNN_LIB_TRAIN_LOCAL_SOURCE_H
#define GNN_LIB_TRAIN_LOCAL_SOURCE_H

#include "lib/gather/gatherer.h"
#include "lib/sample/sampler.h"

/* Batches of s->epoch_from .. s->epoch_to with rows gathered: the same, in the same order, as
 * gnn-sample | gnn-gather make. The store, and memory that the options point to, must outlive the
 * source. NULL and e on failure. */
struct gnn_source *gnn_feed_new(struct gnn_store *store, const struct gnn_sampler_opts *s,
                                const struct gnn_gather_opts *g, struct gnn_err *e) GNN_MUST_USE;
/* Sets threads, depth and priority of both for a caller that trains meanwhile: n threads that
 * sample and gather, and run on what the threads of training leave. One that took a core from
 * training would hold up all of these at their next barrier. */
void gnn_feed_prefetch(struct gnn_sampler_opts *s, struct gnn_gather_opts *g, unsigned n);
/* The fields that a model needs, in text; NULL: those that are gathered anyway. A name is of nodes
 * and edges alike, and is given once. labels: of nodes, not of links. edge_weight may be NULL. */
enum { GNN_FEED_FIELDS = 2 * GNN_WORD_MAX + 32 };
const char *gnn_feed_fields(const struct gnn_schema *c, bool labels, const char *edge_weight,
                            bool wants_degrees, char text[GNN_FEED_FIELDS]);

#endif
