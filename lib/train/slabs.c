/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and moments where steps work on them: the host's own, or copies. */
#include <string.h>

#include "lib/train/train_impl.h"

enum { NSLABS = GNN_TRAIN_SLABS, APART = 64 }; /* 256 bytes: vector loads are aligned */

void gnn_train_slabs_list(struct gnn_trainer *t, struct gnn_train_slab s[GNN_TRAIN_SLABS])
{
    const uint64_t all = t->m->nfloats, n = t->m->trained;
    s[0] = (struct gnn_train_slab){"state.moment1", t->m1, &t->work.m1, n};
    s[1] = (struct gnn_train_slab){"state.moment2", t->m2, &t->work.m2, n};
    s[2] = (struct gnn_train_slab){"state.best", t->best, &t->work.best, all};
    s[3] = (struct gnn_train_slab){NULL, t->m->slab, &t->work.p, all};
}

int gnn_train_slabs_init(struct gnn_trainer *t, struct gnn_err *e)
{
    struct gnn_train_slab p[NSLABS];
    uint64_t at[NSLABS + 1] = {0};
    gnn_train_slabs_list(t, p);
    for (unsigned i = 0; i < NSLABS; i++)
        at[i + 1] = (at[i] + p[i].n + APART - 1) / APART * APART;
    if (t->ops->async &&
        (t->ops->fit(t->ops, &t->work.buf, at[NSLABS], sizeof(float), "parameters", e) ||
         t->ops->fit_host(t->ops, &t->work.host, t->m->nfloats, sizeof(float), "parameters", e)))
        return e->code;
    for (unsigned i = 0; i < NSLABS; i++)
        *p[i].work = t->ops->async ? (float *)t->work.buf.data + at[i] : p[i].host;
    return 0;
}

void gnn_train_slabs_release(struct gnn_trainer *t)
{
    t->ops->release(t->ops, &t->work.buf);
    t->ops->release_host(t->ops, &t->work.host);
}

void gnn_train_slabs_put(struct gnn_trainer *t)
{
    struct gnn_train_slab p[NSLABS];
    gnn_train_slabs_list(t, p);
    for (unsigned i = 0; i < NSLABS; i++)
        if (*p[i].work != p[i].host)
            t->ops->put(t->ops, *p[i].work, p[i].host, p[i].n * sizeof(float));
}

int gnn_train_slabs_fetch(struct gnn_trainer *t, struct gnn_err *e)
{
    struct gnn_train_slab p[NSLABS];
    gnn_train_slabs_list(t, p);
    for (unsigned i = 0; i < NSLABS; i++) {
        if (*p[i].work == p[i].host)
            continue;
        /* Through pinned memory, one slab at a time: a copy to pageable memory would be done in
         * pieces by the driver. */
        t->ops->fetch(t->ops, t->work.host.data, *p[i].work, p[i].n * sizeof(float));
        t->ops->mark(t->ops, 0);
        if (t->ops->wait(t->ops, 0, e))
            return e->code;
        memcpy(p[i].host, t->work.host.data, p[i].n * sizeof(float));
    }
    return 0;
}
