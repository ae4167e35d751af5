/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/link_scores.h"

#include <string.h>

static uint32_t key_of(float z)
{
    uint32_t bits;
    z = z == 0 ? 0 : z; /* of both zeros, the one without a sign */
    memcpy(&bits, &z, sizeof bits);
    return bits >> 31 ? ~bits : bits | 1u << 31;
}

static void insert_keys(uint32_t *key, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const uint32_t k = key[i];
        uint64_t j = i;
        for (; j && key[j - 1] > k; j--)
            key[j] = key[j - 1];
        key[j] = k;
    }
}

/* A radix sort from the most significant byte on, which needs no second array: each key that is
 * lifted goes where the next key of its byte belongs, and the one from there is lifted (McIlroy,
 * Bostic and McIlroy, 1993). */
static void sort_keys(uint32_t *key, uint64_t n, unsigned shift)
{
    uint64_t at[256] = {0}, end[256], sum = 0;
    if (n < 64) {
        insert_keys(key, n);
        return;
    }
    for (uint64_t i = 0; i < n; i++)
        at[key[i] >> shift & 255]++;
    for (unsigned b = 0; b < 256; b++) {
        sum += at[b];
        at[b] = sum - at[b];
        end[b] = sum;
    }
    for (unsigned b = 0; b < 256; b++)
        while (at[b] < end[b]) {
            uint32_t k = key[at[b]];
            for (unsigned d; (d = k >> shift & 255) != b;) {
                const uint32_t next = key[at[d]];
                key[at[d]++] = k;
                k = next;
            }
            key[at[b]++] = k;
        }
    for (unsigned b = 0; shift && b < 256; b++) {
        const uint64_t begin = b ? end[b - 1] : 0;
        sort_keys(key + begin, end[b] - begin, shift - 8);
    }
}

void gnn_link_scores_sort(struct gnn_link_scores *s)
{
    sort_keys(s->key.data, s->n, 24);
}

/* Forgets all but the highest. */
static void keep_highest(struct gnn_link_scores *s)
{
    uint32_t *key = s->key.data;
    gnn_link_scores_sort(s);
    memmove(key, key + s->n - s->most, s->most * sizeof *key);
    s->n = s->most;
    s->least = key[0];
}

int gnn_link_scores_add(struct gnn_link_scores *s, const float *z, uint64_t n, struct gnn_err *e)
{
    while (n) {
        const uint64_t some = n < s->most ? n : s->most;
        if (gnn_buf_reserve(&s->key, s->n + some, sizeof(uint32_t), "scores of links", e))
            return e->code;
        uint32_t *key = s->key.data;
        for (uint64_t i = 0; i < some; i++) {
            key[s->n] = key_of(z[i]);
            s->n += key[s->n] >= s->least;
        }
        if (s->n / 2 >= s->most)
            keep_highest(s);
        z += some;
        n -= some;
    }
    return 0;
}

void gnn_link_scores_clear(struct gnn_link_scores *s)
{
    s->n = 0;
    s->least = 0;
}

void gnn_link_scores_release(struct gnn_link_scores *s)
{
    gnn_buf_release(&s->key);
    gnn_link_scores_clear(s);
}

int gnn_link_scores_gather(struct gnn_link_scores *all, const struct gnn_link_scores *s,
                           uint64_t top, struct gnn_comm *c, struct gnn_err *e)
{
    const uint64_t own = s->n < top ? s->n : top;
    const uint32_t *key = s->key.data;
    uint64_t bytes;
    if (gnn_comm_all_scores(c, own ? key + s->n - own : NULL, own * sizeof *key, &all->key, &bytes,
                            e))
        return e->code;
    all->n = bytes / sizeof *key;
    if (c->size > 1)
        gnn_link_scores_sort(all);
    return 0;
}

double gnn_link_scores_above(const struct gnn_link_scores *s, const struct gnn_link_scores *of,
                             uint64_t k)
{
    const uint32_t *key = s->key.data, least = ((const uint32_t *)of->key.data)[of->n - k];
    uint64_t above = 0;
    while (above < s->n && key[s->n - 1 - above] > least)
        above++;
    return (double)above / (double)s->n;
}

/* Steps down over the highest of so many keys that are left if they equal k; how many there are. */
static uint64_t step_over(const uint32_t *key, uint64_t *left, uint32_t k)
{
    const uint64_t before = *left;
    while (*left && key[*left - 1] == k)
        --*left;
    return before - *left;
}

/* Each score of positives is a threshold, and they go from high to low. Of negatives, only how many
 * are above and how many equal matters, so that ranks add up counts, some at a time. */
int gnn_link_areas(struct gnn_link_areas *a, const struct gnn_link_scores *positive,
                   const struct gnn_link_scores *negative, uint64_t negatives, struct gnn_comm *c,
                   struct gnn_err *e)
{
    enum { SOME = 512 };
    const uint32_t *p = positive->key.data, *q = negative->key.data;
    uint64_t hits[SOME], counts[SOME][2], p_left = positive->n, q_left = negative->n, found = 0;
    const double n = (double)positive->n;
    *a = (struct gnn_link_areas){0};
    while (p_left) {
        uint32_t some = 0;
        for (; some < SOME && p_left; some++) {
            const uint32_t k = p[p_left - 1];
            hits[some] = step_over(p, &p_left, k);
            while (q_left && q[q_left - 1] > k)
                q_left--;
            counts[some][0] = negative->n - q_left;
            counts[some][1] = step_over(q, &q_left, k);
        }
        if (gnn_comm_all_reduce(c, counts, 2 * (uint64_t)some, GNN_REDUCE_U64, e))
            return e->code;
        for (uint32_t i = 0; i < some; i++) {
            const uint64_t above = counts[i][0], equal = counts[i][1];
            found += hits[i];
            a->auc += (double)hits[i] * (double)(2 * (negatives - above) - equal);
            a->ap += (double)hits[i] * ((double)found / (double)(found + above + equal));
        }
    }
    a->auc /= 2 * n * (double)negatives;
    a->ap /= n;
    return 0;
}
