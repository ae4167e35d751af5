#include "cmd/plan_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/cli.h"

static json_t *number(bool known, double v)
{
    return known ? json_real(v) : json_null();
}

/* A cell of `width`, "-" where nothing is known. */
static void cell(int width, const char *unit, bool known, double v, int digits)
{
    if (known)
        printf(" %*.*f%s", width - (int)(unit[0] != 0), digits, v, unit);
    else
        printf(" %*s", width, "-");
}

void plan_show_head(const struct plan_summary *m, double expected_rows, double measured_rows)
{
    const bool seen = m->batches;
    printf("rows      %" PRIu64 " of %.1f MB in all\n", m->rows->count, (double)m->rows->all_bytes / 1e6);
    printf("a batch   %u seeds, %.0f of an epoch; %.0f rows expected, ", m->batch_size, m->steps, expected_rows);
    printf(seen ? "%.0f measured in %.0f batches\n" : "none measured\n", measured_rows, (double)m->batches);
    cli_metrics(json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:o, s:I, s:f}", "table", "batch", "rows",
                          (json_int_t)m->rows->count, "bytes", (json_int_t)m->rows->all_bytes, "batch_size",
                          (json_int_t)m->batch_size, "steps", m->steps, "expected_rows", expected_rows, "measured_rows",
                          number(seen, measured_rows), "batches", (json_int_t)m->batches, "access_seconds", m->seconds));
}

static double share(const double *missed, uint32_t i, uint32_t all)
{
    return missed[all] > 0 ? missed[i] / missed[all] : 0;
}

void plan_show_caches(const struct plan_summary *m, const struct plan_figures *f, uint32_t n, char *const *size)
{
    const bool seen = m->batches;
    printf("\n%-16s %10s %12s %12s %12s %12s\n", "order", "size", "rows", "MB", "expected", "measured");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < f[i].k->nsizes; j++) {
            const double want = share(f[i].expected, j, f[i].k->nsizes), got = share(f[i].measured, j, f[i].k->nsizes);
            printf("%-16s %10s %12" PRIu64 " %12.1f", f[i].order, size[j], f[i].k->rows[j], (double)f[i].k->bytes[j] / 1e6);
            cell(12, "%", true, 100 * want, 2);
            cell(12, "%", seen, 100 * got, 2);
            putchar('\n');
            cli_metrics(json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:o}", "table", "cache", "order", f[i].order, "size",
                                  size[j], "rows", (json_int_t)f[i].k->rows[j], "bytes", (json_int_t)f[i].k->bytes[j],
                                  "expected_miss", want, "measured_miss", number(seen, got)));
        }
}

static void remote_line(const struct plan_figures *f, double alpha, uint32_t at, double mean_rows, bool seen)
{
    printf("%-16s %10g %12.0f", f->order, alpha, mean_rows);
    cell(16, "", true, f->expected[at], 0);
    cell(16, "", seen, f->measured[at], 0);
    putchar('\n');
    cli_metrics(json_pack("{s:s, s:s, s:f, s:f, s:f, s:o}", "table", "remote", "order", f->order, "alpha", alpha,
                          "cached_rows", mean_rows, "expected_rows", f->expected[at], "measured_rows",
                          number(seen, f->measured[at])));
}

void plan_show_remote(const struct plan_summary *m, const struct plan_figures *f, uint32_t n, const double *alpha,
                      uint32_t nparts)
{
    printf("\nremote rows of an epoch, %u parts\n", nparts);
    printf("%-16s %10s %12s %16s %16s\n", "order", "alpha", "rows/part", "expected", "measured");
    for (uint32_t i = 0; i < n; i++) {
        const struct gnn_cache *k = f[i].k;
        remote_line(&f[i], 0, k->nsizes, 0, m->batches);
        for (uint32_t j = 0; j < k->nsizes; j++)
            remote_line(&f[i], alpha[j], j, (double)k->rows[j] / nparts, m->batches);
    }
}
