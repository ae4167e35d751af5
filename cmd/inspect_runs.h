/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-inspect --table and --plot: runs of gnn-train side by side, pictures of runs and stores. */
#ifndef GNN_CMD_INSPECT_RUNS_H
#define GNN_CMD_INSPECT_RUNS_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/store/store.h"

/* The report of gnn_runs_report, the caller's. Ends the program on failure. */
json_t *inspect_runs_report(char *const *path, int n);
/* Prints it as a table for people or, with every digit, as CSV. Prints what is left out. */
void inspect_runs_text(const json_t *report);
void inspect_runs_csv(const json_t *report);
/* Whether something is left out. */
bool inspect_runs_lacks(const json_t *report);

/* Plots runs or, if s is not NULL, that store to the file `out`. Ends the program on failure. */
void inspect_plot(const char *out, struct gnn_store *s, char *const *path, int n);

#endif
