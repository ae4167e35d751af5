/* SPDX-License-Identifier: Apache-2.0 */
/* How batches are drawn (struct gnn_sampling), as JSON and back, from the list in
 * lib/data/sampling_list.c. The JSON is canonical text: two streams are of one kind if it is equal,
 * so whatever changes a batch must be in it, under the same name for good. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/data/rule.h"
#include "lib/data/sampling_list.h"

static bool is_text(const struct gnn_sampling_member *x)
{
    return x->kind == GNN_MEMBER_TEXT || x->kind == GNN_MEMBER_NUMBER;
}

/* ---- to JSON ---- */

static json_t *fanouts_to_json(const struct gnn_sampling *s, uint32_t netypes)
{
    json_t *fan = json_array();
    for (uint32_t h = 0; h < s->nhops; h++) {
        json_t *row = json_array();
        for (uint32_t t = 0; t < netypes; t++)
            json_array_append_new(row, json_integer(s->fanout[h * netypes + t]));
        json_array_append_new(fan, row);
    }
    return fan;
}

/* NULL: they are drawn. */
static json_t *given_to_json(const struct gnn_given_negatives *g)
{
    if (!g || g->drawn.kind == GNN_NEGATIVES_NONE)
        return NULL;
    const bool each = g->drawn.kind == GNN_NEGATIVES_TRIPLET;
    return json_pack("{s:I,s:s,s:o*}", each ? "each" : "shared",
                     each ? (json_int_t)g->drawn.amount : (json_int_t)g->drawn.total, "sum", g->sum,
                     "ragged", g->drawn.ragged ? json_true() : NULL);
}

static json_t *sets_to_json(const struct gnn_sampling *s)
{
    json_t *sets = json_array();
    for (uint32_t i = 0; i < s->nsplits; i++)
        json_array_append_new(sets, json_pack("{s:s,s:I,s:I,s:o*}", "name", s->split[i], "steps",
                                              (json_int_t)s->steps[i], "seeds",
                                              (json_int_t)s->split_seeds[i], "negatives",
                                              given_to_json(s->given ? &s->given[i] : NULL)));
    return sets;
}

static json_t *value_to_json(const struct gnn_meta *m, const struct gnn_sampling_member *x)
{
    const struct gnn_sampling *s = &m->sampling;
    const void *v = gnn_member_of(s, x);
    const char *text = is_text(x) ? *(const char *const *)v : NULL, *word;
    int n;
    switch (x->kind) {
    case GNN_MEMBER_SEED:
        return json_sprintf("%016llx", (unsigned long long)*(const uint64_t *)v);
    case GNN_MEMBER_FLAG:
        return json_boolean(*(const bool *)v);
    case GNN_MEMBER_U32:
        return json_integer(*(const uint32_t *)v);
    case GNN_MEMBER_F64:
        return json_real(*(const double *)v);
    case GNN_MEMBER_CHOICE:
        word = gnn_choice_word(x->choices, *(const uint32_t *)v, &n);
        return json_stringn(word, (size_t)n);
    case GNN_MEMBER_TEXT:
        return json_string(text);
    case GNN_MEMBER_NUMBER:
        return strpbrk(text, ".eE") ? json_real(strtod(text, NULL))
                                    : json_integer(strtoll(text, NULL, 10));
    case GNN_MEMBER_BOUND:
        break;
    }
    return !strcmp(x->key, "fanout")   ? fanouts_to_json(s, m->schema.netypes)
           : !strcmp(x->key, "splits") ? sets_to_json(s)
                                       : json_string(m->schema.ntype[s->seed_ntype].name);
}

/* The first member of x's group, or x. */
static const struct gnn_sampling_member *lead_of(const struct gnn_sampling_member *x)
{
    while (x->group && x > gnn_sampling_list && x[-1].group && !strcmp(x[-1].group, x->group))
        x--;
    return x;
}

static bool is_present(const struct gnn_sampling *s, const struct gnn_sampling_member *x)
{
    return x->when != GNN_WHEN_NEVER && (!x->group || gnn_member_is_set(s, lead_of(x))) &&
           (x->when == GNN_WHEN_ALWAYS ||
            (x->when == GNN_WHEN_RANKS ? s->ranks != 0 : gnn_member_is_set(s, x)));
}

json_t *gnn_meta_sampling_json(const struct gnn_meta *m, struct gnn_err *e)
{
    json_t *j, *to;
    gnn_json_watch();
    j = json_object();
    EACH_MEMBER(x)
    {
        if (!is_present(&m->sampling, x))
            continue;
        if (x->group && !json_object_get(j, x->group))
            json_object_set_new(j, x->group, json_object());
        to = x->group ? json_object_get(j, x->group) : j;
        json_object_set_new(to, x->key, value_to_json(m, x));
    }
    if (!gnn_json_starved())
        return j;
    json_decref(j);
    gnn_fail_nomem(e, 0, "a JSON header");
    return NULL;
}

/* ---- to options ---- */

/* Whether people want to read it: flags and real numbers only where they are not the default. */
static bool is_told(const struct gnn_sampling *s, const struct gnn_sampling_member *x)
{
    const bool often = x->kind == GNN_MEMBER_FLAG || x->kind == GNN_MEMBER_F64;
    return x->option && (often ? gnn_member_is_set(s, x) : is_present(s, x));
}

/* " VALUE", in out (n bytes). */
static void value_text(const struct gnn_sampling *s, const struct gnn_sampling_member *x, char *out,
                       size_t n)
{
    const void *v = gnn_member_of(s, x);
    const char *word;
    int length;
    *out = '\0';
    if (is_text(x))
        snprintf(out, n, " %s", *(const char *const *)v);
    else if (x->kind == GNN_MEMBER_SEED)
        snprintf(out, n, " %llu", (unsigned long long)*(const uint64_t *)v);
    else if (x->kind == GNN_MEMBER_U32)
        snprintf(out, n, " %u", *(const uint32_t *)v);
    else if (x->kind == GNN_MEMBER_F64)
        snprintf(out, n, " %.10g", *(const double *)v);
    else if (x->kind == GNN_MEMBER_CHOICE) {
        word = gnn_choice_word(x->choices, *(const uint32_t *)v, &length);
        snprintf(out, n, " %.*s", length, word);
    }
}

char *gnn_sampling_options(const struct gnn_sampling *s, struct gnn_err *e)
{
    char value[GNN_NAME_MAX + 1], *text = gnn_strdup("", e);
    EACH_MEMBER(x)
    {
        char *before = text;
        if (!text || !is_told(s, x))
            continue;
        value_text(s, x, value, sizeof value);
        const bool no = x->kind == GNN_MEMBER_FLAG && !*(const bool *)gnn_member_of(s, x);
        text = gnn_strf(e, "%s%s--%s%s%s", before, *before ? " " : "", no ? "no-" : "", x->option,
                        value);
        gnn_free(before);
    }
    if (text && gnn_walks_second_order(&s->walks)) {
        char *before = text;
        text = gnn_strf(e, "%s --node2vec %.10g,%.10g", before, s->walks.p, s->walks.q);
        gnn_free(before);
    }
    return text;
}

/* ---- from JSON ---- */

static int bad_member(const struct gnn_sampling_member *x, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "header: bad '%s%s%s' of sampling", x->group ? x->group : "",
                    x->group ? "." : "", x->key);
}

static int number_from_json(const char **text, const json_t *j, struct gnn_err *e)
{
    char buf[40];
    if (json_is_integer(j))
        snprintf(buf, sizeof buf, "%lld", (long long)json_integer_value(j));
    else
        snprintf(buf, sizeof buf, "%.17g", json_real_value(j));
    return gnn_sampling_take(text, buf, e);
}

/* One value. 0 if it is of another kind, or out of its range, which *good says. */
static int value_from_json(void *v, const struct gnn_sampling_member *x, const json_t *j,
                           bool *good, struct gnn_err *e)
{
    const json_int_t n = json_integer_value(j);
    const char *text = json_string_value(j);
    const double most = x->most > 0 ? x->most : x->max;
    *good = false;
    switch (x->kind) {
    case GNN_MEMBER_SEED:
        if ((*good = text && strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16))
            *(uint64_t *)v = strtoull(text, NULL, 16);
        return 0;
    case GNN_MEMBER_FLAG:
        *good = json_is_boolean(j);
        *(bool *)v = json_is_true(j);
        return 0;
    case GNN_MEMBER_U32:
        *good = json_is_integer(j) &&
                ((n >= (json_int_t)x->min && n <= (json_int_t)(most > 0 ? most : UINT32_MAX)) ||
                 (n == (json_int_t)x->standard && x != lead_of(x)));
        *(uint32_t *)v = *good ? (uint32_t)n : 0;
        return 0;
    case GNN_MEMBER_F64:
        *good = json_is_number(j);
        *(double *)v = json_number_value(j);
        return 0;
    case GNN_MEMBER_CHOICE:
        *(uint32_t *)v =
            text ? (uint32_t)gnn_choice_find(x->choices, text, strlen(text)) : UINT32_MAX;
        *good = *(uint32_t *)v != UINT32_MAX &&
                (x->when != GNN_WHEN_SET || *(uint32_t *)v != (uint32_t)x->standard);
        return 0;
    case GNN_MEMBER_TEXT:
        *good = text != NULL;
        return gnn_sampling_take(v, text, e);
    case GNN_MEMBER_NUMBER:
        *good = json_is_number(j);
        return *good ? number_from_json(v, j, e) : 0;
    case GNN_MEMBER_BOUND:
        *good = true;
    }
    return 0;
}

/* All but what is bound. What a group's first member is set by, without a key of its own, is that
 * the group is there. */
static int members_from_json(struct gnn_sampling *s, const json_t *j, struct gnn_err *e)
{
    EACH_MEMBER(x)
    {
        const json_t *group = x->group ? json_object_get(j, x->group) : j,
                     *v = x->key ? json_object_get(group, x->key) : NULL;
        bool good = x->kind == GNN_MEMBER_BOUND || (!v && (x->when != GNN_WHEN_ALWAYS || !group));
        if (!x->key)
            *(bool *)gnn_member_of(s, x) = group != NULL;
        else if (v && value_from_json(gnn_member_of(s, x), x, v, &good, e))
            return e->code;
        /* A group is there only if its first member is. */
        if (!good || (v && x->group && x == lead_of(x) && !gnn_member_is_set(s, x)))
            return bad_member(x, e);
    }
    return 0;
}

static int fanouts_from_json(struct gnn_sampling *s, uint32_t netypes, const json_t *fan,
                             struct gnn_err *e)
{
    s->nhops = (uint32_t)json_array_size(fan);
    if (gnn_sampling_alloc_hops(s, netypes, e))
        return e->code;
    for (uint32_t h = 0; h < s->nhops; h++)
        for (uint32_t t = 0; t < netypes; t++) {
            const json_t *k = json_array_get(json_array_get(fan, h), t);
            if (!json_is_integer(k) || json_integer_value(k) < -1 ||
                json_integer_value(k) > INT32_MAX)
                return gnn_fail(e, GNN_E_INPUT, "header: bad fan-out in hop %u", h);
            s->fanout[h * netypes + t] = (int32_t)json_integer_value(k);
        }
    return 0;
}

/* Those that a split's links have in common, or each; absent: they are drawn. */
static int given_from_json(struct gnn_given_negatives *g, const json_t *j, uint64_t links,
                           struct gnn_err *e)
{
    const json_t *each = json_object_get(j, "each"), *shared = json_object_get(j, "shared"),
                 *ragged = json_object_get(j, "ragged");
    const json_int_t n = json_integer_value(each ? each : shared);
    const char *sum = json_string_value(json_object_get(j, "sum"));
    if (!j)
        return 0;
    if (!each == !shared || n < 1 || !links || n > (each ? GNN_NEGATIVES_MAX : INT64_MAX / 16) ||
        (shared && (links > UINT32_MAX || (uint64_t)n / links > GNN_NEGATIVES_MAX)) || !sum ||
        strlen(sum) != 16 || (ragged && (!each || !json_is_true(ragged))))
        return gnn_fail(e, GNN_E_INPUT, "header: bad negatives of a split");
    g->drawn = each ? (struct gnn_drawn){.kind = GNN_NEGATIVES_TRIPLET,
                                         .amount = (double)n,
                                         .ragged = ragged != NULL}
                    : (struct gnn_drawn){.kind = GNN_NEGATIVES_BINARY,
                                         .amount = (double)n / (double)links,
                                         .total = (uint64_t)n,
                                         .links = links};
    memcpy(g->sum, sum, sizeof g->sum);
    return 0;
}

static int sets_from_json(struct gnn_sampling *s, const json_t *sets, struct gnn_err *e)
{
    if (gnn_sampling_alloc_sets(s, (uint32_t)json_array_size(sets), e))
        return e->code;
    for (uint32_t i = 0; i < s->nsplits; i++) {
        const json_t *o = json_array_get(sets, i), *steps = json_object_get(o, "steps"),
                     *seeds = json_object_get(o, "seeds");
        const char *name = json_string_value(json_object_get(o, "name"));
        if (!name || !json_is_integer(steps) || json_integer_value(steps) < 0 ||
            !json_is_integer(seeds) || json_integer_value(seeds) < 0)
            return gnn_fail(e, GNN_E_INPUT, "header: bad split %u", i);
        s->steps[i] = (uint64_t)json_integer_value(steps);
        s->split_seeds[i] = (uint64_t)json_integer_value(seeds);
        if (given_from_json(&s->given[i], json_object_get(o, "negatives"), s->split_seeds[i], e) ||
            !(s->split[i] = gnn_strdup(name, e)))
            return e->code;
    }
    return 0;
}

int gnn_meta_sampling_parse(struct gnn_meta *m, const json_t *j, struct gnn_err *e)
{
    struct gnn_sampling *s = &m->sampling;
    const json_t *fan = json_object_get(j, "fanout"), *splits = json_object_get(j, "splits");
    const char *type = json_string_value(json_object_get(j, "seed_type"));
    gnn_sampling_init(s);
    if (members_from_json(s, j, e))
        return e->code;
    if ((json_object_get(j, "ranks") || json_object_get(j, "rank")) &&
        (s->ranks < 2 || s->rank >= s->ranks))
        return gnn_fail(e, GNN_E_INPUT, "header: bad rank");
    const int t = type ? gnn_schema_find_ntype(&m->schema, type) : -1;
    if (t < 0 || !json_is_array(fan) || json_array_size(fan) > GNN_HOPS_MAX ||
        !json_is_array(splits) || !json_array_size(splits) ||
        json_array_size(splits) > GNN_SPLITS_MAX)
        return gnn_fail(e, GNN_E_INPUT, "header: bad seed type, fan-outs or splits");
    s->seed_ntype = (uint32_t)t;
    if (fanouts_from_json(s, m->schema.netypes, fan, e) || sets_from_json(s, splits, e))
        return e->code;
    /* What other members imply is in the header, too. */
    if (s->walks.length && !s->replace)
        return gnn_fail(e, GNN_E_INPUT, "header: walks without 'replace'");
    if (s->clusters && !s->induced)
        return gnn_fail(e, GNN_E_INPUT, "header: clusters without 'induced'");
    s->replace = s->replace && !s->walks.length;
    s->induced = s->induced && !s->clusters;
    if (!gnn_sampling_bind(s, &m->schema, "header", NULL, e) &&
        !gnn_sampling_bind_seeds(s, &m->schema, "header", e))
        return 0;
    if (e->code == GNN_E_USAGE) /* of whoever wrote the header */
        e->code = GNN_E_INPUT;
    return e->code;
}
