/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-train's options about the model, and the model that they and the batches' header describe. */
#include "cmd/train_model.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/layer_opts.h"
#include "lib/train/train_defaults.h"
#include "cmd/sampling_opts.h"
#include "cmd/state_dict.h"
#include "cmd/train_full.h"
#include "cmd/train_feed.h"
#include "cmd/untrained.h"
#include "cmd/unused.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/recipe.h"
#include "lib/model/layer.h"
#include "lib/model/model_file.h"

static const char *init, *edge_weight;
static bool edge_features;
static int kind, feature_norm, jk, act = -1;
static bool layer_norm = TRAIN_LAYER_NORM, batch_norm, residual, projection, ffn;
static uint32_t encoder;
static struct opt_i32s hidden, head;

/* "|sage|gcn|...", and ", sage (GraphSAGE), gcn (GCN), ...; default: sage" */
#define LAYER_NAME(name, title) "|" #name
#define LAYER_TITLE(name, title) ", " #name " (" title ")"
#define LAYER_NAMES (GNN_LAYERS(LAYER_NAME))
#define LAYER_TITLES (GNN_LAYERS(LAYER_TITLE) "; default: sage")

#define NEEDS_HIDDEN "requires a hidden layer: two layers, or --head"

const struct opt train_model_opts[] = {
    {.kind = OPT_GROUP, .help = "Model"},
    {OPT_CHOICE, 'm', "model", &kind, "KIND", &LAYER_TITLES[2], &LAYER_NAMES[1]},
    {OPT_I32S, 0, "hidden", &hidden, "N,...",
     "widths of the hidden layers; one number applies to all " TRAIN_SAY(TRAIN_HIDDEN)},
    {OPT_FLAG, 0, "layer-norm", &layer_norm, NULL,
     "layer norm after each hidden layer (default, unless --batch-norm is given; --no-layer-norm)"},
    {OPT_FLAG, 0, "batch-norm", &batch_norm, NULL, "batch norm after each hidden layer"},
    {OPT_FLAG, 0, "residual", &residual, NULL,
     "in hidden layers, add the input to the output where the widths are equal"},
    {OPT_FLAG, 0, "residual-projection", &projection, NULL,
     "where these widths differ, add the input times a matrix"},
    {OPT_U32, 0, "encoder", &encoder, "N", "a linear layer to N columns before the first layer",
     .min = 1, .max = 1 << 20},
    {OPT_FLAG, 0, "ffn", &ffn, NULL,
     "in each hidden layer, normalise the input and add a feed-forward block of two linear layers; "
     "implies --residual"},
    {OPT_I32S, 0, "head", &head, "N,...",
     "linear layers of these widths after the layers, and a last one to the outputs; 0: only the "
     "last one; all layers are then hidden"},
    {OPT_CHOICE, 0, "jk", &jk, "HOW",
     "jumping knowledge: the input of the head is the concatenation or the maximum of the outputs "
     "of all layers (default: none)",
     "none|cat|max"},
    {OPT_CHOICE, 0, "activation", &act, "NAME", "activation of hidden layers (default: relu)",
     GNN_ACT_WORDS},
    {OPT_STR, 0, "edge-weight", &edge_weight, "FIELD", "weight neighbours by this edge field"},
    {OPT_FLAG, 0, "edge-features", &edge_features, NULL, "use the features x of edges"},
    {OPT_CHOICE, 0, "feature-norm", &feature_norm, "HOW",
     "row: divide the features of a node by their sum (default: none)", "none|row"},
    {OPT_STR, 0, "init", &init, "FILE", "start from these parameters (safetensors)", .file = true},
    {.kind = OPT_END},
};

const char *train_model_init(void)
{
    return init;
}

/* The file of --init, and what it says of its model; no layer: it does not, and gives numbers only.
 */
static struct gnn_st_file init_file;
static struct gnn_model_config begun;

/* An option says something else than the model that is gone on with. */
static void refuse_other(const void *option, const char *is)
{
    char why[512];
    snprintf(why, sizeof why, "differs from the model of --init %s, which has %s: leave it out",
             init, is);
    opt_refuse(OPTS(option), why);
}

static void adopt_flag(bool *option, bool is)
{
    if (*option != is)
        refuse_other(option, is ? "it" : "it not");
    *option = is;
}

static void adopt_word(int *option, int is, const char *const *words)
{
    if (*option != is)
        refuse_other(option, words[is]);
    *option = is;
}

static void adopt_widths(struct opt_i32s *option, const uint32_t *width, uint32_t n)
{
    static int32_t v[2][GNN_LAYERS_MAX];
    int32_t *to = v[option == &head];
    char text[256] = "";
    bool same = option->n == n || (option->n == 1 && option == &hidden);
    for (uint32_t k = 0; k < n; k++) {
        const size_t at = strlen(text);
        to[k] = (int32_t)width[k];
        same = same && option->v[option->n == 1 ? 0 : k] == to[k];
        snprintf(text + at, sizeof text - at, "%s%d", k ? "," : "", to[k]);
    }
    if (!same)
        refuse_other(option, n ? text : "none");
    free(option->v);
    *option = (struct opt_i32s){to, n};
}

static const char *const acts[] = {GNN_ACT_NAMES};

static void adopt_layer(void)
{
    const struct opt *other;
    int k = 0;
    while (gnn_layers[k] != begun.layer)
        k++;
    if (kind != k)
        refuse_other(&kind, begun.layer->name);
    kind = k;
    if (!layer_opts_adopt(&begun, &other))
        refuse_other(other->value, layer_opts_value(&begun, other));
}

/* What the model that is gone on with says of itself holds where no option was given. */
static void adopt_model(void)
{
    static const char *const jks[] = {"none", "cat", "max"}, *const norms[] = {"none", "row"};
    static const uint32_t only = 0;
    const uint32_t nhead = begun.nhead ? begun.nhead : begun.has_head;
    char encoder_is[16] = "none";
    if (begun.encoder)
        snprintf(encoder_is, sizeof encoder_is, "%u", begun.encoder);
    adopt_layer();
    adopt_widths(&hidden, begun.width, gnn_model_hidden(&begun));
    adopt_widths(&head, begun.nhead ? begun.head : &only, nhead);
    adopt_flag(&layer_norm, begun.layer_norm);
    adopt_flag(&batch_norm, begun.batch_norm);
    adopt_flag(&residual, begun.residual);
    adopt_flag(&projection, begun.projection);
    adopt_flag(&ffn, begun.ffn);
    adopt_flag(&edge_features, begun.edge_features);
    adopt_word(&jk, (int)begun.jk, jks);
    adopt_word(&feature_norm, (int)begun.feature_norm, norms);
    act = act < 0 ? 0 : act;
    adopt_word(&act, begun.act - (int)GNN_ACT_RELU, acts + GNN_ACT_RELU);
    if (encoder != begun.encoder)
        refuse_other(&encoder, encoder_is);
    encoder = begun.encoder;
    if (!edge_weight != !begun.edge_weight ||
        (edge_weight && strcmp(edge_weight, begun.edge_weight) != 0))
        refuse_other(&edge_weight, begun.edge_weight ? begun.edge_weight : "none");
    edge_weight = begun.edge_weight;
}

/* Reads the file of --init; a model of gnn-train describes itself. */
static void read_init(void)
{
    struct gnn_err e = {0};
    if (gnn_st_read(&init_file, init, &e))
        cli_fail(&e);
    const char *text = json_string_value(json_object_get(init_file.st.metadata, "gnn"));
    if (gnn_st_checkpoint(&init_file))
        cli_die(3, "%s: a checkpoint, not a model: continue it with --resume", init);
    if (text && gnn_model_config_parse(&begun, text, init, &e))
        cli_fail(&e);
    if (text)
        adopt_model();
}

/* "gcn or gat": the layers that can use weights, or else features, of edges. */
static const char *name_users(bool weights)
{
    static char text[256];
    *text = 0;
    for (size_t l = 0; gnn_layers[l]; l++)
        if (weights ? gnn_layers[l]->weights : gnn_layers[l]->features) {
            const size_t at = strlen(text);
            snprintf(text + at, sizeof text - at, "%s%s", at ? " or " : "", gnn_layers[l]->name);
        }
    return text;
}

void train_model_check(void)
{
    if (init)
        read_init();
    const struct opt *alien = layer_opts_alien(gnn_layers[kind]);
    if (alien)
        cli_usage("--%s requires --model %s", alien->name, layer_opts_layers(alien));
    if (edge_weight && (!*edge_weight || strlen(edge_weight) > GNN_WORD_MAX))
        cli_usage("--edge-weight: '%s': expected the name of an edge field", edge_weight);
    if (edge_weight && !gnn_layers[kind]->weights)
        cli_usage("--edge-weight requires --model %s", name_users(true));
    if (edge_features && !gnn_layers[kind]->features)
        cli_usage("--edge-features requires --model %s", name_users(false));
    if (ffn && opt_given(&residual) && !residual)
        cli_usage("--ffn and --no-residual exclude each other");
    if (projection && !residual && !ffn)
        cli_usage("--residual-projection requires --residual");
    if (jk && !head.n)
        cli_usage("--jk requires --head N,... (0: one linear layer)");
    for (uint32_t k = 0; k < head.n; k++)
        if (head.v[k] < (head.n > 1) || head.n > GNN_HEAD_MAX)
            cli_usage("--head: %d: expected up to %d widths > 0, or 0 alone", head.v[k],
                      GNN_HEAD_MAX);
    if (batch_norm && !opt_given(&layer_norm))
        layer_norm = false;
    if (layer_norm && batch_norm)
        cli_usage("--layer-norm and --batch-norm exclude each other");
}

void train_model_needs(void)
{
    struct gnn_model_config c = {.layer = gnn_layers[kind],
                                 .batch_norm = batch_norm,
                                 .edge_weight = (char *)(uintptr_t)edge_weight,
                                 .edge_features = edge_features};
    layer_opts_take(&c);
    feed_needs(&c);
}

/* The widths of the hidden layers: as many as the model has layers, less one without a head. That
 * is for each hop one, unless all layers use the same edges. */
static void set_widths(struct gnn_model_config *c, uint32_t hops, bool induced)
{
    const char *what = train_full() || induced ? "layer" : "hop";
    const uint32_t most = c->has_head ? hops : hops - 1;
    c->nlayers = hops;
    if (hops > GNN_LAYERS_MAX)
        cli_die(feed.store_path ? 2 : 3, "%u %ss: a model has at most %d layers", hops, what,
                GNN_LAYERS_MAX);
    if (begun.layer && hops != begun.nlayers)
        cli_usage("%u %s%s, but the model of --init %s has %u layer%s", hops, what,
                  gnn_plural(hops), init, begun.nlayers, gnn_plural(begun.nlayers));
    if (hidden.n > 1 && hidden.n != most)
        cli_usage("--hidden names %u widths; %u %s%s %s %u", hidden.n, hops, what, gnn_plural(hops),
                  hops == 1 ? "needs" : "need", most);
    if (hidden.n && !most)
        cli_usage("--hidden " NEEDS_HIDDEN);
    if (ffn && !most)
        cli_usage("--ffn " NEEDS_HIDDEN);
    if (jk && hops < 2)
        cli_usage("--jk requires two layers: it joins the outputs of several layers");
    for (uint32_t l = 0; l < most; l++) {
        const int32_t w = hidden.n == 0 ? TRAIN_HIDDEN : hidden.v[hidden.n == 1 ? 0 : l];
        if (w < 1)
            cli_usage("--hidden: %d: expected a width > 0", w);
        c->width[l] = (uint32_t)w;
    }
}

/* A stream's header could make a model large with a number: a batch has to show features that wide
 * before there is memory for it. */
static void prove_widths(struct gnn_source **src, const struct gnn_model *m, struct gnn_err *e)
{
    enum { SMALL = 1 << 24, MODEST = 1 << 12 };
    const struct gnn_batch *b;
    char name[GNN_NAME_MAX + 1];
    if (feed.store_path || m->nfloats <= SMALL)
        return;
    if (!(*src = gnn_source_ahead(*src, &b, e)))
        cli_fail(e);
    for (uint32_t t = 0; b && t < m->c.nntypes; t++) {
        const struct gnn_tensor *x =
            gnn_tensors_find(&b->tensors, gnn_tensor_name(name, "node/%s/x", m->c.ntype[t].name));
        if (m->c.ntype[t].width > MODEST && (!x || !x->shape[0]))
            cli_die(
                3,
                "features %s of width %u, but the first batch has none: a model of %llu parameter%s is implausible",
                name, m->c.ntype[t].width, (unsigned long long)m->nfloats, gnn_plural(m->nfloats));
    }
}

/* A model sees nothing of such nodes but how many neighbours they have. */
static void tell_bare(const struct gnn_schema *s)
{
    for (uint32_t i = 0; i < s->nntypes; i++)
        if (gnn_field_find(s->ntype[i].field, s->ntype[i].nfields, "x"))
            return;
    cli_note("warning: nodes have no features x: a single feature 1 is used");
}

static void tell_unused(const struct gnn_meta *meta)
{
    const struct gnn_model_config c = {.layer = gnn_layers[kind],
                                       .edge_weight = (char *)(uintptr_t)edge_weight,
                                       .edge_features = edge_features};
    unused_tell(&meta->schema,
                &(const struct unused_by){.sampling = &meta->sampling,
                                          .samples = feed.store_path && !train_full(),
                                          .whole = train_full(),
                                          .model = &c});
}

/* The model of the options, but for the one that fills `without` (NULL: of all of them): its
 * parameters are listed, but have no memory. */
static int lay_out(struct gnn_model *m, const struct gnn_meta *meta, const void *without,
                   struct gnn_err *e)
{
    const int relu = (int)GNN_ACT_RELU, other = relu + (act <= 0); /* than what is asked for */
    const bool adds = residual && without != &residual;
    struct gnn_model_config c = {
        .layer = gnn_layers[kind],
        .layer_norm = layer_norm && without != &layer_norm,
        .batch_norm = batch_norm && without != &batch_norm,
        .residual = adds || ffn,
        .projection = projection && without != &projection && (adds || ffn),
        .ffn = ffn,
        .encoder = encoder,
        .has_head = head.n > 0,
        .jk = (enum gnn_jk)jk,
        .act = without == &act ? other : relu + (act < 0 ? 0 : act),
        .edge_features = edge_features,
        .feature_norm =
            without == &feature_norm ? GNN_FEATURES_AS_IS : (enum gnn_feature_norm)feature_norm};
    layer_opts_take(&c);
    if (edge_weight && !(c.edge_weight = gnn_strdup(edge_weight, e)))
        return e->code;
    for (uint32_t k = 0; k < head.n && head.v[k]; k++)
        c.head[c.nhead++] = (uint32_t)head.v[k];
    set_widths(&c, train_full_layers(&meta->sampling), meta->sampling.induced);
    return gnn_model_config_fit(&c, &meta->schema, e) ? e->code : gnn_model_layout(m, &c, e);
}

/* Options without which the model computes the same, here or on this graph: the former are refused,
 * the latter told. */
static void check_effects(const struct gnn_model *m, const struct gnn_meta *meta)
{
    const struct {
        const void *value;
        bool asked;
        const char *needs, *why;
    } x[] = {
        {&layer_norm, layer_norm, NEEDS_HIDDEN, NULL},
        {&batch_norm, batch_norm, NEEDS_HIDDEN, NULL},
        {&act, act >= 0, TRAIN_NEEDS_ROWS, NULL},
        {&residual, residual && !ffn, NEEDS_HIDDEN,
         "no hidden layer makes rows as wide as those it reads (see --residual-projection)"},
        {&projection, projection, NEEDS_HIDDEN,
         "all hidden layers make rows as wide as those they read"},
        {&feature_norm, feature_norm, NULL, "nodes have no features"},
    };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        struct gnn_err e = {0};
        struct gnn_model without;
        if (!x[i].asked || !opt_given(x[i].value) || lay_out(&without, meta, x[i].value, &e))
            continue;
        const bool alike = gnn_model_alike(m, &without);
        gnn_model_release(&without);
        if (alike && (!x[i].why || (x[i].needs && !gnn_model_hidden(&m->c))))
            opt_refuse(OPTS(x[i].value), x[i].needs);
        if (alike)
            opt_warn(x[i].value, x[i].why);
    }
}

/* Names of classes, in another order, would exchange outputs without a word. */
static void check_classes(const struct gnn_model_config *from, const struct gnn_model_config *c)
{
    const uint32_t n = gnn_model_classes(c);
    bool same = true;
    if (from->outputs != c->outputs || from->task != c->task)
        cli_die(3, "%s: a model of a %s task with %u output%s; this graph has a %s task with %u",
                init, gnn_task_name(from->task), from->outputs, gnn_plural(from->outputs),
                gnn_task_name(c->task), c->outputs);
    for (uint32_t k = 0; from->class_name && c->class_name && k < n; k++) {
        bool elsewhere = false;
        if (!strcmp(from->class_name[k], c->class_name[k]))
            continue;
        same = false;
        for (uint32_t i = 0; i < n; i++)
            elsewhere = elsewhere || !strcmp(from->class_name[i], c->class_name[k]);
        if (elsewhere)
            cli_die(3,
                    "%s: class %u is '%.70s', but that of this graph is '%.70s': the classes are "
                    "in another order",
                    init, k, from->class_name[k], c->class_name[k]);
    }
    if (!same)
        cli_note("warning: the classes of %s have other names: their outputs become those of the "
                 "classes with the same numbers",
                 init);
}

/* Whether convolution v has no fan-out in any hop that it reads. */
static bool has_no_fanout(const struct gnn_model *m, const struct gnn_conv *v,
                          const struct gnn_sampling *s)
{
    const uint32_t last = s->induced ? s->nhops - 1 : m->c.nlayers - m->stage[v->stage].level;
    bool none = true;
    for (uint32_t h = s->induced || s->frontier == GNN_FRONTIER_ALL ? last : 0; h <= last; h++)
        none = none && !s->fanout[(size_t)h * m->c.netypes + v->rel];
    return none;
}

/* What was trained before stays so, unless this run samples no edge along it: the others learn to
 * do without. was: the list of the model that is gone on with, or NULL. */
static void take_untrained(struct gnn_model *m, const struct gnn_sampling *s, const bool *was)
{
    const uint64_t n = (uint64_t)m->c.nlayers * m->c.netypes;
    struct gnn_err e = {0};
    bool *gone = gnn_alloc_zero(n, sizeof *gone, "edge types", &e);
    if (!gone)
        cli_fail(&e);
    for (uint64_t i = 0; i < n; i++)
        m->c.untrained[i] = was && was[i];
    for (uint32_t i = 0; i < m->nconvs && !train_full(); i++) {
        const struct gnn_conv *v = &m->conv[i];
        if (v->rel == GNN_ROWS || !v->needed || !has_no_fanout(m, v, s))
            continue;
        const uint64_t k = (uint64_t)m->stage[v->stage].layer * m->c.netypes + v->rel;
        gone[k] = !m->c.untrained[k];
        m->c.untrained[k] = true;
    }
    const char *text = untrained_text(&m->c, gone);
    if (*text)
        cli_note("warning: %s uses edges that have no fan-out here, and that the model will leave "
                 "out: %s",
                 init, text);
    gnn_free(gone);
}

/* The parameters of --init: of a model of gnn-train with its types found by name; else of a state
 * dict, for what the options say. */
static void go_on(struct gnn_model *m, const struct gnn_meta *meta, struct gnn_err *e)
{
    const char *what = feed.store_path ? feed.store_path : "the batches";
    struct gnn_model from = {0};
    if (!begun.layer) {
        if (gnn_model_copy_params(m, m->slab, &init_file, init, "", false, e))
            cli_fail(e);
        state_dict_tell_assumed(&m->c, init, &act, &residual, &feature_norm);
    } else {
        if (gnn_model_open(&from, &init_file, init, &meta->schema, NULL, e) ||
            gnn_model_config_match(&from.c, &meta->schema, what, e))
            cli_fail(e);
        check_classes(&from.c, &m->c);
        for (uint32_t i = 0; i < m->nparams; i++)
            memcpy(m->slab + m->param[i].at, from.slab + from.param[i].at,
                   m->param[i].count * sizeof *m->slab);
        untrained_tell_unknown(&from, init);
    }
    take_untrained(m, &meta->sampling, from.c.untrained);
    if (!init_file.st.summed)
        cli_note("%s: no checksum (written by another program): not verified", init);
    gnn_model_release(&from);
    gnn_st_release(&init_file);
}

void train_model_make(struct gnn_model *m, struct gnn_source **src, struct gnn_err *e)
{
    const struct gnn_meta *meta = (*src)->meta;
    if (!meta->is_stream)
        cli_die(3, "the input is not a stream of batches");
    if (meta->sampling.walks.length)
        cli_die(3, "the batches are random walks, not neighbourhoods that a model could use");
    tell_unused(meta);
    tell_bare(&meta->schema);
    if (lay_out(m, meta, NULL, e))
        cli_fail(e);
    check_effects(m, meta);
    layer_opts_check(&m->c);
    prove_widths(src, m, e);
    if (gnn_model_alloc(m, e) || gnn_model_untrain(m, e) ||
        !(m->recipe = gnn_recipe_text(meta, train_full(), e)))
        cli_fail(e);
    gnn_model_reset(m, train_feed.seed);
    if (init)
        go_on(m, meta, e);
}
