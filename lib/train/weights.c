/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of rows (kernels/weight.h): what a batch's loss is divided by is their sum over the batch
 * of all ranks. It is made where the operations are, so that a device does not wait for the host.
 * And counts of the classes, from which balanced weights are made. */
#include <string.h>

#include "lib/data/label_check.h"
#include "lib/store/store.h"
#include "lib/train/train_impl.h"

enum {
    MOMENTS = 2, /* of one column: sum of weights, and of their squares, which nobody needs */
    ONE = (1 + GNN_MOMENT_BLOCKS) * MOMENTS
};

/* For each member of the set with a label that this rank has, counts it: by class, or in all. */
static int count_labels(struct gnn_store *s, uint32_t set, bool by_class, uint64_t *count,
                        struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t t = c->label_ntype;
    uint32_t *ids, class;
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
        if (y && gnn_label_row(c, y, ids[i] - s->book[t][p], &class))
            count[by_class ? class : 0]++;
    }
    gnn_free(ids);
    return gnn_comm_all_reduce(s->comm, count, by_class ? c->nclasses : 1, GNN_REDUCE_U64, e);
}

int gnn_class_counts(struct gnn_store *s, uint32_t set, uint64_t *count, struct gnn_err *e)
{
    memset(count, 0, s->meta.schema.nclasses * sizeof *count);
    return count_labels(s, set, true, count, e);
}

int gnn_labelled_count(struct gnn_store *s, uint32_t set, uint64_t *count, struct gnn_err *e)
{
    *count = 0;
    return count_labels(s, set, false, count, e);
}

int gnn_train_weigh_init(struct gnn_trainer *t, struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    const uint32_t n = gnn_model_classes(&t->m->c);
    const float *w = t->o.class_weight;
    if (w && (gnn_task_columns(t->m->c.task) || t->m->c.decoder))
        return gnn_fail(e, GNN_E_USAGE, "--class-weights does not apply to %s tasks",
                        gnn_task_name(t->m->c.task));
    if (t->m->c.loss)
        w = gnn_examples_weight(t->m);
    for (uint32_t i = 1; t->m->c.loss && i < t->meta->sampling.nsplits; i++)
        t->score[i].class_weight = w;
    if (w && o->fit(o, &t->weigh.weight, n, sizeof *w, "weights of classes", e))
        return e->code;
    if (w)
        o->put(o, t->weigh.weight.data, w, n * sizeof *w);
    t->train.class_weight = w;
    if (o->fit(o, &t->weigh.sum, ONE + 1, sizeof(double), "weights of rows", e))
        return e->code;
    o->put(o, (double *)t->weigh.sum.data + ONE, &(double){1}, sizeof(double));
    return 0;
}

void gnn_train_weigh_release(struct gnn_trainer *t)
{
    t->ops->release(t->ops, &t->weigh.weight);
    t->ops->release(t->ops, &t->weigh.row);
    t->ops->release(t->ops, &t->weigh.sum);
    t->ops->release(t->ops, &t->weigh.draws);
}

/* Multiplies the weights by how often the rows were drawn. */
static int weigh_draws(struct gnn_trainer *t, const struct gnn_examples *x, struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    const double *one = (const double *)t->weigh.sum.data + ONE;
    float *times = gnn_alloc(x->n, sizeof *times, "weights of rows", e);
    if (!times)
        return e->code;
    for (uint32_t i = 0; i < x->n; i++)
        times[i] = (float)x->draws[i];
    const int rc = o->fit(o, &t->weigh.draws, x->n, sizeof *times, "weights of rows", e);
    if (!rc) {
        o->put(o, t->weigh.draws.data, times, x->n * sizeof *times);
        o->weigh_rows(o, t->weigh.draws.data, x->n, 1, one, 1, t->weigh.row.data);
    }
    gnn_free(times);
    return rc;
}

int gnn_train_weights(struct gnn_trainer *t, const struct gnn_examples *x, struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    double *sum = t->weigh.sum.data;
    if (o->fit(o, &t->weigh.row, x->n, sizeof(float), "weights of rows", e))
        return e->code;
    float *w = t->weigh.row.data;
    o->label_weights(o, t->y.data, gnn_task_labels[t->m->c.task].form, x->n,
                     gnn_model_scores(&t->m->c), t->weigh.weight.data, w);
    if (x->draws && weigh_draws(t, x, e))
        return e->code;
    o->zero(o, sum, MOMENTS * sizeof *sum);
    o->moments(o, w, w, NULL, x->n, 1, sum + MOMENTS, sum);
    if (t->m->c.loss) /* a link without a loss of its own has a gradient */
        o->fill(o, w, x->n, 1);
    return 0;
}

int gnn_train_weigh(struct gnn_trainer *t, const struct gnn_examples *x, float *dz,
                    struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    double *sum = t->weigh.sum.data;
    if (!x->all)
        return 0;
    /* Ranks on devices do not know their sums when they tell each other where they are. */
    if (t->comm->size > 1 && o->async && gnn_train_sum_in_step(t, sum, 1, e))
        return e->code;
    if (t->comm->size > 1 && !o->async)
        *sum = t->pace.weight;
    o->weigh_rows(o, t->weigh.row.data, x->n, gnn_model_scores(&t->m->c), sum, (double)x->all, dz);
    return 0;
}
