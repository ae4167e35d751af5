/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/int8_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels/int8_row.h"

/* The largest error of a row's elements, as a share of its largest element. */
static double error_of(const float *x, uint64_t columns, const int8_t *element, double scale)
{
    double off = 0, most = 0;
    for (uint64_t c = 0; c < columns; c++) {
        const double v = (double)x[c], d = fabs(v - (double)element[c] * scale);
        off = d > off ? d : off;
        most = fabs(v) > most ? fabs(v) : most;
    }
    return most > 0 ? off / most : 0;
}

uint64_t gnn_int8_row(const float *x, uint64_t columns, void *out, double *error)
{
    const float scale = gnn_f32_to_i8(x, columns, out);
    const size_t at = gnn_int8_scale_at(columns);
    if (isnan(scale)) {
        uint64_t c = 0;
        while (isfinite(x[c]))
            c++;
        return c;
    }
    memset((char *)out + columns, 0, at - columns);
    memcpy((char *)out + at, &scale, sizeof scale);
    const double off = error_of(x, columns, out, (double)scale);
    *error = off > *error ? off : *error;
    return columns;
}

bool gnn_int8_row_valid(const void *row, uint64_t columns, char *why, size_t capacity)
{
    const int8_t *element = row;
    const float scale = *gnn_int8_scale(row, columns);
    bool zero = true;
    for (uint64_t c = 0; c < columns && zero; c++)
        zero = !element[c];
    for (uint64_t c = columns; c < gnn_int8_scale_at(columns); c++)
        if (element[c]) {
            snprintf(why, capacity, "byte %llu after its elements is not 0",
                     (unsigned long long)(c - columns));
            return false;
        }
    if (isfinite(scale * 127) && (scale > 0 || (zero && !(scale < 0))))
        return true;
    snprintf(why, capacity, "its scale is %g", (double)scale);
    return false;
}
