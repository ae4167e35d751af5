/* One training at a time keeps its checkpoints in a directory. */
#ifndef GNN_CMD_TRAIN_LOCK_H
#define GNN_CMD_TRAIN_LOCK_H

#include <stdbool.h>

#include "lib/comm.h"

/* Takes the directory for this job, for the rest of its time; all ranks call it, rank 0 takes it. If another process has it, the
 * program ends with status 1, or waits for `seconds` first: what this run goes on from may still be coming to its end. A directory
 * that is not there is made if `make`, else not taken. Once it is taken, does nothing. */
void train_lock(struct gnn_comm *c, const char *dir, bool make, double seconds);

#endif
