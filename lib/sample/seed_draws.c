/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that are drawn with replacement, by weight or by class: the one at a position of an epoch
 * follows from the random seed, the epoch and the position alone, given the weights of all. The
 * ranks tell each other these once. Their sums are made in the order of the set, in which all ranks
 * and all partitionings agree. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/label.h"
#include "lib/base/node_map.h"
#include "lib/data/labels.h"
#include "lib/sample/sample_impl.h"

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

/* The class of row i, or nclasses: it has none. */
static uint32_t class_of(const struct gnn_schema *c, const struct gnn_tensor *y, uint64_t i)
{
    uint32_t k;
    return gnn_label_row(c, y, i, &k) ? k : c->nclasses;
}

/* This rank's nodes among ids (n): their rows of a field, one after the other. */
struct member {
    const struct gnn_tensor *x;
    uint64_t at, row; /* among the ids; of the tensor */
};
static int next_member(const struct sampler *s, const char *field, const uint32_t *ids, uint64_t n,
                       struct member *q, struct gnn_err *e)
{
    const struct gnn_store *store = s->store;
    const uint32_t t = s->meta.sampling.seed_ntype;
    for (; q->at < n; q->at++) {
        if (ids[q->at] == UINT32_MAX || !gnn_store_owns(store, t, ids[q->at]))
            continue;
        const uint32_t p = gnn_store_owner(store, t, ids[q->at]);
        const char *type = s->meta.schema.ntype[t].name;
        q->x = gnn_store_findf(s->store, p, "node/%s/%s", type, field);
        q->row = ids[q->at] - store->book[t][p];
        if (!q->x)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/%s' is missing",
                            gnn_store_part_path(store, p), type, field);
        return 0;
    }
    return GNN_END;
}

/* Each class as likely as another, and in it each node; what has no label is never drawn. */
static int weigh_classes(const struct sampler *s, const uint32_t *ids, uint64_t n, double *w,
                         struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    uint64_t *count = gnn_alloc_zero(c->nclasses + UINT64_C(1), sizeof *count, "classes", e);
    int rc = count ? 0 : e->code;
    for (struct member q = {0}; !rc && !(rc = next_member(s, "y", ids, n, &q, e)); q.at++)
        count[class_of(c, q.x, q.row)]++;
    if (rc == GNN_END)
        rc = gnn_comm_all_reduce(s->comm, count, c->nclasses, GNN_REDUCE_U64, e);
    for (struct member q = {0}; !rc && !(rc = next_member(s, "y", ids, n, &q, e)); q.at++) {
        const uint32_t k = class_of(c, q.x, q.row);
        w[q.at] = k < c->nclasses ? 1 / (double)count[k] : 0;
    }
    gnn_free(count);
    return rc == GNN_END ? 0 : rc;
}

static int weigh_field(const struct sampler *s, const uint32_t *ids, uint64_t n, double *w,
                       struct gnn_err *e)
{
    const char *field = s->meta.sampling.seed_weight;
    struct member q = {0};
    int rc;
    for (; !(rc = next_member(s, field, ids, n, &q, e)); q.at++) {
        const struct gnn_tensor *x = q.x;
        struct gnn_tensor one = *x;
        float narrow;
        one.data = (char *)x->data + q.row * gnn_dtype_bytes(x->dtype);
        one.shape[0] = 1;
        w[q.at] = gnn_tensor_floats(&one, 1, &narrow)
                      ? (double)narrow
                      : gnn_label_value(x->data, (enum gnn_label_type)x->dtype, q.row);
        if (!(w[q.at] >= 0) || !isfinite(w[q.at]))
            return gnn_fail(
                e, GNN_E_INPUT,
                "%s: weight %g of seed %u ('%s'): seeds are drawn by finite numbers >= 0",
                s->store->path, w[q.at], ids[q.at], field);
    }
    return rc == GNN_END ? 0 : rc;
}

struct seed_draws *gnn_seed_draws_new(const struct sampler *s, const uint32_t *ids, uint64_t n,
                                      struct gnn_err *e)
{
    const bool balance = s->meta.sampling.seed_balance;
    struct seed_draws *d = gnn_alloc_zero(1, sizeof *d, "seeds", e);
    double total = 0;
    if (!d)
        return NULL;
    d->n = n;
    d->sum = gnn_alloc_zero(n, sizeof *d->sum, "weights of seeds", e);
    int rc = d->sum ? 0 : e->code;
    if (!rc)
        rc = balance ? weigh_classes(s, ids, n, d->sum, e) : weigh_field(s, ids, n, d->sum, e);
    if (!rc)
        rc = gnn_comm_all_reduce(s->comm, d->sum, n, GNN_REDUCE_F64, e);
    for (uint64_t i = 0; !rc && i < n; i++)
        d->sum[i] = total += d->sum[i];
    if (!rc && !(total > 0 && isfinite(total)))
        rc = gnn_fail(e, GNN_E_INPUT,
                      balance ? "%s: no seed has a label to balance"
                              : "%s: the weights of all seeds add up to %g, so none can be drawn",
                      s->store->path, total);
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

int gnn_seed_draws_count(const uint32_t *node, uint64_t n, uint32_t *draws, uint64_t *distinct,
                         struct gnn_err *e)
{
    struct gnn_node_map map = {0};
    *distinct = 0;
    if (gnn_node_map_init(&map, n, e))
        return e->code;
    for (uint64_t i = 0; i < n; i++) {
        if (gnn_node_map_add(&map, node[i], (uint32_t)*distinct))
            draws[(*distinct)++] = 0;
        draws[gnn_node_map_find(&map, node[i])]++;
    }
    gnn_node_map_release(&map);
    return 0;
}
