/* A store of k parts from any store: splits, halo, book, and the order of things. Nodes are in
 * rewrite_nodes.c, edges in rewrite_edges.c. */
#include "lib/partition/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gnn_sink_flush(struct gnn_sink *s, struct gnn_err *e)
{
    uint64_t n = s->len;
    s->len = 0;
    return n ? gnn_part_write(s->r->w, s->id, s->chunk, n, e) : GNN_OK;
}

int gnn_sink_long(struct gnn_sink *s, const void *data, uint64_t bytes, struct gnn_err *e)
{
    const char *from = data;
    while (bytes) {
        if (s->len == GNN_SINK_BYTES && gnn_sink_flush(s, e))
            return e->code;
        uint64_t n = GNN_SINK_BYTES - s->len < bytes ? GNN_SINK_BYTES - s->len : bytes;
        memcpy(s->chunk + s->len, from, n);
        s->len += n;
        from += n;
        bytes -= n;
    }
    return GNN_OK;
}

int gnn_rewrite_declare(struct gnn_rewrite *r, struct gnn_rewrite_job job, enum gnn_dtype dtype,
                        uint32_t ndim, const uint64_t *shape, struct gnn_err *e, const char *fmt,
                        ...)
{
    char name[4 * (GNN_NAME_MAX + 1)];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    struct gnn_tensor t = {.dtype = dtype, .ndim = ndim};
    memcpy(t.shape, shape, ndim * sizeof *shape);
    if (gnn_part_declare(r->w, name, dtype, ndim, shape, &job.id, e) || !gnn_tensor_bytes(&t, &job.bytes))
        return e->code;
    if (gnn_buf_reserve(&r->jobs, (uint64_t)r->njobs + 1, sizeof job, "list of tensors", e))
        return e->code;
    ((struct gnn_rewrite_job *)r->jobs.data)[r->njobs++] = job;
    return GNN_OK;
}

int gnn_rewrite_find(const struct gnn_rewrite *r, uint32_t p, const struct gnn_tensor **t,
                     struct gnn_err *e, const char *fmt, ...)
{
    char name[4 * (GNN_NAME_MAX + 1)];
    struct gnn_store *s = r->l->view->store;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    *t = gnn_store_find(s, p, name);
    if (!*t)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s is missing", gnn_store_part_path(s, p), name);
    return GNN_OK;
}

/* ---- splits ---- */

/* Groups the members of each set by part, once for all parts. */
static int sets_init(struct gnn_rewrite *r, struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    struct gnn_store *s = l->view->store;
    const struct gnn_schema *sc = &s->meta.schema;

    r->sorted = gnn_alloc_zero(sc->nsets, sizeof *r->sorted, "splits", e);
    r->cursor = gnn_alloc_zero(sc->nsets, sizeof *r->cursor, "splits", e);
    r->members = gnn_alloc_zero(sc->nsets, sizeof *r->members, "splits", e);
    if (!r->sorted || !r->cursor || !r->members)
        return e->code;
    for (uint32_t i = 0; i < sc->nsets; i++) {
        uint32_t t = sc->set[i].ntype;
        uint64_t m = sc->set[i].count;
        const uint32_t *part = l->part + l->view->base[t];
        if (gnn_store_split(s, i, &r->members[i], e))
            return e->code;
        uint64_t *at = r->cursor[i] = gnn_alloc_zero((uint64_t)l->k + 1, sizeof *at, "splits", e);
        uint64_t *sorted = r->sorted[i] = gnn_alloc(m, sizeof *sorted, "splits", e);
        if (!at || !sorted)
            return e->code;
        for (uint64_t j = 0; j < m; j++) {
            r->members[i][j] = gnn_view_orig(l->view, t, r->members[i][j]);
            at[part[r->members[i][j]] + 1]++;
        }
        for (uint32_t p = 0; p < l->k; p++)
            at[p + 1] += at[p];
        for (uint64_t j = 0; j < m; j++) {
            uint32_t o = r->members[i][j];
            sorted[at[part[o]]++] = j;
            r->members[i][j] = l->to_new[t][o];
        }
        for (uint32_t p = l->k; p > 0; p--)
            at[p] = at[p - 1];
        at[0] = 0;
    }
    return GNN_OK;
}

static int write_set(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    struct gnn_sink s = {r, k->chunk, j->id, 0};
    const uint64_t *at = r->cursor[j->type];
    for (uint64_t i = at[r->part]; i < at[r->part + 1]; i++)
        if (gnn_sink_put(&s, &r->members[j->type][r->sorted[j->type][i]], sizeof(uint32_t), e))
            return e->code;
    return gnn_sink_flush(&s, e);
}

static int write_order(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    struct gnn_sink s = {r, k->chunk, j->id, 0};
    const uint64_t *at = r->cursor[j->type];
    if (gnn_sink_put(&s, r->sorted[j->type] + at[r->part],
                     (at[r->part + 1] - at[r->part]) * sizeof(uint64_t), e))
        return e->code;
    return gnn_sink_flush(&s, e);
}

static int declare_set(struct gnn_rewrite *r, uint32_t i, struct gnn_err *e)
{
    const struct gnn_split_set *ss = &r->l->view->store->meta.schema.set[i];
    uint64_t m = r->cursor[i][r->part + 1] - r->cursor[i][r->part];
    struct gnn_rewrite_job j = {.write = write_set, .type = i};

    r->fig->set[i] = m;
    if (gnn_rewrite_declare(r, j, GNN_U32, 1, &m, e, "split/%s/%s", ss->split, ss->set))
        return e->code;
    j.write = write_order;
    if (r->named && gnn_rewrite_declare(r, j, GNN_U64, 1, &m, e, "split/%s/%s/order", ss->split, ss->set))
        return e->code;
    return GNN_OK;
}

/* ---- halo and book ---- */

static int write_halo_ids(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    (void)k;
    return gnn_part_write(r->w, j->id, r->halo[j->type].data, r->nhalo[j->type] * sizeof(uint32_t), e);
}

static int write_halo_owner(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    const struct gnn_layout *l = r->l;
    struct gnn_sink s = {r, k->chunk, j->id, 0};
    const uint32_t *ids = r->halo[j->type].data;
    for (uint64_t i = 0; i < r->nhalo[j->type]; i++)
        if (gnn_sink_put(&s, &l->part[l->view->base[j->type] + l->order[j->type][ids[i]]],
                         sizeof(uint32_t), e))
            return e->code;
    return gnn_sink_flush(&s, e);
}

static int write_book(const struct gnn_rewrite *r, struct gnn_rewrite_work *k, const struct gnn_rewrite_job *j,
                     struct gnn_err *e)
{
    (void)k;
    return gnn_part_write(r->w, j->id, r->l->book[j->type], ((uint64_t)r->l->k + 1) * sizeof(uint64_t), e);
}

static int declare_halo(struct gnn_rewrite *r, uint32_t t, struct gnn_err *e)
{
    const char *name = r->l->view->store->meta.schema.ntype[t].name;
    struct gnn_rewrite_job ids = {.write = write_halo_ids, .type = t},
                           owner = {.write = write_halo_owner, .type = t};

    if (gnn_rewrite_declare(r, ids, GNN_U32, 1, &r->nhalo[t], e, "halo/%s/ids", name) ||
        gnn_rewrite_declare(r, owner, GNN_U32, 1, &r->nhalo[t], e, "halo/%s/owner", name))
        return e->code;
    return GNN_OK;
}

static int declare_book(struct gnn_rewrite *r, uint32_t t, struct gnn_err *e)
{
    uint64_t k1 = (uint64_t)r->l->k + 1;
    struct gnn_rewrite_job book = {.write = write_book, .type = t};
    return gnn_rewrite_declare(r, book, GNN_U64, 1, &k1, e, "book/%s",
                               r->l->view->store->meta.schema.ntype[t].name);
}

/* ---- all of it ---- */

static int larger_first(const void *a, const void *b)
{
    const struct gnn_rewrite_job *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Tensors lie where they were declared, so the order in which they are written is free. */
static int run_jobs(struct gnn_rewrite *r, struct gnn_err *e)
{
    struct gnn_rewrite_job *job = r->jobs.data;
    unsigned next_work = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->njobs; i++)
        bytes += job[i].bytes;
    /* Waking threads costs more than writing a small part. */
    unsigned threads = bytes < 16 * (uint64_t)GNN_SINK_BYTES ? 1 : r->threads;
    qsort(job, r->njobs, sizeof *job, larger_first);
#pragma omp parallel num_threads(threads)
    {
        struct gnn_rewrite_work *k;
        struct gnn_err late = {0};
#pragma omp critical(rewrite_work)
        k = &r->work[next_work++];
#pragma omp for schedule(dynamic)
        for (uint32_t i = 0; i < r->njobs; i++)
            if (!late.code && job[i].write(r, k, &job[i], &late)) {
#pragma omp critical(rewrite_failed)
                gnn_fail(e, (enum gnn_status)late.code, "%s", late.msg);
            }
    }
    return e->code;
}

static int write_part(struct gnn_rewrite *r, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;

    if (gnn_rewrite_scan(r, e) || gnn_part_begin(r->w, r->part, e))
        return e->code;
    r->njobs = 0;
    /* In gnn-import's order, so that a store put together again is the one that was imported. */
    for (uint32_t t = 0; t < sc->nntypes; t++)
        if (gnn_rewrite_nodes(r, t, e) || declare_book(r, t, e))
            return e->code;
    for (uint32_t et = 0; et < sc->netypes; et++)
        if (gnn_rewrite_edges(r, et, e))
            return e->code;
    for (uint32_t i = 0; i < sc->nsets; i++)
        if (declare_set(r, i, e))
            return e->code;
    for (uint32_t t = 0; r->named && t < sc->nntypes; t++)
        if (declare_halo(r, t, e))
            return e->code;
    if (gnn_part_layout(r->w, e) || run_jobs(r, e))
        return e->code;
    return gnn_part_finish(r->w, e);
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
    }
    for (uint32_t t = 0; r->halo && t < sc->nntypes; t++)
        gnn_buf_release(&r->halo[t]);
    for (unsigned i = 0; r->work && i < r->threads; i++) {
        gnn_free(r->work[i].chunk);
        gnn_free(r->work[i].from);
    }
    gnn_free(r->work);
    gnn_free(r->halo);
    gnn_free(r->nhalo);
    gnn_free(r->edges);
    gnn_free(r->sorted);
    gnn_free(r->cursor);
    gnn_free(r->members);
    gnn_buf_release(&r->marks);
    gnn_buf_release(&r->jobs);
}

static int rewrite_init(struct gnn_rewrite *r, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    r->edges = gnn_alloc_zero(sc->netypes, sizeof *r->edges, "edge types", e);
    r->nhalo = gnn_alloc_zero(sc->nntypes, sizeof *r->nhalo, "node types", e);
    r->halo = gnn_alloc_zero(sc->nntypes, sizeof *r->halo, "node types", e);
    r->work = gnn_alloc_zero(r->threads, sizeof *r->work, "threads", e);
    if (!r->edges || !r->nhalo || !r->halo || !r->work)
        return e->code;
    for (unsigned i = 0; i < r->threads; i++) {
        r->work[i].chunk = gnn_alloc(GNN_SINK_BYTES, 1, "write buffer", e);
        r->work[i].from = gnn_alloc(2 * (uint64_t)r->l->view->store->nparts, sizeof(void *), "input parts", e);
        if (!r->work[i].chunk || !r->work[i].from)
            return e->code;
    }
    return sets_init(r, e);
}

int gnn_layout_write(const struct gnn_layout *l, struct gnn_store_writer *w, unsigned threads,
                     struct gnn_part_figures *fig, int (*done)(void *arg, uint32_t part), void *arg,
                     struct gnn_err *e)
{
    struct gnn_rewrite r = {.l = l, .w = w, .named = l->k > 1, .threads = threads};
    int rc = rewrite_init(&r, e);
    for (uint32_t p = 0; !rc && p < l->k; p++) {
        r.part = p;
        r.fig = &fig[p];
        rc = write_part(&r, e);
        if (!rc && done && done(arg, p))
            rc = gnn_fail(e, GNN_E_STOPPED, "stopped after part %u of %u", p, l->k);
    }
    rewrite_release(&r);
    return rc;
}
