/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/inspect_export.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cmd/cli.h"
#include "lib/base/path.h"
#include "lib/inspect/export.h"

static const char formats[] = "npz|npy|mtx|csv";
const char *inspect_export_file;
static const char *nodes, *split;
static int format = -1;
static bool raw;
static struct opt_list tensors;
static struct opt_range epochs, steps;

const struct opt inspect_export_opts[] = {
    {.kind = OPT_GROUP, .help = "Export"},
    {OPT_STR, 0, "export", &inspect_export_file, "FILE",
     "write the graph of a store, or the tensors of a stream or model, to FILE.npz, .npy, .mtx or "
     ".csv (- is stdout)",
     .file = true, .makes = ""},
    {OPT_CHOICE, 0, "format", &format, "FORMAT",
     "npz, npy, mtx (Matrix Market) or csv (default: as FILE ends, else npz)", .choices = formats},
    {OPT_LIST, 0, "tensor", &tensors, "NAME",
     "only this array or tensor, and in an .npz others that are named (default: all)"},
    {OPT_STR, 0, "nodes", &nodes, "TYPE", "to .csv: the nodes of this type, with their fields"},
    {OPT_FLAG, 0, "raw", &raw, NULL,
     "of a store: tensors as they are stored, partition by partition"},
    {OPT_STR, 0, "split", &split, "SET", "of a stream: only batches of this set"},
    {OPT_RANGE, 0, "epochs", &epochs, "A:B", "only epochs A to B-1; N: the first N", .count = true},
    {OPT_RANGE, 0, "steps", &steps, "A:B[:STRIDE]",
     "only these steps of each epoch, or every STRIDE-th of them; N: step N", .strided = true},
    {.kind = OPT_END},
};

/* The format that the end of the file's name says. */
static enum gnn_export_format find_format(void)
{
    const char *base = gnn_base_name(inspect_export_file), *dot = strrchr(base, '.');
    int found = format;
    for (uint32_t i = 0; found < 0 && dot && i <= GNN_EXPORT_CSV; i++) {
        int n;
        const char *word = gnn_choice_word(formats, i, &n);
        if (strlen(dot + 1) == (size_t)n && !strncasecmp(dot + 1, word, (size_t)n))
            found = (int)i;
    }
    if (found < 0 && dot && dot > base)
        cli_usage("--export: %s ends in none of .npz, .npy, .mtx and .csv; --format says what it "
                  "is",
                  inspect_export_file);
    return found < 0 ? GNN_EXPORT_NPZ : (enum gnn_export_format)found;
}

static void check_table(const char *edges)
{
    const int of = (edges != NULL) + (nodes != NULL) + (tensors.n > 0);
    if (of != 1)
        cli_usage("--export: a CSV file has edges, nodes or one tensor: %s --edges S/R/D, --nodes "
                  "TYPE or --tensor NAME",
                  of ? "only one of" : "name them by");
}

void inspect_export_check(const char *edges)
{
    if (!inspect_export_file) {
        opt_refuse(OPTS(&format, &tensors, &nodes, &raw, &split, &epochs, &steps),
                   "requires --export");
        return;
    }
    const enum gnn_export_format f = find_format();
    if (f == GNN_EXPORT_CSV)
        check_table(edges);
    else
        opt_refuse(OPTS(&nodes), "requires --export to a CSV file");
    if (edges && f != GNN_EXPORT_CSV && f != GNN_EXPORT_MTX)
        cli_usage("--edges: with --export, requires a file .mtx or .csv");
    if (f == GNN_EXPORT_MTX)
        opt_refuse(OPTS(&tensors, &raw), "has no effect: a matrix has the edges of one type");
    if (f == GNN_EXPORT_NPY && tensors.n != 1)
        cli_usage("--export: an .npy file has one array: name it by --tensor");
    if ((f == GNN_EXPORT_NPY || f == GNN_EXPORT_CSV) && tensors.n > 1)
        cli_usage("--tensor: the format holds one array, and %u are named", tensors.n);
    if (edges || nodes)
        opt_refuse(OPTS(&raw), "has no effect on edges and nodes");
    if (!strcmp(inspect_export_file, "-") && common.metrics && !strcmp(common.metrics, "-"))
        cli_usage("--metrics -: stdout takes the export; name a file");
}

/* What has no effect on this kind of input. */
static void check_kind(const struct gnn_export *x, enum inspect_kind kind, const char *path)
{
    if (kind != INSPECT_STORE && raw)
        cli_usage("--raw: %s is not a store", path ? path : "stdin");
    if (kind != INSPECT_STORE && nodes)
        cli_usage("--nodes: %s is not a store", path ? path : "stdin");
    if (kind == INSPECT_MODEL && (x->edges || x->format == GNN_EXPORT_MTX))
        cli_usage("--export: %s is a model, which has no edges", path);
    if (kind != INSPECT_STREAM)
        opt_refuse(OPTS(&split, &epochs, &steps), "requires a stream of batches");
}

static void open_export(const char *path, struct gnn_store *s)
{
    struct gnn_err e = {0};
    if (gnn_store_open(s, path, true, &e))
        cli_fail(&e);
}

void inspect_export(const char *path, enum inspect_kind kind, const char *edges)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    struct gnn_export x = {.format = find_format(),
                           .tensor = tensors.v,
                           .ntensors = tensors.n,
                           .edges = edges,
                           .nodes = nodes,
                           .split = split,
                           .epoch_from = epochs.given ? epochs.from : 0,
                           .epoch_to = epochs.given ? epochs.to : UINT64_MAX,
                           .step_from = steps.given ? steps.from : 0,
                           .step_to = steps.given ? steps.to : UINT64_MAX,
                           .stride = steps.given && steps.stride ? steps.stride : 1};
    const char *in_name;
    int rc, in = -1;

    check_kind(&x, kind, path);
    if (kind == INSPECT_STORE)
        open_export(path, &s);
    else if (kind == INSPECT_STREAM)
        in = cli_in(path, &in_name);
    const bool text = x.format == GNN_EXPORT_MTX || x.format == GNN_EXPORT_CSV;
    x.fd =
        text ? cli_out_text(inspect_export_file, &x.name) : cli_out(inspect_export_file, &x.name);
    if (kind == INSPECT_MODEL)
        rc = gnn_export_model(path, &x, &e);
    else if (kind == INSPECT_STREAM)
        rc = gnn_export_stream(in, in_name, &x, &e);
    else
        rc = raw ? gnn_export_store(&s, &x, &e) : gnn_export_graph(&s, &x, &e);
    if (rc)
        cli_fail(&e);
    gnn_store_close(&s);
    if (close(x.fd))
        cli_die(1, "%s: cannot close: %s", x.name, strerror(errno));
    cli_out_commit();
    if (*x.left_out)
        cli_note("%s: left out: %s", x.name, x.left_out);
    cli_metrics(json_pack("{s:s, s:s}", "event", "export", "file", x.name));
}
