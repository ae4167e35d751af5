/* SPDX-License-Identifier: Apache-2.0 */
/* Local numbers of entries in the order of their first occurrence (kernels/sample.h). The map has a
 * word for each node of a type: the batch's tag in the high bits, the number in the low ones. A new
 * batch takes the next tag, so the map, which may be large, is cleared only when tags run out; so
 * does the hash table that takes its place where a node can be several entries. */
#include <string.h>

#include "kernels/cpu/number.h"
#include "kernels/sample.h"

static uint32_t bits_for(uint64_t n)
{
    /* At least 10 bits for numbers, so that few batches make the map change. */
    uint32_t b = 10;
    while (((uint64_t)1 << b) < n)
        b++;
    return b;
}

void gnn_relabel_begin(struct gnn_relabel *r)
{
    r->count = 0;
    if (r->slot) {
        if (++r->gen > UINT16_MAX) {
            memset(r->slot, 0, r->slots * sizeof *r->slot);
            r->gen = 1;
        }
        return;
    }
    if (r->bits == 0)
        r->bits = bits_for(0);
    if (++r->gen >> (32 - r->bits)) {
        memset(r->map, 0, r->nnodes * sizeof *r->map);
        r->gen = 1;
    }
}

uint64_t gnn_relabel_slots(uint64_t n)
{
    uint64_t slots = 64;
    while (slots < n + n / 2)
        slots *= 2;
    return slots;
}

void gnn_relabel_table(struct gnn_relabel *r, uint64_t *slot, uint64_t slots, uint32_t trees)
{
    r->slot = slot;
    r->slots = slots;
    r->shift = 64 - (uint32_t)__builtin_ctzll(slots);
    for (r->window = 4; r->window < 64 - r->shift && UINT64_C(1) << r->window < 2 * slots / trees;)
        r->window++;
    r->gen = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        const uint64_t hash = gnn_slot_hash(r, gnn_entry_hash_more(&r->list, i), r->list.node[i]);
        uint64_t at = gnn_slot_next(r, hash, 0, 0);
        for (uint32_t t = 1; slot[at]; t++)
            at = gnn_slot_next(r, hash, at, t);
        slot[at] = gnn_slot_tag(r, hash) | i;
    }
}

bool gnn_relabel_fit(struct gnn_relabel *r, uint64_t extra)
{
    uint64_t want = r->count + extra;
    if (r->slot)
        return want >= extra && want <= INT32_MAX && gnn_relabel_slots(want) <= r->slots;
    if (want < extra || want > r->nnodes)
        want = r->nnodes;
    if (want <= (uint64_t)1 << r->bits)
        return true;
    uint32_t bits = bits_for(want);
    if (bits > 31)
        return false;
    if (bits < 31)
        bits++; /* headroom: a change costs a pass over the map */
    const bool clean = r->gen == 1 && r->count == 0; /* nothing written since the map was zero */
    r->bits = bits;
    /* With another split of the bits old words mean nothing; the nodes of this batch are entered
     * again. */
    r->gen = 1;
    if (!clean)
        memset(r->map, 0, r->nnodes * sizeof *r->map);
    for (uint32_t i = 0; i < r->count; i++)
        r->map[r->list.node[i]] = (uint32_t)1 << bits | i;
    return true;
}

static uint64_t add_entries(struct gnn_relabel *r, const struct gnn_entries *e, uint64_t n)
{
    uint64_t i = 0;
    for (; i < n && e->node[i] < r->nnodes; i++)
        (void)gnn_number_entry(r, gnn_slot_hash(r, gnn_entry_hash_more(e, i), e->node[i]),
                               e->node[i], e, i);
    return i;
}

uint64_t gnn_relabel_add(struct gnn_relabel *r, struct gnn_entries e, uint64_t n)
{
    const uint32_t *ids = e.node;
    if (r->slot)
        return add_entries(r, &e, n);
    const uint32_t mask = ((uint32_t)1 << r->bits) - 1, tag = r->gen << r->bits;
    uint32_t count = r->count;
    uint64_t i = 0;
    for (; i < n && ids[i] < r->nnodes; i++) {
        if (i + 16 < n && ids[i + 16] < r->nnodes)
            __builtin_prefetch(&r->map[ids[i + 16]], 1);
        if ((r->map[ids[i]] & ~mask) == tag)
            continue;
        r->map[ids[i]] = tag | count;
        r->list.node[count++] = ids[i];
    }
    r->count = count;
    return i;
}

/* Of sources that have times of their own. */
static uint64_t number_timed(struct gnn_relabel *r, const struct gnn_entries *dst, int64_t *times,
                             uint32_t rows, const uint32_t *indptr, uint32_t *indices)
{
    enum { AHEAD = 16 };
    const uint32_t n = indptr[rows];
    uint64_t hash[AHEAD];
    uint32_t row[2] = {0};
    for (uint32_t i = 0; i < n + AHEAD; i++) {
        /* Numbered is what was hashed AHEAD sources ago: its slot has arrived. */
        if (i >= AHEAD) {
            const uint32_t j = i - AHEAD;
            while (indptr[row[1] + 1] <= j)
                row[1]++;
            const struct gnn_entries x = {.time = times + j,
                                          .tree = dst->tree ? dst->tree + row[1] : NULL};
            if (indices[j] >= r->nnodes)
                return j;
            indices[j] = gnn_number_entry(r, hash[j % AHEAD], indices[j], &x, 0);
        }
        if (i < n) {
            while (indptr[row[0] + 1] <= i)
                row[0]++;
            const struct gnn_entries x = {.time = times + i,
                                          .tree = dst->tree ? dst->tree + row[0] : NULL};
            hash[i % AHEAD] = gnn_slot_hash(r, gnn_entry_hash_more(&x, 0), indices[i]);
            __builtin_prefetch(gnn_slot_first(r, hash[i % AHEAD]), 1, 3);
        }
    }
    return n;
}

/* By a map. A node's line is fetched AHEAD nodes before it is needed. */
static uint64_t number_mapped(struct gnn_relabel *r, uint32_t n, uint32_t *indices)
{
    enum { AHEAD = 64 };
    struct gnn_numbering x = gnn_numbering_of(r);
    uint32_t good = 0, i = 0;
    for (; i < n; i++) {
        while (good < n && good < i + AHEAD && indices[good] < r->nnodes)
            __builtin_prefetch(&x.map[indices[good++]], 1, 3);
        if (i == good)
            break;
        indices[i] = gnn_number_node(&x, indices[i]);
    }
    r->count = x.count;
    return i;
}

uint64_t gnn_relabel_number(struct gnn_relabel *r, struct gnn_entries dst, const int64_t *times,
                            uint32_t rows, const uint32_t *indptr, uint32_t *indices)
{
    enum { STEP = 64 };
    const uint32_t n = indptr[rows];
    uint32_t row = 0;
    if (!r->slot)
        return number_mapped(r, n, indices);
    if (times) /* entries are columns that can be written to; these are not */
        return number_timed(r, &dst, (int64_t *)(uintptr_t)times, rows, indptr, indices);
    uint64_t hash[STEP];
    for (uint64_t i = 0; i < n; i += STEP) {
        /* In steps, so that the lines asked for in the first loop are still in the cache in the
         * second. */
        const uint32_t m = n - i < STEP ? (uint32_t)(n - i) : STEP;
        uint32_t *id = indices + i;
        for (uint32_t k = 0; k < m; k++)
            if (id[k] >= r->nnodes)
                return i + k;
        gnn_hash_sources(r, &dst, indptr, row, (uint32_t)i, id, m, hash);
        row = gnn_number_sources(r, &dst, indptr, row, (uint32_t)i, id, m, hash, id);
    }
    return n;
}

/* ---- edges among numbered entries ---- */

/* Few sources are numbered, and the map or table is large: a bit tells most of the others. There
 * are 16 bits for each entry, so that one in 16 of the others has to be looked up in vain; those of
 * a tree are near each other, as in the table. */
struct filter {
    const uint64_t *word; /* or NULL */
    uint32_t shift, window;
    uint64_t mask;
};

uint64_t gnn_relabel_filter_words(const struct gnn_relabel *r)
{
    uint64_t bits = 1 << 12;
    while (bits < 16 * (uint64_t)r->count)
        bits *= 2;
    return bits / 64;
}

static struct filter filter_of(const struct gnn_relabel *r, const uint64_t *word)
{
    const uint64_t bits = 64 * gnn_relabel_filter_words(r);
    struct filter f = {word, 64 - (uint32_t)__builtin_ctzll(bits), 0, bits - 1};
    f.window = 64 - f.shift;
    if (r->slot && r->window < 64 - r->shift) {
        const uint32_t less = 64 - r->shift - r->window; /* the share of a tree, in powers of 2 */
        f.window = f.window > less + 9 ? f.window - less : 9;
    }
    return f;
}

static inline uint64_t filter_bit(const struct filter *f, uint64_t more, uint32_t node)
{
    const uint64_t hash = node * UINT64_C(0x9E3779B97F4A7C15);
    return ((more >> f->shift) + (hash >> (64 - f->window))) & f->mask;
}

static inline bool may_be_numbered(const struct filter *f, uint64_t more, uint32_t node)
{
    const uint64_t at = f->word ? filter_bit(f, more, node) : 0;
    return !f->word || (f->word[at / 64] >> at % 64 & 1);
}

void gnn_relabel_filter(const struct gnn_relabel *r, uint64_t *word)
{
    const struct filter f = filter_of(r, word);
    memset(word, 0, gnn_relabel_filter_words(r) * sizeof *word);
    for (uint32_t i = 0; i < r->count; i++) {
        const uint64_t at = filter_bit(&f, gnn_entry_hash_more(&r->list, i), r->list.node[i]);
        word[at / 64] |= UINT64_C(1) << at % 64;
    }
}

/* In a map each source is looked up, which no branch depends on; in steps, so that the lines that
 * are asked for first are there. Returns the first bad index, or where the row ends. */
static uint32_t keep_mapped(const struct gnn_relabel *r, uint32_t j, uint32_t end,
                            uint32_t *indices, uint64_t *ids, uint32_t *kept)
{
    enum { STEP = 64 };
    const uint32_t *__restrict map = r->map;
    const uint32_t mask = ((uint32_t)1 << r->bits) - 1, tag = r->gen << r->bits;
    for (uint32_t to; j < end; j = to) {
        uint32_t k = *kept;
        to = end - j < STEP ? end : j + STEP;
        for (uint32_t i = j; i < to; i++) {
            if (indices[i] >= r->nnodes)
                return i;
            __builtin_prefetch(&map[indices[i]], 0, 3);
        }
        for (uint32_t i = j; i < to; i++) {
            const uint32_t word = map[indices[i]];
            indices[k] = word & mask;
            if (ids)
                ids[k] = ids[i];
            k += (word & ~mask) == tag;
        }
        *kept = k;
    }
    return end;
}

static uint32_t keep_hashed(const struct gnn_relabel *r, const struct filter *f,
                            const struct gnn_entries *dst, uint32_t row, uint32_t j, uint32_t end,
                            uint32_t *indices, uint64_t *ids, uint32_t *kept)
{
    const uint64_t more = gnn_entry_hash_more(dst, row);
    for (; j < end && indices[j] < r->nnodes; j++) {
        const uint32_t node = indices[j];
        if (!may_be_numbered(f, more, node))
            continue;
        const uint32_t number = gnn_number_find(r, gnn_slot_hash(r, more, node), node, dst, row);
        if (number == UINT32_MAX)
            continue;
        indices[*kept] = number;
        if (ids)
            ids[*kept] = ids[j];
        ++*kept;
    }
    return j;
}

uint64_t gnn_relabel_keep(const struct gnn_relabel *r, const uint64_t *filter,
                          struct gnn_entries dst, uint32_t rows, uint32_t *indptr,
                          uint32_t *indices, uint64_t *ids)
{
    const struct filter f = r->slot ? filter_of(r, filter) : (struct filter){0};
    uint32_t kept = 0, j = 0;
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t end = indptr[row + 1];
        indptr[row] = kept;
        j = r->slot ? keep_hashed(r, &f, &dst, row, j, end, indices, ids, &kept)
                    : keep_mapped(r, j, end, indices, ids, &kept);
        if (j < end)
            return j;
    }
    indptr[rows] = kept;
    return j;
}
