/* SPDX-License-Identifier: Apache-2.0 */
/* lib/gpu/device_gemm.h without cuBLASLt: plain loops, as a kernel, summed up as GNN_FAKE_SUMS
 * says. GNN_FAKE_NO_BIAS=1: it knows no way to add one. GNN_FAKE_NO_BF16=n: no way to multiply in
 * bf16 where n is the width of the result, or anywhere if n is 0; GNN_FAKE_NO_TENSOR=1: no way to
 * multiply on tensor cores. */
#include "lib/gpu/device_gemm.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "emu/dev_fake.h"
#include "emu/emu.h"
#include "kernels/half_bits.h"

namespace
{

struct Handle {
    uint64_t numerics = 0;
};
unsigned handles;

/* Has the library a way? */
bool able(const struct gnn_dev_product *g)
{
    const char *narrow = getenv("GNN_FAKE_NO_BF16");
    if (g->bias && fake::setting("GNN_FAKE_NO_BIAS", 0))
        return false;
    if (g->precision == 2 && narrow && (!atoi(narrow) || (size_t)atoi(narrow) == g->n))
        return false;
    return !g->precision || !fake::setting("GNN_FAKE_NO_TENSOR", 0);
}

/* An input as the tensor cores take it. */
float rounded(float v, int precision)
{
    const uint32_t u = gnn_f32_bits(v);
    if (precision == 2)
        return gnn_bits_f32((uint32_t)gnn_bf16_of(u) << 16);
    return precision == 1 && v == v ? gnn_bits_f32((u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu) : v;
}

/* What c holds is the first term. */
template <typename T> __global__ void product(const gnn_dev_product g, bool backward)
{
    const int precision = g.precision;
    const size_t lda = gnn_dev_product_lda(&g), ldb = gnn_dev_product_ldb(&g),
                 ldc = gnn_dev_product_ldc(&g);
    std::vector<T> sum(g.n);
    for (size_t i = 0; i < g.m; i++) {
        for (size_t j = 0; j < g.n; j++)
            sum[j] = g.beta != 0 && !backward ? (T)g.beta * (T)g.c[i * ldc + j] : 0;
        for (size_t k = 0; k < g.k; k++) {
            const size_t x = backward ? g.k - 1 - k : k;
            const T a = (T)rounded(g.ta ? g.a[x * lda + i] : g.a[i * lda + x], precision);
            for (size_t j = 0; j < g.n; j++)
                sum[j] += a * (T)rounded(g.tb ? g.b[j * ldb + x] : g.b[x * ldb + j], precision);
        }
        for (size_t j = 0; j < g.n && g.beta != 0 && backward; j++)
            sum[j] += (T)g.beta * (T)g.c[i * ldc + j];
        for (size_t j = 0; j < g.n; j++) {
            const float v = (float)sum[j] + (g.bias ? g.bias[j] : 0);
            g.c[i * ldc + j] = g.relu ? (v > 0 ? v : 0) : v; /* a NaN becomes 0, as it may */
        }
    }
}

} // namespace

int gnn_dev_gemm_new(void **h, struct gnn_err *)
{
    *h = new Handle;
    handles++;
    return 0;
}

void gnn_dev_gemm_free(void *h)
{
    handles -= h ? 1 : 0;
    delete (Handle *)h;
}

int gnn_dev_multiply(void *h, const struct gnn_dev_product *g, bool *can, void *stream,
                     struct gnn_err *e)
{
    static const uint64_t numerics[] = {
        0x080201, 0x040202, 0x020202}; /* products of f32, tf32, bf16, summed up in f32 */
    if (!g->m || !g->n || !g->k || (g->relu && !g->bias))
        return gnn_fail(e, GNN_E_DEVICE, "cuBLASLt: an empty product");
    *can = able(g);
    if (!*can)
        return 0;
    ((Handle *)h)->numerics = numerics[g->precision];
    if (fake::sums == fake::DOUBLE)
        GNN_LAUNCH(product<double>, 1, 1, 0, stream, *g, false);
    else
        GNN_LAUNCH(product<float>, 1, 1, 0, stream, *g, fake::sums == fake::BACKWARD);
    return 0;
}

void gnn_dev_gemm_ask(void *h, struct gnn_dev_gemm_info *info)
{
    info->version = 130000;
    info->numerics = ((Handle *)h)->numerics;
}
