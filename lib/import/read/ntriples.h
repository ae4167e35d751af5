/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of N-Triples (RDF 1.1), one a line: <SUBJECT> <PREDICATE> <OBJECT> . Private to
 * lib/import. */
#ifndef GNN_LIB_IMPORT_NTRIPLES_H
#define GNN_LIB_IMPORT_NTRIPLES_H

#include "lib/base/foreign.h"
#include "lib/import/read/table.h"

/* IRIs without their brackets, with what is escaped in them as UTF-8, and blank nodes as _:NAME. */
struct gnn_statement {
    struct gnn_word subject, predicate, object;
    bool literal; /* the object is one, and not read */
    uint64_t line;
};

/* Whether a text that was recognised so is N-Triples. */
static inline bool gnn_ntriples_is(const struct gnn_foreign *f)
{
    return f && f->text && f->graph;
}

/* The next statement of a table that was opened with comments of '#'; GNN_END after the last. Words
 * are decoded in place, and valid until the next call of gnn_table_line finds no line in memory. */
int gnn_ntriples_next(struct gnn_table *t, struct gnn_statement *s, struct gnn_err *e) GNN_MUST_USE;

#endif
