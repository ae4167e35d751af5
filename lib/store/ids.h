/* SPDX-License-Identifier: Apache-2.0 */
/* Between store ids and the ids of the unpartitioned store; lists of ids, and lists of ids as text.
 */
#ifndef GNN_LIB_STORE_IDS_H
#define GNN_LIB_STORE_IDS_H

#include "lib/base/mem.h"
#include "lib/data/batch.h"
#include "lib/store/store.h"

/* *inverse[original id] = store id of type t, or NULL if the two are the same. Free with gnn_free.
 * GNN_E_INPUT when the store's original ids are not a permutation. */
int gnn_store_inverse(struct gnn_store *s, uint32_t t, uint32_t **inverse,
                      struct gnn_err *e) GNN_MUST_USE;
/* Fills v (nodes of type t), of which this rank has the elements of its own nodes, with those of
 * all ranks. Collective. */
int gnn_store_all_gather(const struct gnn_store *s, uint32_t t, uint32_t *v,
                         struct gnn_err *e) GNN_MUST_USE;
/* As gnn_store_inverse, in any case; UINT32_MAX for nodes of parts that are not open. */
int gnn_store_nodes(struct gnn_store *s, uint32_t t, uint32_t **ids,
                    struct gnn_err *e) GNN_MUST_USE;

/* Store ids of a batch's first n nodes of type t: the batch's own, or, where these are original
 * ones and inverse is not NULL, in space, which the caller keeps. Fails if one is out of range, by
 * _bad_node: GNN_E_INPUT, "batch E/S: node id out of range". */
int gnn_store_batch_ids(const struct gnn_store *s, const struct gnn_batch *b, uint32_t t,
                        uint64_t n, const uint32_t *inverse, struct gnn_buf *capacity,
                        const uint32_t **ids, struct gnn_err *e) GNN_MUST_USE;
int gnn_store_bad_node(const struct gnn_batch *b, struct gnn_err *e);

/* Ascending, in place. */
void gnn_u32_sort(uint32_t *v, uint64_t n);

/* Names of nodes: whether one is called by these n bytes, and then which. */
struct gnn_id_names {
    bool (*find)(const struct gnn_id_names *names, const char *text, size_t n, uint32_t *id);
};

/* Decimal numbers separated by white space, or lines with one and a time, read from a descriptor as
 * they arrive. With names, a line may be one, in quotes or not, and what is also the name of a node
 * is no number. */
struct gnn_id_reader {
    int fd;
    const char *name; /* for messages; not owned */
    const char *what; /* "node id", "part number" */
    uint64_t limit;   /* ids are below this */
    uint64_t line;    /* where reading goes on */
    uint64_t at_line; /* of the last id */
    uint32_t at, have;
    bool over, returned;              /* at the end; the last byte was a carriage return */
    bool fresh;                       /* nothing of the line has been read */
    bool lists;                       /* an empty line ends a list; set after _init */
    const struct gnn_id_names *names; /* or NULL; set after _init */
    struct gnn_buf text;              /* a line, when there are names */
    uint32_t from, len;               /* what is unread of it: numbers */
    char buf[16384];
};

void gnn_id_reader_init(struct gnn_id_reader *r, int fd, const char *name, const char *what,
                        uint64_t limit);
/* Frees what names took; the descriptor stays open. */
void gnn_id_reader_release(struct gnn_id_reader *r);
/* Reads up to `want` ids; fewer only at the end of the input or, with `lists`, before an empty
 * line, and none only at the end. */
int gnn_id_reader_next(struct gnn_id_reader *r, uint32_t *ids, uint64_t want, uint64_t *got,
                       struct gnn_err *e) GNN_MUST_USE;
/* As gnn_id_reader_next, of lines with an id and its time: i64 or, with `real`, f64 and no NaN,
 * whose bits are in times. */
int gnn_id_reader_timed(struct gnn_id_reader *r, uint32_t *ids, int64_t *times, bool real,
                        uint64_t want, uint64_t *got, struct gnn_err *e) GNN_MUST_USE;

#endif
