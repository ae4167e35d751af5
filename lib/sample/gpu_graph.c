/* SPDX-License-Identifier: Apache-2.0 */
/* The graph as devices see it: a copy in the memory of each, or offsets and some rows there and the
 * rest in the host's. */
#include <stddef.h>
#include <string.h>

#include "lib/sample/gpu_sample.h"

/* What the pick rule reads of edges. */
static const struct {
    size_t at, bytes; /* the member of struct gnn_pick_edges; of each edge */
    bool stored;
} pick_array[] = {
#define ARRAY(name, stored)                                                                        \
    {offsetof(struct gnn_pick_edges, name), sizeof *((struct gnn_pick_edges *)0)->name, stored},
    GNN_PICK_ARRAYS(ARRAY)
#undef ARRAY
};
enum { PICK_ARRAYS = sizeof pick_array / sizeof *pick_array };

static const void *pick_array_of(const struct gnn_pick_edges *x, unsigned i)
{
    const void *p;
    memcpy(&p, (const char *)x + pick_array[i].at, sizeof p);
    return p;
}

static void set_pick_array(struct gnn_pick_edges *x, unsigned i, const void *p)
{
    memcpy((char *)x + pick_array[i].at, &p, sizeof p);
}

/* ---- edges in the host's memory ---- */

/* Lets devices read an array, of the store or, if that is NULL, of the sampler. */
static int map_array(struct gpu_host_edges *f, struct gnn_store *of, const void **p, uint64_t bytes,
                     struct gnn_err *e)
{
    const void *host = *p;
    int rc = host ? gnn_gpu_host_open(f->g, of, host, bytes, "the graph", p, e) : 0;
    if (rc || !bytes || !host)
        return rc;
    f->array[f->n++] = host;
    f->bytes += bytes;
    f->copied += gnn_gpu_host_copy(f->g, host) ? bytes : 0;
    return 0;
}

int gnn_gpu_host_edges_init(struct gpu_host_edges *f, struct gnn_gpu *g, const struct sampler *s,
                            struct gnn_err *e)
{
    const uint32_t netypes = s->meta.schema.netypes, nparts = s->store->nparts;
    const uint64_t n = (uint64_t)netypes * nparts;
    f->g = g;
    f->part = gnn_alloc(n, sizeof *f->part, "edges", e);
    f->array = gnn_alloc((2 + PICK_ARRAYS) * n, sizeof(const void *), "edges", e);
    int rc = f->part && f->array ? 0 : e->code;
    for (uint64_t k = 0; !rc && k < n; k++) {
        struct gnn_sample_part *a = &f->part[k];
        if (!s->graph[k / nparts].part)
            continue;
        *a = s->graph[k / nparts].part[k % nparts];
        const void *indices = a->indices, *id = a->id;
        rc = map_array(f, s->store, &indices, a->nedges * sizeof *a->indices, e) ||
                     map_array(f, s->store, &id, a->nedges * sizeof *a->id, e)
                 ? e->code
                 : 0;
        a->indices = indices;
        a->id = id;
        for (unsigned i = 0; !rc && i < PICK_ARRAYS; i++) {
            const void *p = pick_array_of(&a->pick, i);
            rc = map_array(f, pick_array[i].stored ? s->store : NULL, &p,
                           a->nedges * pick_array[i].bytes, e);
            set_pick_array(&a->pick, i, p);
        }
    }
    return rc;
}

void gnn_gpu_host_edges_release(struct gpu_host_edges *f)
{
    for (uint64_t i = 0; i < f->n; i++)
        gnn_gpu_host_close(f->g, f->array[i]);
    gnn_free(f->array);
    gnn_free(f->part);
    *f = (struct gpu_host_edges){0};
}

/* ---- what lies on a device ---- */

/* Lays arrays out from base, which may be NULL at first, and then copies them there. */
struct laying {
    const struct sampler *s;
    const struct gpu_host_edges *host_edges; /* NULL: edges are laid out too */
    const struct gpu_resident *resident;     /* NULL: no row is there a second time */
    uint32_t *resident_rows;
    char *base;
    uint64_t at;
    void *stream;
    struct gnn_err *e;
    int rc;
};

static void *lay_array(struct laying *l, const void *from, uint64_t bytes)
{
    void *to = l->base ? l->base + l->at : NULL;
    l->at += gpu_align(bytes);
    if (to && from && bytes && !l->rc)
        l->rc =
            gnn_dev_copy(to, from, bytes, l->stream, l->e) || gnn_dev_stream_wait(l->stream, l->e)
                ? l->e->code
                : 0;
    return to;
}

/* Original ids of type t; part: nparts of the host, to be filled. */
static void lay_orig(struct laying *l, struct gpu_graph *q, uint32_t t,
                     struct gnn_gather_part *part)
{
    const uint32_t nparts = l->s->store->nparts;
    for (uint32_t p = 0; p < nparts; p++) {
        part[p] = l->s->orig[t][p];
        part[p].data = lay_array(l, part[p].data, part[p].count * sizeof(uint32_t));
        part[p].tier = GNN_TIER_DEVICE;
    }
    q->orig[t] = lay_array(l, part, nparts * sizeof *part);
}

static void lay_pick(struct laying *l, struct gnn_pick_edges *x, uint64_t n)
{
    for (unsigned i = 0; i < PICK_ARRAYS; i++) {
        const void *p = pick_array_of(x, i);
        if (p)
            set_pick_array(x, i, lay_array(l, p, n * pick_array[i].bytes));
    }
}

static void lay_edges(struct laying *l, struct gpu_graph *q, uint32_t et,
                      const struct gnn_gather_part *orig, struct gnn_sample_part *part)
{
    const struct gnn_sample_graph *g = &l->s->graph[et];
    for (uint32_t p = 0; p < g->nparts; p++) {
        struct gnn_sample_part *a = &part[p];
        const uint64_t k = (uint64_t)et * g->nparts + p;
        *a = l->host_edges ? l->host_edges->part[k] : g->part[p];
        a->indptr = lay_array(l, a->indptr, (a->count + 1) * sizeof *a->indptr);
        a->orig = orig ? orig[p].data : NULL;
        if (!l->host_edges) {
            a->indices = lay_array(l, a->indices, a->nedges * sizeof *a->indices);
            a->id = a->id ? lay_array(l, a->id, a->nedges * sizeof *a->id) : NULL;
            lay_pick(l, &a->pick, a->nedges);
        }
        q->indices[k] = a->indices;
        if (l->resident && l->resident->units) {
            a->resident_at = lay_array(l, l->resident->at[k], a->count * sizeof *a->resident_at);
            a->resident = l->resident_rows;
        }
    }
    q->edges[et] = *g;
    q->edges[et].part = lay_array(l, part, g->nparts * sizeof *part);
}

/* Are the type's original ids needed: by draws of its nodes, or because they are what comes out? */
static bool wants_orig(const struct sampler *s, uint32_t t)
{
    bool wanted = s->meta.sampling.original_ids;
    for (uint32_t et = 0; et < s->meta.schema.netypes; et++)
        wanted = wanted || (s->graph[et].part && s->meta.schema.etype[et].dst == t);
    return wanted && s->orig[t];
}

/* Original ids of all nodes of type t, for the edge types of which they are the sources. */
static void lay_source_ids(struct laying *l, struct gpu_graph *q, uint32_t t)
{
    const struct gnn_schema *c = &l->s->meta.schema;
    const uint32_t *id = l->s->source_id[t];
    if (id)
        id = lay_array(l, id, c->ntype[t].count * sizeof *id);
    for (uint32_t et = 0; et < c->netypes; et++)
        if (l->s->graph[et].part && c->etype[et].src == t)
            q->edges[et].orig = id;
}

static void lay_all(struct laying *l, struct gpu_graph *q, struct gnn_gather_part *orig,
                    struct gnn_sample_part *part)
{
    const struct gnn_schema *c = &l->s->meta.schema;
    if (l->resident)
        l->resident_rows =
            lay_array(l, NULL, l->resident->units * GNN_SAMPLE_RESIDENT * sizeof(uint32_t));
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const bool has = wants_orig(l->s, t);
        if (has)
            lay_orig(l, q, t, orig);
        for (uint32_t et = 0; et < c->netypes; et++)
            if (l->s->graph[et].part && c->etype[et].dst == t)
                lay_edges(l, q, et, has ? orig : NULL, part);
    }
    for (uint32_t t = 0; t < c->nntypes; t++)
        lay_source_ids(l, q, t);
}

/* Puts everything into the graph's memory. */
static int fill_graph(struct laying *l, struct gpu_graph *q, struct gnn_gather_part *orig,
                      struct gnn_sample_part *part)
{
    int rc = gnn_dev_alloc(&q->memory, q->bytes, "the graph", l->e);
    if (!rc)
        rc = gnn_dev_stream_new(&l->stream, l->e);
    if (rc)
        return rc;
    l->base = q->memory;
    l->at = 0;
    lay_all(l, q, orig, part);
    rc = l->rc;
    if (!rc && l->resident)
        rc = gnn_gpu_resident_copy(l->resident, l->s, l->host_edges, l->resident_rows, l->stream,
                                   l->e);
    if (!rc)
        rc = gnn_dev_stream_wait(l->stream, l->e);
    gnn_dev_stream_free(l->stream);
    return rc;
}

int gnn_gpu_graph_init(struct gpu_graph *q, const struct sampler *s,
                       const struct gpu_host_edges *host_edges, const struct gpu_resident *resident,
                       struct gpu_device *d, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct laying l = {.s = s, .host_edges = host_edges, .resident = resident, .e = e};
    q->edges = gnn_alloc_zero(c->netypes, sizeof *q->edges, "edges", e);
    q->indices =
        gnn_alloc_zero((uint64_t)c->netypes * s->store->nparts, sizeof *q->indices, "edges", e);
    q->orig = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_gather_part *), "original ids", e);
    struct gnn_gather_part *orig =
        gnn_alloc_zero(s->store->nparts, sizeof *orig, "original ids", e);
    struct gnn_sample_part *part = gnn_alloc_zero(s->store->nparts, sizeof *part, "edges", e);
    int rc = q->edges && q->indices && q->orig && orig && part ? 0 : e->code;
    if (!rc) {
        lay_all(&l, q, orig, part);
        q->bytes = l.at;
    }
    if (!rc && d)
        rc = gnn_dev_use(d->number, e);
    if (!rc && d)
        rc = fill_graph(&l, q, orig, part);
    gnn_free(orig);
    gnn_free(part);
    return rc;
}

void gnn_gpu_graph_release(struct gpu_graph *q)
{
    gnn_dev_free(q->memory);
    gnn_free(q->edges);
    gnn_free(q->indices);
    gnn_free(q->orig);
    *q = (struct gpu_graph){0};
}
