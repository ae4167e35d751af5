/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gnn-train, and what does not fit together. */
#include "cmd/train_opts.h"

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/layer_opts.h"
#include "cmd/metric.h"
#include "cmd/opt.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/sig.h"
#include "cmd/stdin.h"
#include "lib/train/train_defaults.h"
#include "cmd/train_feed.h"
#include "cmd/train_full.h"
#include "cmd/train_model.h"
#include "cmd/train_stop.h"
#include "cmd/train_weights.h"
#include "lib/base/io.h"

struct train_opts train = {.timeout = 300, .keep = -1};

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &train.output, "FILE", "the model (safetensors; default: stdout)",
     .file = true, .makes = "", .own = true},
    {OPT_STR, 'i', "input", &feed.input, "FILE", "stream of batches (default: stdin)", .file = true,
     .own = true},
    {OPT_U32, 'j', "threads", &train.threads, "N", "CPU threads of a step (default: one per core)",
     .min = 1, .max = 1024, .own = true},
    {OPT_U64, 0, "seed", &train_feed.seed, "N",
     "random seed of initial weights, dropout and, with --store, sampling (default: 1)"},
    {.kind = OPT_END},
};

static const struct opt device_opts[] = {
    {.kind = OPT_GROUP, .help = "Devices, caches and ranks"},
    {OPT_STR, 0, "device", &feed.device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    {OPT_CHOICE, 0, "precision", &train.precision, "HOW",
     "precision of matrix products on a device (default: f32)", "f32|tf32|bf16"},
    RANKS_TIMEOUT(&train.timeout),
    {.kind = OPT_END},
};

static const struct opt training_opts[] = {
    {.kind = OPT_GROUP, .help = "Optimisation"},
    {OPT_RANGE, 0, "epochs", &train_feed.epochs, "A:B",
     "epochs to train with --store; N: the first N " TRAIN_SAY(
         TRAIN_EPOCHS) "; for a stream, the epochs of --schedule cosine",
     .count = true},
    WEIGHTS_OPT(&train.class_weights),
    {OPT_CHOICE, 0, "optimizer", &train.optimizer, "NAME", "optimiser (default: adam)",
     "adam|adamw|sgd"},
    {OPT_DOUBLE, 0, "lr", &train.o.lr, "X", "learning rate " TRAIN_SAY(TRAIN_LR), .min = 0,
     .max = 1e6},
    {OPT_DOUBLE, 0, "weight-decay", &train.o.weight_decay, "X", "weight decay (default: 0)",
     .min = 0, .max = 1e6},
    {OPT_DOUBLE, 0, "momentum", &train.o.momentum, "X", "momentum of sgd (default: 0)", .min = 0,
     .max = 1},
    {OPT_DOUBLE, 0, "clip", &train.o.clip, "X",
     "maximum norm of the gradient; 0: no limit (default: 0)", .min = 0, .max = 1e30},
    {OPT_DOUBLE, 0, "dropout", &train.o.dropout, "P",
     "dropout of hidden layers " TRAIN_SAY(TRAIN_DROPOUT), .min = 0, .max = 0.999},
    {OPT_DOUBLE, 0, "dropout-input", &train.o.dropout_input, "P",
     "dropout of features (default: 0)", .min = 0, .max = 0.999},
    {OPT_CHOICE, 0, "schedule", &train.schedule, "NAME",
     "schedule of the learning rate (default: constant)", "constant|cosine|step"},
    {OPT_U64, 0, "step-epochs", &train.o.step_epochs, "N",
     "epochs between steps of the step schedule (default: 10)", .min = 1, .max = 1e15},
    {OPT_DOUBLE, 0, "step-factor", &train.o.step_factor, "X",
     "factor of the step schedule (default: 0.5)", .min = 0, .max = 1},
    {OPT_DOUBLE, 0, "warmup", &train.warmup_epochs, "X",
     "epochs over which the learning rate increases from 0 (default: 0)", .min = 0, .max = 1e6},
    {.kind = OPT_GROUP, .help = "Evaluation and stopping"},
    METRIC_OPT(&train.metric),
    {OPT_CHOICE, 0, "keep", &train.keep, "WHICH",
     "write the model of the best epoch on the first evaluated set, or of the last epoch (default: best)",
     "best|last"},
    {OPT_U64, 0, "patience", &train.o.patience, "N",
     "stop after N epochs without improvement; 0: never " TRAIN_SAY(TRAIN_PATIENCE), .min = 0,
     .max = 1e15},
    {.kind = OPT_GROUP, .help = "Checkpoints"},
    {OPT_STR, 0, "checkpoint", &train.o.checkpoint, "DIR",
     "keep checkpoints in DIR: one at the end, and one when a signal stops the run (status 75)",
     .file = true, .makes = "checkpoint.safetensors|checkpoint.lock"},
    {OPT_U64, 0, "checkpoint-every", &train.o.checkpoint_every, "N",
     "steps between checkpoints (default: only at the end)", .min = 1, .max = 1e15},
    {OPT_FLAG, 0, "resume", &train.resume, NULL,
     "resume from the checkpoint in DIR, if there is one"},
    {.kind = OPT_END},
};

static const struct opt_elsewhere elsewhere[] = {
    {"seeds|seed-type|steps|edge-ids|original-ids",
     "gnn-sample has this option: gnn-sample STORE | gnn-gather STORE | gnn-train"},
    {"walk-length|walks-per-seed|metapath|node2vec|restart|pairs",
     "gnn-sample draws random walks, which are no neighbourhoods that a model could use"},
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
    .more = (const struct opt *const[]){feed_opts, train_feed_opts, sampling_opts, train_model_opts,
                                        layer_opts, training_opts, rule_opts, train_full_opts,
                                        device_opts, feed_cache_opts, NULL},
    .elsewhere = elsewhere,
};

static void check_options(void)
{
    train_full_check();
    train_feed_check(&train_feed);
    if (train.resume && !train.o.checkpoint)
        cli_usage("--resume requires --checkpoint DIR");
    if (train.o.checkpoint_every && !train.o.checkpoint)
        cli_usage("--checkpoint-every requires --checkpoint DIR");
    if (!feed.store_path && train.schedule != GNN_COSINE)
        opt_refuse(OPTS(&train_feed.epochs),
                   "requires --store or --schedule cosine; a stream determines its epochs");
    train_weights_check(train.class_weights);
    train_model_check();
    if (train.optimizer != GNN_SGD)
        opt_refuse(OPTS(&train.o.momentum), "requires --optimizer sgd");
    if (train.schedule != GNN_STEP)
        opt_refuse(OPTS(&train.o.step_epochs, &train.o.step_factor), "requires --schedule step");
    device_refuse_cpu(feed.device, OPTS(&train.precision),
                      "has no effect: the CPU uses single precision");
}

bool train_opts_select(const struct gnn_sampling *s)
{
    return s->nsplits > 1 && !train_feed.blank;
}

static void finish_selection(const struct gnn_sampling *s)
{
    if (train.keep == GNN_KEEP_BEST && s->nsplits < 2)
        cli_usage("--keep best requires a set to evaluate: --eval valid");
    if (s->nsplits > 1 && train_feed.blank &&
        (train.keep == GNN_KEEP_BEST || opt_given(&train.o.patience)) &&
        (train.keep == GNN_KEEP_BEST || train.o.patience))
        cli_usage("%s: no node of set %s, by which epochs would be compared, has a label: evaluate "
                  "another set first (--eval)",
                  train.keep == GNN_KEEP_BEST ? "--keep best" : "--patience", s->split[1]);
    if (!train_opts_select(s) && !opt_given(&train.o.patience))
        train.o.patience = 0; /* nothing tells when to stop */
    train.o.keep = train.keep < 0 ? GNN_KEEP_BEST : (enum gnn_keep)train.keep;
}

void train_opts_finish(const struct gnn_meta *meta, const struct gnn_model *m)
{
    const uint64_t steps = meta->sampling.nsplits ? meta->sampling.steps[0] : 0;
    bool drops = false;
    for (uint32_t i = 0; i < m->nstages; i++)
        drops = drops || m->stage[i].drop;
    if (!drops && train.o.dropout > 0)
        opt_refuse(OPTS(&train.o.dropout), TRAIN_NEEDS_ROWS);
    train.o.optimizer = (enum gnn_optimizer)train.optimizer;
    train.o.schedule = (enum gnn_schedule)train.schedule;
    finish_selection(&meta->sampling);
    train.o.metric = metric_read(train.metric, m->c.task);
    train.o.seed = train_feed.seed;
    train.o.provenance = cli_provenance();
    train.o.eval_every = train_full_eval_every(meta->sampling.nsplits > 1);
    if (train.o.patience && train.o.eval_every > 1 && train.o.eval_every >= train.o.patience &&
        !feed.comm->rank)
        cli_note("warning: --patience %llu counts epochs: with --eval-every %llu, the first "
                 "evaluation without improvement ends training",
                 (unsigned long long)train.o.patience, (unsigned long long)train.o.eval_every);
    train.o.last_epoch = train_feed.epochs.given ? train_feed.epochs.to - 1 : TRAIN_EPOCHS - 1;
    train.o.warmup = (uint64_t)(train.warmup_epochs * (double)steps);
    train.o.total_steps =
        train.schedule != GNN_COSINE
            ? 0
            : steps * (train_feed.epochs.given ? train_feed.epochs.to - train_feed.epochs.from
                       : feed.store_path       ? TRAIN_EPOCHS
                                               : 0);
}

uint64_t train_opts_end(void)
{
    return train_feed.epochs.given ? train_feed.epochs.to : feed.store_path ? TRAIN_EPOCHS : 0;
}

void train_opts_read(int argc, char **argv)
{
    int nargs;
    gnn_train_opts_init(&train.o);
    layer_opts_list(false);
    train.o.lr = TRAIN_LR;
    train.o.dropout = TRAIN_DROPOUT;
    train.o.patience = TRAIN_PATIENCE;
    sampling_opts_init(true);
    (void)opt_parse(&program, argc, argv, &nargs);
    gnn_io_stop_on(sig_fd());
    sig_tell_late(train_stop_late);
    if (!train.o.checkpoint)
        sig_act();
    check_options();
    metric_check(train.metric);
    threads_start(train.threads);
    train_model_needs();
    feed.input = ranks_path(feed.input, feed.store_path ? NULL : "-i");
    if (feed.input || feed.store_path)
        stdin_unread(feed.input ? "gnn-train reads the file of -i"
                                : "gnn-train --store samples its own batches",
                     (const char *const[]){feed.input, feed.store_path}, 2);
}
