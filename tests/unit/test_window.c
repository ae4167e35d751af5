/* SPDX-License-Identifier: Apache-2.0 */
/* Searches among ascending numbers of 16 bits, beside a loop over all of them: rows of all lengths
 * about a line's, anywhere in a line, of equal, dense, sparse and uneven numbers, with any guess.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/cpu/window.h"

#include "tap.h"

enum { MOST = 3000, SHAPES = 4, N = 200 };

/* Between pages that nothing may read: it begins with one, and the other comes right after what may
 * be read behind a row that ends with it. */
enum { PAGE = 1 << 16 /* no system has larger ones */, NUMBERS = PAGE / 2 - GNN_PICK_WINDOW };
static int16_t *array;
static uint64_t state = 1;

static void make_array(void)
{
    enum { BYTES = NUMBERS * 2 + GNN_PICK_WINDOW * 2 };
    char *p = mmap(NULL, BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + PAGE, BYTES, PROT_READ | PROT_WRITE))
        abort();
    array = (int16_t *)(void *)(p + PAGE);
}

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static int compare(const void *a, const void *b)
{
    return *(const int16_t *)a - *(const int16_t *)b;
}

/* All of the array, of which a row is a piece; what is around it could be anything. */
static void fill_array(uint32_t shape, uint32_t first, uint32_t span)
{
    for (uint32_t i = 0; i < NUMBERS; i++) {
        const int32_t v = shape == 0   ? 7
                          : shape == 1 ? (int32_t)below(40) - 20
                          : shape == 2 ? (int32_t)below(65536) - 32768
                          : below(8)   ? 32767
                                       : (int32_t)below(200) - 32768;
        array[i] = (int16_t)v;
    }
    qsort(array + first, span, sizeof *array, compare);
}

static int16_t some_number(const int16_t *row, uint32_t span)
{
    const uint32_t kind = below(4);
    if (kind && span)
        return (int16_t)(row[below(span)] + (kind == 1 && row[0] > -32768 ? -1 : 0));
    return (int16_t)((int32_t)below(65536) - 32768);
}

/* Wrong answers of searches with any guess, by lines and in a window, for one row. */
static uint32_t wrong_answers(uint32_t first, uint32_t span)
{
    const int16_t *row = array + first;
    struct gnn_window_search s[N];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < N; i++)
        gnn_window_begin(&s[i], row, span, some_number(row, span), span ? below(span) : 0);
    gnn_window_search_all(s, N);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t around = gnn_window_around(span, span ? below(span) : 0);
        uint32_t low = 0, most = 0, near_low, near_most;
        for (uint32_t q = 0; q < span; q++) {
            low += row[q] < s[i].x;
            most += row[q] <= s[i].x;
        }
        wrong += s[i].below != low || s[i].upto != most;
        const bool inside = low > around && most < around + GNN_PICK_WINDOW;
        if (gnn_window_near(row, span, around, s[i].x, gnn_isa_best(), &near_low, &near_most))
            wrong += near_low != low || near_most != most;
        else
            wrong += inside || span <= GNN_PICK_WINDOW;
    }
    return wrong;
}

int main(void)
{
    uint32_t wrong = 0, differ = 0, trials = 0;
    make_array();
    for (uint32_t i = 0; i < 4000; i++) {
        const uint32_t span = i % 4 ? below(140) : below(MOST),
                       first = i % 3 ? below(64) : NUMBERS - span; /* or at the very end */
        fill_array(i / 4 % SHAPES, first, span);
        wrong += wrong_answers(first, span);
        trials += N;
    }
    ok(!wrong, "searches find what a loop finds: %u of %u do not", wrong, trials);
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t from = below(GNN_PICK_WINDOW), to = from + below(GNN_PICK_WINDOW - from + 1),
                       at = 32 * below(90);
        if (i % 1000 == 0)
            fill_array(i / 1000 % SHAPES, 0, MOST);
        const int16_t x = some_number(array + at, GNN_PICK_WINDOW);
        for (enum gnn_isa isa = GNN_ISA_AVX2; isa <= gnn_isa_best(); isa++)
            differ += gnn_window_count(array + at, from, to, x, isa) !=
                      gnn_window_count(array + at, from, to, x, GNN_ISA_PORTABLE);
    }
    ok(!differ, "instructions of each level count the same");
    return tap_done();
}
