/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/standard.h"

#include <math.h>
#include <string.h>

#include "lib/base/mem.h"

int gnn_standard_check(const double *standard, uint64_t columns, struct gnn_err *e)
{
    for (uint64_t i = 0; i < columns; i++)
        if (!isfinite(standard[i]) || !isfinite(standard[columns + i]) ||
            !(standard[columns + i] > 0))
            return gnn_fail(e, GNN_E_INPUT,
                            "column %llu is standardized by mean %g and scale %g: expected finite "
                            "numbers, and a scale > 0",
                            (unsigned long long)i, standard[i], standard[columns + i]);
    return GNN_OK;
}

double *gnn_standard_copy(const double *standard, uint64_t columns, struct gnn_err *e)
{
    double *copy = gnn_alloc(2 * columns, sizeof *copy, "means and scales", e);
    if (copy)
        memcpy(copy, standard, 2 * columns * sizeof *copy);
    return copy;
}

bool gnn_standard_equal(const double *a, const double *b, uint64_t columns)
{
    bool equal = !a == !b;
    for (uint64_t i = 0; a && b && equal && i < 2 * columns; i++)
        equal = !(a[i] < b[i]) && !(a[i] > b[i]);
    return equal;
}

json_t *gnn_standard_to_json(const double *standard, uint64_t columns)
{
    json_t *list[2] = {json_array(), json_array()};
    int bad = 0;
    for (int k = 0; k < 2; k++)
        for (uint64_t i = 0; i < columns; i++)
            bad |= json_array_append_new(list[k], json_real(standard[(uint64_t)k * columns + i]));
    json_t *j = json_pack("{s:o, s:o}", "mean", list[0], "scale", list[1]);
    if (!bad)
        return j;
    json_decref(j);
    return NULL;
}

double *gnn_standard_from_json(const json_t *j, uint64_t columns, struct gnn_err *e)
{
    static const char *const keys[] = {"mean", "scale"};
    for (int k = 0; k < 2; k++) /* before memory is taken for them */
        if (json_array_size(json_object_get(j, keys[k])) != columns) {
            gnn_fail(e, GNN_E_INPUT, "'standardized' needs a list '%s' of %llu numbers", keys[k],
                     (unsigned long long)columns);
            return NULL;
        }
    double *standard = gnn_alloc(2 * columns, sizeof *standard, "means and scales", e);
    for (int k = 0; standard && k < 2; k++)
        for (uint64_t i = 0; i < columns; i++) {
            const json_t *v = json_array_get(json_object_get(j, keys[k]), i);
            standard[(uint64_t)k * columns + i] =
                json_is_number(v) ? json_number_value(v) : (double)NAN;
        }
    if (standard && gnn_standard_check(standard, columns, e)) {
        gnn_free(standard);
        standard = NULL;
    }
    return standard;
}
