/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/build/time_order.h"

#include <omp.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/time.h"

/* RUN: edges that are sorted by insertion. FEW: edges for which threads are not worth waking. */
enum { RUN = 16, FEW = 1 << 16 };

bool gnn_time_exact(int64_t v)
{
    const double d = (double)v;
    return d < 9223372036854775808.0 && (int64_t)d == v;
}

int gnn_time_fail(const char *file, const char *place, int64_t v, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: %s: time %lld cannot be compared with times of real numbers: more than "
                    "2^53",
                    file, place, (long long)v);
}

struct cell {
    uint64_t key, at; /* at: position in the row before sorting */
};

struct scratch {
    struct gnn_buf cells, rows;
};

static double real_at(enum gnn_dtype dtype, const void *rows, uint64_t i)
{
    return dtype == GNN_I64 ? (double)((const int64_t *)rows)[i] : ((const double *)rows)[i];
}

bool gnn_order_raises(const struct gnn_order *o, const void *own, uint64_t i, uint32_t source)
{
    if (!own || !o->src)
        return o->src != NULL;
    if (o->dtype == GNN_I64)
        return ((const int64_t *)o->src)[source] > ((const int64_t *)own)[i];
    return real_at(o->src_dtype, o->src, source) > real_at(o->own_dtype, own, i);
}

static void put_effective(const struct gnn_order *o, const void *own, uint64_t i, uint32_t source,
                          void *out)
{
    const bool later = gnn_order_raises(o, own, i, source);
    const void *from = later ? o->src : own;
    const uint64_t at = later ? source : i;
    if (o->dtype == GNN_I64)
        ((int64_t *)out)[i] = ((const int64_t *)from)[at];
    else
        ((double *)out)[i] = real_at(later ? o->src_dtype : o->own_dtype, from, at);
}

/* ---- a stable merge sort ---- */

static void sort_run(struct cell *c, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const struct cell x = c[i];
        uint64_t j = i;
        for (; j && c[j - 1].key > x.key; j--)
            c[j] = c[j - 1];
        c[j] = x;
    }
}

static void merge_runs(const struct cell *c, uint64_t mid, uint64_t n, struct cell *out)
{
    uint64_t a = 0, b = mid;
    for (uint64_t i = 0; i < n; i++)
        out[i] = b == n || (a < mid && c[a].key <= c[b].key) ? c[a++] : c[b++];
}

/* t: space for n more. */
static void sort_cells(struct cell *c, struct cell *t, uint64_t n)
{
    struct cell *from = c, *to = t;
    for (uint64_t i = 0; i < n; i += RUN)
        sort_run(c + i, n - i < RUN ? n - i : RUN);
    for (uint64_t w = RUN; w < n; w *= 2) {
        for (uint64_t i = 0; i < n; i += 2 * w) {
            const uint64_t size = n - i < 2 * w ? n - i : 2 * w;
            merge_runs(from + i, size < w ? size : w, size, to + i);
        }
        struct cell *const last = from;
        from = to;
        to = last;
    }
    if (from != c)
        memcpy(c, from, n * sizeof *c);
}

/* ---- rows ---- */

/* Moves n rows of `size` bytes to where the cells say. */
static int move_rows(void *rows, size_t size, const struct cell *c, uint64_t n, struct scratch *s,
                     struct gnn_err *e)
{
    if (gnn_buf_fit(&s->rows, n, size, "a node's edges", e))
        return e->code;
    const char *from = memcpy(s->rows.data, rows, n * size);
    char *to = rows;
    if (size == 4)
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + 4 * i, from + 4 * c[i].at, 4);
    else if (size == 8)
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + 8 * i, from + 8 * c[i].at, 8);
    else
        for (uint64_t i = 0; i < n; i++)
            memcpy(to + i * size, from + c[i].at * size, size);
    return GNN_OK;
}

/* Fills `effective`, if it is wanted. *sorted: the row is in order already. */
static int scan_row(const struct gnn_order *o, const struct gnn_order_rows *r, uint64_t from,
                    uint64_t to, bool *sorted, struct gnn_err *e)
{
    const void *own = o->own < 0 ? NULL : r->field[o->own], *time = o->raised ? r->effective : own;
    const enum gnn_dtype dtype = o->raised ? o->dtype : o->own_dtype;
    uint64_t key, last = 0;
    *sorted = true;
    for (uint64_t i = from; i < to; i++, last = key) {
        if (o->raised)
            put_effective(o, own, i, r->indices[i], r->effective);
        if (!gnn_time_key(dtype, time, i, &key))
            return gnn_fail(e, GNN_E_INPUT, "the time of an edge from node %u is nan",
                            r->indices[i]);
        *sorted = *sorted && key >= last;
    }
    return GNN_OK;
}

static int sort_row(const struct gnn_order *o, const struct gnn_order_rows *r, uint64_t from,
                    uint64_t to, struct scratch *s, struct gnn_err *e)
{
    const uint64_t n = to - from;
    bool sorted;
    if (scan_row(o, r, from, to, &sorted, e) || sorted)
        return e->code;
    if (gnn_buf_fit(&s->cells, n, 2 * sizeof(struct cell), "a node's edges", e))
        return e->code;
    struct cell *c = s->cells.data;
    const void *time = o->raised ? r->effective : r->field[o->own];
    for (uint64_t i = 0; i < n; i++) {
        c[i].at = i;
        gnn_time_key(o->raised ? o->dtype : o->own_dtype, time, from + i, &c[i].key);
    }
    sort_cells(c, c + n, n);
    if (move_rows(r->indices + from, sizeof *r->indices, c, n, s, e) ||
        (o->raised && move_rows((char *)r->effective + 8 * from, 8, c, n, s, e)))
        return e->code;
    for (uint32_t f = 0; f < r->nfields; f++)
        if (r->row[f] && move_rows((char *)r->field[f] + from * r->row[f], r->row[f], c, n, s, e))
            return e->code;
    return GNN_OK;
}

int gnn_order_sort(const struct gnn_order *o, const struct gnn_order_rows *r, unsigned threads,
                   struct gnn_err *e)
{
    const uint64_t edges = r->n ? r->end[r->n - 1] - r->first : 0;
    const int team = edges < FEW ? 1 : threads ? (int)threads : omp_get_max_threads();
#pragma omp parallel num_threads(team)
    {
        struct scratch s = {0};
        struct gnn_err late = {0};
#pragma omp for schedule(dynamic, 64)
        for (uint64_t i = 0; i < r->n; i++)
            if (!late.code)
                (void)!sort_row(o, r, (i ? r->end[i - 1] : r->first) - r->first,
                                r->end[i] - r->first, &s, &late);
        if (late.code) {
#pragma omp critical(order_failed)
            gnn_fail(e, (enum gnn_status)late.code, "%s", late.msg);
        }
        gnn_buf_release(&s.cells);
        gnn_buf_release(&s.rows);
    }
    return e->code;
}
