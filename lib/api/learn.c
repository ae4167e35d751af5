/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/learn.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "formats/text.h"
#include "kernels/act.h"
#include "lib/api/handles.h"
#include "lib/api/options.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/recipe.h"
#include "lib/model/layer.h"
#include "lib/model/model_file.h"
#include "lib/model/task.h"
#include "lib/predict/predict.h"
#include "lib/train/local_source.h"
#include "lib/train/train_defaults.h"
#include "lib/train/trainer.h"

/* What the options of gnn_train say, on the way to what the library takes. */
struct run {
    struct gnn_sampler_opts s;
    struct gnn_gather_opts g;
    struct gnn_train_opts o;
    struct gnn_model_config c; /* but for the widths and what the graph decides */
    struct opt_list fanout, eval;
    struct opt_range epochs;
    const char *model, *hidden, *head, *weight, *metric;
    int act, jk, norm, optimizer, keep, dtype;
    uint32_t layers, prefetch;
    bool residual;
    struct {
        bool flag;
        int choice;
        uint32_t count;
        double number;
    } layer[GNN_LAYER_OPTIONS];
    char fields[GNN_FEED_FIELDS];
};

enum { OPTIONS_MAX = 64 };

static void init_run(struct run *r)
{
    memset(r, 0, sizeof *r);
    gnn_sampler_opts_init(&r->s);
    gnn_train_opts_init(&r->o);
    r->model = "sage";
    r->c.layer_norm = TRAIN_LAYER_NORM;
    r->o.lr = TRAIN_LR;
    r->o.dropout = TRAIN_DROPOUT;
    r->o.patience = TRAIN_PATIENCE;
    r->epochs = (struct opt_range){.to = TRAIN_EPOCHS};
    r->layers = TRAIN_LAYERS;
    r->prefetch = 2;
}

/* The options of a layer, after those of the table. */
static void add_layer_options(struct run *r, struct opt own[OPTIONS_MAX])
{
    unsigned n = 0;
    while (own[n].name)
        n++;
    for (uint32_t k = 0; k < r->c.layer->noptions; k++) {
        const struct gnn_layer_option *x = &r->c.layer->option[k];
        r->layer[k].flag = x->init != 0;
        r->layer[k].choice = (int)x->init;
        r->layer[k].count = (uint32_t)x->init;
        r->layer[k].number = x->init;
        own[n++] = (struct opt){.kind = x->choices ? OPT_CHOICE
                                        : x->flag  ? OPT_FLAG
                                        : x->whole ? OPT_U32
                                                   : OPT_DOUBLE,
                                .name = x->word,
                                .value = x->choices ? (void *)&r->layer[k].choice
                                         : x->flag  ? (void *)&r->layer[k].flag
                                         : x->whole ? (void *)&r->layer[k].count
                                                    : (void *)&r->layer[k].number,
                                .choices = x->choices,
                                .min = x->min,
                                .max = x->max};
    }
}

static void take_layer_options(struct run *r)
{
    for (uint32_t k = 0; k < r->c.layer->noptions; k++) {
        const struct gnn_layer_option *x = &r->c.layer->option[k];
        r->c.option[k] = x->choices ? r->layer[k].choice
                         : x->flag  ? r->layer[k].flag
                         : x->whole ? r->layer[k].count
                                    : r->layer[k].number;
    }
}

static int read_options(struct run *r, const char *const options[], struct gnn_err *e)
{
    struct gnn_train_opts *o = &r->o;
    struct opt own[OPTIONS_MAX] = {
        {.kind = OPT_LIST, .name = "fanout", .value = &r->fanout},
        {.kind = OPT_LIST, .name = "eval", .value = &r->eval},
        {.kind = OPT_STR, .name = "split", .value = &r->s.split},
        {.kind = OPT_RANGE, .name = "epochs", .value = &r->epochs, .count = true},
        {.kind = OPT_U64, .name = "seed", .value = &r->s.sampling.seed},
        {.kind = OPT_U32, .name = "layers", .value = &r->layers, .min = 1, .max = GNN_LAYERS_MAX},
        {.kind = OPT_CHOICE, .name = "dtype", .value = &r->dtype, .choices = "stored|f32|f16|bf16"},
        {.kind = OPT_U32, .name = "prefetch", .value = &r->prefetch, .min = 1, .max = 1024},
        {.kind = OPT_STR, .name = "model", .value = &r->model},
        {.kind = OPT_STR, .name = "hidden", .value = &r->hidden},
        {.kind = OPT_FLAG, .name = "layer-norm", .value = &r->c.layer_norm},
        {.kind = OPT_FLAG, .name = "batch-norm", .value = &r->c.batch_norm},
        {.kind = OPT_FLAG, .name = "residual", .value = &r->residual},
        {.kind = OPT_FLAG, .name = "residual-projection", .value = &r->c.projection},
        {.kind = OPT_FLAG, .name = "ffn", .value = &r->c.ffn},
        {.kind = OPT_U32, .name = "encoder", .value = &r->c.encoder, .min = 1, .max = 1 << 20},
        {.kind = OPT_STR, .name = "head", .value = &r->head},
        {.kind = OPT_CHOICE, .name = "jk", .value = &r->jk, .choices = "none|cat|max"},
        {.kind = OPT_CHOICE, .name = "activation", .value = &r->act, .choices = GNN_ACT_WORDS},
        {.kind = OPT_STR, .name = "edge-weight", .value = &r->weight},
        {.kind = OPT_FLAG, .name = "edge-features", .value = &r->c.edge_features},
        {.kind = OPT_CHOICE, .name = "feature-norm", .value = &r->norm, .choices = "none|row"},
        {.kind = OPT_CHOICE,
         .name = "optimizer",
         .value = &r->optimizer,
         .choices = "adam|adamw|sgd"},
        {.kind = OPT_DOUBLE, .name = "lr", .value = &o->lr, .max = 1e6},
        {.kind = OPT_DOUBLE, .name = "weight-decay", .value = &o->weight_decay, .max = 1e6},
        {.kind = OPT_DOUBLE, .name = "momentum", .value = &o->momentum, .max = 1},
        {.kind = OPT_DOUBLE, .name = "clip", .value = &o->clip, .max = 1e30},
        {.kind = OPT_DOUBLE, .name = "dropout", .value = &o->dropout, .max = 0.999},
        {.kind = OPT_DOUBLE, .name = "dropout-input", .value = &o->dropout_input, .max = 0.999},
        {.kind = OPT_STR, .name = "metric", .value = &r->metric},
        {.kind = OPT_CHOICE, .name = "keep", .value = &r->keep, .choices = "best|last"},
        {.kind = OPT_U64, .name = "patience", .value = &o->patience, .max = 1e15},
    };
    for (const char *const *g = options; g && *g; g++) /* it decides which others there are */
        if (!strncmp(*g, "model=", 6))
            r->model = *g + 6;
    r->c.layer = gnn_layer_find(r->model);
    if (!r->c.layer)
        return gnn_fail(e, GNN_E_USAGE, "model: unknown value '%s'", r->model);
    add_layer_options(r, own);
    if (gnn_api_options(options, own, &r->s.sampling, true, e))
        return e->code;
    take_layer_options(r);
    return 0;
}

/* "64,32" as at most `most` numbers above 0. */
static int read_widths(const char *name, const char *text, uint32_t *width, uint32_t most,
                       uint32_t *n, struct gnn_err *e)
{
    uint64_t v;
    const char *p = text;
    for (*n = 0; p && *n < most; (*n)++) {
        p = gnn_text_u64(p, &v);
        if (!p || !v || v > 1 << 20)
            break;
        width[*n] = (uint32_t)v;
        p = *p == ',' ? p + 1 : *p ? NULL : p;
        if (p && !*p && p[-1] != ',')
            return (*n)++, 0;
    }
    return gnn_fail(e, GNN_E_USAGE, "%s: '%s' is not a list of up to %u widths > 0", name, text,
                    most);
}

/* What does not fit together, and what follows from it. */
static int finish_model(struct run *r, const char *const options[], struct gnn_err *e)
{
    struct gnn_model_config *c = &r->c;
    if (c->batch_norm && !gnn_api_given(options, "layer-norm"))
        c->layer_norm = false;
    if (c->layer_norm && c->batch_norm)
        return gnn_fail(e, GNN_E_USAGE, "layer-norm and batch-norm exclude each other");
    if (c->projection && !r->residual && !c->ffn)
        return gnn_fail(e, GNN_E_USAGE, "residual-projection requires residual");
    if (r->jk && !r->head)
        return gnn_fail(e, GNN_E_USAGE, "jk requires head");
    if (r->optimizer != GNN_SGD && gnn_api_given(options, "momentum"))
        return gnn_fail(e, GNN_E_USAGE, "momentum requires optimizer=sgd");
    c->residual = r->residual || c->ffn;
    c->has_head = r->head != NULL;
    if (r->head && strcmp(r->head, "0") != 0 &&
        read_widths("head", r->head, c->head, GNN_HEAD_MAX, &c->nhead, e))
        return e->code;
    c->jk = (enum gnn_jk)r->jk;
    c->act = r->act + (int)GNN_ACT_RELU;
    c->feature_norm = (enum gnn_feature_norm)r->norm;
    return r->weight && !(c->edge_weight = gnn_strdup(r->weight, e)) ? e->code : 0;
}

/* The widths of hidden layers, of which the batches decide the number. */
static int set_widths(struct run *r, const char *const options[], const struct gnn_sampling *m,
                      struct gnn_err *e)
{
    struct gnn_model_config *c = &r->c;
    uint32_t width[GNN_LAYERS_MAX] = {TRAIN_HIDDEN}, n = 1;
    if (!m->induced && gnn_api_given(options, "layers"))
        return gnn_fail(e, GNN_E_USAGE, "layers requires induced or clusters; else fanout decides");
    c->nlayers = m->induced ? r->layers : m->nhops;
    const uint32_t hidden = gnn_model_hidden(c);
    if (r->hidden && read_widths("hidden", r->hidden, width, GNN_LAYERS_MAX, &n, e))
        return e->code;
    if (r->hidden && n != hidden && (n > 1 || !hidden))
        return gnn_fail(e, GNN_E_USAGE, "hidden: %u width%s, and %u hidden layer%s", n,
                        gnn_plural(n), hidden, gnn_plural(hidden));
    for (uint32_t l = 0; l < hidden && l < GNN_LAYERS_MAX; l++)
        c->width[l] = width[n == 1 ? 0 : l];
    return 0;
}

/* Batches as gnn-train draws them. */
static struct gnn_source *open_batches(struct run *r, struct gnn_graph *g, struct gnn_err *e)
{
    static const char *const fanout[] = {TRAIN_FANOUT};
    static const enum gnn_dtype dtypes[] = {(enum gnn_dtype)0, GNN_F32, GNN_F16, GNN_BF16};
    const struct gnn_model_config *c = &r->c;
    r->s.fanout = r->fanout.n ? r->fanout.v : fanout;
    r->s.nfanout = r->fanout.n ? r->fanout.n : !r->s.sampling.clusters;
    r->s.eval = r->eval.v;
    r->s.neval = r->eval.n;
    r->s.epoch_from = r->epochs.from;
    r->s.epoch_to = r->epochs.to;
    r->s.sampling.edge_ids = c->edge_weight || c->edge_features || gnn_layer_needs_ids(c);
    r->g.dtype = dtypes[r->dtype];
    r->g.fields = gnn_feed_fields(&g->s.meta.schema, c->edge_weight,
                                  gnn_adj_needs_degrees(c->layer->norm), r->fields);
    gnn_feed_prefetch(&r->s, &r->g, r->prefetch);
    return gnn_feed_new(&g->s, &r->s, &r->g, e);
}

static int check_labels(struct gnn_graph *g, const char *set, struct gnn_err *e)
{
    const struct gnn_schema *c = &g->s.meta.schema;
    const int i = gnn_schema_need_set(c, "split", set, e);
    uint64_t n;
    if (i < 0 || c->set[i].ntype != c->label_ntype || !c->task)
        return i < 0 ? i : 0; /* refused with the model */
    if (gnn_labelled_count(&g->s, (uint32_t)i, &n, e))
        return e->code;
    return n ? 0
             : gnn_fail(e, GNN_E_INPUT, "%s: set %s: none of its nodes has a label", g->s.path,
                        set);
}

static int make_model(struct gnn_model *m, struct run *r, const char *const options[],
                      const struct gnn_meta *meta, struct gnn_err *e)
{
    bool drops = false;
    if (set_widths(r, options, &meta->sampling, e) ||
        gnn_model_config_fit(&r->c, &meta->schema, e) || gnn_model_init(m, &r->c, e) ||
        gnn_model_untrain(m, e) || !(m->recipe = gnn_recipe_text(meta, false, e)))
        return e->code;
    for (uint32_t i = 0; i < m->nstages; i++)
        drops = drops || m->stage[i].drop;
    if (!drops && gnn_api_given(options, "dropout") && r->o.dropout > 0)
        return gnn_fail(e, GNN_E_USAGE,
                        "dropout requires hidden rows: two layers, head or encoder");
    gnn_model_reset(m, r->s.sampling.seed);
    return 0;
}

static int finish_training(struct run *r, const char *const options[], enum gnn_task task,
                           struct gnn_err *e)
{
    struct gnn_train_opts *o = &r->o;
    if (!r->eval.n && r->keep == GNN_KEEP_BEST && gnn_api_given(options, "keep"))
        return gnn_fail(e, GNN_E_USAGE, "keep=best requires eval");
    if (!r->eval.n && !gnn_api_given(options, "patience"))
        o->patience = 0;
    o->keep = (enum gnn_keep)r->keep;
    o->optimizer = (enum gnn_optimizer)r->optimizer;
    o->seed = r->s.sampling.seed;
    o->last_epoch = r->epochs.to - 1;
    o->metric = (struct gnn_measure){.metric = gnn_tasks[task].usual};
    return r->metric && !gnn_measure_read(r->metric, &o->metric)
               ? gnn_fail(e, GNN_E_USAGE, "metric: unknown value '%s'", r->metric)
               : 0;
}

struct told {
    gnn_epoch_fn call;
    void *arg;
    bool evaluates;
};

static void tell_epoch(void *arg, const struct gnn_train_epoch *r)
{
    const struct told *t = (const struct told *)arg;
    t->call(t->arg, r->epoch, r->loss, t->evaluates ? r->eval[1].value : (double)NAN);
}

/* Trains m and writes it. */
static int train_model(struct gnn_model *m, struct run *r, struct gnn_source *src, const char *path,
                       const struct told *told, struct gnn_err *e)
{
    const struct gnn_train_hooks hooks = {.arg = (void *)(uintptr_t)told,
                                          .epoch = told->call ? tell_epoch : NULL};
    struct gnn_trainer t;
    int fd;
    struct gnn_temp *temp = gnn_api_file(path, &fd, e);
    if (!temp)
        return e->code;
    int rc = gnn_trainer_init(&t, m, src->meta, &r->o, e);
    if (rc)
        close(fd);
    else {
        rc = gnn_trainer_run(&t, src, &hooks, e);
        if (rc)
            close(fd);
        else
            rc = gnn_trainer_write(&t, fd, path, e);
        gnn_trainer_release(&t);
    }
    if (!rc)
        rc = gnn_temp_commit(temp, true, e);
    gnn_temp_free(temp);
    return rc;
}

int gnn_train(struct gnn_graph *g, const char *path, const char *const options[], gnn_epoch_fn told,
              void *arg)
{
    struct gnn_err *e = gnn_api_err();
    struct run r;
    struct gnn_model m;
    struct gnn_source *src = NULL;
    memset(&m, 0, sizeof m);
    init_run(&r);
    int rc = read_options(&r, options, e);
    if (!rc)
        rc = finish_model(&r, options, e);
    if (!rc)
        rc = check_labels(g, r.s.split, e);
    if (!rc && !(src = open_batches(&r, g, e)))
        rc = e->code;
    if (!rc)
        rc = make_model(&m, &r, options, src->meta, e);
    if (!rc)
        rc = finish_training(&r, options, m.c.task, e);
    if (!rc)
        rc = train_model(&m, &r, src, path, &(const struct told){told, arg, r.eval.n > 0}, e);
    gnn_source_free(src);
    gnn_model_release(&m);
    gnn_model_config_release(&r.c);
    gnn_free(r.fanout.v);
    gnn_free(r.eval.v);
    return rc;
}

/* ---- prediction ---- */

struct gnn_outputs {
    struct gnn_tensors set;
    struct gnn_tensor *t;
};

/* GNN_E_USAGE if all neighbours alike are not what the model has learned from. */
static int check_recipe(const struct gnn_model *m, const char *path, struct gnn_err *e)
{
    struct gnn_recipe r;
    if (!m->recipe)
        return 0;
    if (gnn_recipe_parse(&r, m->recipe, path, e))
        return e->code;
    const char *option = gnn_recipe_differs(&r, NULL);
    gnn_recipe_release(&r);
    return option ? gnn_fail(e, GNN_E_USAGE,
                             "%s was trained with %s: gnn-predict draws such batches", path, option)
                  : 0;
}

static int open_model(struct gnn_model *m, struct gnn_graph *g, const char *path, bool layer_wise,
                      struct gnn_err *e)
{
    struct gnn_st_file f;
    memset(&f, 0, sizeof f);
    int rc = gnn_st_read(&f, path, e);
    if (!rc && gnn_st_checkpoint(&f))
        rc = gnn_fail(e, GNN_E_USAGE, "%s: a checkpoint, not a model", path);
    if (!rc)
        rc = gnn_model_open(m, &f, path, &g->s.meta.schema, NULL, e);
    if (!rc)
        rc = gnn_model_config_match(&m->c, &g->s.meta.schema, g->s.path, e);
    gnn_st_release(&f);
    return rc || layer_wise ? rc : check_recipe(m, path, e);
}

static int run_model(struct gnn_outputs *to, const struct gnn_model *m, struct gnn_graph *g,
                     enum gnn_predict_output what, struct gnn_err *e)
{
    const struct gnn_predict_opts o = {.memory = UINT64_MAX, .tmpdir = "/tmp"};
    struct gnn_predict p;
    struct gnn_output rows;
    if (gnn_predict_run(&p, m, &g->s, &o, e))
        return e->code;
    memset(&rows, 0, sizeof rows);
    int rc = gnn_store_verified(&g->s, e);
    if (!rc)
        rc = gnn_predict_output(&p, what, false, &rows, e);
    if (!rc)
        rc = gnn_output_tensor(&rows, &to->set, &to->t, e);
    gnn_output_release(&rows);
    gnn_predict_release(&p);
    return rc;
}

struct gnn_outputs *gnn_predict_nodes(struct gnn_graph *g, const char *model,
                                      const char *const options[])
{
    struct gnn_err *e = gnn_api_err();
    struct gnn_model m;
    bool layer_wise = false;
    int what = -1;
    const struct opt own[] = {{.kind = OPT_CHOICE,
                               .name = "output-kind",
                               .value = &what,
                               .choices = "classes|probs|embeddings|values"},
                              {.kind = OPT_FLAG, .name = "layer-wise", .value = &layer_wise},
                              {.kind = OPT_END}};
    struct gnn_outputs *to = gnn_alloc_zero(1, sizeof *to, "outputs", e);
    memset(&m, 0, sizeof m);
    int rc = !to || gnn_api_options(options, own, NULL, false, e)
                 ? e->code
                 : open_model(&m, g, model, layer_wise, e);
    const bool regression = gnn_task_numbers(m.c.task);
    if (!rc && regression && (what == GNN_OUT_CLASSES || what == GNN_OUT_PROBS))
        rc = gnn_fail(e, GNN_E_USAGE, "output-kind: a regression has no classes");
    if (what < 0)
        what = regression ? GNN_OUT_VALUES : GNN_OUT_CLASSES;
    if (!rc)
        rc = run_model(to, &m, g, (enum gnn_predict_output)what, e);
    gnn_model_release(&m);
    if (!rc)
        return to;
    gnn_outputs_free(to);
    return NULL;
}

const struct gnn_tensor *gnn_outputs_tensor(const struct gnn_outputs *o)
{
    return o->t;
}

void gnn_outputs_free(struct gnn_outputs *o)
{
    if (o)
        gnn_tensors_release(&o->set);
    gnn_free(o);
}
