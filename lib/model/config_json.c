/* SPDX-License-Identifier: Apache-2.0 */
/* A model's configuration as JSON, kept in the metadata of its file. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/mem.h"
#include "lib/base/option.h"
#include "lib/data/class_names.h"
#include "lib/data/standard.h"
#include "lib/model/model_file.h"
#include "lib/model/layer.h"

static json_t *word_json(const char *choices, uint32_t i)
{
    int n;
    const char *word = gnn_choice_word(choices, i, &n);
    return json_stringn(word, (size_t)n);
}

/* The number of the word, -1: it is none of the choices. */
static int parse_word(const json_t *j, const char *choices)
{
    return json_is_string(j) ? gnn_choice_find(choices, json_string_value(j), json_string_length(j))
                             : -1;
}

/* For each layer the edge types that it leaves out, if there are any. */
static void put_untrained(json_t *j, const struct gnn_model_config *c)
{
    json_t *layers = json_array();
    bool any = false;
    for (uint32_t l = 0; c->untrained && l < c->nlayers; l++) {
        json_t *list = json_array();
        for (uint32_t r = 0; r < c->netypes; r++)
            if (c->untrained[(size_t)l * c->netypes + r]) {
                json_array_append_new(list, json_integer(r));
                any = true;
            }
        json_array_append_new(layers, list);
    }
    if (any)
        json_object_set(j, "untrained", layers);
    json_decref(layers);
}

/* The modules around the layers, if there are any: descriptions without them do not change. */
static void put_surroundings(json_t *j, const struct gnn_model_config *c)
{
    if (c->batch_norm)
        json_object_set_new(j, "batch_norm", json_true());
    if (c->projection)
        json_object_set_new(j, "residual_projection", json_true());
    if (c->ffn)
        json_object_set_new(j, "ffn", json_true());
    if (c->encoder)
        json_object_set_new(j, "encoder", json_integer(c->encoder));
    if (c->jk)
        json_object_set_new(j, "jk", word_json(GNN_JKS, (uint32_t)c->jk));
    if (c->edge_weight)
        json_object_set_new(j, "edge_weight", json_string(c->edge_weight));
    if (c->edge_features)
        json_object_set_new(j, "edge_features", json_true());
    if (c->class_name)
        json_object_set_new(j, "class_names",
                            gnn_class_names_to_json(c->class_name, gnn_model_classes(c)));
    if (c->act > (int)GNN_ACT_RELU)
        json_object_set_new(j, "activation",
                            word_json(GNN_ACT_WORDS, (uint32_t)(c->act - (int)GNN_ACT_RELU)));
    if (c->decoder) {
        json_object_set_new(j, "decoder", word_json(GNN_DECODERS, (uint32_t)c->decoder - 1));
        json_object_set_new(j, "link_heads", json_integer(c->heads));
        if (c->scores > 1)
            json_object_set_new(j, "scores", json_integer(c->scores));
        if (c->loss)
            json_object_set_new(j, "loss", word_json(GNN_LINK_LOSSES, (uint32_t)c->loss));
    }
    if (!c->has_head)
        return;
    json_t *head = json_array();
    for (uint32_t k = 0; k < c->nhead; k++)
        json_array_append_new(head, json_integer(c->head[k]));
    json_array_append_new(head, json_integer(c->outputs));
    json_object_set_new(j, "head", head);
}

void gnn_model_put_options(json_t *j, const struct gnn_model_config *c)
{
    for (uint32_t k = 0; k < c->layer->noptions; k++) {
        const struct gnn_layer_option *x = &c->layer->option[k];
        if (c->option[k] != x->init)
            json_object_set_new(j, x->name,
                                x->choices ? word_json(x->choices, (uint32_t)c->option[k])
                                : x->flag  ? json_boolean(c->option[k] != 0)
                                : x->whole ? json_integer((json_int_t)c->option[k])
                                           : json_real(c->option[k]));
    }
}

char *gnn_model_config_text(const struct gnn_model_config *c, struct gnn_err *e)
{
    char *text = NULL;
    gnn_json_watch();
    json_t *width = json_array(), *nt = json_array(), *et = json_array();
    for (uint32_t l = 0; l < c->nlayers; l++)
        json_array_append_new(width, json_integer(c->width[l]));
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const struct gnn_model_ntype *x = &c->ntype[t];
        json_t *o = json_pack("{s:s, s:I}", "name", x->name, "features", (json_int_t)x->width);
        if (x->standard)
            json_object_set_new(o, "standardized", gnn_standard_to_json(x->standard, x->width));
        json_array_append_new(nt, o);
    }
    for (uint32_t r = 0; r < c->netypes; r++) {
        const struct gnn_model_etype *t = &c->etype[r];
        json_t *x = json_pack("[I, s, I]", (json_int_t)t->src, t->rel, (json_int_t)t->dst);
        if (c->edge_features)
            json_array_append_new(x, json_integer(t->features));
        json_array_append_new(et, x);
    }
    json_t *j = json_pack(
        "{s:i, s:s, s:o, s:b, s:b, s:o, s:s, s:I, s:o, s:o}", "version", 1, "kind", c->layer->name,
        "width", width, "layer_norm", c->layer_norm, "residual", c->residual, "feature_norm",
        word_json(GNN_FEATURE_NORMS, (uint32_t)c->feature_norm), "task", gnn_task_name(c->task),
        "target", (json_int_t)c->target, "node_types", nt, "edge_types", et);
    if (j)
        put_surroundings(j, c);
    if (j)
        gnn_model_put_options(j, c);
    if (j)
        put_untrained(j, c);
    if (j)
        text = gnn_json_text(j, JSON_COMPACT, e);
    json_decref(j);
    if (text && !gnn_json_starved())
        return text;
    gnn_free(text);
    gnn_fail(e, GNN_E_NOMEM, "out of memory for the model's description");
    return NULL;
}

static bool parse_number(const json_t *j, uint64_t below, uint32_t *out)
{
    if (!json_is_integer(j) || json_integer_value(j) < 0 ||
        (uint64_t)json_integer_value(j) >= below)
        return false;
    *out = (uint32_t)json_integer_value(j);
    return true;
}

/* A description that is being read; `member` is the one that was looked at last, so that a refusal
 * can name it. */
struct description {
    const json_t *j;
    const char *member;
};

static const json_t *take_member(struct description *d, const char *member)
{
    d->member = member;
    return json_object_get(d->j, member);
}

/* A list of node or edge types; 0: there is none. */
static uint32_t count_types(const json_t *types)
{
    const size_t n = json_array_size(types);
    return n <= GNN_TYPES_MAX ? (uint32_t)n : 0;
}

static bool parse_node_types(struct gnn_model_config *c, const json_t *nt, struct gnn_err *e)
{
    c->nntypes = count_types(nt);
    c->ntype = c->nntypes ? gnn_alloc_zero(c->nntypes, sizeof(*c->ntype), "node types", e) : NULL;
    if (!c->ntype)
        return false;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const json_t *j = json_array_get(nt, t), *name = json_object_get(j, "name");
        const json_t *standard = json_object_get(j, "standardized");
        struct gnn_err why = {0};
        if (!json_is_string(name) ||
            !parse_number(json_object_get(j, "features"), (1u << 24) + 1, &c->ntype[t].width) ||
            !(c->ntype[t].name = gnn_strdup(json_string_value(name), e)) ||
            (standard &&
             !(c->ntype[t].standard = gnn_standard_from_json(standard, c->ntype[t].width, &why))))
            return false;
    }
    return true;
}

/* After the outputs. */
static bool parse_classes(struct gnn_model_config *c, const json_t *list)
{
    struct gnn_err why = {0};
    return !list || (c->class_name = gnn_class_names_from_json(list, gnn_model_classes(c), &why));
}

/* [source, name, destination], and the columns of features, if the model uses them. */
static bool parse_edge_types(struct gnn_model_config *c, const json_t *et, struct gnn_err *e)
{
    c->netypes = count_types(et);
    c->etype = c->netypes ? gnn_alloc_zero(c->netypes, sizeof(*c->etype), "edge types", e) : NULL;
    if (!c->etype)
        return false;
    for (uint32_t r = 0; r < c->netypes; r++) {
        const json_t *j = json_array_get(et, r), *rel = json_array_get(j, 1);
        if (json_array_size(j) != (c->edge_features ? 4 : 3) || !json_is_string(rel) ||
            !parse_number(json_array_get(j, 0), c->nntypes, &c->etype[r].src) ||
            !parse_number(json_array_get(j, 2), c->nntypes, &c->etype[r].dst) ||
            (c->edge_features &&
             !parse_number(json_array_get(j, 3), (1u << 20) + 1, &c->etype[r].features)) ||
            !(c->etype[r].rel = gnn_strdup(json_string_value(rel), e)))
            return false;
    }
    return true;
}

/* After the layers and edge types. */
static bool parse_untrained(struct gnn_model_config *c, const json_t *layers, struct gnn_err *e)
{
    const uint64_t n = (uint64_t)c->nlayers * c->netypes;
    if (!layers)
        return true;
    if (json_array_size(layers) != c->nlayers ||
        !(c->untrained = gnn_alloc_zero(n, sizeof(bool), "edge types", e)))
        return false;
    for (uint32_t l = 0; l < c->nlayers; l++) {
        const json_t *list = json_array_get(layers, l);
        if (!json_is_array(list) || json_array_size(list) > c->netypes)
            return false;
        for (size_t k = 0; k < json_array_size(list); k++) {
            uint32_t r;
            if (!parse_number(json_array_get(list, k), c->netypes, &r))
                return false;
            c->untrained[(size_t)l * c->netypes + r] = true;
        }
    }
    return true;
}

/* The value of option x in the description; false: it cannot have that. */
static bool parse_option(const struct gnn_layer_option *x, const json_t *v, double *to)
{
    *to = x->init;
    if (!v)
        return true;
    if (x->choices)
        *to = parse_word(v, x->choices);
    else
        *to = x->flag ? json_is_true(v) : json_number_value(v);
    return x->choices ? *to >= 0
           : x->flag  ? json_is_boolean(v)
                      : (x->whole ? json_is_integer(v) : json_is_number(v)) && *to >= x->min &&
                           *to <= x->max;
}

static bool parse_options(struct gnn_model_config *c, struct description *d)
{
    for (uint32_t k = 0; k < c->layer->noptions; k++) {
        const struct gnn_layer_option *x = &c->layer->option[k];
        if (!parse_option(x, take_member(d, x->name), &c->option[k]))
            return false;
    }
    return true;
}

static bool parse_flag(struct description *d, const char *name, bool *out)
{
    const json_t *v = take_member(d, name);
    *out = json_is_true(v);
    return !v || json_is_boolean(v);
}

/* "head" lists the widths of its linear layers, the outputs last. */
static bool parse_head(struct gnn_model_config *c, const json_t *head)
{
    const size_t n = json_array_size(head);
    c->outputs = c->width[c->nlayers - 1];
    c->has_head = head != NULL;
    if (!head)
        return true;
    if (!json_is_array(head) || n < 1 || n > GNN_HEAD_MAX + 1)
        return false;
    c->nhead = (uint32_t)n - 1;
    for (size_t k = 0; k < n; k++) {
        uint32_t *to = k + 1 < n ? &c->head[k] : &c->outputs;
        if (!parse_number(json_array_get(head, k), (1u << 20) + 1, to) || !*to)
            return false;
    }
    return true;
}

/* What is used of edges; only by a layer that can. */
static bool parse_edges(struct gnn_model_config *c, struct description *d, struct gnn_err *e)
{
    if (!parse_flag(d, "edge_features", &c->edge_features) ||
        (c->edge_features ? !c->layer->features : c->layer->needs_features))
        return false;
    const json_t *v = take_member(d, "edge_weight");
    const size_t n = json_string_length(v);
    if (v && (n < 1 || n > GNN_WORD_MAX || !c->layer->weights))
        return false;
    return !v || (c->edge_weight = gnn_strdup(json_string_value(v), e));
}

static bool parse_encoder(struct gnn_model_config *c, const json_t *v)
{
    return !v || (parse_number(v, (1u << 20) + 1, &c->encoder) && c->encoder);
}

/* After the head. */
static bool parse_jk(struct gnn_model_config *c, const json_t *v)
{
    const int k = v ? parse_word(v, GNN_JKS) : GNN_JK_NONE;
    if (k < 0 || (k && !c->has_head))
        return false;
    c->jk = (enum gnn_jk)k;
    return true;
}

static bool parse_act(struct gnn_model_config *c, const json_t *v)
{
    c->act = (v ? parse_word(v, GNN_ACT_WORDS) : 0) + (int)GNN_ACT_RELU;
    return c->act >= (int)GNN_ACT_RELU;
}

static bool parse_surroundings(struct gnn_model_config *c, struct description *d)
{
    return json_is_boolean(take_member(d, "layer_norm")) &&
           parse_flag(d, "layer_norm", &c->layer_norm) &&
           parse_flag(d, "batch_norm", &c->batch_norm) && !(c->batch_norm && c->layer_norm) &&
           json_is_boolean(take_member(d, "residual")) && parse_flag(d, "residual", &c->residual) &&
           parse_flag(d, "residual_projection", &c->projection) &&
           (!c->projection || c->residual) && parse_flag(d, "ffn", &c->ffn) &&
           (!c->ffn || c->residual) && parse_encoder(c, take_member(d, "encoder")) &&
           parse_head(c, take_member(d, "head")) && parse_jk(c, take_member(d, "jk")) &&
           parse_act(c, take_member(d, "activation"));
}

static bool parse_width(struct gnn_model_config *c, const json_t *width)
{
    const size_t n = json_array_size(width);
    if (n < 1 || n > GNN_LAYERS_MAX)
        return false;
    c->nlayers = (uint32_t)n;
    for (size_t l = 0; l < n; l++)
        if (!parse_number(json_array_get(width, l), (1u << 20) + 1, &c->width[l]) || !c->width[l])
            return false;
    return true;
}

static bool parse_task(struct gnn_model_config *c, struct description *d)
{
    const int norm = parse_word(take_member(d, "feature_norm"), GNN_FEATURE_NORMS);
    if (norm < 0)
        return false;
    const char *name = json_string_value(take_member(d, "task"));
    const int task =
        name && !strcmp(name, gnn_task_name(GNN_TASK_LINKS)) ? GNN_TASK_LINKS : gnn_task_find(name);
    if (task <= 0)
        return false;
    c->feature_norm = (enum gnn_feature_norm)norm;
    c->task = (enum gnn_task)task;
    return true;
}

/* Of two classes there is one output, that of class 1. */
static bool check_outputs(const struct gnn_model_config *c, struct description *d)
{
    d->member = "task";
    const uint32_t n = gnn_task_labels[c->task].outputs;
    return !n || c->outputs == n || json_object_get(d->j, "decoder");
}

/* What this version does not know might be of weight for what the model computes; so might options
 * of other layers. */
static bool know_members(const struct gnn_model_config *c, struct description *d)
{
    static const char *const known[] = {
        "version",
        "kind",
        "width",
        "layer_norm",
        "batch_norm",
        "residual",
        "residual_projection",
        "ffn",
        "encoder",
        "head",
        "jk",
        "activation",
        "feature_norm",
        "task",
        "target",
        "node_types",
        "edge_types",
        "edge_weight",
        "edge_features",
        "class_names",
        "untrained",
        "decoder",
        "link_heads",
        "scores",
        "loss",
    };
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)d->j, d->member, v)
    {
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(known[k], d->member) != 0)
            k++;
        if (k == sizeof known / sizeof *known && gnn_layer_option_find(c->layer, d->member) < 0)
            return false;
    }
    return true;
}

static bool parse_loss(struct gnn_model_config *c, const json_t *v)
{
    const int loss = v ? parse_word(v, GNN_LINK_LOSSES) : GNN_LOSS_BCE;
    c->loss = loss < 0 ? GNN_LOSS_BCE : (enum gnn_link_loss)loss;
    return loss >= 0;
}

/* How many outputs a decoder has: one, but for classes of links. */
static bool parse_scores(struct gnn_model_config *c, const json_t *v)
{
    c->scores = 1;
    return !v || (parse_number(v, (1u << 20) + 1, &c->scores) && c->scores &&
                  (c->scores == 1 || c->task == GNN_TASK_MULTICLASS));
}

/* A model of links has a decoder, and no other model. */
static bool parse_decoder(struct gnn_model_config *c, struct description *d)
{
    const json_t *word = take_member(d, "decoder");
    if ((!word && c->task == GNN_TASK_LINKS) || (word && c->task == GNN_TASK_MULTILABEL))
        return false;
    const int decoder = word ? parse_word(word, GNN_DECODERS) + 1 : GNN_DECODER_NONE;
    c->decoder = (enum gnn_decoder)decoder;
    if (!parse_scores(c, take_member(d, "scores")))
        return false;
    return !word ? !take_member(d, "loss")
                 : decoder && !c->has_head && !c->jk &&
                       parse_number(take_member(d, "link_heads"), c->nntypes, &c->heads) &&
                       parse_loss(c, take_member(d, "loss"));
}

static bool parse_config(struct gnn_model_config *c, struct description *d, struct gnn_err *e)
{
    if (json_integer_value(take_member(d, "version")) != 1)
        return false;
    c->layer = gnn_layer_find(json_string_value(take_member(d, "kind")));
    return c->layer && know_members(c, d) && parse_options(c, d) && parse_task(c, d) &&
           parse_width(c, take_member(d, "width")) && parse_surroundings(c, d) &&
           check_outputs(c, d) && parse_classes(c, take_member(d, "class_names")) &&
           parse_edges(c, d, e) && parse_node_types(c, take_member(d, "node_types"), e) &&
           parse_edge_types(c, take_member(d, "edge_types"), e) &&
           parse_untrained(c, take_member(d, "untrained"), e) &&
           parse_number(take_member(d, "target"), c->nntypes, &c->target) && parse_decoder(c, d);
}

int gnn_model_config_parse(struct gnn_model_config *c, const char *text, const char *path,
                           struct gnn_err *e)
{
    memset(c, 0, sizeof(*c));
    json_t *j = gnn_json_parse(text, strlen(text), path, e);
    struct description d = {.j = j};
    if (j && !parse_config(c, &d, e))
        gnn_fail(e, GNN_E_INPUT,
                 "%s: this version cannot read member %.60s of the model's description", path,
                 d.member);
    json_decref(j);
    if (e->code)
        gnn_model_config_release(c);
    return e->code;
}
