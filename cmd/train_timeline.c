/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_timeline.h"

#include <jansson.h>
#include <stdio.h>

#include "cmd/cli.h"

static const char *const work[GNN_GPU_WORKS] = {"sampling", "copying", "gathering", "training"};

struct timeline {
    const struct gnn_sampling *sampling;
    uint64_t batches;
    double idle, spent[GNN_GPU_WORKS], beside[GNN_GPU_WORKS];
};

static void tell_batch(void *arg, const struct gnn_gpu_times *t)
{
    struct timeline *x = arg;
    const char *set = x->sampling->split[t->split];
    char line[256];
    size_t n = 0;
    json_t *j = json_pack("{s:s, s:I, s:I, s:s}", "event", "timeline", "epoch",
                          (json_int_t)t->epoch, "step", (json_int_t)t->step, "set", set);
    x->idle += t->idle;
    for (unsigned k = 0; k < GNN_GPU_WORKS; k++) {
        if (!t->of[k].known)
            continue;
        const double start = t->of[k].start, end = t->of[k].end;
        n += (size_t)snprintf(line + n, sizeof line - n, "%s %s %.3f to %.3f", n ? "," : ":",
                              work[k], start, end);
        (void)json_object_set_new(j, work[k], json_pack("[f, f]", start, end));
        x->spent[k] += end - start;
        x->beside[k] += t->of[k].beside;
    }
    if (!x->batches++)
        cli_note("time line, in ms from the beginning of training on each batch:");
    cli_note("%s %llu/%llu%s", set, (unsigned long long)t->epoch, (unsigned long long)t->step,
             line);
    cli_metrics(j);
}

void train_timeline_tell(struct gnn_gpu *g, const struct gnn_sampling *sampling)
{
    struct timeline x = {.sampling = sampling};
    struct gnn_err e = {0};
    if (g && g->ops->timeline(g, tell_batch, &x, &e))
        cli_fail(&e);
    for (unsigned k = 0; k < GNN_GPU_TRAINING; k++)
        if (x.spent[k] > 0)
            cli_note("%s: %.0f %% of %.3f ms while a batch was trained on", work[k],
                     100 * x.beside[k] / x.spent[k], x.spent[k]);
    if (x.batches)
        cli_note("training: %.3f ms, and %.3f ms between batches", x.spent[GNN_GPU_TRAINING],
                 x.idle);
}
