/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates of links in a pickle of the Temporal Graph Benchmark: a dict with an array of tails
 * for each link, by its head, its tail and its time. Nodes are numbered through: heads from 0, in
 * the order of original ids; tails likewise or, of another node type, after all heads. Not for use
 * outside lib/import. */
#ifndef GNN_LIB_IMPORT_LINK_DICT_H
#define GNN_LIB_IMPORT_LINK_DICT_H

#include "lib/import/link_sets.h"
#include "lib/import/read/value_file.h"

struct link_dict_entry {
    int64_t head, tail, time;
    const struct gnn_pickle_value *tails;
};
/* Zeroed = nothing. */
struct link_dict {
    const char *name;            /* the caller's, for messages */
    struct gnn_array_list *held; /* the file */
    const struct gnn_torch_file *file;
    struct link_dict_entry *entry; /* [n] by head, tail and time */
    uint64_t n;
};

/* Opens a file, of which d->n is 0 if it is no such pickle. GNN_E_INPUT for keys that are no
 * (head, tail, time). *d is to be released in any case. */
int gnn_link_dict_open(struct link_dict *d, const char *file, struct gnn_err *e) GNN_MUST_USE;
/* Makes the candidates of all links of a set, those of the link's head: as many for each or, if
 * some have fewer, lists. GNN_E_INPUT for links without an entry, entries that are no lists of
 * tails, and a link's own tail in one of lists of different lengths. */
int gnn_link_dict_take(const struct link_dict *d, struct link_sets *x, uint32_t set,
                       struct gnn_err *e) GNN_MUST_USE;
void gnn_link_dict_release(struct link_dict *d);

#endif
