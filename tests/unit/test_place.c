/* lib/cache/place.h: where rows are kept, for every policy and number of devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cache/place.h"
#include "lib/base/mem.h"

#include "sample_ref.h"
#include "tap.h"

enum { MOST = 5000 };

static uint32_t order[MOST];
static float heat[MOST];

static void shuffle(uint64_t n, uint64_t seed)
{
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        heat[i] = (float)(toy_rand(&seed) % 1000) / 8;
    }
    for (uint64_t i = n; i > 1; i--) {
        const uint64_t j = toy_rand(&seed) % i;
        const uint32_t t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
    }
}

static enum gnn_gather_tier tier_of(const struct gnn_place *c, uint32_t device, uint32_t row,
                                    unsigned *places)
{
    enum gnn_gather_tier t = GNN_GATHER_HOST;
    *places = 0;
    for (uint32_t k = 0; k <= c->devices; k++) {
        const struct gnn_gather_part p = gnn_place_part(c, device, k, NULL, NULL);
        if (c->slot[row] - p.first < p.count) {
            t = p.tier;
            ++*places;
        }
    }
    *places += c->slot[row] == UINT32_MAX;
    return t;
}

/* All that must hold for a plan, but which rows are cached where. */
static bool sound(const struct gnn_place *c, const struct gnn_place_opts *o)
{
    bool fine = c->first[0] == 0 && c->first[c->devices + 1] == c->nslots;
    uint64_t cached = 0;
    for (uint32_t v = 0; v < c->nrows; v++) {
        cached += c->slot[v] != UINT32_MAX;
        fine = fine &&
               (c->slot[v] == UINT32_MAX || (c->slot[v] < c->nslots && c->row[c->slot[v]] == v));
    }
    fine = fine && cached == c->nslots;
    for (uint32_t d = 0; d < c->devices; d++) {
        double want[GNN_GATHER_TIERS] = {0}, got[GNN_GATHER_TIERS];
        fine = fine && gnn_place_bytes(c, d) <= o->budget;
        for (uint32_t v = 0; v < c->nrows; v++) {
            unsigned places;
            want[tier_of(c, d, v, &places)] += heat[v];
            fine = fine && places == 1;
        }
        gnn_place_expect(c, d, heat, got);
        fine = fine && !memcmp(want, got, sizeof got);
    }
    return fine;
}

/* By rank: first the replicated rows, then those dealt out in turn, then none. */
static bool in_turn(const struct gnn_place *c, const struct gnn_place_opts *o, uint64_t replicated,
                    uint64_t cached)
{
    bool fine = c->nslots == cached && c->first[1] == replicated;
    for (uint64_t r = 0; r < o->norder && fine; r++) {
        const uint32_t v = o->order[r];
        unsigned places;
        for (uint32_t d = 0; d < c->devices && fine; d++) {
            const enum gnn_gather_tier t = tier_of(c, d, v, &places);
            fine = t == (r >= cached                                            ? GNN_GATHER_HOST
                         : r < replicated || (r - replicated) % c->devices == d ? GNN_GATHER_LOCAL
                                                                                : GNN_GATHER_PEER);
        }
        if (r && r < cached && r != replicated) /* a device's rows lie by rank */
            fine = fine && (r < replicated || r - replicated < c->devices
                                ? true
                                : c->slot[v] == c->slot[o->order[r - c->devices]] + 1);
    }
    return fine;
}

static void plans(void)
{
    static const uint64_t rows[] = {0, 1, 5, 1000}, budgets[] = {0, 99, 100, 3050, 25600, 1000000};
    static const uint32_t devices[] = {1, 2, 4, 7};
    static const char *const name[] = {"host only", "replicated", "sharded", "mixed"};
    for (int policy = GNN_PLACE_HOST; policy <= GNN_PLACE_MIXED; policy++) {
        unsigned wrong = 0;
        for (int i = 0; i < 4 * 6 * 4 * 2; i++) {
            const uint64_t n = rows[i / 48], norder = i % 2 ? n : n / 2,
                           budget = budgets[i / 8 % 6];
            struct gnn_place_opts o = {.policy = (enum gnn_place_policy)policy,
                                       .devices = devices[i / 2 % 4],
                                       .nrows = n,
                                       .order = order,
                                       .norder = norder,
                                       .row_bytes = 100,
                                       .budget = budget,
                                       .replicate = 0.25};
            struct gnn_place c;
            struct gnn_err e = {0};
            shuffle(n, (uint64_t)i + 1);
            const uint64_t room = budget / 100 < norder ? budget / 100 : norder;
            const uint64_t replicated = policy == GNN_PLACE_REPLICATE ? room
                                        : policy == GNN_PLACE_MIXED   ? room / 4
                                                                      : 0;
            uint64_t cached = replicated + (room - replicated) * o.devices;
            cached = policy == GNN_PLACE_HOST ? 0 : cached < norder ? cached : norder;
            wrong += gnn_place_init(&c, &o, &e) || !sound(&c, &o) ||
                     !in_turn(&c, &o, replicated, cached);
            gnn_place_release(&c);
        }
        ok(wrong == 0, "%s: 192 plans keep each row in one place, within the budget (%u wrong)",
           name[policy], wrong);
    }
}

/* Holders as they come: each row is where it was given to, in the order. */
static void given(void)
{
    unsigned wrong = 0;
    for (uint64_t i = 1; i <= 100; i++) {
        static uint16_t holder[MOST];
        uint64_t seed = i, cached = 0, last[9] = {0};
        const uint64_t n = i * 7, norder = i % 3 ? n : n / 2;
        const struct gnn_place_opts o = {.devices = 1 + (uint32_t)i % 7,
                                         .nrows = n,
                                         .order = order,
                                         .norder = norder,
                                         .row_bytes = 100,
                                         .budget = UINT64_MAX};
        struct gnn_place c;
        struct gnn_err e = {0};
        shuffle(n, i);
        for (uint64_t r = 0; r < norder; r++) {
            const uint64_t x = toy_rand(&seed) % (o.devices + 2);
            holder[r] = x < o.devices    ? (uint16_t)x
                        : x == o.devices ? GNN_PLACE_ALL
                                         : GNN_PLACE_NONE;
            cached += holder[r] != GNN_PLACE_NONE;
        }
        wrong += gnn_place_given(&c, &o, holder, &e) || !sound(&c, &o) || c.nslots != cached;
        for (uint64_t r = 0; !e.code && r < norder; r++) {
            const uint32_t s = c.slot[order[r]],
                           part = holder[r] == GNN_PLACE_ALL ? 0 : holder[r] + 1u;
            if (holder[r] == GNN_PLACE_NONE)
                wrong += s != UINT32_MAX;
            else
                wrong += s != c.first[part] + last[part]++;
        }
        gnn_place_release(&c);
    }
    ok(wrong == 0, "100 plans that are given keep each row where it was given to (%u wrong)",
       wrong);
}

static void errors(void)
{
    struct gnn_place_opts o = {.policy = GNN_PLACE_SHARD,
                               .devices = 2,
                               .nrows = 100,
                               .order = order,
                               .norder = 100,
                               .row_bytes = 8,
                               .budget = 80};
    struct gnn_place c;
    struct gnn_err e = {0};
    shuffle(100, 5);
    order[3] = 100;
    ok(gnn_place_init(&c, &o, &e) == GNN_E_INPUT && strstr(e.msg, "position 3") && !c.slot, "%s",
       e.msg);
    shuffle(100, 5);
    order[7] = order[2];
    memset(&e, 0, sizeof e);
    ok(gnn_place_init(&c, &o, &e) == GNN_E_INPUT && strstr(e.msg, "position 7") && !c.slot, "%s",
       e.msg);
    shuffle(100, 5);
    order[99] = order[60];
    memset(&e, 0, sizeof e);
    ok(gnn_place_init(&c, &o, &e) == GNN_E_INPUT && strstr(e.msg, "position 99"),
       "%s, among the rows not cached", e.msg);
    gnn_place_release(&c);
}

/* What a plan with this share costs its devices on average. */
static double price(struct gnn_place_opts o, double share, const double cost[GNN_GATHER_TIERS])
{
    struct gnn_place c;
    struct gnn_err e = {0};
    double sum = 0;
    o.policy = GNN_PLACE_MIXED;
    o.replicate = share;
    if (gnn_place_init(&c, &o, &e))
        return NAN;
    for (uint32_t d = 0; d < o.devices; d++) {
        double hits[GNN_GATHER_TIERS];
        gnn_place_expect(&c, d, heat, hits);
        for (int t = 0; t < GNN_GATHER_TIERS; t++)
            sum += hits[t] * cost[t] / o.devices;
    }
    gnn_place_release(&c);
    return sum;
}

static void splits(void)
{
    static const double costs[][GNN_GATHER_TIERS] = {
        {1, 10, 80}, {1, 1, 80}, {1, 80, 80}, {1, 30, 60}};
    struct gnn_place_opts o = {.nrows = MOST, .order = order, .norder = MOST, .row_bytes = 1};
    unsigned dear = 0, off = 0, all = 0, none = 0, between = 0;
    for (uint32_t v = 0; v < MOST; v++)
        heat[v] = 1000.0f / (float)(v + 3);
    for (uint32_t r = 0; r < MOST; r++)
        order[r] = r;
    for (int i = 0; i < 48; i++) {
        const double *cost = costs[i % 4];
        double total;
        o.devices = i / 4 % 3 == 0 ? 1 : i / 4 % 3 == 1 ? 2 : 7;
        o.budget = (uint64_t[]){0, 128, 1280, 6400}[i / 12];
        const double best = gnn_place_split(&o, heat, cost, &total);
        off += fabs(price(o, best, cost) - total) > 1e-6 * total;
        for (int k = 0; k <= 16; k++)
            dear += price(o, k / 16.0, cost) < total * (1 - 1e-6);
        all += best == 1;
        none += best == 0;
        between += best > 0 && best < 1;
    }
    ok(!off, "what a split is said to cost is what the plan costs (%u differ)", off);
    ok(!dear, "no other split costs less (%u do)", dear);
    ok(all && none && between, "%u replicate all, %u nothing, %u some", all, none, between);
}

int main(void)
{
    plans();
    given();
    errors();
    splits();
    return tap_done();
}
