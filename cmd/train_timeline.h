/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of gnn-train about the time line of its batches on a device. */
#ifndef GNN_CMD_TRAIN_TIMELINE_H
#define GNN_CMD_TRAIN_TIMELINE_H

#include "lib/gpu/gpu.h"

/* A line and a metrics object for each batch of the time line, then how much of each stream's work
 * was done beside training; nothing if g is NULL, or unless GNN_DEBUG_TIME has asked for it. */
void train_timeline_tell(struct gnn_gpu *g, const struct gnn_sampling *sampling);

#endif
