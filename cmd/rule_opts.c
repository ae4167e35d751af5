/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rule_opts.h"

#include <inttypes.h>

#include "cmd/cli.h"

static bool replace, disjoint;
static const char *weight;
static struct gnn_weight_report weights;

const struct opt rule_opts[] = {
    {.kind = OPT_GROUP, .help = "Which neighbours are picked"},
    {OPT_FLAG, 'r', "replace", &replace, .help = "sample with replacement"},
    {OPT_STR, 0, "weight", &weight, "FIELD",
     "pick neighbours in proportion to this field of edges (default: uniformly)"},
    {OPT_FLAG, 0, "disjoint", &disjoint,
     .help = "sample a tree for each seed, which shares no nodes or draws with the others"},
    {.kind = OPT_END},
};

void rule_opts_take(struct gnn_sampler_opts *o)
{
    o->rule.kind = replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM;
    o->weight = weight;
    o->disjoint = disjoint;
    o->weights = &weights;
}

void rule_opts_refuse(const char *why)
{
    opt_refuse(OPTS(&replace, &weight, &disjoint), why);
}

const char *rule_opts_weight(void)
{
    return weight;
}

void rule_opts_tell(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    uint64_t idle = weights.idle;
    if (gnn_comm_all_reduce(c, &idle, 1, GNN_REDUCE_U64, &e))
        cli_fail(&e);
    if (idle)
        cli_note("%" PRIu64 " node%s in-edges whose %s is 0 throughout: none of these is picked",
                 idle, idle > 1 ? "s have" : " has", weight);
    if (weights.bytes)
        cli_info("weights: %.1f MB of memory for their sums", 1e-6 * (double)weights.bytes);
}
