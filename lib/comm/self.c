/* One rank alone: what it sends is what it gets. */
#include "lib/comm/comm.h"

#include <sched.h>

static int begin(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    (void)c;
    (void)e;
    x->in[0] = x->out[0];
    return 0;
}

static int end(struct gnn_comm *c, struct gnn_exchange *x, struct gnn_err *e)
{
    (void)c;
    (void)x;
    (void)e;
    return 0;
}

static int sum_begin(struct gnn_comm *c, void *data, uint64_t n, enum gnn_sum kind, void **sum,
                     struct gnn_err *e)
{
    (void)c;
    (void)data;
    (void)n;
    (void)kind;
    (void)sum;
    (void)e;
    return 0;
}

static int sum_end(struct gnn_comm *c, void **sum, struct gnn_err *e)
{
    (void)c;
    (void)sum;
    (void)e;
    return 0;
}

static int bear(struct gnn_comm *c, struct gnn_patience *p, struct gnn_err *e)
{
    (void)c;
    (void)p;
    (void)e;
    sched_yield();
    return 0;
}

static void kill_all(struct gnn_comm *c, int status)
{
    (void)c;
    (void)status;
}

static void self_free(struct gnn_comm *c)
{
    gnn_free(c);
}

struct gnn_comm *gnn_comm_self(struct gnn_err *e)
{
    static const struct gnn_comm_ops ops = {begin, end,  sum_begin, sum_end,
                                            NULL,  bear, kill_all,  self_free};
    struct gnn_comm *c = gnn_alloc(1, sizeof *c, "ranks", e);
    if (c)
        *c = (struct gnn_comm){.ops = &ops, .size = 1, .local_size = 1};
    return c;
}
