/* SPDX-License-Identifier: Apache-2.0 */
/* A model: which layers, which parameters, their names, shapes and bytes.
 *
 * A model owns its configuration, names and parameters. Not thread-safe while it is changed.
 *
 * Example:
 *     void print_parameters(const struct gnn_model *m)
 *     {
 *         for (uint32_t i = 0; i < m->nparams; i++)
 *             printf("%s: %llu numbers from %g on\n", m->param[i].name,
 *                    (unsigned long long)m->param[i].count, m->slab[m->param[i].at]);
 *     }
 */
#ifndef GNN_LIB_MODEL_MODEL_H
#define GNN_LIB_MODEL_MODEL_H

#include "lib/data/meta.h"

struct gnn_layer; /* lib/model/layer.h */
enum gnn_feature_norm { GNN_FEATURES_AS_IS, GNN_FEATURES_ROW_SUM };
enum { GNN_LAYERS_MAX = 64, GNN_LAYER_OPTIONS = 8 };

struct gnn_model_ntype {
    char *name;
    uint32_t width; /* of its features; 0: none, then every node has the one constant feature 1 */
};
struct gnn_model_etype {
    uint32_t src, dst;
    char *rel;
};

/* What decides the parameters. Layer l maps width in(l) to width[l]; width[nlayers-1] is the number
 * of outputs. After all layers but the last: layer norm (per node) or batch norm (per feature, over
 * the rows that the layer makes of the type) if set, never both; ReLU, dropout while training. With
 * `residual`, a layer's input is added to its convolution's output where the widths agree. Typed
 * graphs: one convolution per relation, summed over the relations into a type (PyG's HeteroConv,
 * aggr='sum'). */
struct gnn_model_config {
    const struct gnn_layer *layer;
    uint32_t nlayers;
    uint32_t width[GNN_LAYERS_MAX];
    bool layer_norm, batch_norm, residual;
    double option[GNN_LAYER_OPTIONS]; /* the layer's, in the order of its table; flags are 0 or 1 */
    enum gnn_feature_norm feature_norm; /* ROW_SUM: rows of x are divided by their sum */
    enum gnn_task task;
    uint32_t target; /* node type that is classified */
    struct gnn_model_ntype *ntype;
    struct gnn_model_etype *etype;
    uint32_t nntypes, netypes;
};

void gnn_model_config_release(struct gnn_model_config *c);
/* Takes node types, edge types, features, task and number of outputs from the schema; the other
 * members are set by the caller before (layer, nlayers, width[0..nlayers-2], flags). GNN_E_USAGE if
 * they do not fit. */
int gnn_model_config_fit(struct gnn_model_config *c, const struct gnn_schema *s,
                         struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT, naming the difference, unless a graph with this schema can be fed to the model. */
int gnn_model_config_match(const struct gnn_model_config *c, const struct gnn_schema *s,
                           const char *what, struct gnn_err *e) GNN_MUST_USE;

struct gnn_param {
    char *name;           /* as in PyG's state dict */
    enum gnn_dtype dtype; /* GNN_F32; GNN_I64: one number, in the room of two floats */
    uint32_t ndim, shape[2];
    uint64_t at, count; /* floats, in the slab; `at` is a multiple of 16 */
    bool must;          /* the output depends on it */
    bool trained;       /* by gradients; all that are lie in front */
    float bound;        /* initial values: uniform in [-bound, bound); 0: the constant `fill` */
    float fill;
};

/* One convolution: its parameters are those that its layer lists, from param[first] on. */
struct gnn_conv {
    uint32_t first; /* UINT32_MAX: the convolution does not exist */
    bool needed;    /* the target's output depends on it */
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
    struct gnn_conv *conv; /* [nlayers][netypes] */
    uint32_t *norm;        /* [nlayers][nntypes] index of the weight, the rest follows (enum
                              gnn_norm_param); or UINT32_MAX */
    uint32_t *in;          /* [nlayers+1][nntypes] width of what enters layer l; 0: nothing does */
    bool *live;       /* [nlayers+1][nntypes] the target's output depends on what enters layer l */
    uint64_t nfloats; /* length of the slab */
    uint64_t trained; /* its first `trained` floats are what is trained */
    uint64_t *
        layer_at; /* [nlayers+1] where those of each layer begin, in order; the last is `trained` */
    float *slab;  /* all parameters; padding is zero */
};

/* Takes over *c (also on failure). All parameters are allocated; none is initialised. */
int gnn_model_init(struct gnn_model *m, struct gnn_model_config *c, struct gnn_err *e) GNN_MUST_USE;
/* The same in two steps: what there is, under which names and how much of it; then the slab. */
int gnn_model_layout(struct gnn_model *m, struct gnn_model_config *c,
                     struct gnn_err *e) GNN_MUST_USE;
int gnn_model_alloc(struct gnn_model *m, struct gnn_err *e) GNN_MUST_USE;
void gnn_model_release(struct gnn_model *m);
/* Initial values, drawn from the generator keyed by seed. */
void gnn_model_reset(struct gnn_model *m, uint64_t seed);
/* The first parameter in slab (all: else a slab of those that are trained only) with a number that
 * is not finite, and which of its numbers; or NULL. */
const struct gnn_param *gnn_model_not_finite(const struct gnn_model *m, const float *slab, bool all,
                                             uint64_t *element);

static inline const struct gnn_conv *gnn_model_conv(const struct gnn_model *m, uint32_t l,
                                                    uint32_t et)
{
    return &m->conv[(size_t)l * m->c.netypes + et];
}
/* Convolution of layer l over relation r makes rows of type t. */
static inline bool gnn_model_into(const struct gnn_model *m, uint32_t l, uint32_t r, uint32_t t)
{
    return m->c.etype[r].dst == t && gnn_model_conv(m, l, r)->needed;
}
static inline uint32_t gnn_model_in(const struct gnn_model *m, uint32_t l, uint32_t t)
{
    return m->in[(size_t)l * m->c.nntypes + t];
}
static inline bool gnn_model_live(const struct gnn_model *m, uint32_t l, uint32_t t)
{
    return m->live[(size_t)l * m->c.nntypes + t];
}
/* What enters layer l for type t is added to what comes out of its convolutions. */
static inline bool gnn_model_residual(const struct gnn_model *m, uint32_t l, uint32_t t)
{
    return m->c.residual && l + 1 < m->c.nlayers && gnn_model_in(m, l, t) == m->c.width[l];
}

#endif
