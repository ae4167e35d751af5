/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/cuda/gather.cu: compared with gnn_gather_rows over tiers, types, widths, addresses and
 * bad ids. */
#include <sys/mman.h>
#include <vector>

#include "emu/emu.h"
#include "kernels/gather.h"
#include "tap.h"
extern "C" {
#include "lib/cache/placement.h"
}

namespace
{

constexpr unsigned char GUARD = 0xc3;
constexpr size_t MARGIN = 64;

uint64_t state = 1;
uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = state;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return (x ^ x >> 29) % below;
}

/* Bytes at a chosen distance from a multiple of 64, with guards on both sides. */
struct Room {
    std::vector<unsigned char> all;
    unsigned char *at;
    size_t size;
    Room(size_t bytes, size_t off) : all(bytes + 3 * MARGIN + off, GUARD), size(bytes)
    {
        at = all.data() + MARGIN;
        at += (64 - (uintptr_t)at % 64) % 64 + off;
    }
    Room(const Room &) = delete;
    Room &operator=(const Room &) = delete;
    void fill()
    {
        for (size_t i = 0; i < size; i++)
            at[i] = (unsigned char)draw(256);
    }
    bool untouched_from(size_t used) const
    {
        bool same = true;
        for (const unsigned char *p = all.data(); p < all.data() + all.size(); p++)
            same = same && ((p >= at && p < at + used) || *p == GUARD);
        return same;
    }
};

struct Case {
    gnn_gather_cast cast = GNN_GATHER_AS_IS;
    size_t bytes = 400, data_off = 0, out_off = 0;
    uint64_t nrows = 300, n = 500, capacity = 500;
    unsigned backing = 1, blocks = 3;
    unsigned replicated = 0, shards = 0, per_shard = 0;
    bool in_order = false; /* no slot table: ids are slots */
    bool wide = false;     /* 64-bit ids */
    unsigned bad = 0;      /* ids in no part */
    bool count_rows = true, on_device = true;
};

/* A store in backing parts, a cache of some of its rows in replicated and sharded ones, and what is
 * to be collected. */
struct World {
    const Case c;
    Room store, cache;
    std::vector<float> scale, cached_scale;
    std::vector<gnn_gather_part> whole, backing, cached;
    std::vector<uint32_t> slot, id;
    std::vector<uint64_t> id64;

    explicit World(const Case &k)
        : c(k), store(k.nrows * k.bytes, k.data_off), cache(slots(k) * k.bytes, k.data_off),
          scale(k.nrows), cached_scale(slots(k)), slot(k.nrows, UINT32_MAX)
    {
        store.fill();
        for (auto &s : scale)
            s = (float)((double)draw(2000001) / 1e6 - 1);
        whole.push_back(part(0, c.nrows, store, scale, GNN_TIER_DEVICE));
        for (uint64_t first = 0, k2 = 0; k2 < c.backing;
             k2++) { /* of uneven sizes, some of them empty */
            const uint64_t left = c.nrows - first, count = k2 + 1 == c.backing ? left
                                                           : k2 % 3 == 1       ? 0
                                                                               : draw(left + 1);
            backing.push_back(part(first, count, store, scale, GNN_TIER_HOST));
            first += count;
        }
        fill_cache();
        draw_ids();
    }

    static uint64_t slots(const Case &k)
    {
        return k.replicated + (uint64_t)k.shards * k.per_shard;
    }
    gnn_gather_part part(uint64_t first, uint64_t count, const Room &room,
                         const std::vector<float> &sc, unsigned tier)
    {
        return {first, count, room.at + first * c.bytes, sc.data() + first, tier};
    }
    void fill_cache()
    {
        const uint64_t n = slots(c);
        std::vector<uint32_t> row(c.nrows);
        for (uint32_t v = 0; v < c.nrows; v++)
            row[v] = v;
        if (!c.in_order)
            for (uint64_t v = c.nrows; v > 1; v--)
                std::swap(row[v - 1], row[draw(v)]);
        for (uint32_t s = 0; s < n; s++) {
            slot[row[s]] = s;
            memcpy(cache.at + s * c.bytes, store.at + row[s] * c.bytes, c.bytes);
            cached_scale[s] = scale[row[s]];
        }
        for (uint64_t v = n; v < c.nrows; v++) /* any number from n on means not cached */
            slot[row[v]] = v % 2 ? UINT32_MAX : (uint32_t)n;
        if (c.replicated)
            cached.push_back(part(0, c.replicated, cache, cached_scale, GNN_TIER_DEVICE));
        for (unsigned d = 0; d < c.shards; d++)
            cached.push_back(part(c.replicated + (uint64_t)d * c.per_shard, c.per_shard, cache,
                                  cached_scale, d == 1 ? GNN_TIER_DEVICE : GNN_TIER_PEER));
    }
    void draw_ids()
    {
        for (uint64_t i = 0; i < c.capacity; i++)
            id64.push_back(draw(c.nrows));
        for (unsigned b = 0; b < c.bad; b++)
            id64[draw(c.n)] = b % 2 ? UINT32_MAX : c.nrows + draw(3);
        for (uint64_t v : id64)
            id.push_back((uint32_t)v);
    }
    gnn_gather_count expected() const
    {
        gnn_gather_count w = {};
        w.first_missing = UINT64_MAX;
        const size_t bytes = c.bytes + (c.cast == GNN_GATHER_I8_F32 ? 4 : 0);
        for (uint64_t i = 0; i < c.n; i++) {
            const uint64_t v = id64[i], s = v < c.nrows ? slot[v] : UINT32_MAX;
            unsigned tier = GNN_TIER_HOST;
            if (v >= c.nrows) {
                if (!w.missing++)
                    w.first_missing = i;
                continue;
            }
            for (const auto &p : cached)
                if (s - p.first < p.count)
                    tier = p.tier;
            w.rows[tier]++;
            w.bytes[tier] += bytes;
        }
        return w;
    }
};

/* Zeros for ids that no part has, and the CPU's rows for the others. */
std::vector<unsigned char> reference(const World &w, size_t out_bytes)
{
    std::vector<unsigned char> out(w.c.n * out_bytes + 1, 0);
    alignas(16) static unsigned char one[1 << 19];
    for (uint64_t i = 0; i < w.c.n; i++) {
        gnn_gather g = {};
        g.part = w.whole.data();
        g.nparts = 1;
        g.cast = w.c.cast;
        g.bytes = w.c.bytes;
        g.n = 1;
        g.id64 = &w.id64[i];
        g.out = one;
        if (gnn_gather_rows(&g) == 1)
            memcpy(out.data() + i * out_bytes, one, out_bytes);
    }
    return out;
}

bool same_count(const gnn_gather_count &a, const gnn_gather_count &b)
{
    return !memcmp(&a, &b, sizeof a);
}

bool run(const Case &c)
{
    const World w(c);
    const size_t out_bytes = gnn_gather_out_bytes(c.cast, c.bytes);
    Room out(c.capacity * out_bytes, c.out_off);
    const uint32_t n = (uint32_t)c.n;
    gnn_gather_count count = {};
    count.first_missing = UINT64_MAX;
    gnn_cuda_gather g = {};
    g.cached = w.cached.data();
    g.ncached = (uint32_t)w.cached.size();
    g.backing = w.backing.data();
    g.nbacking = (uint32_t)w.backing.size();
    g.slot = c.in_order || w.cached.empty() ? nullptr : w.slot.data();
    g.nslots = c.nrows;
    g.cast = c.cast;
    g.bytes = c.bytes;
    g.n = c.on_device ? &n : nullptr;
    g.capacity = c.capacity;
    g.id = c.wide ? nullptr : w.id.data();
    g.id64 = c.wide ? w.id64.data() : nullptr;
    g.out = out.at;
    g.count = c.count_rows ? &count : nullptr;
    g.blocks = c.blocks;
    gnn_cuda_gather_rows(&g, nullptr);
    const std::vector<unsigned char> want = reference(w, out_bytes);
    return !memcmp(out.at, want.data(), c.n * out_bytes) && out.untouched_from(c.n * out_bytes) &&
           (!c.count_rows || same_count(count, w.expected()));
}

Case tiers(gnn_gather_cast cast, size_t bytes)
{
    Case c;
    c.cast = cast;
    c.bytes = bytes;
    c.replicated = 40;
    c.shards = 3;
    c.per_shard = 30;
    c.backing = 5;
    return c;
}

size_t element(gnn_gather_cast cast)
{
    return cast == GNN_GATHER_F32_F16 || cast == GNN_GATHER_F32_BF16   ? 4
           : cast == GNN_GATHER_F16_F32 || cast == GNN_GATHER_BF16_F32 ? 2
                                                                       : 1;
}

void widths()
{
    static const size_t sizes[] = {1,  2,   3,   4,   7,   8,    12,   16,  24,
                                   36, 100, 256, 400, 401, 1204, 2408, 4100};
    unsigned wrong = 0;
    for (size_t z : sizes)
        for (unsigned seed = 1; seed <= 2 + (z == 400); seed++) {
            emu::set_seed(seed);
            Case c = tiers(GNN_GATHER_AS_IS, z);
            c.n = c.capacity = z > 1000 ? 150 : 700;
            c.wide = seed == 2;
            c.on_device = seed != 3;
            c.blocks = seed == 1 && z > 256 ? 0 : seed;
            wrong += !run(c);
        }
    ok(!wrong, "gnn_cuda_gather_rows gathers rows of 1 to 4100 bytes from five tiers (%u wrong)",
       wrong);
    Case c = tiers(GNN_GATHER_AS_IS, 65536);
    c.nrows = 140;
    c.n = c.capacity = 9;
    c.blocks = 2;
    ok(run(c), "gnn_cuda_gather_rows gathers rows of 64 KiB");
    c = tiers(GNN_GATHER_AS_IS, 65535);
    c.nrows = 140;
    c.n = c.capacity = 5;
    ok(run(c), "gnn_cuda_gather_rows gathers rows of 64 KiB but one byte");
}

void casts()
{
    static const gnn_gather_cast all[] = {GNN_GATHER_F32_F16, GNN_GATHER_F32_BF16,
                                          GNN_GATHER_F16_F32, GNN_GATHER_BF16_F32,
                                          GNN_GATHER_I8_F32};
    static const size_t elements[] = {1, 2, 3, 4, 6, 25, 50, 100, 128, 301, 602, 1024};
    for (gnn_gather_cast cast : all) {
        unsigned wrong = 0;
        for (size_t e : elements)
            for (unsigned seed = 1; seed <= 2; seed++) {
                emu::set_seed(seed + 7);
                Case c = tiers(cast, e * element(cast));
                c.n = c.capacity = e > 200 ? 150 : 600;
                c.bad = seed == 2 ? 5 : 0;
                c.data_off = seed == 2 ? element(cast) * draw(16) : 0;
                c.out_off = seed == 2 ? (cast <= GNN_GATHER_F32_BF16 ? 2 : 4) * draw(8) : 0;
                wrong += !run(c);
            }
        ok(!wrong,
           "gnn_cuda_gather_rows gathers rows of 1 to 1024 elements with cast %d (%u wrong)",
           (int)cast, wrong);
    }
}

void addresses()
{
    static const size_t sizes[] = {6, 48, 400}, some[] = {0, 1, 2, 4, 8, 12, 15};
    unsigned wrong = 0;
    for (size_t z : sizes)
        for (size_t from : some)
            for (size_t to : some) {
                Case c = tiers(GNN_GATHER_AS_IS, z);
                c.data_off = from;
                c.out_off = to;
                c.n = c.capacity = 60;
                c.nrows = 140;
                c.blocks = 1;
                wrong += !run(c);
            }
    ok(!wrong, "gnn_cuda_gather_rows gathers from and to many addresses (%u wrong)", wrong);

    /* One part at an odd place, the others not: tiles of both kinds in one launch. */
    const size_t z = 48;
    Room even(64 * z, 0), odd(64 * z, 3), out(1000 * z, 0);
    even.fill();
    odd.fill();
    const gnn_gather_part part[2] = {{0, 64, even.at, nullptr, GNN_TIER_DEVICE},
                                     {64, 64, odd.at, nullptr, GNN_TIER_HOST}};
    std::vector<uint32_t> id(1000);
    for (uint32_t i = 0; i < 1000; i++)
        id[i] = (uint32_t)(i < 500 ? draw(64) : draw(128));
    gnn_cuda_gather g = {};
    g.backing = part;
    g.nbacking = 2;
    g.bytes = z;
    g.capacity = 1000;
    g.id = id.data();
    g.out = out.at;
    g.blocks = 2;
    gnn_cuda_gather_rows(&g, nullptr);
    wrong = 0;
    for (uint32_t i = 0; i < 1000; i++)
        wrong += memcmp(out.at + i * z,
                        id[i] < 64 ? even.at + id[i] * z : odd.at + (id[i] - 64) * z, z) != 0;
    ok(!wrong && out.untouched_from(1000 * z),
       "gnn_cuda_gather_rows gathers from a part at an odd address beside one at an even address");
}

void places()
{
    Case c;
    c.replicated = 100;
    ok(run(c), "gnn_cuda_gather_rows gathers from a replicated cache alone");
    c.in_order = true;
    ok(run(c), "gnn_cuda_gather_rows gathers from a cache in the order of ids, without a table");
    c = Case();
    c.shards = 7;
    c.per_shard = 42;
    ok(run(c), "gnn_cuda_gather_rows gathers from seven shards");
    c.replicated = 6;
    ok(run(c), "gnn_cuda_gather_rows gathers from a cache of all rows");
    c.backing = 0;
    ok(run(c), "gnn_cuda_gather_rows gathers from a cache of all rows with no store behind it");
    c = Case();
    c.backing = 40;
    ok(run(c), "gnn_cuda_gather_rows gathers from forty parts without a cache");
    c.count_rows = false;
    ok(run(c), "gnn_cuda_gather_rows gathers without counters");
    c = tiers(GNN_GATHER_AS_IS, 0);
    ok(run(c), "gnn_cuda_gather_rows counts rows of no bytes");
}

void numbers()
{
    unsigned wrong = 0;
    static const uint64_t some[] = {0, 1, 2, 31, 32, 33, 79, 80, 81, 511, 512, 513, 3000};
    for (uint64_t n : some)
        for (unsigned blocks : {0u, 1u, 4u}) {
            Case c = tiers(GNN_GATHER_AS_IS, n % 2 ? 16 : 400);
            c.n = n;
            c.capacity = n + blocks * 7;
            c.blocks = blocks;
            wrong += !run(c);
        }
    ok(!wrong, "gnn_cuda_gather_rows gathers 0 to 3000 rows below the capacity (%u wrong)", wrong);
    gnn_cuda_gather g = {};
    const uint64_t before = emu::launches();
    gnn_cuda_gather_rows(&g, nullptr);
    ok(emu::launches() == before, "gnn_cuda_gather_rows launches nothing for a capacity of 0");

    /* More rows than there is room for: the room is kept. */
    Case c;
    const World w(c);
    Room out(100 * c.bytes, 0);
    const uint32_t many = UINT32_MAX;
    g.backing = w.whole.data();
    g.nbacking = 1;
    g.bytes = c.bytes;
    g.n = &many;
    g.capacity = 100;
    g.id = w.id.data();
    g.out = out.at;
    gnn_cuda_gather_rows(&g, nullptr);
    ok(out.untouched_from(100 * c.bytes) &&
           !memcmp(out.at + 99 * c.bytes, w.store.at + w.id[99] * c.bytes, c.bytes),
       "gnn_cuda_gather_rows stops at the capacity when the count is beyond it");
}

void bad_ids()
{
    unsigned wrong = 0;
    for (unsigned seed = 1; seed <= 4; seed++) {
        emu::set_seed(seed);
        Case c = tiers(GNN_GATHER_AS_IS, seed % 2 ? 400 : 37);
        c.bad = seed * 20;
        c.wide = seed == 3;
        wrong += !run(c);
        c.in_order = true;
        wrong += !run(c);
    }
    ok(!wrong, "gnn_cuda_gather_rows gives zeros for ids in no part and reports them (%u wrong)",
       wrong);
    Case c = tiers(GNN_GATHER_AS_IS, 400);
    c.bad = 5000;
    ok(run(c), "gnn_cuda_gather_rows gives zeros where nearly all ids are bad");
}

/* Two launches add up; the second has the lower bad place. */
void adding_up()
{
    Case c = tiers(GNN_GATHER_I8_F32, 100);
    c.bad = 3;
    const World a(c), b(c);
    gnn_gather_count count = {}, x = a.expected(), y = b.expected();
    count.first_missing = UINT64_MAX;
    Room out(c.n * c.bytes * 4, 0);
    for (const World *w : {&a, &b}) {
        gnn_cuda_gather g = {};
        g.cached = w->cached.data();
        g.ncached = (uint32_t)w->cached.size();
        g.backing = w->backing.data();
        g.nbacking = (uint32_t)w->backing.size();
        g.slot = w->slot.data();
        g.nslots = c.nrows;
        g.cast = c.cast;
        g.bytes = c.bytes;
        g.capacity = c.n;
        g.id = w->id.data();
        g.out = out.at;
        g.count = &count;
        gnn_cuda_gather_rows(&g, nullptr);
    }
    for (int k = 0; k < GNN_TIERS_CUDA; k++) {
        x.rows[k] += y.rows[k];
        x.bytes[k] += y.bytes[k];
    }
    x.missing += y.missing;
    x.first_missing = std::min(x.first_missing, y.first_missing);
    ok(same_count(count, x) && count.missing,
       "gnn_cuda_gather_rows adds up its counters over launches");
}

/* Rows and edges of which the store has more than 32 bits can number. Only addresses are large: the
 * rows lie where the part says that the last ones of very many do. */
void large_numbers()
{
    const size_t z = 20;
    const uint64_t many = (uint64_t)5 << 32;
    Room few(16 * z, 4), out(64 * z, 0);
    few.fill();
    const gnn_gather_part part[2] = {{0, many, few.at, nullptr, GNN_TIER_HOST},
                                     {many, 16, few.at, nullptr, GNN_TIER_HOST}};
    std::vector<uint64_t> id(64);
    for (auto &v : id)
        v = many + draw(16);
    gnn_cuda_gather g = {};
    g.backing = part;
    g.nbacking = 2;
    g.bytes = z;
    g.capacity = 64;
    g.id64 = id.data();
    g.out = out.at;
    gnn_cuda_gather_rows(&g, nullptr);
    unsigned wrong = 0;
    for (int i = 0; i < 64; i++)
        wrong += memcmp(out.at + (size_t)i * z, few.at + (id[(size_t)i] - many) * z, z) != 0;
    ok(!wrong, "gnn_cuda_gather_rows gathers by ids beyond 32 bits");

    /* A table of 6 GB, of which only what is looked at is there. */
    const size_t wide = 400, rows = 15000000;
    char *const table = (char *)mmap(nullptr, wide * rows, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) {
        ok(true,
           "gnn_cuda_gather_rows gathers rows beyond 4 GiB # SKIP no room for 6 GB of addresses");
        return;
    }
    const gnn_gather_part all = {0, rows, table, nullptr, GNN_TIER_HOST};
    std::vector<uint32_t> far(30);
    std::vector<char> got(30 * wide);
    for (size_t i = 0; i < far.size(); i++) {
        far[i] = (uint32_t)(i * 500001);
        memset(table + far[i] * wide, (int)i + 1, wide);
    }
    g.backing = &all;
    g.nbacking = 1;
    g.bytes = wide;
    g.capacity = far.size();
    g.id = far.data();
    g.out = got.data();
    gnn_cuda_gather_rows(&g, nullptr);
    wrong = 0;
    for (size_t i = 0; i < far.size(); i++)
        wrong += memcmp(&got[i * wide], table + far[i] * wide, wide) != 0 ||
                 got[i * wide] != (char)(i + 1);
    munmap(table, wide * rows);
    ok(!wrong, "gnn_cuda_gather_rows gathers rows beyond 4 GiB");
}

/* ---- a planned cache, filled and read by the kernel ---- */

struct Clique {
    gnn_placement plan;
    std::vector<std::vector<int8_t>>
        data; /* [device * (1 + devices) + part], of the parts that the device holds */
    std::vector<std::vector<float>> scale;
};

gnn_cuda_gather from_host(const gnn_gather_part *host, const uint32_t *id, uint64_t n, void *out)
{
    gnn_cuda_gather g = {};
    g.backing = host;
    g.nbacking = 1;
    g.bytes = host->scale ? 24 : 4;
    g.capacity = n;
    g.id = id;
    g.out = out;
    g.blocks = 2;
    return g;
}

/* Rows and scales are copied as they are, each as rows of a table of their own. */
void fill(Clique *q, const gnn_gather_part &host)
{
    const gnn_gather_part scales = {0, host.count, host.scale, nullptr, GNN_TIER_HOST};
    const uint32_t parts = q->plan.devices + 1;
    q->data.resize((size_t)parts * q->plan.devices);
    q->scale.resize(q->data.size());
    for (uint32_t d = 0; d < q->plan.devices; d++)
        for (uint32_t k : {0u, d + 1}) {
            const uint64_t first = q->plan.first[k], n = q->plan.first[k + 1] - first;
            auto &rows = q->data[d * parts + k];
            auto &sc = q->scale[d * parts + k];
            rows.resize(n * 24 + 1);
            sc.resize(n + 1);
            gnn_cuda_gather g = from_host(&host, q->plan.row + first, n, rows.data());
            gnn_cuda_gather_rows(&g, nullptr);
            g = from_host(&scales, q->plan.row + first, n, sc.data());
            gnn_cuda_gather_rows(&g, nullptr);
        }
}

bool read_back(const Clique &q, uint32_t device, const gnn_gather_part &host,
               const std::vector<uint32_t> &id)
{
    const uint32_t parts = q.plan.devices + 1;
    std::vector<gnn_gather_part> cached;
    for (uint32_t k = 0; k < parts; k++) {
        const size_t at = (k ? k - 1 : device) * parts + k;
        cached.push_back(gnn_placement_part(&q.plan, device, k, q.data[at].data()));
        cached.back().scale = q.scale[at].data();
    }
    std::vector<float> out(id.size() * 24), want(id.size() * 24);
    gnn_gather_count count = {};
    gnn_cuda_gather g = from_host(&host, id.data(), id.size(), out.data());
    g.cached = cached.data();
    g.ncached = parts;
    g.slot = q.plan.slot;
    g.nslots = q.plan.nrows;
    g.cast = GNN_GATHER_I8_F32;
    g.count = &count;
    gnn_cuda_gather_rows(&g, nullptr);
    gnn_gather c = {};
    c.part = &host;
    c.nparts = 1;
    c.cast = GNN_GATHER_I8_F32;
    c.bytes = 24;
    c.n = id.size();
    c.id = id.data();
    c.out = want.data();
    bool same = gnn_gather_rows(&c) == id.size() &&
                !memcmp(out.data(), want.data(), out.size() * sizeof out[0]);
    uint64_t hits[GNN_TIERS_CUDA] = {};
    for (uint32_t v : id)
        hits[gnn_placement_tier(&q.plan, device, v)]++;
    same = same && !memcmp(count.rows, hits, sizeof hits);
    return same && !count.missing;
}

void planned()
{
    const uint64_t nrows = 700;
    std::vector<int8_t> data(nrows * 24);
    std::vector<float> scale(nrows);
    std::vector<uint32_t> order(nrows), id(400);
    for (auto &x : data)
        x = (int8_t)draw(256);
    for (auto &x : scale)
        x = (float)draw(1000) / 512 - 1;
    for (auto &v : id)
        v = (uint32_t)draw(nrows);
    const gnn_gather_part host = {0, nrows, data.data(), scale.data(), GNN_TIER_HOST};
    for (uint32_t r = 0; r < nrows; r++)
        order[r] = r * 211 % (uint32_t)nrows;
    gnn_err e = {};
    unsigned wrong = 0;
    for (uint64_t replicated : {0u, 27u, 90u})
        for (uint32_t devices : {1u, 2u, 4u}) {
            gnn_placement_opts o = {};
            o.devices = devices;
            o.nrows = nrows;
            o.norder = replicated + (90 - replicated) * devices;
            o.replicated = replicated;
            o.order = order.data();
            o.row_bytes = 28;
            Clique q;
            if (gnn_placement_init(&q.plan, &o, &e)) {
                wrong++;
                continue;
            }
            fill(&q, host);
            for (uint32_t d = 0; d < devices; d++)
                wrong += !read_back(q, d, host, id);
            gnn_placement_release(&q.plan);
        }
    ok(!wrong, "gnn_cuda_gather_rows hits the planned caches of 1, 2 and 4 devices (%u wrong)",
       wrong);
}

/* Rows of 4 KB are a tile each, of a block each: the grid is then as large as it may be. */
void grids()
{
    const uint64_t n = 700;
    std::vector<unsigned char> row(4096), out(n * row.size());
    std::vector<uint32_t> id(n);
    const gnn_gather_part one = {0, 1, row.data(), nullptr, GNN_TIER_DEVICE};
    gnn_cuda_gather g = from_host(&one, id.data(), n, out.data());
    g.bytes = row.size();
    unsigned wrong = 0;
    for (uint32_t blocks : {0u, 7u})
        for (uint32_t per_sm : {0u, 1u, 2u, 5u}) {
            g.blocks = blocks;
            g.blocks_per_sm = per_sm;
            gnn_cuda_gather_rows(&g, nullptr);
            wrong += emu::grid_dim.x != (blocks ? blocks : 132 * (per_sm ? per_sm : 5));
        }
    ok(!wrong, "gnn_cuda_gather_rows takes as many blocks as it may (%u wrong)", wrong);
}

} // namespace

int main()
{
    widths();
    casts();
    addresses();
    places();
    numbers();
    bad_ids();
    adding_up();
    large_numbers();
    planned();
    grids();
    return tap_done();
}
