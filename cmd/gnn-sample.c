/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-sample: a store in, a stream of sampled batches out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/batches.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/opt.h"
#include "cmd/ranks.h"
#include "cmd/sampling_opts.h"
#include "cmd/stdin.h"
#include "cmd/store_open.h"
#include "cmd/unused.h"
#include "lib/base/clock.h"
#include "lib/import/seed_names.h"
#include "lib/sample/sampler.h"

static struct gnn_sampler_opts o;
static struct batches_opts run;
static struct opt_list fanout, eval;
static struct opt_list path;
static struct opt_doubles bias;
static struct opt_range epochs, steps;
static bool verify = true, keep_index, huge_pages;
static uint32_t threads = 1, zstd;
static int graph_memory;
static struct gnn_graph_report graph;
static struct gnn_sample_remote_stats remote;
static const char *split, *device;
static double timeout = 300;

static const struct opt opts[] = {
    {OPT_LIST, 'f', "fanout", &fanout, "LIST",
     "neighbours per hop: 15,10,5, or S/R/D=15,10,5 for one edge type; -1: all"},
    {OPT_STR, 'o', "output", &run.output, "FILE", "write the stream to FILE (default: stdout)",
     .file = true, .makes = "", .own = true},
    {OPT_GROUP, .help = "Seeds"},
    {OPT_STR, 0, "split", &split, "SET",
     "set whose nodes are the seeds, such as train or 0/train (default: train)"},
    {OPT_LIST, 0, "eval", &eval, "SET", "also sample this set after each epoch"},
    {OPT_STR, 0, "seeds", &o.seeds_name, "FILE",
     "read positions or names of nodes from FILE instead; - is stdin, sampled as they arrive",
     .file = true, .own = true},
    {OPT_STR, 0, "seed-type", &o.seed_type, "TYPE",
     "node type of these nodes (default: the labelled one)"},
    {OPT_RANGE, 0, "epochs", &epochs, "A:B", "epochs A to B-1; N: the first N (default: 0:1)",
     .count = true},
    {OPT_RANGE, 0, "steps", &steps, "A:B[:STRIDE]",
     "only these steps of each epoch, or every STRIDE-th of them; N: step N (default: all)",
     .strided = true},
    {OPT_END},
};

/* They follow rule_opts, whose last ones are those of walks. */
static const struct opt further_opts[] = {
    {OPT_LIST, 0, "metapath", &path, "S/R/D",
     "edge type of the next step; the list of them is repeated (default: the only one)"},
    {OPT_DOUBLES, 0, "node2vec", &bias, "P,Q",
     "steps as node2vec takes them: P against going back, Q against going away (default: 1,1)"},
    {OPT_GROUP, .help = "Running"},
    {OPT_U32, 'j', "threads", &threads, "N",
     "CPU threads; the output does not depend on it (default: 1; with several ranks on devices 2 per device)",
     .min = 1, .max = 1024, .own = true},
    {OPT_STR, 0, "device", &device, "DEV", DEVICE_HELP, .choices = DEVICE_WORDS},
    {OPT_CHOICE, 0, "graph-memory", &graph_memory, "WHERE",
     "where the graph is stored: device memory, or pinned host memory (uva) (default: auto, by size)",
     "auto|device|uva"},
    {OPT_U64, 0, "graph-cache", &o.graph_cache, "SIZE",
     "with uva: device memory for cached rows (default: half of what is free beyond a quarter)",
     .bytes = true},
    {OPT_FLAG, 0, "count-once", &o.count_once,
     .help =
         "with several ranks, mark the nodes that each rank counts (for gnn-train --batch-norm)"},
    {OPT_FLAG, 'c', "count", &run.count, .help = "write no batches; print statistics on stdout"},
    {OPT_STR, 0, "frequency", &run.frequency, "FILE",
     "with --count: also write to FILE (.npy) how many batches contain each node", .file = true,
     .makes = ""},
    {OPT_CHOICE, 0, "transport", &run.transport, "HOW", TRANSPORT_HELP, TRANSPORT_CHOICE,
     .own = true},
    {OPT_U32, 'z', "zstd", &zstd, "LEVEL",
     "compress tensors with zstd (default: 0, no compression)", .min = 0, .max = 19, .own = true},
    {OPT_FLAG, 0, "keep-index", &keep_index,
     .help =
         "keep in STORE.index what --weight, --time-rule, --strict or --node2vec compute of the store"},
    RANKS_TIMEOUT(&timeout),
    {OPT_FLAG, 0, "huge-pages", &huge_pages, .help = STORE_HUGE_PAGES_HELP},
    {OPT_FLAG, 0, "verify", &verify, .help = STORE_VERIFY_HELP, .own = true},
    {OPT_END},
};

static const struct opt_elsewhere elsewhere[] = {
    {"F|fields|dtype|cache|cache-policy|cache-order|plan|replicate",
     "gnn-gather adds features and other fields to the batches"},
    {"m|model|hidden|layers|heads|loss|lr|optimizer|weight-decay|dropout|patience|metric|class-weights",
     "gnn-train has this option, and reads the batches"},
    {0},
};

static const struct program program = {
    .name = "gnn-sample",
    .summary = "sample the neighbourhoods of seed nodes",
    .synopsis = "STORE",
    .args = "STORE",
    .extra = "the stream is named with -o",
    .opts = opts,
    .more = (const struct opt *const[]){sampling_opts, rule_opts, further_opts, NULL},
    .elsewhere = elsewhere,
    .min_args = 1,
    .max_args = 1,
};

static void finish_walks(struct gnn_walks *w)
{
    if (gnn_sampling_has_fanouts(&sampling_given) && !fanout.n)
        cli_usage("-f LIST is missing: neighbours per hop");
    if (w->restart < 0 || w->restart >= 1)
        cli_usage("--restart: expected a probability from 0 to less than 1");
    if (bias.n) {
        if (bias.n != 2 || !gnn_node2vec_takes(bias.v[0]) || !gnn_node2vec_takes(bias.v[1]))
            cli_usage("--node2vec: expected P,Q, two numbers from %g to %g", 1.0 / GNN_NODE2VEC_MAX,
                      GNN_NODE2VEC_MAX);
        w->p = bias.v[0];
        w->q = bias.v[1];
    }
    o.path = path.v;
    o.npath = path.n;
}

/* Seeds of a file are positions, also where nodes have other numbers. */
static void tell_positions(struct gnn_store *s, const struct gnn_sampling *m)
{
    const struct gnn_schema *c = &s->meta.schema;
    const uint32_t type[2] = {m->seed_ntype,
                              m->links.type ? c->etype[m->links.etype].src : m->seed_ntype};
    for (unsigned i = 0; i < 2; i++)
        if (gnn_seed_names_has(s, type[i], true) && !gnn_seed_names_has(s, type[i], false)) {
            cli_note("--seeds has positions in the store; nodes of type %s have other ids in the "
                     "data set (gnn-predict --seeds takes these)",
                     c->ntype[type[i]].name);
            return;
        }
}

static void finish_opts(void)
{
    sampling_opts_check();
    finish_walks(&sampling_given.walks);
    o.sampling = sampling_given;
    o.sampling.shuffle = o.sampling.shuffle && (opt_given_name("shuffle") || !o.seeds_name);
    o.weights = &sampling_weights;
    if (o.seeds_name)
        opt_refuse(OPTS(&split, &eval), "and --seeds exclude each other");
    else
        opt_refuse(OPTS(&o.seed_type), "requires --seeds");
    if (!eval.n)
        opt_refuse(OPTS(&sampling_given.links.eval_negatives), "requires --eval");
    const char *needed = sampling_opts_need_edges("node2vec");
    /* With several ranks, rows by which negatives are strict are made by each. */
    if (needed && !bias.n && (!sampling_given.links.strict || ranks_many()))
        opt_refuse(OPTS(&keep_index), needed);
    if (!ranks_many())
        opt_refuse(OPTS(&o.count_once), "requires several ranks");
    if (run.count)
        opt_refuse(OPTS(&run.output, &run.transport, &zstd),
                   "has no effect: --count writes no batches");
    else
        opt_refuse(OPTS(&run.frequency), "requires --count");
    if (run.transport == TRANSPORT_CUDA && gnn_sampler_assembles(&o, 1 + ranks_many()))
        cli_usage("--transport cuda: %s are assembled in host memory",
                  ranks_many() ? "batches of several ranks" : "such batches");
    if (run.frequency && !strcmp(run.frequency, "-"))
        cli_usage("--frequency -: stdout takes the statistics; name a file");
    if (!gnn_sampler_assembles(&o, 1 + ranks_many()))
        device_refuse_cuda(device, OPTS(&threads),
                           "has no effect: devices sample, not CPU threads");
    device_refuse_cpu(device, OPTS(&graph_memory, &o.graph_cache),
                      "has no effect: the CPU samples (see --device)");
    if (graph_memory == GNN_GRAPH_DEVICE)
        opt_refuse(OPTS(&o.graph_cache), "requires --graph-memory uva");
    o.graph_memory = (enum gnn_graph_memory)graph_memory;
    o.graph_report = &graph;
    o.remote = run.sampled = &remote;
    o.fanout = fanout.v;
    o.nfanout = fanout.n;
    o.eval = eval.v;
    o.neval = eval.n;
    if (split || o.sampling.links.type)
        o.split = split;
    if (epochs.given && (epochs.to == UINT64_MAX || epochs.to <= epochs.from))
        cli_usage("--epochs: expected A:B with A < B, or a count > 0");
    if (epochs.given) {
        o.epoch_from = epochs.from;
        o.epoch_to = epochs.to;
    }
    if (steps.given) {
        o.step_from = steps.from;
        o.step_to = steps.to;
        o.step_stride = steps.stride;
    }
    o.provenance = cli_provenance();
    run.zstd = (int)zstd;
    batches_check(&run, device);
    /* A single thread samples in this one when nothing has to be written meanwhile. */
    o.threads = run.count && threads == 1 ? 0 : threads;
}

/* Batches to come, for the progress bar; 0 if unknown. */
static uint64_t expected_batches(const struct gnn_sampling *m)
{
    const uint64_t to = o.step_to < m->steps[0] ? o.step_to : m->steps[0];
    const uint64_t stride = o.step_stride ? o.step_stride : 1;
    uint64_t n = to > o.step_from ? (to - o.step_from - 1) / stride + 1 : 0;
    const bool last = to == m->steps[0] && n && o.step_from + (n - 1) * stride == to - 1;
    for (uint32_t i = 1; i < m->nsplits && last; i++)
        n += m->steps[i];
    return n * (o.epoch_to - o.epoch_from);
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    int nargs;
    cli_start("gnn-sample", argc, argv);
    ranks_start();
    run.started = gnn_clock();
    gnn_sampler_opts_init(&o);
    sampling_opts_init(false);
    char **args = opt_parse(&program, argc, argv, &nargs);
    finish_opts();
    stdin_unread("gnn-sample reads a store; gnn-gather and gnn-train read streams",
                 (const char *const[]){args[0], o.seeds_name}, 2);
    if (!run.count)
        run.output = ranks_path(run.output, "-o");
    struct gnn_comm *c = run.comm = ranks_open(timeout);
    if (run.frequency && c->size > 1)
        cli_usage("--frequency: requires a single process, which samples the same batches");
    o.gpu = device_open(device, c);
    const bool assembled = gnn_sampler_assembles(&o, c->size);
    if (o.gpu && assembled && !opt_given(&threads))
        o.threads =
            2 * o.gpu->n; /* while one waits for other ranks, the other one's batch is drawn */
    static struct gnn_store opened, *store = &opened; /* lives as long as the process */
    store_open(store, args[0], &verify, store_huge(huge_pages, GNN_HUGE_GRAPH, o.gpu), c);
    store->keep_derived = keep_index;
    if (o.seeds_name) {
        const bool piped = !strcmp(o.seeds_name, "-");
        o.stream = piped && !o.sampling.links.type;
        o.seeds_fd = o.sampling.links.type ? ranks_in(c, o.seeds_name, &o.seeds_name)
                                           : cli_in(o.seeds_name, &o.seeds_name);
    }
    sampling_opts_choose_rule(&store->meta.schema, o.seeds_name ? "" : o.split);
    o.sampling.time_rule = sampling_given.time_rule;
    if (o.sampling.links.negatives && !o.sampling.links.eval_negatives &&
        sampling_opts_take_given(&store->meta.schema, o.eval, o.neval))
        o.sampling.links.eval_negatives = "given";
    struct gnn_source *src = store_watch(gnn_sampler_source_new(store, &o, &e), store, &e);
    if (!src)
        cli_fail(&e);
    if (o.seeds_name)
        tell_positions(store, &src->meta->sampling);
    sampling_opts_tell(c);
    sampling_opts_tell_messages(&store->meta.schema, &src->meta->sampling);
    unused_tell(&src->meta->schema,
                &(const struct unused_by){.sampling = &src->meta->sampling, .samples = true});
    device_tell_graph(&graph);
    char range[128];
    snprintf(range, sizeof range, "%" PRIu64 ":%" PRIu64 " %" PRIu64 ":%" PRIu64 ":%" PRIu64 " %d",
             o.epoch_from, o.epoch_to, o.step_from, o.step_to, o.step_stride, o.count_once);
    ranks_agree(c, src->meta, range);
    run.total = expected_batches(&src->meta->sampling);
    run.store = store;
    run.gpu = assembled ? NULL : o.gpu;
    batches_run(src, &run);
    gnn_gpu_close(o.gpu);
    gnn_store_close(store);
    return cli_finish();
}
