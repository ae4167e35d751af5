/* SPDX-License-Identifier: Apache-2.0 */
/* Counting-sort construction of the undirected graph, and what an assignment costs on it. */
#include <string.h>
#include <sys/mman.h>

#include "lib/base/mem.h"
#include "lib/base/rand.h"
#include "lib/partition/partition.h"

/* A directed graph under construction: row v is adj[at[v] .. at[v] + len[v]). */
struct rows {
    uint64_t *at;  /* (n+1) space by raw degree */
    uint32_t *len; /* (n) neighbours kept */
    int32_t *adj;
    uint64_t kept;
    bool symmetric;
};

static int too_large(const char *store, uint64_t n, uint64_t adj, uint64_t limit, struct gnn_err *e)
{
    return gnn_fail(
        e, GNN_E_INPUT,
        "%s: METIS's 32-bit indices cannot hold this graph: %llu nodes and %s%llu "
        "adjacencies (2 per undirected edge), %llu is the limit of each; --method fennel and ldg can",
        store, (unsigned long long)n, adj ? "at least " : "", (unsigned long long)adj,
        (unsigned long long)limit - 1);
}

/* In-neighbours of vertex v (node d of type t), each once, in order of first appearance. seen[u] ==
 * v + 1 marks u. */
static uint32_t in_row(const struct gnn_view *view, uint32_t t, uint64_t d, uint32_t *seen,
                       int32_t *out)
{
    const struct gnn_schema *sc = &view->store->meta.schema;
    uint32_t v = (uint32_t)(view->base[t] + d), n = 0;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        if (sc->etype[et].dst != t)
            continue;
        uint32_t src = sc->etype[et].src;
        struct gnn_view_row row = gnn_view_row(view, et, d);
        for (uint64_t i = 0; i < row.n; i++) {
            uint32_t u = (uint32_t)view->base[src] + gnn_view_orig(view, src, row.indices[i]);
            if (u == v || seen[u] == v + 1)
                continue;
            seen[u] = v + 1;
            out[n++] = (int32_t)u;
        }
    }
    return n;
}

/* Rows of in-neighbours. The graph is symmetric, as most are, when the edges hash to the same sum
 * in both directions (an accident has probability 2^-64, and METIS is guarded against it); then
 * these rows are all there is to do. */
static int rows_init(struct rows *r, const struct gnn_view *view, unsigned threads,
                     struct gnn_err *e)
{
    const struct gnn_schema *sc = &view->store->meta.schema;
    uint64_t n = view->nvertices, kept = 0, there = 0, back = 0;
    bool failed = false;

    r->at = gnn_alloc_zero(n + 1, sizeof *r->at, "degrees", e);
    r->len = gnn_alloc(n, sizeof *r->len, "degrees", e);
    if (!r->at || !r->len)
        return e->code;
    for (uint32_t et = 0; et < sc->netypes; et++) {
        uint64_t base = view->base[sc->etype[et].dst];
        for (uint64_t d = 0; d < sc->ntype[sc->etype[et].dst].count; d++)
            r->at[base + d + 1] += gnn_view_row(view, et, d).n;
    }
    for (uint64_t v = 0; v < n; v++)
        r->at[v + 1] += r->at[v];
    r->adj = gnn_alloc(r->at[n], sizeof *r->adj, "METIS's adjacency", e);
    if (!r->adj)
        return e->code;
#pragma omp parallel num_threads(threads) reduction(+ : kept, there, back)
    {
        struct gnn_err late = {0};
        uint32_t *seen = gnn_alloc_zero(n, sizeof *seen, "marks of nodes", &late);
        if (!seen) {
#pragma omp critical(symgraph_failed)
            if (!failed) {
                failed = true;
                gnn_fail(e, GNN_E_NOMEM, "%s", late.msg);
            }
        }
        for (uint32_t t = 0; t < sc->nntypes; t++) {
#pragma omp for schedule(dynamic, 4096)
            for (uint64_t d = 0; d < sc->ntype[t].count; d++) {
                uint64_t v = view->base[t] + d;
                int32_t *row = r->adj + r->at[v];
                r->len[v] = seen ? in_row(view, t, d, seen, row) : 0;
                kept += r->len[v];
                for (uint32_t i = 0; i < r->len[v]; i++) {
                    there += gnn_rand_pair((uint64_t)row[i], v);
                    back += gnn_rand_pair(v, (uint64_t)row[i]);
                }
            }
        }
        gnn_free(seen);
    }
    r->kept = kept;
    r->symmetric = there == back;
    return e->code;
}

static void rows_release(struct rows *r)
{
    gnn_free(r->at);
    gnn_free(r->len);
    gnn_free(r->adj);
    *r = (struct rows){0};
}

/* Adds the reverse of every edge, keeping each neighbour once: a counting sort of both directions.
 */
static int rows_symmetrise(struct rows *r, uint64_t n, struct gnn_err *e)
{
    struct rows s = {0};
    uint32_t *seen = gnn_alloc_zero(n, sizeof *seen, "marks of nodes", e);
    s.at = gnn_alloc_zero(n + 1, sizeof *s.at, "degrees", e);
    s.len = gnn_alloc_zero(n, sizeof *s.len, "degrees", e);
    s.adj = gnn_alloc(2 * r->kept, sizeof *s.adj, "METIS's adjacency", e);
    if (!seen || !s.at || !s.len || !s.adj) {
        gnn_free(seen);
        rows_release(&s);
        return e->code;
    }
    for (uint64_t v = 0; v < n; v++)
        for (uint64_t i = r->at[v]; i < r->at[v] + r->len[v]; i++) {
            s.at[v + 1]++;
            s.at[(uint32_t)r->adj[i] + 1]++;
        }
    for (uint64_t v = 0; v < n; v++)
        s.at[v + 1] += s.at[v];
    for (uint64_t v = 0; v < n; v++)
        for (uint64_t i = r->at[v]; i < r->at[v] + r->len[v]; i++) {
            uint32_t u = (uint32_t)r->adj[i];
            s.adj[s.at[v] + s.len[v]++] = (int32_t)u;
            s.adj[s.at[u] + s.len[u]++] = (int32_t)v;
        }
    for (uint64_t v = 0; v < n; v++) {
        int32_t *row = s.adj + s.at[v];
        uint32_t m = 0;
        for (uint32_t i = 0; i < s.len[v]; i++) {
            if (seen[row[i]] == v + 1)
                continue;
            seen[row[i]] = (uint32_t)v + 1;
            row[m++] = row[i];
        }
        s.len[v] = m;
        s.kept += m;
    }
    gnn_free(seen);
    rows_release(r);
    *r = s;
    return GNN_OK;
}

/* Closes the gaps between rows in place and gives what that frees back to the system before METIS
 * asks for memory. */
static void rows_pack(struct rows *r, struct gnn_symgraph *g)
{
    uint64_t capacity = r->at[g->n];
    int32_t n = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        g->xadj[v] = n;
        if (r->at[v] != (uint64_t)n)
            memmove(r->adj + n, r->adj + r->at[v], r->len[v] * sizeof *r->adj);
        n += (int32_t)r->len[v];
    }
    g->xadj[g->n] = n;
    g->adjncy = r->adj;
    r->adj = NULL;
    uintptr_t page = gnn_page_size();
    uintptr_t from = ((uintptr_t)(g->adjncy + n) + page - 1) & ~(page - 1);
    uintptr_t to = (uintptr_t)(g->adjncy + capacity) & ~(page - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

int gnn_symgraph_init(struct gnn_symgraph *g, const struct gnn_view *v, uint64_t limit,
                      unsigned threads, struct gnn_err *e)
{
    const char *store = v->store->path;
    struct rows r = {0};

    *g = (struct gnn_symgraph){0};
    if (v->nvertices >= limit)
        return too_large(store, v->nvertices, 0, limit, e);
    int rc = rows_init(&r, v, threads, e);
    /* The undirected graph has at least as many adjacencies as there are different in-edges. */
    if (!rc && r.kept < limit && !r.symmetric)
        rc = rows_symmetrise(&r, v->nvertices, e);
    if (!rc && r.kept >= limit)
        rc = too_large(store, v->nvertices, r.kept, limit, e);
    if (!rc) {
        g->n = (uint32_t)v->nvertices;
        g->xadj = gnn_alloc((uint64_t)g->n + 1, sizeof *g->xadj, "METIS's offsets", e);
        if (g->xadj)
            rows_pack(&r, g);
        rc = e->code;
    }
    rows_release(&r);
    return rc;
}

void gnn_symgraph_release(struct gnn_symgraph *g)
{
    gnn_free(g->xadj);
    gnn_free(g->adjncy);
    *g = (struct gnn_symgraph){0};
}

int gnn_symgraph_measure(const struct gnn_symgraph *g, uint32_t k, const uint32_t *part,
                         uint64_t *cut, uint64_t *volume, struct gnn_err *e)
{
    uint32_t *seen = gnn_alloc_zero(k, sizeof *seen, "marks of partitions", e);
    uint64_t twice = 0, vol = 0;
    if (!seen)
        return e->code;
    for (uint32_t v = 0; v < g->n; v++)
        for (int32_t i = g->xadj[v]; i < g->xadj[v + 1]; i++) {
            uint32_t p = part[g->adjncy[i]];
            if (p == part[v])
                continue;
            twice++;
            vol += seen[p] != v + 1;
            seen[p] = v + 1;
        }
    gnn_free(seen);
    *cut = twice / 2;
    *volume = vol;
    return GNN_OK;
}
