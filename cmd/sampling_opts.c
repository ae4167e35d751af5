/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sampling_opts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "lib/data/sampling_list.h"

struct opt sampling_opts[SAMPLING_OPTS_MAX], rule_opts[SAMPLING_OPTS_MAX];
struct gnn_sampling sampling_given;
struct gnn_weight_report sampling_weights;

struct opt *sampling_opts_section(struct opt *to, const char *section, bool heading, bool of_train)
{
    if (heading)
        *to++ = (struct opt){.kind = OPT_GROUP, .help = section};
    EACH_MEMBER(x)
    {
        if (x->option && (x->train || !of_train) && !strcmp(x->section, section))
            *to++ = gnn_member_option(&sampling_given, x);
    }
    *to = (struct opt){.kind = OPT_END};
    return to;
}

void sampling_opts_init(bool of_train)
{
    gnn_sampling_init(&sampling_given);
    sampling_opts_section(sampling_opts_section(sampling_opts, GNN_SECTION_SEEDS, false, of_train),
                          GNN_SECTION_SAMPLING, !of_train, of_train);
    struct opt *end = sampling_opts_section(rule_opts, GNN_SECTION_RULE, true, of_train);
    end = sampling_opts_section(end, GNN_SECTION_LINKS, true, of_train);
    if (!of_train)
        sampling_opts_section(end, GNN_SECTION_WALKS, true, of_train);
}

const char *sampling_opts_names(const char *others, bool of_train)
{
    static char names[1024];
    size_t n = (size_t)snprintf(names, sizeof names, "%s", others);
    for (unsigned i = 0; i < gnn_sampling_list_length && n < sizeof names; i++) {
        const struct gnn_sampling_member *x = &gnn_sampling_list[i];
        if (x->option && (x->train || !of_train))
            n += (size_t)snprintf(names + n, sizeof names - n, "|%s", x->option);
        if (x->letter && n < sizeof names)
            n += (size_t)snprintf(names + n, sizeof names - n, "|%c", x->letter);
    }
    return names;
}

void sampling_opts_check(void)
{
    const char *why, *option = gnn_sampling_conflict(&sampling_given, &opt_all_given, &why);
    if (option)
        opt_refuse_name(option, why);
}

const char *sampling_opts_need_edges(const char *other)
{
    static char text[256];
    size_t n = (size_t)snprintf(text, sizeof text, "requires ");
    EACH_MEMBER(x)
    {
        if (x->edge_data && gnn_member_is_set(&sampling_given, x))
            return NULL;
        if (x->edge_data && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, "--%s, ", x->option);
    }
    if (n < sizeof text)
        snprintf(text + n - 2, sizeof text - n + 2, " or --%s", other);
    return text;
}

const char *sampling_opts_draws(void)
{
    return sampling_given.seed_balance  ? "--seed-balance"
           : sampling_given.seed_weight ? "--seed-weight"
                                        : NULL;
}

void sampling_opts_refuse(const char *why)
{
    EACH_MEMBER(x)
    opt_refuse(OPTS(gnn_member_of(&sampling_given, x)), why);
}

void sampling_opts_choose_rule(const struct gnn_schema *c, const char *set)
{
    const char *type = sampling_given.links.type;
    const int et = type ? gnn_schema_find_etype(c, type) : -1,
              i = et < 0 ? -1 : gnn_schema_find_links(c, (uint32_t)et, set ? set : "train");
    if (i < 0 || !c->set[i].time || sampling_given.time_rule ||
        opt_given(&sampling_given.time_rule))
        return;
    if (sampling_given.labor) {
        cli_note("warning: neighbours of a link may be later than it: --labor has no --time-rule");
        return;
    }
    sampling_given.time_rule = GNN_PICK_BEFORE;
    cli_note("neighbours of a link are earlier than it (--time-rule lt)");
}

bool sampling_opts_take_given(const struct gnn_schema *c, const char *const *set, uint32_t n)
{
    const char *type = sampling_given.links.type;
    const int et = type ? gnn_schema_find_etype(c, type) : -1;
    if (et < 0 || !gnn_schema_all_given(c, (uint32_t)et, set, n))
        return false;
    cli_note("negatives of evaluated sets are those given in the store (--eval-negatives given)");
    return true;
}

void sampling_opts_tell_messages(const struct gnn_schema *c, const struct gnn_sampling *m)
{
    for (uint32_t i = 0; m->links.type && !gnn_sampling_is_temporal(m) && i < m->nsplits; i++) {
        const int set = gnn_schema_find_links(c, m->links.etype, m->split[i]);
        if (set >= 0 && c->set[set].messages)
            cli_note("warning: links of set %s are edges of the store (gnn-import --messages), so "
                     "its figures are not those of unknown links",
                     m->split[i]);
    }
}

void sampling_opts_tell(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    uint64_t idle = sampling_weights.idle;
    if (gnn_comm_all_reduce(c, &idle, 1, GNN_REDUCE_U64, &e))
        cli_fail(&e);
    if (idle)
        cli_note("%" PRIu64 " node%s in-edges whose %s is 0 throughout: none of these is picked",
                 idle, idle > 1 ? "s have" : " has", sampling_given.weight);
    if (sampling_weights.bytes)
        cli_info("weights: %.1f MB of memory for their sums",
                 1e-6 * (double)sampling_weights.bytes);
}
