/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of runs (lib/inspect/plot.h): loss above, the metric that epochs are chosen by below it.
 */
#include <math.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/inspect/plot.h"
#include "lib/inspect/report.h"

enum { WIDTH = 1250, HEIGHT = 750, LINE = 18, LABEL = 60 };

static double number_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* "lr 0.01, seed 1" */
static char *label_of(const struct gnn_runs *r, const struct gnn_run *run, struct gnn_err *e)
{
    char *text = gnn_strdup("", e);
    const json_t *column;
    size_t i;
    json_array_foreach(r->columns, i, column)
    {
        const char *name = json_string_value(column);
        const json_t *v = gnn_run_cell(r, run, name);
        char *value = v ? gnn_run_text(v, e) : gnn_strdup("default", e),
             *more = text && value ? gnn_strf(e, "%s%s %s, ", text, name, value) : NULL;
        gnn_free(value);
        gnn_free(text);
        text = more;
    }
    char *seed = gnn_run_text(run->seed, e),
         *all = text && seed ? gnn_strf(e, "%sseed %s", text, seed) : NULL;
    gnn_free(seed);
    gnn_free(text);
    return all;
}

/* The set whose metric is drawn; NULL: none was evaluated. */
static const char *set_of(const struct gnn_run *run)
{
    return gnn_run_sets(run) > 1 ? gnn_run_set(run, 1) : NULL;
}

/* That of all runs that have one; NULL: none has. */
static int find_metric(const struct gnn_runs *r, const struct gnn_run **with, bool *sets_differ,
                       struct gnn_err *e)
{
    *with = NULL;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct gnn_run *run = &r->v[i];
        if (!set_of(run))
            continue;
        if (!*with)
            *with = run;
        if (strcmp(gnn_run_metric(run), gnn_run_metric(*with)) != 0)
            return gnn_fail(e, GNN_E_USAGE, "--plot: %s has the metric %s, and %s has %s",
                            (*with)->path, gnn_run_metric(*with), run->path, gnn_run_metric(run));
        *sets_differ = *sets_differ || strcmp(set_of(run), set_of(*with)) != 0;
    }
    return 0;
}

/* A number, NaN, or '?', which curves pass over: an epoch that was not evaluated. */
static void put_number(FILE *to, bool there, double v)
{
    if (!there)
        fputs("\t?", to);
    else if (isnan(v))
        fputs("\tNaN", to);
    else
        fprintf(to, "\t%.17g", v);
}

static void put_epoch(FILE *to, const struct gnn_run *run, const json_t *epoch)
{
    const char *set = set_of(run);
    fprintf(to, "%.17g", number_of(epoch, "epoch"));
    put_number(to, true, number_of(epoch, "loss"));
    put_number(to, set && json_object_get(epoch, set),
               set ? gnn_run_value(epoch, set, gnn_run_metric(run)) : NAN);
    fputc('\n', to);
}

/* The event of the best epoch, which may be in no file if the run was resumed. */
static const json_t *find_best(const struct gnn_run *run)
{
    const json_t *epoch, *best = NULL;
    const double number = number_of(run->end, "best_epoch");
    size_t i;
    if (!set_of(run))
        return NULL;
    json_array_foreach(run->epochs, i, epoch)
    {
        const double at = number_of(epoch, "epoch");
        if (run->end ? !(at < number) && !(at > number) && !isnan(number)
                     : json_is_true(json_object_get(epoch, "best")))
            best = epoch;
    }
    return best;
}

static void put_data(struct gnn_plot *p, const struct gnn_runs *r)
{
    const json_t *epoch;
    size_t k;
    for (uint32_t i = 0; i < r->n; i++) {
        fprintf(p->script, "$r%u << END\n", i);
        json_array_foreach(r->v[i].epochs, k, epoch) put_epoch(p->script, &r->v[i], epoch);
        fputs("END\n", p->script);
    }
    fputs("$best << END\n", p->script);
    for (uint32_t i = 0; i < r->n; i++)
        if (find_best(&r->v[i]))
            put_epoch(p->script, &r->v[i], find_best(&r->v[i]));
    fputs("END\n", p->script);
}

static void note_run(const struct gnn_run *run, json_t *notes, bool *bad)
{
    const double best = number_of(run->end, "best_epoch");
    json_t *why = !json_array_size(run->epochs) ? json_string("no epoch: not shown")
                  : run->left_out               ? json_string(run->left_out)
                  : !set_of(run) ? json_string("no set was evaluated: only its loss is shown")
                  : isnan(best)  ? json_string("has no best epoch")
                  : !find_best(run)
                      ? json_sprintf("the best epoch, %.0f, is not in this file", best)
                      : NULL;
    json_t *file = why ? json_string(run->path) : NULL;
    if (why)
        report_push(
            notes,
            json_pack("{s:o, s:o}", "file", file ? file : json_string("(not UTF-8)"), "why", why),
            bad);
}

/* One panel: a column of all runs' data, and the best epochs. `names`: with the legend. */
static int put_panel(struct gnn_plot *p, const struct gnn_runs *r, int column, bool names,
                     struct gnn_err *e)
{
    const char *separator = "plot ";
    bool best = false;
    for (uint32_t i = 0; i < r->n && !e->code; i++) {
        const struct gnn_run *run = &r->v[i];
        if (!json_array_size(run->epochs) || (column == 3 && !set_of(run)))
            continue;
        fprintf(p->script, "%s$r%u using 1:%d with lines lc %u%s", separator, i, column, i + 1,
                names ? " title " : " notitle");
        char *label = names ? label_of(r, run, e) : NULL;
        if (label)
            gnn_plot_text(p, label, LABEL);
        gnn_free(label);
        separator = ", ";
        best = best || find_best(run);
    }
    if (best)
        fprintf(p->script, ", $best using 1:%d with points pt 6 ps 1.5 lc 'black' %s", column,
                names ? "title 'best epoch'" : "notitle");
    fputc('\n', p->script);
    return e->code;
}

int gnn_plot_runs(struct gnn_plot *p, const struct gnn_runs *r, json_t *notes, struct gnn_err *e)
{
    const struct gnn_run *with;
    bool sets_differ = false, bad = false;
    uint32_t drawn = 0;
    if (find_metric(r, &with, &sets_differ, e))
        return e->code;
    for (uint32_t i = 0; i < r->n; i++) {
        note_run(&r->v[i], notes, &bad);
        drawn += json_array_size(r->v[i].epochs) > 0;
    }
    if (bad)
        return no_json(e);
    if (!drawn)
        return gnn_fail(e, GNN_E_INPUT, "%s: no epoch to plot", r->v[0].path);
    const unsigned least = (drawn + 4) * LINE;
    gnn_plot_size(p, WIDTH, least > HEIGHT ? least : HEIGHT, with ? 2 : 1);
    put_data(p, r);
    fputs("set lmargin at screen 0.07\nset rmargin at screen 0.60\n"
          "set key at screen 0.62, screen 0.97 left top Left reverse\n"
          "set xlabel 'epoch'\nset ylabel 'loss (train)'\n",
          p->script);
    if (put_panel(p, r, 2, true, e) || !with)
        return e->code;
    char *label = gnn_strf(e, "%s (%s)", gnn_run_metric(with),
                           sets_differ ? "first evaluated set" : set_of(with));
    fputs("set key default\nset ylabel ", p->script);
    if (label)
        gnn_plot_text(p, label, LABEL);
    gnn_free(label);
    fputc('\n', p->script);
    return e->code ? e->code : put_panel(p, r, 3, false, e);
}
