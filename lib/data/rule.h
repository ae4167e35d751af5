/* SPDX-License-Identifier: Apache-2.0 */
/* The rule by which neighbours are picked (kernels/pick.h), as a part of struct gnn_sampling: what
 * a graph must have for it. Of one thread at a time; where: the store, for messages. */
#ifndef GNN_LIB_DATA_RULE_H
#define GNN_LIB_DATA_RULE_H

#include "lib/data/meta.h"

/* Hops, as they are given: texts of fan-outs, "15,10" or "S/R/D=15,10", or the edge types of a
 * walk's steps. */
struct gnn_sampling_hops {
    const char *const *fanout, *const *path;
    uint32_t nfanout, npath;
};
/* Binds a recipe to a graph: sets all members that follow from the chosen ones, except those of
 * seeds and sets. hops NULL: fan-outs are there, as a header has them. GNN_E_USAGE, in words for a
 * user of `where`, if members do not fit each other or the graph, or have no effect. Texts of s are
 * its own; on failure it is to be released. */
int gnn_sampling_bind(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                      const struct gnn_sampling_hops *hops, struct gnn_err *e) GNN_MUST_USE;
/* Checks what seeds must have, when their type has been set. */
int gnn_sampling_bind_seeds(const struct gnn_sampling *s, const struct gnn_schema *c,
                            const char *where, struct gnn_err *e) GNN_MUST_USE;
/* Sets s->nhops and ->fanout from the texts described above; both are freed by gnn_meta_release. */
int gnn_fanout_parse(const struct gnn_schema *c, const char *const *spec, uint32_t nspec,
                     struct gnn_sampling *s, struct gnn_err *e) GNN_MUST_USE;
/* Does any hop sample along one of the netypes edge types? */
bool gnn_sampling_uses(const struct gnn_sampling *s, uint32_t netypes, uint32_t etype);

#endif
