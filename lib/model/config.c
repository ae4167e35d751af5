/* SPDX-License-Identifier: Apache-2.0 */
/* What a model is made for: taken from a schema, or compared with one; and the table of layers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/class_names.h"
#include "lib/data/standard.h"
#include "lib/model/layer.h"
#include "lib/model/model.h"

#define LAYER_ENTRY(name, what) &gnn_layer_##name,
const struct gnn_layer *const gnn_layers[] = {GNN_LAYERS(LAYER_ENTRY) NULL};

const struct gnn_layer *gnn_layer_find(const char *name)
{
    for (size_t i = 0; name && gnn_layers[i]; i++)
        if (!strcmp(gnn_layers[i]->name, name))
            return gnn_layers[i];
    return NULL;
}

int gnn_layer_option_find(const struct gnn_layer *layer, const char *name)
{
    for (uint32_t i = 0; i < layer->noptions; i++)
        if (!strcmp(layer->option[i].name, name))
            return (int)i;
    return -1;
}

void gnn_model_config_release(struct gnn_model_config *c)
{
    for (uint32_t t = 0; c->ntype && t < c->nntypes; t++) {
        gnn_free(c->ntype[t].name);
        gnn_free(c->ntype[t].standard);
    }
    gnn_class_names_free(c->class_name, gnn_model_classes(c));
    for (uint32_t r = 0; c->etype && r < c->netypes; r++)
        gnn_free(c->etype[r].rel);
    gnn_free(c->ntype);
    gnn_free(c->etype);
    gnn_free(c->edge_weight);
    gnn_free(c->untrained);
    memset(c, 0, sizeof(*c));
}

static bool is_float(enum gnn_dtype d)
{
    return d == GNN_F32 || d == GNN_F16 || d == GNN_BF16;
}

static int take_types(struct gnn_model_config *c, const struct gnn_schema *s, struct gnn_err *e)
{
    c->ntype = gnn_alloc_zero(s->nntypes, sizeof(*c->ntype), "node types", e);
    c->etype = gnn_alloc_zero(s->netypes, sizeof(*c->etype), "edge types", e);
    if (!c->ntype || !c->etype)
        return e->code;
    c->nntypes = s->nntypes;
    c->netypes = s->netypes;
    for (uint32_t t = 0; t < s->nntypes; t++) {
        const struct gnn_ntype *n = &s->ntype[t];
        const struct gnn_field *x = gnn_field_find(n->field, n->nfields, "x");
        c->ntype[t].name = gnn_strdup(n->name, e);
        if (!c->ntype[t].name)
            return e->code;
        if (x && !is_float(gnn_field_stands_for(x)))
            return gnn_fail(e, GNN_E_USAGE,
                            "features x of node type %s are %s, not f32, f16 or bf16", n->name,
                            gnn_dtype_name(x->dtype));
        if (x && x->width > 1u << 24)
            return gnn_fail(e, GNN_E_USAGE, "features x of node type %s are too wide", n->name);
        if (x)
            c->ntype[t].width = (uint32_t)gnn_field_columns(x);
        if (x && x->standard &&
            !(c->ntype[t].standard = gnn_standard_copy(x->standard, c->ntype[t].width, e)))
            return e->code;
    }
    for (uint32_t r = 0; r < s->netypes; r++) {
        c->etype[r].src = s->etype[r].src;
        c->etype[r].dst = s->etype[r].dst;
        c->etype[r].rel = gnn_strdup(s->etype[r].rel, e);
        if (!c->etype[r].rel)
            return e->code;
    }
    return 0;
}

static const struct gnn_field *edge_field(const struct gnn_schema *s, uint32_t r, const char *name)
{
    return gnn_field_find(s->etype[r].field, s->etype[r].nfields, name);
}

/* Every edge type must have the weight: one number, and floating-point. */
static int check_weights(const struct gnn_model_config *c, const struct gnn_schema *s,
                         const char *what, enum gnn_status status, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t r = 0; c->edge_weight && r < s->netypes; r++) {
        const struct gnn_field *f = edge_field(s, r, c->edge_weight);
        gnn_etype_key(s, r, key, sizeof key);
        if (!f)
            return gnn_fail(e, status, "%sedge type %s has no field %s to weight its edges by",
                            what, key, c->edge_weight);
        if (!is_float(f->dtype) || f->width > 1)
            return gnn_fail(e, status,
                            "%sfield %s of edge type %s is %s (%u columns): a weight is one number "
                            "of f32, f16 or bf16",
                            what, c->edge_weight, key, gnn_dtype_name(f->dtype),
                            (unsigned)(f->width ? f->width : 1));
    }
    return 0;
}

/* Columns of the features of edges; 0: they have none. */
static int edge_width(const struct gnn_schema *s, uint32_t r, uint32_t *width, struct gnn_err *e)
{
    const struct gnn_field *x = edge_field(s, r, "x");
    char key[GNN_ETYPE_KEY_CAPACITY];
    *width = x ? (uint32_t)(x->width ? x->width : 1) : 0;
    if (x && (!is_float(gnn_field_stands_for(x)) || x->width > 1u << 20))
        return gnn_fail(e, GNN_E_USAGE,
                        "features x of edge type %s are %s, %llu columns: expected up to %u of "
                        "f32, f16 or bf16",
                        gnn_etype_key(s, r, key, sizeof key), gnn_dtype_name(x->dtype),
                        (unsigned long long)x->width, 1u << 20);
    return 0;
}

static int fit_edges(struct gnn_model_config *c, const struct gnn_schema *s, struct gnn_err *e)
{
    bool any = false;
    if (c->edge_weight && !c->layer->weights)
        return gnn_fail(e, GNN_E_USAGE, "%s has no use for edge weights", c->layer->name);
    if (c->edge_features && !c->layer->features)
        return gnn_fail(e, GNN_E_USAGE, "%s has no use for edge features", c->layer->name);
    for (uint32_t r = 0; c->edge_features && r < s->netypes; r++) {
        if (edge_width(s, r, &c->etype[r].features, e))
            return e->code;
        any = any || c->etype[r].features;
    }
    if (c->edge_features && !any)
        return gnn_fail(e, GNN_E_USAGE, "edges have no features x, which the model uses");
    return check_weights(c, s, "", GNN_E_USAGE, e);
}

/* What nodes are classified by. */
static int take_labels(struct gnn_model_config *c, const struct gnn_schema *s, struct gnn_err *e)
{
    c->task = s->task;
    c->target = s->label_ntype;
    c->outputs = gnn_task_labels[s->task].outputs ? gnn_task_labels[s->task].outputs : s->nclasses;
    if (s->class_name)
        c->class_name = gnn_class_names_copy((const char *const *)s->class_name, s->nclasses, e);
    return e->code;
}

int gnn_model_config_fit(struct gnn_model_config *c, const struct gnn_schema *s, struct gnn_err *e)
{
    if (c->nlayers < 1 || c->nlayers > GNN_LAYERS_MAX)
        return gnn_fail(e, GNN_E_USAGE, "a model has 1 to %d layers, not %u", GNN_LAYERS_MAX,
                        c->nlayers);
    if (!c->decoder && (!s->task || s->nclasses == 0))
        return gnn_fail(e, GNN_E_USAGE, "the graph has no labels to train on");
    if (s->netypes == 0)
        return gnn_fail(e, GNN_E_USAGE, "the graph has no edge types");
    if (!c->act)
        c->act = GNN_ACT_RELU;
    if (!c->decoder && take_labels(c, s, e))
        return e->code;
    if (!c->has_head)
        c->width[c->nlayers - 1] = c->outputs;
    for (uint32_t l = 0; l < c->nlayers; l++)
        if (c->width[l] == 0 || c->width[l] > 1u << 20)
            return gnn_fail(e, GNN_E_USAGE, "layer %u has %u outputs, expected 1 to %u", l,
                            c->width[l], 1u << 20);
    return take_types(c, s, e) ? e->code : fit_edges(c, s, e);
}

static int match_edges(const struct gnn_model_config *c, const struct gnn_schema *s,
                       const char *what, struct gnn_err *e)
{
    char text[512], key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t r = 0; c->edge_features && r < s->netypes; r++) {
        uint32_t width;
        if (edge_width(s, r, &width, e))
            return e->code;
        if (width != c->etype[r].features)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: edges of type %s have %u feature%s x; the model needs %u", what,
                            gnn_etype_key(s, r, key, sizeof key), width, gnn_plural(width),
                            c->etype[r].features);
    }
    snprintf(text, sizeof text, "%s: ", what);
    return check_weights(c, s, text, GNN_E_INPUT, e);
}

/* Features must be standardized as those of the training were, or be as they are, too. */
static int match_standard(const struct gnn_model_ntype *m, const struct gnn_field *x,
                          const char *what, struct gnn_err *e)
{
    if (!x || gnn_standard_equal(x->standard, m->standard, m->width))
        return GNN_OK;
    if (!m->standard)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: features of node type %s are standardized; the model was trained on "
                        "features that are not: import without --standardize",
                        what, m->name);
    return gnn_fail(e, GNN_E_INPUT,
                    "%s: features of node type %s are %s the model's training: import with "
                    "--standardize-from and the store that it was trained on",
                    what, m->name,
                    x->standard ? "standardized by other constants than in"
                                : "not standardized, unlike in");
}

int gnn_model_config_match(const struct gnn_model_config *c, const struct gnn_schema *s,
                           const char *what, struct gnn_err *e)
{
    char key[GNN_ETYPE_KEY_CAPACITY];
    if (s->nntypes != c->nntypes || s->netypes != c->netypes)
        return gnn_fail(e, GNN_E_INPUT, "%s: %u node and %u edge types; the model has %u and %u",
                        what, s->nntypes, s->netypes, c->nntypes, c->netypes);
    for (uint32_t t = 0; t < s->nntypes; t++) {
        const struct gnn_ntype *n = &s->ntype[t];
        const struct gnn_field *x = gnn_field_find(n->field, n->nfields, "x");
        const uint64_t w = x ? (x->width ? x->width : 1) : 0;
        if (strcmp(n->name, c->ntype[t].name) != 0)
            return gnn_fail(e, GNN_E_INPUT, "%s: node type %u is %s; the model's is %s", what, t,
                            n->name, c->ntype[t].name);
        if (w != c->ntype[t].width || (x && !is_float(gnn_field_stands_for(x))))
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: node type %s has %llu feature%s (%s); the model needs %u", what,
                            n->name, (unsigned long long)w, gnn_plural(w),
                            x ? gnn_field_type(x) : "none", c->ntype[t].width);
        if (match_standard(&c->ntype[t], x, what, e))
            return e->code;
    }
    for (uint32_t r = 0; r < s->netypes; r++)
        if (s->etype[r].src != c->etype[r].src || s->etype[r].dst != c->etype[r].dst ||
            strcmp(s->etype[r].rel, c->etype[r].rel) != 0)
            return gnn_fail(e, GNN_E_INPUT, "%s: edge type %u is %s; the model's is %s/%s/%s", what,
                            r, gnn_etype_key(s, r, key, sizeof key), c->ntype[c->etype[r].src].name,
                            c->etype[r].rel, c->ntype[c->etype[r].dst].name);
    return match_edges(c, s, what, e);
}
