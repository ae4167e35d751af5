/* SPDX-License-Identifier: Apache-2.0 */
/* The schema as JSON: the writer's order of keys is fixed, so equal schemas give equal bytes. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/class_names.h"
#include "lib/data/schema.h"
#include "lib/data/standard.h"

static json_t *fields_to_json(const struct gnn_field *f, uint32_t n)
{
    json_t *a = json_array();
    for (uint32_t i = 0; i < n; i++) {
        json_t *o = json_pack("{s:s,s:s,s:I}", "name", f[i].name, "dtype",
                              gnn_dtype_name(f[i].dtype), "width", (json_int_t)f[i].width);
        int bad =
            f[i].standard &&
            json_object_set_new(o, "standardized",
                                gnn_standard_to_json(f[i].standard, gnn_field_columns(&f[i])));
        bad |= f[i].scaled && json_object_set_new(o, "scaled", json_true());
        if (json_array_append_new(a, o) || bad) {
            json_decref(a);
            return NULL;
        }
    }
    return a;
}

static json_t *set_to_json(const struct gnn_schema *s, const struct gnn_split_set *t)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (!t->links)
        return json_pack("{s:s,s:s,s:s,s:I}", "split", t->split, "set", t->set, "node_type",
                         s->ntype[t->ntype].name, "count", (json_int_t)t->count);
    return json_pack("{s:s,s:s,s:s,s:s*,s:o*,s:o*,s:I}", "split", t->split, "set", t->set, "links",
                     gnn_etype_key(s, t->etype, key, sizeof key), "time",
                     t->time ? gnn_dtype_name(t->time) : NULL, "fields",
                     t->fields ? json_true() : NULL, "messages", t->messages ? json_true() : NULL,
                     "count", (json_int_t)t->count);
}

json_t *gnn_schema_to_json(const struct gnn_schema *s, struct gnn_err *e)
{
    json_t *nt = json_array(), *et = json_array(), *sets = json_array();
    char key[GNN_ETYPE_KEY_CAPACITY];
    int bad = !nt || !et || !sets;
    for (uint32_t i = 0; !bad && i < s->nntypes; i++)
        bad |= json_array_append_new(
            nt, json_pack("{s:s,s:I,s:o}", "name", s->ntype[i].name, "count",
                          (json_int_t)s->ntype[i].count, "fields",
                          fields_to_json(s->ntype[i].field, s->ntype[i].nfields)));
    for (uint32_t i = 0; !bad && i < s->netypes; i++) {
        const struct gnn_etype *t = &s->etype[i];
        json_t *o = json_pack("{s:s,s:s,s:s,s:I,s:o}", "src", s->ntype[t->src].name, "rel", t->rel,
                              "dst", s->ntype[t->dst].name, "count", (json_int_t)t->count, "fields",
                              fields_to_json(t->field, t->nfields));
        bad |= t->order && json_object_set_new(o, "order", json_string(t->order));
        bad |=
            t->reverse_of &&
            json_object_set_new(o, "reverse_of",
                                json_string(gnn_etype_key(s, t->reverse_of - 1, key, sizeof key)));
        bad |= json_array_append_new(et, o);
    }
    for (uint32_t i = 0; !bad && i < s->nsets; i++) {
        bad |= json_array_append_new(sets, set_to_json(s, &s->set[i]));
    }
    json_t *j = json_object();
    bad |= !j || json_object_set(j, "node_types", nt) || json_object_set(j, "edge_types", et) ||
           json_object_set(j, "splits", sets) ||
           json_object_set_new(j, "task", json_string(gnn_task_name(s->task))) ||
           (s->task &&
            json_object_set_new(j, "label_type", json_string(s->ntype[s->label_ntype].name))) ||
           json_object_set_new(j, "classes", json_integer(s->nclasses)) ||
           (s->class_name &&
            json_object_set_new(j, "class_names",
                                gnn_class_names_to_json(s->class_name, s->nclasses))) ||
           json_object_set_new(j, "parts", json_integer(s->nparts));
    json_decref(nt);
    json_decref(et);
    json_decref(sets);
    if (bad) {
        json_decref(j);
        gnn_fail_nomem(e, 0, "a JSON header");
        return NULL;
    }
    return j;
}

bool gnn_schema_equal(const struct gnn_schema *a, const struct gnn_schema *b, struct gnn_err *e)
{
    json_t *x = gnn_schema_to_json(a, e), *y = gnn_schema_to_json(b, e);
    const bool equal = x && y && json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return equal;
}

static int get_count(const json_t *o, const char *key, uint64_t max, uint64_t *v, struct gnn_err *e)
{
    const json_t *j = json_object_get(o, key);
    if (!json_is_integer(j) || json_integer_value(j) < 0 || (uint64_t)json_integer_value(j) > max)
        return gnn_fail(e, GNN_E_INPUT, "schema: '%s' is missing or out of range", key);
    *v = (uint64_t)json_integer_value(j);
    return 0;
}

static int get_string(const json_t *o, const char *key, const char **v, struct gnn_err *e)
{
    *v = json_string_value(json_object_get(o, key));
    return *v ? 0 : gnn_fail(e, GNN_E_INPUT, "schema: '%s' is missing or not a string", key);
}

static int get_ntype(const struct gnn_schema *s, const json_t *o, const char *key, uint32_t *v,
                     struct gnn_err *e)
{
    const char *name;
    int rc = get_string(o, key, &name, e);
    if (rc)
        return rc;
    int t = gnn_schema_find_ntype(s, name);
    if (t < 0)
        return gnn_fail(e, GNN_E_INPUT, "schema: there is no node type '%.64s'", name);
    *v = (uint32_t)t;
    return 0;
}

/* Absent where the last node field is as in the data set. */
static int get_standard(struct gnn_schema *s, const json_t *o, struct gnn_err *e)
{
    const struct gnn_ntype *t = &s->ntype[s->nntypes - 1];
    const struct gnn_field *f = &t->field[t->nfields - 1];
    const json_t *j = json_object_get(o, "standardized");
    struct gnn_err why = {0};
    if (!j)
        return GNN_OK;
    double *standard = gnn_standard_from_json(j, gnn_field_columns(f), &why);
    if (!standard)
        return gnn_fail(e, (enum gnn_status)why.code, "schema: field '%s' of node type '%.70s': %s",
                        f->name, t->name, why.msg);
    int rc = gnn_schema_set_standard(s, s->nntypes - 1, f->name, standard, e);
    gnn_free(standard);
    return rc;
}

/* Absent where the last node field has no scales. */
static int get_scaled(struct gnn_schema *s, const json_t *o, struct gnn_err *e)
{
    const struct gnn_ntype *t = &s->ntype[s->nntypes - 1];
    const struct gnn_field *f = &t->field[t->nfields - 1];
    struct gnn_err why = {0};
    if (!json_object_get(o, "scaled"))
        return GNN_OK;
    if (!json_is_true(json_object_get(o, "scaled")))
        gnn_fail(&why, GNN_E_INPUT, "'scaled' is not true");
    else
        (void)!gnn_schema_set_scaled(s, s->nntypes - 1, f->name, &why);
    return why.code ? gnn_fail(e, (enum gnn_status)why.code, "schema: node type '%.70s': %s",
                               t->name, why.msg)
                    : GNN_OK;
}

static int get_fields(struct gnn_schema *s, const json_t *o, bool node, struct gnn_err *e)
{
    const json_t *a = json_object_get(o, "fields"), *j;
    size_t i;
    if (!json_is_array(a))
        return gnn_fail(e, GNN_E_INPUT, "schema: 'fields' is missing or not an array");
    json_array_foreach((json_t *)a, i, j)
    {
        const char *name, *dtype;
        uint64_t width;
        int rc = get_string(j, "name", &name, e);
        if (!rc)
            rc = get_string(j, "dtype", &dtype, e);
        if (!rc)
            rc = get_count(j, "width", UINT32_MAX, &width, e);
        if (!rc && !gnn_dtype_parse(dtype))
            rc = gnn_fail(e, GNN_E_INPUT, "schema: unknown dtype '%.20s'", dtype);
        if (!rc)
            rc = node ? gnn_schema_add_nfield(s, s->nntypes - 1, name, gnn_dtype_parse(dtype),
                                              width, e)
                      : gnn_schema_add_efield(s, s->netypes - 1, name, gnn_dtype_parse(dtype),
                                              width, e);
        if (!rc && node)
            rc = get_standard(s, j, e) || get_scaled(s, j, e) ? e->code : GNN_OK;
        if (rc)
            return rc;
    }
    return 0;
}

/* Absent where edges are in no such order. */
static int get_order(struct gnn_schema *s, const json_t *o, struct gnn_err *e)
{
    const char *field;
    if (!json_object_get(o, "order"))
        return 0;
    int rc = get_string(o, "order", &field, e);
    return rc ? rc : gnn_schema_set_order(s, s->netypes - 1, field, e);
}

/* Absent where names tell reverses, or there are none. All edge types are there. */
static int get_reverse(struct gnn_schema *s, uint32_t etype, const json_t *o, struct gnn_err *e)
{
    const char *key;
    if (!json_object_get(o, "reverse_of"))
        return 0;
    int rc = get_string(o, "reverse_of", &key, e);
    if (rc)
        return rc;
    const int of = gnn_schema_find_etype(s, key);
    return of < 0 ? gnn_fail(e, GNN_E_INPUT, "schema: there is no edge type '%.64s'", key)
                  : gnn_schema_set_reverse(s, etype, (uint32_t)of, e);
}

static int get_links(struct gnn_schema *s, const json_t *o, const char *split, const char *set,
                     struct gnn_err *e)
{
    const char *key, *time = NULL;
    uint64_t count;
    int rc = get_string(o, "links", &key, e);
    if (!rc && json_object_get(o, "time"))
        rc = get_string(o, "time", &time, e);
    if (!rc)
        rc = get_count(o, "count", INT64_MAX, &count, e);
    if (rc)
        return rc;
    const int t = gnn_schema_find_etype(s, key);
    if (t < 0)
        return gnn_fail(e, GNN_E_INPUT, "schema: there is no edge type '%.64s'", key);
    if (time && !gnn_dtype_parse(time))
        return gnn_fail(e, GNN_E_INPUT, "schema: unknown dtype '%.20s'", time);
    if (gnn_schema_add_links(s, split, set, (uint32_t)t, time ? gnn_dtype_parse(time) : 0, count,
                             e))
        return e->code;
    s->set[s->nsets - 1].fields = json_is_true(json_object_get(o, "fields"));
    s->set[s->nsets - 1].messages = json_is_true(json_object_get(o, "messages"));
    return 0;
}

static int get_set(struct gnn_schema *s, const json_t *o, struct gnn_err *e)
{
    uint32_t t;
    uint64_t count;
    const char *split, *set;
    int rc = get_string(o, "split", &split, e);
    if (!rc)
        rc = get_string(o, "set", &set, e);
    if (!rc && json_object_get(o, "links"))
        return get_links(s, o, split, set, e);
    if (!rc)
        rc = get_ntype(s, o, "node_type", &t, e);
    if (!rc)
        rc = get_count(o, "count", UINT32_MAX, &count, e);
    return rc ? rc : gnn_schema_add_set(s, split, set, t, count, e);
}

static int read_types(struct gnn_schema *s, const json_t *j, struct gnn_err *e)
{
    const json_t *o;
    size_t i;
    int rc = 0;
    uint64_t count;
    const char *name;
    static const char *const lists[] = {"node_types", "edge_types", "splits"};
    for (i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!json_is_array(json_object_get(j, lists[i])))
            return gnn_fail(e, GNN_E_INPUT, "schema: '%s' is missing or not an array", lists[i]);
    if (!json_array_size(json_object_get(j, "node_types")))
        return gnn_fail(e, GNN_E_INPUT, "schema: there are no node types");
    json_array_foreach(json_object_get(j, "node_types"), i, o)
    {
        if ((rc = get_string(o, "name", &name, e)) ||
            (rc = get_count(o, "count", UINT32_MAX - 1u, &count, e)) ||
            (rc = gnn_schema_add_ntype(s, name, count, e)) || (rc = get_fields(s, o, true, e)))
            return rc;
    }
    json_array_foreach(json_object_get(j, "edge_types"), i, o)
    {
        uint32_t src, dst;
        if ((rc = get_ntype(s, o, "src", &src, e)) || (rc = get_string(o, "rel", &name, e)) ||
            (rc = get_ntype(s, o, "dst", &dst, e)) ||
            (rc = get_count(o, "count", (uint64_t)INT64_MAX / 8, &count, e)) ||
            (rc = gnn_schema_add_etype(s, src, name, dst, count, e)) ||
            (rc = get_fields(s, o, false, e)) || (rc = get_order(s, o, e)))
            return rc;
    }
    json_array_foreach(json_object_get(j, "edge_types"), i, o)
    {
        if ((rc = get_reverse(s, (uint32_t)i, o, e)))
            return rc;
    }
    json_array_foreach(json_object_get(j, "splits"), i, o)
    {
        if ((rc = get_set(s, o, e)))
            return rc;
    }
    return 0;
}

static int read_task(struct gnn_schema *s, const json_t *j, struct gnn_err *e)
{
    const char *task;
    uint64_t classes, parts;
    int rc = get_string(j, "task", &task, e);
    const int t = rc ? -1 : gnn_task_find(task);
    if (!rc) /* as many as can be imported */
        rc =
            get_count(j, "classes", t > 0 && gnn_task_columns((enum gnn_task)t) ? 1 << 20 : 1 << 16,
                      &classes, e);
    if (!rc)
        rc = get_count(j, "parts", 1u << 20, &parts, e);
    if (rc)
        return rc;
    s->nclasses = (uint32_t)classes;
    s->nparts = (uint32_t)parts;
    if (t < 0)
        return gnn_fail(e, GNN_E_INPUT, "schema: unknown task '%.40s'", task);
    s->task = (enum gnn_task)t;
    if (gnn_task_labels[t].classes && classes != gnn_task_labels[t].classes)
        return gnn_fail(e, GNN_E_INPUT, "schema: %llu classes of a %s task",
                        (unsigned long long)classes, task);
    return t ? get_ntype(s, j, "label_type", &s->label_ntype, e) : 0;
}

/* Absent where classes are numbers. */
static int read_classes(struct gnn_schema *s, const json_t *j, struct gnn_err *e)
{
    const json_t *list = json_object_get(j, "class_names");
    struct gnn_err why = {0};
    if (list && !s->nclasses)
        return gnn_fail(e, GNN_E_INPUT, "schema: names of classes where there are none");
    if (list && !(s->class_name = gnn_class_names_from_json(list, s->nclasses, &why)))
        return gnn_fail(e, (enum gnn_status)why.code, "schema: %s", why.msg);
    return GNN_OK;
}

int gnn_schema_from_json(struct gnn_schema *s, const json_t *j, struct gnn_err *e)
{
    struct gnn_schema c = {0};
    int rc = 0;
    if (!json_is_object(j))
        rc = gnn_fail(e, GNN_E_INPUT, "schema: not a JSON object");
    if (!rc)
        rc = read_types(&c, j, e);
    if (!rc)
        rc = read_task(&c, j, e);
    if (!rc)
        rc = read_classes(&c, j, e);
    if (rc)
        gnn_schema_release(&c);
    *s = c;
    return rc;
}
