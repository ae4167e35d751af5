/* SPDX-License-Identifier: Apache-2.0 */
/* The options of gnn-predict, and what does not fit together. */
#include "cmd/predict_opts.h"

#include <string.h>
#include <sys/stat.h>

#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/feed.h"
#include "cmd/metric.h"
#include "cmd/precision.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/state_dict.h"
#include "cmd/stdin.h"
#include "lib/base/kind.h"
#include "lib/data/sampling_list.h"
#include "lib/predict/output.h"

struct predict_opts predict = {.what = -1, .original = true, .timeout = 300};

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &predict.output, "FILE",
     "array to write (.npy; default: stdout); FILE.csv: a table with the ids of nodes",
     .file = true, .makes = ""},
    {OPT_STR, 'i', "input", &feed.input, "FILE",
     "stream of batches to predict on, without STORE (default: stdin)", .file = true, .own = true},
    {OPT_CHOICE, 0, "output-kind", &predict.what, "KIND",
     "what to write per node, seed or link (default: classes; values for regression; scores of links)",
     GNN_OUTPUT_WORDS},
    {OPT_FLAG, 0, "original-order", &predict.original, NULL,
     "write rows in the order of original ids (default; --no-original-order: in the order of store ids)"},
    {OPT_FLAG, 'n', "no-output", &predict.none, NULL,
     "write no array; report on --split, or on all sets of the first split"},
    {OPT_LIST, 0, "split", &predict.sets, "SET",
     "report the metric on this set; batches: predict on its nodes only"},
    GNN_METRIC_OPTION(&predict.metric),
    {OPT_LIST, 0, "map", &predict.map, "S/R/D=S/R/D",
     "an edge type of the store, and what the model calls it and its node types"},
    {OPT_FLAG, 0, "layer-wise", &predict.layer_wise, NULL,
     "with STORE: use all edges, although the model was trained on batches that leave some out"},
    {OPT_U64, 0, "memory", &predict.memory, "SIZE",
     "activations, or outputs of batches, to hold in memory; the others go to $TMPDIR (default: half of the memory)",
     .bytes = true, .min = 0, .max = 1e18},
    {OPT_U32, 'j', "threads", &predict.threads, "N", "threads (default: one per core)", .min = 1,
     .max = 1024},
    {.kind = OPT_END},
};

static const struct opt device_opts[] = {
    {.kind = OPT_GROUP, .help = "Devices, caches and ranks"},
    {OPT_STR, 0, "device", &feed.device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    PRECISION_OPTION(&predict.precision),
    RANKS_TIMEOUT(&predict.timeout),
    {.kind = OPT_END},
};

/* They follow the list's options of links. */
static const struct opt pair_opts[] = {
    {OPT_STR, 0, "seeds", &predict.seeds, "FILE",
     "with --store and a model of links: predict the pairs in FILE, in lines of a head and a tail; - is stdin",
     .file = true, .own = true},
    {OPT_STR, 0, "seed-type", &predict.seed_type, "TYPE",
     "with STORE and a model of links: node type of the embeddings (default: that of tails)"},
    {.kind = OPT_END},
};
static struct opt link_opts[16];

static struct opt_elsewhere elsewhere[] = {
    {NULL,
     "the model's file says how batches are sampled, and --store STORE samples them so; those of "
     "gnn-sample are read from a stream"},
    {"m|model|hidden|layers|heads|last-heads|head|jk|encoder|ffn|layer-norm|batch-norm|edge-features",
     "the model's file says this (gnn-inspect shows it)"},
    {"lr|epochs|loss|optimizer|weight-decay|dropout|patience|schedule|clip|class-weights|full-batch|init",
     "gnn-train trains"},
    {0},
};

static const struct program program = {
    .name = "gnn-predict",
    .summary = "compute the output of a model for every node of a store, or every seed of batches",
    .synopsis = "[STORE] MODEL",
    .extra = "the array is named with -o",
    .opts = opts,
    .more = (const struct opt *const[]){link_opts, pair_opts, feed_opts, state_dict_opts,
                                        state_dict_set.layers.option, device_opts, feed_cache_opts,
                                        NULL},
    .lacks = "no-provenance", /* .npy has no space for it */
    .elsewhere = elsewhere,
    .max_args = 2,
};

static bool output_ends(const char *end)
{
    const size_t n = predict.output ? strlen(predict.output) : 0, k = strlen(end);
    return n > k && !strcmp(predict.output + n - k, end);
}

bool predict_opts_csv(void)
{
    return output_ends(".csv");
}

/* An array in a file whose name promises a table would be taken for a damaged one. */
static void check_name(void)
{
    static const char *const others[] = {".tsv", ".txt", ".json", ".ndjson", ".parquet", ".xlsx"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (output_ends(others[i]))
            cli_usage("-o %s: expected a name that ends in .csv (a table) or .npy (an array)",
                      predict.output);
}

/* A stream can come on standard input. */
static bool stdin_may_stream(void)
{
    struct stat st;
    return !fstat(0, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode));
}

/* One argument is a model for batches, two are a store and a model. */
static void check_args(char **args, int n)
{
    const bool batches = feed.store_path || feed.input;
    const enum gnn_kind kind = n ? gnn_kind_path(args[0]) : GNN_KIND_ABSENT;
    if (n == 2 && batches)
        cli_usage("--%s gives the batches: leave out %s (gnn-predict --%s %s %s)",
                  feed.input ? "input" : "store", args[0], feed.input ? "input" : "store",
                  feed.input ? feed.input : feed.store_path, args[1]);
    if (n == 2 && kind == GNN_KIND_MODEL && gnn_kind_path(args[1]) == GNN_KIND_STORE)
        cli_usage("%s is a model and %s a store: gnn-predict STORE MODEL", args[0], args[1]);
    if (n == 2 && kind == GNN_KIND_STREAM)
        cli_usage("%s is a stream of batches: gnn-predict -i %s %s", args[0], args[0], args[1]);
    if (n == 1 && kind == GNN_KIND_STORE && feed.store_path &&
        gnn_kind_path(feed.store_path) == GNN_KIND_MODEL)
        cli_usage("%s is a model and %s a store: gnn-predict --store STORE MODEL", feed.store_path,
                  args[0]);
    if (n == 1 && kind == GNN_KIND_STREAM)
        cli_usage("%s is a stream of batches, and MODEL is missing: gnn-predict -i %s MODEL",
                  args[0], args[0]);
    if (!n)
        cli_usage(batches ? "MODEL is missing: gnn-predict [--store STORE | -i FILE] MODEL (see "
                            "--help)"
                          : "STORE and MODEL are missing: gnn-predict STORE MODEL (see --help)");
    if (n == 1 && kind == GNN_KIND_STORE)
        cli_usage("MODEL is missing: gnn-predict STORE MODEL (see --help)");
    if (n == 1 && !batches && !stdin_may_stream())
        cli_usage(kind == GNN_KIND_MODEL
                      ? "%s is a model, and STORE is missing: gnn-predict STORE MODEL, or a stream "
                        "of batches to stdin (see --help)"
                      : "%s: MODEL is missing: gnn-predict STORE MODEL (see --help)",
                  args[0]);
}

void predict_opts_refuse_links(const char *why)
{
    EACH_MEMBER(x)
    {
        if (x->section && !strcmp(x->section, GNN_SECTION_LINKS))
            opt_refuse(OPTS(gnn_member_of(&sampling_given, x)), why);
    }
    opt_refuse(OPTS(&predict.seeds), why);
}

/* Pairs of a file are told from nothing. */
static void check_pairs(void)
{
    struct gnn_links *l = &sampling_given.links;
    if (!predict.seeds)
        return;
    opt_refuse(OPTS(&predict.sets, &predict.none), "and --seeds exclude each other");
    opt_refuse(OPTS(&l->negatives, &l->end, &l->weight, &l->strict),
               "has no effect with --seeds: pairs have no negatives");
    opt_refuse(OPTS(&l->target), "has no effect with --seeds: pairs have no labels");
}

static void check_layers(char **args)
{
    if (ranks_many())
        cli_usage("several ranks require batches: gnn-predict --store STORE MODEL");
    feed_refuse("requires batches: gnn-predict --store STORE MODEL");
    predict_opts_refuse_links("requires batches: gnn-predict --store STORE MODEL");
    opt_refuse(OPTS(&predict.timeout), "requires several ranks");
    device_refuse_cuda(feed.device, OPTS(&predict.memory),
                       "has no effect: host memory holds what the device cannot");
    stdin_unread("gnn-predict reads a store and a model (without STORE: batches and a model)",
                 (const char *const *)args, 2);
    feed.store_path = args[0];
}

static void check_batches(const char *model)
{
    feed_check();
    check_pairs();
    opt_refuse(OPTS(&predict.seed_type), "requires STORE: gnn-predict STORE MODEL");
    if (!feed.store_path)
        predict_opts_refuse_links("requires --store; a stream determines this");
    if (ranks_many() && !feed.store_path)
        cli_usage("several ranks require --store: the stream of each rank is predicted on by "
                  "itself");
    opt_refuse(OPTS(&predict.layer_wise, &predict.original),
               "requires STORE: gnn-predict STORE MODEL");
    if (predict.none)
        opt_refuse(OPTS(&predict.memory),
                   "has no effect with --no-output: no output of batches is kept");
    if (!ranks_many())
        opt_refuse(OPTS(&predict.timeout), "requires several ranks");
    if (feed.store_path || feed.input)
        stdin_unread(feed.store_path ? "gnn-predict --store samples its own batches"
                                     : "gnn-predict reads the file of -i",
                     (const char *const[]){model, feed.input, feed.store_path, predict.seeds}, 4);
}

/* All sets are evaluated: --negatives is of these. */
static void drop_option(struct opt *o, const char *name)
{
    while (o->kind != OPT_END && (!o->name || strcmp(o->name, name) != 0))
        o++;
    for (; o->kind != OPT_END; o++)
        o[0] = o[1];
}

bool predict_opts_read(int argc, char **argv, char ***args, int *n)
{
    state_dict_init();
    elsewhere->names = sampling_opts_names("f|fanout|seed", true);
    gnn_sampling_init(&sampling_given);
    (void)sampling_opts_section(link_opts, GNN_SECTION_LINKS, true, true);
    drop_option(link_opts, "eval-negatives");
    *args = opt_parse(&program, argc, argv, n);
    check_name();
    precision_check(predict.precision);
    (void)metric_read(predict.metric, GNN_TASK_NONE);
    if (predict.none)
        opt_refuse(OPTS(&predict.output, &predict.what, &predict.original),
                   "and --no-output exclude each other");
    if (!predict.sets.n && !predict.none)
        opt_refuse(OPTS(&predict.metric), "requires --split");
    check_args(*args, *n);
    if (*n == 2)
        check_layers(*args);
    else
        check_batches((*args)[0]);
    return *n == 1;
}
