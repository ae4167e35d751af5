/* The counting sort of edges against a plain sort. */
#include <stdlib.h>
#include <string.h>

#include "lib/import/csc.h"
#include "lib/import/rand.h"
#include "lib/mem.h"
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

int main(void)
{
    static uint64_t at[2 * M];
    for (unsigned mode = 1; mode < 8; mode++) {
        struct gnn_csc c;
        if (!(mode & 3))
            continue;
        make(mode);
        ok(build(&c, mode, at) && right(&c, mode, at), "mode %u", mode);
        uint64_t before = c.nedges;
        gnn_csc_dedup(&c);
        bool good = c.nedges < before;
        for (uint32_t v = 0; v < N; v++)
            for (uint64_t i = c.indptr[v]; i < c.indptr[v + 1]; i++)
                good = good && (i == c.indptr[v] || c.indices[i] > c.indices[i - 1]) &&
                       gnn_csc_find(&c, c.indices[i], v) == i;
        ok(good, "mode %u deduplicated", mode);
        gnn_csc_release(&c);
    }
    struct gnn_csc c;
    ok(!gnn_csc_init(&c, N, GNN_CSC_FWD, &e), "init");
    gnn_csc_count(&c, src, dst, 10);
    ok(!gnn_csc_ready(&c, &e), "ready");
    ok(gnn_csc_place(&c, src, dst, 11, NULL, &e) == GNN_E_INPUT, "more edges than counted");
    e.code = 0;
    ok(!gnn_csc_place(&c, src, dst, 9, NULL, &e) && gnn_csc_done(&c, &e) == GNN_E_INPUT,
       "fewer edges than counted");
    gnn_csc_release(&c);
    return tap_done();
}
