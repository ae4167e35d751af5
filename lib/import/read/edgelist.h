/* SPDX-License-Identifier: Apache-2.0 */
/* Edge lists in text: shared by SNAP, CSV and Matrix Market. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_EDGELIST_H
#define GNN_LIB_IMPORT_EDGELIST_H

#include "lib/import/read/src.h"
#include "lib/import/read/table.h"

enum { GNN_EDGELIST_FIELDS = 16 };

struct gnn_mtx;
struct gnn_reading;

struct gnn_edgelist {
    struct gnn_src s;
    uint32_t member;
    char *types;         /* owned: what type points to */
    const char *type[3]; /* of a text table: types of sources, of edges and of targets */
    bool words;          /* ids of --nodes are words, and so must those of the edges be */
    /* The ids of sources and of targets, which may be the same; NULL: nodes are counted. */
    struct gnn_nodeids *end[2];
    bool known[2];        /* they are finished: another one is an error; else they are collected */
    bool one_of_several;  /* the caller sets end and known, finishes the ids, and settles */
    const char *table[2]; /* file that all ids of this end are from, or NULL */
    struct gnn_reading *reading; /* owned; NULL of a matrix, of which the next three lines speak */
    char comment;
    uint32_t skip;  /* lines before the first edge that are not comments */
    uint32_t ncols; /* fields an edge's line must have; 0: as many as the lines that are skipped */
    uint64_t base;  /* of the ids: 0 or 1 */
    uint64_t declared;         /* edges that the header declares; UINT64_MAX: it does not say */
    const struct gnn_mtx *mtx; /* what a matrix's header says, or NULL */
    bool skew;                 /* each entry gives the reverse edge of opposite weight, too */
    struct gnn_pick pick[2 + GNN_EDGELIST_FIELDS];
    uint32_t npick;
    bool target_first;                       /* the target's column comes before the source's */
    uint32_t num_of[GNN_EDGELIST_FIELDS];    /* field -> which number of a row */
    uint64_t n;                              /* edges, after the scan */
    const char *finite[GNN_EDGELIST_FIELDS]; /* number -> what gnn_src_finite says of its field */
    struct gnn_numbers seen[GNN_EDGELIST_FIELDS]; /* number -> what the scan saw */
    uint32_t *kept; /* [2n] nodes of all edges, if few enough to be kept from the scan */
    union gnn_number *kept_num; /* real */
};

/* Reads all edges once: counts, collects ids (unless the node types are already there) and kinds of
 * numbers. */
int gnn_edgelist_scan(struct gnn_edgelist *l, struct gnn_err *e) GNN_MUST_USE;
/* After the ids of one of several tables are finished: its node types are known. */
int gnn_edgelist_settle(struct gnn_edgelist *l, struct gnn_err *e) GNN_MUST_USE;
/* Forgets what a scan that failed has found, for another one. */
void gnn_edgelist_forget(struct gnn_edgelist *l);
/* Has the pass of the edges read number k as i64, after the scan saw integers only. */
void gnn_edgelist_take_whole(struct gnn_edgelist *l, uint32_t k);
extern const struct gnn_dataset_ops gnn_edgelist_ops;

#endif
