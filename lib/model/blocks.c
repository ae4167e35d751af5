/* From a batch to the layers' blocks. Under the rule "all", layer l of L reads hop L-1-l; under "new", layer l
 * reads the rows of hops 0 .. L-1-l one after the other: each further layer drops the outermost rows, which no
 * later layer needs (PyG's trim_to_layer). */
#include <math.h>
#include <string.h>

#include "kernels/spmm.h"
#include "lib/model/net_impl.h"

static int collect(struct gnn_net *n, uint32_t l, uint32_t r, enum gnn_frontier rule, struct gnn_err *e)
{
    const uint32_t last = n->m->c.nlayers - 1 - l;
    struct gnn_net_rel *q = net_rel(n, l, r);
    q->nseg = 0;
    q->edges = 0;
    if (gnn_buf_fit(&q->segs, last + 1, sizeof(struct gnn_csr), "blocks", e))
        return e->code;
    q->seg = q->segs.data;
    for (uint32_t h = rule == GNN_FRONTIER_ALL ? last : 0; h <= last; h++) {
        const struct gnn_block *k = gnn_batch_block(n->b, h, r);
        if (k->n == 0)
            continue;
        q->seg[q->nseg++] = (struct gnn_csr){
            .first = k->first, .n = k->n, .indptr = k->indptr, .indices = k->indices};
        q->edges += k->indptr[k->n];
    }
    return 0;
}

/* Rows of destinations without a block must still be zero after aggregation, so row factors cover all of them. */
static int mean_factors(struct gnn_net_rel *q, uint32_t ndst, struct gnn_err *e)
{
    if (gnn_buf_fit(&q->row, ndst, sizeof(float), "row factors", e))
        return e->code;
    float *f = q->row.data;
    memset(f, 0, ndst * sizeof(*f));
    for (uint32_t s = 0; s < q->nseg; s++) {
        const struct gnn_csr *k = &q->seg[s];
        for (uint32_t i = 0; i < k->n; i++) {
            const uint32_t d = k->indptr[i + 1] - k->indptr[i];
            f[k->first + i] = d ? 1.0f / (float)d : 0;
        }
    }
    q->rowf = f;
    q->colf = q->diagf = NULL;
    return 0;
}

/* With D the number of neighbours other than itself in the whole graph, plus one, and k of those neighbours
 * sampled, a row is (D-1)/k * sum of x_u/sqrt(D_u D_v) + x_v/D_v: exact when all are there, unbiased otherwise. Self
 * loops that were sampled are taken back through the diagonal: A+I has one loop a node, as PyG's gcn_norm. */
static int gcn_factors(struct gnn_net *n, struct gnn_net_rel *q, uint32_t r, uint32_t ndst,
                       struct gnn_err *e)
{
    const float *is = n->gcn[r].data;
    if (gnn_buf_fit(&q->row, ndst, sizeof(float), "row factors", e) ||
        gnn_buf_fit(&q->diag, ndst, sizeof(float), "diagonal", e))
        return e->code;
    float *f = q->row.data, *dg = q->diag.data;
    for (uint32_t i = 0; i < ndst; i++) {
        f[i] = 0;
        dg[i] = is[i] * is[i];
    }
    for (uint32_t s = 0; s < q->nseg; s++) {
        const struct gnn_csr *k = &q->seg[s];
        for (uint32_t i = 0; i < k->n; i++) {
            const uint32_t g = k->first + i;
            uint32_t loops = 0, m = k->indptr[i + 1] - k->indptr[i];
            for (uint32_t x = k->indptr[i]; x < k->indptr[i + 1]; x++)
                loops += k->indices[x] == g;
            m -= loops;
            const float deg = rintf(1 / (is[g] * is[g])) - 1;
            const float up = m ? deg / (float)m : 0;
            f[g] = up * is[g];
            dg[g] = (1 - (float)loops * up) * is[g] * is[g];
        }
    }
    q->rowf = f;
    q->colf = is;
    q->diagf = dg;
    return 0;
}

static int gcn_degrees(struct gnn_net *n, uint32_t r, const struct gnn_meta *meta, struct gnn_err *e)
{
    const struct gnn_model_etype *et = &n->m->c.etype[r];
    const char *type = n->m->c.ntype[et->src].name;
    const uint64_t nodes = gnn_batch_nodes(n->b, et->src);
    char name[GNN_NAME_MAX + 1];
    (void)meta;
    gnn_tensor_name(name, "node/%s/degree.%s", type, et->rel);
    const struct gnn_tensor *t = gnn_tensors_find(&n->b->tensors, name);
    if (!t || t->dtype != GNN_U32 || t->ndim != 1 || t->shape[0] != nodes)
        return gnn_fail(e, GNN_E_INPUT,
                        "gcn needs the degrees of nodes, but batches have no %s: "
                        "give gnn-gather --fields x,y,degree",
                        name);
    if (gnn_buf_fit(&n->gcn[r], nodes, sizeof(float), "degrees", e))
        return e->code;
    const uint32_t *d = t->data;
    float *f = n->gcn[r].data;
    for (uint64_t i = 0; i < nodes; i++)
        f[i] = 1 / sqrtf((float)d[i] + 1);
    return 0;
}

bool net_transform_first(uint64_t din, uint64_t dout, uint64_t ndst, uint64_t nsrc, uint64_t edges)
{
    enum { EDGE = 27 };
    if (dout >= din)
        return false;
    return nsrc * din * dout + EDGE * edges * dout < ndst * din * dout + EDGE * edges * din;
}

static void set_factors(struct gnn_net_rel *q, uint32_t ndst)
{
    for (uint32_t s = 0; s < q->nseg; s++) {
        q->seg[s].row = q->rowf;
        q->seg[s].col = q->colf;
        q->seg[s].diag = q->diagf;
        q->seg[s].ndiag = q->diagf ? ndst : 0;
    }
}

static int transpose(struct gnn_net_rel *q, uint32_t nsrc, struct gnn_err *e)
{
    if (gnn_buf_fit(&q->tptr, (uint64_t)nsrc + 1, sizeof(uint32_t), "transposed block", e) ||
        gnn_buf_fit(&q->tidx, q->edges, sizeof(uint32_t), "transposed block", e))
        return e->code;
    gnn_csr_transpose(q->seg, q->nseg, nsrc, q->tptr.data, q->tidx.data);
    return 0;
}

int net_blocks(struct gnn_net *n, const struct gnn_meta *meta, bool train, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const uint32_t nl = m->c.nlayers, nt = m->c.nntypes;
    if (n->b->nhops != nl)
        return gnn_fail(e, GNN_E_INPUT, "batches have %u hops, the model %u layers", n->b->nhops, nl);
    for (uint32_t l = 0; l <= nl; l++)
        for (uint32_t t = 0; t < nt; t++)
            n->rows[l * nt + t] =
                n->b->type[t].count && gnn_model_in(m, l, t) ? (uint32_t)n->b->type[t].count[nl - l] : 0;
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        if (m->c.kind == GNN_GCN && gcn_degrees(n, r, meta, e))
            return e->code;
        for (uint32_t l = 0; l < nl; l++) {
            struct gnn_net_rel *q = net_rel(n, l, r);
            const uint32_t ndst = net_rows(n, l + 1, m->c.etype[r].dst);
            const uint32_t nsrc = net_rows(n, l, m->c.etype[r].src);
            if (!gnn_model_conv(m, l, r)->needed)
                continue;
            if (collect(n, l, r, meta->sampling.frontier, e) ||
                (m->c.kind == GNN_GCN ? gcn_factors(n, q, r, ndst, e) : mean_factors(q, ndst, e)))
                return e->code;
            set_factors(q, ndst);
            q->transform_first = net_transform_first(gnn_model_in(m, l, m->c.etype[r].src), m->c.width[l],
                                                 ndst, nsrc, q->edges);
            if (train && (l > 0 || q->transform_first) && transpose(q, nsrc, e))
                return e->code;
            n->edges += q->edges;
        }
    }
    return 0;
}
