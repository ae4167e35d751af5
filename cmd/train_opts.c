/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gnn-train, and what does not fit together. */
#include "cmd/train_opts.h"

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/metric.h"
#include "cmd/opt.h"
#include "cmd/precision.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/sig.h"
#include "cmd/stdin.h"
#include "cmd/train_feed.h"
#include "cmd/train_full.h"
#include "cmd/train_links.h"
#include "cmd/train_model.h"
#include "cmd/train_stop.h"
#include "cmd/train_weights.h"
#include "lib/base/io.h"

struct train_opts train = {.timeout = 300};

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
    PRECISION_OPTION(&train.precision),
    RANKS_TIMEOUT(&train.timeout),
    {.kind = OPT_END},
};

static const struct opt epochs_opts[] = {
    {.kind = OPT_GROUP, .help = "Optimisation"},
    {OPT_RANGE, 0, "epochs", &train_feed.epochs, "A:B",
     "epochs to train with --store; N: the first N " TRAIN_SAY(
         TRAIN_EPOCHS) "; for a stream, the epochs of --schedule cosine",
     .count = true},
    WEIGHTS_OPT(&train.class_weights),
    {.kind = OPT_END},
};

static struct opt training_opts[GNN_TRAINING_OPTIONS];

static const struct opt checkpoint_opts[] = {
    {.kind = OPT_GROUP, .help = "Checkpoints"},
    {OPT_STR, 0, "checkpoint", &train_set.o.checkpoint, "DIR",
     "keep checkpoints in DIR: one at the end, and one when a signal stops the run (status 75)",
     .file = true, .makes = "checkpoint.safetensors|checkpoint.lock"},
    {OPT_U64, 0, "checkpoint-every", &train_set.o.checkpoint_every, "N",
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
    .more = (const struct opt *const[]){feed_opts, train_feed_opts, train_links_opts, sampling_opts,
                                        train_model_opts, train_init_opts, train_set.layers.option,
                                        epochs_opts, training_opts, checkpoint_opts, rule_opts,
                                        train_full_opts, device_opts, feed_cache_opts, NULL},
    .elsewhere = elsewhere,
};

static void check_options(void)
{
    train_full_check();
    train_feed_check(&train_feed);
    if (train.resume && !train_set.o.checkpoint)
        cli_usage("--resume requires --checkpoint DIR");
    if (train_set.o.checkpoint_every && !train_set.o.checkpoint)
        cli_usage("--checkpoint-every requires --checkpoint DIR");
    if (!feed.store_path && train_set.o.schedule != GNN_COSINE)
        opt_refuse(OPTS(&train_feed.epochs),
                   "requires --store or --schedule cosine; a stream determines its epochs");
    train_weights_check(train.class_weights);
    train_model_check();
    precision_check(train.precision);
}

bool train_opts_select(const struct gnn_sampling *s)
{
    return s->nsplits > 1 && !train_feed.blank;
}

void train_opts_finish(const struct gnn_meta *meta, const struct gnn_model *m)
{
    const struct gnn_sampling *s = &meta->sampling;
    struct gnn_train_opts *o = &train_set.o;
    struct gnn_err e = {0};
    const bool best = o->keep == GNN_KEEP_BEST && opt_given(&o->keep);
    if (s->nsplits > 1 && train_feed.blank && (best || (opt_given(&o->patience) && o->patience)))
        cli_usage("%s: no node of set %s, by which epochs would be compared, has a label: evaluate "
                  "another set first (--eval)",
                  best ? "--keep best" : "--patience", s->split[1]);
    if (gnn_settings_training(&train_set, &opt_all_given, meta, m,
                              train_feed.epochs.given ? train_feed.epochs.from : 0,
                              train_opts_end(), train_opts_select(s), &e))
        cli_fail(&e);
    o->seed = train_feed.seed;
    o->provenance = cli_provenance();
    o->eval_every = train_full_eval_every(s->nsplits > 1);
    if (o->patience && o->eval_every > 1 && o->eval_every >= o->patience && !feed.comm->rank)
        cli_note("warning: --patience %llu counts epochs: with --eval-every %llu, the first "
                 "evaluation without improvement ends training",
                 (unsigned long long)o->patience, (unsigned long long)o->eval_every);
}

uint64_t train_opts_end(void)
{
    return train_feed.epochs.given ? train_feed.epochs.to : feed.store_path ? TRAIN_EPOCHS : 0;
}

void train_opts_read(int argc, char **argv)
{
    int nargs;
    gnn_settings_init(&train_set);
    gnn_model_options(&train_set, train_model_opts);
    gnn_training_options(&train_set, training_opts);
    sampling_opts_init(true);
    (void)opt_parse(&program, argc, argv, &nargs);
    gnn_io_stop_on(sig_fd());
    sig_tell_late(train_stop_late);
    if (!train_set.o.checkpoint)
        sig_act();
    check_options();
    (void)metric_read(train_set.metric, GNN_TASK_NONE);
    threads_start(train.threads);
    feed_needs(&train_set.c);
    feed.in_place = feed.in_place && train_set.o.dropout_input == 0;
    feed.input = ranks_path(feed.input, feed.store_path ? NULL : "-i");
    if (feed.input || feed.store_path)
        stdin_unread(feed.input ? "gnn-train reads the file of -i"
                                : "gnn-train --store samples its own batches",
                     (const char *const[]){feed.input, feed.store_path}, 2);
}
