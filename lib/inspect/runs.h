/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of gnn-train, as its files of --metrics tell of them, in groups that differ only in their
 * seeds. */
#ifndef GNN_LIB_INSPECT_RUNS_H
#define GNN_LIB_INSPECT_RUNS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

struct gnn_run {
    const char *path;
    json_t *start, *end; /* those events; no end: unfinished */
    json_t *epochs;      /* array of those events */
    json_t *key;         /* all that was chosen but the seed, by name: equal in a group */
    json_t *seed;        /* of training and, if a stream was read, of its sampling */
    uint32_t group;
    char *left_out; /* why its figures are not among those of its group; NULL: they are */
};

/* Groups are numbered in the order of their first runs. */
struct gnn_runs {
    struct gnn_run *v;
    uint32_t n, groups;
    uint32_t *lead;  /* [groups] its first run */
    json_t *columns; /* the names of what differs between groups */
};

/* Reads the files at path[n], which must live as long as r. GNN_E_INPUT names the file and the line
 * of what is no metrics of gnn-train. One that is unfinished, or has the options and the seed of an
 * earlier one, is left out of the figures, which its member says. */
int gnn_runs_read(struct gnn_runs *r, char *const *path, uint32_t n,
                  struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_runs_release(struct gnn_runs *r);
/* Value of a run in a column, borrowed; NULL: nothing was given. */
json_t *gnn_run_cell(const struct gnn_runs *r, const struct gnn_run *run, const char *column);
/* A value as people read it: "5,5", "yes", a number with as many digits as tell it; on the heap. */
char *gnn_run_text(const json_t *v, struct gnn_err *e) GNN_MUST_USE;
/* A figure of an event "epoch" or "end", for the set: its metric, or "loss". NaN: there is none. */
double gnn_run_value(const json_t *event, const char *set, const char *metric);
/* The name of set i of a run, the first of which was trained on, and the number of its sets. */
const char *gnn_run_set(const struct gnn_run *run, size_t i);
size_t gnn_run_sets(const struct gnn_run *run);
const char *gnn_run_metric(const struct gnn_run *run);

/* *out: "columns", an array of names; "groups", an array of objects of "options", which has the
 * columns, "seeds", "left_out" (number of runs), "best_epoch", "seconds_per_epoch" and "sets", an
 * array of "set", "metric" and figures; a figure is "runs", "mean" and "deviation" (that of a
 * sample; null for one run); "notes", an array of "file" and "why": runs, and figures of runs, that
 * are left out. */
int gnn_runs_report(const struct gnn_runs *r, json_t **out, struct gnn_err *e) GNN_MUST_USE;

#endif
