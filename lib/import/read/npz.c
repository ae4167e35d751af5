/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays with names: an .npz, a directory of .npy files, or a lone .npy that holds edges. Edges are
 * pairs, or a sparse matrix as scipy.sparse.save_npz writes it, or with arrays called adj_* as in
 * the data sets of gnn-benchmark, where features can be one too. */
#include <math.h>
#include <string.h>

#include "lib/import/read/array.h"
#include "lib/import/read/files.h"
#include "lib/import/read/formats.h"
#include "lib/import/read/masks.h"
#include "lib/import/read/pairs.h"
#include "lib/import/read/roles.h"
#include "lib/import/read/sparse.h"
#include "lib/import/read/typed_arrays.h"
#include "lib/base/suggest.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

struct npz {
    struct gnn_src s;
    struct gnn_pairs pairs;
    bool scipy;            /* the arrays are those of one matrix */
    struct gnn_sparse adj; /* the edges, if `sparse` */
    bool sparse, columns;  /* compressed by destination */
    uint64_t rows, cols;   /* of the matrix of edges, or 0 */
    uint64_t nedges;       /* edges, or entries of the matrix */
    struct gnn_sparse x;   /* features, of x.minor columns, or 0 */
};

/* The array's own name. */
static void key_of(const struct gnn_input *in, uint32_t i, char *key)
{
    snprintf(key, GNN_ROLE_CAPACITY, "%s", gnn_base_name(gnn_input_member(in, i)));
    char *dot = strstr(key, ".npy");
    if (dot)
        *dot = 0;
}

/* The role of member i. */
static void role_of(const struct npz *z, struct gnn_input *in, uint32_t i, char *role)
{
    char key[GNN_ROLE_CAPACITY];
    key_of(in, i, key);
    gnn_role_of(z->s.o, key, z->scipy, role);
}

/* Index of the only member with the role; -1 if there is none. */
static int find_role(const struct npz *z, struct gnn_input *in, const char *role, struct gnn_err *e)
{
    int found = -1;
    char r[GNN_ROLE_CAPACITY];
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

/* Which of the known arrays with edges there is: only one, for there would be no telling which one
 * is meant. */
static int choose_edges(struct npz *z, struct gnn_input *in, int found[5], int *which,
                        struct gnn_err *e)
{
    static const char *const roles[] = {"edges", "edge_index", "src", "dst", "adj_indptr"};
    *which = -1;
    for (int k = 0; k < 5; k++) {
        found[k] = find_role(z, in, roles[k], e);
        if (e->code)
            return e->code;
        if (found[k] < 0)
            continue;
        if (*which >= 0 && !(k == 3 && *which == 2))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: both '%s' and '%s' hold edges (--map =NAME leaves one out)",
                            gnn_input_name(in), gnn_input_member(in, (uint32_t)found[*which]),
                            gnn_input_member(in, (uint32_t)found[k]));
        *which = *which < 0 ? k : *which;
    }
    return GNN_OK;
}

/* Two numbers: rows and columns. */
static int read_shape(struct gnn_input *in, uint32_t member, uint64_t *rows, uint64_t *cols,
                      struct gnn_err *e)
{
    int64_t *v = NULL;
    uint64_t n, width;
    int rc = gnn_array_load(in, member, GNN_I64, (void **)&v, &n, &width, e);
    if (!rc &&
        (n * width != 2 || v[0] < 1 || v[1] < 1 || v[0] > UINT32_MAX - 1 || v[1] > UINT32_MAX - 1))
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: expected the numbers of rows and columns, each from 1 to 4294967294",
                      gnn_input_where(in, member));
    *rows = rc ? 0 : (uint64_t)v[0];
    *cols = rc ? 0 : (uint64_t)v[1];
    gnn_free(v);
    return rc;
}

/* The arrays PREFIX_indptr, PREFIX_indices, PREFIX_shape and perhaps PREFIX_data as a matrix of
 * compressed rows. */
static int find_sparse(struct npz *z, struct gnn_input *in, const char *prefix,
                       struct gnn_sparse *m, struct gnn_err *e)
{
    static const char *const names[] = {"indptr", "indices", "shape", "data"};
    int found[4];
    for (int k = 0; k < 4; k++) {
        char role[GNN_ROLE_CAPACITY];
        snprintf(role, sizeof role, "%s_%s", prefix, names[k]);
        found[k] = find_role(z, in, role, e);
        if (!e->code && found[k] < 0 && k < 3)
            gnn_fail(e, GNN_E_INPUT, "%s: a sparse matrix lacks the array %s", gnn_input_name(in),
                     z->scipy ? names[k] : role);
        if (e->code)
            return e->code;
    }
    *m = (struct gnn_sparse){
        .in = in, .indptr = (uint32_t)found[0], .indices = (uint32_t)found[1], .data = found[3]};
    return read_shape(in, (uint32_t)found[2], &m->major, &m->minor, e);
}

/* Reads all of it once; whether each value is 1. */
static int scan_sparse(const struct gnn_sparse *m, bool *ones, struct gnn_err *e)
{
    struct gnn_sparse_pass p;
    int rc = gnn_sparse_open(&p, m, e);
    *ones = true;
    for (uint64_t got = 1; !rc && got;) {
        rc = gnn_sparse_read(&p, &got, e);
        for (uint64_t i = 0; !rc && i < got; i++)
            *ones = *ones && p.value[i] == 1;
    }
    gnn_sparse_close(&p);
    return rc;
}

/* The layout of a sparse matrix: csr, csc or coo. */
static int read_format(const struct npz *z, struct gnn_input *in, char *format, size_t capacity,
                       struct gnn_err *e)
{
    int m = find_role(z, in, "adj_format", e);
    snprintf(format, capacity, "csr");
    int rc = e->code ? e->code
             : m < 0 ? GNN_OK
                     : gnn_array_word(in, (uint32_t)m, format, capacity, e);
    for (char *p = format; *p; p++)
        *p = *p >= ' ' && *p <= '~' ? *p : '?';
    if (!rc && strcmp(format, "csr") && strcmp(format, "csc") && strcmp(format, "coo"))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: a sparse matrix in the layout '%s', not csr, csc or coo",
                      gnn_input_name(in), format);
    return rc;
}

static int open_adjacency(struct npz *z, struct gnn_input *in, const char *format,
                          struct gnn_err *e)
{
    int rc = GNN_OK;
    if (!strcmp(format, "coo"))
        rc =
            gnn_fail(e, GNN_E_INPUT, "%s: a sparse matrix in the layout 'coo' that also has indptr",
                     gnn_input_name(in));
    if (!rc)
        rc = find_sparse(z, in, "adj", &z->adj, e);
    bool ones;
    if (!rc)
        rc = scan_sparse(&z->adj, &ones, e);
    if (rc)
        return rc;
    z->sparse = true;
    z->columns = !strcmp(format, "csc");
    z->rows = z->columns ? z->adj.minor : z->adj.major;
    z->cols = z->columns ? z->adj.major : z->adj.minor;
    z->adj.data = ones ? -1 : z->adj.data;
    return GNN_OK;
}

static int find_edges(struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    int found[5], which, shape = find_role(z, in, "adj_shape", e);
    char format[16];
    int rc = e->code ? e->code : read_format(z, in, format, sizeof format, e);
    if (!rc)
        rc = choose_edges(z, in, found, &which, e);
    if (rc)
        return rc;
    if (which < 0 && gnn_input_members(in) == 1)
        return gnn_pairs_open(&z->pairs, in, 0, -1, false, e);
    if (which == 4)
        return open_adjacency(z, in, format, e);
    if (which >= 0 && which < 2)
        return gnn_pairs_open(&z->pairs, in, found[which], -1, !which, e);
    if (which == 2 && found[3] >= 0) { /* coordinates: SciPy's have a shape, too */
        rc = gnn_pairs_open(&z->pairs, in, found[2], found[3], false, e);
        return rc || shape < 0 ? rc : read_shape(in, (uint32_t)shape, &z->rows, &z->cols, e);
    }
    struct gnn_suggest arrays = {.word = ""};
    for (uint32_t i = 0; i < gnn_input_members(in); i++)
        gnn_suggest_add(&arrays, gnn_input_member(in, i));
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: no array of edges (edges, edge_index, src and dst, or a sparse matrix; see --map)%s",
        gnn_input_name(in), gnn_suggest_text(&arrays, "arrays"));
}

/* Counts the edges, or the entries of a matrix, which may be told, too. */
static int count_edges(struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    struct gnn_array a = {0};
    uint64_t told;
    int rc = z->sparse ? gnn_array_open(&a, in, z->adj.indices, e) : GNN_OK;
    z->nedges = z->sparse ? a.rows : z->pairs.n;
    gnn_array_close(&a);
    const int m = rc ? -1 : find_role(z, in, "num_edges", e);
    if (rc || m < 0)
        return rc ? rc : e->code;
    rc = gnn_member_number(in, (uint32_t)m, &told, e);
    if (!rc && told != z->nedges)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu edge%s, but there are %llu",
                      gnn_input_where(in, (uint32_t)m), (unsigned long long)told, gnn_plural(told),
                      (unsigned long long)z->nedges);
    return rc;
}

/* The largest id of edges; -1: there are none. */
static int scan_ids(const struct npz *z, int64_t *max, struct gnn_err *e)
{
    int64_t most[2];
    uint64_t edges;
    int rc = gnn_pairs_scan(&z->pairs, &edges, most, e);
    *max = most[0] > most[1] ? most[0] : most[1];
    return rc;
}

/* The number of nodes as the rows of features or labels. As labels may be of edges, as many of them
 * as edges say nothing of nodes that the edges do not have. */
static int count_rows(struct npz *z, struct gnn_input *in, uint32_t member, bool labels,
                      uint64_t *n, struct gnn_err *e)
{
    struct gnn_array a;
    int64_t max = -1;
    int rc = gnn_array_open(&a, in, member, e);
    *n = a.rows;
    if (!rc && (a.rows < 1 || a.rows > UINT32_MAX - 1))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s", gnn_array_name(&a),
                      (unsigned long long)a.rows, gnn_plural(a.rows));
    const bool both = !rc && labels && a.rows == z->nedges;
    if (both)
        rc = scan_ids(z, &max, e);
    if (!rc && both && max + 1 < (int64_t)a.rows)
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: %llu row%s, which is the number of edges, while their nodes are 0 to "
                      "%lld: --map edge_y=NAME if these are labels of edges, --nodes %llu if there "
                      "are as many nodes",
                      gnn_array_name(&a), (unsigned long long)a.rows, gnn_plural(a.rows),
                      (long long)max, (unsigned long long)a.rows);
    gnn_array_close(&a);
    return rc;
}

/* The number of nodes: told, or the rows of x, y or the masks, or one more than the largest id. */
static int count_nodes(struct npz *z, struct gnn_input *in, uint64_t *n, struct gnn_err *e)
{
    static const char *const by_rows[] = {"x", "y"};
    int m = find_role(z, in, "num_nodes", e);
    if (z->rows && z->s.o->nodes && z->s.o->nodes != z->rows)
        return gnn_fail(e, GNN_E_USAGE,
                        "--nodes %llu: the matrix of edges has %llu row%s and %llu column%s",
                        (unsigned long long)z->s.o->nodes, (unsigned long long)z->rows,
                        gnn_plural(z->rows), (unsigned long long)z->cols, gnn_plural(z->cols));
    if (z->rows || z->s.o->nodes) {
        *n = z->rows ? z->rows : z->s.o->nodes;
        return GNN_OK;
    }
    if (m >= 0) {
        int rc = gnn_member_number(in, (uint32_t)m, n, e);
        if (!rc && (*n < 1 || *n > UINT32_MAX - 1))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu node%s, expected 1 to 4294967294",
                          gnn_input_where(in, (uint32_t)m), (unsigned long long)*n, gnn_plural(*n));
        return rc;
    }
    for (int k = 0; k < 2; k++) {
        m = find_role(z, in, by_rows[k], e);
        if (e->code)
            return e->code;
        if (m >= 0)
            return count_rows(z, in, (uint32_t)m, k, n, e);
    }
    int64_t max;
    if (e->code)
        return e->code;
    int rc = scan_ids(z, &max, e);
    if (!rc && max < 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no nodes", gnn_input_name(in));
    *n = (uint64_t)(max + 1);
    return rc;
}

/* A field: of nodes or edges as its name says, else of those of which there are as many as rows, if
 * that is clear. */
static int add_field(struct npz *z, struct gnn_input *in, uint32_t member, const char *role,
                     struct gnn_err *e)
{
    struct gnn_array a;
    char key[GNN_ROLE_CAPACITY];
    const char *name = gnn_input_name(in), *array = gnn_input_member(in, member);
    int rc = gnn_array_open(&a, in, member, e);
    const uint64_t rows = rc ? 0 : a.rows, n = z->s.d.schema.ntype[0].count;
    gnn_array_close(&a);
    if (rc)
        return rc;
    key_of(in, member, key);
    enum gnn_owner owner = gnn_role_owner(role);
    if (rows == UINT64_MAX)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: not an array (--map =%s leaves it out)", name,
                        array, key);
    if (owner == GNN_OF_ANY && rows == n && rows == z->nedges)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s: %llu row%s, but there are as many nodes as edges: --map "
                        "node_%s=%s or edge_%s=%s says whose it is (=%s leaves it out)",
                        name, array, (unsigned long long)rows, gnn_plural(rows), role, key, role,
                        key, key);
    if (owner == GNN_OF_ANY)
        owner = rows == n ? GNN_OF_NODES : rows == z->nedges ? GNN_OF_EDGES : GNN_OF_ANY;
    const char *what = owner == GNN_OF_NODES ? "nodes" : "edges";
    if (owner == GNN_OF_ANY)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s: %llu row%s fit neither nodes nor edges (--map =%s leaves it out)",
                        name, array, (unsigned long long)rows, gnn_plural(rows), key);
    if (rows != (owner == GNN_OF_NODES ? n : z->nedges))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s: %llu row%s for %llu %s (--map NAME=%s makes it something else, "
                        "=%s leaves it out)",
                        name, array, (unsigned long long)rows, gnn_plural(rows),
                        (unsigned long long)(owner == GNN_OF_NODES ? n : z->nedges), what, key,
                        key);
    if (owner == GNN_OF_EDGES && z->sparse)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: %s: the edges of a sparse matrix have no fields but its values (--map "
                        "=%s leaves it out)",
                        name, array, key);
    return owner == GNN_OF_NODES
               ? gnn_src_node_array(&z->s, 0, gnn_role_field(role), in, member, e)
               : gnn_pairs_field(&z->s, 0, &z->pairs, gnn_role_field(role), in, member, e);
}

/* Values of a matrix of coordinates, unless each is 1. */
static int add_weights(struct npz *z, struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    struct gnn_array a;
    float v[1024];
    bool ones = true;
    int rc = gnn_array_open(&a, in, member, e);
    if (!rc && a.width != 1)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not a vector", gnn_array_name(&a));
    for (uint64_t got = 1; !rc && got && ones;) {
        rc = gnn_array_read(&a, GNN_F32, v, 1024, &got, e);
        for (uint64_t i = 0; !rc && i < got; i++)
            ones = ones && v[i] == 1;
    }
    gnn_array_close(&a);
    return rc || ones ? rc : gnn_pairs_field(&z->s, 0, &z->pairs, "weight", in, member, e);
}

static int add_member(struct npz *z, struct gnn_input *in, uint32_t i, const char *pass,
                      struct gnn_err *e)
{
    static const char *const taken[] = {
        "edges",       "edge_index",   "src",         "dst",        "num_nodes",
        "num_edges",   "adj_indptr",   "adj_indices", "adj_shape",  "adj_format",
        "attr_indptr", "attr_indices", "attr_data",   "attr_shape", ""};
    static const char *const sets[] = {"train", "valid", "test"};
    char role[GNN_ROLE_CAPACITY];
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
        return mask ? gnn_masks_add(&z->s, in, i, sets[k], 0, e)
                    : gnn_masks_add_ids(&z->s, in, i, "ids", sets[k], 0, e);
    }
    char split[GNN_WORD_MAX + 1], set[GNN_WORD_MAX + 1];
    if (gnn_masks_named(role, split, set)) /* wait for add_named */
        return GNN_OK;
    if (strcmp(pass, "fields"))
        return GNN_OK;
    if (!strcmp(role, "adj_data")) /* of a compressed matrix: known already */
        return z->sparse ? GNN_OK : add_weights(z, in, i, e);
    return add_field(z, in, i, role, e);
}

static int sparse_edges(struct npz *z, bool fields, gnn_edge_fn *fn, void *arg, struct gnn_err *e)
{
    struct gnn_sparse_pass p;
    int rc = gnn_sparse_open(&p, &z->adj, e);
    const void *field[] = {p.value};
    struct gnn_edge_chunk c = {1, z->columns ? p.minor : p.major, z->columns ? p.major : p.minor,
                               fields ? field : NULL};
    while (!rc && c.n) {
        rc = gnn_sparse_read(&p, &c.n, e);
        if (!rc && c.n)
            rc = fn(arg, &c, e);
    }
    if (!rc && fields)
        rc = gnn_lost_tell(&z->s.d, gnn_array_name(&p.val), "weight", gnn_array_lost(&p.val), e);
    gnn_sparse_close(&p);
    return rc;
}

static int npz_edges(struct gnn_dataset *d, uint32_t t, bool fields, gnn_edge_fn *fn, void *arg,
                     struct gnn_err *e)
{
    struct npz *z = (struct npz *)d;
    return z->sparse ? sparse_edges(z, fields && d->schema.etype[t].nfields, fn, arg, e)
                     : gnn_pairs_edges(d, t, &z->pairs, fields, fn, arg, e);
}

/* The rows of a sparse matrix of features, one after the other as dense ones; values of one place
 * are added up, as SciPy does. */
struct dense_rows {
    struct gnn_sparse_pass p;
    float *row;
    uint64_t width, at; /* of the row; rows given away */
    gnn_rows_fn *fn;
    void *arg;
};

static int give_rows(struct dense_rows *r, uint64_t upto, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (; !rc && r->at < upto; r->at++) {
        rc = r->fn(r->arg, r->row, 1, e);
        memset(r->row, 0, r->width * sizeof *r->row);
    }
    return rc;
}

static int sparse_rows(struct npz *z, gnn_rows_fn *fn, void *arg, struct gnn_err *e)
{
    struct dense_rows r = {.width = z->x.minor, .fn = fn, .arg = arg};
    r.row = gnn_alloc_zero(r.width, sizeof *r.row, "a row of features", e);
    int rc = r.row ? gnn_sparse_open(&r.p, &z->x, e) : GNN_E_NOMEM;
    z->s.d.from = gnn_input_name(z->x.in);
    z->s.d.in_order = true;
    for (uint64_t n = 1; !rc && n;) {
        rc = gnn_sparse_read(&r.p, &n, e);
        for (uint64_t i = 0; !rc && i < n; i++) {
            const uint32_t v = r.p.major[i], column = r.p.minor[i];
            rc = give_rows(&r, v, e);
            r.row[column] += r.p.value[i];
            if (!rc && !isfinite(r.row[column]))
                rc = gnn_fail(e, GNN_E_INPUT, "%s: the sum of the values at (%u, %u) is too large",
                              gnn_array_name(&r.p.val), v, column);
        }
    }
    if (!rc)
        rc = give_rows(&r, z->x.major, e);
    if (!rc && z->x.data >= 0)
        rc = gnn_lost_tell(&z->s.d, gnn_array_name(&r.p.val), "x", gnn_array_lost(&r.p.val), e);
    z->s.d.from = NULL;
    z->s.d.in_order = false;
    gnn_sparse_close(&r.p);
    gnn_free(r.row);
    return rc;
}

static int npz_rows(struct gnn_dataset *d, uint32_t ntype, uint32_t field, gnn_rows_fn *fn,
                    void *arg, struct gnn_err *e)
{
    struct npz *z = (struct npz *)d;
    return z->x.minor && !ntype && !strcmp(d->schema.ntype[ntype].field[field].name, "x")
               ? sparse_rows(z, fn, arg, e)
               : gnn_src_rows(d, ntype, field, fn, arg, e);
}

/* Features as a sparse matrix. */
static int add_attributes(struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    enum { WIDEST = 1 << 20, ALWAYS = 1 << 28, PER_BYTE = 4096 }; /* the store has them dense */
    bool ones;
    if (find_role(z, in, "attr_indptr", e) < 0 || e->code)
        return e->code;
    int rc = find_sparse(z, in, "attr", &z->x, e);
    uint64_t n = z->s.d.schema.ntype[0].count, width = z->x.minor;
    if (!rc && (z->x.major != n || width > WIDEST ||
                (n * width > ALWAYS && n * width / PER_BYTE > gnn_input_bytes(in))))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: attr_shape: %llu row%s of %llu value%s for %llu node%s",
                      gnn_input_name(in), (unsigned long long)z->x.major, gnn_plural(z->x.major),
                      (unsigned long long)width, gnn_plural(width), (unsigned long long)n,
                      gnn_plural(n));
    if (!rc)
        rc = scan_sparse(&z->x, &ones, e);
    return rc ? rc : gnn_schema_add_nfield(&z->s.d.schema, 0, "x", GNN_F32, width, e);
}

static const struct gnn_dataset_ops npz_ops = {npz_edges, npz_rows, gnn_src_set, gnn_src_free};

/* Whether the arrays are those of scipy.sparse.save_npz. */
static bool is_scipy(const struct gnn_input *in)
{
    bool csr = gnn_input_find(in, "indptr.npy") >= 0 && gnn_input_find(in, "indices.npy") >= 0;
    return gnn_input_find(in, "format.npy") >= 0 || (csr && gnn_input_find(in, "shape.npy") >= 0);
}

/* Arrays that hold no numbers, all of them at once; of more arrays than there are names for, and a
 * graph may have fields, none: each is looked for from the archive's beginning, and something else
 * is wrong. */
static int check_readable(const struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    const uint32_t most = gnn_role_known() + GNN_FIELDS_MAX;
    char role[GNN_ROLE_CAPACITY], list[512] = "";
    struct gnn_err first = {0};
    size_t used = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < gnn_input_members(in); i++) {
        role_of(z, in, i, role);
        n += *role != 0;
    }
    for (uint32_t i = 0; n <= most && i < gnn_input_members(in); i++) {
        struct gnn_array a;
        struct gnn_err why = {0};
        role_of(z, in, i, role);
        if (!*role || !strcmp(role, "adj_format"))
            continue;
        int rc = gnn_array_open(&a, in, i, &why);
        bool none = rc && (a.h.objects || a.h.text);
        gnn_array_close(&a);
        if (rc && !none)
            return gnn_fail_as(e, &why);
        key_of(in, i, role);
        if (none && used < sizeof list)
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s=%s", *list ? "," : "", role);
        if (none && !first.code)
            first = why;
    }
    if (!first.code || gnn_input_members(in) == 1 || used >= sizeof list)
        return first.code ? gnn_fail_as(e, &first) : GNN_OK;
    return gnn_fail(e, GNN_E_INPUT, "%s (--map %s leaves out what holds no numbers)", first.msg,
                    list);
}

/* The node types: one, or rows and columns of a matrix that is not square. */
static int add_types(struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    struct gnn_schema *s = &z->s.d.schema;
    uint64_t n = 0;
    bool square = z->rows == z->cols;
    int rc = count_nodes(z, in, &n, e);
    if (!rc)
        rc = gnn_schema_add_ntype(s, square ? "node" : "row", n, e);
    if (!rc && !square)
        rc = gnn_schema_add_ntype(s, "column", z->cols, e);
    if (!rc)
        rc = gnn_schema_add_etype(s, 0, "to", square ? 0 : 1, 0, e);
    if (!rc && z->sparse && z->adj.data >= 0)
        rc = gnn_schema_add_efield(s, 0, "weight", GNN_F32, 0, e);
    return rc;
}

/* The heterophilous graph data sets list each undirected edge once, and say so in their paper only.
 */
static bool lists_pairs(const struct gnn_input *in)
{
    static const char *const name[] = {"edges.npy",       "node_features.npy", "node_labels.npy",
                                       "train_masks.npy", "val_masks.npy",     "test_masks.npy"};
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++)
        if (gnn_input_find(in, name[i]) < 0)
            return false;
    return true;
}

/* Variants of these data sets that are directed have the same members, and "directed" in their
 * name.
 */
static int guess_direction(struct npz *z, const struct gnn_input *in, struct gnn_err *e)
{
    const char *name = gnn_input_name(in), *base = gnn_base_name(name);
    struct gnn_dataset *d = &z->s.d;
    if (!lists_pairs(in))
        return GNN_OK;
    if (!strcasestr(base, "directed") || strcasestr(base, "undirected")) {
        d->mirror = d->guessed = true;
        d->says =
            "has the members of the heterophilous graph data sets: each edge is read in both directions (--directed: in one)";
        return GNN_OK;
    }
    d->says =
        "is directed by its name: its edges are kept as they are (-u adds the reverse of each)";
    return z->s.o->directed || z->s.o->undirected ? GNN_OK
                                                  : gnn_dataset_note(d, e, "%s %s", name, d->says);
}

/* Sets of named splits, in the order of the input, as there is no other. */
static int add_named(struct npz *z, struct gnn_input *in, struct gnn_err *e)
{
    char role[GNN_ROLE_CAPACITY], split[GNN_WORD_MAX + 1], set[GNN_WORD_MAX + 1];
    const uint32_t n = gnn_input_members(in);
    int rc = GNN_OK;
    for (int64_t last = -1, next = 0; !rc && next < INT64_MAX; last = next) {
        uint32_t found = n;
        next = INT64_MAX;
        for (uint32_t i = 0; i < n; i++) {
            const int64_t at = gnn_input_given(in, i);
            role_of(z, in, i, role);
            if (at > last && at < next && gnn_masks_named(role, split, set)) {
                next = at;
                found = i;
            }
        }
        if (found == n)
            break;
        role_of(z, in, found, role);
        if (gnn_masks_named(role, split, set))
            rc = gnn_masks_add_ids(&z->s, in, found, split, set, 0, e);
    }
    return rc;
}

static int fill_npz(struct gnn_src *s, void *reading, struct gnn_err *e)
{
    static const char *const passes[] = {"fields", "train", "valid", "test"};
    struct npz *z = (struct npz *)s;
    struct gnn_input *in = s->in[0];
    (void)reading;
    int rc = guess_direction(z, in, e);
    z->scipy = is_scipy(in);
    if (!rc)
        rc = check_readable(z, in, e);
    if (!rc)
        rc = find_edges(z, in, e);
    if (!rc)
        rc = count_edges(z, in, e);
    if (!rc)
        rc = add_types(z, in, e);
    if (!rc)
        rc = add_attributes(z, in, e);
    for (int p = 0; p < 4; p++)
        for (uint32_t i = 0; !rc && i < gnn_input_members(in); i++)
            if (gnn_input_members(in) > 1)
                rc = add_member(z, in, i, passes[p], e);
    return rc || gnn_input_members(in) == 1 ? rc : add_named(z, in, e);
}

/* Arrays of several types are read by another reader. */
static int choose_npz(const struct gnn_format **f, void **reading, struct gnn_input *in,
                      const struct gnn_import_opts *o, struct gnn_err *e)
{
    *reading = NULL;
    if (!gnn_typed_arrays_is(in))
        return GNN_OK;
    *f = &gnn_typed_format;
    return o->nodes ? gnn_fail(e, GNN_E_USAGE,
                               "--nodes N does not apply to arrays of several types, of which "
                               "TYPE/num_nodes says how many nodes there are")
                    : GNN_OK;
}

const struct gnn_format gnn_npz_format = {"npz", sizeof(struct npz), &npz_ops, fill_npz,
                                          choose_npz};
