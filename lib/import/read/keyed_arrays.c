/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/read/keyed_arrays.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"

/* Values that are looked at may be many more than a small file has, as it may share them. */
enum { DEPTH = 4, KEY_BYTES = 63, VISITS = 1 << 20 };

typedef const struct gnn_pickle_value *value;

/* Keys down to a value. */
struct keys {
    struct gnn_array_list *l;
    const struct gnn_torch_file *file;
    const char *name; /* of the file */
    char at[DEPTH * (KEY_BYTES + 1)];
    uint32_t visits;
};

bool gnn_keyed_arrays_fit(const struct gnn_torch_file *f)
{
    value root = f->pickle.root;
    return gnn_torch_is_array(root) || gnn_pickle_kind(root) == GNN_PICKLE_DICT;
}

/* Without control characters. */
static bool is_key(const struct gnn_word *w)
{
    bool good = w->n && w->n <= KEY_BYTES;
    for (size_t i = 0; good && i < w->n; i++)
        good = (uint8_t)w->p[i] >= ' ' && w->p[i] != 127;
    return good;
}

static int leave_out(struct keys *k, const char *key, value v, struct gnn_err *e)
{
    char what[128];
    gnn_pickle_describe(&k->file->pickle, v, what, sizeof what);
    return gnn_array_list_leave(k->l, gnn_strf(e, "%s (%s)", key, what), e);
}

static int add_leaf(struct keys *k, value v, struct gnn_err *e)
{
    struct gnn_strided a;
    int64_t number;
    char why[256];
    if (gnn_pickle_int(v, &number))
        return gnn_array_list_number(k->l, "", k->at, number, e);
    if (!gnn_torch_is_array(v))
        return leave_out(k, k->at, v, e);
    if (gnn_torch_array(k->file, v, &a, why, sizeof why))
        return gnn_fail(e, GNN_E_INPUT, "%s: %s: %s", k->name, k->at, why);
    return gnn_array_list_add(k->l, "", k->at, &a, e);
}

/* Arrays of v, whose keys so far are the first n bytes, and `depth` of them. */
static int add_tree(struct keys *k, value v, size_t n, unsigned depth, struct gnn_err *e)
{
    const struct gnn_pickle *p = &k->file->pickle;
    char shown[128];
    int rc = GNN_OK;
    if (gnn_pickle_kind(v) != GNN_PICKLE_DICT || depth == DEPTH)
        return add_leaf(k, v, e);
    for (uint64_t i = 0; !rc && i < gnn_pickle_count(p, v); i++) {
        value key = gnn_pickle_key(p, v, i), item = gnn_pickle_item(p, v, i);
        struct gnn_word w;
        if (k->visits++ == VISITS)
            return gnn_fail(e, GNN_E_INPUT, "%s: more than %d values in its dicts", k->name,
                            VISITS);
        if (!gnn_pickle_text(p, key, &w) || !is_key(&w)) {
            rc = leave_out(k, gnn_pickle_describe(p, key, shown, sizeof shown), item, e);
        } else {
            snprintf(k->at + n, sizeof k->at - n, "%s%.*s", n ? "/" : "", (int)w.n, w.p);
            rc = add_tree(k, item, strlen(k->at), depth + 1, e);
        }
    }
    return rc;
}

int gnn_keyed_arrays_add(struct gnn_array_list *l, const struct gnn_torch_file *f, const char *name,
                         struct gnn_err *e)
{
    char shown[128];
    value root = f->pickle.root;
    struct keys k = {.l = l, .file = f, .name = name};
    if (gnn_torch_is_array(root))
        snprintf(k.at, sizeof k.at, "%s", GNN_KEYED_ONLY_ARRAY);
    int rc = add_tree(&k, root, 0, 0, e);
    if (!rc && !l->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: no array in %s", name,
                      gnn_pickle_describe(&f->pickle, root, shown, sizeof shown));
    return rc;
}
