/* How OpenMP's threads wait for each other. */
#ifndef GNN_CMD_CALM_H
#define GNN_CMD_CALM_H

#include <stdint.h>

/* First call of main in programs that compute with OpenMP. Its run-time library lets waiting
 * threads spin for milliseconds, which on a machine with other work (our own prefetching threads
 * are enough) costs several times what it saves, and it reads the setting before main. So, unless
 * the user has chosen (OMP_WAIT_POLICY, GOMP_SPINCOUNT), the program sets a short spin and starts
 * itself again; where that is impossible it just goes on. */
void calm_threads(char **argv);
/* Starts the threads of OpenMP, or ends the program with a line: n, or as many as the environment
 * says if n is 0, but never more than it will really give (OMP_THREAD_LIMIT, OMP_DYNAMIC): oneDNN
 * shares work out among those it asked for, and what the missing ones should have done stays
 * undone. */
void calm_threads_set(uint32_t n);
/* All threads of this process run on what others leave from now on. For a program whose next one on
 * the host takes its batches by reference: that one waits when there are none, and where it
 * computes on all cores, taking one of them would hold up all of its threads at their next barrier.
 */
void calm_yield(void);

#endif
