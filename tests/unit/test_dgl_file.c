/* SPDX-License-Identifier: Apache-2.0 */
/* Files of DGL, made by hand: graphs in each form, tensors, each cut of them, and a wrong number in
 * each place that has one. With arguments it prints what files hold, for tests/peers:
 * test_dgl_file FILE... */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/dgl_file.h"
#include "tap.h"

/* ---- making files ---- */

enum { FILE_BYTES = 16384, MARKS = 512 };
/* A file, and where its numbers are that are damaged. */
struct file {
    uint8_t b[FILE_BYTES];
    size_t n;
    struct {
        const char *name;
        size_t at;
    } mark[MARKS];
    size_t marks;
};

static void put_bytes(struct file *f, const void *bytes, size_t n)
{
    if (n > sizeof f->b - f->n)
        abort();
    memcpy(f->b + f->n, bytes, n);
    f->n += n;
}

static void put_mark(struct file *f, const char *name)
{
    if (f->marks == MARKS)
        abort();
    f->mark[f->marks].name = name;
    f->mark[f->marks++].at = f->n;
}

static void put_number(struct file *f, const char *name, uint64_t v)
{
    put_mark(f, name);
    put_bytes(f, &v, 8);
}

static void put_text(struct file *f, const char *name, const char *text)
{
    put_number(f, name, strlen(text));
    put_bytes(f, text, strlen(text));
}

/* A type of elements: its kind, and bits. */
struct type {
    uint8_t kind, bits;
};
static const struct type I64 = {0, 64}, I32 = {0, 32}, F32 = {2, 32}, BYTE = {1, 8};

static void put_array(struct file *f, const char *name, struct type type, uint32_t ndim,
                      const uint64_t *shape, const void *data)
{
    const uint32_t device[2] = {1, 0};
    uint64_t bytes = type.bits / 8;
    put_number(f, name, UINT64_C(0xdd5e40f096b4a13f));
    put_number(f, "reserved", 0);
    put_mark(f, "device");
    put_bytes(f, device, 8);
    put_mark(f, "ndim");
    put_bytes(f, &ndim, 4);
    put_mark(f, "type");
    put_bytes(f, (const uint8_t[]){type.kind, type.bits, 1, 0}, 4);
    for (uint32_t d = 0; d < ndim; d++) {
        put_number(f, "shape", shape[d]);
        bytes *= shape[d];
    }
    put_number(f, "bytes", bytes);
    if (bytes)
        put_bytes(f, data, bytes);
}

/* Ids of the given width. */
static void put_ids(struct file *f, const char *name, struct type type, const int64_t *id,
                    uint64_t n)
{
    int32_t narrow[16] = {0};
    for (uint64_t i = 0; i < n && i < 16; i++)
        narrow[i] = (int32_t)id[i];
    put_array(f, name, type, 1, &n, type.bits == 32 ? (const void *)narrow : (const void *)id);
}

/* A matrix: n elements, `first` has n + 1 or `rows` + 1 of them; NULL: no ids. */
struct matrix {
    uint64_t rows, cols, n;
    const int64_t *first, *second, *id;
};

static void put_matrix(struct file *f, struct type type, const struct matrix *m, bool coo)
{
    put_number(f, coo ? "coo" : "csr",
               coo ? UINT64_C(0xdd61ffd305dff127) : UINT64_C(0xdd6cd31205dff127));
    put_number(f, "cols", m->cols);
    put_number(f, "rows", m->rows);
    put_ids(f, "first", type, m->first, coo ? m->n : m->rows + 1);
    put_ids(f, "second", type, m->second, m->n);
    put_ids(f, "ids", type, m->id, m->id ? m->n : 0);
    put_bytes(f, "\0\0", coo ? 2 : 1);
}

static void put_types(struct file *f, const struct matrix *m)
{
    put_number(f, "types", UINT64_C(0xdd3c5ffe20046abf));
    put_matrix(f, I64, m, false);
}

/* ---- the graph: nodes of types a (3) and b (2), edges a/r/b (4) and b/s/b (1) ---- */

static const int64_t types_first[] = {0, 1, 2}, types_second[] = {1, 1}, types_id[] = {1, 0};
/* Edge type 1 is a/r/b, and 0 is b/s/b, by the ids. */
static const struct matrix types = {2, 2, 2, types_first, types_second, types_id};
static const int64_t two[] = {0, 1, 1}, other[] = {1};
static const struct matrix type_two = {2, 2, 1, two, other, NULL};
static const int64_t b_src[] = {1}, b_dst[] = {0};
static const struct matrix b_edges = {2, 2, 1, b_src, b_dst, NULL};

/* Edges 2>0, 0>1, 2>1, 1>0 of a/r/b, in each form. */
static const int64_t src[] = {2, 0, 2, 1}, dst[] = {0, 1, 1, 0};
static const int64_t moved_src[] = {0, 2, 1, 2}, moved_dst[] = {1, 0, 0, 1},
                     moved_id[] = {1, 0, 3, 2};
static const int64_t by_src[] = {0, 1, 2, 4}, src_other[] = {1, 0, 0, 1}, src_id[] = {1, 3, 0, 2};
static const int64_t by_dst[] = {0, 2, 4}, dst_other[] = {2, 1, 0, 2}, dst_id[] = {0, 3, 1, 2};
static const struct matrix coo = {3, 2, 4, src, dst, NULL},
                           moved = {3, 2, 4, moved_src, moved_dst, moved_id},
                           csr = {3, 2, 4, by_src, src_other, src_id},
                           csc = {2, 3, 4, by_dst, dst_other, dst_id};

/* How the edges of a/r/b are there. */
struct shape {
    const char *what;
    uint64_t saved; /* as the file says which forms follow */
    struct type type;
    const struct matrix *coo, *csr, *csc;
    bool plain;
};

static void put_edges(struct file *f, const struct shape *s)
{
    const struct matrix *m[] = {s->coo, s->csr, s->csc};
    put_number(f, "unit", UINT64_C(0xdd2e60f0f6b4a127));
    put_number(f, "forms", s->saved);
    put_number(f, "kept", s->saved);
    for (int i = 0; i < 3; i++)
        if (m[i]) {
            put_types(f, &type_two);
            put_matrix(f, s->type, m[i], i == 0);
        }
}

static const struct shape b_shape = {"",  (UINT64_C(1) << 32) | 1, {0, 64}, &b_edges, NULL, NULL,
                                     true};

static void put_graph(struct file *f, const struct shape *s)
{
    static const float x[] = {1, 2, 3, 4, 5, 6};
    static const int64_t t[] = {9, 8, 7, 6};
    put_number(f, "graph", UINT64_C(0xdd589fbe35224abf));
    put_types(f, &types);
    put_number(f, "units", 2);
    put_edges(f, &b_shape);
    put_edges(f, s);
    put_number(f, "counts", 2);
    put_number(f, "nodes", 3);
    put_number(f, "nodes", 2);
    put_number(f, "node lists", 2);
    put_number(f, "tensors", 2);
    put_text(f, "name", "x");
    put_array(f, "x", F32, 2, (const uint64_t[]){3, 2}, x);
    put_text(f, "name", "m");
    put_array(f, "m", BYTE, 1, (const uint64_t[]){3}, "\1\0\1");
    put_number(f, "tensors", 0);
    put_number(f, "edge lists", 2);
    put_number(f, "tensors", 0);
    put_number(f, "tensors", 1);
    put_text(f, "name", "t");
    put_ids(f, "t", I64, t, 4);
    put_number(f, "ntype names", 2);
    put_text(f, "name", "a");
    put_text(f, "name", "b");
    put_number(f, "etype names", 2);
    put_text(f, "name", "s");
    put_text(f, "name", "r");
}

/* So many graphs, which are the same. */
static void make_graphs(struct file *f, const struct shape *s, uint64_t graphs)
{
    size_t place[4] = {0};
    f->n = f->marks = 0;
    put_number(f, "magic", UINT64_C(0xdd2e4ff046b4a13f));
    put_number(f, "version", 2);
    put_number(f, "type of graphs", 2);
    put_number(f, "graphs", graphs);
    while (f->n < 4096)
        put_bytes(f, "gar", 1);
    put_number(f, "begin", 0);
    put_number(f, "labels", 1);
    put_text(f, "name", "y");
    put_ids(f, "y", I64, dst, 2);
    const uint64_t begin = f->n;
    memcpy(f->b + 4096, &begin, 8);
    for (uint64_t i = 0; i < graphs; i++) {
        place[i] = f->n;
        put_graph(f, s);
    }
    put_number(f, "places", 8 + graphs * 8);
    put_number(f, "place count", graphs);
    for (uint64_t i = 0; i < graphs; i++)
        put_number(f, "place", place[i]);
    put_number(f, "place bytes", 8 + graphs * 8);
}

static void make_tensors(struct file *f)
{
    f->n = f->marks = 0;
    put_number(f, "magic", UINT64_C(0xdd5a9fbe3fa2443f));
    put_number(f, "announced", 2);
    put_number(f, "tensors", 2);
    put_text(f, "name", "_N/x");
    put_array(f, "x", F32, 0, NULL, &(const float){2});
    put_text(f, "name", "none");
    put_ids(f, "none", I32, dst, 0);
}

/* ---- what a file holds, as text ---- */

struct text {
    char *s;
    size_t n, capacity;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = t->n < t->capacity ? vsnprintf(t->s + t->n, t->capacity - t->n, fmt, ap) : 0;
    va_end(ap);
    t->n += (size_t)n;
}

static void say_tensors(struct text *t, const struct gnn_dgl_tensors *all)
{
    for (uint64_t i = 0; i < all->n; i++) {
        const struct gnn_strided *s = &all->tensor[i].values;
        say(t, " %.*s:%s", (int)all->tensor[i].name.n, all->tensor[i].name.p,
            s->is_bool ? "bool" : gnn_dtype_name(s->dtype));
        for (uint32_t d = 0; d < s->ndim; d++)
            say(t, "%c%llu", d ? 'x' : '[', (unsigned long long)s->shape[d]);
        say(t, s->ndim ? "]=" : "=");
        for (uint64_t k = 0; k < s->count * gnn_dtype_bytes(s->dtype); k++)
            say(t, "%02x", s->data[k]);
    }
}

static int say_edges(struct text *t, const struct gnn_dgl_etype *e, char *why, size_t capacity)
{
    int64_t *ends = malloc((e->count * 2 + 1) * sizeof *ends);
    if (!ends)
        abort();
    const int rc = gnn_dgl_edges(e, ends, ends + e->count, why, capacity);
    for (uint64_t i = 0; !rc && i < e->count; i++)
        say(t, " %lld>%lld", (long long)ends[i], (long long)ends[e->count + i]);
    free(ends);
    return rc;
}

static int say_graph(struct text *t, const struct gnn_dgl_graph *g, char *why, size_t capacity)
{
    int rc = 0;
    for (uint32_t i = 0; i < g->ntypes; i++) {
        const struct gnn_dgl_ntype *n = &g->ntype[i];
        say(t, "\n%.*s %llu", (int)n->name.n, n->name.p, (unsigned long long)n->count);
        say_tensors(t, &n->tensors);
    }
    for (uint32_t i = 0; !rc && i < g->etypes; i++) {
        const struct gnn_dgl_etype *e = &g->etype[i];
        say(t, "\n%u/%.*s/%u", e->src, (int)e->name.n, e->name.p, e->dst);
        rc = say_edges(t, e, why, capacity);
        say_tensors(t, &e->tensors);
    }
    return rc;
}

/* All of a file; what fails, with why. */
static int say_file(struct text *t, const void *bytes, size_t n, char *why, size_t capacity)
{
    struct gnn_dgl_file f;
    int rc = gnn_dgl_open(&f, bytes, n, why, capacity);
    if (!rc)
        say_tensors(t, &f.tensors);
    for (uint64_t i = 0; !rc && i < f.graphs; i++) {
        struct gnn_dgl_graph g;
        rc = gnn_dgl_graph_read(&g, &f, i, why, capacity);
        if (!rc)
            rc = say_graph(t, &g, why, capacity);
        gnn_dgl_graph_release(&g);
    }
    gnn_dgl_release(&f);
    return rc;
}

struct result {
    int rc;
    char why[256], text[4096];
};

/* Reads a copy of its own size. */
static struct result read_copy(const uint8_t *bytes, size_t n)
{
    struct result r = {0};
    struct text t = {r.text, 0, sizeof r.text};
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    r.rc = say_file(&t, copy, n, r.why, sizeof r.why);
    free(copy);
    return r;
}

/* ---- tests ---- */

#define NEW(FORMS) ((UINT64_C(1) << 32) | (FORMS))
static const struct shape shapes[] = {
    {"COO", NEW(1), {0, 64}, &coo, NULL, NULL, true},
    {"COO of 32 bits", NEW(1), {0, 32}, &coo, NULL, NULL, true},
    {"COO with ids", NEW(1), {0, 64}, &moved, NULL, NULL, false},
    {"CSR", NEW(2), {0, 64}, NULL, &csr, NULL, false},
    {"CSC", NEW(4), {0, 32}, NULL, NULL, &csc, false},
    {"CSR and CSC", NEW(6), {0, 64}, NULL, &csr, &csc, false},
    {"all forms", NEW(7), {0, 64}, &coo, &csr, &csc, true},
    {"COO, as DGL 0.5 numbers it", 1, {0, 64}, &coo, NULL, NULL, true},
    {"CSC, as DGL 0.5 numbers it", 3, {0, 64}, NULL, NULL, &csc, false},
};
#define LABELS " y:i64[2]=00000000000000000100000000000000"
#define GRAPH                                                                                      \
    "\na 3 x:f32[3x2]=0000803f0000004000004040000080400000a0400000c040 m:u8[3]=010001\nb 2"        \
    "\n1/s/1 1>0\n0/r/1 2>0 0>1 2>1 1>0 "                                                          \
    "t:i64[4]=0900000000000000080000000000000007000000000000000600000000000000"

static void test_forms(void)
{
    static struct file f;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        make_graphs(&f, &shapes[i], 1);
        const struct result r = read_copy(f.b, f.n);
        if (!ok(!r.rc && !strcmp(r.text, LABELS GRAPH), "edges in %s are read", shapes[i].what))
            printf("# %s%s\n", r.why, r.text);
    }
    make_graphs(&f, &shapes[0], 2);
    struct result r = read_copy(f.b, f.n);
    ok(!r.rc && !strcmp(r.text, LABELS GRAPH GRAPH), "two graphs are read");
    make_graphs(&f, &shapes[0], 0);
    r = read_copy(f.b, f.n);
    ok(!r.rc && !strcmp(r.text, LABELS), "a file of no graphs is read");
    make_tensors(&f);
    r = read_copy(f.b, f.n);
    ok(!r.rc && !strcmp(r.text, " _N/x:f32=00000040 none:i32[0]="), "tensors are read");
    r = read_copy((const uint8_t *)"", 0);
    ok(r.rc && strstr(r.why, "not a file of DGL"), "no bytes are no file of DGL");
}

/* Which arrays are used where they lie. */
static void test_plain(void)
{
    static struct file f;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct gnn_dgl_file file;
        struct gnn_dgl_graph g;
        char why[256];
        make_graphs(&f, &shapes[i], 1);
        if (gnn_dgl_open(&file, f.b, f.n, why, sizeof why) ||
            gnn_dgl_graph_read(&g, &file, 0, why, sizeof why))
            abort();
        ok(gnn_dgl_edges_plain(&g.etype[1]) == shapes[i].plain && g.etype[1].second.data > f.b &&
               g.etype[1].second.data < f.b + f.n,
           "%s is %sto be used where it lies", shapes[i].what, shapes[i].plain ? "" : "not ");
        ok(gnn_dgl_find(&g.ntype[0].tensors, "m") == &g.ntype[0].tensors.tensor[1].values &&
               !gnn_dgl_find(&g.ntype[1].tensors, "m"),
           "a tensor is found by its name");
        gnn_dgl_graph_release(&g);
        gnn_dgl_release(&file);
    }
}

/* A number that is changed, and what is said of it. */
struct damage {
    const char *mark;
    unsigned which; /* of the places with this name */
    uint64_t value;
    unsigned bytes;
    const char *why;
};
#define HUGE_COUNT (UINT64_C(1) << 40)
static const struct damage damages[] = {
    {"magic", 0, 1, 8, "not a file of DGL"},
    {"version", 0, 1, 8, "version 1 of DGL's files, type 2; 2 and 2 are read"},
    {"version", 0, 3, 8, "version 3 of DGL's files"},
    {"type of graphs", 0, 1, 8, "type 1"},
    {"graphs", 0, HUGE_COUNT, 8, "ends before the places of 1099511627776 graphs"},
    {"graphs", 0, UINT64_MAX, 8, "ends before the places of"},
    {"graphs", 0, 2, 8, "places of 2 graphs are expected"},
    {"begin", 0, 4096, 8, "graphs begin at byte 4096, and what is before them ends at 4185"},
    {"begin", 0, HUGE_COUNT, 8, "graphs begin at byte"},
    {"labels", 0, 2, 8, "label"},
    {"labels", 0, HUGE_COUNT, 8, "label: 1099511627776 do not fit into"},
    {"labels", 0, UINT64_MAX, 8, "do not fit"},
    {"name", 0, HUGE_COUNT, 8, "label: 1099511627776 do not fit"},
    {"name", 0, 2, 8, "instead of an array"},
    {"y", 0, 0, 8, "instead of an array, which begins with dd5e40f096b4a13f"},
    {"reserved", 0, 1, 8, "device 1"},
    {"device", 0, 2, 4, "label 'y': an array of device 2; 1, the CPU, is read"},
    {"ndim", 0, 5, 4, "label 'y': 5 dimensions; at most 4 are read"},
    {"ndim", 0, UINT32_MAX, 4, "4294967295 dimensions"},
    {"ndim", 0, 0, 4, "label 'y': 2 bytes of data; its shape has 8"},
    {"type", 0, 3, 1, "elements of kind 3 with 64 bits"},
    {"type", 0, 0x020140, 3, "elements of kind 64"},
    {"type", 0, 0x024000, 3, "elements of kind 0 with 64 bits"},
    {"shape", 0, 3, 8, "label 'y': 16 bytes of data; its shape has 24"},
    {"shape", 0, 1, 8, "label 'y': 16 bytes of data; its shape has 8"},
    {"shape", 0, UINT64_MAX, 8, "label 'y': "},
    {"bytes", 0, 17, 8, "label 'y': 17 bytes of data; its shape has 16"},
    {"bytes", 0, HUGE_COUNT, 8, "label 'y': 1099511627776 do not fit"},
    {"graph", 0, 0, 8, "byte 4185: 0000000000000000 instead of a graph"},
    {"types", 0, 0, 8, "instead of the graph of types"},
    {"csr", 0, 0, 8, "instead of a CSR matrix"},
    {"cols", 0, 3, 8, "2 x 3 node types"},
    {"rows", 0, 3, 8, "a matrix with 3 offsets; 4 are expected"},
    {"rows", 0, UINT64_MAX, 8, "a matrix with 3 offsets"},
    {"first", 0, 0, 8, "instead of an array"},
    {"units", 0, 1, 8, "edges of 1 types; the graph has 2"},
    {"units", 0, HUGE_COUNT, 8, "edge types: 1099511627776 do not fit"},
    {"unit", 0, 0, 8, "instead of edges"},
    {"forms", 0, 0, 8, "edges in form 0"},
    {"forms", 0, 4, 8, "edges in form 4"},
    {"forms", 1, NEW(0), 8, "edges in form 100000000"},
    {"forms", 1, NEW(8), 8, "edges in form 100000008"},
    {"forms", 1, UINT64_MAX, 8, "edges in form ffff"},
    {"forms", 1, NEW(2), 8, "instead of a CSR matrix"},
    {"coo", 1, 0, 8, "instead of a COO matrix"},
    {"cols", 4, 9, 8, "edge type 1 is of"},
    {"counts", 0, 3, 8, "numbers of nodes of 3 types; the graph has 2"},
    {"nodes", 0, 4, 8, "edge type 1 is of 3 x 2 nodes; the graph has 4, 2"},
    {"nodes", 1, 0, 8, "edge type 0 is of 2 x 2 nodes; the graph has 0, 0"},
    {"node lists", 0, 1, 8, "tensors of nodes of 1 types; the graph has 2"},
    {"tensors", 0, HUGE_COUNT, 8, "tensor of nodes: 1099511627776 do not fit"},
    {"edge lists", 0, UINT64_MAX, 8, "tensors of edges"},
    {"ntype names", 0, 1, 8, "names of nodes of 1 types"},
    {"etype names", 0, 3, 8, "names of edges: 3 do not fit"},
    {"places", 0, 15, 8, "places of 1 graphs are expected"},
    {"place count", 0, 2, 8, "places of 1 graphs are expected"},
    {"place", 0, 4096, 8, "graph 0 begins at byte 4096, its data at 4185"},
    {"place bytes", 0, 0, 8, "places of 1 graphs are expected"},
};

static size_t find_mark(const struct file *f, const char *name, unsigned which)
{
    for (size_t i = 0; i < f->marks; i++)
        if (!strcmp(f->mark[i].name, name) && !which--)
            return f->mark[i].at;
    abort();
}

static void test_damage(void)
{
    static struct file f;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *d = &damages[i];
        make_graphs(&f, &shapes[0], 1);
        memcpy(f.b + find_mark(&f, d->mark, d->which), &d->value, d->bytes);
        const struct result r = read_copy(f.b, f.n);
        if (!ok(r.rc == GNN_DGL_BAD && strstr(r.why, d->why) && !strchr(r.why, '\n'),
                "'%s' %u with %llx is refused", d->mark, d->which, (unsigned long long)d->value))
            printf("# %s\n", r.rc ? r.why : "read");
    }
    make_graphs(&f, &shapes[0], 2);
    const uint64_t wild = 4000;
    memcpy(f.b + find_mark(&f, "place", 1), &wild, 8);
    ok(read_copy(f.b, f.n).rc, "a graph that begins before the first is refused");
    make_tensors(&f);
    f.b[8] = 3;
    struct result r = read_copy(f.b, f.n);
    ok(r.rc && strstr(r.why, "3 tensors are announced, and 2 listed"),
       "a number of tensors that is another is refused");
    make_tensors(&f);
    put_bytes(&f, "x", 1);
    r = read_copy(f.b, f.n);
    ok(r.rc && strstr(r.why, "1 bytes after the last tensor"), "a byte after tensors is refused");
}

/* A value of an array of the edges, which is looked at when they are put in order. */
struct wrong {
    unsigned shape;
    const char *array;
    unsigned which, i;
    int64_t value;
    const char *why;
};
static const struct wrong wrongs[] = {
    {0, "first", 4, 0, -1, "-1 -> 0 are no ids of nodes"},
    {0, "second", 4, 3, -5, "1 -> -5 are no ids"},
    {2, "ids", 4, 1, 4, "edge in place 1 has id 4; there are 4 edges"},
    {2, "ids", 4, 1, -1, "has id -1"},
    {2, "ids", 4, 1, 1, "two edges have id 1"},
    {3, "first", 4, 0, 1, "offsets of edges begin with 1"},
    {3, "first", 4, 1, 3, "offset 2 of edges after 3, of node 1"},
    {3, "first", 4, 1, -1, "offset -1"},
    {3, "first", 4, 3, 3, "offsets are of 3 edges, of which there are 4"},
    {3, "first", 4, 3, 5, "offset 5 of edges after 2"},
    {3, "ids", 4, 0, INT64_MIN, "has id -9223372036854775808"},
};

static void test_values(void)
{
    static struct file f;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const struct wrong *w = &wrongs[i];
        make_graphs(&f, &shapes[w->shape], 1);
        const size_t at = find_mark(&f, w->array, w->which) + 48;
        memcpy(f.b + at + 8 * w->i, &w->value, 8);
        const struct result r = read_copy(f.b, f.n);
        if (!ok(r.rc && strstr(r.why, w->why), "%s: %s[%u] = %lld is refused",
                shapes[w->shape].what, w->array, w->i, (long long)w->value))
            printf("# %s\n", r.rc ? r.why : "read");
    }
    static const int64_t wild[] = {2, -1, 7};
    bool all = true;
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < 7; i++) { /* offsets, ends and ids of the graph of types */
            make_graphs(&f, &shapes[0], 1);
            const char *array = i < 3 ? "first" : i < 5 ? "second" : "ids";
            const size_t at = find_mark(&f, array, 0) + 48 +
                              8 * (i < 3   ? i
                                   : i < 5 ? i - 3
                                           : i - 5);
            const bool same = !memcmp(f.b + at, &wild[k], 8);
            memcpy(f.b + at, &wild[k], 8);
            const struct result r = read_copy(f.b, f.n);
            all = all && (same || r.rc);
        }
    ok(all, "a graph of types with a wrong value is refused");
}

/* No cut of a file is read, nor one with a byte more. */
static void test_cuts(void)
{
    static struct file f;
    bool none = true;
    for (int which = 0; which < 3; which++) {
        if (which < 2)
            make_graphs(&f, &shapes[which ? 6 : 0], 1);
        else
            make_tensors(&f);
        for (size_t n = 0; n < f.n; n++) {
            const struct result r = read_copy(f.b, n);
            none = none && r.rc == GNN_DGL_BAD && *r.why;
            n += which < 2 && n < 4000 ? 97 : 0; /* inside the head each is like the other */
        }
        put_bytes(&f, "", 1);
        none = none && read_copy(f.b, f.n).rc;
    }
    ok(none, "no cut of a file is read, nor one that is longer");
}

static int show_file(const char *path)
{
    struct stat st;
    char why[256], *text = malloc(1 << 20);
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) || !text)
        abort();
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    struct text t = {text, 0, 1 << 20};
    *text = 0;
    const int rc = p == MAP_FAILED || say_file(&t, p, (size_t)st.st_size, why, sizeof why);
    printf("%s%s\n", rc ? why : "", rc ? "" : text);
    close(fd);
    free(text);
    return rc != 0;
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 1; i < argc; i++)
        rc |= show_file(argv[i]);
    if (argc > 1)
        return rc;
    test_forms();
    test_plain();
    test_damage();
    test_values();
    test_cuts();
    return tap_done();
}
