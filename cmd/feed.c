/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/feed.h"

#include <string.h>

#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/ranks.h"
#include "cmd/store_open.h"
#include "lib/model/layer.h"

struct feed feed = {.prefetch = 2, .verify = true, .graph_cache = UINT64_MAX};

const struct opt feed_opts[] = {
    {.kind = OPT_GROUP, .help = "Batches from a store"},
    {OPT_STR, 0, "store", &feed.store_path, "STORE",
     "sample and gather from STORE instead of reading a stream", .file = true, .own = true},
    {OPT_CHOICE, 0, "dtype", &feed.dtype, "TYPE",
     "convert features to TYPE first, as gnn-gather does (default: as stored)",
     "stored|f32|f16|bf16"},
    {OPT_U32, 0, "prefetch", &feed.prefetch, "N",
     "threads that sample and gather ahead (default: 2)", .min = 1, .max = 1024, .own = true},
    {OPT_FLAG, 0, "huge-pages", &feed.huge_pages, NULL, STORE_HUGE_PAGES_HELP},
    {OPT_FLAG, 0, "verify", &feed.verify, NULL, STORE_VERIFY_HELP, .own = true},
    {.kind = OPT_END},
};

/* They follow --device. */
const struct opt feed_cache_opts[] = {
    {OPT_CHOICE, 0, "graph-memory", &feed.graph_memory, "WHERE",
     "where the graph is stored: device memory, or pinned host memory (uva) (default: auto, by size)",
     "auto|device|uva"},
    {OPT_U64, 0, "graph-cache", &feed.graph_cache, "SIZE",
     "with uva: device memory for cached rows (default: half of what is free beyond a quarter)",
     .bytes = true},
    {OPT_STR, 0, "cache", &feed.cache.size, "SIZE",
     "GPU feature cache of each device: a share of all rows such as 0.2, bytes such as 4G, none, auto (default: auto, what fits)",
     "auto|none"},
    {OPT_CHOICE, 0, "cache-policy", &feed.cache.policy, "HOW",
     "cache the same rows on every device, or different ones on devices with peer access (default: auto)",
     CACHE_POLICY_CHOICE},
    {OPT_STR, 0, "cache-order", &feed.cache.one_order, "ORDER",
     "rows to cache first: degree, access or FILE of gnn-sample --frequency (default: degree); with --replicate access, degree or halo (default: access)",
     GNN_ORDER_WORDS, .file = true},
    {OPT_DOUBLES, 0, "replicate", &feed.replicate, "X",
     "remote rows of which each rank holds copies, as a share of an average rank's rows (default: 0)",
     .min = 0, .max = 65536},
    {.kind = OPT_END},
};

void feed_refuse(const char *why)
{
    opt_refuse(OPTS(&feed.store_path, &feed.dtype, &feed.prefetch, &feed.verify, &feed.graph_memory,
                    &feed.graph_cache, &feed.cache.size, &feed.cache.policy, &feed.cache.one_order,
                    &feed.replicate),
               why);
}

void feed_fail(const struct gnn_err *e)
{
    struct gnn_err damage = {0};
    cli_fail(e->code == GNN_E_RUN && feed.store.path && gnn_store_verified(&feed.store, &damage)
                 ? &damage
                 : e);
}

/* Before a store is opened. */
static void check_cache(void)
{
    struct gnn_gather_opts g = {0};
    feed.cache.replicate = feed.replicate.n > 0;
    if (feed.replicate.n)
        cache_replicate(&feed.replicate, &feed.cache, &g.replicate);
    else
        cache_read(&feed.cache, NULL, &g.cache);
}

void feed_check(void)
{
    if (feed.input && feed.store_path)
        cli_usage("-i and --store exclude each other");
    if (!feed.store_path) {
        feed_refuse("requires --store; a stream determines this");
        opt_refuse(OPTS(&feed.huge_pages), "requires --store");
    }
    device_refuse_cpu(feed.device,
                      OPTS(&feed.graph_memory, &feed.graph_cache, &feed.cache.size,
                           &feed.cache.policy, feed.replicate.n ? NULL : &feed.cache.one_order),
                      "has no effect: the CPU makes the batches (see --device)");
    if (!ranks_many())
        opt_refuse(OPTS(&feed.replicate), "requires several ranks");
    if (feed.graph_memory == GNN_GRAPH_DEVICE)
        opt_refuse(OPTS(&feed.graph_cache), "requires --graph-memory uva");
    check_cache();
}

static const enum gnn_dtype dtypes[] = {0, GNN_F32, GNN_F16, GNN_BF16};

enum gnn_dtype feed_dtype(void)
{
    return dtypes[feed.dtype];
}

void feed_convert(enum gnn_dtype d)
{
    for (int i = 0; i < (int)(sizeof dtypes / sizeof *dtypes); i++)
        if (dtypes[i] == d)
            feed.dtype = i;
}

void feed_needs(const struct gnn_model_config *c)
{
    feed.edge_weight = c->edge_weight;
    feed.edge_ids = c->edge_weight || c->edge_features || gnn_layer_needs_ids(c);
    feed.degrees = gnn_adj_needs_degrees(c->layer->norm);
    feed.count_once = c->batch_norm;
    feed.in_place = gnn_layer_sums_features(c);
}

void feed_start(void)
{
    feed.gpu = device_open(feed.device, feed.comm);
    if (feed.store_path)
        store_open(&feed.store, feed.store_path, &feed.verify,
                   store_huge(feed.huge_pages, GNN_HUGE_GRAPH | GNN_HUGE_ROWS, feed.gpu),
                   feed.comm);
}

static struct gnn_source *open_store(struct gnn_sampler_opts *s, struct gnn_err *e)
{
    static const struct gnn_flag always = {true};
    char fields[GNN_FEED_FIELDS];
    struct gnn_gather_opts g = {.dtype = feed_dtype()};
    const bool seeds_only = feed.seeds_only;
    g.part_by_part = seeds_only; /* other partitions may be in memory already, to its limit */
    g.fields = seeds_only ? "y"
                          : gnn_feed_fields(&feed.store.meta.schema, !s->sampling.links.type,
                                            feed.edge_weight, feed.degrees, fields);
    if (feed.replicate.n)
        cache_replicate(&feed.replicate, &feed.cache, &g.replicate);
    g.hits = &feed.gathered;
    g.copying = &feed.copying;
    s->remote = &feed.sampled;
    s->count_once = feed.count_once && !seeds_only;
    s->sampling.edge_ids = feed.edge_ids && !seeds_only;
    s->gpu = seeds_only ? NULL : feed.gpu;
    s->graph_memory = (enum gnn_graph_memory)feed.graph_memory;
    s->graph_cache = feed.graph_cache;
    s->graph_report = &feed.graph;
    s->provenance = cli_provenance();
    if (!s->gpu) {
        g.in_place = feed.in_place ? &always : NULL;
        gnn_feed_prefetch(s, &g, feed.prefetch);
        return gnn_feed_new(&feed.store, s, &g, e);
    }
    cache_read(&feed.cache, &feed.store, &g.cache);
    g.gpu = feed.gpu;
    g.stats = &feed.stats;
    /* Where the host puts batches together, or gathers remote rows, before a batch is copied to its
     * device, the threads of the sampler work also with --device cuda. */
    if (gnn_sampler_assembles(s, feed.comm->size)) {
        s->threads = feed.prefetch;
        s->depth = feed.prefetch + 1;
        s->background = true;
    }
    return gnn_feed_new(&feed.store, s, &g, e);
}

/* Whether devices make the batches. */
static bool on_devices(void)
{
    return feed.gpu && feed.store_path && !feed.seeds_only;
}

struct gnn_source *feed_open(struct gnn_sampler_opts *s)
{
    struct gnn_err e = {0};
    struct gnn_source *src;
    const char *name;
    if (feed.store_path) {
        src = open_store(s, &e);
        src = feed.seeds_only ? src : store_watch(src, &feed.store, &e);
    } else {
        const int fd = cli_in(feed.input, &name);
        src = gnn_stream_source_on(
            fd, name, &(struct gnn_stream_opts){feed.gpu, feed.in_place && !feed.gpu}, &e);
    }
    if (src && feed.gpu)
        src = feed.gpu->ops->bring(feed.gpu, src, &e);
    if (!src)
        cli_fail(&e);
    if (on_devices()) {
        device_tell_graph(&feed.graph);
        cache_note(&feed.stats);
    }
    return src;
}

void feed_close(struct gnn_source *src)
{
    gnn_source_free(src); /* its threads have counted all then */
    if (src && on_devices())
        cache_report(&feed.stats, false);
    if (src && feed.store_path &&
        !feed.seeds_only) { /* full batches tell themselves what was sent */
        ranks_tell_sample(feed.comm, &feed.sampled);
        ranks_tell(feed.comm, &feed.gathered, &feed.copying);
    }
    gnn_order_release(&feed.cache.read);
    gnn_gpu_close(feed.gpu);
}
