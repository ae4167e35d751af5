/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/metric.h"

#include "cmd/cli.h"
#include "cmd/opt.h"

void metric_check(const char *text)
{
    struct gnn_measure m;
    if (text && !gnn_measure_read(text, &m))
        opt_unknown("metric", text, METRIC_WORDS);
}

struct gnn_measure metric_read(const char *text, enum gnn_task task)
{
    struct gnn_measure m = {.metric = gnn_metric_usual(task)};
    if (text && !gnn_measure_read(text, &m))
        opt_unknown("metric", text, METRIC_WORDS);
    if (!gnn_metric_defined(m.metric, task))
        cli_usage("metric %s is not defined for %s tasks", text, gnn_task_name(task));
    return m;
}
