/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/import/build/csc.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/rand.h"

int gnn_csc_init(struct gnn_csc *c, uint64_t ndst, unsigned mode, struct gnn_err *e)
{
    *c = (struct gnn_csc){.ndst = ndst, .mode = mode};
    c->indptr = gnn_alloc_zero(ndst + 1, sizeof *c->indptr, "edge offsets", e);
    return c->indptr ? GNN_OK : GNN_E_NOMEM;
}

/* How many edges ahead counters are prefetched: they are at random addresses. */
enum { AHEAD = 24 };

static void count_ends(uint64_t *deg, const uint32_t *end, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(&deg[end[i + AHEAD]], 1);
        deg[end[i]]++;
    }
}

void gnn_csc_count(struct gnn_csc *c, const uint32_t *src, const uint32_t *dst, uint64_t n)
{
    uint64_t *deg = c->indptr;
    uint64_t loops = 0;
    if (c->mode & GNN_CSC_FWD)
        count_ends(deg, dst, n);
    if (c->mode & GNN_CSC_REV)
        count_ends(deg, src, n);
    bool both = (c->mode & (GNN_CSC_FWD | GNN_CSC_REV)) == (GNN_CSC_FWD | GNN_CSC_REV);
    c->nedges += both ? 2 * n : n;
    if (!both && !(c->mode & GNN_CSC_DROP_LOOPS))
        return;
    /* A self-loop was counted once per direction; it must count once, or not at all. */
    uint64_t keep = c->mode & GNN_CSC_DROP_LOOPS ? 0 : 1;
    uint64_t over = (both ? 2u : 1u) - keep;
    for (uint64_t i = 0; i < n; i++)
        if (src[i] == dst[i]) {
            deg[dst[i]] -= over;
            loops += over;
        }
    c->nedges -= loops;
}

void gnn_csc_offsets(struct gnn_csc *c)
{
    uint64_t at = 0;
    c->ends = 0;
    for (uint64_t v = 0; v < c->ndst; v++) {
        uint64_t deg = c->indptr[v];
        c->indptr[v] = at;
        at += deg;
        c->ends += gnn_csc_end(v, at);
    }
    c->indptr[c->ndst] = at;
}

uint64_t gnn_csc_end(uint64_t v, uint64_t end)
{
    return gnn_mix64(v + 1) * end;
}

int gnn_csc_done(struct gnn_csc *c, struct gnn_err *e)
{
    uint64_t ends = 0;
    for (uint64_t v = 0; v < c->ndst; v++)
        ends += gnn_csc_end(v, c->indptr[v]);
    if (ends != c->ends)
        return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: other edges");
    memmove(c->indptr + 1, c->indptr, c->ndst * sizeof *c->indptr);
    c->indptr[0] = 0;
    return GNN_OK;
}

void gnn_csc_release(struct gnn_csc *c)
{
    gnn_free(c->indptr);
    *c = (struct gnn_csc){0};
}
