/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs: whatever parts vertices are in, limits are kept afterwards, no part is empty, and what
 * was within the limits stays as it was. */
#include "lib/inspect/inspect.h"
#include "lib/partition/partition.h"
#include "scratch.h"
#include "store_maker.h"
#include "tap.h"

struct fix {
    struct gnn_store s;
    struct gnn_view v;
    struct gnn_symgraph g;
    uint32_t *part, *again;
};

static bool fix_open(struct fix *f, const char *path)
{
    struct gnn_err e = {0};
    *f = (struct fix){0};
    const bool opened = !gnn_store_open(&f->s, path, true, &e) &&
                        !gnn_view_init(&f->v, &f->s, &e) &&
                        !gnn_symgraph_init(&f->g, &f->v, GNN_METIS_LIMIT, 1, &e);
    f->part = calloc(f->v.nvertices + 1, sizeof *f->part);
    f->again = calloc(f->v.nvertices + 1, sizeof *f->again);
    return ok(opened, "gnn_store_open opens %s %s", path, e.msg);
}

static void fix_close(struct fix *f)
{
    gnn_symgraph_release(&f->g);
    gnn_view_release(&f->v);
    gnn_store_close(&f->s);
    free(f->part);
    free(f->again);
}

/* Vertices of [from, to) in the fullest part, and whether all parts have some of all vertices. */
static uint64_t most_of(const uint32_t *part, uint64_t from, uint64_t to, uint32_t k, bool *all)
{
    uint64_t *n = calloc(k, sizeof *n), most = 0;
    for (uint64_t i = from; i < to; i++)
        n[part[i]]++;
    *all = true;
    for (uint32_t p = 0; p < k; p++) {
        most = n[p] > most ? n[p] : most;
        *all = *all && n[p];
    }
    free(n);
    return most;
}

static uint64_t limit_of(uint64_t total, double imbalance, uint32_t k)
{
    const uint64_t up = (total + k - 1) / k,
                   more = (uint64_t)((double)total * imbalance / (double)k);
    return more > up ? more : up;
}

/* Starts: all in one part; all but few parts; most in one; by chance. */
enum { STARTS = 4 };
static void start_parts(struct fix *f, int start, uint32_t k)
{
    for (uint64_t i = 0; i < f->v.nvertices; i++)
        f->part[i] = start == 0   ? k - 1
                     : start == 1 ? (uint32_t)(i % (k / 3 + 1))
                     : start == 2 ? (i % 5 ? 0 : (uint32_t)i % k)
                                  : maker_rand(k);
}

static void repairs(const char *path)
{
    static const uint32_t ks[] = {2, 7, 30, 45};
    struct fix f;
    struct gnn_err e = {0};
    if (!fix_open(&f, path))
        return;
    const struct gnn_schema *sc = &f.s.meta.schema;
    for (unsigned i = 0; i < sizeof ks / sizeof *ks * STARTS; i++) {
        const uint32_t k = ks[i / STARTS];
        const uint64_t n = f.v.nvertices;
        bool all, some;
        for (int graph = 0; graph < 2; graph++) {
            struct gnn_repair r = {.k = k,
                                   .even = {.balance = GNN_BALANCE_NODES, .imbalance = 1.03}};
            r.graph = graph ? &f.g : NULL;
            start_parts(&f, (int)(i % STARTS), k);
            const int rc = gnn_repair_run(&r, &f.v, f.part, &e);
            const uint64_t most = most_of(f.part, 0, n, k, &all);
            ok(!rc && most <= limit_of(n, 1.03, k) && (all || n < k) && !r.empty == all &&
                   !(r.excess > 0),
               "gnn_repair_run evens %u parts of %s, start %u: at most %llu %s", k, path,
               i % STARTS, (unsigned long long)most, e.msg);
            memcpy(f.again, f.part, n * sizeof *f.part);
            r = (struct gnn_repair){.k = k, .even = r.even, .graph = r.graph};
            ok(!gnn_repair_run(&r, &f.v, f.part, &e) && !r.moves &&
                   !memcmp(f.again, f.part, n * sizeof *f.part),
               "gnn_repair_run leaves %u parts that are even as they are %s", k, e.msg);
        }
        struct gnn_repair r = {.k = k, .even = {.balance = GNN_BALANCE_TYPES, .imbalance = 1.03}};
        start_parts(&f, (int)(i % STARTS), k);
        bool fine = !gnn_repair_run(&r, &f.v, f.part, &e);
        for (uint32_t t = 0; t < sc->nntypes; t++)
            fine = fine && most_of(f.part, f.v.base[t], f.v.base[t + 1], k, &some) <=
                               limit_of(sc->ntype[t].count, 1.03, k);
        (void)most_of(f.part, 0, n, k, &all);
        ok(fine && all, "gnn_repair_run evens each type in %u parts of %s, start %u %s", k, path,
           i % STARTS, e.msg);
    }
    fix_close(&f);
}

/* Nodes, edges and a set at once, as far as single moves go: less than a tenth of what was too much
 * is left. */
static void several(const char *path)
{
    struct fix f;
    struct gnn_err e = {0};
    const uint32_t set = 0;
    if (!fix_open(&f, path))
        return;
    for (int start = 0; start < STARTS; start++) {
        struct gnn_repair r = {
            .k = 6, .even = {GNN_BALANCE_NODES | GNN_BALANCE_SETS, &set, 1, 1.05}, .graph = &f.g};
        start_parts(&f, start, 6);
        bool fine = !gnn_repair_judge(&r, &f.v, f.part, &e);
        const double before = r.excess, ratio = r.ratio;
        fine = fine && !gnn_repair_run(&r, &f.v, f.part, &e);
        ok(fine && r.excess <= before / 10 && !(start == 0 && before < 9) && ratio >= r.ratio,
           "gnn_repair_run evens nodes and a set of %s, start %d: %.3f too much becomes %.3f %s",
           path, start, before, r.excess, e.msg);
    }
    fix_close(&f);
}

static void two_levels(const char *path)
{
    struct fix f;
    struct gnn_err e = {0};
    if (!fix_open(&f, path))
        return;
    const uint64_t n = f.v.nvertices;
    for (int start = 0; start < STARTS; start++) {
        struct gnn_repair r = {
            .k = 12, .nodes = 4, .even = {.balance = GNN_BALANCE_NODES, .imbalance = 1.06}};
        bool all, whole;
        start_parts(&f, start, 12);
        const int rc = gnn_repair_run(&r, &f.v, f.part, &e);
        const bool fine = most_of(f.part, 0, n, 12, &all) <= limit_of(n, 1.06, 12);
        for (uint64_t i = 0; i < n; i++)
            f.again[i] = f.part[i] / 3;
        ok(!rc && fine && all && most_of(f.again, 0, n, 4, &whole) <= 3 * limit_of(n, 1.06, 12),
           "gnn_repair_run evens 4 times 3 parts of %s, start %d %s", path, start, e.msg);
    }
    fix_close(&f);
}

int main(void)
{
    struct gnn_err e = {0};
    scratch_enter();
    ok(!store_make("one", 300, 1500, false, 1, &e) && !store_make("typed", 120, 500, true, 2, &e) &&
           !store_make("none", 60, 0, false, 3, &e),
       "store_make makes stores %s", e.msg);
    repairs("one");
    repairs("typed");
    repairs("none");
    several("one");
    several("typed");
    two_levels("one");
    two_levels("typed");
    return scratch_done();
}
