/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that are nodes: those of sets of the store, or a list of ids, read at once or as it comes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "kernels/perm.h"
#include "lib/base/suggest.h"
#include "lib/sample/sample_impl.h"

/* A set's number is part of the tag of its random numbers, which has 14 bits for it. */
enum { SET_MAX = (1 << 14) - 2 };

struct node_seeds {
    struct sample_seeds base; /* first */
    const struct sampler *s;
    uint32_t **ids;               /* [nsplits] in their order before any shuffling */
    struct gnn_id_reader *reader; /* ids that are read as they come, or NULL */
    uint32_t *inverse;            /* store ids of original ones, or NULL */
};

static void free_seeds(struct sample_seeds *base)
{
    struct node_seeds *q = (struct node_seeds *)base;
    for (uint32_t i = 0; q->ids && i < q->s->meta.sampling.nsplits; i++)
        gnn_free(q->ids[i]);
    if (q->reader)
        close(q->reader->fd);
    gnn_free(q->reader);
    gnn_free(q->inverse);
    gnn_free(q->ids);
    gnn_free(q->base.tag);
    gnn_free(q);
}

/* ---- what there is ---- */

/* Set i, to be sampled as the header's split i. */
static int add_set(struct node_seeds *q, struct gnn_sampling *m, uint32_t i, const char *name,
                   bool drop, struct gnn_err *e)
{
    const struct gnn_schema *c = &q->s->meta.schema;
    struct gnn_store *store = q->s->store;
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
    q->base.tag[i] = (uint32_t)set + 1;
    m->seed_ntype = c->set[set].ntype;
    m->split_seeds[i] = c->set[set].count;
    m->steps[i] = gnn_plan_steps(m->split_seeds[i], m->batch_size, drop);
    if (gnn_store_split(store, (uint32_t)set, &q->ids[i], e))
        return e->code;
    m->split[i] = gnn_strdup(name, e);
    return m->split[i] ? 0 : e->code;
}

static int add_sets(struct node_seeds *q, struct gnn_sampling *m, const struct gnn_sampler_opts *o,
                    struct gnn_err *e)
{
    int rc = add_set(q, m, 0, o->split, o->drop_last, e);
    for (uint32_t i = 1; !rc && i < m->nsplits; i++)
        rc = add_set(q, m, i, o->eval[i - 1], false, e);
    return rc;
}

static int find_type(const struct sampler *s, const char *name, uint32_t *type, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_suggest types = {.word = ""};
    int t = name                       ? gnn_schema_need_ntype(c, s->store->path, name, e)
            : c->task != GNN_TASK_NONE ? (int)c->label_ntype
            : c->nntypes == 1          ? 0
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

/* All ids of a list. */
static int read_all(struct node_seeds *q, uint64_t *n, struct gnn_err *e)
{
    struct gnn_buf b = {0};
    int rc = 0;
    *n = 0;
    for (uint64_t got = 1; !rc && got;) {
        rc = gnn_buf_reserve(&b, *n + 65536, sizeof **q->ids, "seeds", e);
        if (!rc)
            rc = gnn_id_reader_next(q->reader, (uint32_t *)b.data + *n, 65536, &got, e);
        *n += rc ? 0 : got;
    }
    uint32_t *ids = q->ids[0] = b.data;
    for (uint64_t i = 0; !rc && q->inverse && i < *n; i++)
        ids[i] = q->inverse[ids[i]];
    close(q->reader->fd);
    gnn_free(q->reader);
    q->reader = NULL;
    return rc;
}

/* All ranks read a file, which may be one of their own. */
static int agree_on_ids(const struct node_seeds *q, uint64_t n, struct gnn_err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64,
             (uint64_t)XXH3_64bits(q->ids[0], n * sizeof **q->ids));
    return gnn_comm_agree(q->s->comm, "seeds", text, e);
}

/* Ids of the next batch of a list that is read as it comes. */
static int read_next(struct sample_seeds *base, struct gnn_batch *b, struct gnn_err *e)
{
    struct node_seeds *q = (struct node_seeds *)base;
    const uint64_t want = q->s->meta.sampling.batch_size;
    struct gnn_tensor *t;
    uint64_t got;
    int rc = gnn_tensors_add(&b->tensors, "seeds", GNN_U32, 1, &want, &t, e);
    if (!rc)
        rc = gnn_id_reader_next(q->reader, t->data, want, &got, e);
    if (rc)
        return rc;
    if (!got)
        return GNN_END;
    uint32_t *ids = t->data;
    for (uint64_t i = 0; q->inverse && i < got; i++)
        ids[i] = q->inverse[ids[i]];
    return gnn_tensors_resize(&b->tensors, t, got, e);
}

/* The ids of o->seeds_fd, which it takes over. */
static int add_ids(struct node_seeds *q, struct gnn_sampling *m, const struct gnn_sampler_opts *o,
                   struct gnn_err *e)
{
    int rc = find_type(q->s, o->seed_type, &m->seed_ntype, e);
    if (!rc && o->stream && (o->shuffle || o->drop_last || o->epoch_to != o->epoch_from + 1))
        rc = gnn_fail(e, GNN_E_USAGE,
                      "%s: seeds from a pipe allow only one epoch, without shuffling or dropping",
                      o->seeds_name);
    if (!rc && o->original_ids)
        rc = gnn_store_inverse(q->s->store, m->seed_ntype, &q->inverse, e);
    if (!rc && !(q->reader = gnn_alloc(1, sizeof *q->reader, "seeds", e)))
        rc = e->code;
    if (rc) {
        close(o->seeds_fd);
        return rc;
    }
    gnn_id_reader_init(q->reader, o->seeds_fd, o->seeds_name, "node id",
                       q->s->meta.schema.ntype[m->seed_ntype].count);
    if (o->stream)
        q->base.next = read_next;
    else if ((rc = read_all(q, &m->split_seeds[0], e)) ||
             (rc = agree_on_ids(q, m->split_seeds[0], e)))
        return rc;
    else
        m->steps[0] = gnn_plan_steps(m->split_seeds[0], m->batch_size, o->drop_last);
    m->split[0] = gnn_strdup("seeds", e);
    return m->split[0] ? 0 : e->code;
}

/* ---- which of them a batch starts from ---- */

/* Seeds [first, first + n) of an epoch of a split, in the epoch's order; UINT32_MAX for those in
 * other ranks' parts. */
static void list_seeds(const struct node_seeds *q, const struct gnn_batch *b, uint64_t first,
                       uint64_t n, uint32_t *ids)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const uint32_t *all = q->ids[b->split];
    if (!m->shuffle || b->split) {
        memcpy(ids, all + first, n * sizeof *ids);
        return;
    }
    struct gnn_perm order;
    uint32_t key[2];
    gnn_rng_key(m->seed, (uint32_t)b->epoch, 0, 0,
                gnn_rng_tag(GNN_RNG_ORDER, q->base.tag[b->split], 0), key);
    gnn_perm_init(&order, m->split_seeds[b->split], key);
    for (uint64_t i = 0; i < n; i += GNN_PERM_MANY) {
        uint64_t at[GNN_PERM_MANY];
        const uint32_t many = n - i < GNN_PERM_MANY ? (uint32_t)(n - i) : GNN_PERM_MANY;
        gnn_perm_many(&order, first + i, many, at);
        for (uint32_t k = 0; k < many; k++)
            ids[i + k] = all[at[k]];
    }
}

/* Trees are numbered by the positions of seeds in the global batch. */
static void number_trees(struct gnn_entries to, uint64_t n)
{
    for (uint64_t i = 0; to.tree && i < n; i++)
        to.tree[i] = (uint32_t)i;
}

static uint64_t fill_entries(const struct sample_seeds *base, const struct gnn_batch *b,
                             struct gnn_entries to)
{
    const struct node_seeds *q = (const struct node_seeds *)base;
    const struct gnn_sampling *m = &q->s->meta.sampling;
    const struct gnn_tensor *came = gnn_tensors_find(&b->tensors, "seeds");
    if (came) {
        memcpy(to.node, came->data, came->shape[0] * sizeof *to.node);
        number_trees(to, came->shape[0]);
        return came->shape[0];
    }
    const uint64_t first = b->step * m->batch_size, left = m->split_seeds[b->split] - first;
    const uint64_t all = left < m->batch_size ? left : m->batch_size;
    list_seeds(q, b, first, all, to.node);
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
    return n;
}

/* ---- making them ---- */

/* The header's splits, and which seeds they have. */
static int init_seeds(struct node_seeds *q, struct gnn_sampling *m,
                      const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    const uint32_t n = m->nsplits;
    if (n > GNN_SPLITS_MAX)
        return gnn_fail(e, GNN_E_USAGE, "more than %d sets", GNN_SPLITS_MAX);
    q->base.tag = gnn_alloc_zero(n, sizeof *q->base.tag, "splits", e);
    q->ids = gnn_alloc_zero(n, sizeof(uint32_t *), "splits", e);
    m->split = gnn_alloc_zero(n, sizeof *m->split, "splits", e);
    m->steps = gnn_alloc_zero(n, sizeof *m->steps, "splits", e);
    m->split_seeds = gnn_alloc_zero(n, sizeof *m->split_seeds, "splits", e);
    if (q->base.tag && q->ids && m->split && m->steps && m->split_seeds)
        return o->seeds_name ? add_ids(q, m, o, e) : add_sets(q, m, o, e);
    if (o->seeds_name)
        close(o->seeds_fd);
    return e->code;
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
    s->meta.sampling.nsplits = o->seeds_name ? 1 : 1 + o->neval;
    if (!init_seeds(q, &s->meta.sampling, o, e))
        return &q->base;
    free_seeds(&q->base);
    return NULL;
}
