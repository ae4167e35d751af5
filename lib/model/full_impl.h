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

/* A table that is made in the host's memory and then used where the operations are; on the host
 * that is the same memory. Zeroed object = empty. */
struct full_table {
    void *data; /* where it is: the host's memory, and after _put the operations' */
    struct gnn_buf made, there;
    uint64_t bytes;
    const char *what;
};

/* The boundary rows that stay in this step, of those that one partition uses of another: their
 * numbers in the owner, and among all that the user uses. */
struct full_sample {
    uint32_t n;
    struct gnn_buf row, at;
};

/* The portion of a block that takes part in a layer, where not all of it does. Its members are as
 * in struct full_block; rows, edges and used rows are the first so many of the block. */
struct full_cut {
    uint32_t n, edges;
    struct gnn_buf tptr, tidx, tedge;
    struct full_table csr;
    struct gnn_adj_parts parts;
};

/* The edges of a relation that lead from one partition into another. n: the rows of the source
 * partition that they use; need: their numbers there, ascending; of the own partition all rows,
 * without a list. With levels, those that higher levels use come first, each level's ascending. */
struct full_block {
    uint32_t n;
    struct full_table need;
    uint32_t edges, number;            /* those of the blocks before, where layers number edges */
    struct full_table indptr, indices; /* (rows+1), (edges) among the n */
    struct gnn_buf tptr, tidx;         /* transposed: (n+1), (edges) */
    struct gnn_buf node;               /* (n) factors of the sources, where the norm needs them */
    struct gnn_buf order; /* (edges) their numbers in the store, until their fields are read */
    struct full_table value, feature; /* (edges), (edges, features) what layers use of them, */
    struct full_table id;             /* (edges) u64; */
    struct gnn_buf tedge;  /* (edges) which edge of the block each of the transposed one is; or,
                              with parts, the other way round */
    struct full_table csr; /* struct gnn_csr [3]: the block, transposed, and that of parts */
    struct gnn_adj_parts parts; /* of the sources, if gnn_full_has_parts */
    struct full_sample sample;
    struct full_cut *cut; /* [levels], or NULL: all of it takes part in each layer */
};
struct full_rel {
    struct full_block *block;          /* [k] by source part */
    struct full_table node, row, diag; /* factors of the part's own nodes (struct gnn_adj), */
    struct full_table count, loop;     /* and with weights of edges what these are made of; */
    struct full_table mean;            /* means of the edges' features, for loops */
};
/* Rows of a part that another one uses. */
struct full_ask {
    const uint32_t *row; /* (n); of a part of this rank, that one's `need` */
    uint32_t n;
    struct full_table list;
    struct full_sample sample; /* for a user on another rank */
    struct gnn_buf cut;        /* [levels] n of each */
};

struct full_part {
    uint32_t at;                       /* which of the k parts it is */
    struct gnn_net net;                /* its rows, and what layers keep of them */
    struct gnn_batch batch;            /* its nodes, as the net wants them: all of them, no edges */
    struct gnn_batch_type *type;       /* [nntypes] the batch's */
    struct full_table *id;             /* [nntypes] their original ids, unless in the store */
    struct full_table *features;       /* [nntypes] the store's, where the operations are */
    struct gnn_buf *order;             /* [nntypes] with levels, its rows' numbers in the store, */
    uint32_t *count;                   /* or empty: in its order; [levels+1][nntypes] of each */
    struct full_rel *rel;              /* [netypes] */
    struct full_ask *ask;              /* [netypes][k] */
    const float *table;                /* during rounds: its rows that others fetch, */
    float *into;                       /* or to which gradients are added, */
    const float *view;                 /* and the rows that it has fetched in this round */
    struct gnn_buf fetched, pushed[2]; /* from a part of this rank; gradients for another part */
    struct gnn_buf dmessages;          /* gradients of messages */
    struct gnn_buf *mail, *back_mail;  /* of partitions that take turns: [nconvs][k] by round,
                                          rows for this one; [k] its gradients for others */
    struct gnn_buf *spare;             /* [nspare] rows and gradients that are needed no more */
    uint32_t nspare;
    uint64_t large;       /* bytes of those that are kept: half of those of a stage's most rows */
    uint8_t *gone;        /* [nstages][nntypes] what of rows is to be made again (full_again.c) */
    struct gnn_buf *kept; /* [nconvs][k] rows of other partitions, if they are kept */
    struct full_table seed, place; /* of the batch: its rows, and where they are in it; */
    struct gnn_buf rows;           /* scratch */
    uint32_t nseeds;
    struct gnn_buf moments; /* the host's, */
    double *sum;            /* its moments for a batch norm, then the number of its rows */
};

/* The messages of one round between ranks. They are packed and used where the operations are, on
 * the host or on the device; there the spans of x.out lie in `out`. */
struct full_wire {
    struct gnn_exchange x;
    struct gnn_buf out;
    uint64_t *expect;         /* [size] bytes that each rank will send */
    struct gnn_span *in;      /* [size] what each rank has sent, valid until the next _begin */
    struct gnn_span *brought; /* between devices: this, */
    struct gnn_buf arrived;   /* what it points to, */
    struct gnn_buf host;      /* what is sent, in the host's memory, */
    void *moving;             /* or what of it is under way from device to device */
    bool open;
};

struct gnn_full {
    const struct gnn_model *m;
    struct gnn_store *s;
    const struct gnn_ops *o;
    struct gnn_comm *comm, *device; /* the ranks; and from device to device, or NULL */
    bool passed[2];                 /* there has been a whole pass: evaluating, training */
    uint32_t k, first, n;           /* parts; this rank's begin with `first`, and are n */
    struct full_part *part;         /* [n] */
    struct gnn_pass pass;           /* scratch that parts share */
    struct full_wire *rows, grads[FULL_WIRES]; /* of rounds, in turn; [depth+1] of rows */
    struct gnn_buf idle; /* struct gnn_buf [nidle]: room for messages, of the host */
    uint64_t nidle;
    uint32_t depth;
    struct gnn_full_opts opts;
    uint64_t keep32;              /* boundary rows stay if 32 random bits are below; 0: all stay */
    float scale;                  /* of those that stay */
    struct gnn_buf draws, packed; /* the host's, of lists that are brought there; a message between
                                     partitions of this rank */
    struct gnn_exchange sums;     /* of numbers of parts, */
    struct full_wire slices;      /* and of their gradients */
    struct gnn_buf grad;
    struct gnn_buf total, share; /* the host's */
    double *sum;                 /* of numbers of parts */
    struct gnn_buf out;
    struct gnn_buf nodes; /* the host's: the batch's */
    /* With only the rows that seeds depend on (full_needed.c), else 0 and NULL. A level's rows are
     * those that so many layers leave; they are the first of each partition's. */
    uint32_t levels, level;             /* how many layers; whose blocks these are */
    uint32_t *top;                      /* [netypes] the last level that uses the relation */
    uint64_t *level_rows, *level_edges; /* [levels+1][nntypes], [levels][netypes] of all ranks */
    struct full_needed *needed;         /* until all is made */
    struct gnn_full *eval; /* makes the passes of evaluation, with the rows that these need */
    bool forward;          /* is such a one: there are no backward passes */
    bool *fixed;           /* [nconvs] what it has gathered of the features will do again */
    bool rehearsed;        /* with a limit of memory: which one is enough is known */
    bool evaluated;        /* the rows are those of an evaluation with the current parameters */
    struct gnn_full_stats stats;
    struct gnn_swap *swap;  /* or NULL: memory is not limited */
    struct gnn_ops turns;   /* what `o` points to, on the host: with it, buffers move; without,
                               they are as large as they have to be */
    struct full_part *turn; /* whose turn it is, or NULL */
    bool backward;          /* the direction of the last sweep over partitions */
};

/* The rows of type t of a level; without levels, all. */
static inline uint32_t gnn_full_rows(const struct gnn_full *f, const struct full_part *p,
                                     uint32_t level, uint32_t t)
{
    return f->levels ? p->count[(size_t)level * f->m->c.nntypes + t]
                     : (uint32_t)gnn_store_owned(f->s, p->at, t);
}
/* Whether a convolution that is needed has edges of relation r. */
static inline bool gnn_full_is_used(const struct gnn_full *f, uint32_t r)
{
    for (uint32_t i = 0; i < f->m->nconvs; i++)
        if (f->m->conv[i].needed && f->m->conv[i].rel == r)
            return true;
    return false;
}

/* Before parts are made: finds the rows of each level, whose last are the members of the sets, and
 * numbers them. _free: what is needed only until blocks are made. */
int gnn_full_needed_find(struct gnn_full *f, const char *const *set, uint32_t nsets,
                         struct gnn_err *e) GNN_MUST_USE;
void gnn_full_needed_free(struct gnn_full *f);
/* Whether the backward pass takes the sources of relation r in parts; and, when a block of `rows`
 * destinations has been transposed, numbers its edges accordingly. */
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
/* Of what the store has for all rows, `bytes` each, that of the rows of level 0. */
int gnn_full_needed_rows(const struct gnn_full *f, const struct full_part *p, uint32_t t,
                         const void *all, size_t bytes, struct full_table *to,
                         struct gnn_err *e) GNN_MUST_USE;
/* The number of the seed that is this row of the store. */
int gnn_full_needed_seed(const struct gnn_full *f, const struct full_part *p, uint64_t *row,
                         struct gnn_err *e) GNN_MUST_USE;
/* _set_level selects the blocks of one level; without levels, and for level 0, they stay.
 * _keep_cut saves the current block as that level's. */
void gnn_full_set_level(struct gnn_full *f, uint32_t level);
void gnn_full_keep_cut(const struct full_block *b, struct full_cut *c);

int gnn_full_part_make(struct gnn_full *f, struct full_part *p, struct gnn_err *e) GNN_MUST_USE;
void gnn_full_part_free(struct gnn_full *f, struct full_part *p);
/* Rows of a partition that come and go within a step share their memory, unless they are small:
 * then it is freed at once, as there is nothing else that it would be large enough for; on a device
 * it stays, as freeing waits for all that is under way there. _take: an empty buffer gets idle
 * memory, if there is some to spare; it may still have to grow. _give: what is in it is needed no
 * more; afterwards it is empty, or merely not kept. */
void gnn_full_take_spare(const struct gnn_full *f, struct full_part *p, struct gnn_buf *to,
                         uint64_t bytes);
void gnn_full_give_spare(const struct gnn_full *f, struct full_part *p, struct gnn_buf *from);
/* Rows and messages that the backward pass makes again (full_again.c). _maker: the only convolution
 * of which the rows of type t of a stage are made, if they can be made again; or NULL. _drops_sent:
 * the own messages of v are not kept for the backward pass. _drops_rows: v is the last that needs
 * those rows, until it has been opened or until it has made its results. */
const struct gnn_conv *gnn_full_maker(const struct gnn_full *f, uint32_t stage, uint32_t t);
bool gnn_full_drops_sent(const struct gnn_full *f, const struct gnn_conv *v);
bool gnn_full_drops_rows(const struct gnn_full *f, uint32_t stage, uint32_t t,
                         const struct gnn_conv *v, bool opened);
/* Forward: before rows are made; after that, what v alone has still needed. */
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
/* The buffers that a step of partitions works with: of convolution `conv` or, if that is NULL, of
 * all that lead to type `type` in stage `stage`. */
enum full_what {
    FULL_STAGE = 1 << 0, /* the rows of the stage, and what follows its convolutions */
    FULL_GRAD = 1 << 1,  /* their gradient */
    FULL_FROM = 1 << 2,  /* rows that the convolution works on: sources and destinations */
    FULL_OWN = 1 << 3,   /* the latter, if results are made of them (struct gnn_layer's `early`) */
    FULL_TABLE = 1 << 4, /* rows, or messages made of them, that others fetch */
    FULL_SENT = 1 << 5,  /* messages */
    FULL_SUMS = 1 << 6,  /* what the convolution has gathered, */
    FULL_RUN = 1 << 7,   /* and what else it keeps */
    FULL_FROM_GRAD = 1 << 8,
    FULL_MESSAGES = 1 << 9,   /* the gradient of messages */
    FULL_EDGES = 1 << 10,     /* blocks and factors */
    FULL_BACK = 1 << 11,      /* and the transposed blocks */
    FULL_FACTORS = 1 << 12,   /* only these, without blocks */
    FULL_STATISTICS = 1 << 13 /* those of batch norm, of all stages */
};
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
/* Each partition of this rank has the turn, one after the other. _begin and _end: of one partition,
 * without scratch. */
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
/* The part of this rank, or NULL, whose number among the k is `at`; and the rank that has it. */
static inline struct full_part *gnn_full_own(const struct gnn_full *f, uint32_t at)
{
    return at - f->first < f->n ? &f->part[at - f->first] : NULL;
}
uint32_t gnn_full_rank_of(const struct gnn_full *f, uint32_t at);
/* The part whose rows part `at` uses in round c, and the part that uses its rows then. */
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

/* _bring: `bytes` bytes of the host's memory, which stays, where the operations are: there, or in
 * `room`. NULL on failure. _make: room in the host's memory; _put: moves the table to where the
 * operations are, unless it was never made. */
const void *gnn_full_bring(const struct gnn_full *f, struct gnn_buf *room, const void *host,
                           uint64_t bytes, const char *what, struct gnn_err *e) GNN_MUST_USE;
int gnn_full_table_make(struct full_table *t, uint64_t n, size_t size, const char *what,
                        struct gnn_err *e) GNN_MUST_USE;
int gnn_full_table_put(const struct gnn_full *f, struct full_table *t,
                       struct gnn_err *e) GNN_MUST_USE;
void gnn_full_table_free(const struct gnn_full *f, struct full_table *t);

/* Makes the blocks of all relations that the model uses, tells partitions what they need of each
 * other, and makes factors. */
int gnn_full_blocks_make(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;
/* _init sets the share of boundary rows that stay; _draw draws them before a step (full_sample.c).
 */
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

/* Rounds 0 .. k-1. Each partition has p->table, rows of d floats. */
struct full_flow {
    uint32_t r, d;               /* relation; floats of a row */
    const struct gnn_conv *conv; /* that the rows are for; NULL: they are sent exactly */
    bool keep;                   /* they are kept for its backward pass ... */
    bool kept;                   /* ... or have been, and are used again */
    bool once;                   /* what is gathered of them serves all epochs */
    /* With memory that is limited: the convolution whose buffers the rows are in, which of them
     * (enum full_what), and which the partitions work with. */
    const struct gnn_conv *of;
    unsigned table, read, change;
    /* Each partition's work before its rows are fetched or its gradients pushed, and after the last
     * round, when its own gradients are complete. Partitions that take turns do both in the same
     * turn. */
    struct full_turn first, last;
    full_step *over; /* or NULL: between these, when its rows have been used */
};
/* A message between two partitions in a round of x. One of them is of this rank; both ranks find
 * the same. `user` works with n rows of partition `owner`, d floats each, and leaves as many
 * gradients. Of these, `sent` are sent, d columns each: `row` are their numbers in the owner,
 * ascending, and `at` those among the n, of which the others are 0; NULL: all n are sent. */
struct full_message {
    const struct full_flow *flow;
    const uint32_t *row, *at;
    uint32_t n, sent, d;
    uint32_t first, user; /* the store's id of the owner's first row */
    float scale;          /* of what is sent */
    bool bf16;            /* it is rounded to that */
};
struct full_message gnn_full_message(const struct gnn_full *f, const struct full_flow *x,
                                     uint32_t owner, uint32_t user);
/* The length of a message as it is sent, the same for rows and for gradients. Messages, too, are
 * where the operations are. */
uint64_t gnn_full_message_bytes(const struct full_message *m);
/* Whether gradients are sent as they are. */
bool gnn_full_message_is_plain(const struct full_message *m);
/* _pack_rows: from the rows of the owner's `table` into a message; _unpack_rows: from a message to
 * the rows of the user. These are in `room` or in the message, and stay until either is changed.
 * _hand_rows: both, between partitions of this rank, with the same result. */
void gnn_full_pack_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                        void *to);
int gnn_full_unpack_rows(struct gnn_full *f, const struct full_message *m, const void *from,
                         struct gnn_buf *room, const float **rows, struct gnn_err *e) GNN_MUST_USE;
int gnn_full_hand_rows(struct gnn_full *f, const struct full_message *m, const float *table,
                       struct gnn_buf *room, const float **rows, struct gnn_err *e) GNN_MUST_USE;
/* Back: from the user's gradients, `grad`, into a message; from a message into those of all rows of
 * the owner, `into`, to which they are added; and both, between partitions of this rank. */
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
/* Room in the operations' memory for messages, whose sizes differ from step to step. */
int gnn_full_wire_fit(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes,
                      struct gnn_err *e) GNN_MUST_USE;
/* _take reuses a spare message buffer in the host's memory, or allocates one; _give returns it. The
 * pool grows to the number in use at once. Devices keep one buffer per message, because freeing
 * device memory synchronises. */
int gnn_full_room_take(struct gnn_full *f, struct gnn_buf *b, uint64_t bytes,
                       struct gnn_err *e) GNN_MUST_USE;
void gnn_full_room_give(struct gnn_full *f, struct gnn_buf *b);
/* Before an exchange begins: room for what other ranks will send. _give: when it has been used. */
int gnn_full_wire_open(struct gnn_full *f, struct full_wire *w, struct gnn_err *e) GNN_MUST_USE;
void gnn_full_wire_give(struct gnn_full *f, struct full_wire *w);
/* On the host, from here on buffers get no more than they have to hold: they keep their sizes. */
void gnn_full_fit_exactly(struct gnn_full *f);

/* `use` is called for each partition and round, with p->view. */
typedef int full_use(struct gnn_full *f, struct full_part *p, uint32_t c, void *arg,
                     struct gnn_err *e);
int gnn_full_fetch(struct gnn_full *f, const struct full_flow *x, full_use *use, void *arg,
                   struct gnn_err *e) GNN_MUST_USE;
/* Likewise: `make` leaves the gradients of the rows of round c in *to, which are added to those
 * partitions' p->into; in round 0 it adds to its own. fetches: p->view is set as in gnn_full_fetch.
 */
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

/* _view: the run's edges and sources become those of partition q. _own_rows: what a convolution's
 * partition sends. _keep_sums: p->sum becomes the moments that the pass has made of `rows` rows, w
 * columns. */
void gnn_full_view(const struct full_part *p, struct gnn_conv_run *c, uint32_t q,
                   const float *rows);
const float *gnn_full_own_rows(const struct gnn_conv_run *c);
void gnn_full_keep_sums(struct full_part *p, uint64_t w, uint64_t rows);

/* The passes. */
int gnn_full_run_forward(struct gnn_full *f, const struct gnn_net_mode *mode,
                         struct gnn_err *e) GNN_MUST_USE;
int gnn_full_run_backward(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;

/* The sums over all parts of p->sum, n numbers each, in f->sum. */
int gnn_full_sum_numbers(struct gnn_full *f, uint64_t n, struct gnn_err *e) GNN_MUST_USE;
/* f->grad: the sum of all parts' gradients. */
int gnn_full_sum_gradients(struct gnn_full *f, struct gnn_err *e) GNN_MUST_USE;

#endif
