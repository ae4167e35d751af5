/* SPDX-License-Identifier: Apache-2.0 */
/* Training with several ranks: each works on its share of a batch; gradients are all-reduced, so
 * all make the same step. One rank alone takes the same way; what it does otherwise is said here.
 *
 * With every batch each rank tells the others where it is, whether it was asked to stop, and how
 * the training batch before went. So ranks that have got out of step find out before they reduce
 * numbers of different batches, and all stop after the same batch. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/xxh.h"
#include "lib/base/clock.h"
#include "lib/model/score_ranks.h"
#include "lib/train/train_impl.h"

/* Gradient-ready callback of the backward pass: the gradients of a layer are all-reduced while
 * those of the layer below it are still being computed. */
static int stage_done(void *arg, uint32_t stage, struct gnn_err *e)
{
    struct gnn_trainer *t = arg;
    const uint64_t from = t->m->stage_at[stage], to = t->m->stage_at[stage + 1];
    if (from == to)
        return 0;
    return t->reduce->ops->reduce_begin(t->reduce, t->net.pass.grad + from, to - from,
                                        GNN_REDUCE_F32, &t->pace.reduction[stage], e);
}

int gnn_train_sum_in_step(struct gnn_trainer *t, double *x, uint64_t n, struct gnn_err *e)
{
    const double from = gnn_clock();
    const int rc = gnn_comm_all_reduce(t->reduce, x, n, GNN_REDUCE_F64, e);
    t->pace.waited += gnn_clock() - from;
    return rc;
}

static int sum_in_step(void *arg, double *x, uint64_t n, struct gnn_err *e)
{
    return gnn_train_sum_in_step(arg, x, n, e);
}

/* Nobody knows which rank counts a node that no layer makes. */
static int check_norms(const struct gnn_trainer *t, struct gnn_err *e)
{
    for (uint32_t i = 0; t->comm->size > 1 && !t->o.full && t->m->c.batch_norm && i < t->m->nstages;
         i++)
        if (t->m->stage[i].norm && t->m->stage[i].level == 0)
            return gnn_fail(e, GNN_E_USAGE,
                            "batch norm before the first layer (--ffn) is not possible with "
                            "several ranks: use --layer-norm");
    return 0;
}

int gnn_train_ranks_init(struct gnn_trainer *t, struct gnn_err *e)
{
    const struct gnn_sampling *m = &t->meta->sampling;
    struct gnn_comm *reduce = t->comm;
    if (check_norms(t, e) || gnn_comm_check(t->comm, m->rank, m->ranks, e))
        return e->code;
    t->pace.reduction = gnn_alloc_zero(t->m->nstages, sizeof *t->pace.reduction, "all-reduces", e);
    if (!t->pace.reduction ||
        gnn_exchange_init(&t->pace.x, t->comm, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_PACE), e))
        return e->code;
    if (t->comm->size == 1) /* nothing to reduce, and no NCCL to start */
        return 0;
    if (t->ops->reduce_new && t->ops->reduce_new(t->ops, t->comm, &reduce, t->reduce_why, e))
        return e->code;
    t->reduce = reduce;
    if (t->o.full)
        gnn_full_move_by(t->o.full, reduce);
    t->net.stage_done = stage_done;
    t->net.pass.sum = sum_in_step;
    t->net.pass.arg = t;
    return 0;
}

void gnn_train_ranks_release(struct gnn_trainer *t)
{
    gnn_exchange_release(&t->pace.x);
    gnn_free(t->pace.reduction);
    if (t->reduce != t->comm)
        gnn_comm_free(t->reduce);
}

/* ---- the pace ---- */

static double mean_of(double sum, double weight)
{
    return weight > 0 ? sum / weight : NAN;
}

void gnn_train_pace_scored(struct gnn_trainer *t, const struct gnn_train_half *h, double loss,
                           double weight)
{
    struct train_told *o = &t->pace.own;
    if (t->comm->size == 1) { /* nobody else's loss to wait for */
        if (t->hooks && t->hooks->step)
            t->hooks->step(t->hooks->arg, h->epoch, h->step, t->meta->sampling.steps[0],
                           mean_of(loss, weight), 0);
        return;
    }
    o->scored = true;
    o->scored_epoch = h->epoch;
    o->scored_step = h->step;
    o->scored_weight = weight;
    o->loss = loss;
}

int gnn_train_pace_begin(struct gnn_trainer *t, enum train_next next, const struct gnn_batch *b,
                         struct gnn_err *e)
{
    struct train_told *o = &t->pace.own;
    const struct gnn_train_hooks *h = t->hooks;
    if (t->comm->size == 1) /* nobody to keep pace with; gnn_train_stops asks for this rank */
        return 0;
    o->next = next;
    o->epoch = b ? b->epoch : 0;
    o->step = b ? b->step : 0;
    o->split = b ? b->split : 0;
    o->stop = h->stop && h->stop(h->arg, false);
    t->pace.told = *o;
    for (uint32_t r = 0; r < t->comm->size; r++)
        /* The message must stay unchanged until the exchange has ended, while `own` already
         * collects the next one. */
        t->pace.x.out[r] = (struct gnn_span){&t->pace.told, sizeof t->pace.told};
    o->scored = false;
    t->pace.open = true;
    return t->comm->ops->begin(t->comm, &t->pace.x, e);
}

static const struct train_told *told_by(const struct gnn_trainer *t, uint32_t r)
{
    return t->pace.x.in[r].data;
}

/* The last training batch, as all ranks together had it. */
static void tell_scored(struct gnn_trainer *t)
{
    const struct train_told *first = told_by(t, 0);
    double loss = 0, weight = 0, busy = 0, most = 0;
    if (!first->scored)
        return;
    for (uint32_t r = 0; r < t->comm->size; r++) {
        const struct train_told *x = told_by(t, r);
        loss += x->loss;
        weight += x->scored_weight;
        busy += x->busy;
        most = x->busy > most ? x->busy : most;
    }
    const double balance = busy > 0 ? most * t->comm->size / busy : 1;
    t->r.balance += balance;
    t->pace.scored++;
    if (t->hooks->step)
        t->hooks->step(t->hooks->arg, first->scored_epoch, first->scored_step,
                       t->meta->sampling.steps[0], mean_of(loss, weight), balance);
}

/* "epoch 0, step 3" or what else a rank said. */
static const char *where_said(const struct gnn_trainer *t, const struct train_told *x,
                              char text[96])
{
    if (x->next == TRAIN_NEXT_END)
        snprintf(text, 96, "at the end of its batches");
    else if (x->split)
        snprintf(text, 96, "at set %s, epoch %" PRIu64 ", step %" PRIu64,
                 x->split < t->meta->sampling.nsplits ? t->meta->sampling.split[x->split] : "?",
                 x->epoch, x->step);
    else
        snprintf(text, 96, "at epoch %" PRIu64 ", step %" PRIu64, x->epoch, x->step);
    return text;
}

int gnn_train_pace_end(struct gnn_trainer *t, struct gnn_err *e)
{
    if (!t->pace.open)
        return 0;
    t->pace.open = false;
    int rc = t->comm->ops->end(t->comm, &t->pace.x, e);
    for (uint32_t r = 0; !rc && r < t->comm->size; r++)
        if (t->pace.x.in[r].bytes != sizeof(struct train_told))
            rc = gnn_fail(e, GNN_E_RANK, "malformed reply from rank %u", r);
    if (rc)
        return rc;
    const struct train_told *mine = &t->pace.told;
    bool cut = false;
    t->pace.stop = false;
    t->pace.weight = 0;
    for (uint32_t r = 0; r < t->comm->size; r++) {
        t->pace.weight += told_by(t, r)->weight;
        cut = cut || told_by(t, r)->next == TRAIN_NEXT_CUT;
        t->pace.stop = t->pace.stop || told_by(t, r)->stop;
    }
    tell_scored(t);
    /* A rank that was cut stops all; it is no disagreement. */
    if (cut)
        return GNN_E_STOPPED;
    for (uint32_t r = 0; r < t->comm->size; r++) {
        const struct train_told *x = told_by(t, r);
        char here[96], there[96];
        if (x->next != mine->next || x->epoch != mine->epoch || x->step != mine->step ||
            x->split != mine->split)
            return gnn_fail(e, GNN_E_INPUT, "rank %u is %s, rank %u %s", r, where_said(t, x, there),
                            t->comm->rank, where_said(t, mine, here));
    }
    return 0;
}

bool gnn_train_stops(const struct gnn_trainer *t)
{
    const struct gnn_train_hooks *h = t->hooks;
    return t->comm->size > 1 ? t->pace.stop : h->stop && h->stop(h->arg, false);
}

/* ---- all-reduces ---- */

int gnn_train_own_gradient(struct gnn_trainer *t, struct gnn_err *e)
{
    if (t->comm->size == 1 || !t->ops->async) /* alone, a device works on while the host goes on */
        return 0;
    t->ops->mark(t->ops, t->turn);
    return t->ops->wait(t->ops, t->turn, e);
}

int gnn_train_sum_gradient(struct gnn_trainer *t, struct gnn_err *e)
{
    int rc = 0;
    /* In the order in which they were begun: from the last stage to the first. */
    for (uint32_t i = t->m->nstages; !rc && i-- > 0;)
        if (t->m->stage_at[i] < t->m->stage_at[i + 1])
            rc = t->reduce->ops->reduce_end(t->reduce, &t->pace.reduction[i], e);
    return rc;
}

int gnn_train_sum_train(struct gnn_trainer *t, struct gnn_err *e)
{
    if (gnn_score_sum(&t->train, t->comm, e) ||
        gnn_comm_all_reduce(t->comm, &t->r.seeds, 1, GNN_REDUCE_U64, e))
        return e->code;
    return 0;
}

int gnn_train_sum_epoch(struct gnn_trainer *t, struct gnn_err *e)
{
    uint64_t work[2] = {t->r.edges, t->r.flops};
    double seconds[3] = {t->r.train_s, t->r.eval_s, t->r.wait_s};
    int rc = gnn_train_sum_train(t, e);
    for (uint32_t i = 1; !rc && i < t->meta->sampling.nsplits; i++)
        rc = gnn_score_sum(&t->score[i], t->comm, e);
    if (!rc)
        rc = gnn_comm_all_reduce(t->comm, work, 2, GNN_REDUCE_U64, e);
    if (!rc)
        rc = gnn_comm_all_reduce(t->comm, seconds, 3, GNN_REDUCE_F64, e);
    if (rc)
        return rc;
    t->r.edges = work[0];
    t->r.flops = work[1];
    t->r.train_s = seconds[0] / t->comm->size;
    t->r.eval_s = seconds[1] / t->comm->size;
    t->r.wait_s = seconds[2] / t->comm->size;
    t->r.balance = t->pace.scored ? t->r.balance / (double)t->pace.scored : 0;
    t->pace.scored = 0;
    return gnn_train_agree(t, "model", e);
}

void gnn_train_keep_own(struct gnn_trainer *t)
{
    /* The sums over all ranks stay with rank 0; the others begin at 0, so that the next sum counts
     * nothing twice. */
    if (t->comm->rank == 0)
        return;
    t->r.seeds = 0;
    gnn_score_clear(&t->train);
}

/* ---- agreement ---- */

int gnn_train_agree(struct gnn_trainer *t, const char *what, struct gnn_err *e)
{
    char text[128];
    const uint64_t p = XXH3_64bits(t->m->slab, t->m->nfloats * sizeof(float)),
                   m1 = XXH3_64bits(t->m1, t->m->trained * sizeof(float)),
                   m2 = XXH3_64bits(t->m2, t->m->trained * sizeof(float));
    snprintf(text, sizeof text,
             "%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %" PRIu64 " %" PRIu64 " %d", p, m1, m2,
             t->s.t, t->s.epoch, t->s.any);
    return gnn_comm_agree(t->comm, what, text, e);
}
