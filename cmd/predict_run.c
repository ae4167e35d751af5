/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/predict_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/feed.h"
#include "cmd/metric.h"
#include "cmd/predict_opts.h"
#include "lib/base/clock.h"
#include "lib/base/limit.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/base/suggest.h"
#include "lib/predict/sampled.h"
#include "lib/predict/predict.h"

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

enum gnn_predict_output predict_output_kind(const struct gnn_model *m, bool nodes)
{
    struct gnn_err e = {0};
    if (gnn_output_choose(m, nodes, &predict.what, &e))
        cli_fail(&e);
    return (enum gnn_predict_output)predict.what;
}

void predict_report(const struct gnn_score *score, const char *set, struct gnn_measure kind,
                    const char *unit)
{
    struct gnn_err e = {0};
    char value[METRIC_TEXT], more[64] = "", known_of[64] = "", number[32], capacity[48], units[8];
    const char *name = gnn_measure_name(kind, capacity);
    struct gnn_measured v;
    if (gnn_score_value(score, kind, &v, &e))
        cli_fail(&e);
    const double loss = gnn_score_loss(score);
    const bool columns = gnn_task_columns(score->task);
    const unsigned long long nodes = score->labelled, known = score->known,
                             all = score->rows * gnn_labels_width(score->task, score->outputs);
    if (kind.metric != GNN_METRIC_LOSS)
        snprintf(more, sizeof more, ", loss %s", cli_number(number, loss));
    if (known < all)
        snprintf(known_of, sizeof known_of,
                 columns ? ", %llu of %llu labels" : " with a label (%llu of %llu)", known, all);
    cli_note("%s: %s %s%s, %llu %s%s%s", set, name, metric_text(value, &v), more, nodes, unit,
             gnn_plural(nodes), known_of);
    snprintf(units, sizeof units, "%ss", unit);
    json_t *j =
        json_pack("{s:s, s:s, s:I, s:I, s:I}", "event", "score", "set", set, units,
                  (json_int_t)score->labelled, "unlabelled",
                  (json_int_t)(score->rows - score->labelled), "labels", (json_int_t)score->known);
    cli_metrics_number(j, "loss", loss);
    if (kind.metric != GNN_METRIC_LOSS)
        metric_json(j, kind, &v);
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
    predict_report(&score, set, kind, "node");
    gnn_score_release(&score);
}

/* The split whose sets a table names: that of the first set reported on, or the model's. */
static const char *split_of(const struct gnn_schema *c)
{
    return predict.sets.n ? c->set[gnn_schema_find_set(c, predict.sets.v[0])].split : predict.split;
}

static int write_output(const struct gnn_output *o, int out, const char *name, struct gnn_err *e)
{
    return o->text ? gnn_output_write_csv(o, o->s ? split_of(o->schema) : NULL, out, name, e)
                   : gnn_output_write(o, out, name, e);
}

uint64_t predict_memory(void)
{
    return predict.memory ? predict.memory : gnn_limit_all() / 2;
}

const char *predict_tmpdir(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && *dir ? dir : "/tmp";
}

/* ---- layer by layer, over a store ---- */

void predict_layers(const struct gnn_model *m, const struct gnn_ops *ops, struct gnn_measure kind,
                    int out, const char *name)
{
    const enum gnn_predict_output form = predict_output_kind(m, true);
    const struct gnn_predict_opts o = {.ops = ops,
                                       .memory = predict_memory(),
                                       .tmpdir = predict_tmpdir(),
                                       .heads = predict.heads,
                                       .embedding = form == GNN_OUT_EMBEDDINGS && !predict.none,
                                       .progress = show_progress};
    struct gnn_err e = {0};
    struct gnn_predict p;
    struct gnn_output rows = {0};
    const double start = gnn_clock();
    if (gnn_predict_run(&p, m, &feed.store, &o, &e))
        feed_fail(&e);
    cli_progress_end();
    const double s = gnn_clock() - start;
    predict_tell("node", p.logits.rows, &p.pass, s, p.spilled);
    for (uint32_t i = 0; i < predict.sets.n; i++)
        report_set(&p, predict.sets.v[i], kind);
    if (gnn_store_verified(&feed.store, &e) ||
        (!predict.none && gnn_predict_output(&p, form, predict.original, &rows, &e)))
        cli_fail(&e);
    rows.text = predict_opts_csv();
    if ((!predict.none && write_output(&rows, out, name, &e)) || gnn_predict_check(&p, &e))
        cli_fail(&e);
    cli_out_commit();
    predict_end("nodes", p.logits.rows, &p.pass, s, p.spilled);
    gnn_output_release(&rows);
    gnn_predict_release(&p);
}

/* ---- batch by batch ---- */

bool *predict_wanted(const struct gnn_sampling *s, const char *name)
{
    struct gnn_err e = {0};
    bool *wanted = gnn_alloc_zero(s->nsplits, sizeof *wanted, "sets", &e);
    if (!wanted)
        cli_fail(&e);
    for (uint32_t i = 0; i < predict.sets.n; i++) {
        struct gnn_suggest of = {.word = predict.sets.v[i]};
        bool found = false;
        for (uint32_t k = 0; k < s->nsplits; k++) {
            gnn_suggest_add(&of, s->split[k]);
            if (strcmp(s->split[k], predict.sets.v[i]) != 0)
                continue;
            if (wanted[k])
                cli_usage("--split: set %s is named twice", predict.sets.v[i]);
            wanted[k] = found = true;
        }
        if (!found)
            cli_usage("%s: no batches of set '%.64s'%s", name, predict.sets.v[i],
                      gnn_suggest_text(&of, "sets"));
    }
    return wanted;
}

void predict_tell(const char *unit, uint64_t n, const struct gnn_pass *p, double s,
                  uint64_t spilled)
{
    if (spilled)
        cli_note("%.4g MB were written to temporary files in %s (--memory)", 1e-6 * (double)spilled,
                 predict_tmpdir());
    cli_info("%llu %s%s, %.2f s, %.1f M edges/s, %.0f GFLOP/s", (unsigned long long)n, unit,
             gnn_plural(n), s, 1e-6 * (double)p->edges / s, 1e-9 * (double)p->flops / s);
}

void predict_end(const char *units, uint64_t n, const struct gnn_pass *p, double s,
                 uint64_t spilled)
{
    cli_metrics(json_pack("{s:s, s:I, s:f, s:I, s:I, s:I}", "event", "end", units, (json_int_t)n,
                          "seconds", s, "edges", (json_int_t)p->edges, "spilled_bytes",
                          (json_int_t)spilled, "peak_bytes", (json_int_t)gnn_mem_peak()));
}

void predict_batches(const struct gnn_model *m, struct gnn_source *src, const char *graph,
                     const struct gnn_ops *ops, struct gnn_measure kind, int out, const char *name)
{
    const struct gnn_sampling *sampling = &src->meta->sampling;
    const bool drawn = feed.store_path != NULL;
    struct gnn_err e = {0};
    struct gnn_predict_batches q;
    bool *wanted = predict.sets.n && !drawn ? predict_wanted(sampling, graph) : NULL;
    const struct gnn_predict_batches_opts o = {.ops = ops,
                                               .comm = feed.comm,
                                               .s = drawn ? &feed.store : NULL,
                                               .name = graph,
                                               .wanted = wanted,
                                               .keep = !predict.none,
                                               .memory = predict_memory(),
                                               .tmpdir = predict_tmpdir(),
                                               .what = predict_output_kind(m, false),
                                               .text = predict_opts_csv(),
                                               .scores = predict.none || predict.sets.n,
                                               .ranks = gnn_metric_ranks(kind.metric),
                                               .progress = show_seeds};
    const double start = gnn_clock();
    if (gnn_predict_batches_run(&q, m, src, &o, &e))
        feed_fail(&e);
    cli_progress_end();
    const double s = gnn_clock() - start;
    predict_tell("seed", q.seeds, &q.net.pass, s, q.spilled);
    for (uint32_t i = 0; o.scores && !feed.comm->rank && i < sampling->nsplits; i++)
        if (!wanted || wanted[i])
            predict_report(&q.score[i], sampling->split[i], kind, "node");
    if ((drawn && gnn_store_verified(&feed.store, &e)) ||
        (!predict.none && write_output(&q.out, out, name, &e)) || gnn_predict_batches_check(&q, &e))
        cli_fail(&e);
    predict_end("nodes", q.seeds, &q.net.pass, s, q.spilled);
    gnn_predict_batches_release(&q);
    gnn_free(wanted);
}
