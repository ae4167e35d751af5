/* SPDX-License-Identifier: Apache-2.0 */
/* How many edges have their reverse (lib/data/direction.h), exactly for graphs of moderate size and
 * from a sample beyond. Each edge becomes a 64-bit hash of its unordered pair, with the direction
 * in the lowest bit; hashes are grouped by buckets that fit the caches, and what does not fit in
 * memory is taken in several passes or, last, left out by halves of the hash range. */
#include "lib/data/direction.h"

#include <math.h>
#include <string.h>

#include "lib/base/mem.h"

/* Edges of a step; hashes that a bucket has on average, whose table should fit the caches; buckets,
 * at most. */
enum { BLOCK = 4096, BUCKET = 512, BUCKETS_MAX = 4096 };

/* What is known of a pair: edges up, from the smaller id to the larger, and down. */
struct slot {
    uint64_t pair; /* the hash without its lowest bit, plus 1; 0: the slot is free */
    uint64_t n[2];
};

/* The part's range of hashes; its bounds are even, as both directions of a pair differ in the
 * lowest bit only. */
static void start_part(struct gnn_direction_counter *c)
{
    const uint64_t width = c->parts > 1 ? UINT64_MAX / c->parts & ~(uint64_t)1
                                        : 0; /* both directions of a pair are in one part */
    c->n = c->merged = 0;
    c->first = c->part * width;
    c->last = c->part + 1 < c->parts ? c->first + width - 1 : UINT64_MAX;
}

void gnn_direction_init(struct gnn_direction_counter *c, bool same, bool swap, uint64_t nodes,
                        uint64_t most, uint32_t parts)
{
    *c = (struct gnn_direction_counter){.same = same, .swap = swap, .nodes = nodes, .parts = parts};
    c->most = most < 4 * BLOCK ? 4 * BLOCK : most;
    c->few = true;
    start_part(c);
}

void gnn_direction_release(struct gnn_direction_counter *c)
{
    gnn_free(c->x);
    gnn_free(c->times);
    gnn_free(c->looped);
    *c = (struct gnn_direction_counter){0};
}

/* ---- grouping ---- */

/* Buckets of hashes whose highest bits, among those in which they differ, are the same. */
struct buckets {
    uint64_t *x, *times; /* sorted by bucket */
    uint64_t *end;       /* [n + 1] */
    uint64_t n, most;    /* most: hashes in the largest */
    int shift;
};

static int sort_into(struct buckets *b, const struct gnn_direction_counter *c, struct gnn_err *e)
{
    const uint64_t differ = c->first ^ c->last;
    int bits = differ ? 64 - __builtin_clzll(differ) : 1, digit = 0;
    while (digit < bits && 1u << digit < BUCKETS_MAX && c->n >> digit > BUCKET)
        digit++;
    *b = (struct buckets){.n = 1u << digit, .shift = bits - digit};
    b->end = gnn_alloc_zero(b->n + 1, sizeof *b->end, "counts of edges", e);
    b->x = gnn_alloc(c->n, sizeof *b->x, "counts of edges", e);
    b->times = c->merged ? gnn_alloc(c->n, sizeof *b->times, "counts of edges", e) : NULL;
    if (!b->end || !b->x || (c->merged && !b->times))
        return GNN_E_NOMEM;
    const uint64_t mask = b->n - 1;
    uint64_t *at =
        b->end + 1; /* at[i] starts as the beginning of bucket i, and ends as that of the next */
    for (uint64_t i = 0; i < c->n && mask; i++)
        b->end[(c->x[i] >> b->shift & mask) + 1]++;
    if (!mask)
        b->end[1] = c->n;
    for (uint64_t i = 0, sum = 0; i < b->n; i++) {
        const uint64_t k = at[i];
        b->most = k > b->most ? k : b->most;
        at[i] = sum;
        sum += k;
    }
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t to = at[mask ? c->x[i] >> b->shift & mask : 0]++;
        b->x[to] = c->x[i];
        if (b->times)
            b->times[to] = i < c->merged ? c->times[i] : 1;
    }
    return GNN_OK;
}

/* Counts the edges of each pair of a bucket. The table has 2^log slots, at least twice as many,
 * free before and after. Returns the number of pairs, whose slots used[] lists. The table's place
 * keys its hash, so that no input can choose its collisions. */
static uint64_t group_bucket(const struct gnn_direction_counter *c, const struct buckets *b,
                             uint64_t bucket, struct slot *table, int log, uint64_t *used)
{
    const uint64_t key = (uintptr_t)table | 0x9e3779b900000001u, mask = ((uint64_t)1 << log) - 1;
    const uint64_t down = c->same;
    uint64_t n = 0;
    for (uint64_t i = b->end[bucket]; i < b->end[bucket + 1]; i++) {
        const uint64_t pair = (b->x[i] & ~down) + 1;
        uint64_t at = pair * key >> 20 & mask;
        while (table[at].pair && table[at].pair != pair)
            at = (at + 1) & mask;
        used[n] = at;
        n += !table[at].pair;
        table[at].pair = pair;
        table[at].n[b->x[i] & down] += b->times ? b->times[i] : 1;
    }
    return n;
}

static void tally_pair(struct gnn_direction_counter *c, const struct slot *s)
{
    const bool two = s->n[0] && s->n[1];
    c->looked += s->n[0] + s->n[1];
    c->pairs++;
    c->two_way += two;
    c->two_way_edges += two ? s->n[0] + s->n[1] : 0;
}

static void keep_pair(struct gnn_direction_counter *c, const struct slot *s)
{
    for (unsigned down = 0; down < 2; down++)
        if (s->n[down]) {
            c->x[c->n] = (s->pair - 1) | down;
            c->times[c->n++] = s->n[down];
        }
}

/* Calls `each` once for each pair; it may put something smaller into the counter, as the hashes
 * have been copied into buckets. */
static int group_pairs(struct gnn_direction_counter *c,
                       void (*each)(struct gnn_direction_counter *c, const struct slot *s),
                       struct gnn_err *e)
{
    struct buckets b;
    struct slot *table = NULL;
    uint64_t *used = NULL;
    int log = 4, rc = sort_into(&b, c, e);
    while ((uint64_t)1 << log < 2 * b.most)
        log++;
    if (!rc &&
        (!(table = gnn_alloc_zero((uint64_t)1 << log, sizeof *table, "counts of edges", e)) ||
         !(used = gnn_alloc(b.most + 1, sizeof *used, "counts of edges", e))))
        rc = GNN_E_NOMEM;
    c->n = c->merged = 0;
    for (uint64_t i = 0; !rc && i < b.n; i++) {
        const uint64_t n = group_bucket(c, &b, i, table, log, used);
        for (uint64_t k = 0; k < n; k++) {
            each(c, &table[used[k]]);
            table[used[k]] = (struct slot){0};
        }
    }
    gnn_free(table);
    gnn_free(used);
    gnn_free(b.x);
    gnn_free(b.times);
    gnn_free(b.end);
    return rc;
}

/* ---- counting ---- */

/* Leaves half the pairs out: those whose hashes are in the upper half of the range. */
static void halve_sample(struct gnn_direction_counter *c)
{
    uint64_t n = 0, merged = 0;
    c->last = c->first + ((c->last - c->first) >> 1 | 1);
    for (uint64_t i = 0; i < c->n; i++) {
        const bool in = c->x[i] - c->first <= c->last - c->first;
        c->x[n] = c->x[i];
        if (i < c->merged) {
            c->times[n] = c->times[i];
            merged += in;
        }
        n += in;
    }
    c->n = n;
    c->merged = merged;
}

/* Makes one entry of equal edges, with their number. */
static int merge_equal(struct gnn_direction_counter *c, struct gnn_err *e)
{
    if (!c->times && !(c->times = gnn_alloc(c->room, sizeof *c->times, "counts of edges", e)))
        return GNN_E_NOMEM;
    int rc = group_pairs(c, keep_pair, e);
    c->merged = c->n;
    return rc;
}

/* Makes room for a block of edges. At the limit, equal edges are merged first, as long as that
 * frees a quarter; then half the pairs are left out. */
static int make_room(struct gnn_direction_counter *c, struct gnn_err *e)
{
    if (c->n + BLOCK <= c->room)
        return GNN_OK;
    if (c->room < c->most) {
        uint64_t room = 2 * c->room > c->n + BLOCK ? 2 * c->room : c->n + BLOCK;
        room = room < c->most ? room : c->most;
        uint64_t *x = gnn_alloc(room, sizeof *x, "counts of edges", e);
        if (!x)
            return GNN_E_NOMEM;
        if (c->n)
            memcpy(x, c->x, c->n * sizeof *x);
        gnn_free(c->x);
        c->x = x;
        c->room = room;
        return GNN_OK;
    }
    int rc = c->few ? merge_equal(c, e) : GNN_OK;
    c->few = c->few && c->n <= c->room / 4 * 3;
    while (c->n > c->room / 4 * 3)
        halve_sample(c);
    return rc;
}

static int add_loop(struct gnn_direction_counter *c, uint32_t v, struct gnn_err *e)
{
    if (!c->looped &&
        !(c->looped = gnn_alloc_zero(c->nodes / 64 + 1, sizeof *c->looped, "self-loops", e)))
        return GNN_E_NOMEM;
    const uint64_t bit = (uint64_t)1 << (v & 63);
    c->loops++;
    c->loops_again += (c->looped[v >> 6] & bit) != 0;
    c->looped[v >> 6] |= bit;
    return GNN_OK;
}

/* An invertible mixing of bits: different pairs have different hashes, so nothing is counted by
 * accident. */
static uint64_t mix_pair(uint64_t pair, uint64_t keep)
{
    uint64_t x = pair * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 32 & keep)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 29 & keep);
}

/* A block of edges of one type: pairs (lo, hi) are numbered hi * (hi - 1) / 2 + lo + 1, which takes
 * 63 bits and is not 0. Returns how many loops there are. */
static uint64_t add_same(struct gnn_direction_counter *c, const uint32_t *src, const uint32_t *dst,
                         uint64_t n)
{
    const uint64_t first = c->first, span = c->last - c->first;
    uint64_t balance = 0, at = c->n, loops = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t s = src[i], d = dst[i], down = s > d, lo = down ? d : s, hi = down ? s : d,
                       loop = s == d;
        const uint64_t x = mix_pair(hi * (hi - 1) + 2 * lo + 2, ~(uint64_t)1);
        /* Hashes of the two directions cancel out if each edge has its reverse. All edges are
         * summed, also when the rest is counted from a sample. */
        balance += loop ? 0 : down ? -x : x;
        c->x[at] = x | down;
        at += !loop & (x - first <= span);
        loops += loop;
    }
    c->n = at;
    c->balance += c->part ? 0 : balance;
    return loops;
}

static void add_pairs(struct gnn_direction_counter *c, const uint32_t *a, const uint32_t *b,
                      uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x = mix_pair(~((uint64_t)a[i] << 32 | b[i]), ~(uint64_t)0);
        c->balance += c->part ? 0 : x;
        c->x[c->n] = x;
        c->n += x - c->first <= c->last - c->first;
    }
}

int gnn_direction_add(struct gnn_direction_counter *c, const uint32_t *src, const uint32_t *dst,
                      uint64_t n, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t from = 0; !rc && from < n; from += BLOCK) {
        const uint64_t k = n - from < BLOCK ? n - from : BLOCK;
        if ((rc = make_room(c, e)))
            return rc;
        c->edges += c->part ? 0 : k;
        if (!c->same)
            c->swap ? add_pairs(c, dst + from, src + from, k)
                    : add_pairs(c, src + from, dst + from, k);
        else if (add_same(c, src + from, dst + from, k) && !c->part)
            for (uint64_t i = from; !rc && i < from + k; i++)
                rc = src[i] == dst[i] ? add_loop(c, src[i], e) : GNN_OK;
    }
    return rc;
}

int gnn_direction_next(struct gnn_direction_counter *c, bool *more, struct gnn_err *e)
{
    int rc = group_pairs(c, tally_pair, e);
    *more = ++c->part < c->parts;
    if (*more)
        start_part(c);
    return rc;
}

void gnn_direction_sum(const struct gnn_direction_counter *c, bool both, bool drop, bool dedup,
                       struct gnn_direction *d)
{
    const uint64_t all = c->edges - c->loops, directed = c->pairs + c->two_way,
                   loops = c->loops - (dedup ? c->loops_again : 0);
    /* What was looked at stands for all edges but loops, which are always counted. */
    const double scale = c->looked < all && c->looked ? (double)all / (double)c->looked : 1;
    uint64_t edges = dedup ? directed : c->looked,
             reversed = dedup ? 2 * c->two_way : c->two_way_edges;
    uint64_t parallel = dedup ? 0 : c->looked - directed;
    if (both) {
        edges = reversed = 2 * (dedup ? c->pairs : c->looked);
        parallel = dedup ? 0 : edges - 2 * c->pairs;
    }
    const bool symmetric = c->same && (both || !c->balance || (scale == 1 && reversed == edges));
    *d = (struct gnn_direction){.looked = edges, .loops = drop ? 0 : loops, .symmetric = symmetric};
    d->edges = d->loops + (uint64_t)((double)edges * scale + 0.5);
    if (!dedup) /* no estimate */
        d->edges = d->loops + all * (both ? 2 : 1);
    d->reversed = symmetric ? d->edges - d->loops : (uint64_t)((double)reversed * scale + 0.5);
    d->parallel = (uint64_t)((double)parallel * scale + 0.5) + (drop || dedup ? 0 : c->loops_again);
}

double gnn_direction_share(const struct gnn_direction *d)
{
    return d->edges == d->loops ? NAN : (double)d->reversed / (double)(d->edges - d->loops);
}
