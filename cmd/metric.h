/* SPDX-License-Identifier: Apache-2.0 */
/* The option --metric of gnn-train and gnn-predict. */
#ifndef GNN_CMD_METRIC_H
#define GNN_CMD_METRIC_H

#include "lib/data/schema.h"
#include "lib/model/metrics.h"

/* The metric that the option names or, where text is NULL, the default of the task. Ends the
 * program unless it is defined for the task; of GNN_TASK_NONE, unless it is a metric. */
struct gnn_measure metric_read(const char *text, enum gnn_task task);
/* Says which class is the positive one, if the metric would be another for the other class and
 * classes have names. */
void metric_tell(struct gnn_measure m, const struct gnn_schema *c);

#endif
