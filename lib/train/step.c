/* One training step, one evaluation batch. */
#include <math.h>
#include <string.h>

#include "kernels/loss.h"
#include "kernels/optim.h"
#include "lib/train/impl.h"

double train_rate(const struct gnn_train_opts *o, uint64_t t, uint64_t epoch)
{
    double lr = o->lr;
    if (o->warmup && t <= o->warmup)
        return lr * (double)t / (double)o->warmup;
    if (o->schedule == GNN_STEP)
        lr *= pow(o->step_factor, (double)(epoch / o->step_epochs));
    if (o->schedule == GNN_COSINE) {
        const double n = (double)(o->total_steps - o->warmup), k = (double)(t - 1 - o->warmup);
        lr *= k < n ? 0.5 * (1 + cos(3.14159265358979323846 * k / n)) : 0;
    }
    return lr;
}

static void update(struct gnn_trainer *t, double lr)
{
    const struct gnn_train_opts *o = &t->o;
    const struct gnn_optim_step s = {.lr = (float)lr,
                                     .weight_decay = (float)o->weight_decay,
                                     .beta1 = (float)o->beta1,
                                     .beta2 = (float)o->beta2,
                                     .eps = (float)o->eps,
                                     .momentum = (float)o->momentum,
                                     .t = t->s.t};
    const size_t n = t->m->trained;
    float *g = t->net.grad;
    if (o->clip > 0) {
        const double norm = sqrt(gnn_square_sum(g, n));
        if (norm > o->clip)
            for (size_t i = 0; i < n; i++)
                g[i] *= (float)(o->clip / norm);
    }
    if (o->optimizer == GNN_SGD)
        gnn_sgd(t->m->slab, g, t->m1, n, &s);
    else
        gnn_adam(t->m->slab, g, t->m1, t->m2, n, o->optimizer == GNN_ADAMW, &s);
}

/* Labels and logits of the batch's seeds; the loss of each in row_loss, its gradient over the logits if wanted. */
static int pass(struct gnn_trainer *t, const struct gnn_batch *b, const struct gnn_net_mode *mode,
                struct gnn_score *score, float **z, uint32_t *rows, struct gnn_err *e)
{
    const struct gnn_model_config *c = &t->m->c;
    const uint32_t out = c->width[c->nlayers - 1];
    char name[GNN_NAME_MAX + 1];
    if (gnn_net_forward(&t->net, t->m->slab, b, t->meta, mode, z, rows, e))
        return e->code;
    gnn_tensor_name(name, "node/%s/y", c->ntype[c->target].name);
    const struct gnn_tensor *y = gnn_tensors_find(&b->tensors, name);
    if (!y)
        return gnn_fail(e, GNN_E_INPUT, "batches have no labels %s: run gnn-gather first", name);
    if (gnn_labels_read(&t->labels, c->task, out, y, *rows, e) ||
        gnn_buf_fit(&t->row_loss, *rows, sizeof(double), "losses", e))
        return e->code;
    const float scale = *rows ? 1.0f / (float)*rows : 0;
    double *loss = t->row_loss.data;
    /* counted before the gradient overwrites the logits */
    if (c->task == GNN_TASK_MULTICLASS)
        gnn_softmax_ce(*z, *rows, out, t->labels.cls, scale, loss, NULL);
    else
        gnn_sigmoid_ce(*z, *rows, out, t->labels.target, scale, loss, NULL);
    if (gnn_score_add(score, *z, &t->labels, *rows, loss, e))
        return e->code;
    if (!mode->train)
        return 0;
    if (c->task == GNN_TASK_MULTICLASS)
        gnn_softmax_ce(*z, *rows, out, t->labels.cls, scale, loss, *z);
    else
        gnn_sigmoid_ce(*z, *rows, out, t->labels.target, scale, loss, *z);
    return 0;
}

int train_step(struct gnn_trainer *t, const struct gnn_batch *b, double *loss, struct gnn_err *e)
{
    const struct gnn_net_mode mode = {true, t->o.dropout, t->o.dropout_input, t->o.seed};
    const double before = t->train.loss;
    const uint64_t flops = t->net.flops, edges = t->net.edges;
    float *z;
    uint32_t rows;
    if (pass(t, b, &mode, &t->train, &z, &rows, e))
        return e->code;
    const double sum = t->train.loss - before;
    if (!isfinite(sum))
        return gnn_fail(e, GNN_E_RUN, "the loss is not finite in epoch %llu, step %llu: a NaN among the features, or --lr too large",
                        (unsigned long long)b->epoch, (unsigned long long)b->step);
    *loss = rows ? sum / rows : 0;
    if (rows) {
        if (gnn_net_backward(&t->net, t->m->slab, e))
            return e->code;
        t->s.t++;
        t->r.lr = train_rate(&t->o, t->s.t, b->epoch);
        update(t, t->r.lr);
    }
    t->s.epoch = b->epoch;
    t->s.step = b->step;
    t->s.any = true;
    t->s.closed = false;
    t->r.steps++;
    t->r.seeds += rows;
    t->r.flops += t->net.flops - flops;
    t->r.edges += t->net.edges - edges;
    return 0;
}

int train_eval(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_net_mode mode = {false, 0, 0, 0};
    float *z;
    uint32_t rows;
    return pass(t, b, &mode, &t->score[b->split], &z, &rows, e);
}
