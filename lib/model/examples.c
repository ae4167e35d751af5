/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/examples.h"

#include "lib/data/tensors.h"
#include "lib/model/metrics.h"

int gnn_examples_fit(const struct gnn_model *m, const struct gnn_meta *meta, struct gnn_err *e)
{
    const uint32_t type = meta->sampling.seed_ntype;
    return type == m->c.target
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "the seeds are of node type %s, but the labels of %s",
                          meta->schema.ntype[type].name, m->c.ntype[m->c.target].name);
}

/* Seeds of a batch over all ranks, of which n are this one's. */
static uint64_t count_all(const struct gnn_sampling *s, const struct gnn_batch *b, uint32_t n)
{
    if (!s->ranks) /* a stream of seeds does not say how many there are */
        return n;
    if (gnn_sampling_counts_seeds(s))
        return b->seeds;
    return gnn_sampling_seeds_of(s, b->split, b->step);
}

void gnn_batch_examples(const struct gnn_model *m, const struct gnn_meta *meta,
                        const struct gnn_batch *b, struct gnn_examples *x)
{
    const struct gnn_batch_type *t = &b->type[m->c.target];
    x->n = (uint32_t)t->count[0];
    x->all = count_all(&meta->sampling, b, x->n);
    x->draws = b->split ? NULL : t->draws;
    gnn_tensor_name(x->label, "node/%s/y", m->c.ntype[m->c.target].name);
    x->y = gnn_tensors_find(&b->tensors, x->label);
}

int gnn_examples_labelled(const struct gnn_examples *x, const struct gnn_model *m,
                          struct gnn_err *e)
{
    if (!x->y)
        return gnn_fail(e, GNN_E_INPUT, "batches have no labels %s: run gnn-gather first",
                        x->label);
    return gnn_labels_fit(x->y, m->c.task, m->c.outputs, x->n, e);
}
