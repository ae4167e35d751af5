/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of one part (lib/import/read/dgl_part.h). */
#include "lib/import/read/dgl_part.h"

#include <string.h>

#include "lib/import/read/dgl_arrays.h"
#include "lib/base/plural.h"

int64_t gnn_dgl_part_value(const struct gnn_strided *s, uint64_t i)
{
    const int64_t v = s->dtype == GNN_U8 || s->dtype == GNN_I8 ? s->data[i] : gnn_dgl_id(s, i);
    return v < 0 ? -1 : v;
}

/* The tensor of that name, which has a number for each of n nodes or edges. */
static int find_tensor(const struct gnn_dgl_part_graph *g, const struct gnn_dgl_tensors *t,
                       const char *name, uint64_t n, bool must, struct gnn_strided *out,
                       struct gnn_err *e)
{
    const struct gnn_strided *s = gnn_dgl_find(t, name);
    *out = (struct gnn_strided){0};
    if (!s)
        return must ? gnn_fail(e, GNN_E_INPUT, "%s: no tensor '%s': not the graph of a part",
                               g->path, name)
                    : GNN_OK;
    const bool ids = s->dtype == GNN_I64 || s->dtype == GNN_I32,
               flags = s->dtype == GNN_U8 || s->dtype == GNN_I8;
    if (s->ndim != 1 || s->count != n || (!ids && (!flags || strncmp(name, "inner", 5) != 0)))
        return gnn_fail(e, GNN_E_INPUT, "%s: '%s' has type %s and %llu value%s, for %llu", g->path,
                        name, gnn_dtype_name(s->dtype), (unsigned long long)s->count,
                        gnn_plural(s->count), (unsigned long long)n);
    *out = *s;
    return GNN_OK;
}

static int find_tensors(struct gnn_dgl_part_graph *g, const struct gnn_dgl_graph *d,
                        struct gnn_err *e)
{
    const struct gnn_dgl_tensors *nodes = &d->ntype[0].tensors, *edges = &d->etype[0].tensors;
    int rc = find_tensor(g, nodes, "_ID", g->nnodes, true, &g->nid, e);
    if (!rc)
        rc = find_tensor(g, nodes, "inner_node", g->nnodes, true, &g->own_node, e);
    if (!rc)
        rc = find_tensor(g, edges, "_ID", g->nedges, true, &g->eid, e);
    if (!rc)
        rc = find_tensor(g, edges, "inner_edge", g->nedges, true, &g->own_edge, e);
    if (!rc)
        rc = find_tensor(g, nodes, "orig_id", g->nnodes, false, &g->orig_node, e);
    return rc ? rc : find_tensor(g, edges, "orig_id", g->nedges, false, &g->orig_edge, e);
}

int gnn_dgl_part_open(struct gnn_dgl_part_graph *g, struct gnn_array_list *l,
                      const struct gnn_dgl_book *b, uint32_t part, bool ends, struct gnn_err *e)
{
    const struct gnn_dgl_file *f;
    const struct gnn_dgl_graph *d;
    *g = (struct gnn_dgl_part_graph){.path = b->part[part].graph, .part = part};
    int rc = gnn_dgl_arrays_open(&f, l, g->path, NULL, g->path, e);
    if (!rc)
        rc = gnn_dgl_arrays_graph(&d, l, f, g->path, e);
    if (!rc && (d->ntypes != 1 || d->etypes != 1))
        rc = gnn_fail(e, GNN_E_INPUT, "%s: a graph of several types: not that of a part", g->path);
    if (rc)
        return rc;
    g->nnodes = d->ntype[0].count;
    g->nedges = d->etype[0].count;
    rc = find_tensors(g, d, e);
    return rc || !ends ? rc : gnn_dgl_arrays_ends(g->end, l, &d->etype[0], g->path, "edges", e);
}

int gnn_dgl_part_find(const struct gnn_dgl_part_graph *g, const struct gnn_dgl_ids *ids,
                      int64_t all, const char *what, const struct gnn_dgl_span **span, uint64_t *id,
                      struct gnn_err *e)
{
    *span = all < 0 ? NULL : gnn_dgl_book_span(ids, (uint64_t)all);
    if (!*span)
        return gnn_fail(e, GNN_E_INPUT, "%s: %s %lld; the JSON has %llu", g->path, what,
                        (long long)all, (unsigned long long)ids->count);
    const struct gnn_dgl_type *t = &ids->type[(*span)->type];
    *id = t->before[(*span)->part] + ((uint64_t)all - (*span)->from);
    return GNN_OK;
}

int gnn_dgl_part_own(const struct gnn_dgl_part_graph *g, const struct gnn_dgl_ids *ids, int64_t all,
                     const char *what, const struct gnn_dgl_span **span, uint64_t *id,
                     struct gnn_err *e)
{
    int rc = gnn_dgl_part_find(g, ids, all, what, span, id, e);
    if (!rc && (*span)->part != g->part)
        rc = gnn_fail(e, GNN_E_INPUT,
                      "%s: %s %lld belongs to part %u here, and to part %u by the JSON", g->path,
                      what, (long long)all, g->part, (*span)->part);
    return rc;
}
