/* SPDX-License-Identifier: Apache-2.0 */
/* The edges of a type that a batch does not have, as a device reads them: the table of
 * kernels/exclude.h in one piece of memory, with the addresses that the edges have there. */
#include <string.h>

#include "kernels/owner.h"
#include "lib/sample/gpu_sample.h"

struct piece {
    struct gnn_excluded *head;
    struct gnn_skip *of;
    const uint32_t **edge;
    uint64_t *filter;
    uint32_t *node;
};

/* Lays the piece out from base, which may be NULL; returns its size. */
static uint64_t lay_piece(const struct sample_excluded *x, char *base, struct piece *p)
{
    const uint64_t slots = x->of.mask + UINT64_C(1);
    uint64_t at = 0;
    p->head = gpu_lay(base, &at, sizeof *p->head);
    p->of = gpu_lay(base, &at, slots * sizeof *p->of);
    p->edge = gpu_lay(base, &at, x->nedges * sizeof(const uint32_t *));
    p->filter = gpu_lay(base, &at, slots);
    p->node = gpu_lay(base, &at, slots * sizeof *p->node);
    return at;
}

uint64_t gnn_gpu_excluded_bytes(const struct sample_excluded *x)
{
    struct piece none;
    return lay_piece(x, NULL, &none);
}

/* The edges of one destination, in slot h. */
static void put_edges(const struct piece *at, const struct sample_excluded *x,
                      const struct gnn_sample_graph *g, const uint32_t *const *indices, uint64_t h)
{
    const struct gnn_skip s = x->of.of[h];
    const uint32_t *const *all = x->edges.data;
    const uint32_t p = gnn_owner_find(&g->part->first, sizeof *g->part, g->nparts, x->of.node[h]);
    for (uint32_t i = 0; i < s.n; i++)
        at->edge[s.edge - all + i] = indices[p] + (s.edge[i] - g->part[p].indices);
}

int gnn_gpu_excluded_copy(const struct sample_excluded *x, const struct gnn_sample_graph *g,
                          const uint32_t *const *indices, void *to, struct gnn_buf *buf,
                          void *stream, struct gnn_err *e)
{
    const uint64_t bytes = gnn_gpu_excluded_bytes(x), slots = x->of.mask + UINT64_C(1);
    const uint32_t *const *all = x->edges.data;
    struct piece at, there;
    if (gnn_buf_fit(buf, bytes, 1, "links", e))
        return e->code;
    (void)lay_piece(x, buf->data, &at);
    (void)lay_piece(x, to, &there);
    *at.head = (struct gnn_excluded){there.node, there.of, there.filter, x->of.mask, x->of.shift};
    memcpy(at.filter, x->of.filter, slots);
    memcpy(at.node, x->of.node, slots * sizeof *at.node);
    for (uint64_t h = 0; h < slots; h++) {
        at.of[h] = (struct gnn_skip){NULL, 0};
        if (at.node[h] == UINT32_MAX || !x->of.of[h].n)
            continue;
        put_edges(&at, x, g, indices, h);
        at.of[h] = (struct gnn_skip){there.edge + (x->of.of[h].edge - all), x->of.of[h].n};
    }
    return gnn_dev_copy(to, buf->data, bytes, stream, e);
}
