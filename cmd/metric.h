/* SPDX-License-Identifier: Apache-2.0 */
/* The option --metric of gnn-train and gnn-predict. */
#ifndef GNN_CMD_METRIC_H
#define GNN_CMD_METRIC_H

#include <jansson.h>

#include "lib/data/schema.h"
#include "lib/model/metrics.h"

/* The metric that the option names or, where text is NULL, the default of the task. Ends the
 * program unless it is defined for the task; of GNN_TASK_NONE, unless it is a metric. */
struct gnn_measure metric_read(const char *text, enum gnn_task task);
/* Says which class is the positive one, if the metric would be another for the other class and
 * classes have names. */
void metric_tell(struct gnn_measure m, const struct gnn_schema *c);
/* "0.5234" or, where ties change these digits, "0.5234 (optimistic 0.6012, pessimistic 0.4409)".
 * Returns out. */
enum { METRIC_TEXT = 128 };
const char *metric_text(char out[METRIC_TEXT], const struct gnn_measured *v);
/* Adds the value to an object, with others where ties change it: mrr-realistic, mrr-optimistic and
 * mrr-pessimistic. */
void metric_json(json_t *object, struct gnn_measure m, const struct gnn_measured *v);

#endif
