/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/label_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "kernels/label.h"

double gnn_label_get(enum gnn_task task, const void *y, uint64_t i)
{
    if (gnn_task_labels[task].form != GNN_LABEL_CLASS)
        return (double)((const float *)y)[i];
    const int32_t k = ((const int32_t *)y)[i];
    return k == -1 ? (double)NAN : k;
}

const char *gnn_label_wrong(enum gnn_task task, double v, double x, uint32_t classes, char out[64])
{
    const bool columns = gnn_task_columns(task), numbers = gnn_task_numbers(task);
    const double most = columns ? 1 : (double)classes - 1;
    if (isnan(x) || (numbers ? !isinf(x) : x >= 0 && x <= most))
        return NULL;
    if (numbers)
        snprintf(out, 64, "label %g is not finite", v);
    else
        snprintf(out, 64, "label %g outside 0..%u", v, columns ? 1 : classes - 1);
    return out;
}

/* The label at element i, as gnn_label_get gives it; *v: as it is stored. */
static double read_label(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i,
                         double *v)
{
    float capacity;
    *v = gnn_label_value(y->data, (enum gnn_label_type)y->dtype, i);
    gnn_label_put(&capacity, 0, *v, gnn_task_labels[c->task].form, c->nclasses);
    return gnn_label_get(c->task, &capacity, 0);
}

int gnn_labels_valid(const struct gnn_schema *c, const struct gnn_tensor *y, struct gnn_err *e)
{
    const uint64_t n = y->shape[0] * (y->ndim == 2 ? y->shape[1] : 1);
    char wrong[64];
    double v;
    for (uint64_t i = 0; c->task && i < n; i++) {
        const double x = read_label(c, y, i, &v);
        if (gnn_label_wrong(c->task, v, x, c->nclasses, wrong))
            return gnn_fail(e, GNN_E_INPUT, "element %" PRIu64 ": %s (%s for none)", i, wrong,
                            gnn_task_numbers(c->task) ? "nan" : "-1");
    }
    return 0;
}

bool gnn_label_row(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i, uint32_t *of)
{
    const uint64_t w = y->ndim == 2 ? y->shape[1] : 1;
    bool known = false;
    char wrong[64];
    double v;
    for (uint64_t j = i * w; j < (i + 1) * w; j++) {
        const double x = read_label(c, y, j, &v);
        if (isnan(x) || gnn_label_wrong(c->task, v, x, c->nclasses, wrong))
            continue;
        known = true;
        *of = gnn_task_labels[c->task].form == GNN_LABEL_CLASS ? (uint32_t)x : x > 0.5;
    }
    return known;
}
