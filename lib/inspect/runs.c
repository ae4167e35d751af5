/* SPDX-License-Identifier: Apache-2.0 */
/* Reading runs of gnn-train (lib/inspect/runs.h): lines of JSON, then which runs belong together,
 * what tells groups apart, and which runs do not count. */
#include "lib/inspect/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/text.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/kind.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/inspect/report.h"

/* Names in a key that no option has. */
#define STORE "store"
#define SAMPLING "sampling "
static const char *const extra[] = {"ranks of the job", "metric used", "sets used", "version"};
static const char *const extra_from[] = {"ranks", "metric", "sets", "version"};
enum { EXTRAS = sizeof extra / sizeof *extra, WHAT = 600 };

/* ---- reading ---- */

static bool is_event(const json_t *j, const char *name)
{
    const char *event = json_string_value(json_object_get(j, "event"));
    return event && !strcmp(event, name);
}

static int check_start(const json_t *j, const char *what, struct gnn_err *e)
{
    static const struct {
        const char *key;
        json_type type;
    } members[] = {{"options", JSON_OBJECT}, {"sets", JSON_ARRAY},   {"graph", JSON_STRING},
                   {"metric", JSON_STRING},  {"seed", JSON_INTEGER}, {"ranks", JSON_INTEGER},
                   {"version", JSON_STRING}};
    const json_t *set;
    size_t i;
    for (i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *v = json_object_get(j, members[i].key);
        if (!v || json_typeof(v) != members[i].type)
            return gnn_fail(e, GNN_E_INPUT, "%s: event 'start' without a member '%s' of its type",
                            what, members[i].key);
    }
    json_array_foreach(json_object_get(j, "sets"), i, set)
    {
        if (!json_is_string(set))
            return gnn_fail(e, GNN_E_INPUT, "%s: a name of a set is no text", what);
    }
    return 0;
}

/* Keeps the events that matter; takes over j. */
static int take_event(struct gnn_run *r, json_t *j, const char *what, struct gnn_err *e)
{
    const char *stage = json_string_value(json_object_get(j, "stage"));
    const bool start = is_event(j, "start"), epoch = is_event(j, "epoch"), end = is_event(j, "end");
    int rc = 0;
    if (!stage)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: not an object of --metrics: no member 'stage'", what);
    else if (strcmp(stage, "gnn-train") != 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: metrics of '%.40s', not of gnn-train", what, stage);
    else if (start && r->start)
        rc =
            gnn_fail(e, GNN_E_INPUT, "%s: a second run begins: expected a file for each run", what);
    else if (!r->start && (epoch || end || is_event(j, "step")))
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: no event 'start' before this, which says what was run: written by "
                      "gnn-train before 0.3, or by a rank other than 0",
                      what);
    else if (start && !(rc = check_start(j, what, e)))
        r->start = json_incref(j);
    else if (epoch && json_array_append(r->epochs, j))
        rc = gnn_fail_nomem(e, 0, "epochs");
    else if (end && !r->end)
        r->end = json_incref(j);
    json_decref(j);
    return rc;
}

/* A line that has no end is one that was not written to its end. */
static int read_lines(struct gnn_run *r, const char *s, size_t n, struct gnn_err *e)
{
    char what[WHAT], shown[WHAT - 40];
    uint64_t line = 1;
    gnn_text_shown(shown, sizeof shown, r->path, strlen(r->path));
    for (const char *to; n && (to = memchr(s, '\n', n)); line++) {
        snprintf(what, sizeof what, "%s: line %" PRIu64, shown, line);
        const size_t length = (size_t)(to - s);
        json_t *j = gnn_json_parse(s, length, what, e);
        if (!j || take_event(r, j, what, e))
            return e->code;
        s += length + 1;
        n -= length + 1;
    }
    if (!r->start)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s%s", shown,
                        n           ? "cut in line 1, before "
                        : line == 1 ? "empty: no "
                                    : "no event 'start': no ",
                        "metrics of a run of gnn-train");
    const size_t epochs = json_array_size(r->epochs);
    if (n)
        r->left_out = gnn_strf(e, "unfinished: cut in line %" PRIu64 ", after %zu epoch%s", line,
                               epochs, gnn_plural(epochs));
    else if (!r->end || json_is_true(json_object_get(r->end, "stopped")))
        r->left_out =
            gnn_strf(e, "unfinished: %s after %zu epoch%s",
                     r->end ? "stopped by a signal" : "no event 'end'", epochs, gnn_plural(epochs));
    return e->code;
}

static int read_file(struct gnn_run *r, struct gnn_err *e)
{
    struct gnn_buf text = {0};
    struct gnn_io io;
    struct stat st;
    uint64_t got = 0;
    const enum gnn_kind kind = gnn_kind_path(r->path);
    if (kind < GNN_KIND_FOREIGN && gnn_kind_refuse(kind, r->path, "metrics of gnn-train", e))
        return e->code;
    const int fd = gnn_io_open(r->path, &st, e);
    if (fd < 0)
        return e->code;
    gnn_io_init(&io, fd, r->path);
    int rc = gnn_buf_fit(&text, (uint64_t)st.st_size, 1, "metrics", e);
    rc = rc ? rc : gnn_io_read(&io, text.data, (uint64_t)st.st_size, &got, e);
    close(fd);
    rc = rc ? rc : read_lines(r, text.data, got, e);
    gnn_buf_release(&text);
    return rc;
}

/* ---- groups ---- */

/* What two runs must have in common. */
static json_t *make_key(const json_t *start)
{
    json_t *key = json_object(), *v;
    const char *name;
    bool bad = !key || json_object_update(key, json_object_get(start, "options"));
    report_put(key, STORE, json_incref(json_object_get(start, "graph")), &bad);
    json_object_foreach(json_object_get(start, "sampling"), name, v)
    {
        char capacity[160];
        snprintf(capacity, sizeof capacity, SAMPLING "%s", name);
        if (strcmp(name, "seed") != 0 && strcmp(name, "splits") != 0)
            report_put(key, capacity, json_incref(v), &bad);
    }
    for (size_t i = 0; i < EXTRAS; i++)
        report_put(key, extra[i], json_incref(json_object_get(start, extra_from[i])), &bad);
    if (bad)
        json_decref(key);
    return bad ? NULL : key;
}

static int find_group(struct gnn_runs *r, struct gnn_run *run, struct gnn_err *e)
{
    const json_t *sampling = json_object_get(run->start, "sampling");
    run->key = make_key(run->start);
    run->seed = json_pack("[O, O*]", json_object_get(run->start, "seed"),
                          json_object_get(sampling, "seed"));
    if (!run->key || !run->seed)
        return gnn_fail_nomem(e, 0, "runs");
    for (run->group = 0; run->group < r->groups; run->group++)
        if (json_equal(r->v[r->lead[run->group]].key, run->key))
            return 0;
    if (gnn_grow(&r->lead, r->groups, sizeof *r->lead, "groups of runs", e))
        return e->code;
    r->lead[r->groups++] = (uint32_t)(run - r->v);
    return 0;
}

/* A seed counts once. */
static int leave_out_again(const struct gnn_runs *r, struct gnn_run *run, struct gnn_err *e)
{
    const struct gnn_run *x = r->v;
    while (x < run && (x->left_out || x->group != run->group || !json_equal(x->seed, run->seed)))
        x++;
    if (x == run || run->left_out)
        return 0;
    bool same = true;
    for (size_t i = 1; i < gnn_run_sets(run); i++) {
        const char *set = gnn_run_set(run, i);
        same = same && json_equal(json_object_get(x->end, set), json_object_get(run->end, set));
    }
    run->left_out = gnn_strf(e, "has the options and the seed of %s%s", x->path,
                             same ? "" : ", and other figures");
    return e->code;
}

static bool is_extra(const char *name)
{
    for (size_t i = 0; i < EXTRAS; i++)
        if (!strcmp(extra[i], name))
            return true;
    return false;
}

static bool same_value(const json_t *a, const json_t *b)
{
    return a == b || (a && b && json_equal(a, b));
}

static bool is_listed(const json_t *list, const char *name)
{
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        if (!strcmp(json_string_value(v), name))
            return true;
    }
    return false;
}

static bool differs_somewhere(const struct gnn_runs *r, const char *name)
{
    for (uint32_t g = 1; g < r->groups; g++)
        if (!same_value(json_object_get(r->v[r->lead[0]].key, name),
                        json_object_get(r->v[r->lead[g]].key, name)))
            return true;
    return false;
}

static bool look_equal(const struct gnn_runs *r, uint32_t a, uint32_t b)
{
    const json_t *x = r->v[r->lead[a]].key, *y = r->v[r->lead[b]].key, *v;
    size_t i;
    json_array_foreach(r->columns, i, v)
    {
        const char *name = json_string_value(v);
        if (!same_value(json_object_get(x, name), json_object_get(y, name)))
            return false;
    }
    return true;
}

/* Whether two groups have the same in all columns so far, and not this. */
static bool is_needed(const struct gnn_runs *r, const char *name)
{
    for (uint32_t a = 0; a < r->groups; a++)
        for (uint32_t b = a + 1; b < r->groups; b++)
            if (!same_value(json_object_get(r->v[r->lead[a]].key, name),
                            json_object_get(r->v[r->lead[b]].key, name)) &&
                look_equal(r, a, b))
                return true;
    return false;
}

/* Options first; what they lead to only where they do not tell. */
static int find_columns(struct gnn_runs *r, struct gnn_err *e)
{
    bool bad = !(r->columns = json_array());
    json_t *v;
    const char *name;
    for (uint32_t g = 0; g < r->groups; g++)
        json_object_foreach(r->v[r->lead[g]].key, name, v) if (!is_extra(name) &&
                                                               !is_listed(r->columns, name) &&
                                                               differs_somewhere(r, name))
            report_push(r->columns, json_string(name), &bad);
    for (size_t i = 0; i < EXTRAS; i++)
        if (is_needed(r, extra[i]))
            report_push(r->columns, json_string(extra[i]), &bad);
    return bad ? no_json(e) : 0;
}

/* ---- what others see ---- */

int gnn_runs_read(struct gnn_runs *r, char *const *path, uint32_t n, struct gnn_err *e)
{
    *r = (struct gnn_runs){.v = gnn_alloc_zero(n, sizeof *r->v, "runs", e)};
    for (; r->v && r->n < n && !e->code; r->n++) {
        struct gnn_run *run = &r->v[r->n];
        run->path = path[r->n];
        if (!(run->epochs = json_array()))
            gnn_fail_nomem(e, 0, "runs");
        else if (!read_file(run, e) && !find_group(r, run, e))
            (void)leave_out_again(r, run, e);
    }
    return e->code ? e->code : find_columns(r, e);
}

void gnn_runs_release(struct gnn_runs *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        json_decref(r->v[i].start);
        json_decref(r->v[i].end);
        json_decref(r->v[i].epochs);
        json_decref(r->v[i].key);
        json_decref(r->v[i].seed);
        gnn_free(r->v[i].left_out);
    }
    json_decref(r->columns);
    gnn_free(r->lead);
    gnn_free(r->v);
    *r = (struct gnn_runs){0};
}

/* Whether another graph has this path, too: then only its identity tells them apart. */
static bool is_ambiguous(const struct gnn_runs *r, const struct gnn_run *run)
{
    const json_t *path = json_object_get(run->start, STORE);
    for (uint32_t g = 0; g < r->groups; g++) {
        const struct gnn_run *x = &r->v[r->lead[g]];
        if (same_value(json_object_get(x->start, STORE), path) &&
            !json_equal(json_object_get(x->key, STORE), json_object_get(run->key, STORE)))
            return true;
    }
    return false;
}

json_t *gnn_run_cell(const struct gnn_runs *r, const struct gnn_run *run, const char *column)
{
    json_t *path = json_object_get(run->start, STORE);
    if (!strcmp(column, STORE) && json_is_string(path) && !is_ambiguous(r, run))
        return path;
    return json_object_get(run->key, column);
}

/* "5,5" of [[5], [5]] */
static char *list_text(const json_t *list, struct gnn_err *e)
{
    char *text = gnn_strdup("", e);
    const json_t *v;
    size_t i;
    json_array_foreach(list, i, v)
    {
        char *one = text ? gnn_run_text(v, e) : NULL,
             *both = one ? gnn_strf(e, "%s%s%s", text, i ? "," : "", one) : NULL;
        gnn_free(one);
        gnn_free(text);
        text = both;
    }
    return text;
}

char *gnn_run_text(const json_t *v, struct gnn_err *e)
{
    char number[40];
    if (json_is_array(v))
        return list_text(v, e);
    if (json_is_string(v))
        return gnn_strdup(json_string_value(v), e);
    if (json_is_boolean(v))
        return gnn_strdup(json_is_true(v) ? "yes" : "no", e);
    if (!json_is_real(v))
        return gnn_json_text(v, JSON_COMPACT | JSON_ENCODE_ANY, e);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, json_real_value(v));
        const double back = strtod(number, NULL), x = json_real_value(v);
        if (!(back < x) && !(back > x))
            break;
    }
    return gnn_strdup(number, e);
}

double gnn_run_value(const json_t *event, const char *set, const char *metric)
{
    const json_t *v = json_object_get(json_object_get(event, set), metric);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *gnn_run_set(const struct gnn_run *run, size_t i)
{
    return json_string_value(json_array_get(json_object_get(run->start, "sets"), i));
}

size_t gnn_run_sets(const struct gnn_run *run)
{
    return json_array_size(json_object_get(run->start, "sets"));
}

const char *gnn_run_metric(const struct gnn_run *run)
{
    return json_string_value(json_object_get(run->start, "metric"));
}
