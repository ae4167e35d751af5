/* SPDX-License-Identifier: Apache-2.0 */
/* Which links are in which set of a split, in original ids (lib/import/link_split.h). Not for use
 * outside lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_SETS_H
#define GNN_LIB_IMPORT_LINK_SETS_H

#include "lib/import/link_archive.h"
#include "lib/store/view.h"

/* Beside enum gnn_link_set: training links whose edges carry no messages (--supervision). */
enum { LINK_APART = GNN_LINK_SETS };

/* Edges of a type, numbered through in original order: the in-edges of tail v, original, are
 * first[v] to first[v + 1] - 1. */
struct link_edge_sets {
    uint32_t etype;
    uint64_t n;
    uint64_t *first; /* (tails + 1) */
    uint8_t *of;     /* (n) the set, or LINK_APART; edges of no set: GNN_LINKS_TRAIN */
};
struct link_members {
    uint32_t *ends; /* (2 n) heads and tails */
    int64_t *time;  /* (n) as i64 or f64; NULL: none */
    uint64_t *id;   /* (n) their edges, as link_edge_sets has them; NULL: links of a file */
    uint64_t n;
};

struct link_sets {
    const struct gnn_view *view;
    struct link_edge_sets edges[2]; /* of the type, and of its reverses */
    uint32_t ntypes;                /* 1: there is no type of reverses */
    enum gnn_dtype time;            /* of links: I64, F64 or 0 */
    bool symmetric;
    bool carries[GNN_LINK_SETS]; /* whether edges of the set carry messages */
    uint64_t pairs;              /* at random */
    /* Sets of files: links of each that are no edges, and that an earlier set has, too; edges that
     * no file lists. */
    bool listed;
    uint64_t absent[GNN_LINK_SETS], again[GNN_LINK_SETS], unlisted;
    struct gnn_link_archive archive; /* in which they are, if it is open */
    struct link_members set[GNN_LINK_SETS];
    /* Given negatives. each: candidates for each link of set[i], as many, or fewest to most, and
     * the link itself at the end (lib/store/ragged.h); else pairs that all share. same: how many
     * candidates are the tail of their own link. */
    struct link_members given[GNN_LINK_SETS];
    bool each[GNN_LINK_SETS];
    uint64_t fewest[GNN_LINK_SETS], most[GNN_LINK_SETS]; /* equal: as many */
    uint64_t same[GNN_LINK_SETS];
};

/* Whether links of a set have different numbers of candidates. */
static inline bool link_sets_vary(const struct link_sets *x, uint32_t set)
{
    return x->fewest[set] < x->most[set];
}
/* Whether an edge carries messages. */
static inline bool link_sets_carry(const struct link_sets *x, uint8_t of)
{
    return of < GNN_LINK_SETS && x->carries[of];
}

/* Parses the text and fills x, which is zeroed, and to be released on failure, too. */
int gnn_link_sets_init(struct link_sets *x, const struct gnn_view *v,
                       const struct gnn_link_split_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* Fills x->given, after _init, from files (struct gnn_link_split_opts). GNN_E_USAGE for what names
 * no set and file, GNN_E_INPUT for what is in the files. */
int gnn_link_sets_negatives(struct link_sets *x, const struct gnn_link_split_opts *o,
                            struct gnn_err *e) GNN_MUST_USE;
/* Fills x->carries, after _init. GNN_E_USAGE for another text, a set without links, and test
 * without times; GNN_E_INPUT for links that are no edges. */
int gnn_link_sets_messages(struct link_sets *x, const struct gnn_link_split_opts *o,
                           struct gnn_err *e) GNN_MUST_USE;
void gnn_link_sets_release(struct link_sets *x);

#endif
