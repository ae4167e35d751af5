#include "lib/import/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ids.h"
#include "lib/import/files.h"
#include "lib/import/rand.h"
#include "lib/mem.h"

static int add_set(struct gnn_splits *s, const char *split, const char *name, uint32_t ntype,
                   struct gnn_splits_set **out, struct gnn_err *e)
{
    struct gnn_splits_set *set = gnn_alloc_zero(s->n + 1, sizeof *set, "splits", e);
    if (!set)
        return GNN_E_NOMEM;
    if (s->n)
        memcpy(set, s->set, s->n * sizeof *set);
    gnn_free(s->set);
    s->set = set;
    set += s->n++;
    set->ntype = ntype;
    set->split = gnn_strdup(split, e);
    set->name = gnn_strdup(name, e);
    *out = set;
    return set->split && set->name ? GNN_OK : GNN_E_NOMEM;
}

/* The nodes that a random split divides: those with a label. */
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
            return gnn_fail(e, GNN_E_USAGE, "--split %s: wants random:TRAIN,VALID,TEST", text);
        p = end + 1;
    }
    if (sum > 1 + 1e-9)
        return gnn_fail(e, GNN_E_USAGE, "--split %s: the shares add up to more than 1", text);
    uint32_t t = s->d->schema.task == GNN_TASK_NONE ? 0 : s->d->schema.label_ntype;
    struct labelled l;
    int rc = find_labelled(s->d, t, &l, e);
    struct gnn_rand r = gnn_rand_key(seed, 0x73706c6974, 0);
    for (uint64_t i = 0; !rc && i + 1 < l.n; i++) {
        uint64_t j = i + gnn_rand_below(&r, l.n - i);
        uint32_t v = l.id[i];
        l.id[i] = l.id[j], l.id[j] = v;
    }
    uint64_t at = 0;
    for (int i = 0; !rc && i < 3; i++) {
        struct gnn_splits_set *set;
        uint64_t n = (uint64_t)((double)l.n * f[i] + 0.5);
        if (n > l.n - at)
            n = l.n - at;
        rc = add_set(s, "random", names[i], t, &set, e);
        if (rc)
            break;
        set->count = n;
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
                            "--split %s: wants random:TRAIN,VALID,TEST or SET=FILE,...", text);
        char *name = gnn_strf(e, "%.*s", (int)klen, p);
        char *file = gnn_strf(e, "%.*s", (int)(len - klen - 1), p + klen + 1);
        struct gnn_splits_set *set = NULL;
        int rc = name && file ? add_set(s, "file", name, t, &set, e) : GNN_E_NOMEM;
        if (!rc)
            rc = gnn_files_ids(file, s->d->schema.ntype[t].count,
                               s->d->ids ? &s->d->ids[t] : NULL, &set->ids, &set->count, e);
        gnn_free(name);
        gnn_free(file);
        if (rc)
            return rc;
        p += len;
        p += *p == ',';
    }
    return GNN_OK;
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

int gnn_splits_ids(struct gnn_splits *s, uint32_t i, uint32_t **ids, struct gnn_err *e)
{
    struct gnn_splits_set *set = &s->set[i];
    uint64_t n = s->d->schema.ntype[set->ntype].count;
    uint64_t *seen = gnn_alloc_zero(n / 64 + 1, sizeof *seen, "split", e);
    *ids = gnn_alloc(set->count, sizeof **ids, "split", e);
    int rc = *ids && seen ? GNN_OK : GNN_E_NOMEM;
    if (!rc && set->ids)
        memcpy(*ids, set->ids, set->count * sizeof **ids);
    else if (!rc)
        rc = s->d->ops->set(s->d, set->own, *ids, e);
    for (uint64_t k = 0; !rc && k < set->count; k++) {
        uint32_t v = (*ids)[k];
        if (v >= n)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: split %s/%s: node %u, but there are %llu", s->d->name,
                          set->split, set->name, v, (unsigned long long)n);
        else if (seen[v >> 6] >> (v & 63) & 1)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: split %s/%s: node %u twice", s->d->name, set->split,
                          set->name, v);
        else
            seen[v >> 6] |= 1ull << (v & 63);
    }
    gnn_free(seen);
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
        gnn_free(s->set[i].ids);
    }
    gnn_free(s->set);
    *s = (struct gnn_splits){0};
}
