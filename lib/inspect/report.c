/* SPDX-License-Identifier: Apache-2.0 */
/* Members that several reports have. */
#include "lib/inspect/report.h"

#include <stdarg.h>

int gnn_report_proved(json_t *report, struct gnn_err *e, const char *fmt, ...)
{
    bool bad = false;
    va_list ap;
    json_t *a = json_object_get(report, "proved");
    if (!a)
        report_put(report, "proved", a = json_array(), &bad);
    va_start(ap, fmt);
    report_push(a, json_vsprintf(fmt, ap), &bad);
    va_end(ap);
    return bad ? no_json(e) : GNN_OK;
}

json_t *gnn_report_tensor(const struct gnn_tensor *t, bool *bad)
{
    json_t *shape = json_array();
    uint64_t bytes = 0;
    for (uint32_t d = 0; d < t->ndim; d++)
        report_push(shape, report_num(t->shape[d]), bad);
    return json_pack("{s:s, s:s, s:o, s:o}", "name", t->name, "dtype", gnn_dtype_name(t->dtype),
                     "shape", shape, "bytes",
                     gnn_tensor_bytes(t, &bytes) ? report_num(bytes) : NULL);
}
