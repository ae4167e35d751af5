/* SPDX-License-Identifier: Apache-2.0 */
/* The ids that the data set gave to the nodes of a type: words, whole numbers, or 0 to n-1. */
#ifndef GNN_LIB_STORE_NAMES_H
#define GNN_LIB_STORE_NAMES_H

#include "lib/store/store.h"

/* Space for an id that is no word, and NUL. */
enum { GNN_NODE_NAME_CAPACITY = 24 };

/* Names of the nodes of all open parts; the store must outlive them. */
struct gnn_names {
    const struct gnn_store *s;
    uint32_t ntype;
    const struct gnn_names_part {
        const uint32_t *id;       /* original ids; NULL: those of the store */
        const int64_t *key;       /* ids of the data set, where they are numbers with gaps, */
        const uint8_t *word;      /* or words, back to back */
        const uint64_t *word_end; /* [n+1]: word i is [word_end[i], word_end[i + 1]) */
    } * part;                     /* [nparts] */
};

/* GNN_E_INPUT for offsets of words that are out of order. Takes any object; on failure there is
 * nothing to release. */
int gnn_names_init(struct gnn_names *n, struct gnn_store *s, uint32_t ntype,
                   struct gnn_err *e) GNN_MUST_USE;
void gnn_names_release(struct gnn_names *n);
/* The id of a node, given by its position in the store, which must be in an open part: *len bytes
 * of the store or of buf, without NUL. Thread-safe. */
const char *gnn_names_of(const struct gnn_names *n, uint64_t store_id,
                         char buf[GNN_NODE_NAME_CAPACITY], size_t *len);

#endif
