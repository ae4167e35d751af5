/* Memory of the host that devices read in place. */
#include <string.h>

#include "lib/gpu/impl.h"

struct gpu_host {
    const void *p, *at;
    void *copy; /* NULL: mapped where it lies */
    unsigned users;
    struct gpu_host *next;
};

int gpu_host_open(struct gnn_gpu *g, const void *p, uint64_t bytes, const char *what, const void **at, struct gnn_err *e)
{
    struct gnn_err refused = {0};
    struct gpu_host *h;
    *at = p;
    if (!bytes)
        return 0;
    for (h = g->dev->host; h; h = h->next)
        if (h->p == p) {
            h->users++;
            *at = h->at;
            return 0;
        }
    h = gnn_alloc_zero(1, sizeof *h, what, e);
    if (!h)
        return e->code;
    *h = (struct gpu_host){.p = p, .users = 1, .next = g->dev->host};
    if (gnn_dev_map(p, bytes, &h->at, &refused)) {
        if (gnn_dev_pin(&h->copy, bytes, what, e)) {
            gnn_free(h);
            return e->code;
        }
        memcpy(h->copy, p, bytes);
        h->at = h->copy;
    }
    g->dev->host = h;
    *at = h->at;
    return 0;
}

bool gpu_host_copied(const struct gnn_gpu *g, const void *p)
{
    const struct gpu_host *h = g->dev->host;
    while (h && h->p != p)
        h = h->next;
    return h && h->copy;
}

void gpu_host_close(struct gnn_gpu *g, const void *p)
{
    struct gpu_host **at = &g->dev->host;
    while (*at && (*at)->p != p)
        at = &(*at)->next;
    struct gpu_host *h = *at;
    if (!p || !h || --h->users)
        return;
    *at = h->next;
    if (h->copy)
        gnn_dev_unpin(h->copy);
    else
        gnn_dev_unmap(p);
    gnn_free(h);
}
