/* SPDX-License-Identifier: Apache-2.0 */
/* From the tensors of a BATCH frame to the typed view of a batch, trusting nothing. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/data/batch_impl.h"
#include "lib/data/label_check.h"
#include "lib/base/node_set.h"

struct bind {
    struct gnn_batch *b;
    const struct gnn_meta *m;
    struct gnn_err *e;
    uint32_t known; /* tensors recognised so far */
};

static int fail_tensor(struct bind *s, const char *name, const char *what)
{
    return gnn_fail(s->e, GNN_E_INPUT, "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': %s",
                    s->b->epoch, s->b->step, name, what);
}

static int bad_element(struct bind *s, const char *name, uint64_t i, uint64_t v, const char *what)
{
    return gnn_fail(s->e, GNN_E_INPUT,
                    "batch %" PRIu64 "/%" PRIu64 ": tensor '%s': element %" PRIu64 ": %" PRIu64
                    " %s",
                    s->b->epoch, s->b->step, name, i, v, what);
}

/* *out is NULL if there is no such tensor and it is not required. rows UINT64_MAX: any number. */
static int take_tensor(struct bind *s, const char *name, enum gnn_dtype dtype, uint64_t rows,
                       bool required, const struct gnn_tensor **out)
{
    const struct gnn_tensor *t = gnn_tensors_find(&s->b->tensors, name);
    *out = t;
    if (!t)
        return required ? fail_tensor(s, name, "missing") : 0;
    s->known++;
    if (t->dtype != dtype || t->ndim != 1 || (rows != UINT64_MAX && t->shape[0] != rows))
        return fail_tensor(s, name, "wrong dtype or shape");
    return 0;
}

static int bind_key(struct bind *s)
{
    const struct gnn_tensor *t;
    int rc = take_tensor(s, "key", GNN_U64, 4, true, &t);
    if (rc)
        return rc;
    const uint64_t *v = t->data;
    s->b->epoch = v[0];
    s->b->step = v[1];
    const struct gnn_sampling *m = &s->m->sampling;
    if (v[2] >= m->nsplits)
        return bad_element(s, "key", 2, v[2], "is not the index of a split");
    if (m->steps[v[2]] && v[1] >= m->steps[v[2]]) /* 0: not known, of seeds from a pipe */
        return bad_element(s, "key", 1, v[1], "is a step after the last one of its split");
    if (v[3] != m->rank)
        return bad_element(s, "key", 3, v[3], "is not the rank of the header");
    s->b->split = (uint32_t)v[2];
    s->b->rank = (uint32_t)v[3];
    s->b->seeds = 0;
    if (!m->clusters)
        return 0;
    if ((rc = take_tensor(s, "seeds", GNN_U64, 1, true, &t)))
        return rc;
    s->b->seeds = *(const uint64_t *)t->data;
    return s->b->seeds > m->split_seeds[v[2]]
               ? bad_element(s, "seeds", 0, s->b->seeds, "are more seeds than the split has")
               : 0;
}

/* Trees are positions in a global batch, of seeds or of clusters. These are all there in order; so
 * seeds' trees are different, and those of a cluster's seeds are not. */
static int bind_trees(struct bind *s, uint32_t t, const uint64_t *count, const uint32_t **out)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_tensor *tree;
    char name[GNN_NAME_MAX + 1];
    if (!m->disjoint)
        return 0;
    snprintf(name, sizeof name, "tree/%s", s->m->schema.ntype[t].name);
    int rc = take_tensor(s, name, GNN_U32, count[s->b->nhops], true, &tree);
    if (rc)
        return rc;
    const uint32_t *v = *out = tree->data;
    for (uint64_t i = 0; !s->b->place && i < count[s->b->nhops]; i++)
        if (v[i] >= (m->clusters ? m->clusters : m->batch_size))
            return bad_element(s, name, i, v[i], "is not a position in a batch");
    for (uint64_t i = 1; !s->b->place && i < count[0]; i++)
        if (v[i] < v[i - 1] || (v[i] == v[i - 1] && !m->clusters))
            return bad_element(s, name, i, v[i], "is not after the seed before");
    return 0;
}

static int bind_times(struct bind *s, uint32_t t, uint64_t n, const int64_t **out)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_tensor *time;
    char name[GNN_NAME_MAX + 1];
    if (!gnn_sampling_is_temporal(m))
        return 0;
    snprintf(name, sizeof name, "time/%s", s->m->schema.ntype[t].name);
    int rc = take_tensor(s, name, gnn_sampling_time_dtype(m), n, true, &time);
    if (rc)
        return rc;
    *out = time->data;
    for (uint64_t i = 0; m->rule.time.real && !s->b->place && i < n; i++)
        if (isnan(((const double *)time->data)[i]))
            return fail_tensor(s, name, "a time is nan");
    return 0;
}

/* n seeds of type t, of all that ranks have together. */
static int check_cluster_seeds(struct bind *s, uint32_t t, const char *name, uint64_t n)
{
    const struct gnn_sampling *m = &s->m->sampling;
    if (n > m->batch_size)
        return fail_tensor(s, name, "more seeds than a batch has");
    if (n > s->b->seeds)
        return fail_tensor(s, name, "more seeds than all ranks have");
    if (t == m->seed_ntype && !m->ranks && n != s->b->seeds)
        return fail_tensor(s, name, "fewer seeds than the batch has, and there are no other ranks");
    return 0;
}

/* How often n seeds of type t were drawn; all of them together, at most as often as a batch has
 * seeds. */
static int bind_draws(struct bind *s, uint32_t t, uint64_t n, const uint32_t **out)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_tensor *draws;
    char name[GNN_NAME_MAX + 1];
    uint64_t all = 0;
    *out = NULL;
    if (t != m->seed_ntype || !gnn_sampling_counts_draws(m, s->b->split))
        return 0;
    snprintf(name, sizeof name, "draws/%s", s->m->schema.ntype[t].name);
    int rc = take_tensor(s, name, GNN_U32, n, true, &draws);
    if (rc)
        return rc;
    const uint32_t *v = *out = draws->data;
    for (uint64_t i = 0; i < n; i++) {
        all += v[i];
        if (!v[i] || all > m->batch_size)
            return bad_element(s, name, i, v[i], "is not how often a seed was drawn");
    }
    return 0;
}

static int bind_nodes(struct bind *s, uint32_t t)
{
    const uint32_t *tree = NULL, *draws;
    const int64_t *time = NULL;
    const struct gnn_ntype *nt = &s->m->schema.ntype[t];
    uint32_t nhops = s->b->nhops;
    const struct gnn_tensor *nodes, *counts, *counted, *orig;
    char name[GNN_NAME_MAX + 1];
    snprintf(name, sizeof name, "counts/%s", nt->name);
    int rc = take_tensor(s, name, GNN_U64, (uint64_t)nhops + 1, true, &counts);
    if (rc)
        return rc;
    const uint64_t *c = counts->data;
    for (uint32_t h = 0; h < nhops; h++)
        if (c[h] > c[h + 1])
            return fail_tensor(s, name, "counts decrease");
    if (c[nhops] > gnn_sampling_nodes_max(&s->m->sampling, nt->count))
        return fail_tensor(s, name, "more nodes than the store has");
    if (s->m->sampling.clusters && (rc = check_cluster_seeds(s, t, name, c[0])))
        return rc;
    if (c[0] && t != s->m->sampling.seed_ntype)
        return fail_tensor(s, name, "seeds of a type other than the seed type");
    snprintf(name, sizeof name, "nodes/%s", nt->name);
    if ((rc = take_tensor(s, name, GNN_U32, c[nhops], true, &nodes)))
        return rc;
    const uint32_t *v = nodes->data;
    for (uint64_t i = 0; !s->b->place && i < c[nhops]; i++)
        if (v[i] >= nt->count)
            return bad_element(s, name, i, v[i], "is a node id out of range");
    if ((rc = bind_trees(s, t, c, &tree)) || (rc = bind_times(s, t, c[nhops], &time)) ||
        (rc = bind_draws(s, t, c[0], &draws)))
        return rc;
    snprintf(name, sizeof name, "node/%s/id", nt->name);
    if ((rc = take_tensor(s, name, GNN_U32, c[nhops], false, &orig)))
        return rc;
    snprintf(name, sizeof name, "counted/%s", nt->name);
    if ((rc = take_tensor(s, name, GNN_U8, nhops ? c[nhops - 1] : 0, false, &counted)))
        return rc;
    s->b->type[t] = (struct gnn_batch_type){.node = v,
                                            .tree = tree,
                                            .time = time,
                                            .count = c,
                                            .draws = draws,
                                            .counted = counted ? counted->data : NULL,
                                            .orig = orig ? orig->data : NULL};
    return 0;
}

static int bind_block(struct bind *s, uint32_t hop, uint32_t et)
{
    struct gnn_batch *b = s->b;
    const struct gnn_etype *t = &s->m->schema.etype[et];
    const uint64_t *dst = b->type[t->dst].count, *src = b->type[t->src].count;
    uint64_t first = gnn_sampling_new_rows(&s->m->sampling, hop) ? dst[hop - 1] : 0;
    uint64_t n = dst[hop] - first;
    char key[GNN_ETYPE_KEY_ROOM], name[GNN_NAME_MAX + 1];
    gnn_etype_key(&s->m->schema, et, key, sizeof key);
    const struct gnn_tensor *indptr, *indices, *id;
    snprintf(name, sizeof name, "hop/%u/%s/indptr", hop, key);
    int rc = take_tensor(s, name, GNN_U32, n + 1, false, &indptr);
    if (rc || !indptr)
        return rc;
    const uint32_t *ptr = indptr->data;
    if (!b->place && ptr[0])
        return fail_tensor(s, name, "does not start at 0");
    const uint32_t rows = b->place ? 0 : (uint32_t)n; /* that are looked at, without a branch */
    uint32_t falls = 0, fall = 0;
    for (uint32_t i = 0; i < rows; i++)
        falls |= ptr[i] > ptr[i + 1];
    while (falls && ptr[fall] <= ptr[fall + 1])
        fall++;
    if (falls)
        return bad_element(s, name, fall + 1, ptr[fall + 1],
                           "is less than the one before: not monotone");
    snprintf(name, sizeof name, "hop/%u/%s/indices", hop, key);
    if ((rc = take_tensor(s, name, GNN_U32, b->place ? UINT64_MAX : ptr[n], true, &indices)))
        return rc;
    const uint32_t *v = indices->data;
    const uint64_t edges = indices->shape[0];
    if (edges >= UINT32_MAX)
        return fail_tensor(s, name, "too many edges");
    uint32_t limit = (uint32_t)src[hop + 1], worst = 0, at = 0;
    const uint32_t looked = b->place ? 0 : (uint32_t)edges;
    for (uint32_t i = 0; i < looked; i++)
        worst |= v[i] >= limit;
    while (worst && v[at] < limit)
        at++;
    if (worst)
        return bad_element(s, name, at, v[at], "is a local id out of range");
    snprintf(name, sizeof name, "hop/%u/%s/id", hop, key);
    if ((rc = take_tensor(s, name, GNN_U64, edges, s->m->sampling.edge_ids, &id)))
        return rc;
    *gnn_batch_block(b, hop, et) = (struct gnn_block){.first = (uint32_t)first,
                                                      .n = (uint32_t)n,
                                                      .edges = (uint32_t)edges,
                                                      .indptr = ptr,
                                                      .indices = v,
                                                      .id = id ? id->data : NULL};
    return 0;
}

/* Walks: local numbers of the types that the path leads to, the first of a seed; or pairs. */
static int bind_walks(struct bind *s)
{
    const struct gnn_sampling *m = &s->m->sampling;
    const struct gnn_schema *c = &s->m->schema;
    const uint64_t width = m->walks.window ? 2 : m->walks.length + UINT64_C(1);
    const char *name = m->walks.window ? "pair" : "walk";
    const struct gnn_tensor *t;
    s->b->walk = s->b->pair = NULL;
    s->b->nwalks = s->b->npairs = s->b->steps = 0;
    if (!m->walks.length)
        return 0;
    t = gnn_tensors_find(&s->b->tensors, name);
    if (!t)
        return fail_tensor(s, name, "missing");
    s->known++;
    if (t->dtype != GNN_U32 || t->ndim != 2 || t->shape[1] != width)
        return fail_tensor(s, name, "wrong dtype or shape");
    /* A seed that is given twice walks for itself each time, but is one node. */
    const uint64_t many = t->shape[0], seeds = s->b->type[m->seed_ntype].count[0];
    if (!m->walks.window && (many % m->walks.per_seed || many < seeds * m->walks.per_seed ||
                             many / m->walks.per_seed > m->batch_size))
        return fail_tensor(s, name, "not the walks of the seeds");
    const uint32_t *v = t->data;
    for (uint64_t p = 0; p < width; p++) {
        const struct gnn_etype *step = &c->etype[gnn_sampling_step(
            m, c->netypes, p && !m->walks.window ? (uint32_t)p - 1 : 0)];
        const struct gnn_batch_type *type =
            &s->b->type[p || m->walks.window ? step->src : step->dst];
        const uint64_t limit = type->count[p || m->walks.window ? s->b->nhops : 0];
        for (uint64_t i = 0; !s->b->place && i < t->shape[0]; i++) {
            const uint32_t x = v[i * width + p];
            const bool ended = p && !m->walks.window && x == UINT32_MAX;
            s->b->steps += p && !m->walks.window && !ended;
            if ((!ended && x >= limit) ||
                (p && !ended && !m->walks.window && v[i * width + p - 1] == UINT32_MAX))
                return bad_element(s, name, i * width + p, x, "is a local id out of range");
        }
    }
    *(m->walks.window ? &s->b->pair : &s->b->walk) = v;
    *(m->walks.window ? &s->b->npairs : &s->b->nwalks) = t->shape[0];
    return 0;
}

static int check_labels(struct bind *s, const struct gnn_tensor *y)
{
    struct gnn_err why = {0};
    return gnn_labels_valid(&s->m->schema, y, &why) ? fail_tensor(s, y->name, why.msg) : 0;
}

/* Gathered rows must be of a field of the schema, as many as there are nodes or edges. Floats may
 * have been narrowed on the way. What else there is, is not known. */
static int bind_field(struct bind *s, const struct gnn_tensor *t)
{
    struct gnn_rows_of x;
    if (!gnn_batch_rows_of(s->m, t->name, &x))
        return 0;
    const uint64_t rows = x.edges    ? gnn_batch_block(s->b, x.hop, x.type)->edges
                          : x.labels ? s->b->type[x.type].count[0]
                                     : gnn_batch_nodes(s->b, x.type);
    const char *why = gnn_batch_rows_fit(&x, t);
    if (!why && t->shape[0] != rows)
        why = "wrong dtype or shape";
    if (why)
        return fail_tensor(s, t->name, why);
    s->known++;
    return x.labels && x.type == s->m->schema.label_ntype && !s->b->place ? check_labels(s, t) : 0;
}

int gnn_batch_bind(struct gnn_batch *b, const struct gnn_meta *m, struct gnn_err *e)
{
    struct bind s = {.b = b, .m = m, .e = e};
    int rc = bind_key(&s);
    for (uint32_t t = 0; !rc && t < m->schema.nntypes; t++)
        rc = bind_nodes(&s, t);
    for (uint32_t h = 0; !rc && h < b->nhops; h++)
        for (uint32_t t = 0; !rc && gnn_sampling_keeps(&m->sampling, h) && t < m->schema.netypes;
             t++)
            rc = bind_block(&s, h, t);
    if (!rc)
        rc = bind_walks(&s);
    for (uint32_t i = 0; !rc && i < b->tensors.n; i++)
        rc = bind_field(&s, gnn_tensors_at(&b->tensors, i));
    if (!rc && s.known != b->tensors.n)
        rc = gnn_fail(e, GNN_E_INPUT,
                      "batch %" PRIu64 "/%" PRIu64 ": has tensors that its header does not declare",
                      b->epoch, b->step);
    return rc;
}

int gnn_batch_check_nodes(const struct gnn_batch *b, const struct gnn_meta *m,
                          struct gnn_node_set *set, struct gnn_err *e)
{
    for (uint32_t t = 0; t < b->nntypes; t++) {
        const uint64_t n = gnn_batch_nodes(b, t);
        const struct gnn_batch_type *v = &b->type[t];
        const struct gnn_entries x = {(uint32_t *)(uintptr_t)v->node, (int64_t *)(uintptr_t)v->time,
                                      (uint32_t *)(uintptr_t)v->tree};
        uint64_t at;
        if (gnn_entries_plain(&x) ? gnn_node_set_repeat(set, v->node, n, &at, e)
                                  : gnn_node_set_repeat_in(set, &x, n, &at, e))
            return e->code;
        if (at < n)
            return gnn_fail(e, GNN_E_INPUT,
                            "batch %" PRIu64 "/%" PRIu64 ": tensor 'nodes/%s': element %" PRIu64
                            ": node %u occurs twice%s",
                            b->epoch, b->step, m->schema.ntype[t].name, at, v->node[at],
                            v->tree   ? " in its tree"
                            : v->time ? " at its time"
                                      : "");
    }
    return 0;
}
