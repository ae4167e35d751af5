/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that lay out a model (stages.c, layout.c); nobody else includes it. */
#ifndef GNN_LIB_MODEL_LAYOUT_H
#define GNN_LIB_MODEL_LAYOUT_H

#include "lib/model/model.h"

/* Fills m->stage, m->conv, m->width and m->live from m->c, without parameters. gnn_model_release
 * releases them, on failure too. */
int gnn_model_list_stages(struct gnn_model *m, struct gnn_err *e) GNN_MUST_USE;

#endif
