/* SPDX-License-Identifier: Apache-2.0 */
/* The priority of threads that work ahead of others in the same process, or check what these read.
 */
#ifndef GNN_LIB_BASE_BACKGROUND_H
#define GNN_LIB_BASE_BACKGROUND_H

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Their niceness. Threads that compute come before them, nine turns to one. With the highest, 19,
 * it would be 68 to one: beside other busy programs such threads hardly ever run, and then the
 * threads that they work for wait for them. */
enum { GNN_BACKGROUND_NICE = 10 };

/* Gives it to the calling thread: Linux has a niceness for each. */
static inline void gnn_background_enter(void)
{
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), GNN_BACKGROUND_NICE);
}

#endif
