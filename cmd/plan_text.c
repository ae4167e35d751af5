/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/plan_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cmd/cli.h"
#include "lib/base/plural.h"

/* A cell of `width`, "-" for what is not defined. */
static void print_cell(int width, const char *unit, double v, int digits)
{
    if (isfinite(v))
        printf(" %*.*f%s", width - (int)(unit[0] != 0), digits, v, unit);
    else
        printf(" %*s", width, "-");
}

void plan_show_head(const struct gnn_cache_plan *p)
{
    const bool seen = p->batches;
    const struct gnn_rows *r = p->rows;
    const uint32_t batch_size = p->sampling->batch_size;
    const uint64_t steps = p->sampling->steps[0];
    printf("rows      %" PRIu64 " of %.1f MB in all\n", r->count, (double)r->all_bytes / 1e6);
    printf("a batch   ");
    if (p->sampling->clusters)
        printf("%u partition%s, at most ", p->sampling->clusters,
               gnn_plural(p->sampling->clusters));
    printf("%u seed%s, %" PRIu64 " of an epoch; ", batch_size, gnn_plural(batch_size), steps);
    if (isfinite(p->expected_rows))
        printf("%.0f rows expected, ", p->expected_rows);
    if (seen)
        printf("%.0f measured in %" PRIu64 " batch%s\n", p->measured_rows, p->batches,
               p->batches == 1 ? "" : "es");
    else
        printf("none measured\n");
    json_t *j = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f}", "table", "batch", "rows",
                          (json_int_t)r->count, "bytes", (json_int_t)r->all_bytes, "batch_size",
                          (json_int_t)batch_size, "steps", (json_int_t)steps, "batches",
                          (json_int_t)p->batches, "access_seconds", p->seconds);
    cli_metrics_number(j, "expected_rows", p->expected_rows);
    cli_metrics_number(j, "measured_rows", p->measured_rows);
    cli_metrics(j);
}

/* Of the rows of all batches; where these have none, not defined. */
static double share_missed(const double *missed, uint32_t i, uint32_t all)
{
    return missed[all] > 0 ? missed[i] / missed[all] : NAN;
}

static void cache_line(const char *order, const struct gnn_cache_figures *f, uint32_t i,
                       const char *size)
{
    const double want = share_missed(f->expected, i, f->nsizes),
                 got = share_missed(f->measured, i, f->nsizes);
    printf("%-16s %10s %12" PRIu64 " %12.1f", cli_shown(order), size, f->rows[i],
           (double)f->bytes[i] / 1e6);
    print_cell(12, "%", 100 * want, 2);
    print_cell(12, "%", 100 * got, 2);
    putchar('\n');
    json_t *j = json_pack("{s:s, s:s, s:s, s:I, s:I}", "table", "cache", "order", order, "size",
                          size, "rows", (json_int_t)f->rows[i], "bytes", (json_int_t)f->bytes[i]);
    cli_metrics_number(j, "expected_miss", want);
    cli_metrics_number(j, "measured_miss", got);
    cli_metrics(j);
}

void plan_show_caches(const struct plan_figures *f, uint32_t n, const char *const *size)
{
    printf("\n%-16s %10s %12s %12s %12s %12s\n", "order", "size", "rows", "MB", "expected",
           "measured");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < f[i].of->nsizes; j++)
            cache_line(f[i].order, f[i].of, j, size[j]);
}

static void remote_line(const struct plan_figures *f, double alpha, uint32_t at, double mean_rows,
                        bool seen)
{
    const double got = seen ? f->of->measured[at] : NAN;
    printf("%-16s %10g %12.0f", cli_shown(f->order), alpha, mean_rows);
    print_cell(16, "", f->of->expected[at], 0);
    print_cell(16, "", got, 0);
    putchar('\n');
    json_t *j = json_pack("{s:s, s:s, s:f, s:f}", "table", "remote", "order", f->order, "alpha",
                          alpha, "cached_rows", mean_rows);
    cli_metrics_number(j, "expected_rows", f->of->expected[at]);
    cli_metrics_number(j, "measured_rows", got);
    cli_metrics(j);
}

void plan_show_remote(const struct gnn_cache_plan *p, const struct plan_figures *f, uint32_t n,
                      const double *alpha)
{
    const uint32_t nparts = p->store->nparts;
    printf("\nremote rows of an epoch, %u partitions\n", nparts);
    printf("%-16s %10s %12s %16s %16s\n", "order", "alpha", "rows/part", "expected", "measured");
    for (uint32_t i = 0; i < n; i++) {
        const struct gnn_cache_figures *k = f[i].of;
        remote_line(&f[i], 0, k->nsizes, 0, p->batches);
        for (uint32_t j = 0; j < k->nsizes; j++)
            remote_line(&f[i], alpha[j], j, (double)k->rows[j] / nparts, p->batches);
    }
}
