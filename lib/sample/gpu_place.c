/* SPDX-License-Identifier: Apache-2.0 */
/* Where devices find the graph: decided by what memory there is, and put there. */
#include "lib/gpu/peers.h"
#include "lib/sample/gpu_sample.h"

static uint64_t less_or_zero(uint64_t a, uint64_t b)
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
        rc = gnn_gpu_peers_users(g, comm, users, e);
    *free = UINT64_MAX;
    *reserve = 0;
    for (unsigned i = 0; !rc && i < g->n; i++) {
        const uint64_t has = info[i].free / users[i], keep = info[i].bytes / 4 / users[i];
        *free = has < *free ? has : *free;
        *reserve = keep > *reserve ? keep : *reserve;
    }
    return rc;
}

static int size_of(const struct sampler *s, const struct gpu_host_edges *host_edges,
                   uint64_t *bytes, struct gnn_err *e)
{
    struct gpu_graph x = {0};
    int rc = gnn_gpu_graph_init(&x, s, host_edges, NULL, NULL, e);
    *bytes = x.bytes;
    gnn_gpu_graph_release(&x);
    return rc;
}

/* Where the graph is to be; then what a batch needs, and which rows are worth their place. */
static int plan_place(struct gpu_graphs *q, const struct sampler *s,
                      const struct gnn_sampler_opts *o, struct gpu_capacity *capacity,
                      struct gnn_graph_report *report, struct gnn_err *e)
{
    uint64_t free, reserve, bytes;
    int rc = ask_memory(q->g, s->comm, &free, &reserve, e);
    if (!rc)
        rc = size_of(s, NULL, &bytes, e);
    if (rc)
        return rc;
    report->memory = o->graph_memory != GNN_GRAPH_AUTO      ? o->graph_memory
                     : bytes <= less_or_zero(free, reserve) ? GNN_GRAPH_DEVICE
                                                            : GNN_GRAPH_UVA;
    if (report->memory == GNN_GRAPH_DEVICE)
        return gnn_gpu_capacity_init(capacity, s, less_or_zero(free, bytes), e);
    rc = gnn_dev_use(q->g->device[0], e);
    if (!rc)
        rc = gnn_gpu_host_edges_init(&q->host_edges, q->g, s, e);
    if (!rc)
        rc = size_of(s, &q->host_edges, &bytes, e);
    if (!rc)
        rc = gnn_gpu_capacity_init(capacity, s, less_or_zero(free, bytes), e);
    const uint64_t most = less_or_zero(free, bytes + reserve) / 2;
    if (!rc)
        rc = gnn_gpu_resident_init(&q->resident, s, capacity,
                                   o->graph_cache == UINT64_MAX ? most : o->graph_cache, e);
    report->resident = q->resident.units * GNN_SAMPLE_RESIDENT * sizeof(uint32_t);
    report->host = q->host_edges.bytes;
    report->copied = q->host_edges.copied;
    return rc;
}

int gnn_gpu_graphs_init(struct gpu_graphs *q, struct gnn_gpu *g, const struct sampler *s,
                        const struct gnn_sampler_opts *o, struct gpu_capacity *capacity,
                        struct gnn_err *e)
{
    struct gnn_graph_report report = {0};
    q->g = g;
    q->of = gnn_alloc_zero(g->n, sizeof *q->of, "devices", e);
    int rc = q->of ? plan_place(q, s, o, capacity, &report, e) : e->code;
    const bool uva = report.memory == GNN_GRAPH_UVA;
    for (unsigned i = 0; !rc && i < g->n; i++) {
        rc = gnn_gpu_graph_init(&q->of[i], s, uva ? &q->host_edges : NULL,
                                uva ? &q->resident : NULL, &g->dev[i], e);
        report.device = q->of[i].bytes;
    }
    if (!rc && o->graph_report)
        *o->graph_report = report;
    return rc;
}

void gnn_gpu_graphs_release(struct gpu_graphs *q)
{
    for (unsigned i = 0; q->of && i < q->g->n; i++)
        gnn_gpu_graph_release(&q->of[i]);
    gnn_gpu_host_edges_release(&q->host_edges);
    gnn_gpu_resident_release(&q->resident);
    gnn_free(q->of);
    *q = (struct gpu_graphs){0};
}
