/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of files of torch.save (lib/import/read/torch_arrays.h): which attributes of which object
 * they are, and their bytes as those of .npy files. Nothing of a pickle is run. */
#include "lib/import/read/torch_arrays.h"

#include <string.h>
#include <unistd.h>

#include "formats/le.h"
#include "formats/npy.h"
#include "lib/base/io.h"
#include "lib/base/mapped.h"
#include "lib/base/plural.h"

enum { BLOCK = 1 << 16, NAME_BYTES = 63 };

typedef const struct gnn_pickle_value *value;

bool gnn_torch_arrays_begin(const uint8_t *p, size_t n)
{
    static const char member[] = "/data.pkl";
    const size_t head = 30, end = sizeof member - 1;
    if (gnn_torch_is_legacy(p, n))
        return true;
    const size_t len = n >= head && gnn_torch_is_zip(p, n) ? load_le16(p + 26) : 0;
    return len > end && head + len <= n && !memcmp(p + head + len - end, member, end);
}

/* ---- what the file holds ---- */

static bool is_named(value v, const char *name)
{
    return !strcmp(gnn_pickle_name(v), name);
}

static bool is_hetero(const struct gnn_pickle *p, value v)
{
    return is_named(v, "torch_geometric.data.hetero_data.HeteroData") ||
           gnn_pickle_get(p, v, "_global_store");
}

static int refuse_object(const struct gnn_pickle *p, value v, const char *name, struct gnn_err *e)
{
    char shown[128];
    if (is_hetero(p, v))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: a HeteroData of PyG, which has several types of nodes and edges; "
                        "gnntools.from_pyg makes a store of it (gnn-python(7))",
                        name);
    if (is_named(v, "torch_geometric.data.temporal.TemporalData"))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: a TemporalData of PyG, which is not read; save a Data: "
                        "Data(edge_index=torch.stack([d.src, d.dst]), edge_time=d.t, "
                        "edge_attr=d.msg)",
                        name);
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: holds %s, not a graph: expected a Data of PyG, a data set of one, or a "
        "dict with edge_index",
        name, gnn_torch_is_array(v) ? "a tensor" : gnn_pickle_describe(p, v, shown, sizeof shown));
}

/* The attributes of a Data: of PyG 2 in its storage, before that in itself; or of a dict. NULL if v
 * is neither. */
static value find_attributes(const struct gnn_pickle *p, value v)
{
    if (is_hetero(p, v))
        return NULL;
    if (gnn_pickle_kind(v) == GNN_PICKLE_DICT)
        return v;
    if (gnn_pickle_kind(v) != GNN_PICKLE_OBJECT || !is_named(v, "torch_geometric.data.data.Data"))
        return NULL;
    value store = gnn_pickle_get(p, v, "_store");
    value all = store ? gnn_pickle_get(p, store, "_mapping") : gnn_pickle_state(p, v);
    return gnn_pickle_kind(all) == GNN_PICKLE_DICT ? all : NULL;
}

/* Graphs of a data set by its slices, which are None for one; 0: they are no slices. */
static uint64_t count_graphs(const struct gnn_torch_file *f, value slices)
{
    const struct gnn_pickle *p = &f->pickle;
    uint64_t graphs = 1;
    char why[256];
    if (!gnn_pickle_is_none(slices) && gnn_pickle_kind(slices) != GNN_PICKLE_DICT)
        return 0;
    for (uint64_t i = 0; i < gnn_pickle_count(p, slices); i++) {
        struct gnn_strided a;
        value v = gnn_pickle_item(p, slices, i);
        uint64_t n = gnn_pickle_count(p, v);
        if (gnn_torch_is_array(v))
            n = gnn_torch_array(f, v, &a, why, sizeof why) ? 0 : gnn_strided_rows(&a);
        graphs = n > graphs + 1 ? n - 1 : graphs;
    }
    return graphs;
}

/* The attributes of the only graph. */
static int find_graph(const struct gnn_torch_file *f, value *attributes, const char *name,
                      struct gnn_err *e)
{
    const struct gnn_pickle *p = &f->pickle;
    value root = p->root, v = root;
    const uint64_t items = gnn_pickle_count(p, root);
    if (gnn_pickle_kind(root) == GNN_PICKLE_TUPLE && items > 1 && items < 5) {
        v = gnn_pickle_item(p, root, 0);
        value type = gnn_pickle_item(p, root, items - 1);
        const uint64_t graphs = count_graphs(f, gnn_pickle_item(p, root, 1));
        if (gnn_pickle_kind(type) == GNN_PICKLE_GLOBAL &&
            !is_named(type, "torch_geometric.data.data.Data"))
            return refuse_object(p, type, name, e);
        if (!graphs)
            v = root;
        if (graphs > 1 && find_attributes(p, v))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: a data set of %llu graphs of PyG, of which a store holds one; "
                            "save the one that is meant: torch.save(dataset[0], FILE)",
                            name, (unsigned long long)graphs);
    }
    *attributes = find_attributes(p, v);
    return *attributes ? GNN_OK : refuse_object(p, v, name, e);
}

/* ---- its attributes ---- */

static int leave_out(struct gnn_torch_arrays *t, value key, value v, struct gnn_err *e)
{
    char shown[128], what[128];
    struct gnn_word w;
    const struct gnn_pickle *p = &t->file.pickle;
    if (gnn_pickle_text(p, key, &w))
        gnn_text_shown(shown, sizeof shown, w.p, w.n);
    else
        gnn_pickle_describe(p, key, shown, sizeof shown);
    if (gnn_grow(&t->left, t->nleft, sizeof *t->left, "attributes", e))
        return GNN_E_NOMEM;
    char *text = gnn_strf(e, "%s (%s)", shown, gnn_pickle_describe(p, v, what, sizeof what));
    if (!text)
        return GNN_E_NOMEM;
    t->left[t->nleft++] = text;
    return GNN_OK;
}

/* A name as attributes and options have it. */
static bool is_name(const struct gnn_word *w)
{
    bool good = w->n && w->n <= NAME_BYTES;
    for (size_t i = 0; good && i < w->n; i++)
        good = w->p[i] > ' ' && w->p[i] <= '~' && !strchr("/=,:", w->p[i]);
    return good;
}

static bool is_sparse(value v)
{
    return is_named(v, "torch_sparse.tensor.SparseTensor") ||
           is_named(v, "torch._utils._rebuild_sparse_tensor");
}

static int refuse_sparse(const struct gnn_word *w, const char *name, struct gnn_err *e)
{
    const bool adj = w->n >= 3 && !memcmp(w->p, "adj", 3);
    return gnn_fail(e, GNN_E_INPUT, "%s: %.*s is a sparse tensor, which is not read; %s", name,
                    (int)w->n, w->p,
                    adj ? "save edge_index in its place (of adj_t: source is the column, "
                          "destination the row)"
                        : "save it with to_dense()");
}

/* A whole number, or a list of one, as data sets keep it. */
static bool is_number(const struct gnn_pickle *p, value v, int64_t *out)
{
    const enum gnn_pickle_kind k = gnn_pickle_kind(v);
    if ((k == GNN_PICKLE_LIST || k == GNN_PICKLE_TUPLE) && gnn_pickle_count(p, v) == 1)
        v = gnn_pickle_item(p, v, 0);
    return gnn_pickle_int(v, out);
}

static int add_attribute(struct gnn_torch_arrays *t, value key, value v, bool edges,
                         const char *name, struct gnn_err *e)
{
    const struct gnn_pickle *p = &t->file.pickle;
    struct gnn_torch_array a = {0};
    struct gnn_word w;
    char why[256];
    if (gnn_pickle_is_none(v))
        return GNN_OK;
    if (!gnn_pickle_text(p, key, &w) || !is_name(&w))
        return leave_out(t, key, v, e);
    if (w.n == 13 && !memcmp(w.p, "__num_nodes__", 13)) /* of PyG 1 */
        w = (struct gnn_word){"num_nodes", 9};
    const bool nodes = w.n == 9 && !memcmp(w.p, "num_nodes", 9);
    if (is_sparse(v))
        return edges && w.n >= 3 && !memcmp(w.p, "adj", 3) ? leave_out(t, key, v, e)
                                                           : refuse_sparse(&w, name, e);
    if (nodes && is_number(p, v, &a.number))
        a.values = (struct gnn_strided){.dtype = GNN_I64, .dense = true, .count = 1};
    else if (!gnn_torch_is_array(v))
        return leave_out(t, key, v, e);
    else if (gnn_torch_array(&t->file, v, &a.values, why, sizeof why))
        return gnn_fail(e, GNN_E_INPUT, "%s: %.*s: %s", name, (int)w.n, w.p, why);
    if (gnn_grow(&t->array, t->n, sizeof *t->array, "arrays", e))
        return GNN_E_NOMEM;
    a.name = gnn_strf(e, "%.*s", (int)w.n, w.p);
    if (!a.name)
        return GNN_E_NOMEM;
    t->array[t->n++] = a;
    return GNN_OK;
}

static int add_attributes(struct gnn_torch_arrays *t, const char *name, struct gnn_err *e)
{
    const struct gnn_pickle *p = &t->file.pickle;
    value all;
    int rc = find_graph(&t->file, &all, name, e);
    const bool edges = !rc && gnn_torch_is_array(gnn_pickle_get(p, all, "edge_index"));
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(p, all); i++)
        rc =
            add_attribute(t, gnn_pickle_key(p, all, i), gnn_pickle_item(p, all, i), edges, name, e);
    if (!rc && !t->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no attribute is an array", name);
    return rc;
}

/* ---- the file ---- */

static int map_file(struct gnn_torch_arrays *t, const char *path, uint64_t *n, struct gnn_err *e)
{
    struct stat st;
    const int fd = gnn_io_open(path, &st, e);
    if (fd < 0)
        return e->code;
    *n = (uint64_t)st.st_size;
    t->mapped = gnn_mapped_new(fd, 0, *n, false, path, e);
    close(fd);
    return t->mapped ? GNN_OK : e->code;
}

static int load_bytes(struct gnn_torch_arrays *t, struct gnn_stage *s, uint64_t *n,
                      struct gnn_err *e)
{
    size_t got = 1;
    int rc = GNN_OK;
    for (*n = 0; !rc && got; *n += rc ? 0 : got) {
        rc = gnn_buf_reserve(&t->bytes, *n + BLOCK, 1, "a file of torch.save", e);
        if (!rc)
            rc = gnn_stage_read(s, (uint8_t *)t->bytes.data + *n, BLOCK, &got, e);
    }
    return rc;
}

int gnn_torch_arrays_open(struct gnn_torch_arrays **out, const char *path, struct gnn_stage *s,
                          const char *name, struct gnn_err *e)
{
    char why[512];
    uint64_t n = 0;
    struct gnn_torch_arrays *t = *out = gnn_alloc_zero(1, sizeof *t, "input", e);
    if (!t)
        return GNN_E_NOMEM;
    int rc = path ? map_file(t, path, &n, e) : load_bytes(t, s, &n, e);
    if (!rc) {
        const void *bytes = path ? t->mapped : t->bytes.data;
        const int bad = gnn_torch_open(&t->file, bytes, n, why, sizeof why);
        rc = bad == GNN_PICKLE_NO_MEMORY ? gnn_fail_nomem(e, n, "a file of torch.save")
             : bad                       ? gnn_fail(e, GNN_E_INPUT, "%s: %s", name, why)
                                         : add_attributes(t, name, e);
    }
    if (rc) {
        gnn_torch_arrays_free(t);
        *out = NULL;
    }
    return rc;
}

void gnn_torch_arrays_free(struct gnn_torch_arrays *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        gnn_free(t->array[i].name);
    for (uint32_t i = 0; i < t->nleft; i++)
        gnn_free(t->left[i]);
    gnn_free(t->array);
    gnn_free(t->left);
    gnn_torch_release(&t->file);
    gnn_mapped_free(t->mapped);
    gnn_buf_release(&t->bytes);
    gnn_free(t);
}

/* ---- arrays as .npy files ---- */

struct array_stage {
    struct gnn_stage s;
    struct gnn_strided a;
    uint8_t head[256];
    uint64_t nhead, at, end; /* bytes: of the header, given so far, in all */
    struct gnn_buf rows;     /* a block of rows of an array that is not dense */
    uint64_t first, nrows;   /* in it */
};

/* The bytes from `at` on, and how many follow there. */
static int find_bytes(struct array_stage *s, const uint8_t **p, uint64_t *n, struct gnn_err *e)
{
    *p = s->head + s->at;
    *n = s->at < s->nhead ? s->nhead - s->at : 0;
    if (*n || s->at == s->end)
        return GNN_OK;
    const uint64_t at = s->at - s->nhead;
    *p = s->a.data + at;
    *n = s->end - s->at;
    if (s->a.dense)
        return GNN_OK;
    const uint64_t row = gnn_strided_row_bytes(&s->a), i = at / row;
    if (i < s->first || i >= s->first + s->nrows) {
        const uint64_t left = gnn_strided_rows(&s->a) - i, most = row < BLOCK ? BLOCK / row : 1;
        s->first = i;
        s->nrows = left < most ? left : most;
        if (gnn_buf_reserve(&s->rows, s->nrows, row, "rows of a tensor", e))
            return GNN_E_NOMEM;
        gnn_strided_copy(&s->a, i, s->nrows, s->rows.data);
    }
    *p = (const uint8_t *)s->rows.data + (at - s->first * row);
    *n = (s->first + s->nrows) * row - at;
    return GNN_OK;
}

static int array_read(struct gnn_stage *st, void *buf, size_t n, size_t *got, struct gnn_err *e)
{
    struct array_stage *s = (struct array_stage *)st;
    const uint8_t *p;
    uint64_t there;
    int rc = find_bytes(s, &p, &there, e);
    if (rc)
        return rc;
    *got = there < n ? (size_t)there : n;
    if (*got)
        memcpy(buf, p, *got);
    s->at += *got;
    return GNN_OK;
}

static void array_free(struct gnn_stage *st)
{
    gnn_buf_release(&((struct array_stage *)st)->rows);
    gnn_free(st);
}

int gnn_torch_arrays_stage(struct gnn_stage **out, const struct gnn_torch_arrays *t, uint32_t i,
                           const char *name, struct gnn_err *e)
{
    struct array_stage *s = gnn_alloc_zero(1, sizeof *s, "input", e);
    if (!s)
        return GNN_E_NOMEM;
    s->s = (struct gnn_stage){.read = array_read, .free = array_free, .name = name};
    s->a = t->array[i].values;
    if (!s->a.data)
        s->a.data = (const uint8_t *)&t->array[i].number;
    struct gnn_npy h = {.dtype = s->a.dtype,
                        .is_bool = s->a.is_bool,
                        .ndim = s->a.ndim,
                        .count = s->a.count,
                        .bytes = s->a.count * gnn_dtype_bytes(s->a.dtype)};
    memcpy(h.shape, s->a.shape, sizeof h.shape);
    s->nhead = gnn_npy_header(&h, s->head);
    s->end = s->nhead + h.bytes;
    *out = &s->s;
    return GNN_OK;
}
