/* SPDX-License-Identifier: Apache-2.0 */
/* What pick rules read of a part's edges beside their sources (struct gnn_pick_edges): tensors of
 * the store, and arrays that are computed of them (lib/store/derived.h). */
#include <stdlib.h>
#include <string.h>

#include "formats/npy.h"
#include "lib/data/time.h"
#include "lib/sample/sample_impl.h"
#include "lib/store/csc_check.h"
#include "lib/store/derived.h"
#include "lib/store/sums.h"

enum { BRIEF, RANGE }; /* arrays; the range: the least time, and how many bits are left out */

struct times {
    struct gnn_pick_edges *pick;
    bool real;
};

static int make_brief(struct gnn_store *s, struct gnn_derived *x, void *arg, struct gnn_err *e)
{
    (void)s;
    const struct times *of = arg;
    struct gnn_pick_edges *pick = of->pick;
    const uint64_t n = x->array[BRIEF].n - GNN_PICK_WINDOW;
    const int64_t *time = pick->time;
    int64_t least = INT64_MAX, last = INT64_MIN,
            *range = gnn_alloc(2, sizeof *range, "times of edges", e);
    int16_t *brief = gnn_alloc(x->array[BRIEF].n, sizeof *brief, "times of edges", e);
    x->array[BRIEF].data = brief;
    x->array[RANGE].data = range;
    if (!brief || !range)
        return e->code;
#pragma omp parallel for reduction(min : least) reduction(max : last)
    for (uint64_t i = 0; i < n; i++) {
        const int64_t order = gnn_time_order(of->real, time[i]);
        least = order < least ? order : least;
        last = order > last ? order : last;
    }
    pick->least = range[0] = least;
    for (pick->shift = 0; n && ((uint64_t)last - (uint64_t)least) >> pick->shift > UINT16_MAX;)
        pick->shift++;
    range[1] = pick->shift;
#pragma omp parallel for
    for (uint64_t i = 0; i < n; i++)
        brief[i] = gnn_time_brief(pick, gnn_time_order(of->real, time[i]));
    memset(brief + n, 0, GNN_PICK_WINDOW * sizeof *brief); /* read, to no effect */
    return 0;
}

/* 16 bits of each of n times, which fewer lines of memory hold. */
static int find_brief(struct sampler *s, uint32_t et, uint32_t p, uint64_t n,
                      struct gnn_pick_edges *pick, struct gnn_err *e)
{
    struct times of = {pick, s->meta.sampling.rule.time.real};
    struct gnn_derived d = {
        .what = "times",
        .part = p,
        .etype = et,
        .narrays = 2,
        .array = {[BRIEF] = {.name = "brief", .dtype = GNN_I16, .n = n + GNN_PICK_WINDOW},
                  [RANGE] = {.name = "range", .dtype = GNN_I64, .n = 2}}};
    if (gnn_derived_get(s->store, &d, make_brief, &of, e))
        return e->code;
    const int64_t *range = d.array[RANGE].data;
    pick->brief = d.array[BRIEF].data;
    pick->least = range[0];
    pick->shift = (unsigned)range[1] % 64;
    return 0;
}

/* A value of a field, as a number that is larger for larger ones. False: it is NaN. */
static bool value_key(const struct gnn_tensor *t, uint64_t i, uint64_t *key)
{
    double x;
    if (gnn_time_dtype(t->dtype))
        return gnn_time_key(t->dtype, t->data, i, key);
    gnn_npy_to_f64(t->dtype, (const char *)t->data + i * gnn_dtype_bytes(t->dtype), &x, 1);
    return gnn_time_key(GNN_F64, &x, 0, key);
}

struct cell {
    uint64_t key;
    uint32_t at; /* position in the row */
};

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? 1 : -1) : (x->at > y->at) - (x->at < y->at);
}

static int sort_row(const struct gnn_store_adj *a, const struct gnn_tensor *t, uint64_t row,
                    struct gnn_buf *cells, uint32_t *order, struct gnn_err *e)
{
    const uint64_t from = a->indptr[row], n = a->indptr[row + 1] - from;
    if (gnn_buf_fit(cells, n, sizeof(struct cell), "a node's edges", e))
        return e->code;
    struct cell *c = cells->data;
    for (uint64_t i = 0; i < n; i++) {
        c[i].at = (uint32_t)i;
        if (!value_key(t, from + i, &c[i].key))
            return gnn_fail(e, GNN_E_INPUT,
                            "tensor '%s' has values that are NaN (at edge %llu, for one): they "
                            "have no order",
                            t->name, (unsigned long long)(from + i));
    }
    if (n)
        qsort(c, n, sizeof *c, compare_cells);
    for (uint64_t i = 0; i < n; i++)
        order[from + i] = c[i].at;
    return 0;
}

static int make_order(struct gnn_store *s, struct gnn_derived *x, void *field, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    struct gnn_store_adj a;
    gnn_etype_key(&s->meta.schema, x->etype, key, sizeof key);
    const struct gnn_tensor *t =
        gnn_store_findf(s, x->part, "edge/%s/%s", key, *(const char *const *)field);
    if (gnn_store_adjacency(s, x->part, x->etype, &a, e))
        return e->code;
    if (!t || t->shape[0] != a.edges || t->ndim > 2 || (t->ndim == 2 && t->shape[1] != 1))
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor 'edge/%s/%s' is missing, or not one number for each edge",
                        gnn_store_part_path(s, x->part), key, *(const char *const *)field);
    uint32_t *order = x->array[0].data = gnn_alloc(a.edges, sizeof *order, "order of edges", e);
#pragma omp parallel if (order)
    {
        struct gnn_buf cells = {0};
        struct gnn_err late = {0};
#pragma omp for schedule(dynamic, 1024)
        for (uint64_t i = 0; i < (order ? a.rows : 0); i++)
            if (!late.code)
                (void)!sort_row(&a, t, i, &cells, order, &late);
        if (late.code) {
#pragma omp critical(order_failed)
            gnn_fail(e, (enum gnn_status)late.code, "%s: %s", gnn_store_part_path(s, x->part),
                     late.msg);
        }
        gnn_buf_release(&cells);
    }
    return e->code;
}

/* The order of each row by a field. */
static int find_order(struct sampler *s, uint32_t et, uint32_t p, struct gnn_pick_edges *pick,
                      struct gnn_err *e)
{
    char what[GNN_NAME_MAX + 1];
    struct gnn_derived d = {
        .what = gnn_tensor_name(what, "top-%s", s->meta.sampling.top),
        .part = p,
        .etype = et,
        .narrays = 1,
        .array[0] = {.name = "order", .dtype = GNN_U32, .n = s->graph[et].part[p].nedges}};
    if (gnn_derived_get(s->store, &d, make_order, &s->meta.sampling.top, e))
        return e->code;
    pick->order = d.array[0].data;
    return 0;
}

int gnn_sample_edge_data(struct sampler *s, uint32_t et, uint32_t p, struct gnn_pick_edges *pick,
                         struct gnn_err *e)
{
    const struct gnn_sampling *m = &s->meta.sampling;
    const char *order = s->meta.schema.etype[et].order;
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (gnn_sampling_is_temporal(m)) {
        const struct gnn_tensor *time = gnn_store_findf(
            s->store, p, "edge/%s/%s", gnn_etype_key(&s->meta.schema, et, key, sizeof key), order);
        if (!time)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'edge/%s/%s' is missing",
                            gnn_store_part_path(s->store, p), key, order);
        pick->time = time->data;
        if (s->on_cpu && find_brief(s, et, p, time->shape[0], pick, e))
            return e->code;
    }
    if (!m->by_field || !m->by_field[et])
        return 0;
    if (m->top)
        return find_order(s, et, p, pick, e);
    struct gnn_store_sums x;
    if (gnn_store_sums_make(s->store, p, et, m->weight, &x, e))
        return e->code;
    pick->sum = x.of.sum;
    pick->positive = x.of.positive;
    pick->high = x.of.high;
    s->weights.bytes += x.bytes;
    s->weights.idle += x.idle;
    return 0;
}
