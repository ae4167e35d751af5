/* SPDX-License-Identifier: Apache-2.0 */
/* Storages that the pickle of torch.save names (formats/torch_impl.h): a persistent id is a tuple
 * of the word "storage", a class that says the type, a key, a device, and the number of elements.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pickle_impl.h"
#include "formats/torch_impl.h"

int gnn_torch_fail(struct gnn_torch_opening *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->why, o->capacity, fmt, ap);
    va_end(ap);
    return GNN_PICKLE_BAD;
}

int gnn_torch_fail_storage(struct gnn_torch_opening *o, const struct gnn_torch_storage *s,
                           const char *what)
{
    char shown[64];
    return gnn_torch_fail(o, "storage '%s': %s",
                          gnn_text_shown(shown, sizeof shown, s->key.p, s->key.n), what);
}

static int read_id(struct gnn_torch_opening *o, const struct gnn_pickle_value *v,
                   struct gnn_torch_storage *s)
{
    const struct gnn_pickle *p = &o->f->pickle;
    const struct gnn_pickle_value *id = gnn_pickle_id(p, v), *type = gnn_pickle_item(p, id, 1);
    const struct gnn_pickle_global *g = gnn_pickle_global_of(type);
    char path[256], shown[128];
    int64_t n;
    if (gnn_pickle_kind(type) != GNN_PICKLE_GLOBAL || g->role != PICKLE_STORAGE)
        return gnn_torch_fail(o, "%s: %s instead of a class of storages",
                              gnn_pickle_path(p, v, path, sizeof path),
                              gnn_pickle_describe(p, type, shown, sizeof shown));
    if (gnn_pickle_kind(id) != GNN_PICKLE_TUPLE ||
        !gnn_pickle_text_is(p, gnn_pickle_item(p, id, 0), "storage") ||
        !gnn_pickle_text(p, gnn_pickle_item(p, id, 2), &s->key) ||
        !gnn_pickle_int(gnn_pickle_item(p, id, 4), &n) || n < 0)
        return gnn_torch_fail(o, "%s: a persistent id that is no storage's",
                              gnn_pickle_path(p, v, path, sizeof path));
    s->dtype = (enum gnn_dtype)g->dtype;
    s->is_bool = g->is_bool;
    if (__builtin_mul_overflow((uint64_t)n, gnn_dtype_bytes(s->dtype), &s->bytes))
        return gnn_torch_fail_storage(o, s, "it is too long");
    if (gnn_pickle_count(p, id) > 5 && !gnn_pickle_is_none(gnn_pickle_item(p, id, 5)))
        return gnn_torch_fail_storage(o, s, "a view of another storage, which is not read");
    return 0;
}

static int by_key(const void *a, const void *b)
{
    const struct gnn_word *x = &((const struct gnn_torch_storage *)a)->key,
                          *y = &((const struct gnn_torch_storage *)b)->key;
    const int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* Tensors that share a storage name it several times, each time alike. */
static int merge_storages(struct gnn_torch_opening *o, uint64_t n)
{
    struct gnn_torch_storage *s = o->f->storage;
    uint64_t kept = 0;
    qsort(s, n, sizeof *s, by_key);
    for (uint64_t i = 0; i < n; i++) {
        const struct gnn_torch_storage *last = kept ? &s[kept - 1] : NULL;
        if (!last || by_key(last, &s[i]))
            s[kept++] = s[i];
        else if (last->dtype != s[i].dtype || last->is_bool != s[i].is_bool ||
                 last->bytes != s[i].bytes)
            return gnn_torch_fail_storage(o, last, "it has two types or two lengths");
    }
    o->f->storages = kept;
    return 0;
}

int gnn_torch_list_storages(struct gnn_torch_opening *o)
{
    const struct gnn_pickle *p = &o->f->pickle;
    uint64_t n = 0;
    for (uint64_t i = 0; i < p->values; i++)
        n += gnn_pickle_kind(&p->value[i]) == GNN_PICKLE_PERSISTENT;
    o->f->storage = malloc((n + 1) * sizeof *o->f->storage);
    if (!o->f->storage) {
        gnn_torch_fail(o, "out of memory for %llu storages", (unsigned long long)n);
        return GNN_PICKLE_NO_MEMORY;
    }
    int rc = 0;
    n = 0;
    for (uint64_t i = 0; !rc && i < p->values; i++)
        if (gnn_pickle_kind(&p->value[i]) == GNN_PICKLE_PERSISTENT) {
            o->f->storage[n] = (struct gnn_torch_storage){0};
            rc = read_id(o, &p->value[i], &o->f->storage[n++]);
        }
    return rc ? rc : merge_storages(o, n);
}

struct gnn_torch_storage *gnn_torch_find_storage(const struct gnn_torch_file *f,
                                                 const struct gnn_word *key)
{
    const struct gnn_torch_storage wanted = {.key = *key};
    return f->storages ? bsearch(&wanted, f->storage, f->storages, sizeof *f->storage, by_key)
                       : NULL;
}
