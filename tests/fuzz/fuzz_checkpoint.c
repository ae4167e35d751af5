/* SPDX-License-Identifier: Apache-2.0 */
/* What a trainer goes on from: any bytes are refused, or training goes on. The first byte of the
 * input: 0, a file is what follows; else a checkpoint that was written when the target started,
 * with changes (edits.h), checksums being off: op 0 an element of tensor `which`, 1 a byte, 2 the
 * length, 3 a byte of the header, 4 an element of a state.* tensor with all of its bits */
#include "fuzz/edits.h"
#include "fuzz/fuzz.h"
#include "lib/gather/gatherer.h"
#include "lib/model/model_file.h"
#include "lib/model/layer.h"
#include "lib/sample/sampler.h"
#include "lib/train/trainer.h"
#include "store_maker.h"

enum {
    EPOCHS = 3,
    BEFORE = 4, /* batches, of which there are two, and one to evaluate, in an epoch */
    AFTER = 3   /* to the next epoch, and a checkpoint of its own */
};

unsigned long fuzz_accepted;

static struct edited file;
static struct gnn_safetensors st;
static struct gnn_store store;
static char dir[256];

static struct gnn_source *batches(struct gnn_err *e)
{
    static const char *const fanout = "2,2", *const eval = "valid";
    struct gnn_sampler_opts o;
    gnn_sampler_opts_init(&o);
    o.fanout = &fanout;
    o.nfanout = 1;
    o.sampling.batch_size = 6;
    o.epoch_to = EPOCHS;
    o.eval = &eval;
    o.neval = 1;
    struct gnn_source *s = gnn_sampler_source_new(&store, &o, e);
    return s ? gnn_gather_source_new(s, &store, &(struct gnn_gather_opts){.fields = "x,y"}, e)
             : NULL;
}

static bool stop(void *arg, bool cut)
{
    (void)cut;
    return (*(int *)arg)-- == 0;
}

/* Trains from the checkpoint that is there, if one is, until told to stop. The status; GNN_E_INPUT:
 * it was refused. */
static int train(int steps, bool load)
{
    struct gnn_err e = {0};
    struct gnn_trainer t = {0};
    struct gnn_model m = {0};
    struct gnn_model_config c = {
        .layer = &gnn_layer_sage, .nlayers = 2, .width = {3}, .batch_norm = true};
    struct gnn_train_opts o;
    uint64_t epoch, step;
    bool any;
    gnn_train_opts_init(&o);
    o.checkpoint = dir;
    const struct gnn_train_hooks h = {&steps, stop, NULL, NULL};
    struct gnn_source *s = batches(&e);
    if (!s || gnn_model_config_fit(&c, &s->meta->schema, &e) || gnn_model_init(&m, &c, &e))
        abort();
    gnn_model_reset(&m, 1);
    if (gnn_trainer_init(&t, &m, s->meta, &o, &e))
        abort();
    int rc = load ? gnn_checkpoint_at(dir, &epoch, &step, &any, &e) : 0;
    if (!rc && load)
        rc = gnn_trainer_load(&t, &e);
    if (!rc)
        rc = gnn_trainer_run(&t, s, &h, &e);
    if (rc > 0 && rc != GNN_E_STOPPED && (!*e.msg || strchr(e.msg, '\n')))
        abort(); /* a failure without a reason */
    gnn_trainer_release(&t);
    gnn_model_release(&m);
    gnn_source_free(s);
    return rc;
}

static void make(void)
{
    struct gnn_err e = {0};
    char path[256], why[512];
    fuzz_dir_new();
    fuzz_path(dir, "C");
    if (store_make(fuzz_path(path, "S"), 24, 60, false, 5, &e) ||
        gnn_store_open(&store, path, false, &e))
        abort();
    if (train(BEFORE, false) != GNN_E_STOPPED)
        abort();
    fuzz_read("C/checkpoint.safetensors", &file);
    if (gnn_safetensors_parse(&st, file.good, file.ngood, why, sizeof why))
        abort();
}

static void change(const struct edit *x)
{
    const struct gnn_tensor *t = &st.tensor[x->which % st.n];
    const size_t bytes = gnn_dtype_bytes(t->dtype);
    const uint64_t at = (uint64_t)((const uint8_t *)t->data - file.good);
    uint64_t all = 0;
    (void)gnn_tensor_bytes(t, &all);
    switch (x->op % 5) {
    case 0:
        if (all)
            edited_put(&file, at + x->at % (all / bytes) * bytes, x->value, bytes);
        break;
    case 1:
        edited_flip(&file, x->at, x->value);
        break;
    case 2:
        edited_cut(&file, x->at);
        break;
    case 3:
        edited_flip(&file, x->at % (uint64_t)((const uint8_t *)st.tensor[0].data - file.good),
                    x->value);
        break;
    default:
        if (all)
            edited_put(&file, at + x->at % (all / bytes) * bytes + bytes - (bytes < 4 ? bytes : 4),
                       x->value, bytes < 4 ? bytes : 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct edit x;
    if (!fuzz_dir[0])
        make();
    if (!n)
        return 0;
    if (data[0]) {
        data++, n--;
        while (edit_next(&x, &data, &n))
            change(&x);
        fuzz_write("C/checkpoint.safetensors", file.now, file.n);
        edited_restore(&file);
    } else {
        fuzz_write("C/checkpoint.safetensors", data + 1, n - 1);
    }
    const int rc = train(AFTER, true);
    fuzz_accepted += rc == 0 || rc == GNN_E_STOPPED;
    return 0;
}
