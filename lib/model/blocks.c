/* From a batch to the layers' blocks. Under the rule "all", layer l of L reads hop L-1-l; under
 * "new", layer l reads the rows of hops 0 .. L-1-l one after the other: each further layer drops
 * the outermost rows, which no later layer needs (PyG's trim_to_layer). */
#include <string.h>

#include "lib/model/net_impl.h"

static uint32_t dst_rows(const struct gnn_net *n, uint32_t l, uint32_t r)
{
    return net_rows(n, l + 1, n->m->c.etype[r].dst);
}
static uint32_t src_rows(const struct gnn_net *n, uint32_t l, uint32_t r)
{
    return net_rows(n, l, n->m->c.etype[r].src);
}

/* Room for the factors of q's rows and for the transposed block, which `like` names and t lists. */
static int fit(struct gnn_net *n, struct gnn_net_rel *q, uint32_t l, uint32_t r, bool transposed,
               struct gnn_csr *like, struct gnn_csr *t, struct gnn_err *e)
{
    const struct gnn_ops *o = n->ops;
    const uint32_t ndst = dst_rows(n, l, r), nsrc = src_rows(n, l, r);
    const bool gcn = n->m->c.kind == GNN_GCN;
    if (o->fit(o, &q->row, ndst, sizeof(float), "row factors", e) ||
        (gcn && o->fit(o, &q->diag, ndst, sizeof(float), "diagonal", e)) ||
        (transposed &&
         (o->fit(o, &q->tptr, (uint64_t)nsrc + 1, sizeof(uint32_t), "transposed block", e) ||
          o->fit(o, &q->tidx, q->edges, sizeof(uint32_t), "transposed block", e))))
        return e->code;
    *like = (struct gnn_csr){.row = q->row.data};
    if (gcn) {
        like->col = n->gcn[r].data;
        like->diag = q->diag.data;
        like->ndiag = ndst;
    }
    *t = *like;
    t->n = nsrc;
    t->indptr = q->tptr.data;
    t->indices = q->tidx.data;
    t->row = like->col;
    t->col = like->row;
    return 0;
}

/* Lists the blocks of layer l, relation r from seg[0] on, at least one, and the transposed one. */
static int collect(struct gnn_net *n, uint32_t l, uint32_t r, enum gnn_frontier rule, bool train,
                   struct gnn_csr *seg, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const uint32_t last = m->c.nlayers - 1 - l;
    struct gnn_net_rel *q = net_rel(n, l, r);
    struct gnn_csr like, t;
    uint64_t edges = 0;
    for (uint32_t h = rule == GNN_FRONTIER_ALL ? last : 0; h <= last; h++)
        edges += gnn_batch_block(n->b, h, r)->edges;
    if (edges > UINT32_MAX)
        return gnn_fail(e, GNN_E_INPUT, "a batch has more than 2^32 edges");
    q->edges = (uint32_t)edges;
    q->transform_first = net_transform_first(gnn_model_in(m, l, m->c.etype[r].src), m->c.width[l],
                                             dst_rows(n, l, r), src_rows(n, l, r), edges);
    if (fit(n, q, l, r, train && (l > 0 || q->transform_first), &like, &t, e))
        return e->code;
    q->nseg = 0;
    for (uint32_t h = rule == GNN_FRONTIER_ALL ? last : 0; h <= last; h++) {
        const struct gnn_block *k = gnn_batch_block(n->b, h, r);
        if (k->n == 0)
            continue;
        seg[q->nseg] = like;
        seg[q->nseg].first = k->first;
        seg[q->nseg].n = k->n;
        seg[q->nseg].indptr = k->indptr;
        seg[q->nseg++].indices = k->indices;
    }
    if (q->nseg == 0)
        seg[q->nseg++] = like;
    seg[q->nseg] = t;
    n->edges += edges;
    return 0;
}

static int gcn_degrees(struct gnn_net *n, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_etype *et = &n->m->c.etype[r];
    const char *type = n->m->c.ntype[et->src].name;
    const uint64_t nodes = gnn_batch_nodes(n->b, et->src);
    char name[GNN_NAME_MAX + 1], field[GNN_WORD_MAX + 1];
    gnn_tensor_name(name, "node/%s/%s", type, gnn_degree_field(field, et->rel, r));
    const struct gnn_tensor *t = gnn_tensors_find(&n->b->tensors, name);
    if (!t || t->dtype != GNN_U32 || t->ndim != 1 || t->shape[0] != nodes)
        return gnn_fail(e, GNN_E_INPUT,
                        "gcn requires the degrees of nodes, but the batches have no %s: "
                        "use gnn-gather --fields x,y,degree",
                        name);
    if (n->ops->fit(n->ops, &n->gcn[r], nodes, sizeof(float), "degrees", e))
        return e->code;
    n->ops->gcn_degrees(n->ops, t->data, nodes, n->gcn[r].data);
    return 0;
}

bool net_transform_first(uint64_t din, uint64_t dout, uint64_t ndst, uint64_t nsrc, uint64_t edges)
{
    enum { EDGE = 27 };
    if (dout >= din)
        return false;
    return nsrc * din * dout + EDGE * edges * dout < ndst * din * dout + EDGE * edges * din;
}

static void count_rows(struct gnn_net *n)
{
    const struct gnn_model *m = n->m;
    const uint32_t nl = m->c.nlayers, nt = m->c.nntypes;
    for (uint32_t l = 0; l <= nl; l++)
        for (uint32_t t = 0; t < nt; t++)
            n->rows[l * nt + t] = n->b->type[t].count && gnn_model_in(m, l, t)
                                      ? (uint32_t)n->b->type[t].count[nl - l]
                                      : 0;
}

/* All relations' blocks, brought to where they are used in one go; seg becomes the place there. */
static int list_blocks(struct gnn_net *n, enum gnn_frontier rule, bool train, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const uint32_t nl = m->c.nlayers;
    uint64_t room = 0, at = 0;
    for (uint32_t l = 0; l < nl; l++)
        for (uint32_t r = 0; r < m->c.netypes; r++)
            room +=
                gnn_model_conv(m, l, r)->needed ? 1 + (rule == GNN_FRONTIER_ALL ? 1 : nl - l) : 0;
    if (gnn_buf_fit(&n->segs, room, sizeof(struct gnn_csr), "blocks", e) ||
        n->ops->fit(n->ops, &n->blocks, room, sizeof(struct gnn_csr), "blocks", e))
        return e->code;
    struct gnn_csr *seg = n->segs.data, *there = n->blocks.data;
    for (uint32_t r = 0; r < m->c.netypes; r++)
        for (uint32_t l = 0; l < nl; l++) {
            if (!gnn_model_conv(m, l, r)->needed)
                continue;
            if (collect(n, l, r, rule, train, seg + at, e))
                return e->code;
            net_rel(n, l, r)->seg = there + at;
            at += net_rel(n, l, r)->nseg + 1;
        }
    n->ops->put(n->ops, there, seg, at * sizeof(*seg));
    return 0;
}

static void fill_factors(struct gnn_net *n, uint32_t l, uint32_t r, bool train)
{
    const struct gnn_ops *o = n->ops;
    const struct gnn_net_rel *q = net_rel(n, l, r);
    if (n->m->c.kind == GNN_GCN)
        o->gcn_factors(o, q->seg, q->nseg, dst_rows(n, l, r), n->gcn[r].data, q->row.data,
                       q->diag.data);
    else
        o->mean_factors(o, q->seg, q->nseg, dst_rows(n, l, r), q->row.data);
    if (train && (l > 0 || q->transform_first))
        o->transpose(o, q->seg, q->nseg, src_rows(n, l, r), q->edges, q->tptr.data, q->tidx.data);
}

int net_blocks(struct gnn_net *n, const struct gnn_meta *meta, bool train, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const uint32_t nl = m->c.nlayers;
    if (n->b->nhops != nl)
        return gnn_fail(e, GNN_E_INPUT, "batches have %u hops, the model %u layers", n->b->nhops,
                        nl);
    count_rows(n);
    for (uint32_t r = 0; m->c.kind == GNN_GCN && r < m->c.netypes; r++)
        if (gcn_degrees(n, r, e))
            return e->code;
    if (list_blocks(n, meta->sampling.frontier, train, e))
        return e->code;
    for (uint32_t r = 0; r < m->c.netypes; r++)
        for (uint32_t l = 0; l < nl; l++)
            if (gnn_model_conv(m, l, r)->needed)
                fill_factors(n, l, r, train);
    return 0;
}
