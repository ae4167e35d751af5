/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of groups of runs: means and deviations over seeds (lib/inspect/runs.h). */
#include <math.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/inspect/report.h"
#include "lib/inspect/runs.h"

/* What is averaged: a member of the event `end`, or of a set in it, or seconds. */
struct figure {
    const char *set, *metric;
    bool seconds;
};

static double member_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

/* Of this process: of a run that was resumed, those of before are in no file. */
static double seconds_of(const json_t *end)
{
    const double epochs = member_of(end, "epochs");
    return epochs > 0
               ? (member_of(end, "train_s") + member_of(end, "wait_s") + member_of(end, "eval_s")) /
                     epochs
               : NAN;
}

static double value_of(const struct gnn_run *run, const struct figure *f)
{
    return f->seconds ? seconds_of(run->end)
           : f->set   ? gnn_run_value(run->end, f->set, f->metric)
                      : member_of(run->end, f->metric);
}

static bool counts_in(const struct gnn_run *run, uint32_t group)
{
    return run->group == group && !run->left_out;
}

/* Two passes: differences of values that are nearly equal keep their digits. */
static json_t *summarise_runs(const struct gnn_runs *r, uint32_t group, const struct figure *f)
{
    double sum = 0, squares = 0;
    uint64_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const double x = counts_in(&r->v[i], group) ? value_of(&r->v[i], f) : NAN;
        n += isnan(x) ? 0 : 1;
        sum += isnan(x) ? 0 : x;
    }
    const double mean = n ? sum / (double)n : NAN;
    for (uint32_t i = 0; i < r->n; i++) {
        const double x = counts_in(&r->v[i], group) ? value_of(&r->v[i], f) : NAN;
        squares += isnan(x) ? 0 : (x - mean) * (x - mean);
    }
    return json_pack("{s:s*, s:s*, s:o, s:o, s:o}", "set", f->set, "metric",
                     f->set ? f->metric : NULL, "runs", report_num(n), "mean", report_real(mean),
                     "deviation", report_real(n > 1 ? sqrt(squares / (double)(n - 1)) : NAN));
}

static void put_note(json_t *notes, const char *path, json_t *why, bool *bad)
{
    json_t *file = json_string(path);
    report_push(
        notes,
        json_pack("{s:o, s:o}", "file", file ? file : json_string("(not UTF-8)"), "why", why), bad);
}

/* Runs that are left out, and figures that others do not have. */
static json_t *make_notes(const struct gnn_runs *r, bool *bad)
{
    json_t *notes = json_array();
    for (uint32_t i = 0; i < r->n; i++) {
        const struct gnn_run *run = &r->v[i];
        if (run->left_out)
            put_note(notes, run->path, json_string(run->left_out), bad);
        for (size_t k = 1; !run->left_out && k < gnn_run_sets(run); k++)
            if (isnan(gnn_run_value(run->end, gnn_run_set(run, k), gnn_run_metric(run))))
                put_note(notes, run->path,
                         json_sprintf("%s of set %s is not defined", gnn_run_metric(run),
                                      gnn_run_set(run, k)),
                         bad);
    }
    return notes;
}

static json_t *make_group(const struct gnn_runs *r, uint32_t group, bool *bad)
{
    const struct gnn_run *lead = &r->v[r->lead[group]];
    json_t *options = json_object(), *seeds = json_array(), *sets = json_array();
    const json_t *column;
    uint64_t left_out = 0;
    size_t i;
    json_array_foreach(r->columns, i, column)
    {
        json_t *v = gnn_run_cell(r, lead, json_string_value(column));
        report_put(options, json_string_value(column), v ? json_incref(v) : json_null(), bad);
    }
    for (uint32_t k = 0; k < r->n; k++) {
        left_out += r->v[k].group == group && r->v[k].left_out;
        if (counts_in(&r->v[k], group))
            report_push(seeds,
                        json_array_size(r->v[k].seed) == 1
                            ? json_incref(json_array_get(r->v[k].seed, 0))
                            : json_incref(r->v[k].seed),
                        bad);
    }
    for (i = 1; i < gnn_run_sets(lead); i++)
        report_push(
            sets,
            summarise_runs(r, group,
                           &(struct figure){gnn_run_set(lead, i), gnn_run_metric(lead), false}),
            bad);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "options", options, "seeds", seeds,
                     "left_out", report_num(left_out), "best_epoch",
                     summarise_runs(r, group, &(struct figure){NULL, "best_epoch", false}),
                     "seconds_per_epoch",
                     summarise_runs(r, group, &(struct figure){NULL, NULL, true}), "sets", sets);
}

int gnn_runs_report(const struct gnn_runs *r, json_t **out, struct gnn_err *e)
{
    bool bad = false;
    json_t *groups = json_array();
    for (uint32_t g = 0; g < r->groups; g++)
        report_push(groups, make_group(r, g, &bad), &bad);
    *out = json_pack("{s:s, s:o, s:O, s:o, s:o}", "kind", "runs", "runs", report_num(r->n),
                     "columns", r->columns, "groups", groups, "notes", make_notes(r, &bad));
    if (bad || !*out) {
        json_decref(*out);
        return no_json(e);
    }
    return 0;
}
