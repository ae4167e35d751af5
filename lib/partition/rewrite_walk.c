/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over the input that fills the tensors of a group of parts. */
#include <stdlib.h>

#include "lib/partition/rewrite_common.h"

enum { STRETCH = 32 << 20, SMALL = 16 << 20 };

static uint64_t row_bytes(const struct gnn_field *f, uint32_t n)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += gnn_dtype_bytes(f[i].dtype) * (f[i].width ? f[i].width : 1);
    return bytes;
}

static uint64_t count_stretches(const struct gnn_rewrite *r, uint32_t t)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    const struct gnn_ntype *nt = &sc->ntype[t];
    double bytes = (double)nt->count *
                   (double)row_bytes(nt->field, nt->nfields); /* a hint: need not be exact */
    for (uint32_t et = 0; et < sc->netypes; et++)
        if (sc->etype[et].dst == t)
            bytes +=
                (double)sc->etype[et].count *
                (double)(sizeof(uint32_t) + row_bytes(sc->etype[et].field, sc->etype[et].nfields));
    uint64_t n = (uint64_t)(bytes / (double)(r->l->stretch ? r->l->stretch : STRETCH)) + 1;
    return r->n == 1 ? 1 : n < nt->count ? n : nt->count + !nt->count;
}

/* ---- who comes from elsewhere ---- */

static void mark_halo(struct gnn_rewrite_part *p, uint32_t et, uint64_t to)
{
    const struct gnn_layout *l = p->r->l;
    const struct gnn_etype *t = &l->view->store->meta.schema.etype[et];
    const uint64_t lo = l->book[t->src][p->part], own = l->book[t->src][p->part + 1] - lo;
    uint64_t *bits = p->marks[t->src], cut = 0, edges = 0;
    struct gnn_view_row row, next = gnn_rewrite_row(l, et, p->scanned, to);

    for (uint64_t i = p->scanned; i < to; i++) {
        row = next;
        next = gnn_rewrite_row(l, et, i + 1, to);
        edges += row.n;
        for (uint64_t j = 0; j < row.n; j++) {
            uint64_t id = l->to_new[t->src][gnn_view_orig(l->view, t->src, row.indices[j])];
            if (id - lo < own)
                continue;
            bits[id / 64] |= (uint64_t)1 << id % 64;
            cut++;
        }
    }
    p->scanned = to;
    p->edges[et] += edges;
    p->fig->edges += edges;
    p->fig->cut += cut;
}

/* The first of new ids [at, end) of a part whose original id is not below `orig`. */
static uint64_t lower_bound(const uint32_t *order, uint64_t at, uint64_t end, uint64_t orig)
{
    while (at < end) {
        uint64_t mid = at + (end - at) / 2;
        if (order[mid] < orig)
            at = mid + 1;
        else
            end = mid;
    }
    return at;
}

void gnn_rewrite_scan(struct gnn_rewrite *r)
{
    const struct gnn_layout *l = r->l;
    const struct gnn_schema *sc = &l->view->store->meta.schema;

    for (uint32_t et = 0; et < sc->netypes; et++) {
        const uint32_t d = sc->etype[et].dst;
        const uint64_t n = count_stretches(r, d), count = sc->ntype[d].count;
        const unsigned threads = sc->etype[et].count < SMALL / sizeof(uint32_t) ? 1 : r->threads;
        for (uint32_t i = 0; i < r->n; i++)
            r->part[i].scanned = l->book[d][r->part[i].part];
        for (uint64_t s = 1; s <= n; s++)
#pragma omp parallel for schedule(dynamic) num_threads(threads)
            for (uint32_t i = 0; i < r->n; i++) {
                struct gnn_rewrite_part *p = &r->part[i];
                const uint64_t end = l->book[d][p->part + 1];
                mark_halo(p, et,
                          s == n ? end : lower_bound(l->order[d], p->scanned, end, count / n * s));
            }
    }
#pragma omp parallel for schedule(dynamic) num_threads(r->threads) if (l->view->nvertices > SMALL)
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t t = 0; t < sc->nntypes; t++) {
            struct gnn_rewrite_part *p = &r->part[i];
            for (uint64_t w = 0; w < sc->ntype[t].count / 64 + 1; w++)
                p->nhalo[t] += (uint64_t)__builtin_popcountll(p->marks[t][w]);
            p->fig->halo += p->nhalo[t];
        }
}

/* ---- the tensors ---- */

struct task {
    const struct gnn_rewrite_part *p;
    struct gnn_rewrite_job *j;
};

static int larger_first(const void *a, const void *b)
{
    const struct gnn_rewrite_job *x = ((const struct task *)a)->j, *y = ((const struct task *)b)->j;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    const uint32_t p = ((const struct task *)a)->p->part, q = ((const struct task *)b)->p->part;
    return p != q ? (p > q) - (p < q) : (x->sink.id > y->sink.id) - (x->sink.id < y->sink.id);
}

/* What nodes [at, to) of the part bring, or its halo. */
static int put_nodes(const struct gnn_rewrite_part *p, struct gnn_rewrite_job *j, uint64_t to,
                     struct gnn_err *e)
{
    if (j->halo && gnn_rewrite_each_halo(p, j, j->walk, j->put, e))
        return e->code;
    for (; j->at < to; j->at++)
        if (j->put(p, j, (uint32_t)j->at, e))
            return e->code;
    return to < j->end ? GNN_OK : gnn_sink_flush(&j->sink, e);
}

/* All tasks that walk the part's nodes of type t go on to original id `orig`, or to their end; with
 * t < 0, those that do not walk these. */
static int run_tasks(const struct gnn_rewrite *r, struct task *task, uint64_t n, int64_t t,
                     uint64_t orig, unsigned threads, struct gnn_err *e)
{
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (uint64_t i = 0; i < n; i++) {
        struct gnn_rewrite_job *j = task[i].j;
        struct gnn_err late = {0};
        if ((j->put && !j->halo ? (int64_t)j->walk : -1) != t || j->done)
            continue;
        uint64_t to =
            t < 0 || orig == UINT64_MAX ? j->end : lower_bound(r->l->order[t], j->at, j->end, orig);
        int rc = j->put ? put_nodes(task[i].p, j, to, &late) : j->write(task[i].p, j, &late);
        j->done = rc || to == j->end;
        if (rc) {
#pragma omp critical(rewrite_failed)
            gnn_fail(e, (enum gnn_status)late.code, "%s", late.msg);
        }
    }
    return e->code;
}

/* Tensors lie where they were declared, so the order in which they are written is free. */
static int run_all(const struct gnn_rewrite *r, struct task *task, uint64_t n, struct gnn_err *e)
{
    const struct gnn_schema *sc = &r->l->view->store->meta.schema;
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < n; i++)
        bytes += task[i].j->bytes;
    /* Waking threads costs more than writing a small part. */
    const unsigned threads = bytes < SMALL ? 1 : r->threads;
    qsort(task, n, sizeof *task, larger_first);
    if (run_tasks(r, task, n, -1, 0, threads, e))
        return e->code;
    for (uint32_t t = 0; t < sc->nntypes; t++) {
        const uint64_t m = count_stretches(r, t), step = sc->ntype[t].count / m;
        for (uint64_t s = 1; s <= m; s++)
            if (run_tasks(r, task, n, t, s == m ? UINT64_MAX : step * s, threads, e))
                return e->code;
    }
    return GNN_OK;
}

int gnn_rewrite_walk(struct gnn_rewrite *r, struct gnn_err *e)
{
    uint64_t n = 0, capacity = 0, at = 0;
    for (uint32_t i = 0; i < r->n; i++)
        n += r->part[i].njobs;
    uint64_t most = GNN_SINK_TOTAL / (n + 1);
    most = (most < GNN_SINK_LEAST   ? GNN_SINK_LEAST
            : most < GNN_SINK_BYTES ? most
                                    : GNN_SINK_BYTES) &
           ~(uint64_t)63;
    struct task *task = gnn_alloc(n, sizeof *task, "list of tensors", e);
    if (!task)
        return e->code;
    n = 0;
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->part[i].njobs; k++) {
            struct gnn_rewrite_job *j = (struct gnn_rewrite_job *)r->part[i].jobs.data + k;
            task[n++] = (struct task){&r->part[i], j};
            j->sink.capacity = j->bytes < most ? (j->bytes / 64 + 1) * 64 : most;
            capacity += j->sink.capacity;
        }
    int rc = gnn_buf_fit(&r->chunks, capacity, 1, "write buffers", e);
    for (uint64_t i = 0; !rc && i < n; i++) {
        struct gnn_sink *s = &task[i].j->sink;
        s->chunk = (char *)r->chunks.data + at;
        at += s->capacity;
        s->len = task[i].j->offsets ? sizeof(uint64_t) : 0;
        memset(s->chunk, 0, s->len);
    }
    if (!rc)
        rc = run_all(r, task, n, e);
    gnn_free(task);
    return rc;
}
