/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the sampler on devices (gpu_sampler.c is the way in; for several ranks,
 * gpu_draw.c).
 *
 * A batch is drawn in one stream context of a device: a stream, maps of local numbers and scratch.
 * Its tensors lie in memory of its own, an arena, which is recycled with it. From the copy of its
 * seeds to the copy of its counts a batch is one CUDA graph, captured once for each arena. */
#ifndef GNN_LIB_SAMPLE_GPU_SAMPLE_H
#define GNN_LIB_SAMPLE_GPU_SAMPLE_H

#include "lib/gpu/runtime.h"
#include "lib/sample/sample_impl.h"

/* ---- capacities (gpu_capacity.c) ---- */

/* The capacity of each array of a batch, in entries. Where bounds are large it is a guess, which
 * grows when a batch shows that it was too small; it never shrinks. */
struct gpu_capacity {
    unsigned turn; /* how often it has grown, from 1 */
    uint32_t seeds;
    uint32_t list;   /* of any list that is numbered */
    uint32_t *nodes; /* [nntypes] 0: no batch has such nodes */
    uint32_t *rows;  /* [nhops * netypes] destinations; 0: no batch has such a block */
    uint32_t *edges; /* [nhops * netypes] */
    uint32_t *seen;  /* [netypes] edges of the hop that induces, which keeps no more than `edges` */
    /* [netypes] in-edges of a node, where all are taken: what has been met, or a guess */
    double *mean;
    uint64_t guess; /* the most that a first guess gives to one array */
};
/* free: bytes of device memory that the graph leaves. */
int gnn_gpu_capacity_init(struct gpu_capacity *r, const struct sampler *s, uint64_t free,
                          struct gnn_err *e) GNN_MUST_USE;
/* Raises the capacity that a batch exceeded, as *st says. rows: the number of destinations of the
 * block that exceeded it. GNN_E_USAGE if no capacity could be large enough. */
int gnn_gpu_capacity_grow(struct gpu_capacity *r, const struct sampler *s,
                          const struct gnn_cuda_sample_status *st, uint32_t rows,
                          struct gnn_err *e) GNN_MUST_USE;
/* Makes sure that n seeds fit. */
void gnn_gpu_capacity_seeds(struct gpu_capacity *r, const struct sampler *s, uint64_t n);
void gnn_gpu_capacity_release(struct gpu_capacity *r);

/* ---- the graph (gpu_graph.c, gpu_graph_cache.c) ---- */

/* Edges that stay in the host's memory, for all devices. */
struct gpu_host_edges {
    /* [netypes * nparts] the store's, but indices and id are where devices reach them */
    struct gnn_sample_part *part;
    struct gnn_gpu *g;
    const void **array; /* [n] what was opened for it */
    uint64_t n, bytes;
    uint64_t copied; /* of the bytes */
};
/* Takes a zeroed object; to be released on failure too. */
int gnn_gpu_host_edges_init(struct gpu_host_edges *f, struct gnn_gpu *g, const struct sampler *s,
                            struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_host_edges_release(struct gpu_host_edges *f);

/* Rows of host_edges whose sources are also resident in device memory. */
struct gpu_resident {
    uint32_t **at;           /* [netypes * nparts] as gnn_sample_part.resident_at */
    uint64_t narrays, units; /* of GNN_SAMPLE_RESIDENT sources */
};
/* Chooses as many rows as fit into `bytes` of device memory, together with their index. */
int gnn_gpu_resident_init(struct gpu_resident *n, const struct sampler *s,
                          const struct gpu_capacity *r, uint64_t bytes,
                          struct gnn_err *e) GNN_MUST_USE;
int gnn_gpu_resident_copy(const struct gpu_resident *n, const struct sampler *s,
                          const struct gpu_host_edges *host_edges, uint32_t *to, void *stream,
                          struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_resident_release(struct gpu_resident *n);

/* The graph on one device. */
struct gpu_graph {
    /* [netypes] parts in device memory, NULL where no hop uses the type */
    struct gnn_sample_graph *edges;
    const uint32_t **indices; /* [netypes * nparts] those of the parts, as the device has them */
    struct gnn_gather_part **orig; /* [nntypes] in device memory, or NULL */
    void *memory;
    uint64_t bytes;
};
/* host_edges NULL: edges too. resident may be NULL. Without a device: only how many bytes there
 * would be. Takes a zeroed object; to be released on failure too. */
int gnn_gpu_graph_init(struct gpu_graph *q, const struct sampler *s,
                       const struct gpu_host_edges *host_edges, const struct gpu_resident *resident,
                       struct gpu_device *d, struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_graph_release(struct gpu_graph *q);

/* The graph on all devices (gpu_place.c). */
struct gpu_graphs {
    struct gnn_gpu *g;
    struct gpu_host_edges host_edges;
    struct gpu_resident resident;
    struct gpu_graph *of; /* [g->n] */
};
/* As o says; fills *o->graph_report, and capacity, both for what is then free. Takes a zeroed
 * object; to be released on failure too, as is capacity. With several ranks, all call it. */
int gnn_gpu_graphs_init(struct gpu_graphs *q, struct gnn_gpu *g, const struct sampler *s,
                        const struct gnn_sampler_opts *o, struct gpu_capacity *capacity,
                        struct gnn_err *e) GNN_MUST_USE;
void gnn_gpu_graphs_release(struct gpu_graphs *q);

/* ---- stream contexts (gpu_stream.c) ---- */

struct gpu_drawn;

struct gpu_context {
    const struct sampler *s;
    const struct gpu_capacity *capacity;
    const struct gpu_graph *graph; /* these three are set by who makes it */
    struct gpu_device *d;
    void *stream;
    struct gnn_batch_pool *pool;   /* of batches that this context draws */
    struct gnn_cuda_relabel *type; /* [nntypes] */
    void *memory;                  /* of all that follows, for the capacities of `turn` */
    unsigned turn;
    char *io; /* struct gpu_io */
    struct gnn_entries source;
    uint32_t *indptr, *indices; /* of a block that batches do not keep */
    uint64_t *ids;              /* of edges of which not all are kept, or NULL */
    void *scratch;
    uint32_t **found; /* [nntypes] where store ids go that become original ones, or NULL */
    bool warm;        /* its kernels have run once */
};
/* On device d. All but the first members of the context are zeroed; to be released on failure too.
 */
int gnn_gpu_context_init(struct gpu_context *l, struct gpu_device *d,
                         struct gnn_err *e) GNN_MUST_USE;
/* Waits for its work; to be called for all contexts before the first is released. */
void gnn_gpu_context_stop(struct gpu_context *l);
void gnn_gpu_context_release(struct gpu_context *l);
/* Memory for the capacities as they are now, if they have grown. */
int gnn_gpu_context_fit(struct gpu_context *l, struct gnn_err *e) GNN_MUST_USE;
/* Puts the work for a batch on the stream, from the copy of x->in to that of x->out. */
int gnn_gpu_context_launch(struct gpu_context *l, struct gpu_drawn *x,
                           struct gnn_err *e) GNN_MUST_USE;

/* The layout of the memory block that a batch's seeds and keys go to the device in, and its sizes
 * come back in: offsets in bytes. The offsets of the status and the sizes do not depend on the
 * capacity. */
struct gpu_io {
    uint64_t live;   /* u32 (nntypes), changing; before it, at 0, is the status */
    uint64_t counts; /* u32 (nhops + 1, nntypes) */
    uint64_t edges;  /* u32 (nhops * netypes) */
    uint64_t out;    /* what comes back ends here */
    uint64_t n;      /* u32: seeds */
    uint64_t keys;   /* u32 (nhops * netypes, 2) */
    uint64_t seeds;  /* u32 (capacity) */
    uint64_t times;  /* i64 (capacity), or none: those of the seeds */
    uint64_t trees;  /* u32 (capacity), or none: likewise */
    uint64_t bytes;
};
struct gpu_io gnn_gpu_io_lay(const struct sampler *s, const struct gpu_capacity *r);

static inline uint32_t gpu_blocks(const struct sampler *s)
{
    return s->meta.sampling.nhops * s->meta.schema.netypes;
}
/* As many as there are node types, or blocks. */
static inline uint32_t gpu_places(const struct sampler *s)
{
    return gpu_blocks(s) > s->meta.schema.nntypes ? gpu_blocks(s) : s->meta.schema.nntypes;
}
/* How many edges of a block are sampled at most. */
static inline uint32_t gpu_sampled(const struct sampler *s, const struct gpu_capacity *r,
                                   uint32_t block)
{
    const uint32_t netypes = s->meta.schema.netypes;
    return gnn_sampling_induces(&s->meta.sampling, block / netypes) ? r->seen[block % netypes]
                                                                    : r->edges[block];
}
static inline uint64_t gpu_align(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* The next piece of memory that is laid out from base, which may be NULL at first, to see how much
 * it is. */
static inline void *gpu_lay(char *base, uint64_t *at, uint64_t bytes)
{
    void *p = base ? base + *at : NULL;
    *at += gpu_align(bytes);
    return p;
}

/* ---- batches (gpu_batch.c) ---- */

/* The place of a batch that the sampler makes. */
struct gpu_drawn {
    struct gnn_batch_place place; /* first */
    struct gpu_context *context;
    unsigned turn;  /* of the capacities that everything below is for */
    void *arena;    /* device memory */
    char *in, *out; /* pinned: struct gpu_io */
    void *graph;
    /* [GNN_NCOLUMNS][max(nntypes, nhops * netypes)] the columns' data in the arena, or NULL of what
     * batches do not have */
    void **column;
};
/* An empty batch of the context, whose stream may fill it. The context's device is the thread's,
 * here and below. */
int gnn_gpu_drawn_get(struct gpu_context *l, struct gnn_batch **b, struct gnn_err *e) GNN_MUST_USE;
static inline struct gpu_drawn *gpu_drawn_of(const struct gnn_batch *b)
{
    return (struct gpu_drawn *)b->place;
}
/* Column c of a node type, or of block hop * netypes + et. */
static inline void *gpu_drawn_column(const struct gpu_drawn *x, enum gnn_column c, uint32_t at)
{
    return x->column[(size_t)c * gpu_places(x->context->s) + at];
}
/* Puts everything for the batch of that key on the context's stream. */
int gnn_gpu_drawn_launch(struct gpu_drawn *x, const struct gnn_batch *key,
                         struct gnn_err *e) GNN_MUST_USE;

/* The status that the launched work leaves, readable when the work is done. */
static inline const struct gnn_cuda_sample_status *gpu_drawn_status(const struct gpu_drawn *x)
{
    return (const struct gnn_cuda_sample_status *)(const void *)x->out;
}
/* The destinations of block hop * netypes + et, likewise: n of them, from node `first` on. */
void gnn_gpu_drawn_rows(const struct gpu_drawn *x, uint32_t block, uint32_t *first, uint32_t *n);
/* Makes the tensors and the view of b, whose placement x is, likewise. */
int gnn_gpu_drawn_bind(const struct gpu_drawn *x, const struct gnn_batch *key, struct gnn_batch *b,
                       struct gnn_err *e) GNN_MUST_USE;

/* ---- edges that a batch does not have (gpu_exclude.c) ---- */

uint64_t gnn_gpu_excluded_bytes(const struct sample_excluded *x);
/* Makes device memory `to`, of so many bytes, what a job's `excluded` points to. g: the host's
 * parts of the edge type; indices[g->nparts]: their sources, as the device has them. buf: staging,
 * not to be changed before the stream is done. */
int gnn_gpu_excluded_copy(const struct sample_excluded *x, const struct gnn_sample_graph *g,
                          const uint32_t *const *indices, void *to, struct gnn_buf *buf,
                          void *stream, struct gnn_err *e) GNN_MUST_USE;

/* For a sampler of several ranks: gnn_sample_gpu.draw_new (gpu_draw.c). */
struct sample_backend *gnn_gpu_draw_new(struct gnn_gpu *g, struct sampler *s,
                                        const struct gnn_sampler_opts *o,
                                        struct gnn_err *e) GNN_MUST_USE;

#endif
