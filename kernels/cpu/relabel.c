/* SPDX-License-Identifier: Apache-2.0 */
/* Local numbers of nodes in the order of their first occurrence (kernels/sample.h). The map has a
 * word for each node of a type: the batch's tag in the high bits, the number in the low ones. A new
 * batch takes the next tag, so the map, which may be large, is cleared only when tags run
 * out. */
#include <string.h>

#include "kernels/cpu/number.h"
#include "kernels/sample.h"

static uint32_t bits_for(uint64_t n)
{
    /* At least 10 bits for numbers, so that few batches make the map change. */
    uint32_t b = 10;
    while (((uint64_t)1 << b) < n)
        b++;
    return b;
}

void gnn_relabel_begin(struct gnn_relabel *r)
{
    r->count = 0;
    if (r->bits == 0)
        r->bits = bits_for(0);
    if (++r->gen >> (32 - r->bits)) {
        memset(r->map, 0, r->nnodes * sizeof *r->map);
        r->gen = 1;
    }
}

bool gnn_relabel_fit(struct gnn_relabel *r, uint64_t extra)
{
    uint64_t want = r->count + extra;
    if (want < extra || want > r->nnodes)
        want = r->nnodes;
    if (want <= (uint64_t)1 << r->bits)
        return true;
    uint32_t bits = bits_for(want);
    if (bits > 31)
        return false;
    if (bits < 31)
        bits++; /* headroom: a change costs a pass over the map */
    const bool clean = r->gen == 1 && r->count == 0; /* nothing written since the map was zero */
    r->bits = bits;
    /* With another split of the bits old words mean nothing; the nodes of this batch are entered
     * again. */
    r->gen = 1;
    if (!clean)
        memset(r->map, 0, r->nnodes * sizeof *r->map);
    for (uint32_t i = 0; i < r->count; i++)
        r->map[r->list.node[i]] = (uint32_t)1 << bits | i;
    return true;
}

uint64_t gnn_relabel_add(struct gnn_relabel *r, const uint32_t *ids, uint64_t n)
{
    const uint32_t mask = ((uint32_t)1 << r->bits) - 1, tag = r->gen << r->bits;
    uint32_t count = r->count;
    uint64_t i = 0;
    for (; i < n && ids[i] < r->nnodes; i++) {
        if (i + 16 < n && ids[i + 16] < r->nnodes)
            __builtin_prefetch(&r->map[ids[i + 16]], 1);
        if ((r->map[ids[i]] & ~mask) == tag)
            continue;
        r->map[ids[i]] = tag | count;
        r->list.node[count++] = ids[i];
    }
    r->count = count;
    return i;
}

uint64_t gnn_relabel_number(struct gnn_relabel *r, const uint32_t *ids, uint64_t n, uint32_t *out)
{
    enum { STEP = 64 };
    for (uint64_t i = 0; i < n; i += STEP) {
        /* In steps, so that the lines asked for in the first loop are still in the cache in the
         * second. */
        const uint32_t m = n - i < STEP ? (uint32_t)(n - i) : STEP;
        for (uint32_t k = 0; k < m; k++) {
            if (ids[i + k] >= r->nnodes)
                return i + k;
            __builtin_prefetch(&r->map[ids[i + k]], 1, 3);
        }
        gnn_number(r, ids + i, m, out + i);
    }
    return n;
}
