/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all programs: start, messages, progress, metrics, exit. */
#ifndef GNN_CMD_CLI_H
#define GNN_CMD_CLI_H

#include <jansson.h>
#include <stdio.h>

#include "cmd/opt.h"
#include "lib/base/err.h"

/* First call of main: opens fds 0-2 if closed, restores SIGPIPE, ignores SIGXFSZ, installs the
 * handlers of sig.h, remembers the command line for provenance. */
void cli_start(const char *name, int argc, char **argv);

/* One line on stderr, "NAME: text", in one write, as gnn_text_shown has it. _info only with -v,
 * _note unless -q. */
void cli_note(const char *fmt, ...) GNN_PRINTF(1, 2);
void cli_info(const char *fmt, ...) GNN_PRINTF(1, 2);
/* Prints the line as cli_note does, then exits with the status. */
void cli_die(int exit_status, const char *fmt, ...) GNN_PRINTF(2, 3) __attribute__((noreturn));
#define cli_usage(...) cli_die(2, __VA_ARGS__)
/* The line of rank 0, then the end by the signal; of several ranks, with 128 and its number. */
void cli_stop(int sig, const char *fmt, ...) GNN_PRINTF(2, 3) __attribute__((noreturn));
/* Reports e and ends with the exit status of its code. */
void cli_fail(const struct gnn_err *e) __attribute__((noreturn));
/* Last call of main: flushes stdout and fails (status 1) if anything written there was lost. If a
 * signal asked to stop, dies by that signal. */
int cli_finish(void);

/* A name for stdout, as gnn_text_shown has it; NULL is "". Good until the fourth call after this.
 */
const char *cli_shown(const char *s);
/* Writes JSON and a newline, with such characters escaped, which are the same to who reads JSON; 0,
 * or -1. */
int cli_json(const json_t *j, FILE *to, size_t flags) GNN_MUST_USE;

/* This process is one of several ranks: messages say which, rank 0 speaks first where all have the
 * same to say, only it shows notes and progress, and `end` (which may not return) ends the others
 * when this one fails, with its exit status. */
void cli_rank(uint32_t rank, void (*end)(int exit_status));

/* `path` with this rank's number in place of each "%r"; lives as long as the process. */
const char *cli_path(const char *path);

/* fd for reading ("-" or NULL: stdin) or writing ("-" or NULL: stdout; otherwise a temporary name
 * in the same directory until cli_out_commit, lib/base/temp.h; nothing is left on any other exit).
 * Binary from or to a terminal is refused. The returned fd is the caller's. */
int cli_in(const char *path, const char **name);
int cli_out(const char *path, const char **name);
/* Likewise for text, which a terminal gets, too. */
int cli_out_text(const char *path, const char **name);
/* Redirects to stderr what libraries print to stdout from here on: done where stdout takes the
 * result, also another rank's. */
void cli_spare_stdout(void);
/* After the fd has been written and closed. Nothing to do for stdout. */
void cli_out_commit(void);

/* "gnn-sample 0.1.0: gnn-sample -f 15,10 ...", or NULL with --no-provenance. */
const char *cli_provenance(void);
/* "gnn-sample 0.1.0" */
const char *cli_version(void);

/* Progress: one line on a terminal, at most ten a second; nothing otherwise. total 0: unknown. _end
 * clears it. */
void cli_progress(const char *what, uint64_t done, uint64_t total, const char *extra);
void cli_progress_end(void);

/* Creates the --metrics file, before any work is done; opt_parse calls it. Of several ranks, each
 * does if "%r" is in the name, else only rank 0. */
void cli_metrics_open(void);
/* One NDJSON object to the --metrics file ("stage" and "t" are added); takes over the reference.
 * No-op without --metrics. */
void cli_metrics(json_t *object);
/* Members that all later objects have, too; takes over the reference. Once. */
void cli_metrics_also(json_t *members);
/* A number in an object: null if it is not finite, as a mean over nothing is. */
void cli_metrics_number(json_t *object, const char *key, double v);
/* A number in a line of text: four digits after the point, or "not defined". Returns out. */
const char *cli_number(char out[32], double v);

#endif
