/* SPDX-License-Identifier: Apache-2.0 */
/* The options by which batches are drawn, in all programs that sample: made from the list in
 * lib/data/sampling_list.c. */
#ifndef GNN_CMD_SAMPLING_OPTS_H
#define GNN_CMD_SAMPLING_OPTS_H

#include "cmd/opt.h"
#include "lib/sample/sampler.h"

/* Tables that sampling_opts_init fills: of seeds and the run; and of the pick rule and walks. */
enum { SAMPLING_OPTS_MAX = 40 };
extern struct opt sampling_opts[SAMPLING_OPTS_MAX], rule_opts[SAMPLING_OPTS_MAX];
/* The members given as options. */
extern struct gnn_sampling sampling_given;

/* Before opt_parse: sets defaults. of_train: only those that gnn-train has. */
void sampling_opts_init(bool of_train);
/* Fills a table with the options of a section of the list, under its heading if that is wanted, and
 * returns its end; for a program that has no others of these. */
struct opt *sampling_opts_section(struct opt *to, const char *section, bool heading, bool of_train);
/* The names of these, after others: "fanout|f|batch|b|..."; for struct opt_elsewhere. Lives until
 * the next call. */
const char *sampling_opts_names(const char *others, bool of_train);
/* After opt_parse, before a store is opened: ends the program unless what was given fits together.
 */
void sampling_opts_check(void);
/* NULL, or, if sampling computes no arrays of edges: "requires --weight, ... or --OTHER". Lives
 * until the next call. */
const char *sampling_opts_need_edges(const char *other);
/* The option by which seeds are drawn with replacement, or NULL. */
const char *sampling_opts_draws(void);
/* Ends the program if one of them was given, "--NAME WHY". */
void sampling_opts_refuse(const char *why);
/* Links of a set with times see what was earlier than they, unless an option says otherwise: sets
 * the rule, and says so. set NULL: train. */
void sampling_opts_choose_rule(const struct gnn_schema *c, const char *set);
/* Whether all n sets of links, which are evaluated, have given negatives in the store, which are
 * taken then, unless an option says otherwise: says so. */
bool sampling_opts_take_given(const struct gnn_schema *c, const char *const *set, uint32_t n);
/* Says which sets of links in batches are among the edges of their store, at all times. */
void sampling_opts_tell_messages(const struct gnn_schema *c, const struct gnn_sampling *m);
/* When the sampler has been made, by all ranks: what weights take, and what they leave out. */
void sampling_opts_tell(struct gnn_comm *c);
/* Where the sampler reports what weights take (struct gnn_sampler_opts). */
extern struct gnn_weight_report sampling_weights;

#endif
