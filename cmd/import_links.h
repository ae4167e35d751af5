/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-import --split-links: a store in, a split of its links out. */
#ifndef GNN_CMD_IMPORT_LINKS_H
#define GNN_CMD_IMPORT_LINKS_H

#include "lib/import/link_split.h"

/* Writes the split of the store `input` to `output`, and tells about it; ends the program on
 * failure. */
void import_links(const char *input, const struct gnn_link_split_opts *o, const char *output,
                  bool force);

#endif
