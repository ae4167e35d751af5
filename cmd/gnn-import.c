/* SPDX-License-Identifier: Apache-2.0 */
/* gnn-import: a public data set, plain files or a generator in; a store of one part out. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/import_links.h"
#include "cmd/import_tables.h"
#include "cmd/import_text.h"
#include "cmd/opt.h"
#include "cmd/sig.h"
#include "cmd/stdin.h"
#include "lib/base/clock.h"
#include "lib/import/import.h"
#include "lib/base/kind.h"
#include "lib/base/mem.h"
#include "lib/store/write.h"

static const char *output;
static bool force;
static struct gnn_import_opts o;
static struct opt_list map, split, allow, nodes, edges, encode, features, labels, reverses,
    negatives;
static const char *time_from, *weight_from, *tables;
static struct gnn_link_split_opts links;
static uint64_t seed = 1;
static uint32_t threads; /* 0: not given */
static int format, loops, task, dtype = -1, header, ids, comments;

#define ALLOW "duplicates|upper|fractions"
#define FORMATS "auto|ogb|npz|snap|csv|jodie|triples|ntriples|mtx|metis"

static const struct opt opts[] = {
    {OPT_STR, 'o', "output", &output, "STORE", "the store to write", .file = true, .makes = ""},
    {OPT_FLAG, 0, "force", &force, .help = "replace STORE if it exists"},
    {OPT_GROUP, .help = "Reading"},
    {OPT_CHOICE, 0, "format", &format, "FORMAT", "input format (default: auto, by content)",
     FORMATS},
    {OPT_STR, 0, "columns", &o.columns, "LIST",
     "columns of a text table: source=from,target=to,weight=w,..."},
    {OPT_CHOICE, 0, "header", &header, "WHETHER",
     "whether line 1 of a text table names its columns (default: auto, by all rows)",
     "auto|yes|no"},
    {OPT_CHOICE, 0, "ids", &ids, "KIND",
     "what ids in a text table are (default: auto, words if one is no plain integer)",
     "auto|numbers|words"},
    {OPT_CHOICE, 0, "comments", &comments, "WHETHER",
     "whether lines of a text table that begin with # or % are comments (default: auto)",
     "auto|yes|no"},
    {OPT_STR, 0, "edge-type", &o.edge_type, "SRC/REL/DST",
     "types of a text table: user/buys/item has two node types (default: node/to/node)"},
    {OPT_LIST, 0, "map", &map, "NEW=OLD[,..]", "read the array or field OLD as NEW"},
    {OPT_STR, 0, "time", &time_from, "FIELD", "read FIELD as the time of edges (or nodes)"},
    {OPT_STR, 0, "weight", &weight_from, "FIELD", "read FIELD as the weight of edges"},
    {OPT_LIST, 0, "nodes", &nodes, "N|[TYPE=]FILE[:COLUMN]",
     "ids are 0 to N-1; or read a table of nodes, with ids in COLUMN", .file = true},
    {OPT_LIST, 0, "edges", &edges, "S/R/D=FILE[:FROM,TO]",
     "read a table of edges for each edge type, in place of INPUT, with ids in two columns",
     .file = true},
    {OPT_STR, 0, "tables", &tables, "FILE",
     "read tables that a JSON file lists: {\"nodes\": {\"TYPE\": \"FILE:COLUMN\"}, \"edges\": {...}}",
     .file = true},
    {OPT_LIST, 0, "encode", &encode, "[TYPE/]COLUMN=HOW",
     "make features of a column of --nodes: one-hot, or hash:N of its words"},
    {OPT_LIST, 0, "features", &features, "[TYPE=]FILE[:COLUMN]",
     "read features: text with ids in COLUMN; or text or .npy with one row per node", .file = true},
    {OPT_LIST, 0, "labels", &labels, "[TYPE=]FILE[:COLUMN]",
     "read labels: text with ids in COLUMN; or text or .npy with one row per node", .file = true},
    {OPT_STR, 0, "orig-nids", &o.orig_nids, "FILE",
     "original ids of the nodes of a partition of DGL: .dgl, .pt or .npy", .file = true},
    {OPT_STR, 0, "orig-eids", &o.orig_eids, "FILE",
     "original ids of the edges of a partition of DGL: .dgl, .pt or .npy", .file = true},
    {OPT_LIST, 0, "allow", &allow, "WORD[,..]",
     "what to accept in matrices: duplicates, upper, fractions", ALLOW},
    {OPT_GROUP, .help = "Graph"},
    {OPT_FLAG, 'u', "undirected", &o.undirected,
     .help = "add the reverse of each edge, unless the input contains it"},
    {OPT_FLAG, 0, "directed", &o.directed,
     .help = "keep edges as they are, whatever the format says about their direction"},
    {OPT_LIST, 0, "reverse-of", &reverses, "TYPE=TYPE",
     "the first edge type has the reverses of the second (default: by names rev_..., or found)"},
    {OPT_FLAG, 0, "dedup", &o.dedup, .help = "keep only the first of several equal edges"},
    {OPT_CHOICE, 0, "self-loops", &loops, "WHAT", "what to do with self-loops (default: keep)",
     "keep|add|remove"},
    {OPT_GROUP, .help = "Labels, splits, features"},
    {OPT_LIST, 0, "split", &split, "SPLIT",
     "add a split: random:TRAIN,VALID,TEST (shares) or train=FILE,valid=FILE,...", .file = true},
    {OPT_STR, 0, "split-links", &links.text, "S/R/D=HOW",
     "INPUT is a store: write a split of its links: [time:]TRAIN/VALID/TEST, shares of pairs of "
     "nodes, or by time; or train=FILE,valid=FILE,test=FILE; or ogb:ARCHIVE, graphbolt:FOLDER"},
    {OPT_LIST, 0, "negatives", &negatives, "SET=FILE[,..]",
     "with --split-links: negatives of valid and test: pairs for all links, or a row for each",
     .file = true},
    {OPT_DOUBLE, 0, "supervision", &links.supervision, "X",
     "with --split-links: keep this share of the training links out of messages, and in set train "
     "alone",
     .min = 1e-6, .max = 0.999999},
    {OPT_STR, 0, "messages", &links.messages, "SETS",
     "with --split-links: sets whose links carry messages: train (the default), train,valid to test "
     "with, or, of edges with times, train,valid,test"},
    {OPT_CHOICE, 0, "task", &task, "TASK", "task (default: auto, from the labels)",
     "auto|multiclass|binary|multilabel|regression"},
    {OPT_CHOICE, 0, "dtype", &dtype, "TYPE",
     "type of stored features (default: f32; f16 for igbh:); int8 has a scale for each row",
     "f32|f16|bf16|int8"},
    {OPT_FLAG, 0, "standardize", &o.standardize,
     .help = "scale each feature to mean 0 and deviation 1 on the training set"},
    {OPT_STR, 0, "standardize-from", &o.standardize_from, "STORE",
     "scale features by the means and deviations of STORE, for new nodes", .file = true},
    {OPT_U64, 0, "seed", &seed, "N", "random seed of splits and generators (default: 1)"},
    {OPT_U32, 'j', "threads", &threads, "N",
     "threads for generators and sorting by time; files are read by one (default: one per core)",
     .min = 1, .max = 1024},
    {OPT_U64, 0, "sort-memory", &o.sort_bytes, "SIZE",
     "memory for sorting edges; the rest is sorted through a file beside STORE (default: 1G)",
     .min = 65536, .max = 1e18, .bytes = true},
    {OPT_END},
};

static const struct program program = {
    .name = "gnn-import",
    .summary =
        "convert a graph data set into a store, or generate a graph (rmat:, sbm:, products: or igbh:)",
    .synopsis = "-o STORE INPUT... | GENERATOR:[KEY=VALUE,..] | --edges TABLE...",
    .args = "INPUT",
    .opts = opts,
    .words = "sbm:|rmat:|products:|igbh:",
    .max_args = -1,
};

/* All renamings, one by one; --time F and --weight F are short for --map. */
static void make_map(void)
{
    struct gnn_err e = {0};
    uint64_t capacity = 2;
    for (uint32_t i = 0; i < map.n; i++)
        for (const char *p = map.v[i]; *p; p++)
            capacity += *p == ',' ? 2u : 1u;
    const char **list = gnn_alloc(capacity, sizeof *list, "options", &e);
    o.map_used = gnn_alloc_zero(capacity, sizeof *o.map_used, "options", &e);
    if (!list || !o.map_used)
        cli_fail(&e);
    for (uint32_t i = 0; i < map.n; i++)
        for (const char *p = map.v[i]; *p; p += strcspn(p, ","), p += *p == ',') {
            int n = (int)strcspn(p, ",");
            const char *eq = memchr(p, '=', (size_t)n);
            if (!eq || eq + 1 == p + n)
                cli_usage("--map %.*s: expected NEW=OLD", n, p);
            list[o.nmap++] = gnn_strf(&e, "%.*s", n, p);
        }
    if (time_from)
        list[o.nmap++] = gnn_strf(&e, "time=%s", time_from);
    if (weight_from)
        list[o.nmap++] = gnn_strf(&e, "weight=%s", weight_from);
    if (e.code)
        cli_fail(&e);
    o.map = list;
}

static void free_map(void)
{
    for (uint32_t i = 0; i < o.nmap; i++)
        gnn_free((void *)(uintptr_t)o.map[i]);
    gnn_free((void *)(uintptr_t)o.map);
    gnn_free(o.map_used);
    gnn_free(o.encode_used);
}

static void take_allowed(void)
{
    static const char *const words[] = {"duplicates", "upper", "fractions"};
    char word[64];
    for (uint32_t i = 0; i < allow.n; i++)
        for (const char *p = allow.v[i], *end; p; p = *end ? end + 1 : NULL) {
            unsigned k = 0;
            end = p + strcspn(p, ",");
            snprintf(word, sizeof word, "%.*s", (int)(end - p), p);
            while (k < 3 && strcmp(word, words[k]) != 0)
                k++;
            if (k == 3)
                opt_unknown("allow", word, ALLOW);
            o.allow |= 1u << k;
        }
}

/* Digits are a count; anything else is a table. */
static void take_nodes(void)
{
    o.node_table = nodes.v;
    for (uint32_t i = 0; i < nodes.n; i++) {
        const char *v = nodes.v[i];
        char *end;
        if (strspn(v, "0123456789") < strlen(v) || !*v) {
            nodes.v[o.nnode_tables++] = v;
            continue;
        }
        const unsigned long long n = strtoull(v, &end, 10);
        if (!n || n > 4294967294u || strlen(v) > 10)
            cli_usage("--nodes %s: expected a count from 1 to 4294967294, or a FILE", v);
        if (o.nodes)
            cli_usage("--nodes %llu and %llu: one count only", (unsigned long long)o.nodes, n);
        o.nodes = n;
    }
    if (o.nodes && o.nnode_tables)
        cli_usage(
            "--nodes %llu and --nodes %s exclude each other: the table says which nodes there are",
            (unsigned long long)o.nodes, nodes.v[0]);
}

static void show_progress(const char *what, uint64_t done, uint64_t total)
{
    cli_progress(what, done, total, NULL);
}

static void take_tables(void)
{
    const struct import_member members[] = {
        {"nodes", &nodes, true},       {"edges", &edges, true},   {"encode", &encode, false},
        {"features", &features, true}, {"labels", &labels, true}, {"map", &map, false}};
    if (!tables)
        return;
    import_tables(tables, members, sizeof members / sizeof *members);
    if (!edges.n)
        cli_usage("--tables %s: it has no \"edges\"", tables);
}

static void finish_opts(void)
{
    static const char *const formats[] = {NULL,    "ogb",     "npz",      "snap", "csv",
                                          "jodie", "triples", "ntriples", "mtx",  "metis"};
    static const enum gnn_dtype dtypes[] = {GNN_F32, GNN_F16, GNN_BF16, GNN_I8};
    make_map();
    take_allowed();
    o.format = formats[format];
    o.header = (enum gnn_header)header;
    o.ids = (enum gnn_ids_as)ids;
    o.comments = (enum gnn_comments)comments;
    o.split = split.v;
    o.nsplit = split.n;
    o.features = features.v;
    o.nfeatures = features.n;
    o.labels = labels.v;
    o.nlabels = labels.n;
    o.encode = encode.v;
    o.nencode = encode.n;
    struct gnn_err e = {0};
    if (!(o.encode_used = gnn_alloc_zero(encode.n, sizeof *o.encode_used, "options", &e)))
        cli_fail(&e);
    o.edge_table = edges.v;
    o.nedge_tables = edges.n;
    o.reverse_of = reverses.v;
    o.nreverse_of = reverses.n;
    take_nodes();
    o.seed = seed;
    o.threads = threads;
    o.progress = show_progress;
    o.loops = (enum gnn_loops)loops;
    o.task = task ? task : -1;
    o.dtype = dtype < 0 ? (enum gnn_dtype)0 : dtypes[dtype];
}

/* A store is read by --split-links, and nothing else is done to it. */
static void split_alone(int nargs)
{
    if (!links.text) {
        opt_refuse(OPTS(&links.supervision, &links.messages, &negatives), "requires --split-links");
        return;
    }
    opt_refuse(OPTS(&format, &o.columns, &header, &ids, &comments, &o.edge_type, &map, &time_from,
                    &weight_from, &nodes, &edges, &tables, &encode, &features, &labels,
                    &o.orig_nids, &o.orig_eids, &allow, &o.undirected, &o.directed, &reverses,
                    &o.dedup, &loops, &split, &task, &dtype, &o.standardize, &o.standardize_from,
                    &threads, &o.sort_bytes),
               "cannot be used with --split-links, which reads a store");
    if (nargs > 1)
        cli_usage("--split-links: expected one STORE");
}

int main(int argc, char **argv)
{
    struct gnn_err e = {0};
    struct gnn_dataset *d;
    struct gnn_import_stats st;
    int nargs;
    cli_start("gnn-import", argc, argv);
    char **args = opt_parse(&program, argc, argv, &nargs);
    if (!nargs && !edges.n && !tables)
        cli_usage("INPUT is missing: gnn-import -o STORE INPUT (see --help)");
    if (!output)
        cli_usage("-o STORE is missing");
    if (!strcmp(output, "-"))
        cli_usage("-o -: a store is a directory and cannot go to stdout");
    if (nargs && gnn_kind_path(args[0]) == GNN_KIND_ABSENT && gnn_kind_path(output) >= GNN_KIND_ZIP)
        cli_usage("%s: no such file, but -o %s is %s: gnn-import -o STORE INPUT", args[0], output,
                  gnn_kind_text(gnn_kind_path(output)));
    stdin_unread("gnn-import reads files", (const char *const *)args, (unsigned)nargs);
    if (o.undirected && o.directed)
        cli_usage("--directed and --undirected exclude each other");
    if (o.standardize && o.standardize_from)
        cli_usage("--standardize and --standardize-from exclude each other");
    split_alone(nargs);
    take_tables();
    finish_opts();
    char *target = gnn_store_target(output, force, &e); /* before any work */
    if (!target)
        cli_fail(&e);
    gnn_free(target);
    if (links.text) {
        links.seed = seed;
        links.seeded = opt_given(&seed);
        links.negatives = negatives.v;
        links.nnegatives = negatives.n;
        import_links(args[0], &links, output, force);
        return cli_finish();
    }
    double start = gnn_clock();
    if (gnn_import_open(&d, (const char *const *)args, (uint32_t)nargs, &o, &e))
        cli_fail(&e);
    int rc = gnn_import_write(d, &o, output, force, cli_provenance(), &st, &e);
    cli_progress_end();
    if (!rc)
        import_text(d, &o, &st, gnn_clock() - start);
    gnn_free(st.type);
    gnn_free(st.columns);
    gnn_dataset_free(d);
    if (rc)
        cli_fail(&e);
    free_map();
    return cli_finish();
}
