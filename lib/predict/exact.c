/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict: exact inference, stage by stage over all nodes, without sampling
 * (lib/predict/predict.h). Each stage reads tables of all rows and writes another one, so each node
 * is computed once per layer; a table is freed after the last stage that reads it. */
#include <string.h>

#include "lib/predict/predict_impl.h"
#include "lib/store/ids.h"

/* On a device: allocates the space for a chunk before the tables take all free memory, and brings
 * the parameters. */
static int start_device(struct gnn_predict *p, struct gnn_err *e)
{
    const struct gnn_ops *o = p->o.ops;
    const struct gnn_model *m = p->m;
    uint64_t widest = 1;
    for (size_t i = 0; i < (size_t)m->nstages * m->c.nntypes; i++)
        widest = m->width[i] > widest ? m->width[i] : widest;
    p->chunk = o->async ? PREDICT_CHUNK_DEVICE : PREDICT_CHUNK;
    if (o->fit(o, &p->params, m->nfloats, sizeof(float), "parameters", e))
        return e->code;
    o->put(o, p->params.data, m->slab, m->nfloats * sizeof(float));
    p->pass.p = p->params.data;
    struct gnn_buf *const rows[] = {&p->read, &p->written, &p->pass.buffer[0], &p->pass.buffer[1],
                                    &p->pass.buffer[2]};
    for (unsigned i = 0; o->async && i < 2 + gnn_layer_variant(&m->c)->buffers; i++)
        if (o->fit(o, rows[i], p->chunk * widest, sizeof(float), "a chunk of rows", e))
            return e->code;
    return o->async ? o->fit(o, &p->indices, PREDICT_EDGES, sizeof(uint32_t), "a chunk of edges", e)
                    : 0;
}

/* Tables that no stage after this one reads. */
static int free_read(struct gnn_predict *p, uint32_t stage, struct gnn_err *e)
{
    const struct gnn_model *m = p->m;
    const uint32_t nt = m->c.nntypes;
    for (uint32_t k = 0; k < stage * nt; k++) {
        bool later =
            p->o.embedding && !m->c.decoder && k == predict_embedding_stage(m) * nt + m->c.target;
        EACH_CONV(v, m)
            later = later || (v->needed && v->stage > stage &&
                              (v->from * nt + v->src == k || v->from * nt + v->dst == k));
        if (!later && gnn_predict_table_end(p, &p->made[k], e))
            return e->code;
    }
    if (stage == 1)
        gnn_store_forget_all(p->s); /* features that were read in place */
    return 0;
}

static int one_stage(struct gnn_predict *p, uint32_t stage, struct gnn_err *e)
{
    for (uint32_t t = 0; t < p->m->c.nntypes; t++)
        if (gnn_model_live(p->m, stage, t) && gnn_predict_stage(p, stage, t, e))
            return e->code;
    return free_read(p, stage, e);
}

static void take_table(struct gnn_table *to, struct gnn_table *from)
{
    *to = *from;
    memset(from, 0, sizeof *from);
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
    p->made = gnn_alloc_zero((uint64_t)m->nstages * m->c.nntypes, sizeof(*p->made), "tables", e);
    p->dense = gnn_alloc_zero(m->nconvs, sizeof(*p->dense), "tables", e);
    if (e->code || start_device(p, e) || gnn_predict_relations(p, e))
        goto fail;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_live(m, 0, t) && gnn_predict_features(p, t, e))
            goto fail;
    gnn_store_forget_all(s); /* features that were copied */
    for (uint32_t i = 1; i < m->nstages; i++)
        if (one_stage(p, i, e))
            goto fail;
    take_table(&p->logits, predict_made(p, m->nstages - 1, predict_target(p)));
    if (p->o.embedding && !m->c.decoder)
        take_table(&p->embedding, predict_made(p, predict_embedding_stage(m), m->c.target));
    if (!gnn_predict_check_rows(p, &p->logits, "output", e))
        return 0;
fail:
    gnn_predict_release(p);
    return e->code;
}

int gnn_predict_check(const struct gnn_predict *p, struct gnn_err *e)
{
    return gnn_predict_table_check(&p->logits, e) || gnn_predict_table_check(&p->embedding, e)
               ? e->code
               : 0;
}

int gnn_predict_output(struct gnn_predict *p, enum gnn_predict_output what, bool original,
                       struct gnn_output *o, struct gnn_err *e)
{
    const bool embeddings = what == GNN_OUT_EMBEDDINGS && !p->m->c.decoder;
    struct gnn_table *t = embeddings ? &p->embedding : &p->logits;
    *o = (struct gnn_output){.m = p->m,
                             .schema = &p->s->meta.schema,
                             .what = what,
                             .type = predict_target(p),
                             .width = t->width,
                             .n = t->rows,
                             .s = p->s,
                             .comm = gnn_comm_self()};
    if (embeddings ? gnn_predict_check_rows(p, t, "embedding", e) : gnn_predict_to_host(p, t, e))
        return e->code;
    o->data = t->data;
    return original ? gnn_store_inverse(p->s, predict_target(p), &o->row, e) : 0;
}

void gnn_predict_release(struct gnn_predict *p)
{
    if (!p->m)
        return;
    const struct gnn_ops *o = p->o.ops;
    for (size_t i = 0; p->made && i < (size_t)p->m->nstages * p->m->c.nntypes; i++)
        gnn_predict_table_free(p, &p->made[i]);
    for (uint32_t i = 0; p->dense && i < p->m->nconvs; i++)
        gnn_conv_run_release(o, &p->dense[i]);
    for (uint32_t r = 0; p->rel && r < p->m->c.netypes; r++) {
        gnn_conv_run_release(o, &p->rel[r].run);
        o->release(o, &p->rel[r].node);
        o->release(o, &p->rel[r].loop);
        o->release(o, &p->rel[r].degree);
        gnn_predict_table_free(p, &p->rel[r].messages);
    }
    gnn_predict_table_free(p, &p->logits);
    gnn_predict_table_free(p, &p->embedding);
    struct gnn_buf *const bufs[] = {&p->params,  &p->read,  &p->written, &p->indptr,
                                    &p->indices, &p->block, &p->value,   &p->feature};
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        o->release(o, bufs[i]);
    gnn_activation_release(o, &p->after);
    gnn_pass_release(&p->pass);
    gnn_buf_release(&p->offsets);
    gnn_buf_release(&p->widened);
    gnn_free(p->made);
    gnn_free(p->dense);
    gnn_free(p->rel);
    memset(p, 0, sizeof(*p));
}
