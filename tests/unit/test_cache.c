/* SPDX-License-Identifier: Apache-2.0 */
/* lib/cache/order.h, fill.h, cache.h, plan.h: what is in a cache and what it misses, against
 * sorting and counting the plain way. */
#include <math.h>

#include "lib/cache/fill.h"
#include "lib/cache/plan.h"
#include "lib/sample/sampler.h"

#include "scratch.h"
#include "store_maker.h"
#include "tap.h"

enum { SIZES = 5 };

static struct gnn_store s;
static struct gnn_rows rows;

/* Scores with many ties, some zeros and some negative. */
static void random_scores(struct gnn_scores *x)
{
    const struct gnn_schema *c = &s.meta.schema;
    for (uint32_t t = 0; t < c->nntypes; t++)
        for (uint64_t i = 0; i < c->ntype[t].count; i++) {
            const uint32_t k = maker_rand(40);
            x->of[t][i] = k == 0  ? -1.0f
                          : k < 5 ? 0.0f
                                  : ldexpf((float)maker_rand(9), (int)maker_rand(20) - 10);
        }
}

static void orders(const struct gnn_scores *x)
{
    const struct gnn_schema *c = &s.meta.schema;
    struct gnn_err e = {0};
    struct gnn_ranking k;
    const bool made = !gnn_ranking_init(&k, &s, rows.bytes, x, 0, 0, &e);
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const uint64_t n = c->ntype[t].count;
        uint8_t *seen = calloc(n, 1);
        uint64_t in = 0;
        for (uint64_t i = 0; i < n; i++)
            in += x->of[t][i] >= 0;
        bool fine = made && k.n[t] == in;
        for (uint64_t i = 0; fine && i < in; i++) {
            const uint32_t id = k.row[t][i];
            const float here = x->of[t][id];
            fine = !seen[id]++ && here >= 0;
            if (i) {
                const float before = x->of[t][k.row[t][i - 1]];
                fine = fine && (before > here || (before >= here && k.row[t][i - 1] < id));
            }
        }
        ok(fine, "gnn_ranking_init puts the highest scores of type %s first, equal ones by id",
           c->ntype[t].name);
        free(seen);
    }
    gnn_ranking_release(&k);
}

/* A row at a time, in the plain way: to the freest of the holders that are preferred, else of
 * all, passing over what has no space. */
static void prefer_third(const void *arg, uint32_t type, uint32_t row, uint32_t *from, uint32_t *to)
{
    *from = (row + type) % *(const uint32_t *)arg;
    *to = *from + 1;
}

static void fills(const struct gnn_scores *x)
{
    static const uint32_t n = 3;
    struct gnn_err e = {0};
    struct gnn_ranking k;
    uint16_t *holder[2] = {malloc(300 * sizeof **holder), malloc(300 * sizeof **holder)};
    uint64_t at[2] = {0, 0}, left[3] = {700, 1100, 400}, want[3] = {700, 1100, 400}, next[2] = {0};
    struct gnn_fill f = {.rows = &k,
                         .at = at,
                         .left = left,
                         .nholders = n,
                         .skip = true,
                         .holder = holder,
                         .prefer = prefer_third,
                         .arg = &n};
    bool fine = !gnn_ranking_init(&k, &s, rows.bytes, x, 0, 0, &e);
    if (fine)
        gnn_fill_run(&f);
    while (fine && (next[0] < at[0] || next[1] < at[1])) {
        const uint32_t t = next[0] == k.n[0] ? 1
                           : next[1] == k.n[1]
                               ? 0
                               : x->of[1][k.row[1][next[1]]] > x->of[0][k.row[0][next[0]]];
        const uint64_t bytes = rows.bytes[t];
        uint32_t m = (k.row[t][next[t]] + t) % n;
        if (want[m] < bytes) {
            m = 0;
            for (uint32_t i = 1; i < n; i++)
                m = want[i] > want[m] ? i : m;
        }
        const bool fits = want[m] >= bytes;
        fine = next[t] < at[t] && holder[t][next[t]] == (fits ? m : GNN_HOLDER_NONE);
        want[m] -= fits ? bytes : 0;
        next[t]++;
    }
    ok(fine && !memcmp(left, want, sizeof left) && left[0] < 12 && left[1] < 12 && left[2] < 12,
       "gnn_fill_run gives each row to the holder that it prefers, or that has most space");
    free(holder[0]);
    free(holder[1]);
    gnn_ranking_release(&k);
}

/* How many rows of any type have a higher score, or come before among equals; and their bytes. */
static uint64_t bytes_before(const struct gnn_scores *x, uint32_t t, uint64_t i, int64_t part)
{
    const struct gnn_schema *c = &s.meta.schema;
    const float mine = x->of[t][i];
    uint64_t sum = 0;
    for (uint32_t u = 0; u < c->nntypes; u++)
        for (uint64_t k = 0; rows.bytes[u] && k < c->ntype[u].count; k++) {
            const float it = x->of[u][k];
            const bool own = part >= 0 && k >= s.book[u][part] && k < s.book[u][part + 1];
            if (!own && (it > mine || (it >= mine && (u < t || (u == t && k < i)))))
                sum += rows.bytes[u];
        }
    return sum;
}

static void caches(const struct gnn_scores *x, const struct gnn_scores *p, int64_t part)
{
    const struct gnn_schema *c = &s.meta.schema;
    const uint64_t size[SIZES] = {0, rows.all_bytes / 100, rows.all_bytes / 7,
                                  rows.all_bytes / 7 + 11, rows.all_bytes};
    struct gnn_err e = {0};
    struct gnn_cache k = {0};
    struct gnn_cache_tally y = {0};
    double want[SIZES + 1] = {0}, missed[SIZES + 1];
    uint64_t held[SIZES] = {0}, bytes[SIZES] = {0}, counted[SIZES + 1];
    bool fine = !gnn_cache_init(&k, &s, &rows, x, size, SIZES, part, &e), right = true;
    for (uint32_t t = 0; fine && t < c->nntypes; t++)
        for (uint64_t i = 0; rows.bytes[t] && i < c->ntype[t].count; i++) {
            const bool own = part >= 0 && i >= s.book[t][part] && i < s.book[t][part + 1];
            uint32_t level = own ? GNN_CACHE_OWN : SIZES;
            /* Nothing leads to what has score 0: no part copies it. */
            const bool ranked = part >= 0 ? x->of[t][i] > 0 : x->of[t][i] >= 0;
            for (uint32_t z = SIZES; !own && ranked && z--;)
                if (bytes_before(x, t, i, part) + rows.bytes[t] <= size[z])
                    level = z;
            right = right && k.level[t][i] == level;
            for (uint32_t z = 0; !own && z <= SIZES; z++)
                want[z] += z == SIZES || level > z ? (double)p->of[t][i] : 0;
            for (uint32_t z = level; z < SIZES; z++) {
                held[z]++;
                bytes[z] += rows.bytes[t];
            }
            const uint32_t id = (uint32_t)i;
            gnn_cache_count(&k, t, &id, 1, NULL, 0, &y);
            gnn_cache_count(&k, t, &id, 1, (uint64_t[]){2}, 5, &y); /* other parts' */
        }
    ok(fine && right, "gnn_cache_init fills the caches of part %d in levels %s", (int)part, e.msg);
    ok(!memcmp(held, k.rows, sizeof held) && !memcmp(bytes, k.bytes, sizeof bytes),
       "gnn_cache_init counts the rows and bytes of the caches of part %d", (int)part);
    gnn_cache_expected(&k, c, p, missed);
    gnn_cache_missed(&k, &y, counted);
    right = true;
    for (uint32_t z = 0; z <= SIZES; z++)
        right = right && fabs(missed[z] - want[z]) < 1e-9 * (1 + want[z]) &&
                counted[z] == counted[SIZES] - (z < SIZES ? held[z] : 0);
    ok(right && counted[SIZES] > 0,
       "gnn_cache_expected and gnn_cache_missed know what the caches of part %d miss", (int)part);
    gnn_cache_release(&k);
}

/* Two parts, seeds 0 (of part 0) and 9 (of part 1): 0 <- 1, then 1 <- 9 and 9 <- 2; 2 is two hops
 * from 0. */
static void reach(void)
{
    struct gnn_ntype type = {.count = 10};
    struct gnn_etype edge = {0};
    const uint64_t book0[3] = {0, 5, 10}, *book[1] = {book0};
    const struct gnn_store two = {
        .meta.schema = {.ntype = &type, .etype = &edge, .nntypes = 1, .netypes = 1},
        .nparts = 2,
        .book = book};
    const uint32_t node[] = {0, 9, 1, 2}, *ids[] = {node};
    const uint64_t count[] = {2, 3, 4};
    struct gnn_batch_type bt = {.node = node, .count = count};
    /* Hop 0: 0 <- 1. Hop 1, all three: 0 <- 9, 9 <- 2, 1 <- nothing: 9 has not got 0's bit before
     * this hop. */
    struct gnn_block block[] = {{0, 2, 1, (uint32_t[]){0, 1, 1}, (uint32_t[]){2}, NULL},
                                {0, 3, 2, (uint32_t[]){0, 1, 2, 2}, (uint32_t[]){1, 3}, NULL}};
    const struct gnn_batch b = {
        .type = &bt, .block = block, .nhops = 2, .nntypes = 1, .netypes = 1};
    struct gnn_err e = {0};
    struct gnn_reach r = {0};
    const uint64_t want[] = {1, 3, 1, 2};
    ok(!gnn_reach_init(&r, 1, &e) && !gnn_reach_find(&r, &two, &b, 0, ids, &e) &&
           !memcmp(r.bits[0].data, want, sizeof want),
       "gnn_reach_find marks whose seeds lead to a node, no further than the hops go");
    gnn_reach_release(&r);
}

/* Three batches of a plan: what is counted adds up, and a node that is none is refused. */
static void plan(void)
{
    static const char *const fan[] = {"3,2"};
    const uint64_t size[2] = {1200, 12 * 451};
    struct gnn_rows r = {0}; /* of one length, or a larger one would be worth less */
    const struct gnn_cache_plan_opts po = {.rows = &r, .size = size, .nsizes = 2};
    struct gnn_err e = {0};
    struct gnn_sampler_opts o;
    struct gnn_cache_plan p = {0};
    struct gnn_order file = {.by = GNN_ORDER_FILE};
    struct gnn_batch *b;
    uint64_t nodes = 0;
    gnn_sampler_opts_init(&o);
    o.fanout = fan;
    o.nfanout = 1;
    o.sampling.batch_size = 40;
    struct gnn_source *src = gnn_sampler_source_new(&s, &o, &e);
    bool fine = src && !gnn_rows_init(&r, &s.meta.schema, NULL, &e) &&
                !gnn_cache_plan_init(&p, &s, &src->meta->sampling, &po, &e) &&
                !gnn_scores_init(&file.file, &s.meta.schema, &e) &&
                !gnn_cache_plan_add(&p, &(struct gnn_order){.by = GNN_ORDER_ACCESS}, &e) &&
                !gnn_cache_plan_add(&p, &file, &e) &&
                !gnn_cache_plan_add(&p, &(struct gnn_order){.by = GNN_ORDER_HALO}, &e) &&
                !gnn_cache_plan_parts(&p, &e);
    for (int i = 0; fine && i < 3; i++) {
        fine = !gnn_source_next(src, &b, &e) && !gnn_cache_plan_count(&p, b, &e);
        for (uint32_t t = 0; fine && t < b->nntypes; t++)
            nodes += gnn_batch_nodes(b, t);
        if (fine && i < 2)
            gnn_batch_put(b);
    }
    if (!ok(fine && !file.file.of, "gnn_cache_plan_init plans caches in three orders %s", e.msg))
        exit(99);
    gnn_cache_plan_finish(&p);
    const struct gnn_cache_figures *access = &p.order[0].whole, *equal = &p.order[1].whole;
    ok(p.batches == 3 && p.measured_rows * 3 == (double)nodes &&
           access->measured[2] == (double)nodes && equal->measured[2] == (double)nodes &&
           p.order[2].whole.nsizes == 0,
       "gnn_cache_plan_count counts the rows of %d nodes", (int)nodes);
    ok(fabs(access->expected[2] - p.expected_rows) < 1e-6 * p.expected_rows &&
           access->expected[0] < equal->expected[0] && access->expected[1] == 0 &&
           access->measured[0] < equal->measured[0] && access->measured[1] == 0,
       "gnn_cache_plan_count misses fewer rows by expected frequencies, and none in a full cache");
    ((uint32_t *)(uintptr_t)b->type[0].node)[1] = 300;
    ok(gnn_cache_plan_count(&p, b, &e) == GNN_E_INPUT &&
           strstr(e.msg, "batch 0/2: node id out of range"),
       "gnn_cache_plan_count refuses a node id out of range: %s", e.msg);
    gnn_batch_put(b);
    gnn_cache_plan_release(&p);
    gnn_rows_release(&r);
    gnn_source_free(src);
}

static void words(void)
{
    ok(gnn_order_parse("degree") == GNN_ORDER_DEGREE &&
           gnn_order_parse("access") == GNN_ORDER_ACCESS &&
           gnn_order_parse("halo") == GNN_ORDER_HALO,
       "gnn_order_parse knows the words for orders");
    ok(gnn_order_parse("") == GNN_ORDER_FILE && gnn_order_parse("degre") == GNN_ORDER_FILE &&
           gnn_order_parse("degree|access") == GNN_ORDER_FILE &&
           gnn_order_parse("halo.npy") == GNN_ORDER_FILE,
       "gnn_order_parse takes any other text for the name of a file");
}

int main(void)
{
    struct gnn_err e = {0};
    struct gnn_scores x = {0}, p = {0};
    scratch_enter();
    if (!ok(!store_make("s", 300, 900, true, 3, &e) && !gnn_store_open(&s, "s", true, &e),
            "store_make makes a store that opens %s", e.msg))
        return scratch_done();
    const struct gnn_schema *c = &s.meta.schema;
    ok(gnn_rows_init(&rows, c, "x,nothing", &e) == GNN_E_USAGE,
       "gnn_rows_init refuses a field that does not exist");
    gnn_rows_release(&rows);
    e = (struct gnn_err){0};
    ok(gnn_rows_init(&rows, c, "y", &e) == GNN_E_USAGE,
       "gnn_rows_init refuses labels, which only seeds have");
    gnn_rows_release(&rows);
    e = (struct gnn_err){0};
    ok(!gnn_rows_init(&rows, c, "y,x", &e) && rows.bytes[0] == 12 && rows.bytes[1] == 12 &&
           rows.count == 451 && rows.all_bytes == 12 * 451,
       "gnn_rows_init knows the bytes of a row %s", e.msg);
    rows.bytes[1] = 20; /* rows of two lengths */
    rows.all_bytes = c->ntype[0].count * 12 + c->ntype[1].count * 20;
    if (!gnn_scores_init(&x, c, &e) && !gnn_scores_init(&p, c, &e)) {
        random_scores(&x);
        for (uint32_t t = 0; t < c->nntypes; t++)
            for (uint64_t i = 0; i < c->ntype[t].count; i++)
                p.of[t][i] = (float)maker_rand(1000) / 1000;
        orders(&x);
        fills(&p);
        caches(&x, &p, -1);
        caches(&p, &p, -1);
        const uint64_t a[] = {0, 100, 300}, b[] = {0, 40, 151}, *whole = s.book[0],
                       *other = s.book[1];
        s.book[0] = a; /* as if it had two parts */
        s.book[1] = b;
        caches(&x, &p, 0);
        caches(&x, &p, 1);
        s.book[0] = whole;
        s.book[1] = other;
    }
    reach();
    words();
    plan();
    gnn_scores_release(&x);
    gnn_scores_release(&p);
    gnn_rows_release(&rows);
    gnn_store_close(&s);
    return scratch_done();
}
