/* SPDX-License-Identifier: Apache-2.0 */
/* Layers. A layer is a table of operations for one convolution, which computes the rows of the
 * destinations of one relation from its edges, the rows of the sources and the destinations' own
 * rows. Each layer has its own file, and no other code asks which layer it is. The drivers, which
 * are the passes over batches (lib/model/net.h) and exact inference (lib/predict/predict.h),
 * provide rows and edges, call the operations, add up the results of relations, and apply bias,
 * norm, activation and dropout (lib/model/activation.h).
 *
 * To add a layer, add a line to GNN_LAYERS and a file. */
#ifndef GNN_LIB_MODEL_LAYER_H
#define GNN_LIB_MODEL_LAYER_H

#include "lib/model/activation.h"
#include "lib/model/adjacency.h"
#include "lib/model/pass.h"

/* Name, as in options and files, and what it is. The table of layer NAME is gnn_layer_NAME. */
#define GNN_LAYERS(X)                                                                              \
    X(sage, "GraphSAGE")                                                                           \
    X(gcn, "GCN")                                                                                  \
    X(gin, "GIN")                                                                                  \
    X(gine, "GINE")                                                                                \
    X(gat, "GAT")                                                                                  \
    X(gatv2, "GATv2")                                                                              \
    X(rgcn, "R-GCN")                                                                               \
    X(hgt, "HGT")

/* The arguments that determine a convolution's parameters: layer `l` and relation `r` of the model,
 * and the widths of the sources' rows, the destinations' rows and the results. */
struct gnn_conv_shape {
    const struct gnn_model_config *c;
    uint32_t l, r, src, dst, out;
};

/* The parameters of a convolution, or of a norm, in the order in which they lie in the slab. */
enum { GNN_PARAMS_MAX = 16 };
struct gnn_param_list {
    struct gnn_param_spec {
        char name[48];       /* the end of its name in PyG's state dict; '*': the conv's key */
        uint32_t rows, cols; /* cols 0: a vector */
        uint32_t lead;       /* first dimension: a number of such matrices; 0: there is none */
        bool relations;      /* as struct gnn_param's */
        bool shared;         /* the numbers are those of parameter `with` */
        uint32_t with;
        double bound, fill; /* as struct gnn_param's */
        bool trained;
        enum gnn_dtype dtype; /* GNN_F32; GNN_I64: a scalar */
    } p[GNN_PARAMS_MAX];
    uint32_t n;
};
/* Adds a trained parameter of one matrix or vector, and returns it. */
struct gnn_param_spec *gnn_param_list_add(struct gnn_param_list *l, const char *name, uint32_t rows,
                                          uint32_t cols, double bound, double fill);
/* Adds the parameters of a norm of the kind that c has (enum gnn_norm_param), `width` columns;
 * their names begin with `module`. */
void gnn_param_list_norm(struct gnn_param_list *l, const struct gnn_model_config *c,
                         const char *module, uint32_t width);

/* A convolution at work. The driver makes it (gnn_conv_run_init) and sets all members but the
 * layer's own; buffers are reused from pass to pass. */
struct gnn_conv_run {
    struct gnn_pass *s;
    const struct gnn_layer *layer;
    const struct gnn_conv *conv;
    uint32_t first;     /* index of its first parameter */
    uint32_t ds, dd, w; /* widths of sources, destinations and results */
    /* whether gradients of the sources and destinations are needed: they are not features */
    bool inputs;
    /* The first convolution of its stage into the type, perhaps itself, which holds the state that
     * these share. */
    struct gnn_conv_run *lead;
    bool begins, ends; /* whether it is the first, or last, of its stage into the type */
    struct gnn_adj adj;
    uint32_t most; /* destinations that `rows` makes in a call, at most */
    /* Or NULL: x are these features, as they are. Where they are the store's, `source` has their
     * rows' numbers, of all edges' sources. */
    const struct gnn_tensor *features;
    struct gnn_buf source;
    uint32_t message;      /* width of messages; 0: sources are aggregated as they are */
    const float *x;        /* (nsrc, ds) the sources */
    const float *messages; /* (nsrc, message) made of the sources */
    struct gnn_buf sent;   /* memory of the messages, if the layer keeps them */
    const float *own;      /* the destinations' own rows, from row `from` of the call on */
    const float *out;      /* in the backward pass: the stage's results, row 0 */
    const uint8_t *count;  /* as struct gnn_activation's, of the destinations */
    bool gathered;         /* `rows` reads the aggregated neighbours that `gather` has kept */
    bool other_part;       /* in full batches: the sources are of another partition */
    /* the layer's own */
    struct gnn_buf kept[GNN_PASS_BUFFERS];
    struct gnn_activation inside;
};

/* Floats that a convolution keeps in full batches, besides messages: of each destination, and of
 * each source that is there at a time. */
struct gnn_conv_floats {
    uint64_t dst, src;
};

/* An option of a layer: a number, a flag or a choice of words for all layers of a model. An option
 * of gnn-train, a member of the model's description and config.option[] come from it. Options of
 * the same name in several layers are equal in all but `help`, of which the first counts. */
enum { GNN_LAYER_OPTION_NAME = 32 };
struct gnn_layer_option {
    const char *name, *word; /* "train_eps" in files, "train-eps" on the command line */
    bool flag;               /* else a number from min to max, or, with `choices`, */
    bool whole;              /* the number has no fraction */
    const char *choices;     /* "mean|max": the number of one of these words; or NULL */
    double init, min, max;   /* init: unless it is chosen; of a flag 0 or 1 */
    const char *help;        /* names the default */
    bool training;   /* only training depends on it: an applied model computes the same with any */
    bool unrecorded; /* state dicts of other programs do not record it: gnn-predict has it too */
};

/* The table of a layer. Operations that fail return the status that they put into e. Rows are of
 * the destinations, [from, to); y and dy point to row `from`. */
struct gnn_layer {
    const char *name;   /* as in GNN_LAYERS */
    const char *module; /* PyG's, which has parameters of the same names */
    /* Or NULL: options make another table of it, which is used in its place. */
    const struct gnn_layer *(*variant)(const struct gnn_model_config *c);

    /* Requirements. */
    enum gnn_adj_norm norm; /* the norm of the adjacency */
    bool own;               /* needs the destinations' own rows; */
    /* in full batches, only in `open` and in the backward pass from `spread` on */
    bool drops_own;
    bool weights, features; /* can use weights, features of edges (struct gnn_model_config) */
    bool needs_features;    /* cannot do without features of edges */
    /* Or NULL: whether it needs the original ids of edges and destinations while training. */
    bool (*ids)(const struct gnn_model_config *c);
    bool keeps; /* needs messages until the backward pass is done */
    /* Needs the transposed block while training, even if sources are features that are aggregated
     * as they are. */
    bool transposes;
    bool numbered;  /* needs the numbers of edges in the transposed block */
    bool parts;     /* its backward pass can take sources in parts (struct gnn_adj_parts) */
    bool attends;   /* rows at the ends of edges determine their weights */
    bool activates; /* applies the model's activation inside */
    /* Sums that `gather` makes of sources as they are depend on nothing else, so that they stay
     * valid from step to step where sources get no gradient. */
    bool constant_sums;
    /* Sums that `gather` keeps are linear in the sources' rows or messages, and the rest of the
     * layer needs nothing else of these: gnn_adj_aggregate alone reads them, or `send`. */
    bool linear;
    bool fetches;     /* `spread` needs the sources' rows: they are fetched again */
    unsigned buffers; /* scratch buffers used in the forward pass (gnn_conv_scratch) */

    /* Lists the parameters of a convolution. shared: one set of them serves all relations and node
     * types of a layer. Then `root`, a table without edges with the same parameters, or NULL, adds
     * the share of each type's own rows, once; the bias, if any, is that table's. */
    void (*params)(const struct gnn_conv_shape *s, struct gnn_param_list *l);
    bool shared;
    const struct gnn_layer *root;
    /* The parameter with a row for each output, by which a state dict is recognised. */
    uint32_t weight;
    uint32_t bias; /* the parameter that the driver adds to the results; or GNN_NONE */
    /* Or NULL: lists trained parameters that all convolutions of a stage which list them under the
     * same names have in common (gnn_conv_common). */
    void (*common)(const struct gnn_conv_shape *s, struct gnn_param_list *l);
    /* Whether names of parameters contain their relation or node type: their '*' is
     * "src__relation__dst", or the type's name. */
    bool keyed;

    /* Or NULL: tables without edges around the layer, keyed as it is. Rows go through `before`
     * first, a stage `widen` times as wide as the layer, of which the convolutions are; their sums
     * go through `after`, to whose stage `skip` adds the layer's input where it is as wide. */
    const struct gnn_layer *before, *after, *skip;
    uint32_t widen;
    /* Or NULL: the table without edges, or NULL, that with these options stands beside each
     * convolution, for the destinations' own rows. Names of its parameters begin as the
     * convolution's. */
    const struct gnn_layer *(*beside)(const struct gnn_model_config *c);
    /* Or NULL: the width is the weight's first dimension. Else reads the width of the layer, and
     * options, off its parameters in a state dict, t[k] being number k or NULL; 0: they are not
     * this layer's. */
    uint32_t (*recognise)(struct gnn_model_config *c, const struct gnn_tensor *const *t);
    /* Or NULL: the settings, in PyG's words, that all such layers have here; a PyG state dict does
     * not record whether its layers had them. */
    const char *assumed;
    const struct gnn_layer_option *option; /* [noptions], at most GNN_LAYER_OPTIONS */
    uint32_t noptions;
    /* Or NULL: why option k has no effect in c's models on their graph; NULL: it has one. */
    const char *(*idle)(const struct gnn_model_config *c, uint32_t k);
    /* Or NULL: sets options that a tensor of a state dict, `name` within its convolution, tells. */
    void (*tell)(struct gnn_model_config *c, const char *name, const struct gnn_tensor *t);
    /* Or NULL: GNN_E_USAGE if there can be no such convolution. */
    int (*check)(const struct gnn_conv_shape *s, struct gnn_err *e);

    /* Forward pass.
     * messages: the width of messages that are made of the sources before they are aggregated, or
     *   0: none are; asked when the adjacency is known.
     * send: makes the messages of n sources.
     * open, or NULL: called before the first rows; while training, all rows of sources and
     *   destinations are there.
     * rows: puts the results into y, or adds them, then applies ep (may be NULL). */
    uint32_t (*messages)(const struct gnn_conv_run *c);
    int (*send)(struct gnn_conv_run *c, const float *x, uint32_t n, float *out, struct gnn_err *e);
    int (*open)(struct gnn_conv_run *c, struct gnn_err *e);
    int (*rows)(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                const struct gnn_epilogue *ep, struct gnn_err *e);

    /* Backward pass, after forward calls for all rows with s->train, in this order. The operations
     * also add to the gradients of the parameters, except the bias.
     * rows_back: takes the gradient dy of rows, while these are in the cache.
     * sources_back: takes the gradient dy of all rows; sets g to the gradient of the sources, or
     *   adds it; g NULL: it is not wanted. Tables without edges have none: to them, all rows are
     *   the destinations' own.
     * late_back, or NULL: where there are no messages, sources_back may get NULL for g, and this
     *   makes rows [from, to) of the gradient then, row `from` at g, in ranges as they are needed;
     *   rows_back alone reads dy then, where sources and destinations get no gradient.
     * own_back: adds the gradient of the destinations' own rows to g. */
    int (*rows_back)(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e);
    int (*sources_back)(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e);
    void (*late_back)(const struct gnn_conv_run *c, uint32_t from, uint32_t to, float *g, bool acc);
    int (*own_back)(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e);

    /* Full batches (lib/model/full.h), in which sources come one partition at a time: c->x, or
     * c->messages if there are any, are the rows of one partition's sources, and the adjacency has
     * their edges; all destinations take part in each call. gather NULL: the layer cannot do that.
     * gather: adds a partition's sources to the sums that are kept; first: there are none yet.
     *   After all partitions, `rows` makes the results of the sums (c->gathered).
     * hidden, or NULL: called while training, after the last gather and before `rows`; makes the
     *   hidden rows that end with c->inside, up to gnn_activation_rows. The driver finishes them,
     *   with batch norm's statistics of all partitions.
     * hidden_at: sets *h to the hidden rows, and *dh to their gradients after rows_back.
     * sums_back, or NULL: called after rows_back, when the backward pass of c->inside is open;
     *   makes the gradients of the sums, and of the parameters that made hidden rows of them.
     * spread: called then, for one partition after the other; sets g to the gradient of its rows,
     *   or adds it.
     * send_back: called when the gradient dm of the partition's own messages is complete; makes
     *   that of their sources, as sources_back does. Overwrites dm.
     * floats, or NULL: sets the floats kept from the forward to the backward pass; NULL: the sums
     *   that `rows` works on, as wide as messages or sources.
     * again and drops_results, or NULL, are of layers that keep results, as wide as messages,
     *   before heads are averaged, in buffer 0. again: makes the results once more, as `rows` did
     *   with acc unset. drops_results: whether the kept ones are needed until rows_back only, or
     *   until own_back. */
    int (*gather)(struct gnn_conv_run *c, bool first, struct gnn_err *e);
    int (*hidden)(struct gnn_conv_run *c, struct gnn_err *e);
    void (*hidden_at)(const struct gnn_conv_run *c, float **h, float **dh);
    int (*sums_back)(struct gnn_conv_run *c, const float *dy, struct gnn_err *e);
    int (*spread)(struct gnn_conv_run *c, const float *dy, float *g, bool acc, struct gnn_err *e);
    int (*send_back)(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e);
    void (*floats)(const struct gnn_conv_run *c, struct gnn_conv_floats *n);
    int (*again)(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y,
                 const struct gnn_epilogue *ep, struct gnn_err *e);
    bool (*drops_results)(const struct gnn_conv_run *c);
};

#define GNN_LAYER_DECLARE(name, what) extern const struct gnn_layer gnn_layer_##name;
GNN_LAYERS(GNN_LAYER_DECLARE)
#undef GNN_LAYER_DECLARE
/* All of them, in the order of GNN_LAYERS, with NULL at the end; and by name, or NULL. */
extern const struct gnn_layer *const gnn_layers[];
const struct gnn_layer *gnn_layer_find(const char *name);
/* Index of an option, by its name in files; -1: the layer does not have it. */
int gnn_layer_option_find(const struct gnn_layer *layer, const char *name);

/* Tables without edges (lib/model/dense.c, jk.c), which are no layers of their own: rows times a
 * matrix, with a bias or without; rows as they are; jumping knowledge. */
extern const struct gnn_layer gnn_layer_linear, gnn_layer_projection, gnn_layer_identity,
    gnn_layer_jk_cat, gnn_layer_jk_max;
/* The operations of rows times a matrix, for tables whose parameter 0 that is. */
int gnn_dense_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                   const struct gnn_epilogue *ep, struct gnn_err *e);
int gnn_dense_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                        struct gnn_err *e);
int gnn_dense_own_back(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e);
/* The table of c's layer with its options. */
static inline const struct gnn_layer *gnn_layer_variant(const struct gnn_model_config *c)
{
    return c->layer->variant ? c->layer->variant(c) : c->layer;
}

static inline bool gnn_layer_needs_ids(const struct gnn_model_config *c)
{
    const struct gnn_layer *layer = gnn_layer_variant(c);
    return layer->ids && layer->ids(c);
}

/* Whether the first layer of such a model reads features as they are, and sums them up: then it is
 * faster to leave them in place. */
static inline bool gnn_layer_sums_features(const struct gnn_model_config *c)
{
    const struct gnn_layer *layer = gnn_layer_variant(c);
    return layer->linear && !gnn_adj_needs_degrees(layer->norm) &&
           c->feature_norm == GNN_FEATURES_AS_IS && !c->encoder && !c->ffn;
}

static inline struct gnn_conv_shape gnn_conv_shape_of(const struct gnn_model *m,
                                                      const struct gnn_conv *v)
{
    const struct gnn_conv_shape s = {&m->c,
                                     m->stage[v->stage].layer,
                                     v->rel,
                                     gnn_model_width(m, v->from, v->src),
                                     gnn_model_width(m, v->from, v->dst),
                                     gnn_model_width(m, v->stage, v->dst)};
    return s;
}
/* Index of the bias that the driver adds; GNN_NONE: it has none. */
static inline uint32_t gnn_conv_bias(const struct gnn_conv *v)
{
    return v->layer->bias == GNN_NONE ? GNN_NONE : v->first + v->layer->bias;
}

/* Sets what follows a stage's convolutions into type t, except dropout: norm, width, activation
 * function, and as the bias the sum of all their biases. */
int gnn_activation_of_stage(struct gnn_pass *s, struct gnn_activation *a, uint32_t stage,
                            uint32_t t, struct gnn_err *e) GNN_MUST_USE;

/* The first of its stage's convolutions into its type. */
const struct gnn_conv *gnn_conv_lead(const struct gnn_model *m, const struct gnn_conv *v);
/* Convolution v of s->m; the view's sizes are set by the caller. */
void gnn_conv_run_init(struct gnn_conv_run *c, struct gnn_pass *s, const struct gnn_conv *v);
void gnn_conv_run_release(const struct gnn_ops *o, struct gnn_conv_run *c);
/* The run's parameter number k, and its gradient; _common: of the parameters in common. */
static inline const float *gnn_conv_param(const struct gnn_conv_run *c, uint32_t k)
{
    return gnn_pass_param(c->s, c->first + k);
}
static inline float *gnn_conv_grad(const struct gnn_conv_run *c, uint32_t k)
{
    return gnn_pass_grad(c->s, c->first + k);
}
static inline const float *gnn_conv_common(const struct gnn_conv_run *c, uint32_t k)
{
    return gnn_pass_param(c->s, c->conv->common + k);
}
static inline float *gnn_conv_common_grad(const struct gnn_conv_run *c, uint32_t k)
{
    return gnn_pass_grad(c->s, c->conv->common + k);
}
/* Row `from`, of `width` floats, of scratch buffer k, which holds rows up to `to`. Its contents
 * stay until the backward pass is done while training, or where sums are gathered; otherwise until
 * the next call. NULL on failure. */
float *gnn_conv_scratch(struct gnn_conv_run *c, unsigned k, uint32_t from, uint32_t to,
                        size_t width, struct gnn_err *e);

/* Operations of layers whose neighbours' part is a normalised sum times the matrix `weight`, which
 * is applied before or after the summing up (lib/model/linear.c). They use buffer 0. */
uint32_t gnn_linear_messages(const struct gnn_conv_run *c);
int gnn_linear_send(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                    struct gnn_err *e);
int gnn_linear_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                    const struct gnn_epilogue *ep, struct gnn_err *e);
int gnn_linear_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                         struct gnn_err *e);
int gnn_linear_sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                            struct gnn_err *e);
void gnn_linear_late_back(const struct gnn_conv_run *c, uint32_t from, uint32_t to, float *g,
                          bool acc);
int gnn_linear_gather(struct gnn_conv_run *c, bool first, struct gnn_err *e);
int gnn_linear_spread(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                      struct gnn_err *e);
int gnn_linear_send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e);

#endif
