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
    struct gnn_err failed;      /* the first failure, with which the graph is not the one meant */
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

/* The status of a call that adds something, which gnn_builder_write is to know. */
static int end_call(struct gnn_builder *b, int rc, const struct gnn_err *e)
{
    if (!b->failed.code)
        b->failed = *e;
    return rc;
}

int gnn_builder_nodes(struct gnn_builder *b, const char *type, uint64_t count)
{
    struct gnn_err *e = gnn_api_err();
    const int rc =
        strchr(type, '/')
            ? gnn_fail(e, GNN_E_USAGE,
                       "node type '%s': edge types SRC/REL/DST allow no slash in it", type)
            : gnn_schema_add_ntype(&b->d.schema, type, count, e);
    return end_call(b, rc, e);
}

/* The ends of an edge type, "SRC/REL/DST", whose node types are there; returns where REL begins,
 * and its length. NULL on failure. */
static const char *find_ends(const struct gnn_schema *c, const char *key, int end[2], size_t *n,
                             struct gnn_err *e)
{
    char name[GNN_TYPE_NAME_MAX + 1];
    const char *first = strchr(key, '/'), *last = strrchr(key, '/');
    const size_t len = first ? (size_t)(first - key) : sizeof name;
    if (len >= sizeof name || first == last) {
        gnn_fail(e, GNN_E_USAGE, "edges '%s': expected SRC/REL/DST", key);
        return NULL;
    }
    memcpy(name, key, len);
    name[len] = '\0';
    *n = (size_t)(last - first) - 1;
    end[0] = gnn_schema_need_ntype(c, key, name, e);
    end[1] = end[0] < 0 ? -1 : gnn_schema_need_ntype(c, key, last + 1, e);
    return end[1] < 0 ? NULL : first + 1;
}

/* Whether these are positions of nodes. what: "edge", of which they are ends, or "member". */
static int check_ids(const struct gnn_ntype *t, const char *of, const char *what,
                     const uint32_t *ids, uint64_t n, struct gnn_err *e)
{
    for (uint64_t i = 0; i < n; i++)
        if (ids[i] >= t->count)
            return gnn_fail(e, GNN_E_INPUT, "%s: %s %llu: no node %u of type '%s'", of, what,
                            (unsigned long long)i, ids[i], t->name);
    return 0;
}

static int add_edges(struct gnn_builder *b, const char *type, const uint32_t *const ends[2],
                     uint64_t n, struct gnn_err *e)
{
    struct gnn_schema *c = &b->d.schema;
    int end[2];
    size_t len;
    const char *rel = find_ends(c, type, end, &len, e);
    for (int k = 0; rel && k < 2; k++)
        if (check_ids(&c->ntype[end[k]], type, "edge", ends[k], n, e))
            return e->code;
    char *name = rel ? gnn_strf(e, "%.*s", (int)len, rel) : NULL;
    if (name && !gnn_grow(&b->ends, c->netypes, sizeof *b->ends, "edges", e) &&
        !gnn_schema_add_etype(c, (uint32_t)end[0], name, (uint32_t)end[1], n, e))
        memcpy(b->ends[c->netypes - 1], ends, sizeof *b->ends);
    gnn_free(name);
    return e->code;
}

int gnn_builder_edges(struct gnn_builder *b, const char *type, const uint32_t *src,
                      const uint32_t *dst, uint64_t n)
{
    struct gnn_err *e = gnn_api_err();
    return end_call(b, add_edges(b, type, (const uint32_t *const[]){src, dst}, n, e), e);
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

/* Element types that a field can have. */
static const char *types_of(const char *name)
{
    return !strcmp(name, "x")      ? "f32|f16|bf16"
           : !strcmp(name, "time") ? "i64|f64"
                                   : "u8|i8|u16|i16|u32|i32|u64|i64|f16|bf16|f32|f64";
}

static int take_field(struct gnn_builder *b, const char *type, const char *name, const char *dtype,
                      uint32_t width, const void *rows, struct gnn_err *e)
{
    const struct gnn_schema *c = &b->d.schema;
    const bool edge = strchr(type, '/');
    const int t =
        edge ? gnn_schema_need_etype(c, name, type, e) : gnn_schema_need_ntype(c, name, type, e);
    const enum gnn_dtype d = gnn_dtype_parse(dtype);
    const char *may = types_of(name);
    if (t < 0)
        return t;
    if (!strcmp(name, "y"))
        return gnn_fail(e, GNN_E_USAGE, "%s: y are labels: gnn_builder_labels takes them", type);
    if (gnn_choice_find(may, dtype, strlen(dtype)) < 0)
        return gnn_fail(e, GNN_E_USAGE, "%s: field '%s' cannot be of type '%s', but %s", type, name,
                        dtype, may);
    if (!strcmp(name, "time") && width > 1)
        return gnn_fail(e, GNN_E_USAGE, "%s: field 'time' has %u columns, expected one", type,
                        width);
    const uint64_t n = edge ? c->etype[t].count : c->ntype[t].count;
    if (gnn_src_finite(name) &&
        gnn_src_check_finite(type, name, d, rows, n, width ? width : 1, 0, e))
        return e->code;
    return add_field(b, (struct built_field){.edge = edge, .type = (uint32_t)t, .rows = rows}, name,
                     d, width, e);
}

int gnn_builder_field(struct gnn_builder *b, const char *type, const char *name, const char *dtype,
                      uint32_t width, const void *rows)
{
    struct gnn_err *e = gnn_api_err();
    return end_call(b, take_field(b, type, name, dtype, width, rows, e), e);
}

static int take_labels(struct gnn_builder *b, const char *type, const char *task, uint32_t width,
                       const double *rows, struct gnn_err *e)
{
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
    if (n)
        memcpy(own, rows, n * width * sizeof *own);
    int rc = gnn_labels_take(&b->d, t, (uint32_t)node, own, n, &columns, &dtype, type, NULL, e);
    if (!rc)
        rc = add_field(b, (struct built_field){.type = (uint32_t)node, .rows = own, .own = own},
                       "y", dtype, (uint32_t)columns, e);
    if (rc)
        gnn_free(own);
    return rc;
}

int gnn_builder_labels(struct gnn_builder *b, const char *type, const char *task, uint32_t width,
                       const double *rows)
{
    struct gnn_err *e = gnn_api_err();
    return end_call(b, take_labels(b, type, task, width, rows, e), e);
}

static int add_set(struct gnn_builder *b, const char *name, const char *type, const uint32_t *ids,
                   uint64_t n, struct gnn_err *e)
{
    struct gnn_schema *c = &b->d.schema;
    const char *slash = strchr(name, '/');
    const int node = gnn_schema_need_ntype(c, name, type, e);
    if (node < 0 || check_ids(&c->ntype[node], name, "member", ids, n, e))
        return e->code;
    if (!slash)
        return gnn_fail(e, GNN_E_USAGE, "set '%s': expected SPLIT/SET", name);
    char *split = gnn_strf(e, "%.*s", (int)(slash - name), name);
    if (split && !gnn_grow(&b->set, c->nsets, sizeof *b->set, "sets", e) &&
        !gnn_schema_add_set(c, split, slash + 1, (uint32_t)node, n, e))
        b->set[c->nsets - 1] = ids;
    gnn_free(split);
    return e->code;
}

int gnn_builder_set(struct gnn_builder *b, const char *name, const char *type, const uint32_t *ids,
                    uint64_t n)
{
    struct gnn_err *e = gnn_api_err();
    return end_call(b, add_set(b, name, type, ids, n, e), e);
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
    if (b->failed.code)
        return gnn_fail_as(e, &b->failed);
    if (!b->d.schema.nntypes)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: a graph without node types: gnn_builder_nodes adds them", path);
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
