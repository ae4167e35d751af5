/* Ranks that stop before the last batch: some have begun batches that others have not, and wait for
 * them. So the plan goes on, on all ranks, to the last batch that one of them has begun. */
#include "lib/sample/sample_impl.h"

int gnn_sample_gate_new(struct sampler *s, struct gnn_err *e)
{
    struct gnn_sample_gate *g = s->gate = gnn_alloc_zero(1, sizeof *g, "ranks", e);
    if (!g)
        return e->code;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->open, NULL);
    g->limit = UINT64_MAX;
    return 0;
}

void gnn_sample_gate_free(struct gnn_sample_gate *g)
{
    if (!g)
        return;
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->open);
    gnn_free(g);
}

bool gnn_sample_gate_pass(struct gnn_sample_gate *g)
{
    pthread_mutex_lock(&g->lock);
    while (g->shut)
        pthread_cond_wait(&g->open, &g->lock);
    const bool pass = g->taken < g->limit;
    g->taken += pass;
    pthread_mutex_unlock(&g->lock);
    return pass;
}

/* The most that any rank has begun; 0 if the ranks cannot be asked, as the job is lost then. */
static uint64_t most(struct sampler *s, uint64_t taken)
{
    struct gnn_exchange x;
    struct gnn_err e = {0};
    uint64_t n = 0;
    if (s->comm->lost)
        return 0;
    if (!gnn_exchange_init(&x, s->comm, gnn_comm_tag(GNN_COMM_CONTROL, GNN_COMM_GATE), &e) &&
        !gnn_comm_share(s->comm, &x, &taken, sizeof taken, &e))
        for (uint32_t r = 0; r < s->comm->size; r++) {
            const uint64_t v = x.in[r].bytes == sizeof v ? *(const uint64_t *)x.in[r].data : 0;
            s->comm->lost = s->comm->lost || x.in[r].bytes != sizeof v;
            n = v > n ? v : n;
        }
    gnn_exchange_release(&x);
    return s->comm->lost ? 0 : n;
}

bool gnn_sample_gate_leave(void *sampler)
{
    struct sampler *s = sampler;
    struct gnn_sample_gate *g = s->gate;
    pthread_mutex_lock(&g->lock);
    g->shut = true;
    const uint64_t taken = g->taken;
    pthread_mutex_unlock(&g->lock);
    const uint64_t limit = most(s, taken);
    pthread_mutex_lock(&g->lock);
    g->limit = limit;
    g->shut = false;
    pthread_cond_broadcast(&g->open);
    pthread_mutex_unlock(&g->lock);
    return limit > 0;
}
