/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-partition: a store of k parts from a store, or a partition of DGL. */
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "cmd/partition_assign.h"
#include "cmd/stdin.h"
#include "cmd/unused.h"
#include "lib/base/clock.h"
#include "lib/base/kind.h"
#include "lib/base/mem.h"
#include "lib/data/int8_rows.h"
#include "lib/partition/dgl_layout.h"
#include "lib/partition/partition.h"

static struct partition_opts o = {
    .seed = 1, .imbalance = 1.03, .passes = 10, .split = "train", .batch = 1024};
static const char *out;
static bool force, no_edge_ids, halo_edges;
enum { LAYOUT_GNB, LAYOUT_DGL };
static int layout, dtype = -1;
static const enum gnn_dtype dtypes[] = {GNN_F32, GNN_F16, GNN_BF16, GNN_I8};

static const struct opt opts[] = {
    {OPT_U32, 'k', "parts", &o.k, "N",
     "number of partitions (with --from, the default is taken from there)", .min = 1,
     .max = GNN_PARTS_MAX},
    {OPT_STR, 'o', "output", &out, "STORE", "the store to write (required)", .file = true,
     .makes = ""},
    {OPT_U32, 'j', "threads", &o.threads, "N",
     "threads, except for METIS and streaming assignment (default: all cores)", .min = 1,
     .max = 1024},
    {OPT_FLAG, 0, "force", &force, NULL, "replace STORE if it exists"},
    {OPT_CHOICE, 0, "layout", &layout, "LAYOUT",
     "write a store (gnb, the default), or a folder for DGL's distributed training (dgl)",
     .choices = "gnb|dgl"},
    {OPT_CHOICE, 0, "dtype", &dtype, "TYPE",
     "type of stored features (default: as in the input); int8 has a scale for each row",
     "f32|f16|bf16|int8"},
    {OPT_FLAG, 0, "halo-edges", &halo_edges, NULL,
     "also store the in-edges of halo nodes, so that ranks send fewer requests"},
    {OPT_FLAG, 0, "no-edge-ids", &no_edge_ids, NULL,
     "do not store original edge ids (8 bytes per edge); edges must have no fields"},
    {.kind = OPT_GROUP, .help = "Assignment"},
    {OPT_CHOICE, 0, "method", &o.method, "METHOD",
     "how to assign nodes to partitions (default: metis)", .choices = METHODS},
    {OPT_STR, 0, "from", &o.from, "FILE|field:NAME",
     "read one partition number per line, in the order of original ids (- is stdin); or take them from a field of nodes",
     .file = true},
    {OPT_I32S, 0, "two-level", &o.levels, "NODES,GPUS",
     "split into NODES partitions, and each of these into GPUS; the partitions of a machine are consecutive"},
    {OPT_STR, 0, "balance", &o.balance, "LIST",
     "what to balance (default: nodes): nodes, edges, types, or sets such as train"},
    {OPT_DOUBLE, 0, "imbalance", &o.imbalance, "X",
     "largest ratio of a partition's weight to the average (default: 1.03)", .min = 1.001,
     .max = 10},
    {OPT_U64, 0, "seed", &o.seed, "N", "random seed of METIS and of random (default: 1)"},
    {OPT_CHOICE, 0, "objective", &o.objective, "WHAT",
     "what METIS minimises: edge cut or communication volume (default: cut)", .choices = "cut|vol"},
    {OPT_U32, 0, "passes", &o.passes, "N", "maximum passes of fennel, ldg and access (default: 10)",
     .min = 1, .max = 1000},
    {.kind = OPT_GROUP, .help = "Expected sampling (--method access)"},
    {OPT_STR, 0, "split", &o.split, "SET",
     "set of the store that holds the seeds (default: train)"},
    {OPT_LIST, 'f', "fanout", &o.fanout, "LIST",
     "neighbours per hop: 15,10,5 (the default), or S/R/D=15,10,5 for one edge type"},
    {OPT_U32, 'b', "batch", &o.batch, "N", "seeds per global batch (default: 1024)", .min = 1,
     .max = 1073741824},
    {OPT_CHOICE, 0, "start", &o.start, "METHOD",
     "what to start from: fennel, or the better of fennel and METIS (default: best)",
     .choices = STARTS},
    {.kind = OPT_END},
};

static const struct program prog = {
    .name = "gnn-partition",
    .summary = "split a store into partitions",
    .synopsis = "-k N -o STORE STORE",
    .args = "STORE",
    .extra = "the new store is named with -o",
    .opts = opts,
    .min_args = 1,
    .max_args = 1,
};

static void fail_unless(int rc, const struct gnn_err *e)
{
    if (rc)
        cli_fail(e);
}

struct run {
    struct gnn_store store;
    struct gnn_view view;
    uint32_t *part;
    struct partition_figures f;
};

/* ---- the new store ---- */

static void check_edge_ids(const struct gnn_store *s)
{
    const struct gnn_schema *sc = &s->meta.schema;
    for (uint32_t et = 0; no_edge_ids && et < sc->netypes; et++)
        if (sc->etype[et].nfields)
            cli_usage("--no-edge-ids: edges '%s' of %s have fields, which are found by id",
                      sc->etype[et].rel, s->path);
}

static int part_done(void *arg, uint32_t p)
{
    (void)arg;
    cli_progress("writing: partitions", p + 1, o.k, NULL);
    return 0;
}

static struct gnn_part_figures *figures_new(uint32_t nsets)
{
    struct gnn_err e = {0};
    struct gnn_part_figures *fig = gnn_alloc_zero(o.k, sizeof *fig, "figures of partitions", &e);
    uint64_t *set = gnn_alloc_zero((uint64_t)o.k * nsets, sizeof *set, "figures of partitions", &e);
    if (!fig || !set)
        cli_fail(&e);
    for (uint32_t p = 0; p < o.k; p++)
        fig[p].set = set + (size_t)p * nsets;
    return fig;
}

static void make_meta(const struct run *r, struct gnn_meta *meta)
{
    struct gnn_err e = {0};
    fail_unless(gnn_meta_copy(meta, &r->store.meta, &e), &e);
    memcpy(meta->graph, gnn_meta_graph(&r->store.meta), sizeof meta->graph);
    meta->schema.nparts = o.k;
    if (dtype >= 0 && !gnn_features_convert(meta, dtypes[dtype]))
        cli_usage("--dtype: nodes of %s have no features x of f32, f16, bf16 or int8",
                  r->store.path);
    if (layout == LAYOUT_DGL && gnn_schema_is_scaled(&meta->schema))
        cli_usage("--layout dgl: DGL has no int8 with scales: --dtype f32, f16 or bf16");
    gnn_free(meta->base.path); /* the new store has all tensors */
    meta->base.path = NULL;
    fail_unless(gnn_meta_add_provenance(meta, cli_provenance(), &e), &e);
}

static int dgl_done(void *arg, uint32_t p)
{
    (void)arg;
    cli_progress("writing: partitions for DGL", p + 1, o.k, NULL);
    return 0;
}

/* Writes the layout of DGL from the store of the partitions, which is then removed. */
static void write_dgl(const struct run *r, struct gnn_store_writer *w)
{
    struct gnn_err e = {0};
    struct gnn_store parts = {0};
    struct gnn_dgl_layout d = {
        .store = &parts, .out = out, .method = r->f.how, .force = force, .done = dgl_done};
    char *left = gnn_dgl_left_out(&r->view, &e);
    if (!left)
        cli_fail(&e);
    fail_unless(gnn_store_complete(w, &e), &e);
    fail_unless(gnn_store_open(&parts, w->temp->name, true, &e), &e);
    fail_unless(gnn_dgl_layout_write(&d, &e), &e);
    gnn_store_close(&parts);
    if (*left)
        cli_note("%s: the layout of DGL does not hold: %s", out, left);
    gnn_free(left);
}

/* Of features that were something else before. */
static void tell_int8(const struct gnn_schema *was, const struct gnn_part_figures *fig)
{
    double error = 0;
    for (uint32_t p = 0; p < o.k; p++)
        error = fig[p].error > error ? fig[p].error : error;
    if (dtype >= 0 && dtypes[dtype] == GNN_I8 && (error > 0 || !gnn_schema_is_scaled(was)))
        cli_note(GNN_INT8_NOTE, 100 * error);
}

static void write_parts(struct run *r, const struct gnn_layout *l, struct gnn_part_figures *fig)
{
    struct gnn_err e = {0};
    struct gnn_meta meta = {0};
    struct gnn_store_writer w = {0};
    double start = gnn_clock();

    make_meta(r, &meta);
    fail_unless(layout == LAYOUT_DGL ? gnn_store_scratch(&w, out, &meta, &e)
                                     : gnn_store_create(&w, out, &meta, force, &e),
                &e);
    fail_unless(gnn_layout_write(l, &w, o.threads, fig, part_done, NULL, &e), &e);
    fail_unless(gnn_store_verified(&r->store, &e), &e);
    if (layout == LAYOUT_DGL)
        write_dgl(r, &w);
    else
        fail_unless(gnn_store_commit(&w, &e), &e);
    gnn_store_abandon(&w);
    gnn_meta_release(&meta);
    r->f.write_seconds = gnn_clock() - start;
    tell_int8(&r->store.meta.schema, fig);
}

/* Whether the output may be written is known before any work. */
static void check_target(void)
{
    struct gnn_err e = {0};
    char *target =
        layout == LAYOUT_DGL ? gnn_dgl_target(out, force, &e) : gnn_store_target(out, force, &e);
    if (!target)
        cli_fail(&e);
    gnn_free(target);
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
    if (gnn_kind_path(arg[0]) == GNN_KIND_ABSENT && gnn_kind_path(out) == GNN_KIND_STORE)
        cli_usage("%s: no such store, but -o %s is one: gnn-partition -k N -o NEW STORE", arg[0],
                  out);
    partition_check(&o);
    stdin_unread("gnn-partition reads a store", (const char *const[]){arg[0], o.from}, 2);
    if (!o.threads) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        o.threads = cores > 1 ? (uint32_t)cores : 1;
    }
    omp_set_num_threads((int)o.threads);
    if (layout == LAYOUT_DGL)
        opt_refuse(OPTS(&halo_edges, &no_edge_ids), "has no effect on --layout dgl");
    check_target();

    double start = gnn_clock();
    fail_unless(gnn_store_open(&r.store, arg[0], true, &e), &e);
    check_edge_ids(&r.store);
    if (layout == LAYOUT_DGL)
        fail_unless(gnn_dgl_check(&r.store, &e), &e);
    unused_edge_fields(&r.store.meta.schema, "weight", "all edges have the same weight");
    fail_unless(gnn_view_init(&r.view, &r.store, &e), &e);
    if (!(r.part = gnn_alloc(r.view.nvertices, sizeof *r.part, "assignment", &e)))
        cli_fail(&e);
    partition_assign(&o, &r.view, r.part, &r.f);
    fail_unless(gnn_layout_init(&l, &r.view, o.k, r.part, &e), &e);
    l.no_edge_ids = no_edge_ids;
    l.halo_edges = halo_edges;
    struct gnn_part_figures *fig = figures_new(r.store.meta.schema.nsets);
    write_parts(&r, &l, fig);
    cli_progress_end();
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
