/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/options.h"

#include <stdio.h>
#include <string.h>

#include "lib/api/gnn.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"

static _Thread_local struct gnn_err last;

struct gnn_err *gnn_api_err(void)
{
    last.code = 0;
    last.told = false;
    last.msg[0] = '\0';
    return &last;
}

const char *gnn_error(void)
{
    return last.msg;
}

int gnn_error_status(void)
{
    return last.code;
}

const char *gnn_version(void)
{
    return GNN_VERSION;
}

int gnn_version_number(void)
{
    return GNN_VERSION_NUMBER;
}

/* The options of a call: those of a table and, unless s is NULL, of the recipe. */
struct call_options {
    const struct opt *own;
    struct gnn_sampling *s;
    bool of_train; /* of the recipe, those that gnn-train has */
};

/* Option i, from 0; false after the last. */
static bool option_at(const struct call_options *c, unsigned i, struct opt *o)
{
    for (const struct opt *p = c->own; p->kind != OPT_END; p++)
        if (p->name && !i--) {
            *o = *p;
            return true;
        }
    for (unsigned k = 0; c->s && k < gnn_sampling_list_length; k++) {
        const struct gnn_sampling_member *x = &gnn_sampling_list[k];
        if (x->option && (x->train || !c->of_train) && !i--) {
            *o = gnn_member_option(c->s, x);
            return true;
        }
    }
    return false;
}

/* The option with this name, n long. */
static bool find_option(const struct call_options *c, const char *name, size_t n, struct opt *o)
{
    for (unsigned i = 0; option_at(c, i, o); i++)
        if (strlen(o->name) == n && !strncmp(o->name, name, n))
            return true;
    return false;
}

static int unknown_option(const struct call_options *c, const char *given, int n, struct gnn_err *e)
{
    char word[GNN_SUGGEST_WORD], key[GNN_SUGGEST_WORD];
    struct gnn_suggest s = {.word = word};
    struct opt o;
    snprintf(word, sizeof word, "%.*s", n, given);
    for (unsigned i = 0; option_at(c, i, &o); i++) {
        gnn_suggest_try(&s, o.name);
        snprintf(key, sizeof key, "no-%s", o.name);
        if (o.kind == OPT_FLAG && !strncmp(word, "no-", 3))
            gnn_suggest_try(&s, key);
    }
    return gnn_fail(e, GNN_E_USAGE, "--%.*s: unknown option%s", n, given, gnn_suggest_meant(&s));
}

/* A text without the dashes that programs have, and messages. */
static const char *without_dashes(const char *given)
{
    return given + (strncmp(given, "--", 2) ? 0 : 2);
}

static int take_text(const struct call_options *c, const char *given, struct gnn_err *e)
{
    const size_t n = strcspn(given, "="), no = n > 3 && !strncmp(given, "no-", 3) ? 3 : 0;
    struct opt o;
    const bool on = find_option(c, given, n, &o),
               off = !on && no && find_option(c, given + no, n - no, &o) && o.kind == OPT_FLAG;
    if (!on && !off)
        return unknown_option(c, given, (int)n, e);
    if (o.kind == OPT_FLAG && given[n])
        return gnn_fail(e, GNN_E_USAGE, "--%s: a flag takes no value", o.name);
    if (o.kind != OPT_FLAG && !given[n])
        return gnn_fail(e, GNN_E_USAGE, "--%s: has no value: write %s=VALUE", o.name, o.name);
    if (o.kind != OPT_FLAG)
        return gnn_option_set(&o, given + n + 1, e);
    *(bool *)o.value = on;
    return 0;
}

bool gnn_api_given(const void *given, const char *name)
{
    const size_t n = strlen(name);
    for (const char *const *g = (const char *const *)given; g && *g; g++) {
        const char *p = without_dashes(*g);
        p += !strncmp(p, "no-", 3) && strncmp(name, "no-", 3) ? 3 : 0;
        if (!strncmp(p, name, n) && (!p[n] || p[n] == '='))
            return true;
    }
    return false;
}

int gnn_api_options(const char *const given[], const struct opt *own, struct gnn_sampling *s,
                    bool of_train, struct gnn_err *e)
{
    const struct call_options c = {own, s, of_train};
    const struct gnn_given has = {gnn_api_given, given};
    const char *why, *option;
    for (const char *const *g = given; g && *g; g++)
        if (take_text(&c, without_dashes(*g), e))
            return e->code;
    option = s ? gnn_sampling_conflict(s, &has, &why) : NULL;
    return option ? gnn_fail(e, GNN_E_USAGE, "--%s %s", option, why) : 0;
}
