/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement lib/model/full.h; nobody else includes it. */
#ifndef GNN_LIB_MODEL_FULL_IMPL_H
#define GNN_LIB_MODEL_FULL_IMPL_H

#include "lib/base/swap.h"
#include "lib/model/full.h"
#include "lib/model/net_impl.h"
#include "lib/store/csc_check.h"

enum { FULL_DEPTH_MAX = 1024 }; /* rounds under way: each has a tag of its own */
enum { FULL_WIRES = 2 };        /* of gradients: of this round, and of the one before */

/* A table that is made in the host's memory and then used in the operations' memory, which may be
 * the same. Zeroed object = empty. */
struct full_table {
    void *data;           /* in the host's memory; after _put, in the operations' */
    struct gnn_buf made;  /* the host's memory */
    struct gnn_buf there; /* the operations', where it is another one */
    uint64_t bytes;
    const char *what; /* for messages */
};

/* The boundary rows of one partition that stay in this step for another one, which uses them. */
struct full_sample {
    uint32_t n;
    struct gnn_buf row; /* (n) their numbers in the owner */
    struct gnn_buf at;  /* (n) their numbers among all rows that the user uses */
};

/* The portion of a block that takes part in a layer, where not all of it does: the first rows, the
 * first edges and the first used rows of the block. Members are as in struct full_block. */
struct full_cut {
    uint32_t n, edges;
    struct gnn_buf tptr, tidx, tedge;
    struct full_table csr;
    struct gnn_adj_parts parts;
};

/* The edges of a relation that lead from one partition into another. */
struct full_block {
    uint32_t n; /* rows of the source partition that the edges use */
    /* (n) The numbers of these rows in the source partition, ascending; with levels, rows that
     * higher levels use come first, each level's ascending. Of the own partition, all rows are
     * used, without a list. */
    struct full_table need;
    uint32_t edges;
    uint32_t number;                   /* edges of the blocks before, where layers number edges */
    struct full_table indptr, indices; /* (rows+1), (edges) among the n */
    struct gnn_buf tptr, tidx;         /* transposed: (n+1), (edges) */
    struct gnn_buf node;               /* (n) factors of the sources, where the norm needs them */
    struct gnn_buf order;      /* (edges) numbers in the store, until the edges' fields are read */
    struct full_table value;   /* (edges) weights, where layers use them */
    struct full_table feature; /* (edges, features) where layers use them */
    struct full_table id;      /* (edges) u64, where layers use them */
    /* (edges) For each edge of the transposed block its number in the block; with parts, the
     * inverse. */
    struct gnn_buf tedge;
    struct full_table csr;      /* struct gnn_csr [3]: the block, transposed, and that of parts */
    struct gnn_adj_parts parts; /* of the sources, if gnn_full_has_parts */
    struct full_sample sample;
    struct full_cut *cut; /* [levels], or NULL: all of it takes part in each layer */
};
/* A relation's edges into one partition. */
struct full_rel {
    struct full_block *block;          /* [k] by source part */
    struct full_table node, row, diag; /* factors of the part's own nodes (struct gnn_adj) */
    struct full_table count, loop;     /* with weights of edges: the inputs of these factors */
    struct full_table mean;            /* means of the edges' features, for loops */
};
/* Rows of a part that another one uses. */
struct full_ask {
    const uint32_t *row; /* (n); for a part of this rank, the user's `need` */
    uint32_t n;
    struct full_table list;
    struct full_sample sample; /* for a user on another rank */
    struct gnn_buf cut;        /* [levels] n of each */
};

struct full_part {
    uint32_t at;                 /* its number among the k parts */
    struct gnn_net net;          /* its rows, and the state that layers keep of them */
    struct gnn_batch batch;      /* its nodes, as the net takes them: all of them, no edges */
    struct gnn_batch_type *type; /* [nntypes] the batch's */
    struct full_table *id;       /* [nntypes] original ids, unless the store has them */
    struct full_table *features; /* [nntypes] the store's, in the operations' memory */
    /* [nntypes] With levels, the rows' numbers in the store; empty: they are in its order. */
    struct gnn_buf *order;
    uint32_t *count;      /* [levels+1][nntypes] rows of each level */
    struct full_rel *rel; /* [netypes] */
    struct full_ask *ask; /* [netypes][k] */
    /* During rounds: the rows that others fetch, the gradients that others add to, and the rows
     * that it has fetched in this round. */
    const float *table;
    float *into;
    const float *view;
    struct gnn_buf fetched;   /* rows from a part of this rank */
    struct gnn_buf pushed[2]; /* gradients for another part */
    struct gnn_buf dmessages; /* gradients of messages */
    /* Messages of partitions that take turns: [nconvs][k] by round, rows for this one; [k] its
     * gradients for others. */
    struct gnn_buf *mail, *back_mail;
    struct gnn_buf *spare; /* [nspare] rows and gradients that are needed no more */
    uint32_t nspare;
    uint64_t large;       /* least bytes of a spare buffer: half of a stage's largest rows */
    uint8_t *gone;        /* [nstages][nntypes] the rows to recompute (full_again.c) */
    struct gnn_buf *kept; /* [nconvs][k] rows of other partitions, if they are kept */
    struct full_table seed, place; /* rows of the batch's seeds, and their positions in it */
    struct gnn_buf rows;           /* scratch */
    uint32_t nseeds;
    struct gnn_buf moments; /* the host's memory for `sum` */
    double *sum;            /* the part's moments for a batch norm, then the number of its rows */
};

/* The messages of one round between ranks. They are packed and used in the operations' memory, on
 * the host or on the device. */
struct full_wire {
    struct gnn_exchange x;
    struct gnn_buf out;       /* the memory of the spans of x.out */
    uint64_t *expect;         /* [size] bytes that each rank will send */
    struct gnn_span *in;      /* [size] each rank's message, valid until the next _begin */
    struct gnn_span *brought; /* between devices: [size] each rank's message in `arrived` */
    struct gnn_buf arrived;   /* memory of the device */
    struct gnn_buf host;      /* messages to send, in the host's memory */
    void *moving;             /* messages under way from device to device, or NULL */
    bool open;
};

struct gnn_full {
    const struct gnn_model *m;
    struct gnn_store *s;
    const struct gnn_ops *o;
    struct gnn_comm *comm;   /* the ranks */
    struct gnn_comm *device; /* the same ranks, from device to device; or NULL */
    bool passed[2];          /* whether there has been a whole pass: evaluating, training */
    uint32_t k;              /* parts */
    uint32_t first, n;       /* this rank's: from `first` on, n of them */
    struct full_part *part;  /* [n] */
    struct gnn_pass pass;    /* scratch that parts share */
    struct full_wire *rows;  /* [depth+1] messages of rounds, in turn: rows, */
    struct full_wire grads[FULL_WIRES]; /* and gradients */
    struct gnn_buf idle; /* struct gnn_buf [nidle]: spare message buffers of the host */
    uint64_t nidle;
    uint32_t depth;
    struct gnn_full_opts opts;
    uint64_t keep32;          /* boundary rows stay if 32 random bits are below; 0: all stay */
    float scale;              /* the factor of boundary rows that stay */
    struct gnn_buf draws;     /* the host's: lists that are drawn or fetched */
    struct gnn_buf packed;    /* a message between partitions of this rank */
    struct gnn_exchange sums; /* the exchange of parts' numbers, */
    struct full_wire slices;  /* and of their gradients */
    struct gnn_buf grad;
    struct gnn_buf total, share; /* the host's */
    double *sum;                 /* the sum of parts' numbers */
    struct gnn_buf out;
    struct gnn_buf nodes; /* the host's: the batch's */
    /* With only the rows that seeds depend on (full_needed.c), else 0 and NULL. The rows of level l
     * are those needed after l layers; they are the first of each partition's. */
    uint32_t levels;                    /* layers */
    uint32_t level;                     /* the level whose blocks are selected */
    uint32_t *top;                      /* [netypes] the last level that uses the relation */
    uint64_t *level_rows, *level_edges; /* [levels+1][nntypes], [levels][netypes] of all ranks */
    struct full_needed *needed;         /* until all is made */
    struct gnn_full *eval; /* makes the passes of evaluation, with the rows that these need */
    bool forward;          /* whether it is another one's `eval`: there are no backward passes */
    bool *constant_sums;   /* [nconvs] sums of the features that serve further steps */
    bool rehearsed;        /* with a limit of memory: the smallest that is enough is known */
    bool evaluated;        /* the rows are those of an evaluation with the current parameters */
    struct gnn_full_stats stats;
    struct gnn_swap *swap; /* or NULL: memory is not limited */
    /* The operations that `o` points to, on the host: with `swap`, their buffers move; without,
     * they are exactly as large as asked. */
    struct gnn_ops turns;
    struct full_part *turn; /* the partition whose turn it is, or NULL */
    bool backward;          /* the direction of the last sweep over partitions */
};

/* The rows of type t of a level; without levels, all. */
static inline uint32_t gnn_full_rows(const struct gnn_full *f, const struct full_part *p,
                                     uint32_t level, uint32_t t)
{
    return f->levels ? p->count[(size_t)level * f->m->c.nntypes + t]
                     : (uint32_t)gnn_store_owned(f->s, p->at, t);
}
/* Some convolution that is needed and has edges of relation r, or NULL. */
static inline const struct gnn_conv *gnn_full_conv_of(const struct gnn_full *f, uint32_t r)
{
    EACH_CONV(v, f->m)
        if (v->needed && v->rel == r)
            return v;
    return NULL;
}

/* Called before parts are made: finds the rows of each level, the last of which are the members of
 * the sets, and numbers them. _free: frees memory that is needed only until blocks are made. */
int gnn_full_needed_find(struct gnn_full *f, const char *const *set, uint32_t nsets,
                         struct gnn_err *e) GNN_MUST_USE;
void gnn_full_needed_free(struct gnn_full *f);
/* _has_parts: whether the backward pass takes the sources of relation r in parts. _part_block then
 * numbers the edges of a block of `rows` destinations accordingly, once it has been transposed. */
bool gnn_full_has_parts(const struct gnn_full *f, uint32_t r);
int gnn_full_part_block(struct gnn_full *f, struct full_block *b, uint32_t rows,
                        struct gnn_err *e) GNN_MUST_USE;

/* A relation's edges into the rows of the first level, with the new numbers of rows and sources;
 * from: [rows] where each row's edges begin in the store. */
struct full_edges {
    struct gnn_store_adj a;
    struct gnn_buf ptr, index, from;
};
int gnn_full_needed_edges(struct gnn_full *f, struct full_part *p, uint32_t r,
                          const struct gnn_store_adj *a, struct full_edges *x,
                          struct gnn_err *e) GNN_MUST_USE;
void gnn_full_edges_free(struct full_edges *x);
/* Copies data of the rows of level 0 from the store's data of all rows, `bytes` each. */
int gnn_full_needed_rows(const struct gnn_full *f, const struct full_part *p, uint32_t t,
                         const void *all, size_t bytes, struct full_table *to,
                         struct gnn_err *e) GNN_MUST_USE;
/* Turns a seed's row in the store, *row, into its number in the partition. */
int gnn_full_needed_seed(const struct gnn_full *f, const struct full_part *p, uint64_t *row,
                         struct gnn_err *e) GNN_MUST_USE;
/* _set_level selects the blocks of one level; without levels, and for level 0, they stay.
 * _keep_cut saves the current block as that level's. */
void gnn_full_set_level(struct gnn_full *f, uint32_t level);
void gnn_full_keep_cut(const struct full_block *b, struct full_cut *c);

int gnn_full_part_make(struct gnn_full *f, struct full_part *p, struct gnn_err *e) GNN_MUST_USE;
void gnn_full_part_free(struct gnn_full *f, struct full_part *p);
/* Memory of a partition's rows that come and go within a step is shared, unless it is small: then
 * it is freed at once, as nothing else would fit into it; on a device it stays, as freeing waits
 * for all work under way there. _take gives an empty buffer spare memory, if there is some; it may
 * still have to grow. _give takes a buffer whose contents are needed no more; afterwards it is
 * empty, or merely not kept. */
void gnn_full_take_spare(const struct gnn_full *f, struct full_part *p, struct gnn_buf *to,
                         uint64_t bytes);
void gnn_full_give_spare(const struct gnn_full *f, struct full_part *p, struct gnn_buf *from);
/* Rows and messages that the backward pass recomputes (full_again.c). _maker: the only convolution
 * that makes the rows of type t of a stage, if they can be recomputed; or NULL. _drops_sent:
 * whether the own messages of v are not kept for the backward pass. _drops_rows: whether v is the
 * last to need those rows, until it has been opened or until it has made its results. */
const struct gnn_conv *gnn_full_maker(const struct gnn_full *f, uint32_t stage, uint32_t t);
bool gnn_full_drops_sent(const struct gnn_full *f, const struct gnn_conv *v);
bool gnn_full_drops_rows(const struct gnn_full *f, uint32_t stage, uint32_t t,
                         const struct gnn_conv *v, bool opened);
/* In the forward pass, _begin_rows is called before rows are made; _drop_rows drops the rows that
 * only v has still needed. */
void gnn_full_begin_rows(const struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t);
void gnn_full_drop_rows(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                        bool opened);
/* In the backward pass, recompute if dropped: _need_rows the rows of a stage (and, with `norm`, the
 * normalised rows); _need_inputs the inputs of v; _need_sent its messages, and sets p->table to
 * them. */
int gnn_full_need_rows(struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t,
                       bool norm, struct gnn_err *e) GNN_MUST_USE;
int gnn_full_need_inputs(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                         struct gnn_err *e) GNN_MUST_USE;
int gnn_full_need_sent(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                       struct gnn_err *e) GNN_MUST_USE;
/* _end_rows drops the rows of a stage, and their normalised rows, when the gradients of rows have
 * become those of sums. _end_sums drops the results that v has kept, after that, or when all of its
 * gradients have been made. */
void gnn_full_end_rows(struct gnn_full *f, struct full_part *p, uint32_t stage, uint32_t t);
void gnn_full_end_sums(struct gnn_full *f, struct full_part *p, const struct gnn_conv *v,
                       bool all_done);
/* _enter gives partition p the scratch memory that all share, _leave takes it back. */
void gnn_full_enter(struct gnn_full *f, struct full_part *p);
void gnn_full_leave(struct gnn_full *f, struct full_part *p);
/* Kinds of buffers that a step of partitions works with: of convolution `conv` or, if that is NULL,
 * of all that lead to type `type` in stage `stage`. */
enum full_what {
    FULL_STAGE = 1 << 0, /* rows of the stage, and of the steps after its convolutions */
    FULL_GRAD = 1 << 1,  /* gradient of the stage's rows */
    FULL_FROM = 1 << 2,  /* rows that the convolution works on: sources and destinations */
    FULL_OWN = 1 << 3,   /* destinations, where results are made of them (gnn_layer.drops_own) */
    FULL_TABLE = 1 << 4, /* rows, or messages made of them, that others fetch */
    FULL_SENT = 1 << 5,  /* messages */
    FULL_SUMS = 1 << 6,  /* sums that the convolution has gathered */
    FULL_RUN = 1 << 7,   /* everything else that the convolution keeps */
    FULL_FROM_GRAD = 1 << 8,  /* gradient of the rows that the convolution works on */
    FULL_MESSAGES = 1 << 9,   /* gradient of messages */
    FULL_EDGES = 1 << 10,     /* blocks and factors */
    FULL_BACK = 1 << 11,      /* transposed blocks, too */
    FULL_FACTORS = 1 << 12,   /* factors only, without blocks */
    FULL_STATISTICS = 1 << 13 /* statistics of batch norm, of all stages */
};
/* The buffers that a turn reads and changes. */
struct full_want {
    const struct gnn_conv *conv;
    uint32_t stage, type;
    unsigned read, change; /* of enum full_what */
};
/* A partition's work in a turn, with the scratch memory that all share. Memory allocated in a turn
 * (struct gnn_ops's fit) belongs to the partition. */
typedef int full_step(struct gnn_full *f, struct full_part *p, void *arg, struct gnn_err *e);
struct full_turn {
    full_step *step; /* or NULL: nothing is done */
    struct full_want want;
};
/* _each gives the turn to each partition of this rank, one after the other. _begin and _end: the
 * turn of one partition, without scratch. */
int gnn_full_each(struct gnn_full *f, const struct full_turn *t, void *arg,
                  struct gnn_err *e) GNN_MUST_USE;
int gnn_full_begin(struct gnn_full *f, struct full_part *p, const struct full_want *w,
                   struct gnn_err *e) GNN_MUST_USE;
int gnn_full_end(struct gnn_full *f, struct full_part *p, struct gnn_err *e) GNN_MUST_USE;
/* Sets up the limit of memory, if there is one. */
int gnn_full_limit(struct gnn_full *f, const struct gnn_full_opts *o,
                   struct gnn_err *e) GNN_MUST_USE;
/* Sets, under a limit, the bytes that stay free for other memory of a turn; UINT64_MAX: as many as
 * mapped features need. */
void gnn_full_set_aside(struct gnn_full *f, uint64_t bytes);
/* Gives up, under a limit, the buffers that the last pass has left and this one does not need;
 * called when a pass begins. */
void gnn_full_forget_pass(struct gnn_full *f);
/* _own: the part with number `at` among the k, or NULL if it is another rank's. _rank_of: the rank
 * that has it. */
static inline struct full_part *gnn_full_own(const struct gnn_full *f, uint32_t at)
{
    return at - f->first < f->n ? &f->part[at - f->first] : NULL;
}
uint32_t gnn_full_rank_of(const struct gnn_full *f, uint32_t at);
/* _source: the part whose rows part `at` uses in round c. _user: the part that uses its rows. */
static inline uint32_t gnn_full_source(const struct gnn_full *f, uint32_t at, uint32_t c)
{
    return (at + f->k - c) % f->k;
}
static inline uint32_t gnn_full_user(const struct gnn_full *f, uint32_t at, uint32_t c)
{
    return (at + c) % f->k;
}
static inline struct full_ask *gnn_full_ask(const struct gnn_full *f, struct full_part *p,
                                            uint32_t r, uint32_t of)
{
    return &p->ask[(size_t)r * f->k + of];
}

/* _bring: `bytes` bytes of the host's memory, which must stay, in the operations' memory: there or,
 * if that is another one, in `buffer`. NULL on failure. _make allocates the table in the host's
 * memory; _put moves it to the operations' memory, unless it was never made. */
const void *gnn_full_bring(const struct gnn_full *f, struct gnn_buf *buffer, const void *host,
                           uint64_t bytes, const char *what, struct gnn_err *e) GNN_MUST_USE;
int gnn_full_table_make(struct full_table *t, uint64_t n, size_t size, const char *what,
                        struct gnn_err *e) GNN_MUST_USE;
int gnn_full_table_put(const struct gnn_full *f, struct full_table *t,
                       struct gnn_err *e) GNN_MUST_USE;
void gnn_full_table_free(const struct gnn_full *f, struct full_table *t);

/* Makes the blocks of all relations that the model uses, exchanges the lists of rows that
 * partitions use of each other, and makes factors. */
int gnn_full_blocks_make(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;
/* _init sets the share of boundary rows that stay; _draw draws these rows before a step
 * (full_sample.c). */
void gnn_full_sample_init(struct gnn_full *f, double boundary);
void gnn_full_sample_free(struct gnn_full *f, struct full_sample *s);
int gnn_full_sample_draw(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;
/* Reads the values and features of edges that layers use, in the order of blocks (full_edges.c). */
int gnn_full_edges_read(struct gnn_full *f, struct full_part *p, uint32_t r,
                        const struct gnn_store_adj *a, struct gnn_err *e) GNN_MUST_USE;
/* An edge field of the part as f32, `width` columns: in its own memory, or in `to`. */
const float *gnn_full_edge_field(struct gnn_full *f, struct full_part *p, uint32_t r,
                                 const char *field, uint32_t width, struct gnn_buf *to,
                                 struct gnn_err *e);
void gnn_full_blocks_free(struct gnn_full *f, struct full_part *p);

/* An exchange of rows or gradients between partitions, in rounds 0 .. k-1. Each partition has
 * p->table, rows of d floats. */
struct full_flow {
    uint32_t r, d;               /* relation; floats of a row */
    const struct gnn_conv *conv; /* that the rows are for; NULL: they are sent exactly */
    bool keep;                   /* rows are kept for its backward pass */
    bool kept;                   /* rows have been kept, and are used again */
    bool once;                   /* sums that are gathered of the rows serve all epochs */
    /* With memory that is limited: the convolution whose buffers the rows are in, the kind of these
     * (enum full_what), and the kinds that the partitions work with. */
    const struct gnn_conv *of;
    unsigned table, read, change;
    /* Each partition's work before its rows are fetched or its gradients pushed, and after the last
     * round, when its own gradients are complete. Partitions that take turns do both in the same
     * turn. */
    struct full_turn first, last;
    full_step *over; /* or NULL: between these, when its rows have been used */
};
/* A message between two partitions in a round of x, at least one of them of this rank; both ranks
 * find the same. Partition `user` works with n rows of partition `owner`, d floats each, and leaves
 * as many gradients. */
struct full_message {
    const struct full_flow *flow;
    const uint32_t *row; /* (sent) numbers in the owner of the rows that are sent, ascending */
    const uint32_t *at; /* (sent) their numbers among the n, whose others are 0; NULL: n are sent */
    uint32_t n, sent, d;
    uint32_t first; /* the store's id of the owner's first row */
    uint32_t user;
    float scale; /* factor of the numbers that are sent */
    bool bf16;   /* whether they are rounded to bf16 */
};
struct full_message gnn_full_message(const struct gnn_full *f, const struct full_flow *x,
                                     uint32_t owner, uint32_t user);
/* The length of a message as it is sent, the same for rows and for gradients. Messages, too, are
 * where the operations are. */
uint64_t gnn_full_message_bytes(const struct full_message *m);
/* Whether gradients are sent unchanged. */
bool gnn_full_message_is_plain(const struct full_message *m);
/* _pack_rows packs rows of the owner's `table` into a message; _unpack_rows makes the user's rows
 * of a message, in `buffer` or in the message, where they stay until either is changed. _hand_rows
 * does both, between partitions of this rank, with the same result. */
void gnn_full_pack_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                        void *to);
int gnn_full_unpack_rows(struct gnn_full *f, const struct full_message *m, const void *from,
                         struct gnn_buf *buffer, const float **rows,
                         struct gnn_err *e) GNN_MUST_USE;
int gnn_full_hand_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                       struct gnn_buf *buffer, const float **rows, struct gnn_err *e) GNN_MUST_USE;
/* _pack_gradients packs the user's gradients, `grad`, into a message; _add_gradients adds a
 * message's to the gradients of all rows of the owner, `into`. _hand_gradients does both, between
 * partitions of this rank. */
void gnn_full_pack_gradients(struct gnn_full *f, const struct full_message *m, const float *grad,
                             void *to);
void gnn_full_add_gradients(struct gnn_full *f, const struct full_message *m, const void *from,
                            float *into);
int gnn_full_hand_gradients(struct gnn_full *f, const struct full_message *m, const float *grad,
                            float *into, struct gnn_err *e) GNN_MUST_USE;

/* As gnn_comm_ops.begin and end; x.out and expect are set before. GNN_E_RANK unless ranks have sent
 * what was expected. */
int gnn_full_wire_init(const struct gnn_full *f, struct full_wire *w, uint32_t tag,
                       struct gnn_err *e) GNN_MUST_USE;
void gnn_full_wire_free(const struct gnn_full *f, struct full_wire *w);
int gnn_full_wire_begin(struct gnn_full *f, struct full_wire *w, struct gnn_err *e) GNN_MUST_USE;
int gnn_full_wire_end(struct gnn_full *f, struct full_wire *w, struct gnn_err *e) GNN_MUST_USE;
/* Space in the operations' memory for messages, whose sizes differ from step to step. */
int gnn_full_wire_fit(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes,
                      struct gnn_err *e) GNN_MUST_USE;
/* _take reuses a spare message buffer in the host's memory, or allocates one; _give returns it. The
 * pool grows to the number in use at once. Devices keep one buffer per message, because freeing
 * device memory synchronises. */
int gnn_full_buffer_take(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes,
                         struct gnn_err *e) GNN_MUST_USE;
void gnn_full_buffer_give(struct gnn_full *f, struct gnn_buf *b);
/* _open allocates the messages of other ranks, before an exchange begins; _give returns them, when
 * they have been used. */
int gnn_full_wire_open(struct gnn_full *f, struct full_wire *w, struct gnn_err *e) GNN_MUST_USE;
void gnn_full_wire_give(struct gnn_full *f, struct full_wire *w);
/* Makes buffers on the host exactly as large as asked from here on: they keep their sizes. */
void gnn_full_fit_exactly(struct gnn_full *f);

/* Fetches rows in rounds: calls `use` for each partition and round, with p->view. */
typedef int full_use(struct gnn_full *f, struct full_part *p, uint32_t c, void *arg,
                     struct gnn_err *e);
int gnn_full_fetch(struct gnn_full *f, const struct full_flow *x, full_use *use, void *arg,
                   struct gnn_err *e) GNN_MUST_USE;
/* Pushes gradients in rounds: `make` leaves the gradients of the rows of round c in `to`, which are
 * added to the p->into of their partition; in round 0 it adds to its own. fetches: p->view is set
 * as in gnn_full_fetch. */
typedef int full_make(struct gnn_full *f, struct full_part *p, uint32_t c, float *to, void *arg,
                      struct gnn_err *e);
int gnn_full_push(struct gnn_full *f, const struct full_flow *x, bool fetches, full_make *make,
                  void *arg, struct gnn_err *e) GNN_MUST_USE;

/* As gnn_full_fetch and gnn_full_push, for partitions that take turns, all of this rank. */
int gnn_full_fetch_in_turns(struct gnn_full *f, const struct full_flow *x, full_use *use, void *arg,
                            struct gnn_err *e) GNN_MUST_USE;
int gnn_full_push_in_turns(struct gnn_full *f, const struct full_flow *x, bool fetches,
                           full_make *make, void *arg, struct gnn_err *e) GNN_MUST_USE;

/* Whether rows of other partitions are kept from the forward to the backward pass of v. */
static inline bool gnn_full_keeps(const struct gnn_full *f, const struct gnn_conv *v)
{
    return v->layer->fetches && f->opts.remote != GNN_FULL_REFETCH;
}

/* Whether messages are needed after the forward pass. */
static inline bool gnn_full_needs_sent(const struct gnn_conv *v)
{
    return v->layer->keeps || v->layer->fetches;
}

/* _view sets the run's edges and sources to those of partition q. _own_rows: the rows that a
 * convolution's partition sends. _keep_sums sets p->sum to the moments that the pass has made of
 * `rows` rows, w columns. */
void gnn_full_view(const struct full_part *p, struct gnn_conv_run *c, uint32_t q,
                   const float *rows);
const float *gnn_full_own_rows(const struct gnn_conv_run *c);
void gnn_full_keep_sums(struct full_part *p, uint64_t w, uint64_t rows);

/* The passes. */
int gnn_full_run_forward(struct gnn_full *f, const struct gnn_net_mode *mode,
                         struct gnn_err *e) GNN_MUST_USE;
int gnn_full_run_backward(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;

/* Sets f->sum to the sums over all parts of p->sum, n numbers each. */
int gnn_full_sum_numbers(struct gnn_full *f, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* Sets f->grad to the sum of all parts' gradients. */
int gnn_full_sum_gradients(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;

#endif
