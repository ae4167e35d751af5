/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a model: which exist, how they are named and where they lie in the slab. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"
#include "kernels/rows.h"
#include "lib/base/mem.h"
#include "lib/model/decoder.h"
#include "lib/model/layer.h"
#include "lib/model/layout.h"

enum { PAD = 16 };

void gnn_model_release(struct gnn_model *m)
{
    gnn_model_config_release(&m->c);
    for (uint32_t i = 0; m->param && i < m->nparams; i++)
        gnn_free(m->param[i].name);
    for (uint32_t i = 0; m->conv && i < m->nconvs; i++)
        gnn_free(m->conv[i].name), gnn_free(m->conv[i].key);
    gnn_free(m->param);
    gnn_free(m->stage);
    gnn_free(m->conv);
    gnn_free(m->norm);
    gnn_free(m->width);
    gnn_free(m->live);
    gnn_free(m->stage_at);
    gnn_free(m->slab);
    gnn_free(m->recipe);
    memset(m, 0, sizeof(*m));
}

/* "convs.0.p_rel.a__to__b" of "convs.0.", "p_rel.*" and "a__to__b". */
static char *name_param(const char *prefix, const char *name, const char *key, struct gnn_err *e)
{
    const char *star = key ? strchr(name, '*') : NULL;
    return star ? gnn_strf(e, "%s%.*s%s%s", prefix, (int)(star - name), name, key, star + 1)
                : gnn_strf(e, "%s%s", prefix, name);
}

static void set_shape(struct gnn_param *p, const struct gnn_param_spec *x)
{
    const uint32_t shape[] = {x->lead, x->rows, x->cols};
    p->count = x->dtype == GNN_I64 ? sizeof(int64_t) / sizeof(float) : 1;
    for (unsigned k = 0; k < 3 && x->dtype != GNN_I64; k++) /* else a scalar */
        if (shape[k]) {
            p->shape[p->ndim++] = shape[k];
            p->count *= shape[k];
        }
}

/* Parameters with their names behind `prefix`. *first: the index of the first; GNN_E_NOMEM too if
 * prefix is NULL. */
static int add_list(struct gnn_model *m, const char *prefix, const char *key,
                    const struct gnn_param_list *l, uint32_t *first, struct gnn_err *e)
{
    *first = m->nparams;
    for (uint32_t i = 0; prefix && i < l->n; i++) {
        const struct gnn_param_spec *x = &l->p[i];
        if (gnn_grow(&m->param, m->nparams, sizeof(*m->param), "parameters", e))
            break;
        struct gnn_param *p = &m->param[m->nparams];
        *p = (struct gnn_param){.name = name_param(prefix, x->name, key, e),
                                .dtype = x->dtype,
                                .trained = x->trained,
                                .relations = x->relations,
                                .with = x->shared ? *first + x->with : GNN_NONE,
                                .bound = (float)x->bound,
                                .fill = (float)x->fill};
        if (!p->name)
            break;
        set_shape(p, x);
        m->nparams++;
    }
    return e->code;
}

/* The convolution of v's stage whose parameters are v's, too; v itself if there is none before. */
static const struct gnn_conv *find_owner(const struct gnn_model *m, const struct gnn_conv *v)
{
    const struct gnn_conv *u = &m->conv[m->stage[v->stage].conv];
    while (v->layer->shared && u < v && !u->layer->shared)
        u++;
    return v->layer->shared ? u : v;
}

/* Whether the output depends on parameters that v owns. */
static bool is_needed(const struct gnn_model *m, const struct gnn_conv *v)
{
    const struct gnn_stage *s = &m->stage[v->stage];
    bool needed = v->needed;
    for (uint32_t k = 0; v->layer->shared && k < s->nconvs; k++)
        needed = needed || (m->conv[s->conv + k].layer->shared && m->conv[s->conv + k].needed);
    return needed;
}

/* Parameters from `from` on: does the output depend on them? */
static void mark_needed(struct gnn_model *m, uint32_t from, bool must)
{
    for (uint32_t i = from; i < m->nparams; i++) {
        m->param[i].must = must && m->param[i].dtype == GNN_F32;
        m->param[i].trained = m->param[i].trained && must;
    }
}

/* What v has in common with convolutions of its stage: the first of them adds it. */
static int add_common(struct gnn_model *m, struct gnn_conv *v, const struct gnn_conv_shape *s,
                      struct gnn_err *e)
{
    struct gnn_param_list list = {0};
    v->layer->common(s, &list);
    char *name = name_param(v->name, list.p[0].name, v->key, e);
    v->common = m->stage[v->stage].param;
    while (name && v->common < m->nparams && strcmp(m->param[v->common].name, name) != 0)
        v->common++;
    if (name && v->common == m->nparams) {
        const uint32_t from = m->nparams;
        (void)!add_list(m, v->name, v->key, &list, &v->common, e);
        mark_needed(m, from, false);
    }
    for (uint32_t k = 0; !e->code && v->needed && k < list.n; k++)
        m->param[v->common + k].must = m->param[v->common + k].trained = true;
    gnn_free(name);
    return e->code;
}

static int add_conv(struct gnn_model *m, struct gnn_conv *v, struct gnn_err *e)
{
    const struct gnn_conv *owner = find_owner(m, v);
    if (owner != v) {
        v->first = owner->first;
        return 0;
    }
    const struct gnn_conv_shape s = gnn_conv_shape_of(m, v);
    const uint32_t from = m->nparams;
    struct gnn_param_list list = {0};
    v->layer->params(&s, &list);
    if (add_list(m, v->name, v->key, &list, &v->first, e))
        return e->code;
    mark_needed(m, from, is_needed(m, v));
    return v->layer->common ? add_common(m, v, &s, e) : 0;
}

static int add_norm(struct gnn_model *m, uint32_t i, uint32_t t, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const uint32_t l = m->stage[i].layer;
    struct gnn_param_list list = {0};
    gnn_param_list_norm(&list, c, "", gnn_model_width(m, i, t));
    char *prefix = gnn_model_one_type(c) ? gnn_strf(e, "norms.%u.", l)
                                         : gnn_strf(e, "norms.%u.%s.", l, c->ntype[t].name);
    (void)!add_list(m, prefix, NULL, &list, &m->norm[(size_t)i * c->nntypes + t], e);
    gnn_free(prefix);
    return e->code;
}

/* What is trained first, so that the optimiser's range is one piece. */
static void place_params(struct gnn_model *m)
{
    uint64_t at = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t l = 0;
        for (uint32_t i = 0; i < m->nparams; i++) {
            while (!pass && l < m->nstages && m->stage[l].param == i)
                m->stage_at[l++] = at;
            struct gnn_param *p = &m->param[i];
            if (p->trained != !pass)
                continue;
            p->at = p->with == GNN_NONE ? at : m->param[p->with].at;
            at += p->with == GNN_NONE ? (p->count + PAD - 1) / PAD * PAD : 0;
        }
        for (; !pass && l <= m->nstages; l++)
            m->stage_at[l] = at;
        if (!pass)
            m->trained = at;
    }
    m->nfloats = at;
}

/* Parameters of stage i: those of its convolutions, then those of its norms. */
static int add_stage(struct gnn_model *m, uint32_t i, struct gnn_err *e)
{
    struct gnn_stage *s = &m->stage[i];
    s->param = m->nparams;
    for (uint32_t k = 0; k < s->nconvs; k++)
        if (add_conv(m, &m->conv[s->conv + k], e))
            return e->code;
    for (uint32_t t = 0; t < m->c.nntypes; t++) {
        const uint32_t from = m->nparams;
        m->norm[(size_t)i * m->c.nntypes + t] = GNN_NONE;
        if (!s->norm || !gnn_model_width(m, i, t))
            continue;
        if (add_norm(m, i, t, e))
            return e->code;
        mark_needed(m, from, gnn_model_live(m, i, t));
    }
    return 0;
}

/* The decoder's parameters belong to the last stage, whose rows it reads. */
static int add_decoder(struct gnn_model *m, struct gnn_err *e)
{
    struct gnn_param_list list = {0};
    const uint32_t from = m->nparams;
    gnn_decoder_params(&m->c, &list);
    if (add_list(m, "decoder.", NULL, &list, &m->decoder, e))
        return e->code;
    mark_needed(m, from, true);
    return 0;
}

int gnn_model_layout(struct gnn_model *m, struct gnn_model_config *c, struct gnn_err *e)
{
    memset(m, 0, sizeof(*m));
    m->c = *c;
    memset(c, 0, sizeof(*c));
    if (gnn_model_list_stages(m, e))
        goto out;
    m->norm = gnn_alloc_zero((uint64_t)m->nstages * m->c.nntypes, sizeof(*m->norm), "norms", e);
    m->stage_at = gnn_alloc_zero(m->nstages + UINT64_C(1), sizeof(*m->stage_at), "parameters", e);
    for (uint32_t i = 0; !e->code && i < m->nstages; i++)
        (void)!add_stage(m, i, e);
    if (!e->code && m->c.decoder)
        (void)!add_decoder(m, e);
    if (!e->code)
        place_params(m);
out:
    if (e->code)
        gnn_model_release(m);
    return e->code;
}

int gnn_model_alloc(struct gnn_model *m, struct gnn_err *e)
{
    m->slab = gnn_alloc_zero(m->nfloats, sizeof(float), "model parameters", e);
    if (!m->slab)
        gnn_model_release(m);
    return e->code;
}

int gnn_model_init(struct gnn_model *m, struct gnn_model_config *c, struct gnn_err *e)
{
    return gnn_model_layout(m, c, e) ? e->code : gnn_model_alloc(m, e);
}

static bool has_activations(const struct gnn_model *m)
{
    bool any = m->c.layer->activates;
    for (uint32_t i = 0; i < m->nstages; i++)
        any = any || m->stage[i].act;
    return any;
}

static bool has_features(const struct gnn_model *m)
{
    bool any = false;
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        any = any || m->c.ntype[t].width;
    return any;
}

bool gnn_model_alike(const struct gnn_model *a, const struct gnn_model *b)
{
    bool same = a->nstages == b->nstages && a->nconvs == b->nconvs && a->nparams == b->nparams;
    for (uint32_t i = 0; same && i < a->nstages; i++) {
        const struct gnn_stage *x = &a->stage[i], *y = &b->stage[i];
        same = x->width == y->width && x->nconvs == y->nconvs && x->norm == y->norm &&
               x->act == y->act && x->drop == y->drop;
    }
    for (uint32_t i = 0; same && i < a->nconvs; i++) {
        const struct gnn_conv *x = &a->conv[i], *y = &b->conv[i];
        same = x->layer == y->layer && x->from == y->from && x->rel == y->rel && x->src == y->src &&
               x->dst == y->dst;
    }
    for (uint32_t i = 0; same && i < a->nparams; i++)
        same =
            !strcmp(a->param[i].name, b->param[i].name) && a->param[i].count == b->param[i].count;
    return same && (a->c.act == b->c.act || !has_activations(a)) &&
           (a->c.feature_norm == b->c.feature_norm || !has_features(a));
}

int gnn_model_untrain(struct gnn_model *m, struct gnn_err *e)
{
    const uint64_t n = (uint64_t)m->c.nlayers * m->c.netypes;
    if (!m->c.untrained && !(m->c.untrained = gnn_alloc_zero(n, sizeof(bool), "edge types", e)))
        return e->code;
    EACH_CONV(v, m)
        if (v->rel != GNN_ROWS && v->needed)
            m->c.untrained[(size_t)m->stage[v->stage].layer * m->c.netypes + v->rel] = true;
    return 0;
}

void gnn_model_reset(struct gnn_model *m, uint64_t seed)
{
    uint32_t key[2];
    gnn_rng_key(seed, 0, 0, 0, gnn_rng_tag(GNN_RNG_INIT, 0, 0), key);
    for (uint32_t i = 0; i < m->nparams; i++) {
        const struct gnn_param *p = &m->param[i];
        float *w = m->slab + p->at;
        for (uint64_t k = 0; p->with == GNN_NONE && k < p->count; k++) {
            const uint32_t r =
                p->bound > 0 ? gnn_rng_word(key, (uint32_t)k, (uint32_t)(k >> 32) << 2, i, 0) : 0;
            const float u = (float)(r >> 8) * 0x1p-24f; /* [0, 1), exact */
            w[k] = p->bound > 0 ? (2 * u - 1) * p->bound : p->fill;
        }
    }
}

const struct gnn_param *gnn_model_not_finite(const struct gnn_model *m, const float *slab, bool all,
                                             uint64_t *element)
{
    for (uint32_t i = 0; i < m->nparams; i++) {
        const struct gnn_param *p = &m->param[i];
        if (p->dtype != GNN_F32 || (!all && !p->trained))
            continue;
        *element = gnn_first_not_finite(slab + p->at, p->count);
        if (*element < p->count)
            return p;
    }
    return NULL;
}
