/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/train_resume.h"

#include <sys/stat.h>

#include "cmd/cli.h"
#include "cmd/train_feed.h"
#include "cmd/train_model.h"
#include "cmd/train_opts.h"
#include "cmd/train_stop.h"
#include "lib/base/kind.h"
#include "lib/base/plural.h"
#include "lib/model/model_file.h"

/* Where the checkpoint is; a source that starts there needs not be opened twice. */
void train_resume_find(struct gnn_comm *c)
{
    struct gnn_err e = {0};
    char at[64];
    if (gnn_checkpoint_at(train_set.o.checkpoint, &train_feed.first_epoch, &train_feed.first_step,
                          &train_feed.goes_on, &e) < 0)
        cli_fail(&e);
    snprintf(at, sizeof at, "%d %llu %llu", train_feed.goes_on,
             (unsigned long long)train_feed.first_epoch, (unsigned long long)train_feed.first_step);
    if (gnn_comm_agree(c, "checkpoint", at, &e))
        cli_fail(&e);
}

/* What a run without --resume will replace. Who forgot the option learns so before hours of work
 * are lost; what is no checkpoint has its name by chance, and stays. */
void train_resume_check(const struct gnn_comm *c)
{
    struct gnn_err e = {0}, damaged = {0};
    struct gnn_st_file f;
    struct stat st;
    char *path = train_set.o.checkpoint && !train.resume && !c->rank
                     ? gnn_strf(&e, "%s/checkpoint.safetensors", train_set.o.checkpoint)
                     : NULL;
    if (e.code)
        cli_fail(&e);
    if (path && !lstat(path, &st)) {
        const bool file = S_ISREG(st.st_mode), read = file && !gnn_st_read(&f, path, &damaged);
        if (damaged.code && damaged.code != GNN_E_INPUT)
            cli_fail(&damaged);
        if (read ? !gnn_st_checkpoint(&f) : file && gnn_kind_path(path) != GNN_KIND_MODEL)
            cli_die(3,
                    "%s: not a checkpoint, and would be replaced: move it, or name another "
                    "directory",
                    path);
        if (read)
            gnn_st_release(&f);
        cli_note("warning: %s exists and will be removed after the first step (--resume would "
                 "continue from it)",
                 path);
    }
    gnn_free(path);
}

void train_resume_load(struct gnn_trainer *t, struct gnn_err *e)
{
    char at[96];
    const int rc = gnn_trainer_load(t, e);
    if (rc < 0)
        cli_fail(e);
    if (rc == GNN_END) {
        cli_note("no checkpoint in %s: starting from the beginning", train_set.o.checkpoint);
        return;
    }
    if (!t->s.any)
        return;
    const uint64_t end = train_opts_end();
    train_stop_at(t, 0, at, sizeof at);
    if (end && t->s.epoch >= end)
        cli_usage("%s: the checkpoint was made %s, but the last epoch of --epochs is %llu",
                  train_set.o.checkpoint, at, (unsigned long long)end - 1);
    const uint64_t next = t->s.epoch + t->s.closed;
    if (train_feed.epochs.given && train_feed.epochs.from > next)
        cli_usage("--epochs %llu:%llu: the checkpoint of %s was made %s, so a run goes on in epoch "
                  "%llu: --epochs %llu",
                  (unsigned long long)train_feed.epochs.from, (unsigned long long)end,
                  train_set.o.checkpoint, at, (unsigned long long)next, (unsigned long long)end);
    cli_note("resuming %s%s", at,
             train_model_init() ? "; its parameters are used, not those of --init" : "");
    if (t->s.stopped_early)
        cli_note("the run had stopped early: %llu epoch%s without improvement (--patience)",
                 (unsigned long long)t->s.since_best, gnn_plural(t->s.since_best));
    if (feed.store_path &&
        (t->s.epoch != train_feed.first_epoch || t->s.step != train_feed.first_step))
        cli_die(1, "%s: the checkpoint was changed by another process", train_set.o.checkpoint);
}
