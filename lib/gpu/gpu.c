/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/comm/comm.h"
#include "lib/base/mem.h"

/* "cuda", "cuda:0,2". */
static int parse_spec(struct gnn_gpu *g, const char *spec, struct gnn_err *e)
{
    const char *p = spec + 4;
    if (strncmp(spec, "cuda", 4) || (*p && *p != ':'))
        return gnn_fail(e, GNN_E_USAGE, "device '%s': one of cpu, cuda, cuda:0, cuda:0,1, auto",
                        spec);
    if (!*p)
        return 0;
    do {
        char *end;
        p++;
        const unsigned long v = strtoul(p, &end, 10);
        if (end == p || *p < '0' || *p > '9' || v > INT32_MAX || (*end && *end != ','))
            return gnn_fail(e, GNN_E_USAGE, "device '%s': '%s' is not a device's number", spec, p);
        for (unsigned i = 0; i < g->n; i++)
            if (g->device[i] == v)
                return gnn_fail(e, GNN_E_USAGE, "device '%s': %lu is given twice", spec, v);
        if (g->n == GNN_GPU_MAX)
            return gnn_fail(e, GNN_E_USAGE, "device '%s': more than %d", spec, GNN_GPU_MAX);
        g->device[g->n++] = (unsigned)v;
        p = end;
    } while (*p);
    return 0;
}

/* Leaves a rank its own of the devices that were named for all on its host. */
static void divide_devices(struct gnn_gpu *g, uint32_t rank, uint32_t ranks)
{
    const uint32_t from = g->n < ranks ? rank % g->n : (uint32_t)((uint64_t)rank * g->n / ranks);
    const uint32_t to = g->n < ranks ? from + 1 : (uint32_t)(((uint64_t)rank + 1) * g->n / ranks);
    memmove(g->device, g->device + from, (to - from) * sizeof *g->device);
    g->n = to - from;
}

int gnn_gpu_open(struct gnn_gpu **out, const char *spec, char *why, size_t capacity,
                 struct gnn_err *e)
{
    return gnn_gpu_open_ranks(out, spec, gnn_comm_self(), why, capacity, e);
}

int gnn_gpu_open_ranks(struct gnn_gpu **out, const char *spec, const struct gnn_comm *c, char *why,
                       size_t capacity, struct gnn_err *e)
{
    const bool choose = !strcmp(spec, "auto");
    struct gnn_err none = {0};
    *out = NULL;
    if (capacity)
        *why = 0;
    if (!strcmp(spec, "cpu"))
        return 0;
    struct gnn_gpu *g = gnn_alloc_zero(1, sizeof *g, "devices", e);
    if (!g)
        return e->code;
    int rc = choose ? 0 : parse_spec(g, spec, e);
    g->turn = c->local_rank;
    if (g->n)
        divide_devices(g, c->local_rank, c->local_size);
    if (!rc)
        rc = gnn_gpu_backend(g, choose ? &none : e);
    if (rc) {
        gnn_free(g);
        if (!choose || rc != GNN_E_DEVICE)
            return choose ? gnn_fail(e, (enum gnn_status)rc, "%s", none.msg) : rc;
        snprintf(why, capacity, "cpu: %s", none.msg);
        return 0;
    }
    if (choose)
        snprintf(why, capacity, "cuda:%u, %s", g->device[0], g->name);
    *out = g;
    return 0;
}

void gnn_gpu_close(struct gnn_gpu *g)
{
    if (g)
        g->ops->close(g);
    gnn_free(g);
}
