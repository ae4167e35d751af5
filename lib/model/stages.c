/* SPDX-License-Identifier: Apache-2.0 */
/* The list of stages that a configuration describes (lib/model/model.h), and which parts of it the
 * output depends on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/model/layer.h"
#include "lib/model/layout.h"

static bool has_norm(const struct gnn_model_config *c)
{
    return c->layer_norm || c->batch_norm;
}

/* Stages at most: features, encoder, up to six for a layer, jumping knowledge, a norm, head. */
static uint64_t bound_stages(const struct gnn_model_config *c)
{
    return 5 + 6 * (uint64_t)c->nlayers + c->nhead;
}

/* A further stage of layer l, `level` layers with edges from the features. */
static struct gnn_stage *add_stage(struct gnn_model *m, uint32_t level, uint32_t l, uint32_t width)
{
    struct gnn_stage *s = &m->stage[m->nstages++];
    *s = (struct gnn_stage){.level = level, .layer = l, .width = width, .conv = m->nconvs};
    return s;
}

static void follow_with(struct gnn_stage *s, bool norm, bool act)
{
    s->norm = norm;
    s->act = s->drop = act;
}

static uint32_t last_stage(const struct gnn_model *m)
{
    return m->nstages - 1;
}

/* One more convolution of the last stage. Takes over name and v.key. */
static int add_conv(struct gnn_model *m, struct gnn_conv v, char *name, struct gnn_err *e)
{
    if (!name || (v.layer->keyed && !v.key) ||
        gnn_grow(&m->conv, m->nconvs, sizeof *m->conv, "convolutions", e)) {
        gnn_free(name);
        gnn_free(v.key);
        return e->code;
    }
    v.stage = last_stage(m);
    v.name = name;
    v.first = GNN_NONE;
    m->conv[m->nconvs++] = v;
    m->stage[v.stage].nconvs++;
    m->width[(size_t)v.stage * m->c.nntypes + v.dst] = m->stage[v.stage].width;
    return 0;
}

/* "ffns.2.lins.0." or, with several types, "ffns.2.paper.lins.0.". */
static char *name_rows(const struct gnn_model_config *c, const char *module, uint32_t l,
                       const char *end, uint32_t t, struct gnn_err *e)
{
    char number[16] = "";
    if (l != GNN_NONE)
        snprintf(number, sizeof number, "%u.", l);
    return gnn_model_one_type(c) ? gnn_strf(e, "%s.%s%s", module, number, end)
                                 : gnn_strf(e, "%s.%s%s.%s", module, number, c->ntype[t].name, end);
}

/* What PyG calls the module of a relation, or, within a layer that is keyed, the relation: without
 * dots, which would look like submodules. */
static char *name_relation(const struct gnn_model_config *c, uint32_t r, struct gnn_err *e)
{
    const struct gnn_model_etype *t = &c->etype[r];
    char *name = gnn_strf(e, c->layer->keyed ? "%s__%s__%s" : "<%s___%s___%s>",
                          c->ntype[t->src].name, t->rel, c->ntype[t->dst].name);
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
static int check_relations(const struct gnn_model_config *c, struct gnn_err *e)
{
    char **name = gnn_alloc_zero(c->netypes, sizeof(*name), "names of relations", e);
    for (uint32_t r = 0; r < c->netypes && !e->code; r++)
        name[r] = name_relation(c, r, e);
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

static char *name_conv(const struct gnn_model_config *c, uint32_t l, uint32_t r, struct gnn_err *e)
{
    if (c->layer->keyed || gnn_model_one_type(c) || gnn_layer_variant(c)->shared)
        return gnn_strf(e, "convs.%u.", l);
    char *relation = name_relation(c, r, e);
    char *name = relation ? gnn_strf(e, "convs.%u.convs.%s.", l, relation) : NULL;
    gnn_free(relation);
    return name;
}

/* Each type's rows of stage `from` go through a table without edges. */
static int add_rows(struct gnn_model *m, const struct gnn_layer *layer, uint32_t from,
                    const char *module, uint32_t l, const char *end, struct gnn_err *e)
{
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_width(m, from, t) &&
            add_conv(m, (struct gnn_conv){layer, 0, from, GNN_ROWS, t, t},
                     name_rows(&m->c, module, l, end, t, e), e))
            return e->code;
    return 0;
}

/* Whether a relation leads from what stage `from` makes into type t; or, where the layer makes
 * something of own rows alone, out of it. */
static bool is_reached(const struct gnn_model *m, uint32_t from, uint32_t t)
{
    const bool root = gnn_layer_variant(&m->c)->root;
    for (uint32_t r = 0; r < m->c.netypes; r++) {
        const struct gnn_model_etype *x = &m->c.etype[r];
        if ((x->dst == t && gnn_model_width(m, from, x->src) && gnn_model_width(m, from, t)) ||
            (root && (x->src == t || x->dst == t) && gnn_model_width(m, from, t)))
            return true;
    }
    return false;
}

/* The input of layer l, stage `from`, is added to what the last stage makes of a type. */
static int add_residual(struct gnn_model *m, uint32_t from, uint32_t l, struct gnn_err *e)
{
    const uint32_t made = m->stage[last_stage(m)].width;
    for (uint32_t t = 0; t < m->c.nntypes; t++) {
        const uint32_t width = gnn_model_width(m, from, t);
        const bool same = width == made;
        if (!width || !is_reached(m, from, t) || !(same || m->c.projection))
            continue;
        if (add_conv(m,
                     (struct gnn_conv){same ? &gnn_layer_identity : &gnn_layer_projection, 0, from,
                                       GNN_ROWS, t, t},
                     name_rows(&m->c, "skips", l, "", t, e), e))
            return e->code;
    }
    return 0;
}

static int add_relations(struct gnn_model *m, uint32_t from, uint32_t l, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const struct gnn_layer *layer = gnn_layer_variant(c);
    for (uint32_t t = 0; layer->root && t < c->nntypes; t++)
        if (is_reached(m, from, t) &&
            add_conv(m, (struct gnn_conv){layer->root, 0, from, GNN_ROWS, t, t},
                     name_conv(c, l, 0, e), e))
            return e->code;
    for (uint32_t r = 0; r < c->netypes; r++) {
        struct gnn_conv v = {layer, 0, from, r, c->etype[r].src, c->etype[r].dst};
        const struct gnn_conv_shape s = {c,
                                         l,
                                         r,
                                         gnn_model_width(m, from, v.src),
                                         gnn_model_width(m, from, v.dst),
                                         m->stage[last_stage(m)].width};
        if (layer->check && layer->check(&s, e))
            return e->code;
        if (!s.src || !s.dst)
            continue;
        v.key = layer->keyed ? name_relation(c, r, e) : NULL;
        if (add_conv(m, v, name_conv(c, l, r, e), e))
            return e->code;
        const struct gnn_layer *beside = layer->beside ? layer->beside(c) : NULL;
        if (beside && add_conv(m, (struct gnn_conv){beside, 0, from, GNN_ROWS, v.dst, v.dst},
                               name_conv(c, l, r, e), e))
            return e->code;
    }
    return 0;
}

/* A table without edges that is part of layer l, for type t. */
static int add_part(struct gnn_model *m, const struct gnn_layer *table, uint32_t from, uint32_t l,
                    uint32_t t, struct gnn_err *e)
{
    struct gnn_conv v = {table, 0, from, GNN_ROWS, t, t};
    v.key = gnn_strdup(m->c.ntype[t].name, e);
    return add_conv(m, v, gnn_strf(e, "convs.%u.", l), e);
}

/* A stage of such parts, for what the last one makes. */
static int add_parts(struct gnn_model *m, const struct gnn_layer *table, uint32_t level, uint32_t l,
                     uint32_t width, struct gnn_err *e)
{
    const uint32_t from = last_stage(m);
    add_stage(m, level, l, width);
    for (uint32_t t = 0; t < m->c.nntypes; t++)
        if (gnn_model_width(m, from, t) && add_part(m, table, from, l, t, e))
            return e->code;
    return 0;
}

/* What comes after the sums of a layer, stage `x` being its input. */
static int add_after(struct gnn_model *m, const struct gnn_layer *layer, uint32_t x, uint32_t l,
                     struct gnn_err *e)
{
    const uint32_t width = m->stage[last_stage(m)].width;
    if (add_parts(m, layer->after, l + 1, l, width, e))
        return e->code;
    for (uint32_t t = 0; layer->skip && t < m->c.nntypes; t++)
        if (gnn_model_width(m, last_stage(m), t) && gnn_model_width(m, x, t) == width &&
            add_part(m, layer->skip, x, l, t, e))
            return e->code;
    return 0;
}

/* With a feed-forward block a norm comes before what it is for; its stage is skipped without. */
static int add_norm_before(struct gnn_model *m, uint32_t l, struct gnn_err *e)
{
    const struct gnn_stage *x = &m->stage[last_stage(m)];
    if (!m->c.ffn || !has_norm(&m->c))
        return 0;
    const uint32_t from = last_stage(m);
    /* Widths of features may differ from type to type: the norm has each type's own. */
    follow_with(add_stage(m, x->level, l, x->width), true, false);
    for (uint32_t t = 0; t < m->c.nntypes; t++) {
        if (!gnn_model_width(m, from, t))
            continue;
        if (add_conv(m, (struct gnn_conv){&gnn_layer_identity, 0, from, GNN_ROWS, t, t},
                     gnn_strf(e, "%s", ""), e))
            return e->code;
        m->width[(size_t)last_stage(m) * m->c.nntypes + t] = gnn_model_width(m, from, t);
    }
    return 0;
}

/* x + B drop(act(A v)), v being what the last stage makes. */
static int add_ffn(struct gnn_model *m, uint32_t x, uint32_t l, struct gnn_err *e)
{
    const struct gnn_stage v = m->stage[last_stage(m)];
    uint32_t from = last_stage(m);
    follow_with(add_stage(m, v.level, l, v.width), false, true);
    if (add_rows(m, &gnn_layer_linear, from, "ffns", l, "lins.0.", e))
        return e->code;
    from = last_stage(m);
    add_stage(m, v.level, l, v.width);
    return add_residual(m, x, l, e) ? e->code
                                    : add_rows(m, &gnn_layer_linear, from, "ffns", l, "lins.1.", e);
}

static int add_layer(struct gnn_model *m, uint32_t l, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const struct gnn_layer *layer = gnn_layer_variant(c);
    const bool hidden = l < gnn_model_hidden(c), plain = hidden && !c->ffn;
    const uint32_t x = last_stage(m);
    if (add_norm_before(m, l, e))
        return e->code;
    const uint32_t from = last_stage(m);
    if (layer->before && add_parts(m, layer->before, l, l, layer->widen * c->width[l], e))
        return e->code;
    const uint32_t read = last_stage(m);
    add_stage(m, l + 1, l, c->width[l]);
    if (layer->after && (add_relations(m, read, l, e) || add_after(m, layer, from, l, e)))
        return e->code;
    if (plain)
        follow_with(&m->stage[last_stage(m)], has_norm(c), true);
    if ((plain && c->residual && add_residual(m, x, l, e)) ||
        (!layer->after && add_relations(m, read, l, e)))
        return e->code;
    return c->ffn && hidden ? add_ffn(m, x, l, e) : 0;
}

/* Jumping knowledge: the target's rows of all layers. */
static int add_jump(struct gnn_model *m, const uint32_t *out, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const struct gnn_layer *layer = c->jk == GNN_JK_CAT ? &gnn_layer_jk_cat : &gnn_layer_jk_max;
    uint32_t width = 0;
    for (uint32_t l = 0; l < c->nlayers; l++)
        width = c->jk == GNN_JK_CAT ? width + c->width[l] : c->width[l];
    add_stage(m, c->nlayers, c->nlayers, width);
    for (uint32_t l = 0, column = 0; l < c->nlayers; l++) {
        if (c->jk == GNN_JK_MAX && c->width[l] != c->width[0])
            return gnn_fail(e, GNN_E_USAGE,
                            "jumping knowledge by maximum requires layers of equal width, not %u "
                            "and %u",
                            c->width[0], c->width[l]);
        /* Columns without rows would hold no numbers. */
        if (!gnn_model_width(m, out[l], c->target))
            return gnn_fail(e, GNN_E_USAGE,
                            "jumping knowledge requires rows of node type %s from every layer, but "
                            "layer %u makes none",
                            c->ntype[c->target].name, l);
        if (add_conv(m,
                     (struct gnn_conv){layer, 0, out[l], GNN_ROWS, c->target, c->target, 0, column},
                     gnn_strf(e, "%s", ""), e))
            return e->code;
        column += c->jk == GNN_JK_CAT ? c->width[l] : 0;
    }
    return 0;
}

static int add_target(struct gnn_model *m, uint32_t width, bool act, char *name, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const uint32_t from = last_stage(m);
    follow_with(add_stage(m, c->nlayers, c->nlayers, width), false, act);
    if (!gnn_model_width(m, from, c->target)) {
        gnn_free(name);
        return 0;
    }
    return add_conv(
        m, (struct gnn_conv){&gnn_layer_linear, 0, from, GNN_ROWS, c->target, c->target}, name, e);
}

static int add_head(struct gnn_model *m, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    if (add_norm_before(m, c->nlayers, e))
        return e->code;
    for (uint32_t k = 0; k < c->nhead; k++)
        if (add_target(m, c->head[k], true, gnn_strf(e, "head.%u.", k), e))
            return e->code;
    return add_target(m, c->outputs, false, gnn_strf(e, "lin."), e);
}

/* What the outputs of targets depend on, from the last stage back. */
static void trace_needs(struct gnn_model *m)
{
    const uint32_t nt = m->c.nntypes;
    for (uint32_t t = 0; t < nt; t++)
        m->live[(size_t)last_stage(m) * nt + t] = gnn_model_targets(&m->c, t);
    for (uint32_t i = m->nconvs; i-- > 0;) {
        struct gnn_conv *v = &m->conv[i];
        v->needed = gnn_model_live(m, v->stage, v->dst);
        if (v->needed)
            m->live[(size_t)v->from * nt + v->src] = m->live[(size_t)v->from * nt + v->dst] = true;
    }
}

int gnn_model_list_stages(struct gnn_model *m, struct gnn_err *e)
{
    const struct gnn_model_config *c = &m->c;
    const uint64_t most = bound_stages(c), nt = c->nntypes;
    uint32_t out[GNN_LAYERS_MAX];
    m->stage = gnn_alloc_zero(most, sizeof *m->stage, "stages", e);
    m->width = gnn_alloc_zero(most * nt, sizeof *m->width, "layer widths", e);
    m->live = gnn_alloc_zero(most * nt, sizeof *m->live, "layer inputs", e);
    if (e->code || check_relations(c, e))
        return e->code;
    add_stage(m, 0, 0, 0);
    for (uint32_t t = 0; t < nt; t++)
        m->width[t] = c->ntype[t].width ? c->ntype[t].width : 1;
    if (c->encoder) {
        follow_with(add_stage(m, 0, 0, c->encoder), false, true);
        if (add_rows(m, &gnn_layer_linear, 0, "encoder", GNN_NONE, "", e))
            return e->code;
    }
    for (uint32_t l = 0; l < c->nlayers; l++) {
        if (add_layer(m, l, e))
            return e->code;
        out[l] = last_stage(m);
    }
    if ((c->jk && add_jump(m, out, e)) || (c->has_head && add_head(m, e)))
        return e->code;
    for (uint32_t t = 0; t < nt; t++)
        if (gnn_model_targets(c, t) && !gnn_model_width(m, last_stage(m), t))
            return gnn_fail(e, GNN_E_USAGE, "no edge type leads to the %s node type %s",
                            c->decoder ? "links'" : "labelled", c->ntype[t].name);
    trace_needs(m);
    return 0;
}
