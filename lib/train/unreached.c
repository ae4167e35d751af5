/* SPDX-License-Identifier: Apache-2.0 */
/* Which convolutions no step has reached: their edges are left out wherever the model is applied,
 * as nothing has taught their parameters anything. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/train/train_impl.h"

/* The passes over full batches have all edges of the store. */
static void reach_all(struct gnn_trainer *t)
{
    const struct gnn_schema *s = &t->meta->schema;
    const uint32_t ne = t->m->c.netypes;
    for (uint64_t i = 0; i < gnn_train_nconvs(t); i++)
        t->m->c.untrained[i] = t->m->c.untrained[i] && !s->etype[i % ne].count;
}

int gnn_train_untrained_init(struct gnn_trainer *t, struct gnn_err *e)
{
    const bool *list = t->m->c.untrained;
    const uint64_t n = gnn_train_nconvs(t);
    if (!list)
        return 0;
    if (!(t->best_untrained = gnn_alloc_zero(n, sizeof *list, "edge types", e)))
        return e->code;
    if (t->o.full)
        reach_all(t);
    memcpy(t->best_untrained, list, n * sizeof *list);
    return 0;
}

int gnn_train_untrained_reach(struct gnn_trainer *t, struct gnn_err *e)
{
    if (!t->m->c.untrained || t->o.full)
        return 0;
    t->reached = true;
    return gnn_net_reached(&t->net, t->m->c.untrained, e);
}

int gnn_train_untrained_agree(struct gnn_trainer *t, struct gnn_err *e)
{
    bool *list = t->m->c.untrained;
    const uint64_t n = gnn_train_nconvs(t);
    if (!t->reached)
        return 0;
    t->reached = false;
    if (t->comm->size == 1)
        return 0;
    uint64_t *reached = gnn_alloc(n, sizeof *reached, "edge types", e);
    for (uint64_t i = 0; reached && i < n; i++)
        reached[i] = !list[i];
    const int rc = reached ? gnn_comm_all_reduce(t->comm, reached, n, GNN_REDUCE_U64, e) : e->code;
    for (uint64_t i = 0; !rc && i < n; i++)
        list[i] = !reached[i];
    gnn_free(reached);
    return rc;
}
