/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sets.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cmd/cli.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"
#include "lib/data/recipe.h"

/* How many nodes of set b are in set a, of all ranks. */
static uint64_t count_shared(struct gnn_store *s, uint32_t a, uint32_t b)
{
    const struct gnn_split_set *x = &s->meta.schema.set[a], *y = &s->meta.schema.set[b];
    struct gnn_err e = {0};
    uint32_t *in = NULL, *of = NULL;
    uint64_t shared = 0;
    if (x->ntype != y->ntype)
        return 0;
    const uint64_t nodes = s->meta.schema.ntype[x->ntype].count;
    uint8_t *is = gnn_alloc_zero(nodes, 1, "sets of nodes", &e);
    if (!is || gnn_store_split(s, a, &in, &e) || gnn_store_split(s, b, &of, &e))
        cli_fail(&e);
    for (uint64_t i = 0; i < x->count; i++)
        if (in[i] != UINT32_MAX) /* of another rank */
            is[in[i]] = 1;
    for (uint64_t i = 0; i < y->count; i++)
        shared += of[i] != UINT32_MAX && is[of[i]];
    gnn_free(is);
    gnn_free(in);
    gnn_free(of);
    if (gnn_comm_all_reduce(s->comm, &shared, 1, GNN_REDUCE_U64, &e))
        cli_fail(&e);
    return shared;
}

/* Whether the sets of nodes are of several splits. */
static bool has_splits(const struct gnn_schema *c)
{
    const char *first = NULL;
    for (uint32_t i = 0; i < c->nsets; i++) {
        if (!c->set[i].links && first && strcmp(c->set[i].split, first) != 0)
            return true;
        if (!c->set[i].links)
            first = c->set[i].split;
    }
    return false;
}

const char *sets_name(const struct gnn_schema *c, uint32_t i)
{
    static char text[2][2 * GNN_NAME_MAX + 2];
    static unsigned turn;
    char *to = text[turn++ % 2];
    snprintf(to, sizeof *text, "%s%s%s", has_splits(c) ? c->set[i].split : "",
             has_splits(c) ? "/" : "", c->set[i].set);
    return to;
}

/* The same, to live as long as the program. */
static const char *keep_name(const struct gnn_schema *c, uint32_t i)
{
    struct gnn_err e = {0};
    const char *name = gnn_strdup(sets_name(c, i), &e);
    if (!name)
        cli_fail(&e);
    return name;
}

static int find_in(const struct gnn_schema *c, const char *split, const char *set)
{
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!c->set[i].links && !strcmp(c->set[i].split, split) && !strcmp(c->set[i].set, set))
            return (int)i;
    return -1;
}

/* All sets of the split that are of the target type. */
static void take_all(struct opt_list *sets, const struct gnn_store *s, const char *split,
                     uint32_t target)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_err e = {0};
    if (!(sets->v = gnn_alloc(c->nsets, sizeof *sets->v, "sets", &e)))
        cli_fail(&e);
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!c->set[i].links && c->set[i].ntype == target && !strcmp(c->set[i].split, split))
            sets->v[sets->n++] = keep_name(c, i);
    if (!sets->n)
        cli_usage("--no-output: %s has no sets to report on, and no array is written", s->path);
}

/* A set would be reported twice, perhaps by two names. */
static void refuse_repeated(const struct opt_list *sets, const struct gnn_schema *c)
{
    for (uint32_t i = 1; i < sets->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (gnn_schema_find_set(c, sets->v[k]) == gnn_schema_find_set(c, sets->v[i]))
                cli_usage("--split: set %s is named twice", sets->v[i]);
}

static void warn_shared(struct gnn_store *s, const char *set, uint32_t on)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t i = (uint32_t)gnn_schema_find_set(c, set);
    if (i == on) {
        if (strcmp(c->set[i].set, "train") != 0)
            cli_note("warning: the model was trained on set %s", sets_name(c, i));
        return;
    }
    const uint64_t shared = count_shared(s, on, i);
    if (shared)
        cli_note("warning: %llu of the %llu node%s of set %s %s in set %s, which the model was "
                 "trained on",
                 (unsigned long long)shared, (unsigned long long)c->set[i].count,
                 gnn_plural(c->set[i].count), sets_name(c, i), shared == 1 ? "is" : "are",
                 sets_name(c, on));
}

const char *sets_choose(struct opt_list *sets, bool all, struct gnn_store *s,
                        const struct gnn_model *m, const char *model)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_recipe r = {0};
    struct gnn_err e = {0};
    if (m->recipe && gnn_recipe_parse(&r, m->recipe, model, &e))
        cli_fail(&e);
    const int on = m->recipe ? gnn_schema_find_set(c, gnn_recipe_set(&r, 0)) : -1;
    const char *split = on >= 0 ? c->set[on].split : c->nsets ? c->set[0].split : "";
    bool named = all;
    if (all)
        take_all(sets, s, split, m->c.target);
    for (uint32_t i = 0; !all && i < sets->n; i++) {
        if (gnn_schema_need_set(c, s->path, sets->v[i], &e) < 0)
            cli_fail(&e);
        const int k = strchr(sets->v[i], '/') ? -1 : find_in(c, split, sets->v[i]);
        if (k >= 0)
            sets->v[i] = keep_name(c, (uint32_t)k);
        named = named || k >= 0;
    }
    refuse_repeated(sets, c);
    if (named && has_splits(c))
        cli_note(on >= 0 ? "sets are of split %s, which %s was trained on"
                         : "sets are of split %s, the first: %s does not say which split of this "
                           "store it was trained on",
                 split, model);
    for (uint32_t i = 0; on >= 0 && !strcmp(r.graph, gnn_meta_graph(&s->meta)) && i < sets->n; i++)
        warn_shared(s, sets->v[i], (uint32_t)on);
    gnn_recipe_release(&r);
    return split;
}

/* "test", "0/Test", "testing": what it is for is not to choose by. */
static bool is_test(const char *name)
{
    return !strncasecmp(gnn_base_name(name), "test", 4);
}

static uint64_t shared_with(struct gnn_store *s, const char *on, const char *name)
{
    const struct gnn_schema *c = &s->meta.schema;
    const int a = gnn_schema_find_set(c, on), b = gnn_schema_find_set(c, name);
    return a >= 0 && b >= 0 ? count_shared(s, (uint32_t)a, (uint32_t)b) : 0;
}

void sets_tell_selection(struct gnn_store *s, char *const *sets, uint32_t n, bool selects,
                         const char *metric)
{
    if (selects && n > 1)
        cli_note("set %s selects the epoch, by %s", sets[1], metric);
    if (selects && n > 1 && is_test(sets[1]))
        cli_note("warning: figures of set %s will be better than those of unknown nodes, as it "
                 "selects the epoch: evaluate another set first (--eval valid --eval %s)",
                 sets[1], sets[1]);
    for (uint32_t i = 1; s && i < n; i++) {
        const uint64_t shared = shared_with(s, sets[0], sets[i]);
        const char *const is = selects && i == 1 ? "selects the epoch" : "is evaluated";
        if (shared && !strcmp(sets[i], sets[0]))
            cli_note("warning: set %s, which is trained on, also %s", sets[i], is);
        else if (shared)
            cli_note("warning: set %s, which %s, shares %llu node%s with set %s, which is trained "
                     "on",
                     sets[i], is, (unsigned long long)shared, gnn_plural(shared), sets[0]);
    }
}
