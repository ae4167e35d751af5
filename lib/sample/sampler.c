/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sample/sampler.h"

#include "lib/gpu/gpu.h"
#include "lib/sample/sample_impl.h"

void gnn_sampler_opts_init(struct gnn_sampler_opts *o)
{
    *o = (struct gnn_sampler_opts){.split = "train",
                                   .seeds_fd = -1,
                                   .epoch_to = 1,
                                   .step_to = UINT64_MAX,
                                   .graph_cache = UINT64_MAX};
    gnn_sampling_init(&o->sampling);
}

static int sampler_end(void *arg, struct gnn_err *e)
{
    return gnn_store_verified(((struct sampler *)arg)->store, e);
}

struct gnn_source *gnn_sampler_source_new(struct gnn_store *store, const struct gnn_sampler_opts *o,
                                          struct gnn_err *e)
{
    static const struct gnn_map_ops ops = {.worker_new = gnn_sample_worker_new,
                                           .worker_free = gnn_sample_worker_free,
                                           .apply = gnn_sample_apply,
                                           .end = sampler_end,
                                           .arg_free = gnn_sampler_free,
                                           .leave = gnn_sample_barrier_leave};
    struct sampler *s = gnn_sampler_new(store, o, e);
    if (!s)
        return NULL;
    const bool assembled = gnn_sampler_assembles(o, s->comm->size);
    struct sample_backend *backend =
        o->gpu && assembled ? gnn_sample_gpu.draw_new(o->gpu, s, o, e) : &gnn_sample_cpu;
    if (backend)
        s->backend = backend;
    struct gnn_source *plan = backend ? gnn_plan_source_new(s, e) : NULL;
    if (!plan) {
        gnn_sampler_free(s);
        return NULL;
    }
    if (o->gpu && !assembled)
        return gnn_sample_gpu.source_new(o->gpu, s, plan, o, e);
    struct gnn_map_ops with = ops;
    with.background = o->background;
    return gnn_map_new(plan, &s->meta, &with, s, o->threads, o->depth ? o->depth : 2 * o->threads,
                       e);
}
