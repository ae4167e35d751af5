/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/device.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cli.h"
#include "cmd/opt.h"
#include "lib/comm/comm.h"

bool device_is_cpu(const char *spec)
{
    return !spec || !strcmp(spec, "cpu");
}

void device_refuse_cpu(const char *spec, const void *const *values, const char *why)
{
    if (device_is_cpu(spec))
        opt_refuse(values, why);
}

void device_refuse_cuda(const char *spec, const void *const *values, const char *why)
{
    if (spec && !strncmp(spec, "cuda", 4))
        opt_refuse(values, why);
}

/* Do all ranks have devices? Where only some do, "auto" gives them back. */
static bool all_have(struct gnn_comm *c, bool has, bool choose)
{
    struct gnn_err e = {0};
    uint64_t n = has;
    if (gnn_comm_all_reduce(c, &n, 1, GNN_REDUCE_U64, &e))
        cli_fail(&e);
    if (has && n < c->size && !choose)
        cli_usage(
            "--device: %u of %u ranks would use the CPU; give all ranks the same kind of device",
            (unsigned)(c->size - n), c->size);
    return n == c->size;
}

struct gnn_gpu *device_open(const char *spec, struct gnn_comm *c)
{
    struct gnn_err e = {0};
    struct gnn_gpu *g = NULL;
    char why[256] = "";
    if (spec && gnn_gpu_open_ranks(&g, spec, c, why, sizeof why, &e))
        cli_fail(&e);
    if (!all_have(c, g != NULL, spec && !strcmp(spec, "auto")) && g) {
        gnn_gpu_close(g);
        g = NULL;
        snprintf(why, sizeof why, "cpu: not all ranks have a device");
    }
    if (*why)
        cli_note("using %s", why);
    return g;
}

void device_tell_graph(const struct gnn_graph_report *r)
{
    if (!r->device)
        return;
    if (r->memory == GNN_GRAPH_DEVICE)
        cli_info("graph: %.4g MB on each device", (double)r->device / 1e6);
    else
        cli_info(
            "graph: %.4g MB in host memory%s; %.4g MB on each device, %.4g MB of it for cached rows",
            (double)r->host / 1e6, r->copied ? ", in a pinned copy" : "", (double)r->device / 1e6,
            (double)r->resident / 1e6);
}
