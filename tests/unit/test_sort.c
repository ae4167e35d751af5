/* SPDX-License-Identifier: Apache-2.0 */
/* The sort of edges, in memory and through a file, against what its header promises, said in the
 * slowest way; and a file that does not give back what was written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rand.h"
#include "lib/import/build/sort.h"
#include "tap.h"

enum { N = 50, M = 1000 };
static uint32_t src[M], dst[M];
static const size_t rows[2] = {2, 24};
static uint16_t small[M];
static uint64_t wide[M][3];
static struct gnn_err e;

/* Bytes of memory: two that need a file, and enough. */
static const uint64_t memory[] = {128, 1500, 1 << 20};

static void make(uint64_t seed)
{
    struct gnn_rand r = gnn_rand_key(seed, 0, 0);
    for (int i = 0; i < M; i++) {
        src[i] = (uint32_t)gnn_rand_below(&r, N);
        dst[i] = (uint32_t)gnn_rand_below(&r, N);
        /* One destination has more edges than a window has space for. */
        if (i % 3 == 0)
            dst[i] = 17;
        small[i] = (uint16_t)(i * 7);
        wide[i][0] = wide[i][1] = wide[i][2] = (uint64_t)i << 40;
    }
}

/* ---- what is right ---- */

static struct {
    uint64_t indptr[N + 1], counted, n;
    uint32_t source[2 * M];
    int edge[2 * M]; /* whose rows they have */
} want;

/* What copy i of the input becomes, the reverse of edge i / 2 if odd: false if nothing. */
static bool becomes(unsigned mode, int i, uint32_t *s, uint32_t *d)
{
    const bool rev = i & 1, loop = src[i / 2] == dst[i / 2];
    *s = rev ? dst[i / 2] : src[i / 2];
    *d = rev ? src[i / 2] : dst[i / 2];
    if (loop && (mode & GNN_CSC_DROP_LOOPS || (rev && mode & GNN_CSC_FWD)))
        return false;
    return mode & (rev ? GNN_CSC_REV : GNN_CSC_FWD);
}

static void add_want(uint64_t from, uint32_t s, int edge, bool dedup)
{
    uint64_t at = want.n;
    want.counted++;
    for (uint64_t k = from; dedup && k < want.n; k++)
        if (want.source[k] == s)
            return;
    for (; dedup && at > from && want.source[at - 1] > s; at--) {
        want.source[at] = want.source[at - 1];
        want.edge[at] = want.edge[at - 1];
    }
    want.source[at] = s;
    want.edge[at] = edge;
    want.n++;
}

static void make_want(unsigned mode, bool dedup)
{
    want.n = want.counted = 0;
    for (uint32_t v = 0; v < N; v++) {
        uint32_t s, d;
        want.indptr[v] = want.n;
        for (int i = 0; i < 2 * M; i++)
            if (becomes(mode, i, &s, &d) && d == v)
                add_want(want.indptr[v], s, i / 2, dedup);
    }
    want.indptr[N] = want.n;
}

/* ---- what the sort gives ---- */

static struct {
    char data[3][2 * M * 24];
    uint64_t bytes[3];
    int flip; /* byte of the file, one bit of which is flipped when the first edges come; or -1 */
} got;

static void flip_bit(const struct gnn_sort *s, int at)
{
    char c;
    if (pread(s->io.fd, &c, 1, at) == 1) {
        c ^= (char)(1 << at % 8);
        if (pwrite(s->io.fd, &c, 1, at) != 1)
            got.flip = -2;
    }
}

static int take(void *arg, uint32_t which, const void *data, uint64_t bytes, struct gnn_err *err)
{
    (void)err;
    if (!got.bytes[0] && got.flip >= 0)
        flip_bit(arg, got.flip);
    memcpy(got.data[which] + got.bytes[which], data, bytes);
    got.bytes[which] += bytes;
    return GNN_OK;
}

static int begin(struct gnn_sort *s, unsigned mode, uint32_t nfields, uint64_t capacity)
{
    *s = (struct gnn_sort){0};
    memset(got.bytes, 0, sizeof got.bytes);
    got.flip = -1;
    e.code = 0;
    if (gnn_csc_init(&s->csc, N, mode, &e))
        return e.code;
    gnn_csc_count(&s->csc, src, dst, 300);
    gnn_csc_count(&s->csc, src + 300, dst + 300, M - 300);
    return gnn_sort_init(s, rows, nfields, 0, "sorted", capacity, &e);
}

static int put(struct gnn_sort *s, bool dedup)
{
    for (int i = 0; i < M; i += 100) {
        const void *const field[2] = {small + i, wide + i};
        if (gnn_sort_put(s, src + i, dst + i, 100, field, &e))
            return e.code;
    }
    return dedup ? gnn_sort_dedup(s, &e) : GNN_OK;
}

static bool same(const struct gnn_sort *s, uint32_t nfields)
{
    bool good = s->csc.nedges == want.n && got.bytes[0] == want.n * 4 &&
                !memcmp(s->csc.indptr, want.indptr, sizeof want.indptr) &&
                !memcmp(got.data[0], want.source, want.n * 4);
    for (uint32_t f = 0; f < nfields; f++)
        good = good && got.bytes[f + 1] == want.n * rows[f];
    for (uint64_t k = 0; good && k < want.n; k++)
        good = (nfields < 1 || !memcmp(got.data[1] + k * 2, &small[want.edge[k]], 2)) &&
               (nfields < 2 || !memcmp(got.data[2] + k * 24, wide[want.edge[k]], 24));
    return good;
}

static bool sorts(unsigned mode, uint32_t nfields, uint64_t capacity, bool dedup)
{
    struct gnn_sort s;
    make_want(mode, dedup);
    bool good = !begin(&s, mode, nfields, capacity) && s.csc.nedges == want.counted &&
                !s.name == (capacity == memory[2]) && !put(&s, dedup) &&
                !gnn_sort_each(&s, take, &s, &e) && same(&s, nfields);
    gnn_sort_release(&s);
    return good;
}

/* ---- an input that changes between counting and sorting ---- */

static void test_changed(int i, bool dedup)
{
    const char *how = i == 2 ? "in memory" : "through a file", *d = dedup ? ", deduplicated" : "";
    const void *const field[2] = {small, wide};
    struct gnn_sort s;
    ok(!begin(&s, GNN_CSC_FWD, 2, memory[i]) && !gnn_sort_put(&s, src, dst, M - 1, field, &e) &&
           (dedup ? gnn_sort_dedup(&s, &e) : gnn_sort_each(&s, take, &s, &e)) == GNN_E_INPUT,
       "fewer edges than were counted are refused, %s%s", how, d);
    gnn_sort_release(&s);
    ok(!begin(&s, GNN_CSC_FWD, 2, memory[i]) && !put(&s, false) &&
           gnn_sort_put(&s, src, dst, 1, field, &e) == GNN_E_INPUT,
       "more edges than were counted are refused, %s%s", how, d);
    gnn_sort_release(&s);
    bool good = true;
    for (int at = 1; at < M; at += 17) {
        const uint32_t was = dst[at];
        good = good && !begin(&s, GNN_CSC_FWD, 2, memory[i]);
        dst[at] = (was + 1 + (uint32_t)at % (N - 1)) % N;
        good = good && (put(&s, dedup) || gnn_sort_each(&s, take, &s, &e)) &&
               e.code == GNN_E_INPUT && strstr(e.msg, "the input changed");
        dst[at] = was;
        gnn_sort_release(&s);
    }
    ok(good, "as many edges as were counted with another destination are refused, %s%s", how, d);
}

/* ---- a file that changes ---- */

/* A bit is flipped when all blocks were written and the first range was read: what was read before
 * is right, and everything else must be refused. */
static void test_damaged(bool dedup)
{
    int found = 0, tried = 0, wrong = 0;
    make_want(GNN_CSC_FWD, dedup);
    for (int at = 0; at < M * 34; at += 101, tried++) {
        struct gnn_sort s;
        bool good = !begin(&s, GNN_CSC_FWD, 2, 3000) && !put(&s, dedup);
        got.flip = at;
        const int rc = gnn_sort_each(&s, take, &s, &e);
        const bool named =
            rc == GNN_E_RUN && strstr(e.msg, "sorted: the file for sorting was damaged");
        good = good && got.flip == at && (rc ? named : same(&s, 2));
        found += named;
        wrong += !good;
        gnn_sort_release(&s);
    }
    /* Where duplicates were there is nothing that could be damaged. */
    ok(!wrong && found > tried / 3, "a flipped bit in the file is noticed%s: %d of %d, %d wrong",
       dedup ? ", deduplicated" : "", found, tried, wrong);
}

int main(void)
{
    for (unsigned mode = 1; mode < 8; mode++)
        for (int dedup = 0; dedup < 2 && mode & 3; dedup++) {
            bool good = true;
            make(mode);
            for (int i = 0; i < 3; i++)
                for (uint32_t nfields = 0; nfields < 3; nfields++)
                    good = good && sorts(mode, nfields, memory[i], dedup);
            ok(good, "edges are sorted in mode %u, in memory and through a file%s", mode,
               dedup ? ", deduplicated" : "");
        }
    for (int i = 1; i < 3; i++)
        for (int dedup = 0; dedup < 2; dedup++)
            test_changed(i, dedup);
    test_damaged(false);
    test_damaged(true);
    struct gnn_sort s = {0};
    e.code = 0;
    ok(!gnn_csc_init(&s.csc, N, GNN_CSC_FWD, &e), "gnn_csc_init begins counting");
    gnn_csc_count(&s.csc, src, dst, M);
    ok(gnn_sort_init(&s, NULL, 0, 0, "absent/sorted", 1500, &e) == GNN_E_RUN,
       "gnn_sort_init fails without a folder for its file");
    gnn_sort_release(&s);
    return tap_done();
}
