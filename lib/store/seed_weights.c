/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank weighs the seeds that it has, and the ranks tell each other. */
#include "lib/store/seed_weights.h"

#include <math.h>

#include "kernels/label.h"
#include "lib/data/label_check.h"
#include "lib/data/tensors.h"

/* The class of row i, or nclasses: it has none. */
static uint32_t class_of(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i)
{
    uint32_t k;
    return gnn_label_row(c, y, i, &k) ? k : c->nclasses;
}

/* This rank's nodes among ids (n): their rows of a field, one after the other. */
struct member {
    const struct gnn_tensor *x;
    uint64_t at, row; /* among the ids; of the tensor */
};
static int next_member(struct gnn_store *s, uint32_t type, const char *field, const uint32_t *ids,
                       uint64_t n, struct member *q, struct gnn_err *e)
{
    for (; q->at < n; q->at++) {
        if (ids[q->at] == UINT32_MAX || !gnn_store_owns(s, type, ids[q->at]))
            continue;
        const uint32_t p = gnn_store_owner(s, type, ids[q->at]);
        const char *name = s->meta.schema.ntype[type].name;
        q->x = gnn_store_findf(s, p, "node/%s/%s", name, field);
        q->row = ids[q->at] - s->book[type][p];
        if (!q->x)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/%s' is missing",
                            gnn_store_part_path(s, p), name, field);
        return 0;
    }
    return GNN_END;
}

/* Each class as likely as another, and in it each node; what has no label is never drawn. */
static int weigh_classes(struct gnn_store *s, uint32_t type, const uint32_t *ids, uint64_t n,
                         double *w, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    uint64_t *count = gnn_alloc_zero(c->nclasses + UINT64_C(1), sizeof *count, "classes", e);
    int rc = count ? 0 : e->code;
    for (struct member q = {0}; !rc && !(rc = next_member(s, type, "y", ids, n, &q, e)); q.at++)
        count[class_of(c, q.x, q.row)]++;
    if (rc == GNN_END)
        rc = gnn_comm_all_reduce(s->comm, count, c->nclasses, GNN_REDUCE_U64, e);
    for (struct member q = {0}; !rc && !(rc = next_member(s, type, "y", ids, n, &q, e)); q.at++) {
        const uint32_t k = class_of(c, q.x, q.row);
        w[q.at] = k < c->nclasses ? 1 / (double)count[k] : 0;
    }
    gnn_free(count);
    return rc == GNN_END ? 0 : rc;
}

static int weigh_field(struct gnn_store *s, uint32_t type, const char *field, const uint32_t *ids,
                       uint64_t n, double *w, struct gnn_err *e)
{
    struct member q = {0};
    int rc;
    for (; !(rc = next_member(s, type, field, ids, n, &q, e)); q.at++) {
        const struct gnn_tensor *x = q.x;
        const struct gnn_tensor one = gnn_tensor_from(x, q.row);
        float narrow;
        w[q.at] = gnn_tensor_floats(&one, 1, &narrow)
                      ? (double)narrow
                      : gnn_label_value(x->data, (enum gnn_label_type)x->dtype, q.row);
        if (!(w[q.at] >= 0) || !isfinite(w[q.at]))
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: weight %g of node %u ('%s'): nodes are drawn by finite numbers >= 0", s->path,
                w[q.at], ids[q.at], field);
    }
    return rc == GNN_END ? 0 : rc;
}

int gnn_store_seed_weights(struct gnn_store *s, const struct gnn_sampling *m, const uint32_t *ids,
                           uint64_t n, double *w, struct gnn_err *e)
{
    const bool balance = m->seed_balance;
    double total = 0;
    int rc = balance ? weigh_classes(s, m->seed_ntype, ids, n, w, e)
                     : weigh_field(s, m->seed_ntype, m->seed_weight, ids, n, w, e);
    if (!rc)
        rc = gnn_comm_all_reduce(s->comm, w, n, GNN_REDUCE_F64, e);
    for (uint64_t i = 0; !rc && i < n; i++)
        total += w[i];
    if (!rc && !(total > 0 && isfinite(total)))
        rc = gnn_fail(e, GNN_E_INPUT,
                      balance ? "%s: no seed has a label to balance"
                              : "%s: the weights of all nodes add up to %g, so none can be drawn",
                      s->path, total);
    return rc;
}
