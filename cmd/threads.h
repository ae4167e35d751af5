/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the process: how OpenMP's wait for each other, how many there are, their niceness. */
#ifndef GNN_CMD_THREADS_H
#define GNN_CMD_THREADS_H

#include <stdint.h>

/* First call of main in programs that compute with OpenMP. Its runtime lets waiting threads spin
 * for milliseconds, which on a machine with other work (our own prefetching threads are enough)
 * costs several times what it saves, and it reads the setting before main. So, unless the user has
 * chosen (OMP_WAIT_POLICY, GOMP_SPINCOUNT), the program sets a short spin and executes itself
 * again; where that is impossible it continues as it is. */
void threads_wait_briefly(char **argv);
/* Starts the threads of OpenMP, or ends the program with a line: n, or as many as the environment
 * says if n is 0, but never more than OpenMP will really start (OMP_THREAD_LIMIT, OMP_DYNAMIC):
 * oneDNN divides work among the threads it asked for, and the share of a missing one stays undone.
 */
void threads_start(uint32_t n);
/* Gives all threads of this process a lower priority (lib/base/background.h). For a program whose
 * consumer on the host takes its batches by reference: the consumer waits when there are none, and
 * where it computes on all cores, taking one of them would hold up all of its threads at their next
 * barrier. */
void threads_be_nice(void);

#endif
