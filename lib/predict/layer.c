/* One layer for all nodes of a type, in chunks of rows. */
#include <math.h>
#include <string.h>

#include "kernels/act.h"
#include "kernels/gemm.h"
#include "kernels/spmm.h"
#include "lib/model/net_impl.h"
#include "lib/predict/impl.h"

enum { CHUNK = 8192 };

/* A chunk: rows [at, at + n) of part `part`, store ids from `first` on. */
struct chunk {
    uint32_t part;
    uint64_t at, first, n;
};

static int product(struct gnn_predict *p, size_t m, size_t n, size_t k, const float *a, const float *w,
                   float beta, float *c, struct gnn_err *e)
{
    p->flops += 2 * (uint64_t)m * n * k;
    if (gnn_gemm(false, true, m, n, k, 1, a, k, w, k, beta, c, n))
        return gnn_fail(e, GNN_E_NOMEM, "matrix product of %zu x %zu x %zu failed", m, n, k);
    return 0;
}

static const struct gnn_tensor *adjacency(struct gnn_predict *p, uint32_t part, uint32_t r, const char *what)
{
    char key[GNN_ETYPE_KEY_ROOM];
    return gnn_store_findf(p->s, part, "edge/%s/%s", gnn_etype_key(&p->s->meta.schema, r, key, sizeof(key)),
                           what);
}

static bool sound(const uint64_t *ptr, const uint32_t *idx, uint64_t n, uint64_t edges, uint64_t sources)
{
    uint64_t wrong = ptr[0] != 0 || ptr[n] != edges;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < n; i++)
        wrong += ptr[i] > ptr[i + 1];
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t k = 0; k < edges; k++)
        wrong += idx[k] >= sources;
    return wrong == 0;
}

int predict_check(struct gnn_predict *p, struct gnn_err *e)
{
    const struct gnn_schema *c = &p->s->meta.schema;
    for (uint32_t r = 0; r < c->netypes; r++)
        for (uint32_t k = 0; k < p->s->nparts; k++) {
            const struct gnn_tensor *ptr = adjacency(p, k, r, "indptr"), *idx = adjacency(p, k, r, "indices");
            if (!ptr || !idx ||
                !sound(ptr->data, idx->data, gnn_store_owned(p->s, k, c->etype[r].dst), idx->shape[0],
                       c->ntype[c->etype[r].src].count))
                return gnn_fail(e, GNN_E_INPUT, "%s: adjacency %s is damaged", gnn_store_part_path(p->s, k),
                                ptr ? ptr->name : "?");
        }
    return 0;
}

/* Factors of the chunk's rows: 1/degree, or GCN's 1/sqrt(degree). */
static int factors(struct gnn_predict *p, uint32_t r, const struct chunk *c, const uint64_t *ptr,
                   struct gnn_err *e)
{
    if (gnn_buf_fit(&p->row, c->n, sizeof(float), "row factors", e))
        return e->code;
    float *f = p->row.data;
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t d = ptr[i + 1] - ptr[i];
        f[i] = p->m->c.kind == GNN_GCN ? p->isqrt[r][c->first + i] : d ? 1.0f / (float)d : 0;
    }
    return 0;
}

/* GCN has exactly one self loop a node; those that the graph has already are counted in the sum. */
static void self_loops(const struct gnn_predict *p, uint32_t r, const struct chunk *c, const uint64_t *ptr,
                       const uint32_t *idx, const float *x, size_t d, float *y)
{
    const float *is = p->isqrt[r];
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t v = c->first + i;
        uint64_t loops = 0;
        for (uint64_t k = ptr[i]; k < ptr[i + 1]; k++)
            loops += idx[k] == v;
        const float g = (1 - (float)loops) * is[v] * is[v];
        for (size_t j = 0; j < d; j++)
            y[i * d + j] += g * x[v * d + j];
    }
}

/* Aggregates x (all sources, d columns) into y (the chunk), or adds to it. */
static int aggregate(struct gnn_predict *p, uint32_t r, const struct chunk *c, const float *x, size_t d,
                     float *y, int acc, struct gnn_err *e)
{
    const uint64_t *ptr = (const uint64_t *)adjacency(p, c->part, r, "indptr")->data + c->at;
    const uint32_t *idx = adjacency(p, c->part, r, "indices")->data;
    if (factors(p, r, c, ptr, e))
        return e->code;
    p->edges += ptr[c->n] - ptr[0];
    gnn_spmm64(ptr, idx, c->n, p->row.data, p->isqrt ? p->isqrt[r] : NULL, x, d, d, y, d, acc);
    if (p->isqrt)
        self_loops(p, r, c, ptr, idx, x, d, y);
    return 0;
}

static int conv_chunk(struct gnn_predict *p, uint32_t l, uint32_t r, const struct chunk *c, bool first_done,
                      struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    const uint32_t src = m->c.etype[r].src, dst = m->c.etype[r].dst;
    const size_t ds = gnn_model_in(m, l, src), dd = gnn_model_in(m, l, dst), w = m->c.width[l];
    float *y = p->out[dst].data + c->first * w;

    if (p->z.data) {
        if (aggregate(p, r, c, p->z.data, w, y, first_done, e))
            return e->code;
    } else if (gnn_buf_fit(&p->agg, c->n * ds, sizeof(float), "aggregated rows", e) ||
               aggregate(p, r, c, p->in[src].data, ds, p->agg.data, 0, e) ||
               product(p, c->n, w, ds, p->agg.data, m->slab + m->param[v->lin_l].at, first_done ? 1 : 0, y, e)) {
        return e->code;
    }
    if (v->lin_r == UINT32_MAX)
        return 0;
    return product(p, c->n, w, dd, p->in[dst].data + c->first * dd, m->slab + m->param[v->lin_r].at, 1, y, e);
}

static void finish_chunk(struct gnn_predict *p, uint32_t l, uint32_t type, const struct chunk *c)
{
    const struct gnn_model *m = p->m;
    const size_t w = m->c.width[l];
    const uint32_t norm = m->norm[(size_t)l * m->c.nntypes + type];
    const bool last = l + 1 == m->c.nlayers;
    float *y = p->out[type].data + c->first * w;
    const float *bias = p->bias.data;
    if (norm != UINT32_MAX) {
        gnn_bias_act(y, c->n, w, bias, false, NULL);
        gnn_layer_norm(y, c->n, w, m->slab + m->param[norm].at, m->slab + m->param[norm + 1].at, NET_NORM_EPS,
                       NULL, p->row.data, y);
        bias = NULL;
    }
    gnn_bias_act(y, c->n, w, bias, !last, NULL);
}

/* p->z: the sources times lin_l, where that is the cheaper order. */
static int transform(struct gnn_predict *p, uint32_t l, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const uint32_t src = m->c.etype[r].src;
    const uint64_t ns = p->in[src].rows, nd = p->s->meta.schema.ntype[m->c.etype[r].dst].count;
    const size_t ds = gnn_model_in(m, l, src), w = m->c.width[l];
    if (!net_transform_first(ds, w, nd, ns, p->s->meta.schema.etype[r].count))
        return 0;
    if (predict_table_new(p, &p->z, ns, w, e))
        return e->code;
    for (uint64_t i = 0; i < ns; i += CHUNK) {
        const uint64_t n = ns - i < CHUNK ? ns - i : CHUNK;
        if (product(p, n, w, ds, p->in[src].data + i * ds, m->slab + m->param[gnn_model_conv(m, l, r)->lin_l].at,
                    0, p->z.data + i * w, e))
            return e->code;
    }
    return 0;
}

static int start_layer(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const size_t w = m->c.width[l];
    if (predict_table_new(p, &p->out[type], p->s->meta.schema.ntype[type].count, w, e) ||
        gnn_buf_fit(&p->bias, w, sizeof(float), "bias", e) ||
        gnn_buf_fit(&p->row, CHUNK, sizeof(float), "row factors", e))
        return e->code;
    float *b = p->bias.data;
    memset(b, 0, w * sizeof(float));
    for (uint32_t r = 0; r < m->c.netypes; r++)
        if (gnn_model_conv(m, l, r)->needed && m->c.etype[r].dst == type)
            for (size_t j = 0; j < w; j++)
                b[j] += m->slab[m->param[gnn_model_conv(m, l, r)->bias].at + j];
    return 0;
}

int predict_layer(struct gnn_predict *p, uint32_t l, uint32_t type, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const size_t w = m->c.width[l];
    const bool res = m->c.residual && l + 1 < m->c.nlayers && gnn_model_in(m, l, type) == w;
    const uint64_t total = p->s->meta.schema.ntype[type].count;
    uint32_t into = 0, seen = 0;
    uint64_t done = 0;
    if (start_layer(p, l, type, e))
        return e->code;
    if (res && total)
        memcpy(p->out[type].data, p->in[type].data, total * w * sizeof(float));
    for (uint32_t r = 0; r < m->c.netypes; r++)
        into += m->c.etype[r].dst == type && gnn_model_conv(m, l, r)->needed;
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        if (m->c.etype[r].dst != type || !gnn_model_conv(m, l, r)->needed)
            continue;
        if (transform(p, l, r, e))
            return e->code;
        seen++;
        for (uint32_t k = 0; k < p->s->nparts; k++) {
            const uint64_t own = gnn_store_owned(p->s, k, type);
            for (uint64_t at = 0; at < own; at += CHUNK) {
                const struct chunk c = {k, at, p->s->book[type][k] + at, own - at < CHUNK ? own - at : CHUNK};
                if (conv_chunk(p, l, r, &c, res || seen > 1, e))
                    return e->code;
                if (seen == into)
                    finish_chunk(p, l, type, &c);
                done += c.n;
                if (p->o.progress)
                    p->o.progress(p->o.arg, l, done, total * into);
            }
        }
        predict_table_free(p, &p->z);
    }
    return 0;
}
