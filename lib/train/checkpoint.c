/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: everything the rest of the run depends on, bit for bit. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/rows.h"
#include "lib/model/model_file.h"
#include "lib/train/train_impl.h"

/* How many counters, and slabs beside the parameters, there are; their order is part of the format.
 */
enum { NU64 = 12, NSLABS = GNN_TRAIN_SLABS - 1 };

/* Doubles of a set's best evaluation: value and loss and, of links, what ties make of the value. */
static uint64_t count_best(const struct gnn_trainer *t)
{
    return t->m->c.decoder ? 4 : 2;
}

static uint64_t count_all_best(const struct gnn_trainer *t)
{
    return count_best(t) * t->meta->sampling.nsplits;
}

/* Doubles of the state: scores, and the sums of a regression. */
static uint64_t count_doubles(const struct gnn_trainer *t)
{
    return 2 + count_all_best(t) + gnn_score_sums(&t->train);
}

/* Scores and counts between the trainer and a file: doubles, so that no text conversion is
 * involved, and counts. */
static void copy_scores(struct gnn_trainer *t, bool load, double *f, uint64_t *counts)
{
    struct gnn_score *const r = &t->train;
    const uint64_t sums = gnn_score_sums(r), each = count_best(t), all = count_all_best(t);
    const struct {
        void *own, *file;
        uint64_t bytes;
    } part[] = {{&t->s.best, f, sizeof *f},
                {&r->loss, f + 1, sizeof *f},
                {r->abs_error, f + 2 + all, sums * sizeof *f},
                {&r->rows, counts, sizeof *counts},
                {&r->known, counts + 1, sizeof *counts},
                {&r->correct, counts + 2, sizeof *counts},
                {r->tp, counts + 3, 3 * (uint64_t)r->classes * sizeof *counts}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        if (part[i].bytes)
            memcpy(load ? part[i].own : part[i].file, load ? part[i].file : part[i].own,
                   part[i].bytes);
    for (uint64_t i = 0; i < all; i++) {
        struct gnn_train_eval *const best = &t->best_eval[i / each];
        double *const own[] = {&best->of.value, &best->loss, &best->of.optimistic,
                               &best->of.pessimistic};
        *(load ? own[i % each] : &f[2 + i]) = load ? f[2 + i] : *own[i % each];
    }
}

static int fail_damaged(const char *path, const char *what, uint64_t n, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_INPUT, "%s: damaged: %s is %" PRIu64, path, what, n);
}

/* The first counter that no run can have, or NULL. steps: of an epoch, 0 if that is not known. */
static const char *implausible_counter(const struct gnn_train_state *s, uint64_t epoch_steps,
                                       uint64_t epoch_seeds, uint64_t steps)
{
    if (!s->any)
        return s->epoch || s->step || s->closed || s->t || s->has_best || epoch_steps || epoch_seeds
                   ? "a counter before the first step"
                   : NULL;
    if (steps && (s->t > UINT64_MAX - steps || (s->t + steps - 1) / steps > s->epoch + 1))
        return "the number of optimiser steps";
    if (s->closed ? epoch_steps || epoch_seeds : !epoch_steps || epoch_steps - 1 > s->step)
        return "the number of steps in this epoch";
    if (!s->has_best && (s->best_epoch || s->since_best || s->stopped_early))
        return "the counter of best epochs";
    if (s->best_epoch > s->epoch || (s->has_best && s->best_epoch == s->epoch && !s->closed))
        return "the best epoch";
    if (s->since_best > s->epoch - s->best_epoch)
        return "the number of epochs since the best one";
    return s->stopped_early && !s->closed ? "the flag of early stopping" : NULL;
}

/* Counters as gnn_trainer_save writes them, if they make sense; with what they count of the epoch
 * under way. */
static int unpack_state(struct gnn_train_state *s, const uint64_t *u, uint64_t steps,
                        const char *path, struct gnn_err *e)
{
    /* Indexes of counters in gnn_trainer_save. */
    enum { NFLAGS = 4, DTYPES = NU64 - 1 };
    static const unsigned flag[NFLAGS] = {2, 3, 7, 8};
    static const uint64_t most = UINT64_C(1) << 53; /* nothing that is counted comes so far */
    for (unsigned i = 0; i < NFLAGS; i++)
        if (u[flag[i]] > 1)
            return gnn_fail(e, GNN_E_INPUT, "%s: damaged: %" PRIu64 " where 0 or 1 is expected",
                            path, u[flag[i]]);
    for (unsigned i = 0; i < DTYPES; i++)
        if (u[i] > most)
            return fail_damaged(path, "a counter", u[i], e);
    *s = (struct gnn_train_state){.epoch = u[0],
                                  .step = u[1],
                                  .any = u[2],
                                  .closed = u[3],
                                  .t = u[4],
                                  .best_epoch = u[5],
                                  .since_best = u[6],
                                  .has_best = u[7],
                                  .stopped_early = u[8],
                                  .dtypes = u[DTYPES]};
    if (steps && s->any && s->step >= steps)
        return gnn_fail(e, GNN_E_INPUT,
                        "%s: damaged: made after step %" PRIu64 ", but an epoch has %" PRIu64, path,
                        s->step, steps);
    const char *what = implausible_counter(s, u[9], u[10], steps);
    return what ? gnn_fail(e, GNN_E_INPUT,
                           "%s: damaged: %s does not match epoch %" PRIu64 ", step %" PRIu64, path,
                           what, s->epoch, s->step)
                : 0;
}

/* Scores, and what has been counted of this epoch's rows, of which there are `rows`. */
static int check_scores(const struct gnn_trainer *t, const double *f, const uint64_t *counts,
                        uint64_t rows, const char *path, struct gnn_err *e)
{
    const struct gnn_score *s = &t->train;
    if (!isfinite(f[0]) || !isfinite(f[1]))
        return gnn_fail(e, GNN_E_INPUT, "%s: damaged: a score that is not finite", path);
    for (uint32_t i = 0; i < count_all_best(t); i++)
        if (isinf(f[2 + i])) /* a NaN: not evaluated, or not defined */
            return gnn_fail(e, GNN_E_INPUT, "%s: damaged: a score that is infinite", path);
    for (uint64_t i = 2 + count_all_best(t); i < count_doubles(t); i++)
        if (!isfinite(f[i]))
            return gnn_fail(e, GNN_E_INPUT, "%s: damaged: a sum that is not finite", path);
    if (counts[0] != rows)
        return fail_damaged(path, "the number of rows in this epoch", counts[0], e);
    if (counts[1] / gnn_labels_width(s->task, s->outputs) > rows)
        return fail_damaged(path, "the number of labels in this epoch", counts[1], e);
    for (uint32_t i = 2; i < 3 + 3 * s->classes; i++)
        if (counts[i] > counts[1])
            return fail_damaged(path, "the number of some labels in this epoch", counts[i], e);
    return 0;
}

static void restore_counters(struct gnn_trainer *t, const struct gnn_train_state *s,
                             const uint64_t *u, const double *f, const uint64_t *counts)
{
    t->s = *s;
    /* As of this run: patience may be another. */
    t->s.stopped_early =
        s->closed && s->has_best && t->o.patience && s->since_best >= t->o.patience;
    t->r.steps = u[9];
    t->r.seeds = u[10];
    copy_scores(t, true, (double *)(uintptr_t)f, (uint64_t *)(uintptr_t)counts);
}

static char *file_path(const char *dir, struct gnn_err *e)
{
    return gnn_strf(e, "%s/checkpoint.safetensors", dir);
}

int gnn_train_checkpoint_dir(const char *dir, struct gnn_err *e)
{
    struct stat st;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return gnn_fail_errno(e, "%s: cannot create", dir);
    if (stat(dir, &st))
        return gnn_fail_errno(e, "%s", dir);
    if (!S_ISDIR(st.st_mode))
        return gnn_fail(e, GNN_E_RUN, "%s: not a directory for checkpoints", dir);
    if (access(dir, W_OK | X_OK))
        return gnn_fail_errno(e, "%s: cannot write there", dir);
    return 0;
}

int gnn_train_checkpoint_remove(const struct gnn_trainer *t, struct gnn_err *e)
{
    if (t->comm->rank)
        return 0;
    char *path = file_path(t->o.checkpoint, e);
    if (path && unlink(path) && errno != ENOENT)
        gnn_fail_errno(e, "%s: cannot remove the checkpoint of an earlier run", path);
    gnn_free(path);
    return e->code;
}

struct gnn_temp *gnn_checkpoint_lock(const char *dir, char who[256], struct gnn_err *e)
{
    char *path = gnn_train_checkpoint_dir(dir, e) ? NULL : gnn_strf(e, "%s/checkpoint.lock", dir);
    struct gnn_temp *lock = path ? gnn_temp_lock(path, who, e) : NULL;
    gnn_free(path);
    return lock;
}

/* "state.untrained": the lists of now and of the best parameters, if either names a convolution. */
static bool store_untrained(const struct gnn_trainer *t, uint8_t *list, struct gnn_tensor *x)
{
    const uint64_t n = gnn_train_nconvs(t);
    bool any = false;
    for (uint64_t i = 0; t->m->c.untrained && i < n; i++) {
        list[i] = t->m->c.untrained[i];
        list[n + i] = t->best_untrained[i];
        any = any || list[i] || list[n + i];
    }
    *x = (struct gnn_tensor){
        .name = "state.untrained", .dtype = GNN_U8, .ndim = 1, .shape = {2 * n}, .data = list};
    return any;
}

int gnn_trainer_save(struct gnn_trainer *t, struct gnn_err *e)
{
    const uint32_t np = t->m->nparams, ncounts = 3 + 3 * t->train.classes;
    const uint64_t nf = count_doubles(t);
    struct gnn_train_slab slab[GNN_TRAIN_SLABS];
    json_t *meta = NULL;
    char *path = file_path(t->o.checkpoint, e), *run = gnn_train_run_text(t, e);
    struct gnn_tensor *x = gnn_alloc(np + 7, sizeof(*x), "tensor table", e);
    const struct gnn_tensor **p = gnn_alloc(np + 7, sizeof(*p), "tensor table", e);
    uint8_t *untrained = gnn_alloc(2 * gnn_train_nconvs(t), 1, "edge types", e);
    uint64_t *counts = gnn_alloc(ncounts, sizeof(*counts), "counts", e);
    double *f = gnn_alloc(nf, sizeof(*f), "scores", e);

    if (!path || !run || !x || !p || !untrained || !counts || !f)
        goto out;
    /* All ranks take part in the sums, although only rank 0 writes. */
    if (gnn_train_flush(t, e) || gnn_train_untrained_agree(t, e) || gnn_train_sum_train(t, e))
        goto out;
    if (t->comm->rank) { /* rank 0 writes for all */
        gnn_train_keep_own(t);
        goto out;
    }
    if (gnn_train_checkpoint_dir(t->o.checkpoint, e) || gnn_train_slabs_fetch(t, e) ||
        gnn_train_check_params(t, e))
        goto out;
    meta = gnn_model_describe(t->m, t->m->slab, t->o.provenance, x + 3, e);
    if (!meta)
        goto out;
    if (json_object_set_new(meta, "run", json_string(run))) {
        gnn_fail_nomem(e, strlen(run), "a checkpoint's description");
        goto out;
    }
    const struct gnn_train_state *r = &t->s;
    const uint64_t u[NU64] = {
        r->epoch,      r->step,     r->any,           r->closed,  r->t,       r->best_epoch,
        r->since_best, r->has_best, r->stopped_early, t->r.steps, t->r.seeds, r->dtypes};
    copy_scores(t, false, f, counts);
    gnn_train_slabs_list(t, slab);
    x[0] = (struct gnn_tensor){.name = "state.u64",
                               .dtype = GNN_U64,
                               .ndim = 1,
                               .shape = {NU64},
                               .data = (void *)(uintptr_t)u};
    x[1] = (struct gnn_tensor){
        .name = "state.f64", .dtype = GNN_F64, .ndim = 1, .shape = {nf}, .data = f};
    x[2] = (struct gnn_tensor){
        .name = "state.counts", .dtype = GNN_U64, .ndim = 1, .shape = {ncounts}, .data = counts};
    for (uint32_t i = 0; i < NSLABS; i++)
        x[np + 3 + i] = (struct gnn_tensor){.name = slab[i].name,
                                            .dtype = GNN_F32,
                                            .ndim = 1,
                                            .shape = {slab[i].n},
                                            .data = slab[i].host};
    const uint32_t n = np + 6 + store_untrained(t, untrained, &x[np + 6]);
    gnn_model_order(x, n, p);
    (void)!gnn_st_replace(path, p, n, meta, e);
out:
    json_decref(meta);
    gnn_free(path);
    gnn_free(run);
    gnn_free(x);
    gnn_free(p);
    gnn_free(untrained);
    gnn_free(counts);
    gnn_free(f);
    return e->code;
}

static const void *state_tensor(const struct gnn_st_file *f, const char *path, const char *name,
                                enum gnn_dtype dtype, uint64_t n, struct gnn_err *e)
{
    const struct gnn_tensor *x = gnn_safetensors_find(&f->st, name);
    if (x && x->dtype == dtype && x->ndim == 1 && x->shape[0] == n &&
        (uintptr_t)x->data % gnn_dtype_bytes(dtype) == 0)
        return x->data;
    gnn_fail(e, GNN_E_INPUT, "%s: not a checkpoint of this run (no matching tensor %s)", path,
             name);
    return NULL;
}

static int check_run(const struct gnn_trainer *t, const struct gnn_st_file *f, const char *path,
                     struct gnn_err *e)
{
    char *run = gnn_train_run_text(t, e);
    if (!run)
        return e->code;
    const char *r = json_string_value(json_object_get(f->st.metadata, "run"));
    if (!r)
        gnn_fail(e, GNN_E_INPUT, "%s: not a checkpoint", path);
    else if (strcmp(r, run))
        (void)!gnn_train_run_differs(t, path, r, run, e);
    gnn_free(run);
    return e->code;
}

/* The moments and the best parameters. */
static int restore_slabs(struct gnn_trainer *t, const struct gnn_st_file *f, const char *path,
                         struct gnn_err *e)
{
    struct gnn_train_slab slab[GNN_TRAIN_SLABS];
    uint64_t k;
    gnn_train_slabs_list(t, slab);
    for (uint32_t i = 0; i < NSLABS; i++) {
        const void *from = state_tensor(f, path, slab[i].name, GNN_F32, slab[i].n, e);
        if (!from)
            return e->code;
        memcpy(slab[i].host, from, slab[i].n * sizeof(float));
    }
    for (uint32_t i = 0; i < NSLABS - 1; i++)
        if ((k = gnn_first_not_finite(slab[i].host, slab[i].n)) < slab[i].n)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: element %" PRIu64 " is not finite",
                            path, slab[i].name, k);
    for (k = 0; k < t->m->trained; k++)
        if (t->m2[k] < 0)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: element %" PRIu64 " is negative", path,
                            slab[1].name, k);
    const struct gnn_param *p = gnn_model_not_finite(t->m, t->best, true, &k);
    if (p)
        return gnn_fail(e, GNN_E_INPUT, "%s: tensor %s: element %" PRIu64 ", of %s, is not finite",
                        path, slab[2].name, p->at + k, p->name);
    return 0;
}

/* Without the tensor all convolutions count as trained, also in a file of an earlier version. */
static int restore_untrained(struct gnn_trainer *t, const struct gnn_st_file *f, const char *path,
                             struct gnn_err *e)
{
    const uint64_t n = gnn_train_nconvs(t);
    const bool there = gnn_safetensors_find(&f->st, "state.untrained") != NULL;
    const uint8_t *list = there && t->m->c.untrained
                              ? state_tensor(f, path, "state.untrained", GNN_U8, 2 * n, e)
                              : NULL;
    for (uint64_t i = 0; !e->code && t->m->c.untrained && i < n; i++) {
        t->m->c.untrained[i] = list && list[i];
        t->best_untrained[i] = list && list[n + i];
    }
    return e->code;
}

int gnn_checkpoint_restore(struct gnn_trainer *t, const struct gnn_st_file *f, const char *path,
                           struct gnn_err *e)
{
    struct gnn_train_state s;
    if (check_run(t, f, path, e))
        return e->code;
    const uint64_t *u = state_tensor(f, path, "state.u64", GNN_U64, NU64, e);
    const double *d = state_tensor(f, path, "state.f64", GNN_F64, count_doubles(t), e);
    const uint64_t *c =
        state_tensor(f, path, "state.counts", GNN_U64, 3 + 3 * (uint64_t)t->train.classes, e);
    if (e->code || unpack_state(&s, u, t->meta->sampling.steps[0], path, e) ||
        check_scores(t, d, c, u[10], path, e) || restore_slabs(t, f, path, e) ||
        gnn_model_copy_params(t->m, f, path, true, e) || restore_untrained(t, f, path, e))
        return e->code;
    restore_counters(t, &s, u, d, c);
    gnn_train_keep_own(t);
    t->resumed = true;
    return 0;
}

/* GNN_END when it is not there. */
static int read_file(const char *dir, struct gnn_st_file *f, char **path, struct gnn_err *e)
{
    *f = (struct gnn_st_file){0};
    *path = file_path(dir, e);
    if (!*path)
        return e->code;
    return access(*path, F_OK) && errno == ENOENT ? GNN_END : gnn_st_read(f, *path, e);
}

int gnn_trainer_load(struct gnn_trainer *t, struct gnn_err *e)
{
    struct gnn_st_file f;
    char *path;
    int rc = read_file(t->o.checkpoint, &f, &path, e);
    if (!rc)
        rc = gnn_checkpoint_restore(t, &f, path, e);
    gnn_st_release(&f);
    gnn_free(path);
    /* Also without a file: all ranks must have read the same one, or none. */
    return rc < 0 || !gnn_train_agree(t, "checkpoint", e) ? rc : e->code;
}

int gnn_checkpoint_state(const struct gnn_st_file *f, const char *path, struct gnn_train_state *s,
                         struct gnn_err *e)
{
    const uint64_t *u = state_tensor(f, path, "state.u64", GNN_U64, NU64, e);
    const struct gnn_tensor *d = gnn_safetensors_find(&f->st, "state.f64");
    if (!u || unpack_state(s, u, 0, path, e))
        return e->code;
    if (!d || d->dtype != GNN_F64 || d->ndim != 1 || d->shape[0] < 2 ||
        (uintptr_t)d->data % sizeof(double))
        return gnn_fail(e, GNN_E_INPUT, "%s: not a checkpoint (no matching tensor state.f64)",
                        path);
    s->best = *(const double *)d->data;
    return 0;
}

/* The list of the best parameters in place of that of the last ones, in the description. */
static int best_untrained(struct gnn_model_config *c, struct gnn_st_file *f, const char *path,
                          struct gnn_err *e)
{
    const uint64_t n = (uint64_t)c->nlayers * c->netypes;
    const uint8_t *list = state_tensor(f, path, "state.untrained", GNN_U8, 2 * n, e);
    if (list && !c->untrained)
        c->untrained = gnn_alloc_zero(n, sizeof *c->untrained, "edge types", e);
    for (uint64_t i = 0; !e->code && i < n; i++)
        c->untrained[i] = list[n + i];
    char *text = e->code ? NULL : gnn_model_config_text(c, e);
    if (text && json_object_set_new(f->st.metadata, "gnn", json_string(text)))
        gnn_fail_nomem(e, strlen(text), "a model's description");
    gnn_free(text);
    return e->code;
}

int gnn_checkpoint_best(struct gnn_st_file *f, const char *path, struct gnn_train_state *s,
                        struct gnn_err *e)
{
    struct gnn_model m = {0};
    struct gnn_model_config c = {0};
    const char *text = json_string_value(json_object_get(f->st.metadata, "gnn"));
    if (gnn_checkpoint_state(f, path, s, e) || !s->has_best)
        return e->code;
    if (!text)
        return gnn_fail(e, GNN_E_INPUT, "%s: damaged: no description of the model", path);
    if (gnn_model_config_parse(&c, text, path, e) || gnn_model_layout(&m, &c, e))
        return e->code;
    const float *best = state_tensor(f, path, "state.best", GNN_F32, m.nfloats, e);
    for (uint32_t i = 0; best && i < m.nparams; i++)
        for (size_t k = 0; k < f->st.n; k++)
            if (!strcmp(f->st.tensor[k].name, m.param[i].name))
                f->st.tensor[k].data = (void *)(uintptr_t)(best + m.param[i].at);
    if (best && gnn_safetensors_find(&f->st, "state.untrained"))
        (void)!best_untrained(&m.c, f, path, e);
    gnn_model_release(&m);
    return e->code;
}

int gnn_checkpoint_at(const char *dir, uint64_t *epoch, uint64_t *step, bool *any,
                      struct gnn_err *e)
{
    struct gnn_st_file f;
    struct gnn_train_state s;
    char *path;
    const int rc = read_file(dir, &f, &path, e);
    if (!rc && !gnn_checkpoint_state(&f, path, &s, e)) {
        *epoch = s.epoch;
        *step = s.step;
        *any = s.any;
    }
    gnn_st_release(&f);
    gnn_free(path);
    return rc ? rc : e->code;
}
