/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-inspect: what is in a store or a stream, whether it is sound, where two differ; what runs of
 * training came to. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/inspect_export.h"
#include "cmd/inspect_runs.h"
#include "cmd/inspect_text.h"
#include "cmd/opt.h"
#include "cmd/stdin.h"
#include "cmd/sig.h"
#include "lib/inspect/inspect.h"
#include "lib/base/kind.h"
#include "lib/base/mem.h"

static bool tensors, stats, verify, leaks, diff, original, json, table, csv;
static const char *against, *edges, *plot;
static struct opt_list stores, ignored;

static const struct opt opts[] = {
    {.kind = OPT_GROUP, .help = "What to show (default: header, schema, sizes)"},
    {OPT_FLAG, 't', "tensors", &tensors, NULL,
     "list the tensors (of a stream: of its first batch)"},
    {OPT_FLAG, 's', "stats", &stats, NULL,
     "degrees, self-loops, isolated nodes, values of fields, classes"},
    {OPT_FLAG, 0, "json", &json, NULL, "print one JSON object instead of text"},
    {.kind = OPT_GROUP, .help = "Other actions"},
    {OPT_FLAG, 0, "verify", &verify, NULL, "verify the input; status 3 if it is damaged"},
    {OPT_FLAG, 0, "leaks", &leaks, NULL,
     "count what temporal batches, batches of links and splits give away; status 1 if there is "
     "any"},
    {OPT_STR, 0, "against", &against, "STORE",
     "with --verify: also check that the input holds the graph of STORE, or was sampled from "
     "STORE; with --leaks: the store that the batches were sampled from",
     .file = true},
    {OPT_FLAG, 0, "diff", &diff, NULL,
     "print the first difference between two inputs; status 1 if there is one"},
    {OPT_FLAG, 0, "original", &original, NULL,
     "with --diff: compare by original ids, as if not partitioned"},
    {OPT_LIST, 0, "store", &stores, "STORE",
     "with --original: store that a compared stream was sampled from", .file = true},
    {OPT_LIST, 0, "ignore", &ignored, "WHAT", "with --diff: do not compare provenance or identity"},
    {OPT_STR, 0, "edges", &edges, "S/R/D",
     "print the edges of one type of a store: source, destination and, if they have one, time; with "
     "--export: write them"},
    {OPT_FLAG, 0, "table", &table, NULL,
     "compare runs, files of gnn-train --metrics: a line for those that differ in their seed only; "
     "status 1 if one is left out"},
    {OPT_FLAG, 0, "csv", &csv, NULL, "with --table: print CSV, with every digit"},
    {OPT_STR, 0, "plot", &plot, "FILE",
     "plot runs, or degrees and sets of a store, to FILE.png or FILE.svg (requires gnuplot)",
     .file = true, .makes = ""},
    {.kind = OPT_END},
};

static const struct program prog = {
    .name = "gnn-inspect",
    .summary = "show, verify, compare, plot or export stores, batch streams, models and runs",
    .synopsis = "[STORE|FILE] | --diff A B | --table RUN...",
    .opts = opts,
    .more = (const struct opt *const[]){inspect_export_opts, NULL},
    .lacks = "progress no-provenance",
    .min_args = 0,
    .max_args = -1,
};

static bool is_store(const char *path)
{
    struct stat st;
    if (!path || !strcmp(path, "-"))
        return false;
    struct gnn_err e = {0};
    if (stat(path, &st) && gnn_fail_open(&e, path))
        cli_fail(&e);
    return S_ISDIR(st.st_mode);
}

static bool is_model(const char *path)
{
    return path && strcmp(path, "-") != 0 && gnn_kind_path(path) == GNN_KIND_MODEL;
}

static void open_store(struct gnn_store *s, const char *path, bool check)
{
    struct gnn_err e = {0};
    char *state = gnn_strf(&e, "%s/checkpoint.safetensors", path);
    if (state && gnn_kind_path(path) == GNN_KIND_DIRECTORY && !access(state, F_OK))
        cli_die(3, "%s: a directory of gnn-train --checkpoint, not a store: inspect %s", path,
                state);
    gnn_free(state);
    if (e.code || gnn_store_open(s, path, check, &e))
        cli_fail(&e);
}

/* Takes over the report. */
static void print_report(json_t *report, void (*text)(const json_t *))
{
    cli_metrics(json_incref(report));
    if (json) {
        if (cli_json(report, stdout, JSON_INDENT(2)))
            cli_die(1, "stdout: cannot write");
    } else {
        text(report);
    }
    json_decref(report);
}

static void run_report(const char *path)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    json_t *report = NULL;
    unsigned what = (tensors ? GNN_REPORT_TENSORS : 0u) | (stats ? GNN_REPORT_STATS : 0u);
    const char *name;
    int rc;

    if (stats && !is_store(path))
        cli_usage("--stats: %s is not a store", path ? path : "stdin");
    if (is_store(path)) {
        open_store(&s, path, false);
        rc = gnn_report_store(&s, what, &report, &e);
    } else if (is_model(path)) {
        rc = gnn_report_model(path, what, &report, &e);
    } else {
        int fd = cli_in(path, &name);
        rc = gnn_report_stream(fd, name, what, &report, &e);
    }
    if (rc)
        cli_fail(&e);
    gnn_store_close(&s);
    print_report(report, is_model(path) ? inspect_text_model : inspect_text_report);
}

static void print_proofs(const json_t *report)
{
    if (common.verbose >= 0)
        inspect_text_proofs(report);
}

static void run_verify(const char *path)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0}, other = {0};
    json_t *report = json_object();
    const char *name;
    int rc;

    if (against)
        open_store(&other, against, false);
    if (is_store(path)) {
        open_store(&s, path, true);
        rc = gnn_verify_store(&s, against ? &other : NULL, report, &e);
    } else if (is_model(path)) {
        if (against)
            cli_usage("--against: %s is not a store or a stream", path);
        rc = gnn_verify_model(path, report, &e);
    } else {
        int fd = cli_in(path, &name);
        rc = gnn_verify_stream(fd, name, against ? &other : NULL, report, &e);
    }
    if (rc)
        cli_fail(&e);
    gnn_store_close(&s);
    gnn_store_close(&other);
    print_report(report, print_proofs);
}

/* Exit status: 0 none, 1 there are leaks. */
static int run_leaks(const char *path)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    json_t *report = json_object();
    const char *name;
    bool any;

    if (is_model(path))
        cli_usage("--leaks: %s is not a store or a stream", path);
    if (is_store(path) && against)
        cli_usage("--against: has no effect with --leaks %s, which is a store", path);
    if (!is_store(path) && !against)
        cli_usage("--leaks: requires --against, unless its input is a store");
    open_store(&s, against ? against : path, false);
    const int fd = against ? cli_in(path, &name) : -1;
    if (against ? gnn_leaks_stream(fd, name, &s, report, &any, &e)
                : gnn_leaks_store(&s, report, &any, &e))
        cli_fail(&e);
    gnn_store_close(&s);
    print_report(report, inspect_text_leaks);
    return any;
}

static unsigned diff_flags(void)
{
    unsigned flags = GNN_DIFF_PROVENANCE | GNN_DIFF_IDENTITY;
    for (uint32_t i = 0; i < ignored.n; i++) {
        if (!strcmp(ignored.v[i], "provenance"))
            flags &= ~(unsigned)GNN_DIFF_PROVENANCE;
        else if (!strcmp(ignored.v[i], "identity"))
            flags &= ~(unsigned)GNN_DIFF_IDENTITY;
        else
            opt_unknown("ignore", ignored.v[i], "provenance|identity");
    }
    return original ? GNN_DIFF_ORIGINAL : flags;
}

static int diff_streams(const char *a, const char *b, unsigned flags, struct gnn_diff *d,
                        struct gnn_err *e)
{
    const char *name_a, *name_b;
    struct gnn_store *s = calloc(stores.n + 1, sizeof *s);
    if (!s)
        cli_die(1, "out of memory");
    for (uint32_t i = 0; i < stores.n; i++)
        open_store(&s[i], stores.v[i], false);
    int fd_a = cli_in(a, &name_a), fd_b = cli_in(b, &name_b);
    int rc = gnn_diff_streams(fd_a, name_a, fd_b, name_b, flags, s, stores.n, d, e);
    for (uint32_t i = 0; i < stores.n; i++)
        gnn_store_close(&s[i]);
    free(s);
    return rc;
}

/* Exit status: 0 equal, 1 different. */
static int run_diff(const char *a, const char *b)
{
    struct gnn_err e = {0};
    struct gnn_diff d = {0};
    unsigned flags = diff_flags();
    int rc;

    if (!strcmp(a, "-") && !strcmp(b, "-"))
        cli_usage("--diff: only one of the two can be stdin");
    if (is_store(a) != is_store(b))
        cli_usage("--diff: %s is a store and %s is not", is_store(a) ? a : b, is_store(a) ? b : a);
    if (is_store(a)) {
        struct gnn_store x = {0}, y = {0};
        open_store(&x, a, true);
        open_store(&y, b, true);
        rc = gnn_diff_stores(&x, &y, flags, &d, &e);
        if (!rc && !d.differ && !(rc = gnn_store_verified(&x, &e)))
            rc = gnn_store_verified(&y, &e);
        if (rc)
            cli_fail(&e);
        gnn_store_close(&x);
        gnn_store_close(&y);
    } else if (is_model(a) || is_model(b)) {
        if (is_model(a) != is_model(b))
            cli_usage("--diff: %s is a model and %s is not", is_model(a) ? a : b,
                      is_model(a) ? b : a);
        if (original)
            cli_usage("--original: %s is not a store or a stream", a);
        rc = gnn_diff_models(a, b, flags, &d, &e);
    } else {
        rc = diff_streams(a, b, flags, &d, &e);
    }
    if (rc)
        cli_fail(&e);
    json_t *o =
        d.differ ? json_pack("{s:b,s:s,s:s,s:s}", "equal", 0, "where", d.where, "a", d.a, "b", d.b)
                 : json_pack("{s:b}", "equal", 1);
    if (!o)
        cli_die(1, "the values that differ at %s are not text", d.where);
    print_report(o, inspect_text_diff);
    return d.differ ? 1 : 0;
}

static void run_export(const char *path)
{
    struct gnn_store s = {0};
    const enum inspect_kind kind = is_store(path)   ? INSPECT_STORE
                                   : is_model(path) ? INSPECT_MODEL
                                                    : INSPECT_STREAM;
    if (kind == INSPECT_STORE) /* says what is no store, before there is an output */
        open_store(&s, path, false);
    gnn_store_close(&s);
    inspect_export(path, kind, edges);
}

static void run_edges(const char *path)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};

    if (!is_store(path))
        cli_usage("--edges: %s is not a store", path ? path : "stdin");
    open_store(&s, path, true);
    const int type = gnn_schema_need_etype(&s.meta.schema, "--edges", edges, &e);
    if (type < 0 || gnn_edges_text(&s, (uint32_t)type, stdout, "stdout", &e))
        cli_fail(&e);
    cli_metrics(json_pack("{s:s, s:s, s:I}", "event", "edges", "type", edges, "edges",
                          (json_int_t)s.meta.schema.etype[type].count));
    gnn_store_close(&s);
}

/* Exit status: 0 all runs count, 1 something is left out. */
static int run_table(char *const *path, int n)
{
    json_t *report = inspect_runs_report(path, n);
    const bool lacks = inspect_runs_lacks(report);
    print_report(report, csv ? inspect_runs_csv : inspect_runs_text);
    return lacks;
}

static void run_plot(char *const *path, int n)
{
    struct gnn_store s = {0};
    const bool of_store = is_store(path[0]);
    for (int i = 1; i < n; i++)
        if (of_store || is_store(path[i]))
            cli_usage("--plot: %s is a store: expected one store, or runs",
                      of_store ? path[0] : path[i]);
    if (of_store)
        open_store(&s, path[0], true);
    inspect_plot(plot, of_store ? &s : NULL, path, n);
    gnn_store_close(&s);
}

/* Of the actions, one at most; and none with an option that would have no effect. */
static void check_actions(void)
{
    const bool export = inspect_export_file != NULL;
    const int actions =
        verify + leaks + diff + table + export + (edges && !export) + (plot != NULL);
    if (actions > 1)
        cli_usage("--verify, --leaks, --diff, --export, --edges, --table and --plot exclude each "
                  "other");
    if (actions)
        opt_refuse(OPTS(&tensors, &stats),
                   "has no effect with --verify, --leaks, --diff, --export, --edges, --table or "
                   "--plot");
    if (!table)
        opt_refuse(OPTS(&csv), "requires --table");
    if (csv)
        opt_refuse(OPTS(&json), "has no effect: --csv is another form");
    if (plot)
        opt_refuse(OPTS(&json), "has no effect: --plot prints nothing");
    if (export)
        opt_refuse(OPTS(&json), "has no effect: --export prints nothing");
    if (edges)
        opt_refuse(OPTS(&json), "has no effect: --edges prints text");
    inspect_export_check(edges);
    if (edges && !export && common.metrics && !strcmp(common.metrics, "-"))
        cli_usage("--metrics -: stdout takes the edges; name a file");
}

static void check_arguments(int n)
{
    if (diff ? n != 2 : !table && !plot && n > 1)
        cli_usage(diff ? "--diff takes two arguments"
                       : "one argument at most, except with --diff, --table and --plot");
    if ((table || plot) && !n)
        cli_usage("%s: RUN is missing: a file of gnn-train --metrics%s",
                  table ? "--table" : "--plot", plot ? ", or a store" : "");
}

int main(int argc, char **argv)
{
    int n;
    cli_start("gnn-inspect", argc, argv);
    char **arg = opt_parse(&prog, argc, argv, &n);

    check_actions();
    if (!verify && !leaks)
        opt_refuse(OPTS(&against), "requires --verify or --leaks");
    if (!diff)
        opt_refuse(OPTS(&original, &ignored), "requires --diff");
    if (original)
        opt_refuse(OPTS(&ignored),
                   "has no effect: --original compares neither provenance nor identity");
    if (!original)
        opt_refuse(OPTS(&stores), "requires --diff --original");
    check_arguments(n);

    if (n)
        stdin_unread("gnn-inspect reads its arguments", (const char *const *)arg, (unsigned)n);
    int rc = 0;
    if (diff)
        rc = run_diff(arg[0], arg[1]);
    else if (leaks)
        rc = run_leaks(n ? arg[0] : NULL);
    else if (table)
        rc = run_table(arg, n);
    else if (plot)
        run_plot(arg, n);
    else if (verify)
        run_verify(n ? arg[0] : NULL);
    else if (inspect_export_file)
        run_export(n ? arg[0] : NULL);
    else if (edges)
        run_edges(n ? arg[0] : NULL);
    else
        run_report(n ? arg[0] : NULL);
    int end = cli_finish();
    return end ? end : rc;
}
