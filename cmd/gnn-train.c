/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-train: batches in, a model out. */
#include <string.h>
#include <unistd.h>

#include "cmd/threads.h"
#include "cmd/cli.h"
#include "cmd/metric.h"
#include "cmd/precision.h"
#include "cmd/ranks.h"
#include "cmd/sets.h"
#include "cmd/sig.h"
#include "cmd/train_feed.h"
#include "cmd/train_full.h"
#include "cmd/train_links.h"
#include "cmd/train_lock.h"
#include "cmd/train_model.h"
#include "cmd/train_opts.h"
#include "cmd/train_progress.h"
#include "cmd/train_resume.h"
#include "cmd/train_stop.h"
#include "cmd/train_text.h"
#include "cmd/train_timeline.h"
#include "cmd/train_weights.h"
#include "cmd/untrained.h"
#include "lib/model/model_file.h"

/* Without checkpoints, signals act at once until there is a step to keep. */
static bool stop_asked(void *arg, bool cut)
{
    const struct train_text *x = arg;
    if (!train_set.o.checkpoint && x->t->s.any)
        sig_defer();
    return (cut || sig_pending()) && sig_settled();
}

/* Does not return on failure, nor when it was asked to stop and a checkpoint was written. Returns
 * whether it was asked to stop. */
static bool train_model(struct gnn_trainer *t, struct gnn_source *src, struct train_text *text,
                        struct gnn_err *e)
{
    const struct gnn_train_hooks hooks = {text, stop_asked, train_text_step, train_text_epoch};
    const struct gnn_train_hooks quiet = {text, stop_asked, NULL, NULL};
    const int rc = gnn_trainer_run(t, src, feed.comm->rank ? &quiet : &hooks, e);
    cli_progress_end();
    if (rc == GNN_E_STOPPED && t->s.any && train_set.o.checkpoint)
        train_stop_saved(t, train_opts_end());
    if (rc && !(rc == GNN_E_STOPPED && t->s.any))
        feed_fail(e);
    return rc != 0;
}

/* Whether the model takes the name of its file. What was stopped in its first epoch replaces no
 * file of before. */
static bool is_worth(const struct train_text *text, bool stopped)
{
    return !stopped || text->epochs || !train.output || access(train.output, F_OK);
}

/* Which edges the model that is written leaves out; those of links perhaps since each batch had all
 * of them. */
static void tell_untrained(const struct gnn_trainer *t, const struct gnn_sampling *s)
{
    const char *links = s->links.exclude != GNN_EXCLUDE_NONE ? s->links.type : NULL;
    bool *list;
    (void)gnn_trainer_result(t, &list);
    const char *text = untrained_text(&t->m->c, list);
    if (*text)
        cli_note(
            "training had no edge of these types, which the model leaves out: %s%s", text,
            links && strstr(text, links)
                ? "; edges that are links of a batch are excluded from it: -b below the number "
                  "of links leaves some"
                : "");
}

/* Writes the model, and says what has come of the run. Does not return if a signal has stopped it.
 */
static void end_run(struct gnn_trainer *t, const struct gnn_sampling *s, struct train_text *text,
                    int out, const char *name, bool stopped)
{
    const bool worth = is_worth(text, stopped);
    struct gnn_err e = {0};
    if ((feed.store_path && gnn_store_verified(&feed.store, &e)) ||
        (!train_set.o.comm->rank && gnn_trainer_write(t, out, name, &e)))
        cli_fail(&e);
    train_full_tell(train_set.o.full, train_set.o.comm, text->epochs, text->steps);
    if (!train_set.o.comm->rank) {
        train_text_times(train_set.o.ops);
        train_timeline_tell(feed.gpu, s);
        train_text_end(text, stopped);
        train_progress_waited(t, text->waited, text->waited + text->trained + text->evaluated,
                              feed.store_path != NULL);
        tell_untrained(t, s);
    }
    if (!stopped)
        return;
    if (worth)
        cli_out_commit();
    train_stop_written(t, train_opts_end(), name, worth);
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_model m;
    struct gnn_trainer t;
    struct train_text text = {0};
    const char *name;
    char metric_name[48];

    sig_defer(); /* until the options tell whether there are checkpoints */
    threads_wait_briefly(argv);
    cli_start("gnn-train", argc, argv);
    ranks_start();
    train_opts_read(argc, argv);
    struct gnn_comm *c = feed.comm = train_set.o.comm = ranks_open(train.timeout);
    if (train.resume) {
        train_lock(c, train_set.o.checkpoint, false, train.timeout / 2);
        train_resume_find(c);
    }
    train_feed.output = train.output;
    struct gnn_source *src = train_feed_open(&train_feed);
    ranks_agree(c, src->meta, NULL);
    const int out = c->rank ? -1 : cli_out(ranks_path(train.output, NULL), &name);
    if (c->rank)
        cli_spare_stdout();
    train_model_make(&m, &src, &e);
    train_opts_finish(src->meta, &m);
    sets_tell_selection(feed.store_path && !m.c.decoder ? &feed.store : NULL,
                        src->meta->sampling.split, src->meta->sampling.nsplits,
                        train_opts_select(&src->meta->sampling) &&
                            (train_set.o.keep == GNN_KEEP_BEST || train_set.o.patience),
                        gnn_measure_name(train_set.o.metric, metric_name));
    if (!c->rank && src->meta->sampling.nsplits > 1 && !m.c.decoder)
        metric_tell(train_set.o.metric, &src->meta->schema);
    train_set.o.class_weight = train_weights_read(train.class_weights, &src->meta->schema);
    train_weights_tell_few(&src->meta->schema, &src->meta->sampling);
    train_set.o.ops = precision_ops(train.precision);
    train_set.o.full =
        train_full_open(&m, &feed.store, &src->meta->sampling, train_set.o.ops, train.output);
    if (train_set.o.checkpoint)
        train_lock(c, train_set.o.checkpoint, true, 0);
    train_resume_check(c);
    if (gnn_trainer_init(&t, &m, src->meta, &train_set.o, &e))
        cli_fail(&e);
    if (train.resume)
        train_resume_load(&t, &e);
    train_text_init(&text, &t);
    train_links_keep();
    train_progress_begin(train_opts_end());
    const bool stopped = train_model(&t, src, &text, &e);
    end_run(&t, &src->meta->sampling, &text, out, name, stopped);
    gnn_trainer_release(&t);
    gnn_full_free(train_set.o.full);
    gnn_model_release(&m);
    train_set.o.ops->free(train_set.o.ops);
    train_feed_close(&train_feed, src);
    ranks_close(c);
    cli_out_commit();
    gnn_store_close(&feed.store);
    return cli_finish();
}
