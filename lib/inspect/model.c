/* SPDX-License-Identifier: Apache-2.0 */
/* Models, checkpoints and state dicts: what is in them, whether it holds, where two differ. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inspect/inspect.h"
#include "lib/inspect/differ.h"
#include "lib/inspect/report.h"
#include "lib/base/json.h"
#include "lib/base/plural.h"
#include "lib/model/model_file.h"
#include "lib/model/layer.h"
#include "lib/train/trainer.h"

enum { FEW = 32 }; /* tensors that are listed unasked */

static const char *text_of(const struct gnn_st_file *f, const char *key)
{
    return json_string_value(json_object_get(f->st.metadata, key));
}

static bool is_state(const struct gnn_tensor *t)
{
    return !strncmp(t->name, "state.", 6);
}

/* {"tensors", "numbers", "bytes"} of the parameters. */
static json_t *parameter_totals(const struct gnn_st_file *f)
{
    uint64_t tensors = 0, numbers = 0, bytes = 0;
    for (size_t i = 0; i < f->st.n; i++) {
        uint64_t n = 0, size = 0;
        if (is_state(&f->st.tensor[i]) || !gnn_tensor_count(&f->st.tensor[i], &n) ||
            !gnn_tensor_bytes(&f->st.tensor[i], &size))
            continue;
        tensors++;
        numbers += n;
        bytes += size;
    }
    return json_pack("{s:o, s:o, s:o}", "tensors", report_num(tensors), "numbers",
                     report_num(numbers), "bytes", report_num(bytes));
}

/* What a file from elsewhere looks like; or why it looks like nothing that is known. */
static json_t *guess_kind(const struct gnn_st_file *f, const char *path, bool *bad)
{
    struct gnn_model_config c = {0};
    struct gnn_err why = {0};
    if (gnn_model_guess(&c, f, path, &why))
        return json_pack("{s:b, s:s}", "guessed", 1, "unknown", why.msg);
    json_t *width = json_array();
    for (uint32_t l = 0; l < c.nlayers; l++)
        report_push(width, report_num(c.width[l]), bad);
    json_t *o = json_pack("{s:b, s:s, s:o, s:b, s:b}", "guessed", 1, "kind", c.layer->name, "width",
                          width, "layer_norm", c.layer_norm, "batch_norm", c.batch_norm);
    gnn_model_put_options(o, &c);
    gnn_model_config_release(&c);
    return o;
}

/* "adam" of "..., optimizer adam, ..." in a run's description; NULL: it has no such word. */
static const char *word_at(const char *run, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strstr(run, word); at; at = strstr(at + n, word))
        if (at > run && at[-1] == ' ' && at[n] == ' ')
            return at + n + 1;
    return NULL;
}

static int put_training(json_t *o, const struct gnn_st_file *f, const char *path, bool *bad,
                        struct gnn_err *e)
{
    static const char *const words[] = {"optimizer", "schedule", "metric"};
    const char *run = text_of(f, "run"), *lr = word_at(run, "lr");
    struct gnn_train_state s;
    if (gnn_checkpoint_state(f, path, &s, e))
        return e->code;
    json_t *t =
        json_pack("{s:b, s:o, s:o, s:b, s:o, s:o*, s:o*, s:o*, s:b}", "any", s.any, "epoch",
                  report_num(s.epoch), "step", report_num(s.step), "epoch_complete", s.closed,
                  "optimizer_steps", report_num(s.t), "best_epoch",
                  s.has_best ? report_num(s.best_epoch) : NULL, "best",
                  s.has_best ? report_real(s.best) : NULL, "epochs_since_best",
                  s.has_best ? report_num(s.since_best) : NULL, "stopped_early", s.stopped_early);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = word_at(run, words[i]);
        if (at)
            report_put(t, words[i], json_stringn(at, strcspn(at, ",;")), bad);
    }
    if (lr)
        report_put(t, "lr", report_real(strtod(lr, NULL)), bad);
    report_put(t, "run", json_string(run), bad);
    report_put(o, "training", t, bad);
    return 0;
}

static int report_file(const struct gnn_st_file *f, const char *path, unsigned what, json_t *o,
                       struct gnn_err *e)
{
    const char *gnn = text_of(f, "gnn"), *line = text_of(f, "provenance"),
               *training = text_of(f, "training");
    bool bad = false;
    json_t *architecture =
               gnn ? gnn_json_parse(gnn, strlen(gnn), path, e) : guess_kind(f, path, &bad),
           *trained_on = training ? gnn_json_parse(training, strlen(training), path, e) : NULL,
           *x = json_pack("{s:s, s:s, s:o, s:b, s:o, s:o*, s:o}", "kind",
                          gnn_st_checkpoint(f) ? "checkpoint"
                          : gnn                ? "model"
                                               : "state dict",
                          "path", path, "bytes", report_num(f->nbytes), "checksum", f->st.summed,
                          "architecture", architecture, "trained_on", trained_on, "parameters",
                          parameter_totals(f));
    bad = bad || json_object_update(o, x);
    json_decref(x);
    if (e->code || (gnn_st_checkpoint(f) && put_training(o, f, path, &bad, e)))
        return e->code;
    report_put(o, "provenance", line ? json_pack("[s]", line) : json_array(), &bad);
    if ((what & GNN_REPORT_TENSORS) || f->st.n <= FEW) {
        json_t *list = json_array();
        for (size_t i = 0; i < f->st.n; i++)
            report_push(list, gnn_report_tensor(f->st.by_name[i], &bad), &bad);
        report_put(o, "tensors", list, &bad);
    }
    return bad ? no_json(e) : 0;
}

int gnn_report_model(const char *path, unsigned what, json_t **out, struct gnn_err *e)
{
    struct gnn_st_file f;
    if (gnn_st_read(&f, path, e))
        return e->code;
    *out = json_object();
    (void)!report_file(&f, path, what, *out, e);
    gnn_st_release(&f);
    return e->code;
}

static int prove_all(const struct gnn_st_file *f, const char *path, json_t *out, struct gnn_err *e)
{
    struct gnn_model m;
    struct gnn_train_state s;
    if (gnn_report_proved(out, e, "format: %zu tensor%s in %" PRIu64 " byte%s", f->st.n,
                          gnn_plural(f->st.n), f->nbytes, gnn_plural(f->nbytes)))
        return e->code;
    if (!f->st.summed)
        return gnn_report_proved(out, e, "no checksum: only the format is verified");
    if (gnn_report_proved(out, e, "checksum: of all bytes") ||
        gnn_model_open(&m, f, path, NULL, NULL, e))
        return e->code;
    (void)!gnn_report_proved(out, e, "parameters: %u, as the description says, and finite",
                             m.nparams);
    gnn_model_release(&m);
    if (e->code || !gnn_st_checkpoint(f))
        return e->code;
    if (gnn_checkpoint_state(f, path, &s, e))
        return e->code;
    return gnn_report_proved(out, e, "counters: of epoch %" PRIu64 ", step %" PRIu64, s.epoch,
                             s.step);
}

int gnn_verify_model(const char *path, json_t *out, struct gnn_err *e)
{
    struct gnn_st_file f;
    if (gnn_st_read(&f, path, e))
        return e->code;
    (void)!prove_all(&f, path, out, e);
    gnn_st_release(&f);
    return e->code;
}

/* A text of the metadata: as JSON, member by member, or as it is. */
static int differ_meta(struct gnn_diff *d, const struct gnn_st_file *a, const struct gnn_st_file *b,
                       const char *key, bool is_json, struct gnn_err *e)
{
    const char *x = text_of(a, key), *y = text_of(b, key);
    if ((!x && !y) || (x && y && !strcmp(x, y)))
        return 0;
    if (!x || !y || !is_json)
        return gnn_differ_text(d, x ? x : "(absent)", y ? y : "(absent)", "%s", key);
    json_t *p = gnn_json_parse(x, strlen(x), key, e), *q = gnn_json_parse(y, strlen(y), key, e);
    if (p && q)
        gnn_differ_json(d, p, q, key);
    json_decref(p);
    json_decref(q);
    return e->code;
}

static int compare_files(struct gnn_diff *d, const struct gnn_st_file *a,
                         const struct gnn_st_file *b, unsigned flags, struct gnn_err *e)
{
    int rc = differ_meta(d, a, b, "gnn", true, e);
    if (!rc && !d->differ)
        rc = differ_meta(d, a, b, "run", false, e);
    for (size_t i = 0; !rc && !d->differ && i < a->st.n && i < b->st.n; i++)
        gnn_differ_tensor(d, a->st.by_name[i], b->st.by_name[i], "model");
    if (!rc && !d->differ && a->st.n != b->st.n)
        gnn_differ_text(d, a->st.n > b->st.n ? a->st.by_name[b->st.n]->name : "(absent)",
                        b->st.n > a->st.n ? b->st.by_name[a->st.n]->name : "(absent)",
                        "model: name of tensor");
    if (!rc && !d->differ)
        rc = differ_meta(d, a, b, "training", true, e);
    if (!rc && !d->differ && (flags & GNN_DIFF_PROVENANCE))
        rc = differ_meta(d, a, b, "provenance", false, e);
    return rc;
}

int gnn_diff_models(const char *path_a, const char *path_b, unsigned flags, struct gnn_diff *d,
                    struct gnn_err *e)
{
    struct gnn_st_file a = {0}, b = {0};
    if (!gnn_st_read(&a, path_a, e) && !gnn_st_read(&b, path_b, e))
        (void)!compare_files(d, &a, &b, flags, e);
    gnn_st_release(&a);
    gnn_st_release(&b);
    return e->code;
}
