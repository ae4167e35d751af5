/* SPDX-License-Identifier: Apache-2.0 */
/* Splits (lib/import/split.h): those of the dataset, of files, and random ones. They are planned
 * first, as sizes go into the schema, and read when the store is written. A split that is given
 * replaces the dataset's of the same name. */
#include "lib/import/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/store/ids.h"
#include "lib/import/read/files.h"
#include "lib/base/rand.h"
#include "lib/base/mem.h"

static int add_set(struct gnn_splits *s, const char *split, const char *name, uint32_t ntype,
                   struct gnn_splits_set **out, struct gnn_err *e)
{
    *out = NULL;
    if (gnn_grow(&s->set, s->n, sizeof *s->set, "splits", e))
        return e->code;
    struct gnn_splits_set *set = &s->set[s->n++];
    set->ntype = ntype;
    set->split = gnn_strdup(split, e);
    set->name = gnn_strdup(name, e);
    *out = set;
    return set->split && set->name ? GNN_OK : GNN_E_NOMEM;
}

/* The nodes that a random split divides: those that have a label. */
struct labelled {
    uint32_t *id;
    uint64_t n, row, width;
    enum gnn_dtype dtype;
};

static int take_labelled(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct labelled *l = arg;
    (void)e;
    for (uint64_t i = 0; i < n; i++, l->row++) {
        bool has = l->dtype == GNN_U8;
        if (l->dtype == GNN_I32)
            has = ((const int32_t *)rows)[i] >= 0;
        for (uint64_t j = 0; l->dtype == GNN_F32 && j < l->width && !has; j++)
            has = !isnan(((const float *)rows)[i * l->width + j]);
        if (has)
            l->id[l->n++] = (uint32_t)l->row;
    }
    return GNN_OK;
}

static int find_labelled(struct gnn_dataset *d, uint32_t t, struct labelled *l, struct gnn_err *e)
{
    const struct gnn_ntype *nt = &d->schema.ntype[t];
    *l = (struct labelled){0};
    l->id = gnn_alloc(nt->count, sizeof *l->id, "random split", e);
    if (!l->id)
        return GNN_E_NOMEM;
    const struct gnn_field *y = NULL;
    if (d->schema.task != GNN_TASK_NONE)
        y = gnn_field_find(nt->field, nt->nfields, "y");
    if (!y) {
        for (; l->n < nt->count; l->n++)
            l->id[l->n] = (uint32_t)l->n;
        return GNN_OK;
    }
    l->width = y->width ? y->width : 1;
    l->dtype = y->dtype;
    return d->ops->rows(d, t, (uint32_t)(y - nt->field), take_labelled, l, e);
}

static int random_split(struct gnn_splits *s, const char *text, uint64_t seed, struct gnn_err *e)
{
    static const char *const names[] = {"train", "valid", "test"};
    double f[3], sum = 0;
    const char *p = text + strlen("random:");
    for (int i = 0; i < 3; i++) {
        char *end;
        f[i] = strtod(p, &end);
        sum += f[i];
        if (end == p || !(f[i] >= 0) || *end != (i < 2 ? ',' : 0))
            return gnn_fail(e, GNN_E_USAGE, "--split %s: expected random:TRAIN,VALID,TEST", text);
        p = end + 1;
    }
    if (sum > 1 + 1e-9)
        return gnn_fail(e, GNN_E_USAGE, "--split %s: the shares add up to more than 1", text);
    uint32_t t = s->d->schema.task == GNN_TASK_NONE ? 0 : s->d->schema.label_ntype;
    struct labelled l;
    int rc = find_labelled(s->d, t, &l, e);
    /* The key's second word spells "split", so that no other use of the seed draws the same
     * numbers. */
    struct gnn_rand r = gnn_rand_key(seed, 0x73706c6974, 0);
    for (uint64_t i = 0; !rc && i + 1 < l.n; i++) {
        uint64_t j = i + gnn_rand_below(&r, l.n - i);
        uint32_t v = l.id[i];
        l.id[i] = l.id[j], l.id[j] = v;
    }
    uint64_t at = 0;
    for (int i = 0; !rc && i < 3; i++) {
        struct gnn_splits_set *set;
        /* Rounded to the nearest, and never more than are left. */
        uint64_t n = (uint64_t)((double)l.n * f[i] + 0.5);
        if (n > l.n - at)
            n = l.n - at;
        rc = add_set(s, "random", names[i], t, &set, e);
        if (rc)
            break;
        set->count = n;
        set->unasked = f[i] == 0;
        set->ids = gnn_alloc(n, sizeof *set->ids, "random split", e);
        if (!set->ids) {
            rc = GNN_E_NOMEM;
            break;
        }
        memcpy(set->ids, l.id + at, n * sizeof *set->ids);
        gnn_u32_sort(set->ids, n);
        at += n;
    }
    gnn_free(l.id);
    return rc;
}

/* "train=FILE,valid=FILE,...": a split called "file". */
static int file_split(struct gnn_splits *s, const char *text, struct gnn_err *e)
{
    uint32_t t = s->d->schema.task == GNN_TASK_NONE ? 0 : s->d->schema.label_ntype;
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, ","), klen = strcspn(p, "=,");
        if (klen == 0 || klen + 1 >= len)
            return gnn_fail(e, GNN_E_USAGE,
                            "--split %s: expected random:TRAIN,VALID,TEST or SET=FILE,...", text);
        char *name = gnn_strf(e, "%.*s", (int)klen, p);
        char *file = gnn_strf(e, "%.*s", (int)(len - klen - 1), p + klen + 1);
        struct gnn_splits_set *set = NULL;
        char *what = gnn_strf(e, "split file/%.*s", (int)klen, p);
        int rc = name && file && what ? add_set(s, "file", name, t, &set, e) : GNN_E_NOMEM;
        if (!rc)
            rc = gnn_files_ids(file, what, s->d->schema.ntype[t].count,
                               s->d->ids ? &s->d->ids[t] : NULL, &set->ids, &set->count, e);
        if (set)
            set->file = file;
        else
            gnn_free(file);
        gnn_free(name);
        gnn_free(what);
        if (rc)
            return rc;
        p += len;
        p += *p == ',';
    }
    return GNN_OK;
}

/* A set that is given and has no nodes may be a file that went wrong. */
static int note_empty(const struct gnn_splits_set *set, struct gnn_dataset *d, struct gnn_err *e)
{
    if (set->count || set->unasked)
        return GNN_OK;
    return gnn_dataset_note(d, e, "set %s/%s is empty%s%s%s", set->split, set->name,
                            set->file ? ": " : "", set->file ? set->file : "",
                            set->file ? " has no ids" : "");
}

int gnn_splits_plan(struct gnn_splits *s, struct gnn_dataset *d, const struct gnn_import_opts *o,
                    struct gnn_err *e)
{
    s->d = d;
    int rc = GNN_OK;
    for (uint32_t i = 0; !rc && i < o->nsplit; i++) {
        if (!strncmp(o->split[i], "random:", 7))
            rc = random_split(s, o->split[i], o->seed, e);
        else
            rc = file_split(s, o->split[i], e);
    }
    uint32_t given = s->n;
    for (uint32_t i = 0; !rc && i < given; i++)
        rc = note_empty(&s->set[i], d, e);
    for (uint32_t i = 0; !rc && i < d->schema.nsets; i++) {
        const struct gnn_split_set *own = &d->schema.set[i];
        bool replaced = false;
        for (uint32_t j = 0; j < given; j++)
            replaced = replaced || !strcmp(s->set[j].split, own->split);
        if (replaced)
            continue;
        struct gnn_splits_set *set;
        rc = add_set(s, own->split, own->set, own->ntype, &set, e);
        if (!rc) {
            set->count = own->count;
            set->own = i;
        }
    }
    return rc;
}

static int load_ids(struct gnn_splits *s, const struct gnn_splits_set *set, uint32_t **ids,
                    struct gnn_err *e)
{
    uint64_t n = s->d->schema.ntype[set->ntype].count;
    *ids = gnn_alloc(set->count, sizeof **ids, "split", e);
    int rc = *ids ? GNN_OK : GNN_E_NOMEM;
    if (!rc && set->ids)
        memcpy(*ids, set->ids, set->count * sizeof **ids);
    else if (!rc)
        rc = s->d->ops->set(s->d, set->own, *ids, e);
    for (uint64_t k = 0; !rc && k < set->count; k++)
        if ((*ids)[k] >= n)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: split %s/%s: node %u, but there are %llu",
                          s->d->name, set->split, set->name, (*ids)[k], (unsigned long long)n);
    return rc;
}

static int fail_repeated(const struct gnn_splits *s, const struct gnn_splits_set *set, uint32_t v,
                         const struct gnn_splits_set *other, struct gnn_err *e)
{
    static const struct gnn_nodeids count;
    char text[GNN_ID_TEXT];
    const struct gnn_nodeids *of = s->d->ids ? &s->d->ids[set->ntype] : &count;
    return gnn_fail(e, GNN_E_INPUT, "%s: split %s/%s: node %s is %s%s",
                    set->file ? set->file : s->d->name, set->split, set->name,
                    gnn_nodeids_text(of, v, text), other == set ? "a duplicate" : "also in ",
                    other == set ? "" : other->name);
}

/* No node may be twice in a set, nor in two sets of a split: it would be trained on and tested
 * with. */
static int check_once(struct gnn_splits *s, uint32_t i, const uint32_t *ids, struct gnn_err *e)
{
    const struct gnn_splits_set *set = &s->set[i];
    uint64_t *seen =
        gnn_alloc_zero(s->d->schema.ntype[set->ntype].count / 64 + 1, sizeof *seen, "split", e);
    int rc = seen ? GNN_OK : GNN_E_NOMEM;
    for (uint64_t k = 0; !rc && k < set->count; k++) {
        if (seen[ids[k] >> 6] >> (ids[k] & 63) & 1)
            rc = fail_repeated(s, set, ids[k], set, e);
        seen[ids[k] >> 6] |= 1ull << (ids[k] & 63);
    }
    for (uint32_t j = 0; !rc && j < i; j++) {
        const struct gnn_splits_set *other = &s->set[j];
        uint32_t *theirs;
        if (other->ntype != set->ntype || strcmp(other->split, set->split))
            continue;
        rc = load_ids(s, other, &theirs, e);
        for (uint64_t k = 0; !rc && k < other->count; k++)
            if (seen[theirs[k] >> 6] >> (theirs[k] & 63) & 1)
                rc = fail_repeated(s, set, theirs[k], other, e);
        gnn_free(theirs);
    }
    gnn_free(seen);
    return rc;
}

int gnn_splits_ids(struct gnn_splits *s, uint32_t i, uint32_t **ids, struct gnn_err *e)
{
    int rc = load_ids(s, &s->set[i], ids, e);
    if (!rc)
        rc = check_once(s, i, *ids, e);
    if (rc) {
        gnn_free(*ids);
        *ids = NULL;
    }
    return rc;
}

void gnn_splits_release(struct gnn_splits *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        gnn_free(s->set[i].split);
        gnn_free(s->set[i].name);
        gnn_free(s->set[i].file);
        gnn_free(s->set[i].ids);
    }
    gnn_free(s->set);
    *s = (struct gnn_splits){0};
}
