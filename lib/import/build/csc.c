/* SPDX-License-Identifier: Apache-2.0 */
/* Edges grouped by destination (lib/import/build/csc.h), in two passes over the input:
 * degrees are counted, offsets are summed up, and each edge is put at its destination's cursor. So
 * the edges are in memory only once. Sources keep the order of the input. */
#include "lib/import/build/csc.h"

#include <string.h>

#include "lib/store/ids.h"

int gnn_csc_init(struct gnn_csc *c, uint64_t ndst, unsigned mode, struct gnn_err *e)
{
    *c = (struct gnn_csc){.ndst = ndst, .mode = mode};
    c->indptr = gnn_alloc_zero(ndst + 1, sizeof *c->indptr, "edge offsets", e);
    return c->indptr ? GNN_OK : GNN_E_NOMEM;
}

/* Edges of a step, and how many edges ahead counters are prefetched: they are at random
 * addresses. */
enum { BLOCK = 256, AHEAD = 24 };

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
    for (uint64_t i = 0; i <= c->ndst; i++) {
        uint64_t deg = c->indptr[i];
        c->indptr[i] = at;
        at += deg;
    }
}

int gnn_csc_ready(struct gnn_csc *c, struct gnn_err *e)
{
    gnn_csc_offsets(c);
    c->indices = gnn_alloc(c->nedges, sizeof *c->indices, "edges", e);
    if (!c->indices)
        return GNN_E_NOMEM;
    return GNN_OK;
}

/* Two stages over a small block: first all cursors, then all targets, so that neither line is
 * waited for. */
static void place_block(struct gnn_csc *c, const uint32_t *s, const uint32_t *d, unsigned n,
                        uint64_t *pos)
{
    for (unsigned i = 0; i < n && i < AHEAD; i++)
        __builtin_prefetch(&c->indptr[d[i]], 1);
    for (unsigned i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(&c->indptr[d[i + AHEAD]], 1);
        pos[i] = c->indptr[d[i]]++;
        __builtin_prefetch(&c->indices[pos[i]], 1);
    }
    for (unsigned i = 0; i < n; i++)
        if (pos[i] < c->nedges) /* always, unless the input changed between passes */
            c->indices[pos[i]] = s[i];
    c->placed += n;
}

unsigned gnn_csc_copies(unsigned mode, const uint32_t *src, const uint32_t *dst, uint64_t n,
                        uint64_t *at, unsigned room, uint32_t *s, uint32_t *d, uint64_t *from)
{
    bool fwd = mode & GNN_CSC_FWD, rev = mode & GNN_CSC_REV, drop = mode & GNN_CSC_DROP_LOOPS;
    uint64_t i = *at;
    unsigned k = 0;
    for (; i < n && k + 2 <= room; i++) {
        bool loop = src[i] == dst[i] && (drop || (fwd && rev));
        if (loop && drop)
            continue;
        if (fwd) {
            s[k] = src[i], d[k] = dst[i], from[k] = 2 * i;
            k++;
        }
        if (rev && !loop) {
            s[k] = dst[i], d[k] = src[i], from[k] = 2 * i + 1;
            k++;
        }
    }
    *at = i;
    return k;
}

int gnn_csc_place(struct gnn_csc *c, const uint32_t *src, const uint32_t *dst, uint64_t n,
                  uint64_t *at, struct gnn_err *e)
{
    uint32_t s[BLOCK], d[BLOCK];
    uint64_t pos[BLOCK], from[BLOCK];
    if (at)
        memset(at, 0xff, n * 2 * sizeof *at);
    for (uint64_t i = 0; i < n;) {
        unsigned k = gnn_csc_copies(c->mode, src, dst, n, &i, BLOCK, s, d, from);
        if (c->placed + k > c->nedges)
            return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: more edges");
        place_block(c, s, d, k, pos);
        if (at)
            for (unsigned j = 0; j < k; j++)
                at[from[j]] = pos[j] < c->nedges ? pos[j] : UINT64_MAX;
    }
    return GNN_OK;
}

int gnn_csc_done(struct gnn_csc *c, struct gnn_err *e)
{
    if (c->placed != c->nedges)
        return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: fewer edges");
    /* Each cursor stands where the next row begins. */
    memmove(c->indptr + 1, c->indptr, c->ndst * sizeof *c->indptr);
    c->indptr[0] = 0;
    for (uint64_t i = 0; i < c->ndst; i++)
        if (c->indptr[i + 1] < c->indptr[i] || c->indptr[i + 1] > c->nedges)
            return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: other edges");
    if (c->indptr[c->ndst] != c->nedges)
        return gnn_fail(e, GNN_E_INPUT, "the input changed while it was read: other edges");
    return GNN_OK;
}

void gnn_csc_dedup(struct gnn_csc *c)
{
    /* Duplicates of a source are next to each other after sorting; edges move down in place. */
    uint64_t out = 0, from = 0;
    for (uint64_t v = 0; v < c->ndst; v++) {
        uint64_t to = c->indptr[v + 1];
        gnn_u32_sort(c->indices + from, to - from);
        c->indptr[v] = out;
        for (uint64_t i = from; i < to; i++)
            if (i == from || c->indices[i] != c->indices[i - 1])
                c->indices[out++] = c->indices[i];
        from = to;
    }
    c->indptr[c->ndst] = out;
    c->nedges = out;
}

uint64_t gnn_csc_find(const struct gnn_csc *c, uint32_t s, uint32_t d)
{
    uint64_t lo = c->indptr[d], hi = c->indptr[d + 1];
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        if (c->indices[mid] < s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < c->indptr[d + 1] && c->indices[lo] == s ? lo : UINT64_MAX;
}

void gnn_csc_release(struct gnn_csc *c)
{
    gnn_free(c->indptr);
    gnn_free(c->indices);
    *c = (struct gnn_csc){0};
}
