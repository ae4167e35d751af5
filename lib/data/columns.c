/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a batch (lib/data/columns.h). */
#include "lib/data/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_INFO(name, prefix, suffix, per, dtype, rows, width, values, when, ...)              \
    {prefix,          suffix, GNN_PER_##per,       GNN_##dtype,                                    \
     GNN_ROWS_##rows, width,  GNN_VALUES_##values, GNN_WITH_##when,                                \
     __VA_ARGS__},
const struct gnn_column_info gnn_column[GNN_NCOLUMNS] = {GNN_COLUMNS(COLUMN_INFO)};

/* Whether the header promises what the column comes with. */
static enum gnn_presence is_promised(const struct gnn_sampling *m, enum gnn_column_when when,
                                     uint32_t type)
{
    bool there = true;
    switch (when) {
    case GNN_WITH_ALL:
        break;
    case GNN_WITH_REQUEST:
        return GNN_OPTIONAL;
    case GNN_WITH_SEEDS:
        there = gnn_sampling_counts_seeds(m);
        break;
    case GNN_WITH_TREES:
        there = m->disjoint;
        break;
    case GNN_WITH_TIMES:
        there = gnn_sampling_is_temporal(m);
        break;
    case GNN_WITH_DRAWS:
        there = type == m->seed_ntype && gnn_sampling_counts_draws(m, 0);
        break;
    case GNN_WITH_EDGE_IDS:
        return m->edge_ids ? GNN_REQUIRED : GNN_OPTIONAL;
    case GNN_WITH_WALKS:
        there = m->walks.length && !m->walks.window;
        break;
    case GNN_WITH_PAIRS:
        there = (m->walks.length && m->walks.window) || m->links.type;
        break;
    case GNN_WITH_LINKS:
        there = m->links.type;
        break;
    case GNN_WITH_LINKS_OF_RANKS:
        there = m->links.type && m->ranks;
        break;
    case GNN_WITH_NEGATIVES:
        there = m->links.negatives;
        break;
    case GNN_WITH_LABELS: /* pairs of a file are no edges, whose fields they could have */
        there = m->links.target && !m->links.sum;
        break;
    }
    return there ? GNN_REQUIRED : GNN_ABSENT;
}

enum gnn_presence gnn_column_presence(const struct gnn_meta *m, enum gnn_column c, uint32_t hop,
                                      uint32_t type)
{
    const struct gnn_column_info *i = &gnn_column[c];
    return i->per == GNN_PER_BLOCK &&
                   (m->sampling.walks.length || !gnn_sampling_keeps(&m->sampling, hop))
               ? GNN_ABSENT
               : is_promised(&m->sampling, i->when, type);
}

/* Appends "text/", or nothing of "", at to; NULL if there is no space, or was none before. */
static char *put_part(char *to, const char *end, const char *text)
{
    const size_t n = strlen(text);
    if (!to || !n || (size_t)(end - to) <= n)
        return n ? NULL : to;
    memcpy(to, text, n);
    to[n] = '/';
    return to + n + 1;
}

/* Put together by hand, as a batch of few nodes takes less time to read than to print its names. */
const char *gnn_column_name(char name[GNN_NAME_MAX + 1], const struct gnn_schema *s,
                            enum gnn_column c, uint32_t hop, uint32_t type)
{
    const struct gnn_column_info *i = &gnn_column[c];
    const char *end = name + GNN_NAME_MAX + 1;
    const char number[] = {(char)('0' + hop / 10), (char)('0' + hop % 10), 0};
    char *to = put_part(name, end, i->prefix);
    if (i->per == GNN_PER_BLOCK) {
        const struct gnn_etype *et = &s->etype[type];
        to = put_part(to, end, number + (hop < 10));
        to = put_part(put_part(to, end, s->ntype[et->src].name), end, et->rel);
        to = put_part(to, end, s->ntype[et->dst].name);
    } else if (i->per == GNN_PER_NTYPE) {
        to = put_part(to, end, s->ntype[type].name);
    }
    to = put_part(to, end, i->suffix);
    name[to ? to - name - 1 : 0] = 0; /* in place of the last slash */
    return name;
}

enum gnn_dtype gnn_column_dtype(const struct gnn_meta *m, enum gnn_column c)
{
    return gnn_column[c].values == GNN_VALUES_TIME ? gnn_sampling_time_dtype(&m->sampling)
                                                   : gnn_column[c].dtype;
}

uint64_t gnn_column_width(const struct gnn_meta *m, enum gnn_column c)
{
    return gnn_column[c].width == GNN_WIDTH_WALK ? m->sampling.walks.length + UINT64_C(1)
                                                 : gnn_column[c].width;
}

enum gnn_column gnn_column_named(const char *name)
{
    const char *last = strrchr(name, '/');
    const size_t n = strcspn(name, "/");
    uint32_t c = 0;
    for (; c < GNN_NCOLUMNS; c++) {
        const struct gnn_column_info *i = &gnn_column[c];
        const char *end = i->per == GNN_PER_BATCH || !last ? name + n : last; /* "/SUFFIX" or "" */
        if (*i->prefix == *name && strncmp(i->prefix, name, n) == 0 && !i->prefix[n] &&
            (*i->suffix ? *end && strcmp(end + 1, i->suffix) == 0
                        : (i->per == GNN_PER_BATCH) == !*end))
            break;
    }
    return c;
}

const void **gnn_column_view(const struct gnn_batch *b, enum gnn_column c, uint32_t hop,
                             uint32_t type)
{
    const struct gnn_column_info *i = &gnn_column[c];
    const void *of = i->per == GNN_PER_BATCH   ? i->view ? (const void *)b : NULL
                     : i->per == GNN_PER_NTYPE ? (const void *)&b->type[type]
                                               : (const void *)gnn_batch_block(b, hop, type);
    return of ? (const void **)((uintptr_t)of + i->view) : NULL;
}

int gnn_column_add(struct gnn_tensors *set, const struct gnn_meta *m, enum gnn_column c,
                   uint32_t hop, uint32_t type, uint64_t rows, struct gnn_tensor **t,
                   struct gnn_err *e)
{
    char name[GNN_NAME_MAX + 1];
    const uint64_t shape[2] = {rows, gnn_column_width(m, c)};
    return gnn_tensors_add(set, gnn_column_name(name, &m->schema, c, hop, type),
                           gnn_column_dtype(m, c), shape[1] ? 2 : 1, shape, t, e);
}

int gnn_column_add_key(struct gnn_batch *b, const struct gnn_meta *m, struct gnn_err *e)
{
    struct gnn_tensor *t;
    const uint64_t key[] = {b->epoch, b->step, b->split, b->rank};
    if (gnn_column_add(&b->tensors, m, GNN_COLUMN_KEY, 0, 0, 4, &t, e))
        return e->code;
    memcpy(t->data, key, sizeof key);
    return 0;
}

bool gnn_batch_on_host(const struct gnn_tensor *t)
{
    const enum gnn_column c = gnn_column_named(t->name);
    return c < GNN_NCOLUMNS && gnn_column[c].host;
}

bool gnn_batch_is_rows(const struct gnn_tensor *t)
{
    return (!strncmp(t->name, "node/", 5) || !strncmp(t->name, "hop/", 4)) &&
           gnn_column_named(t->name) == GNN_NCOLUMNS;
}

uint64_t gnn_column_edges_max(const struct gnn_meta *m, uint32_t hop, uint32_t et, uint64_t n)
{
    const struct gnn_sampling *s = &m->sampling;
    const struct gnn_pick_rule rule = gnn_sampling_rule(s, (uint64_t)hop * m->schema.netypes + et);
    const uint64_t all = gnn_pick_repeats(rule) || s->rule.time.by_edge ? UINT64_MAX
                         : m->schema.etype[et].count > UINT64_MAX / gnn_sampling_copies(s)
                             ? UINT64_MAX
                             : m->schema.etype[et].count * gnn_sampling_copies(s),
                   picks = gnn_pick_bound(rule, n, all);
    return picks < all ? picks : all;
}

/* ---- gathered rows ---- */

/* The node type called name[0..n), or UINT32_MAX. */
static uint32_t find_ntype(const struct gnn_schema *c, const char *name, size_t n)
{
    for (uint32_t t = 0; t < c->nntypes; t++)
        if (!strncmp(c->ntype[t].name, name, n) && !c->ntype[t].name[n])
            return t;
    return UINT32_MAX;
}

/* What follows "NAME/" at p; NULL if something else is there. */
static const char *after_name(const char *p, const char *name)
{
    const size_t n = strlen(name);
    return p && !strncmp(p, name, n) && p[n] == '/' ? p + n + 1 : NULL;
}

/* The hop of "H/SRC/REL/DST/FIELD" and the number of its edge type; false if there are no such. */
static bool find_block(const struct gnn_meta *m, const char *p, const char *field, uint32_t *hop,
                       uint32_t *et)
{
    const struct gnn_schema *c = &m->schema;
    const size_t n = strcspn(p, "/");
    char h[12];
    *hop = n < 10 ? (uint32_t)strtoul(p, NULL, 10) : UINT32_MAX;
    snprintf(h, sizeof h, "%u", *hop); /* the one way to write it */
    p = after_name(p, h);
    for (*et = 0; p && *hop < m->sampling.nhops && *et < c->netypes; ++*et) {
        const struct gnn_etype *t = &c->etype[*et];
        if (after_name(after_name(after_name(p, c->ntype[t->src].name), t->rel),
                       c->ntype[t->dst].name) == field)
            return true;
    }
    return false;
}

bool gnn_rows_of(const struct gnn_meta *m, const char *name, struct gnn_rows_of *x)
{
    const struct gnn_schema *c = &m->schema;
    const char *slash = strrchr(name, '/'), *field = slash ? slash + 1 : "";
    *x = (struct gnn_rows_of){.edges = !strncmp(name, "hop/", 4)};
    if (!x->edges && strncmp(name, "node/", 5))
        return false;
    if (!slash || gnn_column_named(name) < GNN_NCOLUMNS)
        return false;
    if (x->edges) {
        if (!find_block(m, name + 4, field, &x->hop, &x->type))
            return false;
        x->field = gnn_field_find(c->etype[x->type].field, c->etype[x->type].nfields, field);
        return true;
    }
    if (field <= name + 5)
        return false;
    x->type = find_ntype(c, name + 5, (size_t)(slash - (name + 5)));
    if (x->type == UINT32_MAX)
        return false;
    x->field = gnn_field_find(c->ntype[x->type].field, c->ntype[x->type].nfields, field);
    x->labels = !strcmp(field, "y");
    return true;
}
