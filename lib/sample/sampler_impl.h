/* What the files of lib/sample share. */
#ifndef GNN_LIB_SAMPLE_SAMPLER_IMPL_H
#define GNN_LIB_SAMPLE_SAMPLER_IMPL_H

#include "kernels/gather.h"
#include "kernels/sample.h"
#include "lib/ids.h"
#include "lib/sampler.h"

/* One split: the seeds of an epoch before they are put in order. */
struct plan_split {
    uint32_t *ids;
    uint64_t n, steps;
    uint32_t tag; /* for gnn_rng_tag: index of the set + 1, 0 for ids given by the user */
    bool shuffle;
};

/* Read-only once made, so that all workers share it. */
struct sampler {
    struct gnn_store *store;
    struct gnn_meta meta;
    struct plan_split *split; /* [meta.sampling.nsplits] */
    uint64_t epoch_from, epoch_to, step_from, step_to;
    struct gnn_sample_graph *graph; /* [netypes]; no parts where no hop uses the type */
    struct gnn_gather_part **orig;  /* [nntypes][nparts] original ids, or NULL where equal to the ids */
    struct gnn_id_reader *reader;   /* seeds that come while we work, or NULL */
    uint32_t *inverse;              /* of the seeds' type, or NULL */
};

void gnn_sampler_free(void *sampler);

/* Fills meta.sampling's splits, split[] and the ranges. Takes over o->seeds_fd. */
int gnn_plan_init(struct sampler *s, const struct gnn_sampler_opts *o, struct gnn_err *e) GNN_MUST_USE;
/* Seeds of a batch: at most batch_size into ids; returns how many. */
uint64_t gnn_plan_seeds(const struct sampler *s, const struct gnn_batch *b, uint32_t *ids);
/* Batches with keys only (and tensor "seeds" u32, when they come from a pipe). Does not own s. */
struct gnn_source *gnn_plan_source_new(struct sampler *s, struct gnn_err *e) GNN_MUST_USE;

/* Says what is wrong with the store, or the seeds, and where: what a kernel found along edge type et. */
int gnn_sample_damaged(const struct sampler *s, uint32_t et, enum gnn_sample_status why, const struct gnn_sample_place *at,
                       struct gnn_err *e);

/* Per-thread state, and the work of one batch. */
void *gnn_sample_worker_new(void *sampler, struct gnn_err *e);
void gnn_sample_worker_free(void *worker);
int gnn_sample_apply(void *sampler, void *worker, struct gnn_batch *b, struct gnn_err *e);

#endif
