/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/metric.h"

#include "cmd/cli.h"
#include "lib/model/task.h"

struct gnn_measure metric_read(const char *text, enum gnn_task task)
{
    struct gnn_err e = {0};
    struct gnn_measure m;
    if (gnn_task_metric(task, text, &m, &e))
        cli_fail(&e);
    return m;
}

void metric_tell(struct gnn_measure m, const struct gnn_schema *c)
{
    if (gnn_task_labels[c->task].classes == 2 && c->nclasses == 2 && c->class_name &&
        gnn_metric_ranks(m.metric) && m.metric != GNN_ROC_AUC)
        cli_note("positive nodes are those of class '%s', the second in the order of names",
                 c->class_name[1]);
}
