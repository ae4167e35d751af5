/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing one batch on the CPU (lib/sample/sample_impl.h): the kernels draw and number, and this
 * lays out the batch's tensors. A worker belongs to one thread, and keeps its map of local numbers
 * and its scratch from batch to batch. */
#include <stdio.h>
#include <string.h>

#include "lib/sample/sample_impl.h"

void gnn_sample_worker_free(void *worker)
{
    struct sample_worker *w = worker;
    for (uint32_t t = 0; w->type && t < w->nntypes; t++)
        gnn_sample_numbering_free(&w->type[t]);
    gnn_free(w->type);
    gnn_free(w->nodes);
    gnn_free(w->tree);
    gnn_free(w->time);
    gnn_free(w->counts);
    gnn_free(w->seeds.node);
    gnn_free(w->seeds.tree);
    gnn_free(w->seeds.time);
    gnn_free(w->keys);
    gnn_free(w->scratch);
    w->backend->context_free(w->context);
    gnn_buf_release(&w->row);
    gnn_buf_release(&w->span);
    gnn_buf_release(&w->filter);
    gnn_buf_release(&w->joined);
    gnn_buf_release(&w->times);
    gnn_tensors_release(&w->aside);
    for (uint32_t i = 0; i < sizeof w->walk / sizeof *w->walk; i++)
        gnn_buf_release(&w->walk[i]);
    gnn_sample_remote_free(w->remote);
    gnn_free(w);
}

void *gnn_sample_worker_new(void *arg, struct gnn_err *e)
{
    const struct sampler *s = arg;
    const struct gnn_schema *c = &s->meta.schema;
    const struct gnn_sampling *m = &s->meta.sampling;
    const uint32_t blocks = m->nhops * c->netypes;
    uint64_t scratch = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        const uint64_t bytes = gnn_sample_scratch(gnn_sampling_rule(m, i));
        scratch = bytes > scratch ? bytes : scratch;
    }
    struct sample_worker *w = gnn_alloc_zero(1, sizeof *w, "a sampling thread", e);
    if (!w)
        return NULL;
    w->nntypes = c->nntypes;
    w->backend = s->backend;
    w->type = gnn_alloc_zero(c->nntypes, sizeof *w->type, "a sampling thread", e);
    w->nodes = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_tensor *), "a sampling thread", e);
    w->tree = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_tensor *), "a sampling thread", e);
    w->time = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_tensor *), "a sampling thread", e);
    w->counts = gnn_alloc_zero(c->nntypes, sizeof(uint64_t *), "a sampling thread", e);
    w->seeds.node = gnn_alloc(m->batch_size, sizeof *w->seeds.node, "seeds", e);
    if (m->disjoint || m->walks.length)
        w->seeds.tree = gnn_alloc(m->batch_size, sizeof *w->seeds.tree, "seeds", e);
    if (gnn_sampling_is_temporal(m))
        w->seeds.time = gnn_alloc(m->batch_size, sizeof *w->seeds.time, "seeds", e);
    w->keys = gnn_alloc(2 * (uint64_t)blocks, sizeof *w->keys, "a sampling thread", e);
    w->scratch = gnn_alloc(scratch, 1, "a sampling thread", e);
    bool good = !e->code;
    for (uint32_t t = 0; good && t < c->nntypes; t++)
        good = !gnn_sample_numbering(s, s->meta.schema.ntype[t].count, &w->type[t], e);
    if (good && s->comm->size > 1)
        good = (w->remote = gnn_sample_remote_new(s, e)) != NULL;
    if (!good || w->backend->context_new(w->backend, &w->context, e)) {
        gnn_sample_worker_free(w);
        return NULL;
    }
    return w;
}

/* A type's tensors, empty. */
static int begin_type(const struct sample_draw *d, uint32_t t)
{
    const char *type = d->s->meta.schema.ntype[t].name;
    struct gnn_tensor *counts;
    char name[GNN_NAME_MAX + 1];
    gnn_relabel_begin(&d->w->type[t]);
    int rc =
        gnn_sample_add(d, gnn_tensor_name(name, "nodes/%s", type), GNN_U32, 0, &d->w->nodes[t]);
    if (!rc && d->s->meta.sampling.disjoint)
        rc = gnn_sample_add(d, gnn_tensor_name(name, "tree/%s", type), GNN_U32, 0, &d->w->tree[t]);
    if (!rc && gnn_sampling_is_temporal(&d->s->meta.sampling))
        rc = gnn_sample_add(d, gnn_tensor_name(name, "time/%s", type),
                            gnn_sampling_time_dtype(&d->s->meta.sampling), 0, &d->w->time[t]);
    if (!rc)
        rc = gnn_sample_add(d, gnn_tensor_name(name, "counts/%s", type), GNN_U64,
                            d->s->meta.sampling.nhops + UINT64_C(1), &counts);
    d->w->counts[t] = rc ? NULL : counts->data;
    return rc;
}

/* Of clusters: how many seeds the batches of all ranks have. */
static int add_seed_count(const struct sample_draw *d)
{
    struct gnn_tensor *t;
    if (gnn_sample_add(d, "seeds", GNN_U64, 1, &t))
        return d->e->code;
    d->b->seeds = *(uint64_t *)t->data = d->s->seeds->all(d->s->seeds, d->b);
    return 0;
}

/* How often the seeds were drawn, of which there are n. */
static int add_draws(const struct sample_draw *d, uint64_t n)
{
    const uint32_t type = d->s->meta.sampling.seed_ntype;
    struct gnn_tensor *t;
    char name[GNN_NAME_MAX + 1];
    uint64_t distinct;
    gnn_tensor_name(name, "draws/%s", d->s->meta.schema.ntype[type].name);
    if (!gnn_sampling_counts_draws(&d->s->meta.sampling, d->b->split))
        return 0;
    if (gnn_sample_add(d, name, GNN_U32, n, &t) ||
        gnn_seed_draws_count(d->w->seeds.node, n, t->data, &distinct, d->e) ||
        gnn_tensors_resize(&d->b->tensors, t, distinct, d->e))
        return d->e->code;
    d->b->type[type].draws = t->data;
    return 0;
}

/* *n: seeds of this rank. */
static int begin_batch(const struct sample_draw *d, uint64_t *n)
{
    const struct gnn_schema *c = &d->s->meta.schema;
    const struct gnn_sampling *m = &d->s->meta.sampling;
    struct gnn_batch *b = d->b;
    *n = d->s->seeds->fill(d->s->seeds, b, d->w->seeds);
    gnn_tensors_clear(&b->tensors); /* what carried them */
    gnn_sample_keys(d->s, b, d->w->keys);
    struct gnn_tensor *key;
    int rc = gnn_sample_add(d, "key", GNN_U64, 4, &key);
    if (!rc)
        memcpy(key->data, (uint64_t[]){b->epoch, b->step, b->split, b->rank}, 4 * sizeof(uint64_t));
    if (!rc && m->clusters)
        rc = add_seed_count(d);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++) {
        rc = begin_type(d, t);
        if (!rc)
            rc = gnn_sample_fit_nodes(d, t, t == m->seed_ntype ? *n : 0);
    }
    if (!rc && gnn_relabel_add(&d->w->type[m->seed_ntype], d->w->seeds, *n) < *n)
        rc = gnn_sample_damaged(d->s, 0, GNN_SAMPLE_SEED, &(struct gnn_sample_place){0}, d->e);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        d->w->counts[t][0] = d->w->type[t].count;
    return rc ? rc : add_draws(d, *n);
}

/* What the first hop adds to clusters' seeds: all nodes of type t in these. */
static int join_clusters(const struct sample_draw *d, uint32_t t)
{
    const struct sample_seeds *q = d->s->seeds;
    const struct gnn_relabel *r = &d->w->type[t];
    const uint64_t n = q->join(q, d->b, t, (struct gnn_entries){0});
    uint64_t bytes = 0;
    (void)gnn_entries_lay(NULL, &bytes, r->list, n);
    if (gnn_sample_fit_nodes(d, t, n) || gnn_buf_fit(&d->w->joined, bytes, 1, "nodes", d->e))
        return d->e->code;
    bytes = 0;
    const struct gnn_entries x = gnn_entries_lay(d->w->joined.data, &bytes, r->list, n);
    (void)q->join(q, d->b, t, x);
    (void)gnn_relabel_add(&d->w->type[t], x, n); /* they are nodes */
    return 0;
}

static int draw_block(const struct sample_draw *d, uint32_t hop, uint32_t et)
{
    if (gnn_sampling_induces(&d->s->meta.sampling, hop))
        return gnn_sample_induce(d, hop, et);
    const struct gnn_etype *type = &d->s->meta.schema.etype[et];
    struct gnn_tensor *indptr, *indices, *id;
    uint32_t first;
    const uint32_t n = gnn_sample_rows(d, hop, et, &first);
    if (!n)
        return 0;
    struct gnn_sample_job job = gnn_sample_job_of(d->s, d->w->keys, hop * d->b->netypes + et);
    int rc = gnn_sample_add_indptr(d, hop, et, n, &indptr);
    if (rc)
        return rc;
    job.dst = gnn_entries_from(d->w->type[type->dst].list, first);
    job.n = n;
    job.indptr = indptr->data;
    rc = gnn_sample_count_block(d, et, &job);
    if (rc)
        return rc;
    const uint32_t edges = job.indptr[n];
    rc = gnn_sample_add_edges(d, hop, et, edges, &indices, &id);
    job.dst = gnn_entries_from(d->w->type[type->dst].list, first); /* it may have moved */
    if (!rc)
        rc = gnn_sample_pick_block(d, et, &job, &d->w->type[type->src], indices->data,
                                   id ? id->data : NULL);
    if (!rc && gnn_sampling_keeps(&d->s->meta.sampling, hop))
        *gnn_batch_block(d->b, hop, et) =
            (struct gnn_block){first, n, edges, indptr->data, indices->data, id ? id->data : NULL};
    return rc;
}

/* Which nodes of type t this rank counts, if that was asked for. A tree is on one rank, so that
 * counts all that is in it. */
static int find_counted(const struct sample_draw *d, uint32_t t, const uint8_t **counted)
{
    char name[GNN_NAME_MAX + 1];
    *counted = NULL;
    if (!d->s->count_once)
        return 0;
    gnn_tensor_name(name, "counted/%s", d->s->meta.schema.ntype[t].name);
    struct gnn_tensor *x = gnn_tensors_find(&d->b->tensors, name);
    if (!x && d->s->meta.sampling.disjoint && !d->b->split && d->b->nhops > 1) {
        const uint64_t n = d->w->counts[t][d->b->nhops - 1];
        if (gnn_sample_add(d, name, GNN_U8, n, &x))
            return d->e->code;
        memset(x->data, 1, n);
    }
    *counted = x ? x->data : NULL;
    return 0;
}

/* Cuts a type's tensors to size, turns store ids into original ones where asked, sets the typed
 * view. */
static int finish_type(const struct sample_draw *d, uint32_t t)
{
    struct gnn_tensor *x = d->w->nodes[t], *tree = d->w->tree[t], *time = d->w->time[t];
    const uint64_t n = d->w->type[t].count;
    const struct gnn_gather_part *orig = d->s->orig[t];
    const uint8_t *counted;
    int rc = gnn_tensors_resize(&d->b->tensors, x, n, d->e);
    if (!rc && tree)
        rc = gnn_tensors_resize(&d->b->tensors, tree, n, d->e);
    if (!rc && time)
        rc = gnn_tensors_resize(&d->b->tensors, time, n, d->e);
    /* In blocks: the ids are replaced in place. */
    if (!rc && orig && d->s->meta.sampling.original_ids) {
        uint32_t *v = x->data, id[256];
        for (uint64_t i = 0; i < n; i += 256) {
            const uint64_t m = n - i < 256 ? n - i : 256;
            memcpy(id, v + i, m * sizeof *id);
            (void)gnn_gather_rows(&(struct gnn_gather){.part = orig,
                                                       .nparts = d->s->store->nparts,
                                                       .bytes = sizeof *id,
                                                       .n = m,
                                                       .id = id,
                                                       .out = v + i});
        }
    }
    if (!rc)
        rc = find_counted(d, t, &counted);
    if (!rc)
        d->b->type[t] = (struct gnn_batch_type){.node = x->data,
                                                .tree = tree ? tree->data : NULL,
                                                .time = time ? time->data : NULL,
                                                .count = d->w->counts[t],
                                                .draws = d->b->type[t].draws,
                                                .counted = counted};
    return rc;
}

static int finish_batch(const struct sample_draw *d)
{
    int rc = 0;
    for (uint32_t t = 0; !rc && t < d->w->nntypes; t++)
        rc = finish_type(d, t);
    return rc;
}

static int draw_hop(const struct sample_draw *d, uint32_t hop)
{
    const bool remote = d->w->remote && hop; /* seeds are this rank's own */
    gnn_tensors_clear(&d->w->aside);
    for (uint32_t t = 0; !hop && d->s->seeds->join && t < d->b->nntypes; t++)
        if (join_clusters(d, t))
            return d->e->code;
    int rc = remote ? gnn_sample_remote_hop(d, hop) : 0;
    for (uint32_t et = 0; !rc && !remote && et < d->b->netypes; et++)
        rc = draw_block(d, hop, et);
    for (uint32_t t = 0; !rc && t < d->b->nntypes; t++)
        d->w->counts[t][hop + 1] = d->w->type[t].count;
    return rc;
}

int gnn_sample_apply(void *sampler, void *worker, struct gnn_batch *b, struct gnn_err *e)
{
    struct sample_draw d = {.s = sampler, .w = worker, .b = b, .e = e};
    uint64_t n;
    int rc = begin_batch(&d, &n);
    if (!rc && d.s->meta.sampling.walks.length)
        rc = gnn_sample_walk(&d, n);
    else
        for (uint32_t hop = 0; !rc && hop < b->nhops; hop++)
            rc = draw_hop(&d, hop);
    return rc ? rc : finish_batch(&d);
}
