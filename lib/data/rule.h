/* SPDX-License-Identifier: Apache-2.0 */
/* The rule by which neighbours are picked (kernels/pick.h), as a part of struct gnn_sampling: what
 * a graph must have for it, and its text in a HEADER frame. Of one thread at a time; where: the
 * store, for messages.
 */
#ifndef GNN_LIB_DATA_RULE_H
#define GNN_LIB_DATA_RULE_H

#include "lib/data/meta.h"

/* Neighbours are picked in proportion to the edge field `weight`, along the edge types that have
 * it; after the fan-outs have been set. NULL: it has no effect. GNN_E_USAGE, in words for a user of
 * `where`, if none of those that are sampled has it, as one number an edge. */
int gnn_sampling_set_weight(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                            const char *weight, struct gnn_err *e) GNN_MUST_USE;
/* Neighbours are picked by the times of edges, until or before those of seeds; after fan-outs and
 * weight have been set. window: the text of a number >= 0, or NULL. latest: only the last ones.
 * by_edge: in the next hop, the time of an edge replaces that of its seed. GNN_E_USAGE, likewise,
 * if in-edges that are sampled are not ordered by time, if times are not of one type, or if the
 * rule has another kind. */
int gnn_sampling_set_time(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                          enum gnn_pick_until until, const char *window, bool latest, bool by_edge,
                          struct gnn_err *e) GNN_MUST_USE;
/* Seeds have the times in a field of their type, which has been set; GNN_E_USAGE if they are not of
 * the type of the edges' times. */
int gnn_sampling_set_seed_time(struct gnn_sampling *s, const struct gnn_schema *c,
                               const char *where, const char *field,
                               struct gnn_err *e) GNN_MUST_USE;
/* Seeds of split 0 are drawn with replacement, by a field of their type, which has been set, or by
 * class; NULL and false: they are not. GNN_E_USAGE, likewise, if there is no such field with one
 * number for each node, or no classes of that type. */
int gnn_sampling_set_draws(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                           const char *weight, bool balance, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_USAGE, in the same words, if the rule is LABOR and cannot be, or picks nowhere; when the
 * rest is set. */
int gnn_sampling_check_labor(const struct gnn_sampling *s, uint32_t netypes, const char *where,
                             struct gnn_err *e) GNN_MUST_USE;
/* Walks, along these edge types in turn, from the one of the seeds on, or, if there are none, along
 * the only one; before the weight is set. Sets fan-outs, too. GNN_E_USAGE, in the same words, if a
 * type does not begin where the one before it ended. */
int gnn_sampling_set_walks(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                           struct gnn_walks walks, const char *const *path, uint32_t n,
                           struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_USAGE if they cannot start at the seed type, which has been set. */
int gnn_sampling_check_walks(const struct gnn_sampling *s, const struct gnn_schema *c,
                             const char *where, struct gnn_err *e) GNN_MUST_USE;
/* Adds the hop of edges among the nodes that the others find; when fan-outs are set, before weight
 * and time. */
int gnn_sampling_set_induced(struct gnn_sampling *s, uint32_t netypes,
                             struct gnn_err *e) GNN_MUST_USE;
/* Batches of clusters, `n` partitions each, in place of fan-outs; after what else the rule has.
 * GNN_E_USAGE, in the same words, if the store has fewer, or the rule something that has no effect.
 */
int gnn_sampling_set_clusters(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                              uint32_t n, struct gnn_err *e) GNN_MUST_USE;
/* Does any hop sample along one of the netypes edge types? */
bool gnn_sampling_uses(const struct gnn_sampling *s, uint32_t netypes, uint32_t etype);

/* Adds the rule's members, but for fan-outs and "replace", to the JSON object j; 0, or -1 without
 * memory. And reads them, when those have been read: GNN_E_INPUT if they are bad or do not fit the
 * schema. */
int gnn_rule_to_json(const struct gnn_sampling *s, json_t *j) GNN_MUST_USE;
int gnn_rule_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                       struct gnn_err *e) GNN_MUST_USE;

#endif
