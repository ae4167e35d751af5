/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of devices, and pinned memory of the host, as kinds of struct gnn_mem. */
#include "lib/gpu/runtime.h"

static void *device_alloc(const struct gnn_mem *m, uint64_t bytes, const char *what,
                          struct gnn_err *e)
{
    const struct gpu_device *d = (const struct gpu_device *)m;
    void *p = NULL;
    if (gnn_dev_use(d->number, e) || gnn_dev_alloc(&p, bytes, what, e))
        return NULL;
    return p;
}

static void device_free(const struct gnn_mem *m, void *p)
{
    (void)m;
    gnn_dev_free(p);
}

static void *pinned_alloc(const struct gnn_mem *m, uint64_t bytes, const char *what,
                          struct gnn_err *e)
{
    void *p = NULL;
    (void)m;
    return gnn_dev_pin(&p, bytes, what, e) ? NULL : p;
}

static void pinned_free(const struct gnn_mem *m, void *p)
{
    (void)m;
    gnn_dev_unpin(p);
}

const struct gnn_mem gnn_gpu_device_memory = {device_alloc, device_free};
const struct gnn_mem gnn_gpu_pinned = {pinned_alloc, pinned_free};
