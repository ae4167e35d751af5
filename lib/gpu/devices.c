/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens devices, and peer access between them. */
#include <stdio.h>

#include "lib/gpu/runtime.h"

static void close_devices(struct gnn_gpu *g)
{
    if (g->dev)
        gnn_gpu_timeline_close(g->dev);
    gnn_free(g->dev);
    g->dev = NULL;
}

static const struct gnn_gpu_ops ops = {.close = close_devices,
                                       .upload = gnn_gpu_upload_new,
                                       .bring = gnn_gpu_bring_new,
                                       .fetch = gnn_gpu_fetch_new,
                                       .id = gnn_gpu_id,
                                       .exportable = gnn_gpu_exportable,
                                       .export_batch = gnn_gpu_export_batch,
                                       .refer = gnn_gpu_refer,
                                       .export_free = gnn_gpu_export_free,
                                       .import_tensor = gnn_gpu_import_tensor,
                                       .import_wait = gnn_gpu_import_wait,
                                       .import_free = gnn_gpu_import_free,
                                       .place = gnn_gpu_place,
                                       .unused = gnn_gpu_unused,
                                       .timeline = gnn_gpu_timeline};

/* Fills in device i, and from the first the name. */
static int ask_device(struct gnn_gpu *g, unsigned i, unsigned asked, struct gnn_err *e)
{
    struct gnn_dev_info info;
    if (gnn_dev_ask(g->device[i], &info, e))
        return e->code;
    if (10 * info.major + info.minor < info.least)
        return gnn_fail(e, GNN_E_DEVICE,
                        "CUDA device %u, %s, has compute capability %d.%d: this build needs %d.%d",
                        g->device[i], info.name, info.major, info.minor, info.least / 10,
                        info.least % 10);
    if (!i)
        snprintf(g->name, sizeof g->name, "%s", info.name);
    g->dev[i] = (struct gpu_device){.mem = gnn_gpu_device_memory,
                                    .number = g->device[i],
                                    .multiprocessors = info.multiprocessors,
                                    .asked = asked};
    return 0;
}

int gnn_gpu_backend(struct gnn_gpu *g, struct gnn_err *e)
{
    unsigned n, asked;
    int rc = gnn_gpu_asked_read(&asked, e);
    if (!rc)
        rc = gnn_dev_count(&n, e);
    if (rc)
        return rc;
    if (!g->n)
        g->device[g->n++] = g->turn % n;
    for (unsigned i = 0; i < g->n; i++)
        if (g->device[i] >= n)
            return gnn_fail(e, GNN_E_DEVICE, "no CUDA device %u: there %s %u", g->device[i],
                            n == 1 ? "is" : "are", n);
    g->dev = gnn_alloc_zero(g->n, sizeof *g->dev, "devices", e);
    if (!g->dev)
        return e->code;
    for (unsigned i = 0; !rc && i < g->n; i++)
        rc = ask_device(g, i, asked, e);
    for (unsigned i = 0; !rc && i < g->n; i++)
        for (unsigned k = 0; !rc && k < g->n; k++)
            if (gnn_dev_peer(g->device[i], g->device[k]))
                rc = gnn_dev_peer_open(g->device[i], g->device[k], e);
    if (rc)
        close_devices(g);
    g->ops = &ops;
    return rc;
}
