/* SPDX-License-Identifier: Apache-2.0 */
/* Edges as arrays of pairs (lib/import/read/pairs.h): shape (E, 2), shape (2, E), or two vectors.
 * For (2, E) in row-major order the same file is opened twice, the second reader skipping the first
 * half, so that sources and destinations arrive together without an array of all edges. */
#include "lib/import/read/pairs.h"

#include <string.h>

#include "lib/import/read/array.h"
#include "lib/base/plural.h"

enum { CHUNK = 1 << 13 };

/* Finds whether an edge's two ids lie side by side in memory: so they do in a row-major (E, 2) and
 * in a column-major (2, E) array. */
static int find_layout(struct gnn_pairs *p, const struct gnn_array *a, bool tall, struct gnn_err *e)
{
    const struct gnn_npy *h = &a->h;
    bool side = h->ndim == 2 && h->shape[1] == 2, top = h->ndim == 2 && h->shape[0] == 2;
    if (!side && !top)
        return gnn_fail(e, GNN_E_INPUT, "%s: edges must have shape (E, 2) or (2, E)",
                        gnn_array_name(a));
    if (side && top)
        side = tall;
    p->n = h->count / 2;
    p->rows = side == h->fortran;
    return GNN_OK;
}

int gnn_pairs_open(struct gnn_pairs *p, struct gnn_input *in, int a, int b, bool tall,
                   struct gnn_err *e)
{
    struct gnn_array first = {0}, second = {0};
    *p = (struct gnn_pairs){.in = in, .a = (uint32_t)a, .b = (uint32_t)(b < 0 ? a : b)};
    p->n = p->expected = UINT64_MAX;
    int rc = gnn_array_open(&first, in, p->a, e);
    if (!rc && b >= 0)
        rc = gnn_array_open(&second, in, p->b, e);
    if (!rc && b >= 0 &&
        (first.width != 1 || second.width != 1 || first.rows != second.rows || first.text ||
         second.text))
        rc = gnn_fail(e, GNN_E_INPUT, "%s and %s: not vectors of one length",
                      gnn_array_name(&first), gnn_array_name(&second));
    else if (!rc && b >= 0)
        p->n = first.rows;
    else if (!rc && first.text && first.t.ncols != 2 && first.t.ncols != 0)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: line %llu: %u field%s instead of 2",
                      gnn_array_name(&first), (unsigned long long)first.t.line, first.t.ncols,
                      gnn_plural(first.t.ncols));
    else if (!rc && !first.text)
        rc = find_layout(p, &first, tall, e);
    gnn_array_close(&first);
    gnn_array_close(&second);
    return rc;
}

int gnn_pairs_field(struct gnn_src *s, uint32_t t, struct gnn_pairs *p, const char *name,
                    struct gnn_input *in, uint32_t member, struct gnn_err *e)
{
    const struct gnn_etype *et = &s->d.schema.etype[t];
    struct gnn_array a;
    int rc = gnn_array_open(&a, in, member, e);
    enum gnn_dtype dt = GNN_F32;
    if (!rc && et->nfields == GNN_PAIRS_FIELDS)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: more than %d edge fields", gnn_array_name(&a),
                      GNN_PAIRS_FIELDS);
    if (!rc && a.rows != UINT64_MAX && p->n != UINT64_MAX && a.rows != p->n)
        rc = gnn_fail(e, GNN_E_INPUT, "%s: %llu row%s for %llu edge%s", gnn_array_name(&a),
                      (unsigned long long)a.rows, gnn_plural(a.rows), (unsigned long long)p->n,
                      gnn_plural(p->n));
    if (!rc && (!a.width || a.width > 4096))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: rows of %llu value%s", gnn_array_name(&a),
                      (unsigned long long)a.width, gnn_plural(a.width));
    if (!rc && gnn_field_find(et->field, et->nfields, name))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: a second edge field '%s'", gnn_array_name(&a), name);
    if (!rc && strcmp(name, "x") && strcmp(name, "weight"))
        rc = gnn_src_type(s, in, member, name, &dt, e);
    if (!rc) {
        p->field[et->nfields].in = in;
        p->field[et->nfields].member = member;
        rc = gnn_schema_add_efield(&s->d.schema, t, name, dt,
                                   a.width > 1 || !strcmp(name, "x") ? a.width : 0, e);
    }
    gnn_array_close(&a);
    return rc;
}

/* A pass under way. */
struct pass {
    const struct gnn_pairs *p;
    struct gnn_array a, b, field[GNN_PAIRS_FIELDS];
    uint32_t nfields;
    int64_t id[2 * CHUNK]; /* as read */
    uint32_t src[CHUNK], dst[CHUNK];
    void *row[GNN_PAIRS_FIELDS];
    uint64_t done;
    uint64_t max; /* edges a step: less where fields are wide */
};

static void pass_close(struct pass *ps)
{
    gnn_array_close(&ps->a);
    gnn_array_close(&ps->b);
    for (uint32_t f = 0; f < ps->nfields; f++) {
        gnn_array_close(&ps->field[f]);
        gnn_free(ps->row[f]);
    }
}

static int pass_open(struct pass *ps, const struct gnn_pairs *p, struct gnn_err *e)
{
    *ps = (struct pass){.p = p, .max = CHUNK};
    bool two = p->a != p->b || p->rows;
    int rc = gnn_array_open(&ps->a, p->in, p->a, e);
    if (!rc && two)
        rc = gnn_array_open(&ps->b, p->in, p->b, e);
    if (rc)
        return rc;
    uint64_t n = two ? p->n : 0;
    if (!ps->a.text) { /* seen as what lies in memory, whatever the order is called */
        struct gnn_array *a[] = {&ps->a, &ps->b};
        for (int i = 0; i < 2; i++) {
            if (!a[i]->text && a[i]->r && a[i]->h.count / (p->a == p->b ? 2 : 1) != p->n)
                return gnn_fail(e, GNN_E_INPUT, "%s: changed while it was read",
                                gnn_array_name(a[i]));
            a[i]->h.fortran = false;
            a[i]->rows = two && p->rows ? 2 * n : p->n;
            a[i]->width = two ? 1 : 2;
        }
    }
    return p->rows ? gnn_array_skip(&ps->b, n, e) : GNN_OK;
}

/* The next edges, source ids at id[i*step], destinations at id[off + i*step]. */
static int pass_read(struct pass *ps, uint64_t *n, uint64_t *step, uint64_t *off, struct gnn_err *e)
{
    const struct gnn_pairs *p = ps->p;
    uint64_t max = ps->max, other;
    *n = 0;
    *step = 2;
    *off = 1;
    if (ps->a.text && !ps->a.t.ncols)
        return GNN_OK;
    if (ps->a.text)
        return gnn_table_ids(&ps->a.t, (uint64_t *)ps->id, 2, max, n, e);
    if (p->a == p->b && !p->rows)
        return gnn_array_read(&ps->a, GNN_I64, ps->id, max, n, e);
    *step = 1;
    *off = CHUNK;
    if (max > p->n - ps->done)
        max = p->n - ps->done;
    *n = max;
    /* What follows the first half is the second one, so only there a read at the end would find
     * something; everywhere else it checks that the array ends. */
    int rc = GNN_OK;
    if (max || !p->rows)
        rc = gnn_array_read(&ps->a, GNN_I64, ps->id, max ? max : 1, &other, e);
    return rc ? rc : gnn_array_read(&ps->b, GNN_I64, ps->id + CHUNK, max ? max : 1, &other, e);
}

/* v: the source of edge i of the block, or its destination. type NULL: any number of nodes, below
 * `count`, is possible. */
static int bad_id(const struct pass *ps, uint64_t i, bool source, int64_t v, uint64_t count,
                  const char *type, struct gnn_err *e)
{
    const char *name = gnn_array_name(source || ps->p->a == ps->p->b ? &ps->a : &ps->b);
    if (!ps->a.text && v < 0)
        return gnn_fail(e, GNN_E_INPUT, "%s: edge %llu: a negative id %lld", name,
                        (unsigned long long)(ps->done + i + 1), (long long)v);
    if (!type)
        return gnn_fail(e, GNN_E_INPUT, "%s: edge %llu: id %lld, expected one below %llu", name,
                        (unsigned long long)(ps->done + i + 1), (long long)v,
                        (unsigned long long)count);
    return gnn_fail(e, GNN_E_INPUT, "%s: edge %llu: id %llu, but there are %llu node%s of type %s",
                    name, (unsigned long long)(ps->done + i + 1), (unsigned long long)v,
                    (unsigned long long)count, gnn_plural(count), type);
}

static int read_fields(struct pass *ps, const struct gnn_etype *et, uint64_t n, struct gnn_err *e)
{
    for (uint32_t f = 0; f < ps->nfields; f++) {
        uint64_t got = 0;
        int rc = gnn_array_read(&ps->field[f], et->field[f].dtype, ps->row[f], n ? n : 1, &got, e);
        if (!rc && got != n)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s rows than edges", gnn_array_name(&ps->field[f]),
                          got < n ? "fewer" : "more");
        if (!rc && gnn_src_finite(et->field[f].name))
            rc = gnn_src_check_finite(gnn_array_name(&ps->field[f]), et->field[f].name,
                                      et->field[f].dtype, ps->row[f], n, ps->field[f].width,
                                      ps->field[f].at - n + 1, e);
        if (rc)
            return rc;
    }
    return GNN_OK;
}

static int open_fields(struct pass *ps, const struct gnn_etype *et, struct gnn_err *e)
{
    for (uint32_t f = 0; f < et->nfields; f++) {
        uint64_t width = et->field[f].width ? et->field[f].width : 1;
        ps->nfields = f + 1;
        int rc = gnn_array_open(&ps->field[f], ps->p->field[f].in, ps->p->field[f].member, e);
        if (!rc && ps->field[f].width != width)
            rc = gnn_fail(e, GNN_E_INPUT, "%s: changed while it was read",
                          gnn_array_name(&ps->field[f]));
        if (rc)
            return rc;
        /* Fields of many columns make smaller steps: at most 2^20 values. */
        if (ps->max > (1 << 20) / width)
            ps->max = (1 << 20) / width; /* width is at most 4096 */
        ps->row[f] = gnn_alloc(ps->max * width, 8, "edge fields", e);
        if (!ps->row[f])
            return GNN_E_NOMEM;
    }
    return GNN_OK;
}

int gnn_pairs_edges(struct gnn_dataset *d, uint32_t t, const struct gnn_pairs *p, bool fields,
                    gnn_edge_fn *fn, void *arg, struct gnn_err *e)
{
    const struct gnn_etype *et = &d->schema.etype[t];
    const struct gnn_ntype *st = &d->schema.ntype[et->src], *dt = &d->schema.ntype[et->dst];
    struct pass ps;
    int rc = pass_open(&ps, p, e);
    fields = fields && et->nfields;
    if (!rc && fields)
        rc = open_fields(&ps, et, e);
    for (uint64_t n = 1, step, off; !rc && n; ps.done += n) {
        rc = pass_read(&ps, &n, &step, &off, e);
        for (uint64_t i = 0; !rc && i < n; i++) {
            uint64_t s = (uint64_t)ps.id[i * step], v = (uint64_t)ps.id[off + i * step];
            if (s >= st->count)
                rc = bad_id(&ps, i, true, (int64_t)s, st->count, st->name, e);
            else if (v >= dt->count)
                rc = bad_id(&ps, i, false, (int64_t)v, dt->count, dt->name, e);
            ps.src[i] = (uint32_t)s;
            ps.dst[i] = (uint32_t)v;
        }
        if (!rc && p->expected != UINT64_MAX &&
            (n ? ps.done + n > p->expected : ps.done != p->expected))
            rc = gnn_fail(e, GNN_E_INPUT, "%s: %s than the %llu edge%s declared",
                          gnn_array_name(&ps.a), n ? "more" : "fewer",
                          (unsigned long long)p->expected, gnn_plural(p->expected));
        if (!rc && fields)
            rc = read_fields(&ps, et, n, e);
        struct gnn_edge_chunk c = {n, ps.src, ps.dst, fields ? (const void *const *)ps.row : NULL};
        if (!rc && n)
            rc = fn(arg, &c, e);
    }
    for (uint32_t f = 0; !rc && f < ps.nfields; f++)
        rc = gnn_lost_tell(d, gnn_array_name(&ps.field[f]), et->field[f].name,
                           gnn_array_lost(&ps.field[f]), e);
    pass_close(&ps);
    return rc;
}

int gnn_pairs_scan(const struct gnn_pairs *p, uint64_t *n, int64_t max[2], struct gnn_err *e)
{
    struct pass ps;
    int rc = pass_open(&ps, p, e);
    max[0] = max[1] = -1;
    for (uint64_t k = 1, step, off; !rc && k; ps.done += k) {
        rc = pass_read(&ps, &k, &step, &off, e);
        for (uint64_t i = 0; !rc && i < k; i++) {
            int64_t s = ps.id[i * step], v = ps.id[off + i * step];
            const bool source = s < 0 || s > UINT32_MAX - 2;
            if (source || v < 0 || v > UINT32_MAX - 2)
                rc = bad_id(&ps, i, source, source ? s : v, UINT32_MAX - 1, NULL, e);
            max[0] = s > max[0] ? s : max[0];
            max[1] = v > max[1] ? v : max[1];
        }
    }
    *n = ps.done;
    pass_close(&ps);
    return rc;
}
