/* SPDX-License-Identifier: Apache-2.0 */
/* The ids of one node type, as the data set writes them. They are
 *
 * - a count: 0 to n-1, each its own node;
 * - numbers: a node is the rank of its id among all ids, or has its place in a list;
 * - words: nodes in order of first occurrence in the edges, and after these the ones that only other
 *   tables name, in the order of their bytes, so that these tables may be in any order.
 *
 * Ids are added, then finished, then looked up. Not thread-safe before _finish; thread-safe after.
 */
#ifndef GNN_LIB_IMPORT_NODEIDS_H
#define GNN_LIB_IMPORT_NODEIDS_H

#include "lib/import/idmap.h"
#include "lib/import/words.h"

enum gnn_nodeids_kind { GNN_IDS_COUNT, GNN_IDS_NUMBERS, GNN_IDS_WORDS };
enum { GNN_ID_TEXT = 64 }; /* capacity for the next two */

/* Zeroed object: a count of 0. */
struct gnn_nodeids {
    enum gnn_nodeids_kind kind; /* set it to NUMBERS or WORDS to add ids */
    uint64_t n;                 /* nodes, after _finish */
    /* [n] after _finish of NUMBERS that are not 0 to n-1, ascending, or after _take; else NULL */
    int64_t *key;
    /* [n] the node of each rank, after _take of ids that do not ascend; else NULL */
    uint32_t *place;
    struct gnn_idmap map;
    struct gnn_words words; /* [n] in order of nodes, after _finish of WORDS */
    uint64_t of_edges;      /* ids that were there at _seal */
};

/* Numbers above 2^63-1 are GNN_E_INPUT. */
int gnn_nodeids_add_numbers(struct gnn_nodeids *ids, const uint64_t *key, uint64_t n,
                            struct gnn_err *e) GNN_MUST_USE;
/* node[i] is the node of word i, for good unless _seal was called before. */
int gnn_nodeids_add_words(struct gnn_nodeids *ids, const struct gnn_word *word, uint64_t n,
                          uint32_t *node, struct gnn_err *e) GNN_MUST_USE;
/* All edges are read: what is added from now on is what only other tables name. */
void gnn_nodeids_seal(struct gnn_nodeids *ids);
/* Whether the edges name an id; between _seal and the next _add. */
bool gnn_nodeids_in_edges(const struct gnn_nodeids *ids, const struct gnn_word *word);
/* GNN_E_INPUT for more than 2^32-2 nodes. */
int gnn_nodeids_finish(struct gnn_nodeids *ids, struct gnn_err *e) GNN_MUST_USE;

/* Adds and finishes n ids that are numbers, of nodes 0 to n-1 in this order. GNN_E_INPUT, with
 * `where` and the row, for one that is negative or there twice. */
int gnn_nodeids_take(struct gnn_nodeids *ids, const int64_t *key, uint64_t n, const char *where,
                     struct gnn_err *e) GNN_MUST_USE;

/* The node of a number, of a count or of NUMBERS; UINT64_MAX: there is none. */
static inline uint64_t gnn_nodeids_number(const struct gnn_nodeids *ids, uint64_t key)
{
    if (ids->kind == GNN_IDS_COUNT || (ids->kind == GNN_IDS_NUMBERS && !ids->key))
        return key < ids->n ? key : UINT64_MAX;
    const uint64_t rank =
        ids->kind == GNN_IDS_NUMBERS ? gnn_idmap_find(&ids->map, key) : UINT64_MAX;
    return ids->place && rank != UINT64_MAX ? ids->place[rank] : rank;
}
/* The nodes of ids in text, of any kind; UINT32_MAX: there is none. */
void gnn_nodeids_find(const struct gnn_nodeids *ids, const struct gnn_word *word, uint64_t n,
                      uint32_t *node);
/* Whether a word is a whole number below 2^64 and nothing else. */
bool gnn_word_number(const struct gnn_word *w, uint64_t *v);
/* A word for messages, as gnn_text_shown has it. */
const char *gnn_word_shown(const struct gnn_word *w, char text[GNN_ID_TEXT]);
/* The id of a node below n, for messages. */
const char *gnn_nodeids_text(const struct gnn_nodeids *ids, uint64_t node, char text[GNN_ID_TEXT]);
void gnn_nodeids_release(struct gnn_nodeids *ids);

#endif
