/* SPDX-License-Identifier: Apache-2.0 */
/* Original ids of a partition of DGL (lib/import/read/dgl_origin.h). */
#include "lib/import/read/dgl_origin.h"

#include <string.h>
#include <unistd.h>

#include "formats/npy.h"
#include "lib/import/read/array_map.h"
#include "lib/import/read/dgl_arrays.h"
#include "lib/import/read/value_file.h"
#include "lib/base/mem.h"
#include "lib/base/path.h"
#include "lib/base/plural.h"

enum { BLOCK = 4096 };

/* ---- arrays ---- */

int gnn_dgl_origin_make(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                        const char *file, struct gnn_err *e)
{
    *o = (struct gnn_dgl_origin){.of = of, .what = what};
    o->file = gnn_strdup(file, e);
    o->id = gnn_alloc_zero(of->n, sizeof *o->id, "original ids", e);
    o->order = gnn_alloc_zero(of->n, sizeof *o->order, "original ids", e);
    for (uint32_t t = 0; o->id && t < of->n; t++) {
        o->id[t] = gnn_alloc(of->type[t].count, sizeof **o->id, "original ids", e);
        if (o->id[t])
            memset(o->id[t], 0xff, of->type[t].count * sizeof **o->id);
    }
    return e->code ? e->code : GNN_OK;
}

void gnn_dgl_origin_release(struct gnn_dgl_origin *o)
{
    for (uint32_t t = 0; o->of && t < o->of->n; t++) {
        if (o->id)
            gnn_free(o->id[t]);
        if (o->order)
            gnn_free(o->order[t]);
    }
    gnn_free(o->id);
    gnn_free(o->order);
    gnn_free(o->file);
    *o = (struct gnn_dgl_origin){0};
}

int gnn_dgl_origin_set(struct gnn_dgl_origin *o, uint32_t type, uint64_t id, int64_t original,
                       struct gnn_err *e)
{
    const struct gnn_dgl_type *t = &o->of->type[type];
    if (original < 0 || (uint64_t)original >= t->count)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: original id %lld of %s of type '%.100s', of which "
                        "there are %llu",
                        o->file, (long long)original, o->what, t->name,
                        (unsigned long long)t->count);
    o->id[type][id] = (uint64_t)original;
    return GNN_OK;
}

static int fail_missing(const struct gnn_dgl_origin *o, uint32_t type, uint64_t id,
                        struct gnn_err *e)
{
    const struct gnn_dgl_type *t = &o->of->type[type];
    uint32_t part = 0;
    while (t->before[part + 1] <= id)
        part++;
    return gnn_fail(e, GNN_E_INPUT,
                    "%s has original ids of %s; there are none of type '%.100s' in part %u",
                    o->file, o->what, t->name, part);
}

int gnn_dgl_origin_of(const struct gnn_dgl_origin *o, uint32_t type, uint64_t id,
                      uint64_t *original, struct gnn_err *e)
{
    *original = o->id ? o->id[type][id] : id;
    return *original == UINT64_MAX ? fail_missing(o, type, id, e) : GNN_OK;
}

int gnn_dgl_origin_finish(struct gnn_dgl_origin *o, struct gnn_err *e)
{
    for (uint32_t t = 0; o->id && t < o->of->n; t++) {
        const struct gnn_dgl_type *type = &o->of->type[t];
        uint64_t *order = o->order[t] = gnn_alloc(type->count, sizeof *order, "original ids", e);
        if (!order)
            return GNN_E_NOMEM;
        memset(order, 0xff, type->count * sizeof *order);
        for (uint64_t i = 0; i < type->count; i++) {
            const uint64_t original = o->id[t][i];
            if (original == UINT64_MAX)
                return fail_missing(o, t, i, e);
            if (order[original] != UINT64_MAX)
                return gnn_fail(e, GNN_E_INPUT, "%s: two %s of type '%.100s' have original id %llu",
                                o->file, o->what, type->name, (unsigned long long)original);
            order[original] = i;
        }
    }
    return GNN_OK;
}

/* ---- from files ---- */

/* Whether "u:rel:v" is a type that the JSON, of DGL 1.0 or older, calls "rel". */
static bool is_relation(const struct gnn_dgl_type *t, const char *name)
{
    const char *first = strchr(name, ':'), *last = strrchr(name, ':');
    const size_t n = first && last != first ? (size_t)(last - first - 1) : 0;
    return t->rel && !strcmp(t->rel, t->name) && n && strlen(t->rel) == n &&
           !memcmp(first + 1, t->rel, n);
}

/* The type that a tensor is of, by its name, or as the only one; -1: none. */
static int find_type(const struct gnn_dgl_ids *of, const char *name, bool alone)
{
    for (uint32_t t = 0; t < of->n; t++)
        if (!strcmp(of->type[t].name, name) || is_relation(&of->type[t], name))
            return (int)t;
    return alone && of->n == 1 ? 0 : -1;
}

/* Takes the ids of a type from `first` on from an array of n. */
static int take_ids(struct gnn_dgl_origin *o, const struct gnn_listed_array *a, uint32_t type,
                    uint64_t first, uint64_t n, struct gnn_err *e)
{
    const struct gnn_strided *s = a->piece;
    uint8_t raw[BLOCK * 8];
    int64_t id[BLOCK];
    uint64_t bad;
    int rc = GNN_OK;
    if (s->ndim != 1 || s->is_bool || s->dtype >= GNN_F16 || s->count != n)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: '%.100s' has %llu value%s; the ids of %llu %s of type "
                        "'%.100s' are expected",
                        o->file, a->name, (unsigned long long)s->count, gnn_plural(s->count),
                        (unsigned long long)n, o->what, o->of->type[type].name);
    for (uint64_t at = 0; !rc && at < n; at += BLOCK) {
        const uint64_t k = n - at < BLOCK ? n - at : BLOCK;
        gnn_strided_copy(s, at, k, raw);
        if (!gnn_npy_to_i64(s->dtype, raw, id, k, &bad))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: '%.100s': value %llu is no id", o->file, a->name,
                          (unsigned long long)(at + bad));
        for (uint64_t i = 0; !rc && i < k; i++)
            rc = gnn_dgl_origin_set(o, type, first + at + i, id[i], e);
    }
    return rc;
}

/* The name of a key: of a tuple, as DGL has it in names. NULL: no memory, or not one. */
static char *name_key(const struct gnn_pickle *p, const struct gnn_pickle_value *key,
                      struct gnn_err *e)
{
    struct gnn_word w[3];
    if (gnn_pickle_text(p, key, w))
        return gnn_strf(e, "%.*s", (int)w->n, w->p);
    bool three = gnn_pickle_kind(key) == GNN_PICKLE_TUPLE && gnn_pickle_count(p, key) == 3;
    for (uint64_t i = 0; three && i < 3; i++)
        three = gnn_pickle_text(p, gnn_pickle_item(p, key, i), &w[i]);
    return three ? gnn_strf(e, "%.*s:%.*s:%.*s", (int)w[0].n, w[0].p, (int)w[1].n, w[1].p,
                            (int)w[2].n, w[2].p)
                 : gnn_strdup("", e);
}

static int add_value(struct gnn_array_list *l, const struct gnn_torch_file *f,
                     const struct gnn_pickle_value *key, const struct gnn_pickle_value *v,
                     const char *path, struct gnn_err *e)
{
    struct gnn_strided s;
    char why[256];
    if (gnn_torch_array(f, v, &s, why, sizeof why))
        return gnn_fail(e, GNN_E_INPUT, "%s: %s", path, why);
    char *name = key ? name_key(&f->pickle, key, e) : gnn_strdup("", e);
    int rc = name ? gnn_array_list_add(l, "", name, &s, e) : GNN_E_NOMEM;
    gnn_free(name);
    return rc;
}

static int add_torch(struct gnn_array_list *l, const char *path, struct gnn_err *e)
{
    const struct gnn_torch_file *f;
    int rc = gnn_value_file_open(&f, l, path, NULL, false, path, e);
    if (rc)
        return rc;
    const struct gnn_pickle_value *root = f->pickle.root;
    if (gnn_pickle_kind(root) != GNN_PICKLE_DICT)
        return add_value(l, f, NULL, root, path, e);
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(&f->pickle, root); i++)
        rc = add_value(l, f, gnn_pickle_key(&f->pickle, root, i),
                       gnn_pickle_item(&f->pickle, root, i), path, e);
    return rc;
}

static int add_npy(struct gnn_array_list *l, const uint8_t *bytes, uint64_t n, const char *path,
                   struct gnn_err *e)
{
    struct gnn_strided s;
    int rc =
        gnn_array_map_bytes(&s, bytes, n, path,
                            "neither a dictionary of tensors of DGL or torch.save nor an .npy file "
                            "of integers",
                            e);
    return rc ? rc : gnn_array_list_add(l, "", "", &s, e);
}

/* The arrays of a file of any kind. */
static int list_file(struct gnn_array_list *l, const char *path, struct gnn_err *e)
{
    const uint8_t *bytes;
    uint64_t n;
    int rc = gnn_array_list_map(l, path, &bytes, &n, e);
    if (rc)
        return rc;
    if (gnn_dgl_is_tensors(bytes, n))
        return gnn_dgl_arrays_add(l, path, NULL, path, e);
    if (gnn_value_file_is_torch(bytes, n))
        return add_torch(l, path, e);
    return add_npy(l, bytes, n, path, e);
}

/* Takes what a file has of types, of all parts or of one. */
static int take_file(struct gnn_dgl_origin *o, const char *path, const uint32_t *part,
                     struct gnn_err *e)
{
    struct gnn_array_list *l = gnn_alloc_zero(1, sizeof *l, "input", e);
    int rc = l ? list_file(l, path, e) : GNN_E_NOMEM;
    for (uint32_t i = 0; !rc && i < l->n; i++) {
        const int t = find_type(o->of, l->array[i].name, l->n == 1);
        if (t < 0)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: '%.100s' is no type of the partition", path,
                          l->array[i].name);
        else if (part)
            rc = take_ids(o, &l->array[i], (uint32_t)t, o->of->type[t].before[*part],
                          gnn_dgl_book_count(&o->of->type[t], *part), e);
        else
            rc = take_ids(o, &l->array[i], (uint32_t)t, 0, o->of->type[t].count, e);
    }
    gnn_array_list_free(l);
    return rc;
}

int gnn_dgl_origin_read(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                        const char *path, struct gnn_err *e)
{
    int rc = gnn_dgl_origin_make(o, of, what, path, e);
    return rc ? rc : take_file(o, path, NULL, e);
}

static char *path_beside(const char *path, const char *name, struct gnn_err *e)
{
    return gnn_strf(e, "%.*s%s", (int)(gnn_base_name(path) - path), path, name);
}

/* The ids that a part has a file of its own for. */
static int read_part(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                     const char *path, uint32_t part, struct gnn_err *e)
{
    int rc = o->id ? GNN_OK : gnn_dgl_origin_make(o, of, what, path, e);
    char *file = rc ? NULL : gnn_strdup(path, e);
    if (!file)
        return rc ? rc : GNN_E_NOMEM;
    gnn_free(o->file);
    o->file = file;
    return take_file(o, path, &part, e);
}

int gnn_dgl_origin_find(struct gnn_dgl_origin *o, const struct gnn_dgl_ids *of, const char *what,
                        const struct gnn_dgl_book *b, const char *name, struct gnn_err *e)
{
    char *path = path_beside(b->path, name, e);
    int rc = path ? GNN_OK : GNN_E_NOMEM;
    const bool whole = !rc && !access(path, F_OK);
    if (whole)
        rc = gnn_dgl_origin_read(o, of, what, path, e);
    gnn_free(path);
    for (uint32_t p = 0; !rc && !whole && p < b->parts; p++) {
        path = path_beside(b->part[p].graph, name, e);
        if (!path)
            rc = GNN_E_NOMEM;
        else if (!access(path, F_OK))
            rc = read_part(o, of, what, path, p, e);
        gnn_free(path);
    }
    return rc;
}
