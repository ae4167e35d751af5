/* SPDX-License-Identifier: Apache-2.0 */
/* What DGL calls types, fields and sets of nodes, which of them a folder of DGL can have, and what
 * it does not hold (lib/partition/dgl_layout.h). */
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/dgl_folder.h"
#include "lib/partition/dgl_layout.h"

const char *gnn_dgl_field(const char *field)
{
    return !strcmp(field, "x") ? "feat" : !strcmp(field, "y") ? "label" : field;
}

/* Whether it is a graph as DGL has one without types. */
static bool is_plain(const struct gnn_schema *c)
{
    return c->nntypes == 1 && c->netypes == 1 && !strcmp(c->ntype[0].name, "node") &&
           !strcmp(c->etype[0].rel, "to");
}

const char *gnn_dgl_ntype(const struct gnn_schema *c, uint32_t t)
{
    return is_plain(c) ? "_N" : c->ntype[t].name;
}

char *gnn_dgl_etype(const struct gnn_schema *c, uint32_t et, struct gnn_err *e)
{
    const struct gnn_etype *t = &c->etype[et];
    return is_plain(c)
               ? gnn_strdup("_N:_E:_N", e)
               : gnn_strf(e, "%s:%s:%s", c->ntype[t->src].name, t->rel, c->ntype[t->dst].name);
}

/* The first set of nodes, whose split is the one that is written; nsets: there is none. */
static uint32_t first_set(const struct gnn_schema *c)
{
    uint32_t i = 0;
    while (i < c->nsets && c->set[i].links)
        i++;
    return i;
}

const char *gnn_dgl_mask(const struct gnn_schema *c, uint32_t i)
{
    static const char *const known[][2] = {
        {"train", "train_mask"}, {"valid", "val_mask"}, {"test", "test_mask"}};
    if (c->set[i].links || strcmp(c->set[i].split, c->set[first_set(c)].split) != 0)
        return NULL;
    for (int k = 0; k < 3; k++)
        if (!strcmp(c->set[i].set, known[k][0]))
            return known[k][1];
    return NULL;
}

enum gnn_dtype gnn_dgl_dtype(const struct gnn_schema *c, bool edges, uint32_t type,
                             const struct gnn_field *f)
{
    const bool classes = !edges && type == c->label_ntype && !strcmp(f->name, "y") &&
                         (c->task == GNN_TASK_MULTICLASS || c->task == GNN_TASK_BINARY);
    switch (f->dtype) {
    case GNN_I32: /* PyTorch asks for classes of 64 bits */
        return classes ? GNN_I64 : GNN_I32;
    case GNN_U16:
        return GNN_I32;
    case GNN_U32:
    case GNN_U64:
        return GNN_I64;
    default:
        return f->dtype;
    }
}

bool gnn_dgl_derives(const struct gnn_etype *t, const struct gnn_field *f)
{
    return gnn_etype_is_raised(t) && !strcmp(f->name, GNN_EFFECTIVE_TIME);
}

/* ---- what cannot be named ---- */

/* DGL takes "TYPE/FIELD" and "SRC:REL:DST" apart. */
static int check_word(const struct gnn_store *s, const char *word, const char *what,
                      struct gnn_err *e)
{
    return strpbrk(word, ":/") ? gnn_fail(e, GNN_E_INPUT,
                                          "%s: %s '%.100s': a name with ':' or '/', which DGL "
                                          "cannot load",
                                          s->path, what, word)
                               : GNN_OK;
}

/* Whether another field of a type is written under the name of this one. */
static int check_fields(const struct gnn_store *s, const char *type, const struct gnn_field *f,
                        uint32_t n, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < n; i++) {
        const char *name = gnn_dgl_field(f[i].name);
        if (strcmp(name, f[i].name) != 0 && gnn_field_find(f, n, name))
            rc = gnn_fail(e, GNN_E_INPUT,
                          "%s: fields '%s' and '%s' of %.100s: the first is called '%s' in DGL",
                          s->path, f[i].name, name, type, name);
    }
    return rc;
}

static int check_masks(const struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < c->nsets; i++) {
        const char *mask = gnn_dgl_mask(c, i);
        const struct gnn_ntype *t = &c->ntype[c->set[i].ntype];
        if (mask && gnn_field_find(t->field, t->nfields, mask))
            rc = gnn_fail(e, GNN_E_INPUT,
                          "%s: the field '%s' of %.100s: the set '%s' is called so in DGL", s->path,
                          mask, t->name, c->set[i].set);
    }
    return rc;
}

int gnn_dgl_check(const struct gnn_store *s, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    int rc = c->netypes ? GNN_OK
                        : gnn_fail(e, GNN_E_INPUT,
                                   "%s: no edge types, without which DGL loads "
                                   "nothing",
                                   s->path);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        rc = check_word(s, c->ntype[t].name, "node type", e);
        if (!rc)
            rc = check_fields(s, c->ntype[t].name, c->ntype[t].field, c->ntype[t].nfields, e);
    }
    for (uint32_t t = 0; !rc && t < c->netypes; t++) {
        rc = check_word(s, c->etype[t].rel, "relation", e);
        if (!rc)
            rc = check_fields(s, c->etype[t].rel, c->etype[t].field, c->etype[t].nfields, e);
    }
    return rc ? rc : check_masks(s, e);
}

/* ---- what is left out ---- */

/* The list so far; NULL after a failure. */
struct left {
    char *text;
    struct gnn_err *e;
};

/* Whether the list has that item, and not only a longer one. */
static bool has_item(const char *list, const char *what)
{
    const size_t n = strlen(what);
    for (const char *at = list; at; at = strstr(at, ", ")) {
        at += at == list ? 0 : 2;
        if (!strncmp(at, what, n) && (!at[n] || !strncmp(at + n, ", ", 2)))
            return true;
    }
    return false;
}

static void leave_out(struct left *l, bool is, const char *what)
{
    if (!is || !l->text || has_item(l->text, what))
        return;
    char *more = gnn_strf(l->e, "%s%s%s", l->text, *l->text ? ", " : "", what);
    gnn_free(l->text);
    l->text = more;
}

static void leave_fields(struct left *l, const struct gnn_field *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        leave_out(l, f[i].standard != NULL, "means and scales of standardized fields");
        leave_out(l, f[i].dtype == GNN_U16, "u16 (written as i32)");
        leave_out(l, f[i].dtype == GNN_U32 || f[i].dtype == GNN_U64,
                  "u32 and u64 (written as i64)");
    }
}

/* Whether the members of a set ascend, which is all that a mask can say. */
static bool is_ascending(const struct gnn_view *v, const struct gnn_split_set *set,
                         const uint32_t *ids)
{
    bool is = true;
    for (uint64_t i = 1; is && i < set->count; i++)
        is = gnn_view_orig(v, set->ntype, ids[i - 1]) < gnn_view_orig(v, set->ntype, ids[i]);
    return is;
}

static void leave_set(struct left *l, const struct gnn_view *v, uint32_t i)
{
    const struct gnn_schema *c = &v->store->meta.schema;
    const struct gnn_split_set *set = &c->set[i];
    char what[2 * GNN_WORD_MAX + 16];
    uint32_t *ids = NULL;
    leave_out(l, set->links && gnn_schema_given_kind(set) < 0, "sets of links");
    leave_out(l, set->links && gnn_schema_given_kind(set) >= 0, "negatives");
    if (set->links)
        return;
    const bool other = strcmp(set->split, c->set[first_set(c)].split) != 0;
    snprintf(what, sizeof what, other ? "the split %s" : "the set %s/%s", set->split, set->set);
    leave_out(l, !gnn_dgl_mask(c, i), what);
    if (!gnn_dgl_mask(c, i))
        return;
    snprintf(what, sizeof what, "the name of the split %s", set->split);
    leave_out(l, strcmp(set->split, "mask") != 0, what);
    if (!gnn_store_split(v->store, i, &ids, l->e))
        leave_out(l, !is_ascending(v, set, ids), "the order in sets");
    gnn_free(ids);
}

char *gnn_dgl_left_out(const struct gnn_view *v, struct gnn_err *e)
{
    struct gnn_store *s = v->store;
    const struct gnn_schema *c = &s->meta.schema;
    struct left l = {gnn_strdup("", e), e};
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gnn_ntype *n = &c->ntype[t];
        leave_out(&l, gnn_store_findf(s, 0, "node/%s/name_offsets", n->name) != NULL,
                  "names of nodes");
        leave_out(&l,
                  !gnn_field_find(n->field, n->nfields, "key") &&
                      gnn_store_findf(s, 0, "node/%s/key", n->name),
                  "ids of the data set");
        leave_fields(&l, n->field, n->nfields);
    }
    for (uint32_t t = 0; t < c->netypes; t++) {
        leave_out(&l, c->etype[t].order != NULL, "that edges are in the order of their times");
        leave_out(&l, gnn_etype_is_raised(&c->etype[t]), GNN_EFFECTIVE_TIME);
        leave_out(&l, c->etype[t].reverse_of != 0, "which edge types are reverses");
        leave_fields(&l, c->etype[t].field, c->etype[t].nfields);
    }
    leave_out(&l, c->class_name != NULL, "names of classes");
    for (uint32_t i = 0; i < c->nsets; i++)
        leave_set(&l, v, i);
    if (e->code) {
        gnn_free(l.text);
        return NULL;
    }
    return l.text;
}
