/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/metric.h"

#include "cmd/cli.h"
#include "cmd/opt.h"
#include "lib/model/task.h"

void metric_check(const char *text)
{
    struct gnn_measure m;
    if (text && !gnn_measure_read(text, &m))
        opt_unknown("metric", text, METRIC_WORDS);
}

struct gnn_measure metric_read(const char *text, enum gnn_task task)
{
    struct gnn_measure m = {.metric = gnn_tasks[task].usual};
    if (text && !gnn_measure_read(text, &m))
        opt_unknown("metric", text, METRIC_WORDS);
    if (!gnn_metric_defined(m.metric, task))
        cli_usage("metric %s is not defined for %s tasks", text, gnn_task_name(task));
    return m;
}

void metric_tell(struct gnn_measure m, const struct gnn_schema *c)
{
    if (gnn_task_labels[c->task].classes == 2 && c->nclasses == 2 && c->class_name &&
        gnn_metric_ranks(m.metric) && m.metric != GNN_ROC_AUC)
        cli_note("positive nodes are those of class '%s', the second in the order of names",
                 c->class_name[1]);
}
