/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays for tests of CUDA kernels: sentinels on both sides, any alignment, comparison bit by bit.
 */
#ifndef GNN_TESTS_EMU_ARRAYS_H
#define GNN_TESTS_EMU_ARRAYS_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

/* n elements, `off` elements behind a 64-byte boundary, all of them and what lies around them 0xa5
 * at first. */
template <typename T> struct Array {
    static constexpr size_t GUARD = 64;
    size_t n, at;
    std::vector<unsigned char> raw;

    explicit Array(size_t count = 0, size_t off = 0)
        : n(count), raw(3 * GUARD + (count + off) * sizeof(T), 0xa5)
    {
        at = (GUARD - (uintptr_t)raw.data() % GUARD) % GUARD + GUARD + off * sizeof(T);
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    T *data()
    {
        return reinterpret_cast<T *>(raw.data() + at);
    }
    T &operator[](size_t i)
    {
        return data()[i];
    }
    void fill(T v)
    {
        for (size_t i = 0; i < n; i++)
            data()[i] = v;
    }
    /* Nothing was written around it. */
    bool whole() const
    {
        bool good = true;
        for (size_t i = 0; i < raw.size(); i++)
            good = good && ((i >= at && i < at + n * sizeof(T)) || raw[i] == 0xa5);
        return good;
    }
};

struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 2 + 1)
    {
    }
    uint32_t next()
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t x = state;
        x ^= x >> 33;
        x *= 0xff51afd7ed558ccdu;
        return (uint32_t)(x >> 32);
    }
    uint32_t below(uint32_t n)
    {
        return (uint32_t)((uint64_t)next() * n >> 32);
    }
    float number()
    {
        return (float)(next() >> 8) / (float)(1 << 23) - 1;
    } /* [-1, 1) */
    void numbers(Array<float> &a)
    {
        for (size_t i = 0; i < a.n; i++)
            a[i] = number();
    }
};

/* Equal bits, or both NaN, whose payload is a processor's own business. */
static inline size_t differences(const float *a, const float *b, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        k += memcmp(a + i, b + i, sizeof *a) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]));
    return k;
}

/* The largest difference, as a share of the numbers' size or of 1; not finite where they are, other
 * than equal: infinite. */
static inline double distance(const float *a, const float *b, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++) {
        const double x = (double)a[i], y = (double)b[i];
        if (x == y || (std::isnan(x) && std::isnan(y)))
            continue;
        const double g = std::fabs(x - y) / std::fmax(1, std::fabs(y));
        m = std::isfinite(g) ? std::fmax(m, g) : INFINITY;
    }
    return m;
}

#endif
