/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/exp.h against the C library's functions of double, over numbers of every size. */
#include <math.h>
#include <string.h>

#include "kernels/exp.h"
#include "tap.h"

/* Every STEPth bit pattern: all exponents, both signs, NaNs. */
enum { STEP = 1021 };

/* The error as a share of the number, or of the smallest normal one if that is larger. Infinite
 * where only one of the two is. */
static double error_of(float got, double want)
{
    if (isnan(want) || isinf((float)want))
        return memcmp(&got, &(float){(float)want}, sizeof got) && !(isnan(want) && isnan(got))
                   ? INFINITY
                   : 0;
    return fabs((double)got - want) / fmax(fabs(want), 0x1p-126);
}

int main(void)
{
    double power = 0, less = 0, area = 0;
    for (uint64_t u = 0; u <= UINT32_MAX; u += STEP) {
        const float x = gnn_bits_f32((uint32_t)u);
        power = worst_of(power, error_of(gnn_expf(x), exp((double)x)));
        less = worst_of(less, error_of(gnn_expm1f(x), expm1((double)x)));
        area = worst_of(area, isnan(x) ? !isnan(gnn_erff(x)) : fabs(gnn_erff(x) - erf((double)x)));
    }
    ok(power < 1e-7, "gnn_expf is within %.2g of exp for numbers of every size", power);
    ok(less < 1.5e-7, "gnn_expm1f is within %.2g of expm1 for numbers of every size", less);
    ok(area < 1e-7, "gnn_erff is within %.2g of erf for numbers of every size", area);
    ok(gnn_erff(0) == 0 && gnn_erff(INFINITY) == 1 && gnn_erff(-INFINITY) == -1 &&
           fabs(gnn_erff(1e-30f) / 1.1283791671e-30 - 1) < 1e-7,
       "gnn_erff is exact at 0 and infinite numbers, and linear next to 0");
    ok(gnn_expf(0) == 1 && gnn_expm1f(0) == 0, "gnn_expf and gnn_expm1f are exact at 0");
    ok(gnn_expf(-INFINITY) == 0 && gnn_expm1f(-INFINITY) == -1 && isinf(gnn_expf(INFINITY)) &&
           isinf(gnn_expm1f(INFINITY)) && isnan(gnn_expf(NAN)) && isnan(gnn_expm1f(NAN)),
       "gnn_expf and gnn_expm1f take infinite numbers and NaN");
    ok(gnn_expf(88.7f) < INFINITY && gnn_expm1f(88.7f) < INFINITY && isinf(gnn_expf(88.8f)),
       "gnn_expf and gnn_expm1f overflow where exp does");
    bool ascending = true;
    for (float x = -0.7f; x < 0.7f; x += 1e-5f)
        ascending = ascending && gnn_expm1f(x) < gnn_expm1f(x + 1e-5f);
    ok(ascending, "gnn_expm1f ascends where n changes");
    return tap_done();
}
