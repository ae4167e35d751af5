/* SPDX-License-Identifier: Apache-2.0 */
/* Training on a device: the same model from the same batches as on the CPU, in f32, to 1e-5 in the
 * first steps; after that rounding grows, as a ReLU or the sign of a small gradient falls to the
 * other side, and only a fault would be far off. The same bits from run to run, and from any
 * checkpoint. Runs on a real device and, as any other test, on the fake one. usage: check_train
 * [once]   once: a short run, of which only the status is printed, for tests that let calls fail */
#include "lib/gpu/gpu.h"
#include "lib/model/task.h"
#include "lib/train/trainer.h"
#include "made_batches.h"
#include "scratch.h"

enum { EPOCHS = 6, MOST = EPOCHS * MADE_STEPS };

struct variant {
    const char *name;
    const struct gnn_layer *layer;
    bool norm, residual, row_sum, batch;
    double drop, drop_in, clip;
    enum gnn_optimizer optimizer;
    struct made_world w;
};

static const struct variant variants[] = {
    {"sage",
     &gnn_layer_sage,
     false,
     false,
     false,
     false,
     0,
     0,
     0,
     GNN_ADAM,
     {.wa = 7, .x = GNN_F32, .task = GNN_TASK_MULTICLASS}},
    {"sage, norm, residual, dropout",
     &gnn_layer_sage,
     true,
     true,
     false,
     false,
     0.3,
     0.1,
     0,
     GNN_ADAMW,
     {.wa = 16, .x = GNN_F32, .task = GNN_TASK_MULTICLASS}},
    {"sage, every node expanded, f16, transform first",
     &gnn_layer_sage,
     false,
     false,
     false,
     false,
     0,
     0,
     1,
     GNN_SGD,
     {.all = true, .wa = 60, .x = GNN_F16, .task = GNN_TASK_MULTICLASS}},
    {"sage, typed, norm, residual, dropout",
     &gnn_layer_sage,
     true,
     true,
     false,
     false,
     0.3,
     0.2,
     1,
     GNN_ADAM,
     {.typed = true, .wa = 16, .wb = 5, .x = GNN_F32, .task = GNN_TASK_MULTICLASS}},
    {"sage, typed, one type without features, several labels",
     &gnn_layer_sage,
     false,
     false,
     false,
     false,
     0,
     0,
     0,
     GNN_ADAM,
     {.typed = true, .all = true, .wa = 9, .x = GNN_F32, .task = GNN_TASK_MULTILABEL}},
    {"gcn, features of unit sum, dropout",
     &gnn_layer_gcn,
     false,
     true,
     true,
     false,
     0.5,
     0.1,
     0,
     GNN_ADAM,
     {.wa = 20, .x = GNN_F16, .task = GNN_TASK_MULTICLASS}},
    {"sage, batch norm, dropout",
     &gnn_layer_sage,
     false,
     true,
     false,
     true,
     0.3,
     0,
     0,
     GNN_ADAM,
     {.wa = 16, .x = GNN_F32, .task = GNN_TASK_MULTICLASS}},
    {"sage, typed, batch norm",
     &gnn_layer_sage,
     false,
     false,
     false,
     true,
     0,
     0,
     0,
     GNN_ADAM,
     {.typed = true, .all = true, .wa = 16, .wb = 5, .x = GNN_F32, .task = GNN_TASK_MULTICLASS}},
};

static struct gnn_gpu *gpu;

/* What a run leaves. */
struct run {
    struct gnn_err e;
    int rc;
    double loss[MOST], eval[EPOCHS];
    uint64_t steps, epochs, stop_after; /* 0: never */
    float *slab;
    uint64_t nfloats;
};

static void on_step(void *arg, uint64_t epoch, uint64_t step, uint64_t steps, double loss,
                    double balance)
{
    struct run *r = arg;
    (void)steps;
    (void)balance;
    if (epoch * MADE_STEPS + step < MOST)
        r->loss[epoch * MADE_STEPS + step] = loss;
    r->steps++;
}

static void on_epoch(void *arg, const struct gnn_train_epoch *x)
{
    struct run *r = arg;
    if (x->epoch < EPOCHS)
        r->eval[x->epoch] = x->eval[1].loss;
    r->epochs++;
}

static bool on_stop(void *arg, bool cut)
{
    struct run *r = arg;
    (void)cut;
    return r->stop_after && r->steps >= r->stop_after;
}

/* With `device` on it, else on the CPU. dir: of checkpoints, or NULL; `resume`: from what is there.
 */
static void train(struct run *r, const struct variant *v, bool device, enum gnn_precision precision,
                  const char *dir, bool resume, uint64_t stop_after)
{
    struct gnn_train_opts o;
    struct gnn_model m;
    struct gnn_trainer t;
    struct gnn_source *src = made_new(&v->w);
    const struct gnn_ops *ops = gnn_ops_new(device ? gpu : NULL, precision, &r->e);
    struct gnn_model_config c = {.layer = v->layer,
                                 .nlayers = MADE_HOPS,
                                 .width = {16, 16},
                                 .layer_norm = v->norm,
                                 .batch_norm = v->batch,
                                 .residual = v->residual,
                                 .feature_norm =
                                     v->row_sum ? GNN_FEATURES_ROW_SUM : GNN_FEATURES_AS_IS};
    const struct gnn_train_hooks h = {r, dir ? on_stop : NULL, on_step, on_epoch};
    *r = (struct run){.e = r->e, .stop_after = stop_after};
    if (device && (!ops || !(src = gpu->ops->upload(gpu, src, &r->e)))) {
        r->rc = r->e.code;
        goto out;
    }
    gnn_train_opts_init(&o);
    o.optimizer = v->optimizer;
    o.lr = v->optimizer == GNN_SGD ? 0.1 : 0.01;
    o.momentum = 0.9;
    o.weight_decay = 1e-3;
    o.clip = v->clip;
    o.dropout = v->drop;
    o.dropout_input = v->drop_in;
    o.seed = 3;
    o.metric.metric = gnn_tasks[v->w.task].usual;
    o.checkpoint = dir;
    o.ops = ops;
    made_must(gnn_model_config_fit(&c, &src->meta->schema, &r->e) || gnn_model_init(&m, &c, &r->e));
    gnn_model_reset(&m, 1);
    r->rc = gnn_trainer_init(&t, &m, src->meta, &o, &r->e);
    if (!r->rc && resume)
        r->rc = gnn_trainer_load(&t, &r->e);
    if (!r->rc)
        r->rc = gnn_trainer_run(&t, src, &h, &r->e);
    r->nfloats = m.nfloats;
    r->slab = malloc(m.nfloats * sizeof(float));
    made_must(!r->slab);
    memcpy(r->slab, t.ops ? gnn_trainer_result(&t, NULL) : m.slab, m.nfloats * sizeof(float));
    gnn_trainer_release(&t);
    gnn_model_release(&m);
out:
    gnn_source_free(src);
    if (ops)
        ops->free(ops);
}

static double apart(const double *a, const double *b, uint64_t n)
{
    double most = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i]) / fmax(1e-6, fabs(b[i]));
        most = d > most || isnan(d) ? d : most;
    }
    return most;
}

static void test_variant(const struct variant *v)
{
    struct variant w = *v;
    static struct run cpu, one, two, half;
    w.w.epochs = EPOCHS;
    train(&cpu, &w, false, GNN_PRECISION_F32, NULL, false, 0);
    train(&one, &w, true, GNN_PRECISION_F32, NULL, false, 0);
    const double first = apart(one.loss, cpu.loss, 2), early = apart(one.loss, cpu.loss, 10),
                 steps = apart(one.loss, cpu.loss, 50);
    const double evals = apart(one.eval, cpu.eval, EPOCHS - 1);
    ok(!cpu.rc && !one.rc && one.steps == MOST && one.epochs == EPOCHS &&
           cpu.loss[MOST - 1] < cpu.loss[0],
       "%s: learns (loss %.3f, then %.3f)", v->name, one.loss[0], one.loss[MOST - 1]);
    ok(first < 1e-5 && early < 1e-3 && steps < 0.05 && evals < 0.1,
       "%s: as on the CPU, to %.1e in 2 steps, %.1e in 10, %.1e in 50, %.1e in evaluation", v->name,
       first, early, steps, evals);
    w.w.epochs = 2; /* is enough for the rest */
    train(&two, &w, true, GNN_PRECISION_F32, NULL, false, 0);
    ok(!two.rc && !memcmp(one.loss, two.loss, 2 * MADE_STEPS * sizeof(*one.loss)) &&
           !memcmp(one.eval, two.eval, 2 * sizeof(*one.eval)),
       "%s: the same bits again", v->name);
    char dir[] = "ckpt.0";
    dir[5] = (char)('0' + (v - variants));
    train(&half, &w, true, GNN_PRECISION_F32, dir, false, MADE_STEPS + 3);
    const int stopped = half.rc;
    free(half.slab);
    train(&half, &w, true, GNN_PRECISION_F32, dir, true, 0);
    ok(stopped == GNN_E_STOPPED && !half.rc && half.steps < MADE_STEPS &&
           !memcmp(half.slab, two.slab, two.nfloats * sizeof(float)),
       "%s: and from a checkpoint%s%s", v->name, half.rc ? ": " : "", half.e.msg);
    free(cpu.slab);
    free(one.slab);
    free(two.slab);
    free(half.slab);
}

/* What is found a step late is still told of the right step, and before anything is kept. */
static void test_errors(void)
{
    static struct run r;
    struct variant v = variants[0];
    v.w.epochs = 2;
    v.w.nan_at = MADE_STEPS + 4;
    train(&r, &v, true, GNN_PRECISION_F32, NULL, false, 0);
    ok(r.rc == GNN_E_RUN && strstr(r.e.msg, "epoch 1, step 3") && r.steps == MADE_STEPS + 3,
       "a loss that is not finite: %s", r.e.msg);
    free(r.slab);
    r.e = (struct gnn_err){0};
    v.w.nan_at = MADE_STEPS; /* the last of its epoch: found when that is closed */
    train(&r, &v, true, GNN_PRECISION_F32, NULL, false, 0);
    ok(r.rc == GNN_E_RUN && strstr(r.e.msg, "epoch 0, step 8") && r.epochs == 0,
       "in the last step of an epoch: %s", r.e.msg);
    free(r.slab);
    r.e = (struct gnn_err){0};
    v.w.nan_at = 0;
    v.w.bad_at = 2;
    train(&r, &v, true, GNN_PRECISION_F32, NULL, false, 0);
    ok(r.rc == GNN_E_INPUT && strstr(r.e.msg, "node/a/y") &&
           strstr(r.e.msg, "label 7 outside 0..3"),
       "a label out of range: %s", r.e.msg);
    free(r.slab);
    r.e = (struct gnn_err){0};
}

/* Products of rounded inputs differ from others, but not by much. */
static void test_precision(void)
{
    static struct run f32, r;
    struct variant v = variants[0];
    v.w.epochs = 2;
    train(&f32, &v, true, GNN_PRECISION_F32, NULL, false, 0);
    for (int p = GNN_PRECISION_TF32; p <= GNN_PRECISION_BF16; p++) {
        train(&r, &v, true, (enum gnn_precision)p, NULL, false, 0);
        const double d = apart(r.loss, f32.loss, 2 * MADE_STEPS);
        ok(!r.rc && d < 0.05 && d > 0, "%s: losses apart by %.1e",
           p == GNN_PRECISION_TF32 ? "tf32" : "bf16", d);
        free(r.slab);
    }
    free(f32.slab);
}

/* A run with everything in it that touches the device. */
static int once(void)
{
    static struct run r;
    struct gnn_err e = {0};
    struct variant v = variants[3];
    v.w.epochs = 2;
    if (gnn_gpu_open(&gpu, "cuda", NULL, 0, &e)) {
        printf("%d %s\n", e.code, e.msg);
        return 0;
    }
    train(&r, &v, true, GNN_PRECISION_F32, "ckpt", false, MADE_STEPS + 2);
    printf("%d %s\n", r.rc, r.e.msg);
    free(r.slab);
    gnn_gpu_close(gpu);
    return 0;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    char why[128];
    if (argc > 1)
        return strcmp(argv[1], "once") ? 2 : once();
    scratch_enter();
    if (gnn_gpu_open(&gpu, "cuda", why, sizeof(why), &e)) {
        printf("Bail out! %s\n", e.msg);
        return 1;
    }
    for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++)
        test_variant(&variants[i]);
    test_errors();
    test_precision();
    gnn_gpu_close(gpu);
    return scratch_done();
}
