/* SPDX-License-Identifier: Apache-2.0 */
/* The gatherer with the CPU. */
#include "lib/gather/tiers.h"

static void *worker_new(void *gatherer, struct gnn_err *e)
{
    return gnn_gather_rows_new(gatherer, e);
}

static void worker_free(void *rows)
{
    gnn_gather_rows_free(rows);
}

static int gather_batch(void *gatherer, void *rows, struct gnn_batch *b, struct gnn_err *e)
{
    const int rc = gnn_gather_apply(gatherer, rows, b, e);
    gnn_gather_count(gatherer, rows, b);
    return rc;
}

static int end_stream(void *gatherer, struct gnn_err *e)
{
    struct gatherer *g = gatherer;
    return gnn_gather_end(g, e) || gnn_store_verified(g->store, e) ? e->code : 0;
}

struct gnn_source *gnn_gather_source_new(struct gnn_source *up, struct gnn_store *s,
                                         const struct gnn_gather_opts *o, struct gnn_err *e)
{
    static const struct gnn_map_ops ops = {.worker_new = worker_new,
                                           .worker_free = worker_free,
                                           .apply = gather_batch,
                                           .end = end_stream,
                                           .arg_free = gnn_gatherer_free};
    struct gatherer *g = gnn_gatherer_new(up->meta, s, o, e);
    if (!g) {
        gnn_comm_set_lost(s->comm, true);
        gnn_source_free(up);
        return NULL;
    }
    if (o->gpu)
        return gnn_gather_gpu.source_new(o->gpu, up, g, o, e);
    return gnn_map_new(up, &g->meta, &ops, g, o->threads, o->threads + 1, e);
}
