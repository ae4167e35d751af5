/* SPDX-License-Identifier: Apache-2.0 */
/* What gnn-partition reports: the cut, the halo, the balance of everything that is counted, time
 * and memory, on stdout and as metrics. The largest part is compared with the average, as METIS
 * does. */
#include "cmd/partition_text.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "lib/base/mem.h"

/* The largest part divided by the average one: 1 is perfect. */
static double load_ratio(uint32_t k, uint64_t most, uint64_t total)
{
    return total ? (double)most * k / (double)total : 1;
}

static void put_balance(json_t *o, uint32_t k, const char *what, uint64_t most, uint64_t total)
{
    if (common.verbose >= 0)
        printf("balance   %-20s %8.4f  (largest partition %llu)\n", what,
               load_ratio(k, most, total), (unsigned long long)most);
    if (json_object_set_new(o, what, json_real(load_ratio(k, most, total))))
        cli_die(1, "out of memory");
}

static json_t *show_balance(const struct gnn_layout *l, const struct gnn_part_figures *fig)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    uint32_t k = l->k;
    struct gnn_part_figures sum = {0}, top = {0};
    json_t *o = json_object();

    for (uint32_t p = 0; p < k; p++) {
        sum.nodes += fig[p].nodes;
        sum.edges += fig[p].edges;
        top.nodes = fig[p].nodes > top.nodes ? fig[p].nodes : top.nodes;
        top.edges = fig[p].edges > top.edges ? fig[p].edges : top.edges;
    }
    put_balance(o, k, "nodes", top.nodes, sum.nodes);
    put_balance(o, k, "edges", top.edges, sum.edges);
    for (uint32_t t = 0; sc->nntypes > 1 && t < sc->nntypes; t++) {
        uint64_t most = 0;
        for (uint32_t p = 0; p < k; p++)
            most =
                l->book[t][p + 1] - l->book[t][p] > most ? l->book[t][p + 1] - l->book[t][p] : most;
        put_balance(o, k, sc->ntype[t].name, most, sc->ntype[t].count);
    }
    /* Sets of the first split only: the splits of a store divide the same nodes. */
    for (uint32_t i = 0; i < sc->nsets && !strcmp(sc->set[i].split, sc->set[0].split); i++) {
        uint64_t most = 0;
        for (uint32_t p = 0; p < k; p++)
            most = fig[p].set[i] > most ? fig[p].set[i] : most;
        put_balance(o, k, sc->set[i].set, most, sc->set[i].count);
    }
    return o;
}

static double percent_of(uint64_t n, uint64_t of)
{
    return of ? 100.0 * (double)n / (double)of : 0;
}

static void put_method(const struct partition_figures *f, const struct gnn_layout *l)
{
    if (f->passes)
        printf("parts     %u (%s, %u pass%s)\n", l->k, f->how, f->passes,
               f->passes == 1 ? "" : "es");
    else
        printf("parts     %u (%s)\n", l->k, f->how);
}

static void put_cost(const struct partition_figures *f, uint64_t peak)
{
    if (f->has_pairs)
        printf("seconds   %.3f (graph %.3f, METIS %.3f, writing %.3f)\n", f->seconds,
               f->graph_seconds, f->metis_seconds, f->write_seconds);
    else
        printf("seconds   %.3f (assigning %.3f, writing %.3f)\n", f->seconds, f->assign_seconds,
               f->write_seconds);
    printf("memory    %.1f MiB to assign\npeak      %.1f MiB\n", (double)f->assign_bytes / 1048576,
           (double)peak / 1048576);
}

static void put_metrics(const struct partition_figures *f, const struct gnn_layout *l,
                        const struct gnn_part_figures *sum, json_t *balances, uint64_t peak)
{
    json_t *o = json_pack(
        "{s:i,s:s,s:I,s:I,s:f,s:I,s:f,s:o,s:f,s:f,s:f,s:f,s:f,s:I,s:I}", "parts", (int)l->k,
        "method", f->how, "edges", (json_int_t)sum->edges, "cut", (json_int_t)sum->cut,
        "cut_percent", percent_of(sum->cut, sum->edges), "halo", (json_int_t)sum->halo,
        "halo_percent", percent_of(sum->halo, l->view->nvertices), "balance", balances, "seconds",
        f->seconds, "assign_seconds", f->assign_seconds, "graph_seconds", f->graph_seconds,
        "metis_seconds", f->metis_seconds, "write_seconds", f->write_seconds, "assign_bytes",
        (json_int_t)f->assign_bytes, "peak_bytes", (json_int_t)peak);
    if (o && f->has_pairs)
        json_object_update_new(o, json_pack("{s:I,s:I,s:I}", "pairs", (json_int_t)f->pairs,
                                            "pairs_cut", (json_int_t)f->pairs_cut, "volume",
                                            (json_int_t)f->volume));
    if (o && f->passes)
        json_object_set_new(o, "passes", json_integer((json_int_t)f->passes));
    if (o && f->rows > 0)
        json_object_update_new(o, json_pack("{s:f,s:f,s:f}", "rows", f->rows, "remote", f->remote,
                                            "remote_stream", f->remote_before));
    cli_metrics(o);
}

void partition_show(const struct partition_figures *f, const struct gnn_layout *l,
                    const struct gnn_part_figures *fig)
{
    const uint64_t vertices = l->view->nvertices, own_peak = gnn_mem_peak();
    /* METIS runs in a child process, whose peak is measured apart; the larger of the two is what
     * the job must be given. */
    const uint64_t peak = f->metis_peak > own_peak ? f->metis_peak : own_peak;
    struct gnn_part_figures sum = {0};
    for (uint32_t p = 0; p < l->k; p++) {
        sum.edges += fig[p].edges;
        sum.cut += fig[p].cut;
        sum.halo += fig[p].halo;
    }
    if (common.verbose >= 0) {
        put_method(f, l);
        printf("cut       %llu of %llu edges (%.2f %%)\n", (unsigned long long)sum.cut,
               (unsigned long long)sum.edges, percent_of(sum.cut, sum.edges));
        if (f->has_pairs)
            printf("pairs cut %llu of %llu (%.2f %%), volume %llu\n",
                   (unsigned long long)f->pairs_cut, (unsigned long long)f->pairs,
                   percent_of(f->pairs_cut, f->pairs), (unsigned long long)f->volume);
        printf("halo      %llu nodes, %.2f %% of %llu\n", (unsigned long long)sum.halo,
               percent_of(sum.halo, vertices), (unsigned long long)vertices);
        if (f->rows > 0)
            printf("rows      %.0f expected in a step, %.2f %% remote; with fennel alone %.2f %%\n",
                   f->rows, 100 * f->remote / f->rows, 100 * f->remote_before / f->rows);
    }
    json_t *balances = show_balance(l, fig);
    if (common.verbose >= 0)
        put_cost(f, peak);
    put_metrics(f, l, &sum, balances, peak);
}
