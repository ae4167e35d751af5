/* SPDX-License-Identifier: Apache-2.0 */
/* Training from a source of batches, with evaluation, early stopping and exact checkpoints. */
#ifndef GNN_LIB_TRAIN_TRAINER_H
#define GNN_LIB_TRAIN_TRAINER_H

#include "lib/comm/comm.h"
#include "lib/model/examples.h"
#include "lib/model/full.h"
#include "lib/model/metrics.h"
#include "lib/model/net.h"
#include "lib/data/source.h"
#include "lib/base/temp.h"

/* Choices, and their names in this order. */
enum gnn_optimizer { GNN_ADAM, GNN_ADAMW, GNN_SGD };
enum gnn_schedule { GNN_CONSTANT, GNN_COSINE, GNN_STEP };
#define GNN_OPTIMIZERS "adam|adamw|sgd"
#define GNN_SCHEDULES "constant|cosine|step"
enum gnn_keep { GNN_KEEP_BEST, GNN_KEEP_LAST };

struct gnn_train_opts {
    enum gnn_optimizer optimizer;
    enum gnn_schedule schedule;
    double lr, weight_decay, momentum, beta1, beta2, eps;
    /* One for each class, two of a binary task; NULL: no weights. Must outlive the trainer. */
    const float *class_weight;
    double clip;          /* longest gradient (Euclidean norm); 0: no limit */
    uint64_t warmup;      /* steps over which the rate grows linearly from 0 */
    uint64_t total_steps; /* cosine: the rate reaches 0 there */
    uint64_t step_epochs; /* step: epochs between decays */
    double step_factor;   /* step: the factor of a decay */
    double dropout, dropout_input;
    uint64_t seed; /* dropout */
    struct gnn_measure metric;
    /* BEST: the parameters of the epoch with the best value of metric on eval set 1 */
    enum gnn_keep keep;
    /* epochs from one evaluation to the next, and there is one in last_epoch */
    uint64_t eval_every;
    uint64_t last_epoch;
    uint64_t patience;         /* epochs without a better value before training stops; 0: never */
    const char *checkpoint;    /* directory, or NULL */
    uint64_t checkpoint_every; /* steps; 0: only at the end and when stopped */
    const char *provenance;
    const struct gnn_ops *ops; /* where the work is done; must outlive the trainer */
    /* gnn_comm_self(), or several ranks, which all make trainers with the same options and run them
     * on their shares of the same batches. Losses are divided by the labels of the whole batch,
     * gradients are all-reduced, and scores are those of all ranks. Rank 0 writes the files; a
     * checkpoint is read by all. Any number of ranks may go on from it. */
    struct gnn_comm *comm;
    /* Or NULL: passes are made over the whole graph, and batches are seeds only. It is made of the
     * same model, operations and ranks, and outlives the trainer. */
    struct gnn_full *full;
};

struct gnn_train_eval {
    struct gnn_measured of; /* the metric */
    double loss;            /* mean loss; NaN: not defined */
    uint64_t rows, labels;  /* 0 rows: not evaluated */
};

struct gnn_train_epoch {
    uint64_t epoch, steps, seeds;
    uint64_t edges, flops; /* of training steps */
    uint64_t labels;       /* of the training seeds */
    double loss;           /* mean over these, by class_weight; NaN: over nothing */
    double value;          /* metric over the training batches as they came; NaN for ROC-AUC */
    double lr;             /* of the last step */
    double train_s, eval_s, wait_s;    /* seconds in steps, in evaluation, waiting for batches */
    const struct gnn_train_eval *eval; /* [nsplits], from 1 on */
    bool best;
    /* With several ranks: the slowest over the mean, averaged over steps; seconds are means then;
     * else 0. */
    double balance;
};

struct gnn_train_hooks {
    void *arg;
    /* May be NULL. Called after each batch and, with `cut`, when the input is damaged: a signal may
     * have ended the producer, so pending signals are waited for. True: return GNN_E_STOPPED. */
    bool (*stop)(void *arg, bool cut);
    /* May be NULL. On a device, and with several ranks, it is called while the next step runs.
     * loss: NaN if no seed has a label. balance: the slowest rank over the mean, 0 with one. */
    void (*step)(void *arg, uint64_t epoch, uint64_t step, uint64_t steps, double loss,
                 double balance);
    void (*epoch)(void *arg, const struct gnn_train_epoch *r); /* may be NULL */
};

/* The state that a checkpoint holds beside parameters and moments. */
struct gnn_train_state {
    uint64_t epoch, step; /* last training batch done, if `any` */
    bool any;             /* a training batch was done */
    bool closed;          /* that epoch has been evaluated and reported */
    uint64_t t;           /* optimiser steps */
    uint64_t best_epoch, since_best;
    bool has_best, stopped_early;
    double best;
    uint64_t dtypes; /* which types the features travel in; 0: no batch yet */
};

/* Memory of the host for scoring a batch. Where operations are async, a batch is scored after the
 * next one has been put under way, so that the host never waits for the device inside a step. */
enum { GNN_TRAIN_HALVES = 2 };
struct gnn_train_half {
    struct gnn_buf z, loss, y;  /* logits, loss of each row, labels */
    struct gnn_buf draws;       /* x.draws, when weights are made */
    struct gnn_buf node, asked; /* nodes that the batch begins with; those that metrics go by */
    struct gnn_examples x;      /* x.y only while the batch is at hand */
    uint64_t epoch, step;
    uint32_t split;
    bool open;
    bool labelled; /* x, y and weights are those of the next batch already */
};

/* The message of a rank to the others with each batch. */
enum train_next { TRAIN_NEXT_BATCH, TRAIN_NEXT_END, TRAIN_NEXT_CUT, TRAIN_NEXT_STOP };
struct train_told {
    uint64_t epoch, step, split; /* of its next batch, if it has one */
    enum train_next next;        /* whether it has one, or why not */
    bool stop;                   /* it was asked to stop */
    double weight;               /* of a training batch on the host: the sum of its rows' weights */
    bool scored;                 /* there was a training batch since the last time: */
    uint64_t scored_epoch, scored_step;
    double loss, scored_weight,
        busy; /* sums over its seeds; seconds in the step, without waiting */
};
struct train_pace {
    struct gnn_exchange x;
    struct train_told own, told; /* being filled; under way */
    void **reduction;            /* [nstages] of gradients, under way */
    double waited;   /* seconds of this step, for other ranks and all-reduces inside of it */
    double weight;   /* sum of the weights that all ranks sent for this batch */
    uint64_t scored; /* steps whose balance is in r.balance */
    bool open;       /* between begin and end */
    bool stop;       /* a rank was asked to stop */
};

struct gnn_trainer {
    struct gnn_comm *comm;
    struct gnn_comm *reduce;         /* the same ranks, for all-reduces where the operations work */
    char reduce_why[GNN_REDUCE_WHY]; /* as gnn_ops.reduce_new says it */
    struct train_pace pace;
    struct gnn_model *m;
    const struct gnn_ops *ops;
    struct gnn_net net;
    struct gnn_train_opts o;
    const struct gnn_meta *meta;
    struct gnn_train_state s;
    float *m1, *m2, *best; /* slabs */
    /* m->c.untrained when `best` was made; NULL: the model has no such list */
    bool *best_untrained;
    bool reached; /* a step was made since all ranks agreed on that list */
    struct gnn_train_slabs {
        float *p, *m1, *m2, *best;
        struct gnn_buf buf, host;
    } work; /* the same, and m's, where the operations are: those of the host, or copies */
    struct gnn_score train;
    struct gnn_score *score;                 /* [nsplits], from 1 on */
    struct gnn_train_eval *eval, *best_eval; /* [nsplits]: of this epoch, of the best one */
    struct gnn_buf y, row_loss;
    struct {
        /* weights of classes and of a batch's rows; sum: the sum of the latter, scratch and the
         * constant 1; draws: how often each row was drawn */
        struct gnn_buf weight, row, sum, draws;
    } weigh;                                      /* where the operations are */
    struct gnn_train_half half[GNN_TRAIN_HALVES]; /* half k uses mark k of the operations */
    unsigned turn;                                /* half of the next batch */
    const struct gnn_train_hooks *hooks;          /* while it runs */
    struct gnn_train_epoch r;
    uint64_t dtypes;   /* of this run's batches; 0: none yet */
    bool resumed, met; /* a checkpoint was loaded; its last batch was seen again */
    bool begun;        /* a step was made here */
};

void gnn_train_opts_init(struct gnn_train_opts *o);
/* count[nclasses]: labelled members of set `set` (index into schema.set), on all ranks. For
 * multiclass and binary tasks. */
struct gnn_store;
int gnn_class_counts(struct gnn_store *s, uint32_t set, uint64_t *count,
                     struct gnn_err *e) GNN_MUST_USE;
/* How many members of the set have a label, on all ranks; of any task, not NONE, and a set of the
 * labelled node type. */
int gnn_labelled_count(struct gnn_store *s, uint32_t set, uint64_t *count,
                       struct gnn_err *e) GNN_MUST_USE;
/* m and meta must outlive the trainer; m's parameters are changed in place: they hold what has been
 * reached when _run returns, and in between when a checkpoint is written. So is m->c.untrained, if
 * there is one: convolutions along which a step had edges leave it. GNN_E_USAGE for options
 * that do not fit. Makes the directory of checkpoints: GNN_E_RUN if none can be kept there. */
int gnn_trainer_init(struct gnn_trainer *t, struct gnn_model *m, const struct gnn_meta *meta,
                     const struct gnn_train_opts *o, struct gnn_err *e) GNN_MUST_USE;
void gnn_trainer_release(struct gnn_trainer *t);
/* Trains until src ends or patience does, and then writes a checkpoint, if there is a directory for
 * it. Unless a checkpoint was loaded, the one of an earlier run in the directory is removed after
 * the first step. On GNN_E_STOPPED the checkpoint has been written, too; without a directory, the
 * result is what has been reached. The caller keeps src. */
int gnn_trainer_run(struct gnn_trainer *t, struct gnn_source *src, const struct gnn_train_hooks *h,
                    struct gnn_err *e) GNN_MUST_USE;
/* The parameters to keep: the best epoch's, or the last ones; *untrained (may be NULL) is what
 * takes the place of m->c.untrained with them. */
const float *gnn_trainer_result(const struct gnn_trainer *t, bool **untrained);
/* Writes a model with these parameters, as gnn_model_write. */
int gnn_trainer_write(struct gnn_trainer *t, int fd, const char *name,
                      struct gnn_err *e) GNN_MUST_USE;

/* o->checkpoint/checkpoint.safetensors: written whole or not at all. Loading one restores
 * everything that training depends on, bit for bit; run then passes over the batches that were
 * already used, and fails with GNN_E_INPUT when the source does not continue there. GNN_END: there
 * is no checkpoint. GNN_E_INPUT: it belongs to another run. */
int gnn_trainer_save(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
int gnn_trainer_load(struct gnn_trainer *t, struct gnn_err *e) GNN_MUST_USE;
/* As gnn_trainer_load, of a file in memory, whatever is in it; path: for messages. GNN_E_INPUT for
 * any number that a run cannot have come to. */
struct gnn_st_file;
int gnn_checkpoint_restore(struct gnn_trainer *t, const struct gnn_st_file *f, const char *path,
                           struct gnn_err *e) GNN_MUST_USE;
/* Its counters, and the best value. GNN_E_INPUT: it is not a checkpoint. */
int gnn_checkpoint_state(const struct gnn_st_file *f, const char *path, struct gnn_train_state *s,
                         struct gnn_err *e) GNN_MUST_USE;
/* A checkpoint in memory becomes one of the best epoch's model, if an epoch has been evaluated
 * (s->has_best): its parameters, and what its description says of them. GNN_E_INPUT: the file is
 * damaged. */
int gnn_checkpoint_best(struct gnn_st_file *f, const char *path, struct gnn_train_state *s,
                        struct gnn_err *e) GNN_MUST_USE;
/* Takes the directory of checkpoints, which is made if it is not there, for this process, until
 * gnn_temp_free. NULL without an error: another process has it, which calls itself `who`. */
struct gnn_temp *gnn_checkpoint_lock(const char *dir, char who[256],
                                     struct gnn_err *e) GNN_MUST_USE;

/* The training batch that the checkpoint in this directory was made after, so that a source can
 * start there; *any: whether there was one. That it belongs to this run is checked when it is
 * loaded. GNN_END: there is none. */
int gnn_checkpoint_at(const char *dir, uint64_t *epoch, uint64_t *step, bool *any,
                      struct gnn_err *e) GNN_MUST_USE;

#endif
