/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of links that files list (lib/import/link_split.h). Not for use outside lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_GIVEN_H
#define GNN_LIB_IMPORT_LINK_GIVEN_H

#include "lib/import/link_archive.h"
#include "lib/import/link_text.h"
#include "lib/store/view.h"

/* A link of a file, in the order in which edges look for it. */
struct link_listed {
    uint64_t time; /* as gnn_time_key's; 0: links have no times */
    uint32_t head, tail;
    uint32_t set;
    uint64_t at; /* its place in the set */
};
struct link_given {
    const char *text; /* of the option, for messages */
    char *file[GNN_LINK_SETS];
    struct gnn_link_text list[GNN_LINK_SETS]; /* n 0: there is no file */
    struct gnn_buf all;                       /* struct link_listed (n), by tail, head and time */
    uint64_t n;
    struct gnn_link_archive *archive; /* the caller's, for "ogb:PATH" */
    bool own;                         /* sets are the archive's, where a link may be in several */
    bool both;                        /* a link is the same in both directions */
    uint64_t *found;                  /* a bit for each of them: it is an edge */
};

/* A file of links of an edge type, by ids of the data set, before it is read. */
struct gnn_link_text gnn_link_text_of(const struct gnn_view *v, uint32_t etype);
/* Whether the text after "S/R/D=" names files. */
bool gnn_link_given_is(const char *text);
/* Reads the files, "train=FILE,valid=FILE,test=FILE" of those that there are, or of "ogb:PATH",
 * an archive that it opens: heads and tails of an edge type and, if its edges are ordered by times
 * (of dtype `order`, else 0), these. Takes an object that is zeroed except the archive, which is to
 * be released in any case. GNN_E_USAGE for another text, GNN_E_INPUT for what is in the files. */
int gnn_link_given_read(struct link_given *g, const char *option, const char *text,
                        const struct gnn_view *v, uint32_t etype, enum gnn_dtype order,
                        enum gnn_dtype times, struct gnn_err *e) GNN_MUST_USE;
/* Prepares _find; `both`: a link is the same in both directions. GNN_E_INPUT for a link that is in
 * two sets of files. Of an archive, again[set] counts those that an earlier set has, too. */
int gnn_link_given_sort(struct link_given *g, bool both, uint64_t again[GNN_LINK_SETS],
                        struct gnn_err *e) GNN_MUST_USE;
/* The first set of an edge, or GNN_LINK_SETS: no file lists it; notes that links of the file are
 * edges.
 */
uint32_t gnn_link_given_find(struct link_given *g, uint32_t head, uint32_t tail, uint64_t time);
/* After all edges were looked for: how many links of each set are none. GNN_E_INPUT if one is of
 * set train. */
int gnn_link_given_absent(const struct link_given *g, uint64_t absent[GNN_LINK_SETS],
                          struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_link_given_release(struct link_given *g);

#endif
