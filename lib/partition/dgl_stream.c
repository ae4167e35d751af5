/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a folder of DGL, written in order (lib/partition/dgl_folder.h). */
#include <fcntl.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/dgl_folder.h"

static int flush_stream(struct gnn_dgl_stream *s)
{
    const uint64_t n = s->n;
    s->n = 0;
    return n ? gnn_io_write(&s->io, s->buffer, n, s->e) : GNN_OK;
}

/* Large blocks are not copied. */
static int put_stream(void *arg, const void *data, uint64_t n)
{
    struct gnn_dgl_stream *s = arg;
    if (!n)
        return GNN_OK;
    if (n > GNN_DGL_BUFFER - s->n && flush_stream(s))
        return s->e->code;
    if (n > GNN_DGL_BUFFER / 4)
        return flush_stream(s) ? s->e->code : gnn_io_write(&s->io, data, n, s->e);
    memcpy(s->buffer + s->n, data, n);
    s->n += n;
    return GNN_OK;
}

int gnn_dgl_stream_open(struct gnn_dgl_stream *s, const struct gnn_dgl_folder *f, const char *name,
                        struct gnn_err *e)
{
    *s = (struct gnn_dgl_stream){.buffer = f->buffer, .e = e};
    s->to = (struct gnn_dgl_to){put_stream, s};
    s->path = gnn_strf(e, "%s/%s", f->temp->name, name);
    if (!s->path)
        return GNN_E_NOMEM;
    gnn_temp_enter();
    const int fd = open(s->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    gnn_temp_leave();
    if (fd < 0) {
        gnn_fail_errno(e, "%s: cannot create", s->path);
        gnn_free(s->path);
        return e->code;
    }
    gnn_io_init(&s->io, fd, s->path);
    return GNN_OK;
}

int gnn_dgl_stream_close(struct gnn_dgl_stream *s, int rc)
{
    struct gnn_err late = {0};
    if (!rc)
        rc = flush_stream(s);
    if (gnn_io_close(&s->io, !rc, rc ? &late : s->e) && !rc)
        rc = s->e->code;
    gnn_free(s->path);
    return rc;
}

int gnn_dgl_stream_tensors(const struct gnn_dgl_folder *f, const char *name,
                           const struct gnn_dgl_column *c, uint64_t n, struct gnn_err *e)
{
    struct gnn_dgl_stream s;
    int rc = gnn_dgl_stream_open(&s, f, name, e);
    return rc ? rc : gnn_dgl_stream_close(&s, gnn_dgl_write_tensors(&s.to, c, n));
}
