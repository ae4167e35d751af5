/* SPDX-License-Identifier: Apache-2.0 */
/* The probability that a neighbour is among the k taken, by the exponential variates X_i / w_i of
 * Efraimidis and Spirakis (2006): the integral, over its own variate t, of the probability that
 * fewer than k others are below. Weights are of few kinds, so that counts of others are sums of
 * binomial variates. */
#ifndef GNN_TESTS_UNIT_INCLUSION_H
#define GNN_TESTS_UNIT_INCLUSION_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct kind {
    uint64_t w;
    uint32_t n;
};

/* How many are below t, on average. */
static double mean_below(const struct kind *kinds, unsigned nkinds, double total, double t)
{
    double sum = 0;
    for (unsigned i = 0; i < nkinds; i++)
        sum -= kinds[i].n * expm1(-t * (double)kinds[i].w / total);
    return sum;
}

/* The probability that fewer than k are below t, without one of kind `own`. */
static double few_below(const struct kind *kinds, unsigned nkinds, unsigned own, uint32_t k,
                        double total, double t)
{
    double sum = 0, *p = calloc(k, sizeof *p), *q = calloc(k, sizeof *q);
    p[0] = 1; /* p[j]: that j of the kinds so far are */
    for (unsigned i = 0; i < nkinds; i++) {
        const double rate = t * (double)kinds[i].w / total, below = -expm1(-rate);
        const uint32_t n = kinds[i].n - (i == own);
        double b = -rate * n; /* the logarithm of the binomial probability of m */
        memset(q, 0, k * sizeof *q);
        for (uint32_t m = 0; m < k && m <= n; m++) {
            const double once = exp(b);
            for (uint32_t j = 0; j + m < k; j++)
                q[j + m] += p[j] * once;
            b += log((double)(n - m) / (m + 1)) + log(below) + rate;
        }
        memcpy(p, q, k * sizeof *p);
    }
    for (uint32_t j = 0; j < k; j++)
        sum += p[j];
    free(p);
    free(q);
    return sum;
}

__attribute__((unused)) static double inclusion(const struct kind *kinds, unsigned nkinds,
                                                unsigned own, uint32_t k, double total)
{
    enum { STEPS = 2000 };
    double low = 0, high = 1, sum = 0;
    uint32_t d = 0;
    for (unsigned i = 0; i < nkinds; i++)
        d += kinds[i].n;
    const double some = k < d - 1 ? k : d - 1.5;
    while (mean_below(kinds, nkinds, total, high) < some)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        const double mid = (low + high) / 2;
        *(mean_below(kinds, nkinds, total, mid) < some ? &low : &high) = mid;
    }
    const double own_rate = (double)kinds[own].w / total;
    high = high < 3 / own_rate ? high : 3 / own_rate;
    /* t = -high log(1 - v), for v from 0 to 1, is spread over where both factors are large. */
    for (unsigned step = 0; step < STEPS; step++) {
        const double left = 1 - (step + 0.5) / STEPS, t = -high * log(left);
        sum += own_rate * exp(-own_rate * t) * few_below(kinds, nkinds, own, k, total, t) * high /
               left / STEPS;
    }
    return sum;
}

#endif
