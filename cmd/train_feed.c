/* SPDX-License-Identifier: Apache-2.0 */
/* How gnn-train samples where it has a store (cmd/feed.h). Options that only make sense with one
 * are refused first. */
#include "cmd/train_feed.h"

#include <string.h>

#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "lib/train/train_defaults.h"
#include "cmd/train_full.h"
#include "cmd/train_links.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"
#include "lib/data/rule.h"
#include "lib/train/trainer.h"

struct train_feed train_feed = {.split = "train", .seed = 1};

const struct opt train_feed_opts[] = {
    {OPT_LIST, 'f', "fanout", &train_feed.fanout, "LIST",
     "neighbours per hop; -1: all; S/R/D=LIST for one edge type (default: " TRAIN_FANOUT ")"},
    {OPT_STR, 0, "split", &train_feed.split, "SET", "set to train on (default: train)"},
    {OPT_LIST, 0, "eval", &train_feed.eval, "SET",
     "set to evaluate after each epoch, or none (default: " TRAIN_EVAL
     " of the split that is trained on, if it exists)"},
    {.kind = OPT_END},
};

static void refuse_sampling(const struct train_feed *f)
{
    const char *why = "has no effect with --full-batch: nothing is sampled";
    opt_refuse(OPTS(&f->fanout, &feed.prefetch, &feed.huge_pages, &feed.graph_memory,
                    &feed.graph_cache, &feed.cache.size, &feed.cache.policy, &feed.cache.one_order,
                    &feed.replicate),
               why);
    sampling_opts_refuse(why);
    opt_refuse(OPTS(&feed.dtype), "cannot be used with --full-batch: import features as that type");
}

void train_feed_check(const struct train_feed *f)
{
    const char *why = "requires --store; a stream determines this";
    if (!feed.store_path && train_full())
        cli_usage("--full-batch requires --store");
    if (!feed.store_path)
        opt_refuse(OPTS(&f->fanout, &f->split, &f->eval), why);
    if (!feed.store_path)
        sampling_opts_refuse(why);
    if (train_full())
        refuse_sampling(f);
    feed_check();
    train_links_check();
    sampling_opts_check();
    if (!ranks_many() && gnn_sampling_has_fanouts(&sampling_given))
        device_refuse_cuda(feed.device, OPTS(&feed.prefetch),
                           "has no effect: the device makes the batches");
    if (f->epochs.given && (f->epochs.to == UINT64_MAX || f->epochs.to <= f->epochs.from))
        cli_usage("--epochs: expected A:B with A < B, or a count > 0");
}

static void sampler_opts(struct train_feed *f, struct gnn_sampler_opts *s)
{
    static const char *const deflt[] = {TRAIN_FANOUT};
    gnn_sampler_opts_init(s);
    s->fanout = f->fanout.n ? f->fanout.v : deflt;
    s->nfanout = f->fanout.n ? f->fanout.n : gnn_sampling_has_fanouts(&sampling_given);
    s->split = sampling_given.links.type && !opt_given(&f->split) ? NULL : f->split;
    s->eval = f->eval.v;
    s->neval = f->eval.n;
    s->sampling = sampling_given;
    s->sampling.seed = f->seed;
    s->weights = &sampling_weights;
    s->epoch_from = f->epochs.given ? f->epochs.from : 0;
    s->epoch_to = f->epochs.given ? f->epochs.to : TRAIN_EPOCHS;
    /* A resumed run continues after the last step of its checkpoint. */
    if (f->goes_on && f->first_epoch < s->epoch_to) {
        s->epoch_from = f->first_epoch;
        s->step_first = f->first_step;
    }
}

/* What is evaluated by default: the set TRAIN_EVAL of the split of set `on`, the one that is
 * trained on, if it has a label. */
static int default_eval(struct train_feed *f, uint32_t on, struct gnn_err *e)
{
    static const char *set;
    const struct gnn_schema *c = &feed.store.meta.schema;
    uint64_t n;
    int i = gnn_schema_find_set(c, TRAIN_EVAL);
    if (i >= 0 && (strchr(f->split, '/') || strcmp(c->set[i].split, c->set[on].split) !=
                                                0)) { /* of another split, perhaps */
        if (!(f->eval_name = gnn_strf(e, "%s/%s", c->set[on].split, TRAIN_EVAL)))
            return e->code;
        i = gnn_schema_find_set(c, f->eval_name);
    }
    if (i < 0 || (uint32_t)i == on || !c->set[i].count || c->set[i].ntype != c->set[on].ntype) {
        cli_note("no %sset " TRAIN_EVAL
                 " to evaluate on: all epochs are trained (--eval chooses a set)",
                 i >= 0 && (uint32_t)i == on ? "other " : "");
        return 0;
    }
    set = f->eval_name ? f->eval_name : TRAIN_EVAL;
    if (c->set[i].ntype == c->label_ntype) {
        if (gnn_labelled_count(&feed.store, (uint32_t)i, &n, e))
            return e->code;
        if (!n) {
            cli_note("no node of set %s has a label: nothing is evaluated, and all epochs are "
                     "trained (--eval chooses a set)",
                     set);
            return 0;
        }
    }
    f->eval = (struct opt_list){&set, 1};
    cli_note("evaluating set %s%s (turn this off with --eval none)", set,
             train_full_eval_every(true) == 1 ? " after each epoch" : "");
    return 0;
}

/* What is evaluated: what --eval names, nothing if that is "none", else the default. */
static int choose_eval(struct train_feed *f, struct gnn_err *e)
{
    const int on = gnn_schema_find_set(&feed.store.meta.schema, f->split);
    const uint32_t given = f->eval.n;
    f->eval.n = 0;
    for (uint32_t i = 0; i < given; i++)
        if (strcmp(f->eval.v[i], "none") != 0)
            f->eval.v[f->eval.n++] = f->eval.v[i];
        else
            f->eval.n = 0; /* what follows counts */
    train_links_choose(f->split, &f->eval, given);
    if (sampling_given.links.type)
        return 0;
    return !given && on >= 0 ? default_eval(f, (uint32_t)on, e) : 0;
}

/* Says which sets have nodes without a label, which do not count. A training set of them alone is
 * refused. */
static int check_labels(struct train_feed *f, struct gnn_err *e)
{
    const struct gnn_schema *c = &feed.store.meta.schema;
    for (uint32_t i = 0; i <= f->eval.n; i++) {
        const char *name = i ? f->eval.v[i - 1] : f->split;
        const int set = gnn_schema_find_set(c, name);
        uint64_t n;
        if (set < 0 || c->set[set].ntype != c->label_ntype) /* refused by the sampler */
            continue;
        const unsigned long long all = c->set[set].count;
        if (gnn_labelled_count(&feed.store, (uint32_t)set, &n, e))
            return e->code;
        if (!i && !n && all)
            return gnn_fail(e, GNN_E_INPUT,
                            "%s: set %s: none of its %llu node%s has a label: --split chooses "
                            "another set to train on",
                            feed.store_path, name, all, gnn_plural(all));
        f->blank = f->blank || (i == 1 && !n);
        if (feed.comm->rank || n == all)
            continue;
        if (n)
            cli_note("set %s: %llu of %llu node%s %s a label; the others do not count", name,
                     (unsigned long long)n, all, gnn_plural(all), n == 1 ? "has" : "have");
        else
            cli_note("warning: set %s: none of its %llu node%s has a label: nothing to evaluate%s",
                     name, all, gnn_plural(all), i == 1 ? ", and no epoch is selected by it" : "");
    }
    return 0;
}

struct gnn_source *train_feed_open(struct train_feed *f)
{
    struct gnn_err e = {0};
    struct gnn_sampler_opts s;
    feed.seeds_only = train_full(); /* without neighbours, found by the host */
    train_links_split(f->output);
    feed_start();
    if (train_full() && gnn_gpu_count(feed.gpu) > 1)
        cli_usage("--full-batch uses one device per rank, not %u: start as many ranks as devices",
                  gnn_gpu_count(feed.gpu));
    if (!feed.store_path)
        return feed_open(NULL);
    const bool links = sampling_given.links.type;
    if (!feed.store.meta.schema.task && !links) /* without labels, sets are no remedy */
        cli_usage("%s: no labels to train on (gnn-import --labels reads them; --links trains on "
                  "edges)",
                  feed.store_path);
    if (choose_eval(f, &e) || (!links && check_labels(f, &e)))
        cli_fail(&e);
    sampler_opts(f, &s);
    if (train_full())
        train_full_sampling(&feed.store, &s);
    struct gnn_source *src = feed_open(&s);
    sampling_opts_tell(feed.comm);
    sampling_opts_tell_messages(&feed.store.meta.schema, &src->meta->sampling);
    return src;
}

void train_feed_close(struct train_feed *f, struct gnn_source *src)
{
    feed_close(src);
    gnn_free(f->eval_name);
    train_links_end();
}
