/* SPDX-License-Identifier: Apache-2.0 */
/* Models and checkpoints as bytes: every bit that flips and every cut is refused, and so is every
 * number, under a checksum that holds, that no run comes to. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/mem.h"
#include "lib/model/model_file.h"
#include "lib/model/layer.h"
#include "lib/train/trainer.h"
#include "scratch.h"
#include "tap.h"

enum { STEPS = 5, WORDS = 12 };

struct file {
    char *bytes;
    size_t n;
};

static struct file read_file(const char *path)
{
    struct file f = {0};
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END))
        abort();
    f.n = (size_t)ftell(in);
    rewind(in);
    f.bytes = malloc(f.n);
    if (!f.bytes || fread(f.bytes, 1, f.n, in) != f.n)
        abort();
    fclose(in);
    return f;
}

/* The bytes as a file, of which the library has a copy. */
static int parse(struct gnn_st_file *st, const char *bytes, size_t n, struct gnn_err *e)
{
    *e = (struct gnn_err){0};
    void *copy = gnn_alloc(n, 1, "copy", e);
    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    return gnn_st_parse(st, copy, n, "F", e);
}

/* How many flips of one bit, and how many cuts, are not refused as they should be. */
static unsigned accepted(const struct file *f, bool cut)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < (cut ? f->n : 8 * f->n); i++) {
        struct gnn_st_file st = {0};
        struct gnn_err e;
        if (!cut)
            f->bytes[i / 8] = (char)(f->bytes[i / 8] ^ 1 << i % 8);
        if (parse(&st, f->bytes, cut ? i : f->n, &e) != GNN_E_INPUT || strncmp(e.msg, "F: ", 3) ||
            strchr(e.msg, '\n')) {
            printf("# %s at byte %zu: %s\n", cut ? "cut" : "flip", cut ? i : i / 8, e.msg);
            wrong++;
            gnn_st_release(&st);
        }
        if (!cut)
            f->bytes[i / 8] = (char)(f->bytes[i / 8] ^ 1 << i % 8);
    }
    return wrong;
}

/* A checksum over what the bytes are now. */
static void sum_again(struct file *f)
{
    static const char key[] = "\"" GNN_SAFETENSORS_CHECKSUM "\":\"";
    char *at = memmem(f->bytes, f->n, key, sizeof key - 1);
    if (!at)
        abort();
    memcpy(at + sizeof key - 1, GNN_SAFETENSORS_NO_DIGITS, sizeof GNN_SAFETENSORS_NO_DIGITS - 1);
    gnn_safetensors_sum(f->bytes, f->n, NULL, 0);
}

/* ---- what is written ---- */

static void make_model(struct gnn_model *m)
{
    struct gnn_err e = {0};
    struct gnn_schema s = {0};
    struct gnn_model_config c = {
        .layer = &gnn_layer_sage, .nlayers = 2, .width = {2}, .batch_norm = true};
    if (gnn_schema_add_ntype(&s, "node", 60, &e) ||
        gnn_schema_add_nfield(&s, 0, "x", GNN_F32, 3, &e) ||
        gnn_schema_add_etype(&s, 0, "to", 0, 100, &e))
        abort();
    s.task = GNN_TASK_MULTICLASS;
    s.nclasses = 2;
    if (gnn_model_config_fit(&c, &s, &e) || gnn_model_init(m, &c, &e))
        abort();
    gnn_model_reset(m, 1);
    gnn_schema_release(&s);
}

static void make_meta(struct gnn_meta *m)
{
    static const char *const sets[] = {"train", "valid"};
    struct gnn_err e = {0};
    struct gnn_sampling *s = &m->sampling;
    *m = (struct gnn_meta){.is_stream = true, .identity = "0123456789abcdef"};
    if (gnn_schema_add_ntype(&m->schema, "node", 60, &e) ||
        gnn_schema_add_etype(&m->schema, 0, "to", 0, 100, &e))
        abort();
    s->nhops = 2;
    s->batch_size = 8;
    s->nsplits = 2;
    s->fanout = gnn_alloc_zero(2, sizeof *s->fanout, "fan-out", &e);
    s->split = gnn_alloc_zero(2, sizeof *s->split, "sets", &e);
    s->steps = gnn_alloc_zero(2, sizeof *s->steps, "sets", &e);
    s->split_seeds = gnn_alloc_zero(2, sizeof *s->split_seeds, "sets", &e);
    for (int i = 0; i < 2; i++) {
        s->split[i] = gnn_strdup(sets[i], &e);
        s->steps[i] = STEPS;
        s->split_seeds[i] = 40;
        s->fanout[i] = 3;
    }
    if (e.code)
        abort();
}

/* A run in the middle of its third epoch; the first was the best one. */
static void make_trainer(struct gnn_trainer *t, struct gnn_model *m, const struct gnn_meta *meta)
{
    struct gnn_err e = {0};
    struct gnn_train_opts o;
    gnn_train_opts_init(&o);
    o.checkpoint = "C";
    if (gnn_trainer_init(t, m, meta, &o, &e)) {
        printf("# %s\n", e.msg);
        abort();
    }
    t->s = (struct gnn_train_state){.epoch = 2,
                                    .step = 1,
                                    .any = true,
                                    .t = 12,
                                    .since_best = 1,
                                    .has_best = true,
                                    .best = 0.5,
                                    .dtypes = 42};
    t->r.steps = 2;
    t->r.seeds = t->train.rows = t->train.known = 16;
    t->train.correct = t->train.tp[0] = 10;
    t->train.fp[1] = t->train.fn[0] = 6;
    t->train.loss = 3.5;
    for (uint64_t i = 0; i < m->trained; i++) {
        t->m1[i] = 0.25f;
        t->m2[i] = 0.5f;
    }
    memcpy(t->best, m->slab, m->nfloats * sizeof(float));
    if (gnn_trainer_save(t, &e)) {
        printf("# %s\n", e.msg);
        abort();
    }
}

/* ---- damage ---- */

static void test_damage(const char *what, const char *path)
{
    struct file f = read_file(path);
    struct gnn_st_file st;
    struct gnn_err e;
    ok(!parse(&st, f.bytes, f.n, &e) && st.st.summed,
       "gnn_st_parse reads %s of %zu bytes, whose checksum holds %s", what, f.n, e.msg);
    gnn_st_release(&st);
    ok(accepted(&f, false) == 0, "gnn_st_parse refuses %s with any one bit flipped", what);
    ok(accepted(&f, true) == 0, "gnn_st_parse refuses %s cut at any byte", what);

    char *at = memmem(f.bytes, f.n, "\"gnn\":", 6);
    at[3] = 'm';
    sum_again(&f);
    ok(parse(&st, f.bytes, f.n, &e) == GNN_E_INPUT && strstr(e.msg, "not the model's description"),
       "gnn_st_parse refuses %s with a checksum and no description: %s", what, e.msg);
    at[3] = 'n';
    sum_again(&f);
    ok(!parse(&st, f.bytes, f.n, &e),
       "gnn_st_parse accepts %s with both description and checksum %s", what, e.msg);
    gnn_st_release(&st);
    at = memmem(f.bytes, f.n, GNN_SAFETENSORS_CHECKSUM, 12);
    *at = 'G';
    ok(parse(&st, f.bytes, f.n, &e) == GNN_E_INPUT && strstr(e.msg, "without its checksum"),
       "gnn_st_parse refuses %s with a description and no checksum: %s", what, e.msg);
    free(f.bytes);
}

/* ---- numbers that no run comes to ---- */

static char *tensor_at(struct file *f, const char *name)
{
    struct gnn_st_file st;
    struct gnn_err e;
    if (parse(&st, f->bytes, f->n, &e))
        abort();
    const struct gnn_tensor *t = gnn_safetensors_find(&st.st, name);
    if (!t)
        abort();
    char *at = f->bytes + ((char *)t->data - (char *)st.bytes);
    gnn_st_release(&st);
    return at;
}

static int restore(struct gnn_trainer *t, const struct file *f, struct gnn_err *e)
{
    struct gnn_st_file st;
    const int rc = parse(&st, f->bytes, f->n, e);
    if (!rc)
        (void)!gnn_checkpoint_restore(t, &st, "F", e);
    gnn_st_release(&st);
    return e->code;
}

/* With `bytes` at element i of a tensor, under a checksum that holds. */
static void refused(struct gnn_trainer *t, const struct file *good, const char *name, size_t i,
                    const void *bytes, size_t size, const char *why)
{
    struct file f = {malloc(good->n), good->n};
    struct gnn_err e;
    if (!f.bytes)
        abort();
    memcpy(f.bytes, good->bytes, f.n);
    memcpy(tensor_at(&f, name) + i * size, bytes, size);
    sum_again(&f);
    ok(restore(t, &f, &e) == GNN_E_INPUT && !strncmp(e.msg, "F: ", 3),
       "gnn_checkpoint_restore refuses %s[%zu], %s: %s", name, i, why, e.msg);
    free(f.bytes);
}

static void test_numbers(struct gnn_trainer *t)
{
    static const struct {
        unsigned at;
        uint64_t value;
        const char *why;
    } words[] = {
        {0, UINT64_MAX, "an epoch past all"},
        {0, 0, "more steps than fit the epoch"},
        {1, STEPS, "a step that no epoch has"},
        {1, 0, "more steps of the epoch than done"},
        {2, 2, "a boolean of 2"},
        {2, 0, "nothing done"},
        {3, UINT64_MAX, "a boolean"},
        {3, 1, "closed, with steps open"},
        {4, UINT64_C(1) << 63, "2^63 steps of the optimiser"},
        {4, 16, "too many of them"},
        {5, 3, "a best epoch to come"},
        {5, 2, "the best epoch is this one"},
        {6, 3, "since before the first epoch"},
        {7, 256, "a boolean of 256"},
        {7, 0, "no best epoch, but epochs since"},
        {8, 2, "a boolean of 2"},
        {8, 1, "stopped in mid-epoch"},
        {9, 0, "no steps of the epoch"},
        {9, 3, "too many steps of the epoch"},
        {10, 17, "other seeds than rows"},
        {10, UINT64_MAX, "seeds past all"},
    };
    static const double not_finite[] = {NAN, INFINITY, -INFINITY};
    static const float bad[] = {NAN, INFINITY, -1};
    struct file f = read_file("C/checkpoint.safetensors");
    struct gnn_err e;
    t->s = (struct gnn_train_state){0};
    t->r.seeds = 0;
    ok(!restore(t, &f, &e) && t->s.epoch == 2 && t->s.t == 12 && t->s.best == 0.5 &&
           t->r.seeds == 16 && t->train.correct == 10 && t->resumed,
       "gnn_checkpoint_restore restores a run %s", e.msg);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        refused(t, &f, "state.u64", words[i].at, &words[i].value, sizeof words[i].value,
                words[i].why);
    for (size_t i = 0; i < 3; i++) {
        refused(t, &f, "state.f64", 0, &not_finite[i], sizeof(double), "the best value");
        refused(t, &f, "state.f64", 1, &not_finite[i], sizeof(double), "the loss so far");
        refused(t, &f, "state.moment2", 3, &bad[i], sizeof(float), "a second moment");
    }
    refused(t, &f, "state.f64", 4, &not_finite[1], sizeof(double), "a value of the best epoch");
    for (unsigned i = 0; i < 3 + 3 * 2; i++)
        refused(t, &f, "state.counts", i, &(uint64_t){17}, sizeof(uint64_t), "more than rows");
    refused(t, &f, "state.moment1", 0, &bad[0], sizeof(float), "a first moment");
    refused(t, &f, "state.best", 0, &bad[1], sizeof(float), "a parameter of the best epoch");
    refused(t, &f, "convs.0.lin_l.weight", 1, &bad[0], sizeof(float), "a parameter");
    refused(t, &f, "norms.0.module.num_batches_tracked", 0, &(int64_t){-1}, sizeof(int64_t),
            "a count");
    free(f.bytes);
}

/* ---- descriptions that promise what is not there ---- */

static void promise(const char *kind, const char *widths, const char *types, int target,
                    const char *want)
{
    struct gnn_err e = {0};
    struct gnn_st_file st;
    struct gnn_model m;
    size_t n;
    char *head,
        *text = gnn_strf(
            &e,
            "{\"version\":1,\"kind\":%s,\"width\":[%s],\"layer_norm\":false,\"residual\":false,\"feature_norm\":\"none\","
            "\"task\":\"multiclass\",\"target\":%d,\"node_types\":[%s],\"edge_types\":[[0,\"to\",0]]}",
            kind, widths, target, types);
    json_t *meta =
        json_pack("{s:s, s:s}", "gnn", text, GNN_SAFETENSORS_CHECKSUM, GNN_SAFETENSORS_NO_DIGITS);
    if (!meta || gnn_safetensors_header(NULL, 0, meta, &head, &n))
        abort();
    gnn_safetensors_sum(head, n, NULL, 0);
    if (parse(&st, head, n, &e))
        abort();
    ok(gnn_model_open(&m, &st, "F", NULL, NULL, &e) == GNN_E_INPUT && strstr(e.msg, want),
       "gnn_model_open refuses a description with more than its file holds: %s", e.msg);
    gnn_st_release(&st);
    json_decref(meta);
    free(head);
    gnn_free(text);
}

/* Members of descriptions, and what is said of them. */
static void test_members(void)
{
    static const struct {
        const char *kind, *want;
    } bad[] = {
        {"\"gin\",\"train_eps\":true", "no tensor convs.0.eps"},
        {"\"sage\",\"aggr\":\"max\",\"project\":true", "no tensor convs.0.lin_l.weight"},
        {"\"gat\",\"heads\":2,\"last_heads\":\"concat\",\"self_loops\":false",
         "no tensor convs.0.lin.weight"},
        {"\"rgcn\",\"bases\":65536", "no tensor convs.0.weight"},
        {"\"hgt\",\"heads\":4", "no tensor convs.0.kqv_lin.lins.node.weight"},
        {"\"gat\",\"heads\":3", "do not fill 4 columns"},
        {"\"sage\",\"train_eps\":true", "cannot read member train_eps"},
        {"\"sage\",\"dropout\":0.5", "cannot read member dropout"},
        {"\"gin\",\"train_eps\":1", "cannot read member train_eps"},
        {"\"sage\",\"aggr\":\"most\"", "cannot read member aggr"},
        {"\"sage\",\"aggr\":1", "cannot read member aggr"},
        {"\"gat\",\"heads\":2.5", "cannot read member heads"},
        {"\"gat\",\"heads\":65", "cannot read member heads"},
        {"\"hgt\",\"heads\":0", "cannot read member heads"},
        {"\"gat\",\"last_heads\":\"sum\"", "cannot read member last_heads"},
        {"\"gat\",\"attention_dropout\":1", "cannot read member attention_dropout"},
        {"\"gatv2\",\"share_weights\":1", "cannot read member share_weights"},
        {"\"rgcn\",\"bases\":65537", "cannot read member bases"},
        {"\"rgcn\",\"bases\":-1", "cannot read member bases"},
        {"\"transformer\"", "cannot read member kind"},
        {"\"gine\"", "cannot read member edge_features"},
        {"\"sage\",\"edge_features\":true", "cannot read member edge_features"},
        {"\"sage\",\"edge_weight\":\"w\"", "cannot read member edge_weight"},
        {"\"gcn\",\"edge_weight\":\"\"", "cannot read member edge_weight"},
        {"\"sage\",\"ffn\":true", "cannot read member ffn"},
        {"\"sage\",\"residual_projection\":true", "cannot read member residual_projection"},
        {"\"sage\",\"jk\":\"cat\"", "cannot read member jk"},
        {"\"sage\",\"head\":[]", "cannot read member head"},
        {"\"sage\",\"head\":[1099511627776,4]", "cannot read member head"},
        {"\"sage\",\"encoder\":0", "cannot read member encoder"},
        {"\"sage\",\"activation\":\"none\"", "cannot read member activation"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        promise(bad[i].kind, "4,4", "{\"name\":\"node\",\"features\":16}", 0, bad[i].want);
    promise("\"sage\"", "4,0", "{\"name\":\"node\",\"features\":16}", 0, "member width");
    promise("\"sage\"", "4", "{\"name\":\"node\",\"features\":-1}", 0, "member node_types");
    promise("\"sage\"", "4", "{\"name\":\"node\",\"features\":16}", 1, "member target");
}

int main(void)
{
    struct gnn_err e = {0};
    struct gnn_model m;
    struct gnn_meta meta;
    struct gnn_trainer t;
    scratch_enter();
    make_model(&m);
    make_meta(&meta);
    FILE *out = fopen("model", "wb");
    if (!out || gnn_model_write(&m, m.slab, "by this test", dup(fileno(out)), "model", &e))
        abort();
    fclose(out);
    make_trainer(&t, &m, &meta);
    test_damage("a model", "model");
    test_damage("a checkpoint", "C/checkpoint.safetensors");
    test_numbers(&t);
    promise("\"sage\"", "1048576,4", "{\"name\":\"node\",\"features\":1024}", 0,
            "parameters in 384 bytes");
    promise("\"sage\"", "4,4",
            "{\"name\":\"node\",\"features\":16},{\"name\":\"b\",\"features\":16}", 1,
            "no edge type leads to the labelled node type b");
    promise("\"sage\"", "4,4", "{\"name\":\"node\",\"features\":16}", 0,
            "no tensor convs.0.lin_l.weight");
    test_members();
    gnn_trainer_release(&t);
    gnn_model_release(&m);
    gnn_meta_release(&meta);
    return scratch_done();
}
