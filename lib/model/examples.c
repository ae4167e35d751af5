/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/examples.h"

#include <math.h>

#include "kernels/rows.h"
#include "lib/data/columns.h"
#include "lib/data/tensors.h"
#include "lib/model/task.h"

/* Labels of links must be what the model has learned; pairs of a file have none. */
static int check_labels(const struct gnn_model *m, const struct gnn_links *l, struct gnn_err *e)
{
    const enum gnn_task task = gnn_links_task(l);
    if (!l->target || l->sum || (task == m->c.task && l->classes <= gnn_model_classes(&m->c)))
        return 0;
    return l->classes && task == m->c.task
               ? gnn_fail(e, GNN_E_USAGE, "--target %s: %u classes, but the model has %u",
                          l->target, l->classes, gnn_model_classes(&m->c))
               : gnn_fail(e, GNN_E_USAGE, "--target %s is a %s task, but the model's task is %s",
                          l->target, gnn_task_name(task), gnn_task_name(m->c.task));
}

int gnn_examples_fit(const struct gnn_model *m, const struct gnn_meta *meta, struct gnn_err *e)
{
    const struct gnn_sampling *s = &meta->sampling;
    const uint32_t type = s->seed_ntype;
    if (!m->c.decoder != !s->links.type)
        return gnn_fail(e, GNN_E_INPUT,
                        m->c.decoder ? "the model is of links, and the batches have none"
                                     : "the batches are of links, and the model of labelled nodes");
    if (m->c.decoder && meta->schema.etype[s->links.etype].src != m->c.heads)
        return gnn_fail(e, GNN_E_USAGE,
                        "the links of the batches begin at node type %s, the model's at %s",
                        meta->schema.ntype[meta->schema.etype[s->links.etype].src].name,
                        m->c.ntype[m->c.heads].name);
    if (m->c.decoder && check_labels(m, &s->links, e))
        return e->code;
    return type == m->c.target
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "the seeds are of node type %s, but the labels of %s",
                          meta->schema.ntype[type].name, m->c.ntype[m->c.target].name);
}

/* Seeds of a batch over all ranks, of which n are this one's. */
static uint64_t count_all(const struct gnn_model_config *c, const struct gnn_sampling *s,
                          const struct gnn_batch *b, uint32_t n)
{
    if (!s->ranks) /* a stream of seeds does not say how many there are */
        return n;
    if (gnn_model_tells_links(c))
        return b->seeds + gnn_sampling_negatives(s, b->split, b->step, b->seeds);
    if (gnn_sampling_counts_seeds(s))
        return b->seeds;
    return gnn_sampling_seeds_of(s, b->split, b->step);
}

void gnn_batch_examples(const struct gnn_model *m, const struct gnn_meta *meta,
                        const struct gnn_batch *b, struct gnn_examples *x)
{
    const struct gnn_batch_type *t = &b->type[m->c.target];
    const bool told = gnn_model_tells_links(&m->c);
    x->positives = told ? (uint32_t)b->rows[GNN_UNIT_PAIRS] : 0;
    x->n = told           ? x->positives + (uint32_t)b->rows[GNN_UNIT_NEGATIVES]
           : m->c.decoder ? (uint32_t)b->rows[GNN_UNIT_PAIRS]
                          : (uint32_t)t->count[0];
    const struct gnn_drawn drawn = gnn_sampling_drawn(&meta->sampling, b->split);
    x->each = (uint32_t)gnn_drawn_each(drawn);
    x->ragged = drawn.ragged;
    x->all = count_all(&m->c, &meta->sampling, b, x->n);
    x->draws = b->split ? NULL : t->draws;
    if (m->c.decoder)
        gnn_column_name(x->label, &meta->schema, GNN_COLUMN_LABEL, 0, 0);
    else
        gnn_tensor_name(x->label, "node/%s/y", m->c.ntype[m->c.target].name);
    x->y = told ? NULL : gnn_tensors_find(&b->tensors, x->label);
}

void gnn_examples_mark(const struct gnn_examples *x, const struct gnn_meta *meta,
                       const struct gnn_batch *b, float *y)
{
    const struct gnn_drawn drawn = gnn_sampling_drawn(&meta->sampling, b->split);
    gnn_fill(y, x->positives, 1);
    gnn_fill(y + x->positives, x->n - x->positives, 0);
    for (uint64_t i = 0; x->ragged && i < x->n - x->positives; i++)
        if (gnn_batch_lacks(b, drawn, i))
            y[x->positives + i] = NAN;
}

int gnn_examples_labelled(const struct gnn_examples *x, const struct gnn_model *m,
                          struct gnn_err *e)
{
    if (gnn_model_tells_links(&m->c))
        return 0;
    if (!x->y)
        return gnn_fail(e, GNN_E_INPUT, "batches have no labels %s: %s", x->label,
                        m->c.decoder ? "gnn-sample --target FIELD adds them"
                                     : "run gnn-gather first");
    return gnn_labels_fit(x->y, m->c.task, gnn_model_scores(&m->c), x->n, e);
}

int gnn_examples_loss(const struct gnn_examples *x, const struct gnn_model *m,
                      const struct gnn_ops *o, const float *z, const void *y, float scale,
                      double *row_loss, float *dz, struct gnn_err *e)
{
    const uint32_t p = x->positives, negatives = x->n - p;
    if (!m->c.loss) {
        gnn_tasks[m->c.task].loss(o, z, x->n, gnn_model_scores(&m->c), y, scale, row_loss, dz);
        return 0;
    }
    if (x->each ? negatives != (uint64_t)p * x->each : negatives && !p)
        return gnn_fail(e, GNN_E_INPUT, "a batch has %u negatives of %u links", negatives, p);
    o->link_loss(o, z, y, p, negatives, x->each, m->c.loss == GNN_LOSS_SOFTMAX, scale, row_loss,
                 dz);
    return 0;
}

const float *gnn_examples_weight(const struct gnn_model *m)
{
    static const float weight[][2] = {[GNN_LOSS_BPR] = {1, 0}, [GNN_LOSS_SOFTMAX] = {0, 1}};
    return m->c.loss ? weight[m->c.loss] : NULL;
}
