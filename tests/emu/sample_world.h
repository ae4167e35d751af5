/* SPDX-License-Identifier: Apache-2.0 */
/* Whole batches drawn twice from random typed graphs: by the CPU's functions and by the CUDA
 * kernels, in memory with guards round every array. */
#ifndef GNN_TESTS_EMU_SAMPLE_WORLD_H
#define GNN_TESTS_EMU_SAMPLE_WORLD_H

#include "emu/sample_graph.h"
#include "kernels/rng.h"

/* Columns of entries beside the node: of seed i, tree i, and one of three times. */
enum : unsigned { TREES = 1, TIMES = 2 };

struct Plan {
    std::vector<std::vector<int32_t>> fanout; /* [hop][relation] */
    bool replace, only_new, ids, weighted = false, labor = false;
    unsigned columns = 0;
    bool induced = false; /* the last hop, whose fan-outs are all or none, finds no nodes */
    bool induces(size_t hop) const
    {
        return induced && hop + 1 == fanout.size();
    }
    bool new_rows(size_t hop) const
    {
        return only_new && hop && !induces(hop);
    }
    gnn_pick_rule rule(size_t hop, size_t relation) const
    {
        return {labor     ? GNN_PICK_LABOR
                : replace ? GNN_PICK_REPLACE
                          : GNN_PICK_UNIFORM,
                fanout[hop][relation], weighted};
    }
};

template <template <typename> class Array> struct Columns {
    Array<uint32_t> tree;
    Array<int64_t> time;
    gnn_entries entries(uint32_t *node)
    {
        return {node, time.size() ? time.data() : nullptr, tree.size() ? tree.data() : nullptr};
    }
};
template <typename T> using Vector = std::vector<T>;

static inline Columns<Vector> seed_columns(const Plan &p, size_t n)
{
    Columns<Vector> c;
    for (size_t i = 0; i <= n && p.columns & TREES; i++)
        c.tree.push_back((uint32_t)i);
    for (size_t i = 0; i <= n && p.columns & TIMES; i++)
        c.time.push_back((int64_t)(i * i % 3) - 1);
    return c;
}

struct Drawn {
    struct Block {
        std::vector<uint32_t> indptr, indices;
        std::vector<uint64_t> ids;
        uint32_t sampled = 0; /* edges, of which the hop that induces keeps some */
    };
    std::vector<std::vector<uint32_t>> nodes;  /* [type] */
    std::vector<Columns<Vector>> more;         /* [type] */
    std::vector<std::vector<uint32_t>> counts; /* [hop][type] */
    std::vector<Block> block;                  /* [hop * relations + relation] */
    uint32_t code = 0, bad_block = 0;
    gnn_sample_place at = {};

    void resize(const Plan &p, size_t t, size_t n)
    {
        nodes[t].resize(n);
        more[t].tree.resize(p.columns & TREES ? n : 0);
        more[t].time.resize(p.columns & TIMES ? n : 0);
    }
    gnn_entries entries(size_t t, size_t first = 0)
    {
        return gnn_entries_from(more[t].entries(nodes[t].data()), first);
    }
};

static inline void world_key(uint32_t step, uint32_t hop, uint32_t et, uint32_t key[2])
{
    gnn_rng_key(77, 3, step, hop, gnn_rng_tag(GNN_RNG_NEIGHBOUR, 1, et), key);
}

/* The CPU's numbering of all types, kept from batch to batch. */
struct CpuState {
    std::vector<gnn_relabel> r;
    std::vector<std::vector<uint32_t>> map;
    std::vector<std::vector<uint64_t>> slot;
    /* Room for so many more of type t; the table of entries with columns is as small as may be. */
    void fit(const Plan &p, size_t t, uint64_t extra)
    {
        const uint64_t slots = gnn_relabel_slots(r[t].count + extra);
        if (p.columns && slots > r[t].slots) {
            std::vector<uint64_t> fresh(slots);
            gnn_relabel_table(&r[t], fresh.data(), slots, 7);
            slot[t].swap(fresh);
        }
        gnn_relabel_fit(&r[t], extra);
    }
    explicit CpuState(const World &w) : r(w.ntype.size()), map(w.ntype.size()), slot(w.ntype.size())
    {
        for (size_t t = 0; t < r.size(); t++) {
            map[t].assign(w.ntype[t] + 1, 0);
            r[t] = gnn_relabel{};
            r[t].map = map[t].data();
            r[t].nnodes = w.ntype[t];
        }
    }
};

static inline bool draw_cpu_block(const World &w, const Plan &p, CpuState &s, uint32_t step,
                                  uint32_t hop, uint32_t et, Drawn &d)
{
    const Relation &rel = *w.relation[et];
    const uint32_t first = p.new_rows(hop) ? d.counts[hop - 1][rel.dst] : 0,
                   n = d.counts[hop][rel.dst] - first;
    Drawn::Block &b = d.block[hop * w.relation.size() + et];
    std::vector<gnn_sample_row> row(n + 1);
    std::vector<gnn_sample_span> span(n + 1);
    b.indptr.assign(n + 1, 0);
    d.bad_block = (uint32_t)(hop * w.relation.size() + et);
    const gnn_pick_rule rule = p.rule(hop, et);
    std::vector<uint64_t> scratch(gnn_sample_scratch(rule) / 8 + 8);
    uint32_t key[2];
    world_key(step, hop, et, key);
    gnn_sample_job job = {};
    job.graph = rel.graph;
    job.dst = d.entries(rel.dst, first);
    job.n = n;
    job.rule = rule;
    job.key = key;
    job.row = row.data();
    job.span = p.weighted ? span.data() : nullptr;
    job.indptr = b.indptr.data();
    job.scratch = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) &
                                           ~(uintptr_t)63);
    d.code = gnn_sample_count(&job, &d.at);
    if (d.code)
        return false;
    gnn_relabel &r = s.r[rel.src];
    b.indices.resize(b.indptr[n]);
    b.ids.resize(p.ids ? b.indptr[n] : 0);
    d.resize(p, rel.src, r.count + b.indptr[n] + 1);
    r.list = d.entries(rel.src);
    s.fit(p, rel.src, b.indptr[n]);
    job.dst = d.entries(rel.dst, first); /* it may have moved */
    uint64_t *ids = p.ids ? b.ids.data() : nullptr;
    d.code = gnn_sample_pick(&job, p.induces(hop) ? nullptr : &r, b.indices.data(), ids, &d.at);
    b.sampled = b.indptr[n];
    if (d.code || !p.induces(hop))
        return d.code == 0;
    gnn_relabel_keep(&r, NULL, job.dst, n, b.indptr.data(), b.indices.data(), ids);
    b.indices.resize(b.indptr[n]);
    b.ids.resize(p.ids ? b.indptr[n] : 0);
    return true;
}

static inline Drawn draw_cpu(const World &w, const Plan &p, CpuState &s, uint32_t step,
                             const std::vector<uint32_t> &seeds)
{
    Drawn d;
    const size_t types = w.ntype.size();
    d.nodes.resize(types);
    d.more.resize(types);
    d.counts.assign(p.fanout.size() + 1, std::vector<uint32_t>(types, 0));
    d.block.resize(p.fanout.size() * w.relation.size());
    for (size_t t = 0; t < types; t++) {
        d.resize(p, t, 1); /* columns that are there are not NULL */
        s.r[t].count = 0;
        s.fit(p, t, 1);
        gnn_relabel_begin(&s.r[t]);
    }
    d.resize(p, 0, seeds.size() + 1);
    s.r[0].list = d.entries(0);
    s.fit(p, 0, seeds.size());
    std::vector<uint32_t> list = seeds;
    Columns<Vector> more = seed_columns(p, seeds.size());
    const uint64_t got = gnn_relabel_add(&s.r[0], more.entries(list.data()), seeds.size());
    if (got < seeds.size()) {
        d.code = GNN_SAMPLE_SEED;
        d.at.node = seeds[got];
        d.at.edge = got;
        return d;
    }
    d.counts[0][0] = s.r[0].count;
    for (uint32_t hop = 0; hop < p.fanout.size(); hop++) {
        for (uint32_t et = 0; et < w.relation.size(); et++)
            if (!draw_cpu_block(w, p, s, step, hop, et, d))
                return d;
        for (size_t t = 0; t < types; t++)
            d.counts[hop + 1][t] = s.r[t].count;
    }
    d.bad_block = 0;
    for (size_t t = 0; t < types; t++)
        d.resize(p, t, s.r[t].count);
    return d;
}

/* Room for what the kernels write. */
struct Room {
    std::vector<uint32_t> nodes;       /* [type] */
    std::vector<uint32_t> rows, edges; /* [block] */
    uint32_t seeds;
    uint32_t bits;                   /* 0: as few as will do */
    std::vector<uint32_t> kept = {}; /* [block] of the edges */
};

/* Exactly enough for a batch. */
static inline Room room_for(const World &w, const Plan &p, const Drawn &d, size_t seeds)
{
    Room r;
    for (const auto &n : d.nodes)
        r.nodes.push_back((uint32_t)n.size());
    for (size_t i = 0; i < d.block.size(); i++) {
        r.rows.push_back((uint32_t)(d.block[i].indptr.empty() ? 1 : d.block[i].indptr.size() - 1));
        r.edges.push_back(d.block[i].sampled);
        r.kept.push_back((uint32_t)d.block[i].indices.size());
    }
    (void)w;
    (void)p;
    r.seeds = (uint32_t)seeds;
    r.bits = 0;
    return r;
}
static inline void room_grow(Room &a, const Room &b)
{
    for (size_t i = 0; i < a.nodes.size(); i++)
        a.nodes[i] = std::max(a.nodes[i], b.nodes[i]);
    for (size_t i = 0; i < a.rows.size(); i++) {
        a.rows[i] = std::max(a.rows[i], b.rows[i]);
        a.edges[i] = std::max(a.edges[i], b.edges[i]);
        a.kept[i] = std::max(a.kept[i], b.kept[i]);
    }
    a.seeds = std::max(a.seeds, b.seeds);
}

/* All that lives on the device, kept from batch to batch. */
class CudaState
{
    const World &w;
    const Plan &p;
    Room room;
    std::vector<gnn_cuda_relabel> r;
    std::vector<Guarded<uint32_t>> map, key, nodes;
    std::vector<Columns<Guarded>> more;
    Columns<Guarded> seed_more;
    Guarded<uint32_t> tag, counts, keys, seeds, nseeds, edges;
    struct Arrays {
        Guarded<uint32_t> indptr, source, indices;
        Columns<Guarded> more;
        Guarded<uint64_t> ids, all_ids;
        Guarded<char> scratch;
    };
    std::vector<Arrays> block;
    Guarded<char> seed_scratch;
    Guarded<gnn_cuda_sample_status> status;

    /* The device's view of a relation: every third row of most parts lies a second time somewhere
     * resident, and where that hurts no other row, its first place holds rubbish. */
    struct Near {
        std::vector<std::vector<uint32_t>> at, row, indices;
        std::vector<gnn_sample_part> view;
    };
    std::vector<Near> resident;

    static void bring(const Relation &rel, Near &n)
    {
        n.view = rel.view;
        n.at.resize(n.view.size());
        n.row.resize(n.view.size());
        n.indices.resize(n.view.size());
        for (size_t p = 0; p < n.view.size(); p++) {
            if (p % 4 == 3)
                continue;
            const Part &a = rel.part[p];
            gnn_sample_part &v = n.view[p];
            const bool sound = std::is_sorted(a.indptr.begin(), a.indptr.end()) &&
                               a.indptr.back() <= a.indices.size();
            n.indices[p] = a.indices;
            for (uint64_t i = 0; i < v.count; i++) {
                const uint64_t b = a.indptr[i], e = a.indptr[i + 1];
                n.at[p].push_back(UINT32_MAX);
                if (i % 3 || b > e || e > a.indices.size())
                    continue;
                n.at[p].back() = (uint32_t)(n.row[p].size() / GNN_SAMPLE_RESIDENT);
                n.row[p].insert(n.row[p].end(), a.indices.begin() + (long)b,
                                a.indices.begin() + (long)e);
                n.row[p].resize((n.row[p].size() + GNN_SAMPLE_RESIDENT - 1) / GNN_SAMPLE_RESIDENT *
                                    GNN_SAMPLE_RESIDENT,
                                0xabababab);
                if (sound)
                    std::fill(n.indices[p].begin() + (long)b, n.indices[p].begin() + (long)e,
                              0xcdcdcdcd);
            }
            v.indices = n.indices[p].data();
            v.resident_at = n.at[p].data();
            v.resident = n.row[p].data();
        }
    }

    void reset(Columns<Guarded> &c, size_t n)
    {
        c.tree.reset(p.columns & TREES ? n + 1 : 0); /* not NULL */
        c.time.reset(p.columns & TIMES ? n + 1 : 0);
    }

  public:
    CudaState(const World &world, const Plan &plan, const Room &ro, bool hash = false)
        : w(world), p(plan), room(ro)
    {
        const size_t types = w.ntype.size(), rels = w.relation.size(), hops = p.fanout.size();
        r.resize(types);
        map.resize(types);
        key.resize(types);
        nodes.resize(types);
        more.resize(types);
        reset(seed_more, room.seeds);
        tag.reset(types);
        counts.reset((hops + 2) * types); /* the last row is the one that changes */
        keys.reset(2 * hops * rels);
        seeds.reset(room.seeds);
        nseeds.reset(1);
        edges.reset(hops * rels);
        block.resize(hops * rels);
        status.reset(1);
        resident.resize(rels);
        for (size_t i = 0; i < rels; i++)
            bring(*w.relation[i], resident[i]);
        seed_scratch.reset(gnn_cuda_relabel_scratch(room.seeds));
        uint32_t list = room.seeds;
        for (size_t i = 0; i < block.size(); i++) {
            Arrays &a = block[i];
            a.indptr.reset(room.rows[i] + UINT64_C(1));
            a.source.reset(room.edges[i]);
            reset(a.more, room.edges[i]);
            const uint32_t kept = p.induces(i / rels) ? room.kept[i] : room.edges[i];
            a.indices.reset(kept);
            a.ids.reset(p.ids ? kept : 0);
            a.all_ids.reset(p.ids && p.induces(i / rels) ? room.edges[i] : 0);
            a.scratch.reset(
                gnn_cuda_sample_scratch(p.rule(i / rels, i % rels), room.rows[i], room.edges[i]));
            list = std::max(list, p.induces(i / rels) ? 0 : room.edges[i]);
        }
        for (size_t t = 0; t < types; t++) {
            /* the hash table is as small as it may be, so that searches are long */
            uint32_t slots = 0;
            while ((hash || p.columns) &&
                   (slots = slots ? 2 * slots : 2) <=
                       std::min<uint64_t>(room.nodes[t] + (uint64_t)list,
                                          p.columns ? UINT64_MAX : w.ntype[t]))
                ;
            map[t].reset(slots ? slots : w.ntype[t]);
            key[t].reset(slots);
            nodes[t].reset(room.nodes[t]);
            reset(more[t], room.nodes[t]);
            tag[t] = 0;
            r[t] = gnn_cuda_relabel{map[t].data(),
                                    p.columns ? nullptr : key[t].data(),
                                    slots,
                                    w.ntype[t],
                                    more[t].entries(nodes[t].data()),
                                    room.nodes[t],
                                    p.columns   ? 32
                                    : room.bits ? room.bits
                                                : gnn_cuda_relabel_bits(room.nodes[t], list),
                                    counts.data() + (hops + 1) * types + t,
                                    tag.data() + t};
        }
    }

    void draw(uint32_t step, const std::vector<uint32_t> &seed)
    {
        const size_t types = w.ntype.size(), rels = w.relation.size(), hops = p.fanout.size();
        status[0] = gnn_cuda_sample_status{};
        nseeds[0] = (uint32_t)seed.size();
        for (size_t i = 0; i < std::min(seed.size(), seeds.size()); i++)
            seeds[i] = seed[i];
        const Columns<Vector> c = seed_columns(p, seed.size());
        std::copy_n(c.tree.begin(), std::min(c.tree.size(), seed_more.tree.size()),
                    seed_more.tree.data());
        std::copy_n(c.time.begin(), std::min(c.time.size(), seed_more.time.size()),
                    seed_more.time.data());
        for (uint32_t b = 0; b < hops * rels; b++)
            world_key(step, b / (uint32_t)rels, b % (uint32_t)rels, &keys[2 * b]);
        for (size_t t = 0; t < types; t++)
            gnn_cuda_begin_batch(&r[t], status.data(), nullptr);
        const gnn_cuda_relabel to = list_of(0, 0, 0);
        gnn_cuda_relabel_seeds(&to, seed_more.entries(seeds.data()), nseeds.data(), room.seeds,
                               seed_scratch.data(), status.data(), nullptr);
        for (size_t hop = 0; hop < hops; hop++)
            for (size_t et = 0; et < rels; et++)
                draw_block(hop, et);
    }

    /* The numbering of a list of type t, after which the counts of a hop are known; block i is the
     * first that follows. */
    gnn_cuda_relabel list_of(uint32_t t, size_t hop, size_t i)
    {
        const size_t types = w.ntype.size();
        gnn_cuda_relabel to = r[t];
        to.live = &counts[(p.fanout.size() + 1) * types];
        to.counts = &counts[hop * types];
        to.ncounts = (uint32_t)types;
        to.last = true;
        for (; i < block.size(); i++)
            to.last = to.last && w.relation[i % w.relation.size()]->src != t;
        return to;
    }

    gnn_cuda_sample_job job_of(size_t hop, size_t et)
    {
        const size_t types = w.ntype.size(), i = hop * w.relation.size() + et;
        const Relation &rel = *w.relation[et];
        Arrays &a = block[i];
        gnn_cuda_sample_job job = {};
        job.what.graph = rel.graph;
        job.what.graph.part = resident[et].view.data();
        job.what.dst = more[rel.dst].entries(nodes[rel.dst].data());
        job.what.n = room.rows[i];
        job.what.rule = p.rule(hop, et);
        job.what.key = &keys[2 * i];
        job.what.indptr = a.indptr.data();
        job.what.scratch = a.scratch.data();
        job.first = p.new_rows(hop) ? &counts[(hop - 1) * types + rel.dst] : nullptr;
        job.end = &counts[hop * types + rel.dst];
        job.capacity = room.edges[i];
        job.block = (uint32_t)i;
        job.source = a.more.entries(a.source.data());
        job.indices = a.indices.data();
        job.ids = p.ids ? a.ids.data() : nullptr;
        job.edges = &edges[i];
        job.status = status.data();
        return job;
    }
    void draw_block(size_t hop, size_t et)
    {
        gnn_cuda_sample_job job = job_of(hop, et);
        const size_t types = w.ntype.size(), i = hop * w.relation.size() + et;
        if (!p.induces(hop)) {
            const gnn_cuda_relabel to = list_of(w.relation[et]->src, hop + 1, i + 1);
            gnn_cuda_sample_block(&job, &to, nullptr);
            return;
        }
        const gnn_cuda_kept kept = {room.kept[i], job.indices, job.ids};
        job.indices = nullptr;
        job.ids = p.ids ? block[i].all_ids.data() : nullptr;
        gnn_cuda_induce_block(&job, &r[w.relation[et]->src], &kept, nullptr);
        if (et + 1 == w.relation.size()) /* no list has been numbered */
            std::copy_n(&counts[(p.fanout.size() + 1) * types], types, &counts[(hop + 1) * types]);
    }

    /* The blocks of the batch just drawn, once more and each by itself, sources not numbered: the
     * same, up to a failure? */
    bool redraws(const Drawn &d)
    {
        const size_t rels = w.relation.size(), n = d.code == GNN_SAMPLE_SEED ? 0
                                                   : d.code                  ? d.bad_block + 1
                                                                             : block.size();
        bool same = true;
        for (size_t i = 0; same && i < n; i++) {
            Guarded<uint32_t> indptr(room.rows[i] + UINT64_C(1)), source(room.edges[i]), edge(1);
            Guarded<uint64_t> ids(p.ids ? room.edges[i] : 0);
            Guarded<char> scratch(block[i].scratch.size());
            Guarded<gnn_cuda_sample_status> st(1);
            gnn_cuda_sample_job job = job_of(i / rels, i % rels);
            job.what.indptr = indptr.data();
            job.source = {source.data(), nullptr, nullptr};
            job.indices = nullptr;
            job.ids = p.ids ? ids.data() : nullptr;
            job.edges = edge.data();
            job.what.scratch = scratch.data();
            job.status = st.data();
            st[0] = gnn_cuda_sample_status{};
            gnn_cuda_sample_block(&job, nullptr, nullptr);
            same = indptr.intact() && source.intact() && edge.intact() && ids.intact() &&
                   scratch.intact() && st.intact() && st[0].ticket == 0;
            if (d.code && i == d.bad_block) {
                same = same && st[0].code == d.code && st[0].at.node == d.at.node &&
                       st[0].at.edge == d.at.edge && st[0].at.part == d.at.part;
                continue;
            }
            const Drawn::Block &b = d.block[i];
            const std::vector<uint32_t> &found = d.nodes[w.relation[i % rels]->src];
            same = same && st[0].code == 0 && edge[0] == b.indices.size() &&
                   indptr.equals(b.indptr) && ids.equals(b.ids);
            for (size_t e = 0; same && e < b.indices.size(); e++)
                same = source[e] == found[b.indices[e]];
        }
        return same;
    }

    bool intact()
    {
        bool good = tag.intact() && counts.intact() && keys.intact() && seeds.intact() &&
                    nseeds.intact() && edges.intact() && status.intact() && seed_scratch.intact() &&
                    status[0].ticket == 0;
        for (auto &x : map)
            good = good && x.intact();
        for (auto &x : nodes)
            good = good && x.intact();
        for (auto &x : more)
            good = good && x.tree.intact() && x.time.intact();
        for (auto &a : block)
            good = good && a.indptr.intact() && a.source.intact() && a.indices.intact() &&
                   a.more.tree.intact() && a.more.time.intact() && a.ids.intact() &&
                   a.all_ids.intact() && a.scratch.intact();
        return good;
    }

    /* The same batch, byte by byte? */
    bool equals(const Drawn &d)
    {
        const size_t types = w.ntype.size();
        bool same = intact() && status[0].code == 0 && status[0].first == 0;
        for (size_t h = 0; h < d.counts.size(); h++)
            same = same &&
                   memcmp(&counts[h * types], d.counts[h].data(), types * sizeof(uint32_t)) == 0;
        for (size_t t = 0; same && t < types; t++)
            same = nodes[t].equals(d.nodes[t]) && more[t].tree.equals(d.more[t].tree) &&
                   more[t].time.equals(d.more[t].time);
        for (size_t i = 0; same && i < block.size(); i++) {
            const Drawn::Block &b = d.block[i];
            same = edges[i] == b.indices.size() && block[i].indptr.equals(b.indptr) &&
                   block[i].indices.equals(b.indices) && block[i].ids.equals(b.ids);
            const size_t n = p.induces(i / w.relation.size()) ? 0 : b.indices.size();
            for (size_t e = 0; same && e < n; e++)
                same = block[i].source[e] ==
                       d.nodes[w.relation[i % w.relation.size()]->src][b.indices[e]];
        }
        return same;
    }

    const gnn_cuda_sample_status &outcome()
    {
        return status[0];
    }

    /* The same failure, and nothing in the arrays that would lead a later kernel astray? */
    bool fails_like(const Drawn &d)
    {
        const gnn_cuda_sample_status &s = status[0];
        return sound() && s.code == d.code && s.block == d.bad_block && s.at.node == d.at.node &&
               s.at.edge == d.at.edge && s.at.part == d.at.part;
    }
    bool sound()
    {
        const size_t types = w.ntype.size(), rels = w.relation.size();
        bool good = intact();
        for (size_t i = 0; i < block.size(); i++) {
            const size_t hop = i / rels, dst = w.relation[i % rels]->dst;
            const uint32_t first = p.new_rows(hop) ? counts[(hop - 1) * types + dst] : 0;
            const uint32_t n = std::min(counts[hop * types + dst] - first, room.rows[i]);
            good = good && edges[i] <= (p.induces(hop) ? room.kept : room.edges)[i] &&
                   block[i].indptr[0] == 0 && block[i].indptr[n] == edges[i];
            for (uint32_t k = 0; k < n; k++)
                good = good && block[i].indptr[k] <= block[i].indptr[k + 1];
            const uint32_t known = counts[(hop + 1) * types + w.relation[i % rels]->src];
            for (uint32_t e = 0; good && e < edges[i]; e++)
                good = block[i].indices[e] < std::max(known, 1u);
        }
        for (size_t t = 0; t < types; t++)
            good = good && counts[(p.fanout.size() + 1) * types + t] <= room.nodes[t];
        return good;
    }
};

#endif
