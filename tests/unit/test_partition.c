/* SPDX-License-Identifier: Apache-2.0 */
/* Partitioning: the undirected graph, METIS in its child, assignments, and stores of k parts. */
#include <errno.h>
#include <fcntl.h>
#include <metis.h>
#include <signal.h>
#include <unistd.h>

#include "lib/inspect/inspect.h"
#include "lib/partition/partition.h"
#include "scratch.h"
#include "store_maker.h"
#include "tap.h"

struct fix {
    struct gnn_store s;
    struct gnn_view v;
    struct gnn_symgraph g;
};

static int fix_open(struct fix *f, const char *path, struct gnn_err *e)
{
    *f = (struct fix){0};
    int rc = gnn_store_open(&f->s, path, true, e);
    if (!rc)
        rc = gnn_view_init(&f->v, &f->s, e);
    if (!rc)
        rc = gnn_symgraph_init(&f->g, &f->v, GNN_METIS_LIMIT, 2, e);
    return rc;
}

static void fix_close(struct fix *f)
{
    gnn_symgraph_release(&f->g);
    gnn_view_release(&f->v);
    gnn_store_close(&f->s);
}

/* Adjacency matrix straight from the tensors of a store of one part. */
static char *matrix(struct fix *f)
{
    const struct gnn_schema *sc = &f->s.meta.schema;
    uint64_t n = f->v.nvertices;
    char *m = calloc(n * n, 1), key[GNN_ETYPE_KEY_CAPACITY];
    for (uint32_t et = 0; et < sc->netypes; et++) {
        gnn_etype_key(sc, et, key, sizeof key);
        const uint64_t *ptr = gnn_store_findf(&f->s, 0, "edge/%s/indptr", key)->data;
        const uint32_t *ind = gnn_store_findf(&f->s, 0, "edge/%s/indices", key)->data;
        for (uint64_t d = 0; d < sc->ntype[sc->etype[et].dst].count; d++)
            for (uint64_t i = ptr[d]; i < ptr[d + 1]; i++) {
                uint64_t u = f->v.base[sc->etype[et].src] + ind[i],
                         v = f->v.base[sc->etype[et].dst] + d;
                if (u != v)
                    m[u * n + v] = m[v * n + u] = 1;
            }
    }
    return m;
}

static void test_symgraph(const char *path)
{
    struct gnn_err e = {0};
    struct fix f;
    if (!ok(!fix_open(&f, path, &e), "gnn_symgraph_init makes a graph for METIS of store %s %s",
            path, e.msg))
        return;
    uint64_t n = f.v.nvertices, want = 0, bad = 0;
    char *m = matrix(&f), *left = malloc(n * n);
    memcpy(left, m, n * n);
    for (uint64_t i = 0; i < n * n; i++)
        want += (uint64_t)m[i];
    for (uint32_t v = 0; v < f.g.n; v++)
        for (int32_t i = f.g.xadj[v]; i < f.g.xadj[v + 1]; i++)
            bad += !left[v * n + (uint64_t)f.g.adjncy[i]]--;
    ok(f.g.n == n && (uint64_t)f.g.xadj[n] == want && !bad,
       "gnn_symgraph_init lists each neighbour of store %s once at both ends", path);

    uint32_t *part = calloc(n, sizeof *part), k = 5;
    uint64_t cut, vol, brute_cut = 0, brute_vol = 0;
    for (uint64_t i = 0; i < n; i++)
        part[i] = maker_rand(k);
    for (uint64_t u = 0; u < n; u++) {
        char seen[5] = {0};
        for (uint64_t v = 0; v < n; v++)
            if (m[u * n + v] && part[u] != part[v]) {
                brute_cut += u < v;
                brute_vol += !seen[part[v]]++;
            }
    }
    ok(!gnn_symgraph_measure(&f.g, k, part, &cut, &vol, &e) && cut == brute_cut && vol == brute_vol,
       "gnn_symgraph_measure finds the cut and volume of store %s that brute force does", path);

    struct gnn_symgraph small = {0};
    ok(gnn_symgraph_init(&small, &f.v, n, 2, &e) == GNN_E_INPUT && strstr(e.msg, "32-bit"),
       "gnn_symgraph_init refuses too many nodes for METIS: %s", e.msg);
    gnn_symgraph_release(&small);
    e = (struct gnn_err){0};
    ok(gnn_symgraph_init(&small, &f.v, want, 1, &e) == GNN_E_INPUT &&
           strstr(e.msg, "adjacencies") && strstr(e.msg, "--method fennel"),
       "gnn_symgraph_init refuses too many edges for METIS: %s", e.msg);
    gnn_symgraph_release(&small);
    e = (struct gnn_err){0};
    ok(!gnn_symgraph_init(&small, &f.v, want + 1, 3, &e),
       "gnn_symgraph_init accepts as many edges as METIS can count %s", e.msg);
    gnn_symgraph_release(&small);
    free(m);
    free(left);
    free(part);
    fix_close(&f);
}

/* ---- METIS ---- */

static int call_segv(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    (void)m, (void)g, (void)part;
    raise(SIGSEGV);
    return METIS_OK;
}
static int call_exit(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    (void)m, (void)g, (void)part;
    _exit(0);
}
static int call_memory(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    (void)m, (void)g, (void)part;
    return METIS_ERROR_MEMORY;
}
static int call_kill(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    (void)m, (void)g, (void)part;
    raise(SIGKILL);
    return METIS_OK;
}
static int call_wrong(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    (void)g;
    part[0] = (int32_t)m->k;
    return METIS_OK;
}
static int call_prints(const struct gnn_metis *m, const struct gnn_symgraph *g, int32_t *part)
{
    (void)m, (void)g, (void)part;
    return write(1, "noise\n", 6) == 6 ? METIS_OK : METIS_ERROR;
}

static void test_metis(void)
{
    static const struct {
        int (*call)(const struct gnn_metis *, const struct gnn_symgraph *, int32_t *);
        int want;
        const char *text;
    } bad[] = {{call_segv, GNN_E_RUN, "signal 11"},
               {call_exit, GNN_E_RUN, "without a result"},
               {call_memory, GNN_E_NOMEM, "out of memory"},
               {call_kill, GNN_E_RUN, "signal 9"},
               {call_wrong, GNN_E_RUN, "into partition 3 of 3"}};
    struct gnn_err e = {0};
    struct fix f;
    if (!ok(!fix_open(&f, "one", &e), "gnn_symgraph_init makes a graph for METIS %s", e.msg))
        return;
    uint32_t *part = calloc(f.g.n, sizeof *part), *again = calloc(f.g.n, sizeof *again);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct gnn_metis m = {.k = 3, .imbalance = 1.03, .call = bad[i].call};
        e = (struct gnn_err){0};
        ok(gnn_metis_run(&m, &f.g, part, &e) == bad[i].want && strstr(e.msg, bad[i].text),
           "gnn_metis_run reports that METIS failed: %s", e.msg);
    }
    e = (struct gnn_err){0};
    struct gnn_metis quiet = {.k = 3, .imbalance = 1.03, .call = call_prints};
    ok(!gnn_metis_run(&quiet, &f.g, part, &e), "gnn_metis_run drops what METIS prints %s", e.msg);

    struct gnn_metis m = {.k = 4, .imbalance = 1.03, .seed = 7};
    ok(!gnn_metis_run(&m, &f.g, part, &e) && !gnn_metis_run(&m, &f.g, again, &e) &&
           !memcmp(part, again, f.g.n * sizeof *part),
       "gnn_metis_run gives the same parts for the same seed %s", e.msg);
    ok(m.peak > 0, "gnn_metis_run knows the memory of its child process");
    struct gnn_metis one = {.k = 1, .imbalance = 1.03}, many = {.k = f.g.n + 3, .imbalance = 1.03};
    ok(!gnn_metis_run(&one, &f.g, part, &e) && part[f.g.n - 1] == 0,
       "gnn_metis_run makes one part");
    ok(!gnn_metis_run(&many, &f.g, part, &e) && part[f.g.n - 1] == f.g.n - 1,
       "gnn_metis_run makes more parts than nodes");
    free(part);
    free(again);
    fix_close(&f);
}

static void test_empty_graph(void)
{
    struct gnn_err e = {0};
    struct fix f;
    ok(!store_make("none", 10, 0, false, 3, &e) && !fix_open(&f, "none", &e),
       "gnn_symgraph_init makes a graph for METIS without edges %s", e.msg);
    uint32_t part[10];
    uint64_t count[3] = {0};
    struct gnn_metis m = {.k = 3, .imbalance = 1.03};
    ok(!gnn_metis_run(&m, &f.g, part, &e), "gnn_metis_run partitions a graph without edges %s",
       e.msg);
    for (int i = 0; i < 10; i++)
        count[part[i]]++;
    ok(count[0] >= 3 && count[1] >= 3 && count[2] >= 3,
       "gnn_metis_run spreads a graph without edges evenly");
    fix_close(&f);
}

static void test_balance(void)
{
    struct gnn_err e = {0};
    struct fix f;
    if (!ok(!fix_open(&f, "typed", &e),
            "gnn_symgraph_init makes a graph of a store of several types %s", e.msg))
        return;
    uint32_t ncon, set = 0;
    int32_t *w = NULL;
    struct gnn_even even = {GNN_BALANCE_NODES | GNN_BALANCE_EDGES | GNN_BALANCE_SETS |
                                GNN_BALANCE_TYPES,
                            &set, 1, 1.03, true};
    ok(!gnn_balance_weights(&f.v, &even, 2, &ncon, &w, &e) && ncon == 5,
       "gnn_balance_weights makes five constraints %s", e.msg);
    int64_t sum[5] = {0};
    for (uint64_t i = 0; i < f.v.nvertices; i++)
        for (uint32_t c = 0; c < 5; c++)
            sum[c] += w[i * 5 + c];
    const struct gnn_schema *sc = &f.s.meta.schema;
    ok(sum[0] == (int64_t)f.v.nvertices && sum[1] == (int64_t)(3 * sc->etype[0].count) &&
           sum[2] == (int64_t)sc->set[0].count && sum[3] == (int64_t)sc->ntype[0].count &&
           sum[4] == (int64_t)sc->ntype[1].count,
       "gnn_balance_weights gives weights that add up to what they count");
    gnn_free(w);
    const uint64_t smaller = sc->ntype[0].count < sc->ntype[1].count ? 0 : 1;
    even.balance = GNN_BALANCE_TYPES;
    ok(!gnn_balance_weights(&f.v, &even, (uint32_t)sc->ntype[smaller].count + 1, &ncon, &w, &e) &&
           ncon == 1 && w && w[f.v.base[1 - smaller]] == 1 && !w[f.v.base[smaller]],
       "gnn_balance_weights leaves out a type that has fewer nodes than parts %s", e.msg);
    gnn_free(w);
    ok(!gnn_balance_weights(&f.v, &even, (uint32_t)f.v.nvertices, &ncon, &w, &e) && ncon == 1 && !w,
       "gnn_balance_weights counts nodes where all types have fewer than parts %s", e.msg);
    fix_close(&f);
}

/* ---- assignment files ---- */

static void test_from(void)
{
    static const struct {
        const char *text;
        uint32_t k;
        const char *want; /* part of the message; NULL: good */
    } file[] = {
        {"0\n1\n2\n1\n0\n2\n1\n0\n2\n1\n", 0, NULL},
        {"0\r\n1 \n 2\n1\n0\n2\n1\n0\n2\n1", 3, NULL},
        {"0\n1\n2\n1 0\n2\n1\n0\n2\n1\n", 0, "line 4: two partition numbers"},
        {"0\n1\n2\n", 0, "ends after line 3"},
        {"0\n1\n2\n1\n0\n2\n1\n0\n2\n1\n1\n", 0, "line 11: the graph has only 10"},
        {"0\n1\n2\n1\n0\n3\n1\n0\n2\n1\n", 3, "line 6: partition number 3 is"},
        {"0\n-1\n", 0, "line 2: not a partition number"},
        {"0\n1 2\n", 0, "line 2: two partition numbers"},
        {"0\n\n1\n", 0, "line 2: no partition number"},
        {"0\n99999999999\n", 0,
         "line 2: partition number 99999999999 is out of range: there are 65536"},
        {"0\n4294967295\n", 0, "line 2: partition number 4294967295 is"},
        {"0\n65536\n", 0, "line 2: partition number 65536 is out"},
        {"", 0, "ends after line 0"},
    };
    struct gnn_err e = {0};
    struct fix f;
    ok(!store_make("ten", 10, 30, false, 4, &e) && !fix_open(&f, "ten", &e),
       "store_make makes a store of ten nodes %s", e.msg);
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        uint32_t part[10], k = file[i].k;
        int fd = open("parts", O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (write(fd, file[i].text, strlen(file[i].text)) < 0 || lseek(fd, 0, SEEK_SET))
            abort();
        e = (struct gnn_err){0};
        int rc = gnn_assign_read(&f.v, fd, "parts", &k, part, &e);
        if (file[i].want)
            ok(rc == GNN_E_INPUT && strstr(e.msg, file[i].want),
               "gnn_assign_read refuses a bad file: %s", e.msg);
        else
            ok(!rc && k == 3 && part[2] == 2 && part[9] == 1,
               "gnn_assign_read reads the parts of a good file %s", e.msg);
        close(fd);
    }
    fix_close(&f);
}

/* ---- stores ---- */

static uint64_t stretch; /* of the rewriting */

/* Writes `to` from `from` in k parts and proves it against the original. */
static void rewrite(const char *from, const char *to, uint32_t k, const char *original)
{
    struct gnn_err e = {0};
    struct fix f;
    struct gnn_store out, base;
    struct gnn_layout l = {0};
    struct gnn_store_writer w = {0};
    struct gnn_meta meta = {0};
    json_t *report = json_object();
    int rc = fix_open(&f, from, &e);
    uint32_t *part = calloc(f.v.nvertices + 1, sizeof *part), nsets = f.s.meta.schema.nsets;
    struct gnn_part_figures *fig = calloc(k, sizeof *fig);
    uint64_t *sets = calloc((size_t)k * nsets, sizeof *sets), edges = 0;
    if (!rc)
        gnn_assign_random(&f.v, k, 11, part);
    for (uint32_t p = 0; p < k; p++)
        fig[p].set = sets + (size_t)p * nsets;
    if (!rc)
        rc = gnn_meta_copy(&meta, &f.s.meta, &e);
    meta.schema.nparts = k;
    if (!rc)
        rc = gnn_layout_init(&l, &f.v, k, part, &e);
    l.stretch = stretch;
    if (!rc)
        rc = gnn_store_create(&w, to, &meta, true, &e);
    if (!rc)
        rc = gnn_layout_write(&l, &w, 2, fig, NULL, NULL, &e);
    if (!rc)
        rc = gnn_store_commit(&w, &e);
    gnn_store_abandon(&w);
    for (uint32_t p = 0; p < k; p++)
        edges += fig[p].edges;
    ok(!rc && edges == f.s.meta.schema.etype[0].count * f.s.meta.schema.netypes,
       "gnn_layout_write writes store %s in %u parts %s", from, k, e.msg);
    gnn_layout_release(&l);
    gnn_meta_release(&meta);
    fix_close(&f);
    rc = gnn_store_open(&out, to, true, &e);
    if (!rc)
        rc = gnn_store_open(&base, original, false, &e);
    if (!rc)
        rc = gnn_verify_store(&out, &base, report, &e);
    ok(!rc, "gnn_layout_write writes parts of store %s that prove to be the original %s", from,
       e.msg);
    gnn_store_close(&out);
    gnn_store_close(&base);
    json_decref(report);
    free(part);
    free(fig);
    free(sets);
}

static void same_bytes(const char *a, const char *b)
{
    struct gnn_err e = {0};
    struct gnn_store x, y;
    struct gnn_diff d = {0};
    int rc = gnn_store_open(&x, a, false, &e);
    if (!rc)
        rc = gnn_store_open(&y, b, false, &e);
    if (!rc)
        rc = gnn_diff_stores(&x, &y, GNN_DIFF_IDENTITY, &d, &e);
    ok(!rc && !d.differ, "gnn_diff_stores finds stores %s and %s the same%s%s %s | %s", a, b, e.msg,
       d.where, d.a, d.b);
    gnn_store_close(&x);
    gnn_store_close(&y);
}

static void test_stores(const char *from)
{
    static const uint32_t ks[] = {1, 2, 4, 7, 33};
    char to[64];
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
        snprintf(to, sizeof to, "%s-%u", from, ks[i]);
        rewrite(from, to, ks[i], from);
    }
    snprintf(to, sizeof to, "%s-4", from);
    rewrite(to, "again-7", 7, from);
    snprintf(to, sizeof to, "%s-7", from);
    same_bytes("again-7", to);
    rewrite(to, "back", 1, from);
    snprintf(to, sizeof to, "%s-1", from);
    same_bytes("back", to);
}

int main(void)
{
    struct gnn_err e = {0};
    scratch_enter();
    ok(!store_make("one", 200, 900, false, 1, &e), "store_make makes a store of one type %s",
       e.msg);
    ok(!store_make("typed", 120, 400, true, 2, &e), "store_make makes a store of several types %s",
       e.msg);
    test_symgraph("one");
    test_symgraph("typed");
    test_metis();
    test_empty_graph();
    test_balance();
    test_from();
    test_stores("one");
    test_stores("typed");
    return scratch_done();
}
