/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of gnn-gather --plan. */
#ifndef GNN_CMD_PLAN_TEXT_H
#define GNN_CMD_PLAN_TEXT_H

#include "lib/cache/plan.h"

/* One order's part of a table. */
struct plan_figures {
    const char *order; /* its name */
    const struct gnn_cache_figures *of;
};

void plan_show_head(const struct gnn_cache_plan *p);
/* One row per size; size[i] is its text. */
void plan_show_caches(const struct plan_figures *f, uint32_t n, const char *const *size);
/* One row per alpha, after one without a cache. */
void plan_show_remote(const struct gnn_cache_plan *p, const struct plan_figures *f, uint32_t n,
                      const double *alpha);

#endif
