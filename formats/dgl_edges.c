/* SPDX-License-Identifier: Apache-2.0 */
/* Edges of DGL's graphs in the order of their ids (formats/dgl_file.h), from any of its forms. */
#include <stdarg.h>
#include <stdio.h>

#include "formats/dgl_file.h"

/* What is filled. An id that was there has a source, which is not negative. */
struct filling {
    const struct gnn_dgl_etype *t;
    int64_t *src, *dst;
    char *why;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) static int fail_edges(struct filling *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->why, f->capacity, fmt, ap);
    va_end(ap);
    return GNN_DGL_BAD;
}

/* The edge in place i. */
static int put_edge(struct filling *f, uint64_t i, int64_t src, int64_t dst)
{
    const struct gnn_dgl_etype *t = f->t;
    const int64_t id = t->ids.count ? gnn_dgl_id(&t->ids, i) : (int64_t)i;
    if (src < 0 || dst < 0)
        return fail_edges(f, "edge in place %llu: %lld -> %lld are no ids of nodes",
                          (unsigned long long)i, (long long)src, (long long)dst);
    if (id < 0 || (uint64_t)id >= t->count)
        return fail_edges(f, "edge in place %llu has id %lld; there are %llu edges",
                          (unsigned long long)i, (long long)id, (unsigned long long)t->count);
    if (f->src[id] >= 0)
        return fail_edges(f, "two edges have id %lld", (long long)id);
    f->src[id] = src;
    f->dst[id] = dst;
    return 0;
}

static int fill_listed(struct filling *f)
{
    int rc = 0;
    for (uint64_t i = 0; !rc && i < f->t->count; i++)
        rc = put_edge(f, i, gnn_dgl_id(&f->t->first, i), gnn_dgl_id(&f->t->second, i));
    return rc;
}

/* Offsets are by source, or by destination. */
static int fill_compressed(struct filling *f)
{
    const struct gnn_dgl_etype *t = f->t;
    const uint64_t rows = t->first.count - 1;
    uint64_t i = 0;
    int rc = 0;
    if (gnn_dgl_id(&t->first, 0))
        return fail_edges(f, "offsets of edges begin with %lld",
                          (long long)gnn_dgl_id(&t->first, 0));
    for (uint64_t row = 0; !rc && row < rows; row++) {
        const int64_t end = gnn_dgl_id(&t->first, row + 1);
        if (end < 0 || (uint64_t)end < i || (uint64_t)end > t->count)
            return fail_edges(f, "offset %lld of edges after %llu, of node %llu", (long long)end,
                              (unsigned long long)i, (unsigned long long)row);
        for (; !rc && i < (uint64_t)end; i++) {
            const int64_t other = gnn_dgl_id(&t->second, i), node = (int64_t)row;
            rc = t->form == GNN_DGL_CSR ? put_edge(f, i, node, other) : put_edge(f, i, other, node);
        }
    }
    if (!rc && i != t->count)
        rc = fail_edges(f, "offsets are of %llu edges, of which there are %llu",
                        (unsigned long long)i, (unsigned long long)t->count);
    return rc;
}

bool gnn_dgl_edges_plain(const struct gnn_dgl_etype *t)
{
    return t->form == GNN_DGL_COO && !t->ids.count;
}

int gnn_dgl_edges(const struct gnn_dgl_etype *t, int64_t *src, int64_t *dst, char *why,
                  size_t capacity)
{
    struct filling f = {.t = t, .src = src, .dst = dst, .why = why, .capacity = capacity};
    for (uint64_t i = 0; i < t->count; i++)
        src[i] = -1;
    return t->form == GNN_DGL_COO ? fill_listed(&f) : fill_compressed(&f);
}
