/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/base_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/mem.h"
#include "lib/store/store_impl.h"

/* ---- where it is ---- */

static char *real_path(const char *path, struct gnn_err *e)
{
    char *real = realpath(path, NULL), *copy = real ? gnn_strdup(real, e) : NULL;
    if (!real)
        gnn_fail_errno(e, "%s: cannot find", path);
    free(real);
    return copy;
}

/* The way from one directory to another, both without links. */
static char *way_between(const char *from, const char *to, struct gnn_err *e)
{
    size_t common = 0, up = 0;
    for (size_t i = 0;; i++) {
        if ((!from[i] || from[i] == '/') && (!to[i] || to[i] == '/'))
            common = i;
        if (!from[i] || from[i] != to[i])
            break;
    }
    for (const char *p = from + common; *p; p++)
        up += *p == '/' && p[1];
    char *way = gnn_alloc(3 * up + strlen(to + common) + 1, 1, "the name of a store", e);
    if (!way)
        return NULL;
    for (size_t i = 0; i < up; i++)
        memcpy(way + 3 * i, "../", 3);
    to += common + (to[common] == '/');
    memcpy(way + 3 * up, to, strlen(to) + 1);
    return way;
}

char *gnn_base_name_from(const char *target, const char *base, struct gnn_err *e)
{
    const char *slash = strrchr(target, '/');
    char *name = NULL,
         *above = gnn_strf(e, "%.*s", slash ? (int)(slash - target) + 1 : 1, slash ? target : "."),
         *dir = above ? real_path(above, e) : NULL,
         *from =
             dir ? gnn_strf(e, "%s%s%s", dir, dir[1] ? "/" : "", slash ? slash + 1 : target) : NULL,
         *to = from ? real_path(base, e) : NULL;
    if (to)
        name = *base == '/' ? gnn_strdup(base, e) : way_between(from, to, e);
    gnn_free(above);
    gnn_free(dir);
    gnn_free(from);
    gnn_free(to);
    return name;
}

char *gnn_base_find(const struct gnn_store *s, struct gnn_err *e)
{
    const char *base = s->meta.base.path;
    char *path = *base == '/' ? gnn_strdup(base, e) : gnn_strf(e, "%s/%s", s->path, base);
    struct stat st;
    if (path && stat(path, &st) && (errno == ENOENT || errno == ENOTDIR)) {
        gnn_fail(e, GNN_E_INPUT, "%s: its base store %s is gone", s->path, path);
        gnn_free(path);
        return NULL;
    }
    /* "split/../graph" is hard to read in messages. */
    char *real = path && *base != '/' ? realpath(path, NULL) : NULL;
    if (real) {
        gnn_free(path);
        path = gnn_strdup(real, e);
        free(real);
    }
    return path;
}

/* ---- its tensors ---- */

static bool have_same_types(const struct gnn_schema *a, const struct gnn_schema *b)
{
    bool same = a->nntypes == b->nntypes && a->netypes == b->netypes && a->nparts == b->nparts;
    for (uint32_t t = 0; same && t < a->nntypes; t++)
        same =
            a->ntype[t].count == b->ntype[t].count && !strcmp(a->ntype[t].name, b->ntype[t].name);
    for (uint32_t t = 0; same && t < a->netypes; t++)
        same = a->etype[t].src == b->etype[t].src && a->etype[t].dst == b->etype[t].dst &&
               !strcmp(a->etype[t].rel, b->etype[t].rel);
    return same;
}

/* Whether the part, of which by_name still has its own tensors alone, has that of the base. */
static bool inherits_tensor(const struct gnn_store *s, uint32_t part, const char *name)
{
    char offsets[GNN_NAME_MAX + sizeof "/indptr"];
    if (!strncmp(name, "halo/", 5) || gnn_store_look(s, part, name))
        return false;
    if (strncmp(name, "edge/", 5) != 0)
        return true;
    snprintf(offsets, sizeof offsets, "%.*s/indptr", (int)(strrchr(name, '/') - name), name);
    return !gnn_store_look(s, part, offsets);
}

static int join_part(struct gnn_store *s, uint32_t part, struct gnn_err *e)
{
    struct gnn_part *p = s->part[part];
    const uint32_t more = gnn_store_ntensors(s->base, part);
    uint32_t n = 0;
    const struct gnn_tensor **list = p->inherited = gnn_alloc(more, sizeof *list, "tensors", e),
                            **all = gnn_alloc((uint64_t)p->n + more, sizeof *all, "tensors", e);
    for (uint32_t i = 0; list && all && i < more; i++) {
        const struct gnn_tensor *t = gnn_store_peek(s->base, part, i);
        if (inherits_tensor(s, part, t->name))
            list[n++] = t;
    }
    if (!list || !all) {
        gnn_free(all);
        return e->code;
    }
    memcpy(all, p->by_name, p->n * sizeof *all);
    memcpy(all + p->n, list, n * sizeof *all);
    p->all = p->n + n;
    qsort(all, p->all, sizeof *all, gnn_part_compare);
    gnn_free(p->by_name);
    p->by_name = all;
    return 0;
}

int gnn_base_join(struct gnn_store *s, struct gnn_err *e)
{
    if (!have_same_types(&s->meta.schema, &s->base->meta.schema))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: its base store %s has other partitions, node types or edge types",
                        s->path, s->base->path);
    for (uint32_t p = s->from; p < s->to; p++)
        if (join_part(s, p, e))
            return e->code;
    return 0;
}
