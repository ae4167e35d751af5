/* A source that reads a batch stream from a file or pipe. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/source.h"
#include "lib/stream.h"

struct stream_source {
    struct gnn_source base;
    struct gnn_reader reader;
    struct gnn_batch_pool *pool;
};

static int next(struct gnn_source *s, struct gnn_batch **out, struct gnn_err *e)
{
    struct stream_source *q = (struct stream_source *)s;
    struct gnn_batch *b;
    int rc = gnn_batch_get(q->pool, &b, e);
    if (rc)
        return rc;
    rc = gnn_reader_next(&q->reader, &b->tensors, e);
    struct gnn_err why = {0};
    if (!rc && (rc = gnn_batch_bind(b, s->meta, &why)))
        gnn_fail(e, (enum gnn_status)rc, "%s: frame %llu: %s", q->reader.io.name,
                 (unsigned long long)(q->reader.seq - 1), why.msg);
    if (rc) {
        gnn_batch_put(b);
        return rc;
    }
    *out = b;
    return 0;
}

static void source_free(struct gnn_source *s)
{
    struct stream_source *q = (struct stream_source *)s;
    gnn_batch_pool_free(q->pool);
    gnn_reader_release(&q->reader);
    gnn_free(q);
}

struct gnn_source *gnn_stream_source_new(int fd, const char *name, struct gnn_err *e)
{
    struct stream_source *q = gnn_alloc_zero(1, sizeof *q, "a stream", e);
    if (!q) {
        close(fd);
        return NULL;
    }
    q->base = (struct gnn_source){.next = next, .free = source_free, .meta = &q->reader.meta};
    if (gnn_reader_begin(&q->reader, fd, name, e) ||
        !(q->pool = gnn_batch_pool_new(&q->reader.meta, e))) {
        source_free(&q->base);
        return NULL;
    }
    return &q->base;
}
