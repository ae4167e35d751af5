/* SPDX-License-Identifier: Apache-2.0 */
/* The rule by which neighbours are picked (lib/data/rule.h): what a graph must have for it. */
#include "lib/data/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/data/sampling_list.h"

/* Neighbours are picked by a field along the edge types that have it. */
static int bind_edge_field(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                           struct gnn_err *e)
{
    const uint32_t blocks = s->nhops * c->netypes;
    const char *field;
    const struct gnn_sampling_member *by = gnn_sampling_edge_field(s, &field);
    bool any = false, sampled = false;
    if (!by)
        return 0;
    if (gnn_schema_need_edge_field(c, where, field, e))
        return e->code;
    if (!(s->by_field = gnn_alloc_zero(blocks, sizeof *s->by_field, "fan-outs", e)))
        return e->code;
    for (uint32_t b = 0; b < blocks; b++) {
        const struct gnn_etype *t = &c->etype[b % c->netypes];
        const struct gnn_field *f = gnn_field_find(t->field, t->nfields, field);
        if (f && f->width > 1)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: edge field '%s' has %llu numbers for each edge: --%s requires one",
                            where, field, (unsigned long long)f->width, by->option);
        s->by_field[b] = f != NULL;
        sampled = sampled || (f && s->fanout[b]);
        any = any || (f && s->fanout[b] > 0);
    }
    if (any)
        return 0;
    return gnn_fail(e, GNN_E_USAGE,
                    sampled ? "%s: --%s %s has no effect: all neighbours are taken"
                            : "%s: --%s: no edge type that is sampled has a field '%s'",
                    where, by->option, field);
}

/* The type of times that all in-edges that are sampled are ordered by. */
static int find_edge_times(const struct gnn_sampling *s, const struct gnn_schema *c,
                           const char *where, enum gnn_dtype *dtype, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    *dtype = 0;
    for (uint32_t b = 0; b < s->nhops * c->netypes; b++) {
        const struct gnn_etype *t = &c->etype[b % c->netypes];
        const struct gnn_field *f =
            t->order ? gnn_field_find(t->field, t->nfields, t->order) : NULL;
        if (!s->fanout[b])
            continue;
        if (!f)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: edges '%s' have no times by which they are ordered (gnn-import "
                            "orders edges that have a field time, or sources with one)",
                            where, gnn_etype_key(c, b % c->netypes, key, sizeof key));
        if ((f->dtype != GNN_I64 && f->dtype != GNN_F64) || (*dtype && f->dtype != *dtype))
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: times of edges '%s' are %s: all that are sampled must be i64, or "
                            "all f64",
                            where, gnn_etype_key(c, b % c->netypes, key, sizeof key),
                            gnn_dtype_name(f->dtype));
        *dtype = f->dtype;
    }
    return *dtype
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "%s: times have no effect: no edges are sampled", where);
}

static int set_window(struct gnn_pick_time *t, const char *where, const char *text,
                      struct gnn_err *e)
{
    char line[64];
    uint64_t whole = 0;
    const int n = snprintf(line, sizeof line, "%s\n", text);
    const char *end = n < 0 || n >= (int)sizeof line ? NULL
                      : t->real                      ? gnn_text_f64(line, &t->window_real)
                                                     : gnn_text_u64(line, &whole);
    const bool good =
        end && *end == '\n' && !end[1] &&
        (t->real ? t->window_real >= 0 && isfinite(t->window_real) : whole <= INT64_MAX);
    if (!good)
        return gnn_fail(e, GNN_E_USAGE, "%s: window '%.64s': expected %s >= 0", where, text,
                        t->real ? "a number" : "a whole number, as times are,");
    if (t->until == GNN_PICK_BEFORE && (t->real ? t->window_real == 0 : whole == 0))
        return gnn_fail(e, GNN_E_USAGE, "%s: window '%.64s': nothing is before the seed in it",
                        where, text);
    t->windowed = true;
    t->window = t->real ? 0 : (int64_t)whole;
    return 0;
}

/* The window's text, as a header has it: real times with a point. */
static int write_window(struct gnn_sampling *s, struct gnn_err *e)
{
    const struct gnn_pick_time *t = &s->rule.time;
    char text[48];
    int n = t->real ? snprintf(text, sizeof text - 2, "%.17g", t->window_real)
                    : snprintf(text, sizeof text - 2, "%lld", (long long)t->window);
    if (t->real && !strpbrk(text, ".e"))
        memcpy(text + n, ".0", 3);
    gnn_free((void *)(uintptr_t)s->window);
    s->window = NULL;
    return gnn_sampling_take(&s->window, text, e);
}

static int bind_time(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                     struct gnn_err *e)
{
    enum gnn_dtype dtype;
    bool any = false;
    if (s->time_rule == GNN_PICK_ANY_TIME)
        return 0;
    if (find_edge_times(s, c, where, &dtype, e))
        return e->code;
    s->rule.time = (struct gnn_pick_time){.until = s->time_rule,
                                          .real = dtype == GNN_F64,
                                          .by_edge = s->hop_time == GNN_HOP_TIME_EDGE};
    for (uint32_t b = 0; b < s->nhops * c->netypes; b++)
        any = any || s->fanout[b] > 0;
    if (s->latest && !any)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: taking the latest has no effect: all neighbours are taken", where);
    return s->window && (set_window(&s->rule.time, where, s->window, e) || write_window(s, e))
               ? e->code
               : 0;
}

/* A field of a node type, with `what`: "times of seeds". */
static const struct gnn_field *node_field(const struct gnn_ntype *t, const char *where,
                                          const char *field, const char *what, struct gnn_err *e)
{
    const struct gnn_field *f = gnn_field_find(t->field, t->nfields, field);
    struct gnn_suggest of = {.word = field};
    if (f)
        return f;
    for (uint32_t i = 0; i < t->nfields; i++)
        gnn_suggest_add(&of, t->field[i].name);
    gnn_fail(e, GNN_E_USAGE, "%s: nodes '%s' have no field '%.64s' with %s%s%s", where, t->name,
             field, what, gnn_suggest_text(&of, "fields"),
             strcmp(what, "times of seeds")
                 ? ""
                 : " (--seed-time FIELD names another; gnn-sample --seeds FILE "
                   "gives each seed a time)");
    return NULL;
}

/* Likewise, of one number. */
static int bind_weight(const struct gnn_ntype *t, const char *where, const char *field,
                       const char *what, struct gnn_err *e)
{
    const struct gnn_field *f = node_field(t, where, field, what, e);
    if (f && f->width > 1)
        gnn_fail(e, GNN_E_USAGE, "%s: field '%s' has %llu numbers for each node: a weight is one",
                 where, field, (unsigned long long)f->width);
    return e->code;
}

/* How seeds are drawn, if they are. */
static int bind_draws(const struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                      struct gnn_err *e)
{
    if (s->seed_balance && (!gnn_task_one_class(c->task) || c->label_ntype != s->seed_ntype))
        return gnn_fail(e, GNN_E_USAGE, "%s: nodes '%s' have no classes to balance", where,
                        c->ntype[s->seed_ntype].name);
    return s->seed_weight
               ? bind_weight(&c->ntype[s->seed_ntype], where, s->seed_weight, "weights of seeds", e)
               : 0;
}

/* Which times seeds have. */
static int bind_seed_time(const struct gnn_sampling *s, const struct gnn_schema *c,
                          const char *where, struct gnn_err *e)
{
    const struct gnn_ntype *t = &c->ntype[s->seed_ntype];
    const enum gnn_dtype dtype = gnn_sampling_time_dtype(s);
    const struct gnn_field *f;
    if (!s->seed_time)
        return 0;
    if (!(f = node_field(t, where, s->seed_time, "times of seeds", e)))
        return e->code;
    return f->dtype != dtype || f->width > 1
               ? gnn_fail(e, GNN_E_USAGE,
                          "%s: field '%s' of nodes '%s' is %s%s, but times of edges are %s", where,
                          s->seed_time, t->name, gnn_dtype_name(f->dtype),
                          f->width > 1 ? " with several columns" : "", gnn_dtype_name(dtype))
               : 0;
}

/* Restarts and pairs need walks whose nodes are all of one type. */
static bool path_turns(const struct gnn_sampling *s, const struct gnn_schema *c)
{
    for (uint32_t h = 0; h < s->nhops; h++) {
        const struct gnn_etype *t = &c->etype[gnn_sampling_step(s, c->netypes, h)];
        if (t->src != t->dst)
            return true;
    }
    return false;
}

/* Each step begins where the one before it ended, and so does the first where they go round. */
static int check_path(const struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                      struct gnn_err *e)
{
    char key[2][GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t h = 1; h < s->walks.length && h <= s->nhops; h++) {
        const uint32_t a = gnn_sampling_step(s, c->netypes, h - 1),
                       b = gnn_sampling_step(s, c->netypes, h);
        if (c->etype[a].src != c->etype[b].dst)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: a step along '%s' leads to a node '%s', which has no in-edges "
                            "'%s': steps go from destinations to sources",
                            where, gnn_etype_key(c, a, key[0], sizeof key[0]),
                            c->ntype[c->etype[a].src].name,
                            gnn_etype_key(c, b, key[1], sizeof key[1]));
    }
    const bool second = gnn_walks_second_order(&s->walks);
    if ((s->walks.window || s->walks.restart > 0) && path_turns(s, c))
        return gnn_fail(e, GNN_E_USAGE, "%s: %s require walks among nodes of one type", where,
                        s->walks.window ? "pairs" : "restarts");
    if (second && (path_turns(s, c) || s->nhops > 1))
        return gnn_fail(e, GNN_E_USAGE, "%s: node2vec requires walks along one edge type", where);
    return 0;
}

/* The edge types of a walk's steps, as fan-outs. */
static int walk_hops(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                     const char *const *path, uint32_t n, struct gnn_err *e)
{
    const struct gnn_walks *w = &s->walks;
    if (!n && c->netypes != 1)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: has %u edge types: --metapath must name those of a walk's steps",
                        where, c->netypes);
    if (n > w->length)
        return gnn_fail(e, GNN_E_USAGE, "a metapath of %u edge types: a walk has %u", n, w->length);
    if (n > GNN_HOPS_MAX)
        return gnn_fail(e, GNN_E_USAGE, "more than %d edge types in a metapath", GNN_HOPS_MAX);
    s->nhops = n ? n : 1;
    s->fanout = gnn_alloc_zero((uint64_t)s->nhops * c->netypes, sizeof *s->fanout, "fan-outs", e);
    if (!s->fanout)
        return e->code;
    for (uint32_t h = 0; h < s->nhops; h++) {
        const int et = n ? gnn_schema_need_etype(c, where, path[h], e) : 0;
        if (et < 0)
            return et;
        s->fanout[(uint64_t)h * c->netypes + (uint32_t)et] = 1;
    }
    return 0;
}

static int bind_walks(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                      struct gnn_err *e)
{
    const struct gnn_walks *w = &s->walks;
    if (!w->length)
        return 0;
    if (s->batch_size * (uint64_t)w->per_seed > INT32_MAX)
        return gnn_fail(e, GNN_E_USAGE,
                        "%u walks from each of %u seeds: a batch has at most 2^31 walks",
                        w->per_seed, s->batch_size);
    if (!(w->restart >= 0 && w->restart < 1) || !gnn_node2vec_takes(w->p) ||
        !gnn_node2vec_takes(w->q))
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: walks with restarts %g, p %g and q %g: expected a probability less "
                        "than 1, and two numbers from %g to %g",
                        where, w->restart, w->p, w->q, 1.0 / GNN_NODE2VEC_MAX, GNN_NODE2VEC_MAX);
    return check_path(s, c, where, e);
}

/* The numbers in "binary:A", "triplet:K", "joint:K", "joint:K:C" or "in-batch:K", or "given";
 * false: it is no such text. */
static bool parse_negatives(const char *text, struct gnn_drawn *d)
{
    static const char *const word[] = {[GNN_NEGATIVES_BINARY] = "binary:",
                                       [GNN_NEGATIVES_TRIPLET] = "triplet:",
                                       [GNN_NEGATIVES_JOINT] = "joint:",
                                       [GNN_NEGATIVES_IN_BATCH] = "in-batch:"};
    uint64_t group = 0;
    char line[64];
    if (!strcmp(text, "given")) {
        d->kind = GNN_NEGATIVES_GIVEN;
        return true;
    }
    for (uint32_t k = GNN_NEGATIVES_BINARY; k <= GNN_NEGATIVES_IN_BATCH; k++) {
        const size_t n = strlen(word[k]);
        if (strncmp(text, word[k], n) || strlen(text) > sizeof line - 2)
            continue;
        snprintf(line, sizeof line, "%s\n", text + n);
        const char *end = *line == '\n' ? NULL : gnn_text_f64(line, &d->amount);
        d->kind = (enum gnn_negatives)k;
        if (k == GNN_NEGATIVES_JOINT && end && *end == ':')
            end = (end = gnn_text_u64(end + 1, &group)) && group && group <= INT32_MAX ? end : NULL;
        d->group = (uint32_t)group;
        return end && *end == '\n' && d->amount > 0 && d->amount <= GNN_NEGATIVES_MAX &&
               (k == GNN_NEGATIVES_BINARY || d->amount == floor(d->amount));
    }
    return false;
}

static int bind_negatives(struct gnn_links *l, const char *where, struct gnn_err *e)
{
    const char *text[GNN_LINK_USES] = {l->negatives,
                                       l->eval_negatives ? l->eval_negatives : l->negatives};
    if (!l->negatives && l->eval_negatives)
        return gnn_fail(e, GNN_E_USAGE, "%s: --eval-negatives requires --negatives", where);
    for (int i = 0; i < GNN_LINK_USES; i++) {
        l->drawn[i] = (struct gnn_drawn){.kind = GNN_NEGATIVES_NONE};
        if (text[i] && !parse_negatives(text[i], &l->drawn[i]))
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: negatives '%.64s': expected binary:A, A above 0, or triplet:K, "
                            "joint:K, joint:K:C or in-batch:K, K and C whole numbers, of at most "
                            "%d (C: of links), or given",
                            where, text[i], GNN_NEGATIVES_MAX);
        if ((l->drawn[i].kind == GNN_NEGATIVES_JOINT ||
             l->drawn[i].kind == GNN_NEGATIVES_IN_BATCH) &&
            l->end == GNN_NEGATIVE_BOTH)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: negatives '%.64s' share the nodes of one end: --negative-end both "
                            "cannot be used with them",
                            where, text[i]);
    }
    return 0;
}

/* The weight that the n characters from `at` on name, of nodes of an end: "degree", "degree:P", or
 * a field. */
static int bind_end_weight(struct gnn_links *l, const struct gnn_schema *c, unsigned end, size_t at,
                           size_t n, const char *where, struct gnn_err *e)
{
    static const char *const degree[] = {"degree:0.25", "degree:0.5", "degree:0.75", "degree:1",
                                         "degree"};
    const uint32_t type = end ? c->etype[l->etype].dst : c->etype[l->etype].src;
    char *word = gnn_strf(e, "%.*s", (int)n, l->weight + at);
    if (!word)
        return e->code;
    l->by[end] = (struct gnn_link_weight){0, at, n};
    for (unsigned i = 0; i < 5; i++)
        if (!strcmp(word, degree[i]))
            l->by[end] = (struct gnn_link_weight){.quarters = i < 4 ? i + 1 : 4};
    if (!l->by[end].quarters && !strncmp(word, "degree:", 7))
        gnn_fail(e, GNN_E_USAGE,
                 "%s: --negative-weight %.64s: expected 0.25, 0.5, 0.75 or 1 after degree:", where,
                 word);
    else if (!l->by[end].quarters)
        (void)!bind_weight(&c->ntype[type], where, word, "weights of negatives", e);
    gnn_free(word);
    return e->code;
}

static int bind_negative_weight(struct gnn_links *l, const struct gnn_schema *c, const char *where,
                                struct gnn_err *e)
{
    static const char uniform[] = "uniform";
    const bool both = l->end == GNN_NEGATIVE_BOTH;
    const char *comma = l->weight && both ? strchr(l->weight, ',') : NULL;
    memset(l->by, 0, sizeof l->by);
    if (!l->weight)
        return 0;
    if (l->strict && both)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: --negative-weight cannot be used with --strict and --negative-end "
                        "both: pairs that are no edges are drawn uniformly",
                        where);
    for (unsigned end = 0; end < 2; end++) {
        const size_t at = end && comma ? (size_t)(comma - l->weight) + 1 : 0,
                     n = comma && !end ? (size_t)(comma - l->weight) : strlen(l->weight + at);
        const bool drawn = both || end != (l->end == GNN_NEGATIVE_HEAD);
        if (comma && n == sizeof uniform - 1 && !strncmp(l->weight + at, uniform, n))
            continue;
        if (drawn && bind_end_weight(l, c, end, at, n, where, e))
            return e->code;
    }
    return 0;
}

static int bind_exclude(struct gnn_links *l, const struct gnn_schema *c, const char *where,
                        struct gnn_err *e)
{
    const struct gnn_etype *t = &c->etype[l->etype];
    const int reverse = gnn_schema_reverse(c, l->etype);
    l->reverse = reverse < 0 ? l->etype : (uint32_t)reverse;
    l->any_time = gnn_etype_is_raised(t) || gnn_etype_is_raised(&c->etype[l->reverse]);
    if (l->exclude != GNN_EXCLUDE_REVERSE || reverse >= 0 || t->src == t->dst)
        return 0;
    return gnn_fail(e, GNN_E_USAGE,
                    "%s: edges '%s' have no reverses: there is no edge type '%s/rev_%s/%s', nor "
                    "one that gnn-import --reverse-of says to have them (--exclude self excludes "
                    "the links alone)",
                    where, l->type, c->ntype[t->dst].name, t->rel, c->ntype[t->src].name);
}

/* The field, and the number after it. */
static int bind_target(struct gnn_links *l, const struct gnn_schema *c, const char *where,
                       struct gnn_err *e)
{
    const struct gnn_etype *t = &c->etype[l->etype];
    const char *above = strchr(l->target, '>');
    const size_t n = above ? (size_t)(above - l->target) : strlen(l->target);
    struct gnn_suggest names = {.word = ""};
    char line[40];
    for (l->field = 0; l->field < t->nfields; l->field++)
        if (strlen(t->field[l->field].name) == n && !memcmp(t->field[l->field].name, l->target, n))
            break;
    for (uint32_t f = 0; f < t->nfields; f++)
        gnn_suggest_add(&names, t->field[f].name);
    if (l->field == t->nfields)
        return gnn_fail(e, GNN_E_USAGE, "%s: edges '%s' have no field '%.*s' (--target)%s", where,
                        l->type, (int)n, l->target, gnn_suggest_text(&names, "fields"));
    const struct gnn_field *f = &t->field[l->field];
    if (f->width || f->dtype == GNN_F16)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: field '%s' has %llu columns of dtype %s, and a link one label "
                        "(--target)",
                        where, f->name, (unsigned long long)gnn_field_columns(f),
                        gnn_dtype_name(f->dtype));
    l->divided = above;
    if (!above)
        return 0;
    const bool fits = snprintf(line, sizeof line, "%s\n", above + 1) < (int)sizeof line;
    const char *end = fits ? gnn_text_f64(line, &l->above) : NULL;
    return end && *end == '\n' && isfinite(l->above)
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "%s: --target %s: expected FIELD or FIELD>NUMBER", where,
                          l->target);
}

static int bind_links(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                      struct gnn_err *e)
{
    struct gnn_links *l = &s->links;
    if (bind_negatives(l, where, e) || !l->type)
        return e->code;
    const int et = gnn_schema_need_etype(c, where, l->type, e);
    if (et < 0)
        return et;
    l->etype = (uint32_t)et;
    if (bind_exclude(l, c, where, e) || bind_negative_weight(l, c, where, e) ||
        (l->target && bind_target(l, c, where, e)))
        return e->code;
    if (l->exclude && s->batch_size > GNN_EXCLUDE_MAX)
        return gnn_fail(e, GNN_E_USAGE, "%s: batches of more than 2^27 links cannot exclude them",
                        where);
    return gnn_sampling_roots_max(s) <= INT32_MAX
               ? 0
               : gnn_fail(e, GNN_E_USAGE,
                          "%s: %u links and their negatives: a batch begins with at most 2^31 "
                          "nodes",
                          where, s->batch_size);
}

/* Batches of links begin with nodes of two types, of which that of the tails is the seeds'. */
static int bind_link_type(const struct gnn_sampling *s, const struct gnn_schema *c,
                          const char *where, struct gnn_err *e)
{
    return !s->links.type || s->seed_ntype == c->etype[s->links.etype].dst
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "%s: nodes '%s' are not the destinations of '%s'", where,
                          c->ntype[s->seed_ntype].name, s->links.type);
}

/* Walks begin at the seeds. */
static int bind_first_step(const struct gnn_sampling *s, const struct gnn_schema *c,
                           const char *where, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    const uint32_t et = s->walks.length ? gnn_sampling_step(s, c->netypes, 0) : 0;
    return !s->walks.length || c->etype[et].dst == s->seed_ntype
               ? 0
               : gnn_fail(
                     e, GNN_E_USAGE,
                     "%s: walks from nodes '%s' cannot begin with '%s', whose destinations are "
                     "nodes '%s'",
                     where, c->ntype[s->seed_ntype].name, gnn_etype_key(c, et, key, sizeof key),
                     c->ntype[c->etype[et].dst].name);
}

static int bind_labor(const struct gnn_sampling *s, uint32_t netypes, const char *where,
                      struct gnn_err *e)
{
    bool any = !s->labor;
    for (uint32_t b = 0; b < s->nhops * netypes; b++)
        any = any || s->fanout[b] > 0;
    return any ? 0
               : gnn_fail(e, GNN_E_USAGE, "%s: LABOR has no effect: all neighbours are taken",
                          where);
}

/* Does one of the first `hops` hops sample along an edge type? */
static bool uses_in(const struct gnn_sampling *s, uint32_t hops, uint32_t netypes, uint32_t etype)
{
    for (uint32_t h = 0; h < hops; h++)
        if (gnn_pick_any(gnn_sampling_rule(s, h * netypes + etype)))
            return true;
    return false;
}

/* The fan-out of the hop of induced edges, after so many others. */
static int32_t induced_fanout(const struct gnn_sampling *s, uint32_t hops, uint32_t netypes,
                              uint32_t etype)
{
    return s->clusters || uses_in(s, hops, netypes, etype) ? -1 : 0;
}

/* Adds the hop of edges among the nodes that the others find. */
static int induced_hop(struct gnn_sampling *s, uint32_t netypes, struct gnn_err *e)
{
    const uint64_t blocks = (uint64_t)s->nhops * netypes;
    if (s->nhops == GNN_HOPS_MAX)
        return gnn_fail(e, GNN_E_USAGE, "induced edges after more than %d hops", GNN_HOPS_MAX - 1);
    int32_t *fanout = gnn_alloc_zero(blocks + netypes, sizeof *fanout, "fan-outs", e);
    if (!fanout)
        return e->code;
    memcpy(fanout, s->fanout, blocks * sizeof *fanout);
    for (uint32_t t = 0; t < netypes; t++)
        fanout[blocks + t] = induced_fanout(s, s->nhops, netypes, t);
    gnn_free(s->fanout);
    s->fanout = fanout;
    s->nhops++;
    return 0;
}

/* Fan-outs from what was given. */
static int make_hops(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                     const struct gnn_sampling_hops *x, struct gnn_err *e)
{
    if (s->walks.length)
        return walk_hops(s, c, where, x->path, x->npath, e);
    if (!s->clusters && gnn_fanout_parse(c, x->fanout, x->nfanout, s, e))
        return e->code;
    if (s->clusters) {
        s->nhops = 1;
        s->fanout = gnn_alloc_zero(c->netypes, sizeof *s->fanout, "fan-outs", e);
    }
    if (e->code)
        return e->code;
    return s->induced || s->clusters ? induced_hop(s, c->netypes, e) : 0;
}

/* Fan-outs that a header has must be those that would have been made. */
static int check_hops(const struct gnn_sampling *s, uint32_t netypes, struct gnn_err *e)
{
    const bool induced = s->induced || s->clusters;
    const uint32_t hops = s->nhops - (induced && s->nhops);
    bool good = !induced || s->nhops > 1;
    good = good && (!s->clusters || s->nhops == 2) && (!s->walks.length || s->nhops);
    for (uint32_t b = 0; good && s->clusters && b < netypes; b++)
        good = s->fanout[b] == 0;
    for (uint32_t t = 0; good && induced && t < netypes; t++)
        good = s->fanout[(uint64_t)hops * netypes + t] == induced_fanout(s, hops, netypes, t);
    for (uint32_t h = 0; good && s->walks.length && h < s->nhops; h++) {
        uint32_t steps = 0, other = 0;
        for (uint32_t t = 0; t < netypes; t++) {
            steps += s->fanout[(uint64_t)h * netypes + t] == 1;
            other += s->fanout[(uint64_t)h * netypes + t] != 0;
        }
        good = steps == 1 && other == 1;
    }
    return good ? 0
                : gnn_fail(e, GNN_E_INPUT, "header: bad fan-outs of %s",
                           s->walks.length ? "walks"
                           : s->clusters   ? "clusters"
                                           : "induced edges");
}

struct chosen {
    const struct gnn_sampling *s;
    const struct gnn_sampling_hops *hops; /* or NULL */
};

/* An option of sampling that has an effect. The size of batches follows from clusters, and an order
 * that is drawn is not shuffled. */
static bool is_chosen(const void *arg, const char *option)
{
    const struct chosen *x = arg;
    const struct gnn_sampling_member *m = gnn_sampling_find(option);
    if (!strcmp(option, "batch") || !strcmp(option, "shuffle"))
        return false;
    return !strcmp(option, "fanout")     ? x->hops && x->hops->nfanout
           : !strcmp(option, "metapath") ? x->hops && x->hops->npath
           : !strcmp(option, "node2vec") ? gnn_walks_second_order(&x->s->walks)
                                         : m && gnn_member_is_set(x->s, m);
}

static int check_conflicts(const struct gnn_sampling *s, const struct gnn_schema *c,
                           const char *where, const struct gnn_sampling_hops *hops,
                           struct gnn_err *e)
{
    const struct gnn_given given = {is_chosen, &(struct chosen){s, hops}};
    const char *why, *option = gnn_sampling_conflict(s, &given, &why);
    if (option)
        return gnn_fail(e, GNN_E_USAGE, "%s: --%s %s", where, option, why);
    return s->clusters > c->nparts
               ? gnn_fail(e, GNN_E_USAGE,
                          "%s: has %u partition%s, fewer than the %u of a batch (gnn-partition "
                          "makes more)",
                          where, c->nparts, c->nparts > 1 ? "s" : "", s->clusters)
               : 0;
}

int gnn_sampling_bind(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                      const struct gnn_sampling_hops *hops, struct gnn_err *e)
{
    if (check_conflicts(s, c, where, hops, e) ||
        (hops ? make_hops(s, c, where, hops, e) : check_hops(s, c->netypes, e)))
        return e->code;
    s->replace = s->replace || s->walks.length;
    s->induced = s->induced || s->clusters;
    s->rule.kind = s->labor     ? GNN_PICK_LABOR
                   : s->latest  ? GNN_PICK_LATEST
                   : s->top     ? GNN_PICK_TOP
                   : s->replace ? GNN_PICK_REPLACE
                                : GNN_PICK_UNIFORM;
    return bind_links(s, c, where, e) || bind_walks(s, c, where, e) ||
                   bind_edge_field(s, c, where, e) || bind_time(s, c, where, e) ||
                   bind_labor(s, c->netypes, where, e)
               ? e->code
               : 0;
}

int gnn_sampling_bind_seeds(const struct gnn_sampling *s, const struct gnn_schema *c,
                            const char *where, struct gnn_err *e)
{
    return bind_link_type(s, c, where, e) || bind_first_step(s, c, where, e) ||
                   bind_draws(s, c, where, e) || bind_seed_time(s, c, where, e)
               ? e->code
               : 0;
}

bool gnn_sampling_uses(const struct gnn_sampling *s, uint32_t netypes, uint32_t etype)
{
    return uses_in(s, s->nhops, netypes, etype);
}
