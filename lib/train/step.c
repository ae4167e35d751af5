/* SPDX-License-Identifier: Apache-2.0 */
/* One training step, one evaluation batch, and the scores of both. On a device a batch is scored
 * while the next one is being computed, so that the host never waits for the batch that it has just
 * queued: two halves of buffers take turns. */
#include <math.h>
#include <string.h>

#include "kernels/rows.h"
#include "lib/base/clock.h"
#include "lib/train/train_impl.h"

static double learning_rate(const struct gnn_train_opts *o, uint64_t t, uint64_t epoch)
{
    double lr = o->lr;
    if (o->warmup && t <= o->warmup)
        return lr * (double)t / (double)o->warmup;
    if (o->schedule == GNN_STEP)
        lr *= pow(o->step_factor, (double)(epoch / o->step_epochs));
    /* Half a cosine from the end of the warm-up to the last step of the run. */
    if (o->schedule == GNN_COSINE) {
        const double n = (double)(o->total_steps - o->warmup), k = (double)(t - 1 - o->warmup);
        lr *= k < n ? 0.5 * (1 + cos(3.14159265358979323846 * k / n)) : 0;
    }
    return lr;
}

static void update_parameters(struct gnn_trainer *t, double lr)
{
    const struct gnn_train_opts *o = &t->o;
    const struct gnn_optim_step s = {.lr = (float)lr,
                                     .weight_decay = (float)o->weight_decay,
                                     .beta1 = (float)o->beta1,
                                     .beta2 = (float)o->beta2,
                                     .eps = (float)o->eps,
                                     .momentum = (float)o->momentum,
                                     .t = t->s.t};
    const struct gnn_ops *op = t->ops;
    const struct gnn_train_slabs *w = &t->work;
    const size_t n = t->m->trained;
    float *g = o->full ? gnn_full_grad(o->full) : t->net.pass.grad;
    if (o->clip > 0)
        op->clip(op, g, n, o->clip);
    if (o->optimizer == GNN_SGD)
        op->sgd(op, w->p, g, w->m1, n, &s);
    else
        op->adam(op, w->p, g, w->m1, w->m2, n, o->optimizer == GNN_ADAMW, &s);
}

static int pass_forward(struct gnn_trainer *t, const struct gnn_batch *b,
                        const struct gnn_net_mode *mode, float **z, struct gnn_err *e)
{
    return t->o.full ? gnn_full_forward(t->o.full, t->work.p, b, mode, z, e)
                     : gnn_net_forward(&t->net, t->work.p, b, t->meta, mode, z, e);
}

/* The gradients of full batches are those of all ranks at once. */
static int pass_backward(struct gnn_trainer *t, struct gnn_err *e)
{
    if (t->o.full)
        return gnn_full_backward(t->o.full, t->work.p, e);
    const int rc = gnn_net_backward(&t->net, t->work.p, e);
    return rc ? rc : gnn_comm_reduce_push(t->reduce, e); /* of those that are ready */
}

static void count_work(const struct gnn_trainer *t, uint64_t *flops, uint64_t *edges)
{
    *flops = t->o.full ? gnn_full_stats(t->o.full).flops : t->net.pass.flops;
    *edges = t->o.full ? gnn_full_stats(t->o.full).edges : t->net.pass.edges;
}

/* Whether the passes are made with the other ranks: then these must be at the same batch before;
 * else it is enough to know it before gradients are summed. */
static bool passes_meet(const struct gnn_trainer *t)
{
    return t->m->c.batch_norm || t->o.full;
}

/* Weights of the examples whose labels have been fetched, and their sum. Draws are kept for
 * scoring. */
static int weigh_labels(struct gnn_trainer *t, struct gnn_train_half *h, struct gnn_err *e)
{
    struct gnn_examples *x = &h->x;
    if (x->draws && x->n) {
        if (gnn_buf_fit(&h->draws, x->n, sizeof *x->draws, "draws", e))
            return e->code;
        x->draws = memcpy(h->draws.data, x->draws, x->n * sizeof *x->draws);
    }
    return gnn_train_weights(t, x, e);
}

static struct gnn_labels labels_of(const struct gnn_train_half *h)
{
    return (struct gnn_labels){.target = h->y.data, .draws = h->x.draws, .node = h->asked.data};
}

/* y: where they come from, if it is at hand. */
static int check_labels(const struct gnn_trainer *t, const struct gnn_train_half *h, const void *y,
                        enum gnn_dtype dtype, struct gnn_err *e)
{
    const struct gnn_labels l = labels_of(h);
    return gnn_labels_check(&l, t->m->c.task, gnn_model_scores(&t->m->c), h->x.n, h->x.label, y,
                            dtype, e);
}

/* The labels of links, to t->y. */
static void make_labels(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_train_half *h)
{
    const struct gnn_ops *o = t->ops;
    const struct gnn_examples *x = &h->x;
    float *y = t->y.data;
    if (x->ragged) {
        gnn_examples_mark(x, t->meta, b, h->y.data);
        o->put(o, y, h->y.data, x->n * sizeof *y);
        return;
    }
    o->fill(o, y, x->positives, 1);
    o->fill(o, y + x->positives, x->n - x->positives, 0);
}

/* The batch's examples to h, their labels to t->y, and on their way to h. */
static int fetch_labels(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_train_half *h,
                        struct gnn_err *e)
{
    const struct gnn_model_config *c = &t->m->c;
    const struct gnn_ops *o = t->ops;
    struct gnn_examples *x = &h->x;
    gnn_batch_examples(t->m, t->meta, b, x);
    if (gnn_examples_labelled(x, t->m, e))
        return e->code;
    const uint32_t scores = gnn_model_scores(c);
    const uint64_t n = (uint64_t)x->n * gnn_labels_width(c->task, scores);
    if (o->fit(o, &t->y, n, sizeof(float), "labels", e) ||
        o->fit_host(o, &h->y, n, sizeof(float), "labels", e))
        return e->code;
    if (x->y)
        o->labels(o, x->y, n, gnn_task_labels[c->task].form, scores, t->y.data);
    else
        make_labels(t, b, h);
    o->fetch(o, h->y.data, t->y.data, n * sizeof(float));
    return o->async || !x->y ? 0 : check_labels(t, h, x->y->data, x->y->dtype, e);
}

int gnn_train_pace_weight(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e)
{
    struct gnn_train_half *h = &t->half[t->turn];
    t->pace.own.weight = 0;
    h->labelled = false;
    if (t->comm->size == 1 || t->ops->async || b->split)
        return 0;
    if (t->ops->enter(t->ops, b, e) || fetch_labels(t, b, h, e) || weigh_labels(t, h, e))
        return e->code;
    t->pace.own.weight = *(const double *)t->weigh.sum.data;
    h->labelled = true;
    return 0;
}

/* Waits until all ranks have said that they are at this batch, too. */
static int meet_ranks(struct gnn_trainer *t, struct gnn_err *e)
{
    const double from = gnn_clock();
    const int rc = gnn_train_pace_end(t, e);
    t->pace.waited += gnn_clock() - from;
    return rc;
}

/* The nodes that links of an evaluated set have in common with their negatives, if the metric goes
 * by them: their numbers among those that the batch begins with, and these, on their way to h. */
static int fetch_nodes(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_train_half *h,
                       struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    const unsigned end = gnn_sampling_fixed_end(&t->meta->sampling, b->split);
    const struct gnn_batch_type *type = &b->type[end ? t->m->c.target : t->m->c.heads];
    const uint64_t n = type->count[0];
    if (!b->split || !gnn_score_by_node(&t->score[b->split]))
        return 0;
    if (gnn_buf_fit(&h->asked, h->x.positives, sizeof(uint32_t), "nodes", e) ||
        o->fit_host(o, &h->node, n, sizeof *type->node, "nodes", e))
        return e->code;
    for (uint32_t i = 0; i < h->x.positives; i++)
        ((uint32_t *)h->asked.data)[i] = b->pair[2 * (size_t)i + end];
    o->fetch(o, h->node.data, type->node, n * sizeof *type->node);
    return 0;
}

/* Those that have been fetched, in place of their numbers. */
static void name_nodes(const struct gnn_trainer *t, struct gnn_train_half *h)
{
    uint32_t *asked = h->asked.data;
    const uint32_t *node = h->node.data;
    for (uint32_t i = 0; h->split && gnn_score_by_node(&t->score[h->split]) && i < h->x.positives;
         i++)
        asked[i] = node[asked[i]];
}

/* Outputs of the batch's examples, their losses and labels, and what scoring takes; the loss's
 * gradient over the outputs if wanted. */
static int forward_loss(struct gnn_trainer *t, const struct gnn_batch *b,
                        const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_ops *o = t->ops;
    const uint32_t out = gnn_model_scores(&t->m->c);
    struct gnn_train_half *h = &t->half[t->turn];
    const struct gnn_examples *x = &h->x;
    const bool labelled = h->labelled;
    float *z;
    int rc = pass_forward(t, b, mode, &z, e);
    if (rc)
        return rc;
    h->labelled = false;
    if ((!labelled && fetch_labels(t, b, h, e)) ||
        o->fit(o, &t->row_loss, x->n, sizeof(double), "losses", e) ||
        o->fit_host(o, &h->loss, x->n, sizeof(double), "losses", e) ||
        o->fit_host(o, &h->z, (uint64_t)x->n * out, sizeof(float), "outputs", e) ||
        (!labelled && mode->train && weigh_labels(t, h, e)) || fetch_nodes(t, b, h, e))
        return e->code;
    if ((rc = meet_ranks(t, e)))
        return rc;
    /* The mean of the loss is over those of all ranks, so that gradients need only be summed. */
    const float scale = x->all ? 1.0f / (float)x->all : 0;
    float *dz = mode->train ? z : NULL; /* over the outputs, which have been fetched by then */
    o->fetch(o, h->z.data, z, (uint64_t)x->n * out * sizeof(float));
    if (gnn_examples_loss(x, t->m, o, z, t->y.data, scale, t->row_loss.data, dz, e))
        return e->code;
    if (mode->train && gnn_train_weigh(t, x, dz, e))
        return e->code;
    o->fetch(o, h->loss.data, t->row_loss.data, x->n * sizeof(double));
    o->mark(o, t->turn);
    h->epoch = b->epoch;
    h->step = b->step;
    h->split = b->split;
    h->open = true;
    return 0;
}

#define NOT_FINITE_WHY "do the features contain NaN, or is --lr too large?"

int gnn_train_check_params(const struct gnn_trainer *t, struct gnn_err *e)
{
    const float *const slab[] = {t->m->slab, t->m1, t->m2};
    uint64_t k;
    for (unsigned i = 0; i < sizeof slab / sizeof *slab; i++) {
        const struct gnn_param *p = gnn_model_not_finite(t->m, slab[i], i == 0, &k);
        if (p)
            return gnn_fail(
                e, GNN_E_RUN,
                "%sparameter %s is not finite (%g at element %llu) after epoch %llu, step %llu: " NOT_FINITE_WHY,
                i ? "the optimiser's state of " : "", p->name, (double)slab[i][p->at + k],
                (unsigned long long)k, (unsigned long long)t->s.epoch,
                (unsigned long long)t->s.step);
    }
    return 0;
}

/* Checks the losses of this batch, whose sum is `sum`, and its outputs. */
static int check_scores(const struct gnn_trainer *t, const struct gnn_train_half *h, double sum,
                        struct gnn_err *e)
{
    const uint64_t n = (uint64_t)h->x.n * gnn_model_scores(&t->m->c);
    const bool outputs_finite = gnn_first_not_finite(h->z.data, n) == n;
    if (isfinite(sum) && outputs_finite)
        return 0;
    return gnn_fail(e, GNN_E_RUN, "the %s not finite in epoch %llu, step %llu%s%s: " NOT_FINITE_WHY,
                    isfinite(sum) ? "outputs are" : "loss is", (unsigned long long)h->epoch,
                    (unsigned long long)h->step, h->split ? " of set " : "",
                    h->split ? t->meta->sampling.split[h->split] : "");
}

static int score_batch(struct gnn_trainer *t, struct gnn_train_half *h, unsigned k,
                       struct gnn_err *e)
{
    struct gnn_score *score = h->split ? &t->score[h->split] : &t->train;
    const struct gnn_labels l = labels_of(h);
    const uint64_t seeds = score->rows;
    const double loss = score->loss, weight = gnn_score_weight(score);
    if (t->ops->wait(t->ops, k, e) || (t->ops->async && check_labels(t, h, NULL, GNN_F32, e)))
        return e->code;
    name_nodes(t, h);
    if (gnn_score_add(score, h->z.data, &l, h->x.n, h->loss.data, e))
        return e->code;
    const double sum = score->loss - loss;
    if (check_scores(t, h, sum, e))
        return e->code;
    if (h->split)
        return 0;
    t->r.seeds += score->rows - seeds;
    gnn_train_pace_scored(t, h, sum, gnn_score_weight(score) - weight);
    return 0;
}

/* Scores batch k, if there is something to score. After a failure there is nothing more. */
static int finish_batch(struct gnn_trainer *t, unsigned k, struct gnn_err *e)
{
    if (!t->half[k].open)
        return 0;
    t->half[k].open = false;
    if (!score_batch(t, &t->half[k], k, e))
        return 0;
    /* Later batches were computed with the parameters that this one has broken. */
    for (unsigned i = 0; i < GNN_TRAIN_HALVES; i++)
        t->half[i].open = false;
    return e->code;
}

/* Scores the batch before this one, whose work is under way, so that the host does not wait for
 * this one. */
static int finish_last(struct gnn_trainer *t, struct gnn_err *e)
{
    if (!t->ops->async)
        return 0;
    t->turn = (t->turn + 1) % GNN_TRAIN_HALVES;
    return finish_batch(t, t->turn, e);
}

int gnn_train_flush(struct gnn_trainer *t, struct gnn_err *e)
{
    for (unsigned i = 0; i < GNN_TRAIN_HALVES; i++) /* the next one's place is the oldest's */
        if (finish_batch(t, (t->turn + i) % GNN_TRAIN_HALVES, e))
            return e->code;
    return 0;
}

int gnn_train_step(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_net_mode mode = {true, t->o.dropout, t->o.dropout_input, t->o.seed};
    uint64_t flops, edges, flops_now, edges_now;
    int rc = passes_meet(t) ? gnn_train_pace_end(t, e) : 0;
    if (rc)
        return rc;
    const double from = gnn_clock();
    count_work(t, &flops, &edges);
    t->pace.waited = 0;
    if (t->ops->enter(t->ops, b, e))
        return e->code;
    if ((rc = forward_loss(t, b, &mode, e)))
        return rc;
    /* A batch of which all ranks together have no example makes no step; a rank without one still
     * takes part. */
    const bool any = t->half[t->turn].x.all, async = t->ops->async;
    if ((!async && finish_batch(t, t->turn, e)) || gnn_train_untrained_reach(t, e))
        return e->code;
    if (any && (rc = pass_backward(t, e)))
        return rc;
    if (finish_last(t, e)) /* there is time, until the gradients are there */
        return e->code;
    if (any) {
        if (!t->o.full && gnn_train_own_gradient(t, e))
            return e->code;
        /* Time spent waiting for others does not count as this rank's work. */
        t->pace.own.busy = gnn_clock() - from - t->pace.waited;
        if (!t->o.full && (rc = gnn_train_sum_gradient(t, e)))
            return rc;
        t->s.t++;
        t->r.lr = learning_rate(&t->o, t->s.t, b->epoch);
        update_parameters(t, t->r.lr);
        /* After the parameters, as running statistics are among them. */
        if (t->o.full && gnn_full_track(t->o.full, t->work.p, e))
            return e->code;
        if (!t->o.full)
            gnn_net_track(&t->net, t->work.p);
    }
    t->ops->leave(t->ops, b);
    t->s.epoch = b->epoch;
    t->s.step = b->step;
    t->s.any = true;
    t->s.closed = false;
    t->r.steps++;
    count_work(t, &flops_now, &edges_now);
    t->r.flops += flops_now - flops;
    t->r.edges += edges_now - edges;
    return 0;
}

int gnn_train_eval_batch(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_net_mode mode = {false, 0, 0, 0};
    int rc = t->o.full || t->reached ? gnn_train_pace_end(t, e) : 0;
    if (!rc)
        rc = gnn_train_untrained_agree(t, e);
    if (rc)
        return rc;
    if (t->ops->enter(t->ops, b, e))
        return e->code;
    if ((rc = forward_loss(t, b, &mode, e)))
        return rc;
    if (!t->ops->async && finish_batch(t, t->turn, e))
        return e->code;
    t->ops->leave(t->ops, b);
    return finish_last(t, e);
}
