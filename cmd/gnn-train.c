/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-train: batches in, a model out. */

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/layer_opts.h"
#include "cmd/metric.h"
#include "cmd/opt.h"
#include "cmd/ranks.h"
#include "cmd/rule_opts.h"
#include "cmd/sets.h"
#include "cmd/sig.h"
#include "cmd/stdin.h"
#include "cmd/train_defaults.h"
#include "cmd/train_feed.h"
#include "cmd/train_full.h"
#include "cmd/train_lock.h"
#include "cmd/train_model.h"
#include "cmd/train_progress.h"
#include "cmd/train_stop.h"
#include "cmd/train_text.h"
#include "cmd/train_timeline.h"
#include "cmd/train_weights.h"
#include "cmd/untrained.h"
#include "lib/base/io.h"
#include "lib/base/kind.h"
#include "lib/base/plural.h"
#include "lib/model/model_file.h"
#include "lib/train/trainer.h"

static const char *output, *class_weights, *metric;
static uint32_t threads;
static double timeout = 300;
static int optimizer, schedule, keep = -1, precision;
static bool resume;
static double warmup_epochs;
static struct gnn_train_opts o;

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &output, "FILE", "the model (safetensors; default: stdout)",
     .file = true, .makes = "", .own = true},
    {OPT_STR, 'i', "input", &feed.input, "FILE", "stream of batches (default: stdin)", .file = true,
     .own = true},
    {OPT_U32, 'j', "threads", &threads, "N", "CPU threads of a step (default: one per core)",
     .min = 1, .max = 1024, .own = true},
    {OPT_U64, 0, "seed", &train_feed.seed, "N",
     "random seed of initial weights, dropout and, with --store, sampling (default: 1)"},
    {.kind = OPT_END},
};

static const struct opt device_opts[] = {
    {.kind = OPT_GROUP, .help = "Devices, caches and ranks"},
    {OPT_STR, 0, "device", &feed.device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    {OPT_CHOICE, 0, "precision", &precision, "HOW",
     "precision of matrix products on a device (default: f32)", "f32|tf32|bf16"},
    RANKS_TIMEOUT(&timeout),
    {.kind = OPT_END},
};

static const struct opt training_opts[] = {
    {.kind = OPT_GROUP, .help = "Optimisation"},
    {OPT_RANGE, 0, "epochs", &train_feed.epochs, "A:B",
     "epochs to train with --store; N: the first N " TRAIN_SAY(
         TRAIN_EPOCHS) "; for a stream, the epochs of --schedule cosine",
     .count = true},
    WEIGHTS_OPT(&class_weights),
    {OPT_CHOICE, 0, "optimizer", &optimizer, "NAME", "optimiser (default: adam)", "adam|adamw|sgd"},
    {OPT_DOUBLE, 0, "lr", &o.lr, "X", "learning rate " TRAIN_SAY(TRAIN_LR), .min = 0, .max = 1e6},
    {OPT_DOUBLE, 0, "weight-decay", &o.weight_decay, "X", "weight decay (default: 0)", .min = 0,
     .max = 1e6},
    {OPT_DOUBLE, 0, "momentum", &o.momentum, "X", "momentum of sgd (default: 0)", .min = 0,
     .max = 1},
    {OPT_DOUBLE, 0, "clip", &o.clip, "X", "maximum norm of the gradient; 0: no limit (default: 0)",
     .min = 0, .max = 1e30},
    {OPT_DOUBLE, 0, "dropout", &o.dropout, "P",
     "dropout of hidden layers " TRAIN_SAY(TRAIN_DROPOUT), .min = 0, .max = 0.999},
    {OPT_DOUBLE, 0, "dropout-input", &o.dropout_input, "P", "dropout of features (default: 0)",
     .min = 0, .max = 0.999},
    {OPT_CHOICE, 0, "schedule", &schedule, "NAME",
     "schedule of the learning rate (default: constant)", "constant|cosine|step"},
    {OPT_U64, 0, "step-epochs", &o.step_epochs, "N",
     "epochs between steps of the step schedule (default: 10)", .min = 1, .max = 1e15},
    {OPT_DOUBLE, 0, "step-factor", &o.step_factor, "X",
     "factor of the step schedule (default: 0.5)", .min = 0, .max = 1},
    {OPT_DOUBLE, 0, "warmup", &warmup_epochs, "X",
     "epochs over which the learning rate increases from 0 (default: 0)", .min = 0, .max = 1e6},
    {.kind = OPT_GROUP, .help = "Evaluation and stopping"},
    METRIC_OPT(&metric),
    {OPT_CHOICE, 0, "keep", &keep, "WHICH",
     "write the model of the best epoch on the first evaluated set, or of the last epoch (default: best)",
     "best|last"},
    {OPT_U64, 0, "patience", &o.patience, "N",
     "stop after N epochs without improvement; 0: never " TRAIN_SAY(TRAIN_PATIENCE), .min = 0,
     .max = 1e15},
    {.kind = OPT_GROUP, .help = "Checkpoints"},
    {OPT_STR, 0, "checkpoint", &o.checkpoint, "DIR",
     "keep checkpoints in DIR: one at the end, and one when a signal stops the run (status 75)",
     .file = true, .makes = "checkpoint.safetensors|checkpoint.lock"},
    {OPT_U64, 0, "checkpoint-every", &o.checkpoint_every, "N",
     "steps between checkpoints (default: only at the end)", .min = 1, .max = 1e15},
    {OPT_FLAG, 0, "resume", &resume, NULL, "resume from the checkpoint in DIR, if there is one"},
    {.kind = OPT_END},
};

static const struct opt_elsewhere elsewhere[] = {
    {"seeds|seed-type|steps|edge-ids|original-ids",
     "gnn-sample has this option: gnn-sample STORE | gnn-gather STORE | gnn-train"},
    {"F|fields",
     "the model uses features x and labels y; --edge-weight and --edge-features add what "
     "edges have"},
    {"k|parts", "gnn-partition has this option: it divides a store"},
    {0},
};

static const struct program program = {
    .name = "gnn-train",
    .summary = "train a graph neural network on batches",
    .synopsis = "",
    .extra =
        "a store is given with --store, a stream to stdin or with -i, and the model is named with -o",
    .opts = opts,
    /* what most runs set comes first */
    .more = (const struct opt *const[]){feed_opts, train_feed_opts, train_model_opts, layer_opts,
                                        training_opts, rule_opts, train_full_opts, device_opts,
                                        feed_cache_opts, NULL},
    .elsewhere = elsewhere,
};

/* Without checkpoints, signals act at once until there is a step to keep. */
static bool stop_asked(void *arg, bool cut)
{
    const struct train_text *x = arg;
    if (!o.checkpoint && x->t->s.any)
        sig_defer();
    return (cut ? sig_settled() : sig_pending()) != 0;
}

static void check_options(void)
{
    train_full_check();
    train_feed_check(&train_feed);
    if (resume && !o.checkpoint)
        cli_usage("--resume requires --checkpoint DIR");
    if (o.checkpoint_every && !o.checkpoint)
        cli_usage("--checkpoint-every requires --checkpoint DIR");
    if (!feed.store_path && schedule != GNN_COSINE)
        opt_refuse(OPTS(&train_feed.epochs),
                   "requires --store or --schedule cosine; a stream determines its epochs");
    train_weights_check(class_weights);
    train_model_check();
    if (optimizer != GNN_SGD)
        opt_refuse(OPTS(&o.momentum), "requires --optimizer sgd");
    if (schedule != GNN_STEP)
        opt_refuse(OPTS(&o.step_epochs, &o.step_factor), "requires --schedule step");
    device_refuse_cpu(feed.device, OPTS(&precision),
                      "has no effect: the CPU uses single precision");
}

/* Whether epochs are compared: by the first evaluated set, if it has a label. */
static bool selects_epoch(const struct gnn_sampling *s)
{
    return s->nsplits > 1 && !train_feed.blank;
}

static void finish_selection(const struct gnn_sampling *s)
{
    if (keep == GNN_KEEP_BEST && s->nsplits < 2)
        cli_usage("--keep best requires a set to evaluate: --eval valid");
    if (s->nsplits > 1 && train_feed.blank && (keep == GNN_KEEP_BEST || opt_given(&o.patience)) &&
        (keep == GNN_KEEP_BEST || o.patience))
        cli_usage("%s: no node of set %s, by which epochs would be compared, has a label: evaluate "
                  "another set first (--eval)",
                  keep == GNN_KEEP_BEST ? "--keep best" : "--patience", s->split[1]);
    if (!selects_epoch(s) && !opt_given(&o.patience))
        o.patience = 0; /* nothing tells when to stop */
    o.keep = keep < 0 ? GNN_KEEP_BEST : (enum gnn_keep)keep;
}

static void finish_opts(const struct gnn_meta *meta, const struct gnn_model *m)
{
    const uint64_t steps = meta->sampling.nsplits ? meta->sampling.steps[0] : 0;
    bool drops = false;
    for (uint32_t i = 0; i < m->nstages; i++)
        drops = drops || m->stage[i].drop;
    if (!drops && o.dropout > 0)
        opt_refuse(OPTS(&o.dropout), TRAIN_NEEDS_ROWS);
    o.optimizer = (enum gnn_optimizer)optimizer;
    o.schedule = (enum gnn_schedule)schedule;
    finish_selection(&meta->sampling);
    o.metric = metric_read(metric, m->c.task);
    o.seed = train_feed.seed;
    o.provenance = cli_provenance();
    o.eval_every = train_full_eval_every(meta->sampling.nsplits > 1);
    if (o.patience && o.eval_every > 1 && o.eval_every >= o.patience && !feed.comm->rank)
        cli_note("warning: --patience %llu counts epochs: with --eval-every %llu, the first "
                 "evaluation without improvement ends training",
                 (unsigned long long)o.patience, (unsigned long long)o.eval_every);
    o.last_epoch = train_feed.epochs.given ? train_feed.epochs.to - 1 : TRAIN_EPOCHS - 1;
    o.warmup = (uint64_t)(warmup_epochs * (double)steps);
    o.total_steps =
        schedule != GNN_COSINE
            ? 0
            : steps * (train_feed.epochs.given ? train_feed.epochs.to - train_feed.epochs.from
                       : feed.store_path       ? TRAIN_EPOCHS
                                               : 0);
}

/* The epoch after the last one; 0: the stream knows. */
static uint64_t train_epochs_end(void)
{
    return train_feed.epochs.given ? train_feed.epochs.to : feed.store_path ? TRAIN_EPOCHS : 0;
}

/* Where the checkpoint is; a source that starts there needs not be opened twice. */
static void find_start(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    char at[64];
    if (gnn_checkpoint_at(o.checkpoint, &train_feed.first_epoch, &train_feed.first_step,
                          &train_feed.goes_on, &e) < 0)
        cli_fail(&e);
    snprintf(at, sizeof at, "%d %llu %llu", train_feed.goes_on,
             (unsigned long long)train_feed.first_epoch, (unsigned long long)train_feed.first_step);
    if (gnn_comm_agree(c, "checkpoint", at, &e))
        cli_fail(&e);
}

/* What a run without --resume will replace. Who forgot the option learns so before hours of work
 * are lost; what is no checkpoint has its name by chance, and stays. */
static void check_replaced(const struct gnn_comm *c)
{
    struct gnn_err e = {0}, damaged = {0};
    struct gnn_st_file f;
    struct stat st;
    char *path = o.checkpoint && !resume && !c->rank
                     ? gnn_strf(&e, "%s/checkpoint.safetensors", o.checkpoint)
                     : NULL;
    if (e.code)
        cli_fail(&e);
    if (path && !lstat(path, &st)) {
        const bool file = S_ISREG(st.st_mode), read = file && !gnn_st_read(&f, path, &damaged);
        if (damaged.code && damaged.code != GNN_E_INPUT)
            cli_fail(&damaged);
        if (read ? !gnn_st_checkpoint(&f) : file && gnn_kind_path(path) != GNN_KIND_MODEL)
            cli_die(3,
                    "%s: not a checkpoint, and would be replaced: move it, or name another "
                    "directory",
                    path);
        if (read)
            gnn_st_release(&f);
        cli_note("warning: %s exists and will be removed after the first step (--resume would "
                 "continue from it)",
                 path);
    }
    gnn_free(path);
}

static void start_over(struct gnn_trainer *t, struct gnn_err *e)
{
    char at[96];
    const int rc = gnn_trainer_load(t, e);
    if (rc < 0)
        cli_fail(e);
    if (rc == GNN_END) {
        cli_note("no checkpoint in %s: starting from the beginning", o.checkpoint);
        return;
    }
    if (!t->s.any)
        return;
    const uint64_t end = train_epochs_end();
    train_stop_at(t, 0, at, sizeof at);
    if (end && t->s.epoch >= end)
        cli_usage("%s: the checkpoint was made %s, but the last epoch of --epochs is %llu",
                  o.checkpoint, at, (unsigned long long)end - 1);
    const uint64_t next = t->s.epoch + t->s.closed;
    if (train_feed.epochs.given && train_feed.epochs.from > next)
        cli_usage("--epochs %llu:%llu: the checkpoint of %s was made %s, so a run goes on in epoch "
                  "%llu: --epochs %llu",
                  (unsigned long long)train_feed.epochs.from, (unsigned long long)end, o.checkpoint,
                  at, (unsigned long long)next, (unsigned long long)end);
    cli_note("resuming %s%s", at,
             train_model_init() ? "; its parameters are used, not those of --init" : "");
    if (t->s.stopped_early)
        cli_note("the run had stopped early: %llu epoch%s without improvement (--patience)",
                 (unsigned long long)t->s.since_best, gnn_plural(t->s.since_best));
    if (feed.store_path &&
        (t->s.epoch != train_feed.first_epoch || t->s.step != train_feed.first_step))
        cli_die(1, "%s: the checkpoint was changed by another process", o.checkpoint);
}

static void read_options(int argc, char **argv)
{
    int nargs;
    gnn_train_opts_init(&o);
    layer_opts_list(false);
    o.lr = TRAIN_LR;
    o.dropout = TRAIN_DROPOUT;
    o.patience = TRAIN_PATIENCE;
    (void)opt_parse(&program, argc, argv, &nargs);
    gnn_io_stop_on(sig_fd());
    sig_tell_late(train_stop_late);
    if (!o.checkpoint)
        sig_act();
    check_options();
    metric_check(metric);
    threads_start(threads);
    train_model_needs();
    feed.input = ranks_path(feed.input, feed.store_path ? NULL : "-i");
    if (feed.input || feed.store_path)
        stdin_unread(feed.input ? "gnn-train reads the file of -i"
                                : "gnn-train --store samples its own batches",
                     (const char *const[]){feed.input, feed.store_path}, 2);
}

/* Does not return on failure, nor when it was asked to stop and a checkpoint was written. Returns
 * whether it was asked to stop. */
static bool train_model(struct gnn_trainer *t, struct gnn_source *src, struct train_text *text,
                        struct gnn_err *e)
{
    const struct gnn_train_hooks hooks = {text, stop_asked, train_text_step, train_text_epoch};
    const struct gnn_train_hooks quiet = {text, stop_asked, NULL, NULL};
    const int rc = gnn_trainer_run(t, src, feed.comm->rank ? &quiet : &hooks, e);
    cli_progress_end();
    if (rc == GNN_E_STOPPED && t->s.any && o.checkpoint)
        train_stop_saved(t, train_epochs_end());
    if (rc && !(rc == GNN_E_STOPPED && t->s.any))
        cli_fail(e);
    return rc != 0;
}

/* Whether the model takes the name of its file. What was stopped in its first epoch replaces no
 * file of before. */
static bool is_worth(const struct train_text *text, bool stopped)
{
    return !stopped || text->epochs || !output || access(output, F_OK);
}

/* Which edges the model that is written leaves out. */
static void tell_untrained(const struct gnn_trainer *t)
{
    bool *list;
    (void)gnn_trainer_result(t, &list);
    const char *text = untrained_text(&t->m->c, list);
    if (*text)
        cli_note("training had no edge of these types, which the model leaves out: %s", text);
}

/* Writes the model, and says what has come of the run. Does not return if a signal has stopped it.
 */
static void end_run(struct gnn_trainer *t, const struct gnn_sampling *s, struct train_text *text,
                    int out, const char *name, bool stopped)
{
    const bool worth = is_worth(text, stopped);
    struct gnn_err e = {0};
    if ((feed.store_path && gnn_store_verified(&feed.store, &e)) ||
        (!o.comm->rank && gnn_trainer_write(t, out, name, &e)))
        cli_fail(&e);
    train_full_tell(o.full, o.comm, text->epochs, text->steps);
    if (!o.comm->rank) {
        train_text_times(o.ops);
        train_timeline_tell(feed.gpu, s);
        train_text_end(text, stopped);
        train_progress_waited(t, text->waited, text->waited + text->trained + text->evaluated,
                              feed.store_path != NULL);
        tell_untrained(t);
    }
    if (!stopped)
        return;
    if (worth)
        cli_out_commit();
    train_stop_written(t, train_epochs_end(), name, worth);
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_model m;
    struct gnn_trainer t;
    struct train_text text = {0};
    const char *name;
    char metric_name[48];

    sig_defer(); /* until the options tell whether there are checkpoints */
    threads_wait_briefly(argv);
    cli_start("gnn-train", argc, argv);
    ranks_start();
    read_options(argc, argv);
    struct gnn_comm *c = feed.comm = o.comm = ranks_open(timeout);
    if (resume) {
        train_lock(c, o.checkpoint, false, timeout / 2);
        find_start(c);
    }
    struct gnn_source *src = train_feed_open(&train_feed);
    ranks_agree(c, src->meta, NULL);
    const int out = c->rank ? -1 : cli_out(ranks_path(output, NULL), &name);
    if (c->rank)
        cli_spare_stdout();
    train_model_make(&m, &src, &e);
    finish_opts(src->meta, &m);
    sets_tell_selection(feed.store_path ? &feed.store : NULL, src->meta->sampling.split,
                        src->meta->sampling.nsplits,
                        selects_epoch(&src->meta->sampling) &&
                            (o.keep == GNN_KEEP_BEST || o.patience),
                        gnn_measure_name(o.metric, metric_name));
    if (!c->rank && src->meta->sampling.nsplits > 1)
        metric_tell(o.metric, &src->meta->schema);
    o.class_weight = train_weights_read(class_weights, &src->meta->schema);
    train_weights_tell_few(&src->meta->schema, &src->meta->sampling);
    o.ops = gnn_ops_new(feed.gpu, (enum gnn_precision)precision, &e);
    if (!o.ops)
        cli_fail(&e);
    o.full = train_full_open(&m, &feed.store, &src->meta->sampling, o.ops, output);
    if (o.checkpoint)
        train_lock(c, o.checkpoint, true, 0);
    check_replaced(c);
    if (gnn_trainer_init(&t, &m, src->meta, &o, &e))
        cli_fail(&e);
    if (resume)
        start_over(&t, &e);
    train_text_init(&text, &t);
    train_progress_begin(train_epochs_end());
    const bool stopped = train_model(&t, src, &text, &e);
    end_run(&t, &src->meta->sampling, &text, out, name, stopped);
    gnn_trainer_release(&t);
    gnn_full_free(o.full);
    gnn_model_release(&m);
    o.ops->free(o.ops);
    train_feed_close(&train_feed, src);
    ranks_close(c);
    cli_out_commit();
    gnn_store_close(&feed.store);
    return cli_finish();
}
