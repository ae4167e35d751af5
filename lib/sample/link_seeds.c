/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds that are links: all edges of a type, or those of sets or of a file. A batch has some of
 * them, in the order of the epoch, and negatives; it begins with the different nodes at their ends,
 * ascending by tree and original id, as in PyG's LinkNeighborLoader. */
#include "lib/sample/link_batch.h"

#include <string.h>
#include <unistd.h>

#include "lib/data/sampling_list.h"
#include "lib/store/ragged.h"

static void free_seeds(struct sample_seeds *base)
{
    struct link_seeds *q = (struct link_seeds *)base;
    gnn_link_negatives_release(&q->negatives);
    gnn_link_edges_release(&q->edges);
    for (uint32_t i = 0; q->list && i < q->s->meta.sampling.nsplits; i++)
        gnn_link_list_release(&q->list[i]);
    for (uint32_t i = 0; q->given && i < q->s->meta.sampling.nsplits; i++)
        gnn_link_list_release(&q->given[i]);
    gnn_free(q->list);
    gnn_free(q->given);
    gnn_free(q->base.tag);
    gnn_free(q);
}

/* Set i, to be sampled as the header's split i. */
static int add_set(struct link_seeds *q, uint32_t i, const char *name, enum gnn_dtype times,
                   struct gnn_err *e)
{
    struct gnn_sampling *m = &q->s->meta.sampling;
    const struct gnn_schema *c = &q->s->meta.schema;
    const char *path = q->s->store->path;
    const int set = gnn_schema_need_links(c, m->links.etype, path, name, e);
    if (set < 0)
        return set;
    q->base.tag[i] = (uint32_t)set + 1;
    for (uint32_t k = 1; k < i; k++)
        if (q->base.tag[k] == q->base.tag[i])
            return gnn_fail(e, GNN_E_USAGE, "%s: set '%s' is named twice (--eval)", path, name);
    if (times && c->set[set].time != times)
        return gnn_fail(e, GNN_E_USAGE, "%s: the links of set '%s' have no times of dtype %s", path,
                        name, gnn_dtype_name(times));
    return gnn_link_list_of_set(&q->list[i], &q->edges, (uint32_t)set, e) ||
                   (m->links.target &&
                    gnn_link_labels_of_set(&q->labels, &q->list[i], (uint32_t)set,
                                           !i && !q->evaluated, e))
               ? e->code
               : 0;
}

static int need_given(const struct link_seeds *q, const char *name, struct gnn_err *e)
{
    return gnn_fail(e, GNN_E_USAGE,
                    "%s: set '%s' has no given negatives (gnn-import --negatives gives it some; "
                    "binary:A and triplet:K draw them)",
                    q->s->store->path, name);
}

/* Links of a set, of all ranks. */
static int read_set(const struct link_seeds *q, struct link_list *x, uint32_t set,
                    struct gnn_err *e)
{
    return gnn_link_list_of_set(x, &q->edges, set, e) || gnn_link_list_gather(x, q->s->comm, e)
               ? e->code
               : 0;
}

/* Where the lists of candidates in x are, which set `of` gives for those of `set`. */
static int find_lists(const struct link_seeds *q, struct link_list *x, uint32_t set, uint32_t of,
                      uint64_t *longest, struct gnn_err *e)
{
    struct link_list own = {.n = 0};
    if (!read_set(q, &own, set, e) &&
        !gnn_buf_reserve(&x->first, own.n + 1, sizeof(uint64_t), "lists of candidates", e))
        (void)!gnn_ragged_find(q->s->store, of, own.links.data, own.n, x->links.data, x->first.data,
                               longest, e);
    gnn_link_list_release(&own);
    return e->code;
}

/* Given negatives of split i, if it is to have these, and what the header says of them. */
static int add_given(struct link_seeds *q, uint32_t i, const char *name, struct gnn_err *e)
{
    struct gnn_sampling *m = &q->s->meta.sampling;
    const struct gnn_schema *c = &q->s->meta.schema;
    struct link_list *x = &q->given[i];
    struct gnn_given_negatives *g = &m->given[i];
    enum gnn_given_kind kind;
    if (gnn_sampling_drawn(m, i).kind != GNN_NEGATIVES_GIVEN)
        return 0;
    const int set = (int)q->base.tag[i] - 1,
              of = set < 0 ? -1 : gnn_schema_find_given(c, (uint32_t)set, &kind);
    if (of < 0)
        return need_given(q, name, e);
    const uint64_t n = q->list[i].n, all = c->set[of].count;
    const bool each = kind != GNN_GIVEN_SHARED, ragged = kind == GNN_GIVEN_RAGGED;
    uint64_t many = n ? all / n : 0;
    if (!n || n > UINT32_MAX || !all ||
        (!ragged && ((each && all % n) || many > GNN_NEGATIVES_MAX)))
        return gnn_fail(e, GNN_E_INPUT, "%s: set '%s/%s' does not fit the links of set '%s'",
                        q->s->store->path, c->set[of].split, c->set[of].set, name);
    if (read_set(q, x, (uint32_t)of, e) ||
        (ragged && find_lists(q, x, (uint32_t)set, (uint32_t)of, &many, e)))
        return e->code;
    g->drawn = (struct gnn_drawn){.kind = each ? GNN_NEGATIVES_TRIPLET : GNN_NEGATIVES_BINARY,
                                  .amount = each ? (double)many : (double)all / (double)n,
                                  .total = each ? 0 : all,
                                  .links = each ? 0 : n,
                                  .ragged = ragged};
    gnn_link_list_sum(x, g->sum);
    return 0;
}

/* Whether links of the two have as many negatives, or some that are only of theirs alike. */
static bool are_alike(struct gnn_drawn a, struct gnn_drawn b)
{
    const uint64_t x = gnn_drawn_each(a), y = gnn_drawn_each(b);
    return x == y || (x && y && (a.ragged || b.ragged));
}

/* Sets that are evaluated together have negatives of one kind, by which they are measured. */
static int check_given(const struct link_seeds *q, struct gnn_err *e)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    for (uint32_t i = 2; i < m->nsplits; i++)
        if (!are_alike(gnn_sampling_drawn(m, i), gnn_sampling_drawn(m, 1)))
            return gnn_fail(e, GNN_E_USAGE,
                            "%s: sets '%s' and '%s' have given negatives of different kinds: name "
                            "one of them",
                            q->s->store->path, m->split[1], m->split[i]);
    return gnn_sampling_roots_max(m) <= INT32_MAX
               ? 0
               : gnn_fail(e, GNN_E_USAGE,
                          "%s: %u links and their given negatives: a batch begins with at most "
                          "2^31 nodes",
                          q->s->store->path, m->batch_size);
}

/* Fills list i from the seeds' file, a set, or nothing, for all edges; *name: the header's. */
static int add_links(struct link_seeds *q, uint32_t i, const struct gnn_sampler_opts *o,
                     enum gnn_dtype times, const char **name, struct gnn_err *e)
{
    struct gnn_sampling *m = &q->s->meta.sampling;
    char sum[LINK_SUM];
    if (o->seeds_name) {
        *name = "seeds";
        if (gnn_link_list_read(&q->list[i], &q->edges, o->seeds_fd, o->seeds_name,
                               o->ids            ? GNN_LINK_IDS
                               : m->original_ids ? GNN_LINK_ORIGINAL
                                                 : GNN_LINK_POSITIONS,
                               times, e))
            return e->code;
        gnn_link_list_sum(&q->list[i], sum);
        return gnn_sampling_take(&m->links.sum, sum, e);
    }
    if (i || strcmp(*name, GNN_ALL_LINKS) != 0)
        return add_set(q, i, *name, times, e);
    return m->links.target ? gnn_link_labels_of_edges(&q->labels, &q->edges, !q->evaluated, e) : 0;
}

/* The set that is trained on, if none is named: train, or, if there is none, all edges. */
static const char *first_set(const struct sampler *s, const struct gnn_sampler_opts *o)
{
    return o->split ? o->split
           : gnn_schema_find_links(&s->meta.schema, s->meta.sampling.links.etype, "train") >= 0
               ? "train"
               : GNN_ALL_LINKS;
}

static int init_negatives(struct link_seeds *q, struct gnn_err *e)
{
    const struct gnn_sampling *m = &q->s->meta.sampling;
    bool use[LINK_KNOWN] = {false};
    for (uint32_t i = 0; i < m->nsplits; i++)
        use[link_known_of(q, i)] |= !q->given[i].n;
    return m->links.negatives ? gnn_link_negatives_init(&q->negatives, m, &q->edges,
                                                        (int)q->base.tag[0] - 1, use, e)
                              : 0;
}

static int init_seeds(struct link_seeds *q, const struct gnn_sampler_opts *o, struct gnn_err *e)
{
    struct sampler *s = q->s;
    struct gnn_sampling *m = &s->meta.sampling;
    const enum gnn_dtype times = gnn_sampling_is_temporal(m) ? gnn_sampling_time_dtype(m) : 0;
    const uint32_t n = o->seeds_name ? 1 : 1 + o->neval;
    const char *first = first_set(s, o);
    const bool all = !o->seeds_name && !strcmp(first, GNN_ALL_LINKS);
    const char *slash = strrchr(first, '/'), *set = slash ? slash + 1 : first;
    q->fixed = o->evaluates;
    q->evaluated = q->fixed || o->seeds_name || !strcmp(set, "valid") || !strcmp(set, "test");
    q->labels = (struct link_labels){.edges = &q->edges, .links = &m->links};
    m->seed_ntype = s->meta.schema.etype[m->links.etype].dst;
    int rc = gnn_sampling_bind_seeds(m, &s->meta.schema, s->store->path, e);
    if (!rc)
        rc = gnn_seeds_alloc(&q->base, m, n, e);
    if (!rc && (!(q->list = gnn_alloc_zero(n, sizeof *q->list, "links", e)) ||
                !(q->given = gnn_alloc_zero(n, sizeof *q->given, "links", e))))
        rc = e->code;
    if (!rc)
        rc = gnn_link_edges_init(&q->edges, s->store, m->links.etype, all ? times : 0, e);
    if (rc && o->seeds_name)
        close(o->seeds_fd);
    for (uint32_t i = 0; !rc && i < n; i++) {
        const char *name = i ? o->eval[i - 1] : first;
        rc = add_links(q, i, o, times, &name, e);
        if (!rc && !(m->split[i] = gnn_strdup(name, e)))
            rc = e->code;
        m->split_seeds[i] = i || !all ? q->list[i].n : s->meta.schema.etype[m->links.etype].count;
        m->steps[i] = gnn_plan_steps(m->split_seeds[i], m->batch_size, m->drop_last && !i);
        if (!rc)
            rc = add_given(q, i, name, e);
    }
    /* Their number is the header's, which a file's pairs do not tell. */
    if (!rc && m->links.target && !o->seeds_name)
        rc = gnn_link_labels_finish(&q->labels, &m->links.classes, e);
    if (!rc)
        rc = check_given(q, e);
    return rc ? rc : init_negatives(q, e);
}

struct sample_seeds *gnn_link_seeds_new(struct sampler *s, const struct gnn_sampler_opts *o,
                                        struct gnn_err *e)
{
    struct link_seeds *q = gnn_alloc_zero(1, sizeof *q, "links", e);
    if (!q) {
        if (o->seeds_name)
            close(o->seeds_fd);
        return NULL;
    }
    *q = (struct link_seeds){
        .base = {.free = free_seeds, .begin = gnn_link_batch_begin, .all = gnn_link_batch_count},
        .s = s};
    if (!init_seeds(q, o, e))
        return &q->base;
    free_seeds(&q->base);
    return NULL;
}
