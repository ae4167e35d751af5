/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/train/local_source.h"

#include "lib/gpu/gpu.h"

struct gnn_source *gnn_feed_new(struct gnn_store *store, const struct gnn_sampler_opts *s,
                                const struct gnn_gather_opts *g, struct gnn_err *e)
{
    struct gnn_gather_opts gather = *g;
    gather.beside = true;
    struct gnn_source *sampled = gnn_sampler_source_new(store, s, e);
    /* Several ranks gather before they bring batches to devices. */
    if (sampled && g->gpu && store->comm->size == 1 && gnn_sampler_assembles(s, 1))
        sampled = g->gpu->ops->bring(g->gpu, sampled, e);
    return sampled ? gnn_gather_source_new(sampled, store, &gather, e) : NULL;
}

void gnn_feed_prefetch(struct gnn_sampler_opts *s, struct gnn_gather_opts *g, unsigned n)
{
    s->threads = n;
    s->depth = n + 1; /* one is ready while n are being made: each is some hundred megabytes */
    s->background = true;
    *g = (struct gnn_gather_opts){.dtype = g->dtype,
                                  .fields = g->fields,
                                  .part_by_part = g->part_by_part,
                                  .replicate = g->replicate,
                                  .hits = g->hits}; /* on the same threads */
}
