/* SPDX-License-Identifier: Apache-2.0 */
/* OGB's layout of typed graphs as arrays (lib/import/read/ogb_members.h), as its DatasetSaver
 * writes it. */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/import/read/files.h"
#include "lib/import/read/ogb_members.h"

enum { KEY = 3 * GNN_OGB_WORD };

struct dicts {
    struct gnn_src *s;
    const struct gnn_ogb_members *g;
    struct gnn_pairs **pairs;
};

/* The .npz of a name below raw/, which the caller frees. */
static int open_dict(const struct dicts *k, const char *name, struct gnn_input **in,
                     struct gnn_err *e)
{
    const int m = gnn_ogb_find(k->g, "raw/%s", name);
    *in = NULL;
    if (m < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: %sraw/%s is missing", gnn_input_name(k->g->in),
                        k->g->root, name);
    return gnn_input_open_inner(in, k->g->in, (uint32_t)m, e);
}

/* The key that a member is named by; "" if it is none. */
static const char *key_of(const struct gnn_input *in, uint32_t i, char key[KEY])
{
    const char *name = gnn_input_member(in, i);
    const size_t n = strlen(name);
    const bool is = n > 4 && n - 4 < KEY && !strcmp(name + n - 4, ".npy");
    snprintf(key, KEY, "%.*s", is ? (int)(n - 4) : 0, name);
    return key;
}

static int fail_key(const struct gnn_input *in, uint32_t i, const char *want, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: expected an array of %s", gnn_input_where(in, i), want);
}

static int find_nodes(const struct dicts *k, const struct gnn_input *in, uint32_t i,
                      struct gnn_err *e)
{
    char key[KEY];
    const int t = gnn_schema_find_ntype(&k->s->d.schema, key_of(in, i, key));
    if (t < 0)
        (void)fail_key(in, i, "a node type of num_nodes_dict", e);
    return t;
}

static int find_edges(const struct dicts *k, const struct gnn_input *in, uint32_t i,
                      struct gnn_err *e)
{
    const struct gnn_schema *c = &k->s->d.schema;
    char key[KEY], name[KEY + 8];
    key_of(in, i, key);
    for (uint32_t t = 0; t < c->netypes; t++) {
        snprintf(name, sizeof name, "%s___%s___%s", c->ntype[c->etype[t].src].name, c->etype[t].rel,
                 c->ntype[c->etype[t].dst].name);
        if (!strcmp(name, key))
            return (int)t;
    }
    (void)fail_key(in, i, "an edge type of edge_index_dict", e);
    return -1;
}

static int read_nodes(const struct dicts *k, struct gnn_err *e)
{
    struct gnn_input *in;
    char key[KEY];
    uint64_t n;
    int rc = open_dict(k, "num_nodes_dict.npz", &in, e);
    for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++) {
        const size_t length = strlen(key_of(in, i, key));
        if (!length || length >= GNN_OGB_WORD)
            rc = fail_key(in, i, "a node type", e);
        if (!rc)
            rc = gnn_member_number(in, i, &n, e);
        if (!rc)
            rc = gnn_ogb_check_nodes(k->g, "num_nodes_dict.npz", n, e);
        if (!rc)
            rc = gnn_schema_add_ntype(&k->s->d.schema, key, n, e);
    }
    gnn_input_free(in);
    return rc;
}

/* The edges of a type, whose number `counts` declares. */
static int read_edges(const struct dicts *k, struct gnn_input *in, uint32_t i,
                      struct gnn_input *counts, struct gnn_err *e)
{
    struct gnn_pairs p;
    char key[KEY];
    uint64_t n = 0;
    key_of(in, i, key);
    char *rel = strstr(key, "___"), *dst = rel ? strstr(rel + 3, "___") : NULL;
    if (!dst || strstr(dst + 3, "___"))
        return fail_key(in, i, "an edge type SRC___REL___DST", e);
    *rel = *dst = 0;
    const int from = gnn_schema_find_ntype(&k->s->d.schema, key);
    const int to = gnn_schema_find_ntype(&k->s->d.schema, dst + 3);
    if (from < 0 || to < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: no node type '%s' in num_nodes_dict",
                        gnn_input_where(in, i), from < 0 ? key : dst + 3);
    const int m = gnn_input_find(counts, gnn_input_member(in, i));
    int rc = m < 0 ? gnn_fail(e, GNN_E_INPUT, "%s: %s is missing", gnn_input_name(counts),
                              gnn_input_member(in, i))
                   : gnn_member_number(counts, (uint32_t)m, &n, e);
    if (!rc)
        rc = gnn_pairs_open(&p, in, (int)i, -1, false, e);
    if (!rc)
        rc = gnn_ogb_check_edges(&p, in, n, e);
    return rc ? rc
              : gnn_ogb_add_pairs(k->s, k->pairs, (uint32_t)from, rel + 3, (uint32_t)to, &p, e);
}

static int read_all_edges(const struct dicts *k, struct gnn_err *e)
{
    struct gnn_input *in, *counts = NULL;
    int rc = open_dict(k, "edge_index_dict.npz", &in, e);
    if (!rc)
        rc = gnn_src_own(k->s, in, e);
    if (!rc)
        rc = open_dict(k, "num_edges_dict.npz", &counts, e);
    for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++)
        rc = read_edges(k, in, i, counts, e);
    for (uint32_t i = 0; !rc && i < gnn_input_members(counts); i++)
        if (find_edges(k, counts, i, e) < 0)
            rc = e->code;
    gnn_input_free(counts);
    return rc;
}

/* The arrays of a dict, as fields of the types by which they are named. */
static int read_fields(const struct dicts *k, uint32_t member, const char *stem, const char *own,
                       struct gnn_err *e)
{
    struct gnn_input *in = NULL;
    const bool edges = !strncmp(stem, "edge", 4);
    const char *name = gnn_ogb_map(k->s->o, stem, stem + 5, own);
    k->g->used[member] = true;
    if (!*name)
        return GNN_OK;
    int rc = gnn_input_open_inner(&in, k->g->in, member, e);
    if (!rc)
        rc = gnn_src_own(k->s, in, e);
    for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++) {
        const int t = edges ? find_edges(k, in, i, e) : find_nodes(k, in, i, e);
        if (t < 0)
            return e->code;
        if (!strcmp(stem, "node-label") && k->s->d.schema.task != GNN_TASK_NONE)
            return gnn_fail(e, GNN_E_INPUT, "%s: labels of two node types", gnn_input_name(in));
        rc = edges ? gnn_pairs_field(k->s, (uint32_t)t, &(*k->pairs)[t], name, in, i, e)
                   : gnn_src_node_array(k->s, (uint32_t)t, name, in, i, e);
    }
    return rc;
}

/* node_NAME and edge_NAME are fields. */
static int read_member(const struct dicts *k, uint32_t i, struct gnn_err *e)
{
    const char *member = gnn_input_member(k->g->in, i), *name = member + strlen(k->g->root);
    char stem[GNN_OGB_WORD + 5];
    if (k->g->used[i] || strncmp(member, k->g->root, strlen(k->g->root)) != 0 ||
        strncmp(name, "raw/", 4) != 0)
        return GNN_OK;
    const size_t n = strcspn(name += 4, ".");
    if (n <= 5 || n >= sizeof stem || strcmp(name + n, ".npz") != 0 ||
        (strncmp(name, "node_", 5) != 0 && strncmp(name, "edge_", 5) != 0))
        return GNN_OK;
    snprintf(stem, sizeof stem, "%.*s", (int)n, name);
    return read_fields(k, i, stem, stem + 5, e);
}

int gnn_ogb_dicts_read(struct gnn_src *s, const struct gnn_ogb_members *g, struct gnn_pairs **pairs,
                       struct gnn_err *e)
{
    /* As other layouts have them, first. */
    static const char *const first[][3] = {{"node_feat_dict", "node_feat", "x"},
                                           {"node-label", "node-label", "y"},
                                           {"edge_feat_dict", "edge_feat", "x"}};
    const struct dicts k = {.s = s, .g = g, .pairs = pairs};
    int rc = read_nodes(&k, e);
    if (!rc)
        rc = read_all_edges(&k, e);
    for (int i = 0; !rc && i < 3; i++) {
        const int m = gnn_ogb_find(g, "raw/%s.npz", first[i][0]);
        if (m >= 0)
            rc = read_fields(&k, (uint32_t)m, first[i][1], first[i][2], e);
    }
    for (uint32_t i = 0; !rc && i < gnn_input_members(g->in); i++)
        rc = read_member(&k, i, e);
    return rc;
}
