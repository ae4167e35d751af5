/* SPDX-License-Identifier: Apache-2.0 */
/* Where each row of a GPU feature cache lies (lib/cache/placement.h): slots 0 to first[1] are
 * replicated on all devices, the following ranges are the devices' shards. gnn_placement_share
 * decides how much to replicate by trying 129 splits of the budget against the expected
 * accesses. */
#include "lib/cache/placement.h"

#include <string.h>

#include "lib/base/mem.h"

/* Shares of the budget that are tried are multiples of 1/128. */
enum { STEPS = 128 };

/* The part that the row of rank r is in; GNN_HOLDER_NONE: no device holds it. */
static uint32_t part_of(const struct gnn_placement_opts *o, uint64_t r)
{
    if (r < o->replicated)
        return 0;
    if (!o->holder)
        return 1 + (uint32_t)((r - o->replicated) % o->devices);
    return o->holder[r] == GNN_HOLDER_NONE ? GNN_HOLDER_NONE : 1u + o->holder[r];
}

static void fill_slots(struct gnn_placement *c, const struct gnn_placement_opts *o, uint64_t *next)
{
    memset(c->slot, 0xff, c->nrows * sizeof *c->slot);
    for (uint64_t r = 0; r < o->norder; r++) {
        const uint32_t part = part_of(o, r);
        if (part == GNN_HOLDER_NONE)
            continue;
        const uint64_t s = next[part]++;
        c->slot[o->order[r]] = (uint32_t)s;
        c->row[s] = o->order[r];
    }
}

int gnn_placement_init(struct gnn_placement *c, const struct gnn_placement_opts *o,
                       struct gnn_err *e)
{
    *c =
        (struct gnn_placement){.devices = o->devices, .nrows = o->nrows, .row_bytes = o->row_bytes};
    c->first = gnn_alloc_zero((uint64_t)o->devices + 2, sizeof *c->first, "shards of the cache", e);
    uint64_t *next = gnn_alloc((uint64_t)o->devices + 1, sizeof *next, "shards of the cache", e);
    for (uint64_t r = 0; c->first && r < o->norder; r++)
        if (part_of(o, r) != GNN_HOLDER_NONE)
            c->first[part_of(o, r) + 1]++;
    for (uint32_t k = 0; c->first && next && k <= o->devices; k++) {
        c->first[k + 1] += c->first[k];
        next[k] = c->first[k];
    }
    c->nslots = c->first ? c->first[o->devices + 1] : 0;
    c->slot = gnn_alloc(o->nrows, sizeof *c->slot, "the cache's slots", e);
    c->row = gnn_alloc(c->nslots, sizeof *c->row, "the cache's rows", e);
    const int rc = c->first && next && c->slot && c->row ? 0 : e->code;
    if (!rc)
        fill_slots(c, o, next);
    gnn_free(next);
    return rc;
}

void gnn_placement_release(struct gnn_placement *c)
{
    gnn_free(c->first);
    gnn_free(c->slot);
    gnn_free(c->row);
    *c = (struct gnn_placement){0};
}

struct gnn_gather_part gnn_placement_part(const struct gnn_placement *c, uint32_t device,
                                          uint32_t k, const void *data)
{
    return (struct gnn_gather_part){.first = c->first[k],
                                    .count = gnn_placement_rows(c, k),
                                    .data = data,
                                    .tier = k == 0 || k == device + 1 ? GNN_TIER_DEVICE
                                                                      : GNN_TIER_PEER};
}

uint64_t gnn_placement_bytes(const struct gnn_placement *c, uint32_t device)
{
    return (gnn_placement_rows(c, 0) + gnn_placement_rows(c, device + 1)) * c->row_bytes;
}

/* ---- how much to replicate ---- */

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* What is below 0 or no number counts as 0. */
static double accesses_of(const float *access, uint64_t row)
{
    return access[row] > 0 ? access[row] : 0;
}

/* Accesses to the first rows of the order, up to the ends of what each step replicates and of what
 * it holds at all. Both ends move one way from step to step, so one walk along the order passes all
 * of them in turn. */
struct ends {
    uint64_t replicated[STEPS + 1], held[STEPS + 1];
    double to_replicated[STEPS + 1], to_held[STEPS + 1];
};

static void set_ends(struct ends *x, const struct gnn_placement_opts *o, uint64_t budget)
{
    const uint64_t capacity = min_of(budget / o->row_bytes, o->norder);
    for (uint32_t i = 0; i <= STEPS; i++) {
        const uint64_t all = min_of((uint64_t)((double)capacity * ((double)i / STEPS)), capacity);
        x->replicated[i] = all;
        /* What is not replicated is spread, so a clique of n devices holds n times as much of
         * it. */
        x->held[i] = all + min_of((capacity - all) * o->devices, o->norder - all);
    }
}

static void sum_accesses(struct ends *x, const struct gnn_placement_opts *o, const float *access)
{
    uint32_t up = 0, down = STEPS + 1; /* the next of replicated[], which ascends; of held[], which
                                        * descends */
    double sum = 0;
    for (uint64_t r = 0; r <= o->norder; r++) {
        while (up <= STEPS && x->replicated[up] == r)
            x->to_replicated[up++] = sum;
        while (down > 0 && x->held[down - 1] == r)
            x->to_held[--down] = sum;
        if (r < o->norder)
            sum += accesses_of(access, o->order[r]);
    }
}

double gnn_placement_share(const struct gnn_placement_opts *o, uint64_t budget, const float *access,
                           const double cost[GNN_TIERS_CUDA], double *total)
{
    struct ends x;
    double all = 0, best = 0, lowest = 0;
    set_ends(&x, o, budget);
    sum_accesses(&x, o, access);
    for (uint64_t v = 0; v < o->nrows; v++)
        all += accesses_of(access, v);
    for (uint32_t i = STEPS + 1; i-- > 0;) {
        /* A sharded row is a device's own in one of n cases, and a peer's in the others. */
        const double sharded = x.to_held[i] - x.to_replicated[i], own = sharded / o->devices;
        const double sum = (x.to_replicated[i] + own) * cost[GNN_TIER_DEVICE] +
                           (sharded - own) * cost[GNN_TIER_PEER] +
                           (all - x.to_held[i]) * cost[GNN_TIER_HOST];
        if (i == STEPS || sum < lowest) {
            lowest = sum;
            best = (double)i / STEPS;
        }
    }
    if (total)
        *total = lowest;
    return best;
}
