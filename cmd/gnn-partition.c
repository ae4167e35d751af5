/* gnn-partition: a store of k parts from a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/opt.h"
#include "cmd/partition_text.h"
#include "cmd/sig.h"
#include "lib/clock.h"
#include "lib/mem.h"
#include "lib/partition.h"

enum { METIS, RANDOM };

static uint32_t k, threads;
static int method, objective;
static uint64_t seed = 1;
static double imbalance = 1.03;
static const char *out, *from, *balance;
static bool force;

static const struct opt opts[] = {
    {OPT_U32, 'k', "parts", &k, "N", "number of parts; with --from: default as many as the file has", .min = 1, .max = GNN_PARTS_MAX},
    {OPT_STR, 'o', "output", &out, "STORE", "the new store (required)", .file = true},
    {OPT_U32, 'j', "threads", &threads, "N", "threads for everything but METIS itself (default: all cores)", .min = 1, .max = 1024},
    {OPT_FLAG, 0, "force", &force, NULL, "replace STORE if it exists"},
    {.kind = OPT_GROUP, .help = "Which node goes where"},
    {OPT_CHOICE, 0, "method", &method, "METHOD", "how to choose (default: metis)", .choices = "metis|random"},
    {OPT_STR, 0, "from", &from, "FILE", "one part number per line, in the order of the original ids (- is stdin)", .file = true},
    {OPT_U64, 0, "seed", &seed, "N", "seed of METIS and of random (default: 1)"},
    {.kind = OPT_GROUP, .help = "METIS"},
    {OPT_CHOICE, 0, "objective", &objective, "WHAT", "what to minimise: edges cut or communication volume (default: cut)", .choices = "cut|vol"},
    {OPT_STR, 0, "balance", &balance, "LIST", "what parts share evenly (default nodes): nodes, edges, types, or sets as train"},
    {OPT_DOUBLE, 0, "imbalance", &imbalance, "X", "heaviest part against the average (default 1.03)", .min = 1.001, .max = 10},
    {.kind = OPT_END},
};

static const struct program prog = {
    .name = "gnn-partition",
    .summary = "split a store into k parts",
    .synopsis = "-k N -o STORE STORE",
    .opts = opts,
    .min_args = 1,
    .max_args = 1,
};

static void need(int rc, const struct gnn_err *e)
{
    if (rc)
        cli_fail(e);
}

/* ---- which node goes where ---- */

struct run {
    struct gnn_store store;
    struct gnn_view view;
    uint32_t *part;
    struct partition_figures f;
};

static void balance_weights(struct run *r, struct gnn_metis *m, int32_t **wgt)
{
    struct gnn_err e = {0};
    uint32_t set[GNN_METIS_CONSTRAINTS_MAX], nsets = 0;
    unsigned what = 0;
    char *list = strdup(balance), *save = NULL;

    if (!list)
        cli_die(1, "out of memory");
    for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
        int i;
        if (!strcmp(w, "nodes"))
            what |= GNN_BALANCE_NODES;
        else if (!strcmp(w, "edges"))
            what |= GNN_BALANCE_EDGES;
        else if (!strcmp(w, "types"))
            what |= GNN_BALANCE_TYPES;
        else if ((i = gnn_schema_find_set(&r->store.meta.schema, w)) < 0)
            cli_usage("--balance: '%s' is not nodes, edges, types or a set of %s", w, r->store.path);
        else if (nsets == GNN_METIS_CONSTRAINTS_MAX)
            cli_usage("--balance: more than %d constraints", GNN_METIS_CONSTRAINTS_MAX);
        else
            set[nsets++] = (uint32_t)i;
    }
    free(list);
    if (nsets)
        what |= GNN_BALANCE_SETS;
    if (what != GNN_BALANCE_NODES)
        need(gnn_balance_weights(&r->view, what, set, nsets, &m->ncon, wgt, &e), &e);
    m->wgt = *wgt;
}

static void assign_metis(struct run *r)
{
    struct gnn_err e = {0};
    struct gnn_symgraph g = {0};
    struct gnn_metis m = {.k = k, .objective = objective ? GNN_OBJECTIVE_VOL : GNN_OBJECTIVE_CUT,
                          .imbalance = imbalance, .seed = seed};
    int32_t *wgt = NULL;
    double start = gnn_clock();

    need(gnn_symgraph_init(&g, &r->view, GNN_METIS_LIMIT, threads, &e), &e);
    if (balance)
        balance_weights(r, &m, &wgt);
    r->f.graph_seconds = gnn_clock() - start;
    cli_progress("metis: nodes", r->view.nvertices, 0, NULL);
    need(gnn_metis_run(&m, &g, r->part, &e), &e);
    gnn_free(wgt);
    need(gnn_symgraph_measure(&g, k, r->part, &r->f.pairs_cut, &r->f.volume, &e), &e);
    r->f.has_pairs = true;
    r->f.pairs = (uint64_t)g.xadj[g.n] / 2;
    r->f.metis_seconds = m.seconds;
    r->f.metis_peak = m.peak;
    gnn_symgraph_release(&g);
}

static void assign(struct run *r)
{
    struct gnn_err e = {0};
    r->part = gnn_alloc(r->view.nvertices, sizeof *r->part, "assignment", &e);
    if (!r->part)
        cli_fail(&e);
    if (from) {
        const char *name;
        int fd = cli_in(from, &name);
        need(gnn_assign_read(&r->view, fd, name, &k, r->part, &e), &e);
        close(fd);
    } else if (method == RANDOM) {
        gnn_assign_random(&r->view, k, seed, r->part);
    } else if (k == 1) {
        memset(r->part, 0, r->view.nvertices * sizeof *r->part);
    } else {
        assign_metis(r);
    }
}

/* ---- the new store ---- */

static int part_done(void *arg, uint32_t p)
{
    (void)arg;
    cli_progress("writing: parts", p + 1, k, NULL);
    return 0;
}

static struct gnn_part_figures *figures_new(uint32_t nsets)
{
    struct gnn_err e = {0};
    struct gnn_part_figures *fig = gnn_alloc_zero(k, sizeof *fig, "figures of parts", &e);
    uint64_t *set = gnn_alloc_zero((uint64_t)k * nsets, sizeof *set, "figures of parts", &e);
    if (!fig || !set)
        cli_fail(&e);
    for (uint32_t p = 0; p < k; p++)
        fig[p].set = set + (size_t)p * nsets;
    return fig;
}

static void write_store(struct run *r, const struct gnn_layout *l, struct gnn_part_figures *fig)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_store_writer w = {0};
    double start = gnn_clock();

    need(gnn_meta_copy(&meta, &r->store.meta, &e), &e);
    meta.schema.nparts = k;
    need(gnn_meta_add_provenance(&meta, cli_provenance(), &e), &e);
    need(gnn_store_create(&w, out, &meta, force, &e), &e);
    need(gnn_layout_write(l, &w, threads, fig, part_done, NULL, &e), &e);
    need(gnn_store_verified(&r->store, &e), &e);
    need(gnn_store_commit(&w, &e), &e);
    gnn_store_abandon(&w);
    gnn_meta_release(&meta);
    r->f.write_seconds = gnn_clock() - start;
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct run r = {0};
    struct gnn_layout l = {0};
    int n;

    cli_start("gnn-partition", argc, argv);
    char **arg = opt_parse(&prog, argc, argv, &n);
    if (!out)
        cli_usage("-o STORE is missing");
    if (!strcmp(out, "-"))
        cli_usage("-o -: a store is a directory and cannot go to stdout");
    if (!k && !from)
        cli_usage("-k N is missing");
    if (from)
        opt_refuse(OPTS(&method, &seed), "and --from exclude each other");
    if (from || method == RANDOM)
        opt_refuse(OPTS(&objective, &balance, &imbalance), "is for METIS");
    if (!threads) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 1 ? (uint32_t)cores : 1;
    }
    cli_at_abort(gnn_store_tmp_unlink_all);

    double start = gnn_clock();
    need(gnn_store_open(&r.store, arg[0], true, &e), &e);
    need(gnn_view_init(&r.view, &r.store, &e), &e);
    assign(&r);
    need(gnn_layout_init(&l, &r.view, k, r.part, &e), &e);
    struct gnn_part_figures *fig = figures_new(r.store.meta.schema.nsets);
    write_store(&r, &l, fig);
    cli_progress_end();
    r.f.how = from ? "file" : method == RANDOM ? "random" : "metis";
    r.f.seconds = gnn_clock() - start;
    partition_show(&r.f, &l, fig);
    gnn_free(fig[0].set);
    gnn_free(fig);
    gnn_layout_release(&l);
    gnn_free(r.part);
    gnn_view_release(&r.view);
    gnn_store_close(&r.store);
    return cli_finish();
}
