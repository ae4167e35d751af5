/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that are drawn with replacement, by weight or by class: the one at a position of an epoch
 * follows from the random seed, the epoch and the position alone, given the weights of all. Their
 * sums are made in the order of the set, in which all ranks and all partitionings agree. */
#include "lib/base/node_map.h"
#include "lib/sample/sample_impl.h"
#include "lib/store/seed_weights.h"

struct seed_draws {
    double *sum; /* [n] of the weights up to and including this one */
    uint64_t n;
};

void gnn_seed_draws_free(struct seed_draws *d)
{
    if (d)
        gnn_free(d->sum);
    gnn_free(d);
}

struct seed_draws *gnn_seed_draws_new(const struct sampler *s, const uint32_t *ids, uint64_t n,
                                      struct gnn_err *e)
{
    struct seed_draws *d = gnn_alloc_zero(1, sizeof *d, "seeds", e);
    double total = 0;
    if (!d)
        return NULL;
    d->n = n;
    d->sum = gnn_alloc_zero(n, sizeof *d->sum, "weights of seeds", e);
    const int rc =
        d->sum ? gnn_store_seed_weights(s->store, &s->meta.sampling, ids, n, d->sum, e) : e->code;
    for (uint64_t i = 0; !rc && i < n; i++)
        d->sum[i] = total += d->sum[i];
    if (!rc)
        return d;
    gnn_seed_draws_free(d);
    return NULL;
}

uint64_t gnn_seed_draws_at(const struct seed_draws *d, const uint32_t key[2], uint64_t position)
{
    const uint32_t low = (uint32_t)position, high = (uint32_t)(position >> 32);
    const uint64_t bits = (uint64_t)gnn_rng_word(key, low, 0, high, 0) << 21 |
                          gnn_rng_word(key, low, 1, high, 0) >> 11;
    const double x = (double)bits * 0x1p-53 * d->sum[d->n - 1];
    uint64_t lo = 0, hi = d->n - 1;
    while (lo < hi) { /* the first whose sum is above x, as those of weight 0 are not */
        const uint64_t mid = lo + (hi - lo) / 2;
        if (d->sum[mid] > x)
            hi = mid;
        else
            lo = mid + 1;
    }
    /* x may have been rounded to the whole sum: the last one of a weight, then. */
    while (lo && d->sum[lo - 1] == d->sum[lo])
        lo--;
    return lo;
}

int gnn_seed_draws_add(const struct sampler *s, struct gnn_batch *b, const uint32_t *node,
                       uint64_t n, struct gnn_err *e)
{
    const uint32_t type = s->meta.sampling.seed_ntype;
    struct gnn_node_map map = {0};
    struct gnn_tensor *t;
    uint32_t *draws, distinct = 0;
    if (!gnn_sampling_counts_draws(&s->meta.sampling, b->split))
        return 0;
    if (gnn_column_add(&b->tensors, &s->meta, GNN_COLUMN_DRAWS, 0, type, n, &t, e) ||
        gnn_node_map_init(&map, n, e))
        return e->code;
    b->type[type].draws = draws = t->data;
    for (uint64_t i = 0; i < n; i++) {
        if (gnn_node_map_add(&map, node[i], distinct))
            draws[distinct++] = 0;
        draws[gnn_node_map_find(&map, node[i])]++;
    }
    gnn_node_map_release(&map);
    return gnn_tensors_resize(&b->tensors, t, distinct, e); /* fewer: the data stay */
}
