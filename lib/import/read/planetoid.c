/* SPDX-License-Identifier: Apache-2.0 */
/* Planetoid's raw files (lib/import/read/planetoid.h): pickles of Python 2 with matrices of SciPy
 * and arrays of NumPy, and a dict of lists. Nothing of them is run. */
#include "lib/import/read/planetoid.h"

#include <string.h>

#include "formats/npy.h"
#include "formats/pickle.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"
#include "lib/import/read/input_impl.h"

enum { VALID = 500, CELLS_MAX = 1 << 30 };

typedef const struct gnn_pickle_value *value;

struct planetoid {
    struct gnn_array_list *l;
    struct gnn_input *in;
    bool *used;
    char *stem; /* "DIR/ind.cora." */
    uint64_t nodes, ntrain, all;
    uint32_t *test; /* (ntest) */
    uint64_t ntest;
};

/* A file that is a pickle. */
struct planetoid_file {
    struct gnn_pickle p;
    const char *name; /* of the member */
};

/* A matrix of rows: compressed, or as it lies. */
struct planetoid_matrix {
    uint64_t rows, cols;
    int64_t *first, *col; /* (rows + 1), (values); NULL: it is dense */
    double *values;
};

/* ---- files ---- */

int gnn_planetoid_find(const struct gnn_input *in)
{
    for (uint32_t i = 0; i < gnn_input_members(in); i++) {
        const char *base = gnn_base_name(gnn_input_member(in, i));
        if (!strncmp(base, "ind.", 4) && strlen(base) > 10 && gnn_ends_with(base, ".graph"))
            return (int)i;
    }
    return -1;
}

static int find_file(struct planetoid *g, const char *end, uint32_t *member, struct gnn_err *e)
{
    char *name = gnn_strf(e, "%s%s", g->stem, end);
    const int m = name ? gnn_input_find(g->in, name) : -1;
    if (name && (m < 0 || !g->in->m[m].path))
        gnn_fail(e, GNN_E_INPUT, "%s: %s is missing", g->in->name, name);
    gnn_free(name);
    if (e->code)
        return e->code;
    g->used[m] = true;
    *member = (uint32_t)m;
    return GNN_OK;
}

static void free_file(void *p)
{
    gnn_pickle_release(&((struct planetoid_file *)p)->p);
    gnn_free(p);
}

static int open_file(struct planetoid *g, const char *end, const struct planetoid_file **out,
                     struct gnn_err *e)
{
    const uint8_t *bytes;
    uint64_t n;
    uint32_t m;
    char why[512];
    int rc = find_file(g, end, &m, e);
    if (!rc)
        rc = gnn_array_list_map(g->l, g->in->m[m].path, &bytes, &n, e);
    struct planetoid_file *f = rc ? NULL : gnn_alloc_zero(1, sizeof *f, "a pickle", e);
    if (!f)
        return e->code;
    f->name = gnn_input_member(g->in, m);
    rc = gnn_pickle_read(&f->p, bytes, n, 0, why, sizeof why);
    if (rc) {
        gnn_free(f);
        return rc == GNN_PICKLE_NO_MEMORY
                   ? gnn_fail_nomem(e, n, "a pickle")
                   : gnn_fail(e, GNN_E_INPUT, "%s: %s%s: %s", g->in->name, g->stem, end, why);
    }
    *out = f;
    return gnn_array_list_hold(g->l, f, free_file, e);
}

/* ---- matrices ---- */

static int fail_matrix(const struct planetoid *g, const struct planetoid_file *f, const char *why,
                       struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %s: %s", g->in->name, f->name, why);
}

/* An array of the matrix, as i64 or f64. */
static int copy_array(const struct planetoid *g, const struct planetoid_file *f, value object,
                      const char *name, bool whole, void **out, uint64_t *n, struct gnn_err *e)
{
    struct gnn_strided a;
    char why[256] = "missing, or no array", text[320];
    uint64_t bad = 0;
    value v = gnn_pickle_get(&f->p, object, name);
    if (!gnn_pickle_is_array(v) || gnn_pickle_array(&f->p, v, &a, why, sizeof why) || a.ndim != 1) {
        snprintf(text, sizeof text, "%s: %s", name, why);
        return fail_matrix(g, f, text, e);
    }
    *n = a.count;
    void *raw = gnn_alloc(a.count, gnn_dtype_bytes(a.dtype), "a matrix", e);
    *out = gnn_alloc(a.count, sizeof(int64_t), "a matrix", e);
    if (raw)
        gnn_strided_copy(&a, 0, a.count, raw);
    int rc = raw && *out ? GNN_OK : GNN_E_NOMEM;
    if (!rc && whole && !gnn_npy_to_i64(a.dtype, raw, *out, a.count, &bad))
        rc = fail_matrix(g, f, "an index is no whole number", e);
    if (!rc && !whole)
        gnn_npy_to_f64(a.dtype, raw, *out, a.count);
    gnn_free(raw);
    return rc;
}

static void release_matrix(struct planetoid_matrix *m)
{
    gnn_free(m->first);
    gnn_free(m->col);
    gnn_free(m->values);
    *m = (struct planetoid_matrix){0};
}

/* Rows that follow one another, and columns that there are. */
static int check_sparse(const struct planetoid *g, const struct planetoid_file *f,
                        const struct planetoid_matrix *m, uint64_t firsts, uint64_t cols,
                        uint64_t values, struct gnn_err *e)
{
    bool good = firsts == m->rows + 1 && cols == values && !m->first[0];
    for (uint64_t i = 0; good && i < m->rows; i++)
        good = m->first[i + 1] >= m->first[i];
    good = good && (uint64_t)m->first[m->rows] == cols;
    for (uint64_t i = 0; good && i < cols; i++)
        good = m->col[i] >= 0 && (uint64_t)m->col[i] < m->cols;
    return good ? GNN_OK
                : fail_matrix(g, f, "indptr, indices, data and shape do not fit together", e);
}

static int read_sparse(const struct planetoid *g, const struct planetoid_file *f,
                       struct planetoid_matrix *m, struct gnn_err *e)
{
    const struct gnn_pickle *p = &f->p;
    value shape = gnn_pickle_get(p, p->root, "_shape");
    int64_t rows, cols;
    uint64_t firsts = 0, indices = 0, values = 0;
    if (!gnn_pickle_int(gnn_pickle_item(p, shape, 0), &rows) ||
        !gnn_pickle_int(gnn_pickle_item(p, shape, 1), &cols) || rows < 1 || cols < 1 ||
        rows > UINT32_MAX || cols > UINT32_MAX)
        return fail_matrix(g, f, "the shape is no two numbers", e);
    m->rows = (uint64_t)rows;
    m->cols = (uint64_t)cols;
    int rc = copy_array(g, f, p->root, "indptr", true, (void **)&m->first, &firsts, e);
    if (!rc)
        rc = copy_array(g, f, p->root, "indices", true, (void **)&m->col, &indices, e);
    if (!rc)
        rc = copy_array(g, f, p->root, "data", false, (void **)&m->values, &values, e);
    return rc ? rc : check_sparse(g, f, m, firsts, indices, values, e);
}

static int read_matrix(struct planetoid *g, const char *end, struct planetoid_matrix *m,
                       struct gnn_err *e)
{
    const struct planetoid_file *f;
    struct gnn_strided a;
    char why[256];
    int rc = open_file(g, end, &f, e);
    if (rc)
        return rc;
    if (!gnn_pickle_is_array(f->p.root)) {
        const char *is = gnn_pickle_name(f->p.root);
        return strstr(is, ".csr_matrix")
                   ? read_sparse(g, f, m, e)
                   : fail_matrix(g, f, "neither a csr_matrix nor an array", e);
    }
    if (gnn_pickle_array(&f->p, f->p.root, &a, why, sizeof why))
        return fail_matrix(g, f, why, e);
    if (a.ndim != 2)
        return fail_matrix(g, f, "an array that is no matrix", e);
    m->rows = a.shape[0];
    m->cols = a.shape[1];
    void *raw = gnn_alloc(a.count, gnn_dtype_bytes(a.dtype), "a matrix", e);
    m->values = gnn_alloc(a.count, sizeof *m->values, "a matrix", e);
    if (raw && m->values) {
        gnn_strided_copy(&a, 0, gnn_strided_rows(&a), raw);
        gnn_npy_to_f64(a.dtype, raw, m->values, a.count);
    }
    gnn_free(raw);
    return raw && m->values ? GNN_OK : GNN_E_NOMEM;
}

/* Row i, added to `row` (cols), which is zeroed. */
static void fill_row(const struct planetoid_matrix *m, uint64_t i, float *row)
{
    const uint64_t from = m->first ? (uint64_t)m->first[i] : i * m->cols,
                   to = m->first ? (uint64_t)m->first[i + 1] : from + m->cols;
    for (uint64_t k = from; k < to; k++)
        row[m->col ? (uint64_t)m->col[k] : k - from] += (float)m->values[k];
}

/* ---- nodes ---- */

/* Rows of the nodes that are known while training, and of those of test.index. */
static int read_both(struct planetoid *g, const char *all, const char *test,
                     struct planetoid_matrix m[2], struct gnn_err *e)
{
    int rc = read_matrix(g, all, &m[0], e);
    if (!rc)
        rc = read_matrix(g, test, &m[1], e);
    if (rc)
        return rc;
    if (m[0].cols != m[1].cols)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s%s has %llu column%s, and %s %llu", g->in->name,
                        g->stem, all, (unsigned long long)m[0].cols, gnn_plural(m[0].cols), test,
                        (unsigned long long)m[1].cols);
    if (m[1].rows != g->ntest)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s%s has %llu row%s, and test.index %llu", g->in->name,
                        g->stem, test, (unsigned long long)m[1].rows, gnn_plural(m[1].rows),
                        (unsigned long long)g->ntest);
    return GNN_OK;
}

static int hold_array(struct planetoid *g, const char *name, enum gnn_dtype dtype, uint64_t rows,
                      uint64_t cols, void *data, struct gnn_err *e)
{
    struct gnn_strided a = {
        .dtype = dtype, .ndim = cols ? 2 : 1, .shape = {rows, cols}, .data = data};
    int rc = gnn_array_list_hold(g->l, data, gnn_free, e);
    (void)gnn_strided_set_order(&a, false);
    (void)gnn_strided_fits(&a, rows * (cols ? cols : 1) * gnn_dtype_bytes(dtype));
    return rc ? rc : gnn_array_list_add(g->l, "", name, &a, e);
}

static int fail_line(const struct planetoid *g, uint64_t line, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: %stest.index: line %llu: no number of a node below %u",
                    g->in->name, g->stem, (unsigned long long)line, UINT32_MAX - 1);
}

/* test.index: a node in each line. */
static int read_test(struct planetoid *g, struct gnn_err *e)
{
    const uint8_t *bytes = NULL;
    uint64_t n = 0, line = 1;
    uint32_t m;
    struct gnn_buf ids = {0};
    int rc = find_file(g, "test.index", &m, e);
    if (!rc)
        rc = gnn_array_list_map(g->l, g->in->m[m].path, &bytes, &n, e);
    for (uint64_t i = 0; !rc && i < n; i++, line++) {
        uint64_t v = 0, from = i;
        for (; i < n && bytes[i] >= '0' && bytes[i] <= '9' && v < UINT32_MAX; i++)
            v = 10 * v + (bytes[i] - '0');
        i += i < n && bytes[i] == '\r';
        if (i == from || v >= UINT32_MAX - 1 || (i < n && bytes[i] != '\n'))
            rc = fail_line(g, line, e);
        else
            rc = gnn_buf_reserve(&ids, g->ntest + 1, sizeof *g->test, "test.index", e);
        if (!rc)
            ((uint32_t *)ids.data)[g->ntest++] = (uint32_t)v;
        g->nodes = !rc && v >= g->nodes ? v + 1 : g->nodes;
    }
    g->test = ids.data;
    return rc || g->ntest
               ? rc
               : gnn_fail(e, GNN_E_INPUT, "%s: %stest.index: empty", g->in->name, g->stem);
}

static int add_features(struct planetoid *g, struct gnn_err *e)
{
    struct planetoid_matrix m[2] = {{0}, {0}};
    float *x = NULL;
    int rc = read_both(g, "allx", "tx", m, e);
    if (!rc) {
        g->all = m[0].rows;
        g->nodes = g->nodes > g->all ? g->nodes : g->all;
        if (g->nodes > CELLS_MAX / m[0].cols)
            rc =
                gnn_fail(e, GNN_E_INPUT,
                         "%s: %llu by %llu features are too many for dense ones, which a store has",
                         g->in->name, (unsigned long long)g->nodes, (unsigned long long)m[0].cols);
        else if (!(x = gnn_alloc_zero(g->nodes * m[0].cols, sizeof *x, "features", e)))
            rc = GNN_E_NOMEM;
    }
    for (uint64_t i = 0; !rc && i < g->ntest; i++)
        if (g->test[i] < g->all)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %stest.index: node %u is one of allx", g->in->name,
                          g->stem, g->test[i]);
        else
            fill_row(&m[1], i, x + g->test[i] * m[0].cols);
    for (uint64_t i = 0; !rc && i < g->all; i++)
        fill_row(&m[0], i, x + i * m[0].cols);
    if (!rc)
        rc = hold_array(g, "x", GNN_F32, g->nodes, m[0].cols, x, e);
    else
        gnn_free(x);
    release_matrix(&m[0]);
    release_matrix(&m[1]);
    return rc;
}

/* The place of the 1 in a row; -1: there is none. */
static int64_t class_of(const struct planetoid_matrix *m, uint64_t i, float *row)
{
    int64_t best = -1;
    memset(row, 0, m->cols * sizeof *row);
    fill_row(m, i, row);
    for (uint64_t k = 0; k < m->cols; k++)
        if (row[k] > 0 && (best < 0 || row[k] > row[best]))
            best = (int64_t)k;
    return best;
}

static int add_labels(struct planetoid *g, struct gnn_err *e)
{
    struct planetoid_matrix m[3] = {{0}, {0}, {0}};
    int rc = read_both(g, "ally", "ty", m, e);
    if (!rc)
        rc = read_matrix(g, "y", &m[2], e);
    g->ntrain = m[2].rows;
    if (!rc && (m[0].rows != g->all || g->ntrain > g->all))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: allx, ally and y have %llu, %llu and %llu rows",
                      g->in->name, (unsigned long long)g->all, (unsigned long long)m[0].rows,
                      (unsigned long long)g->ntrain);
    int64_t *y = rc ? NULL : gnn_alloc(g->nodes, sizeof *y, "labels", e);
    float *row = rc ? NULL : gnn_alloc(m[0].cols, sizeof *row, "labels", e);
    if (!rc && (!y || !row))
        rc = GNN_E_NOMEM;
    if (!rc)
        memset(y, 0xff, g->nodes * sizeof *y);
    for (uint64_t i = 0; !rc && i < g->all; i++)
        y[i] = class_of(&m[0], i, row);
    for (uint64_t i = 0; !rc && i < g->ntest; i++)
        y[g->test[i]] = class_of(&m[1], i, row);
    if (!rc)
        rc = hold_array(g, "y", GNN_I64, g->nodes, 0, y, e);
    else
        gnn_free(y);
    gnn_free(row);
    for (int k = 0; k < 3; k++)
        release_matrix(&m[k]);
    return rc;
}

/* ---- edges and sets ---- */

/* A dict from nodes to lists of nodes. */
static int add_edges(struct planetoid *g, struct gnn_err *e)
{
    const struct planetoid_file *f;
    struct gnn_buf ends[2] = {{0}, {0}};
    uint64_t n = 0;
    int rc = open_file(g, "graph", &f, e);
    if (!rc && gnn_pickle_kind(f->p.root) != GNN_PICKLE_DICT)
        rc = fail_matrix(g, f, "no dict of lists", e);
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(&f->p, f->p.root); i++) {
        value list = gnn_pickle_item(&f->p, f->p.root, i);
        const uint64_t k = gnn_pickle_count(&f->p, list);
        int64_t v, u = -1;
        if (gnn_pickle_kind(list) != GNN_PICKLE_LIST || n + k > UINT32_MAX ||
            !gnn_pickle_int(gnn_pickle_key(&f->p, f->p.root, i), &u))
            rc = fail_matrix(g, f, "no dict of lists of nodes", e);
        for (int end = 0; !rc && end < 2; end++)
            rc = gnn_buf_reserve(&ends[end], n + k, sizeof v, "edges", e);
        for (uint64_t j = 0; !rc && j < k; j++, n++) {
            if (!gnn_pickle_int(gnn_pickle_item(&f->p, list, j), &v))
                rc = fail_matrix(g, f, "a neighbour is no number", e);
            ((int64_t *)ends[0].data)[n] = u;
            ((int64_t *)ends[1].data)[n] = rc ? 0 : v;
        }
    }
    for (int end = 0; end < 2; end++) {
        if (!rc && !ends[end].data)
            rc = gnn_buf_reserve(&ends[end], 1, sizeof(int64_t), "edges", e);
        if (!rc)
            rc = hold_array(g, end ? "dst" : "src", GNN_I64, n, 0, ends[end].data, e);
        else
            gnn_buf_release(&ends[end]);
    }
    return rc;
}

static int add_set(struct planetoid *g, const char *name, uint64_t from, uint64_t n,
                   const uint32_t *ids, struct gnn_err *e)
{
    int64_t *v = gnn_alloc(n ? n : 1, sizeof *v, "sets", e);
    if (!v)
        return GNN_E_NOMEM;
    for (uint64_t i = 0; i < n; i++)
        v[i] = ids ? ids[i] : (int64_t)(from + i);
    return hold_array(g, name, GNN_I64, n, 0, v, e);
}

int gnn_planetoid_add(struct gnn_array_list *l, const struct gnn_input *in, uint32_t graph,
                      bool *used, struct gnn_err *e)
{
    const char *name = gnn_input_member(in, graph);
    struct planetoid g = {.l = l, .in = (struct gnn_input *)in, .used = used};
    g.stem = gnn_strf(e, "%.*s", (int)(strlen(name) - strlen("graph")), name);
    int rc = g.stem ? read_test(&g, e) : GNN_E_NOMEM;
    if (!rc)
        rc = add_features(&g, e);
    if (!rc)
        rc = add_labels(&g, e);
    if (!rc)
        rc = add_edges(&g, e);
    if (!rc)
        rc = add_set(&g, "train_idx", 0, g.ntrain, NULL, e);
    const uint64_t left = g.all - g.ntrain;
    if (!rc)
        rc = add_set(&g, "val_idx", g.ntrain, left < VALID ? left : VALID, NULL, e);
    if (!rc)
        rc = add_set(&g, "test_idx", 0, g.ntest, g.test, e);
    /* x is the labelled part of allx, which has its rows. */
    uint32_t member;
    if (!rc)
        rc = find_file(&g, "x", &member, e);
    gnn_free(g.test);
    gnn_free(g.stem);
    return rc;
}
