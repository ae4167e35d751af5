/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/inspect/member_name.h"

#include <stdio.h>
#include <string.h>

char *gnn_member_put(char *to, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("%/\\", name[i]) || (!i && *name == '.'))
            to += snprintf(to, 4, "%%%02X", (unsigned)(unsigned char)name[i]);
        else
            *to++ = name[i];
    *to = 0;
    return to;
}

/* The name of a node type, or of the three parts of an edge type. */
static char *put_type(char *to, const struct gnn_schema *c, const char *name, size_t n)
{
    char key[GNN_NAME_MAX + 1];
    snprintf(key, sizeof key, "%.*s", (int)n, name);
    const int et = gnn_schema_find_etype(c, key);
    if (et < 0)
        return gnn_member_put(to, name, n);
    const struct gnn_etype *t = &c->etype[et];
    const char *const part[] = {c->ntype[t->src].name, t->rel, c->ntype[t->dst].name};
    for (int k = 0; k < 3; k++) {
        to = gnn_member_put(to, part[k], strlen(part[k]));
        if (k < 2)
            *to++ = '/';
    }
    return to;
}

void gnn_member_name(char to[GNN_MEMBER_CAPACITY], const struct gnn_schema *c, const char *name)
{
    const char *at = name, *last = strrchr(name, '/');
    const bool sets = !strncmp(name, "split/", 6), hop = !strncmp(name, "hop/", 4),
               field = hop || !strncmp(name, "node/", 5) || !strncmp(name, "edge/", 5) ||
                       !strncmp(name, "halo/", 5);
    /* "node/", "hop/H/", "split/SPLIT/" */
    for (int k = 0; c && k <= (hop || sets) && strchr(at, '/'); k++) {
        const size_t n = strcspn(at, "/");
        to = gnn_member_put(to, at, n);
        *to++ = '/';
        at += n + 1;
    }
    if (c && at > name && (field || sets) && last > at) {
        to = field ? put_type(to, c, at, (size_t)(last - at))
                   : gnn_member_put(to, at, (size_t)(last - at));
        *to++ = '/';
        at = last + 1;
    }
    if (c && at > name && !field)
        put_type(to, c, at, strlen(at));
    else
        gnn_member_put(to, at, strlen(at));
}
