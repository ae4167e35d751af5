/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict: exact inference, layer by layer over all nodes, without sampling
 * (lib/predict/predict.h). Each layer reads a table of all rows and writes another one, so each
 * node is computed once per layer; only two tables are held at a time. */
#include <string.h>

#include "lib/predict/predict_impl.h"

/* On a device: allocates the room for a chunk before the tables take all free memory, and brings
 * the parameters. */
static int start_device(struct gnn_predict *p, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const struct gnn_model *m = p->m;
    uint64_t widest = 1;
    for (size_t i = 0; i < (size_t)(m->c.nlayers + 1) * m->c.nntypes; i++)
        widest = m->in[i] > widest ? m->in[i] : widest;
    p->chunk = o->async ? PREDICT_CHUNK_DEVICE : PREDICT_CHUNK;
    if (o->fit(o, &p->params, m->nfloats, sizeof(float), "parameters", e))
        return e->code;
    o->put(o, p->params.data, m->slab, m->nfloats * sizeof(float));
    p->pass.p = p->params.data;
    struct gnn_buf *const rows[] = {&p->read, &p->written, &p->pass.room[0], &p->pass.room[1],
                                    &p->pass.room[2]};
    for (unsigned i = 0; o->async && i < 2 + m->c.layer->rooms; i++)
        if (o->fit(o, rows[i], p->chunk * widest, sizeof(float), "a chunk of rows", e))
            return e->code;
    return o->async ? o->fit(o, &p->indices, PREDICT_EDGES, sizeof(uint32_t), "a chunk of edges", e)
                    : 0;
}

/* Layer l for all types that the output depends on. Its inputs are freed afterwards, except the
 * target's of the last layer: that is the embedding. */
static int one_layer(struct gnn_predict *p, uint32_t l, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const bool last = l + 1 == m->c.nlayers;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_live(m, l + 1, t) && gnn_predict_layer(p, l, t, e))
            return e->code;
    for (uint32_t t = 0; t < m->c.nntypes; t++) {
        if (last && t == m->c.target)
            p->embedding = p->in[t];
        else
            gnn_predict_table_free(p, &p->in[t]);
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
    if (!p->o.ops)
        p->o.ops = &gnn_ops_cpu;
    p->pass.m = m;
    p->pass.o = p->o.ops;
    p->in = gnn_alloc_zero(m->c.nntypes, sizeof(*p->in), "tables", e);
    p->out = gnn_alloc_zero(m->c.nntypes, sizeof(*p->out), "tables", e);
    if (e->code || start_device(p, e) || gnn_predict_relations(p, e))
        goto fail;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_live(m, 0, t) && gnn_predict_features(p, t, e))
            goto fail;
    for (uint32_t l = 0; l < m->c.nlayers; l++)
        if (one_layer(p, l, e))
            goto fail;
    p->logits = p->in[m->c.target];
    memset(&p->in[m->c.target], 0, sizeof(*p->in));
    if (!gnn_predict_check_rows(p, &p->logits, "output", e))
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
            gnn_predict_table_free(p, &p->in[t]);
        if (p->out)
            gnn_predict_table_free(p, &p->out[t]);
    }
    const struct gnn_ops *o = p->o.ops;
    for (uint32_t r = 0; p->rel && r < p->m->c.netypes; r++) {
        gnn_conv_run_release(o, &p->rel[r].run);
        o->release(o, &p->rel[r].node);
        gnn_predict_table_free(p, &p->rel[r].messages);
    }
    gnn_predict_table_free(p, &p->logits);
    gnn_predict_table_free(p, &p->embedding);
    struct gnn_buf *const bufs[] = {&p->params, &p->read,    &p->written,
                                    &p->indptr, &p->indices, &p->block};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        o->release(o, bufs[i]);
    gnn_activation_release(o, &p->after);
    gnn_pass_release(&p->pass);
    gnn_buf_release(&p->offsets);
    gnn_free(p->in);
    gnn_free(p->out);
    gnn_free(p->rel);
    memset(p, 0, sizeof(*p));
}
