/* One layer for all nodes of a type, in chunks of rows. */
#include <string.h>

#include "lib/model/net_impl.h"
#include "lib/predict/predict_impl.h"

/* A chunk: rows [at, at + n) of part `part`, store ids from `first` on. */
struct chunk {
    uint32_t part;
    uint64_t at, first, n;
};

static bool into(const struct gnn_predict *p, uint32_t l, uint32_t r, uint32_t type)
{
    return p->m->c.etype[r].dst == type && gnn_model_conv(p->m, l, r)->needed;
}

static const float *param(const struct gnn_predict *p, uint32_t i)
{
    return (const float *)p->params.data + p->m->param[i].at;
}

/* y = x w^T + beta y. */
static int product(struct gnn_predict *p, size_t m, size_t n, size_t k, const float *x, uint32_t w,
                   float beta, float *y, struct gnn_err *e)
{
    p->flops += 2 * (uint64_t)m * n * k;
    return p->o.ops->gemm(p->o.ops, false, true, m, n, k, x, param(p, w), beta, y, NULL, e);
}

/* What lies at `from` in the host's memory, where the operations can read it. */
static int near(struct gnn_predict *p, struct gnn_buf *b, const void *from, uint64_t n, size_t size,
                const void **at, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    *at = from;
    if (!o->async)
        return 0;
    if (o->fit(o, b, n, size, "a chunk of edges", e))
        return e->code;
    o->put(o, b->data, from, n * size);
    *at = b->data;
    return 0;
}

/* The chunk's adjacency along relation r, with offsets of 32 bits. */
static int make_block(struct gnn_predict *p, uint32_t r, const struct chunk *c,
                      const struct gnn_csr **block, struct gnn_err *e)
{
    const struct gnn_predict_rel *q = &p->rel[r];
    const uint64_t *ptr =
        (const uint64_t *)predict_adjacency(p, c->part, r, "indptr")->data + c->at;
    const uint32_t *idx =
        (const uint32_t *)predict_adjacency(p, c->part, r, "indices")->data + ptr[0];
    const uint64_t edges = ptr[c->n] - ptr[0];
    const void *at;
    if (gnn_buf_fit(&p->offsets, c->n + 1, sizeof(uint32_t), "a chunk of edges", e))
        return e->code;
    uint32_t *offset = p->offsets.data;
    for (uint64_t i = 0; i <= c->n; i++)
        offset[i] = (uint32_t)(ptr[i] - ptr[0]);
    struct gnn_csr k = {.first = (uint32_t)c->first, .n = (uint32_t)c->n, .row = q->row.data};
    if (p->m->c.kind == GNN_GCN) {
        k.col = q->row.data;
        k.diag = q->diag.data;
        k.ndiag = (uint32_t)(c->first + c->n);
    }
    if (near(p, &p->indptr, offset, c->n + 1, sizeof *offset, &at, e))
        return e->code;
    k.indptr = at;
    if (near(p, &p->indices, idx, edges, sizeof *idx, &at, e))
        return e->code;
    k.indices = at;
    p->edges += edges;
    p->csr = k;
    if (near(p, &p->block, &p->csr, 1, sizeof p->csr, &at, e))
        return e->code;
    *block = at;
    return 0;
}

/* Aggregates x (all sources, d columns) into y, the chunk's rows, or adds to it. */
static int aggregate(struct gnn_predict *p, uint32_t r, const struct chunk *c,
                     const struct gnn_table *x, float *y, bool acc, struct gnn_err *e)
{
    const struct gnn_csr *block = NULL;
    if (make_block(p, r, c, &block, e))
        return e->code;
    p->o.ops->aggregate(p->o.ops, block, 1, (uint32_t)c->first, (uint32_t)(c->first + c->n),
                        x->data, (uint32_t)x->rows, x->width, y, acc);
    return 0;
}

static int conv_chunk(struct gnn_predict *p, uint32_t l, uint32_t r, const struct chunk *c,
                      float *y, bool acc, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const struct gnn_model *m = p->m;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    const uint32_t src = m->c.etype[r].src, dst = m->c.etype[r].dst;
    const size_t ds = gnn_model_in(m, l, src), dd = gnn_model_in(m, l, dst), w = m->c.width[l];
    const float *self;

    if (p->rel[r].z.data) {
        if (aggregate(p, r, c, &p->rel[r].z, y, acc, e))
            return e->code;
    } else if (o->fit(o, &p->agg, c->n * ds, sizeof(float), "aggregated rows", e) ||
               aggregate(p, r, c, &p->in[src], p->agg.data, false, e) ||
               product(p, c->n, w, ds, p->agg.data, v->lin_l, acc ? 1 : 0, y, e)) {
        return e->code;
    }
    if (v->lin_r == UINT32_MAX)
        return 0;
    if (predict_rows(p, &p->in[dst], c->first, c->n, &self, e))
        return e->code;
    return product(p, c->n, w, dd, self, v->lin_r, 1, y, e);
}

static int finish_chunk(struct gnn_predict *p, uint32_t l, uint32_t type, const struct chunk *c,
                        float *y, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const struct gnn_model *m = p->m;
    const size_t w = m->c.width[l];
    const uint32_t norm = m->norm[(size_t)l * m->c.nntypes + type], n = (uint32_t)c->n;
    const bool last = l + 1 == m->c.nlayers;
    const float *bias = p->bias.data;
    if (norm != UINT32_MAX && m->c.batch_norm) {
        o->bias_act(o, y, n, w, bias, false, NULL);
        o->batch_norm(o, y, n, w, p->stat.data, param(p, norm), param(p, norm + GNN_NORM_BIAS),
                      NULL, y);
        bias = NULL;
    } else if (norm != UINT32_MAX) {
        if (o->fit(o, &p->rstd, n, sizeof(float), "activations", e))
            return e->code;
        o->bias_act(o, y, n, w, bias, false, NULL);
        o->layer_norm(o, y, n, w, param(p, norm), param(p, norm + GNN_NORM_BIAS), NET_NORM_EPS,
                      NULL, p->rstd.data, y);
        bias = NULL;
    }
    o->bias_act(o, y, n, w, bias, !last, NULL);
    return predict_keep_rows(p, &p->out[type], c->first, c->n, y, e);
}

/* z: the sources times lin_l, where that is the cheaper order. */
static int transform(struct gnn_predict *p, uint32_t l, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const uint32_t src = m->c.etype[r].src;
    const uint64_t ns = p->in[src].rows, nd = p->s->meta.schema.ntype[m->c.etype[r].dst].count;
    const size_t ds = gnn_model_in(m, l, src), w = m->c.width[l];
    struct gnn_table *z = &p->rel[r].z;
    if (!net_transform_first(ds, w, nd, ns, p->s->meta.schema.etype[r].count))
        return 0;
    if (predict_table_new(p, z, ns, w, e))
        return e->code;
    for (uint64_t i = 0; i < ns; i += p->chunk) {
        const uint64_t n = ns - i < p->chunk ? ns - i : p->chunk;
        const float *x;
        float *y;
        if (predict_rows(p, &p->in[src], i, n, &x, e) || predict_open_rows(p, z, i, n, &y, e) ||
            product(p, n, w, ds, x, gnn_model_conv(m, l, r)->lin_l, 0, y, e) ||
            predict_keep_rows(p, z, i, n, y, e))
            return e->code;
    }
    return 0;
}

/* The sum of the biases of all relations into the type. */
static int sum_bias(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const size_t w = p->m->c.width[l];
    if (o->fit(o, &p->bias, w, sizeof(float), "bias", e))
        return e->code;
    o->zero(o, p->bias.data, w * sizeof(float));
    for (uint32_t r = 0; r < p->m->c.netypes; r++)
        if (into(p, l, r, type))
            o->add(o, param(p, gnn_model_conv(p->m, l, r)->bias), w, p->bias.data);
    return 0;
}

/* Batch norm's statistics, if there is one. */
static int take_stats(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint32_t norm = p->m->norm[(size_t)l * p->m->c.nntypes + type];
    const size_t w = p->m->c.width[l];
    if (!p->m->c.batch_norm || norm == UINT32_MAX)
        return 0;
    if (o->fit(o, &p->stat, GNN_BATCH_STATS * w, sizeof(float), "statistics", e))
        return e->code;
    o->running_stats(o, param(p, norm + GNN_NORM_MEAN), param(p, norm + GNN_NORM_VAR), w,
                     NET_NORM_EPS, p->stat.data);
    return 0;
}

static int start_layer(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e)
{
    if (predict_table_new(p, &p->out[type], p->s->meta.schema.ntype[type].count, p->m->c.width[l],
                          e) ||
        sum_bias(p, l, type, e) || take_stats(p, l, type, e))
        return e->code;
    for (uint32_t r = 0; r < p->m->c.netypes; r++)
        if (into(p, l, r, type) && transform(p, l, r, e))
            return e->code;
    return 0;
}

/* Fewer rows, if they have too many edges along one of the relations. */
static uint64_t fitting(const struct gnn_predict *p, uint32_t l, uint32_t type,
                        const struct chunk *c)
{
    uint64_t n = c->n;
    for (uint32_t r = 0; r < p->m->c.netypes; r++) {
        if (!into(p, l, r, type))
            continue;
        const uint64_t *ptr =
            (const uint64_t *)predict_adjacency(p, c->part, r, "indptr")->data + c->at;
        while (n > 1 && ptr[n] - ptr[0] > PREDICT_EDGES)
            n /= 2;
    }
    return n;
}

static int layer_chunk(struct gnn_predict *p, uint32_t l, uint32_t type, const struct chunk *c,
                       struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const struct gnn_model *m = p->m;
    const size_t w = m->c.width[l];
    bool acc = m->c.residual && l + 1 < m->c.nlayers && gnn_model_in(m, l, type) == w;
    const float *x;
    float *y;
    if (predict_open_rows(p, &p->out[type], c->first, c->n, &y, e))
        return e->code;
    if (acc) {
        if (predict_rows(p, &p->in[type], c->first, c->n, &x, e))
            return e->code;
        o->copy(o, y, x, c->n * w * sizeof(float));
    }
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        if (!into(p, l, r, type))
            continue;
        if (conv_chunk(p, l, r, c, y, acc, e))
            return e->code;
        acc = true;
    }
    return finish_chunk(p, l, type, c, y, e);
}

int predict_layer(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const uint64_t total = p->s->meta.schema.ntype[type].count;
    uint64_t done = 0;
    if (start_layer(p, l, type, e))
        return e->code;
    for (uint32_t k = 0; k < p->s->nparts; k++) {
        const uint64_t own = gnn_store_owned(p->s, k, type);
        for (struct chunk c = {.part = k}; c.at < own; c.at += c.n) {
            c.first = p->s->book[type][k] + c.at;
            c.n = own - c.at < p->chunk ? own - c.at : p->chunk;
            c.n = fitting(p, l, type, &c);
            if (layer_chunk(p, l, type, &c, e))
                return e->code;
            done += c.n;
            if (p->o.progress)
                p->o.progress(p->o.arg, l, done, total);
        }
    }
    for (uint32_t r = 0; r < p->m->c.netypes; r++)
        predict_table_free(p, &p->rel[r].z);
    o->mark(o, 0);
    return o->wait(o, 0, e);
}
