/* SPDX-License-Identifier: Apache-2.0 */
/* What is switched off for comparisons, and streams, of which some go first unless that is. */
#include <stdlib.h>
#include <string.h>

#include "lib/gpu/runtime.h"

int gnn_gpu_off_read(unsigned *off, struct gnn_err *e)
{
    static const struct {
        const char *word;
        enum gnn_gpu_off off;
    } known[] = {{"priority", GNN_GPU_OFF_PRIORITY}, {"gather2", GNN_GPU_OFF_GATHER2}};
    enum { KNOWN = sizeof known / sizeof *known };
    const char *p = getenv("GNN_GPU_OFF");
    *off = 0;
    if (!p || !*p)
        return 0;
    do {
        const size_t n = strcspn(p, ",");
        unsigned i = 0;
        while (i < KNOWN && (strlen(known[i].word) != n || strncmp(known[i].word, p, n)))
            i++;
        if (i == KNOWN)
            return gnn_fail(e, GNN_E_USAGE, "GNN_GPU_OFF: '%.*s' is none of priority, gather2",
                            n < 40 ? (int)n : 40, p);
        *off |= known[i].off;
        p += n;
    } while (*p++ == ',');
    return 0;
}

int gnn_gpu_stream_new(const struct gpu_device *d, enum gnn_dev_priority priority, void **stream,
                       struct gnn_err *e)
{
    const int rc = gnn_dev_use(d->number, e);
    return rc ? rc
              : gnn_dev_stream_at(d->off & GNN_GPU_OFF_PRIORITY ? GNN_DEV_LOW : priority, stream,
                                  e);
}
