/* The tables of gnn-gather --plan. */
#ifndef GNN_CMD_PLAN_TEXT_H
#define GNN_CMD_PLAN_TEXT_H

#include "lib/cache.h"

struct plan_figures {
    const char *order;          /* its name */
    const struct gnn_cache *k;
    double expected[GNN_CACHE_SIZES_MAX + 1];   /* rows missed, per batch or epoch; [nsizes] all */
    double measured[GNN_CACHE_SIZES_MAX + 1];
};
struct plan_summary {
    uint32_t batch_size;
    double steps, seconds;    /* batches of an epoch; time of the expected frequencies */
    uint64_t batches;         /* drawn; 0: `measured` says nothing */
    const struct gnn_rows *rows;
};

/* One row per size; size[i] is its text. */
void plan_show_head(const struct plan_summary *m, double expected_rows, double measured_rows);
void plan_show_caches(const struct plan_summary *m, const struct plan_figures *f, uint32_t n, char *const *size);
/* One row per alpha, after one without a cache. */
void plan_show_remote(const struct plan_summary *m, const struct plan_figures *f, uint32_t n, const double *alpha,
                      uint32_t nparts);

#endif
