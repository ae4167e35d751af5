/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of lib/sample. */
#ifndef GNN_LIB_SAMPLE_SAMPLE_IMPL_H
#define GNN_LIB_SAMPLE_SAMPLE_IMPL_H

#include <pthread.h>

#include "kernels/gather.h"
#include "kernels/sample.h"
#include "lib/comm/request.h"
#include "lib/data/columns.h"
#include "lib/store/derived.h"
#include "lib/store/ids.h"
#include "lib/store/sums.h"
#include "lib/base/node_map.h"
#include "lib/sample/sampler.h"

struct sample_draw;

/* The source of seeds for each of the header's splits, as frontier entries: equally many in each
 * batch (lib/sample/node_seeds.c), the nodes of some clusters (lib/sample/cluster_seeds.c), or the
 * ends of links (lib/sample/link_seeds.c). */
struct sample_seeds {
    void (*free)(struct sample_seeds *q);
    /* Reads the seeds of the next batch as they come, which carries them as tensor "seeds" (and
     * "seed times") until it is filled; GNN_END after the last. One thread. NULL: all seeds are
     * known. */
    int (*next)(struct sample_seeds *q, struct gnn_batch *b, struct gnn_err *e);
    /* Writes the entries that a batch starts from on this rank, in order, with the columns of `to`,
     * which has space for batch_size; returns their number. Any thread. */
    uint64_t (*fill)(const struct sample_seeds *q, const struct gnn_batch *b,
                     struct gnn_entries to);
    /* For links, else NULL; any thread. In place of fill: numbers the entries that a batch starts
     * from, which are of several types, and adds its columns of links. */
    int (*begin)(const struct sample_seeds *q, const struct sample_draw *d);
    /* For clusters, else NULL; any thread. Writes the entries of type t that the first hop adds,
     * seeds among them, and returns their number; to.node NULL: only that. */
    uint64_t (*join)(const struct sample_seeds *q, const struct gnn_batch *b, uint32_t t,
                     struct gnn_entries to);
    /* The number of seeds that all ranks have in the batch, if it is to say so; else NULL. Any
     * thread. */
    uint64_t (*all)(const struct sample_seeds *q, const struct gnn_batch *b);
    /* [nsplits] for gnn_rng_tag: index of a set + 1, 0 for seeds given by the user */
    uint32_t *tag;
};

/* The backend that draws from this rank's own parts: the CPU or, where several ranks put batches
 * together, devices that have the edges of these parts. Functions return a status and record the
 * failure, with the same words for the same damage. */
struct sample_backend {
    void (*free)(struct sample_backend *q);
    /* Per-thread state, which may be NULL; one is made after the other. */
    int (*context_new)(struct sample_backend *q, void **context, struct gnn_err *e) GNN_MUST_USE;
    void (*context_free)(void *context);
    /* gnn_sample_count_block and _pick_block. */
    int (*count)(const struct sample_draw *d, uint32_t et, struct gnn_sample_job *job) GNN_MUST_USE;
    int (*pick)(const struct sample_draw *d, uint32_t et, const struct gnn_sample_job *job,
                struct gnn_relabel *r, uint32_t *indices, uint64_t *ids) GNN_MUST_USE;
};
extern struct sample_backend gnn_sample_cpu; /* never written to */

/* A sampler: read-only once made, so that all workers share it. */
struct sampler {
    struct gnn_store *store;
    struct gnn_meta meta;
    struct sample_seeds *seeds;
    uint64_t epoch_from, epoch_to, step_from, step_to, step_first, step_stride;
    struct gnn_sample_graph *graph; /* [netypes]; no parts where no hop uses the type */
    struct gnn_weight_report weights;
    /* [nntypes][nparts] original ids, or NULL where equal to the ids */
    struct gnn_gather_part **orig;
    /* [nparts] indices with each row ascending, for node2vec; NULL where the store's are so; or
     * NULL */
    uint32_t **sorted;
    /* [nntypes] -> (nodes) original ids by id, for a rule that compares; NULL where equal to the
     * ids; or NULL */
    uint32_t **source_id;
    bool on_cpu;           /* no device draws */
    struct gnn_comm *comm; /* the store's */
    struct gnn_sample_barrier *barrier;
    struct gnn_sample_remote_stats *remote;
    bool count_once;          /* with ranks: each node is counted by one of them (remote_dedup.c) */
    struct sample_halo *halo; /* with ranks whose parts keep in-edges of others' nodes; or NULL */
    struct sample_backend *backend;
};

/* In-edges of other ranks' nodes: rows by node, and, per edge type, a graph whose destinations are
 * these rows. */
struct sample_halo {
    struct gnn_node_map *of;        /* [nntypes] */
    struct gnn_sample_graph *graph; /* [netypes] */
};

/* A barrier that holds the plan back, so that ranks that stop early stop after the same batch. */
struct gnn_sample_barrier {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool closed;
    uint64_t begun, limit; /* batches */
};

/* The columns of a batch that grow with the nodes of a type, by enum gnn_column; or NULL. */
struct sample_columns {
    struct gnn_tensor *of[GNN_NCOLUMNS];
};

/* Edges of a type that a batch does not have; where there are none, `of` is empty. */
struct sample_excluded {
    struct gnn_excluded of;
    struct gnn_buf table, edges, wanted, found, sources;
    uint64_t nedges; /* addresses in `edges` */
};

/* The state of a thread. */
struct sample_worker {
    struct gnn_relabel *type;      /* [nntypes] */
    struct sample_columns *column; /* [nntypes] */
    uint64_t **counts;             /* [nntypes] */
    uint32_t nntypes, netypes;
    struct gnn_entries seeds;
    uint32_t *keys;            /* of gnn_sample_keys */
    struct gnn_buf row;        /* struct gnn_sample_row per destination */
    struct gnn_buf span;       /* struct gnn_sample_span, likewise */
    struct gnn_buf walk[7];    /* of random walks (lib/sample/walk.c) */
    struct gnn_tensors aside;  /* blocks of a hop that batches do not keep */
    struct gnn_buf filter;     /* of gnn_relabel_keep */
    struct gnn_buf joined;     /* entries that a hop adds, or that a batch of links starts from */
    struct gnn_buf links;      /* a batch's links (lib/sample/link_seeds.c) */
    struct gnn_buf mark, skip; /* of destinations with excluded edges (kernels/sample.h) */
    struct sample_excluded *excluded; /* [netypes] what the batch does not have; or NULL */
    struct gnn_buf times;             /* i64 or f64, of the picks of a block */
    void *scratch;
    struct sample_remote *remote; /* with several ranks; or NULL */
    struct sample_backend *backend;
    void *context; /* its state for this thread */
};

/* (lib/sample/numbering.c) A numbering, zeroed before, of nodes below nnodes: by a map, or, where a
 * batch can have a node several times, by a hash table that grows as batches do. */
int gnn_sample_numbering(const struct sampler *s, uint64_t nnodes, struct gnn_relabel *r,
                         struct gnn_err *e) GNN_MUST_USE;
/* Makes the numbering's table, if it has one, large enough for n entries in all; numbers stay. */
int gnn_sample_fit_numbering(const struct sampler *s, struct gnn_relabel *r, uint64_t n,
                             struct gnn_err *e) GNN_MUST_USE;
void gnn_sample_numbering_free(struct gnn_relabel *r);

/* One batch in the making. */
struct sample_draw {
    const struct sampler *s;
    struct sample_worker *w;
    struct gnn_batch *b;
    struct gnn_err *e;
};

/* ---- steps of one process and of several ranks alike (lib/sample/draw_etype.c) ---- */

/* The number of a block's destinations, 0 if the fan-out is 0; *first: the first of them. */
uint32_t gnn_sample_rows(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t *first);
/* The set that the hop's blocks are in: the batch's, or one that lasts for the hop. */
struct gnn_tensors *gnn_sample_block_tensors(const struct sample_draw *d, uint32_t hop);
/* Add a block's tensors; *id is NULL unless edge ids are wanted. */
int gnn_sample_add_indptr(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t rows,
                          struct gnn_tensor **indptr) GNN_MUST_USE;
int gnn_sample_add_edges(const struct sample_draw *d, uint32_t hop, uint32_t et, uint32_t edges,
                         struct gnn_tensor **indices, struct gnn_tensor **id) GNN_MUST_USE;
/* Resizes the columns of nodes of type t to n rows. */
int gnn_sample_resize_nodes(const struct sample_draw *d, uint32_t t, uint64_t n) GNN_MUST_USE;
/* Reserves space for `extra` more nodes of type t, in the numbering and in the columns. */
int gnn_sample_fit_nodes(const struct sample_draw *d, uint32_t t, uint64_t extra) GNN_MUST_USE;

/* Keys of all blocks of a batch, [nhops * netypes][2]. */
void gnn_sample_keys(const struct sampler *s, const struct gnn_batch *b, uint32_t *keys);
/* The job that samples block hop * netypes + edge type, on the CPU or a device, for this rank or
 * another. The caller sets the destinations, their number, indptr and, where they lie elsewhere,
 * graph and keys. */
struct gnn_sample_job gnn_sample_job_of(const struct sampler *s, const uint32_t *keys,
                                        uint32_t block);
/* Counts the neighbours that the job picks for each destination along edge type et. */
int gnn_sample_count_block(const struct sample_draw *d, uint32_t et,
                           struct gnn_sample_job *job) GNN_MUST_USE;
/* Picks them, as gnn_sample_pick, but whatever the times, before the next count. */
int gnn_sample_pick_block(const struct sample_draw *d, uint32_t et,
                          const struct gnn_sample_job *job, struct gnn_relabel *r,
                          uint32_t *indices, uint64_t *ids) GNN_MUST_USE;

/* Gives the job the worker's memory for the times of its picks, if they are wanted and it has none.
 */
int gnn_sample_fit_times(const struct sample_draw *d, struct gnn_sample_job *job) GNN_MUST_USE;

/* The state of sampling with several ranks (lib/sample/sample_remote.c): _new returns NULL on
 * failure, _free takes NULL. _hop samples a hop's blocks, asking other ranks for the in-edges of
 * nodes that they own. */
struct sample_remote *gnn_sample_remote_new(const struct sampler *s,
                                            struct gnn_err *e) GNN_MUST_USE;
void gnn_sample_remote_free(struct sample_remote *f);
/* The worker's round trip: _begin empties it, for the batch. */
struct gnn_request *gnn_sample_remote_request(const struct sample_draw *d);
struct gnn_request *gnn_sample_remote_begin(const struct sample_draw *d);
/* The first hop whose destinations may be other ranks' nodes: seeds are this rank's own, and ends
 * of links are not. */
static inline uint32_t gnn_sample_remote_from(const struct sampler *s)
{
    return s->meta.sampling.links.type ? 0 : 1;
}
int gnn_sample_remote_hop(const struct sample_draw *d, uint32_t hop) GNN_MUST_USE;
/* Samples some destinations, of one edge type, as gnn_sample_count_block and _pick_block do without
 * a numbering, wherever their in-edges are. All ranks call it, with none if need be, for the same
 * steps. indptr: (job->n + 1); *source: valid until the next call; *all: how many destinations all
 * ranks ask for. */
int gnn_sample_remote_pick(const struct sample_draw *d, uint32_t et,
                           const struct gnn_sample_job *job, const uint32_t **source,
                           uint64_t *all) GNN_MUST_USE;
/* As gnn_sample_has_edges, wherever the in-edges are; all ranks call it. */
int gnn_sample_remote_edges(const struct sample_draw *d, uint32_t et, const uint32_t *dst,
                            const uint32_t *src, uint32_t n, uint8_t *has) GNN_MUST_USE;
/* (lib/sample/node2vec.c) _sort_rows sets s->sorted for edge type et, so that _has_edges can tell
 * whether there are edges from src[i] to dst[i], nodes of this rank. */
int gnn_sample_sort_rows(struct sampler *s, uint32_t et, struct gnn_err *e) GNN_MUST_USE;
void gnn_sample_has_edges(const struct sampler *s, uint32_t et, const uint32_t *dst,
                          const uint32_t *src, uint32_t n, uint8_t *has);
/* The verdict of one draw of a step of node2vec on a candidate: taken, not taken, or taken only
 * with, or only without, an edge from it to the node before. */
enum node2vec_verdict { NODE2VEC_NO, NODE2VEC_YES, NODE2VEC_IF_EDGE, NODE2VEC_IF_NO_EDGE };
/* 2^32 times the probabilities to take a candidate that is the node before, has an edge to it, has
 * none. */
struct node2vec {
    uint64_t back, near, far;
};
struct node2vec gnn_node2vec_of(double p, double q);
enum node2vec_verdict gnn_node2vec_judge(const struct node2vec *v, uint32_t before,
                                         uint32_t candidate, uint32_t draw);
/* (lib/sample/induce.c) Makes the block of the hop that finds edges among the batch's nodes. */
int gnn_sample_induce(const struct sample_draw *d, uint32_t hop, uint32_t et) GNN_MUST_USE;
/* Makes the worker's filter, which rejects most sources along edge type et that are not in the
 * batch. */
int gnn_sample_filter(const struct sample_draw *d, uint32_t et) GNN_MUST_USE;
/* (lib/sample/walk.c) Makes random walks from the first n seeds of the worker, in place of hops. */
int gnn_sample_walk(const struct sample_draw *d, uint64_t n) GNN_MUST_USE;
/* (lib/sample/remote_dedup.c) Agreement on the rank that counts a node of a training batch, from
 * hop gnn_sample_remote_from on. _ask appends to the hop's requests; _reply to the reply to rank r,
 * in the order of the ranks; _read reads the replies. */
struct sample_dedup;
struct sample_dedup *gnn_sample_dedup_new(const struct sampler *s, struct gnn_err *e) GNN_MUST_USE;
void gnn_sample_dedup_free(struct sample_dedup *o);
int gnn_sample_dedup_ask(const struct sample_draw *d, struct sample_dedup *o, struct gnn_request *q,
                         uint32_t hop) GNN_MUST_USE;
int gnn_sample_dedup_reply(const struct sample_draw *d, struct sample_dedup *o,
                           struct gnn_request *q, uint32_t r) GNN_MUST_USE;
int gnn_sample_dedup_read(const struct sample_draw *d, struct sample_dedup *o,
                          struct gnn_request *q, uint32_t hop) GNN_MUST_USE;
/* (lib/sample/edge_data.c) What the rule needs to know of the edges of type et into part p, which
 * this rank has open. */
int gnn_sample_edge_data(struct sampler *s, uint32_t et, uint32_t p, struct gnn_pick_edges *pick,
                         struct gnn_err *e) GNN_MUST_USE;
/* (lib/sample/halo.c) Sets s->halo if there is one; takes NULL. */
int gnn_sample_halo_new(struct sampler *s, struct gnn_err *e) GNN_MUST_USE;
void gnn_sample_halo_free(struct sample_halo *h, const struct gnn_schema *c);
/* (lib/sample/remote_barrier.c) Makes the barrier; called before batches are planned. */
int gnn_sample_barrier_new(struct sampler *s, struct gnn_err *e) GNN_MUST_USE;
void gnn_sample_barrier_free(struct gnn_sample_barrier *b);
/* Whether the plan goes on; false: it is to end here. */
bool gnn_sample_barrier_pass(struct gnn_sample_barrier *b);
/* Called on all ranks when the source is freed before its end: lets the plan go on to the last
 * batch that any of them has begun. True if some ranks have such batches still to make. */
bool gnn_sample_barrier_leave(void *sampler);

/* (lib/sample/setup.c) NULL on failure; takes over o->seeds_fd. */
struct sampler *gnn_sampler_new(struct gnn_store *store, const struct gnn_sampler_opts *o,
                                struct gnn_err *e) GNN_MUST_USE;
void gnn_sampler_free(void *sampler);

/* Makes the source of seeds that are nodes; fills meta.sampling's splits and seed_ntype. Takes over
 * o->seeds_fd. NULL on failure. */
struct sample_seeds *gnn_node_seeds_new(struct sampler *s, const struct gnn_sampler_opts *o,
                                        struct gnn_err *e) GNN_MUST_USE;
/* As gnn_node_seeds_new, of clusters; also sets meta.sampling.batch_size. */
struct sample_seeds *gnn_cluster_seeds_new(struct sampler *s, const struct gnn_sampler_opts *o,
                                           struct gnn_err *e) GNN_MUST_USE;
/* As gnn_node_seeds_new, of links. */
struct sample_seeds *gnn_link_seeds_new(struct sampler *s, const struct gnn_sampler_opts *o,
                                        struct gnn_err *e) GNN_MUST_USE;
/* Steps of all (lib/sample/node_seeds.c). _alloc allocates the header's n splits and their tags;
 * _add_set makes the set `name` split i, with its ids in *ids, to be freed. */
int gnn_seeds_alloc(struct sample_seeds *q, struct gnn_sampling *m, uint32_t n,
                    struct gnn_err *e) GNN_MUST_USE;
int gnn_seeds_add_set(struct sample_seeds *q, struct sampler *s, uint32_t i, const char *name,
                      uint32_t **ids, struct gnn_err *e) GNN_MUST_USE;
/* (lib/sample/seed_draws.c) Draws of seeds from ids (n), as meta.sampling says; ids of other ranks
 * may be UINT32_MAX. All ranks call _new. NULL on failure. _at returns the index of the seed at a
 * position of an epoch, given the epoch's key; any thread may call it. */
struct seed_draws;
struct seed_draws *gnn_seed_draws_new(const struct sampler *s, const uint32_t *ids, uint64_t n,
                                      struct gnn_err *e) GNN_MUST_USE;
void gnn_seed_draws_free(struct seed_draws *d);
uint64_t gnn_seed_draws_at(const struct seed_draws *d, const uint32_t key[2], uint64_t position);
/* Adds the counts of draws of each of the batch's seeds, given all draws, if its header promises
 * them. */
int gnn_seed_draws_add(const struct sampler *s, struct gnn_batch *b, const uint32_t *node,
                       uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Steps per epoch of n seeds. */
static inline uint64_t gnn_plan_steps(uint64_t n, uint32_t batch, bool drop_last)
{
    return n / batch + (!drop_last && n % batch ? 1 : 0);
}
/* Sets the ranges of epochs and steps, when s->seeds are there. */
int gnn_plan_init(struct sampler *s, const struct gnn_sampler_opts *o,
                  struct gnn_err *e) GNN_MUST_USE;
/* A source of batches with keys only, and seeds that are read as they come. Does not own s. */
struct gnn_source *gnn_plan_source_new(struct sampler *s, struct gnn_err *e) GNN_MUST_USE;

/* Reports the fault in the store, or in the seeds, that a kernel found along edge type et. */
int gnn_sample_damaged(const struct sampler *s, uint32_t et, enum gnn_sample_status why,
                       const struct gnn_sample_place *at, struct gnn_err *e);

/* The state of a thread; _apply makes one batch. */
void *gnn_sample_worker_new(void *sampler, struct gnn_err *e);
void gnn_sample_worker_free(void *worker);
int gnn_sample_apply(void *sampler, void *worker, struct gnn_batch *b, struct gnn_err *e);

/* Sampling on devices (gpu_sampler.c, gpu_draw.c); all NULL in a build without CUDA, in which no
 * device can be opened. */
struct gnn_sample_gpu {
    /* Makes the source of gnn_sampler_source_new, when its plan is made; takes over both. */
    struct gnn_source *(*source_new)(struct gnn_gpu *g, struct sampler *s, struct gnn_source *plan,
                                     const struct gnn_sampler_opts *o, struct gnn_err *e);
    /* Makes the backend that draws on the devices, with several ranks. All ranks call it. */
    struct sample_backend *(*draw_new)(struct gnn_gpu *g, struct sampler *s,
                                       const struct gnn_sampler_opts *o, struct gnn_err *e);
};
extern const struct gnn_sample_gpu gnn_sample_gpu;

#endif
