#include <math.h>
#include <string.h>

#include "lib/gather/degree.h"
#include "lib/predict/impl.h"

static int gcn_factors(struct gnn_predict *p, struct gnn_err *e)
{
    const struct gnn_schema *c = &p->s->meta.schema;
    if (p->m->c.kind != GNN_GCN)
        return 0;
    p->isqrt = gnn_alloc_zero(c->netypes, sizeof(*p->isqrt), "degrees", e);
    if (!p->isqrt)
        return e->code;
    for (uint32_t r = 0; r < c->netypes; r++) {
        const uint64_t n = c->ntype[c->etype[r].dst].count;
        uint32_t *d;
        if (gnn_store_degrees(p->s, r, &d, e))
            return e->code;
        p->isqrt[r] = gnn_alloc(n, sizeof(float), "degrees", e);
        for (uint64_t i = 0; p->isqrt[r] && i < n; i++)
            p->isqrt[r][i] = 1 / sqrtf((float)d[i] + 1);
        gnn_free(d);
        if (!p->isqrt[r])
            return e->code;
    }
    return 0;
}

/* Layer l for every type that matters; its inputs are given up, but for what is to be returned. */
static int one_layer(struct gnn_predict *p, uint32_t l, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const bool last = l + 1 == m->c.nlayers;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_live(m, l + 1, t) && predict_layer(p, l, t, e))
            return e->code;
    for (uint32_t t = 0; t < m->c.nntypes; t++) {
        if (last && t == m->c.target)
            p->embedding = p->in[t];
        else
            predict_table_free(p, &p->in[t]);
        p->in[t] = p->out[t];
        memset(&p->out[t], 0, sizeof(p->out[t]));
    }
    return 0;
}

int gnn_predict_run(struct gnn_predict *p, const struct gnn_model *m, struct gnn_store *s,
                    const struct gnn_predict_opts *o, struct gnn_err *e)
{
    memset(p, 0, sizeof(*p));
    p->m = m;
    p->s = s;
    p->o = *o;
    p->in = gnn_alloc_zero(m->c.nntypes, sizeof(*p->in), "tables", e);
    p->out = gnn_alloc_zero(m->c.nntypes, sizeof(*p->out), "tables", e);
    if (e->code || predict_check(p, e) || gcn_factors(p, e))
        goto fail;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_live(m, 0, t) && predict_features(p, t, e))
            goto fail;
    for (uint32_t l = 0; l < m->c.nlayers; l++)
        if (one_layer(p, l, e))
            goto fail;
    p->logits = p->in[m->c.target];
    memset(&p->in[m->c.target], 0, sizeof(*p->in));
    return 0;
fail:
    gnn_predict_release(p);
    return e->code;
}

void gnn_predict_release(struct gnn_predict *p)
{
    if (!p->m)
        return;
    for (uint32_t t = 0; t < p->m->c.nntypes; t++) {
        if (p->in)
            predict_table_free(p, &p->in[t]);
        if (p->out)
            predict_table_free(p, &p->out[t]);
    }
    for (uint32_t r = 0; p->isqrt && r < p->m->c.netypes; r++)
        gnn_free(p->isqrt[r]);
    predict_table_free(p, &p->z);
    predict_table_free(p, &p->logits);
    predict_table_free(p, &p->embedding);
    gnn_buf_release(&p->agg);
    gnn_buf_release(&p->row);
    gnn_buf_release(&p->bias);
    gnn_free(p->in);
    gnn_free(p->out);
    gnn_free(p->isqrt);
    memset(p, 0, sizeof(*p));
}
