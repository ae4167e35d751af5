/* SPDX-License-Identifier: Apache-2.0 */
/* Names as text. */
#ifndef GNN_LIB_DATA_TEXT_CHECK_H
#define GNN_LIB_DATA_TEXT_CHECK_H

#include <stddef.h>

#include "lib/base/err.h"

/* GNN_E_INPUT "WHAT name '...' ..." unless a name has 1 to `most` bytes of UTF-8 without control
 * characters. */
int gnn_text_check(const char *name, const char *what, size_t most, struct gnn_err *e) GNN_MUST_USE;

#endif
