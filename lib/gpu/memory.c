/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of devices, and pinned memory of the host, as kinds of struct gnn_mem. */
#include <pthread.h>

#include "lib/gpu/runtime.h"

/* Memory is freed without its kind, and pinned for all devices. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

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
    gnn_dev_free(p);
}

/* ---- pinned memory, all of which counts together ---- */

/* A block that the runtime has made. */
struct block {
    void *p;
    uint64_t bytes;
    struct block *next;
};
static struct {
    pthread_mutex_t lock;
    uint64_t bytes;
    struct block *first;
} pinned = {.lock = PTHREAD_MUTEX_INITIALIZER};

int gnn_gpu_pin_take(uint64_t bytes, const char *what, struct gnn_err *e)
{
    const uint64_t most = gnn_dev_pinnable();
    pthread_mutex_lock(&pinned.lock);
    const uint64_t before = pinned.bytes;
    const bool fits = before <= most && bytes <= most - before;
    if (fits)
        pinned.bytes += bytes;
    pthread_mutex_unlock(&pinned.lock);
    return fits ? 0
                : gnn_fail(e, GNN_E_NOMEM,
                           "not enough memory to pin: %llu bytes for %s, with %llu pinned already, "
                           "and the process is limited to %llu",
                           (unsigned long long)bytes, what, (unsigned long long)before,
                           (unsigned long long)most);
}

void gnn_gpu_pin_give(uint64_t bytes)
{
    pthread_mutex_lock(&pinned.lock);
    pinned.bytes -= bytes;
    pthread_mutex_unlock(&pinned.lock);
}

int gnn_gpu_pin(void **p, uint64_t bytes, const char *what, struct gnn_err *e)
{
    struct block *b = gnn_alloc(1, sizeof *b, what, e);
    *p = NULL;
    if (!b)
        return e->code;
    int rc = gnn_gpu_pin_take(bytes, what, e);
    if (!rc) {
        rc = gnn_dev_pin(p, bytes, what, e);
        if (rc)
            gnn_gpu_pin_give(bytes);
    }
    if (rc) {
        gnn_free(b);
        return rc;
    }
    pthread_mutex_lock(&pinned.lock);
    *b = (struct block){*p, bytes, pinned.first};
    pinned.first = b;
    pthread_mutex_unlock(&pinned.lock);
    return 0;
}

void gnn_gpu_unpin(void *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&pinned.lock);
    struct block **at = &pinned.first;
    while ((*at)->p != p)
        at = &(*at)->next;
    struct block *b = *at;
    *at = b->next;
    pthread_mutex_unlock(&pinned.lock);
    gnn_dev_unpin(p);
    gnn_gpu_pin_give(b->bytes);
    gnn_free(b);
}

static void *pinned_alloc(const struct gnn_mem *m, uint64_t bytes, const char *what,
                          struct gnn_err *e)
{
    void *p;
    return gnn_gpu_pin(&p, bytes, what, e) ? NULL : p;
}

static void pinned_free(const struct gnn_mem *m, void *p)
{
    gnn_gpu_unpin(p);
}

const struct gnn_mem gnn_gpu_device_memory = {device_alloc, device_free};
const struct gnn_mem gnn_gpu_pinned = {pinned_alloc, pinned_free};
