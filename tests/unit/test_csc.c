/* SPDX-License-Identifier: Apache-2.0 */
/* The counting sort of edges against a plain sort, and the one through a file against that in
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "lib/import/rand.h"
#include "lib/import/build/spill.h"
#include "lib/base/mem.h"
#include "tap.h"

enum { N = 50, M = 1000 };
static uint32_t src[M], dst[M];
static struct gnn_err e;

static void make(uint64_t seed)
{
    struct gnn_rand r = gnn_rand_key(seed, 0, 0);
    for (int i = 0; i < M; i++) {
        src[i] = (uint32_t)gnn_rand_below(&r, N);
        dst[i] = (uint32_t)gnn_rand_below(&r, N);
    }
}

static bool build(struct gnn_csc *c, unsigned mode, uint64_t *at)
{
    if (gnn_csc_init(c, N, mode, &e))
        return false;
    for (int i = 0; i < M; i += 100)
        gnn_csc_count(c, src + i, dst + i, 100);
    if (gnn_csc_ready(c, &e))
        return false;
    for (int i = 0; i < M; i += 100)
        if (gnn_csc_place(c, src + i, dst + i, 100, at ? at + 2 * i : NULL, &e))
            return false;
    return !gnn_csc_done(c, &e);
}

/* What the header promises, said in the slowest way. */
static bool right(const struct gnn_csc *c, unsigned mode, const uint64_t *at)
{
    uint64_t k = 0;
    bool both = (mode & 3) == 3;
    for (uint32_t v = 0; v < N; v++) {
        if (c->indptr[v] != k)
            return false;
        for (int i = 0; i < 2 * M; i++) {
            uint32_t s = src[i / 2], d = dst[i / 2];
            bool rev = i & 1, out = !(mode & (rev ? GNN_CSC_REV : GNN_CSC_FWD));
            out = out || (s == d && ((mode & GNN_CSC_DROP_LOOPS) || (rev && both)));
            if (out && at[i] != UINT64_MAX)
                return false;
            if (out || (rev ? s : d) != v)
                continue;
            if (c->indices[k] != (rev ? d : s) || at[i] != k)
                return false;
            k++;
        }
    }
    return k == c->nedges && c->indptr[N] == k;
}

/* Collects what a spill gives: sources and two fields. */
struct got {
    char *data[3];
    uint64_t bytes[3];
};

static int take(void *arg, uint32_t which, const void *data, uint64_t bytes, struct gnn_err *err)
{
    struct got *g = arg;
    (void)err;
    memcpy(g->data[which] + g->bytes[which], data, bytes);
    g->bytes[which] += bytes;
    return GNN_OK;
}

static const size_t rows[2] = {2, 24};
static uint16_t small[M];
static uint64_t wide[M][3];

static int spill(struct gnn_spill *s, struct gnn_csc *c, unsigned mode, uint32_t nfields,
                 uint64_t memory, bool dedup)
{
    const void *field[2] = {small, wide};
    if (gnn_csc_init(c, N, mode, &e))
        return e.code;
    gnn_csc_count(c, src, dst, M);
    gnn_csc_offsets(c);
    int rc = gnn_spill_init(s, c, rows, nfields, "sorted", memory, &e);
    for (int i = 0; !rc && i < M; i += 100) {
        field[0] = small + i, field[1] = wide + i;
        rc = gnn_spill_put(s, src + i, dst + i, 100, field, &e);
    }
    return rc || !dedup ? rc : gnn_spill_dedup(s, &e);
}

/* The same as in memory: offsets, sources, and the rows of the edge that was first. */
static bool spilled(unsigned mode, uint32_t nfields, uint64_t memory, bool dedup)
{
    static uint64_t at[2 * M];
    struct gnn_csc c, want;
    struct gnn_spill s = {0};
    struct got g = {{malloc(2 * M * 4), malloc(2 * M * 2), malloc(2 * M * 24)}, {0}};
    for (int i = 0; i < M; i++) {
        small[i] = (uint16_t)(i * 7);
        wide[i][0] = wide[i][1] = wide[i][2] = (uint64_t)i << 40;
    }
    bool good = build(&want, mode, at) && !spill(&s, &c, mode, nfields, memory, dedup);
    if (dedup)
        gnn_csc_dedup(&want);
    good = good && !gnn_spill_each(&s, take, &g, &e) && c.nedges == want.nedges &&
           g.bytes[0] == c.nedges * 4 && !memcmp(g.data[0], want.indices, c.nedges * 4) &&
           !memcmp(c.indptr, want.indptr, (N + 1) * sizeof *c.indptr);
    for (uint32_t f = 0; f < nfields; f++)
        good = good && g.bytes[f + 1] == c.nedges * rows[f];
    char *seen = calloc(want.nedges, 1);
    for (int i = 0; good && i < 2 * M; i++) {
        bool fwd = !(i & 1);
        uint64_t p = at[i];
        if (p == UINT64_MAX)
            continue;
        if (dedup)
            p = fwd ? gnn_csc_find(&want, src[i / 2], dst[i / 2])
                    : gnn_csc_find(&want, dst[i / 2], src[i / 2]);
        if (!seen[p] && nfields)
            good = !memcmp(g.data[1] + p * 2, &small[i / 2], 2) &&
                   (nfields < 2 || !memcmp(g.data[2] + p * 24, wide[i / 2], 24));
        seen[p] = 1;
    }
    free(seen);
    gnn_spill_release(&s);
    gnn_csc_release(&c);
    gnn_csc_release(&want);
    for (int i = 0; i < 3; i++)
        free(g.data[i]);
    return good;
}

static void test_spill(void)
{
    static const uint64_t memory[] = {128, 1500, 1 << 20};
    e.code = 0;
    for (unsigned mode = 1; mode < 8; mode++)
        for (int dedup = 0; dedup < 2 && mode & 3; dedup++) {
            bool good = true;
            make(mode);
            for (int i = 0; i < M;
                 i += 3) /* one destination with more edges than a window has room for */
                dst[i] = 17;
            for (int i = 0; i < 3; i++)
                for (uint32_t nfields = 0; nfields < 3; nfields++)
                    good = good && spilled(mode, nfields, memory[i], dedup);
            ok(good,
               "gnn_spill_each sorts edges through a file in mode %u as gnn_csc does in memory%s",
               mode, dedup ? ", deduplicated" : "");
        }
    struct gnn_csc c;
    struct gnn_spill s = {0};
    ok(!spill(&s, &c, GNN_CSC_FWD, 0, 1500, false) &&
           gnn_spill_put(&s, src, dst, 1, NULL, &e) == GNN_E_INPUT,
       "gnn_spill_put refuses more edges than were counted");
    e.code = 0;
    gnn_spill_release(&s);
    c.nedges++, c.indptr[N]++;
    struct got g = {{malloc(2 * M * 4)}, {0}};
    c.placed = 0;
    ok(!gnn_spill_init(&s, &c, NULL, 0, "sorted", 1500, &e) &&
           !gnn_spill_put(&s, src, dst, M, NULL, &e) &&
           gnn_spill_each(&s, take, &g, &e) == GNN_E_INPUT,
       "gnn_spill_each refuses fewer edges than were counted");
    e.code = 0;
    gnn_spill_release(&s);
    gnn_csc_release(&c);
    free(g.data[0]);
    ok(!gnn_csc_init(&c, N, GNN_CSC_FWD, &e) &&
           gnn_spill_init(&s, &c, NULL, 0, "absent/sorted", 1500, &e) == GNN_E_RUN,
       "gnn_spill_init fails without a folder for its file");
    e.code = 0;
    gnn_spill_release(&s);
    gnn_csc_release(&c);
}

int main(void)
{
    static uint64_t at[2 * M];
    for (unsigned mode = 1; mode < 8; mode++) {
        struct gnn_csc c;
        if (!(mode & 3))
            continue;
        make(mode);
        ok(build(&c, mode, at) && right(&c, mode, at),
           "gnn_csc sorts edges in mode %u as a plain sort does", mode);
        uint64_t before = c.nedges;
        gnn_csc_dedup(&c);
        bool good = c.nedges < before;
        for (uint32_t v = 0; v < N; v++)
            for (uint64_t i = c.indptr[v]; i < c.indptr[v + 1]; i++)
                good = good && (i == c.indptr[v] || c.indices[i] > c.indices[i - 1]) &&
                       gnn_csc_find(&c, c.indices[i], v) == i;
        ok(good, "gnn_csc sorts edges in mode %u and drops repeated ones", mode);
        gnn_csc_release(&c);
    }
    struct gnn_csc c;
    ok(!gnn_csc_init(&c, N, GNN_CSC_FWD, &e), "gnn_csc_init begins a sort");
    gnn_csc_count(&c, src, dst, 10);
    ok(!gnn_csc_ready(&c, &e), "gnn_csc_ready allows edges to be placed");
    ok(gnn_csc_place(&c, src, dst, 11, NULL, &e) == GNN_E_INPUT,
       "gnn_csc_place refuses more edges than were counted");
    e.code = 0;
    ok(!gnn_csc_place(&c, src, dst, 9, NULL, &e) && gnn_csc_done(&c, &e) == GNN_E_INPUT,
       "gnn_csc_done refuses fewer edges than were counted");
    gnn_csc_release(&c);
    test_spill();
    return tap_done();
}
