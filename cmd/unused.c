/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/unused.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"

bool unused_edges_have(const struct gnn_schema *s, const char *name)
{
    for (uint32_t t = 0; t < s->netypes; t++)
        if (gnn_field_find(s->etype[t].field, s->etype[t].nfields, name))
            return true;
    return false;
}

void unused_edge_fields(const struct gnn_schema *s, const char *fields, const char *instead)
{
    char list[128] = "", name[GNN_WORD_MAX + 1];
    unsigned found = 0;
    for (const char *p = fields; *p; p += strspn(p, " ")) {
        const int n = (int)strcspn(p, " ");
        snprintf(name, sizeof name, "%.*s", n, p);
        p += n;
        const size_t used = strlen(list);
        if (unused_edges_have(s, name))
            snprintf(list + used, sizeof list - used, "%s%s%s", found++ ? ", " : "", name,
                     strcmp(name, "x") ? "" : " (features)");
    }
    if (found)
        cli_note("warning: edge field%s %s %s not used: %s", found > 1 ? "s" : "", list,
                 found > 1 ? "are" : "is", instead);
}
