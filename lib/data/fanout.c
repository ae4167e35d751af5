/* SPDX-License-Identifier: Apache-2.0 */
/* Fan-out texts: "15,10,5" and "paper/cites/paper=10,5". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/rule.h"

enum { FANOUT_MAX = 1000000 };

static int parse_list(const char *text, int32_t *fan, uint32_t *nhops, struct gnn_err *e)
{
    const char *p = text;
    *nhops = 0;
    do {
        char *end;
        errno = 0;
        const long v = strtol(p, &end, 10);
        if (end == p || errno || v < -1 || v > FANOUT_MAX || (*end && *end != ',') || *p == ' ' ||
            *p == '+')
            return gnn_fail(e, GNN_E_USAGE, "fan-out '%s': '%s' is not a number from -1 to %d",
                            text, p, FANOUT_MAX);
        if (*nhops == GNN_HOPS_MAX)
            return gnn_fail(e, GNN_E_USAGE, "fan-out '%s': more than %d hops", text, GNN_HOPS_MAX);
        fan[(*nhops)++] = (int32_t)v;
        p = end;
    } while (*p++ == ',');
    return 0;
}

/* Which edge type a text is for: -1 all. *list is where its numbers begin. */
static int parse_type(const struct gnn_schema *s, const char *spec, int *type, const char **list,
                      struct gnn_err *e)
{
    const char *eq = strrchr(spec, '=');
    *type = -1;
    *list = spec;
    if (!eq)
        return 0;
    char *key = gnn_strf(e, "%.*s", (int)(eq - spec), spec);
    *type = key ? gnn_schema_need_etype(s, "fan-out", key, e) : e->code;
    gnn_free(key);
    *list = eq + 1;
    return *type < 0 ? *type : 0;
}

int gnn_fanout_parse(const struct gnn_schema *s, const char *const *spec, uint32_t nspec,
                     struct gnn_sampling *sm, struct gnn_err *e)
{
    if (!nspec)
        return gnn_fail(e, GNN_E_USAGE, "no fan-outs are given");
    const uint32_t ne = s->netypes;
    int32_t *fan = NULL;
    bool *set = gnn_alloc_zero(ne, sizeof *set, "fan-outs", e);
    int rc = set ? 0 : e->code;
    bool general = false;
    for (int pass = 0; pass < 2;
         pass++) /* what is meant for all first, so that the order does not matter */
        for (uint32_t i = 0; !rc && i < nspec; i++) {
            int type;
            const char *list;
            int32_t v[GNN_HOPS_MAX];
            uint32_t n = 0;
            if ((rc = parse_type(s, spec[i], &type, &list, e)) || (type < 0) != (pass == 0))
                continue;
            if ((rc = parse_list(list, v, &n, e)))
                break;
            if (!fan) {
                sm->nhops = n;
                if (!(fan = gnn_alloc_zero((uint64_t)n * ne, sizeof *fan, "fan-outs", e)))
                    rc = e->code;
            } else if (n != sm->nhops)
                rc = gnn_fail(e, GNN_E_USAGE, "fan-out '%s': has %u hop%s, but another one has %u",
                              spec[i], n, gnn_plural(n), sm->nhops);
            if (!rc && (type < 0 ? general : set[type]))
                rc = gnn_fail(e, GNN_E_USAGE, "fan-out '%s': given twice", spec[i]);
            for (uint32_t h = 0; !rc && h < n; h++)
                for (uint32_t t = 0; t < ne; t++)
                    if (type < 0 || (uint32_t)type == t)
                        fan[(uint64_t)h * ne + t] = v[h];
            if (!rc && type >= 0)
                set[type] = true;
            general = general || (!rc && type < 0);
        }
    gnn_free(set);
    if (rc)
        gnn_free(fan);
    else
        sm->fanout = fan;
    return rc;
}
