/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/cli.h"
#include "lib/base/clock.h"

static uint64_t end, steps_done;
static double began;

void train_progress_begin(uint64_t epochs)
{
    end = epochs;
}

/* ", best valid accuracy 0.8123 (epoch 10)", or "" */
static const char *say_best(const struct gnn_trainer *t, char text[160])
{
    char name[48];
    *text = 0;
    if (t->s.has_best)
        snprintf(text, 160, ", best %s %s %.4f (epoch %" PRIu64 ")", t->meta->sampling.split[1],
                 gnn_measure_name(t->o.metric, name), t->s.best, t->s.best_epoch);
    return text;
}

/* ", 1:02:33 left", or "". A run with patience may end earlier. */
static const char *say_left(const struct gnn_trainer *t, uint64_t epoch, uint64_t step,
                            uint64_t steps, double each, char text[64])
{
    *text = 0;
    if (!end || !steps || epoch >= end)
        return text;
    const double left = each * ((double)(end - epoch) * (double)steps - (double)(step + 1));
    const uint64_t s = left > 0 ? (uint64_t)(left + 0.5) : 0;
    const char *most = t->o.patience ? "at most " : "";
    if (s >= 3600)
        snprintf(text, 64, ", %s%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", most, s / 3600,
                 s / 60 % 60, s % 60);
    else
        snprintf(text, 64, ", %s%" PRIu64 ":%02" PRIu64 " left", most, s / 60, s % 60);
    return text;
}

void train_progress_step(const struct gnn_trainer *t, uint64_t epoch, uint64_t step, uint64_t steps,
                         double loss)
{
    char what[64], best[160], left[64], extra[320], number[32];
    /* The first step also warms up what the others find ready, and does not count. */
    if (!steps_done++)
        began = gnn_clock();
    const double seconds = gnn_clock() - began,
                 each = steps_done > 1 ? seconds / (double)(steps_done - 1) : 0;
    char rate[48] = "";
    if (each > 0)
        snprintf(rate, sizeof rate, each < 1 ? ", %.1f steps/s" : ", %.1f s/step",
                 each < 1 ? 1 / each : each);
    snprintf(extra, sizeof extra, "loss %s%s%s%s", cli_number(number, loss), say_best(t, best),
             rate, each > 0 ? say_left(t, epoch, step, steps, each, left) : "");
    if (steps == 1 && end) { /* full batches: epochs are the steps */
        cli_progress("epoch", epoch + 1, end, extra);
        return;
    }
    if (end)
        snprintf(what, sizeof what, "epoch %" PRIu64 " of %" PRIu64, epoch, end);
    else
        snprintf(what, sizeof what, "epoch %" PRIu64, epoch);
    cli_progress(what, step + 1, steps, extra);
}

void train_progress_waited(const struct gnn_trainer *t, double waited, double all, bool store)
{
    enum { SECONDS = 3 }; /* less is no loss */
    if (t->o.full || waited < SECONDS || waited < 0.25 * all)
        return;
    cli_note("training waited for batches for %.0f of %.0f s: %s", waited, all,
             store
                 ? "sampling and gathering take longer than the steps (--prefetch N: more threads)"
                 : "the programs before it take longer than the steps");
}
