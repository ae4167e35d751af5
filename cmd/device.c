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
