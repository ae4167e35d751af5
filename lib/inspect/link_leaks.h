/* SPDX-License-Identifier: Apache-2.0 */
/* Counting what gives the answer away in batches of links: their own edges, what is missing where
 * such edges were removed, and negatives that are none. Not for use outside lib/inspect. */
#ifndef GNN_LIB_INSPECT_LINK_LEAKS_H
#define GNN_LIB_INSPECT_LINK_LEAKS_H

#include "lib/inspect/absent.h"
#include "lib/inspect/among.h"
#include "lib/inspect/listed_links.h"

/* Zeroed before _init. One thread at a time. */
struct gnn_link_leaks {
    struct gnn_leak own;       /* edges that are links of their batch, in their tree */
    struct gnn_leak reverse;   /* other edges that are reverses of such links */
    struct gnn_leak few;       /* rows of links' ends with fewer edges than the rule picks */
    struct gnn_leak edges;     /* negatives that are edges that their set may know */
    struct gnn_leak strayed;   /* negatives of another tree or time than their link */
    uint64_t links, negatives; /* which were looked at */

    const struct gnn_meta *m;
    const struct gnn_view *view;
    const int64_t *const *time; /* [netypes][nparts] of the store, as in lib/inspect/in_time.h */
    const uint64_t **sum;       /* likewise: sums of weights along rows, or NULL */
    struct gnn_listed_links known;
    /* Edges of a batch: absent ones, as its header says; its links; those and their reverses. */
    struct gnn_absent absent, linked, both;
    struct gnn_among among; /* entries of the type `among_type`, where edges are induced */
    uint32_t among_type;
    /* u8: marks of links' ends, among the entries that a batch begins with: those of the tails'
     * type, and then those of the heads', if that is another. */
    struct gnn_buf is_end;
};

/* For batches of links with the header m, which, the view and the times must live as long. */
int gnn_link_leaks_init(struct gnn_link_leaks *l, const struct gnn_meta *m,
                        const struct gnn_view *v, const int64_t *const *time,
                        struct gnn_err *e) GNN_MUST_USE;
void gnn_link_leaks_release(struct gnn_link_leaks *l);
/* Looks at the links and negatives of a batch, before its rows. */
int gnn_link_leaks_begin(struct gnn_link_leaks *l, const struct gnn_batch *b, uint64_t nth,
                         struct gnn_err *e) GNN_MUST_USE;
/* Looks at row i of a block, whose edges are in the store's row, that of original node `dst`. */
int gnn_link_leaks_row(struct gnn_link_leaks *l, const struct gnn_batch *b, uint64_t nth,
                       uint32_t hop, uint32_t et, uint32_t i, const struct gnn_view_row *row,
                       uint32_t dst, struct gnn_err *e) GNN_MUST_USE;

#endif
