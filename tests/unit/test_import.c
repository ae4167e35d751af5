/* SPDX-License-Identifier: Apache-2.0 */
/* Importing from memory: archives of every kind, cut and damaged; numbers of generated edges. */
#include <archive.h>
#include <archive_entry.h>
#include <malloc.h>

#include "formats/npy.h"
#include "import_drain.h"
#include "lib/import/generate/gen.h"
#include "lib/import/nodeids.h"
#include "lib/base/rand.h"
#include "tap.h"

struct file {
    const char *name;
    const void *data;
    size_t n;
};

enum { CAPACITY = 1 << 18 };

/* gnn_alloc is the only user of aligned_alloc, so this fails our k-th allocation and leaves
 * libarchive's alone: its zip reader does not look at what malloc returns. */
static long fail_at = -1;
void *aligned_alloc(size_t align, size_t n)
{
    void *p = NULL;
    if (fail_at >= 0 && fail_at-- == 0)
        return NULL;
    return posix_memalign(&p, align, n) ? NULL : p;
}

/* An archive of the files: "zip", "zip store", "tar", "tar gzip", "tar zstd", "tar xz", "raw gzip",
 * "raw xz". */
static size_t pack(const char *how, const struct file *f, int nf, uint8_t *out)
{
    size_t used = 0;
    struct archive *a = archive_write_new();
    if (!strncmp(how, "zip", 3))
        archive_write_set_format_zip(a);
    else if (!strncmp(how, "tar", 3))
        archive_write_set_format_ustar(a);
    else
        archive_write_set_format_raw(a);
    if (!strcmp(how, "zip store"))
        archive_write_zip_set_compression_store(a);
    if (strstr(how, "gzip"))
        archive_write_add_filter_gzip(a);
    if (strstr(how, "zstd"))
        archive_write_add_filter_zstd(a);
    if (strstr(how, "xz"))
        archive_write_add_filter_xz(a);
    archive_write_set_bytes_in_last_block(a, 1);
    archive_write_open_memory(a, out, CAPACITY, &used);
    for (int i = 0; i < nf; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, f[i].name);
        archive_entry_set_size(e, (la_int64_t)f[i].n);
        archive_entry_set_filetype(e, AE_IFREG);
        archive_entry_set_perm(e, 0644);
        archive_write_header(a, e);
        archive_write_data(a, f[i].data, f[i].n);
        archive_entry_free(e);
    }
    archive_write_close(a);
    archive_write_free(a);
    return used;
}

static struct file text(const char *name, const char *s)
{
    return (struct file){name, s, strlen(s)};
}

static struct file npy(const char *name, enum gnn_dtype d, uint32_t ndim, uint64_t rows,
                       uint64_t cols, const void *data)
{
    struct gnn_npy h = {.dtype = d, .ndim = ndim, .shape = {rows, cols}};
    static uint8_t pool[16][1024];
    static unsigned turn;
    uint8_t *to = pool[turn++ % 16];
    uint32_t n = gnn_npy_header(&h, to);
    size_t bytes = rows * (ndim > 1 ? cols : 1) * gnn_dtype_bytes(d);
    memcpy(to + n, data, bytes);
    return (struct file){name, to, n + bytes};
}

static uint8_t buf[CAPACITY], inner[CAPACITY], hurt[CAPACITY];
static uint64_t edges, digest;
static struct gnn_err e;

static int run(const char *name, const void *data, size_t n, const char *format)
{
    struct gnn_import_opts o = {.format = format, .task = -1};
    e = (struct gnn_err){0};
    uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees a step beyond */
    memcpy(exact, data, n);
    int rc = drain_import(name, exact, n, &o, &edges, &digest, &e);
    free(exact);
    return rc;
}

static const int64_t index_of[] = {0, 1, 2, 3, 1, 2, 3, 0};
static const float feat[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const int64_t label[] = {0, 1, 2, 0};

static int ogb_csv(struct file *f)
{
    f[0] = text("d/raw/edge.csv", "0,1\n1,2\n2,3\n3,0\n");
    f[1] = text("d/raw/num-node-list.csv", "4\n");
    f[2] = text("d/raw/num-edge-list.csv", "4\n");
    f[3] = text("d/raw/node-feat.csv", "1,2\n3,4\n5,6\n7,8\n");
    f[4] = text("d/raw/node-label.csv", "0\n1\nnan\n2\n");
    f[5] = text("d/split/s/train.csv", "0\n");
    f[6] = text("d/split/s/valid.csv", "1\n");
    f[7] = text("d/split/s/test.csv", "3\n");
    return 8;
}

static int arrays(struct file *f)
{
    f[0] = npy("edge_index.npy", GNN_I64, 2, 2, 4, index_of);
    f[1] = npy("node_feat.npy", GNN_F32, 2, 4, 2, feat);
    f[2] = npy("num_edges_list.npy", GNN_I64, 1, 1, 0, (int64_t[]){4});
    f[3] = npy("num_nodes_list.npy", GNN_I64, 1, 1, 0, (int64_t[]){4});
    return 4;
}

static int ogb_binary(struct file *f)
{
    struct file in[8];
    int n = arrays(in);
    static uint8_t labels[4096];
    f[0] = (struct file){"raw/data.npz", inner, pack("zip", in, n, inner)};
    in[0] = npy("node_label.npy", GNN_I64, 2, 4, 1, label);
    f[1] = (struct file){"raw/node-label.npz", labels, 0};
    f[1].n = pack("zip", in, 1, labels);
    f[2] = text("split/s/train.csv", "0\n");
    f[3] = text("split/s/valid.csv", "1\n");
    f[4] = text("split/s/test.csv", "3\n");
    return 5;
}

/* A cut archive fails, wherever it is cut, and what is said names it; a flipped bit fails or
 * changes nothing, where there are checksums. */
static void damage(const char *what, const char *name, size_t n, uint64_t want, bool sums)
{
    ok(!run(name, buf, n, NULL) && edges == want, "an import reads %s of %llu edges (%s)", what,
       (unsigned long long)edges, e.msg);
    const uint64_t whole = digest;
    bool good = true;
    for (size_t k = 0; k < n && good;
         k += n < 3000 || k % 512 == 511 || n - k < 700 ? 1 : 7 - k % 512 % 7) {
        int rc = run(name, buf, k, NULL);
        good = rc == GNN_E_INPUT && strstr(e.msg, name) == e.msg;
        if (!good)
            printf("# cut at %zu of %zu: %d, %llu edges, %s\n", k, n, rc, (unsigned long long)edges,
                   e.msg);
    }
    ok(good, "an import refuses %s that is cut, at many bytes", what);
    struct gnn_rand r = gnn_rand_key(7, n, want);
    unsigned same = 0;
    for (int k = 0; k < 1500 && good; k++) {
        memcpy(hurt, buf, n);
        for (uint64_t i = 0; i <= gnn_rand_below(&r, 4); i++)
            hurt[gnn_rand_below(&r, n)] ^= (uint8_t)(1 << gnn_rand_below(&r, 8));
        int rc = run(name, hurt, n, NULL);
        good =
            rc == 0 ? !sums || digest == whole : (rc == GNN_E_INPUT || rc == GNN_E_NOMEM) && *e.msg;
        same += !rc;
        if (!good)
            printf("# flip %d: %d %s\n", k, rc, rc ? e.msg : "another data set");
    }
    ok(good, "an import refuses %s with flipped bits%s or reads what was there (%u of 1500)", what,
       sums ? "" : ", reads other data,", same);
}

/* An archive with more behind it than its end. */
static void longer(const char *what, size_t n)
{
    static const char *const more[] = {"\n", "0 1\n", "PK\5\6", "\x1f\x8b\x08", "PK\3\4"};
    bool good = true;
    for (unsigned i = 0; i <= sizeof more / sizeof *more && good; i++) {
        const char *m = i < sizeof more / sizeof *more ? more[i] : (const char *)buf;
        size_t k = i < sizeof more / sizeof *more ? strlen(m) : n; /* or all of it once more */
        memcpy(hurt, buf, n);
        memcpy(hurt + n, m, k);
        int rc = run("d", hurt, n + k, NULL);
        good = rc == GNN_E_INPUT && !strncmp(e.msg, "d: ", 3);
        if (!good)
            printf("# %u: %d %s\n", i, rc, rc ? e.msg : "taken");
    }
    ok(good, "an import refuses %s with something behind its end", what);
}

static int run_text(const char *name, const char *data)
{
    return run(name, data, strlen(data), NULL);
}

static void fails(const char *what, const char *name, const char *data, const char *message)
{
    int rc = run(name, data, strlen(data), NULL);
    ok(rc == GNN_E_INPUT && strstr(e.msg, message), "an import refuses %s: %s", what, e.msg);
}

static void archives(void)
{
    static const char *const how[] = {"zip", "zip store", "tar", "tar gzip", "tar zstd", "tar xz"};
    struct file f[16];
    for (int i = 0; i < 6; i++) {
        char what[64];
        bool sums =
            strcmp(how[i], "tar") && strcmp(how[i], "tar zstd"); /* libarchive's zstd has none */
        snprintf(what, sizeof what, "OGB CSV, %s", how[i]);
        damage(what, "d", pack(how[i], f, ogb_csv(f), buf), 4, sums);
        snprintf(what, sizeof what, "arrays, %s", how[i]);
        damage(what, "d", pack(how[i], f, arrays(f), buf), 4, sums);
        longer(how[i], pack(how[i], f, arrays(f), buf));
    }
    damage("OGB binary", "d", pack("zip", f, ogb_binary(f), buf), 4, true);
    f[0] = text("x", "0 1\n1 2\n2 0\n");
    damage("an edge list in gzip", "d.gz", pack("raw gzip", f, 1, buf), 3, true);
    damage("an edge list in xz", "d.xz", pack("raw xz", f, 1, buf), 3, true);
}

static void tricks(void)
{
    struct file f[16];
    static const struct {
        const char *what, *name, *message;
    } bad[] = {{"a name that leads out", "../d/raw/edge.csv", "leads out"},
               {"an absolute name", "/d/raw/edge.csv", "leads out"}};
    for (int i = 0; i < 2; i++) {
        int n = ogb_csv(f);
        f[0].name = bad[i].name;
        int rc = run("d", buf, pack("tar", f, n, buf), NULL);
        ok(rc == GNN_E_INPUT && strstr(e.msg, bad[i].message), "an import refuses %s: %s",
           bad[i].what, e.msg);
    }
    for (int i = 0; i < 8; i++) {
        int n = ogb_csv(f);
        if (i == 3 || i == 4)
            continue;
        const char *name = f[i].name;
        f[i] = f[n - 1];
        int rc = run("d", buf, pack("zip", f, n - 1, buf), NULL);
        ok(rc == GNN_E_INPUT && *e.msg, "an import refuses an archive without %s: %s", name, e.msg);
    }
    int n = ogb_csv(f);
    f[n++] = f[0];
    ok(run("d", buf, pack("zip", f, n, buf), NULL) == GNN_E_INPUT && strstr(e.msg, "twice"),
       "an import refuses an archive with a file twice: %s", e.msg);
    n = ogb_csv(f);
    f[0] = (struct file){"in.zip", inner, pack("zip", f, n, inner)};
    ok(run("d", buf, pack("zip", f, 1, buf), NULL) == GNN_E_INPUT,
       "an import refuses an archive in an archive: %s", e.msg);
    /* Promises that the data does not keep. */
    static const struct {
        int i;
        const char *data;
    } lies[] = {{0, "0,1\n"},
                {0, "0,1\n1,2\n2,3\n3,0\n0,0\n"},
                {0, "0,1\n1,2\n2,3\n3,4\n"},
                {0, "0,1\n1,2\n2\n3,0\n"},
                {0, "0,1\n-1,2\n2,3\n3,0\n"},
                {0, "0,1\n1,2\n2,x\n3,0\n"},
                {0, "0,1,2\n"},
                {0, ""},
                {1, "5\n"},
                {1, "4\n4\n"},
                {1, ""},
                {1, "0\n"},
                {1, "99999999999\n"},
                {1, "4294967294\n"},
                {2, "5\n"},
                {2, "99999999999999\n"},
                {3, "1,2\n3,4\n5,6\n"},
                {3, "1,2\n3,4\n5,6\n7\n"},
                {3, "1,2\n3,4\n5,6\n7,8\n9,9\n"},
                {3, "1,2\n3,four\n5,6\n7,8\n"},
                {3, "1,2\n3,nan\n5,6\n7,8\n"},
                {4, "0\n1\n2\n"},
                {4, "0\n1\n0.5\n2\n"},
                {4, "nan\nnan\nnan\nnan\n"},
                {4, "0\n1\n99999999\n2\n"},
                {5, "4\n"},
                {5, "-1\n"},
                {5, "x\n"}};
    for (unsigned i = 0; i < sizeof lies / sizeof *lies; i++) {
        n = ogb_csv(f);
        f[lies[i].i] = text(f[lies[i].i].name, lies[i].data);
        int rc = run("d", buf, pack("zip", f, n, buf), NULL);
        ok(rc == GNN_E_INPUT && strstr(e.msg, "d: d/") == e.msg,
           "an import refuses an archive with lie %u: %s", i, e.msg);
    }
    /* Finite, though f32 does not hold it. */
    for (int time = 0; time < 2; time++) {
        n = ogb_csv(f);
        f[n++] = text(time ? "d/raw/node_time.csv" : "d/raw/node_weight.csv", "1\n2\n1e39\n0.5\n");
        ok(!run("d", buf, pack("zip", f, n, buf), NULL), "an import takes a %s of 1e39: %s",
           time ? "time" : "weight", e.msg);
    }
    n = ogb_csv(f);
    f[n++] = text("d/raw/node_weight.csv", "1\n2\n1e999\n0.5\n");
    ok(run("d", buf, pack("zip", f, n, buf), NULL) == GNN_E_INPUT && strstr(e.msg, "infinite"),
       "an import refuses a weight of 1e999: %s", e.msg);
}

static void texts(void)
{
    fails("an empty file", "f", "", "f: empty");
    fails("a file of comments only", "f", "# nothing\n", "no edges");
    fails("text with a negative id", "f", "1 2\n-3 4\n", "line 2: a negative id '-3'");
    fails("text with a line that lacks a field", "f", "1,2\n3\n",
          "line 2: 1 field, but line 1 has 2");
    fails("text with a line of too many fields", "f", "1,2\n3,4,5\n",
          "line 2: 3 fields, but line 1 has 2");
    fails("text with an open quote", "f", "from,to\n1,\"2\n", "line 2");
    fails("text with columns without names", "f", "1,2,3\n", "--columns");
    fails("text with a fraction for an id", "f", "1 2.5\n2 3\n", "line 1: not an id '2.5'");
    ok(!run_text("f", "1 18446744073709551615\n99999999999999999999 1\n") && edges == 2,
       "an import reads ids beyond 63 bits as words: %s", e.msg);
    ok(!run_text("f", "1 2\n3 x\n") && edges == 2, "an import reads a word as an id: %s", e.msg);
    ok(!run_text("f", "\xef\xbb\xbf"
                      "1 2\r\n\r\n2 3\r\n# c\r\n3 1") &&
           edges == 3,
       "an import reads text with a mark, CRLF and no last newline: %s", e.msg);
    ok(!run_text("f", "to;\"from\"\n\"1\";2\n 2 ;3\n") && edges == 2,
       "an import reads text with quotes and blanks: %s", e.msg);
    ok(!run_text("f", "0 4294967296\n5 4294967297\n") && edges == 2,
       "an import reads ids beyond 32 bits: %s", e.msg);
#define MTX "%%MatrixMarket matrix coordinate real general\n"
    ok(!run_text("f", MTX "% c\n3 2 2\n1 1 0.5\n3 2 -1e3\n") && edges == 2,
       "an import reads a Matrix Market file: %s", e.msg);
    fails("a matrix with too few entries", "f", MTX "3 3 2\n1 1 1\n", "fewer");
    fails("a matrix with too many entries", "f", MTX "3 3 1\n1 1 1\n2 2 2\n", "more");
    fails("a matrix with a row beyond its size", "f", MTX "3 3 1\n4 1 1\n", "line 3: id 4");
    fails("a matrix with a column zero", "f", MTX "3 3 1\n1 0 1\n", "line 3: id 0");
    fails("a matrix with an entry without a value", "f", MTX "3 3 1\n1 1\n",
          "line 3: 2 fields instead of 3");
    fails("a matrix without its size", "f", MTX, "no size line");
    fails("a matrix with words for its size", "f", MTX "a b c\n", "line 2");
    fails("a matrix that promises a huge size", "f",
          MTX "4294967294 4294967294 4611686018427387903\n1 1 1\n", "fewer");
    ok(!run_text("f.graph", "3 2\n2\n1 3\n2\n") && edges == 4, "an import reads a METIS graph: %s",
       e.msg);
    ok(!run_text("f.graph", "%c\n3 1 11 2\n1 2 2 5\n%c\n3 4 1 5\n6 7\n") && edges == 2,
       "an import reads a METIS graph with weights: %s", e.msg);
    ok(!run_text("f.graph", "3 1\n\n3\n2") && edges == 2,
       "an import reads a METIS graph with an isolated vertex: %s", e.msg);
    fails("a METIS graph with an edge at one end only", "f.graph", "3 1\n2 3\n\n\n",
          "both its ends");
    fails("a METIS graph with different weights at the ends of an edge", "f.graph",
          "2 1 1\n2 5\n1 6\n", "both its ends");
    fails("a METIS graph with the wrong number of edges", "f.graph", "3 1\n2\n1 3\n2\n",
          "4 neighbours listed");
    fails("a METIS graph with a vertex beyond the last", "f.graph", "2 1\n2\n3\n",
          "line 3: no such vertex: '3'");
    fails("a METIS graph with a vertex that is its own neighbour", "f.graph", "2 1\n1\n2\n",
          "line 2: the vertex is its own");
    fails("a METIS graph that ends early", "f.graph", "3 1\n2\n1\n", "after 2 of 3");
    fails("a METIS graph that goes on after its last vertex", "f.graph", "2 1\n2\n1\n\n7\n",
          "line 5: more lines");
    fails("a METIS graph with a huge header", "f.graph", "4294967294 1 10 64\n2\n",
          "not a vertex weight");
    fails("a METIS graph with a word for a vertex", "f.graph", "2 1\nx\n1\n",
          "line 2: not a neighbour 'x'");
    ok(!run_text("f", "a r b\nb r/s c\nc r a\n") && edges == 3, "an import reads triples: %s",
       e.msg);
    fails("triples with a line of two words", "f", "a r b\nb r c\nc r\n", "line 3: 2 fields");
    fails("triples with a line of four words", "f", "a r b\nb r c\nc r a b\n", "line 3: 4 fields");
}

/* Every k-th allocation of an import fails: out of memory, and nothing else. */
static void starve(const char *what, size_t n)
{
    bool good = true;
    long k = 0;
    for (int rc = 1; rc && good; k++) {
        fail_at = k;
        rc = run("d", buf, n, NULL);
        good = rc == 0 || (rc < 0 && e.code == GNN_E_NOMEM && *e.msg);
        if (!good)
            printf("# allocation %ld: %d %d %s\n", k, rc, e.code, e.msg);
    }
    fail_at = -1;
    ok(good && k > 20,
       "an import of %s reports that memory is out, whichever of %ld allocations fails", what,
       k - 1);
}

static void memory(void)
{
    struct file f[16];
    starve("OGB CSV", pack("zip", f, ogb_csv(f), buf));
    starve("OGB binary", pack("zip", f, ogb_binary(f), buf));
    starve("arrays", pack("tar gzip", f, arrays(f), buf));
    f[0] = text("train.txt", "a r b\nb s c\n");
    f[1] = text("test.txt", "c r a\n");
    starve("triples", pack("tar zstd", f, 2, buf));
}

static void maps(void)
{
    static const uint64_t key[] = {5, 3, UINT64_C(1) << 40, 70000, 3, 5, UINT64_C(1) << 40, 65535};
    static const int64_t want[] = {3, 5, 65535, 70000, INT64_C(1) << 40};
    struct gnn_idmap m = {0};
    int64_t got[5];
    e = (struct gnn_err){0};
    bool good = !gnn_idmap_add(&m, key, 8, &e);
    gnn_idmap_finish(&m);
    good = good && m.n == 5 && !m.dense;
    gnn_idmap_keys(&m, got);
    for (uint64_t i = 0; i < 5; i++)
        good = good && got[i] == want[i] && gnn_idmap_find(&m, (uint64_t)want[i]) == i;
    ok(good && gnn_idmap_find(&m, 4) == UINT64_MAX && gnn_idmap_find(&m, 1u << 31) == UINT64_MAX,
       "gnn_idmap_find gives the ranks of keys");
    gnn_idmap_release(&m);
    good = true;
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t k = (i * 7919) % 200000;
        good = good && !gnn_idmap_add(&m, &k, 1, &e);
    }
    gnn_idmap_finish(&m);
    ok(good && m.dense && m.n == 200000, "gnn_idmap_finish knows keys that are dense");
    gnn_idmap_release(&m);
}

/* Text of word i: some are long, some the beginning of others. */
static struct gnn_word word_of(uint32_t i, char text[64])
{
    int n = snprintf(text, 64, i % 3 ? "w%u" : "http://example.org/person/%u#it", i);
    return (struct gnn_word){text, (size_t)n};
}

static void many_words(void)
{
    enum { N = 70000, BATCH = 50 };
    static char text[BATCH][64];
    struct gnn_word word[BATCH];
    uint32_t id[BATCH];
    struct gnn_words w = {0};
    bool good = true;
    e = (struct gnn_err){0};
    gnn_words_find(&w, &(struct gnn_word){"", 0}, 1, id);
    good = good && id[0] == UINT32_MAX;
    for (uint32_t i = 0; i < 3 * N; i += BATCH) {
        for (uint32_t k = 0; k < BATCH; k++)
            word[k] = word_of((i + k) % N, text[k]);
        good = good && !gnn_words_add(&w, word, BATCH, id, &e);
        for (uint32_t k = 0; good && k < BATCH; k++)
            good = id[k] == (i + k) % N;
    }
    ok(good && w.n == N, "gnn_words_add numbers words as they come");
    for (uint32_t i = 0; good && i < 2 * N; i += BATCH) {
        for (uint32_t k = 0; k < BATCH; k++)
            word[k] = word_of(i + k, text[k]);
        gnn_words_find(&w, word, BATCH, id);
        for (uint32_t k = 0; good && k < BATCH; k++)
            good = id[k] == (i + k < N ? i + k : UINT32_MAX);
    }
    ok(good, "gnn_words_find knows the words that were added, and no others");
    gnn_words_release(&w);
}

static struct gnn_word word(const char *text)
{
    return (struct gnn_word){text, strlen(text)};
}

static uint32_t node_of(const struct gnn_nodeids *ids, const char *text)
{
    uint32_t node;
    gnn_nodeids_find(ids, &(struct gnn_word){text, strlen(text)}, 1, &node);
    return node;
}

/* Ids that only tables have follow those of the edges, in one order whatever the tables' is. */
static void names(void)
{
    const char *const tail[4] = {"za", "z", "", "\xc3\xa9"};
    static const int order[3][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
    bool good = true;
    char text[GNN_ID_TEXT];
    for (int o = 0; good && o < 3; o++) {
        struct gnn_nodeids ids = {.kind = GNN_IDS_WORDS};
        uint32_t node[4];
        const struct gnn_word ends[4] = {word("m"), word("z0"), word("m"), word("a")};
        e = (struct gnn_err){0};
        good = !gnn_nodeids_add_words(&ids, ends, 4, node, &e) && node[1] == 1 && node[3] == 2;
        gnn_nodeids_seal(&ids);
        for (int i = 0; good && i < 4; i++) {
            const struct gnn_word w[2] = {word(tail[order[o][i]]), word("a")};
            good = !gnn_nodeids_add_words(&ids, w, 2, node, &e) && node[1] == 2;
        }
        good = good && !gnn_nodeids_finish(&ids, &e) && ids.n == 7 && node_of(&ids, "m") == 0 &&
               node_of(&ids, "a") == 2 && node_of(&ids, "") == 3 && node_of(&ids, "z") == 4 &&
               node_of(&ids, "za") == 5 && node_of(&ids, tail[3]) == 6 &&
               node_of(&ids, "zz") == UINT32_MAX && !strcmp(gnn_nodeids_text(&ids, 5, text), "za");
        gnn_nodeids_release(&ids);
    }
    ok(good, "gnn_nodeids_finish puts words that only tables have in the order of their bytes");
}

static void ids_of_numbers(void)
{
    static const uint64_t key[] = {70, 5, 70, UINT64_C(1) << 40}, dense[] = {1, 0, 2};
    struct gnn_nodeids ids = {.kind = GNN_IDS_NUMBERS}, count = {.n = 3};
    char text[GNN_ID_TEXT];
    e = (struct gnn_err){0};
    ok(!gnn_nodeids_add_numbers(&ids, key, 4, &e) && !gnn_nodeids_finish(&ids, &e) && ids.n == 3 &&
           ids.key && gnn_nodeids_number(&ids, 70) == 1 && node_of(&ids, "1099511627776") == 2 &&
           node_of(&ids, "6") == UINT32_MAX && node_of(&ids, "5x") == UINT32_MAX &&
           node_of(&ids, "-5") == UINT32_MAX &&
           node_of(&ids, "123456789012345678901") == UINT32_MAX &&
           !strcmp(gnn_nodeids_text(&ids, 1, text), "70"),
       "gnn_nodeids_find finds numbers, as text and as numbers");
    gnn_nodeids_release(&ids);
    ids.kind = GNN_IDS_NUMBERS;
    ok(!gnn_nodeids_add_numbers(&ids, dense, 3, &e) && !gnn_nodeids_finish(&ids, &e) && !ids.key &&
           node_of(&ids, "2") == 2 && node_of(&ids, "3") == UINT32_MAX &&
           node_of(&count, "2") == 2 && node_of(&count, "3") == UINT32_MAX &&
           !strcmp(gnn_nodeids_text(&count, 2, text), "2"),
       "ids that are 0 to n-1 have no map");
    gnn_nodeids_release(&ids);
    ids.kind = GNN_IDS_NUMBERS;
    ok(gnn_nodeids_add_numbers(&ids, &(uint64_t){UINT64_C(1) << 63}, 1, &e) == GNN_E_INPUT,
       "numbers from 2^63 on are refused");
    gnn_nodeids_release(&ids);
}

/* More edges than 32 bits count are welcome, but some space is left. */
static void numbers(void)
{
    struct gnn_gen_params p;
    e.code = 0;
    ok(!gnn_gen_parse(&p, "rmat:scale=27,edges=16", &e) && p.nodes == 1u << 27 &&
           p.edges == UINT64_C(1) << 31,
       "gnn_gen_parse accepts 2^31 edges");
    ok(!gnn_gen_parse(&p, "sbm:nodes=4G,degree=20", &e) && p.edges == UINT64_C(40000000000),
       "gnn_gen_parse accepts 10 edges for each of 4 G nodes");
    ok(gnn_gen_parse(&p, "rmat:scale=31,edges=1M", &e) == GNN_E_USAGE &&
           strstr(e.msg, "too many edges"),
       "gnn_gen_parse refuses 2^51 edges");
}

int main(void)
{
    mallopt(M_TRIM_THRESHOLD, 1 << 30); /* thousands of runs: keep the heap */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    maps();
    many_words();
    names();
    ids_of_numbers();
    texts();
    tricks();
    memory();
    archives();
    numbers();
    return tap_done();
}
