/* SPDX-License-Identifier: Apache-2.0 */
/* How a run of gnn-train begins where a checkpoint is, or may be. All end the program on failure.
 */
#ifndef GNN_CMD_TRAIN_RESUME_H
#define GNN_CMD_TRAIN_RESUME_H

#include "lib/train/trainer.h"

/* With --resume, before the source is opened: where the checkpoint is, into train_feed. */
void train_resume_find(struct gnn_comm *c);
/* With --resume: takes the checkpoint's state, and says so. */
void train_resume_load(struct gnn_trainer *t, struct gnn_err *e);
/* Says what a run without --resume will replace, and refuses what is no checkpoint. */
void train_resume_check(const struct gnn_comm *c);

#endif
