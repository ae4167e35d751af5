/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of a checkpoint directory, which one run at a time may write to. */
#ifndef GNN_CMD_TRAIN_LOCK_H
#define GNN_CMD_TRAIN_LOCK_H

#include <stdbool.h>

#include "lib/comm/comm.h"

/* Locks the directory until the process ends. All ranks call it; rank 0 holds the lock. If another
 * process holds it, waits for up to `seconds`, because the run that is resumed may be about to end,
 * and then ends the program with status 1. A directory that does not exist is created if `make`,
 * else not locked. Further calls do nothing. */
void train_lock(struct gnn_comm *c, const char *dir, bool make, double seconds);

#endif
