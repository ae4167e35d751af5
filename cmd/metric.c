/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/metric.h"

#include <stdio.h>
#include <string.h>

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

const char *metric_text(char out[METRIC_TEXT], const struct gnn_measured *v)
{
    char value[32], best[32], worst[32];
    cli_number(value, v->value);
    cli_number(best, v->optimistic);
    cli_number(worst, v->pessimistic);
    if (strcmp(best, worst) == 0)
        snprintf(out, METRIC_TEXT, "%s", value);
    else
        snprintf(out, METRIC_TEXT, "%s (optimistic %s, pessimistic %s)", value, best, worst);
    return out;
}

/* The value by another convention: its name in place of "realistic". */
static void add_tied(json_t *object, const char *name, const char *convention, double v)
{
    char key[64];
    const char *end = strrchr(name, '-');
    snprintf(key, sizeof key, "%.*s-%s", end ? (int)(end - name) : 0, name, convention);
    cli_metrics_number(object, key, v);
}

void metric_json(json_t *object, struct gnn_measure m, const struct gnn_measured *v)
{
    char capacity[48];
    const char *name = gnn_measure_name(m, capacity);
    cli_metrics_number(object, name, v->value);
    if (!(v->optimistic > v->pessimistic))
        return;
    add_tied(object, name, "optimistic", v->optimistic);
    add_tied(object, name, "pessimistic", v->pessimistic);
}
