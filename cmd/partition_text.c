/* SPDX-License-Identifier: Apache-2.0 */
/* What gnn-partition reports: the cut, the halo, the balance of everything that is counted, time
 * and memory, on stdout and as metrics. The largest part is compared with the average, as METIS
 * does. */
#include "cmd/partition_text.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/share.h"
#include "lib/base/mem.h"
#include "lib/base/plural.h"

/* The largest part divided by the average one: 1 is perfect; of nothing, not defined. */
static double load_ratio(uint32_t k, uint64_t most, uint64_t total)
{
    return k * share_of(most, total);
}

static void put_balance(json_t *o, uint32_t k, const char *what, uint64_t most, uint64_t total)
{
    if (common.verbose >= 0 && total)
        printf("balance   %-20s %8.4f  (largest partition %llu)\n", cli_shown(what),
               load_ratio(k, most, total), (unsigned long long)most);
    else if (common.verbose >= 0)
        printf("balance   %-20s %8s  (there are none)\n", cli_shown(what), "-");
    cli_metrics_number(o, what, load_ratio(k, most, total));
}

/* How much of something the parts have. */
struct share {
    const char *name;
    uint64_t most, total;
    bool limited; /* by --imbalance */
};

static void count_part(struct share *s, uint64_t n)
{
    s->most = n > s->most ? n : s->most;
    s->total += n;
}

enum { SHARE_NODES, SHARE_EDGES, SHARE_TYPES };

/* Nodes, edges, each type of several, each set. */
static struct share *shares_new(const struct partition_figures *f, const struct gnn_layout *l,
                                const struct gnn_part_figures *fig)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const unsigned b = f->even.balance;
    struct gnn_err e = {0};
    struct share *s = gnn_alloc_zero((uint64_t)SHARE_TYPES + sc->nntypes + sc->nsets, sizeof *s,
                                     "figures of partitions", &e),
                 *set = s + SHARE_TYPES + sc->nntypes;
    if (!s)
        cli_fail(&e);
    s[SHARE_NODES] = (struct share){.name = "nodes", .limited = b & GNN_BALANCE_NODES};
    s[SHARE_EDGES] = (struct share){.name = "edges", .limited = b & GNN_BALANCE_EDGES};
    for (uint32_t t = 0; t < sc->nntypes; t++)
        s[SHARE_TYPES + t] =
            (struct share){.name = sc->ntype[t].name, .limited = b & GNN_BALANCE_TYPES};
    for (uint32_t i = 0; i < sc->nsets; i++)
        set[i].name = sc->set[i].set;
    for (uint32_t i = 0; i < f->even.nsets; i++)
        set[f->set[i]].limited = true;
    for (uint32_t p = 0; p < l->k; p++) {
        count_part(&s[SHARE_NODES], fig[p].nodes);
        count_part(&s[SHARE_EDGES], fig[p].edges);
        for (uint32_t t = 0; t < sc->nntypes; t++)
            count_part(&s[SHARE_TYPES + t], l->book[t][p + 1] - l->book[t][p]);
        for (uint32_t i = 0; i < sc->nsets; i++)
            count_part(&set[i], fig[p].set[i]);
    }
    return s;
}

static json_t *show_balance(const struct gnn_layout *l, const struct share *s)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const struct share *set = s + SHARE_TYPES + sc->nntypes;
    json_t *o = json_object();
    for (uint32_t i = 0; i < SHARE_TYPES + sc->nntypes; i++)
        if (i < SHARE_TYPES || sc->nntypes > 1)
            put_balance(o, l->k, s[i].name, s[i].most, s[i].total);
    /* Sets of the first split, and those that are balanced: all splits of a store divide the same
     * nodes. */
    for (uint32_t i = 0; i < sc->nsets; i++) {
        char name[2 * GNN_WORD_MAX + 2];
        const bool first = !strcmp(sc->set[i].split, sc->set[0].split);
        snprintf(name, sizeof name, "%s%s%s", first ? "" : sc->set[i].split, first ? "" : "/",
                 sc->set[i].set);
        if (first || set[i].limited)
            put_balance(o, l->k, name, set[i].most, set[i].total);
    }
    return o;
}

/* ---- what is not as it was asked for ---- */

/* So few that a part holds more than it may with one of them more, or the average rounded up. */
static bool are_few(const struct share *s, uint32_t k)
{
    return s->total < k || s->most <= s->total / k + (s->total % k != 0);
}

/* A list of what is above the limit, of what is few or of the rest; to be freed with gnn_free. */
static char *list_missed(const struct share *s, uint32_t n, uint32_t k, double limit, bool few)
{
    struct gnn_err e = {0};
    char *list = gnn_strf(&e, "%s", "");
    for (uint32_t i = 0; list && i < n; i++) {
        const double ratio = load_ratio(k, s[i].most, s[i].total);
        if (!s[i].limited || !(ratio > limit * (1 + 1e-9)) || are_few(&s[i], k) != few)
            continue;
        char *more = gnn_strf(&e, "%s%s%s %.4g", list, *list ? ", " : "", s[i].name, ratio);
        gnn_free(list);
        list = more;
    }
    if (!list)
        cli_fail(&e);
    return list;
}

static void tell_limits(const struct partition_figures *f, const struct gnn_layout *l,
                        const struct share *s)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const uint32_t n = SHARE_TYPES + sc->nntypes + sc->nsets;
    const double limit = f->even.imbalance;
    char *missed = list_missed(s, n, l->k, limit, false),
         *few = list_missed(s, n, l->k, limit, true);
    if (*missed)
        cli_note("warning: --imbalance %g is exceeded: %s times the average", limit, missed);
    if (*few)
        cli_note("too few to divide into %u partitions within --imbalance %g: %s times the average",
                 l->k, limit, few);
    gnn_free(missed);
    gnn_free(few);
}

static uint32_t parts_without(const struct gnn_layout *l, const struct gnn_part_figures *fig,
                              int set)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < l->k; p++)
        n += !(set < 0 ? fig[p].nodes : fig[p].set[set]);
    return n;
}

/* A rank of such a part has nothing to do. */
static void tell_empty(const struct gnn_layout *l, const struct gnn_part_figures *fig)
{
    const struct gnn_schema *sc = &l->view->store->meta.schema;
    const int train = gnn_schema_find_set(sc, "train");
    const uint32_t empty = parts_without(l, fig, -1),
                   idle = train < 0 ? 0 : parts_without(l, fig, train);
    if (empty)
        cli_note("warning: %u of %u partitions %s no nodes: ranks that own only such have no work",
                 empty, l->k, empty == 1 ? "has" : "have");
    else if (idle && sc->set[train].count >= l->k)
        cli_note(
            "warning: %u of %u partitions %s no node of 'train': ranks that own only such have "
            "no seeds; --balance nodes,train divides the seeds evenly",
            idle, l->k, idle == 1 ? "has" : "have");
}

/* Of the method; each of these is 0 where it does not have it. */
static uint32_t passes_of(const struct partition_figures *f)
{
    return f->metis.passes + f->stream.passes_done;
}

static uint64_t moves_of(const struct partition_figures *f)
{
    return f->metis.moves + f->repair.moves;
}

static void put_method(const struct partition_figures *f, const struct gnn_layout *l)
{
    const uint32_t passes = passes_of(f);
    const uint64_t moves = moves_of(f);
    printf("parts     %u (%s%s%s", l->k, f->how, f->start ? " from " : "",
           f->start ? f->start : "");
    if (passes)
        printf(", %u pass%s", passes, passes == 1 ? "" : "es");
    printf(")\n");
    if (f->metis.missed > 0)
        printf("limit     METIS's own partitions have up to %.4f times the average\n",
               f->metis.missed);
    if (moves)
        printf("moved     %llu node%s, to keep the limit and to leave no partition empty\n",
               (unsigned long long)moves, gnn_plural(moves));
}

static void put_rows(const struct gnn_access_parts *a)
{
    printf("rows      %.0f expected in a step, %.2f %% remote; with fennel alone %.2f %%", a->rows,
           100 * a->remote / a->rows, 100 * a->before / a->rows);
    if (a->before_metis >= 0)
        printf(", with METIS alone %.2f %%", 100 * a->before_metis / a->rows);
    putchar('\n');
}

static void put_cost(const struct partition_figures *f, uint64_t peak)
{
    if (f->metis.m.k)
        printf("seconds   %.3f (graph %.3f, METIS %.3f, writing %.3f)\n", f->seconds,
               f->metis.graph_seconds, f->metis.m.seconds, f->write_seconds);
    else
        printf("seconds   %.3f (assigning %.3f, writing %.3f)\n", f->seconds, f->assign_seconds,
               f->write_seconds);
    printf("memory    %.1f MiB to assign\npeak      %.1f MiB\n", (double)f->assign_bytes / 1048576,
           (double)peak / 1048576);
}

static void put_metrics(const struct partition_figures *f, const struct gnn_layout *l,
                        const struct gnn_part_figures *sum, json_t *balances, uint64_t peak)
{
    const struct gnn_access_parts *a = &f->access;
    json_t *o = json_pack(
        "{s:i,s:s,s:I,s:I,s:I,s:I,s:o,s:f,s:f,s:f,s:f,s:f,s:I,s:I}", "parts", (int)l->k, "method",
        f->how, "moved", (json_int_t)moves_of(f), "edges", (json_int_t)sum->edges, "cut",
        (json_int_t)sum->cut, "halo", (json_int_t)sum->halo, "balance", balances, "seconds",
        f->seconds, "assign_seconds", f->assign_seconds, "graph_seconds", f->metis.graph_seconds,
        "metis_seconds", f->metis.m.seconds, "write_seconds", f->write_seconds, "assign_bytes",
        (json_int_t)f->assign_bytes, "peak_bytes", (json_int_t)peak);
    cli_metrics_number(o, "cut_percent", 100 * share_of(sum->cut, sum->edges));
    cli_metrics_number(o, "halo_percent", 100 * share_of(sum->halo, l->view->nvertices));
    if (o && f->metis.m.k)
        json_object_update_new(o, json_pack("{s:I,s:I,s:I}", "pairs", (json_int_t)f->metis.pairs,
                                            "pairs_cut", (json_int_t)f->metis.cut, "volume",
                                            (json_int_t)f->metis.volume));
    if (o && passes_of(f))
        json_object_set_new(o, "passes", json_integer((json_int_t)passes_of(f)));
    if (o && f->metis.missed > 0)
        json_object_set_new(o, "metis_ratio", json_real(f->metis.missed));
    if (o && a->rows > 0)
        json_object_update_new(o, json_pack("{s:f,s:f,s:f}", "rows", a->rows, "remote", a->remote,
                                            "remote_stream", a->before));
    if (o && f->start)
        json_object_set_new(o, "start", json_string(f->start));
    if (o && a->rows > 0 && a->before_metis >= 0)
        json_object_set_new(o, "remote_metis", json_real(a->before_metis));
    cli_metrics(o);
}

void partition_show(const struct partition_figures *f, const struct gnn_layout *l,
                    const struct gnn_part_figures *fig)
{
    const uint64_t vertices = l->view->nvertices, own_peak = gnn_mem_peak();
    /* METIS runs in a child process, whose peak is measured apart; the larger of the two is what
     * the job must be given. */
    const uint64_t metis_peak = f->metis.m.peak + f->access.metis_peak,
                   peak = metis_peak > own_peak ? metis_peak : own_peak;
    struct gnn_part_figures sum = {0};
    char text[32];
    for (uint32_t p = 0; p < l->k; p++) {
        sum.edges += fig[p].edges;
        sum.cut += fig[p].cut;
        sum.halo += fig[p].halo;
    }
    if (common.verbose >= 0) {
        put_method(f, l);
        printf("cut       %llu of %llu edge%s%s\n", (unsigned long long)sum.cut,
               (unsigned long long)sum.edges, gnn_plural(sum.edges),
               share_text(text, sum.cut, sum.edges, 2));
        if (f->metis.m.k)
            printf("pairs cut %llu of %llu%s, volume %llu\n", (unsigned long long)f->metis.cut,
                   (unsigned long long)f->metis.pairs,
                   share_text(text, f->metis.cut, f->metis.pairs, 2),
                   (unsigned long long)f->metis.volume);
        printf("halo      %llu node%s", (unsigned long long)sum.halo, gnn_plural(sum.halo));
        if (vertices)
            printf(", %.2f %% of %llu", 100 * share_of(sum.halo, vertices),
                   (unsigned long long)vertices);
        putchar('\n');
        if (f->access.rows > 0)
            put_rows(&f->access);
    }
    struct share *shares = shares_new(f, l, fig);
    json_t *balances = show_balance(l, shares);
    if (common.verbose >= 0)
        put_cost(f, peak);
    put_metrics(f, l, &sum, balances, peak);
    if (f->even.balance)
        tell_limits(f, l, shares);
    tell_empty(l, fig);
    gnn_free(shares);
}
