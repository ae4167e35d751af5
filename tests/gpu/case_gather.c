/* SPDX-License-Identifier: Apache-2.0 */
/* Gathering rows over tiers, types, widths, addresses and bad ids; planned caches. */
#include <sys/mman.h>

#include "gpu/case.h"
#include "gpu/on_device.h"
#include "kernels/gather.h"
#include "lib/cache/placement.h"
#include "lib/gpu/dev.h"

enum { PARTS = 48 };

/* A store in backing parts, in the host's memory but for every third, a cache of some of its rows
 * in replicated and sharded parts, and what is wanted of it. */
struct task {
    enum gnn_gather_cast cast;
    size_t bytes, data_off, out_off;
    uint32_t nrows, n, more; /* more: capacity beyond n */
    uint32_t backing, replicated, shards, per_shard, blocks;
    bool in_order; /* no slot table: ids are slots */
    bool wide;     /* 64-bit ids */
    uint32_t bad;  /* ids in no part */
    bool uncounted;
};
struct gathered {
    struct task t;
    struct gnn_gather_part whole, backing[PARTS], cached[PARTS];
    uint32_t nbacking, ncached, *slot, *id;
    uint64_t *id64;
    char *out;
    struct gnn_gather_count *count;
};

static struct task one_part(enum gnn_gather_cast cast, size_t bytes)
{
    return (struct task){
        .cast = cast, .bytes = bytes, .nrows = 300, .n = 500, .backing = 1, .blocks = 3};
}
static struct task five_tiers(enum gnn_gather_cast cast, size_t bytes)
{
    struct task t = one_part(cast, bytes);
    t.replicated = 40;
    t.shards = 3;
    t.per_shard = 30;
    t.backing = 5;
    return t;
}
static uint32_t nslots(const struct task *t)
{
    return t->replicated + t->shards * t->per_shard;
}

static size_t row_bytes(const struct task *t)
{
    return gnn_gather_row_bytes(t->cast, t->bytes);
}

static struct gnn_gather_part part_of(const struct task *t, uint32_t first, uint32_t count,
                                      const char *data, uint32_t tier)
{
    return (struct gnn_gather_part){first, count, data + first * row_bytes(t), tier};
}

/* Some number as the scale of a row of int8. */
static void set_scale(char *row, size_t elements)
{
    const float scale = (float)below(2000) / 700 - 1;
    memcpy(row + gnn_int8_scale_at(elements), &scale, sizeof scale);
}

/* Part by part elsewhere, as stores and caches of several devices are. */
static void fill_store(struct gathered *g)
{
    const struct task *t = &g->t;
    const size_t step = row_bytes(t), bytes = t->nrows * step;
    uint32_t *any = host(bytes + sizeof *any);
    char *all = (char *)any;
    for (size_t i = 0; i < bytes / sizeof *any + 1; i++)
        any[i] = draw();
    for (uint32_t i = 0; i < t->nrows && gnn_gather_scaled(t->cast); i++)
        set_scale(all + i * step, t->bytes);
    g->whole = (struct gnn_gather_part){0, t->nrows, all, 0};
    for (uint32_t k = 0, first = 0; k < t->backing; k++) { /* of uneven sizes, some of them empty */
        const uint32_t left_over = t->nrows - first, count = k + 1 == t->backing ? left_over
                                                             : k % 3 == 1        ? 0
                                                                          : below(left_over + 1);
        char *data = bytes_at(count * step, t->data_off);
        memcpy(data, all + first * step, count * step);
        if (k % 3 != 2)
            in_host_memory(data);
        g->backing[g->nbacking++] = (struct gnn_gather_part){first, count, data, GNN_TIER_HOST};
        first += count;
    }
}

static void fill_cache(struct gathered *g)
{
    const struct task *t = &g->t;
    const char *all = g->whole.data;
    const uint32_t slots = nslots(t);
    const size_t step = row_bytes(t);
    char *cache = bytes_at(slots * step, t->data_off);
    uint32_t *row = host(t->nrows * sizeof *row);
    g->slot = array(t->nrows, sizeof *g->slot);
    for (uint32_t v = 0; v < t->nrows; v++)
        row[v] = v;
    for (uint32_t v = t->nrows; v > 1 && !t->in_order; v--) {
        const uint32_t k = below(v), was = row[v - 1];
        row[v - 1] = row[k];
        row[k] = was;
    }
    for (uint32_t s = 0; s < slots; s++) {
        g->slot[row[s]] = s;
        memcpy(cache + s * step, all + row[s] * step, step);
    }
    for (uint32_t v = slots; v < t->nrows; v++) /* any number from there on means not cached */
        g->slot[row[v]] = v % 2 ? UINT32_MAX : slots;
    if (t->replicated)
        g->cached[g->ncached++] = part_of(t, 0, t->replicated, cache, GNN_TIER_DEVICE);
    for (uint32_t d = 0; d < t->shards; d++)
        g->cached[g->ncached++] = part_of(t, t->replicated + d * t->per_shard, t->per_shard, cache,
                                          d == 1 ? GNN_TIER_DEVICE : GNN_TIER_PEER);
}

/* The case of a task, so far. */
static struct gathered gathered(const struct task *t)
{
    struct gathered g = {.t = *t};
    const uint32_t capacity = t->n + t->more;
    fill_store(&g);
    fill_cache(&g);
    g.id64 = array(capacity, sizeof *g.id64);
    g.id = array(capacity, sizeof *g.id);
    for (uint32_t i = 0; i < capacity; i++)
        g.id64[i] = below(t->nrows);
    for (uint32_t b = 0; b < t->bad; b++)
        g.id64[below(t->n)] = b % 2 ? UINT32_MAX : t->nrows + below(3);
    for (uint32_t i = 0; i < capacity; i++)
        g.id[i] = (uint32_t)g.id64[i];
    g.out = bytes_at(capacity * gnn_gather_out_bytes(t->cast, t->bytes), t->out_off);
    g.count = array(1, sizeof *g.count);
    *g.count = (struct gnn_gather_count){.first_missing = UINT64_MAX};
    return g;
}

static const struct gnn_gather_part *parts_at(const struct gnn_gather_part *part, uint32_t n)
{
    struct gnn_gather_part there[PARTS];
    for (uint32_t k = 0; k < n; k++) {
        there[k] = part[k];
        there[k].data = at(part[k].data);
    }
    return up(there, n * sizeof *there);
}

static struct gnn_cuda_gather job_of(const struct gathered *g)
{
    const struct task *t = &g->t;
    return (struct gnn_cuda_gather){.cached = parts_at(g->cached, g->ncached),
                                    .backing = parts_at(g->backing, g->nbacking),
                                    .ncached = g->ncached,
                                    .nbacking = g->nbacking,
                                    .slot = at(t->in_order || !g->ncached ? NULL : g->slot),
                                    .nslots = t->nrows,
                                    .cast = t->cast,
                                    .bytes = t->bytes,
                                    .n = turn || t->more ? up(&t->n, sizeof t->n) : NULL,
                                    .capacity = t->n + t->more,
                                    .id = at(t->wide ? NULL : g->id),
                                    .id64 = at(t->wide ? g->id64 : NULL),
                                    .out = at(g->out),
                                    .count = at(t->uncounted ? NULL : g->count),
                                    .blocks = t->blocks};
}

/* What the device counts, added to what is there. */
static void count_here(const struct gathered *g, struct gnn_gather_count *c)
{
    const struct task *t = &g->t;
    for (uint32_t i = 0; i < t->n; i++) {
        const uint64_t v = g->id64[i], s = v < t->nrows ? g->slot[v] : UINT32_MAX;
        unsigned tier = GNN_TIER_HOST;
        if (v >= t->nrows) {
            c->missing++;
            c->first_missing = c->first_missing < i ? c->first_missing : i;
            continue;
        }
        for (uint32_t k = 0; k < g->ncached; k++)
            if (s - g->cached[k].first < g->cached[k].count)
                tier = g->cached[k].tier;
        c->rows[tier]++;
        c->bytes[tier] += row_bytes(t);
    }
}

/* Zeros for ids that no part has. */
static void rows_here(const struct gathered *g)
{
    const size_t out = gnn_gather_out_bytes(g->t.cast, g->t.bytes);
    for (uint32_t i = 0; i < g->t.n; i++) {
        const uint64_t v = g->id64[i];
        const struct gnn_gather one = {.part = &g->whole,
                                       .nparts = 1,
                                       .cast = g->t.cast,
                                       .bytes = g->t.bytes,
                                       .n = 1,
                                       .id64 = &v,
                                       .out = g->out + i * out};
        if (gnn_gather_rows(&one) != 1)
            memset(g->out + i * out, 0, out);
    }
}

static void gather(const struct task *t)
{
    const struct gathered g = gathered(t);
    while (again()) {
        const struct gnn_cuda_gather job = job_of(&g);
        gnn_cuda_gather_rows(&job, stream);
    }
    rows_here(&g);
    if (!t->uncounted)
        count_here(&g, g.count);
    settle();
}

/* ---- what tasks there are ---- */

static void widths(void)
{
    static const size_t sizes[] = {1,  2,   3,   4,   7,   8,    12,   16,  24,
                                   36, 100, 256, 400, 401, 1204, 2408, 4100};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint32_t blocks = 0; blocks < 3; blocks++) {
            struct task t = five_tiers(GNN_GATHER_AS_IS, sizes[i]);
            t.n = sizes[i] > 1000 ? 150 : 700 * size_scale;
            t.nrows *= sizes[i] > 1000 ? 1 : size_scale;
            t.blocks = blocks;
            t.wide = blocks == 2;
            gather(&t);
        }
    for (size_t bytes = 65535; bytes <= 65536; bytes++) {
        struct task t = five_tiers(GNN_GATHER_AS_IS, bytes);
        t.nrows = 140;
        t.n = 9;
        gather(&t);
    }
    verdict("rows of 1 to 65536 bytes from five tiers");
}

static void casts(void)
{
    static const size_t elements[] = {1, 2, 3, 4, 6, 25, 50, 100, 128, 301, 602, 1024};
    for (unsigned cast = GNN_GATHER_F32_F16; cast <= GNN_GATHER_I8_BF16; cast++) {
        const bool scaled = gnn_gather_scaled((enum gnn_gather_cast)cast);
        const size_t in = scaled ? 1 : 4;
        for (size_t i = 0; i < COUNT(elements); i++)
            for (int odd = 0; odd < 2; odd++) {
                struct task t = five_tiers((enum gnn_gather_cast)cast, elements[i] * in);
                t.n = elements[i] > 200 ? 150 : 600 * size_scale;
                t.nrows *= elements[i] > 200 ? 1 : size_scale;
                t.bad = odd ? 5 : 0;
                t.data_off = odd ? 4 * below(scaled ? 4 : 16) : 0;
                t.out_off = odd ? (in == 4 ? 2 : 4) * below(8) : 0;
                gather(&t);
            }
        verdict("rows of 1 to 1024 elements, cast %u", cast);
    }
}

static void addresses(void)
{
    static const size_t sizes[] = {6, 48, 400}, some[] = {0, 1, 2, 4, 8, 12};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t from = 0; from < COUNT(some); from++)
            for (size_t to = 0; to < COUNT(some); to++) {
                struct task t = five_tiers(GNN_GATHER_AS_IS, sizes[i]);
                t.data_off = some[from];
                t.out_off = some[to];
                t.n = 60;
                t.nrows = 140;
                t.blocks = 1;
                gather(&t);
            }
    verdict("rows from and to many addresses");
}

/* Tiles of both kinds in one launch. */
static void odd_part(void)
{
    struct task t = one_part(GNN_GATHER_AS_IS, 48);
    t.n = 1000;
    t.blocks = 2;
    struct gathered g = gathered(&t);
    const char *odd = memcpy(bytes_at(150 * t.bytes, 3), (const char *)g.whole.data + 150 * t.bytes,
                             150 * t.bytes);
    g.nbacking = 2;
    g.backing[0].count = 150;
    g.backing[1] = (struct gnn_gather_part){150, 150, odd, GNN_TIER_HOST};
    for (uint32_t i = 0; i < 500; i++)
        g.id64[i] = g.id[i] = below(150);
    while (again()) {
        const struct gnn_cuda_gather job = job_of(&g);
        gnn_cuda_gather_rows(&job, stream);
    }
    rows_here(&g);
    count_here(&g, g.count);
    verdict("rows from a part at an odd address beside one at an even address");
}

static void places(void)
{
    static const struct {
        uint32_t backing, replicated, shards, per_shard;
        bool in_order, uncounted;
        const char *name;
    } place[] = {{1, 100, 0, 0, false, false, "a replicated cache alone"},
                 {1, 100, 0, 0, true, false, "a cache in the order of ids, without a table"},
                 {1, 0, 7, 42, false, false, "seven shards"},
                 {1, 6, 7, 42, false, false, "a cache of all rows"},
                 {0, 6, 7, 42, false, false, "a cache of all rows with no store behind it"},
                 {40, 0, 0, 0, false, false, "forty parts without a cache"},
                 {40, 0, 0, 0, false, true, "forty parts, without counters"}};
    for (size_t i = 0; i < COUNT(place); i++) {
        struct task t = one_part(GNN_GATHER_AS_IS, 400);
        t.backing = place[i].backing;
        t.replicated = place[i].replicated;
        t.shards = place[i].shards;
        t.per_shard = place[i].per_shard;
        t.in_order = place[i].in_order;
        t.uncounted = place[i].uncounted;
        gather(&t);
        verdict("rows from %s", place[i].name);
    }
    const struct task t = five_tiers(GNN_GATHER_AS_IS, 0);
    gather(&t);
    verdict("rows of no bytes are counted");
}

static void sizes(void)
{
    static const uint32_t some[] = {0, 1, 2, 31, 32, 33, 79, 80, 81, 511, 512, 513, 3000};
    for (size_t i = 0; i < COUNT(some); i++)
        for (uint32_t blocks = 0; blocks < 5; blocks += blocks ? 3 : 1) {
            struct task t = five_tiers(GNN_GATHER_AS_IS, some[i] % 2 ? 16 : 400);
            t.n = some[i];
            t.more = 7 * blocks;
            t.blocks = blocks;
            gather(&t);
        }
    verdict("0 to 3000 rows below the capacity");

    /* More rows than there is space for. */
    struct task t = one_part(GNN_GATHER_AS_IS, 400);
    struct gathered g = gathered(&t);
    while (again()) {
        const uint64_t before = emu_launched ? emu_launched() : 0;
        const struct gnn_cuda_gather none = {0};
        const uint32_t many = UINT32_MAX;
        struct gnn_cuda_gather job = job_of(&g);
        job.n = up(&many, sizeof many);
        gnn_cuda_gather_rows(&none, stream);
        expect(!emu_launched || emu_launched() == before, "a launch for a capacity of 0");
        gnn_cuda_gather_rows(&job, stream);
    }
    rows_here(&g);
    count_here(&g, g.count);
    verdict("rows stop at the capacity");
}

static void bad_ids(void)
{
    for (uint32_t k = 0; k < 8; k++) {
        struct task t = five_tiers(GNN_GATHER_AS_IS, k / 2 % 2 ? 400 : 37);
        t.bad = (1 + k / 2) * 20;
        t.wide = k / 2 == 2;
        t.in_order = k % 2;
        gather(&t);
    }
    struct task t = five_tiers(GNN_GATHER_AS_IS, 400);
    t.bad = 5000;
    gather(&t);
    verdict("zeros for ids in no part");
}

/* Two launches add up their counts; the second has the lower bad place. */
static void adding_up(void)
{
    struct task t = five_tiers(GNN_GATHER_I8_F32, 100);
    t.bad = 3;
    struct gathered a = gathered(&t), b = gathered(&t);
    a.id64[0] = a.id[0] = 5;
    b.id64[0] = b.id[0] = UINT32_MAX;
    while (again()) {
        struct gnn_cuda_gather job = job_of(&a);
        gnn_cuda_gather_rows(&job, stream);
        job = job_of(&b);
        job.count = at(a.count);
        gnn_cuda_gather_rows(&job, stream);
    }
    rows_here(&a);
    rows_here(&b);
    count_here(&a, a.count);
    count_here(&b, a.count);
    verdict("counters of two launches add up");
}

/* ---- beyond 32 bits ---- */

/* Only the numbers are large: the rows lie where the part says that the last of very many do. */
static void large_ids(void)
{
    const uint64_t many = UINT64_C(5) << 32;
    struct task t = one_part(GNN_GATHER_AS_IS, 20);
    t.wide = true;
    t.nrows = 16;
    t.n = 64;
    struct gathered g = gathered(&t);
    g.backing[1] = g.backing[0];
    g.backing[0].count = g.backing[1].first = many;
    g.nbacking = 2;
    rows_here(&g);
    char *want = memcpy(host(64 * t.bytes), g.out, 64 * t.bytes);
    for (uint32_t i = 0; i < 64; i++)
        g.id64[i] += many;
    while (again()) {
        const struct gnn_cuda_gather job = job_of(&g);
        gnn_cuda_gather_rows(&job, stream);
    }
    memcpy(g.out, want, 64 * t.bytes);
    g.count->rows[GNN_TIER_HOST] = 64;
    g.count->bytes[GNN_TIER_HOST] = 64 * t.bytes;
    verdict("rows by ids beyond 32 bits");
}

/* A table of 6 GB, of which an emulated device has only what is looked at. */
static void large_table(void)
{
    enum { N = 30, STEP = 500001 };
    const size_t wide = 400, rows = 15000000;
    void *table = NULL;
    if (emu_vary)
        table = mmap(NULL, wide * rows, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    else
        must(gnn_dev_alloc(&table, wide * rows, "a large table", &failure));
    if (table == MAP_FAILED) {
        verdict("rows beyond 4 GiB # SKIP no space for 6 GB of addresses");
        return;
    }
    char *row = array(N, wide), *out = array(N, wide);
    uint32_t *id = array(N, sizeof *id);
    for (uint32_t i = 0; i < N; i++) {
        id[i] = i * STEP;
        memset(row + i * wide, (int)i + 1, wide);
    }
    const struct gnn_gather_part all = {0, rows, table, GNN_TIER_DEVICE};
    while (again()) {
        for (uint32_t i = 0; i < N; i++)
            must(gnn_dev_copy((char *)table + id[i] * wide, at(row + i * wide), wide, stream,
                              &failure));
        gnn_cuda_gather_rows(&(struct gnn_cuda_gather){.backing = up(&all, sizeof all),
                                                       .nbacking = 1,
                                                       .bytes = wide,
                                                       .capacity = N,
                                                       .id = at(id),
                                                       .out = at(out),
                                                       .blocks = 2},
                             stream);
    }
    memcpy(out, row, N * wide);
    verdict("rows beyond 4 GiB");
    if (emu_vary)
        munmap(table, wide * rows);
    else
        gnn_dev_free(table);
}

/* ---- a planned cache, filled and read by the kernel ---- */

enum { DEVICES = 4, ELEMENTS = 24, ROW = 28, ROWS = 700, WANTED = 400 };

/* Rows are collected as they are. */
static void fetch(const void *from, const uint32_t *id, uint64_t n, void *to)
{
    const struct gnn_gather_part all = {0, ROWS, at(from), GNN_TIER_HOST};
    gnn_cuda_gather_rows(&(struct gnn_cuda_gather){.backing = up(&all, sizeof all),
                                                   .nbacking = 1,
                                                   .bytes = ROW,
                                                   .capacity = n,
                                                   .id = at(id),
                                                   .out = at(to),
                                                   .blocks = 2},
                         stream);
}

static void planned(uint32_t devices, uint64_t replicated)
{
    char *data = bytes_at(ROWS * ROW, 0), *cache[DEVICES][DEVICES + 1];
    float *out[DEVICES];
    uint32_t *order = host(ROWS * sizeof *order), *id = array(WANTED, sizeof *id);
    struct gnn_gather_count *count[DEVICES];
    struct gnn_placement plan = {0};
    in_host_memory(data);
    for (uint32_t i = 0; i < ROWS * ROW; i++)
        data[i] = (char)draw();
    for (uint32_t i = 0; i < ROWS; i++)
        set_scale(data + (size_t)i * ROW, ELEMENTS);
    for (uint32_t i = 0; i < WANTED; i++)
        id[i] = below(ROWS);
    for (uint32_t r = 0; r < ROWS; r++)
        order[r] = r * 211 % ROWS;
    must(gnn_placement_init(
        &plan,
        &(struct gnn_placement_opts){.devices = devices,
                                     .nrows = ROWS,
                                     .norder = replicated + (90 - replicated) * devices,
                                     .replicated = replicated,
                                     .order = order,
                                     .row_bytes = ROW},
        &failure));
    uint32_t *slot = array(ROWS, sizeof *slot), *row = array(plan.nslots, sizeof *row);
    memcpy(slot, plan.slot, ROWS * sizeof *slot);
    memcpy(row, plan.row, plan.nslots * sizeof *row);
    for (uint32_t d = 0; d < devices; d++) {
        out[d] = floats(WANTED * ELEMENTS);
        count[d] = array(1, sizeof *count[d]);
        *count[d] = (struct gnn_gather_count){.first_missing = UINT64_MAX};
        for (uint32_t k = 0; k <= d + 1; k += d + 1) /* the replicated part, and its own shard */
            cache[d][k] = bytes_at(gnn_placement_rows(&plan, k) * ROW, 0);
    }
    while (again()) {
        const struct gnn_gather_part far = {0, ROWS, at(data), GNN_TIER_HOST};
        for (uint32_t d = 0; d < devices; d++)
            for (uint32_t k = 0; k <= d + 1; k += d + 1)
                fetch(data, row + plan.first[k], gnn_placement_rows(&plan, k), cache[d][k]);
        for (uint32_t d = 0; d < devices; d++) {
            struct gnn_gather_part part[DEVICES + 1];
            for (uint32_t k = 0; k <= devices; k++)
                part[k] = gnn_placement_part(&plan, d, k, at(cache[k ? k - 1 : d][k]));
            gnn_cuda_gather_rows(
                &(struct gnn_cuda_gather){.cached = up(part, (devices + 1) * sizeof *part),
                                          .ncached = devices + 1,
                                          .backing = up(&far, sizeof far),
                                          .nbacking = 1,
                                          .slot = at(slot),
                                          .nslots = ROWS,
                                          .cast = GNN_GATHER_I8_F32,
                                          .bytes = ELEMENTS,
                                          .capacity = WANTED,
                                          .id = at(id),
                                          .out = at(out[d]),
                                          .count = at(count[d]),
                                          .blocks = 2},
                stream);
        }
    }
    const struct gnn_gather_part whole = {0, ROWS, data, 0};
    for (uint32_t d = 0; d < devices; d++) {
        (void)gnn_gather_rows(&(struct gnn_gather){.part = &whole,
                                                   .nparts = 1,
                                                   .cast = GNN_GATHER_I8_F32,
                                                   .bytes = ELEMENTS,
                                                   .n = WANTED,
                                                   .id = id,
                                                   .out = out[d]});
        for (uint32_t i = 0; i < WANTED; i++) {
            const enum gnn_tier tier = gnn_placement_tier(&plan, d, id[i]);
            count[d]->rows[tier]++;
            count[d]->bytes[tier] += ROW;
        }
        for (uint32_t k = 0; k <= d + 1; k += d + 1)
            for (uint64_t i = 0; i < gnn_placement_rows(&plan, k); i++) {
                const uint32_t v = row[plan.first[k] + i];
                memcpy(cache[d][k] + i * ROW, data + (size_t)v * ROW, ROW);
            }
    }
    gnn_placement_release(&plan);
    verdict("planned caches of %u devices, %d rows replicated", devices, (int)replicated);
}

void case_gather(void)
{
    widths();
    casts();
    addresses();
    odd_part();
    places();
    sizes();
    bad_ids();
    adding_up();
    large_ids();
    large_table();
    for (uint32_t devices = 1; devices <= DEVICES; devices *= 2) {
        planned(devices, 0);
        planned(devices, 27);
        planned(devices, 90);
    }
}
