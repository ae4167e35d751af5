/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a graph of several types, whose names begin with them: TYPE/FIELD of nodes, and
 * SRC/REL/DST/FIELD of edges. Private to lib/import. */
#ifndef GNN_LIB_IMPORT_TYPED_ARRAYS_H
#define GNN_LIB_IMPORT_TYPED_ARRAYS_H

#include "lib/import/read/formats.h"

/* Whether the members are such arrays: of a list that says so, of an .npz, or of files in more than
 * one directory. */
bool gnn_typed_arrays_is(const struct gnn_input *in);
extern const struct gnn_format gnn_typed_format;

#endif
