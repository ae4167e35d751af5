/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/label_check.h"

#include <inttypes.h>
#include <math.h>

#include "kernels/label.h"

int gnn_labels_valid(const struct gnn_schema *c, const struct gnn_tensor *y, struct gnn_err *e)
{
    const uint64_t n = y->shape[0] * (y->ndim == 2 ? y->shape[1] : 1);
    const bool classes = c->task == GNN_TASK_MULTICLASS;
    for (uint64_t i = 0; c->task && i < n; i++) {
        const double v = gnn_label_value(y->data, (enum gnn_label_type)y->dtype, i);
        if (c->task == GNN_TASK_REGRESSION) {
            if (isinf(gnn_label_number(v)))
                return gnn_fail(e, GNN_E_INPUT,
                                "element %" PRIu64 ": label %g is not finite (nan for none)", i, v);
            continue;
        }
        const int32_t k = classes ? gnn_label_class(v, c->nclasses) : 0;
        if (classes ? k < -1 || (k >= 0 && (uint32_t)k >= c->nclasses) : gnn_label_target(v) > 1)
            return gnn_fail(e, GNN_E_INPUT,
                            "element %" PRIu64 ": label %g outside 0..%u (-1 for none)", i, v,
                            classes ? c->nclasses - 1 : 1);
    }
    return 0;
}

bool gnn_label_row(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i, uint32_t *of)
{
    const uint64_t w = y->ndim == 2 ? y->shape[1] : 1;
    bool known = false;
    for (uint64_t j = i * w; j < (i + 1) * w; j++) {
        const double v = gnn_label_value(y->data, (enum gnn_label_type)y->dtype, j);
        const int32_t k = c->task == GNN_TASK_MULTICLASS ? gnn_label_class(v, c->nclasses) : -1;
        const float f = c->task == GNN_TASK_REGRESSION ? gnn_label_number(v) : gnn_label_target(v);
        *of = k >= 0 ? (uint32_t)k : f > 0.5f;
        known = known || (c->task == GNN_TASK_MULTICLASS ? k >= 0 && *of < c->nclasses : f == f);
    }
    return known;
}
