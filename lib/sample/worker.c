/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing one batch on the CPU (lib/sample/sample_impl.h): the kernels draw and number, and this
 * lays out the batch's tensors. A worker belongs to one thread, and keeps its map of local numbers
 * and its scratch from batch to batch. */
#include <string.h>

#include "lib/sample/links.h"

void gnn_sample_worker_free(void *worker)
{
    struct sample_worker *w = worker;
    for (uint32_t t = 0; w->type && t < w->nntypes; t++)
        gnn_sample_numbering_free(&w->type[t]);
    gnn_free(w->type);
    gnn_free(w->column);
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
    gnn_buf_release(&w->links);
    gnn_buf_release(&w->mark);
    gnn_buf_release(&w->skip);
    gnn_link_exclude_free(w);
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
    w->netypes = c->netypes;
    w->backend = s->backend;
    w->type = gnn_alloc_zero(c->nntypes, sizeof *w->type, "a sampling thread", e);
    w->column = gnn_alloc_zero(c->nntypes, sizeof *w->column, "a sampling thread", e);
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
    if (good && m->links.exclude)
        good = !gnn_link_exclude_new(w, e);
    if (good && s->comm->size > 1)
        good = (w->remote = gnn_sample_remote_new(s, e)) != NULL;
    if (!good || w->backend->context_new(w->backend, &w->context, e)) {
        gnn_sample_worker_free(w);
        return NULL;
    }
    return w;
}

/* A type's columns, of which those of nodes are empty; how often seeds were drawn comes later. */
static int begin_type(const struct sample_draw *d, uint32_t t)
{
    const struct gnn_meta *m = &d->s->meta;
    int rc = 0;
    gnn_relabel_begin(&d->w->type[t]);
    for (uint32_t c = 0; !rc && c < GNN_NCOLUMNS; c++) {
        const bool grows = gnn_column[c].rows == GNN_ROWS_NODES;
        struct gnn_tensor **x = &d->w->column[t].of[c];
        *x = NULL;
        if (gnn_column[c].per == GNN_PER_NTYPE && (grows || c == GNN_COLUMN_COUNTS) &&
            gnn_column_presence(m, c, 0, t) == GNN_REQUIRED)
            rc = gnn_column_add(&d->b->tensors, m, c, 0, t,
                                grows ? 0 : m->sampling.nhops + UINT64_C(1), x, d->e);
    }
    d->w->counts[t] = rc ? NULL : d->w->column[t].of[GNN_COLUMN_COUNTS]->data;
    d->w->column[t].of[GNN_COLUMN_COUNTS] = NULL; /* does not grow */
    return rc;
}

/* How many seeds the batches of all ranks have. */
static int add_seed_count(const struct sample_draw *d)
{
    struct gnn_tensor *t;
    if (gnn_column_add(&d->b->tensors, &d->s->meta, GNN_COLUMN_SEEDS, 0, 0, 1, &t, d->e))
        return d->e->code;
    d->b->seeds = *(uint64_t *)t->data = d->s->seeds->all(d->s->seeds, d->b);
    return 0;
}

/* The nodes that the batch starts from, n seeds of this rank, or the ends of links. */
static int add_roots(const struct sample_draw *d, uint64_t n)
{
    const struct sample_seeds *q = d->s->seeds;
    const uint32_t type = d->s->meta.sampling.seed_ntype;
    if (q->begin)
        return q->begin(q, d);
    if (gnn_sample_fit_nodes(d, type, n))
        return d->e->code;
    return gnn_relabel_add(&d->w->type[type], d->w->seeds, n) < n
               ? gnn_sample_damaged(d->s, 0, GNN_SAMPLE_SEED, &(struct gnn_sample_place){0}, d->e)
               : 0;
}

/* *n: seeds of this rank, unless they are links. */
static int begin_batch(const struct sample_draw *d, uint64_t *n)
{
    const struct gnn_schema *c = &d->s->meta.schema;
    const struct gnn_sampling *m = &d->s->meta.sampling;
    struct gnn_batch *b = d->b;
    *n = d->s->seeds->fill ? d->s->seeds->fill(d->s->seeds, b, d->w->seeds) : 0;
    gnn_tensors_clear(&b->tensors); /* what carried them */
    gnn_sample_keys(d->s, b, d->w->keys);
    int rc = gnn_column_add_key(b, &d->s->meta, d->e);
    if (!rc && gnn_sampling_counts_seeds(m))
        rc = add_seed_count(d);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        if (!(rc = begin_type(d, t)))
            rc = gnn_sample_fit_nodes(d, t, 0);
    if (!rc)
        rc = add_roots(d, *n);
    for (uint32_t t = 0; !rc && t < c->nntypes; t++)
        d->w->counts[t][0] = d->w->type[t].count;
    return rc ? rc : gnn_seed_draws_add(d->s, b, d->w->seeds.node, *n, d->e);
}

/* What the first hop adds to the seeds, if that is known beforehand: entries of type t. */
static int join_entries(const struct sample_draw *d, uint32_t t)
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
static int find_counted(const struct sample_draw *d, uint32_t t)
{
    char name[GNN_NAME_MAX + 1];
    if (!d->s->count_once)
        return 0;
    gnn_column_name(name, &d->s->meta.schema, GNN_COLUMN_COUNTED, 0, t);
    struct gnn_tensor *x = gnn_tensors_find(&d->b->tensors, name);
    if (!x && d->s->meta.sampling.disjoint && !d->b->split &&
        d->b->nhops > gnn_sample_remote_from(d->s)) {
        const uint64_t n = d->w->counts[t][d->b->nhops - 1];
        if (gnn_column_add(&d->b->tensors, &d->s->meta, GNN_COLUMN_COUNTED, 0, t, n, &x, d->e))
            return d->e->code;
        memset(x->data, 1, n);
    }
    d->b->type[t].counted = x ? x->data : NULL;
    return 0;
}

/* Store ids become original ones in place, in pieces. */
static void name_originally(const struct sample_draw *d, uint32_t t, uint32_t *v, uint64_t n)
{
    uint32_t id[256];
    for (uint64_t i = 0; i < n; i += 256) {
        const uint64_t m = n - i < 256 ? n - i : 256;
        memcpy(id, v + i, m * sizeof *id);
        (void)gnn_gather_rows(&(struct gnn_gather){.part = d->s->orig[t],
                                                   .nparts = d->s->store->nparts,
                                                   .bytes = sizeof *id,
                                                   .n = m,
                                                   .id = id,
                                                   .out = v + i});
    }
}

/* Cuts a type's columns to size, and sets the typed view. */
static int finish_type(const struct sample_draw *d, uint32_t t)
{
    const uint64_t n = d->w->type[t].count;
    int rc = gnn_sample_resize_nodes(d, t, n);
    for (uint32_t c = 0; !rc && c < GNN_NCOLUMNS; c++) {
        const struct gnn_tensor *x = d->w->column[t].of[c];
        if (x)
            *gnn_column_view(d->b, c, 0, t) = x->data;
        if (x && gnn_column[c].ids && d->s->orig[t] && d->s->meta.sampling.original_ids)
            name_originally(d, t, x->data, n);
    }
    d->b->type[t].count = d->w->counts[t];
    return rc ? rc : find_counted(d, t);
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
    const bool remote = d->w->remote && hop >= gnn_sample_remote_from(d->s);
    gnn_tensors_clear(&d->w->aside);
    for (uint32_t t = 0; !hop && d->s->seeds->join && t < d->b->nntypes; t++)
        if (join_entries(d, t))
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
