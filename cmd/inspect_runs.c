/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and pictures of runs (cmd/inspect_runs.h). A table is made of cells first, a header and a
 * row for each group, and then printed as text or as CSV. */
#include "cmd/inspect_runs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "lib/base/mem.h"
#include "lib/inspect/plot.h"
#include "lib/inspect/runs.h"

struct table {
    char **cell;
    uint64_t n, columns;
    bool csv;
};

/* Text is for people: what a terminal obeys is escaped. */
static void add_cell(struct table *t, const char *fmt, ...) GNN_PRINTF(2, 3);
static void add_cell(struct table *t, const char *fmt, ...)
{
    struct gnn_err e = {0};
    va_list ap;
    char *text;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        cli_die(1, "out of memory");
    va_end(ap);
    if (gnn_grow(&t->cell, t->n, sizeof *t->cell, "a table", &e) ||
        !(t->cell[t->n++] = gnn_strdup(t->csv ? text : cli_shown(text), &e)))
        cli_fail(&e);
    free(text);
}

/* ---- cells ---- */

enum { NUMBER = 64, SIGNIFICANT = -1 };

/* As it is, for CSV; else with so many digits after the point, or three that count. */
static const char *number_text(char out[NUMBER], const json_t *v, bool exact, int decimals)
{
    const double x = json_number_value(v);
    *out = '\0';
    if (json_is_number(v) && (exact || decimals == SIGNIFICANT))
        snprintf(out, NUMBER, "%.*g", exact ? 17 : 3, x);
    else if (json_is_number(v))
        snprintf(out, NUMBER, "%.*f", decimals, x);
    return out;
}

/* Text has "mean ± deviation" in one cell, and of how many runs if that is not all of them; CSV has
 * the three in cells of their own. */
static void add_figure(struct table *t, const json_t *f, int decimals, long long seeds)
{
    const long long runs = json_integer_value(json_object_get(f, "runs"));
    char mean[NUMBER], deviation[NUMBER], of[NUMBER] = "";
    number_text(mean, json_object_get(f, "mean"), t->csv, decimals);
    number_text(deviation, json_object_get(f, "deviation"), t->csv, decimals);
    if (runs != seeds)
        snprintf(of, sizeof of, " (%lld of %lld)", runs, seeds);
    if (t->csv) {
        add_cell(t, "%s", mean);
        add_cell(t, "%s", deviation);
        add_cell(t, "%lld", runs);
    } else {
        add_cell(t, "%s%s%s%s", *mean ? mean : "-", *deviation ? " \xc2\xb1 " : "", deviation,
                 runs ? of : "");
    }
}

static void add_name(struct table *t, const char *name)
{
    add_cell(t, "%s", name);
    if (!t->csv)
        return;
    add_cell(t, "%s deviation", name);
    add_cell(t, "%s runs", name);
}

/* "valid accuracy" */
static void name_set(char out[256], const json_t *set)
{
    snprintf(out, 256, "%s %s", json_string_value(json_object_get(set, "set")),
             json_string_value(json_object_get(set, "metric")));
}

/* The names of sets with their metrics, in the order in which groups have them first. */
static json_t *list_sets(const json_t *groups)
{
    json_t *names = json_object();
    const json_t *group, *set;
    size_t i, k;
    json_array_foreach(groups, i, group) json_array_foreach(json_object_get(group, "sets"), k, set)
    {
        char name[256];
        name_set(name, set);
        if (json_object_set_new(names, name, json_true()))
            cli_die(1, "out of memory");
    }
    return names;
}

static void add_header(struct table *t, const json_t *columns, json_t *sets)
{
    const char *name;
    const json_t *v;
    size_t i;
    json_array_foreach(columns, i, v) add_cell(t, "%s", json_string_value(v));
    add_cell(t, "seeds");
    if (t->csv)
        add_cell(t, "left out");
    add_name(t, "best epoch");
    json_object_foreach(sets, name, v) add_name(t, name);
    add_name(t, t->csv ? "seconds per epoch" : "s/epoch");
    t->columns = t->n;
}

/* The figures of the set with this name, or NULL. */
static const json_t *find_set(const json_t *group, const char *name)
{
    const json_t *set;
    size_t i;
    json_array_foreach(json_object_get(group, "sets"), i, set)
    {
        char own[256];
        name_set(own, set);
        if (!strcmp(own, name))
            return set;
    }
    return NULL;
}

static void add_group(struct table *t, const json_t *group, json_t *sets)
{
    const long long seeds = (long long)json_array_size(json_object_get(group, "seeds")),
                    out = json_integer_value(json_object_get(group, "left_out"));
    struct gnn_err e = {0};
    const char *name;
    json_t *v;
    json_object_foreach(json_object_get(group, "options"), name, v)
    {
        char *text = json_is_null(v) ? gnn_strdup("default", &e) : gnn_run_text(v, &e);
        if (!text)
            cli_fail(&e);
        add_cell(t, "%s", text);
        gnn_free(text);
    }
    if (t->csv) {
        add_cell(t, "%lld", seeds);
        add_cell(t, "%lld", out);
    } else if (out) {
        add_cell(t, "%lld of %lld", seeds, seeds + out);
    } else {
        add_cell(t, "%lld", seeds);
    }
    add_figure(t, json_object_get(group, "best_epoch"), 1, seeds);
    json_object_foreach(sets, name, v) add_figure(t, find_set(group, name), 4, seeds);
    add_figure(t, json_object_get(group, "seconds_per_epoch"), SIGNIFICANT, seeds);
}

static void make_table(struct table *t, const json_t *report, bool csv)
{
    const json_t *groups = json_object_get(report, "groups"), *group;
    json_t *sets = list_sets(groups);
    size_t i;
    *t = (struct table){.csv = csv};
    add_header(t, json_object_get(report, "columns"), sets);
    json_array_foreach(groups, i, group) add_group(t, group, sets);
    json_decref(sets);
}

static void free_table(struct table *t)
{
    for (uint64_t i = 0; i < t->n; i++)
        gnn_free(t->cell[i]);
    gnn_free(t->cell);
}

/* ---- printing ---- */

/* Characters of UTF-8, not bytes. */
static int width_of(const char *s)
{
    int n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static int column_width(const struct table *t, uint64_t column)
{
    int width = 0;
    for (uint64_t i = column; i < t->n; i += t->columns)
        width = width_of(t->cell[i]) > width ? width_of(t->cell[i]) : width;
    return width;
}

static void print_notes(const json_t *notes)
{
    const json_t *note;
    size_t i;
    json_array_foreach(notes, i, note)
        cli_note("%s: %s", json_string_value(json_object_get(note, "file")),
                 json_string_value(json_object_get(note, "why")));
}

void inspect_runs_text(const json_t *report)
{
    struct table t;
    make_table(&t, report, false);
    for (uint64_t i = 0; i < t.n; i++) {
        const uint64_t column = i % t.columns;
        const bool last = column + 1 == t.columns;
        printf("%s%*s%s", t.cell[i], last ? 0 : column_width(&t, column) - width_of(t.cell[i]), "",
               last ? "\n" : "  ");
    }
    free_table(&t);
    print_notes(json_object_get(report, "notes"));
}

/* As RFC 4180 has it, but that lines end with a newline only. */
static void print_cell(const char *s)
{
    const bool quoted = strpbrk(s, ",\"\r\n") || *s == ' ' || (*s && s[strlen(s) - 1] == ' ');
    if (quoted)
        putchar('"');
    for (const char *c = s; *c; c++) {
        putchar(*c);
        if (*c == '"')
            putchar('"');
    }
    if (quoted)
        putchar('"');
}

void inspect_runs_csv(const json_t *report)
{
    struct table t;
    make_table(&t, report, true);
    for (uint64_t i = 0; i < t.n; i++) {
        print_cell(t.cell[i]);
        putchar((i + 1) % t.columns ? ',' : '\n');
    }
    free_table(&t);
    print_notes(json_object_get(report, "notes"));
}

bool inspect_runs_lacks(const json_t *report)
{
    return json_array_size(json_object_get(report, "notes")) > 0;
}

json_t *inspect_runs_report(char *const *path, int n)
{
    struct gnn_err e = {0};
    struct gnn_runs r;
    json_t *report = NULL;
    if (gnn_runs_read(&r, path, (uint32_t)n, &e) || gnn_runs_report(&r, &report, &e))
        cli_fail(&e);
    gnn_runs_release(&r);
    return report;
}

/* ---- pictures ---- */

static void plot_runs(struct gnn_plot *p, char *const *path, int n)
{
    struct gnn_err e = {0};
    struct gnn_runs r;
    json_t *notes = json_array();
    if (gnn_runs_read(&r, path, (uint32_t)n, &e) || gnn_plot_runs(p, &r, notes, &e))
        cli_fail(&e);
    print_notes(notes);
    json_decref(notes);
    gnn_runs_release(&r);
}

void inspect_plot(const char *out, struct gnn_store *s, char *const *path, int n)
{
    struct gnn_err e = {0};
    struct gnn_plot p;
    const char *name;
    if (gnn_plot_begin(&p, out, &e))
        cli_fail(&e);
    if (!s)
        plot_runs(&p, path, n);
    else if (gnn_plot_store(&p, s, &e) || gnn_store_verified(s, &e))
        cli_fail(&e);
    const int fd = cli_out(out, &name);
    if (gnn_plot_end(&p, fd, name, &e))
        cli_fail(&e);
    gnn_plot_release(&p);
    if (close(fd))
        cli_die(1, "%s: cannot close: %s", name, strerror(errno));
    cli_out_commit();
    cli_metrics(json_pack("{s:s, s:s}", "event", "plot", "file", name));
}
