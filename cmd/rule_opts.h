/* SPDX-License-Identifier: Apache-2.0 */
/* The options that make the pick rule, the same in all programs that sample. */
#ifndef GNN_CMD_RULE_OPTS_H
#define GNN_CMD_RULE_OPTS_H

#include "cmd/opt.h"
#include "lib/sample/sampler.h"

extern const struct opt rule_opts[];

/* After opt_parse, before a store is opened: ends the program unless what was given fits together;
 * shuffle: the value of the option that orders seeds. */
void rule_opts_check(const void *shuffle);
/* What was given, to the options of a sampler. */
void rule_opts_take(struct gnn_sampler_opts *o);
/* Partitions in a batch, or 0: fan-outs, the frontier policy and the size of batches have no effect
 * if there are some. */
uint32_t rule_opts_clusters(void);
/* The option by which seeds are drawn with replacement, or NULL. */
const char *rule_opts_draws(void);
/* Ends the program if one was given that random walks do not have, or that they imply. */
void rule_opts_walk(void);
/* Ends the program if one of them was given: they WHY. */
void rule_opts_refuse(const char *why);
/* When the sampler has been made, by all ranks: what weights take, and what they leave out. */
void rule_opts_tell(struct gnn_comm *c);

#endif
