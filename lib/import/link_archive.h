/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of links, and their negatives, in an archive of a link-property data set of the Open Graph
 * Benchmark: below split/NAME a file of torch.save for each set, or split_dict.pt, of dicts whose
 * keys lib/import/link_keys.h has; or in an OnDiskDataset of GraphBolt. Not for use outside
 * lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_ARCHIVE_H
#define GNN_LIB_IMPORT_LINK_ARCHIVE_H

#include "lib/import/link_split.h"
#include "lib/import/link_text.h"
#include "lib/import/read/input.h"
#include "lib/data/schema.h"

/* Zeroed = none. */
struct gnn_link_archive {
    struct gnn_input *in;      /* the archive, or directory */
    int member[GNN_LINK_SETS]; /* files of the sets, which may be one; -1: there is none */
    struct gnn_input *file;    /* the one that was read last */
    int open;                  /* as which member */
    bool dict;                 /* keys have the name of the set before them */
    bool ondisk;               /* it is an OnDiskDataset, whose arrays are `in` and `file` */
    bool typed;                /* of triples, only those of a relation are read */
    int64_t relation;          /* which then is that of the edge type */
    char unread[256];          /* keys of arrays that no function here reads */
};

/* Whether the text after "S/R/D=" is "ogb:PATH" or "graphbolt:PATH[:TASK]". */
bool gnn_link_archive_is(const char *text);
/* Opens PATH, for the links of an edge type: of triples those of its relation, whose number
 * raw/relations/S___R___D/edge_reltype says, or, if it is the only type, all. GNN_E_INPUT, if it
 * has no sets of links, or those of several splits or tasks; GNN_E_USAGE, if there is no path. *a
 * is to be released in any case. */
int gnn_link_archive_open(struct gnn_link_archive *a, const char *text, const struct gnn_schema *c,
                          uint32_t etype, struct gnn_err *e) GNN_MUST_USE;
/* "ARCHIVE: MEMBER: KEY" of a set, for messages, to be freed with gnn_free; NULL without memory. */
char *gnn_link_archive_name(const struct gnn_link_archive *a, uint32_t set, const char *key,
                            struct gnn_err *e);
/* Reads the links of a set into x, whose name messages have; and their times, if x has them. */
int gnn_link_archive_links(struct gnn_link_archive *a, uint32_t set, struct gnn_link_text *x,
                           struct gnn_err *e) GNN_MUST_USE;
/* Likewise, its negatives, as x->rows then says; x->n 0: there are none. */
int gnn_link_archive_negatives(struct gnn_link_archive *a, uint32_t set, struct gnn_link_text *x,
                               struct gnn_err *e) GNN_MUST_USE;
void gnn_link_archive_release(struct gnn_link_archive *a);

#endif
