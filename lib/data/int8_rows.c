/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/data/int8_rows.h"

#include <math.h>

#include "kernels/half.h"

float gnn_int8_row(const float *x, uint64_t columns, int8_t *out, double *error)
{
    const float scale = gnn_f32_to_i8(x, columns, out);
    double off = 0, most = 0;
    if (!(scale > 0))
        return scale;
    for (uint64_t c = 0; c < columns; c++) {
        const double v = (double)x[c], d = fabs(v - (double)out[c] * (double)scale);
        off = d > off ? d : off;
        most = fabs(v) > most ? fabs(v) : most;
    }
    *error = off / most > *error ? off / most : *error;
    return scale;
}

uint64_t gnn_int8_odd(const float *x)
{
    uint64_t c = 0;
    while (isfinite(x[c]))
        c++;
    return c;
}
