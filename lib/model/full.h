/* SPDX-License-Identifier: Apache-2.0 */
/* Full-batch training over the partitions of a store: forward and backward passes over the whole
 * graph, exact unless an approximation is asked for, by sequential aggregation and
 * rematerialisation (SAR, Mostafa 2022).
 *
 * Each partition computes the rows of its own nodes. A convolution over edges takes k rounds: in
 * round c partition p works with those rows of partition p - c (mod k) that are sources of its
 * edges. They come from the rank that has that partition, are aggregated, and are dropped. In the
 * backward pass gradients go the opposite way: partition p - c receives the gradients that p
 * computes for its rows. Layers that need the rows for that fetch them again. So a rank holds the
 * rows of its own partitions and those of depth + 1 rounds: one is computed while `depth` travel.
 *
 * Results depend on the k partitions, not on which rank computes them: neighbours are added in the
 * order of rounds, statistics and gradients of parameters in the order of partitions. Any number of
 * ranks gives the same bits, if each has the same number of threads. */
#ifndef GNN_LIB_MODEL_FULL_H
#define GNN_LIB_MODEL_FULL_H

#include "lib/base/swap.h"
#include "lib/comm/comm.h"
#include "lib/model/net.h"
#include "lib/store/store.h"

struct gnn_full;

/* The rows of other partitions that the backward pass needs, too: they are fetched again; kept from
 * the forward pass; or kept, and all of them fetched before the first is used. */
enum gnn_full_remote { GNN_FULL_REFETCH, GNN_FULL_KEEP, GNN_FULL_ALL };

struct gnn_full_opts {
    const struct gnn_ops *ops;
    enum gnn_full_remote remote;
    uint32_t depth; /* rounds whose rows travel while one is computed, at least 1 */
    /* Approximations; without them, passes are exact. boundary, if above 0: in a step, a partition
     * uses each row of another with this probability, divided by it (BNS-GCN, Wan et al. 2022).
     * bf16: rows and gradients are rounded to bf16 between partitions, stochastically. */
    double boundary;
    bool bf16;
    /* Only the rows that seeds depend on are computed: of steps those of set[0], of evaluations
     * those of the other sets, which are all that are evaluated. Not for models with batch norm,
     * whose statistics are those of all rows. */
    bool needed_only;
    const char *const *set; /* [nsets] names of sets of the store, at least one */
    uint32_t nsets;
    /* Bytes that the process may have in memory, 0: no limit. Of one rank only, without
     * needed_only: partitions take turns, and what is not in use lies in a file without a name in
     * the directory of `beside`. */
    uint64_t memory;
    const char *beside;
};

/* Work of this rank's partitions since gnn_full_new. Bytes are those that crossed partitions,
 * whether or not they crossed ranks. */
struct gnn_full_stats {
    uint64_t flops, edges; /* as struct gnn_pass's */
    uint64_t fetched;      /* bytes of rows for steps */
    uint64_t evaluated;    /* bytes of rows for evaluation */
    uint64_t pushed;       /* bytes of gradients */
    struct gnn_swap_stats swap;
};

/* Reads the adjacency of the partitions of `s` that this rank has open, and sorts their edges by
 * the sources' partitions. Collective over s->comm. The model, the store and the operations outlive
 * it. GNN_E_USAGE if one of the model's layers cannot be trained this way, or not with
 * opts->boundary; GNN_E_INPUT if the adjacency is damaged, or more than 2^32 edges lead from one
 * partition to another. NULL on failure. */
struct gnn_full *gnn_full_new(const struct gnn_model *m, struct gnn_store *s,
                              const struct gnn_full_opts *o, struct gnn_err *e) GNN_MUST_USE;
void gnn_full_free(struct gnn_full *f); /* takes NULL */

/* Sends rows and gradients from device to device from here on, if `device`, which
 * gnn_ops.reduce_new made of the same ranks, can do that; else through the host's memory, as
 * before. It must outlive the last pass. */
void gnn_full_move_by(struct gnn_full *f, struct gnn_comm *device);

/* As gnn_net_forward, _track and _backward, for a batch that has seeds only, which are nodes of
 * this rank's partitions; it lies where the operations are. Collective. Batches that are evaluated
 * between two steps share one pass. */
int gnn_full_forward(struct gnn_full *f, const float *params, const struct gnn_batch *b,
                     const struct gnn_net_mode *mode, float **out, struct gnn_err *e) GNN_MUST_USE;
int gnn_full_track(struct gnn_full *f, float *params, struct gnn_err *e) GNN_MUST_USE;
/* Sets the gradients, gnn_full_grad, to those of all ranks. */
int gnn_full_backward(struct gnn_full *f, const float *params, struct gnn_err *e) GNN_MUST_USE;
float *gnn_full_grad(const struct gnn_full *f);
const struct gnn_full_opts *gnn_full_options(const struct gnn_full *f);
struct gnn_full_stats gnn_full_stats(const struct gnn_full *f);
/* Memory of this rank's partitions, computed from the sizes of the graph and the model after a step
 * (gnn-fullbatch(7), MEMORY), in bytes: edges; features; rows that are kept; gradients of rows, at
 * most; messages between partitions; parameters, moments and gradients; all. Not what the program
 * takes, nor scratch memory. false: there has been no step, or the formula is for other options:
 * operations of the host, exact training on all rows, without a limit of memory. */
struct gnn_full_size {
    uint64_t edges, features, rows, gradients, messages, parameters, all;
};
bool gnn_full_size(struct gnn_full *f, struct gnn_full_size *s);
/* The number of rows of which a step makes the results of layer `level`, from 1 on, or, level 0,
 * uses the features; *all: that without needed_only. */
uint64_t gnn_full_level_rows(const struct gnn_full *f, uint32_t level, uint64_t *all);

#endif
