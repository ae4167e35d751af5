/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-train's options about the model, and the model that they and the batches' header describe. */
#include "cmd/train_model.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
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

struct gnn_settings train_set;
struct opt train_model_opts[GNN_MODEL_OPTIONS];
static const char *init;

const struct opt train_init_opts[] = {
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

/* The settings that the model which is gone on with was made by. */
static void set_begun(struct gnn_settings *was)
{
    static int32_t hidden[GNN_LAYERS_MAX], head[GNN_HEAD_MAX];
    gnn_settings_init(was);
    was->c = begun;
    while (gnn_layers[was->layer] != begun.layer)
        was->layer++;
    was->act = begun.act - (int)GNN_ACT_RELU;
    was->decoder = begun.decoder ? (int)begun.decoder - (int)GNN_DECODER_DOT : -1;
    was->edge_weight = begun.edge_weight;
    was->hidden = (struct opt_i32s){hidden, gnn_model_hidden(&begun)};
    was->head = (struct opt_i32s){head, begun.nhead ? begun.nhead : begun.has_head};
    for (uint32_t k = 0; k < was->hidden.n; k++)
        hidden[k] = (int32_t)begun.width[k];
    for (uint32_t k = 0; k < begun.nhead; k++)
        head[k] = (int32_t)begun.head[k];
    memcpy(was->layers.value, train_set.layers.value, sizeof was->layers.value);
    gnn_layers_put(&was->layers, &begun);
}

/* What the model has of an option: "64,32", "cat", "it not", "none". */
static const char *value_text(const struct opt *o)
{
    static char text[256];
    const struct opt_i32s *list = o->value;
    const char *word;
    size_t at = 0;
    int n;
    if (o->kind == OPT_FLAG)
        return *(bool *)o->value ? "it" : "it not";
    if (o->kind == OPT_STR)
        return *(const char **)o->value ? *(const char **)o->value : "none";
    snprintf(text, sizeof text, "none");
    for (uint32_t k = 0; o->kind == OPT_I32S && k < list->n && at < sizeof text; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", k ? "," : "", list->v[k]);
    if (o->kind == OPT_CHOICE) {
        word = gnn_choice_word(o->choices, *(uint32_t *)o->value, &n);
        snprintf(text, sizeof text, "%.*s", n, word);
    } else if (o->kind != OPT_I32S && gnn_option_number(o) != 0)
        snprintf(text, sizeof text, "%g", gnn_option_number(o));
    return text;
}

/* Whether two options have one value; one width of all hidden layers stands for each of them. */
static bool is_equal(const struct opt *a, const struct opt *b)
{
    const struct opt_i32s *x = a->value, *y = b->value;
    if (a->kind == OPT_STR) {
        const char *s = *(const char **)a->value, *t = *(const char **)b->value;
        return s && t ? !strcmp(s, t) : s == t;
    }
    if (a->kind != OPT_I32S)
        return gnn_option_number(a) == gnn_option_number(b);
    bool same = x->n == y->n || (x->n == 1 && x == &train_set.hidden);
    for (uint32_t k = 0; same && k < y->n; k++)
        same = x->v[x->n == 1 ? 0 : k] == y->v[k];
    return same;
}

/* What the model that is gone on with says of itself holds where no option was given. */
static void adopt_options(const struct opt *own, const struct opt *was)
{
    for (; own->kind != OPT_END; own++, was++) {
        char why[512];
        if (own->kind == OPT_GROUP || is_equal(own, was))
            continue;
        snprintf(why, sizeof why, "differs from the model of --init %s, which has %s: leave it out",
                 init, value_text(was));
        opt_refuse(OPTS(own->value), why);
        if (own->kind == OPT_I32S)
            *(struct opt_i32s *)own->value = *(const struct opt_i32s *)was->value;
        else if (own->kind == OPT_STR)
            *(const char **)own->value = *(const char **)was->value;
        else
            gnn_option_put(own, gnn_option_number(was));
    }
}

static void adopt_model(void)
{
    static struct gnn_settings was;
    struct opt options[GNN_MODEL_OPTIONS];
    set_begun(&was);
    gnn_model_options(&was, options);
    adopt_options(train_model_opts, options);
    adopt_options(train_set.layers.option, was.layers.option);
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

void train_model_check(void)
{
    struct gnn_err e = {0};
    if (init)
        read_init();
    if (gnn_settings_settle(&train_set, &opt_all_given, &e))
        cli_fail(&e);
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
        const struct gnn_tensor *x = gnn_batch_features(b, t, m->c.ntype[t].name);
        gnn_tensor_name(name, "node/%s/x", m->c.ntype[t].name);
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
    unused_tell(&meta->schema,
                &(const struct unused_by){.sampling = &meta->sampling,
                                          .samples = feed.store_path && !train_full(),
                                          .whole = train_full(),
                                          .model = &train_set.c});
}

/* The model of the settings: its parameters are listed, but have no memory. */
static int lay_out(struct gnn_model *m, const struct gnn_settings *set, const struct gnn_meta *meta,
                   struct gnn_err *e)
{
    const uint32_t n = train_full_layers(&meta->sampling);
    const char *what = train_full() || meta->sampling.induced ? "layer" : "hop";
    struct gnn_model_config c;
    if (n > GNN_LAYERS_MAX)
        cli_die(feed.store_path ? 2 : 3, "%u %ss: a model has at most %d layers", n, what,
                GNN_LAYERS_MAX);
    if (begun.layer && n != begun.nlayers)
        cli_usage("%u %s%s, but the model of --init %s has %u layer%s", n, what, gnn_plural(n),
                  init, begun.nlayers, gnn_plural(begun.nlayers));
    return gnn_settings_model(set, n, what, meta, &c, e) ||
                   gnn_model_config_fit(&c, &meta->schema, e)
               ? e->code
               : gnn_model_layout(m, &c, e);
}

#define NEEDS_HIDDEN "requires a hidden layer: two layers, or --head"

/* Options without which the model computes the same, here or on this graph: the former are refused,
 * the latter told. */
static void check_effects(const struct gnn_model *m, const struct gnn_meta *meta)
{
    struct gnn_settings *const set = &train_set, x;
    /* Each with its member of x, which is switched off, or is another word. */
    const struct {
        const void *value;
        bool *flag;
        int *word;
        const char *needs, *why;
    } t[] = {
        {&set->c.layer_norm, &x.c.layer_norm, NULL, NEEDS_HIDDEN, NULL},
        {&set->c.batch_norm, &x.c.batch_norm, NULL, NEEDS_HIDDEN, NULL},
        {&set->act, NULL, &x.act, "requires hidden rows: two layers, --head or --encoder", NULL},
        {&set->c.residual, &x.c.residual, NULL, NEEDS_HIDDEN,
         "no hidden layer makes rows as wide as those it reads (see --residual-projection)"},
        {&set->c.projection, &x.c.projection, NULL, NEEDS_HIDDEN,
         "all hidden layers make rows as wide as those they read"},
        {&set->c.feature_norm, NULL, (int *)&x.c.feature_norm, NULL, "nodes have no features"},
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct gnn_err e = {0};
        struct gnn_model without;
        x = *set;
        const bool on = t[i].flag ? *t[i].flag : t[i].word == &x.act || *t[i].word;
        if (!on || !opt_given(t[i].value) || (t[i].flag == &x.c.residual && x.c.ffn))
            continue;
        if (t[i].flag)
            *t[i].flag = false;
        else
            *t[i].word = !*t[i].word;
        if (lay_out(&without, &x, meta, &e))
            continue;
        const bool alike = gnn_model_alike(m, &without);
        gnn_model_release(&without);
        if (alike && (!t[i].why || (t[i].needs && !gnn_model_hidden(&m->c))))
            opt_refuse(OPTS(t[i].value), t[i].needs);
        if (alike)
            opt_warn(t[i].value, t[i].why);
    }
}

/* Options of layers that were given, and do nothing in such models. */
static void warn_idle(const struct gnn_model_config *c)
{
    for (uint32_t k = 0; c->layer->idle && k < c->layer->noptions; k++) {
        const struct opt *o = gnn_layers_option(&train_set.layers, c->layer->option[k].word);
        const char *why = c->layer->idle(c, k);
        if (why && o->kind != OPT_END)
            opt_warn(o->value, why);
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
        if (gnn_model_copy_params(m, &init_file, init, false, e))
            cli_fail(e);
        state_dict_tell_assumed(&m->c, init, &train_set);
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
    tell_unused(meta);
    tell_bare(&meta->schema);
    if (lay_out(m, &train_set, meta, e))
        cli_fail(e);
    check_effects(m, meta);
    warn_idle(&m->c);
    prove_widths(src, m, e);
    if (gnn_model_alloc(m, e) || gnn_model_untrain(m, e) ||
        !(m->recipe = gnn_recipe_text(meta, train_full(), e)))
        cli_fail(e);
    gnn_model_reset(m, train_feed.seed);
    if (init)
        go_on(m, meta, e);
}
