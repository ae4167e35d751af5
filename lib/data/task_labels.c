/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/task_labels.h"

#include <string.h>

const struct gnn_task_labels gnn_task_labels[] = {
    [GNN_TASK_NONE] = {"none"},
    [GNN_TASK_MULTICLASS] = {"multiclass", .form = GNN_LABEL_CLASS},
    [GNN_TASK_BINARY] = {"binary", .form = GNN_LABEL_TARGET, .classes = 2, .outputs = 1},
    [GNN_TASK_MULTILABEL] = {"multilabel", .columns = true, .form = GNN_LABEL_TARGET},
    [GNN_TASK_REGRESSION] = {"regression", .columns = true, .form = GNN_LABEL_NUMBER},
    [GNN_TASK_LINKS] = {"links", .form = GNN_LABEL_TARGET, .classes = 2},
    {NULL},
};

int gnn_task_find(const char *name)
{
    int t = 0;
    while (name && gnn_task_labels[t].name && strcmp(gnn_task_labels[t].name, name) != 0)
        t++;
    return name && gnn_task_labels[t].name && t != GNN_TASK_LINKS ? t : -1;
}
