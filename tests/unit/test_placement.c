/* SPDX-License-Identifier: Apache-2.0 */
/* lib/cache/placement.h, tier.h: which device holds which row, and where; and who has the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/cache/tier.h"

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

/* The tier of the only part that has the row, as the device sees it. */
static enum gnn_tier tier_of(const struct gnn_placement *c, uint32_t device, uint32_t row,
                             unsigned *places)
{
    enum gnn_tier t = GNN_TIER_HOST;
    *places = 0;
    for (uint32_t k = 0; k <= c->devices; k++) {
        const struct gnn_gather_part p = gnn_placement_part(c, device, k, NULL);
        if (c->slot[row] - p.first < p.count) {
            t = p.tier;
            ++*places;
        }
    }
    *places += c->slot[row] == UINT32_MAX;
    return t;
}

/* All that must hold for a placement, but which rows are where. */
static bool sound(const struct gnn_placement *c)
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
        uint64_t bytes = 0;
        for (uint32_t v = 0; v < c->nrows; v++) {
            unsigned places;
            const enum gnn_tier t = tier_of(c, d, v, &places);
            fine = fine && places == 1 && t == gnn_placement_tier(c, d, v);
            bytes += t == GNN_TIER_DEVICE ? c->row_bytes : 0;
        }
        fine = fine && gnn_placement_bytes(c, d) == bytes;
    }
    return fine;
}

/* By rank: first the replicated rows, then those dealt out in turn, then none. */
static bool in_turn(const struct gnn_placement *c, const struct gnn_placement_opts *o)
{
    const uint64_t replicated = o->replicated, cached = o->norder;
    bool fine = c->nslots == cached && c->first[1] == replicated;
    for (uint64_t r = 0; r < c->nrows && fine; r++) {
        const uint32_t v = o->order[r];
        unsigned places;
        for (uint32_t d = 0; d < c->devices && fine; d++) {
            const enum gnn_tier t = tier_of(c, d, v, &places);
            fine = t == (r >= cached                                            ? GNN_TIER_HOST
                         : r < replicated || (r - replicated) % c->devices == d ? GNN_TIER_DEVICE
                                                                                : GNN_TIER_PEER);
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
    static const uint64_t rows[] = {0, 1, 5, 1000};
    static const uint32_t devices[] = {1, 2, 4, 7};
    unsigned wrong = 0;
    for (int i = 0; i < 4 * 4 * 3 * 3; i++) {
        const uint64_t n = rows[i / 36], cached = n * (uint64_t)(i % 3) / 2;
        const struct gnn_placement_opts o = {.devices = devices[i / 9 % 4],
                                             .nrows = n,
                                             .order = order,
                                             .norder = cached,
                                             .replicated = cached * (uint64_t)(i / 3 % 3) / 2,
                                             .row_bytes = 100};
        struct gnn_placement c;
        struct gnn_err e = {0};
        shuffle(n, (uint64_t)i + 1);
        wrong += gnn_placement_init(&c, &o, &e) || !sound(&c) || !in_turn(&c, &o);
        gnn_placement_release(&c);
    }
    ok(wrong == 0,
       "gnn_placement_init replicates, then shards each row once in 144 cases (%u wrong)", wrong);
}

/* Holders as they come: each row is where it was given to, in the order. */
static void given(void)
{
    unsigned wrong = 0;
    for (uint64_t i = 1; i <= 100; i++) {
        static uint16_t holder[MOST];
        uint64_t seed = i, cached = 0, last[9] = {0};
        const uint64_t n = i * 7, norder = i % 3 ? n : n / 2;
        const struct gnn_placement_opts o = {.devices = 1 + (uint32_t)i % 7,
                                             .nrows = n,
                                             .order = order,
                                             .norder = norder,
                                             .replicated = norder / (1 + i % 5),
                                             .holder = holder,
                                             .row_bytes = 100};
        struct gnn_placement c;
        struct gnn_err e = {0};
        shuffle(n, i);
        for (uint64_t r = 0; r < norder; r++) {
            const uint64_t x = toy_rand(&seed) % (o.devices + 1);
            holder[r] = x < o.devices ? (uint16_t)x : GNN_HOLDER_NONE;
            cached += r < o.replicated || holder[r] != GNN_HOLDER_NONE;
        }
        wrong += gnn_placement_init(&c, &o, &e) || !sound(&c) || c.nslots != cached;
        for (uint64_t r = 0; !e.code && r < norder; r++) {
            const uint32_t s = c.slot[order[r]], part = r < o.replicated ? 0 : holder[r] + 1u;
            if (r >= o.replicated && holder[r] == GNN_HOLDER_NONE)
                wrong += s != UINT32_MAX;
            else
                wrong += s != c.first[part] + last[part]++;
        }
        gnn_placement_release(&c);
    }
    ok(wrong == 0,
       "gnn_placement_init keeps each row where it was given to in 100 cases (%u wrong)", wrong);
}

/* What a plan with this share costs its devices on average. */
static double price(struct gnn_placement_opts o, uint64_t budget, double share,
                    const double cost[GNN_TIERS_CUDA])
{
    const uint64_t fit = budget / o.row_bytes, capacity = fit < o.norder ? fit : o.norder;
    struct gnn_placement c;
    struct gnn_err e = {0};
    double sum = 0;
    o.replicated = (uint64_t)((double)capacity * share);
    const uint64_t sharded = (capacity - o.replicated) * o.devices;
    o.norder = o.replicated + sharded < o.norder ? o.replicated + sharded : o.norder;
    if (gnn_placement_init(&c, &o, &e))
        return NAN;
    for (uint32_t d = 0; d < o.devices; d++)
        for (uint32_t v = 0; v < o.nrows; v++)
            sum += heat[v] * cost[gnn_placement_tier(&c, d, v)] / o.devices;
    gnn_placement_release(&c);
    return sum;
}

static void splits(void)
{
    static const double costs[][GNN_TIERS_CUDA] = {
        {1, 10, 80}, {1, 1, 80}, {1, 80, 80}, {1, 30, 60}};
    struct gnn_placement_opts o = {.nrows = MOST, .order = order, .norder = MOST, .row_bytes = 1};
    unsigned dear = 0, off = 0, all = 0, none = 0, between = 0;
    for (uint32_t v = 0; v < MOST; v++)
        heat[v] = 1000.0f / (float)(v + 3);
    for (uint32_t r = 0; r < MOST; r++)
        order[r] = r;
    for (int i = 0; i < 48; i++) {
        const double *cost = costs[i % 4];
        double total;
        o.devices = i / 4 % 3 == 0 ? 1 : i / 4 % 3 == 1 ? 2 : 7;
        const uint64_t budget = (uint64_t[]){0, 128, 1280, 6400}[i / 12];
        const double best = gnn_placement_share(&o, budget, heat, cost, &total);
        off += fabs(price(o, budget, best, cost) - total) > 1e-6 * total;
        for (int k = 0; k <= 16; k++)
            dear += price(o, budget, k / 16.0, cost) < total * (1 - 1e-6);
        all += best == 1;
        none += best == 0;
        between += best > 0 && best < 1;
    }
    ok(!off, "gnn_placement_share names the cost that the placement has (%u differ)", off);
    ok(!dear, "gnn_placement_share chooses a split that costs no more than any other (%u do)",
       dear);
    ok(all && none && between,
       "gnn_placement_share replicates all rows %u times, none %u times, some %u times", all, none,
       between);
}

/* Rank 1 of three, of 10 rows each; device 0 of two holds rows 3 and 12, its peer row 25; copies of
 * rows 4 and 25. */
static void tiers(void)
{
    static const uint32_t held[] = {3, 12, 25}, copies[] = {4, 25};
    static const uint16_t holder[] = {0, 0, 1};
    static const uint64_t book[] = {0, 10, 20, 30};
    const uint64_t *books[] = {book};
    struct gnn_comm comm = {.rank = 1, .size = 3};
    const struct gnn_store s = {.rank_book = books, .comm = &comm};
    const struct gnn_placement_opts o = {
        .devices = 2, .nrows = 30, .order = held, .norder = 3, .holder = holder, .row_bytes = 4};
    struct gnn_placement p;
    struct gnn_node_map copied = {0};
    struct gnn_err e = {0};
    struct gnn_tier_map host = {.store = &s, .replicated = &copied},
                        device = {.store = &s, .replicated = &copied, .held = &p};
    bool fine = !gnn_placement_init(&p, &o, &e) && !gnn_node_map_init(&copied, 2, &e);
    for (uint32_t i = 0; fine && i < 2; i++)
        fine = gnn_node_map_add(&copied, copies[i], i);
    for (uint32_t v = 0; fine && v < 30; v++) {
        const bool copy = v == 4 || v == 25;
        const struct gnn_tier_row a = gnn_tier_find(&host, v), b = gnn_tier_find(&device, v);
        const enum gnn_tier t = copy          ? GNN_TIER_REPLICA
                                : v / 10 == 1 ? GNN_TIER_STORE
                                              : GNN_TIER_REMOTE;
        fine = a.tier == t && a.at == (copy ? v == 25 : v / 10);
        fine = fine && (v == 3 || v == 12 ? b.tier == GNN_TIER_DEVICE && b.at == p.slot[v]
                        : v == 25         ? b.tier == GNN_TIER_PEER && b.at == p.slot[v]
                                          : b.tier == a.tier && b.at == a.at);
    }
    ok(fine,
       "gnn_tier_find finds each row: on the device, a peer, replicated, in the store, or remote");
    gnn_placement_release(&p);
    gnn_node_map_release(&copied);
}

int main(void)
{
    plans();
    given();
    splits();
    tiers();
    return tap_done();
}
