/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a store: degrees, values, classes. */
#include <string.h>

#include "lib/data/direction.h"
#include "lib/data/label_check.h"
#include "lib/store/ids.h"
#include "lib/inspect/inspect.h"
#include "lib/inspect/report.h"
#include "lib/inspect/value.h"
#include "lib/base/mem.h"

/* deg (n) is sorted in place. Of no node, all but the count of zeros is null. */
static json_t *degree_stats(uint32_t *deg, uint64_t n, bool *bad)
{
    json_t *o = json_object();
    double sum = 0;
    uint64_t zero = 0;
    gnn_u32_sort(deg, n);
    for (uint64_t i = 0; i < n; i++) {
        sum += deg[i];
        zero += deg[i] == 0;
    }
    report_put(o, "min", n ? report_num(deg[0]) : json_null(), bad);
    report_put(o, "median", n ? report_num(deg[n / 2]) : json_null(), bad);
    report_put(o, "mean", report_real(n ? sum / (double)n : NAN), bad);
    report_put(o, "max", n ? report_num(deg[n - 1]) : json_null(), bad);
    report_put(o, "zero", report_num(zero), bad);
    return o;
}

/* Work arrays of one edge type. */
struct edge_work {
    uint32_t *in, *out, *seen;
};

/* How many edges have their reverse: exactly for up to 2^28 edges, in as many passes over them as
 * 2^24 hashes in memory require; from a sample beyond. */
static int count_direction(const struct gnn_view *v, uint32_t et, struct gnn_direction *d,
                           struct gnn_err *e)
{
    enum { ROOM = 1 << 24, PARTS = 32, CHUNK = 4096 };
    const struct gnn_schema *sc = &v->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    const uint64_t nodes = sc->ntype[t->dst].count, parts = t->count / (ROOM / 2) + 1;
    uint32_t *src = gnn_alloc(2 * (uint64_t)CHUNK, sizeof *src, "edges", e), *dst = src + CHUNK;
    struct gnn_direction_counter c;
    bool more = src != NULL;
    int rc = src ? GNN_OK : GNN_E_NOMEM;
    gnn_direction_init(&c, true, false, nodes, ROOM, parts <= PARTS ? (uint32_t)parts : 1);
    while (!rc && more) {
        uint32_t n = 0;
        for (uint64_t i = 0; !rc && i < nodes; i++) {
            const struct gnn_view_row row = gnn_view_row(v, et, i);
            const uint32_t self = gnn_view_store_id(v, t->dst, i);
            for (uint64_t k = 0; !rc && k < row.n; k++) {
                src[n] = row.indices[k];
                dst[n++] = self;
                if (n == CHUNK) {
                    rc = gnn_direction_add(&c, src, dst, n, e);
                    n = 0;
                }
            }
        }
        if (!rc)
            rc = gnn_direction_add(&c, src, dst, n, e);
        more = gnn_direction_next(&c);
    }
    gnn_direction_sum(&c, false, false, false, d);
    gnn_direction_release(&c);
    gnn_free(src);
    return rc;
}

/* Without an edge between two nodes, there is no direction. */
static void put_direction(json_t *o, const struct gnn_direction *d, bool *bad)
{
    report_put(o, "direction",
               d->edges == d->loops ? json_null()
                                    : json_string(d->symmetric ? "symmetric" : "directed"),
               bad);
    report_put(o, "reversed_edges", report_num(d->reversed), bad);
    report_put(o, "reverse_share", report_real(gnn_direction_share(d)), bad);
    if (gnn_direction_estimated(d))
        report_put(o, "estimated_from", report_num(d->looked), bad);
}

static json_t *edge_stats(struct gnn_view *v, uint32_t et, struct edge_work *w, uint8_t *touched,
                          bool *bad, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    uint64_t ndst = sc->ntype[t->dst].count, nsrc = sc->ntype[t->src].count, loops = 0,
             parallel = 0;
    char key[GNN_ETYPE_KEY_ROOM];

    memset(w->out, 0, nsrc * sizeof *w->out);
    memset(w->seen, 0, nsrc * sizeof *w->seen);
    for (uint64_t d = 0; d < ndst; d++) {
        struct gnn_view_row row = gnn_view_row(v, et, d);
        uint32_t self = gnn_view_store_id(v, t->dst, d);
        w->in[d] = (uint32_t)row.n;
        touched[v->base[t->dst] + d] |= row.n > 0;
        /* seen[s] is the last destination + 1 that had source s: a second edge to the same one is
         * parallel. */
        for (uint64_t i = 0; i < row.n; i++) {
            uint32_t s = row.indices[i];
            w->out[s]++;
            loops += t->src == t->dst && s == self;
            parallel += w->seen[s] == d + 1;
            w->seen[s] = (uint32_t)d + 1;
        }
    }
    /* Nodes with no edge of any type are isolated; marks are by original id, degrees by store
     * id. */
    for (uint64_t s = 0; s < nsrc; s++)
        touched[v->base[t->src] + gnn_view_orig(v, t->src, s)] |= w->out[s] > 0;
    json_t *o = json_object();
    report_put(o, "name", json_string(gnn_etype_key(sc, et, key, sizeof key)), bad);
    report_put(o, "in_degree", degree_stats(w->in, ndst, bad), bad);
    report_put(o, "out_degree", degree_stats(w->out, nsrc, bad), bad);
    report_put(o, "self_loops", report_num(loops), bad);
    report_put(o, "parallel_edges", report_num(parallel), bad);
    struct gnn_direction run;
    if (t->src == t->dst && !count_direction(v, et, &run, e))
        put_direction(o, &run, bad);
    return o;
}

/* ---- fields ---- */

struct range {
    double min, max, sum;
    uint64_t n, nan, inf, none; /* none: of a label that is not known */
};

static void add_value(struct range *r, double x, bool label)
{
    if (label && !(x >= 0)) {
        r->none++;
    } else if (isnan(x)) {
        r->nan++;
    } else if (isinf(x)) {
        r->inf++;
    } else {
        r->min = r->n && r->min < x ? r->min : x;
        r->max = r->n && r->max > x ? r->max : x;
        r->sum += x;
        r->n++;
    }
}

/* r: [columns]. label: of classes, of which -1 and NaN stand for none. */
static void range_add(struct range *r, uint64_t columns, const struct gnn_tensor *t, bool label)
{
    uint64_t n = 0;
    if (!gnn_tensor_count(t, &n))
        return;
    for (uint64_t i = 0; i < n; i += columns)
        for (uint64_t c = 0; c < columns && i + c < n; c++)
            add_value(&r[c], gnn_value(t->dtype, t->data, i + c), label);
}

static void range_merge(struct range *r, const struct range *other)
{
    if (other->n) {
        r->min = r->n && r->min < other->min ? r->min : other->min;
        r->max = r->n && r->max > other->max ? r->max : other->max;
    }
    r->sum += other->sum;
    r->n += other->n;
    r->nan += other->nan;
    r->inf += other->inf;
    r->none += other->none;
}

static void put_range(json_t *o, const struct range *r, bool *bad)
{
    report_put(o, "min", report_real(r->n ? r->min : NAN), bad);
    report_put(o, "mean", report_real(r->n ? r->sum / (double)r->n : NAN), bad);
    report_put(o, "max", report_real(r->n ? r->max : NAN), bad);
}

/* Of the whole field and, up to COLUMNS_MAX of them, of each of its columns. */
static json_t *field_stats(struct gnn_store *s, const char *what, const char *owner,
                           const struct gnn_field *f, bool *bad)
{
    enum { COLUMNS_MAX = 1 << 16 };
    const struct gnn_schema *c = &s->meta.schema;
    const uint64_t all = gnn_field_columns(f), columns = all <= COLUMNS_MAX ? all : 1;
    const bool label = c->task && !gnn_task_numbers(c->task) && !strcmp(what, "node") &&
                       !strcmp(f->name, "y") && !strcmp(owner, c->ntype[c->label_ntype].name);
    struct gnn_err ignored = {0};
    struct range sum = {0}, *r = gnn_alloc_zero(columns, sizeof *r, "ranges of columns", &ignored);
    for (uint32_t p = 0; r && p < s->nparts; p++) {
        const struct gnn_tensor *t = gnn_store_findf(s, p, "%s/%s/%s", what, owner, f->name);
        if (t)
            range_add(r, columns, t, label);
    }
    *bad = *bad || !r;
    json_t *o = json_object(), *list = json_array();
    for (uint64_t k = 0; r && k < columns; k++) {
        json_t *x = json_object();
        range_merge(&sum, &r[k]);
        put_range(x, &r[k], bad);
        report_push(list, x, bad);
    }
    gnn_free(r);
    report_put(o, "name", json_sprintf("%s/%s/%s", what, owner, f->name), bad);
    put_range(o, &sum, bad);
    report_put(o, "values", report_num(sum.n + sum.nan + sum.inf), bad);
    report_put(o, "nan", report_num(sum.nan), bad);
    report_put(o, "infinite", report_num(sum.inf), bad);
    if (label)
        report_put(o, "unlabelled", report_num(sum.none), bad);
    if (columns > 1)
        report_put(o, "columns", list, bad);
    else
        json_decref(list);
    return o;
}

/* Adds what the labels of a part say. count: members of each class. Returns how many nodes have no
 * label. */
static uint64_t count_labels(const struct gnn_schema *c, const struct gnn_tensor *y,
                             uint64_t *count)
{
    const bool columns = gnn_task_columns(c->task);
    uint64_t none = 0;
    for (uint64_t i = 0; i < y->shape[0]; i++) {
        uint32_t of;
        if (!gnn_label_row(c, y, i, &of))
            none++;
        else if (!columns)
            count[of]++;
        for (uint64_t k = 0; columns && k < c->nclasses; k++)
            count[k] += gnn_value(y->dtype, y->data, i * c->nclasses + k) > 0;
    }
    return none;
}

/* Members of each class of the whole store, unless its labels are numbers, and nodes without a
 * label. */
static int label_stats(struct gnn_store *s, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *sc = &s->meta.schema;
    bool bad = false;
    uint64_t none = 0;
    if (!sc->task || !sc->nclasses)
        return GNN_OK;
    uint64_t *count = gnn_alloc_zero(sc->nclasses, sizeof *count, "classes", e);
    if (!count)
        return e->code;
    for (uint32_t p = 0; p < s->nparts; p++) {
        const struct gnn_tensor *y =
            gnn_store_findf(s, p, "node/%s/y", sc->ntype[sc->label_ntype].name);
        none += y ? count_labels(sc, y, count) : 0;
    }
    json_t *a = json_array();
    for (uint32_t c = 0; a && c < sc->nclasses; c++)
        report_push(a, report_num(count[c]), &bad);
    gnn_free(count);
    if (gnn_task_numbers(sc->task))
        json_decref(a);
    else
        report_put(report, "classes", a, &bad);
    report_put(report, "unlabelled", report_num(none), &bad);
    return bad ? no_json(e) : GNN_OK;
}

static int graph_stats(struct gnn_view *v, json_t *report, struct edge_work *w, uint8_t *touched,
                       struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    bool bad = false;
    json_t *edges = json_array(), *isolated = json_object();

    for (uint32_t et = 0; et < sc->netypes; et++)
        report_push(edges, edge_stats(v, et, w, touched, &bad, e), &bad);
    for (uint32_t t = 0; t < sc->nntypes; t++) {
        uint64_t n = 0;
        for (uint64_t i = v->base[t]; i < v->base[t + 1]; i++)
            n += !touched[i];
        report_put(isolated, sc->ntype[t].name, report_num(n), &bad);
    }
    report_put(report, "edges", edges, &bad);
    report_put(report, "isolated", isolated, &bad);
    return e->code ? e->code : bad ? no_json(e) : GNN_OK;
}

int gnn_report_stats(struct gnn_view *v, json_t *report, struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    struct edge_work w = {0};
    uint64_t most = 0;
    bool bad = false;
    char key[GNN_ETYPE_KEY_ROOM];
    json_t *stats = json_object(), *fields = json_array();

    report_put(report, "statistics", stats, &bad);
    report_put(stats, "fields", fields, &bad);
    if (bad)
        return no_json(e);
    for (uint32_t t = 0; t < sc->nntypes; t++)
        most = sc->ntype[t].count > most ? sc->ntype[t].count : most;
    uint8_t *touched = gnn_alloc_zero(v->nvertices, 1, "marks of nodes", e);
    w.in = gnn_alloc(most, sizeof *w.in, "degrees", e);
    w.out = gnn_alloc(most, sizeof *w.out, "degrees", e);
    w.seen = gnn_alloc(most, sizeof *w.seen, "marks of nodes", e);
    int rc = touched && w.in && w.out && w.seen ? graph_stats(v, stats, &w, touched, e) : e->code;
    gnn_free(touched);
    gnn_free(w.in);
    gnn_free(w.out);
    gnn_free(w.seen);
    if (rc)
        return rc;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        for (uint32_t f = 0; f < sc->ntype[t].nfields; f++)
            report_push(
                fields,
                field_stats(v->store, "node", sc->ntype[t].name, &sc->ntype[t].field[f], &bad),
                &bad);
    for (uint32_t t = 0; t < sc->netypes; t++)
        for (uint32_t f = 0; f < sc->etype[t].nfields; f++)
            report_push(fields,
                        field_stats(v->store, "edge", gnn_etype_key(sc, t, key, sizeof key),
                                    &sc->etype[t].field[f], &bad),
                        &bad);
    return bad ? no_json(e) : label_stats(v->store, stats, e);
}
