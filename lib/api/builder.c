/* SPDX-License-Identifier: Apache-2.0 */
/* A data set (lib/import/dataset.h) in the caller's arrays. */
#include "lib/api/builder.h"

#include <string.h>

#include "lib/api/options.h"
#include "lib/base/mem.h"
#include "lib/import/import.h"
#include "lib/import/read/labels.h"
#include "lib/import/read/src.h"

enum { CHUNK = 1 << 15 };

/* The rows of a field. */
struct built_field {
    bool edge;
    uint32_t type, field; /* in the schema */
    const void *rows;
    void *own; /* the same, if the builder has copied them; or NULL */
};

struct gnn_builder {
    struct gnn_dataset d; /* first */
    struct built_field *field;
    uint32_t nfields;
    const uint32_t *(*ends)[2]; /* [netypes] sources, destinations */
    const uint32_t **set;       /* [nsets] */
};

static struct built_field *find_rows(const struct gnn_builder *b, bool edge, uint32_t type,
                                     uint32_t field)
{
    struct built_field *f = b->field;
    while (f->edge != edge || f->type != type || f->field != field)
        f++;
    return f;
}

static size_t row_bytes(const struct gnn_field *f)
{
    return gnn_field_columns(f) * gnn_dtype_bytes(f->dtype);
}

static const void *row_at(const void *rows, const struct gnn_field *f, uint64_t i)
{
    return (const uint8_t *)rows + i * row_bytes(f);
}

static int each_edge(struct gnn_dataset *d, uint32_t etype, bool fields, gnn_edge_fn *fn, void *arg,
                     struct gnn_err *e)
{
    const struct gnn_builder *b = (const struct gnn_builder *)d;
    const struct gnn_etype *t = &d->schema.etype[etype];
    const void *field[GNN_FIELDS_MAX];
    int rc = 0;
    for (uint64_t i = 0; !rc && i < t->count; i += CHUNK) {
        for (uint32_t f = 0; fields && f < t->nfields; f++)
            field[f] = row_at(find_rows(b, true, etype, f)->rows, &t->field[f], i);
        const struct gnn_edge_chunk c = {t->count - i < CHUNK ? t->count - i : CHUNK,
                                         b->ends[etype][0] + i, b->ends[etype][1] + i,
                                         fields ? field : NULL};
        rc = fn(arg, &c, e);
    }
    return rc;
}

static int each_row(struct gnn_dataset *d, uint32_t ntype, uint32_t field, gnn_rows_fn *fn,
                    void *arg, struct gnn_err *e)
{
    const struct gnn_ntype *t = &d->schema.ntype[ntype];
    const void *rows = find_rows((const struct gnn_builder *)d, false, ntype, field)->rows;
    int rc = 0;
    for (uint64_t i = 0; !rc && i < t->count; i += CHUNK)
        rc = fn(arg, row_at(rows, &t->field[field], i), t->count - i < CHUNK ? t->count - i : CHUNK,
                e);
    return rc;
}

static int copy_set(struct gnn_dataset *d, uint32_t set, uint32_t *ids, struct gnn_err *e)
{
    const uint64_t n = d->schema.set[set].count;
    (void)e;
    if (n)
        memcpy(ids, ((const struct gnn_builder *)d)->set[set], n * sizeof *ids);
    return 0;
}

static void free_builder(struct gnn_dataset *d)
{
    struct gnn_builder *b = (struct gnn_builder *)d;
    for (uint32_t i = 0; i < b->nfields; i++)
        gnn_free(b->field[i].own);
    gnn_free(b->field);
    gnn_free(b->ends);
    gnn_free(b->set);
    gnn_free(b);
}

struct gnn_builder *gnn_builder_new(void)
{
    static const struct gnn_dataset_ops ops = {each_edge, each_row, copy_set, free_builder};
    struct gnn_builder *b = gnn_alloc_zero(1, sizeof *b, "a graph", gnn_api_err());
    if (b) {
        b->d.ops = &ops;
        b->d.format = b->d.name = "arrays";
    }
    return b;
}

void gnn_builder_free(struct gnn_builder *b)
{
    gnn_dataset_free(b ? &b->d : NULL);
}

int gnn_builder_nodes(struct gnn_builder *b, const char *type, uint64_t count)
{
    return gnn_schema_add_ntype(&b->d.schema, type, count, gnn_api_err());
}

/* The ends of an edge type, "SRC/REL/DST", whose node types are there; returns where REL begins,
 * and its length. */
static const char *find_ends(const struct gnn_schema *c, const char *key, int end[2], size_t *n)
{
    char name[GNN_TYPE_NAME_MAX + 1];
    const char *first = strchr(key, '/'), *last = strrchr(key, '/');
    const size_t len = first ? (size_t)(first - key) : sizeof name;
    if (len >= sizeof name || first == last)
        return NULL;
    memcpy(name, key, len);
    name[len] = '\0';
    end[0] = gnn_schema_find_ntype(c, name);
    end[1] = gnn_schema_find_ntype(c, last + 1);
    *n = (size_t)(last - first) - 1;
    return end[0] < 0 || end[1] < 0 ? NULL : first + 1;
}

int gnn_builder_edges(struct gnn_builder *b, const char *type, const uint32_t *src,
                      const uint32_t *dst, uint64_t n)
{
    struct gnn_err *e = gnn_api_err();
    struct gnn_schema *c = &b->d.schema;
    const uint32_t *const list[2] = {src, dst};
    int end[2];
    size_t len;
    const char *rel = find_ends(c, type, end, &len);
    if (!rel)
        return gnn_fail(e, GNN_E_USAGE, "edges '%s': expected SRC/REL/DST with node types", type);
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < n; i++)
            if (list[k][i] >= c->ntype[end[k]].count)
                return gnn_fail(e, GNN_E_INPUT, "%s: edge %llu: no node %u of type '%s'", type,
                                (unsigned long long)i, list[k][i], c->ntype[end[k]].name);
    char *name = gnn_strf(e, "%.*s", (int)len, rel);
    if (!name || gnn_grow(&b->ends, c->netypes, sizeof *b->ends, "edges", e) ||
        gnn_schema_add_etype(c, (uint32_t)end[0], name, (uint32_t)end[1], n, e)) {
        gnn_free(name);
        return e->code;
    }
    memcpy(b->ends[c->netypes - 1], list, sizeof list);
    gnn_free(name);
    return 0;
}

/* Adds a field to the schema, and its rows. */
static int add_field(struct gnn_builder *b, struct built_field f, const char *name,
                     enum gnn_dtype dtype, uint32_t width, struct gnn_err *e)
{
    struct gnn_schema *c = &b->d.schema;
    if (gnn_grow(&b->field, b->nfields, sizeof *b->field, "fields", e))
        return e->code;
    f.field = f.edge ? c->etype[f.type].nfields : c->ntype[f.type].nfields;
    const int rc = f.edge ? gnn_schema_add_efield(c, f.type, name, dtype, width, e)
                          : gnn_schema_add_nfield(c, f.type, name, dtype, width, e);
    if (!rc)
        b->field[b->nfields++] = f;
    return rc;
}

int gnn_builder_field(struct gnn_builder *b, const char *type, const char *name, const char *dtype,
                      uint32_t width, const void *rows)
{
    struct gnn_err *e = gnn_api_err();
    const struct gnn_schema *c = &b->d.schema;
    const int edge = gnn_schema_find_etype(c, type),
              node = edge < 0 ? gnn_schema_need_ntype(c, name, type, e) : -1;
    const enum gnn_dtype d = gnn_dtype_parse(dtype);
    if (edge < 0 && node < 0)
        return node;
    if (!strcmp(name, "y"))
        return gnn_fail(e, GNN_E_USAGE, "%s: y are labels: gnn_builder_labels takes them", type);
    if (!d || (!strcmp(name, "x") && d != GNN_F32 && d != GNN_F16 && d != GNN_BF16))
        return gnn_fail(e, GNN_E_USAGE, "%s: field '%s' cannot be of type '%s'", type, name, dtype);
    const uint64_t n = edge < 0 ? c->ntype[node].count : c->etype[edge].count;
    if (gnn_src_finite(name) &&
        gnn_src_check_finite(type, name, d, rows, n, width ? width : 1, 0, e))
        return e->code;
    const struct built_field f = {
        .edge = edge >= 0, .type = (uint32_t)(edge < 0 ? node : edge), .rows = rows};
    return add_field(b, f, name, d, width, e);
}

int gnn_builder_labels(struct gnn_builder *b, const char *type, const char *task, uint32_t width,
                       const double *rows)
{
    struct gnn_err *e = gnn_api_err();
    struct gnn_schema *c = &b->d.schema;
    const int node = gnn_schema_need_ntype(c, "labels", type, e), t = gnn_task_find(task);
    uint64_t columns = width;
    enum gnn_dtype dtype;
    if (node < 0)
        return node;
    if ((task && t <= 0) || !width || c->task)
        return gnn_fail(e, GNN_E_USAGE, "%s: %s", type,
                        task && t <= 0
                            ? "expected a task: multiclass, binary, multilabel or regression"
                        : !width ? "labels have a width of at least 1"
                                 : "the graph has labels already");
    const uint64_t n = c->ntype[node].count;
    double *own = gnn_alloc(n * width, sizeof *own, "labels", e);
    if (!own)
        return e->code;
    memcpy(own, rows, n * width * sizeof *own);
    int rc = gnn_labels_take(&b->d, t, (uint32_t)node, own, n, &columns, &dtype, type, NULL, e);
    if (!rc)
        rc = add_field(b, (struct built_field){.type = (uint32_t)node, .rows = own, .own = own},
                       "y", dtype, (uint32_t)columns, e);
    if (rc)
        gnn_free(own);
    return rc;
}

int gnn_builder_set(struct gnn_builder *b, const char *name, const char *type, const uint32_t *ids,
                    uint64_t n)
{
    struct gnn_err *e = gnn_api_err();
    struct gnn_schema *c = &b->d.schema;
    const char *slash = strchr(name, '/');
    const int node = gnn_schema_need_ntype(c, name, type, e);
    if (node < 0)
        return node;
    if (!slash)
        return gnn_fail(e, GNN_E_USAGE, "set '%s': expected SPLIT/SET", name);
    char *split = gnn_strf(e, "%.*s", (int)(slash - name), name);
    if (split && !gnn_grow(&b->set, c->nsets, sizeof *b->set, "sets", e) &&
        !gnn_schema_add_set(c, split, slash + 1, (uint32_t)node, n, e))
        b->set[c->nsets - 1] = ids;
    gnn_free(split);
    return e->code;
}

int gnn_builder_write(struct gnn_builder *b, const char *path, const char *const options[])
{
    struct gnn_err *e = gnn_api_err();
    struct gnn_import_opts o = {.seed = 1, .task = -1};
    struct gnn_import_stats st = {.nodes = 0};
    struct opt_list split = {NULL, 0};
    bool force = false;
    int loops = 0;
    const struct opt own[] = {
        {.kind = OPT_FLAG, .name = "undirected", .value = &o.undirected},
        {.kind = OPT_FLAG, .name = "dedup", .value = &o.dedup},
        {.kind = OPT_FLAG, .name = "standardize", .value = &o.standardize},
        {.kind = OPT_FLAG, .name = "force", .value = &force},
        {.kind = OPT_U64, .name = "seed", .value = &o.seed},
        {.kind = OPT_LIST, .name = "split", .value = &split},
        {.kind = OPT_CHOICE, .name = "self-loops", .value = &loops, .choices = "keep|add|remove"},
        {.kind = OPT_END}};
    int rc = gnn_api_options(options, own, NULL, false, e);
    o.loops = (enum gnn_loops)loops;
    o.split = split.v;
    o.nsplit = split.n;
    if (!rc)
        rc = gnn_import_write(&b->d, &o, path, force, NULL, &st, e);
    gnn_free(split.v);
    gnn_free(st.type);
    gnn_free(st.columns);
    return rc;
}
