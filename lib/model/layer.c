/* SPDX-License-Identifier: Apache-2.0 */
/* What layers share. */
#include "lib/model/layer.h"

#include <stdio.h>
#include <string.h>

struct gnn_param_spec *gnn_param_list_add(struct gnn_param_list *l, const char *name, uint32_t rows,
                                          uint32_t cols, double bound, double fill)
{
    struct gnn_param_spec *p = &l->p[l->n++];
    *p = (struct gnn_param_spec){.rows = rows,
                                 .cols = cols,
                                 .bound = bound,
                                 .fill = fill,
                                 .trained = true,
                                 .dtype = GNN_F32};
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

void gnn_param_list_norm(struct gnn_param_list *l, const struct gnn_model_config *c,
                         const char *module, uint32_t width)
{
    /* Gradients do not reach a batch norm's running statistics and their count. */
    static const struct {
        const char *name;
        double fill;
    } of[GNN_NORM_PARAMS] = {{"weight", 1},
                             {"bias", 0},
                             {"running_mean", 0},
                             {"running_var", 1},
                             {"num_batches_tracked", 0}};
    for (unsigned i = 0; i < (c->batch_norm ? GNN_NORM_PARAMS : GNN_NORM_MEAN); i++) {
        struct gnn_param_spec *p = gnn_param_list_add(l, "", width, 0, 0, of[i].fill);
        /* PyG's BatchNorm holds PyTorch's */
        snprintf(p->name, sizeof p->name, "%s%s%s", module, c->batch_norm ? "module." : "",
                 of[i].name);
        p->trained = i < GNN_NORM_MEAN;
        p->dtype = i == GNN_NORM_BATCHES ? GNN_I64 : GNN_F32;
    }
}

const struct gnn_conv *gnn_conv_lead(const struct gnn_model *m, const struct gnn_conv *v)
{
    const struct gnn_conv *u = &m->conv[m->stage[v->stage].conv];
    while (u->dst != v->dst)
        u++;
    return u;
}

void gnn_conv_run_init(struct gnn_conv_run *c, struct gnn_pass *s, const struct gnn_conv *v)
{
    const struct gnn_model *m = s->m;
    const struct gnn_conv_shape shape = gnn_conv_shape_of(m, v);
    c->s = s;
    c->layer = v->layer;
    c->conv = v;
    c->first = v->first;
    c->ds = shape.src;
    c->dd = shape.dst;
    c->w = shape.out;
    c->inputs = v->from > 0;
    c->begins = gnn_conv_lead(m, v) == v;
    c->ends = true;
    for (const struct gnn_conv *u = v + 1; u < m->conv + m->nconvs && u->stage == v->stage; u++)
        c->ends = c->ends && u->dst != v->dst;
    c->adj.norm = v->layer->norm;
    c->adj.numbered = v->layer->numbered;
}

void gnn_conv_run_release(const struct gnn_ops *o, struct gnn_conv_run *c)
{
    for (unsigned k = 0; k < GNN_PASS_BUFFERS; k++)
        o->release(o, &c->kept[k]);
    o->release(o, &c->sent);
    o->release(o, &c->source);
    gnn_adj_release(o, &c->adj);
    gnn_activation_release(o, &c->inside);
}

float *gnn_conv_scratch(struct gnn_conv_run *c, unsigned k, uint32_t from, uint32_t to,
                        size_t width, struct gnn_err *e)
{
    struct gnn_pass *s = c->s;
    const bool kept = s->train || c->gathered;
    const uint64_t rows = kept ? c->adj.ndst : to - from;
    struct gnn_buf *b = kept ? &c->kept[k] : &s->buffer[k];
    if (s->o->fit(s->o, b, rows * width, sizeof(float), "rows of a layer", e))
        return NULL;
    return (float *)b->data + (kept ? from : 0) * width;
}

/* The sum of the biases of a stage's convolutions into type t; *bias points to it. */
static int sum_biases(struct gnn_pass *s, uint32_t stage, uint32_t t, const float **bias,
                      struct gnn_err *e)
{
    const struct gnn_model *m = s->m;
    const struct gnn_ops *o = s->o;
    const uint32_t w = gnn_model_width(m, stage, t);
    float *sum = NULL;
    *bias = NULL;
    EACH_CONV_INTO(v, m, stage, t) {
        if (gnn_conv_bias(v) == GNN_NONE)
            continue;
        const float *b = gnn_pass_param(s, gnn_conv_bias(v));
        /* With several relations into the type the biases are added up once, not row by row. */
        if (*bias && !sum) {
            if (o->fit(o, &s->bias, w, sizeof(float), "bias", e))
                return e->code;
            sum = s->bias.data;
            o->copy(o, sum, *bias, w * sizeof(*sum));
        }
        if (sum)
            o->add(o, b, w, sum);
        *bias = sum ? sum : b;
    }
    return 0;
}

int gnn_activation_of_stage(struct gnn_pass *s, struct gnn_activation *a, uint32_t stage,
                            uint32_t t, struct gnn_err *e)
{
    const struct gnn_model *m = s->m;
    a->norm = m->norm[(size_t)stage * m->c.nntypes + t];
    a->w = gnn_model_width(m, stage, t);
    a->act = m->stage[stage].act ? (enum gnn_act)m->c.act : GNN_ACT_NONE;
    a->drop = false;
    return sum_biases(s, stage, t, &a->bias, e);
}
