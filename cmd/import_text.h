/* SPDX-License-Identifier: Apache-2.0 */
/* The lines and metrics that gnn-import prints about an import. */
#ifndef GNN_CMD_IMPORT_TEXT_H
#define GNN_CMD_IMPORT_TEXT_H

#include "lib/import/import.h"

void import_text(const struct gnn_dataset *d, const struct gnn_import_opts *o,
                 const struct gnn_import_stats *st, double seconds);

#endif
