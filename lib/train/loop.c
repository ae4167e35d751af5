/* SPDX-License-Identifier: Apache-2.0 */
/* The loop over batches: epochs, evaluation, early stopping. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/plural.h"
#include "lib/data/recipe.h"
#include "lib/model/model_file.h"
#include "lib/train/train_impl.h"

void gnn_train_opts_init(struct gnn_train_opts *o)
{
    *o = (struct gnn_train_opts){.lr = 0.01,
                                 .beta1 = 0.9,
                                 .beta2 = 0.999,
                                 .eps = 1e-8,
                                 .eval_every = 1,
                                 .step_epochs = 10,
                                 .step_factor = 0.5,
                                 .metric = {GNN_ACCURACY, 0},
                                 .ops = &gnn_ops_cpu,
                                 .comm = gnn_comm_self()};
}

static int check_source(const struct gnn_trainer *t, struct gnn_err *e)
{
    const struct gnn_train_opts *o = &t->o;
    const struct gnn_sampling *sm = &t->meta->sampling;
    if (gnn_net_fits(t->m, t->meta, e))
        return e->code;
    if (gnn_model_tells_links(&t->m->c) && !sm->links.negatives)
        return gnn_fail(e, GNN_E_USAGE,
                        "the links of the batches have no negatives to tell them from "
                        "(gnn-sample --negatives)");
    if (o->schedule == GNN_COSINE && o->total_steps <= o->warmup)
        return gnn_fail(e, GNN_E_USAGE,
                        "--schedule cosine requires --epochs, and more of them than --warmup");
    if (o->patience && sm->nsplits < 2)
        return gnn_fail(e, GNN_E_USAGE, "--patience requires a set to evaluate (--eval)");
    return 0;
}

int gnn_trainer_init(struct gnn_trainer *t, struct gnn_model *m, const struct gnn_meta *meta,
                     const struct gnn_train_opts *o, struct gnn_err *e)
{
    const uint32_t out = gnn_model_scores(&m->c), ns = meta->sampling.nsplits;
    memset(t, 0, sizeof(*t));
    t->m = m;
    t->ops = o->ops;
    t->meta = meta;
    t->o = *o;
    t->comm = t->reduce = o->comm;
    if (gnn_net_init(&t->net, m, t->ops, e) || gnn_train_ranks_init(t, e) || check_source(t, e) ||
        (o->checkpoint && !t->comm->rank && gnn_train_checkpoint_dir(o->checkpoint, e)) ||
        gnn_score_init(&t->train, m->c.task, out, false, e))
        goto fail;
    t->m1 = gnn_alloc_zero(m->trained, sizeof(float), "optimiser state", e);
    t->m2 = gnn_alloc_zero(m->trained, sizeof(float), "optimiser state", e);
    t->best = gnn_alloc_zero(m->nfloats, sizeof(float), "best parameters", e);
    t->score = gnn_alloc_zero(ns, sizeof(*t->score), "scores", e);
    t->eval = gnn_alloc_zero(ns, sizeof(*t->eval), "scores", e);
    t->best_eval = gnn_alloc_zero(ns, sizeof(*t->eval), "scores", e);
    for (uint32_t i = 1; i < ns && !e->code; i++)
        if (!gnn_score_init(&t->score[i], m->c.task, out, gnn_metric_ranks(o->metric.metric), e) &&
            gnn_model_tells_links(&m->c))
            (void)!gnn_score_links(&t->score[i], o->metric, e);
    if (!e->code && !gnn_train_untrained_init(t, e) && !gnn_train_weigh_init(t, e) &&
        !gnn_train_slabs_init(t, e))
        return 0;
fail:
    if (t->reduce != t->comm)
        t->reduce->lost = true; /* the others do not know */
    gnn_trainer_release(t);
    return e->code;
}

void gnn_trainer_release(struct gnn_trainer *t)
{
    if (!t->ops)
        return;
    gnn_train_ranks_release(t); /* before memory that all-reduces may work on */
    for (uint32_t i = 0; t->score && i < t->meta->sampling.nsplits; i++)
        gnn_score_release(&t->score[i]);
    gnn_score_release(&t->train);
    for (unsigned i = 0; i < GNN_TRAIN_HALVES; i++) {
        t->ops->release_host(t->ops, &t->half[i].z);
        t->ops->release_host(t->ops, &t->half[i].loss);
        t->ops->release_host(t->ops, &t->half[i].y);
        gnn_buf_release(&t->half[i].draws);
        t->ops->release_host(t->ops, &t->half[i].node);
        gnn_buf_release(&t->half[i].asked);
    }
    t->ops->release(t->ops, &t->y);
    t->ops->release(t->ops, &t->row_loss);
    gnn_train_weigh_release(t);
    gnn_train_slabs_release(t);
    gnn_net_release(&t->net);
    gnn_free(t->m1);
    gnn_free(t->m2);
    gnn_free(t->best);
    gnn_free(t->best_untrained);
    gnn_free(t->score);
    gnn_free(t->eval);
    gnn_free(t->best_eval);
    memset(t, 0, sizeof(*t));
}

const float *gnn_trainer_result(const struct gnn_trainer *t, bool **untrained)
{
    const bool best = t->o.keep == GNN_KEEP_BEST && t->s.has_best;
    if (untrained)
        *untrained = best ? t->best_untrained : t->m->c.untrained;
    return best ? t->best : t->m->slab;
}

int gnn_trainer_write(struct gnn_trainer *t, int fd, const char *name, struct gnn_err *e)
{
    bool *const list = t->m->c.untrained;
    const bool best = t->o.keep == GNN_KEEP_BEST && t->s.has_best;
    if (t->m->recipe &&
        !(t->m->recipe = gnn_recipe_at(t->m->recipe, best ? t->s.best_epoch : t->s.epoch, e))) {
        close(fd);
        return e->code;
    }
    const float *slab = gnn_trainer_result(t, &t->m->c.untrained);
    const int rc = gnn_model_write(t->m, slab, t->o.provenance, fd, name, e);
    t->m->c.untrained = list;
    return rc;
}

/* What is reported of the epoch's batches. */
static int measure_epoch(struct gnn_trainer *t, struct gnn_err *e)
{
    struct gnn_train_epoch *r = &t->r;
    r->epoch = t->s.epoch;
    r->eval = t->eval;
    r->labels = t->train.known;
    r->loss = gnn_score_loss(&t->train);
    struct gnn_measured own;
    if (gnn_score_value(&t->train, t->o.metric, &own, e))
        return e->code;
    r->value = own.value;
    for (uint32_t i = 1; i < t->meta->sampling.nsplits; i++) {
        t->eval[i].rows = t->score[i].rows;
        t->eval[i].labels = t->score[i].known;
        t->eval[i].loss = gnn_score_loss(&t->score[i]);
        if (gnn_score_value(&t->score[i], t->o.metric, &t->eval[i].of, e))
            return e->code;
    }
    return 0;
}

/* Of a stream, it shows after an epoch that there is nothing to learn from. */
static int fail_unlabelled(const struct gnn_trainer *t, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "set %s: none of its %llu seed%s has a label%s",
                    t->meta->sampling.split[0], (unsigned long long)t->train.rows,
                    gnn_plural(t->train.rows),
                    t->train.known ? " of a class with a weight > 0 (--class-weights)" : "");
}

/* A value that is not defined, as ROC-AUC where all labels are the same, makes no epoch the best
 * one. */
static void keep_best(struct gnn_trainer *t)
{
    const uint32_t ns = t->meta->sampling.nsplits;
    t->r.best = false;
    if (ns < 2 || !t->score[1].rows || isnan(t->eval[1].of.value))
        return;
    const double v = t->eval[1].of.value;
    if (!t->s.has_best || gnn_metric_better(t->o.metric.metric, v, t->s.best)) {
        t->s.has_best = t->r.best = true;
        t->s.best = v;
        t->s.best_epoch = t->r.epoch;
        t->s.since_best = 0;
        t->ops->copy(t->ops, t->work.best, t->work.p, t->m->nfloats * sizeof(float));
        memcpy(t->best_eval, t->eval, ns * sizeof(*t->eval));
        if (t->best_untrained)
            memcpy(t->best_untrained, t->m->c.untrained, gnn_train_nconvs(t) * sizeof(bool));
    } else {
        t->s.since_best += t->o.eval_every; /* epochs */
    }
    t->s.stopped_early = t->o.patience && t->s.since_best >= t->o.patience;
}

/* What steps have made, in the host's memory, of all ranks. */
static int fetch_model(struct gnn_trainer *t, struct gnn_err *e)
{
    if (gnn_train_flush(t, e) || gnn_train_slabs_fetch(t, e) || gnn_train_check_params(t, e) ||
        gnn_train_untrained_agree(t, e))
        return e->code;
    return 0;
}

/* After the last batch of an epoch: values, best parameters, patience, report. */
static int close_epoch(struct gnn_trainer *t, struct gnn_err *e)
{
    const struct gnn_train_hooks *h = t->hooks;
    const uint32_t ns = t->meta->sampling.nsplits;
    struct gnn_train_epoch *r = &t->r;
    if (!t->s.any || t->s.closed)
        return 0;
    if (fetch_model(t, e) || gnn_train_sum_epoch(t, e) || measure_epoch(t, e))
        return e->code;
    if (!(gnn_score_weight(&t->train) > 0))
        return fail_unlabelled(t, e);
    keep_best(t);
    t->s.closed = true;
    if (h->epoch)
        h->epoch(h->arg, r);
    *r = (struct gnn_train_epoch){.lr = r->lr};
    gnn_score_clear(&t->train);
    for (uint32_t i = 1; i < ns; i++)
        gnn_score_clear(&t->score[i]);
    return 0;
}

/* True for what the checkpoint already contains. */
static bool already_used(struct gnn_trainer *t, const struct gnn_batch *b)
{
    const struct gnn_train_state *s = &t->s;
    if (!t->resumed || !s->any)
        return false;
    if (b->split == 0) {
        if (b->epoch == s->epoch && b->step == s->step)
            t->met = true;
        return b->epoch < s->epoch || (b->epoch == s->epoch && b->step <= s->step);
    }
    return b->epoch < s->epoch || (b->epoch == s->epoch && s->closed);
}

/* True unless the source has jumped over something since the checkpoint. */
static bool continues_checkpoint(const struct gnn_trainer *t, const struct gnn_batch *b)
{
    const struct gnn_train_state *s = &t->s;
    if (!t->resumed || t->met || !s->any)
        return true;
    if (b->split == 0 && ((b->epoch == s->epoch && b->step == s->step + 1) ||
                          (b->epoch == s->epoch + 1 && b->step == 0)))
        return true;
    return b->split != 0 && b->epoch == s->epoch;
}

/* Says in which node type the features are of another type than those of the checkpoint. */
static int fail_dtypes(const struct gnn_trainer *t, uint64_t now, struct gnn_err *e)
{
    enum { EXACT = 12 }; /* of more node types, the numbers below have wrapped around */
    const struct gnn_model_config *c = &t->m->c;
    const char *type = "", *names[2] = {"another type", "these"};
    uint64_t before = t->s.dtypes;
    for (uint32_t i = c->nntypes; c->nntypes <= EXACT && i-- > 0; before /= 31, now /= 31)
        if (before % 31 != now % 31 && before % 31 && now % 31) {
            type = c->ntype[i].name;
            names[0] = gnn_dtype_name((enum gnn_dtype)(before % 31 - 1));
            names[1] = gnn_dtype_name((enum gnn_dtype)(now % 31 - 1));
        }
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s/checkpoint.safetensors: the checkpoint was made with features%s%s of %s, and "
        "this run has %s (--dtype)",
        t->o.checkpoint, *type ? " of " : "", type, names[0], names[1]);
}

/* Features rounded on the way make another model, and no header says so: the batches must go on as
 * they began. */
static int check_dtypes(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e)
{
    const struct gnn_model_config *c = &t->m->c;
    uint64_t now = 1;
    if (t->dtypes)
        return 0;
    for (uint32_t i = 0; i < c->nntypes; i++) {
        const struct gnn_tensor *x = gnn_batch_features(b, i, c->ntype[i].name);
        now = 31 * now + (x ? 1 + (uint64_t)x->dtype : 0);
    }
    t->dtypes = now;
    if (t->s.dtypes && t->s.dtypes != now)
        return fail_dtypes(t, now, e);
    t->s.dtypes = now;
    if (t->m->recipe &&
        !(t->m->recipe = gnn_recipe_narrowed(t->m->recipe, gnn_batch_narrowed(b, t->meta), e)))
        return e->code;
    return 0;
}

static int one_batch(struct gnn_trainer *t, const struct gnn_batch *b, struct gnn_err *e)
{
    const double from = gnn_clock();
    if (b->split >= t->meta->sampling.nsplits)
        return gnn_fail(e, GNN_E_INPUT, "a batch of split %u, but the header has %u split%s",
                        b->split, t->meta->sampling.nsplits, gnn_plural(t->meta->sampling.nsplits));
    if (check_dtypes(t, b, e))
        return e->code;
    if (already_used(t, b))
        return 0;
    if (!continues_checkpoint(t, b))
        return gnn_fail(
            e, GNN_E_INPUT,
            "the batches continue at epoch %llu, step %llu, but the checkpoint ends after epoch %llu, step %llu",
            (unsigned long long)b->epoch, (unsigned long long)b->step,
            (unsigned long long)t->s.epoch, (unsigned long long)t->s.step);
    t->met = true;
    const bool turn = t->s.any && b->epoch != t->s.epoch;
    if (gnn_train_pace_weight(t, b, e) || gnn_train_pace_begin(t, TRAIN_NEXT_BATCH, b, e))
        return e->code;
    if (turn) {
        const int rc = gnn_train_pace_end(
            t, e); /* all ranks are at the epoch's end, whose scores are reduced */
        if (rc)
            return rc;
        if (close_epoch(t, e))
            return e->code;
        if (t->s.stopped_early)
            return GNN_END;
    }
    if (b->split) {
        if (!t->s.any)
            return gnn_fail(e, GNN_E_INPUT,
                            "the first batch is of set %s, which is only evaluated, not trained on",
                            t->meta->sampling.split[b->split]);
        const int rc = gnn_train_eval_batch(t, b, e);
        if (rc)
            return rc;
        t->r.eval_s += gnn_clock() - from;
        return 0;
    }
    const int rc = gnn_train_step(t, b, e);
    if (rc)
        return rc;
    t->r.train_s += gnn_clock() - from;
    /* What an earlier run left would be resumed in place of this one, if it ends without a
     * checkpoint. Until here, a run that is refused leaves it. */
    if (t->o.checkpoint && !t->resumed && !t->begun && gnn_train_checkpoint_remove(t, e))
        return e->code;
    t->begun = true;
    if (t->o.checkpoint && t->o.checkpoint_every && t->s.t % t->o.checkpoint_every == 0)
        return gnn_trainer_save(t, e);
    return 0;
}

/* Sets are not evaluated in every epoch. */
static bool is_skipped(const struct gnn_trainer *t, const struct gnn_batch *b)
{
    const uint64_t every = t->o.eval_every ? t->o.eval_every : 1;
    return b->split && (b->epoch + 1) % every != 0 && b->epoch != t->o.last_epoch;
}

/* Where this rank has no batch: do the others agree? */
static int keep_pace(struct gnn_trainer *t, enum train_next next, struct gnn_err *e)
{
    const int rc = gnn_train_pace_begin(t, next, NULL, e);
    return rc ? rc : gnn_train_pace_end(t, e);
}

/* Ends the run where it is, whatever has happened to the input meanwhile. */
static int stop_here(struct gnn_trainer *t, struct gnn_err *e)
{
    *e = (struct gnn_err){0};
    if (keep_pace(t, TRAIN_NEXT_STOP, e) < 0)
        return e->code;
    if (t->o.checkpoint ? gnn_trainer_save(t, e) : fetch_model(t, e))
        return e->code;
    /* The first to end ends all: not before rank 0 has written. */
    if (gnn_comm_agree(t->comm, "termination", "", e))
        return e->code;
    return GNN_E_STOPPED;
}

/* Until the source ends, GNN_END; or GNN_E_STOPPED, without a checkpoint yet; or an error. */
static int all_batches(struct gnn_trainer *t, struct gnn_source *src, struct gnn_err *e)
{
    const struct gnn_train_hooks *h = t->hooks;
    int rc = t->s.stopped_early ? GNN_END : 0;
    while (!rc) {
        struct gnn_batch *b = NULL;
        const double from = gnn_clock();
        rc = gnn_source_next(src, &b, e);
        t->r.wait_s += gnn_clock() - from;
        /* A signal to a whole pipeline also ends the programs that the batches come from. */
        if (t->s.any &&
            (rc == GNN_E_STOPPED || (rc == GNN_E_INPUT && h->stop && h->stop(h->arg, true)))) {
            *e = (struct gnn_err){0};
            rc = keep_pace(t, TRAIN_NEXT_CUT, e);
            return rc ? rc : GNN_E_STOPPED;
        }
        if (rc == GNN_END) {
            const int met = keep_pace(t, TRAIN_NEXT_END, e);
            rc = met ? met : GNN_END;
        }
        if (rc)
            break;
        rc = is_skipped(t, b) ? 0 : one_batch(t, b, e);
        gnn_batch_put(b);
        if (!rc && gnn_train_stops(t))
            return GNN_E_STOPPED;
    }
    return rc;
}

static int agree_on_start(struct gnn_trainer *t, struct gnn_err *e)
{
    char *run = gnn_train_run_text(t, e);
    int rc = run ? gnn_comm_agree(t->comm, "options", run, e) : e->code;
    gnn_free(run);
    return rc ? rc : gnn_train_agree(t, "initial model", e);
}

int gnn_trainer_run(struct gnn_trainer *t, struct gnn_source *src, const struct gnn_train_hooks *h,
                    struct gnn_err *e)
{
    struct gnn_err late = {0};
    t->hooks = h;
    if (agree_on_start(t, e))
        return e->code;
    gnn_train_slabs_put(t);
    const int rc = all_batches(t, src, e);
    if (rc == GNN_E_STOPPED && t->s.any)
        return stop_here(t, e);
    if (gnn_train_flush(t, &late)) { /* of a step before */
        *e = late;
        return e->code;
    }
    if (rc < 0)
        return rc;
    if (t->resumed && !t->met && !t->s.stopped_early)
        return gnn_fail(
            e, GNN_E_INPUT,
            "the batches end before epoch %llu, step %llu, where the checkpoint was made",
            (unsigned long long)t->s.epoch, (unsigned long long)t->s.step);
    if (close_epoch(t, e) || gnn_train_slabs_fetch(t, e))
        return e->code;
    if (!t->s.any)
        return gnn_fail(e, GNN_E_INPUT, "there was no batch to train on");
    /* From here a later run goes on, with more epochs or more patience. */
    return t->o.checkpoint ? gnn_trainer_save(t, e) : 0;
}
