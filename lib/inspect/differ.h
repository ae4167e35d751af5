/* SPDX-License-Identifier: Apache-2.0 */
/* Recording a difference. Not for use outside lib/inspect. */
#ifndef GNN_LIB_INSPECT_DIFFER_H
#define GNN_LIB_INSPECT_DIFFER_H

#include "lib/inspect/inspect.h"

/* The place; values follow in d->a and d->b. Returns GNN_OK, so that "return differ(...)" ends a
 * comparison. */
int gnn_differ(struct gnn_diff *d, const char *fmt, ...) GNN_PRINTF(2, 3);
/* As gnn_differ, with both values as text. */
int gnn_differ_text(struct gnn_diff *d, const char *a, const char *b, const char *fmt, ...)
    GNN_PRINTF(4, 5);
/* Two dense runs of n elements; where names what they are, the element's number is counted from
 * `first`. */
int gnn_differ_elements(struct gnn_diff *d, enum gnn_dtype dtype, const void *a, const void *b,
                        uint64_t n, uint64_t first, const char *where);
/* Name, dtype, shape, elements. */
int gnn_differ_tensor(struct gnn_diff *d, const struct gnn_tensor *a, const struct gnn_tensor *b,
                      const char *where);
/* Two JSON texts, member by member: names the first member that differs. */
int gnn_differ_json(struct gnn_diff *d, const json_t *a, const json_t *b, const char *where);
/* Two headers, under GNN_DIFF_* flags; nparts counts unless GNN_DIFF_ORIGINAL. */
int gnn_differ_meta(struct gnn_diff *d, const struct gnn_meta *a, const struct gnn_meta *b,
                    unsigned flags, struct gnn_err *e) GNN_MUST_USE;

#endif
