/* SPDX-License-Identifier: Apache-2.0 */
/* How many edges have their reverse (lib/data/direction.h), exactly for graphs of moderate size and
 * from a sample beyond. Each edge becomes a 64-bit hash of its unordered pair, with the direction
 * in the lowest bit. Hashes wait until the memory is full; then the edges of each pair are counted,
 * group by group, in a table that the caches hold. Pairs that do not fit in memory are taken in
 * several passes or, last, left out by halves of the hash range. */
#include "lib/data/direction.h"

#include <math.h>

/* Edges of a step; hashes that one growth of the table has space for; and pairs of a group, at
 * most, unless their hashes are very uneven. */
enum { BLOCK = 4096, STEP = 256, GROUP = 1024 };

/* A pair that has edges: its hash without the lowest bit, and how many lead up, from the smaller id
 * to the larger, and down; more than 2^32-1 count as so many. */
struct pair {
    uint64_t x;
    uint32_t n[2];
};

/* The part's range of hashes; its bounds are even, as both directions of a pair differ in the
 * lowest bit only. */
static void start_part(struct gnn_direction_counter *c)
{
    const uint64_t width = c->parts > 1 ? UINT64_MAX / c->parts & ~(uint64_t)1
                                        : 0; /* both directions of a pair are in one part */
    c->npairs = c->nwaiting = 0;
    c->sampled = false;
    c->first = c->part * width;
    c->last = c->part + 1 < c->parts ? c->first + width - 1 : UINT64_MAX;
}

void gnn_direction_init(struct gnn_direction_counter *c, bool same, bool swap, uint64_t nodes,
                        uint64_t most, uint32_t parts)
{
    *c = (struct gnn_direction_counter){.same = same, .swap = swap, .nodes = nodes, .parts = parts};
    c->most = most < 4 * BLOCK ? 4 * BLOCK : most;
    while (c->most >> c->group_bits > GROUP)
        c->group_bits++;
    start_part(c);
}

void gnn_direction_release(struct gnn_direction_counter *c)
{
    gnn_buf_release(&c->pairs_at);
    gnn_buf_release(&c->waiting);
    gnn_hash_release(&c->table);
    gnn_free(c->looped);
    *c = (struct gnn_direction_counter){0};
}

/* ---- counting ---- */

/* The group of a pair, in the highest bits, and its place in the table of the group. An address
 * keys it, so that no input can choose its collisions. */
static uint32_t place_of(uint64_t x)
{
    static const char key;
    return (uint32_t)(x * ((uintptr_t)&key | 0x9e3779b900000001u) >> 32);
}

static uint32_t group_of(const struct gnn_direction_counter *c, uint64_t x)
{
    return (uint32_t)((uint64_t)place_of(x & ~(uint64_t)c->same) >> (32 - c->group_bits));
}

static bool is_pair(const void *arg, uint32_t i)
{
    const struct pair *const *want = arg;
    return want[0][i].x == want[1]->x;
}

/* The pair of that hash in a group, which is new if it has no edges. The table has space for it. */
static struct pair *find_pair(struct gnn_direction_counter *c, struct pair *group, uint64_t x)
{
    const struct pair *const want[] = {group, &(struct pair){.x = x}};
    const uint32_t place = place_of(x) << c->group_bits;
    uint64_t *slot = gnn_hash_find(&c->table, place, is_pair, want);
    if (!*slot) {
        group[c->table.n] = (struct pair){.x = x};
        gnn_hash_put(&c->table, slot, place, (uint32_t)c->table.n);
    }
    return &group[gnn_hash_number(slot)];
}

/* Adds n pairs of a group that were counted before, or, without these, the edges of n hashes. */
static int count_group(struct gnn_direction_counter *c, struct pair *group, const struct pair *old,
                       const uint64_t *x, uint64_t n, struct gnn_err *e)
{
    const uint64_t down = c->same;
    int rc = GNN_OK;
    for (uint64_t i = 0; !rc && i < n; i++) {
        if (i % STEP == 0 && (rc = gnn_hash_fit(&c->table, c->table.n + STEP, e)))
            return rc;
        if (old) {
            *find_pair(c, group, old[i].x) = old[i];
        } else {
            uint32_t *edges = &find_pair(c, group, x[i] & ~down)->n[x[i] & down];
            *edges += *edges < UINT32_MAX;
        }
    }
    return rc;
}

/* Puts the hashes that wait into the order of their groups; group g ends at end[g]. */
static void sort_waiting(const struct gnn_direction_counter *c, uint64_t *to, uint64_t *end)
{
    const uint64_t *x = c->waiting.data;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < c->nwaiting; i++)
        end[group_of(c, x[i])]++;
    for (uint64_t g = 0; g < (uint64_t)1 << c->group_bits; g++) {
        const uint64_t k = end[g];
        end[g] = sum;
        sum += k;
    }
    for (uint64_t i = 0; i < c->nwaiting; i++)
        to[end[group_of(c, x[i])]++] = x[i];
}

/* Adds the edges of the hashes that wait to the pairs; both are in the order of their groups. */
static int merge_waiting(struct gnn_direction_counter *c, const uint64_t *x, const uint64_t *end,
                         struct pair *to, struct gnn_err *e)
{
    const struct pair *old = c->pairs_at.data, *last = old, *all = old ? old + c->npairs : NULL;
    uint64_t n = 0;
    int rc = GNN_OK;
    for (uint32_t g = 0; !rc && g < (uint32_t)1 << c->group_bits; g++) {
        const uint64_t from = g ? end[g - 1] : 0;
        while (last < all && group_of(c, last->x) == g)
            last++;
        gnn_hash_clear(&c->table);
        rc = count_group(c, to + n, old, NULL, (uint64_t)(last - old), e);
        if (!rc)
            rc = count_group(c, to + n, NULL, x + from, end[g] - from, e);
        n += c->table.n;
        old = last;
    }
    c->npairs = n;
    c->nwaiting = 0;
    return rc;
}

static int count_waiting(struct gnn_direction_counter *c, struct gnn_err *e)
{
    if (!c->nwaiting)
        return GNN_OK;
    static const char what[] = "counts of edges";
    struct gnn_buf to = {0};
    uint64_t *x = gnn_alloc(c->nwaiting, sizeof *x, what, e),
             *end = gnn_alloc_zero((uint64_t)1 << c->group_bits, sizeof *end, what, e);
    int rc = x && end
                 ? gnn_buf_fit_exactly(&to, c->npairs + c->nwaiting, sizeof(struct pair), what, e)
                 : GNN_E_NOMEM;
    if (!rc) {
        sort_waiting(c, x, end);
        rc = merge_waiting(c, x, end, to.data, e);
        gnn_buf_release(&c->pairs_at);
        c->pairs_at = to;
    }
    gnn_free(x);
    gnn_free(end);
    return rc;
}

/* Leaves half the pairs out: those whose hashes are in the upper half of the range. */
static void halve_sample(struct gnn_direction_counter *c)
{
    struct pair *pair = c->pairs_at.data;
    uint64_t *x = c->waiting.data, npairs = 0, nwaiting = 0;
    c->last = c->first + ((c->last - c->first) >> 1 | 1);
    c->sampled = true;
    for (uint64_t i = 0; i < c->npairs; i++) {
        pair[npairs] = pair[i];
        npairs += pair[i].x - c->first <= c->last - c->first;
    }
    for (uint64_t i = 0; i < c->nwaiting; i++) {
        x[nwaiting] = x[i];
        nwaiting += x[i] - c->first <= c->last - c->first;
    }
    c->npairs = npairs;
    c->nwaiting = nwaiting;
}

/* Makes space for n edges of a block. At the limit, hashes are counted as long as that may keep all
 * pairs, or if most of them wait; then half the pairs are left out. */
static int make_space(struct gnn_direction_counter *c, uint64_t n, struct gnn_err *e)
{
    const uint64_t spare = c->most / 16 > BLOCK ? c->most / 16 : BLOCK, limit = c->most - spare;
    int rc = GNN_OK;
    if (c->npairs + c->nwaiting + n > c->most) {
        if (c->nwaiting > (c->sampled ? c->most / 2 : spare))
            rc = count_waiting(c, e);
        while (!rc && c->npairs + c->nwaiting > limit) {
            halve_sample(c);
            if (c->npairs + c->nwaiting > limit)
                rc = count_waiting(c, e);
        }
    }
    return rc ? rc
              : gnn_buf_reserve(&c->waiting, c->nwaiting + n, sizeof(uint64_t), "hashes of edges",
                                e);
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
 * 63 bits and is not 0. Puts the hashes that are looked at into out, and returns how many these
 * are.
 */
static uint64_t hash_same(struct gnn_direction_counter *c, const uint32_t *src, const uint32_t *dst,
                          uint64_t n, uint64_t *out, uint64_t *loops)
{
    const uint64_t first = c->first, span = c->last - c->first;
    uint64_t balance = 0, at = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t s = src[i], d = dst[i], down = s > d, lo = down ? d : s, hi = down ? s : d,
                       loop = s == d;
        const uint64_t x = mix_pair(hi * (hi - 1) + 2 * lo + 2, ~(uint64_t)1);
        /* Hashes of the two directions cancel out if each edge has its reverse. All edges are
         * summed, also when the rest is counted from a sample. */
        balance += loop ? 0 : down ? -x : x;
        out[at] = x | down;
        at += !loop & (x - first <= span);
        *loops += loop;
    }
    c->balance += c->part ? 0 : balance;
    return at;
}

static uint64_t hash_two(struct gnn_direction_counter *c, const uint32_t *a, const uint32_t *b,
                         uint64_t n, uint64_t *out)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t x = mix_pair(~((uint64_t)a[i] << 32 | b[i]), ~(uint64_t)0);
        c->balance += c->part ? 0 : x;
        out[at] = x;
        at += x - c->first <= c->last - c->first;
    }
    return at;
}

int gnn_direction_add(struct gnn_direction_counter *c, const uint32_t *src, const uint32_t *dst,
                      uint64_t n, struct gnn_err *e)
{
    int rc = GNN_OK;
    for (uint64_t from = 0; !rc && from < n; from += BLOCK) {
        const uint64_t k = n - from < BLOCK ? n - from : BLOCK;
        const uint32_t *a = (c->swap ? dst : src) + from, *b = (c->swap ? src : dst) + from;
        uint64_t loops = 0;
        if ((rc = make_space(c, k, e)))
            return rc;
        uint64_t *x = (uint64_t *)c->waiting.data + c->nwaiting;
        c->edges += c->part ? 0 : k;
        c->nwaiting += c->same ? hash_same(c, a, b, k, x, &loops) : hash_two(c, a, b, k, x);
        for (uint64_t i = 0; !rc && loops && !c->part && i < k; i++)
            rc = a[i] == b[i] ? add_loop(c, a[i], e) : GNN_OK;
    }
    return rc;
}

int gnn_direction_next(struct gnn_direction_counter *c, bool *more, struct gnn_err *e)
{
    int rc = count_waiting(c, e);
    const struct pair *p = c->pairs_at.data;
    for (uint64_t i = 0; i < c->npairs; i++, p++) {
        const bool two = p->n[0] && p->n[1];
        const uint64_t edges = (uint64_t)p->n[0] + p->n[1];
        c->looked += edges;
        c->two_way += two;
        c->two_way_edges += two ? edges : 0;
    }
    c->pairs += c->npairs;
    c->part++;
    start_part(c);
    *more = !rc && c->part < c->parts;
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
