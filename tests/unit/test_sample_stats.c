/* SPDX-License-Identifier: Apache-2.0 */
/* Are the picks uniform? Chi-square gates on the kernel and on whole batches; seeds are fixed, so a
 * pass is a pass. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sample.h"
#include "lib/sample/sampler.h"
#include "lib/store/write.h"

#include "sample_ref.h"
#include "scratch.h"
#include "tap.h"

/* Wilson and Hilferty: chi2 with df degrees as a standard normal number. */
static double normal(double chi2, double df)
{
    return (cbrt(chi2 / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}
/* Both tails: numbers that are too even are not random either. */
static bool gate(double chi2, double df, double *z)
{
    *z = normal(chi2, df);
    return fabs(*z) < 4.5;
}

static double chi_square(const uint32_t *count, uint32_t n, double each)
{
    double q = 0;
    for (uint32_t i = 0; i < n; i++)
        q += (count[i] - each) * (count[i] - each) / each;
    return q;
}

/* Draws k of d neighbours of 64 nodes, `rounds` times with new keys, through the kernel; counts who
 * is picked. */
static void draw(uint32_t d, int32_t k, bool replace, uint32_t rounds, uint32_t *count)
{
    enum { DST = 64 };
    uint64_t ptr[DST + 1];
    uint32_t *src = malloc(d * sizeof *src), dst[DST], indptr[DST + 1];
    uint32_t *out = malloc((size_t)DST * (uint32_t)k * sizeof *out),
             *nodes = malloc((d + 1) * sizeof *nodes);
    struct gnn_sample_part part[DST];
    struct gnn_sample_row row[DST];
    for (uint32_t i = 0; i < d; i++)
        src[i] = i;
    for (uint32_t i = 0; i < DST;
         i++) { /* parts of one node that share one adjacency, to save memory */
        ptr[0] = 0;
        ptr[1] = d;
        part[i] = (struct gnn_sample_part){i, 1, ptr, src, d, NULL, NULL};
        dst[i] = i;
    }
    const struct gnn_sample_graph g = {part, DST, d};
    struct gnn_relabel r = {.map = calloc(d, 4), .nnodes = d, .list = {.node = nodes}};
    struct gnn_sample_place bad;
    const struct gnn_pick_rule rule = {replace ? GNN_PICK_REPLACE : GNN_PICK_UNIFORM, k};
    void *scratch = aligned_alloc(64, gnn_sample_scratch(rule));
    memset(count, 0, d * sizeof *count);
    for (uint32_t t = 0; t < rounds; t++) {
        gnn_relabel_begin(&r);
        uint32_t key[2];
        const struct gnn_sample_job job = {g, {.node = dst}, DST, rule, key, indptr, scratch, row};
        gnn_rng_key(17, t, 0, 0, 0, key);
        if (gnn_sample_count(&job, &bad) || !gnn_relabel_fit(&r, indptr[DST]) ||
            gnn_sample_pick(&job, &r, out, NULL, &bad))
            abort();
        for (uint32_t j = 0; j < indptr[DST]; j++)
            count[nodes[out[j]]]++;
    }
    free(scratch);
    free(r.map);
    free(nodes);
    free(out);
    free(src);
}

/* Inclusion counts without replacement vary less: chi2 * (d-1)/(d-k) has d-1 degrees. */
static void uniform(void)
{
    static const struct {
        uint32_t d;
        int32_t k;
    } c[] = {{10, 1},     {10, 5},     {10, 9},      {11, 10},      {17, 15},  {50, 5},
             {64, 63},    {100, 15},   {100, 64},    {100, 65},     {100, 99}, {1000, 10},
             {1000, 200}, {10000, 25}, {100000, 15}, {100000, 1000}};
    uint32_t *count = malloc(100000 * sizeof *count);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (int replace = 0; replace < 2; replace++) {
            const double want = 40; /* picks of each neighbour, on average at least */
            const uint32_t rounds = 1 + (uint32_t)(want * c[i].d / (64.0 * c[i].k));
            const uint32_t most = rounds < 1000 && c[i].k < 150 ? 1000 : rounds;
            draw(c[i].d, c[i].k, replace, most, count);
            const double each = 64.0 * most * c[i].k / c[i].d;
            double q = chi_square(count, c[i].d, each), z;
            if (!replace)
                q *= (c[i].d - 1.0) / ((double)c[i].d - c[i].k);
            const bool fine = gate(q, c[i].d - 1, &z);
            ok(fine, "gnn_sample_pick draws each of %d of %u neighbours equally often %s (z %.2f)",
               (int)c[i].k, c[i].d, replace ? "with replacement" : "without replacement", z);
        }
    free(count);
}

/* Not only each neighbour but each set of them: 3 of 6, 20 sets. */
static void sets(void)
{
    uint32_t count[64] = {0}, packed[20], n = 0, x[3];
    for (uint32_t t = 0; t < 40000; t++) {
        uint32_t key[2];
        gnn_rng_key(3, t, 0, 0, 0, key);
        ref_pick(key, 1, 6, 3, false, x); /* the kernel equals it: test_sample */
        count[1u << x[0] | 1u << x[1] | 1u << x[2]]++;
    }
    for (uint32_t m = 0; m < 64; m++)
        if (__builtin_popcount(m) == 3)
            packed[n++] = count[m];
    double z;
    const bool fine = gate(chi_square(packed, 20, 2000), 19, &z);
    ok(fine, "gnn_sample_pick draws all sets of 3 of 6 neighbours equally often (z %.2f)", z);
}

/* The gate must be able to fail: a byte modulo 10, the classical mistake. */
static void control(void)
{
    uint32_t count[10] = {0};
    for (uint32_t t = 0; t < 64 * 3000; t++) {
        const uint32_t key[2] = {1, 2};
        count[(gnn_rng_word(key, t, 0, 0, 0) & 0xff) % 10]++;
    }
    double z;
    const bool fine = gate(chi_square(count, 10, 64 * 300.0), 9, &z);
    ok(!fine, "the test of uniformity sees the bias of a remainder (z %.1f)", z);
}

/* ---- whole batches: node 0 has neighbours 1-10, each of which has 11-20 ---- */

static int write_store(const char *path, struct gnn_err *e)
{
    enum { N = 21, E = 110 };
    struct gnn_meta m = {.schema.nparts = 1};
    struct gnn_store_writer w = {0};
    uint64_t ptr[N + 1] = {0};
    uint32_t idx[E], train[1] = {0}, t[3];
    for (uint32_t v = 0; v < N; v++)
        ptr[v + 1] = ptr[v] + (v <= 10 ? 10 : 0);
    for (uint32_t i = 0; i < E; i++)
        idx[i] = 1 + i % 10 + (i < 10 ? 0 : 10);
    int rc = gnn_schema_add_ntype(&m.schema, "n", N, e);
    if (!rc)
        rc = gnn_schema_add_etype(&m.schema, 0, "to", 0, E, e);
    if (!rc)
        rc = gnn_schema_add_set(&m.schema, "s", "train", 0, 1, e);
    if (!rc)
        rc = gnn_store_create(&w, path, &m, false, e);
    if (!rc)
        rc = gnn_part_begin(&w, 0, e);
    if (!rc)
        rc = gnn_part_declare(&w, "edge/n/to/n/indptr", GNN_U64, 1, (uint64_t[]){N + 1}, &t[0], e);
    if (!rc)
        rc = gnn_part_declare(&w, "edge/n/to/n/indices", GNN_U32, 1, (uint64_t[]){E}, &t[1], e);
    if (!rc)
        rc = gnn_part_declare(&w, "split/s/train", GNN_U32, 1, (uint64_t[]){1}, &t[2], e);
    if (!rc)
        rc = gnn_part_layout(&w, e);
    if (!rc)
        rc = gnn_part_write(&w, t[0], ptr, sizeof ptr, e);
    if (!rc)
        rc = gnn_part_write(&w, t[1], idx, sizeof idx, e);
    if (!rc)
        rc = gnn_part_write(&w, t[2], train, sizeof train, e);
    if (!rc)
        rc = gnn_part_finish(&w, e);
    if (!rc)
        rc = gnn_store_commit(&w, e);
    gnn_store_abandon(&w);
    gnn_meta_release(&m);
    return rc;
}

/* The node that destination `local` picked in a hop; all have at most one. */
static uint32_t picked(const struct gnn_batch *b, uint32_t hop, uint32_t local)
{
    const struct gnn_block *k = gnn_batch_block(b, hop, 0);
    const uint32_t i = local - k->first;
    if (local < k->first || i >= k->n || k->indptr[i + 1] != k->indptr[i] + 1)
        return 0;
    return b->type[0].node[k->indices[k->indptr[i]]];
}

static void frontiers(struct gnn_store *s)
{
    enum { EPOCHS = 20000 };
    static uint32_t aa[100], ab[100], ac[100];
    for (int fresh = 0; fresh < 2; fresh++) {
        struct gnn_sampler_opts o;
        struct gnn_err e = {0};
        struct gnn_batch *b;
        const char *fan[] = {"1,1"};
        gnn_sampler_opts_init(&o);
        o.fanout = fan;
        o.nfanout = 1;
        o.epoch_to = EPOCHS;
        o.frontier = fresh ? GNN_FRONTIER_NEW : GNN_FRONTIER_ALL;
        struct gnn_source *src = gnn_sampler_source_new(s, &o, &e);
        memset(ab, 0, sizeof ab);
        memset(ac, 0, sizeof ac);
        bool shape = src != NULL;
        uint32_t n = 0, last = 0;
        while (shape && !gnn_source_next(src, &b, &e)) {
            const uint32_t first = picked(b, 0, 0), again = picked(b, 1, 0),
                           second = picked(b, 1, 1);
            shape = shape && first >= 1 && first <= 10 && second >= 11 && second <= 20;
            shape = shape && (fresh ? again == 0 : again >= 1 && again <= 10);
            if (shape) {
                if (n++)
                    aa[(last - 1) * 10 + first - 1] += !fresh;
                last = first;
                ac[(first - 1) * 10 + second - 11]++;
                if (!fresh)
                    ab[(first - 1) * 10 + again - 1]++;
            }
            gnn_batch_put(b);
        }
        gnn_source_free(src);
        double z;
        ok(shape && n == EPOCHS && !e.code,
           "the sampler draws with --frontier %s batches of the shape it asks for",
           fresh ? "new" : "all");
        bool fine = gate(chi_square(ac, 100, EPOCHS / 100.0), 99, &z);
        ok(fine,
           "the sampler draws with --frontier %s a uniform second hop after any first (z %.2f)",
           fresh ? "new" : "all", z);
        if (!fresh) {
            fine = gate(chi_square(ab, 100, EPOCHS / 100.0), 99, &z);
            ok(fine, "the sampler draws anew with --frontier all for a node drawn again (z %.2f)",
               z);
            fine = gate(chi_square(aa, 100, (EPOCHS - 1) / 100.0), 99, &z);
            ok(fine, "the sampler draws epochs independently (z %.2f)", z);
        }
    }
}

int main(void)
{
    struct gnn_err e = {0};
    struct gnn_store s = {0};
    scratch_enter();
    uniform();
    sets();
    control();
    if (!ok(!write_store("stats", &e) && !gnn_store_open(&s, "stats", false, &e),
            "write_store writes a store that opens: %s", e.msg))
        return scratch_done();
    frontiers(&s);
    gnn_store_close(&s);
    return scratch_done();
}
