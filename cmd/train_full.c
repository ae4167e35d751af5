/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_full.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cmd/cli.h"
#include "lib/train/train_defaults.h"
#include "lib/base/plural.h"

static bool full, needed_only;
static uint32_t layers = TRAIN_LAYERS, depth = TRAIN_PIPELINE_DEPTH;
static uint64_t eval_every = 1;
static double boundary = 1;
static int remote_rows, message_dtype;
static uint64_t memory;
static uint64_t before; /* bytes of the process when full batches are set up */

const struct opt train_full_opts[] = {
    {.kind = OPT_GROUP, .help = "Full batches"},
    {OPT_FLAG, 0, "full-batch", &full, NULL,
     "one exact step on all seeds in each epoch, partition by partition"},
    {OPT_U32, 0, "layers", &layers, "N",
     "layers of the model, here and with --induced or --clusters " TRAIN_SAY(TRAIN_LAYERS),
     .min = 1, .max = GNN_LAYERS_MAX},
    {OPT_U64, 0, "eval-every", &eval_every, "N",
     "epochs from one evaluation to the next (default: 1)", .min = 1, .max = 1e15},
    {OPT_CHOICE, 0, "remote-rows", &remote_rows, "HOW",
     "rows of other partitions that the backward pass needs: fetch them again, keep them, or keep "
     "them and fetch all at once (default: refetch)",
     "refetch|keep|all"},
    {OPT_U32, 0, "pipeline-depth", &depth, "N",
     "rounds of rows that are fetched ahead " TRAIN_SAY(TRAIN_PIPELINE_DEPTH), .min = 1,
     .max = 1024},
    {OPT_DOUBLE, 0, "boundary", &boundary, "Q",
     "approximate: in each step, a partition uses each row of another one with probability Q, "
     "divided by Q (default: 1, exact)",
     .min = 1e-6, .max = 1},
    {OPT_CHOICE, 0, "message-dtype", &message_dtype, "TYPE",
     "type of rows and gradients between partitions; bf16: approximate, rounded stochastically "
     "(default: f32)",
     "f32|bf16"},
    {OPT_FLAG, 0, "needed-only", &needed_only, NULL,
     "compute only the rows that the seeds depend on"},
    {OPT_U64, 0, "memory", &memory, "SIZE",
     "memory of the process, with k, M, G or T: partitions take turns, and rows that are not in use "
     "lie in a temporary file (default: no limit)",
     .min = 1, .max = 1e18, .bytes = true},
    {.kind = OPT_END},
};

bool train_full(void)
{
    return full;
}

uint64_t train_full_eval_every(bool evaluates)
{
    if (!evaluates)
        opt_refuse(OPTS(&eval_every), "requires a set to evaluate: --eval valid");
    return eval_every;
}

void train_full_check(void)
{
    if (!full)
        opt_refuse(OPTS(&eval_every, &remote_rows, &depth, &boundary, &message_dtype, &needed_only,
                        &memory),
                   "requires --full-batch");
    if (boundary >= 1)
        opt_refuse(OPTS(&boundary), "1 has no effect: all rows are used");
    else if (needed_only)
        opt_refuse(OPTS(&boundary), "cannot be used with --needed-only");
    if (memory) {
        opt_refuse(OPTS(&remote_rows, &depth),
                   "has no effect with --memory: rows between partitions go through a file");
        opt_refuse(OPTS(&needed_only), "cannot be used with --memory");
    }
    if (remote_rows == GNN_FULL_ALL)
        opt_refuse(OPTS(&depth), "has no effect with --remote-rows all");
    if (boundary >= 1 && !message_dtype)
        return;
    json_t *names = json_object();
    if (boundary < 1)
        json_object_set_new(names, "boundary", json_real(boundary));
    if (message_dtype)
        json_object_set_new(names, "message_dtype", json_string("bf16"));
    cli_metrics_also(names);
}

uint32_t train_full_layers(const struct gnn_sampling *m)
{
    if (full || m->induced)
        return layers;
    opt_refuse(OPTS(&layers),
               "requires --full-batch, --induced or --clusters; else -f determines the layers");
    return m->nhops;
}

const char *train_full_words(void)
{
    static char text[64];
    size_t n = 0;
    if (boundary < 1)
        n = (size_t)snprintf(text, sizeof text, ", boundary %.6g", boundary);
    if (message_dtype)
        snprintf(text + n, sizeof text - n, ", bf16 messages");
    return text;
}

void train_full_sampling(const struct gnn_store *s, struct gnn_sampler_opts *o)
{
    static const char *list;
    static char text[2 * GNN_LAYERS_MAX];
    const struct gnn_schema *c = &s->meta.schema;
    for (uint32_t l = 0; l < layers; l++) {
        text[2 * l] = '0';
        text[2 * l + 1] = l + 1 < layers ? ',' : '\0';
    }
    list = text;
    o->fanout = &list;
    o->nfanout = 1;
    o->sampling.shuffle = false;
    o->sampling.batch_size = 1;
    for (uint32_t i = 0; i < c->nsets; i++)
        if (!c->set[i].links && c->set[i].count > o->sampling.batch_size)
            o->sampling.batch_size =
                c->set[i].count > UINT32_MAX ? UINT32_MAX : (uint32_t)c->set[i].count;
}

/* How much of the graph a step leaves out. */
static void tell_needed(const struct gnn_full *f, const struct gnn_model *m)
{
    bool whole = true;
    uint64_t all;
    json_t *rows = json_array();
    for (uint32_t l = 0; l <= m->c.nlayers; l++) {
        const uint64_t n = gnn_full_level_rows(f, l, &all);
        json_array_append_new(rows, json_integer((json_int_t)n));
        whole = whole && n == all;
        if (l)
            cli_note("layer %u: %" PRIu64 " of %" PRIu64 " row%s", l, n, all, gnn_plural(all));
    }
    if (whole)
        cli_note("--needed-only has no effect: the seeds depend on all rows of each layer");
    cli_metrics(json_pack("{s:s, s:o}", "event", "needed_only", "rows", rows));
}

/* The temporary file lies where the model will be, or where temporary files are. */
static const char *place_beside(const char *output, char capacity[4096])
{
    const char *dir = getenv("TMPDIR");
    if (output && strcmp(output, "-"))
        return output;
    (void)snprintf(capacity, 4096, "%s/gnn-train", dir && *dir ? dir : "/tmp");
    return capacity;
}

struct gnn_full *train_full_open(const struct gnn_model *m, struct gnn_store *s,
                                 const struct gnn_sampling *of, const struct gnn_ops *ops,
                                 const char *output)
{
    struct gnn_err e = {0};
    char capacity[4096];
    const struct gnn_full_opts o = {.ops = ops,
                                    .remote = (enum gnn_full_remote)remote_rows,
                                    .depth = depth,
                                    .boundary = boundary < 1 ? boundary : 0,
                                    .bf16 = message_dtype != 0,
                                    .needed_only = needed_only,
                                    .set = (const char *const *)of->split,
                                    .nsets = of->nsplits,
                                    .memory = memory,
                                    .beside = place_beside(output, capacity)};
    bool fetches = false;
    if (!full)
        return NULL;
    if (s->comm->size > 1)
        opt_refuse(OPTS(&memory), "requires one rank: ranks have memory of their own");
    if (ops->async)
        opt_refuse(OPTS(&memory), "requires --device cpu");
    if (s->nparts == 1)
        opt_refuse(OPTS(&remote_rows, &depth, &boundary, &message_dtype),
                   "has no effect: the store has one partition");
    /* Not refused, so that the same command works on any number of ranks. */
    if (s->comm->size == 1)
        opt_warn(&depth, "rows travel only between ranks, and there is one");
    for (uint32_t i = 0; i < m->nconvs; i++)
        fetches = fetches || (m->conv[i].needed && m->conv[i].layer->fetches);
    if (!fetches && remote_rows == GNN_FULL_KEEP)
        opt_refuse(OPTS(&remote_rows),
                   "keep has no effect: the backward pass of this model needs no "
                   "rows of other partitions");
    if (m->c.batch_norm)
        opt_refuse(OPTS(&needed_only),
                   "cannot be used with --batch-norm, whose statistics are over all rows");
    /* What is freed shall go back to the system at once, and not stay as space of malloc's. */
    if (!memory)
        mallopt(M_MMAP_THRESHOLD, 1 << 20);
    before = gnn_mem_resident();
    struct gnn_full *f = gnn_full_new(m, s, &o, &e);
    if (!f)
        cli_fail(&e);
    if (needed_only && !s->comm->rank)
        tell_needed(f, m);
    return f;
}

/* What went through the temporary file. */
static void tell_memory(const struct gnn_swap_stats *x, uint64_t epochs)
{
    const double each = 1e-6 / (double)epochs;
    /* As the option takes it. */
    const uint64_t enough = (x->least + (1 << 20) - 1) >> 20;
    cli_note(
        "temporary file: %.1f MB written and %.1f MB read in an epoch%s, waited for %.2f s; "
        "with %.1f MB that must stay free, the smallest --memory for this run is about %" PRIu64
        "M",
        (double)x->written * each, (double)x->read * each,
        x->direct ? "" : " through the page cache, as there is no direct I/O",
        x->waited / (double)epochs, 1e-6 * (double)x->margin, enough);
    cli_metrics(json_pack("{s:s, s:I, s:I, s:f, s:b, s:I, s:I}", "event", "memory", "written_bytes",
                          (json_int_t)x->written, "read_bytes", (json_int_t)x->read, "waited_s",
                          x->waited, "direct", x->direct, "least_bytes", (json_int_t)(enough << 20),
                          "margin_bytes", (json_int_t)x->margin));
}

/* What the formula gives for the partitions of the rank that has most memory; of several, the
 * first. Collective. Adds to event. */
static void tell_size(struct gnn_full *f, struct gnn_comm *c, bool most, json_t *event)
{
    enum { NUMBERS = sizeof(struct gnn_full_size) / sizeof(uint64_t) };
    struct gnn_full_size s;
    struct gnn_err e = {0};
    const uint64_t turn = most ? c->size - c->rank : 0;
    uint64_t first = turn;
    if (gnn_comm_all_reduce(c, &first, 1, GNN_REDUCE_MAX, &e))
        cli_fail(&e);
    if (!gnn_full_size(f, &s) || turn != first)
        s = (struct gnn_full_size){0};
    if (turn != first)
        before = 0;
    if (gnn_comm_all_reduce(c, &s, NUMBERS, GNN_REDUCE_MAX, &e) ||
        gnn_comm_all_reduce(c, &before, 1, GNN_REDUCE_MAX, &e))
        cli_fail(&e);
    if (c->rank || !s.all)
        return;
    cli_note(
        "memory of the largest rank by the formula of gnn-fullbatch(7): %.1f MB (edges %.1f, "
        "features %.1f, rows %.1f, gradients %.1f, messages %.1f, parameters %.1f), and %.1f MB "
        "that the program had before",
        1e-6 * (double)s.all, 1e-6 * (double)s.edges, 1e-6 * (double)s.features,
        1e-6 * (double)s.rows, 1e-6 * (double)s.gradients, 1e-6 * (double)s.messages,
        1e-6 * (double)s.parameters, 1e-6 * (double)before);
    json_object_update_new(event,
                           json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "formula_bytes",
                                     (json_int_t)s.all, "edges_bytes", (json_int_t)s.edges,
                                     "features_bytes", (json_int_t)s.features, "rows_bytes",
                                     (json_int_t)s.rows, "gradients_bytes", (json_int_t)s.gradients,
                                     "messages_bytes", (json_int_t)s.messages, "parameters_bytes",
                                     (json_int_t)s.parameters, "before_bytes", (json_int_t)before));
}

void train_full_tell(struct gnn_full *f, struct gnn_comm *c, uint64_t epochs, uint64_t steps)
{
    struct gnn_err e = {0};
    struct rusage used;
    if (!f)
        return;
    const struct gnn_full_stats s = gnn_full_stats(f);
    uint64_t sum[] = {s.fetched, s.pushed, s.evaluated};
    getrusage(RUSAGE_SELF, &used);
    const uint64_t own = (uint64_t)used.ru_maxrss << 10;
    uint64_t peak = own;
    if (gnn_comm_all_reduce(c, sum, 3, GNN_REDUCE_U64, &e) ||
        gnn_comm_all_reduce(c, &peak, 1, GNN_REDUCE_MAX, &e))
        cli_fail(&e);
    json_t *event =
        json_pack("{s:s, s:I, s:I, s:I, s:I}", "event", "full_batch", "fetched_bytes",
                  (json_int_t)sum[0], "pushed_bytes", (json_int_t)sum[1], "evaluated_bytes",
                  (json_int_t)sum[2], "memory_bytes", (json_int_t)peak);
    const bool tells = !c->rank && epochs;
    if (tells) {
        /* After resuming, the first epoch may lack its step, which was made before. */
        const double each = 1e-6 / (double)epochs, step = 1e-6 / (double)(steps ? steps : 1);
        cli_note(
            "between partitions: %.1f MB of rows and %.1f MB of gradients a step, %.1f MB of rows "
            "an epoch for evaluation; resident %smemory of a rank: at most %.1f MB%s",
            (double)sum[0] * step, (double)sum[1] * step, (double)sum[2] * each,
            gnn_full_options(f)->ops->async ? "host " : "", 1e-6 * (double)peak,
            train_full_words());
    }
    tell_size(f, c, own == peak, event);
    if (tells && memory)
        tell_memory(&s.swap, epochs);
    if (tells)
        cli_metrics(event);
    else
        json_decref(event);
}
