/* Signals: the first SIGINT or SIGTERM (or SIGUSR1 where a program asks for it) sets a flag, the second
 * ends at once. */
#ifndef GNN_CMD_SIG_H
#define GNN_CMD_SIG_H

#include <stdbool.h>

/* By default SIGINT, SIGTERM and SIGHUP remove partial results and end the process by that signal. After sig_defer they only
 * set the flag that sig_pending returns (the signal's number, or 0); usr1 takes SIGUSR1 along. A second signal acts as by default. */
void sig_start(void);
void sig_defer(bool usr1);
int sig_pending(void);
/* Restores the default action and raises the signal. */
void sig_reraise(int sig) __attribute__((noreturn));

#endif
