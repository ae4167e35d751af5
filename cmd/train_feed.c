/* SPDX-License-Identifier: Apache-2.0 */
/* Where gnn-train gets its batches from: a stream on stdin, or a store from which it samples and
 * gathers itself (--store). Options that only make sense for one of the two are refused first; then
 * the source is opened, and for devices wrapped so that batches arrive there. */
#include "cmd/train_feed.h"

#include <string.h>

#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/ranks.h"
#include "cmd/rule_opts.h"
#include "cmd/train_defaults.h"
#include "cmd/train_full.h"
#include "lib/base/mem.h"

struct train_feed train_feed = {.split = "train",
                                .batch = TRAIN_BATCH,
                                .prefetch = 2,
                                .shuffle = true,
                                .verify = true,
                                .graph_cache = UINT64_MAX,
                                .seed = 1};

const struct opt train_feed_opts[] = {
    {.kind = OPT_GROUP, .help = "Batches from a store"},
    {OPT_STR, 0, "store", &train_feed.store_path, "STORE",
     "sample and gather from STORE instead of reading a stream", .file = true, .own = true},
    {OPT_LIST, 'f', "fanout", &train_feed.fanout, "LIST",
     "neighbours per hop; -1: all; S/R/D=LIST for one edge type (default: " TRAIN_FANOUT ")"},
    {OPT_U32, 'b', "batch", &train_feed.batch, "N", "seeds per batch " TRAIN_SAY(TRAIN_BATCH),
     .min = 1, .max = 1073741824},
    {OPT_STR, 0, "split", &train_feed.split, "SET", "set to train on (default: train)"},
    {OPT_LIST, 0, "eval", &train_feed.eval, "SET",
     "set to evaluate after each epoch, or none (default: " TRAIN_EVAL
     " of the split that is trained on, if it exists)"},
    {OPT_CHOICE, 0, "frontier", &train_feed.frontier, "RULE",
     "frontier policy: sample neighbours of all nodes so far, or only of new ones (default: all)",
     "all|new"},
    {OPT_FLAG, 0, "shuffle", &train_feed.shuffle, NULL,
     "shuffle the seeds in each epoch (default; --no-shuffle)"},
    {OPT_FLAG, 0, "drop-last", &train_feed.drop_last, NULL,
     "leave out the last batch if it is smaller"},
    {OPT_CHOICE, 0, "dtype", &train_feed.dtype, "TYPE",
     "convert features to TYPE first, as gnn-gather does (default: as stored)",
     "stored|f32|f16|bf16"},
    {OPT_U32, 0, "prefetch", &train_feed.prefetch, "N",
     "threads that sample and gather ahead (default: 2)", .min = 1, .max = 1024, .own = true},
    {OPT_FLAG, 0, "verify", &train_feed.verify, NULL,
     "verify the store's checksums in the background (default; --no-verify)", .own = true},
    {.kind = OPT_END},
};

/* They follow --device. */
const struct opt train_cache_opts[] = {
    {OPT_CHOICE, 0, "graph-memory", &train_feed.graph_memory, "WHERE",
     "where the graph is stored: device memory, or pinned host memory (uva) (default: auto, by size)",
     "auto|device|uva"},
    {OPT_U64, 0, "graph-cache", &train_feed.graph_cache, "SIZE",
     "with uva: device memory for cached rows (default: half of what is free beyond a quarter)",
     .bytes = true},
    {OPT_STR, 0, "cache", &train_feed.cache.size, "SIZE",
     "GPU feature cache of each device: a share of all rows such as 0.2, bytes such as 4G, none, auto (default: auto, what fits)",
     "auto|none"},
    {OPT_CHOICE, 0, "cache-policy", &train_feed.cache.policy, "HOW",
     "cache the same rows on every device, or different ones on devices with peer access (default: auto)",
     CACHE_POLICY_CHOICE},
    {OPT_STR, 0, "cache-order", &train_feed.cache.one_order, "ORDER",
     "rows to cache first: degree, access or FILE of gnn-sample --frequency (default: degree); with --replicate access, degree or halo (default: access)",
     GNN_ORDER_WORDS, .file = true},
    {OPT_DOUBLES, 0, "replicate", &train_feed.replicate, "X",
     "remote rows of which each rank holds copies, as a share of an average rank's rows (default: 0)",
     .min = 0, .max = 65536},
    {.kind = OPT_END},
};

static void refuse_sampling(const struct train_feed *f)
{
    opt_refuse(OPTS(&f->fanout, &f->batch, &f->frontier, &f->shuffle, &f->drop_last, &f->prefetch,
                    &f->graph_memory, &f->graph_cache, &f->cache.size, &f->cache.policy,
                    &f->cache.one_order, &f->replicate),
               "has no effect with --full-batch: nothing is sampled");
    rule_opts_refuse("has no effect with --full-batch: nothing is sampled");
    opt_refuse(OPTS(&f->dtype), "cannot be used with --full-batch: import features as that type");
}

void train_feed_check(const struct train_feed *f)
{
    if (f->input && f->store_path)
        cli_usage("-i and --store exclude each other");
    if (!f->store_path && train_full())
        cli_usage("--full-batch requires --store");
    if (!f->store_path)
        opt_refuse(OPTS(&f->fanout, &f->batch, &f->split, &f->eval, &f->frontier, &f->shuffle,
                        &f->drop_last, &f->dtype, &f->prefetch, &f->verify, &f->graph_memory,
                        &f->graph_cache, &f->cache.size, &f->cache.policy, &f->cache.one_order,
                        &f->replicate),
                   "requires --store; a stream determines this");
    if (!f->store_path)
        rule_opts_refuse("requires --store; a stream determines this");
    if (train_full())
        refuse_sampling(f);
    device_refuse_cpu(f->device,
                      OPTS(&f->graph_memory, &f->graph_cache, &f->cache.size, &f->cache.policy,
                           f->replicate.n ? NULL : &f->cache.one_order),
                      "has no effect: the CPU makes the batches (see --device)");
    if (!ranks_many() && !rule_opts_clusters())
        device_refuse_cuda(f->device, OPTS(&f->prefetch),
                           "has no effect: the device makes the batches");
    if (!ranks_many())
        opt_refuse(OPTS(&f->replicate), "requires several ranks");
    if (rule_opts_clusters())
        opt_refuse(OPTS(&f->fanout, &f->batch, &f->frontier), "cannot be used with --clusters");
    if (f->graph_memory == GNN_GRAPH_DEVICE)
        opt_refuse(OPTS(&f->graph_cache), "requires --graph-memory uva");
    if (f->epochs.given && (f->epochs.to == UINT64_MAX || f->epochs.to <= f->epochs.from))
        cli_usage("--epochs: expected A:B with A < B, or a count > 0");
}

static void sampler_opts(struct train_feed *f, struct gnn_sampler_opts *s)
{
    static const char *const deflt[] = {TRAIN_FANOUT};
    gnn_sampler_opts_init(s);
    s->fanout = f->fanout.n ? f->fanout.v : deflt;
    s->nfanout = f->fanout.n ? f->fanout.n : 1;
    s->batch_size = f->batch;
    s->split = f->split;
    s->eval = f->eval.v;
    s->neval = f->eval.n;
    s->seed = f->seed;
    s->epoch_from = f->epochs.given ? f->epochs.from : 0;
    s->epoch_to = f->epochs.given ? f->epochs.to : TRAIN_EPOCHS;
    /* A resumed run continues after the last step of its checkpoint. */
    if (f->goes_on && f->first_epoch < s->epoch_to) {
        s->epoch_from = f->first_epoch;
        s->step_first = f->first_step;
    }
    s->frontier = f->frontier ? GNN_FRONTIER_NEW : GNN_FRONTIER_ALL;
    rule_opts_take(s);
    s->shuffle = f->shuffle;
    s->drop_last = f->drop_last;
    s->provenance = cli_provenance();
    s->gpu = train_full() ? NULL : f->gpu; /* seeds without neighbours, found by the host */
    s->graph_memory = (enum gnn_graph_memory)f->graph_memory;
    s->graph_cache = f->graph_cache;
    s->graph_report = &f->graph;
}

/* What is evaluated: what --eval names, nothing if that is "none", else the set TRAIN_EVAL of the
 * split that is trained on. */
static int choose_eval(struct train_feed *f, struct gnn_err *e)
{
    static const char *set;
    const struct gnn_schema *c = &f->store.meta.schema;
    const int on = gnn_schema_find_set(c, f->split);
    const uint32_t given = f->eval.n;
    f->eval.n = 0;
    for (uint32_t i = 0; i < given; i++)
        if (strcmp(f->eval.v[i], "none") != 0)
            f->eval.v[f->eval.n++] = f->eval.v[i];
        else
            f->eval.n = 0; /* what follows counts */
    if (!given && on >= 0) {
        int i = gnn_schema_find_set(c, TRAIN_EVAL);
        if (i >= 0 && (strchr(f->split, '/') || strcmp(c->set[i].split, c->set[on].split) !=
                                                    0)) { /* of another split, perhaps */
            if (!(f->eval_name = gnn_strf(e, "%s/%s", c->set[on].split, TRAIN_EVAL)))
                return e->code;
            i = gnn_schema_find_set(c, f->eval_name);
        }
        if (i < 0 || i == on || !c->set[i].count || c->set[i].ntype != c->set[on].ntype) {
            cli_note("no set " TRAIN_EVAL
                     " to evaluate on: all epochs are trained (--eval chooses a set)");
            return 0;
        }
        set = f->eval_name ? f->eval_name : TRAIN_EVAL;
        f->eval = (struct opt_list){&set, 1};
        cli_note("evaluating set %s%s (turn this off with --eval none)", set,
                 train_full_eval_every(true) == 1 ? " after each epoch" : "");
    }
    return 0;
}

/* Degrees are counted along relations within a node type; a model that needs them elsewhere is
 * refused for a better reason than the lack of the field. */
static bool has_degrees(const struct gnn_schema *s)
{
    bool any = false;
    for (uint32_t t = 0; t < s->netypes; t++)
        any = any || s->etype[t].src == s->etype[t].dst;
    return any;
}

static bool nodes_have(const struct gnn_schema *s, const char *name)
{
    for (uint32_t t = 0; t < s->nntypes; t++)
        if (gnn_field_find(s->ntype[t].field, s->ntype[t].nfields, name))
            return true;
    return false;
}

/* The fields that the model needs, in text[room]; NULL: those that are gathered anyway. A name is
 * of nodes and edges alike, and is given once. */
static const char *list_fields(const struct train_feed *f, char *text, size_t room)
{
    const char *weight = f->edge_weight ? f->edge_weight : "";
    const bool x = nodes_have(&f->store.meta.schema, "x"), listed = x && !strcmp(weight, "x");
    const bool degrees = f->degrees && has_degrees(&f->store.meta.schema);
    if (!degrees && !*weight)
        return NULL;
    snprintf(text, room, "%sy%s%s%s%s%s", x ? "x," : "", degrees ? ",degree" : "",
             degrees && *weight ? ":" : "", degrees ? weight : "", *weight && !listed ? "," : "",
             listed ? "" : weight);
    return text;
}

static struct gnn_source *open_store(struct train_feed *f, struct gnn_err *e)
{
    static const enum gnn_dtype dtypes[] = {0, GNN_F32, GNN_F16, GNN_BF16};
    struct gnn_sampler_opts s;
    char fields[2 * GNN_WORD_MAX + 32];
    struct gnn_gather_opts g = {.dtype = dtypes[f->dtype]};
    if (gnn_store_open_ranks(&f->store, f->store_path, f->verify, f->comm, e))
        return NULL;
    if (f->store.meta.schema.task == GNN_TASK_NONE) { /* without labels, sets are no remedy */
        gnn_fail(e, GNN_E_USAGE, "%s: no labels to train on (gnn-import --labels reads them)",
                 f->store_path);
        return NULL;
    }
    if (choose_eval(f, e))
        return NULL;
    sampler_opts(f, &s);
    g.fields = train_full() ? "y" : list_fields(f, fields, sizeof fields);
    if (train_full())
        train_full_sampling(&f->store, &s);
    if (f->replicate.n)
        cache_replicate(&f->replicate, &f->cache, &g.replicate);
    g.hits = &f->gathered;
    g.copying = &f->copying;
    s.remote = &f->sampled;
    s.count_once = f->count_once && !train_full();
    s.edge_ids = f->edge_ids && !train_full();
    if (f->gpu && !train_full()) {
        f->cache.replicate = f->replicate.n > 0;
        cache_read(&f->cache, &f->store, &g.cache);
        g.gpu = f->gpu;
        g.stats = &f->stats;
        /* Where the host puts batches together, or gathers remote rows, before a batch is copied to
         * its device, the threads of the sampler work also with --device cuda. */
        if (gnn_sampler_assembles(
                &s, f->comm->size)) { /* threads put batches together, and ask for rows */
            s.threads = f->prefetch;
            s.depth = f->prefetch + 1;
            s.background = true;
        }
    } else {
        gnn_feed_prefetch(&s, &g, f->prefetch);
    }
    return gnn_feed_new(&f->store, &s, &g, e);
}

struct gnn_source *train_feed_open(struct train_feed *f)
{
    struct gnn_err e = {0};
    const char *name;
    f->gpu = device_open(f->device, f->comm);
    if (train_full() && gnn_gpu_count(f->gpu) > 1)
        cli_usage("--full-batch uses one device per rank, not %u: start as many ranks as devices",
                  gnn_gpu_count(f->gpu));
    struct gnn_source *src;
    if (f->store_path) {
        src = open_store(f, &e);
    } else {
        const int fd = cli_in(f->input, &name);
        src = gnn_stream_source_on(fd, name, f->gpu, &e);
    }
    if (src && f->store_path)
        rule_opts_tell(f->comm);
    if (src && f->gpu)
        src = f->gpu->ops->bring(f->gpu, src, &e);
    if (!src)
        cli_fail(&e);
    if (f->gpu && f->store_path && !train_full()) {
        device_tell_graph(&f->graph);
        cache_note(&f->stats);
    }
    return src;
}

void train_feed_close(struct train_feed *f, struct gnn_source *src)
{
    gnn_source_free(src); /* its threads have counted all then */
    if (f->gpu && f->store_path && !train_full())
        cache_report(&f->stats, false);
    if (f->store_path && !train_full()) { /* full batches tell themselves what ranks have sent */
        ranks_tell_sample(f->comm, &f->sampled);
        ranks_tell(f->comm, &f->gathered, &f->copying);
    }
    gnn_order_release(&f->cache.read);
    gnn_free(f->eval_name);
    gnn_gpu_close(f->gpu);
}
