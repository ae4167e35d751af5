/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/blocks_case.h"

enum { ABOVE = 2, BETWEEN = 3 /* rows of no block */ };

/* Where the edge of a row leads from: to the row itself, to where the one before does, to one of
 * few columns, or to any. */
static uint32_t some_column(uint32_t row, uint32_t before, uint32_t cols)
{
    switch (below(8)) {
    case 0:
        return row < cols ? row : 0;
    case 1:
        return before;
    case 2:
        return below(1 + cols / 50);
    default:
        return below(cols);
    }
}

static struct gnn_csr block_of(uint32_t number, uint32_t first, uint32_t n, uint32_t cols,
                               uint32_t degree, uint32_t longest)
{
    struct gnn_csr a = {.first = first, .n = n};
    uint32_t *ptr = host((n + 1) * sizeof *ptr), start = 5 * number;
    ptr[0] = start;
    for (uint32_t i = 0; i < n; i++)
        ptr[i + 1] = ptr[i] + (i == n / 2 && longest ? longest
                               : degree && below(4)  ? below(degree)
                                                     : 0);
    uint32_t *idx = array(ptr[n], sizeof *idx);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = ptr[i]; e < ptr[i + 1]; e++)
            idx[e] = some_column(first + i, e > ptr[i] ? idx[e - 1] : 0, cols);
    if (number % 2) {
        uint64_t *wide = array(n + 1, sizeof *wide);
        for (uint32_t i = 0; i <= n; i++)
            wide[i] = ptr[i];
        a.indptr64 = wide;
    } else {
        a.indptr = memcpy(array(n + 1, sizeof *ptr), ptr, (n + 1) * sizeof *ptr);
    }
    a.indices = idx;
    return a;
}

struct layer layer_of(uint32_t nblocks, uint32_t n, uint32_t cols, uint32_t degree,
                      uint32_t longest)
{
    struct layer l = {.nblocks = nblocks, .rows = ABOVE, .cols = cols};
    for (uint32_t b = 0; b < nblocks; b++) {
        const uint32_t rows = nblocks > 2 && b == 1 ? 0 : n;
        l.block[b] = block_of(b, l.rows, rows, cols, degree, longest);
        l.edges += (uint32_t)gnn_csr_edges(&l.block[b]);
        l.rows += rows + BETWEEN;
    }
    uint32_t *ptr = array(cols + 1, sizeof *ptr), *idx = array(l.edges, sizeof *idx),
             *edge = array(l.edges, sizeof *edge);
    gnn_csr_transpose(l.block, nblocks, cols, ptr, idx, edge);
    l.back = (struct gnn_csr){.n = cols, .indptr = ptr, .indices = idx, .edge = edge};
    return l;
}

const struct gnn_csr *blocks_at(const struct gnn_csr *block, uint32_t nblocks)
{
    struct gnn_csr there[LAYER_MOST];
    for (uint32_t b = 0; b < nblocks; b++) {
        there[b] = block[b];
        there[b].indptr = at(block[b].indptr);
        there[b].indptr64 = at(block[b].indptr64);
        there[b].indices = at(block[b].indices);
        there[b].value = at(block[b].value);
        there[b].edge = at(block[b].edge);
        there[b].row = at(block[b].row);
        there[b].col = at(block[b].col);
        there[b].diag = at(block[b].diag);
    }
    return on_device ? up(there, nblocks * sizeof *there) : block;
}
