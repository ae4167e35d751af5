/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/api/learn.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/api/handles.h"
#include "lib/api/options.h"
#include "lib/base/mem.h"
#include "lib/data/recipe.h"
#include "lib/model/layer.h"
#include "lib/model/model_file.h"
#include "lib/predict/predict.h"
#include "lib/train/local_source.h"
#include "lib/train/settings.h"

/* What the options of gnn_train say, on the way to what the library takes. */
struct run {
    struct gnn_sampler_opts s;
    struct gnn_gather_opts g;
    struct gnn_settings set;
    struct gnn_given given;
    struct opt_list fanout, eval;
    struct opt_range epochs;
    int dtype;
    uint32_t layers, prefetch;
    char fields[GNN_FEED_FIELDS];
};

static int read_options(struct run *r, const char *const options[], struct gnn_err *e)
{
    memset(r, 0, sizeof *r);
    gnn_sampler_opts_init(&r->s);
    gnn_settings_init(&r->set);
    r->given = (struct gnn_given){gnn_api_given, options};
    r->epochs = (struct opt_range){.to = TRAIN_EPOCHS};
    r->layers = TRAIN_LAYERS;
    r->prefetch = 2;
    struct opt own[16 + GNN_MODEL_OPTIONS + GNN_TRAINING_OPTIONS + GNN_LAYER_SET] = {
        {.kind = OPT_LIST, .name = "fanout", .value = &r->fanout},
        {.kind = OPT_LIST, .name = "eval", .value = &r->eval},
        {.kind = OPT_STR, .name = "split", .value = &r->s.split},
        {.kind = OPT_RANGE, .name = "epochs", .value = &r->epochs, .count = true},
        {.kind = OPT_U64, .name = "seed", .value = &r->s.sampling.seed},
        {.kind = OPT_U32, .name = "layers", .value = &r->layers, .min = 1, .max = GNN_LAYERS_MAX},
        {.kind = OPT_CHOICE, .name = "dtype", .value = &r->dtype, .choices = "stored|f32|f16|bf16"},
        {.kind = OPT_U32, .name = "prefetch", .value = &r->prefetch, .min = 1, .max = 1024},
    };
    struct opt *end = own;
    while (end->kind != OPT_END)
        end++;
    end = gnn_training_options(&r->set, gnn_model_options(&r->set, end));
    memcpy(end, r->set.layers.option, sizeof r->set.layers.option);
    return gnn_api_options(options, own, &r->s.sampling, true, e)
               ? e->code
               : gnn_settings_settle(&r->set, &r->given, e);
}

/* Batches as gnn-train draws them. */
static struct gnn_source *open_batches(struct run *r, struct gnn_graph *g, struct gnn_err *e)
{
    static const char *const fanout[] = {TRAIN_FANOUT};
    static const enum gnn_dtype dtypes[] = {(enum gnn_dtype)0, GNN_F32, GNN_F16, GNN_BF16};
    const struct gnn_model_config *c = &r->set.c;
    r->s.fanout = r->fanout.n ? r->fanout.v : fanout;
    r->s.nfanout = r->fanout.n ? r->fanout.n : gnn_sampling_has_fanouts(&r->s.sampling);
    r->s.eval = r->eval.v;
    r->s.neval = r->eval.n;
    r->s.epoch_from = r->epochs.from;
    r->s.epoch_to = r->epochs.to;
    r->s.sampling.edge_ids = c->edge_weight || c->edge_features || gnn_layer_needs_ids(c);
    r->g.dtype = dtypes[r->dtype];
    r->g.fields = gnn_feed_fields(&g->s.meta.schema, !r->s.sampling.links.type, c->edge_weight,
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

static int make_model(struct gnn_model *m, struct run *r, const struct gnn_meta *meta,
                      struct gnn_err *e)
{
    const struct gnn_sampling *s = &meta->sampling;
    struct gnn_model_config c;
    if (!s->induced && gnn_api_given(r->given.arg, "layers"))
        return gnn_fail(e, GNN_E_USAGE,
                        "--layers requires --induced or --clusters; else --fanout decides");
    if (gnn_settings_model(&r->set, s->induced ? r->layers : s->nhops, s->induced ? "layer" : "hop",
                           meta, &c, e) ||
        gnn_model_config_fit(&c, &meta->schema, e)) {
        gnn_model_config_release(&c);
        return e->code;
    }
    if (gnn_model_init(m, &c, e) || gnn_model_untrain(m, e) ||
        !(m->recipe = gnn_recipe_text(meta, false, e)))
        return e->code;
    gnn_model_reset(m, r->s.sampling.seed);
    r->set.o.seed = r->s.sampling.seed;
    return gnn_settings_training(&r->set, &r->given, meta, m, r->epochs.from, r->epochs.to,
                                 r->eval.n > 0, e);
}

struct told {
    gnn_epoch_fn call;
    void *arg;
    bool evaluates;
    struct gnn_trainer *trainer;
    struct gnn_err *e; /* this thread's: calls of the library's functions change it */
};

static void tell_epoch(void *arg, const struct gnn_train_epoch *r)
{
    const struct told *t = (const struct told *)arg;
    const struct gnn_err before = *t->e;
    if (t->call(t->arg, r->epoch, r->loss, t->evaluates ? r->eval[1].of.value : (double)NAN))
        t->trainer->s.stopped_early = true;
    *t->e = before;
}

/* Trains m and writes it. */
static int train_model(struct gnn_model *m, struct run *r, struct gnn_source *src, const char *path,
                       gnn_epoch_fn call, void *arg, struct gnn_err *e)
{
    struct gnn_trainer t;
    struct told told = {call, arg, r->eval.n > 0, &t, e};
    const struct gnn_train_hooks hooks = {.arg = &told, .epoch = call ? tell_epoch : NULL};
    int fd;
    struct gnn_temp *temp = gnn_temp_output(path, &fd, e);
    if (!temp)
        return e->code;
    int rc = gnn_trainer_init(&t, m, src->meta, &r->set.o, e);
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
    int rc = read_options(&r, options, e);
    if (!rc)
        rc = check_labels(g, r.s.split, e);
    if (!rc && !(src = open_batches(&r, g, e)))
        rc = e->code;
    if (!rc)
        rc = make_model(&m, &r, src->meta, e);
    if (!rc)
        rc = train_model(&m, &r, src, path, told, arg, e);
    gnn_source_free(src);
    gnn_model_release(&m);
    gnn_settings_release(&r.set);
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
    const struct gnn_sampling_member *x = gnn_recipe_differs(&r, NULL);
    gnn_recipe_release(&r);
    return x ? gnn_fail(e, GNN_E_USAGE, "%s was trained with --%s: gnn-predict draws such batches",
                        path, x->option)
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
    const struct gnn_predict_opts o = {
        .memory = UINT64_MAX, .tmpdir = "/tmp", .embedding = what == GNN_OUT_EMBEDDINGS};
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
    const struct opt own[] = {
        {.kind = OPT_CHOICE, .name = "output-kind", .value = &what, .choices = GNN_OUTPUT_WORDS},
        {.kind = OPT_FLAG, .name = "layer-wise", .value = &layer_wise},
        {.kind = OPT_END}};
    struct gnn_outputs *to = gnn_alloc_zero(1, sizeof *to, "outputs", e);
    memset(&m, 0, sizeof m);
    int rc = !to || gnn_api_options(options, own, NULL, false, e)
                 ? e->code
                 : open_model(&m, g, model, layer_wise, e);
    if (!rc)
        rc = gnn_output_choose(&m, true, &what, e);
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
