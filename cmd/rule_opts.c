/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rule_opts.h"

#include <inttypes.h>

#include "cmd/cli.h"

static bool replace, disjoint, induced, latest, seed_balance;
static bool labor, layer_dependency;
static uint32_t batch_dependency, clusters;
static const char *weight, *seed_time, *seed_weight, *window;
static int time_rule, hop_time;
static struct gnn_weight_report weights;

const struct opt rule_opts[] = {
    {.kind = OPT_GROUP, .help = "Which neighbours are picked"},
    {OPT_FLAG, 'r', "replace", &replace, .help = "sample with replacement"},
    {OPT_STR, 0, "weight", &weight, "FIELD",
     "pick neighbours in proportion to this field of edges (default: uniformly)"},
    {OPT_FLAG, 0, "labor", &labor,
     .help = "LABOR: destinations pick the same neighbours where they can, so batches are smaller"},
    {OPT_FLAG, 0, "layer-dependency", &layer_dependency, .help = "with --labor: likewise all hops"},
    {OPT_U32, 0, "batch-dependency", &batch_dependency, "N",
     "with --labor: likewise N steps, one after the other (default: 1)", .min = 1,
     .max = UINT32_MAX},
    {OPT_CHOICE, 0, "time-rule", &time_rule, "RULE",
     "pick edges by time: not later than the seed (le), or earlier (lt) (default: any)",
     "any|le|lt"},
    {OPT_STR, 0, "window", &window, "W",
     "with --time-rule: only edges that are at most W older than the seed"},
    {OPT_FLAG, 0, "latest", &latest, .help = "with --time-rule: pick the latest edges"},
    {OPT_CHOICE, 0, "hop-time", &hop_time, "TIME",
     "with --time-rule: in the next hop, the seed's time counts, or the edge's (default: seed)",
     "seed|edge"},
    {OPT_STR, 0, "seed-time", &seed_time, "FIELD",
     "with --time-rule: field of nodes with the times of seeds (default: time; with --seeds, the "
     "file has them)"},
    {OPT_FLAG, 0, "seed-balance", &seed_balance,
     .help = "draw seeds with replacement, so that all classes are as likely"},
    {OPT_STR, 0, "seed-weight", &seed_weight, "FIELD",
     "draw seeds with replacement, in proportion to this field of nodes"},
    {OPT_FLAG, 0, "induced", &induced,
     .help = "batches have all edges among the nodes found, not those along which they were found"},
    {OPT_U32, 0, "clusters", &clusters, "N",
     "batches have all nodes of N partitions of the store, and all edges among them", .min = 1,
     .max = INT32_MAX},
    {OPT_FLAG, 0, "disjoint", &disjoint,
     .help = "sample a tree for each seed, which shares no nodes or draws with the others; with "
             "--clusters: no edges between partitions"},
    {.kind = OPT_END},
};

void rule_opts_check(const void *shuffle)
{
    if (!labor)
        opt_refuse(OPTS(&layer_dependency, &batch_dependency), "requires --labor");
    if (labor)
        opt_refuse(OPTS(&replace, &weight, &disjoint), "cannot be used with --labor");
    if (seed_balance)
        opt_refuse(OPTS(&seed_weight), "and --seed-balance exclude each other");
    if (clusters)
        opt_refuse(OPTS(&seed_balance, &seed_weight), "cannot be used with --clusters");
    if (clusters)
        opt_refuse(OPTS(&replace, &weight, &labor, &time_rule),
                   "has no effect with --clusters: no neighbours are picked");
    if (clusters)
        opt_refuse(OPTS(&induced), "has no effect: --clusters implies it");
    if (!time_rule)
        opt_refuse(OPTS(&window, &latest, &hop_time, &seed_time), "requires --time-rule le or lt");
    if (latest)
        opt_refuse(OPTS(&replace, &weight, &labor), "cannot be used with --latest");
    if (seed_balance || seed_weight)
        opt_refuse(OPTS(shuffle), "has no effect with --seed-balance and --seed-weight: seeds are "
                                  "drawn");
}

void rule_opts_take(struct gnn_sampler_opts *o)
{
    o->rule.kind = labor ? GNN_PICK_LABOR : replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM;
    o->layer_dependency = layer_dependency;
    o->batch_dependency = batch_dependency;
    o->weight = weight;
    o->disjoint = disjoint;
    o->seed_balance = seed_balance;
    o->seed_weight = seed_weight;
    o->induced = induced;
    o->clusters = clusters;
    o->until = (enum gnn_pick_until)time_rule;
    o->seed_time = seed_time;
    o->window = window;
    o->latest = latest;
    o->by_edge = hop_time;
    o->weights = &weights;
}

uint32_t rule_opts_clusters(void)
{
    return clusters;
}

const char *rule_opts_draws(void)
{
    return seed_balance ? "--seed-balance" : seed_weight ? "--seed-weight" : NULL;
}

void rule_opts_walk(void)
{
    opt_refuse(OPTS(&replace, &disjoint), "has no effect: walks are independent of each other");
    opt_refuse(OPTS(&labor, &time_rule, &induced, &clusters), "cannot be used with --walk-length");
}

void rule_opts_refuse(const char *why)
{
    opt_refuse(OPTS(&replace, &weight, &labor, &layer_dependency, &batch_dependency, &disjoint,
                    &induced, &clusters, &time_rule, &window, &latest, &hop_time, &seed_time,
                    &seed_balance, &seed_weight),
               why);
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
