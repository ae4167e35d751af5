/* SPDX-License-Identifier: Apache-2.0 */
/* The links in a store's sets, beside the edges of the store and of its base store: which pairs are
 * known, and what one set gives away of another. Not for use outside lib/inspect. */
#ifndef GNN_LIB_INSPECT_LISTED_LINKS_H
#define GNN_LIB_INSPECT_LISTED_LINKS_H

#include "lib/inspect/leak.h"
#include "lib/store/view.h"

/* A link of a set, in store ids. */
struct gnn_listed {
    uint32_t group; /* as gnn_listed_links sorts first: all alike, or the split */
    uint32_t tail, head, set;
    int64_t time; /* as a number of type i64; 0: none */
};
/* Zeroed before _init. Read-only once made. */
struct gnn_listed_links {
    const struct gnn_view *view;
    struct gnn_view base; /* of the base store, if there is one */
    uint32_t etype;
    struct gnn_listed *link; /* (n) by tail, head, time, set */
    uint64_t n;
    bool timed;     /* all of these have times; otherwise times do not count */
    bool symmetric; /* each edge has its reverse, so a link stands for its reverse, too */
};

enum { GNN_LISTED_NONE = -1, GNN_LISTED_ALL = -2 }; /* in place of a set */

/* Reads all sets of links of the type: 24 bytes a link. The view must live as long. */
int gnn_listed_links_init(struct gnn_listed_links *x, const struct gnn_view *v, uint32_t etype,
                          struct gnn_err *e) GNN_MUST_USE;
void gnn_listed_links_release(struct gnn_listed_links *x);
/* Whether a pair of store ids is an edge of the store or a link of the set; with GNN_LISTED_ALL: of
 * any set, or an edge of the base store. */
bool gnn_listed_links_know(const struct gnn_listed_links *x, uint32_t head, uint32_t tail, int set);
/* Counts links that are in several sets of one split, each once: of the same time, if they have
 * times. */
int gnn_listed_links_shared(const struct gnn_listed_links *x, struct gnn_leak *l,
                            struct gnn_err *e) GNN_MUST_USE;
/* Counts edges of the store that are links of sets valid and test, unless these are to carry
 * messages, or, of the type, if it joins nodes of one type, and of the type with its reverses, the
 * reverses of such links: of the same time, if both have times. */
int gnn_listed_links_messages(const struct gnn_listed_links *x, struct gnn_leak *l,
                              struct gnn_err *e) GNN_MUST_USE;

#endif
