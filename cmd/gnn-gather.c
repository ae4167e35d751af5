/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-gather: a store and a stream of batches in, the stream with rows of the store's fields out.
 */
#include <string.h>

#include "cmd/batches.h"
#include "cmd/cache_opts.h"
#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/opt.h"
#include "cmd/gather_plan.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/stdin.h"
#include "cmd/store_open.h"
#include "lib/base/clock.h"
#include "lib/gather/gatherer.h"
#include "lib/base/kind.h"

static struct gnn_gather_opts o;
static struct batches_opts run;
static struct plan_opts plan;
static struct cache_opts cache;
static const char *input, *device;
static double timeout = 300;
static uint32_t threads = 2, zstd;
static int dtype;
static bool verify = true, huge_pages;

static const struct opt opts[] = {
    {OPT_STR, 'i', "input", &input, "FILE", "read batches from FILE (default: stdin)", .file = true,
     .own = true},
    {OPT_STR, 'o', "output", &run.output, "FILE", "write the stream to FILE (default: stdout)",
     .file = true, .makes = "", .own = true},
    {OPT_STR, 'F', "fields", &o.fields, "LIST",
     "node fields to add, and edge fields if the batches have edge ids (default: x,y)"},
    {OPT_CHOICE, 0, "dtype", &dtype, "TYPE", "type of features in the stream (default: as stored)",
     "stored|f32|f16|bf16"},
    {OPT_GROUP, .help = "Devices and caches"},
    {OPT_STR, 0, "device", &device, "DEV", DEVICE_HELP, DEVICE_WORDS},
    {OPT_STR, 0, "cache", &cache.size, "SIZE",
     "size of the GPU feature cache on each device: a share of all rows such as 0.2, bytes such as 4G, none, or auto (default: auto, what fits); with --plan a list",
     "auto|none"},
    {OPT_CHOICE, 0, "cache-policy", &cache.policy, "HOW",
     "cache the same rows on every device, or different ones on devices with peer access (default: auto)",
     CACHE_POLICY_CHOICE},
    {OPT_LIST, 0, "cache-order", &cache.order, "ORDER",
     "rows to cache first: degree, access or FILE of gnn-sample --frequency (default: degree; with --plan all but FILE); with --replicate also halo (default: access)",
     GNN_ORDER_WORDS, .file = true},
    {OPT_FLAG, 0, "plan", &plan.on,
     .help = "write no batches; print what share of the rows caches would miss"},
    {OPT_DOUBLES, 0, "replicate", &plan.alpha, "LIST",
     "remote rows of which each rank holds copies, as a share of an average rank's rows; with --plan a list (default: 0)",
     .min = 0, .max = 65536},
    {OPT_GROUP, .help = "Running"},
    {OPT_U32, 'j', "threads", &threads, "N",
     "CPU threads; the output does not depend on it (default: 2)", .min = 1, .max = 1024,
     .own = true},
    {OPT_FLAG, 'c', "count", &run.count, .help = "write no batches; print statistics on stdout"},
    {OPT_CHOICE, 0, "transport", &run.transport, "HOW", TRANSPORT_HELP, TRANSPORT_CHOICE,
     .own = true},
    {OPT_U32, 'z', "zstd", &zstd, "LEVEL",
     "compress tensors with zstd (default: 0, no compression)", .min = 0, .max = 19, .own = true},
    RANKS_TIMEOUT(&timeout),
    {OPT_FLAG, 0, "huge-pages", &huge_pages, .help = STORE_HUGE_PAGES_HELP},
    {OPT_FLAG, 0, "verify", &verify, .help = STORE_VERIFY_HELP, .own = true},
    {OPT_END},
};

static struct opt_elsewhere elsewhere[] = {
    {NULL, "gnn-sample decides this, and gnn-gather reads its batches"},
    {0},
};

static const struct program program = {
    .name = "gnn-gather",
    .summary = "add features, labels and other fields of a store to batches",
    .synopsis = "STORE",
    .args = "STORE",
    .extra = "batches come from stdin or -i FILE",
    .opts = opts,
    .elsewhere = elsewhere,
    .min_args = 1,
    .max_args = 1,
};

static void check_options(void)
{
    if (run.count)
        opt_refuse(OPTS(&run.output, &run.transport, &zstd),
                   "has no effect: --count writes no batches");
    if (plan.on)
        opt_refuse(
            OPTS(&run.output, &run.transport, &zstd, &run.count, &dtype, &device, &cache.policy),
            "has no effect: --plan gathers nothing");
    else
        device_refuse_cpu(device,
                          OPTS(&cache.size, &cache.policy, plan.alpha.n ? NULL : &cache.order),
                          "requires --device cuda or --plan");
    if (!plan.on)
        device_refuse_cuda(device, OPTS(&threads),
                           "has no effect: devices gather, not CPU threads");
    plan.fields = o.fields;
    plan.cache = &cache;
    cache.replicate = plan.alpha.n > 0;
    if (plan.on && ranks_many())
        cli_usage("--plan: requires a single process");
    if (plan.on || !ranks_many())
        plan_check(&plan);
    if (!plan.on && ranks_many() && plan.alpha.n)
        cache_replicate(&plan.alpha, &cache, &o.replicate);
    if (!plan.on)
        cache_read(&cache, NULL, &o.cache);
    run.zstd = (int)zstd;
    batches_check(&run, device);
}

/* With several ranks: threads that ask the others for rows. One waits while another works. */
enum { ASKING = 2 };

static struct gnn_source *gather_on(struct gnn_gpu *g, struct gnn_source *up,
                                    struct gnn_store *store, struct gnn_gather_stats *stats,
                                    struct gnn_err *e)
{
    cache_read(&cache, store, &o.cache);
    o.gpu = g;
    o.stats = stats;
    if (run.comm->size > 1)
        o.threads = ASKING;
    else
        up = g->ops->upload(g, up, e);
    struct gnn_source *src = up ? gnn_gather_source_new(up, store, &o, e) : NULL;
    gnn_order_release(&cache.read);
    return src;
}

int main(int argc, char **argv)
{
    static const enum gnn_dtype dtypes[] = {0, GNN_F32, GNN_F16, GNN_BF16};
    struct gnn_gather_stats stats = {0};
    struct gnn_tier_hits hits = {0};
    struct gnn_gather_copying copying = {0};
    struct gnn_err e = {0};
    const char *name;
    int nargs;
    threads_wait_briefly(argv);
    cli_start("gnn-gather", argc, argv);
    ranks_start();
    run.started = gnn_clock();
    elsewhere->names = sampling_opts_names(
        "f|fanout|split|eval|seeds|seed-type|epochs|steps|metapath|node2vec", false);
    char **args = opt_parse(&program, argc, argv, &nargs);
    check_options();
    o.dtype = dtypes[dtype];
    o.sums = !run.count && !zstd;
    o.threads = run.count && threads == 1 ? 0 : threads;
    o.provenance = cli_provenance();
    input = ranks_path(input, "-i");
    if (!run.count && !plan.on)
        run.output = ranks_path(run.output, "-o");
    o.hits = run.gathered = &hits;
    o.copying = run.copying = &copying;
    if (input && gnn_kind_path(input) == GNN_KIND_STORE &&
        gnn_kind_path(args[0]) == GNN_KIND_STREAM)
        cli_usage("%s is a store and %s a stream: gnn-gather -i %s %s", input, args[0], args[0],
                  input);
    if (input)
        stdin_unread("gnn-gather reads the file of -i", &input, 1);
    run.comm = ranks_open(timeout);
    run.gpu = device_open(device, run.comm);
    static struct gnn_store opened, *store = &opened; /* lives as long as the process */
    store_open(store, args[0], &verify, store_huge(huge_pages, GNN_HUGE_ROWS, run.gpu), run.comm);
    static struct gnn_flag in_place;
    if (!run.gpu && !huge_pages)
        o.in_place = run.in_place = &in_place;
    const int fd = cli_in(input, &name);
    struct gnn_source *up = gnn_stream_source_on(
        fd, name, &(struct gnn_stream_opts){.gpu = run.comm->size > 1 ? NULL : run.gpu}, &e);
    if (up && plan.on) {
        threads_start(threads);
        plan_run(up, store, &plan);
        gnn_store_close(store);
        return cli_finish();
    }
    if (up)
        ranks_agree(run.comm, up->meta, NULL);
    struct gnn_source *src = !up       ? NULL
                             : run.gpu ? gather_on(run.gpu, up, store, &stats, &e)
                                       : gnn_gather_source_new(up, store, &o, &e);
    src = store_watch(src, store, &e);
    if (!src)
        cli_fail(&e);
    cache_note(&stats);
    batches_run(src, &run);
    if (run.gpu)
        cache_report(&stats, run.count);
    gnn_gpu_close(run.gpu);
    gnn_store_close(store);
    return cli_finish();
}
