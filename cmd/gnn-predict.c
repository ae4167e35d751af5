/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-predict: a store, or batches, and a model in; one row per node, seed or link, and scores,
 * out. */
#include "cmd/cli.h"
#include "cmd/feed.h"
#include "cmd/metric.h"
#include "cmd/precision.h"
#include "cmd/predict_batches.h"
#include "cmd/predict_links.h"
#include "cmd/predict_model.h"
#include "cmd/predict_opts.h"
#include "cmd/predict_run.h"
#include "cmd/ranks.h"
#include "cmd/sets.h"
#include "cmd/threads.h"
#include "cmd/unused.h"
#include "lib/base/plural.h"

/* Where nodes and labels come from, for messages and names of sets. */
struct graph {
    const struct gnn_schema *schema;
    const char *name;
};

/* Labels in columns need as many outputs. Of classes the graph may have fewer than the model, if
 * their numbers mean the same. */
static void check_task(const struct graph *g, const struct gnn_model *m)
{
    const struct gnn_schema *c = g->schema;
    const bool same = c->task == m->c.task && c->nclasses == m->c.outputs;
    if (c->task && !same && (gnn_task_columns(c->task) || gnn_task_columns(m->c.task)))
        cli_die(3,
                "%s: labels of a %s task with %u columns or classes cannot score a model of a %s "
                "task with %u output%s",
                g->name, gnn_task_name(c->task), c->nclasses, gnn_task_name(m->c.task),
                m->c.outputs, gnn_plural(m->c.outputs));
    const uint32_t classes = gnn_model_classes(&m->c);
    if (!c->task || gnn_task_columns(m->c.task) || c->nclasses == classes)
        return;
    if (c->nclasses > classes)
        cli_die(3, "%s: has %u classes, and the model %u: its labels cannot score the model",
                g->name, c->nclasses, classes);
    if (!c->class_name) /* names have been compared */
        cli_note("warning: %s has %u classes, and the model %u: the figures are wrong unless a "
                 "class has the same number in both",
                 g->name, c->nclasses, classes);
}

/* What can be refused before hours of work is. */
static struct gnn_measure check_options(const struct graph *g, const struct gnn_model *m)
{
    const struct gnn_measure kind = metric_read(predict.metric, m->c.task);
    if (m->c.decoder)
        return kind;
    if (predict.sets.n || predict.none)
        check_task(g, m);
    if (predict.sets.n && !feed.comm->rank)
        metric_tell(kind, g->schema);
    return kind;
}

int main(int argc, char **argv)
{
    struct gnn_model m;
    struct gnn_source *src = NULL;
    struct graph g;
    const char *name = NULL;
    char **args;
    int nargs, out = -1;

    threads_wait_briefly(argv);
    cli_start("gnn-predict", argc, argv);
    ranks_start();
    const bool batches = predict_opts_read(argc, argv, &args, &nargs);
    threads_start(predict.threads);
    feed.comm = batches ? ranks_open(predict.timeout) : gnn_comm_self();
    feed_start();
    if (!feed.store_path)
        src = feed_open(NULL);
    g = src ? (struct graph){&src->meta->schema, feed.input ? feed.input : "stdin"}
            : (struct graph){&feed.store.meta.schema, feed.store.path};
    const char *path = args[nargs - 1];
    predict_open_model(&m, path, &predict.map, g.schema, g.name);
    if (src)
        predict_compare(&m, path, &src);
    if (!batches)
        predict_check_layers(&m, path, g.name, predict.layer_wise);
    predict_links_check(&m, path, batches);
    if (!src && !(m.c.decoder && batches))
        predict.split =
            sets_choose(&predict.sets, predict.none && !predict.sets.n, &feed.store, &m, path);
    const struct gnn_measure kind = check_options(&g, &m);
    (void)predict_output_kind(&m, !batches);
    if (batches && !src) {
        feed_needs(&m.c);
        src = predict_draw(&m, path, &predict.sets);
    }
    if (!predict.none && !feed.comm->rank)
        out = (m.c.decoder && batches && predict_links_text(&m) ? cli_out_text
                                                                : cli_out)(predict.output, &name);
    if (feed.comm->rank)
        cli_spare_stdout();
    unused_tell(g.schema, &(const struct unused_by){.model = &m.c,
                                                    .sampling = src ? &src->meta->sampling : NULL,
                                                    .samples = src && feed.store_path});
    const struct gnn_ops *ops = precision_ops(predict.precision);
    const bool told = feed.comm->rank || precision_tell(ops);
    if (batches && m.c.decoder)
        predict_links(&m, src, g.name, ops, kind, out, name);
    else if (batches)
        predict_batches(&m, src, g.name, ops, kind, out, name);
    else
        predict_layers(&m, ops, kind, out, name);
    if (!told)
        (void)precision_tell(ops);
    ops->free(ops);
    feed_close(src);
    if (batches) {
        ranks_close(feed.comm);
        cli_out_commit();
    }
    gnn_model_release(&m);
    gnn_store_close(&feed.store);
    return cli_finish();
}
