/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_stop.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "cmd/cli.h"
#include "cmd/sig.h"

const char *train_stop_at(const struct gnn_trainer *t, uint64_t epochs, char *text, size_t capacity)
{
    const uint64_t steps = t->meta->sampling.steps[0];
    char of[32] = "", all[32] = "";
    if (epochs)
        snprintf(of, sizeof of, " of %" PRIu64, epochs);
    if (steps)
        snprintf(all, sizeof all, " of its %" PRIu64, steps);
    if (t->s.closed)
        snprintf(text, capacity, "after epoch %" PRIu64 "%s", t->s.epoch, of);
    else
        snprintf(text, capacity, "in epoch %" PRIu64 "%s, after %" PRIu64 "%s steps", t->s.epoch,
                 of, t->s.step + 1, all);
    return text;
}

void train_stop_late(void)
{
    cli_note("stopping as soon as the step under way is done; a second signal ends the program at "
             "once, and nothing of the run is kept");
}

void train_stop_saved(const struct gnn_trainer *t, uint64_t epochs)
{
    char at[128], best[96] = "";
    if (t->s.has_best)
        snprintf(best, sizeof best, ", with the model of epoch %" PRIu64 ", the best so far",
                 t->s.best_epoch);
    cli_die(75, "stopped %s; the checkpoint is in %s%s", train_stop_at(t, epochs, at, sizeof at),
            t->o.checkpoint, best);
}

void train_stop_written(const struct gnn_trainer *t, uint64_t epochs, const char *name,
                        bool written)
{
    struct gnn_err e = {0};
    char at[128], is[96] = "";
    uint64_t sig = (uint64_t)sig_pending(); /* not all ranks have got it */
    if (gnn_comm_all_reduce(t->comm, &sig, 1, GNN_REDUCE_MAX, &e))
        cli_fail(&e);
    const int by = sig ? (int)sig : SIGTERM;
    train_stop_at(t, epochs, at, sizeof at);
    if (!written)
        cli_stop(by,
                 "stopped by %s %s; no epoch is complete, so its steps are lost, and %s is as it "
                 "was",
                 sig_name(by), at, name);
    if (t->o.keep == GNN_KEEP_BEST && t->s.has_best)
        snprintf(is, sizeof is, "of epoch %" PRIu64 ", the best so far", t->s.best_epoch);
    else
        snprintf(is, sizeof is, "of the last step%s",
                 t->o.keep == GNN_KEEP_BEST && t->meta->sampling.nsplits > 1
                     ? ", as no epoch has been evaluated"
                     : "");
    cli_stop(by, "stopped by %s %s; %s is the model %s", sig_name(by), at, name, is);
}
