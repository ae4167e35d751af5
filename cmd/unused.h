/* SPDX-License-Identifier: Apache-2.0 */
/* The warning about fields of edges that a program could use, and does not. */
#ifndef GNN_CMD_UNUSED_H
#define GNN_CMD_UNUSED_H

#include "lib/data/meta.h"
#include "lib/model/layer.h"

/* Prints one line, unless -q is given, if an edge type has one of these fields ("weight time"): it
 * names the fields that exist, and `instead` says what the program does without them. */
void unused_edge_fields(const struct gnn_schema *s, const char *fields, const char *instead);

/* The users of edges. */
struct unused_by {
    const struct gnn_sampling *sampling;  /* how batches were, or are, sampled; or NULL */
    bool samples;                         /* this program does so, from a store */
    bool whole;                           /* its batches have all edges, whatever `sampling` says */
    const struct gnn_model_config *model; /* or NULL */
};
/* As unused_edge_fields, of those of the fields weight, time and x that sampling or the model could
 * use: a line says what each of these does without. */
void unused_tell(const struct gnn_schema *s, const struct unused_by *by);

#endif
