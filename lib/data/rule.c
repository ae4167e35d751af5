/* SPDX-License-Identifier: Apache-2.0 */
/* The rule by which neighbours are picked (lib/data/rule.h): what a graph must have for it, and its
 * members in the JSON of a header. */
#include "lib/data/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/text.h"
#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"

int gnn_sampling_set_weight(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                            const char *weight, struct gnn_err *e)
{
    const uint32_t blocks = s->nhops * c->netypes;
    bool any = false, sampled = false;
    if (!weight)
        return 0;
    if (gnn_schema_need_edge_field(c, where, weight, e))
        return e->code;
    s->weight = gnn_strdup(weight, e);
    s->weighted = gnn_alloc_zero(blocks, sizeof *s->weighted, "fan-outs", e);
    if (!s->weight || !s->weighted)
        return e->code;
    for (uint32_t b = 0; b < blocks; b++) {
        const struct gnn_etype *t = &c->etype[b % c->netypes];
        const struct gnn_field *f = gnn_field_find(t->field, t->nfields, weight);
        if (f && f->width > 1)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: edge field '%s' has %llu numbers for each edge: a weight is one",
                            where, weight, (unsigned long long)f->width);
        s->weighted[b] = f != NULL;
        sampled = sampled || (f && s->fanout[b]);
        any = any || (f && s->fanout[b] > 0);
    }
    if (any)
        return 0;
    return gnn_fail(e, GNN_E_USAGE,
                    sampled ? "%s: the weight '%s' has no effect: all neighbours are taken"
                            : "%s: no edge type that is sampled has the weight '%s'",
                    where, weight);
}

/* The type of times that all in-edges that are sampled are ordered by. */
static int find_edge_times(const struct gnn_sampling *s, const struct gnn_schema *c,
                           const char *where, enum gnn_dtype *dtype, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_ROOM];
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

int gnn_sampling_set_time(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                          enum gnn_pick_until until, const char *window, bool latest, bool by_edge,
                          struct gnn_err *e)
{
    enum gnn_dtype dtype;
    if (until == GNN_PICK_ANY_TIME)
        return 0;
    if (s->clusters)
        return gnn_fail(e, GNN_E_USAGE, "%s: nodes of clusters have no times", where);
    if (by_edge && s->induced)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: induced edges lead to nodes that have the time of their seed, not of "
                        "an edge",
                        where);
    if (latest && (s->rule.kind != GNN_PICK_UNIFORM || s->weight))
        return gnn_fail(e, GNN_E_USAGE, "%s: the latest neighbours are not drawn", where);
    if (find_edge_times(s, c, where, &dtype, e))
        return e->code;
    s->rule.time =
        (struct gnn_pick_time){.until = until, .real = dtype == GNN_F64, .by_edge = by_edge};
    if (latest) {
        bool any = false;
        for (uint32_t b = 0; b < s->nhops * c->netypes; b++)
            any = any || s->fanout[b] > 0;
        if (!any)
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: which are the latest has no effect: all neighbours are taken",
                            where);
        s->rule.kind = GNN_PICK_LATEST;
    }
    return window ? set_window(&s->rule.time, where, window, e) : 0;
}

/* A field of the seeds' type, with `what` of seeds. */
static const struct gnn_field *seed_field(const struct gnn_sampling *s, const struct gnn_schema *c,
                                          const char *where, const char *field, const char *what,
                                          struct gnn_err *e)
{
    const struct gnn_ntype *t = &c->ntype[s->seed_ntype];
    const struct gnn_field *f = gnn_field_find(t->field, t->nfields, field);
    struct gnn_suggest of = {.word = field};
    if (f)
        return f;
    for (uint32_t i = 0; i < t->nfields; i++)
        gnn_suggest_add(&of, t->field[i].name);
    gnn_fail(e, GNN_E_USAGE, "%s: nodes '%s' have no field '%.64s' with %s of seeds%s%s", where,
             t->name, field, what, gnn_suggest_text(&of, "fields"),
             strcmp(what, "times") ? ""
                                   : " (--seed-time FIELD names another; gnn-sample --seeds FILE "
                                     "gives each seed a time)");
    return NULL;
}

int gnn_sampling_set_draws(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                           const char *weight, bool balance, struct gnn_err *e)
{
    const struct gnn_field *f;
    const bool classes = c->task == GNN_TASK_MULTICLASS || c->task == GNN_TASK_BINARY;
    if (!weight && !balance)
        return 0;
    if (weight && balance)
        return gnn_fail(e, GNN_E_USAGE, "%s: seeds are drawn by weight or by class, not by both",
                        where);
    if (s->clusters)
        return gnn_fail(e, GNN_E_USAGE, "%s: seeds of clusters are not drawn", where);
    if (balance && (!classes || c->label_ntype != s->seed_ntype))
        return gnn_fail(e, GNN_E_USAGE, "%s: nodes '%s' have no classes to balance", where,
                        c->ntype[s->seed_ntype].name);
    s->seed_balance = balance;
    if (balance)
        return 0;
    if (!(f = seed_field(s, c, where, weight, "weights", e)))
        return e->code;
    if (f->width > 1)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: field '%s' has %llu numbers for each node: a weight is one", where,
                        weight, (unsigned long long)f->width);
    s->seed_weight = gnn_strdup(weight, e);
    return e->code;
}

int gnn_sampling_set_seed_time(struct gnn_sampling *s, const struct gnn_schema *c,
                               const char *where, const char *field, struct gnn_err *e)
{
    const struct gnn_ntype *t = &c->ntype[s->seed_ntype];
    const struct gnn_field *f = seed_field(s, c, where, field, "times", e);
    const enum gnn_dtype dtype = gnn_sampling_time_dtype(s);
    if (!f)
        return e->code;
    if (f->dtype != dtype || f->width > 1)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: field '%s' of nodes '%s' is %s%s, but times of edges are %s", where,
                        field, t->name, gnn_dtype_name(f->dtype),
                        f->width > 1 ? " with several columns" : "", gnn_dtype_name(dtype));
    s->seed_time = gnn_strdup(field, e);
    return e->code;
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
    char key[2][GNN_ETYPE_KEY_ROOM];
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

int gnn_sampling_set_walks(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                           struct gnn_walks walks, const char *const *path, uint32_t n,
                           struct gnn_err *e)
{
    if (!n && c->netypes != 1)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: has %u edge types: --metapath must name those of a walk's steps",
                        where, c->netypes);
    if (s->batch_size * (uint64_t)walks.per_seed > INT32_MAX)
        return gnn_fail(e, GNN_E_USAGE,
                        "%u walks from each of %u seeds: a batch has at most 2^31 walks",
                        walks.per_seed, s->batch_size);
    if (n > walks.length)
        return gnn_fail(e, GNN_E_USAGE, "a metapath of %u edge types: a walk has %u", n,
                        walks.length);
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
    s->walks = walks;
    s->rule.kind = GNN_PICK_REPLACE;
    return check_path(s, c, where, e);
}

int gnn_sampling_check_walks(const struct gnn_sampling *s, const struct gnn_schema *c,
                             const char *where, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_ROOM];
    const uint32_t et = gnn_sampling_step(s, c->netypes, 0);
    return c->etype[et].dst == s->seed_ntype
               ? 0
               : gnn_fail(
                     e, GNN_E_USAGE,
                     "%s: walks from nodes '%s' cannot begin with '%s', whose destinations are "
                     "nodes '%s'",
                     where, c->ntype[s->seed_ntype].name, gnn_etype_key(c, et, key, sizeof key),
                     c->ntype[c->etype[et].dst].name);
}

int gnn_sampling_check_labor(const struct gnn_sampling *s, uint32_t netypes, const char *where,
                             struct gnn_err *e)
{
    bool any = false;
    if (s->rule.kind != GNN_PICK_LABOR)
        return 0;
    if (s->weight)
        return gnn_fail(e, GNN_E_USAGE, "%s: LABOR picks neighbours uniformly, not by '%s'", where,
                        s->weight);
    if (s->disjoint)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: LABOR's variates are shared by all destinations, disjoint trees share "
                        "nothing",
                        where);
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

int gnn_sampling_set_induced(struct gnn_sampling *s, uint32_t netypes, struct gnn_err *e)
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
    s->induced = true;
    return 0;
}

int gnn_sampling_set_clusters(struct gnn_sampling *s, const struct gnn_schema *c, const char *where,
                              uint32_t n, struct gnn_err *e)
{
    if (n > c->nparts)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: has %u partition%s, fewer than the %u of a batch (gnn-partition makes "
                        "more)",
                        where, c->nparts, c->nparts > 1 ? "s" : "", n);
    if (s->rule.kind != GNN_PICK_UNIFORM || s->frontier != GNN_FRONTIER_ALL)
        return gnn_fail(e, GNN_E_USAGE, "%s: in clusters no neighbours are picked", where);
    s->nhops = 1;
    s->fanout = gnn_alloc_zero(c->netypes, sizeof *s->fanout, "fan-outs", e);
    s->clusters = n;
    return s->fanout ? gnn_sampling_set_induced(s, c->netypes, e) : e->code;
}

bool gnn_sampling_uses(const struct gnn_sampling *s, uint32_t netypes, uint32_t etype)
{
    return uses_in(s, s->nhops, netypes, etype);
}

/* ---- JSON ---- */

static json_t *time_to_json(const struct gnn_sampling *s)
{
    const struct gnn_pick_time *t = &s->rule.time;
    json_t *j = json_pack("{s:s,s:b}", "rule", t->until == GNN_PICK_UNTIL ? "le" : "lt", "latest",
                          s->rule.kind == GNN_PICK_LATEST);
    if (j && t->by_edge && json_object_set_new(j, "hop_time", json_string("edge"))) {
        json_decref(j);
        j = NULL;
    }
    if (j && s->seed_time && json_object_set_new(j, "seeds", json_string(s->seed_time))) {
        json_decref(j);
        j = NULL;
    }
    if (j && t->windowed &&
        json_object_set_new(j, "window",
                            t->real ? json_real(t->window_real) : json_integer(t->window))) {
        json_decref(j);
        j = NULL;
    }
    return j;
}

int gnn_rule_to_json(const struct gnn_sampling *s, json_t *j)
{
    int bad = 0;
    const struct gnn_walks *w = &s->walks;
    if (w->length)
        bad |= json_object_set_new(
            j, "walks",
            json_pack("{s:I,s:I,s:f,s:I,s:f,s:f}", "length", (json_int_t)w->length, "per_seed",
                      (json_int_t)w->per_seed, "restart", w->restart, "window",
                      (json_int_t)w->window, "p", w->p, "q", w->q));
    if (s->weight)
        bad |= json_object_set_new(j, "weight", json_string(s->weight));
    if (s->rule.kind == GNN_PICK_LABOR)
        bad |= json_object_set_new(j, "labor",
                                   json_pack("{s:b,s:I}", "layer_dependency", s->layer_dependency,
                                             "batch_dependency", (json_int_t)s->batch_dependency));
    if (s->disjoint)
        bad |= json_object_set_new(j, "disjoint", json_true());
    if (s->induced)
        bad |= json_object_set_new(j, "induced", json_true());
    if (s->clusters)
        bad |= json_object_set_new(j, "clusters", json_integer(s->clusters));
    if (gnn_sampling_is_temporal(s))
        bad |= json_object_set_new(j, "time", time_to_json(s));
    if (s->seed_weight)
        bad |= json_object_set_new(j, "seed_weight", json_string(s->seed_weight));
    if (s->seed_balance)
        bad |= json_object_set_new(j, "seed_balance", json_true());
    return bad;
}

static int weight_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                            struct gnn_err *e)
{
    const json_t *weight = json_object_get(j, "weight");
    if (weight && !json_is_string(weight))
        return gnn_fail(e, GNN_E_INPUT, "header: bad weight");
    return gnn_sampling_set_weight(s, c, "header", json_string_value(weight), e);
}

static int labor_from_json(struct gnn_sampling *s, const json_t *j, uint32_t netypes,
                           struct gnn_err *e)
{
    const json_t *labor = json_object_get(j, "labor"),
                 *layer = json_object_get(labor, "layer_dependency"),
                 *batch = json_object_get(labor, "batch_dependency");
    if (!labor)
        return 0;
    if (s->rule.kind != GNN_PICK_UNIFORM || !json_is_boolean(layer) || !json_is_integer(batch) ||
        json_integer_value(batch) < 1 || json_integer_value(batch) > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "header: bad 'labor'");
    s->rule.kind = GNN_PICK_LABOR;
    s->layer_dependency = json_is_true(layer);
    s->batch_dependency = (uint32_t)json_integer_value(batch);
    return gnn_sampling_check_labor(s, netypes, "header", e);
}

/* Its numbers are read as the option's are. */
static int time_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                          struct gnn_err *e)
{
    const json_t *time = json_object_get(j, "time"), *latest = json_object_get(time, "latest"),
                 *window = json_object_get(time, "window"), *seeds = json_object_get(time, "seeds"),
                 *hop = json_object_get(time, "hop_time");
    const char *rule = json_string_value(json_object_get(time, "rule")),
               *edge = json_string_value(hop);
    char text[64];
    if (!time)
        return 0;
    if (!rule || (strcmp(rule, "le") && strcmp(rule, "lt")) || !json_is_boolean(latest) ||
        (hop && (!edge || strcmp(edge, "edge"))) || (window && !json_is_number(window)) ||
        (seeds && !json_is_string(seeds)))
        return gnn_fail(e, GNN_E_INPUT, "header: bad 'time'");
    if (json_is_integer(window))
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(window));
    else
        snprintf(text, sizeof text, "%.17g", json_real_value(window));
    if (gnn_sampling_set_time(s, c, "header", rule[1] == 'e' ? GNN_PICK_UNTIL : GNN_PICK_BEFORE,
                              window ? text : NULL, json_is_true(latest), hop != NULL, e))
        return e->code;
    return seeds ? gnn_sampling_set_seed_time(s, c, "header", json_string_value(seeds), e) : 0;
}

static bool is_bias(const json_t *j)
{
    return json_is_number(j) && json_number_value(j) >= 1.0 / GNN_NODE2VEC_MAX &&
           json_number_value(j) <= GNN_NODE2VEC_MAX;
}

static bool is_count(const json_t *j, uint32_t least)
{
    return json_is_integer(j) && json_integer_value(j) >= least &&
           json_integer_value(j) <= UINT32_MAX;
}

/* Their path is in the fan-outs. */
static int walks_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                           struct gnn_err *e)
{
    const json_t *walks = json_object_get(j, "walks"), *length = json_object_get(walks, "length"),
                 *many = json_object_get(walks, "per_seed"),
                 *restart = json_object_get(walks, "restart"),
                 *window = json_object_get(walks, "window"), *p = json_object_get(walks, "p"),
                 *q = json_object_get(walks, "q");
    if (!walks)
        return 0;
    bool good =
        s->nhops && is_count(length, 1) && json_integer_value(length) <= GNN_WALK_MAX &&
        is_count(many, 1) && is_count(window, 0) && json_integer_value(window) <= GNN_WALK_MAX &&
        json_integer_value(many) <= INT32_MAX / (json_int_t)s->batch_size && !s->disjoint &&
        !json_object_get(j, "time") && !json_object_get(j, "labor") && json_is_number(restart) &&
        json_number_value(restart) >= 0 && json_number_value(restart) < 1 && is_bias(p) &&
        is_bias(q) && s->rule.kind == GNN_PICK_REPLACE;
    for (uint32_t h = 0; good && h < s->nhops; h++) {
        uint32_t steps = 0;
        for (uint32_t t = 0; t < c->netypes; t++) {
            const int32_t f = s->fanout[(uint64_t)h * c->netypes + t];
            steps += f != 0;
            good = good && (f == 0 || f == 1);
        }
        good = good && steps == 1;
    }
    if (!good)
        return gnn_fail(e, GNN_E_INPUT, "header: bad 'walks'");
    s->walks = (struct gnn_walks){.length = (uint32_t)json_integer_value(length),
                                  .per_seed = (uint32_t)json_integer_value(many),
                                  .restart = json_number_value(restart),
                                  .p = json_number_value(p),
                                  .q = json_number_value(q),
                                  .window = (uint32_t)json_integer_value(window)};
    return check_path(s, c, "header", e) ? e->code : gnn_sampling_check_walks(s, c, "header", e);
}

/* The hop has been read with the others. */
static int induced_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                             struct gnn_err *e)
{
    const json_t *induced = json_object_get(j, "induced"), *parts = json_object_get(j, "clusters");
    if (!induced && !parts)
        return 0;
    bool good = json_is_true(induced) && s->nhops > 1 && !json_object_get(j, "walks");
    if (good && parts) {
        good = is_count(parts, 1) && json_integer_value(parts) <= c->nparts && s->nhops == 2 &&
               s->rule.kind == GNN_PICK_UNIFORM && s->frontier == GNN_FRONTIER_ALL &&
               !json_object_get(j, "time") && !json_object_get(j, "labor");
        s->clusters = good ? (uint32_t)json_integer_value(parts) : 0;
    }
    for (uint32_t t = 0; good && s->clusters && t < c->netypes; t++)
        good = s->fanout[t] == 0;
    const uint32_t hops = good ? s->nhops - 1 : 0;
    for (uint32_t t = 0; good && t < c->netypes; t++)
        good = s->fanout[(uint64_t)hops * c->netypes + t] == induced_fanout(s, hops, c->netypes, t);
    s->induced = good;
    return good ? 0 : gnn_fail(e, GNN_E_INPUT, "header: bad 'induced'");
}

static int draws_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                           struct gnn_err *e)
{
    const json_t *weight = json_object_get(j, "seed_weight"),
                 *balance = json_object_get(j, "seed_balance");
    if ((weight && !json_is_string(weight)) || (balance && !json_is_boolean(balance)))
        return gnn_fail(e, GNN_E_INPUT, "header: bad 'seed_weight' or 'seed_balance'");
    return gnn_sampling_set_draws(s, c, "header", json_string_value(weight), json_is_true(balance),
                                  e);
}

int gnn_rule_from_json(struct gnn_sampling *s, const struct gnn_schema *c, const json_t *j,
                       struct gnn_err *e)
{
    const json_t *disjoint = json_object_get(j, "disjoint");
    if (disjoint && !json_is_boolean(disjoint))
        return gnn_fail(e, GNN_E_INPUT, "header: bad 'disjoint'");
    s->disjoint = json_is_true(disjoint);
    if (!walks_from_json(s, c, j, e) && !induced_from_json(s, c, j, e) &&
        !weight_from_json(s, c, j, e) && !labor_from_json(s, j, c->netypes, e) &&
        !time_from_json(s, c, j, e) && !draws_from_json(s, c, j, e))
        return 0;
    if (e->code == GNN_E_USAGE) /* of whoever wrote the header */
        e->code = GNN_E_INPUT;
    return e->code;
}
