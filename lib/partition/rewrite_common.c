/* SPDX-License-Identifier: Apache-2.0 */
/* What all files that rewrite a store use: tensors of the input and of the new part, and buffered
 * output. */
#include "lib/partition/rewrite_common.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gnn_sink_flush(struct gnn_sink *s, struct gnn_err *e)
{
    uint64_t n = s->len;
    s->len = 0;
    return n ? gnn_part_write(s->w, s->id, s->chunk, n, e) : GNN_OK;
}

int gnn_sink_long(struct gnn_sink *s, const void *data, uint64_t bytes, struct gnn_err *e)
{
    const char *from = data;
    while (bytes) {
        if (s->len == s->capacity && gnn_sink_flush(s, e))
            return e->code;
        uint64_t n = s->capacity - s->len < bytes ? s->capacity - s->len : bytes;
        memcpy(s->chunk + s->len, from, n);
        s->len += n;
        from += n;
        bytes -= n;
    }
    return GNN_OK;
}

int gnn_rewrite_declare(struct gnn_rewrite_part *p, struct gnn_rewrite_job job,
                        enum gnn_dtype dtype, uint32_t ndim, const uint64_t *shape,
                        struct gnn_err *e, const char *fmt, ...)
{
    char name[GNN_NAME_MAX + 1];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    struct gnn_tensor t = {.dtype = dtype, .ndim = ndim};
    memcpy(t.shape, shape, ndim * sizeof *shape);
    job.sink.w = &p->w;
    if (job.put && !job.halo) {
        job.at = p->r->l->book[job.walk][p->part];
        job.end = p->r->l->book[job.walk][p->part + 1];
    }
    if (gnn_part_declare(&p->w, name, dtype, ndim, shape, &job.sink.id, e) ||
        !gnn_tensor_bytes(&t, &job.bytes))
        return e->code;
    if (gnn_buf_reserve(&p->jobs, (uint64_t)p->njobs + 1, sizeof job, "list of tensors", e))
        return e->code;
    ((struct gnn_rewrite_job *)p->jobs.data)[p->njobs++] = job;
    return GNN_OK;
}

int gnn_rewrite_each_halo(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint32_t t,
                          gnn_rewrite_put_fn *put, struct gnn_err *e)
{
    const uint64_t *bits = p->marks[t],
                   words = p->r->l->view->store->meta.schema.ntype[t].count / 64 + 1;
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t b = bits[w]; b; b &= b - 1)
            if (put(p, j, (uint32_t)(w * 64 + (uint64_t)__builtin_ctzll(b)), e))
                return e->code;
    return GNN_OK;
}

int gnn_rewrite_from(struct gnn_rewrite *r, const struct gnn_rewrite_part *p,
                     struct gnn_rewrite_job *j, bool *fresh, struct gnn_err *e)
{
    *fresh = p == r->part;
    if (!*fresh) { /* all parts declare the same */
        j->from = ((const struct gnn_rewrite_job *)r->part->jobs.data)[p->njobs].from;
        return GNN_OK;
    }
    if (gnn_buf_reserve(&r->from, (uint64_t)r->nfrom + 1, sizeof j->from, "input partitions", e))
        return e->code;
    j->from =
        gnn_alloc(2 * (uint64_t)r->l->view->store->nparts, sizeof *j->from, "input partitions", e);
    if (!j->from)
        return e->code;
    ((const void ***)r->from.data)[r->nfrom++] = j->from;
    return GNN_OK;
}

int gnn_rewrite_find(const struct gnn_rewrite *r, uint32_t p, const struct gnn_tensor **t,
                     struct gnn_err *e, const char *fmt, ...)
{
    char name[GNN_NAME_MAX + 1];
    struct gnn_store *s = r->l->view->store;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    *t = gnn_store_find(s, p, name);
    if (!*t)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s is missing", gnn_store_part_path(s, p),
                        name);
    return GNN_OK;
}
