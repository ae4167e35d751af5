/* SPDX-License-Identifier: Apache-2.0 */
/* Which edges are absent from a batch of links, as it excludes them: by a sorted list of its links,
 * and not as the sampler does it, so that a proof does not rely on what it proves. */
#ifndef GNN_LIB_INSPECT_ABSENT_H
#define GNN_LIB_INSPECT_ABSENT_H

#include "lib/data/batch.h"
#include "lib/store/view.h"

/* Zeroed object = none. One thread at a time. */
struct gnn_absent {
    const struct gnn_meta *m;
    bool by_tree;          /* links count in their own tree only, and not in all of the batch */
    struct gnn_buf sorted; /* [2] per link: as it is, and reversed */
    uint64_t n;
};
/* Sets the batch, of the store of a view, and which edges are meant. */
int gnn_absent_set(struct gnn_absent *x, const struct gnn_meta *m, enum gnn_exclude which,
                   const struct gnn_view *v, const struct gnn_batch *b,
                   struct gnn_err *e) GNN_MUST_USE;
/* Whether an edge of type et, from a node of the store to an original one, is absent. time: the
 * edge's, or NULL where picks do not depend on times. tree: of its ends, if by_tree. */
bool gnn_absent_has(const struct gnn_absent *x, uint32_t et, uint32_t src, uint32_t dst,
                    const int64_t *time, uint32_t tree);
void gnn_absent_release(struct gnn_absent *x);

#endif
