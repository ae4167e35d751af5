/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/train/settings.h"

#include <string.h>

#include "lib/base/plural.h"
#include "lib/model/task.h"

void gnn_settings_init(struct gnn_settings *s)
{
    *s = (struct gnn_settings){.c = {.layer_norm = TRAIN_LAYER_NORM}, .decoder = -1};
    gnn_train_opts_init(&s->o);
    gnn_layers_init(&s->layers, false);
    s->o.lr = TRAIN_LR;
    s->o.dropout = TRAIN_DROPOUT;
    s->o.patience = TRAIN_PATIENCE;
}

void gnn_settings_release(struct gnn_settings *s)
{
    gnn_free(s->hidden.v);
    gnn_free(s->head.v);
}

/* ---- the tables ---- */

static struct opt *append_options(struct opt *to, const struct opt *list, size_t n)
{
    memcpy(to, list, n * sizeof *list);
    to[n] = (struct opt){.kind = OPT_END};
    return to + n;
}

/* "|sage|gcn|...", and ", sage (GraphSAGE), gcn (GCN), ...; default: sage" */
#define LAYER_NAME(name, title) "|" #name
#define LAYER_TITLE(name, title) ", " #name " (" title ")"
#define LAYER_NAMES (GNN_LAYERS(LAYER_NAME))
#define LAYER_TITLES (GNN_LAYERS(LAYER_TITLE) "; default: sage")

struct opt *gnn_model_options(struct gnn_settings *s, struct opt to[GNN_MODEL_OPTIONS])
{
    const struct opt list[] = {
        {.kind = OPT_GROUP, .help = "Model"},
        {OPT_CHOICE, 'm', "model", &s->layer, "KIND", &LAYER_TITLES[2], &LAYER_NAMES[1]},
        {OPT_I32S, 0, "hidden", &s->hidden, "N,...",
         "widths of the hidden layers; one number applies to all " TRAIN_SAY(TRAIN_HIDDEN)},
        {OPT_FLAG, 0, "layer-norm", &s->c.layer_norm, NULL,
         "layer norm after each hidden layer (default, unless --batch-norm is given; "
         "--no-layer-norm)"},
        {OPT_FLAG, 0, "batch-norm", &s->c.batch_norm, NULL, "batch norm after each hidden layer"},
        {OPT_FLAG, 0, "residual", &s->c.residual, NULL,
         "in hidden layers, add the input to the output where the widths are equal"},
        {OPT_FLAG, 0, "residual-projection", &s->c.projection, NULL,
         "where these widths differ, add the input times a matrix"},
        {OPT_U32, 0, "encoder", &s->c.encoder, "N",
         "a linear layer to N columns before the first layer", .min = 1, .max = 1 << 20},
        {OPT_FLAG, 0, "ffn", &s->c.ffn, NULL,
         "in each hidden layer, normalise the input and add a feed-forward block of two linear "
         "layers; implies --residual"},
        {OPT_I32S, 0, "head", &s->head, "N,...",
         "linear layers of these widths after the layers, and a last one to the outputs; 0: only "
         "the last one; all layers are then hidden"},
        {OPT_CHOICE, 0, "decoder", &s->decoder, "KIND",
         "score of a link: the dot product of its ends, their cosine, an MLP of the products of "
         "their elements, or of both ends (default: dot; with --target: concat)",
         GNN_DECODERS},
        {OPT_CHOICE, 0, "jk", &s->c.jk, "HOW",
         "jumping knowledge: the input of the head is the concatenation or the maximum of the "
         "outputs of all layers (default: none)",
         GNN_JKS},
        {OPT_CHOICE, 0, "activation", &s->act, "NAME",
         "activation of hidden layers (default: relu)", GNN_ACT_WORDS},
        {OPT_STR, 0, "edge-weight", &s->edge_weight, "FIELD",
         "weight neighbours by this edge field"},
        {OPT_FLAG, 0, "edge-features", &s->c.edge_features, NULL, "use the features x of edges"},
        {OPT_CHOICE, 0, "feature-norm", &s->c.feature_norm, "HOW",
         "row: divide the features of a node by their sum (default: none)", GNN_FEATURE_NORMS},
    };
    _Static_assert(sizeof list / sizeof *list < GNN_MODEL_OPTIONS, "space for OPT_END");
    return append_options(to, list, sizeof list / sizeof *list);
}

struct opt *gnn_training_options(struct gnn_settings *s, struct opt to[GNN_TRAINING_OPTIONS])
{
    struct gnn_train_opts *o = &s->o;
    const struct opt list[] = {
        {OPT_CHOICE, 0, "loss", &s->c.loss, "NAME",
         "of links: sigmoid cross-entropy, or a comparison of positives with their negatives, one "
         "by one or by softmax (default: bce)",
         GNN_LINK_LOSSES},
        {OPT_CHOICE, 0, "optimizer", &o->optimizer, "NAME", "optimiser (default: adam)",
         GNN_OPTIMIZERS},
        {OPT_DOUBLE, 0, "lr", &o->lr, "X", "learning rate " TRAIN_SAY(TRAIN_LR), .max = 1e6},
        {OPT_DOUBLE, 0, "weight-decay", &o->weight_decay, "X", "weight decay (default: 0)",
         .max = 1e6},
        {OPT_DOUBLE, 0, "momentum", &o->momentum, "X", "momentum of sgd (default: 0)", .max = 1},
        {OPT_DOUBLE, 0, "clip", &o->clip, "X",
         "maximum norm of the gradient; 0: no limit (default: 0)", .max = 1e30},
        {OPT_DOUBLE, 0, "dropout", &o->dropout, "P",
         "dropout of hidden layers " TRAIN_SAY(TRAIN_DROPOUT), .max = 0.999},
        {OPT_DOUBLE, 0, "dropout-input", &o->dropout_input, "P", "dropout of features (default: 0)",
         .max = 0.999},
        {OPT_CHOICE, 0, "schedule", &o->schedule, "NAME",
         "schedule of the learning rate (default: constant)", GNN_SCHEDULES},
        {OPT_U64, 0, "step-epochs", &o->step_epochs, "N",
         "epochs between steps of the step schedule (default: 10)", .min = 1, .max = 1e15},
        {OPT_DOUBLE, 0, "step-factor", &o->step_factor, "X",
         "factor of the step schedule (default: 0.5)", .max = 1},
        {OPT_DOUBLE, 0, "warmup", &s->warmup, "X",
         "epochs over which the learning rate increases from 0 (default: 0)", .max = 1e6},
        {.kind = OPT_GROUP, .help = "Evaluation and stopping"},
        GNN_METRIC_OPTION(&s->metric),
        {OPT_CHOICE, 0, "keep", &o->keep, "WHICH",
         "write the model of the best epoch on the first evaluated set, or of the last epoch "
         "(default: best)",
         "best|last"},
        {OPT_U64, 0, "patience", &o->patience, "N",
         "stop after N epochs without improvement; 0: never " TRAIN_SAY(TRAIN_PATIENCE),
         .max = 1e15},
    };
    _Static_assert(sizeof list / sizeof *list < GNN_TRAINING_OPTIONS, "space for OPT_END");
    return append_options(to, list, sizeof list / sizeof *list);
}

/* ---- what they say together ---- */

static bool is_given(const struct gnn_given *g, const char *option)
{
    return g->has(g->arg, option);
}

/* Options that the layer does not have. */
static int refuse_alien(const struct gnn_settings *s, const struct gnn_given *g, const char *option,
                        struct gnn_err *e)
{
    return !is_given(g, option) || gnn_layers_has(s->c.layer, option)
               ? 0
               : gnn_fail(e, GNN_E_USAGE, "--%s requires --model %s", option,
                          gnn_layers_users(option));
}

static int check_widths(const struct gnn_settings *s, struct gnn_err *e)
{
    for (uint32_t k = 0; k < s->head.n; k++)
        if (s->head.v[k] < (s->head.n > 1) || s->head.n > GNN_HEAD_MAX)
            return gnn_fail(e, GNN_E_USAGE, "--head: %d: expected up to %d widths > 0, or 0 alone",
                            s->head.v[k], GNN_HEAD_MAX);
    for (uint32_t k = 0; k < s->hidden.n; k++)
        if (s->hidden.v[k] < 1)
            return gnn_fail(e, GNN_E_USAGE, "--hidden: %d: expected a width > 0", s->hidden.v[k]);
    return 0;
}

int gnn_settings_settle(struct gnn_settings *s, const struct gnn_given *g, struct gnn_err *e)
{
    struct gnn_model_config *c = &s->c;
    c->layer = gnn_layers[s->layer];
    c->edge_weight = (char *)(uintptr_t)s->edge_weight;
    c->layer_norm = c->layer_norm && (!c->batch_norm || is_given(g, "layer-norm"));
    gnn_layers_take(&s->layers, c);
    const bool sgd = s->o.optimizer == GNN_SGD, steps = s->o.schedule == GNN_STEP;
    const struct {
        bool wrong;
        const char *why;
    } rule[] = {
        {c->ffn && !c->residual && is_given(g, "residual"),
         "--ffn and --no-residual exclude each other"},
        {c->projection && !c->residual && !c->ffn, "--residual-projection requires --residual"},
        {c->jk && !s->head.n, "--jk requires --head N,... (0: one linear layer)"},
        {c->layer_norm && c->batch_norm, "--layer-norm and --batch-norm exclude each other"},
        {!sgd && is_given(g, "momentum"), "--momentum requires --optimizer sgd"},
        {!steps && is_given(g, "step-epochs"), "--step-epochs requires --schedule step"},
        {!steps && is_given(g, "step-factor"), "--step-factor requires --schedule step"},
    };
    for (const struct opt *o = s->layers.option; o->kind != OPT_END; o++)
        if (refuse_alien(s, g, o->name, e))
            return e->code;
    if (c->edge_weight && (!*c->edge_weight || strlen(c->edge_weight) > GNN_WORD_MAX))
        return gnn_fail(e, GNN_E_USAGE, "--edge-weight: '%s': expected the name of an edge field",
                        c->edge_weight);
    if (refuse_alien(s, g, "edge-weight", e) ||
        (c->edge_features && refuse_alien(s, g, "edge-features", e)))
        return e->code;
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (rule[i].wrong)
            return gnn_fail(e, GNN_E_USAGE, "%s", rule[i].why);
    return check_widths(s, e);
}

/* The decoder, for batches of links: the last layer makes embeddings as wide as the one before. */
static int take_links(const struct gnn_settings *s, const struct gnn_meta *meta,
                      struct gnn_model_config *c, struct gnn_err *e)
{
    const struct gnn_sampling *m = &meta->sampling;
    const uint32_t most = gnn_model_hidden(c);
    if (!m->links.type)
        return s->decoder >= 0
                   ? gnn_fail(e, GNN_E_USAGE, "--decoder requires links: the seeds are nodes")
                   : 0;
    if (c->has_head)
        return gnn_fail(e, GNN_E_USAGE, "--head cannot be used for links: see --decoder");
    c->task = gnn_links_task(&m->links);
    c->scores = c->task == GNN_TASK_MULTICLASS ? m->links.classes : 1;
    c->decoder = s->decoder >= 0   ? (enum gnn_decoder)(s->decoder + (int)GNN_DECODER_DOT)
                 : m->links.target ? GNN_DECODER_CONCAT
                                   : GNN_DECODER_DOT;
    if (c->scores > 1 && c->decoder < GNN_DECODER_MLP)
        return gnn_fail(e, GNN_E_USAGE,
                        "--decoder %s makes one number of a link, which has %u classes: expected "
                        "mlp or concat",
                        c->decoder == GNN_DECODER_DOT ? "dot" : "cosine", c->scores);
    c->heads = meta->schema.etype[m->links.etype].src;
    c->target = m->seed_ntype;
    c->outputs = most ? c->width[most - 1] : TRAIN_HIDDEN;
    return 0;
}

int gnn_settings_model(const struct gnn_settings *s, uint32_t nlayers, const char *what,
                       const struct gnn_meta *meta, struct gnn_model_config *c, struct gnn_err *e)
{
    const struct opt_i32s *hidden = &s->hidden;
    *c = s->c;
    c->edge_weight = NULL;
    if (s->edge_weight && !(c->edge_weight = gnn_strdup(s->edge_weight, e)))
        return e->code;
    c->nlayers = nlayers;
    c->residual = c->residual || c->ffn;
    c->projection = c->projection && c->residual;
    c->act = s->act + (int)GNN_ACT_RELU;
    c->has_head = s->head.n > 0;
    for (uint32_t k = 0; k < s->head.n && s->head.v[k]; k++)
        c->head[c->nhead++] = (uint32_t)s->head.v[k];
    const uint32_t most = gnn_model_hidden(c);
    if (hidden->n > 1 && hidden->n != most)
        return gnn_fail(e, GNN_E_USAGE, "--hidden names %u widths; %u %s%s %s %u", hidden->n,
                        nlayers, what, gnn_plural(nlayers), nlayers == 1 ? "needs" : "need", most);
    if (!most && (hidden->n || c->ffn))
        return gnn_fail(e, GNN_E_USAGE, "--%s requires a hidden layer: two layers, or --head",
                        hidden->n ? "hidden" : "ffn");
    if (c->jk && nlayers < 2)
        return gnn_fail(e, GNN_E_USAGE,
                        "--jk requires two layers: it joins the outputs of several layers");
    for (uint32_t l = 0; l < most && l < GNN_LAYERS_MAX; l++)
        c->width[l] = hidden->n ? (uint32_t)hidden->v[hidden->n == 1 ? 0 : l] : TRAIN_HIDDEN;
    return take_links(s, meta, c, e);
}

/* A loss that compares a positive with all of its negatives needs as many of each. */
static int check_loss(const struct gnn_given *g, const struct gnn_meta *meta,
                      const struct gnn_model *m, struct gnn_err *e)
{
    const struct gnn_sampling *s = &meta->sampling;
    if (!m->c.decoder)
        return is_given(g, "loss")
                   ? gnn_fail(e, GNN_E_USAGE, "--loss requires links: the seeds are nodes")
                   : 0;
    if (s->links.target && is_given(g, "loss"))
        return gnn_fail(e, GNN_E_USAGE,
                        "--loss has no effect with --target: it compares links with negatives");
    for (uint32_t i = 0; m->c.loss == GNN_LOSS_SOFTMAX && i < s->nsplits && i < 2; i++)
        if (!gnn_drawn_each(gnn_sampling_drawn(s, i)))
            return gnn_fail(e, GNN_E_USAGE, "--loss softmax requires negatives of each link%s",
                            i ? " of evaluated sets, too: --eval-negatives triplet:K"
                              : ": --negatives triplet:K");
    return 0;
}

int gnn_settings_training(struct gnn_settings *s, const struct gnn_given *g,
                          const struct gnn_meta *meta, const struct gnn_model *m, uint64_t from,
                          uint64_t to, bool compares, struct gnn_err *e)
{
    struct gnn_train_opts *o = &s->o;
    const uint64_t steps = meta->sampling.nsplits ? meta->sampling.steps[0] : 0;
    bool drops = false;
    for (uint32_t i = 0; i < m->nstages; i++)
        drops = drops || m->stage[i].drop;
    if (!drops && o->dropout > 0 && is_given(g, "dropout"))
        return gnn_fail(e, GNN_E_USAGE,
                        "--dropout requires hidden rows: two layers, --head or --encoder");
    if (check_loss(g, meta, m, e))
        return e->code;
    if (o->keep == GNN_KEEP_BEST && is_given(g, "keep") && meta->sampling.nsplits < 2)
        return gnn_fail(e, GNN_E_USAGE, "--keep best requires a set to evaluate: --eval valid");
    if (!compares && !is_given(g, "patience"))
        o->patience = 0; /* nothing tells when to stop */
    o->last_epoch = (to ? to : TRAIN_EPOCHS) - 1;
    o->warmup = (uint64_t)(s->warmup * (double)steps);
    o->total_steps = o->schedule == GNN_COSINE ? steps * (to - from) : 0;
    if (gnn_task_metric(m->c.task, s->metric, &o->metric, e))
        return e->code;
    if (!gnn_model_tells_links(&m->c))
        return 0;
    return gnn_measure_of_links(&o->metric, s->metric, &meta->sampling, e);
}
