/* SPDX-License-Identifier: Apache-2.0 */
/*- Where the rows of a batch come from, tier by tier. The tier map (lib/cache/tier.h) says for each
 * row, or for all rows of a type at once, in which tier it lies. Its entry in the list of
 * lib/gather/tiers.c is all that gathering knows of a tier:
 *
 *   ask    numbers a row that lies there, and notes that it is wanted
 *   fetch  brings the rows that a batch asked for, if they cannot be read where they lie
 *   parts  where the rows of a field can be read now
 *
 * Rows are numbered, so that one pass over the parts of a field collects all of them: a row that is
 * read in the field's own parts, by its number in the field; another one by GATHER_NUMBER. */
#ifndef GNN_LIB_GATHER_TIERS_H
#define GNN_LIB_GATHER_TIERS_H

#include "lib/gather/wanted.h"

struct gather_tier {
    bool by_rank;
    /* The number of row i of w, for which the map has said `at`. NULL: rows are in the own parts.
     */
    uint64_t (*ask)(struct gather_rows *f, const struct gather_want *w, uint64_t i, uint32_t at);
    /* Once a batch, after all of its rows were asked for. NULL: nothing has to be done. */
    int (*fetch)(const struct gatherer *g, struct gather_rows *f, const struct gnn_batch *b,
                 struct gnn_err *e);
    /* Adds the parts of a job other than labels, in a hop, to part[*n]: one, or one by_rank. In the
     * order in which all ranks go through them: jobs, then hops. */
    int (*parts)(const struct gatherer *g, struct gather_rows *f, const struct gather_job *j,
                 uint32_t hop, const struct gather_own *own, struct gnn_gather_part *part,
                 uint32_t *n, struct gnn_err *e);
};

/* NULL on failure; takes NULL. */
struct gather_rows *gnn_gather_rows_new(const struct gatherer *g, struct gnn_err *e) GNN_MUST_USE;
void gnn_gather_rows_free(struct gather_rows *f);
/* Gathers all fields of a batch into the host's memory. Collective, as is _fetch: all ranks call it
 * for their batches with the same number. */
int gnn_gather_apply(const struct gatherer *g, struct gather_rows *f, struct gnn_batch *b,
                     struct gnn_err *e) GNN_MUST_USE;
/* The first half of that: rows are numbered and can be read. */
int gnn_gather_fetch(const struct gatherer *g, struct gather_rows *f, const struct gnn_batch *b,
                     struct gnn_err *e) GNN_MUST_USE;
/* All parts of a job in a hop, its own and _added, ascending by their first numbers. */
uint32_t gnn_gather_parts_added(const struct gatherer *g);
int gnn_gather_parts(const struct gatherer *g, struct gather_rows *f, const struct gather_job *j,
                     uint32_t hop, const struct gather_own *own, struct gnn_gather_part *part,
                     uint32_t *n, struct gnn_err *e) GNN_MUST_USE;
/* Adds up what a batch had; and how many batches there are, for _end. */
void gnn_gather_count(struct gatherer *g, const struct gather_rows *f, const struct gnn_batch *b);
/* After the last batch: GNN_E_INPUT if another rank has more (lib/gather/gather_remote.c). */
int gnn_gather_end(struct gatherer *g, struct gnn_err *e) GNN_MUST_USE;

#endif
