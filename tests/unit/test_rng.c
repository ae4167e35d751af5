/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/rng.h and kernels/perm.h: published vectors, exact bounds, permutations. */
#include <stdlib.h>
#include <string.h>

#include "kernels/perm.h"
#include "kernels/rng.h"
#include "tap.h"

static void vectors(void)
{
    /* Known answers published with Random123 for philox4x32, 10 rounds. */
    static const struct {
        uint32_t c[4], k[2], want[4];
    } v[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        uint32_t out[4];
        gnn_philox(v[i].c, v[i].k, out);
        ok(!memcmp(out, v[i].want, sizeof out),
           "gnn_philox gives the published vector %zu of Philox4x32-10", i);
    }
}

static void bounded(void)
{
    const uint32_t key[2] = {12, 34};
    /* 3 * 2^30: a quarter of the words must be rejected, or the low third would come too often. */
    const uint32_t n = 3u << 30;
    uint32_t low = 0, max = 0, draws = 300000;
    for (uint32_t i = 0; i < draws; i++) {
        uint32_t x = gnn_rng_below(key, i, i & 7, 0, n);
        low += x < (1u << 30);
        max = x > max ? x : max;
    }
    /* sd = sqrt(draws * 2/9) = 258 */
    ok(max < n && abs((int)low - (int)(draws / 3)) < 6 * 258,
       "gnn_rng_below is exact for a bound above 2^31 (%u of %u)", low, draws);
    bool one = true;
    for (uint32_t i = 0; i < 1000; i++)
        one = one && gnn_rng_below(key, i, 0, 0, 1) == 0;
    ok(one, "gnn_rng_below gives 0 for a bound of 1");
    double chi = 0;
    uint32_t count[7] = {0};
    for (uint32_t i = 0; i < 70000; i++)
        count[gnn_rng_below(key, 5, i, 0, 7)]++;
    for (int i = 0; i < 7; i++)
        chi += (count[i] - 10000.0) * (count[i] - 10000.0) / 10000.0;
    ok(chi < 27.9, "gnn_rng_below draws uniformly from 7 (chi2 %.1f, 6 degrees)",
       chi); /* p = 1e-4 */
    uint32_t a[2], b[2];
    gnn_rng_key(1, 2, 3, 4, 5, a);
    gnn_rng_key(1, 2, 3, 5, 4, b);
    ok(a[0] != b[0] && a[1] != b[1],
       "gnn_rng_key makes different keys for different hops and tags");
}

static bool is_permutation(uint64_t n, const uint32_t key[2], uint32_t *order)
{
    struct gnn_perm p;
    gnn_perm_init(&p, n, key);
    unsigned char *seen = calloc(n, 1);
    bool fine = true;
    for (uint64_t i = 0; i < n && fine; i++) {
        uint64_t j = gnn_perm_at(&p, i);
        fine = j < n && !seen[j] && gnn_perm_back(&p, j) == i;
        if (fine)
            seen[j] = 1;
        if (order)
            order[i] = (uint32_t)j;
    }
    free(seen);
    return fine;
}

static void many_positions(void)
{
    bool same = true;
    for (uint64_t k = 0; k < 300; k++) {
        const uint64_t n = k < 100 ? k + 1 : k < 200 ? k * k * 7 : 0xfffffffeull - k;
        const uint32_t key[2] = {(uint32_t)k, 5},
                       m = (uint32_t)(n < GNN_PERM_MANY ? n : GNN_PERM_MANY - k % 9);
        uint64_t to[GNN_PERM_MANY];
        struct gnn_perm p;
        gnn_perm_init(&p, n, key);
        gnn_perm_many(&p, n - m, m, to);
        for (uint32_t i = 0; i < m; i++)
            same = same && to[i] == gnn_perm_at(&p, n - m + i);
    }
    ok(same, "gnn_perm_many gives for many positions what gnn_perm_at gives for each");
}

static void permutations(void)
{
    bool small = true;
    for (uint64_t n = 1; n <= 600; n++) {
        const uint32_t key[2] = {(uint32_t)n, 7};
        small = small && is_permutation(n, key, NULL);
    }
    ok(small, "gnn_perm_at is a permutation for every n up to 600, and gnn_perm_back its inverse");
    const uint32_t key[2] = {1, 2};
    ok(is_permutation(196615, key, NULL), "gnn_perm_at is a permutation of 196615");
    ok(is_permutation(1 << 20, key, NULL), "gnn_perm_at is a permutation of 2^20");
    struct gnn_perm p;
    gnn_perm_init(&p, 0xfffffffeull, key);
    bool below = true;
    for (uint64_t i = 0; i < 100000; i++)
        below = below && gnn_perm_at(&p, i * 42949) < 0xfffffffeull;
    ok(below, "gnn_perm_at stays in range for 2^32 - 2 items");

    /* Each position of a list of 12 is hit by each item equally often, and pairs of neighbours too.
     */
    enum { N = 12, KEYS = 120000 };
    static uint32_t at[N][N], next[N][N];
    for (uint32_t k = 0; k < KEYS; k++) {
        uint32_t kk[2], o[N];
        gnn_rng_key(9, k, 0, 0, gnn_rng_tag(GNN_RNG_ORDER, 1, 0), kk);
        gnn_perm_init(&p, N, kk);
        for (uint32_t i = 0; i < N; i++)
            at[i][o[i] = (uint32_t)gnn_perm_at(&p, i)]++;
        for (uint32_t i = 0; i + 1 < N; i++)
            next[o[i]][o[i + 1]]++;
    }
    double chi = 0, pair = 0, e = (double)KEYS / N, ep = (double)KEYS * (N - 1) / (N * (N - 1));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            chi += (at[i][j] - e) * (at[i][j] - e) / e;
            if (i != j)
                pair += (next[i][j] - ep) * (next[i][j] - ep) / ep;
        }
    /* 121 degrees: 99.99 % below 185; about 131 for pairs: below 198 */
    ok(chi < 185, "gnn_perm_at spreads items evenly over positions (chi2 %.1f)", chi);
    ok(pair < 198, "gnn_perm_at makes all pairs of neighbours equally likely (chi2 %.1f)", pair);

    uint32_t a[2], b[2];
    static uint32_t oa[5000], ob[5000];
    gnn_rng_key(1, 0, 0, 0, gnn_rng_tag(GNN_RNG_ORDER, 1, 0), a);
    gnn_rng_key(1, 1, 0, 0, gnn_rng_tag(GNN_RNG_ORDER, 1, 0), b);
    bool both = is_permutation(5000, a, oa) && is_permutation(5000, b, ob);
    int same = 0;
    for (int i = 0; i < 5000; i++)
        same += oa[i] == ob[i];
    ok(both && same < 10, "gnn_perm_at gives epochs different orders (%d fixed)", same);
}

int main(void)
{
    vectors();
    bounded();
    permutations();
    many_positions();
    return tap_done();
}
