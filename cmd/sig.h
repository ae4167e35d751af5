/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that ask a program to stop: at once, or at the next good moment. */
#ifndef GNN_CMD_SIG_H
#define GNN_CMD_SIG_H

#include <stdbool.h>

#include "lib/base/err.h"

/* By default SIGINT, SIGTERM, SIGHUP and SIGUSR1 remove partial results and end the process by that
 * signal. After sig_defer the first only sets what sig_pending returns (the signal's number, or 0),
 * and a second acts as by default, unless it is SIGUSR1, or another process sends it within a
 * second of the first, as timeout(1) does. No handler of these runs in any thread; a child that is
 * forked starts with them blocked. A mapped file that is cut short or cannot be read (SIGBUS,
 * lib/base/mapped.h) ends the process with status 1 and a line that names it, which `die` prints,
 * whichever thread finds out. */
void sig_start(void (*die)(int exit_status, const char *fmt, ...) GNN_PRINTF(2, 3));
/* May come before sig_start, as the first statement of a program: no signal is lost from there on.
 */
void sig_defer(void);
/* Ends what sig_defer began: one that has come meanwhile acts now. */
void sig_act(void);
/* Around a call that may wait for ever while there is nothing to keep yet: signals act at once. */
bool sig_let(void);
void sig_hold(bool let); /* takes what sig_let returned */
/* A descriptor that can be read once a signal has been deferred; -1 if that cannot be. Once, after
 * sig_start. */
int sig_fd(void);
int sig_pending(void);
/* Calls `tell`, in a thread of its own, if the process still runs a second after it deferred a
 * signal. */
void sig_tell_late(void (*tell)(void));
/* "SIGINT" */
const char *sig_name(int sig);
/* As sig_pending, for certain: nothing that had come before the call is still in the hands of the
 * thread that takes signals. If one came that was not deferred, the process ends here. Costs two
 * switches between threads. */
int sig_settled(void);
/* For a program that has done all of its work: ends by a signal that has come, unless that was
 * deferred, for then there is nothing left to stop. */
void sig_finish(void);
/* Restores the default action and raises the signal. */
void sig_reraise(int sig) __attribute__((noreturn));

#endif
