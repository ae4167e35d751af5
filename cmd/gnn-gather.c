/* gnn-gather: a store and a stream of batches in, the stream with rows of the store's fields out. */
#include "cmd/batches.h"
#include "cmd/calm.h"
#include "cmd/cli.h"
#include "cmd/opt.h"
#include "cmd/plan.h"
#include "lib/clock.h"
#include "lib/gatherer.h"

static struct gnn_gather_opts o;
static struct batches_opts run;
static struct plan_opts plan;
static const char *input;
static uint32_t threads = 1, zstd;
static int dtype, device;
static bool verify = true;

static const struct opt opts[] = {
    {OPT_STR, 'i', "input", &input, "FILE", "read the batches there (default: stdin)", .file = true},
    {OPT_STR, 'o', "output", &run.output, "FILE", "write the stream there (default: stdout)", .file = true},
    {OPT_STR, 'F', "fields", &o.fields, "LIST", "fields of nodes, and of edges if the batches have edge ids (default: x,y)"},
    {OPT_CHOICE, 0, "dtype", &dtype, "TYPE", "of features in the stream (default: as stored)", "stored|f32|f16|bf16"},
    {OPT_GROUP, .help = "Planning a cache"},
    {OPT_FLAG, 0, "plan", &plan.on, .help = "write no batches but, to stdout, which share of the rows caches would miss"},
    {OPT_STR, 0, "cache", &plan.sizes, "LIST", "sizes, as 0.1,0.2,4G: shares of all rows, or bytes"},
    {OPT_LIST, 0, "cache-order", &plan.order, "ORDER", "what they hold first: degree, access or FILE of gnn-sample --frequency (default: each that needs no FILE)"},
    {OPT_DOUBLES, 0, "replicate", &plan.alpha, "LIST", "remote rows kept by each part, as 0.1,0.5: shares of an average part", .min = 0, .max = 65536},
    {OPT_GROUP, .help = "Running"},
    {OPT_U32, 'j', "threads", &threads, "N", "gathering threads; the output does not depend on it (default: 1)", .min = 1, .max = 1024},
    {OPT_CHOICE, 0, "device", &device, "DEV", "where to gather (default: cpu)", "cpu"},
    {OPT_FLAG, 'c', "count", &run.count, .help = "write no batches, only statistics, to stdout"},
    {OPT_CHOICE, 0, "handoff", &run.handoff, "HOW", HANDOFF_HELP, HANDOFF_CHOICE},
    {OPT_U32, 'z', "zstd", &zstd, "LEVEL", "compress tensors (default: 0, not)", .min = 0, .max = 19},
    {OPT_FLAG, 0, "verify", &verify, .help = "check the store's checksums while working (default; --no-verify)"},
    {OPT_END},
};

static const struct program program = {
    .name = "gnn-gather",
    .summary = "add features, labels and other fields of a store to batches",
    .synopsis = "STORE",
    .opts = opts,
    .min_args = 1,
    .max_args = 1,
};

int main(int argc, char **argv)
{
    static const enum gnn_dtype dtypes[] = {0, GNN_F32, GNN_F16, GNN_BF16};
    struct gnn_err e = {0};
    const char *name;
    int nargs;
    calm_threads(argv);
    cli_start("gnn-gather", argc, argv);
    run.started = gnn_clock();
    char **args = opt_parse(&program, argc, argv, &nargs);
    if (run.count)
        opt_refuse(OPTS(&run.output, &run.handoff, &zstd), "has no effect: --count writes no batches");
    if (plan.on)
        opt_refuse(OPTS(&run.output, &run.handoff, &zstd, &run.count, &dtype), "has no effect: --plan gathers nothing");
    plan.fields = o.fields;
    plan_check(&plan);
    o.dtype = dtypes[dtype];
    o.sums = !run.count && !zstd;
    o.threads = run.count && threads == 1 ? 0 : threads;
    o.provenance = cli_provenance();
    run.zstd = (int)zstd;
    batches_check(&run, false);
    struct gnn_store *store = batches_store(args[0], verify);
    const int fd = cli_in(input, &name);
    struct gnn_source *up = gnn_stream_source_new(fd, name, &e);
    if (up && plan.on) {
        calm_threads_set(threads);
        plan_run(up, store, &plan);
        gnn_store_close(store);
        return cli_finish();
    }
    struct gnn_source *src = up ? gnn_gather_source_new(up, store, &o, &e) : NULL;
    if (!src)
        cli_fail(&e);
    batches_run(src, &run);
    gnn_store_close(store);
    return cli_finish();
}
