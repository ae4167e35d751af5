/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the format of an input, from names and content. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DETECT_H
#define GNN_LIB_IMPORT_DETECT_H

#include "lib/import/read/input.h"

/* *format is the name of the format that reads the input, as --format has it, or NULL: it is then
 * found out, and static. Members that are parts of one table are joined, those that are no data
 * left out. GNN_E_INPUT where no format reads the input. */
int gnn_detect(struct gnn_input *in, const char **format, struct gnn_err *e) GNN_MUST_USE;

#endif
