/* SPDX-License-Identifier: Apache-2.0 */
/* Formats by their first bytes, lines or names (lib/base/foreign.h): one list. A text is looked at
 * from its beginning and from its first line that is no comment. What a format looks like was taken
 * from its specification or from what the programs that write it do. */
#include "lib/base/foreign.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "formats/le.h"
#include "formats/torch_file.h"
#include "lib/base/foreign_text.h"
#include "lib/base/path.h"

enum { HEAD = 4096 };

/* ---- texts that need more than a beginning ---- */

/* graph [ ... node [ id 0 */
static bool is_gml(struct text t)
{
    struct text rest = t;
    if (starts_with(t, "graph")) {
        rest.p += 5;
        rest = skip_blanks(rest);
        return rest.p < rest.end && *rest.p == '[';
    }
    return (starts_with(t, "Creator") || starts_with(t, "Version")) &&
           (holds_text(t, "\ngraph [") || holds_text(t, "\ngraph\n[") ||
            holds_text(t, "\ngraph\r\n["));
}

/* strict digraph "name" { */
static bool is_dot(struct text t)
{
    if (starts_with(t, "strict"))
        t.p += 6;
    t = skip_blanks(t);
    if (starts_with(t, "di"))
        t.p += 2;
    if (!starts_with(t, "graph"))
        return false;
    t.p += 5;
    const char *open = memchr(t.p, '{', (size_t)(t.end - t.p));
    return open && (open == t.p || isspace((unsigned char)*t.p)) &&
           !memchr(t.p, '[', (size_t)(open - t.p)) && !memchr(t.p, ',', (size_t)(open - t.p));
}

/* What follows the first three terms of a line, as <http://a> <http://b> <http://c> or
 * _:b1 <http://b> "c"@en are; false if it has none such. */
static bool skip_terms(struct text t, struct text *line)
{
    struct text w;
    if (!next_line(&t, line))
        return false;
    for (int i = 0; i < 2; i++)
        if (!next_word(line, &w) ||
            !((*w.p == '<' && w.end[-1] == '>') || (!i && starts_with(w, "_:"))))
            return false;
    *line = skip_blanks(*line);
    const char *p = line->p;
    if (p < line->end && *p == '"')
        for (p++; p < line->end && *p != '"'; p++)
            p += *p == '\\' && p + 1 < line->end;
    while (p < line->end && !isspace((unsigned char)*p))
        p++;
    const bool point = p > line->p && p[-1] == '.'; /* the end may touch the object */
    line->p = p - point;
    *line = skip_blanks(*line);
    return line->p < line->end;
}

static bool is_statement(struct text t)
{
    struct text rest;
    return skip_terms(t, &rest) && *rest.p == '.';
}

/* A statement with a term more, the graph's. */
static bool is_quad(struct text t)
{
    struct text rest;
    return skip_terms(t, &rest) && (*rest.p == '<' || *rest.p == '_');
}

static bool is_json(struct text t)
{
    if (t.p == t.end || (*t.p != '{' && *t.p != '['))
        return false;
    const char open = *t.p++;
    t = skip_blanks(t);
    const char c = t.p < t.end ? *t.p : 0;
    return c == '"' || c == (open == '{' ? '}' : ']') ||
           (open == '[' && (c == '{' || c == '[' || c == '-' || isdigit((unsigned char)c)));
}

static bool is_json_lines(struct text t)
{
    struct text line, other;
    return is_json(t) && next_line(&t, &line) && next_line(&t, &other) && *line.p == '{' &&
           line.end[-1] == '}' && other.end > other.p && *other.p == '{';
}

static bool is_node_link(struct text t)
{
    return is_json(t) && *t.p == '{' && holds_text(t, "\"nodes\"") &&
           (holds_text(t, "\"links\"") || holds_text(t, "\"edges\"") ||
            holds_text(t, "\"directed\""));
}

/* {'a': 1}, [(0, 1), {0: [1, 2]} */
static bool is_python(struct text t)
{
    if (t.p == t.end || (*t.p != '{' && *t.p != '['))
        return false;
    const bool dict = *t.p++ == '{';
    t = skip_blanks(t);
    return t.p < t.end && (*t.p == '\'' || *t.p == '(' ||
                           (dict && isdigit((unsigned char)*t.p) && holds_text(t, ": ")));
}

/* +1 3:0.5 7:1 */
static bool is_libsvm(struct text t)
{
    struct text line, w;
    int pairs = 0;
    if (!next_line(&t, &line) || !next_word(&line, &w) || memchr(w.p, ':', (size_t)(w.end - w.p)))
        return false;
    for (; next_word(&line, &w); pairs++) {
        const char *colon = memchr(w.p, ':', (size_t)(w.end - w.p));
        if (!colon || !is_integer((struct text){w.p, colon, true}) || colon + 1 == w.end ||
            !strchr("+-.0123456789", colon[1]))
            return false;
    }
    return pairs > 0;
}

/* c comment / p sp 4 5 / a 1 2 7 */
static bool is_dimacs(struct text t)
{
    struct text line, w;
    while (next_line(&t, &line)) {
        if (!next_word(&line, &w) || w.end - w.p != 1 || (*w.p != 'c' && *w.p != 'p'))
            return false;
        if (*w.p == 'p')
            return next_word(&line, &w) && !is_integer(w) && next_word(&line, &w) &&
                   is_integer(w) && next_word(&line, &w) && is_integer(w);
    }
    return false;
}

/* "# NAME" above its neighbours, one a line and perhaps with a weight, and then another one. */
static bool is_lgl(struct text t)
{
    struct text line, name, weight;
    for (bool head, below = false, any = false; next_line(&t, &line);) {
        if (line.p == line.end)
            continue;
        head = *line.p == '#';
        line.p += head;
        if (!next_word(&line, &name) || (!head && !any) ||
            memchr(name.p, ',', (size_t)(name.end - name.p)) ||
            memchr(name.p, ';', (size_t)(name.end - name.p)))
            return false;
        if (next_word(&line, &weight) &&
            (head || is_integer(name) || (!isdigit((unsigned char)*weight.p) && *weight.p != '.')))
            return false;
        if (head && below)
            return true;
        any = any || head;
        below = !head;
    }
    return false;
}

/* A node and its degree, then as many lines of a neighbour and a dict: networkx. */
static bool is_multiline(struct text t)
{
    struct text line, w, second, third;
    while (next_line(&t, &line)) {
        if (line.p == line.end || *line.p == '#')
            continue;
        if (next_word(&line, &w) && next_word(&line, &second) && *second.p == '{')
            return second.end[-1] == '}' || next_word(&line, &third);
        if (!second.p || next_word(&line, &third))
            return false;
    }
    return false;
}

/* 1: 2 3, or 1 -> 2 3, or 1<TAB>2,3 in each line. */
static bool is_mapped_list(struct text t)
{
    struct text line, w, second;
    unsigned lines = 0;
    bool longer = false;
    while (next_line(&t, &line)) {
        const char *all = line.p;
        if (line.p == line.end)
            continue;
        if (!next_word(&line, &w) || strchr("{[\"'<", *w.p))
            return false;
        const bool colon =
            w.end[-1] == ':' && w.end - w.p > 1 && !memchr(w.p, '{', (size_t)(w.end - w.p));
        const bool any = next_word(&line, &second);
        const bool arrow = any && second.end - second.p == 2 && !memcmp(second.p, "->", 2);
        const bool tab = any && w.end < t.end && *w.end == '\t' && is_integer(w) &&
                         !memchr(second.end, '\t', (size_t)(line.end - second.end));
        const bool commas = any && memchr(all, ',', (size_t)(line.end - all)) != NULL;
        if (!colon && !arrow && !(tab && (commas || is_integer(second))))
            return false;
        longer = longer || colon || arrow || commas;
        lines++;
    }
    return lines && longer;
}

/* What lines of whole numbers are like. */
struct lines {
    unsigned long long n, blank; /* lines with and without numbers */
    unsigned long long first[2]; /* numbers of the first line, and how many it has */
    unsigned head;
    unsigned least, most; /* numbers in the other lines */
};

static bool count_numbers(struct lines *l, struct text t)
{
    struct text line, w;
    *l = (struct lines){.least = ~0u};
    while (next_line(&t, &line)) {
        unsigned n = 0;
        if (line.p < line.end && (*line.p == '#' || *line.p == '%'))
            continue;
        for (; next_word(&line, &w); n++) {
            if (!is_integer(w) || w.end - w.p > 18)
                return false;
            for (const char *p = w.p; !l->n && n < 2 && p < w.end; p++)
                l->first[n] = l->first[n] * 10 + (unsigned)(*p - '0');
        }
        l->blank += !n;
        if (!n)
            continue;
        if (!l->n++) {
            l->head = n;
            continue;
        }
        l->least = n < l->least ? n : l->least;
        l->most = n > l->most ? n : l->most;
    }
    return l->n > 1;
}

/* A line with a number or two, the last of which is how many lines follow, and a table: OpenKE and
 * others. */
static bool is_counted(struct text t)
{
    struct lines l;
    if (!count_numbers(&l, t) || l.least != l.most || l.most <= l.head || l.head > 2 || l.most > 4)
        return false;
    const unsigned long long told = l.first[l.head - 1];
    return t.whole ? told == l.n - 1 : told >= l.n - 1;
}

/* A node and its neighbours in each line. METIS has such lines too, after one of 2 to 4 numbers,
 * the first of which is how many lines follow, be they blank. */
static bool is_ragged(struct text t)
{
    struct lines l;
    if (!count_numbers(&l, t) || (l.least == l.most && l.head == l.most))
        return false;
    const bool metis = l.head >= 2 && l.head <= 4 && l.first[0] >= l.n - 1 &&
                       (!t.whole || l.first[0] <= l.n - 1 + l.blank);
    return !metis;
}

static bool is_adjacency(struct text t)
{
    return is_mapped_list(t) || is_ragged(t);
}

/* PREFIX and BASE are in SPARQL's writing. */
static bool is_turtle(struct text t)
{
    struct text line = {0};
    return starts_with(t, "@prefix") || starts_with(t, "@base") ||
           ((starts_with(t, "prefix ") || starts_with(t, "base ")) && next_line(&t, &line) &&
            holds_text(line, "<"));
}

/* A zip archive whose first member is NAME/data.pkl. */
static bool is_torch(struct text t)
{
    static const char member[] = "/data.pkl";
    const uint8_t *p = (const uint8_t *)t.p;
    const size_t n = (size_t)(t.end - t.p), name = 30, end = sizeof member - 1;
    const size_t len = n >= name && !memcmp(p, "PK\3\4", 4) ? load_le16(p + 26) : 0;
    return len > end && name + len <= n && !memcmp(p + name + len - end, member, end);
}

static bool is_old_torch(struct text t)
{
    return gnn_torch_is_legacy(t.p, (uint64_t)(t.end - t.p));
}

/* ---- the list ---- */

#define NETWORKX(READ)                                                                             \
    "networkx makes an edge list of it: write_edgelist(" READ "(FILE), 'edges.txt', data=False)"
#define PANDAS(READ) "pandas makes a table of it: " READ "(FILE).to_csv('edges.csv', index=False)"
#define PACKED " (gzip, zstd, xz, zip and tar are read as they are)"
#define NO_DATA "give the file that holds the edges"
#define RAPPER(SYNTAX)                                                                             \
    "rapper (raptor2-utils) makes N-Triples of it: rapper -i " SYNTAX " FILE >graph.nt"
#define JSON "write its edges as a table: a line 'source,target', and a line for each edge"
#define ARRAYS                                                                                     \
    "load it in Python and save arrays with numpy.savez(FILE, edge_index=..., x=..., y=...)"

#define KONECT                                                                                      \
    "read its columns with --format snap --columns source=1,target=2 (and weight=3, time=4, where " \
    "it has them)"
#define SOLE "gnn-import reads one graph if it is the only input"
#define TORCH "save parameters with safetensors.torch.save_file; " SOLE
#define PAGE "get the file itself: what was saved is the page that leads to it, or an error"
#define SQL_DUMP "load it into a database and write the table of edges as CSV"

static const struct entry {
    struct gnn_foreign f;
    const char *magic; /* the bytes `at`, or what the text begins with, in any case */
    unsigned char at, n;
    bool (*is)(struct text t);
} list[] = {
#define BYTES(NAME, ENDS, AT, MAGIC, REMEDY)                                                       \
    {                                                                                              \
        {NAME, ENDS, REMEDY, false}, MAGIC, AT, sizeof MAGIC - 1, NULL                             \
    }
#define LAYOUT(NAME, ENDS, IS, REMEDY)                                                             \
    {                                                                                              \
        {NAME, ENDS, REMEDY, false}, NULL, 0, 0, IS                                                \
    }
#define GRAPH(NAME, ENDS, IS, REMEDY)                                                              \
    {                                                                                              \
        {NAME, ENDS, REMEDY, false, false, true}, NULL, 0, 0, IS                                   \
    }
#define BEGIN(NAME, ENDS, MAGIC, REMEDY)                                                           \
    {                                                                                              \
        {NAME, ENDS, REMEDY, true}, MAGIC, 0, 0, NULL                                              \
    }
#define LINES(NAME, ENDS, IS, REMEDY)                                                              \
    {                                                                                              \
        {NAME, ENDS, REMEDY, true}, NULL, 0, 0, IS                                                 \
    }
#define NOBYTES(NAME, ENDS, AT, MAGIC, REMEDY)                                                     \
    {                                                                                              \
        {NAME, ENDS, REMEDY, false, true}, MAGIC, AT, sizeof MAGIC - 1, NULL                       \
    }
#define NOBEGIN(NAME, ENDS, MAGIC, REMEDY)                                                         \
    {                                                                                              \
        {NAME, ENDS, REMEDY, true, true}, MAGIC, 0, 0, NULL                                        \
    }
#define NAMED(NAME, ENDS, REMEDY)                                                                  \
    {                                                                                              \
        {NAME, ENDS, REMEDY, false}, NULL, 0, 0, NULL                                              \
    }
    /* packed */
    BYTES("bzip2", ".bz2 .bz .tbz .tbz2 ", 0, "BZh", "unpack it with bunzip2" PACKED),
    BYTES("lzip", ".lz ", 0, "LZIP", "unpack it with lzip -d" PACKED),
    BYTES("lzma", ".lzma ", 0, "\x5d\0\0", "unpack it with xz -d" PACKED),
    BYTES("a 7z archive", ".7z ", 0, "7z\xbc\xaf\x27\x1c", "unpack it with 7z x" PACKED),
    BYTES("a rar archive", ".rar ", 0, "Rar!\x1a\x07", "unpack it with unrar x" PACKED),
    BYTES("LZ4", ".lz4 ", 0, "\x04\x22\x4d\x18", "unpack it with lz4 -d" PACKED),
    BYTES("snappy", ".snappy .sz ", 0, "\xff\x06\0\0sNaPpY", "unpack it with snzip -d" PACKED),
    BYTES("compress (.Z)", ".Z ", 0, "\x1f\x9d", "unpack it with gzip -d" PACKED),
    BYTES("zlib", ".zlib ", 0, "\x78\x9c",
          "unpack it with Python: zlib.decompress, or joblib.load if joblib wrote it" PACKED),
    NAMED("brotli", ".br ", "unpack it with brotli -d" PACKED),
    /* tables and arrays */
    BYTES("Parquet", ".parquet .parq .pq ", 0, "PAR1", "python3 -m gnntools.parquet imports it"),
    BYTES("encrypted Parquet", "", 0, "PARE", "decrypt it, and write a table of text"),
    BYTES("Arrow", ".arrow .ipc .feather ", 0, "ARROW1", PANDAS("read_feather")),
    BYTES("Feather", ".feather ", 0, "FEA1", PANDAS("read_feather")),
    BYTES(
        "an Arrow stream", ".arrows ", 0, "\xff\xff\xff\xff",
        "pyarrow makes a table of it: csv.write_csv(ipc.open_stream(FILE).read_all(), 'edges.csv')"),
    BYTES("ORC", ".orc ", 0, "ORC", PANDAS("read_orc")),
    BYTES("Avro", ".avro ", 0, "Obj\1", "fastavro or Spark makes a CSV table of it"),
    BYTES("MATLAB 7.3", ".mat ", 0, "MATLAB 7.3 MAT-file",
          "in MATLAB, writematrix(E, 'edges.csv'); in Python, h5py reads it and numpy.savez "
          "writes arrays"),
    BYTES("MATLAB 5", ".mat ", 0, "MATLAB 5.0 MAT-file",
          "SciPy converts it: scipy.io.loadmat(FILE), then scipy.sparse.save_npz for a sparse "
          "matrix, or numpy.savez"),
    BYTES("HDF5", ".h5 .hdf5 .hdf .h5ad .loom .nc4 ", 0, "\x89HDF\r\n\x1a\n",
          "h5py reads it, and numpy.savez writes arrays (a table of pandas: "
          "read_hdf(FILE).to_csv('edges.csv', index=False))"),
    BYTES("NetCDF", ".nc .cdf ", 0, "CDF\1", "load it in Python and save arrays with numpy.savez"),
    BYTES("NetCDF", ".nc .cdf ", 0, "CDF\2", "load it in Python and save arrays with numpy.savez"),
    BYTES("an SQLite database", ".sqlite .sqlite3 .db .db3 ", 0, "SQLite format 3",
          "sqlite3 -csv -header FILE 'SELECT source, target FROM edges' >edges.csv makes a table"),
    BYTES("a DuckDB database", ".duckdb .ddb ", 8, "DUCK", "COPY edges TO 'edges.csv' (HEADER)"),
    BYTES("an old Office file (.xls)", ".xls .doc ", 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
          "save the sheet as CSV"),
    BYTES("an Office file (.xlsx)", ".xlsx .xlsm .xlsb .docx .pptx ", 30, "[Content_Types].xml",
          "save the sheet as CSV"),
    BYTES("an Office file (.xlsx)", ".xlsx .xlsm .xlsb .docx .pptx ", 30, "_rels/.rels",
          "save the sheet as CSV"),
    BYTES("an OpenDocument file", ".ods .odt ", 30, "mimetypeapplication/vnd.oasis.opendocument",
          "save the sheet as CSV"),
    BYTES("R data", ".rdata .rda ", 0, "RDX3\n",
          "in R: write.csv(edges, 'edges.csv', row.names=FALSE)"),
    BYTES("R data", ".rdata .rda ", 0, "RDX2\n",
          "in R: write.csv(edges, 'edges.csv', row.names=FALSE)"),
    BYTES("R data", ".rds ", 0, "X\n\0\0\0",
          "in R: write.csv(readRDS(FILE), 'edges.csv', row.names=FALSE)"),
    BYTES("Stata", ".dta ", 0, "<stata_dta>", PANDAS("read_stata")),
    GRAPH("a file of torch.save", ".pt .pth .ckpt ", is_torch, TORCH),
    GRAPH("a file of torch.save", ".pt .pth .ckpt ", is_old_torch, TORCH),
    BYTES("a pickle", ".pkl .pickle .p .gpickle .joblib ", 0, "\x80\x05\x95", ARRAYS),
    BYTES("a pickle", ".pkl .pickle .p .gpickle .joblib ", 0, "\x80\x04\x95", ARRAYS),
    BYTES("a pickle", ".pkl .pickle .p .gpickle .joblib ", 0, "\x80\x04", ARRAYS),
    BYTES("a pickle", ".pkl .pickle .p .gpickle .joblib ", 0, "\x80\x03", ARRAYS),
    BYTES("a pickle", ".pkl .pickle .p .gpickle .joblib ", 0, "\x80\x02", ARRAYS),
    BEGIN("a pickle", ".pkl .pickle .p .gpickle .joblib ", "ccopy_reg\n", ARRAYS),
    BEGIN("a pickle", ".pkl .pickle .p .gpickle .joblib ", "(dp", ARRAYS),
    BEGIN("a pickle", ".pkl .pickle .p .gpickle .joblib ", "(lp", ARRAYS),
    {{"a file of dgl.save_graphs", ".bin .dgl ", SOLE, false, false, true},
     "\x3f\xa1\xb4\x46\xf0\x4f\x2e\xdd",
     0,
     8,
     NULL},
    NAMED("TFRecord", ".tfrecord .tfrecords ", ARRAYS),
    BEGIN("ARFF", ".arff ", "@relation",
          "SciPy reads it (scipy.io.arff.loadarff); write a CSV table"),
    LINES("LibSVM", ".libsvm .svm .svmlight ", is_libsvm,
          "scikit-learn reads it (load_svmlight_file); save arrays with numpy.savez"),
    BEGIN("SQL", ".sql ", "CREATE TABLE", SQL_DUMP),
    BEGIN("SQL", ".sql ", "INSERT INTO", SQL_DUMP),
    BEGIN("SQL", ".sql ", "DROP TABLE", SQL_DUMP),
    BEGIN("SQL", ".sql ", "BEGIN TRANSACTION", SQL_DUMP),
    BEGIN("SQL", ".sql ", "PRAGMA ", SQL_DUMP),
    BEGIN("SQL", ".sql ", "-- MySQL", SQL_DUMP),
    BEGIN("SQL", ".sql ", "--\n-- PostgreSQL", SQL_DUMP),
    /* graphs */
    LINES("GML", ".gml ", is_gml, NETWORKX("read_gml")),
    BEGIN("GraphML", ".graphml .xml ", "<graphml", NETWORKX("read_graphml")),
    BEGIN("GEXF", ".gexf .xml ", "<gexf", NETWORKX("read_gexf")),
    BEGIN("XGMML", ".xgmml .xml ", "<graph ", "export an edge table as CSV from Cytoscape"),
    BEGIN("GDF", ".gdf ", "nodedef>", "export an edge table as CSV from Gephi"),
    NAMED("a Gephi project", ".gephi ", "export the edges table as CSV from Gephi"),
    NAMED("a Cytoscape session", ".cys ", "export the edge table as CSV from Cytoscape"),
    LINES("DOT", ".dot .gv ", is_dot, NETWORKX("nx_pydot.read_dot")),
    BEGIN("Pajek", ".net .paj ", "*vertices", NETWORKX("read_pajek")),
    BEGIN("Pajek", ".net .paj ", "*network", NETWORKX("read_pajek")),
    BEGIN("VNA", ".vna ", "*node", "write its *Tie data as a table of edges"),
    BEGIN("UCINET DL", ".dl ", "dl n=",
          "igraph makes an edge list of it: Graph.Read_DL(FILE)"
          ".write_edgelist('edges.txt')"),
    BEGIN("KONECT", "", "% sym ", KONECT " and -u"),
    BEGIN("KONECT", "", "% asym ", KONECT),
    BEGIN("KONECT", "", "% bip ", KONECT " and --edge-type left/to/right"),
    BEGIN("LEDA", ".lgr .gw ", "LEDA.GRAPH", NETWORKX("read_leda")),
    BEGIN("LEMON", ".lgf ", "@nodes",
          "write its section @arcs or @edges as a table, from the second line on"),
    BEGIN("LEMON", ".lgf ", "@arcs",
          "write its section @arcs or @edges as a table, from the second line on"),
    BEGIN("LEMON", ".lgf ", "@edges",
          "write its section @arcs or @edges as a table, from the second line on"),
    NAMED("TGF", ".tgf ", "take the lines after the # for edges: sed '1,/^#/d' FILE >edges.txt"),
    BEGIN("graph6", ".g6 ", ">>graph6<<", NETWORKX("read_graph6")),
    NAMED("graph6", ".g6 ", NETWORKX("read_graph6")),
    BEGIN("sparse6", ".s6 ", ">>sparse6<<", NETWORKX("read_sparse6")),
    NAMED("sparse6", ".s6 ", NETWORKX("read_sparse6")),
    BEGIN("digraph6", ".d6 ", ">>digraph6<<",
          "igraph or nauty (listg -e) makes an edge list of it"),
    LINES("DIMACS", ".gr .dimacs .col ", is_dimacs,
          "take the lines of edges: awk '/^[ae] /{print $2, $3}' FILE >edges.txt"),
    BEGIN("gSpan", ".lg ", "t # ", "several graphs in one file are not read"),
    BEGIN("WebGraph", ".properties ", "#BVGraph",
          "WebGraph makes an edge list of it: ArcListASCIIGraph -g BVGraph BASENAME edges.txt"),
    /* RDF */
    LINES("N-Quads", ".nq ", is_quad, RAPPER("nquads")),
    {{"N-Triples", ".nt ", "gnn-import makes a store of it", true, false, true},
     NULL,
     0,
     0,
     is_statement},
    LINES("Turtle", ".ttl .trig .n3 ", is_turtle, RAPPER("turtle")),
    BEGIN("RDF/XML", ".rdf .owl .xml ", "<rdf:RDF", RAPPER("rdfxml")),
    /* JSON and the like */
    LINES(
        "node-link JSON", ".json ", is_node_link,
        "networkx makes an edge list of it: write_edgelist(node_link_graph(json.load(open(FILE))), "
        "'edges.txt', data=False)"),
    LINES(
        "JSON Lines", ".jsonl .ndjson .json ", is_json_lines,
        "pandas makes a table of it: read_json(FILE, lines=True).to_csv('edges.csv', index=False)"),
    LINES("JSON", ".json .geojson .jsonld ", is_json, JSON),
    LINES("a Python literal", "", is_python, JSON),
    BEGIN("YAML", ".yaml .yml ", "---\n", JSON),
    BEGIN("YAML", ".yaml .yml ", "%YAML", JSON),
    /* no data */
    NOBEGIN("a PDF document", ".pdf ", "%PDF-", NO_DATA),
    NOBEGIN("a PostScript document", ".ps .eps ", "%!PS", NO_DATA),
    NOBEGIN("an RTF document", ".rtf ", "{\\rtf", NO_DATA),
    NOBYTES("an image", ".png ", 0, "\x89PNG\r\n", NO_DATA),
    NOBYTES("an image", ".jpg .jpeg ", 0, "\xff\xd8\xff", NO_DATA),
    NOBYTES("an image", ".gif ", 0, "GIF8", NO_DATA),
    NOBYTES("an image", ".tif .tiff ", 0, "II*\0", NO_DATA),
    NOBYTES("an image", ".tif .tiff ", 0, "MM\0*", NO_DATA),
    NOBYTES("an image", ".webp ", 8, "WEBPVP8", NO_DATA),
    NOBYTES("a program", ".so .o .exe ", 0,
            "\x7f"
            "ELF",
            NO_DATA),
    NOBYTES("a program", ".class ", 0, "\xca\xfe\xba\xbe", NO_DATA),
    NOBEGIN("a script", ".sh .py ", "#!", NO_DATA),
    NOBEGIN("an SVG image", ".svg ", "<svg", NO_DATA),
    BEGIN("a web page", ".html .htm ", "<!doctype html", PAGE),
    BEGIN("a web page", ".html .htm ", "<html", PAGE),
    BEGIN("a web server's answer, and no data", "", "404: Not Found", PAGE),
    BEGIN("XML", ".xml ", "<?xml", "write its edges as a table"),
    BEGIN("XML", ".xml ", "<!DOCTYPE", "write its edges as a table"),
    BEGIN("a pointer of Git LFS", "", "version https://git-lfs",
          "git lfs pull gets the file itself"),
    BEGIN("a pointer of git-annex", "", "/annex/objects/", "git annex get gets the file itself"),
    /* lists of neighbours */
    LINES("LGL", ".lgl ", is_lgl,
          "write one edge per line: awk '/^#/ {s = $2; next} {print s, $1}' FILE >edges.txt"),
    LINES("a multiline adjacency list", ".multiline_adjlist .madjlist ", is_multiline,
          NETWORKX("read_multiline_adjlist")),
    LINES("a table under a line with its count", "", is_counted,
          "leave out that line: tail -n +2 FILE >edges.txt (--columns says what each column is)"),
    LINES(
        "an adjacency list", ".adjlist .adj ", is_adjacency,
        "write one edge per line: sed 's/->/ /; s/[:,]/ /g' FILE | awk '{for (i = 2; i <= NF; i++) "
        "print $1, $i}' >edges.txt "
        "(or give it as METIS with --format metis)"),
};

enum { COUNT = sizeof list / sizeof *list };

/* Neither zeros nor other bytes that no text has. */
static bool is_text(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] == 127 || (p[i] < ' ' && !strchr("\t\n\v\f\r\x1b", p[i])) || !p[i])
            return false;
    return true;
}

/* The first element of an XML document, past its declaration, type and comments. */
static struct text root_of(struct text t)
{
    while (starts_with(t, "<?") || starts_with(t, "<!")) {
        const char *close = *++t.p == '?' ? "?>" : starts_with(t, "!--") ? "-->" : ">";
        const char *end = memmem(t.p, (size_t)(t.end - t.p), close, strlen(close));
        t.p = end ? end + strlen(close) : t.end;
        t = skip_blanks(t);
    }
    return t;
}

/* A word could begin with such a magic number. */
static bool is_word(const char *magic, size_t n)
{
    size_t i = 0;
    while (i < n && magic[i] >= ' ' && magic[i] <= '~')
        i++;
    return i == n;
}

static bool entry_matches(const struct entry *l, const struct text *from, unsigned nfrom, bool text)
{
    const uint8_t *p = (const uint8_t *)from->p;
    const size_t n = (size_t)(from->end - from->p);
    bool is = false;
    if (l->n)
        return n >= (size_t)l->at + l->n && !memcmp(p + l->at, l->magic, l->n) &&
               !(text && is_word(l->magic, l->n));
    if (!l->f.text)
        return l->is && l->is(*from);
    for (unsigned i = 0; !is && i < nfrom; i++)
        is = l->magic ? starts_with(from[i], l->magic) : text && l->is && l->is(from[i]);
    return is;
}

const struct gnn_foreign *gnn_foreign_bytes(const uint8_t *p, size_t n, bool whole)
{
    whole = whole && n <= HEAD;
    n = n < HEAD ? n : HEAD;
    const bool text = n && is_text(p, n);
    struct text from[3] = {{(const char *)p, (const char *)p + n, whole}};
    if (text && n > 2 && !memcmp(p, "\xef\xbb\xbf", 3))
        from[0].p += 3;
    const char *nl = from->end; /* the last line may go on */
    while (text && !whole && nl > from->p && nl[-1] != '\n' && nl[-1] != '\r')
        nl--;
    from->end = nl > from->p ? nl : from->end;
    from[1] = skip_comments(*from);
    from[2] = root_of(from[1]);
    for (unsigned i = 0; i < COUNT; i++)
        if (entry_matches(&list[i], from, text ? 3 : 1, text))
            return &list[i].f;
    return NULL;
}

/* The end of a name from its last point on, without that of what is unpacked anyway; NULL: none. */
static const char *end_of(const char *path, size_t *len)
{
    path = gnn_base_name(path);
    const size_t n = gnn_unpacked_length(path);
    const char *dot = n ? memrchr(path, '.', n) : NULL;
    *len = dot ? (size_t)(path + n - dot) : 0;
    return dot;
}

/* Whether it is one of the names' ends, each of which a blank follows. */
static bool one_of(const char *end, size_t len, const char *ends)
{
    for (const char *p = ends; *p; p += strcspn(p, " ") + 1)
        if (strcspn(p, " ") == len && !strncasecmp(p, end, len))
            return true;
    return false;
}

const struct gnn_foreign *gnn_foreign_name(const char *path)
{
    size_t len;
    const char *end = end_of(path, &len);
    for (unsigned i = 0; end && i < COUNT; i++)
        if (one_of(end, len, list[i].f.ends))
            return &list[i].f;
    return NULL;
}

const struct gnn_foreign *gnn_foreign_at(unsigned i)
{
    return &list[i].f;
}

unsigned gnn_foreign_index(const struct gnn_foreign *f)
{
    unsigned i = 0;
    while (&list[i].f != f)
        i++;
    return i;
}

int gnn_foreign_refuse(const struct gnn_foreign *f, const char *path, struct gnn_err *e)
{
    size_t len;
    const char *end = end_of(path, &len);
    const bool other = end && !one_of(end, len, f->ends) &&
                       (gnn_foreign_name(path) ||
                        one_of(end, len, ".csv .tsv .npy .npz .mtx .graph .zip .tar .tgz "));
    return gnn_fail(e, GNN_E_INPUT, "%s: this is %s (by its first %s%s%.*s), which is not read; %s",
                    path, f->name, f->text ? "lines" : "bytes",
                    other ? ", though its name ends in " : "", other ? (int)len : 0,
                    other ? end : "", f->remedy);
}
