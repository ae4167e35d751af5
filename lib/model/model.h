/* SPDX-License-Identifier: Apache-2.0 */
/* A model: its layers, its parameters, their names, shapes and bytes.
 *
 * A model owns its configuration, names and parameters. Not thread-safe while it is changed. */
#ifndef GNN_LIB_MODEL_MODEL_H
#define GNN_LIB_MODEL_MODEL_H

#include "lib/data/meta.h"

struct gnn_layer; /* lib/model/layer.h */
/* Choices, and their names in this order. */
enum gnn_feature_norm { GNN_FEATURES_AS_IS, GNN_FEATURES_ROW_SUM };
enum gnn_jk { GNN_JK_NONE, GNN_JK_CAT, GNN_JK_MAX };
#define GNN_FEATURE_NORMS "none|row"
#define GNN_JKS "none|cat|max"
/* From the rows of a link's ends to its score (lib/model/decoder.h). */
enum gnn_decoder {
    GNN_DECODER_NONE,
    GNN_DECODER_DOT,
    GNN_DECODER_COSINE,
    GNN_DECODER_MLP,
    GNN_DECODER_CONCAT
};
#define GNN_DECODERS "dot|cosine|mlp|concat" /* from _DOT on */
/* Losses of links (kernels/loss.h): the sigmoid cross-entropy of each, or comparisons of positives
 * with their own negatives. */
enum gnn_link_loss { GNN_LOSS_BCE, GNN_LOSS_BPR, GNN_LOSS_SOFTMAX };
#define GNN_LINK_LOSSES "bce|bpr|softmax"
enum { GNN_LAYERS_MAX = 64, GNN_LAYER_OPTIONS = 8, GNN_HEAD_MAX = 16 };

struct gnn_model_ntype {
    char *name;
    uint32_t width;   /* of its features; 0: none, then every node has the one constant feature 1 */
    double *standard; /* by which they were standardized (struct gnn_field); NULL: they were not */
};
struct gnn_model_etype {
    uint32_t src, dst;
    char *rel;
    uint32_t features; /* columns of the field "x" of its edges, if the model uses it; 0: none */
};

/* The configuration, which determines the parameters; the list of stages below says what is
 * computed. Typed graphs: one convolution per relation, summed over the relations into a type
 * (PyG's HeteroConv, aggr='sum'). At most one of layer_norm and batch_norm. */
struct gnn_model_config {
    const struct gnn_layer *layer;
    uint32_t nlayers;
    /* of each layer's output; without a head, the last is `outputs` */
    uint32_t width[GNN_LAYERS_MAX];
    uint32_t outputs;
    bool layer_norm, batch_norm;
    bool residual;   /* adds a layer's input to its convolutions where the widths agree */
    bool projection; /* with residual: adds it through a matrix where they do not */
    bool ffn;
    uint32_t encoder; /* width; 0: none */
    bool has_head;
    uint32_t nhead, head[GNN_HEAD_MAX]; /* the head's hidden layers and their widths */
    enum gnn_jk jk;
    int act; /* enum gnn_act of hidden rows; gnn_model_config_fit turns GNN_ACT_NONE into ReLU */
    double option[GNN_LAYER_OPTIONS]; /* the layer's, in the order of its table; flags are 0 or 1 */
    char *edge_weight; /* name of the edge field by which neighbours are weighted, or NULL; owned */
    bool edge_features;                 /* uses the features "x" of edges, where edges have them */
    enum gnn_feature_norm feature_norm; /* ROW_SUM: rows of x are divided by their sum */
    enum gnn_task task;
    uint32_t target;          /* node type that is classified, or that the tails of links are of */
    enum gnn_decoder decoder; /* of models of links, whose `outputs` are embeddings; else NONE */
    uint32_t heads;           /* then, the node type that the heads of links are of */
    uint32_t scores;          /* and how many outputs the decoder has */
    enum gnn_link_loss loss;  /* and what they were learned by */
    char **class_name;        /* names of classes, or of columns of labels; NULL: numbers */
    struct gnn_model_ntype *ntype;
    struct gnn_model_etype *etype;
    uint32_t nntypes, netypes;
    /* [nlayers][netypes], or NULL: none. Whether the output depends on edges of this type in this
     * layer but no training step had such an edge: the parameters for them are untrained, so all
     * passes except training leave these edges out (gnn_conv_untrained). */
    bool *untrained;
};

void gnn_model_config_release(struct gnn_model_config *c);
/* Takes node types, edge types, features, task and number of outputs from the schema; the other
 * members are set by the caller before (layer, nlayers, the widths of hidden layers, flags; of a
 * model of links also decoder, heads, target, task, outputs and scores). GNN_E_USAGE if they do not
 * fit. */
int gnn_model_config_fit(struct gnn_model_config *c, const struct gnn_schema *s,
                         struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT, naming the difference, unless a graph with this schema can be fed to the model. */
int gnn_model_config_match(const struct gnn_model_config *c, const struct gnn_schema *s,
                           const char *what, struct gnn_err *e) GNN_MUST_USE;
/* How many classes, or columns of labels, the task has: one output serves two classes. */
static inline uint32_t gnn_model_classes(const struct gnn_model_config *c)
{
    const uint32_t n = gnn_task_labels[c->task].classes;
    return n ? n : c->decoder ? c->scores : c->outputs;
}
/* Numbers that an example gets: an output each, of the last layer or, of links, of the decoder. */
static inline uint32_t gnn_model_scores(const struct gnn_model_config *c)
{
    return c->decoder ? c->scores : c->outputs;
}
/* Whether links are told from negatives; else examples have labels. */
static inline bool gnn_model_tells_links(const struct gnn_model_config *c)
{
    return c->task == GNN_TASK_LINKS;
}
/* Whether outputs of type t are computed. */
static inline bool gnn_model_targets(const struct gnn_model_config *c, uint32_t t)
{
    return t == c->target || (c->decoder && t == c->heads);
}
/* How many of the layers are hidden: all but the last, or all, if a head follows. */
static inline uint32_t gnn_model_hidden(const struct gnn_model_config *c)
{
    return c->has_head ? c->nlayers : c->nlayers - 1;
}
/* Whether names of parameters need no types, as in PyG's models for homogeneous graphs. */
static inline bool gnn_model_one_type(const struct gnn_model_config *c)
{
    return c->nntypes == 1 && c->netypes == 1;
}

struct gnn_param {
    char *name;           /* as in PyG's state dict */
    enum gnn_dtype dtype; /* GNN_F32; GNN_I64: one number, in the space of two floats */
    uint32_t ndim, shape[3];
    uint64_t at, count; /* floats, in the slab; `at` is a multiple of 16 */
    bool must;          /* whether the output depends on it */
    bool trained;       /* by gradients; trained parameters lie in front of the others */
    bool relations;     /* its first dimension is the edge type, for each head */
    uint32_t with;      /* the parameter whose numbers it shares; GNN_NONE: it has its own */
    float bound;        /* initial values: uniform in [-bound, bound); 0: the constant `fill` */
    float fill;
};

/* A model computes stage after stage. Stage 0 are the features. Each further stage makes, for every
 * node type that has inputs, the sum of convolutions, each of which reads the rows of an earlier
 * stage; then come, as the stage has them, a norm (layer norm per node, or batch norm per feature
 * over the rows of the type), the activation, and dropout while training. Steps without edges
 * (encoder, residual, feed-forward block, jumping knowledge, head) are convolutions of a table
 * without edges (lib/model/dense.c), so that computing stages computes all of the model.
 *
 *     encoder   drop(act(E x))                                            --encoder
 *     layer l   drop(act(norm(conv(x) [+ x])))                            --residual
 *               in up to three stages, if the layer has parts without
 *               edges before and after its convolutions (lib/model/hgt.c)
 *               with a feed-forward block, where u = norm(x):             --ffn
 *               x + B drop(act(A conv(u)))
 *     jump      all layers' outputs concatenated, or their maximum        --jk
 *     head      lin(drop(act(H ...)))                                     --head
 *
 * Without a head the last layer has the outputs: its convolution alone is that stage. */
#define GNN_ROWS UINT32_MAX /* in place of a relation: each row is its own only neighbour */
#define GNN_NONE UINT32_MAX

struct gnn_stage {
    uint32_t level; /* layers with edges up to here; its rows are the nodes left after these */
    uint32_t layer; /* the layer that it belongs to; for the head, nlayers */
    uint32_t width;
    uint32_t conv, nconvs; /* its convolutions are model.conv[conv .. conv + nconvs) */
    uint32_t param;        /* its first parameter: those of convolutions, then those of norms */
    bool norm, act, drop;
};

/* One convolution: its parameters are those that its layer lists, from param[first] on. */
struct gnn_conv {
    const struct gnn_layer *layer;
    uint32_t stage, from; /* the stage that it is part of, and the one whose rows it reads */
    uint32_t rel;         /* or GNN_ROWS */
    uint32_t src, dst;    /* node types */
    uint32_t first;       /* GNN_NONE: the convolution does not exist */
    uint32_t column;      /* its first column in the stage's rows (jumping knowledge) */
    uint32_t common;      /* the first parameter in common with others of its stage */
    bool needed;          /* whether the target's output depends on it */
    char *name;           /* the beginning of its parameters' names */
    char *key;            /* the text in place of '*' in these names, or NULL */
};

/* Parameters of a norm, from its index on; the running statistics are batch norm's. */
enum gnn_norm_param {
    GNN_NORM_WEIGHT,
    GNN_NORM_BIAS,
    GNN_NORM_MEAN,
    GNN_NORM_VAR,
    GNN_NORM_BATCHES,
    GNN_NORM_PARAMS
};

struct gnn_model {
    struct gnn_model_config c;
    struct gnn_param *param;
    uint32_t nparams;
    struct gnn_stage *stage; /* [nstages], the features first; the last makes the outputs */
    uint32_t nstages;
    struct gnn_conv *conv; /* [nconvs], stage after stage */
    uint32_t nconvs;
    /* [nstages][nntypes] index of the norm's weight, behind which its other parameters follow (enum
     * gnn_norm_param); or GNN_NONE */
    uint32_t *norm;
    uint32_t decoder;   /* index of the first of the decoder's parameters */
    uint32_t *width;    /* [nstages][nntypes] width of the rows that the stage makes; 0: none */
    bool *live;         /* [nstages][nntypes] whether the target's output depends on these rows */
    uint64_t nfloats;   /* length of the slab */
    uint64_t trained;   /* number of trained floats, with which the slab begins */
    uint64_t *stage_at; /* [nstages+1] first trained float of each stage, ascending; `trained` */
    float *slab;        /* all parameters; padding is zero */
    char *recipe;       /* the recipe of its training (lib/data/recipe.h); NULL: unknown */
};

/* Takes over *c (also on failure). All parameters are allocated; none is initialised. */
int gnn_model_init(struct gnn_model *m, struct gnn_model_config *c, struct gnn_err *e) GNN_MUST_USE;
/* gnn_model_init in two steps: _layout lists the parameters with their names and sizes, _alloc
 * allocates the slab. */
int gnn_model_layout(struct gnn_model *m, struct gnn_model_config *c,
                     struct gnn_err *e) GNN_MUST_USE;
int gnn_model_alloc(struct gnn_model *m, struct gnn_err *e) GNN_MUST_USE;
void gnn_model_release(struct gnn_model *m);
/* Whether both, of one graph, have the same stages and parameters and compute the same with them;
 * options of layers are not compared. */
bool gnn_model_alike(const struct gnn_model *a, const struct gnn_model *b);
/* Whether an edge along v has never been in training. */
static inline bool gnn_conv_untrained(const struct gnn_model *m, const struct gnn_conv *v)
{
    return m->c.untrained && v->rel != GNN_ROWS &&
           m->c.untrained[(size_t)m->stage[v->stage].layer * m->c.netypes + v->rel];
}
/* All convolutions that the output depends on become untrained. */
int gnn_model_untrain(struct gnn_model *m, struct gnn_err *e) GNN_MUST_USE;
/* Initial values, drawn from the generator keyed by seed. */
void gnn_model_reset(struct gnn_model *m, uint64_t seed);
/* The first parameter in slab (all: else a slab of those that are trained only) with a number that
 * is not finite, and which of its numbers; or NULL. */
const struct gnn_param *gnn_model_not_finite(const struct gnn_model *m, const float *slab, bool all,
                                             uint64_t *element);

static inline uint32_t gnn_model_width(const struct gnn_model *m, uint32_t stage, uint32_t t)
{
    return m->width[(size_t)stage * m->c.nntypes + t];
}
static inline bool gnn_model_live(const struct gnn_model *m, uint32_t stage, uint32_t t)
{
    return m->live[(size_t)stage * m->c.nntypes + t];
}
/* The first of a stage's convolutions behind v, or of all if v is NULL, that makes rows of type t
 * that are needed; NULL: there is none. */
static inline const struct gnn_conv *gnn_conv_next(const struct gnn_model *m, uint32_t stage,
                                                   uint32_t t, const struct gnn_conv *v)
{
    const struct gnn_stage *s = &m->stage[stage];
    const struct gnn_conv *end = m->conv + s->conv + s->nconvs;
    v = v ? v + 1 : m->conv + s->conv;
    while (v < end && (v->dst != t || !v->needed))
        v++;
    return v < end ? v : NULL;
}
/* Loops over all convolutions, and over those that gnn_conv_next finds. */
#define EACH_CONV(v, m) for (const struct gnn_conv *v = (m)->conv; v < (m)->conv + (m)->nconvs; v++)
#define EACH_CONV_INTO(v, m, stage, t)                                                             \
    for (const struct gnn_conv *v = NULL; (v = gnn_conv_next(m, stage, t, v));)

#endif
