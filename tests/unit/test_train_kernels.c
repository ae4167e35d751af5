/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of training: against plain loops, finite differences and known values. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/act.h"
#include "kernels/batch_norm.h"
#include "kernels/gemm.h"
#include "kernels/loss.h"
#include "kernels/half.h"
#include "kernels/optim.h"
#include "kernels/spmm.h"
#include "lib/ops/ops.h"
#include "tap.h"

static uint64_t state = 1;
static float rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(state >> 40) / (float)(1 << 24) - 0.5f;
}
static float *vec(size_t n)
{
    float *v = malloc((n + 1) * sizeof(*v));
    if (!v)
        abort();
    for (size_t i = 0; i < n; i++)
        v[i] = rnd();
    return v;
}
static double gap(const float *a, const float *b, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++)
        m = worst_of(m, fabs((double)a[i] - (double)b[i]));
    return m;
}

static void test_gemm(void)
{
    enum { M = 37, N = 21, K = 53 };
    for (int t = 0; t < 8; t++) {
        const bool ta = t & 1, tb = t & 2;
        const float beta = t & 4 ? 1.0f : 0.0f;
        float *a = vec(M * K), *b = vec(K * N), *c = vec(M * N), *w = vec(M * N);
        memcpy(w, c, M * N * sizeof(*w));
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double s = (double)(beta * w[i * N + j]);
                for (size_t k = 0; k < K; k++)
                    s += (double)(ta ? a[k * M + i] : a[i * K + k]) *
                         (double)(tb ? b[j * K + k] : b[k * N + j]);
                w[i * N + j] = (float)s;
            }
        const int rc = gnn_gemm(ta, tb, M, N, K, 1, a, ta ? M : K, b, tb ? K : N, beta, c, N);
        ok(rc == 0 && gap(c, w, M * N) < 1e-5,
           "gnn_gemm agrees with plain loops for ta=%d tb=%d beta=%g", ta, tb, (double)beta);
        free(a), free(b), free(c), free(w);
    }
    float c[2] = {3, 4};
    ok(gnn_gemm(false, false, 1, 2, 0, 1, c, 1, c, 2, 0, c, 2) == 0 && c[0] == 0 && c[1] == 0,
       "gnn_gemm with k = 0 clears C");
}

/* Gradients of weights, which are made transposed where that is faster. */
static void test_turned(void)
{
    enum { MOST = 300, DEEPEST = 1300, THREADS = 4, SHAPES = 400 };
    float *a = vec(MOST * DEEPEST), *b = vec(MOST * DEEPEST), *c = vec(MOST * MOST),
          *w = vec(MOST * MOST), *scratch = vec(MOST * MOST);
    const int before = omp_get_max_threads();
    unsigned turned = 0, different = 0, failed = 0;
    for (unsigned i = 0; i < SHAPES; i++) {
        struct gnn_err e = {0};
        struct gnn_product p = {.ta = true,
                                .m = 1 + (i * 37) % MOST,
                                .n = 1 + (i * 101) % MOST,
                                .k = 60 + 3 * i,
                                .a = a,
                                .b = b,
                                .beta = i % 3 ? 1 : 0,
                                .c = w};
        omp_set_num_threads(1 + (int)(i % (THREADS + 1)));
        memcpy(c, w, p.m * p.n * sizeof *c);
        failed += gnn_ops_cpu.gemm(&gnn_ops_cpu, &p, &e) != 0;
        p.c = c;
        if (gnn_gemm_turns(p.ta, p.tb, p.m, p.n, p.k)) {
            p.turned = scratch;
            turned++;
        }
        failed += gnn_ops_cpu.gemm(&gnn_ops_cpu, &p, &e) != 0;
        different += memcmp(c, w, p.m * p.n * sizeof *c) != 0;
    }
    omp_set_num_threads(before);
    ok(!failed && !different, "%u of %d products are faster transposed, and have the same bits",
       turned, SHAPES);
    free(a), free(b), free(c), free(w), free(scratch);
}

enum { NR = 45, NC = 70, FIRST = 3 };

static void random_csr(uint32_t *ptr, uint32_t *idx)
{
    ptr[0] = 0;
    for (uint32_t i = 0; i < NR; i++) {
        const uint32_t deg = (uint32_t)((rnd() + 0.5f) * 20);
        ptr[i + 1] = ptr[i] + deg;
        for (uint32_t k = ptr[i]; k < ptr[i + 1]; k++)
            idx[k] = (uint32_t)((rnd() + 0.5f) * 0.999f * NC);
    }
}

static void test_spmm(void)
{
    const size_t widths[] = {1, 7, 64, 100, 256};
    uint32_t ptr[NR + 1], idx[NR * 20], tptr[NC + 1], tidx[NR * 20];
    for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++) {
        const size_t d = widths[k];
        random_csr(ptr, idx);
        float *row = vec(NR + FIRST), *col = vec(NC), *diag = vec(NR + FIRST);
        float *x = vec(NC * d), *y = vec((NR + FIRST) * d), *w = vec((NR + FIRST) * d);
        float *g = vec((NR + FIRST) * d), *dx = vec(NC * d);
        struct gnn_csr a = {.first = FIRST,
                            .n = NR,
                            .indptr = ptr,
                            .indices = idx,
                            .row = row,
                            .col = col,
                            .diag = diag,
                            .ndiag = NR + FIRST};
        memcpy(w, y, (NR + FIRST) * d * sizeof(*w));
        for (size_t i = 0; i < NR; i++)
            for (size_t j = 0; j < d; j++) {
                double s = 0;
                for (uint32_t e = ptr[i]; e < ptr[i + 1]; e++)
                    s += (double)col[idx[e]] * (double)x[idx[e] * d + j];
                w[(i + FIRST) * d + j] =
                    (float)(s * (double)row[i + FIRST] +
                            (double)(diag[i + FIRST] * x[(i + FIRST) * d + j]));
            }
        gnn_spmm(&a, x, d, d, y, d, 0);
        ok(gap(y, w, (NR + FIRST) * d) < 1e-5,
           "gnn_spmm aggregates %zu columns and leaves rows before the block alone", d);

        /* <A x, g> = <x, A^T g> with rows 0..FIRST-1 of A empty but for no diagonal */
        a.diag = NULL;
        memset(y, 0, (NR + FIRST) * d * sizeof(*y));
        gnn_spmm(&a, x, d, d, y, d, 1);
        gnn_csr_transpose(&a, 1, NC, tptr, tidx, NULL);
        struct gnn_csr t = {.n = NC, .indptr = tptr, .indices = tidx, .row = col, .col = row};
        gnn_spmm(&t, g, d, d, dx, d, 0);
        double l = 0, r = 0;
        for (size_t i = 0; i < (NR + FIRST) * d; i++)
            l += (double)y[i] * (double)g[i];
        for (size_t i = 0; i < NC * d; i++)
            r += (double)x[i] * (double)dx[i];
        ok(fabs(l - r) < 1e-3, "gnn_spmm by a transposed block is the adjoint for %zu columns", d);
        bool sorted = tptr[NC] == ptr[NR];
        for (size_t c = 0; c < NC; c++)
            for (uint32_t e = tptr[c]; e + 1 < tptr[c + 1]; e++)
                sorted = sorted && tidx[e] <= tidx[e + 1];
        ok(sorted, "gnn_csr_transpose gives lists that ascend");
        free(row), free(col), free(diag), free(x), free(y), free(w), free(g), free(dx);
    }
}

/* Rows of bf16 give the bits of the same numbers in f32, with factors and without, set or added, in
 * rows that no block has, too. */
static void test_spmm_bf16(void)
{
    const size_t widths[] = {1, 31, 32, 33, 47, 64, 65, 100, 128, 129, 256, 300};
    uint32_t ptr[NR + 1], idx[NR * 20];
    for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++) {
        const size_t d = widths[k];
        const uint32_t rows = NR + FIRST;
        random_csr(ptr, idx);
        float *row = vec(rows), *col = vec(NC), *diag = vec(rows), *x = vec(NC * d);
        float *y = vec(rows * d), *z = vec(rows * d);
        uint16_t *h = malloc(NC * d * sizeof *h);
        bool same = h != NULL;
        if (h)
            gnn_f32_to_bf16(x, NC * d, h), gnn_bf16_to_f32(h, NC * d, x);
        for (int how = 0; same && how < 8; how++) {
            const struct gnn_csr a = {.first = FIRST,
                                      .n = NR,
                                      .indptr = ptr,
                                      .indices = idx,
                                      .row = how & 1 ? row : NULL,
                                      .col = how & 1 ? col : NULL,
                                      .diag = how & 2 ? diag : NULL,
                                      .ndiag = how & 2 ? rows : 0};
            memcpy(z, y, rows * d * sizeof *z);
            gnn_spmm_rows(&a, 1, 0, rows, x, d, y, how & 4);
            gnn_spmm_rows_bf16(&a, 1, 0, rows, h, d, z, how & 4);
            same = !memcmp(y, z, rows * d * sizeof *z);
        }
        ok(same, "gnn_spmm_rows_bf16 gives the bits of gnn_spmm_rows for %zu columns", d);
        free(row), free(col), free(diag), free(x), free(y), free(z), free(h);
    }
}

static void test_act(void)
{
    enum { N = 1000, D = 100 };
    float *x = vec(N * D), *b = vec(D), *y = vec(N * D), *g = vec(N * D);
    uint32_t *id = malloc(N * sizeof(*id));
    if (!id)
        abort();
    for (uint32_t i = 0; i < N; i++)
        id[i] = i * 7;
    struct gnn_dropout q = {{0x12345678u, 0x9abcdef}, id, 65536 * 3 / 4};
    memcpy(y, x, N * D * sizeof(*y));
    gnn_bias_act(y, N, D, b, GNN_ACT_RELU, NULL);
    bool same = true;
    for (size_t i = 0; i < N * D; i++)
        same = same && y[i] == (x[i] + b[i % D] > 0 ? x[i] + b[i % D] : 0);
    ok(same, "gnn_bias_act adds a bias and applies ReLU");
    y[3] = NAN;
    gnn_bias_act(y, N, D, b, GNN_ACT_RELU, NULL);
    ok(isnan(y[3]) && !isnan(y[4]), "gnn_bias_act hides no NaN by ReLU");
    for (size_t i = 0; i < N * D; i++)
        x[i] = 1;
    memcpy(y, x, N * D * sizeof(*y));
    gnn_bias_act(y, N, D, NULL, GNN_ACT_RELU, &q);
    size_t kept = 0;
    for (size_t i = 0; i < N * D; i++)
        kept += y[i] > 0;
    /* 6 standard deviations of a binomial */
    ok(fabs((double)kept - 0.75 * N * D) < 6 * sqrt(N * D * 0.75 * 0.25),
       "gnn_bias_act keeps three quarters at a dropout of a quarter (%zu)", kept);
    ok(fabsf(y[0] - 4.0f / 3) < 1e-6f || y[0] == 0,
       "gnn_bias_act scales the values that dropout keeps");
    for (uint32_t i = 0; i < N; i++) /* the same nodes in another order: the same masks */
        id[i] = (N - 1 - i) * 7;
    gnn_dropout_copy(x, N, D, &q, g);
    same = true;
    for (size_t i = 0; i < N; i++)
        same = same && !memcmp(g + i * D, y + (N - 1 - i) * D, D * sizeof(*g));
    ok(same, "gnn_bias_act drops by the node, not by its place");
    for (size_t i = 0; i < N * D; i++)
        g[i] = 1;
    gnn_act_back(g, y, N, D, GNN_ACT_RELU, 4.0f / 3, &q);
    ok(gap(g, y, N * D) < 1e-6, "gnn_act_back takes a gradient through ReLU and dropout");

    float *work = vec(GNN_COLSUM_BLOCKS * D), *s = vec(D);
    double worst = 0;
    gnn_colsum(y, N, D, work, s, false);
    for (size_t j = 0; j < D; j++) {
        double t = 0;
        for (size_t i = 0; i < N; i++)
            t += (double)y[i * D + j];
        worst = worst_of(worst, fabs(t - (double)s[j]));
    }
    ok(worst < 1e-3, "gnn_colsum adds up columns");
    free(x), free(b), free(y), free(g), free(id), free(work), free(s);
}

static void test_act_values(void)
{
    enum { N = 5 };
    const float x[N] = {-3, -1e-4f, 0, 2, NAN};
    float elu[N], leaky[N];
    memcpy(elu, x, sizeof x);
    memcpy(leaky, x, sizeof x);
    gnn_bias_act(elu, 1, N, NULL, GNN_ACT_ELU, NULL);
    gnn_bias_act(leaky, 1, N, NULL, GNN_ACT_LEAKY, NULL);
    bool same = isnan(elu[4]) && isnan(leaky[4]);
    for (size_t i = 0; i < 4; i++) {
        const double v = (double)x[i], e = v > 0 ? v : expm1(v), l = v > 0 ? v : v / 100;
        same = same && fabs((double)elu[i] - e) <= 1.5e-7 * fabs(e) &&
               fabs((double)leaky[i] - l) <= 1e-7 * fabs(l);
    }
    ok(same, "gnn_bias_act applies ELU and leaky ReLU");
}

/* The loss sum(w * dropout(act(x))) of one row. */
static double act_loss(const float *x, size_t n, const float *w, enum gnn_act act,
                       const struct gnn_dropout *q)
{
    float y[64];
    double loss = 0;
    memcpy(y, x, n * sizeof(*y));
    gnn_bias_act(y, 1, n, NULL, act, q);
    for (size_t i = 0; i < n; i++)
        loss += (double)w[i] * (double)y[i];
    return loss;
}

/* Gradients of the functions that have a slope where y is 0, which dropout makes too. */
static void test_act_back(enum gnn_act act, const char *name)
{
    enum { D = 64 };
    const uint32_t id = 5;
    const struct gnn_dropout q = {{1, 2}, &id, 65536 / 2};
    float *x = vec(D), *w = vec(D), y[D], dy[D];
    for (size_t i = 0; i < D; i++)
        x[i] = 4 * x[i] + (x[i] < 0 ? -0.1f : 0.1f);
    double worst = 0;
    unsigned kept = 0, negative = 0;
    for (int drop = 0; drop < 2; drop++) {
        memcpy(y, x, sizeof y);
        memcpy(dy, w, sizeof dy);
        gnn_bias_act(y, 1, D, NULL, act, drop ? &q : NULL);
        gnn_act_back(dy, y, 1, D, act, drop ? 2 : 1, drop ? &q : NULL);
        for (size_t k = 0; k < D; k++) {
            const float was = x[k], h = 1.0f / 64;
            x[k] = was + h;
            const double up = act_loss(x, D, w, act, drop ? &q : NULL);
            x[k] = was - h;
            const double down = act_loss(x, D, w, act, drop ? &q : NULL);
            x[k] = was;
            worst = worst_of(worst, fabs((up - down) / (2.0 * (double)h) - (double)dy[k]));
            kept += drop && dy[k] != 0;
            negative += drop && y[k] < 0;
        }
    }
    ok(worst < 1e-4 && kept > D / 4 && kept < 3 * D / 4 && negative > 4,
       "gnn_act_back is the gradient of %s with and without dropout (%.2g)", name, worst);
    float zero[2] = {0, 0}, one[2] = {1, 1};
    gnn_act_back(one, zero, 1, 2, act, 1, NULL);
    ok(one[0] == (act == GNN_ACT_ELU ? 1 : 0.01f), "gnn_act_back gives %s its slope at 0", name);
    free(x), free(w);
}

/* d/dx of sum(w * f(x)) by central differences against the analytic gradient, at 40 places. */
static void test_layer_norm(void)
{
    enum { N = 9, D = 33 };
    float *x = vec(N * D), *ga = vec(D), *be = vec(D), *w = vec(N * D), *y = vec(N * D),
          *h = vec(N * D);
    float rstd[N], *dg = calloc(D, sizeof(float)), *db = calloc(D, sizeof(float)), *dy = vec(N * D);
    float *work = vec(GNN_COLSUM_BLOCKS * D);
    double worst = 0;
    gnn_layer_norm(x, N, D, ga, be, 1e-5f, h, rstd, y);
    memcpy(dy, w, N * D * sizeof(*dy));
    gnn_layer_norm_back(dy, h, rstd, N, D, ga, dg, db, work);
    for (size_t k = 0; k < 40; k++) {
        const int which = (int)(k % 3);
        float *p = which == 0 ? x : which == 1 ? ga : be;
        const size_t i = k * 7 % (which ? D : N * D);
        const float old = p[i];
        double l[2];
        for (int s = 0; s < 2; s++) {
            p[i] = old + (s ? 1e-2f : -1e-2f);
            gnn_layer_norm(x, N, D, ga, be, 1e-5f, NULL, rstd, y);
            l[s] = 0;
            for (size_t j = 0; j < N * D; j++)
                l[s] += (double)w[j] * (double)y[j];
        }
        p[i] = old;
        const double want = (l[1] - l[0]) / 2e-2;
        const double got = (double)(which == 0 ? dy[i] : which == 1 ? dg[i] : db[i]);
        worst = worst_of(worst, fabs(want - got) / (1 + fabs(want)));
    }
    ok(worst < 2e-3, "gnn_layer_norm_back agrees with finite differences (%.1e)", worst);
    free(x), free(ga), free(be), free(w), free(y), free(h), free(dg), free(db), free(dy),
        free(work);
}

/* Numbers of PyTorch: tests/train/record.py --batch-norm. */
static void test_batch_norm(void)
{
    enum { N = 7, D = 4 };
    static const float y[] = {
        -0.765530348f, 1.17351973f,  0.4837991f,    1.32553458f,  0.248280108f, -1.02664459f,
        -2.4513979f,   1.01122534f,  -0.331040144f, 0.230592117f, 2.68519688f,  0.696916044f,
        0.682770312f,  1.48782885f,  -0.250000179f, 1.2469573f,   0.103450045f, -0.712335467f,
        -3.18519735f,  0.932648003f, -0.475870192f, 0.544901311f, 1.95139766f,  0.618338764f,
        0.537940264f,  1.80213809f,  -0.983799458f, 1.1683799f};
    static const float dx[] = {-0.137515679f, 0.0655866936f,  0.0182553846f,  0.00848776288f,
                               0.0778714493f, -0.0858013406f, -0.147947013f,  -0.00679386687f,
                               -0.12796694f,  0.0366271622f,  0.0613739304f,  0.00512434263f,
                               0.087420173f,  -0.123822607f,  -0.104828469f,  -0.00137705309f,
                               -0.118418217f, 0.00766762067f, 0.0958687663f,  0.0105411559f,
                               0.327478677f,  0.130096123f,   -0.0617099218f, -0.00474047288f,
                               -0.108869493f, -0.0303536467f, 0.138987318f,   -0.0112418691f};
    static const float dgamma[] = {0.87415272f, 0.0729646236f, -0.0458624549f, -0.735259116f};
    static const float dbeta[] = {-0.5f, 0.125f, -0.375f, 0.25f};
    static const float mean[] = {0.151071429f, 0.361428559f, 2.41750002f, 0.619285762f};
    static const float var[] = {0.975118995f, 4.31595182f, 9.14624977f, 24.5102386f};
    static const float later[] = {
        -0.582829118f, 1.27566159f,  7.74033594f,   1.78930521f,   0.303259224f, -2.93615317f,
        1.78850281f,   1.13284338f,  -0.203076988f, -0.529401898f, 12.2042103f,  0.476381481f,
        0.683011413f,  1.87734938f,  6.25237751f,   1.62518978f,   0.176675171f, -2.33446527f,
        0.3005445f,    0.968727887f, -0.329661041f, 0.0722859353f, 10.7162523f,  0.312266022f,
        0.55642736f,   2.47903705f,  4.76441956f,   1.46107423f};
    const float gamma[D] = {0.5f, -1, 2, 0.25f}, beta[D] = {0, 0.5f, -0.25f, 1};
    float x[N * D], g[N * D], out[N * D], h[N * D], stat[GNN_BATCH_STATS * D],
        rm[D] = {0}, rv[D] = {1, 1, 1, 1}, dg[D] = {0}, db[D] = {0};
    double work[GNN_MOMENT_BLOCKS * 2 * D], sum[2 * D];
    int64_t batches = 0;
    for (int step = 0; step < 2; step++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < D; j++) {
                x[i * D + j] = (float)((7 * i + 3 * j) % 11 - 4) * (0.25f + (float)j) +
                               (j == 2 ? 10 : 0) + (step ? 0 : 1);
                g[i * D + j] = (float)((5 * i + 2 * j) % 9 - 4) * 0.125f;
            }
        memset(sum, 0, sizeof sum);
        gnn_moments(x, x, NULL, 3, D, work, sum); /* by parts */
        gnn_moments(x + 3 * D, x + 3 * D, NULL, N - 3, D, work, sum);
        gnn_batch_stats(sum, N, D, 1e-5f, stat);
        gnn_batch_norm(x, N, D, stat, gamma, beta, h, out);
        gnn_batch_track(stat, D, 0.1f, rm, rv, &batches);
    }
    ok(gap(out, y, N * D) < 1e-5, "gnn_batch_norm gives the rows of PyTorch");
    ok(gap(rm, mean, D) < 1e-6 && gap(rv, var, D) < 1e-5 && batches == 2,
       "gnn_batch_track keeps the running statistics of PyTorch");
    memset(sum, 0, sizeof sum);
    gnn_moments(g, h, NULL, N, D, work, sum);
    gnn_batch_norm_grads(sum, D, dg, db);
    gnn_batch_back_stats(sum, N, D, stat);
    gnn_batch_norm_back(g, h, NULL, N, D, stat, gamma);
    ok(gap(g, dx, N * D) < 1e-6 && gap(dg, dgamma, D) < 1e-6 && gap(db, dbeta, D) < 1e-6,
       "gnn_batch_norm_back gives the gradients of PyTorch");
    gnn_running_stats(rm, rv, D, 1e-5f, stat);
    gnn_batch_norm(x, N, D, stat, gamma, beta, NULL, out);
    ok(gap(out, later, N * D) < 2e-5,
       "gnn_batch_norm gives the rows of PyTorch by running statistics");
}

/* Variances from sums of squares, where the mean is large; rows that do not count; one value
 * everywhere. */
static void test_batch_stats(void)
{
    enum { N = 20000, D = 5 };
    float *x = vec(N * D), stat[GNN_BATCH_STATS * D];
    double work[GNN_MOMENT_BLOCKS * 2 * D], sum[2 * D] = {0}, worst = 0, rows = 0;
    uint8_t *count = malloc(N);
    if (!count)
        abort();
    for (size_t i = 0; i < N; i++)
        rows += count[i] = i % 3 != 1;
    for (size_t i = 0; i < N * D; i++) {
        const bool out = !count[i / D];
        x[i] = i % D == 4 ? 7.1f : x[i] * (i % D == 1 ? 1e-3f : 1) + (i % D == 2 ? 1000 : 0);
        x[i] = out ? 1e9f : x[i];
    }
    gnn_moments(x, x, count, N, D, work, sum);
    gnn_batch_stats(sum, rows, D, 1e-12f, stat);
    for (size_t j = 0; j < D - 1; j++) {
        double m = 0, v = 0;
        for (size_t i = 0; i < N; i++)
            m += count[i] ? (double)x[i * D + j] / rows : 0;
        for (size_t i = 0; i < N; i++)
            v +=
                count[i] ? ((double)x[i * D + j] - m) * ((double)x[i * D + j] - m) / (rows - 1) : 0;
        worst = worst_of(worst, worst_of(fabs((double)stat[j] - m) / sqrt(v),
                                         fabs((double)stat[2 * D + j] - v) / v));
    }
    ok(worst < 1e-3, "gnn_batch_stats takes statistics of the rows that count (%.1e)", worst);
    ok(fabsf(stat[4] - 7.1f) < 1e-6f && stat[3 * D - 1] < 1e-6f && isfinite(stat[2 * D - 1]),
       "gnn_batch_stats takes finite statistics of a constant column");
    free(x), free(count);
}

enum { ROWS = 6, COLS = 5 };

static void some_loss(int kind, const float *z, const int32_t *y, const float *t, float scale,
                      double *l, float *dz)
{
    if (kind == 0)
        gnn_softmax_ce(z, ROWS, COLS, y, scale, l, dz);
    else if (kind == 1)
        gnn_squared_error(z, ROWS, COLS, t, scale, l, dz);
    else
        gnn_sigmoid_ce(z, ROWS, COLS, t, scale, l, dz);
}

static void test_loss(void)
{
    float *z = vec(ROWS * COLS), *dz = vec(ROWS * COLS), t[ROWS * COLS];
    int32_t y[ROWS] = {0, 4, 2, -1, 3, 1};
    double l[ROWS], worst = 0;
    for (int i = 0; i < ROWS * COLS; i++) {
        z[i] *= 6;
        t[i] = i % 7 == 3 ? NAN : (float)(i % 2);
    }
    static const char *const names[] = {"softmax cross-entropy", "the squared error",
                                        "sigmoid cross-entropy"};
    for (int kind = 0; kind < 3; kind++) {
        some_loss(kind, z, y, t, 0.5f, l, dz);
        for (size_t i = 0; i < ROWS * COLS; i++) {
            const float old = z[i];
            double s[2] = {0, 0};
            for (int k = 0; k < 2; k++) {
                z[i] = old + (k ? 1e-2f : -1e-2f);
                some_loss(kind, z, y, t, 1, l, NULL);
                for (int r = 0; r < ROWS; r++)
                    s[k] += 0.5 * l[r];
            }
            z[i] = old;
            worst = worst_of(worst, fabs((s[1] - s[0]) / 2e-2 - (double)dz[i]));
        }
        ok(worst < 1e-4, "the gradient of %s agrees with finite differences (%.1e)", names[kind],
           worst);
        ok(!kind || dz[3] == 0, "%s gives no gradient where the target is unknown", names[kind]);
    }
    float big[2] = {1000, -1000}, dbig[2];
    int32_t wrong = 1;
    gnn_softmax_ce(big, 1, 2, &wrong, 1, l, dbig);
    ok(fabs(l[0] - 2000) < 1e-3 && dbig[0] == 1,
       "gnn_softmax_ce does not overflow for large logits");
    gnn_softmax(big, 1, 2);
    ok(big[0] == 1 && big[1] == 0, "gnn_softmax does not overflow for large logits");
    free(z), free(dz);
}

/* The sum of the losses of 4 positives and their negatives, from the definition. */
static double link_losses(const float *z, const float *y, size_t n, size_t each, bool softmax)
{
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        double all = 1; /* of powers, over that of the positive */
        for (size_t k = 0; k < n; k++) {
            const double x = (double)z[4 + k] - (double)z[i];
            if (i != (each ? k / each : k % 4) || isnan(y[4 + k]))
                continue;
            all += exp(x);
            sum += softmax ? 0 : log1p(exp(x));
        }
        sum += softmax ? log(all) : 0;
    }
    return sum;
}

static void test_link_loss(void)
{
    static const size_t each[] = {0, 0, 2, 3}, negatives[] = {3, 10, 8, 12};
    for (int k = 0; k < 8; k++) {
        const size_t n = negatives[k / 2], own = each[k / 2], all = 4 + n;
        const bool softmax = k % 2, ragged = own == 3;
        float *z = vec(all), *dz = vec(all), y[16] = {1, 1, 1, 1};
        double l[16], gap = 0, sum = 0, worst = 0;
        for (size_t i = 0; i < all; i++)
            z[i] *= 4;
        /* Of 3 places each, links have 3, 1, none and 2 negatives. */
        for (size_t i = 4; ragged && i < all; i++)
            y[i] = "....-----..-"[i - 4] == '-' ? NAN : 0;
        gnn_link_loss(z, y, 4, n, own, softmax, 0.5f, l, dz);
        for (size_t i = 0; i < all; i++) {
            const float old = z[i];
            double s[2];
            sum += l[i];
            gap += l[i] * ((i < 4) != softmax || isnan(y[i])); /* of those that have none */
            for (int side = 0; side < 2; side++) {
                z[i] = old + (side ? 1e-2f : -1e-2f);
                s[side] = 0.5 * link_losses(z, y, n, own, softmax);
            }
            z[i] = old;
            worst = worst_of(worst, fabs((s[1] - s[0]) / 2e-2 - (double)dz[i]));
        }
        ok(gap == 0 && fabs(sum - link_losses(z, y, n, own, softmax)) < 1e-12 * sum,
           "%s of 4 links and %zu %s has the losses of its definition", softmax ? "softmax" : "BPR",
           n, ragged ? "places of negatives" : "negatives");
        ok(worst < 1e-4, "its gradient agrees with finite differences (%.1e)", worst);
        gnn_link_loss(z, y, 4, n, own, softmax, 0.5f, l, z);
        ok(!memcmp(z, dz, all * sizeof *z), "and is the same in place");
        free(z), free(dz);
    }
    float big[3] = {-1000, 1000, -1000};
    const float y[3] = {1, 0, 0};
    double l[3];
    gnn_link_loss(big, y, 1, 2, 2, true, 1, l, NULL);
    ok(fabs(l[0] - 2000) < 1e-9, "softmax of links does not overflow");
    gnn_link_loss(big, y, 1, 2, 2, false, 1, l, big);
    ok(fabs(l[1] - 2000) < 1e-9 && big[0] == -1.5f && big[1] == 1 && big[2] == 0.5f,
       "nor does BPR");
}

static void test_optim(void)
{
    enum { N = 40, STEPS = 5 };
    float *p = vec(N), *q = vec(N), *m = calloc(N, sizeof(float)), *v = calloc(N, sizeof(float));
    double dp[N], dm[N] = {0}, dv[N] = {0};
    for (int kind = 0; kind < 3; kind++) {
        for (int i = 0; i < N; i++) {
            dp[i] = (double)p[i];
            dm[i] = dv[i] = 0;
            m[i] = v[i] = 0;
        }
        for (uint64_t t = 1; t <= STEPS; t++) {
            struct gnn_optim_step s = {0.01f, 0.1f, 0.9f, 0.999f, 1e-8f, 0.8f, t};
            for (int i = 0; i < N; i++)
                q[i] = rnd();
            if (kind == 2)
                gnn_sgd(p, q, m, N, &s);
            else
                gnn_adam(p, q, m, v, N, kind == 1, &s);
            for (int i = 0; i < N; i++) {
                double g = (double)q[i];
                if (kind == 1)
                    dp[i] *= 1 - 0.01 * 0.1;
                else
                    g += 0.1 * dp[i];
                if (kind == 2) {
                    dm[i] = t == 1 ? g : 0.8 * dm[i] + g;
                    dp[i] -= 0.01 * dm[i];
                    continue;
                }
                dm[i] = 0.9 * dm[i] + 0.1 * g;
                dv[i] = 0.999 * dv[i] + 0.001 * g * g;
                dp[i] -= 0.01 * (dm[i] / (1 - pow(0.9, (double)t))) /
                         (sqrt(dv[i] / (1 - pow(0.999, (double)t))) + 1e-8);
            }
        }
        double worst = 0;
        for (int i = 0; i < N; i++)
            worst = worst_of(worst, fabs(dp[i] - (double)p[i]));
        ok(worst < 1e-5, "%s takes the steps of PyTorch (%.1e)",
           kind == 0   ? "Adam"
           : kind == 1 ? "AdamW"
                       : "SGD",
           worst);
    }
    free(p), free(q), free(m), free(v);
}

static void test_widen(void)
{
    const uint16_t h[] = {0x3c00, 0xc000, 0x0001, 0x03ff, 0x7bff, 0x8000, 0x7c00, 0x3555};
    const float want[] = {1, -2, 0x1p-24f, 0x1.ff8p-15f, 65504, -0.0f, INFINITY, 0x1.554p-2f};
    const uint16_t b[] = {0x3f80, 0xc040, 0x0001};
    const float wb[] = {1, -3, 0x1p-133f};
    float y[8];
    gnn_f16_to_f32(h, 8, y);
    ok(!memcmp(y, want, sizeof(want)), "gnn_f16_to_f32 widens exactly");
    gnn_bf16_to_f32(b, 3, y);
    ok(!memcmp(y, wb, sizeof(wb)), "gnn_bf16_to_f32 widens exactly");
}

int main(void)
{
    test_gemm();
    test_turned();
    test_spmm();
    test_spmm_bf16();
    test_act();
    test_act_values();
    test_act_back(GNN_ACT_ELU, "ELU");
    test_act_back(GNN_ACT_LEAKY, "leaky ReLU");
    test_layer_norm();
    test_batch_norm();
    test_batch_stats();
    test_loss();
    test_link_loss();
    test_optim();
    test_widen();
    return tap_done();
}
