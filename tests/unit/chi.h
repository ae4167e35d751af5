/* SPDX-License-Identifier: Apache-2.0 */
/* Chi-square over cells of any expectation: those that expect fewer than 10 are put together. */
#ifndef GNN_TESTS_UNIT_CHI_H
#define GNN_TESTS_UNIT_CHI_H

#include <math.h>
#include <stdbool.h>

struct chi {
    double q, seen, rare; /* rare: what the cells put together expect, and have seen */
    unsigned cells;
};

__attribute__((unused)) static void chi_add(struct chi *c, double seen, double expected)
{
    if (expected < 10) {
        c->rare += expected;
        c->seen += seen;
        return;
    }
    c->q += (seen - expected) * (seen - expected) / expected;
    c->cells++;
}

/* As a standard normal number (Wilson, Hilferty 1931). */
__attribute__((unused)) static double chi_z(const struct chi *c)
{
    const bool rest = c->rare >= 10;
    const double q = c->q + (rest ? (c->seen - c->rare) * (c->seen - c->rare) / c->rare : 0),
                 df = c->cells + rest - 1.0;
    return df < 1 ? q : (cbrt(q / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}

/* The upper tail at a p of 3e-6 a test: a p > 1e-3 where there are some hundreds. What is left in
 * rare cells may not be there more often than its share either. */
__attribute__((unused)) static bool chi_pass(const struct chi *c)
{
    return chi_z(c) < 4.5 && (c->rare >= 10 || c->seen <= c->rare + 5 * sqrt(c->rare) + 8);
}

#endif
