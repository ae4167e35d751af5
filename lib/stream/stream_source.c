/* SPDX-License-Identifier: Apache-2.0 */
/* A source that reads a batch stream from a file or pipe. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/data/columns.h"
#include "lib/data/source.h"
#include "lib/stream/stream.h"
#include "lib/base/node_set.h"
#include "lib/gpu/gpu.h"

struct stream_source {
    struct gnn_source base;
    struct gnn_reader reader;
    struct gnn_batch_pool *pool;
    struct gnn_node_set seen; /* empty between batches */
    uint64_t nth;
};

/* Makes sure that nobody reads the batch any more, from which it may have gone back before a device
 * had finished. */
static int make_ready(const struct stream_source *q, const struct gnn_batch *b, struct gnn_err *e)
{
    return b->place ? q->reader.gpu->ops->unused(q->reader.gpu, b, e) : 0;
}

/* Says where the batch that was read lies. */
static int set_place(const struct stream_source *q, struct gnn_batch *b, struct gnn_err *e)
{
    if (q->reader.on_device)
        return q->reader.gpu->ops->place(q->reader.gpu, q->reader.device, b, e);
    gnn_batch_unplace(b);
    return 0;
}

/* Lets the batch refer to features in place. Its ids are below the number of nodes. */
static int refer_features(const struct stream_source *q, struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_schema *c = &q->base.meta->schema;
    for (uint32_t i = 0; i < q->reader.nrows; i++) {
        const struct gnn_tensor *x = q->reader.rows[i];
        struct gnn_rows_of of;
        if (!gnn_rows_of(q->base.meta, x->name, &of) || of.edges || !of.field ||
            strcmp(of.field->name, "x") != 0 || x->dtype != of.field->dtype ||
            x->shape[0] != c->ntype[of.type].count)
            return gnn_fail(e, GNN_E_INPUT, "tensor '%s': cannot stay in a file of %llu rows of %s",
                            x->name, (unsigned long long)x->shape[0], gnn_dtype_name(x->dtype));
        b->type[of.type].x = x;
    }
    return 0;
}

static int next_batch(struct gnn_source *s, struct gnn_batch **out, struct gnn_err *e)
{
    struct stream_source *q = (struct stream_source *)s;
    struct gnn_batch *b;
    if (gnn_batch_get(q->pool, &b, e))
        return e->code;
    int rc = make_ready(q, b, e);
    if (!rc)
        rc = gnn_reader_next(&q->reader, &b->tensors, e);
    if (!rc)
        rc = set_place(q, b, e);
    struct gnn_err why = {0};
    if (!rc && ((rc = gnn_batch_bind(b, s->meta, &why)) ||
                (rc = gnn_batch_check_counts(b, s->meta, &why)) ||
                (!b->place && (rc = gnn_batch_check_nodes(b, s->meta, &q->seen, &why))) ||
                (rc = refer_features(q, b, &why))))
        gnn_fail(e, (enum gnn_status)rc, "%s: frame %llu: %s", q->reader.io.name,
                 (unsigned long long)(q->reader.seq - 1), why.msg);
    if (rc) {
        gnn_batch_put(b);
        return rc;
    }
    b->nth = q->nth++;
    *out = b;
    return 0;
}

static void source_free(struct gnn_source *s)
{
    struct stream_source *q = (struct stream_source *)s;
    gnn_batch_pool_free(q->pool);
    gnn_node_set_release(&q->seen);
    gnn_reader_release(&q->reader);
    gnn_free(q);
}

struct gnn_source *gnn_stream_source_new(int fd, const char *name, struct gnn_err *e)
{
    return gnn_stream_source_on(fd, name, &(struct gnn_stream_opts){0}, e);
}

struct gnn_source *gnn_stream_source_on(int fd, const char *name, const struct gnn_stream_opts *o,
                                        struct gnn_err *e)
{
    struct stream_source *q = gnn_alloc_zero(1, sizeof *q, "a stream", e);
    if (!q) {
        close(fd);
        return NULL;
    }
    q->base = (struct gnn_source){.next = next_batch, .free = source_free, .meta = &q->reader.meta};
    if (gnn_reader_begin(&q->reader, fd, name, o, e) ||
        !(q->pool = gnn_batch_pool_new(&q->reader.meta, e))) {
        source_free(&q->base);
        return NULL;
    }
    q->reader.check_table = gnn_batch_check_table;
    return &q->base;
}
