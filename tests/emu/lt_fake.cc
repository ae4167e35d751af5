/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/gpu/part_epilogues.c calls of cuBLASLt, without it: products by plain loops, columns
 * first and with the epilogues that the library's header describes, summed up as GNN_FAKE_SUMS
 * says. GNN_FAKE_LT=1: they are there, but for BGRADB in f32; =2: they are wrong, too - no bias is
 * added, masks have the highest bit first, sums are of the other matrix. Otherwise there are none,
 * as where CUDA was not there to build with. */
#include "lib/gpu/device_gemm.h"

#include <cstring>
#include <vector>

#include "emu/dev_fake.h"
#include "emu/emu.h"
#include "kernels/half_bits.h"

namespace
{

/* As in cublasLt.h, which does not go with what kernels are emulated by. */
enum Status { OK = 0, WRONG = 7, BROKEN = 14, NONE = 15 };
enum { R_32F = 0, R_16BF = 14, COMPUTE_32F = 68 };
enum { TRANSA = 3, TRANSB = 4, EPILOGUE = 7, BIAS_POINTER = 8, AUX_POINTER = 11, AUX_LD = 12 };
enum { MAX_WORKSPACE = 1, REDUCTION_SCHEMES = 3, IMPL_MASK = 12 };
enum { NUMERICS = 15, SPLITK = 2, ON_TENSOR_CORES = 0x202 };
enum : unsigned {
    RELU = 2,
    BIAS = 4,
    DRELU = 8,
    BGRAD = 16,
    AUX = 128,
    BGRADA = 256,
    BGRADB = 512
};

struct Algo {
    uint64_t data[8];
};
struct Way {
    Algo algo;
    size_t workspace;
    Status state;
    float waves;
    int reserved[4];
};

struct Desc {
    int compute;
    int32_t op[2]; /* of A and B */
    uint32_t epilogue;
    void *bias, *aux;
    int64_t aux_ld;
};
struct Layout {
    int type;
    uint64_t rows, cols;
    int64_t ld;
};
struct Matrix {
    Layout is;
    bool transposed;
    char *data;

    __device__ float at(uint64_t i, uint64_t j) const
    {
        const uint64_t k = transposed ? i * (uint64_t)is.ld + j : j * (uint64_t)is.ld + i;
        if (is.type == R_32F)
            return ((const float *)data)[k];
        return gnn_bits_f32((uint32_t)((const uint16_t *)data)[k] << 16);
    }
};

void store(int type, void *to, uint64_t at, double v)
{
    if (type == R_32F)
        ((float *)to)[at] = (float)v;
    else
        ((uint16_t *)to)[at] = gnn_bf16_of(gnn_f32_bits((float)v));
}

/* Index i of n, or where `backward` that of the other end. */
uint64_t index_of(uint64_t i, uint64_t n, bool backward)
{
    return backward ? n - 1 - i : i;
}

/* The product, and all that its epilogue does; `wrong`: and does not. */
template <typename T>
__global__ void multiply(Desc d, Matrix a, Matrix b, Matrix c, float beta, bool backward,
                         bool wrong)
{
    const uint64_t m = c.is.rows, n = c.is.cols, depth = d.op[0] ? a.is.rows : a.is.cols;
    const int type = c.is.type;
    const unsigned high = wrong ? 7 : 0;
    unsigned char *mask = (unsigned char *)d.aux;
    const Matrix bias = {{type, m, 1, (int64_t)m}, false, (char *)d.bias};
    std::vector<T> rows(m), cols(n);
    for (uint64_t y = 0; y < n; y++)
        for (uint64_t i = 0; i < m; i++) {
            const uint64_t j = index_of(y, n, backward);
            const T before = beta != 0 ? (T)beta * (T)c.at(i, j) : 0;
            T v = backward ? 0 : before;
            for (uint64_t x = 0; x < depth; x++) {
                const uint64_t k = index_of(x, depth, backward);
                v += (T)a.at(i, k) * (T)b.at(k, j);
            }
            v += backward ? before : 0;
            v += d.epilogue & BIAS && !wrong ? (T)bias.at(i, 0) : 0;
            const uint64_t bit = j * (uint64_t)d.aux_ld + i;
            unsigned char *octet = mask + bit / 8;
            const unsigned char one = (unsigned char)(1u << (bit % 8 ^ high));
            if (d.epilogue & DRELU)
                v = *octet & one ? v : 0;
            else if (d.epilogue & AUX)
                *octet = (unsigned char)(v > 0 ? *octet | one : *octet & ~one);
            if (d.epilogue & RELU)
                v = v > 0 ? v : 0;
            store(type, c.data, j * (uint64_t)c.is.ld + i, v);
            rows[i] += v;
        }
    const bool of_a = d.epilogue == (wrong ? BGRADB : BGRADA),
               of_b = d.epilogue == (wrong ? BGRADA : BGRADB);
    for (uint64_t x = 0; x < depth && (of_a || of_b); x++) {
        const uint64_t k = index_of(x, depth, backward);
        for (uint64_t i = 0; i < m; i++)
            rows[i] = (x ? rows[i] : 0) + (T)a.at(i, k);
        for (uint64_t j = 0; j < n; j++)
            cols[j] += (T)b.at(k, j);
    }
    if (d.epilogue & BGRAD || of_a)
        for (uint64_t i = 0; i < m; i++)
            store(type, d.bias, i, rows[i]);
    for (uint64_t j = 0; j < n && of_b; j++)
        store(type, d.bias, j, cols[j]);
}

/* ---- descriptions ---- */

template <typename T> T *object(void *handle)
{
    return static_cast<T *>(handle);
}
template <typename T> Status take(T *to, const void *from, size_t bytes)
{
    if (bytes != sizeof *to)
        return WRONG;
    memcpy(to, from, bytes);
    return OK;
}

Status create(void **h)
{
    *h = (void *)new char;
    return OK;
}
Status destroy(void *h)
{
    delete object<char>(h);
    return OK;
}
Status desc_create(void **d, int compute, int)
{
    *d = new Desc{compute, {}, 1, {}, {}, 0};
    return OK;
}
Status desc_destroy(void *d)
{
    delete object<Desc>(d);
    return OK;
}
Status desc_set(void *h, int what, const void *from, size_t bytes)
{
    Desc *d = object<Desc>(h);
    switch (what) {
    case TRANSA:
        return take(&d->op[0], from, bytes);
    case TRANSB:
        return take(&d->op[1], from, bytes);
    case EPILOGUE:
        return take(&d->epilogue, from, bytes);
    case BIAS_POINTER:
        return take(&d->bias, from, bytes);
    case AUX_POINTER:
        return take(&d->aux, from, bytes);
    case AUX_LD:
        return take(&d->aux_ld, from, bytes);
    default:
        return WRONG;
    }
}
Status layout_create(void **l, int type, uint64_t rows, uint64_t cols, int64_t ld)
{
    *l = new Layout{type, rows, cols, ld};
    return ld < (int64_t)rows ? WRONG : OK;
}
Status layout_destroy(void *l)
{
    delete object<Layout>(l);
    return OK;
}
Status pref_create(void **p)
{
    *p = new char;
    return OK;
}
Status pref_destroy(void *p)
{
    delete object<char>(p);
    return OK;
}
Status pref_set(void *, int what, const void *, size_t bytes)
{
    switch (what) {
    case REDUCTION_SCHEMES:
        return bytes == sizeof(uint32_t) ? OK : WRONG;
    case MAX_WORKSPACE:
    case IMPL_MASK:
        return bytes == sizeof(uint64_t) ? OK : WRONG;
    default:
        return WRONG;
    }
}

/* ---- products ---- */

/* Do the matrices fit each other, and is there what the epilogue needs? */
bool fits(const Desc *d, const Layout *a, const Layout *b, const Layout *c)
{
    const bool ta = d->op[0] != 0, tb = d->op[1] != 0;
    return (ta ? a->cols : a->rows) == c->rows && (tb ? b->rows : b->cols) == c->cols &&
           (ta ? a->rows : a->cols) == (tb ? b->cols : b->rows) && a->type == b->type &&
           (!(d->epilogue & (BIAS | BGRAD | BGRADA | BGRADB)) || d->bias) &&
           (!(d->epilogue & AUX) ||
            (d->aux && d->aux_ld % 128 == 0 && d->aux_ld >= (int64_t)c->rows));
}

/* Four ways: one is none, one is refused later. */
Status ask(void *, void *h, void *a, void *b, void *c, void *, void *, int most, Way *way, int *n)
{
    const Desc *d = object<Desc>(h);
    const Layout *of = object<Layout>(a);
    *n = 0;
    if (!fits(d, of, object<Layout>(b), object<Layout>(c)))
        return WRONG;
    if (d->epilogue == BGRADB && d->compute == COMPUTE_32F && of->type == R_32F)
        return NONE;
    for (; *n < 4 && *n < most; ++*n) {
        way[*n] = Way{};
        way[*n].algo.data[0] = (uint64_t)*n;
        way[*n].state = *n == 1 ? BROKEN : OK;
    }
    return OK;
}

Status cap(const Algo *, int what, void *to, size_t bytes, size_t *written)
{
    const uint64_t flags = ON_TENSOR_CORES;
    if (what != NUMERICS || bytes != sizeof flags)
        return WRONG;
    memcpy(to, &flags, *written = bytes);
    return OK;
}
Status config(const Algo *, int what, void *to, size_t bytes, size_t *written)
{
    const int32_t parts = 1;
    if (what != SPLITK || bytes != sizeof parts)
        return WRONG;
    memcpy(to, &parts, *written = bytes);
    return OK;
}

Status matmul(void *, void *h, const void *alpha, const void *a, void *la, const void *b, void *lb,
              const void *beta, const void *c, void *lc, void *to, void *, const Algo *algo, void *,
              size_t, void *stream)
{
    const Desc d = *object<Desc>(h);
    const Layout *of[] = {object<Layout>(la), object<Layout>(lb), object<Layout>(lc)};
    float one, by;
    memcpy(&one, alpha, sizeof one);
    memcpy(&by, beta, sizeof by);
    if (algo->data[0] == 2)
        return NONE;
    if (!fits(&d, of[0], of[1], of[2]) || one != 1 || c != to)
        return WRONG;
    const Matrix x = {*of[0], d.op[0] != 0, (char *)const_cast<void *>(a)},
                 y = {*of[1], d.op[1] != 0, (char *)const_cast<void *>(b)},
                 z = {*of[2], false, (char *)to};
    const bool wrong = fake::setting("GNN_FAKE_LT", 0) == 2;
    if (fake::sums == fake::DOUBLE)
        GNN_LAUNCH(multiply<double>, 1, 1, 0, stream, d, x, y, z, by, false, wrong);
    else
        GNN_LAUNCH(multiply<float>, 1, 1, 0, stream, d, x, y, z, by, fake::sums == fake::BACKWARD,
                   wrong);
    return OK;
}

} // namespace

void *gnn_dev_gemm_function(void *, const char *name)
{
    static const struct {
        const char *name;
        void *f;
    } known[] = {{"cublasLtCreate", (void *)create},
                 {"cublasLtDestroy", (void *)destroy},
                 {"cublasLtMatmulDescCreate", (void *)desc_create},
                 {"cublasLtMatmulDescDestroy", (void *)desc_destroy},
                 {"cublasLtMatmulDescSetAttribute", (void *)desc_set},
                 {"cublasLtMatrixLayoutCreate", (void *)layout_create},
                 {"cublasLtMatrixLayoutDestroy", (void *)layout_destroy},
                 {"cublasLtMatmulPreferenceCreate", (void *)pref_create},
                 {"cublasLtMatmulPreferenceDestroy", (void *)pref_destroy},
                 {"cublasLtMatmulPreferenceSetAttribute", (void *)pref_set},
                 {"cublasLtMatmulAlgoGetHeuristic", (void *)ask},
                 {"cublasLtMatmulAlgoCapGetAttribute", (void *)cap},
                 {"cublasLtMatmulAlgoConfigGetAttribute", (void *)config},
                 {"cublasLtMatmul", (void *)matmul}};
    for (const auto &k : known)
        if (fake::setting("GNN_FAKE_LT", 0) && !strcmp(k.name, name))
            return k.f;
    return nullptr;
}
