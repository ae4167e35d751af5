/* SPDX-License-Identifier: Apache-2.0 */
/* What gnn-sample and gnn-gather have in common (cmd/batches.h): batches go from a source to a
 * stream on stdout or in a file, or are only counted. batches_run does all of it in order: begin
 * the stream, loop over the batches, end the stream, then report. Nothing is committed before every
 * rank has finished. */
#include "cmd/batches.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/device.h"
#include "cmd/ranks.h"
#include "cmd/sig.h"
#include "lib/base/clock.h"
#include "lib/store/store.h"
#include "lib/stream/stream.h"
#include "lib/gpu/gpu.h"

struct totals {
    uint64_t batches;
    union {
        struct {
            uint64_t seeds, nodes, edges, bytes, walks, steps, pairs;
            uint64_t hop_edges[GNN_HOPS_MAX], hop_nodes[GNN_HOPS_MAX];
        };
        uint64_t share[7 + 2 * GNN_HOPS_MAX]; /* all of these: of a rank's share of the batches */
    };
    uint64_t shared, in_place; /* batches that went by reference, and with features in place */
    double first, seconds;     /* until the first batch, and in all */
};

static void add_batch(struct totals *t, const struct gnn_batch *b)
{
    t->batches++;
    for (uint32_t i = 0; i < b->nntypes; i++) {
        t->seeds += b->type[i].count[0];
        t->nodes += gnn_batch_nodes(b, i);
        for (uint32_t h = 0; h < b->nhops; h++)
            t->hop_nodes[h] += b->type[i].count[h + 1] - b->type[i].count[h];
    }
    for (uint32_t h = 0; h < b->nhops; h++)
        for (uint32_t i = 0; i < b->netypes; i++) {
            const struct gnn_block *k = gnn_batch_block(b, h, i);
            const uint64_t n = k->edges;
            t->hop_edges[h] += n;
            t->edges += n;
        }
    t->walks += b->rows[GNN_UNIT_WALKS];
    t->steps += b->steps;
    t->pairs += b->rows[GNN_UNIT_PAIRS];
    for (uint32_t i = 0; i < b->tensors.n; i++) {
        uint64_t bytes;
        const struct gnn_tensor *x = gnn_tensors_at(&b->tensors, i);
        struct gnn_tensor as = *x;
        (void)gnn_batch_in_place(b, x, &as);
        t->bytes += gnn_tensor_bytes(&as, &bytes) ? bytes : 0;
    }
}

/* Adds up the counts of all ranks. Each rank went through all batches, but counted only its own
 * share of them. */
static void add_ranks(struct totals *t, struct gnn_comm *c)
{
    struct gnn_err e = {0};
    if (gnn_comm_all_reduce(c, t->share, sizeof t->share / sizeof *t->share, GNN_REDUCE_U64, &e))
        cli_fail(&e);
}

/* What the time of all batches is good for; not defined without a batch. */
static double per_second(const struct totals *t, uint64_t n)
{
    return t->batches && t->seconds > 0 ? (double)n / t->seconds : NAN;
}

static void report_metrics(const struct totals *t, const struct gnn_sampling *m)
{
    const bool walks = m->walks.length;
    json_t *hops = json_array();
    for (uint32_t h = 0; h < m->nhops; h++)
        json_array_append_new(hops, json_pack("{s:I, s:I}", "edges", (json_int_t)t->hop_edges[h],
                                              "new_nodes", (json_int_t)t->hop_nodes[h]));
    json_t *j = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "batches",
                          (json_int_t)t->batches, "seeds", (json_int_t)t->seeds, "nodes",
                          (json_int_t)t->nodes, "edges", (json_int_t)t->edges, "bytes",
                          (json_int_t)t->bytes, "shared_batches", (json_int_t)t->shared,
                          "in_place_batches", (json_int_t)t->in_place, "walks",
                          (json_int_t)t->walks, "steps", (json_int_t)t->steps, "pairs",
                          (json_int_t)t->pairs, "seconds", t->seconds, "hops", hops);
    cli_metrics_number(j, "first_batch_seconds", t->batches ? t->first : NAN);
    cli_metrics_number(j, walks ? "steps_per_second" : "edges_per_second",
                       per_second(t, walks ? t->steps : t->edges));
    cli_metrics_number(j, "batches_per_second", per_second(t, t->batches));
    cli_metrics(j);
}

static void print_rate(const struct totals *t, bool walks)
{
    if (!t->batches)
        printf("rate not defined\n");
    else if (walks)
        printf("rate %.2f M steps/s\n", per_second(t, t->steps) / 1e6);
    else
        printf("rate %.2f M edges/s, %.2f M nodes/s, %.1f batches/s, %.2f GB/s\n",
               per_second(t, t->edges) / 1e6, per_second(t, t->nodes) / 1e6,
               per_second(t, t->batches), per_second(t, t->bytes) / 1e9);
}

static void print_totals(const struct totals *t, const struct gnn_sampling *m)
{
    const bool walks = m->walks.length;
    printf("batches %" PRIu64 "\nseeds %" PRIu64 "\nnodes %" PRIu64 "\n%s %" PRIu64
           "\nbytes %" PRIu64 "\n",
           t->batches, t->seeds, t->nodes, walks ? "steps" : "edges", walks ? t->steps : t->edges,
           t->bytes);
    if (walks) {
        printf("%s %" PRIu64 "\n", m->walks.window ? "pairs" : "walks",
               m->walks.window ? t->pairs : t->walks);
        print_rate(t, walks);
    }
    for (uint32_t h = 0; h < m->nhops && !walks; h++)
        printf("hop %u: edges %" PRIu64 " new nodes %" PRIu64 "\n", h, t->hop_edges[h],
               t->hop_nodes[h]);
    if (t->batches)
        printf("first batch after %.3f s\n", t->first);
    printf("seconds %.3f\n", t->seconds);
    if (!walks)
        print_rate(t, walks);
}

static void report_totals(const struct totals *t, const struct gnn_sampling *m, bool count)
{
    const bool walks = m->walks.length;
    char shared[48] = "", in_place[48] = "";
    report_metrics(t, m);
    if (count) {
        print_totals(t, m);
        return;
    }
    if (t->shared)
        snprintf(shared, sizeof shared, ", %" PRIu64 " by reference", t->shared);
    if (t->in_place)
        snprintf(in_place, sizeof in_place, ", %" PRIu64 " with features in place", t->in_place);
    cli_info("batches: %" PRIu64 ", seeds: %" PRIu64 ", nodes: %" PRIu64 ", %s: %" PRIu64
             ", %.1f MB, %.2f s%s%s",
             t->batches, t->seeds, t->nodes, walks ? "steps" : "edges", walks ? t->steps : t->edges,
             (double)t->bytes / 1e6, t->seconds, shared, in_place);
}

static struct gnn_writer_opts writer_opts(const struct batches_opts *o)
{
    static const enum gnn_transport transports[] = {[TRANSPORT_AUTO] = GNN_TRANSPORT_AUTO,
                                                    [TRANSPORT_INLINE] = GNN_TRANSPORT_INLINE,
                                                    [TRANSPORT_SHM] = GNN_TRANSPORT_SHM,
                                                    [TRANSPORT_CUDA] = GNN_TRANSPORT_CUDA};
    const bool devices = o->transport == TRANSPORT_AUTO || o->transport == TRANSPORT_CUDA;
    return (struct gnn_writer_opts){o->zstd,
                                    o->zstd ? GNN_TRANSPORT_INLINE : transports[o->transport],
                                    devices && !o->zstd ? o->gpu : NULL, o->in_place};
}

/* Tells the device code which batches must not be copied to the host: those whose memory the next
 * program opens itself. */
static bool stays_on_device(void *w, unsigned device)
{
    return gnn_writer_takes(w, device);
}

void batches_check(const struct batches_opts *o, const char *device)
{
    if (o->zstd && (o->transport == TRANSPORT_SHM || o->transport == TRANSPORT_CUDA))
        cli_usage("--transport %s: compressed tensors go through the pipe",
                  o->transport == TRANSPORT_SHM ? "shm" : "cuda");
    if (o->transport == TRANSPORT_CUDA && device_is_cpu(device))
        cli_usage("--transport cuda: requires --device cuda");
}

void batches_run(struct gnn_source *src, const struct batches_opts *o)
{
    struct gnn_err e = {0};
    struct gnn_writer w = {0};
    struct gnn_batch *b;
    struct totals t = {0};
    const char *name;
    const struct gnn_sampling m = src->meta->sampling; /* numbers only are used, when src is gone */
    int rc = 0;
    bool yielded = false;
    const bool tells = !o->count || !o->comm->rank;
    if (!o->count) {
        const struct gnn_writer_opts wo = writer_opts(o);
        const int fd = cli_out(o->output, &name);
        rc = gnn_writer_begin(&w, fd, name, src->meta, &wo, &e);
    }
    /* Batches that are only counted stay on their device: the host knows their sizes. */
    if (!rc && o->gpu && (!o->count || o->frequency)) {
        src = o->gpu->ops->fetch(o->gpu, src, o->count ? NULL : stays_on_device, &w, &e);
        rc = src ? 0 : e.code;
    }
    struct gnn_frequency freq = {0};
    if (!rc && o->frequency)
        rc = gnn_frequency_init(&freq, o->store, src->meta->sampling.original_ids, &e);
    const double begin = gnn_clock();
    while (!rc && !(rc = gnn_source_next(src, &b, &e))) {
        if (!t.batches)
            t.first = gnn_clock() - o->started;
        add_batch(&t, b);
        if (o->frequency)
            rc = gnn_frequency_add(&freq, b, &e);
        if (!o->count)
            rc = gnn_writer_batch(&w, b, &e);
        /* A reader that takes batches by reference computes on all cores, and one core held by this
         * program would hold up all of its threads (cmd/threads.h). */
        if (w.nref && !yielded && !o->gpu)
            threads_be_nice();
        yielded = w.nref > 0;
        gnn_batch_put(b);
        cli_progress("batches", t.batches, o->total, NULL);
    }
    t.seconds = gnn_clock() - begin;
    if (rc == GNN_END)
        rc = o->count ? 0 : gnn_writer_end(&w, &e);
    t.shared = w.nref;
    t.in_place = w.nin_place;
    if (!rc && o->frequency) {
        const int fd = cli_out(o->frequency, &name);
        rc = gnn_frequency_write(&freq, fd, name, &e);
    }
    gnn_frequency_release(&freq);
    /* Freed before the report, as the threads of the source add their counts when they end. If a
     * rank failed, `lost` keeps the freeing from waiting for the others. */
    gnn_comm_set_lost(o->comm, rc < 0);
    gnn_source_free(src);
    gnn_writer_release(&w);
    cli_progress_end();
    if (rc)
        cli_fail(&e);
    if (o->gathered)
        ranks_tell(o->comm, o->gathered, o->copying);
    if (o->sampled)
        ranks_tell_sample(o->comm, o->sampled);
    if (o->count)
        add_ranks(&t, o->comm);
    ranks_close(o->comm); /* all ranks have all of their results */
    if (!o->count || o->frequency)
        cli_out_commit();
    /* A rank knows its own share only, if nothing is counted. */
    if (o->sampled && gnn_sampling_is_temporal(&m) && t.seeds && !t.edges &&
        (o->count || o->comm->size == 1) && tells)
        cli_note(
            "warning: --time-rule left no edges: are edge times and seed times in the same unit?");
    if (tells)
        report_totals(&t, &m, o->count);
}
