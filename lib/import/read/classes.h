/* SPDX-License-Identifier: Apache-2.0 */
/* Labels that are words: classes in the byte order of their names, whatever the order of rows. */
#ifndef GNN_LIB_IMPORT_CLASSES_H
#define GNN_LIB_IMPORT_CLASSES_H

#include "lib/data/schema.h"
#include "lib/import/read/input.h"
#include "lib/import/words.h"

/* *number is the word's own, until _finish gives another; -1 for a missing label (empty, NA, nan).
 */
int gnn_classes_add(struct gnn_words *c, const struct gnn_word *word, int32_t *number,
                    struct gnn_err *e) GNN_MUST_USE;
/* Turns y, n numbers from _add, into classes, and tells the schema the task (-1: binary for two
 * classes, else multiclass), their number and names. GNN_E_INPUT "WHERE: ..." for fewer than two
 * classes, GNN_E_USAGE for a task that has no classes. */
int gnn_classes_finish(struct gnn_words *c, int task, int32_t *y, uint64_t n, const char *where,
                       struct gnn_schema *s, struct gnn_err *e) GNN_MUST_USE;

/* A text member of one word a line, which are not numbers: *y [*rows] from gnn_classes_add, to be
 * freed with gnn_free; NULL, without a failure, if the member's first label is not a word. */
int gnn_classes_read(struct gnn_words *c, struct gnn_input *in, uint32_t member, int32_t **y,
                     uint64_t *rows, struct gnn_err *e) GNN_MUST_USE;

#endif
