/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a part, as a folder of DGL has it (lib/partition/dgl_folder.h). Its nodes are those
 * of the part, by type, and then copies of nodes of other parts that they have edges from or to.
 * Its edges are the in-edges of the part's nodes, by type, and then edges from these to copies, in
 * the order of their ids. Only the latter are held: each tensor walks the others anew. */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/partition/dgl_folder.h"

/* The copies of a type: n nodes, and the parts that own them. */
struct copies {
    uint32_t *id, *owner;
    uint64_t n;
    struct gnn_buf ids, owners;
};

/* An edge to a copy: its ends and its id, which tells the type. */
struct outgoing {
    uint64_t id;
    uint32_t src, dst;
};

struct part_graph {
    const struct gnn_dgl_folder *f;
    uint32_t part;
    struct copies *copies;        /* [nntypes] */
    uint64_t *own_at, *copies_at; /* [nntypes + 1] numbers in the graph of a type's first ones */
    struct outgoing *out;         /* (nout) */
    struct gnn_buf list;          /* of these */
    uint64_t nodes, own_edges, nout;
};

/* An edge of the graph: its type, ends as numbers in the graph, and id. */
struct edge {
    uint32_t type;
    uint64_t src, dst, id;
};
typedef int edge_fn(const struct edge *x, void *arg);

/* ---- copies, and edges to them ---- */

static int add_copy(struct part_graph *g, uint32_t t, uint32_t id, uint32_t owner,
                    struct gnn_err *e)
{
    struct copies *c = &g->copies[t];
    if (g->f->copy[t][id] != UINT32_MAX)
        return GNN_OK;
    if (gnn_buf_reserve(&c->ids, c->n + 1, sizeof *c->id, "copies of nodes", e) ||
        gnn_buf_reserve(&c->owners, c->n + 1, sizeof *c->owner, "copies of nodes", e))
        return e->code;
    c->id = c->ids.data;
    c->owner = c->owners.data;
    c->id[c->n] = id;
    c->owner[c->n] = owner;
    g->f->copy[t][id] = (uint32_t)c->n++;
    return GNN_OK;
}

/* The sources of the part's edges that other parts own: the store lists them. */
static int add_sources(struct part_graph *g, uint32_t t, struct gnn_err *e)
{
    struct gnn_store *s = g->f->store;
    const char *type = g->f->schema->ntype[t].name;
    const struct gnn_tensor *id = gnn_store_findf(s, g->part, "halo/%s/ids", type),
                            *owner = gnn_store_findf(s, g->part, "halo/%s/owner", type);
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && id && owner && i < id->shape[0]; i++) /* one part lists none */
        rc = add_copy(g, t, ((const uint32_t *)id->data)[i], ((const uint32_t *)owner->data)[i], e);
    return rc;
}

/* Whether part q has edges from nodes of type t that part p owns: owners of sources ascend. */
static bool has_sources(const struct gnn_dgl_folder *f, uint32_t q, uint32_t t, uint32_t p)
{
    const struct gnn_tensor *owner =
        gnn_store_findf(f->store, q, "halo/%s/owner", f->schema->ntype[t].name);
    const uint32_t *o = owner ? owner->data : NULL;
    const uint64_t n = owner ? owner->shape[0] : 0;
    uint64_t lo = 0, hi = n;
    while (lo < hi) {
        const uint64_t mid = lo + (hi - lo) / 2;
        if (o[mid] < p)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && o[lo] == p;
}

static int add_outgoing(struct part_graph *g, const struct outgoing *x, uint32_t dst_type,
                        uint32_t owner, struct gnn_err *e)
{
    if (gnn_buf_reserve(&g->list, g->nout + 1, sizeof *x, "edges to copies", e))
        return e->code;
    g->out = g->list.data;
    g->out[g->nout++] = *x;
    return add_copy(g, dst_type, x->dst, owner, e);
}

/* The in-edges of nodes of part q, of one type, that begin in this part. */
static int find_outgoing(struct part_graph *g, uint32_t q, uint32_t et, struct gnn_err *e)
{
    const struct gnn_etype *t = &g->f->schema->etype[et];
    const struct gnn_dgl_in *in = gnn_dgl_in_of(g->f, q, et);
    const uint64_t *src = g->f->store->book[t->src] + g->part, first = g->f->store->book[t->dst][q],
                   n = gnn_store_owned(g->f->store, q, t->dst), own = src[1] - src[0],
                   from = gnn_dgl_edge_from(g->f, q, et);
    struct outgoing x;
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < n; i++)
        for (uint64_t j = in->indptr[i]; !rc && j < in->indptr[i + 1]; j++) {
            if (in->indices[j] - src[0] >= own)
                continue;
            x = (struct outgoing){from + j, in->indices[j], (uint32_t)(first + i)};
            rc = add_outgoing(g, &x, t->dst, q, e);
        }
    return rc;
}

static int find_copies(struct part_graph *g, struct gnn_err *e)
{
    const struct gnn_schema *c = g->f->schema;
    int rc = GNN_OK;
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        rc = add_sources(g, t, e);
    for (uint32_t q = 0; !rc && q < g->f->store->nparts; q++)
        for (uint32_t et = 0; !rc && et < c->netypes; et++)
            if (q != g->part && has_sources(g->f, q, c->etype[et].src, g->part))
                rc = find_outgoing(g, q, et, e);
    return rc;
}

/* ---- edges ---- */

/* The number in the graph of a node of type t that is in it. */
static uint64_t number_of(const struct part_graph *g, uint32_t t, uint32_t id)
{
    const uint64_t *book = g->f->store->book[t] + g->part;
    return id >= book[0] && id < book[1] ? g->own_at[t] + (id - book[0])
                                         : g->copies_at[t] + g->f->copy[t][id];
}

/* The in-edges of node i of the part, of one type. */
static int each_of_row(const struct part_graph *g, uint32_t et, uint64_t i, edge_fn *fn, void *arg)
{
    const struct gnn_etype *t = &g->f->schema->etype[et];
    const struct gnn_dgl_in *in = gnn_dgl_in_of(g->f, g->part, et);
    const uint64_t from = gnn_dgl_edge_from(g->f, g->part, et);
    int rc = 0;
    for (uint64_t j = in->indptr[i]; !rc && j < in->indptr[i + 1]; j++)
        rc = fn(&(struct edge){.type = et,
                               .src = number_of(g, t->src, in->indices[j]),
                               .dst = g->own_at[t->dst] + i,
                               .id = from + j},
                arg);
    return rc;
}

static int each_own_edge(const struct part_graph *g, edge_fn *fn, void *arg)
{
    const struct gnn_schema *c = g->f->schema;
    int rc = 0;
    for (uint32_t et = 0; !rc && et < c->netypes; et++) {
        const uint64_t n = gnn_store_owned(g->f->store, g->part, c->etype[et].dst);
        for (uint64_t i = 0; !rc && i < n; i++)
            rc = each_of_row(g, et, i, fn, arg);
    }
    return rc;
}

static int each_edge(const struct part_graph *g, edge_fn *fn, void *arg)
{
    const struct gnn_schema *c = g->f->schema;
    uint64_t range = 0; /* of part and type in which the edge is */
    int rc = each_own_edge(g, fn, arg);
    for (uint64_t i = 0; !rc && i < g->nout; i++) {
        const struct outgoing *x = &g->out[i];
        while (x->id >= g->f->edge_from[range + 1])
            range++;
        const uint32_t type = (uint32_t)(range % c->netypes);
        rc = fn(&(struct edge){.type = type,
                               .src = number_of(g, c->etype[type].src, x->src),
                               .dst = number_of(g, c->etype[type].dst, x->dst),
                               .id = x->id},
                arg);
    }
    return rc;
}

/* ---- tensors of edges ---- */

static int put_src(const struct edge *x, void *to)
{
    return gnn_dgl_put_i64(to, (int64_t)x->src);
}

static int put_dst(const struct edge *x, void *to)
{
    return gnn_dgl_put_i64(to, (int64_t)x->dst);
}

static int put_id(const struct edge *x, void *to)
{
    return gnn_dgl_put_i64(to, (int64_t)x->id);
}

static int put_type(const struct edge *x, void *arg)
{
    const struct gnn_dgl_to *to = arg;
    const int32_t type = (int32_t)x->type;
    return to->put(to->arg, &type, sizeof type);
}

static int write_sources(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_edge(c->from, put_src, (void *)(uintptr_t)to);
}

static int write_destinations(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_edge(c->from, put_dst, (void *)(uintptr_t)to);
}

static int write_edge_ids(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_edge(c->from, put_id, (void *)(uintptr_t)to);
}

static int write_edge_types(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_edge(c->from, put_type, (void *)(uintptr_t)to);
}

/* Ones, and then zeros, of n in all. */
static int put_flags(const struct gnn_dgl_to *to, uint64_t ones, uint64_t n)
{
    int rc = 0;
    for (uint64_t i = 0; !rc && i < n; i++)
        rc = to->put(to->arg, &(const uint8_t){i < ones}, 1);
    return rc;
}

static int write_own_edges(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    const struct part_graph *g = c->from;
    return put_flags(to, g->own_edges, g->own_edges + g->nout);
}

/* ---- tensors of nodes ---- */

static int write_own_nodes(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    const struct part_graph *g = c->from;
    return put_flags(to, g->own_at[g->f->schema->nntypes], g->nodes);
}

/* The node with place i among the part's own ones of type t, or among the copies of that type. */
typedef int node_fn(const struct part_graph *g, uint32_t t, uint64_t i, bool copied,
                    const struct gnn_dgl_to *to);

static int each_node(const struct part_graph *g, node_fn *fn, const struct gnn_dgl_to *to)
{
    int rc = 0;
    for (int copied = 0; !rc && copied < 2; copied++)
        for (uint32_t t = 0; !rc && t < g->f->schema->nntypes; t++) {
            const uint64_t n = copied ? g->copies[t].n : gnn_store_owned(g->f->store, g->part, t);
            for (uint64_t i = 0; !rc && i < n; i++)
                rc = fn(g, t, i, copied, to);
        }
    return rc;
}

static int put_node_id(const struct part_graph *g, uint32_t t, uint64_t i, bool copied,
                       const struct gnn_dgl_to *to)
{
    const uint32_t p = copied ? g->copies[t].owner[i] : g->part;
    const uint64_t row = copied ? g->copies[t].id[i] - g->f->store->book[t][p] : i;
    return gnn_dgl_put_i64(to, (int64_t)(gnn_dgl_node_from(g->f, p, t) + row));
}

static int put_part(const struct part_graph *g, uint32_t t, uint64_t i, bool copied,
                    const struct gnn_dgl_to *to)
{
    return gnn_dgl_put_i64(to, copied ? g->copies[t].owner[i] : g->part);
}

static int put_node_type(const struct part_graph *g, uint32_t t, uint64_t i, bool copied,
                         const struct gnn_dgl_to *to)
{
    const int32_t type = (int32_t)t;
    (void)g;
    (void)i;
    (void)copied;
    return to->put(to->arg, &type, sizeof type);
}

static int write_node_ids(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_node(c->from, put_node_id, to);
}

static int write_parts(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_node(c->from, put_part, to);
}

static int write_node_types(const struct gnn_dgl_column *c, const struct gnn_dgl_to *to)
{
    return each_node(c->from, put_node_type, to);
}

/* ---- the graph ---- */

static int graph_init(struct part_graph *g, struct gnn_err *e)
{
    const uint32_t n = g->f->schema->nntypes;
    g->copies = gnn_alloc_zero(n, sizeof *g->copies, "node types", e);
    g->own_at = gnn_alloc_zero(n + 1u, sizeof *g->own_at, "node types", e);
    g->copies_at = gnn_alloc_zero(n + 1u, sizeof *g->copies_at, "node types", e);
    if (!g->copies || !g->own_at || !g->copies_at)
        return GNN_E_NOMEM;
    int rc = find_copies(g, e);
    for (uint32_t t = 0; t < n; t++)
        g->own_at[t + 1] = g->own_at[t] + gnn_store_owned(g->f->store, g->part, t);
    g->copies_at[0] = g->own_at[n];
    for (uint32_t t = 0; t < n; t++)
        g->copies_at[t + 1] = g->copies_at[t] + g->copies[t].n;
    g->nodes = g->copies_at[n];
    g->own_edges = gnn_dgl_edge_from(g->f, g->part + 1, 0) - gnn_dgl_edge_from(g->f, g->part, 0);
    return rc;
}

/* The copies of a part are none of the next one. */
static void graph_release(struct part_graph *g)
{
    for (uint32_t t = 0; g->copies && t < g->f->schema->nntypes; t++) {
        struct copies *c = &g->copies[t];
        for (uint64_t i = 0; i < c->n; i++)
            g->f->copy[t][c->id[i]] = UINT32_MAX;
        gnn_buf_release(&c->ids);
        gnn_buf_release(&c->owners);
    }
    gnn_buf_release(&g->list);
    gnn_free(g->copies);
    gnn_free(g->own_at);
    gnn_free(g->copies_at);
}

static struct gnn_dgl_column
make_column(const struct part_graph *g, const char *name, enum gnn_dtype dtype, bool edges,
            int (*write)(const struct gnn_dgl_column *, const struct gnn_dgl_to *))
{
    return (struct gnn_dgl_column){.name = name,
                                   .dtype = dtype,
                                   .ndim = 1,
                                   .shape = {edges ? g->own_edges + g->nout : g->nodes},
                                   .write = write,
                                   .from = g};
}

static int write_graph(const struct part_graph *g, struct gnn_dgl_stream *s)
{
    /* Of one part, DGL has types where there is one, too. */
    const bool parted = g->f->store->nparts > 1,
               typed = g->f->schema->nntypes > 1 || g->f->schema->netypes > 1 || !parted;
    /* What not all graphs have comes last: types, and parts. */
    const struct gnn_dgl_column node[] = {make_column(g, "_ID", GNN_I64, false, write_node_ids),
                                          make_column(g, "inner_node", GNN_U8, false,
                                                      write_own_nodes),
                                          make_column(g, typed ? "_TYPE" : "part_id",
                                                      typed ? GNN_I32 : GNN_I64, false,
                                                      typed ? write_node_types : write_parts),
                                          make_column(g, "part_id", GNN_I64, false, write_parts)},
                                edge[] = {
                                    make_column(g, "_ID", GNN_I64, true, write_edge_ids),
                                    make_column(g, "inner_edge", GNN_U8, true, write_own_edges),
                                    make_column(g, "_TYPE", GNN_I32, true, write_edge_types)};
    const struct gnn_dgl_homograph out = {
        .nodes = g->nodes,
        .edges = g->own_edges + g->nout,
        .end = {make_column(g, "", GNN_I64, true, write_sources),
                make_column(g, "", GNN_I64, true, write_destinations)},
        .node = node,
        .nnode = 2u + typed + parted,
        .edge = edge,
        .nedge = 2u + typed};
    return gnn_dgl_write_graph(&s->to, &out);
}

int gnn_dgl_write_part_graph(const struct gnn_dgl_folder *f, uint32_t part, struct gnn_err *e)
{
    struct part_graph g = {.f = f, .part = part};
    struct gnn_dgl_stream s;
    char *name = gnn_strf(e, "part%u/graph.dgl", part);
    int rc = name ? graph_init(&g, e) : GNN_E_NOMEM;
    if (!rc)
        rc = gnn_dgl_stream_open(&s, f, name, e);
    if (!rc)
        rc = gnn_dgl_stream_close(&s, write_graph(&g, &s));
    graph_release(&g);
    gnn_free(name);
    return rc;
}
