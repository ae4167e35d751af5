/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of classes: counts of the classes, from which balanced weights are made, and the
 * weighting of a batch's loss. The sum of weights that a loss is divided by is over the batch of
 * all ranks. It is made where the operations are, so that a device does not wait for the host. */
#include <string.h>

#include "kernels/label.h"
#include "lib/store/store.h"
#include "lib/train/train_impl.h"

enum { MOMENTS = 2 }; /* of one column: sum of weights, and of their squares, which nobody needs */

static int class_of(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i)
{
    const double v = gnn_label_value(y->data, (enum gnn_label_type)y->dtype, i);
    const float target = gnn_label_target(v);
    const int32_t k = c->task == GNN_TASK_BINARY ? (target == target ? target > 0.5f : -1)
                                                 : gnn_label_class(v, c->nclasses);
    return k >= 0 && (uint32_t)k < c->nclasses ? k : -1;
}

int gnn_class_counts(struct gnn_store *s, uint32_t set, uint64_t *count, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t t = c->label_ntype;
    uint32_t *ids;
    memset(count, 0, c->nclasses * sizeof *count);
    if (c->set[set].ntype != t)
        return gnn_fail(e, GNN_E_USAGE, "set %s is not of the labelled node type %s",
                        c->set[set].set, c->ntype[t].name);
    if (gnn_store_split(s, set, &ids, e))
        return e->code;
    for (uint64_t i = 0; i < c->set[set].count; i++) {
        if (ids[i] == UINT32_MAX) /* another rank's */
            continue;
        const uint32_t p = gnn_store_owner(s, t, ids[i]);
        const struct gnn_tensor *y = gnn_store_findf(s, p, "node/%s/y", c->ntype[t].name);
        const int k = y ? class_of(c, y, ids[i] - s->book[t][p]) : -1;
        if (k >= 0)
            count[k]++;
    }
    gnn_free(ids);
    return gnn_comm_all_reduce(s->comm, count, c->nclasses, GNN_REDUCE_U64, e);
}

int gnn_train_weigh_init(struct gnn_trainer *t, struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    const enum gnn_task task = t->m->c.task;
    const uint32_t n = task == GNN_TASK_BINARY ? 2 : t->m->c.outputs;
    if (!t->o.class_weight)
        return 0;
    if (task != GNN_TASK_MULTICLASS && task != GNN_TASK_BINARY)
        return gnn_fail(e, GNN_E_USAGE, "--class-weights does not apply to %s tasks",
                        gnn_task_name(task));
    if (o->fit(o, &t->weigh.weight, n, sizeof(float), "weights of classes", e) ||
        o->fit(o, &t->weigh.sum, (1 + GNN_MOMENT_BLOCKS) * MOMENTS, sizeof(double),
               "weights of classes", e))
        return e->code;
    o->put(o, t->weigh.weight.data, t->o.class_weight, n * sizeof(float));
    return 0;
}

void gnn_train_weigh_release(struct gnn_trainer *t)
{
    t->ops->release(t->ops, &t->weigh.weight);
    t->ops->release(t->ops, &t->weigh.row);
    t->ops->release(t->ops, &t->weigh.sum);
}

int gnn_train_weigh(struct gnn_trainer *t, uint32_t rows, uint64_t all, float *dz,
                    struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    const uint32_t out = t->m->c.outputs;
    double *sum = t->weigh.sum.data;
    if (!t->o.class_weight || !all)
        return 0;
    if (o->fit(o, &t->weigh.row, rows, sizeof(float), "weights of rows", e))
        return e->code;
    float *w = t->weigh.row.data;
    if (t->m->c.task == GNN_TASK_BINARY)
        o->target_weights(o, t->y.data, rows, t->weigh.weight.data, w);
    else
        o->class_weights(o, t->y.data, rows, out, t->weigh.weight.data, w);
    o->zero(o, sum, MOMENTS * sizeof *sum);
    o->moments(o, w, w, NULL, rows, 1, sum + MOMENTS, sum);
    if (t->comm->size > 1 && gnn_train_sum_in_step(t, sum, 1, e))
        return e->code;
    o->weigh_rows(o, w, rows, out, sum, (double)all, t->row_loss.data, dz);
    return 0;
}
