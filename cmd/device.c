#include "cmd/device.h"

#include "cmd/cli.h"

struct gnn_gpu *device_open(const char *spec)
{
    struct gnn_err e = {0};
    struct gnn_gpu *g;
    char why[256];
    if (!spec)
        return NULL;
    if (gnn_gpu_open(&g, spec, why, sizeof why, &e))
        cli_fail(&e);
    if (*why)
        cli_note("working on %s", why);
    return g;
}

void device_tell_graph(const struct gnn_graph_report *r)
{
    if (r->memory == GNN_GRAPH_DEVICE)
        cli_info("graph: %.4g MB on each device", (double)r->device / 1e6);
    else
        cli_info("graph: %.4g MB in the host's memory%s; %.4g MB on each device, %.4g MB of it for rows",
                 (double)r->host / 1e6, r->copied ? ", copied, as the store cannot be mapped" : "", (double)r->device / 1e6,
                 (double)r->near / 1e6);
}
