/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the gatherers on the CPU, on devices and with ranks: which rows go into which tensors.
 */
#ifndef GNN_LIB_GATHER_GATHER_IMPL_H
#define GNN_LIB_GATHER_GATHER_IMPL_H

#include <pthread.h>

#include "lib/cache/tier.h"
#include "lib/gather/gatherer.h"
#include "lib/gather/field_rows.h"

struct gatherer {
    struct gnn_store *store;
    struct gnn_meta meta;
    struct gather_job *job; /* in the order of the tensors */
    uint32_t njobs;
    bool part_by_part; /* see gnn_gather_opts */
    const struct gnn_flag *in_place;
    bool sums;
    struct gnn_comm *comm;          /* the store's */
    struct gather_replica *replica; /* replicated remote rows, or NULL */
    uint64_t batches;               /* with ranks: how many there were */
    pthread_mutex_t lock;           /* of batches and what follows */
    struct gnn_tier_hits *hits;     /* of nodes, with ranks; or NULL */
    /* [nntypes + netypes] where rows of nodes lie, but on devices, and those of edges, by their
     * destinations */
    struct gnn_tier_map *map;
    /* [nntypes] original id to store id, where batches carry original ids and they differ */
    uint32_t **inverse;
};

/* Checks what gnn_gather_source_new promises to, and looks the fields up. NULL on failure. */
struct gatherer *gnn_gatherer_new(const struct gnn_meta *up, struct gnn_store *s,
                                  const struct gnn_gather_opts *o, struct gnn_err *e) GNN_MUST_USE;
void gnn_gatherer_free(void *gatherer);

/* In how many of a batch's hops a job can add a tensor: 1 unless it is of an edge field. */
static inline uint32_t gnn_gather_job_hops(const struct gather_job *j, const struct gnn_batch *b)
{
    return j->edge ? b->nhops : 1;
}
/* (lib/gather/field_rows.c) Is there a tensor to add to the batch for the job in this hop? */
bool gnn_gather_wanted(const struct gather_job *j, const struct gnn_batch *b, uint32_t hop);
/* The number of the batch's nodes of *type, the first, of which the job gathers rows, or edges, in
 * this hop. */
uint64_t gnn_gather_nodes(const struct gatherer *g, const struct gather_job *j,
                          const struct gnn_batch *b, uint32_t hop, uint32_t *type);
/* Adds it, in memory of a certain kind (NULL: the heap), without rows if they are in place;
 * GNN_E_INPUT if it is there already. */
int gnn_gather_add(const struct gatherer *g, const struct gather_job *j, struct gnn_batch *b,
                   uint32_t hop, const struct gnn_mem *mem, struct gnn_tensor **t,
                   struct gnn_err *e) GNN_MUST_USE;

/* Reports a faulty batch: an id that has no row. */
int gnn_gather_bad_id(const struct gatherer *g, const struct gather_job *j,
                      const struct gnn_batch *b, uint32_t hop, struct gnn_err *e);

/* Checks that the values gathered for a job of labels, in the host's memory, are labels. */
int gnn_gather_check_labels(const struct gatherer *g, const struct gnn_batch *b,
                            const struct gnn_tensor *y, struct gnn_err *e) GNN_MUST_USE;

/* Gathering on devices (gpu_gather.c); NULL in a build without CUDA, in which no device can be
 * opened. */
struct gnn_gather_gpu {
    /* The work of gnn_gather_source_new, which has made `job`: the same batches with rows of a
     * store's fields, where they lie, on the devices, or, of several ranks, in the host's memory,
     * from where they are copied to the devices. Takes over up and job. */
    struct gnn_source *(*source_new)(struct gnn_gpu *g, struct gnn_source *up, struct gatherer *job,
                                     const struct gnn_gather_opts *o, struct gnn_err *e);
};
extern const struct gnn_gather_gpu gnn_gather_gpu;

#endif
