/* SPDX-License-Identifier: Apache-2.0 */
/* Induced edges: of all in-edges of a batch's nodes, those whose sources are in the batch, too, and
 * of the same tree and time. The pick rule takes all neighbours here, so that edges which times or
 * weights rule out are left out as in any other hop. */
#include "lib/sample/sample_impl.h"

/* Destinations whose in-edges are looked at in one go, so that memory is that of a few. */
enum { SLICE = 4096 };

static int too_many(const struct sample_draw *d, uint32_t et)
{
    return gnn_sample_damaged(d->s, et, GNN_SAMPLE_MANY, &(struct gnn_sample_place){0}, d->e);
}

/* Adds the edges that enter some of the destinations to the `kept` ones there are. job->indptr:
 * where theirs begin, to be written. */
static int induce_slice(const struct sample_draw *d, uint32_t et, struct gnn_sample_job *job,
                        struct gnn_tensor *indices, struct gnn_tensor *id, uint64_t *kept)
{
    struct gnn_tensors *to = &d->b->tensors;
    struct gnn_relabel *src = &d->w->type[d->s->meta.schema.etype[et].src];
    int rc = gnn_sample_count_block(d, et, job);
    if (rc)
        return rc;
    const uint64_t all = *kept + job->indptr[job->n];
    if (all >= UINT32_MAX)
        return too_many(d, et);
    rc = gnn_tensors_resize(to, indices, all, d->e);
    if (!rc && id)
        rc = gnn_tensors_resize(to, id, all, d->e);
    if (rc)
        return rc;
    uint32_t *source = (uint32_t *)indices->data + *kept;
    uint64_t *ids = id ? (uint64_t *)id->data + *kept : NULL;
    rc = gnn_sample_pick_block(d, et, job, NULL, source, ids);
    if (rc)
        return rc;
    (void)gnn_relabel_keep(src, d->w->filter.data, job->dst, job->n, job->indptr, source,
                           ids); /* all are nodes */
    const uint64_t first = *kept;
    *kept += job->indptr[job->n];
    for (uint32_t i = 0; i <= job->n; i++)
        job->indptr[i] += (uint32_t)first;
    return 0;
}

int gnn_sample_filter(const struct sample_draw *d, uint32_t et)
{
    const struct gnn_relabel *src = &d->w->type[d->s->meta.schema.etype[et].src];
    if (gnn_buf_fit(&d->w->filter, gnn_relabel_filter_words(src), sizeof(uint64_t), "nodes", d->e))
        return d->e->code;
    gnn_relabel_filter(src, d->w->filter.data);
    return 0;
}

int gnn_sample_induce(const struct sample_draw *d, uint32_t hop, uint32_t et)
{
    struct gnn_tensor *indptr, *indices, *id;
    uint32_t first;
    const uint32_t n = gnn_sample_rows(d, hop, et, &first);
    const struct gnn_entries dst = d->w->type[d->s->meta.schema.etype[et].dst].list;
    uint64_t kept = 0;
    if (!n)
        return 0;
    int rc = gnn_sample_filter(d, et);
    if (!rc)
        rc = gnn_sample_add_indptr(d, hop, et, n, &indptr);
    if (!rc)
        rc = gnn_sample_add_edges(d, hop, et, 0, &indices, &id);
    for (uint32_t at = 0; !rc && at < n; at += SLICE) {
        struct gnn_sample_job job = gnn_sample_job_of(d->s, d->w->keys, hop * d->b->netypes + et);
        job.dst = gnn_entries_from(dst, at);
        job.n = n - at < SLICE ? n - at : SLICE;
        job.indptr = (uint32_t *)indptr->data + at;
        rc = induce_slice(d, et, &job, indices, id, &kept);
    }
    if (!rc)
        rc = gnn_tensors_resize(&d->b->tensors, indices, kept, d->e);
    if (!rc && id)
        rc = gnn_tensors_resize(&d->b->tensors, id, kept, d->e);
    if (rc)
        return rc;
    *gnn_batch_block(d->b, hop, et) = (struct gnn_block){
        first, n, (uint32_t)kept, indptr->data, indices->data, id ? id->data : NULL};
    return 0;
}
