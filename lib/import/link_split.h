/* SPDX-License-Identifier: Apache-2.0 */
/* Splits of links: stores that have, beside what their base store has, sets of links of one edge
 * type, and of its edges only those that carry messages. */
#ifndef GNN_LIB_IMPORT_LINK_SPLIT_H
#define GNN_LIB_IMPORT_LINK_SPLIT_H

#include "lib/store/store.h"

enum gnn_link_set { GNN_LINKS_TRAIN, GNN_LINKS_VALID, GNN_LINKS_TEST, GNN_LINK_SETS };
extern const char *const gnn_link_set_name[GNN_LINK_SETS];
/* The set whose name the first n characters are, or -1. */
int gnn_link_set_find(const char *name, size_t n);

struct gnn_link_split_opts {
    /* "S/R/D=TRAIN/VALID/TEST", shares that add up to 1 or 100: at random, by pair of nodes;
     * "S/R/D=time:TRAIN/VALID/TEST": by time, what is equal in one set; or
     * "S/R/D=train=FILE,valid=FILE,test=FILE", of which any may be missing: those of the files, by
     * ids of the data set, and as set train, if it is missing, all other edges; or
     * "S/R/D=ogb:PATH" or "S/R/D=graphbolt:PATH": those, and their negatives, of an archive of OGB
     * or an OnDiskDataset of GraphBolt */
    const char *text;
    /* The share of the training pairs that carry no messages, and which alone set train has then;
     * 0: all carry some, and are in it. At random only. */
    double supervision;
    /* "SET,...": sets whose links carry messages, train among them; NULL: train alone. Test only if
     * links have times. */
    const char *messages;
    uint64_t seed; /* at random only; */
    bool seeded;   /* it was asked for */
    /* "SET=FILE,...": negatives of valid or test. A row of two is a pair, a head and a tail, which
     * all links of the set share; other rows are candidates, as many tails for each link, of a set
     * that a file lists, in its order. */
    const char *const *negatives;
    uint32_t nnegatives;
};

struct gnn_link_split_stats {
    uint32_t etype;
    int rev;        /* the type of its reverses, whose edges are left out likewise; or -1 */
    bool symmetric; /* each pair is an edge both ways, and one link */
    bool timed;     /* links have times */
    uint64_t pairs; /* at random: of nodes; otherwise 0 */
    bool listed;    /* sets are of files: links may be no edges, and edges may be in no set */
    uint64_t absent[GNN_LINK_SETS], unlisted;
    uint64_t again[GNN_LINK_SETS]; /* links that an earlier set has, too */
    char unread[256];              /* what else is in an archive */
    /* Given negatives: candidates, if each, else shared; candidates that are their link's tail. */
    uint64_t given[GNN_LINK_SETS], same[GNN_LINK_SETS];
    bool each[GNN_LINK_SETS];
    uint64_t fewest[GNN_LINK_SETS], most[GNN_LINK_SETS]; /* candidates, if links have not as many */
    uint64_t set[GNN_LINK_SETS];                         /* links */
    uint64_t kept[GNN_LINK_SETS]; /* edges that remain, by set; those of no set count as train's */
    uint64_t messages, rev_messages; /* edges of the two types that are left */
};

/* Writes the split of store s, all parts of which are open, whole or not at all: the same links in
 * the same order for any partitions. provenance may be NULL. GNN_E_USAGE: shares that are none, no
 * such type, no times; a store that is split already; sets that carry no messages. GNN_E_INPUT: a
 * set that is asked for would be empty; what is in files. */
int gnn_link_split_write(struct gnn_store *s, const struct gnn_link_split_opts *o, const char *path,
                         bool force, const char *provenance, struct gnn_link_split_stats *st,
                         struct gnn_err *e) GNN_MUST_USE;

#endif
