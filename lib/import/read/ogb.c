/* SPDX-License-Identifier: Apache-2.0 */
/* The Open Graph Benchmark's node-property archives, as snap-stanford/ogb reads them: raw/ with CSV
 * files or with data.npz and node-label.npz, or with triplet-type-list for typed graphs;
 * split/NAME/{train,valid,test}. In typed graphs, NumPy's arrays may take the place of CSV files,
 * and raw/node-id/TYPE has the ids of nodes. */
#include <stdlib.h>
#include <string.h>

#include "lib/import/read/array.h"
#include "lib/import/read/files.h"
#include "lib/import/read/formats.h"
#include "lib/import/read/ogb_members.h"
#include "lib/import/read/pairs.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

enum { TYPES = GNN_OGB_TYPES, WORD = GNN_OGB_WORD };

struct ogb {
    struct gnn_src s;
    struct gnn_ogb_members m;
    struct gnn_pairs *pairs; /* [schema.netypes] */
};

/* The member's name below root + dir; NULL: it lies elsewhere. */
static const char *name_below(const struct ogb *g, uint32_t member, const char *dir)
{
    const char *name = gnn_input_member(g->m.in, member);
    const size_t n = strlen(g->m.root), k = strlen(dir);
    return strncmp(name, g->m.root, n) || strncmp(name + n, dir, k) ? NULL : name + n + k;
}

/* Whether the file is STEM.csv or STEM.npy, compressed or not. */
static bool has_rows(const char *file, size_t stem)
{
    static const char *const ends[] = {"", ".gz", ".zst", ".xz"};
    bool is = false;
    const char *end = file + stem;
    for (int i = 0; i < 4 && (!strncmp(end, ".csv", 4) || !strncmp(end, ".npy", 4)); i++)
        is = is || !strcmp(end + 4, ends[i]);
    return is;
}

static int fail_missing(const struct ogb *g, const char *dir, const char *name, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %s%s%s is missing", gnn_input_name(g->m.in), g->m.root,
                    dir, name);
}

/* "cora/" from "cora/raw/...". */
static void find_root(struct ogb *g)
{
    for (uint32_t i = 0; i < gnn_input_members(g->m.in); i++) {
        const char *name = gnn_input_member(g->m.in, i), *raw = strstr(name, "raw/");
        if (raw && (raw == name || raw[-1] == '/') && (size_t)(raw - name) < sizeof g->m.root) {
            memcpy(g->m.root, name, (size_t)(raw - name));
            g->m.root[raw - name] = 0;
            return;
        }
    }
}

static int count_of(struct ogb *g, const char *dir, const char *what, uint64_t *n,
                    struct gnn_err *e)
{
    int m = gnn_ogb_find(&g->m, "%s%s", dir, what);
    if (m < 0)
        return fail_missing(g, dir, what, e);
    return gnn_member_number(g->m.in, (uint32_t)m, n, e);
}

/* Adds a member as a field of edge type t, or of node type t. */
static int add_field(struct ogb *g, bool edge, uint32_t t, const char *stem, const char *name,
                     const char *own, uint32_t member, struct gnn_err *e)
{
    const char *m = gnn_ogb_map(g->s.o, stem, name, own);
    g->m.used[member] = true;
    /* In typed graphs, OGB's edge_reltype repeats what the type of the edges says. */
    if (!*m ||
        (g->s.own_types && !strcmp(stem, "edge_reltype") && !gnn_ogb_is_array(&g->m, (int)member)))
        return GNN_OK;
    return edge ? gnn_pairs_field(&g->s, t, &g->pairs[t], m, g->m.in, member, e)
                : gnn_src_node_array(&g->s, t, m, g->m.in, member, e);
}

/* Files of fields in a directory: PREFIX_NAME.csv or .npy, and PREFIX-feat.csv and -label.csv with
 * the features and labels. */
static int add_fields(struct ogb *g, const char *dir, const char *prefix, uint32_t t,
                      struct gnn_err *e)
{
    static const char *const known[][2] = {{"feat", "x"}, {"label", "y"}};
    const bool edge = !strcmp(prefix, "edge");
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < gnn_input_members(g->m.in); i++) {
        const char *file = name_below(g, i, dir);
        char stem[WORD + 5];
        if (!file || strncmp(file, prefix, 4) || (file[4] != '_' && file[4] != '-'))
            continue;
        const size_t len = strcspn(file, ".");
        if (!has_rows(file, len) || len <= 5 || len >= sizeof stem)
            continue;
        snprintf(stem, sizeof stem, "%.*s", (int)len, file);
        const char *name = stem + 5, *own = stem[4] == '_' ? name : NULL;
        for (int k = 0; k < (edge ? 1 : 2) && !own; k++)
            own = strcmp(name, known[k][0]) ? NULL : known[k][1];
        if (own)
            rc = add_field(g, edge, t, stem, name, own, i, e);
    }
    return rc;
}

static int open_csv(struct ogb *g, struct gnn_err *e)
{
    uint64_t n = 0, edges = 0;
    struct gnn_pairs p;
    int m, rc = count_of(g, "raw/", "num-node-list.csv", &n, e);
    if (!rc)
        rc = count_of(g, "raw/", "num-edge-list.csv", &edges, e);
    if (!rc)
        rc = gnn_ogb_check_nodes(&g->m, "num-node-list.csv", n, e);
    if (!rc)
        rc = gnn_schema_add_ntype(&g->s.d.schema, "node", n, e);
    if (!rc)
        rc = (m = gnn_ogb_find(&g->m, "raw/edge.csv")) < 0
                 ? fail_missing(g, "raw/", "edge.csv", e)
                 : gnn_pairs_open(&p, g->m.in, m, -1, true, e);
    if (!rc)
        rc = gnn_ogb_check_edges(&p, g->m.in, edges, e);
    if (!rc)
        rc = gnn_ogb_add_pairs(&g->s, &g->pairs, 0, "to", 0, &p, e);
    if (!rc)
        rc = add_fields(g, "raw/", "node", 0, e);
    return rc ? rc : add_fields(g, "raw/", "edge", 0, e);
}

static int one_number(struct gnn_input *in, const char *key, uint64_t *v, struct gnn_err *e)
{
    int m = gnn_input_find(in, key);
    return m < 0 ? gnn_fail(e, GNN_E_INPUT, "%s: %s is missing", gnn_input_name(in), key)
                 : gnn_member_number(in, (uint32_t)m, v, e);
}

/* data.npz: edge_index, num_nodes_list, num_edges_list; node_X and edge_X are fields. */
static int add_arrays(struct ogb *g, struct gnn_input *npz, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < gnn_input_members(npz); i++) {
        const char *name = gnn_input_member(npz, i);
        size_t len = strcspn(name, ".");
        char field[WORD];
        if (len >= sizeof field || strncmp(name + len, ".npy", 4))
            return gnn_fail(e, GNN_E_INPUT, "%s: %s is not an array", gnn_input_name(npz), name);
        snprintf(field, sizeof field, "%.*s", (int)len, name);
        if (!strcmp(field, "edge_index") || !strncmp(field, "num_", 4))
            continue;
        bool node = !strncmp(field, "node_", 5), edge = !strncmp(field, "edge_", 5);
        if (!node && !edge)
            return gnn_fail(e, GNN_E_INPUT, "%s: %s is neither node_ nor edge_",
                            gnn_input_name(npz), name);
        const char *own = field + 5;
        own = !strcmp(own, "feat") ? "x" : !strcmp(own, "label") ? "y" : own;
        const char *m = gnn_ogb_map(g->s.o, field, field + 5, own);
        if (*m)
            rc = node ? gnn_src_node_array(&g->s, 0, m, npz, i, e)
                      : gnn_pairs_field(&g->s, 0, &g->pairs[0], m, npz, i, e);
    }
    return rc;
}

static int open_binary(struct ogb *g, struct gnn_err *e)
{
    struct gnn_input *npz = NULL, *labels = NULL;
    struct gnn_pairs p;
    uint64_t n = 0, edges = 0;
    int m,
        rc = gnn_input_open_inner(&npz, g->m.in, (uint32_t)gnn_ogb_find(&g->m, "raw/data.npz"), e);
    if (!rc)
        rc = gnn_src_own(&g->s, npz, e);
    if (!rc)
        rc = one_number(npz, "num_nodes_list.npy", &n, e);
    if (!rc)
        rc = one_number(npz, "num_edges_list.npy", &edges, e);
    if (!rc)
        rc = gnn_ogb_check_nodes(&g->m, "data.npz", n, e);
    if (!rc)
        rc = gnn_schema_add_ntype(&g->s.d.schema, "node", n, e);
    if (!rc && (m = gnn_input_find(npz, "edge_index.npy")) < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: edge_index.npy is missing", gnn_input_name(npz));
    if (!rc)
        rc = gnn_pairs_open(&p, npz, m, -1, false, e);
    if (!rc)
        rc = gnn_ogb_check_edges(&p, npz, edges, e);
    if (!rc)
        rc = gnn_ogb_add_pairs(&g->s, &g->pairs, 0, "to", 0, &p, e);
    if (!rc)
        rc = add_arrays(g, npz, e);
    if (rc || (m = gnn_ogb_find(&g->m, "raw/node-label.npz")) < 0)
        return rc;
    rc = gnn_input_open_inner(&labels, g->m.in, (uint32_t)m, e);
    if (!rc)
        rc = gnn_src_own(&g->s, labels, e);
    if (!rc && (m = gnn_input_find(labels, "node_label.npy")) < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: node_label.npy is missing", gnn_input_name(labels));
    for (uint32_t i = 0; !rc && i < gnn_input_members(labels); i++)
        if (i != (uint32_t)m)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: only node_label is expected",
                          gnn_input_where(labels, i));
    return rc ? rc : gnn_src_node_array(&g->s, 0, "y", labels, (uint32_t)m, e);
}

/* num-node-dict.csv: a line of type names, a line of counts. */
static int typed_nodes(struct ogb *g, struct gnn_err *e)
{
    struct gnn_table t;
    struct gnn_word w[TYPES];
    uint32_t n = 0;
    int m = gnn_ogb_find(&g->m, "raw/num-node-dict.csv");
    if (m < 0)
        return fail_missing(g, "raw/", "num-node-dict.csv", e);
    char(*name)[WORD] = gnn_alloc(TYPES, sizeof *name, "node types", e);
    int rc = gnn_table_open(&t, g->m.in, (uint32_t)m, 0, e);
    if (!rc && !name)
        rc = GNN_E_NOMEM;
    if (!rc && t.ncols)
        rc = gnn_table_words(&t, w, TYPES, &n, e);
    for (uint32_t i = 0; !rc && i < n; i++) {
        if (!w[i].n || w[i].n >= WORD)
            rc = gnn_table_fail(&t, NULL, "the name of a node type is empty or too long", e);
        else
            snprintf(name[i], WORD, "%.*s", (int)w[i].n, w[i].p);
    }
    uint64_t *count = rc ? NULL : gnn_alloc(n, sizeof *count, "node types", e), got = 0;
    if (!rc && !count)
        rc = GNN_E_NOMEM;
    if (!rc && n)
        rc = gnn_table_ids(&t, count, n, 1, &got, e);
    if (!rc && got != 1)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: the numbers of nodes are missing", gnn_reader_name(t.r));
    for (uint32_t i = 0; !rc && i < n; i++) {
        rc = gnn_ogb_check_nodes(&g->m, "num-node-dict.csv", count[i], e);
        if (!rc)
            rc = gnn_schema_add_ntype(&g->s.d.schema, name[i], count[i], e);
    }
    gnn_free(count);
    gnn_free(name);
    gnn_table_close(&t);
    return rc;
}

static int typed_relation(struct ogb *g, const struct gnn_word *w, struct gnn_err *e)
{
    char name[3][WORD], dir[4 * WORD];
    struct gnn_pairs p;
    uint64_t edges = 0;
    for (int i = 0; i < 3; i++) {
        if (!w[i].n || w[i].n >= WORD)
            return gnn_fail(e, GNN_E_INPUT, "%s: triplet-type-list: a name is empty or too long",
                            gnn_input_name(g->m.in));
        snprintf(name[i], WORD, "%.*s", (int)w[i].n, w[i].p);
    }
    int src = gnn_schema_find_ntype(&g->s.d.schema, name[0]);
    int dst = gnn_schema_find_ntype(&g->s.d.schema, name[2]);
    if (src < 0 || dst < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: triplet-type-list: no node type '%s'",
                        gnn_input_name(g->m.in), name[src < 0 ? 0 : 2]);
    snprintf(dir, sizeof dir, "raw/relations/%s___%s___%s/", name[0], name[1], name[2]);
    int m = gnn_ogb_find_rows(&g->m, dir, "edge");
    int rc = m < 0 ? fail_missing(g, dir, "edge.csv", e)
                   : count_of(g, dir, "num-edge-list.csv", &edges, e);
    if (!rc)
        rc = gnn_pairs_open(&p, g->m.in, m, -1, true, e);
    if (!rc)
        rc = gnn_ogb_check_edges(&p, g->m.in, edges, e);
    if (!rc)
        rc = gnn_ogb_add_pairs(&g->s, &g->pairs, (uint32_t)src, name[1], (uint32_t)dst, &p, e);
    return rc ? rc : add_fields(g, dir, "edge", g->s.d.schema.netypes - 1, e);
}

/* num-node-list.csv beside a field repeats the number of nodes of the type. */
static int check_node_count(struct ogb *g, uint32_t t, uint32_t member, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &g->s.d.schema.ntype[t];
    uint64_t n;
    int rc = gnn_member_number(g->m.in, member, &n, e);
    g->m.used[member] = true;
    if (!rc && n != nt->count)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu node%s, but there are %llu of type %s",
                      gnn_input_where(g->m.in, member), (unsigned long long)n, gnn_plural(n),
                      (unsigned long long)nt->count, nt->name);
    return rc;
}

/* The ids of the nodes of a type, in the order of their numbers: words, one in each line of a text,
 * or an array of numbers. */
static int read_ids(struct ogb *g, uint32_t t, uint32_t member, struct gnn_err *e)
{
    const uint64_t count = g->s.d.schema.ntype[t].count;
    struct gnn_nodeids *ids = &g->s.ids[t];
    const char *where = gnn_input_where(g->m.in, member);
    int64_t *key = NULL;
    uint64_t rows = 0, width = 1;
    g->m.used[member] = true;
    if (ids->kind != GNN_IDS_COUNT)
        return gnn_fail(e, GNN_E_INPUT, "%s: these nodes have ids already", where);
    int rc = gnn_ogb_is_array(&g->m, (int)member)
                 ? gnn_array_load(g->m.in, member, GNN_I64, (void **)&key, &rows, &width, e)
                 : gnn_member_words(g->m.in, member, ids, &rows, e);
    if (!rc && (rows != count || width != 1))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu ids for %llu node%s",
                      gnn_input_where(g->m.in, member), (unsigned long long)(rows * width),
                      (unsigned long long)count, gnn_plural(count));
    if (!rc && key)
        rc = gnn_nodeids_take(ids, key, rows, gnn_input_where(g->m.in, member), e);
    gnn_free(key);
    return rc;
}

/* Ids of some types; the others' nodes are counted. */
static int add_ids(struct ogb *g, uint32_t t, uint32_t member, struct gnn_err *e)
{
    const uint32_t n = g->s.d.schema.nntypes;
    int rc = g->s.ids ? GNN_OK : gnn_src_make_ids(&g->s, n, e);
    for (uint32_t i = 0; !rc && !g->s.d.ids && i < n; i++)
        g->s.ids[i].n = g->s.d.schema.ntype[i].count;
    if (!rc)
        rc = read_ids(g, t, member, e);
    g->s.d.ids = g->s.ids;
    return rc;
}

/* raw/node-feat/TYPE/node-feat.csv and node-label likewise are features and labels of the type,
 * raw/node_NAME/TYPE/node_NAME.csv is a field. */
static int add_typed_field(struct ogb *g, uint32_t member, const char *name, struct gnn_err *e)
{
    const char *type = strchr(name, '/'), *file = strrchr(name, '/'); /* types may have a / */
    char stem[WORD + 5], tname[WORD];
    const size_t len = type ? (size_t)(type - name) : 0;
    if (file == type || strncmp(name, "node", 4) || (name[4] != '_' && name[4] != '-'))
        return GNN_OK;
    if (len >= sizeof stem || file - type > WORD)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: the name is too long", gnn_input_name(g->m.in),
                        name);
    snprintf(stem, sizeof stem, "%.*s", (int)len, name);
    snprintf(tname, sizeof tname, "%.*s", (int)(file - 1 - type), type + 1);
    const int t = gnn_schema_find_ntype(&g->s.d.schema, tname);
    file++;
    if (t < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: no such node type", gnn_input_name(g->m.in), name);
    if (!strncmp(file, "num-node-list", 13) && has_rows(file, 13))
        return check_node_count(g, (uint32_t)t, member, e);
    if (strncmp(file, stem, len) || !has_rows(file, len))
        return GNN_OK;
    if (!strcmp(stem, "node-id"))
        return add_ids(g, (uint32_t)t, member, e);
    const bool labels = !strcmp(stem, "node-label"), feat = !strcmp(stem, "node-feat");
    if (labels && g->s.d.schema.task != GNN_TASK_NONE)
        return gnn_fail(e, GNN_E_INPUT, "%s: labels of two node types", gnn_input_name(g->m.in));
    return stem[4] == '_' || labels || feat ? add_field(g, false, (uint32_t)t, stem, stem + 5,
                                                        labels ? "y"
                                                        : feat ? "x"
                                                               : stem + 5,
                                                        member, e)
                                            : GNN_OK;
}

static int add_typed_fields(struct ogb *g, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < gnn_input_members(g->m.in); i++) {
        const char *name = name_below(g, i, "raw/");
        if (name)
            rc = add_typed_field(g, i, name, e);
    }
    return rc;
}

static int open_typed(struct ogb *g, struct gnn_err *e)
{
    struct gnn_table t;
    struct gnn_word w[3];
    int rc = typed_nodes(g, e);
    if (!rc)
        rc = gnn_ogb_check_declared(&g->m, "raw/nodetype-has-feat.csv", "raw/node-feat/",
                                    "/node-feat.csv", e);
    if (!rc)
        rc = gnn_ogb_check_declared(&g->m, "raw/nodetype-has-label.csv", "raw/node-label/",
                                    "/node-label.csv", e);
    if (rc)
        return rc;
    rc = gnn_table_open(&t, g->m.in, (uint32_t)gnn_ogb_find(&g->m, "raw/triplet-type-list.csv"), 0,
                        e);
    while (!rc) {
        rc = gnn_table_row(&t, w, 3, e);
        if (!rc)
            rc = typed_relation(g, w, e);
    }
    gnn_table_close(&t);
    rc = rc == GNN_END ? GNN_OK : rc;
    if (!rc && !g->s.d.schema.netypes)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no edge types", gnn_input_name(g->m.in));
    return rc ? rc : add_typed_fields(g, e);
}

static int ogb_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                     struct gnn_err *e)
{
    return gnn_pairs_edges(d, t, &((struct ogb *)d)->pairs[t], fields, fn, arg, e);
}

static void ogb_free(struct gnn_dataset *d)
{
    gnn_free(((struct ogb *)d)->pairs);
    gnn_free(((struct ogb *)d)->m.used);
    gnn_src_free(d);
}

static const struct gnn_dataset_ops ogb_ops = {ogb_edges, gnn_src_rows, gnn_src_set, ogb_free};

static int fill_ogb(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    struct ogb *g = (struct ogb *)s;
    struct gnn_input *in = g->m.in = s->in[0];
    int rc;
    (void)reading;
    if (!(g->m.used = gnn_alloc_zero(gnn_input_members(in), sizeof *g->m.used, "members", e)))
        return GNN_E_NOMEM;
    find_root(g);
    if (gnn_ogb_find(&g->m, "raw/triplet-type-list.csv") >= 0) {
        s->d.format = "ogb heterogeneous";
        s->own_types = true;
        rc = open_typed(g, e);
    } else if (gnn_ogb_find(&g->m, "raw/data.npz") >= 0) {
        s->d.format = "ogb binary";
        rc = open_binary(g, e);
    } else if (gnn_ogb_find(&g->m, "raw/edge_index_dict.npz") >= 0) {
        s->d.format = "ogb heterogeneous binary";
        s->own_types = true;
        rc = gnn_ogb_dicts_read(s, &g->m, &g->pairs, e);
    } else {
        rc = open_csv(g, e);
    }
    if (!rc)
        rc = gnn_ogb_splits_add(&g->s, &g->m, e);
    return rc ? rc : gnn_src_tell_unused(s, in, g->m.used, true, e);
}

const struct gnn_format gnn_ogb_format = {"ogb csv", sizeof(struct ogb), &ogb_ops, fill_ogb, NULL};
