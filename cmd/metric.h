/* SPDX-License-Identifier: Apache-2.0 */
/* The option --metric of gnn-train and gnn-predict. */
#ifndef GNN_CMD_METRIC_H
#define GNN_CMD_METRIC_H

#include "lib/data/schema.h"
#include "lib/model/metrics.h"

#define METRIC_OPT(text)                                                                           \
    {                                                                                              \
        OPT_STR, 0, "metric", (text), "NAME",                                                      \
            "metric to report: " METRIC_HELP                                                       \
            " (default: accuracy; roc-auc for binary and multilabel tasks; rmse for regression)",  \
            GNN_METRIC_WORDS                                                                       \
    }
#define METRIC_SAID(id, name, value, example) name value
#define METRIC_SAID_NEXT(id, name, value, example) ", " name value
#define METRIC_SAID_LAST(id, name, value, example) " or " name value
#define METRIC_HELP GNN_METRICS(METRIC_SAID, METRIC_SAID_NEXT, METRIC_SAID_LAST)

#define METRIC_WORD(id, name, value, example) "|" name value
#define METRIC_WORDS GNN_METRICS(METRIC_SAID, METRIC_WORD, METRIC_WORD)

/* Ends the program if the option is given, and names no metric. */
void metric_check(const char *text);
/* The metric that the option names or, where text is NULL, the task's default. Ends the program
 * unless it is defined for the task. */
struct gnn_measure metric_read(const char *text, enum gnn_task task);
/* Says which class is the positive one, if the metric would be another for the other class and
 * classes have names. */
void metric_tell(struct gnn_measure m, const struct gnn_schema *c);

#endif
