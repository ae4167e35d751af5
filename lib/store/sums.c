/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/sums.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/tensors.h"
#include "lib/store/csc_check.h"
#include "lib/store/derived.h"

enum { SUM_BITS = 57 }; /* a draw below the sum is repeated less than once in 64 times */

struct weights {
    const struct gnn_tensor *t;
    const float *wide; /* of types that have to be widened; else NULL */
};

static double weight_at(const struct weights *w, uint64_t i)
{
    const void *p = w->t->data;
    if (w->wide)
        return (double)w->wide[i];
    switch (w->t->dtype) {
    case GNN_U8:
        return ((const uint8_t *)p)[i];
    case GNN_I8:
        return ((const int8_t *)p)[i];
    case GNN_U16:
        return ((const uint16_t *)p)[i];
    case GNN_I16:
        return ((const int16_t *)p)[i];
    case GNN_U32:
        return ((const uint32_t *)p)[i];
    case GNN_I32:
        return ((const int32_t *)p)[i];
    case GNN_U64:
        return (double)((const uint64_t *)p)[i];
    case GNN_I64:
        return (double)((const int64_t *)p)[i];
    case GNN_F64:
        return ((const double *)p)[i];
    default:
        return (double)((const float *)p)[i];
    }
}

/* What is wrong with an edge, or with a row. */
struct fault {
    uint64_t edge, row; /* the first of each, or UINT64_MAX */
};

static double add_row(const struct weights *w, uint64_t from, uint64_t to, uint64_t *bad)
{
    double sum = 0;
    for (uint64_t k = from; k < to; k++) {
        const double x = weight_at(w, k);
        if (!(x >= 0 && isfinite(x))) {
            *bad = k;
            return 0;
        }
        sum += x;
    }
    return sum;
}

/* Returns whether none of the row's edges has a weight; *zero: whether one has none. */
static bool make_row(const struct weights *w, uint64_t from, uint64_t to, double total,
                     uint64_t *sum, int16_t *high, bool *zero)
{
    int exponent;
    uint64_t at = 0;
    (void)frexp(total, &exponent); /* total < 2^exponent */
    const int shift = SUM_BITS - 1 - exponent, half = shift / 2;
    /* Two factors, as one may be larger than a double can be. Nothing is rounded but what becomes
     * less than 1. */
    const double a = ldexp(1, half), b = ldexp(1, shift - half);
    for (uint64_t k = from; k < to; k++) {
        const double x = weight_at(w, k);
        const uint64_t n = (uint64_t)(x * a * b);
        *zero = *zero || !(x > 0);
        at += x > 0 ? (n ? n : 1) : 0;
        sum[k] = at;
        high[k] = gnn_weight_high(at);
    }
    return at == 0;
}

static struct fault make_sums(const struct gnn_store_adj *a, const struct weights *w, uint64_t *sum,
                              int16_t *high, bool *zero, uint64_t *idle)
{
    uint64_t edge = UINT64_MAX, row = UINT64_MAX, none = 0;
    bool any = false;
#pragma omp parallel for schedule(dynamic, 1024) reduction(min : edge, row) reduction(+ : none)    \
    reduction(|| : any)
    for (uint64_t i = 0; i < a->rows; i++) {
        const uint64_t from = a->indptr[i], to = a->indptr[i + 1];
        uint64_t bad = UINT64_MAX;
        const double total = add_row(w, from, to, &bad);
        edge = bad < edge ? bad : edge;
        if (bad != UINT64_MAX)
            continue;
        if (!isfinite(total))
            row = i < row ? i : row;
        else
            none += to > from && make_row(w, from, to, total, sum, high, &any);
    }
    *zero = any;
    *idle = none;
    return (struct fault){edge, row};
}

static void count_positive(const struct gnn_store_adj *a, const uint64_t *sum, uint32_t *positive)
{
#pragma omp parallel for schedule(dynamic, 1024)
    for (uint64_t i = 0; i < a->rows; i++) {
        uint64_t before = 0;
        uint32_t n = 0;
        for (uint64_t k = a->indptr[i]; k < a->indptr[i + 1]; k++) {
            n += sum[k] != before;
            before = sum[k];
            positive[k] = n;
        }
    }
}

static int report_fault(struct gnn_store *s, uint32_t part, const char *name,
                        const struct gnn_store_adj *a, const struct weights *w,
                        const struct fault *f, struct gnn_err *e)
{
    const char *path = gnn_store_part_path(s, part);
    if (f->edge != UINT64_MAX)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor '%s' has values that are %s (the first is %g, at edge %" PRIu64
                        "): --weight requires finite numbers >= 0",
                        path, name, isfinite(weight_at(w, f->edge)) ? "negative" : "not finite",
                        weight_at(w, f->edge), f->edge);
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: tensor '%s': the weights of edges %" PRIu64 " to %" PRIu64
                    ", which lead to one node, add up to more than a double can hold",
                    path, name, a->indptr[f->row], a->indptr[f->row + 1] - 1);
}

enum { SUM, HIGH, POSITIVE, IDLE }; /* arrays */

static int fill_sums(struct gnn_store *s, struct gnn_derived *x, const char *name,
                     const struct gnn_store_adj *a, const struct weights *w, struct gnn_err *e)
{
    bool zero = false;
    for (int i = SUM; i <= IDLE; i++)
        if (i != POSITIVE &&
            !(x->array[i].data = gnn_alloc(x->array[i].n, gnn_dtype_bytes(x->array[i].dtype),
                                           "sums of weights", e)))
            return e->code;
    uint64_t *sum = x->array[SUM].data;
    int16_t *high = x->array[HIGH].data;
    memset(high + a->edges, 0, GNN_PICK_WINDOW * sizeof *high); /* read, to no effect */
    const struct fault f = make_sums(a, w, sum, high, &zero, x->array[IDLE].data);
    if (f.edge != UINT64_MAX || f.row != UINT64_MAX)
        return report_fault(s, x->part, name, a, w, &f, e);
    if (!zero)
        return 0;
    uint32_t *positive = x->array[POSITIVE].data =
        gnn_alloc(a->edges, sizeof *positive, "sums of weights", e);
    if (positive)
        count_positive(a, sum, positive);
    return e->code;
}

static int make_arrays(struct gnn_store *s, struct gnn_derived *x, void *field, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    struct gnn_store_adj a;
    struct weights w = {0};
    gnn_etype_key(&s->meta.schema, x->etype, key, sizeof key);
    w.t = gnn_store_find(s, x->part,
                         gnn_tensor_name(name, "edge/%s/%s", key, *(const char *const *)field));
    if (gnn_store_adjacency(s, x->part, x->etype, &a, e))
        return e->code;
    if (!w.t || (w.t->ndim == 2 && w.t->shape[1] != 1) || w.t->ndim > 2)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor '%s' is missing, or not one number for each edge",
                        gnn_store_part_path(s, x->part), name);
    float *wide = NULL;
    if (w.t->dtype == GNN_F16 || w.t->dtype == GNN_BF16) {
        wide = gnn_alloc(a.edges, sizeof *wide, "weights", e);
        if (!wide)
            return e->code;
        (void)!gnn_tensor_floats(w.t, a.edges, wide);
        w.wide = wide;
    }
    const int rc = fill_sums(s, x, name, &a, &w, e);
    gnn_free(wide);
    return rc;
}

static uint64_t count_edges(const struct gnn_store *s, uint32_t part, uint32_t etype)
{
    char key[GNN_ETYPE_KEY_CAPACITY], name[GNN_NAME_MAX + 1];
    gnn_etype_key(&s->meta.schema, etype, key, sizeof key);
    const struct gnn_tensor *t =
        gnn_store_look(s, part, gnn_tensor_name(name, "edge/%s/indices", key));
    return t ? t->shape[0] : 0;
}

int gnn_store_sums_make(struct gnn_store *s, uint32_t part, uint32_t etype, const char *field,
                        struct gnn_store_sums *x, struct gnn_err *e)
{
    char what[GNN_NAME_MAX + 1];
    const uint64_t edges = count_edges(s, part, etype);
    struct gnn_derived d = {gnn_tensor_name(what, "weight-%s", field),
                            part,
                            etype,
                            4,
                            {[SUM] = {"sum", GNN_U64, edges, false, NULL},
                             [HIGH] = {"high", GNN_I16, edges + GNN_PICK_WINDOW, false, NULL},
                             [POSITIVE] = {"positive", GNN_U32, edges, true, NULL},
                             [IDLE] = {"idle", GNN_U64, 1, false, NULL}},
                            false};
    if (gnn_derived_get(s, &d, make_arrays, &field, e))
        return e->code;
    *x = (struct gnn_store_sums){.of = {.sum = d.array[SUM].data,
                                        .high = d.array[HIGH].data,
                                        .positive = d.array[POSITIVE].data},
                                 .idle = *(const uint64_t *)d.array[IDLE].data};
    for (uint32_t i = SUM; !d.kept && i < IDLE; i++)
        x->bytes += d.array[i].data ? edges * gnn_dtype_bytes(d.array[i].dtype) : 0;
    return 0;
}
