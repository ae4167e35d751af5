/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/store/sums.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/data/tensors.h"
#include "lib/store/csc_check.h"

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

static int fill_sums(struct gnn_store *s, uint32_t part, const char *name,
                     const struct gnn_store_adj *a, const struct weights *w,
                     struct gnn_store_sums *x, struct gnn_err *e)
{
    bool zero = false;
    uint64_t *sum = gnn_alloc(a->edges, sizeof *sum, "sums of weights", e);
    x->of.sum = sum;
    int16_t *high =
        sum ? gnn_alloc(a->edges + GNN_PICK_WINDOW, sizeof *high, "sums of weights", e) : NULL;
    x->of.high = high;
    if (!high)
        return e->code;
    memset(high + a->edges, 0, GNN_PICK_WINDOW * sizeof *high); /* read, to no effect */
    const struct fault f = make_sums(a, w, sum, high, &zero, &x->idle);
    if (f.edge != UINT64_MAX || f.row != UINT64_MAX)
        return report_fault(s, part, name, a, w, &f, e);
    x->bytes = a->edges * (sizeof *sum + sizeof *high);
    if (!zero)
        return 0;
    uint32_t *positive = gnn_alloc(a->edges, sizeof *positive, "sums of weights", e);
    x->of.positive = positive;
    if (!positive)
        return e->code;
    count_positive(a, sum, positive);
    x->bytes += a->edges * sizeof *positive;
    return 0;
}

int gnn_store_sums_make(struct gnn_store *s, uint32_t part, uint32_t etype, const char *field,
                        struct gnn_store_sums *x, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_ROOM], name[GNN_NAME_MAX + 1];
    struct gnn_store_adj a;
    struct weights w = {0};
    *x = (struct gnn_store_sums){0};
    gnn_etype_key(&s->meta.schema, etype, key, sizeof key);
    w.t = gnn_store_find(s, part, gnn_tensor_name(name, "edge/%s/%s", key, field));
    if (gnn_store_adjacency(s, part, etype, &a, e))
        return e->code;
    if (!w.t || (w.t->ndim == 2 && w.t->shape[1] != 1) || w.t->ndim > 2)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: tensor '%s' is missing, or not one number for each edge",
                        gnn_store_part_path(s, part), name);
    float *wide = NULL;
    if (w.t->dtype == GNN_F16 || w.t->dtype == GNN_BF16) {
        wide = gnn_alloc(a.edges, sizeof *wide, "weights", e);
        if (!wide)
            return e->code;
        (void)!gnn_tensor_floats(w.t, a.edges, wide);
        w.wide = wide;
    }
    const int rc = fill_sums(s, part, name, &a, &w, x, e);
    gnn_free(wide);
    if (rc)
        gnn_store_sums_free(x);
    return rc;
}

void gnn_store_sums_free(struct gnn_store_sums *x)
{
    gnn_free((void *)(uintptr_t)x->of.sum);
    gnn_free((void *)(uintptr_t)x->of.positive);
    gnn_free((void *)(uintptr_t)x->of.high);
    *x = (struct gnn_store_sums){0};
}
