/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/predict_links.h"

#include <string.h>

#include "cmd/cli.h"
#include "cmd/feed.h"
#include "cmd/predict_opts.h"
#include "cmd/predict_run.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/type_map.h"
#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/predict/link_outputs.h"

/* Whether --seed-type names that of heads. */
static bool is_heads(const struct gnn_model_config *c)
{
    const char *type = predict.seed_type, *heads = c->ntype[c->heads].name,
               *tails = c->ntype[c->target].name;
    if (!type || !strcmp(type, tails))
        return false;
    if (strcmp(type, heads) != 0)
        cli_usage("--seed-type %s: the model has embeddings of %s%s%s", type, heads,
                  c->heads == c->target ? "" : " and ", c->heads == c->target ? "" : tails);
    return true;
}

void predict_links_check(const struct gnn_model *m, const char *path, bool batches)
{
    if (!m->c.decoder) {
        predict_opts_refuse_links("requires a model of links");
        opt_refuse(OPTS(&predict.seed_type), "requires a model of links");
        return;
    }
    predict.heads = is_heads(&m->c);
    if (!batches && (predict.sets.n || predict.none))
        cli_usage("%s is a model of links, whose metrics require batches: gnn-predict --store %s "
                  "--split SET %s",
                  path, feed.store_path, path);
    if (batches && feed.store_path && !predict.seeds && !predict.sets.n)
        cli_usage("%s is a model of links: --seeds FILE or --split SET is missing, the links to "
                  "predict",
                  path);
}

bool predict_links_text(const struct gnn_model *m)
{
    const bool named = predict.output && strcmp(predict.output, "-") != 0;
    return predict_opts_csv() || (!named && predict_output_kind(m, false) != GNN_OUT_EMBEDDINGS);
}

/* The edge type of the store that the model learned, which it may call otherwise. */
static int trained_type(const struct gnn_recipe *r)
{
    const struct gnn_schema *c = &feed.store.meta.schema;
    struct gnn_schema as;
    type_map_schema(&predict.map, c, feed.store.path, &as);
    const char *type = gnn_recipe_links(r);
    const int et = type ? gnn_schema_find_etype(&as, type) : -1;
    gnn_schema_release(&as);
    return et;
}

/* --links, or what the model was trained on. */
static uint32_t choose_type(const struct gnn_model *m, const char *path, const struct gnn_recipe *r)
{
    static char key[GNN_ETYPE_KEY_CAPACITY];
    const struct gnn_schema *c = &feed.store.meta.schema;
    struct gnn_err e = {0};
    const char **type = &sampling_given.links.type;
    const int et = *type ? gnn_schema_need_etype(c, feed.store.path, *type, &e) : trained_type(r);
    if (et < 0 && e.code)
        cli_fail(&e);
    if (et < 0)
        cli_usage("%s has no edges of the type that %s was trained on: --links S/R/D is missing",
                  feed.store.path, path);
    if (c->etype[et].src != m->c.heads || c->etype[et].dst != m->c.target)
        cli_usage("--links %s: %s is of links from %s to %s", *type, path,
                  m->c.ntype[m->c.heads].name, m->c.ntype[m->c.target].name);
    if (!*type) {
        *type = gnn_etype_key(c, (uint32_t)et, key, sizeof key);
        cli_note("links are of type %s, which %s was trained on", *type, path);
    }
    return (uint32_t)et;
}

static bool is_same_set(const struct gnn_schema *c, uint32_t etype, const char *a, const char *b)
{
    const int set = gnn_schema_find_links(c, etype, a);
    return set >= 0 && set == gnn_schema_find_links(c, etype, b);
}

/* A set would be measured twice, perhaps by two names. */
static void refuse_repeated(uint32_t etype)
{
    const struct gnn_schema *c = &feed.store.meta.schema;
    const struct opt_list *sets = &predict.sets;
    for (uint32_t i = 1; i < sets->n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(sets->v[k], sets->v[i]) || is_same_set(c, etype, sets->v[k], sets->v[i]))
                cli_usage("--split: set %s is named twice", sets->v[i]);
}

/* As opt_all_given, and the negatives that the store gives. */
static bool has_negatives(const void *arg, const char *option)
{
    return !strcmp(option, "negatives") || opt_all_given.has(arg, option);
}

void predict_links_choose(const struct gnn_model *m, const char *path, struct gnn_recipe *r)
{
    struct gnn_err e = {0};
    const struct gnn_schema *c = &feed.store.meta.schema;
    struct gnn_given options = opt_all_given;
    refuse_repeated(choose_type(m, path, r));
    struct gnn_links *l = &sampling_given.links;
    if (!l->negatives && !l->eval_negatives &&
        sampling_opts_take_given(c, predict.sets.v, predict.sets.n)) {
        l->negatives = "given";
        options.has = has_negatives;
    }
    const struct gnn_meta given = {.schema = *c, .sampling = sampling_given};
    if (gnn_recipe_take_links(r, &given, &options, predict.seeds, &e))
        cli_fail(&e);
}

void predict_links_draw(struct gnn_sampler_opts *s)
{
    s->evaluates = s->ids = true;
    if (predict.seeds)
        s->seeds_fd = ranks_in(feed.comm, predict.seeds, &s->seeds_name);
}

static void show_links(void *arg, uint64_t done, uint64_t total)
{
    (void)arg;
    cli_progress("links", done, total, NULL);
}

void predict_links(const struct gnn_model *m, struct gnn_source *src, const char *graph,
                   const struct gnn_ops *ops, struct gnn_measure kind, int out, const char *name)
{
    const struct gnn_sampling *sampling = &src->meta->sampling;
    struct gnn_err e = {0};
    struct gnn_predict_links q;
    if (feed.store_path)
        sampling_opts_tell_messages(&feed.store.meta.schema, sampling);
    bool *wanted = predict.sets.n && !feed.store_path ? predict_wanted(sampling, graph) : NULL;
    const double start = gnn_clock();
    struct gnn_predict_links_opts o = {.ops = ops,
                                       .s = feed.store_path ? &feed.store : NULL,
                                       .wanted = wanted,
                                       .comm = feed.comm,
                                       .writes = !predict.none,
                                       .fd = out,
                                       .file = name,
                                       .what = predict_output_kind(m, false),
                                       .text = predict_links_text(m),
                                       .listed = predict.seeds,
                                       .memory = predict_memory(),
                                       .tmpdir = predict_tmpdir(),
                                       .scores = predict.none || predict.sets.n,
                                       .measure = kind,
                                       .progress = show_links};
    if ((o.scores && gnn_model_tells_links(&m->c) &&
         gnn_measure_of_links(&o.measure, predict.metric, sampling, &e)) ||
        gnn_predict_links_run(&q, m, src, &o, &e))
        feed_fail(&e);
    cli_progress_end();
    const double s = gnn_clock() - start;
    predict_tell("link", q.links, &q.net.pass, s, q.spilled);
    for (uint32_t i = 0; o.scores && !feed.comm->rank && i < sampling->nsplits; i++)
        if (!wanted || wanted[i])
            predict_report(&q.score[i], sampling->split[i], o.measure, "pair");
    predict_end("links", q.links, &q.net.pass, s, q.spilled);
    gnn_predict_links_release(&q);
    gnn_free(wanted);
}
