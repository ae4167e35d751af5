/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of an imported store: for each edge type count, sort and write. */
#include <string.h>

#include "lib/import/build/build_impl.h"
#include "lib/import/build/reverses.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

/* One edge type while its edges stream by. */
struct pass {
    struct build *b;
    struct plan *p;
    struct gnn_direction_counter *dir; /* counts edges as the input has them, or NULL */
    uint64_t done;                     /* edges counted, or written */
    struct gnn_buf effective;          /* times of a window */
};

static void tell_progress(const struct build *b, const char *what, uint64_t done, uint64_t total)
{
    if (b->o->progress)
        b->o->progress(what, done, total);
}

static bool bit_test_set(uint64_t *bits, uint64_t i)
{
    uint64_t m = 1ull << (i & 63), old = bits[i >> 6];
    bits[i >> 6] = old | m;
    return old & m;
}

static int check_ids(const struct build *b, const uint32_t *v, uint64_t n, uint64_t count,
                     const char *what, struct gnn_err *e)
{
    uint32_t max = 0;
    for (uint64_t i = 0; i < n; i++)
        max = v[i] > max ? v[i] : max;
    if (n && max >= count)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s id %u, but there are %llu node%s", b->d->name, what,
                        max, (unsigned long long)count, gnn_plural(count));
    return GNN_OK;
}

int gnn_build_check(const struct build *b, const struct plan *p, const struct gnn_edge_chunk *c,
                    struct gnn_err *e)
{
    const struct gnn_schema *s = &b->d->schema;
    const struct gnn_etype *in = &s->etype[p->in];
    int rc = check_ids(b, c->src, c->n, s->ntype[in->src].count, "source", e);
    return rc ? rc : check_ids(b, c->dst, c->n, s->ntype[in->dst].count, "destination", e);
}

static int count_chunk(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct pass *ps = arg;
    struct plan *p = ps->p;
    int rc = gnn_build_check(ps->b, ps->p, c, e);
    if (rc)
        return rc;
    gnn_csc_count(&p->sort.csc, c->src, c->dst, c->n);
    if (ps->dir && (rc = gnn_direction_add(ps->dir, c->src, c->dst, c->n, e)))
        return rc;
    ps->done += c->n;
    tell_progress(ps->b, "counting edges", ps->done, ps->b->d->schema.etype[p->in].count);
    if (p->add_loops)
        for (uint64_t i = 0; i < c->n; i++)
            if (c->src[i] == c->dst[i])
                bit_test_set(p->has_loop, c->src[i]);
    return GNN_OK;
}

static void pass_init(struct pass *ps, struct build *b, struct plan *p)
{
    *ps = (struct pass){.b = b, .p = p};
}

static int count_edges(struct build *b, uint32_t t, struct gnn_direction_counter *dir,
                       struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    struct pass ps;
    pass_init(&ps, b, p);
    ps.dir = dir;
    gnn_csc_release(&p->sort.csc);
    int rc = gnn_csc_init(&p->sort.csc, b->meta.schema.ntype[b->meta.schema.etype[t].dst].count,
                          p->mode, e);
    return rc ? rc : b->d->ops->edges(b->d, p->in, false, count_chunk, &ps, e);
}

static void add_loops(struct plan *p)
{
    for (uint64_t v = 0; p->add_loops && v < p->sort.csc.ndst; v++)
        if (!(p->has_loop[v >> 6] >> (v & 63) & 1)) {
            p->sort.csc.indptr[v]++;
            p->sort.csc.nedges++;
            p->loops_added++;
        }
}

int gnn_build_count(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const struct gnn_etype *et = &b->meta.schema.etype[t], *in = &b->d->schema.etype[p->in];
    const bool same = et->src == et->dst;
    const uint64_t n = b->meta.schema.ntype[et->dst].count,
                   most = b->o->sort_bytes / GNN_DIRECTION_BYTES;
    const uint64_t capacity = b->d->made ? GNN_DIRECTION_QUICK : GNN_DIRECTION_CAPACITY;
    struct gnn_direction_counter c = {0};
    char key[GNN_ETYPE_KEY_CAPACITY];
    bool again = false;
    int rc = GNN_OK;
    if (p->add_loops &&
        !(p->has_loop = gnn_alloc_zero(n / 64 + 1, sizeof *p->has_loop, "self-loops", e)))
        return GNN_E_NOMEM;
    gnn_direction_init(&c, same, in->src > in->dst, n, most && most < capacity ? most : capacity,
                       1);
    rc = count_edges(b, t, &c, e);
    if (!rc)
        rc = gnn_direction_next(&c, &again, e);
    again = false; /* there is one part */
    if (!rc && p->mode & GNN_CSC_REV)
        rc = gnn_reverses_check(b->d, b->o, gnn_etype_key(&b->meta.schema, t, key, sizeof key), &c,
                                &again, e);
    if (!rc && again) {
        b->st.two_way++;
        p->mode &= ~(unsigned)GNN_CSC_REV;
        rc = count_edges(b, t, NULL, e);
    }
    gnn_direction_sum(&c, same && p->mode & GNN_CSC_REV, p->mode & GNN_CSC_DROP_LOOPS, b->o->dedup,
                      &p->dir);
    p->read = c.edges;
    p->balance = c.balance;
    gnn_direction_release(&c);
    if (!rc)
        add_loops(p);
    return rc;
}

/* ---- sorting ---- */

/* Memory for sorting type t. With --dedup all types are sorted before the store is laid out: each
 * has its share of what those before it have left. */
static uint64_t memory_for(const struct build *b, uint32_t t)
{
    const uint64_t most = b->o->sort_bytes ? b->o->sort_bytes : (uint64_t)1 << 30;
    if (!b->o->dedup)
        return most;
    return (most > b->held ? most - b->held : 0) / (b->meta.schema.netypes - t);
}

static int sort_chunk(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct pass *ps = arg;
    struct gnn_sort *s = &ps->p->sort;
    tell_progress(ps->b, "placing edges", s->put, s->csc.nedges);
    int rc = gnn_build_check(ps->b, ps->p, c, e);
    return rc ? rc : gnn_sort_put(s, c->src, c->dst, c->n, c->field, e);
}

/* Of the fields of an added self-loop only the weight is not 0. */
static int sort_loops(struct plan *p, const struct gnn_etype *in, const size_t *size,
                      struct gnn_err *e)
{
    const void *row[GNN_FIELDS_MAX];
    const float one = 1;
    size_t widest = 1;
    for (uint32_t f = 0; f < in->nfields; f++)
        widest = size[f] > widest ? size[f] : widest;
    void *zero = gnn_alloc_zero(widest, 1, "edge fields", e);
    int rc = zero ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t f = 0; f < in->nfields; f++)
        row[f] =
            !strcmp(in->field[f].name, "weight") && in->field[f].dtype == GNN_F32 ? &one : zero;
    for (uint64_t v = 0; !rc && v < p->sort.csc.ndst; v++) {
        uint32_t id = (uint32_t)v;
        if (!(p->has_loop[v >> 6] >> (v & 63) & 1))
            rc = gnn_sort_put(&p->sort, &id, &id, 1, row, e);
    }
    gnn_free(zero);
    return rc;
}

/* Puts the edges of type t into its sort. */
static int sort_etype(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const struct gnn_etype *in = &b->d->schema.etype[p->in];
    const size_t effective = p->order.raised ? 8 : 0;
    size_t row[GNN_FIELDS_MAX];
    struct pass ps;
    pass_init(&ps, b, p);
    for (uint32_t f = 0; f < in->nfields; f++)
        row[f] =
            gnn_dtype_bytes(in->field[f].dtype) * (in->field[f].width ? in->field[f].width : 1);
    int rc = gnn_sort_init(&p->sort, row, in->nfields, effective, b->path, memory_for(b, t), e);
    if (!rc)
        rc = b->d->ops->edges(b->d, p->in, in->nfields > 0, sort_chunk, &ps, e);
    if (!rc && p->add_loops)
        rc = sort_loops(p, in, row, e);
    return rc;
}

int gnn_build_dedup(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    int rc = sort_etype(b, t, e);
    const uint64_t before = p->sort.csc.nedges;
    if (!rc)
        rc = gnn_sort_dedup(&p->sort, e);
    if (rc)
        return rc;
    b->held += gnn_sort_held(&p->sort);
    p->duplicates = before - p->sort.csc.nedges;
    return GNN_OK;
}

/* ---- writing ---- */

static int write_sorted(void *arg, uint32_t which, const void *data, uint64_t bytes,
                        struct gnn_err *e)
{
    struct pass *ps = arg;
    if (!which) {
        ps->done += bytes / sizeof(uint32_t);
        tell_progress(ps->b, "sorting edges", ps->done, ps->p->sort.csc.nedges);
    }
    return gnn_part_write(&ps->b->w, which ? ps->p->field_id[which - 1] : ps->p->indices_id, data,
                          bytes, e);
}

/* Sorts what lies in the window by time, and writes effective times, which it does not have. */
static int order_window(void *arg, struct gnn_sort *s, const uint64_t *end, uint64_t first,
                        uint64_t n, struct gnn_err *e)
{
    struct pass *ps = arg;
    const struct plan *p = ps->p;
    const uint64_t edges = n ? end[n - 1] - first : 0;
    void *field[GNN_FIELDS_MAX];
    for (uint32_t f = 0; f < s->nfields; f++)
        field[f] = s->field[f].data;
    if (p->order.raised && gnn_buf_fit(&ps->effective, edges, 8, "times of edges", e))
        return e->code;
    const struct gnn_order_rows rows = {end,   first,  n,          s->indices.data,
                                        field, s->row, s->nfields, ps->effective.data};
    tell_progress(ps->b, "sorting by time", ps->done, s->csc.nedges);
    if (gnn_order_sort(&p->order, &rows, ps->b->o->threads, e) || !p->order.raised)
        return e->code;
    return gnn_part_write(&ps->b->w, p->field_id[s->nfields], ps->effective.data, edges * 8, e);
}

int gnn_build_edges(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const struct gnn_csc *c = &p->sort.csc;
    struct pass ps;
    pass_init(&ps, b, p);
    if (!b->o->dedup && sort_etype(b, t, e))
        return e->code;
    if (b->meta.schema.etype[t].order)
        p->sort.window_fn = order_window;
    int rc = gnn_sort_each(&p->sort, write_sorted, &ps, e);
    gnn_buf_release(&ps.effective);
    if (!rc)
        rc = gnn_part_write(&b->w, p->indptr_id, c->indptr, (c->ndst + 1) * sizeof *c->indptr, e);
    gnn_sort_release(&p->sort);
    return rc;
}
