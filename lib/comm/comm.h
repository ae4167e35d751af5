/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: the processes (ranks) of one job and what they exchange.
 *
 * A communicator is never absent: one process alone is one of size 1, gnn_comm_self(), for which
 * exchanges hand over what was sent and all-reduces do nothing. Several ranks communicate by MPI,
 * which is loaded only if a launcher has started more than one process. gnn_ops.reduce_new
 * makes a communicator that reduces numbers in the memory of devices. */
#ifndef GNN_LIB_COMM_COMM_H
#define GNN_LIB_COMM_COMM_H

#include <stdbool.h>

#include "lib/base/mem.h"

struct gnn_comm {
    const struct gnn_comm_ops *ops;
    uint32_t rank, size;
    uint32_t local_rank, local_size; /* among the ranks of this host */
    /* Whether this rank has failed: it makes no collective call from here on (gnn_comm_set_lost).
     */
    bool lost;
    uint64_t sent;  /* bytes sent to other ranks in exchanges so far */
    double timeout; /* seconds without an answer after which a rank counts as lost; 0: never */
};

struct gnn_span {
    const void *data;
    uint64_t bytes;
};
/* An all-to-all: bytes to and from every rank, itself included. Zeroed before the first use; used
 * again and again it allocates nothing. */
struct gnn_exchange {
    /* Messages with the same tag arrive in the order in which they are sent; see gnn_comm_tag. */
    uint32_t tag;
    /* [size] out: set by the caller between _init and _begin, and kept until _end. in: valid until
     * the next _begin. */
    struct gnn_span *out, *in;
    struct gnn_buf *buffer; /* [size] memory of other ranks' messages */
    struct gnn_transfer *t; /* the backend's, or NULL */
    uint32_t size;
};
int gnn_exchange_init(struct gnn_exchange *x, const struct gnn_comm *c, uint32_t tag,
                      struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. Not between _begin and _end, unless one of them failed. */
void gnn_exchange_release(struct gnn_exchange *x);

/* The operation of an all-reduce: the sum of numbers of a type, or the largest of u64. */
enum gnn_reduce { GNN_REDUCE_F32, GNN_REDUCE_F64, GNN_REDUCE_U64, GNN_REDUCE_MAX };

/* How long a wait has gone without progress; zeroed at its beginning. */
struct gnn_deadline {
    double since;
    double pinged; /* when all ranks were asked whether they are alive, or 0 */
};

/* Every call here is collective: all ranks make it, with the same tag. Exchanges with different
 * tags are independent, and threads may run them at the same time; all-reduces are begun by one
 * thread, in the same order on all ranks. A rank that does not answer is GNN_E_RANK, with its
 * number in the message; the job cannot go on after that. */
struct gnn_comm_ops {
    /* begin sends x->out; end returns when everything is sent and received. A rank's message to
     * itself is not copied. */
    int (*begin)(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e);
    int (*end)(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e);
    /* Reduces n numbers over all ranks, in place, to the same bits on all of them. *reduction:
     * NULL before _begin, kept for _end. */
    int (*reduce_begin)(struct gnn_comm *c, void *data, uint64_t n, enum gnn_reduce kind,
                        void **reduction, struct gnn_err *e);
    int (*reduce_end)(struct gnn_comm *c, void **reduction, struct gnn_err *e);
    /* Or NULL: pushes all-reduces that are begun, which else may be held back until one is ended.
     */
    int (*reduce_push)(struct gnn_comm *c, struct gnn_err *e);
    /* Or NULL: an exchange in the memory of devices, of communicators that gnn_ops.reduce_new made.
     * Each rank sends out[r] to rank r, which fills in[r], of 0 bytes or as many as it sends. Both
     * arrays, [size], are kept until end; *exchange is as *reduction, and begun at once. */
    int (*move_begin)(struct gnn_comm *c, const struct gnn_span *out, const struct gnn_span *in,
                      void **exchange, struct gnn_err *e);
    int (*move_end)(struct gnn_comm *c, void **exchange, struct gnn_err *e);
    /* Polls for a caller that waits for other ranks by other means than these: yields the processor
     * for a moment. GNN_E_RANK past the deadline, naming the rank that does not answer. Any thread.
     */
    int (*poll)(struct gnn_comm *c, struct gnn_deadline *d, struct gnn_err *e);
    /* Ends all ranks, if it can, and may not return; any thread. */
    void (*kill)(struct gnn_comm *c, int status);
    void (*free)(struct gnn_comm *c); /* after the last call of all ranks */
};

/* The facts that a launcher tells the process that it starts. */
struct gnn_launch {
    const char *by; /* "mpirun", "srun", ...; NULL: nobody */
    uint32_t rank, size;
};
/* Reads the environment through `get`, which is getenv but in tests. GNN_E_RANK for numbers that
 * are implausible. */
int gnn_launch_find(struct gnn_launch *l, char *(*get)(const char *),
                    struct gnn_err *e) GNN_MUST_USE;

/* The ranks of this job; gnn_comm_self() if no launcher started several. timeout: see above.
 * quiet: once MPI has started, failures are reported by these calls only, not by MPI. GNN_E_RANK
 * when MPI is not there, or finds another number of ranks than the launcher. Thread-safe except for
 * opening and closing. */
int gnn_comm_open(struct gnn_comm **c, double timeout, bool quiet, struct gnn_err *e) GNN_MUST_USE;
/* This process alone: always the same object, never written to, thread-safe. */
struct gnn_comm *gnn_comm_self(void);
void gnn_comm_free(struct gnn_comm *c); /* takes NULL, and gnn_comm_self() */

/* Sets whether this rank has failed; with one rank nobody needs to know. */
static inline void gnn_comm_set_lost(struct gnn_comm *c, bool lost)
{
    if (c->size > 1)
        c->lost = lost;
}
static inline int gnn_comm_exchange(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    const int rc = c->ops->begin(c, x, e);
    return rc ? rc : c->ops->end(c, x, e);
}
static inline int gnn_comm_reduce_push(struct gnn_comm *c, struct gnn_err *e)
{
    return c->ops->reduce_push ? c->ops->reduce_push(c, e) : 0;
}
int gnn_comm_all_reduce(struct gnn_comm *c, void *data, uint64_t n, enum gnn_reduce kind,
                        struct gnn_err *e) GNN_MUST_USE;
/* Sends `bytes` bytes to every rank, and receives theirs: x->in. */
int gnn_comm_all_gather(struct gnn_comm *c, struct gnn_exchange *x, const void *data,
                        uint64_t bytes, struct gnn_err *e) GNN_MUST_USE;
/* Likewise, of scores: fills `all`, an empty buffer, with *n bytes, in the order of the ranks. */
int gnn_comm_all_scores(struct gnn_comm *c, const void *data, uint64_t bytes, struct gnn_buf *all,
                        uint64_t *n, struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT, "rank R and rank 0: mismatched WHAT", on all ranks unless all have the same text. */
int gnn_comm_agree(struct gnn_comm *c, const char *what, const char *text,
                   struct gnn_err *e) GNN_MUST_USE;

/* GNN_E_INPUT unless batches whose header says that they are those of a rank of so many (ranks 0:
 * of no rank) are this one's. */
int gnn_comm_check(const struct gnn_comm *c, uint32_t rank, uint32_t ranks,
                   struct gnn_err *e) GNN_MUST_USE;

/* The users of exchanges, for tags: a user, and a piece of its work that runs at the same time. */
enum gnn_comm_use {
    GNN_COMM_CONTROL,
    GNN_COMM_SAMPLE,
    GNN_COMM_GATHER,
    GNN_COMM_PARTS,
    GNN_COMM_USES
};
enum gnn_comm_control {
    GNN_COMM_AGREE,
    GNN_COMM_PACE,
    GNN_COMM_SCORES,
    GNN_COMM_ACCESS,
    GNN_COMM_DEVICES,
    GNN_COMM_NCCL,
    GNN_COMM_SOURCES,
    GNN_COMM_OUTPUT,
    GNN_COMM_LINKS
};
static inline uint32_t gnn_comm_tag(enum gnn_comm_use use, uint64_t piece)
{
    return (uint32_t)use << 12 | (uint32_t)(piece & 4095);
}

#endif
