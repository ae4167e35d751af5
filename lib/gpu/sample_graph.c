/* The graph in a device's memory: offsets, sources, original ids and edge ids, one after the other. */
#include "lib/gpu/sample.h"

/* Lays arrays out from base, which may be NULL at first, and then copies them there. */
struct laying {
    char *base;
    uint64_t at;
    void *stream;
    struct gnn_err *e;
    int rc;
};

static void *lay(struct laying *l, const void *from, uint64_t bytes)
{
    void *to = l->base ? l->base + l->at : NULL;
    l->at += (bytes + 255) / 256 * 256;
    if (to && from && bytes && !l->rc)
        l->rc = gnn_dev_copy(to, from, bytes, l->stream, l->e);
    return to;
}

/* Original ids of type t; part: nparts of the host, to be filled. */
static void lay_orig(struct laying *l, struct gpu_graph *q, const struct sampler *s, uint32_t t, struct gnn_gather_part *part)
{
    for (uint32_t p = 0; p < s->store->nparts; p++) {
        part[p] = s->orig[t][p];
        part[p].data = lay(l, part[p].data, part[p].count * sizeof(uint32_t));
        part[p].tier = GNN_GATHER_LOCAL;
    }
    q->orig[t] = lay(l, part, s->store->nparts * sizeof *part);
}

static void lay_edges(struct laying *l, struct gpu_graph *q, const struct sampler *s, uint32_t et,
                      const struct gnn_gather_part *orig, struct gnn_sample_part *part)
{
    const struct gnn_sample_graph *g = &s->graph[et];
    for (uint32_t p = 0; p < g->nparts; p++) {
        part[p] = g->part[p];
        part[p].indptr = lay(l, part[p].indptr, (part[p].count + 1) * sizeof *part[p].indptr);
        part[p].indices = lay(l, part[p].indices, part[p].nedges * sizeof *part[p].indices);
        part[p].orig = orig ? orig[p].data : NULL;
        if (part[p].id)
            part[p].id = lay(l, part[p].id, part[p].nedges * sizeof *part[p].id);
    }
    q->edges[et] = *g;
    q->edges[et].part = lay(l, part, g->nparts * sizeof *part);
}

/* Are the type's original ids needed: by draws of its nodes, or because they are what comes out? */
static bool wants_orig(const struct sampler *s, uint32_t t)
{
    bool wanted = s->meta.sampling.original_ids;
    for (uint32_t et = 0; et < s->meta.schema.netypes; et++)
        wanted = wanted || (s->graph[et].part && s->meta.schema.etype[et].dst == t);
    return wanted && s->orig[t];
}

static void lay_all(struct laying *l, struct gpu_graph *q, const struct sampler *s, struct gnn_gather_part *orig,
                    struct gnn_sample_part *part)
{
    const struct gnn_schema *c = &s->meta.schema;
    for (uint32_t t = 0; t < c->nntypes; t++) {
        const bool has = wants_orig(s, t);
        if (has)
            lay_orig(l, q, s, t, orig);
        for (uint32_t et = 0; et < c->netypes; et++)
            if (s->graph[et].part && c->etype[et].dst == t)
                lay_edges(l, q, s, et, has ? orig : NULL, part);
    }
}

int gpu_graph_init(struct gpu_graph *q, const struct sampler *s, struct gpu_device *d, struct gnn_err *e)
{
    const struct gnn_schema *c = &s->meta.schema;
    struct laying l = {.e = e};
    q->edges = gnn_alloc_zero(c->netypes, sizeof *q->edges, "edges", e);
    q->orig = gnn_alloc_zero(c->nntypes, sizeof(struct gnn_gather_part *), "original ids", e);
    struct gnn_gather_part *orig = gnn_alloc_zero(s->store->nparts, sizeof *orig, "original ids", e);
    struct gnn_sample_part *part = gnn_alloc_zero(s->store->nparts, sizeof *part, "edges", e);
    int rc = q->edges && q->orig && orig && part ? gnn_dev_use(d->number, e) : e->code;
    if (!rc)
        rc = gnn_dev_stream_new(&l.stream, false, e);
    if (!rc) {
        lay_all(&l, q, s, orig, part);
        rc = gnn_dev_alloc(&q->memory, l.at, "the graph", e);
    }
    if (!rc) {
        l.base = q->memory;
        l.at = 0;
        lay_all(&l, q, s, orig, part);
        rc = l.rc ? l.rc : gnn_dev_stream_wait(l.stream, e);
    }
    gnn_dev_stream_free(l.stream);
    gnn_free(orig);
    gnn_free(part);
    return rc;
}

void gpu_graph_release(struct gpu_graph *q)
{
    gnn_dev_free(q->memory);
    gnn_free(q->edges);
    gnn_free(q->orig);
    *q = (struct gpu_graph){0};
}
