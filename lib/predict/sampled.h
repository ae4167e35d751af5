/* SPDX-License-Identifier: Apache-2.0 */
/* Inference over batches: what a model makes of their seeds, each given what was sampled for it. */
#ifndef GNN_LIB_PREDICT_SAMPLED_H
#define GNN_LIB_PREDICT_SAMPLED_H

#include "lib/data/source.h"
#include "lib/model/examples.h"
#include "lib/model/metrics.h"
#include "lib/model/net.h"
#include "lib/predict/output.h"

struct gnn_predict_batches_opts {
    const struct gnn_ops *ops; /* where to compute; must outlive the run */
    struct gnn_comm *comm;     /* as gnn_sampler_source_new has it, or gnn_comm_self() */
    /* The store that the batches were drawn from, of sets or all nodes; NULL: a stream, of one rank
     */
    struct gnn_store *s;
    const char *name;             /* of the store or the stream, for messages */
    const bool *wanted;           /* [nsplits] batches of other splits are passed over; NULL: all */
    bool keep;                    /* the outputs */
    enum gnn_predict_output what; /* the outputs kept */
    bool text;                    /* they are printed as text, not written as an array */
    uint64_t memory;              /* bytes of outputs held in memory; more are in a file */
    const char *tmpdir;           /* the folder of that temporary file */
    bool scores;                  /* compares them with labels, which batches must have then */
    bool ranks;                   /* for a metric of the order of outputs, which are kept for it */
    void *arg;
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* seeds; total 0: not known */
};

/* The outputs fetched for a batch. On a device, they are taken when the next batch is under way. */
enum { GNN_PREDICT_HALVES = 2 };
struct gnn_predict_half {
    struct gnn_buf z, e, y, node, time; /* outputs, embeddings, labels, ids and times of seeds */
    struct gnn_examples x;              /* x.y only while the batch is at hand */
    struct gnn_tensor labels;           /* y */
    uint32_t split;
    bool open; /* is to be taken */
};

struct gnn_predict_batches {
    const struct gnn_model *m;
    const struct gnn_meta *meta; /* the source's, which must outlive this */
    struct gnn_predict_batches_opts o;
    struct gnn_net net;
    struct gnn_score *score; /* [nsplits] of all ranks */
    uint64_t seeds;          /* this rank's; of all ranks when it is done */
    /* if they are kept: in the order of original ids, of sets, of a stream */
    struct gnn_output out;
    struct gnn_buf params;                            /* in the operations' memory */
    struct gnn_predict_half half[GNN_PREDICT_HALVES]; /* each with the mark of its number */
    unsigned turn;                                    /* half of the next batch */
    struct gnn_buf cells, nodes, times, split;        /* of all: see struct gnn_output */
    struct gnn_spill *spill; /* has the cells, if they are too many; cells is space then */
    uint64_t spilled;        /* bytes of it; of all ranks when it is done */
};

/* Passes all batches of src through the model. GNN_E_RUN naming the node unless all outputs are
 * finite; GNN_E_USAGE or GNN_E_INPUT if batches do not fit the model or its task. All ranks call
 * it. */
int gnn_predict_batches_run(struct gnn_predict_batches *q, const struct gnn_model *m,
                            struct gnn_source *src, const struct gnn_predict_batches_opts *o,
                            struct gnn_err *e) GNN_MUST_USE;
/* After the last use of q->out: as gnn_predict_check. */
int gnn_predict_batches_check(const struct gnn_predict_batches *q, struct gnn_err *e) GNN_MUST_USE;
void gnn_predict_batches_release(struct gnn_predict_batches *q);

#endif
