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
        uint32_t lead;  /* so many matrices, one after the other: one more dimension; 0: none */
        bool relations; /* as struct gnn_param's */
        bool shared;    /* the same numbers, in the same place, as parameter `with` */
        uint32_t with;
        double bound, fill; /* as struct gnn_param's */
        bool trained;
        enum gnn_dtype dtype; /* GNN_F32; GNN_I64: a scalar */
    } p[GNN_PARAMS_MAX];
    uint32_t n;
};
/* Adds one that is trained, of one matrix or vector, and returns it. */
struct gnn_param_spec *gnn_param_list_add(struct gnn_param_list *l, const char *name, uint32_t rows,
                                          uint32_t cols, double bound, double fill);
/* Adds those of a norm of the kind that c has (enum gnn_norm_param), `width` columns; the names
 * begin with `module`. */
void gnn_param_list_norm(struct gnn_param_list *l, const struct gnn_model_config *c,
                         const char *module, uint32_t width);

/* A convolution at work. The driver makes it (gnn_conv_run_init) and sets what is not the layer's;
 * buffers are used again from pass to pass. */
struct gnn_conv_run {
    struct gnn_pass *s;
    const struct gnn_layer *layer;
    const struct gnn_conv *conv;
    uint32_t first;     /* index of its first parameter */
    uint32_t ds, dd, w; /* widths of sources, destinations and results */
    bool inputs;        /* gradients of the sources and destinations are wanted: they are not
                           features */
    /* The first of its stage's convolutions into the type, which may be itself: it has what they
     * share. The driver sets it. */
    struct gnn_conv_run *lead;
    bool begins, ends; /* it is the first of them, the last */
    struct gnn_adj adj;
    uint32_t most;         /* destinations that `rows` makes in a call, at most */
    uint32_t message;      /* width of messages; 0: sources are aggregated as they are */
    const float *x;        /* (nsrc, ds) the sources */
    const float *messages; /* (nsrc, message) made of them */
    struct gnn_buf sent;   /* where they are, if the layer keeps them */
    const float *own;      /* the destinations' own rows, from row `from` of the call on */
    const float *out;      /* in the backward pass: what the stage has made, row 0 */
    const uint8_t *count;  /* as struct gnn_activation's, of the destinations */
    bool gathered;         /* `rows` takes the aggregated neighbours from what `gather` has kept */
    bool elsewhere;        /* in full batches: the sources are of another partition */
    /* the layer's */
    struct gnn_buf kept[GNN_PASS_ROOMS];
    struct gnn_activation inside;
};

/* Floats that a convolution keeps in full batches, besides messages: of each destination, and of
 * each source that is there at a time. */
struct gnn_conv_floats {
    uint64_t dst, src;
};

/* A number, a flag or one of some words that a user chooses for all layers of a model: an option of
 * gnn-train, a member of the model's description and config.option[] come from it. Options of the
 * same name in several layers are equal in all but `help`, of which the first counts. */
enum { GNN_LAYER_OPTION_NAME = 32 };
struct gnn_layer_option {
    const char *name, *word; /* "train_eps" in files, "train-eps" on the command line */
    bool flag;               /* else a number from min to max, or, with `choices`, */
    bool whole;              /* the number has no fraction */
    const char *choices;     /* "mean|max": the number of one of these words; or NULL */
    double init, min, max;   /* init: unless it is chosen; of a flag 0 or 1 */
    const char *help;        /* names the default */
    bool training; /* it is about training: an applied model computes the same with all values */
    bool untold;   /* a state dict of another program does not say it: gnn-predict has it too */
};
/* The word of an option with `choices` that has this value, of *n characters; and the value of a
 * word, -1: it is none of them. */
const char *gnn_layer_option_word(const struct gnn_layer_option *x, double value, size_t *n);
int gnn_layer_option_value(const struct gnn_layer_option *x, const char *word);

/* On failure, operations return what they put into e. Rows are of the destinations, [from, to); y
 * and dy point to row `from`. */
struct gnn_layer {
    const char *name;   /* as in GNN_LAYERS */
    const char *module; /* PyG's, which has parameters of the same names */
    /* Or NULL: options make another table of it, which is used in its place. */
    const struct gnn_layer *(*variant)(const struct gnn_model_config *c);

    /* Requirements. */
    enum gnn_adj_norm norm; /* of the adjacency */
    bool own;               /* the destinations' own rows */
    bool early;             /* these, in full batches, only in `open` and in the backward pass from
                               `spread` on */
    bool weights, features; /* what it can use of edges (struct gnn_model_config) */
    bool needs_features;    /* and cannot do without */
    /* Or NULL: whether it needs the original ids of edges and destinations while training. */
    bool (*ids)(const struct gnn_model_config *c);
    bool keeps;     /* messages, until the backward pass is done */
    bool back;      /* the transposed block while training, even if sources are features that are
                       aggregated as they are */
    bool numbered;  /* the numbers of edges in it */
    bool parts;     /* its backward pass can take sources in parts (struct gnn_adj_parts) */
    bool attends;   /* rows at the ends of edges determine their weights */
    bool activates; /* it applies the model's activation inside */
    bool fixed;     /* what `gather` makes of sources as they are depends on nothing but these, and
                       stays as it is where they get no gradient */
    bool linear;    /* what `gather` keeps is linear in the sources' rows or messages, and the rest
                       of the layer needs no more of these */
    bool fetches;   /* `spread` needs the sources' rows: they are fetched again */
    unsigned rooms; /* gnn_conv_room in the forward pass */

    /* Its parameters. shared: one set of them serves all relations and node types of a layer. Then
     * `root`, a table without edges with the same parameters, or NULL, makes each type's share of
     * its own rows, once; the bias, if any, is that table's. */
    void (*params)(const struct gnn_conv_shape *s, struct gnn_param_list *l);
    bool shared;
    const struct gnn_layer *root;
    uint32_t weight; /* the one with a row for each output, by which a state dict is recognised */
    uint32_t bias;   /* the one that is added to the results, which the driver does; or GNN_NONE */
    /* Or NULL: those that all convolutions of a stage which list them under the same names have in
     * common (gnn_conv_common); they are trained. */
    void (*common)(const struct gnn_conv_shape *s, struct gnn_param_list *l);
    /* Names of parameters say themselves which relation or node type they are of: their '*' is
     * "src__relation__dst", or the type's name. */
    bool keyed;

    /* Or NULL: tables without edges around the layer, keyed as it is. Rows go through `before`
     * first, a stage `widen` times as wide as the layer, of which the convolutions are; their sums
     * go through `after`, to whose stage `skip` adds the layer's input where it is as wide. */
    const struct gnn_layer *before, *after, *skip;
    uint32_t widen;
    /* Or NULL: the table without edges, or NULL, that with these options stands beside each
     * convolution, for the destinations' own rows. Names of its parameters begin as that one's. */
    const struct gnn_layer *(*beside)(const struct gnn_model_config *c);
    /* Or NULL: the width is the weight's first dimension. Else the width of layer l, and options,
     * are read off its parameters in a state dict, t[k] being number k or NULL; 0: it is none of
     * this layer. */
    uint32_t (*recognise)(struct gnn_model_config *c, const struct gnn_tensor *const *t);
    /* Or NULL: what else is true of all such layers here, but not in PyG, where a state dict does
     * not tell it; in PyG's words. */
    const char *assumed;
    const struct gnn_layer_option *option; /* [noptions], at most GNN_LAYER_OPTIONS */
    uint32_t noptions;
    /* Or NULL: why option k does nothing in c's models on their graph; NULL: it does. */
    const char *(*idle)(const struct gnn_model_config *c, uint32_t k);
    /* Or NULL: what a tensor of a state dict, `name` within its convolution, says of options. */
    void (*tell)(struct gnn_model_config *c, const char *name, const struct gnn_tensor *t);
    /* Or NULL: GNN_E_USAGE if there can be no such convolution. */
    int (*check)(const struct gnn_conv_shape *s, struct gnn_err *e);

    /* Forward. messages: the width of messages, if they are to be made of the sources before they
     * are aggregated, else 0; decided when the adjacency is known. send: makes them of n sources.
     * open, or NULL: before the first rows; while training all rows of sources and destinations are
     * there. rows: the results into y, or added to it, then ep (may be NULL). */
    uint32_t (*messages)(const struct gnn_conv_run *c);
    int (*send)(struct gnn_conv_run *c, const float *x, uint32_t n, float *out, struct gnn_err *e);
    int (*open)(struct gnn_conv_run *c, struct gnn_err *e);
    int (*rows)(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                const struct gnn_epilogue *ep, struct gnn_err *e);

    /* Backward; only after forward calls for all rows with s->train. rows_back: with the gradient
     * dy of rows, while they are in the cache. sources_back: after that, dy being the gradient of
     * all rows; g is to become the gradient of the sources, or to be added to; NULL: not wanted.
     * own_back: then, g, of the destinations' own rows, is added to. Tables without edges have
     * no sources_back: to them, all rows are the destinations' own. These operations also
     * add to the gradients of the parameters, except the bias. */
    int (*rows_back)(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                     struct gnn_err *e);
    int (*sources_back)(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                        struct gnn_err *e);
    int (*own_back)(struct gnn_conv_run *c, const float *dy, float *g, struct gnn_err *e);

    /* Full batches (lib/model/full.h): sources come one partition at a time. c->x, or c->messages
     * if there are any, are the rows of one partition's sources, and the adjacency has their edges;
     * all destinations take part in each call. NULL: the layer cannot do that. gather: adds to what
     * is kept of the neighbours; first: nothing is there yet. When all partitions have been there,
     * `rows` makes the results of it (c->gathered). hidden, or NULL: while training, after the last
     * gather and before `rows`: makes the hidden rows that end with c->inside, up to
     * gnn_activation_rows. The driver finishes them, with batch norm's statistics of all
     * partitions. hidden_at: where they are, and their gradients after rows_back. sums_back, or
     * NULL: after rows_back, and when the backward pass of c->inside is open: the gradients of what
     * was gathered, and of the parameters that made hidden rows of it. spread: then, for one
     * partition after the other: g becomes the gradient of its rows, or it is added to g.
     * send_back: when the gradient of the partition's own messages, dm, is complete: that of the
     * sources which they were made of, as in sources_back. dm is overwritten. floats, or NULL: sets
     * what the layer keeps from the forward to the backward pass; NULL: the sums that `rows` works
     * on, as wide as messages or sources. again and spent, or NULL, are of layers whose room 0
     * keeps the results, as wide as messages, before heads are averaged: again makes the results of
     * them once more, as `rows` did with acc unset; spent: they are needed until rows_back, else
     * until own_back. */
    int (*gather)(struct gnn_conv_run *c, bool first, struct gnn_err *e);
    int (*hidden)(struct gnn_conv_run *c, struct gnn_err *e);
    void (*hidden_at)(const struct gnn_conv_run *c, float **h, float **dh);
    int (*sums_back)(struct gnn_conv_run *c, const float *dy, struct gnn_err *e);
    int (*spread)(struct gnn_conv_run *c, const float *dy, float *g, bool acc, struct gnn_err *e);
    int (*send_back)(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e);
    void (*floats)(const struct gnn_conv_run *c, struct gnn_conv_floats *n);
    int (*again)(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y,
                 const struct gnn_epilogue *ep, struct gnn_err *e);
    bool (*spent)(const struct gnn_conv_run *c);
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
/* The table of c's layers with their options. */
static inline const struct gnn_layer *gnn_layer_variant(const struct gnn_model_config *c)
{
    return c->layer->variant ? c->layer->variant(c) : c->layer;
}

static inline bool gnn_layer_needs_ids(const struct gnn_model_config *c)
{
    const struct gnn_layer *layer = gnn_layer_variant(c);
    return layer->ids && layer->ids(c);
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

/* Sets what follows a stage's convolutions into type t, but for dropout: norm, width, activation
 * function, and as the bias the sum of all their biases. */
int gnn_activation_of_stage(struct gnn_pass *s, struct gnn_activation *a, uint32_t stage,
                            uint32_t t, struct gnn_err *e) GNN_MUST_USE;

/* The first of its stage's convolutions into its type. */
const struct gnn_conv *gnn_conv_lead(const struct gnn_model *m, const struct gnn_conv *v);
/* Convolution v of s->m; the view's sizes are set by the caller. */
void gnn_conv_run_init(struct gnn_conv_run *c, struct gnn_pass *s, const struct gnn_conv *v);
void gnn_conv_run_release(const struct gnn_ops *o, struct gnn_conv_run *c);
/* Its parameter number k, and the gradient of that. */
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
/* Row `from` of `width` floats in room k, with room up to row `to`. What is there while training
 * stays until the backward pass is done, as does what was gathered; otherwise until the next call.
 * NULL on failure. */
float *gnn_conv_room(struct gnn_conv_run *c, unsigned k, uint32_t from, uint32_t to, size_t width,
                     struct gnn_err *e);

/* Operations of layers whose neighbours' part is a normalised sum times the matrix `weight`, which
 * is applied before or after the summing up (lib/model/linear.c). They use room 0. */
uint32_t gnn_linear_messages(const struct gnn_conv_run *c);
int gnn_linear_send(struct gnn_conv_run *c, const float *x, uint32_t n, float *out,
                    struct gnn_err *e);
int gnn_linear_rows(struct gnn_conv_run *c, uint32_t from, uint32_t to, float *y, bool acc,
                    const struct gnn_epilogue *ep, struct gnn_err *e);
int gnn_linear_rows_back(struct gnn_conv_run *c, uint32_t from, uint32_t to, const float *dy,
                         struct gnn_err *e);
int gnn_linear_sources_back(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                            struct gnn_err *e);
int gnn_linear_gather(struct gnn_conv_run *c, bool first, struct gnn_err *e);
int gnn_linear_spread(struct gnn_conv_run *c, const float *dy, float *g, bool acc,
                      struct gnn_err *e);
int gnn_linear_send_back(struct gnn_conv_run *c, float *dm, float *g, bool acc, struct gnn_err *e);

#endif
