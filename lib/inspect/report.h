/* SPDX-License-Identifier: Apache-2.0 */
/* Building JSON with one check at the end. Not for use outside lib/inspect. */
#ifndef GNN_LIB_INSPECT_REPORT_H
#define GNN_LIB_INSPECT_REPORT_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "formats/tensor.h"
#include "lib/base/err.h"

/* Sets key to value and takes over value; NULL (out of memory) makes *bad true. */
static inline void report_put(json_t *o, const char *key, json_t *value, bool *bad)
{
    if (!value || json_object_set_new(o, key, value))
        *bad = true;
}
static inline void report_push(json_t *array, json_t *value, bool *bad)
{
    if (!value || json_array_append_new(array, value))
        *bad = true;
}
static inline json_t *report_num(uint64_t n)
{
    return json_integer((json_int_t)n);
}
/* JSON has no NaN. */
static inline json_t *report_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}
/* {"name", "dtype", "shape", "bytes"} */
json_t *gnn_report_tensor(const struct gnn_tensor *t, bool *bad);
/* Adds a sentence to the array "proved" of a report. */
int gnn_report_proved(json_t *report, struct gnn_err *e, const char *fmt, ...)
    GNN_PRINTF(3, 4) GNN_MUST_USE;
static inline int no_json(struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_NOMEM, "out of memory for the report");
}

#endif
