/* SPDX-License-Identifier: Apache-2.0 */
/* A store of k parts from any store: splits, book, and the order of things. Nodes are in
 * rewrite_nodes.c, edges in rewrite_edges.c, the walk over the input in rewrite_walk.c. */
#include "lib/partition/rewrite_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- splits ---- */

/* Members of a set per element: of links, a head and a tail, of which the tail decides the part. */
static unsigned set_width(const struct gnn_split_set *ss)
{
    return ss->links ? 2 : 1;
}

static uint32_t set_fields(const struct gnn_rewrite *r, uint32_t i)
{
    const struct gnn_schema *c = &r->l->view->store->meta.schema;
    return c->set[i].fields ? c->etype[c->set[i].etype].nfields : 0;
}

static int read_fields(struct gnn_rewrite *r, uint32_t i, struct gnn_err *e)
{
    struct gnn_store *s = r->l->view->store;
    const uint32_t many = set_fields(r, i);
    r->fields[i] = gnn_alloc_zero(many, sizeof *r->fields[i], "fields of links", e);
    for (uint32_t k = 0; k < many && !e->code; k++) {
        const struct gnn_field *f = gnn_link_field(&s->meta.schema, i, k);
        if (f)
            (void)!gnn_store_link_field(s, i, f, &r->fields[i][k], e);
    }
    return e->code;
}

/* Original ids of the set's members. */
static int read_set(struct gnn_rewrite *r, uint32_t i, struct gnn_err *e)
{
    const struct gnn_view *v = r->l->view;
    const struct gnn_schema *sc = &v->store->meta.schema;
    const struct gnn_split_set *ss = &sc->set[i];
    const unsigned width = set_width(ss);
    if (ss->links
            ? gnn_store_links(v->store, i, &r->members[i], &r->times[i], e) || read_fields(r, i, e)
            : gnn_store_split(v->store, i, &r->members[i], e))
        return e->code;
    uint32_t *x = r->members[i];
    for (uint64_t j = 0; j < ss->count; j++, x += width) {
        if (ss->links)
            x[0] = gnn_view_orig(v, sc->etype[ss->etype].src, x[0]);
        x[width - 1] = gnn_view_orig(v, ss->ntype, x[width - 1]);
    }
    return 0;
}

/* Groups the members of a set by part, once for all parts, and gives them their new ids. */
static int set_init(struct gnn_rewrite *r, uint32_t i, struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const struct gnn_split_set *ss = &sc->set[i];
    const uint32_t t = ss->ntype, *part = l->part + l->view->base[t];
    const unsigned width = set_width(ss);
    if (read_set(r, i, e))
        return e->code;
    uint64_t *at = r->cursor[i] = gnn_alloc_zero((uint64_t)l->k + 1, sizeof *at, "splits", e);
    uint64_t *sorted = r->sorted[i] = gnn_alloc(ss->count, sizeof *sorted, "splits", e);
    if (!at || !sorted)
        return e->code;
    uint32_t *own = r->members[i] + (width - 1);
    for (uint64_t j = 0; j < ss->count; j++)
        at[part[own[width * j]] + 1]++;
    for (uint32_t p = 0; p < l->k; p++)
        at[p + 1] += at[p];
    for (uint64_t j = 0; j < ss->count; j++) {
        uint32_t *x = &own[width * j];
        sorted[at[part[*x]]++] = j;
        *x = l->to_new[t][*x];
        if (ss->links)
            x[-1] = l->to_new[sc->etype[ss->etype].src][x[-1]];
    }
    for (uint32_t p = l->k; p > 0; p--)
        at[p] = at[p - 1];
    at[0] = 0;
    return GNN_OK;
}

static int sets_init(struct gnn_rewrite *r, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    r->sorted = gnn_alloc_zero(sc->nsets, sizeof *r->sorted, "splits", e);
    r->cursor = gnn_alloc_zero(sc->nsets, sizeof *r->cursor, "splits", e);
    r->members = gnn_alloc_zero(sc->nsets, sizeof *r->members, "splits", e);
    r->times = gnn_alloc_zero(sc->nsets, sizeof *r->times, "splits", e);
    r->fields = gnn_alloc_zero(sc->nsets, sizeof *r->fields, "splits", e);
    for (uint32_t i = 0; i < sc->nsets && !e->code; i++)
        (void)!set_init(r, i, e);
    return e->code;
}

/* Writes the rows of a part's members, of all those of the set. */
static int write_rows(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, const void *rows,
                      size_t row, struct gnn_err *e)
{
    const struct gnn_rewrite *r = p->r;
    const uint64_t *at = r->cursor[j->type];
    for (uint64_t i = at[p->part]; i < at[p->part + 1]; i++)
        if (gnn_sink_put(&j->sink, (const char *)rows + r->sorted[j->type][i] * row, row, e))
            return e->code;
    return gnn_sink_flush(&j->sink, e);
}

static int write_set(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, struct gnn_err *e)
{
    return write_rows(p, j, p->r->members[j->type],
                      set_width(&p->r->l->view->store->meta.schema.set[j->type]) * sizeof(uint32_t),
                      e);
}

static int write_times(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                       struct gnn_err *e)
{
    return write_rows(p, j, p->r->times[j->type], sizeof(int64_t), e);
}

static int write_field(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                       struct gnn_err *e)
{
    return write_rows(p, j, p->r->fields[j->type][j->walk], j->row, e);
}

/* What links of a set have of their edges; job.walk: which field. */
static int declare_fields(struct gnn_rewrite_part *p, uint32_t i, uint64_t m, struct gnn_err *e)
{
    const struct gnn_schema *c = &p->r->l->view->store->meta.schema;
    for (uint32_t k = 0; k < set_fields(p->r, i); k++) {
        const struct gnn_field *f = gnn_link_field(c, i, k);
        const struct gnn_rewrite_job j = {
            .write = write_field, .type = i, .walk = k, .row = f ? gnn_dtype_bytes(f->dtype) : 0};
        if (f && gnn_rewrite_declare(p, j, f->dtype, 1, &m, e, "split/%s/%s/edge/%s",
                                     c->set[i].split, c->set[i].set, f->name))
            return e->code;
    }
    return 0;
}

static int write_order(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                       struct gnn_err *e)
{
    const uint64_t *at = p->r->cursor[j->type];
    if (gnn_sink_put(&j->sink, p->r->sorted[j->type] + at[p->part],
                     (at[p->part + 1] - at[p->part]) * sizeof(uint64_t), e))
        return e->code;
    return gnn_sink_flush(&j->sink, e);
}

static int declare_set(struct gnn_rewrite_part *p, uint32_t i, struct gnn_err *e)
{
    const struct gnn_rewrite *r = p->r;
    const struct gnn_split_set *ss = &r->l->view->store->meta.schema.set[i];
    const uint64_t m = r->cursor[i][p->part + 1] - r->cursor[i][p->part], shape[2] = {m, 2};
    struct gnn_rewrite_job j = {.write = write_set, .type = i};

    p->fig->set[i] = m;
    if (gnn_rewrite_declare(p, j, GNN_U32, set_width(ss), shape, e, "split/%s/%s", ss->split,
                            ss->set))
        return e->code;
    j.write = write_times;
    if (ss->time &&
        gnn_rewrite_declare(p, j, ss->time, 1, &m, e, "split/%s/%s/time", ss->split, ss->set))
        return e->code;
    if (declare_fields(p, i, m, e))
        return e->code;
    j.write = write_order;
    if (r->named &&
        gnn_rewrite_declare(p, j, GNN_U64, 1, &m, e, "split/%s/%s/order", ss->split, ss->set))
        return e->code;
    return GNN_OK;
}

/* ---- book ---- */

static int write_book(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j,
                      struct gnn_err *e)
{
    const struct gnn_layout *l = p->r->l;
    return gnn_part_write(j->sink.w, j->sink.id, l->book[j->type],
                          ((uint64_t)l->k + 1) * sizeof(uint64_t), e);
}

static int declare_book(struct gnn_rewrite_part *p, uint32_t t, struct gnn_err *e)
{
    uint64_t k1 = (uint64_t)p->r->l->k + 1;
    struct gnn_rewrite_job book = {.write = write_book, .type = t};
    return gnn_rewrite_declare(p, book, GNN_U64, 1, &k1, e, "book/%s",
                               p->r->l->view->store->meta.schema.ntype[t].name);
}

/* ---- all of it ---- */

static int declare_part(struct gnn_rewrite_part *p, struct gnn_err *e)
{
    const struct gnn_schema *sc = &p->r->l->view->store->meta.schema;

    if (gnn_part_begin(&p->w, p->part, e))
        return e->code;
    /* In gnn-import's order, so that a store put together again is the one that was imported. */
    for (uint32_t t = 0; t < sc->nntypes; t++)
        if (gnn_rewrite_nodes(p, t, e) || declare_book(p, t, e))
            return e->code;
    for (uint32_t et = 0; et < sc->netypes; et++)
        if (gnn_rewrite_edges(p, et, false, e))
            return e->code;
    for (uint32_t i = 0; i < sc->nsets; i++)
        if (declare_set(p, i, e))
            return e->code;
    if (p->r->named && gnn_rewrite_halo(p, e))
        return e->code;
    return gnn_part_layout(&p->w, e);
}

static void part_release(struct gnn_rewrite_part *p, uint32_t nntypes)
{
    gnn_part_abandon(&p->w);
    for (uint32_t t = 0; p->marks && t < nntypes; t++)
        gnn_free(p->marks[t]);
    gnn_free(p->marks);
    for (uint32_t i = 0; i < p->njobs; i++)
        gnn_rewrite_features_free(((struct gnn_rewrite_job *)p->jobs.data)[i].features);
    gnn_free(p->edges);
    gnn_free(p->nhalo);
    gnn_buf_release(&p->jobs);
}

static void note_error(const struct gnn_rewrite_part *p)
{
    const struct gnn_rewrite_job *j = p->jobs.data;
    for (uint32_t i = 0; i < p->njobs; i++)
        if (j[i].features && j[i].features->error > p->fig->error)
            p->fig->error = j[i].features->error;
}

static int part_init(struct gnn_rewrite_part *p, const struct gnn_schema *sc, struct gnn_err *e)
{
    p->edges = gnn_alloc_zero(sc->netypes, sizeof *p->edges, "edge types", e);
    p->nhalo = gnn_alloc_zero(sc->nntypes, sizeof *p->nhalo, "node types", e);
    p->marks = gnn_alloc_zero(sc->nntypes, sizeof *p->marks, "node types", e);
    if (!p->edges || !p->nhalo || !p->marks)
        return e->code;
    for (uint32_t t = 0; t < sc->nntypes; t++)
        if (!(p->marks[t] = gnn_alloc_zero(sc->ntype[t].count / 64 + 1, sizeof(uint64_t),
                                           "marks of nodes", e)))
            return e->code;
    return GNN_OK;
}

static int write_group(struct gnn_rewrite *r, struct gnn_store_writer *w, uint32_t from,
                       struct gnn_part_figures *fig, int (*done)(void *arg, uint32_t part),
                       void *arg, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    int rc = GNN_OK;
    r->n = r->l->k - from < r->most ? r->l->k - from : r->most;
    for (uint32_t i = 0; i < r->n; i++) {
        struct gnn_rewrite_part *p = &r->part[i];
        *p = (struct gnn_rewrite_part){.r = r, .w = *w, .part = from + i, .fig = &fig[from + i]};
        p->w.part = NULL;
        rc = rc ? rc : part_init(p, sc, e);
    }
    if (!rc)
        gnn_rewrite_scan(r);
    for (uint32_t i = 0; !rc && i < r->n; i++)
        rc = declare_part(&r->part[i], e);
    if (!rc)
        rc = gnn_rewrite_walk(r, e);
    for (uint32_t i = 0; !rc && i < r->n; i++) {
        note_error(&r->part[i]);
        rc = gnn_part_finish(&r->part[i].w, e);
        if (!rc && done && done(arg, from + i))
            rc = gnn_fail(e, GNN_E_STOPPED, "stopped after partition %u of %u", from + i, r->l->k);
    }
    for (uint32_t i = 0; i < r->n; i++)
        part_release(&r->part[i], sc->nntypes);
    for (uint32_t i = 0; i < r->nfrom; i++)
        gnn_free(((const void ***)r->from.data)[i]);
    r->nfrom = 0;
    return rc;
}

static void rewrite_release(struct gnn_rewrite *r)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    for (uint32_t i = 0; i < sc->nsets; i++) {
        if (r->sorted)
            gnn_free(r->sorted[i]);
        if (r->cursor)
            gnn_free(r->cursor[i]);
        if (r->members)
            gnn_free(r->members[i]);
        if (r->times)
            gnn_free(r->times[i]);
        for (uint32_t k = 0; r->fields && r->fields[i] && k < set_fields(r, i); k++)
            gnn_free(r->fields[i][k]);
        if (r->fields)
            gnn_free(r->fields[i]);
    }
    gnn_free(r->part);
    gnn_free(r->sorted);
    gnn_free(r->cursor);
    gnn_free(r->members);
    gnn_free(r->times);
    gnn_free(r->fields);
    gnn_buf_release(&r->chunks);
    gnn_buf_release(&r->from);
}

/* Parts are open files, and bits for all nodes. */
static uint32_t group_size(const struct gnn_layout *l)
{
    uint64_t marks = l->view->nvertices / 8 + 1, n = GNN_REWRITE_MARKS / marks;
    n = n > GNN_REWRITE_PARTS ? GNN_REWRITE_PARTS : n ? n : 1;
    return n < l->k ? (uint32_t)n : l->k;
}

int gnn_layout_write(const struct gnn_layout *l, struct gnn_store_writer *w, unsigned threads,
                     struct gnn_part_figures *fig, int (*done)(void *arg, uint32_t part), void *arg,
                     struct gnn_err *e)
{
    struct gnn_rewrite r = {.l = l, .named = l->k > 1, .threads = threads, .most = group_size(l)};
    r.part = gnn_alloc_zero(r.most, sizeof *r.part, "parts", e);
    int rc = r.part ? sets_init(&r, e) : e->code;
    for (uint32_t p = 0; !rc && p < l->k; p += r.most)
        rc = write_group(&r, w, p, fig, done, arg, e);
    rewrite_release(&r);
    return rc;
}
