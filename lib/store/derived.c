/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/derived.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/store/store_impl.h"
#include "lib/store/write.h"

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Arrays that an open store has. */
struct gnn_derived_held {
    char *name; /* WHAT-ETYPE-PART */
    struct gnn_derived x;
    struct gnn_store file; /* that has them, if they are kept */
    struct gnn_derived_held *next;
};

static void free_held(struct gnn_derived_held *k)
{
    for (uint32_t i = 0; !k->x.kept && i < k->x.narrays; i++)
        gnn_free(k->x.array[i].data);
    gnn_store_close(&k->file);
    gnn_free(k->name);
    gnn_free(k);
}

static void free_all(struct gnn_derived_held *first)
{
    for (struct gnn_derived_held *k = first, *next; k; k = next) {
        next = k->next;
        free_held(k);
    }
}

/* ---- kept ones ---- */

/* STORE.index, on the heap, whatever symbolic links lead to STORE. */
static char *index_dir(const struct gnn_store *s, struct gnn_err *e)
{
    char *real = realpath(s->path, NULL), *dir = NULL;
    if (real)
        dir = gnn_strf(e, "%s.index", real);
    else
        gnn_fail_errno(e, "%s: cannot find", s->path);
    free(real);
    return dir;
}

static int open_file(const struct gnn_store *s, struct gnn_store *file, const char *path,
                     bool verify, struct gnn_err *e)
{
    int rc = gnn_store_open(file, path, verify, e);
    if (!rc && (file->nparts != 1 || strcmp(file->meta.graph, s->meta.identity) != 0))
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: was not computed of %s as it is now: remove it, or compute it anew "
                      "(gnn-sample --keep-index)",
                      path, s->path);
    return rc;
}

/* Whether a file that is there can be kept. */
static bool is_sound(const struct gnn_store *s, const char *path)
{
    struct gnn_err e = {0};
    struct gnn_store file = {0};
    int rc = open_file(s, &file, path, true, &e);
    for (uint32_t i = 0; !rc && i < gnn_store_ntensors(&file, 0); i++)
        (void)gnn_store_at(&file, 0, i);
    rc = rc ? rc : gnn_store_verified(&file, &e);
    gnn_store_close(&file);
    return !rc;
}

/* GNN_END: there is none. */
static int map_file(const struct gnn_store *s, struct gnn_derived_held *k, const char *path,
                    struct gnn_err *e)
{
    if (access(path, F_OK) || (s->keep_derived && !is_sound(s, path)))
        return GNN_END;
    if (open_file(s, &k->file, path, false, e))
        return e->code;
    k->x.kept = true;
    k->file.part[0]->verify = s->verify;
    for (uint32_t i = 0; i < k->x.narrays; i++) {
        struct gnn_derived_array *a = &k->x.array[i];
        const struct gnn_tensor *t = gnn_store_find(&k->file, 0, a->name);
        if (t ? t->dtype != a->dtype || t->ndim != 1 || t->shape[0] != a->n : !a->optional)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor '%s' is missing, or of another size",
                            gnn_store_part_path(&k->file, 0), a->name);
        a->data = t ? t->data : NULL;
    }
    return 0;
}

static int write_arrays(struct gnn_store_writer *w, const struct gnn_derived *x, struct gnn_err *e)
{
    uint32_t id[GNN_DERIVED_MAX] = {0};
    int rc = gnn_part_begin(w, 0, e);
    for (uint32_t i = 0; !rc && i < x->narrays; i++)
        if (x->array[i].data)
            rc = gnn_part_declare(w, x->array[i].name, x->array[i].dtype, 1, &x->array[i].n, &id[i],
                                  e);
    if (!rc)
        rc = gnn_part_layout(w, e);
    for (uint32_t i = 0; !rc && i < x->narrays; i++)
        if (x->array[i].data)
            rc = gnn_part_write(w, id[i], x->array[i].data,
                                x->array[i].n * gnn_dtype_bytes(x->array[i].dtype), e);
    if (!rc)
        rc = gnn_part_finish(w, e);
    return rc ? rc : gnn_store_commit(w, e);
}

static int keep_arrays(const struct gnn_store *s, const struct gnn_derived *x, const char *dir,
                       const char *path, struct gnn_err *e)
{
    struct gnn_store_writer w = {0};
    struct gnn_meta meta = {.schema.nparts = 1};
    if (mkdir(dir, 0777) && errno != EEXIST)
        return gnn_fail_errno(e, "%s: cannot create", dir);
    memcpy(meta.graph, s->meta.identity, sizeof meta.graph);
    int rc = gnn_schema_add_ntype(&meta.schema, "index", 0, e) ||
                     gnn_store_create(&w, path, &meta, true, e) || write_arrays(&w, x, e)
                 ? e->code
                 : 0;
    gnn_store_abandon(&w);
    gnn_meta_release(&meta);
    return rc;
}

/* ---- the door ---- */

static int fill_held(struct gnn_store *s, struct gnn_derived_held *k, gnn_derived_make *make,
                     void *arg, struct gnn_err *e)
{
    char *dir = index_dir(s, e), *path = dir ? gnn_strf(e, "%s/%s", dir, k->name) : NULL;
    int rc = path ? map_file(s, k, path, e) : e->code;
    if (rc == GNN_END) {
        rc = make(s, &k->x, arg, e);
        if (!rc && s->keep_derived)
            rc = keep_arrays(s, &k->x, dir, path, e);
    }
    gnn_free(path);
    gnn_free(dir);
    return rc;
}

static int get_arrays(struct gnn_store *s, struct gnn_derived *x, gnn_derived_make *make, void *arg,
                      struct gnn_err *e)
{
    char *name = gnn_strf(e, "%s-%u-%u", x->what, x->etype, x->part);
    struct gnn_derived_held *k = s->derived;
    while (name && k && strcmp(k->name, name) != 0)
        k = k->next;
    if (name && !k && (k = gnn_alloc_zero(1, sizeof *k, "derived arrays", e))) {
        *k = (struct gnn_derived_held){.name = name, .x = *x, .next = s->derived};
        s->derived = k;
        s->derived_free = free_all;
        name = NULL;
        if (fill_held(s, k, make, arg, e)) {
            s->derived = k->next;
            free_held(k);
        }
    }
    gnn_free(name);
    if (!e->code)
        *x = k->x;
    return e->code;
}

int gnn_derived_get(struct gnn_store *s, struct gnn_derived *x, gnn_derived_make *make, void *arg,
                    struct gnn_err *e)
{
    pthread_mutex_lock(&one_at_a_time);
    const int rc = get_arrays(s, x, make, arg, e);
    pthread_mutex_unlock(&one_at_a_time);
    return rc;
}
