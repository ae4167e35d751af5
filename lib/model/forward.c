/* The forward pass. Rows of a layer are computed in chunks, so that aggregated rows are still in the cache when they
 * are multiplied, and products when the activation is applied. */
#include <string.h>

#include "lib/model/net_impl.h"

enum { CHUNK = NET_CHUNK };

/* Rows [from, to) of A X for the blocks of q, into y (whose row 0 is row `from`). */
static void aggregate(const struct gnn_net_rel *q, uint32_t from, uint32_t to, const float *x, size_t d,
                      float *y, size_t ldy, int acc)
{
    uint32_t at = from;
    for (uint32_t s = 0; s <= q->nseg; s++) {
        const struct gnn_csr *k = s < q->nseg ? &q->seg[s] : NULL;
        uint32_t b = k ? k->first : to, e = k ? k->first + k->n : to;
        b = b < from ? from : b > to ? to : b;
        e = e < from ? from : e > to ? to : e;
        for (; at < b; at++) { /* rows outside all blocks have no neighbours */
            float *restrict v = y + (size_t)(at - from) * ldy;
            for (size_t j = 0; j < d; j++)
                v[j] = (acc ? v[j] : 0) + (q->diagf ? q->diagf[at] * x[at * d + j] : 0);
        }
        if (!k || b >= e)
            continue;
        struct gnn_csr part = *k;
        part.indptr += b - k->first;
        part.n = e - b;
        part.first = b;
        gnn_spmm(&part, x, d, d, y - (size_t)from * ldy, ldy, acc);
        at = e;
    }
}

/* Adds relation r's share to rows [from, to) of the output of its destination type; *fresh: nothing is there yet. */
static int conv_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t r, uint32_t from, uint32_t to,
                     float *out, bool *fresh, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    const struct gnn_conv *v = gnn_model_conv(m, l, r);
    struct gnn_net_rel *q = net_rel(n, l, r);
    const uint32_t src = m->c.etype[r].src, dst = m->c.etype[r].dst;
    const size_t ds = gnn_model_in(m, l, src), dd = gnn_model_in(m, l, dst), w = m->c.width[l];
    float *y = out + (size_t)from * w;
    int rc;

    if (q->transform_first) {
        aggregate(q, from, to, n->tmp.data, w, y, w, !*fresh);
    } else {
        float *a = (float *)q->agg.data + (size_t)from * ds;
        aggregate(q, from, to, *net_in(n, l, src), ds, a, ds, 0);
        rc = net_gemm(n, false, true, to - from, w, ds, a, ds, p + net_param(n, v->lin_l), ds,
                      *fresh ? 0 : 1, y, w, e);
        if (rc)
            return rc;
    }
    *fresh = false;
    if (v->lin_r == UINT32_MAX)
        return 0;
    return net_gemm(n, false, true, to - from, w, dd, *net_in(n, l, dst) + (size_t)from * dd, dd,
                    p + net_param(n, v->lin_r), dd, 1, y, w, e);
}

/* Before the chunks of a relation: room for its aggregated rows, or its transformed sources. */
static int conv_prepare(struct gnn_net *n, const float *p, uint32_t l, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    struct gnn_net_rel *q = net_rel(n, l, r);
    const uint32_t src = m->c.etype[r].src, nsrc = net_rows(n, l, src);
    const uint32_t ndst = net_rows(n, l + 1, m->c.etype[r].dst);
    const size_t ds = gnn_model_in(m, l, src), w = m->c.width[l];
    if (!q->transform_first)
        return gnn_buf_fit(&q->agg, (uint64_t)ndst * ds, sizeof(float), "aggregated rows", e);
    if (gnn_buf_fit(&n->tmp, (uint64_t)nsrc * w, sizeof(float), "transformed rows", e))
        return e->code;
    return net_gemm(n, false, true, nsrc, w, ds, *net_in(n, l, src), ds,
                    p + net_param(n, gnn_model_conv(m, l, r)->lin_l), ds, 0, n->tmp.data, w, e);
}

/* The sum of the biases of all relations into type t; *bias points to it. */
static int sum_bias(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, const float **bias,
                    struct gnn_err *e)
{
    const uint32_t w = n->m->c.width[l];
    if (gnn_buf_fit(&n->bias, w, sizeof(float), "bias", e))
        return e->code;
    float *b = n->bias.data;
    memset(b, 0, w * sizeof(*b));
    for (uint32_t r = 0; r < n->m->c.netypes; r++) {
        const struct gnn_conv *v = gnn_model_conv(n->m, l, r);
        if (v->needed && n->m->c.etype[r].dst == t)
            for (uint32_t j = 0; j < w; j++)
                b[j] += p[net_param(n, v->bias) + j];
    }
    *bias = b;
    return 0;
}

static void activate_rows(struct gnn_net *n, const float *p, uint32_t l, uint32_t t, uint32_t from,
                          uint32_t to, const float *bias, const struct gnn_net_mode *mode)
{
    const struct gnn_model *m = n->m;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const size_t w = m->c.width[l], rows = to - from;
    const uint32_t norm = m->norm[(size_t)l * m->c.nntypes + t];
    float *y = (float *)a->out.data + from * w;
    struct gnn_dropout q = {0};
    const bool last = l + 1 == m->c.nlayers;
    const bool drop = !last && mode->train && net_dropout(n, l + 1, t, mode->dropout, mode->seed, &q);

    if (drop)
        q.node += from;
    n->keep = drop ? 65536.0f / (float)q.keep16 : n->keep;
    if (norm != UINT32_MAX) {
        gnn_bias_act(y, rows, w, bias, false, NULL);
        gnn_layer_norm(y, rows, w, p + net_param(n, norm), p + net_param(n, norm + 1), NET_NORM_EPS,
                       mode->train ? (float *)a->xhat.data + from * w : NULL,
                       (float *)a->rstd.data + from, y);
        bias = NULL;
    }
    if (bias || !last)
        gnn_bias_act(y, rows, w, bias, !last, drop ? &q : NULL);
}

static bool has_residual(const struct gnn_model *m, uint32_t l, uint32_t t)
{
    return m->c.residual && l + 1 < m->c.nlayers && gnn_model_in(m, l, t) == m->c.width[l];
}

/* Output of layer l for type t. With several relations each is done for all rows before the next, since the
 * scratch of transformed rows is shared; with one, a chunk goes through all steps at once. */
static int layer_type(struct gnn_net *n, const float *p, uint32_t l, uint32_t t,
                      const struct gnn_net_mode *mode, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    struct gnn_net_act *a = net_act(n, l + 1, t);
    const uint32_t rows = net_rows(n, l + 1, t);
    const size_t w = m->c.width[l];
    const float *bias = NULL;
    uint32_t into = 0, seen = 0;
    const bool res = has_residual(m, l, t), norm = m->norm[(size_t)l * m->c.nntypes + t] != UINT32_MAX;

    if (gnn_buf_fit(&a->out, rows * w, sizeof(float), "activations", e) ||
        (norm && (gnn_buf_fit(&a->rstd, rows, sizeof(float), "activations", e) ||
                  (mode->train && gnn_buf_fit(&a->xhat, rows * w, sizeof(float), "activations", e)))) ||
        sum_bias(n, p, l, t, &bias, e))
        return e->code;
    float *out = a->out.data;
    *net_in(n, l + 1, t) = out;
    if (res && rows)
        memcpy(out, *net_in(n, l, t), rows * w * sizeof(float));
    for (uint32_t r = 0; r < m->c.netypes; r++)
        into += m->c.etype[r].dst == t && gnn_model_conv(m, l, r)->needed;
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        if (m->c.etype[r].dst != t || !gnn_model_conv(m, l, r)->needed)
            continue;
        if (conv_prepare(n, p, l, r, e))
            return e->code;
        const bool first = !res && seen == 0;
        seen++;
        for (uint32_t from = 0; from < rows; from += CHUNK) {
            const uint32_t to = rows - from < CHUNK ? rows : from + CHUNK;
            bool fresh = first;
            if (conv_rows(n, p, l, r, from, to, out, &fresh, e))
                return e->code;
            if (seen == into)
                activate_rows(n, p, l, t, from, to, bias, mode);
        }
    }
    return 0;
}

/* The masks need the nodes' original ids. */
static int check_ids(const struct gnn_batch *b, const struct gnn_meta *meta, const struct gnn_net_mode *mode,
                     struct gnn_err *e)
{
    if (!mode->train || (mode->dropout <= 0 && mode->dropout_input <= 0) || meta->schema.nparts < 2 ||
        meta->sampling.original_ids)
        return 0;
    for (uint32_t t = 0; t < meta->schema.nntypes; t++)
        if (!b->type[t].orig)
            return gnn_fail(e, GNN_E_INPUT, "batches from several parts have no original ids node/%s/id: run gnn-gather "
                                            "first", meta->schema.ntype[t].name);
    return 0;
}

int gnn_net_forward(struct gnn_net *n, const float *params, const struct gnn_batch *b,
                    const struct gnn_meta *meta, const struct gnn_net_mode *mode, float **out,
                    uint32_t *rows, struct gnn_err *e)
{
    const struct gnn_model *m = n->m;
    n->b = b;
    n->keep = 1;
    if (check_ids(b, meta, mode, e) || net_blocks(n, meta, mode->train, e))
        return e->code;
    net_choose_threads(n);
    if (net_inputs(n, mode, e))
        return e->code;
    for (uint32_t l = 0; l < m->c.nlayers; l++)
        for (uint32_t t = 0; t < m->c.nntypes; t++)
            if (gnn_model_live(m, l + 1, t) && layer_type(n, params, l, t, mode, e))
                return e->code;
    *out = net_act(n, m->c.nlayers, m->c.target)->out.data;
    *rows = net_rows(n, m->c.nlayers, m->c.target);
    return 0;
}
