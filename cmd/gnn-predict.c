/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict: a store, or batches, and a model in; one row per node or seed, and scores, out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/layer_opts.h"
#include "cmd/feed.h"
#include "cmd/metric.h"
#include "cmd/opt.h"
#include "cmd/predict_batches.h"
#include "cmd/predict_model.h"
#include "cmd/ranks.h"
#include "cmd/sets.h"
#include "cmd/state_dict.h"
#include "cmd/stdin.h"
#include "cmd/unused.h"
#include "lib/base/clock.h"
#include "lib/base/kind.h"
#include "lib/base/limit.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/base/plural.h"
#include "lib/predict/batches.h"
#include "lib/predict/predict.h"

static const char *output;
static struct opt_list sets, map;
static const char *split; /* that the sets are of, unless they say otherwise */
static int what = -1;
static const char *metric;
static bool original = true, none, layer_wise;
static double timeout = 300;
static uint64_t memory;
static uint32_t threads;

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &output, "FILE",
     "array to write (.npy; default: stdout); FILE.csv: a table with the ids of nodes",
     .file = true, .makes = ""},
    {OPT_STR, 'i', "input", &feed.input, "FILE",
     "stream of batches to predict on, without STORE (default: stdin)", .file = true, .own = true},
    {OPT_CHOICE, 0, "output-kind", &what, "KIND",
     "what to write per node or seed (default: classes; values for regression)",
     "classes|probs|embeddings|values"},
    {OPT_FLAG, 0, "original-order", &original, NULL,
     "write rows in the order of original ids (default; --no-original-order: in the order of store ids)"},
    {OPT_FLAG, 'n', "no-output", &none, NULL,
     "write no array; report on --split, or on all sets of the first split"},
    {OPT_LIST, 0, "split", &sets, "SET",
     "report the metric on this set; batches: predict on its nodes only"},
    METRIC_OPT(&metric),
    {OPT_LIST, 0, "map", &map, "S/R/D=S/R/D",
     "an edge type of the store, and what the model calls it and its node types"},
    {OPT_FLAG, 0, "layer-wise", &layer_wise, NULL,
     "with STORE: use all edges, although the model was trained on batches that leave some out"},
    {OPT_U64, 0, "memory", &memory, "SIZE",
     "activations, or outputs of batches, to hold in memory; the others go to $TMPDIR (default: half of the memory)",
     .bytes = true, .min = 0, .max = 1e18},
    {OPT_U32, 'j', "threads", &threads, "N", "threads (default: one per core)", .min = 1,
     .max = 1024},
    {.kind = OPT_END},
};

static const struct opt device_opts[] = {
    {.kind = OPT_GROUP, .help = "Devices, caches and ranks"},
    {OPT_STR, 0, "device", &feed.device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    RANKS_TIMEOUT(&timeout),
    {.kind = OPT_END},
};

static const struct opt_elsewhere elsewhere[] = {
    {"f|b|fanout|batch|frontier|shuffle|drop-last|replace|weight|labor|layer-dependency|"
     "batch-dependency|time-rule|window|latest|hop-time|seed-time|seed-balance|seed-weight|induced|"
     "clusters|disjoint|seed",
     "the model's file says how batches are sampled, and --store STORE samples them so; those of "
     "gnn-sample are read from a stream"},
    {"m|model|hidden|layers|heads|last-heads|head|jk|encoder|ffn|layer-norm|batch-norm|edge-features",
     "the model's file says this (gnn-inspect shows it)"},
    {"lr|epochs|optimizer|weight-decay|dropout|patience|schedule|clip|class-weights|full-batch|init",
     "gnn-train trains"},
    {0},
};

static const struct program program = {
    .name = "gnn-predict",
    .summary = "compute the output of a model for every node of a store, or every seed of batches",
    .synopsis = "[STORE] MODEL",
    .extra = "the array is named with -o",
    .opts = opts,
    .more = (const struct opt *const[]){feed_opts, state_dict_opts, layer_opts, device_opts,
                                        feed_cache_opts, NULL},
    .lacks = "no-provenance", /* .npy has no room for it */
    .elsewhere = elsewhere,
    .max_args = 2,
};

/* Where nodes and labels come from, for messages and names of sets. */
struct graph {
    const struct gnn_schema *schema;
    const char *name;
};

static void show_progress(void *arg, uint32_t layer, uint64_t done, uint64_t total)
{
    char text[32];
    (void)arg;
    snprintf(text, sizeof(text), "layer %u", layer);
    cli_progress(text, done, total, NULL);
}

static void show_seeds(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    cli_progress("seeds", done, total, NULL);
}

static enum gnn_predict_output output_kind(const struct gnn_model *m)
{
    const bool regression = m->c.task == GNN_TASK_REGRESSION;
    if (regression && (what == GNN_OUT_CLASSES || what == GNN_OUT_PROBS))
        cli_usage("--output-kind %s: a regression has no classes: expected values or embeddings",
                  what == GNN_OUT_PROBS ? "probs" : "classes");
    return what >= 0    ? (enum gnn_predict_output)what
           : regression ? GNN_OUT_VALUES
                        : GNN_OUT_CLASSES;
}

/* Labels in columns need as many outputs. Of classes the graph may have fewer than the model, if
 * their numbers mean the same. */
static void check_task(const struct graph *g, const struct gnn_model *m)
{
    const struct gnn_schema *c = g->schema;
    const bool same = c->task == m->c.task && c->nclasses == m->c.outputs;
    if (c->task != GNN_TASK_NONE && !same &&
        (gnn_task_columns(c->task) || gnn_task_columns(m->c.task)))
        cli_die(3,
                "%s: labels of a %s task with %u columns or classes cannot score a model of a %s "
                "task with %u output%s",
                g->name, gnn_task_name(c->task), c->nclasses, gnn_task_name(m->c.task),
                m->c.outputs, gnn_plural(m->c.outputs));
    const uint32_t classes = gnn_model_classes(&m->c);
    if (c->task == GNN_TASK_NONE || gnn_task_columns(m->c.task) || c->nclasses == classes)
        return;
    if (c->nclasses > classes)
        cli_die(3, "%s: has %u classes, and the model %u: its labels cannot score the model",
                g->name, c->nclasses, classes);
    if (!c->class_name) /* names have been compared */
        cli_note("warning: %s has %u classes, and the model %u: the figures are wrong unless a "
                 "class has the same number in both",
                 g->name, c->nclasses, classes);
}

/* What can be refused before hours of work is. */
static struct gnn_measure check_options(const struct graph *g, const struct gnn_model *m)
{
    const struct gnn_measure kind = metric_read(metric, m->c.task);
    if (sets.n || none)
        check_task(g, m);
    if (sets.n && !feed.comm->rank)
        metric_tell(kind, g->schema);
    return kind;
}

static void report_score(const struct gnn_score *score, const char *set, struct gnn_measure kind)
{
    struct gnn_err e = {0};
    char value[32], more[64] = "", known_of[64] = "", number[32], room[48];
    const char *name = gnn_measure_name(kind, room);
    double v;
    if (gnn_score_value(score, kind, &v, &e))
        cli_fail(&e);
    const double loss = gnn_score_loss(score);
    const bool columns = gnn_task_columns(score->task);
    const unsigned long long nodes = score->labelled, known = score->known,
                             all = score->rows * (columns ? score->outputs : 1);
    if (kind.metric != GNN_METRIC_LOSS)
        snprintf(more, sizeof more, ", loss %s", cli_number(number, loss));
    if (known < all)
        snprintf(known_of, sizeof known_of,
                 columns ? ", %llu of %llu labels" : " with a label (%llu of %llu)", known, all);
    cli_note("%s: %s %s%s, %llu node%s%s", set, name, cli_number(value, v), more, nodes,
             gnn_plural(nodes), known_of);
    json_t *j =
        json_pack("{s:s, s:s, s:I, s:I, s:I}", "event", "score", "set", set, "nodes",
                  (json_int_t)score->labelled, "unlabelled",
                  (json_int_t)(score->rows - score->labelled), "labels", (json_int_t)score->known);
    cli_metrics_number(j, "loss", loss);
    if (kind.metric != GNN_METRIC_LOSS)
        cli_metrics_number(j, name, v);
    cli_metrics(j);
}

static void report_set(struct gnn_predict *p, const char *set, struct gnn_measure kind)
{
    struct gnn_err e = {0};
    struct gnn_score score;
    const int i = gnn_schema_find_set(&p->s->meta.schema, set); /* checked: it is there */
    if (gnn_score_init(&score, p->m->c.task, (uint32_t)p->logits.width,
                       gnn_metric_ranks(kind.metric), &e) ||
        gnn_predict_score(p, (uint32_t)i, &score, &e))
        cli_fail(&e);
    report_score(&score, set, kind);
    gnn_score_release(&score);
}

static bool output_ends(const char *end)
{
    const size_t n = output ? strlen(output) : 0, k = strlen(end);
    return n > k && !strcmp(output + n - k, end);
}

static bool is_csv(void)
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
                      output);
}

/* The split whose sets a table names: that of the first set reported on, or the model's. */
static const char *split_of(const struct gnn_schema *c)
{
    return sets.n ? c->set[gnn_schema_find_set(c, sets.v[0])].split : split;
}

static int write_output(const struct gnn_output *o, int out, const char *name, struct gnn_err *e)
{
    return o->text ? gnn_output_write_csv(o, o->s ? split_of(o->schema) : NULL, out, name, e)
                   : gnn_output_write(o, out, name, e);
}

/* Half of what the machine has, or of what this process may have of it. */
static uint64_t default_memory(void)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
                   most = gnn_limit_memory("");
    return (most < all ? most : all) / 2;
}

static const char *temp_directory(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

/* ---- layer by layer, over a store ---- */

static void predict_layers(const struct gnn_model *m, const struct gnn_ops *ops,
                           struct gnn_measure kind, int out, const char *name)
{
    const struct gnn_predict_opts o = {.ops = ops,
                                       .memory = memory ? memory : default_memory(),
                                       .tmpdir = temp_directory(),
                                       .progress = show_progress};
    const enum gnn_predict_output form = output_kind(m);
    struct gnn_err e = {0};
    struct gnn_predict p;
    struct gnn_output rows = {0};
    const double start = gnn_clock();
    if (gnn_predict_run(&p, m, &feed.store, &o, &e))
        cli_fail(&e);
    cli_progress_end();
    const double s = gnn_clock() - start;
    cli_info("%llu node%s, %.2f s, %.1f M edges/s, %.0f GFLOP/s", (unsigned long long)p.logits.rows,
             gnn_plural(p.logits.rows), s, 1e-6 * (double)p.pass.edges / s,
             1e-9 * (double)p.pass.flops / s);
    for (uint32_t i = 0; i < sets.n; i++)
        report_set(&p, sets.v[i], kind);
    if (gnn_store_verified(&feed.store, &e) ||
        (!none && gnn_predict_output(&p, form, original, &rows, &e)))
        cli_fail(&e);
    rows.text = is_csv();
    if ((!none && write_output(&rows, out, name, &e)) || gnn_predict_check(&p, &e))
        cli_fail(&e);
    cli_out_commit();
    cli_metrics(json_pack("{s:s, s:I, s:f, s:I, s:I}", "event", "end", "nodes",
                          (json_int_t)p.logits.rows, "seconds", s, "edges",
                          (json_int_t)p.pass.edges, "peak_bytes", (json_int_t)gnn_mem_peak()));
    gnn_output_release(&rows);
    gnn_predict_release(&p);
}

/* ---- batch by batch ---- */

/* Which splits of a stream are predicted on: those that are named, or NULL: all. */
static bool *choose_splits(const struct gnn_sampling *s, const char *name)
{
    struct gnn_err e = {0};
    bool *wanted = gnn_alloc_zero(s->nsplits, sizeof *wanted, "sets", &e);
    if (!wanted)
        cli_fail(&e);
    for (uint32_t i = 0; i < sets.n; i++) {
        struct gnn_suggest of = {.word = sets.v[i]};
        bool found = false;
        for (uint32_t k = 0; k < s->nsplits; k++) {
            gnn_suggest_add(&of, s->split[k]);
            if (strcmp(s->split[k], sets.v[i]) != 0)
                continue;
            if (wanted[k])
                cli_usage("--split: set %s is named twice", sets.v[i]);
            wanted[k] = found = true;
        }
        if (!found)
            cli_usage("%s: no batches of set '%.64s'%s", name, sets.v[i],
                      gnn_suggest_text(&of, "sets"));
    }
    return wanted;
}

static void predict_batches(const struct gnn_model *m, struct gnn_source *src,
                            const struct graph *g, const struct gnn_ops *ops,
                            struct gnn_measure kind, int out, const char *name)
{
    const struct gnn_sampling *sampling = &src->meta->sampling;
    const bool drawn = feed.store_path != NULL;
    struct gnn_err e = {0};
    struct gnn_predict_batches q;
    bool *wanted = sets.n && !drawn ? choose_splits(sampling, g->name) : NULL;
    const struct gnn_predict_batches_opts o = {.ops = ops,
                                               .comm = feed.comm,
                                               .s = drawn ? &feed.store : NULL,
                                               .name = g->name,
                                               .wanted = wanted,
                                               .keep = !none,
                                               .memory = memory ? memory : default_memory(),
                                               .tmpdir = temp_directory(),
                                               .what = output_kind(m),
                                               .text = is_csv(),
                                               .scores = none || sets.n,
                                               .ranks = gnn_metric_ranks(kind.metric),
                                               .progress = show_seeds};
    const double start = gnn_clock();
    if (gnn_predict_batches_run(&q, m, src, &o, &e))
        cli_fail(&e);
    cli_progress_end();
    const double s = gnn_clock() - start;
    cli_info("%llu seed%s, %.2f s, %.1f M edges/s, %.0f GFLOP/s", (unsigned long long)q.seeds,
             gnn_plural(q.seeds), s, 1e-6 * (double)q.net.pass.edges / s,
             1e-9 * (double)q.net.pass.flops / s);
    for (uint32_t i = 0; o.scores && !feed.comm->rank && i < sampling->nsplits; i++)
        if (!wanted || wanted[i])
            report_score(&q.score[i], sampling->split[i], kind);
    if ((drawn && gnn_store_verified(&feed.store, &e)) ||
        (!none && write_output(&q.out, out, name, &e)) || gnn_predict_batches_check(&q, &e))
        cli_fail(&e);
    cli_metrics(json_pack("{s:s, s:I, s:f, s:I, s:I}", "event", "end", "nodes", (json_int_t)q.seeds,
                          "seconds", s, "edges", (json_int_t)q.net.pass.edges, "peak_bytes",
                          (json_int_t)gnn_mem_peak()));
    gnn_predict_batches_release(&q);
    gnn_free(wanted);
}

/* ---- the command line ---- */

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

static void check_layers(char **args)
{
    if (ranks_many())
        cli_usage("several ranks require batches: gnn-predict --store STORE MODEL");
    feed_refuse("requires batches: gnn-predict --store STORE MODEL");
    opt_refuse(OPTS(&timeout), "requires several ranks");
    device_refuse_cuda(feed.device, OPTS(&memory),
                       "has no effect: host memory holds what the device cannot");
    stdin_unread("gnn-predict reads a store and a model (without STORE: batches and a model)",
                 (const char *const *)args, 2);
    feed.store_path = args[0];
}

static void check_batches(const char *model)
{
    feed_check();
    if (ranks_many() && !feed.store_path)
        cli_usage("several ranks require --store: the stream of each rank is predicted on by "
                  "itself");
    opt_refuse(OPTS(&layer_wise, &original), "requires STORE: gnn-predict STORE MODEL");
    if (none)
        opt_refuse(OPTS(&memory), "has no effect with --no-output: no output of batches is kept");
    if (!ranks_many())
        opt_refuse(OPTS(&timeout), "requires several ranks");
    if (feed.store_path || feed.input)
        stdin_unread(feed.store_path ? "gnn-predict --store samples its own batches"
                                     : "gnn-predict reads the file of -i",
                     (const char *const[]){model, feed.input, feed.store_path}, 3);
}

static bool read_options(int argc, char **argv, char ***args, int *n)
{
    layer_opts_list(true);
    *args = opt_parse(&program, argc, argv, n);
    check_name();
    metric_check(metric);
    if (none)
        opt_refuse(OPTS(&output, &what, &original), "and --no-output exclude each other");
    if (!sets.n && !none)
        opt_refuse(OPTS(&metric), "requires --split");
    check_args(*args, *n);
    if (*n == 2)
        check_layers(*args);
    else
        check_batches((*args)[0]);
    return *n == 1;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_model m;
    struct gnn_source *src = NULL;
    struct graph g;
    const char *name = NULL;
    char **args;
    int nargs, out = -1;

    threads_wait_briefly(argv);
    cli_start("gnn-predict", argc, argv);
    ranks_start();
    const bool batches = read_options(argc, argv, &args, &nargs);
    threads_start(threads);
    feed.comm = batches ? ranks_open(timeout) : gnn_comm_self();
    feed_start();
    if (!feed.store_path)
        src = feed_open(NULL);
    g = src ? (struct graph){&src->meta->schema, feed.input ? feed.input : "stdin"}
            : (struct graph){&feed.store.meta.schema, feed.store.path};
    const char *path = args[nargs - 1];
    predict_open_model(&m, path, &map, g.schema, g.name);
    if (src)
        predict_compare(&m, path, &src);
    if (!batches)
        predict_check_layers(&m, path, g.name, layer_wise);
    if (!src)
        split = sets_choose(&sets, none && !sets.n, &feed.store, &m, path);
    const struct gnn_measure kind = check_options(&g, &m);
    (void)output_kind(&m);
    if (batches && !src) {
        feed_needs(&m.c);
        src = predict_draw(&m, path, &sets);
    }
    if (!none && !feed.comm->rank)
        out = cli_out(output, &name);
    if (feed.comm->rank)
        cli_spare_stdout();
    unused_tell(g.schema, &(const struct unused_by){.model = &m.c,
                                                    .sampling = src ? &src->meta->sampling : NULL,
                                                    .samples = src && feed.store_path});
    const struct gnn_ops *ops = gnn_ops_new(feed.gpu, GNN_PRECISION_F32, &e);
    if (!ops)
        cli_fail(&e);
    if (batches)
        predict_batches(&m, src, &g, ops, kind, out, name);
    else
        predict_layers(&m, ops, kind, out, name);
    ops->free(ops);
    feed_close(src);
    if (batches) {
        ranks_close(feed.comm);
        cli_out_commit();
    }
    gnn_model_release(&m);
    gnn_store_close(&feed.store);
    return cli_finish();
}
