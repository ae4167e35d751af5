/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of an imported store: for each edge type count, place and write. */
#include <string.h>

#include "lib/import/build/build_impl.h"
#include "lib/import/build/reverses.h"
#include "lib/base/mem.h"

/* One edge type while its edges stream by. */
struct pass {
    struct build *b;
    struct plan *p;
    struct gnn_direction_counter *dir; /* counts edges as the input has them, or NULL */
    uint64_t *at;                      /* positions of a chunk's edges */
    uint64_t room;
    void **field;     /* mapped tensors of the fields */
    uint64_t *filled; /* bit per edge, with --dedup: the first of equal edges gives the fields */
    uint64_t done;    /* edges counted */
    struct gnn_buf effective; /* times of a window */
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
        return gnn_fail(e, GNN_E_INPUT, "%s: %s id %u, but there are %llu nodes", b->d->name, what,
                        max, (unsigned long long)count);
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
    gnn_csc_count(&p->csc, c->src, c->dst, c->n);
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

static int place_chunk(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct pass *ps = arg;
    struct gnn_csc *csc = &ps->p->csc;
    tell_progress(ps->b, "placing edges", csc->placed, csc->nedges);
    int rc = gnn_build_check(ps->b, ps->p, c, e);
    if (rc || !ps->at)
        return rc ? rc : gnn_csc_place(csc, c->src, c->dst, c->n, NULL, e);
    const struct gnn_etype *et = &ps->b->d->schema.etype[ps->p->in];
    for (uint64_t from = 0; from < c->n; from += ps->room) {
        uint64_t n = c->n - from < ps->room ? c->n - from : ps->room;
        rc = gnn_csc_place(csc, c->src + from, c->dst + from, n, ps->at, e);
        if (rc)
            return rc;
        for (uint32_t f = 0; f < et->nfields; f++) {
            size_t row =
                gnn_dtype_bytes(et->field[f].dtype) * (et->field[f].width ? et->field[f].width : 1);
            const char *rows = (const char *)c->field[f] + from * row;
            for (uint64_t i = 0; i < 2 * n; i++)
                if (ps->at[i] != UINT64_MAX)
                    memcpy((char *)ps->field[f] + ps->at[i] * row, rows + i / 2 * row, row);
        }
    }
    return GNN_OK;
}

/* Fields of a deduplicated type: the edge's place is looked up. */
static int field_chunk(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct pass *ps = arg;
    const struct gnn_csc *csc = &ps->p->csc;
    const struct gnn_etype *et = &ps->b->d->schema.etype[ps->p->in];
    (void)e;
    for (uint64_t i = 0; i < 2 * c->n; i++) {
        uint32_t s = c->src[i / 2], d = c->dst[i / 2];
        if (!(csc->mode & (i & 1 ? GNN_CSC_REV : GNN_CSC_FWD)))
            continue;
        if (i & 1) {
            uint32_t t = s;
            s = d, d = t;
        }
        uint64_t at = d < csc->ndst ? gnn_csc_find(csc, s, d) : UINT64_MAX;
        if (at == UINT64_MAX || bit_test_set(ps->filled, at))
            continue;
        for (uint32_t f = 0; f < et->nfields; f++) {
            size_t row =
                gnn_dtype_bytes(et->field[f].dtype) * (et->field[f].width ? et->field[f].width : 1);
            memcpy((char *)ps->field[f] + at * row, (const char *)c->field[f] + i / 2 * row, row);
        }
    }
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
    gnn_csc_release(&p->csc);
    int rc =
        gnn_csc_init(&p->csc, b->meta.schema.ntype[b->meta.schema.etype[t].dst].count, p->mode, e);
    return rc ? rc : b->d->ops->edges(b->d, p->in, false, count_chunk, &ps, e);
}

static void add_loops(struct plan *p)
{
    for (uint64_t v = 0; p->add_loops && v < p->csc.ndst; v++)
        if (!(p->has_loop[v >> 6] >> (v & 63) & 1)) {
            p->csc.indptr[v]++;
            p->csc.nedges++;
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
    const uint64_t room = b->d->made ? GNN_DIRECTION_QUICK : GNN_DIRECTION_ROOM;
    struct gnn_direction_counter c = {0};
    char key[GNN_ETYPE_KEY_ROOM];
    bool again = false;
    int rc = GNN_OK;
    if (p->add_loops &&
        !(p->has_loop = gnn_alloc_zero(n / 64 + 1, sizeof *p->has_loop, "self-loops", e)))
        return GNN_E_NOMEM;
    gnn_direction_init(&c, same, in->src > in->dst, n, most && most < room ? most : room, 1);
    rc = count_edges(b, t, &c, e);
    if (!rc)
        rc = gnn_direction_next(&c, &again, e);
    again = false;
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

/* ---- more edges than memory should hold ---- */

static bool too_many(const struct build *b, const struct plan *p)
{
    uint64_t most = b->o->sort_bytes ? b->o->sort_bytes : (uint64_t)1 << 30;
    const uint32_t nfields = b->d->schema.etype[p->in].nfields + p->order.raised;
    return gnn_spill_bytes(&p->csc, p->row, nfields) > most;
}

static int spill_chunk(void *arg, const struct gnn_edge_chunk *c, struct gnn_err *e)
{
    struct pass *ps = arg;
    tell_progress(ps->b, "placing edges", ps->p->csc.placed, ps->p->csc.nedges);
    int rc = gnn_build_check(ps->b, ps->p, c, e);
    return rc ? rc : gnn_spill_put(&ps->p->spill, c->src, c->dst, c->n, c->field, e);
}

/* Of the fields of an added self-loop only the weight is not 0. */
static int spill_loops(struct build *b, struct plan *p, struct gnn_err *e)
{
    const struct gnn_etype *in = &b->d->schema.etype[p->in];
    const void *row[GNN_FIELDS_MAX];
    const float one = 1;
    size_t widest = 1;
    for (uint32_t f = 0; f < in->nfields; f++)
        widest = p->row[f] > widest ? p->row[f] : widest;
    void *zero = gnn_alloc_zero(widest, 1, "edge fields", e);
    int rc = zero ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t f = 0; f < in->nfields; f++)
        row[f] =
            !strcmp(in->field[f].name, "weight") && in->field[f].dtype == GNN_F32 ? &one : zero;
    for (uint64_t v = 0; !rc && v < p->csc.ndst; v++) {
        uint32_t id = (uint32_t)v;
        if (!(p->has_loop[v >> 6] >> (v & 63) & 1))
            rc = gnn_spill_put(&p->spill, &id, &id, 1, row, e);
    }
    gnn_free(zero);
    return rc;
}

static int spill_etype(struct build *b, struct plan *p, struct gnn_err *e)
{
    const struct gnn_etype *in = &b->d->schema.etype[p->in];
    uint64_t most = b->o->sort_bytes ? b->o->sort_bytes : (uint64_t)1 << 30;
    unsigned mode = p->csc.mode;
    struct pass ps;
    pass_init(&ps, b, p);
    p->spilled = true;
    gnn_csc_offsets(&p->csc);
    int rc = gnn_spill_init(&p->spill, &p->csc, p->row, in->nfields, b->path, most, e);
    if (!rc)
        rc = b->d->ops->edges(b->d, p->in, in->nfields > 0, spill_chunk, &ps, e);
    p->csc.mode = GNN_CSC_FWD;
    if (!rc && p->add_loops)
        rc = spill_loops(b, p, e);
    p->csc.mode = mode;
    return rc;
}

static int write_sorted(void *arg, uint32_t which, const void *data, uint64_t bytes,
                        struct gnn_err *e)
{
    struct pass *ps = arg;
    if (!which) {
        ps->done += bytes / sizeof(uint32_t);
        tell_progress(ps->b, "sorting edges", ps->done, ps->p->csc.nedges);
    }
    return gnn_part_write(&ps->b->w, which ? ps->p->field_id[which - 1] : ps->p->indices_id, data,
                          bytes, e);
}

/* Sorts what lies in the window by time, and writes effective times, which the file does not have.
 */
static int order_window(void *arg, struct gnn_spill *s, const uint64_t *end, uint64_t first,
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
    if (gnn_order_sort(&p->order, &rows, ps->b->o->threads, e) || !p->order.raised)
        return e->code;
    return gnn_part_write(&ps->b->w, p->field_id[s->nfields], ps->effective.data, edges * 8, e);
}

static int write_spilled(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    struct pass ps;
    pass_init(&ps, b, p);
    if (b->meta.schema.etype[t].order)
        p->spill.window_fn = order_window;
    int rc = gnn_spill_each(&p->spill, write_sorted, &ps, e);
    gnn_buf_release(&ps.effective);
    gnn_spill_release(&p->spill);
    if (!rc)
        rc = gnn_part_write(&b->w, p->indptr_id, p->csc.indptr,
                            (p->csc.ndst + 1) * sizeof *p->csc.indptr, e);
    gnn_csc_release(&p->csc);
    return rc;
}

/* ---- edges in memory ---- */

static int place_loops(struct build *b, struct plan *p, void **field, struct gnn_err *e)
{
    if (!p->add_loops)
        return GNN_OK;
    const struct gnn_etype *in = &b->d->schema.etype[p->in];
    unsigned mode = p->csc.mode;
    p->csc.mode = GNN_CSC_FWD;
    int rc = GNN_OK;
    for (uint64_t v = 0; !rc && v < p->csc.ndst; v++) {
        if (p->has_loop[v >> 6] >> (v & 63) & 1)
            continue;
        uint32_t id = (uint32_t)v;
        uint64_t at[2];
        rc = gnn_csc_place(&p->csc, &id, &id, 1, at, e);
        for (uint32_t f = 0; !rc && field && f < in->nfields; f++)
            if (!strcmp(in->field[f].name, "weight") && in->field[f].dtype == GNN_F32 &&
                at[0] != UINT64_MAX)
                ((float *)field[f])[at[0]] = 1;
    }
    p->csc.mode = mode;
    return rc;
}

static int map_fields(struct build *b, uint32_t t, void ***out, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const struct gnn_etype *et = &b->meta.schema.etype[t];
    void **field = gnn_alloc_zero(et->nfields, sizeof *field, "edge fields", e);
    int rc = field ? GNN_OK : GNN_E_NOMEM;
    for (uint32_t f = 0; !rc && f < et->nfields; f++)
        rc = gnn_part_map(&b->w, p->field_id[f], &field[f], e);
    *out = field;
    return rc;
}

/* Fills csc.indices, and the mapped fields if there are any. */
static int place_etype(struct build *b, uint32_t t, void **field, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    struct pass ps;
    pass_init(&ps, b, p);
    int rc = gnn_csc_ready(&p->csc, e);
    if (!rc && field) {
        ps.room = 1 << 16;
        ps.field = field;
        ps.at = gnn_alloc(2 * ps.room, sizeof *ps.at, "edge positions", e);
        rc = ps.at ? GNN_OK : GNN_E_NOMEM;
    }
    if (!rc)
        rc = b->d->ops->edges(b->d, p->in, field != NULL, place_chunk, &ps, e);
    if (!rc)
        rc = place_loops(b, p, field, e);
    if (!rc)
        rc = gnn_csc_done(&p->csc, e);
    gnn_free(ps.at);
    return rc;
}

static int dedup_fields(struct build *b, uint32_t t, void **field, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const struct gnn_etype *in = &b->d->schema.etype[p->in];
    struct pass ps;
    pass_init(&ps, b, p);
    ps.field = field;
    ps.filled = gnn_alloc_zero(p->csc.nedges / 64 + 1, sizeof *ps.filled, "edge fields", e);
    int rc = ps.filled ? GNN_OK : GNN_E_NOMEM;
    if (!rc)
        rc = b->d->ops->edges(b->d, p->in, true, field_chunk, &ps, e);
    for (uint64_t v = 0; !rc && p->add_loops && v < p->csc.ndst; v++)
        for (uint32_t f = 0; f < in->nfields; f++)
            if (!(p->has_loop[v >> 6] >> (v & 63) & 1) && !strcmp(in->field[f].name, "weight") &&
                in->field[f].dtype == GNN_F32)
                ((float *)field[f])[gnn_csc_find(&p->csc, (uint32_t)v, (uint32_t)v)] = 1;
    gnn_free(ps.filled);
    return rc;
}

static int order_edges(struct build *b, uint32_t t, void **field, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    const uint32_t nfields = b->d->schema.etype[p->in].nfields;
    const struct gnn_order_rows rows = {p->csc.indptr + 1,
                                        0,
                                        p->csc.ndst,
                                        p->csc.indices,
                                        field,
                                        p->row,
                                        nfields,
                                        p->order.raised ? field[nfields] : NULL};
    tell_progress(b, "sorting by time", 0, 0);
    return gnn_order_sort(&p->order, &rows, b->o->threads, e);
}

int gnn_build_edges(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    struct gnn_csc *c = &p->csc;
    void **field = NULL;
    if (!b->o->dedup && too_many(b, p) && spill_etype(b, p, e))
        return e->code;
    if (p->spilled)
        return write_spilled(b, t, e);
    int rc = b->meta.schema.etype[t].nfields ? map_fields(b, t, &field, e) : GNN_OK;
    if (!rc && !b->o->dedup)
        rc = place_etype(b, t, field, e);
    else if (!rc && field)
        rc = dedup_fields(b, t, field, e);
    if (!rc && b->meta.schema.etype[t].order)
        rc = order_edges(b, t, field, e);
    if (!rc)
        rc = gnn_part_write(&b->w, p->indptr_id, c->indptr, (c->ndst + 1) * sizeof *c->indptr, e);
    if (!rc)
        rc = gnn_part_write(&b->w, p->indices_id, c->indices, c->nedges * sizeof *c->indices, e);
    gnn_free(field);
    gnn_csc_release(c);
    return rc;
}

int gnn_build_dedup(struct build *b, uint32_t t, struct gnn_err *e)
{
    struct plan *p = &b->plan[t];
    uint64_t before = p->csc.nedges;
    int rc;
    if (too_many(b, p)) {
        rc = spill_etype(b, p, e);
        if (!rc)
            rc = gnn_spill_dedup(&p->spill, e);
    } else {
        rc = place_etype(b, t, NULL, e);
        if (!rc)
            gnn_csc_dedup(&p->csc);
    }
    p->duplicates = rc ? 0 : before - p->csc.nedges;
    return rc;
}
