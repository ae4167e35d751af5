/* Arrays with names: an .npz, a directory of .npy files, or a lone .npy that holds edges. */
#include <string.h>

#include "lib/import/array.h"
#include "lib/import/files.h"
#include "lib/import/formats.h"
#include "lib/import/pairs.h"

struct npz {
    struct gnn_src s;
    struct gnn_pairs pairs;
};

/* Names under which arrays are found, and what they are. */
static const struct {
    const char *key, *role;
} known[] = {
    {"x", "x"}, {"node_features", "x"}, {"node_feat", "x"}, {"features", "x"}, {"feat", "x"},
    {"y", "y"}, {"node_labels", "y"}, {"node_label", "y"}, {"labels", "y"}, {"label", "y"},
    {"edges", "edges"}, {"edge_index", "edge_index"}, {"edge_list", "edges"},
    {"src", "src"}, {"row", "src"}, {"edge_src", "src"},
    {"dst", "dst"}, {"col", "dst"}, {"edge_dst", "dst"},
    {"edge_attr", "edge_x"}, {"edge_feat", "edge_x"}, {"edge_features", "edge_x"},
    {"edge_weight", "weight"}, {"weight", "weight"}, {"edge_time", "time"}, {"time", "time"},
    {"num_nodes", "num_nodes"}, {"num_nodes_list", "num_nodes"}, {"num_edges_list", "num_edges"},
    {"train_mask", "train_mask"}, {"train_masks", "train_mask"}, {"val_mask", "valid_mask"},
    {"val_masks", "valid_mask"}, {"valid_mask", "valid_mask"}, {"valid_masks", "valid_mask"},
    {"test_mask", "test_mask"}, {"test_masks", "test_mask"}, {"train_idx", "train_ids"},
    {"val_idx", "valid_ids"}, {"valid_idx", "valid_ids"}, {"test_idx", "test_ids"},
};

enum { ROLE_ROOM = 256 };

/* The role of member i: --map's word, a known name's, or the array's own name. */
static void role_of(const struct npz *z, struct gnn_input *in, uint32_t i, char *role)
{
    char key[ROLE_ROOM];
    const char *name = gnn_input_member(in, i), *slash = strrchr(name, '/');
    snprintf(key, sizeof key, "%s", slash ? slash + 1 : name);
    char *dot = strstr(key, ".npy");
    if (dot)
        *dot = 0;
    const char *m = gnn_src_mapped(z->s.o, key);
    if (m == key)
        for (unsigned k = 0; k < sizeof known / sizeof *known; k++)
            if (!strcmp(key, known[k].key))
                m = known[k].role;
    snprintf(role, ROLE_ROOM, "%s", m);
}

/* Index of the only member with the role; -1 if there is none. */
static int find_role(const struct npz *z, struct gnn_input *in, const char *role, struct gnn_err *e)
{
    int found = -1;
    char r[ROLE_ROOM];
    for (uint32_t i = 0; i < gnn_input_members(in); i++) {
        role_of(z, in, i, r);
        if (strcmp(r, role))
            continue;
        if (found >= 0) {
            gnn_fail(e, GNN_E_INPUT, "%s: both '%s' and '%s' are %s", gnn_input_name(in),
                     gnn_input_member(in, (uint32_t)found), gnn_input_member(in, i), role);
            return -1;
        }
        found = (int)i;
    }
    return found;
}

static int find_edges(struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    int edges = find_role(z, in, "edges", e), index = find_role(z, in, "edge_index", e);
    int src = find_role(z, in, "src", e), dst = find_role(z, in, "dst", e);
    if (e->code)
        return e->code;
    if (edges < 0 && index < 0 && gnn_input_members(in) == 1)
        index = 0;
    if (edges >= 0)
        return gnn_pairs_open(&z->pairs, in, edges, -1, true, e);
    if (index >= 0)
        return gnn_pairs_open(&z->pairs, in, index, -1, false, e);
    if (src >= 0 && dst >= 0)
        return gnn_pairs_open(&z->pairs, in, src, dst, false, e);
    return gnn_fail(e, GNN_E_INPUT, "%s: no array of edges (edges, edge_index, or src and dst; see --map)",
                    gnn_input_name(in));
}

/* The number of nodes: told, or the rows of x, y or the masks, or one more than the largest id. */
static int count_nodes(struct npz *z, struct gnn_input *in, uint64_t *n, struct gnn_err *e)
{
    static const char *const by_rows[] = {"x", "y"};
    int m = find_role(z, in, "num_nodes", e);
    if (z->s.o->nodes) {
        *n = z->s.o->nodes;
        return GNN_OK;
    }
    if (m >= 0) {
        int rc = gnn_member_number(in, (uint32_t)m, n, e);
        if (!rc && (*n < 1 || *n > UINT32_MAX - 1))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: %llu nodes are not from 1 to 4294967294", gnn_input_name(in),
                          gnn_input_member(in, (uint32_t)m), (unsigned long long)*n);
        return rc;
    }
    for (int k = 0; k < 2; k++) {
        struct gnn_array a;
        m = find_role(z, in, by_rows[k], e);
        if (m < 0)
            continue;
        int rc = gnn_array_open(&a, in, (uint32_t)m, e);
        *n = a.rows;
        if (!rc && (a.rows < 1 || a.rows > UINT32_MAX - 1))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu rows", gnn_array_name(&a), (unsigned long long)a.rows);
        gnn_array_close(&a);
        return rc;
    }
    int64_t max;
    uint64_t edges;
    if (e->code)
        return e->code;
    int rc = gnn_pairs_scan(&z->pairs, &edges, &max, e);
    if (!rc && max < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no nodes", gnn_input_name(in));
    *n = (uint64_t)(max + 1);
    return rc;
}

/* Masks of shape (n), (splits, n) or (n, splits): split "0", "1", ... or "mask" if there is one. */
static int add_masks(struct npz *z, struct gnn_input *in, uint32_t member, const char *set, struct gnn_err *e)
{
    float *v;
    uint64_t rows, width, n = z->s.d.schema.ntype[0].count;
    int rc = gnn_array_load(in, member, GNN_F32, (void **)&v, &rows, &width, e);
    bool across = !rc && width == n && rows != n; /* a mask is a row */
    uint64_t nsplits = across ? rows : width;
    if (!rc && ((!across && rows != n) || nsplits < 1 || nsplits > 1000))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: not a mask of %llu nodes", gnn_input_name(in),
                      gnn_input_member(in, member), (unsigned long long)n);
    for (uint64_t k = 0; !rc && k < nsplits; k++) {
        char split[24];
        snprintf(split, sizeof split, nsplits == 1 ? "mask" : "%llu", (unsigned long long)k);
        uint64_t m = 0;
        uint32_t *ids = gnn_alloc(n, sizeof *ids, "splits", e);
        if (!ids) {
            rc = GNN_E_NOMEM;
            break;
        }
        for (uint64_t i = 0; i < n; i++)
            if (v[across ? k * n + i : i * nsplits + k] != 0)
                ids[m++] = (uint32_t)i;
        rc = gnn_src_add_set(&z->s, split, set, 0, ids, m, e);
    }
    gnn_free(v);
    return rc;
}

static int add_ids(struct npz *z, struct gnn_input *in, uint32_t member, const char *set, struct gnn_err *e)
{
    int64_t *v;
    uint64_t rows, width, n = z->s.d.schema.ntype[0].count;
    uint32_t *ids = NULL;
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&v, &rows, &width, e);
    if (!rc && !(ids = gnn_alloc(rows, sizeof *ids, "splits", e)))
        rc = GNN_E_NOMEM;
    for (uint64_t i = 0; !rc && i < rows; i++) {
        if (width != 1 || v[i] < 0 || (uint64_t)v[i] >= n)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: row %llu: not the id of a node", gnn_input_name(in),
                          gnn_input_member(in, member), (unsigned long long)i);
        ids[i] = (uint32_t)v[i];
    }
    gnn_free(v);
    if (!rc)
        return gnn_src_add_set(&z->s, "ids", set, 0, ids, rows, e);
    gnn_free(ids);
    return rc;
}

/* An array of the user's own: it belongs to what it has as many rows of. */
static int add_other(struct npz *z, struct gnn_input *in, uint32_t member, const char *name,
                     bool edge, struct gnn_err *e)
{
    struct gnn_array a;
    int rc = gnn_array_open(&a, in, member, e);
    uint64_t rows = rc ? 0 : a.rows, n = z->s.d.schema.ntype[0].count;
    gnn_array_close(&a);
    if (rc)
        return rc;
    if (rows == z->pairs.n && (edge || rows != n))
        return gnn_pairs_field(&z->s, 0, &z->pairs, name, in, member, e);
    if (rows == n && !edge)
        return gnn_src_node_array(&z->s, 0, name, in, member, e);
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: %s: %llu rows fit neither nodes nor edges (--map =%s leaves it out)",
                    gnn_input_name(in), gnn_input_member(in, member), (unsigned long long)rows, name);
}

static int add_member(struct npz *z, struct gnn_input *in, uint32_t i, const char *pass, struct gnn_err *e)
{
    static const char *const taken[] = {"edges", "edge_index", "src", "dst", "num_nodes", "num_edges", ""};
    static const char *const sets[] = {"train", "valid", "test"};
    char role[ROLE_ROOM];
    role_of(z, in, i, role);
    for (unsigned k = 0; k < sizeof taken / sizeof *taken; k++)
        if (!strcmp(role, taken[k]))
            return GNN_OK;
    for (int k = 0; k < 3; k++) {
        size_t len = strlen(sets[k]);
        if (strncmp(role, sets[k], len) || role[len] != '_')
            continue;
        bool mask = !strcmp(role + len, "_mask"), ids = !strcmp(role + len, "_ids");
        if (!mask && !ids)
            continue;
        if (strcmp(pass, sets[k]))
            return GNN_OK;
        return mask ? add_masks(z, in, i, sets[k], e) : add_ids(z, in, i, sets[k], e);
    }
    if (strcmp(pass, "fields"))
        return GNN_OK;
    if (!strcmp(role, "edge_x"))
        return add_other(z, in, i, "x", true, e);
    if (!strcmp(role, "x") || !strcmp(role, "y"))
        return gnn_src_node_array(&z->s, 0, role, in, i, e);
    return add_other(z, in, i, role, !strcmp(role, "weight"), e);
}

static int npz_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                     struct gnn_err *e)
{
    return gnn_pairs_edges(d, t, &((struct npz *)d)->pairs, fields, fn, arg, e);
}

static void npz_free(struct gnn_dataset *d)
{
    gnn_src_release((struct gnn_src *)d);
    gnn_free(d);
}

static const struct gnn_dataset_ops npz_ops = {npz_edges, gnn_src_rows, gnn_src_set, npz_free};

int gnn_npz_open(struct gnn_dataset **out, struct gnn_input *in, const struct gnn_import_opts *o,
                 struct gnn_err *e)
{
    static const char *const passes[] = {"fields", "train", "valid", "test"};
    struct npz *z = gnn_alloc_zero(1, sizeof *z, "data set", e);
    *out = NULL;
    if (!z) {
        gnn_input_free(in);
        return GNN_E_NOMEM;
    }
    z->s.o = o;
    z->s.d.ops = &npz_ops;
    z->s.d.format = "npz";
    uint64_t n = 0;
    int rc = gnn_src_own(&z->s, in, e);
    if (!rc)
        rc = find_edges(z, in, e);
    if (!rc)
        rc = count_nodes(z, in, &n, e);
    if (!rc)
        rc = gnn_schema_add_ntype(&z->s.d.schema, "node", n, e);
    if (!rc)
        rc = gnn_schema_add_etype(&z->s.d.schema, 0, "to", 0, 0, e);
    for (int p = 0; p < 4; p++)
        for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++)
            if (gnn_input_members(in) > 1)
                rc = add_member(z, in, i, passes[p], e);
    if (!rc)
        rc = gnn_src_attach(&z->s, e);
    if (rc) {
        gnn_dataset_free(&z->s.d);
        return rc;
    }
    *out = &z->s.d;
    return GNN_OK;
}
