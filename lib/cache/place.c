#include "lib/cache/place.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "lib/base/mem.h"

enum { STEPS = 128 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static double warm(float heat)
{
    return heat > 0 ? heat : 0;
}

/* Rows that every device keeps and rows that are dealt out, for a share of the budget. */
static void extent(const struct gnn_place_opts *o, double share, uint64_t *replicated,
                   uint64_t *sharded)
{
    const uint64_t room = least(o->budget / o->row_bytes, o->norder);
    *replicated = least((uint64_t)((double)room * share), room);
    *sharded = least((room - *replicated) * o->devices, o->norder - *replicated);
}

static double share_of(const struct gnn_place_opts *o)
{
    return o->policy == GNN_PLACE_REPLICATE ? 1 : o->policy == GNN_PLACE_SHARD ? 0 : o->replicate;
}

/* The slot of each row, UINT32_MAX where it has none; rows that are in the order but not cached are
 * marked on the way, to find what is there twice. */
static int assign(struct gnn_place *c, const struct gnn_place_opts *o, struct gnn_err *e)
{
    const uint32_t listed = UINT32_MAX - 1;
    const uint64_t replicated = c->first[1];
    memset(c->slot, 0xff, c->nrows * sizeof *c->slot);
    for (uint64_t r = 0; r < o->norder; r++) {
        const uint32_t v = o->order[r];
        if (v >= c->nrows)
            return gnn_fail(e, GNN_E_INPUT,
                            "order of the cache, position %" PRIu64 ": there is no row %" PRIu32, r,
                            v);
        if (c->slot[v] != UINT32_MAX)
            return gnn_fail(
                e, GNN_E_INPUT,
                "order of the cache, position %" PRIu64 ": row %" PRIu32 " is there twice", r, v);
        if (r >= c->nslots) {
            c->slot[v] = listed;
            continue;
        }
        const uint64_t q = r - replicated;
        const uint64_t s = r < replicated ? r : c->first[1 + q % c->devices] + q / c->devices;
        c->slot[v] = (uint32_t)s;
        c->row[s] = v;
    }
    for (uint64_t r = c->nslots; r < o->norder; r++)
        c->slot[o->order[r]] = UINT32_MAX;
    return 0;
}

int gnn_place_init(struct gnn_place *c, const struct gnn_place_opts *o, struct gnn_err *e)
{
    uint64_t replicated = 0, sharded = 0;
    if (o->policy != GNN_PLACE_HOST)
        extent(o, share_of(o), &replicated, &sharded);
    *c = (struct gnn_place){.devices = o->devices,
                            .nrows = o->nrows,
                            .row_bytes = o->row_bytes,
                            .nslots = replicated + sharded};
    c->first = gnn_alloc((uint64_t)o->devices + 2, sizeof *c->first, "the cache's parts", e);
    c->slot = gnn_alloc(o->nrows, sizeof *c->slot, "the cache's slots", e);
    c->row = gnn_alloc(c->nslots, sizeof *c->row, "the cache's rows", e);
    int rc = c->first && c->slot && c->row ? 0 : e->code;
    if (!rc) {
        c->first[0] = 0;
        c->first[1] = replicated;
        for (uint32_t d = 0; d < o->devices; d++)
            c->first[d + 2] = c->first[d + 1] + sharded / o->devices + (d < sharded % o->devices);
        rc = assign(c, o, e);
    }
    if (rc)
        gnn_place_release(c);
    return rc;
}

/* The part of a holder. */
static uint32_t part_of(uint16_t holder)
{
    return holder == GNN_PLACE_ALL ? 0 : holder + 1u;
}

int gnn_place_given(struct gnn_place *c, const struct gnn_place_opts *o, const uint16_t *holder,
                    struct gnn_err *e)
{
    *c = (struct gnn_place){.devices = o->devices, .nrows = o->nrows, .row_bytes = o->row_bytes};
    for (uint64_t r = 0; r < o->norder; r++)
        c->nslots += holder[r] != GNN_PLACE_NONE;
    c->first = gnn_alloc_zero((uint64_t)o->devices + 2, sizeof *c->first, "the cache's parts", e);
    c->slot = gnn_alloc(o->nrows, sizeof *c->slot, "the cache's slots", e);
    c->row = gnn_alloc(c->nslots, sizeof *c->row, "the cache's rows", e);
    uint64_t *at = gnn_alloc((uint64_t)o->devices + 1, sizeof *at, "the cache's parts", e);
    int rc = c->first && c->slot && c->row && at ? 0 : e->code;
    for (uint64_t r = 0; !rc && r < o->norder; r++)
        if (holder[r] != GNN_PLACE_NONE)
            c->first[part_of(holder[r]) + 1]++;
    for (uint32_t k = 0; !rc && k <= o->devices; k++) {
        c->first[k + 1] += c->first[k];
        at[k] = c->first[k];
    }
    if (!rc)
        memset(c->slot, 0xff, o->nrows * sizeof *c->slot);
    for (uint64_t r = 0; !rc && r < o->norder; r++) {
        if (holder[r] == GNN_PLACE_NONE)
            continue;
        const uint64_t s = at[part_of(holder[r])]++;
        c->slot[o->order[r]] = (uint32_t)s;
        c->row[s] = o->order[r];
    }
    gnn_free(at);
    if (rc)
        gnn_place_release(c);
    return rc;
}

void gnn_place_release(struct gnn_place *c)
{
    gnn_free(c->first);
    gnn_free(c->slot);
    gnn_free(c->row);
    *c = (struct gnn_place){0};
}

struct gnn_gather_part gnn_place_part(const struct gnn_place *c, uint32_t device, uint32_t k,
                                      const void *data, const float *scale)
{
    return (struct gnn_gather_part){.first = c->first[k],
                                    .count = c->first[k + 1] - c->first[k],
                                    .data = data,
                                    .scale = scale,
                                    .tier = k == 0 || k == device + 1 ? GNN_GATHER_LOCAL
                                                                      : GNN_GATHER_PEER};
}

uint64_t gnn_place_bytes(const struct gnn_place *c, uint32_t device)
{
    return (c->first[1] + c->first[device + 2] - c->first[device + 1]) * c->row_bytes;
}

void gnn_place_expect(const struct gnn_place *c, uint32_t device, const float *heat,
                      double hits[GNN_GATHER_TIERS])
{
    const uint64_t shared = c->first[1], from = c->first[device + 1],
                   own = c->first[device + 2] - from;
    memset(hits, 0, GNN_GATHER_TIERS * sizeof *hits);
    for (uint64_t v = 0; v < c->nrows; v++) {
        const uint64_t s = c->slot[v];
        const bool local = s < shared || s - from < own;
        hits[s == UINT32_MAX ? GNN_GATHER_HOST
             : local         ? GNN_GATHER_LOCAL
                             : GNN_GATHER_PEER] += warm(heat[v]);
    }
}

/* ---- how much to replicate ---- */

/* Heat of the first rows of the order, at the ends of what each step replicates and of what it
 * caches at all. Both ends move one way from step to step, so one walk along the order passes all
 * of them in turn. */
struct ends {
    uint64_t replicated[STEPS + 1], cached[STEPS + 1];
    double hot[STEPS + 1], all[STEPS + 1];
};

static void walk(struct ends *x, const struct gnn_place_opts *o, const float *heat)
{
    uint32_t up = 0,
             down = STEPS +
                    1; /* the next of replicated[], which ascends; of cached[], which descends */
    double sum = 0;
    for (uint64_t r = 0; r <= o->norder; r++) {
        while (up <= STEPS && x->replicated[up] == r)
            x->hot[up++] = sum;
        while (down > 0 && x->cached[down - 1] == r)
            x->all[--down] = sum;
        if (r < o->norder)
            sum += warm(heat[o->order[r]]);
    }
}

double gnn_place_split(const struct gnn_place_opts *o, const float *heat,
                       const double cost[GNN_GATHER_TIERS], double *total)
{
    struct ends x;
    double everything = 0, best = 0, lowest = 0;
    for (uint32_t i = 0; i <= STEPS; i++) {
        uint64_t sharded;
        extent(o, (double)i / STEPS, &x.replicated[i], &sharded);
        x.cached[i] = x.replicated[i] + sharded;
    }
    walk(&x, o, heat);
    for (uint64_t v = 0; v < o->nrows; v++)
        everything += warm(heat[v]);
    for (uint32_t i = STEPS + 1; i-- > 0;) {
        const double dealt = x.all[i] - x.hot[i], own = dealt / o->devices;
        const double sum = (x.hot[i] + own) * cost[GNN_GATHER_LOCAL] +
                           (dealt - own) * cost[GNN_GATHER_PEER] +
                           (everything - x.all[i]) * cost[GNN_GATHER_HOST];
        if (i == STEPS || sum < lowest) {
            lowest = sum;
            best = (double)i / STEPS;
        }
    }
    if (total)
        *total = lowest;
    return best;
}
