/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, by what their labels are. */
#ifndef GNN_LIB_DATA_TASK_LABELS_H
#define GNN_LIB_DATA_TASK_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/label.h"

enum gnn_task {
    GNN_TASK_NONE,
    GNN_TASK_MULTICLASS,
    GNN_TASK_BINARY,
    GNN_TASK_MULTILABEL,
    GNN_TASK_REGRESSION,
    GNN_TASK_LINKS /* of models alone: positives or negatives, which batches have; not labels */
};
/* The labels of each task, by its number; what is learned from them is in lib/model/task.h. */
struct gnn_task_labels {
    const char *name; /* of the task, "none" of the first; NULL at the end of the table */
    bool columns;     /* a node has a label in each of several columns; else one, its class */
    enum gnn_label_form form;
    /* how many classes there are, and outputs of a model; 0: as many as the graph has classes or
     * columns */
    uint32_t classes, outputs;
};
extern const struct gnn_task_labels gnn_task_labels[];
/* "none", "multiclass", ... And back, of those with labels; -1: there is no such, or name is NULL.
 */
static inline const char *gnn_task_name(enum gnn_task t)
{
    return gnn_task_labels[t].name;
}
int gnn_task_find(const char *name);
static inline bool gnn_task_columns(enum gnn_task t)
{
    return gnn_task_labels[t].columns;
}
static inline bool gnn_task_numbers(enum gnn_task t)
{
    return gnn_task_labels[t].form == GNN_LABEL_NUMBER;
}
/* Whether a node is of one class, by which seeds can be balanced and losses weighted. */
static inline bool gnn_task_one_class(enum gnn_task t)
{
    return t && !gnn_task_labels[t].columns;
}

#endif
