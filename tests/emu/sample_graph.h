/* SPDX-License-Identifier: Apache-2.0 */
/* Random typed graphs to sample from, in parts, and arrays with guards round them. */
#ifndef GNN_TESTS_EMU_SAMPLE_GRAPH_H
#define GNN_TESTS_EMU_SAMPLE_GRAPH_H

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/sample.h"

/* An array between guards; filled with rubbish. */
template <typename T> class Guarded
{
    static constexpr size_t G = 64;
    std::vector<unsigned char> bytes;
    size_t n = 0;

  public:
    Guarded() = default;
    explicit Guarded(size_t count)
    {
        reset(count);
    }
    void reset(size_t count)
    {
        n = count;
        bytes.assign(2 * G + count * sizeof(T) + 16, 0xc3);
        memset(data(), 0x77, n * sizeof(T));
    }
    T *data()
    {
        return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(bytes.data() + G + 15) &
                                     ~(uintptr_t)15);
    }
    T &operator[](size_t i)
    {
        return data()[i];
    }
    size_t size() const
    {
        return n;
    }
    bool intact()
    {
        const unsigned char *from = reinterpret_cast<unsigned char *>(data()),
                            *to = from + n * sizeof(T);
        for (const unsigned char *p = bytes.data(); p < bytes.data() + bytes.size(); p++)
            if ((p < from || p >= to) && *p != 0xc3)
                return false;
        return true;
    }
    bool equals(const std::vector<T> &v)
    {
        return v.empty() || memcmp(data(), v.data(), v.size() * sizeof(T)) == 0;
    }
};

struct Random {
    uint64_t s;
    uint64_t operator()()
    {
        s ^= s << 13;
        s ^= s >> 7;
        return s ^= s << 17;
    }
    uint32_t below(uint64_t n)
    {
        return (uint32_t)((*this)() % n);
    }
};

struct Part {
    std::vector<uint64_t> indptr, id, sum;
    std::vector<uint32_t> indices, orig, positive;
};

struct Relation {
    uint32_t src, dst;
    std::vector<Part> part;
    std::vector<gnn_sample_part> view;
    std::vector<uint32_t> source_id; /* with original ids, those of the sources */
    gnn_sample_graph graph;

    /* Every other row has weights between 1 and 8, the others have one that outweighs the rest;
     * with `zeros` a third of all weigh nothing. */
    static void weigh(Part &a, gnn_sample_part &v, bool zeros)
    {
        Random w = {a.indices.size() + 99};
        a.sum.resize(a.indices.size());
        a.positive.resize(a.indices.size());
        for (size_t i = 0; i + 1 < a.indptr.size(); i++) {
            uint64_t sum = 0;
            uint32_t n = 0;
            for (uint64_t k = a.indptr[i]; k < a.indptr[i + 1]; k++) {
                const bool some = !zeros || w.below(3);
                sum += !some ? 0 : i % 2 || w.below(5) ? 1 + w.below(8) : UINT64_C(1) << 40;
                n += some;
                a.sum[k] = sum;
                a.positive[k] = n;
            }
        }
        v.pick = {a.sum.data(), zeros ? a.positive.data() : nullptr};
    }

    /* degree(i): of node i. Parts of uneven size, the last but one empty; original ids and edge ids
     * in some. */
    template <typename F>
    void make(Random &r, uint64_t ndst, uint64_t nsrc, uint32_t nparts, bool orig, bool ids,
              F degree)
    {
        uint64_t first = 0, number = 1000;
        part.resize(nparts);
        view.resize(nparts);
        for (uint32_t p = 0; p < nparts; p++) {
            Part &a = part[p];
            uint64_t end = p + 1 == nparts   ? ndst
                           : p + 2 == nparts ? first
                                             : first + (ndst - first) / 3;
            if (p + 2 == nparts && nparts == 2)
                end = ndst / 3;
            a.indptr.assign(1, 0);
            for (uint64_t i = first; i < end; i++) {
                for (uint32_t d = degree(i); d; d--) {
                    a.indices.push_back(r.below(nsrc));
                    if (ids && p % 3 != 1)
                        a.id.push_back(number += 3);
                }
                a.indptr.push_back(a.indices.size());
                if (orig && p % 3 != 2)
                    a.orig.push_back((uint32_t)(i * 2654435761u));
            }
            view[p] = gnn_sample_part{first,
                                      end - first,
                                      a.indptr.data(),
                                      a.indices.data(),
                                      a.indices.size(),
                                      a.orig.empty() ? nullptr : a.orig.data(),
                                      a.id.empty() ? nullptr : a.id.data()};
            weigh(a, view[p], p % 3 == 0);
            first = end;
        }
        for (uint64_t i = 0; orig && i < nsrc; i++)
            source_id.push_back((uint32_t)(i * 2654435761u + 7));
        graph = gnn_sample_graph{view.data(), nparts, nsrc, orig ? source_id.data() : nullptr};
    }
};

struct World {
    std::vector<uint64_t> ntype; /* nodes of each type */
    std::vector<std::unique_ptr<Relation>> relation;

    Relation &add(uint32_t src, uint32_t dst)
    {
        relation.emplace_back(new Relation);
        relation.back()->src = src;
        relation.back()->dst = dst;
        return *relation.back();
    }
};

#endif
