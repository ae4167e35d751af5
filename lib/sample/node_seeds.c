/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that are nodes: those of sets of the store, or a list of ids, read at once or as it comes.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "kernels/owner.h"
#include "kernels/perm.h"
#include "lib/base/suggest.h"
#include "lib/data/rule.h"
#include "lib/data/sampling_list.h"
#include "lib/sample/sample_impl.h"
#include "lib/import/seed_names.h"

/* A set's number is part of the tag of its random numbers, which has 14 bits for it. */
enum { SET_MAX = (1 << 14) - 2 };

struct node_seeds {
    struct sample_seeds base; /* first */
    struct sampler *s;
    uint32_t **ids;               /* [nsplits] in their order before any shuffling */
    struct seed_draws *draws;     /* of split 0, or NULL */
    struct gnn_buf times;         /* i64: times of ids[0], if they came with these */
    const int64_t **time;         /* [nparts] else, those of the seed type's nodes; or NULL */
    struct gnn_id_reader *reader; /* ids that are read as they come, or NULL */
    uint32_t *inverse;            /* store ids of original ones, or NULL */
    struct gnn_id_names *names;   /* of the seeds' type, where a list may have them */
};

static void free_seeds(struct sample_seeds *base)
{
    struct node_seeds *q = (struct node_seeds *)base;
    for (uint32_t i = 0; q->ids && i < q->s->meta.sampling.nsplits; i++)
        gnn_free(q->ids[i]);
    if (q->reader) {
        close(q->reader->fd);
        gnn_id_reader_release(q->reader);
    }
    gnn_free(q->reader);
    gnn_seed_names_free(q->names);
    gnn_seed_draws_free(q->draws);
    gnn_free(q->inverse);
    gnn_buf_release(&q->times);
    gnn_free(q->time);
    gnn_free(q->ids);
    gnn_free(q->base.tag);
    gnn_free(q);
}

/* ---- what there is ---- */

/* What seeds must have, when their type is known. */
static int bind_seeds(const struct node_seeds *q, struct gnn_err *e)
{
    return gnn_sampling_bind_seeds(&q->s->meta.sampling, &q->s->meta.schema, q->s->store->path, e);
}

int gnn_seeds_add_set(struct sample_seeds *q, struct sampler *s, uint32_t i, const char *name,
                      uint32_t **ids, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_store *store = s->store;
    if (!name) {
        m->split_seeds[i] = c->ntype[m->seed_ntype].count;
        m->split[i] = gnn_strdup("nodes", e);
        return m->split[i] ? gnn_store_nodes(store, m->seed_ntype, ids, e) : e->code;
    }
    const int set = gnn_schema_need_set(c, store->path, name, e);
    if (set < 0)
        return set;
    if (set > SET_MAX)
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s': more than %d sets are given", store->path,
                        name, SET_MAX);
    if (i && c->set[set].ntype != m->seed_ntype)
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' is of another node type than set '%s'",
                        store->path, name, m->split[0]);
    /* The set is part of the key of the draws, so equal steps of two sets draw different
     * neighbours. */
    q->tag[i] = (uint32_t)set + 1;
    for (uint32_t k = 1; k < i; k++)
        if (q->tag[k] == q->tag[i])
            return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' is named twice (--eval)", store->path,
                            name);
    m->seed_ntype = c->set[set].ntype;
    m->split_seeds[i] = c->set[set].count;
    if (gnn_store_split(store, (uint32_t)set, ids, e))
        return e->code;
    m->split[i] = gnn_strdup(name, e);
    return m->split[i] ? 0 : e->code;
}

int gnn_seeds_alloc(struct sample_seeds *q, struct gnn_sampling *m, uint32_t n, struct gnn_err *e)
{
    if (n > GNN_SPLITS_MAX)
        return gnn_fail(e, GNN_E_USAGE, "more than %d sets", GNN_SPLITS_MAX);
    q->tag = gnn_alloc_zero(n, sizeof *q->tag, "splits", e);
    return q->tag ? gnn_sampling_alloc_sets(m, n, e) : e->code;
}

/* Set i, to be sampled as the header's split i. */
static int add_set(struct node_seeds *q, struct gnn_sampling *m, uint32_t i, const char *name,
                   bool drop, struct gnn_err *e)
{
    if (gnn_seeds_add_set(&q->base, q->s, i, name, &q->ids[i], e))
        return e->code;
    m->steps[i] = gnn_plan_steps(m->split_seeds[i], m->batch_size, drop);
    return 0;
}

static int add_sets(struct node_seeds *q, struct gnn_sampling *m, const struct gnn_sampler_opts *o,
                    struct gnn_err *e)
{
    int rc = add_set(q, m, 0, o->split, m->drop_last, e);
    if (!rc && gnn_sampling_is_temporal(m) && !m->seed_time)
        rc = gnn_sampling_take(&m->seed_time, "time", e);
    if (!rc)
        rc = bind_seeds(q, e);
    for (uint32_t i = 1; !rc && i < m->nsplits; i++)
        rc = add_set(q, m, i, o->eval[i - 1], false, e);
    return rc;
}

static int find_type(const struct sampler *s, const char *name, uint32_t *type, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_suggest types = {.word = ""};
    int t = name              ? gnn_schema_need_ntype(c, s->store->path, name, e)
            : c->task         ? (int)c->label_ntype
            : c->nntypes == 1 ? 0
                              : -1;
    for (uint32_t i = 0; !name && t < 0 && i < c->nntypes; i++)
        gnn_suggest_add(&types, c->ntype[i].name);
    if (t < 0)
        return name ? t
                    : gnn_fail(
                          e, GNN_E_USAGE,
                          "%s: has several node types: --seed-type must name the type of the ids%s",
                          s->store->path, gnn_suggest_text(&types, "node types"));
    *type = (uint32_t)t;
    return 0;
}

/* Up to `want` ids of a list and, if it has them, their times. */
static int read_some(const struct node_seeds *q, uint32_t *ids, int64_t *times, uint64_t want,
                     uint64_t *got, struct gnn_err *e)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const int rc = times
                       ? gnn_id_reader_timed(q->reader, ids, times, m->rule.time.real, want, got, e)
                       : gnn_id_reader_next(q->reader, ids, want, got, e);
    for (uint64_t i = 0; !rc && q->inverse && i < *got; i++)
        ids[i] = q->inverse[ids[i]];
    return rc;
}

/* Whether each line of a list has a time. */
static bool list_has_times(const struct node_seeds *q)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    return gnn_sampling_is_temporal(m) && !m->seed_time;
}

/* All ids of a list. */
static int read_all(struct node_seeds *q, uint64_t *n, struct gnn_err *e)
{
    struct gnn_buf b = {0};
    int rc = 0;
    *n = 0;
    for (uint64_t got = 1; !rc && got;) {
        rc = gnn_buf_reserve(&b, *n + 65536, sizeof **q->ids, "seeds", e);
        if (!rc && list_has_times(q))
            rc = gnn_buf_reserve(&q->times, *n + 65536, sizeof(int64_t), "times of seeds", e);
        int64_t *times = q->times.data;
        if (!rc)
            rc = read_some(q, (uint32_t *)b.data + *n, times ? times + *n : NULL, 65536, &got, e);
        *n += rc ? 0 : got;
    }
    q->ids[0] = b.data;
    close(q->reader->fd);
    gnn_id_reader_release(q->reader);
    gnn_free(q->reader);
    q->reader = NULL;
    gnn_seed_names_free(q->names);
    q->names = NULL;
    return rc;
}

/* All ranks read a file, which may be one of their own. */
static int agree_on_ids(const struct node_seeds *q, uint64_t n, struct gnn_err *e)
{
    char text[40];
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64,
             (uint64_t)XXH3_64bits(q->ids[0], n * sizeof **q->ids),
             q->times.data ? (uint64_t)XXH3_64bits(q->times.data, n * sizeof(int64_t)) : 0);
    return gnn_comm_agree(q->s->comm, "seeds", text, e);
}

/* Ids of the next batch of a list that is read as it comes. */
static int read_next(struct sample_seeds *base, struct gnn_batch *b, struct gnn_err *e)
{
    struct node_seeds *q = (struct node_seeds *)base;
    const uint64_t want = q->s->meta.sampling.batch_size;
    struct gnn_tensor *t, *times = NULL;
    uint64_t got;
    int rc = gnn_tensors_add(&b->tensors, "seeds", GNN_U32, 1, &want, &t, e);
    if (!rc && list_has_times(q))
        rc = gnn_tensors_add(&b->tensors, "seed times", GNN_I64, 1, &want, &times, e);
    if (!rc)
        rc = read_some(q, t->data, times ? times->data : NULL, want, &got, e);
    if (rc)
        return rc;
    if (!got)
        return GNN_END;
    return gnn_tensors_resize(&b->tensors, t, got, e);
}

/* The ids of o->seeds_fd, which it takes over. */
static int add_ids(struct node_seeds *q, struct gnn_sampling *m, const struct gnn_sampler_opts *o,
                   struct gnn_err *e)
{
    int rc = find_type(q->s, o->seed_type, &m->seed_ntype, e);
    if (!rc)
        rc = bind_seeds(q, e);
    if (!rc && o->stream && gnn_sampling_draws_seeds(m))
        rc = gnn_fail(
            e, GNN_E_USAGE,
            "%s: seeds that are used as they come cannot be drawn (--seed-weight, --seed-balance)",
            o->seeds_name);
    if (!rc && o->stream && (m->shuffle || m->drop_last || o->epoch_to != o->epoch_from + 1))
        rc = gnn_fail(
            e, GNN_E_USAGE,
            "%s: seeds that are used as they come have one epoch, and no --shuffle or --drop-last",
            o->seeds_name);
    if (!rc && m->original_ids)
        rc = gnn_store_inverse(q->s->store, m->seed_ntype, &q->inverse, e);
    /* With several ranks, no process has all names. */
    if (!rc && q->s->store->to - q->s->store->from == q->s->store->nparts &&
        gnn_seed_names_has(q->s->store, m->seed_ntype, false) &&
        !(q->names = gnn_seed_names_new(q->s->store, m->seed_ntype, q->inverse, e)))
        rc = e->code;
    if (!rc && !(q->reader = gnn_alloc(1, sizeof *q->reader, "seeds", e)))
        rc = e->code;
    if (rc) {
        close(o->seeds_fd);
        return rc;
    }
    gnn_id_reader_init(q->reader, o->seeds_fd, o->seeds_name, "node id",
                       q->s->meta.schema.ntype[m->seed_ntype].count);
    q->reader->names = q->names;
    q->reader->lists = o->stream;
    if (o->stream)
        q->base.next = read_next;
    else if ((rc = read_all(q, &m->split_seeds[0], e)) ||
             (rc = agree_on_ids(q, m->split_seeds[0], e)))
        return rc;
    else
        m->steps[0] = gnn_plan_steps(m->split_seeds[0], m->batch_size, m->drop_last);
    m->split[0] = gnn_strdup("seeds", e);
    return m->split[0] ? 0 : e->code;
}

/* ---- which of them a batch starts from ---- */

/* Where the seeds [first, first + n) of an epoch are in the set: as they were drawn. */
static void draw_seeds(const struct node_seeds *q, const struct gnn_batch *b, uint64_t first,
                       uint32_t n, uint64_t *at)
{
    uint32_t key[2];
    gnn_rng_key(q->s->meta.sampling.seed, (uint32_t)b->epoch, 0, 0,
                gnn_rng_tag(GNN_RNG_SEEDS, q->base.tag[b->split], 0), key);
    for (uint32_t k = 0; k < n; k++)
        at[k] = gnn_seed_draws_at(q->draws, key, first + k);
}

/* Seeds [first, first + n) of an epoch of a split, in the epoch's order; UINT32_MAX for those in
 * other ranks' parts. */
static void list_seeds(const struct node_seeds *q, const struct gnn_batch *b, uint64_t first,
                       uint64_t n, struct gnn_entries to)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const uint32_t *all = q->ids[b->split];
    const int64_t *times = q->times.data;
    struct gnn_perm order;
    uint32_t key[2];
    const bool drawn = q->draws && !b->split, shuffled = m->shuffle && !b->split && !drawn;
    gnn_rng_key(m->seed, (uint32_t)b->epoch, 0, 0,
                gnn_rng_tag(GNN_RNG_ORDER, q->base.tag[b->split], 0), key);
    gnn_perm_init(&order, m->split_seeds[b->split], key);
    for (uint64_t i = 0; i < n; i += GNN_PERM_MANY) {
        uint64_t at[GNN_PERM_MANY];
        const uint32_t many = n - i < GNN_PERM_MANY ? (uint32_t)(n - i) : GNN_PERM_MANY;
        for (uint32_t k = 0; !shuffled && k < many; k++)
            at[k] = first + i + k;
        if (drawn)
            draw_seeds(q, b, first + i, many, at);
        if (shuffled)
            gnn_perm_many(&order, first + i, many, at);
        for (uint32_t k = 0; k < many; k++) {
            to.node[i + k] = all[at[k]];
            if (times)
                to.time[i + k] = times[at[k]];
        }
    }
}

/* Trees are numbered by the positions of seeds in the global batch. */
static void number_trees(struct gnn_entries to, uint64_t n)
{
    for (uint64_t i = 0; to.tree && i < n; i++)
        to.tree[i] = (uint32_t)i;
}

/* Times of n of this rank's seeds, unless they came with these. */
static void find_times(const struct node_seeds *q, struct gnn_entries to, uint64_t n)
{
    const struct sampler *s = q->s;
    const uint64_t *book = s->store->book[s->meta.sampling.seed_ntype];
    for (uint64_t i = 0; q->time && i < n; i++) {
        const uint32_t p = gnn_owner_find(book, sizeof *book, s->store->nparts, to.node[i]);
        to.time[i] =
            gnn_time_of_entry(s->meta.sampling.rule.time.real, q->time[p][to.node[i] - book[p]]);
    }
}

/* Those that came with the batch. */
static uint64_t fill_come(const struct node_seeds *q, const struct gnn_batch *b,
                          struct gnn_entries to)
{
    const struct gnn_tensor *seeds = gnn_tensors_find(&b->tensors, "seeds"),
                            *times = gnn_tensors_find(&b->tensors, "seed times");
    const uint64_t n = seeds->shape[0];
    memcpy(to.node, seeds->data, n * sizeof *to.node);
    if (times)
        memcpy(to.time, times->data, n * sizeof *to.time);
    number_trees(to, n);
    find_times(q, to, n);
    return n;
}

static uint64_t fill_entries(const struct sample_seeds *base, const struct gnn_batch *b,
                             struct gnn_entries to)
{
    const struct node_seeds *q = (const struct node_seeds *)base;
    const struct gnn_sampling *m = &q->s->meta.sampling;
    if (gnn_tensors_find(&b->tensors, "seeds"))
        return fill_come(q, b, to);
    const uint64_t all = gnn_sampling_seeds_of(m, b->split, b->step);
    list_seeds(q, b, b->step * m->batch_size, all, to);
    number_trees(to, all);
    const struct gnn_store *store = q->s->store;
    const uint64_t *book = store->book[m->seed_ntype];
    const struct gnn_entries from = to;
    uint64_t n = 0;
    for (uint64_t i = 0; i < all; i++)
        if (from.node[i] >= book[store->from] && from.node[i] < book[store->to]) {
            gnn_entry_append(&to, &from, i);
            n++;
        }
    find_times(q, from, n);
    return n;
}

/* ---- making them ---- */

/* Refuses seeds of this rank that have no time. */
static int check_times(const struct node_seeds *q, const uint32_t *ids, uint64_t n,
                       struct gnn_err *e)
{
    const struct gnn_store *store = q->s->store;
    const struct gnn_sampling *m = &q->s->meta.sampling;
    for (uint64_t i = 0; m->rule.time.real && i < n; i++) {
        const uint32_t node = ids ? ids[i] : (uint32_t)i,
                       p = node == UINT32_MAX ? 0 : gnn_store_owner(store, m->seed_ntype, node);
        double time;
        if (node == UINT32_MAX || !gnn_store_has(store, p))
            continue;
        memcpy(&time, &q->time[p][node - store->book[m->seed_ntype][p]], sizeof time);
        if (isnan(time))
            return gnn_fail(e, GNN_E_INPUT, "%s: seed %u has no time: its '%s' is nan",
                            gnn_store_part_path(store, p), node, m->seed_time);
    }
    return 0;
}

/* The field with the times of seeds, which have been set. */
static int find_field(struct node_seeds *q, struct gnn_err *e)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const struct gnn_schema *c = &q->s->meta.schema;
    struct gnn_store *store = q->s->store;
    const char *type = c->ntype[m->seed_ntype].name;
    if (!(q->time = gnn_alloc_zero(store->nparts, sizeof *q->time, "times of seeds", e)))
        return e->code;
    for (uint32_t p = store->from; p < store->to; p++) {
        const struct gnn_tensor *x = gnn_store_findf(store, p, "node/%s/%s", type, m->seed_time);
        if (!x)
            return gnn_fail(e, GNN_E_INPUT, "%s: tensor 'node/%s/%s' is missing",
                            gnn_store_part_path(store, p), type, m->seed_time);
        q->time[p] = x->data;
    }
    /* Those of a pipe may be any node. */
    if (q->reader)
        return check_times(q, NULL, c->ntype[m->seed_ntype].count, e);
    for (uint32_t i = 0; i < m->nsplits; i++)
        if (check_times(q, q->ids[i], m->split_seeds[i], e))
            return e->code;
    return 0;
}

/* The header's splits, and which seeds they have. */
static int init_seeds(struct node_seeds *q, struct gnn_sampling *m,
                      const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    const uint32_t n = o->seeds_name ? 1 : 1 + o->neval;
    int rc = gnn_seeds_alloc(&q->base, m, n, e);
    if (!rc && !(q->ids = gnn_alloc_zero(n, sizeof(uint32_t *), "splits", e)))
        rc = e->code;
    if (!rc)
        return o->seeds_name ? add_ids(q, m, o, e) : add_sets(q, m, o, e);
    if (o->seeds_name)
        close(o->seeds_fd);
    return rc;
}

struct sample_seeds *gnn_node_seeds_new(struct sampler *s, const struct gnn_sampler_opts *o,
                                        struct gnn_err *e)
{
    struct node_seeds *q = gnn_alloc_zero(1, sizeof *q, "seeds", e);
    if (!q) {
        if (o->seeds_name)
            close(o->seeds_fd);
        return NULL;
    }
    *q = (struct node_seeds){.base = {.free = free_seeds, .fill = fill_entries}, .s = s};
    struct gnn_sampling *m = &s->meta.sampling;
    if (!init_seeds(q, m, o, e) && (!m->seed_time || !find_field(q, e)) &&
        (!gnn_sampling_draws_seeds(m) ||
         (q->draws = gnn_seed_draws_new(s, q->ids[0], m->split_seeds[0], e))))
        return &q->base;
    free_seeds(&q->base);
    return NULL;
}
