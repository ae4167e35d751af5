/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-train's options of full batches, and what comes of them. */
#ifndef GNN_CMD_TRAIN_FULL_H
#define GNN_CMD_TRAIN_FULL_H

#include "cmd/opt.h"
#include "lib/model/full.h"
#include "lib/sample/sampler.h"

extern const struct opt train_full_opts[];

/* Whether --full-batch was given; and how many epochs lie between two evaluations, if there are
 * sets to evaluate. */
bool train_full(void);
uint64_t train_full_eval_every(bool evaluates);
/* After opt_parse: ends the program if one of these options has no effect. */
void train_full_check(void);
/* How many layers a model has over batches drawn as m says: as many as they have hops, unless all
 * layers use the same edges. Ends the program if --layers was given and has no effect. */
uint32_t train_full_layers(const struct gnn_sampling *m);
/* The suffix of lines about the training: "", or ", " and the approximations that are on. */
const char *train_full_words(void);
/* How the seeds of a full batch are drawn: a batch has all seeds of a set and no edges, since
 * layers find these in the store. */
void train_full_sampling(const struct gnn_store *s, struct gnn_sampler_opts *o);
/* Opens the full-batch passes of m over batches drawn as `of` says, or returns NULL without
 * --full-batch; or ends the program. output: the model's file; a temporary file lies beside it.
 * NULL: stdout. */
struct gnn_full *train_full_open(const struct gnn_model *m, struct gnn_store *s,
                                 const struct gnn_sampling *of, const struct gnn_ops *ops,
                                 const char *output);

/* At the end, on all ranks: tells what went between partitions in `epochs` epochs and `steps` steps
 * of this process, which rank 0 knows, how much memory the largest rank took, and of what. Nothing
 * without --full-batch. */
void train_full_tell(struct gnn_full *f, struct gnn_comm *c, uint64_t epochs, uint64_t steps);

#endif
