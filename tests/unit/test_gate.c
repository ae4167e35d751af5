/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/gate.h against the C library's functions of double. */
#include <math.h>
#include <omp.h>

#include "kernels/gate.h"
#include "tap.h"

int main(void)
{
    double value = 0, slope = 0, gate = 0;
    omp_set_num_threads(1); /* each call is of one number */
    for (float x = -12; x < 12; x += 1e-4f) {
        const double all = 0.5 * erfc(-(double)x * M_SQRT1_2),
                     density = exp(-0.5 * x * x) / sqrt(2 * M_PI);
        float y, dx = 1, one = 1;
        gnn_gelu(&x, 1, &y);
        gnn_gelu_back(&x, &one, 1, &dx);
        value = worst_of(value, fabs(y - x * all) / fmax(1, fabs((double)x)));
        slope = worst_of(slope, fabs(dx - 1 - (all + x * density)));
    }
    ok(value < 2e-7, "gnn_gelu is within %.2g of x times the normal distribution's function",
       value);
    ok(slope < 4e-7, "gnn_gelu_back is within %.2g of its derivative", slope);
    for (float s = -30; s < 30; s += 0.01f) {
        const double share = 1 / (1 + exp(-(double)s));
        const float x = 2, dot = 3;
        float y = 1, rest = 0, d = 0;
        gnn_gate(&x, 1, &s, false, &y, true);
        gnn_gate(&x, 1, &s, true, &rest, false);
        gnn_gate_back(&dot, &s, false, &d);
        gnn_gate_back(&dot, &s, true, &d);
        gate = worst_of(gate, fabs(y - 1 - 2 * share) + fabs(y + rest - 3) + fabs((double)d));
        gnn_gate_back(&dot, &s, true, &d);
        gate = worst_of(gate, fabs(d + 3 * share * (1 - share)));
    }
    ok(gate < 1e-6, "gnn_gate shares by the logistic function, and gnn_gate_back has its gradient");
    return tap_done();
}
