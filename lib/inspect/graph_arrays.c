/* SPDX-License-Identifier: Apache-2.0 */
/* Which arrays a graph has, and what they are called (lib/inspect/graph_arrays.h). */
#include "lib/inspect/graph_arrays.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/data/tensors.h"
#include "lib/import/read/roles.h"
#include "lib/inspect/graph_sets.h"
#include "lib/inspect/member_name.h"

/* ---- names ---- */

/* The array that gnn-import reads as a field of nodes. */
static const char *node_name(bool plain, const char *field)
{
    return plain && !strcmp(field, "time") ? "node_time" : field;
}

static const char *edge_name(bool plain, const char *field)
{
    static const char *const known[][2] = {{"x", "edge_attr"}, {"weight", "edge_weight"}};
    for (int i = 0; i < 2; i++)
        if (!strcmp(field, known[i][0]))
            return known[i][1];
    return plain && !strcmp(field, "time") ? "edge_time" : field;
}

/* Whether gnn-import reads an array of this name as the field. */
static bool names_field(const char *name, const char *field)
{
    static const char *const taken[] = {"edges",     "edge_index", "src",        "dst",
                                        "num_nodes", "num_edges",  "adj_data",   "adj_indptr",
                                        "adj_shape", "adj_format", "adj_indices"};
    static const char *const ends[] = {"_mask", "_ids", "_idx"};
    const char *role = gnn_role_meant(name);
    bool is = !strcmp(gnn_role_field(role), field);
    for (unsigned i = 0; i < sizeof taken / sizeof *taken; i++)
        is = is && strcmp(role, taken[i]) != 0;
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        is = is && !gnn_ends_with(role, ends[i]);
    return is && strncmp(role, "attr_", 5) != 0;
}

/* Whether a name without a type says whose field it is. Other integers than i64 would be widened.
 */
static bool is_plain_field(const struct gnn_schema *c, bool edges, const struct gnn_field *f)
{
    const char *name = edges ? edge_name(true, f->name) : node_name(true, f->name);
    const enum gnn_owner owner = gnn_role_owner(gnn_role_meant(name));
    const bool kept = f->dtype == GNN_I64 || f->dtype == GNN_F32 || f->dtype == GNN_F64 ||
                      !strcmp(f->name, "x") || !strcmp(f->name, "y");
    return kept && names_field(name, f->name) &&
           (owner == GNN_OF_ANY ? c->ntype[0].count != c->etype[0].count
                                : owner == (edges ? GNN_OF_EDGES : GNN_OF_NODES));
}

/* Whether fields have the order in which gnn-import reads arrays without types: that of the names
 * of their files. */
static bool is_ordered(bool edges, const struct gnn_field *f, uint32_t n)
{
    char file[2][GNN_WORD_MAX + 16] = {"", ""};
    bool ordered = true;
    for (uint32_t i = 0; i < n; i++) {
        snprintf(file[1], sizeof file[1], "%s.npy",
                 edges ? edge_name(true, f[i].name) : node_name(true, f[i].name));
        const bool derived = edges && !strcmp(f[i].name, GNN_EFFECTIVE_TIME);
        ordered = ordered && (derived || strcmp(file[0], file[1]) < 0);
        if (!derived)
            memcpy(file[0], file[1], sizeof *file);
    }
    return ordered;
}

static bool is_plain(const struct gnn_schema *c)
{
    if (c->nntypes != 1 || c->netypes != 1 || strcmp(c->ntype[0].name, "node") != 0 ||
        strcmp(c->etype[0].rel, "to") != 0)
        return false;
    bool plain = is_ordered(false, c->ntype[0].field, c->ntype[0].nfields) &&
                 is_ordered(true, c->etype[0].field, c->etype[0].nfields);
    for (uint32_t f = 0; f < c->ntype[0].nfields; f++)
        plain = plain && is_plain_field(c, false, &c->ntype[0].field[f]);
    for (uint32_t f = 0; f < c->etype[0].nfields; f++)
        plain = plain && (gnn_graph_derives(&c->etype[0], &c->etype[0].field[f]) ||
                          is_plain_field(c, true, &c->etype[0].field[f]));
    return plain;
}

bool gnn_graph_derives(const struct gnn_etype *t, const struct gnn_field *f)
{
    return gnn_etype_is_raised(t) && !strcmp(f->name, GNN_EFFECTIVE_TIME);
}

/* "TYPE/NAME", "S/R/D/NAME", or the name alone. */
static char *full_name(const struct gnn_graph_arrays *g, bool edges, uint32_t type,
                       const char *name, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->view->store->meta.schema;
    const struct gnn_etype *t = edges ? &c->etype[type] : NULL;
    const char *const word[] = {edges ? c->ntype[t->src].name : c->ntype[type].name,
                                edges ? t->rel : NULL, edges ? c->ntype[t->dst].name : NULL};
    char prefix[GNN_MEMBER_CAPACITY], *to = prefix;
    *to = 0;
    for (int k = 0; !g->plain && k < (edges ? 3 : 1); k++) {
        to = gnn_member_put(to, word[k], strlen(word[k]));
        *to++ = '/';
        *to = 0;
    }
    gnn_member_put(to, name, strlen(name));
    return gnn_strf(e, "%s", prefix);
}

static void leave_out(struct gnn_graph_arrays *g, const char *what)
{
    const size_t n = strlen(g->left_out);
    if (!strstr(g->left_out, what) && n + strlen(what) + 3 < sizeof g->left_out)
        snprintf(g->left_out + n, sizeof g->left_out - n, "%s%s", n ? ", " : "", what);
}

/* ---- the list ---- */

/* The array that is added, or NULL. Its name is that of a type's array. */
static struct gnn_graph_array *add_array(struct gnn_graph_arrays *g, bool edges, uint32_t type,
                                         const char *name, struct gnn_err *e)
{
    struct gnn_graph_array *a = gnn_alloc_zero(1, sizeof *a, "arrays", e);
    if (!a || gnn_grow(&g->array, g->n, sizeof *g->array, "arrays", e)) {
        gnn_free(a);
        return NULL;
    }
    g->array[g->n++] = a;
    a->view = g->view;
    a->edges = edges;
    a->type = type;
    a->name = full_name(g, edges, type, name, e);
    a->out = (struct gnn_array_out){.name = a->name, .dtype = GNN_I64, .from = a};
    return a->name ? a : NULL;
}

static int add_count(struct gnn_graph_arrays *g, uint32_t type, struct gnn_err *e)
{
    struct gnn_graph_array *a = add_array(g, false, type, "num_nodes", e);
    if (!a)
        return e->code;
    a->number = (int64_t)g->view->store->meta.schema.ntype[type].count;
    a->out.write = gnn_graph_write_number;
    return GNN_OK;
}

static int add_ends(struct gnn_graph_arrays *g, uint32_t type, struct gnn_err *e)
{
    struct gnn_graph_array *a = add_array(g, true, type, "edge_index", e);
    if (!a)
        return e->code;
    a->out.ndim = 2;
    a->out.shape[0] = 2;
    a->out.shape[1] = g->view->store->meta.schema.etype[type].count;
    a->out.write = gnn_graph_write_ends;
    return GNN_OK;
}

/* The element type that an array has of what the store has. */
static enum gnn_dtype type_of(const struct gnn_schema *c, bool edges, const struct gnn_field *f)
{
    const bool classes = !edges && !strcmp(f->name, "y") && f->dtype == GNN_I32 &&
                         (c->task == GNN_TASK_MULTICLASS || c->task == GNN_TASK_BINARY);
    return classes ? GNN_I64 : f->dtype == GNN_BF16 || f->scaled ? GNN_F32 : f->dtype;
}

const struct gnn_tensor **gnn_graph_array_parts(struct gnn_view *v, bool edges, uint32_t type,
                                                const char *field, struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    char key[GNN_ETYPE_KEY_CAPACITY];
    const char *owner = edges ? gnn_etype_key(&s->meta.schema, type, key, sizeof key)
                              : s->meta.schema.ntype[type].name;
    const struct gnn_tensor **part = gnn_alloc_zero(s->nparts, sizeof *part, "partitions", e);
    uint32_t found = 0;
    for (uint32_t p = 0; part && p < s->nparts; p++) {
        part[p] = gnn_store_findf(s, p, "%s/%s/%s", edges ? "edge" : "node", owner, field);
        found += part[p] != NULL;
    }
    for (uint32_t p = 0; found && !e->code && p < s->nparts; p++)
        if (!part[p] ||
            (!edges && (!part[p]->ndim || part[p]->shape[0] != gnn_store_owned(s, p, type))))
            gnn_fail(e, GNN_E_INPUT, "%s: tensor %s/%s/%s %s", gnn_store_part_path(s, p),
                     edges ? "edge" : "node", owner, field,
                     part[p] ? "has a wrong shape" : "is missing");
    if (found && !e->code)
        return part;
    gnn_free(part);
    return NULL;
}

static int add_field(struct gnn_graph_arrays *g, bool edges, uint32_t type,
                     const struct gnn_field *f, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->view->store->meta.schema;
    const char *name = edges ? edge_name(g->plain, f->name) : node_name(g->plain, f->name);
    struct gnn_graph_array *a = add_array(g, edges, type, name, e);
    if (!a)
        return e->code;
    a->field = f;
    a->part = gnn_graph_array_parts(g->view, edges, type, f->name, e);
    if (!a->part)
        return e->code ? e->code
                       : gnn_fail(e, GNN_E_INPUT, "%s: no tensor of field %s", g->view->store->path,
                                  f->name);
    a->out.dtype = type_of(c, edges, f);
    a->out.ndim = f->width ? 2 : 1;
    a->out.shape[0] = edges ? c->etype[type].count : c->ntype[type].count;
    a->out.shape[1] = f->width;
    a->out.write = gnn_graph_write_rows;
    if (f->standard)
        leave_out(g, "means and scales of standardized fields");
    if (f->scaled)
        leave_out(g, "that x is int8 with scales (as f32 here; --raw has both)");
    if (!names_field(name, f->name)) {
        char what[GNN_WORD_MAX + 64];
        snprintf(what, sizeof what, "what '%s' means (gnn-import reads %s)", f->name,
                 gnn_role_meant(name));
        leave_out(g, what);
    }
    return GNN_OK;
}

/* Ids of the data set, where these were numbers with gaps. */
static int add_keys(struct gnn_graph_arrays *g, uint32_t type, struct gnn_err *e)
{
    const struct gnn_ntype *t = &g->view->store->meta.schema.ntype[type];
    if (gnn_field_find(t->field, t->nfields, "key"))
        return GNN_OK;
    const struct gnn_tensor **part = gnn_graph_array_parts(g->view, false, type, "key", e);
    gnn_free(part);
    if (part)
        leave_out(g, "ids of the data set (--nodes TYPE writes them as CSV)");
    return e->code;
}

static void tell_words(struct gnn_graph_arrays *g, uint32_t type)
{
    struct gnn_store *s = g->view->store;
    char name[GNN_NAME_MAX + 1];
    gnn_tensor_name(name, "node/%s/name", s->meta.schema.ntype[type].name);
    if (gnn_store_look(s, 0, name))
        leave_out(g, "names of nodes (--nodes TYPE writes them as CSV)");
}

static int add_nodes(struct gnn_graph_arrays *g, uint32_t type, const struct gnn_set_form *form,
                     struct gnn_err *e)
{
    const struct gnn_schema *c = &g->view->store->meta.schema;
    const struct gnn_ntype *t = &c->ntype[type];
    int rc = add_count(g, type, e);
    for (uint32_t f = 0; !rc && f < t->nfields; f++)
        rc = add_field(g, false, type, &t->field[f], e);
    if (!rc)
        rc = add_keys(g, type, e);
    tell_words(g, type);
    for (uint32_t i = 0; !rc && i < c->nsets; i += form[i].nsets) {
        if (c->set[i].links || c->set[i].ntype != type)
            continue;
        struct gnn_graph_array *a =
            *form[i].name ? add_array(g, false, type, form[i].name, e) : NULL;
        if (!*form[i].name)
            leave_out(g, "sets of splits with a point in their name");
        if (!a)
            rc = e->code;
        else
            gnn_graph_set_fill(a, &form[i], i, c);
    }
    return rc;
}

static int add_edges(struct gnn_graph_arrays *g, uint32_t type, struct gnn_err *e)
{
    const struct gnn_etype *t = &g->view->store->meta.schema.etype[type];
    int rc = add_ends(g, type, e);
    for (uint32_t f = 0; !rc && f < t->nfields; f++)
        if (!gnn_graph_derives(t, &t->field[f]))
            rc = add_field(g, true, type, &t->field[f], e);
    return rc;
}

static void tell_schema(struct gnn_graph_arrays *g)
{
    const struct gnn_schema *c = &g->view->store->meta.schema;
    if (c->class_name)
        leave_out(g, "names of classes");
    for (uint32_t i = 0; i < c->nsets; i++)
        if (c->set[i].links)
            leave_out(g, "sets of links");
}

int gnn_graph_arrays_init(struct gnn_graph_arrays *g, struct gnn_view *v, struct gnn_err *e)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    *g = (struct gnn_graph_arrays){.view = v, .plain = is_plain(c)};
    struct gnn_set_form *form = NULL;
    int rc = gnn_graph_set_forms(v, &form, e);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = add_nodes(g, t, form, e);
    for (uint32_t t = 0; !rc && t < c->netypes; t++)
        rc = add_edges(g, t, e);
    tell_schema(g);
    gnn_free(form);
    return rc;
}

void gnn_graph_arrays_release(struct gnn_graph_arrays *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        gnn_free(g->array[i]->part);
        gnn_free(g->array[i]->name);
        gnn_free(g->array[i]);
    }
    gnn_free(g->array);
    *g = (struct gnn_graph_arrays){0};
}
