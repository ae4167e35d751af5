/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of a model: which exist, how they are named and where they lie in the slab. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/rng.h"
#include "kernels/rows.h"
#include "lib/base/mem.h"
#include "lib/model/layer.h"

#define NONE UINT32_MAX
enum { PAD = 16 };

void gnn_model_release(struct gnn_model *m)
{
    gnn_model_config_release(&m->c);
    for (uint32_t i = 0; m->param && i < m->nparams; i++)
        gnn_free(m->param[i].name);
    gnn_free(m->param);
    gnn_free(m->conv);
    gnn_free(m->norm);
    gnn_free(m->in);
    gnn_free(m->live);
    gnn_free(m->layer_at);
    gnn_free(m->slab);
    memset(m, 0, sizeof(*m));
}

/* Widths forwards, then what the target's output depends on backwards. */
static void trace_needs(struct gnn_model *m)
{
    const struct gnn_model_config *c = &m->c;
    const uint32_t nt = c->nntypes, ne = c->netypes;
    for (uint32_t t = 0; t < nt; t++)
        m->in[t] = c->ntype[t].width ? c->ntype[t].width : 1;
    for (uint32_t l = 0; l < c->nlayers; l++)
        for (uint32_t r = 0; r < ne; r++) {
            const uint32_t s = c->etype[r].src, d = c->etype[r].dst;
            if (gnn_model_in(m, l, s) && gnn_model_in(m, l, d))
                m->in[(l + 1) * nt + d] = c->width[l];
        }
    m->live[c->nlayers * nt + c->target] = true;
    for (uint32_t l = c->nlayers; l-- > 0;)
        for (uint32_t r = 0; r < ne; r++) {
            const uint32_t s = c->etype[r].src, d = c->etype[r].dst;
            struct gnn_conv *v = &m->conv[l * ne + r];
            v->first = NONE;
            if (!gnn_model_live(m, l + 1, d) || !gnn_model_in(m, l, s) || !gnn_model_in(m, l, d))
                continue;
            v->needed = true;
            m->live[l * nt + s] = m->live[l * nt + d] = true;
        }
}

/* Parameters with their names behind `prefix`. *first: the index of the first; GNN_E_NOMEM too if
 * prefix is NULL. */
static int add_list(struct gnn_model *m, const char *prefix, const struct gnn_param_list *l,
                    uint32_t *first, struct gnn_err *e)
{
    *first = m->nparams;
    for (uint32_t i = 0; prefix && i < l->n; i++) {
        const struct gnn_param_spec *x = &l->p[i];
        if (gnn_grow(&m->param, m->nparams, sizeof(*m->param), "parameters", e))
            break;
        struct gnn_param *p = &m->param[m->nparams];
        *p = (struct gnn_param){.name = gnn_strf(e, "%s%s", prefix, x->name),
                                .dtype = x->dtype,
                                .trained = x->trained,
                                .bound = (float)x->bound,
                                .fill = (float)x->fill};
        if (!p->name)
            break;
        if (x->dtype == GNN_I64) { /* a scalar */
            p->count = sizeof(int64_t) / sizeof(float);
        } else {
            p->ndim = x->cols ? 2 : 1;
            p->shape[0] = x->rows;
            p->shape[1] = x->cols;
            p->count = (uint64_t)x->rows * (x->cols ? x->cols : 1);
        }
        m->nparams++;
    }
    return e->code;
}

/* What PyG calls the module of a relation: without dots, which would look like submodules. */
static char *module_name(const struct gnn_model_config *c, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &c->etype[r];
    char *name =
        gnn_strf(e, "<%s___%s___%s>", c->ntype[t->src].name, t->rel, c->ntype[t->dst].name);
    for (char *p = name; p && *p; p++)
        if (*p == '.')
            *p = '#';
    return name;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Relations "a.b" and "a#b" would share their parameters. */
static int check_modules(const struct gnn_model_config *c, struct gnn_err *e)
{
    char **name = gnn_alloc_zero(c->netypes, sizeof(*name), "names of relations", e);
    for (uint32_t r = 0; r < c->netypes && !e->code; r++)
        name[r] = module_name(c, r, e);
    if (!e->code)
        qsort(name, c->netypes, sizeof(*name), by_text);
    for (uint32_t r = 1; r < c->netypes && !e->code; r++)
        if (!strcmp(name[r - 1], name[r]))
            gnn_fail(e, GNN_E_USAGE, "two edge types would have parameters of the same name, %s",
                     name[r]);
    for (uint32_t r = 0; name && r < c->netypes; r++)
        gnn_free(name[r]);
    gnn_free(name);
    return e->code;
}

static char *conv_prefix(const struct gnn_model_config *c, uint32_t l, uint32_t r,
                         struct gnn_err *e)
{
    if (c->nntypes == 1 && c->netypes == 1)
        return gnn_strf(e, "convs.%u.", l);
    char *module = module_name(c, r, e);
    char *prefix = module ? gnn_strf(e, "convs.%u.convs.%s.", l, module) : NULL;
    gnn_free(module);
    return prefix;
}

static int add_conv(struct gnn_model *m, uint32_t l, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const struct gnn_conv_shape s = {c, r, gnn_model_in(m, l, c->etype[r].src),
                                     gnn_model_in(m, l, c->etype[r].dst), c->width[l]};
    struct gnn_param_list list = {0};
    if (c->layer->check && c->layer->check(&s, e))
        return e->code;
    if (!s.src || !s.dst)
        return 0;
    c->layer->params(&s, &list);
    char *prefix = conv_prefix(c, l, r, e);
    (void)!add_list(m, prefix, &list, &m->conv[l * c->netypes + r].first, e);
    gnn_free(prefix);
    return e->code;
}

static int add_norm(struct gnn_model *m, uint32_t l, uint32_t t, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    struct gnn_param_list list = {0};
    gnn_param_list_norm(&list, c, "", c->width[l]);
    char *prefix = c->nntypes == 1 && c->netypes == 1
                       ? gnn_strf(e, "norms.%u.", l)
                       : gnn_strf(e, "norms.%u.%s.", l, c->ntype[t].name);
    (void)!add_list(m, prefix, &list, &m->norm[l * c->nntypes + t], e);
    gnn_free(prefix);
    return e->code;
}

/* What is trained first, so that the optimiser's range is one piece. layer_at comes with indices of
 * parameters. */
static void place_params(struct gnn_model *m)
{
    uint64_t at = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t l = 0;
        for (uint32_t i = 0; i < m->nparams; i++) {
            while (!pass && l < m->c.nlayers && m->layer_at[l] == i)
                m->layer_at[l++] = at;
            if (m->param[i].trained == !pass) {
                m->param[i].at = at;
                at += (m->param[i].count + PAD - 1) / PAD * PAD;
            }
        }
        for (; !pass && l <= m->c.nlayers; l++)
            m->layer_at[l] = at;
        if (!pass)
            m->trained = at;
    }
    m->nfloats = at;
}

/* Parameters from `from` on: does the output depend on them? */
static void mark_needed(struct gnn_model *m, uint32_t from, bool must)
{
    for (uint32_t i = from; i < m->nparams; i++) {
        m->param[i].must = must && m->param[i].dtype == GNN_F32;
        m->param[i].trained = m->param[i].trained && must;
    }
}

static int add_all(struct gnn_model *m, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    int rc;
    for (uint32_t l = 0; l < c->nlayers; l++) {
        m->layer_at[l] = m->nparams;
        for (uint32_t r = 0; r < c->netypes; r++) {
            const uint32_t from = m->nparams;
            if ((rc = add_conv(m, l, r, e)))
                return rc;
            mark_needed(m, from, gnn_model_conv(m, l, r)->needed);
        }
        for (uint32_t t = 0; t < c->nntypes; t++) {
            const uint32_t from = m->nparams;
            m->norm[l * c->nntypes + t] = NONE;
            if (!(c->layer_norm || c->batch_norm) || l + 1 == c->nlayers ||
                !gnn_model_in(m, l + 1, t))
                continue;
            if ((rc = add_norm(m, l, t, e)))
                return rc;
            mark_needed(m, from, gnn_model_live(m, l + 1, t));
        }
    }
    return 0;
}

int gnn_model_layout(struct gnn_model *m, struct gnn_model_config *c, struct gnn_err *e)
{
    memset(m, 0, sizeof(*m));
    m->c = *c;
    memset(c, 0, sizeof(*c));
    const uint64_t nl = m->c.nlayers, nt = m->c.nntypes, ne = m->c.netypes;
    m->conv = gnn_alloc_zero(nl * ne, sizeof(*m->conv), "convolutions", e);
    m->norm = gnn_alloc_zero(nl * nt, sizeof(*m->norm), "norms", e);
    m->in = gnn_alloc_zero((nl + 1) * nt, sizeof(*m->in), "layer widths", e);
    m->live = gnn_alloc_zero((nl + 1) * nt, sizeof(*m->live), "layer inputs", e);
    m->layer_at = gnn_alloc_zero(nl + 1, sizeof(*m->layer_at), "parameters", e);
    if (e->code)
        goto out;
    trace_needs(m);
    if (m->in[nl * nt + m->c.target] == 0) {
        gnn_fail(e, GNN_E_USAGE, "no edge type leads to the labelled node type %s",
                 m->c.ntype[m->c.target].name);
        goto out;
    }
    if (check_modules(&m->c, e) || add_all(m, e))
        goto out;
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

void gnn_model_reset(struct gnn_model *m, uint64_t seed)
{
    uint32_t key[2];
    gnn_rng_key(seed, 0, 0, 0, gnn_rng_tag(GNN_RNG_INIT, 0, 0), key);
    for (uint32_t i = 0; i < m->nparams; i++) {
        const struct gnn_param *p = &m->param[i];
        float *w = m->slab + p->at;
        for (uint64_t k = 0; k < p->count; k++) {
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
