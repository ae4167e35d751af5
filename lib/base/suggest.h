/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a message about an unknown word: the nearest valid name and the list of valid names.
 */
#ifndef GNN_LIB_BASE_SUGGEST_H
#define GNN_LIB_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GNN_SUGGEST_WORD = 160, /* longer names are listed cut short, and never suggested */
    GNN_SUGGEST_LIST = 400, /* bytes of names that are listed; the others are counted */
    GNN_SUGGEST_TEXT = GNN_SUGGEST_WORD + GNN_SUGGEST_LIST + 96
};

/* All zero, except `word`, which the caller owns. */
struct gnn_suggest {
    const char *word;
    unsigned cost;               /* of `best`, if there is one */
    uint32_t listed, more;       /* names in `list`, and beyond it */
    char best[GNN_SUGGEST_WORD]; /* the name nearest to `word` so far, or "" */
    char list[GNN_SUGGEST_LIST];
    char text[GNN_SUGGEST_TEXT];
};

/* Edits (a letter changed, missing, added, or two neighbours swapped; case does not count) from a
 * to b: the restricted Damerau-Levenshtein distance. GNN_SUGGEST_WORD where one of them is too
 * long. */
unsigned gnn_suggest_edits(const char *a, const char *b);
/* Adds a name that may be suggested but is not listed. */
void gnn_suggest_try(struct gnn_suggest *s, const char *name);
/* Adds a name that may be suggested and is listed. */
void gnn_suggest_add(struct gnn_suggest *s, const char *name);
/* Adds all words of "a|b|c". */
void gnn_suggest_words(struct gnn_suggest *s, const char *words);
/* "; did you mean 'valid'?", or "". Lives as long as s. */
const char *gnn_suggest_meant(struct gnn_suggest *s);
/* "; did you mean 'valid'? WHAT: train, valid, test"; without a suggestion "; WHAT: ..."; "" where
 * nothing was added. Lives as long as s. */
const char *gnn_suggest_text(struct gnn_suggest *s, const char *what);

#endif
