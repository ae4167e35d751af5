/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict: a store and a model in; one row per node, and scores, out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/layer_opts.h"
#include "cmd/metric.h"
#include "cmd/opt.h"
#include "cmd/sets.h"
#include "cmd/state_dict.h"
#include "cmd/stdin.h"
#include "cmd/type_map.h"
#include "cmd/untrained.h"
#include "cmd/unused.h"
#include "lib/base/clock.h"
#include "lib/base/kind.h"
#include "lib/base/limit.h"
#include "lib/base/mem.h"
#include "lib/model/model_file.h"
#include "lib/predict/predict.h"
#include "lib/train/trainer.h"
#include "lib/comm/comm.h"

static const char *output;
static struct opt_list sets, map;
static const char *split; /* that the sets are of, unless they say otherwise */
static int what = -1;
static const char *device, *metric;
static bool original = true, none;
static uint64_t memory;
static uint32_t threads;

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &output, "FILE",
     "array to write (.npy; default: stdout); FILE.csv: a table with the ids of nodes",
     .file = true, .makes = ""},
    {OPT_CHOICE, 0, "output-kind", &what, "KIND",
     "what to write per node (default: classes; values for regression)",
     "classes|probs|embeddings|values"},
    {OPT_FLAG, 0, "original-order", &original, NULL,
     "write rows in the order of original ids (default; --no-original-order: in the order of store ids)"},
    {OPT_FLAG, 'n', "no-output", &none, NULL,
     "write no array; report on --split, or on all sets of the first split"},
    {OPT_LIST, 0, "split", &sets, "SET", "report the metric on this set"},
    METRIC_OPT(&metric),
    {OPT_LIST, 0, "map", &map, "S/R/D=S/R/D",
     "an edge type of the store, and what the model calls it and its node types"},
    {OPT_U64, 0, "memory", &memory, "SIZE",
     "activations to hold in memory; the others go to $TMPDIR (default: half of the memory)",
     .bytes = true, .min = 0, .max = 1e18},
    {OPT_U32, 'j', "threads", &threads, "N", "threads (default: one per core)", .min = 1,
     .max = 1024},
    {OPT_STR, 0, "device", &device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    {.kind = OPT_END},
};

static const struct program program = {
    .name = "gnn-predict",
    .summary = "compute the output of a model for every node of a store",
    .synopsis = "STORE MODEL",
    .args = "STORE|MODEL",
    .extra = "the array is named with -o",
    .opts = opts,
    .more = (const struct opt *const[]){state_dict_opts, layer_opts, NULL},
    .lacks = "no-provenance", /* .npy has no room for it */
    .min_args = 2,
    .max_args = 2,
};

static void show_progress(void *arg, uint32_t layer, uint64_t done, uint64_t total)
{
    char text[32];
    (void)arg;
    snprintf(text, sizeof(text), "layer %u", layer);
    cli_progress(text, done, total, NULL);
}

static const char *model_path;

/* What the file says of training, which changes what the model computes. */
static void tell_trained(const struct gnn_model *m, bool foreign)
{
    const char *left_out = untrained_text(&m->c, m->c.untrained);
    if (*left_out)
        cli_note("%s: leaves out edges of types that training never saw: %s", model_path, left_out);
    if (!foreign && !m->recipe)
        cli_note("%s: written by a version that did not record what training saw: all convolutions "
                 "count as trained",
                 model_path);
}

/* A checkpoint holds two models. */
static void take_best(struct gnn_st_file *f, const char *path)
{
    struct gnn_err e = {0};
    struct gnn_train_state s;
    if (gnn_checkpoint_best(f, path, &s, &e))
        cli_fail(&e);
    if (s.has_best)
        cli_note("%s: a checkpoint: predicting with the model of epoch %llu, its best", path,
                 (unsigned long long)s.best_epoch);
    else
        cli_note("%s: a checkpoint: predicting with the model of its last step, in epoch %llu, as "
                 "no epoch has been evaluated",
                 path, (unsigned long long)s.epoch);
}

static void open_model(struct gnn_model *m, const char *path, const struct gnn_store *s,
                       struct gnn_err *e)
{
    struct gnn_st_file f;
    struct gnn_schema as; /* as the model names its types */
    if (gnn_st_read(&f, path, e))
        cli_fail(e);
    model_path = path;
    type_map_schema(&map, &s->meta.schema, s->path, &as);
    if (gnn_st_checkpoint(&f))
        take_best(&f, path);
    if (gnn_model_open(m, &f, path, &as, state_dict_take, e) ||
        gnn_model_config_match(&m->c, &as, s->path, e))
        cli_fail(e);
    type_map_rename(&m->c, &s->meta.schema);
    gnn_schema_release(&as);
    tell_trained(m, state_dict_tell(m, path));
    if (!f.st.summed)
        cli_note("%s: no checksum (written by another program): not verified", path);
    gnn_st_release(&f);
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

/* Labels in columns need as many outputs. Of classes the graph may have fewer than the model. */
static void check_task(const struct gnn_store *s, const struct gnn_model *m)
{
    const struct gnn_schema *c = &s->meta.schema;
    const bool same = c->task == m->c.task && c->nclasses == m->c.outputs;
    if (c->task != GNN_TASK_NONE && !same &&
        (gnn_task_columns(c->task) || gnn_task_columns(m->c.task)))
        cli_die(3,
                "%s: labels of a %s task with %u columns or classes cannot score a model of a %s "
                "task with %u outputs",
                s->path, gnn_task_name(c->task), c->nclasses, gnn_task_name(m->c.task),
                m->c.outputs);
}

/* What can be refused before hours of work is. */
static struct gnn_measure check_options(const struct gnn_store *s, const struct gnn_model *m)
{
    const struct gnn_measure kind = metric_read(metric, m->c.task);
    if (sets.n)
        check_task(s, m);
    return kind;
}

static void report_metric(struct gnn_predict *p, const char *set, struct gnn_measure kind,
                          struct gnn_err *e)
{
    struct gnn_score score;
    char value[32], more[64] = "", known_of[64] = "", number[32], room[48];
    const char *name = gnn_measure_name(kind, room);
    double v;
    const int i = gnn_schema_find_set(&p->s->meta.schema, set); /* checked: it is there */
    if (gnn_score_init(&score, p->m->c.task, (uint32_t)p->logits.width,
                       gnn_metric_ranks(kind.metric), e) ||
        gnn_predict_score(p, (uint32_t)i, &score, e) || gnn_score_value(&score, kind, &v, e))
        cli_fail(e);
    const double loss = gnn_score_loss(&score);
    const bool columns = gnn_task_columns(p->m->c.task);
    const unsigned long long nodes = score.labelled, known = score.known,
                             all = score.rows * (columns ? score.outputs : 1);
    if (kind.metric != GNN_METRIC_LOSS)
        snprintf(more, sizeof more, ", loss %s", cli_number(number, loss));
    if (known < all)
        snprintf(known_of, sizeof known_of,
                 columns ? ", %llu of %llu labels" : " with a label (%llu of %llu)", known, all);
    cli_note("%s: %s %s%s, %llu node%s%s", set, name, cli_number(value, v), more, nodes,
             nodes == 1 ? "" : "s", known_of);
    json_t *j =
        json_pack("{s:s, s:s, s:I, s:I, s:I}", "event", "score", "set", set, "nodes",
                  (json_int_t)score.labelled, "unlabelled",
                  (json_int_t)(score.rows - score.labelled), "labels", (json_int_t)score.known);
    cli_metrics_number(j, "loss", loss);
    if (kind.metric != GNN_METRIC_LOSS)
        cli_metrics_number(j, name, v);
    cli_metrics(j);
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

static int write_output(struct gnn_predict *p, enum gnn_predict_output form, int out,
                        const char *name, struct gnn_err *e)
{
    return is_csv() ? gnn_predict_write_csv(p, form, original, split_of(&p->s->meta.schema), out,
                                            name, e)
                    : gnn_predict_write(p, form, original, out, name, e);
}

/* Half of what the machine has, or of what this process may have of it. */
static uint64_t default_memory(void)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
                   most = gnn_limit_memory("");
    return (most < all ? most : all) / 2;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_store store = {0};
    struct gnn_model m;
    struct gnn_predict p;
    const struct gnn_ops *ops;
    const char *name = NULL, *tmpdir = getenv("TMPDIR");
    int nargs, out = -1;

    threads_wait_briefly(argv);
    cli_start("gnn-predict", argc, argv);
    layer_opts_list(true);
    char **args = opt_parse(&program, argc, argv, &nargs);
    check_name();
    if (none)
        opt_refuse(OPTS(&output, &what, &original), "and --no-output exclude each other");
    if (!sets.n && !none)
        opt_refuse(OPTS(&metric), "requires --split");
    device_refuse_cuda(device, OPTS(&memory),
                       "has no effect: host memory holds what the device cannot");
    if (gnn_kind_path(args[0]) == GNN_KIND_MODEL && gnn_kind_path(args[1]) == GNN_KIND_STORE)
        cli_usage("%s is a model and %s a store: gnn-predict STORE MODEL", args[0], args[1]);
    stdin_unread("gnn-predict reads a store and a model", (const char *const *)args, 2);
    threads_start(threads);
    struct gnn_gpu *gpu = device_open(device, gnn_comm_self());
    if (!memory)
        memory = default_memory();
    if (gnn_store_open(&store, args[0], true, &e))
        cli_fail(&e);
    open_model(&m, args[1], &store, &e);
    split = sets_choose(&sets, none && !sets.n, &store, &m, args[1]);
    const struct gnn_measure kind = check_options(&store, &m);
    const enum gnn_predict_output form = output_kind(&m);
    if (!none)
        out = cli_out(output, &name);
    unused_tell(&store.meta.schema, &(const struct unused_by){.model = &m.c});
    if (!(ops = gnn_ops_new(gpu, GNN_PRECISION_F32, &e)))
        cli_fail(&e);
    const struct gnn_predict_opts o = {.ops = ops,
                                       .memory = memory,
                                       .tmpdir = tmpdir && *tmpdir ? tmpdir : "/tmp",
                                       .progress = show_progress};
    const double start = gnn_clock();
    if (gnn_predict_run(&p, &m, &store, &o, &e))
        cli_fail(&e);
    cli_progress_end();
    const double s = gnn_clock() - start;
    cli_info("%llu nodes, %.2f s, %.1f M edges/s, %.0f GFLOP/s", (unsigned long long)p.logits.rows,
             s, 1e-6 * (double)p.pass.edges / s, 1e-9 * (double)p.pass.flops / s);
    for (uint32_t i = 0; i < sets.n; i++)
        report_metric(&p, sets.v[i], kind, &e);
    if (gnn_store_verified(&store, &e) || (!none && write_output(&p, form, out, name, &e)) ||
        gnn_predict_check(&p, &e))
        cli_fail(&e);
    cli_out_commit();
    cli_metrics(json_pack("{s:s, s:I, s:f, s:I, s:I}", "event", "end", "nodes",
                          (json_int_t)p.logits.rows, "seconds", s, "edges",
                          (json_int_t)p.pass.edges, "peak_bytes", (json_int_t)gnn_mem_peak()));
    gnn_predict_release(&p);
    ops->free(ops);
    gnn_gpu_close(gpu);
    gnn_model_release(&m);
    gnn_store_close(&store);
    return cli_finish();
}
