/* SPDX-License-Identifier: Apache-2.0 */
/* From the host's memory to where the operations are: what is made once, before the first pass. If
 * partitions take turns, what one of them makes becomes its own, which can be moved to a file. */
#include "lib/model/full_impl.h"

const void *gnn_full_bring(const struct gnn_full *f, struct gnn_buf *buffer, const void *host,
                           uint64_t bytes, const char *what, struct gnn_err *e)
{
    if (!f->o->async)
        return host;
    if (f->o->fit(f->o, buffer, bytes, 1, what, e))
        return NULL;
    f->o->put(f->o, buffer->data, host, bytes);
    return buffer->data;
}

int gnn_full_table_make(struct full_table *t, uint64_t n, size_t size, const char *what,
                        struct gnn_err *e)
{
    if (gnn_buf_fit(&t->made, n, size, what, e))
        return e->code;
    t->data = t->made.data;
    t->bytes = n * size;
    t->what = what;
    return 0;
}

int gnn_full_table_put(const struct gnn_full *f, struct full_table *t, struct gnn_err *e)
{
    if ((!f->o->async && !f->turn) || !t->made.data)
        return 0;
    if (f->o->fit(f->o, &t->there, t->bytes, 1, t->what, e))
        return e->code;
    f->o->put(f->o, t->there.data, t->made.data, t->bytes);
    t->data = t->there.data;
    gnn_buf_release(&t->made);
    return 0;
}

void gnn_full_table_free(const struct gnn_full *f, struct full_table *t)
{
    gnn_buf_release(&t->made);
    f->o->release(f->o, &t->there);
    t->data = NULL;
}
