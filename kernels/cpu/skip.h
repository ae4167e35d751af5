/* SPDX-License-Identifier: Apache-2.0 */
/* Excluded edges (kernels/exclude.h) of the destinations of a job, while picks are counted. */
#ifndef GNN_KERNELS_CPU_SKIP_H
#define GNN_KERNELS_CPU_SKIP_H

#include "kernels/pick.h"
#include "kernels/sample.h"
#include "kernels/simd.h"

enum { GNN_SKIP_MARKED = 64 }; /* destinations of a struct gnn_skip_marks */

/* Sets the marks of the destinations from i0 on, a multiple of GNN_SKIP_MARKED: those that may have
 * excluded edges. */
GNN_SIMD static inline void gnn_skip_mark(const struct gnn_sample_job *job, uint32_t i0)
{
    const uint32_t *dst = job->dst.node + i0, left = job->n - i0, most = GNN_SKIP_MARKED,
                   n = left < most ? left : most;
    const struct gnn_skip_marks *before = i0 ? &job->mark[i0 / 64 - 1] : NULL;
    uint64_t bits = 0;
    for (uint32_t k = 0; k < n; k++)
        bits |= gnn_excluded_may(job->excluded, dst[k]) << k;
    job->mark[i0 / 64].bits = bits;
    job->mark[i0 / 64].first =
        before ? before->first + (uint32_t)__builtin_popcountll(before->bits) : 0;
}

/* The number of excluded edges that have to be passed among those of x, whose sources are in
 * `indices`, when destination i picks; which they are goes to job->skip. */
static inline uint32_t gnn_skip_find(const struct gnn_sample_job *job, uint32_t i,
                                     const uint32_t *indices, const struct gnn_pick_range *x)
{
    struct gnn_skip_marks *m = &job->mark[i / 64];
    const struct gnn_skip s =
        gnn_skip_passed(job->excluded, job->dst.node[i], job->rule, indices, x);
    if (s.n)
        job->skip[gnn_skip_number(m, i)] = s;
    else
        m->bits &= ~(UINT64_C(1) << i % 64);
    return s.n;
}

#endif
