/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/options.h"

#include <string.h>

#include "lib/api/gnn.h"
#include "lib/base/mem.h"

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

/* The option that a text begins with: `given` is its name, `n` long. */
static struct opt find_option(const struct opt *own, const struct gnn_sampling *s, bool of_train,
                              const char *given, size_t n)
{
    for (; own->kind != OPT_END; own++)
        if (own->name && strlen(own->name) == n && !strncmp(own->name, given, n))
            return *own;
    for (unsigned i = 0; s && i < gnn_sampling_list_length; i++) {
        const struct opt o = gnn_member_option(s, &gnn_sampling_list[i]);
        if (o.name && strlen(o.name) == n && !strncmp(o.name, given, n) &&
            (gnn_sampling_list[i].train || !of_train))
            return o;
    }
    return (struct opt){.kind = OPT_END};
}

static int take_text(const char *given, const struct opt *own, struct gnn_sampling *s,
                     bool of_train, struct gnn_err *e)
{
    const size_t n = strcspn(given, "=");
    struct opt o = find_option(own, s, of_train, given, n);
    const bool off = !o.name && n > 3 && !strncmp(given, "no-", 3);
    if (off)
        o = find_option(own, s, of_train, given + 3, n - 3);
    if (!o.name || (off && o.kind != OPT_FLAG))
        return gnn_fail(e, GNN_E_USAGE, "%.*s: unknown option", (int)n, given);
    if ((o.kind == OPT_FLAG) == (given[n] == '='))
        return gnn_fail(e, GNN_E_USAGE,
                        o.kind == OPT_FLAG ? "%s: a flag takes no value" : "%s: has no value: %s=",
                        o.name, o.name);
    if (o.kind != OPT_FLAG)
        return gnn_option_set(&o, given + n + 1, "", e);
    *(bool *)o.value = !off;
    return 0;
}

bool gnn_api_given(const void *given, const char *name)
{
    const size_t n = strlen(name);
    for (const char *const *g = (const char *const *)given; g && *g; g++) {
        const char *p = !strncmp(*g, "no-", 3) && strncmp(name, "no-", 3) ? *g + 3 : *g;
        if (!strncmp(p, name, n) && (!p[n] || p[n] == '='))
            return true;
    }
    return false;
}

int gnn_api_options(const char *const given[], const struct opt *own, struct gnn_sampling *s,
                    bool of_train, struct gnn_err *e)
{
    const struct gnn_given has = {gnn_api_given, given};
    const char *why, *option;
    for (const char *const *g = given; g && *g; g++)
        if (take_text(*g, own, s, of_train, e))
            return e->code;
    option = s ? gnn_sampling_conflict(s, &has, &why) : NULL;
    return option ? gnn_fail(e, GNN_E_USAGE, "%s %s", option, why) : 0;
}
