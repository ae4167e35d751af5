/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of files of DGL (lib/import/read/dgl_arrays.h). */
#include "lib/import/read/dgl_arrays.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

enum { NAME_BYTES = 63 };

bool gnn_dgl_arrays_begin(const uint8_t *p, size_t n)
{
    return gnn_dgl_is_graphs(p, n) || gnn_dgl_is_tensors(p, n);
}

/* ---- files ---- */

static void free_file(void *p)
{
    gnn_dgl_release(p);
    gnn_free(p);
}

static int say_why(int bad, uint64_t n, const char *name, const char *why, struct gnn_err *e)
{
    return bad == GNN_DGL_NO_MEMORY ? gnn_fail_nomem(e, n, "a file of DGL")
           : bad                    ? gnn_fail(e, GNN_E_INPUT, "%s: %s", name, why)
                                    : GNN_OK;
}

int gnn_dgl_arrays_open(const struct gnn_dgl_file **f, struct gnn_array_list *l, const char *path,
                        struct gnn_stage *s, const char *name, struct gnn_err *e)
{
    char why[512];
    const uint8_t *bytes;
    uint64_t n;
    struct gnn_dgl_file *file = gnn_alloc_zero(1, sizeof *file, "input", e);
    int rc = file ? gnn_array_list_hold(l, file, free_file, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_array_list_bytes(l, path, s, &bytes, &n, e);
    if (rc)
        return rc;
    *f = file;
    return say_why(gnn_dgl_open(file, bytes, n, why, sizeof why), n, name, why, e);
}

static void free_graph(void *p)
{
    gnn_dgl_graph_release(p);
    gnn_free(p);
}

int gnn_dgl_arrays_graph(const struct gnn_dgl_graph **g, struct gnn_array_list *l,
                         const struct gnn_dgl_file *f, const char *name, struct gnn_err *e)
{
    char why[512];
    if (!f->is_graphs)
        return gnn_fail(e, GNN_E_INPUT, "%s: a dictionary of tensors of DGL, not a graph", name);
    if (f->graphs != 1)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: a file of %llu graphs of DGL, of which a store holds one; save the "
                        "one that is meant: dgl.save_graphs(FILE, [graphs[0]])",
                        name, (unsigned long long)f->graphs);
    struct gnn_dgl_graph *graph = gnn_alloc_zero(1, sizeof *graph, "input", e);
    int rc = graph ? gnn_array_list_hold(l, graph, free_graph, e) : GNN_E_NOMEM;
    if (rc)
        return rc;
    *g = graph;
    return say_why(gnn_dgl_graph_read(graph, f, 0, why, sizeof why), f->nbytes, name, why, e);
}

int gnn_dgl_arrays_ends(struct gnn_strided end[2], struct gnn_array_list *l,
                        const struct gnn_dgl_etype *t, const char *name, const char *what,
                        struct gnn_err *e)
{
    char why[512];
    end[0] = t->first;
    end[1] = t->second;
    if (gnn_dgl_edges_plain(t))
        return GNN_OK;
    int64_t *ids = gnn_alloc(t->count * 2, sizeof *ids, "edges", e);
    int rc = ids ? gnn_array_list_hold(l, ids, gnn_free, e) : GNN_E_NOMEM;
    if (!rc && gnn_dgl_edges(t, ids, ids + t->count, why, sizeof why))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %s: %s", name, what, why);
    for (int i = 0; !rc && i < 2; i++)
        end[i] = (struct gnn_strided){.dtype = GNN_I64,
                                      .dense = true,
                                      .ndim = 1,
                                      .shape = {t->count},
                                      .stride = {1},
                                      .count = t->count,
                                      .data = (const uint8_t *)(ids + (uint64_t)i * t->count)};
    return rc;
}

/* ---- names ---- */

bool gnn_dgl_arrays_is_name(const char *name)
{
    const size_t n = strlen(name);
    bool good = n && n <= NAME_BYTES;
    for (size_t i = 0; good && i < n; i++)
        good = name[i] > ' ' && name[i] <= '~' && !strchr("/=,:", name[i]);
    return good;
}

const char *gnn_dgl_arrays_type(const char *name)
{
    return !strcmp(name, "_N") ? "node" : name;
}

char *gnn_dgl_arrays_etype(const char *src, const char *rel, const char *dst, const char *file,
                           struct gnn_err *e)
{
    char shown[128];
    const char *word[] = {src, rel, dst};
    for (int i = 0; i < 3; i++)
        if (!gnn_dgl_arrays_is_name(word[i])) {
            gnn_fail(e, GNN_E_INPUT, "%s: a type called '%s', a name that stores cannot have", file,
                     gnn_text_shown(shown, sizeof shown, word[i], strlen(word[i])));
            return NULL;
        }
    return gnn_strf(e, "%s/%s/%s", gnn_dgl_arrays_type(src), !strcmp(rel, "_E") ? "to" : rel,
                    gnn_dgl_arrays_type(dst));
}

bool gnn_dgl_arrays_field(const char *name)
{
    static const char *const others[] = {
        "src",           "row",       "edge_src",       "dst",
        "col",           "edge_dst",  "edge_index",     "edges",
        "edge_list",     "num_nodes", "num_nodes_list", "num_edges",
        "num_edges_list"};
    bool is = gnn_dgl_arrays_is_name(name);
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        is = is && strcmp(name, others[i]) != 0;
    return is;
}

/* ---- a graph ---- */

static int leave_out(struct gnn_array_list *l, const char *what, const char *of, const char *name,
                     struct gnn_err *e)
{
    char shown[128];
    return gnn_array_list_leave(
        l,
        gnn_strf(e, "%s%s (%s)", of, gnn_text_shown(shown, sizeof shown, name, strlen(name)), what),
        e);
}

static int by_name(const void *a, const void *b)
{
    const struct gnn_word *x = &(*(const struct gnn_dgl_tensor *const *)a)->name,
                          *y = &(*(const struct gnn_dgl_tensor *const *)b)->name;
    const int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* Tensors in the order of their names: in a file they have none. Free with gnn_free. */
static const struct gnn_dgl_tensor **sort_tensors(const struct gnn_dgl_tensors *t,
                                                  struct gnn_err *e)
{
    const struct gnn_dgl_tensor **sorted = gnn_alloc(t->n, sizeof *sorted, "tensors", e);
    for (uint64_t i = 0; sorted && i < t->n; i++)
        sorted[i] = &t->tensor[i];
    if (sorted)
        qsort(sorted, t->n, sizeof *sorted, by_name);
    return sorted;
}

static int add_tensor(struct gnn_array_list *l, const char *prefix, const struct gnn_dgl_tensor *t,
                      struct gnn_err *e)
{
    char *field = gnn_strf(e, "%.*s", (int)t->name.n, t->name.p);
    int rc = GNN_E_NOMEM;
    if (field && gnn_dgl_arrays_field(field))
        rc = gnn_array_list_add(l, prefix, field, &t->values, e);
    else if (field)
        rc = leave_out(l, "a tensor of a name that fields cannot have", prefix, field, e);
    gnn_free(field);
    return rc;
}

static int add_tensors(struct gnn_array_list *l, const char *type, const struct gnn_dgl_tensors *t,
                       struct gnn_err *e)
{
    const struct gnn_dgl_tensor **sorted = sort_tensors(t, e);
    char *prefix = gnn_strf(e, "%s/", type);
    int rc = sorted && prefix ? GNN_OK : GNN_E_NOMEM;
    for (uint64_t i = 0; !rc && i < t->n; i++)
        rc = add_tensor(l, prefix, sorted[i], e);
    gnn_free(prefix);
    gnn_free(sorted);
    return rc;
}

/* The names of node types, each its own. */
static int name_types(char **name, const struct gnn_dgl_graph *g, const char *file,
                      struct gnn_err *e)
{
    for (uint32_t i = 0; i < g->ntypes; i++) {
        const struct gnn_word *w = &g->ntype[i].name;
        name[i] = gnn_strf(e, "%.*s", (int)w->n, w->p);
        if (!name[i])
            return GNN_E_NOMEM;
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(name[i], name[k]))
                return gnn_fail(e, GNN_E_INPUT,
                                "%s: two node types have one name, as in a block of dgl.to_block, "
                                "which is not read",
                                file);
    }
    return GNN_OK;
}

static int add_nodes(struct gnn_array_list *l, const struct gnn_dgl_graph *g, char *const *name,
                     struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < g->ntypes; i++) {
        const char *type = gnn_dgl_arrays_type(name[i]);
        char *prefix = gnn_strf(e, "%s/", type);
        rc = prefix ? gnn_array_list_number(l, prefix, "num_nodes", (int64_t)g->ntype[i].count, e)
                    : GNN_E_NOMEM;
        gnn_free(prefix);
        if (!rc)
            rc = add_tensors(l, type, &g->ntype[i].tensors, e);
    }
    return rc;
}

static int add_etype(struct gnn_array_list *l, const struct gnn_dgl_etype *t, char *const *name,
                     const char *file, struct gnn_err *e)
{
    struct gnn_strided end[2];
    char *rel = gnn_strf(e, "%.*s", (int)t->name.n, t->name.p), *type = NULL, *prefix = NULL;
    int rc = rel ? GNN_OK : GNN_E_NOMEM;
    if (!rc && !(type = gnn_dgl_arrays_etype(name[t->src], rel, name[t->dst], file, e)))
        rc = e->code;
    if (!rc)
        rc = gnn_dgl_arrays_ends(end, l, t, file, type, e);
    if (!rc && !(prefix = gnn_strf(e, "%s/", type)))
        rc = GNN_E_NOMEM;
    if (!rc)
        rc = gnn_array_list_add(l, prefix, "src", &end[0], e);
    if (!rc)
        rc = gnn_array_list_add(l, prefix, "dst", &end[1], e);
    if (!rc)
        rc = add_tensors(l, type, &t->tensors, e);
    gnn_free(rel);
    gnn_free(type);
    gnn_free(prefix);
    return rc;
}

static int add_graph(struct gnn_array_list *l, const struct gnn_dgl_graph *g, const char *file,
                     struct gnn_err *e)
{
    char **name = gnn_alloc_zero(g->ntypes, sizeof *name, "node types", e);
    int rc = name ? name_types(name, g, file, e) : GNN_E_NOMEM;
    l->typed = true;
    if (!rc)
        rc = add_nodes(l, g, name, e);
    for (uint32_t i = 0; !rc && i < g->etypes; i++)
        rc = add_etype(l, &g->etype[i], name, file, e);
    for (uint32_t i = 0; name && i < g->ntypes; i++)
        gnn_free(name[i]);
    gnn_free(name);
    return rc;
}

/* The labels of a file are of its graphs, and not of nodes. */
static int leave_labels(struct gnn_array_list *l, const struct gnn_dgl_file *f, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < f->tensors.n; i++) {
        const struct gnn_word *w = &f->tensors.tensor[i].name;
        char *label = gnn_strf(e, "%.*s", (int)w->n, w->p);
        rc = label ? leave_out(l, "a label of the whole graph", "", label, e) : GNN_E_NOMEM;
        gnn_free(label);
    }
    return rc;
}

/* Tensors of a dictionary, which options can name. */
static int add_dictionary(struct gnn_array_list *l, const struct gnn_dgl_file *f, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < f->tensors.n; i++) {
        const struct gnn_dgl_tensor *t = &f->tensors.tensor[i];
        char *key = gnn_strf(e, "%.*s", (int)t->name.n, t->name.p);
        rc = key ? gnn_array_list_add(l, "", key, &t->values, e) : GNN_E_NOMEM;
        gnn_free(key);
    }
    return rc;
}

int gnn_dgl_arrays_add(struct gnn_array_list *l, const char *path, struct gnn_stage *s,
                       const char *name, struct gnn_err *e)
{
    const struct gnn_dgl_file *f;
    const struct gnn_dgl_graph *g;
    int rc = gnn_dgl_arrays_open(&f, l, path, s, name, e);
    if (rc || !f->is_graphs)
        return rc ? rc : add_dictionary(l, f, e);
    rc = gnn_dgl_arrays_graph(&g, l, f, name, e);
    if (!rc)
        rc = add_graph(l, g, name, e);
    return rc ? rc : leave_labels(l, f, e);
}
