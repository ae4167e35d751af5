/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between batch streams, frame by frame. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/inspect/differ.h"
#include "lib/base/mem.h"
#include "lib/data/source.h"

/* One stream, with the store its node ids are mapped through, if any. */
struct side {
    struct gnn_source *src;
    struct gnn_batch *b; /* the last one, or NULL */
    struct gnn_view view;
    const char *name;
};

static int side_init(struct side *s, int fd, const char *name, bool original,
                     struct gnn_store *stores, uint32_t nstores, struct gnn_err *e)
{
    s->name = name;
    if (!(s->src = gnn_stream_source_new(fd, name, e)))
        return e->code;
    const struct gnn_meta *m = s->src->meta;
    if (!original || m->sampling.original_ids)
        return GNN_OK;
    for (uint32_t i = 0; i < nstores; i++)
        if (strcmp(stores[i].meta.identity, m->identity) == 0 &&
            gnn_schema_same_types(&stores[i].meta.schema, &m->schema))
            return gnn_view_init(&s->view, &stores[i], e);
    if (m->schema.nparts == 1)
        return GNN_OK;
    return gnn_fail(e, GNN_E_USAGE,
                    "%s: its node ids are those of store %s in %u partitions; name it with --store",
                    name, m->identity, m->schema.nparts);
}

static void side_release(struct side *s)
{
    gnn_batch_put(s->b);
    gnn_source_free(s->src);
    gnn_view_release(&s->view);
}

/* The next frame, with nodes/T in original ids. */
static int side_next(struct side *s, struct gnn_err *e)
{
    gnn_batch_put(s->b);
    s->b = NULL;
    int rc = gnn_source_next(s->src, &s->b, e);
    for (uint32_t t = 0; !rc && s->view.store && t < s->b->nntypes; t++) {
        uint32_t *id = (uint32_t *)(uintptr_t)s->b->type[t].node; /* of a tensor of the batch */
        for (uint64_t i = 0; i < gnn_batch_nodes(s->b, t); i++)
            id[i] = gnn_view_orig(&s->view, t, id[i]);
    }
    return rc;
}

static void diff_frame(const struct gnn_tensors *a, const struct gnn_tensors *b, uint64_t frame,
                       struct gnn_diff *d)
{
    char where[128];
    const struct gnn_tensor *key = gnn_tensors_find(a, "key");
    int n = snprintf(where, sizeof where, "batch %" PRIu64, frame);
    if (key && key->dtype == GNN_U64 && key->ndim == 1 && key->shape[0] == 4) {
        const uint64_t *k = key->data;
        snprintf(where + n, sizeof where - (size_t)n,
                 " (epoch %" PRIu64 ", step %" PRIu64 ", split %" PRIu64 ")", k[0], k[1], k[2]);
    }
    for (uint32_t i = 0; i < a->n && i < b->n && !d->differ; i++)
        gnn_differ_tensor(d, gnn_tensors_at(a, i), gnn_tensors_at(b, i), where);
    if (!d->differ && a->n != b->n)
        gnn_differ_text(d, a->n > b->n ? gnn_tensors_at(a, b->n)->name : "(absent)",
                        b->n > a->n ? gnn_tensors_at(b, a->n)->name : "(absent)", "%s: tensor %u",
                        where, a->n < b->n ? a->n : b->n);
}

static int diff_frames(struct side *a, struct side *b, struct gnn_diff *d, struct gnn_err *e)
{
    for (uint64_t frame = 0; !d->differ; frame++) {
        int ra = side_next(a, e), rb = ra < 0 ? ra : side_next(b, e);
        if (ra < 0 || rb < 0)
            return e->code;
        if (ra == GNN_END && rb == GNN_END)
            return GNN_OK;
        if (ra != rb)
            gnn_differ_text(d, ra ? "(end)" : "a batch", rb ? "(end)" : "a batch", "batch %" PRIu64,
                            frame);
        else
            diff_frame(&a->b->tensors, &b->b->tensors, frame, d);
    }
    return GNN_OK;
}

int gnn_diff_streams(int fd_a, const char *name_a, int fd_b, const char *name_b, unsigned flags,
                     struct gnn_store *stores, uint32_t nstores, struct gnn_diff *d,
                     struct gnn_err *e)
{
    struct side a = {0}, b = {0};
    bool original = flags & GNN_DIFF_ORIGINAL;
    int rc = side_init(&a, fd_a, name_a, original, stores, nstores, e);
    if (rc)
        close(fd_b);
    else
        rc = side_init(&b, fd_b, name_b, original, stores, nstores, e);
    if (!rc)
        rc = gnn_differ_meta(d, a.src->meta, b.src->meta,
                             flags & ~(unsigned)(GNN_DIFF_PROVENANCE | GNN_DIFF_IDENTITY), e) ||
                     (!d->differ && diff_frames(&a, &b, d, e)) ||
                     (!d->differ && gnn_differ_meta(d, a.src->meta, b.src->meta, flags, e))
                 ? e->code
                 : 0;
    side_release(&a);
    side_release(&b);
    return rc;
}
