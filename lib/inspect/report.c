/* SPDX-License-Identifier: Apache-2.0 */
/* Members that several reports have. */
#include "lib/inspect/report.h"

#include <stdarg.h>
#include <stdio.h>

int gnn_report_proved(json_t *report, struct gnn_err *e, const char *fmt, ...)
{
    char text[GNN_NAME_MAX + 1];
    bool bad = false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    json_t *a = json_object_get(report, "proved");
    if (!a)
        report_put(report, "proved", a = json_array(), &bad);
    report_push(a, json_string(text), &bad);
    return bad ? no_json(e) : GNN_OK;
}

json_t *gnn_report_tensor(const struct gnn_tensor *t, bool *bad)
{
    json_t *o = json_object(), *shape = json_array();
    uint64_t bytes = 0;
    for (uint32_t d = 0; d < t->ndim; d++)
        report_push(shape, report_num(t->shape[d]), bad);
    report_put(o, "name", json_string(t->name), bad);
    report_put(o, "dtype", json_string(gnn_dtype_name(t->dtype)), bad);
    report_put(o, "shape", shape, bad);
    report_put(o, "bytes", gnn_tensor_bytes(t, &bytes) ? report_num(bytes) : NULL, bad);
    return o;
}
