/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-train: batches in, a model out. */

#include <string.h>
#include <unistd.h>

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/opt.h"
#include "cmd/ranks.h"
#include "cmd/sig.h"
#include "cmd/stdin.h"
#include "cmd/train_defaults.h"
#include "cmd/train_feed.h"
#include "cmd/train_lock.h"
#include "cmd/train_text.h"
#include "cmd/unused.h"
#include "lib/model/model_file.h"
#include "lib/model/layer.h"
#include "lib/train/trainer.h"

static struct train_feed feed = {.split = "train",
                                 .batch = TRAIN_BATCH,
                                 .prefetch = 2,
                                 .shuffle = true,
                                 .verify = true,
                                 .graph_cache = UINT64_MAX,
                                 .seed = 1};
static const char *output, *init;
static uint32_t threads;
static double timeout = 300;
static int kind, optimizer, schedule, metric = -1, keep = -1, feature_norm, precision;
static bool layer_norm = TRAIN_LAYER_NORM, batch_norm, residual, train_eps, resume;
static struct opt_i32s hidden;
static double warmup_epochs;
static struct gnn_train_opts o;

/* "|sage|gcn|...", and "type of layer: GraphSAGE with mean, GCN, ... (default: sage)" */
#define LAYER_NAME(name, title) "|" #name
#define LAYER_TITLE(name, title) ", " title
#define LAYER_NAMES (GNN_LAYERS(LAYER_NAME))
#define LAYER_TITLES (GNN_LAYERS(LAYER_TITLE) " (default: sage)")

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &output, "FILE", "the model (safetensors; default: stdout)",
     .file = true, .makes = "", .own = true},
    {OPT_STR, 'i', "input", &feed.input, "FILE", "stream of batches (default: stdin)", .file = true,
     .own = true},
    {OPT_U32, 'j', "threads", &threads, "N", "CPU threads of a step (default: one per core)",
     .min = 1, .max = 1024, .own = true},
    RANKS_TIMEOUT(&timeout),
    {OPT_U64, 0, "seed", &feed.seed, "N",
     "random seed of initial weights, dropout and, with --store, sampling (default: 1)"},
    {OPT_STR, 0, "device", &feed.device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    {OPT_CHOICE, 0, "precision", &precision, "HOW",
     "precision of matrix products on a device (default: f32)", "f32|tf32|bf16"},
    {.kind = OPT_GROUP, .help = "Batches from a store"},
    {OPT_STR, 0, "store", &feed.store_path, "STORE",
     "sample and gather from STORE instead of reading a stream", .file = true, .own = true},
    {OPT_LIST, 'f', "fanout", &feed.fanout, "LIST",
     "neighbours per hop; -1: all; S/R/D=LIST for one edge type (default: " TRAIN_FANOUT ")"},
    {OPT_U32, 'b', "batch", &feed.batch, "N", "seeds per batch " TRAIN_SAY(TRAIN_BATCH), .min = 1,
     .max = 1073741824},
    {OPT_STR, 0, "split", &feed.split, "SET", "set to train on (default: train)"},
    {OPT_LIST, 0, "eval", &feed.eval, "SET",
     "set to evaluate after each epoch, or none (default: " TRAIN_EVAL
     " of the split that is trained on, if it exists)"},
    {OPT_CHOICE, 0, "frontier", &feed.frontier, "RULE",
     "frontier policy: sample neighbours of all nodes so far, or only of new ones (default: all)",
     "all|new"},
    {OPT_FLAG, 'r', "replace", &feed.replace, NULL, "sample with replacement"},
    {OPT_FLAG, 0, "shuffle", &feed.shuffle, NULL,
     "shuffle the seeds in each epoch (default; --no-shuffle)"},
    {OPT_FLAG, 0, "drop-last", &feed.drop_last, NULL, "leave out the last batch if it is smaller"},
    {OPT_CHOICE, 0, "dtype", &feed.dtype, "TYPE",
     "convert features to TYPE first, as gnn-gather does (default: as stored)",
     "stored|f32|f16|bf16"},
    {OPT_U32, 0, "prefetch", &feed.prefetch, "N",
     "threads that sample and gather ahead (default: 2)", .min = 1, .max = 1024, .own = true},
    {OPT_CHOICE, 0, "graph-memory", &feed.graph_memory, "WHERE",
     "where the graph is stored: device memory, or pinned host memory (uva) (default: auto, by size)",
     "auto|device|uva"},
    {OPT_U64, 0, "graph-cache", &feed.graph_cache, "SIZE",
     "with uva: device memory for cached rows (default: half of what is free beyond a quarter)",
     .bytes = true},
    {OPT_STR, 0, "cache", &feed.cache.size, "SIZE",
     "GPU feature cache of each device: a share of all rows such as 0.2, bytes such as 4G, none, auto (default: auto, what fits)",
     "auto|none"},
    {OPT_CHOICE, 0, "cache-policy", &feed.cache.policy, "HOW",
     "cache the same rows on every device, or different ones on devices with peer access (default: auto)",
     CACHE_POLICY_CHOICE},
    {OPT_STR, 0, "cache-order", &feed.cache.one_order, "ORDER",
     "rows to cache first: degree, access or FILE of gnn-sample --frequency (default: degree); with --replicate access, degree or halo (default: access)",
     GNN_ORDER_WORDS, .file = true},
    {OPT_DOUBLES, 0, "replicate", &feed.replicate, "X",
     "remote rows of which each rank holds copies, as a share of an average rank's rows (default: 0)",
     .min = 0, .max = 65536},
    {OPT_FLAG, 0, "verify", &feed.verify, NULL,
     "verify the store's checksums in the background (default; --no-verify)", .own = true},
    {.kind = OPT_GROUP, .help = "Model"},
    {OPT_CHOICE, 'm', "model", &kind, "KIND", &LAYER_TITLES[2], &LAYER_NAMES[1]},
    {OPT_I32S, 0, "hidden", &hidden, "N,...",
     "widths of the hidden layers; one number applies to all " TRAIN_SAY(TRAIN_HIDDEN)},
    {OPT_FLAG, 0, "layer-norm", &layer_norm, NULL,
     "layer norm after each hidden layer (default, unless --batch-norm is given; --no-layer-norm)"},
    {OPT_FLAG, 0, "batch-norm", &batch_norm, NULL, "batch norm after each hidden layer"},
    {OPT_FLAG, 0, "residual", &residual, NULL,
     "add a layer's input to its output where the widths are equal"},
    {OPT_FLAG, 0, "train-eps", &train_eps, NULL, "train eps of gin (default: eps is constant)"},
    {OPT_CHOICE, 0, "feature-norm", &feature_norm, "HOW",
     "row: divide the features of a node by their sum (default: none)", "none|row"},
    {OPT_STR, 0, "init", &init, "FILE", "start from these parameters (safetensors)", .file = true},
    {.kind = OPT_GROUP, .help = "Optimisation"},
    {OPT_RANGE, 0, "epochs", &feed.epochs, "A:B",
     "epochs to train with --store; N: the first N " TRAIN_SAY(
         TRAIN_EPOCHS) "; for a stream, the epochs of --schedule cosine",
     .count = true},
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
    {OPT_CHOICE, 0, "metric", &metric, "NAME",
     "metric to report (default: accuracy; roc-auc for binary and multilabel tasks)",
     "accuracy|f1-micro|f1-macro|roc-auc|loss"},
    {OPT_CHOICE, 0, "keep", &keep, "WHICH",
     "write the model of the best epoch on the first evaluated set, or of the last epoch (default: best)",
     "best|last"},
    {OPT_U64, 0, "patience", &o.patience, "N",
     "stop after N epochs without improvement; 0: never " TRAIN_SAY(TRAIN_PATIENCE), .min = 0,
     .max = 1e15},
    {.kind = OPT_GROUP, .help = "Checkpoints"},
    {OPT_STR, 0, "checkpoint", &o.checkpoint, "DIR",
     "keep checkpoints in DIR; SIGTERM, SIGINT and SIGUSR1 write one and end with status 75",
     .file = true, .makes = "checkpoint.safetensors"},
    {OPT_U64, 0, "checkpoint-every", &o.checkpoint_every, "N",
     "steps between checkpoints (default: only when stopped)", .min = 1, .max = 1e15},
    {OPT_FLAG, 0, "resume", &resume, NULL, "resume from the checkpoint in DIR, if there is one"},
    {.kind = OPT_END},
};

static const struct program program = {
    .name = "gnn-train",
    .summary = "train a graph neural network on batches",
    .synopsis = "",
    .extra =
        "a store is given with --store, a stream to stdin or with -i, and the model is named with -o",
    .opts = opts,
};

static bool stop_asked(void *arg, bool cut)
{
    (void)arg;
    return (cut ? sig_settled() : sig_pending()) != 0;
}

static void check_options(void)
{
    train_feed_check(&feed);
    if (resume && !o.checkpoint)
        cli_usage("--resume requires --checkpoint DIR");
    if (o.checkpoint_every && !o.checkpoint)
        cli_usage("--checkpoint-every requires --checkpoint DIR");
    if (!feed.store_path && schedule != GNN_COSINE)
        opt_refuse(OPTS(&feed.epochs),
                   "requires --store or --schedule cosine; a stream determines its epochs");
    if (train_eps && !gnn_layers[kind]->trains_eps)
        cli_usage("--train-eps has no effect: --model %s has no eps", gnn_layers[kind]->name);
    if (batch_norm && !opt_given(&layer_norm))
        layer_norm = false;
    if (layer_norm && batch_norm)
        cli_usage("--layer-norm and --batch-norm exclude each other");
    if (optimizer != GNN_SGD)
        opt_refuse(OPTS(&o.momentum), "requires --optimizer sgd");
    if (schedule != GNN_STEP)
        opt_refuse(OPTS(&o.step_epochs, &o.step_factor), "requires --schedule step");
    device_refuse_cpu(feed.device, OPTS(&precision),
                      "has no effect: the CPU uses single precision");
}

/* The widths of the hidden layers: as many as the batches have hops, less one. */
static void set_widths(struct gnn_model_config *c, uint32_t hops)
{
    c->nlayers = hops;
    if (hops > GNN_LAYERS_MAX)
        cli_die(feed.store_path ? 2 : 3, "%u hops: a model has at most %d layers", hops,
                GNN_LAYERS_MAX);
    if (hidden.n > 1 && hidden.n + 1 != hops)
        cli_usage("--hidden names %u widths; %u hops need %u", hidden.n, hops, hops - 1);
    for (uint32_t l = 0; l + 1 < hops; l++) {
        const int32_t w = hidden.n == 0 ? TRAIN_HIDDEN : hidden.v[hidden.n == 1 ? 0 : l];
        if (w < 1)
            cli_usage("--hidden: %d: expected a width > 0", w);
        c->width[l] = (uint32_t)w;
    }
}

/* A stream's header could make a model large with a number: a batch has to show features that wide
 * before there is memory for it. */
static void prove_widths(struct gnn_source **src, const struct gnn_model *m, struct gnn_err *e)
{
    enum { SMALL = 1 << 24, MODEST = 1 << 12 };
    const struct gnn_batch *b;
    char name[GNN_NAME_MAX + 1];
    if (feed.store_path || m->nfloats <= SMALL)
        return;
    if (!(*src = gnn_source_ahead(*src, &b, e)))
        cli_fail(e);
    for (uint32_t t = 0; b && t < m->c.nntypes; t++) {
        const struct gnn_tensor *x =
            gnn_tensors_find(&b->tensors, gnn_tensor_name(name, "node/%s/x", m->c.ntype[t].name));
        if (m->c.ntype[t].width > MODEST && (!x || !x->shape[0]))
            cli_die(
                3,
                "features %s of width %u, but the first batch has none: a model of %llu parameters is implausible",
                name, m->c.ntype[t].width, (unsigned long long)m->nfloats);
    }
}

/* A model sees nothing of such nodes but how many neighbours they have. */
static void tell_bare(const struct gnn_schema *s)
{
    for (uint32_t i = 0; i < s->nntypes; i++)
        if (gnn_field_find(s->ntype[i].field, s->ntype[i].nfields, "x"))
            return;
    cli_note("warning: nodes have no features x: a single feature 1 is used");
}

static void make_model(struct gnn_model *m, struct gnn_source **src, struct gnn_err *e)
{
    const struct gnn_meta *meta = (*src)->meta;
    struct gnn_model_config c = {.layer = gnn_layers[kind],
                                 .layer_norm = layer_norm,
                                 .batch_norm = batch_norm,
                                 .residual = residual,
                                 .train_eps = train_eps,
                                 .feature_norm = (enum gnn_feature_norm)feature_norm};
    struct gnn_st_file f;
    if (!meta->is_stream)
        cli_die(3, "the input is not a stream of batches");
    unused_edge_fields(
        &meta->schema, feed.store_path ? "weight time x" : "weight x",
        feed.store_path ? "neighbours are sampled uniformly, and the model treats all edges equally"
                        : "the model treats all edges equally");
    tell_bare(&meta->schema);
    set_widths(&c, meta->sampling.nhops);
    if (gnn_model_config_fit(&c, &meta->schema, e) || gnn_model_layout(m, &c, e))
        cli_fail(e);
    prove_widths(src, m, e);
    if (gnn_model_alloc(m, e))
        cli_fail(e);
    gnn_model_reset(m, feed.seed);
    if (!init)
        return;
    if (gnn_st_read(&f, init, e) || gnn_model_copy_params(m, m->slab, &f, init, "", false, e))
        cli_fail(e);
    if (!f.st.summed)
        cli_note("%s: no checksum (written by another program): not verified", init);
    gnn_st_release(&f);
}

static void finish_opts(const struct gnn_meta *meta, const struct gnn_model *m)
{
    const uint64_t steps = meta->sampling.nsplits ? meta->sampling.steps[0] : 0;
    o.optimizer = (enum gnn_optimizer)optimizer;
    o.schedule = (enum gnn_schedule)schedule;
    if (keep == GNN_KEEP_BEST && meta->sampling.nsplits < 2)
        cli_usage("--keep best requires a set to evaluate: --eval valid");
    if (meta->sampling.nsplits < 2 && !opt_given(&o.patience))
        o.patience = 0; /* nothing tells when to stop */
    o.keep = keep < 0 ? GNN_KEEP_BEST : (enum gnn_keep)keep;
    o.metric = metric >= 0 ? (enum gnn_metric)metric : gnn_metric_usual(m->c.task);
    o.seed = feed.seed;
    o.provenance = cli_provenance();
    o.warmup = (uint64_t)(warmup_epochs * (double)steps);
    o.total_steps = schedule != GNN_COSINE
                        ? 0
                        : steps * (feed.epochs.given ? feed.epochs.to - feed.epochs.from
                                   : feed.store_path ? TRAIN_EPOCHS
                                                     : 0);
}

/* Where the checkpoint is; a source that starts there needs not be opened twice. */
static void find_start(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    char at[64];
    if (gnn_checkpoint_at(o.checkpoint, &feed.first_epoch, &feed.first_step, &feed.goes_on, &e) < 0)
        cli_fail(&e);
    snprintf(at, sizeof at, "%d %llu %llu", feed.goes_on, (unsigned long long)feed.first_epoch,
             (unsigned long long)feed.first_step);
    if (gnn_comm_agree(c, "checkpoint", at, &e))
        cli_fail(&e);
}

/* Who forgot --resume learns so before hours of work are lost. */
static void tell_replaced(const struct gnn_comm *c)
{
    struct gnn_err e = {0};
    if (!o.checkpoint || resume || c->rank)
        return;
    char *path = gnn_strf(&e, "%s/checkpoint.safetensors", o.checkpoint);
    if (path && !access(path, F_OK))
        cli_note("warning: %s exists and will be replaced (--resume would continue from it)", path);
    gnn_free(path);
}

static void start_over(struct gnn_trainer *t, struct gnn_err *e)
{
    const int rc = gnn_trainer_load(t, e);
    if (rc < 0)
        cli_fail(e);
    if (rc == GNN_END) {
        cli_note("no checkpoint in %s: starting from the beginning", o.checkpoint);
        return;
    }
    if (!t->s.any)
        return;
    const uint64_t end = feed.epochs.given ? feed.epochs.to : TRAIN_EPOCHS;
    if (feed.store_path && t->s.epoch >= end)
        cli_usage("%s: the checkpoint was made in epoch %llu, and --epochs ends before %llu",
                  o.checkpoint, (unsigned long long)t->s.epoch, (unsigned long long)end);
    cli_note("resuming after epoch %llu, step %llu", (unsigned long long)t->s.epoch,
             (unsigned long long)t->s.step);
    if (!feed.store_path)
        return;
    if (t->s.epoch != feed.first_epoch || t->s.step != feed.first_step)
        cli_die(1, "%s: the checkpoint was changed by another process", o.checkpoint);
}

static void read_options(int argc, char **argv)
{
    int nargs;
    gnn_train_opts_init(&o);
    o.lr = TRAIN_LR;
    o.dropout = TRAIN_DROPOUT;
    o.patience = TRAIN_PATIENCE;
    (void)opt_parse(&program, argc, argv, &nargs);
    check_options();
    threads_start(threads);
    feed.degrees = gnn_adj_needs_degrees(gnn_layers[kind]->norm);
    feed.count_once = batch_norm;
    feed.input = ranks_path(feed.input, feed.store_path ? NULL : "-i");
    if (feed.input || feed.store_path)
        stdin_unread(feed.input ? "gnn-train reads the file of -i"
                                : "gnn-train --store samples its own batches",
                     (const char *const[]){feed.input, feed.store_path}, 2);
}

/* Does not return on failure, nor when it was asked to stop. */
static void train_model(struct gnn_trainer *t, struct gnn_source *src, struct train_text *text,
                        struct gnn_err *e)
{
    const struct gnn_train_hooks hooks = {text, o.checkpoint ? stop_asked : NULL, train_text_step,
                                          train_text_epoch};
    const struct gnn_train_hooks quiet = {text, hooks.stop, NULL, NULL};
    const int rc = gnn_trainer_run(t, src, feed.comm->rank ? &quiet : &hooks, e);
    cli_progress_end();
    if (rc == GNN_E_STOPPED)
        cli_die(75, "stopped after epoch %llu, step %llu; the checkpoint is in %s",
                (unsigned long long)t->s.epoch, (unsigned long long)t->s.step, o.checkpoint);
    if (rc)
        cli_fail(e);
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_model m;
    struct gnn_trainer t;
    struct train_text text = {0};
    const char *name;

    threads_wait_briefly(argv);
    cli_start("gnn-train", argc, argv);
    ranks_start();
    read_options(argc, argv);
    struct gnn_comm *c = feed.comm = o.comm = ranks_open(timeout);
    if (resume) {
        train_lock(c, o.checkpoint, false, timeout / 2);
        find_start(c);
    }
    struct gnn_source *src = train_feed_open(&feed);
    ranks_agree(c, src->meta, NULL);
    const int out = c->rank ? -1 : cli_out(ranks_path(output, NULL), &name);
    if (c->rank)
        cli_spare_stdout();
    make_model(&m, &src, &e);
    finish_opts(src->meta, &m);
    o.ops = gnn_ops_new(feed.gpu, (enum gnn_precision)precision, &e);
    if (!o.ops)
        cli_fail(&e);
    if (o.checkpoint)
        train_lock(c, o.checkpoint, true, 0);
    tell_replaced(c);
    if (gnn_trainer_init(&t, &m, src->meta, &o, &e))
        cli_fail(&e);
    if (resume)
        start_over(&t, &e);
    if (o.checkpoint)
        sig_defer();
    train_text_init(&text, &t);
    train_model(&t, src, &text, &e);
    if ((feed.store_path && gnn_store_verified(&feed.store, &e)) ||
        (!c->rank && gnn_model_write(&m, gnn_trainer_result(&t), cli_provenance(), out, name, &e)))
        cli_fail(&e);
    if (!c->rank) {
        train_text_times(o.ops);
        train_text_end(&text);
    }
    gnn_trainer_release(&t);
    gnn_model_release(&m);
    o.ops->free(o.ops);
    train_feed_close(&feed, src);
    ranks_close(c);
    cli_out_commit();
    gnn_store_close(&feed.store);
    return cli_finish();
}
