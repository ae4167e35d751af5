/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict with a model of links: which links, what of the model's recipe options replace, and
 * the run over batches. All end the program on failure. */
#ifndef GNN_CMD_PREDICT_LINKS_H
#define GNN_CMD_PREDICT_LINKS_H

#include "lib/data/recipe.h"
#include "lib/data/source.h"
#include "lib/model/metrics.h"
#include "lib/model/model.h"
#include "lib/ops/ops.h"
#include "lib/sample/sampler.h"

/* Refuses options of links with a model of nodes, and what cannot be predicted of links, and finds
 * predict.heads. batches: are predicted on, not a whole store. */
void predict_links_check(const struct gnn_model *m, const char *path, bool batches);
/* Whether batches of links become a table in text. */
bool predict_links_text(const struct gnn_model *m);
/* Gives the recipe of the model at `path` the links that the options name, or says which they are.
 */
void predict_links_choose(const struct gnn_model *m, const char *path, struct gnn_recipe *r);
/* Has the links of --seeds or --split drawn. */
void predict_links_draw(struct gnn_sampler_opts *s);
/* Batch by batch; graph: the store's or the stream's name; out: the file, or -1, and its name. */
void predict_links(const struct gnn_model *m, struct gnn_source *src, const char *graph,
                   const struct gnn_ops *ops, struct gnn_measure kind, int out, const char *name);

#endif
