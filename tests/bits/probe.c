/* SPDX-License-Identifier: Apache-2.0 */
/* What the libraries compute here, and nothing of ours: one line each, "float", "metis", "zstd",
 * with a hash. Lists of hashes (run.sh) hold for machines on which these are those of the machine
 * where the lists were recorded. */
#include <math.h>
#include <metis.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

enum { ROWS = 700, COLS = 100, SIZE = ROWS * COLS, NODES = 2000 };

static uint32_t random_state = 1;
static float next_float(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (float)(random_state >> 8) / 8388608.0f - 1.0f;
}

static void fill_floats(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = next_float();
}

/* Products of the shapes that layers have, forwards and backwards. */
static int hash_products(XXH64_state_t *h, float *a, float *b, float *c)
{
    static const int width[] = {3, 4, 8, 12, 16, 32, 100}, rows[] = {1, 30, 257, ROWS};
    const size_t nwidth = sizeof width / sizeof *width;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t i = 0; i < nwidth * nwidth; i++) {
            const dnnl_dim_t n = width[i % nwidth], k = width[i / nwidth], m = rows[r];
            fill_floats(c, (size_t)(m * n));
            if (dnnl_sgemm('N', 'T', m, n, k, 1, a, k, b, k, 1, c, n) ||
                XXH64_update(h, c, (size_t)(m * n) * 4) ||
                dnnl_sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, c, n) ||
                XXH64_update(h, c, (size_t)(m * n) * 4) ||
                dnnl_sgemm('T', 'N', n, k, m, 1, a, n, b, k, 0, c, k) ||
                XXH64_update(h, c, (size_t)(n * k) * 4))
                return -1;
        }
    return 0;
}

static void hash_functions(XXH64_state_t *h)
{
    for (int i = 0; i < 5000; i++) {
        const float x = 8 * next_float();
        const double y = (double)x * x + 1e-3,
                     v[] = {(double)expf(x), log(y), pow(0.9, y), cos((double)x)};
        XXH64_update(h, v, sizeof v);
    }
}

static int hash_floats(XXH64_state_t *h)
{
    float *x = malloc(3 * SIZE * sizeof *x);
    if (!x)
        return -1;
    int rc = 0;
    fill_floats(x, 2 * SIZE);
    for (int threads = 1; threads <= 3 && !rc; threads++) {
        omp_set_num_threads(threads);
        rc = hash_products(h, x, x + SIZE, x + 2 * SIZE);
    }
    hash_functions(h);
    free(x);
    return rc;
}

/* A ring with chords. */
static int hash_metis(XXH64_state_t *h)
{
    idx_t ptr[NODES + 1], *to = malloc(4 * NODES * sizeof *to), part[NODES];
    if (!to)
        return -1;
    for (idx_t i = 0; i <= NODES; i++)
        ptr[i] = 4 * i;
    for (idx_t i = 0; i < NODES; i++) {
        to[4 * i] = (i + 1) % NODES;
        to[4 * i + 1] = (i + NODES - 1) % NODES;
        to[4 * i + 2] = (i + 37) % NODES;
        to[4 * i + 3] = (i + NODES - 37) % NODES;
    }
    int rc = 0;
    for (idx_t parts = 2; parts <= 9 && !rc; parts++) {
        idx_t n = NODES, one = 1, cut, options[METIS_NOPTIONS];
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = parts;
        options[METIS_OPTION_OBJTYPE] = parts % 2 ? METIS_OBJTYPE_VOL : METIS_OBJTYPE_CUT;
        rc = METIS_PartGraphKway(&n, &one, ptr, to, NULL, NULL, NULL, &parts, NULL, NULL, options,
                                 &cut, part) != METIS_OK;
        XXH64_update(h, part, sizeof part);
    }
    free(to);
    return rc;
}

static int hash_zstd(XXH64_state_t *h)
{
    static char in[1 << 16], out[1 << 17];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (char)(i % 7 ? i / 4 % 251 : (size_t)(100 * (next_float() + 1)));
    for (int level = 1; level <= 19; level++) {
        const size_t n = ZSTD_compress(out, sizeof out, in, sizeof in, level);
        if (ZSTD_isError(n))
            return -1;
        XXH64_update(h, out, n);
    }
    return 0;
}

static int print_hash(const char *name, int (*f)(XXH64_state_t *))
{
    XXH64_state_t *h = XXH64_createState();
    random_state = 1;
    int rc = !h || XXH64_reset(h, 0) || f(h);
    if (!rc)
        printf("%s %016llx\n", name, (unsigned long long)XXH64_digest(h));
    XXH64_freeState(h);
    return rc;
}

int main(void)
{
    if (print_hash("float", hash_floats) || print_hash("metis", hash_metis) ||
        print_hash("zstd", hash_zstd) || fflush(stdout)) {
        fprintf(stderr, "probe: a library failed\n");
        return 1;
    }
    return 0;
}
