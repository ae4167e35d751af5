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
static json_t *degree_stats(uint32_t *deg, uint64_t n)
{
    double sum = 0;
    uint64_t zero = 0;
    gnn_u32_sort(deg, n);
    for (uint64_t i = 0; i < n; i++) {
        sum += deg[i];
        zero += deg[i] == 0;
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "min", n ? report_num(deg[0]) : json_null(),
                     "median", n ? report_num(deg[n / 2]) : json_null(), "mean",
                     report_real(n ? sum / (double)n : NAN), "max",
                     n ? report_num(deg[n - 1]) : json_null(), "zero", report_num(zero));
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
    enum { CAPACITY = 1 << 24, PARTS = 32, CHUNK = 4096 };
    const struct gnn_schema *sc = &v->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    const uint64_t nodes = sc->ntype[t->dst].count, parts = t->count / (CAPACITY / 2) + 1;
    uint32_t *src = gnn_alloc(2 * (uint64_t)CHUNK, sizeof *src, "edges", e), *dst = src + CHUNK;
    struct gnn_direction_counter c;
    bool more = src != NULL;
    int rc = src ? GNN_OK : GNN_E_NOMEM;
    gnn_direction_init(&c, true, false, nodes, CAPACITY, parts <= PARTS ? (uint32_t)parts : 1);
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
        if (!rc)
            rc = gnn_direction_next(&c, &more, e);
    }
    gnn_direction_sum(&c, false, false, false, d);
    gnn_direction_release(&c);
    gnn_free(src);
    return rc;
}

static json_t *edge_stats(struct gnn_view *v, uint32_t et, struct edge_work *w, uint8_t *touched,
                          struct gnn_err *e)
{
    const struct gnn_schema *sc = &v->store->meta.schema;
    const struct gnn_etype *t = &sc->etype[et];
    uint64_t ndst = sc->ntype[t->dst].count, nsrc = sc->ntype[t->src].count, loops = 0,
             parallel = 0;
    char key[GNN_ETYPE_KEY_CAPACITY];

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
    struct gnn_direction d;
    const bool within = t->src == t->dst && !count_direction(v, et, &d, e);
    /* Without an edge between two nodes, there is no direction. */
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o*, s:o*, s:o*, s:o*}", "name",
                     gnn_etype_key(sc, et, key, sizeof key), "in_degree", degree_stats(w->in, ndst),
                     "out_degree", degree_stats(w->out, nsrc), "self_loops", report_num(loops),
                     "parallel_edges", report_num(parallel), "direction",
                     !within              ? NULL
                     : d.edges == d.loops ? json_null()
                                          : json_string(d.symmetric ? "symmetric" : "directed"),
                     "reversed_edges", within ? report_num(d.reversed) : NULL, "reverse_share",
                     within ? report_real(gnn_direction_share(&d)) : NULL, "estimated_from",
                     within && gnn_direction_estimated(&d) ? report_num(d.looked) : NULL);
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
    const uint64_t n = t->shape[0] * gnn_tensor_columns(t);
    for (uint64_t i = 0; i < n; i += columns)
        for (uint64_t c = 0; c < columns && i + c < n; c++)
            add_value(&r[c], gnn_element(t, i + c), label);
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

static json_t *report_of(const struct range *r, double x)
{
    return report_real(r->n ? x : NAN);
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
    json_t *list = columns > 1 ? json_array() : NULL;
    for (uint64_t k = 0; r && k < columns; k++) {
        range_merge(&sum, &r[k]);
        if (list)
            report_push(list,
                        json_pack("{s:o, s:o, s:o}", "min", report_of(&r[k], r[k].min), "mean",
                                  report_of(&r[k], r[k].sum / (double)r[k].n), "max",
                                  report_of(&r[k], r[k].max)),
                        bad);
    }
    gnn_free(r);
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o*, s:o*}", "name",
        json_sprintf("%s/%s/%s", what, owner, f->name), "min", report_of(&sum, sum.min), "mean",
        report_of(&sum, sum.sum / (double)sum.n), "max", report_of(&sum, sum.max), "values",
        report_num(sum.n + sum.nan + sum.inf), "nan", report_num(sum.nan), "infinite",
        report_num(sum.inf), "unlabelled", label ? report_num(sum.none) : NULL, "columns", list);
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
        report_push(edges, edge_stats(v, et, w, touched, e), &bad);
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
    uint64_t most = 0;
    bool bad = false;
    char key[GNN_ETYPE_KEY_CAPACITY];
    json_t *fields = json_array(), *stats = json_pack("{s:o}", "fields", fields);

    report_put(report, "statistics", stats, &bad);
    if (bad)
        return no_json(e);
    for (uint32_t t = 0; t < sc->nntypes; t++)
        most = sc->ntype[t].count > most ? sc->ntype[t].count : most;
    uint8_t *touched = gnn_alloc_zero(v->nvertices, 1, "marks of nodes", e);
    uint32_t *capacity = gnn_alloc(3 * most, sizeof *capacity, "degrees", e);
    int rc = touched && capacity
                 ? graph_stats(v, stats,
                               &(struct edge_work){capacity, capacity + most, capacity + 2 * most},
                               touched, e)
                 : e->code;
    gnn_free(touched);
    gnn_free(capacity);
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
