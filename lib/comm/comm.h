/* Ranks: the processes of one job, and what they say to each other. Two-sided messages only; the
 * engine is MPI, loaded when a launcher has started more than one process, and never for a process
 * alone. Numbers in the memory of devices are summed by the same table, of which gnn_ops.sums_new
 * makes one that knows that memory. */
#ifndef GNN_LIB_COMM_COMM_H
#define GNN_LIB_COMM_COMM_H

#include <stdbool.h>

#include "lib/base/mem.h"

struct gnn_comm {
    const struct gnn_comm_ops *ops;
    uint32_t rank, size;             /* size 1: alone */
    uint32_t local_rank, local_size; /* among the ranks of this host */
    bool lost;                       /* this rank has failed: nothing collective from here on */
    uint64_t sent;                   /* bytes sent in exchanges, to others, so far */
    double timeout; /* seconds without an answer after which a rank counts as lost; 0: never */
};

/* Bytes to and from every rank, itself included. Zeroed before the first use; used again and again
 * it allocates nothing. */
struct gnn_span {
    const void *data;
    uint64_t bytes;
};
struct gnn_exchange {
    uint32_t tag; /* messages with the same tag meet in the order in which they are sent; see
                     gnn_comm_tag */
    struct gnn_span *out, *in; /* [size]; out: set by the caller between _init and _begin, and kept
                                  until _end. in: valid until the next _begin */
    struct gnn_buf *room;      /* [size] where what comes from others lies */
    struct gnn_transfer *t;    /* the backend's, or NULL */
    uint32_t size;
};
int gnn_exchange_init(struct gnn_exchange *x, const struct gnn_comm *c, uint32_t tag,
                      struct gnn_err *e) GNN_MUST_USE;
/* Takes a zeroed object. Not between _begin and _end, unless one of them failed. */
void gnn_exchange_release(struct gnn_exchange *x);

enum gnn_sum { GNN_SUM_F32, GNN_SUM_F64, GNN_SUM_U64 };

/* How long a wait has gone without news; zeroed at its beginning. */
struct gnn_patience {
    double since;
    double question; /* when all were asked whether they are there, or 0 */
};

/* Every call here is collective: all ranks make it, with the same tag. Exchanges with different
 * tags are independent, and threads may have them under way at once; sums are begun by one thread,
 * in the same order on all ranks. Failures are GNN_E_RANK when a rank does not answer, naming it,
 * and the job cannot go on after one. */
struct gnn_comm_ops {
    /* Sends x->out; _end returns when everything has come and gone. Self's bytes are not copied. */
    int (*begin)(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e);
    int (*end)(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e);
    /* Sums n numbers over all ranks, in place, the same bits on all of them. *sum: NULL, kept for
     * _end. */
    int (*sum_begin)(struct gnn_comm *c, void *data, uint64_t n, enum gnn_sum kind, void **sum,
                     struct gnn_err *e);
    int (*sum_end)(struct gnn_comm *c, void **sum, struct gnn_err *e);
    /* Or NULL: sums that are begun may be held back until one is ended, unless this is called. */
    int (*sum_push)(struct gnn_comm *c, struct gnn_err *e);
    /* For who waits for others by other means than these: called between two looks at whether the
     * wait is over, gives the processor away for a moment. GNN_E_RANK when it has been too long,
     * naming who does not answer. Any thread. */
    int (*bear)(struct gnn_comm *c, struct gnn_patience *p, struct gnn_err *e);
    void (*kill)(struct gnn_comm *c,
                 int status); /* ends all ranks, if it can, and may not return; any thread */
    void (*free)(struct gnn_comm *c); /* at the good end of all ranks */
};

/* What a launcher said when it started this process. */
struct gnn_launch {
    const char *by; /* "mpirun", "srun", ...; NULL: nobody */
    uint32_t rank, size;
};
/* Reads the environment through `get`, which is getenv but for tests. GNN_E_RANK for numbers that
 * make no sense. */
int gnn_launch_find(struct gnn_launch *l, char *(*get)(const char *),
                    struct gnn_err *e) GNN_MUST_USE;

/* The ranks of this job. If no launcher started several, this process is alone. timeout: see above.
 * quiet: once MPI has started, failures are told by these calls only, not by MPI. GNN_E_RANK when
 * MPI is not there, or finds another number of ranks than the launcher. Thread-safe except for
 * opening and closing. */
int gnn_comm_open(struct gnn_comm **c, double timeout, bool quiet, struct gnn_err *e) GNN_MUST_USE;
/* One rank, without any launcher. */
struct gnn_comm *gnn_comm_self(struct gnn_err *e) GNN_MUST_USE;
void gnn_comm_free(struct gnn_comm *c); /* takes NULL */

static inline int gnn_comm_exchange(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    const int rc = c->ops->begin(c, x, e);
    return rc ? rc : c->ops->end(c, x, e);
}
static inline int gnn_comm_push(struct gnn_comm *c, struct gnn_err *e)
{
    return c->ops->sum_push ? c->ops->sum_push(c, e) : 0;
}
int gnn_comm_sum(struct gnn_comm *c, void *data, uint64_t n, enum gnn_sum kind,
                 struct gnn_err *e) GNN_MUST_USE;
/* The same bytes to every rank, and theirs to this one: x->in. */
int gnn_comm_share(struct gnn_comm *c, struct gnn_exchange *x, const void *data, uint64_t bytes,
                   struct gnn_err *e) GNN_MUST_USE;
/* GNN_E_INPUT, "rank R has another WHAT than rank 0", on all ranks unless all have the same text.
 */
int gnn_comm_agree(struct gnn_comm *c, const char *what, const char *text,
                   struct gnn_err *e) GNN_MUST_USE;

/* GNN_E_INPUT unless batches that say they are those of a rank of so many (ranks 0: not of any) are
 * this one's. c may be NULL: one rank. */
int gnn_comm_check(const struct gnn_comm *c, uint32_t rank, uint32_t ranks,
                   struct gnn_err *e) GNN_MUST_USE;

/* Tags: who exchanges, and of work that is under way side by side, which piece. */
enum gnn_comm_use { GNN_COMM_CONTROL, GNN_COMM_SAMPLE, GNN_COMM_GATHER, GNN_COMM_USES };
enum gnn_comm_control {
    GNN_COMM_AGREE,
    GNN_COMM_PARTS,
    GNN_COMM_GATE,
    GNN_COMM_PACE,
    GNN_COMM_SCORES,
    GNN_COMM_ACCESS,
    GNN_COMM_REPLICA,
    GNN_COMM_DEVICES,
    GNN_COMM_SUMS
};
static inline uint32_t gnn_comm_tag(enum gnn_comm_use use, uint64_t piece)
{
    return (uint32_t)use << 12 | (uint32_t)(piece & 4095);
}

#endif
