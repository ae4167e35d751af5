/* Counting-sort construction of the undirected graph, and what an assignment costs on it. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/mem.h"
#include "lib/partition.h"

/* Calls f for every in-edge (as vertices u -> v, u != v), destinations in original order. */
#define FOR_EACH_EDGE(view, u, v, ...)                                                             \
    do {                                                                                           \
        const struct gnn_schema *sc_ = &(view)->store->meta.schema;                                \
        for (uint32_t et_ = 0; et_ < sc_->netypes; et_++) {                                        \
            uint32_t src_ = sc_->etype[et_].src, dst_ = sc_->etype[et_].dst;                       \
            for (uint64_t d_ = 0; d_ < sc_->ntype[dst_].count; d_++) {                             \
                struct gnn_view_row row_ = gnn_view_row((view), et_, d_);                          \
                uint64_t v = (view)->base[dst_] + d_;                                              \
                for (uint64_t i_ = 0; i_ < row_.n; i_++) {                                         \
                    uint64_t u = (view)->base[src_] + gnn_view_orig((view), src_, row_.indices[i_]); \
                    if (u != v)                                                                    \
                        __VA_ARGS__                                                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static int too_large(const char *store, uint64_t n, uint64_t adj, uint64_t limit, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: METIS's 32-bit indices cannot hold this graph: %llu nodes and %s%llu "
                    "adjacencies (2 per undirected edge), %llu is the limit of each; use another --method",
                    store, (unsigned long long)n, adj ? "at least " : "", (unsigned long long)adj,
                    (unsigned long long)limit - 1);
}

/* Distinct in-edges: a lower bound of the adjacencies that costs no memory per edge. */
static int distinct_in_edges(const struct gnn_view *v, uint64_t *count, struct gnn_err *e)
{
    uint64_t *seen = gnn_alloc_zero(v->nvertices, sizeof *seen, "marks of nodes", e);
    uint64_t row = 0, last = UINT64_MAX, n = 0;
    if (!seen)
        return e->code;
    FOR_EACH_EDGE(v, a, b, {
        if (b != last) {
            last = b;
            row++;
        }
        n += seen[a] != row;
        seen[a] = row;
    });
    gnn_free(seen);
    *count = n;
    return GNN_OK;
}

/* Keeps the first of equal neighbours in each row and turns offsets into METIS's 32-bit ones, in place. */
static int squeeze(struct gnn_symgraph *g, const uint64_t *at, uint64_t limit, const char *store,
                   struct gnn_err *e)
{
    uint32_t *seen = gnn_alloc_zero(g->n, sizeof *seen, "marks of nodes", e);
    uint64_t n = 0;
    if (!seen)
        return e->code;
    for (uint32_t v = 0; v < g->n; v++) {
        g->xadj[v] = n < limit ? (int32_t)n : 0;
        for (uint64_t i = v ? at[v - 1] : 0; i < at[v]; i++) {
            int32_t u = g->adjncy[i];
            if (seen[u] == v + 1)
                continue;
            seen[u] = v + 1;
            g->adjncy[n++] = u;
        }
    }
    gnn_free(seen);
    if (n >= limit)
        return too_large(store, g->n, n, limit, e);
    g->xadj[g->n] = (int32_t)n;
    return GNN_OK;
}

int gnn_symgraph_init(struct gnn_symgraph *g, const struct gnn_view *v, uint64_t limit,
                      struct gnn_err *e)
{
    const char *store = v->store->path;
    uint64_t raw = 0, sum = 0, lower = 0;

    *g = (struct gnn_symgraph){0};
    if (v->nvertices >= limit)
        return too_large(store, v->nvertices, 0, limit, e);
    for (uint32_t et = 0; et < v->store->meta.schema.netypes; et++)
        raw += v->store->meta.schema.etype[et].count;
    if (raw >= limit) {
        if (distinct_in_edges(v, &lower, e))
            return e->code;
        if (lower >= limit)
            return too_large(store, v->nvertices, lower, limit, e);
    }
    g->n = (uint32_t)v->nvertices;
    g->xadj = gnn_alloc((uint64_t)g->n + 1, sizeof *g->xadj, "METIS's offsets", e);
    uint64_t *at = gnn_alloc_zero((uint64_t)g->n + 1, sizeof *at, "degrees", e);
    if (!g->xadj || !at) {
        gnn_free(at);
        return e->code;
    }
    FOR_EACH_EDGE(v, a, b, {
        at[a]++;
        at[b]++;
    });
    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t d = at[i];
        at[i] = sum;
        sum += d;
    }
    g->adjncy = gnn_alloc(sum, sizeof *g->adjncy, "METIS's adjacency", e);
    if (!g->adjncy) {
        gnn_free(at);
        return e->code;
    }
    gnn_mem_hugepages(g->adjncy, sum * sizeof *g->adjncy);
    FOR_EACH_EDGE(v, a, b, {
        g->adjncy[at[b]++] = (int32_t)a;
        g->adjncy[at[a]++] = (int32_t)b;
    });
    /* at[i] is now where row i ends. */
    int rc = squeeze(g, at, limit, store, e);
    gnn_free(at);
    if (rc)
        return rc;
    /* What the squeeze freed goes back to the system before METIS asks for memory. */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)(g->adjncy + g->xadj[g->n]) + page - 1) & ~(page - 1);
    uintptr_t to = (uintptr_t)(g->adjncy + sum) & ~(page - 1);
    if (from < to)
        madvise((void *)from, to - from, MADV_DONTNEED);
    return GNN_OK;
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
    uint32_t *seen = gnn_alloc_zero(k, sizeof *seen, "marks of parts", e);
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
