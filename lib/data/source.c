/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/source.h"

#include "lib/base/mem.h"

void gnn_source_free(struct gnn_source *s)
{
    if (s)
        s->free(s);
}

struct ahead {
    struct gnn_source base, *up;
    struct gnn_batch *first;
    int rc; /* of the first */
};

static int ahead_next(struct gnn_source *s, struct gnn_batch **b, struct gnn_err *e)
{
    struct ahead *a = (struct ahead *)s;
    if (a->rc)
        return a->rc;
    if (!a->first)
        return gnn_source_next(a->up, b, e);
    *b = a->first;
    a->first = NULL;
    return 0;
}

static void ahead_free(struct gnn_source *s)
{
    struct ahead *a = (struct ahead *)s;
    gnn_batch_put(a->first);
    gnn_source_free(a->up);
    gnn_free(a);
}

struct gnn_source *gnn_source_ahead(struct gnn_source *up, const struct gnn_batch **first,
                                    struct gnn_err *e)
{
    struct ahead *a = gnn_alloc_zero(1, sizeof *a, "a source", e);
    *first = NULL;
    if (!a) {
        gnn_source_free(up);
        return NULL;
    }
    *a = (struct ahead){
        .base = {.next = ahead_next, .free = ahead_free, .meta = up->meta, .live = up->live},
        .up = up};
    a->rc = gnn_source_next(up, &a->first, e);
    if (a->rc > 0) {
        ahead_free(&a->base);
        return NULL;
    }
    *first = a->first;
    return &a->base;
}
