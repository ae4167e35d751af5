/* SPDX-License-Identifier: Apache-2.0 */
/* Factors, fills, sums, unit rows and labels on the emulated device, beside their CPU twins, bit by
 * bit. */
#include "emu/arrays.h"
#include "emu/emu.h"
#include "kernels/factors.h"
#include "kernels/label.h"
#include "kernels/rows.h"
#include "tap.h"

namespace
{

void vary(unsigned i)
{
    emu::set_seed(i + 1);
    emu::grid_max = 1 + 7 * i;
}

/* Blocks over parts of a layer's rows, some rows in none, with self loops, a long row and empty
 * ones. */
struct Layer {
    static constexpr uint32_t NB = 3;
    Array<uint32_t> indptr[NB], indices[NB];
    gnn_csr block[NB];
    uint32_t rows;

    Layer(uint32_t n, uint32_t longest, Random &r) : rows(n)
    {
        for (uint32_t b = 0; b < NB; b++) {
            const uint32_t first = b * (n / NB),
                           count = n / NB > 2 ? n / NB - (b == 1 ? 2 : 0) : n / NB;
            indptr[b].~Array();
            new (&indptr[b]) Array<uint32_t>(count + 1);
            uint32_t e = 0;
            for (uint32_t i = 0; i <= count; i++) {
                indptr[b][i] = e;
                e += i == count / 2 && b == 2 ? longest : r.below(3) ? r.below(9) : 0;
            }
            indices[b].~Array();
            new (&indices[b]) Array<uint32_t>(indptr[b][count]);
            for (uint32_t i = 0; i < count; i++)
                for (uint32_t x = indptr[b][i]; x < indptr[b][i + 1]; x++)
                    indices[b][x] = r.below(4) ? r.below(2 * n + 1) : first + i;
            block[b] = gnn_csr{};
            block[b].first = first;
            block[b].n = count;
            block[b].indptr = indptr[b].data();
            block[b].indices = indices[b].data();
        }
    }
};

void test_factors()
{
    const uint32_t sizes[] = {1, 3, 40, 1000};
    size_t wrong = 0;
    for (uint32_t n : sizes)
        for (unsigned k = 0; k < 3; k++) {
            Random r(n + k);
            Layer l(n, k ? 5000 * k : 0, r);
            Array<uint32_t> degree(n, k);
            Array<float> is(n), is2(n, k), row(n), row2(n, k), diag(n), diag2(n, k), mean(n),
                mean2(n, k);
            for (uint32_t i = 0; i < n; i++)
                degree[i] = i % 7 ? r.below(40) : r.below(1u << 31);
            vary(k);
            gnn_mean_factors(l.block, Layer::NB, 0, n, mean.data());
            gnn_gcn_degrees(degree.data(), n, is.data());
            gnn_gcn_factors(l.block, Layer::NB, 0, n, is.data(), row.data(), diag.data());
            const uint32_t *count = k == 1 ? &l.rows : nullptr;
            const uint32_t cap = count ? n + 5 : n;
            gnn_cuda_mean_factors(l.block, Layer::NB, 0, count, cap, mean2.data(), nullptr);
            gnn_cuda_gcn_degrees(degree.data(), count, cap, is2.data(), nullptr);
            gnn_cuda_gcn_factors(l.block, Layer::NB, 0, count, cap, is2.data(), row2.data(),
                                 diag2.data(), nullptr);
            wrong +=
                differences(mean.data(), mean2.data(), n) + differences(is.data(), is2.data(), n) +
                differences(row.data(), row2.data(), n) + differences(diag.data(), diag2.data(), n);
            wrong += !mean2.whole() + !is2.whole() + !row2.whole() + !diag2.whole();
            /* the rows from the second block on: those before stay as they are */
            const uint32_t from = l.block[1].first;
            Array<float> mean3(n), row3(n), diag3(n);
            for (Array<float> *a : {&mean2, &row2, &diag2, &mean3, &row3, &diag3})
                a->fill(7);
            gnn_cuda_mean_factors(l.block + 1, Layer::NB - 1, from, count, cap, mean2.data(),
                                  nullptr);
            gnn_cuda_gcn_factors(l.block + 1, Layer::NB - 1, from, count, cap, is2.data(),
                                 row2.data(), diag2.data(), nullptr);
            gnn_mean_factors(l.block + 1, Layer::NB - 1, from, n, mean3.data());
            gnn_gcn_factors(l.block + 1, Layer::NB - 1, from, n, is.data(), row3.data(),
                            diag3.data());
            wrong += differences(mean2.data(), mean3.data(), n) +
                     differences(row2.data(), row3.data(), n) +
                     differences(diag2.data(), diag3.data(), n) +
                     differences(mean.data() + from, mean3.data() + from, n - from) +
                     differences(row.data() + from, row3.data() + from, n - from) +
                     differences(diag.data() + from, diag3.data() + from, n - from);
            for (uint32_t i = 0; i < from; i++)
                wrong += mean3[i] != 7 || row3[i] != 7 || diag3[i] != 7;
        }
    Array<float> none(4);
    gnn_cuda_mean_factors(nullptr, 0, 0, nullptr, 4, none.data(), nullptr);
    for (size_t i = 0; i < 4; i++)
        wrong += none[i] != 0;
    gnn_cuda_mean_factors(nullptr, 0, 0, nullptr, 0, nullptr, nullptr);
    ok(wrong == 0, "gnn_cuda_mean_factors and gnn_cuda_gcn_factors give the bits of the CPU");
}

void test_passes()
{
    const size_t sizes[] = {0, 1, 3, 4, 257, 40003};
    const float eps = 0.3f;
    size_t wrong = 0;
    for (size_t n : sizes)
        for (unsigned off = 0; off < 3; off++) {
            Random r(n + off);
            Array<float> x(n, off == 1), y(n), y2(n, off), f(n), f2(n, off);
            r.numbers(x);
            r.numbers(y);
            for (size_t i = 0; i < n; i++)
                y2[i] = y[i];
            vary(off);
            gnn_add(x.data(), n, y.data());
            gnn_fill(f.data(), n, 1.5f);
            gnn_cuda_add(x.data(), n, y2.data(), nullptr);
            gnn_add_scaled(x.data(), n, &eps, y.data());
            gnn_cuda_add_scaled(x.data(), n, &eps, y2.data(), nullptr);
            gnn_cuda_fill(f2.data(), n, 1.5f, nullptr);
            wrong += differences(y.data(), y2.data(), n) + differences(f.data(), f2.data(), n) +
                     !y2.whole() + !f2.whole();
        }
    ok(wrong == 0, "gnn_cuda_fill, gnn_cuda_add and gnn_cuda_add_scaled give the bits of the CPU");
}

/* Rows by their numbers, of which some are left out. */
void test_rows_by_number()
{
    const uint32_t sizes[] = {0, 1, 3, 40, 1000};
    size_t wrong = 0;
    for (uint32_t n : sizes)
        for (size_t d : {(size_t)1, (size_t)5, (size_t)32, (size_t)70}) {
            Random r(n + (uint32_t)d);
            Array<uint32_t> row(n);
            Array<float> x(3 * n * d), y(3 * n * d), y2(3 * n * d), z(n * d), z2(n * d, 1);
            for (uint32_t i = 0; i < n; i++)
                row[i] = 3 * (n - 1 - i) + r.below(3);
            r.numbers(x);
            r.numbers(y);
            for (size_t i = 0; i < 3 * n * d; i++)
                y2[i] = y[i];
            gnn_take_rows(x.data(), row.data(), n, d, z.data());
            gnn_cuda_take_rows(x.data(), row.data(), n, d, z2.data(), nullptr);
            for (size_t i = 0; i < n * d; i++)
                wrong += z[i] != x[row[i / d] * d + i % d];
            gnn_add_rows(z.data(), row.data(), n, d, y.data());
            gnn_cuda_add_rows(z.data(), row.data(), n, d, y2.data(), nullptr);
            wrong += differences(y.data(), y2.data(), 3 * n * d) +
                     differences(z.data(), z2.data(), n * d) + !y2.whole() + !z2.whole();
        }
    ok(wrong == 0, "gnn_cuda_take_rows and gnn_cuda_add_rows give the bits of the CPU");
}

/* The factors of GCN with edge weights. */
void test_weight_factors()
{
    const uint32_t sizes[] = {1, 3, 40, 1000};
    size_t wrong = 0;
    for (uint32_t n : sizes)
        for (unsigned k = 0; k < 3; k++) {
            Random r(n + k);
            Layer l(n, k ? 5000 * k : 0, r);
            Array<float> degree(n), loop(n), is(n), is2(n, k), row(n), row2(n, k), diag(n),
                diag2(n, k), value(l.indices[0].n + l.indices[1].n + l.indices[2].n);
            Array<uint32_t> count(n);
            for (uint32_t i = 0; i < n; i++) {
                degree[i] = i % 7 ? (float)r.below(40) / 7 : 0;
                loop[i] = (float)r.below(9) / 5;
                count[i] = r.below(3000);
            }
            r.numbers(value);
            size_t at = 0;
            for (uint32_t b = 0; b < Layer::NB; b++) {
                l.block[b].value = value.data() + at;
                at += l.indices[b].n;
            }
            vary(k);
            gnn_weight_degrees(degree.data(), n, is.data());
            gnn_weight_factors(l.block, Layer::NB, 0, n, is.data(), count.data(), loop.data(),
                               row.data(), diag.data());
            gnn_cuda_weight_degrees(degree.data(), nullptr, n, is2.data(), nullptr);
            gnn_cuda_weight_factors(l.block, Layer::NB, 0, k == 1 ? &l.rows : nullptr,
                                    k == 1 ? n + 5 : n, is2.data(), count.data(), loop.data(),
                                    row2.data(), diag2.data(), nullptr);
            wrong += differences(is.data(), is2.data(), n) +
                     differences(row.data(), row2.data(), n) +
                     differences(diag.data(), diag2.data(), n);
            wrong += !is2.whole() + !row2.whole() + !diag2.whole();
        }
    ok(wrong == 0, "gnn_cuda_weight_degrees and gnn_cuda_weight_factors give the bits of the CPU");
}

void test_unit_sums()
{
    const size_t widths[] = {1, 31, 32, 33, 100, 1433};
    size_t wrong = 0;
    for (size_t d : widths)
        for (unsigned k = 0; k < 3; k++) {
            const uint32_t n = k ? 37 : 1;
            Random r(d + k);
            Array<float> x(n * d), y(n * d, k);
            for (size_t i = 0; i < n * d; i++)
                y[i] = x[i] = i / d % 3 ? (float)r.below(3) : r.number() / (float)d;
            if (n > 2)
                y[2 * d] = x[2 * d] = NAN;
            vary(k);
            gnn_rows_to_unit_sum(x.data(), n, d);
            gnn_cuda_rows_to_unit_sum(y.data(), k == 2 ? &n : nullptr, k == 2 ? n + 9 : n, d,
                                      nullptr);
            wrong += differences(x.data(), y.data(), n * d) + !y.whole();
        }
    ok(wrong == 0, "gnn_cuda_rows_to_unit_sum gives the bits of the CPU");
}

void test_unit_rows()
{
    const size_t widths[] = {0, 1, 31, 32, 33, 100, 256, 1433};
    size_t wrong = 0;
    for (size_t d : widths)
        for (unsigned k = 0; k < 3; k++) {
            const uint32_t n = k ? 37 : 1, *count = k == 2 ? &n : nullptr, cap = k == 2 ? n + 9 : n;
            Random r(d + k);
            Array<float> x(n * d), y(n * d), y2(n * d, k), r1(n), r2(n), dy(n * d), dy2(n * d, k);
            r.numbers(x), r.numbers(dy);
            for (size_t j = 0; n > 3 && j < d; j++) {
                x[j] = 0;
                x[d + j] *= 1e-13f;
                x[2 * d + j] = j ? x[2 * d + j] : NAN;
            }
            for (size_t i = 0; i < n * d; i++)
                y2[i] = x[i], dy2[i] = dy[i];
            vary(k);
            gnn_unit_rows(x.data(), n, d, y.data(), r1.data());
            gnn_unit_rows_back(dy.data(), y.data(), r1.data(), n, d);
            gnn_cuda_unit_rows(y2.data(), count, cap, d, y2.data(), r2.data(), nullptr);
            gnn_cuda_unit_rows_back(dy2.data(), y.data(), r1.data(), count, cap, d, nullptr);
            wrong += differences(y.data(), y2.data(), n * d) + !y2.whole() +
                     differences(r1.data(), r2.data(), n) + !r2.whole() +
                     differences(dy.data(), dy2.data(), n * d) + !dy2.whole();
        }
    ok(wrong == 0, "gnn_cuda_unit_rows and gnn_cuda_unit_rows_back give the bits of the CPU");
}

/* Jumping knowledge: columns put beside each other, and the maximum of rows with what it gives
 * back. */
void test_jumping()
{
    const size_t widths[] = {1, 31, 64, 100};
    size_t wrong = 0;
    for (size_t w : widths)
        for (unsigned k = 0; k < 3; k++) {
            const size_t n = k ? 43 : 1, ld = w + 5, c = n * w;
            Random r(w + k);
            Array<float> x(c), dy(c), y(n * ld), y2(n * ld, k), m(c), m2(c, k), t(c), t2(c, k),
                g(c), g2(c, k);
            for (size_t i = 0; i < n * ld; i++)
                y[i] = y2[i] = r.number();
            for (size_t i = 0; i < c; i++) {
                x[i] = (float)r.below(3);
                m[i] = m2[i] = (float)r.below(3);
                dy[i] = r.number();
                t[i] = t2[i] = (float)r.below(2);
                g[i] = g2[i] = r.number();
            }
            if (c > 3)
                x[0] = m[3] = m2[3] = NAN;
            vary(k);
            gnn_put_columns(x.data(), w, n, w, y.data() + 2, ld, k != 1);
            gnn_cuda_put_columns(x.data(), w, n, w, y2.data() + 2, ld, k != 1, nullptr);
            gnn_raise(x.data(), c, m.data());
            gnn_cuda_raise(x.data(), c, m2.data(), nullptr);
            gnn_raise_back(dy.data(), m.data(), x.data(), c, t.data(), g.data());
            gnn_cuda_raise_back(dy.data(), m2.data(), x.data(), c, t2.data(), g2.data(), nullptr);
            wrong += differences(y.data(), y2.data(), n * ld) +
                     differences(m.data(), m2.data(), c) + differences(t.data(), t2.data(), c) +
                     differences(g.data(), g2.data(), c);
            wrong += !y2.whole() + !m2.whole() + !t2.whole() + !g2.whole();
            wrong += c > 3 && !(std::isnan(m[0]) && std::isnan(m[3]));
        }
    ok(wrong == 0, "gnn_cuda_put_columns, gnn_cuda_raise and gnn_cuda_raise_back give the bits of "
                   "the CPU");
}

template <typename T> size_t labels_of(enum gnn_label_type type, const T *v, size_t n)
{
    size_t wrong = 0;
    for (unsigned k = 0; k < 2; k++) {
        Array<T> y(n, k);
        Array<int32_t> c(n), c2(n, k);
        Array<float> t(n), t2(n, k);
        for (size_t i = 0; i < n; i++)
            y[i] = v[i];
        vary(k);
        gnn_label_classes(y.data(), type, n, 7, c.data());
        gnn_label_targets(y.data(), type, n, t.data());
        gnn_cuda_label_classes(y.data(), type, n, 7, c2.data(), nullptr);
        gnn_cuda_label_targets(y.data(), type, n, t2.data(), nullptr);
        wrong += memcmp(c.data(), c2.data(), n * sizeof(int32_t)) != 0;
        wrong += differences(t.data(), t2.data(), n) + !c2.whole() + !t2.whole();
        for (size_t i = 0; i < n; i++) { /* out of range stays so */
            const double x = gnn_label_value(y.data(), type, i);
            const bool none = std::isnan(x) || x == -1,
                       is_class = x >= 0 && x < 7 && x == std::floor(x);
            wrong += none ? c[i] != -1 : is_class ? c[i] != (int32_t)x : c[i] >= -1 && c[i] < 7;
            wrong += (x > 1 || (x < 0 && x != -1)) != (t[i] > 1) || std::isnan(t[i]) != none;
        }
    }
    return wrong;
}

void test_labels()
{
    const double d[] = {0,    1,        6,         7,      2.5,          -1,
                        NAN,  INFINITY, -INFINITY, 1e300,  2147483647.0, 1 + 1e-12,
                        0.25, -0.0,     -0.5,      -1e-300};
    const float f[] = {0, 1, 6, 7, 2.5f, -1, NAN, INFINITY, 0.25f, -0.5f};
    const int64_t i64[] = {0, 6, 7, -1, INT64_MAX, INT64_MIN, INT32_MAX, (int64_t)INT32_MAX + 1};
    const uint64_t u64[] = {0, 1, 6, 7, UINT64_MAX};
    const int32_t i32[] = {0, 6, 7, -1, INT32_MAX, INT32_MIN};
    const uint32_t u32[] = {0, 6, 7, UINT32_MAX};
    const int16_t i16[] = {0, 6, 7, -1};
    const uint16_t u16[] = {0, 6, 7, 65535};
    const int8_t i8[] = {0, 6, 7, -1};
    const uint8_t u8[] = {0, 6, 7, 255};
    const uint16_t bf16[] = {0,      0x3f80, 0x40c0, 0x4020,
                             0x7fc0, 0xbf80, 0xbf00}; /* 0, 1, 6, 2.5, NaN, -1, -0.5 */
    size_t wrong = labels_of(GNN_LABEL_F64, d, sizeof d / sizeof *d) +
                   labels_of(GNN_LABEL_F32, f, sizeof f / sizeof *f);
    wrong += labels_of(GNN_LABEL_I64, i64, 8) + labels_of(GNN_LABEL_U64, u64, 5) +
             labels_of(GNN_LABEL_I32, i32, 6);
    wrong += labels_of(GNN_LABEL_U32, u32, 4) + labels_of(GNN_LABEL_I16, i16, 4) +
             labels_of(GNN_LABEL_U16, u16, 4);
    wrong += labels_of(GNN_LABEL_I8, i8, 4) + labels_of(GNN_LABEL_U8, u8, 4) +
             labels_of(GNN_LABEL_BF16, bf16, 7);
    ok(wrong == 0,
       "gnn_cuda_label_classes and gnn_cuda_label_targets read labels of every type (%zu wrong)",
       wrong);
}

} // namespace

int main()
{
    test_factors();
    test_passes();
    test_rows_by_number();
    test_weight_factors();
    test_unit_sums();
    test_unit_rows();
    test_jumping();
    test_labels();
    return tap_done();
}
