/* SPDX-License-Identifier: Apache-2.0 */
/* What an input is, from names and content. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_DETECT_H
#define GNN_LIB_IMPORT_DETECT_H

#include "lib/import/read/input.h"

/* The name of the format that reads the input, as --format has it: static. GNN_E_INPUT where no
 * format does. */
int gnn_detect(struct gnn_input *in, const char **format, struct gnn_err *e) GNN_MUST_USE;

#endif
