/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and unit rows: against plain loops, known values and finite differences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/message.h"
#include "kernels/rows.h"
#include "tap.h"

static uint64_t state = 5;
static uint32_t draw(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}
static void numbers(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)draw(1u << 20) / (1 << 19) - 1;
}

/* Rows 1 to 40 in two blocks; row 0, and those from 41 on, are in none. Edges may be there twice.
 */
enum { ROWS = 45, COLS = 30, D = 7, HALF = 20, MOST = 2 * HALF * 8 };
static uint32_t ptr[2][HALF + 1], idx[MOST], src[MOST], dst[MOST], edges;
static uint32_t tptr[COLS + 1], tidx[MOST], tedge[MOST];
static struct gnn_csr block[2], back;

static void make_graph(void)
{
    for (uint32_t b = 0; b < 2; b++) {
        block[b] =
            (struct gnn_csr){.first = 1 + b * HALF, .n = HALF, .indptr = ptr[b], .indices = idx};
        for (uint32_t i = 0; i < HALF; i++) {
            ptr[b][i] = edges;
            for (uint32_t k = draw(4) ? draw(8) : 0; k; k--, edges++) {
                idx[edges] = src[edges] = edges % 3 == 1 && k > 1 ? src[edges - 1] : draw(COLS);
                dst[edges] = 1 + b * HALF + i;
            }
        }
        ptr[b][HALF] = edges;
    }
    gnn_csr_transpose(block, 2, COLS, tptr, tidx, tedge);
    back = (struct gnn_csr){.n = COLS, .indptr = tptr, .indices = tidx, .edge = tedge};
}

static void test_max(void)
{
    float x[COLS * D], y[ROWS * D], dy[ROWS * D], dx[COLS * D], want[COLS * D];
    uint32_t arg[ROWS * D];
    numbers(x, COLS * D);
    numbers(dy, ROWS * D);
    numbers(dx, COLS * D);
    for (size_t k = 0; k < COLS * D; k += 5)
        x[k] = 0.25f; /* equal ones */
    gnn_max_rows(block, 2, 0, ROWS, x, D, y, arg, 0, false);
    size_t wrong = 0;
    memcpy(want, dx, sizeof want);
    for (uint32_t i = 0; i < ROWS; i++)
        for (size_t c = 0; c < D; c++) {
            uint32_t first = UINT32_MAX;
            for (uint32_t e = 0; e < edges; e++)
                if (dst[e] == i &&
                    (first == UINT32_MAX || x[src[e] * D + c] > x[src[first] * D + c]))
                    first = e;
            wrong += arg[i * D + c] != first;
            wrong += y[i * D + c] != (first == UINT32_MAX ? 0 : x[src[first] * D + c]);
            if (first != UINT32_MAX)
                want[src[first] * D + c] += dy[i * D + c];
        }
    ok(!wrong, "gnn_max_rows finds the largest of the neighbours and the first edge that has it");
    gnn_max_back(&back, 1, 0, COLS, dy, arg, D, dx, 0, true);
    for (size_t k = 0; k < COLS * D; k++)
        wrong += fabsf(dx[k] - want[k]) > 1e-5f;
    ok(!wrong,
       "gnn_max_back adds each gradient to one neighbour, also where an edge is there twice");
    float again[ROWS * D], some[ROWS * D];
    gnn_max_rows(block, 2, 0, ROWS, x, D, again, NULL, 0, false);
    gnn_max_rows(block, 2, 17, 30, x, D, some, arg, 0, false);
    ok(!memcmp(again, y, sizeof y) && !memcmp(some, y + 17 * D, 13 * D * sizeof *y),
       "gnn_max_rows makes the same of a range of rows and without numbers of edges");
    x[src[0] * D] = NAN;
    gnn_max_rows(block, 2, 0, ROWS, x, D, y, arg, 0, false);
    ok(isnan(y[dst[0] * D]) && src[arg[dst[0] * D]] == src[0], "gnn_max_rows hides no NaN");
}

/* Going on from earlier edges, of which some rows had none, is one maximum of both. */
static void test_max_goes_on(void)
{
    float x[2][COLS * D], y[2][ROWS * D], more[ROWS * D], dy[ROWS * D], dx[2][COLS * D];
    uint32_t arg[2][ROWS * D], all[ROWS * D];
    size_t wrong = 0;
    numbers(dy, ROWS * D);
    for (unsigned k = 0; k < 2; k++) {
        numbers(x[k], COLS * D);
        gnn_max_rows(block, 2, 0, ROWS, x[k], D, y[k], arg[k], k * edges, false);
    }
    memcpy(more, y[0], sizeof more);
    memcpy(all, arg[0], sizeof all);
    for (size_t c = 0; c < D; c++) { /* as if nothing had led to this row before */
        more[dst[5] * D + c] = 0, all[dst[5] * D + c] = UINT32_MAX;
        y[0][dst[5] * D + c] = -2;
    }
    gnn_max_rows(block, 2, 0, ROWS, x[1], D, y[1], arg[1], edges, false);
    gnn_max_rows(block, 2, 0, ROWS, x[1], D, more, all, edges, true);
    for (size_t k = 0; k < ROWS * D; k++) {
        const bool second = arg[1][k] != UINT32_MAX && y[1][k] > y[0][k];
        wrong += all[k] != arg[second][k] || (all[k] != UINT32_MAX && more[k] != y[second][k]);
    }
    ok(!wrong, "gnn_max_rows goes on from the maximum of earlier edges");
    memset(dx, 0, sizeof dx);
    gnn_max_back(&back, 1, 0, COLS, dy, all, D, dx[0], 0, false);
    gnn_max_back(&back, 1, 0, COLS, dy, all, D, dx[1], edges, true);
    double sum = 0, want = 0;
    for (size_t k = 0; k < ROWS * D; k++)
        want += all[k] == UINT32_MAX ? 0 : (double)dy[k];
    for (size_t k = 0; k < COLS * D; k++)
        sum += (double)dx[0][k] + (double)dx[1][k];
    ok(fabs(sum - want) < 1e-4, "gnn_max_back gives each gradient to the edge it is of");
}

/* The sum of w times the messages of all edges with rows z. */
static double message_loss(const float *x, const float *z, const float *w)
{
    float y[ROWS * D];
    double s = 0;
    gnn_edge_relu(block, 2, 0, ROWS, x, z, 0, D, y, false);
    for (size_t k = 0; k < ROWS * D; k++)
        s += (double)w[k] * (double)y[k];
    return s;
}

static double slope_of(float *at, const float *x, const float *z, const float *w)
{
    const float was = *at, h = 1.0f / 4096;
    *at = was + h;
    const double up = message_loss(x, z, w);
    *at = was - h;
    const double down = message_loss(x, z, w);
    *at = was;
    return (up - down) / (2.0 * (double)h);
}

static void test_edge_relu(void)
{
    static float x[COLS * D], z[MOST * D], y[ROWS * D], w[ROWS * D], dz[MOST * D], dx[COLS * D];
    double want[ROWS * D] = {0}, worst = 0;
    numbers(x, COLS * D);
    numbers(z, edges * D);
    numbers(w, ROWS * D);
    for (size_t k = 0; k < edges * D; k++)
        for (float *v = &z[k]; fabsf(*v + x[src[k / D] * D + k % D]) < 1e-3f;)
            *v += 0.01f; /* the slope changes at 0 */
    for (uint32_t e = 0; e < edges; e++)
        for (size_t c = 0; c < D; c++)
            want[dst[e] * D + c] += fmax(0, (double)x[src[e] * D + c] + (double)z[e * D + c]);
    gnn_edge_relu(block, 2, 0, ROWS, x, z, 0, D, y, false);
    for (size_t k = 0; k < ROWS * D; k++)
        worst = worst_of(worst, fabs(want[k] - (double)y[k]));
    ok(worst < 1e-5, "gnn_edge_relu adds up what neighbours and edges send, cut at 0");
    gnn_edge_relu_back(block, 2, 0, ROWS, x, z, 0, w, D, dz);
    gnn_edge_sum(&back, 1, 0, COLS, dz, 0, edges, D, dx, false);
    worst = 0;
    for (size_t k = 0; k < edges * D; k += 11)
        worst = worst_of(worst, fabs(slope_of(&z[k], x, z, w) - (double)dz[k]));
    for (size_t k = 0; k < COLS * D; k += 3)
        worst = worst_of(worst, fabs(slope_of(&x[k], x, z, w) - (double)dx[k]));
    ok(worst < 1e-4, "gnn_edge_relu_back and gnn_edge_sum are the gradients (%.2g)", worst);
    gnn_edge_relu_back(block, 2, 0, ROWS, x, z, 0, w, D, z);
    ok(!memcmp(z, dz, edges * D * sizeof *z), "gnn_edge_relu_back works in place");
}

static void test_edge_means(void)
{
    static float z[MOST * D], y[ROWS * D], some[ROWS * D];
    double worst = 0;
    uint32_t loops = 0, alone = 0, before = 0;
    numbers(z, edges * D);
    for (uint32_t e = 0; e < edges; e += 5)
        idx[e] = src[e] = dst[e];
    gnn_edge_means(block, 2, 0, ROWS, z, 0, D, y);
    for (uint32_t i = 0; i < ROWS; i++) {
        double sum[D] = {0}, n = 0;
        bool loop = false;
        for (uint32_t e = 0; e < edges; e++) {
            loop = loop || (dst[e] == i && src[e] == i);
            for (size_t c = 0; c < D && dst[e] == i && src[e] != i; c++)
                sum[c] += (double)z[e * D + c];
            n += dst[e] == i && src[e] != i;
        }
        loops += loop;
        alone += n == 0;
        for (size_t c = 0; c < D; c++)
            worst = worst_of(worst, fabs((n > 0 ? sum[c] / n : 0) - (double)y[i * D + c]));
    }
    ok(worst < 1e-6 && loops && alone,
       "gnn_edge_means leaves out the edges from a row to itself (%u rows), and gives 0 without others",
       loops);
    while (before < edges && dst[before] < 17)
        before++;
    gnn_edge_means(block, 2, 17, 30, z + before * D, before, D, some);
    ok(!memcmp(some, y + 17 * D, 13 * D * sizeof *y),
       "gnn_edge_means makes the same of a range of rows and the rows of its edges");
}

static void test_edge_rest(void)
{
    static float z[(MOST + 9) * D];
    bool good = true;
    for (size_t more = 0; more < 10; more += 3) {
        for (size_t k = 0; k < (edges + 9) * D; k++)
            z[k] = 1;
        gnn_edge_rest(block, 2, edges + more, D, z);
        for (size_t k = 0; k < (edges + 9) * D; k++)
            good = good && (z[k] == 0) == (k >= edges * D && k < (edges + more) * D);
    }
    ok(good, "gnn_edge_rest clears the rows after those of edges");
}

static double unit_loss(const float *x, size_t n, size_t d, const float *w)
{
    float y[64];
    double s = 0;
    gnn_unit_rows(x, n, d, y, NULL);
    for (size_t k = 0; k < n * d; k++)
        s += (double)w[k] * (double)y[k];
    return s;
}

static void test_unit_rows(size_t d)
{
    enum { N = 1 };
    float x[64], w[64], y[64], dy[64], r;
    double length = 0, worst = 0;
    numbers(x, d);
    numbers(w, d);
    gnn_unit_rows(x, N, d, y, &r);
    for (size_t j = 0; j < d; j++)
        length += (double)x[j] * (double)x[j];
    length = sqrt(length);
    for (size_t j = 0; j < d; j++)
        worst = worst_of(worst, fabs((double)x[j] / length - (double)y[j]));
    ok(worst < 1e-6 && fabs((double)r * length - 1) < 1e-6,
       "gnn_unit_rows divides rows of %zu by their length", d);
    memcpy(dy, w, sizeof dy);
    gnn_unit_rows_back(dy, y, &r, N, d);
    worst = 0;
    for (size_t j = 0; j < d; j++) {
        const float was = x[j], h = 1e-2f;
        x[j] = was + h;
        const double up = unit_loss(x, N, d, w);
        x[j] = was - h;
        const double slope = (up - unit_loss(x, N, d, w)) / ((double)(was + h) - (double)x[j]);
        x[j] = was;
        worst = worst_of(worst, fabs(slope - (double)dy[j]));
    }
    ok(worst < 1e-3, "gnn_unit_rows_back is the gradient for rows of %zu (%.1g)", d, worst);
}

static void test_no_length(void)
{
    float x[8] = {0, 0, 0, 0, 1, NAN, 0, 2}, r[2], dy[4] = {1, 2, 3, 4};
    gnn_unit_rows(x, 2, 4, x, r);
    ok(x[0] == 0 && r[0] == GNN_RNORM_MOST && isnan(x[4]) && isnan(x[6]),
       "gnn_unit_rows leaves rows of zeros alone and hides no NaN");
    gnn_unit_rows_back(dy, x, r, 1, 4);
    ok(dy[1] == 2 * GNN_RNORM_MOST,
       "gnn_unit_rows_back takes the length of a row of zeros as constant");
}

int main(void)
{
    make_graph();
    test_max();
    test_max_goes_on();
    test_edge_relu();
    test_edge_means();
    test_edge_rest();
    test_unit_rows(5);
    test_unit_rows(64);
    test_no_length();
    return tap_done();
}
