/* SPDX-License-Identifier: Apache-2.0 */
/* Inference over batches of links: the score of each, or the embeddings of both ends, which are
 * written in the order in which they come. */
#ifndef GNN_LIB_PREDICT_LINK_OUTPUTS_H
#define GNN_LIB_PREDICT_LINK_OUTPUTS_H

#include "lib/data/source.h"
#include "lib/model/examples.h"
#include "lib/model/metrics.h"
#include "lib/model/net.h"
#include "lib/predict/batch_names.h"
#include "lib/data/csv_cells.h"
#include "lib/predict/link_merge.h"
#include "lib/predict/output.h"

struct gnn_predict_links_opts {
    const struct gnn_ops *ops; /* where to compute; must outlive the run */
    struct gnn_store *s;       /* the store that the batches were drawn from; NULL: a stream */
    const bool *wanted;        /* [nsplits] batches of other splits are passed over; NULL: all */
    bool writes;               /* outputs are written, */
    int fd;           /* to this file, which is taken over; -1: not by this rank, or not at all */
    const char *file; /* its name, for messages */
    /* GNN_OUT_SCORES: a number each, and as text the ids of both ends, their time, if there is one,
     * the score and its probability; of labels of links, what gnn_output_form makes of the scores,
     * likewise. GNN_OUT_EMBEDDINGS: (2, outputs) numbers each, and as text a line for each end. */
    enum gnn_predict_output what;
    bool text;             /* a table in text, which has negatives, too, not an array */
    bool listed;           /* links of a file: the table has no columns `input` and `set` */
    uint64_t memory;       /* bytes of an array held in memory; more are in a file */
    const char *tmpdir;    /* the folder of that temporary file */
    struct gnn_comm *comm; /* the ranks that share the batches: rank 0 writes what all have */
    bool scores;           /* computes metrics, for which batches must have labels or negatives */
    struct gnn_measure measure;
    void *arg;
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* links; total 0: not known */
};

struct gnn_predict_links {
    const struct gnn_model *m;
    const struct gnn_meta *meta; /* the source's, which must outlive this */
    struct gnn_predict_links_opts o;
    struct gnn_net net;
    struct gnn_score *score; /* [nsplits] */
    uint64_t links;          /* without negatives, of all ranks */
    struct gnn_link_merge merge;
    uint32_t type[2];      /* node types of heads and tails */
    struct gnn_buf params; /* in the operations' memory */
    /* Numbers of a batch, in the host's memory: scores; ids, times and embeddings of the nodes that
     * it begins with, by type; labels, losses, and nodes that metrics go by */
    struct gnn_buf z, node[2], time, rows[2], y, loss, asked;
    struct gnn_output form; /* of labels, and */
    struct gnn_buf formed;  /* what it makes of the scores */
    struct gnn_labels labels;
    struct gnn_batch_names names[2];
    struct gnn_buf text;     /* lines of a batch, */
    struct gnn_buf lines;    /* and where they belong: struct gnn_merge_line */
    struct gnn_buf cells;    /* of an array */
    struct gnn_spill *spill; /* has the cells, if they are too many; cells is space then */
    uint64_t spilled;        /* bytes of it */
};

/* Passes all batches of src through the model, and writes what comes of them. GNN_E_RUN naming the
 * link unless all numbers are finite; GNN_E_USAGE or GNN_E_INPUT if batches do not fit the model.
 */
int gnn_predict_links_run(struct gnn_predict_links *q, const struct gnn_model *m,
                          struct gnn_source *src, const struct gnn_predict_links_opts *o,
                          struct gnn_err *e) GNN_MUST_USE;
void gnn_predict_links_release(struct gnn_predict_links *q);

#endif
