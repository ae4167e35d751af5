/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/predict/pass_wanted.h"

int gnn_predict_wanted(struct gnn_source *src, const struct gnn_wanted_pass *p, struct gnn_err *e)
{
    const struct gnn_sampling *m = &src->meta->sampling;
    uint64_t total = 0;
    int rc = 0;
    for (uint32_t i = 0; i < m->nsplits; i++)
        total += !p->wanted || p->wanted[i] ? m->split_seeds[i] : 0;
    while (!rc) {
        struct gnn_batch *b = NULL;
        if ((rc = gnn_source_next(src, &b, e)))
            break;
        if (!p->wanted || p->wanted[b->split])
            rc = p->one(p->arg, b, e);
        gnn_batch_put(b);
        p->progress(p->arg, total);
    }
    return rc == GNN_END ? 0 : rc;
}

int gnn_predict_fetch(const struct gnn_ops *o, struct gnn_buf *to, const void *from, uint64_t n,
                      struct gnn_err *e)
{
    if (o->fit_host(o, to, n, 1, "outputs", e))
        return e->code;
    if (n)
        o->fetch(o, to->data, from, n);
    return 0;
}
