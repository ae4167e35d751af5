/* Where devices find the graph: decided by what memory there is, and put there. */
#include "lib/gpu/peers.h"
#include "lib/sample/gpu_sample.h"

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The memory that all devices have free, and what of it sampling leaves alone: features and nets
 * come later. Ranks that share a device share both. */
static int ask_memory(const struct gnn_gpu *g, struct gnn_comm *comm, uint64_t *free,
                      uint64_t *reserve, struct gnn_err *e)
{
    struct gnn_dev_info info[GNN_GPU_MAX];
    uint32_t users[GNN_GPU_MAX];
    int rc = 0;
    for (unsigned i = 0; !rc && i < g->n; i++) {
        rc = gnn_dev_ask(g->device[i], &info[i], e);
    }
    if (!rc)
        rc = gather_peers_users(g, comm, users, e);
    *free = UINT64_MAX;
    *reserve = 0;
    for (unsigned i = 0; !rc && i < g->n; i++) {
        const uint64_t has = info[i].free / users[i], keep = info[i].bytes / 4 / users[i];
        *free = has < *free ? has : *free;
        *reserve = keep > *reserve ? keep : *reserve;
    }
    return rc;
}

static int size_of(const struct sampler *s, const struct gpu_far *far, uint64_t *bytes,
                   struct gnn_err *e)
{
    struct gpu_graph x = {0};
    int rc = gpu_graph_init(&x, s, far, NULL, NULL, e);
    *bytes = x.bytes;
    gpu_graph_release(&x);
    return rc;
}

/* Where the graph is to be; then what a batch needs, and which rows are worth their place. */
static int plan(struct gpu_graphs *q, const struct sampler *s, const struct gnn_sampler_opts *o,
                struct gpu_room *room, struct gnn_graph_report *told, struct gnn_err *e)
{
    uint64_t free, reserve, bytes;
    int rc = ask_memory(q->g, s->comm, &free, &reserve, e);
    if (!rc)
        rc = size_of(s, NULL, &bytes, e);
    if (rc)
        return rc;
    told->memory = o->graph_memory != GNN_GRAPH_AUTO ? o->graph_memory
                   : bytes <= less(free, reserve)    ? GNN_GRAPH_DEVICE
                                                     : GNN_GRAPH_UVA;
    if (told->memory == GNN_GRAPH_DEVICE)
        return gpu_room_init(room, s, less(free, bytes), e);
    rc = gnn_dev_use(q->g->device[0], e);
    if (!rc)
        rc = gpu_far_init(&q->far, q->g, s, e);
    if (!rc)
        rc = size_of(s, &q->far, &bytes, e);
    if (!rc)
        rc = gpu_room_init(room, s, less(free, bytes), e);
    const uint64_t most = less(free, bytes + reserve) / 2;
    if (!rc)
        rc = gpu_near_init(&q->near, s, room, o->graph_cache == UINT64_MAX ? most : o->graph_cache,
                           e);
    told->near = q->near.units * GNN_SAMPLE_NEAR * sizeof(uint32_t);
    told->host = q->far.bytes;
    told->copied = q->far.copied;
    return rc;
}

int gpu_graphs_init(struct gpu_graphs *q, struct gnn_gpu *g, const struct sampler *s,
                    const struct gnn_sampler_opts *o, struct gpu_room *room, struct gnn_err *e)
{
    struct gnn_graph_report told = {0};
    q->g = g;
    q->of = gnn_alloc_zero(g->n, sizeof *q->of, "devices", e);
    int rc = q->of ? plan(q, s, o, room, &told, e) : e->code;
    const bool uva = told.memory == GNN_GRAPH_UVA;
    for (unsigned i = 0; !rc && i < g->n; i++) {
        rc = gpu_graph_init(&q->of[i], s, uva ? &q->far : NULL, uva ? &q->near : NULL, &g->dev[i],
                            e);
        told.device = q->of[i].bytes;
    }
    if (!rc && o->graph_report)
        *o->graph_report = told;
    return rc;
}

void gpu_graphs_release(struct gpu_graphs *q)
{
    for (unsigned i = 0; q->of && i < q->g->n; i++)
        gpu_graph_release(&q->of[i]);
    gpu_far_release(&q->far);
    gpu_near_release(&q->near);
    gnn_free(q->of);
    *q = (struct gpu_graphs){0};
}
