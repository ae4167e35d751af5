/* SPDX-License-Identifier: Apache-2.0 */
/* Which batches there are: epochs, steps and splits. */
#include <inttypes.h>

#include "lib/sample/sample_impl.h"
#include "lib/base/plural.h"

int gnn_plan_init(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    const struct gnn_sampling *m = &s->meta.sampling;
    const uint64_t steps = s->seeds->next ? UINT64_MAX : m->steps[0];
    s->epoch_from = o->epoch_from;
    s->epoch_to = o->epoch_to;
    s->step_from = o->step_from;
    s->step_first = o->step_first;
    s->step_stride = o->step_stride ? o->step_stride : 1;
    s->step_to = o->step_to < steps ? o->step_to : steps;
    if (o->epoch_from >= o->epoch_to || o->epoch_to > (uint64_t)1 << 32)
        return gnn_fail(e, GNN_E_USAGE, "epochs %" PRIu64 ":%" PRIu64 ": not a range of epochs",
                        o->epoch_from, o->epoch_to);
    if (o->step_from >= o->step_to)
        return gnn_fail(e, GNN_E_USAGE, "steps %" PRIu64 ":%" PRIu64 ": not a range of steps",
                        o->step_from, o->step_to);
    if (steps != UINT64_MAX && steps > (uint64_t)1 << 32)
        return gnn_fail(e, GNN_E_USAGE, "an epoch has more than 2^32 steps");
    if (steps && s->step_from >= steps)
        return gnn_fail(e, GNN_E_USAGE,
                        "steps from %" PRIu64 " on: an epoch has only %" PRIu64 " step%s",
                        s->step_from, steps, gnn_plural(steps));
    if (!steps && !m->split_seeds[0])
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' is empty: there is nothing to sample",
                        s->store->path, m->split[0]);
    if (!steps)
        return gnn_fail(e, GNN_E_USAGE,
                        "%s: set '%s' has %" PRIu64
                        " %s%s, fewer than a batch of %u, which --drop-last leaves out",
                        s->store->path, m->split[0], m->split_seeds[0],
                        m->links.type ? "link" : "node", gnn_plural(m->split_seeds[0]),
                        m->batch_size);
    return 0;
}

struct plan {
    struct gnn_source base;
    struct sampler *s;
    struct gnn_batch_pool *pool;
    uint64_t epoch, step, nth;
    uint32_t split;
};

static int next_read(struct plan *p, struct gnn_batch *b, struct gnn_err *e)
{
    for (;; p->step++) {
        if (p->step >= p->s->step_to)
            return GNN_END;
        gnn_tensors_clear(&b->tensors);
        int rc = p->s->seeds->next(p->s->seeds, b, e);
        if (rc)
            return rc;
        if (p->step >= p->s->step_from && (p->step - p->s->step_from) % p->s->step_stride == 0)
            break;
    }
    b->epoch = p->epoch;
    b->step = p->step++;
    return 0;
}

/* Whether the last step of an epoch is among those asked for. */
static bool has_last_step(const struct sampler *s)
{
    const uint64_t steps = s->meta.sampling.steps[0];
    return s->step_to == steps && (steps - 1 - s->step_from) % s->step_stride == 0;
}

static int next_listed(struct plan *p, struct gnn_batch *b)
{
    const struct sampler *s = p->s;
    const struct gnn_sampling *m = &s->meta.sampling;
    for (; p->epoch < s->epoch_to; p->epoch++, p->split = 0, p->step = s->step_from)
        for (; p->split < m->nsplits; p->split++, p->step = 0) {
            const uint64_t steps = m->steps[p->split];
            if (p->split && !has_last_step(s))
                break;
            if (p->step < (p->split ? steps : s->step_to)) {
                b->epoch = p->epoch;
                b->split = p->split;
                b->step = p->step;
                p->step += p->split ? 1 : s->step_stride;
                return 0;
            }
        }
    return GNN_END;
}

static int plan_next(struct gnn_source *base, struct gnn_batch **out, struct gnn_err *e)
{
    struct plan *p = (struct plan *)base;
    struct gnn_batch *b;
    if (!gnn_sample_barrier_pass(p->s->barrier))
        return GNN_END;
    int rc = gnn_batch_get(p->pool, &b, e);
    if (rc)
        return rc;
    rc = p->s->seeds->next ? next_read(p, b, e) : next_listed(p, b);
    if (rc) {
        gnn_batch_put(b);
        return rc;
    }
    b->rank = p->s->meta.sampling.rank;
    b->nth = p->nth++;
    *out = b;
    return 0;
}

static void plan_free(struct gnn_source *base)
{
    struct plan *p = (struct plan *)base;
    gnn_batch_pool_free(p->pool);
    gnn_free(p);
}

struct gnn_source *gnn_plan_source_new(struct sampler *s, struct gnn_err *e)
{
    struct plan *p = gnn_alloc_zero(1, sizeof *p, "a plan", e);
    if (!p)
        return NULL;
    *p = (struct plan){.base = {plan_next, plan_free, &s->meta, s->seeds->next != NULL},
                       .s = s,
                       .epoch = s->epoch_from};
    p->step = s->seeds->next ? 0 : s->step_first > s->step_from ? s->step_first : s->step_from;
    p->pool = gnn_batch_pool_new(&s->meta, e);
    if (!p->pool) {
        gnn_free(p);
        return NULL;
    }
    return &p->base;
}
