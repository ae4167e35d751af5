/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as labels: which task they are of, and whether it accepts them. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_LABELS_H
#define GNN_LIB_IMPORT_LABELS_H

#include "lib/import/dataset.h"
#include "lib/import/read/number_type.h"

/* Turns n rows of *width numbers in place into labels of the node type, of *dtype and *width (0:
 * one number a node) as the schema's field y has them, and tells the schema their task: the given
 * one, or if that is -1 multilabel for several columns, binary or multiclass for one. GNN_E_INPUT
 * "WHERE: row R: ..." for a number that the task does not accept, and for a column of ids. line: of
 * each node's row, which was found by an id; NULL: rows are in order. */
int gnn_labels_take(struct gnn_dataset *d, int task, uint32_t ntype, double *v, uint64_t n,
                    uint64_t *width, enum gnn_dtype *dtype, const char *where, const uint64_t *line,
                    struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT "WHERE: ..." if the schema has a task of another node type, as a store has one. */
int gnn_labels_of_one(const struct gnn_schema *sc, uint32_t ntype, const char *where,
                      struct gnn_err *e) GNN_MUST_USE;
/* Whether a column is the ids of the nodes in order: 0, 1, 2 or 1, 2, 3 and so on, or the data
 * set's own. Of two rows or fewer that cannot be told: false. Begun with {.zero = true, .one =
 * true, .key = the ids of gnn_nodeids or NULL}. */
struct gnn_id_column {
    const int64_t *key;
    uint64_t n;
    bool zero, one, other;
};
/* The next row, perhaps as rounded to f32. */
static inline void gnn_id_column_add(struct gnn_id_column *c, double v)
{
    const float f = (float)v;
    c->zero = c->zero && f == (float)c->n;
    c->one = c->one && f == (float)(c->n + 1);
    c->other = c->other || !c->key || f != (float)c->key[c->n];
    c->n++;
}
static inline bool gnn_id_column_is(const struct gnn_id_column *c)
{
    return c->n > 2 && (c->zero || c->one || !c->other);
}

#endif
