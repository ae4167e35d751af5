/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, drawn by gnuplot in a process of its own, which gets a script and returns an image. */
#ifndef GNN_LIB_INSPECT_PLOT_H
#define GNN_LIB_INSPECT_PLOT_H

#include <stdio.h>

#include "lib/inspect/runs.h"
#include "lib/store/view.h"

struct gnn_plot {
    FILE *script; /* in memory */
    bool svg;
};

/* Begins the script of a picture with this name. GNN_E_USAGE unless it ends in .png or .svg;
 * GNN_E_RUN if there is no gnuplot. */
int gnn_plot_begin(struct gnn_plot *p, const char *path, struct gnn_err *e) GNN_MUST_USE;
/* Sets the size, and how many panels there are, one below the other. */
void gnn_plot_size(struct gnn_plot *p, unsigned width, unsigned height, unsigned panels);
/* A text of gnuplot, in quotes, and one among data; of fewer than `most` bytes. */
void gnn_plot_text(struct gnn_plot *p, const char *text, size_t most);
void gnn_plot_name(struct gnn_plot *p, const char *text, size_t most);
/* Curves of loss and of the metric of the first evaluated set, and the best epochs. notes: an array
 * that gets "file" and "why" of what is not shown. GNN_E_USAGE if metrics differ, GNN_E_INPUT if
 * no run has an epoch. */
int gnn_plot_runs(struct gnn_plot *p, const struct gnn_runs *r, json_t *notes,
                  struct gnn_err *e) GNN_MUST_USE;
/* How many nodes have how many edges, by edge type and direction, and the sizes of sets.
 * GNN_E_INPUT if there is neither. */
int gnn_plot_store(struct gnn_plot *p, struct gnn_store *s, struct gnn_err *e) GNN_MUST_USE;
/* Runs gnuplot and writes the image to fd, which messages call `name`, once it is complete.
 * GNN_E_RUN with what gnuplot says if it is not. */
int gnn_plot_end(struct gnn_plot *p, int fd, const char *name, struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. */
void gnn_plot_release(struct gnn_plot *p);

#endif
