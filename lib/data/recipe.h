/* SPDX-License-Identifier: Apache-2.0 */
/* The recipe of a model's training data: the graph, its sets, and how the batches were sampled. It
 * is part of the model's file, so that programs that read the model know it without the command
 * line.
 *
 * Example: the set that this model was trained on.
 *     struct gnn_recipe r;
 *     if (m->recipe && !gnn_recipe_parse(&r, m->recipe, path, e)) {
 *         puts(gnn_recipe_set(&r, 0));
 *         gnn_recipe_release(&r);
 *     } */
#ifndef GNN_LIB_DATA_RECIPE_H
#define GNN_LIB_DATA_RECIPE_H

#include "lib/data/sampling_list.h"

struct gnn_recipe {
    json_t *j;      /* owned */
    char graph[17]; /* gnn_meta_graph of the store */
    bool full;      /* full batches: nothing was sampled */
    /* Features were converted to this, f16 or bf16 (gnn-gather --dtype); 0: they were as stored, or
     * it is not known. */
    enum gnn_dtype dtype;
    /* The part of j that the header of a stream has, too; fan-outs are by edge type in the order of
     * the model's description */
    json_t *sampling;
    bool changed; /* options have changed what it says of links */
};

/* As JSON text, freed with gnn_free: the same for all batches of equal nodes and edges, whichever
 * rank or partition they are of. NULL and e on failure. */
char *gnn_recipe_text(const struct gnn_meta *m, bool full, struct gnn_err *e) GNN_MUST_USE;
/* A recipe's text for edge types in another order: fan-out r becomes what was order[r] of n; NULL:
 * a copy. */
char *gnn_recipe_arrange(const char *text, const char *path, const uint32_t *order, uint32_t n,
                         struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT, naming `path`, for any other text. */
int gnn_recipe_parse(struct gnn_recipe *r, const char *text, const char *path,
                     struct gnn_err *e) GNN_MUST_USE;
void gnn_recipe_release(struct gnn_recipe *r);
/* The name of set i as it was given, "train" or "3/train": 0 was trained on, the others were
 * evaluated. NULL: there are not so many. */
const char *gnn_recipe_set(const struct gnn_recipe *r, uint32_t i);

/* Adds the epoch, from 0, of the parameters to a recipe's text, so that the batches on which they
 * were evaluated can be drawn again. Frees `text` and returns the new text; NULL and e on failure.
 */
char *gnn_recipe_at(char *text, uint64_t epoch, struct gnn_err *e) GNN_MUST_USE;
/* A recipe's text with the dtype that features were converted to; 0: the text itself. */
char *gnn_recipe_narrowed(char *text, enum gnn_dtype dtype, struct gnn_err *e) GNN_MUST_USE;
/* The type of the links that were trained on, as the model calls it; NULL: none were. */
const char *gnn_recipe_links(const struct gnn_recipe *r);
/* Compares the recipe with `other`, the "sampling" of another recipe or of a header; other NULL:
 * with uniform sampling, which sees on average what layer-wise inference sees. Returns the last
 * member of the list with `lacks` in which the two differ, or NULL. The field with the times of
 * seeds and the number of joined partitions are not compared. */
const struct gnn_sampling_member *gnn_recipe_differs(const struct gnn_recipe *r,
                                                     const json_t *other);
/* Links in the recipe become those of m's type, with what the options say that were given
 * (--strict,
 * ...). pairs: they are told from nothing, and have no negatives. */
int gnn_recipe_take_links(struct gnn_recipe *r, const struct gnn_meta *m,
                          const struct gnn_given *given, bool pairs,
                          struct gnn_err *e) GNN_MUST_USE;
/* Sets m to the sampling of the recipe for a graph with this schema, whose edge types are in the
 * model's order, except that each seed comes once, in order. m gets a copy of the schema and is to
 * be released. GNN_E_INPUT "PATH: ..." if such batches cannot be drawn from the graph. target: the
 * node type of the seeds in the schema. *epoch: the one set by gnn_recipe_at, or 0. */
int gnn_recipe_sampling(const struct gnn_recipe *r, const struct gnn_schema *c, uint32_t target,
                        const char *path, struct gnn_meta *m, uint64_t *epoch,
                        struct gnn_err *e) GNN_MUST_USE;

#endif
