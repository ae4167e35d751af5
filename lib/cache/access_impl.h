/* What computing expected frequencies alone and with several ranks have in common. */
#ifndef GNN_LIB_CACHE_ACCESS_IMPL_H
#define GNN_LIB_CACHE_ACCESS_IMPL_H

#include <math.h>

#include "lib/cache/access.h"

/* Products of many factors are sums of logarithms in fixed point: integers add up to the same in
 * any order, so threads and ranks need not agree on one. Beyond FULL, e^-32, a probability is 1;
 * what is not added any more then cannot be seen. */
#define GNN_ACCESS_ONE ((double)(UINT64_C(1) << 34))
#define GNN_ACCESS_FULL (UINT64_C(32) << 34)

static inline uint64_t gnn_access_to_fixed(double p)
{
    const double x = p < 1 ? -log1p(-p) * GNN_ACCESS_ONE : (double)GNN_ACCESS_FULL;
    return x < (double)GNN_ACCESS_FULL ? (uint64_t)(x + 0.5) : GNN_ACCESS_FULL;
}
static inline float gnn_access_from_fixed(uint64_t x)
{
    return x < GNN_ACCESS_FULL ? (float)-expm1(-(double)x / GNN_ACCESS_ONE) : 1.0f;
}

/* What a destination gives to each of its sources. `picked` NULL: 1, which counts. */
struct gnn_giving {
    float *picked;      /* r_{h-1} -> r_h, by store id */
    const float *known; /* p_{h-1} */
    const float *older; /* p_{h-2}, or NULL: draws again */
    struct gnn_pick_rule rule;
};
/* Over the in-edges of the store's open parts: adds to sum[sources]. */
int gnn_access_walk(struct gnn_store *s, uint32_t et, const struct gnn_giving *g, uint64_t *sum,
                    struct gnn_err *e) GNN_MUST_USE;

#endif
