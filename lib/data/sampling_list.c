/* SPDX-License-Identifier: Apache-2.0 */
/* The list itself (lib/data/sampling_list.h), in the order of the header, and what of it does not
 * fit together. A member's key is for good: streams, models and checkpoints have it. */
#include "lib/data/sampling_list.h"

#include <stddef.h>
#include <string.h>

#include "lib/base/mem.h"

#define AT(member) .at = offsetof(struct gnn_sampling, member)
#define LACKS_EDGES "edges that such batches do not have"

const struct gnn_sampling_member gnn_sampling_list[] = {
    {GNN_MEMBER_SEED, AT(seed), .key = "seed", .option = "seed", .arg = "N",
     .help = "random seed (default: 1)", .standard = 1, .section = GNN_SECTION_SAMPLING},
    {GNN_MEMBER_BOUND, .key = "fanout"},
    {GNN_MEMBER_U32, AT(batch_size), .key = "batch_size", .standard = 1024, .option = "batch",
     .letter = 'b', .arg = "N", .help = "seeds per batch (default: 1024)", .min = 1,
     .max = 1073741824, .most = UINT32_MAX, /* of full batches */
     .section = GNN_SECTION_SEEDS, .train = true},
    {GNN_MEMBER_CHOICE, AT(frontier), .key = "frontier", .option = "frontier", .arg = "RULE",
     .help =
         "frontier policy: sample neighbours of all nodes so far, or only of new ones (default: "
         "all)",
     .choices = "all|new", .section = GNN_SECTION_SAMPLING, .train = true},
    {GNN_MEMBER_FLAG, AT(replace), .key = "replace", .option = "replace", .letter = 'r',
     .help = "sample with replacement", .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_FLAG, AT(shuffle), .key = "shuffle", .standard = true, .option = "shuffle",
     .help = "shuffle the seeds in each epoch (default for sets; --no-shuffle)",
     .section = GNN_SECTION_SEEDS, .train = true},
    {GNN_MEMBER_FLAG, AT(drop_last), .key = "drop_last", .option = "drop-last",
     .help = "leave out the last batch if it is smaller", .section = GNN_SECTION_SEEDS,
     .train = true},
    {GNN_MEMBER_FLAG, AT(edge_ids), .key = "edge_ids", .option = "edge-ids",
     .help = "add edge ids to the batches", .section = GNN_SECTION_SAMPLING},
    {GNN_MEMBER_FLAG, AT(original_ids), .key = "original_ids", .option = "original-ids",
     .help = "write positions before partitioning, and read them with --seeds",
     .section = GNN_SECTION_SAMPLING},
    {GNN_MEMBER_BOUND, .key = "seed_type"},
    {GNN_MEMBER_BOUND, .key = "splits"},

    {GNN_MEMBER_TEXT, AT(links.type), .group = "links", .key = "type", .option = "links",
     .arg = "S/R/D",
     .help = "seeds are links of this type: of sets, all edges or, with --seeds, pairs of nodes",
     .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_TEXT, AT(links.negatives), .group = "links", .key = "negatives",
     .when = GNN_WHEN_SET, .option = "negatives", .arg = "HOW",
     .help =
         "draw negatives: binary:A, A for each link of a batch; triplet:K, K for each link, one "
         "after the other; joint:K:C, the same nodes for C links; in-batch:K, nodes of the K "
         "links that follow; or given: those of the store (default: none; gnn-train --store: "
         "binary:1)",
     .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_TEXT, AT(links.eval_negatives), .group = "links", .key = "eval_negatives",
     .when = GNN_WHEN_SET, .option = "eval-negatives", .arg = "HOW",
     .help = "likewise, of sets that are evaluated (default: given, if the store has them, or as "
             "--negatives)",
     .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_CHOICE, AT(links.end), .group = "links", .key = "end", .option = "negative-end",
     .arg = "END", .help = "end of a negative that is drawn: tail, head or both (default: tail)",
     .choices = "tail|head|both", .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_TEXT, AT(links.weight), .group = "links", .key = "weight", .when = GNN_WHEN_SET,
     .option = "negative-weight", .arg = "WEIGHT",
     .help =
         "draw nodes of negatives in proportion to their degree, to a power of it (degree:0.75) "
         "or to a field; of both ends also HEADS,TAILS (default: uniformly)",
     .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_FLAG, AT(links.strict), .group = "links", .key = "strict", .option = "strict",
     .help = "no drawn negative is an edge of the type, or a link that its set may know",
     .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_CHOICE, AT(links.exclude), .group = "links", .key = "exclude", .option = "exclude",
     .arg = "WHICH",
     .help =
         "edges that are never picked: none, the links of the batch themselves (self), or these "
         "and their reverses (reverse) (default: none; gnn-train --store: reverse or self; "
         "gnn-predict: as in training)",
     .choices = "none|self|reverse", .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_TEXT, AT(links.sum), .group = "links", .key = "sum", .when = GNN_WHEN_SET},
    {GNN_MEMBER_TEXT, AT(links.target), .group = "links", .key = "target", .when = GNN_WHEN_SET,
     .option = "target", .arg = "FIELD",
     .help = "links are labelled by this field of their edges: a class, a number or, with "
             "FIELD>NUMBER, whether it is above",
     .section = GNN_SECTION_LINKS, .train = true},
    {GNN_MEMBER_U32, AT(links.classes), .group = "links", .key = "classes", .when = GNN_WHEN_SET,
     .max = 65536},

    {GNN_MEMBER_U32, AT(walks.length), .group = "walks", .key = "length", .option = "walk-length",
     .arg = "N", .help = "random walks of N steps from each seed, in place of neighbourhoods",
     .min = 1, .max = GNN_WALK_MAX, .section = GNN_SECTION_WALKS,
     .picks = "walks are drawn without regard to that"},
    {GNN_MEMBER_U32, AT(walks.per_seed), .group = "walks", .key = "per_seed", .standard = 1,
     .option = "walks-per-seed", .arg = "N", .help = "walks from each seed (default: 1)", .min = 1,
     .max = 1048576, .most = INT32_MAX, .section = GNN_SECTION_WALKS},
    {GNN_MEMBER_F64, AT(walks.restart), .group = "walks", .key = "restart", .option = "restart",
     .arg = "P",
     .help = "probability that a step after the first leads back to the seed (default: 0)",
     .section = GNN_SECTION_WALKS},
    {GNN_MEMBER_U32, AT(walks.window), .group = "walks", .key = "window", .option = "pairs",
     .arg = "N", .help = "write pairs of nodes at most N steps apart instead of walks", .min = 1,
     .max = GNN_WALK_MAX, .section = GNN_SECTION_WALKS},
    {GNN_MEMBER_F64, AT(walks.p), .group = "walks", .key = "p", .standard = 1},
    {GNN_MEMBER_F64, AT(walks.q), .group = "walks", .key = "q", .standard = 1},

    {GNN_MEMBER_TEXT, AT(weight), .key = "weight", .when = GNN_WHEN_SET, .option = "weight",
     .arg = "FIELD",
     .help = "pick neighbours in proportion to this field of edges (default: uniformly)",
     .section = GNN_SECTION_RULE, .train = true, .edge_field = true, .edge_data = true,
     .lacks = "all neighbours alike, whatever their weights"},
    {GNN_MEMBER_TEXT, AT(top), .key = "top", .when = GNN_WHEN_SET, .option = "top", .arg = "FIELD",
     .help = "pick the neighbours with the largest values of this field of edges",
     .section = GNN_SECTION_RULE, .train = true, .edge_field = true, .edge_data = true,
     .lacks = "all neighbours alike, whatever their values"},
    {GNN_MEMBER_FLAG, AT(labor), .group = "labor", .when = GNN_WHEN_NEVER, .option = "labor",
     .help = "LABOR: destinations pick the same neighbours where they can, so batches are smaller",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_FLAG, AT(layer_dependency), .group = "labor", .key = "layer_dependency",
     .option = "layer-dependency", .help = "with --labor: likewise all hops",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_U32, AT(batch_dependency), .group = "labor", .key = "batch_dependency",
     .standard = 1, .option = "batch-dependency", .arg = "N",
     .help = "with --labor: likewise N steps, one after the other (default: 1)", .min = 1,
     .max = UINT32_MAX, .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_FLAG, AT(disjoint), .key = "disjoint", .when = GNN_WHEN_SET, .option = "disjoint",
     .help = "sample a tree for each seed, which shares no nodes or draws with the others; with "
             "--clusters: no edges between partitions",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_FLAG, AT(induced), .key = "induced", .when = GNN_WHEN_SET, .option = "induced",
     .help = "batches have all edges among the nodes found, not those along which they were found",
     .section = GNN_SECTION_RULE, .train = true, .lacks = LACKS_EDGES},
    {GNN_MEMBER_U32, AT(clusters), .key = "clusters", .when = GNN_WHEN_SET, .option = "clusters",
     .arg = "N",
     .help = "batches have all nodes of N partitions of the store, and all edges among them",
     .min = 1, .max = INT32_MAX, .section = GNN_SECTION_RULE, .train = true,
     .picks = "clusters have all edges", .lacks = LACKS_EDGES},
    {GNN_MEMBER_CHOICE, AT(time_rule), .group = "time", .key = "rule", .option = "time-rule",
     .arg = "RULE",
     .help = "pick edges by time: not later than the seed (le), or earlier (lt) (default: any)",
     .choices = "any|le|lt", .section = GNN_SECTION_RULE, .train = true, .edge_data = true,
     .lacks = "edges that are later than a node's time"},
    {GNN_MEMBER_FLAG, AT(latest), .group = "time", .key = "latest", .option = "latest",
     .help = "with --time-rule: pick the latest edges", .section = GNN_SECTION_RULE, .train = true,
     .picks = "the latest neighbours are taken"},
    {GNN_MEMBER_CHOICE, AT(hop_time), .group = "time", .key = "hop_time", .when = GNN_WHEN_SET,
     .option = "hop-time", .arg = "TIME",
     .help = "with --time-rule: in the next hop, the seed's time counts, or the edge's (default: "
             "seed)",
     .choices = "seed|edge", .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_TEXT, AT(seed_time), .group = "time", .key = "seeds", .when = GNN_WHEN_SET,
     .option = "seed-time", .arg = "FIELD",
     .help = "with --time-rule: field of nodes with the times of seeds (default: time; with "
             "--seeds, the file has them)",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_NUMBER, AT(window), .group = "time", .key = "window", .when = GNN_WHEN_SET,
     .option = "window", .arg = "W",
     .help = "with --time-rule: only edges that are at most W older than the seed",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_TEXT, AT(seed_weight), .key = "seed_weight", .when = GNN_WHEN_SET,
     .option = "seed-weight", .arg = "FIELD",
     .help = "draw seeds with replacement, in proportion to this field of nodes",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_FLAG, AT(seed_balance), .key = "seed_balance", .when = GNN_WHEN_SET,
     .option = "seed-balance",
     .help = "draw seeds with replacement, so that all classes are as likely",
     .section = GNN_SECTION_RULE, .train = true},
    {GNN_MEMBER_U32, AT(rank), .key = "rank", .when = GNN_WHEN_RANKS},
    {GNN_MEMBER_U32, AT(ranks), .key = "ranks", .when = GNN_WHEN_RANKS},
};
const unsigned gnn_sampling_list_length = sizeof gnn_sampling_list / sizeof *gnn_sampling_list;

/* Options that are refused where `with` is given; or, `without`, where it is not. */
static const struct {
    const char *with, *without, *options, *why;
} rules[] = {
    {.without = "labor", .options = "layer-dependency batch-dependency", .why = "requires --labor"},
    {.without = "time-rule",
     .options = "window latest hop-time seed-time",
     .why = "requires --time-rule le or lt"},
    {.without = "walk-length",
     .options = "walks-per-seed metapath node2vec restart pairs",
     .why = "requires --walk-length"},
    {.without = "links",
     .options = "negatives eval-negatives negative-end negative-weight strict exclude target",
     .why = "requires --links"},
    {"target", .options = "negatives eval-negatives",
     .why = "has no effect with --target: labels are learned, which negatives do not have"},
    {.without = "negatives",
     .options = "negative-end negative-weight strict",
     .why = "requires --negatives"},
    {"links", .options = "seed-type seed-time seed-weight seed-balance clusters walk-length",
     .why = "cannot be used with --links"},
    {"walk-length", .options = "fanout frontier edge-ids count-once",
     .why = "cannot be used with --walk-length"},
    {"walk-length", .options = "replace disjoint",
     .why = "has no effect: walks are independent of each other"},
    {"walk-length", .options = "labor time-rule induced clusters top",
     .why = "cannot be used with --walk-length"},
    {"node2vec", .options = "restart", .why = "cannot be used with --node2vec"},
    {"pairs", .options = "restart", .why = "cannot be used with --pairs"},
    {"labor", .options = "replace weight disjoint", .why = "cannot be used with --labor"},
    {"seed-balance", .options = "seed-weight", .why = "and --seed-balance exclude each other"},
    {"clusters", .options = "fanout frontier batch seeds seed-balance seed-weight",
     .why = "cannot be used with --clusters"},
    {"clusters", .options = "replace weight top labor time-rule",
     .why = "has no effect with --clusters: no neighbours are picked"},
    {"clusters", .options = "induced", .why = "has no effect: --clusters implies it"},
    {"latest", .options = "replace weight labor", .why = "cannot be used with --latest"},
    {"top", .options = "replace weight labor latest", .why = "cannot be used with --top"},
    {"induced", .options = "hop-time",
     .why = "has no effect with --induced: induced edges lead to nodes that have the time of their "
            "seed, not of an edge"},
    {"seed-balance", .options = "shuffle",
     .why = "has no effect with --seed-balance: seeds are drawn"},
    {"seed-weight", .options = "shuffle",
     .why = "has no effect with --seed-weight: seeds are drawn"},
};

const struct gnn_sampling_member *gnn_sampling_find(const char *option)
{
    EACH_MEMBER(x)
    if (x->option && !strcmp(x->option, option))
        return x;
    return NULL;
}

/* Whether an option has an effect: one that is not of the list, if it was given. */
static bool is_in_effect(const struct gnn_sampling *s, const struct gnn_given *given,
                         const char *option)
{
    const struct gnn_sampling_member *x = gnn_sampling_find(option);
    return x ? gnn_member_is_set(s, x) : given->has(given->arg, option);
}

const char *gnn_sampling_conflict(const struct gnn_sampling *s, const struct gnn_given *given,
                                  const char **why)
{
    static _Thread_local char name[32];
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const char *with = rules[i].with, *p = rules[i].options;
        if (with ? !is_in_effect(s, given, with) : is_in_effect(s, given, rules[i].without))
            continue;
        *why = rules[i].why;
        for (size_t n; *p; p += n + (p[n] == ' ')) {
            n = strcspn(p, " ");
            memcpy(name, p, n);
            name[n] = '\0';
            if (given->has(given->arg, name))
                return name;
        }
    }
    return NULL;
}

bool gnn_member_is_set(const struct gnn_sampling *s, const struct gnn_sampling_member *x)
{
    const void *v = gnn_member_of(s, x);
    switch (x->kind) {
    case GNN_MEMBER_FLAG:
        return *(const bool *)v != (x->standard != 0);
    case GNN_MEMBER_U32:
    case GNN_MEMBER_CHOICE:
        return *(const uint32_t *)v != (uint32_t)x->standard;
    case GNN_MEMBER_F64:
        return *(const double *)v != x->standard;
    case GNN_MEMBER_TEXT:
    case GNN_MEMBER_NUMBER:
        return *(const char *const *)v;
    case GNN_MEMBER_SEED:
    case GNN_MEMBER_BOUND:
        break;
    }
    return true;
}

struct opt gnn_member_option(const struct gnn_sampling *s, const struct gnn_sampling_member *x)
{
    static const enum opt_kind kinds[] = {
        [GNN_MEMBER_SEED] = OPT_U64,      [GNN_MEMBER_FLAG] = OPT_FLAG,
        [GNN_MEMBER_U32] = OPT_U32,       [GNN_MEMBER_F64] = OPT_DOUBLE,
        [GNN_MEMBER_CHOICE] = OPT_CHOICE, [GNN_MEMBER_TEXT] = OPT_STR,
        [GNN_MEMBER_NUMBER] = OPT_STR,    [GNN_MEMBER_BOUND] = OPT_END};
    return (struct opt){.kind = kinds[x->kind],
                        .letter = x->letter,
                        .name = x->option,
                        .value = gnn_member_of(s, x),
                        .arg = x->arg,
                        .help = x->help,
                        .choices = x->choices,
                        .min = x->min,
                        .max = x->max};
}

/* ---- all members of one sampling ---- */

const struct gnn_sampling_member *gnn_sampling_edge_field(const struct gnn_sampling *s,
                                                          const char **field)
{
    EACH_MEMBER(x)
    if (x->edge_field && gnn_member_is_set(s, x)) {
        *field = *(const char *const *)gnn_member_of(s, x);
        return x;
    }
    return NULL;
}

const char *gnn_sampling_picks(const struct gnn_sampling *s)
{
    EACH_MEMBER(x)
    if (x->picks && gnn_member_is_set(s, x))
        return x->picks;
    return NULL;
}

static bool is_text(const struct gnn_sampling_member *x)
{
    return x->kind == GNN_MEMBER_TEXT || x->kind == GNN_MEMBER_NUMBER;
}

void gnn_sampling_init(struct gnn_sampling *s)
{
    *s = (struct gnn_sampling){0};
    EACH_MEMBER(x)
    {
        void *v = gnn_member_of(s, x);
        if (x->kind == GNN_MEMBER_SEED)
            *(uint64_t *)v = (uint64_t)x->standard;
        else if (x->kind == GNN_MEMBER_FLAG)
            *(bool *)v = x->standard != 0;
        else if (x->kind == GNN_MEMBER_F64)
            *(double *)v = x->standard;
        else if (x->kind == GNN_MEMBER_U32 || x->kind == GNN_MEMBER_CHOICE)
            *(uint32_t *)v = (uint32_t)x->standard;
    }
}

int gnn_sampling_find_set(const struct gnn_sampling *s, uint32_t i, const struct gnn_schema *c)
{
    const int set = s->links.type ? -1 : gnn_schema_find_set(c, s->split[i]);
    return set >= 0 && c->set[set].ntype == s->seed_ntype && c->set[set].count == s->split_seeds[i]
               ? set
               : -1;
}

int gnn_sampling_take(const char **member, const char *text, struct gnn_err *e)
{
    return text && !(*member = gnn_strdup(text, e)) ? e->code : 0;
}

void gnn_sampling_release(struct gnn_sampling *s)
{
    EACH_MEMBER(x)
    if (is_text(x))
        gnn_free(*(char **)gnn_member_of(s, x));
    for (uint32_t i = 0; s->split && i < s->nsplits; i++)
        gnn_free(s->split[i]);
    gnn_free(s->split);
    gnn_free(s->fanout);
    gnn_free(s->by_field);
    gnn_free(s->steps);
    gnn_free(s->split_seeds);
    gnn_free(s->given);
    *s = (struct gnn_sampling){0};
}

int gnn_sampling_alloc_hops(struct gnn_sampling *s, uint32_t netypes, struct gnn_err *e)
{
    s->fanout = gnn_alloc_zero((uint64_t)s->nhops * netypes, sizeof *s->fanout, "fan-outs", e);
    return s->fanout ? 0 : e->code;
}

int gnn_sampling_alloc_sets(struct gnn_sampling *s, uint32_t n, struct gnn_err *e)
{
    s->nsplits = n;
    s->split = gnn_alloc_zero(n, sizeof *s->split, "splits", e);
    s->steps = gnn_alloc_zero(n, sizeof *s->steps, "splits", e);
    s->split_seeds = gnn_alloc_zero(n, sizeof *s->split_seeds, "splits", e);
    s->given = gnn_alloc_zero(n, sizeof *s->given, "splits", e);
    return s->split && s->steps && s->split_seeds && s->given ? 0 : e->code;
}

int gnn_sampling_copy_rule(struct gnn_sampling *d, const struct gnn_sampling *s, uint32_t netypes,
                           struct gnn_err *e)
{
    const uint64_t blocks = (uint64_t)s->nhops * netypes;
    *d = *s;
    d->fanout = NULL;
    d->by_field = NULL;
    d->nsplits = 0;
    d->split = NULL;
    d->steps = d->split_seeds = NULL;
    d->given = NULL;
    EACH_MEMBER(x)
    if (is_text(x))
        *(const char **)gnn_member_of(d, x) = NULL;
    EACH_MEMBER(x)
    if (is_text(x) && gnn_sampling_take(gnn_member_of(d, x), *(char **)gnn_member_of(s, x), e))
        return e->code;
    if (s->fanout && !gnn_sampling_alloc_hops(d, netypes, e))
        memcpy(d->fanout, s->fanout, blocks * sizeof *d->fanout);
    if (s->by_field && (d->by_field = gnn_alloc(blocks, sizeof *d->by_field, "fan-outs", e)))
        memcpy(d->by_field, s->by_field, blocks * sizeof *d->by_field);
    return e->code;
}

int gnn_sampling_copy(struct gnn_sampling *d, const struct gnn_sampling *s, uint32_t netypes,
                      struct gnn_err *e)
{
    if (gnn_sampling_copy_rule(d, s, netypes, e) || gnn_sampling_alloc_sets(d, s->nsplits, e))
        return e->code;
    for (uint32_t i = 0; i < s->nsplits; i++) {
        d->steps[i] = s->steps[i];
        d->split_seeds[i] = s->split_seeds[i];
        d->given[i] = s->given[i];
        if (!(d->split[i] = gnn_strdup(s->split[i], e)))
            return e->code;
    }
    return 0;
}
