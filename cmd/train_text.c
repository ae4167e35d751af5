/* SPDX-License-Identifier: Apache-2.0 */
/* What gnn-train reports: a line per epoch, progress per step, and metrics as NDJSON. These are
 * callbacks of lib/train (struct gnn_train_hooks); nothing here changes the training. */
#include "cmd/train_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/feed.h"
#include "cmd/metric.h"
#include "cmd/precision.h"
#include "cmd/train_full.h"
#include "cmd/train_progress.h"
#include "lib/base/clock.h"
#include "lib/base/plural.h"

/* Where gradients of several ranks on devices are summed or, of full batches, how what partitions
 * exchange goes from device to device. */
static void tell_reduce(const struct gnn_trainer *t)
{
    const char *why = t->reduce_why, *what = t->o.full ? "rows and gradients" : "gradients",
               *how = t->o.full ? "exchanged" : "summed";
    json_t *j = json_pack("{s:s, s:s}", "event", t->o.full ? "exchange" : "sums", "by",
                          *why ? "host" : "nccl");
    if (*why)
        json_object_set_new(j, "why", json_string(why));
    cli_metrics(j);
    if (t->comm->rank)
        return;
    if (*why)
        cli_info("%s of %u ranks are %s by the host, not by NCCL: %s", what, t->comm->size, how,
                 why);
    else
        cli_info("%s of %u ranks are %s by NCCL", what, t->comm->size, how);
}

/* NULL for a stream. Paths are any bytes, JSON is not. */
static json_t *store_json(void)
{
    json_t *path = feed.store_path ? json_string(feed.store_path) : NULL;
    return path || !feed.store_path ? path : json_string(cli_shown(feed.store_path));
}

/* What the run is made of, for gnn-inspect --table. Of a stream, its header says what options say
 * otherwise. */
static void write_start(const struct gnn_trainer *t)
{
    const struct gnn_sampling *s = &t->meta->sampling;
    struct gnn_err e = {0};
    char capacity[48];
    json_t *sets = json_array(), *sampling = NULL;
    for (uint32_t i = 0; i < s->nsplits; i++)
        json_array_append_new(sets, json_string(s->split[i]));
    if (!feed.store_path && !(sampling = gnn_meta_sampling_json(t->meta, &e)))
        cli_fail(&e);
    cli_metrics(
        json_pack("{s:s, s:s, s:s, s:o*, s:I, s:I, s:s, s:o, s:o, s:o*}", "event", "start",
                  "version", cli_version(), "graph", gnn_meta_graph(t->meta), "store", store_json(),
                  "ranks", (json_int_t)t->comm->size, "seed", (json_int_t)t->o.seed, "metric",
                  gnn_measure_name(t->o.metric, capacity), "sets", sets, "options",
                  opt_given_json("seed|resume|checkpoint-every|timeout"), "sampling", sampling));
}

void train_text_init(struct train_text *x, const struct gnn_trainer *t)
{
    const struct gnn_model *m = t->m;
    x->t = t;
    x->started = gnn_clock();
    if (!t->comm->rank)
        write_start(t);
    cli_info("%s, %u layer%s, %llu parameter%s (%llu of them trained)%s", m->c.layer->name,
             m->c.nlayers, gnn_plural(m->c.nlayers), (unsigned long long)m->nfloats,
             gnn_plural(m->nfloats), (unsigned long long)m->trained, train_full_words());
    if (t->reduce != t->comm)
        tell_reduce(t);
}

void train_text_step(void *arg, uint64_t epoch, uint64_t step, uint64_t steps, double loss,
                     double balance)
{
    struct train_text *x = arg;
    x->steps++;
    x->noted = x->noted || precision_tell(x->t->ops);
    train_progress_step(x->t, epoch, step, steps, loss);
    json_t *j = json_pack("{s:s, s:I, s:I}", "event", "step", "epoch", (json_int_t)epoch, "step",
                          (json_int_t)step);
    cli_metrics_number(j, "loss", loss);
    if (balance > 0)
        json_object_set_new(j, "balance", json_real(balance));
    cli_metrics(j);
}

/* The metric over training batches as they came is not made where it ranks all of an epoch. */
static bool has_value(const struct train_text *x, uint32_t set)
{
    return set || !gnn_metric_ranks(x->t->o.metric.metric);
}

static json_t *eval_json(const struct train_text *x, uint32_t set, const struct gnn_train_eval *v)
{
    json_t *j = json_object();
    if (x->t->o.metric.metric != GNN_METRIC_LOSS && has_value(x, set))
        metric_json(j, x->t->o.metric, &v->of);
    cli_metrics_number(j, "loss", v->loss);
    if (v->rows) /* those of the best epoch may be another run's */
        json_object_set_new(j, "labels", json_integer((json_int_t)v->labels));
    return j;
}

static void write_metrics(const struct train_text *x, const struct gnn_train_epoch *r)
{
    const struct gnn_sampling *sm = &x->t->meta->sampling;
    const struct gnn_train_eval own = {
        {r->value, r->value, r->value}, r->loss, r->seeds, r->labels};
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:I, s:b}", "event", "epoch", "epoch",
                          (json_int_t)r->epoch, "steps", (json_int_t)r->steps, "seeds",
                          (json_int_t)r->seeds, "edges", (json_int_t)r->edges, "best", r->best);
    cli_metrics_number(j, "loss", r->loss);
    cli_metrics_number(j, "lr", r->lr);
    cli_metrics_number(j, "train_s", r->train_s);
    cli_metrics_number(j, "eval_s", r->eval_s);
    cli_metrics_number(j, "wait_s", r->wait_s);
    if (r->balance > 0)
        cli_metrics_number(j, "balance", r->balance);
    cli_metrics_number(j, "gflops", r->train_s > 0 ? 1e-9 * (double)r->flops / r->train_s : NAN);
    json_object_set_new(j, sm->split[0], eval_json(x, 0, &own));
    for (uint32_t i = 1; i < sm->nsplits; i++)
        if (r->eval[i].rows)
            json_object_set_new(j, sm->split[i], eval_json(x, i, &r->eval[i]));
    cli_metrics(j);
}

/* Appends "SET METRIC VALUE". */
static void append_value(char *line, size_t capacity, const char *set, const char *metric,
                         const struct gnn_measured *v)
{
    const size_t at = strlen(line);
    char text[METRIC_TEXT];
    if (at < capacity)
        snprintf(line + at, capacity - at, ", %s %s %s", set, metric, metric_text(text, v));
}

/* Appends what the numbers before it are over, unless it is all. */
static void append_labels(char *line, size_t capacity, const struct train_text *x, uint64_t labels,
                          uint64_t rows)
{
    const struct gnn_model_config *c = &x->t->m->c;
    const uint64_t all = rows * gnn_labels_width(c->task, gnn_model_scores(c));
    const size_t at = strlen(line);
    if (labels < all && at < capacity)
        snprintf(line + at, capacity - at, " (%llu of %llu label%s known)",
                 (unsigned long long)labels, (unsigned long long)all, gnn_plural(all));
}

/* Says once that what --patience waits for is not there. */
static void tell_patience(struct train_text *x, const struct gnn_train_epoch *r)
{
    const struct gnn_trainer *t = x->t;
    char name[48];
    if (x->waits || !t->o.patience || t->meta->sampling.nsplits < 2 || !r->eval[1].rows ||
        !isnan(r->eval[1].of.value))
        return;
    x->waits = true;
    cli_note("warning: %s of set %s is not defined: --patience does not stop a run by such epochs",
             gnn_measure_name(t->o.metric, name), t->meta->sampling.split[1]);
}

/* ", 5.1 M edges/s, 15 GFLOP/s"; nothing without time, as where a step was made before resuming. */
static void append_rates(char *line, size_t capacity, const struct gnn_train_epoch *r)
{
    const size_t at = strlen(line);
    if (r->train_s > 0 && at < capacity)
        snprintf(line + at, capacity - at, ", %.1f M edges/s, %.0f GFLOP/s",
                 1e-6 * (double)r->edges / r->train_s, 1e-9 * (double)r->flops / r->train_s);
}

void train_text_epoch(void *arg, const struct gnn_train_epoch *r)
{
    struct train_text *x = arg;
    const struct gnn_sampling *sm = &x->t->meta->sampling;
    char capacity[48];
    const char *name = gnn_measure_name(x->t->o.metric, capacity);
    const double all = r->train_s + r->eval_s + r->wait_s;
    char line[1024] = "", ranks[48] = "", rates[80] = "", loss[32];
    if (has_value(x, 0))
        append_value(line, sizeof(line), sm->split[0], name,
                     &(struct gnn_measured){r->value, r->value, r->value});
    append_labels(line, sizeof line, x, r->labels, r->seeds);
    for (uint32_t i = 1; i < sm->nsplits; i++)
        if (r->eval[i].rows) {
            append_value(line, sizeof(line), sm->split[i], name, &r->eval[i].of);
            append_labels(line, sizeof line, x, r->eval[i].labels, r->eval[i].rows);
        }
    cli_progress_end();
    if (r->balance > 0)
        snprintf(ranks, sizeof ranks, ", slowest rank %.2f x the mean", r->balance);
    append_rates(rates, sizeof rates, r);
    cli_note("epoch %llu: loss %s%s%s; %.2f s%s%s%s", (unsigned long long)r->epoch,
             cli_number(loss, r->loss), line, r->best ? " *" : "", all, rates, ranks,
             train_full_words());
    tell_patience(x, r);
    write_metrics(x, r);
    x->epochs++;
    x->trained += r->train_s;
    x->waited += r->wait_s;
    x->evaluated += r->eval_s;
    x->edges += r->edges;
    x->flops += r->flops;
}

static void tell_time(void *arg, const char *name, uint64_t n, double ms, uint64_t bytes)
{
    (void)arg;
    cli_note("%s: %llu time%s, %.3f ms, %.3f MB at least", name, (unsigned long long)n,
             gnn_plural(n), ms, (double)bytes / 1e6);
    cli_metrics(json_pack("{s:s, s:s, s:I, s:f, s:I}", "event", "operation", "name", name, "calls",
                          (json_int_t)n, "ms", ms, "bytes", (json_int_t)bytes));
}

void train_text_times(const struct gnn_ops *ops)
{
    struct gnn_err e = {0};
    if (ops->times(ops, tell_time, NULL, &e))
        cli_fail(&e);
}

void train_text_end(struct train_text *x, bool stopped)
{
    const struct gnn_trainer *t = x->t;
    const struct gnn_sampling *sm = &t->meta->sampling;
    char capacity[48];
    const char *name = gnn_measure_name(t->o.metric, capacity);
    char line[512] = "";
    json_t *j = json_pack("{s:s, s:I, s:b}", "event", "end", "epochs", (json_int_t)x->epochs,
                          "stopped_early", t->s.stopped_early);
    if (stopped)
        json_object_set_new(j, "stopped", json_true());
    if (t->s.has_best) {
        for (uint32_t i = 1; i < sm->nsplits; i++) {
            append_value(line, sizeof(line), sm->split[i], name, &t->best_eval[i].of);
            json_object_set_new(j, sm->split[i], eval_json(x, i, &t->best_eval[i]));
        }
        json_object_set_new(j, "best_epoch", json_integer((json_int_t)t->s.best_epoch));
        cli_note("best epoch %llu%s%s%s", (unsigned long long)t->s.best_epoch, line,
                 t->s.stopped_early ? "; stopped early" : "", train_full_words());
    } else if (!stopped && t->o.keep == GNN_KEEP_BEST && sm->nsplits > 1) {
        cli_note("%s of set %s is not defined in any epoch: writing the model of the last epoch",
                 name, sm->split[1]);
    }
    cli_metrics_number(j, "train_s", x->trained);
    cli_metrics_number(j, "wait_s", x->waited);
    cli_metrics_number(j, "eval_s", x->evaluated);
    cli_metrics_number(j, "seconds", gnn_clock() - x->started);
    cli_metrics(j);
}
