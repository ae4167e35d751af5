/* SPDX-License-Identifier: Apache-2.0 */
/* By which times the in-edges of an imported store are sorted. */
#include <string.h>

#include "lib/import/build/build_impl.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

static const char times[] = "time";
static const char effective[] = GNN_EFFECTIVE_TIME;

/* The number of the field of times, or -1. */
static int find_times(const struct build *b, const char *of, const struct gnn_field *f, uint32_t n,
                      int *at, struct gnn_err *e)
{
    const struct gnn_field *t = gnn_field_find(f, n, times);
    *at = t ? (int)(t - f) : -1;
    if (!t || (t->width <= 1 && (t->dtype == GNN_I64 || t->dtype == GNN_F64)))
        return GNN_OK;
    const uint64_t width = gnn_field_columns(t);
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: %s of %s has %llu column%s of %s, expected one of i64 or f64 (--map NAME=%s "
        "gives it another name)",
        b->d->name, times, of, (unsigned long long)width, gnn_plural(width),
        gnn_dtype_name(t->dtype), times);
}

/* The type of times in a field, if it has any: 1 << 0 whole ones, 1 << 1 real ones. */
static unsigned kinds_of(const struct gnn_field *f, uint32_t n)
{
    const struct gnn_field *t = gnn_field_find(f, n, times);
    return !t || t->width > 1 ? 0 : t->dtype == GNN_I64 ? 1 : t->dtype == GNN_F64 ? 2 : 0;
}

int gnn_build_times(struct build *b, struct gnn_err *e)
{
    const struct gnn_schema *s = &b->d->schema;
    unsigned kinds = 0;
    for (uint32_t t = 0; t < s->nntypes; t++)
        kinds |= kinds_of(s->ntype[t].field, s->ntype[t].nfields);
    for (uint32_t t = 0; t < s->netypes; t++)
        kinds |= kinds_of(s->etype[t].field, s->etype[t].nfields);
    b->real = kinds & 2;
    return kinds != 3
               ? GNN_OK
               : gnn_dataset_note(b->d, e,
                                  "%s: some times are whole numbers, others real: nodes have "
                                  "times of f64, and edges are ordered by such times",
                                  b->d->name);
}

enum gnn_dtype gnn_build_field(const struct build *b, const struct gnn_field *f)
{
    if (!strcmp(f->name, "x") && f->dtype == GNN_F32 && b->o->dtype)
        return b->o->dtype;
    return b->real && !strcmp(f->name, times) && kinds_of(f, 1) == 1 ? GNN_F64 : f->dtype;
}

struct taken {
    const struct gnn_dataset *d;
    uint32_t ntype;
    bool widened; /* whole numbers, which will be real ones */
    char *time;
    uint64_t n, count;
};

static int take_times(void *arg, const void *rows, uint64_t n, struct gnn_err *e)
{
    struct taken *t = arg;
    const int64_t *v = rows;
    char place[GNN_PLACE_TEXT];
    if (n > t->count - t->n)
        return gnn_fail(e, GNN_E_INPUT, "%s: more times than nodes", gnn_dataset_file(t->d));
    for (uint64_t i = 0; t->widened && i < n; i++)
        if (!gnn_time_exact(v[i]))
            return gnn_time_fail(gnn_dataset_file(t->d),
                                 gnn_dataset_place(t->d, t->ntype, t->n + i, place), v[i], e);
    memcpy(t->time + t->n * 8, rows, n * 8);
    t->n += n;
    return GNN_OK;
}

/* Times of all nodes of a type, whose field they are. */
static int load_times(struct build *b, uint32_t ntype, uint32_t field, struct gnn_err *e)
{
    const struct gnn_schema *s = &b->d->schema;
    if (!b->time && !(b->time = gnn_alloc_zero(s->nntypes, sizeof *b->time, "node types", e)))
        return e->code;
    if (b->time[ntype])
        return GNN_OK;
    struct taken t = {.d = b->d,
                      .ntype = ntype,
                      .widened = b->real && s->ntype[ntype].field[field].dtype == GNN_I64,
                      .count = s->ntype[ntype].count};
    if (!(t.time = b->time[ntype] = gnn_alloc(t.count, 8, "times of nodes", e)))
        return e->code;
    int rc = b->d->ops->rows(b->d, ntype, field, take_times, &t, e);
    if (!rc && t.n != t.count)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: fewer times than nodes of type %s", b->d->name,
                      s->ntype[ntype].name);
    return rc;
}

/* ---- are sources ever later than their edges? ---- */

struct look {
    const struct build *b;
    const struct plan *p;
    uint64_t done;
    bool raised;
};

static int fail_edge(const struct look *l, uint64_t edge, int64_t v, struct gnn_err *e)
{
    char place[32];
    snprintf(place, sizeof place, "edge %llu", (unsigned long long)edge);
    return gnn_time_fail(l->b->d->name, place, v, e);
}

static int look_chunk(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct look *l = arg;
    const struct gnn_order *o = &l->p->order;
    const unsigned mode = l->p->mode;
    const void *own = c->field[o->own];
    const bool inexact = o->own_dtype == GNN_I64 && o->dtype == GNN_F64;
    int rc = gnn_build_check(l->b, l->p, c, e);
    if (l->b->o->progress)
        l->b->o->progress("comparing times", l->done, l->p->read);
    for (uint64_t i = 0; !rc && i < c->n; i++) {
        if (inexact && !gnn_time_exact(((const int64_t *)own)[i]))
            rc = fail_edge(l, l->done + i + 1, ((const int64_t *)own)[i], e);
        if (c->src[i] == c->dst[i] && mode & GNN_CSC_DROP_LOOPS)
            continue;
        l->raised = l->raised || (mode & GNN_CSC_FWD && gnn_order_raises(o, own, i, c->src[i])) ||
                    (mode & GNN_CSC_REV && gnn_order_raises(o, own, i, c->dst[i]));
    }
    l->done += c->n;
    return rc;
}

/* An added self-loop has time 0. */
static bool raises_loops(const struct plan *p)
{
    const int64_t whole = 0;
    const double real = 0;
    const void *zero = p->order.own_dtype == GNN_I64 ? (const void *)&whole : &real;
    for (uint64_t v = 0; p->add_loops && v < p->sort.csc.ndst; v++)
        if (!(p->has_loop[v >> 6] >> (v & 63) & 1) &&
            gnn_order_raises(&p->order, zero, 0, (uint32_t)v))
            return true;
    return false;
}

static int compare_times(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    struct look l = {.b = b, .p = p};
    int rc = b->d->ops->edges(b->d, p->in, true, look_chunk, &l, e);
    p->order.raised = l.raised || raises_loops(p) || p->order.own_dtype != p->order.dtype;
    return rc;
}

int gnn_build_order(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    struct gnn_order *o = &p->order;
    struct gnn_schema *s = &b->meta.schema;
    const struct gnn_etype *in = &b->d->schema.etype[p->in];
    const struct gnn_ntype *src = &b->d->schema.ntype[s->etype[t].src];
    int of_src;
    int rc = find_times(b, in->rel, in->field, in->nfields, &o->own, e);
    if (!rc)
        rc = find_times(b, src->name, src->field, src->nfields, &of_src, e);
    if (rc || (o->own < 0 && of_src < 0))
        return rc;
    if (o->own >= 0)
        o->dtype = o->own_dtype = in->field[o->own].dtype;
    if (of_src >= 0) {
        if (load_times(b, s->etype[t].src, (uint32_t)of_src, e))
            return e->code;
        o->src = b->time[s->etype[t].src];
        o->dtype = o->src_dtype = src->field[of_src].dtype;
        o->raised = true;
    }
    o->dtype = b->real ? GNN_F64 : o->dtype;
    if (o->own >= 0 && (of_src >= 0 || o->own_dtype != o->dtype))
        rc = compare_times(b, t, e);
    if (!rc && o->raised)
        rc = gnn_schema_add_efield(s, t, effective, o->dtype, 0, e);
    return rc ? rc : gnn_schema_set_order(s, t, o->raised ? effective : times, e);
}

const char *gnn_build_ordered(const struct build *b, uint32_t t)
{
    return !b->meta.schema.etype[t].order ? NULL : b->plan[t].order.raised ? effective : times;
}
