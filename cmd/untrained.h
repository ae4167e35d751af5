/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about edges that a model leaves out, since training never saw one. */
#ifndef GNN_CMD_UNTRAINED_H
#define GNN_CMD_UNTRAINED_H

#include "lib/model/model.h"

/* "layer 0: a/to/b, b/to/a and 2 more; layer 1: a/to/b" of a list as c.untrained (NULL: "");
 * overwritten by the next call. */
const char *untrained_text(const struct gnn_model_config *c, const bool *list);

/* Says that the file at `path`, which is no state dict, does not tell what training saw, if so. */
void untrained_tell_unknown(const struct gnn_model *m, const char *path);

#endif
