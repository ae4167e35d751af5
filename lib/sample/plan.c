/* Which seeds make which batch: splits, epochs, steps, order. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/xxh.h"
#include "kernels/perm.h"
#include "lib/sample/sample_impl.h"
#include "lib/base/suggest.h"

enum { SET_MAX = (1 << 14) - 2, SPLITS_MAX = 64 };

/* ---- what to draw from ---- */

static int add_set(struct sampler *s, uint32_t i, const char *name, bool shuffle, bool drop,
                   struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct gnn_sampling *m = &s->meta.sampling;
    const int set = gnn_schema_need_set(c, s->store->path, name, e);
    if (set < 0)
        return set;
    if (set > SET_MAX)
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' comes after %d others: too many",
                        s->store->path, name, SET_MAX);
    if (i && c->set[set].ntype != m->seed_ntype)
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' is of another node type than set '%s'",
                        s->store->path, name, m->split[0]);
    struct plan_split *p = &s->split[i];
    m->seed_ntype = c->set[set].ntype;
    *p = (struct plan_split){.n = c->set[set].count, .tag = (uint32_t)set + 1, .shuffle = shuffle};
    p->steps = gnn_plan_steps(p->n, m->batch_size, drop);
    int rc = gnn_store_split(s->store, (uint32_t)set, &p->ids, e);
    if (rc)
        return rc;
    m->split_seeds[i] = p->n;
    m->steps[i] = p->steps;
    m->split[i] = gnn_strdup(name, e);
    return m->split[i] ? 0 : e->code;
}

static int seed_type(struct sampler *s, const char *name, struct gnn_err *e)
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
        return name
                   ? t
                   : gnn_fail(
                         e, GNN_E_USAGE,
                         "%s: has several node types: say which one the ids are of (--seed-type)%s",
                         s->store->path, gnn_suggest_text(&types, "node types"));
    s->meta.sampling.seed_ntype = (uint32_t)t;
    return 0;
}

/* All ids of a list, kept as an ordinary split. */
static int read_all(struct sampler *s, struct gnn_err *e)
{
    struct gnn_buf b = {0};
    struct plan_split *p = &s->split[0];
    int rc = 0;
    for (uint64_t got = 1; !rc && got;) {
        rc = gnn_buf_reserve(&b, p->n + 65536, sizeof *p->ids, "seeds", e);
        if (!rc)
            rc = gnn_id_reader_next(s->reader, (uint32_t *)b.data + p->n, 65536, &got, e);
        p->n += rc ? 0 : got;
    }
    p->ids = b.data;
    for (uint64_t i = 0; !rc && s->inverse && i < p->n; i++)
        p->ids[i] = s->inverse[p->ids[i]];
    close(s->reader->fd);
    gnn_free(s->reader);
    s->reader = NULL;
    return rc;
}

/* All ranks read a file, which may be one of their own. */
static int agree_on_seeds(struct sampler *s, struct gnn_err *e)
{
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64,
             (uint64_t)XXH3_64bits(s->split[0].ids, s->split[0].n * sizeof *s->split[0].ids));
    return gnn_comm_agree(s->comm, "other seeds", text, e);
}

static int add_ids(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    int rc = seed_type(s, o->seed_type, e);
    if (!rc && o->stream && (o->shuffle || o->drop_last || o->epoch_to != o->epoch_from + 1))
        rc = gnn_fail(e, GNN_E_USAGE, "%s: seeds from a pipe are one epoch, in their order",
                      o->seeds_name);
    if (!rc && o->original_ids)
        rc = gnn_store_inverse(s->store, m->seed_ntype, &s->inverse, e);
    if (!rc && !(s->reader = gnn_alloc(1, sizeof *s->reader, "seeds", e)))
        rc = e->code;
    if (rc) {
        close(o->seeds_fd);
        return rc;
    }
    gnn_id_reader_init(s->reader, o->seeds_fd, o->seeds_name, "node id",
                       s->meta.schema.ntype[m->seed_ntype].count);
    struct plan_split *p = &s->split[0];
    p->shuffle = o->shuffle;
    p->steps = UINT64_MAX;
    if (!o->stream) {
        if ((rc = read_all(s, e)) || (rc = agree_on_seeds(s, e)))
            return rc;
        p->steps = m->steps[0] = gnn_plan_steps(p->n, m->batch_size, o->drop_last);
        m->split_seeds[0] = p->n;
    }
    m->split[0] = gnn_strdup("seeds", e);
    return m->split[0] ? 0 : e->code;
}

static int check_ranges(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    const struct plan_split *p = &s->split[0];
    s->epoch_from = o->epoch_from;
    s->epoch_to = o->epoch_to;
    s->step_from = o->step_from;
    s->step_first = o->step_first;
    s->step_to = o->step_to < p->steps ? o->step_to : p->steps;
    if (o->epoch_from >= o->epoch_to || o->epoch_to > (uint64_t)1 << 32)
        return gnn_fail(e, GNN_E_USAGE, "epochs %" PRIu64 ":%" PRIu64 ": not a range of epochs",
                        o->epoch_from, o->epoch_to);
    if (o->step_from >= o->step_to)
        return gnn_fail(e, GNN_E_USAGE, "steps %" PRIu64 ":%" PRIu64 ": not a range of steps",
                        o->step_from, o->step_to);
    if (p->steps != UINT64_MAX && p->steps > (uint64_t)1 << 32)
        return gnn_fail(e, GNN_E_USAGE, "an epoch has more than 2^32 steps");
    if (p->steps && s->step_from >= p->steps)
        return gnn_fail(e, GNN_E_USAGE, "steps from %" PRIu64 " on: an epoch has %" PRIu64 " steps",
                        s->step_from, p->steps);
    if (!p->steps && !s->reader)
        return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' has %" PRIu64 " nodes: not one batch",
                        s->store->path, s->meta.sampling.split[0], p->n);
    return 0;
}

int gnn_plan_init(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    struct gnn_sampling *m = &s->meta.sampling;
    int rc = 0;
    m->nsplits = o->seeds_name ? 1 : 1 + o->neval;
    if (m->nsplits > SPLITS_MAX)
        rc = gnn_fail(e, GNN_E_USAGE, "more than %d sets", SPLITS_MAX);
    else if (!(s->split = gnn_alloc_zero(m->nsplits, sizeof *s->split, "splits", e)) ||
             !(m->split = gnn_alloc_zero(m->nsplits, sizeof *m->split, "splits", e)) ||
             !(m->steps = gnn_alloc_zero(m->nsplits, sizeof *m->steps, "splits", e)) ||
             !(m->split_seeds = gnn_alloc_zero(m->nsplits, sizeof *m->split_seeds, "splits", e)))
        rc = e->code;
    if (rc) {
        m->nsplits = 0;
        if (o->seeds_name)
            close(o->seeds_fd);
        return rc;
    }
    if (o->seeds_name)
        rc = add_ids(s, o, e);
    else
        rc = add_set(s, 0, o->split, o->shuffle, o->drop_last, e);
    for (uint32_t i = 1; !rc && i < m->nsplits; i++)
        rc = add_set(s, i, o->eval[i - 1], false, false, e);
    return rc ? rc : check_ranges(s, o, e);
}

/* Seeds of a global batch: at most batch_size into ids, UINT32_MAX for those of other ranks' parts;
 * returns how many. */
static uint64_t global_seeds(const struct sampler *s, const struct gnn_batch *b, uint32_t *ids)
{
    const struct gnn_sampling *m = &s->meta.sampling;
    const struct plan_split *p = &s->split[b->split];
    const uint64_t first = b->step * m->batch_size, left = p->n - first;
    const uint64_t n = left < m->batch_size ? left : m->batch_size;
    if (!p->shuffle) {
        memcpy(ids, p->ids + first, n * sizeof *ids);
        return n;
    }
    struct gnn_perm order;
    uint32_t key[2];
    gnn_rng_key(m->seed, (uint32_t)b->epoch, 0, 0, gnn_rng_tag(GNN_RNG_ORDER, p->tag, 0), key);
    gnn_perm_init(&order, p->n, key);
    for (uint64_t i = 0; i < n; i += GNN_PERM_MANY) {
        uint64_t at[GNN_PERM_MANY];
        const uint32_t many = n - i < GNN_PERM_MANY ? (uint32_t)(n - i) : GNN_PERM_MANY;
        gnn_perm_many(&order, first + i, many, at);
        for (uint32_t k = 0; k < many; k++)
            ids[i + k] = p->ids[at[k]];
    }
    return n;
}

uint64_t gnn_plan_seeds(const struct sampler *s, const struct gnn_batch *b, uint32_t *ids)
{
    const uint64_t all = global_seeds(s, b, ids);
    uint64_t n = 0;
    const struct gnn_store *store = s->store;
    const uint64_t *book = store->book[s->meta.sampling.seed_ntype];
    for (uint64_t i = 0; i < all; i++)
        if (ids[i] >= book[store->from] && ids[i] < book[store->to])
            ids[n++] = ids[i];
    return n;
}

/* ---- the source of keys ---- */

struct plan {
    struct gnn_source base;
    struct sampler *s;
    struct gnn_batch_pool *pool;
    uint64_t epoch, step, nth;
    uint32_t split;
};

/* Ids of the next batch from the pipe; GNN_END after the last. */
static int take_seeds(struct plan *p, struct gnn_batch *b, struct gnn_err *e)
{
    struct sampler *s = p->s;
    const uint64_t want = s->meta.sampling.batch_size;
    struct gnn_tensor *t;
    uint64_t got;
    int rc = gnn_tensors_add(&b->tensors, "seeds", GNN_U32, 1, &want, &t, e);
    if (!rc)
        rc = gnn_id_reader_next(s->reader, t->data, want, &got, e);
    if (rc)
        return rc;
    if (!got)
        return GNN_END;
    uint32_t *ids = t->data;
    for (uint64_t i = 0; s->inverse && i < got; i++)
        ids[i] = s->inverse[ids[i]];
    return gnn_tensors_resize(&b->tensors, t, got, e);
}

static int next_piped(struct plan *p, struct gnn_batch *b, struct gnn_err *e)
{
    for (;; p->step++) {
        if (p->step >= p->s->step_to)
            return GNN_END;
        gnn_tensors_clear(&b->tensors);
        int rc = take_seeds(p, b, e);
        if (rc)
            return rc;
        if (p->step >= p->s->step_from)
            break;
    }
    b->epoch = p->epoch;
    b->step = p->step++;
    return 0;
}

static int next_listed(struct plan *p, struct gnn_batch *b)
{
    const struct sampler *s = p->s;
    const uint32_t nsplits = s->meta.sampling.nsplits;
    for (; p->epoch < s->epoch_to; p->epoch++, p->split = 0, p->step = s->step_from)
        for (; p->split < nsplits; p->split++, p->step = 0) {
            const uint64_t steps = s->split[p->split].steps;
            if (p->split && s->step_to < s->split[0].steps)
                break;
            if (p->step < (p->split ? steps : s->step_to)) {
                b->epoch = p->epoch;
                b->split = p->split;
                b->step = p->step++;
                return 0;
            }
        }
    return GNN_END;
}

static int plan_next(struct gnn_source *base, struct gnn_batch **out, struct gnn_err *e)
{
    struct plan *p = (struct plan *)base;
    struct gnn_batch *b;
    if (!gnn_sample_barrier_pass(p->s->barrier))
        return GNN_END;
    int rc = gnn_batch_get(p->pool, &b, e);
    if (rc)
        return rc;
    rc = p->s->reader ? next_piped(p, b, e) : next_listed(p, b);
    if (rc) {
        gnn_batch_put(b);
        return rc;
    }
    b->rank = p->s->meta.sampling.rank;
    b->nth = p->nth++;
    *out = b;
    return 0;
}

static void plan_free(struct gnn_source *base)
{
    struct plan *p = (struct plan *)base;
    gnn_batch_pool_free(p->pool);
    gnn_free(p);
}

struct gnn_source *gnn_plan_source_new(struct sampler *s, struct gnn_err *e)
{
    struct plan *p = gnn_alloc_zero(1, sizeof *p, "a plan", e);
    if (!p)
        return NULL;
    *p = (struct plan){.base = {plan_next, plan_free, &s->meta, s->reader != NULL},
                       .s = s,
                       .epoch = s->epoch_from};
    p->step = s->reader ? 0 : s->step_first > s->step_from ? s->step_first : s->step_from;
    p->pool = gnn_batch_pool_new(&s->meta, e);
    if (!p->pool) {
        gnn_free(p);
        return NULL;
    }
    return &p->base;
}
