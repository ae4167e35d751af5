/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/ogb_members.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"
#include "lib/import/read/table.h"

int gnn_ogb_find(const struct gnn_ogb_members *g, const char *fmt, ...)
{
    char name[GNN_OGB_PATH + 4 * GNN_OGB_WORD + 64];
    int n = snprintf(name, sizeof name, "%s", g->root);
    va_list ap;
    va_start(ap, fmt);
    int k = vsnprintf(name + n, sizeof name - (size_t)n, fmt, ap);
    va_end(ap);
    const int m = k < 0 || (size_t)(n + k) >= sizeof name ? -1 : gnn_input_find(g->in, name);
    if (m >= 0)
        g->used[m] = true;
    return m;
}

int gnn_ogb_find_rows(const struct gnn_ogb_members *g, const char *dir, const char *stem)
{
    const int m = gnn_ogb_find(g, "%s%s.csv", dir, stem);
    return m >= 0 ? m : gnn_ogb_find(g, "%s%s.npy", dir, stem);
}

bool gnn_ogb_is_array(const struct gnn_ogb_members *g, int member)
{
    return strstr(gnn_base_name(gnn_input_member(g->in, (uint32_t)member)), ".npy") != NULL;
}

int gnn_ogb_check_declared(const struct gnn_ogb_members *g, const char *list, const char *before,
                           const char *after, struct gnn_err *e)
{
    struct gnn_table t;
    struct gnn_word name[GNN_OGB_TYPES], has[GNN_OGB_TYPES];
    uint32_t n = 0, k = 0;
    int m = gnn_ogb_find(g, "%s", list);
    if (m < 0)
        return GNN_OK;
    int rc = gnn_table_open(&t, g->in, (uint32_t)m, 0, e);
    if (!rc && t.ncols)
        rc = gnn_table_words(&t, name, GNN_OGB_TYPES, &n, e);
    /* Two short lines: the second lies in the same block as the first. */
    if (!rc && n && t.p < t.end)
        rc = gnn_table_words(&t, has, GNN_OGB_TYPES, &k, e);
    if (!rc && (!n || n != k))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: expected a line of types and a line of True or False",
                      gnn_reader_name(t.r));
    for (uint32_t i = 0; !rc && i < n; i++)
        if (has[i].n == 4 && !memcmp(has[i].p, "True", 4) &&
            gnn_ogb_find(g, "%s%.*s%s", before, (int)name[i].n, name[i].p, after) < 0)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s%s%.*s%s is missing", gnn_input_name(g->in),
                          g->root, before, (int)name[i].n, name[i].p, after);
    gnn_table_close(&t);
    return rc;
}

const char *gnn_ogb_map(const struct gnn_import_opts *o, const char *stem, const char *name,
                        const char *own)
{
    const char *m = gnn_src_mapped(o, stem);
    if (m != stem)
        return m + (strncmp(m, stem, 5) ? 0 : 5);
    m = gnn_src_mapped(o, name);
    return m == name ? own : m;
}

int gnn_ogb_check_nodes(const struct gnn_ogb_members *g, const char *member, uint64_t n,
                        struct gnn_err *e)
{
    if (n < 1 || n > UINT32_MAX - 1)
        return gnn_fail(e, GNN_E_INPUT, "%s: %sraw/%s: %llu node%s, expected 1 to 4294967294",
                        gnn_input_name(g->in), g->root, member, (unsigned long long)n,
                        gnn_plural(n));
    return GNN_OK;
}

int gnn_ogb_check_edges(struct gnn_pairs *p, const struct gnn_input *in, uint64_t n,
                        struct gnn_err *e)
{
    if (p->n != UINT64_MAX && p->n != n)
        return gnn_fail(e, GNN_E_INPUT, "%s: %llu edge%s, but %llu declared", gnn_input_name(in),
                        (unsigned long long)p->n, gnn_plural(p->n), (unsigned long long)n);
    p->expected = n;
    return GNN_OK;
}

int gnn_ogb_add_pairs(struct gnn_src *s, struct gnn_pairs **pairs, uint32_t src, const char *rel,
                      uint32_t dst, const struct gnn_pairs *p, struct gnn_err *e)
{
    uint32_t n = s->d.schema.netypes;
    int rc = gnn_grow(pairs, n, sizeof **pairs, "edge types", e);
    if (!rc)
        rc = gnn_schema_add_etype(&s->d.schema, src, rel, dst, 0, e);
    if (!rc)
        (*pairs)[n] = *p;
    return rc;
}
