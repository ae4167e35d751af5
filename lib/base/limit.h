/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory the system lets this process have: limits of control groups, as containers,
 * Slurm and systemd set them. */
#ifndef GNN_LIB_BASE_LIMIT_H
#define GNN_LIB_BASE_LIMIT_H

#include <stdint.h>

/* The least limit, in bytes, of the control group of this process and of all groups above it that
 * can be seen, of either version; UINT64_MAX: there is none. All processes of a group share its
 * limit. root: the folder in which /proc and the mounts are looked for, "" but in tests. Limits
 * that cannot be read do not count. Thread-safe. */
uint64_t gnn_limit_memory(const char *root);
/* The memory of the system, or that limit if it is less. Thread-safe. */
uint64_t gnn_limit_all(void);

#endif
