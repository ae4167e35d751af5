/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that come in clusters, the partitions of the store: a batch has those of some of them, and
 * then all other nodes of these. A partition's nodes have consecutive ids. */
#include <string.h>

#include "kernels/perm.h"
#include "lib/sample/sample_impl.h"

struct cluster_seeds {
    struct sample_seeds base; /* first */
    const struct sampler *s;
    uint64_t **is_seed; /* [nsplits] a bit for each node of the seed type */
    uint64_t *count;    /* [nsplits][nparts] seeds, of all ranks */
};

static void free_seeds(struct sample_seeds *base)
{
    struct cluster_seeds *q = (struct cluster_seeds *)base;
    for (uint32_t i = 0; q->is_seed && i < q->s->meta.sampling.nsplits; i++)
        gnn_free(q->is_seed[i]);
    gnn_free(q->is_seed);
    gnn_free(q->count);
    gnn_free(q->base.tag);
    gnn_free(q);
}

/* ---- which clusters a batch has ---- */

/* A batch's place in the epoch's order of partitions. */
struct turn {
    struct gnn_perm order;
    bool shuffled;
    uint64_t first;
    uint32_t n;
};

static struct turn turn_of(const struct cluster_seeds *q, const struct gnn_batch *b)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const uint32_t parts = q->s->store->nparts;
    struct turn x = {.shuffled = m->shuffle && !b->split, .first = b->step * m->clusters};
    uint32_t key[2];
    x.n = parts - x.first < m->clusters ? (uint32_t)(parts - x.first) : m->clusters;
    gnn_rng_key(m->seed, (uint32_t)b->epoch, 0, 0,
                gnn_rng_tag(GNN_RNG_ORDER, q->base.tag[b->split], 0), key);
    gnn_perm_init(&x.order, parts, key);
    return x;
}

static uint32_t part_at(const struct turn *x, uint32_t i)
{
    return (uint32_t)(x->shuffled ? gnn_perm_at(&x->order, x->first + i) : x->first + i);
}

/* ---- their nodes ---- */

static bool is_seed(const uint64_t *bits, uint64_t node)
{
    return bits[node / 64] >> node % 64 & 1;
}

static uint64_t fill_entries(const struct sample_seeds *base, const struct gnn_batch *b,
                             struct gnn_entries to)
{
    const struct cluster_seeds *q = (const struct cluster_seeds *)base;
    const struct gnn_store *store = q->s->store;
    const uint64_t *book = store->book[q->s->meta.sampling.seed_ntype],
                   *bits = q->is_seed[b->split];
    const struct turn x = turn_of(q, b);
    uint64_t n = 0;
    for (uint32_t i = 0; i < x.n; i++) {
        const uint32_t p = part_at(&x, i);
        for (uint64_t v = book[p]; gnn_store_has(store, p) && v < book[p + 1]; v++)
            if (is_seed(bits, v)) {
                to.node[n] = (uint32_t)v;
                if (to.tree)
                    to.tree[n] = i;
                n++;
            }
    }
    return n;
}

static uint64_t join_entries(const struct sample_seeds *base, const struct gnn_batch *b, uint32_t t,
                             struct gnn_entries to)
{
    const struct cluster_seeds *q = (const struct cluster_seeds *)base;
    const struct gnn_store *store = q->s->store;
    const uint64_t *book = store->book[t];
    const struct turn x = turn_of(q, b);
    uint64_t n = 0;
    for (uint32_t i = 0; i < x.n; i++) {
        const uint32_t p = part_at(&x, i);
        if (!gnn_store_has(store, p))
            continue;
        for (uint64_t v = book[p]; to.node && v < book[p + 1]; v++) {
            to.node[n + v - book[p]] = (uint32_t)v;
            if (to.tree)
                to.tree[n + v - book[p]] = i;
        }
        n += book[p + 1] - book[p];
    }
    return n;
}

static uint64_t count_all(const struct sample_seeds *base, const struct gnn_batch *b)
{
    const struct cluster_seeds *q = (const struct cluster_seeds *)base;
    const struct turn x = turn_of(q, b);
    uint64_t n = 0;
    for (uint32_t i = 0; i < x.n; i++)
        n += q->count[(uint64_t)b->split * q->s->store->nparts + part_at(&x, i)];
    return n;
}

/* ---- making them ---- */

/* Set i, as a bit for each of this rank's nodes and numbers of them. */
static int add_set(struct cluster_seeds *q, struct sampler *s, uint32_t i, const char *name,
                   bool drop, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    const struct gnn_store *store = s->store;
    uint32_t *ids = NULL;
    if (gnn_seeds_add_set(&q->base, s, i, name, &ids, e))
        return e->code;
    const uint64_t nodes = s->meta.schema.ntype[m->seed_ntype].count;
    q->is_seed[i] = gnn_alloc_zero(nodes / 64 + 1, sizeof **q->is_seed, "seeds", e);
    if (!q->is_seed[i]) {
        gnn_free(ids);
        return e->code;
    }
    for (uint64_t k = 0; k < m->split_seeds[i]; k++)
        if (ids[k] != UINT32_MAX && gnn_store_owns(store, m->seed_ntype, ids[k])) {
            q->is_seed[i][ids[k] / 64] |= UINT64_C(1) << ids[k] % 64;
            q->count[(uint64_t)i * store->nparts + gnn_store_owner(store, m->seed_ntype, ids[k])]++;
        }
    gnn_free(ids);
    m->steps[i] = gnn_plan_steps(store->nparts, m->clusters, drop);
    return 0;
}

static int compare_sizes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* The most seeds that a batch can have: the nodes of the largest partitions. */
static int find_most(struct sampler *s, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    const uint64_t *book = s->store->book[m->seed_ntype];
    uint64_t *size = gnn_alloc(s->store->nparts, sizeof *size, "partitions", e), most = 0;
    if (!size)
        return e->code;
    for (uint32_t p = 0; p < s->store->nparts; p++)
        size[p] = book[p + 1] - book[p];
    qsort(size, s->store->nparts, sizeof *size, compare_sizes);
    for (uint32_t i = 0; i < m->clusters; i++)
        most += size[i];
    gnn_free(size);
    m->batch_size = (uint32_t)(most > m->clusters ? most : m->clusters); /* ids have 32 bits */
    return 0;
}

static int init_seeds(struct cluster_seeds *q, struct sampler *s, const struct gnn_sampler_opts *o,
                      struct gnn_err *e)
{
    const uint32_t n = 1 + o->neval;
    const uint64_t counts = (uint64_t)n * s->store->nparts;
    int rc = gnn_seeds_alloc(&q->base, &s->meta.sampling, n, e);
    if (rc)
        return rc;
    q->is_seed = gnn_alloc_zero(n, sizeof *q->is_seed, "seeds", e);
    q->count = gnn_alloc_zero(counts, sizeof *q->count, "seeds", e);
    if (!q->is_seed || !q->count)
        return e->code;
    for (uint32_t i = 0; !rc && i < n; i++)
        rc = add_set(q, s, i, i ? o->eval[i - 1] : o->split, !i && s->meta.sampling.drop_last, e);
    if (!rc)
        rc = gnn_comm_all_reduce(s->comm, q->count, counts, GNN_REDUCE_U64, e);
    return rc ? rc : find_most(s, e);
}

struct sample_seeds *gnn_cluster_seeds_new(struct sampler *s, const struct gnn_sampler_opts *o,
                                           struct gnn_err *e)
{
    struct cluster_seeds *q = gnn_alloc_zero(1, sizeof *q, "seeds", e);
    if (!q)
        return NULL;
    *q = (struct cluster_seeds){
        .base = {.free = free_seeds, .fill = fill_entries, .join = join_entries, .all = count_all},
        .s = s};
    if (!init_seeds(q, s, o, e))
        return &q->base;
    free_seeds(&q->base);
    return NULL;
}
