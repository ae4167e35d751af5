/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders of DGL that are not read: how they are recognised, and what converts them. For
 * messages only; private to lib/import. */
#ifndef GNN_LIB_IMPORT_DGL_REFUSE_H
#define GNN_LIB_IMPORT_DGL_REFUSE_H

#include <stdbool.h>

#include "lib/base/err.h"

/* Whether the reader of pickles refused a FusedCSCSamplingGraph of GraphBolt; and GNN_E_INPUT with
 * what converts it. */
bool gnn_dgl_refuse_is_graph(const char *why);
int gnn_dgl_refuse_graph(const char *name, struct gnn_err *e);

/* GNN_E_INPUT for an archive of a partition. */
struct gnn_input;
int gnn_dgl_refuse_folder(const struct gnn_input *in, struct gnn_err *e) GNN_MUST_USE;

#endif
