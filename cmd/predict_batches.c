/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/predict_batches.h"

#include <string.h>

#include "cmd/cli.h"
#include "cmd/feed.h"
#include "cmd/predict_links.h"
#include "lib/base/mem.h"
#include "lib/data/recipe.h"

/* False: the model does not say how batches were sampled, or there were none. */
static bool read_recipe(const struct gnn_model *m, const char *path, struct gnn_recipe *r)
{
    struct gnn_err e = {0};
    if (!m->recipe)
        return false;
    if (gnn_recipe_parse(r, m->recipe, path, &e))
        cli_fail(&e);
    if (!r->full)
        return true;
    gnn_recipe_release(r);
    return false;
}

void predict_check_layers(const struct gnn_model *m, const char *path, const char *store,
                          bool allowed)
{
    struct gnn_recipe r;
    if (!read_recipe(m, path, &r))
        return;
    const struct gnn_sampling_member *x = gnn_recipe_differs(&r, NULL);
    if (r.dtype)
        cli_note("%s was trained on features that were converted to %s: layer-wise inference uses "
                 "them as they are stored",
                 path, gnn_dtype_name(r.dtype));
    gnn_recipe_release(&r);
    if (x && !allowed)
        cli_usage("%s was trained with --%s: layer-wise inference would use %s: predict with "
                  "--store %s, as it was trained, or allow that with --layer-wise",
                  path, x->option, x->lacks, store);
    if (x)
        cli_note("warning: %s was trained with --%s: layer-wise inference uses %s", path, x->option,
                 x->lacks);
}

/* Times that came with the seeds of a stream are nowhere in a store. */
static void check_times(const struct gnn_sampling *s, const char *path)
{
    if (gnn_sampling_is_temporal(s) && !s->seed_time)
        cli_usage("%s was trained on seeds that came with their times: predict on a stream of "
                  "gnn-sample --seeds FILE --time-rule, or train with --seed-time FIELD",
                  path);
}

/* Features are converted as they were for training, unless --dtype says otherwise. */
static void take_dtype(const struct gnn_recipe *r, const char *path)
{
    const enum gnn_dtype d = feed_dtype();
    const bool given = opt_given(&feed.dtype);
    if (!given && r->dtype) {
        feed_convert(r->dtype);
        cli_note("%s was trained on features that were converted to %s: they are converted here, "
                 "too",
                 path, gnn_dtype_name(r->dtype));
    } else if (r->dtype && d != r->dtype) {
        cli_note("warning: %s was trained on features that were converted to %s (--dtype)", path,
                 gnn_dtype_name(r->dtype));
    } else if (!r->dtype && (d == GNN_F16 || d == GNN_BF16)) {
        cli_note("warning: --dtype %s: %s does not say that it was trained on features that were "
                 "converted",
                 gnn_dtype_name(d), path);
    }
}

struct gnn_source *predict_draw(const struct gnn_model *m, const char *path,
                                const struct opt_list *sets)
{
    struct gnn_err e = {0};
    struct gnn_recipe r;
    struct gnn_meta meta;
    struct gnn_sampler_opts s;
    uint64_t epoch;
    if (!read_recipe(m, path, &r))
        cli_usage(
            "--store: %s does not say how to draw batches: it was trained on full batches, or "
            "by another program or version: gnn-predict %s %s",
            path, feed.store.path, path);
    if (m->c.decoder)
        predict_links_choose(m, path, &r);
    if (gnn_recipe_sampling(&r, &feed.store.meta.schema, m->c.target, path, &meta, &epoch, &e))
        cli_fail(&e);
    take_dtype(&r, path);
    gnn_recipe_release(&r);
    if (!m->c.decoder)
        check_times(&meta.sampling, path);
    gnn_sampler_opts_init(&s);
    s.sampling = meta.sampling;
    s.split = sets->n ? sets->v[0] : NULL;
    s.eval = sets->v + (sets->n > 0);
    s.neval = sets->n ? sets->n - 1 : 0;
    s.epoch_from = epoch;
    s.epoch_to = epoch + 1;
    if (m->c.decoder)
        predict_links_draw(&s);
    struct gnn_source *src = feed_open(&s);
    gnn_meta_release(&meta);
    return src;
}

/* What features were converted to shows in the batches alone. */
static bool other_dtype(const struct gnn_recipe *r, struct gnn_source **src)
{
    struct gnn_err e = {0};
    const struct gnn_batch *b;
    if (!r->dtype)
        return false; /* perhaps it was not recorded yet */
    if (!(*src = gnn_source_ahead(*src, &b, &e)))
        cli_fail(&e);
    return b && gnn_batch_narrowed(b, (*src)->meta) != r->dtype;
}

void predict_compare(const struct gnn_model *m, const char *path, struct gnn_source **src)
{
    struct gnn_err e = {0};
    struct gnn_recipe r;
    if (!read_recipe(m, path, &r))
        return;
    json_t *sampling = gnn_meta_sampling_json((*src)->meta, &e);
    if (!sampling)
        cli_fail(&e);
    const struct gnn_sampling_member *x = gnn_recipe_differs(&r, sampling);
    const char *option = x ? x->option : other_dtype(&r, src) ? "dtype" : NULL;
    if (option)
        cli_note("warning: %s was trained on batches that differ from these by --%s", path, option);
    json_decref(sampling);
    gnn_recipe_release(&r);
}
